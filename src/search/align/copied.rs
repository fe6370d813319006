//! Which passages were copied, with small edits or none?

use std::collections::HashMap;

use super::PASSAGE_TOKENS_MIN;
use super::chain::{Chain, Match, chains, distinct};
use crate::hash::{BuildKeyHasher, mix64};

/// Runs of so many equal tokens are seeds. With 5, as an index has by default, a passage of which
/// every fifth word was changed falls apart.
const SEED_TOKENS: usize = 3;

/// A run of tokens that the document has more often seeds nothing.
const SEED_OCCURRENCES_MAX: usize = 16;

/// At most so many tokens in a row were changed on either side.
const GAP_TOKENS_MAX: usize = 20;

/// At least so much of a passage is unchanged.
const DENSITY_MIN: f64 = 0.4;

/// The copied passages of two sequences of token hashes, the longest first.
pub fn passages(query: &[u64], document: &[u64]) -> Vec<Chain> {
    let mut found = chains(&matches(query, document), GAP_TOKENS_MAX);
    found.retain(|chain| chain.matched >= PASSAGE_TOKENS_MIN && chain.density() >= DENSITY_MIN);
    distinct(found)
}

/// The maximal runs of equal tokens, at least [`SEED_TOKENS`] long, in the order of the query.
fn matches(query: &[u64], document: &[u64]) -> Vec<Match> {
    let mut places: HashMap<u64, Places, BuildKeyHasher> = HashMap::default();
    // The next place with the same seed, for each place of the document.
    let mut next = vec![u32::MAX; document.len()];
    for (at, seed) in seeds(document).enumerate().rev() {
        let places = places.entry(seed).or_insert(Places { first: u32::MAX, count: 0 });
        next[at] = places.first;
        *places = Places { first: at as u32, count: places.count + 1 };
    }
    let mut found = Vec::new();
    let mut was_seed = false;
    for (at, seed) in seeds(query).enumerate() {
        let places = places.get(&seed).filter(|places| places.count <= SEED_OCCURRENCES_MAX);
        let mut place = places.map_or(u32::MAX, |places| places.first);
        while place != u32::MAX {
            let hit = place as usize;
            place = next[hit];
            let back = query[..at].iter().rev().zip(document[..hit].iter().rev());
            let before = back.take_while(|(a, b)| a == b).count();
            // It was found where it began, unless what it begins with is too frequent to seed.
            if before > 0 && was_seed {
                continue;
            }
            let ahead = query[at..].iter().zip(&document[hit..]);
            let len = before + ahead.take_while(|(a, b)| a == b).count();
            if len >= SEED_TOKENS {
                found.push(Match { query: at - before, hit: hit - before, len });
            }
        }
        was_seed = places.is_some();
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Where the document has a seed.
#[derive(Clone, Copy)]
struct Places {
    first: u32,
    count: usize,
}

/// The hashes of all runs of [`SEED_TOKENS`].
fn seeds(tokens: &[u64]) -> impl DoubleEndedIterator<Item = u64> + ExactSizeIterator {
    tokens.windows(SEED_TOKENS).map(|run| run.iter().fold(0, |hash, &token| mix64(hash ^ token)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every maximal run of equal tokens, by definition.
    fn naive(query: &[u64], document: &[u64]) -> Vec<Match> {
        let mut found = Vec::new();
        for at in 0..query.len() {
            for hit in 0..document.len() {
                let begins = at == 0 || hit == 0 || query[at - 1] != document[hit - 1];
                let same = query[at..].iter().zip(&document[hit..]).take_while(|(a, b)| a == b);
                let len = same.count();
                if begins && len >= SEED_TOKENS {
                    found.push(Match { query: at, hit, len });
                }
            }
        }
        found
    }

    proptest! {
        #[test]
        fn matches_are_the_maximal_runs(
            query in proptest::collection::vec(0u64..4, 0..40),
            document in proptest::collection::vec(0u64..4, 0..15),
        ) {
            // So short that no seed is too frequent.
            prop_assert_eq!(matches(&query, &document), naive(&query, &document));
        }
    }

    #[test]
    fn a_run_that_begins_with_a_frequent_seed_is_found_whole() {
        let mut document: Vec<u64> =
            (0..SEED_OCCURRENCES_MAX as u64 + 3).flat_map(|i| [1, 2, 3, 100 + i]).collect();
        document.extend([1, 2, 3, 7, 8, 9]);
        let found = matches(&[1, 2, 3, 7, 8, 9], &document);
        assert_eq!(found, [Match { query: 0, hit: document.len() - 6, len: 6 }]);
    }
}
