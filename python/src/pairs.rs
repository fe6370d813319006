//! Pairs and clusters of the documents of an index.

use std::collections::VecDeque;
use std::ffi::CString;

use cento::join::Thresholds;
use cento::join::cluster::{ClusterOptions, Linkage, Prefer, cluster};
use cento::join::pairs::{
    JoinSummary, Pair, PairOptions, PairReport, best_pairs, document_count, pairs,
};
use cento::join::series::Scope;
use cento::{Error, PairPassage, Searcher};
use crossbeam::channel::{Receiver, bounded};
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Arc, Mutex, PoisonError};

use crate::arrow::Table;
use crate::convert::to_json;
use crate::error::{Failure, refused, refused_argument};
use crate::index::{Index, max_df_of};
use crate::offsets::{convert_pairs, stored};
use crate::query::Options;
use crate::run;
use cento::Stop;

/// Pairs that a thread finds while they are read.
#[pyclass(frozen, module = "cento._native")]
pub struct Pairs {
    stop: Stop,
    found: Receiver<cento::Result<Vec<PairReport>>>,
    /// Found and not yet read.
    waiting: Mutex<VecDeque<PairReport>>,
    /// The warning at the end of the pairs.
    warning: Arc<Mutex<Option<String>>>,
}

/// The maximum number of documents whose pairs wait to be read.
const WAITING: usize = 64;

/// Starts to look for the pairs of an index, or of it and another.
pub fn start(
    py: Python<'_>,
    index: &Index,
    against: Option<&Index>,
    as_bytes: bool,
    options: &Bound<'_, PyDict>,
) -> PyResult<Pairs> {
    let options = Options(options);
    let (within, across) = (options.value("within")?, options.value("across")?);
    let rank = options.pair_rank()?;
    let limit = options.value("limit")?;
    if rank.is_none() && limit.is_some() {
        return Err(refused_argument(
            "rank",
            "the best pairs are by a rank; give `rank` with `limit`",
        )
        .into());
    }
    let part: Option<(u64, u64)> = options.value("part")?;
    if let Some((number, of)) = part {
        if number >= of {
            let what = format!(
                "`part` is ({number}, {of}); give the number of the part, from 0, and how many there are"
            );
            return Err(refused(what).into());
        }
        if rank.is_some() {
            return Err(refused(
                "the best pairs of a part are not those of all; give `part` or \
                                `rank`",
            )
            .into());
        }
    }
    let (min_margin, min_passage) = (options.value("min_margin")?, options.value("min_passage")?);
    let options = PairOptions {
        // A default holds only where the caller has set no threshold of any kind.
        thresholds: match (min_margin, min_passage) {
            (None, None) => options.thresholds(Thresholds::of_pairs())?,
            _ => options.thresholds(Thresholds::default())?,
        },
        scope: match (within, across) {
            (None, None) => Scope::Everywhere,
            (Some(field), None) => Scope::Within(field),
            (None, Some(field)) => Scope::Across(field),
            (Some(_), Some(_)) => return Err(refused("give `within` or `across`, not both").into()),
        },
        max_df: max_df_of(options.get("max_df")?.as_ref())?,
        weighted: options.value("weighted")?.unwrap_or(false),
        margins: false,
        min_margin,
        passages: options.value("passages")?.unwrap_or(false),
        min_passage,
        threads: options.value("threads")?.unwrap_or_else(cento::available_threads),
    };
    let (a, b) =
        run::short(py, || Ok((index.searcher()?, against.map(Index::searcher).transpose()?)))?;
    let stop = Stop::new();
    let (sender, found) = bounded(WAITING);
    let flag = stop.clone();
    let warning = Arc::new(Mutex::new(None));
    let to_warn = warning.clone();
    std::thread::spawn(move || {
        let other = b.as_ref().unwrap_or(&a);
        let ended = Error::catch("looking for pairs", || {
            let give = |pairs: Vec<Pair>| {
                let report = |pair: Pair| {
                    let mut pair = pair.report(a.snapshot(), other.snapshot())?;
                    if let Some(passages) = pair.passages.as_mut().filter(|_| !as_bytes) {
                        in_code_points(passages, (&a, &pair.a), (other, &pair.b))?;
                    }
                    Ok(pair)
                };
                let pairs = pairs.into_iter().map(report).collect::<cento::Result<Vec<_>>>()?;
                // There is no reader any more.
                if !pairs.is_empty() && sender.send(Ok(pairs)).is_err() {
                    return Err(Error::Cancelled);
                }
                Ok(())
            };
            let Some(rank) = rank else {
                let (number, of) = part.unwrap_or((0, 1));
                let all = u128::from(document_count(&a));
                let place = |number: u64| (all * u128::from(number) / u128::from(of)) as u64;
                let (first, end) = (place(number), place(number + 1));
                if first == end {
                    return Ok(());
                }
                let mut is_over = false;
                let found = pairs(&a, b.as_ref(), &options, first, &flag, &mut |next, pairs| {
                    give(pairs)?;
                    is_over = next == end && u128::from(end) < all;
                    if is_over { Err(Error::Cancelled) } else { Ok(()) }
                });
                return match is_over {
                    true => Ok(()),
                    false => found.map(|summary| note(&to_warn, summary, &options.scope)),
                };
            };
            let best = (rank, limit.unwrap_or(usize::MAX));
            let best = best_pairs(&a, b.as_ref(), &options, best, &flag, &mut |_| {})?;
            note(&to_warn, best.summary, &options.scope);
            give(best.pairs)
        });
        if let Err(error) = ended {
            let _ = sender.send(Err(error));
        }
    });
    Ok(Pairs { stop, found, waiting: Mutex::default(), warning })
}

