//! Finds the places where the words of one text are nearly equal to words of another text.
//!
//! Aligning letters takes ten times as long as aligning words, so a quick test decides where
//! letters are worth the time. In a noisy copy some words are unchanged, at the same distance from
//! each other as in the original, and most words between two unchanged words are nearly equal. In a
//! clean copy the words between are equal, and in rewritten text they differ. Unrelated texts
//! hardly share two words at the same distance. Programs do, with nearly equal names (`read_u16`,
//! `read_u32`), so names are not compared.

use std::ops::Range;

use super::chain::CoveredRanges;
use super::hash_filter::HashFilter;
use super::places::{PLACES_MAX, Places};
use super::spacing::AROUND;
use super::{AlignedPassage, LOOKUP_STEPS, LOOKUPS_AT_ONCE, Side};
use crate::compare::runs::{Place, is_hidden};
use crate::error::Result;
use crate::runtime::{Steps, Stop};
use crate::text::ranges::joined;

/// The maximum distance of two unchanged words.
const DISTANCE_MAX: usize = 16;

/// Minimum number of stretches with nearly equal words, among one more than this many stretches in
/// a row between unchanged words. The stretches need not be at the same distance, because nine in
/// ten words are wrong on some pages. Bounds work: with a single stretch, OCR text would gain, but
/// letters of rewritten text would be aligned too.
const STRETCHES_MIN: u32 = 3;

/// The number of letters of a word that are compared.
const LETTERS_MAX: usize = 24;

/// Returns whether two words are nearly equal: two in three of the `letters` of the longer word are
/// common, in the same order.
pub fn are_nearly_equal(common: usize, letters: usize) -> bool {
    3 * common >= 2 * letters
}

/// The words of a query, to look up the words of documents.
pub struct Words {
    places: Places,
    /// Filter for words with places. Most words of a document are absent or frequent, and need no
    /// look-up.
    known: HashFilter,
}

impl Words {
    /// Records the places of the words of a query.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
    pub fn new(query: &[u64], stop: &Stop) -> Result<Words> {
        // Frequent words are a third of a text, and would be found only to be skipped.
        let places = Places::of_rare(query.iter().copied(), stop)?;
        let (mut rare, mut found) = (Vec::with_capacity(query.len()), Vec::new());
        for (at, &word) in query.iter().enumerate() {
            stop.check_at(at)?;
            places.find(word, |at| query[at] == word, &mut found);
            if !found.is_empty() {
                rare.push(word);
            }
        }
        Ok(Words { places, known: HashFilter::new(rare.into_iter(), stop)? })
    }

    /// Returns the tokens of a document that may be in a noisy copy of the query, or in the
    /// original of one: the tokens around stretches of nearly equal words.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
    pub fn noisy_places(
        &self,
        query: Side<'_>,
        document: Side<'_>,
        steps: &mut Steps<'_>,
    ) -> Result<CoveredRanges> {
        // More tokens than a page has. Longer copies have further stretches of nearly equal words.
        let around = 4 * AROUND;
        let mut noisy = CoveredRanges::default();
        let (q, d) = (&query.tokens.hashes[..], &document.tokens.hashes[..]);
        let mut recent = RecentWords(vec![(u32::MAX, 0); DISTANCE_MAX << 6]);
        let mut places = Vec::with_capacity(PLACES_MAX);
        let (mut stretches, mut due) = (0u32, 0);
        for (j, &token) in d.iter().enumerate() {
            due += 1;
            if !self.known.may_have(token) && due < LOOKUPS_AT_ONCE as u64 {
                continue;
            }
            due += self.places.find(token, |at| q[at] == token, &mut places);
            if due >= LOOKUPS_AT_ONCE as u64 && !steps.take(std::mem::take(&mut due))? {
                return Ok(noisy);
            }
            for &i in &places {
                let i = i as usize;
                let Some((a, b)) = recent.replace(i, j).filter(|&(a, _)| a + 1 < i) else {
                    continue;
                };
                // Comparing two words takes as long as eight look-ups.
                if !steps.take((i - a) as u64 * 8 * LOOKUP_STEPS)? {
                    return Ok(noisy);
                }
                let stretch = are_near(query, a + 1..i, document, b + 1..j);
                let Some(are_near) = stretch else { continue };
                stretches = (stretches << 1 | u32::from(are_near)) & ((2 << STRETCHES_MIN) - 1);
                if stretches.count_ones() >= STRETCHES_MIN {
                    noisy.insert(j.saturating_sub(around)..(j + around).min(d.len()));
                }
            }
        }
        steps.take(due)?;
        Ok(noisy)
    }
}

