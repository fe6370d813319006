//! The page and line of its text on which a passage begins.
//!
//! Form feeds (U+000C) end pages, as in plain RFCs and in text extracted from PDF and slides; line
//! feeds end lines.

use super::{Passage, Unit};

/// Sets the pages and lines on which passages of bytes begin.
pub fn place(passages: &mut [Passage], query: &str, document: &str) {
    if passages.is_empty() {
        return;
    }
    let starts = |of: fn(&Passage) -> u32| passages.iter().map(of).collect::<Vec<_>>();
    let in_query = places(query, &starts(|found| found.query.0));
    let in_document = places(document, &starts(|found| found.hit.0));
    let found = in_query.into_iter().zip(in_document);
    for (passage, (in_query, in_document)) in passages.iter_mut().zip(found) {
        debug_assert_eq!(passage.unit, Unit::Bytes, "places in a text are of bytes");
        (passage.query_page, passage.query_line) = in_query;
        (passage.hit_page, passage.hit_line) = in_document;
    }
}

/// Returns the page and the line of each offset in a text, counted from 1: no page for a text
/// without form feeds, no line for a text of one line.
///
/// One pass over the text, whatever the number of offsets, and no memory for its lines.
fn places(text: &str, offsets: &[u32]) -> Vec<(Option<u32>, Option<u32>)> {
    let mut order: Vec<usize> = (0..offsets.len()).collect();
    order.sort_unstable_by_key(|&at| offsets[at]);
    let mut places = vec![(1, 1); offsets.len()];
    let (mut page, mut line) = (1, 1);
    let mut next = order.into_iter().peekable();
    for end in memchr::memchr2_iter(b'\x0c', b'\n', text.as_bytes()) {
        while let Some(at) = next.next_if(|&at| offsets[at] as usize <= end) {
            places[at] = (page, line);
        }
        match text.as_bytes()[end] {
            b'\n' => line += 1,
            _ => page += 1,
        }
    }
    next.for_each(|at| places[at] = (page, line));
    let shown =
        |(its_page, its_line)| ((page > 1).then_some(its_page), (line > 1).then_some(its_line));
    places.into_iter().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        // The last line has an end, as those of files do.
        check("a\n", &[0], &[(None, Some(1))]);
        check("", &[0], &[(None, None)]);
        check("a\nb", &[], &[]);
    }

    #[test]
    fn a_passage_has_its_places_in_both_texts() {
        let passage = |query: u32, hit: u32| {
            Passage::new((query, query + 1), (hit, hit + 1), Unit::Bytes, 1, 1.0)
        };
        let mut passages = [passage(4, 2), passage(0, 0)];
        place(&mut passages, "a\n\x0cbc", "a\nb");
        let places = passages
            .map(|found| [found.query_page, found.query_line, found.hit_page, found.hit_line]);
        assert_eq!(places[0], [Some(2), Some(2), None, Some(2)]);
        assert_eq!(places[1], [Some(1), Some(1), None, Some(1)]);
    }
}
