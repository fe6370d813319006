//! The signature of a query, made from its text or read from its stored document.

use std::borrow::Cow;

use cento_api::{Part, UnseenText};

use super::boilerplate::IgnoredCounts;
use super::candidates::CandidateSet;
use super::memory;
use super::query::{Query, Subject};
use super::searcher::Searcher;
use crate::error::{Error, Result};
use crate::index::{DocAddress, Snapshot};
use crate::runtime::Permit;
use crate::scheme::Fingerprint;
use cento_api::{QueryInfo, Stopped};

/// The subject of a query in numbers.
pub struct QuerySignature {
    pub id: Option<String>,
    pub address: Option<DocAddress>,
    /// Further documents that are never hits.
    pub hidden: Vec<DocAddress>,
    pub tokens: u32,
    pub unseen: UnseenText,
    pub signature: Vec<Fingerprint>,
    /// The distinct keys of the signature, ascending.
    pub keys: Vec<u64>,
    /// For each of `keys`, its first position.
    pub positions: Vec<u32>,
    /// The keys of a document with this text, ascending, if `keys` are the keys of all its runs.
    own: Option<Vec<u64>>,
    /// The permit for the keys of all runs.
    _room: Option<Permit>,
}

impl QuerySignature {
    /// Signs the text of the query, or reads the signature of its document. `part` is scratch
    /// memory that is reused between queries.
    ///
    /// # Errors
    /// When no document has the id of the query, or a signature is damaged. [`Error::Cancelled`]
    /// soon after the query is stopped.
    pub fn of(searcher: &Searcher, query: &Query, part: &mut Vec<u64>) -> Result<QuerySignature> {
        let mut resolved = QuerySignature::of_all(&searcher.snapshot, query, part)?;
        if let Some(ignored) = &searcher.ignored {
            resolved.leave_out(ignored, searcher, query)?;
        }
        if query.looks_up_all_runs() {
            resolved.look_up_all_runs(searcher, query, part)?;
        }
        Ok(resolved)
    }

    /// Replaces the fingerprints by the fingerprints of all runs of the text, if the index stores
    /// texts and its scheme keeps some of the runs.
    fn look_up_all_runs(
        &mut self,
        searcher: &Searcher,
        query: &Query,
        part: &mut Vec<u64>,
    ) -> Result<()> {
        let (config, stop) = (searcher.snapshot.config(), query.stop());
        let Some(all) = config.scheme.of_all_runs().filter(|_| config.store_text) else {
            return Ok(());
        };
        let Some(text) = self.text(&searcher.snapshot, query)? else { return Ok(()) };
        let memory = query.memory.as_ref();
        let room = memory::reserve(memory, 0, memory::of_runs(self.tokens), self.tokens)?;
        let held = room.as_ref().map_or(0, Permit::bytes);
        let scratch = memory::reserve_scratch(memory, held, &config.analyzer, text.len())?;
        let signed = config.sign_by(&all, &text, usize::MAX, part, stop)?;
        drop(scratch);
        self._room = room;
        self.own = Some(std::mem::take(&mut self.keys));
        self.set(signed.fingerprints.expect("nothing is too large"));
        match &searcher.ignored {
            Some(ignored) => self.leave_out(ignored, searcher, query),
            None => Ok(()),
        }
    }

    /// Signs the whole query, including boilerplate.
    fn of_all(snapshot: &Snapshot, query: &Query, part: &mut Vec<u64>) -> Result<QuerySignature> {
        let (config, stop) = (snapshot.config(), query.stop());
        match &query.subject {
            Subject::Text(text) => {
                let signed = config.sign_within(text, usize::MAX, part, stop)?;
                let signature = signed.fingerprints.expect("nothing is too large");
                let resolved = QuerySignature::new(signed.tokens, signature);
                Ok(QuerySignature { unseen: UnseenText::of(text), ..resolved })
            }
            Subject::Signature { tokens, fingerprints } => {
                Ok(QuerySignature::new(*tokens, fingerprints.clone()))
            }
            Subject::Id(id) => {
                let Some(address) = snapshot.find(id)? else {
                    return Err(Error::UnknownId { id: id.clone() });
                };
                let segment = &snapshot.segment(address).signatures;
                let tokens = segment.document(address.doc)?.tokens;
                let memory = query.memory.as_ref();
                let signature = memory::signature(snapshot, address, memory, stop)?;
                let resolved = QuerySignature::new(tokens, signature);
                Ok(QuerySignature { id: Some(id.clone()), address: Some(address), ..resolved })
            }
        }
    }

    fn new(tokens: u32, signature: Vec<Fingerprint>) -> QuerySignature {
        let mut resolved = QuerySignature {
            id: None,
            address: None,
            hidden: Vec::new(),
            tokens,
            unseen: UnseenText::default(),
            signature: Vec::new(),
            keys: Vec::new(),
            positions: Vec::new(),
            own: None,
            _room: None,
        };
        resolved.set(signature);
        resolved
    }

