//! Runs the commands of a chapter in sequence, in a new directory.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::curl;

/// A directory with the samples, and the services started by the chapter.
pub struct Session {
    dir: tempfile::TempDir,
    path: String,
    status: i32,
    services: Vec<Service>,
}

/// A service, with the port shown in the chapter and the actual port.
struct Service {
    child: Child,
    shown: String,
    port: String,
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Copies the files of a directory, recursively.
fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let from = entry.unwrap().path();
        let to = to.join(from.file_name().unwrap());
        if from.is_dir() {
            fs::create_dir(&to).unwrap();
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).unwrap();
        }
    }
}

impl Session {
    /// A session in a directory with the files of `samples`.
    pub fn new(samples: &Path) -> Session {
        let dir = tempfile::tempdir().unwrap();
        copy(samples, dir.path());
        let bin = PathBuf::from(env!("CARGO_BIN_EXE_cento"));
        let system = std::env::var("PATH").unwrap();
        let path = format!("{}:{system}", bin.parent().unwrap().display());
        Session { dir, path, status: 0, services: Vec::new() }
    }

    /// Runs a command of a chapter, and returns the output as on a terminal. A status above 1 is an
    /// error, unless the chapter shows the status with `echo $?` (`may_fail`).
    pub fn run(&mut self, command: &str, may_fail: bool) -> Result<String, String> {
        let mut command = command.to_owned();
        for service in &self.services {
            command = command.replace(&service.shown, &service.port);
        }
        let is_service = command.starts_with("cento serve ") && !command.contains("--print-config");
        let written = if is_service {
            self.serve(&command)?
        } else if command.starts_with("curl ") {
            self.status = 0;
            let (request, filter) = command.split_once(" | ").unwrap_or((&command, ""));
            let answer = curl::run(request, self.dir.path())?;
            if filter.is_empty() { answer } else { self.shell(filter, &answer) }
        } else {
            self.shell(&command, "")
        };
        // A pipe has the status of the last command, so errors of earlier commands are found in the
        // output.
        let is_refused = written.lines().any(|line| line.starts_with("error: "));
        if (self.status > 1 || is_refused) && !may_fail {
            return Err(format!("`{command}` ended with status {}: {written}", self.status));
        }
        let mut written = written.replace(&*self.dir.path().to_string_lossy(), "");
        for service in &self.services {
            written = written.replace(&service.port, &service.shown);
        }
        Ok(written)
    }

    /// Whether the last command succeeded or found something.
    pub fn found(&self) -> bool {
        self.status == 0
    }

    /// A shell for a command, with the status of the command before and one stream of output.
    fn command(&self, command: &str) -> Command {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("exec 2>&1\n(exit {})\n{command}", self.status)]);
        shell.current_dir(self.dir.path()).env("PATH", &self.path).stdin(Stdio::null());
        shell.env("TMPDIR", self.dir.path()).env("NO_COLOR", "1");
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("CENTO_") {
                shell.env_remove(name);
            }
        }
        shell
    }

    /// Runs a command in a shell with this input.
    fn shell(&mut self, command: &str, input: &str) -> String {
        let mut shell = self.command(command);
        let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // Ignored, because the command may exit before reading everything.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        self.status = output.status.code().expect("the command ends by itself");
        String::from_utf8(output.stdout).expect("output is UTF-8")
    }

    /// Starts a service at a free port, and returns the first line of the log.
    fn serve(&mut self, command: &str) -> Result<String, String> {
        let shown = match command.split_once("--listen ") {
            Some((_, rest)) => rest.split([' ', ':']).nth(1).unwrap_or("7227").to_owned(),
            None => "7227".to_owned(),
        };
        let command = match command.split_once(" --listen ") {
            Some((before, rest)) => {
                let rest = rest.split_once(' ').map_or("", |(_, rest)| rest);
                format!("{before} {rest}")
            }
            None => command.trim_end_matches(" &").to_owned(),
        };
        let mut shell = self.command(&format!("exec {command} --listen 127.0.0.1:0"));
        let child = shell.stdout(Stdio::piped()).spawn().unwrap();
        // From here on the service is ended with the session.
        self.services.push(Service { child, shown: format!(":{shown}"), port: String::new() });
        let service = self.services.last_mut().expect("it was pushed");
        let mut log = BufReader::new(service.child.stdout.take().unwrap());
        let mut written = String::new();
        while !written.contains("url=http://") {
            let mut line = String::new();
            if log.read_line(&mut line).unwrap() == 0 {
                return Err(format!("`{command}` ended: {written}"));
            }
            written.push_str(&line);
        }
        // Drains the log, because the service would block on a full pipe.
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        let (_, address) = written.split_once("url=http://").expect("it is there");
        let port = address.split([' ', '\n', ':']).nth(1).expect("an address has a port");
        service.port = format!(":{port}");
        self.status = 0;
        Ok(written)
    }
}
