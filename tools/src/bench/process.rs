//! Runs a command and measures its time, processor time and peak memory.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::record::Spent;
use crate::Result;

/// Runs the command without input and output. An exit status above 1 is an error, as in grep.
pub fn run(command: &mut Command) -> Result<Spent> {
    let used = processor_seconds_of_children()?;
    let started = Instant::now();
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let process = child.id();
    let mut errors = child.stderr.take().ok_or("standard error was not opened")?;
    let (status, seconds, peak_mb, told) = thread::scope(|scope| -> Result<_> {
        // A thread reads standard error, because a full pipe would block the command.
        let told = scope.spawn(move || {
            let mut told = String::new();
            errors.read_to_string(&mut told).map(|_| told)
        });
        let peak = scope.spawn(move || peak_of(process));
        let status = child.wait()?;
        let seconds = started.elapsed().as_secs_f64();
        let told = told.join().map_err(|_| "reading standard error panicked")??;
        let peak = peak.join().map_err(|_| "reading the memory panicked")?;
        Ok((status, seconds, peak, told))
    })?;
    if !matches!(status.code(), Some(0 | 1)) {
        return Err(format!("{command:?} failed: {status}: {told}").into());
    }
    let processor_seconds = processor_seconds_of_children()? - used;
    Ok(Spent { seconds, processor_seconds, peak_mb })
}

/// Returns the peak memory of a process in MB, which is read every 2 ms until the process ends.
fn peak_of(process: u32) -> f64 {
    let mut peak = 0.0f64;
    while let Some(megabytes) = memory_mb(process, "VmHWM:") {
        peak = peak.max(megabytes);
        thread::sleep(Duration::from_millis(2));
    }
    peak
}

/// Returns the memory in MB from this line of a process's status, such as `VmHWM:`. The status of
/// an ended process has no such line.
pub fn memory_mb(process: u32, line: &str) -> Option<f64> {
    let path = Path::new("/proc").join(process.to_string()).join("status");
    Some(megabytes(number_in(&fs::read_to_string(path).ok()?, line)?))
}

/// Converts KiB to MB.
pub fn megabytes(kib: u64) -> f64 {
    kib as f64 * 1024.0 / 1e6
}

/// Returns the number in a line of a process's status, such as `Threads:`.
pub fn number_in(status: &str, line: &str) -> Option<u64> {
    let stated = status.lines().find_map(|stated| stated.strip_prefix(line))?;
    stated.split_whitespace().next()?.parse().ok()
}

/// Returns the processor time of all ended children of this process and of their descendants.
fn processor_seconds_of_children() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The name of the program is in brackets and may contain spaces, so fields are counted from its
    // end.
    let fields = stat.rsplit_once(')').map(|(_, fields)| fields).unwrap_or_default();
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok());
    let (user, system) = (ticks(13), ticks(14));
    let ticks = user.zip(system).map(|(user, system)| user + system);
    let ticks = ticks.ok_or("/proc/self/stat has no times of children")?;
    Ok(ticks / rustix::param::clock_ticks_per_second() as f64)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn time_and_memory_are_those_of_the_command() {
        // The shell counts and then holds a string of 30 MB.
        let script = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; \
                      x=$(head -c 30000000 /dev/zero | tr '\\0' a); : \"$x\"";
        let spent = run(Command::new("sh").args(["-c", script])).expect("it runs");
        assert!(spent.processor_seconds > 0.0 && spent.seconds > 0.0, "{spent:?}");
        assert!(spent.peak_mb > 25.0, "{spent:?}");
        let failed = run(Command::new("sh").args(["-c", "echo no such thing >&2; exit 2"]));
        assert!(failed.expect_err("it fails").to_string().contains("no such thing"));
    }
}
