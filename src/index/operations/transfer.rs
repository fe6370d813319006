//! Transfer of a committed index, file by file.
//!
//! Files of a commit never change, and the list of segments has the length and checksum of each
//! file. A copy of the list and the listed files is therefore a copy of the index. [`OpenCommit`]
//! is the sending side: it keeps the files of a commit open while they are copied. [`Receiver`] is
//! the receiving side: it is the only writer of a directory, and writes the list last. How the
//! bytes travel is up to the caller.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tantivy::directory::error::OpenReadError;
use tantivy::directory::{DirectoryLock, FileSlice, INDEX_WRITER_LOCK};
use tantivy::{Directory, HasLen, TantivyError};

use super::own_files;
use crate::error::{Corruption, Error, Result};
use crate::index::Index;
use crate::index::Withdrawals;
use crate::index::config::FREQUENCIES_FILE;
use crate::index::storage::component::is_component;
use crate::index::storage::component::verify_whole;
use crate::index::storage::directory::{IndexDirectory, MANAGED, UNFINISHED};
use crate::index::storage::held_directory::HeldDirectory;
use crate::index::storage::mmap_directory;
use crate::index::storage::seal::{self, Component, Components, META};
use crate::index::storage::store_error;
use crate::runtime::replace;
use crate::segment::plugin;

/// A list of segments (`meta.json`) with verified checksum and valid names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileList {
    bytes: Vec<u8>,
    files: Components,
    table_digest: Option<String>,
    documents: u64,
    segments: usize,
}

/// A file in a list of segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedFile<'a> {
    /// The name of the file, without a directory.
    pub name: &'a str,
    /// The length in bytes.
    pub bytes: u64,
    /// The CRC-32 of the content without the footer.
    pub crc: u32,
}

/// The fields of a list that are read here.
#[derive(Deserialize)]
struct CopiedList {
    segments: Vec<CopiedSegment>,
    schema: Vec<CopiedField>,
}

#[derive(Deserialize)]
struct CopiedSegment {
    max_doc: u32,
    deletes: Option<CopiedDeletes>,
}

#[derive(Deserialize)]
struct CopiedDeletes {
    num_deleted_docs: u32,
}

#[derive(Deserialize)]
struct CopiedField {
    name: String,
    options: serde_json::Value,
}

impl FileList {
    /// Parses a list from the bytes of `meta.json`. Names that are not names of segment files are
    /// refused, so that no name leads out of the directory.
    ///
    /// # Errors
    /// When the list does not match its checksum, or is not a valid list.
    pub fn parse(bytes: Vec<u8>) -> Result<FileList> {
        let damage = |what: String| Corruption::new(META, "list of segments", 0, what);
        let unsealed = seal::unseal(&bytes)?;
        if let Some(name) = unsealed.components.keys().find(|name| !is_component(name)) {
            return Err(damage(format!("{name:?} is not the name of a segment's file")).into());
        }
        let list: CopiedList =
            serde_json::from_slice(&unsealed.json).map_err(|e| damage(e.to_string()))?;
        let live = |segment: &CopiedSegment| {
            let deleted = segment.deletes.as_ref().map_or(0, |deletes| deletes.num_deleted_docs);
            u64::from(segment.max_doc.saturating_sub(deleted))
        };
        let signature = list.schema.iter().find(|field| field.name == plugin::FIELD);
        let Some(signature) = signature else {
            return Err(damage("it is not of an index that cento made".into()).into());
        };
        let table_digest = &signature.options["params"]["frequencies"];
        if !table_digest.is_null() && !table_digest.is_string() {
            return Err(damage("the digest of the frequency table is no text".into()).into());
        }
        Ok(FileList {
            table_digest: table_digest.as_str().map(str::to_owned),
            documents: list.segments.iter().map(live).sum(),
            segments: list.segments.len(),
            files: unsealed.components,
            bytes,
        })
    }

