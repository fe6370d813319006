//! Estimates of the similarity of texts from their fingerprints.
//!
//! The estimates are the resemblance and the containments of the sets of runs of two texts, where a
//! run has the k tokens of the scheme. The quotient of shared and all fingerprints is a bad
//! estimate for a scheme that selects by neighborhood: near an edit the neighbors differ, so a run
//! that both texts have may be selected in only one of them. Winnowing loses the better part of a
//! fingerprint at every passage, so its quotients are too low throughout (Belbasi et al. 2022, "The
//! minimizer Jaccard estimator is biased and inconsistent", sections 3 and 4). The bias depends on
//! the number of passages, which a quotient does not reflect.
//!
//! Positions do reflect the number of passages. In either text, everything between two neighboring
//! shared fingerprints counts as shared, and nothing between two fingerprints that are not shared.
//! Between a shared fingerprint and one that is not shared, the share [`Estimator::edge`] counts.
//! The edge is 1/2 if selection depends on the run alone: fingerprints are then random points, and
//! linear interpolation between them has the right mean. For winnowing the edge is larger, because
//! the lost fingerprints are always near an edit: `1 - w^(-e) / 2` with `e = (27 - k) / 128`, k
//! from 3 to 10. The formula was fitted to two sources. In simulated texts the edge hardly depends
//! on the lengths of passages (15 to 300 words) and edits (1 to 60). The second source are
//! revisions of Python's enhancement proposals. For k = 5:
//!
//! | window | 4 | 10 | 20 | 50 |
//! |---|---|---|---|---|
//! | simulated texts | 0.61 | 0.65 | 0.70 | 0.74 |
//! | revised proposals | 0.61 | 0.67 | 0.71 | 0.73 |
//!
//! The form of the estimate, the weight for `mod` and `EDGE_VARIANCE` were also chosen with a view
//! to the Rust book and RFCs. Licenses took no part in any choice. research/RESULTS.md has all
//! errors.
//!
//! A short text keeps all of its runs ([`Estimator::keeps_all`]). The fingerprints of two short
//! texts are the runs, so their similarity is exact. Beside a long text, every fingerprint of the
//! long text is known to be in the short text or not, so the positions in the long text alone
//! determine the shared share.
//!
//! A scheme can keep other fingerprints than runs of a short text ([`Estimator::of_pairs`]), and
//! the similarity ignores these. Their keys differ from the keys of runs, so figures from two
//! signatures are exact. Figures from the numbers of fingerprints alone are estimates.
//!
//! The odds of an estimate are at most [`Estimator::odds_max`] times the odds of the fingerprints.
//! A threshold of similarity therefore implies a threshold of fingerprints
//! ([`Estimator::least_shared`]), which prunes candidates.

use super::ngram::is_of_pair;
use crate::overlap::{Overlap, least_overlap};
use crate::scheme::Fingerprint;
use crate::similarity::Similarity;

/// The variance that the edges of passages add to the shared part, as a share of the squared gap
/// around an edge. A uniform position in the gap would give 1/12. Passages and edits without any
/// fingerprint account for the difference.
const EDGE_VARIANCE: f64 = 1.0 / 8.0;

/// The edge where edits are close together: a lost fingerprint per gap beside a shared fingerprint.
const CLOSE_EDITS_EDGE: f64 = 2.0;

/// How far the shared fingerprints of a candidate may fall below the expected number, in standard
/// deviations.
const SPREADS: f64 = 2.5;

/// The ratio of the odds of runs to the odds of segments, beyond the ratio of their lengths. A
/// changed token changes as many runs as a run has tokens, but only one segment, or two if the
/// token ends a segment. Different edits may also fall into different segments.
const SEGMENT_ODDS: f64 = 2.0;

/// The maximum ratio of the odds of runs of all words to the odds of runs of the tokens that an
/// analyzer keeps. If the analyzer keeps a third of the words and every edit changes a kept word,
/// an edit changes 5 runs of all words, and also 5 runs of kept words, which are a third in number.
const OTHER_TOKENS_ODDS: f64 = 3.0;

