//! Shares of a text that its sources account for.
//!
//! In prose, letters and digits outside of the excluded ranges count, each once, however many bytes
//! it takes. A passage begins and ends with a word, so it would be arbitrary to count the signs
//! between words. In a text without a letter or digit, everything but white space counts. In a
//! program, tokens count. Sources are in cover order: the next source is always the source that
//! adds most to the sources before (the greedy cover).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use serde::Serialize;

use crate::text::ranges::joined;
use crate::text::{is_letter, is_number, is_white_space};

/// A part of a whole, both in counted characters or tokens.
///
/// ```
/// use cento_text::compare::shares::Share;
///
/// assert_eq!(Share { part: 1, of: 3 }.thousandths(), 333);
/// // Nearly everything is not everything.
/// assert_eq!(Share { part: 99_999, of: 100_000 }.thousandths(), 999);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    /// The number of characters or tokens of the part.
    pub part: u64,
    /// The number of characters or tokens of the whole.
    pub of: u64,
}

impl Share {
    /// Returns the share in thousandths, rounded half up, or 0 if the whole is empty. Only a full
    /// share is 1000 and only an empty share is 0, as in all displayed numbers.
    ///
    /// The script of the page rounds in the same way, so its numbers equal the numbers of the file.
    #[must_use]
    pub fn thousandths(self) -> u64 {
        match self.of {
            0 => 0,
            _ if self.part == 0 => 0,
            of if self.part >= of => 1000,
            of => ((self.part * 1000 + of / 2) / of).clamp(1, 999),
        }
    }

    /// Returns the share as a number from 0 to 1, or 0 if the whole is empty.
    #[must_use]
    pub fn ratio(self) -> f64 {
        match self.of {
            0 => 0.0,
            of => self.part as f64 / of as f64,
        }
    }
}

impl Serialize for Share {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.ratio())
    }
}

/// The characters of a text that count, or the tokens of a program.
#[derive(Debug, Clone, Default)]
pub struct CountedText {
    /// For each 64 bytes of the text: a bit for each byte where a counted character begins, from
    /// the lowest bit on, and the number of counted characters before.
    characters: Vec<(u64, u32)>,
    /// The number of counted characters or tokens.
    total: u32,
    /// For a program, the first byte of each counted token, ascending, instead of `characters`.
    tokens: Option<Vec<u32>>,
}

impl CountedText {
    /// Finds the characters of `text` that count, outside of `excluded`, whose ranges are ascending
    /// and disjoint. Letters and digits count, or else everything but white space.
    #[must_use]
    pub fn new(text: &str, excluded: &[Range<u32>]) -> CountedText {
        let mut characters = vec![(0u64, 0); text.len() / BLOCK + 1];
        let mut excluded = excluded.iter().peekable();
        let is_of_word = |c: char| is_letter(c) || is_number(c);
        let has_words = text.chars().any(is_of_word);
        let counts = |c: char| if has_words { is_of_word(c) } else { !is_white_space(c) };
        for (place, c) in text.char_indices() {
            let at = place as u32;
            while excluded.next_if(|range| range.end <= at).is_some() {}
            let is_excluded = excluded.peek().is_some_and(|range| range.start <= at);
            if !is_excluded && counts(c) {
                characters[place / BLOCK].0 |= 1 << (place % BLOCK);
            }
        }
        let mut total = 0;
        for (begins, before) in &mut characters {
            *before = total;
            total += begins.count_ones();
        }
        CountedText { characters, total, tokens: None }
    }

    /// Counts the tokens that begin at these ascending places, outside of `excluded`, whose ranges
    /// are ascending and disjoint.
    #[must_use]
    pub fn of_tokens(starts: &[u32], excluded: &[Range<u32>]) -> CountedText {
        let is_excluded = |start: u32| {
            let at = excluded.partition_point(|range| range.end <= start);
            excluded.get(at).is_some_and(|range| range.start <= start)
        };
        let tokens: Vec<u32> = starts.iter().copied().filter(|&at| !is_excluded(at)).collect();
        CountedText { total: tokens.len() as u32, tokens: Some(tokens), ..CountedText::default() }
    }

