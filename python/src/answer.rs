//! What did searches find, as values of Python?
//!
//! The answers of many searches are one object of Python; what is read of them is made when it is read.

use std::sync::Arc;

use cento::search::{Hit, Weighted};
use cento::{Passage, Searcher, Subject};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::arrow::{Table, unit_of};
use crate::convert::{dict_of, to_json};
use crate::html;
use crate::pipeline::Refusal;

/// What one search found.
pub struct SearchAnswer {
    /// As the library gives it, with passages in bytes.
    pub answer: cento::Answer,
    /// The same with passages in code points, if it has any and they are asked for.
    pub shown: Option<Box<cento::Answer>>,
    /// What was searched, and for what, if passages were asked for: a notebook shows them in their
    /// texts.
    pub asked: Option<Box<(Searcher, Subject)>>,
}

impl SearchAnswer {
    /// With offsets in the unit that was asked for.
    fn in_units(&self) -> &cento::Answer {
        self.shown.as_deref().unwrap_or(&self.answer)
    }
}

/// What searches found, in their order.
#[pyclass(frozen, module = "cento._native")]
pub struct Answers {
    found: Vec<Arc<SearchAnswer>>,
    as_bytes: bool,
    refused: Vec<Refusal>,
}

impl Answers {
    /// These, with passages in bytes or not, and what could not be searched for.
    pub fn new(found: Vec<Arc<SearchAnswer>>, as_bytes: bool, refused: Vec<Refusal>) -> Answers {
        Answers { found, as_bytes, refused }
    }
}

#[pymethods]
impl Answers {
    fn __len__(&self) -> usize {
        self.found.len()
    }

    /// The one at this place, of which there are as many as searches.
    pub fn get(&self, at: usize) -> Answer {
        Answer::new(self.found[at].clone(), self.as_bytes)
    }

    /// Numbers and reasons of the texts that could not be searched for.
    fn refusals(&self) -> Vec<(u64, &str)> {
        self.refused.iter().map(|each| (each.number, each.reason.as_str())).collect()
    }

    /// The hits of each as a table, with the number of the answer.
    fn table(&self) -> PyResult<Table> {
        Table::of_answers(self.found.iter().map(|found| found.in_units()), self.as_bytes)
    }
}

/// What one of them found.
#[pyclass(frozen, module = "cento._native")]
pub struct Answer {
    found: Arc<SearchAnswer>,
    as_bytes: bool,
}

impl Answer {
    /// This one, with passages in bytes or not.
    pub fn new(found: Arc<SearchAnswer>, as_bytes: bool) -> Answer {
        Answer { found, as_bytes }
    }
}

/// Id, tokens, fingerprints and stopped fingerprints of the query; what is explained of it, whether the search went to
/// its end, its microseconds; whether more documents meet the query, and how many do.
type Info<'a> = (Option<&'a str>, u32, u32, u32, Option<f64>, bool, u64, bool, Option<u64>);

#[pymethods]
impl Answer {
    fn __len__(&self) -> usize {
        self.found.answer.hits.len()
    }

    fn info(&self) -> Info<'_> {
        let cento::Answer { query, explained, complete, took_us, more, total, .. } =
            &self.found.answer;
        let counts = (query.tokens, query.fingerprints, query.stopped);
        let (id, (tokens, fingerprints, stopped)) = (query.id.as_deref(), counts);
        (id, tokens, fingerprints, stopped, *explained, *complete, *took_us, *more, *total)
    }

    /// What a reader of the query does not see, as the values of the fields of `Unseen`.
    fn unseen(&self) -> (u64, u64) {
        let unseen = &self.found.answer.query.unseen;
        (unseen.hidden_characters, unseen.mixed_words)
    }

    /// The hits, each as the values of the fields of `Hit`.
    fn hits<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let hits = self.found.in_units().hits.iter();
        hits.map(|hit| values_of(py, hit, self.as_bytes)).collect()
    }

    /// The answer as the command line and the service write it, with offsets in bytes.
    fn json(&self) -> PyResult<String> {
        to_json(&self.found.answer)
    }

    /// The answer as a page of HTML; none if it has no passages.
    fn page(&self, py: Python<'_>) -> PyResult<Option<String>> {
        html::page(py, self.found.asked.as_deref(), &self.found.answer)
    }
}

/// A hit as the values of the fields of `Hit`, those that are classes again as such tuples.
fn values_of<'py>(py: Python<'py>, hit: &Hit, as_bytes: bool) -> PyResult<Bound<'py, PyTuple>> {
    let passages = match &hit.passages {
        Some(passages) => {
            let passages = passages.iter().map(|passage| passage_of(py, passage, as_bytes));
            PyTuple::new(py, passages.collect::<PyResult<Vec<_>>>()?)?
        }
        None => PyTuple::empty(py),
    };
    let weighted = |weighted: &Weighted| {
        let Weighted { containment_of_query, containment_of_hit, resemblance, .. } = *weighted;
        (containment_of_query, containment_of_hit, resemblance)
    };
    let similarity = &hit.similarity;
    let values = [
        PyString::new(py, &hit.id).into_any(),
        hit.overlap.into_pyobject(py)?.into_any(),
        hit.fingerprints.into_pyobject(py)?.into_any(),
        similarity.containment_of_query.into_pyobject(py)?.into_any(),
        similarity.containment_of_hit.into_pyobject(py)?.into_any(),
        similarity.resemblance.into_pyobject(py)?.into_any(),
        similarity.standard_error.into_pyobject(py)?.into_any(),
        similarity.exact.into_pyobject(py)?.to_owned().into_any(),
        dict_of(py, &hit.meta)?.into_any(),
        passages.into_any(),
        hit.passages_complete.into_pyobject(py)?.into_any(),
        hit.weighted.as_ref().map(weighted).into_pyobject(py)?.into_any(),
        hit.passage_tokens.into_pyobject(py)?.into_any(),
        hit.adds.into_pyobject(py)?.into_any(),
        hit.verified.as_ref().map(|verified| verified.similarity).into_pyobject(py)?.into_any(),
    ];
    PyTuple::new(py, values)
}

/// A passage as the values of the fields of `Passage`.
fn passage_of<'py>(
    py: Python<'py>,
    passage: &Passage,
    as_bytes: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    let Passage { query, hit, tokens, matched, similarity, unit, .. } = *passage;
    let ranges = PyTuple::new(py, &passage.matched_ranges)?;
    (query, hit, tokens, matched, similarity, unit_of(unit, as_bytes), ranges).into_pyobject(py)
}
