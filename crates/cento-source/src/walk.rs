//! Opens the files that inputs name, and passes on their contents.

mod archives;
mod includes;
mod mails;
mod projects;

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::READ_ALL_OF;
use super::archive::{self, Entry};
use super::bytes::Source;
use super::compressed::{Compression, Resumption, Unpacking, peek};
use super::directory::{files_below, place_of};
use super::filter::{HIDDEN, LIST, NO_DOCUMENTS, NO_FILES, NO_FILES_LEFT, NO_TEXT_FIELD};
use super::format::{Columnar, Markup, TextOf};
use super::html::Html;
use super::jsonl::{Lines, read_lines};
use super::read_error::{Emit, ReadChunk, ReadError};
use super::records::read_records;
use super::sniff::{self, Form};
use super::table::{Fault, read_table};
use super::transcode::utf8;
use super::{Chunk, ChunkKind, DEFECT, EMPTY, PEEK_BYTES, SourceOptions};
use super::{PACKAGE, too_long, unread};
use cento::hash::Digest;
use cento::index::IdSource;
use cento::{Error, Refusal};
use includes::Includes;
use projects::Projects;

/// The maximum number of bytes allocated for a file in advance.
const ROOM_BYTES_MAX: usize = 64 << 20;

/// The name of standard input, as a path and in places.
const STDIN: &str = "-";

/// Reads all `inputs` like [`crate::read`], until `emit` breaks off.
pub fn read(inputs: &[PathBuf], options: &SourceOptions, emit: Emit<'_>) {
    read_each(inputs, options, emit, &mut || ControlFlow::Continue(()));
}

/// Like [`read`], but calls `ended` after each input, because the next input may be slow.
pub fn read_each(
    inputs: &[PathBuf],
    options: &SourceOptions,
    emit: Emit<'_>,
    ended: &mut dyn FnMut() -> ControlFlow<()>,
) {
    read_with(WalkReader::new(options, emit, false), inputs, ended);
}

fn read_with(
    mut reader: WalkReader<'_>,
    inputs: &[impl AsRef<Path>],
    ended: &mut dyn FnMut() -> ControlFlow<()>,
) {
    reader.projects = Projects::of(inputs);
    for input in inputs.iter().map(AsRef::as_ref) {
        let flow = if input == Path::new(STDIN) {
            reader.stdin()
        } else if input.is_dir() {
            reader.directory(input)
        } else if let Some(why) = reader.options.filter.why_not_named(input) {
            reader.skip(&place_of(input), why)
        } else {
            reader.file(input)
        };
        if flow.is_break() || ended().is_break() {
            return;
        }
    }
    for (place, why) in reader.includes.missing() {
        if reader.skip(&place, why).is_break() {
            return;
        }
    }
}

/// Reads the names of the files of an input as [`read`] does: chunks without bytes.
pub fn names(input: &Path, options: &SourceOptions, emit: Emit<'_>) {
    let reader = WalkReader { names_alone: true, ..WalkReader::new(options, emit, false) };
    read_with(reader, std::slice::from_ref(&input), &mut || ControlFlow::Continue(()));
}

/// Reads a file with this name from memory, like [`read`].
pub fn read_bytes(name: &str, bytes: Vec<u8>, options: &SourceOptions, emit: Emit<'_>) {
    let mut reader = WalkReader::new(options, emit, false);
    reader.set_len(bytes.len() as u64);
    // Needs no check, because the emitted items already report the end.
    let _ = reader.stream(&name.into(), Source::Bytes(io::Cursor::new(bytes)));
}

/// Reads a file that is to have a single text. Directories and archives are refused. JSON without
/// records is a text, and so is the source of records with [`Html::Source`]. Returns the names of
/// included files without reading the files.
pub fn read_one(
    path: &Path,
    options: &SourceOptions,
    emit: Emit<'_>,
) -> Vec<(String, &'static str)> {
    let mut reader = WalkReader::new(options, emit, true);
    // Needs no check, because the emitted items already report the end.
    let _ = match path == Path::new(STDIN) {
        true => reader.stdin(),
        false => reader.file(path),
    };
    reader.includes.missing()
}

/// An open file, decompressed, with its first bytes.
struct OpenedFile<'a> {
    start: Vec<u8>,
    source: Source<'a>,
    /// The compression that was removed last.
    compression: Compression,
    /// Resumes the stream after a damaged member.
    resumption: Option<Resumption>,
}

