//! Recognizes the kind of a file.
//!
//! The first bytes decide. If they could begin any text, the name decides: an RTF document called
//! `.doc` is read as RTF, and JSON records are records whatever the file is called. A file whose
//! name promises a binary format, but whose bytes are text, is refused, because its owner surely
//! meant to keep a different file.

use std::borrow::Cow;

use cento::text::kind::by_beginning;

use crate::SourceOptions;
use crate::charset::{decode, is_utf16};
use crate::format::{
    ARROW, ARROW_STREAM, Beginning, COLUMNS, COMPOUND, Columnar, FileFormat, LINES, Markup,
    PARQUET, TABLES, has_ending,
};
use crate::formats::markups;
use crate::headers::{begins_as_mail, begins_as_mailbox, begins_as_mmdf};
use crate::html::Html;
use crate::kind::{is_utf8, no_text};
use crate::shape::{Nesting, Shape, shape};

/// What a file contains, and therefore how it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A file that is not read. The kind is a clause.
    Unread(&'static str),
    /// Plain text, which becomes a single document.
    Text,
    /// A file that replaces the expected contents. The reason is a clause.
    Refused(&'static str),
    /// Extension and contents disagree.
    Misnamed {
        /// The end of the name.
        ending: &'static str,
        /// The kind of the contents, as a clause.
        is: &'static str,
    },
    /// Not recognizable without more bytes, [`LOOKED_AT_MAX`] at most.
    Unclear,
    /// A JSON object a line.
    Lines,
    /// JSON that has records inside.
    Records(Nesting),
    /// JSON without any record.
    NoRecords,
    /// Rows of fields separated by this byte, the first with their names.
    Table(u8),
    /// A document of an office program, an e-book or PDF.
    Document,
    /// A zip file: an archive, or a document.
    Zip,
    /// A tar archive, compressed or not.
    Tar,
    /// A web archive in the format WARC.
    Warc,
    /// A web archive in the older format ARC.
    Arc,
    /// A single mail: RFC 5322 headers, then a body.
    Mail,
    /// A mailbox with many mails.
    Mailbox,
    /// A text format with markup.
    Markup(&'static Markup),
    /// A Parquet or Arrow file.
    Columns(Columnar),
}

/// The first bytes of web archives.
const WARC: &[u8] = b"WARC/";

/// The first bytes of web archives in the format ARC.
const ARC: &[u8] = b"filedesc://";

/// The first bytes of indexes of web archives that name their columns.
const CDX: &[u8] = b" CDX ";

/// The first bytes of a mailbox of Rmail.
const BABYL: &[u8] = b"BABYL OPTIONS:";

/// The maximum number of bytes that are examined to determine the kind of a file.
pub const LOOKED_AT_MAX: usize = 1 << 20;

/// Extensions of zip files, and of documents that are zip files.
const ZIPPED: &[&str] = &[
    ".zip", ".docx", ".docm", ".dotx", ".pptx", ".pptm", ".ppsx", ".odt", ".odp", ".ott", ".epub",
    ".wacz",
];

/// The beginning of a Git LFS pointer, which replaces a large file.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// Why the first part of a split zip archive is not read.
const FIRST_PART: &str = "it is the first part of a split zip archive; join the parts with `zip -s \
                          0 NAME.zip --out WHOLE.zip`";

/// Why a zip archive that does not begin as one is not read. The last part of a split archive has
/// the name of the whole.
const LAST_PART: &str = "it is damaged, or the last part of a split archive; `zip -s 0 NAME.zip \
                         --out WHOLE.zip` joins the parts";

/// The place of the mark of a tar archive.
const TAR_MARK: std::ops::Range<usize> = 257..262;

/// The size of a header of a tar archive.
const TAR_BLOCK: usize = 512;

/// How far a PDF header is searched for in a file without the extension.
const PDF_HEADER_BYTES_MAX: usize = 1024;

/// Returns the form of a file with this beginning and name. `name` lacks the extension of a
/// compression. `is_whole` says that nothing follows.
pub fn form(start: &[u8], is_whole: bool, name: &str, options: &SourceOptions) -> Form {
    if start.starts_with(LFS_POINTER) {
        let why = "it is a Git LFS pointer, not the file itself; run `git lfs pull`";
        return Form::Refused(why);
    }
    if is_whole && start.iter().all(u8::is_ascii_whitespace) {
        // Skipped as empty, whatever the name promises.
        return Form::Text;
    }
    let form = match container(start, name) {
        Some(form) => form,
        None => text_form(start, is_whole, name, options),
    };
    match promised(name) {
        Some((ending, promise)) if !promise(form) => {
            Form::Misnamed { ending, is: what_it_is(form) }
        }
        _ => form,
    }
}

/// Returns the form of a file that is not text.
fn container(start: &[u8], name: &str) -> Option<Form> {
    let ends = |endings: &[&str]| has_ending(name, endings);
    if start.starts_with(b"PK\x03\x04") {
        return Some(Form::Zip);
    }
    if start.starts_with(b"PK\x05\x06") {
        return Some(Form::Unread("it is an empty zip archive"));
    }
    if start.starts_with(b"PK\x07\x08PK\x03\x04") {
        return Some(Form::Unread(FIRST_PART));
    }
    if let Some(kind) = columns(start, name) {
        return Some(Form::Columns(kind));
    }
    if start.get(TAR_MARK) == Some(b"ustar") || (ends(&[".tar", ".tgz"]) && is_old_tar(start)) {
        return Some(Form::Tar);
    }
    let lines = from_first_line(start);
    if lines.starts_with(WARC) {
        return Some(Form::Warc);
    }
    if lines.starts_with(ARC) {
        return Some(Form::Arc);
    }
    if is_cdx(start) {
        return Some(Form::Unread(
            "it is an index of a web archive (CDX); give the archive itself",
        ));
    }
    if begins_as_mmdf(start) {
        return Some(Form::Mailbox);
    }
    if start.starts_with(BABYL) {
        return Some(Form::Unread(
            "it is a mailbox of Rmail (Babyl); convert it to mbox, for example with \
             `M-x unrmail` in Emacs",
        ));
    }
    let header = &start[..start.len().min(PDF_HEADER_BYTES_MAX)];
    let is_late_pdf = ends(&[".pdf"]) && memchr::memmem::find(header, b"%PDF-").is_some();
    let is_document =
        [&b"%PDF-"[..], b"{\\rtf", COMPOUND].iter().any(|mark| start.starts_with(mark));
    (is_document || is_late_pdf).then_some(Form::Document)
}

/// Returns the bytes from the first line that is not empty, without a byte order mark. Programs
/// that edit or join files put either before a web archive.
fn from_first_line(start: &[u8]) -> &[u8] {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let empty = start.iter().take_while(|byte| b"\r\n".contains(byte)).count();
    &start[empty..]
}

/// Returns whether these bytes begin an index of a web archive: its columns, or an address whose
/// host is reversed (`org,example)/a`) and a time of 14 digits.
fn is_cdx(start: &[u8]) -> bool {
    let mut fields = start.split(|&byte| byte == b' ');
    let address = fields.next().unwrap_or_default();
    let time = fields.next().unwrap_or_default();
    let is_address = !address.contains(&b'\n') && memchr::memmem::find(address, b")/").is_some();
    start.starts_with(CDX)
        || (is_address && time.len() == 14 && time.iter().all(u8::is_ascii_digit))
}

/// Returns whether these bytes begin a tar archive of Version 7 Unix: a name, NULs, and octal
/// numbers. Such archives have no magic number.
fn is_old_tar(start: &[u8]) -> bool {
    let is_number = |range| {
        let digits: Option<&[u8]> = start.get::<std::ops::Range<usize>>(range);
        digits.is_some_and(|digits| digits.iter().all(|byte| b"01234567 \0".contains(byte)))
    };
    let is_name = start.first().is_some_and(|&byte| byte != 0);
    let is_empty = start.len() >= TAR_BLOCK && start[..TAR_BLOCK].iter().all(|&byte| byte == 0);
    is_empty || (is_name && start.get(99) == Some(&0) && is_number(100..124) && is_number(136..156))
}

/// Returns the form of a text.
fn text_form(start: &[u8], is_whole: bool, name: &str, options: &SourceOptions) -> Form {
    let ends = |endings: &[&str]| has_ending(name, endings);
    let is_list = ends(LINES);
    // A list is not refused as a whole, because its records are judged individually.
    let is_of_records = (is_list || ends(TABLES)) && is_utf8(start);
    let no_text = match is_of_records {
        true => by_beginning(start),
        false => no_text(start, options.encoding.is_some()),
    };
    if let Some(why) = no_text {
        let is_of_known_kind = by_beginning(start).is_some();
        return match ends(&[".zip"]) && !is_of_known_kind {
            true => Form::Refused(LAST_PART),
            false => Form::Unread(why),
        };
    }
    let decoded = beginning(start, options);
    let text = decoded.trim_ascii_start();
    if text.is_empty() {
        return Form::Text;
    }
    let beginning = Beginning { bytes: start, text };
    let is_it = |(format, markup): &(&FileFormat, &Markup)| {
        let as_named = markup.named_begins.filter(|begin| !begin.is_empty());
        (markup.begins)(&beginning)
            || as_named.is_some_and(|begin| ends(format.endings) && text.starts_with(begin))
    };
    if let Some((_, markup)) = markups().find(is_it) {
        return Form::Markup(markup);
    }
    match shape(text, is_whole, &options.text_field) {
        Shape::Lines => return Form::Lines,
        Shape::Records(nesting) => return Form::Records(nesting),
        Shape::Unclear if start.len() < LOOKED_AT_MAX && !is_whole => return Form::Unclear,
        // A single large record, which is refused if it turns out to have no text.
        Shape::Unclear if is_list => return Form::Lines,
        Shape::Unclear => return Form::Records(Nesting::Sequence),
        Shape::NoRecords if !is_list && options.html == Html::Source => return Form::Text,
        Shape::NoRecords if !is_list => return Form::NoRecords,
        // Each line is refused individually.
        Shape::NoRecords | Shape::Other if is_list => return Form::Lines,
        Shape::NoRecords | Shape::Other => {}
    }
    if ends(&[".json"]) && options.html != Html::Source {
        return Form::Refused("its name ends in .json, but it is not JSON");
    }
    if begins_as_mailbox(text) {
        return Form::Mailbox;
    }
    if begins_as_mail(text, ends(&[".eml", ".mht", ".mhtml"])) {
        return Form::Mail;
    }
    if ends(&[".csv"]) {
        return Form::Table(delimiter(text));
    }
    if ends(&[".tsv", ".tab"]) {
        // Spreadsheets write commas under this name too.
        let header = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let delimiter = if header.contains(&b'\t') { b'\t' } else { delimiter(text) };
        return Form::Table(if header.contains(&delimiter) { delimiter } else { b'\t' });
    }
    let mut named = markups().filter(|(_, markup)| markup.named_begins == Some(b""));
    let named = named.find(|(format, _)| ends(format.endings));
    named.map_or(Form::Text, |(_, markup)| Form::Markup(markup))
}

/// Returns the beginning of a text as UTF-8, without a byte order mark. Quick and approximate,
/// because formats are recognized by ASCII.
fn beginning<'a>(start: &'a [u8], options: &SourceOptions) -> Cow<'a, [u8]> {
    let declared = options.encoding.as_deref();
    if declared.is_none() && !is_utf16(start) {
        return start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).into();
    }
    decode(start, declared).text.into_owned().into_bytes().into()
}

