//! The sources of documents: files, directories, archives, streams.
//!
//! Your inputs are files, directories, archives and standard input, plain or compressed. They hold
//! lists of records (JSON lines, JSON arrays, tables), web pages and web archives, mails and
//! mailboxes, office documents, e-books and PDF, Markdown, LaTeX and notebooks, or plain text. One
//! thread reads, because reading is sequential and cheap ([`read`]). Many threads then make
//! documents of the chunks ([`Chunk::documents`]). Formats with large parsers run in separate
//! processes ([`Extraction`]). If a record is not a document, you get the place and the reason, and
//! reading continues with the next record.

mod add;
mod archive;
mod broken_word;
mod bytes;
pub mod charset;
mod chunk;
mod columnar;
mod compressed;
mod css;
mod decontaminate;
mod dedup;
mod directory;
mod documents;
mod extract;
mod extracted;
mod field_use;
mod fields;
mod filter;
mod format;
mod formats;
mod grouped;
mod grouping;
mod headers;
mod hocr;
mod html;
mod ignored;
mod jsonl;
mod kind;
mod mail;
mod markdown;
mod meta_fields;
mod names;
mod note_mark;
mod notebook;
mod origin;
mod partition;
pub mod pipeline;
mod questions;
mod quoted;
mod quotes;
mod read_error;
mod read_meter;
mod reader;
mod records;
mod shape;
mod sniff;
mod subtitles;
mod table;
mod table_form;
mod tex;
mod text_field;
mod train;
mod transcode;
mod walk;
mod warc;
mod worker;
mod xml;

use std::ffi::OsString;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cento::Stop;
use cento::index::Document;
use cento::{Error, Map, Reason, Refusal, Result};
use serde_json::Value;

pub use add::{AddOptions, Event, add, count_failed, count_skipped, no_stored};
pub use cento::AddReport;
pub use chunk::{Chunk, ChunkKind, InFile};
pub use columnar::{Annotation, Copying, Selection, TABLE_MEMORY_BYTES_MAX, Tables, is_parquet};
pub use decontaminate::{CorpusPart, examined};
pub use dedup::records as dedup_records;
pub use directory::{FileBelow, files_below, place_of};
pub use documents::{Chunks, Documents, documents, read, read_bytes};
pub use extract::Extraction;
pub use extracted::ExtractedText;
pub use field_use::FieldUse;
pub use filter::{OTHER_LANGUAGE, PathFilter, advice, is_by_name, is_by_pattern};
pub use format::{FileFormat, Markup};
pub use formats::formats;
pub use grouping::{By, GroupedFiles, Grouping, ListedFiles, Remark};
pub use html::Html;
pub use jsonl::{has_field, with_text};
pub use meta_fields::MetaFields;
pub use origin::Origins;
pub use questions::{QuestionError, QuestionFields, lacks_question, questions};
pub use read_error::{ReadChunk, ReadError};
pub use read_meter::ReadMeter;
pub use reader::Readers;
pub use table_form::TableForm;
pub use text_field::TextField;
pub use train::train;

/// Serves a parent process of the same program that reads sources and has started this process as
/// its worker. Returns `None` if the arguments come from a user instead. A program that is its own
/// [`Extraction`] or [`Tables`] worker calls this function before anything else.
#[must_use]
pub fn serve_as_worker(arguments: &[OsString]) -> Option<io::Result<()>> {
    match arguments {
        [verb] if verb == extract::WORKER_VERB => {
            Some(extract::serve(&mut io::stdin().lock(), &mut io::stdout().lock()))
        }
        #[cfg(feature = "parquet")]
        [verb, request] if verb == columnar::WORKER_VERB => {
            Some(columnar::serve(&request.to_string_lossy()))
        }
        _ => None,
    }
}

