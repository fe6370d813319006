//! How much may the worker use?

use std::io;

/// Limits memory for good, and forbids writing files, memory dumps among them.
///
/// # Errors
/// When the system refuses.
#[cfg(target_os = "linux")]
pub fn set() -> io::Result<()> {
    use super::MEMORY_BYTES_MAX;
    use rustix::process::{Resource, Rlimit, setrlimit};
    for (resource, max) in
        [(Resource::As, MEMORY_BYTES_MAX), (Resource::Fsize, 0), (Resource::Core, 0)]
    {
        setrlimit(resource, Rlimit { current: Some(max), maximum: Some(max) })?;
    }
    Ok(())
}

/// Limits the processor time of the next file: the system counts that of the whole process.
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

/// Does nothing: other systems have the limit of time only.
#[cfg(not(target_os = "linux"))]
pub fn set() -> io::Result<()> {
    Ok(())
}

/// Does nothing: other systems have the limit of time only.
#[cfg(not(target_os = "linux"))]
pub fn set_for_next() -> io::Result<()> {
    Ok(())
}
