//! Answers of searches, as Python values.
//!
//! The answers of many searches are one Python object; their parts are made when they are read.

use std::sync::Arc;

use cento::search::{Hit, WeightedSimilarity};
use cento::{Error, Passage, PresetRank};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::convert::{dict_of, to_json};
use crate::entry::Refusal;
use crate::error::Failure;
use crate::html::{self, AskedSources};
use crate::reduced::{Reduced, function};
use crate::table::{Table, unit_of};

/// The result of one search.
pub struct SearchAnswer {
    /// As the library gives it, with passages in bytes.
    pub answer: cento::Answer,
    /// The answer with passages in code points, if it has any and they are requested.
    pub shown: Option<Box<cento::Answer>>,
    /// The question, if passages were requested: a notebook shows them in their texts.
    pub asked: Option<Box<AskedSources>>,
}

impl SearchAnswer {
    /// Returns the answer with offsets in the requested unit.
    fn in_units(&self) -> &cento::Answer {
        self.shown.as_deref().unwrap_or(&self.answer)
    }

    /// Returns the message to another process: the answer as JSON, in bytes and as displayed. The
    /// texts that a notebook shows stay behind, because they belong to an index that is open here.
    fn sent(&self) -> PyResult<SentAnswer> {
        let shown = self.shown.as_deref().map(to_json).transpose()?;
        Ok((to_json(&self.answer)?, shown))
    }

    /// Makes the answer that another process sent.
    fn received((answer, shown): &SentAnswer) -> PyResult<Arc<SearchAnswer>> {
        let read = |line: &String| {
            let read = serde_json::from_str::<cento::Answer>(line);
            read.map_err(|error| Failure(Error::internal("an answer", error.to_string())))
        };
        let shown = shown.as_ref().map(read).transpose()?.map(Box::new);
        Ok(Arc::new(SearchAnswer { answer: read(answer)?, shown, asked: None }))
    }
}

/// An answer as JSON, and the same with passages in code points, if they are requested.
type SentAnswer = (String, Option<String>);

/// Makes the answer of a search again.
#[pyfunction]
pub fn answer_of(sent: SentAnswer, as_bytes: bool) -> PyResult<Answer> {
    Ok(Answer::new(SearchAnswer::received(&sent)?, as_bytes))
}

/// Makes the answers of many searches again.
#[pyfunction]
pub fn answers_of(
    sent: Vec<SentAnswer>,
    as_bytes: bool,
    refused: Vec<(u64, String)>,
) -> PyResult<Answers> {
    let found = sent.iter().map(SearchAnswer::received).collect::<PyResult<_>>()?;
    let refused = refused.into_iter().map(|(number, reason)| Refusal { number, reason });
    Ok(Answers::new(found, as_bytes, refused.collect()))
}

/// The results of searches, in their order.
#[pyclass(frozen, module = "cento._native")]
pub struct Answers {
    found: Vec<Arc<SearchAnswer>>,
    as_bytes: bool,
    refused: Vec<Refusal>,
}

impl Answers {
    /// Holds these answers, with passages in bytes or not, and the texts that could not be searched
    /// for.
    pub fn new(found: Vec<Arc<SearchAnswer>>, as_bytes: bool, refused: Vec<Refusal>) -> Answers {
        Answers { found, as_bytes, refused }
    }
}

#[pymethods]
impl Answers {
    fn __len__(&self) -> usize {
        self.found.len()
    }

    /// Returns the answer at this place; there is one for each search.
    pub fn get(&self, at: usize) -> Answer {
        Answer::new(self.found[at].clone(), self.as_bytes)
    }

    /// Returns numbers and reasons of the texts that could not be searched for.
    fn refusals(&self) -> Vec<(u64, &str)> {
        self.refused.iter().map(|each| (each.number, each.reason.as_str())).collect()
    }

    /// Returns the hits of all answers as a table, with the number of the answer.
    fn table(&self) -> PyResult<Table> {
        Table::of_answers(self.found.iter().map(|found| found.in_units()), self.as_bytes)
    }

    #[expect(clippy::type_complexity, reason = "the arguments of `answers_of`")]
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Reduced<'py, (Vec<SentAnswer>, bool, Vec<(u64, &str)>)>> {
        let found = self.found.iter().map(|found| found.sent()).collect::<PyResult<Vec<_>>>()?;
        Ok((function(py, "answers_of")?, (found, self.as_bytes, self.refusals())))
    }

    /// Returns itself: nothing changes it.
    fn __deepcopy__(slf: Py<Answers>, _memo: &Bound<'_, PyAny>) -> Py<Answers> {
        slf
    }
}

/// The result of a single search.
#[pyclass(frozen, module = "cento._native")]
pub struct Answer {
    found: Arc<SearchAnswer>,
    as_bytes: bool,
}

impl Answer {
    /// Holds this result, with passages in bytes or not.
    pub fn new(found: Arc<SearchAnswer>, as_bytes: bool) -> Answer {
        Answer { found, as_bytes }
    }
}

