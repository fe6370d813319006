//! Which runs of words does a text have?
//!
//! A run is k tokens in a row; what two texts have in common by definition is what their sets of runs
//! have in common. A run is known by a hash of 64 bits that rolls along the text.

use crate::error::Result;
use crate::overlap::Overlap;
use crate::scheme::run_values;
use crate::stop::Stop;
use crate::text::Analyzer;

/// The distinct runs of a text.
///
/// A table of their hashes, which are spread evenly, with twice as many places or more: filling it takes a
/// third of the time of sorting them.
#[derive(Debug, Clone)]
pub(crate) struct RunSet {
    /// Each hash at the first free place from the one that its low bits name; [`FREE`] elsewhere.
    table: Vec<u64>,
    count: u32,
}

/// A place without a hash.
const FREE: u64 = 0;

impl RunSet {
    /// Makes the set of the runs of `k` tokens of a text whose tokens have these hashes.
    pub fn new(tokens: &[u64], k: usize) -> RunSet {
        let runs = (tokens.len() + 1).saturating_sub(k).max(1);
        let mut set = RunSet { table: vec![FREE; (2 * runs).next_power_of_two()], count: 0 };
        run_values(tokens, k).for_each(|hash| set.insert(hash));
        set
    }

    fn insert(&mut self, hash: u64) {
        let place = self.place(hash);
        if self.table[place] == FREE {
            self.table[place] = named(hash);
            self.count += 1;
        }
    }

    /// The place of a hash, or the free one where it would be.
    #[inline]
    fn place(&self, hash: u64) -> usize {
        let (hash, mask) = (named(hash), self.table.len() - 1);
        let mut place = hash as usize & mask;
        while self.table[place] != hash && self.table[place] != FREE {
            place = (place + 1) & mask;
        }
        place
    }

    /// Makes the set of the runs of `k` tokens of `text`.
    ///
    /// # Errors
    /// When the text is too large; [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn of_text(text: &str, analyzer: &Analyzer, k: usize, stop: Stop<'_>) -> Result<RunSet> {
        let (mut tokens, mut rest) = (Vec::new(), Vec::new());
        analyzer.for_each_part(
            text,
            &mut rest,
            &mut |part| tokens.extend_from_slice(part),
            stop,
        )?;
        // A text of one part, as most are, is not copied.
        if tokens.is_empty() {
            return Ok(RunSet::new(&rest, k));
        }
        tokens.extend_from_slice(&rest);
        Ok(RunSet::new(&tokens, k))
    }

    /// Counts the runs that both texts have, and those of each, if they resemble each other at least so.
    pub fn resembling(&self, other: &RunSet, least: f64) -> Option<Overlap> {
        let (small, large) = if self.count <= other.count { (self, other) } else { (other, self) };
        let [few, many] = [small.count, large.count].map(f64::from);
        // Rounding must not exclude what is exactly at the threshold.
        let shared_min = least * (few + many) / (1.0 + least) * (1.0 - 1e-12);
        let missing_max = (few - shared_min) as u32;
        if few < shared_min || small.count == 0 {
            return None;
        }
        let mut missing = 0;
        for &hash in small.table.iter().filter(|&&hash| hash != FREE) {
            missing += u32::from(large.table[large.place(hash)] != hash);
            if missing > missing_max {
                return None;
            }
        }
        Some(Overlap::new(small.count - missing, self.count, other.count))
    }

    /// Counts the runs that both texts have, and those of each.
    pub fn overlap(&self, other: &RunSet) -> Overlap {
        let (small, large) = if self.count <= other.count { (self, other) } else { (other, self) };
        if small.count == 0 {
            return Overlap::new(0, self.count, other.count);
        }
        let hashes = small.table.iter().filter(|&&hash| hash != FREE);
        let shared = hashes.map(|&hash| u32::from(large.table[large.place(hash)] == hash)).sum();
        Overlap::new(shared, self.count, other.count)
    }

    /// The memory that it takes, in bytes.
    pub fn bytes(&self) -> usize {
        self.table.capacity() * size_of::<u64>()
    }
}

