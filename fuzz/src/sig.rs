//! Fuzzes `.sig` files: a file that opens is read without a panic, and if `check` accepts a file,
//! the reader made from the document alone finds the same content.

use std::collections::BTreeSet;

use cento::Corruption;
use cento::hash::{Digest, mix64};
use cento::scheme::Fingerprint;
use cento::segment::{
    Candidates, Header, Identity, MergeOptions, MergeSource, SegmentBuilder, SegmentReader, merge,
};
use cento_testing::naive::{Naive, uint};
use ownedbytes::OwnedBytes;

const HEADER_BYTES: usize = 40;
const FOOTER_BYTES: usize = 192;
const PAGE_BYTES: usize = 4096;
const SECTIONS: usize = 8;
const FILTER: usize = 2;

/// Valid segments of several shapes.
pub fn segments() -> Vec<(String, Vec<u8>)> {
    let written_with = |key_bits, signatures, documents: &[(u32, Vec<Fingerprint>)]| {
        let mut builder = SegmentBuilder::new();
        for (at, (tokens, signature)) in documents.iter().enumerate() {
            let id = format!("{}{at}", ["a", "\u{e4}", "\u{e9}"][at % 3]);
            let digest = Digest::of(id.as_bytes());
            builder.push(Identity { id: &id, digest }, *tokens, signature);
        }
        let count = documents.len() as u32;
        let header = Header { key_bits, documents: count, config: 1, signatures };
        builder.write(Vec::new(), header, None).expect("memory takes every byte").1
    };
    let written = |key_bits, documents: &[_]| written_with(key_bits, true, documents);
    let signed = |keys: &[u64]| -> Vec<Fingerprint> {
        keys.iter()
            .zip((0..).step_by(3))
            .map(|(&key, position)| Fingerprint { key, position })
            .collect()
    };
    let few = [(9, signed(&[5, 1 << 39, 5])), (0, signed(&[])), (40, signed(&[5, 6, 7, 8]))];
    // Enough documents for lists in each encoding and for several blocks.
    let many: Vec<_> = (0..300u64)
        .map(|doc| (20, signed(&[1, 2 + doc % 2, 10 + doc % 90, mix64(doc) >> 24])))
        .collect();
    let list: Vec<_> = (0..70u64).map(|doc| (4, signed(&[7, 9 + doc % 20]))).collect();
    vec![
        ("empty".into(), written(40, &[])),
        ("few".into(), written(40, &few)),
        ("bits1".into(), written(1, &[(3, signed(&[0, 1])), (1, signed(&[1]))])),
        ("bits64".into(), written(64, &[(3, signed(&[0, u64::MAX])), (1, signed(&[1 << 63]))])),
        ("list".into(), written(40, &list)),
        ("many".into(), written(40, &many)),
        ("unsigned".into(), written_with(40, false, &many)),
    ]
}

/// Reads a `.sig` file exactly as given.
pub fn sig(data: &[u8]) {
    read(data);
}

/// Reads a forged `.sig` file with matching checksums: section lengths that add up, and checksums
/// of pages, of the checksums, and of the footer.
pub fn sig_forged(data: &[u8]) {
    if let Some(bytes) = forge(data) {
        read(&bytes);
    }
}

/// Returns the file in `data` with recomputed checksums. Sections that do not fill the file,
/// because bytes were inserted or removed, are stretched to fill it.
fn forge(data: &[u8]) -> Option<Vec<u8>> {
    let content = data.len().checked_sub(HEADER_BYTES + FOOTER_BYTES)?;
    let (head, footer) = data.split_at(HEADER_BYTES + content);
    let mut footer = footer.to_vec();
    let mut bytes = head.to_vec();
    bytes[..8].copy_from_slice(b"CENTOSIG");
    bytes[8..10].copy_from_slice(&1u16.to_le_bytes());
    bytes[10] = bytes[10].saturating_sub(1) % 64 + 1;
    bytes[11] &= 1;
    bytes[24..HEADER_BYTES].fill(0);
    // The checksums take their space from the end of the file.
    let mut rest = (HEADER_BYTES..=bytes.len())
        .rev()
        .find(|&covered| covered + 4 * covered.div_ceil(PAGE_BYTES) <= bytes.len())?
        - HEADER_BYTES;
    let mut at = HEADER_BYTES;
    for section in 0..SECTIONS - 1 {
        let len = match section {
            FILTER => filter_bytes(at, uint(&footer[128..136])),
            _ => uint(&footer[16 * section + 8..16 * section + 16]),
        };
        let len = if section == SECTIONS - 2 {
            rest
        } else {
            rest.min(usize::try_from(len).unwrap_or(rest))
        };
        footer[16 * section..16 * section + 8].copy_from_slice(&(at as u64).to_le_bytes());
        footer[16 * section + 8..16 * section + 16].copy_from_slice(&(len as u64).to_le_bytes());
        (at, rest) = (at + len, rest - len);
    }
    bytes.truncate(at);
    let checksums: Vec<u8> =
        bytes.chunks(PAGE_BYTES).flat_map(|page| crc32fast::hash(page).to_le_bytes()).collect();
    footer[112..120].copy_from_slice(&(at as u64).to_le_bytes());
    footer[120..128].copy_from_slice(&(checksums.len() as u64).to_le_bytes());
    footer[165..172].copy_from_slice(&[16, 0, 1, 64, 6, 0, 1]);
    footer[172..176].copy_from_slice(&crc32fast::hash(&checksums).to_le_bytes());
    let crc = crc32fast::hash(&footer[..176]);
    footer[176..180].copy_from_slice(&crc.to_le_bytes());
    footer[180..184].fill(0);
    footer[184..].copy_from_slice(b"GISOTNEC");
    bytes.extend(checksums);
    bytes.extend(footer);
    Some(bytes)
}

