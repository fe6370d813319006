//! Runs the real binary in a temporary directory.

use std::io::{BufRead, BufReader, Lines, Write};
use std::ops::Deref;
use std::process::{Child, ChildStderr, Command, Output, Stdio};

use serde_json::Value;

pub use cento_testing::{corpus, line};

/// A directory to run cento in.
pub struct Dir {
    files: cento_testing::Dir,
}

impl Deref for Dir {
    type Target = cento_testing::Dir;

    fn deref(&self) -> &cento_testing::Dir {
        &self.files
    }
}

/// The result of a run of cento.
pub struct Run {
    pub status: i32,
    pub out: String,
    pub err: String,
}

impl Run {
    /// Parses standard output as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {} {}", self.out, self.err))
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Run {
        Run {
            status: output.status.code().expect("cento ends by itself"),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Dir {
    /// Creates an empty temporary directory.
    pub fn new() -> Dir {
        Dir { files: cento_testing::Dir::new() }
    }

    /// Returns a command to run in the directory.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cento"));
        command.current_dir(self.path(".")).args(args);
        command
    }

    /// Runs a command without input.
    pub fn run(&self, args: &[&str]) -> Run {
        self.command(args).stdin(Stdio::null()).output().unwrap().into()
    }

    /// Lists the passages of `idx`, with additional arguments.
    pub fn passages(&self, more: &[&str]) -> Run {
        let list = ["pairs", "idx", "--min-passage", "20", "--context", "40"];
        self.run(&[&list[..], more].concat())
    }

    /// Runs a command with input.
    pub fn run_with(&self, args: &[&str], stdin: &[u8]) -> Run {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // Ignored, because the process may exit before reading everything.
        let _ = child.stdin.take().unwrap().write_all(stdin);
        child.wait_with_output().unwrap().into()
    }

    /// Runs a command that must succeed, and parses the output as JSON.
    pub fn json(&self, args: &[&str]) -> Value {
        let run = self.run(&[args, &["--format", "json"]].concat());
        assert_eq!(run.status, 0, "{args:?}: {}", run.err);
        run.json()
    }
}

/// The names of the verbs that a help text lists.
fn listed(help: &str) -> Vec<&str> {
    let list = match help.split_once("\nCommands:\n") {
        Some((_, rest)) => rest.split("\n\n").next().unwrap_or(""),
        // The help of `cento` lists the verbs in groups.
        None if help.contains("\nIndex:\n") => help.split("\nOptions:\n").next().unwrap(),
        None => "",
    };
    let lines = list.lines().filter_map(|line| line.strip_prefix("  "));
    lines.filter(|line| !line.starts_with(' ')).filter_map(|line| line.split(' ').next()).collect()
}

impl Dir {
    /// Every verb with its help. A verb comes before its subcommands, such as `store push`.
    pub fn all_verbs(&self) -> Vec<(String, String)> {
        let help = self.run(&["--help"]).out;
        listed(&help).iter().flat_map(|verb| self.verbs_of(verb)).collect()
    }

    fn verbs_of(&self, verb: &str) -> Vec<(String, String)> {
        let words: Vec<&str> = verb.split(' ').chain(["--help"]).collect();
        let help = self.run(&words).out;
        let below: Vec<_> = listed(&help)
            .iter()
            .flat_map(|name| self.verbs_of(&format!("{verb} {name}")))
            .collect();
        [(verb.to_owned(), help)].into_iter().chain(below).collect()
    }
}

/// A process that waits in the middle of a run.
pub struct Paused {
    child: Child,
    told: Lines<BufReader<ChildStderr>>,
}

impl Dir {
    /// Runs a command until the point `POINT`, or until the N-th time with `POINT:N`.
    pub fn paused(&self, point: &str, args: &[&str]) -> Paused {
        self.paused_with(point, self.command(args))
    }

    /// Runs a command that becomes cento until the point.
    pub fn paused_with(&self, point: &str, mut command: Command) -> Paused {
        command.current_dir(self.path(".")).env("CENTO_PAUSE", point);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let told = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut paused = Paused { child, told };
        paused.wait_for("cento: paused at");
        paused
    }
}

impl Paused {
    /// Reads the output of the process until this text occurs.
    fn wait_for(&mut self, expected: &str) {
        let mut others = Vec::new();
        for line in self.told.by_ref() {
            let line = line.unwrap();
            if line.contains(expected) {
                return;
            }
            others.push(line);
        }
        panic!("it ended without saying {expected:?}, and said {others:?}");
    }

    /// Returns the number of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal to the process.
    pub fn signal(&self, name: &str) {
        let (name, pid) = (format!("-{name}"), self.child.id().to_string());
        assert!(Command::new("kill").args([&name, &pid]).status().unwrap().success());
    }

    /// Lets the process go on, and returns the exit status.
    pub fn resume(mut self) -> i32 {
        drop(self.child.stdin.take());
        self.told.for_each(|line| assert!(line.is_ok()));
        self.child.wait().unwrap().code().expect("cento ends by itself")
    }

    /// Kills the process at the point.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        assert!(!self.child.wait().unwrap().success());
    }

    /// Asks the process to stop, as Ctrl-C does, and resumes. Returns the exit status.
    pub fn interrupt(mut self) -> i32 {
        self.signal("INT");
        self.wait_for("cento: stopping");
        self.resume()
    }
}

/// A directory with an index `idx` of [`corpus`].
pub fn indexed() -> Dir {
    let dir = Dir::new();
    dir.write("corpus.jsonl", corpus());
    dir.json(&["add", "idx", "corpus.jsonl"]);
    dir
}
