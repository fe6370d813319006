//! A service that runs in this process.

use std::net::TcpStream;
use std::thread::JoinHandle;

use cento::{Result, Stop};
use cento_client::Client;
use cento_serve::Settings;
use cento_testing::http::{exchange, request};

use super::{Ask, Dir, Reply, settings};

/// A service that answers at a port of this machine.
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

    /// Serves the index `idx` of `dir` with the settings that `change` makes.
    pub fn with(dir: &Dir, change: impl FnOnce(&mut Settings)) -> Service {
        Service::run(cento_serve::Service::bind(&dir.path("idx"), settings(change)).unwrap())
    }

    /// Serves these indexes of `dir` as one.
    pub fn over(dir: &Dir, indexes: &[&str]) -> Service {
        let indexes: Vec<_> = indexes.iter().map(|name| dir.path(name)).collect();
        Service::run(cento_serve::Service::over(&indexes, settings(|_| {})).unwrap())
    }

    /// Why there is no service of the index `idx` of `dir` with these settings.
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

    /// A client without a token.
    pub fn client(&self) -> Client {
        Client::new(&self.url, None).unwrap()
    }

    pub fn address(&self) -> &str {
        self.url.strip_prefix("http://").unwrap()
    }

    /// A connection to it.
    pub fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address()).unwrap()
    }

    /// Sends these bytes on a connection of their own, and reads the answer.
    pub fn raw(&self, request: &[u8]) -> Reply {
        exchange(self.address(), request)
    }

    /// Ends it, and returns how it ended.
    pub fn end(mut self) -> Result<()> {
        self.stop.set();
        self.thread.take().unwrap().join().unwrap()
    }

    /// Ends it; it ends well.
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
            // A test that has failed already says why.
            let _ = thread.join();
        }
    }
}
