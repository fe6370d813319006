//! How much memory do families take that are still to be described?

use std::cmp::Reverse;
use std::collections::HashSet;

use super::Settled;
use super::places::length;
use cento_api::Carrier;
use cento_text::runtime::ordered::results_max;

/// Describing a family takes its passages this many times: the texts, with as much text on both
/// sides, the hashes of their words, those in order, and the words that were changed.
const DESCRIBED_TIMES: usize = 10;

/// A described family has its passages at most this many times: the first, and in each other
/// carrier the words that it changed, those before and those after.
const DESCRIPTION_TIMES: usize = 3;

/// The memory of a described carrier: itself, its id, and its date.
const CARRIER_BYTES: usize = size_of::<Carrier>() + 96;

/// The memory of an entry of a set of ranks.
const RANK_BYTES: usize = 8;

/// Returns the memory to describe these families on some threads, with the documents whose search
/// for passages was cut short. Those that are described wait for their turn.
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
