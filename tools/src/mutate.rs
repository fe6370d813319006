//! Reads damaged files of every format.
//!
//! The damaged files are made from samples of each format by changing, removing or repeating bytes,
//! or by truncating the file. They are read as `cento add` reads files, with office documents and
//! PDF in separate processes. Half of the damaged zip files have damage inside a part and are
//! packed again with a correct checksum. No file may hang or crash its reader.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use cento_source::{Extraction, ReadError, SourceOptions, read_bytes};
use clap::Args;
use fastrand::Rng;

use crate::Result;

/// Read damaged files of every format, and say what became of them.
#[derive(Debug, Args)]
pub struct Mutate {
    /// A directory of samples; their names end in their formats.
    samples: PathBuf,
    /// The program, built with the feature `office`.
    #[arg(long, default_value = "target/release/cento")]
    cento: PathBuf,
    /// Files of each format.
    #[arg(long, default_value = "1000")]
    count: usize,
    /// Only these formats, such as `eml`.
    #[arg(long = "format")]
    formats: Vec<String>,
    /// Seed of the random choices.
    #[arg(long, default_value = "1")]
    seed: u64,
}

/// Reading for longer counts as hanging. Extraction stops after a third of this time.
const TIME_MAX: Duration = Duration::from_secs(60);

const CHANGES_MAX: usize = 16;

#[derive(Default)]
struct Fates {
    samples: usize,
    /// Files that gave complete documents.
    text: usize,
    /// Files that were read in part or omitted.
    refused: usize,
    ended: usize,
    /// Files that took the worker too long.
    late: usize,
    panicked: usize,
    slowest: Duration,
}

impl Mutate {
    pub(crate) fn run(self) -> Result {
        let mut formats: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
        let mut paths: Vec<PathBuf> = Vec::new();
        for entry in fs::read_dir(&self.samples)? {
            paths.push(entry?.path());
        }
        paths.sort();
        for path in paths.into_iter().filter(|path| path.is_file()) {
            let format = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
            if self.formats.is_empty() || self.formats.contains(&format) {
                formats.entry(format).or_default().push(fs::read(path)?);
            }
        }
        let options = SourceOptions {
            extraction: Some(Extraction::by(fs::canonicalize(&self.cento)?)),
            ..SourceOptions::default()
        };
        println!(
            "| format | samples | text | refused | worker ended | late | panic | slowest, s |"
        );
        println!("|---|---|---|---|---|---|---|---|");
        let mut panics = 0;
        for (format, samples) in &formats {
            let fates = self.read(format, samples, &options);
            println!(
                "| {format} | {} | {} | {} | {} | {} | {} | {:.2} |",
                fates.samples,
                fates.text,
                fates.refused,
                fates.ended,
                fates.late,
                fates.panicked,
                fates.slowest.as_secs_f64()
            );
            panics += fates.panicked;
        }
        match panics {
            0 => Ok(()),
            panics => Err(format!("{panics} files made the reader panic").into()),
        }
    }

    fn read(&self, format: &str, samples: &[Vec<u8>], options: &SourceOptions) -> Fates {
        let mut fates = Fates { samples: samples.len(), ..Fates::default() };
        let mut rng = Rng::with_seed(self.seed);
        let name = format!("mutated.{format}");
        for number in 0..self.count {
            let sample = &samples[number % samples.len()];
            let in_part = (number / samples.len()).is_multiple_of(2);
            let bytes = in_part.then(|| with_part_mutated(sample, &mut rng)).flatten();
            let bytes = bytes.unwrap_or_else(|| mutated(sample.clone(), &mut rng));
            let started = Instant::now();
            let place = format!("file {number} of {format} with seed {}", self.seed);
            let read =
                watched(place, || catch_unwind(AssertUnwindSafe(|| fate(&name, bytes, options))));
            fates.slowest = fates.slowest.max(started.elapsed());
            match read {
                Ok(Fate::Text) => fates.text += 1,
                Ok(Fate::Refused) => fates.refused += 1,
                Ok(Fate::Ended) => fates.ended += 1,
                Ok(Fate::Late) => fates.late += 1,
                Err(_) => fates.panicked += 1,
            }
        }
        fates
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Text,
    Refused,
    Ended,
    Late,
}

/// Runs work that may hang. After [`TIME_MAX`], the program prints `place` and exits.
fn watched<T>(place: String, work: impl FnOnce() -> T) -> T {
    let (done, is_done) = mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        if is_done.recv_timeout(TIME_MAX) == Err(RecvTimeoutError::Timeout) {
            eprintln!("{place} hangs");
            std::process::exit(1);
        }
    });
    let result = work();
    drop(done);
    watch.join().expect("it only waits");
    result
}

fn fate(name: &str, bytes: Vec<u8>, options: &SourceOptions) -> Fate {
    let mut worst = Fate::Text;
    for chunk in read_bytes(name, bytes, options) {
        let mut take = |error: &str| {
            let fate = match error {
                error if error.contains("the process ended") => Fate::Ended,
                error if error.contains("took more than") => Fate::Late,
                _ => Fate::Refused,
            };
            worst = worst.max(fate);
        };
        match chunk {
            Ok(chunk) => {
                let errors = chunk.documents(options).filter_map(|document| document.err());
                errors.for_each(|error| take(&error.to_string()));
            }
            Err(ReadError::LeftOut { why, .. }) => take(why),
            Err(error) => take(&error.to_string()),
        }
    }
    worst
}

fn mutated(mut bytes: Vec<u8>, rng: &mut Rng) -> Vec<u8> {
    if rng.u8(..) < 16 {
        bytes.truncate(rng.usize(..=bytes.len()));
        return bytes;
    }
    for _ in 0..rng.usize(1..=CHANGES_MAX) {
        if bytes.is_empty() {
            break;
        }
        let at = rng.usize(..bytes.len());
        let len = rng.usize(1..=CHANGES_MAX).min(bytes.len() - at);
        match rng.u8(..4) {
            0 => bytes[at] ^= 1 << rng.u8(..8),
            1 => bytes[at] = rng.u8(..),
            2 => {
                bytes.drain(at..at + len);
            }
            _ => {
                let again = bytes[at..at + len].to_vec();
                bytes.splice(at..at, again);
            }
        }
    }
    bytes
}

/// Damages a part of a zip file. Returns `None` if the bytes are no zip file.
fn with_part_mutated(file: &[u8], rng: &mut Rng) -> Option<Vec<u8>> {
    let mut archive = zip::ZipArchive::new(Cursor::new(file)).ok()?;
    let chosen = rng.usize(..archive.len().max(1));
    let mut out = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for at in 0..archive.len() {
        let mut entry = archive.by_index(at).ok()?;
        if at != chosen {
            out.raw_copy_file(entry).ok()?;
            continue;
        }
        let name = entry.name().ok()?.into_owned();
        let mut part = Vec::new();
        entry.read_to_end(&mut part).ok()?;
        out.start_file(name, zip::write::SimpleFileOptions::default()).ok()?;
        out.write_all(&mutated(part, rng)).ok()?;
    }
    Some(out.finish().ok()?.into_inner())
}
