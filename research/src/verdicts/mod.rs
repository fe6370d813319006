//! Compares the conclusions of commands with the texts.
//!
//! Runs `cento dedup`, `pairs` and `cluster` over a corpus and compares their verdicts with the
//! resemblance of the texts, computed here from all runs of tokens. A verdict is wrong if the
//! resemblance is more than .05 below the threshold, and missing if the resemblance is more than
//! .05 above it.

mod runs;
mod tally;
mod truth;

use std::path::PathBuf;
use std::time::Instant;

use cento::index::Config;
use clap::Args;

use crate::Result;
use crate::cento::{Document, documents};
use runs::{Mode, Runner};
use tally::{Counts, FAR, Fault, TOLERANCE, Tally, due_from};
use truth::{SIZE_NAMES, Truth};

/// Judge what `cento dedup`, `pairs` and `cluster` conclude by the texts.
#[derive(Debug, Args)]
pub struct Verdicts {
    /// The documents: JSON lines, or such compressed with zstd. Can be repeated.
    #[arg(long, required = true)]
    corpus: Vec<PathBuf>,
    /// A new directory for indexes and outputs.
    #[arg(long)]
    work: PathBuf,
    /// Path of the cento program to test.
    #[arg(long, value_name = "PATH", default_value = "target/release/cento")]
    cento: PathBuf,
    /// A scheme. Can be repeated.
    #[arg(long, default_value = "winnow(k=5,w=10)")]
    scheme: Vec<String>,
    /// Tokens of a run, the unit that texts are compared by. Default: as in the scheme.
    #[arg(long)]
    k: Option<usize>,
    /// Commands to run. Default: all.
    #[arg(long, value_enum, value_delimiter = ',')]
    mode: Vec<Mode>,
    /// A threshold of resemblance.
    #[arg(long, value_delimiter = ',', default_values_t = [0.5, 0.8, 0.9])]
    threshold: Vec<f64>,
    /// Only the first n documents.
    #[arg(long, default_value_t = usize::MAX)]
    documents: usize,
    /// Number of the strangest verdicts of each run to print.
    #[arg(long, default_value = "0")]
    show: usize,
}

const MODES: [Mode; 9] = [
    Mode::Stream,
    Mode::Index,
    Mode::NoText,
    Mode::Against,
    Mode::Resume,
    Mode::Pairs,
    Mode::PairsNoText,
    Mode::Cluster,
    Mode::ClusterNoText,
];

impl Verdicts {
    pub(crate) fn run(mut self) -> Result {
        std::fs::create_dir_all(&self.work)?;
        self.cento = std::fs::canonicalize(&self.cento)?;
        let mut all = Vec::new();
        for corpus in &self.corpus {
            for document in documents(corpus)? {
                all.push(document?);
            }
        }
        all.truncate(self.documents);
        if self.mode.is_empty() {
            self.mode = MODES.to_vec();
        }
        for scheme in &self.scheme {
            self.judge(scheme, all.clone())?;
        }
        Ok(())
    }

    fn judge(&self, scheme: &str, documents: Vec<Document>) -> Result {
        let started = Instant::now();
        let config = Config::new(scheme, "words", true)?;
        let named = config.scheme.family().parameters.iter().any(|parameter| parameter.name == "k");
        let k = self.k.or_else(|| named.then(|| config.scheme.spec().get("k") as usize));
        let k = k.ok_or("the scheme has no runs of k tokens; name their length with --k")?;
        let least = self.threshold.iter().copied().fold(1.0, f64::min) + TOLERANCE - 0.1;
        let truth = Truth::new(documents, (&config.analyzer, k), least)?;
        let work = self.work.join(scheme);
        std::fs::create_dir_all(&work)?;
        Runner::write_corpus(&work, &truth.documents)?;
        println!(
            "{} documents, `{}` over `{}`, runs of {k} tokens; pairs of at least",
            truth.documents.len(),
            config.scheme,
            config.analyzer,
        );
        for threshold in &self.threshold {
            let pairs = truth.pairs(due_from(*threshold));
            println!("{:.2}: {} {pairs:?}", threshold + TOLERANCE, pairs.iter().sum::<u64>());
        }
        println!("compared in {:.1} s", started.elapsed().as_secs_f64());
        println!();
        println!(
            "In each cell: verdicts that are wrong by more than {TOLERANCE} (of these, by more \
             than {FAR}) / verdicts; missed / due."
        );
        println!();
        println!("| mode | threshold | {} | all | copies | s |", SIZE_NAMES.join(" | "));
        println!("|---|---|{}---|---|---|", "---|".repeat(SIZE_NAMES.len()));
        let runner =
            Runner { cento: &self.cento, scheme, work: &work, documents: truth.documents.len() };
        let mut notes = Vec::new();
        for &mode in &self.mode {
            for &threshold in &self.threshold {
                let run = runner.run(mode, threshold)?;
                let tally = Tally::new(&truth, &run, threshold)?;
                print(mode, threshold, &tally, run.seconds);
                if let Some(note) = run.note {
                    notes.push(format!("{}, {threshold}: {note}", mode.name()));
                }
                self.show(&truth, tally);
            }
        }
        println!("\n{}", notes.join("\n"));
        Ok(())
    }

    /// Prints the verdicts that differ most from the truth.
    fn show(&self, truth: &Truth, mut tally: Tally) {
        tally.wrong.sort_by(|a, b| a.resemblance.total_cmp(&b.resemblance));
        tally.missed.sort_by(|a, b| b.resemblance.total_cmp(&a.resemblance));
        for (what, faults) in [("wrong", tally.wrong), ("missed", tally.missed)] {
            for Fault { pair: (a, b), resemblance } in faults.into_iter().take(self.show) {
                println!("{what}, resemblance {resemblance:.3}:");
                for document in [a, b].map(|at| &truth.documents[at]) {
                    println!(
                        "    {}: {:?}",
                        document.id,
                        document.text.get(..300).unwrap_or(&document.text)
                    );
                }
            }
        }
    }
}

fn print(mode: Mode, threshold: f64, tally: &Tally, seconds: f64) {
    let all = tally.counts.iter().fold(Counts::default(), |all, &counts| all.plus(counts));
    let cells: Vec<String> = tally
        .counts
        .iter()
        .chain([&all])
        .map(|counts| {
            let Counts { given, wrong, far, due, missed } = counts;
            format!("{wrong} ({far}) / {given}; {missed} / {due}")
        })
        .collect();
    let copies = match tally.exact_wrong {
        0 => tally.exact.to_string(),
        wrong => format!("{} WRONG of {}", wrong, tally.exact),
    };
    println!("| {} | {threshold} | {} | {copies} | {seconds:.1} |", mode.name(), cells.join(" | "));
}
