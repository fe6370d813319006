//! Chooses the pairs of documents whose texts are compared.
//!
//! A passage with n carriers is in n (n - 1) / 2 pairs of documents, but a family needs only n - 1
//! pairs: a carrier and an earlier one. So for every fingerprint shared with earlier documents, a
//! document is compared with two of the carriers: the first carrier, where a family begins, and the
//! carrier with most fingerprints in common, whose version is nearest. For most fingerprints these
//! are the same document. So the number of pairs grows with the number of carriers instead of its
//! square. Broder et al., "Syntactic Clustering of the Web" (1997), section 3.3, compare the
//! documents with a frequent fingerprint with a single document for the same reason.
//!
//! A fingerprint with few carriers makes pairs of all its carriers.
//!
//! As far as fingerprints tell, comparing all pairs would give the same families. But if the first
//! carrier has changed words near an end of the passage, documents that share the words may not be
//! compared. Then their places end beside the change.

use std::cmp::Reverse;

use super::request::{Request, Tuning};
use crate::chronology::Chronology;
use crate::copies;
use cento::index::DocAddress;
use cento::segment::find_in;
use cento_api::error::{Error, Result};
use cento_text::hash::mix64;
use cento_text::runtime::ordered::in_order;

/// The number of documents that a thread handles at a time.
const DOCUMENTS_AT_ONCE: usize = 64;

/// The number of fingerprints to look up at a time.
const KEYS_AT_ONCE: usize = 1 << 8;

/// Fingerprints with the ranks of documents.
type Collected = Vec<(u64, u32)>;

/// The memory of a document's fingerprint while carriers are collected, and later.
const COLLECTED_BYTES: usize = size_of::<(u64, u32)>();
const KEPT_BYTES: usize = 2 * size_of::<u32>();

