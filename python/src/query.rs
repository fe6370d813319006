//! Which query do these keyword arguments make?

use std::str::FromStr;

use cento::Query;
use cento::join::Thresholds;
use cento::search::{Goal, Rank};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Failure, refused};
use crate::index::max_df_of;

/// The keyword arguments of a call, which the Python half has named.
pub struct Options<'a, 'py>(pub &'a Bound<'py, PyDict>);

impl<'py> Options<'_, 'py> {
    /// The value with this name, unless it is `None`.
    pub fn get(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.0.get_item(name)?.filter(|value| !value.is_none()))
    }

    /// The same as a value of Rust.
    pub fn value<T>(&self, name: &str) -> PyResult<Option<T>>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        let Some(value) = self.get(name)? else { return Ok(None) };
        match value.extract() {
            Ok(value) => Ok(Some(value)),
            Err(_) => {
                let what = format!("`{name}` cannot be {}", value.repr()?);
                Err(refused(what).into())
            }
        }
    }

    /// Whether what is no document, or no text, is left out and named, by `on_error`.
    pub fn skips(&self) -> PyResult<bool> {
        let given: Option<String> = self.value("on_error")?;
        match given.as_deref() {
            None | Some("raise") => Ok(false),
            Some("skip") => Ok(true),
            Some(other) => {
                Err(refused(format!("`on_error` is {other:?}; it is \"raise\" or \"skip\"")).into())
            }
        }
    }

    /// A share, 0 to 1.
    pub fn share(&self, name: &str) -> PyResult<Option<f64>> {
        let share: Option<f64> = self.value(name)?;
        match share {
            Some(share) if !(0.0..=1.0).contains(&share) => {
                Err(refused(format!("`{name}` is {share}; it must be from 0 to 1")).into())
            }
            share => Ok(share),
        }
    }

    /// What is parsed from a text.
    pub fn parsed<T: FromStr<Err = cento::Error>>(&self, name: &str) -> PyResult<Option<T>> {
        let text: Option<String> = self.value(name)?;
        Ok(text.map(|text| text.parse()).transpose().map_err(Failure)?)
    }

    /// What a pair must have; `containment` and `resemblance` if nothing is asked for.
    pub fn thresholds(&self, containment: f64, resemblance: f64) -> PyResult<Thresholds> {
        let overlap: Option<u32> = self.value("min_overlap")?;
        let shares = [
            self.share("min_containment")?,
            self.share("min_resemblance")?,
            self.share("min_weighted_containment")?,
            self.share("min_weighted_resemblance")?,
        ];
        if overlap.is_none() && shares.iter().all(Option::is_none) {
            return Ok(Thresholds {
                overlap: 1,
                containment,
                resemblance,
                ..Thresholds::default()
            });
        }
        let [containment, resemblance, weighted_containment, weighted_resemblance] =
            shares.map(|share| share.unwrap_or(0.0));
        Ok(Thresholds {
            overlap: overlap.unwrap_or(1),
            containment,
            resemblance,
            weighted_containment,
            weighted_resemblance,
        })
    }

    /// By what is ranked, if it is said.
    pub fn rank(&self) -> PyResult<Option<Rank>> {
        let rank: Option<String> = self.value("rank")?;
        match rank.as_deref() {
            None => Ok(None),
            Some("overlap") => Ok(Some(Rank::Overlap)),
            Some("weight") => Ok(Some(Rank::Weight)),
            Some("passages") => Ok(Some(Rank::Passages)),
            Some(rank) => {
                let what = format!("`rank` is {rank:?}; it is overlap, weight or passages");
                Err(refused(what).into())
            }
        }
    }

    /// A query, of which only the subject is still to come.
    pub fn query(&self) -> PyResult<Query> {
        let none = Query::text("");
        let share = |name: &str| Ok::<_, PyErr>(self.share(name)?.unwrap_or(0.0));
        let is_set = |name: &str| Ok::<_, PyErr>(self.value(name)?.unwrap_or(false));
        let goal = match (is_set("best")?, is_set("cover")?) {
            (false, false) => Goal::Hits,
            (true, false) => Goal::Passage,
            (false, true) => Goal::Cover,
            (true, true) => return Err(refused("ask for `best` or for `cover`, not both").into()),
        };
        Ok(Query {
            min_containment: share("min_containment")?,
            min_resemblance: share("min_resemblance")?,
            min_overlap: self.value("min_overlap")?.unwrap_or(none.min_overlap),
            min_weighted_containment: share("min_weighted_containment")?,
            min_weighted_resemblance: share("min_weighted_resemblance")?,
            rank: self.rank()?.unwrap_or_default(),
            candidates: self.value("candidates")?,
            limit: self.value("limit")?,
            filter: self.value("filter")?,
            max_df: max_df_of(self.get("max_df")?.as_ref())?,
            budget: self.value("budget")?,
            passages: is_set("passages")?,
            min_passage: self.value("min_passage")?,
            verify: self.parsed("verify")?,
            min_similarity: share("min_similarity")?,
            goal,
            estimates: is_set("estimates")?,
            ..none
        })
    }
}
