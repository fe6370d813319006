//! Extracts text from office documents and PDFs.
//!
//! The parsers of these formats are large, and their input is untrusted. They run in a separate
//! process, the worker ([`serve`]), which is the same program with a hidden verb. The bytes of a
//! file go to the worker's standard input, and the text comes from its standard output. A worker
//! that crashes, hangs or writes too much is killed. The current file then fails with a reason, and
//! the next file gets a new worker. Threads and caught panics would not suffice, because they stop
//! no endless loop, no stack overflow and no failed allocation. `worker` limits the worker's access
//! to the system.
//!
//! A request is the number of bytes (8 bytes, little-endian) and the bytes. An answer begins with 0
//! for a text or 1 for a failure. Two strings follow, as length (8 bytes, little-endian) and UTF-8:
//! the text or the reason, and the missing parts of the file, empty if the text is complete. The
//! last 8 bytes are the number of characters left out because a reader does not see them.
//!
//! Pages are joined by form feeds (U+000C). The page at an offset is therefore one more than the
//! number of form feeds before the offset.

#[cfg(feature = "office")]
mod model;
#[cfg(feature = "office")]
mod old;
#[cfg(feature = "pdf")]
mod pdf;
#[cfg(feature = "office")]
pub(crate) mod rtf;
mod worker;

use std::fmt;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use cento::Stop;
use crossbeam::channel::{Receiver, RecvTimeoutError, bounded};

use crate::extracted::ExtractedText;
use crate::format::COMPOUND;
use crate::worker::{Process, WAIT_SECONDS_MAX, by_limit};

pub use worker::serve;

/// Returns the feature that this build lacks for a document with this beginning, if any.
pub fn missing_feature(start: &[u8]) -> Option<&'static str> {
    if start.starts_with(b"PK") {
        None
    } else if start.starts_with(b"{\\rtf") || start.starts_with(COMPOUND) {
        (!cfg!(feature = "office")).then_some("office")
    } else {
        (!cfg!(feature = "pdf")).then_some("pdf")
    }
}

/// The argument that makes the program a worker.
pub const WORKER_VERB: &str = "extract-worker";

/// The maximum size of the text of a file, in bytes.
pub const TEXT_BYTES_MAX: u64 = 64 << 20;

/// The maximum memory of a worker, in bytes. Enforced on Linux only.
pub const MEMORY_BYTES_MAX: u64 = 1 << 30;

/// The interval between checks of `stop` while a worker runs.
const STOP_INTERVAL: Duration = Duration::from_millis(50);

/// Maximum size of a reason, and of the missing parts, in the answer of a worker.
const REASON_BYTES_MAX: u64 = 64 << 10;

/// A pool of workers. Clones share the pool, which grows to the number of concurrent calls.
#[derive(Clone)]
pub struct Extraction {
    shared: Arc<WorkerPool>,
}

struct WorkerPool {
    program: PathBuf,
    arguments: Vec<String>,
    time_max: Duration,
    idle: Mutex<Vec<ExtractProcess>>,
}

impl fmt::Debug for Extraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Extraction").field("program", &self.shared.program).finish_non_exhaustive()
    }
}

impl Extraction {
    /// Uses `program` as the worker. It is started with the argument `extract-worker`, and runs
    /// [`serve_as_worker`](crate::serve_as_worker). The command `cento` is such a program.
    #[must_use]
    pub fn by(program: impl Into<PathBuf>) -> Extraction {
        let arguments = vec![WORKER_VERB.to_owned()];
        Extraction::started_as(program.into(), arguments, Duration::from_secs(WAIT_SECONDS_MAX))
    }

    fn started_as(program: PathBuf, arguments: Vec<String>, time_max: Duration) -> Extraction {
        let idle = Mutex::default();
        Extraction { shared: Arc::new(WorkerPool { program, arguments, time_max, idle }) }
    }

    /// Returns the text of a file with these bytes, unless `stop` is set first and ends the worker.
    ///
    /// # Errors
    /// When it has no readable text, with the reason as a clause, and after `stop`.
    pub fn text_of(&self, bytes: &[u8], stop: &Stop) -> Result<ExtractedText, String> {
        let idle = self.idle().pop();
        if let Some(worker) = idle {
            match self.ask(worker, bytes, stop) {
                // Remains of earlier files may be the cause: a new worker decides.
                Err(ExtractFailure::Ended(_)) => {}
                answered => return answered.map_err(|failed| failed.to_string()),
            }
        }
        let started = ExtractProcess::start(&self.shared).map_err(|error| {
            // Clients of a service must not see the path.
            log::error!("{} cannot be started: {error}", self.shared.program.display());
            format!("the process that extracts its text cannot be started: {error}")
        })?;
        self.ask(started, bytes, stop).map_err(|failed| failed.to_string())
    }

