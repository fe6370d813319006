//! The pages of a web archive.
//!
//! WARC 1.1 (ISO 28500:2017): records one after the other, each a head, content of the declared
//! length, and two empty lines. The pages are the answers of servers, files kept as they are, and
//! texts that another program extracted. The crate for it brings thirty others, and holds heads of
//! any length.

use std::io::{self, BufRead, BufReader, Read};
use std::ops::ControlFlow;

use crate::archive::{Body, Each, Entry};

/// The maximum length of the head of a record, or of an answer.
const HEAD_BYTES_MAX: usize = 64 << 10;

/// The maximum number of headers of an answer.
const HEADERS_MAX: usize = 256;

/// The first bytes of each record.
const MAGIC: &[u8] = b"WARC/";

/// The reasons why records of a web archive are left out.
const NO_PAGE: &str = "it is no page: a picture, font, style sheet, script or data";
const NO_SUCCESS: &str = "it is no page: the server did not answer with status 200";

/// Visits the pages of a web archive, in their order there; their names are their addresses.
///
/// # Errors
/// When it is damaged, or ends too early.
pub fn pages(stream: impl Read, each: Each<'_>) -> io::Result<ControlFlow<()>> {
    let mut stream = BufReader::new(stream);
    while let Some(head) = read_head(&mut stream)? {
        let Some(record) = Record::of(&head) else {
            return Err(io::Error::other("a record in it has no head; it is damaged"));
        };
        let mut body = Body { stream: &mut stream, left: record.len };
        let flow = record.page(&mut body, each)?;
        if flow.is_break() {
            return Ok(flow);
        }
        io::copy(&mut body, &mut io::sink())?;
    }
    Ok(ControlFlow::Continue(()))
}

/// Reads the lines up to an empty one, without empty ones before; returns `None` at the end.
fn read_head(stream: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut head = Vec::new();
    loop {
        let start = head.len();
        let max = HEAD_BYTES_MAX - start;
        let len = stream.take(max as u64).read_until(b'\n', &mut head)?;
        if len == max {
            return Err(io::Error::other(format!(
                "a head in it has more than {HEAD_BYTES_MAX} bytes"
            )));
        }
        let is_empty = head[start..].trim_ascii().is_empty();
        match (len == 0 || is_empty, start == 0) {
            (true, true) if len == 0 => return Ok(None),
            (true, true) => head.clear(),
            (true, false) => return Ok(Some(head)),
            (false, _) => {}
        }
    }
}

/// The head of a record.
struct Record {
    kind: String,
    address: String,
    content_type: String,
    len: u64,
}

impl Record {
    fn of(head: &[u8]) -> Option<Record> {
        let head = String::from_utf8_lossy(head);
        let mut lines = head.lines();
        lines.next().filter(|line| line.as_bytes().starts_with(MAGIC))?;
        let mut record = Record {
            kind: String::new(),
            address: String::new(),
            content_type: String::new(),
            len: 0,
        };
        let mut has_len = false;
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            let value = value.trim();
            match name.trim().to_ascii_lowercase().as_str() {
                "warc-type" => record.kind = value.to_ascii_lowercase(),
                "warc-target-uri" => {
                    record.address = value.trim_matches(['<', '>']).to_owned();
                }
                "content-type" => record.content_type = value.to_ascii_lowercase(),
                "content-length" => {
                    record.len = value.parse().ok()?;
                    has_len = true;
                }
                _ => {}
            }
        }
        has_len.then_some(record)
    }

    /// Passes on the page of a record, if it has one.
    fn page(&self, body: &mut Body<impl BufRead>, each: Each<'_>) -> io::Result<ControlFlow<()>> {
        let is_answer = self.content_type.starts_with("application/http");
        let address = self.address.as_str();
        Ok(match self.kind.as_str() {
            "response" if is_answer => match ResponseHead::read(body)? {
                Ok(answer) => answer.hand_on(address, body, each),
                Err(why) => each(address, Entry::Bad(why.into())),
            },
            "resource" | "conversion" | "response" => match name_by(&self.content_type) {
                Some(name) => each(address, Entry::Page(body, name)),
                None => each(address, Entry::LeftOut(NO_PAGE)),
            },
            // Requests, metadata, and pages seen before.
            _ => ControlFlow::Continue(()),
        })
    }
}

/// The head of a server's answer.
struct ResponseHead {
    status: u16,
    content_type: String,
    is_chunked: bool,
    /// The compression of the content, if no magic number shows it.
    encoding: Option<String>,
}

