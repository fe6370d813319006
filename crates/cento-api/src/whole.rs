//! Whole numbers in JSON: accepts numbers written with a point, and omits zeros.
//!
//! In JSON and in JSON schemas, `10`, `10.0` and `1e1` are the same number, and some languages
//! write only floating-point numbers.

use std::fmt;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

/// Reads a whole number.
pub fn number<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<u64>,
{
    // Not as a number of this type: a field flattened into a body is read as the type that was
    // written.
    let number = deserializer.deserialize_any(Whole)?;
    T::try_from(number)
        .map_err(|_| D::Error::invalid_value(Unexpected::Unsigned(number), &"a smaller number"))
}

/// Reads a whole number, or null.
pub fn option<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<u64>,
{
    #[derive(Deserialize)]
    #[serde(bound = "T: TryFrom<u64>")]
    struct WholeNumber<T>(#[serde(deserialize_with = "number")] T);
    Ok(Option::<WholeNumber<T>>::deserialize(deserializer)?.map(|WholeNumber(number)| number))
}

/// Reads pairs of a text and a whole number.
pub fn pairs<'de, D>(deserializer: D) -> Result<Vec<(String, u32)>, D::Error>
where
    D: Deserializer<'de>,
{
    #[derive(Deserialize)]
    #[serde(expecting = "a list of a string and a whole number")]
    struct WholePair(String, #[serde(deserialize_with = "number")] u32);
    let pairs = Vec::<WholePair>::deserialize(deserializer)?;
    Ok(pairs.into_iter().map(|WholePair(text, number)| (text, number)).collect())
}

/// Returns whether a number is zero, so that serde omits the member.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
#[must_use]
pub fn is_zero(number: &u64) -> bool {
    *number == 0
}

struct Whole;

impl Visitor<'_> for Whole {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number from 0 on")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<u64, E> {
        Ok(number)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<u64, E> {
        number.try_into().map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<u64, E> {
        // 2^64 is a floating-point number, and the next smaller floating-point number fits into 64
        // bits.
        match number.fract() == 0.0 && (0.0..2f64.powi(64)).contains(&number) {
            true => Ok(number as u64),
            false => Err(E::invalid_value(Unexpected::Float(number), &self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Small(#[serde(deserialize_with = "number")] u8);

    #[derive(Debug, Deserialize)]
    struct Large {
        #[serde(default, deserialize_with = "option")]
        number: Option<u64>,
    }

    #[test]
    fn a_whole_number_may_have_a_point() {
        for text in ["10", "10.0", "1e1", "100e-1", "10.000"] {
            assert_eq!(serde_json::from_str::<Small>(text).unwrap().0, 10, "{text}");
        }
        assert_eq!(serde_json::from_str::<Small>("-0.0").unwrap().0, 0);
        for text in ["10.5", "-1", "-1.0", "256", "256.0", "1e300", "\"10\"", "true", "null"] {
            assert!(serde_json::from_str::<Small>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_largest_number_is_read_and_the_next_refused() {
        let check = |text: &str, expected: Option<u64>| {
            let read = serde_json::from_str::<Large>(&format!("{{\"number\": {text}}}"));
            assert_eq!(read.ok().and_then(|large| large.number), expected, "{text}");
        };
        check("18446744073709551615", Some(u64::MAX));
        check("18446744073709551616", None);
        check("18446744073709549568.0", Some(18_446_744_073_709_549_568));
        assert_eq!(serde_json::from_str::<Large>("{\"number\": null}").unwrap().number, None);
        assert_eq!(serde_json::from_str::<Large>("{}").unwrap().number, None);
    }

    #[test]
    fn pairs_are_read_whole() {
        let mut deserializer = serde_json::Deserializer::from_str("[[\"a\", 1.0], [\"b\", 2]]");
        assert_eq!(pairs(&mut deserializer).unwrap(), [("a".into(), 1), ("b".into(), 2)]);
        for text in ["[[\"a\"]]", "[[\"a\", 1, 2]]", "[[1, \"a\"]]"] {
            let mut deserializer = serde_json::Deserializer::from_str(text);
            assert!(pairs(&mut deserializer).is_err(), "{text}");
        }
    }
}
