//! Minhash: a few numbers that show whether two whole documents are near-duplicates.
//!
//! The numbers are the minimum hashes of a document's k-grams under m random orders. Two documents
//! agree in a minimum with a probability equal to their resemblance (Broder 2000). Several minimums
//! together make a key, so that documents share a key only if all its minimums agree:
//!
//! - `minhash(k,b,r)`: b bands of r minimum hashes. Documents of resemblance s share a key with
//!   probability 1 - (1 - s^r)^b.
//! - `supershingle(k)`: 84 minimum hashes, 6 keys of 14 (Broder 2000; Fetterly, Manasse and Najork
//!   2003, who take two common keys as evidence of a near-duplicate).
//! - `megashingle(k)`: the 15 pairs of the 6 supershingles, so that a single common key is the same
//!   evidence.
//!
//! The minimum hashes come from a single pass: a k-gram falls into one of m bins, and an empty bin
//! borrows the minimum of another bin (one permutation hashing with optimal densification,
//! Shrivastava 2017).

#[cfg(test)]
use super::family::Laws;
use super::family::{Family, K, Kind, SchemeBuilder};
use super::ngram;
use super::{Fingerprint, SchemeMethod};
use crate::Result;
use crate::hash::mix64;
use crate::runtime::Stop;
use crate::spec::Parameter;

pub(super) const MINHASH: Family = Family {
    name: "minhash",
    parameters: &[
        K,
        Parameter::number("b", 16, 1, 256, "the bands, each a fingerprint"),
        Parameter::number("r", 8, 1, 64, "the least hashes that make a band"),
    ],
    summary: "least hashes, in bands",
    density: "b a document",
    source: "Broder 2000; one permutation: Shrivastava 2017",
    example: "minhash(k=5,b=16,r=8)",
    kind: Kind::Sketch,
    build: SchemeBuilder::Alone(|spec| {
        let (bands, rows) = (spec.get("b") as usize, spec.get("r") as usize);
        Box::new(Minhash { k: spec.get("k") as usize, joining: Joining::Bands { bands, rows } })
    }),
    #[cfg(test)]
    laws: Laws {
        small: &["minhash(k=3)"],
        pins: &[("minhash", "words", 17072807482242377637)],
        ..Laws::NONE
    },
};

pub(super) const SUPERSHINGLE: Family = Family {
    name: "supershingle",
    parameters: &[K],
    summary: "least hashes, joined by 14",
    density: "6 a document",
    source: "Broder 2000; Fetterly, Manasse and Najork 2003",
    example: "supershingle(k=5)",
    kind: Kind::Sketch,
    build: SchemeBuilder::Alone(|spec| {
        Box::new(Minhash { k: spec.get("k") as usize, joining: Joining::Super })
    }),
    #[cfg(test)]
    laws: Laws {
        small: &["supershingle(k=3)"],
        pins: &[("supershingle", "words", 3894801925132434354)],
        ..Laws::NONE
    },
};

pub(super) const MEGASHINGLE: Family = Family {
    name: "megashingle",
    parameters: &[K],
    summary: "pairs of supershingles",
    density: "15 a document",
    source: "Broder 2000; Fetterly, Manasse and Najork 2003",
    example: "megashingle(k=5)",
    kind: Kind::Sketch,
    build: SchemeBuilder::Alone(|spec| {
        Box::new(Minhash { k: spec.get("k") as usize, joining: Joining::Mega })
    }),
    #[cfg(test)]
    laws: Laws {
        small: &["megashingle(k=3)"],
        pins: &[("megashingle", "words", 3393743742269838500)],
        ..Laws::NONE
    },
};

/// How minimum hashes are joined into keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joining {
    /// The number of bands, and the number of hashes in a band.
    Bands { bands: usize, rows: usize },
    /// The 6 supershingles of Broder (1997).
    Super,
    /// The 15 pairs of supershingles.
    Mega,
}

/// The number of minimum hashes of supershingling.
const SHINGLES: usize = 84;
const SUPERSHINGLES: usize = 6;

