//! A cache of decompressed values, limited in bytes.
//!
//! The cache evicts the least recently used values. The limit applies to the segments of an index
//! together, however many segments and documents the index has. The values of a segment leave with
//! the segment, so a service whose segments come and go keeps nothing of those that went.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lru::LruCache;

use crate::hash::{BuildKeyHasher, mix64};

/// The number of parts of the cache. Each part has a separate lock.
const PARTS: usize = 16;

/// Approximate bytes of overhead per entry, for its place in the list and in the map.
const ENTRY_BYTES: usize = 128;

/// A cache of recently used values.
pub struct ByteLru<T> {
    parts: [Mutex<LruPart<T>>; PARTS],
    shares: AtomicU64,
}

impl<T> std::fmt::Debug for ByteLru<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ByteLru").finish_non_exhaustive()
    }
}

/// A part of the cache, with its part of the limit.
struct LruPart<T> {
    /// By key: the share, and the value.
    values: LruCache<u64, (u64, Arc<T>), BuildKeyHasher>,
    bytes: usize,
    bytes_max: usize,
}

/// A value whose memory can be measured.
pub trait InMemory {
    /// Returns the memory of the value in bytes.
    fn memory_bytes(&self) -> usize;
}

/// The values of one file, in a cache of the values of several files. They leave the cache with the
/// share.
#[derive(Debug)]
pub struct LruShare<T: InMemory> {
    cache: Arc<ByteLru<T>>,
    number: u64,
}

impl<T: InMemory> ByteLru<T> {
    /// Creates a cache with room for this many bytes.
    pub fn new(bytes_max: usize) -> ByteLru<T> {
        let part = |_| {
            let values = LruCache::unbounded_with_hasher(BuildKeyHasher::default());
            Mutex::new(LruPart { values, bytes: 0, bytes_max: bytes_max / PARTS })
        };
        ByteLru { parts: std::array::from_fn(part), shares: AtomicU64::new(0) }
    }

    /// Creates an empty share for the values of a file.
    pub fn share(self: &Arc<Self>) -> LruShare<T> {
        LruShare { cache: self.clone(), number: self.shares.fetch_add(1, Ordering::Relaxed) }
    }

    /// Returns the bytes of all values in the cache.
    #[cfg(test)]
    pub fn memory_bytes(&self) -> usize {
        let of = |part: &Mutex<LruPart<T>>| {
            let part = part.lock().unwrap();
            let bytes = |(_, value): &(u64, Arc<T>)| value.memory_bytes() + ENTRY_BYTES;
            assert_eq!(part.bytes, part.values.iter().map(|(_, kept)| bytes(kept)).sum::<usize>());
            part.bytes
        };
        self.parts.iter().map(of).sum()
    }
}

impl<T: InMemory> LruShare<T> {
    /// Returns the cache, for the shares of other files.
    pub fn cache(&self) -> &Arc<ByteLru<T>> {
        &self.cache
    }

    /// Returns the value with this number. Calls `read` if it is not cached.
    pub fn get<E>(&self, number: u32, read: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        if let Some(value) = self.find(number) {
            return Ok(value);
        }
        // Read without the lock, so that other threads can use the cache meanwhile.
        let value = Arc::new(read()?);
        self.put(number, &value);
        Ok(value)
    }

    /// Returns the value from the cache.
    pub(crate) fn find(&self, number: u32) -> Option<Arc<T>> {
        let (key, mut part) = self.part_of(number);
        part.values.get(&key).map(|(_, value)| value.clone())
    }

    /// Puts a value into the cache.
    pub(crate) fn put(&self, number: u32, value: &Arc<T>) {
        let (key, mut part) = self.part_of(number);
        part.keep(key, self.number, value);
    }

    /// Returns the key of a value, and the part of the cache responsible for it.
    fn part_of(&self, number: u32) -> (u64, MutexGuard<'_, LruPart<T>>) {
        // `mix64` is a bijection, so keys stay distinct, and it spreads keys over the parts.
        let key = mix64(self.number << 32 | u64::from(number));
        (key, self.cache.parts[key as usize % PARTS].lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T: InMemory> Drop for LruShare<T> {
    /// Looks at every value of the cache, some milliseconds at most. A list of the values of each
    /// share would take memory for values that were evicted long ago.
    fn drop(&mut self) {
        // The cache goes with its last share.
        if Arc::strong_count(&self.cache) > 1 {
            for part in &self.cache.parts {
                part.lock().unwrap_or_else(PoisonError::into_inner).forget(self.number);
            }
        }
    }
}

impl<T: InMemory> LruPart<T> {
    fn keep(&mut self, key: u64, share: u64, value: &Arc<T>) {
        // A value larger than the part would evict everything else, and then itself.
        if value.memory_bytes() + ENTRY_BYTES > self.bytes_max {
            return;
        }
        self.bytes += value.memory_bytes() + ENTRY_BYTES;
        if let Some((_, before)) = self.values.put(key, (share, value.clone())) {
            self.bytes -= before.memory_bytes() + ENTRY_BYTES;
        }
        while self.bytes > self.bytes_max
            && let Some((_, (_, oldest))) = self.values.pop_lru()
        {
            self.bytes -= oldest.memory_bytes() + ENTRY_BYTES;
        }
    }

    fn forget(&mut self, share: u64) {
        let of_share = self.values.iter().filter(|(_, (of, _))| *of == share);
        let keys: Vec<u64> = of_share.map(|(&key, _)| key).collect();
        for key in keys {
            if let Some((_, value)) = self.values.pop(&key) {
                self.bytes -= value.memory_bytes() + ENTRY_BYTES;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl InMemory for usize {
        fn memory_bytes(&self) -> usize {
            *self
        }
    }

    #[test]
    fn a_value_that_is_too_large_takes_the_place_of_no_other() {
        let cache = Arc::new(ByteLru::<usize>::new(PARTS << 10));
        let share = cache.share();
        for number in 0..99 {
            share.put(number, &Arc::new(10));
            share.put(1000 + number, &Arc::new(1 << 10));
        }
        assert!(share.find(1000).is_none());
        let kept = (0..99).filter(|&number| share.find(number).is_some()).count();
        assert!(kept > 80, "{kept}");
        assert!(cache.share().find(98).is_none(), "of another share");
    }

    #[test]
    fn the_values_of_a_file_leave_the_cache_with_the_file() {
        // A service kept the texts of merged segments until others took their place.
        let cache = Arc::new(ByteLru::<usize>::new(1 << 20));
        let stays = cache.share();
        let goes = cache.share();
        for number in 0..500 {
            stays.put(number, &Arc::new(10));
            goes.put(number, &Arc::new(20));
        }
        let held = goes.find(7).unwrap();
        drop(goes);
        assert_eq!(cache.memory_bytes(), 500 * (10 + ENTRY_BYTES));
        assert!((0..500).all(|number| *stays.find(number).unwrap() == 10));
        assert_eq!(*held, 20, "a reader keeps a value while it is used");
    }
}
