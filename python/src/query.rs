//! Queries from keyword arguments.

use cento::search::{Query, SearchOptions, Thresholds};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};

use crate::error::{Failure, refused, refused_argument};
use crate::settings::max_df_of;

/// The keyword arguments of a call, which the Python half has named.
pub struct Options<'a, 'py>(pub &'a Bound<'py, PyDict>);

impl<'py> Options<'_, 'py> {
    /// Returns the value with this name, unless it is `None`.
    pub fn get(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.0.get_item(name)?.filter(|value| !value.is_none()))
    }

    /// Returns the value with this name as a Rust value.
    pub fn value<T>(&self, name: &'static str) -> PyResult<Option<T>>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        let Some(value) = self.get(name)? else { return Ok(None) };
        match value.extract() {
            Ok(value) => Ok(Some(value)),
            Err(_) => {
                let what = format!("`{name}` cannot be {}", value.repr()?);
                Err(refused_argument(name, what).into())
            }
        }
    }

    /// Returns whether `on_error` skips and reports items that are no documents or texts.
    pub fn skips(&self) -> PyResult<bool> {
        let given: Option<String> = self.value("on_error")?;
        match given.as_deref() {
            None | Some("raise") => Ok(false),
            Some("skip") => Ok(true),
            Some(other) => {
                let what = format!("`on_error` is {other:?}; it is \"raise\" or \"skip\"");
                Err(refused_argument("on_error", what).into())
            }
        }
    }

    /// Returns a query without a subject. The keywords are the options.
    pub fn query(&self) -> PyResult<Query> {
        let SearchOptionSet { thresholds, options } = self.read(&[])?;
        let mut query = Query::text("");
        (query.thresholds, query.options) = (thresholds, options);
        query.check().map_err(Failure)?;
        Ok(query)
    }

    /// Reads the keywords, except `others`, like the library's own types, and reports a keyword
    /// that cannot be read.
    pub fn read<T: DeserializeOwned>(&self, others: &[&str]) -> PyResult<T> {
        let mut fields = Map::new();
        for (name, value) in self.0 {
            let name: String = name.extract()?;
            if !value.is_none() && !others.contains(&name.as_str()) {
                let value = json_of(&name, &value)?;
                fields.insert(name, value);
            }
        }
        let error = match serde_json::from_value(Value::Object(fields.clone())) {
            Ok(read) => return Ok(read),
            Err(error) => error,
        };
        for (name, value) in fields {
            let alone = Map::from_iter([(name.clone(), value)]);
            if let Err(error) = serde_json::from_value::<T>(Value::Object(alone)) {
                let what = format!("`{name}`: {error}");
                return Err(refused_argument(name, what).into());
            }
        }
        Err(refused(error.to_string()).into())
    }
}

/// The options of a search, side by side.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchOptionSet {
    #[serde(flatten)]
    thresholds: Thresholds,
    #[serde(flatten)]
    options: SearchOptions,
}

/// Returns the value of an option as JSON.
fn json_of(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if name == "max_df" {
        let max_df = max_df_of(Some(value))?;
        return Ok(max_df.map_or(Value::Null, |max_df| max_df.to_string().into()));
    }
    if let Ok(text) = value.extract::<String>() {
        return Ok(text.into());
    }
    if let Ok(is_set) = value.extract::<bool>() {
        return Ok(is_set.into());
    }
    if let Ok(number) = value.extract::<u64>() {
        return Ok(number.into());
    }
    let number = value.extract::<f64>().ok().and_then(Number::from_f64);
    if let Some(number) = number {
        return Ok(number.into());
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let values = value.try_iter()?.map(|value| json_of(name, &value?));
        return Ok(values.collect::<PyResult<Vec<_>>>()?.into());
    }
    Err(refused(format!("`{name}` cannot be {}", value.repr()?)).into())
}