/// The last unchanged words: places in the query and in the document, in a slot by the difference
/// of the two places. There are many more slots than words within the maximum distance, so that few
/// words share a slot. The number of slots is a power of two.
struct RecentWords(Vec<(u32, u32)>);

impl RecentWords {
    /// Records a word, and returns the last word with the same difference of places, if it is not
    /// too far back.
    #[inline]
    fn replace(&mut self, i: usize, j: usize) -> Option<(usize, usize)> {
        let slots = self.0.len();
        let slot = &mut self.0[j.wrapping_sub(i) & (slots - 1)];
        let (a, b) = std::mem::replace(slot, (i as u32, j as u32));
        let (a, b) = (a as usize, b as usize);
        let is_near = a < i && b < j && i - a == j - b && i - a <= DISTANCE_MAX;
        is_near.then_some((a, b))
    }
}

/// Returns whether at least half of the differing words in two equally long places are nearly
/// equal, or `None` if no word differs.
fn are_near(
    query: Side<'_>,
    in_query: Range<usize>,
    document: Side<'_>,
    in_document: Range<usize>,
) -> Option<bool> {
    let (mut differ, mut near) = (0, 0);
    for (a, b) in in_query.zip(in_document) {
        if query.tokens.hashes[a] == document.tokens.hashes[b] {
            continue;
        }
        let Some(is_misread) = NoisyWord::of(query, a).is_misread(&NoisyWord::of(document, b))
        else {
            continue;
        };
        differ += 1;
        near += u32::from(is_misread);
    }
    (differ > 0).then_some(2 * near >= differ)
}

/// Returns the matched tokens of a passage, together with the words between matched words that are
/// nearly equal to the words at the same place of the document. Words may be joined or cut there.
/// Hidden words match nothing.
pub fn with_misread(
    passage: &AlignedPassage,
    query: Side<'_>,
    document: Side<'_>,
) -> Vec<Range<usize>> {
    let sides = [(query, Place::Query), (document, Place::Document)];
    let [a, b] = [&passage.matched, &passage.matched_in_hit]
        .map(|ranges| ranges.iter().cloned().flatten().collect::<Vec<usize>>());
    let are_equal =
        |(&a, &b): (&usize, &usize)| query.tokens.hashes[a] == document.tokens.hashes[b];
    // The matched words of a rewritten passage have another order in the document.
    if a.len() != b.len() || !a.iter().zip(&b).all(are_equal) {
        return passage.matched.clone();
    }
    let mut matched = passage.matched.clone();
    for (a, b) in a.windows(2).zip(b.windows(2)) {
        let between = [a[0] + 1..a[1], b[0] + 1..b[1]];
        let is_open = |(of, (side, place)): (&Range<usize>, &(Side<'_>, Place))| {
            let hashes = &side.tokens.hashes;
            (1..DISTANCE_MAX).contains(&of.len())
                && !of.clone().any(|at| is_hidden(hashes[at], at, *place))
        };
        if !between.iter().zip(&sides).all(is_open) {
            continue;
        }
        let [of_query, of_document] = between;
        let is_misread = |a: Range<usize>, b: Range<usize>| {
            let [a, b] = [NoisyWord::new(written(query, a)), NoisyWord::new(written(document, b))];
            a.is_misread(&b) == Some(true)
        };
        if of_query.len() == of_document.len() {
            let words = of_query.zip(of_document);
            let words = words.filter(|&(a, b)| is_misread(a..a + 1, b..b + 1));
            matched.extend(words.map(|(a, _)| a..a + 1));
            continue;
        }
        let are_short = [(query, &of_query), (document, &of_document)]
            .into_iter()
            .all(|(side, tokens)| written(side, tokens.clone()).len() < LETTERS_MAX);
        if are_short && is_misread(of_query.clone(), of_document) {
            matched.push(of_query);
        }
    }
    joined(matched)
}

/// Returns the text of tokens, with the signs between.
fn written(side: Side<'_>, tokens: Range<usize>) -> &str {
    let spans = &side.tokens.spans[tokens];
    let ends = spans.first().zip(spans.last());
    let ends = ends.and_then(|(a, b)| side.text.get(a.start as usize..b.end as usize));
    ends.unwrap_or_default()
}

/// A word, with the properties that decide whether to compare it.
struct NoisyWord<'a> {
    written: &'a str,
    /// The number of compared letters.
    letters: usize,
    /// Whether the word looks like a name in a program, with an underscore or a capital after a
    /// small letter.
    is_name: bool,
    /// Whether the word has a digit. Letters are misread as digits, but digits hardly as different
    /// digits.
    has_digit: bool,
}

