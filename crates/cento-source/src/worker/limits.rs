//! The limits of a worker's resources.

use std::io;

/// Limits memory to `memory_bytes_max` bytes and forbids memory dumps, for good. Also forbids
/// writing files, unless `writes_files` is set.
///
/// # Errors
/// When the system refuses.
#[cfg(target_os = "linux")]
pub fn set(memory_bytes_max: u64, writes_files: bool) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let files = (!writes_files).then_some((Resource::Fsize, 0));
    let all = [(Resource::As, memory_bytes_max), (Resource::Core, 0)];
    for (resource, max) in all.into_iter().chain(files) {
        setrlimit(resource, Rlimit { current: Some(max), maximum: Some(max) })?;
    }
    Ok(())
}

/// Renews the limit of processor time for the next task. The system counts the time of the whole
/// process, so the limit has to grow from task to task.
///
/// # Errors
/// When the system refuses.
#[cfg(target_os = "linux")]
pub fn set_for_next() -> io::Result<()> {
    use super::SECONDS_MAX;
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use rustix::time::{ClockId, clock_gettime};
    let used = clock_gettime(ClockId::ProcessCPUTime).tv_sec.unsigned_abs() + 1;
    let maximum = getrlimit(Resource::Cpu).maximum;
    let wanted = used + SECONDS_MAX;
    let current = Some(maximum.map_or(wanted, |maximum| maximum.min(wanted)));
    Ok(setrlimit(Resource::Cpu, Rlimit { current, maximum })?)
}

/// Does nothing, because only Linux supports these limits. Elsewhere, only the wall-clock limit
/// applies.
///
/// # Errors
/// Never.
#[cfg(not(target_os = "linux"))]
pub fn set(_memory_bytes_max: u64, _writes_files: bool) -> io::Result<()> {
    Ok(())
}

/// Does nothing, because only Linux supports this limit. Elsewhere, only the wall-clock limit
/// applies.
///
/// # Errors
/// Never.
#[cfg(not(target_os = "linux"))]
pub fn set_for_next() -> io::Result<()> {
    Ok(())
}
