//! Random numbers that depend only on the seed, on every machine.

use cento_text::hash::mix64;

/// A generator: SplitMix64 (Steele, Lea and Flood 2014) with the mixing function of cento.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    /// Creates the generator for one purpose of a run. Different values of `of` give unrelated
    /// sequences.
    pub fn new(seed: u64, of: u64) -> Random {
        Random(mix64(seed) ^ mix64(of.wrapping_add(0x5851_f42d_4c95_7f2d)))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix64(self.0)
    }

    /// Returns a number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// Returns true in `share` of a hundred cases.
    pub fn percent(&mut self, share: u32) -> bool {
        self.next() % 100 < u64::from(share)
    }

    /// Shuffles items, with every order equally likely (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
