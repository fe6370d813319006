//! Watches: standing queries that are matched against the documents of later commits.
//!
//! A watch is a text, a stored document or a signature, with the conditions of a search. Each
//! commit is matched against all watches of the index. A match is an event in a log, which readers
//! follow by cursor. A watch matches the documents that a search with the same conditions would
//! find among the documents of the commit: new documents and new versions.
//!
//! Before each commit, the index durably logs which documents the commit adds
//! ([`Index::change_log`]). [`Watches::match_commits`] takes the logged commits in order, writes
//! the events of each commit as one batch that names the commit, and then deletes the commit's log
//! entry. So the events of a commit are written once: a crash before the end of the batch leaves no
//! events, and after a later crash the log of events names the commit already. Commits between two
//! calls are matched together. Then a document that was removed has no event, and a document that
//! was replaced has only the event of its last version.
//!
//! The files are in the directory `.watches` of the index. They survive merges, compaction and
//! retraining, but are not part of a pushed or pulled copy. Only one process at a time can open the
//! watches to change or match them, but any process may read the events. This module sends nothing.

mod events;
mod matching;
mod saved;
mod store;
mod withdrawn;

use std::collections::HashMap;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::{SystemTime, UNIX_EPOCH};

pub use events::{EVENTS_BYTES_MAX, EventReader, READ_BYTES_MAX};
pub use saved::{SavedWatch, count_watches, listed_watches, saved_watches};

use cento::index::{
    Config, Document, Index, LoggedCommit, Snapshot, WATCHES_DIR, WATCHES_LOCK, WriterOptions,
    hex_of,
};
use cento::search::{ForeignSignature, Query, Searcher, Subject};
use cento_api::error::{Error, Result};
use cento_api::http::WatchRequest;
use cento_api::reason::{Reason, Refusal};
use cento_api::{PartText, Watch, WatchEvents, WatchOptions, WatchedKind, Webhook};
use cento_text::hash::Digest;
use cento_text::runtime::{Stop, replace};
use events::EventLog;
use matching::{Matched, match_documents};
use store::{Definition, Entries, Entry, Store};

/// The directory of the log of events, in the directory of the watches.
const EVENTS: &str = "events";

/// The watches of an index, for the one process that changes and matches them.
///
/// ```
/// use cento_collections::watch::Watches;
/// use cento::{Config, Document, Index, Stop, WriterOptions};
/// use cento_api::http::WatchRequest;
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("corpus.idx");
/// let index = Index::create(&path, Config::new("winnow(k=5,w=10)", "words", true)?)?;
/// let mut writer = index.writer(WriterOptions::default())?;
/// writer.log_changes()?;
/// let mut watches = Watches::open(&index)?;
/// let text = "It was a bright cold day in April, and the clocks were striking thirteen.";
/// let request = WatchRequest { text: Some(text.into()), ..WatchRequest::default() };
/// watches.add(WatchRequest { name: Some("clocks".into()), ..request })?;
///
/// writer.add(Document::new("copy", format!("On page one: {text} That is all.")))?;
/// writer.commit()?;
/// watches.match_commits(Stop::NEVER)?;
/// let found = watches.reader().events(0, None, 100, Stop::NEVER)?;
/// assert_eq!((&*found.events[0].watch, &*found.events[0].hit.id), ("clocks", "copy"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Watches {
    index: Index,
    store: Store,
    log: EventLog,
    /// Keeps the lock while the watches are open.
    _lock: File,
}

impl std::fmt::Debug for Watches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watches").field("index", &self.index).finish_non_exhaustive()
    }
}

/// Reads the watches and events of an index, from any number of threads.
#[derive(Clone)]
pub struct WatchReader {
    entries: Entries,
    events: EventReader,
}

impl std::fmt::Debug for WatchReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WatchReader").field("events", &self.events).finish_non_exhaustive()
    }
}

fn dir_of(index: &Index) -> PathBuf {
    index.path().join(WATCHES_DIR)
}

impl Watches {
    /// Tells whether the index has ever had a watch.
    #[must_use]
    pub fn exist(index: &Index) -> bool {
        dir_of(index).is_dir()
    }

