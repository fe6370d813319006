//! The documents of the segment that segments-format.md shows byte by byte, and of the golden
//! file.

use cento::hash::Digest;
use cento::scheme::Fingerprint;
use cento::segment::{Header, Identity, SegmentBuilder};

/// The header of the segment in the document.
pub const HEADER: Header =
    Header { key_bits: 40, documents: 5, config: 0x1122_3344_5566_7788, signatures: true };

/// The documents of the example: number of tokens, and keys with positions.
pub const DOCUMENTS: [(u32, &[(u64, u32)]); 5] = [
    (7, &[(0x10, 0), (0x20_0000_0000, 3)]),
    (5, &[(0x10, 0), (0x30, 2)]),
    (6, &[(0x10, 0), (0x10, 4)]),
    (0, &[]),
    (3, &[(0x30, 1)]),
];

/// The segment in the document.
pub fn small() -> Vec<u8> {
    let documents = DOCUMENTS.map(|(tokens, signature)| (tokens, signature.to_vec()));
    write(HEADER, &documents)
}

/// A segment with lists of every encoding and several blocks of terms.
pub fn golden() -> Vec<u8> {
    let mut documents = Vec::new();
    for doc in 0..400u64 {
        let mut signature = vec![(7, 0), (900 + doc % 3, 2), ((1 << 39) | (doc / 2), 5)];
        signature.extend((0..4).map(|i| (cento::hash::mix64(doc * 4 + i) >> 24, 6 + i as u32 * 9)));
        if doc % 50 != 0 {
            signature.push((7, 60));
        }
        documents.push((64 + doc as u32, signature));
    }
    let documents_len = documents.len() as u32;
    let header = Header { key_bits: 40, documents: documents_len, config: 42, signatures: true };
    write(header, &documents)
}

/// Returns the id and digest of a document, derived from tokens and signature.
pub fn identity(tokens: u32, signature: &[(u64, u32)]) -> (String, Digest) {
    let sum = signature.iter().map(|pair| pair.0).fold(u64::from(tokens), u64::wrapping_add);
    let letter = ["o", "o", "o", "\u{f6}", "\u{f8}"][sum as usize % 5];
    (format!("d{letter}c-{sum:x}"), Digest { low: sum, high: 0xd0 })
}

fn write(header: Header, documents: &[(u32, Vec<(u64, u32)>)]) -> Vec<u8> {
    let mut builder = SegmentBuilder::new();
    for (tokens, signature) in documents {
        let (id, digest) = identity(*tokens, signature);
        let signature: Vec<_> =
            signature.iter().map(|&(key, position)| Fingerprint { key, position }).collect();
        builder.push(Identity { id: &id, digest }, *tokens, &signature);
    }
    builder.write(Vec::new(), header, None).expect("memory takes every byte").1
}
