//! Makes a stream of documents with known duplicates, and measures which duplicates `cento dedup`
//! drops.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use fastrand::Rng;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Result;
use crate::corpus::{Vocabulary, edit};

/// Make a stream of documents with known duplicates.
#[derive(Debug, Args)]
pub struct Duplicates {
    /// The stream: a JSON lines file.
    #[arg(long)]
    out: PathBuf,
    /// The truth: a JSON line for every duplicate.
    #[arg(long)]
    truth: PathBuf,
    /// Bytes of text to write.
    #[arg(long, default_value = "1000000000")]
    bytes: usize,
    /// Duplicates, in hundredths of the documents.
    #[arg(long, default_value = "30")]
    share: u32,
    /// Seed of the random choices.
    #[arg(long, default_value = "1")]
    seed: u64,
}

/// A duplicate in the stream, with its original.
#[derive(Debug, Serialize, Deserialize)]
struct Duplicate {
    id: String,
    /// The id of the original.
    of: String,
    /// Per cent of words that were edited.
    edits: u32,
}

/// Per cent of words to edit, drawn anew for every duplicate.
const EDITS: [u32; 3] = [0, 1, 2];

impl Duplicates {
    pub(crate) fn run(self) -> Result {
        let mut rng = Rng::with_seed(self.seed);
        let words = Vocabulary::new(&mut rng);
        let mut out = BufWriter::new(File::create(&self.out)?);
        let mut truth = BufWriter::new(File::create(&self.truth)?);
        let mut originals: Vec<(String, String)> = Vec::new();
        let (mut bytes, mut number, mut duplicates) = (0, 0u64, 0u64);
        while bytes < self.bytes {
            let id = format!("doc{number}");
            number += 1;
            let text = if rng.u32(0..100) < self.share && !originals.is_empty() {
                let (of, text) = &originals[rng.usize(0..originals.len())];
                let edits = EDITS[rng.usize(0..EDITS.len())];
                let duplicate = Duplicate { id: id.clone(), of: of.clone(), edits };
                writeln!(truth, "{}", serde_json::to_string(&duplicate)?)?;
                duplicates += 1;
                match edits {
                    0 => text.clone(),
                    edits => {
                        edit(&text.split_whitespace().collect::<Vec<_>>(), edits, &words, &mut rng)
                    }
                }
            } else {
                let count = (100.0 * 30f64.powf(rng.f64())) as usize;
                let text = words.text(count, &mut rng);
                originals.push((id.clone(), text.clone()));
                text
            };
            bytes += text.len();
            writeln!(out, "{}", serde_json::json!({"id": id, "text": text}))?;
        }
        out.flush()?;
        truth.flush()?;
        println!("{number} documents, {bytes} bytes of text; {duplicates} duplicates");
        Ok(())
    }
}

/// Measure what `cento dedup` drops of a stream with known duplicates, also when it is interrupted.
#[derive(Debug, Args)]
pub struct Dedup {
    /// The stream that `duplicates` wrote.
    #[arg(long)]
    corpus: PathBuf,
    /// The truth that `duplicates` wrote.
    #[arg(long)]
    truth: PathBuf,
    /// A new directory for the output.
    #[arg(long)]
    work: PathBuf,
    /// Path of the cento program to test.
    #[arg(long, value_name = "PATH", default_value = "target/release/cento")]
    cento: PathBuf,
    /// The least resemblance of duplicates.
    #[arg(long, default_value = "0.7")]
    min_resemblance: f64,
}

