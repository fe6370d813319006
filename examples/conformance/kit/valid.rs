//! Segments that every reader must be able to read.

use cento::hash::mix64;
use cento::index::Config;
use cento::scheme::Fingerprint;
use cento::segment::{
    Header, Identity, MergeOptions, MergeSource, SegmentBuilder, SegmentReader, merge,
};
use ownedbytes::OwnedBytes;

use super::content::{self, Content, Doc};
use super::parts;

/// A segment that every reader must accept.
pub struct Valid {
    pub name: &'static str,
    /// The property that only it has.
    pub about: &'static str,
    pub bytes: Vec<u8>,
    pub content: Content,
}

/// A header whose `config` has a different value in each byte.
fn header(key_bits: u8, docs: &[Doc]) -> Header {
    Header {
        key_bits,
        documents: docs.len() as u32,
        config: 0x0123_4567_89ab_cdef,
        signatures: true,
    }
}

/// The segment of these documents.
pub fn write(header: Header, docs: &[Doc]) -> Vec<u8> {
    let mut builder = SegmentBuilder::new();
    for doc in docs {
        let (tokens, signature) = doc;
        let fits = signature.iter().all(|(key, _)| *key <= u64::MAX >> (64 - header.key_bits));
        assert!(fits, "keys of {} bits", header.key_bits);
        let signature: Vec<_> =
            signature.iter().map(|&(key, position)| Fingerprint { key, position }).collect();
        let (id, digest) = content::identity(doc);
        builder.push(Identity { id: &id, digest }, *tokens, &signature);
    }
    builder.write(Vec::new(), header, None).expect("memory takes every byte").1
}

/// The segment of these documents, with its expected content.
pub fn of(name: &'static str, about: &'static str, docs: &[Doc]) -> Valid {
    valid(name, about, 40, docs)
}

fn valid(name: &'static str, about: &'static str, key_bits: u8, docs: &[Doc]) -> Valid {
    let header = header(key_bits, docs);
    Valid { name, about, bytes: write(header, docs), content: Content::of(header, docs) }
}

/// A document with each of `keys` at the next position.
fn doc(keys: impl IntoIterator<Item = u64>) -> Doc {
    let signature: Vec<(u64, u32)> = keys.into_iter().zip(0..).collect();
    (signature.len() as u32, signature)
}

/// The kit's sound segments.
pub fn all() -> Vec<Valid> {
    let mut all = vec![documented()];
    all.extend(small());
    all.extend(keys());
    all.extend(lists());
    all.extend(signatures());
    all.extend(without_signatures());
    all.extend([merged(), text("winnow(k=5,w=10)"), text("minhash(k=5,b=16,r=8)")]);
    all
}

/// The documents of the example of segments-format.md.
fn documents() -> [Doc; 5] {
    [
        (7, vec![(0x10, 0), (0x20_0000_0000, 3)]),
        (5, vec![(0x10, 0), (0x30, 2)]),
        (6, vec![(0x10, 0), (0x10, 4)]),
        (0, vec![]),
        (3, vec![(0x30, 1)]),
    ]
}

/// The example of segments-format.md.
fn documented() -> Valid {
    let (docs, config) = (documents(), 0x1122_3344_5566_7788);
    let header = Header { key_bits: 40, documents: 5, config, signatures: true };
    Valid {
        name: "documented",
        about: "the segment that segments-format.md shows byte by byte",
        bytes: write(header, &docs),
        content: Content::of(header, &docs),
    }
}

/// Segments that do not store signatures.
fn without_signatures() -> Vec<Valid> {
    let many: Vec<Doc> =
        (0..300).map(|i| doc([1, 2 + i % 2, 9 + i % 90, mix64(i) >> 24])).collect();
    let of = |name, about, docs: &[Doc]| {
        let header = Header { signatures: false, ..header(40, docs) };
        Valid { name, about, bytes: write(header, docs), content: Content::of(header, docs) }
    };
    vec![
        of("unsigned", "the documents of `documented`, without their signatures", &documents()),
        of("unsigned_lists", "lists of every kind, without signatures", &many),
        of("unsigned_empty", "no document, and no signatures", &[]),
    ]
}

