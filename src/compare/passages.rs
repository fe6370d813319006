//! Which passages do two documents share, as shown to the user?
//!
//! With both texts at hand they are aligned. Without, the shared fingerprints are chained: ranges
//! of tokens, as exact as the fingerprints are dense.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::align::{Aligned, Chain, Match, Side, align_prepared, chains, distinct};
pub use super::align::{PASSAGE_TOKENS_MIN, Prepared};
use super::place;
use crate::error::Result;
use crate::scheme::{Extent, Fingerprint};
use crate::stop::{Steps, Stop};
use crate::text::Tokens;

/// A passage that the query and a stored document have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Passage {
    /// Where it stands in the query.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<u32>, min_items = 2, max_items = 2))]
    pub query: (u32, u32),
    /// Where it stands in the document.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<u32>, min_items = 2, max_items = 2))]
    pub hit: (u32, u32),
    /// What the two ranges, which are half-open, count.
    #[serde(default, skip_serializing_if = "Unit::is_bytes")]
    pub unit: Unit,
    /// The tokens of the query in it.
    pub tokens: u32,
    /// How alike the two places are, 0 to 1: the tokens that both have as a share of their mean
    /// number; without text, an estimate from the fingerprints.
    pub similarity: f64,
    /// The page of the query on which it begins, counted from 1, if the query is a text with pages: form
    /// feeds (U+000C) end them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_page: Option<u32>,
    /// The line of the query on which it begins, counted from 1, if the query is a text with lines: line
    /// feeds end them, whatever the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_line: Option<u32>,
    /// The page of the document on which it begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// The line of the document on which it begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Where it stands in the file that the query was extracted from, if that is known: in a web page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_origin: Option<Origin>,
    /// Where it stands in the file that the document was extracted from, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// A place in a file from which a text was extracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Origin {
    /// Its first byte, in the file as it was decoded: in UTF-8, without a byte order mark.
    pub start: u32,
    /// The byte after its last one.
    pub end: u32,
    /// The line of the file on which it begins, counted from 1.
    pub line: u32,
}

/// The passages of a query and a document.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Passages {
    /// The passages, in the order of the query.
    pub found: Vec<Passage>,
    /// Whether they are all. If not, looking for all would have taken more steps than it may; equal
    /// texts have equal answers.
    pub complete: bool,
    /// The tokens of the query in each.
    places: Vec<Range<u32>>,
}

/// What a range counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Bytes of the original text.
    #[default]
    Bytes,
    /// Tokens, because the index keeps no text or the query has none.
    Tokens,
}

impl Passage {
    /// A passage without pages and lines.
    pub(crate) fn new(
        query: (u32, u32),
        hit: (u32, u32),
        unit: Unit,
        tokens: u32,
        similarity: f64,
    ) -> Passage {
        Passage {
            query,
            hit,
            unit,
            tokens,
            similarity,
            query_page: None,
            query_line: None,
            page: None,
            line: None,
            query_origin: None,
            origin: None,
        }
    }

    /// The same passage of tokens, in bytes of both texts.
    #[must_use]
    pub fn in_bytes(self, query: &Tokens, document: &Tokens) -> Passage {
        let range = |tokens: &Tokens, (start, end): (u32, u32)| {
            let last = tokens.spans.len();
            bytes(tokens, &((start as usize).min(last)..(end as usize).min(last)))
        };
        Passage {
            query: range(query, self.query),
            hit: range(document, self.hit),
            unit: Unit::Bytes,
            ..self
        }
    }
}

impl Passages {
    /// Passages, each with its tokens of the query.
    pub(crate) fn new(found: Vec<(Passage, Range<u32>)>, complete: bool) -> Passages {
        let (found, places) = found.into_iter().unzip();
        Passages { found, complete, places }
    }

    /// The same, with pages and lines, of passages of bytes of these texts.
    #[must_use]
    pub(crate) fn placed(mut self, query: &str, document: &str) -> Passages {
        place::place(&mut self.found, query, document);
        self
    }

