//! Looks up fingerprints in the documents added since the last commit.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::{Earlier, Source};
use crate::hash::{BuildKeyHasher, Digest};

/// The uncommitted documents and an inverted index of their fingerprints.
#[derive(Debug, Default)]
pub struct UncommittedPostings {
    documents: Vec<UncommittedDocument>,
    /// The time of addition of each document, in microseconds, or [`GONE`] after the document was
    /// replaced or removed.
    times: Vec<i64>,
    /// The number of the live document, by digest of its id.
    by_id: HashMap<Digest, u32, BuildKeyHasher>,
    /// The list of documents, by fingerprint.
    lists: HashMap<u64, HolderDocuments, BuildKeyHasher>,
    /// The lists with more than one document.
    longer: Vec<Longer>,
    /// Documents of longer lists, each linked to the previous posting of the same list.
    postings: Vec<(u32, Option<u32>)>,
    bytes: usize,
}

#[derive(Debug)]
struct UncommittedDocument {
    id: String,
    /// The distinct keys of the document. Emptied when the document is gone.
    keys: Vec<u64>,
}

/// The time of a document that is gone. No document is added at this time.
const GONE: i64 = i64::MIN;

/// The documents of a fingerprint. Most fingerprints occur in one document, which needs no list.
#[derive(Debug, Clone, Copy)]
enum HolderDocuments {
    One(u32),
    Longer(u32),
}

/// A list of several documents.
#[derive(Debug, Clone, Copy)]
struct Longer {
    /// The number of documents that are not gone.
    live: u32,
    /// The place of the last posting in `postings`.
    last: u32,
    /// The earliest live document and its time.
    first: Option<(i64, u32)>,
}

/// Approximate bytes per fingerprint in the map, per longer list, and per document.
const BYTES_A_KEY: usize = 28;
const BYTES_A_LIST: usize = 64;
const BYTES_A_DOCUMENT: usize = 100;

impl UncommittedPostings {
    /// Creates an empty set whose map has room for `bytes` of fingerprints from the start, because
    /// a growing map would move every entry each time.
    pub fn with_room(bytes: usize) -> UncommittedPostings {
        let lists =
            HashMap::with_capacity_and_hasher(bytes / BYTES_A_KEY, BuildKeyHasher::default());
        UncommittedPostings { lists, ..UncommittedPostings::default() }
    }

    /// Removes every document, and keeps the allocated room.
    pub fn clear(&mut self) {
        let UncommittedPostings { documents, times, by_id, lists, longer, postings, bytes } = self;
        documents.clear();
        times.clear();
        by_id.clear();
        lists.clear();
        longer.clear();
        postings.clear();
        *bytes = 0;
    }

    /// Returns the approximate memory of the set, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the number of live documents.
    pub fn documents(&self) -> u64 {
        self.by_id.len() as u64
    }

    pub fn id(&self, number: u32) -> &str {
        &self.documents[number as usize].id
    }

    /// Adds a document with these distinct keys. No live document may have the same id. Returns
    /// where earlier documents have each key.
    pub fn add(&mut self, id: String, keys: Vec<u64>, of_id: Digest, time: i64) -> Vec<Earlier> {
        let number = self.documents.len() as u32;
        let earlier = keys.iter().map(|&key| self.add_to(key, number, time)).collect();
        self.bytes += id.len() + BYTES_A_DOCUMENT + size_of_val(&keys[..]);
        self.documents.push(UncommittedDocument { id, keys });
        self.times.push(time);
        self.by_id.insert(of_id, number);
        earlier
    }

    /// Adds a document to the list of a key. Returns where earlier documents have the key.
    fn add_to(&mut self, key: u64, number: u32, time: i64) -> Earlier {
        let mut list = match self.lists.entry(key) {
            Entry::Vacant(vacant) => {
                vacant.insert(HolderDocuments::One(number));
                self.bytes += BYTES_A_KEY;
                return Earlier::default();
            }
            Entry::Occupied(list) => list,
        };
        let place = match *list.get() {
            HolderDocuments::Longer(place) => place,
            HolderDocuments::One(one) => {
                let at = self.times[one as usize];
                let first = (at != GONE).then_some((at, one));
                let last = self.postings.len() as u32;
                self.postings.push((one, None));
                let place = self.longer.len() as u32;
                self.longer.push(Longer { live: u32::from(first.is_some()), last, first });
                list.insert(HolderDocuments::Longer(place));
                self.bytes += BYTES_A_LIST;
                place
            }
        };
        let longer = &mut self.longer[place as usize];
        let first = longer.first.filter(|(at, _)| *at < time);
        let first = first.map(|(at, number)| (at, Source::Uncommitted(number)));
        let earlier = Earlier { documents: u64::from(longer.live), first };
        self.postings.push((number, Some(longer.last)));
        longer.last = self.postings.len() as u32 - 1;
        longer.live += 1;
        longer.first = [longer.first, Some((time, number))].into_iter().flatten().min();
        self.bytes += size_of::<(u32, Option<u32>)>();
        earlier
    }

    /// Records that the document with this digest of its id, if any, is gone.
    pub fn remove(&mut self, of_id: Digest) {
        let Some(number) = self.by_id.remove(&of_id) else { return };
        self.times[number as usize] = GONE;
        for key in std::mem::take(&mut self.documents[number as usize].keys) {
            let Some(&HolderDocuments::Longer(place)) = self.lists.get(&key) else { continue };
            let Longer { last, first, .. } = self.longer[place as usize];
            let first = match first {
                Some((_, gone)) if gone == number => self.first_of(last),
                other => other,
            };
            let longer = &mut self.longer[place as usize];
            (longer.live, longer.first) = (longer.live - 1, first);
        }
    }

    /// Returns the earliest live document of a list, with its time.
    fn first_of(&self, last: u32) -> Option<(i64, u32)> {
        let mut place = Some(last);
        let numbers = std::iter::from_fn(|| {
            let (number, before) = self.postings[place? as usize];
            place = before;
            Some(number)
        });
        let timed = numbers.map(|number| (self.times[number as usize], number));
        timed.filter(|(time, _)| *time != GONE).min()
    }
}
