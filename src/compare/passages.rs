//! Which passages do two documents share, as shown to the user?
//!
//! With both texts at hand they are aligned. Without, the shared fingerprints are chained: ranges
//! of tokens, as exact as the fingerprints are dense.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::align::{
    Aligned, Chain, Chained, Match, Side, TILE_TOKENS_MIN, align_prepared, chains, distinct,
    words_of_both,
};
pub use super::align::{Genre, PASSAGE_TOKENS_MIN, Prepared};
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
    /// How many of these stand in the document too, in its range. Where the passage was copied they are in
    /// the same order there: of edited text the words that were kept. Where it was rewritten or
    /// summed up they are the words that both have, counted as often as both have them, however ordered. Without
    /// text, an estimate from the fingerprints.
    #[serde(default)]
    pub matched: u32,
    /// Where these tokens stand in the query, ascending and disjoint; empty if they are all of the passage.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Vec<u32>>))]
    pub matched_ranges: Vec<(u32, u32)>,
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
    /// Whether they are all. If not, looking for all would have taken more steps or memory than it may;
    /// equal texts have equal answers.
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
    /// A passage without pages and lines, of which everything is matched.
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
            matched: tokens,
            matched_ranges: Vec::new(),
            similarity,
            query_page: None,
            query_line: None,
            page: None,
            line: None,
            query_origin: None,
            origin: None,
        }
    }

    /// The same, of which this number of tokens, in these ranges, stand in the document too.
    pub(crate) fn with_matched(mut self, tokens: u32, ranges: Vec<(u32, u32)>) -> Passage {
        let is_whole = ranges == [self.query];
        (self.matched, self.matched_ranges) = (tokens, if is_whole { Vec::new() } else { ranges });
        self
    }

    /// The parts of `query` that stand in the document too, in the same unit.
    #[must_use]
    pub fn matched_in_query(&self) -> &[(u32, u32)] {
        match self.matched_ranges.is_empty() {
            true => std::slice::from_ref(&self.query),
            false => &self.matched_ranges,
        }
    }

    /// The same passage of tokens, in bytes of both texts.
    #[must_use]
    pub fn in_bytes(self, query: &Tokens, document: &Tokens) -> Passage {
        let range = |tokens: &Tokens, (start, end): (u32, u32)| {
            let last = tokens.spans.len();
            bytes(tokens, &((start as usize).min(last)..(end as usize).min(last)))
        };
        let matched = self.matched_ranges.iter().map(|&matched| range(query, matched));
        Passage {
            matched_ranges: disjoint(matched),
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

    /// The memory, in bytes, that they take.
    pub(crate) fn bytes(&self) -> usize {
        self.found.capacity() * size_of::<Passage>()
            + self.places.capacity() * size_of::<Range<u32>>()
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

/// The passages of two texts; if one of them is shorter than a passage is at least ([`tokens_min`]), and the other has
/// all of it, that is one.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn between(
    query: Side<'_>,
    document: Side<'_>,
    genre: Genre,
    stop: Stop<'_>,
) -> Result<Passages> {
    between_prepared((query, &Prepared::new(query, genre, stop)?), document, stop)
}

/// How long a passage of such texts is at least, unless one of them is shorter.
pub fn tokens_min(genre: Genre) -> usize {
    match genre {
        Genre::Prose => PASSAGE_TOKENS_MIN,
        Genre::Program => TILE_TOKENS_MIN,
    }
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
    let genre = prepared.genre();
    let passage = |aligned: Aligned| {
        let in_query = bytes(query.tokens, &aligned.query);
        let in_hit = bytes(document.tokens, &aligned.hit);
        let tokens = aligned.query.len() as u32;
        let passage = Passage::new(in_query, in_hit, Unit::Bytes, tokens, aligned.similarity);
        let matched = matched_bytes(query, &aligned.matched, genre);
        let passage = passage.with_matched(aligned.matched_tokens() as u32, matched);
        (passage, aligned.query.start as u32..aligned.query.end as u32)
    };
    let alignment = align_prepared((query, prepared), document, stop)?;
    let mut found = alignment.passages;
    if found.is_empty() {
        let tokens = (&query.tokens.hashes[..], &document.tokens.hashes[..]);
        found.extend(whole(tokens, tokens_min(genre), stop)?);
    }
    let found = found.into_iter().map(passage).collect();
    Ok(Passages::new(found, alignment.is_complete).placed(query.text, document.text))
}

/// The first place where the longer text has all of the shorter one, if that is shorter than what is
/// chance: a part of it would be chance, all of it is not.
fn whole(
    (query, document): (&[u64], &[u64]),
    tokens_min: usize,
    stop: Stop<'_>,
) -> Result<Option<Aligned>> {
    let is_in_document = query.len() <= document.len();
    let (short, long) = if is_in_document { (query, document) } else { (document, query) };
    if short.is_empty() || short.len() >= tokens_min {
        return Ok(None);
    }
    for (at, window) in long.windows(short.len()).enumerate() {
        stop.check_at(at)?;
        if window == short {
            let (query, hit) = if is_in_document { (0, at) } else { (at, 0) };
            return Ok(Some(Aligned::run(query, hit, short.len())));
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

/// A passage of all these tokens, of which those are matched that the other place has too, counted as often as
/// both have them.
pub(crate) fn with_words_of_both(passage: Passage, query: &Tokens, hit: &[u64]) -> Passage {
    let matched = words_of_both((&query.hashes, 0..query.hashes.len()), hit);
    let tokens = matched.iter().map(Range::len).sum::<usize>() as u32;
    let matched = disjoint(matched.iter().map(|range| bytes(query, range)));
    passage.with_matched(tokens, matched)
}

/// The bytes of ranges of tokens of a text: from the first token to the last, and of a program without the comments
/// between them, which nobody has compared.
fn matched_bytes(text: Side<'_>, ranges: &[Range<usize>], genre: Genre) -> Vec<(u32, u32)> {
    let tokens = text.tokens;
    match genre {
        Genre::Prose => disjoint(ranges.iter().map(|range| bytes(tokens, range))),
        Genre::Program => {
            let all = ranges.iter().flat_map(|range| &tokens.spans[range.clone()]);
            let mut matched: Vec<(u32, u32)> = Vec::new();
            for span in all.filter(|span| span.start < span.end) {
                let is_blank = |from: u32| {
                    let between = text.text.get(from as usize..span.start as usize);
                    from >= span.start || between.is_some_and(|text| text.trim().is_empty())
                };
                match matched.last_mut() {
                    Some(last) if is_blank(last.1) => last.1 = last.1.max(span.end),
                    _ => matched.push((span.start, span.end)),
                }
            }
            matched
        }
    }
}

/// Ranges whose starts ascend, of which those that touch are one: tokens of scripts without spaces overlap.
fn disjoint(ranges: impl Iterator<Item = (u32, u32)>) -> Vec<(u32, u32)> {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for (start, end) in ranges {
        match found.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => found.push((start, end)),
        }
    }
    found
}

/// The maximum number of tokens between two fingerprints of one passage.
const GAP_TOKENS_MAX: usize = 40;

/// A fingerprint that the document has more often chains nothing, if others do.
const OCCURRENCES_MAX: usize = 16;

/// The maximum number of matches of fingerprints, plus one for each fingerprint of the query: only where the document
/// repeats itself are there so many.
const MATCHES_MAX: usize = 1 << 15;

/// The memory, in bytes, that a match takes at most, with its chain and a copy of it, in vectors that may have twice the room they need.
const MATCH_BYTES: usize = 2 * (size_of::<Match>() + 2 * size_of::<Chain>() + size_of::<u32>());

/// The memory, in bytes, that a passage takes at most, with its chain, in such vectors.
const PASSAGE_BYTES: usize = 2 * (size_of::<Chain>() + size_of::<Passage>());

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
    /// What both are.
    pub genre: Genre,
}

/// How much of what two signatures share is matched.
pub struct Matching {
    /// A key that the document has more often matches nothing.
    occurrences_max: usize,
    /// The places of the document for each of the query, the first ones.
    places_max: usize,
    /// The pairs of places.
    matches: usize,
    /// Whether no others are left out than those of keys that the document has too often.
    is_complete: bool,
}

impl Shared<'_> {
    /// How much of it is matched, so that there are not too many matches.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
    pub fn matching(&self, stop: Stop<'_>) -> Result<Matching> {
        self.matching_within(MATCHES_MAX.saturating_add(self.signature.len()), stop)
    }

    /// The same, with another maximum number of matches.
    fn matching_within(&self, matches_max: usize, stop: Stop<'_>) -> Result<Matching> {
        // Of fingerprints without a place nothing is matched.
        let occurrences = self.extent.map_or(&[][..], |_| self.occurrences);
        let mut times = vec![0u32; self.keys.len()];
        for (at, &(key, _)) in occurrences.iter().enumerate() {
            stop.check_at(at)?;
            times[key as usize] += 1;
        }
        // How many fingerprints of the query the document has so often; in the last place, more often.
        let mut found = [0; OCCURRENCES_MAX + 2];
        for (at, fingerprint) in self.signature.iter().enumerate() {
            stop.check_at(at)?;
            let times = self.keys.binary_search(&fingerprint.key).map_or(0, |key| times[key]);
            found[(times as usize).min(OCCURRENCES_MAX + 1)] += 1;
        }
        let matches = |places_max: usize| -> usize {
            (1..=OCCURRENCES_MAX).map(|times| found[times] * times.min(places_max)).sum()
        };
        if matches(1) == 0 {
            // The document repeats all that both have: the first place of each then.
            let (occurrences_max, matches) = (usize::MAX, found[OCCURRENCES_MAX + 1]);
            return Ok(Matching { occurrences_max, places_max: 1, matches, is_complete: true });
        }
        // With one place for each there are no more than the query has fingerprints.
        let are_few = |&places_max: &usize| places_max == 1 || matches(places_max) <= matches_max;
        let places_max = (1..=OCCURRENCES_MAX).rev().find(are_few).unwrap_or(1);
        Ok(Matching {
            occurrences_max: OCCURRENCES_MAX,
            places_max,
            matches: matches(places_max),
            is_complete: places_max == OCCURRENCES_MAX,
        })
    }

    /// The memory, in bytes, that finding the passages takes at most.
    pub fn passages_bytes(&self, matching: &Matching) -> usize {
        if matching.matches == 0 {
            return 0;
        }
        // There are no more passages than fingerprints.
        let passages = matching.matches.min(self.signature.len());
        matching.matches * MATCH_BYTES + passages * PASSAGE_BYTES + size_of_val(self.occurrences)
    }

    /// The passages that the shared fingerprints alone tell of, as ranges of tokens; none if these
    /// stand for no place.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
    pub fn passages(&self, matching: &Matching, stop: Stop<'_>) -> Result<Passages> {
        let Some(extent) = self.extent else { return Ok(Passages::none()) };
        // Matches are bounded, and so are the chains that one may continue.
        let mut steps = Steps::unbounded(stop);
        if !matching.is_complete {
            steps.cut();
        }
        let matches = self.matches(extent, matching, stop)?;
        let chained = match self.genre {
            Genre::Prose => chains(&matches, GAP_TOKENS_MAX, &mut steps)?,
            Genre::Program => Chained::unbroken(&matches, &|a, b| self.are_next(a, b), &mut steps)?,
        };
        let mut found = distinct(chained.chains.clone(), &mut steps)?;
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
            let matched = self.matched(&chained.parts(&chain, &matches));
            Ok(self.passage(chain, &matches, &matched))
        });
        Ok(Passages::of_tokens(told.collect::<Result<_>>()?, steps.is_complete()))
    }

    /// Whether the query has no fingerprint between two of its places.
    fn are_next(&self, one: usize, other: usize) -> bool {
        let first = self.signature.partition_point(|f| f.position as usize <= one);
        self.signature.get(first).is_none_or(|f| f.position as usize >= other)
    }

    /// The tokens of parts of a chain, and those between two of which the fingerprints follow each other in the query,
    /// at the same distance in both texts: there the fingerprints know of no difference.
    fn matched(&self, parts: &[Match]) -> Vec<(u32, u32)> {
        let (mut matched, mut last): (Vec<(u32, u32)>, Option<Match>) = (Vec::new(), None);
        for part in parts {
            let is_near = |last: Match| {
                last.query + part.hit == part.query + last.hit
                    && self.are_next(last.query, part.query)
            };
            let end = (part.query + part.len) as u32;
            match matched.last_mut() {
                Some(range) if range.1 as usize == part.query || last.is_some_and(is_near) => {
                    range.1 = end;
                }
                _ => matched.push((part.query as u32, end)),
            }
            last = Some(*part);
        }
        matched
    }

    /// The pairs of places of each key that the document has.
    fn matches(&self, extent: Extent, matching: &Matching, stop: Stop<'_>) -> Result<Vec<Match>> {
        let mut places: Vec<(u32, u32)> = self.occurrences.to_vec();
        places.sort_unstable();
        let mut matches = Vec::with_capacity(matching.matches);
        for (at, fingerprint) in self.signature.iter().enumerate() {
            stop.check_at(at)?;
            let Ok(key) = self.keys.binary_search(&fingerprint.key) else { continue };
            let first = places.partition_point(|place| (place.0 as usize) < key);
            let same = places[first..].partition_point(|place| place.0 as usize == key);
            if same <= matching.occurrences_max {
                // Both have the same piece, so it is as long in the document.
                let end = extent.end(self.signature, at, self.tokens.0);
                let len = end.saturating_sub(fingerprint.position).max(1);
                let places = places[first..first + same].iter().take(matching.places_max);
                matches.extend(places.map(|&(_, position)| Match {
                    query: fingerprint.position as usize,
                    hit: position as usize,
                    len: len as usize,
                }));
            }
        }
        debug_assert_eq!(matches.len(), matching.matches);
        matches.sort_unstable();
        Ok(matches)
    }

    fn passage(&self, chain: Chain, matches: &[Match], matched: &[(u32, u32)]) -> Passage {
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
        let matched: Vec<(u32, u32)> =
            matched.iter().map(|part| (part.0, part.1.min(query.1))).collect();
        let tokens = matched.iter().map(|part| part.1.saturating_sub(part.0)).sum();
        let passage = Passage::new(query, hit, Unit::Tokens, query.1 - query.0, similarity);
        passage.with_matched(tokens, matched)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A query of so many fingerprints, of which each stands for five tokens, `distinct` of them by turns; and a document
    /// that has as many of them as `places`, in the same order.
    struct Texts {
        signature: Vec<Fingerprint>,
        keys: Vec<u64>,
        occurrences: Vec<(u32, u32)>,
    }

    impl Texts {
        fn new(count: u32, distinct: u32, places: u32) -> Texts {
            let fingerprint = |at| Fingerprint { key: u64::from(at % distinct), position: at };
            Texts {
                signature: (0..count).map(fingerprint).collect(),
                keys: (0..u64::from(distinct)).collect(),
                occurrences: (0..places).map(|at| (at % distinct, at)).collect(),
            }
        }

        fn shared(&self) -> Shared<'_> {
            let tokens = [self.signature.len(), self.occurrences.len()].map(|len| len as u32 + 4);
            let Texts { signature, keys, occurrences } = self;
            let extent = Some(Extent::Exactly(5));
            let genre = Genre::Prose;
            Shared { signature, keys, occurrences, extent, tokens: tokens.into(), genre }
        }

        fn passages(&self) -> Passages {
            let (shared, stop) = (self.shared(), Stop::NEVER);
            shared.passages(&shared.matching(stop).unwrap(), stop).unwrap()
        }
    }

    #[test]
    fn the_matches_of_two_texts_that_repeat_themselves_are_bounded() {
        // Each place of the query is matched with sixteen of the document, or with fewer.
        let texts = Texts::new(256, 16, 256);
        let shared = texts.shared();
        for (matches_max, places) in
            [(usize::MAX, 16), (256 * 16, 16), (256 * 16 - 1, 15), (600, 2), (511, 1), (0, 1)]
        {
            let matching = shared.matching_within(matches_max, Stop::NEVER).unwrap();
            assert_eq!((matching.places_max, matching.matches), (places, places * 256));
            let found = shared.passages(&matching, Stop::NEVER).unwrap();
            assert_eq!(found.complete, places == 16, "{matches_max}");
            assert!(!found.found.is_empty());
        }
        let many = Texts::new(40_000, 16, 256);
        assert!(many.signature.len() * OCCURRENCES_MAX > 10 * MATCHES_MAX);
        assert!(!many.passages().complete);
        assert!(Texts::new(2_000, 16, 256).passages().complete);
    }

    #[test]
    fn a_text_that_a_document_repeats_is_found_to_its_end() {
        // Once there were too many matches, no other place of the query had one.
        for count in [1_000, 4_000] {
            let found = Texts::new(count, count, 16 * count).passages();
            assert_eq!((found.tokens(), found.complete), (count + 4, count == 1_000));
        }
        // What a document has more often has its first place.
        let found = Texts::new(4_000, 4_000, 17 * 4_000).passages();
        assert_eq!((found.tokens(), found.complete, found.found.len()), (4_004, true, 1));
    }

    #[test]
    fn memory_is_taken_for_as_many_matches_as_there_are() {
        let bytes = |texts: &Texts, extent| {
            let shared = Shared { extent, ..texts.shared() };
            shared.passages_bytes(&shared.matching(Stop::NEVER).unwrap())
        };
        let positional = Some(Extent::Exactly(5));
        assert_eq!(bytes(&Texts::new(100_000, 100_000, 0), positional), 0);
        let few = bytes(&Texts::new(100_000, 100_000, 10), positional);
        assert_eq!(few, 10 * (MATCH_BYTES + PASSAGE_BYTES) + 80);
        assert_eq!(bytes(&Texts::new(100_000, 100_000, 10), None), 0);
        // With one place for each as many as there are fingerprints.
        let bytes = bytes(&Texts::new(40_000, 16, 1600), positional);
        assert_eq!(bytes, 40_000 * (MATCH_BYTES + PASSAGE_BYTES) + 12_800);
    }
}