fn small() -> Vec<Valid> {
    vec![
        valid("no_documents", "no document: all sections but the term index are empty", 40, &[]),
        valid(
            "no_terms",
            "documents without a fingerprint, with tokens and without",
            40,
            &[(0, vec![]), (5, vec![]), (0, vec![])],
        ),
        valid(
            "one_term",
            "one document and one term: document and term ordinals take no bits",
            40,
            &[(9, vec![(77, 0), (77, 3), (77, 8)])],
        ),
    ]
}

fn keys() -> Vec<Valid> {
    let spread = |count: u64, bits: u32| (0..count).map(move |i| mix64(i) >> (64 - bits));
    vec![
        valid("key_bits_1", "both keys of 1 bit", 1, &[doc([1, 0]), doc([1])]),
        valid("key_bits_8", "all keys of 8 bits, in one full block", 8, &[doc(0..256)]),
        valid("key_bits_37", "keys of 37 bits, in 5 bytes", 37, &[doc(spread(40, 37))]),
        valid(
            "key_bits_64",
            "the least and the greatest key of 64 bits, and some between",
            64,
            &[doc([0, u64::MAX]), doc([1 << 63, u64::MAX - 1]), doc(spread(9, 64))],
        ),
        valid("dense_keys", "keys without gaps: no low bits", 40, &[doc(1000..1100)]),
        valid("block_full", "256 terms: one full block", 40, &[doc(spread(256, 40))]),
        valid("block_of_one", "257 terms: a block of one term", 40, &[doc(spread(257, 40))]),
        valid(
            "blocks",
            "blocks with lists and without, lists that begin far into the section",
            40,
            // Of four blocks the second and the fourth have no list.
            &(0..10)
                .map(|i| doc((0..800).filter(|key| key / 256 % 2 == 0 || key % 10 == i)))
                .collect::<Vec<_>>(),
        ),
        valid(
            "groups",
            "16,640 terms: a full group of 64 blocks and another of one",
            16,
            &[doc((0..16_640).map(|i| i * 3))],
        ),
    ]
}

/// `count` documents. Document `i` is in the lists that `holds` returns.
fn holding(count: u32, lists: &[fn(u32) -> bool]) -> Vec<Doc> {
    (0..count)
        .map(|i| doc((1..).zip(lists).filter(|(_, list)| list(i)).map(|list| list.0)))
        .collect()
}

fn lists() -> Vec<Valid> {
    vec![
        valid(
            "pairs",
            "terms of two documents, next to each other and far apart",
            40,
            &holding(200, &[|i| i < 2, |i| i == 0 || i == 199, |i| i >= 198, |i| i % 128 == 64]),
        ),
        valid(
            "varint_lists",
            "lists of 3, 63, 64 and 256 documents, with differences of one byte and of two",
            40,
            &holding(
                600,
                &[
                    |i| i % 250 == 3,
                    |i| i < 63,
                    |i| i >= 536,
                    |i| i % 2 == 1 && i < 512,
                    |i| [0, 130, 599].contains(&i),
                ],
            ),
        ),
        valid(
            "bitmap_runs",
            "a bitmap of two runs",
            40,
            &holding(300, &[|i| i != 100, |i| i == 299, |i| i == 299]),
        ),
        valid("bitmap_least", "a bitmap of 257 documents", 40, &holding(257, &[|_| true])),
        valid("bitmap_array", "a bitmap that is an array", 40, &holding(600, &[|i| i % 2 == 0])),
        valid(
            "bitmap_bits",
            "a bitmap of 65,536 bits: more than 4,096 documents, in more than 2,047 runs",
            40,
            &holding(6160, &[|i| i % 3 != 2]),
        ),
    ]
}