/// Returns the pairs of ranks to compare, ascending. `searched_for` restricts the pairs to
/// documents with a fingerprint of these documents.
///
/// # Errors
/// When the fingerprints take too much memory, or a file is damaged. [`Error::Cancelled`] soon
/// after the search was stopped.
pub fn pairs(
    request: &Request<'_>,
    documents: &Chronology,
    searched_for: Option<&[u32]>,
) -> Result<Vec<(u32, u32)>> {
    let carriers = CarriedFingerprints::read(request, documents, searched_for)?;
    let mut pairs = carriers.pairs(request)?;
    for copies in copies::groups(request.searcher, request.options.max_df, request.stop)? {
        let mut ranks: Vec<u32> =
            copies.iter().map(|&number| documents.rank_of_number(number)).collect();
        ranks.sort_unstable();
        let is_wanted = searched_for
            .is_none_or(|wanted| ranks.iter().any(|rank| wanted.binary_search(rank).is_ok()));
        if is_wanted && let Some((&first, others)) = ranks.split_first() {
            pairs.extend(others.iter().map(|&other| (first, other)));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    Ok(pairs)
}

/// Fingerprints in several documents, and their carriers.
struct CarriedFingerprints {
    /// Where the carriers of each fingerprint begin.
    starts: Vec<usize>,
    /// The ranks of the carriers of each fingerprint, ascending.
    ranks: Vec<u32>,
    starts_of_documents: Vec<usize>,
    /// The numbers of the fingerprints of each document.
    keys: Vec<u32>,
}

impl CarriedFingerprints {
    fn read(
        request: &Request<'_>,
        documents: &Chronology,
        searched_for: Option<&[u32]>,
    ) -> Result<CarriedFingerprints> {
        let Request { searcher, options, memory_bytes, stop, .. } = *request;
        let snapshot = searcher.snapshot();
        let max_df = options.max_df.unwrap_or(snapshot.config().max_df);
        let max_df = usize::try_from(max_df.limit(snapshot.documents())).unwrap_or(usize::MAX);
        let size = |rank: u32| -> Result<usize> {
            stop.check_at(rank as usize)?;
            Ok(searcher.size_of(documents.address(rank))? as usize)
        };
        let all: usize = match searched_for {
            None => (0..documents.len() as u32).map(size).sum::<Result<usize>>()?,
            Some(ranks) => ranks.iter().copied().map(size).sum::<Result<usize>>()?,
        };
        // A growing list takes its old and its new memory.
        let passes = (2 * all * COLLECTED_BYTES).div_ceil((memory_bytes / 2).max(1)).max(1) as u64;
        let mut found = CarriedFingerprints {
            starts: vec![0],
            ranks: Vec::new(),
            starts_of_documents: Vec::new(),
            keys: Vec::new(),
        };
        for pass in 0..passes {
            let is_in_pass = |key: u64| mix64(key) % passes == pass;
            let mut add = |collected: &mut Collected| found.add(collected, max_df, request);
            match searched_for {
                None => read_all(request, documents, &is_in_pass, &mut add)?,
                Some(ranks) => look_up(request, documents, ranks, &is_in_pass, &mut add)?,
            }
        }
        found.turn(documents.len());
        Ok(found)
    }

    /// Adds the carriers of fingerprints in at least two and at most `max_df` documents.
    fn add(
        &mut self,
        collected: &mut Collected,
        max_df: usize,
        request: &Request<'_>,
    ) -> Result<()> {
        collected.sort_unstable();
        for (at, of_key) in collected.chunk_by(|one, other| one.0 == other.0).enumerate() {
            request.stop.check_at(at)?;
            if (2..=max_df).contains(&of_key.len()) {
                self.ranks.extend(of_key.iter().map(|&(_, rank)| rank));
                self.starts.push(self.ranks.len());
            }
        }
        collected.clear();
        let bytes = 2 * self.ranks.len() * KEPT_BYTES;
        match bytes > request.memory_bytes {
            true => Err(Error::memory("finding families", bytes, request.memory_bytes)),
            false => Ok(()),
        }
    }

    /// Lists the fingerprints of each document, by inverting the lists of carriers.
    fn turn(&mut self, documents: usize) {
        let mut starts = vec![0; documents + 1];
        self.ranks.iter().for_each(|&rank| starts[rank as usize + 1] += 1);
        for at in 0..documents {
            starts[at + 1] += starts[at];
        }
        let (mut next, mut keys) = (starts.clone(), vec![0; self.ranks.len()]);
        for key in 0..self.starts.len() - 1 {
            for &rank in &self.ranks[self.starts[key]..self.starts[key + 1]] {
                keys[next[rank as usize]] = key as u32;
                next[rank as usize] += 1;
            }
        }
        (self.starts_of_documents, self.keys) = (starts, keys);
    }

    fn documents(&self) -> usize {
        self.starts_of_documents.len() - 1
    }

    fn keys(&self, rank: u32) -> &[u32] {
        let rank = rank as usize;
        &self.keys[self.starts_of_documents[rank]..self.starts_of_documents[rank + 1]]
    }

    fn of(&self, key: u32) -> &[u32] {
        &self.ranks[self.starts[key as usize]..self.starts[key as usize + 1]]
    }

    fn pairs(&self, request: &Request<'_>) -> Result<Vec<(u32, u32)>> {
        let Request { threads, tuning, stop, .. } = *request;
        let choose = |at: u64| -> Result<Vec<(u32, u32)>> {
            let first = at as usize * DOCUMENTS_AT_ONCE;
            let (mut found, mut counts) =
                (Vec::new(), CommonCounts::new(first + DOCUMENTS_AT_ONCE));
            for rank in first..self.documents().min(first + DOCUMENTS_AT_ONCE) {
                stop.check()?;
                self.partners(rank as u32, tuning, &mut counts, &mut found);
            }
            Ok(found)
        };
        let parts = self.documents().div_ceil(DOCUMENTS_AT_ONCE) as u64;
        let mut pairs = Vec::new();
        in_order(threads, 0..parts, stop, &choose, &mut |_, some| {
            pairs.extend(some);
            Ok(())
        })?;
        Ok(pairs)
    }

    /// Appends the pairs of a document with earlier documents.
    fn partners(
        &self,
        rank: u32,
        tuning: Tuning,
        counts: &mut CommonCounts,
        found: &mut Vec<(u32, u32)>,
    ) {
        let earlier = |key: u32| {
            let all = self.of(key);
            (all, &all[..all.partition_point(|&other| other < rank)])
        };
        let counted = || {
            let keys = self.keys(rank).iter().map(|&key| earlier(key));
            keys.filter(|(all, _)| all.len() <= tuning.counted_max)
        };
        counts.clear();
        counted().for_each(|(_, earlier)| earlier.iter().for_each(|&other| counts.add(other)));
        let mut others: Vec<u32> = Vec::new();
        for &key in self.keys(rank) {
            let (all, earlier) = earlier(key);
            let Some(&first) = earlier.first() else { continue };
            if all.len() <= tuning.all_pairs_max {
                others.extend(earlier);
                continue;
            }
            others.push(first);
            if all.len() <= tuning.counted_max {
                others.extend(earlier.iter().min_by_key(|&&other| Reverse(counts.of(other))));
            }
        }
        others.sort_unstable();
        others.dedup();
        found.extend(others.into_iter().map(|other| (other, rank)));
    }
}

/// Collects the fingerprints of the pass from all documents.
fn read_all(
    request: &Request<'_>,
    documents: &Chronology,
    is_in_pass: &(dyn Fn(u64) -> bool + Sync),
    add: &mut dyn FnMut(&mut Collected) -> Result<()>,
) -> Result<()> {
    let Request { searcher, threads, stop, .. } = *request;
    let read = |at: u64| -> Result<Vec<(u64, u32)>> {
        let first = at as usize * DOCUMENTS_AT_ONCE;
        let mut some = Vec::new();
        for rank in first..documents.len().min(first + DOCUMENTS_AT_ONCE) {
            let keys = searcher.keys_of(documents.address(rank as u32), stop)?.into_iter();
            some.extend(keys.filter(|&key| is_in_pass(key)).map(|key| (key, rank as u32)));
        }
        Ok(some)
    };
    let mut collected = Vec::new();
    let parts = documents.len().div_ceil(DOCUMENTS_AT_ONCE) as u64;
    in_order(threads, 0..parts, stop, &read, &mut |_, some| {
        collected.extend(some);
        Ok(())
    })?;
    add(&mut collected)
}

/// Collects the fingerprints of the pass from these documents, with every carrier.
fn look_up(
    request: &Request<'_>,
    documents: &Chronology,
    ranks: &[u32],
    is_in_pass: &dyn Fn(u64) -> bool,
    add: &mut dyn FnMut(&mut Collected) -> Result<()>,
) -> Result<()> {
    let Request { searcher, stop, .. } = *request;
    let segments = searcher.snapshot().segments();
    let readers: Vec<_> = segments.iter().map(|segment| &segment.signatures).collect();
    let mut keys = Vec::new();
    for &rank in ranks {
        let own = searcher.keys_of(documents.address(rank), stop)?.into_iter();
        keys.extend(own.filter(|&key| is_in_pass(key)));
    }
    keys.sort_unstable();
    keys.dedup();
    let (mut collected, mut docs) = (Vec::new(), Vec::new());
    for some in keys.chunks(KEYS_AT_ONCE) {
        for (number, terms) in (0u32..).zip(find_in(&readers, some)?) {
            let view = &segments[number as usize];
            for (place, term) in terms {
                stop.check()?;
                docs.clear();
                view.signatures.documents_of(&term, &mut docs)?;
                let live = docs.iter().filter(|&&doc| view.is_alive(doc));
                collected.extend(live.map(|&doc| {
                    let address = DocAddress { segment: number, doc };
                    (some[place as usize], documents.rank(address))
                }));
            }
        }
        add(&mut collected)?;
    }
    Ok(())
}

/// Numbers of fingerprints that earlier documents share with one document.
struct CommonCounts {
    of: Vec<u32>,
    counted: Vec<u32>,
}

impl CommonCounts {
    fn new(documents: usize) -> CommonCounts {
        CommonCounts { of: vec![0; documents], counted: Vec::new() }
    }

    fn clear(&mut self) {
        self.counted.drain(..).for_each(|rank| self.of[rank as usize] = 0);
    }

    fn add(&mut self, rank: u32) {
        let count = &mut self.of[rank as usize];
        if *count == 0 {
            self.counted.push(rank);
        }
        *count += 1;
    }

    fn of(&self, rank: u32) -> u32 {
        self.of[rank as usize]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// The carriers of fingerprints, given as sets of ranks below `documents`.
    fn carriers(sets: &[BTreeSet<u32>], documents: usize) -> CarriedFingerprints {
        let mut found = CarriedFingerprints {
            starts: vec![0],
            ranks: Vec::new(),
            starts_of_documents: Vec::new(),
            keys: Vec::new(),
        };
        for ranks in sets.iter().filter(|ranks| ranks.len() > 1) {
            found.ranks.extend(ranks);
            found.starts.push(found.ranks.len());
        }
        found.turn(documents);
        found
    }

    fn pairs(carriers: &CarriedFingerprints, tuning: Tuning) -> BTreeSet<(u32, u32)> {
        let (mut found, mut counts) = (Vec::new(), CommonCounts::new(carriers.documents()));
        for rank in 0..carriers.documents() as u32 {
            carriers.partners(rank, tuning, &mut counts, &mut found);
        }
        let all: BTreeSet<(u32, u32)> = found.iter().copied().collect();
        assert_eq!(all.len(), found.len(), "a pair comes twice: {found:?}");
        all
    }

    proptest! {
        #[test]
        fn each_carrier_is_compared_with_the_first_and_with_the_nearest(
            sets in prop::collection::vec(prop::collection::btree_set(0u32..12, 0..12), 0..12),
            all_pairs_max in 0usize..5,
            counted_max in 0usize..14,
        ) {
            let carriers = carriers(&sets, 12);
            let found = pairs(&carriers, Tuning { all_pairs_max, counted_max });
            let mut expected = BTreeSet::new();
            for rank in 0u32..12 {
                let own = || sets.iter().filter(|set| set.contains(&rank));
                let common = |other: u32| {
                    own().filter(|set| set.contains(&other) && set.len() <= counted_max).count()
                };
                for set in own() {
                    let earlier = set.range(..rank).copied();
                    if set.len() <= all_pairs_max {
                        expected.extend(earlier.map(|other| (other, rank)));
                        continue;
                    }
                    expected.extend(earlier.clone().next().map(|other| (other, rank)));
                    if set.len() <= counted_max {
                        // The earliest of the documents that share most.
                        let nearest = earlier.rev().max_by_key(|&other| common(other));
                        expected.extend(nearest.map(|other| (other, rank)));
                    }
                }
            }
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_passage_of_many_documents_makes_as_many_pairs() {
        let all: BTreeSet<u32> = (0..1000).collect();
        let found = pairs(&carriers(&vec![all; 20], 1000), Tuning::default());
        assert_eq!(found, (1..1000).map(|rank| (0, rank)).collect());
    }
}
