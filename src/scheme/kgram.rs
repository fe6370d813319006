//! What if every k-gram is kept?
//!
//! The most accurate scheme, and the largest: one fingerprint a token (Seo and Croft, 4.1.1).

use super::ngram::{self, KEY_BITS, Values};
use super::{Fingerprint, Scheme};
use crate::spec::Spec;
use crate::text::Tokens;
use std::fmt;

/// `kgram(k)`: all k-grams.
#[derive(Debug)]
pub(super) struct Kgram {
    spec: Spec,
    k: usize,
}

impl Kgram {
    pub(super) fn new(spec: Spec, k: usize) -> Kgram {
        Kgram { spec, k }
    }
}

impl fmt::Display for Kgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spec.fmt(f)
    }
}

impl Scheme for Kgram {
    fn key_bits(&self) -> u8 {
        KEY_BITS
    }

    fn span(&self) -> usize {
        self.k
    }

    fn window(&self) -> Option<usize> {
        Some(1)
    }

    fn sign(&self, tokens: &Tokens, signature: &mut Vec<Fingerprint>) {
        signature.clear();
        if ngram::sign_short(&tokens.hashes, self.k, signature) {
            return;
        }
        signature.reserve(tokens.hashes.len() + 1 - self.k);
        let values = Values::new(&tokens.hashes, self.k).enumerate();
        signature.extend(values.map(|(position, value)| ngram::fingerprint(value, position)));
    }
}
