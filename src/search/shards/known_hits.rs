//! The documents that the shards have compared.

use std::collections::HashMap;

use cento_api::http::SignatureBody;
use cento_api::{Hit, Passage, PassageCounts, ShardAnswers, ShardHit};

use super::super::examine::{Examination, Examine};
use super::super::frequencies::added_up;
use super::super::hit_details::ListedDocument;
use super::super::query::Query;
use super::super::score::Scored;
use super::super::trace::TracedDocument;
use super::super::weigh::{Weigh, WeightedOverlap};
use crate::error::{Error, Result};

/// The documents that the shards have compared.
pub struct KnownHits<'a> {
    pub by_id: HashMap<&'a str, &'a ShardHit>,
}

impl<'a> KnownHits<'a> {
    pub fn of(hits: &'a [ShardHit]) -> KnownHits<'a> {
        let is_compared = |hit: &&ShardHit| hit.hit.is_some() || hit.facts.is_none();
        let compared = hits.iter().filter(is_compared);
        KnownHits { by_id: compared.map(|hit| (&*hit.id, hit)).collect() }
    }
}

impl<'a> Examine for KnownHits<'a> {
    type Document = KnownHit<'a>;

    fn examine(&mut self, scored: Scored) -> Result<Examination<KnownHit<'a>>> {
        Ok(match self.by_id.get(&*scored.id) {
            None => Examination::Unknown,
            Some(hit) if hit.hit.is_none() => Examination::Dropped,
            Some(hit) => Examination::Document(KnownHit::new(scored, hit)),
        })
    }

    fn keep(&mut self, _: &mut KnownHit<'a>) -> Result<()> {
        Ok(())
    }
}

/// A document that a shard has compared.
pub struct KnownHit<'a> {
    scored: Scored,
    hit: &'a ShardHit,
    adds: Option<u32>,
}

impl<'a> KnownHit<'a> {
    pub fn new(scored: Scored, hit: &'a ShardHit) -> KnownHit<'a> {
        KnownHit { scored, hit, adds: None }
    }

    fn into_hit(self, query: &Query) -> Option<Hit> {
        let mut hit = self.hit.hit.clone()?;
        hit.adds = self.adds;
        // A trace needs passages even if they are not shown.
        if !query.shows_passages() {
            (hit.passages, hit.passages_complete) = (None, None);
        }
        Some(hit)
    }

    /// Returns the distinct fingerprints of the document.
    fn keys(&self) -> Result<Vec<u64>> {
        let signature = self.hit.signature.as_ref();
        let fingerprints = signature.map_or(&[][..], |signature| &signature.fingerprints);
        let key = |(key, _): &(String, u32)| {
            key.parse().map_err(|_| Error::argument("hits", format!("`{key}` is no key")))
        };
        fingerprints.iter().map(key).collect()
    }
}

impl ListedDocument for KnownHit<'_> {
    fn passages(&self) -> Option<PassageCounts> {
        self.hit.passages
    }

    fn is_without_passages(&self) -> bool {
        false
    }

    fn passage_tokens(&self) -> u32 {
        self.hit.passages.map_or(0, |passages| passages.tokens)
    }

    fn passage_bytes(&self) -> usize {
        0
    }

    fn leave_out_passages(&mut self) {
        unreachable!("a search over shards does not bound the memory of passages");
    }
}

impl TracedDocument for KnownHit<'_> {
    fn id(&self) -> &str {
        &self.scored.id
    }

    fn found(&self) -> &[Passage] {
        self.hit.hit.as_ref().and_then(|hit| hit.passages.as_deref()).unwrap_or_default()
    }

    fn is_complete(&self) -> bool {
        self.hit.passages.is_none_or(|passages| passages.complete)
    }

    fn set_adds(&mut self, adds: u32) {
        self.adds = Some(adds);
    }
}

/// Makes the hits of the documents to show.
///
/// # Errors
/// When the answers do not belong together.
pub fn hits_of(
    query: &Query,
    answers: &ShardAnswers,
    shown: Vec<KnownHit<'_>>,
) -> Result<Vec<Hit>> {
    match query.shows_weights() {
        true => weighed_hits(query, answers, shown),
        false => Ok(shown.into_iter().filter_map(|known| known.into_hit(query)).collect()),
    }
}

/// Returns the fingerprints of these documents as a single signature, if their frequencies are
/// needed to show measures by weight and are not known yet.
///
/// # Errors
/// When a document has no signature.
pub fn missing_weights(
    query: &Query,
    answers: &ShardAnswers,
    shown: &[KnownHit<'_>],
) -> Result<Option<SignatureBody>> {
    let are_missing = query.shows_weights() && answers.weights.is_none() && !shown.is_empty();
    are_missing.then(|| all_fingerprints(shown)).transpose()
}

/// Returns the distinct fingerprints of these documents, ascending.
fn distinct_keys_of(shown: &[KnownHit<'_>]) -> Result<Vec<u64>> {
    let each = shown.iter().map(KnownHit::keys).collect::<Result<Vec<_>>>()?;
    let mut keys = each.concat();
    keys.sort_unstable();
    keys.dedup();
    Ok(keys)
}

/// Returns the fingerprints of these documents as a single signature.
fn all_fingerprints(shown: &[KnownHit<'_>]) -> Result<SignatureBody> {
    let keys = distinct_keys_of(shown)?;
    let Some(first) = shown.iter().find_map(|known| known.hit.signature.clone()) else {
        return Err(Error::argument("hits", "the hits have no signatures to weigh"));
    };
    let tokens = keys.len() as u32;
    let fingerprints = keys.iter().map(u64::to_string).zip(0..).collect();
    Ok(SignatureBody { tokens, fingerprints, ..first })
}

/// Makes hits of weighed documents, from the frequencies of their fingerprints over every shard.
fn weighed_hits(
    query: &Query,
    answers: &ShardAnswers,
    shown: Vec<KnownHit<'_>>,
) -> Result<Vec<Hit>> {
    let keys = distinct_keys_of(&shown)?;
    let weights = match &answers.weights {
        Some(weights) => {
            let live = added_up(weights, 0, true);
            Weigh::among(answers.frequencies.documents).weights(&live)
        }
        None => Vec::new(),
    };
    if weights.len() != keys.len() {
        let what = "the frequencies are not those of the fingerprints of the hits";
        return Err(Error::argument("weights", what));
    }
    let mut hits = Vec::with_capacity(shown.len());
    for known in shown {
        let mut in_document = 0;
        for key in known.keys()? {
            in_document += keys.binary_search(&key).map_or(0, |place| weights[place]);
        }
        let weighted = known.scored.weighted.map(|of| WeightedOverlap { in_document, ..of });
        let weighted = weighted.map(WeightedOverlap::measures);
        hits.extend(known.into_hit(query).map(|hit| Hit { weighted, ..hit }));
    }
    Ok(hits)
}
