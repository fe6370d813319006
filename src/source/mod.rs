//! Where do documents come from?
//!
//! Files, directories, archives, JSON lines, standard input, each plain or compressed. Reading is
//! sequential and cheap ([`read`]); making documents of what was read is pure and done by many
//! threads at once ([`Chunk::documents`]). A record that is no document is told with its place
//! and does not disturb its neighbours.

mod archive;
mod compressed;
mod ignored;
mod jsonl;
mod walk;

use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use compressed::{Compression, peek};
pub use jsonl::text_place;
pub use walk::read;

use crate::error::{Error, Result};
use crate::text::charset;
use crate::text::kind::{no_text, no_text_in};

/// A document, as its source has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The caller's id: not empty, at most [`ID_BYTES_MAX`], no control characters.
    pub id: String,
    /// The text.
    pub text: String,
    /// What the caller knows of the document: at most [`META_BYTES_MAX`] as JSON.
    pub meta: Map<String, Value>,
    /// The line that it was read from, if there was one and it was asked for
    /// ([`SourceOptions::keeps_records`]).
    pub record: Option<Box<str>>,
}

impl Document {
    /// A document that was read from no line.
    pub fn new(
        id: impl Into<String>,
        text: impl Into<String>,
        meta: Map<String, Value>,
    ) -> Document {
        Document { id: id.into(), text: text.into(), meta, record: None }
    }

    /// The same, if the index can hold it.
    ///
    /// # Errors
    /// When its id or its meta object is none that it can.
    pub fn checked(self) -> Result<Document> {
        let place = format!("document {:?}", self.id.chars().take(64).collect::<String>());
        check(self).map_err(|what| Error::input(place, what))
    }
}

/// The longest id.
pub const ID_BYTES_MAX: usize = 1024;

/// The longest meta object, as JSON.
pub const META_BYTES_MAX: usize = 64 << 10;

/// A meta object has at most so many objects and lists within one another: it is gone through by
/// recursion.
pub const META_DEPTH_MAX: usize = 128;

/// How sources are read.
#[derive(Debug, Clone)]
pub struct SourceOptions {
    /// The field of a JSON line with the id: a string or a whole number.
    pub id_field: String,
    /// The field of a JSON line with the text: a string.
    pub text_field: String,
    /// The field of a JSON line with the meta object.
    pub meta_field: String,
    /// The encoding of files that are not JSON lines; found for each file if `None`.
    pub encoding: Option<String>,
    /// Longer lines and files are refused.
    pub record_bytes_max: usize,
    /// In directories, also read hidden files and those that `.gitignore` and its like exclude.
    pub read_ignored: bool,
    /// Documents keep the line that they were read from.
    pub keeps_records: bool,
    /// A JSON line without an id is no document; otherwise it gets its place for one.
    pub requires_id: bool,
}

impl Default for SourceOptions {
    fn default() -> SourceOptions {
        SourceOptions {
            id_field: "id".into(),
            text_field: "text".into(),
            meta_field: "meta".into(),
            encoding: None,
            record_bytes_max: 64 << 20,
            read_ignored: false,
            keeps_records: false,
            requires_id: false,
        }
    }
}

/// What reading comes upon.
#[derive(Debug)]
pub enum Item {
    /// Bytes that hold documents.
    Chunk(Chunk),
    /// A file that is left out for a good reason: it is binary, empty, or no file at all.
    Skipped {
        /// The path.
        place: String,
        /// The reason, as a clause.
        why: &'static str,
    },
    /// Something that should have been read and could not be: [`Error::Input`] is a record that is no
    /// document, any other a file, or the rest of one.
    Failed(Error),
}

/// Bytes that hold one document or many.
#[derive(Debug)]
pub struct Chunk {
    /// The path that they come from.
    pub path: Arc<str>,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// What the bytes are.
    pub kind: ChunkKind,
}

/// What the bytes of a chunk are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkKind {
    /// Whole lines, each a JSON object.
    Lines {
        /// The number of the first line in its file, counted from 1.
        first_line: u64,
    },
    /// A whole file of text.
    File,
}

impl Chunk {
    /// The documents of the chunk, in order; an error for each record that is none.
    pub fn documents(&self, options: &SourceOptions, mut each: impl FnMut(Result<Document>)) {
        match self.kind {
            ChunkKind::File => each(self.file(options)),
            ChunkKind::Lines { first_line } => {
                let place = |number| format!("{}:{number}", self.path);
                for_each_record(&self.bytes, first_line, options, &place, &mut |_, document| {
                    each(document);
                });
            }
        }
    }

    fn file(&self, options: &SourceOptions) -> Result<Document> {
        let decoded = charset::decode(&self.bytes, options.encoding.as_deref());
        let document = Document::new(self.path.to_string(), decoded.text.into_owned(), Map::new());
        check(document).map_err(|what| Error::input(&*self.path, what))
    }
}

