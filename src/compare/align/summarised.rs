//! Passages that sum up a longer one.
//!
//! Each sentence of a summary represents the sentence of the other text that is most like it. These
//! sentences are clustered with small gaps in the summary and wide ones in the other text; the
//! other side is much longer, and contains most of the words of the summary. Sanchez-Perez, Gelbukh
//! and Sidorov, "Adaptive algorithm for plagiarism detection: the best-performing approach at PAN
//! 2014 text alignment competition" (CLEF 2015), also recognise a summary by one side being three
//! times as long as the other, and widen its gaps. Here gaps are wide in the longer side only, and
//! a sentence that is like two counts for one of them: a rewritten sentence that is also a little
//! like a distant one remains a rewritten one.

use std::ops::Range;

use super::Candidate;
use super::alike::{COSINE_MIN, Seeds, extent};
use super::groups::{Seed, groups_within};
use super::sentences::Sentences;
use super::sums::{Bags, SUM_STEPS_A_WORD, Sums};
use super::vocabulary::Vocabulary;
use crate::error::Result;
use crate::runtime::Steps;

/// The minimum ratio of the lengths of the two sides.
const LENGTHS_RATIO_MIN: usize = 3;
/// A shorter summary is chance.
const SUMMARY_TOKENS_MIN: usize = 30;
/// The maximum number of sentences between two seeds, in the summary and in the text that it sums
/// up.
const GAPS_SENTENCES_MAX: [usize; 2] = [4, 40];
/// The number of sentences of the longer side that resemble a sentence of the summary, on average.
const SEEDS_A_SENTENCE_MAX: usize = 2;
/// The minimum share of the weight of the summary's words that the longer side has.
const CONTAINMENT_MIN: f64 = 2.0 / 3.0;

/// Returns the summaries in either text of places of the other.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn passages(
    bags: &mut Bags<'_>,
    seeds: &Seeds,
    steps: &mut Steps<'_>,
) -> Result<Vec<Candidate>> {
    let [of_query, of_document] = &seeds.best;
    let mut found = Vec::new();
    let mut in_query = Summaries { bags, is_query: true };
    for (summary, long) in in_query.find(of_query, &seeds.all, steps)? {
        found.push(Candidate { query: summary, hit: long, similarity_min: 0.0 });
    }
    if !steps.take(sort_steps(seeds.all.len()))? {
        return Ok(found);
    }
    let mut swapped: Vec<Seed> = seeds.all.iter().map(|&(a, b)| (b, a)).collect();
    swapped.sort_unstable();
    let mut in_document = Summaries { bags, is_query: false };
    for (summary, long) in in_document.find(of_document, &swapped, steps)? {
        found.push(Candidate { query: long, hit: summary, similarity_min: 0.0 });
    }
    Ok(found)
}

fn sort_steps(count: usize) -> u64 {
    count as u64 * u64::from(count.max(1).ilog2() + 1)
}

/// Summaries in one text of places of another.
struct Summaries<'a, 'b> {
    bags: &'a mut Bags<'b>,
    /// Whether the summaries are in the query.
    is_query: bool,
}

impl Summaries<'_, '_> {
    /// Returns the text with the summaries, and the other.
    fn sentences(&self) -> (&Sentences, &Sentences) {
        let Vocabulary { q, d, .. } = self.bags.texts;
        if self.is_query { (q, d) } else { (d, q) }
    }

    /// Returns the tokens of each summary, and of the text that it sums up. `seeds` are in the
    /// order of the text with the summaries; `best` has, for each sentence of that text, the one
    /// that is most like it.
    fn find(
        &mut self,
        best: &[Option<(u32, f64)>],
        seeds: &[Seed],
        steps: &mut Steps<'_>,
    ) -> Result<Vec<(Range<usize>, Range<usize>)>> {
        let best = (0u32..).zip(best).filter_map(|(at, best)| Some((at, best.as_ref()?.0)));
        let mut found = Vec::new();
        for group in groups_within(best.collect(), GAPS_SENTENCES_MAX, steps)? {
            let (short, long) = extent(&group);
            match self.is_summary(&short, &long, steps)? {
                None => break,
                Some(false) => {}
                Some(true) => {
                    let Some(long) = widened(&short, long, group.len(), seeds, steps)? else {
                        break;
                    };
                    if !long.is_empty() {
                        let (of_short, of_long) = self.sentences();
                        found.push((of_short.tokens(&short), of_long.tokens(&long)));
                    }
                }
            }
        }
        Ok(found)
    }