    /// Opens the watches of an index that logs its changes (`Writer::log_changes`).
    ///
    /// # Errors
    /// [`Error::Locked`] while another process has the watches open. An error when the index logs
    /// no changes, or a file is damaged or cannot be written.
    pub fn open(index: &Index) -> Result<Watches> {
        let dir = dir_of(index);
        let (_, commits) = index.changes_after(0)?;
        let lock = index.lock_wait().retry(|| lock(&dir))?;
        let log = EventLog::open(&dir.join(EVENTS), last(&commits))?;
        let store = Store::open(&dir, index)?;
        Ok(Watches { index: index.clone(), store, log, _lock: lock })
    }

    /// Opens the watches of an index, and makes the index log its changes from now on.
    ///
    /// # Errors
    /// When the index is locked by its writer or cannot be written, and the errors of
    /// [`open`](Self::open).
    pub fn begin(index: &Index) -> Result<Watches> {
        if index.change_log().is_none() {
            index.writer(WriterOptions::default())?.log_changes()?;
        }
        Watches::open(index)
    }

    /// Opens the watches of an index, or returns `None` if the index never had a watch.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub fn open_if_any(index: &Index) -> Result<Option<Watches>> {
        Watches::exist(index).then(|| Watches::open(index)).transpose()
    }

    /// Returns a reader that can be used while watches are matched.
    #[must_use]
    pub fn reader(&self) -> WatchReader {
        let (entries, events) = (self.store.entries().clone(), self.log.reader().clone());
        WatchReader { entries, events }
    }

    /// Adds a watch durably, to be matched against the documents of later commits. A request with
    /// the name and the content of an existing watch changes nothing.
    ///
    /// # Errors
    /// The errors of [`add_all`](Self::add_all).
    pub fn add(&mut self, request: WatchRequest) -> Result<Watch> {
        Ok(self.add_all(vec![request])?.remove(0))
    }

    /// Adds the watches, or none on an error.
    ///
    /// # Errors
    /// [`Error::Input`] or [`Error::InvalidArgument`] when a watch does not have exactly one
    /// subject, has impossible conditions, or has the name of a different watch.
    /// [`Error::UnknownId`] when a watched document is missing. Other errors when a file cannot be
    /// read or written.
    pub fn add_all(&mut self, requests: Vec<WatchRequest>) -> Result<Vec<Watch>> {
        self.add_those(requests, &mut Err)
    }

    /// Adds the watches that can be added, and calls `refused` with the errors of the remaining
    /// watches.
    ///
    /// # Errors
    /// When a file cannot be read or written. Then no watch is added.
    pub fn add_each(
        &mut self,
        requests: Vec<WatchRequest>,
        refused: &mut dyn FnMut(Error),
    ) -> Result<Vec<Watch>> {
        self.add_those(requests, &mut |error| match error {
            Error::Input { .. } | Error::InvalidArgument { .. } | Error::UnknownId { .. } => {
                refused(error);
                Ok(())
            }
            error => Err(error),
        })
    }

    /// Adds watches, skipping each watch whose error `refused` accepts.
    fn add_those(
        &mut self,
        requests: Vec<WatchRequest>,
        refused: &mut dyn FnMut(Error) -> Result<()>,
    ) -> Result<Vec<Watch>> {
        let (snapshot, commits) = self.index.changes_after(self.log.matched())?;
        let commit = last(&commits).max(self.log.matched());
        let created = now() / 1_000_000;
        let (mut names, mut new) = (Vec::new(), Vec::new());
        let mut requested: HashMap<String, String> = HashMap::new();
        for request in requests {
            let digest = digest_of(&request, self.index.config())?;
            let name = match &request.name {
                Some(name) => name.clone(),
                None => made_name(&request, self.index.config())?,
            };
            let same_name = self.store.get(&name).map(|entry| entry.definition.request.clone());
            let same_name = same_name.or_else(|| requested.get(&name).cloned());
            let signed = match same_name {
                Some(other) if other == digest => Ok(None),
                Some(_) => {
                    let what = "a watch has this name and another content, or another secret of \
                                its webhook; remove it first, or choose another name";
                    Err(Error::input(name.clone(), Refusal::new(Reason::IdTaken, what)))
                }
                None => {
                    let digest = digest.clone();
                    self.signed(&name, request, digest, commit, created, &snapshot).map(Some)
                }
            };
            match signed {
                Ok(signed) => {
                    if let Some(signed) = signed {
                        requested.insert(name.clone(), digest);
                        new.push(signed);
                    }
                    names.push(name);
                }
                Err(error) => refused(error)?,
            }
        }
        if !new.is_empty() {
            self.store.put(new)?;
        }
        let watch = |name: &String| self.store.get(name).map(|entry| entry.watch());
        Ok(names.iter().filter_map(watch).collect())
    }

    /// Checks the conditions of a new watch and signs its subject.
    fn signed(
        &self,
        name: &str,
        request: WatchRequest,
        digest: String,
        commit: u64,
        created: u64,
        snapshot: &Snapshot,
    ) -> Result<cento::index::SignedDocument> {
        let WatchRequest { text, parts, id, signature, webhook, thresholds, mut options, .. } =
            request;
        webhook.as_ref().map_or(Ok(()), Webhook::check)?;
        options.check()?;
        let is_open = thresholds.is_none() && options.min_passage.is_none();
        if is_open {
            options.min_passage = Some(WatchOptions::MIN_PASSAGE);
        }
        let kind = match (&text, &parts, &id, &signature) {
            (Some(_), None, None, None) => WatchedKind::Text,
            (None, Some(parts), None, None) if parts.is_empty() => {
                return Err(Error::argument("parts", "`parts` is empty"));
            }
            (None, Some(_), None, None) => WatchedKind::Text,
            (None, None, Some(_), None) => WatchedKind::Document,
            (None, None, None, Some(_)) => WatchedKind::Signature,
            _ => {
                let what = "a watch has exactly one of `text`, `parts`, `id` and `signature`";
                return Err(Error::arguments(what));
            }
        };
        let (request, problem) = (digest, None);
        let definition = Definition {
            kind,
            id,
            thresholds,
            options,
            webhook,
            request,
            commit,
            created,
            problem,
        };
        let config = self.index.config();
        let document = match (text, parts) {
            (Some(text), _) => Some(Document::new(name, text)),
            (None, Some(parts)) => {
                let parts = parts.into_iter().map(|PartText { name, text }| (name, text));
                Some(Document::of_parts(name, parts))
            }
            (None, None) => None,
        };
        let signed = match (document, signature) {
            (Some(document), _) => store::of_text(document, &definition, config, Stop::NEVER)?,
            (_, Some(signature)) => {
                let subject = ForeignSignature::subject_of(signature, config)?;
                let Subject::Signature { tokens, fingerprints } = subject else {
                    unreachable!("a signature is a signature")
                };
                store::of_signature(name, &definition, tokens, fingerprints)
            }
            _ => {
                let id = definition.id.clone().unwrap_or_default();
                if snapshot.find(&id)?.is_none() {
                    return Err(Error::UnknownId { id });
                }
                store::of_document(name, &definition, snapshot, Stop::NEVER)?
            }
        };
        signed.document.clone().checked()?;
        self.check_conditions(name, &definition, signed.token_count, snapshot)?;
        if is_open && signed.token_count < WatchOptions::MIN_PASSAGE {
            let what = format!(
                "the subject of the watch `{name}` has fewer than {} tokens, so no passage of it \
                 is that long; give a threshold such as `min_containment`",
                WatchOptions::MIN_PASSAGE
            );
            return Err(Error::argument("min_passage", what));
        }
        Ok(signed)
    }

    /// Refuses conditions that a search would refuse, and a subject without tokens.
    fn check_conditions(
        &self,
        name: &str,
        definition: &Definition,
        tokens: u32,
        snapshot: &Snapshot,
    ) -> Result<()> {
        if tokens == 0 {
            let what = format!("the subject of the watch `{name}` has no tokens to look for");
            return Err(Error::arguments(what));
        }
        let mut query = Query::text("");
        query.thresholds = definition.thresholds;
        query.options.filter.clone_from(&definition.options.filter);
        Searcher::new(snapshot.clone()).search_among(&query, &[]).map(|_| ())
    }

    /// Removes the watch with this name, after matching the commits so far. Its events stay in the
    /// log. Returns whether the watch existed, and the number of new events of all watches.
    ///
    /// # Errors
    /// The errors of [`match_commits`](Self::match_commits), which leave the watch in place. When
    /// the store cannot be written.
    pub fn remove(&mut self, name: &str, stop: &Stop) -> Result<(bool, u64)> {
        if self.store.get(name).is_none() {
            return Ok((false, 0));
        }
        let events = self.match_commits(stop)?;
        Ok((self.store.remove(name)?, events))
    }

    /// Matches the commits that have not been matched, and returns the number of new events, which
    /// are durable.
    ///
    /// # Errors
    /// When a file cannot be read or written. The next call continues with the failed commit.
    /// [`Error::Cancelled`] soon after `stop`.
    pub fn match_commits(&mut self, stop: &Stop) -> Result<u64> {
        let events = self.match_logged(stop)?;
        self.forget_withdrawn()?;
        Ok(events)
    }

    fn match_logged(&mut self, stop: &Stop) -> Result<u64> {
        let matched = self.log.matched();
        let Some(changes) = self.index.change_log() else { return Ok(0) };
        changes.forget_before(matched)?;
        let (snapshot, commits) = self.index.changes_after(matched)?;
        if commits.is_empty() {
            return Ok(0);
        }
        let mut all = Vec::with_capacity(commits.len());
        // For several commits, the last commit that changed each document. The snapshot has this
        // version.
        let mut newest: HashMap<Digest, u64> = HashMap::new();
        for commit in &commits {
            let mut ids = changes.ids(commit)?;
            ids.sort_unstable();
            ids.dedup();
            if commits.len() > 1 {
                newest.extend(ids.iter().map(|id| (Digest::of(id.as_bytes()), commit.number)));
            }
            all.push((commit.number, ids));
        }
        let mut events = 0;
        let searcher = Searcher::new(snapshot.clone());
        for (commit, mut ids) in all {
            ids.retain(|id| {
                let last = newest.get(&Digest::of(id.as_bytes()));
                last.is_none_or(|last| *last == commit)
            });
            self.store.follow(ids.iter(), &snapshot, stop)?;
            let time = now();
            let mut batch = self.log.batch(time)?;
            if !self.store.is_empty() {
                let matched = Matched { commit, time: time / 1_000_000 };
                match_documents(&mut self.store, &searcher, &ids, matched, &mut batch, stop)?;
            }
            events += batch.end(commit)?;
        }
        changes.forget_before(self.log.matched())?;
        Ok(events)
    }
}

