//! Narrows passages to their part where much is matched.

use std::ops::Range;

use cento_api::part::part_at;

use super::{PASSAGE_TOKENS_MIN, Passages, tokens_in};
use crate::compare::place::places_in_parts;
use crate::compare::{Passage, Unit};
use crate::text::{Side, Tokens};

/// How many times as much matched text counts as other text within a passage, so that a seventh of
/// the text must be matched. With 2, a trace marks less of a text with a fifth of its words
/// replaced (research/RESULTS.md, "Traces beside infini-gram").
const MATCHED_WEIGHT: i64 = 6;

impl Passages {
    /// Narrows each passage to the part of the query where more than a seventh of the text is
    /// matched. A passage of aligned letters corresponds as a whole.
    ///
    /// A document that sums up the query shares words with all of it, and so does a document with
    /// one rewritten paragraph: unrelated prose shares its short words.
    #[must_use]
    pub fn without_sparse_ends(mut self, query: Side<'_>) -> Passages {
        let mut narrowed = Vec::new();
        for (at, passage) in self.found.iter_mut().enumerate() {
            let dense = with_short_ends(dense_part(&passage.matched_ranges), passage, query.tokens);
            let is_all = dense.len() == passage.matched_ranges.len();
            if is_all || passage.by_letters || passage.unit != Unit::Bytes {
                continue;
            }
            let place = narrow(passage, dense, query.tokens);
            self.places[at] = place;
            narrowed.push(at);
        }
        if narrowed.is_empty() {
            return self;
        }
        let starts: Vec<u32> = narrowed.iter().map(|&at| self.found[at].a.0).collect();
        let places = places_in_parts((query.text, query.parts), &starts);
        for (at, place) in narrowed.into_iter().zip(places) {
            let passage = &mut self.found[at];
            (passage.a_page, passage.a_line) = place;
            let part = part_at(query.parts, passage.a.0);
            passage.a_part = part.map(|part| part.name.clone());
        }
        self.in_words_of(query)
    }
}

/// Returns the numbers of the matched ranges that stay when the ends with little matched text are
/// left out: the ranges with the greatest sum, where other text between them is subtracted (Bentley
/// 1984, "Algorithm design techniques").
fn dense_part(matched: &[(u32, u32)]) -> Range<usize> {
    let (mut sum, mut start, mut end) = (0, 0, 0);
    let (mut best, mut most) = (0..0, 0);
    for (at, range) in matched.iter().enumerate() {
        sum -= i64::from(range.0.saturating_sub(end));
        if sum <= 0 {
            (sum, start) = (0, at);
        }
        sum += MATCHED_WEIGHT * i64::from(range.1 - range.0);
        end = range.1;
        if sum > most {
            (best, most) = (start..at + 1, sum);
        }
    }
    best
}

/// Adds the ends of a passage that are shorter than any passage: the words around a rewritten
/// sentence.
fn with_short_ends(dense: Range<usize>, passage: &Passage, query: &Tokens) -> Range<usize> {
    let ranges = &passage.matched_ranges;
    let (Some(first), Some(last)) = (ranges.get(dense.start), ranges[..dense.end].last()) else {
        return dense;
    };
    let is_short = |place| tokens_in(query, place).len() < PASSAGE_TOKENS_MIN;
    let start = if is_short((passage.a.0, first.0)) { 0 } else { dense.start };
    let end = if is_short((last.1, passage.a.1)) { ranges.len() } else { dense.end };
    start..end
}

/// Narrows a passage to these of its matched ranges. Returns its tokens of the query.
fn narrow(passage: &mut Passage, dense: Range<usize>, query: &Tokens) -> Range<u32> {
    let last = passage.matched_ranges.len();
    let start = if dense.start == 0 { passage.a.0 } else { passage.matched_ranges[dense.start].0 };
    let end = if dense.end == last { passage.a.1 } else { passage.matched_ranges[dense.end - 1].1 };
    let matched = passage.matched_ranges[dense].to_vec();
    let place = tokens_in(query, (start, end));
    // The sum of the lengths of both places follows from the similarity.
    let both = 2.0 * f64::from(passage.matched) / passage.similarity;
    let both = both - f64::from(passage.tokens) + place.len() as f64;
    passage.a = (start, end);
    passage.tokens = place.len() as u32;
    passage.matched = matched.iter().map(|&range| tokens_in(query, range).len() as u32).sum();
    passage.similarity = (2.0 * f64::from(passage.matched) / both).clamp(0.0, 1.0);
    passage.matched_ranges = matched;
    place
}

#[cfg(test)]
mod tests {
    use super::super::with_matched_tokens;
    use super::*;
    use crate::text::Span;

    /// Tokens of four bytes, with a byte after each.
    fn tokens(count: u32) -> Tokens {
        let span = |at: u32| Span { start: 5 * at, end: 5 * at + 4 };
        Tokens { hashes: (0..count.into()).collect(), spans: (0..count).map(span).collect() }
    }

    #[test]
    fn a_passage_is_the_part_with_much_matched_text() {
        // A word here and there belongs to no paragraph.
        let paragraph = [(10, 14), (120, 123), (300, 305), (600, 660), (670, 700), (900, 906)];
        assert_eq!(dense_part(&paragraph), 3..5);
        // Edits do not end a passage, and neither does a gap between two of its paragraphs.
        assert_eq!(dense_part(&[(0, 20), (60, 80), (130, 150)]), 0..3);
        assert_eq!(dense_part(&[(100, 200), (500, 600)]), 0..2);
        assert_eq!(dense_part(&[(100, 120), (500, 600)]), 1..2);
        assert_eq!(dense_part(&[(7, 1000)]), 0..1);
        assert_eq!(dense_part(&[]), 0..0);
    }

    #[test]
    fn a_passage_is_narrowed_with_all_its_numbers() {
        // Of a hundred words, one in ten is matched, but seven of the ten from word 50 on. Word 60
        // is near enough.
        let query = tokens(100);
        let text = "word\n".repeat(100);
        let places = (0..10).map(|at| 10 * at..10 * at + 1).chain(std::iter::once(51..57));
        let mut places: Vec<Range<u32>> = places.collect();
        places.sort_by_key(|place| place.start);
        let passage = Passage::new((0, 499), (0, 99), Unit::Bytes, 100, 2.0 * 16.0 / 120.0);
        let passage = with_matched_tokens(passage, places.into_iter(), &query);
        let passages = Passages::new(vec![(passage, 0..100)], true);
        let side = Side { text: &text, tokens: &query, parts: &[] };
        let found = passages.without_sparse_ends(side);
        let narrowed = &found.found[0];
        assert_eq!((narrowed.a, narrowed.tokens, narrowed.matched), ((250, 304), 11, 8));
        assert_eq!((narrowed.a_line, narrowed.matched_in_a().len()), (Some(51), 2));
        // The other side has 20 words.
        assert!((narrowed.similarity - 16.0 / 31.0).abs() < 1e-9, "{}", narrowed.similarity);
        assert_eq!((found.tokens(), found.of_at_least(12).found.len()), (11, 0));
    }
}
