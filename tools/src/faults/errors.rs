//! Runs the program with system calls that fail.
//!
//! strace makes the n-th call of a kind fail, for every n until a run makes fewer calls. strace
//! counts the calls of each thread separately, so the n-th calls of several threads may fail in one
//! run.

use std::path::Path;

use super::judge::{Judge, Judged, without_end};
use super::model::{Tree, write_tree};
use super::scenario::Contents;

pub const FAULTS: [(&str, &str); 9] = [
    ("write,pwrite64,writev", "ENOSPC"),
    ("write,pwrite64,writev", "EIO"),
    ("fsync,fdatasync", "EIO"),
    ("rename,renameat,renameat2", "ENOSPC"),
    ("openat", "ENOSPC"),
    ("openat", "EMFILE"),
    ("mkdir,mkdirat", "ENOSPC"),
    ("unlink,unlinkat", "EIO"),
    ("ftruncate", "EIO"),
];

/// Messages name the files of a segment without a directory.
const SEGMENT_FILES: [&str; 4] = [".sig", ".store", ".del", ".term"];

/// The maximum number of calls of a kind by a single thread in a run.
pub const CALLS_MAX: usize = 2_000;

#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The run made fewer than n calls.
    NoFault,
    /// The run ended with an error.
    Refused,
    /// The run succeeded despite the fault, and nothing is missing.
    Done,
}

/// Makes the n-th calls of a fault fail in a run that begins with `before`, and judges the result.
///
/// # Errors
/// When the state or the message is wrong.
pub fn fail(
    judge: &Judge<'_>,
    before: &Tree,
    dir: &Path,
    (calls, error): (&str, &str),
    n: usize,
) -> Judged<Outcome> {
    write_tree(dir, before).map_err(|e| e.to_string())?;
    let scenario = judge.scenario;
    let log = dir.with_extension("log");
    let log = log.to_string_lossy();
    let (trace, inject) =
        (format!("trace={calls}"), format!("inject={calls}:error={error}:when={n}"));
    let strace = ["--seccomp-bpf", "-o", &log, "-e", &trace, "-e", &inject];
    let ended = judge.program.run(dir, &strace, &scenario.run)?;
    let traced = std::fs::read_to_string(&*log).map_err(|e| e.to_string())?;
    let injected: Vec<&str> = traced.lines().filter(|line| line.contains("(INJECTED)")).collect();
    if injected.is_empty() {
        return Ok(Outcome::NoFault);
    }
    let stderr = ended.stderr.trim();
    let told = format!("exit status {:?}, `{stderr}`", ended.code);
    // A message whose write fails cannot be reported. The loader of the system is outside our
    // control.
    let is_message = |line: &&&str| line.contains("write(1, ") || line.contains("write(2, ");
    let is_untold = injected.iter().any(|line| is_message(&line));
    // An eventfd, which wakes a waiting thread, accepts every write in reality. If the write is
    // made to fail, tokio panics or the thread waits forever.
    let is_wake = injected.iter().any(|line| line.contains(r#""\1\0\0\0\0\0\0\0", 8)"#));
    if !ended.by_itself && !is_wake {
        return Err(without_end(&scenario.run));
    }
    let is_loading = stderr.contains("error while loading shared libraries");
    let is_ours = !is_loading && !is_untold && !is_wake;
    if (stderr.contains("panicked") && !is_wake) || (is_ours && !matches!(ended.code, Some(0 | 2)))
    {
        return Err(format!("it fell over: {told}"));
    }
    let is_named = stderr.contains('/')
        || scenario.names().iter().any(|name| stderr.contains(name))
        || SEGMENT_FILES.iter().any(|extension| stderr.contains(extension));
    if is_ours && ended.code == Some(2) && !is_named {
        return Err(format!("the message names no file: {told}"));
    }
    let mut allowed: Vec<Option<Contents>> = scenario.story.iter().cloned().map(Some).collect();
    if !before.contains_key("index.cento") {
        allowed.insert(0, None);
    }
    judge.place(dir, &allowed).map_err(|what| format!("{what} ({told})"))?;
    if ended.code == Some(0) {
        let last = scenario.story.last().cloned();
        let kept = judge.place(dir, &[last]).and_then(|_| judge.outputs_are_whole(dir));
        kept.map_err(|what| format!("it ended well, but {what} ({told})"))?;
    }
    judge.repeat(dir).map_err(|what| format!("{what} (after {told})"))?;
    Ok(if ended.code == Some(0) { Outcome::Done } else { Outcome::Refused })
}
