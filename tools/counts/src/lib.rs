//! Counts the instructions of operations.
//!
//! On a shared machine, times show no difference below a tenth. The instruction counts of fixed
//! operations are nearly the same each time, so a slowdown appears as a changed line in
//! `tools/counts.txt`. callgrind counts inside `counted` alone. The preparation of an operation
//! is excluded, and so are other threads, because waiting takes a different number of instructions
//! each time. The first round is excluded because it also fills caches.
//!
//! A package of its own, because it needs the library alone: the other tools link the service and
//! the readers, which the gate would have to optimize for nothing. `cento-tools counts` runs it too.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::Command;

use cento::Stop;
use cento::hash::{Digest, mix64};
use cento::scheme::Fingerprint;
use cento::segment::{
    Header, Identity, MergeOptions, MergeSource, SegmentBuilder, SegmentReader, merge,
};
use cento::tantivy::directory::{OwnedBytes, RamDirectory};
use cento::{Config, Document, Index, Query, Searcher, Tokens, WriterOptions, compare};
use cento_testing::cargo_sources::texts_of;
use clap::Args;

/// The outcome of a count, with any error.
pub type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Count the instructions of fixed operations, and compare them with those that are recorded.
#[derive(Debug, Args)]
pub struct Counts {
    /// The file of recorded counts.
    #[arg(long, default_value = "tools/counts.txt")]
    record: PathBuf,
    /// Write the counts to the record instead of comparing them.
    #[arg(long)]
    write: bool,
    /// A change by more than this share is an error.
    #[arg(long, default_value = "0.03")]
    tolerance: f64,
    /// Count only the operation of this name.
    #[arg(long, conflicts_with = "write")]
    only: Option<String>,
    /// Run the operation instead of counting its instructions: what callgrind runs.
    #[arg(long, requires = "only", hide = true)]
    run: bool,
}

/// Runs an operation once. The number of the round selects the input.
type Round = Box<dyn FnMut(u64) -> Result>;

const ROUNDS_MAX: u64 = 20;

/// An operation with the number of counted rounds and a function that prepares a round.
struct Operation {
    name: &'static str,
    rounds: u64,
    prepare: fn() -> Result<Round>,
}

const OPERATIONS: [Operation; 18] = [
    Operation {
        name: "tokenize, ASCII, 1,000 words",
        rounds: 20,
        prepare: || tokenize("words", text(1, 1000)),
    },
    Operation {
        name: "tokenize, Cyrillic, 1,000 words",
        rounds: 20,
        prepare: || tokenize("words", cyrillic(1000)),
    },
    Operation {
        name: "tokenize, letters and accents apart, 1,000 words",
        rounds: 4,
        prepare: || tokenize("words", accents_apart(1000)),
    },
    Operation {
        name: "analyze by avtor, Cyrillic, 1,000 words",
        rounds: 4,
        prepare: || tokenize("avtor", cyrillic(1000)),
    },
    Operation {
        name: "sign, winnow(k=5,w=10), 1,000 words",
        rounds: 20,
        prepare: || sign("winnow(k=5,w=10)"),
    },
    Operation { name: "sign, minhash, 1,000 words", rounds: 4, prepare: || sign("minhash") },
    Operation { name: "build a segment of 200 documents", rounds: 2, prepare: build },
    Operation { name: "merge two segments of 200 documents", rounds: 2, prepare: merge_two },
    Operation { name: "open a segment of 200 documents", rounds: 4, prepare: open },
    Operation {
        name: "search a passage of 100 words",
        rounds: 20,
        prepare: || search(100, |query| query),
    },
    Operation {
        name: "search a document of 500 words",
        rounds: 10,
        prepare: || search(500, |query| query),
    },
    Operation {
        name: "search with containment 0.5",
        rounds: 20,
        prepare: || search(500, |query| query.min_containment(0.5)),
    },
    Operation {
        name: "search with passages",
        rounds: 4,
        prepare: || search(500, |query| query.passages(true).limit(3)),
    },
    Operation { name: "cover a document of 500 words", rounds: 4, prepare: || cover(500) },
    Operation { name: "compare two texts of 1,000 words", rounds: 4, prepare: compare_two },
    Operation {
        name: "search source code with passages",
        rounds: 20,
        prepare: || search_real(texts_of("tantivy", "src")?),
    },
    Operation {
        name: "search long prose with passages",
        rounds: 20,
        prepare: || search_real(long_texts(&LONG_PROSE)?),
    },
    Operation {
        name: "search tables with passages",
        rounds: 20,
        prepare: || search_real(long_texts(&TABLES)?),
    },
];

