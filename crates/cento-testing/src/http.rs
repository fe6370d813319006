//! Requests written by hand, and the answers.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// The header of a body of JSON.
pub const JSON: &str = "Content-Type: application/json\r\n";
/// The header of a body of JSON lines.
pub const LINES: &str = "Content-Type: application/x-ndjson\r\n";

/// The answer of a server, read to its end.
#[derive(Debug)]
pub struct Reply {
    /// Its status; 0 if the connection was closed without an answer.
    pub status: u16,
    /// The line of the status and the headers, in lower case.
    pub head: String,
    /// The bytes after the headers, as text.
    pub body: String,
}

impl Reply {
    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// The code of the error in the answer.
    #[track_caller]
    pub fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap().to_owned()
    }

    /// The value of a metric without labels.
    #[track_caller]
    pub fn metric(&self, name: &str) -> f64 {
        let line = self.body.lines().find(|line| line.split(' ').next() == Some(name));
        let line = line.unwrap_or_else(|| panic!("{name} is not among {}", self.body));
        line.split(' ').nth(1).unwrap().parse().unwrap()
    }
}

/// Sends these bytes to `address` on a connection of their own, and reads the answer.
pub fn exchange(address: &str, request: &[u8]) -> Reply {
    try_exchange(address, request).unwrap()
}

/// As [`exchange`], for a service that may be gone.
///
/// # Errors
/// If there is no connection.
pub fn try_exchange(address: &str, request: &[u8]) -> io::Result<Reply> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    // The service may answer and close before reading everything.
    let _ = stream.write_all(request);
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Ok(Reply { status, head: head.to_ascii_lowercase(), body: body.to_owned() })
}

/// A request to the service at `address`, with header lines ending with `\r
/// `. The request asks for the end of the connection.
pub fn request(address: &str, method: &str, path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let host = match headers.contains("Host:") {
        true => String::new(),
        false => format!("Host: {address}\r\n"),
    };
    let head = format!(
        "{method} {path} HTTP/1.1\r\n{host}Connection: close\r\n{headers}\
         Content-Length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}