    /// Passages that are ranges of tokens.
    fn of_tokens(found: Vec<Passage>, complete: bool) -> Passages {
        let places = found.iter().map(|passage| passage.query.0..passage.query.1).collect();
        Passages { found, complete, places }
    }

    /// No passages, because there are none.
    pub(crate) fn none() -> Passages {
        Passages::of_tokens(Vec::new(), true)
    }

    /// The number of tokens of the query that are in any of them. Passages may overlap; what is in two
    /// counts once.
    #[must_use]
    pub fn tokens(&self) -> u32 {
        let mut places = self.places.clone();
        places.sort_unstable_by_key(|place| place.start);
        let (mut tokens, mut end) = (0, 0);
        for place in places {
            tokens += place.end.saturating_sub(place.start.max(end));
            end = end.max(place.end);
        }
        tokens
    }

    /// The same, with only those passages that have at least this many tokens of the query.
    #[must_use]
    pub fn of_at_least(mut self, tokens: u32) -> Passages {
        self.found.retain(|passage| passage.tokens >= tokens);
        self.places.retain(|place| place.len() >= tokens as usize);
        self
    }
}

impl Unit {
    fn is_bytes(&self) -> bool {
        *self == Unit::Bytes
    }
}

/// The passages of two texts; if one of them is shorter than [`PASSAGE_TOKENS_MIN`], and the other has
/// all of it, that is one.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn between(query: Side<'_>, document: Side<'_>, stop: Stop<'_>) -> Result<Passages> {
    between_prepared((query, &Prepared::new(query, stop)?), document, stop)
}

/// The same, of a query that is prepared.
///
/// # Errors
/// As [`between`].
pub fn between_prepared(
    (query, prepared): (Side<'_>, &Prepared),
    document: Side<'_>,
    stop: Stop<'_>,
) -> Result<Passages> {
    let passage = |aligned: Aligned| {
        let in_query = bytes(query.tokens, &aligned.query);
        let in_hit = bytes(document.tokens, &aligned.hit);
        let tokens = aligned.query.len() as u32;
        let passage = Passage::new(in_query, in_hit, Unit::Bytes, tokens, aligned.similarity);
        (passage, aligned.query.start as u32..aligned.query.end as u32)
    };
    let alignment = align_prepared((query, prepared), document, stop)?;
    let mut found = alignment.passages;
    if found.is_empty() {
        found.extend(whole(&query.tokens.hashes, &document.tokens.hashes, stop)?);
    }
    let found = found.into_iter().map(passage).collect();
    Ok(Passages::new(found, alignment.is_complete).placed(query.text, document.text))
}

/// The first place where the longer text has all of the shorter one, if that is shorter than what is
/// chance: a part of it would be chance, all of it is not.
fn whole(query: &[u64], document: &[u64], stop: Stop<'_>) -> Result<Option<Aligned>> {
    let is_in_document = query.len() <= document.len();
    let (short, long) = if is_in_document { (query, document) } else { (document, query) };
    if short.is_empty() || short.len() >= PASSAGE_TOKENS_MIN {
        return Ok(None);
    }
    for (at, window) in long.windows(short.len()).enumerate() {
        stop.check_at(at)?;
        if window == short {
            let (all, place) = (0..short.len(), at..at + short.len());
            let (query, hit) = if is_in_document { (all, place) } else { (place, all) };
            return Ok(Some(Aligned { query, hit, similarity: 1.0 }));
        }
    }
    Ok(None)
}

/// The tokens that are in a range of bytes.
pub fn tokens_in(tokens: &Tokens, (start, end): (u32, u32)) -> Range<u32> {
    let first = tokens.spans.partition_point(|span| span.start < start);
    let last = tokens.spans.partition_point(|span| span.end <= end);
    first as u32..last.max(first) as u32
}

/// The bytes from the first of a range of tokens to the last.
pub fn bytes(tokens: &Tokens, range: &Range<usize>) -> (u32, u32) {
    let spans = &tokens.spans[range.clone()];
    spans.first().zip(spans.last()).map_or((0, 0), |(first, last)| (first.start, last.end))
}

/// The maximum number of tokens between two fingerprints of one passage.
const GAP_TOKENS_MAX: usize = 40;

/// A fingerprint that the document has more often chains nothing, if others do.
const OCCURRENCES_MAX: usize = 16;

/// The maximum number of matches of fingerprints, with one more for each fingerprint of the query: where two texts have
/// so many, both repeat themselves.
const MATCHES_MAX: usize = 1 << 15;

/// The memory, in bytes, that a match takes at most, with its chain, while there is room for twice as many.
const MATCH_BYTES: usize = 2 * (size_of::<Match>() + size_of::<Chain>());

/// The signatures of a query and of a document, as far as they are the same.
pub struct Shared<'a> {
    /// The query's signature, positions not descending.
    pub signature: &'a [Fingerprint],
    /// Its distinct keys, ascending.
    pub keys: &'a [u64],
    /// The document's shared fingerprints: the place among the keys, and the position.
    pub occurrences: &'a [(u32, u32)],
    /// How many tokens a fingerprint stands for; none if it stands for the whole document.
    pub extent: Option<Extent>,
    /// The tokens of the query and of the document.
    pub tokens: (u32, u32),
}