impl<'a> NoisyWord<'a> {
    /// Returns the word at this place of a text.
    #[inline]
    fn of(side: Side<'a>, at: usize) -> NoisyWord<'a> {
        NoisyWord::new(written(side, at..at + 1))
    }

    /// Returns whether this word may be the other word misread. `None` for names of programs and
    /// for two numbers, which are not compared.
    #[inline]
    fn is_misread(&self, other: &NoisyWord<'_>) -> Option<bool> {
        if self.is_name || other.is_name || self.has_digit && other.has_digit {
            return None;
        }
        let letters = [self.letters, other.letters];
        let (shorter, longer) = (letters[0].min(letters[1]), letters[0].max(letters[1]));
        // Most differing words also differ in length, and need no comparison.
        let may_be = are_nearly_equal(shorter, longer);
        let common = || common_letters(self.written, other.written);
        Some(may_be && are_nearly_equal(common(), longer))
    }

    #[inline]
    fn new(written: &'a str) -> NoisyWord<'a> {
        let bytes = written.as_bytes();
        let kinds = bytes.iter().fold(0, |all, &byte| all | KINDS[usize::from(byte)]);
        let is_capital_within = || {
            bytes.windows(2).any(|two| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase())
        };
        let has = |kind: ByteKind| kinds & kind as u8 != 0;
        let has_both = has(ByteKind::Small) && has(ByteKind::Capital);
        let letters = match has(ByteKind::Other) {
            false => bytes.len().min(LETTERS_MAX),
            true => written.chars().take(LETTERS_MAX).count(),
        };
        NoisyWord {
            written,
            letters,
            is_name: has(ByteKind::LowLine) || has_both && is_capital_within(),
            has_digit: has(ByteKind::Digit),
        }
    }
}

/// A kind of bytes, a bit each.
#[derive(Clone, Copy)]
enum ByteKind {
    Small = 1,
    Capital = 1 << 1,
    Digit = 1 << 2,
    LowLine = 1 << 3,
    /// A byte of a character that is not ASCII.
    Other = 1 << 4,
}

/// The kind of every byte value.
static KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = match byte as u8 {
            b'a'..=b'z' => ByteKind::Small as u8,
            b'A'..=b'Z' => ByteKind::Capital as u8,
            b'0'..=b'9' => ByteKind::Digit as u8,
            b'_' => ByteKind::LowLine as u8,
            0x80.. => ByteKind::Other as u8,
            _ => 0,
        };
        byte += 1;
    }
    kinds
};

/// Returns the length of the longest common subsequence of letters.
fn common_letters(a: &str, b: &str) -> usize {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if short.len() <= size_of::<u64>() && short.is_ascii() && long.is_ascii() {
        return common_ascii(short.as_bytes(), &long.as_bytes()[..long.len().min(LETTERS_MAX)]);
    }
    let (mut letters, mut counts) = ([['\0'; LETTERS_MAX]; 2], [0; 2]);
    for ((word, letters), count) in [a, b].into_iter().zip(&mut letters).zip(&mut counts) {
        for (c, letter) in word.chars().zip(letters) {
            *letter = c.to_ascii_lowercase();
            *count += 1;
        }
    }
    let [a, b] = [&letters[0][..counts[0]], &letters[1][..counts[1]]];
    let mut row = [0u8; LETTERS_MAX + 1];
    for x in a {
        let mut diagonal = 0;
        for (at, y) in b.iter().enumerate() {
            let up = row[at + 1];
            row[at + 1] = if x == y { diagonal + 1 } else { up.max(row[at]) };
            diagonal = up;
        }
    }
    row[b.len()].into()
}

