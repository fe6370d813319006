//! Is this hash certainly none of those?
//!
//! Of the words and runs of a document most are not the query's. To know that, no table has to be
//! searched, which costs ten times as much.

/// Some hashes, and a few others.
pub struct Known {
    bits: Vec<u64>,
}

impl Known {
    /// The bits for each hash: one in sixteen of the others passes.
    const BITS_A_HASH: usize = 16;

    /// These hashes, of which every bit is as good as any other.
    pub fn new(hashes: impl ExactSizeIterator<Item = u64>) -> Known {
        let words = (hashes.len() * Known::BITS_A_HASH / 64).next_power_of_two();
        let mut known = Known { bits: vec![0; words] };
        for hash in hashes {
            let (word, bit) = known.place(hash);
            known.bits[word] |= bit;
        }
        known
    }

    #[inline]
    fn place(&self, hash: u64) -> (usize, u64) {
        ((hash >> 6) as usize & (self.bits.len() - 1), 1 << (hash & 63))
    }

    /// Whether it may be one of them.
    #[inline]
    pub fn may_have(&self, hash: u64) -> bool {
        let (word, bit) = self.place(hash);
        self.bits[word] & bit != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix64;
    use std::ops::Range;

    fn hashes(of: Range<u32>) -> impl ExactSizeIterator<Item = u64> {
        of.map(|number| mix64(number.into()))
    }

    #[test]
    fn what_is_there_passes_and_most_of_the_rest_does_not() {
        for count in [0u32, 1, 5, 1000] {
            let known = Known::new(hashes(0..count));
            assert!(hashes(0..count).all(|hash| known.may_have(hash)));
            let others = hashes(1 << 20..(1 << 20) + 10_000);
            assert!(others.filter(|&hash| known.may_have(hash)).count() < 1000, "{count}");
        }
    }
}