impl Counts {
    /// Counts the operations. To count an operation, this program calls itself with arguments that
    /// begin with `subcommand`.
    ///
    /// # Errors
    /// When an operation fails or is slower than recorded, or valgrind is missing.
    pub fn run(self, subcommand: &[&str]) -> Result {
        let is_wanted =
            |operation: &&Operation| self.only.as_ref().is_none_or(|only| only == operation.name);
        let operations: Vec<&Operation> = OPERATIONS.iter().filter(is_wanted).collect();
        if operations.is_empty() {
            let names = OPERATIONS.map(|operation| operation.name).join("\n");
            return Err(format!("no such operation; there are:\n{names}").into());
        }
        if self.run {
            return operations.into_iter().try_for_each(Operation::run);
        }
        if cfg!(debug_assertions) {
            return Err("the record is of optimized code: build with `--release`".into());
        }
        let record = match fs::read_to_string(&self.record) {
            Err(e) if e.kind() == ErrorKind::NotFound && self.write => String::new(),
            read => read.map_err(|e| format!("{}: {e}", self.record.display()))?,
        };
        let recorded = parse(&record)?;
        let (mut lines, mut changed) = (String::new(), Vec::new());
        println!("| operation | instructions | recorded | change |\n|---|---|---|---|");
        for operation in operations {
            let (name, count) = (operation.name, operation.instructions(subcommand)?);
            writeln!(lines, "{count:>12}  {name}")?;
            let was = recorded.get(name);
            let change = was.map(|&was| count as f64 / was as f64 - 1.0);
            println!(
                "| {name} | {count} | {} | {} |",
                was.map_or("none".into(), u64::to_string),
                change.map_or("new".into(), |change| format!("{:+.2} %", 100.0 * change)),
            );
            if change.is_none_or(|change| change.abs() > self.tolerance) {
                changed.push(name);
            }
        }
        if self.write {
            fs::write(&self.record, lines)?;
        } else if !changed.is_empty() {
            return Err(format!(
                "new, or changed by more than {} %: {}; if that is intended, record it with \
                 --write",
                100.0 * self.tolerance,
                changed.join("; ")
            )
            .into());
        }
        Ok(())
    }
}

/// Returns the recorded counts by the names of the operations.
fn parse(record: &str) -> Result<BTreeMap<&str, u64>> {
    let count = |line| -> Option<(&str, u64)> {
        let (count, name) = str::trim_start(line).split_once("  ")?;
        Some((name, count.parse().ok().filter(|&count| count > 0)?))
    };
    let lines = record.lines();
    lines.map(|line| count(line).ok_or_else(|| format!("not a count: `{line}`").into())).collect()
}

impl Operation {
    /// Runs the operation. The first round is not counted.
    fn run(&self) -> Result {
        assert!(self.rounds <= ROUNDS_MAX, "there is an input for every round");
        let mut round = (self.prepare)()?;
        round(0)?;
        (1..=self.rounds).try_for_each(|number| counted(&mut round, number))
    }

    /// Counts the instructions of a round in a separate process.
    fn instructions(&self, subcommand: &[&str]) -> Result<u64> {
        let mut command = Command::new("valgrind");
        command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        command.args(["--collect-atstart=no", "--toggle-collect=cento_counts::counted"]);
        command.arg(std::env::current_exe()?);
        command.args(subcommand).args(["--run", "--only", self.name]);
        let output = command.output().map_err(|e| format!("cannot run valgrind: {e}"))?;
        let said = String::from_utf8_lossy(&output.stderr);
        let collected = said.lines().find_map(|line| line.split_once("Collected : "));
        let count = collected.and_then(|(_, count)| count.trim().parse::<u64>().ok());
        // callgrind counts nothing if the program has no symbols.
        let count = count.filter(|&count| output.status.success() && count > 0);
        let count = count.ok_or_else(|| format!("{}: nothing was counted: {said}", self.name))?;
        Ok(count / self.rounds)
    }
}