/// Returns the length of the longest common subsequence of two ASCII words, the first of at most
/// eight letters. Each letter of `short` has a bit, and clear bits end a longer common subsequence
/// (Hyyro 2004, "Bit-parallel LCS-length computation revisited").
fn common_ascii(short: &[u8], long: &[u8]) -> usize {
    let ones = u64::MAX / 0xff;
    let folded = short.iter().rev().fold(0, |all, byte| all << 8 | u64::from(lower(*byte)));
    let known = (1u64 << short.len()) - 1;
    let mut row = known;
    for &byte in long {
        // Where bytes are equal, the low bits are all clear, and the sum carries nowhere.
        let differs = folded ^ (u64::from(lower(byte)) * ones);
        let differs = ((differs & (0x7f * ones)) + 0x7f * ones) >> 7 & ones;
        // Gathers the lowest bits of the bytes.
        let same = !(differs.wrapping_mul(0x0102_0408_1020_4080) >> 56) & row;
        row = (row.wrapping_add(same) | row.wrapping_sub(same)) & known;
    }
    short.len() - row.count_ones() as usize
}

/// Returns the lower case of an ASCII letter.
const fn lower(byte: u8) -> u8 {
    byte.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::super::Genre;
    use super::super::noisy::testing::{misread, text};
    use super::super::testing::analyzed;
    use super::*;
    use crate::compare::Passage;
    use crate::compare::passages::between;
    use proptest::prelude::*;

    fn are_noisy(a: &str, b: &str) -> bool {
        let [a, b] = [a, b].map(analyzed);
        let words = Words::new(&a.tokens.hashes, Stop::NEVER).unwrap();
        let steps = &mut Steps::unbounded(Stop::NEVER);
        !words.noisy_places(a.side(), b.side(), steps).unwrap().is_empty()
    }

    #[test]
    fn a_copy_with_wrong_letters_is_noisy_and_no_other_text() {
        for seed in 0..20 {
            let own = text(seed, 200);
            for share in [8, 15, 25] {
                assert!(are_noisy(&own, &misread(&own, share, seed)), "{seed} {share}");
            }
            assert!(!are_noisy(&own, &own));
            assert!(!are_noisy(&own, &text(seed + 100, 400)), "{seed}: another text");
            // Every third word is replaced.
            let others = text(seed + 200, 200);
            let words = own.split(' ').zip(others.split(' ')).enumerate();
            let words = words.map(|(at, (own, other))| if at % 3 == 1 { other } else { own });
            let rewritten = words.collect::<Vec<_>>().join(" ");
            assert!(!are_noisy(&own, &rewritten), "{seed}: other words");
        }
    }

    #[test]
    fn names_of_programs_that_are_nearly_equal_are_no_misread_words() {
        // Regression: any two lists of such names had their letters aligned.
        let list = |bits: u32| -> String {
            let name = |at| format!("read {at}w as u{bits} by read_u{bits} of readU{bits}s then ");
            (0..40).map(name).collect()
        };
        assert!(!are_noisy(&list(16), &list(32)));
    }

    #[test]
    fn a_noisy_page_in_a_long_text_is_seen() {
        for seed in 0..5 {
            let page = text(seed, 150);
            let book = format!("{} {page} {}", text(seed + 50, 5000), text(seed + 60, 5000));
            let recognized = misread(&page, 15, seed);
            assert!(are_noisy(&recognized, &book) && are_noisy(&book, &recognized), "{seed}");
        }
    }

    /// The longest common subsequence, row by row.
    fn longest(a: &[char], b: &[char]) -> usize {
        let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                let either = rows[i][j + 1].max(rows[i + 1][j]);
                rows[i + 1][j + 1] = if x == y { rows[i][j] + 1 } else { either };
            }
        }
        rows[a.len()][b.len()]
    }

    /// The longest common subsequence, by its definition.
    fn naive(a: &[char], b: &[char]) -> usize {
        match (a, b) {
            ([], _) | (_, []) => 0,
            ([x, a @ ..], [y, b @ ..]) if x == y => 1 + naive(a, b),
            ([_, left @ ..], [_, right @ ..]) => naive(left, b).max(naive(a, right)),
        }
    }

    #[test]
    fn all_of_a_page_that_was_read_twice_is_matched_by_any_number_of_wrong_letters() {
        // Regression: with few wrong letters, a sixth of a page was not in the other reading.
        let mut least = 1.0f64;
        for (seed, share) in (0..10).flat_map(|seed| [1, 2, 4, 8, 12].map(|share| (seed, share))) {
            let page = text(seed, 200);
            let [a, b] = [1, 2].map(|by| analyzed(misread(&page, share, seed << 8 | by)));
            let matched = |genre| {
                let found = between(a.side(), b.side(), genre, Stop::NEVER).unwrap().found;
                let of = |passage: &Passage| {
                    passage.matched_in_a().iter().map(|(from, to)| to - from).sum::<u32>()
                };
                f64::from(found.iter().map(of).sum::<u32>()) / a.text.len() as f64
            };
            assert!(matched(Genre::Scan) > 0.9, "{seed} {share}: {}", matched(Genre::Scan));
            least = least.min(matched(Genre::Prose));
        }
        assert!(least < 0.8, "{least}");
        // Other words at the same places are not misread.
        let words = |seed: u64| text(seed, 200).split(' ').map(str::to_owned).collect::<Vec<_>>();
        let other = words(3).into_iter().zip(words(4)).zip(0..);
        let other = other.map(|((own, other), at)| if at % 4 == 1 { other } else { own });
        let [a, b] = [words(3).join(" "), other.collect::<Vec<_>>().join(" ")].map(analyzed);
        let matched =
            |genre| between(a.side(), b.side(), genre, Stop::NEVER).unwrap().found[0].matched;
        assert!(matched(Genre::Scan) <= matched(Genre::Prose) + 5);
    }

    proptest! {
        #[test]
        fn names_and_numbers_are_those_of_programs(text in "[aB9_\u{e9}]{0,6}") {
            let word = NoisyWord::new(&text);
            let letters: Vec<char> = text.chars().collect();
            let is_within = letters.windows(2).any(|two| two == ['a', 'B']);
            prop_assert_eq!(word.is_name, text.contains('_') || is_within);
            prop_assert_eq!(word.has_digit, text.contains('9'));
            prop_assert_eq!(word.letters, letters.len());
        }

        #[test]
        fn common_letters_of_words_of_ascii_are_those_of_others(
            a in "[abcAB]{0,8}", b in "[abcdAB]{0,30}",
        ) {
            let folded = |word: &str| {
                word.to_ascii_lowercase().chars().take(LETTERS_MAX).collect::<Vec<char>>()
            };
            let [x, y] = [&a, &b].map(|word| folded(word));
            let of_ascii = common_letters(&a, &b);
            // An accent makes a word one of characters.
            let of_others = common_letters(&a, &(b + "\u{e9}"));
            prop_assert_eq!(of_ascii, longest(&x, &y));
            prop_assert_eq!(of_ascii, of_others);
        }

        #[test]
        fn common_letters_are_those_of_the_longest_common_subsequence(
            a in "[abcAB\u{e9}]{0,8}", b in "[abcAB\u{e9}]{0,8}",
        ) {
            let folded = |word: &str| word.to_ascii_lowercase().chars().collect::<Vec<char>>();
            let (x, y) = (folded(&a), folded(&b));
            prop_assert_eq!(common_letters(&a, &b), naive(&x, &y));
        }
    }

    #[test]
    fn one_word_again_and_again_takes_few_steps() {
        let text = analyzed("same ".repeat(20_000));
        let words = Words::new(&text.tokens.hashes, Stop::NEVER).unwrap();
        let mut steps = Steps::unbounded(Stop::NEVER);
        assert!(words.noisy_places(text.side(), text.side(), &mut steps).unwrap().is_empty());
        assert!(steps.taken() < 20 * 20_000, "{}", steps.taken());
    }
}
