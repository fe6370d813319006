//! Extends the places of a family at their ends, according to the text beside them.
//!
//! The ends of a passage differ between pairs of documents. So a version can have words at its end
//! while a second document has the same words directly beside its place. Such words were neither
//! added nor removed, and the place of the second document is extended to include the words.

use std::collections::HashSet;
use std::ops::Range;

use super::end_words::{SIDES, Side};
use super::link::Place;
use super::places::length;
use super::version::{Previous, Version, Words, versions, words};
use cento_api::error::Result;
use cento_api::part::part_range;
use cento_text::compare::place::Parted;
use cento_text::runtime::Stop;
use cento_text::text::Analyzer;

/// The maximum number of times that versions are compared. One extension can cause a second
/// extension only if the places of three wordings end differently.
const ROUNDS_MAX: usize = 8;

/// How far the alignment of words beside a place with wanted words may shift, in words.
const BAND: usize = 16;

/// The alignment ends when the balance drops this far below the best balance.
const DROP: i32 = 8;

/// How much text to read beside a place: bytes for each wanted word, and bytes in addition. Usual
/// words are shorter.
const BYTES_A_WORD: usize = 16;
const BYTES_MORE: usize = 256;

/// The text of a place, with some text around it.
#[derive(Debug)]
pub struct Excerpt {
    text: String,
    /// Where the text begins in the document, and whether the part has more text on each side.
    offset: u32,
    is_cut: [bool; 2],
    /// Whether the previous excerpt is from the same document.
    follows: bool,
    /// The place in the document.
    pub place: Place,
}

impl Excerpt {
    /// Copies a place of a document with the text available for extending the place: at most
    /// `margin` bytes on either side, within the part, up to the neighboring places.
    pub fn new(
        (text, parts): Parted<'_>,
        place: Place,
        margin: u32,
        before: Option<Place>,
        after: Option<Place>,
    ) -> Excerpt {
        let part = match parts.partition_point(|part| part.start <= place.0) {
            0 => 0..text.len(),
            after => part_range(parts, after - 1, text.len()),
        };
        let least = before.map_or(0, |before| before.1).max(part.start as u32).min(place.0);
        let most = after.map_or(u32::MAX, |after| after.0).min(part.end as u32).max(place.1);
        let start = place.0.saturating_sub(margin.min(length(place)));
        let end = place.1.saturating_add(margin.min(length(place)));
        let (from, to) = (start.max(least) as usize, end.min(most) as usize);
        let range = text.floor_char_boundary(from)..text.ceil_char_boundary(to);
        Excerpt {
            is_cut: [start > least, end < most],
            follows: before.is_some(),
            offset: range.start as u32,
            text: text.get(range).unwrap_or_default().to_owned(),
            place,
        }
    }

    pub fn text(&self) -> &str {
        self.text.get(self.range()).unwrap_or_default()
    }

    /// Returns the bytes from the beginning of the place up to this offset in the document.
    pub fn until(&self, offset: u32) -> &[u8] {
        let end = offset.saturating_sub(self.offset) as usize;
        self.text.as_bytes().get(self.range().start..end).unwrap_or_default()
    }

    fn range(&self) -> Range<usize> {
        (self.place.0 - self.offset) as usize..(self.place.1 - self.offset) as usize
    }

    /// Returns the words beside the place from the inside to the outside, with the end of the place
    /// if extended to the word. Reads enough text for `count` words.
    fn beside(
        &self,
        side: Side,
        count: usize,
        analyzer: &Analyzer,
        stop: &Stop,
    ) -> Result<Vec<(u64, u32)>> {
        let (place, bytes) = (self.range(), count.saturating_mul(BYTES_A_WORD) + BYTES_MORE);
        let range = match side {
            Side::Before => {
                self.text.floor_char_boundary(place.start.saturating_sub(bytes))..place.start
            }
            Side::After => {
                place.end..self.text.ceil_char_boundary((place.end + bytes).min(self.text.len()))
            }
        };
        let is_cut = match side {
            Side::Before => range.start > 0 || self.is_cut[0],
            Side::After => range.end < self.text.len() || self.is_cut[1],
        };
        let tokens = words(analyzer, self.text.get(range.clone()).unwrap_or_default(), stop)?;
        let offset = self.offset + range.start as u32;
        let ends = tokens.spans.iter().map(|span| match side {
            Side::Before => offset + span.start,
            Side::After => offset + span.end,
        });
        let mut found: Vec<(u64, u32)> = tokens.hashes.iter().copied().zip(ends).collect();
        if side == Side::Before {
            found.reverse();
        }
        // The outermost word may be cut off.
        if is_cut {
            found.pop();
        }
        Ok(found)
    }
}

