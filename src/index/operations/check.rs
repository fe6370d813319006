//! Verification of every byte of the index.
//!
//! The check compares tantivy's components with their checksums, `.sig` files page by page and then
//! by meaning, stored texts with their digests, and ids with each other.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use tantivy::TantivyError;
use tantivy::directory::FileSlice;
use tantivy::directory::error::OpenReadError;

use crate::error::{Corruption, Error, Result};
use crate::hash::Digest;
use crate::index::DocAddress;
use crate::index::Index;
use crate::index::Snapshot;
use crate::index::storage::component::{segment_of, verify_whole};
use crate::index::storage::seal::Component;
use crate::scheme::distinct_keys;
use crate::segment::Candidates;

/// The result of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "the check reports damage here, not as an error"]
pub struct CheckReport {
    /// The number of segments of the index.
    pub segments: usize,
    /// The number of damaged segments. Damage outside of segments, in the list or between segments,
    /// is not counted here.
    pub damaged: usize,
    /// The damage that was found. Empty for a sound index.
    pub problems: Vec<Corruption>,
    /// Files in the directory that belong to no commit although no writer is open. An interrupted
    /// pull, addition or merge leaves such files. This is not damage, but the files may contain
    /// removed texts. The next writer deletes them.
    pub unlisted: Vec<String>,
}

impl CheckReport {
    /// Creates the report of an index that could not be opened, so that no segment was read.
    pub fn of(problems: Vec<Corruption>) -> CheckReport {
        CheckReport { problems, ..CheckReport::default() }
    }
}

/// The most problems that a report lists.
const PROBLEMS_MAX: usize = 1000;

/// How far [`Index::check_with`] has come. The check reads files first, then documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckProgress {
    /// This many bytes of the files have been read.
    Bytes {
        /// The bytes read so far.
        done: u64,
        /// The bytes of all files.
        of: u64,
    },
    /// This many documents have been read.
    Documents {
        /// The documents read so far.
        done: u64,
        /// The number of live documents.
        of: u64,
    },
}

impl Index {
    /// Reads the whole index and reports the damage.
    ///
    /// ```
    /// # use cento::{Config, Document, Index, WriterOptions};
    /// # let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
    /// # let mut writer = index.writer(WriterOptions::default())?;
    /// # let poem = "A lighthouse was a fire behind a window and half of the light went up";
    /// # writer.add(Document::new("poem", poem))?;
    /// # writer.add(Document::new("copy", format!("{poem} the chimney")))?;
    /// # writer.commit()?;
    /// let report = index.check()?;
    /// assert!(report.problems.is_empty());
    /// # Ok::<(), cento::Error>(())
    /// ```
    ///
    /// # Errors
    /// When something other than damage prevents reading the index.
    pub fn check(&self) -> Result<CheckReport> {
        self.check_with(&|_| {})
    }

    /// Like [`check`](Index::check), and calls `progress` after each file and each document.
    ///
    /// # Errors
    /// As [`check`](Index::check).
    pub fn check_with(&self, progress: &dyn Fn(CheckProgress)) -> Result<CheckReport> {
        let mut report = CheckFindings { path: self.path().to_owned(), ..Default::default() };
        let (components, snapshot) = {
            // Under one lock, so that the check sees a single commit, whose files stay meanwhile.
            let hold = self.directory().hold_list();
            let _hold = hold.map_err(|e| self.error("open", TantivyError::LockFailure(e, None)))?;
            (self.open_components()?, self.snapshot())
        };
        report.names = components
            .iter()
            .filter_map(|(name, ..)| segment_of(name))
            .map(str::to_owned)
            .collect();
        let of = components.iter().map(|(_, component, _)| component.len).sum();
        let mut done = 0;
        for (name, component, file) in components {
            // Without read permission, the file cannot be judged.
            if let Err(OpenReadError::IoError { io_error, .. }) = &file
                && io_error.kind() == std::io::ErrorKind::PermissionDenied
            {
                let denied = std::io::ErrorKind::PermissionDenied.into();
                return Err(Error::io("read", self.path().join(name), denied));
            }
            let checked = file.map_err(|e| match e {
                OpenReadError::FileDoesNotExist(_) => "it is missing".to_owned(),
                OpenReadError::IoError { io_error, .. } => io_error.to_string(),
                OpenReadError::IncompatibleIndex(_) => {
                    "it was written by another version of tantivy".into()
                }
            });
            let checked = checked.and_then(|file| {
                verify_whole(&name, file, component).map_err(|e| {
                    let found = e.get_ref().and_then(|e| e.downcast_ref::<Corruption>());
                    found.map_or_else(|| e.to_string(), |found| found.what.clone())
                })
            });
            if let Err(what) = checked {
                report.add(Corruption::new(name, "component", 0, what));
            }
            done += component.len;
            progress(CheckProgress::Bytes { done, of });
        }
        match snapshot {
            Ok(snapshot) => {
                check_segments(&snapshot, &mut report);
                check_documents(&snapshot, &mut report, progress)?;
            }
            Err(Error::Corrupt(problem)) => report.add(problem),
            // The report already contains the failed checksum that causes this error.
            Err(_) if !report.problems.is_empty() => {}
            Err(error) => return Err(error),
        }
        let CheckFindings { names, damaged, problems, .. } = report;
        let unlisted = self.unlisted_files()?;
        Ok(CheckReport { segments: names.len(), damaged: damaged.len(), problems, unlisted })
    }