    /// Removes the fingerprints of boilerplate.
    fn leave_out(
        &mut self,
        ignored: &IgnoredCounts,
        searcher: &Searcher,
        query: &Query,
    ) -> Result<()> {
        let mut signature = std::mem::take(&mut self.signature);
        let text = || self.text(&searcher.snapshot, query);
        ignored.boilerplate.leave_out(&mut signature, text, query.stop())?;
        self.set(signature);
        Ok(())
    }

    fn set(&mut self, signature: Vec<Fingerprint>) {
        let mut firsts = signature.clone();
        firsts.sort_unstable();
        firsts.dedup_by_key(|fingerprint| fingerprint.key);
        (self.keys, self.positions) = firsts.into_iter().map(|f| (f.key, f.position)).unzip();
        self.signature = signature;
    }

    /// Returns the documents that are never hits, ascending: the query itself, the hidden
    /// documents, and the documents with these ids in every index of a union.
    pub fn excluded(&self, snapshot: &Snapshot, ids: &[String]) -> Result<Cow<'_, [DocAddress]>> {
        let own = self.address.as_slice();
        if ids.is_empty() && self.hidden.is_empty() {
            return Ok(Cow::Borrowed(own));
        }
        let mut excluded = [own, &self.hidden].concat();
        for id in ids {
            snapshot.find_all(id, &mut |address| {
                excluded.push(address);
                Ok(true)
            })?;
        }
        excluded.sort_unstable();
        Ok(Cow::Owned(excluded))
    }

    /// Returns the text of the query, if known.
    ///
    /// # Errors
    /// When the stored document cannot be read.
    pub fn text(&self, snapshot: &Snapshot, query: &Query) -> Result<Option<String>> {
        match (&query.subject, self.address) {
            (Subject::Text(text), _) => Ok(Some(text.clone())),
            (Subject::Id(_), Some(address)) => Ok(snapshot.document(address)?.text),
            _ => Ok(None),
        }
    }

    /// Returns the parts of the query. Empty for most queries.
    ///
    /// # Errors
    /// When the stored document cannot be read. [`Error::Cancelled`] soon after the query is
    /// stopped.
    pub fn parts(&self, snapshot: &Snapshot, query: &Query) -> Result<Vec<Part>> {
        if let Some(address) = self.address {
            return snapshot.parts(address);
        }
        let mut parts = query.parts.clone();
        if let Subject::Text(text) = &query.subject {
            snapshot.config().count_tokens_of_parts(&mut parts, text, query.stop())?;
        }
        Ok(parts)
    }

    /// Returns the part of the answer about the query.
    ///
    /// # Errors
    /// When the text of the query cannot be read, or memory to split it is lacking.
    pub fn info(
        &self,
        searcher: &Searcher,
        query: &Query,
        found: &CandidateSet,
    ) -> Result<QueryInfo> {
        let stopped = found.stopped.iter().filter(|(i, _)| self.is_own(*i as usize));
        let stopped: Vec<Stopped> = stopped.map(|&(i, df)| self.stopped(i, df)).collect();
        let known = (0..).zip(&found.known).filter(|&(i, &is_known)| is_known && self.is_own(i));
        let own = self.own.as_ref().unwrap_or(&self.keys).len();
        Ok(QueryInfo {
            boilerplate: self.boilerplate(searcher, query)?,
            id: self.id.clone(),
            tokens: self.tokens,
            fingerprints: own as u32,
            global: known.count() as f64 / own.max(1) as f64,
            stopped: stopped.len() as u32,
            stopped_fingerprints: stopped,
            postings: found.postings,
            unseen: self.unseen,
        })
    }

    /// Returns whether a document with this text would have this key.
    fn is_own(&self, i: usize) -> bool {
        self.own.as_ref().is_none_or(|own| own.binary_search(&self.keys[i]).is_ok())
    }

    /// Returns the byte ranges of boilerplate in the text of the query, if passages are needed.
    pub(super) fn boilerplate(
        &self,
        searcher: &Searcher,
        query: &Query,
    ) -> Result<Vec<(u32, u32)>> {
        let Some(boilerplate) = searcher.boilerplate().filter(|_| query.needs_passages()) else {
            return Ok(Vec::new());
        };
        let snapshot = searcher.snapshot();
        let Some(text) = self.text(snapshot, query)? else { return Ok(Vec::new()) };
        let (memory, tokens) = (query.memory.as_ref(), self.tokens);
        let room = memory::reserve(memory, 0, memory::of_tokens(tokens), tokens)?;
        let held = room.as_ref().map_or(0, Permit::bytes);
        let analyzer = &snapshot.config().analyzer;
        let _scratch = memory::reserve_scratch(memory, held, analyzer, text.len())?;
        boilerplate.ranges_in(&text, query.stop())
    }

    fn stopped(&self, i: u32, df: u64) -> Stopped {
        let at = i as usize;
        Stopped { key: self.keys[at].to_string(), position: self.positions[at], df }
    }
}
