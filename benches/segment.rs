//! Measures, in postings per second, how fast a segment is written (with the thread that sorts) and
//! how fast one core merges segments.
//!
//! Signatures are synthetic, with the document frequencies of English text: 77 % of the terms are
//! in one document, 17 % in two, and the others make a long tail.

#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use cento::hash::{Digest, mix64};
use cento::scheme::Fingerprint;
use cento::segment::{
    Header, Identity, MergeOptions, MergeSource, SegmentBuilder, SegmentReader, merge,
};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use ownedbytes::OwnedBytes;

const DOCUMENTS: u64 = 8_000;
const FINGERPRINTS: u64 = 300;

/// Returns the keys of a document. Most keys are unique, some are shared with a neighbor, and few
/// with many documents.
fn signature(segment: u64, doc: u64) -> Vec<Fingerprint> {
    let fingerprint = |i: u64| {
        let drawn = mix64(segment << 50 | doc << 20 | i);
        let key = match drawn % 100 {
            0..62 => mix64(segment << 50 | doc << 20 | i | 1 << 60),
            62..90 => mix64(segment << 50 | (doc / 2) << 20 | i | 1 << 61),
            90..96 => mix64(drawn >> 40 | 1 << 62),
            _ => mix64((drawn >> 50) % 4000),
        };
        Fingerprint { key: key >> 24, position: i as u32 * 5 }
    };
    (0..FINGERPRINTS).map(fingerprint).collect()
}

fn builder(segment: u64) -> SegmentBuilder {
    let mut builder = SegmentBuilder::new();
    for doc in 0..DOCUMENTS {
        let identity = Identity { id: &doc.to_string(), digest: Digest::default() };
        builder.push(identity, 2000, &signature(segment, doc));
    }
    builder
}

fn header(documents: u64) -> Header {
    Header { key_bits: 40, documents: documents as u32, config: 0, signatures: true }
}

fn write(segment: u64) -> Vec<u8> {
    builder(segment).write(Vec::new(), header(DOCUMENTS), None).unwrap().1
}

fn segment(c: &mut Criterion) {
    let open = |segment| SegmentReader::open("bench", OwnedBytes::new(write(segment))).unwrap();
    let readers: Vec<SegmentReader> = (0..8).map(open).collect();
    let postings = readers[0].counts().postings;
    let mut group = c.benchmark_group("segment");
    group.sample_size(10).throughput(Throughput::Elements(postings));
    group.bench_function("sort and write", |b| {
        b.iter_batched(
            || builder(0),
            |builder| builder.write(std::io::sink(), header(DOCUMENTS), None).unwrap(),
            BatchSize::PerIteration,
        );
    });
    for count in [2, 8] {
        let sources: Vec<MergeSource<'_>> =
            readers[..count].iter().map(|reader| MergeSource { reader, alive: None }).collect();
        group.throughput(Throughput::Elements(postings * count as u64));
        group.bench_function(format!("merge {count}"), |b| {
            b.iter(|| {
                let header = header(DOCUMENTS * count as u64);
                merge(&sources, header, std::io::sink(), &MergeOptions::default()).unwrap()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, segment);
criterion_main!(benches);
