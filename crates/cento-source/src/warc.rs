//! Reads the pages of a web archive.
//!
//! A WARC 1.1 archive (ISO 28500:2017) is a sequence of records, each with a head, content of a
//! declared length, and two empty lines. In ARC 1 and 2, the format of the Internet Archive before
//! 2008, a head is a single line, and one empty line follows the content. Pages are answers of
//! servers, resource records, and texts extracted by other programs. The crate for WARC was
//! rejected, because it depends on thirty others and holds heads of any length.
//!
//! A record with a wrong length, stray lines, or a damaged part of a compressed archive affect no
//! other records. The reader searches for the next head, and [`Entry::Lost`] reports the skipped
//! bytes.

mod records;
#[cfg(test)]
mod tests;

use std::io::{self, BufRead, Read};
use std::ops::ControlFlow;

use crate::archive::{Body, Each, Entry};
use records::{ArcHead, Records, StreamRecord, is_of_scheme};

/// The maximum length of the head of a record, or of an answer.
const HEAD_BYTES_MAX: usize = 64 << 10;

/// The maximum number of headers of an answer.
const HEADERS_MAX: usize = 256;

/// The maximum length of content that is held in memory, in bytes. Held content allows a check of
/// the length before the page is read.
const HELD_BYTES_MAX: u64 = 16 << 20;

/// The reasons why records of a web archive are left out.
const NO_PAGE: &str = "it is no page: a picture, font, style sheet, script or data";
const NO_SUCCESS: &str = "it is no page: the server did not answer with status 200";

/// The format of a web archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// WARC, in any version.
    Warc,
    /// ARC, in version 1 or 2.
    Arc,
}

