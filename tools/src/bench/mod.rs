//! Takes the figures of docs/BENCHMARKS.md in a single run.
//!
//! The run writes the figures to `tools/bench.json` and renders the document from the file
//! (`page`). A test checks that the document matches the file. The other tools provide the
//! measurements, in sizes that take some minutes. `corpora` makes the corpora on any machine. The
//! run measures time and size, while docs/QUALITY.md reports what searches find.

pub mod corpora;
mod machine;
mod markdown;
mod measure;
mod neighbors;
mod page;
pub mod process;
mod record;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use self::measure::Measuring;
use self::record::{Kept, Run};
use crate::Result;

const RECORD: &str = "tools/bench.json";
/// Figures of longer runs, with commands and commits.
const KEPT: &str = "tools/bench-kept.json";
const DOCUMENT: &str = "docs/BENCHMARKS.md";
/// Instruction counts that `cento-tools counts --write` has recorded.
const COUNTS: &str = "tools/counts.txt";

/// Measure the figures of docs/BENCHMARKS.md in one run, in the directory of the repository.
///
/// Prints the document. Takes about ten minutes on two cores; needs `cento` of the same build.
#[derive(Debug, Args)]
pub struct Bench {
    /// Write tools/bench.json and docs/BENCHMARKS.md.
    #[arg(long)]
    write: bool,
    /// Measure nothing: render the document from tools/bench.json again.
    #[arg(long, conflicts_with_all = ["write", "figures", "corpus", "gigabytes"])]
    render: bool,
    /// Also write the figures to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    figures: Option<PathBuf>,
    /// Real text as the main corpus: JSON lines, also compressed (.zst). Without it, the sources of
    /// packages that Cargo has downloaded.
    #[arg(long, value_name = "FILE")]
    corpus: Option<PathBuf>,
    /// Also add and search synthetic text of these sizes: 1,10,100 takes hours and 150 GB of disk.
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    gigabytes: Vec<usize>,
    /// An interpreter of Python that has pyarrow and the programs to compare with: rensa,
    /// datasketch, text-dedup.
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// The program. Default: the `cento` beside this one.
    #[arg(long, value_name = "PATH")]
    cento: Option<PathBuf>,
    /// A directory on a disk; a directory `cento-bench` is made in it, and removed at the end.
    #[arg(long, default_value = "target")]
    work: PathBuf,
    /// Most megabytes of a corpus.
    #[arg(long, default_value = "100")]
    megabytes: usize,
    /// Queries of each kind.
    #[arg(long, default_value = "300")]
    queries: usize,
    /// Seconds for each row of the service.
    #[arg(long, default_value = "2")]
    seconds: u64,
}

impl Bench {
    pub(crate) fn run(self) -> Result {
        let kept = kept()?;
        if self.render {
            let document = page::render(recorded()?.as_ref(), &kept)?;
            return Ok(fs::write(DOCUMENT, document)?);
        }
        if cfg!(debug_assertions) && self.write {
            return Err("figures are of optimized code: build with `--release`".into());
        }
        let cento = match &self.cento {
            Some(cento) => cento.clone(),
            None => std::env::current_exe()?.with_file_name("cento"),
        };
        if !cento.is_file() {
            let cento = cento.display();
            return Err(format!("{cento} is missing: `cargo build --release --workspace`").into());
        }
        let machine = machine::describe(self.command())?;
        let work = self.work.join("cento-bench");
        if work.exists() {
            fs::remove_dir_all(&work)?;
        }
        fs::create_dir_all(&work)?;
        let measuring = Measuring {
            cento,
            work: work.clone(),
            megabytes: self.megabytes,
            queries: self.queries,
            seconds: self.seconds,
            python: self.python.clone(),
            gigabytes: self.gigabytes.clone(),
            counts: counts()?,
        };
        let run = measuring.run(machine, self.corpus.as_deref())?;
        fs::remove_dir_all(&work)?;
        let figures = serde_json::to_string_pretty(&run)? + "\n";
        if let Some(file) = &self.figures {
            fs::write(file, &figures)?;
        }
        let document = page::render(Some(&run), &kept)?;
        if self.write {
            fs::write(RECORD, figures)?;
            fs::write(DOCUMENT, document)?;
        } else {
            println!("{document}");
        }
        Ok(())
    }

    /// Returns the command line that repeats the run. Files lose their directories, because paths
    /// differ between machines.
    fn command(&self) -> String {
        let name = |path: &Path| {
            path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
        };
        let mut command = String::from("target/release/cento-tools bench --write");
        if let Some(corpus) = &self.corpus {
            command += &format!(" --corpus {}", name(corpus));
        }
        if self.python.is_some() {
            command += " --python PYTHON";
        }
        if !self.gigabytes.is_empty() {
            let sizes: Vec<String> = self.gigabytes.iter().map(usize::to_string).collect();
            command += &format!(" --gigabytes {}", sizes.join(","));
        }
        for (option, value, default) in [
            ("megabytes", self.megabytes, 100),
            ("queries", self.queries, 300),
            ("seconds", self.seconds as usize, 2),
        ] {
            if value != default {
                command += &format!(" --{option} {value}");
            }
        }
        command
    }
}

/// Returns the recorded run, or `None` if no run has been recorded.
fn recorded() -> Result<Option<Run>> {
    match fs::read_to_string(RECORD) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        read => {
            let text = read.map_err(|e| format!("{RECORD}: {e}"))?;
            Ok(Some(serde_json::from_str(&text).map_err(|e| format!("{RECORD}: {e}"))?))
        }
    }
}

fn kept() -> Result<Vec<Kept>> {
    let text = fs::read_to_string(KEPT)
        .map_err(|e| format!("{KEPT}: {e}; run this in the directory of the repository"))?;
    Ok(serde_json::from_str(&text).map_err(|e| format!("{KEPT}: {e}"))?)
}

fn counts() -> Result<Vec<record::Count>> {
    let text = fs::read_to_string(COUNTS).map_err(|e| format!("{COUNTS}: {e}"))?;
    let lines = text.lines().map(|line| {
        let (count, operation) = line.trim_start().split_once("  ").ok_or("not a count")?;
        Ok(record::Count { operation: operation.into(), instructions: count.parse()? })
    });
    lines.collect()
}
