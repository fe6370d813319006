//! Decides what to request from the shards next for a trace, or makes the answer.
//!
//! As for hits, a call traces the text from the beginning, with the function for a single index.
//! Until every necessary answer is known, the function collects requests.

use cento_api::{Answer, PresetDefaults, QueryTokens, ShardAnswers, ShardStep, Trace};

use super::super::containing::first_of;
use super::super::query::{Query, Subject};
use super::super::trace::{TracedDocuments, TracedText, Tracing, without_text};
use super::answer::answer;
use super::known_hits::{hits_of, missing_weights};
use super::named_candidates::{check_one_state, named_candidates};
use super::query_tokens::of_numbers;
use super::shard_archive::ShardArchive;
use crate::error::{Error, Result};

/// The maximum number of candidates that a shard returns for a trace. There is no limit, because
/// any candidate may be the only document with a part of the text.
pub const TRACE_CANDIDATES: usize = u32::MAX as usize;

/// Returns what to request from the shards next for a trace, or the answer.
///
/// # Errors
/// When the answers do not belong together, or to the text of the query.
pub fn trace_step(
    query: &Query,
    defaults: Option<PresetDefaults>,
    answers: &ShardAnswers,
) -> Result<ShardStep> {
    check_one_state(answers)?;
    if answers.candidates.iter().any(|shard| (shard.candidates.len() as u64) < shard.met) {
        let what = "a trace needs every candidate of a shard, and some are missing";
        return Err(Error::argument("candidates", what));
    }
    let (text, archive) = traced(query, answers)?;
    let hits = named_candidates(query, answers.frequencies.dfs.len(), &answers.candidates)?;
    let mut tracing = Tracing::new(query, &text, archive, hits);
    let Some(found) = tracing.find()? else {
        return Ok(ShardStep::Spans(tracing.archive.wanted()));
    };
    let TracedDocuments { trace, shown, extent } = found;
    if let Some(fingerprints) = missing_weights(query, answers, &shown)? {
        return Ok(ShardStep::Weights(fingerprints));
    }
    // Whether documents are counted depends on the query and the settings of the shards alone.
    let counted = answers.candidates.iter().map(|shard| shard.containing.clone());
    let containing = counted.collect::<Option<Vec<_>>>().map(first_of);
    let answer = answer(answers, defaults, hits_of(query, answers, shown)?, extent)?;
    let trace = Some(Trace { containing, ..trace });
    Ok(ShardStep::Answer(Box::new(Answer { trace, ..answer })))
}

/// Reads the query, and what the shards have answered.
fn traced<'a>(query: &Query, answers: &'a ShardAnswers) -> Result<(TracedText, ShardArchive<'a>)> {
    let Subject::Text(text) = &query.subject else { return Err(without_text()) };
    let missing = || Error::argument("candidates", "the shards have not named the query's tokens");
    let first = answers.candidates.first().ok_or_else(missing)?;
    let QueryTokens { signed, words, fingerprints, is_program } =
        first.tokens.as_ref().ok_or_else(missing)?;
    let signed = of_numbers(signed, text)?;
    let words = words.as_ref().map(|words| of_numbers(words, text)).transpose()?;
    let distinct = answers.frequencies.dfs.len();
    if fingerprints.iter().any(|&(_, place)| place as usize >= distinct) {
        let what = format!("the query has only {distinct} distinct fingerprints");
        return Err(Error::argument("candidates", what));
    }
    let text = TracedText::new(
        (text.clone(), query.parts.clone()),
        &signed,
        &first.query.boilerplate,
        *is_program,
        (fingerprints.iter().copied(), distinct),
    );
    Ok((text, ShardArchive::new(query, answers, signed, words)?))
}
