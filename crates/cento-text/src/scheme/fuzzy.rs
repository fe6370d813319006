//! Fuzzy-fingerprinting: deviations from the expected shares of kinds of words.
//!
//! Fuzzy-fingerprinting (Stein 2005; Potthast and Stein 2008, section 2.2) assigns words to a few
//! classes by their first letters (the analyzer `prefixes`). The frequency table gives the expected
//! share of each class. The fingerprint records how far the document's share *deviates* from the
//! expected share, but only roughly ("fuzzification"): in one of r intervals. The intervals of all
//! classes together make a fingerprint. The papers add up the intervals as digits of a number, here
//! they are hashed. Different placements of the intervals give several fingerprints, so that a
//! class at the edge of an interval does not spoil the whole signature.
//!
//! The papers leave classes and intervals open. Here prefixes are assigned to classes in the order
//! of their frequency, so that all classes have nearly the same expected share. All intervals are
//! equally wide.

#[cfg(test)]
use super::family::Laws;
use super::family::{Family, Kind, SchemeBuilder, Table};
use super::frequency::FrequencyTable;
use super::grams::Grams;
use super::{Fingerprint, SchemeMethod};
use crate::Result;
use crate::hash::{BuildKeyHasher, mix64};
use crate::runtime::Stop;
use crate::spec::Parameter;
use crate::spec::Spec;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

pub(super) const FAMILY: Family = Family {
    name: "fuzzy",
    parameters: &[
        Parameter::number("c", 16, 2, 64, "the classes into which words are put"),
        Parameter::number("r", 3, 2, 8, "the intervals that a deviation can fall into"),
        Parameter::number("n", 3, 1, 64, "the ways to lay the intervals, each a fingerprint"),
        Parameter::number(
            "w",
            60,
            1,
            1000,
            "the width of an interval, in hundredths of the expected share",
        ),
    ],
    summary: "how far classes of words deviate from their expected share",
    density: "n a document",
    source: "Stein 2005; Potthast and Stein 2008, section 2.2",
    example: "fuzzy(c=16,r=3,n=3,w=60)",
    kind: Kind::Sketch,
    build: SchemeBuilder::With(Table::Tokens, |spec, table| Box::new(Fuzzy::new(spec, &table))),
    #[cfg(test)]
    laws: Laws {
        pins: &[
            ("fuzzy", "words", 8483388599311222461),
            ("fuzzy", "prefixes", 7369845210914142180),
        ],
        is_coarse: true,
        ..Laws::NONE
    },
};

/// `fuzzy(c,r,n,w)`: c classes, r intervals of w hundredths of the expected share, in n placements.
#[derive(Debug)]
struct Fuzzy {
    intervals: u32,
    schemes: u32,
    width: f64,
    grams: Grams,
    /// The class of every prefix in the table.
    classes: HashMap<u64, usize, BuildKeyHasher>,
    /// The expected share of words, by class.
    expected: Vec<f64>,
}

impl Fuzzy {
    fn new(spec: &Spec, table: &FrequencyTable) -> Fuzzy {
        let mut counts: Vec<(Reverse<u64>, u64)> = Vec::new();
        table.for_each(&mut |key, count| counts.push((Reverse(count), key)));
        counts.sort_unstable();
        let class_count = spec.get("c") as usize;
        let mut classes = HashMap::default();
        let mut sums = vec![0u64; class_count];
        let mut emptiest: BinaryHeap<Reverse<(u64, usize)>> =
            (0..class_count).map(|class| Reverse((0, class))).collect();
        for (Reverse(count), key) in counts {
            let Reverse((sum, class)) = emptiest.pop().expect("there is a class");
            classes.insert(key, class);
            sums[class] = sum + count;
            emptiest.push(Reverse((sum + count, class)));
        }
        let total = sums.iter().sum::<u64>().max(1) as f64;
        Fuzzy {
            intervals: spec.get("r"),
            schemes: spec.get("n"),
            width: f64::from(spec.get("w")) / 100.0,
            grams: Grams::new(1, &table.header().analyzer),
            classes,
            expected: sums.iter().map(|&sum| sum as f64 / total).collect(),
        }
    }

    /// Returns the deviation of each class, relative to its expected share.
    fn deviations(&self, hashes: &[u64]) -> Vec<f64> {
        let mut counts = vec![0u32; self.expected.len()];
        for key in self.grams.keys(hashes) {
            // A prefix that the table lacks gets an arbitrary class, but always the same class.
            let any = (mix64(key) % counts.len() as u64) as usize;
            counts[self.classes.get(&key).copied().unwrap_or(any)] += 1;
        }
        let deviation = |(count, expected): (u32, &f64)| {
            let share = f64::from(count) / hashes.len() as f64;
            // A class with an expected share of 0 has no deviation.
            if *expected > 0.0 { share / expected - 1.0 } else { 0.0 }
        };
        counts.into_iter().zip(&self.expected).map(deviation).collect()
    }

