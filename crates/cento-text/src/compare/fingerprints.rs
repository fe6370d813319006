//! Passages that two documents share, found by their fingerprints alone.
//!
//! Without a text to align, the shared fingerprints are chained. The result is ranges of tokens,
//! which are the more exact the denser the fingerprints are.

use std::collections::BTreeMap;
use std::ops::Range;

use super::align::{Chain, Genre, Match, MatchChains, chaining_bytes, chains, distinct, within};
use super::passages::Passages;
use super::{Passage, Unit};
use crate::error::Result;
use crate::runtime::{Steps, Stop};
use crate::scheme::{Extent, Fingerprint};

/// The maximum number of tokens between two fingerprints of the same passage.
const GAP_TOKENS_MAX: usize = 40;

/// Fingerprints that the document has more often are ignored if rarer fingerprints match.
const OCCURRENCES_MAX: usize = 16;

/// The maximum number of matches of fingerprints, plus one per fingerprint of the query. Only a
/// repetitive document reaches the limit.
const MATCHES_MAX: usize = 1 << 15;

/// The maximum memory of a match with its chain, in bytes. Vectors may have twice the room they
/// need.
const MATCH_BYTES: usize = 2 * (size_of::<Match>() + size_of::<Chain>() + chaining_bytes(1));

/// The maximum memory of a passage with its chain, in bytes, in vectors of twice their length.
const PASSAGE_BYTES: usize = 2 * (size_of::<Chain>() + size_of::<Passage>());

/// The signatures of a query and of a document, restricted to their shared keys.
#[derive(Debug)]
pub struct SharedKeys<'a> {
    /// The query's signature, in the order of positions.
    pub signature: &'a [Fingerprint],
    /// The distinct keys of the query's signature, ascending.
    pub keys: &'a [u64],
    /// The document's shared fingerprints, each as the index of its key in `keys` and a position.
    pub occurrences: &'a [(u32, u32)],
    /// The length of the piece that a fingerprint represents, or `None` if it represents the whole
    /// document.
    pub extent: Option<Extent>,
    /// The numbers of tokens of the query and of the document.
    pub tokens: (u32, u32),
    /// The kind of both texts.
    pub genre: Genre,
    /// The first tokens of the parts of the query and of the document, except the first part of
    /// each.
    pub breaks: [&'a [usize]; 2],
}

/// The selection of shared fingerprints that are matched.
#[derive(Debug)]
pub struct Matching {
    /// Keys that the document has more often match nothing.
    occurrences_max: usize,
    /// How many places of the document, from the first on, match a place of the query.
    places_max: usize,
    matches: usize,
    /// Whether no place is ignored, except the places of keys that the document has too often.
    is_complete: bool,
}

