//! A relay between the command and an S3 server, which makes the server misbehave.
//!
//! The relay speaks plain HTTP/1.1. It removes the conditions from requests, or damages the answers
//! for an object. A connection carries a single request, so that the relay never delays other
//! requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::Result;

/// The maximum size of the head of a request or an answer.
const HEAD_BYTES_MAX: u64 = 1 << 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mode {
    /// The relay passes everything on.
    Faithful,
    /// The relay removes `If-Match` and `If-None-Match` from requests.
    Unconditional,
    /// The relay damages answers that read the object with this path.
    Damaged(String, Damage),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// The server reports that the object is missing.
    Missing,
    /// One bit in the middle differs.
    Flipped,
    /// The object ends after its first half.
    Halved,
    /// The object has an additional byte.
    Longer,
    /// The connection ends after the first half of the object. The next connection is complete.
    CutOff,
}

pub const DAMAGES: [Damage; 5] =
    [Damage::Missing, Damage::Flipped, Damage::Halved, Damage::Longer, Damage::CutOff];

struct State {
    upstream: String,
    mode: Mutex<Mode>,
    read: Mutex<Vec<String>>,
}

/// A relay that runs until the process ends.
pub struct Relay {
    address: SocketAddr,
    state: Arc<State>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Relay {
    /// Starts a relay to the server at `endpoint`, which has the form `http://HOST:PORT`.
    pub fn start(endpoint: &str) -> Result<Relay> {
        let upstream = endpoint.strip_prefix("http://").map(|rest| rest.trim_end_matches('/'));
        let upstream = upstream.ok_or("AWS_ENDPOINT must be http://HOST:PORT")?.to_owned();
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let (mode, read) = (Mutex::new(Mode::Faithful), Mutex::default());
        let state = Arc::new(State { upstream, mode, read });
        let relay = Relay { address: listener.local_addr()?, state: state.clone() };
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let state = state.clone();
                // The command sees an error of the relay as a broken connection and reports the
                // error.
                std::thread::spawn(move || drop(pass(client, &state)));
            }
        });
        Ok(relay)
    }

    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn set(&self, mode: Mode) {
        *locked(&self.state.mode) = mode;
    }

    /// Returns the distinct paths of the objects that were read since the previous call.
    pub fn take_read(&self) -> Vec<String> {
        let mut read = std::mem::take(&mut *locked(&self.state.read));
        read.sort();
        read.dedup();
        read
    }
}

struct Head {
    first: String,
    headers: Vec<(String, String)>,
}

impl Head {
    fn read(from: &mut impl BufRead) -> Result<Head> {
        let mut lines = from.take(HEAD_BYTES_MAX);
        let mut line = || -> Result<String> {
            let mut line = String::new();
            match lines.read_line(&mut line)? {
                0 => Err("the head breaks off".into()),
                _ => Ok(line.trim_end().to_owned()),
            }
        };
        let (first, mut headers) = (line()?, Vec::new());
        loop {
            let line = line()?;
            if line.is_empty() {
                return Ok(Head { first, headers });
            }
            let (name, value) = line.split_once(':').ok_or("a header without a colon")?;
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }

    fn length(&self) -> Option<u64> {
        let length = self.headers.iter().find(|(name, _)| name == "content-length");
        length.and_then(|(_, value)| value.parse().ok())
    }

    fn write(&self, to: &mut impl Write) -> Result {
        let headers: String =
            self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        to.write_all(format!("{}\r\n{headers}connection: close\r\n\r\n", self.first).as_bytes())?;
        Ok(())
    }
}

fn pass(client: TcpStream, state: &State) -> Result {
    client.set_read_timeout(Some(Duration::from_secs(60)))?;
    let mut from = BufReader::new(client.try_clone()?);
    let mut request = Head::read(&mut from)?;
    let mode = locked(&state.mode).clone();
    request.headers.retain(|(name, _)| {
        let is_condition = matches!(name.as_str(), "if-none-match" | "if-match");
        name != "connection" && !(is_condition && mode == Mode::Unconditional)
    });
    let mut body = Vec::new();
    from.take(request.length().unwrap_or(0)).read_to_end(&mut body)?;
    let server = TcpStream::connect(&state.upstream)?;
    let mut to = server.try_clone()?;
    request.write(&mut to)?;
    to.write_all(&body)?;
    let mut from = BufReader::new(server);
    let mut answer = Head::read(&mut from)?;
    let mut words = request.first.split(' ');
    let (method, path) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let mut body = Vec::new();
    if method != "HEAD" {
        from.take(answer.length().unwrap_or(u64::MAX)).read_to_end(&mut body)?;
    }
    answer.headers.retain(|(name, _)| name != "connection");
    let mut sent = body.len();
    if method == "GET" && !path.contains('?') {
        locked(&state.read).push(path.to_owned());
        if let Mode::Damaged(_, damage) = mode.clone()
            && mode == Mode::Damaged(path.to_owned(), damage)
        {
            sent = spoil(damage, &mut answer, &mut body);
            if damage == Damage::CutOff {
                *locked(&state.mode) = Mode::Faithful;
            }
        }
    }
    let mut client = client;
    answer.write(&mut client)?;
    client.write_all(&body[..sent])?;
    Ok(())
}

/// Damages an answer and returns the number of bytes of the body to send.
fn spoil(damage: Damage, answer: &mut Head, body: &mut Vec<u8>) -> usize {
    let half = body.len() / 2;
    match damage {
        Damage::Missing => {
            answer.first = "HTTP/1.1 404 NOT FOUND".into();
            *body = b"<Error><Code>NoSuchKey</Code></Error>".to_vec();
        }
        Damage::Flipped => body[half] ^= 1,
        Damage::Halved => body.truncate(half),
        Damage::Longer => body.push(b'x'),
        Damage::CutOff => return half,
    }
    answer.headers.retain(|(name, _)| name != "content-length");
    answer.headers.push(("content-length".into(), body.len().to_string()));
    body.len()
}
