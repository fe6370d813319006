//! All k-grams: every run of k tokens (Seo & Croft 2008, section 4.1.1; the overlapping chunks of
//! Finkel et al. 2002, section 4.1).

use std::fmt;

use super::ngram::{self, K, KEY_BITS, fingerprint};
use super::{Fingerprint, Scheme};
use crate::error::Result;
use crate::spec::{self, Spec};
use crate::text::Tokens;

/// The name of the scheme.
pub const NAME: &str = "kgram";

/// All k-grams.
#[derive(Debug)]
pub struct KGram {
    k: u32,
}

impl KGram {
    /// The scheme with the parameters of `spec`.
    pub fn from_spec(spec: &Spec<'_>) -> Result<KGram> {
        let [k] = spec.values(&[K])?;
        Ok(KGram { k })
    }
}

impl fmt::Display for KGram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        spec::write(f, NAME, &[K], [self.k])
    }
}

impl Scheme for KGram {
    fn key_bits(&self) -> u8 {
        KEY_BITS
    }

    fn sign(&self, tokens: &Tokens, signature: &mut Vec<Fingerprint>) {
        signature.clear();
        ngram::for_each_hash(&tokens.hashes, self.k as usize, |position, hash| {
            signature.push(fingerprint(position, hash));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::ngram::naive;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_signature_is_that_of_the_definition(
            tokens in proptest::collection::vec(0u64..30, 0..60), k in 1u32..20,
        ) {
            let mut signature = Vec::new();
            KGram { k }.sign(&naive::tokens(&tokens), &mut signature);
            let hashes = naive::hashes(&tokens, k as usize);
            let expected: Vec<_> =
                hashes.into_iter().enumerate().map(|(i, hash)| fingerprint(i, hash)).collect();
            prop_assert_eq!(signature, expected);
        }
    }
}
