//! The least number of fingerprints that two texts share if they are as similar as a threshold
//! requires.
//!
//! A threshold applies to the texts, and candidates are found by fingerprints. The limit for these
//! leaves room for chance, so that the texts decide and not the sample. A short text keeps all of
//! its runs. Beside a long one, which does not, only the fingerprints of the long one are a sample
//! of the shared runs.
//!
//! Without boilerplate the fingerprints left are a sample of the runs left, if every fingerprint of
//! a run of the boilerplate is removed. Where one text has boilerplate and the other lacks it, or
//! has it elsewhere, all runs across its edges differ: it costs common runs and fingerprints as any
//! other edit does, so the same limits apply.

use crate::overlap::{Overlap, least_overlap};
use crate::scheme::Estimator;

/// The relation of shared fingerprints to the runs that two texts share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sampling {
    /// They are a sample of these.
    Runs(Estimator),
    /// They are a sample of those that are no boilerplate, and the texts decide.
    Rest(Estimator),
    /// They are made of other tokens than these, or of segments, and the texts decide.
    Other(Estimator),
    /// They are compared themselves.
    Sketches,
    /// Unknown, except that there may be some.
    Unknown,
}

/// The fingerprints of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// The number of its distinct fingerprints.
    pub fingerprints: u32,
    /// Whether they are all runs of the text, without boilerplate.
    pub is_all: bool,
}

impl Sampling {
    /// Returns the size of a text with this number of fingerprints; `tokens` returns the number of
    /// its tokens, and is called only if it matters.
    pub fn size<E>(
        &self,
        fingerprints: u32,
        tokens: impl FnOnce() -> Result<u32, E>,
    ) -> Result<Size, E> {
        let is_all = match self {
            // A text that keeps all of its runs has no more of them.
            Sampling::Runs(estimator) | Sampling::Rest(estimator) | Sampling::Other(estimator)
                if estimator.may_keep_all(fingerprints) =>
            {
                estimator.keeps_all(tokens()?)
            }
            _ => false,
        };
        Ok(Size { fingerprints, is_all })
    }

    /// Returns the least number, at least 1, of fingerprints that a text of this size shares with
    /// any other if at least this share of its runs is shared.
    pub fn least_shared(&self, share: f64, own: Size) -> u32 {
        match self {
            Sampling::Unknown => 1,
            Sampling::Sketches => least_overlap(share, own.fingerprints),
            Sampling::Runs(estimator) | Sampling::Rest(estimator) | Sampling::Other(estimator) => {
                match estimator.samples() {
                    false => least_overlap(share, own.fingerprints),
                    // The other may be a long text with few of them.
                    true if own.is_all => 1,
                    true => estimator.least_shared(share, own.fingerprints),
                }
            }
        }
    }

    /// Tells whether at least this share of the runs of the first text may be in the second.
    pub fn may_contain_a(&self, share: f64, overlap: Overlap, [a, b]: [bool; 2]) -> bool {
        match self {
            Sampling::Unknown => true,
            Sampling::Runs(estimator) | Sampling::Rest(estimator)
                if !(a && b) || estimator.has_tokens() =>
            {
                a || overlap.shared >= estimator.least_shared(share, overlap.in_a)
            }
            // The fingerprints of two short texts are no more their runs than those of long ones.
            Sampling::Other(estimator) => {
                a && !b || overlap.shared >= estimator.least_shared(share, overlap.in_a)
            }
            _ => overlap.containment() >= share,
        }
    }

    /// Tells whether either text may have at least this share of the other.
    pub fn may_contain_either(&self, share: f64, overlap: Overlap, [a, b]: [bool; 2]) -> bool {
        self.may_contain_a(share, overlap, [a, b])
            || self.may_contain_a(share, overlap.swapped(), [b, a])
    }

