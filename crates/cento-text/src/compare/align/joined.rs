//! Makes passages of words that were joined, or cut into letters.
//!
//! The letters are equal in both texts, but the words are not. So the letters decide how similar
//! the sides are, and which words of the query are matched.

use std::ops::Range;

use super::local::Pair;
use super::spacing::LETTERS_MIN;
use super::{AlignedPassage, PASSAGE_TOKENS_MIN, Side};
use crate::text::{Letters, Span};

/// A text as letters, and as tokens.
pub struct LetteredText<'a> {
    /// The letters of the text that are aligned.
    pub letters: &'a Letters,
    /// The hashes of all tokens.
    pub tokens: &'a [u64],
    /// Marks the letters that begin a word.
    pub word_starts: WordStarts,
}

impl<'a> LetteredText<'a> {
    /// Combines a text with its letters.
    pub fn new(side: Side<'a>, letters: &'a Letters) -> LetteredText<'a> {
        let word_starts = WordStarts::new(letters, &side.tokens.spans);
        LetteredText { letters, tokens: &side.tokens.hashes, word_starts }
    }
}

/// The letters of a text that begin a word, as bits.
///
/// In scripts without spaces, pairs of letters overlap and begin no word.
pub struct WordStarts(Vec<u64>);

impl WordStarts {
    /// Finds where words begin. `letters` must come from the tokens with these `spans`.
    pub fn new(letters: &Letters, spans: &[Span]) -> WordStarts {
        let mut bits = vec![0u64; letters.codes.len() / 64 + 2];
        let mut end = 0;
        for (token, span) in spans.iter().enumerate().take(letters.tokens()) {
            let first = letters.of_token(token).start;
            if span.start >= end {
                bits[first / 64] |= 1 << (first % 64);
            }
            end = end.max(span.end);
        }
        WordStarts(bits)
    }

    /// Returns the bits of `len` letters from `first` on, at most 64.
    #[inline]
    pub fn of(&self, first: usize, len: usize) -> u64 {
        let (word, bit) = (first / 64, first % 64);
        let low = self.0[word] >> bit;
        let high = if bit == 0 { 0 } else { self.0[word + 1] << (64 - bit) };
        (low | high) & (u64::MAX >> (64 - len))
    }
}

/// Makes a passage of an alignment of joined or cut words. The similarity is the share of equal
/// letters. A word is matched if at least half of its letters are in the other text.
pub fn joined(
    pairs: &[Pair],
    score: u32,
    query: &LetteredText<'_>,
    in_query: Range<usize>,
    document: &LetteredText<'_>,
    hit: Range<usize>,
) -> Option<AlignedPassage> {
    // Ideographs, kana and syllables have codes from here on.
    let is_ideograph = |pair: &&Pair| query.letters.codes[pair.0 as usize] >= 0x2e80;
    let are_ideographs = 2 * pairs.iter().filter(is_ideograph).count() > pairs.len();
    let score_min = if are_ideographs { PASSAGE_TOKENS_MIN } else { LETTERS_MIN };
    if (score as usize) < score_min {
        return None;
    }
    let letters = |of: &LetteredText<'_>, tokens: &Range<usize>| {
        of.letters.of_token(tokens.start).start..of.letters.of_token(tokens.end - 1).end
    };
    let (of_query, of_hit) = (letters(query, &in_query), letters(document, &hit));
    let is_inside =
        |&&(i, j): &&Pair| of_query.contains(&(i as usize)) && of_hit.contains(&(j as usize));
    let inside: Vec<Pair> = pairs.iter().filter(is_inside).copied().collect();
    let similarity = 2.0 * inside.len() as f64 / (of_query.len() + of_hit.len()) as f64;
    let matched = matched_in(query.letters, &in_query, inside.iter().map(|pair| pair.0));
    let matched_in_hit = matched_in(document.letters, &hit, inside.iter().map(|pair| pair.1));
    let is_passage = !matched.is_empty() && !matched_in_hit.is_empty();
    let passage =
        AlignedPassage { matched, matched_in_hit, ..AlignedPassage::unmatched(&in_query, &hit) };
    is_passage.then_some(AlignedPassage { similarity, by_letters: true, ..passage })
}

/// Returns the tokens with at least half of their letters in `equal`, which must ascend.
fn matched_in(
    letters: &Letters,
    tokens: &Range<usize>,
    equal: impl Iterator<Item = u32>,
) -> Vec<Range<usize>> {
    let mut matched: Vec<Range<usize>> = Vec::new();
    let mut equal = equal.peekable();
    for token in tokens.clone() {
        let its = letters.of_token(token);
        let mut count = 0;
        while equal.next_if(|&letter| (letter as usize) < its.end).is_some() {
            count += 1;
        }
        // A pair of ideographs adds no letter after a pair with the same ideograph.
        let goes_on = || matched.last().is_some_and(|last| last.end == token);
        if 2 * count >= its.len() && (count > 0 || goes_on()) {
            add(&mut matched, token);
        }
    }
    matched
}