/// Id, tokens, fingerprints and stopped fingerprints of the query; whether the search was complete,
/// its microseconds; whether more documents match the query, and their number.
type Info<'a> = (Option<&'a str>, u32, u32, u32, bool, u64, bool, Option<u64>);

#[pymethods]
impl Answer {
    fn __len__(&self) -> usize {
        self.found.answer.hits.len()
    }

    fn info(&self) -> Info<'_> {
        let cento::Answer { query, complete, took_us, more, total, .. } = &self.found.answer;
        let counts = (query.tokens, query.fingerprints, query.stopped);
        let (id, (tokens, fingerprints, stopped)) = (query.id.as_deref(), counts);
        (id, tokens, fingerprints, stopped, *complete, *took_us, *more, *total)
    }

    /// Returns the parts of the query that a reader does not see, as the values of the fields of
    /// `Unseen`.
    fn unseen(&self) -> (u64, u64) {
        let unseen = &self.found.answer.query.unseen;
        (unseen.hidden_characters, unseen.mixed_words)
    }

    /// Returns the defaults of the preset that the search used: the preset and the ranking.
    fn defaults(&self) -> Option<(&'static str, Option<&'static str>)> {
        let used = self.found.answer.defaults?;
        Some((used.preset.name(), used.rank.map(PresetRank::name)))
    }

    /// Returns the hits, each as the values of the fields of `Hit`.
    fn hits<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let hits = self.found.in_units().hits.iter();
        hits.map(|hit| values_of(py, hit, self.as_bytes)).collect()
    }

    /// Returns the trace as JSON, with offsets in the requested unit, if one was requested.
    fn trace(&self) -> PyResult<Option<String>> {
        self.found.in_units().trace.as_ref().map(to_json).transpose()
    }

    /// Returns the answer as the command line and the service write it, with offsets in bytes.
    fn json(&self) -> PyResult<String> {
        to_json(&self.found.answer)
    }

    /// Returns the answer as a page of HTML, or `None` without passages.
    fn page(&self, py: Python<'_>) -> PyResult<Option<String>> {
        html::page(py, self.found.asked.as_deref(), &self.found.answer)
    }

    /// Returns the hits as a table.
    fn table(&self) -> PyResult<Table> {
        Table::of_answers(std::iter::once(self.found.in_units()), self.as_bytes)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py, (SentAnswer, bool)>> {
        Ok((function(py, "answer_of")?, (self.found.sent()?, self.as_bytes)))
    }

    /// Returns itself: nothing changes it.
    fn __deepcopy__(slf: Py<Answer>, _memo: &Bound<'_, PyAny>) -> Py<Answer> {
        slf
    }
}

/// Returns a hit as the values of the fields of `Hit`; values that are classes are such tuples,
/// too.
fn values_of<'py>(py: Python<'py>, hit: &Hit, as_bytes: bool) -> PyResult<Bound<'py, PyTuple>> {
    let passages = match &hit.passages {
        Some(passages) => {
            let passages = passages.iter().map(|passage| passage_of(py, passage, as_bytes));
            PyTuple::new(py, passages.collect::<PyResult<Vec<_>>>()?)?
        }
        None => PyTuple::empty(py),
    };
    let weighted = |weighted: &WeightedSimilarity| {
        let WeightedSimilarity { containment_of_a, containment_of_b, resemblance, .. } = *weighted;
        (containment_of_a, containment_of_b, resemblance)
    };
    let similarity = &hit.similarity;
    let values = [
        PyString::new(py, &hit.id).into_any(),
        hit.overlap.into_pyobject(py)?.into_any(),
        hit.fingerprints.into_pyobject(py)?.into_any(),
        similarity.containment_of_a.into_pyobject(py)?.into_any(),
        similarity.containment_of_b.into_pyobject(py)?.into_any(),
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

/// Returns a passage as the values of the fields of `Passage`.
fn passage_of<'py>(
    py: Python<'py>,
    passage: &Passage,
    as_bytes: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    let Passage { a, b, tokens, matched, similarity, unit, .. } = *passage;
    let ranges = PyTuple::new(py, &passage.matched_ranges)?;
    let (a_part, b_part) = (passage.a_part.as_deref(), passage.b_part.as_deref());
    let values = [
        a.into_pyobject(py)?.into_any(),
        b.into_pyobject(py)?.into_any(),
        tokens.into_pyobject(py)?.into_any(),
        matched.into_pyobject(py)?.into_any(),
        similarity.into_pyobject(py)?.into_any(),
        unit_of(unit, as_bytes).into_pyobject(py)?.into_any(),
        ranges.into_any(),
        passage.evidence.into_pyobject(py)?.into_any(),
        passage.expected.into_pyobject(py)?.into_any(),
        passage.by_letters.into_pyobject(py)?.to_owned().into_any(),
        a_part.into_pyobject(py)?.into_any(),
        passage.a_page.into_pyobject(py)?.into_any(),
        passage.a_line.into_pyobject(py)?.into_any(),
        b_part.into_pyobject(py)?.into_any(),
        passage.b_page.into_pyobject(py)?.into_any(),
        passage.b_line.into_pyobject(py)?.into_any(),
    ];
    PyTuple::new(py, values)
}