/// Returns the length that the filter must have, from byte `at` of the file on. With a different
/// length nothing is read.
fn filter_bytes(at: usize, terms: u64) -> u64 {
    let padding = (at.next_multiple_of(64) - at) as u64;
    padding + 64 * (terms / 16_384 * 192 + (terms % 16_384 * 6).div_ceil(512))
}

fn read(bytes: &[u8]) {
    let Ok(reader) = SegmentReader::open("input.sig", OwnedBytes::new(bytes.to_vec())) else {
        return;
    };
    let problems = reader.check();
    assert!(problems.len() <= 100, "{} problems", problems.len());
    let read = walk(&reader);
    let merged = merged(&reader);
    if problems.is_empty() {
        read.expect("a sound file can be read");
        let naive = Naive::read(bytes);
        compare(&reader, &naive);
        let merged = merged.expect("a sound file can be merged");
        let merged = SegmentReader::open("merged.sig", OwnedBytes::new(merged)).expect("it is new");
        assert_eq!(merged.check(), []);
        compare(&merged, &naive);
    }
}

/// Writes the segment again, like a compaction that removes no document.
fn merged(reader: &SegmentReader) -> cento::Result<Vec<u8>> {
    if reader.header().documents > 10_000 {
        return Err(cento::Error::Cancelled);
    }
    let source = MergeSource { reader, alive: None };
    Ok(merge(&[source], *reader.header(), Vec::new(), &MergeOptions::default())?.1)
}

/// Reads everything that any search may read.
fn walk(reader: &SegmentReader) -> Result<(), Corruption> {
    let mut terms = Vec::new();
    let mut outcome = Ok(());
    let mut note = |result: Result<(), Corruption>| {
        if let (Ok(()), Err(error)) = (&outcome, result) {
            outcome = Err(error);
        }
    };
    for block in 0..reader.blocks() {
        note(reader.terms_of_block(block, &mut terms));
    }
    // Present keys and their neighbors. The keys of a forged file need not ascend.
    let near = |&(key, _): &(u64, u32)| [key.wrapping_sub(1), key, key.wrapping_add(1)];
    let keys: BTreeSet<u64> = terms.iter().flat_map(near).chain([0, u64::MAX]).collect();
    let keys: Vec<u64> = keys.into_iter().collect();
    let documents = reader.header().documents;
    let among = Candidates::new((0..documents.min(200)).filter(|doc| doc % 3 != 1).collect());
    let (mut docs, mut probed) = (Vec::new(), Vec::new());
    for &key in &keys {
        match reader.find(key) {
            Ok(Some(term)) => {
                docs.clear();
                probed.clear();
                note(reader.documents_of(&term, &mut docs));
                note(reader.documents_among(&term, &among, |doc| probed.push(doc)));
                note(reader.keys_at(&[term.ordinal]).map(drop));
            }
            Ok(None) => {}
            Err(error) => note(Err(error)),
        }
    }
    note(reader.find_all(&keys).map(drop));
    note(reader.distinct().map(|column| {
        for doc in 0..documents.min(1000) {
            let row = reader.document(doc);
            assert!(row.is_err() || row.is_ok_and(|row| row.distinct == column.get(doc)));
        }
    }));
    for doc in 0..documents.min(1000) {
        note(reader.document(doc).map(drop));
        match reader.header().signatures {
            true => note(reader.signature(doc).map(drop)),
            false => assert!(reader.signature(doc).is_err()),
        }
        note(reader.id(doc).map(drop));
        let with = |digest| reader.documents_with(digest, |_| true);
        note(reader.digest(doc).and_then(with).map(drop));
    }
    let few: Vec<u32> = (0..documents.min(2)).collect();
    note(reader.distinct_of(&few, &mut Vec::new()));
    assert!(reader.document(documents).is_err() && reader.id(documents).is_err());
    outcome
}

/// Asserts that the two readers agree about a valid file.
fn compare(reader: &SegmentReader, naive: &Naive) {
    assert_eq!(reader.header().key_bits, naive.key_bits);
    assert_eq!(reader.counts().terms, naive.terms.len() as u64);
    let mut found = Vec::new();
    for (ordinal, (key, docs)) in naive.terms.iter().enumerate() {
        let term = reader.find(*key).expect("it is sound").expect("the key is there");
        found.clear();
        reader.documents_of(&term, &mut found).expect("it is sound");
        assert_eq!((term.ordinal as usize, &found), (ordinal, docs), "key {key}");
        assert_eq!(term.df() as usize, docs.len(), "key {key}");
    }
    for (doc, (id, [low, high])) in (0..).zip(&naive.ids) {
        assert_eq!(&reader.id(doc).expect("it is sound"), id);
        let digest = reader.digest(doc).expect("it is sound");
        assert_eq!([digest.low, digest.high], [*low, *high]);
        let with = (0..).zip(&naive.ids).filter(|(_, other)| other.1 == [*low, *high]);
        let with: Vec<u32> = with.map(|(doc, _)| doc).collect();
        assert_eq!(reader.documents_with(digest, |_| true).expect("it is sound"), with);
    }
    assert_eq!(naive.documents.len(), reader.header().documents as usize);
    for (doc, (tokens, distinct, signature)) in (0..).zip(&naive.documents) {
        let row = reader.document(doc).expect("it is sound");
        assert_eq!((row.tokens, row.distinct), (*tokens, *distinct), "document {doc}");
        if !reader.header().signatures {
            continue;
        }
        let real = reader.signature(doc).expect("it is sound");
        assert!(real.iter().map(|f| (f.key, f.position)).eq(signature.iter().copied()));
    }
}
