//! Files in the directory that no commit lists.
//!
//! An interrupted pull, addition or merge leaves such files. The files may contain removed texts,
//! so the next writer deletes unlisted files, and a check reports them.

use std::io;
use std::path::Path;

use tantivy::Directory;
use tantivy::directory::ManagedDirectory;
use tantivy::directory::error::OpenWriteError;

use super::super::component::{is_component, segment_of};
use super::{IndexDirectory, locked};

/// The prefix of files that are being fetched, until they are complete.
pub const UNFINISHED: &str = ".pull-";

impl IndexDirectory {
    /// Prepares the directory for a writer, and gives up what an earlier writer has left. Call this
    /// with the writer's lock, after reading the list of segments.
    ///
    /// # Errors
    /// When the directory cannot be written.
    pub fn begin_writing(&self, managed: &ManagedDirectory) -> Result<(), OpenWriteError> {
        self.end_change_of_withdrawals(None);
        self.manage_listed(managed)?;
        self.remove_unfinished();
        Ok(())
    }

    /// Tells tantivy about every listed segment file, so that tantivy collects the file after the
    /// file leaves the list. tantivy reads the names when the index is opened. If a second process
    /// committed between the opening and the lock, the new files were unknown and stayed after a
    /// merge, with removed texts.
    ///
    /// # Errors
    /// When the names cannot be written.
    fn manage_listed(&self, managed: &ManagedDirectory) -> Result<(), OpenWriteError> {
        let known = managed.list_managed_files();
        let mut names: Vec<String> = self.listed().into_keys().collect();
        names.retain(|name| segment_of(name).is_some() && !known.contains(Path::new(name)));
        let Some(first) = names.first().map(|name| Path::new(name).to_owned()) else {
            return Ok(());
        };
        let noted = self.announce(names.iter().cloned());
        noted.map_err(|e| OpenWriteError::wrap_io_error(e, first))?;
        // tantivy records a file only when the file is opened for writing.
        let noted = names.iter().map(Path::new).try_for_each(|path| {
            locked(&self.state.unwritten).insert(path.to_owned(), None);
            managed.open_write(path).map(drop)
        });
        self.end_announcement();
        noted
    }

    /// Removes the remains of a crash or failure: every unlisted file that may have documents. An
    /// unlisted file may contain removed texts. tantivy collects its own files only, not files of a
    /// pull. A commit derives the file name of a list of deleted documents from the opstamp. A
    /// repeated commit has the same opstamp, so a remaining file would block the commit forever.
    /// Call this with the writer's lock, after reading the list of segments, when no second writer
    /// exists.
    fn remove_unfinished(&self) {
        self.remove_unlisted(&|name| self.is_listed(Path::new(name)));
    }

    /// Removes the files that may have documents, unless `is_listed` is true. A file that cannot
    /// be removed is reported by a check.
    pub fn remove_unlisted(&self, is_listed: &dyn Fn(&str) -> bool) {
        let (Some(root), Some(held)) = (self.root(), &self.state.held) else { return };
        if let Err(error) = self.check_writer() {
            return log::warn!("unfinished files in {} stay: {error}", root.display());
        }
        // A reader holds the list while it opens the files of an older commit.
        let _held = match self.hold_list() {
            Ok(held) => held,
            Err(error) => {
                return log::warn!(
                    "cannot lock the list of segments of {}: {error}",
                    root.display()
                );
            }
        };
        let names = match self.files_with_documents() {
            Ok(names) => names,
            Err(error) => return log::warn!("cannot read {}: {error}", root.display()),
        };
        for name in names.iter().filter(|name| !is_listed(name)) {
            if let Err(error) = std::fs::remove_file(held.own().join(name))
                && error.kind() != io::ErrorKind::NotFound
            {
                log::warn!("cannot remove {}: {error}", root.join(name).display());
            }
        }
    }

    /// Returns the names of files that may have documents, ascending: files of segments, listed or
    /// not, and files that are or were being written.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn files_with_documents(&self) -> io::Result<Vec<String>> {
        let Some(held) = &self.state.held else { return Ok(Vec::new()) };
        let mut names = Vec::new();
        for entry in std::fs::read_dir(held.own())? {
            let entry = entry?;
            let is_file = entry.file_type().is_ok_and(|file_type| file_type.is_file());
            let name = entry.file_name();
            let is_own = |name: &&str| {
                is_component(name) || name.starts_with(UNFINISHED) || is_temporary(name)
            };
            names.extend(name.to_str().filter(|name| is_file && is_own(name)).map(str::to_owned));
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Returns whether a writer, in this process or another, holds the lock.
    pub fn is_written(&self) -> bool {
        self.state.held.as_ref().is_some_and(|held| held.is_written())
    }
}

/// Returns whether a file name has the pattern of the crate `tempfile`.
pub fn is_temporary(name: &str) -> bool {
    let random = name.strip_prefix(".tmp");
    random.is_some_and(|r| r.len() == 6 && r.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}
