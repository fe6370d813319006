//! Stores the watches of an index and finds them by fingerprints.
//!
//! The store is an index whose documents are the watches. The text of a watch is the text of its
//! document, and the conditions are in the meta object. So watches are as durable as documents, and
//! posting lists find the watches that share fingerprints with a new document.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use cento::index::{
    Config, DocAddress, Document, Index, MaxDf, SignedDocument, Snapshot, StoredDocument, Writer,
    WriterOptions,
};
use cento::search::{NeighborLimits, Query, Rank, Searcher, Subject};
use cento_api::error::{Error, Result};
use cento_api::{Thresholds, Watch, WatchOptions, WatchedKind, Webhook};
use cento_text::hash::Digest;
use cento_text::runtime::Stop;
use cento_text::runtime::replace;
use cento_text::scheme::Fingerprint;

/// The directory of the store, in the directory of the watches.
pub const INDEX: &str = "index";

/// A store that is being signed again, and the store to replace.
const NEW: &str = "index.new";
const OLD: &str = "index.old";

/// The key of a definition in the meta object of its document.
const DEFINITION: &str = "watch";

/// The stored properties of a watch, except its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    pub kind: WatchedKind,
    /// The id of the watched document, if the subject is a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub thresholds: Thresholds,
    pub options: WatchOptions,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook: Option<Webhook>,
    /// The digest of the request. An equal request changes nothing.
    pub request: String,
    /// The last commit before the watch was created.
    pub commit: u64,
    pub created: u64,
    /// Why the watch matches nothing, if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A watch as read from the store.
#[derive(Debug)]
pub struct Entry {
    pub name: String,
    pub definition: Definition,
    pub tokens: u32,
    pub fingerprints: u32,
    /// The minimum number of fingerprints that a match shares with the watch, once computed.
    overlap_min: OnceLock<u32>,
}

/// The watches by name, for any number of readers.
pub type Entries = Arc<RwLock<BTreeMap<String, Arc<Entry>>>>;

/// The store, for its only writer.
pub struct Store {
    index: Index,
    searcher: Searcher,
    entries: Entries,
    /// The names of the watches on each document.
    by_document: HashMap<String, BTreeSet<String>>,
    /// A cache of the watches found since the store last changed.
    by_address: HashMap<DocAddress, Arc<Entry>>,
}

impl Entry {
    /// Returns the watch as listed.
    pub fn watch(&self) -> Watch {
        let Definition { kind, id, thresholds, options, webhook, commit, created, problem, .. } =
            self.definition.clone();
        let is_missing = kind == WatchedKind::Document && self.tokens == 0;
        let missing = || {
            "the index has no text with this id; the watch goes on when a document with it is added"
                .to_owned()
        };
        let problem = problem.or_else(|| is_missing.then(missing));
        Watch {
            name: self.name.clone(),
            kind,
            id,
            tokens: self.tokens,
            fingerprints: self.fingerprints,
            thresholds,
            options,
            commit,
            created,
            webhook: webhook.map(|webhook| webhook.url),
            problem,
        }
    }

    /// Returns the search for `subject` that decides about documents.
    fn query_for(&self, subject: Subject, store_text: bool) -> Query {
        let Definition { thresholds, options, .. } = &self.definition;
        let mut query = Query::new(subject).rank(Rank::Overlap).limit(usize::MAX);
        query.thresholds = *thresholds;
        query.options.filter.clone_from(&options.filter);
        query.options.exclude_id.clone_from(&options.exclude_id);
        query.options.max_df = options.max_df;
        query.options.min_passage = options.min_passage;
        query.options.passages = store_text;
        query
    }

    /// Returns the minimum number of fingerprints that a match shares with the watch.
    pub fn overlap_min(&self, searcher: &Searcher) -> Result<u32> {
        if let Some(least) = self.overlap_min.get() {
            return Ok(*least);
        }
        let subject = match self.definition.kind {
            WatchedKind::Signature => Subject::Signature { tokens: 0, fingerprints: Vec::new() },
            WatchedKind::Text | WatchedKind::Document => Subject::Text(String::new()),
        };
        let query = self.query_for(subject, false);
        let least = searcher.overlap_min(&query, self.tokens, self.fingerprints)?;
        Ok(*self.overlap_min.get_or_init(|| least))
    }
}

