//! Finds the boundaries of records in a web archive.
//!
//! A record ends at its declared length if a record follows there. Otherwise, the length is wrong
//! or stray bytes follow. The next head is then searched for, first in the content already read.

use std::io::{self, BufRead, BufReader, Read};
use std::net::IpAddr;

use super::{HEAD_BYTES_MAX, Kind};
use crate::archive::cut_short;
use crate::compressed::OF_NEXT_MEMBER;

/// The byte order mark of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The maximum size of a piece of a long line, in bytes.
const PIECE_BYTES_MAX: u64 = 64 << 10;

/// A stream that is cut into records.
pub struct Records<R> {
    kind: Kind,
    /// Bytes that precede the stream, from `at` on.
    before: Vec<u8>,
    at: usize,
    stream: BufReader<R>,
    /// The next byte begins a line.
    begins_line: bool,
    /// A failure of the stream behind the bytes before.
    failure: Option<io::Error>,
    /// The defect of the last record, as a clause.
    defect: Option<String>,
    /// The number of bytes read when the stream failed last.
    failed_at: Option<u64>,
    /// The number of bytes read.
    read: u64,
}

/// What comes next in a stream.
pub enum StreamRecord {
    /// The head of a record.
    Head(Vec<u8>),
    /// As many bytes as belong to no record.
    Gap(u64),
    /// Damage in the stream, as a clause.
    Defect(String),
    /// The end of the archive.
    End,
}

impl<R: Read> Records<R> {
    /// Reads the records of a stream.
    pub fn of(stream: R, kind: Kind) -> Records<R> {
        let stream = BufReader::new(stream);
        Records {
            kind,
            before: Vec::new(),
            at: 0,
            stream,
            begins_line: true,
            failure: None,
            defect: None,
            failed_at: None,
            read: 0,
        }
    }

    /// Returns the next head, or a report about bytes before the head.
    ///
    /// # Errors
    /// When the stream cannot be read further.
    pub fn find_head(&mut self) -> io::Result<StreamRecord> {
        if let Some(defect) = self.defect.take() {
            return Ok(StreamRecord::Defect(defect));
        }
        let mut gap = 0;
        loop {
            let begins_line = self.begins_line;
            let mut line = match self.piece() {
                Ok(line) => line,
                Err(error) => return self.damage(error).map(StreamRecord::Defect),
            };
            // Programs that edit files write a byte order mark before the first head.
            if self.read == line.len() as u64 && line.starts_with(BYTE_ORDER_MARK) {
                line.drain(..BYTE_ORDER_MARK.len());
            }
            let is_head = begins_line && is_head(&line, self.kind);
            if (line.is_empty() || is_head) && gap > 0 {
                self.put_back(line);
                return Ok(StreamRecord::Gap(gap));
            }
            if line.is_empty() {
                return Ok(StreamRecord::End);
            }
            if is_head {
                return match self.rest_of_head(line) {
                    Ok(head) => Ok(StreamRecord::Head(head)),
                    Err(error) => self.damage(error).map(StreamRecord::Defect),
                };
            }
            // Empty lines stand between records.
            gap += line.trim_ascii().len() as u64;
        }
    }

    /// Returns the damage behind an error, as a clause. A second error without progress is returned
    /// as an error, because the stream then cannot be read further.
    fn damage(&mut self, error: io::Error) -> io::Result<String> {
        if self.failed_at.replace(self.read) == Some(self.read) {
            return Err(error);
        }
        self.begins_line = true;
        Ok(error.to_string())
    }

    /// Returns the content of a record with this length, or the reason why it is unreadable, as a
    /// clause.
    ///
    /// # Errors
    /// When the stream cannot be read further.
    pub fn content(&mut self, len: u64) -> io::Result<Result<Vec<u8>, String>> {
        let mut content = Vec::new();
        let read = self.take(len).read_to_end(&mut content);
        self.begins_line = true;
        if let Err(error) = read {
            return self.damage(error).map(Err);
        }
        let is_whole = content.len() as u64 == len;
        let ends_well = match self.is_at_boundary() {
            Ok(is_at_boundary) => is_at_boundary && is_whole,
            Err(error) => return self.damage(error).map(Err),
        };
        // The error is in the same compressed member, so the content cannot be trusted.
        if let Some(error) = self.failure.take_if(|error| error.kind() != OF_NEXT_MEMBER) {
            (self.before, self.at) = (Vec::new(), 0);
            return self.damage(error).map(Err);
        }
        if ends_well {
            return Ok(Ok(content));
        }
        match self.head_in(&content) {
            Some(at) => Ok(Ok(self.shortened(content, at, len))),
            None if !is_whole => Ok(Err(cut_short().to_string())),
            None => Ok(Ok(content)),
        }
    }