    fn interval(&self, deviation: f64, scheme: u32) -> u64 {
        let shift = (f64::from(scheme) + 0.5) / f64::from(self.schemes) - 0.5;
        let interval = deviation / self.width + f64::from(self.intervals) / 2.0 + shift;
        interval.floor().clamp(0.0, f64::from(self.intervals - 1)) as u64
    }
}

impl SchemeMethod for Fuzzy {
    fn key_bits(&self) -> u8 {
        u64::BITS as u8
    }

    fn sign(&self, hashes: &[u64], signature: &mut Vec<Fingerprint>, _: &Stop) -> Result<()> {
        if hashes.is_empty() {
            return Ok(());
        }
        let deviations = self.deviations(hashes);
        for scheme in 0..self.schemes {
            let number = deviations.iter().fold(u64::from(scheme), |number, &deviation| {
                let interval = self.interval(deviation, scheme);
                mix64(number.wrapping_add(interval))
            });
            signature.push(Fingerprint { key: number, position: 0 });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::runtime::Stop;
    use crate::scheme::frequency::testing::{table, tokens};
    use crate::scheme::parse_with;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Returns the fingerprints of a text of single letters by definition: the intervals of all
    /// classes, for each placement.
    fn naive(texts: &[String], text: &str, c: usize, r: i64, n: i64, w: f64) -> Vec<Vec<i64>> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let all: Vec<&str> = texts.iter().flat_map(|text| text.split_whitespace()).collect();
        all.iter().for_each(|word| *counts.entry(word).or_default() += 1);
        let mut ordered: Vec<(&str, usize)> = counts.into_iter().collect();
        let key = |word: &str| {
            crate::scheme::grams::Grams::new(1, "words()").key(&tokens("words", word).hashes)
        };
        ordered.sort_by_key(|&(word, count)| (std::cmp::Reverse(count), key(word)));
        let mut classes: Vec<Vec<&str>> = vec![Vec::new(); c];
        let mut sums = vec![0; c];
        for (word, count) in ordered {
            let least = (0..c).min_by_key(|&class| (sums[class], class)).expect("c is not 0");
            classes[least].push(word);
            sums[least] += count;
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let interval = |class: usize, way: i64| {
            let known = words.iter().filter(|word| classes[class].contains(word)).count();
            let (share, expected) =
                (known as f64 / words.len() as f64, sums[class] as f64 / all.len() as f64);
            let deviation = if sums[class] > 0 { share / expected - 1.0 } else { 0.0 };
            let shift = (way as f64 + 0.5) / n as f64 - 0.5;
            ((deviation / w + r as f64 / 2.0 + shift).floor() as i64).clamp(0, r - 1)
        };
        (0..n).map(|way| (0..c).map(|class| interval(class, way)).collect()).collect()
    }

    proptest! {
        #[test]
        fn texts_share_a_fingerprint_when_all_their_intervals_are_equal(
            texts in prop::collection::vec("([a-f] ){1,30}", 1..4),
            a in prop::sample::subsequence((0..40).collect::<Vec<usize>>(), 1..40),
            b in prop::sample::subsequence((0..40).collect::<Vec<usize>>(), 1..40),
            c in 2usize..5, r in 2i64..4, n in 1i64..4,
        ) {
            let words: Vec<&str> = texts.iter().flat_map(|text| text.split_whitespace()).collect();
            let pick = |chosen: &[usize]| -> String {
                chosen.iter().map(|i| format!("{} ", words[i % words.len()])).collect()
            };
            let (a, b) = (pick(&a), pick(&b));
            let table = table("words", 1, &texts);
            let scheme = parse_with(&format!("fuzzy(c={c},r={r},n={n},w=50)"), Some(&table)).unwrap();
            let sign = |text: &str| {
                let mut signature = Vec::new();
                scheme.sign(&tokens("words", text).hashes, &mut signature, Stop::NEVER).unwrap();
                signature
            };
            let expected: Vec<bool> = naive(&texts, &a, c, r, n, 0.5)
                .into_iter().zip(naive(&texts, &b, c, r, n, 0.5)).map(|(a, b)| a == b).collect();
            let found: Vec<bool> =
                sign(&a).iter().zip(sign(&b)).map(|(a, b)| a.key == b.key).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
