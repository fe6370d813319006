//! The size and the content of the index.

use std::io::ErrorKind;
use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::index::Bytes;
use crate::index::Index;
use crate::index::Snapshot;
use crate::index::Stats;
use crate::segment::plugin::EXTENSION;

impl Snapshot {
    /// Measures the size of the index.
    ///
    /// ```
    /// # use cento::{Config, Document, Index, WriterOptions};
    /// # let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
    /// # let mut writer = index.writer(WriterOptions::default())?;
    /// # let poem = "A lighthouse was a fire behind a window and half of the light went up";
    /// # writer.add(Document::new("poem", poem))?;
    /// # writer.add(Document::new("copy", format!("{poem} the chimney")))?;
    /// # writer.commit()?;
    /// let stats = index.snapshot()?.stats()?;
    /// assert_eq!((stats.documents, stats.deleted, stats.segments), (2, 0, 1));
    /// assert_eq!(stats.scheme, "winnow(k=5,w=10)");
    /// # Ok::<(), cento::Error>(())
    /// ```
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
            key: self.config().key().map(|value| value.to_string()),
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

    /// Returns the files of the directory and their lengths.
    fn files(&self) -> Result<Vec<(PathBuf, u64)>> {
        let failed = |e| Error::io("read", self.path(), e);
        let entries = match std::fs::read_dir(self.path()) {
            // A replaced copy is still being searched: its directory is gone, but its files are
            // open, so the list provides the lengths.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let listed = self.directory().listed().into_iter();
                return Ok(listed.map(|(name, file)| (PathBuf::from(name), file.len)).collect());
            }
            entries => entries.map_err(failed)?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed)?;
            // A writer may collect a file between the two calls.
            if let Ok(metadata) = entry.metadata() {
                files.push((entry.path(), metadata.len()));
            }
        }
        Ok(files)
    }
}