    /// Returns the content of a record that declares this length, which is too much to hold, if
    /// another record begins within the first `held` bytes. `None` leaves the content in the
    /// stream. Without this look, one wrong length would swallow the rest of the archive.
    ///
    /// # Errors
    /// When the stream cannot be read further.
    pub fn content_before_head(
        &mut self,
        len: u64,
        held: u64,
    ) -> io::Result<Option<Result<Vec<u8>, String>>> {
        let mut content = Vec::new();
        let read = self.take(held).read_to_end(&mut content);
        self.begins_line = true;
        if let Err(error) = read {
            return self.damage(error).map(|why| Some(Err(why)));
        }
        let after_empty_line = |at: usize| {
            let before = content[..at].strip_suffix(b"\n").unwrap_or_default();
            before.strip_suffix(b"\r").unwrap_or(before).ends_with(b"\n")
        };
        let is_whole_head = |at: usize| {
            let rest = &content[at..];
            memchr::memchr(b'\n', rest).is_some() && is_head(rest, self.kind)
        };
        let mut starts = memchr::memchr_iter(b'\n', &content).map(|at| at + 1);
        match starts.find(|&at| is_whole_head(at) && after_empty_line(at)) {
            Some(at) => Ok(Some(Ok(self.shortened(content, at, len)))),
            None => {
                self.put_back(content);
                Ok(None)
            }
        }
    }

    /// Ends the content of a record that declares too great a length before the next head, which
    /// begins `at` an offset.
    fn shortened(&mut self, mut content: Vec<u8>, at: usize, len: u64) -> Vec<u8> {
        let next = content.split_off(at);
        let end = content.trim_ascii_end().len();
        content.truncate(end);
        self.put_back(next);
        self.defect = Some(format!(
            "a record in it declares {len} bytes and has {end}: the next record begins there"
        ));
        content
    }

    /// Returns whether a record or the end follows, after empty lines.
    fn is_at_boundary(&mut self) -> io::Result<bool> {
        loop {
            let line = match self.piece() {
                Ok(line) => line,
                // The current record is complete, and the next record is damaged.
                Err(error) if error.kind() == OF_NEXT_MEMBER => {
                    self.failure = Some(error);
                    return Ok(true);
                }
                Err(error) => return Err(error),
            };
            if !line.is_empty() && line.trim_ascii().is_empty() {
                continue;
            }
            let is_boundary = line.is_empty() || is_head(&line, self.kind);
            self.put_back(line);
            self.begins_line = true;
            return Ok(is_boundary);
        }
    }

    /// Returns the offset of the first head in content.
    fn head_in(&self, content: &[u8]) -> Option<usize> {
        let starts = memchr::memchr_iter(b'\n', content).map(|at| at + 1);
        starts.into_iter().find(|&at| {
            let rest = &content[at..];
            is_head(rest, self.kind) || is_begun(rest, self.kind)
        })
    }

    /// Reads a line, or a piece of a long line.
    fn piece(&mut self) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        if self.failure.is_some() {
            // The failure comes after the bytes that were put back.
            let rest = &self.before[self.at..];
            let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
            line.extend_from_slice(&rest[..end]);
            self.at += end;
            self.begins_line = line.ends_with(b"\n");
            return match self.failure.take_if(|_| line.is_empty()) {
                Some(failure) => Err(failure),
                None => Ok(line),
            };
        }
        let read = self.by_ref().take(PIECE_BYTES_MAX).read_until(b'\n', &mut line);
        if let Err(error) = read {
            if line.is_empty() {
                return Err(error);
            }
            self.failure = Some(error);
        }
        self.begins_line = line.ends_with(b"\n");
        Ok(line)
    }

    fn put_back(&mut self, mut bytes: Vec<u8>) {
        bytes.extend_from_slice(&self.before[self.at..]);
        (self.before, self.at) = (bytes, 0);
        self.begins_line = true;
    }

    /// Returns the whole head: in ARC the line, in WARC everything up to an empty line.
    fn rest_of_head(&mut self, line: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut head = line;
        while self.kind == Kind::Warc && head.len() < HEAD_BYTES_MAX {
            let line = self.piece()?;
            if line.trim_ascii().is_empty() {
                break;
            }
            // The head lacks its end, and a new record begins.
            if is_head(&line, self.kind) {
                self.put_back(line);
                head.clear();
                break;
            }
            head.extend_from_slice(&line);
        }
        if head.len() >= HEAD_BYTES_MAX {
            head.clear();
        }
        Ok(head)
    }
}