    /// Tells whether the resemblance of the texts may be at least this.
    pub fn may_resemble(&self, least: f64, overlap: Overlap, all: [bool; 2]) -> bool {
        let Overlap { shared, in_a, in_b } = overlap;
        match self {
            Sampling::Unknown => true,
            // Tokens that both have are no evidence for runs or against them.
            Sampling::Runs(estimator) if estimator.has_tokens() && all == [true, true] => true,
            Sampling::Runs(_) | Sampling::Rest(_) if all == [true, true] => {
                overlap.resemblance() >= least
            }
            Sampling::Sketches => overlap.resemblance() >= least,
            Sampling::Runs(estimator) | Sampling::Rest(estimator) | Sampling::Other(estimator) => {
                // The share of common runs among all runs of both is at most their share of those
                // of either.
                let of = match all {
                    [true, false] => in_b,
                    [false, true] => in_a,
                    _ => in_a + in_b - shared,
                };
                shared >= estimator.least_shared(least, of)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::hash::mix64;
    use crate::overlap::Overlap;
    use crate::runtime::Stop;
    use crate::scheme::{self, distinct_keys};

    /// Returns texts of 5 to 300 tokens, some of them replaced.
    fn revised(seed: u64) -> [Vec<u64>; 2] {
        let len = 5 + mix64(seed) % if seed.is_multiple_of(2) { 50 } else { 300 };
        let edits = 3 + mix64(seed ^ 1 << 40) % 60;
        let word = |i: u64| mix64(seed << 20 ^ i);
        let text = (0..len).map(word);
        let other = (0..len + mix64(seed ^ 7 << 40) % 4).map(|i| match word(i) % edits {
            0 => mix64(word(i) ^ 1),
            _ => word(i),
        });
        [text.collect(), other.collect()]
    }

    /// Passages that texts repeat, shorter and longer than those that keep all of their runs.
    fn passages() -> Vec<Vec<u64>> {
        let passage = |(at, len): (u64, u64)| (0..len).map(|i| mix64(at << 50 ^ i)).collect();
        [(1, 6), (2, 12), (3, 45), (4, 200)].map(passage).to_vec()
    }

    /// Inserts passages into both texts, mostly the same ones, or parts of them.
    fn with_passages(seed: u64, texts: [Vec<u64>; 2]) -> [Vec<u64>; 2] {
        let passages = passages();
        let mut number = 0;
        texts.map(|text| {
            number += 1;
            let mut all = Vec::new();
            for (at, word) in (0u64..).zip(text) {
                let chunk = at / 3;
                let drawn = mix64(seed << 30 ^ chunk);
                // One in ten is in one of the texts only, or as another passage.
                let own = mix64(drawn ^ number);
                let chosen = if drawn >> 40 & 15 == 0 { own } else { drawn };
                if at % 3 == 0 && drawn.is_multiple_of(20) && chosen >> 8 & 7 > 0 {
                    let passage = &passages[(chosen >> 16) as usize % passages.len()];
                    let start = (chosen >> 24) as usize % passage.len() / 2;
                    all.extend_from_slice(&passage[start..]);
                }
                all.push(word);
            }
            all
        })
    }

    /// Asserts that nearly no pair is lost that meets a threshold without the runs of `left_out`.
    fn assert_nearly_none_is_lost(
        (spec, k): (&str, u32),
        left_out: &[Vec<u64>],
        texts: impl Fn(u64) -> [Vec<u64>; 2],
    ) {
        let scheme = scheme::parse(spec).unwrap();
        let whole = scheme::parse(&format!("kgram(k={k})")).unwrap();
        let estimator = scheme.estimator().unwrap();
        let sampling = match left_out.is_empty() {
            true => Sampling::Runs(estimator),
            false => Sampling::Rest(estimator),
        };
        let keys_of = |scheme: &scheme::Scheme, text: &[u64]| {
            let mut signature = Vec::new();
            scheme.sign(text, &mut signature, Stop::NEVER).unwrap();
            distinct_keys(&signature)
        };
        let ignored: HashSet<u64> =
            left_out.iter().flat_map(|passage| keys_of(&whole, passage)).collect();
        let (mut pairs, mut lost, mut without) = (0, 0, 0);
        for seed in 0..4000 {
            let texts = texts(seed);
            let keys = |scheme: &scheme::Scheme| {
                texts.each_ref().map(|text| {
                    let mut keys = keys_of(scheme, text);
                    keys.retain(|key| !ignored.contains(key));
                    keys
                })
            };
            let [a, b] = keys(&whole);
            let truth = Overlap::of(&a, &b);
            let [a, b] = keys(&scheme);
            let overlap = Overlap::of(&a, &b);
            let all = texts.each_ref().map(|text| estimator.keeps_all(text.len() as u32));
            let [own, other] = [(overlap.in_a, all[0]), (overlap.in_b, all[1])]
                .map(|(fingerprints, is_all)| Size { fingerprints, is_all });
            for least in [0.5, 0.8, 0.9] {
                if truth.resemblance() < least {
                    continue;
                }
                // Without boilerplate a text may have no fingerprint left, and then nothing
                // brings up its pairs, whatever the limits are.
                if !left_out.is_empty() && overlap.shared == 0 {
                    without += 1;
                    continue;
                }
                pairs += 1;
                let is_found = overlap.shared >= sampling.least_shared(least, own)
                    && overlap.shared >= sampling.least_shared(least, other)
                    && sampling.may_resemble(least, overlap, all)
                    && sampling.may_contain_either(least, overlap, all);
                lost += usize::from(!is_found);
            }
        }
        assert!(pairs > 2000 && lost * 250 <= pairs, "{spec}: {lost} of {pairs}");
        assert!(without * 200 <= pairs, "{spec}: {without} of {pairs}");
    }

    #[test]
    fn nearly_no_pair_that_meets_a_threshold_is_lost_by_its_fingerprints() {
        for scheme in [
            ("winnow(k=5,w=10)", 5),
            ("winnow(k=2,w=4)", 2),
            ("mod(k=3,p=3)", 3),
            ("pairs(n=40)", 2),
        ] {
            assert_nearly_none_is_lost(scheme, &[], revised);
        }
    }

    #[test]
    fn nearly_no_pair_that_meets_a_threshold_without_boilerplate_is_lost() {
        for scheme in [
            ("winnow(k=5,w=10)", 5),
            ("winnow(k=2,w=4)", 2),
            ("winnow(k=8,w=8)", 8),
            ("mod(k=3,p=3)", 3),
            ("kgram(k=4)", 4),
        ] {
            let texts = |seed| with_passages(seed, revised(seed));
            assert_nearly_none_is_lost(scheme, &passages(), texts);
        }
    }
}