impl SharedKeys<'_> {
    /// Selects the shared fingerprints to match, so that the number of matches is bounded.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) when `stop` is set.
    pub fn matching(&self, stop: &Stop) -> Result<Matching> {
        self.matching_within(MATCHES_MAX.saturating_add(self.signature.len()), stop)
    }

    /// Selects the fingerprints to match for a given maximum number of matches.
    fn matching_within(&self, matches_max: usize, stop: &Stop) -> Result<Matching> {
        // Fingerprints of whole documents have no place, so they match nothing.
        let occurrences = self.extent.map_or(&[][..], |_| self.occurrences);
        let mut times = vec![0u32; self.keys.len()];
        for (at, &(key, _)) in occurrences.iter().enumerate() {
            stop.check_at(at)?;
            times[key as usize] += 1;
        }
        // The numbers of the query's fingerprints by their number of occurrences in the document.
        // The last entry counts all fingerprints with more occurrences.
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
            // The document repeats every shared key: match the first place of each key.
            let (occurrences_max, matches) = (usize::MAX, found[OCCURRENCES_MAX + 1]);
            return Ok(Matching { occurrences_max, places_max: 1, matches, is_complete: true });
        }
        // With one place per key there are at most as many matches as fingerprints in the query.
        let are_few = |&places_max: &usize| places_max == 1 || matches(places_max) <= matches_max;
        let places_max = (1..=OCCURRENCES_MAX).rev().find(are_few).unwrap_or(1);
        Ok(Matching {
            occurrences_max: OCCURRENCES_MAX,
            places_max,
            matches: matches(places_max),
            is_complete: places_max == OCCURRENCES_MAX,
        })
    }

    /// Returns the maximum memory, in bytes, that finding the passages takes.
    pub fn passages_bytes(&self, matching: &Matching) -> usize {
        if matching.matches == 0 {
            return 0;
        }
        // There are no more passages than fingerprints.
        let passages = matching.matches.min(self.signature.len());
        matching.matches * MATCH_BYTES + passages * PASSAGE_BYTES + size_of_val(self.occurrences)
    }

    /// Returns the passages that the shared fingerprints alone show, as ranges of tokens. Empty if
    /// fingerprints represent whole documents.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) when `stop` is set.
    pub fn passages(&self, matching: &Matching, stop: &Stop) -> Result<Passages> {
        let Some(extent) = self.extent else { return Ok(Passages::none()) };
        // Matches are bounded, and so are the chains that a match may continue.
        let mut steps = Steps::unbounded(stop);
        if !matching.is_complete {
            steps.cut();
        }
        let mut found: Vec<(Chain, usize)> = Vec::new();
        let mut groups = Vec::new();
        for matches in self.in_parts(self.matches(extent, matching, stop)?) {
            let mut chained = match self.genre {
                Genre::Prose | Genre::Scan => chains(&matches, GAP_TOKENS_MAX, &mut steps)?,
                Genre::Program => {
                    MatchChains::unbroken(&matches, &|a, b| self.are_next(a, b), &mut steps)?
                }
            };
            let chains = distinct(std::mem::take(&mut chained.chains), &mut steps)?;
            found.extend(chains.into_iter().map(|chain| (chain, groups.len())));
            groups.push((matches, chained));
        }
        if groups.len() > 1 {
            found = self.distinct_of_all(found, &mut steps)?;
        }
        // A single fingerprint is evidence only if there is no longer chain.
        let is_alone = |(chain, group): &(Chain, usize)| {
            let (query, hit, len) = (chain.query.start, chain.hit.start, chain.query.len());
            groups[*group].0.binary_search(&Match { query, hit, len }).is_ok()
        };
        if found.iter().any(|chain| !is_alone(chain)) {
            found.retain(|chain| !is_alone(chain));
        }
        found.sort_unstable_by_key(|(chain, _)| (chain.query.start, chain.hit.start));
        let told = found.into_iter().enumerate().map(|(at, (chain, group))| {
            stop.check_at(at)?;
            let (matches, chained) = &groups[group];
            let matched = self.matched(&chained.parts(&chain, matches));
            Ok(self.passage(chain, matches, &matched))
        });
        Ok(Passages::of_tokens(told.collect::<Result<_>>()?, steps.is_complete()))
    }

    /// Returns the matches in groups, one group per part of the query and part of the document with
    /// common matches. A match across two parts is dropped.
    fn in_parts(&self, matches: Vec<Match>) -> Vec<Vec<Match>> {
        let [of_query, of_document] = self.breaks;
        if of_query.is_empty() && of_document.is_empty() {
            return vec![matches];
        }
        let mut groups: BTreeMap<(usize, usize), Vec<Match>> = BTreeMap::new();
        for found in matches {
            let (query, hit) =
                (found.query..found.query + found.len, found.hit..found.hit + found.len);
            if within(of_query, &query).is_empty() && within(of_document, &hit).is_empty() {
                let parts = (
                    of_query.partition_point(|&at| at <= query.start),
                    of_document.partition_point(|&at| at <= hit.start),
                );
                groups.entry(parts).or_default().push(found);
            }
        }
        groups.into_values().collect()
    }

    /// Returns the chains of all groups that are not redundant.
    fn distinct_of_all(
        &self,
        found: Vec<(Chain, usize)>,
        steps: &mut Steps<'_>,
    ) -> Result<Vec<(Chain, usize)>> {
        let numbered = (0u32..).zip(&found);
        let numbered = numbered.map(|(last, (chain, _))| Chain { last, ..chain.clone() }).collect();
        let kept = distinct(numbered, steps)?;
        Ok(kept.into_iter().map(|chain| found[chain.last as usize].clone()).collect())
    }

    /// Returns whether the query has no fingerprint between two places.
    fn are_next(&self, one: usize, other: usize) -> bool {
        let first = self.signature.partition_point(|f| f.position as usize <= one);
        self.signature.get(first).is_none_or(|f| f.position as usize >= other)
    }

    /// Returns the tokens of the parts of a chain. The tokens between two parts are included if the
    /// fingerprints of the parts follow each other in the query at the same distance in both texts,
    /// because no fingerprint then shows a difference.
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

    /// Returns the pairs of places of every key that the document has.
    fn matches(&self, extent: Extent, matching: &Matching, stop: &Stop) -> Result<Vec<Match>> {
        let mut places: Vec<(u32, u32)> = self.occurrences.to_vec();
        places.sort_unstable();
        let mut matches = Vec::with_capacity(matching.matches);
        for (at, fingerprint) in self.signature.iter().enumerate() {
            stop.check_at(at)?;
            let Ok(key) = self.keys.binary_search(&fingerprint.key) else { continue };
            let first = places.partition_point(|place| (place.0 as usize) < key);
            let same = places[first..].partition_point(|place| place.0 as usize == key);
            if same <= matching.occurrences_max {
                // Both texts have the same piece, so the piece is as long in the document.
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
        // A text shorter than a fingerprint's span has a single fingerprint of all its tokens.
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

    /// A query of fingerprints for five tokens each, which cycle through `distinct` keys, and a
    /// document with `places` fingerprints in the same order.
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

        fn shared(&self) -> SharedKeys<'_> {
            let tokens = [self.signature.len(), self.occurrences.len()].map(|len| len as u32 + 4);
            let Texts { signature, keys, occurrences } = self;
            let extent = Some(Extent::Exactly(5));
            let genre = Genre::Prose;
            let breaks = [&[][..], &[]];
            SharedKeys {
                signature,
                keys,
                occurrences,
                extent,
                tokens: tokens.into(),
                genre,
                breaks,
            }
        }

        fn passages(&self) -> Passages {
            let (shared, stop) = (self.shared(), Stop::NEVER);
            shared.passages(&shared.matching(stop).unwrap(), stop).unwrap()
        }
    }

    #[test]
    fn the_matches_of_two_texts_that_repeat_themselves_are_bounded() {
        // A place of the query is matched with sixteen places of the document, or with fewer.
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
        // A limit on the total left later places of the query without a match.
        for count in [1_000, 4_000] {
            let found = Texts::new(count, count, 16 * count).passages();
            assert_eq!((found.tokens(), found.complete), (count + 4, count == 1_000));
        }
        // A fingerprint that the document has more often keeps its first place.
        let found = Texts::new(4_000, 4_000, 17 * 4_000).passages();
        assert_eq!((found.tokens(), found.complete, found.found.len()), (4_004, true, 1));
    }

    #[test]
    fn memory_is_taken_for_as_many_matches_as_there_are() {
        let bytes = |texts: &Texts, extent| {
            let shared = SharedKeys { extent, ..texts.shared() };
            shared.passages_bytes(&shared.matching(Stop::NEVER).unwrap())
        };
        let positional = Some(Extent::Exactly(5));
        assert_eq!(bytes(&Texts::new(100_000, 100_000, 0), positional), 0);
        let few = bytes(&Texts::new(100_000, 100_000, 10), positional);
        assert_eq!(few, 10 * (MATCH_BYTES + PASSAGE_BYTES) + 80);
        assert_eq!(bytes(&Texts::new(100_000, 100_000, 10), None), 0);
        // With one place per key, there are as many matches as fingerprints.
        let bytes = bytes(&Texts::new(40_000, 16, 1600), positional);
        assert_eq!(bytes, 40_000 * (MATCH_BYTES + PASSAGE_BYTES) + 12_800);
    }
}
