//! Runs large parsers in separate processes.
//!
//! The separate process, the worker, is the same program with a hidden verb. This module starts and
//! ends workers ([`Process`]), and limits and confines a worker from within ([`confine`]).
//! `extract` and `columnar` define requests and answers.

mod confined;
mod limits;

use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

pub use limits::set_for_next;

/// The maximum processor time of a worker for one file, or for a few rows, in seconds.
pub const SECONDS_MAX: u64 = 20;

/// The maximum wall-clock time of a worker, in seconds. On Linux, processor time is limited, too,
/// so this limit only ends an idle worker. It is 30 times as long, because 20 s of work may take
/// minutes on a busy machine, or in a container with a small share of a processor.
pub const WAIT_SECONDS_MAX: u64 =
    if cfg!(target_os = "linux") { 30 * SECONDS_MAX } else { SECONDS_MAX };

/// A worker process. Dropping the value kills the process.
#[derive(Debug)]
pub struct Process(pub Child);

impl Process {
    /// Starts a program with these arguments and streams, and on Unix with an empty environment.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn start(
        program: &Path,
        arguments: &[String],
        [input, output, errors]: [Stdio; 3],
    ) -> io::Result<Process> {
        let mut command = Command::new(program);
        command.args(arguments);
        // The environment may hold tokens, which a worker does not need.
        #[cfg(unix)]
        command.env_clear();
        // Ctrl-C stops the caller, which ends this process.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.stdin(input).stdout(output).stderr(errors).spawn().map(Process)
    }

    /// Kills the process and returns its exit status, which is the earlier status if the process
    /// had ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        // Fails harmlessly if the process has ended already.
        let _ = self.0.kill();
        self.0.wait().ok()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.ended();
    }
}

/// Returns the limit that killed a process, if the exit status shows a limit.
#[cfg(unix)]
pub fn by_limit(status: ExitStatus) -> Option<String> {
    use std::os::unix::process::ExitStatusExt;
    /// The number of SIGXCPU on Linux and macOS.
    const TOO_MUCH_PROCESSOR_TIME: i32 = 24;
    (status.signal() == Some(TOO_MUCH_PROCESSOR_TIME))
        .then(|| format!("{SECONDS_MAX} s of processor time"))
}

/// Returns `None`, because the exit status shows no limit on this system.
#[cfg(not(unix))]
pub fn by_limit(_: ExitStatus) -> Option<String> {
    None
}

/// Limits and confines this process for good. Afterwards, the process can only read its input and
/// write its output.
///
/// # Errors
/// When the system refuses, with the reason as a clause. The caller must then parse no foreign
/// input.
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
