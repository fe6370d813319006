//! A service with a port, in this process.

use std::net::TcpStream;
use std::thread::JoinHandle;

use cento::{Result, Stop};
use cento_client::Client;
use cento_serve::Settings;
use cento_testing::http::{exchange, request};

use super::{Ask, Dir, Reply, settings};

/// A running service, which stops when dropped.
pub struct Service {
    stop: Stop,
    thread: Option<JoinHandle<Result<()>>>,
    pub url: String,
}

impl Service {
    /// Serves the index `idx` of `dir` with the default settings.
    pub fn start(dir: &Dir) -> Service {
        Service::with(dir, |_| {})
    }

    /// Serves the index `idx` of `dir` with settings changed by `change`.
    pub fn with(dir: &Dir, change: impl FnOnce(&mut Settings)) -> Service {
        Service::run(cento_serve::Service::bind(&dir.path("idx"), settings(change)).unwrap())
    }

    /// Serves these indexes of `dir` together.
    pub fn over(dir: &Dir, indexes: &[&str]) -> Service {
        let indexes: Vec<_> = indexes.iter().map(|name| dir.path(name)).collect();
        Service::run(cento_serve::Service::over(&indexes, settings(|_| {})).unwrap())
    }

    /// Returns the reason for refusing to serve the index `idx` of `dir` with these settings.
    #[track_caller]
    pub fn refused(dir: &Dir, settings: Settings) -> String {
        cento_serve::Service::bind(&dir.path("idx"), settings).unwrap_err().to_string()
    }

    fn run(service: cento_serve::Service) -> Service {
        let url = format!("http://{}", service.address());
        let stop = Stop::new();
        let flag = stop.clone();
        let thread = Some(std::thread::spawn(move || service.run(flag)));
        Service { stop, thread, url }
    }

    /// Returns a client without a token.
    pub fn client(&self) -> Client {
        Client::new(&self.url, None).unwrap()
    }

    pub fn address(&self) -> &str {
        self.url.strip_prefix("http://").unwrap()
    }

    /// Returns a connection to the service.
    pub fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address()).unwrap()
    }

    /// Sends these bytes on a new connection, and reads the answer.
    pub fn raw(&self, request: &[u8]) -> Reply {
        exchange(self.address(), request)
    }

    /// Stops the service, and returns its result.
    pub fn end(mut self) -> Result<()> {
        self.stop.set();
        self.thread.take().unwrap().join().unwrap()
    }

    /// Stops the service, which must succeed.
    #[track_caller]
    pub fn stop(self) {
        self.end().unwrap();
    }
}

impl Ask for Service {
    fn send(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Reply {
        self.raw(&request(self.address(), method, path, headers, body))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.stop.set();
        if let Some(thread) = self.thread.take() {
            // A failed test has already said why.
            let _ = thread.join();
        }
    }
}
