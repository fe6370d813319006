//! 0 mod p: the k-grams whose hash is divisible by p (Seo & Croft 2008, section 4.1.2).
//!
//! On average one k-gram in p, wherever it stands; there is no bound on the gap between two. A
//! document in which no k-gram is divisible would have no fingerprint: it has the rightmost
//! minimum of all its k-grams instead, as in winnowing, and so finds its exact copy.

use std::fmt;

use super::ngram::{self, K, KEY_BITS, fingerprint};
use super::{Fingerprint, Scheme};
use crate::error::Result;
use crate::spec::{self, Parameter, Spec};
use crate::text::Tokens;

/// The name of the scheme.
pub const NAME: &str = "mod";

const PARAMETERS: [Parameter; 2] = [K, Parameter { key: "p", default: 6, min: 1, max: 1_000_000 }];

/// 0 mod p.
#[derive(Debug)]
pub struct Modulo {
    k: u32,
    p: u32,
}

impl Modulo {
    /// The scheme with the parameters of `spec`.
    pub fn from_spec(spec: &Spec<'_>) -> Result<Modulo> {
        let [k, p] = spec.values(&PARAMETERS)?;
        Ok(Modulo { k, p })
    }
}

impl fmt::Display for Modulo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        spec::write(f, NAME, &PARAMETERS, [self.k, self.p])
    }
}

impl Scheme for Modulo {
    fn key_bits(&self) -> u8 {
        KEY_BITS
    }

    fn sign(&self, tokens: &Tokens, signature: &mut Vec<Fingerprint>) {
        signature.clear();
        let p = u64::from(self.p);
        let mut least: Option<(u64, usize)> = None;
        ngram::for_each_hash(&tokens.hashes, self.k as usize, |position, hash| {
            if hash % p == 0 {
                signature.push(fingerprint(position, hash));
            }
            if least.is_none_or(|(least, _)| hash <= least) {
                least = Some((hash, position));
            }
        });
        if let (true, Some((hash, position))) = (signature.is_empty(), least) {
            signature.push(fingerprint(position, hash));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ngram::naive;
    use super::*;
    use proptest::prelude::*;

    fn naive_signature(tokens: &[u64], k: usize, p: u64) -> Vec<Fingerprint> {
        let hashes = naive::hashes(tokens, k);
        let divisible: Vec<_> =
            (0..hashes.len()).filter(|&i| hashes[i].is_multiple_of(p)).collect();
        let selected = if divisible.is_empty() {
            let least = hashes.iter().min();
            hashes.iter().rposition(|hash| Some(hash) == least).into_iter().collect()
        } else {
            divisible
        };
        selected.into_iter().map(|i| fingerprint(i, hashes[i])).collect()
    }

    proptest! {
        #[test]
        fn the_signature_is_that_of_the_definition(
            tokens in proptest::collection::vec(0u64..30, 0..60), k in 1u32..20, p in 1u32..40,
        ) {
            let mut signature = Vec::new();
            Modulo { k, p }.sign(&naive::tokens(&tokens), &mut signature);
            prop_assert_eq!(&signature, &naive_signature(&tokens, k as usize, u64::from(p)));
            prop_assert_eq!(signature.is_empty(), tokens.is_empty());
        }
    }
}