/// Runs a counted round. callgrind finds this function by its name.
#[inline(never)]
fn counted(round: &mut Round, number: u64) -> Result {
    round(number)
}

/// Makes the inputs of all rounds before any round is counted.
fn inputs<T>(make: impl Fn(u64) -> T) -> Vec<T> {
    (0..=ROUNDS_MAX).map(make).collect()
}

fn text(seed: u64, count: u64) -> String {
    let word = |i: u64| {
        let drawn = mix64(mix64(seed) ^ i);
        format!("w{}", drawn % (1 << (6 + (drawn >> 40) % 12)))
    };
    (0..count).map(word).collect::<Vec<_>>().join(" ")
}

fn cyrillic(count: u64) -> String {
    let letter = |at: u64| char::from_u32(0x430 + (at % 32) as u32).unwrap_or('?');
    let word = |i: u64| (0..7).map(|at| letter(mix64(i) >> (5 * at))).collect::<String>();
    (0..count).map(word).collect::<Vec<_>>().join(" ")
}

/// Makes words with two marks on every second letter. One of the marks composes with the letter, so
/// normalization has to examine each letter.
fn accents_apart(count: u64) -> String {
    let base = |at: u64| char::from(b"aeiouy"[(at % 6) as usize]);
    let letter = |at: u64| format!("{}\u{323}\u{302}t", base(at));
    let word = |i: u64| (0..3).map(|at| letter(mix64(i) >> (5 * at))).collect::<String>();
    (0..count).map(word).collect::<Vec<_>>().join(" ")
}

fn tokenize(analyzer: &str, text: String) -> Result<Round> {
    let analyzer: cento::Analyzer = analyzer.parse()?;
    let mut tokens = Tokens::default();
    Ok(Box::new(move |_| {
        analyzer.analyze(&text, &mut tokens, Stop::NEVER)?;
        black_box(tokens.hashes.len());
        Ok(())
    }))
}

fn sign(scheme: &str) -> Result<Round> {
    let config = Config::new(scheme, "words", false)?;
    let texts = inputs(|round| text(round, 1000));
    Ok(Box::new(move |round| {
        black_box(config.sign(&texts[round as usize])?.1.len());
        Ok(())
    }))
}

fn segment(from: u64) -> Result<Vec<u8>> {
    let mut builder = SegmentBuilder::new();
    for doc in from..from + 200 {
        let key = |i: u64| mix64(mix64(doc / 2) ^ (i % 150)) >> 24;
        let signature: Vec<Fingerprint> =
            (0..200).map(|i| Fingerprint { key: key(i), position: 5 * i as u32 }).collect();
        let identity = Identity { id: &doc.to_string(), digest: Digest::default() };
        builder.push(identity, 1000, &signature);
    }
    let header = Header { key_bits: 40, documents: 200, config: 0, signatures: true };
    Ok(builder.write(Vec::new(), header, None)?.1)
}

fn reader(bytes: &[u8]) -> Result<SegmentReader> {
    Ok(SegmentReader::open("counts", OwnedBytes::new(bytes.to_vec()))?)
}

fn build() -> Result<Round> {
    Ok(Box::new(|_| {
        black_box(segment(0)?.len());
        Ok(())
    }))
}

fn open() -> Result<Round> {
    let bytes = segment(0)?;
    Ok(Box::new(move |_| {
        black_box(reader(&bytes)?.header().documents);
        Ok(())
    }))
}

fn merge_two() -> Result<Round> {
    let (first, second) = (segment(0)?, segment(100)?);
    Ok(Box::new(move |_| {
        let (first, second) = (reader(&first)?, reader(&second)?);
        let sources = [&first, &second].map(|reader| MergeSource { reader, alive: None });
        let header = Header { key_bits: 40, documents: 400, config: 0, signatures: true };
        black_box(merge(&sources, header, Vec::new(), &MergeOptions::default())?.1.len());
        Ok(())
    }))
}

