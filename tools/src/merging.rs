//! Measures how fast segments of different sizes are written and merged.
//!
//! Signatures are made up with the document frequencies of English text, as in
//! `benches/segment.rs`. 62 % of the occurrences are terms that only one document contains, so the
//! vocabulary grows with the segments. Sources and results stay in memory to exclude the disk.

use std::io::{self, Write};
use std::time::Instant;

use cento::hash::{Digest, mix64};
use cento::scheme::Fingerprint;
use cento::segment::{
    Header, Identity, MergeOptions, MergeSource, SegmentBuilder, SegmentReader, merge,
};
use cento::tantivy::directory::OwnedBytes;
use clap::Args;

use crate::Result;
use crate::measure::cpu_seconds;

const FINGERPRINTS: u64 = 300;

/// Measure how fast segments are written and merged, in postings a second, at several sizes.
#[derive(Debug, Args)]
pub struct Merging {
    /// The number of documents of each source, of 300 fingerprints each.
    #[arg(long, value_delimiter = ',', default_value = "8000,40000,200000")]
    documents: Vec<u64>,
    /// The number of sources.
    #[arg(long, default_value = "8")]
    sources: u64,
    /// The threads that merge beside the first.
    #[arg(long, default_value = "0")]
    threads: usize,
    /// Make indexes that store no signatures.
    #[arg(long)]
    without_signatures: bool,
    /// Of how many merges of a size the best is shown.
    #[arg(long, default_value = "3")]
    rounds: u32,
}

/// Counts the bytes of a segment and discards the bytes.
#[derive(Default)]
struct Sink {
    bytes: u64,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub struct Merged {
    pub postings: u64,
    terms: u64,
    bytes: u64,
    /// The speed of writing the first source, in millions of postings a second of processor time.
    pub written: f64,
    /// The speed of merging, in millions of postings a second of processor time.
    pub merged: f64,
    /// The speed of merging, in millions of postings a second by the clock.
    merged_wall: f64,
}

impl Merging {
    /// Measures one size with the defaults of the command.
    pub fn of(documents: u64) -> Result<Merged> {
        let documents_of = vec![documents];
        let defaults = Merging {
            documents: documents_of,
            sources: 8,
            threads: 0,
            without_signatures: false,
            rounds: 3,
        };
        defaults.at(documents)
    }

    pub(crate) fn run(self) -> Result {
        println!("| sources | postings | terms | merged, MB | written | merged, a core | merged |");
        println!("|---|---|---|---|---|---|---|");
        for &documents in &self.documents {
            let merged = self.at(documents)?;
            println!(
                "| {} | {} | {} | {:.0} | {:.1} | {:.1} | {:.1} |",
                self.sources,
                merged.postings,
                merged.terms,
                merged.bytes as f64 / 1e6,
                merged.written,
                merged.merged,
                merged.merged_wall,
            );
        }
        println!("\nMillions of postings a second: of processor time, and, for `merged`, of time.");
        Ok(())
    }

    fn at(&self, documents: u64) -> Result<Merged> {
        let header = |documents: u64| Header {
            key_bits: 40,
            documents: documents as u32,
            config: 0,
            signatures: !self.without_signatures,
        };
        let (mut readers, mut writing) = (Vec::new(), f64::MAX);
        for source in 0..self.sources {
            let mut builder = SegmentBuilder::new();
            for doc in 0..documents {
                let identity = Identity { id: &doc.to_string(), digest: Digest::default() };
                builder.push(identity, 2000, &signature(source, doc));
            }
            let started = cpu_seconds();
            let (_, bytes) = builder.write(Vec::new(), header(documents), None)?;
            writing = writing.min(cpu_seconds() - started);
            readers.push(SegmentReader::open("a source", OwnedBytes::new(bytes))?);
        }
        let of_one = readers.first().map_or(0, |reader| reader.counts().postings);
        let sources: Vec<MergeSource<'_>> =
            readers.iter().map(|reader| MergeSource { reader, alive: None }).collect();
        let options = MergeOptions { threads: self.threads, ..MergeOptions::default() };
        let (mut cpu, mut time) = (f64::MAX, f64::MAX);
        let (mut counts, mut bytes) = Default::default();
        for _ in 0..self.rounds {
            let (cpu_started, started) = (cpu_seconds(), Instant::now());
            let sink;
            let header = header(documents * self.sources);
            (counts, sink) = merge(&sources, header, Sink::default(), &options)?;
            cpu = cpu.min(cpu_seconds() - cpu_started);
            time = time.min(started.elapsed().as_secs_f64());
            bytes = sink.bytes;
        }
        let rate = |postings: u64, seconds: f64| postings as f64 / seconds / 1e6;
        Ok(Merged {
            postings: counts.postings,
            terms: counts.terms,
            bytes,
            written: rate(of_one, writing),
            merged: rate(counts.postings, cpu),
            merged_wall: rate(counts.postings, time),
        })
    }
}

/// Makes the signature of a document. Most keys are unique, some also occur in a neighbor, and few
/// occur in many documents.
fn signature(source: u64, doc: u64) -> Vec<Fingerprint> {
    let fingerprint = |i: u64| {
        let drawn = mix64(source << 50 | doc << 20 | i);
        let key = match drawn % 100 {
            0..62 => mix64(source << 50 | doc << 20 | i | 1 << 60),
            62..90 => mix64(source << 50 | (doc / 2) << 20 | i | 1 << 61),
            90..96 => mix64(drawn >> 40 | 1 << 62),
            _ => mix64((drawn >> 50) % 4000),
        };
        Fingerprint { key: key >> 24, position: i as u32 * 5 }
    };
    (0..FINGERPRINTS).map(fingerprint).collect()
}
