//! What is shown of a hit beside its numbers?
//!
//! Passages, and measures over the whole texts: both need the stored text of the hit.

use super::passages::{self, Passage};
use super::shared::SharedFingerprints;
use super::verify::Verified;
use super::{Query, Resolved};
use crate::error::{Error, Result};
use crate::index::{DocAddress, Snapshot};
use crate::measure::Measure;
use crate::text::{Side, Tokens};

/// Compares the query with its hits, text by text.
pub struct Evidence<'a> {
    snapshot: &'a Snapshot,
    subject: &'a Resolved,
    /// The text of the query, if it is known and the index has texts to compare it with.
    text: Option<String>,
    tokens: Tokens,
    measure: Option<&'a Measure>,
    shows_passages: bool,
    shared: SharedFingerprints,
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
        if let Some(text) = &text {
            config.analyzer.analyze(text, &mut tokens)?;
        } else if query.verify.is_some() {
            let what = "hits are verified by comparing texts, and the index keeps none or the \
                        query has none; search without --verify";
            return Err(Error::Query { what: what.into() });
        }
        Ok(Evidence {
            snapshot,
            subject,
            text,
            tokens,
            measure: query.verify.as_ref(),
            shows_passages: query.passages,
            shared: SharedFingerprints::default(),
        })
    }

    /// What the measure says of the document at `address`, if one was asked for.
    ///
    /// # Errors
    /// When the document cannot be read.
    pub fn verify(&mut self, address: DocAddress) -> Result<Option<Verified>> {
        let (Some(measure), Some(text)) = (self.measure, &self.text) else { return Ok(None) };
        let (document, tokens) = self.document(address)?;
        let query = Side { text, tokens: &self.tokens };
        Ok(Some(Verified::new(measure, query, Side { text: &document, tokens: &tokens })))
    }

    /// The text of a document, and its tokens.
    fn document(&self, address: DocAddress) -> Result<(String, Tokens)> {
        let text = self.snapshot.document(address)?.text.unwrap_or_default();
        let mut tokens = Tokens::default();
        self.snapshot.config().analyzer.analyze(&text, &mut tokens)?;
        Ok((text, tokens))
    }

    /// The passages shared with the document at `address`, if they were asked for.
    ///
    /// # Errors
    /// When the document cannot be read.
    pub fn passages(&mut self, address: DocAddress) -> Result<Option<Vec<Passage>>> {
        if !self.shows_passages {
            return Ok(None);
        }
        let Some(text) = &self.text else { return self.of_fingerprints(address).map(Some) };
        let (document, tokens) = self.document(address)?;
        let found = passages::between(
            Side { text, tokens: &self.tokens },
            Side { text: &document, tokens: &tokens },
        );
        if !found.is_empty() {
            return Ok(Some(found));
        }
        // Too little to be aligned: what brought the document up is shown.
        let found = self.of_fingerprints(address)?.into_iter();
        Ok(Some(found.map(|passage| passage.in_bytes(&self.tokens, &tokens)).collect()))
    }

    fn of_fingerprints(&mut self, address: DocAddress) -> Result<Vec<Passage>> {
        let Resolved { signature, keys, tokens, .. } = self.subject;
        self.shared.read(self.snapshot, keys, address)?;
        let segment = &self.snapshot.segments()[address.segment as usize].signatures;
        let shared = passages::Shared {
            signature,
            keys,
            occurrences: self.shared.occurrences(),
            span: self.snapshot.config().scheme.span(),
            tokens: (*tokens, segment.document(address.doc)?.tokens),
        };
        Ok(shared.passages())
    }
}
