//! Limits how much freed memory the allocator keeps.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(all(target_os = "linux", target_env = "gnu"))]
use super::process::anonymous_kib;

/// Makes the allocator return freed memory to the system: the free end of an area if it is larger
/// than [`KEPT_BYTES_MAX`], and every freed piece of at least this size.
///
/// glibc has an area for each of many threads. By default it raises the limit to the largest piece
/// ever freed, up to 64 MiB per area, so a service kept 500 MB unused after some large requests.
/// glibc does not raise an explicit limit. Other allocators return memory without a call.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    for limit in [libc::M_TRIM_THRESHOLD, libc::M_MMAP_THRESHOLD] {
        if !set(limit) {
            tracing::warn!("the allocator refuses a limit for the freed memory that it keeps");
        }
    }
}

/// A tenth of the memory of a search for passages. Smaller pieces are reused by the allocator.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT_BYTES_MAX: libc::c_int = 1 << 20;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "no crate makes this call")]
fn set(limit: libc::c_int) -> bool {
    // SAFETY: the call takes two numbers and locks the allocator itself.
    unsafe { libc::mallopt(limit, KEPT_BYTES_MAX) == 1 }
}

/// The memory of the process after freed memory was last returned, in KiB.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
static TAKEN_KIB: AtomicU64 = AtomicU64::new(0);

/// Freed memory is returned after the process has grown by this number of KiB. Not after every
/// request, because the allocator looks through its whole memory.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const GROWTH_KIB_MAX: u64 = 64 << 10;

/// Has the allocator return freed memory if the process has grown by [`GROWTH_KIB_MAX`]. Called
/// where much may have been freed in small pieces, such as meta objects.
///
/// On its own, the allocator returns only the end of an area, so a single piece in use kept a
/// hundred MB before it. A service of a small index with many commits kept 100 MB more than it
/// used. Counting the freed bytes missed what caches and dropped commits free.
pub fn give_back_if_grown() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if let Some(taken) = anonymous_kib()
        && taken >= TAKEN_KIB.load(Ordering::Relaxed) + GROWTH_KIB_MAX
    {
        trim();
        TAKEN_KIB.store(anonymous_kib().unwrap_or(taken), Ordering::Relaxed);
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "no crate makes this call")]
fn trim() {
    // SAFETY: the call takes a number and locks the allocator itself.
    unsafe { libc::malloc_trim(0) };
}

#[cfg(test)]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod tests {
    use std::env;
    use std::process::Command;
    use std::sync::Barrier;
    use std::thread;

    use super::anonymous_kib;

    /// Runs a test of this module in a separate process, because neighboring tests take memory,
    /// too.
    fn alone(name: &str, test: fn()) {
        if env::args().any(|argument| argument == "--exact") {
            return test();
        }
        let output = Command::new(env::current_exe().unwrap())
            .args(["--exact", &format!("allocator::tests::{name}")])
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
    }

    /// Allocates a large piece, which raises a default limit, and many smaller pieces.
    fn request() {
        drop(vec![1u8; 30 << 20]);
        let pieces: Vec<Vec<u8>> = (0..50).map(|_| vec![1; 512 << 10]).collect();
        assert_eq!(pieces.len(), 50);
    }

    #[test]
    fn memory_freed_before_a_piece_in_use_is_given_back() {
        alone("memory_freed_before_a_piece_in_use_is_given_back", || {
            super::give_back();
            let before = anonymous_kib().unwrap();
            let mut pieces: Vec<Box<[u8; 100]>> =
                (0..1_000_000).map(|_| Box::new([1; 100])).collect();
            let last = pieces.pop();
            drop(pieces);
            super::give_back_if_grown();
            let kept = anonymous_kib().unwrap().saturating_sub(before);
            assert!(last.is_some() && kept < 60 << 10, "{} MiB are kept", kept >> 10);
        });
    }

    #[test]
    fn memory_freed_by_requests_is_given_back() {
        alone("memory_freed_by_requests_is_given_back", || {
            super::give_back();
            let before = anonymous_kib().unwrap();
            let (done, waits) = (Barrier::new(5), Barrier::new(5));
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        request();
                        done.wait();
                        waits.wait();
                    });
                }
                done.wait();
                let kept = anonymous_kib().unwrap().saturating_sub(before);
                waits.wait();
                assert!(kept < 40 << 10, "{} MiB are kept", kept >> 10);
            });
        });
    }
}