    /// Returns the number of characters or tokens that count.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.total
    }

    /// Returns the number of counted characters or tokens that begin before this byte.
    #[must_use]
    pub fn before(&self, offset: u32) -> u32 {
        if let Some(tokens) = &self.tokens {
            return tokens.partition_point(|&start| start < offset) as u32;
        }
        let offset = offset as usize;
        self.characters.get(offset / BLOCK).map_or(self.total, |(begins, before)| {
            before + (begins & ((1 << (offset % BLOCK)) - 1)).count_ones()
        })
    }
}

/// The number of bytes that share an entry of `characters`.
const BLOCK: usize = 64;

/// Ranges that are ascending, disjoint, not adjacent and not empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ranges(Vec<Range<u32>>);

impl Ranges {
    /// Builds the set from any ranges.
    #[must_use]
    pub fn new(mut ranges: Vec<Range<u32>>) -> Ranges {
        ranges.retain(|range| !range.is_empty());
        Ranges(joined(ranges))
    }

    /// Returns the ranges in order.
    #[must_use]
    pub fn as_slice(&self) -> &[Range<u32>] {
        &self.0
    }

    /// Returns the total length.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.0.iter().map(|range| range.end - range.start).sum()
    }

    /// Returns whether there are no ranges.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the union with `other`.
    #[must_use]
    pub fn with(&self, other: &Ranges) -> Ranges {
        Ranges::new(self.0.iter().chain(&other.0).cloned().collect())
    }

    /// Returns the total length of the parts outside of `other`.
    #[must_use]
    pub fn len_without(&self, other: &Ranges) -> u32 {
        let in_both = |range: &Range<u32>| {
            let first = other.0.partition_point(|found| found.end <= range.start);
            let overlapping = other.0[first..].iter().take_while(|found| found.start < range.end);
            overlapping.map(|f| f.end.min(range.end) - f.start.max(range.start)).sum::<u32>()
        };
        self.0.iter().map(|range| range.end - range.start - in_both(range)).sum()
    }

    /// Returns the parts outside of `other`.
    #[must_use]
    pub fn without(&self, other: &Ranges) -> Ranges {
        let mut left = Vec::new();
        for range in &self.0 {
            let first = other.0.partition_point(|found| found.end <= range.start);
            let mut at = range.start;
            for found in other.0[first..].iter().take_while(|found| found.start < range.end) {
                left.push(at..found.start.max(at));
                at = found.end.min(range.end);
            }
            left.push(at..range.end);
        }
        Ranges::new(left)
    }
}

