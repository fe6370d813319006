//! Passages that were rewritten, with hardly two words in a row left.
//!
//! Pairs of alike sentences are clustered if few sentences separate them, in both texts. Method and
//! thresholds come from Sanchez-Perez, Sidorov and Gelbukh, "A winning approach to text alignment
//! for text reuse detection at PAN 2014", section 2.3. A cluster whose two sides are not alike as
//! wholes is rejected. The paper then tries smaller gaps in the cluster. cento does not, because
//! smaller gaps add nothing.

use std::ops::Range;

use super::alike::{COSINE_MIN, Seeds, extent};
use super::groups::{Seed, groups};
use super::order::OrderedPair;
use super::sums::Bags;
use super::{SIMILARITY_OF_ONE_MIN, Side};
use crate::error::Result;
use crate::runtime::Steps;
use crate::text::is_letter;

/// A possible passage, accepted later if its sides are similar enough.
pub struct Candidate {
    /// The tokens of the query.
    pub query: Range<usize>,
    /// The tokens of the document.
    pub hit: Range<usize>,
    /// Minimum similarity of the two sides, higher for a single pair of sentences.
    pub similarity_min: f64,
}

/// The maximum number of sentences between two seeds.
const GAP_SENTENCES_MAX: usize = 4;
/// The minimum length of the shorter side, because shorter matches are chance.
const PASSAGE_BYTES_MIN: usize = 120;
/// The minimum similarity of a passage. Less similar places have like content at most, and this
/// threshold removes more such places than `PASSAGE_BYTES_MIN` lets in.
const SIMILARITY_MIN: f64 = 0.4;

/// Returns the possible rewritten passages. Clusters of all seeds come first, ordered by their
/// number of seeds.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn passages(
    pair: OrderedPair<'_>,
    bags: &mut Bags<'_>,
    seeds: Seeds,
    steps: &mut Steps<'_>,
) -> Result<Vec<Candidate>> {
    let mut clusters = |seeds: Vec<Seed>, steps: &mut Steps<'_>| -> Result<Vec<Vec<Seed>>> {
        let mut found = Vec::new();
        for group in groups(seeds, GAP_SENTENCES_MAX, steps)? {
            match are_alike(bags, &group, steps)? {
                None => break,
                Some(true) => found.push(group),
                Some(false) => {}
            }
        }
        found.sort_by_key(|seeds| std::cmp::Reverse(seeds.len()));
        Ok(found)
    };
    let [of_query, of_document] = seeds.best.map(|best| (0u32..).zip(best));
    let of_query = of_query.filter_map(|(at, best)| Some((at, best?.0))).collect();
    let of_document = of_document.filter_map(|(at, best)| Some((best?.0, at))).collect();
    let mut found = clusters(seeds.all, steps)?;
    // If sentences resemble many sentences, a cluster grows as long as the text. Clusters of each
    // sentence's best match are added, and come after.
    for best in [of_query, of_document] {
        let best = clusters(best, steps)?.into_iter();
        found.extend(best.filter(|seeds| seeds.len() > 1));
    }
    let candidates = found.into_iter().map(|seeds| {
        let (a, b) = extent(&seeds);
        let similarity_min = if seeds.len() == 1 { SIMILARITY_OF_ONE_MIN } else { SIMILARITY_MIN };
        let (query, hit) = (bags.texts.q().tokens(&a), bags.texts.d().tokens(&b));
        Candidate { query, hit, similarity_min }
    });
    let is_passage = |Candidate { query: a, hit: b, .. }: &Candidate| {
        pair.query.bytes(a).min(pair.document.bytes(b)) >= PASSAGE_BYTES_MIN
    };
    Ok(candidates.filter(is_passage).collect())
}

