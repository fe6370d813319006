//! Finds recently kept documents that share fingerprints with a document.
//!
//! This is an index of uncommitted documents, in memory, for a few thousand documents. Let sets of
//! m and n elements share t elements, in any common order. Then the first m - t + l elements of the
//! first set and the first n - t + l of the second share l (prefix filtering; Wang, Li and Feng
//! 2012). Here keys are sorted by value, and keys are hashes. So half of the fingerprints are not
//! looked up, and the l - 1 most frequent of the remaining lists are not read. The keys of found
//! documents then give the exact overlap.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::scope::Group;
use cento_text::hash::{BuildKeyHasher, Digest};
use cento_text::sampling::Size;
use cento_text::scheme::{Fingerprint, KeyedSignature};

/// A document that was kept since the last commit.
#[derive(Debug)]
pub struct Recent {
    pub id: String,
    /// The distinct fingerprints of the document, ascending.
    pub keys: Vec<u64>,
    /// The number of fingerprints, and whether they are all runs of the document.
    pub size: Size,
    /// The number of tokens of the document.
    pub tokens: u32,
    /// The fingerprints by position, if similarity is estimated.
    pub signature: Option<Arc<Vec<Fingerprint>>>,
    /// The place of the text in the spool, if texts decide.
    pub place: Option<u64>,
    /// How many of the first fingerprints are indexed to find the document by.
    pub indexed: usize,
    /// The text, if passages are searched for.
    pub text: Option<String>,
    pub group: Group,
}

impl Recent {
    /// Returns the signature. Its fingerprints are by position, and empty unless kept.
    pub fn signature(&self) -> KeyedSignature<'_> {
        let fingerprints = self.signature.as_ref().map_or(&[][..], |signature| &signature[..]);
        KeyedSignature { tokens: self.tokens, fingerprints, keys: &self.keys }
    }
}

/// The documents that were kept since the last commit.
#[derive(Debug, Default)]
pub struct RecentDocuments {
    documents: Vec<Recent>,
    /// The first document with a text, by digest of the text.
    digests: HashMap<Digest, u32, BuildKeyHasher>,
    /// The documents that have a fingerprint.
    lists: HashMap<u64, HolderList, BuildKeyHasher>,
    /// The lists of more than one document, each in the order of addition.
    longer: Vec<Vec<u32>>,
    bytes: usize,
    /// Counters of shared fingerprints by document, all 0 between searches. Every searching thread
    /// borrows a list.
    counters: Mutex<Vec<Vec<u32>>>,
}

/// The documents that have a fingerprint. Most lists have one document and need no vector.
#[derive(Debug, Clone, Copy)]
struct HolderList {
    count: u32,
    /// The document, or an index into `longer` if `count` is more than 1.
    place: u32,
}

/// How many fingerprints of a document are searched for.
#[derive(Debug, Clone, Copy)]
pub struct Prefix {
    /// The number of fingerprints to look up, counted from the smallest.
    pub probed: usize,
    /// The minimum number of looked-up fingerprints that a neighbor has, at least 1.
    pub needed: usize,
}

/// The approximate size of an indexed fingerprint, in bytes: a posting and a share of the map.
const BYTES_A_POSTING: usize = 32;

/// The initial capacity of a list with more than one document.
const LIST_ROOM: usize = 4;

impl RecentDocuments {
    /// Returns the approximate memory of the documents, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a document. `digest`, if given, finds the document by its text.
    pub fn add(&mut self, recent: Recent, digest: Option<Digest>) {
        let (doc, indexed) = (self.documents.len() as u32, recent.indexed);
        if let Some(digest) = digest {
            self.digests.entry(digest).or_insert(doc);
        }
        for &key in &recent.keys[..indexed] {
            let list = self.lists.entry(key).or_insert(HolderList { count: 0, place: doc });
            list.count += 1;
            if list.count == 2 {
                let mut documents = Vec::with_capacity(LIST_ROOM);
                documents.push(list.place);
                list.place = self.longer.len() as u32;
                self.longer.push(documents);
            }
            if list.count > 1 {
                self.longer[list.place as usize].push(doc);
            }
        }
        let text = recent.text.as_ref().map_or(0, String::len);
        self.bytes += recent.keys.len() * 8 + indexed * BYTES_A_POSTING;
        self.bytes += text + recent.id.len() + 200;
        self.bytes += size_of_val(recent.signature().fingerprints);
        self.documents.push(recent);
    }

    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Finds the first document whose text has this digest.
    pub fn find_digest(&self, digest: Digest) -> Option<&Recent> {
        self.digests.get(&digest).map(|&doc| &self.documents[doc as usize])
    }

