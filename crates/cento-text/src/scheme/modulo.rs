//! Selection of one k-gram in p, by its value alone.
//!
//! Cheaper to compute than winnowing and as small at `p = (w + 1) / 2`, but gaps have no bound: a
//! quotation may happen to have no fingerprint (Seo and Croft, 4.1.2).

#[cfg(test)]
use super::family::Laws;
use super::family::{Family, K, K_GRAMS, SchemeBuilder};
use super::ngram::{self, Rolling};
use super::{Fingerprint, SchemeMethod, Signer};
use crate::Result;
use crate::runtime::Stop;
use crate::scheme::Estimator;
use crate::spec::Parameter;

pub(super) const FAMILY: Family = Family {
    name: "mod",
    parameters: &[K, Parameter::number("p", 6, 1, 1 << 20, "one run in `p` is kept")],
    summary: "runs whose value is divisible by `p`",
    density: "1 / p",
    source: "Seo and Croft 2008, section 4.1.2",
    example: "mod(k=5,p=6)",
    kind: K_GRAMS,
    build: SchemeBuilder::Alone(|spec| {
        Box::new(Modulo::new(spec.get("k") as usize, spec.get("p")))
    }),
    #[cfg(test)]
    laws: Laws {
        small: &["mod(k=3,p=3)"],
        pins: &[("mod", "words", 11760955678119557914)],
        ..Laws::NONE
    },
};

/// `mod(k,p)`: the k-grams whose value is divisible by `p`, or else the rightmost minimum.
#[derive(Debug)]
struct Modulo {
    k: usize,
    p: u32,
    divisor: Divisor,
}

impl Modulo {
    fn new(k: usize, p: u32) -> Modulo {
        let divisor = Divisor::new(p);
        Modulo { k, p, divisor }
    }
}

impl SchemeMethod for Modulo {
    fn estimator(&self) -> Option<Estimator> {
        Some(Estimator::of_values(self.k as u32, self.p))
    }

    fn sign(&self, hashes: &[u64], signature: &mut Vec<Fingerprint>, _: &Stop) -> Result<()> {
        if ngram::sign_short(hashes, self.k, signature) {
            return Ok(());
        }
        let mut chosen = Chosen::default();
        chosen.push(self.divisor, 0, ngram::GramValues::new(hashes, self.k), signature);
        chosen.finish(signature);
        Ok(())
    }

    fn signer(&self) -> Option<Box<dyn Signer + '_>> {
        let rolling = Rolling::new(self.k);
        Some(Box::new(Choosing { divisor: self.divisor, rolling, chosen: Chosen::default() }))
    }
}

/// The state of the selection after the values so far.
struct Chosen {
    least: (u64, usize),
    is_empty: bool,
}

impl Default for Chosen {
    fn default() -> Chosen {
        Chosen { least: (u64::MAX, 0), is_empty: true }
    }
}

impl Chosen {
    #[inline(always)]
    fn push(
        &mut self,
        divisor: Divisor,
        first: usize,
        values: impl Iterator<Item = u64>,
        signature: &mut Vec<Fingerprint>,
    ) {
        let before = signature.len();
        let mut least = self.least;
        for (position, value) in (first..).zip(values) {
            if divisor.divides(value) {
                signature.push(ngram::fingerprint(value, position));
            }
            if value <= least.0 {
                least = (value, position);
            }
        }
        self.least = least;
        self.is_empty &= signature.len() == before;
    }

    fn finish(&self, signature: &mut Vec<Fingerprint>) {
        if self.is_empty {
            signature.push(ngram::fingerprint(self.least.0, self.least.1));
        }
    }
}

/// Selects values as tokens arrive.
struct Choosing {
    divisor: Divisor,
    rolling: Rolling,
    chosen: Chosen,
}

impl Signer for Choosing {
    fn push(&mut self, hashes: &[u64], signature: &mut Vec<Fingerprint>) {
        let (first, values) = self.rolling.push(hashes);
        self.chosen.push(self.divisor, first, values, signature);
    }

    fn finish(self: Box<Self>, signature: &mut Vec<Fingerprint>) {
        if !self.rolling.sign_short(signature) {
            self.chosen.finish(signature);
        }
    }
}

/// Tests divisibility without dividing: an odd divisor has an inverse modulo 2^64, and exactly the
/// multiples of the divisor have small products with the inverse (Granlund and Montgomery, 1994,
/// section 9). Rotation moves the factor 2^s of an even divisor to the top, where it makes the
/// product large.
#[derive(Debug, Clone, Copy)]
struct Divisor {
    inverse: u64,
    shift: u32,
    quotient_max: u64,
}

impl Divisor {
    fn new(p: u32) -> Divisor {
        assert!(p > 0, "the grammar bounds p");
        let shift = p.trailing_zeros();
        let odd = u64::from(p >> shift);
        // Newton's iteration doubles the number of correct bits, which is 3 at first.
        let mut inverse = odd;
        for _ in 0..5 {
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse)));
        }
        Divisor { inverse, shift, quotient_max: u64::MAX / u64::from(p) }
    }

    #[inline(always)]
    fn divides(self, value: u64) -> bool {
        value.wrapping_mul(self.inverse).rotate_right(self.shift) <= self.quotient_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix64;

    #[test]
    fn divisibility_is_that_of_division() {
        for p in (1..200).chain([255, 256, 6000, 65_535, 1 << 20, (1 << 20) - 1]) {
            let divisor = Divisor::new(p);
            let check = |value: u64| {
                assert_eq!(divisor.divides(value), value.is_multiple_of(p.into()), "{value} / {p}");
            };
            for i in 0..50 {
                check(i);
                check(u64::MAX - i);
                let random = mix64(i);
                check(random);
                check(random - random % u64::from(p));
            }
        }
    }
}
