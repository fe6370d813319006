//! Tokens in, signature out?

/// One number that stands for a part of a document, and where that part begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint {
    /// The number; less than 2^key_bits of its scheme.
    pub key: u64,
    /// The first token of the part.
    pub position: u32,
}
