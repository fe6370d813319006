//! What if every k-gram is kept?
//!
//! The most accurate scheme, and the largest: one fingerprint a token (Seo and Croft, 4.1.1).

use super::ngram::{self, Rolling, Values};
use super::{Fingerprint, Method, Signer};

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

    fn sign(&self, hashes: &[u64], signature: &mut Vec<Fingerprint>) {
        signature.clear();
        if ngram::sign_short(hashes, self.k, signature) {
            return;
        }
        signature.reserve(hashes.len() + 1 - self.k);
        let values = Values::new(hashes, self.k).enumerate();
        signature.extend(values.map(|(position, value)| ngram::fingerprint(value, position)));
    }

    fn signer(&self) -> Option<Box<dyn Signer + '_>> {
        Some(Box::new(Rolling::new(self.k)))
    }
}

impl Signer for Rolling {
    fn push(&mut self, hashes: &[u64], signature: &mut Vec<Fingerprint>) {
        let (first, values) = Rolling::push(self, hashes);
        let values = (first..).zip(values);
        signature.extend(values.map(|(position, value)| ngram::fingerprint(value, position)));
    }

    fn finish(self: Box<Self>, signature: &mut Vec<Fingerprint>) {
        self.sign_short(signature);
    }
}
