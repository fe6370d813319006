//! What do these two texts have in common?
//!
//! No index: both texts are signed and aligned here. The measures are those of a search.

use serde::Serialize;

use super::Passage;
use super::align::Side;
use super::passages;
use crate::error::Result;
use crate::index::Config;
use crate::scheme::Fingerprint;
use crate::text::Tokens;

/// What two texts have in common.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    /// The passages in common; the first text is the query.
    pub passages: Vec<Passage>,
}

/// The categories of text reuse (Seo & Croft 2008, section 3.3): how much of one document is in
/// the other, and the reverse. *Most* is more than 80 %, *considerable* more than 50 %, *partial*
/// more than 10 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
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
    let (a_signed, b_signed) = (Signed::new(config, a)?, Signed::new(config, b)?);
    let (overlap, [containment_a_in_b, containment_b_in_a, resemblance]) =
        shares(&a_signed.keys, &b_signed.keys);
    Ok(Comparison {
        overlap,
        containment_a_in_b,
        containment_b_in_a,
        resemblance,
        category: Category::of(containment_a_in_b, containment_b_in_a),
        passages: passages::between(
            Side { text: a, tokens: &a_signed.tokens },
            Side { text: b, tokens: &b_signed.tokens },
        ),
    })
}

/// A text, analysed and signed.
pub struct Signed {
    /// Its tokens.
    pub tokens: Tokens,
    /// Its distinct keys, ascending.
    pub keys: Vec<u64>,
}

impl Signed {
    /// Signs `text` as `config` says.
    ///
    /// # Errors
    /// When it is too large to be analysed.
    pub fn new(config: &Config, text: &str) -> Result<Signed> {
        let (mut tokens, mut signature): (Tokens, Vec<Fingerprint>) = Default::default();
        config.analyzer.analyze(text, &mut tokens)?;
        config.scheme.sign(&tokens, &mut signature);
        let mut keys: Vec<u64> = signature.iter().map(|fingerprint| fingerprint.key).collect();
        keys.sort_unstable();
        keys.dedup();
        Ok(Signed { tokens, keys })
    }
}

/// The overlap of two ascending sets; C(A,B), C(B,A) and resemblance, 0 where they are of nothing.
pub fn shares(a: &[u64], b: &[u64]) -> (u32, [f64; 3]) {
    let overlap = a.iter().filter(|key| b.binary_search(key).is_ok()).count();
    let share = |of: usize| if of == 0 { 0.0 } else { overlap as f64 / of as f64 };
    (overlap as u32, [share(a.len()), share(b.len()), share(a.len() + b.len() - overlap)])
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