/// The relation of a scheme's fingerprints to the similarity of texts.
///
/// ```
/// // `kgram` keeps all runs, so counts are exact. Winnowing keeps a sample.
/// use cento_text::scheme::parse;
///
/// let estimator = |spec| parse(spec).map(|scheme| scheme.estimator().unwrap());
/// assert!(!estimator("kgram(k=5)")?.samples());
/// assert!(estimator("winnow(k=5,w=10)")?.samples());
/// # Ok::<(), cento_text::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimator {
    run_tokens: u32,
    /// How much of the text between a shared and an unshared fingerprint counts as shared.
    edge: f64,
    /// The weight of the estimate by positions. The estimate by counts has the remaining weight.
    weight: f64,
    /// The maximum ratio of the odds of an estimate to the odds of the fingerprints.
    odds_max: f64,
    /// The mean ratio of the odds of an estimate to the odds of the fingerprints.
    odds: f64,
    all_runs_max: u32,
    /// Whether every text keeps all runs, and a short text its single tokens too.
    has_tokens: bool,
}

/// The signature of a text, with its distinct keys.
#[derive(Debug, Clone, Copy)]
pub struct KeyedSignature<'a> {
    /// The number of tokens of the text.
    pub tokens: u32,
    /// The fingerprints of the text.
    pub fingerprints: &'a [Fingerprint],
    /// The distinct keys of the fingerprints, ascending.
    pub keys: &'a [u64],
}

/// The parts of a text that its shared fingerprints cover, and the uncovered parts between.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coverage {
    runs: f64,
    /// Whether the fingerprints are all runs of the text.
    is_all: bool,
    /// The number of fingerprints, repeated ones included.
    selected: f64,
    /// The number of shared fingerprints, repeated ones included.
    shared: f64,
    /// The number of runs between shared neighbors, or between a shared fingerprint and an end.
    inside: f64,
    /// The number of runs between a shared fingerprint and one that is not shared.
    between: f64,
    /// The sum of the squares of the gaps in `between`.
    squares: f64,
}

impl Coverage {
    /// Computes the coverage of a text of `tokens` tokens. The fingerprints are ordered by
    /// position, each with whether the other text shares it.
    fn new(
        estimator: &Estimator,
        tokens: u32,
        fingerprints: impl IntoIterator<Item = (u32, bool)>,
    ) -> Coverage {
        let mut coverage = Coverage {
            runs: f64::from(estimator.runs(tokens)),
            is_all: estimator.keeps_all(tokens),
            selected: 0.0,
            shared: 0.0,
            inside: 0.0,
            between: 0.0,
            squares: 0.0,
        };
        let runs = coverage.runs;
        // A run covers the place from half a token before its position to half a token after.
        let (mut at, mut is_shared) = (-0.5, None);
        for (position, shares) in fingerprints {
            let position = f64::from(position).min(runs - 1.0);
            let gap = (position - at).max(0.0);
            coverage.add(gap, is_shared.unwrap_or(shares), shares);
            coverage.selected += 1.0;
            coverage.shared += f64::from(u8::from(shares));
            (at, is_shared) = (position, Some(shares));
        }
        let last = is_shared.unwrap_or(false);
        coverage.add((runs - 0.5 - at).max(0.0), last, last);
        coverage
    }

    fn add(&mut self, gap: f64, from: bool, to: bool) {
        match (from, to) {
            (true, true) => self.inside += gap,
            (false, false) => {}
            _ => (self.between, self.squares) = (self.between + gap, self.squares + gap * gap),
        }
    }

    /// Returns the number of distinct runs of a text with this number of distinct fingerprints.
    fn distinct(&self, fingerprints: u32) -> f64 {
        if self.is_all {
            return f64::from(fingerprints);
        }
        self.runs * f64::from(fingerprints) / self.selected.max(1.0)
    }

    /// Returns the number of distinct common runs of two texts with `shared` distinct common
    /// fingerprints.
    fn in_common(&self, edge: f64, shared: u32) -> f64 {
        let runs = self.inside + edge * self.between;
        runs * f64::from(shared) / self.shared.max(1.0)
    }

