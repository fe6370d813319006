//! Estimates the memory of families that are still to be described.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::Settled;
use super::places::length;
use cento_api::Carrier;
use cento_text::runtime::ordered::results_max;

/// The memory for describing a family, in multiples of its passages: the texts, as much text on
/// both sides, hashes of words, sorted hashes, and changed words.
const DESCRIBED_TIMES: usize = 10;

/// The memory of a described family, in multiples of its passages: at most the first passage, and
/// for further carriers the changed words before and after the change.
const DESCRIPTION_TIMES: usize = 3;

/// The memory of a described carrier with its id and date.
const CARRIER_BYTES: usize = size_of::<Carrier>() + 96;

/// The memory of a rank in a set.
const RANK_BYTES: usize = 8;

/// Returns the memory for describing these families on `threads` threads, including described
/// families that wait for their turn and the ranks of documents whose search was cut short.
pub fn bytes(settled: &[Settled], cut_short: &HashSet<u32>, threads: usize) -> usize {
    let places = settled.iter().map(|places| {
        size_of::<Settled>() + places.capacity() * size_of::<<Settled as IntoIterator>::Item>()
    });
    let held = places.sum::<usize>() + cut_short.capacity() * RANK_BYTES;
    let passages = |places: &Settled| -> usize {
        places.iter().map(|&(_, place)| length(place) as usize).sum()
    };
    let described = |places: &Settled| {
        let carriers = places.len().saturating_mul(CARRIER_BYTES);
        passages(places).saturating_mul(DESCRIPTION_TIMES).saturating_add(carriers)
    };
    let largest = settled.iter().map(passages).max().unwrap_or(0);
    let at_work = largest.saturating_mul(DESCRIBED_TIMES).saturating_mul(threads.max(1));
    let mut waiting: Vec<usize> = settled.iter().map(described).collect();
    waiting.sort_unstable_by_key(|&bytes| Reverse(bytes));
    let waiting = waiting.into_iter().take(results_max(threads));
    waiting.fold(held.saturating_add(at_work), usize::saturating_add)
}
