//! The keys of runs of tokens in the frequency table of a collection.
//!
//! Frequency tables and the schemes that read a table must agree on the keys.

use super::ngram;
use crate::hash::{BuildKeyHasher, hash_bytes};
use crate::text::Analyzer;
use std::collections::HashMap;

/// The maximum q whose q-grams fit into 40 bits, with an alphabet of 37 signs.
const EXACT_Q_MAX: usize = 7;

const HASHED_BITS: u8 = ngram::KEY_BITS;

/// Computes the keys of q-grams. If the analyzer has an alphabet, the signs of a gram are the
/// digits of its key, in the base of the alphabet's size, so that keys are in alphabetical order.
/// The key of foreign tokens, such as letters of a different script, is a hash.
#[derive(Debug)]
pub struct Grams {
    q: usize,
    /// The digit of each sign, by the hash of its token. Empty if every key is a hash.
    digits: HashMap<u64, u64, BuildKeyHasher>,
}

impl Grams {
    /// Creates the keys of grams of `q` tokens that the analyzer of this specification makes.
    pub fn new(q: usize, analyzer: &str) -> Grams {
        // A table may have an analyzer that this build lacks. Then no text can be signed with the
        // table.
        let analyzer = analyzer.parse::<Analyzer>();
        let alphabet = analyzer.ok().and_then(|analyzer| analyzer.alphabet());
        let exact = alphabet.filter(|_| q <= EXACT_Q_MAX).unwrap_or_default();
        let digits = (0u64..).zip(exact).map(|(digit, sign)| (hash_bytes(&[*sign]), digit));
        Grams { q, digits: digits.collect() }
    }

    /// Returns the number of bits of a key: fewer than a hash has if each q-gram has a number.
    pub fn key_bits(&self) -> u8 {
        match self.digits.len() {
            0 => HASHED_BITS,
            base => (u64::BITS - ((base as u64).pow(self.q as u32) - 1).leading_zeros()) as u8,
        }
    }

    /// Returns the keys of all grams of a text, in order. None if the text has fewer than q tokens.
    pub fn keys<'a>(&'a self, tokens: &'a [u64]) -> impl Iterator<Item = u64> + 'a {
        tokens.windows(self.q).map(|gram| self.key(gram))
    }

    /// Returns the key of a gram of at most q tokens.
    pub fn key(&self, gram: &[u64]) -> u64 {
        let base = self.digits.len() as u64;
        let add = |key: Option<u64>, token| Some(key? * base + self.digits.get(token)?);
        let exact = if base == 0 { None } else { gram.iter().fold(Some(0), add) };
        // A gram with a token outside the alphabet gets a hash, with as many bits as the other
        // keys.
        let hashed = || ngram::fingerprint(ngram::value(gram), 0).key;
        exact.unwrap_or_else(|| hashed() >> (HASHED_BITS - self.key_bits()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::frequency::testing::tokens;

    #[test]
    fn grams_of_signs_are_numbers_in_the_order_of_the_alphabet() {
        let grams = Grams::new(3, "chars()");
        let key = |text: &str| grams.key(&tokens("chars", text).hashes);
        assert_eq!(key("000"), 0);
        assert_eq!(key("zzz"), 37 * 37 * 37 - 1);
        assert!(key("_ab") < key("abc") && key("9zz") < key("_00") && key("abc") < key("abd"));
        assert_eq!(grams.key_bits(), 16);
        assert_eq!(Grams::new(7, "chars()").key_bits(), 37);
        assert_eq!(Grams::new(8, "chars()").key_bits(), 40);
        assert_eq!(Grams::new(3, "words(nfkc=1,fold=1,cjk=2)").key_bits(), 40);
    }
}