fn index() -> Result<Searcher> {
    let config = Config::new(cento::scheme::DEFAULT_SPEC, "words", true)?;
    let index = Index::create_in(RamDirectory::create(), "counts", config)?;
    let mut writer = index.writer(WriterOptions::default())?;
    for i in 0..1000 {
        writer.add(Document::new(format!("doc{i}"), text(i / 4, 400 + i % 200)))?;
    }
    writer.finish()?;
    Ok(Searcher::new(index.snapshot()?))
}

fn search(words: u64, query: fn(Query) -> Query) -> Result<Round> {
    let searcher = index()?;
    let queries =
        inputs(|round| query(Query::text(text(mix64(round) % 250, words)).counts_only(true)));
    Ok(Box::new(move |round| {
        black_box(searcher.search(&queries[round as usize])?.hits.len());
        Ok(())
    }))
}

fn cover(words: u64) -> Result<Round> {
    let searcher = index()?;
    let queries = inputs(|round| {
        Query::text(text(mix64(round) % 250, words)).counts_only(true).limit(usize::MAX)
    });
    Ok(Box::new(move |round| {
        let query = &queries[round as usize];
        black_box(searcher.covering(query, Vec::new(), 10)?.len());
        Ok(())
    }))
}

/// Prose in the files of packages in `Cargo.lock`, which every machine has: a novel and long change
/// logs.
const LONG_PROSE: [(&str, &str); 4] = [
    ("htmlescape", "moonstone-short.txt"),
    ("tokio", "CHANGELOG.md"),
    ("nix", "CHANGELOG.md"),
    ("axum", "CHANGELOG.md"),
];

/// Tables of character numbers in the files of packages in `Cargo.lock`. The numbers have many
/// digits in common.
const TABLES: [(&str, &str); 2] =
    [("idna", "tests/IdnaTestV2.txt"), ("caseless", "CaseFolding.txt")];

/// The number of lines of a long text, and the distance between the beginnings of consecutive
/// texts. Half of each text is also in the next text.
const LINES: (usize, usize) = (1000, 500);

/// Cuts files of packages into long texts that share half of their lines with the next text.
fn long_texts(files: &[(&str, &str)]) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for (package, path) in files {
        for text in texts_of(package, path)? {
            let lines: Vec<&str> = text.lines().collect();
            let starts = (0..lines.len()).step_by(LINES.1);
            texts.extend(starts.map(|at| lines[at..lines.len().min(at + LINES.0)].join("\n")));
        }
    }
    Ok(texts)
}

/// Searches these texts for passages of a hundred words without every tenth word, and compares each
/// passage with the first ten hits.
fn search_real(texts: Vec<String>) -> Result<Round> {
    let config = Config::new(cento::scheme::DEFAULT_SPEC, "words", true)?;
    let index = Index::create_in(RamDirectory::create(), "counts", config)?;
    let mut writer = index.writer(WriterOptions::default())?;
    for (number, text) in texts.iter().enumerate() {
        writer.add(Document::new(format!("doc{number}"), text))?;
    }
    writer.finish()?;
    let searcher = Searcher::new(index.snapshot()?);
    let queries = inputs(|round| {
        let drawn = mix64(round);
        let words: Vec<&str> =
            texts[drawn as usize % texts.len()].split_inclusive(char::is_whitespace).collect();
        let first = (drawn >> 32) as usize % words.len().saturating_sub(100).max(1);
        let kept = words[first..].iter().take(100).enumerate().filter(|(at, _)| at % 10 != 9);
        let text: String = kept.map(|(_, word)| *word).collect();
        Query::text(text).passages(true).limit(10)
    });
    Ok(Box::new(move |round| {
        black_box(searcher.search(&queries[round as usize])?.hits.len());
        Ok(())
    }))
}

fn compare_two() -> Result<Round> {
    let config = Config::new(cento::scheme::DEFAULT_SPEC, "words", true)?;
    let pairs = inputs(|round| {
        (text(round, 1000), format!("{} {}", text(round, 800), text(round + 7, 200)))
    });
    Ok(Box::new(move |round| {
        let (a, b) = &pairs[round as usize];
        black_box(compare(&config.scheme, &config.analyzer, a, b)?.passages.len());
        Ok(())
    }))
}
