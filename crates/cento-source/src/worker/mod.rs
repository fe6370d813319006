//! Processes for files whose parsers are large.
//!
//! Such a process, the worker, is the same program, started with a hidden verb. This module starts
//! and ends such processes ([`Process`]), and limits and confines one from within ([`confine`]).
//! The requests to a worker and its answers are the matter of `extract` and `columnar`.

#[cfg(any(feature = "documents", feature = "parquet"))]
mod confined;
#[cfg(any(feature = "documents", feature = "parquet"))]
mod limits;

use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

#[cfg(any(feature = "documents", feature = "parquet"))]
pub use limits::set_for_next;

/// The maximum processor time of a worker for one file, or for a few rows, in seconds.
pub const SECONDS_MAX: u64 = 20;

/// The maximum time by the clock that a worker is waited for, in seconds. Where its processor time
/// is limited, this ends only one that does nothing: on a busy machine, or in a container with a
/// small share of a processor, 20 s of work take minutes.
pub const WAIT_SECONDS_MAX: u64 =
    if cfg!(target_os = "linux") { 30 * SECONDS_MAX } else { SECONDS_MAX };

/// A worker. It is killed when this is dropped.
#[derive(Debug)]
pub struct Process(pub Child);

impl Process {
    /// Starts a program with these arguments and streams, without anything else of this process.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(
        program: &Path,
        arguments: &[String],
        [input, output, errors]: [Stdio; 3],
    ) -> io::Result<Process> {
        let mut command = Command::new(program);
        command.args(arguments);
        // The environment may hold tokens, and a worker needs none of it.
        #[cfg(unix)]
        command.env_clear();
        // Ctrl-C stops the caller, which ends this process.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.stdin(input).stdout(output).stderr(errors).spawn().map(Process)
    }

    /// Ends it and returns its exit status: a process that had ended before keeps its status.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        // It may have ended.
        let _ = self.0.kill();
        self.0.wait().ok()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.ended();
    }
}

/// Returns the limit that ended a process, if the system reports it.
#[cfg(unix)]
pub fn by_limit(status: ExitStatus) -> Option<String> {
    use std::os::unix::process::ExitStatusExt;
    /// The number of SIGXCPU on Linux and macOS.
    const TOO_MUCH_PROCESSOR_TIME: i32 = 24;
    (status.signal() == Some(TOO_MUCH_PROCESSOR_TIME))
        .then(|| format!("{SECONDS_MAX} s of processor time"))
}

/// Returns `None`: other systems do not report it.
#[cfg(not(unix))]
pub fn by_limit(_: ExitStatus) -> Option<String> {
    None
}

/// Limits and confines this process for good: it then reads its input, writes its output, and is of
/// no use for anything else.
///
/// # Errors
/// When the system refuses, with a reason as a clause. Then nothing from elsewhere should be
/// parsed.
#[cfg(any(feature = "documents", feature = "parquet"))]
pub fn confine(memory_bytes_max: u64, writes_files: bool) -> Result<(), String> {
    limits::set(memory_bytes_max, writes_files)
        .map_err(|error| format!("the process that reads it cannot be limited: {error}"))?;
    confined::enter().map_err(|error| {
        format!(
            "the process that reads it cannot be confined: {error}; such files are read only where \
             the system allows filters of system calls (seccomp)"
        )
    })
}