    /// Returns the list in the form of `meta.json`.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the files of the segments, ordered by name.
    pub fn files(&self) -> impl Iterator<Item = ListedFile<'_>> {
        let listed = self.files.iter();
        listed.map(|(name, found)| ListedFile { name, bytes: found.len, crc: found.crc })
    }

    /// Returns the file with this name, or `None` if the list does not contain it.
    #[must_use]
    pub fn file(&self, name: &str) -> Option<ListedFile<'_>> {
        let (name, found) = self.files.get_key_value(name)?;
        Some(ListedFile { name, bytes: found.len, crc: found.crc })
    }

    /// Returns the name of the file with the frequency table, if the index has a table. The list
    /// does not record its length.
    #[must_use]
    pub fn table(&self) -> Option<&'static str> {
        self.table_digest.as_ref().map(|_| FREQUENCIES_FILE)
    }

    /// Returns the digest of the frequency table in hexadecimal, if the index has a table.
    #[must_use]
    pub fn table_digest(&self) -> Option<&str> {
        self.table_digest.as_deref()
    }

    /// Returns the name of the file with the withdrawals, if the index has withdrawals.
    #[must_use]
    pub fn withdrawals(&self) -> Option<&str> {
        seal::withdrawals_of(&self.files)
    }

    /// Returns the number of live documents.
    #[must_use]
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Returns the number of segments.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.segments
    }
}

/// The files of a commit, kept open, so that they can be read even after the index has changed.
pub struct OpenCommit {
    list: FileList,
    files: BTreeMap<String, FileSlice>,
    table: Vec<u8>,
    path: PathBuf,
}

impl fmt::Debug for OpenCommit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenCommit").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Index {
    /// Opens every file of the last commit for copying.
    ///
    /// # Errors
    /// When a file is missing or the list of segments is damaged.
    pub fn open_commit(&self) -> Result<OpenCommit> {
        // Without a lock, files may be removed between reading the list and opening them, as in
        // `snapshot`. Try again if the list has changed.
        loop {
            let list = self.list()?;
            let opened = self.open_commit_once();
            if opened.is_ok() || self.list()? == list {
                return opened;
            }
        }
    }

    fn open_commit_once(&self) -> Result<OpenCommit> {
        let hold = self.directory().hold_list();
        let _hold = hold.map_err(|e| self.error("open", TantivyError::LockFailure(e, None)))?;
        let failed = |e: OpenReadError| self.error("read", e.into());
        let sealed = self.directory().sealed_list().map_err(failed)?;
        let list = FileList::parse(sealed)?;
        let mut files = BTreeMap::new();
        for file in list.files() {
            let slice = self.directory().open_unchecked(Path::new(file.name)).map_err(failed)?;
            files.insert(file.name.to_owned(), slice);
        }
        let table = match list.table() {
            Some(name) => self.directory().atomic_read(Path::new(name)).map_err(failed)?,
            None => Vec::new(),
        };
        Ok(OpenCommit { list, files, table, path: self.path().to_owned() })
    }
}

impl OpenCommit {
    /// Returns the list of segments of this commit.
    #[must_use]
    pub fn list(&self) -> &FileList {
        &self.list
    }

    /// Returns the bytes of the frequency table. Empty without a table.
    #[must_use]
    pub fn table(&self) -> &[u8] {
        &self.table
    }

    /// Compares a whole file with its entry in the list.
    ///
    /// # Errors
    /// When the file differs or cannot be read.
    ///
    /// # Panics
    /// When the list does not contain `name`.
    pub fn verify(&self, name: &str) -> Result<()> {
        let listed = self.list.file(name).expect("the list names the file");
        let component = Component { len: listed.bytes, crc: listed.crc, tail: None };
        let verified = verify_whole(name, self.files[name].clone(), component);
        verified.map_err(|e| store_error("read", &self.path, e.into()))
    }

    /// Reads a range of bytes of a file.
    ///
    /// # Errors
    /// When the file is shorter or cannot be read.
    ///
    /// # Panics
    /// When the list does not contain `name`.
    pub fn read(&self, name: &str, range: Range<u64>) -> Result<Vec<u8>> {
        let file = &self.files[name];
        if range.end > file.len() as u64 {
            let what = format!("it has only {} bytes", file.len());
            let damage = Corruption::new(name, "component", range.start, what);
            return Err(damage.in_directory(&self.path).into());
        }
        let bytes = file.read_bytes_slice(range.start as usize..range.end as usize);
        Ok(bytes.map_err(|e| store_error("read", &self.path, e.into()))?.to_vec())
    }
}