/// Checks whether a form keeps the promise of a file's name.
type Promise = fn(Form) -> bool;

/// The extensions that promise more than plain text, with the forms that keep the promise.
const PROMISES: [(&[&str], Promise); 10] = [
    (COLUMNS, |form| matches!(form, Form::Columns(_))),
    (&[".pdf"], |form| form == Form::Document),
    (&[".tar", ".tgz"], |form| form == Form::Tar),
    // A document may be a damaged zip file, or an encrypted document, which is not a zip file.
    (ZIPPED, |form| matches!(form, Form::Zip | Form::Document | Form::Unread(_))),
    (&[".warc"], |form| matches!(form, Form::Warc | Form::Arc)),
    // Programs in the language Arc have the same extension.
    (&[".arc"], |form| !is_tagged(form)),
    // A mailbox of Rmail may be called so, and is not read.
    (&[".mbox"], |form| matches!(form, Form::Mailbox | Form::Mail | Form::Unread(_))),
    (LINES, |form| !is_tagged(form)),
    (TABLES, |form| !is_tagged(form)),
    (&[".json"], |form| !is_tagged(form)),
];

/// Returns whether a form is a web page or XML. A server sends these as messages in place of data.
fn is_tagged(form: Form) -> bool {
    matches!(form, Form::Markup(markup) if markup.named_begins == Some(b"<"))
}

