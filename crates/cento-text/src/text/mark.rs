//! Marks of words of little meaning.
//!
//! A word that an analyzer would leave out of a long text can be kept in a short one and marked: a
//! scheme then tells it from the others by its hash alone. The mark is the upper half of the hash,
//! all ones. Another word has it once in four billion times, and would count as one of little
//! meaning.

const MARK: u64 = 0xffff_ffff << 32;

/// Returns the hash of a word as that of a marked one.
pub fn marked(hash: u64) -> u64 {
    hash | MARK
}

/// Tells whether a word is marked.
#[inline(always)]
pub(crate) fn is_marked(hash: u64) -> bool {
    hash >= MARK
}
