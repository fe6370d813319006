//! What is in this file?
//!
//! Its first bytes decide, and where they are those of any text, its name: an RTF document called
//! `.doc` is one, and a list of records is in a file that says so.

use cento::text::kind::by_beginning;

use crate::SourceOptions;
use crate::columnar::{ARROW, ARROW_STREAM, Kind, PARQUET};
use crate::headers::{begins_as_mail, begins_as_mailbox};
use crate::jsonl;
use crate::kind::no_text;

/// What a file holds, and how it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Something that is not read, and what, as a clause.
    Unread(&'static str),
    /// A text.
    Text,
    /// A page of the web.
    Html,
    /// A JSON object a line.
    Lines,
    /// A JSON array of objects.
    Array,
    /// Rows of fields between these bytes, the first with their names.
    Table(u8),
    /// A document of an office program, an e-book or PDF.
    Document,
    /// A zip file: an archive, or a document.
    Zip,
    /// A tar archive.
    Tar,
    /// A web archive.
    Warc,
    /// A mail.
    Mail,
    /// A mailbox.
    Mailbox,
    /// Markdown.
    Markdown,
    /// LaTeX.
    Tex,
    /// A Jupyter notebook.
    Notebook,
    /// A Parquet or Arrow file.
    Columns(Kind),
}

/// How a compound file begins, the container of old Office documents and of encrypted new ones.
pub const COMPOUND: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// How web archives begin.
const WARC: &[u8] = b"WARC/";

/// How LaTeX begins, unless it is a part of a document.
const TEX: [&[u8]; 2] = [b"\\documentclass", b"\\documentstyle"];
/// How the names of Parquet and Arrow files end.
const COLUMNS: &[&str] = &[".parquet", ".arrow", ".feather", ".ipc"];

/// Where a tar archive says that it is one.
const TAR_MARK: std::ops::Range<usize> = 257..262;

/// So many first bytes of a file of another name are looked at for the header of a PDF.
const PDF_HEADER_BYTES_MAX: usize = 1024;

/// What a file is that begins so and has this name, without the ending for compression.
pub fn form(start: &[u8], name: &str, options: &SourceOptions) -> Form {
    let ends = |endings: &[&str]| has_ending(name, endings);
    if start.starts_with(b"PK\x03\x04") {
        return Form::Zip;
    }
    if start.starts_with(b"PK\x05\x06") {
        return Form::Unread("it is an empty zip archive");
    }
    if let Some(kind) = columns(start, name) {
        return Form::Columns(kind);
    }
    if start.get(TAR_MARK) == Some(b"ustar") || ends(&[".tar", ".tgz"]) {
        return Form::Tar;
    }
    if start.starts_with(WARC) {
        return Form::Warc;
    }
    let header = &start[..start.len().min(PDF_HEADER_BYTES_MAX)];
    let is_late_pdf = ends(&[".pdf"]) && memchr::memmem::find(header, b"%PDF-").is_some();
    let is_document =
        [&b"%PDF-"[..], b"{\\rtf", COMPOUND].iter().any(|mark| start.starts_with(mark));
    if is_document || is_late_pdf {
        return Form::Document;
    }
    if ends(&[".jsonl", ".ndjson"]) {
        return Form::Lines;
    }
    if let Some(why) = no_text(start, options.encoding.is_some()) {
        return Form::Unread(why);
    }
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    if text.is_empty() {
        return Form::Text;
    }
    if is_html(text) || (ends(&[".html", ".htm", ".xhtml"]) && text.starts_with(b"<")) {
        return Form::Html;
    }
    if ends(&[".json"]) {
        return json(text, options);
    }
    if ends(&[".ipynb"]) && text.starts_with(b"{") {
        return Form::Notebook;
    }
    if begins_as_mailbox(text) {
        return Form::Mailbox;
    }
    if begins_as_mail(text, ends(&[".eml"])) {
        return Form::Mail;
    }
    match () {
        () if ends(&[".csv"]) => Form::Table(delimiter(text)),
        () if ends(&[".tsv", ".tab"]) => Form::Table(b'\t'),
        () if ends(&[".md", ".markdown"]) => Form::Markdown,
        () if ends(&[".tex", ".ltx", ".latex"])
            || TEX.iter().any(|mark| text.starts_with(mark)) =>
        {
            Form::Tex
        }
        () => Form::Text,
    }
}