/// Options for reading sources.
///
/// The default reads every format of the build that needs no worker. Office documents and Parquet
/// files need one ([`Extraction`], [`Tables`]).
///
/// ```
/// use cento_source::{SourceOptions, read_bytes};
///
/// let lines = b"{\"id\": \"a\", \"text\": \"some text\"}\n{\"id\": \"b\"}\n".to_vec();
/// let options = SourceOptions::default();
/// let (mut ids, mut errors) = (Vec::new(), Vec::new());
/// for chunk in read_bytes("in.jsonl", lines, &options) {
///     for document in chunk?.documents(&options) {
///         match document {
///             Ok((document, _)) => ids.push(document.id),
///             Err(error) => errors.push(error.to_string()),
///         }
///     }
/// }
/// assert_eq!(ids, ["a"]);
/// assert!(errors[0].starts_with("in.jsonl:2: "));
/// # Ok::<(), cento_source::ReadError>(())
/// ```
#[derive(Debug, Clone)]
pub struct SourceOptions {
    /// The field of a JSON line with the id: a string or a whole number.
    pub id_field: String,
    /// The fields of a JSON line whose values, joined, are the text.
    pub text_field: TextField,
    /// The fields of a JSON line with the meta object.
    pub meta_fields: MetaFields,
    /// Learns which fields of records become no part of a document.
    pub field_use: Option<Arc<FieldUse>>,
    /// Learns how much of the inputs has been read.
    pub read_meter: Option<Arc<ReadMeter>>,
    /// The encoding of files other than JSON lines. `None` detects the encoding file by file.
    pub encoding: Option<String>,
    /// Longer lines and files are refused.
    pub record_bytes_max: usize,
    /// The maximum memory for the window of a compressed stream (Zstandard) or its dictionary (xz),
    /// in bytes. A stream that needs more is refused.
    pub window_bytes_max: usize,
    /// In directories and archives, also read hidden files.
    pub read_hidden: bool,
    /// In directories, skip the files that `.gitignore` and `.ignore` exclude.
    pub obeys_ignore_files: bool,
    /// In directories, follow links.
    pub follow_links: bool,
    /// Skips files by their names.
    pub filter: PathFilter,
    /// The documents of the inputs that have several files each, found with the same options. A
    /// list of records then makes no documents.
    pub grouping: Option<Arc<Grouping>>,
    /// Members that are put into the meta object of every document. A member replaces the
    /// document's own member of the same name.
    pub meta: Map<String, Value>,
    /// Report text that a reader does not see. Off by default, because every character has to be
    /// examined.
    pub tells_unseen: bool,
    /// Documents keep their line of the input.
    pub keeps_records: bool,
    /// Documents keep the place of the source line or row, `path:number`, instead of the line.
    pub keeps_places: bool,
    /// Require the form of documents that clients send: a line without an id, or with an unknown
    /// field, is refused. Otherwise a line without an id gets its place as id.
    pub requires_id: bool,
    /// Accept a record that has only an id and a meta object. Instead of being refused for the
    /// missing text, the record changes the meta object of the stored document
    /// ([`InFile::is_meta_only`]).
    pub takes_meta_changes: bool,
    /// What to do with a record that has only an id and a meta object, where it is refused, as a
    /// clause at the end of the message.
    pub meta_change_advice: Option<&'static str>,
    /// Only the text of a record matters. If an index could not hold the id or the meta object, the
    /// document gets its place as id, and an empty meta object.
    pub needs_text_only: bool,
    /// Accept any text as id, because the id is only a label for people and is not stored. Queries
    /// are read so.
    pub takes_any_id: bool,
    /// The part of a web page that is read. [`Html::Source`] also reads other markup unchanged.
    pub html: Html,
    /// The extraction of text from office documents, e-books and PDF. `None` skips such files.
    pub extraction: Option<Extraction>,
    /// User-defined commands, which take precedence over the built-in readers.
    pub readers: Readers,
    /// The reader of Parquet and Arrow files. `None` refuses such files.
    pub tables: Option<Tables>,
    /// Set when the documents are no longer needed. Processes that extract text are then killed.
    pub stop: Stop,
}

/// The name of no field: places become the ids of documents, or no meta is kept.
pub const NO_FIELD: &str = "NONE";

/// The field of the id that records usually have, and may lack.
const USUAL_ID_FIELD: &str = "id";

