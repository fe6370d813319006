//! What is shown of a hit beside its numbers?
//!
//! Passages, and measures over the whole texts: both need the stored text of the hit.

use std::sync::Arc;

use super::memory::{self, QueryMemory};
use super::passages::{self, Passage, Passages};
use super::shared::SharedFingerprints;
use super::verify::Verified;
use super::{Query, Resolved};
use crate::budget::Permit;
use crate::error::{Error, Result};
use crate::index::{DocAddress, Snapshot};
use crate::measure::Measure;
use crate::stop::Stop;
use crate::text::{Analyzed, Side, Tokens};

/// Compares the query with its hits, text by text.
pub struct Evidence<'a> {
    snapshot: &'a Snapshot,
    subject: &'a Resolved,
    /// The text of the query, if it is known and the index has texts to compare it with.
    text: Option<String>,
    tokens: Tokens,
    measure: Option<&'a Measure>,
    shows_passages: bool,
    stop: Stop<'a>,
    shared: SharedFingerprints,
    /// The document last read: it is verified, and then its passages are found.
    last: Option<LastRead>,
    memory: Option<QueryMemory>,
    /// For the tokens of the query.
    room: Option<Permit>,
}

struct LastRead {
    address: DocAddress,
    document: Arc<Analyzed>,
    /// For its tokens.
    _room: Option<Permit>,
}

impl<'a> Evidence<'a> {
    /// What `query` asks for; `text` is its text if it is known.
    ///
    /// # Errors
    /// When verification is asked for without texts.
    pub fn new(
        snapshot: &'a Snapshot,
        subject: &'a Resolved,
        query: &'a Query,
        text: Option<String>,
    ) -> Result<Evidence<'a>> {
        let config = snapshot.config();
        let text = text.filter(|_| config.store_text);
        let mut tokens = Tokens::default();
        let mut room = None;
        if let Some(text) = &text {
            let bytes = memory::of_query(subject.tokens);
            room = memory::reserve(query.memory.as_ref(), 0, bytes, subject.tokens)?;
            config.analyzer.analyze_until(text, &mut tokens, query.stop())?;
        } else if query.verify.is_some() {
            let what = "verification compares texts, but the index or the query has none; search \
                        without it";
            return Err(Error::Query { what: what.into() });
        }
        Ok(Evidence {
            snapshot,
            subject,
            text,
            tokens,
            measure: query.verify.as_ref(),
            shows_passages: query.passages,
            stop: query.stop(),
            shared: SharedFingerprints::default(),
            last: None,
            memory: query.memory.clone(),
            room,
        })
    }

    /// What the measure says of the document at `address`, if one was asked for.
    ///
    /// # Errors
    /// When the document cannot be read.
    pub fn verify(&mut self, address: DocAddress) -> Result<Option<Verified>> {
        let Some(measure) = self.measure else { return Ok(None) };
        let document = self.document(address)?;
        let verified = |query| Verified::new(measure, query, document.side(), self.stop);
        self.query().map(verified).transpose()
    }

    /// The query, if its text is known.
    fn query(&self) -> Option<Side<'_>> {
        self.text.as_deref().map(|text| Side { text, tokens: &self.tokens })
    }

    fn document(&mut self, address: DocAddress) -> Result<Arc<Analyzed>> {
        if let Some(last) = self.last.as_ref().filter(|last| last.address == address) {
            return Ok(last.document.clone());
        }
        // Its memory is free for the next one.
        self.last = None;
        let segment = &self.snapshot.segment(address).signatures;
        let tokens = segment.document(address.doc)?.tokens;
        let held = self.room.as_ref().map_or(0, Permit::bytes);
        let bytes = memory::of_tokens(tokens);
        let _room = memory::reserve(self.memory.as_ref(), held, bytes, tokens)?;
        let document = Arc::new(self.snapshot.analyzed(address, self.stop)?);
        self.last = Some(LastRead { address, document: document.clone(), _room });
        Ok(document)
    }

    /// The passages shared with the document at `address`, if they were asked for.
    ///
    /// # Errors
    /// When the document cannot be read.
    pub fn passages(&mut self, address: DocAddress) -> Result<Option<Passages>> {
        if !self.shows_passages {
            return Ok(None);
        }
        if self.text.is_none() {
            let found = self.of_fingerprints(address)?;
            return Ok(Some(Passages { found, complete: true }));
        }
        let document = self.document(address)?;
        let between = |query| passages::between(query, document.side(), self.stop);
        let aligned = self.query().map(between).transpose()?;
        let complete = aligned.as_ref().is_none_or(|aligned| aligned.complete);
        if let Some(aligned) = aligned.filter(|aligned| !aligned.found.is_empty()) {
            return Ok(Some(aligned));
        }
        // Too little to be aligned: what brought the document up is shown.
        let found = self.of_fingerprints(address)?.into_iter();
        let in_bytes = |passage: Passage| passage.in_bytes(&self.tokens, &document.tokens);
        Ok(Some(Passages { found: found.map(in_bytes).collect(), complete }))
    }

    fn of_fingerprints(&mut self, address: DocAddress) -> Result<Vec<Passage>> {
        let Resolved { signature, keys, tokens, .. } = self.subject;
        self.shared.read(self.snapshot, keys, address, self.stop)?;
        let segment = &self.snapshot.segment(address).signatures;
        let shared = passages::Shared {
            signature,
            keys,
            occurrences: self.shared.occurrences(),
            extent: self.snapshot.config().scheme.extent(),
            tokens: (*tokens, segment.document(address.doc)?.tokens),
        };
        shared.passages(self.stop)
    }
}
