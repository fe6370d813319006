//! A directory of documents and their signatures, and every way to change it.
//!
//! An index has at most one writer at a time, and any number of readers in any number of processes.
//! A reader sees one whole commit, and an acknowledged commit survives a crash. tantivy provides
//! commits, locks, deletions, merging and stored documents. This module defines what an index *is*.

mod add_all;
mod analyzed_document;
mod by_id;
mod canonical;
mod change_log;
mod config;
mod content;
mod deletion;
mod document;
mod freed;
mod identity;
mod kept_documents;
mod lock_wait;
mod meta_value;
mod moments;
mod novelty;
mod operations;
mod own_meta;
mod parts;
mod poison;
mod policy;
mod preset_use;
mod schema;
mod signed_document;
mod signer;
mod signing;
mod snapshot;
mod storage;
mod stored_document;
mod view;
mod withdrawals;
mod writer;
mod written;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use tantivy::directory::{Advice, MmapDirectory, RamDirectory};
use tantivy::store::{Compressor, ZstdCompressor};
use tantivy::{IndexSettings, TantivyError};

pub use add_all::{SignedDocuments, SigningOptions};
pub(crate) use analyzed_document::{AnalyzedDocument, TokenKind};
pub use canonical::canonical_json;
pub use cento_api::document::{
    ID_BYTES_MAX, META_BYTES_MAX, META_DEPTH_MAX, META_KEPT_BYTES_MAX, META_WRITTEN_BYTES_MAX,
    id_of_json, id_problem, longest_fields, meta_of_json, meta_problem, shorten_meta,
};
pub use cento_api::{
    AddReport, AddedIndexes, Bytes, Compaction, MaxDf, OnConflict, Part, Preset, PresetDefaults,
    PresetRank, REUSE, Stats,
};
pub use change_log::{ChangeLog, LoggedCommit};
pub use change_log::{WATCHES_DIR, WATCHES_LOCK};
pub use config::Config;
pub use document::{Document, IdSource};
pub use lock_wait::LockWait;
pub(crate) use meta_value::term_of;
pub(crate) use novelty::is_common;
pub use operations::{
    AddIndexesOptions, CheckProgress, CheckReport, Compacting, DfBucket, DfDistribution, FileList,
    FoundSegment, ListedFile, OpenCommit, PASSAGE_TOKENS, Receiver, Texts, Training,
};
pub use preset_use::PresetUse;
pub use signed_document::SignedDocument;
pub use signer::{DocumentSigner, IsKnown, Prepared, SignOutcome};
pub use signing::{FINGERPRINT_BYTES, Signature};
pub use snapshot::{DocAddress, Snapshot};
pub use storage::{ByteLru, InMemory, LruShare, query_words, words};
pub use stored_document::StoredDocument;
pub use view::{SegmentFiles, SegmentView};
pub use withdrawals::{CheckedText, digests as digests_of_withdrawal};
pub use withdrawals::{Withdrawals, date_of, digest_of_hex, hex_of, seconds_of};
pub use writer::{Outcome, Writer, WriterOptions};

use crate::error::{Corruption, Error, Result};
use crate::key::Key;
use crate::reason::Reason;
use crate::runtime::Faults;
use crate::segment::ReadAhead;
use crate::segment::plugin::{self, Progress, SignaturePlugin};
use analyzed_document::DOCUMENTS_KEPT_BYTES;
use storage::component::segment_of;
use storage::directory::IndexDirectory;
use storage::held_directory::HeldDirectory;
use storage::seal::{META, TAIL_BYTES};
use storage::{column, mmap_directory, store, store_error};

/// The compression level of texts. On RFCs, level 1 compresses to 0.290 of the size and adds 126
/// MB/s. Level 3 compresses to 0.276 but adds only 105 MB/s, because a single thread compresses.
const ZSTD_LEVEL: i32 = 1;

/// The approximate bytes of a block of texts, the unit of compression and reading.
const STORE_BLOCK_BYTES: usize = 16 << 10;

/// The bytes of meta objects that an open index caches.
const METAS_KEPT_BYTES: usize = 64 << 20;

/// The bytes of decompressed texts that an open index caches.
const BLOCKS_KEPT_BYTES: usize = 16 << 20;

