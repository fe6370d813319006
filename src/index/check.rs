//! Is every byte of the index what was written?
//!
//! Reads all of it: tantivy's components against their checksums, signatures page by page and
//! then by meaning, stored texts against their digests, ids against each other.

use std::collections::{BTreeSet, HashSet};

use tantivy::directory::error::OpenReadError;
use tantivy::index::SegmentComponent;

use super::{DocAddress, Index, Snapshot};
use crate::error::{Corruption, Error, Result};
use crate::hash::hash_bytes;

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Segments looked at.
    pub segments: usize,
    /// What is wrong; empty in a sound index.
    pub problems: Vec<Corruption>,
}

/// Problems beyond so many are not listed one by one.
const PROBLEMS_MAX: usize = 1000;

impl Index {
    /// Reads the whole index and reports what is damaged.
    ///
    /// # Errors
    /// When something other than damage keeps the index from being read.
    pub fn check(&self) -> Result<CheckReport> {
        let mut report = CheckReport::default();
        self.check_components(&mut report)?;
        match self.snapshot() {
            Ok(snapshot) => {
                report.segments = snapshot.segments().len();
                check_segments(&snapshot, &mut report);
                check_documents(&snapshot, &mut report)?;
            }
            Err(Error::Corrupt(problem)) => report.add(problem),
            // A component that fails its checksum is in the report already.
            Err(_) if !report.problems.is_empty() => {}
            Err(error) => return Err(error),
        }
        Ok(report)
    }

    /// Compares every component of the last commit with its checksum.
    fn check_components(&self, report: &mut CheckReport) -> Result<()> {
        let metas = self.tantivy().load_metas();
        let metas = metas.map_err(|e| self.error("read the list of segments of", e))?;
        report.segments = metas.segments.len();
        let mut files = metas.list_segment_files();
        for meta in metas.segments.iter().filter(|meta| !meta.has_deletes()) {
            files.remove(&meta.relative_path(SegmentComponent::Delete));
        }
        let files: BTreeSet<_> = files.into_iter().collect();
        let directory = self.tantivy().directory();
        for file in files {
            let name = file.display().to_string();
            let what = match directory.validate_checksum(&file) {
                Ok(true) => continue,
                Ok(false) => "it does not fit its checksum".to_owned(),
                Err(OpenReadError::FileDoesNotExist(_)) => "it is missing".to_owned(),
                Err(OpenReadError::IoError { io_error, .. }) => io_error.to_string(),
                Err(error) => format!("{error:?}"),
            };
            report.add(Corruption::new(name, "component", 0, what));
        }
        Ok(())
    }
}

impl CheckReport {
    fn add(&mut self, problem: Corruption) {
        if self.problems.len() < PROBLEMS_MAX && !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }
}

fn check_segments(snapshot: &Snapshot, report: &mut CheckReport) {
    for segment in snapshot.segments() {
        segment.signatures.check().into_iter().for_each(|problem| report.add(problem));
    }
}

/// Reads every document and looks for ids that occur twice.
fn check_documents(snapshot: &Snapshot, report: &mut CheckReport) -> Result<()> {
    let mut ids = HashSet::new();
    for (segment, view) in (0u32..).zip(snapshot.segments()) {
        let documents = (0..view.signatures.header().documents).filter(|&doc| view.is_alive(doc));
        for address in documents.map(|doc| DocAddress { segment, doc }) {
            let id = match snapshot.document(address) {
                Ok(document) => document.id,
                Err(Error::Corrupt(problem)) => {
                    report.add(problem);
                    continue;
                }
                Err(error) => return Err(error),
            };
            if !ids.insert(hash_bytes(id.as_bytes())) {
                let what = format!("the id `{id}` occurs twice");
                report.add(Corruption::new("meta.json", "documents", 0, what));
            }
        }
    }
    Ok(())
}