    /// Returns the names of files that may have documents and belong to no commit, ascending. Empty
    /// while a writer is open, because a writer always has such files.
    pub fn unlisted_files(&self) -> Result<Vec<String>> {
        let directory = self.directory();
        let failed = |e: std::io::Error| Error::io("read", self.path(), e);
        let unlisted = || -> Result<Vec<String>> {
            let hold = directory.hold_list();
            let _hold = hold.map_err(|e| self.error("open", TantivyError::LockFailure(e, None)))?;
            // Read the directory first, so that a commit in between makes no file look unlisted.
            let mut names = directory.files_with_documents().map_err(failed)?;
            self.list()?;
            let listed = directory.listed();
            names.retain(|name| !listed.contains_key(name));
            Ok(names)
        };
        // A writer may have come or gone in between, so check twice.
        let before = unlisted()?;
        if before.is_empty() || directory.is_written() {
            return Ok(Vec::new());
        }
        let mut names = unlisted()?;
        names.retain(|name| before.contains(name));
        Ok(if directory.is_written() { Vec::new() } else { names })
    }

    /// Opens every component of the last commit. Returns errors with their files.
    fn open_components(&self) -> Result<Vec<OpenComponent>> {
        self.list()?;
        let open = |(name, component): (String, Component)| {
            let file = self.directory().open_unchecked(Path::new(&name));
            (name, component, file)
        };
        Ok(self.directory().listed().into_iter().map(open).collect())
    }
}

/// The name of a component, its expected content, and the opened file.
type OpenComponent = (String, Component, std::result::Result<FileSlice, OpenReadError>);

#[derive(Default)]
struct CheckFindings {
    /// The directory of the index.
    path: PathBuf,
    /// The names of the segments.
    names: BTreeSet<String>,
    /// The names of the damaged segments.
    damaged: BTreeSet<String>,
    problems: Vec<Corruption>,
}

impl CheckFindings {
    fn add(&mut self, mut problem: Corruption) {
        // The report is about one directory, so the name in it is enough.
        if let Ok(name) = Path::new(&problem.file).strip_prefix(&self.path) {
            problem.file = name.display().to_string();
        }
        let segment = segment_of(&problem.file).filter(|name| self.names.contains(*name));
        self.damaged.extend(segment.map(str::to_owned));
        if self.problems.len() < PROBLEMS_MAX && !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }
}

fn check_segments(snapshot: &Snapshot, report: &mut CheckFindings) {
    for segment in snapshot.segments() {
        segment.signatures.check().into_iter().for_each(|problem| report.add(problem));
    }
}

/// Reads every document, and looks for ids that occur twice.
fn check_documents(
    snapshot: &Snapshot,
    report: &mut CheckFindings,
    progress: &dyn Fn(CheckProgress),
) -> Result<()> {
    let mut ids = HashSet::new();
    for (done, address) in (1..).zip(snapshot.live()) {
        progress(CheckProgress::Documents { done, of: snapshot.documents() });
        let checked = snapshot.document(address).and_then(|document| {
            snapshot.check_parts(address, &document.parts)?;
            if !snapshot.config().store_signatures {
                check_fingerprints(
                    snapshot,
                    address,
                    document.text.as_deref().unwrap_or_default(),
                )?;
            }
            Ok(document.id)
        });
        let id = match checked {
            Ok(id) => id,
            Err(Error::Corrupt(problem)) => {
                report.add(problem);
                continue;
            }
            Err(error) => return Err(error),
        };
        if !ids.insert(Digest::of(id.as_bytes())) {
            let what = format!("the id `{id}` occurs twice");
            report.add(Corruption::new("meta.json", "documents", 0, what));
        }
    }
    Ok(())
}

/// Refuses a document whose segment has other fingerprints or token counts than its text yields.
///
/// Only without stored signatures, which would be compared with the dictionary as a whole.
fn check_fingerprints(snapshot: &Snapshot, address: DocAddress, text: &str) -> Result<()> {
    let signatures = &snapshot.segment(address).signatures;
    let (tokens, signature) = snapshot.config().sign(text)?;
    let keys = distinct_keys(&signature);
    let row = signatures.document(address.doc)?;
    if row.tokens != tokens {
        let what = format!("its row records {} tokens, but its text has {tokens}", row.tokens);
        return Err(snapshot.damaged(address, "sig", &what));
    }
    let own = Candidates::new(vec![address.doc]);
    let mut known = 0;
    for (_, term) in signatures.find_all(&keys)? {
        signatures.documents_among(&term, &own, |_| known += 1)?;
    }
    // The check of the segment has counted the fingerprints of each document in the posting lists,
    // so equal counts imply equal sets.
    if (row.distinct as usize, known) != (keys.len(), keys.len()) {
        let what = "the posting lists contain other fingerprints of it than its text has";
        return Err(snapshot.damaged(address, "sig", what));
    }
    Ok(())
}