/// The text of one file, or of standard input if it is named `-`, as a document of it would have it.
///
/// # Errors
/// When it cannot be read, or is no text.
pub fn read_text(path: &Path, encoding: Option<&str>) -> Result<String> {
    let name = path.to_string_lossy();
    let mut bytes = Vec::new();
    let read = if name == "-" {
        let peeked = peek(io::stdin().lock(), PEEK_BYTES);
        peeked.and_then(|(start, stream)| Compression::of_magic(&start).open(stream))
    } else {
        let (compression, _) = Compression::of_name(&name);
        File::open(path).and_then(|file| compression.open(file))
    };
    read.and_then(|mut stream| stream.read_to_end(&mut bytes))
        .map_err(|e| Error::io("read", path, e))?;
    match no_text(&bytes, encoding.is_some()) {
        Some(why) => Err(Error::input(name, why)),
        None => Ok(charset::decode(&bytes, encoding).text.into_owned()),
    }
}

/// The document in a JSON object.
///
/// # Errors
/// When it is none, with `document` for its place.
pub fn parse_record(json: &[u8], options: &SourceOptions) -> Result<Document> {
    let document = jsonl::parse(json, options, || "document".into()).and_then(check);
    document.map_err(|what| Error::input("document", what))
}

/// Gives `each` the documents of JSON lines, with the numbers of their lines, of which the first has
/// `first_line`; an error with its place for each record that is none.
pub fn for_each_record(
    lines: &[u8],
    first_line: u64,
    options: &SourceOptions,
    place: &dyn Fn(u64) -> String,
    each: &mut dyn FnMut(u64, Result<Document>),
) {
    for (number, line) in (first_line..).zip(lines.split(|&byte| byte == b'\n')) {
        if line.iter().any(|byte| !byte.is_ascii_whitespace()) {
            let place = || place(number);
            let document = match line.len() > options.record_bytes_max {
                true => Err(too_long(options)),
                false => jsonl::parse(line, options, place).and_then(check),
            };
            each(number, document.map_err(|what| Error::input(place(), what)));
        }
    }
}

/// Refuses paths at which there is nothing to be read; `-` is standard input.
///
/// # Errors
/// With the first of them.
pub fn check_there<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Result<()> {
    for path in paths.into_iter().filter(|path| path.as_os_str() != "-") {
        path.symlink_metadata().map_err(|e| Error::io("read", path, e))?;
    }
    Ok(())
}

/// Gives `add` the text of every document of `inputs`; what is no document is told to `skipped`.
///
/// # Errors
/// The first error of `add`, or when a source cannot be read.
pub fn for_each_text(
    inputs: &[PathBuf],
    options: &SourceOptions,
    add: &mut dyn FnMut(&str) -> Result<()>,
    skipped: &mut dyn FnMut(&str),
) -> Result<()> {
    let mut failure = None;
    read(inputs, options, &mut |item| {
        match item {
            Item::Chunk(chunk) => chunk.documents(options, |document| {
                let added = match document {
                    Ok(document) if failure.is_none() => add(&document.text),
                    Ok(_) => Ok(()),
                    Err(error) => {
                        skipped(&error.to_string());
                        Ok(())
                    }
                };
                failure = failure.take().or(added.err());
            }),
            Item::Skipped { place, why } => skipped(&format!("{place}: {why}")),
            Item::Failed(error) => failure = Some(error),
        }
        if failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    failure.map_or(Ok(()), Err)
}

/// Bytes looked at to tell what a stream is.
const PEEK_BYTES: usize = 8 << 10;

fn too_long(options: &SourceOptions) -> String {
    let max = options.record_bytes_max;
    format!("longer than {max} bytes; --max-record-bytes sets the limit")
}

/// How many objects and lists of a meta object are within one another.
fn depth(meta: &Map<String, Value>) -> usize {
    let mut deepest = 0;
    let mut open: Vec<(&Value, usize)> = meta.values().map(|value| (value, 1)).collect();
    while let Some((value, depth)) = open.pop() {
        deepest = deepest.max(depth);
        match value {
            Value::Object(object) => open.extend(object.values().map(|value| (value, depth + 1))),
            Value::Array(values) => open.extend(values.iter().map(|value| (value, depth + 1))),
            _ => {}
        }
    }
    deepest
}

/// Refuses a document that the index cannot hold, with the reason as a clause.
fn check(document: Document) -> std::result::Result<Document, String> {
    let Document { id, meta, .. } = &document;
    if id.is_empty() {
        return Err("the id is empty".into());
    }
    if id.len() > ID_BYTES_MAX {
        return Err(format!("an id of {} bytes; the longest has {ID_BYTES_MAX}", id.len()));
    }
    if id.chars().any(char::is_control) {
        return Err(format!("the id {id:?} has a control character"));
    }
    if let Some(why) = no_text_in(&document.text) {
        return Err(format!("its text is none: {why}"));
    }
    if depth(meta) > META_DEPTH_MAX {
        return Err(format!("a meta object of more than {META_DEPTH_MAX} objects in one another"));
    }
    if !meta.is_empty() {
        let len = serde_json::to_string(meta).map_or(usize::MAX, |json| json.len());
        if len > META_BYTES_MAX {
            return Err(format!("a meta object of {len} bytes; the longest has {META_BYTES_MAX}"));
        }
    }
    Ok(document)
}
