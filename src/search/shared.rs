//! The common fingerprints of a stored document and the query, and their places.
//!
//! The fingerprints are read from the signature of the document, and only for the few documents
//! that matter, not for candidates.

use super::memory::{self, QueryMemory};
use crate::error::Result;
use crate::index::{DocAddress, Snapshot};
use crate::runtime::Stop;
use crate::scheme::Fingerprint;
use crate::segment::{ForwardList, SegmentReader, Terms, find_in};

/// The number of keys that are looked up together, in tens of milliseconds if read from disk.
const KEYS_AT_ONCE: usize = 1 << 16;

/// For each segment, returns its terms among the ascending `keys`, with the places of the keys.
///
/// # Errors
/// When a segment is damaged. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
pub fn terms_of<'a>(
    segments: &[&'a SegmentReader],
    keys: &[u64],
    stop: &Stop,
) -> Result<Vec<Terms<'a>>> {
    let keys_at_once = (KEYS_AT_ONCE / segments.len().max(1)).max(1);
    terms_in_parts(segments, keys, keys_at_once, stop)
}

/// Returns the terms, looking up `keys_at_once` keys at a time.
fn terms_in_parts<'a>(
    segments: &[&'a SegmentReader],
    keys: &[u64],
    keys_at_once: usize,
    stop: &Stop,
) -> Result<Vec<Terms<'a>>> {
    if keys.len() <= keys_at_once {
        stop.check()?;
        return Ok(find_in(segments, keys)?);
    }
    let mut terms: Vec<Terms<'a>> = segments.iter().map(|_| Vec::new()).collect();
    for (number, part) in keys.chunks(keys_at_once).enumerate() {
        stop.check()?;
        let before = (number * keys_at_once) as u32;
        for (terms, found) in terms.iter_mut().zip(find_in(segments, part)?) {
            terms.extend(found.into_iter().map(|(place, term)| (before + place, term)));
        }
    }
    Ok(terms)
}

/// The terms of a segment that the query has.
struct QueryTerms {
    /// The ordinals, ascending, and the places among the query's keys.
    terms: Vec<(u32, u32)>,
    /// The start of each group of ordinals in `terms`, and the end of the last group. Most terms of
    /// a document are not in the query, and most such terms fall into an empty group.
    starts: Vec<u32>,
    /// The number of low bits of an ordinal within its group.
    shift: u32,
}

/// The number of groups per term.
const GROUPS_A_TERM: usize = 4;

impl QueryTerms {
    /// Creates the table. `terms` ascend by ordinal.
    fn new(terms: Vec<(u32, u32)>) -> QueryTerms {
        let bits = terms.last().map_or(0, |&(last, _)| u32::BITS - last.leading_zeros());
        let groups = (terms.len() * GROUPS_A_TERM).next_power_of_two();
        let shift = bits.saturating_sub(groups.trailing_zeros());
        let mut starts = Vec::with_capacity(groups + 1);
        for (at, &(ordinal, _)) in terms.iter().enumerate() {
            starts.resize((ordinal >> shift) as usize + 1, at as u32);
        }
        starts.push(terms.len() as u32);
        QueryTerms { terms, starts, shift }
    }

    /// Returns the place among the query's keys of the term with this ordinal, if the query has it.
    #[inline]
    fn find(&self, ordinal: u32) -> Option<u32> {
        let group = (ordinal >> self.shift) as usize;
        let (&start, &end) = self.starts.get(group).zip(self.starts.get(group + 1))?;
        let group = &self.terms[start as usize..end as usize];
        group.iter().find(|term| term.0 == ordinal).map(|term| term.1)
    }
}

/// The fingerprints that a query and a document share.
#[derive(Default)]
pub struct SharedFingerprints {
    /// For each segment, the query's terms, looked up on demand.
    wanted: Vec<Option<QueryTerms>>,
    ordinals: Vec<u32>,
    positions: Vec<u32>,
    /// The occurrences in the document: place among the query's keys, and position.
    occurrences: Vec<(u32, u32)>,
    /// The memory budget for signing a stored text again.
    memory: Option<QueryMemory>,
}

impl SharedFingerprints {
    /// Creates the reader for a query with this memory budget, if any.
    pub fn within(memory: Option<&QueryMemory>) -> SharedFingerprints {
        SharedFingerprints { memory: memory.cloned(), ..SharedFingerprints::default() }
    }

