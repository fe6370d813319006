//! Winnowing: of every w k-grams in a row the least, the rightmost of equals (Seo & Croft 2008,
//! section 4.1.3, after Schleimer et al. 2003; Sun et al. 2013, section 4.1).
//!
//! The guarantee: documents that share w + k - 1 tokens in a row share a fingerprint. On average
//! two k-grams in w + 1 are selected.

use std::fmt;

use super::ngram::{self, K, KEY_BITS, fingerprint};
use super::{Fingerprint, Scheme};
use crate::error::Result;
use crate::spec::{self, Parameter, Spec};
use crate::text::Tokens;

/// The name of the scheme.
pub const NAME: &str = "winnow";

const PARAMETERS: [Parameter; 2] = [K, Parameter { key: "w", default: 10, min: 1, max: 1000 }];

/// Winnowing.
#[derive(Debug)]
pub struct Winnow {
    k: u32,
    w: u32,
}

impl Winnow {
    /// The scheme with the parameters of `spec`.
    pub fn from_spec(spec: &Spec<'_>) -> Result<Winnow> {
        let [k, w] = spec.values(&PARAMETERS)?;
        Ok(Winnow { k, w })
    }
}

impl fmt::Display for Winnow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        spec::write(f, NAME, &PARAMETERS, [self.k, self.w])
    }
}

impl Scheme for Winnow {
    fn key_bits(&self) -> u8 {
        KEY_BITS
    }

    fn sign(&self, tokens: &Tokens, signature: &mut Vec<Fingerprint>) {
        signature.clear();
        let w = self.w as usize;
        // The last w hashes, by position modulo the length: a power of two, so that it costs a
        // mask. Looking for a new minimum only when the old one leaves the window takes 4.2 ns a
        // hash at w = 10; a monotone queue takes 10.
        let mut ring = vec![0u64; w.next_power_of_two()];
        let mask = ring.len() - 1;
        let (mut least, mut least_at) = (u64::MAX, 0);
        let mut selected = None;
        ngram::for_each_hash(&tokens.hashes, self.k as usize, |i, hash| {
            ring[i & mask] = hash;
            if hash <= least {
                (least, least_at) = (hash, i);
            } else if least_at + w <= i {
                (least, least_at) = (hash, i);
                for j in (i + 1 - w..i).rev() {
                    if ring[j & mask] < least {
                        (least, least_at) = (ring[j & mask], j);
                    }
                }
            }
            if i + 1 >= w && selected != Some(least_at) {
                signature.push(fingerprint(least_at, least));
                selected = Some(least_at);
            }
        });
        if signature.is_empty() && !tokens.hashes.is_empty() {
            // Fewer than w k-grams are one window.
            signature.push(fingerprint(least_at, least));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ngram::naive;
    use super::*;
    use crate::text::Analyzer;
    use proptest::prelude::*;
    use std::collections::{BTreeSet, HashSet};

    fn sign(k: u32, w: u32, tokens: &[u64]) -> Vec<Fingerprint> {
        let mut signature = Vec::new();
        Winnow { k, w }.sign(&naive::tokens(tokens), &mut signature);
        signature
    }

    /// For every window the position of its rightmost minimum.
    fn naive_signature(tokens: &[u64], k: usize, w: usize) -> Vec<Fingerprint> {
        let hashes = naive::hashes(tokens, k);
        let windows: Vec<std::ops::Range<usize>> = match hashes.len() {
            0 => Vec::new(),
            n if n < w => std::iter::once(0..n).collect(),
            n => (0..=n - w).map(|start| start..start + w).collect(),
        };
        let rightmost_least = |window: std::ops::Range<usize>| {
            window.rev().min_by_key(|&i| hashes[i]).expect("a window is not empty")
        };
        let positions: BTreeSet<usize> = windows.into_iter().map(rightmost_least).collect();
        positions.into_iter().map(|i| fingerprint(i, hashes[i])).collect()
    }

    fn keys(signature: &[Fingerprint]) -> HashSet<u64> {
        signature.iter().map(|fingerprint| fingerprint.key).collect()
    }

    proptest! {
        #[test]
        fn the_signature_is_that_of_the_definition(
            tokens in proptest::collection::vec(0u64..6, 0..80), k in 1u32..8, w in 1u32..24,
        ) {
            let expected = naive_signature(&tokens, k as usize, w as usize);
            prop_assert_eq!(sign(k, w, &tokens), expected);
        }

        #[test]
        fn a_shared_run_of_w_plus_k_minus_1_tokens_is_always_found(
            a in proptest::collection::vec(any::<u64>(), 0..60),
            b in proptest::collection::vec(any::<u64>(), 0..60),
            shared in proptest::collection::vec(any::<u64>(), 40),
            k in 1u32..10, w in 1u32..30, cut in 0usize..60,
        ) {
            let shared = &shared[..(w + k - 1) as usize];
            let around = |tokens: &[u64]| {
                let (before, after) = tokens.split_at(cut.min(tokens.len()));
                [before, shared, after].concat()
            };
            let (a, b) = (sign(k, w, &around(&a)), sign(k, w, &around(&b)));
            prop_assert!(!keys(&a).is_disjoint(&keys(&b)));
        }

        #[test]
        fn short_documents_are_told_apart(
            a in proptest::collection::vec(0u64..3, 1..8),
            b in proptest::collection::vec(0u64..3, 1..8),
        ) {
            let (found_a, found_b) = (sign(5, 10, &a), sign(5, 10, &b));
            prop_assert!(!found_a.is_empty() && found_a == sign(5, 10, &a));
            // Up to k tokens nothing is left out, so only equal documents have equal signatures.
            if a.len() <= 5 && b.len() <= 5 {
                prop_assert_eq!(a == b, found_a == found_b);
            }
        }
    }

    #[test]
    fn two_in_w_plus_1_kgrams_are_selected() {
        let tokens: Vec<u64> = (0..100_000).map(crate::hash::mix64).collect();
        for w in [4, 10, 50] {
            let density = sign(5, w, &tokens).len() as f64 / tokens.len() as f64;
            let expected = 2.0 / f64::from(w + 1);
            assert!((density / expected - 1.0).abs() < 0.03, "w = {w}: {density}");
        }
    }

    #[test]
    fn the_default_scheme_does_what_it_always_did() {
        // Indexes hold these keys: a change makes them unreadable without saying so.
        let text = "A cento is a poem stitched together from lines of other poems, the engine \
                    finds the stitches: which documents are near-duplicates and which passages.";
        let mut tokens = Tokens::default();
        Analyzer::default().analyze(text, &mut tokens).unwrap();
        let found: Vec<(u64, u32)> =
            sign(5, 10, &tokens.hashes).iter().map(|f| (f.key, f.position)).collect();
        assert_eq!(found, [(551_719_226_516, 0), (690_115_471_050, 5), (667_817_741_729, 13)]);
    }
}
