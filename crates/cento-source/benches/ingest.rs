//! Measures the speed of adding documents, and the floor of reading and signing them alone.
//!
//! `floor` runs the pipeline with as many threads and writes nothing: read, parse, tokenize, hash,
//! winnow. Set CENTO_BENCH_CORPUS to a JSON lines file, because otherwise a synthetic file is used.

#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::io::Write;
use std::path::PathBuf;

use cento::Stop;
use cento::hash::mix64;
use cento::index::{Config, Index};
use cento::runtime::Faults;
use cento::scheme::{self, DEFAULT_SPEC};
use cento::text::{Analyzer, Tokens};
use cento_source::pipeline::{Outputs, PipelineOptions};
use cento_source::{AddOptions, add};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Returns the corpus of the environment, or writes `bytes` of synthetic words.
fn corpus(dir: &std::path::Path) -> PathBuf {
    if let Some(path) = std::env::var_os("CENTO_BENCH_CORPUS") {
        return path.into();
    }
    let path = dir.join("corpus.jsonl");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    for doc in 0..4000u64 {
        let text: String = (0..700)
            .map(|i| {
                let drawn = mix64(doc << 32 | i);
                // Frequent words are short, as in natural languages.
                let rank = (drawn % 1000) * (drawn >> 32) % 20_000;
                format!("{}{rank:x} ", &"wordlike"[..(drawn % 7) as usize + 1])
            })
            .collect();
        writeln!(file, "{}", serde_json::json!({"id": doc.to_string(), "text": text})).unwrap();
    }
    file.flush().unwrap();
    path
}

fn ingest(c: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let corpus = corpus(dir.path());
    let options = AddOptions::default();
    let config = |text| Config::new(DEFAULT_SPEC, "words", text).unwrap();
    let bytes = std::fs::metadata(&corpus).unwrap().len();
    let mut group = c.benchmark_group(format!("ingest, {} threads", options.threads));
    group.throughput(Throughput::Bytes(bytes)).sample_size(10);
    group.bench_function("floor: read, tokenize, hash, winnow", |b| {
        let pipeline = PipelineOptions {
            document_bytes_max: usize::MAX,
            threads: options.threads,
            bytes_max: options.memory_bytes / 4,
            keeps_texts: false,
            source: options.source.clone(),
            faults: Faults::default(),
        };
        let config = config(false);
        b.iter(|| {
            let inputs = std::slice::from_ref(&corpus);
            let outputs = Outputs::new(inputs, &config, &pipeline, Stop::NEVER, None);
            outputs.for_each(|output| drop(output.unwrap()));
        });
    });
    let without_signatures = || config(true).without_signatures().unwrap();
    let kinds: [(&str, &dyn Fn() -> Config); 3] = [
        ("add, without text", &|| config(false)),
        ("add, with text", &|| config(true)),
        ("add, with text, without signatures", &without_signatures),
    ];
    for (kind, (name, config)) in kinds.into_iter().enumerate() {
        let mut round = 0;
        group.bench_function(name, |b| {
            b.iter(|| {
                round += 1;
                let path = dir.path().join(format!("{kind}-{round}"));
                let index = Index::create(&path, config()).unwrap();
                let inputs = std::slice::from_ref(&corpus);
                add(&index, inputs, &options, Stop::NEVER, &mut |_| {}).unwrap();
                drop(index);
                std::fs::remove_dir_all(path).unwrap();
            });
        });
    }
    group.finish();
}

/// Signs texts from memory on a single thread.
fn sign(c: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let lines = std::fs::read_to_string(corpus(dir.path())).unwrap();
    let texts: Vec<String> = lines
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|value| value["text"].as_str().unwrap().to_owned())
        .collect();
    let (analyzer, scheme) = (Analyzer::default(), scheme::parse(DEFAULT_SPEC).unwrap());
    let (mut tokens, mut signature) = (Tokens::default(), Vec::new());
    let mut group = c.benchmark_group("one thread, text in memory");
    group.throughput(Throughput::Bytes(texts.iter().map(|text| text.len() as u64).sum()));
    group.sample_size(10);
    group.bench_function("tokenize", |b| {
        b.iter(|| {
            texts.iter().for_each(|text| analyzer.analyze(text, &mut tokens, Stop::NEVER).unwrap())
        });
    });
    group.bench_function("tokenize and winnow", |b| {
        b.iter(|| {
            for text in &texts {
                analyzer.analyze(text, &mut tokens, Stop::NEVER).unwrap();
                scheme.sign(&tokens.hashes, &mut signature, Stop::NEVER).unwrap();
            }
        });
    });
    group.finish();
}

criterion_group!(benches, sign, ingest);
criterion_main!(benches);