/// Returns the places of `sources` in cover order, with the number of characters added to the
/// earlier sources. Equal sources keep the order of `sources`. Sources that add nothing come last.
#[must_use]
pub fn cover(sources: &[Ranges]) -> Vec<(usize, u32)> {
    let mut open: BinaryHeap<(u32, Reverse<usize>)> =
        sources.iter().enumerate().map(|(at, ranges)| (ranges.len(), Reverse(at))).collect();
    let mut covered = Ranges::default();
    let mut order = Vec::with_capacity(sources.len());
    while let Some((bound, Reverse(at))) = open.pop() {
        // The gain of a source can only have fallen since its last check.
        let adds = sources[at].len_without(&covered);
        if adds < bound {
            open.push((adds, Reverse(at)));
            continue;
        }
        if adds > 0 {
            covered = covered.with(&sources[at]);
        }
        order.push((at, adds));
    }
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn signs_count_only_where_there_are_no_words() {
        let counted = CountedText::new("Contents ..... 12!", &[]);
        assert_eq!((counted.total(), counted.before(9), counted.before(16)), (10, 8, 9));
        let counted = CountedText::new("?! ...", &[]);
        assert_eq!((counted.total(), counted.before(3)), (5, 2));
    }

    #[test]
    fn white_space_and_excluded_text_do_not_count() {
        let counted = CountedText::new(" ab  cd \u{e9}\u{a0}", &[]);
        assert_eq!(counted.total(), 5);
        let before: Vec<u32> =
            [0, 1, 2, 3, 5, 6, 8, 10, 12, 99].map(|at| counted.before(at)).into();
        assert_eq!(before, [0, 0, 1, 2, 2, 3, 4, 5, 5, 5]);
        let counted = CountedText::new("abcdefgh", &[2..4, 6..7]);
        assert_eq!((counted.total(), counted.before(3), counted.before(5)), (5, 2, 3));
    }

    #[test]
    fn tokens_of_a_program_count_alike() {
        let counted = CountedText::of_tokens(&[0, 4, 9, 30], &[4..6, 20..30]);
        assert_eq!(counted.total(), 3);
        let before: Vec<u32> = [0, 1, 5, 9, 10, 30, 31, 99].map(|at| counted.before(at)).into();
        assert_eq!(before, [0, 1, 1, 1, 2, 2, 3, 3]);
    }

    #[test]
    fn a_share_is_rounded_half_up() {
        let check = |part, of, expected| {
            assert_eq!(Share { part, of }.thousandths(), expected, "{part} of {of}");
        };
        check(0, 0, 0);
        check(1, 2000, 1);
        check(1, 2001, 1);
        check(1999, 2000, 999);
        check(2, 3, 667);
        check(7, 7, 1000);
    }

    /// Computes the cover by painting every byte with its source.
    fn painted(sources: &[Vec<Range<u32>>]) -> Vec<(usize, u32)> {
        let has = |at: usize, byte: u32| sources[at].iter().any(|range| range.contains(&byte));
        let mut left: Vec<usize> = (0..sources.len()).collect();
        let (mut owned, mut order) = (vec![false; 100], Vec::new());
        while !left.is_empty() {
            let adds = |at: usize| (0..100).filter(|&b| has(at, b) && !owned[b as usize]).count();
            let best = *left.iter().max_by_key(|&&at| (adds(at), Reverse(at))).unwrap();
            order.push((best, adds(best) as u32));
            (0..100).filter(|&b| has(best, b)).for_each(|b| owned[b as usize] = true);
            left.retain(|&at| at != best);
        }
        order
    }

    fn ranges() -> impl Strategy<Value = Vec<Range<u32>>> {
        prop::collection::vec((0..90u32, 0..10u32).prop_map(|(at, len)| at..at + len), 0..6)
    }

    proptest! {
        #[test]
        fn the_cover_is_that_of_painted_bytes(sources in prop::collection::vec(ranges(), 0..8)) {
            let joined: Vec<Ranges> = sources.iter().cloned().map(Ranges::new).collect();
            prop_assert_eq!(cover(&joined), painted(&sources));
        }

        #[test]
        fn ranges_are_sets_of_bytes(a in ranges(), b in ranges()) {
            let (one, other) = (Ranges::new(a.clone()), Ranges::new(b.clone()));
            let is_in = |ranges: &[Range<u32>], byte: u32| ranges.iter().any(|r| r.contains(&byte));
            let left = one.without(&other);
            for byte in 0..100 {
                prop_assert_eq!(
                    is_in(left.as_slice(), byte),
                    is_in(&a, byte) && !is_in(&b, byte)
                );
            }
            prop_assert_eq!(left.len(), one.len_without(&other));
            prop_assert_eq!(one.with(&other).len(), left.len() + other.len());
        }

        #[test]
        fn characters_count_one_by_one(
            text in "[a. \n\u{e9}\u{3000}\u{4eba}]{0,40}", cut in ranges(),
        ) {
            let excluded = Ranges::new(cut);
            let has_words = text.contains(['a', '\u{e9}', '\u{4eba}']);
            let counts = |(at, c): (usize, char)| {
                let is_in = excluded.as_slice().iter().any(|range| range.contains(&(at as u32)));
                u32::from(!(is_in || c.is_whitespace() || has_words && c == '.'))
            };
            let counted = CountedText::new(&text, excluded.as_slice());
            for (at, _) in text.char_indices() {
                let expected: u32 = text[..at].char_indices().map(counts).sum();
                prop_assert_eq!(counted.before(at as u32), expected);
            }
            prop_assert_eq!(counted.total(), text.char_indices().map(counts).sum::<u32>());
        }
    }
}
