//! Fuzzes files: texts come out bounded, or the file is refused. JSON lines come out the same whole
//! and in chunks, and the content of a page is a part of all its text.

use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use cento::index::{Document, ID_BYTES_MAX, IdSource};
use cento_source::{FileFormat, Html, InFile, ReadChunk, ReadError, SourceOptions, read_bytes};

use super::{choice, chosen, one_of};

/// The maximum size of a record, small enough to be reached.
const RECORD_BYTES_MAX: usize = 1 << 10;

/// The size of the chunks that lines are read in.
const CHUNK_BYTES: usize = 256 << 10;

/// Bytes far beyond the maximum of a record.
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

/// A document, or the reason for its refusal without the path.
type Record = Result<Document, String>;

/// Reads JSON lines at the start of a file, or so far down that a chunk ends within the lines.
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
            // For example, a file without a visible character, or one that begins like an image.
            Err(ReadError::LeftOut { .. }) => is_left_out = true,
            Err(error) => chunked.push(Err(pathless(&error.to_string()))),
        }
    }
    // A file may be in a different encoding, which only the whole file reveals.
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

/// Names of archives and compressed files, of every ending of the formats.
static ARCHIVES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let endings = |name: &str| {
        let mut formats = cento_source::formats().iter();
        formats.find(|format| format.name == name).expect("it is in the list").endings
    };
    let within = ["", ".tar", ".txt", ".jsonl"];
    let compressed = endings("compressed").iter();
    let compressed = compressed.flat_map(|end| within.map(|within| format!("a{within}{end}")));
    let archives = ["tar", "zip"].into_iter().flat_map(endings).map(|end| format!("a{end}"));
    archives.chain(compressed).chain(["a.txt".to_owned()]).collect()
});

/// An archive or a compressed file, whose name the first line chooses.
pub fn archive(data: &[u8]) {
    let (name, bytes) = chosen(data, one_of(&ARCHIVES), &ARCHIVES);
    for chunk in read(&name, bytes) {
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

/// A name of each ending of the formats, and one without an ending.
static FORMS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let endings = cento_source::formats().iter().flat_map(|format| format.endings);
    let names = endings.map(|ending| format!("a{ending}"));
    names.chain(["a", "a.warc.gz"].map(str::to_owned)).collect()
});

/// The examples of all formats, with and without their file names.
pub fn examples() -> Vec<(String, Vec<u8>)> {
    let of_format = |format: &&FileFormat| {
        let named = |name: &str| [name.as_bytes(), b"\n", format.example].concat();
        let any = (format!("any_{}_example", format.name), named("a"));
        [(format!("{}_example", format.name), named(&format!("a{}", format.endings[0]))), any]
    };
    cento_source::formats().iter().flat_map(of_format).collect()
}

/// Maximum bytes of a file or record of a form.
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

/// A file of any format, whose name the first line chooses; most begin as anything may.
pub fn forms(data: &[u8]) {
    let (name, bytes) = chosen(data, one_of(&FORMS), &FORMS);
    let name = &*name;
    let content = texts(name, bytes, Html::Content);
    for found in &content {
        match found {
            Ok((id, text)) => {
                assert!(!id.is_empty() && id.len() <= ID_BYTES_MAX, "{id}");
                assert!(!id.contains(char::is_control), "{id:?}");
                // A byte of any encoding becomes at most three bytes.
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
        // Menus may stand between the parts of the content.
        let mut words = all.split_whitespace();
        let is_part = content.split_whitespace().all(|word| words.any(|other| other == word));
        assert!(is_part, "the words of {content:?} are not among {all:?}");
    }
}