    /// Reads the fingerprints that the document at `address` shares with the distinct, ascending
    /// keys. Every call must pass the same keys. `keyed` also has their terms in each segment, if
    /// known.
    ///
    /// # Errors
    /// When a file is damaged. [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn read(
        &mut self,
        snapshot: &Snapshot,
        keyed: Keyed<'_>,
        address: DocAddress,
        stop: &Stop,
    ) -> Result<()> {
        stop.check()?;
        self.occurrences.clear();
        if !snapshot.config().store_signatures {
            let signature = memory::signature(snapshot, address, self.memory.as_ref(), stop)?;
            for (at, found) in signature.iter().enumerate() {
                stop.check_at(at)?;
                self.occurrences.extend(place_of(found, keyed.0).map(|key| (key, found.position)));
            }
            return Ok(());
        }
        let signatures = &snapshot.segment(address).signatures;
        let wanted = wanted(&mut self.wanted, snapshot, keyed, address, stop)?;
        signatures.forward(address.doc, &mut self.ordinals, &mut self.positions)?;
        let places = self.ordinals.iter().zip(&self.positions);
        for (at, (&ordinal, &position)) in places.enumerate() {
            stop.check_at(at)?;
            self.occurrences.extend(wanted.find(ordinal).map(|key| (key, position)));
        }
        Ok(())
    }

    /// Returns the signature of the document at `address`, and calls `each` with every shared
    /// fingerprint: its place in the signature, ascending, and the place of its key among the keys.
    /// From a stored signature, only the shared fingerprints are read. `keyed` has distinct
    /// ascending keys and, if known, their terms in each segment.
    ///
    /// # Errors
    /// The errors of [`read`](Self::read).
    pub fn scan<'a>(
        &mut self,
        snapshot: &'a Snapshot,
        keyed: Keyed<'_>,
        address: DocAddress,
        each: &mut impl FnMut(usize, u32),
        stop: &Stop,
    ) -> Result<Signature<'a>> {
        stop.check()?;
        if !snapshot.config().store_signatures {
            let signature = memory::signature(snapshot, address, self.memory.as_ref(), stop)?;
            for (at, found) in signature.iter().enumerate() {
                stop.check_at(at)?;
                if let Some(key) = place_of(found, keyed.0) {
                    each(at, key);
                }
            }
            return Ok(Signature::Made(signature));
        }
        let wanted = wanted(&mut self.wanted, snapshot, keyed, address, stop)?;
        let list = snapshot.segment(address).signatures.forward_list(address.doc)?;
        for (at, ordinal) in list.ordinals().enumerate() {
            stop.check_at(at)?;
            if let Some(key) = wanted.find(ordinal) {
                each(at, key);
            }
        }
        Ok(Signature::Stored(list))
    }

    /// Returns the shared fingerprints of the document by position: the place among the keys, and
    /// the position in the document.
    pub fn occurrences(&self) -> &[(u32, u32)] {
        &self.occurrences
    }

    /// Returns the places of the shared fingerprints among the keys, ascending and distinct.
    pub fn keys(&self) -> Vec<u32> {
        let mut keys: Vec<u32> = self.occurrences.iter().map(|&(key, _)| key).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}

/// The signature of a document, for callers that need only a little of it.
pub enum Signature<'a> {
    /// Stored in the segment.
    Stored(ForwardList<'a>),
    /// Computed from the text.
    Made(Vec<Fingerprint>),
}

impl Signature<'_> {
    /// Returns the number of fingerprints.
    pub fn len(&self) -> usize {
        match self {
            Signature::Stored(list) => list.len(),
            Signature::Made(signature) => signature.len(),
        }
    }

    /// Returns the distance of the position at `place` from the previous position, or from 0.
    pub fn gap(&self, place: usize) -> u32 {
        match self {
            Signature::Stored(list) => list.gap(place),
            Signature::Made(signature) => {
                let before = place.checked_sub(1).map_or(0, |before| signature[before].position);
                signature[place].position - before
            }
        }
    }

    /// Returns the last position, or 0 for an empty signature.
    pub fn last_position(&self) -> u64 {
        match self {
            Signature::Stored(list) => list.last_position(),
            Signature::Made(signature) => signature.last().map_or(0, |last| last.position.into()),
        }
    }
}

