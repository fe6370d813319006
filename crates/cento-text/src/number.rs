//! Logarithms and powers, equal on every machine.
//!
//! [`f64::ln`] comes from the platform's library, and its last bits differ between machines. A
//! weight that is rounded, or a threshold that is compared, would differ too. This module uses only
//! additions, multiplications and divisions, whose results IEEE 754 fixes.

/// Returns the natural logarithm, within 2 units in the last place. The logarithm of 0 is negative
/// infinity, of a negative number NaN.
///
/// The number is m 2^e with m from sqrt(1/2) to sqrt(2), so the logarithm is e ln 2 + ln m, and ln
/// m = 2 (s + s^3/3 + s^5/5 + ...) with s = (m - 1)/(m + 1), at most 0.172 (Abramowitz and Stegun
/// 1964, 4.1.27). The relative error of omitting the terms from s^23/23 on is less than 1e-17.
#[must_use]
pub fn ln(number: f64) -> f64 {
    if number == 0.0 {
        return f64::NEG_INFINITY;
    }
    if number.is_nan() || number < 0.0 {
        return f64::NAN;
    }
    if number == f64::INFINITY {
        return number;
    }
    // Multiplied by 2^54, a subnormal number is a normal number.
    let (scaled, less) = match number < f64::MIN_POSITIVE {
        true => (number * (1u64 << 54) as f64, 54),
        false => (number, 0),
    };
    let bits = scaled.to_bits();
    let mut exponent = (bits >> MANTISSA_BITS) as i32 - 1023 - less;
    let mut m = f64::from_bits(bits & ((1 << MANTISSA_BITS) - 1) | 1.0f64.to_bits());
    if m > std::f64::consts::SQRT_2 {
        m *= 0.5;
        exponent += 1;
    }
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    // Sums from the smallest term on, which loses least: s^21/21 to s^3/3, each divided by s.
    let series = (1..=10).rev().fold(0.0, |sum, k| square * (1.0 / f64::from(2 * k + 1) + sum));
    let exponent = f64::from(exponent);
    exponent * LN_2_HIGH + (2.0 * s + (2.0 * s * series + exponent * LN_2_LOW))
}

/// Returns the logarithm to base 2, within 4 units in the last place. Special values as in [`ln`].
#[must_use]
pub fn log2(number: f64) -> f64 {
    ln(number) / std::f64::consts::LN_2
}

/// Returns e to the power of a number, with a relative error below 1e-12. Out of range the result
/// is 0 or infinity.
///
/// The number is k ln 2 + r with |r| at most ln 2 / 2, and a series gives e^r (Abramowitz and
/// Stegun 1964, 4.2.1). The omitted terms, from r^18/18! on, are less than 1e-23.
#[must_use]
pub fn exp(number: f64) -> f64 {
    if number.is_nan() {
        return number;
    }
    let twos = (number / std::f64::consts::LN_2).round().clamp(-1100.0, 1100.0);
    let rest = (number - twos * LN_2_HIGH) - twos * LN_2_LOW;
    if twos <= -1022.0 {
        return 0.0;
    }
    if twos >= 1023.0 {
        return f64::INFINITY;
    }
    let series = (1..=17).rev().fold(1.0, |sum, k| 1.0 + sum * rest / f64::from(k));
    let power = (1023 + twos as i64) as u64;
    series * f64::from_bits(power << MANTISSA_BITS)
}

const MANTISSA_BITS: u32 = 52;

/// ln 2 in two parts. The high part has 32 bits, so its product with an exponent is exact.
const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN_2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(number: f64) {
        let (found, expected) = (ln(number), number.ln());
        assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{number:e}: {found:e}");
    }

    #[test]
    fn logarithms_are_those_of_the_platform_but_for_their_last_bits() {
        for number in [f64::from_bits(1), f64::MIN_POSITIVE / 3.0, f64::MIN_POSITIVE, f64::MAX] {
            check(number);
        }
        // Near one the logarithm is nearly zero, where cancellation would show first.
        for k in 1..100 {
            let near = f64::EPSILON * f64::from(k);
            let k = f64::from(k);
            [1.0 + near, 1.0 - near, k, 1.0 / k].into_iter().for_each(check);
        }
        for number in [std::f64::consts::SQRT_2, std::f64::consts::FRAC_1_SQRT_2] {
            [number.next_down(), number, number.next_up()].into_iter().for_each(check);
        }
        assert_eq!((ln(1.0), ln(0.0), ln(-0.0)), (0.0, f64::NEG_INFINITY, f64::NEG_INFINITY));
        assert_eq!(ln(f64::INFINITY), f64::INFINITY);
        assert!(ln(-1.0).is_nan() && ln(f64::NAN).is_nan() && ln(f64::NEG_INFINITY).is_nan());
    }

    #[test]
    fn powers_are_those_of_the_platform_but_for_their_last_bits() {
        for number in (-6900..6900).map(|k| f64::from(k) / 10.0 + 0.012_345) {
            let (found, expected) = (exp(number), number.exp());
            assert!((found - expected).abs() <= 1e-12 * expected, "{number}: {found:e}");
        }
        assert_eq!((exp(0.0), exp(-800.0), exp(f64::NEG_INFINITY)), (1.0, 0.0, 0.0));
        assert_eq!((exp(800.0), exp(f64::INFINITY)), (f64::INFINITY, f64::INFINITY));
        assert!(exp(f64::NAN).is_nan());
        assert_eq!(log2(8.0), 3.0);
    }

    #[test]
    fn logarithms_have_the_same_bits_on_every_machine() {
        for (number, bits) in [
            (2.0, 0x3fe6_2e42_fefa_39ef),
            (3.0, 0x3ff1_93ea_7aad_030b),
            (10.0, 0x4002_6bb1_bbb5_5516),
            (0.1, 0xc002_6bb1_bbb5_5515),
            (1.5, 0x3fd9_f323_ecbf_984c),
            (1_000_001.0 / 3.5, 0x4029_2020_9547_461c),
            (1e300, 0x4085_9634_47f8_7fb5),
            (5e-324, 0xc087_4385_446d_71c3),
        ] {
            assert_eq!(ln(number).to_bits(), bits, "{number}");
        }
    }

    proptest! {
        #[test]
        fn the_logarithm_of_any_number_is_near_that_of_the_platform(
            number in prop_oneof![any::<f64>().prop_map(f64::abs), 0.1f64..10.0, 1.0f64..1e12],
        ) {
            prop_assume!(number.is_finite() && number > 0.0);
            check(number);
        }
    }
}