impl SourceOptions {
    /// Checks that the field of the id, and each of several fields of the text, was in some of the
    /// records that were read, as far as [`field_use`](Self::field_use) learned.
    ///
    /// # Errors
    /// When no record had a field that these options name. It is probably misspelled.
    pub fn check_fields(&self) -> Result<()> {
        match self.missing_field() {
            Some((option, what)) => {
                let what = format!("{what}; repeat the command with the right name");
                Err(Error::argument(option, what))
            }
            None => Ok(()),
        }
    }

    /// Like [`check_fields`](Self::check_fields), for a run that would now add its documents, and
    /// has added `added` documents already, which stay.
    ///
    /// # Errors
    /// When no record had a field that these options name.
    pub fn check_fields_to_add(&self, added: u64) -> Result<()> {
        let Some((option, what)) = self.missing_field() else { return Ok(()) };
        let what = match added {
            0 => format!("{what}; nothing was added, so repeat the command with the right name"),
            _ => format!(
                "{what}; {added} of the documents were added before cento had read all records: \
                 remove them, then repeat the command with the right name"
            ),
        };
        Err(Error::argument(option, what))
    }

    fn missing_field(&self) -> Option<(&'static str, String)> {
        self.field_use.as_ref()?.missing_of(self)
    }

    /// Returns the encoding that the user chose.
    pub(crate) fn label(&self) -> charset::EncodingLabel<'_> {
        charset::EncodingLabel::of(self.encoding.as_deref(), None)
    }
}

impl Default for SourceOptions {
    fn default() -> SourceOptions {
        SourceOptions {
            id_field: USUAL_ID_FIELD.into(),
            text_field: "text".into(),
            meta_fields: MetaFields::All,
            field_use: None,
            read_meter: None,
            encoding: None,
            record_bytes_max: 64 << 20,
            window_bytes_max: compressed::WINDOW_BYTES_MAX,
            read_hidden: false,
            obeys_ignore_files: false,
            follow_links: false,
            filter: PathFilter::default(),
            grouping: None,
            meta: Map::new(),
            tells_unseen: false,
            keeps_records: false,
            keeps_places: false,
            requires_id: false,
            takes_meta_changes: false,
            meta_change_advice: None,
            needs_text_only: false,
            takes_any_id: false,
            html: Html::default(),
            extraction: None,
            readers: Readers::default(),
            tables: None,
            stop: Stop::default(),
        }
    }
}

/// Returns the text of one file, or of standard input if the path is `-`, as the text of a
/// document. The text of a record counts if the file has only one, unless [`Html::Source`] asks for
/// the file as it is. Unreadable parts are reported to `missing`.
///
/// # Errors
/// When the file cannot be read, is not text, is an archive, has several records, or exceeds the
/// maximum size of a record.
pub fn read_text(
    path: &Path,
    options: &SourceOptions,
    missing: &mut dyn FnMut(&Error),
) -> Result<String> {
    Ok(read_text_in_file(path, options, missing)?.0)
}

/// Like [`read_text`], but also returns the data of the file beside its text.
///
/// # Errors
/// The errors of [`read_text`].
pub fn read_text_in_file(
    path: &Path,
    options: &SourceOptions,
    missing: &mut dyn FnMut(&Error),
) -> Result<(String, InFile)> {
    let (ExtractedText { text, hidden, .. }, origins) = read_extracted(path, options, missing)?;
    let hidden_characters = hidden as u64;
    Ok((text, InFile { origins, hidden_characters, ..InFile::default() }))
}