/// Extends places of a passage to adjacent words, if a version has these words at its end. Returns
/// the versions.
///
/// # Errors
/// When a text is too large to be analyzed. [`Error::Cancelled`](cento::Error::Cancelled) soon
/// after `stop`.
pub fn settled_versions(
    excerpts: &mut [Excerpt],
    analyzer: &Analyzer,
    stop: &Stop,
) -> Result<Vec<Version>> {
    let words_of = |excerpt: &Excerpt| Words::new(analyzer, excerpt.text(), stop);
    let mut all = excerpts.iter().map(words_of).collect::<Result<Vec<Words>>>()?;
    let mut found = versions(&with_words(excerpts, &all), None, stop)?;
    let mut is_changed = vec![true; excerpts.len()];
    for _ in 1..ROUNDS_MAX {
        is_changed = extend(excerpts, &found, &is_changed, analyzer, stop)?;
        if !is_changed.contains(&true) {
            break;
        }
        for ((excerpt, words), _) in
            excerpts.iter().zip(&mut all).zip(&is_changed).filter(|(_, changed)| **changed)
        {
            *words = words_of(excerpt)?;
        }
        let previous = Previous { versions: &found, is_changed: &is_changed };
        found = versions(&with_words(excerpts, &all), Some(previous), stop)?;
    }
    Ok(found)
}

/// Returns the text and the words of each place.
fn with_words<'a>(excerpts: &'a [Excerpt], all: &'a [Words]) -> Vec<(&'a str, &'a Words)> {
    excerpts.iter().map(Excerpt::text).zip(all).collect()
}

/// Extends places to words of the version that they were compared with, and returns which places
/// changed. Skips pairs of versions without changes.
fn extend(
    excerpts: &mut [Excerpt],
    versions: &[Version],
    is_changed: &[bool],
    analyzer: &Analyzer,
    stop: &Stop,
) -> Result<Vec<bool>> {
    let mut places: Vec<Place> = excerpts.iter().map(|excerpt| excerpt.place).collect();
    // Versions with the same nearest version often lack the same words, so each search is made
    // once.
    let mut searched: HashSet<(usize, Side, &[u64], &[u64])> = HashSet::new();
    for (at, version) in versions.iter().enumerate() {
        let (Some(ends), Some(nearest)) = (&version.ends, version.nearest) else { continue };
        if !is_changed[at] && !is_changed[nearest] {
            continue;
        }
        for (side, [earlier, later]) in SIDES.iter().map(|&side| (side, ends.of(side))) {
            for (first, own, wanted) in [(nearest, earlier, later), (at, later, earlier)] {
                if !searched.insert((first, side, &own[..], &wanted[..])) {
                    continue;
                }
                let of_excerpt = |excerpt| found_beside(excerpt, side, own, wanted, analyzer, stop);
                let Some(end) = of_excerpt(&excerpts[first])? else { continue };
                set_end(&mut places[first], side, end);
                // Copies of a wording are extended too, so that the wording remains one.
                for copy in first + 1..excerpts.len() {
                    if versions[copy].number == versions[first].number
                        && let Some(end) = of_excerpt(&excerpts[copy])?
                    {
                        set_end(&mut places[copy], side, end);
                    }
                }
            }
        }
    }
    // Text between two places of a document goes to the place that had it before, or to the first.
    for at in 1..places.len() {
        let [before, own] = [excerpts[at - 1].place, excerpts[at].place];
        if !excerpts[at].follows {
            continue;
        }
        if places[at - 1].1 > own.0 {
            places[at - 1].1 = before.1;
        }
        if places[at].0 < places[at - 1].1 {
            places[at].0 = own.0;
        }
    }
    let has_grown = excerpts.iter_mut().zip(places).map(|(excerpt, place)| {
        let before = std::mem::replace(&mut excerpt.place, place);
        before != place
    });
    Ok(has_grown.collect())
}

