//! Which fingerprints does a stored document share with the query, and where has it them?
//!
//! Read from the document's forward list: for the few documents that matter, not for candidates.

use crate::error::Result;
use crate::index::{DocAddress, Snapshot};
use crate::segment::{SegmentReader, Term};
use crate::stop::Stop;

/// Looked up at a time: some tens of milliseconds, if the disk has to be asked.
const KEYS_AT_ONCE: usize = 1 << 16;

/// The terms of a segment that are among the ascending `keys`, each with its place among them.
///
/// # Errors
/// When the segment is damaged; [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
pub fn terms_of<'a>(
    segment: &'a SegmentReader,
    keys: &[u64],
    stop: Stop<'_>,
) -> Result<Vec<(u32, Term<'a>)>> {
    let mut terms = Vec::new();
    for (number, part) in keys.chunks(KEYS_AT_ONCE).enumerate() {
        stop.check()?;
        let before = (number * KEYS_AT_ONCE) as u32;
        let found = segment.find_all(part)?;
        if keys.len() <= KEYS_AT_ONCE {
            return Ok(found);
        }
        terms.extend(found.into_iter().map(|(place, term)| (before + place, term)));
    }
    Ok(terms)
}

/// The fingerprints that a query and a document have in common.
#[derive(Default)]
pub struct SharedFingerprints {
    /// For each segment, once it was looked at, the ordinals of the query's terms and their places
    /// among the query's keys, ascending.
    terms: Vec<Option<Vec<(u32, u32)>>>,
    ordinals: Vec<u32>,
    positions: Vec<u32>,
    /// Each occurrence in the document: the key's place among the query's, and the position.
    occurrences: Vec<(u32, u32)>,
    /// For each position, whether it is that of a shared fingerprint.
    is_shared: Vec<bool>,
}

impl SharedFingerprints {
    /// Reads what the document at `address` shares with the distinct, ascending `keys`, which are
    /// the same in every call.
    ///
    /// # Errors
    /// When the segment is damaged; [`Error::Cancelled`](crate::Error::Cancelled) soon after
    /// `stop`.
    pub fn read(
        &mut self,
        snapshot: &Snapshot,
        keys: &[u64],
        address: DocAddress,
        stop: Stop<'_>,
    ) -> Result<()> {
        stop.check()?;
        let signatures = &snapshot.segment(address).signatures;
        self.terms.resize(snapshot.segments().len(), None);
        let terms = &mut self.terms[address.segment as usize];
        if terms.is_none() {
            let found = terms_of(signatures, keys, stop)?;
            *terms = Some(found.into_iter().map(|(i, term)| (term.ordinal, i)).collect());
        }
        let terms = terms.as_deref().unwrap_or_default();
        signatures.forward(address.doc, &mut self.ordinals, &mut self.positions)?;
        self.occurrences.clear();
        self.is_shared.clear();
        let places = self.ordinals.iter().zip(&self.positions);
        for (at, (ordinal, &position)) in places.enumerate() {
            stop.check_at(at)?;
            let found = terms.binary_search_by_key(ordinal, |term| term.0);
            if let Ok(at) = found {
                self.occurrences.push((terms[at].1, position));
            }
            self.is_shared.push(found.is_ok());
        }
        Ok(())
    }

    /// Each shared fingerprint of the document, by position: its place among the keys, and the
    /// position in the document.
    pub fn occurrences(&self) -> &[(u32, u32)] {
        &self.occurrences
    }

    /// The places among the keys of the shared fingerprints, ascending.
    pub fn keys(&self) -> Vec<u32> {
        let mut keys: Vec<u32> = self.occurrences.iter().map(|&(key, _)| key).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// Every fingerprint of the document, by position: the position, and whether it is shared.
    pub fn places(&self) -> impl Iterator<Item = (u32, bool)> + '_ {
        self.positions.iter().copied().zip(self.is_shared.iter().copied())
    }
}
