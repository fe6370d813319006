//! The spans of a text that other documents have: passages that do not overlap.
//!
//! Passages of many documents begin and end at different words. The one that says most is a span,
//! and documents with passages within it are its carriers. Of another passage, a part that no span
//! has is a span too if it is more than half of the passage; a smaller one is added to the span
//! beside it, so that every matched word is in a span. Joining all that overlap instead would make
//! one span of a text whose sources overlap each other, which no document has.

use std::cmp::Reverse;
use std::ops::Range;

use super::Reuse;
use crate::compare::shares::Ranges;
use crate::text::is_white_space;

/// Collects passages, and makes spans of them.
pub struct Spans<F> {
    /// The size of ranges, in characters or tokens that count.
    size_of: F,
    passages: Vec<Seed>,
}

/// A passage that may be a span.
#[derive(PartialEq)]
struct Seed {
    /// How much it says: bits, or its size where these are unknown.
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
        // Passages that are equal in all of this make the same spans.
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

/// Returns the parts of a passage that are in none of the ascending, disjoint spans.
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

/// Returns the span beside a piece that no span has; of two that are as near, the one before.
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
