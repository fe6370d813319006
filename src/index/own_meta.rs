//! The part of a meta object that decides whether a document has changed.

use cento_api::NOVELTY;
use serde_json::{Map, Value};

use super::canonical::canonical_json;

/// Returns the canonical JSON of a meta object without its novelty, or `None` for an object without
/// novelty. Novelty depends on earlier documents, not on the caller, so a different novelty must
/// not make a document look changed.
#[must_use]
pub fn without_novelty(meta: &Map<String, Value>) -> Option<String> {
    meta.contains_key(NOVELTY).then(|| {
        let mut own = meta.clone();
        own.remove(NOVELTY);
        canonical_json(&own)
    })
}