/// Adds a token after ascending ranges.
pub fn add(matched: &mut Vec<Range<usize>>, token: usize) {
    match matched.last_mut() {
        Some(last) if last.end == token => last.end += 1,
        _ => matched.push(token..token + 1),
    }
}

#[cfg(test)]
pub mod testing {
    use super::super::chain::CoveredRanges;
    use super::super::testing::analyzed;
    use super::super::{AlignedPassage, Genre, align};
    use crate::runtime::Stop;
    use crate::text::AnalyzedText;
    use std::ops::Range;

    /// The passages of two texts, and the share of either text within passages.
    pub fn aligned(a: &str, b: &str) -> (Vec<AlignedPassage>, [f64; 2]) {
        let [a, b] = [a, b].map(analyzed);
        let found = align(a.side(), b.side(), Genre::Prose, Stop::NEVER).unwrap().passages;
        let share = |place: fn(&AlignedPassage) -> &Range<usize>, of: &AnalyzedText| {
            let mut covered = CoveredRanges::default();
            found.iter().for_each(|aligned| covered.insert(place(aligned).clone()));
            let count = of.tokens.hashes.len();
            covered.covered(&(0..count)) as f64 / count as f64
        };
        let shares = [share(|found| &found.query, &a), share(|found| &found.hit, &b)];
        (found, shares)
    }
}

#[cfg(test)]
mod tests {
    use super::super::noisy::testing::text;
    use super::super::testing::analyzed;
    use super::testing::aligned;
    use super::*;
    use crate::hash::mix64;

    /// Returns a text without this share of its spaces, in a hundred.
    fn without_spaces(text: &str, share: u64, seed: u64) -> String {
        let mut joined = String::new();
        for (at, word) in (0u64..).zip(text.split(' ')) {
            let is_lost = mix64(seed << 32 | at) % 100 < share;
            joined.push_str(if at == 0 || is_lost { "" } else { " " });
            joined.push_str(word);
        }
        joined
    }

    fn spaced(text: &str) -> String {
        text.chars().flat_map(|c| [c, ' ']).collect()
    }

    #[test]
    fn text_whose_spaces_are_lost_is_a_passage() {
        // Regression: the same letters had a resemblance of 1, but no passage, and an originality
        // of 1.
        for seed in 0..4 {
            let own = text(seed, 300);
            for share in [50, 60, 80, 100] {
                let other = without_spaces(&own, share, seed);
                for (a, b) in [(&own, &other), (&other, &own)] {
                    let (found, shares) = aligned(a, b);
                    assert_eq!(found.len(), 1, "{seed} {share}: {found:?}");
                    assert!(shares.iter().all(|&share| share > 0.97), "{seed} {share}: {shares:?}");
                    assert!(found[0].similarity > 0.99, "{seed} {share}: {found:?}");
                    assert!(found[0].matched_tokens() * 10 >= found[0].query.len() * 9);
                }
            }
        }
    }

    #[test]
    fn text_cut_into_letters_is_a_passage_between_other_text() {
        let own = text(1, 80);
        let other = format!("{} {} {}", text(2, 60), spaced(&own), text(3, 60));
        for (a, b) in [(&own, &other), (&other, &own)] {
            let (found, _) = aligned(a, b);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].similarity > 0.9, "{found:?}");
        }
    }

    #[test]
    fn a_run_of_joined_words_in_a_clean_copy_is_in_its_passage() {
        let own = text(1, 200);
        let words: Vec<&str> = own.split(' ').collect();
        let middle = words[80..120].concat();
        let other = format!("{} {middle} {}", words[..80].join(" "), words[120..].join(" "));
        for (a, b) in [(&own, &other), (&other, &own)] {
            let (found, shares) = aligned(a, b);
            assert_eq!(shares, [1.0; 2], "{found:?}");
            let matched: usize = found.iter().map(AlignedPassage::matched_tokens).sum();
            assert_eq!(matched, analyzed(a).tokens.hashes.len(), "{found:?}");
        }
    }

    #[test]
    fn ideographs_with_spaces_between_them_are_those_without() {
        let own: String = (0..60).map(|at| char::from_u32(0x4e00 + at * 37).unwrap()).collect();
        let (found, shares) = aligned(&own, &spaced(&own));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(shares.iter().all(|&share| share > 0.9), "{shares:?}");
    }

    #[test]
    fn other_text_without_spaces_has_no_passage() {
        for seed in 0..10 {
            let (own, other) = (text(seed, 300), text(seed + 100, 300));
            for other in
                [without_spaces(&other, 100, 1), without_spaces(&other, 50, 1), spaced(&other)]
            {
                assert_eq!(aligned(&own, &other).0, [], "{seed}");
                assert_eq!(aligned(&other, &own).0, [], "{seed}");
            }
        }
    }
}
