//! Locality-sensitive hashing: documents with near vectors of word frequencies.
//!
//! Locality-sensitive hashing with 2-stable distributions (Datar, Immorlica, Indyk and Mirrokni
//! 2004): the vector of a document's word frequencies, of length 1, is projected on random
//! directions, and every line is cut into pieces of width w. Near vectors fall into the same piece.
//! r projections make a key, and b keys make a signature.

#[cfg(test)]
use super::family::Laws;
use super::family::{Family, Kind, SchemeBuilder};
use super::{Fingerprint, SchemeMethod};
use crate::Result;
use crate::hash::{BuildKeyHasher, mix64};
use crate::runtime::Stop;
use crate::spec::Parameter;
use std::collections::HashMap;

pub(super) const FAMILY: Family = Family {
    name: "lsh",
    parameters: &[
        Parameter::number("b", 16, 1, 256, "the fingerprints of a document"),
        Parameter::number("r", 8, 1, 64, "the projections that make a fingerprint"),
        Parameter::number("w", 50, 1, 1000, "the width of a piece of a line, in hundredths"),
    ],
    summary: "projections of the words' frequencies",
    density: "b a document",
    source: "Datar, Immorlica, Indyk and Mirrokni 2004",
    example: "lsh(b=16,r=8,w=50)",
    kind: Kind::Sketch,
    build: SchemeBuilder::Alone(|spec| {
        let (keys, rows) = (spec.get("b") as usize, spec.get("r") as usize);
        Box::new(Lsh { keys, rows, width: f64::from(spec.get("w")) / 100.0 })
    }),
    #[cfg(test)]
    laws: Laws { pins: &[("lsh", "words", 557434627000960003)], is_coarse: true, ..Laws::NONE },
};

/// `lsh(b,r,w)`: b keys of r projections. `w` is in hundredths.
#[derive(Debug)]
struct Lsh {
    keys: usize,
    rows: usize,
    width: f64,
}

impl Lsh {
    /// Returns the pieces that the projections fall into.
    fn pieces(&self, hashes: &[u64], stop: &Stop) -> Result<Vec<i64>> {
        // Counts words in the order of first occurrence, so that sums are the same on every
        // machine.
        let mut places: HashMap<u64, usize, BuildKeyHasher> = HashMap::default();
        let mut words: Vec<(u64, f64)> = Vec::new();
        for &hash in hashes {
            let place = *places.entry(hash).or_insert(words.len());
            match words.get_mut(place) {
                Some(word) => word.1 += 1.0,
                None => words.push((hash, 1.0)),
            }
        }
        let length = words.iter().map(|word| word.1 * word.1).sum::<f64>().sqrt();
        let mut sums = vec![0.0; self.keys * self.rows];
        for (at, (word, count)) in words.into_iter().enumerate() {
            // A word has at most 16384 projections, each a dozen hashes.
            if at.is_multiple_of(WORDS_BETWEEN_LOOKS) {
                stop.check()?;
            }
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum += count / length * normal(mix64(word ^ mix64(i as u64)));
            }
        }
        let offset = |i: usize| unit(mix64(OFFSET ^ i as u64)) * self.width;
        let piece = |(i, sum): (usize, f64)| ((sum + offset(i)) / self.width).floor() as i64;
        Ok(sums.into_iter().enumerate().map(piece).collect())
    }
}

const WORDS_BETWEEN_LOOKS: usize = 64;

const OFFSET: u64 = 0x6f66_6673_6574;

/// Returns a number from 0 to 1.
fn unit(random: u64) -> f64 {
    (random >> 11) as f64 / (1u64 << 53) as f64
}

/// Returns a nearly normally distributed number: the sum of twelve uniform numbers, less six. Sums
/// are the same on every machine. The logarithms and cosines of a usual normal generator are not.
fn normal(random: u64) -> f64 {
    let even = |i: u64| unit(mix64(random.wrapping_add(i)));
    (0..12).map(even).sum::<f64>() - 6.0
}

impl SchemeMethod for Lsh {
    fn key_bits(&self) -> u8 {
        u64::BITS as u8
    }

    fn sign(&self, hashes: &[u64], signature: &mut Vec<Fingerprint>, stop: &Stop) -> Result<()> {
        if hashes.is_empty() {
            return Ok(());
        }
        let pieces = self.pieces(hashes, stop)?;
        signature.extend(pieces.chunks(self.rows).enumerate().map(|(band, pieces)| {
            let key = pieces.iter().fold(band as u64, |key, &piece| mix64(key ^ piece as u64));
            Fingerprint { key, position: 0 }
        }));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_nearly_normal() {
        let drawn: Vec<f64> = (0..20_000).map(|i| normal(mix64(i))).collect();
        let mean = drawn.iter().sum::<f64>() / 20_000.0;
        let variance = drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 20_000.0;
        let within = drawn.iter().filter(|x| x.abs() < 1.0).count() as f64 / 20_000.0;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean}, {variance}");
        assert!((within - 0.683).abs() < 0.02, "{within}");
    }
}