    /// Returns the variance of [`in_common`](Self::in_common). An edit that touches no fingerprint
    /// may be anywhere, hence the second term.
    fn variance(&self) -> f64 {
        let gap = self.runs / self.selected.max(1.0);
        EDGE_VARIANCE * (self.squares + gap * gap)
    }
}

impl Estimator {
    /// Returns the estimator of a scheme that keeps every run, with exact figures.
    pub const fn exact(run_tokens: u32) -> Estimator {
        let (edge, weight, odds, odds_max) = (0.5, 0.0, 1.0, 1.0);
        Estimator {
            run_tokens,
            edge,
            weight,
            odds_max,
            odds,
            all_runs_max: u32::MAX,
            has_tokens: false,
        }
    }

    /// Returns the estimator of a scheme that keeps all pairs, and also the single tokens of a text
    /// of at most `short` tokens.
    pub const fn of_pairs(short: u32) -> Estimator {
        Estimator { all_runs_max: short.saturating_sub(1), has_tokens: true, ..Estimator::exact(2) }
    }

    /// Returns the estimator of a scheme that keeps one run in `p`, whatever its neighbors are.
    ///
    /// Counts have no bias here, and the errors of counts are partly independent of the errors of
    /// interpolation. The mean of the two estimates therefore has a smaller error than either.
    pub(crate) fn of_values(run_tokens: u32, p: u32) -> Estimator {
        match p {
            1 => Estimator::exact(run_tokens),
            _ => Estimator {
                run_tokens,
                edge: 0.5,
                weight: 0.5,
                odds_max: odds_max(2.0 * f64::from(p) - 1.0),
                odds: 1.0,
                all_runs_max: 1,
                has_tokens: false,
            },
        }
    }

    /// Returns the estimator of winnowing with windows of `w` runs. A text of at most
    /// `all_runs_max` runs keeps all runs.
    pub(crate) fn of_windows(run_tokens: u32, w: u32, all_runs_max: u32) -> Estimator {
        if w == 1 {
            return Estimator::exact(run_tokens);
        }
        // The exponent is a number of 128ths. Multiplications and square roots compute the power,
        // because they give the same result on every machine.
        let exponent = 24 - (run_tokens.clamp(3, 10) - 3);
        let w = f64::from(w);
        let mut power = (0..exponent).fold(1.0, |power, _| power * w);
        for _ in 0..7 {
            power = power.sqrt();
        }
        Estimator {
            run_tokens,
            edge: 1.0 - 0.5 / power,
            weight: 1.0,
            odds_max: odds_max(w),
            odds: 1.0 + w.sqrt() / 10.0,
            all_runs_max,
            has_tokens: false,
        }
    }

    /// Returns the relation of segments, as fingerprints, to runs of `run_tokens` tokens. It
    /// estimates nothing, but bounds how few segments similar texts may share.
    pub fn of_segments(run_tokens: u32, segment_tokens: u32) -> Estimator {
        let ratio = f64::from(segment_tokens + 1) / f64::from(run_tokens);
        let odds_max = SEGMENT_ODDS * ratio.max(1.0);
        Estimator { odds_max, all_runs_max: 0, ..Estimator::exact(run_tokens) }
    }

    /// Returns the relation of the fingerprints to runs of other tokens. It estimates nothing, but
    /// bounds how few fingerprints texts with similar runs may share.
    pub fn of_other_tokens(self) -> Estimator {
        Estimator { odds_max: self.odds_max * OTHER_TOKENS_ODDS, ..self }
    }

    /// Returns the estimator for texts whose edits are closer to each other than windows are wide.
    ///
    /// Nearly every window then contains an edit, and many passages lose all of their fingerprints,
    /// whereas [`edge`](Self::edge) assumes that a passage loses the better part of one. The test:
    /// texts of 100 to 400 words with a changed word in every 6 to 12, and a threshold a hundredth
    /// below the truth. With a margin of three standard errors, the usual estimator loses 50 of 504
    /// pairs, this estimator 6.
    pub fn of_close_edits(self) -> Estimator {
        Estimator { edge: CLOSE_EDITS_EDGE, ..self }
    }