/// Visits the pages of a web archive in their order. The address of a page is its name.
///
/// # Errors
/// When the archive cannot be read further, or ends too early.
pub fn pages(stream: impl Read, kind: Kind, each: Each<'_>) -> io::Result<ControlFlow<()>> {
    let mut records = Records::of(stream, kind);
    let mut last = None;
    loop {
        let lost = match records.find_head()? {
            StreamRecord::End => return Ok(ControlFlow::Continue(())),
            StreamRecord::Head(head) => match RecordHead::of(&head, kind) {
                Some(record) => {
                    if record.read(&mut records, each)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                    last = Some(record.address);
                    continue;
                }
                None => "the head of a record in it is damaged; the record is skipped".to_owned(),
            },
            StreamRecord::Gap(len) => {
                let place = match last.as_deref().filter(|address| !address.is_empty()) {
                    Some(address) => format!("after the record of {address}"),
                    None => "beside the records".to_owned(),
                };
                match len {
                    1 => format!("1 byte {place} belongs to no record and is skipped"),
                    len => format!("{len} bytes {place} belong to no record and are skipped"),
                }
            }
            StreamRecord::Defect(what) => what,
        };
        if each("", Entry::Lost(lost)).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
}

/// The head of a record.
struct RecordHead {
    kind: String,
    address: String,
    content_type: String,
    len: u64,
}

impl RecordHead {
    fn of(head: &[u8], kind: Kind) -> Option<RecordHead> {
        let head = String::from_utf8_lossy(head);
        match kind {
            Kind::Warc => RecordHead::of_warc(&head),
            Kind::Arc => RecordHead::of_arc(&head),
        }
    }

    fn of_arc(head: &str) -> Option<RecordHead> {
        let ArcHead { address, content_type, len } = ArcHead::of(head)?;
        // The head of the archive and the addresses of hosts are the only records without a page.
        let is_page = !["filedesc:", "dns:"].iter().any(|scheme| is_of_scheme(address, scheme));
        let kind = if is_page { "response" } else { "other" }.to_owned();
        let content_type = content_type.to_ascii_lowercase();
        Some(RecordHead { kind, address: address.to_owned(), content_type, len })
    }

    fn of_warc(head: &str) -> Option<RecordHead> {
        let mut lines = head.lines();
        lines.next()?;
        let mut record = RecordHead {
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

    /// Reads the content of a record, and passes on its page, if any.
    fn read(
        &self,
        records: &mut Records<impl Read>,
        each: Each<'_>,
    ) -> io::Result<ControlFlow<()>> {
        let content = match self.len > HELD_BYTES_MAX {
            true => records.content_before_head(self.len, HELD_BYTES_MAX)?,
            false => Some(records.content(self.len)?),
        };
        let Some(content) = content else {
            let mut body = Body { stream: records, left: self.len };
            let flow = self.page(&mut body, each)?;
            if flow.is_continue() {
                io::copy(&mut body, &mut io::sink())?;
            }
            return Ok(flow);
        };
        match content {
            Ok(content) => {
                let left = content.len() as u64;
                self.page(&mut Body { stream: &mut &content[..], left }, each)
            }
            Err(why) if self.has_page() => Ok(each(&self.address, Entry::Bad(why))),
            Err(why) => Ok(each("", Entry::Lost(why))),
        }
    }

    /// Returns whether the content may be a page. Other records are requests, metadata, pages seen
    /// before, and the addresses of hosts, which Heritrix archives as responses.
    fn has_page(&self) -> bool {
        let kinds = ["response", "resource", "conversion"];
        kinds.contains(&self.kind.as_str()) && !is_of_scheme(&self.address, "dns:")
    }

    /// Passes on the page of a record, if any.
    fn page(&self, body: &mut Body<impl BufRead>, each: Each<'_>) -> io::Result<ControlFlow<()>> {
        let address = self.address.as_str();
        if !self.has_page() {
            return Ok(ControlFlow::Continue(()));
        }
        let is_answer = match self.content_type.starts_with("application/http") {
            true => self.kind == "response",
            // In ARC, the type in the head is the type of the page, not of the answer.
            false => self.kind == "response" && body.stream.fill_buf()?.starts_with(b"HTTP/"),
        };
        if is_answer {
            return Ok(match ResponseHead::read(body)? {
                Ok(answer) => answer.hand_on(address, body, each),
                Err(why) => each(address, Entry::Bad(why.into())),
            });
        }
        Ok(match name_by(&self.content_type) {
            Some(name) => each(address, Entry::Page(body, name)),
            None => each(address, Entry::LeftOut(NO_PAGE)),
        })
    }
}

/// The head of a server's answer.
struct ResponseHead {
    status: u16,
    content_type: String,
    is_chunked: bool,
    /// The content encoding, if the content does not show it by a magic number.
    encoding: Option<String>,
}

impl ResponseHead {
    /// Reads the head of an answer, or returns the defect of the head as a clause.
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
            true => each(address, Entry::Page(&mut ChunkedBody::new(body), name)),
            false => each(address, Entry::Page(body, name)),
        }
    }
}

/// Returns a file name with a suitable extension for a media type, or `None` if the type is not a
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

/// Content in chunks (RFC 9112, section 7.1). Content without chunks passes unchanged, because some
/// archives have removed the chunks and kept the header.
struct ChunkedBody<'a, R> {
    inner: &'a mut Body<R>,
    /// The bytes already read of the first line, which may be content.
    start: io::Cursor<Vec<u8>>,
    /// The number of bytes left in the chunk. Zero before the first chunk, and without chunks.
    left: u64,
    state: WarcState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WarcState {
    First,
    Plain,
    Chunks,
    End,
}

impl<'a, R: BufRead> ChunkedBody<'a, R> {
    fn new(inner: &'a mut Body<R>) -> ChunkedBody<'a, R> {
        ChunkedBody { inner, start: io::Cursor::default(), left: 0, state: WarcState::First }
    }

    /// Returns the size of the next chunk, with the bytes of its line.
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
        if self.state == WarcState::Chunks {
            // The end of the line after a chunk.
            self.size()?;
        }
        let (size, line) = self.size()?;
        self.state = match (size, self.state) {
            (Some(0), _) => WarcState::End,
            (Some(size), _) => {
                self.left = size;
                WarcState::Chunks
            }
            (None, WarcState::First) => {
                self.start = io::Cursor::new(line);
                WarcState::Plain
            }
            (None, _) => return Err(io::Error::other("its chunks are damaged")),
        };
        Ok(())
    }
}

impl<R: BufRead> Read for ChunkedBody<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.left == 0 && matches!(self.state, WarcState::First | WarcState::Chunks) {
            self.next()?;
        }
        match self.state {
            WarcState::End => Ok(0),
            WarcState::Chunks => {
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