/// An open index: a directory of documents, their signatures, and the posting lists for finding
/// documents by fingerprints.
///
/// A handle is cheap to clone and can be shared between threads. Any number of processes may open
/// an index, but only one at a time has the [`Writer`]. Readers see the last whole commit through a
/// [`Snapshot`]. Opening reads the list of segments and checks the length and the footer of every
/// file, but reads no documents.
///
/// # Errors
/// Every failure is an [`Error`] with the file or the directory. See [`create`](Index::create) and
/// [`open`](Index::open).
///
/// # Examples
/// ```
/// use cento::{Config, Document, Index, Query, Searcher, WriterOptions};
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("corpus.idx");
///
/// let index = Index::create(&path, Config::new("winnow(k=5,w=10)", "words", true)?)?;
/// let mut writer = index.writer(WriterOptions::default())?;
/// let text = "Call me Ishmael. Some years ago, never mind how long precisely";
/// writer.add(Document::new("whale", text))?;
/// writer.finish()?;
///
/// let index = Index::open(&path)?;
/// let answer = Searcher::new(index.snapshot()?).search(&Query::text(text))?;
/// assert_eq!(answer.hits[0].id, "whale");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "inverted index")]
#[doc(alias = "database")]
#[derive(Clone)]
pub struct Index {
    inner: Arc<Inner>,
    /// How long this handle waits for the lock of the writer.
    lock_wait: LockWait,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").field("path", &self.path()).finish_non_exhaustive()
    }
}

struct Inner {
    path: PathBuf,
    config: Config,
    fields: schema::Fields,
    directory: IndexDirectory,
    tantivy: tantivy::Index,
    plugin: Arc<SignaturePlugin>,
    open_segments: view::OpenSegments,
    /// Recently used meta objects.
    metas: Arc<ByteLru<column::Group>>,
    /// Recently used blocks of texts.
    blocks: Arc<ByteLru<store::Block>>,
    /// Recently compared documents, split into tokens.
    documents: Arc<ByteLru<AnalyzedDocument>>,
}

impl Index {
    /// Returns whether the directory `path` contains an index.
    ///
    /// ```
    /// # let dir = tempfile::tempdir().unwrap();
    /// use cento::{Config, Index, Preset};
    ///
    /// let path = dir.path().join("essays.idx");
    /// assert!(!Index::exists(&path));
    /// Index::create(&path, Config::preset(Preset::Essays, true)?)?;
    /// assert!(Index::exists(&path));
    /// // An index is never overwritten.
    /// assert!(Index::create(&path, Config::preset(Preset::Essays, true)?).is_err());
    /// # Ok::<(), cento::Error>(())
    /// ```
    pub fn exists(path: impl AsRef<Path>) -> bool {
        path.as_ref().join("meta.json").exists()
    }

    /// Creates an index in the directory `path`, which must be missing or empty.
    ///
    /// # Errors
    /// When the directory contains an index or other files, or cannot be written.
    pub fn create(path: impl AsRef<Path>, config: Config) -> Result<Index> {
        let path = path.as_ref();
        let is_new = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let count = path.ancestors().take_while(is_new).count().max(1);
        std::fs::create_dir_all(path).map_err(|e| Error::io("create", path, e))?;
        if Index::exists(path) {
            return Err(Error::index(path, Reason::AlreadyExists, "an index exists here already"));
        }
        let entries = std::fs::read_dir(path).map_err(|e| Error::io("read", path, e))?;
        for entry in entries {
            let name = entry.map_err(|e| Error::io("read", path, e))?.file_name();
            // An interrupted creation leaves harmless hidden files, and the frequency table.
            if name == config::FREQUENCIES_FILE {
                check_resumable(&path.join(name), &config)?;
            } else if !name.to_string_lossy().starts_with('.') {
                check_list(path)?;
                let what = "the directory is not empty, and not an index; choose another directory";
                return Err(Error::index(path, Reason::NotEmpty, what));
            }
        }
        let directory = mmap_directory(path)?;
        let index = Index::create_in(directory, path, config)?;
        // Sync always: an earlier attempt may have crashed after making the directories.
        let path = path.canonicalize().map_err(|e| Error::io("find", path, e))?;
        for parent in path.ancestors().skip(1).take(count) {
            let sync = std::fs::File::open(parent).and_then(|parent| parent.sync_all());
            sync.map_err(|e| Error::io("sync", parent, e))?;
        }
        Ok(index)
    }

