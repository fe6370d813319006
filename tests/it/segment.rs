//! A segment against a model: written documents are found again, also after a merge.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind, Write};

use cento::hash::{Digest, mix64};
use cento::scheme::Fingerprint;
use cento::segment::{
    Candidates, Header, Identity, MergeOptions, MergeSource, SegmentBuilder, SegmentReader, merge,
    merge_work,
};
use ownedbytes::OwnedBytes;
use proptest::collection::vec;
use proptest::prelude::*;

/// A document of the model: number of tokens, and signature.
type Doc = (u32, Vec<Fingerprint>);

const KEY_BITS: u8 = 40;

fn header(documents: usize) -> Header {
    Header { key_bits: KEY_BITS, documents: documents as u32, config: 7, signatures: true }
}

/// Returns the id and digest of a document, derived from its fields. Many ids have a common
/// beginning, which may end within a character.
fn identity((tokens, signature): &Doc) -> (String, Digest) {
    let number = signature.iter().fold(u64::from(*tokens), |sum, f| mix64(sum ^ f.key));
    let letters = ["\u{e4}", "\u{e9}", "a", ""][number as usize % 4];
    let id = format!("{}/{letters}{}", number % 3, number >> (number % 64));
    (id, Digest { low: number, high: mix64(number) })
}

fn builder(docs: &[Doc]) -> SegmentBuilder {
    let mut builder = SegmentBuilder::new();
    for doc in docs {
        let ((id, digest), (tokens, signature)) = (identity(doc), doc);
        builder.push(Identity { id: &id, digest }, *tokens, signature);
    }
    builder
}

fn build(docs: &[Doc], key_bits: u8) -> Vec<u8> {
    build_with(docs, key_bits, true)
}

fn build_with(docs: &[Doc], key_bits: u8, signatures: bool) -> Vec<u8> {
    let header = Header { key_bits, signatures, ..header(docs.len()) };
    builder(docs).write(Vec::new(), header, None).unwrap().1
}

fn open(bytes: Vec<u8>) -> SegmentReader {
    SegmentReader::open("test.sig", OwnedBytes::new(bytes)).unwrap()
}

