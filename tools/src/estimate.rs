//! How near is the similarity that fingerprints estimate to the exact one?
//!
//! The truth is the containments and the resemblance of sets of five-word shingles, for pairs of
//! revisions. The estimates are the measures of the default scheme, and those after verification:
//! the measures over both texts, which `search --verify` and `compare --measure` show.

use std::collections::HashMap;
use std::path::PathBuf;

use cento::measure::Measure;
use cento::search::compare_by;
use cento::stop::Stop;
use clap::Args;

use crate::Result;
use crate::cento::documents;
use crate::measure::config;
use crate::truth::{Truth, truths};

/// Compare estimated similarities with exact ones.
#[derive(Debug, Args)]
pub struct Estimate {
    /// The revisions: a JSON lines file.
    #[arg(long)]
    corpus: PathBuf,
    /// Files of exact similarities: tab-separated, with a line of headings.
    #[arg(long, required = true)]
    truth: Vec<PathBuf>,
    /// At most so many pairs of each tenth of similarity.
    #[arg(long, default_value = "200")]
    each: usize,
    /// The seed that chooses them.
    #[arg(long, default_value = "1")]
    seed: u64,
}

/// Errors in a tenth of similarity.
#[derive(Default)]
struct Row {
    pairs: usize,
    /// For each measure, before and after: the sums of absolute and of signed errors.
    sums: [[(f64, f64); 2]; 2],
}

impl Estimate {
    pub(crate) fn run(self) -> Result {
        let mut texts: HashMap<String, String> = HashMap::new();
        for document in documents(&self.corpus)? {
            let document = document?;
            texts.insert(document.id, document.text);
        }
        let mut tenths: Vec<Vec<Truth>> = (0..=10).map(|_| Vec::new()).collect();
        for path in &self.truth {
            for truth in truths(path)? {
                // The last row is that of equal texts.
                tenths[(truth.resemblance * 10.0) as usize].push(truth);
            }
        }
        let mut rng = fastrand::Rng::with_seed(self.seed);
        let winnowed = config(false)?;
        let exact = ["resemblance", "containment"].map(|name| name.parse::<Measure>());
        let [resemblance, containment] = exact;
        let measures = [resemblance?, containment?];
        println!(
            "| resemblance | pairs | error of resemblance | bias | after verification | bias | \
             error of containment | bias | after verification | bias |"
        );
        println!("|---|---|---|---|---|---|---|---|---|---|");
        let mut all = Row::default();
        for (tenth, mut pairs) in tenths.into_iter().enumerate() {
            rng.shuffle(&mut pairs);
            pairs.truncate(self.each);
            let mut row = Row::default();
            for pair in pairs {
                let text = |id: &str| texts.get(id).ok_or_else(|| format!("no document {id}"));
                let (a, b) = (text(&pair.a)?, text(&pair.b)?);
                row.pairs += 1;
                let found = compare_by(&winnowed, a, b, &measures, Stop::NEVER)?;
                let exact = measures.each_ref().map(|measure| found.measures[&measure.to_string()]);
                let estimates =
                    [[found.resemblance, exact[0]], [found.containment_a_in_b, exact[1]]];
                let truths = [pair.resemblance, pair.containment];
                for ((sums, estimates), truth) in row.sums.iter_mut().zip(estimates).zip(truths) {
                    for (sums, estimate) in sums.iter_mut().zip(estimates) {
                        sums.0 += (estimate - truth).abs();
                        sums.1 += estimate - truth;
                    }
                }
            }
            row.print(&format!("{:.1} to {:.1}", tenth as f64 / 10.0, (tenth + 1) as f64 / 10.0));
            all.add(&row);
        }
        all.print("all");
        Ok(())
    }
}

impl Row {
    fn add(&mut self, other: &Row) {
        self.pairs += other.pairs;
        for (sums, others) in self.sums.iter_mut().flatten().zip(other.sums.iter().flatten()) {
            *sums = (sums.0 + others.0, sums.1 + others.1);
        }
    }

    fn print(&self, name: &str) {
        if self.pairs == 0 {
            return;
        }
        let cells = self.sums.iter().flatten().map(|(error, bias)| {
            format!("{:.4} | {:+.4}", error / self.pairs as f64, bias / self.pairs as f64)
        });
        println!("| {name} | {} | {} |", self.pairs, cells.collect::<Vec<_>>().join(" | "));
    }
}