    /// Makes the writing operations of this handle wait while another process or thread holds the
    /// lock of the index.
    #[must_use]
    pub fn with_lock_wait(self, lock_wait: LockWait) -> Index {
        Index { lock_wait, ..self }
    }

    /// Returns how long the operations of this handle wait for the lock.
    #[must_use]
    pub fn lock_wait(&self) -> &LockWait {
        &self.lock_wait
    }

    /// Creates an index in memory, which lives until its last handle is dropped.
    ///
    /// # Errors
    /// When the configuration cannot be used.
    pub fn in_memory(config: Config) -> Result<Index> {
        Index::create_in(RamDirectory::create(), "an index in memory", config)
    }

    /// Opens the index in the directory `path`.
    ///
    /// # Errors
    /// When there is no index, or the index is damaged or made with a different version of the
    /// format, the scheme or the analyzer.
    pub fn open(path: impl AsRef<Path>) -> Result<Index> {
        let path = path.as_ref();
        identity::while_it_stays(path, &|| {
            check_exists(path)?;
            Index::open_in(mmap_directory(path)?, path)
        })
    }

    /// Opens the index in the directory `path` for searching: the system then reads single pages
    /// from disk without read-ahead. On a cold index, a search is three times as fast as after
    /// [`open`](Self::open). Adding, compacting and checking read whole files, and become much
    /// slower.
    ///
    /// ```
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("essays.idx");
    /// # cento::Index::create(&path, cento::Config::preset(cento::Preset::Essays, true)?)?;
    /// let index = cento::Index::open_for_search(&path)?;
    /// assert_eq!(index.snapshot()?.documents(), 0);
    /// assert_eq!(index.config().scheme.to_string(), "winnow(k=5,w=10)");
    /// # Ok::<(), cento::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub fn open_for_search(path: impl AsRef<Path>) -> Result<Index> {
        let path = path.as_ref();
        identity::while_it_stays(path, &|| Index::open_for_search_once(path))
    }

    fn open_for_search_once(path: &Path) -> Result<Index> {
        check_exists(path)?;
        // Request the parts that opening reads: the index of a store, the ends of other files.
        let files = std::fs::read_dir(path).map_err(|e| Error::io("read", path, e))?;
        for file in files.flatten().map(|entry| entry.path()) {
            let extension = file.extension().and_then(|extension| extension.to_str());
            let len = file.metadata().map_or(0, |found| found.len());
            let end = match extension {
                Some(plugin::EXTENSION) => continue,
                // The index takes a thousandth of a store.
                Some("store") => len / 500 + TAIL_BYTES as u64,
                _ => TAIL_BYTES as u64,
            };
            ReadAhead::of(&file).ask(len.saturating_sub(end), 0);
        }
        let directory = MmapDirectory::open_with_madvice(path, Advice::Random);
        let directory = directory.map_err(|e| store_error("open", path, e.into()))?;
        Index::open_in(directory, path)
    }

    /// Creates an index in a tantivy directory. `path` appears in messages and, if it is a
    /// directory, holds temporary files.
    ///
    /// # Errors
    /// The errors of [`create`](Self::create).
    pub fn create_in(
        directory: impl Into<Box<dyn tantivy::Directory>>,
        path: impl AsRef<Path>,
        config: Config,
    ) -> Result<Index> {
        let path = path.as_ref();
        config.check()?;
        let plugin = signature_plugin(path, &config);
        let settings = IndexSettings {
            docstore_compression: Compressor::Zstd(ZstdCompressor {
                compression_level: Some(ZSTD_LEVEL),
            }),
            docstore_blocksize: STORE_BLOCK_BYTES,
            ..IndexSettings::default()
        };
        let directory = IndexDirectory::new(directory.into(), held(path)?);
        if let Some(table) = &config.frequencies {
            let file = Path::new(config::FREQUENCIES_FILE);
            let written = tantivy::Directory::atomic_write(&directory, file, &table.bytes());
            written.map_err(|e| Error::io("write", path.join(file), e))?;
        }
        let tantivy = tantivy::Index::builder()
            .schema(schema::build(&config))
            .settings(settings)
            .register_plugin(plugin.clone())
            .open_or_create(directory.clone())
            .map_err(|e| store_error("create the index in", path, e))?;
        let fields = schema::fields(&tantivy.schema()).expect("the schema was just built");
        Ok(Index::assembled(path, config, fields, directory, tantivy, plugin))
    }

    /// Opens an index in a tantivy directory. See [`create_in`](Self::create_in) for `path`.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub fn open_in(
        directory: impl Into<Box<dyn tantivy::Directory>>,
        path: impl AsRef<Path>,
    ) -> Result<Index> {
        let path = path.as_ref();
        let directory = IndexDirectory::new(directory.into(), held(path)?);
        let mut tantivy = tantivy::Index::open(directory.clone())
            .map_err(|e| store_error("open the index in", path, e))?;
        let schema = tantivy.schema();
        let (Some(params), Some(fields)) = (schema::params(&schema), schema::fields(&schema))
        else {
            let what = "the index here was not made by cento";
            return Err(Error::index(path, Reason::NotAnIndex, what));
        };
        let config = Config::from_params(path, params, || {
            let file = Path::new(config::FREQUENCIES_FILE);
            let read = tantivy::Directory::atomic_read(&directory, file);
            read.map_err(|e| store_error("read the frequency table of", path, e.into()))
        })?;
        if schema::others(&schema) != schema::others(&schema::build(&config)) {
            let what = "the index here has fields that differ from those this version of cento \
                        writes; create a new index from the documents";
            return Err(Error::index(path, Reason::OtherVersion, what));
        }
        let plugin = signature_plugin(path, &config);
        tantivy.register_plugin(plugin.clone());
        Ok(Index::assembled(path, config, fields, directory, tantivy, plugin))
    }

    /// Assembles an index with empty caches.
    fn assembled(
        path: &Path,
        config: Config,
        fields: schema::Fields,
        directory: IndexDirectory,
        tantivy: tantivy::Index,
        plugin: Arc<SignaturePlugin>,
    ) -> Index {
        tantivy.tokenizers().register(meta_value::WHOLE_VALUE, meta_value::WholeValue::default());
        Index {
            inner: Arc::new(Inner {
                path: path.to_owned(),
                config,
                fields,
                directory,
                tantivy,
                plugin,
                open_segments: view::OpenSegments::default(),
                metas: Arc::new(ByteLru::new(METAS_KEPT_BYTES)),
                blocks: Arc::new(ByteLru::new(BLOCKS_KEPT_BYTES)),
                documents: Arc::new(ByteLru::new(DOCUMENTS_KEPT_BYTES)),
            }),
            lock_wait: LockWait::default(),
        }
    }

    /// Provides the key of a keyed index to every handle and snapshot of this index. Without the
    /// key, stored signatures can be read, compared and searched for, but no text can be signed or
    /// read.
    ///
    /// # Errors
    /// [`Reason::OtherKey`] when the index has a different key, or no key.
    pub fn unlock(&self, key: &Key) -> Result<()> {
        self.config().unlock(key, self.path())
    }

    /// Returns the directory of the index, as the caller gave it.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// Returns the settings that turn documents into signatures.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.inner.config
    }

    /// Returns how many segments have been merged into larger segments through this object, both in
    /// the background and by compaction.
    #[must_use]
    pub fn merges(&self) -> u64 {
        self.inner.plugin.merges.load(Ordering::Relaxed)
    }

    /// Returns the progress of the merges that have begun through this object, finished merges
    /// included, as `(done, total)`. The numbers count postings and fingerprints of documents. The
    /// merge of texts and ids, which tantivy does first, is not counted.
    #[must_use]
    pub fn merge_progress(&self) -> (u64, u64) {
        let Progress { done, total } = &self.inner.plugin.progress;
        (done.load(Ordering::Relaxed), total.load(Ordering::Relaxed))
    }

    /// For tests: injects faults into this index. Only the first call has an effect.
    // Hidden, because no program needs it.
    #[doc(hidden)]
    pub fn set_faults(&self, faults: Faults) {
        let _ = self.inner.plugin.faults.set(faults);
    }

    /// For tests: returns the injected faults.
    // Hidden, because no program needs it.
    #[doc(hidden)]
    #[must_use]
    pub fn faults(&self) -> Faults {
        self.inner.plugin.faults.get().cloned().unwrap_or_default()
    }

    /// Returns the note of the last commit that had a note.
    ///
    /// # Errors
    /// When the list of segments cannot be read.
    pub fn note(&self) -> Result<Option<String>> {
        let metas = self.tantivy().load_metas().map_err(|e| self.error("read", e))?;
        Ok(metas.payload)
    }

    fn tantivy(&self) -> &tantivy::Index {
        &self.inner.tantivy
    }

    fn directory(&self) -> &IndexDirectory {
        &self.inner.directory
    }

    fn fields(&self) -> &schema::Fields {
        &self.inner.fields
    }

    /// Refuses to continue if another index has replaced this one in the directory.
    ///
    /// # Errors
    /// When the index differs, or the list of segments cannot be read.
    fn check_same(&self) -> Result<()> {
        let metas = self.tantivy().load_metas().map_err(|e| self.error("read", e))?;
        if schema::params(&metas.schema) == schema::params(&self.tantivy().schema()) {
            return Ok(());
        }
        let what = "the index was replaced after it was opened; open it again";
        Err(Error::index(self.path(), Reason::Replaced, what))
    }

    /// Refuses an index whose segments would mean something else in this index.
    ///
    /// # Errors
    /// When the other index signs or stores documents differently, or has other fields.
    fn check_fits(&self, other: &Index) -> Result<()> {
        self.config().check_signs_alike(self.path().display(), other.config(), other.path())?;
        let (own, others) = (self.config(), other.config());
        let stored = [
            ("texts", own.store_text, others.store_text),
            ("signatures", own.store_signatures, others.store_signatures),
        ];
        let differs = stored.into_iter().find(|(_, own, others)| own != others);
        if let Some((what, own, others)) = differs {
            let says = |stores| if stores { "stores" } else { "does not store" };
            let (own, others, path) = (says(own), says(others), self.path().display());
            let what = format!("it {others} {what}, but {path} {own} them");
            return Err(Error::index(other.path(), Reason::OtherSettings, what));
        }
        if schema::others(&self.tantivy().schema()) != schema::others(&other.tantivy().schema()) {
            let what = format!(
                "it has other fields than {}; they were created by different versions of cento",
                self.path().display()
            );
            return Err(Error::index(other.path(), Reason::OtherVersion, what));
        }
        Ok(())
    }

    /// Converts an error that tantivy reported during `action`.
    pub fn error(&self, action: &'static str, error: TantivyError) -> Error {
        store_error(action, &self.inner.path, error)
    }
}