impl Dedup {
    pub(crate) fn run(self) -> Result {
        std::fs::create_dir_all(&self.work)?;
        let whole = self.dedup("whole", None)?;
        let found = self.report("whole.report")?;
        let mut truth: HashMap<String, Duplicate> = HashMap::new();
        for line in BufReader::new(File::open(&self.truth)?).lines() {
            let duplicate: Duplicate = serde_json::from_str(&line?)?;
            truth.insert(duplicate.id.clone(), duplicate);
        }
        let bytes = std::fs::metadata(&self.corpus)?.len() as f64;
        println!(
            "whole run: {:.1} s, {:.1} MB/s of JSON lines, {:.0} MB of memory at most",
            whole.seconds,
            bytes / whole.seconds / 1e6,
            whole.peak_bytes as f64 / 1e6
        );
        println!("| edits, hundredths | duplicates | dropped | recall |\n|---|---|---|---|");
        for edits in EDITS {
            let of_kind = truth.values().filter(|duplicate| duplicate.edits == edits);
            let (mut all, mut dropped) = (0, 0);
            for duplicate in of_kind {
                all += 1;
                dropped += u32::from(found.contains_key(&duplicate.id));
            }
            println!(
                "| {edits} | {all} | {dropped} | {:.5} |",
                f64::from(dropped) / f64::from(all)
            );
        }
        // Two duplicates of the same original are also duplicates.
        let original = |id: &str| truth.get(id).map_or(id.to_owned(), |found| found.of.clone());
        let right = found.iter().filter(|(id, of)| original(id) == original(of)).count();
        println!(
            "dropped {}, {right} of them right: precision {:.5}",
            found.len(),
            right as f64 / found.len() as f64
        );
        let mut kills = 0;
        let mut delay = Duration::from_secs_f64(whole.seconds / 4.0);
        while self.dedup("parts", Some(delay)).is_ok_and(|run| run.killed) {
            kills += 1;
            delay += delay / 4;
        }
        for (a, b) in [("whole", "parts"), ("whole.report", "parts.report")] {
            let same = same_bytes(&self.work.join(a), &self.work.join(b))?;
            println!(
                "{b} after {kills} kills: {}",
                if same { "the same bytes" } else { "DIFFERENT" }
            );
        }
        Ok(())
    }

    /// Runs `cento dedup` and kills it after a while. Resumes an earlier run.
    fn dedup(&self, name: &str, kill_after: Option<Duration>) -> Result<RunOutcome> {
        let path = |extension: &str| self.work.join(format!("{name}{extension}"));
        let resumes = path(".idx").exists();
        let mut command = Command::new(&self.cento);
        command.arg("dedup").arg(&self.corpus).arg("--index").arg(path(".idx"));
        command.arg("--out").arg(path("")).arg("--report").arg(path(".report"));
        command.args(["--format", "json"]);
        command.args(["--min-resemblance", &self.min_resemblance.to_string()]);
        if resumes {
            command.arg("--resume");
        }
        let started = Instant::now();
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::inherit()).spawn()?;
        let mut peak_bytes = 0;
        loop {
            if let Some(status) = child.try_wait()? {
                if !status.success() {
                    return Err(format!("cento dedup failed: {status}").into());
                }
                let seconds = started.elapsed().as_secs_f64();
                return Ok(RunOutcome { seconds, peak_bytes, killed: false });
            }
            peak_bytes = peak_bytes.max(peak_memory(child.id()));
            if kill_after.is_some_and(|after| started.elapsed() > after) {
                child.kill()?;
                child.wait()?;
                return Ok(RunOutcome { seconds: 0.0, peak_bytes, killed: true });
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Maps every dropped document to the kept document that caused the drop.
    fn report(&self, name: &str) -> Result<HashMap<String, String>> {
        let mut found = HashMap::new();
        for line in BufReader::new(File::open(self.work.join(name))?).lines() {
            let line: Value = serde_json::from_str(&line?)?;
            let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
            found.insert(text("id"), text("of"));
        }
        Ok(found)
    }
}

struct RunOutcome {
    seconds: f64,
    peak_bytes: u64,
    killed: bool,
}

/// The maximum resident memory of a process so far, as Linux reports it.
pub fn peak_memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kilobytes.and_then(|number| number.trim().parse::<u64>().ok()).unwrap_or(0) * 1024
}

fn same_bytes(a: &Path, b: &Path) -> Result<bool> {
    let [mut a, mut b] = [a, b].map(File::open);
    let (a, b) = (a.as_mut().map_err(|e| e.to_string())?, b.as_mut().map_err(|e| e.to_string())?);
    if a.metadata()?.len() != b.metadata()?.len() {
        return Ok(false);
    }
    let [mut a, mut b] = [a, b].map(|file| BufReader::with_capacity(1 << 20, file));
    loop {
        let (x, y) = (a.fill_buf()?, b.fill_buf()?);
        let len = x.len().min(y.len());
        if len == 0 {
            return Ok(x.is_empty() && y.is_empty());
        }
        if x[..len] != y[..len] {
            return Ok(false);
        }
        a.consume(len);
        b.consume(len);
    }
}
