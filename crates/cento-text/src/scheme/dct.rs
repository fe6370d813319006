//! DCT fingerprints, which survive the replacement of one word.
//!
//! DCT fingerprinting (Seo and Croft 2008, section 4.2.2) treats the hashes of a segment's words as
//! a signal, and its quantized cosine transform is the fingerprint. A changed word changes every
//! coefficient a little, which the quantization may absorb.
//!
//! The paper shows its 32-bit format only in a figure, so cento defines the format: 5 bits for the
//! number of words (at most 31), then 3 bits for each of the lowest coefficients (at most 9).

use super::breaking::long_segments;
#[cfg(test)]
use super::family::Laws;
use super::family::{Family, L_MAX, SEGMENTS, SchemeBuilder};
use super::{Fingerprint, SchemeMethod};
use crate::Result;
use crate::runtime::Stop;
use crate::spec::Parameter;

pub(super) const FAMILY: Family = Family {
    name: "dct",
    parameters: &[Parameter::number(
        "p",
        6,
        2,
        L_MAX,
        "one word in `p` ends a segment; shorter segments are left out",
    )],
    summary: "quantised cosine transforms of the segments of `breaking`, of `p` tokens and more",
    density: "less than 1 / p",
    source: "Seo and Croft 2008, section 4.2.2",
    example: "dct(p=6)",
    kind: SEGMENTS,
    build: SchemeBuilder::Alone(|spec| Box::new(Dct { p: spec.get("p") as usize })),
    #[cfg(test)]
    laws: Laws {
        small: &["dct(p=3)"],
        pins: &[("dct", "words", 12723761042333237180)],
        is_coarse: true,
        ..Laws::NONE
    },
};

const FORMAT_BITS: u8 = 32;
const LEN_BITS: u32 = 5;
const COEFFICIENT_BITS: u32 = 3;
/// As many coefficients as the format has room for.
const COEFFICIENTS_MAX: usize = ((FORMAT_BITS as u32 - LEN_BITS) / COEFFICIENT_BITS) as usize;

/// `dct(p)`: the transforms of the segments of revised hash-breaking.
#[derive(Debug)]
struct Dct {
    p: usize,
}

/// Steps ii to vii of the paper: the code of a segment. Segments longer than `p` also use only the
/// `p` lowest coefficients.
fn code(hashes: &[u64], p: usize, stop: &Stop) -> Result<u32> {
    let n = hashes.len();
    // The upper 32 bits, because f64 represents these numbers exactly.
    let mut signal: Vec<f64> = hashes.iter().map(|hash| (hash >> 32) as f64).collect();
    let mut sorted = signal.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0;
    signal.iter_mut().for_each(|value| *value -= median);
    let greatest = signal.iter().fold(0.0, |greatest: f64, value| greatest.max(value.abs()));
    if greatest > 0.0 {
        signal.iter_mut().for_each(|value| *value /= greatest);
    }
    let used = n.min(p).min(COEFFICIENTS_MAX);
    let mut code = n.min((1 << LEN_BITS) - 1) as u32;
    for k in 0..used {
        // A segment may be the whole document, so a long loop checks for cancellation.
        if n >= SEGMENT_LONG {
            stop.check()?;
        }
        let wave = |i: usize| cos_pi((2 * i + 1) as u64 * k as u64, 2 * n as u64);
        let coefficient: f64 = signal.iter().enumerate().map(|(i, value)| value * wave(i)).sum();
        code |= quantise(coefficient, n) << (LEN_BITS + k as u32 * COEFFICIENT_BITS);
    }
    Ok(code)
}

/// The number of tokens whose transform takes a millisecond.
const SEGMENT_LONG: usize = 1 << 13;

/// Returns the step that contains a coefficient of a segment of `n` words. The coefficients of a
/// random signal spread sqrt(n / 2) times as far as its values. The outermost steps have no bound.
fn quantise(coefficient: f64, n: usize) -> u32 {
    let steps = f64::from(1u32 << COEFFICIENT_BITS);
    let spread = (n as f64 / 2.0).sqrt();
    let step = (coefficient / spread + 1.0) / 2.0 * steps;
    step.floor().clamp(0.0, steps - 1.0) as u32
}

/// Returns cos(pi a / b), identical to the last bit on every machine, because no function of the
/// system's library is called.
fn cos_pi(a: u64, b: u64) -> f64 {
    // Moves the angle into the first quadrant, exactly.
    let a = a % (2 * b);
    let a = if a > b { 2 * b - a } else { a };
    let (a, sign) = if 2 * a > b { (b - a, -1.0) } else { (a, 1.0) };
    let x = std::f64::consts::PI * a as f64 / b as f64;
    let (mut term, mut sum) = (1.0, 1.0);
    for i in 1..=12u32 {
        term *= -x * x / f64::from((2 * i - 1) * 2 * i);
        sum += term;
    }
    sign * sum
}

impl SchemeMethod for Dct {
    fn key_bits(&self) -> u8 {
        FORMAT_BITS
    }

    fn sign(&self, hashes: &[u64], signature: &mut Vec<Fingerprint>, stop: &Stop) -> Result<()> {
        let segments = long_segments(hashes, self.p, self.p).into_iter();
        for (at, segment) in segments.enumerate() {
            stop.check_at(at)?;
            let position = segment.start as u32;
            let code = code(&hashes[segment], self.p, stop)?;
            signature.push(Fingerprint { key: mix32(code).into(), position });
        }
        Ok(())
    }
}

/// Mixes a code by a bijection that spreads codes evenly (the 32-bit finalizer of MurmurHash3).
fn mix32(code: u32) -> u32 {
    let code = (code ^ (code >> 16)).wrapping_mul(0x85eb_ca6b);
    let code = (code ^ (code >> 13)).wrapping_mul(0xc2b2_ae35);
    code ^ (code >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix64;

    fn code(hashes: &[u64], p: usize) -> u32 {
        super::code(hashes, p, Stop::NEVER).unwrap()
    }

    #[test]
    fn the_cosine_is_the_cosine() {
        for b in 1..200 {
            for a in 0..4 * b {
                let expected = (std::f64::consts::PI * a as f64 / b as f64).cos();
                assert!((cos_pi(a, b) - expected).abs() < 1e-14, "cos(pi {a}/{b})");
            }
        }
    }

    #[test]
    fn one_replaced_word_often_changes_nothing_and_two_seldom() {
        let words = |seed: u64| -> Vec<u64> { (0..8).map(|i| mix64(seed << 8 | i)).collect() };
        let survives = |replaced: &[usize]| {
            let same = (0..2000).filter(|&seed| {
                let before = words(seed);
                let mut after = before.clone();
                for &at in replaced {
                    after[at] = mix64((seed << 8) | (100 + at as u64));
                }
                code(&before, 4) == code(&after, 4)
            });
            same.count()
        };
        let (one, two) = (survives(&[3]), survives(&[3, 5]));
        assert!(one > 40 && two < one, "{one} and {two} of 2000");
    }
}
