//! Counts false and missing verdicts.

use std::collections::HashSet;

use super::runs::{Run, Verdict};
use super::truth::{BySize, Truth};
use crate::Result;

/// Tolerance around a threshold, within which either verdict is right.
pub const TOLERANCE: f64 = 0.05;

/// Distance below a threshold at which no verdict is allowed, even without texts.
pub const FAR: f64 = 0.3;

/// Margin for rounding: .8 - .05 is not .75.
const ROUNDING: f64 = 1e-9;

/// Returns the least resemblance that must be reported as alike.
pub fn due_from(threshold: f64) -> f64 {
    threshold + TOLERANCE - ROUNDING
}

/// Counts for a class of sizes.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Verdicts of similarity.
    pub given: u64,
    /// False verdicts: the resemblance is below the threshold, by more than the tolerance.
    pub wrong: u64,
    /// False verdicts far below the threshold.
    pub far: u64,
    /// Required verdicts: the resemblance is above the threshold, by more than the tolerance.
    pub due: u64,
    /// Required verdicts that are missing.
    pub missed: u64,
}

impl Counts {
    /// Adds the counts of `other`.
    pub fn plus(self, other: Counts) -> Counts {
        Counts {
            given: self.given + other.given,
            wrong: self.wrong + other.wrong,
            far: self.far + other.far,
            due: self.due + other.due,
            missed: self.missed + other.missed,
        }
    }
}

/// A verdict that is wrong or missing.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    /// Indexes of the two documents.
    pub pair: (usize, usize),
    /// Resemblance of the two documents.
    pub resemblance: f64,
}

/// The counts and faults of a run.
#[derive(Default)]
pub struct Tally {
    /// Counts by the size of the shorter text.
    pub counts: BySize<Counts>,
    /// Verdicts that two texts are exact duplicates.
    pub exact: u64,
    /// Exact duplicates whose texts differ.
    pub exact_wrong: u64,
    /// Pairs with wrong verdicts.
    pub wrong: Vec<Fault>,
    /// Missing verdicts. For `pairs`, only the first are kept.
    pub missed: Vec<Fault>,
}

/// Maximum number of missing pairs to keep.
const SHOWN_MAX: usize = 1000;

impl Tally {
    /// Judges a run.
    ///
    /// For `dedup` and `cluster`, a verdict is missing if a document is kept (or free) although it
    /// resembles an earlier kept document. For `pairs`, a verdict is missing if the pair is not
    /// shown.
    pub fn new(truth: &Truth, run: &Run, threshold: f64) -> Result<Tally> {
        let mut tally = Tally::default();
        let mut dropped: Vec<Option<bool>> = vec![None; truth.documents.len()];
        let mut pairs = HashSet::new();
        for verdict in &run.verdicts {
            match verdict {
                Verdict::Exact(id, of) => {
                    let (id, of) = (truth.number(id)?, truth.number(of)?);
                    tally.exact += 1;
                    let [a, b] = [id, of].map(|at| &truth.documents[at].text);
                    tally.exact_wrong += u64::from(a != b);
                    dropped[id] = Some(true);
                }
                Verdict::Near(id, of) => {
                    let (id, of) = (truth.number(id)?, truth.number(of)?);
                    dropped[id] = Some(false);
                    tally.give(truth, (of, id), threshold);
                }
                Verdict::Pair(a, b) => {
                    let (a, b) = (truth.number(a)?, truth.number(b)?);
                    if pairs.insert((a.min(b), a.max(b))) {
                        tally.give(truth, (a, b), threshold);
                    }
                }
            }
        }
        let least = due_from(threshold);
        match pairs.is_empty() {
            true => tally.miss_documents(truth, &dropped, run.judged_from, least),
            false => tally.miss_pairs(truth, &pairs, least),
        }
        Ok(tally)
    }

    fn give(&mut self, truth: &Truth, pair: (usize, usize), threshold: f64) {
        let resemblance = truth.resemblance(pair.0, pair.1);
        let counts = &mut self.counts[truth.class(pair.0, pair.1)];
        counts.given += 1;
        if resemblance < threshold - TOLERANCE - ROUNDING {
            counts.wrong += 1;
            counts.far += u64::from(resemblance < threshold - FAR - ROUNDING);
            self.wrong.push(Fault { pair, resemblance });
        }
    }

