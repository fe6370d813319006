//! Decides what to request from the shards next, or makes the answer.
//!
//! Each call processes the answers so far from the beginning, with the functions that search a
//! single index: candidates are ordered like scored documents and examined like texts, until a
//! document is needed that no shard has compared yet.

use std::collections::{HashMap, HashSet};

use cento_api::http::SignatureBody;
use cento_api::{
    Answer, Hit, PassageCounts, PresetDefaults, ShardAnswers, ShardCandidate, ShardCandidates,
    ShardHit, ShardStep,
};

use super::super::examine::{Examination, Examine, ExaminedHits, examine};
use super::super::frequencies::added_up;
use super::super::hit_details::ListedDocument;
use super::super::patience::Patience;
use super::super::pruning::Pruning;
use super::super::query::Query;
use super::super::score::Scored;
use super::super::ties;
use super::super::weigh::{Weigh, WeightedOverlap};
use super::refusal::check;
use crate::error::{Error, Result};
use crate::index::DocAddress;
use crate::reason::ConflictKind;

/// The number of candidates that each shard returns at first, if any document may be needed.
const CANDIDATES_FIRST: usize = 1000;

/// The growth factor of the number of candidates when there were too few.
const CANDIDATES_GROWTH: usize = 8;

/// Returns what to request from the shards next for `query`, or the answer, which equals the answer
/// of a single index with the documents of every shard.
///
/// # Errors
/// When the answers belong to different queries or to different commits of a shard, or when two
/// shards have a document with the same id.
pub fn next_step(query: &Query, answers: &ShardAnswers) -> Result<ShardStep> {
    check(query)?;
    let (query, defaults) = query.with_defaults(answers.frequencies.preset);
    let query = &*query;
    let pruning = Pruning::of(query, false);
    if answers.candidates.is_empty() {
        let is_bounded = pruning.hits < usize::MAX;
        return Ok(ShardStep::Candidates(if is_bounded { pruning.hits } else { CANDIDATES_FIRST }));
    }
    check_one_state(answers)?;
    let ranking = Ranking::of(query, &answers.candidates, pruning.hits)?;
    let mut known = KnownHits::of(&answers.hits);
    let examined = examine(query, ranking.chosen.clone(), &mut known)?;
    if examined.is_unknown {
        return Ok(ShardStep::Spans(ranking.next(query, &known, &answers.candidates)));
    }
    if ranking.is_cut && !examined.is_cut {
        let so_far = answers.candidates.iter().map(|of| of.candidates.len()).max().unwrap_or(0);
        return Ok(ShardStep::Candidates(so_far.max(1).saturating_mul(CANDIDATES_GROWTH)));
    }
    if query.is_weighed() && answers.weights.is_none() && !examined.shown.is_empty() {
        return Ok(ShardStep::Weights(all_fingerprints(&examined.shown)?));
    }
    let answer = answer(query, pruning, defaults, answers, ranking, examined)?;
    Ok(ShardStep::Answer(Box::new(answer)))
}

/// Makes the answer from the documents to show.
fn answer(
    query: &Query,
    pruning: Pruning,
    defaults: Option<PresetDefaults>,
    answers: &ShardAnswers,
    ranking: Ranking,
    examined: ExaminedHits<KnownHit<'_>>,
) -> Result<Answer> {
    let met = ranking.met;
    let kept_max = answers.candidates.iter().filter_map(|of| of.kept_max).min();
    let is_pruned = kept_max.is_some_and(|kept_max| met as u64 >= kept_max);
    let extent = examined.extent(pruning, met.min(pruning.hits), met, is_pruned);
    let hits = match query.is_weighed() {
        true => weighed_hits(answers, examined.shown)?,
        false => examined.shown.into_iter().filter_map(KnownHit::hit).collect(),
    };
    let first = answers.candidates.first().map(|of| of.query.clone());
    Ok(Answer {
        query: first.ok_or_else(|| Error::argument("candidates", "there is no shard"))?,
        trace: None,
        hits,
        candidates: None,
        more: extent.more,
        total: extent.total.map(|total| total as u64),
        complete: true,
        defaults,
        took_us: 0,
    })
}

/// Refuses answers from different commits.
fn check_one_state(answers: &ShardAnswers) -> Result<()> {
    let mut commits: Vec<&String> = answers.candidates.iter().map(|of| &of.commit).collect();
    commits.sort_unstable();
    let own = answers.frequencies.commits.iter();
    let of_weights =
        answers.weights.as_ref().map_or(&answers.frequencies.commits, |of| &of.commits);
    if !own.clone().eq(commits) || !own.eq(of_weights) {
        let what = "the answers of the shards are of different commits, or one is missing; begin \
                    again with the frequencies";
        return Err(Error::conflict(ConflictKind::Commit, what));
    }
    let mut queries = answers.candidates.windows(2);
    if queries.any(|pair| pair[0].query != pair[1].query || pair[0].weight != pair[1].weight) {
        let what = "the shards have answered different queries";
        return Err(Error::argument("candidates", what));
    }
    Ok(())
}