    /// Finds documents from number `from` on that share at least `overlap_min` of the ascending
    /// `keys`, in the order of addition, with numbers and overlaps. Finds every document that has
    /// `needed` (at least 1) of the first `probed` keys among its indexed keys, and possibly more.
    /// Skips sizes that are not `admitted`.
    pub fn neighbors(
        &self,
        from: usize,
        keys: &[u64],
        Prefix { probed, needed }: Prefix,
        overlap_min: u32,
        admitted: impl Fn(Size) -> bool,
    ) -> Vec<(usize, &Recent, u32)> {
        let lists = keys[..probed].iter().filter_map(|key| self.lists.get(key).copied());
        let mut lists: Vec<HolderList> = lists.collect();
        // A document on `needed` of the lists is on a list other than the `needed - 1` longest.
        let read = (lists.len() + 1).saturating_sub(needed);
        if read < lists.len() {
            lists.select_nth_unstable_by_key(read, |list| list.count);
        }
        let mut counters = self.spare_counters();
        let mut touched = Vec::new();
        for list in &lists[..read] {
            let documents = self.documents_of(list);
            let first = documents.partition_point(|&doc| (doc as usize) < from);
            for &doc in &documents[first..] {
                let count = &mut counters[doc as usize];
                if *count == 0 {
                    touched.push(doc);
                }
                *count += 1;
            }
        }
        touched.sort_unstable();
        let is_all_read = read == lists.len() && probed == keys.len();
        let mut found = Vec::new();
        for doc in touched {
            let counted = std::mem::take(&mut counters[doc as usize]);
            if !self.has_enough(doc, needed.saturating_sub(counted as usize), &lists[read..]) {
                continue;
            }
            let recent = &self.documents[doc as usize];
            if !admitted(recent.size) {
                continue;
            }
            // The count is complete if all lists were read and the document's keys are all indexed.
            let overlap = match is_all_read && recent.indexed == recent.keys.len() {
                true => counted,
                false => common(keys, &recent.keys, overlap_min),
            };
            if overlap >= overlap_min {
                found.push((doc as usize, recent, overlap));
            }
        }
        self.leave_counters(counters);
        found
    }

    /// Tells whether the document is on at least `needed` of these lists.
    fn has_enough(&self, doc: u32, needed: usize, lists: &[HolderList]) -> bool {
        // Most documents share little beyond the fingerprints that brought them up, so a few lists
        // decide.
        let mut may_miss = match lists.len().checked_sub(needed) {
            None => return false,
            Some(may_miss) => may_miss,
        };
        let mut found = 0;
        for list in lists {
            if found == needed {
                return true;
            }
            if self.documents_of(list).binary_search(&doc).is_ok() {
                found += 1;
            } else if may_miss == 0 {
                return false;
            } else {
                may_miss -= 1;
            }
        }
        true
    }

    fn documents_of<'a>(&'a self, list: &'a HolderList) -> &'a [u32] {
        match list.count {
            1 => std::slice::from_ref(&list.place),
            _ => &self.longer[list.place as usize],
        }
    }

    fn spare_counters(&self) -> Vec<u32> {
        let spare = self.counters.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut counters = spare.unwrap_or_default();
        counters.resize(self.documents.len(), 0);
        counters
    }

    fn leave_counters(&self, counters: Vec<u32>) {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner).push(counters);
    }
}

