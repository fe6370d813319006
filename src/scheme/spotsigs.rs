//! Which words follow the small words?
//!
//! SpotSigs (Theobald, Siddharth and Paepcke 2008): the text of an article has small words
//! ("the", "is") everywhere, the navigation around it hardly any. At each of these *antecedents* a
//! fingerprint is taken: the antecedent and the next `c` words that are none, every `d`-th.

use super::ngram;
use super::{Fingerprint, Method};
use crate::hash::{BuildKeyHasher, hash_bytes};
use std::collections::HashSet;

/// The antecedents of the paper, section 3.1, and the articles that go with them.
const ANTECEDENTS: [&str; 13] =
    ["a", "an", "the", "is", "are", "was", "were", "be", "do", "did", "have", "has", "had"];

/// `spotsigs(c,d)`; a document without a spot has one fingerprint of all its tokens.
#[derive(Debug)]
pub(super) struct Spotsigs {
    c: usize,
    d: usize,
    antecedents: HashSet<u64, BuildKeyHasher>,
}

impl Spotsigs {
    pub(super) fn new(c: usize, d: usize) -> Spotsigs {
        let antecedents = ANTECEDENTS.iter().map(|word| hash_bytes(word.as_bytes())).collect();
        Spotsigs { c, d, antecedents }
    }
}

impl Method for Spotsigs {
    fn span(&self) -> usize {
        1 + self.c * self.d
    }

    fn sign(&self, hashes: &[u64], signature: &mut Vec<Fingerprint>) {
        signature.clear();
        let is_antecedent = |hash: &u64| self.antecedents.contains(hash);
        let mut spot = Vec::with_capacity(1 + self.c);
        // Looking for the next words from every spot would be quadratic in a text of small words.
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
    }
}
