//! What do these two texts have in common?
//!
//! No index: both texts are signed and aligned here. The measures are those of a search.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Passage;
use super::passages;
use crate::error::Result;
use crate::index::Config;
use crate::measure::Measure;
use crate::stop::Stop;
use crate::text::{Side, Tokens};

/// What two texts have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Comparison {
    /// Distinct fingerprints in common.
    pub overlap: u32,
    /// C(A,B): how much of the first is in the second, 0 to 1.
    pub containment_a_in_b: f64,
    /// C(B,A): how much of the second is in the first, 0 to 1.
    pub containment_b_in_a: f64,
    /// How much of both together is in both, 0 to 1.
    pub resemblance: f64,
    /// How they reuse text; `None` if a tenth or less of either is in the other.
    pub category: Option<Category>,
    /// What other measures say, by their names, if they were asked for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub measures: BTreeMap<String, f64>,
    /// The passages in common; the first text is the query.
    pub passages: Vec<Passage>,
    /// Whether these are all: if not, looking for all would have taken more steps than it may. Equal
    /// texts have equal answers.
    #[serde(default = "yes")]
    pub complete: bool,
}

/// The categories of text reuse (Seo & Croft 2008, section 3.3): how much of one document is in
/// the other, and the reverse. *Most* is more than 80 %, *considerable* more than 50 %, *partial*
/// more than 10 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Category {
    /// Most of both.
    C1,
    /// Most of one, a considerable part of the other.
    C2,
    /// Most of one, a part of the other.
    C3,
    /// A considerable part of both.
    C4,
    /// A considerable part of one, a part of the other.
    C5,
    /// A part of both.
    C6,
}

impl Category {
    /// The category of a pair with these containments; `None` if either is a tenth or less.
    pub fn of(a_in_b: f64, b_in_a: f64) -> Option<Category> {
        let range = |containment: f64| match containment {
            x if x > 0.8 => Some(0),
            x if x > 0.5 => Some(1),
            x if x > 0.1 => Some(2),
            _ => None,
        };
        let (a, b) = (range(a_in_b)?, range(b_in_a)?);
        Some(match (a.min(b), a.max(b)) {
            (0, 0) => Category::C1,
            (0, 1) => Category::C2,
            (0, _) => Category::C3,
            (1, 1) => Category::C4,
            (1, _) => Category::C5,
            _ => Category::C6,
        })
    }
}

/// Compares two texts as the documents of an index with this configuration would be.
///
/// # Errors
/// When a text is too large to be analysed.
pub fn compare(config: &Config, a: &str, b: &str) -> Result<Comparison> {
    compare_by(config, a, b, &[], Stop::NEVER)
}

/// What was not said to be otherwise.
fn yes() -> bool {
    true
}

/// As [`compare`], with other measures.
///
/// # Errors
/// When a text is too large to be analysed, or for a measure that is bounded;
/// [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
pub fn compare_by(
    config: &Config,
    a: &str,
    b: &str,
    measures: &[Measure],
    stop: Stop<'_>,
) -> Result<Comparison> {
    let (a_signed, b_signed) = (Signed::new(config, a, stop)?, Signed::new(config, b, stop)?);
    let [a, b] = [(a, &a_signed), (b, &b_signed)]
        .map(|(text, signed)| Side { text, tokens: &signed.tokens });
    let mut overlap = 0;
    for (at, key) in a_signed.keys.iter().enumerate() {
        stop.check_at(at)?;
        overlap += usize::from(b_signed.keys.binary_search(key).is_ok());
    }
    let (in_a, in_b) = (a_signed.keys.len(), b_signed.keys.len());
    let share = |of: usize| if of == 0 { 0.0 } else { overlap as f64 / of as f64 };
    let measures = measures.iter().map(|by| Ok((by.to_string(), by.try_of(a, b, stop)?)));
    let measures = measures.collect::<Result<_>>()?;
    let passages = passages::between(a, b, stop)?;
    Ok(Comparison {
        overlap: overlap as u32,
        containment_a_in_b: share(in_a),
        containment_b_in_a: share(in_b),
        resemblance: share(in_a + in_b - overlap),
        category: Category::of(share(in_a), share(in_b)),
        measures,
        passages: passages.found,
        complete: passages.complete,
    })
}

/// A text, analysed and signed.
struct Signed {
    /// Its tokens.
    tokens: Tokens,
    /// Its distinct keys, ascending.
    keys: Vec<u64>,
}

impl Signed {
    fn new(config: &Config, text: &str, stop: Stop<'_>) -> Result<Signed> {
        let mut tokens = Tokens::default();
        let signature = config.sign_until(text, &mut tokens, stop)?;
        let mut keys: Vec<u64> = signature.iter().map(|fingerprint| fingerprint.key).collect();
        keys.sort_unstable();
        keys.dedup();
        Ok(Signed { tokens, keys })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn categories_are_those_of_table_2() {
        let check = |a, b, expected| {
            assert_eq!(Category::of(a, b), expected);
            assert_eq!(Category::of(b, a), expected);
        };
        check(0.9, 0.81, Some(Category::C1));
        check(0.9, 0.8, Some(Category::C2));
        check(0.9, 0.2, Some(Category::C3));
        check(0.6, 0.6, Some(Category::C4));
        check(0.6, 0.5, Some(Category::C5));
        check(0.11, 0.5, Some(Category::C6));
        check(0.9, 0.1, None);
    }
}
