//! Which chunks, or words, does a collection have often enough and seldom enough?
//!
//! Schemes that read a frequency table of the collection (see [`super::frequency`]):
//!
//! - `rare(k,f)`: the k-grams that occur at most `f` times in the collection (Heintze 1996: once).
//! - `spex(k)`: those that occur at least twice, because only they can be shared (Bernstein and
//!   Zobel 2004; their passes are [`super::spex`], a table of all counts serves as well).
//! - `imatch(min,ppm,n)`: one hash of all distinct words that occur at least `min` times, and in at
//!   most `ppm` of a million places (I-Match, Chowdhury et al. 2002), and `n` more, each of a random
//!   two thirds of the words (Kolcz, Chowdhury and Alspector 2004), so that a changed word spoils
//!   two thirds of them only.
//! - `keywords(min,ppm,t)`: one hash of those of these words that the document has at least `t`
//!   times: the signature of key words of Ilyinsky et al. 2002 (Sharapova and Sharapova 2018,
//!   section 2.3 g).

use super::frequency::{FrequencyTable, Grams};
use super::{Fingerprint, Method, never_stopped};
use crate::Result;
use crate::hash::mix64;
use crate::stop::Stop;
use std::sync::Arc;

/// What is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// K-grams with at most this count.
    AtMost(u64),
    /// K-grams with at least this count.
    AtLeast(u64),
    /// One hash of the words between that a document has so many `times`, and `lexicons` of random
    /// parts of them.
    Match { min: u64, ppm: u64, lexicons: u64, times: usize },
}

/// A scheme that looks at counts.
#[derive(Debug)]
pub(super) struct Counted {
    k: usize,
    rule: Rule,
    grams: Grams,
    table: Arc<FrequencyTable>,
}

impl Counted {
    pub(super) fn new(k: usize, rule: Rule, table: Arc<FrequencyTable>) -> Counted {
        let grams = Grams::new(k, &table.header().analyzer);
        Counted { k, rule, grams, table }
    }
}

/// The hash of those of the `words` that a lexicon has; of `all` words of the document if it has none
/// of them.
fn match_key(words: &[u64], all: &[u64], lexicon: u64) -> u64 {
    let is_dropped =
        |word: u64| lexicon > 0 && mix64(word ^ mix64(lexicon)).is_multiple_of(LEXICON_PARTS);
    let hash =
        |words: &mut dyn Iterator<Item = &u64>| words.fold(lexicon, |key, &word| mix64(key ^ word));
    let mut kept = words.iter().filter(|word| !is_dropped(**word)).peekable();
    if kept.peek().is_some() { hash(&mut kept) } else { hash(&mut all.iter()) }
}

/// A random lexicon lacks one word in so many.
const LEXICON_PARTS: u64 = 3;

impl Method for Counted {
    fn key_bits(&self) -> u8 {
        match self.rule {
            Rule::Match { .. } => u64::BITS as u8,
            _ => self.grams.key_bits(),
        }
    }

    fn span(&self) -> usize {
        self.k
    }

    fn sign(&self, hashes: &[u64], signature: &mut Vec<Fingerprint>) {
        never_stopped(self.sign_until(hashes, signature, Stop::NEVER));
    }

