//! The candidates that the shards have named, as scored documents.

use std::collections::HashSet;

use cento_api::{ShardAnswers, ShardCandidates};

use super::super::query::Query;
use super::super::score::Scored;
use crate::error::{Error, Result};
use crate::index::DocAddress;
use crate::reason::ConflictKind;

/// Refuses answers from different commits, or to different queries.
///
/// # Errors
/// [`Error::Conflict`](crate::Error::Conflict) if the search must begin again.
pub fn check_one_state(answers: &ShardAnswers) -> Result<()> {
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
    let is_other = |pair: &[ShardCandidates]| {
        let [one, other] = [&pair[0], &pair[1]];
        one.query != other.query || one.weight != other.weight || one.tokens != other.tokens
    };
    if answers.candidates.windows(2).any(is_other) {
        let what = "the shards have answered different queries";
        return Err(Error::argument("candidates", what));
    }
    Ok(())
}

/// Returns the candidates of all shards. An address is the place of the shard and the place in its
/// answer. The shards looked up `in_query` fingerprints.
///
/// # Errors
/// When two shards have a document with the same id.
pub fn named_candidates(
    query: &Query,
    in_query: usize,
    shards: &[ShardCandidates],
) -> Result<Vec<Scored>> {
    let mut all = Vec::new();
    for (segment, shard) in (0u32..).zip(shards) {
        for (doc, candidate) in (0u32..).zip(&shard.candidates) {
            let address = DocAddress { segment, doc };
            let scored = Scored::of_candidate(candidate, address, in_query as u32);
            all.push(match query.is_weighed() {
                true => scored.weighed(candidate.weight, shard.weight, query.ranked_by()),
                false => scored,
            });
        }
    }
    let mut ids = HashSet::new();
    if let Some(twice) = all.iter().find(|scored| !ids.insert(&scored.id)) {
        let what =
            format!("two shards have the document `{}`; give each id to one shard alone", twice.id);
        return Err(Error::argument("candidates", what));
    }
    Ok(all)
}
