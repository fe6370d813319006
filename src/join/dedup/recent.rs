//! Which of the documents that were kept a moment ago share fingerprints with this one?
//!
//! An index of what no commit has yet: in memory, for a few thousand documents at a time. Sets of m
//! and n elements that share t have l in common among the first m - t + l of the one and n - t + l
//! of the other, in any order that is the same for all (prefix filtering; Wang, Li and Feng 2012).
//! Here it is that of the keys, which are hashes. So half of the fingerprints are not looked up, of
//! the others the l - 1 most frequent are not followed, and the documents' own lists then say exactly
//! how many are shared.

use std::collections::HashMap;
use std::sync::Arc;

use crate::hash::{BuildKeyHasher, Digest};
use crate::scheme::Fingerprint;

/// A document that was kept.
#[derive(Debug)]
pub struct Recent {
    /// Its id.
    pub id: String,
    /// Its distinct fingerprints, ascending.
    pub keys: Vec<u64>,
    /// The number of its tokens.
    pub tokens: u32,
    /// Its fingerprints by position, if resemblance is estimated.
    pub signature: Option<Arc<Vec<Fingerprint>>>,
    /// Its text, if passages are looked for.
    pub text: Option<String>,
}

impl Recent {
    /// The number of its tokens, and its fingerprints by position, as far as they are kept.
    pub fn signature(&self) -> (u32, &[Fingerprint]) {
        (self.tokens, self.signature.as_ref().map_or(&[], |signature| &signature[..]))
    }
}

/// The documents that were kept since the last commit.
#[derive(Debug, Default)]
pub struct RecentDocuments {
    documents: Vec<Recent>,
    /// By the digest of the text, the first document that has it.
    digests: HashMap<Digest, u32, BuildKeyHasher>,
    /// By fingerprint, the length of its list and the last posting of it.
    lists: HashMap<u64, (u32, u32), BuildKeyHasher>,
    /// A document, and the posting before it in its list.
    postings: Vec<(u32, u32)>,
    bytes: usize,
    /// All false between searches.
    is_touched: Vec<bool>,
}

/// How a document is searched for.
#[derive(Debug, Clone, Copy)]
pub struct Prefix {
    /// The number of its fingerprints, the first ones, that are looked up.
    pub probed: usize,
    /// The minimum number of them that another document has; not 0.
    pub needed: usize,
}

/// The first posting of a list has none before it.
const NONE: u32 = u32::MAX;

/// The approximate size of an indexed fingerprint, in bytes: its posting, and a part of a place in
/// the map.
const BYTES_A_POSTING: usize = 32;

impl RecentDocuments {
    /// Returns the approximate memory that they take, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a document whose text has this digest; it will be found by the first `indexed` of its
    /// fingerprints.
    pub fn add(&mut self, recent: Recent, digest: Digest, indexed: usize) {
        let doc = self.documents.len() as u32;
        self.digests.entry(digest).or_insert(doc);
        for &key in &recent.keys[..indexed] {
            let list = self.lists.entry(key).or_insert((0, NONE));
            self.postings.push((doc, list.1));
            *list = (list.0 + 1, self.postings.len() as u32 - 1);
        }
        let text = recent.text.as_ref().map_or(0, String::len);
        self.bytes += recent.keys.len() * 8 + indexed * BYTES_A_POSTING;
        self.bytes += text + recent.id.len() + 200;
        self.bytes += size_of_val(recent.signature().1);
        self.documents.push(recent);
        self.is_touched.push(false);
    }

    /// Finds the document whose text has this digest.
    pub fn find_digest(&self, digest: Digest) -> Option<&Recent> {
        self.digests.get(&digest).map(|&doc| &self.documents[doc as usize])
    }

