//! User-defined commands that read files.
//!
//! A file-name extension may have a command, which gets the file on its standard input and writes
//! the text, in UTF-8, to its standard output. No shell is started, so file contents cannot become
//! commands. A command that takes too long, writes too much or fails is killed, and only this file
//! fails. The command inherits the environment without cento's variables, because they hold tokens.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use cento::Stop;

use crate::extract::TEXT_BYTES_MAX;
use crate::extracted::ExtractedText;
use crate::format::has_ending;

/// The maximum duration of a command for one file, in seconds.
const SECONDS_MAX: u64 = 120;

/// The interval between checks of the command and of `stop`.
const INTERVAL: Duration = Duration::from_millis(5);

/// The part of a command's error output that is kept, in bytes.
const ERRORS_BYTES_MAX: u64 = 4 << 10;

/// User-defined commands by file-name extension.
#[derive(Debug, Clone, Default)]
pub struct Readers {
    all: Arc<[SourceReader]>,
    /// Environment variables that are hidden from commands.
    hidden: Arc<[OsString]>,
}

#[derive(Debug, Clone)]
struct SourceReader {
    ending: String,
    words: Vec<String>,
}

impl Readers {
    /// Parses readers given as `EXT=COMMAND`. If an extension occurs twice, the last command wins.
    ///
    /// # Errors
    /// For the first invalid reader.
    pub fn parse<'a>(all: impl IntoIterator<Item = &'a str>) -> Result<Readers, String> {
        let mut readers: Vec<SourceReader> =
            all.into_iter().map(SourceReader::parse).collect::<Result<_, _>>()?;
        readers.reverse();
        Ok(Readers { all: readers.into(), hidden: Arc::default() })
    }

    /// Hides environment variables, such as tokens, from the commands.
    #[must_use]
    pub fn hiding(self, variables: impl IntoIterator<Item = OsString>) -> Readers {
        Readers { hidden: variables.into_iter().collect(), ..self }
    }

    /// Returns the endings and the words of the commands, which identify a run.
    pub fn commands(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.all.iter().map(|reader| (&*reader.ending, &*reader.words))
    }

    /// Returns the number of the reader for a file of this name.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.all.iter().position(|reader| has_ending(name, &[&reader.ending]))
    }

    /// Returns the text of a file, from the reader with this number.
    ///
    /// # Errors
    /// When the reader gives no text, with the reason as a clause.
    pub(crate) fn text_of(
        &self,
        at: usize,
        bytes: &[u8],
        stop: &Stop,
    ) -> Result<ExtractedText, String> {
        let Some(reader) = self.all.get(at) else { return Err("its reader is not there".into()) };
        let mut command = reader.command();
        self.hidden.iter().for_each(|name| _ = command.env_remove(name));
        let text = run(command, bytes, Duration::from_secs(SECONDS_MAX), stop);
        let text = text.map_err(|why| format!("the reader of {} files {why}", reader.ending))?;
        Ok(ExtractedText { text, ..ExtractedText::default() })
    }
}

impl SourceReader {
    fn parse(given: &str) -> Result<SourceReader, String> {
        let wrong =
            || format!("`{given}` is no reader: write EXT='COMMAND', as pdf='pdftotext - -'");
        let (ending, command) = given.split_once('=').ok_or_else(wrong)?;
        let words = shlex::split(command).filter(|words| !words.is_empty()).ok_or_else(wrong)?;
        let ending = ending.trim_start_matches('.');
        match ending.is_empty() || ending.contains(['/', '\\']) {
            true => Err(wrong()),
            false => Ok(SourceReader { ending: format!(".{ending}"), words }),
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]);
        command
    }
}

/// Writes `bytes` to a command and returns the command's output, or the reason for a failure, as a
/// clause.
fn run(
    mut command: Command,
    bytes: &[u8],
    time_max: Duration,
    stop: &Stop,
) -> Result<String, String> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("cannot be started: {error}"))?;
    limit(&child);
    let pipes = child.stdin.take().zip(child.stdout.take()).zip(child.stderr.take());
    let ((mut input, output), errors) = pipes.expect("all three are pipes");
    let (output, errors, ended) = thread::scope(|scope| {
        // A failed write is no error, because a command may ignore the end of its input.
        scope.spawn(move || _ = input.write_all(bytes));
        let output = scope.spawn(move || read_up_to(output, TEXT_BYTES_MAX + 1, false));
        let errors = scope.spawn(move || read_up_to(errors, ERRORS_BYTES_MAX, true));
        let is_done = || output.is_finished() && errors.is_finished();
        let ended = wait(&mut child, time_max, stop, &is_done);
        (output.join().unwrap_or_default(), errors.join().unwrap_or_default(), ended)
    });
    let said = said(&errors);
    if output.len() as u64 > TEXT_BYTES_MAX {
        return Err(format!("wrote more than {} MiB", TEXT_BYTES_MAX >> 20));
    }
    if let Some(status) = ended?.filter(|status| !status.success()) {
        return Err(format!("failed ({status}){said}"));
    }
    let text = String::from_utf8(output).map_err(|_| format!("wrote no UTF-8{said}"))?;
    match text.trim().is_empty() {
        true => Err(format!("wrote nothing{said}")),
        false => Ok(text),
    }
}

