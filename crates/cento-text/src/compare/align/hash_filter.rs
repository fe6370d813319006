//! Filters out hashes that are certainly not in a set.
//!
//! Most words and runs of a document are not in the query. The filter detects this ten times as
//! fast as a look-up in a table.

use crate::error::Result;
use crate::runtime::Stop;

/// A set of hashes that also accepts a few absent hashes.
pub struct HashFilter {
    bits: Vec<u64>,
}

impl HashFilter {
    /// Minimum bits per hash. With fewer bits, more than about a sixteenth of the absent hashes
    /// would pass.
    const BITS_A_HASH: usize = 16;

    /// Builds a filter of `hashes`. Their bits must all be equally random.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
    pub fn new(hashes: impl ExactSizeIterator<Item = u64>, stop: &Stop) -> Result<HashFilter> {
        let words = (hashes.len() * HashFilter::BITS_A_HASH).div_ceil(64).next_power_of_two();
        let mut known = HashFilter { bits: vec![0; words] };
        for (at, hash) in hashes.enumerate() {
            stop.check_at(at)?;
            let (word, bit) = known.place(hash);
            known.bits[word] |= bit;
        }
        Ok(known)
    }

    #[inline]
    fn place(&self, hash: u64) -> (usize, u64) {
        ((hash >> 6) as usize & (self.bits.len() - 1), 1 << (hash & 63))
    }

    /// Returns whether a hash may be in the set.
    #[inline]
    pub fn may_have(&self, hash: u64) -> bool {
        let (word, bit) = self.place(hash);
        self.bits[word] & bit != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::hash::mix64;
    use crate::runtime::stop::PLACES_BETWEEN_LOOKS;
    use crate::runtime::stop::testing::After;
    use std::ops::Range;

    fn hashes(of: Range<u32>) -> impl ExactSizeIterator<Item = u64> {
        of.map(|number| mix64(number.into()))
    }

    #[test]
    fn present_hashes_pass_and_most_absent_ones_do_not() {
        // Seven hashes had 64 bits, and one in ten of the others passed.
        for count in [0u32, 1, 4, 5, 7, 1000, 1024] {
            let known = HashFilter::new(hashes(0..count), Stop::NEVER).unwrap();
            assert!(hashes(0..count).all(|hash| known.may_have(hash)));
            let others = hashes(1 << 20..(1 << 20) + 10_000);
            let passing = others.filter(|&hash| known.may_have(hash)).count();
            assert!(passing <= 10_000 / 15, "{count}: {passing}");
        }
    }

    #[test]
    fn noting_many_hashes_is_stopped() {
        let flag = After::looks(1);
        let stopped = HashFilter::new(hashes(0..3 * PLACES_BETWEEN_LOOKS as u32), flag.stop());
        assert!(matches!(stopped, Err(Error::Cancelled)));
        assert_eq!(flag.count(), 2);
    }
}