/// Returns the promise of the name of a file.
fn promised(name: &str) -> Option<(&'static str, Promise)> {
    PROMISES.iter().find_map(|(endings, promise)| {
        let ending = endings.iter().find(|ending| has_ending(name, &[ending]))?;
        Some((*ending, *promise))
    })
}

/// Returns the kind of a misnamed file, as the end of a clause.
fn what_it_is(form: Form) -> &'static str {
    match form {
        Form::Unread(is) | Form::Refused(is) | Form::Misnamed { is, .. } => is,
        Form::Zip => "it is a zip file",
        Form::Tar => "it is a tar archive",
        Form::Warc | Form::Arc => "it is a web archive",
        Form::Document => "it is a document in another form",
        Form::Columns(Columnar::Parquet) => "it is a Parquet file",
        Form::Columns(Columnar::Arrow | Columnar::ArrowStream) => "it is an Arrow file",
        Form::Mail | Form::Mailbox => "it is a mail",
        Form::Lines | Form::Records(_) | Form::NoRecords | Form::Unclear => "it is JSON",
        Form::Text | Form::Table(_) => "it is text",
        Form::Markup(markup) => markup.is,
    }
}

/// Returns the kind of a Parquet or Arrow file. The letters `PAR1` alone prove nothing, because a
/// text may begin with them. A NUL or the extension has to follow.
fn columns(start: &[u8], name: &str) -> Option<Columnar> {
    let goes_on = |mark: &[u8]| {
        start.strip_prefix(mark).is_some_and(|rest| has_ending(name, COLUMNS) || rest.contains(&0))
    };
    if goes_on(PARQUET) {
        return Some(Columnar::Parquet);
    }
    if goes_on(ARROW) {
        return Some(Columnar::Arrow);
    }
    let is_stream = start
        .strip_prefix(ARROW_STREAM)
        .is_some_and(|rest| has_ending(name, COLUMNS) || begins_as_message(rest));
    is_stream.then_some(Columnar::ArrowStream)
}

