//! What is asked of an index, and what is found?

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use cento::scheme::Fingerprint;
use cento::text::kind::no_text_in;
use cento::{Config, Error, Query, Searcher, Subject};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::arrow::Table;
use crate::convert::{id_of, text_of, to_json};
use crate::error::{Failure, refused};
use crate::html;
use crate::index::Index;
use crate::offsets;
use crate::query::Options;
use crate::run::{self, Flag};

/// Scheme, analyser, digest of the frequency table, tokens, and fingerprints with their positions.
pub type Signed = (String, String, Option<String>, u32, Vec<(u64, u32)>);

/// What a search found.
#[pyclass(frozen, module = "cento._native")]
pub struct Answer {
    /// As the library gives it, with passages in bytes.
    answer: cento::Answer,
    /// The same with passages in code points, if it has any and they are asked for.
    shown: Option<cento::Answer>,
    /// What was searched, and for what, if passages were asked for: a notebook shows them in their
    /// texts.
    asked: Option<(Searcher, Subject)>,
}

impl Answer {
    /// With offsets in the unit that was asked for.
    fn in_units(&self) -> &cento::Answer {
        self.shown.as_ref().unwrap_or(&self.answer)
    }
}

#[pymethods]
impl Answer {
    /// The answer, with offsets in the unit that was asked for.
    fn shown(&self) -> PyResult<String> {
        to_json(self.in_units())
    }

    /// The answer as the command line and the service write it, with offsets in bytes.
    fn json(&self) -> PyResult<String> {
        to_json(&self.answer)
    }

    /// The answer as a page of HTML; none if it has no passages.
    fn page(&self, py: Python<'_>) -> PyResult<Option<String>> {
        html::page(py, self.asked.as_ref(), &self.answer)
    }

    /// The hits of each answer as a table, with the number of the answer.
    #[staticmethod]
    fn table(answers: Vec<Py<Answer>>, as_bytes: bool) -> PyResult<Table> {
        Table::of_answers(answers.iter().map(|answer| answer.get().in_units()), as_bytes)
    }
}

/// A text of so many bytes is searched for in less time than it takes to notice.
const SHORT_BYTES: usize = 16 << 10;

/// Searches for a text, a stored document or a signature.
pub fn one(
    py: Python<'_>,
    index: &Index,
    (text, id, signature): (Option<&Bound<'_, PyAny>>, Option<&Bound<'_, PyAny>>, Option<Signed>),
    as_bytes: bool,
    options: &Bound<'_, PyDict>,
) -> PyResult<Answer> {
    let mut query = Options(options).query()?;
    let is_one =
        usize::from(text.is_some()) + usize::from(id.is_some()) + usize::from(signature.is_some());
    if is_one != 1 {
        return Err(
            refused("give a text, an `id` or a `signature` to search for, one of them").into()
        );
    }
    let mut is_short = query.verify.is_none() && !query.passages && query.min_passage.is_none();
    query.subject = if let Some(text) = text {
        let text = checked(text_of(text, "the text", "text")?).map_err(Failure)?;
        is_short &= text.len() <= SHORT_BYTES && query.filter.is_none();
        Subject::Text(text.to_owned())
    } else if let Some(id) = id {
        is_short = false;
        Subject::Id(id_of(id, "the id")?)
    } else {
        is_short = false;
        let config = index.index().map_err(Failure)?;
        subject(signature.unwrap_or_default(), config.config())?
    };
    let mut work = |stop: Option<&Flag>| {
        let searcher = index.searcher()?;
        query.stop = stop.cloned();
        answer(&searcher, &mut query, as_bytes)
    };
    if is_short { run::short(py, || work(None)) } else { run::long(py, |stop| work(Some(stop))) }
}

/// Searches, and takes what was searched for out of the query.
fn answer(searcher: &Searcher, query: &mut Query, as_bytes: bool) -> cento::Result<Answer> {
    let answer = searcher.search(query)?;
    let shown = match as_bytes {
        true => None,
        false => offsets::of_answer(searcher, &query.subject, &answer)?,
    };
    let has_passages = answer.hits.iter().any(|hit| hit.passages.iter().flatten().next().is_some());
    let asked = has_passages.then(|| {
        let subject = std::mem::replace(&mut query.subject, Subject::Text(String::new()));
        (searcher.clone(), subject)
    });
    Ok(Answer { answer, shown, asked })
}

