//! Compares the winners of a shard with the query, and reads what a trace needs of them.

use cento_api::{DocumentFacts, Goal, ShardCandidate, ShardHit, TextExcerpt};

use super::super::evidence::Evidence;
use super::super::examine::{Examination, Examine, TextExaminer};
use super::super::foreign_signature::ForeignSignature;
use super::super::hit_details::ListedDocument;
use super::super::retrieve::Search;
use super::super::score::Scored;
use crate::error::{Error, Result};
use crate::field_date::{field_of, read};
use crate::index::DocAddress;
use crate::scheme::Fingerprint;

impl Search<'_> {
    /// Compares these documents with the query.
    pub fn spans_of(&self, winners: &[ShardCandidate]) -> Result<Vec<ShardHit>> {
        let Search { searcher, query, subject, .. } = self;
        let (snapshot, is_trace) = (&searcher.snapshot, query.options.goal == Goal::Trace);
        let mut texts = TextExaminer::new(Evidence::of(searcher, subject, query)?, query);
        let (mut hits, mut shown) = (Vec::with_capacity(winners.len()), Vec::new());
        for winner in winners {
            query.stop().check()?;
            let Some(address) = snapshot.find(&winner.id)? else {
                return Err(Error::UnknownId { id: winner.id.clone() });
            };
            let scored = Scored::of_candidate(winner, address, subject.keys.len() as u32);
            let mut hit = ShardHit {
                id: winner.id.clone(),
                hit: None,
                passages: None,
                signature: None,
                facts: None,
            };
            if let Some(ranges) = &winner.excerpts {
                hit.facts = Some(self.facts(address, ranges)?);
            } else if let Examination::Document(mut document) = texts.examine(scored)? {
                hit.passages = document.passages();
                // A document without passages is no part of a trace.
                let is_shown = !is_trace || document.has_passage();
                if is_shown {
                    texts.keep(&mut document)?;
                    if query.shows_weights() {
                        hit.signature = Some(self.signature_of(address)?);
                    }
                    if is_trace {
                        hit.facts = Some(self.facts(address, &[])?);
                    }
                    shown.push((hits.len(), document));
                }
            }
            hits.push(hit);
        }
        let (places, shown): (Vec<usize>, Vec<_>) = shown.into_iter().unzip();
        for (place, hit) in places.into_iter().zip(self.hits_of(shown)?) {
            hits[place].hit = Some(hit);
        }
        Ok(hits)
    }

    /// Returns the distinct fingerprints of a document as a signature, so that the document
    /// frequencies over every shard give its weight.
    fn signature_of(&self, address: DocAddress) -> Result<cento_api::http::SignatureBody> {
        let Search { searcher, query, .. } = self;
        let keys = searcher.keys_within(address, query.memory.as_ref(), query.stop())?;
        let config = searcher.snapshot.config();
        // A fingerprint as a pair of whole numbers, and its JSON in a buffer that has doubled.
        query.keep(keys.len() * 96, "signatures")?;
        let tokens = keys.len() as u32;
        let fingerprints = (0..).zip(keys).map(|(position, key)| Fingerprint { key, position });
        Ok(ForeignSignature::of(config, tokens, fingerprints.collect()).body(config))
    }

    /// Returns the facts of a document, with these ranges of its text.
    fn facts(&self, address: DocAddress, ranges: &[(u32, u32)]) -> Result<DocumentFacts> {
        let snapshot = &self.searcher.snapshot;
        let text = if ranges.is_empty() { None } else { snapshot.text(address)? };
        let mut excerpts = Vec::with_capacity(ranges.len());
        for &b in ranges {
            self.query.stop().check()?;
            let excerpt = text.as_deref().and_then(|text| text.get(b.0 as usize..b.1 as usize));
            let Some(excerpt) = excerpt else {
                let (id, (start, end)) = (snapshot.id(address)?, b);
                let what = format!("bytes {start} to {end} are no part of a stored text of `{id}`");
                return Err(Error::argument("excerpts", what));
            };
            // The excerpt itself, and its JSON in a buffer that has just doubled.
            self.query.keep(3 * excerpt.len(), "excerpts")?;
            excerpts.push(TextExcerpt { b, text: excerpt.to_owned() });
        }
        let mut date = None;
        if let Some(field) = &self.query.options.date {
            let meta = snapshot.meta(address)?;
            date = field_of(&meta, field).filter(|value| read(value).is_some()).cloned();
        }
        // No clock was before 1970.
        let added = snapshot.segment(address).added_micros(address.doc)?.max(0).unsigned_abs();
        Ok(DocumentFacts { added, date, excerpts })
    }
}
