//! Memory that a writer has freed.

/// Lets the allocator keep the memory of a segment for the next one.
///
/// tantivy takes some 15 MB for a new segment, however small. glibc gives it back to the system,
/// page by page, and takes it again: most of the time of a commit of one document. Once it has
/// freed this much at a time it keeps twice as much for each thread (mallopt(3),
/// `M_MMAP_THRESHOLD`: the limits are dynamic), so this is no more than a quarter of the writer's
/// budget: with the full amount and a budget of 16 MiB, documents of 4 MB took 254 MiB, although
/// only 120 were in use.
pub fn keep(memory_bytes: usize) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        let kept = (memory_bytes / 4).min((32 << 20) - (64 << 10));
        drop(std::hint::black_box(Vec::<u8>::with_capacity(kept)));
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = memory_bytes;
}
