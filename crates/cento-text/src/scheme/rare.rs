//! Selection of runs that are rare enough in a collection, or frequent enough.
//!
//! - `rare(k,f)`: the k-grams that occur at most `f` times in the collection (Heintze 1996: once).
//! - `spex(k)`: the k-grams that occur at least twice, because only these can be shared (Bernstein
//!   and Zobel 2004). The passes of the paper are in [`super::spex`]. A table of all counts also
//!   works.

#[cfg(test)]
use super::family::Laws;
use super::family::{Family, K, K_GRAMS, L_MAX, SchemeBuilder, Table};
use super::frequency::FrequencyTable;
use super::grams::Grams;
use super::{Fingerprint, SchemeMethod};
use crate::Result;
use crate::runtime::Stop;
use crate::spec::{Parameter, Spec};
use std::sync::Arc;

pub(super) const RARE: Family = Family {
    name: "rare",
    parameters: &[
        K,
        Parameter::number("f", 1, 1, L_MAX, "how often the collection may have a run"),
    ],
    summary: "runs that a collection has at most `f` times",
    density: "varies",
    source: "Heintze 1996",
    example: "rare(k=5,f=1)",
    kind: K_GRAMS,
    build: SchemeBuilder::With(Table::Runs("k"), |spec, table| {
        Box::new(RareGrams::new(spec, table, CountRule::AtMost(u64::from(spec.get("f")))))
    }),
    #[cfg(test)]
    laws: Laws {
        small: &["rare(k=2)"],
        pins: &[
            ("rare(k=2)", "words", 12944545074934687255),
            ("rare(k=4,f=2)", "chars", 583964147300452261),
        ],
        ..Laws::NONE
    },
};

pub(super) const SPEX: Family = Family {
    name: "spex",
    parameters: &[K],
    summary: "runs that a collection has at least twice",
    density: "varies",
    source: "Bernstein and Zobel 2004",
    example: "spex(k=5)",
    kind: K_GRAMS,
    build: SchemeBuilder::With(Table::Repeated("k"), |spec, table| {
        Box::new(RareGrams::new(spec, table, CountRule::AtLeast(2)))
    }),
    #[cfg(test)]
    laws: Laws {
        small: &["spex(k=1)"],
        pins: &[("spex(k=2)", "words", 374401932380666282)],
        ..Laws::NONE
    },
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CountRule {
    /// At most this count.
    AtMost(u64),
    /// At least this count.
    AtLeast(u64),
}

/// The k-grams whose count in the collection satisfies a [`CountRule`].
#[derive(Debug)]
struct RareGrams {
    k: usize,
    rule: CountRule,
    grams: Grams,
    table: Arc<FrequencyTable>,
}

impl RareGrams {
    fn new(spec: &Spec, table: Arc<FrequencyTable>, rule: CountRule) -> RareGrams {
        let k = spec.get("k") as usize;
        RareGrams { k, rule, grams: Grams::new(k, &table.header().analyzer), table }
    }
}

impl SchemeMethod for RareGrams {
    fn key_bits(&self) -> u8 {
        self.grams.key_bits()
    }

    fn sign(&self, hashes: &[u64], signature: &mut Vec<Fingerprint>, stop: &Stop) -> Result<()> {
        if hashes.len() < self.k {
            let key = (!hashes.is_empty()).then(|| self.grams.key(hashes));
            signature.extend(key.map(|key| Fingerprint { key, position: 0 }));
            return Ok(());
        }
        let mut rarest = (u64::MAX, 0, 0);
        for (position, key) in (0u32..).zip(self.grams.keys(hashes)) {
            stop.check_at(position as usize)?;
            let count = self.table.count(key);
            let is_kept = match self.rule {
                CountRule::AtMost(most) => count <= most,
                CountRule::AtLeast(least) => count >= least,
            };
            if is_kept {
                signature.push(Fingerprint { key, position });
            }
            if count <= rarest.0 {
                rarest = (count, key, position);
            }
        }
        // Keeps the rightmost of the rarest k-grams, so that an exact copy can be found.
        if signature.is_empty() {
            signature.push(Fingerprint { key: rarest.1, position: rarest.2 });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::scheme::frequency::testing::{sign, table};
    use proptest::prelude::*;
    use std::collections::HashMap;

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
}
