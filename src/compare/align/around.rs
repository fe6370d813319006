//! Which passages surround another, and is it all that they are?

use std::ops::Range;

use super::Aligned;
use super::chain::CoveredRanges;
use super::copied::Copied;
use crate::error::Result;
use crate::runtime::Steps;

/// Of the words that the sides of a rewritten passage have in common, a copied run in it has less
/// than this share: otherwise the rest is unlike, and the passage is that copy within other text.
const COPY_SHARE: f64 = 0.85;

/// A copied passage has at least this many matched words in a row if it is a run within other text.
/// With fewer it may be the rest of a shuffled sentence, still in order, whose other words are part
/// of the passage: without this bound shuffled passages of PAN 2013 lose .001 of plagdet.
const RUN_TOKENS_MIN: usize = 20;

/// Returns, for each of these rewritten passages, whether a copied run in it is all that its sides
/// have in common, but for words that any two texts have.
pub fn copies(
    rewritten: &[Aligned],
    copied: &[Copied],
    steps: &mut Steps<'_>,
) -> Result<Vec<bool>> {
    let around = Around::new(rewritten);
    let mut is_copy = vec![false; rewritten.len()];
    let is_run = |copied: &&Copied| copied.matched.iter().any(|run| run.len() >= RUN_TOKENS_MIN);
    for Copied { query, hit, matched, .. } in copied.iter().filter(is_run) {
        let part = Aligned {
            query: query.clone(),
            hit: hit.clone(),
            similarity: 1.0,
            matched: matched.clone(),
        };
        around.each(&part, steps, &mut |at| {
            let Aligned { query, hit, similarity, .. } = &rewritten[at];
            let common = similarity * (query.len() + hit.len()) as f64 / 2.0;
            is_copy[at] |= part.matched_tokens() as f64 >= COPY_SHARE * common;
            true
        })?;
    }
    Ok(is_copy)
}

/// Passages, searched for those that surround another.
pub struct Around<'a> {
    passages: &'a [Aligned],
    /// Their places, by where they begin in the query.
    order: Vec<u32>,
    /// The longest.
    len_max: usize,
    /// The parts of the query that are in any of them.
    covered: CoveredRanges,
}

impl<'a> Around<'a> {
    /// Prepares these passages.
    pub fn new(passages: &'a [Aligned]) -> Around<'a> {
        let mut order: Vec<u32> = (0..passages.len() as u32).collect();
        order.sort_unstable_by_key(|&at| passages[at as usize].query.start);
        let mut covered = CoveredRanges::default();
        passages.iter().for_each(|passage| covered.insert(passage.query.clone()));
        let len_max = passages.iter().map(|passage| passage.query.len()).max().unwrap_or(0);
        Around { passages, order, len_max, covered }
    }

    /// Splits `passages` into those outside all of these, and those inside one.
    pub fn parted(
        &self,
        passages: Vec<Aligned>,
        steps: &mut Steps<'_>,
    ) -> Result<(Vec<Aligned>, Vec<Aligned>)> {
        let (mut outside, mut inside) = (Vec::new(), Vec::new());
        for passage in passages {
            let part = if self.holds(&passage, steps)? { &mut inside } else { &mut outside };
            part.push(passage);
        }
        Ok((outside, inside))
    }

    /// Returns whether most of `part` is in one of them, on both sides.
    pub fn holds(&self, part: &Aligned, steps: &mut Steps<'_>) -> Result<bool> {
        let mut is_held = false;
        self.each(part, steps, &mut |_| {
            is_held = true;
            false
        })?;
        Ok(is_held)
    }

    /// Calls `each` with the number of every passage that holds most of `part`, on both sides, for
    /// as long as it returns `true` and the steps suffice.
    fn each(
        &self,
        part: &Aligned,
        steps: &mut Steps<'_>,
        each: &mut dyn FnMut(usize) -> bool,
    ) -> Result<()> {
        // Few are near one at all, and only those are compared with each.
        if self.covered.covered(&part.query) * 2 <= part.query.len() {
            return Ok(());
        }
        let start = |at: &u32| self.passages[*at as usize].query.start;
        let first = self.order.partition_point(|at| start(at) + self.len_max < part.query.start);
        for &at in self.order[first..].iter().take_while(|at| start(at) < part.query.end) {
            if !steps.take(1)? {
                return Ok(());
            }
            if self.passages[at as usize].holds(part) && !each(at as usize) {
                return Ok(());
            }
        }
        Ok(())
    }
}

impl Aligned {
    /// Returns whether most of `other` is in this passage, on both sides.
    fn holds(&self, other: &Aligned) -> bool {
        shared(&self.query, &other.query) * 2 > other.query.len()
            && shared(&self.hit, &other.hit) * 2 > other.hit.len()
    }
}

/// Returns the number of places that two ranges share.
fn shared(a: &Range<usize>, b: &Range<usize>) -> usize {
    a.end.min(b.end).saturating_sub(a.start.max(b.start))
}

#[cfg(test)]
mod tests {
    use super::super::{Genre, align};
    use crate::hash::mix64;
    use crate::runtime::Stop;
    use crate::text::{Analyzed, Analyzer};

    fn words(seed: u64, count: usize) -> String {
        let word = |at| format!("{:05x}", mix64(seed << 32 | at) >> 44);
        (0..count as u64).map(word).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_run_copied_into_a_sentence_of_other_words_is_that_run_alone() {
        // The sentences around a run of 31 to 38 words were a rewritten passage: they have that
        // many words of 40 to 60 in common.
        for (len, around) in (31..=38).flat_map(|len| [3, 6, 9].map(|around| (len, around))) {
            let text = |seed: u64| {
                let own = |at: u64| words(seed << 8 | at, around);
                let run = words(len as u64, len);
                let text = format!("{}. {} {run} {}. {}.", own(1), own(2), own(3), own(4));
                Analyzed::new(text, &Analyzer::default(), Stop::NEVER).unwrap()
            };
            let [query, document] = [text(71), text(72)];
            let found = align(query.side(), document.side(), Genre::Prose, Stop::NEVER).unwrap();
            let places: Vec<_> = found
                .passages
                .iter()
                .map(|found| (found.query.clone(), found.hit.clone()))
                .collect();
            let run = 2 * around..2 * around + len;
            assert_eq!(places, [(run.clone(), run)], "{len} within {around}");
        }
    }
}