impl Side<'_> {
    /// Returns whether a token has at least one letter, unlike a number.
    pub(super) fn has_letter(&self, at: usize) -> bool {
        self.written(at).chars().any(is_letter)
    }

    /// Returns the bytes from the first of these tokens to the last.
    fn bytes(&self, tokens: &Range<usize>) -> usize {
        let spans = &self.tokens.spans[tokens.clone()];
        spans.last().map_or(0, |last| (last.end - spans[0].start) as usize)
    }
}

/// Returns whether the two sides of a cluster are alike as wholes, or `None` without enough steps.
fn are_alike(bags: &mut Bags<'_>, seeds: &[Seed], steps: &mut Steps<'_>) -> Result<Option<bool>> {
    let (a, b) = extent(seeds);
    // Two steps per word, for adding up and for comparing.
    if !steps.take((seeds.len() + 2 * bags.words(&a, &b)) as u64)? {
        return Ok(None);
    }
    let [a, b] = bags.of(&a, &b);
    Ok(Some(a.are_alike(b, COSINE_MIN)))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::super::testing::analyzed;
    use super::super::{AlignedPassage, Genre, align};
    use crate::hash::mix64;
    use crate::runtime::Stop;
    use crate::text::AnalyzedText;

    /// Twenty sentences of `own` unique words and of `others` words that recur in every sentence.
    /// From the eighth sentence on, `alike` sentences have the unique words of text 0.
    fn text(seed: u64, (own, others): (u64, u64), alike: u64) -> AnalyzedText {
        let mut text = String::new();
        for at in 0..20 {
            let of = if (8..8 + alike).contains(&at) { 0 } else { seed };
            let order = |i: u64| if seed.is_multiple_of(2) { i } else { own.saturating_sub(1 + i) };
            for i in 0..own.max(others) {
                let words =
                    [(i < own, of << 16 | at << 8 | order(i)), (i < others, seed << 32 | i)];
                for (_, word) in words.into_iter().filter(|&(is_there, _)| is_there) {
                    write!(text, "{:04x} ", mix64(word) >> 48).unwrap();
                }
            }
            text.push_str(". ");
        }
        analyzed(text)
    }

    fn aligned(words: (u64, u64), alike: u64) -> Vec<AlignedPassage> {
        let [a, b] = [1, 2].map(|seed| text(seed, words, alike));
        align(a.side(), b.side(), Genre::Prose, Stop::NEVER).unwrap().passages
    }

    #[test]
    fn tables_of_the_same_years_with_other_numbers_are_no_passage() {
        let table = |seed: u64| {
            let mut text = String::from("Year;North;South;East;West\n");
            for year in 1950..2010 {
                let number = |of: u64| 1 + mix64(seed << 32 | year << 8 | of) % 9;
                let [a, b, c, d] = [1, 2, 3, 4].map(number);
                writeln!(text, "{year};{a};{b};{c};{d}").unwrap();
            }
            analyzed(text)
        };
        let found = |a: &AnalyzedText, b: &AnalyzedText| {
            align(a.side(), b.side(), Genre::Prose, Stop::NEVER).unwrap().passages
        };
        assert_eq!(found(&table(1), &table(2)), []);
        // A copied table is a passage.
        let [copy] = &found(&table(1), &table(1))[..] else { panic!("no copy") };
        assert_eq!((copy.query.len(), copy.similarity), (305, 1.0));
    }

    #[test]
    fn two_places_with_three_words_in_eight_in_common_are_no_passage() {
        // Every rare word is shared, so every pair of sentences is alike.
        assert_eq!(aligned((6, 10), 4), []);
        let found = aligned((8, 10), 4);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!([&found[0].query, &found[0].hit], [&(8 * 18..12 * 18); 2]);
    }

    #[test]
    fn two_sentences_of_140_bytes_are_a_passage_and_one_of_70_is_none() {
        let found = aligned((8, 6), 2);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!([&found[0].query, &found[0].hit], [&(8 * 14..10 * 14); 2]);
        assert_eq!(aligned((8, 6), 1), []);
    }
}
