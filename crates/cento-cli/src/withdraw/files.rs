//! Files that a document is withdrawn from: JSON lines and Parquet.
//!
//! All are read, and written anew beside the old ones, before the first is replaced: a file that
//! cannot be read leaves all others as they were.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use flate2::read::MultiGzDecoder;
use serde_json::value::RawValue;
use tempfile::NamedTempFile;

use crate::advice::advised;
use crate::extract::tables;
use crate::failpoint::Failpoint;
use crate::outfile::{Compression, OutFile};
use cento::runtime::replace;
use cento::{Error, Part, Refusal, Result, Stop};
use cento_collections::withdraw::{
    CutDocument, Fate, LeftText, Plan, RemovedDocument, WithdrawnFile,
};
use cento_source::{ReadError, Selection, SourceOptions, Tables, documents, is_parquet};

/// The files of a withdrawal.
pub struct Files {
    files: Vec<(PathBuf, Form)>,
    id_field: String,
    text_field: String,
    tables: Option<Tables>,
}

/// The form of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Lines(Compression),
    Parquet,
}

/// Files that have been read, with the contents that take their places.
pub struct ReadFiles(Vec<ReadFile>);

struct ReadFile {
    path: PathBuf,
    found: WithdrawnFile,
    /// The state of the file when it was read.
    state: State,
    /// The file that takes its place, if anything changes.
    new: Option<NamedTempFile>,
}

/// The length and the time of change of a file.
type State = (u64, Option<SystemTime>);

/// The maximum length of a line: that of other readers.
const LINE_BYTES_MAX: u64 = 64 << 20;

impl Files {
    /// Opens the files, without reading them.
    ///
    /// # Errors
    /// When one is not there, or has a form by its first bytes that is not written.
    pub fn open(paths: &[PathBuf], id_field: &str, text_field: &str) -> Result<Files> {
        let tables = tables();
        let mut files = Vec::new();
        for path in paths {
            let form = form_of(path)?;
            if form == Form::Parquet && tables.is_none() {
                let refusal = Refusal::unsupported("a Parquet file", "parquet", "cento-cli");
                return Err(Error::input(path.display().to_string(), refusal));
            }
            files.push((path.clone(), form));
        }
        let (id_field, text_field) = (id_field.to_owned(), text_field.to_owned());
        Ok(Files { files, id_field, text_field, tables })
    }

    /// Finds the records that the plan removes and cuts in each file and, if `writes`, writes a new
    /// file beside each file that has such records. No file is changed.
    ///
    /// # Errors
    /// When a file cannot be read, or not be written anew.
    pub fn read(&self, plan: &Plan, writes: bool, stop: &Stop) -> Result<ReadFiles> {
        let mut all = Vec::new();
        for (path, form) in &self.files {
            let state = state_of(path)?;
            let mut found = Findings::new(plan, path, stop);
            let new = match form {
                Form::Lines(compression) => self.lines(path, *compression, &mut found)?,
                Form::Parquet => self.rows(path, &mut found, writes)?,
            };
            let (path, found) = (path.clone(), found.file);
            all.push(ReadFile { path, found, state, new: new.filter(|_| writes) });
        }
        Ok(ReadFiles(all))
    }

    fn lines(
        &self,
        path: &Path,
        compression: Compression,
        found: &mut Findings<'_>,
    ) -> Result<Option<NamedTempFile>> {
        let read = |e| Error::io("read", path, e);
        let write = |e| Error::io("write", path, e);
        let mut reader = reader(File::open(path).map_err(read)?, compression).map_err(read)?;
        let new = beside(path)?;
        let out = new.as_file().try_clone().map_err(write)?;
        let mut out = OutFile::compressed(out, path, compression)?;
        let mut line = Vec::new();
        for number in 1u64.. {
            line.clear();
            let limit = LINE_BYTES_MAX + 1;
            let bytes = reader.by_ref().take(limit).read_until(b'\n', &mut line).map_err(read)?;
            if bytes == 0 {
                break;
            }
            if bytes as u64 == limit {
                let place = format!("{}:{number}", path.display());
                return Err(Error::input(place, "the line is longer than 64 MiB"));
            }
            if let Some(line) = self.record(&line, number, found)? {
                out.write_all(&line).map_err(write)?;
            }
        }
        out.finish().map_err(write)?;
        if found.file.documents == 0 && found.file.no_documents > 0 {
            let what = format!(
                "no line of it is a JSON object with a text in the field `{}`, or with parts; name \
                 the field with --text-field, or another file",
                self.text_field
            );
            return Err(Error::input(path.display().to_string(), what));
        }
        Ok(found.is_any().then_some(new))
    }