fn signatures() -> Vec<Valid> {
    let last = u32::MAX - 1;
    vec![
        valid(
            "positions",
            "positions of 32 bits, several fingerprints at one position, differences of no bits",
            40,
            &[
                (u32::MAX, vec![(5, last)]),
                (u32::MAX, vec![(5, 0), (6, last)]),
                (1, vec![(5, 0), (6, 0), (7, 0)]),
                (9, vec![(7, 3), (5, 3), (6, 8)]),
            ],
        ),
        valid(
            "long_document",
            "a signature of 3,000 occurrences, between two short ones",
            40,
            &[
                doc([1]),
                (90_000, (0..3000).map(|i| (mix64(u64::from(i) % 500) >> 24, i * 30)).collect()),
                doc([2]),
            ],
        ),
        page_exact(),
    ]
}

/// A segment whose last page is a whole one.
fn page_exact() -> Valid {
    let about = "what the checksums cover ends with a page";
    // An occurrence more is 4 bytes more in the first document, and a bit more of width is one in
    // the second.
    let docs = |count: usize, width: u32| {
        let first = (0..count).map(|i| (1 + i as u64 % 2, 1 << 30));
        let second = [(1, (1 << width) - 1); 8];
        [(u32::MAX, first.collect()), (u32::MAX, second.to_vec())]
    };
    (900..1024)
        .flat_map(|count| (0..4).map(move |width| (count, width)))
        .map(|(count, width)| valid("page_exact", about, 40, &docs(count, width)))
        .find(|valid| parts::section(&valid.bytes, parts::CHECKSUMS).0 == 4096)
        .expect("the lengths that are tried follow one another")
}

/// The rest of two segments equals a segment of the kept documents.
fn merged() -> Valid {
    let docs: Vec<Doc> = (0..90).map(|i| doc([i % 4, i / 2, 500 + i])).collect();
    let halves = [&docs[..50], &docs[50..]].map(|docs| {
        let bytes = OwnedBytes::new(write(header(40, docs), docs));
        SegmentReader::open("half.sig", bytes).expect("it was just written")
    });
    let alive = |count: u32| Some((0..count).filter(|i| i % 5 != 2).collect());
    let sources = [(&halves[0], 50), (&halves[1], 40)]
        .map(|(reader, count)| MergeSource { reader, alive: alive(count) });
    let kept: Vec<Doc> =
        (0..50).chain(0..40).zip(docs).filter(|(i, _)| i % 5 != 2).map(|d| d.1).collect();
    let header = header(40, &kept);
    let (_, bytes) = merge(&sources, header, Vec::new(), &MergeOptions::default())
        .expect("memory takes every byte");
    Valid {
        name: "merged",
        about: "written by a merge that left out deleted documents",
        bytes,
        content: Content::of(header, &kept),
    }
}

/// Signatures that a scheme gives.
fn text(scheme: &'static str) -> Valid {
    let config = Config::new(scheme, "words", true).expect("a scheme and an analyzer of cento");
    let word = |i: u64| format!("w{}", mix64(i) % 300);
    let texts = (0..8u64).map(|text| {
        // Half of each text is in the text before it.
        let words = text * 60..text * 60 + [120, 120, 3, 120, 0, 120, 120, 60][text as usize];
        words.map(word).collect::<Vec<_>>().join(" ")
    });
    let docs: Vec<Doc> = texts
        .map(|text| {
            let (tokens, signature) = config.sign(&text).expect("a short text");
            (tokens, signature.iter().map(|f| (f.key, f.position)).collect())
        })
        .collect();
    let (name, key_bits, about) = match scheme.starts_with("winnow") {
        true => ("winnow", 40, "signatures of texts by winnow(k=5,w=10); empty for the empty text"),
        false => ("minhash", 64, "signatures of texts by minhash(k=5,b=16,r=8), all at position 0"),
    };
    valid(name, about, key_bits, &docs)
}
