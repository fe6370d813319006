//! Where the text of a document is from.

use serde::{Deserialize, Serialize};

/// What a document has from where, in tokens. Each counts once: as boilerplate, else as known, else
/// as shared, else as new.
///
/// Programs have no such sums, because any two of them share short passages: together, enough other
/// programs have nearly all of an honest one. Of a program the largest source is named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Sources {
    /// The id of the document.
    #[serde(rename = "document")]
    pub name: String,
    /// All its tokens.
    pub tokens: u32,
    /// Those that are in no passage; not of a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub new: Option<u32>,
    /// Those in passages of documents that were known before; not of a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub known: Option<u32>,
    /// Those in passages of other documents that are new; not of a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub shared: Option<u32>,
    /// Of a program, the document that has most of it, if any shares a passage with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub largest_source: Option<LargestSource>,
    /// Those of specified boilerplate.
    pub boilerplate: u32,
    /// Whether the search for passages was not cut short; if it was, more of the new text may be
    /// known or shared, and another source may be larger.
    pub complete: bool,
}

/// The document that has most of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LargestSource {
    /// Its id.
    pub id: String,
    /// The index that it is in, if it was known before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub index: Option<String>,
    /// The tokens of the program that are in passages with it, without boilerplate.
    pub tokens: u32,
}

/// A document that shares passages with another one, whose matched bytes these are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceRanges {
    /// Its id.
    pub id: String,
    /// The index that it is in, if it was known before.
    pub index: Option<String>,
    /// The bytes of the other one, in any order.
    pub ranges: Vec<(u32, u32)>,
}

/// A document whose tokens are counted by their sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcedDocument {
    /// Its id.
    pub name: String,
    /// A byte of each token.
    pub places: Vec<u32>,
    /// The bytes that are boilerplate, in any order.
    pub boilerplate: Vec<(u32, u32)>,
    /// The documents that share passages with it.
    pub sources: Vec<SourceRanges>,
    /// Whether these are all.
    pub complete: bool,
}

impl SourcedDocument {
    /// Counts the tokens by all sources together.
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
            new: Some(tokens - boilerplate - known - shared),
            known: Some(known),
            shared: Some(shared),
            largest_source: None,
            boilerplate,
            complete: self.complete,
        }
    }

    /// Counts the tokens by the one source that has most of them. Of sources that have as many,
    /// this is one that was known before, then the first by its id.
    #[must_use]
    pub fn largest(mut self) -> Sources {
        let boilerplate = merged(std::mem::take(&mut self.boilerplate));
        let tokens = self.places.len() as u32;
        self.places.retain(|&place| !has(&boilerplate, place));
        let own = |ranges: Vec<(u32, u32)>| {
            let ranges = merged(ranges);
            self.places.iter().filter(|&&place| has(&ranges, place)).count() as u32
        };
        let sources = self.sources.into_iter().map(|SourceRanges { id, index, ranges }| {
            LargestSource { id, index, tokens: own(ranges) }
        });
        let by = |one: &LargestSource, other: &LargestSource| {
            let known = one.index.is_some().cmp(&other.index.is_some());
            let names = (&other.id, &other.index).cmp(&(&one.id, &one.index));
            one.tokens.cmp(&other.tokens).then(known).then(names)
        };
        let largest_source = sources.filter(|source| source.tokens > 0).max_by(by);
        Sources {
            name: self.name,
            tokens,
            new: None,
            known: None,
            shared: None,
            largest_source,
            boilerplate: tokens - self.places.len() as u32,
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

    /// The id of a source, whether it was known before, and its ranges.
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
        // Boilerplate at 0; known at 10 to 40; shared at 50 and 60; new at 70 to 90.
        let Sources { tokens, new, known, shared, boilerplate, largest_source, .. } = found.sums();
        assert_eq!((tokens, boilerplate, largest_source), (10, 1, None));
        assert_eq!((known, shared, new), (Some(4), Some(2), Some(3)));
    }

    #[test]
    fn the_largest_source_is_one_document_and_not_the_sum_of_all() {
        let found = |sources: &[SourceRow<'_>]| {
            let Sources { new, known, shared, largest_source, boilerplate, .. } =
                sourced(sources).largest();
            assert_eq!((new, known, shared, boilerplate), (None, None, None, 1));
            largest_source.map(|best| (best.id, best.index.is_some(), best.tokens))
        };
        let (half, other): (&[_], &[_]) = (&[(0, 25), (20, 50)], &[(50, 80)]);
        let best = |id: &str, is_known, tokens| Some((id.to_owned(), is_known, tokens));
        assert_eq!(found(&[("eve", true, other), ("bob", false, half)]), best("bob", false, 4));
        // Of equals the known one, then the first.
        assert_eq!(found(&[("bob", false, half), ("eve", true, half)]), best("eve", true, 4));
        assert_eq!(found(&[("eve", true, half), ("dan", true, half)]), best("dan", true, 4));
        assert_eq!(found(&[("eve", true, &[(0, 9)])]), None);
        assert_eq!(found(&[]), None);
    }
}