/// Merges the kept documents of these sources.
fn merged(sources: &[MergeSource<'_>], documents: usize, threads: usize) -> Vec<u8> {
    let done = Cell::new(0);
    let add = |more| done.set(done.get() + more);
    let options = MergeOptions { threads, done: Some(&add), ..MergeOptions::default() };
    let signatures = sources.iter().all(|source| source.reader.header().signatures);
    let header = Header { signatures, ..header(documents) };
    let (counts, merged) = merge(sources, header, Vec::new(), &options).unwrap();
    assert_eq!(
        done.get(),
        counts.postings + counts.occurrences,
        "the report counts the written lists"
    );
    if sources.iter().all(|source| source.alive.is_none()) {
        assert_eq!(done.get(), merge_work(sources));
    }
    merged
}

/// Asserts that the segment holds these documents and nothing else.
fn check(reader: &SegmentReader, docs: &[Doc]) {
    assert_eq!(reader.check(), []);
    let mut expected: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
    for (number, doc) in (0..).zip(docs) {
        assert_eq!((reader.id(number).unwrap(), reader.digest(number).unwrap()), identity(doc));
    }
    for (doc, (tokens, signature)) in docs.iter().enumerate() {
        match reader.header().signatures {
            true => assert_eq!(&reader.signature(doc as u32).unwrap(), signature),
            false => assert!(reader.signature(doc as u32).is_err()),
        }
        let distinct: BTreeSet<u64> = signature.iter().map(|f| f.key).collect();
        let row = reader.document(doc as u32).unwrap();
        assert_eq!((row.tokens, row.distinct as usize), (*tokens, distinct.len()));
        assert_eq!(reader.distinct().unwrap().get(doc as u32), row.distinct);
        for key in distinct {
            expected.entry(key).or_default().insert(doc as u32);
        }
    }
    let all: Vec<u32> = (0..docs.len() as u32).collect();
    for some in [&all[..], &all[docs.len() / 2..], &all[..docs.len().min(1)]] {
        let mut sizes = vec![7];
        reader.distinct_of(some, &mut sizes).unwrap();
        assert!(some.iter().map(|&doc| reader.document(doc).unwrap().distinct).eq(sizes));
    }
    assert!(reader.distinct_of(&[docs.len() as u32], &mut Vec::new()).is_err());
    let counts = reader.counts();
    assert_eq!(counts.terms as usize, expected.len());
    assert_eq!(counts.postings as usize, expected.values().map(BTreeSet::len).sum::<usize>());
    let stored = docs.iter().filter(|_| reader.header().signatures);
    assert_eq!(counts.occurrences as usize, stored.map(|d| d.1.len()).sum::<usize>());
    for (ordinal, (&key, docs)) in expected.iter().enumerate() {
        let term = reader.find(key).unwrap().expect("the key is in the segment");
        let mut found = Vec::new();
        reader.documents_of(&term, &mut found).unwrap();
        assert!(found.iter().eq(docs), "the documents of {key}");
        assert_eq!((term.ordinal as usize, term.df() as usize), (ordinal, docs.len()));
        assert_eq!(reader.keys_at(&[term.ordinal]).unwrap(), [key]);
        for absent in [key.wrapping_add(1), key.wrapping_sub(1)] {
            assert_eq!(reader.find(absent).unwrap().is_some(), expected.contains_key(&absent));
        }
    }
    check_together(reader, &expected);
    // The order does not matter, and repetitions are allowed.
    let ordinals: Vec<u32> = (0..expected.len() as u32).flat_map(|i| [i, i / 2]).rev().collect();
    let keys: Vec<u64> = expected.keys().copied().collect();
    let by_ordinal = ordinals.iter().map(|&ordinal| keys[ordinal as usize]);
    assert!(reader.keys_at(&ordinals).unwrap().into_iter().eq(by_ordinal));
    assert!(reader.keys_at(&[expected.len() as u32]).is_err());
    assert!(reader.document(docs.len() as u32).is_err());
}

/// Asserts that keys looked up together, and lists probed, give the results of single look-ups.
fn check_together(reader: &SegmentReader, expected: &BTreeMap<u64, BTreeSet<u32>>) {
    let near = |key: &u64| [key.saturating_sub(1), *key, key.saturating_add(1)];
    let keys: Vec<u64> =
        expected.keys().flat_map(near).collect::<BTreeSet<_>>().into_iter().collect();
    let mut found = Vec::new();
    for (i, term) in reader.find_all(&keys).unwrap() {
        let key = keys[i as usize];
        found.push(key);
        let docs = &expected[&key];
        assert_eq!(term.df() as usize, docs.len());
        assert!(term.inline().is_none_or(|inline| inline.eq(docs.iter().copied())));
        let wanted: Vec<u32> = (0..reader.header().documents).filter(|doc| doc % 3 == 0).collect();
        let (among, mut probed) = (Candidates::new(wanted), Vec::new());
        reader.documents_among(&term, &among, |doc| probed.push(doc)).unwrap();
        assert!(probed.iter().eq(docs.iter().filter(|doc| *doc % 3 == 0)), "among {key}");
    }
    assert!(found.iter().eq(expected.keys()));
    let mut terms = Vec::new();
    (0..reader.blocks()).for_each(|block| reader.terms_of_block(block, &mut terms).unwrap());
    assert!(terms.into_iter().eq(expected.iter().map(|(&key, docs)| (key, docs.len() as u32))));
}

/// Keys. Many documents share a few keys, and no two documents share most keys.
fn key(key_bits: u8) -> impl Strategy<Value = u64> {
    let mask = u64::MAX >> (64 - key_bits);
    prop_oneof![
        4 => any::<u64>(),
        2 => 0u64..50,
        1 => Just(u64::MAX),
    ]
    .prop_map(move |key| key & mask)
}

fn doc(key_bits: u8) -> impl Strategy<Value = Doc> {
    vec((key(key_bits), 0u32..40), 0..30).prop_map(|steps| {
        let mut position = 0;
        let signature: Vec<_> = steps
            .into_iter()
            .map(|(key, step)| {
                position += step;
                Fingerprint { key, position }
            })
            .collect();
        (position + 1, signature)
    })
}

#[test]
#[should_panic(expected = "a key has no more bits than the segment's")]
fn a_key_that_is_too_large_is_not_written() {
    // The key was truncated, and found under a different number.
    build(&[(1, vec![Fingerprint { key: 1 << 40, position: 0 }])], 40);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_segment_holds_its_documents(
        (key_bits, docs) in (1u8..=64).prop_flat_map(|bits| (Just(bits), vec(doc(bits), 0..120))),
        signatures: bool,
    ) {
        check(&open(build_with(&docs, key_bits, signatures)), &docs);
    }

    #[test]
    fn a_merge_holds_the_kept_documents_of_its_sources(
        sources in vec(vec((doc(KEY_BITS), any::<bool>()), 0..60), 1..5),
        (delete, signatures) in any::<(bool, bool)>(),
        threads in 0usize..3,
    ) {
        let build = |docs: &[Doc]| build_with(docs, KEY_BITS, signatures);
        let readers: Vec<SegmentReader> = sources
            .iter()
            .map(|docs| open(build(&docs.iter().map(|d| d.0.clone()).collect::<Vec<_>>())))
            .collect();
        let kept = |docs: &[(Doc, bool)]| -> Vec<u32> {
            (0..docs.len() as u32).filter(|&i| docs[i as usize].1).collect()
        };
        let merge_sources: Vec<MergeSource<'_>> = readers
            .iter()
            .zip(&sources)
            .map(|(reader, docs)| MergeSource { reader, alive: delete.then(|| kept(docs)) })
            .collect();
        let expected: Vec<Doc> = sources
            .iter()
            .flatten()
            .filter(|(_, keep)| *keep || !delete)
            .map(|(doc, _)| doc.clone())
            .collect();
        let merged = merged(&merge_sources, expected.len(), threads);
        check(&open(merged.clone()), &expected);
        // Where a document was first written leaves no trace.
        prop_assert_eq!(merged, build(&expected));
    }
}

fn fingerprints(keys: impl IntoIterator<Item = u64>) -> Vec<Fingerprint> {
    keys.into_iter().zip(0..).map(|(key, position)| Fingerprint { key, position }).collect()
}

#[test]
fn a_document_without_room_beside_a_key_is_not_mixed_into_it() {
    // A key of 64 bits leaves no bits free. A single occurrence needs no bits, but its document
    // does.
    let docs = [(0, vec![]), (1, fingerprints([2]))];
    check(&open(build(&docs, 64)), &docs);
}

/// Returns more occurrences than the writing thread sorts itself. Keys are multiples of 2^`shift`.
/// Each key is in three documents, sometimes twice.
fn many(shift: u32) -> Vec<Doc> {
    let key = |doc: u64, i: u64| (mix64(doc / 3 * 800 + i * 31 / 32) % (1 << 20)) << shift;
    (0..90).map(|doc| (900, fingerprints((0..800).map(|i| key(doc, i))))).collect()
}

#[test]
fn keys_of_one_range_and_of_all_are_written_in_order_when_another_thread_sorts() {
    for (docs, signatures) in [(many(0), true), (many(20), true), (many(20), false)] {
        let build = |docs: &[Doc]| build_with(docs, KEY_BITS, signatures);
        let whole = build(&docs);
        // A half is small enough for the writing thread to sort.
        let halves = [&docs[..45], &docs[45..]].map(|half| open(build(half)));
        let sources = halves.each_ref().map(|reader| MergeSource { reader, alive: None });
        assert!(merged(&sources, docs.len(), 0) == whole, "not the bytes of a merge");
        check(&open(whole), &docs);
    }
}

#[test]
fn a_failure_to_write_ends_the_thread_that_sorts_and_is_returned() {
    struct Full(usize);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let docs = many(20);
    let room = build(&docs, KEY_BITS).len();
    for room in [0, room / 8, room / 2, room - 1] {
        let header = header(docs.len());
        let written = builder(&docs).write(Full(room), header, None).map(|_| ());
        assert_eq!(written.unwrap_err().kind(), ErrorKind::StorageFull);
    }
}

#[test]
fn a_list_long_enough_for_a_bitmap_survives_a_merge() {
    let docs: Vec<Doc> = (0..700).map(|i| (3, fingerprints([1, 2 + i % 2, 1000 + i]))).collect();
    let halves = [open(build(&docs[..300], KEY_BITS)), open(build(&docs[300..], KEY_BITS))];
    halves.iter().zip([&docs[..300], &docs[300..]]).for_each(|(half, docs)| check(half, docs));
    let sources = halves.iter().map(|reader| MergeSource { reader, alive: None });
    let sources: Vec<_> = sources.collect();
    check(&open(merged(&sources, docs.len(), 0)), &docs);
}

#[test]
fn a_merge_of_many_ranges_and_windows_writes_the_same_bytes_with_any_number_of_threads() {
    // More blocks than a range of keys has, more terms than a window has ordinals.
    let doc = |doc: u64| {
        let key = |i: u64| match i % 10 {
            0 => mix64(i) >> 24,
            1 => mix64(doc << 20 | i) >> 24 | 1 << 39,
            _ => mix64(doc << 20 | i) >> 24,
        };
        (900, fingerprints((0..900).map(key)))
    };
    let docs: Vec<Doc> = (0..400).map(doc).collect();
    for signatures in [true, false] {
        check_ranges_and_windows(&docs, |docs| build_with(docs, KEY_BITS, signatures));
    }
}

fn check_ranges_and_windows(docs: &[Doc], build: impl Fn(&[Doc]) -> Vec<u8>) {
    let parts = [open(build(&docs[..390])), open(build(&docs[390..]))];
    assert!(parts[0].counts().terms > 2 << 17);
    let sources = parts.iter().map(|reader| MergeSource { reader, alive: None });
    let sources: Vec<_> = sources.collect();
    let expected = build(docs);
    for threads in [0, 1, 3] {
        assert!(merged(&sources, docs.len(), threads) == expected, "{threads} threads");
    }
    // Without the documents of the middle, whose terms vanish.
    let alive = [(0..100).chain(300..390).collect::<Vec<u32>>(), (0..10).collect()];
    let alive_of =
        |(reader, alive): (_, &Vec<u32>)| MergeSource { reader, alive: Some(alive.clone()) };
    let kept: Vec<Doc> = docs[..100].iter().chain(&docs[300..]).cloned().collect();
    for threads in [0, 2] {
        let sources: Vec<_> = parts.iter().zip(&alive).map(alive_of).collect();
        assert!(merged(&sources, kept.len(), threads) == build(&kept), "{threads} threads");
    }
}

#[test]
fn a_damaged_byte_is_an_error_or_harmless() {
    let docs: Vec<Doc> =
        (0..90).map(|i| (40, fingerprints([1, 2, 3 + i % 5, 100 + i / 2, i << 30]))).collect();
    let whole = build(&docs, KEY_BITS);
    let answers = |reader: &SegmentReader| -> cento::Result<Vec<Vec<Fingerprint>>> {
        let mut found = Vec::new();
        for key in docs.iter().flat_map(|doc| &doc.1).map(|f| f.key) {
            let term = reader.find(key)?.expect("the key is in the segment");
            found.clear();
            reader.documents_of(&term, &mut found)?;
        }
        (0..90).map(|doc| Ok(reader.signature(doc)?)).collect()
    };
    let expected = answers(&open(whole.clone())).unwrap();
    let mut detected = 0;
    for at in 0..whole.len() {
        for flip in [1, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] ^= flip;
            let opened = SegmentReader::open("test.sig", OwnedBytes::new(bytes));
            match opened.map_err(cento::Error::from).and_then(|reader| answers(&reader)) {
                Ok(found) => assert_eq!(found, expected, "byte {at}"),
                Err(_) => detected += 1,
            }
        }
    }
    assert_eq!(detected, 3 * whole.len(), "no byte of a .sig file is without a check");
    for len in 0..whole.len() {
        let cut = OwnedBytes::new(whole[..len].to_vec());
        assert!(SegmentReader::open("test.sig", cut).is_err(), "cut to {len} bytes");
    }
}