/// Returns whether an Arrow message begins here: its length, a multiple of 8, and the offset of its
/// table, which is small. The four bytes before the message occur in many binary files.
fn begins_as_message(rest: &[u8]) -> bool {
    let number = |at: usize| {
        let bytes = rest.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u32::from_le_bytes)
    };
    let (length, table) = (number(0), number(4));
    (8..1 << 24).contains(&length) && length % 8 == 0 && (4..64).contains(&table)
}

/// Returns why a document that no worker can read is skipped, as a clause.
pub fn unread(start: &[u8]) -> &'static str {
    by_beginning(start).unwrap_or("it is a document in another form; convert it to text first")
}

/// Returns whether a damaged zip file begins like a document.
pub fn begins_as_document(start: &[u8]) -> bool {
    cento::text::kind::document(start).is_some()
}

/// The beginning of the line by which Excel learns the delimiter, as in `sep=;`.
pub const SEPARATOR: &str = "sep=";

/// Returns the byte most often found between the names of the columns, or named before them.
fn delimiter(text: &[u8]) -> u8 {
    let header = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    if let Some([delimiter]) = header.trim_ascii_end().strip_prefix(SEPARATOR.as_bytes()) {
        return *delimiter;
    }
    let count = |byte: &u8| memchr::memchr_iter(*byte, header).count();
    // `max_by_key` returns the last of equal values.
    [b'|', b'\t', b';', b','].into_iter().max_by_key(count).unwrap_or(b',')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(start: &[u8], name: &str, expected: Form) {
        assert_eq!(form(start, true, name, &SourceOptions::default()), expected, "{name}");
    }

    fn markup(name: &str) -> Form {
        Form::Markup(markups().find(|(format, _)| format.name == name).unwrap().1)
    }

    #[test]
    fn first_bytes_overrule_a_name() {
        check(b"{\\rtf1 x}", "a.doc", Form::Document);
        check(b"%PDF-1.4\n", "a.txt", Form::Document);
        check(b"\n\n%PDF-1.4\n", "a.PDF", Form::Document);
        check(b"what %PDF-1.4 is", "a.txt", Form::Text);
        check(COMPOUND, "a.jsonl", Form::Document);
        check(b"PK\x03\x04", "a.csv", Form::Zip);
        check(b"plain", "a.doc", Form::Text);
        check(b"<!DOCTYPE HTML><p>", "a.txt", markup("html"));
        check(b"\xef\xbb\xbf <html lang='en'>", "a", markup("html"));
        check(b"<htmlx>", "a", Form::Text);
        check(b"a\0\0\0\0\0\0b", "a.txt", Form::Unread(NULS));
        check(b"text\n\x01\x02\x03\x04\x05\x06\n", "a.csv", Form::Table(b','));
        check(b"PAR1\x15\0\x15", "a", Form::Columns(Columnar::Parquet));
        check(b"PAR1", "a.parquet", Form::Columns(Columnar::Parquet));
        check(b"PAR1 and PAR2 are forms", "a.txt", Form::Text);
        check(b"ARROW1\0\0", "a.jsonl", Form::Columns(Columnar::Arrow));
        let stream = b"\xff\xff\xff\xff\x88\x02\0\0\x10\0\0\0\0\0\x0a";
        check(stream, "a", Form::Columns(Columnar::ArrowStream));
        check(b"\xff\xff\xff\xff\x10", "a.arrow", Form::Columns(Columnar::ArrowStream));
        let other = b"\xff\xff\xff\xff\0\0\0\0\0\0\0\0";
        check(other, "a", Form::Unread("it is binary data (NUL bytes)"));
    }

    #[test]
    fn a_mailbox_of_rmail_is_named_and_not_read_as_one_text() {
        let start = b"BABYL OPTIONS: -*- rmail -*-\nVersion: 5\n";
        for name in ["RMAIL", "old.txt", "old.mbox"] {
            let found = form(start, true, name, &SourceOptions::default());
            assert!(matches!(found, Form::Unread(why) if why.contains("Babyl")), "{name}");
        }
        check(b"BABYL is a word", "a.txt", Form::Text);
    }

    #[test]
    fn drawings_are_markup_by_their_names() {
        // Without a declaration of XML, their tags were words.
        check(b"<svg width='9'><text>a</text></svg>", "a.svg", markup("xml"));
        check(b"<!-- Inkscape -->\n<svg:svg>", "a.SVG", markup("xml"));
    }

    #[test]
    fn names_decide_the_kind_of_a_text() {
        check(b"<TEI.2>", "a.xml", markup("xml"));
        check(b"<p>x", "a.htm", markup("html"));
        check(b"x <p>", "a.html", Form::Text);
        check(b"<p>x", "a.txt", Form::Text);
        check(b"id,text\n1,x;y;z\n", "a.csv", Form::Table(b','));
        check(b"id;text\n", "a.CSV", Form::Table(b';'));
        check(b"id\ttext\n", "a.tsv", Form::Table(b'\t'));
        // The name of the one column was `id,text`.
        check(b"id,text\n", "a.tsv", Form::Table(b','));
        check(b"id;text\n", "a.tab", Form::Table(b';'));
        check(b"id\ttext, more, most\n", "a.tsv", Form::Table(b'\t'));
        check(b"text\none, two\n", "a.tsv", Form::Table(b'\t'));
        check(b"id\ttext\n", "a.csv", Form::Table(b'\t'));
        check(b"id|text, more|n\n", "a.csv", Form::Table(b'|'));
        check(b"sep=;\r\nid;text, or, not\r\n", "a.csv", Form::Table(b';'));
        check(b"{\"text\":\"x\"}", "a.jsonl", Form::Lines);
    }

    #[test]
    fn mails_and_archives_and_markup_are_known() {
        check(b"WARC/1.0\r\n", "a.txt", Form::Warc);
        check(b"filedesc://x.arc 0.0.0.0 20080430204825 text/plain 68\n", "a", Form::Arc);
        for (start, expected) in [("WARC/1.0\r\n", Form::Warc), ("filedesc://x.arc 0", Form::Arc)] {
            for before in ["\u{feff}", "\n\r\n", "\u{feff}\r\n"] {
                check(format!("{before}{start}").as_bytes(), "a", expected);
            }
        }
        let cdx = "it is an index of a web archive (CDX); give the archive itself";
        check(b" CDX N b a\n", "a.cdx", Form::Unread(cdx));
        check(b"org,example)/a 20240101000000 {\"url\":\"x\"}\n", "a", Form::Unread(cdx));
        check(b"(see a)/b) 2024 x\n", "a", Form::Text);
        check(b"\x01\x01\x01\x01\nFrom: x\n", "a", Form::Mailbox);
        check(b"From \nFrom: x\n", "a", Form::Mailbox);
        check(b"Received: x\nFrom: y\n\n", "a", Form::Mail);
        check(b"To: y\n\nz", "a.EML", Form::Mail);
        check(b"To: y\n\nz", "a.txt", Form::Text);
        check(b"From a@b Mon Jan  1 12:00:00 2024\nTo: y\n", "a", Form::Mailbox);
        check(b"# a", "README.md", markup("markdown"));
        check(b"a", "a.tex", markup("latex"));
        check(b" \\documentclass{a}", "a", markup("latex"));
        check(b"{\n \"cells\": [", "a.ipynb", markup("notebook"));
        check(b"a", "a.ipynb", Form::Text);
    }

    #[test]
    fn json_is_known_by_its_first_bytes_whatever_the_file_is_called() {
        for name in
            ["a.json", "a.jsonl", "a.ndjson", "a.txt", "a.jl", "a", "-", "/dev/fd/63", "a.csv"]
        {
            check(b"[ {\"text\":\"x\"}]", name, Form::Records(Nesting::Array));
            check(b"\xef\xbb\xbf{\"a\":1}\n{\"a\":2}\n", name, Form::Lines);
            check(b"{\"text\":\"x\"}\n", name, Form::Lines);
            check(b"{\n \"text\": \"x\"\n}\n", name, Form::Records(Nesting::Sequence));
            let utf16 = |text: &str| -> Vec<u8> {
                text.encode_utf16().flat_map(u16::to_le_bytes).collect()
            };
            check(&utf16("\u{feff}{\"text\":\"x\"}\n"), name, Form::Lines);
            check(&utf16("{\"text\":\"x\"}\n"), name, Form::Lines);
        }
    }

    #[test]
    fn json_without_records_is_reported_as_such() {
        check(b"{\"a\":1}\n", "a.json", Form::NoRecords);
        check(b"[1,2]", "a.json", Form::NoRecords);
        check(b"{\"a\":1}\n", "a.txt", Form::NoRecords);
        check(b"{\"a\":1}\n", "a.jsonl", Form::Lines);
        check(b"no JSON", "a.jsonl", Form::Lines);
        check(b"{ // no\n}", "a.json", Form::Refused("its name ends in .json, but it is not JSON"));
        check(b"{{Infobox}} text", "a.txt", Form::Text);
        check(b"[1] a note", "a", Form::Text);
        let source = SourceOptions { html: Html::Source, ..SourceOptions::default() };
        assert_eq!(form(b"{\"a\":1}", true, "a.json", &source), Form::Text);
    }

    #[test]
    fn text_in_a_file_that_promises_something_else_is_refused() {
        let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
        for name in ["a.parquet", "a.jsonl", "a.pdf", "a", "a.csv"] {
            let found = form(pointer, true, name, &SourceOptions::default());
            assert!(matches!(found, Form::Refused(why) if why.contains("git lfs pull")), "{name}");
        }
        for name in [
            "a.parquet",
            "a.PDF",
            "a.zip",
            "a.docx",
            "a.epub",
            "a.tar",
            "a.odt",
            "a.warc",
            "a.wacz",
            "a.mbox",
        ] {
            for (bytes, what) in [
                (&b"plain"[..], "text"),
                (b"<!DOCTYPE html><p>404", "web page"),
                (b"{\"error\":1}", "JSON"),
                (b"{\"text\":\"x\"}", "JSON"),
            ] {
                let found = form(bytes, true, name, &SourceOptions::default());
                let is_right = matches!(found, Form::Misnamed { is, .. } if is.contains(what));
                assert!(is_right, "{name}: {found:?}");
            }
        }
        check(b"a\0b\0\0\0\0", "a.pdf", Form::Misnamed { ending: ".pdf", is: NULS });
        let split = Form::Misnamed { ending: ".zip", is: LAST_PART };
        check(b"a\0b\0\0\0\0", "a.zip", split);
        check(b"\xf6\xa7PK\0\0\0\0", "a.zip", split);
        check(b"PK\x07\x08PK\x03\x04\x14\0", "a.z01", Form::Unread(FIRST_PART));
        check(&[0; 1024], "a.tar", Form::Tar);
        check(b"<html>", "a.doc", markup("html"));
        check(b"(def x 1)", "a.arc", Form::Text);
        check(b"Received: x\nFrom: y\n\n", "a.mbox", Form::Mail);
    }

    #[test]
    fn a_message_of_a_server_is_no_file_of_records() {
        for (name, ending) in [
            ("a.jsonl", ".jsonl"),
            ("a.ndjson", ".ndjson"),
            ("a.csv", ".csv"),
            ("a.TSV", ".tsv"),
            ("a.json", ".json"),
            ("a.arc", ".arc"),
        ] {
            let page = "it is a web page, such as the message of a server";
            check(b"<!DOCTYPE html><p>404", name, Form::Misnamed { ending, is: page });
            let denied = b"<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>";
            let found = form(denied, true, name, &SourceOptions::default());
            assert!(matches!(found, Form::Misnamed { .. }), "{name}: {found:?}");
        }
        check(b"text\n<p>one</p>\n", "a.csv", Form::Table(b','));
    }

    const NULS: &str = "it is binary data (NUL bytes)";
}