/// Counts the common elements of two ascending sets. A count below `least` may be too low, because
/// counting stops when `least` is out of reach.
pub fn common(a: &[u64], b: &[u64], least: u32) -> u32 {
    let (mut i, mut j, mut count) = (0, 0, 0);
    let least = least as usize;
    while i < a.len() && j < b.len() && count + (a.len() - i).min(b.len() - j) >= least {
        count += usize::from(a[i] == b[j]);
        (i, j) = (i + usize::from(a[i] <= b[j]), j + usize::from(b[j] <= a[i]));
    }
    count as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dedup::DedupSettings;
    use cento_text::sampling::Sampling;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Returns a digest that differs from other digests only in the high half.
    fn digest(high: u64) -> Digest {
        Digest { low: 7, high }
    }

    proptest! {
        #[test]
        fn neighbors_are_those_of_brute_force(
            documents in prop::collection::vec(prop::collection::btree_set(0u64..40, 0..25), 0..30),
            queries in prop::collection::vec(prop::collection::btree_set(0u64..40, 1..25), 1..5),
            tenths in 1u32..11,
        ) {
            // By resemblance alone a prefix of the keys is indexed, with a containment all keys
            // are.
            let options = |contained: Option<f64>| DedupSettings {
                min_resemblance: Some(f64::from(tenths) / 10.0),
                min_containment: contained,
                cut_passages: None,
                min_left: 0,
                only_against: false,
                scope: None,
                boilerplate: None,
                threads: 1,
                memory_bytes: 0,
                resumable: false,
                temporary: false,
                strict: false,
                keeps_none: false,
            };
            let (near, both) = (options(None), options(Some(f64::from(tenths) / 10.0)));
            let sampling = Sampling::Sketches;
            let size = |len: usize| Size { fingerprints: len as u32, is_all: false };
            let (mut whole, mut short) = (RecentDocuments::default(), RecentDocuments::default());
            for (i, keys) in documents.iter().enumerate() {
                let keys: Vec<u64> = keys.iter().copied().collect();
                let recent = |indexed| Recent {
                    indexed,
                    id: i.to_string(),
                    keys: keys.clone(),
                    size: size(keys.len()),
                    tokens: 0,
                    signature: None,
                    place: None,
                    text: None,
                    group: None,
                };
                let own = Some(digest(i as u64 / 2));
                whole.add(recent(both.indexed(sampling, size(keys.len()))), own);
                short.add(recent(near.indexed(sampling, size(keys.len()))), own);
            }
            for query in queries {
                let keys: Vec<u64> = query.iter().copied().collect();
                let own = size(keys.len());
                let least = near.overlap_min(sampling, own).unwrap();
                let overlap = |keys: &BTreeSet<u64>| keys.intersection(&query).count() as u32;
                let ids = |found: Vec<(usize, &Recent, u32)>| -> Vec<(usize, u32)> {
                    found.into_iter().map(|(_, recent, o)| (recent.id.parse().unwrap(), o)).collect()
                };
                let all = documents.iter().map(&overlap).enumerate();
                let found = ids(whole.neighbors(0, &keys, both.prefix(sampling, own, least), least, |_| true));
                let expected: Vec<(usize, u32)> = all.clone().filter(|found| found.1 >= least).collect();
                prop_assert_eq!(found, expected);
                let mut found = ids(short.neighbors(0, &keys, near.prefix(sampling, own, least), least, |_| true));
                // Documents with a lower resemblance may be found or not.
                let resembles = |&(i, o): &(usize, u32)| {
                    f64::from(o) / f64::from(own.fingerprints + documents[i].len() as u32 - o) >= near.min_resemblance.unwrap()
                };
                found.retain(resembles);
                prop_assert_eq!(&found, &all.filter(resembles).collect::<Vec<_>>());
                let mut late = ids(short.neighbors(7, &keys, near.prefix(sampling, own, least), least, |_| true));
                late.retain(resembles);
                found.retain(|found| found.0 >= 7);
                prop_assert_eq!(late, found);
            }
            for digest in 0..20u64 {
                let first = (digest * 2 < documents.len() as u64).then(|| (digest * 2).to_string());
                prop_assert_eq!(whole.find_digest(self::digest(digest)).map(|recent| recent.id.clone()), first);
            }
        }
    }
}
