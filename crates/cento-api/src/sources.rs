//! Where the text of a document is from.

use serde::{Deserialize, Serialize};

/// What a document has from where, in tokens. Each counts once: as boilerplate, else as known, else
/// as shared, else as new.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Sources {
    /// The id of the document.
    #[serde(rename = "document")]
    pub name: String,
    /// All its tokens.
    pub tokens: u32,
    /// Those that are in no passage.
    pub new: u32,
    /// Those in passages of documents that were known before.
    pub known: u32,
    /// Those in passages of other documents that are new.
    pub shared: u32,
    /// Those of specified boilerplate.
    pub boilerplate: u32,
    /// Whether the search for passages was not cut short; if it was, more of the new text may be
    /// known or shared.
    pub complete: bool,
}

impl Sources {
    /// Counts the tokens of a document, which are at these bytes, by the ranges of bytes of
    /// boilerplate, of passages of known documents, and of passages of new ones. `complete` tells
    /// whether these are all passages.
    pub fn of(
        name: String,
        places: impl Iterator<Item = u32>,
        mut ranges: [Vec<(u32, u32)>; 3],
        complete: bool,
    ) -> Sources {
        ranges.iter_mut().for_each(|ranges| *ranges = merged(std::mem::take(ranges)));
        let (mut tokens, mut counts) = (0, [0; 3]);
        for place in places {
            tokens += 1;
            if let Some(kind) = ranges.iter().position(|ranges| has(ranges, place)) {
                counts[kind] += 1;
            }
        }
        let [boilerplate, known, shared] = counts;
        let new = tokens - boilerplate - known - shared;
        Sources { name, tokens, new, known, shared, boilerplate, complete }
    }
}

/// Returns the union of ranges, ascending and disjoint.
fn merged(mut ranges: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    ranges.sort_unstable();
    let mut merged: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
    for (start, end) in ranges {
        match merged.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

fn has(ranges: &[(u32, u32)], at: u32) -> bool {
    let after = ranges.partition_point(|range| range.0 <= at);
    after > 0 && at < ranges[after - 1].1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_token_counts_once() {
        let places = (0..100).step_by(10);
        let ranges = [vec![(0, 10)], vec![(25, 45), (5, 25), (40, 41)], vec![(40, 70), (0, 5)]];
        let found = Sources::of("ann".into(), places, ranges, true);
        // Boilerplate at 0; known at 10 to 40; shared at 50 and 60; new at 70 to 90.
        let Sources { tokens, new, known, shared, boilerplate, .. } = found;
        assert_eq!((tokens, boilerplate, known, shared, new), (10, 1, 4, 2, 3));
    }
}
