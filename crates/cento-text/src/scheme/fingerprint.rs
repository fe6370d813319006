//! A fingerprint: the number that represents a piece of a document, and its position.

/// A number that represents a piece of a document, and the position where the piece begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint {
    /// The number, below `2^key_bits` of its scheme and evenly distributed.
    pub key: u64,
    /// The index of the piece's first token.
    pub position: u32,
}

/// Returns the distinct keys of a signature, ascending.
///
/// ```
/// use cento_text::scheme::{Fingerprint, distinct_keys};
///
/// let at = |key, position| Fingerprint { key, position };
/// assert_eq!(distinct_keys(&[at(9, 0), at(4, 3), at(9, 7)]), [4, 9]);
/// ```
pub fn distinct_keys(signature: &[Fingerprint]) -> Vec<u64> {
    let mut keys: Vec<u64> = signature.iter().map(|fingerprint| fingerprint.key).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}
