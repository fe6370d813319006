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

use std::io::{self, BufRead, Read};
use std::ops::ControlFlow;

use crate::archive::{Body, Each, Entry};
use records::{ArcHead, Records, StreamRecord};

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
        let kind = if address.starts_with("http") { "response" } else { "other" }.to_owned();
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
        kinds.contains(&self.kind.as_str()) && !self.address.starts_with("dns:")
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

    /// Returns the addresses in an archive, each with name and content, and the error at the end,
    /// if any.
    fn all(archive: &str) -> (Vec<String>, Option<String>) {
        all_of(archive.as_bytes(), Kind::Warc)
    }

    fn all_of(archive: impl Read, kind: Kind) -> (Vec<String>, Option<String>) {
        let mut found = Vec::new();
        let end = pages(archive, kind, &mut |address, entry| {
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
                Entry::Lost(what) => format!("lost: {what}"),
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
            record("response", "dns:a", "text/dns", "20230101000000\na. 300 IN A 10.0.0.1\n"),
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
        assert!(found[0].contains("cut short") && error.is_none(), "{found:?}");
        for damaged in
            ["WARC/1.0\r\nX: y\r\n\r\n", "WARC/1.0\r\nContent-Length: x\r\n\r\n", "WARC/1.0\r\nX"]
        {
            let (found, error) = all(&format!("{page}{damaged}"));
            assert_eq!((&*found[0], error), ("http://a page.txt: one two", None));
            assert!(found[1].contains("the head of a record in it is damaged"), "{found:?}");
        }
        let (found, _) = all(&format!("{page}nothing\r\n\r\n"));
        assert_eq!(
            found[1],
            " lost: 7 bytes after the record of http://a belong to no record and are skipped"
        );
        let endless = format!("WARC/1.0\r\nX: {}\n\n{page}", "y".repeat(100_000));
        let (found, error) = all(&endless);
        assert!(found[0].contains("damaged") && error.is_none());
        assert_eq!(found.last().unwrap(), "http://a page.txt: one two");
    }

    /// Returns an archive of five pages. `change` alters the second page.
    fn five(change: impl Fn(&str) -> String) -> String {
        let page = |n: usize| {
            let text = format!("<p>the text of page {n}</p>");
            answer(&format!("http://{n}"), "200 OK\r\nContent-Type: text/html", &text)
        };
        [page(0), change(&page(1)), page(2), page(3), page(4)].concat()
    }

    #[test]
    fn a_record_that_is_damaged_does_not_affect_the_others() {
        let whole: Vec<String> =
            (0..5).map(|n| format!("http://{n} page.html: <p>the text of page {n}</p>")).collect();
        assert_eq!(all(&five(str::to_owned)), (whole.clone(), None));
        let length = |page: &str, by: i64| {
            let len: i64 = page.split("Content-Length: ").nth(1).unwrap()[..2].parse().unwrap();
            page.replace(
                &format!("Content-Length: {len}"),
                &format!("Content-Length: {}", len + by),
            )
        };
        let others = |found: &[String]| -> Vec<String> {
            whole.iter().filter(|page| found.contains(page)).cloned().collect()
        };
        for by in [-60, -20, -1, 1, 2, 3, 4, 5, 60, 300, 5_000, 60_000, 1 << 40] {
            let (found, error) = all(&five(|page| length(page, by)));
            let expected: Vec<String> =
                whole.iter().filter(|page| !page.contains("//1")).cloned().collect();
            let others: Vec<String> =
                others(&found).into_iter().filter(|page| !page.contains("//1")).collect();
            assert_eq!((others, error), (expected, None), "{by}: {found:?}");
            let said = found.iter().filter(|it| it.contains("lost: ")).count();
            // The lines between two records may be counted as content.
            assert_eq!(said, usize::from(!(1..=4).contains(&by)), "{by}: {found:?}");
            let is_invented = |it: &String| it.contains("page.html") && it.contains("WARC/");
            assert!(!found.iter().any(is_invented), "{by}: {found:?}");
        }
        for stray in ["a line\r\n", "a line\r\n\r\n", "\n\n\n", "WARC/\r\n"] {
            let (found, error) = all(&five(|page| format!("{page}{stray}")));
            assert_eq!((others(&found), error), (whole.clone(), None), "{stray:?}");
            assert_eq!(found.len(), if stray.trim().is_empty() { 5 } else { 6 }, "{found:?}");
        }
    }

    #[test]
    fn a_damaged_member_of_gzip_costs_its_record_alone() {
        use crate::compressed::{Compression, WINDOW_BYTES_MAX};
        use std::io::Write;
        let gzip = |text: &str| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
            encoder.write_all(text.as_bytes()).unwrap();
            encoder.finish().unwrap()
        };
        let text = |n: u64| format!("<p>the text of page {n}, {}", n.pow(9).to_string().repeat(9));
        let page =
            |n| answer(&format!("http://{n}"), "200 OK\r\nContent-Type: text/html", &text(n));
        let members: Vec<Vec<u8>> = (5..9).map(|n| gzip(&page(n))).collect();
        for at in 0..members[1].len() {
            for change in [0x01, 0x40] {
                let mut damaged = members.clone();
                damaged[1][at] ^= change;
                let bytes = io::Cursor::new(damaged.concat());
                let (stream, resumption) =
                    Compression::Gzip.open_resumable(bytes, WINDOW_BYTES_MAX);
                resumption.set(true);
                let (found, _) = all_of(stream, Kind::Warc);
                let has = |n: u64| found.contains(&format!("http://{n} page.html: {}", text(n)));
                assert!(has(5) && has(7) && has(8), "{at}: {found:?}");
            }
        }
    }

    #[test]
    fn a_page_may_have_lines_that_look_like_heads() {
        let text = "<pre>\r\n\r\nWARC/1.0\r\nWARC-Type: response\r\n\r\n</pre>";
        let page = answer("http://a", "200 OK\r\nContent-Type: text/html", text);
        let (found, error) = all(&page.repeat(2));
        assert_eq!((found, error), (vec![format!("http://a page.html: {text}"); 2], None));
    }

    #[test]
    fn the_pages_of_an_arc_archive_are_read() {
        let record = |address: &str, kind: &str, content: &str| {
            format!("{address} 10.0.0.1 20080430204825 {kind} {}\n{content}\n", content.len())
        };
        let page = |text: &str| format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{text}");
        let archive = |stray: &str| {
            let version = "1 0 Example\nURL IP-address Archive-date Content-type Archive-length\n";
            [
                record("filedesc://x.arc", "text/plain", version),
                record("dns:site.example", "text/dns", "20080430 site.example"),
                record("http://site.example/0", "text/html", &page("<p>one")),
                stray.to_owned(),
                record("http://site.example/1", "text/html", &page("<p>two\n\nthree")),
                record("http://site.example/2", "image/png", "HTTP/1.1 404 No\r\n\r\n"),
                record("http://site.example/3", "text/plain", "four"),
                record("http://site.example/a page 2", "text/plain", "five"),
            ]
            .concat()
        };
        let expected = [
            "http://site.example/0 page.html: <p>one".to_owned(),
            "http://site.example/1 page.html: <p>two\n\nthree".into(),
            format!("http://site.example/2 {NO_SUCCESS}"),
            "http://site.example/3 page.txt: four".into(),
            "http://site.example/a page 2 page.txt: five".into(),
        ];
        assert_eq!(all_of(archive("").as_bytes(), Kind::Arc), (expected.to_vec(), None));
        // An address may have any scheme, and only those of pages are read.
        let streamed = archive(&record("rtsp://site.example/v", "video/mp4", "six"));
        assert_eq!(all_of(streamed.as_bytes(), Kind::Arc), (expected.to_vec(), None));
        let (mut found, error) = all_of(archive("a stray line\n").as_bytes(), Kind::Arc);
        assert!(found.remove(1).contains("belong to no record"), "{found:?}");
        assert_eq!((found, error), (expected.to_vec(), None));
        // A length that is too great cut the beginning off the address of the next record, which
        // then was no page.
        for by in [-7, -1, 2, 3, 9, 40, 70] {
            let whole = archive("");
            let len = page("<p>one").len();
            let wrong = format!("text/html {}", len as i64 + by);
            let wrong = whole.replacen(&format!("text/html {len}"), &wrong, 1);
            let (found, error) = all_of(wrong.as_bytes(), Kind::Arc);
            let pages = found.iter().filter(|it| expected[1..].contains(it)).count();
            assert_eq!((pages, error), (4, None), "{by}: {found:?}");
            assert!(found.iter().any(|it| it.contains("lost: ")), "{by}: {found:?}");
        }
    }
}