    fn ask(
        &self,
        mut worker: ExtractProcess,
        bytes: &[u8],
        stop: &Stop,
    ) -> Result<ExtractedText, ExtractFailure> {
        let answer = worker.ask(bytes, self.shared.time_max, stop)?;
        self.idle().push(worker);
        answer.map_err(ExtractFailure::Refused)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<ExtractProcess>> {
        self.shared.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The reason why there is no text.
enum ExtractFailure {
    /// The worker gave this reason.
    Refused(String),
    /// The worker took too long, in seconds.
    Late(u64),
    /// The caller set `stop`.
    Unwanted,
    /// The worker ended without an answer.
    Ended(Option<ExitStatus>),
}

impl fmt::Display for ExtractFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExtractFailure::Refused(why) => f.write_str(why),
            ExtractFailure::Late(seconds) => {
                write!(f, "extracting its text took more than {seconds} s and was stopped")
            }
            ExtractFailure::Unwanted => f.write_str("extracting its text was stopped"),
            ExtractFailure::Ended(status) => match status.and_then(by_limit) {
                Some(limit) => write!(f, "extracting its text took more than {limit}"),
                None => write!(
                    f,
                    "extracting its text failed: the process ended{}; it may have needed more than \
                     {} MiB of memory",
                    status.map_or(String::new(), |status| format!(" ({status})")),
                    MEMORY_BYTES_MAX >> 20
                ),
            },
        }
    }
}

/// A process that extracts texts. Dropping the value kills the process.
struct ExtractProcess {
    process: Process,
    input: ChildStdin,
    output: ChildStdout,
}

impl ExtractProcess {
    fn start(shared: &WorkerPool) -> io::Result<ExtractProcess> {
        let streams = [Stdio::piped(), Stdio::piped(), Stdio::null()];
        let mut process = Process::start(&shared.program, &shared.arguments, streams)?;
        let pipes = process.0.stdin.take().zip(process.0.stdout.take());
        let (input, output) = pipes.expect("both are pipes");
        Ok(ExtractProcess { process, input, output })
    }

    /// Returns the answer of the worker. A worker that fails to answer cannot be used again.
    fn ask(
        &mut self,
        bytes: &[u8],
        time_max: Duration,
        stop: &Stop,
    ) -> Result<Result<ExtractedText, String>, ExtractFailure> {
        let ExtractProcess { process, input, output } = self;
        let (done, is_done) = bounded::<()>(0);
        let (answer, failed) = thread::scope(|scope| {
            let watch = scope.spawn(move || {
                let failed = watch(&is_done, time_max, stop)?;
                // Ends the pending write or read of this process with an error.
                process.ended();
                Some(failed)
            });
            let answer = write_request(input, bytes).and_then(|()| read_answer(output));
            drop(done);
            (answer, watch.join().unwrap_or_default())
        });
        match (answer, failed) {
            (_, Some(failed)) => Err(failed),
            (Ok(answer), None) => Ok(answer),
            (Err(_), None) => {
                // The worker may have closed its output and still be running.
                Err(ExtractFailure::Ended(self.process.ended()))
            }
        }
    }
}

/// Waits until a worker is done, or returns the reason to kill the worker.
fn watch(is_done: &Receiver<()>, time_max: Duration, stop: &Stop) -> Option<ExtractFailure> {
    let until = Instant::now() + time_max;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if is_done.recv_timeout(left.min(STOP_INTERVAL)) != Err(RecvTimeoutError::Timeout) {
            return None;
        }
        if stop.check().is_err() {
            return Some(ExtractFailure::Unwanted);
        }
        if left.is_zero() {
            return Some(ExtractFailure::Late(time_max.as_secs()));
        }
    }
}

fn write_request(input: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    input.write_all(&(bytes.len() as u64).to_le_bytes())?;
    input.write_all(bytes)?;
    input.flush()
}

/// Reads the bytes of the next request. Returns `None` at the end of the input.
fn read_request(input: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut len = [0; 8];
    match input.read_exact(&mut len) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    read_bytes(input, u64::from_le_bytes(len)).map(Some)
}

fn write_answer(output: &mut impl Write, answer: &Result<ExtractedText, String>) -> io::Result<()> {
    let (status, first, second, hidden) = match answer {
        Ok(ExtractedText { text, missing, hidden }) => {
            (0, text.as_str(), missing.as_deref().unwrap_or(""), *hidden as u64)
        }
        Err(why) => (1, why.as_str(), "", 0),
    };
    output.write_all(&[status])?;
    write_request(output, first.as_bytes())?;
    write_request(output, second.as_bytes())?;
    output.write_all(&hidden.to_le_bytes())?;
    output.flush()
}

