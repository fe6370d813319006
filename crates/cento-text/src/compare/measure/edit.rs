//! Edit distances: the number of tokens to change to turn one text into a second text.
//!
//! Each measure is 1 - distance / maximum distance. cento has its own loops, because the loops of a
//! library cannot be stopped. The tests compare the results with a library.

use std::collections::HashMap;

use super::family::{Family, cells};
use crate::error::Result;
use crate::hash::BuildKeyHasher;
use crate::runtime::{Steps, Stop};

pub(super) const LEVENSHTEIN: Family = Family {
    name: "levenshtein",
    summary: "tokens inserted, deleted and replaced",
    source: "",
    example: "levenshtein",
    costs: "n m / 64",
    purpose: "order, in short texts",
    similarity: |texts| {
        let [a, b] = texts.tokens();
        levenshtein(a, b, texts.stop)
    },
    steps: |a, b| cells(a, b) / 32,
    ..Family::PLAIN
};

pub(super) const DAMERAU: Family = Family {
    name: "damerau",
    summary: "tokens inserted, deleted, replaced and exchanged with their neighbors",
    source: "",
    example: "damerau",
    costs: "n m",
    purpose: "order, in short texts",
    similarity: |texts| {
        let [a, b] = texts.tokens();
        damerau(a, b, texts.stop)
    },
    steps: cells,
    ..Family::PLAIN
};

pub(super) const LCS: Family = Family {
    name: "lcs",
    summary: "the longest common subsequence",
    source: "",
    example: "lcs",
    costs: "n m / 64",
    purpose: "order, in short texts",
    similarity: |texts| {
        let [a, b] = texts.tokens();
        lcs(a, b, texts.stop)
    },
    steps: |a, b| cells(a, b) / 32,
    ..Family::PLAIN
};

pub(super) const HAMMING: Family = Family {
    name: "hamming",
    summary: "equal tokens at equal places",
    source: "",
    example: "hamming",
    costs: "n",
    purpose: "versions without insertions",
    similarity: |texts| {
        let [a, b] = texts.tokens();
        Ok(hamming(a, b))
    },
    ..Family::PLAIN
};

/// Returns a similarity by tokens inserted, deleted and replaced.
pub fn levenshtein(a: &[u64], b: &[u64], stop: &Stop) -> Result<f64> {
    let len = a.len().max(b.len());
    let (a, b) = apart(a, b);
    Ok(share_kept(myers(a, b, &mut Steps::unbounded(stop))?, len))
}

/// Returns a similarity that counts a swap of neighbors as one change.
pub fn damerau(a: &[u64], b: &[u64], stop: &Stop) -> Result<f64> {
    let len = a.len().max(b.len());
    let (a, b) = apart(a, b);
    Ok(share_kept(zhao(a, b, &mut Steps::unbounded(stop))?, len))
}

/// Returns the length of the longest common subsequence, as a share of the longer text.
pub fn lcs(a: &[u64], b: &[u64], stop: &Stop) -> Result<f64> {
    let len = a.len().max(b.len());
    let (x, y) = apart(a, b);
    let common = hyyro(x, y, &mut Steps::unbounded(stop))? + (a.len() - x.len());
    Ok(share_kept(len - common, len))
}

/// Returns the number of equal tokens at equal places, as a share of the longer text.
pub fn hamming(a: &[u64], b: &[u64]) -> f64 {
    let equal = a.iter().zip(b).filter(|(a, b)| a == b).count();
    match a.len().max(b.len()) {
        0 => 1.0,
        len => equal as f64 / len as f64,
    }
}

fn share_kept(distance: usize, len: usize) -> f64 {
    if len == 0 { 1.0 } else { 1.0 - distance as f64 / len as f64 }
}

/// Returns both texts without their common beginning and end, which no shortest edit changes.
fn apart<'a>(a: &'a [u64], b: &'a [u64]) -> (&'a [u64], &'a [u64]) {
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[same..], &b[same..]);
    let same = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    (&a[..a.len() - same], &b[..b.len() - same])
}

/// Returns the places of every token, ascending.
fn places_of(tokens: &[u64]) -> HashMap<u64, Vec<u32>, BuildKeyHasher> {
    let mut places: HashMap<u64, Vec<u32>, BuildKeyHasher> = HashMap::default();
    for (at, &token) in (0u32..).zip(tokens) {
        places.entry(token).or_default().push(at);
    }
    places
}

/// Returns the Levenshtein distance, 64 cells of a column at a time (Myers 1999, in the form of
/// Hyyro 2003).
fn myers(a: &[u64], b: &[u64], steps: &mut Steps<'_>) -> Result<usize> {
    if a.is_empty() {
        return Ok(b.len());
    }
    let places = places_of(a);
    let words = a.len().div_ceil(64);
    // Where a column grows by one between two rows, and where the column shrinks.
    let (mut grows, mut shrinks, mut equal) =
        (vec![!0u64; words], vec![0u64; words], vec![0; words]);
    let last = 1u64 << ((a.len() - 1) % 64);
    let mut distance = a.len();
    for token in b {
        steps.take(1 + words as u64)?;
        let same = places.get(token).map_or(&[][..], Vec::as_slice);
        same.iter().for_each(|&at| equal[at as usize / 64] |= 1 << (at % 64));
        let (mut grows_in, mut shrinks_in) = (1, 0);
        for (i, ((plus, minus), equal)) in
            grows.iter_mut().zip(&mut shrinks).zip(&mut equal).enumerate()
        {
            let x = std::mem::take(equal) | shrinks_in;
            let diagonal = ((x & *plus).wrapping_add(*plus) ^ *plus) | x | *minus;
            let mut row_grows = *minus | !(diagonal | *plus);
            let mut row_shrinks = *plus & diagonal;
            if i + 1 == words {
                distance += usize::from(row_grows & last != 0);
                distance -= usize::from(row_shrinks & last != 0);
            }
            let carried = (row_grows >> 63, row_shrinks >> 63);
            row_grows = row_grows << 1 | grows_in;
            row_shrinks = row_shrinks << 1 | shrinks_in;
            (grows_in, shrinks_in) = carried;
            *plus = row_shrinks | !(diagonal | row_grows);
            *minus = row_grows & diagonal;
        }
    }
    Ok(distance)
}