/// Refuses to overwrite a frequency table, unless it equals the table of `config`. An equal table
/// was left by an interrupted creation, which this creation resumes.
fn check_resumable(table: &Path, config: &Config) -> Result<()> {
    let found = std::fs::read(table).map_err(|e| Error::io("read", table, e))?;
    if config.frequencies.as_ref().is_some_and(|table| table.bytes()[..] == found[..]) {
        return Ok(());
    }
    let what = "a frequency table exists here without an index, and it differs from the table of \
                the new index; delete it, or choose another directory";
    Err(Error::index(table, Reason::NotEmpty, what))
}

fn check_exists(path: &Path) -> Result<()> {
    match path.join(META).metadata() {
        Ok(_) => return Ok(()),
        // Whether there is an index is unknown, and creating one would fail.
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            return Err(Error::io("open", path, error));
        }
        Err(_) => {}
    }
    check_list(path)?;
    Err(Error::index(path, Reason::NotFound, "there is no index here"))
}

/// Reports a directory with files of segments but without a list of segments as a damaged index.
fn check_list(path: &Path) -> Result<()> {
    let files = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut names = files.map(|entry| entry.file_name().to_string_lossy().into_owned());
    if !names.any(|name| segment_of(&name).is_some()) {
        return Ok(());
    }
    let list = path.join(META).display().to_string();
    let what = "it is missing, and files of segments are here: it was lost, or a pull is under way \
                or was cut off";
    Err(Corruption::new(list, "list of segments", 0, what).into())
}

/// Returns the directory at `path`, or `None` if `path` is just a label.
fn root(path: &Path) -> Option<PathBuf> {
    path.is_dir().then(|| path.to_owned())
}

/// Opens the directory at `path` and keeps it open. `None` if `path` is just a label.
fn held(path: &Path) -> Result<Option<HeldDirectory>> {
    root(path).map(|root| HeldDirectory::open(&root)).transpose()
}

fn signature_plugin(path: &Path, config: &Config) -> Arc<SignaturePlugin> {
    Arc::new(SignaturePlugin {
        description: config.description(),
        spool_dir: root(path),
        backlog: Arc::default(),
        merges: AtomicU64::new(0),
        progress: Progress::default(),
        faults: OnceLock::new(),
    })
}
