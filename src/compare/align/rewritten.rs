//! Passages that were rewritten, with hardly two words in a row left.
//!
//! Pairs of alike sentences with few sentences between them, in both texts, are clustered; a
//! cluster whose two sides are not alike as wholes is tried again with smaller gaps. The method and
//! its thresholds are those of Sanchez-Perez, Sidorov and Gelbukh, "A winning approach to text
//! alignment for text reuse detection at PAN 2014", section 2.3.

use std::ops::Range;

use super::alike::{Seeds, extent};
use super::groups::{Seed, groups};
use super::sums::{Bags, SUM_STEPS_A_WORD};
use super::{Candidate, Side};
use crate::error::Result;
use crate::runtime::Steps;

/// The minimum cosine of the two sides of a passage.
const PASSAGE_COSINE_MIN: f64 = 0.34;
/// The maximum number of sentences between two seeds.
const GAP_SENTENCES_MAX: usize = 4;
/// The maximum ratio of the lengths of a passage and its rewritten form.
const LENGTHS_RATIO_MAX: usize = 4;
/// A passage with a shorter side is chance.
const PASSAGE_BYTES_MIN: usize = 150;
/// Two less similar places have like content at most.
const SIMILARITY_MIN: f64 = 0.3;
/// A single pair of sentences is chance, unless it is at least this similar.
const SIMILARITY_OF_ONE_MIN: f64 = 0.6;

/// Returns the passages that may have been rewritten, those with the most seeds first.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn passages(
    (query, document): (Side<'_>, Side<'_>),
    bags: &mut Bags<'_>,
    seeds: Seeds,
    steps: &mut Steps<'_>,
) -> Result<Vec<Candidate>> {
    let mut clusters = |seeds: Vec<Seed>, steps: &mut Steps<'_>| -> Result<Vec<Vec<Seed>>> {
        let mut found = Vec::new();
        cluster(seeds, GAP_SENTENCES_MAX, bags, &mut found, steps)?;
        found.sort_by_key(|seeds| std::cmp::Reverse(seeds.len()));
        Ok(found)
    };
    let best = (0u32..).zip(&seeds.best[0]).filter_map(|(at, best)| Some((at, best.as_ref()?.0)));
    let best = best.collect();
    let mut found = clusters(seeds.all, steps)?;
    // Where sentences are like many others the clusters are as long as the text; the clusters of
    // the most similar sentences come after them.
    let best = clusters(best, steps)?.into_iter();
    found.extend(best.filter(|seeds| seeds.len() > 1));
    let candidates = found.into_iter().map(|seeds| {
        let (a, b) = extent(&seeds);
        let similarity_min = if seeds.len() == 1 { SIMILARITY_OF_ONE_MIN } else { SIMILARITY_MIN };
        Candidate { query: bags.texts.q.tokens(&a), hit: bags.texts.d.tokens(&b), similarity_min }
    });
    let is_passage = |Candidate { query: a, hit: b, .. }: &Candidate| {
        let (long, short) = (a.len().max(b.len()), a.len().min(b.len()));
        long <= short * LENGTHS_RATIO_MAX
            && query.bytes(a).min(document.bytes(b)) >= PASSAGE_BYTES_MIN
    };
    Ok(candidates.filter(is_passage).collect())
}

impl Side<'_> {
    /// Returns the bytes from the first of these tokens to the last.
    fn bytes(&self, tokens: &Range<usize>) -> usize {
        let spans = &self.tokens.spans[tokens.clone()];
        spans.last().map_or(0, |last| (last.end - spans[0].start) as usize)
    }
}

/// Returns whether the two sides of a passage are alike as wholes; `None` if that takes too many
/// steps.
fn are_alike(bags: &mut Bags<'_>, seeds: &[Seed], steps: &mut Steps<'_>) -> Result<Option<bool>> {
    let (a, b) = extent(seeds);
    if !steps.take((seeds.len() + bags.words(&a, &b) * SUM_STEPS_A_WORD) as u64)? {
        return Ok(None);
    }
    let [a, b] = bags.of(&a, &b);
    Ok(Some(a.are_alike(b, PASSAGE_COSINE_MIN)))
}

/// Appends the clusters of `seeds` that are alike, with gaps of at most `gap_max` sentences, until
/// the steps are used up.
fn cluster(
    seeds: Vec<Seed>,
    gap_max: usize,
    bags: &mut Bags<'_>,
    found: &mut Vec<Vec<Seed>>,
    steps: &mut Steps<'_>,
) -> Result<()> {
    for group in groups(seeds, gap_max, steps)? {
        match are_alike(bags, &group, steps)? {
            None => break,
            Some(true) => found.push(group),
            Some(false) if gap_max > 0 && group.len() > 1 => {
                cluster(group, gap_max - 1, bags, found, steps)?;
            }
            Some(false) => {}
        }
    }
    Ok(())
}
