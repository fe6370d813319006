//! A cache of decompressed values, limited in bytes.
//!
//! The values requested last are kept. The limit is for all segments of an index together, however
//! many segments and documents the index has.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lru::LruCache;

use crate::hash::{BuildKeyHasher, mix64};

/// The number of parts of the cache, each with a lock of its own.
const PARTS: usize = 16;

/// The approximate overhead of an entry: its place in the list and in the map.
const ENTRY_BYTES: usize = 128;

/// The values requested last.
pub struct ByteLru<T> {
    parts: [Mutex<Part<T>>; PARTS],
    owners: AtomicU64,
}

impl<T> std::fmt::Debug for ByteLru<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ByteLru").finish_non_exhaustive()
    }
}

/// Some of them; the value requested last is the last to go.
struct Part<T> {
    values: LruCache<u64, Arc<T>, BuildKeyHasher>,
    bytes: usize,
    bytes_max: usize,
}

/// A value that takes memory.
pub trait InMemory {
    /// Returns the number of bytes that it takes.
    fn memory_bytes(&self) -> usize;
}

/// Distinguishes the values of one file from those of others that are kept in the same place.
#[derive(Debug, Clone, Copy)]
pub struct Owner(u64);

impl<T: InMemory> ByteLru<T> {
    /// Creates a cache with room for this many bytes.
    pub fn new(bytes_max: usize) -> ByteLru<T> {
        let part = |_| {
            let values = LruCache::unbounded_with_hasher(BuildKeyHasher::default());
            Mutex::new(Part { values, bytes: 0, bytes_max: bytes_max / PARTS })
        };
        ByteLru { parts: std::array::from_fn(part), owners: AtomicU64::new(0) }
    }

    /// Creates a new owner of values.
    pub fn owner(&self) -> Owner {
        Owner(self.owners.fetch_add(1, Ordering::Relaxed))
    }

    /// Returns the value of this number; if the cache has no such value, calls `read` for it.
    pub fn get<E>(
        &self,
        owner: Owner,
        number: u32,
        read: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        if let Some(value) = self.find(owner, number) {
            return Ok(value);
        }
        // Without the lock: others find theirs meanwhile.
        let value = Arc::new(read()?);
        self.put(owner, number, &value);
        Ok(value)
    }

    /// Returns the value of this number, if the cache has it.
    pub(crate) fn find(&self, owner: Owner, number: u32) -> Option<Arc<T>> {
        let (name, mut part) = self.part_of(owner, number);
        part.values.get(&name).cloned()
    }

    /// Keeps a value under this number.
    pub(crate) fn put(&self, owner: Owner, number: u32, value: &Arc<T>) {
        let (name, mut part) = self.part_of(owner, number);
        part.keep(name, value);
    }

    /// Returns the name of a value, and the part of the cache where it is or would be.
    fn part_of(&self, Owner(owner): Owner, number: u32) -> (u64, MutexGuard<'_, Part<T>>) {
        // `mix64` maps names one to one, and spreads them.
        let name = mix64(owner << 32 | u64::from(number));
        let part = &self.parts[name as usize % PARTS];
        (name, part.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the bytes of all values in the cache.
    #[cfg(test)]
    pub fn memory_bytes(&self) -> usize {
        let of = |part: &Mutex<Part<T>>| {
            let part = part.lock().unwrap();
            let values = part.values.iter().map(|(_, value)| value.memory_bytes() + ENTRY_BYTES);
            assert_eq!(part.bytes, values.sum::<usize>());
            part.bytes
        };
        self.parts.iter().map(of).sum()
    }
}

impl<T: InMemory> Part<T> {
    fn keep(&mut self, name: u64, value: &Arc<T>) {
        // It would be the last to stay, and then go as well.
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