impl<'a> OpenedFile<'a> {
    /// Decompresses one of several nested compressions.
    fn unpacked(self, next: Compression, window_bytes_max: usize) -> io::Result<OpenedFile<'a>> {
        let (stream, resumption) = next.open_resumable(self.source, window_bytes_max);
        let (start, stream) = peek(stream, PEEK_BYTES)?;
        let source = Source::Stream(stream);
        Ok(OpenedFile { start, source, compression: next, resumption: Some(resumption) })
    }
}

/// The maximum number of nested compressions.
const COMPRESSIONS_MAX: usize = 2;

struct WalkReader<'a> {
    options: &'a SourceOptions,
    emit: Emit<'a>,
    /// The open archives, outermost first.
    within: Vec<Within>,
    /// The size of the current input, in bytes.
    len: u64,
    /// The input is to have a single text, so archives are refused.
    is_one: bool,
    /// Files are not read, but for their beginnings.
    names_alone: bool,
    /// The source of the ids of the documents read.
    id_source: IdSource,
    /// The number of chunks and errors emitted.
    emitted: u64,
    /// The number of chunks emitted.
    chunks: u64,
    includes: Includes,
    /// The current input file, unless its bytes come from a pipe or from memory.
    file: Option<PathBuf>,
    projects: Projects,
}

/// The state of an open archive.
struct Within {
    /// The limit of the bytes unpacked from the archive.
    unpacking: Unpacking,
    /// How often each name has occurred in the archive.
    names: HashMap<u64, u32>,
}

impl Within {
    fn of(len: u64) -> Within {
        Within { unpacking: Unpacking::of(len), names: HashMap::new() }
    }
}

/// The maximum nesting of archives.
const ARCHIVES_MAX: usize = 2;

