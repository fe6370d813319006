//! Runs `cento serve` for a test.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use cento_client::Client;
use cento_serve::ServiceFile;
use cento_testing::http::{exchange, request};
use cento_testing::wait_until;
use serde_json::Value;

use super::run::Dir;

pub use cento_testing::http::{JSON, Reply};

/// The real binary, serving.
pub struct Service {
    child: Child,
    pub url: String,
}

impl Service {
    /// Serves the index `idx` of `dir` at a free port, with additional arguments.
    pub fn start(dir: &Dir, args: &[&str]) -> Service {
        let arguments = [&["serve", "idx", "--listen", "127.0.0.1:0"], args].concat();
        let mut command = dir.command(&arguments);
        command.stderr(Stdio::null());
        Service::wait_for(command, &dir.path("idx"))
    }

    /// Starts a service with a log file.
    pub fn start_logging(dir: &Dir, args: &[&str], log: File) -> Service {
        let arguments = [&["serve", "idx", "--listen", "127.0.0.1:0"], args].concat();
        let mut command = dir.command(&arguments);
        command.env("CENTO_LOG", "debug").stderr(log);
        Service::wait_for(command, &dir.path("idx"))
    }

    /// Serves the index `idx` of `dir` with a command of the caller's, which listens at a free
    /// port.
    pub fn run(dir: &Dir, mut command: Command) -> Service {
        command.stderr(Stdio::null());
        Service::wait_for(command, &dir.path("idx"))
    }

    /// Sends a signal to the service, such as `HUP`.
    pub fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap().success());
    }

    /// Serves several indexes of `dir` as one. The service cannot write to the indexes, so no index
    /// has the address of the service, and the address comes from the log.
    pub fn over(dir: &Dir, indexes: &[&str]) -> Service {
        let arguments =
            [&["serve"], indexes, &["--listen", "127.0.0.1:0", "--log", "json"]].concat();
        Service::saying(dir.command(&arguments))
    }

    /// Runs a serving command, and reads the address from the JSON log.
    pub fn saying(mut command: Command) -> Service {
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        log.read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
        let url = said["url"].as_str().unwrap_or_else(|| panic!("{line}")).to_owned();
        // Drains the log, because the service would block on a full pipe.
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        Service { child, url }
    }

    fn wait_for(mut command: Command, index: &Path) -> Service {
        // A killed service leaves this file behind.
        let _ = std::fs::remove_file(index.join(".service.json"));
        let mut child = command.stdin(Stdio::null()).spawn().unwrap();
        let mut found = None;
        wait_until("the service", || {
            assert!(child.try_wait().unwrap().is_none(), "the service ended");
            found = ServiceFile::of(index);
            found.is_some()
        });
        Service { child, url: found.expect("it was waited for").url }
    }

    /// A client without a token.
    pub fn client(&self) -> Client {
        Client::new(&self.url, None).unwrap()
    }

    /// The process id of the service.
    #[cfg(all(feature = "office", target_os = "linux"))]
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    pub fn address(&self) -> &str {
        self.url.strip_prefix("http://").unwrap()
    }

    /// Asks the service to stop, waits for the end, and returns whether the exit status was 0.
    pub fn stop(mut self) -> bool {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        self.child.wait().unwrap().success()
    }

    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends bytes on a new connection, and returns the reply.
    pub fn raw(&self, request: &[u8]) -> Reply {
        exchange(self.address(), request)
    }

    /// Sends a request. Each line of `headers` ends with `\r\n`.
    pub fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> Reply {
        self.raw(&request(self.address(), method, path, headers, body.as_bytes()))
    }

    pub fn post(&self, path: &str, body: &str) -> Reply {
        self.ask("POST", path, JSON, body)
    }

    /// The value of a metric without labels.
    pub fn metric(&self, name: &str) -> f64 {
        self.ask("GET", "/metrics", "", "").metric(name)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
