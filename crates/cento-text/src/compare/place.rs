//! The part, the page and the line on which a passage begins.
//!
//! Form feeds (U+000C) end pages, as in plain RFCs and in text extracted from PDF and slides. Line
//! feeds end lines. In a text with parts, pages and lines are counted from the beginning of the
//! part.

use cento_api::Part;
use cento_api::part::{part_at, part_range};

use super::{Passage, Unit};

/// A text and its parts, if any.
pub type Parted<'a> = (&'a str, &'a [Part]);

/// Sets the parts, pages and lines on which passages of bytes begin.
pub fn place(passages: &mut [Passage], query: Parted<'_>, document: Parted<'_>) {
    if passages.is_empty() {
        return;
    }
    let starts = |of: fn(&Passage) -> u32| passages.iter().map(of).collect::<Vec<_>>();
    let in_query = places_in_parts(query, &starts(|found| found.a.0));
    let in_document = places_in_parts(document, &starts(|found| found.b.0));
    let found = in_query.into_iter().zip(in_document);
    for (passage, (in_query, in_document)) in passages.iter_mut().zip(found) {
        debug_assert_eq!(passage.unit, Unit::Bytes, "places in a text are of bytes");
        (passage.a_page, passage.a_line) = in_query;
        (passage.b_page, passage.b_line) = in_document;
        let name = |part: &Part| part.name.clone();
        passage.a_part = part_at(query.1, passage.a.0).map(name);
        passage.b_part = part_at(document.1, passage.b.0).map(name);
    }
}

/// Returns the page and the line of each offset in a text, within its part.
pub fn places_in_parts((text, parts): Parted<'_>, offsets: &[u32]) -> Vec<Place> {
    if parts.is_empty() {
        return places(text, offsets);
    }
    let mut order: Vec<usize> = (0..offsets.len()).collect();
    order.sort_unstable_by_key(|&at| offsets[at]);
    let part_of = |at: usize| parts.partition_point(|part| part.start <= offsets[at]).max(1) - 1;
    let mut found = vec![(None, None); offsets.len()];
    for in_part in order.chunk_by(|&one, &other| part_of(one) == part_of(other)) {
        let range = part_range(parts, part_of(in_part[0]), text.len());
        let start = range.start as u32;
        let within: Vec<u32> =
            in_part.iter().map(|&at| offsets[at].saturating_sub(start)).collect();
        let places = places(text.get(range).unwrap_or_default(), &within);
        in_part.iter().zip(places).for_each(|(&at, place)| found[at] = place);
    }
    found
}

/// A page and a line, counted from 1. `None` as in [`places`].
pub type Place = (Option<u32>, Option<u32>);

/// Returns the page and the line of each offset in a text, counted from 1. A text without form
/// feeds has no pages, and a text of one line has no lines.
///
/// Makes a single pass over the text for any number of offsets, without memory for lines.
///
/// ```
/// use cento_text::compare::place::places;
///
/// assert_eq!(places("one\ntwo\n", &[4]), [(None, Some(2))]);
/// // A form feed ends a page.
/// assert_eq!(places("one\u{c}two", &[4])[0].0, Some(2));
/// ```
pub fn places(text: &str, offsets: &[u32]) -> Vec<Place> {
    let mut order: Vec<usize> = (0..offsets.len()).collect();
    order.sort_unstable_by_key(|&at| offsets[at]);
    let mut places = vec![(1, 1); offsets.len()];
    let (mut page, mut line, mut counted) = (1, 1, 0);
    for at in order {
        let offset = (offsets[at] as usize).min(text.len());
        // An offset between CR and LF belongs to the line before: CR LF ends after the offset.
        let offset = offset - usize::from(offset > 0 && is_half_end(text.as_bytes(), offset - 1));
        let before = &text.as_bytes()[counted..offset.max(counted)];
        page += count(b'\x0c', before) as u32;
        line += line_ends(before) as u32;
        places[at] = (page, line);
        counted = offset.max(counted);
    }
    let after = &text.as_bytes()[counted..];
    page += count(b'\x0c', after) as u32;
    line += line_ends(after) as u32;
    let shown =
        |(its_page, its_line)| ((page > 1).then_some(its_page), (line > 1).then_some(its_line));
    places.into_iter().map(shown).collect()
}

/// Returns whether the byte at `at` is the CR of CR LF, which is a single line end.
fn is_half_end(text: &[u8], at: usize) -> bool {
    text[at] == b'\r' && text.get(at + 1) == Some(&b'\n')
}

