//! The minimum number of fingerprints that two texts share if they are as similar as a threshold
//! requires.
//!
//! A threshold applies to the texts, but candidates are found by fingerprints. The limits for
//! fingerprints leave room for chance, so that the texts decide and not the sample. A short text
//! keeps all of its runs as fingerprints, a long text only a sample. Between a short and a long
//! text, only the fingerprints of the long text are a sample of the shared runs.
//!
//! If every fingerprint of a run of the boilerplate is removed, the remaining fingerprints are a
//! sample of the remaining runs. Where only one text has boilerplate, or has it elsewhere, all runs
//! across its edges differ. Boilerplate then costs common runs and fingerprints as any edit does,
//! so the same limits apply.

use crate::overlap::{Overlap, least_overlap};
use crate::scheme::Estimator;

/// The relation of shared fingerprints to the shared runs of two texts.
///
/// ```
/// use cento_text::{sampling::{Sampling, Size}, scheme};
///
/// // All runs are fingerprints, so half of ten runs are five fingerprints.
/// let all = Size { fingerprints: 10, is_all: true };
/// let exact = Sampling::Runs(scheme::parse("kgram(k=5)")?.estimator().unwrap());
/// assert_eq!(exact.least_shared(0.5, all), 5);
/// // A sample can miss many of the shared runs, so fewer fingerprints suffice for a candidate.
/// let sample = Sampling::Runs(scheme::parse("winnow(k=5,w=10)")?.estimator().unwrap());
/// let long = Size { fingerprints: 1000, is_all: false };
/// assert!(sample.least_shared(0.5, long) < 500);
/// # Ok::<(), cento_text::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sampling {
    /// The fingerprints are a sample of the runs.
    Runs(Estimator),
    /// The fingerprints are a sample of the runs outside of boilerplate, and the texts decide.
    Rest(Estimator),
    /// The fingerprints are made of other tokens than the runs, or of segments, and the texts
    /// decide.
    Other(Estimator),
    /// The fingerprints are a sketch, and are compared instead of the runs.
    Sketches,
    /// The relation is unknown, except that shared runs may mean shared fingerprints.
    Unknown,
}

/// The number of fingerprints of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// The number of distinct fingerprints.
    pub fingerprints: u32,
    /// Whether the fingerprints are all runs of the text, without boilerplate.
    pub is_all: bool,
}

impl Sampling {
    /// Returns the size of a text with this number of fingerprints. `tokens` returns the number of
    /// tokens of the text, and is called only if that number matters.
    pub fn size<E>(
        &self,
        fingerprints: u32,
        tokens: impl FnOnce() -> Result<u32, E>,
    ) -> Result<Size, E> {
        let is_all = match self {
            // Only a text with few fingerprints can keep every run, so longer texts need no count
            // of tokens.
            Sampling::Runs(estimator) | Sampling::Rest(estimator) | Sampling::Other(estimator)
                if estimator.may_keep_all(fingerprints) =>
            {
                estimator.keeps_all(tokens()?)
            }
            _ => false,
        };
        Ok(Size { fingerprints, is_all })
    }

    /// Returns the minimum number of fingerprints, at least 1, in common with a second text if a
    /// text of size `own` shares at least `share` of its runs.
    pub fn least_shared(&self, share: f64, own: Size) -> u32 {
        match self {
            Sampling::Unknown => 1,
            Sampling::Sketches => least_overlap(share, own.fingerprints),
            Sampling::Runs(estimator) | Sampling::Rest(estimator) | Sampling::Other(estimator) => {
                match estimator.samples() {
                    false => least_overlap(share, own.fingerprints),
                    // The second text may be long, and keep few of the shared runs.
                    true if own.is_all => 1,
                    true => estimator.least_shared(share, own.fingerprints),
                }
            }
        }
    }

    /// Tells whether at least `share` of the runs of text a may be in text b. The two flags tell
    /// whether the fingerprints of a and b are all of their runs.
    pub fn may_contain_a(&self, share: f64, overlap: Overlap, [a, b]: [bool; 2]) -> bool {
        match self {
            Sampling::Unknown => true,
            Sampling::Runs(estimator) | Sampling::Rest(estimator)
                if !(a && b) || estimator.has_tokens() =>
            {
                a || overlap.shared >= estimator.least_shared(share, overlap.in_a)
            }
            // Fingerprints of other tokens are never the runs, however short both texts are.
            Sampling::Other(estimator) => {
                a && !b || overlap.shared >= estimator.least_shared(share, overlap.in_a)
            }
            _ => overlap.containment() >= share,
        }
    }

    /// Tells whether one of the texts may contain at least `share` of its partner.
    pub fn may_contain_either(&self, share: f64, overlap: Overlap, [a, b]: [bool; 2]) -> bool {
        self.may_contain_a(share, overlap, [a, b])
            || self.may_contain_a(share, overlap.swapped(), [b, a])
    }

    /// Tells whether the resemblance of the texts may be at least `least`.
    pub fn may_resemble(&self, least: f64, overlap: Overlap, all: [bool; 2]) -> bool {
        let Overlap { shared, in_a, in_b } = overlap;
        match self {
            Sampling::Unknown => true,
            // Tokens that both texts have prove nothing about their runs.
            Sampling::Runs(estimator) if estimator.has_tokens() && all == [true, true] => true,
            Sampling::Runs(_) | Sampling::Rest(_) if all == [true, true] => {
                overlap.resemblance() >= least
            }
            Sampling::Sketches => overlap.resemblance() >= least,
            Sampling::Runs(estimator) | Sampling::Rest(estimator) | Sampling::Other(estimator) => {
                // The share of common runs among all runs of both texts is at most their share
                // among the runs of either text.
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

    /// Returns two texts of 5 to 300 tokens, the second with some tokens replaced.
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

    /// Passages for texts to repeat. Some passages are so short that a text of the same length
    /// keeps every run.
    fn passages() -> Vec<Vec<u64>> {
        let passage = |(at, len): (u64, u64)| (0..len).map(|i| mix64(at << 50 ^ i)).collect();
        [(1, 6), (2, 12), (3, 45), (4, 200)].map(passage).to_vec()
    }

    /// Inserts passages into both texts, mostly the same passages, or parts of a passage.
    fn with_passages(seed: u64, texts: [Vec<u64>; 2]) -> [Vec<u64>; 2] {
        let passages = passages();
        let mut number = 0;
        texts.map(|text| {
            number += 1;
            let mut all = Vec::new();
            for (at, word) in (0u64..).zip(text) {
                let chunk = at / 3;
                let drawn = mix64(seed << 30 ^ chunk);
                // One passage in ten is in one text only, or is replaced in the second text.
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

    /// Asserts that hardly any pair is lost that meets a threshold without the runs of `left_out`.
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
                // Without boilerplate a text may have no fingerprint left. Then nothing finds its
                // pairs, whatever the limits are.
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
