//! Shares with their uncertainty.

use serde::Serialize;

/// A share, with the interval that contains the true share in 95 of 100 cases.
///
/// The interval of Wilson (1927) also works for small counts and for shares near 0 and 1.
///
/// ```
/// use cento_collections::tune::Share;
///
/// let share = Share::new(9, 10);
/// assert_eq!(share.value, 0.9);
/// assert!(share.low > 0.59 && share.high < 0.99);
/// assert_eq!((Share::new(0, 0).low, Share::new(0, 0).high), (0.0, 1.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Share {
    /// The number of things that count.
    pub part: u64,
    /// The number of all things.
    pub of: u64,
    /// The share, 0 if there are no things.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// The standard normal deviate of a 95 % interval.
const Z: f64 = 1.96;

impl Share {
    /// Returns the share of `part` things among `of`, with its interval.
    #[must_use]
    pub fn new(part: u64, of: u64) -> Share {
        if of == 0 {
            return Share { part, of, value: 0.0, low: 0.0, high: 1.0 };
        }
        let (n, value) = (of as f64, part as f64 / of as f64);
        let scale = 1.0 + Z * Z / n;
        let middle = (value + Z * Z / (2.0 * n)) / scale;
        let half = Z * (value * (1.0 - value) / n + Z * Z / (4.0 * n * n)).sqrt() / scale;
        let (low, high) = ((middle - half).max(0.0), (middle + half).min(1.0));
        Share { part, of, value, low: low.min(value), high: high.max(value) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_tables() {
        // Newcombe (1998), Statistics in Medicine 17, table I, method 3.
        let check = |part: u64, of: u64, low: f64, high: f64| {
            let share = Share::new(part, of);
            assert!((share.low - low).abs() < 5e-4, "{part} of {of}: {share:?}");
            assert!((share.high - high).abs() < 5e-4, "{part} of {of}: {share:?}");
        };
        check(81, 263, 0.2553, 0.3662);
        check(15, 148, 0.0624, 0.1605);
        check(0, 20, 0.0, 0.1611);
        check(1, 29, 0.0061, 0.1718);
    }

    #[test]
    fn an_interval_has_its_share_and_is_narrower_for_more_things() {
        for of in 1..60 {
            for part in 0..=of {
                let (few, many) = (Share::new(part, of), Share::new(10 * part, 10 * of));
                assert!((few.low..=few.high).contains(&few.value), "{few:?}");
                assert!(many.high - many.low < few.high - few.low, "{few:?} {many:?}");
            }
        }
    }
}
