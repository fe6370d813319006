//! Samples what a process takes of the machine.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::Result;
use crate::bench::process::{megabytes, number_in};

/// The most that a process took of the machine at a time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Peak {
    /// Anonymous memory in MB.
    pub memory_mb: f64,
    /// Open files, without connections.
    pub files: usize,
    /// Open connections, with those that listen.
    pub connections: usize,
    pub threads: usize,
}

/// Runs a command to completion, and returns its peaks. Exit status 1, for nothing found, and
/// 3, for quoting documents that a withdrawal leaves, are no errors.
pub fn of(command: &mut Command) -> Result<Peak> {
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

/// Does `work`, and returns the peaks of a running process meanwhile.
pub fn during(process: u32, work: impl FnOnce() -> Result) -> Result<Peak> {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let sampled = scope.spawn(|| sample(process, &is_over));
        let done = work();
        is_over.store(true, Ordering::Relaxed);
        let peak = sampled.join().map_err(|_| "sampling panicked")?;
        done.map(|()| peak)
    })
}

fn sample(process: u32, is_over: &AtomicBool) -> Peak {
    let mut peak = Peak::default();
    let proc = Path::new("/proc").join(process.to_string());
    loop {
        // Read before the sample, so that even a short run has a sample.
        let is_last = is_over.load(Ordering::Relaxed);
        // The status of an ended process has no such lines.
        let status = fs::read_to_string(proc.join("status")).unwrap_or_default();
        let number = |line: &str| number_in(&status, line).unwrap_or_default();
        peak.memory_mb = peak.memory_mb.max(megabytes(number("RssAnon:")));
        peak.threads = peak.threads.max(number("Threads:") as usize);
        let (files, connections) = open_files(&proc.join("fd"));
        peak.files = peak.files.max(files);
        peak.connections = peak.connections.max(connections);
        if is_last {
            return peak;
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// Counts the open files of a process, and its connections.
fn open_files(dir: &Path) -> (usize, usize) {
    let opened = fs::read_dir(dir).into_iter().flatten().flatten();
    let is_connection = |path: &Path| path.to_string_lossy().starts_with("socket:");
    opened.filter_map(|file| fs::read_link(file.path()).ok()).fold((0, 0), |counts, path| {
        match is_connection(&path) {
            true => (counts.0, counts.1 + 1),
            false => (counts.0 + 1, counts.1),
        }
    })
}