/// Returns the number of line ends: LF, CR LF or CR.
pub fn line_ends(text: &[u8]) -> usize {
    // Counting a byte is far faster than finding every occurrence, and few texts have a CR.
    let Some(first) = memchr::memchr(b'\r', text) else { return count(b'\n', text) };
    let rest = &text[first..];
    let pairs = memchr::memchr_iter(b'\r', rest).filter(|&at| is_half_end(rest, at));
    count(b'\n', text) + count(b'\r', rest) - pairs.count()
}

fn count(byte: u8, text: &[u8]) -> usize {
    memchr::memchr_iter(byte, text).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, offsets: &[u32], expected: &[(Option<u32>, Option<u32>)]) {
        assert_eq!(places(text, offsets), expected, "{text:?}");
    }

    #[test]
    fn pages_and_lines_are_counted_from_one() {
        check("a b", &[2, 0], &[(None, None); 2]);
        check("a\nb\nc", &[4, 0, 2, 1], &[3, 1, 2, 1].map(|line| (None, Some(line))));
        check("a\x0cb\x0c\x0cc", &[5, 2, 0], &[4, 2, 1].map(|page| (Some(page), None)));
        check("a\nb\x0cc", &[4, 2], &[(Some(2), Some(2)), (Some(1), Some(2))]);
        // The last line has an end, as in most files.
        check("a\n", &[0], &[(None, Some(1))]);
        check("", &[0], &[(None, None)]);
        // Old files end lines with CR alone.
        check("a\rb\rc", &[4, 0, 2, 1], &[3, 1, 2, 1].map(|line| (None, Some(line))));
        check("a\r\nb\r\n\rc", &[7, 0, 3], &[4, 1, 2].map(|line| (None, Some(line))));
        assert_eq!(
            ["", "a\r\nb\r\n\rc", "\r\n", "\n\r"].map(|text| line_ends(text.as_bytes())),
            [0, 3, 1, 2]
        );
        check("a\nb", &[], &[]);
    }

    /// Follows the definition: counts every line end and form feed before the offset.
    fn naive(text: &[u8], offset: usize) -> Place {
        let is_end = |at: &usize| match text[*at] {
            b'\r' => text.get(at + 1) != Some(&b'\n'),
            byte => byte == b'\n',
        };
        let lines = |to: usize| (0..to).filter(is_end).count() as u32 + 1;
        let pages =
            |to: usize| text[..to].iter().filter(|&&byte| byte == b'\x0c').count() as u32 + 1;
        let shown = |all: u32, its: u32| (all > 1).then_some(its);
        (shown(pages(text.len()), pages(offset)), shown(lines(text.len()), lines(offset)))
    }

    proptest! {
        #[test]
        fn places_are_those_of_counting_one_by_one(
            text in "[ab\n\r\x0c]{0,24}", offsets in proptest::collection::vec(0usize..25, 0..6),
        ) {
            let offsets: Vec<usize> = offsets.into_iter().map(|at| at.min(text.len())).collect();
            let found = places(&text, &offsets.iter().map(|&at| at as u32).collect::<Vec<_>>());
            let expected = offsets.iter().map(|&at| naive(text.as_bytes(), at));
            prop_assert_eq!(found, expected.collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_passage_has_its_places_in_both_texts() {
        let passage = |query: u32, hit: u32| {
            Passage::new((query, query + 1), (hit, hit + 1), Unit::Bytes, 1, 1.0)
        };
        let mut passages = [passage(4, 2), passage(0, 0)];
        place(&mut passages, ("a\n\x0cbc", &[]), ("a\nb", &[]));
        let places = passages.map(|found| [found.a_page, found.a_line, found.b_page, found.b_line]);
        assert_eq!(places[0], [Some(2), Some(2), None, Some(2)]);
        assert_eq!(places[1], [Some(1), Some(1), None, Some(1)]);
    }

    #[test]
    fn pages_and_lines_are_counted_within_a_part() {
        let text = "a\nb\n\x0cc\nd\n\ne";
        // Parts of three lines, of two pages, without text, and of one line.
        let parts = [("x", 0), ("y", 4), ("empty", 9), ("z", 10)];
        let parts = parts.map(|(name, start)| Part::new(name, start));
        let offsets = [10, 2, 7, 0, 5];
        let found = places_in_parts((text, &parts), &offsets);
        let line = |line| (None, Some(line));
        let page = |page, line| (Some(page), Some(line));
        assert_eq!(found, [(None, None), line(2), page(2, 2), line(1), page(2, 1)]);
        let passage = Passage::new((2, 3), (7, 8), Unit::Bytes, 1, 1.0);
        let mut passages = [passage];
        place(&mut passages, (text, &parts), (text, &parts));
        let [passage] = passages;
        let names = (passage.a_part.as_deref(), passage.b_part.as_deref());
        assert_eq!(names, (Some("x"), Some("y")));
        assert_eq!((passage.a_line, passage.b_page), (Some(2), Some(2)));
    }
}