impl WatchReader {
    /// Opens the events of an index, with the events that are durable now. Another process may
    /// match the watches.
    ///
    /// # Errors
    /// When a file is damaged or cannot be read.
    pub fn open_events(index: &Index) -> Result<EventReader> {
        EventReader::open(&dir_of(index).join(EVENTS))
    }

    /// Returns the watch with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Watch> {
        self.entry(name).map(|entry| entry.watch())
    }

    fn entry(&self, name: &str) -> Option<std::sync::Arc<Entry>> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Returns at most `limit` watches by name, after the name `after` if given.
    #[must_use]
    pub fn list(&self, after: Option<&str>, limit: usize) -> Vec<Watch> {
        use std::ops::Bound::{Excluded, Unbounded};
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        let range = (after.map_or(Unbounded, Excluded), Unbounded);
        entries.range::<str, _>(range).take(limit).map(|(_, entry)| entry.watch()).collect()
    }

    /// Returns the receiver of the events of a watch, secret included. `None` without a webhook.
    #[must_use]
    pub fn webhook(&self, name: &str) -> Option<Webhook> {
        self.entry(name)?.definition.webhook.clone()
    }

    /// Returns the log of events.
    #[must_use]
    pub fn log(&self) -> &EventReader {
        &self.events
    }

    /// Returns at most `limit` events after a cursor, of one watch or of all watches. Events of a
    /// removed watch whose name was used again are only among the events of all watches.
    ///
    /// # Errors
    /// When the watch does not exist, or a file is damaged or cannot be read. [`Error::Cancelled`]
    /// soon after `stop`.
    pub fn events(
        &self,
        after: u64,
        watch: Option<&str>,
        limit: usize,
        stop: &Stop,
    ) -> Result<WatchEvents> {
        let of = |name| match self.entry(name) {
            Some(entry) => Ok((name, entry.definition.commit)),
            None => Err(unknown(name)),
        };
        self.events.read(after, watch.map(of).transpose()?, limit, stop)
    }
}

