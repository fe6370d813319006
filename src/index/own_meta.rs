//! The part of a meta object that decides whether a document has changed.

use cento_api::NOVELTY;
use serde_json::{Map, Value};

use super::canonical::canonical_json;

/// Returns the JSON of a meta object without the novelty of its document: the documents before it
/// decide about that, and not who adds it.
#[must_use]
pub fn own_meta(meta: &Map<String, Value>) -> String {
    if !meta.contains_key(NOVELTY) {
        return canonical_json(meta);
    }
    let mut own = meta.clone();
    own.remove(NOVELTY);
    canonical_json(&own)
}
