//! SpotSigs: fingerprints of the words that follow small words.
//!
//! SpotSigs (Theobald, Siddharth and Paepcke 2008): the text of an article has small words ("the",
//! "is") everywhere, the navigation around the article hardly any. A fingerprint is taken at each
//! of these *antecedents*: the antecedent and `c` of the following words that are not small, every
//! `d`-th.

#[cfg(test)]
use super::family::Laws;
use super::family::{Extent, Family, Kind, SchemeBuilder};
use super::ngram;
use super::{Fingerprint, SchemeMethod};
use crate::Result;
use crate::hash::{BuildKeyHasher, hash_bytes};
use crate::runtime::Stop;
use crate::spec::Parameter;
use std::collections::HashSet;

pub(super) const FAMILY: Family = Family {
    name: "spotsigs",
    parameters: &[
        Parameter::number("c", 2, 1, 8, "the words that are taken after a small one"),
        Parameter::number("d", 1, 1, 8, "every `d`-th of the words that follow is taken"),
    ],
    summary: "what follows small words",
    density: "0.15 in English",
    source: "Theobald, Siddharth and Paepcke 2008, section 3.1",
    example: "spotsigs(c=2,d=1)",
    kind: Kind::Positional {
        span: |spec| Extent::AtLeast(1 + (spec.get("c") * spec.get("d")) as usize),
    },
    build: SchemeBuilder::Alone(|spec| {
        Box::new(Spotsigs::new(spec.get("c") as usize, spec.get("d") as usize))
    }),
    #[cfg(test)]
    laws: Laws {
        pins: &[
            ("spotsigs", "words", 14127132765144050559),
            ("spotsigs(c=1,d=2)", "words", 11573614951948710074),
        ],
        ..Laws::NONE
    },
};

/// The antecedents of the paper, section 3.1, and the articles that go with the paper's "a" and
/// "the".
const ANTECEDENTS: [&str; 13] =
    ["a", "an", "the", "is", "are", "was", "were", "be", "do", "did", "have", "has", "had"];

/// `spotsigs(c,d)`. A document without a spot has one fingerprint of the whole.
#[derive(Debug)]
struct Spotsigs {
    c: usize,
    d: usize,
    antecedents: HashSet<u64, BuildKeyHasher>,
}

impl Spotsigs {
    fn new(c: usize, d: usize) -> Spotsigs {
        let antecedents = ANTECEDENTS.iter().map(|word| hash_bytes(word.as_bytes())).collect();
        Spotsigs { c, d, antecedents }
    }
}

impl SchemeMethod for Spotsigs {
    fn recognizes_words(&self) -> bool {
        true
    }

    fn sign(&self, hashes: &[u64], signature: &mut Vec<Fingerprint>, _: &Stop) -> Result<()> {
        let is_antecedent = |hash: &u64| self.antecedents.contains(hash);
        let mut spot = Vec::with_capacity(1 + self.c);
        // To look for the next words from every spot would be quadratic in a text of small words.
        let words: Vec<u64> = hashes.iter().copied().filter(|hash| !is_antecedent(hash)).collect();
        let antecedents = hashes.iter().enumerate().filter(|(_, hash)| is_antecedent(hash));
        for (spots, (position, hash)) in antecedents.enumerate() {
            let words = &words[position - spots..];
            spot.clear();
            spot.push(*hash);
            spot.extend(words.iter().skip(self.d - 1).step_by(self.d).take(self.c));
            if spot.len() == 1 + self.c {
                signature.push(ngram::fingerprint(ngram::value(&spot), position));
            }
        }
        if signature.is_empty() && !hashes.is_empty() {
            signature.push(ngram::fingerprint(ngram::value(hashes), 0));
        }
        Ok(())
    }
}