/// Matches the commits that have not been matched, and returns at most `limit` events after a
/// cursor, of one watch or of all watches. While another process has the watches open, only that
/// process can match. Then the result is the events in the log, and `true`.
///
/// # Errors
/// When the watch does not exist, and the errors of [`Watches::open`], except [`Error::Locked`],
/// and of [`Watches::match_commits`].
pub fn caught_up(
    index: &Index,
    after: u64,
    watch: Option<&str>,
    limit: usize,
    stop: &Stop,
) -> Result<(WatchEvents, bool)> {
    match Watches::open_if_any(index) {
        Ok(Some(mut watches)) => {
            watches.match_commits(stop)?;
            Ok((watches.reader().events(after, watch, limit, stop)?, false))
        }
        Ok(None) => match watch {
            Some(name) => Err(unknown(name)),
            None => Ok((WatchEvents::default(), false)),
        },
        Err(Error::Locked { .. }) => {
            let of = |name| match store::commit_of(&dir_of(index), name)? {
                Some(commit) => Ok((name, commit)),
                None => Err(unknown(name)),
            };
            let watch = watch.map(of).transpose()?;
            Ok((WatchReader::open_events(index)?.read(after, watch, limit, stop)?, true))
        }
        Err(error) => Err(error),
    }
}

/// Returns the error that a watch is missing.
#[must_use]
pub fn unknown(name: &str) -> Error {
    Error::input(name, Refusal::new(Reason::UnknownId, "no watch has this name"))
}