/// Refuses what is no text, of which nothing could be found.
fn checked(text: &str) -> cento::Result<&str> {
    match no_text_in(text) {
        Some(why) => Err(Error::input("the text", why)),
        None => Ok(text),
    }
}

/// Searches for many texts with several threads.
pub fn many(
    py: Python<'_>,
    index: &Index,
    texts: &Bound<'_, PyAny>,
    threads: Option<usize>,
    as_bytes: bool,
    options: &Bound<'_, PyDict>,
) -> PyResult<Vec<Answer>> {
    let query = Options(options).query()?;
    let mut asked = Vec::new();
    for (number, text) in texts.try_iter()?.enumerate() {
        let (text, place) = (text?, || format!("text {number}"));
        let plain = text.cast::<PyString>().ok().and_then(|text| text.to_str().ok());
        let text = match plain {
            Some(text) => text,
            None => text_of(&text, &place(), "text")?,
        };
        if let Some(why) = no_text_in(text) {
            return Err(Failure(Error::input(place(), why)).into());
        }
        asked.push(text.to_owned());
    }
    let threads = threads.unwrap_or_else(cento::available_threads).clamp(1, asked.len().max(1));
    let asked: Vec<Mutex<String>> = asked.into_iter().map(Mutex::new).collect();
    run::long(py, |stop| {
        let searcher = index.searcher()?;
        let next = AtomicUsize::new(0);
        let work = || {
            let mut query = Query { stop: Some(stop.clone()), ..query.clone() };
            let mut found = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(text) = asked.get(number) else { return Ok(found) };
                let text =
                    std::mem::take(&mut *text.lock().unwrap_or_else(PoisonError::into_inner));
                query.subject = Subject::Text(text);
                found.push((number, answer(&searcher, &mut query, as_bytes)?));
            }
        };
        let parts: Vec<cento::Result<Vec<(usize, Answer)>>> = std::thread::scope(|scope| {
            let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let ended = || Err(Error::internal("a search", "it panicked"));
            handles.into_iter().map(|handle| handle.join().unwrap_or_else(|_| ended())).collect()
        });
        let parts = parts.into_iter().collect::<cento::Result<Vec<_>>>()?;
        let mut found: Vec<(usize, Answer)> = parts.into_iter().flatten().collect();
        found.sort_unstable_by_key(|(number, _)| *number);
        Ok(found.into_iter().map(|(_, answer)| answer).collect())
    })
}

/// What is searched for with a signature that was made as `config` says.
fn subject(signature: Signed, config: &Config) -> PyResult<Subject> {
    let (scheme, analyzer, frequencies, tokens, fingerprints) = signature;
    let own = (config.scheme.to_string(), config.analyzer.to_string());
    if (&scheme, &analyzer) != (&own.0, &own.1) {
        let what = format!(
            "the signature was made with {scheme} and {analyzer}, but the index has {} and {}; make it \
             with `index.sign(text)`",
            own.0, own.1
        );
        return Err(refused(what).into());
    }
    if frequencies != config.frequencies_digest() {
        let what = "the signature was made with another frequency table than the index has; make it \
                    with `index.sign(text)`";
        return Err(refused(what).into());
    }
    let bits = config.scheme.key_bits();
    let mut last = 0;
    for &(key, position) in &fingerprints {
        if (bits < 64 && key >> bits != 0) || position < last || position >= tokens {
            let what = format!(
                "the signature is damaged at the fingerprint ({key}, {position}): keys have {bits} bits, \
                 and positions ascend up to {tokens}"
            );
            return Err(refused(what).into());
        }
        last = position;
    }
    let fingerprints = fingerprints.into_iter();
    let fingerprints = fingerprints.map(|(key, position)| Fingerprint { key, position }).collect();
    Ok(Subject::Signature { tokens, fingerprints })
}