/// Returns the configuration of the store for an index with this configuration.
fn config_of(config: &Config) -> Config {
    Config {
        store_signatures: true,
        max_df: MaxDf::Documents(u64::MAX),
        preset: None,
        ..config.clone()
    }
}

/// Opens the store at `path`. Unlocks it with the key of `index`, if the key is known, because the
/// texts of watches need the key.
pub fn open_unlocked(path: &Path, index: &Index) -> Result<Index> {
    let own = Index::open(path)?;
    let signs_alike = own.config().key() == index.config().key();
    if signs_alike && let Some(key) = index.config().known_key() {
        own.unlock(key)?;
    }
    Ok(own)
}

/// Returns the last commit before the watch with this name was created, or `None` without such a
/// watch. A different process may write to the store in the meantime.
pub fn commit_of(dir: &Path, name: &str) -> Result<Option<u64>> {
    let snapshot = Index::open(dir.join(INDEX))?.snapshot()?;
    let Some(address) = snapshot.find(name)? else { return Ok(None) };
    Ok(Some(entry(&snapshot, address)?.definition.commit))
}

fn writer_of(index: &Index) -> Result<Writer> {
    index.writer(WriterOptions::default().memory_bytes(32usize << 20))
}

impl Store {
    /// Opens the store in the directory of the watches of `index`, or creates the store. If the
    /// index signs differently by now, the watches are signed again.
    ///
    /// # Errors
    /// When the store is damaged, or cannot be read or written.
    pub fn open(dir: &Path, index: &Index) -> Result<Store> {
        let path = dir.join(INDEX);
        let (new, old) = (dir.join(NEW), dir.join(OLD));
        if old.is_dir() && !path.is_dir() {
            fs::rename(&old, &path).map_err(|e| Error::io("rename", &old, e))?;
        }
        for left in [&new, &old].into_iter().filter(|left| left.is_dir()) {
            fs::remove_dir_all(left).map_err(|e| Error::io("remove", left, e))?;
        }
        let config = config_of(index.config());
        let mut own = match Index::exists(&path) {
            true => open_unlocked(&path, index)?,
            false => Index::create(&path, config.clone())?,
        };
        if own.config().check_signs_as(&config, &path).is_err() {
            sign_again(&own, Index::create(&new, config)?, index)?;
            drop(own);
            let renamed = fs::rename(&path, &old).and_then(|()| fs::rename(&new, &path));
            let renamed = renamed.and_then(|()| replace::sync_name(&path));
            renamed.map_err(|e| Error::io("replace", &path, e))?;
            fs::remove_dir_all(&old).map_err(|e| Error::io("remove", &old, e))?;
            own = open_unlocked(&path, index)?;
        }
        let searcher = Searcher::new(own.snapshot()?);
        let mut store = Store {
            index: own,
            searcher,
            entries: Entries::default(),
            by_document: HashMap::new(),
            by_address: HashMap::new(),
        };
        let snapshot = store.searcher.snapshot().clone();
        let mut entries = BTreeMap::new();
        for address in snapshot.live() {
            let entry = Arc::new(entry(&snapshot, address)?);
            if let Some(id) = &entry.definition.id {
                store.by_document.entry(id.clone()).or_default().insert(entry.name.clone());
            }
            entries.insert(entry.name.clone(), entry);
        }
        *store.entries.write().unwrap_or_else(PoisonError::into_inner) = entries;
        store.follow_replaced(index)?;
        Ok(store)
    }

    /// Signs watches again if a copy of an index has replaced their documents, which no logged
    /// commit reports.
    fn follow_replaced(&mut self, index: &Index) -> Result<()> {
        let (own, documents) = (self.searcher.snapshot().clone(), index.snapshot()?);
        let mut changed = Vec::new();
        for name in self.by_document.values().flatten() {
            let entry = self.get(name).expect("it is a watch of a document");
            let signed = of_document(name, &entry.definition, &documents, Stop::NEVER)?;
            let stored = own.find(name)?;
            let digest = stored.map(|at| own.segment(at).signatures.digest(at.doc)).transpose()?;
            if digest != Some(signed.digest) {
                changed.push(signed);
            }
        }
        if changed.is_empty() { Ok(()) } else { self.put(changed) }
    }

    /// Returns the watches, shared with readers.
    pub fn entries(&self) -> &Entries {
        &self.entries
    }