/// What kind of Parquet or Arrow file it is, if it is one. A text that begins with their letters goes on
/// with others.
fn columns(start: &[u8], name: &str) -> Option<Kind> {
    let goes_on = |mark: &[u8]| {
        start.strip_prefix(mark).is_some_and(|rest| has_ending(name, COLUMNS) || rest.contains(&0))
    };
    if goes_on(PARQUET) {
        return Some(Kind::Parquet);
    }
    if goes_on(ARROW) {
        return Some(Kind::Arrow);
    }
    let is_stream = start
        .strip_prefix(ARROW_STREAM)
        .is_some_and(|rest| has_ending(name, COLUMNS) || begins_as_message(rest));
    is_stream.then_some(Kind::ArrowStream)
}

/// Whether a message of Arrow begins so: its length, a multiple of 8, and where in it its table is, near
/// the beginning. Many a binary file begins with the four bytes that stand before.
fn begins_as_message(rest: &[u8]) -> bool {
    let number = |at: usize| {
        let bytes = rest.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u32::from_le_bytes)
    };
    let (length, table) = (number(0), number(4));
    (8..1 << 24).contains(&length) && length % 8 == 0 && (4..64).contains(&table)
}

/// What is in standard input, which has no name.
pub fn form_of_stdin(start: &[u8], options: &SourceOptions) -> Form {
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    match form(start, "", options) {
        Form::Text if text.starts_with(b"{") => Form::Lines,
        Form::Text if text.starts_with(b"[") => json(text, options),
        form => form,
    }
}

/// What a document is that no worker reads, as a clause.
pub fn unread(start: &[u8]) -> &'static str {
    by_beginning(start).unwrap_or("it is a document in another form; convert it to text first")
}

/// Whether a zip file of which only the beginning can be read was a document.
#[cfg(feature = "archives")]
pub fn begins_as_document(start: &[u8]) -> bool {
    by_beginning(start).is_some_and(|what| what.contains("convert it to text first"))
}

/// Whether a name ends so, in letters of either case.
pub fn has_ending(name: &str, endings: &[&str]) -> bool {
    let name = name.as_bytes();
    let is_end = |ending: &&str| {
        let at = name.len().checked_sub(ending.len());
        at.is_some_and(|at| name[at..].eq_ignore_ascii_case(ending.as_bytes()))
    };
    endings.iter().any(is_end)
}

fn is_html(text: &[u8]) -> bool {
    let begins = |mark: &[u8]| {
        let start = text.get(..mark.len());
        let is_whole = text.get(mark.len()).is_none_or(|byte| !byte.is_ascii_alphanumeric());
        is_whole && start.is_some_and(|start| start.eq_ignore_ascii_case(mark))
    };
    [&b"<!doctype html"[..], b"<html"].iter().any(|mark| begins(mark))
}

/// A list of records if the first of them is an object, and of lines if it is not alone or has the
/// text; anything else is a text, such as the settings of a program.
fn json(text: &[u8], options: &SourceOptions) -> Form {
    if let Some(rest) = text.strip_prefix(b"[") {
        return if rest.trim_ascii_start().starts_with(b"{") { Form::Array } else { Form::Text };
    }
    let mut lines = text.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let (first, second) = (lines.next().unwrap_or_default(), lines.next());
    let is_object = jsonl::is_object(first);
    let goes_on = second.is_some_and(|line| line.trim_ascii_start().starts_with(b"{"));
    // A line longer than what is looked at does not end in it.
    let is_long = second.is_none() && text.starts_with(b"{\"") && !text.contains(&b'\n');
    let has_text = |line| jsonl::parse(line, options, String::new).is_ok();
    match is_object && (goes_on || has_text(first)) || (!is_object && is_long) {
        true => Form::Lines,
        false => Form::Text,
    }
}

