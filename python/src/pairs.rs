//! Finds pairs and clusters of the documents of an index.

use std::ffi::CString;

use cento::{Error, Passage, Searcher};
use cento_collections::cluster::{self, ClusterOptions};
use cento_collections::pairs::{JoinSummary, PairOptions, PairReport, document_count, pairs};
use crossbeam::channel::{Receiver, bounded};
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Arc, Mutex, PoisonError};

use crate::convert::to_json;
use crate::error::{Failure, refused};
use crate::offsets::{convert, stored};
use crate::open_index::OpenIndex;
use crate::query::Options;
use crate::run;
use crate::table::Table;
use cento::Stop;

/// A stream of pairs, which a thread finds during reading.
#[pyclass(frozen, module = "cento._native")]
pub struct Pairs {
    stop: Stop,
    found: Receiver<cento::Result<PairReport>>,
    /// The warning at the end of the pairs.
    warning: Arc<Mutex<Option<String>>>,
}

/// The maximum number of pairs that wait to be read.
const WAITING: usize = 256;

/// Starts to look for the pairs within an index, or across two indexes.
pub fn start(
    py: Python<'_>,
    index: &OpenIndex,
    against: Option<&OpenIndex>,
    as_bytes: bool,
    options: &Bound<'_, PyDict>,
) -> PyResult<Pairs> {
    let options = Options(options);
    let pair_options: PairOptions = options.read(&["part", "threads"])?;
    pair_options.check().map_err(Failure)?;
    let threads = options.value("threads")?.unwrap_or_else(cento::available_threads);
    let part: Option<(u64, u64)> = options.value("part")?;
    if let Some((number, of)) = part {
        if number >= of {
            let what = format!(
                "`part` is ({number}, {of}); give the number of the part, from 0, and how many \
                 there are"
            );
            return Err(refused(what).into());
        }
        if pair_options.rank.is_some() || pair_options.limit.is_some() {
            return Err(refused(
                "the best pairs of a part are not those of all; give `part` or \
                                `rank`",
            )
            .into());
        }
    }
    let (a, b) =
        run::short(py, || Ok((index.searcher()?, against.map(OpenIndex::searcher).transpose()?)))?;
    let stop = Stop::new();
    let (sender, found) = bounded(WAITING);
    let flag = stop.clone();
    let warning = Arc::new(Mutex::new(None));
    let to_warn = warning.clone();
    std::thread::spawn(move || {
        let other = b.as_ref().unwrap_or(&a);
        let ended = Error::catch("looking for pairs", || {
            let (number, of) = part.unwrap_or((0, 1));
            let all = u128::from(document_count(&a));
            let place = |number: u64| (all * u128::from(number) / u128::from(of)) as u64;
            let found = pairs(&a, &pair_options).threads(threads).stop(&flag);
            let mut found = b
                .iter()
                .fold(found, cento_collections::pairs::Pairs::against)
                .documents(place(number)..place(number + 1));
            for pair in found.by_ref() {
                let mut pair = pair?.report(a.snapshot(), other.snapshot())?;
                if let Some(passages) = pair.passages.as_mut().filter(|_| !as_bytes) {
                    in_code_points(passages, &a, &pair.a, other, &pair.b)?;
                }
                // The reader has gone.
                if sender.send(Ok(pair)).is_err() {
                    return Ok(());
                }
            }
            // Only one of several parts warns.
            if number + 1 == of {
                note(&to_warn, found.summary(), &pair_options);
            }
            Ok(())
        });
        if let Err(error) = ended {
            let _ = sender.send(Err(error));
        }
    });
    Ok(Pairs { stop, found, warning })
}

/// Records that documents lack the grouping field.
fn note(warning: &Mutex<Option<String>>, summary: JoinSummary, options: &PairOptions) {
    let (field, pairs) = match (&options.within, &options.group_by) {
        (Some(field), _) => (field, "they are in no pair"),
        (_, Some(field)) => (field, "each is a group of its own"),
        (None, None) => return,
    };
    let without = summary.documents_without_field;
    if without > 0 {
        let what = format!("{without} documents do not have the field `{field}`: {pairs}");
        *warning.lock().unwrap_or_else(PoisonError::into_inner) = Some(what);
    }
}

fn in_code_points(
    passages: &mut [Passage],
    a: &Searcher,
    a_id: &str,
    b: &Searcher,
    b_id: &str,
) -> cento::Result<()> {
    if !passages.is_empty() {
        convert(passages, &stored(a, a_id)?, &stored(b, b_id)?);
    }
    Ok(())
}

impl Pairs {
    fn next(&self, py: Python<'_>) -> PyResult<Option<PairReport>> {
        match run::receive(py, &self.found)? {
            Some(found) => Ok(Some(found.map_err(Failure)?)),
            None => {
                self.warn(py)?;
                Ok(None)
            }
        }
    }

    /// Gives the warning, but only once.
    fn warn(&self, py: Python<'_>) -> PyResult<()> {
        let what = self.warning.lock().unwrap_or_else(PoisonError::into_inner).take();
        match what.map(CString::new) {
            Some(Ok(what)) => PyErr::warn(py, &py.get_type::<PyUserWarning>(), &what, 2),
            // A field whose name has a null byte.
            Some(Err(_)) | None => Ok(()),
        }
    }
}

#[pymethods]
impl Pairs {
    /// Returns the next pair as JSON, or `None` at the end.
    fn read(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.next(py)?.map(|pair| to_json(&pair)).transpose()
    }

    /// Returns all remaining pairs as a table.
    fn table(&self, py: Python<'_>) -> PyResult<Table> {
        let mut pairs = Vec::new();
        while let Some(pair) = self.next(py)? {
            pairs.push(pair);
        }
        Table::of_pairs(&pairs)
    }
}

impl Drop for Pairs {
    fn drop(&mut self) {
        self.stop.set();
    }
}

/// Returns each cluster of an index as JSON.
pub fn clusters(
    py: Python<'_>,
    index: &OpenIndex,
    options: &Bound<'_, PyDict>,
) -> PyResult<Vec<String>> {
    let options = Options(options);
    let asked: ClusterOptions = options.read(&["threads"])?;
    asked.check().map_err(Failure)?;
    let threads = options.value("threads")?.unwrap_or_else(cento::available_threads);
    let found = run::long(py, |stop| {
        let searcher = index.searcher()?;
        let found = cluster::clusters(&searcher, &asked).threads(threads).stop(stop);
        found.collect::<cento::Result<Vec<_>>>()
    })?;
    found.iter().map(to_json).collect()
}
