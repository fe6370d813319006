//! Cuts passages out of a text.

use std::ops::Range;

use cento_api::Part;

use crate::seam::widened;
use cento::index::Document;

/// The number of rounds that cut no more than the found passages.
const ROUNDS: u32 = 8;

/// Returns how many bytes to cut on either side of the passages found in this round. Rounds count
/// from 0. After the first rounds the number doubles each round, because nested passages would
/// otherwise take a round per level.
pub fn around(round: u32) -> u32 {
    round.checked_sub(ROUNDS).map_or(0, |more| 1 << more.min(30))
}

/// A text after cuts, with the places that remain of the original text.
#[derive(Debug)]
pub struct Cutting {
    /// The text after the cuts so far.
    pub text: String,
    /// The ranges of the original text that remain, ascending.
    rest: Vec<Range<usize>>,
}

impl Cutting {
    pub fn new(text: &str) -> Cutting {
        Cutting { text: text.to_owned(), rest: std::iter::once(0..text.len()).collect() }
    }

    /// Cuts ranges of the remaining text, which are ascending and do not overlap. A letter that a
    /// range touches is cut whole. Returns whether anything was cut.
    pub fn cut(&mut self, ranges: &[(u32, u32)]) -> bool {
        let before = self.text.len();
        let mut left = without(before, &whole_letters(&self.text, ranges));
        self.text = left.iter().map(|range| &self.text[range.clone()]).collect();
        left.retain(|range| !range.is_empty());
        let mut rest = Vec::new();
        let mut begin = 0;
        for part in std::mem::take(&mut self.rest) {
            let of_part = begin..begin + part.len();
            begin = of_part.end;
            for range in &left {
                let both = range.start.max(of_part.start)..range.end.min(of_part.end);
                if both.start < both.end {
                    let start = part.start + (both.start - of_part.start);
                    rest.push(start..start + both.len());
                }
            }
        }
        self.rest = rest;
        self.text.len() < before
    }

    /// Returns the pieces of the original text behind a range of the remaining text, ascending.
    /// With each piece comes the byte of the remaining text where the piece begins.
    pub fn pieces(&self, start: u32, end: u32) -> Vec<(u32, (u32, u32))> {
        let (start, end) = (start as usize, end as usize);
        let (mut pieces, mut begin) = (Vec::new(), 0);
        for part in &self.rest {
            let both = start.max(begin)..end.min(begin + part.len());
            if both.start < both.end {
                let whole = part.start + (both.start - begin);
                pieces.push((both.start as u32, (whole as u32, (whole + both.len()) as u32)));
            }
            begin += part.len();
        }
        pieces
    }
}

/// Returns the text without these ranges, which are ascending and do not overlap.
pub fn cut(text: &str, ranges: &[(u32, u32)]) -> String {
    without(text.len(), ranges).into_iter().map(|range| &text[range]).collect()
}

/// Returns the text of a document without these ranges, which are ascending and do not overlap. The
/// parts are returned with the start of their remaining text.
///
/// ```
/// use cento::Document;
///
/// let document = Document::new("page", "Share this page! The news of the day.");
/// assert_eq!(cento_collections::cut_out(&document, &[(0, 17)]).0, "The news of the day.");
/// ```
#[must_use]
pub fn cut_out(document: &Document, ranges: &[(u32, u32)]) -> (String, Vec<Part>) {
    let (ranges, parts) = within_parts(ranges, &document.parts);
    (cut(&document.text, &ranges), parts)
}

/// Returns what to cut so that the remaining text still reads as text: the given ranges with
/// adjacent marks and blanks, within the parts. The ranges are ascending and do not overlap.
#[must_use]
pub fn clean_cuts(document: &Document, ranges: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let Document { text, parts, .. } = document;
    widened(text, parts, &within_parts(ranges, parts).0)
}

/// Splits ranges at the line feeds between parts, so that a cut keeps the line feeds, and returns
/// the parts at their places in the remaining text.
pub fn within_parts(ranges: &[(u32, u32)], parts: &[Part]) -> (Vec<(u32, u32)>, Vec<Part>) {
    let mut within = Vec::new();
    for &(mut start, end) in ranges {
        let after = parts.partition_point(|part| part.start <= start);
        for part in &parts[after..] {
            if part.start > end {
                break;
            }
            within.push((start, part.start - 1));
            start = part.start;
        }
        within.push((start, end));
    }
    within.retain(|range| range.0 < range.1);
    let cut_before = |at: u32| -> u32 {
        let before = within.iter().map(|range| range.1.min(at).saturating_sub(range.0));
        before.sum()
    };
    let moved = |part: &Part| Part::new(part.name.clone(), part.start - cut_before(part.start));
    let parts = parts.iter().map(moved).collect();
    (within, parts)
}