    /// Returns whether these sentences sum up those; `None` if computing it takes too many steps.
    fn is_summary(
        &mut self,
        short: &Range<usize>,
        long: &Range<usize>,
        steps: &mut Steps<'_>,
    ) -> Result<Option<bool>> {
        let (of_short, of_long) = self.sentences();
        let tokens = of_short.tokens(short).len();
        let is_long = of_long.tokens(long).len() >= LENGTHS_RATIO_MIN * tokens;
        if !is_long || tokens < SUMMARY_TOKENS_MIN {
            return Ok(Some(false));
        }
        let (a, b) = if self.is_query { (short, long) } else { (long, short) };
        if !steps.take((self.bags.words(a, b) * SUM_STEPS_A_WORD) as u64)? {
            return Ok(None);
        }
        let [a, b] = self.bags.of(a, b);
        let (short, long) = if self.is_query { (a, b) } else { (b, a) };
        let is_alike = short.are_alike(long, COSINE_MIN);
        Ok(Some(is_alike && containment(short, long) >= CONTAINMENT_MIN))
    }
}

/// Returns the sentences of a longer side, with those that are like one of the `short`, until there
/// is too wide a gap on either side; `None` if that takes too many steps.
///
/// The range is empty if the `stand_for` sentences of the summary are like many more: where all
/// sentences are alike, likeness is no evidence.
fn widened(
    short: &Range<usize>,
    long: Range<usize>,
    stand_for: usize,
    seeds: &[Seed],
    steps: &mut Steps<'_>,
) -> Result<Option<Range<usize>>> {
    let at = |place: usize| seeds.partition_point(|seed| (seed.0 as usize) < place);
    let seeds = &seeds[at(short.start)..at(short.end)];
    if !steps.take(sort_steps(seeds.len()))? {
        return Ok(None);
    }
    let mut places: Vec<usize> = seeds.iter().map(|seed| seed.1 as usize).collect();
    places.sort_unstable();
    let within = places.iter().filter(|place| long.contains(place)).count();
    if within > stand_for * SEEDS_A_SENTENCE_MAX {
        return Ok(Some(long.start..long.start));
    }
    let distance_max = GAPS_SENTENCES_MAX[1] + 1;
    let (mut start, mut end) = (long.start, long.end);
    for &place in places.iter().rev() {
        if place < start && start - place <= distance_max {
            start = place;
        }
    }
    for &place in &places {
        if place >= end && place - (end - 1) <= distance_max {
            end = place + 1;
        }
    }
    Ok(Some(start..end))
}