/// Takes the lock of the watches in this directory. Creates the directory if needed.
fn lock(dir: &Path) -> Result<File> {
    fs::create_dir_all(dir).map_err(|e| Error::io("create", dir, e))?;
    replace::sync_name(dir).map_err(|e| Error::io("sync", dir, e))?;
    let path = dir.join(WATCHES_LOCK);
    let file = File::create(&path).map_err(|e| Error::io("create", &path, e))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(Error::Locked { path: dir.parent().unwrap_or(dir).to_owned() })
        }
        Err(TryLockError::Error(e)) => Err(Error::io("lock", &path, e)),
    }
}

/// Returns the digest of a request in hexadecimal. In a keyed index texts enter it as keyed
/// digests. Names are made of the digest, and an attacker could otherwise confirm the guess of a
/// text.
fn digest_of(request: &WatchRequest, config: &Config) -> Result<String> {
    let mut request = WatchRequest { name: None, ..request.clone() };
    if config.scheme.lock().is_some() {
        let of_parts = request.parts.iter_mut().flatten().map(|part| &mut part.text);
        for text in request.text.iter_mut().chain(of_parts) {
            *text = hex_of(config.text_digest(text)?);
        }
    }
    let digest = Digest::of(&serde_json::to_vec(&request).expect("a request is JSON"));
    Ok(hex_of(digest))
}

/// Returns the name of a watch whose request gives no name. The secret of a webhook does not enter
/// the name, because everybody who lists watches could try secrets until one makes the same name.
fn made_name(request: &WatchRequest, config: &Config) -> Result<String> {
    let mut request = request.clone();
    if let Some(webhook) = &mut request.webhook {
        webhook.secret.clear();
    }
    Ok(format!("watch-{}", &digest_of(&request, config)?[..16]))
}

fn last(commits: &[LoggedCommit]) -> u64 {
    commits.last().map_or(0, |commit| commit.number)
}

/// Returns the time in microseconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64)
}
