//! The watches of an index, as they would be requested again.
//!
//! No push, pull, merge, export or recovery carries watches along: they are beside the index. This
//! reads them without the lock, so that they can be copied while a service matches them.

use std::path::Path;

use cento::Stop;
use cento::index::{Index, Snapshot, StoredDocument, WATCHES_DIR};
use cento::search::ForeignSignature;
use cento_api::error::Result;
use cento_api::http::SignatureBody;
use cento_api::part::exchanged_parts;
use cento_api::{PartText, Watch, WatchedKind};
use serde::Serialize;

use super::dir_of;
use super::store::{self, INDEX};

/// A watch, with its subject.
///
/// As JSON it has the fields of a request that makes the watch again, and those that a list shows.
/// Only the secret of its webhook is missing, because a list is no place for it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SavedWatch {
    /// The watch, as it is listed.
    #[serde(flatten)]
    pub watch: Watch,
    /// Its text, if the index stores texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The parts of its text, if it has any, in the place of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<PartText>>,
    /// Its signature, if it has no text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<SignatureBody>,
}

/// Returns the number of watches of the index in this directory, which may be damaged otherwise.
///
/// # Errors
/// When the watches cannot be read.
pub fn count_watches(index: &Path) -> Result<u64> {
    let path = index.join(WATCHES_DIR).join(INDEX);
    match Index::exists(&path) {
        true => Ok(Index::open(&path)?.snapshot()?.documents()),
        false => Ok(0),
    }
}

/// Returns the watches of an index as of their last change, in the order of their names.
///
/// # Errors
/// When they cannot be read.
pub fn listed_watches(index: &Index) -> Result<Vec<Watch>> {
    opened(index)?.map_or_else(|| Ok(Vec::new()), |snapshot| listed(&snapshot))
}

/// Returns the watches with their subjects, likewise.
///
/// # Errors
/// When they cannot be read, or a text depends on a key that is not known.
pub fn saved_watches(index: &Index) -> Result<Vec<SavedWatch>> {
    let Some(snapshot) = opened(index)? else { return Ok(Vec::new()) };
    listed(&snapshot)?.into_iter().map(|watch| with_subject(&snapshot, watch)).collect()
}

fn opened(index: &Index) -> Result<Option<Snapshot>> {
    let path = dir_of(index).join(INDEX);
    match Index::exists(&path) {
        true => store::open_unlocked(&path, index)?.snapshot().map(Some),
        false => Ok(None),
    }
}

fn listed(snapshot: &Snapshot) -> Result<Vec<Watch>> {
    let watches = snapshot.live().map(|address| Ok(store::entry(snapshot, address)?.watch()));
    let mut watches = watches.collect::<Result<Vec<Watch>>>()?;
    watches.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(watches)
}

fn with_subject(snapshot: &Snapshot, watch: Watch) -> Result<SavedWatch> {
    let mut saved = SavedWatch { watch, text: None, parts: None, signature: None };
    if saved.watch.kind == WatchedKind::Document {
        return Ok(saved);
    }
    let Some(address) = snapshot.find(&saved.watch.name)? else { return Ok(saved) };
    let config = snapshot.config();
    if config.key().is_some() && config.known_key().is_none() {
        // The names of watches are no secret, and their texts cannot be read.
        return Ok(saved);
    }
    if saved.watch.kind == WatchedKind::Text && config.store_text {
        let StoredDocument { text, parts, .. } = snapshot.document(address)?;
        match parts.is_empty() {
            true => saved.text = text,
            false => saved.parts = Some(exchanged_parts(&parts, &text.unwrap_or_default())),
        }
    } else {
        let fingerprints = snapshot.signature(address, Stop::NEVER)?;
        let signature = ForeignSignature::of(config, saved.watch.tokens, fingerprints);
        saved.signature = Some(signature.body(config));
    }
    Ok(saved)
}
