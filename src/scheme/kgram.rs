//! What if every k-gram is kept?
//!
//! The most accurate scheme, and the largest: one fingerprint a token (Seo and Croft, 4.1.1).

use super::ngram::{self, Values};
use super::{Fingerprint, Method};
use crate::text::Tokens;

/// `kgram(k)`: all k-grams.
#[derive(Debug)]
pub(super) struct Kgram {
    k: usize,
}

impl Kgram {
    pub(super) fn new(k: usize) -> Kgram {
        Kgram { k }
    }
}

impl Method for Kgram {
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