impl ResponseHead {
    /// Reads the head of an answer, or returns why it is invalid, as a clause.
    fn read(body: &mut Body<impl BufRead>) -> io::Result<Result<ResponseHead, &'static str>> {
        const DAMAGED: &str = "the head of the server's answer is damaged";
        let mut head = Vec::new();
        // Byte by byte out of a buffer: content follows.
        while !(head.ends_with(b"\r\n\r\n") || head.ends_with(b"\n\n")) {
            if head.len() == HEAD_BYTES_MAX {
                return Ok(Err("the head of the server's answer is longer than 64 KiB"));
            }
            let mut byte = [0];
            match body.read(&mut byte)? {
                0 => return Ok(Err(DAMAGED)),
                _ => head.push(byte[0]),
            }
        }
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut response = httparse::Response::new(&mut headers);
        let mut config = httparse::ParserConfig::default();
        config.ignore_invalid_headers_in_responses(true);
        let parsed = config.parse_response(&mut response, &head);
        if !parsed.is_ok_and(|parsed| parsed.is_complete()) {
            return Ok(Err(DAMAGED));
        }
        let value = |name: &str| {
            let found =
                response.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
            found.map(|header| String::from_utf8_lossy(header.value).trim().to_ascii_lowercase())
        };
        let is_told_by_magic = |encoding: &String| {
            ["", "identity", "gzip", "x-gzip", "zstd"].contains(&encoding.as_str())
        };
        Ok(Ok(ResponseHead {
            status: response.code.unwrap_or_default(),
            content_type: value("content-type").unwrap_or_default(),
            is_chunked: value("transfer-encoding").is_some_and(|value| value.contains("chunked")),
            encoding: value("content-encoding").filter(|encoding| !is_told_by_magic(encoding)),
        }))
    }

    fn hand_on(
        self,
        address: &str,
        body: &mut Body<impl BufRead>,
        each: Each<'_>,
    ) -> ControlFlow<()> {
        if self.status != 200 {
            return each(address, Entry::LeftOut(NO_SUCCESS));
        }
        let Some(name) = name_by(&self.content_type) else {
            return each(address, Entry::LeftOut(NO_PAGE));
        };
        if let Some(encoding) = self.encoding {
            let why = format!("its content is encoded as `{encoding}`, which is not read");
            return each(address, Entry::Bad(why));
        }
        match self.is_chunked {
            true => each(address, Entry::Page(&mut Chunked::new(body), name)),
            false => each(address, Entry::Page(body, name)),
        }
    }
}

/// Returns a file name for this type, which decides how the content is read; `None` if it is not a
/// page.
fn name_by(content_type: &str) -> Option<&'static str> {
    let kind = content_type.split(';').next().unwrap_or_default().trim();
    let is_any = |parts: &[&str]| parts.iter().any(|part| kind.contains(part));
    match kind {
        kind if kind.contains("html") => Some("page.html"),
        "text/plain" => Some("page.txt"),
        "text/markdown" => Some("page.md"),
        "application/pdf" => Some("page.pdf"),
        kind if ["image/", "video/", "audio/", "font/"].iter().any(|of| kind.starts_with(of)) => {
            None
        }
        _ if is_any(&["javascript", "ecmascript", "css", "json", "xml-dtd", "font"]) => None,
        _ => Some("page"),
    }
}

/// The bytes of content in chunks (RFC 9112, section 7.1). Content without chunks passes unchanged:
/// some archives have removed the chunks and kept the header.
struct Chunked<'a, R> {
    inner: &'a mut Body<R>,
    /// The bytes already read of the first line, which may be content.
    start: io::Cursor<Vec<u8>>,
    /// The number of bytes left of the chunk; zero before the first, and when there are no chunks.
    left: u64,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    First,
    Plain,
    Chunks,
    End,
}

impl<'a, R: BufRead> Chunked<'a, R> {
    fn new(inner: &'a mut Body<R>) -> Chunked<'a, R> {
        Chunked { inner, start: io::Cursor::default(), left: 0, state: State::First }
    }

    /// Returns the size of the next chunk, and the bytes of its line.
    fn size(&mut self) -> io::Result<(Option<u64>, Vec<u8>)> {
        /// The maximum size of a line with an extension, which is unused in practice.
        const LINE_BYTES_MAX: usize = 1024;
        let mut line = Vec::new();
        let mut byte = [0];
        while line.len() < LINE_BYTES_MAX && self.inner.left > 0 && byte[0] != b'\n' {
            self.inner.read_exact(&mut byte)?;
            line.push(byte[0]);
        }
        let digits = line.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
        let digits = std::str::from_utf8(digits).ok().filter(|_| line.ends_with(b"\n"));
        Ok((digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()), line))
    }

    fn next(&mut self) -> io::Result<()> {
        if self.state == State::Chunks {
            // The end of the line after a chunk.
            self.size()?;
        }
        let (size, line) = self.size()?;
        self.state = match (size, self.state) {
            (Some(0), _) => State::End,
            (Some(size), _) => {
                self.left = size;
                State::Chunks
            }
            (None, State::First) => {
                self.start = io::Cursor::new(line);
                State::Plain
            }
            (None, _) => return Err(io::Error::other("its chunks are damaged")),
        };
        Ok(())
    }
}