    /// Returns a line with its end, as it is or without the passages; nothing if it is removed.
    fn record<'a>(
        &self,
        line: &'a [u8],
        number: u64,
        found: &mut Findings<'_>,
    ) -> Result<Option<Cow<'a, [u8]>>> {
        // In the encoding of the line, as `add` reads it.
        let whole = cento_source::record_text(line);
        // A byte order mark before the first line.
        let (mark, record) = match whole.strip_prefix('\u{feff}') {
            Some(record) => ("\u{feff}", record),
            None => ("", &*whole),
        };
        let is_first = found.file.documents + found.file.no_documents == 0;
        let list = record.trim_start().strip_prefix('[').filter(|_| is_first);
        if list.is_some_and(|list| matches!(list.trim_start().bytes().next(), None | Some(b'{'))) {
            let what = "it is a JSON list; write it as JSON lines, a record on each";
            return Err(Error::input(found.file.file.clone(), what));
        }
        let Some((text, parts)) = cento_source::text_of(record, &self.text_field) else {
            found.check_without_text(record, number, &self.text_field)?;
            found.file.no_documents += u64::from(!record.trim().is_empty());
            return Ok(Some(line.into()));
        };
        let id = cento_source::id_in(record, &self.id_field);
        let id = id.unwrap_or_else(|| found.place(number));
        Ok(match found.decide(&id, (&text, &parts))? {
            Changed::Cut(text, parts) => {
                let end = &record[record.trim_end_matches(['\n', '\r']).len()..];
                let changed = cento_source::with_text(record, &self.text_field, &text, &parts);
                let changed = changed.ok_or_else(|| {
                    Error::internal(found.place(number), "its text was read and is not there")
                })?;
                let changed = format!("{mark}{}{end}", changed.trim_end_matches(['\n', '\r']));
                let is_utf8 = matches!(whole, Cow::Borrowed(_));
                Some(if is_utf8 { changed } else { in_ascii(&changed) }.into_bytes().into())
            }
            Changed::No => Some(line.into()),
            Changed::Removed => None,
        })
    }

    fn rows(
        &self,
        path: &Path,
        found: &mut Findings<'_>,
        writes: bool,
    ) -> Result<Option<NamedTempFile>> {
        let source = SourceOptions {
            id_field: self.id_field.clone(),
            text_field: self.text_field.clone(),
            keeps_places: true,
            needs_text_only: true,
            tables: self.tables.clone(),
            stop: found.stop.clone(),
            ..SourceOptions::default()
        };
        let failed = |e| Error::io("write", path, e);
        let selection = beside(path)?;
        let mut lines = BufWriter::new(selection.as_file());
        let mut rows = 0u64;
        // A row that is no document is copied.
        let mut select = |place: &str, selection: Selection<'_>| -> Result<()> {
            let row = place.rsplit_once(':').and_then(|(_, row)| row.parse::<u64>().ok());
            let row = row.ok_or_else(|| Error::internal(place, "it is no place of a row"))?;
            for _ in rows + 1..row {
                lines.write_all(Selection::Kept.to_line().as_bytes()).map_err(failed)?;
            }
            rows = row;
            lines.write_all(selection.to_line().as_bytes()).map_err(failed)
        };
        for document in documents(&[path.to_owned()], &source) {
            match document {
                Ok((document, _)) => {
                    let place = document.record.as_deref().unwrap_or_default();
                    match found.decide(&document.id, (&document.text, &[]))? {
                        Changed::No => select(place, Selection::Kept)?,
                        Changed::Removed => select(place, Selection::Dropped)?,
                        Changed::Cut(text, _) => select(place, Selection::Text(&text))?,
                    }
                }
                Err(ReadError::Refused(Error::Input { place, what, reason })) => {
                    let is_row = place.rsplit_once(':').is_some_and(|(_, row)| {
                        !row.is_empty() && row.bytes().all(|byte| byte.is_ascii_digit())
                    });
                    if !is_row {
                        return Err(Error::Input { place, what, reason });
                    }
                    found.file.no_documents += 1;
                    select(&place, Selection::Kept)?;
                }
                Err(ReadError::Refused(error) | ReadError::Unread(error)) => return Err(error),
                Err(ReadError::LeftOut { place, why, .. }) => {
                    return Err(Error::input(place, advised(why)));
                }
            }
        }
        lines.flush().map_err(failed)?;
        drop(lines);
        if !writes || !found.is_any() {
            return Ok(None);
        }
        let new = beside(path)?;
        let out = new.as_file().try_clone().map_err(failed)?;
        let tables = self.tables.as_ref().expect("it was there when the files were opened");
        tables.copy(path, out, selection.path(), &self.text_field, None)?.finish()?;
        Ok(Some(new))
    }
}

