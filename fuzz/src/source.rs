//! Files: their texts come out bounded, or they are refused; JSON lines come out the same
//! whole and in chunks, and the content of a page is a part of all its text.

use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;

use cento::index::{Document, ID_BYTES_MAX, IdSource};
use cento_source::{Html, InFile, ReadChunk, ReadError, SourceOptions, read_bytes};

use super::choice;

/// The maximum size of a record, small enough to be reached.
const RECORD_BYTES_MAX: usize = 1 << 10;

/// The size of the chunks that lines are read in.
const CHUNK_BYTES: usize = 256 << 10;

/// Much more than a record may have.
const LONG_LINE_BYTES: usize = 16 << 10;

fn options() -> SourceOptions {
    SourceOptions { record_bytes_max: RECORD_BYTES_MAX, ..SourceOptions::default() }
}

/// Writes a file of this name in a directory of this thread's own, and reads it as `cento add`
/// does.
fn read(name: &str, bytes: &[u8]) -> Vec<ReadChunk> {
    thread_local! {
        static DIR: RefCell<Option<tempfile::TempDir>> = const { RefCell::new(None) };
    }
    let path: PathBuf = DIR.with_borrow_mut(|dir| {
        let make = || tempfile::tempdir().expect("the temporary directory takes another");
        dir.get_or_insert_with(make).path().join(name)
    });
    fs::write(&path, bytes).expect("the temporary directory takes a file");
    let read = cento_source::read(std::slice::from_ref(&path), &options()).collect();
    fs::remove_file(path).expect("the file is there");
    read
}

/// A document or the reason for its refusal, without the path.
type Record = Result<Document, String>;

/// JSON lines, at the start of a file, or so far down that its chunks end within them.
pub fn jsonl(data: &[u8]) {
    let (first, rest) = choice(data);
    let (second, lines) = choice(rest);
    let before = if second < 128 { 0 } else { CHUNK_BYTES - (first + 256 * second) % 2048 };
    // Lines too long to be looked into.
    let mut all = vec![b'x'; before];
    all.iter_mut().skip(LONG_LINE_BYTES).step_by(LONG_LINE_BYTES).for_each(|byte| *byte = b'\n');
    if let Some(last) = all.last_mut() {
        *last = b'\n';
    }
    all.extend(lines);
    let mut whole: Vec<(u64, Record)> = Vec::new();
    let place = |number: u64| format!("f:{number}");
    for (number, document) in cento_source::records(&all, 1, &options(), place) {
        if let Ok(document) = &document {
            assert!(!document.id.is_empty() && document.id.len() <= ID_BYTES_MAX);
            assert!(!document.id.contains(char::is_control));
            let is_line_without_id = document.id == place(number);
            assert!(is_line_without_id || has_id(&all, number), "{}", document.id);
        }
        let document = document.map(|document| document.with_id_source(IdSource::GIVEN));
        whole.push((number, document.map_err(|error| error.to_string())));
    }
    let (mut chunked, mut is_left_out): (Vec<Record>, bool) = (Vec::new(), false);
    for chunk in read("f.jsonl", &all) {
        match chunk {
            Ok(chunk) => chunked.extend(chunk.documents(&options()).map(without_path)),
            // Such as a file without a character that is seen, or one that begins as an image.
            Err(ReadError::LeftOut { .. }) => is_left_out = true,
            Err(error) => chunked.push(Err(pathless(&error.to_string()))),
        }
    }
    // A file may be in another encoding, which is seen by all of it.
    if is_left_out || std::str::from_utf8(&all).is_err() || all.contains(&0) || all.contains(&0x1b)
    {
        return;
    }
    assert_eq!(chunked, whole.into_iter().map(|(_, record)| record).collect::<Vec<_>>());
}

fn has_id(lines: &[u8], number: u64) -> bool {
    let line = lines.split(|&byte| byte == b'\n').nth(number as usize - 1);
    line.is_some_and(|line| line.windows(2).any(|pair| pair == b"id" || pair[0] == b'\\'))
}

