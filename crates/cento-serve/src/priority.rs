//! Priorities of threads when processors are scarce.

/// Gives precedence to other threads of the process, and to processes in the same control group,
/// over this thread and the threads that it starts. Has no effect on unsupported systems.
pub fn give_way() {
    #[cfg(target_os = "linux")]
    {
        // The operator may have chosen a higher niceness.
        let own = rustix::process::getpriority_process(None).unwrap_or(0);
        let niceness = own.max(NICENESS);
        if let Err(error) = rustix::process::setpriority_process(None, niceness) {
            tracing::warn!(%error, "the priority of ingest threads cannot be lowered");
        }
        if let Err(error) = wait_for_long_slices(niceness, SLICE_NANOSECONDS) {
            tracing::debug!(%error, "ingest threads keep the usual slices of time");
        }
    }
}

/// Lets threads with slices of the usual length interrupt this thread whenever they have work. This
/// thread keeps its share of the processors. Call this once in each thread. Has no effect on
/// unsupported systems.
pub fn let_quick_ones_go_first() {
    #[cfg(target_os = "linux")]
    {
        thread_local! {
            static IS_SET: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
        }
        if IS_SET.replace(true) {
            return;
        }
        let own = rustix::process::getpriority_process(None).unwrap_or(0);
        if let Err(error) = wait_for_long_slices(own, SEARCH_SLICE_NANOSECONDS) {
            tracing::debug!(%error, "searches keep the usual slices of time");
        }
    }
}

/// With niceness 10 a busy thread gets a tenth of the time of a busy searching thread.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// The longest slice that Linux grants (`__setparam_fair` in its kernel/sched/syscalls.c).
#[cfg(target_os = "linux")]
const SLICE_NANOSECONDS: u64 = 100_000_000;

/// The slice of a slow search. Quick searches of 60 us need not wait for its end.
#[cfg(target_os = "linux")]
const SEARCH_SLICE_NANOSECONDS: u64 = 20_000_000;

/// Asks for rare and long slices of time instead of frequent short slices.
///
/// A thread that has just received a slice keeps the processor for most of it, even if other
/// threads wake up, so a search beside a merge waited up to 4 ms. A thread with a shorter slice
/// than the running thread does not wait. Linux before 6.12 ignores the request, and Linux before
/// 5.3 refuses the call.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "no crate makes this system call with a slice")]
fn wait_for_long_slices(niceness: i32, nanoseconds: u64) -> std::io::Result<()> {
    let attributes = libc::sched_attr {
        size: size_of::<libc::sched_attr>() as u32,
        sched_policy: 0,
        // The operator may have chosen a policy for the service.
        sched_flags: libc::SCHED_FLAG_KEEP_POLICY as u64,
        sched_nice: niceness,
        sched_priority: 0,
        sched_runtime: nanoseconds,
        sched_deadline: 0,
        sched_period: 0,
    };
    const THIS_THREAD: libc::pid_t = 0;
    const NO_FLAGS: libc::c_uint = 0;
    // SAFETY: the system reads `size` bytes of a structure of that size, and changes only how this
    // thread is scheduled.
    let result = unsafe {
        libc::syscall(libc::SYS_sched_setattr, THIS_THREAD, &raw const attributes, NO_FLAGS)
    };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;

    /// Returns a number from the system's report on the scheduling of this thread, if there is a
    /// report.
    fn scheduling(name: &str) -> Option<u64> {
        let lines = fs::read_to_string("/proc/thread-self/sched").ok()?;
        let line = lines.lines().find(|line| line.split(' ').next() == Some(name))?;
        line.rsplit(' ').next()?.parse().ok()
    }

    #[test]
    fn a_thread_that_gives_way_and_those_it_starts_have_long_slices_at_a_low_priority() {
        std::thread::spawn(|| {
            let usual = (scheduling("prio"), scheduling("se.slice"));
            super::give_way();
            // 120 is the priority without a niceness.
            let lower = usual.0.map(|priority| priority.max(120 + super::NICENESS as u64));
            let own = (scheduling("prio"), scheduling("se.slice"));
            let inherited =
                std::thread::spawn(|| (scheduling("prio"), scheduling("se.slice"))).join();
            assert_eq!(inherited.unwrap(), own);
            assert_eq!(own.0, lower);
            // Linux before 6.12 shows a slice but does not change it, and a sandbox may refuse the
            // call.
            assert!(own.1 == usual.1 || own.1 == Some(super::SLICE_NANOSECONDS), "{own:?}");
        })
        .join()
        .unwrap();
    }
}