impl ReadFiles {
    /// Returns the findings of the files.
    pub fn findings(&self) -> Vec<WithdrawnFile> {
        self.0.iter().map(|file| file.found.clone()).collect()
    }

    /// Replaces the files that have anything to remove or cut; adds each to `done`.
    ///
    /// # Errors
    /// When a file cannot be replaced, or has changed since it was read; those before it have been.
    pub fn replace(self, done: &mut Vec<WithdrawnFile>) -> Result<()> {
        let mut reached = Failpoint::at("file");
        for ReadFile { path, found, state, new } in self.0 {
            if let Some(new) = new {
                if state_of(&path)? != state {
                    let what = "it has changed since it was read; run the command again";
                    return Err(Error::input(path.display().to_string(), what));
                }
                replaced(new, &path)?;
            }
            done.push(found);
            reached.reached();
        }
        Ok(())
    }
}

/// Returns the length of a file and the time of its last change.
fn state_of(path: &Path) -> Result<State> {
    let found = std::fs::metadata(path).map_err(|e| Error::io("read", path, e))?;
    Ok((found.len(), found.modified().ok()))
}

/// What becomes of a record.
enum Changed {
    No,
    Removed,
    /// It has this text, and these parts of it.
    Cut(String, Vec<Part>),
}

/// The findings in a file.
struct Findings<'a> {
    plan: &'a Plan,
    stop: &'a Stop,
    file: WithdrawnFile,
}

impl Findings<'_> {
    fn new<'a>(plan: &'a Plan, path: &Path, stop: &'a Stop) -> Findings<'a> {
        let file = WithdrawnFile {
            file: path.display().to_string(),
            documents: 0,
            no_documents: 0,
            removed: Vec::new(),
            cut: Vec::new(),
            left: LeftText::default(),
        };
        Findings { plan, stop, file }
    }

    fn place(&self, number: u64) -> String {
        format!("{}:{number}", self.file.file)
    }

    fn is_any(&self) -> bool {
        !self.file.removed.is_empty() || !self.file.cut.is_empty()
    }

    /// Refuses the file if a record without a text has words of the withdrawn document: it is
    /// damaged, or has its text in another field.
    fn check_without_text(&self, record: &str, number: u64, text_field: &str) -> Result<()> {
        let words = unescaped(record);
        let fate = self.plan.decide("", (&words, &[]), &mut LeftText::default(), self.stop)?;
        if matches!(fate, Fate::Kept) {
            return Ok(());
        }
        let twice = |field: &&str| cento_source::has_twice(record.trim(), field);
        let twice = [text_field, "parts"].into_iter().find(twice);
        let problem = match serde_json::from_str::<&RawValue>(record.trim()) {
            Ok(_) => match twice {
                Some(name) => format!("two fields are called `{name}`; leave one of them"),
                None => format!(
                    "it has no text in the field `{text_field}`; name the field with --text-field, \
                     or take the record out"
                ),
            },
            Err(error) => {
                let what = cento_api::json::problem(&error);
                format!("it is not JSON: {what}, at column {}; mend it", error.column())
            }
        };
        let what = format!(
            "the record has passages of the withdrawn document that cannot be cut: {problem}, and \
             run the command again; no file was changed"
        );
        Err(Error::input(self.place(number), what))
    }

    /// Decides about a document.
    fn decide(&mut self, id: &str, (text, parts): (&str, &[Part])) -> Result<Changed> {
        self.stop.check()?;
        self.file.documents += 1;
        let fate = self.plan.decide(id, (text, parts), &mut self.file.left, self.stop)?;
        let (id, digest) = (id.to_owned(), self.plan.digest_of(text)?);
        Ok(match fate {
            Fate::Removed { reason, resemblance, quoted } => {
                let removed = RemovedDocument {
                    id,
                    digest,
                    reason,
                    resemblance,
                    quoted,
                    added_earlier: false,
                };
                self.file.removed.push(removed);
                Changed::Removed
            }
            Fate::Cut { passages, tokens, cut_tokens, text, parts } => {
                let left = self.plan.digest_of(&text)?;
                let cut = CutDocument { id, digest, left, tokens, cut_tokens, passages };
                self.file.cut.push(cut);
                Changed::Cut(text, parts)
            }
            _ => Changed::No,
        })
    }
}