#[test]
fn documents_are_found_by_their_digests() {
    let high = |low: u64| low % 3;
    // The digests are spread, repeated twice, all equal, the smallest, the largest, and equal in
    // the searched bits.
    let lows: [fn(u64) -> u64; 6] =
        [mix64, |i| mix64(i / 2), |_| 7, |i| i, |i| u64::from(u32::MAX) - i, |i| i << 32 | 5];
    for low in lows {
        for count in [0u64, 1, 2, 3, 17, 1000] {
            let mut builder = SegmentBuilder::new();
            for i in 0..count {
                let digest = Digest { low: low(i), high: high(low(i)) };
                builder.push(Identity { id: &i.to_string(), digest }, 0, &[]);
            }
            let (_, bytes) = builder.write(Vec::new(), header(count as usize), None).unwrap();
            let reader = open(bytes);
            assert_eq!(reader.check(), []);
            let others = [0, 6, mix64(1 << 40), u64::from(u32::MAX), u64::MAX].into_iter();
            for digest in (0..count).map(low).chain(others) {
                let expected: Vec<u32> =
                    (0..count).filter(|&i| low(i) == digest).map(|i| i as u32).collect();
                let found = |high, is_wanted: fn(u32) -> bool| {
                    reader.documents_with(Digest { low: digest, high }, is_wanted).unwrap()
                };
                assert_eq!(found(high(digest), |_| true), expected, "{digest} of {count}");
                assert!(found(3, |_| true).is_empty());
                let even: Vec<u32> = expected.into_iter().filter(|doc| doc % 2 == 0).collect();
                assert_eq!(found(high(digest), |doc| doc % 2 == 0), even);
            }
        }
    }
}
