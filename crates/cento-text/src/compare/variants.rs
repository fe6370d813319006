//! Which texts of a sample are variants of an earlier text?
//!
//! The members of a ring of copies are each other's background: their common text is in many texts,
//! so it looks like an idiom. Every member was edited in different places, so the runs that two
//! members share may be too short to be copies by themselves. The whole texts are not too short: a
//! text is a variant of an earlier text if they share two fifths of the distinct runs of the longer
//! text. The threshold cannot be much higher, because a replaced word changes eight runs. With a
//! third of the runs, honest programs that share a reader are variants (research/RESULTS.md,
//! "Evidence").
//!
//! If more than half of all texts are variants of the same text, that text is a form or starter
//! code that everybody has, and its variants count.

use std::collections::HashMap;

use crate::hash::BuildKeyHasher;
use crate::scheme::run_values;

/// The number of tokens of a run. Shorter runs are idioms.
const RUN_TOKENS: usize = 8;

/// A text that is not a variant of an earlier text.
struct Original {
    runs: usize,
    /// The number of texts: the original and its variants.
    texts: usize,
}

/// For each text, returns whether it is a variant of an earlier text.
///
/// ```
/// let texts = [0, 0, 100, 200, 300].map(|first| (first..first + 20).collect::<Vec<u64>>());
/// let texts: Vec<&[u64]> = texts.iter().map(Vec::as_slice).collect();
/// assert_eq!(cento_text::compare::variants::variants(&texts), [false, true, false, false, false]);
/// ```
#[must_use]
pub fn variants(texts: &[&[u64]]) -> Vec<bool> {
    let mut originals: Vec<Original> = Vec::new();
    let mut owners: HashMap<u64, Vec<u32>, BuildKeyHasher> = HashMap::default();
    let mut shared: Vec<usize> = Vec::new();
    let mut variant_of = |text: &&[u64]| {
        let mut runs: Vec<u64> = run_values(text, RUN_TOKENS).collect();
        runs.sort_unstable();
        runs.dedup();
        shared.clear();
        shared.resize(originals.len(), 0);
        for &owner in runs.iter().filter_map(|run| owners.get(run)).flatten() {
            shared[owner as usize] += 1;
        }
        let mut known = originals.iter_mut().zip(&shared).enumerate();
        let is_alike =
            |(own, shared): (&Original, usize)| 5 * shared > 2 * own.runs.max(runs.len());
        if let Some((at, (own, _))) = known.find(|(_, (own, shared))| is_alike((own, **shared))) {
            own.texts += 1;
            return Some(at);
        }
        let number = originals.len() as u32;
        originals.push(Original { runs: runs.len(), texts: 1 });
        runs.into_iter().for_each(|run| owners.entry(run).or_default().push(number));
        None
    };
    let found: Vec<Option<usize>> = texts.iter().map(&mut variant_of).collect();
    let is_ring = |at: usize| 2 * originals[at].texts <= texts.len();
    found.into_iter().map(|original| original.is_some_and(is_ring)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix64;
    use std::collections::BTreeSet;

    /// A text of 300 tokens, with every fortieth token replaced if `edit` is not 0.
    fn text(seed: u64, edit: u64) -> Vec<u64> {
        let token = |at: u64| match (at + 7 * edit) % 40 {
            0 if edit > 0 => mix64(mix64(seed) ^ (at << 32 | edit)),
            _ => mix64(seed << 32 | at),
        };
        (0..300).map(token).collect()
    }

    fn of(texts: &[Vec<u64>]) -> Vec<bool> {
        variants(&texts.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    #[test]
    fn a_ring_counts_once_and_starter_code_each_time() {
        let others: Vec<Vec<u64>> = (10..30).map(|seed| text(seed, 0)).collect();
        let ring: Vec<Vec<u64>> = (0..11).map(|edit| text(1, edit)).collect();
        let found = of(&[others.clone(), ring.clone()].concat());
        assert_eq!(found.iter().filter(|&&is| is).count(), 10);
        assert!(!found[..21].contains(&true), "the first of them counts");
        // A ring of 11 is not common among 31 texts, but is common among 20 texts.
        assert!(!of(&[&others[..9], &ring[..]].concat()).contains(&true));
    }

    #[test]
    fn variants_have_two_fifths_of_the_longer_text() {
        let others: Vec<Vec<u64>> = (10..30).map(|seed| text(seed, 0)).collect();
        for tokens in [0, 60, 100, 120, 130, 150, 200, 300] {
            let one = text(1, 0);
            let part = [&one[..tokens], &text(2, 0)[..300 - tokens]].concat();
            let runs = |text: &[u64]| run_values(text, RUN_TOKENS).collect::<BTreeSet<_>>();
            let common = runs(&one).intersection(&runs(&part)).count();
            let found = of(&[&others[..], &[one, part]].concat());
            assert_eq!(found[21], 5 * common > 2 * 293, "{tokens} {common}");
        }
        // A quarter of the long text is the whole of the short text.
        let long = text(1, 0);
        assert!(!of(&[&others[..], &[long.clone(), long[..75].to_vec()]].concat())[21]);
        assert_eq!(of(&[Vec::new(), vec![1, 2]]), [false, false]);
    }
}
