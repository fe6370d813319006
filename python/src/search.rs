//! Searches an index for texts, stored documents and signatures.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cento::scheme::Fingerprint;
use cento::search::{Cost, ForeignSignature};
use cento::text::kind::no_text_in;
use cento::{Config, Error, Query, Searcher, Subject};
use cento_api::Part;
use cento_api::part::parts_problem;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::answer::{Answer, Answers, SearchAnswer};
use crate::convert::{document_of_parts, id_of, is_list, refusal_of, text_of};
use crate::entry::Refusal;
use crate::error::{Failure, refused};
use crate::html::AskedSources;
use crate::offsets;
use crate::open_index::OpenIndex;
use crate::query::Options;
use crate::run;
use cento::Stop;

/// Scheme, analyzer, digest of the frequency table, tokens, and fingerprints with their positions.
pub type SignatureTuple = (String, String, Option<String>, Option<String>, u32, Vec<(u64, u32)>);

/// A text, parts of a text, an id and a signature. Exactly one is present.
type Given<'a, 'py> = (
    Option<&'a Bound<'py, PyAny>>,
    Option<&'a Bound<'py, PyAny>>,
    Option<&'a Bound<'py, PyAny>>,
    Option<SignatureTuple>,
);

/// Searches for a text, a stored document or a signature.
pub fn one(
    py: Python<'_>,
    index: &OpenIndex,
    (text, parts, id, signature): Given<'_, '_>,
    as_bytes: bool,
    options: &Bound<'_, PyDict>,
) -> PyResult<Answer> {
    let mut query = Options(options).query()?;
    let given = [text.is_some(), parts.is_some(), id.is_some(), signature.is_some()];
    if given.into_iter().filter(|is_given| *is_given).count() != 1 {
        let what = "give a text, `parts`, an `id` or a `signature` to search for, one of them";
        return Err(refused(what).into());
    }
    let opened = index.index().map_err(Failure)?;
    let config = opened.config();
    query.subject = if let Some(text) = text {
        let text = checked(text_of(text, "the text", "text")?).map_err(Failure)?;
        Subject::Text(text.to_owned())
    } else if let Some(parts) = parts {
        let (text, parts) = parted(parts, "the query")?;
        query.parts = parts;
        Subject::Text(text)
    } else if let Some(id) = id {
        Subject::Id(id_of(id, "the id")?)
    } else {
        subject(signature.unwrap_or_default(), config)?
    };
    // A query that reads no texts is too short to notice.
    let is_short = query.cost(config) < Cost::Texts;
    let mut work = |stop: &Stop| {
        let searcher = index.searcher()?;
        query.stop = stop.clone();
        find(&searcher, &mut query, as_bytes)
    };
    let found = match is_short {
        true => run::short(py, || work(Stop::NEVER)),
        false => run::long(py, |stop| work(stop)),
    };
    Ok(Answer::new(Arc::new(found?), as_bytes))
}

/// Searches, and moves the subject out of the query.
fn find(searcher: &Searcher, query: &mut Query, as_bytes: bool) -> cento::Result<SearchAnswer> {
    let answer = searcher.search(query)?;
    let shown = match as_bytes {
        true => None,
        false => offsets::of_answer(searcher, &query.subject, &answer)?.map(Box::new),
    };
    let has_passages = answer.hits.iter().any(|hit| hit.passages.iter().flatten().next().is_some());
    let asked = has_passages.then(|| {
        let subject = std::mem::replace(&mut query.subject, Subject::Text(String::new()));
        let parts = std::mem::take(&mut query.parts);
        let (searcher, limit) = (searcher.clone(), query.options.limit);
        Box::new(AskedSources { searcher, subject, parts, limit })
    });
    Ok(SearchAnswer { answer, shown, asked })
}

/// Refuses input that is not text, because nothing could be found for it.
fn checked(text: &str) -> cento::Result<&str> {
    match no_text_in(text) {
        Some(why) => Err(Error::input("the text", why)),
        None => Ok(text),
    }
}

/// Returns the text of a list of parts, and the parts. Errors mention `place`.
fn parted(parts: &Bound<'_, PyAny>, place: &str) -> PyResult<(String, Vec<Part>)> {
    let document = document_of_parts(String::new(), parts, place)?;
    let no_text = || document.part_texts().find_map(|(_, text)| no_text_in(text));
    let why = parts_problem(&document.parts, &document.text);
    match why.or_else(|| no_text().map(str::to_owned)) {
        Some(why) => Err(Failure(Error::input(place, why)).into()),
        None => Ok((document.text, document.parts)),
    }
}

