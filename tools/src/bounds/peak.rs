//! Samples the anonymous memory of a process.

use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::Result;
use crate::bench::process::memory_mb;

/// Runs a command to completion, and returns the peak in MB. Exit status 1, for nothing found, and
/// 3, for quoting documents that a withdrawal leaves, are no errors.
pub fn of(command: &mut Command) -> Result<f64> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let child = command.spawn()?;
    let process = child.id();
    let is_over = AtomicBool::new(false);
    let (output, peak) = thread::scope(|scope| -> Result<_> {
        let sampled = scope.spawn(|| sample(process, &is_over));
        let output = Child::wait_with_output(child);
        is_over.store(true, Ordering::Relaxed);
        Ok((output?, sampled.join().map_err(|_| "sampling panicked")?))
    })?;
    match output.status.code() {
        Some(0 | 1 | 3) => Ok(peak),
        _ => {
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            Err(format!("{command:?} failed: {}: {told}", output.status).into())
        }
    }
}

/// Does `work`, and returns the peak of a running process in MB meanwhile.
pub fn during(process: u32, work: impl FnOnce() -> Result) -> Result<f64> {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let sampled = scope.spawn(|| sample(process, &is_over));
        let done = work();
        is_over.store(true, Ordering::Relaxed);
        let peak = sampled.join().map_err(|_| "sampling panicked")?;
        done.map(|()| peak)
    })
}

fn sample(process: u32, is_over: &AtomicBool) -> f64 {
    let mut peak = 0.0f64;
    loop {
        // Read before the sample, so that even a short run has a sample.
        let is_last = is_over.load(Ordering::Relaxed);
        peak = peak.max(memory_mb(process, "RssAnon:").unwrap_or(0.0));
        if is_last {
            return peak;
        }
        thread::sleep(Duration::from_millis(2));
    }
}
