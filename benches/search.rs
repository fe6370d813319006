//! Measures how long a search takes, and how much of that is looking up fingerprints.
//!
//! Look-ups run in a segment of 2 million terms, one by one and in batches. A hash map in memory
//! with the same keys is the floor. Searches run in a synthetic index of 20,000 documents, from the
//! tokens of the query to the hits with their ids.

#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::collections::HashMap;

use cento::hash::{BuildKeyHasher, Digest, mix64};
use cento::index::Document;
use cento::index::{Config, Index, WriterOptions};
use cento::scheme::Fingerprint;
use cento::search::{Query, Searcher};
use cento::segment::{Header, Identity, SegmentBuilder, SegmentReader};
use cento::tantivy::directory::RamDirectory;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use ownedbytes::OwnedBytes;

const TERMS: u64 = 2_000_000;
/// The distinct fingerprints of a document of two pages.
const BATCH: u64 = 100;

/// Returns a key, spread evenly over 40 bits like the keys of a scheme.
fn key(i: u64) -> u64 {
    mix64(i) >> 24
}

fn lookup(c: &mut Criterion) {
    let mut builder = SegmentBuilder::new();
    for doc in 0..TERMS / 200 {
        let fingerprint = |i| Fingerprint { key: key(doc * 200 + i), position: i as u32 };
        let identity = Identity { id: &doc.to_string(), digest: Digest::default() };
        builder.push(identity, 1000, &(0..200).map(fingerprint).collect::<Vec<_>>());
    }
    let header =
        Header { key_bits: 40, documents: (TERMS / 200) as u32, config: 0, signatures: true };
    let bytes = builder.write(Vec::new(), header, None).unwrap().1;
    let reader = SegmentReader::open("bench", OwnedBytes::new(bytes)).unwrap();
    let table: HashMap<u64, u32, BuildKeyHasher> =
        (0..TERMS).map(|i| (mix64(key(i)), i as u32)).collect();
    let mut group = c.benchmark_group("look-up");
    group.throughput(Throughput::Elements(BATCH));
    let mut round = 0;
    let mut batch = |present: bool| {
        round += 1;
        let from = if present { 0 } else { TERMS };
        let mut keys: Vec<u64> =
            (0..BATCH).map(|i| key(from + mix64(round * BATCH + i) % TERMS)).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    };
    for present in [true, false] {
        let name = if present { "present" } else { "absent" };
        group.bench_function(format!("hash map, {name}"), |b| {
            let find = |keys: Vec<u64>| {
                keys.iter().filter(|&&key| table.contains_key(&mix64(key))).count()
            };
            b.iter_batched(|| batch(present), find, BatchSize::SmallInput);
        });
        group.bench_function(format!("batch, {name}"), |b| {
            let find = |keys: Vec<u64>| reader.find_all(&keys).unwrap().len();
            b.iter_batched(|| batch(present), find, BatchSize::SmallInput);
        });
        group.bench_function(format!("one by one, {name}"), |b| {
            let find = |keys: Vec<u64>| {
                keys.iter().filter(|&&key| reader.find(key).unwrap().is_some()).count()
            };
            b.iter_batched(|| batch(present), find, BatchSize::SmallInput);
        });
    }
    group.finish();
}

/// Returns words. Some words are frequent.
fn text(seed: u64, count: u64) -> String {
    let word = |i: u64| {
        let drawn = mix64(mix64(seed) ^ i);
        format!("w{}", drawn % (1 << (6 + (drawn >> 40) % 12)))
    };
    (0..count).map(word).collect::<Vec<_>>().join(" ")
}

fn search(c: &mut Criterion) {
    let config = Config::new(cento::scheme::DEFAULT_SPEC, "words", false).unwrap();
    let index = Index::create_in(RamDirectory::create(), "ram", config).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    for i in 0..20_000 {
        let meta = serde_json::Map::new();
        let document = Document::new(format!("doc{i}"), text(i / 4, 400 + i % 200)).with_meta(meta);
        writer.add(document).unwrap();
    }
    writer.finish().unwrap();
    let searcher = Searcher::new(index.snapshot().unwrap());
    let mut group = c.benchmark_group("search");
    for (name, words) in [("whole document", 500), ("passage", 100)] {
        let mut round = 0;
        let mut query = || {
            round += 1;
            Query::text(text(mix64(round) % 5000, words)).counts_only(true)
        };
        group.bench_function(name, |b| {
            let find = |query: Query| searcher.search(&query).unwrap().hits.len();
            b.iter_batched(&mut query, find, BatchSize::SmallInput);
        });
        group.bench_function(format!("{name}, containment 0.5"), |b| {
            let find = |query: Query| {
                let query = query.min_containment(0.5);
                searcher.search(&query).unwrap().hits.len()
            };
            b.iter_batched(&mut query, find, BatchSize::SmallInput);
        });
    }
    group.finish();
}

criterion_group!(benches, lookup, search);
criterion_main!(benches);
