//! What the service takes of the machine, second by second.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::Result;
use crate::bench::process::number_in;

/// What is measured, with the growth that is no leak: noise of a small number.
const MEASURED: [(&str, u64); 6] = [
    ("anonymous memory, kB", 32_000),
    ("open files", 20),
    ("threads", 8),
    ("files of the index", 40),
    ("bytes of the index", 20_000_000),
    ("bytes of logs and lists", 1_000_000),
];

/// The growth between the third and the last quarter of the last round that is an error. Before,
/// the caches fill.
const GROWTH_MAX: f64 = 1.25;

const ROWS: usize = 10;

struct Sample {
    second: u64,
    round: usize,
    values: [u64; MEASURED.len()],
}

/// All samples of a run.
pub struct Curve {
    index: PathBuf,
    started: Instant,
    round: usize,
    last_round: Option<usize>,
    samples: Vec<Sample>,
}

impl Curve {
    pub fn new(index: &Path) -> Curve {
        let (index, started) = (index.to_owned(), Instant::now());
        Curve { index, started, round: 0, last_round: None, samples: Vec::new() }
    }

    pub fn begin_round(&mut self, is_last: bool) {
        self.round += 1;
        if is_last {
            self.last_round.get_or_insert(self.round);
        }
    }

    /// Measures the process `service`.
    pub fn sample(&mut self, service: u32) -> Result {
        let status = fs::read_to_string(format!("/proc/{service}/status"))
            .map_err(|_| "the service ended by itself")?;
        let number = |name: &str| number_in(&status, name).unwrap_or(0);
        let open = fs::read_dir(format!("/proc/{service}/fd")).map_or(0, Iterator::count);
        let files = files(&self.index);
        let bytes = |is_segment: bool| {
            let of_kind = files.iter().filter(|(path, _)| is_of_segment(path) == is_segment);
            of_kind.map(|(_, bytes)| bytes).sum()
        };
        let values = [
            number("RssAnon:"),
            open as u64,
            number("Threads:"),
            files.len() as u64,
            bytes(true),
            bytes(false),
        ];
        let second = self.started.elapsed().as_secs();
        self.samples.push(Sample { second, round: self.round, values });
        Ok(())
    }

    /// The medians of tenths of the time.
    pub fn table(&self) -> String {
        let names = MEASURED.map(|(name, _)| name).join(" | ");
        let mut table =
            format!("| until second | {names} |\n|---|{}\n", "---|".repeat(MEASURED.len()));
        for part in self.samples.chunks(self.samples.len().div_ceil(ROWS).max(1)) {
            let values = medians(part).map(|value| value.to_string()).join(" | ");
            let until = part.last().map_or(0, |sample| sample.second);
            table += &format!("| {until} | {values} |\n");
        }
        table
    }

    pub fn csv(&self) -> String {
        let mut csv =
            format!("second,round,{}\n", MEASURED.map(|(name, _)| name.replace(',', "")).join(","));
        for Sample { second, round, values } in &self.samples {
            let values = values.map(|value| value.to_string()).join(",");
            csv += &format!("{second},{round},{values}\n");
        }
        csv
    }

    /// # Errors
    /// If something still grows in the round without a restart.
    pub fn judge(&self) -> Result {
        let is_last = |sample: &&Sample| Some(sample.round) >= self.last_round;
        let start = self.samples.iter().take_while(|sample| !is_last(sample)).count();
        let last = &self.samples[start..];
        let quarter = last.len() / 4;
        let (early, late) =
            (medians(&last[2 * quarter..3 * quarter]), medians(&last[3 * quarter..]));
        for ((early, late), (name, noise)) in early.into_iter().zip(late).zip(MEASURED) {
            if late as f64 > early as f64 * GROWTH_MAX + noise as f64 {
                return Err(format!("{name} grew from {early} to {late} without a restart").into());
            }
        }
        Ok(())
    }
}

fn medians(samples: &[Sample]) -> [u64; MEASURED.len()] {
    std::array::from_fn(|column| {
        let mut values: Vec<u64> = samples.iter().map(|sample| sample.values[column]).collect();
        values.sort_unstable();
        values.get(values.len() / 2).copied().unwrap_or(0)
    })
}

/// Returns the files below a directory with their sizes. A file may vanish meanwhile.
fn files(dir: &Path) -> Vec<(PathBuf, u64)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => found.extend(files(&entry.path())),
            Ok(metadata) => found.push((entry.path(), metadata.len())),
            Err(_) => {}
        }
    }
    found
}

/// Segments are named by 32 hexadecimal digits.
fn is_of_segment(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    stem.len() >= 32 && stem.bytes().take(32).all(|byte| byte.is_ascii_hexdigit())
}