/// Widens ranges to whole letters, because tokens may be single bytes.
pub fn whole_letters(text: &str, ranges: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut whole: Vec<(u32, u32)> = Vec::new();
    for &(mut start, mut end) in ranges {
        while !text.is_char_boundary(start as usize) {
            start -= 1;
        }
        while !text.is_char_boundary(end as usize) {
            end += 1;
        }
        let start = start.max(whole.last().map_or(0, |last| last.1));
        whole.push((start, end.max(start)));
    }
    whole
}

/// Returns the ranges between the given ranges, in a text of this length.
fn without(len: usize, ranges: &[(u32, u32)]) -> Vec<Range<usize>> {
    let starts = std::iter::once(0).chain(ranges.iter().map(|range| range.1 as usize));
    let ends = ranges.iter().map(|range| range.0 as usize).chain(std::iter::once(len));
    starts.zip(ends).map(|(start, end)| start..end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_letter_is_cut_as_a_whole() {
        let mut cutting = Cutting::new("a\u{e9}\u{4e00}b");
        assert!(!cutting.cut(&[(1, 1)]));
        assert!(cutting.cut(&[(2, 3), (4, 5)]));
        assert_eq!(
            (cutting.text.as_str(), cutting.pieces(0, 2)),
            ("ab", vec![(0, (0, 1)), (1, (6, 7))])
        );
    }

    proptest! {
        #[test]
        fn each_part_has_the_rest_of_its_own_text(
            texts in prop::collection::vec("[a-c]{0,6}", 1..5),
            mut bounds in prop::collection::vec(0u32..40, 0..8),
        ) {
            let named = texts.iter().enumerate().map(|(at, own)| (at.to_string(), own));
            let Document { text, parts, .. } = Document::of_parts("", named);
            bounds.iter_mut().for_each(|bound| *bound = (*bound).min(text.len() as u32));
            bounds.sort_unstable();
            bounds.dedup();
            let ranges: Vec<(u32, u32)> =
                bounds.chunks_exact(2).map(|two| (two[0], two[1])).collect();
            let is_cut = |at: usize| ranges.iter().any(|r| (r.0..r.1).contains(&(at as u32)));
            let (within, moved) = within_parts(&ranges, &parts);
            let left = cut(&text, &within);
            prop_assert_eq!(cento_api::part::parts_problem(&moved, &left), None);
            let found = cento_api::part::part_texts(&moved, &left);
            for (part, (own, (name, found))) in parts.iter().zip(texts.iter().zip(found)) {
                let rest = own.char_indices().filter(|(at, _)| !is_cut(part.start as usize + at));
                let rest: String = rest.map(|(_, letter)| letter).collect();
                prop_assert_eq!((name, found), (part.name.as_str(), rest.as_str()));
            }
        }

        #[test]
        fn the_cuts_of_several_rounds_leave_the_same_rest_at_once(
            len in 0usize..40,
            rounds in prop::collection::vec(prop::collection::vec((0u32..40, 0u32..6), 0..4), 0..4),
        ) {
            // Each letter occurs once, so equal texts have equal places.
            let text: String = (0..len).map(|at| (b'!' + at as u8) as char).collect();
            let mut cutting = Cutting::new(&text);
            let mut pieces = Vec::new();
            for mut round in rounds {
                let len = cutting.text.len() as u32;
                round.sort_unstable();
                let mut ranges: Vec<(u32, u32)> = Vec::new();
                for (start, bytes) in round {
                    let start = start.max(ranges.last().map_or(0, |last| last.1)).min(len);
                    ranges.push((start, (start + bytes).min(len)));
                }
                for &range in &ranges {
                    let own = cutting.pieces(range.0, range.1);
                    let of_whole = own.iter().map(|(_, (a, b))| &text[*a as usize..*b as usize]);
                    let of_rest = &cutting.text[range.0 as usize..range.1 as usize];
                    prop_assert_eq!(of_whole.collect::<String>(), of_rest);
                    for &(start, (a, b)) in &own {
                        let piece = &text[a as usize..b as usize];
                        prop_assert!(cutting.text[start as usize..].starts_with(piece));
                    }
                    pieces.extend(own.into_iter().map(|(_, piece)| piece));
                }
                cutting.cut(&ranges);
            }
            pieces.sort_unstable();
            prop_assert_eq!(cut(&text, &pieces), cutting.text.as_str());
        }
    }
}