    /// Counts kept documents that resemble an earlier kept document.
    fn miss_documents(&mut self, truth: &Truth, dropped: &[Option<bool>], from: usize, least: f64) {
        let is_kept = |document: usize| document < from || dropped[document].is_none();
        // The first kept document of every group, which is an earlier document for the rest of the
        // group.
        let first = |group: usize| {
            truth.groups[group].members.iter().copied().find(|&member| is_kept(member))
        };
        let first: Vec<Option<usize>> = (0..truth.groups.len()).map(first).collect();
        for (document, verdict) in dropped.iter().enumerate().skip(from) {
            // Copies need no comparison.
            if *verdict == Some(true) || !truth.has_runs(document) {
                continue;
            }
            let group = truth.group_of[document];
            let alike = truth.alike[group].iter().filter(|alike| alike.1 >= least);
            let alike = alike.map(|&(other, resemblance)| (other as usize, resemblance));
            let earlier = alike.chain([(group, 1.0)]).filter_map(|(other, resemblance)| {
                let other = first[other].filter(|&other| other < document)?;
                Some(Fault { pair: (other, document), resemblance })
            });
            let best = earlier.max_by(|a, b| {
                a.resemblance.total_cmp(&b.resemblance).then(b.pair.0.cmp(&a.pair.0))
            });
            let Some(fault) = best else { continue };
            let counts = &mut self.counts[truth.class(fault.pair.0, document)];
            counts.due += 1;
            if verdict.is_none() {
                counts.missed += 1;
                self.missed.push(fault);
            }
        }
    }

    /// Counts pairs that are not shown.
    fn miss_pairs(&mut self, truth: &Truth, shown: &HashSet<(usize, usize)>, least: f64) {
        for (counts, due) in self.counts.iter_mut().zip(truth.pairs(least)) {
            (counts.due, counts.missed) = (due, due);
        }
        for &(a, b) in shown {
            let has_runs = truth.has_runs(a) && truth.has_runs(b);
            if has_runs && truth.resemblance(a, b) >= least {
                self.counts[truth.class(a, b)].missed -= 1;
            }
        }
        if self.counts.iter().all(|counts| counts.missed == 0) {
            return;
        }
        truth.for_each_pair(least, &mut |a, b| {
            if !shown.contains(&(a, b)) {
                let resemblance = truth.resemblance(a, b);
                self.missed.push(Fault { pair: (a, b), resemblance });
            }
            self.missed.len() < SHOWN_MAX
        });
    }
}

#[cfg(test)]
mod tests {
    use cento::text::Analyzer;

    use super::*;
    use crate::cento::Document;

    /// Resemblances by runs of three words: `a` and `b` .5, `a` and `c` 1, all further pairs 0.
    fn truth() -> Truth {
        let texts =
            [("a", "v w x y z"), ("b", "v w x y a"), ("c", "V w x y z!"), ("d", "p q r s t")];
        let texts = texts.map(|(id, text)| Document { id: id.into(), text: text.into() });
        Truth::new(texts.to_vec(), (&Analyzer::default(), 3), 0.1).expect("texts")
    }

    fn check(verdicts: Vec<Verdict>, threshold: f64) -> [u64; 5] {
        let run = Run { verdicts, judged_from: 0, seconds: 0.0, note: None };
        let tally = Tally::new(&truth(), &run, threshold).expect("known ids");
        let Counts { given, wrong, far, due, missed } = tally.counts[0];
        [given, wrong, far, due, missed]
    }

    fn near(id: &str, of: &str) -> Verdict {
        Verdict::Near(id.into(), of.into())
    }

    #[test]
    fn a_drop_is_judged_by_the_document_that_it_is_dropped_for() {
        assert_eq!(check(vec![near("c", "a"), near("d", "a")], 0.8), [2, 1, 1, 1, 0]);
        assert_eq!(check(vec![near("c", "a"), near("b", "a")], 0.6), [2, 1, 0, 1, 0]);
        assert_eq!(check(vec![near("c", "a"), near("b", "a")], 0.55), [2, 0, 0, 1, 0]);
        assert_eq!(check(vec![near("c", "a"), near("b", "a")], 0.45), [2, 0, 0, 2, 0]);
    }

    #[test]
    fn a_document_is_missed_if_it_resembles_an_earlier_one_that_is_kept() {
        assert_eq!(check(vec![], 0.8), [0, 0, 0, 1, 1]);
        // The similar document is dropped too.
        assert_eq!(check(vec![near("a", "d")], 0.8), [1, 1, 1, 0, 0]);
    }

    #[test]
    fn a_pair_is_missed_if_it_is_not_shown() {
        let pair = |a: &str, b: &str| Verdict::Pair(a.into(), b.into());
        assert_eq!(check(vec![pair("a", "c")], 0.8), [1, 0, 0, 1, 0]);
        assert_eq!(check(vec![pair("c", "d")], 0.8), [1, 1, 1, 1, 1]);
        // The pairs are a and b, b and c, a and c.
        assert_eq!(check(vec![pair("b", "a"), pair("a", "b")], 0.4), [1, 0, 0, 3, 2]);
    }
}
