//! New ordinals of the terms of a source in the merged segment.
//!
//! A map has a byte or two per term, and the fingerprints of a text are spread over the whole map.
//! Reading the map in text order would wait for memory at every ordinal, as soon as the map exceeds
//! the cache. The ordinals of many documents are therefore distributed by their high bits first, as
//! in a radix sort, then renumbered window by window, and collected again in the original order.

use std::mem;

use crate::segment::bits::{BitWriter, get, width_of};
use crate::segment::prefetch::near;

/// The number of terms of a window, as a power of two. The part of a map for a window fits the
/// second-level cache.
const WINDOW_BITS: u32 = 17;

/// The most windows. Each is written to in turn, and needs a line of the first-level cache.
const WINDOWS_MAX: usize = 1024;

/// The bytes of a cache line.
const LINE_BYTES: usize = 64;

/// Maps a term's ordinal in its source to its ordinal in the merged segment.
///
/// New ordinals ascend with old ordinals, so a stretch of [`STRETCH`] ordinals is stored as its
/// first ordinal and packed differences: 1.2 bytes a term, instead of 4 in a plain table.
#[derive(Default)]
pub struct OrdinalMap {
    stretches: Vec<OrdinalStretch>,
    packed: Vec<u8>,
    pending: Vec<u32>,
    len: usize,
}

struct OrdinalStretch {
    first: u32,
    width: u8,
    at: u64,
}

const STRETCH: usize = 128;

impl OrdinalMap {
    /// Appends the new ordinals of the next old ordinals: `base` plus each of `places`.
    pub fn extend(&mut self, base: u32, mut places: &[u32]) {
        self.len += places.len();
        while !places.is_empty() {
            let (now, later) = places.split_at(places.len().min(STRETCH - self.pending.len()));
            self.pending.extend(now.iter().map(|place| base + place));
            if self.pending.len() == STRETCH {
                self.finish();
            }
            places = later;
        }
    }

    /// Returns the number of old ordinals.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the bytes of the map.
    pub fn bytes(&self) -> usize {
        self.packed.len() + self.stretches.len() * size_of::<OrdinalStretch>()
    }

    /// Packs the ordinals appended since the last full stretch.
    pub fn finish(&mut self) {
        let (Some(&first), Some(&last)) = (self.pending.first(), self.pending.last()) else {
            return;
        };
        let width = width_of(u64::from(last - first));
        self.stretches.push(OrdinalStretch {
            first,
            width: width as u8,
            at: self.packed.len() as u64,
        });
        let mut writer = BitWriter::new(&mut self.packed);
        for &new in &self.pending {
            writer.put(u64::from(new - first), width);
        }
        writer.finish();
        self.pending.clear();
    }

    /// Reads the lines of the map for at most `count` ordinals from `old` on. Sequential reads
    /// reach the cache much faster than random reads.
    fn bring(&self, old: usize, count: usize) {
        let from = (old / STRETCH).min(self.stretches.len());
        let to = (old + count).div_ceil(STRETCH).min(self.stretches.len());
        let at = |stretch: usize| {
            self.stretches.get(stretch).map_or(self.packed.len(), |stretch| stretch.at as usize)
        };
        near(self.stretches[from..to].iter().map(|stretch| stretch.width));
        near(self.packed[at(from)..at(to)].iter().step_by(LINE_BYTES).copied());
    }

    /// Returns the new ordinal of `old`.
    #[inline]
    pub fn get(&self, old: u32) -> u32 {
        let stretch = &self.stretches[old as usize / STRETCH];
        let packed = &self.packed[stretch.at as usize..];
        stretch.first + get(packed, old as usize % STRETCH, u32::from(stretch.width)) as u32
    }
}

/// Renumbers many ordinals at once. Its memory is reused.
#[derive(Default)]
pub struct Renumbering {
    /// The ordinals by window, in the original order within a window.
    by_window: Vec<u32>,
    /// For each window, the place of its next ordinal.
    next: Vec<usize>,
}

impl Renumbering {
    /// Replaces ordinals of a source, which `map` must have, with ordinals of the merged segment.
    pub fn apply(&mut self, map: &OrdinalMap, ordinals: &mut [u32]) {
        let mut window_bits = WINDOW_BITS;
        while map.len() >> window_bits >= WINDOWS_MAX {
            window_bits += 1;
        }
        let windows = (map.len() >> window_bits) + 1;
        if windows == 1 {
            ordinals.iter_mut().for_each(|ordinal| *ordinal = map.get(*ordinal));
            return;
        }
        let window_of = |ordinal: u32| (ordinal >> window_bits) as usize;
        let Renumbering { by_window, next } = self;
        next.clear();
        next.resize(windows + 1, 0);
        ordinals.iter().for_each(|&old| next[window_of(old) + 1] += 1);
        let mut end = 0;
        for begin in next.iter_mut() {
            end += *begin;
            *begin = end;
        }
        by_window.clear();
        by_window.resize(ordinals.len(), 0);
        for &old in &*ordinals {
            let at = &mut next[window_of(old)];
            by_window[*at] = old;
            *at += 1;
        }
        // Each window now ends where the next window began.
        let mut from = 0;
        for (number, end) in next.iter_mut().take(windows).enumerate() {
            map.bring(number << window_bits, 1 << window_bits);
            by_window[from..*end].iter_mut().for_each(|ordinal| *ordinal = map.get(*ordinal));
            from = mem::replace(end, from);
        }
        for ordinal in ordinals {
            let at = &mut next[window_of(*ordinal)];
            *ordinal = by_window[*at];
            *at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_ordinal_map_gives_back_its_ordinals(
            steps in proptest::collection::vec(0u32..5000, 1..1000), part in 1usize..400,
        ) {
            let mut map = OrdinalMap::default();
            let mut new = 0;
            let news: Vec<u32> = steps.iter().map(|step| { new += step; new }).collect();
            for part in news.chunks(part) {
                map.extend(7, part);
            }
            map.finish();
            prop_assert_eq!(map.len(), news.len());
            for (old, &new) in news.iter().enumerate() {
                prop_assert_eq!(map.get(old as u32), 7 + new);
            }
        }
    }

    #[test]
    fn ordinals_of_many_windows_are_renumbered_in_their_order() {
        for terms in [3, 3 << WINDOW_BITS, 5 << WINDOW_BITS] {
            let new = |old: u32| old + old / 3;
            let mut map = OrdinalMap::default();
            map.extend(0, &(0..terms).map(new).collect::<Vec<_>>());
            map.finish();
            let mut renumbering = Renumbering::default();
            // Renumbers twice, to check that nothing of the first round remains.
            for round in 0..2 {
                let mut ordinals: Vec<u32> =
                    (0..3000).map(|i| (i * 104_729 + round) % terms).collect();
                let expected: Vec<u32> = ordinals.iter().map(|&old| new(old)).collect();
                renumbering.apply(&map, &mut ordinals);
                assert_eq!(ordinals, expected);
            }
        }
    }
}
