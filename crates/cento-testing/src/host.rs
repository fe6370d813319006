//! A host of the web, of the test's own on loopback.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// The targets of requests.
type Log = Arc<Mutex<Vec<String>>>;

/// A host whose answers depend on the target of the request.
#[derive(Debug)]
pub struct Host {
    /// Its address, `http://` with the port.
    pub at: String,
    log: Log,
}

impl Host {
    /// Serves until the process ends. `answer` writes the answer to a request for a target.
    pub fn start(answer: impl Fn(&str, &str, &mut TcpStream) + Send + Sync + 'static) -> Host {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = format!("http://{}", listener.local_addr().unwrap());
        let (log, answer): (Log, _) = (Log::default(), Arc::new(answer));
        let (own, here) = (log.clone(), at.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (log, answer, here) = (own.clone(), answer.clone(), here.clone());
                std::thread::spawn(move || serve(stream.unwrap(), &log, &here, &*answer));
            }
        });
        Host { at, log }
    }

    /// The targets of all requests so far.
    pub fn asked(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }
}

fn serve(
    mut stream: TcpStream,
    log: &Log,
    here: &str,
    answer: &dyn Fn(&str, &str, &mut TcpStream),
) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let Some(Ok(first)) = lines.next() else { return };
    // To the empty line.
    let _ = lines.find(|line| line.as_ref().is_ok_and(String::is_empty));
    let target = first.split(' ').nth(1).unwrap().to_owned();
    log.lock().unwrap().push(target.clone());
    answer(&target, here, &mut stream);
}

/// Answers with this status, header lines ending with `\r
/// `, and this body.
pub fn send(stream: &mut TcpStream, status: &str, headers: &str, body: &str) {
    let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\n{headers}");
    // The client may have gone.
    let _ = write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len());
}
