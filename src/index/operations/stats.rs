//! The size and the content of the index.

use std::io::ErrorKind;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::index::Index;
use crate::index::Preset;
use crate::index::Snapshot;
use crate::segment::plugin::EXTENSION;

/// The size of an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Stats {
    /// Documents.
    pub documents: u64,
    /// Removed or replaced documents that still take space.
    pub deleted: u64,
    /// Segments.
    pub segments: usize,
    /// Distinct fingerprints, added up over the segments.
    pub terms: u64,
    /// Pairs of a fingerprint and a document that holds it, deleted documents included.
    pub postings: u64,
    /// Stored occurrences of fingerprints, deleted documents included.
    pub fingerprints: u64,
    /// Tokens, deleted documents included.
    pub tokens: u64,
    /// The specification of the scheme.
    pub scheme: String,
    /// The specification of the analyzer.
    pub analyzer: String,
    /// The preset of the index, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub preset: Option<Preset>,
    /// Bytes on disk.
    pub bytes: Bytes,
}

/// Bytes on disk, by content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Bytes {
    /// All `.sig` files.
    pub signatures: u64,
    /// The stored documents, if texts are stored.
    pub text: u64,
    /// Everything else.
    pub other: u64,
}

impl Snapshot {
    /// Measures the size of the index.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn stats(&self) -> Result<Stats> {
        let counts = || self.segments().iter().map(|segment| segment.signatures.counts());
        let all: u64 = self.readers().map(|reader| u64::from(reader.max_doc())).sum();
        let mut bytes = Bytes::default();
        for index in self.indexes() {
            let Bytes { signatures, text, other } = index.bytes()?;
            bytes.signatures += signatures;
            bytes.text += text;
            bytes.other += other;
        }
        Ok(Stats {
            documents: self.documents(),
            deleted: all - self.documents(),
            segments: self.segments().len(),
            terms: counts().map(|c| c.terms).sum(),
            postings: counts().map(|c| c.postings).sum(),
            fingerprints: counts().map(|c| c.occurrences).sum(),
            tokens: counts().map(|c| c.tokens).sum(),
            scheme: self.config().scheme.to_string(),
            analyzer: self.config().analyzer.to_string(),
            preset: self.preset(),
            bytes,
        })
    }
}

impl Index {
    fn bytes(&self) -> Result<Bytes> {
        let mut bytes = Bytes::default();
        for (path, len) in self.files()? {
            let kind = match path.extension().and_then(|extension| extension.to_str()) {
                Some(EXTENSION) => &mut bytes.signatures,
                Some("store") if self.config().store_text => &mut bytes.text,
                _ => &mut bytes.other,
            };
            *kind += len;
        }
        Ok(bytes)
    }

    /// Returns the files of the directory, and their lengths.
    fn files(&self) -> Result<Vec<(PathBuf, u64)>> {
        let failed = |e| Error::io("read", self.path(), e);
        let entries = match std::fs::read_dir(self.path()) {
            // The directory of a copy which has been replaced and is still searched: its files are
            // open.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let listed = self.directory().listed().into_iter();
                return Ok(listed.map(|(name, file)| (PathBuf::from(name), file.len)).collect());
            }
            entries => entries.map_err(failed)?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed)?;
            // A file may be collected by a writer between the two calls.
            if let Ok(metadata) = entry.metadata() {
                files.push((entry.path(), metadata.len()));
            }
        }
        Ok(files)
    }
}