    /// Returns the watch with this name.
    pub fn get(&self, name: &str) -> Option<Arc<Entry>> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Adds watches or replaces watches with the same names, in one commit.
    ///
    /// # Errors
    /// When a name is not allowed for a watch, or the store cannot be written.
    pub fn put(&mut self, watches: Vec<SignedDocument>) -> Result<()> {
        let mut writer = writer_of(&self.index)?;
        let names: Vec<String> = watches.iter().map(|watch| watch.document.id.clone()).collect();
        for watch in watches {
            writer.add_signed(watch)?;
        }
        writer.finish()?;
        self.refresh()?;
        for name in names {
            let snapshot = self.searcher.snapshot();
            let Some(address) = snapshot.find(&name)? else { continue };
            let entry = Arc::new(entry(snapshot, address)?);
            if let Some(id) = &entry.definition.id {
                self.by_document.entry(id.clone()).or_default().insert(name.clone());
            }
            let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
            entries.insert(name, entry);
        }
        Ok(())
    }

    /// Removes the watch with this name. Returns whether the watch existed.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn remove(&mut self, name: &str) -> Result<bool> {
        let mut writer = writer_of(&self.index)?;
        let is_there = writer.remove(name)?;
        writer.commit()?;
        // The text may be a withdrawn text, so it must not stay in any file.
        writer.purge()?;
        writer.finish()?;
        self.refresh()?;
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        let removed = entries.remove(name);
        if let Some(id) = removed.and_then(|entry| entry.definition.id.clone())
            && let Some(names) = self.by_document.get_mut(&id)
        {
            names.remove(name);
        }
        Ok(is_there)
    }

    fn refresh(&mut self) -> Result<()> {
        self.searcher = Searcher::new(self.index.snapshot()?);
        self.by_address.clear();
        Ok(())
    }

    /// Signs the watches on these documents again, as the documents are in `snapshot`.
    ///
    /// # Errors
    /// When a file cannot be read or written. [`Error::Cancelled`] soon after `stop`.
    pub fn follow<'a>(
        &mut self,
        ids: impl Iterator<Item = &'a String>,
        snapshot: &Snapshot,
        stop: &Stop,
    ) -> Result<()> {
        let mut changed = Vec::new();
        for id in ids {
            for name in self.by_document.get(id).into_iter().flatten() {
                let entry = self.get(name).expect("it is a watch of the document");
                changed.push(of_document(name, &entry.definition, snapshot, stop)?);
            }
        }
        if changed.is_empty() { Ok(()) } else { self.put(changed) }
    }

    /// Tells whether there are no watches.
    pub fn is_empty(&self) -> bool {
        self.searcher.snapshot().documents() == 0
    }

    /// Returns the watches that share some of the ascending keys, with the number of shared keys.
    ///
    /// # Errors
    /// When a file is damaged. [`Error::Cancelled`] soon after `stop`.
    pub fn sharing(&mut self, keys: &[u64], stop: &Stop) -> Result<Vec<(Arc<Entry>, u32)>> {
        let all = Some(MaxDf::Documents(u64::MAX));
        let limits = NeighborLimits { overlap_min: 1, share_min: 0.0, max_df: all, except: None };
        let found = self.searcher.neighbors(keys, limits, stop)?;
        let mut sharing = Vec::with_capacity(found.len());
        for neighbor in found {
            let entry = match self.by_address.get(&neighbor.address) {
                Some(entry) => entry.clone(),
                None => {
                    let name = self.searcher.snapshot().id(neighbor.address)?;
                    let entry = self.get(&name).expect("each document of the store is a watch");
                    self.by_address.insert(neighbor.address, entry.clone());
                    entry
                }
            };
            sharing.push((entry, neighbor.overlap));
        }
        Ok(sharing)
    }

    /// Returns the search that decides about documents for a watch.
    ///
    /// # Errors
    /// When the watch cannot be read. [`Error::Cancelled`] soon after `stop`.
    pub fn query(&self, entry: &Entry, stop: &Stop) -> Result<Query> {
        let snapshot = self.searcher.snapshot();
        let store_text = snapshot.config().store_text;
        let address = || {
            let found = snapshot.find(&entry.name)?;
            found.ok_or_else(|| Error::internal("the store of watches", "a watch is missing"))
        };
        let (subject, parts) = match (entry.definition.kind, &entry.definition.id) {
            (WatchedKind::Document, Some(id)) => (Subject::Id(id.clone()), Vec::new()),
            (WatchedKind::Text, _) if store_text => {
                let StoredDocument { text, parts, .. } = snapshot.document(address()?)?;
                (Subject::Text(text.unwrap_or_default()), parts)
            }
            _ => {
                let address = address()?;
                let fingerprints = snapshot.signature(address, stop)?;
                let subject = Subject::Signature { tokens: entry.tokens, fingerprints };
                (subject, snapshot.parts(address)?)
            }
        };
        let mut query = entry.query_for(subject, store_text);
        query.parts = parts;
        query.stop = stop.clone();
        Ok(query)
    }
}

