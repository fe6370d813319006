//! The part of a meta object that decides whether a document has changed.

use cento_api::NOVELTY;
use serde_json::{Map, Value};

use super::canonical::canonical_json;

/// Returns the canonical JSON of a meta object without the novelty of its document, if it has that:
/// the documents before it decide about novelty, and not who adds it.
#[must_use]
pub fn without_novelty(meta: &Map<String, Value>) -> Option<String> {
    meta.contains_key(NOVELTY).then(|| {
        let mut own = meta.clone();
        own.remove(NOVELTY);
        canonical_json(&own)
    })
}
