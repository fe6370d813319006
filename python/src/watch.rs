//! The watches of an index.
//!
//! Each call opens the watches, which takes a lock, and closes them again, so that a different
//! process can open them between two calls.

use cento_api::Webhook;
use cento_api::http::WatchRequest;
use cento_api::part::exchanged_parts;
use cento_collections::watch::{Watches, caught_up};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::convert::{document_of_parts, id_of, text_of, to_json};
use crate::error::{Failure, refused};
use crate::open_index::OpenIndex;
use crate::query::Options;
use crate::run;
use crate::search::{SignatureTuple, foreign};

/// The name, the text, the parts, the id and the signature of a watch, one of the last four.
type WatchedTuple<'py> = (
    Option<Bound<'py, PyAny>>,
    Option<Bound<'py, PyAny>>,
    Option<Bound<'py, PyAny>>,
    Option<Bound<'py, PyAny>>,
    Option<SignatureTuple>,
);

/// Adds watches with the same conditions and the same receiver; returns each as JSON.
pub fn add(
    py: Python<'_>,
    index: &OpenIndex,
    watched: &Bound<'_, PyList>,
    webhook: Option<(String, String)>,
    options: &Bound<'_, PyDict>,
) -> PyResult<Vec<String>> {
    let common: WatchRequest = Options(options).read(&[])?;
    let webhook = webhook.map(|(url, secret)| Webhook { url, secret });
    let index = index.index().map_err(Failure)?;
    let mut requests = Vec::with_capacity(watched.len());
    for (number, item) in watched.iter().enumerate() {
        let (name, text, parts, id, signature): WatchedTuple<'_> = item.extract()?;
        let place = format!("watch {number}");
        let name = name.map(|name| id_of(&name, &place)).transpose()?;
        let text =
            text.map(|text| text_of(&text, &place, "text").map(str::to_owned)).transpose()?;
        let id = id.map(|id| id_of(&id, &place)).transpose()?;
        let parts = parts.map(|parts| document_of_parts(String::new(), &parts, &place));
        let parts = parts.transpose()?.map(|of| exchanged_parts(&of.parts, &of.text));
        let given = [text.is_some(), parts.is_some(), id.is_some(), signature.is_some()];
        if given.into_iter().filter(|is_given| *is_given).count() != 1 {
            let what = "give a text, `parts`, an `id` or a `signature` to watch for, one of them";
            return Err(refused(what).into());
        }
        let signature = signature.map(|signature| foreign(signature).body(index.config()));
        let webhook = webhook.clone();
        let request = WatchRequest { name, text, parts, id, signature, ..common.clone() };
        requests.push(WatchRequest { webhook, ..request });
    }
    let added = run::long(py, |_| Watches::begin(&index)?.add_all(requests))?;
    added.iter().map(to_json).collect()
}

/// Returns the watches as JSON, in the order of their names.
pub fn list(py: Python<'_>, index: &OpenIndex) -> PyResult<Vec<String>> {
    let watches = run::long(py, |_| {
        let watches = Watches::open_if_any(&index.index()?)?;
        Ok(watches.map_or(Vec::new(), |watches| watches.reader().list(None, usize::MAX)))
    })?;
    watches.iter().map(to_json).collect()
}

/// Removes a watch; returns whether there was one.
pub fn remove(py: Python<'_>, index: &OpenIndex, name: &str) -> PyResult<bool> {
    run::long(py, |stop| match Watches::open_if_any(&index.index()?)? {
        Some(mut watches) => Ok(watches.remove(name, stop)?.0),
        None => Ok(false),
    })
}

/// Matches the documents that were added since, and returns the events after a cursor as JSON.
pub fn events(
    py: Python<'_>,
    index: &OpenIndex,
    after: u64,
    watch: Option<&str>,
    limit: usize,
) -> PyResult<String> {
    let found = run::long(py, |stop| caught_up(&index.index()?, after, watch, limit, stop))?;
    // A different process, such as a service, may be matching.
    to_json(&found.0)
}