/// Returns how much of the weight of the words of `a` those of `b` have too, 0 to 1.
fn containment(a: &Sums, b: &Sums) -> f64 {
    let shared: f64 = a.beside(b).map(|(own, other)| own.min(other)).sum();
    shared / a.weights().sum::<f64>()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::super::{Aligned, Genre, Side, align};
    use crate::hash::mix64;
    use crate::runtime::Stop;
    use crate::text::{Analyzer, Tokens};

    /// A sentence of these words, by their numbers.
    fn sentence(words: impl Iterator<Item = u64>, out: &mut String) {
        words.for_each(|word| write!(out, "w{:x} ", mix64(word) >> 32).unwrap());
        out.push_str(". ");
    }

    /// A text of `count` sentences of twelve words that no other text has.
    fn text(seed: u64, count: u64, out: &mut String) {
        (0..count).for_each(|at| sentence((0..12).map(|i| seed << 32 | at << 8 | i), out));
    }

    /// Sentences that each have ten words of every sixth one of text 1, in another order.
    fn summary(out: &mut String) {
        (0..6).for_each(|at| {
            sentence(
                [5, 0, 7, 2, 9, 4, 11, 6, 1, 8].map(|i| 1 << 32 | (at * 6) << 8 | i).into_iter(),
                out,
            );
        });
    }

    fn aligned(a: &str, b: &str) -> Vec<Aligned> {
        let [a_tokens, b_tokens] = [a, b].map(|text| {
            let mut tokens = Tokens::default();
            Analyzer::default().analyze(text, &mut tokens, Stop::NEVER).unwrap();
            tokens
        });
        let (a, b) = (Side { text: a, tokens: &a_tokens }, Side { text: b, tokens: &b_tokens });
        align(a, b, Genre::Prose, Stop::NEVER).unwrap().passages
    }

    #[test]
    fn a_summary_is_one_passage_of_either_text() {
        let (mut long, mut short) = (String::new(), String::new());
        text(1, 31, &mut long);
        text(2, 10, &mut short);
        summary(&mut short);
        text(4, 10, &mut short);
        let expected = [120..180, 0..372];
        let found = aligned(&short, &long);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!([found[0].query.clone(), found[0].hit.clone()], expected);
        let found = aligned(&long, &short);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!([found[0].hit.clone(), found[0].query.clone()], expected);
    }

    #[test]
    fn a_rewritten_passage_that_is_a_little_like_a_distant_sentence_is_unchanged() {
        let (mut long, mut short) = (String::new(), String::new());
        // Ten sentences with two words in three of their own; the first is a little like one that
        // comes thirty sentences later.
        let rewritten = |at: u64, seed: u64| {
            (0..12).map(move |i| if i % 3 == 2 { seed << 40 | at << 8 | i } else { at << 8 | i })
        };
        (0..10).for_each(|at| sentence(rewritten(at, 5), &mut short));
        (0..10).for_each(|at| sentence(rewritten(at, 6), &mut long));
        text(7, 30, &mut long);
        sentence((0..12).map(|i| if i % 2 == 1 { 8 << 40 | i } else { i }), &mut long);
        let found = aligned(&short, &long);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!([found[0].query.clone(), found[0].hit.clone()], [0..120, 0..120]);
    }

    #[test]
    fn where_all_sentences_are_alike_there_is_no_summary_but_rewritten_text() {
        // Of ten words each, of twenty-five.
        let word = |seed: u64, at: u64, i: u64| mix64(seed << 32 | at << 8 | i) % 25;
        let alike = |seed: u64, at: u64, out: &mut String| {
            sentence((0..10).map(|i| word(seed, at, i)), out);
        };
        let (mut long, mut other, mut rewritten) = (String::new(), String::new(), String::new());
        (0..60).for_each(|at| alike(1, at, &mut long));
        (0..12).for_each(|at| alike(2, at, &mut other));
        let found = aligned(&other, &long);
        assert!(found.iter().all(|found| found.hit.len() < 2 * found.query.len()), "{found:?}");
        // The same sentences in another order, with a word less.
        (20..32).rev().for_each(|at| {
            sentence((1..10).rev().map(|i| word(1, at, i)), &mut rewritten);
        });
        let found = aligned(&rewritten, &long);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!([found[0].query.clone(), found[0].hit.clone()], [0..108, 200..320]);
    }

    #[test]
    fn two_sentences_in_common_with_a_long_text_are_no_summary() {
        let (mut long, mut short) = (String::new(), String::new());
        text(1, 41, &mut long);
        text(2, 4, &mut short);
        sentence((0..12).map(|i| 1 << 32 | i), &mut short);
        text(4, 4, &mut short);
        sentence((0..12).map(|i| 1 << 32 | 40 << 8 | i), &mut short);
        let found = aligned(&short, &long);
        assert_eq!(found.len(), 2, "{found:?}");
    }
}
