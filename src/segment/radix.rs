//! A radix sort of integers by their high bits, for integers whose low bits are already in order.
//!
//! Fingerprints come in the order of their occurrences, and digests in the order of their
//! documents. In an integer with the fingerprint or digest packed above its occurrence or document,
//! sorting by the high bits is enough if equal ones stay in order. A radix sort from the lowest
//! digit of the high bits does that, with a pass for each byte that differs between any two values.
//! Sorting whole integers takes up to four more passes.

/// A digit is a byte.
const DIGIT_BITS: u32 = 8;
const DIGITS: usize = 1 << DIGIT_BITS;

/// Fewer values are sorted by comparison.
const COMPARED_MAX: usize = 128;

/// Sorts `values` by their bits from `shift` on. Values with equal high bits keep their order.
pub fn sort_from(values: &mut Vec<u64>, shift: u32) {
    if values.len() <= COMPARED_MAX {
        values.sort_by_key(|value| value >> shift);
        return;
    }
    let differing = values.iter().fold(0, |all, value| all | (value ^ values[0]));
    if differing >> shift == 0 {
        return;
    }
    let digits = (shift..u64::BITS).step_by(DIGIT_BITS as usize);
    let mut other = vec![0; values.len()];
    for digit in digits.filter(|&digit| differing >> digit & (DIGITS as u64 - 1) != 0) {
        distribute(values, &mut other, digit);
        std::mem::swap(values, &mut other);
    }
}

/// Copies `from` to `to` in the order of a digit.
fn distribute(from: &[u64], to: &mut [u64], digit: u32) {
    let digit_of = |value: u64| (value >> digit) as usize & (DIGITS - 1);
    let mut counts = [0; DIGITS];
    from.iter().for_each(|&value| counts[digit_of(value)] += 1);
    let mut start = 0;
    let mut starts = counts.map(|count| {
        start += count;
        start - count
    });
    for &value in from {
        let place = &mut starts[digit_of(value)];
        to[*place] = value;
        *place += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix64;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_stable_sort_by_the_key(
            count in 0u64..2000,
            bits in 1u32..=64,
            keys in prop_oneof![Just(1u64), Just(40), Just(u64::MAX)],
        ) {
            let shift = 64 - bits;
            let low = |i: u64| if shift == 0 { 0 } else { i & ((1 << shift) - 1) };
            let high = |i: u64| if shift == 64 { 0 } else { (mix64(i) % keys) << shift };
            let mut values: Vec<u64> = (0..count).map(|i| high(i) | low(count - i)).collect();
            let mut expected = values.clone();
            expected.sort_by_key(|value| value >> shift);
            sort_from(&mut values, shift);
            prop_assert_eq!(values, expected);
        }
    }
}