/// A directory that becomes a copy of an index, or of a later commit of the index already there.
/// Excludes writers meanwhile. Readers keep their open files.
pub struct Receiver {
    path: PathBuf,
    directory: IndexDirectory,
    current: Option<FileList>,
    _lock: DirectoryLock,
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Receiver {
    /// Begins to receive into the directory `path`, which is created if missing.
    ///
    /// # Errors
    /// [`Error::Locked`] when another process writes to the index there. When the directory
    /// contains files that do not belong to an index, or an index with a damaged list.
    pub fn begin(path: impl AsRef<Path>) -> Result<Receiver> {
        let path = path.as_ref();
        std::fs::create_dir_all(path).map_err(|e| Error::io("create", path, e))?;
        own_files::check_visible_own(path)?;
        let directory =
            IndexDirectory::new(Box::new(mmap_directory(path)?), Some(HeldDirectory::open(path)?));
        let lock = directory.acquire_lock(&INDEX_WRITER_LOCK);
        let lock = lock.map_err(|e| store_error("write to", path, e.into()))?;
        let current = match directory.sealed_list() {
            Ok(sealed) => Some(FileList::parse(sealed)?),
            Err(OpenReadError::FileDoesNotExist(_)) => None,
            Err(error) => return Err(store_error("read", path, error.into())),
        };
        Ok(Receiver { path: path.to_owned(), directory, current, _lock: lock })
    }

    /// Returns the directory that becomes the copy.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the list of the current index, or `None` if there is no index yet.
    #[must_use]
    pub fn current(&self) -> Option<&FileList> {
        self.current.as_ref()
    }

    /// Returns the path for writing a file until it is complete. The next writer of the index
    /// removes incomplete files.
    #[must_use]
    pub fn unfinished(&self, name: &str) -> PathBuf {
        self.path.join(format!("{UNFINISHED}{name}"))
    }

    /// Makes `list` the current list, durably, and removes unlisted files. The listed files must
    /// already be in the directory, durable and with the listed content.
    ///
    /// # Errors
    /// When a file is missing or has another length, and when the list cannot be written. The index
    /// is unchanged then.
    pub fn finish(self, list: &FileList) -> Result<()> {
        for file in list.files() {
            self.check_length(file)?;
        }
        if let Some(table) = list.table()
            && !self.path.join(table).is_file()
        {
            let damage = Corruption::new(table, "frequency table", 0, "it is missing");
            return Err(damage.in_directory(&self.path).into());
        }
        let failed = |e: io::Error| store_error("write to", &self.path, e.into());
        // The names of the files must be durable before the list refers to them.
        replace::sync_name(&self.path.join(META)).map_err(failed)?;
        if self.current.as_ref() != Some(list) {
            // If the process is killed before the next step, a writer collects the old files.
            let old = self.current.iter().flat_map(FileList::files);
            // Withdrawals are not in tantivy's list of managed files, because the first commit
            // would collect them as files without a segment. cento removes them itself.
            let withdrawals = [Some(list), self.current.as_ref()];
            let withdrawals = withdrawals.map(|list| list.and_then(FileList::withdrawals));
            let names = list.files().chain(old).map(|file| file.name).chain([META]);
            let names: BTreeSet<&str> =
                names.filter(|name| !withdrawals.contains(&Some(*name))).collect();
            let managed = serde_json::to_vec(&names).expect("names are JSON");
            self.directory.replace(Path::new(MANAGED), &managed).map_err(failed)?;
            self.directory.replace_list(list.as_bytes(), &list.files).map_err(failed)?;
        }
        self.directory.remove_unlisted(&|name| list.file(name).is_some());
        Ok(())
    }

    /// Returns the withdrawals of the current index. Empty without an index.
    ///
    /// # Errors
    /// When the file cannot be read or is damaged.
    pub fn withdrawals(&self) -> Result<Withdrawals> {
        let name = self.current.as_ref().and_then(FileList::withdrawals);
        let Some(name) = name else { return Ok(Withdrawals::default()) };
        let path = self.path.join(name);
        let bytes = std::fs::read(&path).map_err(|e| Error::io("read", &path, e))?;
        Withdrawals::parse(&path.display().to_string(), bytes)
    }

    fn check_length(&self, file: ListedFile<'_>) -> Result<()> {
        let found = std::fs::metadata(self.path.join(file.name));
        let what = match found {
            Ok(found) if found.len() == file.bytes => return Ok(()),
            Ok(found) => format!("it has {} bytes, but {} are listed", found.len(), file.bytes),
            Err(error) => error.to_string(),
        };
        Err(Corruption::new(file.name, "component", 0, what).in_directory(&self.path).into())
    }
}
