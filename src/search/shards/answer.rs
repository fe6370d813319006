//! The answer of all shards.

use cento_api::{Answer, Hit, PresetDefaults, ShardAnswers};

use super::super::extent::Extent;
use crate::error::{Error, Result};

/// Makes the answer with these hits.
///
/// # Errors
/// When no shard has answered.
pub fn answer(
    answers: &ShardAnswers,
    defaults: Option<PresetDefaults>,
    hits: Vec<Hit>,
    extent: Extent,
) -> Result<Answer> {
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