fn without_path(document: cento::Result<(Document, InFile)>) -> Record {
    match document {
        Ok((document, _)) => {
            let id = pathless(&document.id);
            Ok(Document { id, id_source: IdSource::GIVEN, ..document })
        }
        Err(error) => Err(pathless(&error.to_string())),
    }
}

/// A place in a file of the temporary directory, as one in the file `f`.
fn pathless(place: &str) -> String {
    match place.split_once("/f.jsonl:") {
        Some((_, rest)) => format!("f:{rest}"),
        None => place.to_owned(),
    }
}

const NAMES: [&str; 10] = [
    "a.tar",
    "a.zip",
    "a.tgz",
    "a.tar.zst",
    "a.txt.gz",
    "a.jsonl.zst",
    "a.jsonl.gz",
    "a.txt",
    "a.txt.zst",
    "a.tar.gz",
];

/// An archive or a compressed file, of a kind that the first byte chooses.
pub fn archive(data: &[u8]) {
    let (kind, bytes) = choice(data);
    let name = NAMES[kind % NAMES.len()];
    for chunk in read(name, bytes) {
        match chunk {
            Ok(chunk) => {
                let is_file = chunk.kind == cento_source::ChunkKind::File;
                let max = if is_file { RECORD_BYTES_MAX } else { 2 * CHUNK_BYTES };
                assert!(chunk.bytes.len() <= max, "{} bytes", chunk.bytes.len());
                for (document, _) in chunk.documents(&options()).flatten() {
                    assert!(document.text.len() <= 3 * RECORD_BYTES_MAX);
                }
            }
            Err(ReadError::LeftOut { why, .. }) => assert!(!why.is_empty()),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

/// Files with texts in them, by the names that tell the format; most begin as anything may.
const FORMS: [&str; 12] = [
    "a.html",
    "a.md",
    "a.tex",
    "a.ipynb",
    "a.eml",
    "a.mbox",
    "a.warc",
    "a.json",
    "a.csv",
    "a.tsv",
    "a.warc.gz",
    "a",
];

/// The longest file or record of a form.
const FORM_BYTES_MAX: usize = 64 << 10;

/// The texts of a file, with the ids of its documents, and the reasons for refusals.
fn texts(name: &str, bytes: &[u8], html: Html) -> Vec<Result<(String, String), String>> {
    let options =
        SourceOptions { record_bytes_max: FORM_BYTES_MAX, html, ..SourceOptions::default() };
    let mut found = Vec::new();
    for chunk in read_bytes(name, bytes.to_vec(), &options) {
        match chunk {
            Ok(chunk) => found.extend(chunk.documents(&options).map(|document| match document {
                Ok((document, _)) => Ok((document.id, document.text)),
                Err(error) => Err(error.to_string()),
            })),
            Err(error) => found.push(Err(error.to_string())),
        }
    }
    found
}

/// A document, list, mail or archive of pages, of a form that the first byte chooses.
pub fn forms(data: &[u8]) {
    let (form, bytes) = choice(data);
    let name = FORMS[form % FORMS.len()];
    let content = texts(name, bytes, Html::Content);
    for found in &content {
        match found {
            Ok((id, text)) => {
                assert!(!id.is_empty() && id.len() <= ID_BYTES_MAX, "{id}");
                assert!(!id.contains(char::is_control), "{id:?}");
                // A byte of another encoding becomes three at most.
                assert!(text.len() <= 3 * FORM_BYTES_MAX, "{} bytes", text.len());
            }
            Err(why) => assert!(!why.is_empty()),
        }
    }
    assert_eq!(content, texts(name, bytes, Html::Content));
    let all = texts(name, bytes, Html::All);
    if let ([Ok((one, content)), ..], [Ok((other, all)), ..]) = (&content[..], &all[..])
        && one == other
    {
        assert!(all.contains(content.as_str()), "{content:?} is no part of {all:?}");
    }
}
