//! Who goes first when processors are short?

/// Lets other threads of the process, and of other processes in its control group, go before this one and
/// those that it starts. Where the system cannot do that, nothing happens.
pub fn give_way() {
    #[cfg(target_os = "linux")]
    {
        // Whoever started the service may have given it a higher one.
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

/// Lets threads of the process with slices of the usual length interrupt this one whenever they have something to
/// do; it has its full share of the processors all the same. Once for each thread. Where the system cannot do that,
/// nothing happens.
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

/// At 10 a thread gets a tenth of what one that searches gets, if both want all.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// The longest slice that Linux grants (`__setparam_fair` in its kernel/sched/syscalls.c).
#[cfg(target_os = "linux")]
const SLICE_NANOSECONDS: u64 = 100_000_000;

/// That of a search that takes time: of 60 us quick ones, none needs to wait for it.
#[cfg(target_os = "linux")]
const SEARCH_SLICE_NANOSECONDS: u64 = 20_000_000;

/// Asks for rare and long slices of time instead of frequent short ones.
///
/// A thread that has just been given a slice keeps the processor for most of it, whoever wakes up: beside a
/// merge a search waited up to 4 ms. One with a shorter slice than that of the running thread need not wait.
/// Linux before 6.12 takes no notice, before 5.3 it refuses.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "no crate makes this system call with a slice")]
fn wait_for_long_slices(niceness: i32, nanoseconds: u64) -> std::io::Result<()> {
    let attributes = libc::sched_attr {
        size: size_of::<libc::sched_attr>() as u32,
        sched_policy: 0,
        // Whoever started the service may have chosen a policy.
        sched_flags: libc::SCHED_FLAG_KEEP_POLICY as u64,
        sched_nice: niceness,
        sched_priority: 0,
        sched_runtime: nanoseconds,
        sched_deadline: 0,
        sched_period: 0,
    };
    const THIS_THREAD: libc::pid_t = 0;
    const NO_FLAGS: libc::c_uint = 0;
    // SAFETY: the system reads as many bytes as `size` says of a structure of that size, and changes only how
    // this thread is scheduled.
    let result = unsafe {
        libc::syscall(libc::SYS_sched_setattr, THIS_THREAD, &raw const attributes, NO_FLAGS)
    };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;

    /// A line of what the system says about the scheduling of this thread; `None` if it does not.
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
            // Linux before 6.12 shows a slice and does not change it; a sandbox may refuse the call.
            assert!(own.1 == usual.1 || own.1 == Some(super::SLICE_NANOSECONDS), "{own:?}");
        })
        .join()
        .unwrap();
    }
}
