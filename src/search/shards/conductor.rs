//! Decides what to request from the shards next, or makes the answer.
//!
//! Each call processes the answers so far from the beginning, with the functions that search a
//! single index: candidates are ordered like scored documents and examined like texts, until a
//! document is needed that no shard has compared yet.

use cento_api::{Goal, PresetDefaults, ShardAnswers, ShardCandidate, ShardCandidates, ShardStep};

use super::super::examine::{ExaminedHits, examine};
use super::super::patience::Patience;
use super::super::pruning::Pruning;
use super::super::query::Query;
use super::super::score::Scored;
use super::super::ties;
use super::answer::answer;
use super::known_hits::{KnownHit, KnownHits, hits_of, missing_weights};
use super::named_candidates::{check_one_state, named_candidates};
use super::refusal::check;
use super::trace_step::{TRACE_CANDIDATES, trace_step};
use crate::error::Result;
use crate::index::DocAddress;

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
    if query.options.goal == Goal::Trace {
        return match answers.candidates.is_empty() {
            true => Ok(ShardStep::Candidates(TRACE_CANDIDATES)),
            false => trace_step(query, defaults, answers),
        };
    }
    let pruning = Pruning::of(query, false);
    if answers.candidates.is_empty() {
        let is_bounded = pruning.hits < usize::MAX;
        return Ok(ShardStep::Candidates(if is_bounded { pruning.hits } else { CANDIDATES_FIRST }));
    }
    check_one_state(answers)?;
    let ranking = Ranking::of(query, answers, pruning.hits)?;
    let mut known = KnownHits::of(&answers.hits);
    let examined = examine(query, ranking.chosen.clone(), &mut known)?;
    if examined.is_unknown {
        return Ok(ShardStep::Spans(ranking.next(query, &known, &answers.candidates)));
    }
    if ranking.is_cut && !examined.is_cut {
        let so_far = answers.candidates.iter().map(|of| of.candidates.len()).max().unwrap_or(0);
        return Ok(ShardStep::Candidates(so_far.max(1).saturating_mul(CANDIDATES_GROWTH)));
    }
    if let Some(fingerprints) = missing_weights(query, answers, &examined.shown)? {
        return Ok(ShardStep::Weights(fingerprints));
    }
    answer_step(query, pruning, defaults, answers, ranking, examined)
}

/// Makes the answer from the documents to show.
fn answer_step(
    query: &Query,
    pruning: Pruning,
    defaults: Option<PresetDefaults>,
    answers: &ShardAnswers,
    ranking: Ranking,
    examined: ExaminedHits<KnownHit<'_>>,
) -> Result<ShardStep> {
    let met = ranking.met;
    let kept_max = answers.candidates.iter().filter_map(|of| of.kept_max).min();
    let is_pruned = kept_max.is_some_and(|kept_max| met as u64 >= kept_max);
    let extent = examined.extent(pruning, met.min(pruning.hits), met, is_pruned);
    let hits = hits_of(query, answers, examined.shown)?;
    Ok(ShardStep::Answer(Box::new(answer(answers, defaults, hits, extent)?)))
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
    fn of(query: &Query, answers: &ShardAnswers, limit: usize) -> Result<Ranking> {
        let shards = &answers.candidates;
        let mut all = named_candidates(query, answers.frequencies.dfs.len(), shards)?;
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