fn set_end(place: &mut Place, side: Side, end: u32) {
    match side {
        Side::Before => place.0 = place.0.min(end),
        Side::After => place.1 = place.1.max(end),
    }
}

/// Returns the end of a place after extending the place to `wanted` words beside it. The `wanted`
/// words are at the end of a different version, where the place itself has only its `own` words.
/// Words are in order from the inside to the outside.
fn found_beside(
    excerpt: &Excerpt,
    side: Side,
    own: &[u64],
    wanted: &[u64],
    analyzer: &Analyzer,
    stop: &Stop,
) -> Result<Option<u32>> {
    if wanted.is_empty() {
        return Ok(None);
    }
    let beside = excerpt.beside(side, wanted.len(), analyzer, stop)?;
    let words: Vec<u64> = own.iter().copied().chain(beside.iter().map(|&(hash, _)| hash)).collect();
    let found = common_start(wanted, &words);
    Ok(found.checked_sub(own.len() + 1).map(|at| beside[at].1))
}

/// Returns how many words at the beginning of `words` match the beginning of `wanted` best. Common
/// words raise the balance, and differing words lower it.
fn common_start(wanted: &[u64], words: &[u64]) -> usize {
    // A row holds balances by shift: how far the number of words is ahead of the number of wanted
    // words.
    let width = 2 * BAND + 1;
    let none = i32::MIN / 2;
    let mut row: Vec<i32> =
        (0..width).map(|at| if at < BAND { none } else { -((at - BAND) as i32) }).collect();
    let (mut best, mut count) = (0, 0);
    let mut next = row.clone();
    for (at, &word) in wanted.iter().enumerate() {
        next.fill(none);
        for column in 0..width {
            // How many words are compared with the first `at + 1` wanted words.
            let Some(taken) = (at + 1 + column).checked_sub(BAND) else { continue };
            if taken > words.len() {
                break;
            }
            let without = row.get(column + 1).map_or(none, |balance| balance - 1);
            let more = if column > 0 { next[column - 1] - 1 } else { none };
            let both = match taken.checked_sub(1) {
                Some(last) => row[column] + if words[last] == word { 1 } else { -1 },
                None => none,
            };
            next[column] = both.max(without).max(more);
            if next[column] > best {
                (best, count) = (next[column], taken);
            }
        }
        std::mem::swap(&mut row, &mut next);
        if row.iter().max().is_none_or(|&most| most < best - DROP) {
            break;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn settled(texts: &[(&str, &str)]) -> Vec<String> {
        let mut excerpts: Vec<Excerpt> = texts
            .iter()
            .map(|(text, place)| {
                let start = text.find(place).unwrap() as u32;
                let place = (start, start + place.len() as u32);
                Excerpt::new((text, &[]), place, u32::MAX, None, None)
            })
            .collect();
        let analyzer = Analyzer::default();
        let versions = settled_versions(&mut excerpts, &analyzer, Stop::NEVER).unwrap();
        let shown = excerpts.iter().zip(versions).map(|(excerpt, version)| {
            let changes = version.changes.iter();
            let changes = changes.map(|change| format!("{}>{}", change.removed, change.added));
            format!("{} [{}]", excerpt.text(), changes.collect::<Vec<_>>().join(","))
        });
        shown.collect()
    }

    #[test]
    fn a_place_is_extended_to_the_words_beside_it_that_another_has_at_its_end() {
        let check = |texts: &[(&str, &str)], expected: &[&str]| {
            assert_eq!(settled(texts), expected, "{texts:?}");
        };
        let whole = "one two three four five six seven eight";
        let ends = "three four five six";
        check(
            &[("x one two three four five six seven eight y", ends), (whole, whole)],
            &[&format!("{whole} []"), &format!("{whole} []")],
        );
        // Either wording is extended, and so are copies.
        check(
            &[
                (whole, whole),
                ("two three four five six y", ends),
                ("z two three four five six", ends),
            ],
            &[
                &format!("{whole} []"),
                "two three four five six [one>,seven eight>]",
                "two three four five six []",
            ],
        );
        // The common words have a different word between them.
        check(
            &[("one two 2 three four five six y", ends), (whole, whole)],
            &["one two 2 three four five six []", &format!("{whole} [2>,>seven eight]")],
        );
        // The words occur twice, once beside the place.
        let rest = "was four five six seven eight nine ten";
        let (once, twice) =
            (format!("one two three {rest}"), format!("one two three 2 one two three {rest}"));
        let other = twice.replace(" 2", "");
        check(
            &[(&twice, &once), (&other, &other)],
            &[&format!("{twice} []"), &format!("{other} [2>]")],
        );
        // Words that are not beside the place were added.
        check(
            &[("eight three four five six one", ends), (whole, whole)],
            &["three four five six []", &format!("{whole} [>one two,>seven eight]")],
        );
    }

    #[test]
    fn two_places_of_a_document_are_not_extended_to_the_same_words() {
        // The first and the second place could take the word in between.
        let (passage, wanted) = ("one two three four five six", "x one two three four five six x");
        let twice = format!("{passage} x {passage}");
        let places = [(0, passage.len() as u32), (passage.len() as u32 + 3, twice.len() as u32)];
        let [first, second] = places;
        let mut excerpts = vec![
            Excerpt::new((wanted, &[]), (0, wanted.len() as u32), u32::MAX, None, None),
            Excerpt::new((&twice, &[]), first, u32::MAX, None, Some(second)),
            Excerpt::new((&twice, &[]), second, u32::MAX, Some(first), None),
        ];
        settled_versions(&mut excerpts, &Analyzer::default(), Stop::NEVER).unwrap();
        let [_, first, second] = &excerpts[..] else { unreachable!("there are three") };
        assert_eq!((first.text(), second.text()), (&*format!("{passage} x"), passage));
    }

    #[test]
    fn a_place_is_not_extended_beyond_its_part_or_into_another_place() {
        let (text, parts) =
            ("one two\nthree four five", [0, 8].map(|at| cento_api::Part::new(at.to_string(), at)));
        let excerpt = Excerpt::new((text, &parts), (8, 13), 100, None, Some((19, 23)));
        assert_eq!((excerpt.text.as_str(), excerpt.offset), ("three four", 8));
    }

    /// The definition of `common_start` without a band.
    fn slowly(wanted: &[u64], words: &[u64]) -> usize {
        let balance = |row: usize, column: usize| -> i32 {
            let mut table = vec![vec![0i32; column + 1]; row + 1];
            for one in 0..=row {
                for other in 0..=column {
                    table[one][other] = match (one, other) {
                        (0, _) => -(other as i32),
                        (_, 0) => -(one as i32),
                        _ => {
                            let is_same = wanted[one - 1] == words[other - 1];
                            let both = table[one - 1][other - 1] + if is_same { 1 } else { -1 };
                            both.max(table[one - 1][other] - 1).max(table[one][other - 1] - 1)
                        }
                    };
                }
            }
            table[row][column]
        };
        let (mut best, mut count) = (0, 0);
        for row in 0..=wanted.len() {
            for column in 0..=words.len() {
                if balance(row, column) > best {
                    (best, count) = (balance(row, column), column);
                }
            }
        }
        count
    }

    proptest! {
        #[test]
        fn the_words_that_are_most_like_the_wanted_ones_are_found(
            wanted in prop::collection::vec(0u64..4, 0..8),
            words in prop::collection::vec(0u64..4, 0..8),
        ) {
            prop_assert_eq!(common_start(&wanted, &words), slowly(&wanted, &words));
        }
    }
}
