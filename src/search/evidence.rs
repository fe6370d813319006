//! What is shown of a hit beside its numbers?
//!
//! Passages, and measures over the whole texts: both need the stored text of the hit, which is
//! read once.

use super::align::Side;
use super::passages::{self, Passage};
use super::shared::SharedFingerprints;
use super::verify::{Verified, Verifier};
use super::{Query, Resolved};
use crate::error::{Error, Result};
use crate::index::{DocAddress, Snapshot};
use crate::text::Tokens;

/// Compares the query with its hits, text by text.
pub struct Evidence<'a> {
    snapshot: &'a Snapshot,
    subject: &'a Resolved,
    /// The text of the query, if it is known and the index has texts to compare it with.
    text: Option<String>,
    tokens: Tokens,
    verifier: Option<Verifier>,
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
        query: &Query,
        text: Option<String>,
    ) -> Result<Evidence<'a>> {
        let config = snapshot.config();
        let text = text.filter(|_| config.store_text);
        let mut tokens = Tokens::default();
        if let Some(text) = text.as_ref().filter(|_| query.passages) {
            config.analyzer.analyze(text, &mut tokens)?;
        }
        let verifier = match &text {
            _ if !query.verify => None,
            Some(text) => Some(Verifier::new(config, text)?),
            None => {
                let what = "hits are verified by comparing texts, and the index keeps none or the \
                            query has none; search without --verify";
                return Err(Error::Query { what: what.into() });
            }
        };
        let shared = SharedFingerprints::default();
        let shows_passages = query.passages;
        Ok(Evidence { snapshot, subject, text, tokens, verifier, shows_passages, shared })
    }

    /// The measures over both texts, and the passages, of the document at `address`.
    ///
    /// # Errors
    /// When the document cannot be read.
    pub fn of(&mut self, address: DocAddress) -> Result<(Option<Verified>, Option<Vec<Passage>>)> {
        let document = match &self.text {
            Some(_) => self.snapshot.document(address)?.text,
            None => None,
        };
        let verified = match (&self.verifier, &document) {
            (Some(verifier), Some(text)) => Some(verifier.verify(text)?),
            _ => None,
        };
        let passages = match self.shows_passages {
            true => Some(self.passages(address, document.as_deref())?),
            false => None,
        };
        Ok((verified, passages))
    }

    fn passages(&mut self, address: DocAddress, document: Option<&str>) -> Result<Vec<Passage>> {
        let (Some(text), Some(document)) = (&self.text, document) else {
            return self.of_fingerprints(address);
        };
        let mut tokens = Tokens::default();
        self.snapshot.config().analyzer.analyze(document, &mut tokens)?;
        let found = passages::between(
            Side { text, tokens: &self.tokens },
            Side { text: document, tokens: &tokens },
        );
        if !found.is_empty() {
            return Ok(found);
        }
        // Too little to be aligned: what brought the document up is shown.
        let found = self.of_fingerprints(address)?.into_iter();
        Ok(found.map(|passage| passage.in_bytes(&self.tokens, &tokens)).collect())
    }

    fn of_fingerprints(&mut self, address: DocAddress) -> Result<Vec<Passage>> {
        let Resolved { signature, keys, .. } = self.subject;
        self.shared.read(self.snapshot, keys, address)?;
        let span = self.snapshot.config().scheme.span();
        Ok(passages::in_fingerprints(signature, keys, self.shared.occurrences(), span))
    }
}
