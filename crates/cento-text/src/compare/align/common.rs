//! Compares places as bags of tokens, without regard to order.

use std::collections::HashMap;
use std::ops::Range;

use super::chain::CoveredRanges;
use super::joined;
use crate::hash::BuildKeyHasher;

/// Returns an empty table for at most this many tokens. It starts with room for a thousand, because
/// growing takes more time than comparing a short passage.
pub fn table(tokens: usize) -> HashMap<u64, u32, BuildKeyHasher> {
    HashMap::with_capacity_and_hasher(tokens.min(1 << 10), BuildKeyHasher::default())
}

/// Returns the number of steps to compare two places as bags of tokens.
pub fn similarity_steps(query: &Range<usize>, hit: &Range<usize>) -> u64 {
    4 * (query.len() + hit.len()) as u64
}

/// Returns the tokens of a place that `other` also has: the tokens of `copied`, which are certainly
/// in `other`, and the further tokens as often as in both places, first occurrences first.
///
/// `copied` counts separately because the query may repeat a copied clause more often than `other`.
/// With the sides exchanged, the function finds the common tokens of the document.
pub fn words_of_both(
    copied: &CoveredRanges,
    query: &[u64],
    place: &Range<usize>,
    other: &[u64],
) -> Vec<Range<usize>> {
    let mut left = counts(other);
    let mut known: Vec<(usize, usize)> = copied.touching(place).collect();
    known.reverse();
    for at in known.iter().flat_map(|&(start, end)| start..end) {
        left.entry(query[at]).and_modify(|count| *count = count.saturating_sub(1));
    }
    let mut known = known.into_iter().peekable();
    let mut matched: Vec<Range<usize>> = Vec::new();
    for at in place.clone() {
        while known.next_if(|&(_, end)| end <= at).is_some() {}
        let is_copied = known.peek().is_some_and(|&(start, _)| start <= at);
        if is_copied || take(&mut left, query[at]) {
            joined::add(&mut matched, at);
        }
    }
    matched
}

/// Takes a token, if one is left.
fn take(counts: &mut HashMap<u64, u32, BuildKeyHasher>, token: u64) -> bool {
    let left = counts.get_mut(&token).filter(|count| **count > 0);
    left.map(|count| *count -= 1).is_some()
}

/// Returns the number of common tokens, with multiplicity, over the mean number of tokens.
pub fn similarity(a: &[u64], b: &[u64]) -> f64 {
    let tokens = a.len() + b.len();
    let is_same = |(a, b): &(&u64, &u64)| a == b;
    let first = a.iter().zip(b).take_while(is_same).count();
    let (a, b) = (&a[first..], &b[first..]);
    let last = a.iter().rev().zip(b.iter().rev()).take_while(is_same).count();
    let (a, b) = (&a[..a.len() - last], &b[..b.len() - last]);
    2.0 * (first + last + common(a, b)) as f64 / tokens as f64
}

/// Counts common tokens. A token counts as often as it occurs in both places.
fn common(a: &[u64], b: &[u64]) -> usize {
    if a.is_empty() || b.is_empty() {
        return 0;
    }
    let mut counts = counts(a);
    b.iter().filter(|&&token| take(&mut counts, token)).count()
}

