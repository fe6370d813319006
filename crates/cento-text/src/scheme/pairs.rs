//! Pairs of neighbors, and the single tokens of short texts.
//!
//! Text that a person rewrote shares hardly any run of three words with its source, and few pairs.
//! In a long text some pairs survive, and they are rare enough to tell the source from all other
//! texts. A sentence often keeps no pair at all, but most of its words. Every text therefore has
//! all pairs as fingerprints, and a text of at most `n` tokens also its single tokens. The single
//! tokens of a long text would be as many as its pairs, have the longest posting lists, and find
//! little: weighted by rarity, they change recall on the training corpus of PAN 2013 by less than
//! 0.01.
//!
//! An analyzer can mark words of little meaning ([`marked`](crate::text::mark)) in a short text.
//! Marked words are single tokens too, because stop words tell sentences of few words apart. But a
//! pair joins the neighbors of a marked word, as in a long text, where the analyzer drops such
//! words.
//!
//! The lowest bit of a key is 1 for a single token and 0 for a pair, so that the resemblance of
//! texts can be measured on pairs alone, whatever the length of the texts.

#[cfg(test)]
use super::family::Laws;
use super::family::{Extent, Family, Kind, SchemeBuilder};
use super::ngram::{self, GramValues, Rolling};
use super::{Fingerprint, SchemeMethod, Signer};
use crate::Result;
use crate::runtime::Stop;
use crate::scheme::Estimator;
use crate::spec::Parameter;
use crate::text::mark::is_marked;

pub(super) const FAMILY: Family = Family {
    name: "pairs",
    parameters: &[Parameter::number(
        "n",
        100,
        1,
        SHORT_MAX,
        "a text of at most `n` tokens keeps its single tokens too",
    )],
    summary: "all pairs of tokens, and the single tokens of short texts",
    density: "1; 2 in short texts",
    source: "pairs: Seo and Croft 2008, section 4.1.1; single words: Salton and Buckley 1988",
    example: "pairs(n=100)",
    kind: Kind::Positional { span: |_| Extent::AtLeast(1) },
    build: SchemeBuilder::Alone(|spec| Box::new(TokenPairs { short: spec.get("n") as usize })),
    #[cfg(test)]
    laws: Laws {
        small: &["pairs(n=3)", "pairs(n=100)"],
        pins: &[
            ("pairs", "words", 3249959329110081718),
            ("pairs(n=5)", "words", 12579342643537272405),
        ],
        ..Laws::NONE
    },
};

const PAIR: usize = 2;

/// The maximum length in tokens that `n` can give a short text.
const SHORT_MAX: u32 = 4096;

/// `pairs(n)`: all pairs, and the single tokens of a text of at most `n` tokens.
#[derive(Debug)]
struct TokenPairs {
    short: usize,
}

impl TokenPairs {
    fn sign_short(&self, hashes: &[u64], signature: &mut Vec<Fingerprint>) {
        let unmarked = (0..).zip(hashes).filter(|(_, hash)| !is_marked(**hash));
        let (places, kept): (Vec<usize>, Vec<u64>) = unmarked.map(|(at, &hash)| (at, hash)).unzip();
        let mut pairs = places.iter().zip(ngram::values(&kept, PAIR)).peekable();
        for (position, &hash) in hashes.iter().enumerate() {
            signature.push(ngram::token(hash, position));
            if let Some((_, value)) = pairs.next_if(|(place, _)| **place == position) {
                signature.push(ngram::pair(value, position));
            }
        }
    }
}

impl SchemeMethod for TokenPairs {
    fn key_flags(&self) -> u64 {
        ngram::KIND
    }

    fn window(&self) -> Option<usize> {
        Some(1)
    }

    fn estimator(&self) -> Option<Estimator> {
        Some(Estimator::of_pairs(self.short as u32))
    }

    fn sign(&self, hashes: &[u64], signature: &mut Vec<Fingerprint>, _: &Stop) -> Result<()> {
        if hashes.len() <= self.short {
            self.sign_short(hashes, signature);
            return Ok(());
        }
        signature.reserve(hashes.len());
        let values = GramValues::new(hashes, PAIR).enumerate();
        signature.extend(values.map(|(position, value)| ngram::pair(value, position)));
        Ok(())
    }

    fn signer(&self) -> Option<Box<dyn Signer + '_>> {
        Some(Box::new(Pairing { pairs: self, first: Vec::new(), rolling: None }))
    }
}

/// Pairs tokens as they arrive.
struct Pairing<'a> {
    pairs: &'a TokenPairs,
    /// The tokens so far, while the text may be short.
    first: Vec<u64>,
    /// The last token, once the text is long.
    rolling: Option<Rolling>,
}