    /// Returns the number of runs of a text of this many tokens, repeated runs included, at least
    /// 1.
    fn runs(&self, tokens: u32) -> u32 {
        tokens.saturating_sub(self.run_tokens).saturating_add(1)
    }

    /// Tells whether all runs of a text of this many tokens are fingerprints.
    #[must_use]
    pub fn keeps_all(&self, tokens: u32) -> bool {
        self.runs(tokens) <= self.all_runs_max
    }

    /// Cuts a text into parts that keep every run. A run of the text is in exactly one part.
    pub fn parts_keeping_all<'a>(
        &self,
        hashes: &'a [u64],
    ) -> impl Iterator<Item = &'a [u64]> + use<'a> {
        let (runs, k) = (self.runs(hashes.len() as u32) as usize, self.run_tokens());
        let of_part = (self.all_runs_max as usize).clamp(1, runs);
        let part = move |first: usize| &hashes[first..hashes.len().min(first + of_part + k - 1)];
        (0..runs).step_by(of_part).map(part)
    }

    /// Tells whether a text with this number of distinct fingerprints may keep all of its runs.
    pub fn may_keep_all(&self, fingerprints: u32) -> bool {
        let of_runs = self.all_runs_max;
        fingerprints <= if self.has_tokens { 2 * of_runs + 2 } else { of_runs }
    }

    /// Returns the number of tokens of a run.
    pub fn run_tokens(&self) -> usize {
        self.run_tokens as usize
    }

    /// Tells whether short texts have fingerprints that represent no run.
    pub fn has_tokens(&self) -> bool {
        self.has_tokens
    }

    /// Tells whether the fingerprint with this key represents a run.
    pub fn is_of_run(&self, key: u64) -> bool {
        !self.has_tokens || is_of_pair(key)
    }

    /// Tells whether the fingerprints of some texts are not all of their runs.
    pub fn samples(&self) -> bool {
        self.odds_max > 1.0 || self.has_tokens
    }

    /// Returns how much of the text between a shared and an unshared fingerprint counts as shared,
    /// from 1/2 on.
    #[must_use]
    pub fn edge(&self) -> f64 {
        self.edge
    }

    /// Returns the maximum ratio, at least 1, of the odds of an estimate to the odds of the
    /// fingerprints' similarity.
    #[must_use]
    pub fn odds_max(&self) -> f64 {
        self.odds_max
    }

    /// Returns the maximum estimate for this similarity of fingerprints. The maximum rises with the
    /// similarity, from 0 to 1.
    #[must_use]
    pub fn greatest(&self, similarity: f64) -> f64 {
        self.odds_max * similarity / (1.0 + (self.odds_max - 1.0) * similarity)
    }

    /// Returns the minimum number of shared fingerprints, at least 1, of a text with `fingerprints`
    /// if at least this share of its runs is shared.
    ///
    /// By chance a text falls short of the minimum once in some thousand times: the shared
    /// fingerprints are a sample, and near an edit neighbors differ. If only one text keeps every
    /// run, the fingerprints of the second text are the sample.
    #[must_use]
    pub fn least_shared(&self, share: f64, fingerprints: u32) -> u32 {
        if self.odds_max == 1.0 {
            return least_overlap(share, fingerprints);
        }
        let n = f64::from(fingerprints);
        let expected = n * self.least(share);
        let spread = (expected * (1.0 - self.least(share)).max(0.0)).sqrt();
        let least = expected - SPREADS * spread - 2.0;
        (least as u32).max(1)
    }

    /// Returns the minimum similarity of fingerprints that allows this estimate, or a little less:
    /// the inverse of [`greatest`](Self::greatest).
    #[must_use]
    pub fn least(&self, estimate: f64) -> f64 {
        let least = estimate / (self.odds_max - (self.odds_max - 1.0) * estimate);
        // Rounding must not exclude values exactly at the threshold.
        if self.odds_max > 1.0 { least * (1.0 - 1e-12) } else { least }
    }

    /// Returns the coverage of a text of `tokens` tokens. The fingerprints are ordered by position,
    /// each with whether the other text shares it.
    pub(crate) fn coverage(
        &self,
        tokens: u32,
        fingerprints: impl IntoIterator<Item = (u32, bool)>,
    ) -> Coverage {
        Coverage::new(self, tokens, fingerprints)
    }

    /// Returns the coverage of a text with `selected` fingerprints, computed from the shared
    /// fingerprints alone. `shared` are their indexes among all fingerprints, ascending. `gap`
    /// returns the distance of a fingerprint from its predecessor, or from 0, and `last_position`
    /// the position of the last one.
    pub fn coverage_of_shared(
        &self,
        tokens: u32,
        selected: usize,
        shared: &[u32],
        gap: impl Fn(usize) -> u32,
        last_position: impl Fn() -> u64,
    ) -> Coverage {
        let mut coverage = Coverage::new(self, tokens, []);
        coverage.selected = selected as f64;
        coverage.shared = shared.len() as f64;
        for (i, &place) in shared.iter().enumerate() {
            let place = place as usize;
            let follows = i > 0 && shared[i - 1] as usize + 1 == place;
            match place {
                0 => coverage.add(f64::from(gap(0)) + 0.5, true, true),
                _ => coverage.add(f64::from(gap(place)), follows, true),
            }
            let next = place + 1;
            if next == selected {
                let end = coverage.runs - 0.5 - last_position() as f64;
                coverage.add(end.max(0.0), true, true);
            } else if shared.get(i + 1).is_none_or(|&after| after as usize != next) {
                coverage.add(f64::from(gap(next)), true, false);
            }
        }
        coverage
    }

    /// Estimates the similarity of two texts with this overlap.
    #[must_use]
    pub fn compare(
        &self,
        overlap: Overlap,
        a: KeyedSignature<'_>,
        b: KeyedSignature<'_>,
    ) -> Similarity {
        if self.has_tokens {
            let runs = |keys: &[u64]| -> Vec<u64> {
                keys.iter().copied().filter(|&key| self.is_of_run(key)).collect()
            };
            return Similarity::exact(Overlap::of(&runs(a.keys), &runs(b.keys)));
        }
        let coverage = |of: KeyedSignature<'_>, other: KeyedSignature<'_>| {
            let is_shared =
                |f: &Fingerprint| (f.position, other.keys.binary_search(&f.key).is_ok());
            self.coverage(of.tokens, of.fingerprints.iter().map(is_shared))
        };
        self.estimate(overlap, &coverage(a, b), &coverage(b, a))
    }

    /// Estimates the similarity of two texts from their overlap and their coverages.
    pub fn estimate(&self, overlap: Overlap, a: &Coverage, b: &Coverage) -> Similarity {
        let (in_a, in_b) = (a.distinct(overlap.in_a), b.distinct(overlap.in_b));
        let of = |coverage: &Coverage| coverage.in_common(self.edge, overlap.shared);
        let (shared, variance) = match (a.is_all, b.is_all) {
            (true, true) => return Similarity::exact(overlap),
            (true, false) => (of(b), 2.0 * b.variance()),
            (false, true) => (of(a), 2.0 * a.variance()),
            (false, false) => ((of(a) + of(b)) / 2.0, a.variance() + b.variance()),
        };
        let shared = shared.min(in_a.min(in_b));
        // Counts say nothing if exactly one of the texts keeps all runs.
        let is_sample = !a.is_all && !b.is_all;
        let mix = |interpolated: f64, counted: f64| match is_sample {
            true => {
                let mixed = self.weight * interpolated + (1.0 - self.weight) * counted;
                mixed.clamp(0.0, self.greatest(counted))
            }
            false => interpolated.clamp(0.0, 1.0),
        };
        let share = |of: f64| if of > 0.0 { shared / of } else { 0.0 };
        let resemblance = mix(share(in_a + in_b - shared), overlap.resemblance());
        Similarity::estimated(
            resemblance,
            mix(share(in_a), overlap.containment()),
            mix(share(in_b), overlap.swapped().containment()),
            error_of(resemblance, in_a + in_b, variance),
        )
    }

    /// Estimates the similarity of two texts of these numbers of tokens from their overlap alone.
    /// Without positions, the error is larger.
    #[must_use]
    pub fn of_counts(&self, overlap: Overlap, tokens_a: u32, tokens_b: u32) -> Similarity {
        let (a_is_all, b_is_all) = (self.keeps_all(tokens_a), self.keeps_all(tokens_b));
        if self.has_tokens {
            return of_tokens_and_pairs(overlap, [a_is_all, b_is_all]);
        }
        if a_is_all && b_is_all {
            return Similarity::exact(overlap);
        }
        let raised =
            |similarity: f64| self.odds * similarity / (1.0 + (self.odds - 1.0) * similarity);
        let sampled = |share: f64, of: u32| {
            let n = f64::from(of.max(1));
            share * (1.0 - share) / n + 1.0 / (n * n)
        };
        if a_is_all != b_is_all {
            // A fingerprint of the long text is in the short text, or not.
            let (short, sample, tokens) = match a_is_all {
                true => (overlap.in_a, overlap.in_b, tokens_b),
                false => (overlap.in_b, overlap.in_a, tokens_a),
            };
            let (short, long) = (f64::from(short), f64::from(self.runs(tokens)));
            let share = f64::from(overlap.shared) / f64::from(sample.max(1));
            let shared = (share * long).min(short);
            let resemblance = shared / (short + long - shared).max(1.0);
            let (of_short, of_long) = (shared / short.max(1.0), shared / long);
            let variance = sampled(share, sample) * long * long;
            let error = error_of(resemblance, short + long, variance);
            let similarity = Similarity::estimated(resemblance, of_short, of_long, error);
            return if a_is_all { similarity } else { similarity.swapped() };
        }
        let resemblance = raised(overlap.resemblance());
        let both = overlap.in_a + overlap.in_b - overlap.shared;
        // The bias of counts depends on the number of passages, which counts do not reflect.
        let bias = (self.odds - 1.0) * resemblance * (1.0 - resemblance);
        let error = (sampled(resemblance, both) + bias * bias).sqrt();
        Similarity::estimated(
            resemblance,
            raised(overlap.containment()),
            raised(overlap.swapped().containment()),
            error,
        )
    }
}