/// Returns a record of JSON, perhaps a damaged one, with the characters that its escapes mean.
fn unescaped(record: &str) -> String {
    let mut words = String::with_capacity(record.len());
    let mut rest = record;
    while let Some(at) = rest.find('\\') {
        words.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        // Halves of pairs are read together: a string of JSON has both.
        let len = match rest.as_bytes() {
            [b'u', ..] if rest.get(5..7) == Some("\\u") => 11,
            [b'u', ..] => 5,
            _ => rest.chars().next().map_or(0, char::len_utf8),
        };
        let escape = [len, 5].into_iter().find_map(|len| {
            let json = format!("\"\\{}\"", rest.get(..len)?);
            Some((len, serde_json::from_str::<String>(&json).ok()?))
        });
        let (len, character) = escape.unwrap_or((0, " ".to_owned()));
        words.push_str(&character);
        rest = &rest[len..];
    }
    words + rest
}

/// Writes the characters of a record of JSON that are not ASCII as escapes, which mean the same in
/// the encodings of all lines of a file.
fn in_ascii(record: &str) -> String {
    let mut written = String::with_capacity(record.len());
    for character in record.chars() {
        match character.is_ascii() {
            true => written.push(character),
            false => {
                let units = character.encode_utf16(&mut [0; 2]).to_vec();
                units.iter().for_each(|unit| written += &format!("\\u{unit:04x}"));
            }
        }
    }
    written
}

/// Returns the form of a file, by its first bytes.
fn form_of(path: &Path) -> Result<Form> {
    let failed = |e| Error::io("read", path, e);
    if is_parquet(path)? {
        return Ok(Form::Parquet);
    }
    let mut first = Vec::new();
    File::open(path).and_then(|file| file.take(6).read_to_end(&mut first)).map_err(failed)?;
    let unwritten = match first[..] {
        [0xfd, b'7', b'z', b'X', b'Z', 0] => Some("xz"),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some("bzip2"),
        _ => None,
    };
    if let Some(name) = unwritten {
        let what = format!(
            "it is compressed with {name}, which is read and not written; decompress it, or \
             compress it with gzip or zstd"
        );
        return Err(Error::input(path.display().to_string(), what));
    }
    Ok(Form::Lines(match first[..] {
        [0x1f, 0x8b, ..] => Compression::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Compression::Zstd,
        _ => Compression::None,
    }))
}

/// Creates the file that takes the place of one.
fn beside(path: &Path) -> Result<NamedTempFile> {
    replace::beside(path).map_err(|e| Error::io("create a file beside", path, e))
}

/// Puts a new file, with the permissions of the old one, in its place, durably.
fn replaced(new: NamedTempFile, path: &Path) -> Result<()> {
    let failed = |e| Error::io("replace", path, e);
    let permissions = std::fs::metadata(path).map_err(failed)?.permissions();
    new.as_file().set_permissions(permissions).map_err(failed)?;
    new.as_file().sync_all().map_err(failed)?;
    // A link stays one.
    let real = path.canonicalize().map_err(failed)?;
    new.persist(&real).map_err(|e| failed(e.error))?;
    replace::sync_name(&real).map_err(failed)
}

/// Reads a file of this compression.
fn reader(file: File, compression: Compression) -> io::Result<Box<dyn BufRead>> {
    Ok(match compression {
        Compression::None => Box::new(BufReader::new(file)),
        Compression::Gzip => Box::new(BufReader::new(MultiGzDecoder::new(BufReader::new(file)))),
        Compression::Zstd => Box::new(BufReader::new(zstd::Decoder::new(file)?)),
    })
}
