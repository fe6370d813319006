//! Similarity hashes: documents with nearly the same words, equally often.
//!
//! Charikar's similarity hash of 64 bits: every occurrence of a k-gram votes on every bit with its
//! hash. The more alike two documents are, the fewer bits differ. To find all documents within a
//! Hamming distance d by look-ups alone, the bits are cut into d + 3 blocks. At most d blocks
//! differ, so at least 3 blocks are equal (Manku, Jain and Das Sarma 2007, section 3). Every choice
//! of 3 blocks is a key.
//!
//! Documents that share a key agree in at least about 3 / (d + 3) of the bits. The measures of a
//! hit count shared keys, and contain no more information about the distance.

#[cfg(test)]
use super::family::Laws;
use super::family::{Family, K_MAX, Kind, SchemeBuilder};
use super::ngram;
use super::{Fingerprint, SchemeMethod};
use crate::Result;
use crate::hash::mix64;
use crate::runtime::Stop;
use crate::spec::Parameter;

pub(super) const FAMILY: Family = Family {
    name: "simhash",
    parameters: &[
        Parameter::number("k", 2, 1, K_MAX, "the tokens of a run"),
        Parameter::number("d", 3, 1, 4, "how many of the 64 bits may differ"),
    ],
    summary: "blocks of a similarity hash",
    density: "4 to 35 a document",
    source: "Charikar 2002; Manku, Jain and Das Sarma 2007, section 3",
    example: "simhash(k=2,d=3)",
    kind: Kind::Sketch,
    build: SchemeBuilder::Alone(|spec| {
        Box::new(Simhash { k: spec.get("k") as usize, masks: masks(spec.get("d")) })
    }),
    #[cfg(test)]
    laws: Laws { pins: &[("simhash", "words", 411890099533233969)], is_coarse: true, ..Laws::NONE },
};

/// The number of blocks that are certain to be equal.
const EQUAL_BLOCKS: u32 = 3;

/// `simhash(k,d)`: keys such that documents within Hamming distance `d` share a key.
#[derive(Debug)]
struct Simhash {
    k: usize,
    /// The bits of the blocks, by key.
    masks: Vec<u64>,
}

/// Returns the bits of the blocks, for each choice of blocks.
fn masks(d: u32) -> Vec<u64> {
    let blocks = d + EQUAL_BLOCKS;
    let edge = |block: u32| u64::BITS * block / blocks;
    let bits = |block: u32| (edge(block)..edge(block + 1)).fold(0, |mask, bit| mask | 1u64 << bit);
    let chosen = (0..1u32 << blocks).filter(|chosen| chosen.count_ones() == EQUAL_BLOCKS);
    let mask = |chosen: u32| {
        let blocks = (0..blocks).filter(|block| chosen >> block & 1 == 1);
        blocks.fold(0, |mask, block| mask | bits(block))
    };
    chosen.map(mask).collect()
}

/// Returns the similarity hash of a document with these k-grams.
fn simhash(values: impl Iterator<Item = u64>) -> u64 {
    let mut votes = [0i64; 64];
    for value in values {
        let hash = mix64(value ^ VOTE);
        for (bit, votes) in votes.iter_mut().enumerate() {
            *votes += (hash >> bit & 1) as i64 * 2 - 1;
        }
    }
    let decided = votes.iter().enumerate().map(|(bit, &votes)| u64::from(votes > 0) << bit);
    decided.fold(0, |hash, bit| hash | bit)
}

/// Makes the votes independent of other uses of the values.
const VOTE: u64 = 0x0073_696d_6861_7368;

impl SchemeMethod for Simhash {
    fn key_bits(&self) -> u8 {
        u64::BITS as u8
    }

    fn sign(&self, hashes: &[u64], signature: &mut Vec<Fingerprint>, _: &Stop) -> Result<()> {
        if hashes.is_empty() {
            return Ok(());
        }
        let hash = simhash(ngram::values(hashes, self.k));
        let key = |(table, mask): (u64, &u64)| mix64(mix64(table) ^ (hash & mask));
        let keys = (0u64..).zip(&self.masks).map(key);
        signature.extend(keys.map(|key| Fingerprint { key, position: 0 }));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_within_the_distance_share_a_key() {
        for d in 1..=4 {
            let masks = masks(d);
            for round in 0..2000u64 {
                let a = mix64(round);
                let flips = (0..u64::from(d)).map(|i| 1u64 << (mix64(round << 8 | i) % 64));
                let b = flips.fold(a, |b, flip| b ^ flip);
                assert!(masks.iter().any(|mask| a & mask == b & mask), "{a:x} and {b:x}");
            }
        }
    }

    #[test]
    fn alike_documents_have_near_hashes() {
        let words = |from: u64| (from..from + 400).map(mix64);
        let distance = |a, b| (simhash(words(a)) ^ simhash(words(b))).count_ones();
        assert_eq!(distance(0, 0), 0);
        assert!(distance(0, 4) < distance(0, 200) && distance(0, 200) < distance(0, 4000));
        assert!((24..=40).contains(&distance(0, 4000)));
    }
}