/// The standard error of a resemblance of pairs where the numbers of fingerprints include single
/// tokens.
const TOKENS_ERROR: f64 = 0.1;

/// Estimates the similarity of the pairs of two texts. The fingerprints of a short text include its
/// tokens, about as many as its pairs.
fn of_tokens_and_pairs(overlap: Overlap, is_short: [bool; 2]) -> Similarity {
    let half = |count: u32| count.div_ceil(2);
    let Overlap { shared, in_a, in_b } = overlap;
    let [in_a, in_b] = [(in_a, is_short[0]), (in_b, is_short[1])]
        .map(|(count, is_short)| if is_short { half(count) } else { count });
    match is_short {
        [false, false] => Similarity::exact(overlap),
        _ => {
            // A fingerprint in both a long and a short text is a pair.
            let shared = if is_short == [true, true] { half(shared) } else { shared };
            let runs = Overlap { shared: shared.min(in_a).min(in_b), in_a, in_b };
            let Similarity { resemblance, containment_of_a, containment_of_b, .. } =
                Similarity::exact(runs);
            Similarity::estimated(resemblance, containment_of_a, containment_of_b, TOKENS_ERROR)
        }
    }
}

/// Returns the standard error of the resemblance of texts with `runs` runs together: its derivative
/// with respect to the shared runs, times the error of the shared runs.
fn error_of(resemblance: f64, runs: f64, variance: f64) -> f64 {
    let slope = (1.0 + resemblance) * (1.0 + resemblance) / runs.max(1.0);
    slope * variance.sqrt()
}

/// Returns the limit of the odds. The limit is at least twice the mean need, which in revisions is
/// 1.1 at windows of 4, 1.3 at 10, and 1.7 at 50. The lower the limit, the more candidates a
/// threshold prunes.
fn odds_max(w: f64) -> f64 {
    1.0 + w.sqrt() / 4.0
}

#[cfg(test)]
mod tests;