    /// The documents that have `needed`, which is not 0, of the first `probed` of the ascending `keys`
    /// among those by which they are found, and at least `overlap_min` of all; and how many they
    /// have, in the order in which they were added. Others with that overlap may be among them.
    pub fn neighbours(
        &mut self,
        keys: &[u64],
        Prefix { probed, needed }: Prefix,
        overlap_min: u32,
    ) -> Vec<(&Recent, u32)> {
        let lists = keys[..probed].iter().filter_map(|key| self.lists.get(key).copied());
        let mut lists: Vec<(u32, u32)> = lists.collect();
        // A document with `needed` of them has one that is not among the most frequent.
        let read = (lists.len() + 1).saturating_sub(needed);
        if read < lists.len() {
            lists.select_nth_unstable(read);
        }
        let mut touched = Vec::new();
        for &(_, last) in &lists[..read] {
            let mut at = last;
            while at != NONE {
                let (doc, before) = self.postings[at as usize];
                if !std::mem::replace(&mut self.is_touched[doc as usize], true) {
                    touched.push(doc);
                }
                at = before;
            }
        }
        touched.sort_unstable();
        let mut found = Vec::new();
        for doc in touched {
            self.is_touched[doc as usize] = false;
            let recent = &self.documents[doc as usize];
            let overlap = common(keys, &recent.keys, overlap_min);
            if overlap >= overlap_min {
                found.push((recent, overlap));
            }
        }
        found
    }
}

/// How many elements two ascending sets share; too few, if it is less than `least`.
fn common(a: &[u64], b: &[u64], least: u32) -> u32 {
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
    use crate::join::dedup::DedupOptions;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Digests that differ in their high halves only.
    fn digest(high: u64) -> Digest {
        Digest { low: 7, high }
    }

    proptest! {
        #[test]
        fn neighbours_are_those_of_brute_force(
            documents in prop::collection::vec(prop::collection::btree_set(0u64..40, 0..25), 0..30),
            queries in prop::collection::vec(prop::collection::btree_set(0u64..40, 1..25), 1..5),
            tenths in 1u32..11,
        ) {
            // Found by all of their fingerprints, and by those that a share of them leaves.
            let options = |contained: Option<f64>| DedupOptions {
                near: Some(f64::from(tenths) / 10.0),
                near_estimated: None,
                contained,
                passage: None,
                boilerplate: None,
                threads: 1,
                memory_bytes: 0,
                resumable: false,
                temporary: false,
                strict: false,
            };
            let (near, both) = (options(None), options(Some(f64::from(tenths) / 10.0)));
            let (mut whole, mut short) = (RecentDocuments::default(), RecentDocuments::default());
            for (i, keys) in documents.iter().enumerate() {
                let keys: Vec<u64> = keys.iter().copied().collect();
                let recent = || Recent {
                    id: i.to_string(),
                    keys: keys.clone(),
                    tokens: 0,
                    signature: None,
                    text: None,
                };
                whole.add(recent(), digest(i as u64 / 2), both.indexed(keys.len()));
                short.add(recent(), digest(i as u64 / 2), near.indexed(keys.len()));
            }
            for query in queries {
                let keys: Vec<u64> = query.iter().copied().collect();
                let size = keys.len() as u32;
                let least = near.overlap_min(size).unwrap();
                let overlap = |keys: &BTreeSet<u64>| keys.intersection(&query).count() as u32;
                let ids = |found: Vec<(&Recent, u32)>| -> Vec<(usize, u32)> {
                    found.into_iter().map(|(recent, o)| (recent.id.parse().unwrap(), o)).collect()
                };
                let all = documents.iter().map(&overlap).enumerate();
                let found = ids(whole.neighbours(&keys, both.prefix(size, least), least));
                let expected: Vec<(usize, u32)> = all.clone().filter(|found| found.1 >= least).collect();
                prop_assert_eq!(found, expected);
                let mut found = ids(short.neighbours(&keys, near.prefix(size, least), least));
                // Those that do not resemble it may be there or not.
                let resembles = |&(i, o): &(usize, u32)| {
                    f64::from(o) / f64::from(size + documents[i].len() as u32 - o) >= near.near.unwrap()
                };
                found.retain(resembles);
                prop_assert_eq!(found, all.filter(resembles).collect::<Vec<_>>());
            }
            for digest in 0..20u64 {
                let first = (digest * 2 < documents.len() as u64).then(|| (digest * 2).to_string());
                prop_assert_eq!(whole.find_digest(self::digest(digest)).map(|recent| recent.id.clone()), first);
            }
        }
    }
}
