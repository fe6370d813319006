//! All k-grams as fingerprints.
//!
//! The most accurate scheme, and the largest: one fingerprint per token (Seo and Croft, 4.1.1).

#[cfg(test)]
use super::family::Laws;
use super::family::{Family, K, K_GRAMS, SchemeBuilder};
use super::ngram::{self, GramValues, Rolling};
use super::{Fingerprint, SchemeMethod, Signer};
use crate::Result;
use crate::runtime::Stop;
use crate::scheme::Estimator;

pub(super) const FAMILY: Family = Family {
    name: "kgram",
    parameters: &[K],
    summary: "all runs of k tokens",
    density: "1",
    source: "Seo and Croft 2008, section 4.1.1",
    example: "kgram(k=5)",
    kind: K_GRAMS,
    build: SchemeBuilder::Alone(|spec| Box::new(Kgram { k: spec.get("k") as usize })),
    #[cfg(test)]
    laws: Laws {
        small: &["kgram(k=3)"],
        pins: &[("kgram", "words", 1878468975791577025)],
        ..Laws::NONE
    },
};

/// `kgram(k)`: all k-grams.
#[derive(Debug)]
struct Kgram {
    k: usize,
}

impl SchemeMethod for Kgram {
    fn window(&self) -> Option<usize> {
        Some(1)
    }

    fn estimator(&self) -> Option<Estimator> {
        Some(Estimator::exact(self.k as u32))
    }

    fn sign(&self, hashes: &[u64], signature: &mut Vec<Fingerprint>, _: &Stop) -> Result<()> {
        if ngram::sign_short(hashes, self.k, signature) {
            return Ok(());
        }
        signature.reserve(hashes.len() + 1 - self.k);
        let values = GramValues::new(hashes, self.k).enumerate();
        signature.extend(values.map(|(position, value)| ngram::fingerprint(value, position)));
        Ok(())
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
