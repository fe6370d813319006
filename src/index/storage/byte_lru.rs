//! A cache of decompressed values, limited in bytes.
//!
//! The cache evicts the least recently used values. The limit applies to the segments of an index
//! together, however many segments and documents the index has.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lru::LruCache;

use crate::hash::{BuildKeyHasher, mix64};

/// The number of parts of the cache. Each part has its own lock.
const PARTS: usize = 16;

/// Approximate bytes of overhead per entry, for its place in the list and in the map.
const ENTRY_BYTES: usize = 128;

/// A cache of recently used values.
pub struct ByteLru<T> {
    parts: [Mutex<LruPart<T>>; PARTS],
    owners: AtomicU64,
}

impl<T> std::fmt::Debug for ByteLru<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ByteLru").finish_non_exhaustive()
    }
}

/// A part of the cache, with its share of the limit.
struct LruPart<T> {
    values: LruCache<u64, Arc<T>, BuildKeyHasher>,
    bytes: usize,
    bytes_max: usize,
}

/// A value whose memory can be measured.
pub trait InMemory {
    /// Returns the memory of the value in bytes.
    fn memory_bytes(&self) -> usize;
}

/// Distinguishes the values of different files in the same cache.
#[derive(Debug, Clone, Copy)]
pub struct Owner(u64);

impl<T: InMemory> ByteLru<T> {
    /// Creates a cache with room for this many bytes.
    pub fn new(bytes_max: usize) -> ByteLru<T> {
        let part = |_| {
            let values = LruCache::unbounded_with_hasher(BuildKeyHasher::default());
            Mutex::new(LruPart { values, bytes: 0, bytes_max: bytes_max / PARTS })
        };
        ByteLru { parts: std::array::from_fn(part), owners: AtomicU64::new(0) }
    }

    /// Creates a new owner of values.
    pub fn owner(&self) -> Owner {
        Owner(self.owners.fetch_add(1, Ordering::Relaxed))
    }

    /// Returns the value `number` of `owner`. Calls `read` if it is not cached.
    pub fn get<E>(
        &self,
        owner: Owner,
        number: u32,
        read: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        if let Some(value) = self.find(owner, number) {
            return Ok(value);
        }
        // Read without the lock, so that other threads can use the cache meanwhile.
        let value = Arc::new(read()?);
        self.put(owner, number, &value);
        Ok(value)
    }

    /// Returns the value from the cache.
    pub(crate) fn find(&self, owner: Owner, number: u32) -> Option<Arc<T>> {
        let (name, mut part) = self.part_of(owner, number);
        part.values.get(&name).cloned()
    }

    /// Puts a value into the cache.
    pub(crate) fn put(&self, owner: Owner, number: u32, value: &Arc<T>) {
        let (name, mut part) = self.part_of(owner, number);
        part.keep(name, value);
    }

    /// Returns the key of a value, and the part of the cache responsible for it.
    fn part_of(&self, Owner(owner): Owner, number: u32) -> (u64, MutexGuard<'_, LruPart<T>>) {
        // `mix64` is a bijection, so keys stay distinct, and it spreads keys over the parts.
        let name = mix64(owner << 32 | u64::from(number));
        let part = &self.parts[name as usize % PARTS];
        (name, part.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the bytes of all values in the cache.
    #[cfg(test)]
    pub fn memory_bytes(&self) -> usize {
        let of = |part: &Mutex<LruPart<T>>| {
            let part = part.lock().unwrap();
            let values = part.values.iter().map(|(_, value)| value.memory_bytes() + ENTRY_BYTES);
            assert_eq!(part.bytes, values.sum::<usize>());
            part.bytes
        };
        self.parts.iter().map(of).sum()
    }
}

impl<T: InMemory> LruPart<T> {
    fn keep(&mut self, name: u64, value: &Arc<T>) {
        // A value larger than the part would evict everything else, and then itself.
        if value.memory_bytes() + ENTRY_BYTES > self.bytes_max {
            return;
        }
        self.bytes += value.memory_bytes() + ENTRY_BYTES;
        if let Some(before) = self.values.put(name, value.clone()) {
            self.bytes -= before.memory_bytes() + ENTRY_BYTES;
        }
        while self.bytes > self.bytes_max
            && let Some((_, oldest)) = self.values.pop_lru()
        {
            self.bytes -= oldest.memory_bytes() + ENTRY_BYTES;
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
        let cache = ByteLru::<usize>::new(PARTS << 10);
        let owner = cache.owner();
        for number in 0..99 {
            cache.put(owner, number, &Arc::new(10));
            cache.put(owner, 1000 + number, &Arc::new(1 << 10));
        }
        assert!(cache.find(owner, 1000).is_none());
        let kept = (0..99).filter(|&number| cache.find(owner, number).is_some()).count();
        assert!(kept > 80, "{kept}");
        assert!(cache.find(cache.owner(), 98).is_none(), "of another owner");
    }
}
