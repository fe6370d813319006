//! Sun, Qin and Wang 2013: how stable is winnowing?

use std::fmt::Write as _;

use clap::Args;
use fastrand::Rng;

use crate::Result;

/// Table 1 by simulation.
#[derive(Debug, Args)]
pub struct Sun {
    /// Windows that are drawn for each number.
    #[arg(long, default_value = "100000")]
    windows: usize,
    /// The seed.
    #[arg(long, default_value = "1")]
    seed: u64,
}

/// q, w, and the paper's averages for m = 1 to 4 changed characters, in hundredths.
const TABLE_1: [(usize, usize, [f64; 4]); 2] =
    [(50, 100, [52.25, 25.70, 12.51, 6.11]), (4, 146, [94.77, 89.82, 85.12, 80.67])];

impl Sun {
    pub(super) fn run(self) -> Result<String> {
        let mut rng = Rng::with_seed(self.seed);
        let mut out = String::from(
            "## Sun et al. 2013: stability\n\nTable 1: the probability, in hundredths, that the signature of a window stays the same when m of its characters \
             are changed. Worst case: (w - m q) / (w + m q), and the simulation with changes that touch m q of the w q-grams. Average: theirs, and the \
             simulation with changes anywhere.\n\n| q | w | m | worst case: formula | simulated | average: theirs | simulated |\n|---|---|---|---|---|---|---|\n",
        );
        for (q, w, theirs) in TABLE_1 {
            for (m, theirs) in (1..).zip(theirs) {
                let touched = m * q;
                let formula = (w as f64 - touched as f64).max(0.0) / (w + touched) as f64;
                let worst = self.share(&mut rng, w, |_, changed| {
                    changed.iter_mut().take(touched).for_each(|gram| *gram = true);
                });
                let average = self.share(&mut rng, w, |rng, changed| {
                    // A character stands in the q-grams that begin at it or up to q - 1 before.
                    let mut places: Vec<usize> = (0..w + q - 1).collect();
                    rng.shuffle(&mut places);
                    for place in &places[..m] {
                        let from = (place + 1).saturating_sub(q);
                        changed[from..w.min(place + 1)].fill(true);
                    }
                });
                writeln!(
                    out,
                    "| {q} | {w} | {m} | {:.2} | {:.2} | {theirs:.2} | {:.2} |",
                    100.0 * formula,
                    100.0 * worst,
                    100.0 * average
                )?;
            }
        }
        out.push('\n');
        Ok(out)
    }

    /// How often the least of `w` random values is the least when those are drawn anew that
    /// `change` marks.
    fn share(&self, rng: &mut Rng, w: usize, change: impl Fn(&mut Rng, &mut [bool])) -> f64 {
        let mut same = 0;
        for _ in 0..self.windows {
            let values: Vec<u64> = (0..w).map(|_| rng.u64(..)).collect();
            let mut changed = vec![false; w];
            change(rng, &mut changed);
            let new: Vec<u64> = values
                .iter()
                .zip(&changed)
                .map(|(&value, &changed)| if changed { rng.u64(..) } else { value })
                .collect();
            same += usize::from(values.iter().min() == new.iter().min());
        }
        same as f64 / self.windows as f64
    }
}
