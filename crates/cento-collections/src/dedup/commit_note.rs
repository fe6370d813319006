//! The note that a run leaves in each commit.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::Progress;
use cento::index::{Index, digest_of_hex, hex_of};
use cento_api::error::Result;
use cento_text::hash::Digest;

/// The note of a commit: the progress, and state for resuming the run.
#[derive(Serialize)]
pub(super) struct CommitNote {
    #[serde(flatten)]
    pub progress: Progress,
    #[serde(flatten)]
    pub wholes: Wholes,
}

/// Digests of the original texts of documents that passages were cut from, with the ids of the
/// documents.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Wholes {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    wholes: Vec<(String, String)>,
}

impl Wholes {
    /// Reads the digests from the note of the index's last commit. Empty if no run made the commit.
    pub fn of(index: &Index) -> Result<HashMap<Digest, String>> {
        let note = index.note()?.and_then(|note| serde_json::from_str::<Wholes>(&note).ok());
        let wholes = note.unwrap_or_default().wholes.into_iter();
        Ok(wholes.filter_map(|(digest, id)| Some((digest_of_hex(&digest)?, id))).collect())
    }

    /// Sorts the digests, so that equal runs write equal notes.
    pub fn listing(wholes: &HashMap<Digest, String>) -> Wholes {
        let mut wholes: Vec<_> =
            wholes.iter().map(|(digest, id)| (hex_of(*digest), id.clone())).collect();
        wholes.sort_unstable();
        Wholes { wholes }
    }
}