/// How much is matched.
struct Maxima {
    /// A key that the document has more often matches nothing.
    occurrences: usize,
    /// The places of the document for each of the query.
    places: usize,
    /// The pairs of places, and those of one more place of the query.
    matches: usize,
}

impl Shared<'_> {
    /// The memory, in bytes, that finding the passages takes at most.
    pub fn passages_bytes(&self) -> usize {
        let matches = self.matches_max().min(self.signature.len().saturating_mul(OCCURRENCES_MAX));
        let places = size_of_val(self.occurrences);
        // No more chains are kept than there are places.
        let kept = self.signature.len().saturating_mul(MATCH_BYTES);
        matches.saturating_mul(MATCH_BYTES).saturating_add(places).saturating_add(kept)
    }

    fn matches_max(&self) -> usize {
        MATCHES_MAX.saturating_add(self.signature.len())
    }

    /// The passages that the shared fingerprints alone tell of, as ranges of tokens; none if these
    /// stand for no place.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
    pub fn passages(&self, stop: Stop<'_>) -> Result<Passages> {
        self.passages_within(self.matches_max(), stop)
    }

    /// The same, with another maximum number of matches.
    fn passages_within(&self, matches_max: usize, stop: Stop<'_>) -> Result<Passages> {
        let Some(extent) = self.extent else { return Ok(Passages::none()) };
        // Matches are bounded, and so are the chains that one may continue.
        let mut steps = Steps::unbounded(stop);
        let mut places: Vec<(u32, u32)> = self.occurrences.to_vec();
        places.sort_unstable();
        let mut find = |occurrences_max: usize, places_max: usize| {
            let maxima =
                Maxima { occurrences: occurrences_max, places: places_max, matches: matches_max };
            self.matches(extent, &places, maxima, &mut steps)
        };
        let mut matches = find(OCCURRENCES_MAX, usize::MAX)?;
        if matches.is_empty() {
            // Both repeat themselves: the first places then.
            matches = find(usize::MAX, 1)?;
        }
        let chains = chains(&matches, GAP_TOKENS_MAX, &mut steps)?;
        let mut found = distinct(chains, &mut steps)?;
        // One fingerprint alone is evidence only where there is no better.
        let is_alone = |chain: &Chain| {
            let (query, hit, len) = (chain.query.start, chain.hit.start, chain.query.len());
            matches.binary_search(&Match { query, hit, len }).is_ok()
        };
        if found.iter().any(|chain| !is_alone(chain)) {
            found.retain(|chain| !is_alone(chain));
        }
        found.sort_unstable_by_key(|chain| (chain.query.start, chain.hit.start));
        let told = found.into_iter().enumerate().map(|(at, chain)| {
            stop.check_at(at)?;
            Ok(self.passage(chain, &matches))
        });
        Ok(Passages::of_tokens(told.collect::<Result<_>>()?, steps.is_complete()))
    }

    /// The pairs of places of each key that the document has, as many as there may be.
    fn matches(
        &self,
        extent: Extent,
        places: &[(u32, u32)],
        maxima: Maxima,
        steps: &mut Steps<'_>,
    ) -> Result<Vec<Match>> {
        let mut matches = Vec::new();
        for (at, fingerprint) in self.signature.iter().enumerate() {
            steps.stop().check_at(at)?;
            if matches.len() >= maxima.matches {
                steps.cut();
                break;
            }
            let Ok(key) = self.keys.binary_search(&fingerprint.key) else { continue };
            let first = places.partition_point(|place| (place.0 as usize) < key);
            let same = places[first..].partition_point(|place| place.0 as usize == key);
            if same <= maxima.occurrences {
                // Both have the same piece, so it is as long in the document.
                let end = extent.end(self.signature, at, self.tokens.0);
                let len = end.saturating_sub(fingerprint.position).max(1);
                let places = places[first..first + same].iter().take(maxima.places);
                matches.extend(places.map(|&(_, position)| Match {
                    query: fingerprint.position as usize,
                    hit: position as usize,
                    len: len as usize,
                }));
            }
        }
        matches.sort_unstable();
        Ok(matches)
    }

    fn passage(&self, chain: Chain, matches: &[Match]) -> Passage {
        // A text shorter than a fingerprint's span has one of all its tokens.
        let within = |range: &Range<usize>, tokens: u32| {
            let end = range.end.min(tokens as usize) as u32;
            (range.start.min(end as usize) as u32, end)
        };
        let (query, hit) = (within(&chain.query, self.tokens.0), within(&chain.hit, self.tokens.1));
        let at = |position: u32| self.signature.partition_point(|f| f.position < position);
        let from = matches.partition_point(|found| found.query < chain.query.start);
        let followed = matches[from..].iter().take_while(|found| found.query < chain.query.end);
        let mut shared: Vec<usize> = followed
            .filter(|found| chain.hit.contains(&found.hit))
            .map(|found| found.query)
            .collect();
        shared.dedup();
        let in_query = at(query.1).saturating_sub(at(query.0)).max(1);
        let similarity = (shared.len() as f64 / in_query as f64).min(1.0);
        Passage::new(query, hit, Unit::Tokens, query.1 - query.0, similarity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many fingerprints, which are sixteen by turns.
    fn repeated(count: u32) -> Vec<Fingerprint> {
        (0..count).map(|at| Fingerprint { key: u64::from(at % 16), position: at }).collect()
    }

    #[test]
    fn the_matches_of_two_texts_that_repeat_themselves_are_bounded() {
        // Each place of the query is matched with sixteen of the document.
        let keys: Vec<u64> = (0..16).collect();
        let occurrences: Vec<(u32, u32)> = (0..256).map(|at| (at % 16, at)).collect();
        let shared = |signature: &[Fingerprint], matches_max: Option<usize>| {
            let tokens = (signature.len() as u32 + 4, 260);
            let extent = Some(Extent::Exactly(5));
            let (keys, occurrences) = (&keys[..], &occurrences[..]);
            let shared = Shared { signature, keys, occurrences, extent, tokens };
            let matches_max = matches_max.unwrap_or_else(|| shared.matches_max());
            shared.passages_within(matches_max, Stop::NEVER).unwrap()
        };
        let query = repeated(256);
        let all = shared(&query, None);
        assert!(all.complete && all.tokens() == 260, "{all:?}");
        assert_eq!(shared(&query, Some(256 * 16)), all);
        let cut = shared(&query, Some(100));
        assert!(!cut.complete && !cut.found.is_empty(), "{cut:?}");
        let many = repeated(40_000);
        assert!(many.len() * OCCURRENCES_MAX > 10 * MATCHES_MAX);
        assert!(!shared(&many, None).complete);
        assert!(shared(&many[..2_000], None).complete);
    }
}
