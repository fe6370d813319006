//! The options of curl used in the book, so that the examples run on a machine without curl.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

/// The boundary between the parts of a form.
const BOUNDARY: &str = "--boundary-of-the-book--";

/// A request in the words of curl.
struct Request {
    method: String,
    url: String,
    headers: String,
    body: Vec<u8>,
    /// Whether the head of the answer is shown, too.
    with_head: bool,
}

/// The value of an option, or with `@` the content of a file in `dir`.
fn content(value: &str, dir: &Path) -> Result<Vec<u8>, String> {
    match value.strip_prefix('@') {
        Some(name) => fs::read(dir.join(name)).map_err(|error| format!("{name}: {error}")),
        None => Ok(value.as_bytes().to_vec()),
    }
}

fn parse(command: &str, dir: &Path) -> Result<Request, String> {
    let words = shlex::split(command).ok_or_else(|| format!("{command}: a quote is not closed"))?;
    let mut request = Request {
        method: "GET".to_owned(),
        url: String::new(),
        headers: String::new(),
        body: Vec::new(),
        with_head: false,
    };
    let mut form = Vec::new();
    let mut words = words.into_iter().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} without a value"));
        match &*word {
            "-s" => {}
            "-i" => request.with_head = true,
            "-X" => request.method = value()?,
            "-H" => {
                let _ = write!(request.headers, "{}\r\n", value()?);
            }
            "-d" | "--data-binary" => {
                request.body = content(&value()?, dir)?;
                if request.method == "GET" {
                    "POST".clone_into(&mut request.method);
                }
            }
            "-F" => form.push(value()?),
            url if !url.starts_with('-') => url.clone_into(&mut request.url),
            other => return Err(format!("curl {other} is not known to the test of the book")),
        }
    }
    for part in &form {
        let (name, value) = part.split_once('=').ok_or_else(|| format!("-F {part}"))?;
        let _ =
            write!(request.body, "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"");
        if let Some(path) = value.strip_prefix('@') {
            // curl sends the file name without directories.
            let file = path.rsplit('/').next().unwrap_or(path);
            let _ = write!(request.body, "; filename=\"{file}\"");
        }
        request.body.extend_from_slice(b"\r\n\r\n");
        request.body.extend(content(value, dir)?);
        request.body.extend_from_slice(b"\r\n");
    }
    if !form.is_empty() {
        let _ = write!(request.body, "--{BOUNDARY}--\r\n");
        "POST".clone_into(&mut request.method);
        let _ =
            write!(request.headers, "Content-Type: multipart/form-data; boundary={BOUNDARY}\r\n");
    }
    Ok(request)
}

/// Sends the request of a command, and gives the answer.
pub fn run(command: &str, dir: &Path) -> Result<String, String> {
    let request = parse(command, dir)?;
    let url = request.url.trim_start_matches("http://").replace("localhost", "127.0.0.1");
    let (address, path) = url.split_once('/').unwrap_or((&url, ""));
    let mut stream = TcpStream::connect(address).map_err(|error| format!("{address}: {error}"))?;
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let head = format!(
        "{} /{path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{}\
         Content-Length: {}\r\n\r\n",
        request.method,
        request.headers,
        request.body.len()
    );
    stream.write_all(head.as_bytes()).map_err(|error| error.to_string())?;
    stream.write_all(&request.body).map_err(|error| error.to_string())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(|error| error.to_string())?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or("an answer without a head")?;
    let body = if head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        unchunked(body)?
    } else {
        body.to_owned()
    };
    Ok(if request.with_head { format!("{}\n\n{body}", head.replace('\r', "")) } else { body })
}

/// Decodes a body with chunked transfer encoding.
fn unchunked(mut body: &str) -> Result<String, String> {
    let mut content = String::new();
    loop {
        let (size, rest) = body.split_once("\r\n").ok_or("a chunk without its size")?;
        let size = usize::from_str_radix(size, 16).map_err(|error| error.to_string())?;
        if size == 0 {
            return Ok(content);
        }
        content.push_str(rest.get(..size).ok_or("a chunk that ends early")?);
        body = rest.get(size + 2..).ok_or("a chunk without an end")?;
    }
}