/// Minimum hashes of k-grams, joined into 64-bit keys at position 0.
#[derive(Debug)]
struct Minhash {
    k: usize,
    joining: Joining,
}

impl Minhash {
    fn keys(&self, values: impl Iterator<Item = u64>) -> Vec<u64> {
        let join = |least: &[u64], rows: usize| -> Vec<u64> {
            let bands = least.chunks(rows).enumerate();
            bands
                .map(|(band, rows)| rows.iter().fold(band as u64, |key, &v| mix64(key ^ v)))
                .collect()
        };
        match self.joining {
            Joining::Bands { bands, rows } => join(&least(values, bands * rows), rows),
            Joining::Super => join(&least(values, SHINGLES), SHINGLES / SUPERSHINGLES),
            Joining::Mega => {
                let supers = join(&least(values, SHINGLES), SHINGLES / SUPERSHINGLES);
                let pairs = (0..supers.len()).flat_map(|i| (0..i).map(move |j| (j, i)));
                pairs.map(|(j, i)| mix64(mix64(supers[j]) ^ supers[i])).collect()
            }
        }
    }
}

/// Returns the minimum values under `m` orders, or nothing if there are no values.
fn least(values: impl Iterator<Item = u64>, m: usize) -> Vec<u64> {
    let mut bins = vec![u64::MAX; m];
    for value in values {
        // The high half of the hash chooses the bin, the whole hash the order within the bin.
        let hash = mix64(value ^ ORDER);
        let bin = &mut bins[(((hash >> 32) * m as u64) >> 32) as usize];
        *bin = (*bin).min(hash.rotate_left(32));
    }
    let full = bins.clone();
    if full.iter().all(|&bin| bin == u64::MAX) {
        return Vec::new();
    }
    for (i, bin) in bins.iter_mut().enumerate().filter(|(_, bin)| **bin == u64::MAX) {
        // An empty bin tries the remaining bins in the same order in every document. Two documents
        // therefore borrow from the same bin, unless only one document has a value there.
        let lent = (1u64..).map(|attempt| {
            let drawn = mix64(mix64(i as u64) ^ attempt) >> 32;
            full[((drawn * m as u64) >> 32) as usize]
        });
        *bin = lent.into_iter().find(|&lent| lent != u64::MAX).expect("a bin is not empty");
    }
    bins
}

/// Makes this order independent of the order of winnowing.
const ORDER: u64 = 0x006d_696e_6861_7368;

impl SchemeMethod for Minhash {
    fn key_bits(&self) -> u8 {
        u64::BITS as u8
    }

    fn sign(&self, hashes: &[u64], signature: &mut Vec<Fingerprint>, _: &Stop) -> Result<()> {
        let keys = self.keys(ngram::values(hashes, self.k));
        signature.extend(keys.into_iter().map(|key| Fingerprint { key, position: 0 }));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreement_is_resemblance() {
        // Sets of 1,500 values each that share 1500 - n of 1500 + n values.
        for n in [0, 300, 700, 1500] {
            let mut agreed = 0;
            for round in 0..40u64 {
                let set = |from: u64| (from..from + 1500).map(move |i| mix64(round << 32 | i));
                let (a, b) = (least(set(0), 100), least(set(n), 100));
                agreed += a.iter().zip(&b).filter(|(a, b)| a == b).count();
            }
            let (share, expected) = (agreed as f64 / 4000.0, (1500 - n) as f64 / (1500 + n) as f64);
            assert!((share - expected).abs() < 0.03, "{n}: {share}, not {expected}");
        }
    }

    #[test]
    fn bins_without_a_value_borrow_alike() {
        // Five values in 84 bins: nearly all bins borrow, and agreement still equals the
        // resemblance.
        let mut agreed = 0;
        for round in 0..400u64 {
            let set = |from: u64| (from..from + 5).map(move |i| mix64(round << 32 | i));
            let (a, b) = (least(set(0), 84), least(set(1), 84));
            agreed += a.iter().zip(&b).filter(|(a, b)| a == b).count();
        }
        let share = agreed as f64 / (400.0 * 84.0);
        assert!((share - 4.0 / 6.0).abs() < 0.04, "{share}");
    }
}
