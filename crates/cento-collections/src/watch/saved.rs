//! Reads the watches of an index in a form that can be requested again.
//!
//! Watches are stored beside the index, so push, pull, merge, export and recovery do not carry them
//! along. Reading takes no lock, so watches can be copied while a service matches them.

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

/// A watch with its subject.
///
/// The JSON form has the fields of a request that makes the same watch, and the fields shown in a
/// list. Only the secret of a webhook is missing, because lists are shown to people who must not
/// know it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SavedWatch {
    /// The watch as listed.
    #[serde(flatten)]
    pub watch: Watch,
    /// The text of the subject, if the index stores texts and the text has no parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The parts of the text, if the text has parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<PartText>>,
    /// The signature of the subject, if no text is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<SignatureBody>,
}

/// Returns the number of watches of the index in this directory. The index itself may be damaged.
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

/// Returns the watches of an index as of their last change, by name.
///
/// # Errors
/// When the watches cannot be read.
pub fn listed_watches(index: &Index) -> Result<Vec<Watch>> {
    opened(index)?.map_or_else(|| Ok(Vec::new()), |snapshot| listed(&snapshot))
}

/// Returns the watches of an index with their subjects, by name.
///
/// # Errors
/// When the watches cannot be read, or a text depends on an unknown key.
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
        // Without the key the texts cannot be read, but the names of watches are no secret.
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