impl<'a> WalkReader<'a> {
    fn new(options: &'a SourceOptions, emit: Emit<'a>, is_one: bool) -> WalkReader<'a> {
        WalkReader {
            options,
            emit,
            within: Vec::new(),
            len: 0,
            is_one,
            names_alone: false,
            id_source: IdSource::STREAM,
            emitted: 0,
            chunks: 0,
            includes: Includes::default(),
            file: None,
            projects: Projects::default(),
        }
    }

    /// Passes on a chunk, or a report about a part that is not a document.
    fn emit(&mut self, found: ReadChunk) -> ControlFlow<()> {
        self.emitted += 1;
        self.chunks += u64::from(found.is_ok());
        (self.emit)(found)
    }

    /// Records the size of the next file, or 0 if the size is unknown.
    fn set_len(&mut self, len: u64) {
        self.len = len;
    }

    fn skip(&mut self, place: &str, why: &'static str) -> ControlFlow<()> {
        self.emit(Err(ReadError::LeftOut { place: place.to_owned(), why, feature: None }))
    }

    fn fail(&mut self, error: Error) -> ControlFlow<()> {
        self.emit(Err(error.into()))
    }

    fn directory(&mut self, path: &Path) -> ControlFlow<()> {
        let before = self.emitted;
        files_below(path, self.options).try_for_each(|found| match found {
            Ok(file) => self.file(&file.path),
            Err(error) => self.emit(Err(error)),
        })?;
        let why = if self.options.obeys_ignore_files { NO_FILES_LEFT } else { NO_FILES };
        match self.emitted == before {
            true => self.skip(&place_of(path), why),
            false => ControlFlow::Continue(()),
        }
    }

    fn file(&mut self, path: &Path) -> ControlFlow<()> {
        let place = place_of(path);
        match File::open(path) {
            Ok(file) => {
                if let Some(meter) = &self.options.read_meter {
                    meter.begin(&file);
                }
                let found = file.metadata().ok();
                self.set_len(found.as_ref().map_or(0, |found| found.len()));
                self.id_source = match std::path::absolute(path) {
                    Ok(path) if found.is_some_and(|found| found.is_file()) => IdSource::file(&path),
                    // The contents of a pipe are unknown.
                    _ => IdSource::STREAM,
                };
                self.file = Some(path.to_owned());
                self.stream(&place, Source::File(file))
            }
            Err(error) => self.fail(Error::io("read", path, error)),
        }
    }

    fn stdin(&mut self) -> ControlFlow<()> {
        self.set_len(0);
        self.file = None;
        self.id_source = IdSource::STREAM;
        self.stream(&STDIN.into(), Source::Stream(Box::new(io::stdin().lock())))
    }

    /// Reads a file, whose contents, compressed or not, decide the reader.
    fn stream(&mut self, place: &Arc<str>, source: Source<'_>) -> ControlFlow<()> {
        self.named(place, place, source)
    }

    /// Reads a file like [`Self::stream`], under a different name. A defect in a library that reads
    /// such files fails only this file. A file without documents, such as a table without rows, is
    /// reported.
    fn named(&mut self, place: &Arc<str>, name: &str, source: Source<'_>) -> ControlFlow<()> {
        let open = self.within.len();
        let before = self.emitted;
        let read = Error::catch(place, || Ok(self.opened(place, name, source)));
        read.unwrap_or_else(|_| {
            self.within.truncate(open);
            self.fail(unread(place, DEFECT))
        })?;
        match self.emitted == before {
            true => self.skip(place, NO_DOCUMENTS),
            false => ControlFlow::Continue(()),
        }
    }

    /// Opens a file for [`Self::named`].
    fn opened(&mut self, place: &Arc<str>, name: &str, source: Source<'_>) -> ControlFlow<()> {
        if let Some(at) = self.options.readers.position(name) {
            return self.whole(place, source, ChunkKind::Reader(at));
        }
        let (promised, inner) = Compression::of_name(name);
        let opened = source.peek(PEEK_BYTES).and_then(|(start, source)| {
            let compression = Compression::None;
            let mut opened = OpenedFile { start, source, compression, resumption: None };
            for _ in 0..COMPRESSIONS_MAX {
                let next = Compression::of_start(&opened.start, promised);
                if next == Compression::None {
                    break;
                }
                opened = opened.unpacked(next, self.options.window_bytes_max)?;
            }
            Ok(opened)
        });
        let OpenedFile { start, source, compression, resumption } = match opened {
            Ok(opened) => opened,
            Err(error) => return self.fail(Error::io("read", &**place, error)),
        };
        if let Some(at) = self.options.readers.position(inner) {
            return self.whole(place, source, ChunkKind::Reader(at));
        }
        let (form, source) = match self.form(start.as_slice(), inner, source) {
            Ok(found) => found,
            Err(error) => return self.fail(Error::io("read", &**place, error)),
        };
        match form {
            Form::Unread(why) if compression == Compression::None && promised != compression => {
                let what =
                    format!("its name promises {} data, which it is not; {why}", promised.name());
                self.fail(unread(place, what))
            }
            Form::Unread(why) => self.skip(place, why),
            Form::Refused(why) => self.fail(unread(place, why)),
            Form::Misnamed { ending, is } => {
                self.fail(unread(place, format!("its name ends in {ending}, but {is}")))
            }
            Form::Lines | Form::Unclear | Form::Records(_) | Form::NoRecords | Form::Table(_)
                if self.reads_lists_whole() =>
            {
                self.whole(place, source, ChunkKind::File)
            }
            Form::NoRecords if self.is_one => self.whole(place, source, ChunkKind::File),
            Form::NoRecords => self.skip(place, NO_TEXT_FIELD),
            // No more bytes are examined, so unclear JSON is read as lines.
            Form::Lines | Form::Unclear => {
                let declared = self.options.encoding.as_deref();
                self.records(place, false, |max, each| {
                    Ok(read_lines(utf8(source, declared)?, max, each)?)
                })
            }
            Form::Records(nesting) => {
                let declared = self.options.encoding.as_deref();
                self.records(place, false, |max, each| {
                    Ok(read_records(utf8(source, declared)?, nesting, max, each)?)
                })
            }
            Form::Text => self.whole(place, source, ChunkKind::File),
            Form::Table(delimiter) => {
                let options = self.options.clone();
                self.records(place, true, |_, each| read_table(source, delimiter, &options, each))
            }
            Form::Document => self.document(place, &start, source),
            Form::Zip => self.zip(place, inner, &start, source),
            Form::Tar => self.tar(place, source),
            Form::Warc | Form::Arc => {
                resumption.iter().for_each(|resumption| resumption.set(true));
                self.web_archive(place, source, form == Form::Arc)
            }
            Form::Mail => self.mail(place, source),
            Form::Mailbox => self.mailbox(place, source),
            Form::Markup(markup) => {
                let is_source = markup.has_source && self.options.html == Html::Source;
                let kind = if is_source { ChunkKind::File } else { ChunkKind::Markup(markup) };
                self.whole(place, source, kind)
            }
            Form::Columns(kind) => self.columns(place, source, kind),
        }
    }

    /// Returns the form of a file with this name and beginning. Examines further bytes if needed.
    fn form<'s>(
        &self,
        start: &[u8],
        name: &str,
        source: Source<'s>,
    ) -> io::Result<(Form, Source<'s>)> {
        let is_whole = |start: &[u8], max: usize| start.len() < max;
        match sniff::form(start, is_whole(start, PEEK_BYTES), name, self.options) {
            Form::Unclear => {
                let (start, source) = source.peek(sniff::LOOKED_AT_MAX)?;
                let is_whole = is_whole(&start, sniff::LOOKED_AT_MAX);
                Ok((sniff::form(&start, is_whole, name, self.options), source))
            }
            form => Ok((form, source)),
        }
    }

    /// Returns whether a list of records is passed on as a whole file, instead of its records.
    fn reads_lists_whole(&self) -> bool {
        let is_source = self.is_one && self.options.html == Html::Source;
        is_source || self.options.grouping.is_some() || self.names_alone
    }

    /// Reads a Parquet or Arrow file.
    fn columns(&mut self, place: &Arc<str>, source: Source<'_>, kind: Columnar) -> ControlFlow<()> {
        let options = self.options;
        if options.grouping.is_some() || self.names_alone {
            return self.skip(place, LIST);
        }
        let Some(tables) = &options.tables else {
            let subject = format!("it is {}, and reading it", kind.name());
            return self.fail(unread(place, Refusal::unsupported(subject, "parquet", PACKAGE)));
        };
        self.records(place, false, |_, each| match source {
            Source::File(file) => tables.read(io::empty(), Some(file), kind, options, each),
            source => tables.read(source, None, kind, options, each),
        })
    }

    /// Reads a document of an office program, an e-book or PDF.
    fn document(&mut self, place: &Arc<str>, start: &[u8], source: Source<'_>) -> ControlFlow<()> {
        let feature = super::extract::missing_feature(start);
        if self.options.extraction.is_some() && feature.is_none() {
            return self.whole(place, source, ChunkKind::Document);
        }
        let (place, why) = (place.to_string(), sniff::unread(start));
        self.emit(Err(ReadError::LeftOut { place, why, feature }))
    }

    /// Reads an archive, whose files are documents.
    fn archive<S: Sized>(
        &mut self,
        place: &Arc<str>,
        source: S,
        go_through: impl FnOnce(S, archive::Each<'_>) -> io::Result<ControlFlow<()>>,
    ) -> ControlFlow<()> {
        if self.is_one {
            return self.skip(place, "it is an archive; each of its files is a text");
        }
        if self.within.len() == ARCHIVES_MAX {
            return self.skip(place, "it is an archive within an archive within an archive");
        }
        // An inner archive is bounded through the size of the outermost archive.
        let len = if self.within.is_empty() { self.len } else { 0 };
        self.within.push(Within::of(len));
        let before = self.chunks;
        let read = go_through(source, &mut |name, entry| self.inside(place, name, entry));
        self.within.pop();
        read.unwrap_or_else(|error| self.fail(Error::io(self.read_since(before), &**place, error)))
    }

    /// Reads an entry of an archive.
    fn inside(&mut self, archive: &str, name: &str, entry: Entry<'_>) -> ControlFlow<()> {
        let name = name.strip_prefix("./").unwrap_or(name);
        let is_hidden = |part: &str| part.starts_with('.') && part != "." && part != "..";
        if matches!(entry, Entry::EmptyDirectory) {
            let is_kept = self.options.read_hidden || !name.split('/').any(is_hidden);
            return match is_kept && self.options.grouping.is_some() {
                true => self.skip(&format!("{archive}/{name}"), NO_FILES),
                false => ControlFlow::Continue(()),
            };
        }
        let names = self.within.last_mut().map(|within| &mut within.names);
        let seen = names.map_or(1, |names| {
            let count = names.entry(Digest::of(name.as_bytes()).low).or_insert(0);
            *count += 1;
            *count
        });
        // Entries with equal names are separate documents.
        let place: Arc<str> = match seen {
            1 => format!("{archive}/{name}").into(),
            _ => format!("{archive}/{name}#{seen}").into(),
        };
        if !self.options.read_hidden && name.split('/').any(is_hidden) {
            return self.skip(&place, HIDDEN);
        }
        if !matches!(entry, Entry::Page(..) | Entry::Lost(_))
            && let Some(why) = self.options.filter.why_not(Path::new(name))
        {
            return self.skip(&place, why);
        }
        match entry {
            Entry::File(stream) => {
                let stream: Box<dyn Read + '_> = match &self.within[..] {
                    [outer, _, ..] => Box::new(outer.unpacking.unpacked(stream)),
                    _ => Box::new(stream),
                };
                self.named(&place, name, Source::Stream(stream))
            }
            Entry::Page(stream, name) => self.named(&place, name, Source::Stream(Box::new(stream))),
            Entry::LeftOut(why) => self.skip(&place, why),
            Entry::Other => self.skip(&place, "it is a link, or not a regular file"),
            Entry::Bad(why) => self.fail(unread(&place, why)),
            Entry::EmptyDirectory => ControlFlow::Continue(()),
            Entry::Lost(what) => self.fail(Error::io(READ_ALL_OF, archive, io::Error::other(what))),
        }
    }

    /// Reads a stream with many documents, which `read` cuts into lines, or makes lines of rows.
    fn records(
        &mut self,
        place: &Arc<str>,
        are_rows: bool,
        read: impl FnOnce(
            usize,
            &mut dyn FnMut(Lines) -> ControlFlow<()>,
        ) -> Result<ControlFlow<()>, Fault>,
    ) -> ControlFlow<()> {
        let (options, id_source) = (self.options, self.id_source);
        let before = self.chunks;
        let flow = read(options.record_bytes_max, &mut |lines| {
            self.emit(match lines {
                Lines::Whole { first_line, bytes } => {
                    let kind = ChunkKind::Lines { first_line, are_rows };
                    let path = place.clone();
                    Ok(Chunk { path, bytes, kind, id_source, parts: None, definitions: None })
                }
                Lines::TooLong(line) => {
                    let what = too_long(options.record_bytes_max);
                    Err(Error::input(format!("{place}:{line}"), what).into())
                }
                Lines::Bad(line, what) => Err(Error::input(format!("{place}:{line}"), what).into()),
            })
        });
        match flow {
            Ok(flow) => flow,
            Err(Fault::Input(what)) => self.fail(unread(place, what)),
            Err(Fault::Read(error)) => {
                self.fail(Error::io(self.read_since(before), &**place, error))
            }
        }
    }

    /// Returns the action of an error at the end of a file, which may have given documents before.
    fn read_since(&self, before: u64) -> &'static str {
        if self.chunks > before { READ_ALL_OF } else { "read" }
    }

    /// Reads a stream as a single document.
    fn whole(&mut self, place: &Arc<str>, source: Source<'_>, kind: ChunkKind) -> ControlFlow<()> {
        let bytes = if self.names_alone { Ok(Vec::new()) } else { self.bytes(place, source) };
        match bytes {
            Err(error) => self.fail(error),
            Ok(bytes) if !self.names_alone && bytes.iter().all(u8::is_ascii_whitespace) => {
                self.skip(place, EMPTY)
            }
            Ok(bytes) => {
                let (path, id_source) = (place.clone(), self.id_source);
                self.includes.add(place, &bytes);
                let definitions = self.definitions(kind);
                self.emit(Ok(Chunk { path, bytes, kind, id_source, parts: None, definitions }))
            }
        }
    }

    /// Returns the macros defined elsewhere in a LaTeX project. Files in archives are read only
    /// once, in their order, so archived files share no macros.
    fn definitions(&mut self, kind: ChunkKind) -> Option<Arc<str>> {
        let ChunkKind::Markup(Markup { text_of: TextOf::WithDefinitions(_), .. }) = kind else {
            return None;
        };
        let file = self.file.as_ref().filter(|_| self.within.is_empty() && !self.names_alone)?;
        self.projects.definitions(file, self.options)
    }

    /// Returns the bytes of a stream, unless they exceed the maximum size of a record. A file with
    /// a larger declared size is not read at all.
    fn bytes(&self, place: &str, source: Source<'_>) -> cento::Result<Vec<u8>> {
        let max = self.options.record_bytes_max;
        let len = source.len().unwrap_or(0);
        if len > max as u64 {
            return Err(unread(place, too_long(max)));
        }
        // A file may declare any length.
        let mut bytes = Vec::with_capacity((len as usize).min(ROOM_BYTES_MAX));
        let read = source.take((max as u64).saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|error| Error::io("read", place, error))?;
        match bytes.len() > max {
            true => Err(unread(place, too_long(self.options.record_bytes_max))),
            false => Ok(bytes),
        }
    }
}