impl<R: BufRead> Read for Chunked<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.left == 0 && matches!(self.state, State::First | State::Chunks) {
            self.next()?;
        }
        match self.state {
            State::End => Ok(0),
            State::Chunks => {
                let len = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
                let read = self.inner.read(&mut buffer[..len])?;
                if read == 0 && len > 0 {
                    return Err(io::Error::other("its chunks end too early"));
                }
                self.left -= read as u64;
                Ok(read)
            }
            _ => match self.start.read(buffer)? {
                0 => self.inner.read(buffer),
                read => Ok(read),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: &str, address: &str, content_type: &str, body: &str) -> String {
        format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: <{address}>\r\nContent-Type: \
             {content_type}\r\nContent-Length: {}\r\n\r\n{body}\r\n\r\n",
            body.len()
        )
    }

    fn answer(address: &str, head: &str, body: &str) -> String {
        let body = format!("HTTP/1.1 {head}\r\n\r\n{body}");
        record("response", address, "application/http; msgtype=response", &body)
    }

    /// Returns the addresses in an archive, each with its content after the name, and why it ends,
    /// if it has an error.
    fn all(archive: &str) -> (Vec<String>, Option<String>) {
        let mut found = Vec::new();
        let end = pages(archive.as_bytes(), &mut |address, entry| {
            let what = match entry {
                Entry::Page(stream, name) => {
                    let mut text = String::new();
                    match stream.read_to_string(&mut text) {
                        Ok(_) => format!("{name}: {text}"),
                        Err(error) => format!("error: {error}"),
                    }
                }
                Entry::LeftOut(why) => why.to_owned(),
                Entry::Bad(why) => why,
                _ => unreachable!("there are no others"),
            };
            found.push(format!("{address} {what}"));
            ControlFlow::Continue(())
        });
        (found, end.err().map(|error| error.to_string()))
    }

    #[test]
    fn the_pages_of_an_archive_are_the_answers_of_servers() {
        let page = "200 OK\r\nContent-Type: text/html";
        let chunked = format!("{page}\r\nTransfer-Encoding: chunked");
        let archive = [
            record("warcinfo", "", "application/warc-fields", "software: x\r\n"),
            record("request", "http://a", "application/http", "GET / HTTP/1.1\r\n\r\n"),
            answer("http://a", page, "<p>one\r\n\r\n"),
            answer("http://b", &chunked, "3\r\ntwo\r\n4;x=y\r\n and\r\n0\r\n\r\n"),
            answer("http://c", &chunked, "three"),
            answer("http://d", "404 Not Found\r\nContent-Type: text/html", "no"),
            answer("http://e", "200 OK\r\nContent-Type: text/css", "p {}"),
            answer("http://f", &format!("{page}\r\nContent-Encoding: br"), "?"),
            answer("http://g", &chunked, "9\r\ntwo\r\n"),
            record("response", "http://h", "application/http", "no head"),
            record("conversion", "http://i", "text/plain", "four"),
            record("resource", "file:///j", "image/png", "?"),
        ];
        let expected = [
            "http://a page.html: <p>one\r\n\r\n".to_owned(),
            "http://b page.html: two and".into(),
            "http://c page.html: three".into(),
            format!("http://d {NO_SUCCESS}"),
            format!("http://e {NO_PAGE}"),
            "http://f its content is encoded as `br`, which is not read".into(),
            "http://g error: its chunks end too early".into(),
            "http://h the head of the server's answer is damaged".into(),
            "http://i page.txt: four".into(),
            format!("file:///j {NO_PAGE}"),
        ];
        assert_eq!(all(&archive.concat()), (expected.to_vec(), None));
    }

    #[test]
    fn an_archive_that_is_damaged_or_cut_short_says_so() {
        let page = answer("http://a", "200 OK\r\nContent-Type: text/plain", "one two");
        let (found, error) = all(&page[..page.len() - 8]);
        assert!(found[0].contains("cut short") && error.unwrap().contains("cut short"));
        for damaged in
            ["WARC/1.0\r\nX: y\r\n\r\n", "nothing\r\n\r\n", "WARC/1.0\r\nContent-Length: x\r\n\r\n"]
        {
            let (found, error) = all(&format!("{page}{damaged}"));
            assert_eq!(found, ["http://a page.txt: one two"]);
            assert!(error.unwrap().contains("has no head"), "{damaged}");
        }
        let endless = format!("WARC/1.0\r\nX: {}", "y".repeat(100_000));
        assert!(all(&endless).1.unwrap().contains("more than 65536 bytes"));
    }
}
