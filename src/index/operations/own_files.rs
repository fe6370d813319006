//! Which files in the directory of an index are its own?
//!
//! Only these files are removed when an operation removes an index, or gives up a new index. A
//! hidden file need not belong to the index: a project may keep its .env beside the files of an
//! index.

use std::fs;
use std::io;
use std::path::Path;

use crate::error::{Error, Result};
use crate::index::change_log::{CHANGES_DIR, WATCHES_DIR};
use crate::index::config::FREQUENCIES_FILE;
use crate::index::storage::component::is_component;
use crate::index::storage::directory::{MANAGED, UNFINISHED, is_temporary};
use crate::index::storage::seal::META;
use crate::index::{Index, WriterOptions};
use crate::reason::Reason;

/// The note of shards that are being removed. Its name is hidden, because the note belongs to the
/// directory but not to the index.
pub const MOVING: &str = ".moving.json";

/// Hidden names of files and directories, also of those that the service and stores write here.
const HIDDEN: [&str; 10] = [
    CHANGES_DIR,
    WATCHES_DIR,
    MANAGED,
    MOVING,
    ".tantivy-meta.lock",
    ".tantivy-writer.lock",
    ".service.json",
    ".remote.json",
    ".remote.next.json",
    ".remote.lock",
];

/// Returns whether an index may have given this name to a file or directory.
pub fn is_own(name: &str) -> bool {
    name == META
        || name == FREQUENCIES_FILE
        || is_component(name)
        || HIDDEN.contains(&name)
        || name.starts_with(UNFINISHED)
        || is_temporary(name)
}

/// Refuses a directory with files that do not belong to the index, because they would be lost.
pub fn check_all_own(path: &Path) -> Result<()> {
    check(path, is_own)
}

/// Does what [`check_all_own`] does, but accepts hidden files, where nothing hidden is removed.
pub fn check_visible_own(path: &Path) -> Result<()> {
    check(path, |name| name.starts_with('.') || is_own(name))
}

fn check(path: &Path, is_accepted: impl Fn(&str) -> bool) -> Result<()> {
    let failed = |e| Error::io("read", path, e);
    for entry in fs::read_dir(path).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let name = name.to_string_lossy();
        if !is_accepted(&name) {
            let what = format!(
                "`{name}` does not belong to the index and would be deleted; move it elsewhere"
            );
            return Err(Error::index(path, Reason::Unsuitable, what));
        }
    }
    Ok(())
}

/// Removes the files of an index, and the directory if nothing else is in it.
///
/// # Errors
/// When a file cannot be removed.
pub fn remove(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        match is_own(&entry.file_name().to_string_lossy()) {
            true if entry.file_type()?.is_dir() => fs::remove_dir_all(entry.path())?,
            true => fs::remove_file(entry.path())?,
            false => {}
        }
    }
    match fs::remove_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        removed => removed,
    }
}

impl Index {
    /// Removes an index without documents, for example an index created for unreadable documents.
    /// Foreign files stay. Returns whether the index was empty.
    ///
    /// # Errors
    /// [`Error::Locked`] when another process is writing, and when a file cannot be removed.
    pub fn remove_if_empty(self) -> Result<bool> {
        let options = WriterOptions::default().memory_bytes(0usize).merge(false);
        // Held until the files are gone, so that no other process writes documents meanwhile.
        let mut lock = self.writer(options)?;
        let is_empty = lock.committed()?.documents() == 0;
        if is_empty {
            remove(self.path()).map_err(|e| Error::io("remove", self.path(), e))?;
        }
        Ok(is_empty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Config;

    fn config() -> Config {
        Config::new("winnow", "words", true).unwrap()
    }

    #[test]
    fn an_index_that_is_given_up_takes_no_file_of_others_along() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("project");
        fs::create_dir(&path).unwrap();
        fs::write(path.join(".env"), "a secret").unwrap();
        assert!(Index::create(&path, config()).unwrap().remove_if_empty().unwrap());
        let left: Vec<_> = fs::read_dir(&path).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, [".env"]);
        fs::remove_file(path.join(".env")).unwrap();
        assert!(Index::create(&path, config()).unwrap().remove_if_empty().unwrap());
        assert!(!path.exists());
    }

    #[test]
    fn a_recovery_into_a_directory_that_is_in_use_leaves_it_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let index = Index::create(path("a"), config()).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        writer.add(crate::Document::new("d", "some words of a text")).unwrap();
        writer.finish().unwrap();
        fs::create_dir(path("essays")).unwrap();
        fs::write(path("essays").join("anna.txt"), "an essay").unwrap();
        Index::create(path("other"), config()).unwrap();
        for (to, reason) in [("essays", Reason::NotEmpty), ("other", Reason::AlreadyExists)] {
            let refused = Index::recover(path("a"), path(to), None, &[]).err().unwrap();
            assert!(matches!(refused, Error::Index { reason: r, .. } if r == reason), "{refused}");
        }
        assert_eq!(fs::read(path("essays").join("anna.txt")).unwrap(), b"an essay");
        assert!(Index::exists(path("other")));
        // A recovery that fails later gives up the directory, without the files of others.
        fs::create_dir(path("project")).unwrap();
        fs::write(path("project").join(".env"), "a secret").unwrap();
        let none = ["0".repeat(32)];
        assert!(Index::recover(path("a"), path("project"), None, &none).is_err());
        assert!(path("project").join(".env").exists() && !Index::exists(path("project")));
    }
}
