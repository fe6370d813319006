//! Marks of words of little meaning.
//!
//! A word that an analyzer would omit from a long text can be kept in a short text and marked, so
//! that a scheme recognizes marked words by their hash alone. The mark is an upper half of the hash
//! with all bits set. An unmarked word has such a hash once in four billion times, and would count
//! as a word of little meaning.

const MARK: u64 = 0xffff_ffff << 32;

/// Returns the hash of a word with the mark.
pub fn marked(hash: u64) -> u64 {
    hash | MARK
}

#[inline(always)]
pub(crate) fn is_marked(hash: u64) -> bool {
    hash >= MARK
}