/// The candidates of every shard in the order of hits.
struct Ranking {
    /// The best candidates, as far as their order is certain. An address is the place of the shard
    /// and the place in its answer.
    chosen: Vec<Scored>,
    /// Whether more candidates may be needed than the shards have returned.
    is_cut: bool,
    /// The number of documents that meet the thresholds.
    met: usize,
}

impl Ranking {
    fn of(query: &Query, shards: &[ShardCandidates], limit: usize) -> Result<Ranking> {
        let mut all = Vec::new();
        for (segment, shard) in (0u32..).zip(shards) {
            let in_query = shard.query.fingerprints;
            for (doc, candidate) in (0u32..).zip(&shard.candidates) {
                let address = DocAddress { segment, doc };
                let scored = Scored::of_candidate(candidate, address, in_query);
                all.push(match query.is_weighed() {
                    true => scored.weighed(candidate.weight, shard.weight, query.ranked_by()),
                    false => scored,
                });
            }
        }
        let mut ids = HashSet::new();
        if let Some(twice) = all.iter().find(|scored| !ids.insert(&scored.id)) {
            let what = format!(
                "two shards have the document `{}`; give each id to one shard alone",
                twice.id
            );
            return Err(Error::argument("candidates", what));
        }
        all.sort_unstable_by(Scored::cmp_rank);
        // Documents that a shard has not returned come after its last returned candidate.
        let is_cut =
            |shard: &ShardCandidates| (shard.candidates.len() as u64) < shard.met.min(limit as u64);
        let mut certain = all.len();
        for (segment, _) in (0u32..).zip(shards).filter(|(_, shard)| is_cut(shard)) {
            let last = all.iter().rposition(|scored| scored.address.segment == segment);
            certain = certain.min(last.map_or(0, |last| last + 1));
        }
        let is_cut = shards.iter().any(is_cut) && certain < limit;
        all.truncate(certain);
        ties::order(query, &mut all);
        all.sort_unstable_by(Scored::cmp_rank);
        all.truncate(limit);
        let met = shards.iter().map(|shard| shard.met as usize).sum();
        Ok(Ranking { chosen: all, is_cut, met })
    }

    /// Returns the documents to compare next, by shard.
    fn next(
        &self,
        query: &Query,
        known: &KnownHits<'_>,
        shards: &[ShardCandidates],
    ) -> Vec<Vec<ShardCandidate>> {
        // If texts decide how many documents are examined, request as many as were compared so far.
        let some = match Patience::of(query).ends_early() || query.checks_texts() {
            true => known.by_id.len().max(Query::PATIENCE + 2),
            false => self.chosen.len(),
        };
        let unknown = self.chosen.iter().filter(|scored| !known.by_id.contains_key(&*scored.id));
        let mut next = vec![Vec::new(); shards.len()];
        for scored in unknown.take(some) {
            let DocAddress { segment, doc } = scored.address;
            let candidates = &shards[segment as usize].candidates;
            next[segment as usize].push(candidates[doc as usize].clone());
        }
        next
    }
}

/// The documents that the shards have compared.
struct KnownHits<'a> {
    by_id: HashMap<&'a str, &'a ShardHit>,
}

impl<'a> KnownHits<'a> {
    fn of(hits: &'a [ShardHit]) -> KnownHits<'a> {
        KnownHits { by_id: hits.iter().map(|hit| (&*hit.id, hit)).collect() }
    }
}

impl<'a> Examine for KnownHits<'a> {
    type Document = KnownHit<'a>;

    fn examine(&mut self, scored: Scored) -> Result<Examination<KnownHit<'a>>> {
        Ok(match self.by_id.get(&*scored.id) {
            None => Examination::Unknown,
            Some(hit) if hit.hit.is_none() => Examination::Dropped,
            Some(hit) => Examination::Document(KnownHit { scored, hit }),
        })
    }

    fn keep(&mut self, _: &mut KnownHit<'a>) -> Result<()> {
        Ok(())
    }
}

/// A document that a shard has compared.
struct KnownHit<'a> {
    scored: Scored,
    hit: &'a ShardHit,
}

impl KnownHit<'_> {
    fn hit(self) -> Option<Hit> {
        self.hit.hit.clone()
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
fn weighed_hits(answers: &ShardAnswers, shown: Vec<KnownHit<'_>>) -> Result<Vec<Hit>> {
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
        hits.extend(known.hit().map(|hit| Hit { weighted, ..hit }));
    }
    Ok(hits)
}