    fn sign_until(
        &self,
        hashes: &[u64],
        signature: &mut Vec<Fingerprint>,
        stop: Stop<'_>,
    ) -> Result<()> {
        signature.clear();
        if hashes.is_empty() {
            return Ok(());
        }
        if let Rule::Match { min, ppm, lexicons, times } = self.rule {
            let mut all: Vec<u64> = self.grams.keys(hashes).collect();
            all.sort_unstable();
            let same = all.chunk_by(|a, b| a == b);
            let words: Vec<u64> =
                same.filter(|same| same.len() >= times).map(|same| same[0]).collect();
            all.dedup();
            let most = u128::from(self.table.header().grams) * u128::from(ppm) / 1_000_000;
            let bounds = (min, u64::try_from(most).unwrap_or(u64::MAX));
            // Counted once, for all lexicons.
            let mut known = Vec::new();
            for (at, &word) in words.iter().enumerate() {
                stop.check_at(at)?;
                if (bounds.0..=bounds.1).contains(&self.table.count(word)) {
                    known.push(word);
                }
            }
            for lexicon in 0..=lexicons {
                stop.check()?;
                let key = match_key(&known, &all, lexicon);
                signature.push(Fingerprint { key, position: 0 });
            }
            return Ok(());
        }
        if hashes.len() < self.k {
            signature.push(Fingerprint { key: self.grams.key(hashes), position: 0 });
            return Ok(());
        }
        let mut rarest = (u64::MAX, 0, 0);
        for (position, key) in (0u32..).zip(self.grams.keys(hashes)) {
            stop.check_at(position as usize)?;
            let count = self.table.count(key);
            let is_kept = match self.rule {
                Rule::AtMost(most) => count <= most,
                Rule::AtLeast(least) => count >= least,
                Rule::Match { .. } => false,
            };
            if is_kept {
                signature.push(Fingerprint { key, position });
            }
            if count <= rarest.0 {
                rarest = (count, key, position);
            }
        }
        // So that an exact copy can be found: the rightmost of the rarest.
        if signature.is_empty() {
            signature.push(Fingerprint { key: rarest.1, position: rarest.2 });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::scheme::frequency::FrequencyTable;
    use crate::scheme::frequency::testing::{table, tokens};
    use crate::scheme::{Fingerprint, parse_with};
    use proptest::prelude::*;
    use std::collections::{HashMap, HashSet};
    use std::sync::Arc;

    fn sign(spec: &str, table: &Arc<FrequencyTable>, text: &str) -> Vec<Fingerprint> {
        let mut signature = Vec::new();
        parse_with(spec, Some(table)).unwrap().sign(&tokens("words", text).hashes, &mut signature);
        signature
    }

    proptest! {
        #[test]
        fn chunks_are_kept_by_their_counts(
            texts in proptest::collection::vec("([a-c] ){0,30}", 1..5),
            text in "([a-c] ){4,30}", k in 1usize..4, f in 1usize..4,
        ) {
            let words = |text: &str| -> Vec<String> {
                text.split_whitespace().map(str::to_owned).collect()
            };
            let mut counts: HashMap<Vec<String>, usize> = HashMap::new();
            for text in &texts {
                for gram in words(text).windows(k) {
                    *counts.entry(gram.to_vec()).or_default() += 1;
                }
            }
            let table = table("words", k, &texts);
            let words = words(&text);
            let count = |at: usize| counts.get(&words[at..at + k]).copied().unwrap_or(0);
            let all = 0..words.len() - k + 1;
            let check = |spec: &str, is_kept: &dyn Fn(usize) -> bool| {
                let mut expected: Vec<usize> = all.clone().filter(|&at| is_kept(count(at))).collect();
                if expected.is_empty() {
                    expected.extend(all.clone().rev().min_by_key(|&at| count(at)));
                }
                let found: Vec<usize> =
                    sign(spec, &table, &text).iter().map(|f| f.position as usize).collect();
                assert_eq!(found, expected, "{spec}");
            };
            check(&format!("rare(k={k},f={f})"), &|count| count <= f);
            check(&format!("spex(k={k})"), &|count| count >= 2);
        }
    }

    #[test]
    fn key_words_are_those_that_a_document_has_often() {
        let texts = ["red green blue red green blue", "once"].map(str::to_owned);
        let table = table("words", 1, &texts);
        let key = |text: &str| -> u64 { sign("keywords(ppm=500000,t=2)", &table, text)[0].key };
        let original = key("red red green green blue");
        assert_eq!(key("once green green unknown unknown red red red"), original);
        assert_ne!(key("red red green green blue blue"), original);
        assert_ne!(key("red green blue"), original);
        // No key word is often: then all words count, so that a copy can be found, and nothing else.
        let unlike = ["red green blue", "red blue", "the red the", "the green the", "the the"];
        let keys: HashSet<u64> = unlike.into_iter().map(key).collect();
        assert_eq!(keys.len(), unlike.len());
        assert_eq!(key("green blue red"), key("red green blue"));
    }

    #[test]
    fn i_match_sees_neither_order_nor_frequent_nor_unknown_words() {
        let frequent = "the ".repeat(100);
        let texts = ["red green blue red green blue", &frequent, "once"].map(str::to_owned);
        let table = table("words", 1, &texts);
        let keys = |text: &str| -> HashSet<u64> {
            sign("imatch(ppm=500000)", &table, text).iter().map(|f| f.key).collect()
        };
        let original = keys("red green blue");
        assert_eq!(original.len(), 7);
        assert_eq!(keys("the blue, the green, the red unknown once"), original);
        assert!(keys("the the unknown").is_disjoint(&original));
        // A lexicon without the word that is missing still agrees.
        let lacking = ["red green", "red blue", "green blue"].map(keys);
        assert!(lacking.iter().any(|lacking| !lacking.is_disjoint(&original)));
        assert!(lacking.iter().all(|lacking| *lacking != original));
    }
}