/// Returns the number of tokens and of distinct fingerprints of a document.
fn size(snapshot: &Snapshot, address: DocAddress) -> Result<(u32, u32)> {
    let found = snapshot.segment(address).signatures.document(address.doc)?;
    Ok((found.tokens, found.distinct))
}

/// Reads a watch from its document.
pub fn entry(snapshot: &Snapshot, address: DocAddress) -> Result<Entry> {
    let name = snapshot.id(address)?;
    let mut meta = snapshot.meta(address)?;
    let definition = meta.remove(DEFINITION).and_then(|value| serde_json::from_value(value).ok());
    let Some(definition) = definition else {
        let what = format!("the watch `{name}` has no conditions");
        return Err(Error::internal("the store of watches", what));
    };
    let (tokens, fingerprints) = size(snapshot, address)?;
    let overlap_min = OnceLock::new();
    Ok(Entry { name, definition, tokens, fingerprints, overlap_min })
}

/// Makes the document of a watch whose text is not stored.
pub fn of_signature(
    name: &str,
    definition: &Definition,
    tokens: u32,
    fingerprints: Vec<Fingerprint>,
) -> SignedDocument {
    let mut bytes = Vec::with_capacity(fingerprints.len() * 8);
    fingerprints.iter().for_each(|f| bytes.extend_from_slice(&f.key.to_le_bytes()));
    let document = Document::new(name, "").with_meta(meta_of(definition));
    // A digest of the signature, so that a different signature makes a different document.
    SignedDocument::of(document, Digest::of(&bytes), tokens, fingerprints)
}

/// Makes the document of a watch on a text. The id of `document` is the name of the watch.
pub fn of_text(
    document: Document,
    definition: &Definition,
    config: &Config,
    stop: &Stop,
) -> Result<SignedDocument> {
    let document = document.with_meta(meta_of(definition)).checked()?;
    SignedDocument::new(document, config, stop)
}

/// Makes the document of a watch on a stored document. Without the document the watch matches
/// nothing.
pub fn of_document(
    name: &str,
    definition: &Definition,
    snapshot: &Snapshot,
    stop: &Stop,
) -> Result<SignedDocument> {
    let id = definition.id.as_deref().unwrap_or_default();
    match snapshot.find(id)? {
        Some(address) => {
            let (tokens, _) = size(snapshot, address)?;
            let signature = snapshot.signature(address, stop)?;
            Ok(of_signature(name, definition, tokens, signature))
        }
        None => Ok(of_signature(name, definition, 0, Vec::new())),
    }
}

fn meta_of(definition: &Definition) -> serde_json::Map<String, Value> {
    let value = serde_json::to_value(definition).expect("a definition is JSON");
    [(DEFINITION.to_owned(), value)].into_iter().collect()
}

/// Copies all watches of a store to a new store, signed as the new store signs.
fn sign_again(from: &Index, to: Index, index: &Index) -> Result<()> {
    let (snapshot, documents) = (from.snapshot()?, index.snapshot()?);
    let mut writer = writer_of(&to)?;
    for address in snapshot.live() {
        let Entry { name, mut definition, tokens, .. } = entry(&snapshot, address)?;
        writer.add_signed(match definition.kind {
            WatchedKind::Document => of_document(&name, &definition, &documents, Stop::NEVER)?,
            WatchedKind::Text if from.config().store_text => {
                let StoredDocument { text, parts, .. } = snapshot.document(address)?;
                let document = Document::new(&name, text.unwrap_or_default()).with_parts(parts);
                of_text(document, &definition, to.config(), Stop::NEVER)?
            }
            WatchedKind::Text | WatchedKind::Signature => {
                let what = "it was signed in another way than the index signs now; remove it, and \
                            add it again";
                definition.problem = Some(what.into());
                let signature = snapshot.signature(address, Stop::NEVER)?;
                of_signature(&name, &definition, tokens, signature)
            }
        })?;
    }
    writer.finish()
}
