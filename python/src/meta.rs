//! Selects the fields of items and the columns of rows that become their meta objects.
//!
//! By default, that is every field without another purpose, as in the command: filters, groups and
//! preferences need them. A field that a meta object cannot hold is left out and reported.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::sync::{Mutex, PoisonError};

use cento::index::shorten_meta;
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use serde_json::{Map, Value};

/// The field with a meta object.
pub const META: &str = "meta";

/// The field with the time of the addition. Each document gets a new one.
const ADDED: &str = "added";

/// The fields that become members of meta objects.
pub enum MetaFields {
    /// The members of `meta`, and every field without another purpose under its own name.
    All,
    /// The field that is the meta object.
    Object(String),
    /// These fields, under their names.
    Named(Vec<String>),
}

/// The argument `meta` of a call.
#[derive(FromPyObject)]
pub enum MetaArgument {
    Object(String),
    Named(Vec<String>),
}

impl From<Option<MetaArgument>> for MetaFields {
    fn from(argument: Option<MetaArgument>) -> MetaFields {
        match argument {
            None => MetaFields::All,
            Some(MetaArgument::Object(name)) => MetaFields::Object(name),
            Some(MetaArgument::Named(names)) => MetaFields::Named(names),
        }
    }
}

/// A meta object made of unnamed fields.
#[derive(Default)]
pub struct MetaBuilder {
    meta: Map<String, Value>,
    /// The names of the members that are not of the field `meta`.
    added: Vec<String>,
}

impl MetaBuilder {
    /// Adds a field. The field `meta` gives its members, if it is an object or the JSON of one.
    pub fn add(&mut self, name: &str, value: Value, field_use: &FieldUse) {
        let members = match value {
            Value::Null => return,
            _ if name == ADDED => return field_use.leave_out(name),
            Value::Object(members) if name == META => members,
            Value::String(text) if name == META => match serde_json::from_str(&text) {
                Ok(Value::Object(members)) => members,
                _ => return self.add_field(name, Value::String(text), field_use),
            },
            value => return self.add_field(name, value, field_use),
        };
        for (name, value) in members {
            // The members of `meta` take precedence, wherever it stands.
            self.added.retain(|added| *added != name);
            if self.meta.insert(name.clone(), value.clone()).is_some_and(|other| other != value) {
                field_use.leave_out(&name);
            }
        }
    }

    fn add_field(&mut self, name: &str, value: Value, field_use: &FieldUse) {
        match self.meta.get(name) {
            Some(other) if *other == value => {}
            Some(_) => field_use.leave_out(name),
            None => {
                self.meta.insert(name.to_owned(), value);
                self.added.push(name.to_owned());
            }
        }
    }

    /// Returns the meta object, without the longest fields if all do not fit.
    pub fn build(mut self, field_use: &FieldUse) -> Map<String, Value> {
        let added: Vec<&str> = self.added.iter().map(String::as_str).collect();
        shorten_meta(&mut self.meta, &added, |name| field_use.leave_out(name));
        self.meta
    }
}

/// The use of the fields of all items or rows of a call, on any thread.
#[derive(Default)]
pub struct FieldUse {
    /// The names of the fields that became no part of a document: of very many, some.
    left_out: Mutex<BTreeSet<String>>,
    /// The named fields that any item has.
    met: Mutex<BTreeSet<String>>,
}

/// The maximum number of names that are kept.
const NAMES_MAX: usize = 32;

/// Adds a name, unless there are very many.
fn insert(names: &Mutex<BTreeSet<String>>, name: &str) {
    let mut names = names.lock().unwrap_or_else(PoisonError::into_inner);
    if names.len() < NAMES_MAX && !names.contains(name) {
        names.insert(name.to_owned());
    }
}

fn take(names: &Mutex<BTreeSet<String>>) -> BTreeSet<String> {
    std::mem::take(&mut *names.lock().unwrap_or_else(PoisonError::into_inner))
}

impl FieldUse {
    /// Adds a field that became no part of a document.
    pub fn leave_out(&self, name: &str) {
        insert(&self.left_out, name);
    }

    /// Adds a named field that an item has.
    pub fn meet(&self, name: &str) {
        insert(&self.met, name);
    }

    /// Warns of fields that became no part of a document.
    pub fn warn(&self, py: Python<'_>) -> PyResult<()> {
        let names = take(&self.left_out);
        if names.is_empty() {
            return Ok(());
        }
        let reason = match names.iter().all(|name| name == ADDED) {
            true => "each document gets a new time",
            false => "in a record too long, twice, or nothing that JSON has",
        };
        warn(py, &format!("not kept: {} ({reason})", quoted(&names)))
    }

    /// Warns of requested fields that are missing in every item.
    pub fn warn_of_missing(&self, py: Python<'_>, meta: &MetaFields) -> PyResult<()> {
        let MetaFields::Named(named) = meta else { return Ok(()) };
        let met = take(&self.met);
        let missing = named.iter().filter(|name| !met.contains(*name)).cloned();
        match missing.collect::<BTreeSet<String>>() {
            missing if missing.is_empty() || named.len() > NAMES_MAX => Ok(()),
            missing => warn(py, &format!("no item has {}, which `meta` names", quoted(&missing))),
        }
    }
}

fn quoted(names: &BTreeSet<String>) -> String {
    let shown: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    shown.join(", ")
}

fn warn(py: Python<'_>, said: &str) -> PyResult<()> {
    let said = CString::new(said.replace('\0', " ")).unwrap_or_default();
    // The caller of the Python half.
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &said, 2)
}