fn read_extracted(
    path: &Path,
    options: &SourceOptions,
    missing: &mut dyn FnMut(&Error),
) -> Result<(ExtractedText, Option<Origins>)> {
    let (mut whole, mut records) = (None, Vec::new());
    let included = walk::read_one(path, options, &mut |read| {
        match read {
            Ok(chunk) if chunk.kind.is_whole_file() => whole = Some(chunk),
            // A second record is proof enough that the file is a list.
            Ok(chunk) => records.extend(chunk.documents(options).take(2)),
            Err(ReadError::LeftOut { place, why, feature }) => {
                records.push(Err(Error::input(place, left_out(why, feature))));
            }
            Err(ReadError::Refused(error) | ReadError::Unread(error)) => records.push(Err(error)),
        }
        match whole.is_some() || records.len() > 1 {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    if let Some(chunk) = whole {
        let (mut extracted, origins) = chunk.text(options)?;
        if let Some(gap) = extracted.missing.take() {
            missing(&unread(&chunk.path, gap));
        }
        for (place, _) in included {
            let what = format!("{} includes it, and only that file is read", chunk.path);
            missing(&Error::input(place, what));
        }
        return Ok((extracted, origins));
    }
    let mut records = records.into_iter();
    match (records.next().transpose()?, records.next().transpose()?) {
        (Some((Document { text, .. }, _)), None) => {
            Ok((ExtractedText { text, ..ExtractedText::default() }, None))
        }
        (None, _) => Err(Error::input(path.display().to_string(), EMPTY)),
        (Some(_), Some(_)) => Err(Error::input(path.display().to_string(), SEVERAL_TEXTS)),
    }
}

/// Returns the document in a JSON object.
///
/// # Errors
/// When the object is not a document. The error has `document` as its place.
pub fn parse_record(json: &[u8], options: &SourceOptions) -> Result<Document> {
    let document = jsonl::parse(json, false, options, || "document".into())
        .map_err(|what| advised(json, options, what))
        .and_then(|document| checked(document, options));
    document.map_err(|what| Error::input("document", what))
}

/// Returns the documents of JSON lines with their line numbers, starting at `first_line`.
///
/// # Errors
/// A record that is not a document gives an error with its place. The iterator continues with the
/// next record.
pub fn records<'a>(
    lines: &'a [u8],
    first_line: u64,
    options: &'a SourceOptions,
    place: impl Fn(u64) -> String + 'a,
) -> impl Iterator<Item = (u64, Result<Document>)> + 'a {
    let all = records_in_file(lines, first_line, false, options, place);
    all.map(|(number, read)| (number, read.map(|(document, _)| document)))
}

/// Like [`records`], but also returns the data beside each text. `are_rows` says that the
/// lines are rows of a table.
pub(crate) fn records_in_file<'a>(
    lines: &'a [u8],
    first_line: u64,
    are_rows: bool,
    options: &'a SourceOptions,
    place: impl Fn(u64) -> String + 'a,
) -> impl Iterator<Item = (u64, Result<(Document, InFile)>)> + 'a {
    let ends = memchr::memchr_iter(b'\n', lines).chain([lines.len()]);
    let mut start = 0;
    (first_line..).zip(ends).filter_map(move |(number, end)| {
        let line = &lines[start..end];
        start = end + 1;
        if line.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        let read = read_record(line, are_rows, options, || place(number));
        Some((number, read.map_err(|what| Error::input(place(number), what))))
    })
}

fn read_record(
    line: &[u8],
    is_row: bool,
    options: &SourceOptions,
    place: impl Fn() -> String,
) -> std::result::Result<(Document, InFile), Refusal> {
    if line.len() > options.record_bytes_max {
        return Err(too_long(options.record_bytes_max));
    }
    let mut in_file = InFile::default();
    let document = match jsonl::parse(line, is_row, options, &place) {
        Ok(document) => document,
        Err(what) => {
            let change = meta_change(line, options, &what).filter(|_| options.takes_meta_changes);
            let change = change.ok_or_else(|| advised(line, options, what))?;
            in_file.is_meta_only = true;
            // The id may prove unknown only after the record is gone.
            Document { record: Some(place().into()), ..change }
        }
    };
    Ok((checked(document, options)?, in_file))
}

/// Returns the id and the meta object of a record that was refused, if it has nothing else.
fn meta_change(line: &[u8], options: &SourceOptions, refusal: &Refusal) -> Option<Document> {
    let lacks_text = refusal.reason == Some(Reason::MissingField { field: "text" });
    lacks_text.then(|| jsonl::meta_change(line, options)).flatten()
}

/// Adds the advice of the options to the refusal of a record with only an id and a meta object.
fn advised(line: &[u8], options: &SourceOptions, refusal: Refusal) -> Refusal {
    match options.meta_change_advice {
        Some(advice) if meta_change(line, options, &refusal).is_some() => {
            Refusal { what: format!("{}; {advice}", refusal.what), ..refusal }
        }
        _ => refusal,
    }
}