/// Waits until a command has ended and the output is complete. After `time_max`, kills the command
/// and its child processes.
fn wait(
    child: &mut Child,
    time_max: Duration,
    stop: &Stop,
    is_done: &dyn Fn() -> bool,
) -> Result<Option<std::process::ExitStatus>, String> {
    let until = Instant::now() + time_max;
    loop {
        if is_done()
            && let Ok(Some(status)) = child.try_wait()
        {
            return Ok(Some(status));
        }
        let is_late = Instant::now() > until;
        if is_late || stop.check().is_err() {
            end(child);
            return Err(match is_late {
                true => format!("took more than {} s and was stopped", time_max.as_secs()),
                false => "was stopped".into(),
            });
        }
        thread::sleep(INTERVAL);
    }
}

/// Reads up to `len_max` bytes. `empties` also reads and drops all further bytes.
fn read_up_to(mut stream: impl Read, len_max: u64, empties: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = stream.by_ref().take(len_max).read_to_end(&mut bytes);
    if empties {
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    }
    bytes
}

/// Returns the first line of a command's error output.
fn said(errors: &[u8]) -> String {
    let text = String::from_utf8_lossy(errors);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let line: String = line.chars().filter(|c| !c.is_control()).take(200).collect();
    if line.is_empty() { line } else { format!(": {line}") }
}

/// The maximum memory of each process of a command, in bytes. Enforced on Linux only.
#[cfg(target_os = "linux")]
const MEMORY_BYTES_MAX: u64 = 4 << 30;

#[cfg(target_os = "linux")]
fn limit(child: &Child) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let max = Some(MEMORY_BYTES_MAX);
    // Fails if the command has ended already, which is harmless.
    let _ =
        prlimit(Some(Pid::from_child(child)), Resource::As, Rlimit { current: max, maximum: max });
}

#[cfg(not(target_os = "linux"))]
fn limit(_child: &Child) {}

fn end(child: &mut Child) {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::kill_process_group(
        rustix::process::Pid::from_child(child),
        rustix::process::Signal::KILL,
    );
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn read(command: &str, bytes: &[u8]) -> Result<String, String> {
        let readers = Readers::parse([format!("x={command}").as_str()])?;
        readers.text_of(0, bytes, Stop::NEVER).map(|read| read.text)
    }

    #[track_caller]
    fn fails(command: &str, what: &str) {
        let why = read(command, b"words").unwrap_err();
        assert!(why.contains(what), "{why}");
    }

    #[test]
    fn a_command_reads_files_of_its_ending() {
        assert_eq!(read("cat", b"words").unwrap(), "words");
        assert_eq!(read("sh -c 'tr a-z A-Z; echo \"two words\"'", b"a").unwrap(), "Atwo words\n");
        let readers = Readers::parse(["pdf=a", ".DJVU=b", "pdf=c"]).unwrap();
        assert_eq!(
            readers.position("a/B.Pdf").map(|at| readers.all[at].words[0].as_str()),
            Some("c")
        );
        assert!(readers.position("x.djvu").is_some() && readers.position("pdf").is_none());
        for wrong in ["pdf", "=cat", "pdf=", "pdf='open"] {
            assert!(Readers::parse([wrong]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_command_that_fails_is_a_failure_with_its_first_words() {
        fails("sh -c 'echo first >&2; echo second >&2; exit 3'", "(exit status: 3): first");
        fails("true", "wrote nothing");
        fails("printf '\\377'", "wrote no UTF-8");
        fails("no-such-program", "cannot be started");
        fails("yes", "wrote more than 64 MiB");
    }

    #[test]
    fn a_command_that_takes_too_long_is_ended_with_its_children() {
        let reader = SourceReader::parse("x=sh -c 'sleep 600 & sleep 600'").unwrap();
        let why = run(reader.command(), b"", Duration::from_millis(50), Stop::NEVER).unwrap_err();
        assert!(why.contains("was stopped"), "{why}");
    }
}