fn read_answer(input: &mut impl Read) -> io::Result<Result<ExtractedText, String>> {
    let mut status = [0];
    input.read_exact(&mut status)?;
    let first_max = match status {
        [0] => TEXT_BYTES_MAX,
        [1] => REASON_BYTES_MAX,
        _ => return Err(io::Error::other("it is no answer")),
    };
    let first = read_string(input, first_max)?;
    let missing = Some(read_string(input, REASON_BYTES_MAX)?).filter(|what| !what.is_empty());
    let hidden = usize::try_from(read_number(input)?).unwrap_or(usize::MAX);
    Ok(match status {
        [0] => Ok(ExtractedText { text: first, missing, hidden }),
        _ => Err(first),
    })
}

fn read_number(input: &mut impl Read) -> io::Result<u64> {
    let mut number = [0; 8];
    input.read_exact(&mut number)?;
    Ok(u64::from_le_bytes(number))
}

fn read_string(input: &mut impl Read, len_max: u64) -> io::Result<String> {
    let len = read_number(input)?;
    if len > len_max {
        return Err(io::Error::other("it says too much"));
    }
    String::from_utf8(read_bytes(input, len)?).map_err(io::Error::other)
}

/// Reads `len` bytes. The buffer grows with the bytes that arrive, because `len` is untrusted.
fn read_bytes(input: &mut impl Read, len: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = input.take(len).read_to_end(&mut bytes)?;
    match read as u64 == len {
        true => Ok(bytes),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn script(script: &str, milliseconds: u64) -> Extraction {
        let arguments = vec!["-c".to_owned(), script.to_owned()];
        let time_max = Duration::from_millis(milliseconds);
        Extraction::started_as("/bin/sh".into(), arguments, time_max)
    }

    /// Checks the failure of a script twice, because the first call may leave a broken worker
    /// behind.
    #[track_caller]
    fn check(extraction: &Extraction, bytes: &[u8], what: &str) {
        for _ in 0..2 {
            let why = extraction.text_of(bytes, Stop::NEVER).unwrap_err();
            assert!(why.contains(what), "{why}");
            assert!(extraction.idle().is_empty());
        }
    }

    /// Far longer than any of this takes.
    const LONG: u64 = 600_000;

    #[test]
    fn a_worker_that_hangs_is_killed() {
        // The first script reads all input and writes nothing. The second never reads, so the input
        // exceeds what a pipe holds.
        check(&script("cat > /dev/null", 200), b"x", "took more than 0 s");
        check(&script("exec tail -f /dev/null", 200), &[b'x'; 1 << 20], "took more than 0 s");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_busy_machine_takes_no_time_from_a_worker() {
        // Only a limit of processor time applies, so time spent by other processes does not count.
        let waited = Extraction::by("/no/such/program").shared.time_max.as_secs();
        assert!(waited >= 30 * crate::worker::SECONDS_MAX, "{waited}");
    }

    #[test]
    fn a_worker_that_nobody_waits_for_is_killed() {
        let unwanted = Stop::new();
        unwanted.set();
        let why = script("exec tail -f /dev/null", LONG).text_of(b"x", &unwanted).unwrap_err();
        assert!(why.contains("was stopped"), "{why}");
    }

    #[test]
    fn a_worker_that_ends_or_gives_no_valid_answer_is_a_failure() {
        check(&script("exit 3", LONG), b"x", "exit status: 3");
        check(&script("kill -XCPU $$", LONG), b"x", "20 s of processor time");
        check(&script("kill -ABRT $$", LONG), b"x", "more than 1024 MiB of memory");
        check(&script("head -c 9; echo no answer; cat", LONG), b"x", "the process ended");
        // A text of 2^63 bytes.
        let endless = "printf '\\000\\000\\000\\000\\000\\000\\000\\000\\200'; cat /dev/zero";
        check(&script(endless, LONG), b"x", "the process ended");
        let none = Extraction::by("/no/such/program");
        check(&none, b"x", "the process that extracts its text cannot be started");
    }

    #[test]
    fn a_worker_is_kept_while_it_answers_and_replaced_when_it_ends() {
        // The script answers one request with the text "a", the missing part "b" and 3 hidden
        // characters, and ends at the next request.
        let answer = "head -c 9 > /dev/null; printf '\\000\\001\\000\\000\\000\\000\\000\\000\\000a\
                      \\001\\000\\000\\000\\000\\000\\000\\000b\\003\\000\\000\\000\\000\\000\\000\\000'; \
                      head -c 1 > /dev/null";
        let extraction = script(answer, LONG);
        for _ in 0..3 {
            let expected = ExtractedText { text: "a".into(), missing: Some("b".into()), hidden: 3 };
            assert_eq!(extraction.text_of(b"x", Stop::NEVER), Ok(expected));
            assert_eq!(extraction.idle().len(), 1);
        }
    }
}