/// Returns the place of a fingerprint among the keys, if the keys contain it.
fn place_of(fingerprint: &Fingerprint, keys: &[u64]) -> Option<u32> {
    keys.binary_search(&fingerprint.key).ok().map(|place| place as u32)
}

/// Distinct ascending keys, and for each segment the ordinals of their terms, ascending, with the
/// places of the keys. No segments if the terms have not been looked up.
type Keyed<'a> = (&'a [u64], &'a [Vec<(u32, u32)>]);

/// Returns the terms of the keys in the segment of `address`. Unknown terms are looked up once.
fn wanted<'a>(
    wanted: &'a mut Vec<Option<QueryTerms>>,
    snapshot: &Snapshot,
    (keys, known): Keyed<'_>,
    address: DocAddress,
    stop: &Stop,
) -> Result<&'a QueryTerms> {
    wanted.resize_with(snapshot.segments().len(), || None);
    let segment = address.segment as usize;
    let wanted = &mut wanted[segment];
    if let Some(wanted) = wanted {
        return Ok(wanted);
    }
    let terms = match known.get(segment) {
        Some(terms) => terms.clone(),
        None => {
            let found = terms_of(&[&snapshot.segment(address).signatures], keys, stop)?;
            found.into_iter().flatten().map(|(place, term)| (term.ordinal, place)).collect()
        }
    };
    Ok(wanted.insert(QueryTerms::new(terms)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Config, Document, Index, WriterOptions};
    use proptest::prelude::*;
    use std::sync::LazyLock;

    /// Two segments whose documents have 60 words each, out of 90.
    static SEGMENTS: LazyLock<Snapshot> = LazyLock::new(|| {
        let index = Index::in_memory(Config::new("kgram(k=1)", "words", false).unwrap()).unwrap();
        let mut writer = index.writer(WriterOptions::default().merge(false)).unwrap();
        for (id, words) in [("a", 0..60), ("b", 30..90)] {
            let text: String = words.map(|word| format!("w{word} ")).collect();
            writer.add(Document::new(id, text)).unwrap();
            writer.commit().unwrap();
        }
        writer.finish().unwrap();
        index.snapshot().unwrap()
    });

    proptest! {
        #[test]
        fn terms_that_are_looked_up_in_parts_are_those_of_one_look_up(
            others in prop::collection::btree_set(any::<u64>(), 0..20),
            is_kept in prop::collection::vec(any::<bool>(), 90),
            keys_at_once in 1usize..120,
        ) {
            let mut keys = Vec::new();
            SEGMENTS.for_each_term(&mut |key, _| keys.push(key)).unwrap();
            let mut is_kept = is_kept.into_iter().cycle();
            keys.retain(|_| is_kept.next().unwrap());
            keys.extend(others);
            keys.sort_unstable();
            keys.dedup();
            let segments = SEGMENTS.segments().iter().map(|segment| &segment.signatures);
            let segments: Vec<_> = segments.collect();
            prop_assert_eq!(segments.len(), 2);
            let of = |terms: Vec<Terms<'_>>| -> Vec<Vec<(u32, u32, u32)>> {
                let of_one = |(place, term): (u32, crate::segment::Term<'_>)| {
                    (place, term.ordinal, term.df())
                };
                terms.into_iter().map(|terms| terms.into_iter().map(of_one).collect()).collect()
            };
            let in_parts = terms_in_parts(&segments, &keys, keys_at_once, Stop::NEVER).unwrap();
            prop_assert_eq!(of(in_parts), of(find_in(&segments, &keys).unwrap()));
        }

        #[test]
        fn wanted_terms_are_found_and_no_others(
            ordinals in prop::collection::btree_set(prop_oneof![0u32..40, any::<u32>()], 0..40),
            others in prop::collection::vec(prop_oneof![0u32..50, any::<u32>()], 0..40),
        ) {
            let terms: Vec<(u32, u32)> = ordinals.iter().copied().zip(7..).collect();
            let wanted = QueryTerms::new(terms.clone());
            for ordinal in others.into_iter().chain(ordinals) {
                let expected = terms.iter().find(|term| term.0 == ordinal).map(|term| term.1);
                prop_assert_eq!(wanted.find(ordinal), expected);
            }
        }
    }
}