/// Returns the text to search for, with its parts if it came as a list of parts.
fn asked_for(text: &Bound<'_, PyAny>, place: impl Fn() -> String) -> PyResult<(String, Vec<Part>)> {
    if is_list(text) {
        return parted(text, &place());
    }
    let plain = text.cast::<PyString>().ok().and_then(|text| text.to_str().ok());
    let text = match plain {
        Some(text) => text,
        None => text_of(text, &place(), "text")?,
    };
    match no_text_in(text) {
        Some(why) => Err(Failure(Error::input(place(), why)).into()),
        None => Ok((text.to_owned(), Vec::new())),
    }
}

/// Texts to take between two checks for signals.
const TEXTS_BETWEEN_LOOKS: usize = 64;

/// Searches for many texts with several threads.
pub fn many(
    py: Python<'_>,
    index: &OpenIndex,
    texts: &Bound<'_, PyAny>,
    threads: Option<usize>,
    as_bytes: bool,
    skips: bool,
    options: &Bound<'_, PyDict>,
) -> PyResult<Answers> {
    let query = Options(options).query()?;
    let (mut asked, mut refused) = (Vec::new(), Vec::new());
    for (number, text) in texts.try_iter()?.enumerate() {
        if number % TEXTS_BETWEEN_LOOKS == 0 {
            // An iterator such as a list runs no Python code, so nothing else would let other
            // threads run.
            py.detach(|| ());
            py.check_signals()?;
        }
        let (text, place) = (text?, || format!("text {number}"));
        match asked_for(&text, place) {
            Ok(text) => asked.push(text),
            // A refused text gets the answer to an empty text.
            Err(error) if skips => {
                let number = number as u64;
                let Some(refusal) = refusal_of(py, number, &error)? else { return Err(error) };
                let reason = refusal.reason;
                let reason = reason.strip_prefix(&format!("{}: ", place())).unwrap_or(&reason);
                refused.push(Refusal { number, reason: reason.into() });
                asked.push((String::new(), Vec::new()));
            }
            Err(error) => return Err(error),
        }
    }
    let threads = threads.unwrap_or_else(cento::available_threads).clamp(1, asked.len().max(1));
    let asked: Vec<Mutex<(String, Vec<Part>)>> = asked.into_iter().map(Mutex::new).collect();
    run::long(py, |stop| {
        let searcher = index.searcher()?;
        let next = AtomicUsize::new(0);
        let found: Vec<OnceLock<Arc<SearchAnswer>>> =
            asked.iter().map(|_| OnceLock::new()).collect();
        let failed = Mutex::new(refused);
        let work = || -> cento::Result<()> {
            let mut query = query.clone();
            query.stop = stop.clone();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(text) = asked.get(number) else { return Ok(()) };
                let (text, parts) =
                    std::mem::take(&mut *text.lock().unwrap_or_else(PoisonError::into_inner));
                (query.subject, query.parts) = (Subject::Text(text), parts);
                let answer = Error::catch(&format!("the search for text {number}"), || {
                    find(&searcher, &mut query, as_bytes)
                });
                let answer = match answer {
                    Err(error @ (Error::Input { .. } | Error::Internal { .. })) if skips => {
                        let refusal = Refusal::of(number as u64, error)?;
                        failed.lock().unwrap_or_else(PoisonError::into_inner).push(refusal);
                        query.subject = Subject::Text(String::new());
                        query.parts.clear();
                        find(&searcher, &mut query, as_bytes)?
                    }
                    answer => answer?,
                };
                let _ = found[number].set(Arc::new(answer));
            }
        };
        let ended = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let own = work();
            let ended = || Err(Error::internal("a search", "it panicked"));
            let others = others.into_iter().map(|other| other.join().unwrap_or_else(|_| ended()));
            own.and(others.collect::<cento::Result<()>>())
        });
        if let Err(error) = ended {
            // Free the hits on a thread: millions take seconds, and Ctrl-C must be answered at
            // once.
            std::thread::spawn(move || drop(found));
            return Err(error);
        }
        // Every text has an answer, unless there was an error.
        let found = found.into_iter().filter_map(OnceLock::into_inner).collect();
        let mut refused = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        refused.sort_by_key(|refusal| refusal.number);
        Ok(Answers::new(found, as_bytes, refused))
    })
}

/// Converts a signature from Python to a signature of the library.
pub fn foreign(signature: SignatureTuple) -> ForeignSignature {
    let (scheme, analyzer, frequencies, key, tokens, fingerprints) = signature;
    let fingerprints = fingerprints.into_iter();
    let fingerprints = fingerprints.map(|(key, position)| Fingerprint { key, position }).collect();
    ForeignSignature { scheme, analyzer, frequencies, key, tokens, fingerprints }
}

/// Makes the subject of a query from a signature that was made with `config`.
fn subject(signature: SignatureTuple, config: &Config) -> PyResult<Subject> {
    Ok(foreign(signature).subject(config, "`index.sign(text)`").map_err(Failure)?)
}