/// Notes that documents do not have the field that decides.
fn note(warning: &Mutex<Option<String>>, summary: JoinSummary, scope: &Scope) {
    let (field, pairs) = match scope {
        Scope::Everywhere => return,
        Scope::Within(field) => (field, "they are in no pair"),
        Scope::Across(field) => (field, "they are of no series, and in pairs with all others"),
    };
    let without = summary.documents_without_field;
    if without > 0 {
        let what = format!("{without} documents do not have the field `{field}`: {pairs}");
        *warning.lock().unwrap_or_else(PoisonError::into_inner) = Some(what);
    }
}

fn in_code_points(
    passages: &mut Vec<PairPassage>,
    (a, a_id): (&Searcher, &str),
    (b, b_id): (&Searcher, &str),
) -> cento::Result<()> {
    if !passages.is_empty() {
        convert_pairs(passages, &stored(a, a_id)?, &stored(b, b_id)?);
    }
    Ok(())
}

impl Pairs {
    fn next(&self, py: Python<'_>) -> PyResult<Option<PairReport>> {
        loop {
            let pair = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            if pair.is_some() {
                return Ok(pair);
            }
            match run::receive(py, &self.found)? {
                Some(found) => {
                    let found = found.map_err(Failure)?;
                    self.waiting.lock().unwrap_or_else(PoisonError::into_inner).extend(found);
                }
                None => {
                    self.warn(py)?;
                    return Ok(None);
                }
            }
        }
    }

    /// Gives the warning, once.
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
    /// Returns the next pair as JSON; `None` at the end.
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

/// Returns the clusters of an index as JSON, one each.
pub fn clusters(
    py: Python<'_>,
    index: &Index,
    options: &Bound<'_, PyDict>,
) -> PyResult<Vec<String>> {
    let options = Options(options);
    let linkage: Option<String> = options.value("linkage")?;
    let prefer: Option<String> = options.value("prefer")?;
    let min_size: u64 = options.value("min_size")?.unwrap_or(2);
    let options = ClusterOptions {
        thresholds: options.thresholds(Thresholds::of_clusters())?,
        linkage: match linkage.as_deref() {
            None | Some("star") => Linkage::Star,
            Some("single") => Linkage::Single,
            Some(linkage) => {
                return Err(refused_argument(
                    "linkage",
                    format!("`linkage` is {linkage:?}; it is star or single"),
                )
                .into());
            }
        },
        prefer: match prefer.as_deref() {
            None | Some("oldest") => Prefer::Oldest,
            Some("longest") => Prefer::Longest,
            Some(field) => match field.strip_prefix('-') {
                Some(field) => Prefer::Greatest(field.into()),
                None => Prefer::Least(field.into()),
            },
        },
        max_df: max_df_of(options.get("max_df")?.as_ref())?,
        threads: options.value("threads")?.unwrap_or_else(cento::available_threads),
    };
    let found = run::long(py, |stop| cluster(&index.searcher()?, &options, stop, &mut |_, _| {}))?;
    let found = found.iter().filter(|cluster| cluster.size >= min_size);
    found.map(to_json).collect()
}