/// Counts each token of a place.
pub fn counts(tokens: &[u64]) -> HashMap<u64, u32, BuildKeyHasher> {
    let mut counts = table(tokens.len());
    for &token in tokens {
        *counts.entry(token).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::super::AlignedPassage;
    use super::super::joined::testing::aligned;
    use super::*;
    use proptest::prelude::*;

    const CLAUSE: &str = "all rights reserved by the licensor under this agreement shall remain in \
        full force and effect notwithstanding termination";

    /// Returns how many words of the first text match the second text. The clause follows each
    /// stretch of `between`.
    fn matched_in_clauses(between: [&[&str]; 2]) -> usize {
        let [a, b] = between.map(|between| {
            between.iter().map(|before| format!("{before} {CLAUSE}. ")).collect::<String>()
        });
        aligned(&a, &b).0.iter().map(AlignedPassage::matched_tokens).sum()
    }

    #[test]
    fn a_clause_that_the_query_has_more_often_is_matched_each_time() {
        // Regression: of 54 words, 40 matched if the other text had the clause twice, fewer than if
        // it had the clause once.
        let contract = [
            "The first section covers delivery of goods by the seller to a warehouse in Leeds.",
            "Payment shall be made within thirty days after receipt of an invoice by courier.",
            "Disputes are heard before courts of Edinburgh unless both sides choose otherwise.",
        ];
        let lease = [
            "Tenants keep the garden tidy and pay for water on the first Monday of a quarter.",
            "No dogs larger than spaniels may be kept inside upper rooms or on any balcony.",
            "Smoke alarms are tested twice yearly by an electrician whom the landlord pays.",
        ];
        for times in 1..=3 {
            let matched = matched_in_clauses([&contract, &lease[..times]]);
            assert!((54..=66).contains(&matched), "{times}: {matched}");
        }
        let refrain = "Row on, row on, ye sailors, till the morning star is over the hill. ";
        let verse = "We left the harbour late in autumn under a grey and windy sky. ";
        let (sung, printed) = (refrain.repeat(3), [refrain, verse, refrain].concat());
        let (found, _) = aligned(&sung, &printed);
        assert_eq!(
            found.iter().map(AlignedPassage::matched_tokens).sum::<usize>(),
            42,
            "{found:?}"
        );
    }

    proptest! {
        #[test]
        fn similarity_is_the_share_of_tokens_that_both_have(
            a in proptest::collection::vec(0u64..6, 1..20),
            b in proptest::collection::vec(0u64..6, 0..20),
            (first, last) in (proptest::collection::vec(0u64..6, 0..9), 0u64..6),
        ) {
            let [a, b] = [a, b].map(|middle| [&first[..], &middle[..], &[last]].concat());
            let times = |text: &[u64], token| text.iter().filter(|&&other| other == token).count();
            let common: usize = (0..6).map(|token| times(&a, token).min(times(&b, token))).sum();
            let expected = 2.0 * common as f64 / (a.len() + b.len()) as f64;
            prop_assert_eq!(similarity(&a, &b), expected);
            let matched = words_of_both(&CoveredRanges::default(), &a, &(0..a.len()), &b);
            prop_assert_eq!(matched.iter().map(Range::len).sum::<usize>(), common);
            prop_assert!(matched.windows(2).all(|two| two[0].end < two[1].start));
        }

        #[test]
        fn words_copied_are_matched_and_count_among_those_of_both(
            (a, is_copied) in proptest::collection::vec((0u64..6, any::<bool>()), 1..20)
                .prop_map(|tokens| tokens.into_iter().unzip::<u64, bool, Vec<_>, Vec<_>>()),
            b in proptest::collection::vec(0u64..6, 0..20),
        ) {
            let mut copied = CoveredRanges::default();
            let at_copied = (0..a.len()).filter(|&at| is_copied[at]);
            at_copied.for_each(|at| copied.insert(at..at + 1));
            let matched = words_of_both(&copied, &a, &(0..a.len()), &b);
            let matched: Vec<usize> = matched.into_iter().flatten().collect();
            for token in 0..6 {
                let places = || (0..a.len()).filter(|&at| a[at] == token);
                let its_copied = places().filter(|&at| is_copied[at]).count();
                let of_b = b.iter().filter(|&&other| other == token).count();
                let others = of_b.saturating_sub(its_copied);
                let expected: Vec<usize> = {
                    let free = places().filter(|&at| !is_copied[at]).take(others);
                    let mut all: Vec<usize> =
                        free.chain(places().filter(|&at| is_copied[at])).collect();
                    all.sort_unstable();
                    all
                };
                let found = matched.iter().copied().filter(|&at| a[at] == token);
                prop_assert_eq!(found.collect::<Vec<_>>(), expected);
            }
        }
    }
}
