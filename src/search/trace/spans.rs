//! The spans of a text that other documents have, made from passages, without overlaps.
//!
//! The passage with the most information becomes a span, and documents with passages within it are
//! its carriers. From the remaining passages, a part outside the spans becomes a span if the part
//! is more than half of the passage. A smaller part is added to the nearest span, so that every
//! matched word is in a span. Merging all overlapping passages instead would turn a text with
//! overlapping sources into a single span that no document has.

use std::cmp::Reverse;
use std::ops::Range;

use super::Reuse;
use crate::compare::shares::Ranges;
use crate::text::is_white_space;

/// Collects passages and makes spans.
pub struct Spans<F> {
    /// Returns the size of ranges, in characters or tokens that count.
    size_of: F,
    passages: Vec<Seed>,
}

/// A passage that may become a span.
#[derive(PartialEq)]
struct Seed {
    /// The information in bits, or the size where the information is unknown.
    says: f64,
    size: u32,
    place: Range<u32>,
    matched: Ranges,
}

impl<F: Fn(&Ranges) -> u32> Spans<F> {
    pub fn new(size_of: F) -> Spans<F> {
        Spans { size_of, passages: Vec::new() }
    }

    pub fn add(&mut self, reuse: &Reuse) {
        let size = (self.size_of)(&reuse.matched);
        let says = reuse.passage.evidence.unwrap_or_else(|| size.into());
        let (place, matched) = (reuse.a.clone(), reuse.matched.clone());
        self.passages.push(Seed { says, size, place, matched });
    }

    /// Returns the spans in the order of the text.
    pub fn finish(mut self, text: &str) -> Vec<Range<u32>> {
        // Passages equal in all these values make the same spans, so their order does not matter.
        let key = |seed: &Seed| (Reverse(seed.size), seed.place.start, seed.place.end);
        self.passages.sort_by(|a, b| b.says.total_cmp(&a.says).then_with(|| key(a).cmp(&key(b))));
        self.passages.dedup();
        let mut spans: Vec<Range<u32>> = Vec::new();
        for Seed { size, place, matched, .. } in self.passages {
            for piece in outside(&spans, &place) {
                let piece = trimmed(text, piece);
                let within = Ranges::new(vec![piece.clone()]);
                let own = size - (self.size_of)(&matched.without(&within));
                if own == 0 {
                    continue;
                }
                let beside = if 2 * own > size { None } else { nearest(&spans, &piece) };
                match beside {
                    Some(at) => {
                        let span = &mut spans[at];
                        *span = span.start.min(piece.start)..span.end.max(piece.end);
                    }
                    None => {
                        let at = spans.partition_point(|span| span.start < piece.start);
                        spans.insert(at, piece);
                    }
                }
            }
        }
        spans
    }
}

/// Returns the parts of a passage outside the ascending, disjoint spans.
fn outside(spans: &[Range<u32>], place: &Range<u32>) -> Vec<Range<u32>> {
    let first = spans.partition_point(|span| span.end <= place.start);
    let overlapping = spans[first..].iter().take_while(|span| span.start < place.end);
    let (mut pieces, mut start) = (Vec::new(), place.start);
    for span in overlapping {
        pieces.push(start..span.start);
        start = span.end;
    }
    pieces.push(start..place.end);
    pieces.retain(|piece| piece.start < piece.end);
    pieces
}

/// Returns the span nearest to a piece that no span has. Ties go to the span before.
fn nearest(spans: &[Range<u32>], piece: &Range<u32>) -> Option<usize> {
    let after = spans.partition_point(|span| span.start < piece.start);
    let distance = |at: usize| match at < after {
        true => piece.start.saturating_sub(spans[at].end),
        false => spans[at].start.saturating_sub(piece.end),
    };
    let sides = [after.checked_sub(1), Some(after).filter(|&after| after < spans.len())];
    sides.into_iter().flatten().min_by_key(|&at| (distance(at), at))
}

/// Returns the range without white space at its ends.
fn trimmed(text: &str, range: Range<u32>) -> Range<u32> {
    let Some(part) = text.get(range.start as usize..range.end as usize) else { return range };
    let end = part.trim_end_matches(is_white_space).len();
    let start = end - part[..end].trim_start_matches(is_white_space).len();
    range.start + start as u32..range.start + end as u32
}
