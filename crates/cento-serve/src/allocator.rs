//! How much of what requests give back does the allocator keep?

/// Has the allocator give back to the system what lies at the end of each of its areas, if it is more than
/// [`KEPT_BYTES_MAX`], and everything that is as large at once.
///
/// glibc has an area for each of many threads, and raises the limit with the largest piece that was ever freed, up
/// to 64 MiB an area: after some large requests a service kept 500 MB that nobody used. A limit that was set is
/// not raised. Other allocators give memory back by themselves.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    for limit in [libc::M_TRIM_THRESHOLD, libc::M_MMAP_THRESHOLD] {
        if !set(limit) {
            tracing::warn!("the allocator takes no limit for what it keeps of freed memory");
        }
    }
}

/// A tenth of what a search for passages takes; small pieces are freed and taken again without the system.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT_BYTES_MAX: libc::c_int = 1 << 20;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "no crate makes this call")]
fn set(limit: libc::c_int) -> bool {
    // SAFETY: it takes two numbers, and takes the lock of the allocator itself.
    unsafe { libc::mallopt(limit, KEPT_BYTES_MAX) == 1 }
}

#[cfg(test)]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod tests {
    use std::fs;
    use std::sync::Barrier;
    use std::thread;

    /// The bytes of the process that are in memory and in no file.
    fn taken_bytes() -> usize {
        let pages = fs::read_to_string("/proc/self/statm").unwrap();
        let mut pages = pages.split(' ').skip(1).map(|number| number.parse::<usize>().unwrap());
        (pages.next().unwrap() - pages.next().unwrap()) * 4096
    }

    /// A large piece, whose size raises the limit that was not set, and many smaller ones.
    fn request() {
        drop(vec![1u8; 30 << 20]);
        let pieces: Vec<Vec<u8>> = (0..50).map(|_| vec![1; 512 << 10]).collect();
        assert_eq!(pieces.len(), 50);
    }

    #[test]
    fn what_requests_free_is_given_back() {
        super::give_back();
        let before = taken_bytes();
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
            let kept = taken_bytes().saturating_sub(before);
            waits.wait();
            assert!(kept < 40 << 20, "{} MiB are kept", kept >> 20);
        });
    }
}