/// Refuses paths that do not exist, before any input is read. `-` is standard input.
///
/// # Errors
/// For the first missing path.
pub fn check_there<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Result<()> {
    for path in paths.into_iter().filter(|path| path.as_os_str() != "-") {
        path.symlink_metadata().map_err(|e| {
            let what = match e.kind() {
                io::ErrorKind::NotFound => NOT_THERE.to_owned(),
                _ => format!("{e}; nothing was read"),
            };
            Error::input(path.display().to_string(), Refusal::new(Reason::Io, what))
        })?;
    }
    Ok(())
}

/// Returns the refusal of a file that was skipped for this reason.
#[must_use]
pub fn left_out(why: &str, feature: Option<&'static str>) -> Refusal {
    match feature {
        Some(feature) => Refusal::new(Reason::Unsupported { feature }, why),
        None => why.into(),
    }
}

/// The reason why no input is read if one of the paths does not exist.
pub const NOT_THERE: &str = "it does not exist; nothing was read";

/// Why a list of records is not read as one text.
pub const SEVERAL_TEXTS: &str = "it is a list of records; each of them is a text";

/// The reason for skipping an empty file.
pub const EMPTY: &str = "it is empty";

/// Returns the names of the documents of `inputs`: the path of a file, the id of a JSON line, `-`
/// for standard input, which is not read. Unreadable input has no name here, because reading the
/// documents reports the problem.
pub fn document_names<'a>(
    inputs: &'a [PathBuf],
    options: &'a SourceOptions,
) -> impl Iterator<Item = String> + 'a {
    let of_chunk = |chunk: Chunk| -> Vec<String> {
        match chunk.kind.is_whole_file() {
            true => vec![chunk.path.to_string()],
            false => chunk.documents(options).flatten().map(|(document, _)| document.id).collect(),
        }
    };
    let of_input = move |input: &'a PathBuf| {
        let is_stdin = input == Path::new("-");
        let files = (!is_stdin).then(|| read(std::slice::from_ref(input), options));
        let read = files.into_iter().flatten().flatten().flat_map(of_chunk);
        is_stdin.then(|| "-".to_owned()).into_iter().chain(read)
    };
    inputs.iter().flat_map(of_input)
}

/// Returns a document if an index can hold it. The id is not checked if the options accept any id.
/// The error is a clause.
fn checked(
    mut document: Document,
    options: &SourceOptions,
) -> std::result::Result<Document, Refusal> {
    let id = options.takes_any_id.then(|| std::mem::replace(&mut document.id, "-".into()));
    if let Some(what) = document.problem() {
        return Err(what.into());
    }
    document.id = id.unwrap_or(document.id);
    Ok(document)
}

/// The name of this package in messages about its features.
const PACKAGE: &str = "cento-source";

/// The kind of a stream is recognized from this many bytes.
const PEEK_BYTES: usize = 8 << 10;

/// Returns the error for a whole file that is not read. Unlike a refused record, such a file may
/// hide any number of documents.
fn unread(place: &str, why: impl Into<Refusal>) -> Error {
    Error::io("read", place, io::Error::from(why.into()))
}

/// The action of errors about an incomplete file or archive, whose remaining parts are read.
const READ_ALL_OF: &str = "read all of";

/// Returns the error for a file that could be read at the beginning, but not to the end.
fn partly_read(place: &str, why: impl Into<Refusal>) -> Error {
    Error::io(READ_ALL_OF, place, io::Error::from(why.into()))
}

/// Returns whether an error reports an incomplete file or archive, whose remaining parts are read.
#[must_use]
pub fn lacks_part(error: &Error) -> bool {
    matches!(error, Error::Io { action: READ_ALL_OF, .. })
}

/// The reason why a file is not read that made a library panic.
const DEFECT: &str = "reading it triggers a defect in cento; please report it";

/// Returns the refusal of a record or file longer than `bytes_max`.
#[must_use]
pub fn too_long(bytes_max: usize) -> Refusal {
    let what = format!("longer than {bytes_max} bytes, the limit for a record");
    Refusal::new(Reason::RecordTooLong, what)
}