/// What stands most often between the names of the columns.
fn delimiter(text: &[u8]) -> u8 {
    let header = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let count = |byte: &u8| memchr::memchr_iter(*byte, header).count();
    // Of equals the last.
    [b'\t', b';', b','].into_iter().max_by_key(count).unwrap_or(b',')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(start: &[u8], name: &str, expected: Form) {
        assert_eq!(form(start, name, &SourceOptions::default()), expected, "{name}");
    }

    #[test]
    fn first_bytes_overrule_a_name() {
        check(b"{\\rtf1 x}", "a.doc", Form::Document);
        check(b"%PDF-1.4\n", "a.txt", Form::Document);
        check(b"\n\n%PDF-1.4\n", "a.PDF", Form::Document);
        check(b"what %PDF-1.4 is", "a.txt", Form::Text);
        check(COMPOUND, "a.jsonl", Form::Document);
        check(b"PK\x03\x04", "a.csv", Form::Zip);
        check(b"plain", "a.docx", Form::Text);
        check(b"<!DOCTYPE HTML><p>", "a.txt", Form::Html);
        check(b"\xef\xbb\xbf <html lang='en'>", "a", Form::Html);
        check(b"<htmlx>", "a", Form::Text);
        check(b"a\0b", "a.csv", Form::Unread("it is binary: it contains NUL bytes"));
        check(b"PAR1\x15\0\x15", "a", Form::Columns(Kind::Parquet));
        check(b"PAR1", "a.parquet", Form::Columns(Kind::Parquet));
        check(b"PAR1 and PAR2 are forms", "a.txt", Form::Text);
        check(b"ARROW1\0\0", "a.jsonl", Form::Columns(Kind::Arrow));
        let stream = b"\xff\xff\xff\xff\x88\x02\0\0\x10\0\0\0\0\0\x0a";
        check(stream, "a", Form::Columns(Kind::ArrowStream));
        check(b"\xff\xff\xff\xff\x10", "a.arrow", Form::Columns(Kind::ArrowStream));
        let other = b"\xff\xff\xff\xff\0\0\0\0\0\0\0\0";
        check(other, "a", Form::Unread("it is binary: it contains NUL bytes"));
    }

    #[test]
    fn names_decide_what_text_is() {
        check(b"<p>x", "a.htm", Form::Html);
        check(b"x <p>", "a.html", Form::Text);
        check(b"<p>x", "a.txt", Form::Text);
        check(b"id,text\n1,x;y;z\n", "a.csv", Form::Table(b','));
        check(b"id;text\n", "a.CSV", Form::Table(b';'));
        check(b"id\ttext\n", "a.tsv", Form::Table(b'\t'));
        check(b"{\"text\":\"x\"}", "a.jsonl", Form::Lines);
    }

    #[test]
    fn mails_and_archives_and_markup_are_known() {
        check(b"WARC/1.0\r\n", "a.txt", Form::Warc);
        check(b"Received: x\nFrom: y\n\n", "a", Form::Mail);
        check(b"To: y\n\nz", "a.EML", Form::Mail);
        check(b"To: y\n\nz", "a.txt", Form::Text);
        check(b"From a@b Mon Jan  1 12:00:00 2024\nTo: y\n", "a", Form::Mailbox);
        check(b"# a", "README.md", Form::Markdown);
        check(b"a", "a.tex", Form::Tex);
        check(b" \\documentclass{a}", "a", Form::Tex);
        check(b"{\n \"cells\": [", "a.ipynb", Form::Notebook);
        check(b"a", "a.ipynb", Form::Text);
    }

    #[test]
    fn json_is_a_list_of_records_where_it_begins_as_one() {
        check(b"[ {\"text\":\"x\"}]", "a.json", Form::Array);
        check(b"[1,2]", "a.json", Form::Text);
        check(b"[{\"text\":\"x\"}]", "a.txt", Form::Text);
        check(b"{\"a\":1}\n{\"a\":2}\n", "a.json", Form::Lines);
        check(b"{\"text\":\"x\"}\n", "a.json", Form::Lines);
        check(b"{\"a\":1}\n", "a.json", Form::Text);
        check(b"{\n  \"text\": \"x\"\n}\n", "a.json", Form::Text);
        let long = format!("{{\"text\":\"{}", "x".repeat(8000));
        check(long.as_bytes(), "a.json", Form::Lines);
        let stdin = |start: &[u8]| form_of_stdin(start, &SourceOptions::default());
        assert_eq!(stdin(b"{"), Form::Lines);
        assert_eq!(stdin(b"[{"), Form::Array);
        assert_eq!(stdin(b"x"), Form::Text);
    }
}
