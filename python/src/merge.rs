//! Merging of finished indexes.

use std::path::PathBuf;

use cento::index::OnConflict;
use cento::{AddIndexesOptions, Index};
use pyo3::prelude::*;

use crate::convert::to_json;
use crate::error::refused;
use crate::run;

/// Takes the segments of the shards into the index at `path`, which is created if it does not
/// exist; returns the result as JSON.
#[pyfunction]
pub fn merge(
    py: Python<'_>,
    path: PathBuf,
    shards: Vec<PathBuf>,
    on_conflict: &str,
    remove: bool,
) -> PyResult<String> {
    let on_conflict = match on_conflict {
        "error" => OnConflict::Error,
        "later" => OnConflict::Later,
        other => {
            let what = format!("`on_conflict` is {other:?}, neither \"error\" nor \"later\"");
            return Err(refused(what).into());
        }
    };
    if shards.is_empty() {
        return Err(refused("there are no indexes to merge; name at least one").into());
    }
    // The library cannot end it early: it is done whole or not at all, even if the caller has gone.
    let options = AddIndexesOptions::default().on_conflict(on_conflict).remove(remove);
    let merged = run::apart(py, move || Index::add_indexes(path, &shards, options))?;
    to_json(&merged)
}