/// Returns whether a line begins a record.
fn is_head(line: &[u8], kind: Kind) -> bool {
    let line = &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())];
    match kind {
        Kind::Warc => {
            let version = line.trim_ascii_end().strip_prefix(b"WARC/").unwrap_or_default();
            let is_version = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
            !version.is_empty() && version.len() < 8 && version.iter().all(is_version)
        }
        Kind::Arc => is_arc_head(line),
    }
}

/// Returns whether the bytes at the end of content are the beginning of a head, cut off by the
/// length of the content.
fn is_begun(rest: &[u8], kind: Kind) -> bool {
    let begins = |start: &[u8]| start.starts_with(rest);
    match kind {
        _ if rest.is_empty() || rest.contains(&b'\n') => false,
        Kind::Warc => begins(b"WARC/1."),
        Kind::Arc => {
            SCHEMES.iter().any(|scheme| begins(scheme.as_bytes()) || is_of_scheme(rest, scheme))
        }
    }
}

/// How the addresses of records in ARC usually begin.
const SCHEMES: [&str; 10] = [
    "http://",
    "https://",
    "ftp://",
    "ftps://",
    "dns:",
    "filedesc://",
    "file://",
    "gopher://",
    "news:",
    "mms://",
];

/// Returns whether an address is of a scheme, whatever the case of its letters is.
pub fn is_of_scheme(address: impl AsRef<[u8]>, scheme: &str) -> bool {
    let start = address.as_ref().get(..scheme.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(scheme.as_bytes()))
}

/// Returns whether an address is whole. After a length that is too great, the address starts in the
/// middle: `ttp://`. Schemes besides http are possible (RFC 3986, section 3.1).
fn is_whole_address(address: &str) -> bool {
    if SCHEMES.iter().any(|scheme| is_of_scheme(address.as_bytes(), scheme)) {
        return true;
    }
    let Some((scheme, _)) = address.split_once("://") else { return false };
    let is_sign = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(is_sign)
        && !SCHEMES.iter().any(|known| known.trim_end_matches("://").ends_with(scheme))
}

/// Returns whether a line is a head of ARC 1 or 2.
fn is_arc_head(line: &[u8]) -> bool {
    ArcHead::of(&String::from_utf8_lossy(line)).is_some()
}

/// The fields of a head of ARC that tell something about the content.
pub struct ArcHead<'a> {
    pub address: &'a str,
    pub content_type: &'a str,
    pub len: u64,
}

impl<'a> ArcHead<'a> {
    /// Parses an address, the IP address of the server, a date, the type of the content, in ARC 2
    /// five other fields, and a length. The IP address and the date tell where the address ends,
    /// because crawlers wrote addresses with blanks as they were.
    pub fn of(line: &'a str) -> Option<ArcHead<'a>> {
        let line = line.trim_ascii();
        let is_date = |field: &str| field.len() >= 8 && field.bytes().all(|b| b.is_ascii_digit());
        let mut from = 0;
        let (address, rest) = loop {
            let blank = from + line[from..].find(' ')?;
            let (ip, rest) = line[blank + 1..].split_once(' ')?;
            let date = rest.split(' ').next().unwrap_or_default();
            if ip.parse::<IpAddr>().is_ok() && is_date(date) {
                break (line[..blank].trim_end(), rest);
            }
            from = blank + 1;
        };
        let mut fields = rest.split_ascii_whitespace();
        fields.next();
        let content_type = fields.next().filter(|_| is_whole_address(address))?;
        let len = fields.next_back()?.parse().ok()?;
        Some(ArcHead { address, content_type, len })
    }
}

impl<R: Read> Read for Records<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut available = self.fill_buf()?;
        let read = available.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: Read> BufRead for Records<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self.at < self.before.len() {
            true => Ok(&self.before[self.at..]),
            false => self.stream.fill_buf(),
        }
    }

    fn consume(&mut self, len: usize) {
        self.read += len as u64;
        match self.at < self.before.len() {
            true => self.at += len,
            false => self.stream.consume(len),
        }
    }
}
