//! Where the text of a document is from.

use serde::{Deserialize, Serialize};

/// How many tokens of a document come from where. A token counts once: as boilerplate, or else as
/// known, or else as shared, or else as new.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Sources {
    /// The id of the document.
    #[serde(rename = "document")]
    pub name: String,
    /// The number of tokens of the document.
    pub tokens: u32,
    /// Tokens in no passage.
    pub new: u32,
    /// Tokens in passages of documents that were known before.
    pub known: u32,
    /// Tokens in passages of further new documents.
    pub shared: u32,
    /// Tokens in text that you excluded: boilerplate, quotations and bibliographies.
    pub boilerplate: u32,
    /// Whether the search for passages ran to its end. If not, some of the new text may be known or
    /// shared.
    pub complete: bool,
}

/// A document that shares passages with the counted document, and the matched bytes of the counted
/// document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceRanges {
    /// The id of the source.
    pub id: String,
    /// The index of the source. `None` if the source is new, too.
    pub index: Option<String>,
    /// The matched bytes of the counted document, in any order.
    pub ranges: Vec<(u32, u32)>,
}

/// A document whose tokens are counted by their sources.
///
/// ```
/// use cento_api::{SourceRanges, SourcedDocument};
///
/// // Four tokens: the first is boilerplate, the next one is in an indexed document.
/// let index = Some("archive.idx".to_owned());
/// let archived = SourceRanges { id: "old".into(), index, ranges: vec![(0, 20)] };
/// let sums = SourcedDocument {
///     name: "essay".into(),
///     places: vec![0, 10, 20, 30],
///     boilerplate: vec![(0, 5)],
///     sources: vec![archived],
///     complete: true,
/// }
/// .sums();
/// assert_eq!((sums.boilerplate, sums.known, sums.shared, sums.new), (1, 1, 0, 2));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcedDocument {
    /// The id of the counted document.
    pub name: String,
    /// The offset of a byte of each token.
    pub places: Vec<u32>,
    /// The bytes that are boilerplate, in any order.
    pub boilerplate: Vec<(u32, u32)>,
    /// The documents that share passages with the counted document.
    pub sources: Vec<SourceRanges>,
    /// Whether all such documents are listed.
    pub complete: bool,
}

impl SourcedDocument {
    /// Counts the tokens of the document by kind. A token counts once, whatever number of sources
    /// has it.
    #[must_use]
    pub fn sums(self) -> Sources {
        let ranges = |is_known: bool| {
            let of_kind = self.sources.iter().filter(|one| one.index.is_some() == is_known);
            merged(of_kind.flat_map(|one| one.ranges.iter().copied()).collect())
        };
        let ranges = [merged(self.boilerplate.clone()), ranges(true), ranges(false)];
        let mut counts = [0; 3];
        for &place in &self.places {
            if let Some(kind) = ranges.iter().position(|ranges| has(ranges, place)) {
                counts[kind] += 1;
            }
        }
        let [boilerplate, known, shared] = counts;
        let tokens = self.places.len() as u32;
        Sources {
            name: self.name,
            tokens,
            new: tokens - boilerplate - known - shared,
            known,
            shared,
            boilerplate,
            complete: self.complete,
        }
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

    /// A source: its id, whether it is in an index, and its ranges.
    type SourceRow<'a> = (&'a str, bool, &'a [(u32, u32)]);

    fn sourced(sources: &[SourceRow<'_>]) -> SourcedDocument {
        let source = |&(id, is_known, ranges): &SourceRow<'_>| SourceRanges {
            id: id.into(),
            index: is_known.then(|| "old".into()),
            ranges: ranges.to_vec(),
        };
        SourcedDocument {
            name: "ann".into(),
            places: (0..100).step_by(10).collect(),
            boilerplate: vec![(0, 10)],
            sources: sources.iter().map(source).collect(),
            complete: true,
        }
    }

    #[test]
    fn each_token_counts_once() {
        let found = sourced(&[
            ("bob", true, &[(25, 45), (5, 25)]),
            ("cas", true, &[(40, 41)]),
            ("dan", false, &[(40, 70), (0, 5)]),
        ]);
        // Boilerplate is at 0, known text at 10 to 40, shared text at 50 and 60, and new text at 70
        // to 90.
        let Sources { tokens, new, known, shared, boilerplate, .. } = found.sums();
        assert_eq!((tokens, boilerplate, known, shared, new), (10, 1, 4, 2, 3));
    }
}
