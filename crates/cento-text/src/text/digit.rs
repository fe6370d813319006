//! Decimal digits of all scripts.

use super::unicode::is_number;

/// The zeros of scripts whose digits have consecutive code points.
const ZEROS: [char; 17] = [
    '\u{660}', '\u{6f0}', '\u{966}', '\u{9e6}', '\u{a66}', '\u{ae6}', '\u{b66}', '\u{be6}',
    '\u{c66}', '\u{ce6}', '\u{d66}', '\u{e50}', '\u{ed0}', '\u{f20}', '\u{1040}', '\u{17e0}',
    '\u{ff10}',
];

/// Returns the value of a decimal digit, in the scripts of today.
pub fn decimal_digit(c: char) -> Option<u32> {
    let of_script = |zero: &char| u32::from(c).checked_sub((*zero).into()).filter(|of| *of < 10);
    // Most characters are letters, and one look-up tells.
    let other = || is_number(c).then(|| ZEROS.iter().find_map(of_script)).flatten();
    c.to_digit(10).or_else(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_every_script_have_their_values() {
        for zero in ZEROS.into_iter().chain(['0']) {
            let digits = (u32::from(zero)..).take(10).filter_map(char::from_u32);
            assert!(digits.map(decimal_digit).eq((0..10).map(Some)), "{zero:?}");
        }
        assert!(['a', '\u{b2}', '\u{bd}', '\u{2167}', '\u{4e09}'].map(decimal_digit) == [None; 5]);
    }
}