/// A hash as a table has it.
#[inline]
fn named(hash: u64) -> u64 {
    if hash == FREE { 1 } else { hash }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::hash_bytes;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn hashes(tokens: &[u64], k: usize) -> Vec<u64> {
        run_values(tokens, k).collect()
    }

    fn tokens(text: &[u8]) -> Vec<u64> {
        text.iter().map(|word| hash_bytes(&[*word])).collect()
    }

    proptest! {
        #[test]
        fn runs_are_equal_where_their_tokens_are(
            text in proptest::collection::vec(0u8..3, 1..40),
            k in 1usize..9,
        ) {
            let tokens = tokens(&text);
            let found = hashes(&tokens, k);
            let k = k.min(text.len());
            let runs: Vec<&[u8]> = text.windows(k).collect();
            prop_assert_eq!(found.len(), runs.len());
            for (a, at_a) in found.iter().zip(&runs) {
                for (b, at_b) in found.iter().zip(&runs) {
                    prop_assert_eq!(a == b, at_a == at_b);
                }
            }
        }
    }

    #[test]
    fn the_runs_of_a_text_are_those_of_its_tokens_however_many_parts_it_has() {
        let analyzer = Analyzer::default();
        for words in [0, 3, 40, 200_000] {
            let text: String = (0..words).map(|word| format!("w{} ", word % 70_000)).collect();
            let mut tokens = crate::text::Tokens::default();
            analyzer.analyze(&text, &mut tokens).unwrap();
            let expected = RunSet::new(&tokens.hashes, 5);
            let found = RunSet::of_text(&text, &analyzer, 5, Stop::NEVER).unwrap();
            let runs: BTreeSet<&[u64]> =
                tokens.hashes.windows(tokens.hashes.len().clamp(1, 5)).collect();
            let count = runs.len() as u32;
            assert_eq!(found.overlap(&expected), Overlap::new(count, count, count));
        }
    }

    proptest! {
        #[test]
        fn sets_of_runs_are_sets(
            a in proptest::collection::vec(0u8..3, 0..60),
            b in proptest::collection::vec(0u8..3, 0..60),
            k in 1usize..6,
        ) {
            let of = |text: &[u8]| {
                let tokens = tokens(text);
                let set: BTreeSet<u64> = hashes(&tokens, k).into_iter().collect();
                (RunSet::new(&tokens, k), set)
            };
            let ((a, in_a), (b, in_b)) = (of(&a), of(&b));
            let shared = in_a.intersection(&in_b).count() as u32;
            let expected = Overlap::new(shared, in_a.len() as u32, in_b.len() as u32);
            prop_assert_eq!(a.overlap(&b), expected);
            prop_assert_eq!(b.overlap(&a), expected.swapped());
            let resemblance = expected.resemblance();
            if shared > 0 {
                prop_assert_eq!(a.resembling(&b, resemblance), Some(expected));
            }
            prop_assert_eq!(a.resembling(&b, resemblance + 0.01), None);
        }
    }

    #[test]
    fn the_hash_of_a_free_place_is_a_hash_too() {
        let mut set = RunSet { table: vec![FREE; 8], count: 0 };
        [FREE, FREE, 8, 16].into_iter().for_each(|hash| set.insert(hash));
        assert_eq!(set.overlap(&set), Overlap::new(3, 3, 3));
    }

    #[test]
    fn a_text_shorter_than_a_run_is_one_run_of_its_own() {
        let text = tokens(b"abc");
        assert_eq!(hashes(&text, 5).len(), 1);
        assert_eq!(hashes(&text, 5), hashes(&text, 9));
        assert_ne!(hashes(&text, 5), hashes(&tokens(b"abcd"), 5));
        assert_ne!(hashes(&text, 5), hashes(&tokens(b"abd"), 5));
        assert!(hashes(&[], 5).is_empty());
    }
}