/// Returns the length of the longest common subsequence, 64 cells of a column at a time (Hyyro
/// 2004). Only examines words of the column that a token changes.
fn hyyro(a: &[u64], b: &[u64], steps: &mut Steps<'_>) -> Result<usize> {
    let places = places_of(a);
    let mut column = vec![!0u64; a.len().div_ceil(64)];
    for token in b {
        let Some(same) = places.get(token) else {
            steps.take(1)?;
            continue;
        };
        let (mut rest, mut at, mut carry) = (same.as_slice(), 0, false);
        let mut looked_at = 1;
        while let Some(word) = column.get_mut(at) {
            let here = rest.partition_point(|&place| place as usize / 64 <= at);
            let equal = rest[..here].iter().fold(0u64, |equal, place| equal | 1 << (place % 64));
            rest = &rest[here..];
            looked_at += 1;
            let matched = *word & equal;
            let (sum, first) = word.overflowing_add(matched);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            *word = sum | (*word - matched);
            carry = first || second;
            at += 1;
            if !carry {
                // Continues with the next word that has the token.
                let Some(&next) = rest.first() else { break };
                at = at.max(next as usize / 64);
            }
        }
        steps.take(looked_at + same.len() as u64 / 8)?;
    }
    let zeros: u32 = column.iter().map(|word| word.count_zeros()).sum();
    Ok(zeros as usize)
}

/// Returns the Damerau-Levenshtein distance, where further changes may occur between swapped
/// neighbors (Zhao and Sahni 2020, keeping three rows in memory).
fn zhao(a: &[u64], b: &[u64], steps: &mut Steps<'_>) -> Result<usize> {
    // Small numbers replace the tokens of `b`, so that `last_row_of` can be a vector.
    let mut numbers: HashMap<u64, u32, BuildKeyHasher> = HashMap::default();
    let b: Vec<u32> = b
        .iter()
        .map(|&token| {
            let next = numbers.len() as u32;
            *numbers.entry(token).or_insert(next)
        })
        .collect();
    let never = (a.len().max(b.len()) + 1) as i64;
    // For each token of `b`, the last row with that token, counted from 1, or `-1`.
    let mut last_row_of = vec![-1i64; numbers.len()];
    // Rows have a cell before the first column.
    let mut swapped = vec![never; b.len() + 2];
    let mut before = vec![never; b.len() + 2];
    let mut row: Vec<i64> = std::iter::once(never).chain(0..=b.len() as i64).collect();
    for (i, token) in (1i64..).zip(a) {
        steps.take(1 + b.len() as u64)?;
        let number = numbers.get(token).copied();
        std::mem::swap(&mut row, &mut before);
        let (mut last_column, mut two_above, mut transposed) = (-1i64, row[1], never);
        row[1] = i;
        for (j, &other) in (1i64..).zip(&b) {
            let at = j as usize + 1;
            let is_equal = number == Some(other);
            let mut least = (before[at - 1] + i64::from(!is_equal)).min(row[at - 1] + 1);
            least = least.min(before[at] + 1);
            if is_equal {
                last_column = j;
                swapped[at] = before[at - 2];
                transposed = two_above;
            } else {
                let last_row = last_row_of[other as usize];
                if j - last_column == 1 {
                    least = least.min(swapped[at] + i - last_row);
                } else if i - last_row == 1 {
                    least = least.min(transposed + j - last_column);
                }
            }
            two_above = row[at];
            row[at] = least;
        }
        if let Some(number) = number {
            last_row_of[number as usize] = i;
        }
    }
    Ok(row[b.len() + 1] as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::stop::testing::After;
    use proptest::prelude::*;
    use rapidfuzz::distance;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        #[test]
        fn distances_are_those_of_a_library(
            a in prop::collection::vec(0u64..6, 0..220), b in prop::collection::vec(0u64..6, 0..220),
            c in prop::collection::vec(0u64..80, 0..220), d in prop::collection::vec(0u64..80, 0..220),
        ) {
            for (a, b) in [(a, b), (c, d)] {
                let of = |measure: fn(&[u64], &[u64], &Stop) -> Result<f64>| {
                    measure(&a, &b, Stop::NEVER).unwrap()
                };
                let (x, y) = (a.iter().copied(), b.iter().copied());
                let expected =
                    distance::levenshtein::normalized_similarity(x.clone(), y.clone());
                prop_assert_eq!(of(levenshtein), expected);
                let expected =
                    distance::damerau_levenshtein::normalized_similarity(x.clone(), y.clone());
                prop_assert_eq!(of(damerau), expected);
                prop_assert_eq!(of(lcs), distance::lcs_seq::normalized_similarity(x, y));
            }
        }
    }

    #[test]
    fn a_distance_of_long_texts_is_stopped_at_the_first_look() {
        let text = |from: u64| (from..from + 100_000).map(crate::hash::mix64).collect::<Vec<_>>();
        let (a, b) = (text(0), text(50));
        for measure in [levenshtein, damerau, lcs] {
            let flag = After::looks(0);
            assert!(measure(&a, &b, flag.stop()).is_err());
            assert_eq!(flag.count(), 1);
        }
    }
}
