//! Which manifest is the index in this directory?
//!
//! A small file beside the list of segments says which manifest of which store it was pulled as, or
//! pushed as last. A digest of the list tells whether it has changed since.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::manifest::{Manifest, PartDigest};
use cento::{Error, Result, replace};

/// Hidden, as what belongs to a directory and is no part of the index.
const FILE: &str = ".remote.json";

/// What the file says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    url: String,
    manifest: u64,
    id: PartDigest,
    list: PartDigest,
}

impl Origin {
    /// That of an index which is this manifest of the store at `url`.
    pub fn of(url: &str, manifest: &Manifest) -> Origin {
        Origin {
            url: url.to_owned(),
            manifest: manifest.number,
            id: manifest.id,
            list: PartDigest::of(manifest.list.as_bytes()),
        }
    }

    /// That of the index in `dir`; `None` if it came from no store.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(dir: &Path) -> Result<Option<Origin>> {
        let path = dir.join(FILE);
        let bytes = match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|e| Error::io("read", &path, e))?,
        };
        // One that was damaged is as good as none: a push or pull then refuses to guess.
        Ok(serde_json::from_slice(&bytes).ok())
    }

    /// Writes it into `dir`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, dir: &Path) -> Result<()> {
        let path = dir.join(FILE);
        let bytes = serde_json::to_vec(self).expect("an origin is JSON");
        replace::file(&path, &bytes).map_err(|e| Error::io("write", &path, e))
    }

    /// The number of the manifest, if it is one of the store at `url`.
    pub fn number_at(&self, url: &str) -> Option<u64> {
        (self.url == url).then_some(self.manifest)
    }

    /// Whether that is this manifest of the store at `url`.
    pub fn is(&self, url: &str, manifest: &Manifest) -> bool {
        self.number_at(url) == Some(manifest.number) && self.id == manifest.id
    }

    /// Whether the index is as it was pulled or pushed.
    pub fn is_unchanged(&self, list: &[u8]) -> bool {
        self.list == PartDigest::of(list)
    }
}
