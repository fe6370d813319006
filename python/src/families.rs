//! Families of passages, and the lineage of documents.

use std::collections::HashMap;
use std::ffi::CString;

use cento::Searcher;
use cento_collections::families::{Family, FamilyOptions, families};
use cento_collections::lineage::{LineageOptions, lineage};
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::to_json;
use crate::error::Failure;
use crate::offsets::{CodePoints, stored};
use crate::open_index::OpenIndex;
use crate::query::Options;
use crate::run;

/// Families as JSON, one each; the number of all families, of compared pairs, of pairs whose search
/// was cut short, of documents without a date; the cursor.
type FamilyTuple = (Vec<String>, [u64; 5]);

/// Finds the families of passages of an index.
pub fn of_passages(
    py: Python<'_>,
    index: &OpenIndex,
    as_bytes: bool,
    options: &Bound<'_, PyDict>,
) -> PyResult<FamilyTuple> {
    let options = Options(options);
    let asked: FamilyOptions = options.read(&["threads"])?;
    asked.check().map_err(Failure)?;
    let threads = options.value("threads")?.unwrap_or_else(cento::available_threads);
    let (found, summary) = run::long(py, |stop| {
        let searcher = index.searcher()?;
        let mut found = families(&searcher, &asked).threads(threads).stop(stop);
        let mut all = found.by_ref().collect::<cento::Result<Vec<Family>>>()?;
        if !as_bytes {
            in_code_points(&mut all, &searcher)?;
        }
        Ok((all, found.summary()))
    })?;
    warn_undated(py, asked.date.as_deref(), summary.undated, summary.no_date.as_ref())?;
    let lines = found.iter().map(to_json).collect::<PyResult<Vec<_>>>()?;
    let counts =
        [summary.families, summary.pairs, summary.cut_pairs, summary.undated, summary.cursor];
    Ok((lines, counts))
}

/// Counts the places of carriers in code points; reads each document once.
fn in_code_points(families: &mut [Family], searcher: &Searcher) -> cento::Result<()> {
    let mut places: HashMap<String, Vec<(&mut u32, &mut u32)>> = HashMap::new();
    for carrier in families.iter_mut().flat_map(|family| &mut family.carriers) {
        let place = (&mut carrier.start, &mut carrier.end);
        places.entry(carrier.id.clone()).or_default().push(place);
    }
    for (id, mut places) in places {
        let text = stored(searcher, &id)?;
        let mut code_points = CodePoints::new(&text);
        // In this order the text is counted once.
        places.sort_unstable();
        for (start, end) in places {
            (*start, *end) = code_points.range((*start, *end));
        }
    }
    Ok(())
}

/// Descents as JSON, one each; the number of trees, of versions, of versions with a later date than
/// the ancestor, of documents without a date.
type LineageTuple = (Vec<String>, [u64; 4]);

/// Finds the versions of documents and their ancestors.
pub fn of_documents(
    py: Python<'_>,
    index: &OpenIndex,
    options: &Bound<'_, PyDict>,
) -> PyResult<LineageTuple> {
    let options = Options(options);
    let asked: LineageOptions = options.read(&["threads"])?;
    asked.check().map_err(Failure)?;
    let threads = options.value("threads")?.unwrap_or_else(cento::available_threads);
    let (found, summary) = run::long(py, |stop| {
        let mut found = lineage(&index.searcher()?, &asked).threads(threads).stop(stop);
        let all = found.by_ref().collect::<cento::Result<Vec<_>>>()?;
        Ok((all, found.summary()))
    })?;
    warn_undated(py, asked.date.as_deref(), summary.undated, summary.no_date.as_ref())?;
    let lines = found.iter().map(to_json).collect::<PyResult<Vec<_>>>()?;
    Ok((lines, [summary.trees, summary.versions, summary.dated, summary.undated]))
}

/// Warns of documents without a date in the field that decides.
fn warn_undated(
    py: Python<'_>,
    field: Option<&str>,
    undated: u64,
    no_date: Option<&(String, String)>,
) -> PyResult<()> {
    let Some(field) = field.filter(|_| undated > 0) else { return Ok(()) };
    let such = no_date.map_or(String::new(), |(id, value)| format!(", such as {id}: {value:?}"));
    let what = format!("{undated} documents have no date in the field `{field}`{such}");
    match CString::new(what) {
        Ok(what) => PyErr::warn(py, &py.get_type::<PyUserWarning>(), &what, 2),
        // A value with a null byte; the count of the answer says it too.
        Err(_) => Ok(()),
    }
}