impl Signer for Pairing<'_> {
    fn push(&mut self, hashes: &[u64], signature: &mut Vec<Fingerprint>) {
        let mut add = |rolling: &mut Rolling, hashes: &[u64]| {
            let (first, values) = rolling.push(hashes);
            signature.extend(
                (first..).zip(values).map(|(position, value)| ngram::pair(value, position)),
            );
        };
        if let Some(rolling) = &mut self.rolling {
            return add(rolling, hashes);
        }
        if self.first.len() + hashes.len() <= self.pairs.short {
            self.first.extend_from_slice(hashes);
            return;
        }
        let rolling = self.rolling.insert(Rolling::new(PAIR));
        add(rolling, &std::mem::take(&mut self.first));
        add(rolling, hashes);
    }

    fn finish(self: Box<Self>, signature: &mut Vec<Fingerprint>) {
        if self.rolling.is_none() {
            self.pairs.sign_short(&self.first, signature);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlap::Overlap;
    use crate::scheme::KeyedSignature;
    use crate::similarity::Similarity;
    use crate::text::mark::marked;
    use proptest::prelude::*;

    fn sign(n: usize, hashes: &[u64]) -> Vec<Fingerprint> {
        let mut signature = Vec::new();
        TokenPairs { short: n }.sign(hashes, &mut signature, Stop::NEVER).unwrap();
        signature
    }

    fn keys(signature: &[Fingerprint]) -> Vec<u64> {
        signature.iter().map(|fingerprint| fingerprint.key).collect()
    }

    proptest! {
        #[test]
        fn a_short_text_has_the_pairs_of_a_long_one_without_its_marked_words(
            words in proptest::collection::vec((0u64..20, any::<bool>()), 0..40),
        ) {
            let hash = |(word, is_marked): &(u64, bool)| match is_marked {
                true => marked(crate::hash::mix64(*word)),
                false => crate::hash::mix64(*word),
            };
            let all: Vec<u64> = words.iter().map(hash).collect();
            let kept: Vec<u64> = all.iter().copied().filter(|hash| !is_marked(*hash)).collect();
            let signature = sign(100, &all);
            let (pairs, tokens): (Vec<u64>, Vec<u64>) =
                keys(&signature).into_iter().partition(|&key| ngram::is_of_pair(key));
            let expected: Vec<u64> = all.iter().map(|&hash| ngram::token(hash, 0).key).collect();
            prop_assert_eq!(tokens, expected);
            if kept.len() > 1 {
                prop_assert_eq!(pairs, keys(&sign(1, &kept)));
            } else {
                // The pair of the whole text, so that an exact copy has a pair.
                prop_assert_eq!(pairs.len(), kept.len());
            }
        }
    }

    /// Returns a text of 3 to 160 tokens, and a revision with some tokens replaced.
    fn revised(seed: u64) -> [Vec<u64>; 2] {
        use crate::hash::mix64;
        let (len, edits) = (3 + mix64(seed) % 158, 2 + mix64(seed ^ 1 << 40) % 30);
        let word = |i: u64| mix64(mix64(seed << 20 ^ i) % 90);
        let edited = |i: u64| match mix64(seed << 21 ^ i) % edits {
            0 => mix64(i ^ 7 << 40),
            _ => word(i),
        };
        [(0..len).map(word).collect(), (0..len + len / 4 * (seed % 3)).map(edited).collect()]
    }

    fn distinct(keys: impl Iterator<Item = u64>) -> Vec<u64> {
        let keys: std::collections::BTreeSet<u64> = keys.collect();
        keys.into_iter().collect()
    }

    #[test]
    fn signatures_give_the_resemblance_of_pairs_and_their_sizes_estimate_it() {
        let pairs = TokenPairs { short: 80 };
        let estimator = pairs.estimator().unwrap();
        let (mut squares, mut estimates) = (0.0, 0);
        for seed in 0..3000 {
            let texts = revised(seed);
            let [a, b] = texts.each_ref().map(|text| {
                distinct(ngram::values(text, PAIR).map(|value| ngram::pair(value, 0).key))
            });
            let truth = Similarity::exact(Overlap::of(&a, &b));
            let signatures = texts.each_ref().map(|text| sign(80, text));
            let distinct = signatures.each_ref().map(|found| distinct(keys(found).into_iter()));
            let overlap = Overlap::of(&distinct[0], &distinct[1]);
            let [a, b] = [0, 1].map(|at| KeyedSignature {
                tokens: texts[at].len() as u32,
                fingerprints: &signatures[at],
                keys: &distinct[at],
            });
            assert_eq!(estimator.compare(overlap, a, b), truth, "seed {seed}");
            let counted = estimator.of_counts(overlap, a.tokens, b.tokens);
            if !counted.exact {
                squares += (counted.resemblance - truth.resemblance).powi(2);
                estimates += 1;
                assert!(counted.standard_error.unwrap() > 0.0);
            }
        }
        let error = (squares / f64::from(estimates)).sqrt();
        assert!(estimates > 1000 && error < 0.1, "{error} in {estimates}");
    }

    #[test]
    fn a_long_text_has_its_pairs_alone() {
        let hashes: Vec<u64> = (0..10).map(crate::hash::mix64).collect();
        let long = sign(9, &hashes);
        assert_eq!(long.len(), 9);
        assert!(long.iter().all(|fingerprint| ngram::is_of_pair(fingerprint.key)));
        assert_eq!(sign(10, &hashes).len(), 19);
    }
}
