//! Which files are meant, and what do they hold?

use std::fs::File;
#[cfg(feature = "archives")]
use std::io::Seek;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::WalkBuilder;

#[cfg(feature = "archives")]
use super::archive::{self, Entry, ZipForm};
use super::array::read_array;
use super::bytes::Source;
use super::columnar::Kind;
#[cfg(feature = "archives")]
use super::compressed::Unpacking;
use super::compressed::{Compression, peek};
use super::html::Html;
use super::jsonl::{Lines, read_lines};
#[cfg(feature = "mail")]
use super::mail::{self, Attachment, InMailbox, Mail};
use super::sniff::{self, Form, has_ending};
use super::table::{Fault, read_table};
use super::{Chunk, ChunkKind, Item, PEEK_BYTES, SourceOptions, ignored, too_long, unread};
use cento::Error;

/// The name of standard input, as a path and in places.
const STDIN: &str = "-";

/// How a file ends whose name promises an archive, if it is a zip file at all.
const ZIP: &str = ".zip";

/// How the names of documents end that are zip files.
const ZIP_DOCUMENTS: [&str; 10] =
    [".docx", ".docm", ".dotx", ".pptx", ".pptm", ".ppsx", ".odt", ".odp", ".ott", ".epub"];

/// Reads all `inputs` in order, directories in the order of their names, until `emit` breaks off.
///
/// What a file is follows from its first bytes, then from its name: an archive, whose files are
/// documents and may be archives themselves, as are the attachments of a mail; a list of records (JSON
/// lines, a JSON array, a table); anything else is one document, with the path as its id. `-` is standard input, which holds records
/// if it begins with `{` or `[{`. All may be compressed. In directories, links are not followed, and
/// hidden files and those that a `.gitignore` or `.ignore` excludes are not seen unless the options
/// say so.
pub fn read(
    inputs: &[PathBuf],
    options: &SourceOptions,
    emit: &mut dyn FnMut(Item) -> ControlFlow<()>,
) {
    let mut reader = Reader::new(options, emit, false);
    for input in inputs {
        let flow = if input == Path::new(STDIN) {
            reader.stdin()
        } else if input.is_dir() {
            reader.directory(input)
        } else {
            reader.file(input)
        };
        if flow.is_break() {
            return;
        }
    }
}

/// Reads a file of this name that is in memory, as [`read`] does.
pub fn read_bytes(
    name: &str,
    bytes: Vec<u8>,
    options: &SourceOptions,
    emit: &mut dyn FnMut(Item) -> ControlFlow<()>,
) {
    let mut reader = Reader::new(options, emit, false);
    reader.set_len(bytes.len() as u64);
    // What has been emitted says how it ended.
    let _ = reader.stream(&name.into(), Source::Bytes(io::Cursor::new(bytes)));
}

/// Reads one file as one document: neither directories nor archives, nor records.
pub fn read_one(
    path: &Path,
    options: &SourceOptions,
    emit: &mut dyn FnMut(Item) -> ControlFlow<()>,
) {
    let mut reader = Reader::new(options, emit, true);
    // What has been emitted says how it ended.
    let _ = match path == Path::new(STDIN) {
        true => reader.stdin(),
        false => reader.file(path),
    };
}

struct Reader<'a> {
    options: &'a SourceOptions,
    emit: &'a mut dyn FnMut(Item) -> ControlFlow<()>,
    /// The archives that are open, and how much may be unpacked of each. One may be in another.
    #[cfg(feature = "archives")]
    within: Vec<Unpacking>,
    /// The bytes of the file that is being read.
    #[cfg(feature = "archives")]
    len: u64,
    /// A file is one document, even if it holds records.
    is_one: bool,
}

/// Archives within each other that are read.
#[cfg(feature = "archives")]
const ARCHIVES_MAX: usize = 2;

impl<'a> Reader<'a> {
    fn new(
        options: &'a SourceOptions,
        emit: &'a mut dyn FnMut(Item) -> ControlFlow<()>,
        is_one: bool,
    ) -> Reader<'a> {
        Reader {
            options,
            emit,
            #[cfg(feature = "archives")]
            within: Vec::new(),
            #[cfg(feature = "archives")]
            len: 0,
            is_one,
        }
    }

    /// Notes how large the file is that is read next; 0 if that is not known.
    fn set_len(&mut self, len: u64) {
        #[cfg(feature = "archives")]
        {
            self.len = len;
        }
        #[cfg(not(feature = "archives"))]
        let _ = len;
    }

    fn skip(&mut self, place: &str, why: &'static str) -> ControlFlow<()> {
        (self.emit)(Item::Skipped { place: place.to_owned(), why })
    }

    fn fail(&mut self, error: Error) -> ControlFlow<()> {
        (self.emit)(Item::Failed(error))
    }

    fn directory(&mut self, path: &Path) -> ControlFlow<()> {
        let guard = ignored::Guard::default();
        let mut builder = WalkBuilder::new(path);
        builder.standard_filters(!self.options.read_ignored).sort_by_file_path(Path::cmp);
        // A `.git` that is a file names the directory whose `info/exclude` is read: anything of somebody
        // else's choice, of which a guard knows nothing. Both are settings of one checkout, not of its files.
        builder.git_exclude(false).git_global(false);
        if !self.options.read_ignored {
            if let Err(error) = ignored::check_with_parents(path) {
                return self.fail(error);
            }
            let guard = guard.clone();
            builder.filter_entry(move |entry| guard.passes(entry));
        }
        for entry in builder.build() {
            for error in guard.refused() {
                self.fail(error)?;
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.fail(unread(&path.display().to_string(), error))?;
                    continue;
                }
            };
            let kind = entry.file_type();
            if kind.is_some_and(|kind| kind.is_file()) {
                self.file(entry.path())?;
            } else if !kind.is_some_and(|kind| kind.is_dir()) {
                let why = "it is a link, or not a regular file";
                self.skip(&entry.path().display().to_string(), why)?;
            }
        }
        guard.refused().into_iter().try_for_each(|error| self.fail(error))
    }

    fn file(&mut self, path: &Path) -> ControlFlow<()> {
        let name = path.to_string_lossy();
        let place: Arc<str> = name.strip_prefix("./").unwrap_or(&name).into();
        match File::open(path) {
            Ok(file) => {
                self.set_len(file.metadata().map_or(0, |found| found.len()));
                self.stream(&place, Source::File(file))
            }
            Err(error) => self.fail(Error::io("read", path, error)),
        }
    }

    fn stdin(&mut self) -> ControlFlow<()> {
        self.set_len(0);
        self.stream(&STDIN.into(), Source::Stream(Box::new(io::stdin().lock())))
    }

    /// A file of this name: what is in it, compressed or not, decides how it is read.
    fn stream(&mut self, place: &Arc<str>, source: Source<'_>) -> ControlFlow<()> {
        self.named(place, place, source)
    }

    /// The same of one that is read as a file of another name.
    fn named(&mut self, place: &Arc<str>, name: &str, source: Source<'_>) -> ControlFlow<()> {
        let opened = source.peek().and_then(|(start, source)| {
            let (promised, inner) = Compression::of_name(name);
            let compression = match Compression::of_magic(&start) {
                // What is not as promised is an error when it is read.
                Compression::None if !start.is_empty() => promised,
                found => found,
            };
            if compression == Compression::None {
                return Ok((start, inner, source));
            }
            let stream = compression.open(source)?;
            let (start, stream) = peek(stream, PEEK_BYTES)?;
            Ok((start, inner, Source::Stream(stream)))
        });
        let (start, inner, source) = match opened {
            Ok(opened) => opened,
            Err(error) => return self.fail(Error::io("read", &**place, error)),
        };
        let form = match &**place {
            STDIN => sniff::form_of_stdin(&start, self.options),
            _ => sniff::form(&start, inner, self.options),
        };
        match form {
            Form::Unread(why) => self.skip(place, why),
            Form::Lines | Form::Array | Form::Table(_) if self.is_one => {
                self.whole(place, source, ChunkKind::File)
            }
            Form::Text => self.whole(place, source, ChunkKind::File),
            Form::Html if self.options.html == Html::Source => {
                self.whole(place, source, ChunkKind::File)
            }
            Form::Html => self.whole(place, source, ChunkKind::Html),
            Form::Lines => self.records(place, |max, each| Ok(read_lines(source, max, each)?)),
            Form::Array => self.records(place, |max, each| Ok(read_array(source, max, each)?)),
            Form::Table(delimiter) => {
                let options = self.options.clone();
                self.records(place, |_, each| read_table(source, delimiter, &options, each))
            }
            Form::Document => self.document(place, &start, source),
            Form::Zip => self.zip(place, inner, &start, source),
            Form::Tar => self.tar(place, source),
            Form::Warc => self.warc(place, source),
            Form::Mail => self.mail(place, source),
            Form::Mailbox => self.mailbox(place, source),
            Form::Notebook => self.whole(place, source, ChunkKind::Notebook),
            Form::Markdown | Form::Tex if self.options.html == Html::Source => {
                self.whole(place, source, ChunkKind::File)
            }
            Form::Markdown => self.whole(place, source, ChunkKind::Markdown),
            Form::Tex => self.whole(place, source, ChunkKind::Tex),
            Form::Columns(kind) => self.columns(place, source, kind),
        }
    }

    /// A Parquet or Arrow file.
    fn columns(&mut self, place: &Arc<str>, source: Source<'_>, kind: Kind) -> ControlFlow<()> {
        let name = kind.name();
        if self.is_one {
            return self.fail(Error::input(&**place, format!("it is {name}, of many documents")));
        }
        let options = self.options;
        let Some(tables) = &options.tables else {
            let why = format!("it is {name}, and this build has no feature `parquet` to read it");
            return self.fail(unread(place, why));
        };
        self.records(place, |_, each| match source {
            Source::File(file) => tables.read(io::empty(), Some(file), kind, options, each),
            source => tables.read(source, None, kind, options, each),
        })
    }

    /// A document of an office program, an e-book or PDF.
    fn document(&mut self, place: &Arc<str>, start: &[u8], source: Source<'_>) -> ControlFlow<()> {
        match self.options.extraction {
            Some(_) => self.whole(place, source, ChunkKind::Document),
            None => self.skip(place, sniff::unread(start)),
        }
    }

    /// A zip file: an archive, or a document.
    #[cfg(feature = "archives")]
    fn zip(
        &mut self,
        place: &Arc<str>,
        name: &str,
        start: &[u8],
        source: Source<'_>,
    ) -> ControlFlow<()> {
        let max = self.options.record_bytes_max;
        let mut file = match source.seekable(max) {
            Ok(Some(file)) => file,
            Ok(None) => return self.fail(unread(place, too_long(self.options))),
            Err(error) => return self.fail(Error::io("read", &**place, error)),
        };
        let form = archive::form_of_zip(&mut file);
        if let Err(error) = file.rewind() {
            return self.fail(Error::io("read", &**place, error));
        }
        match form {
            Ok(ZipForm::Unread(why)) if why.contains("Java") && has_ending(name, &[ZIP]) => {
                self.archive(place, file, |file, each| archive::zip(file, each))
            }
            Ok(ZipForm::Unread(why)) => self.skip(place, why),
            Ok(ZipForm::Document) => self.document(place, start, Source::of(file)),
            // A damaged one may still be read by those who know it.
            Err(_)
                if has_ending(name, &ZIP_DOCUMENTS)
                    || (sniff::begins_as_document(start) && !has_ending(name, &[ZIP])) =>
            {
                self.document(place, start, Source::of(file))
            }
            Ok(ZipForm::Archive) | Err(_) => {
                self.archive(place, file, |file, each| archive::zip(file, each))
            }
        }
    }

    /// A zip file, which is a document if it says so at its beginning.
    #[cfg(not(feature = "archives"))]
    fn zip(
        &mut self,
        place: &Arc<str>,
        name: &str,
        start: &[u8],
        source: Source<'_>,
    ) -> ControlFlow<()> {
        match has_ending(name, &[ZIP]) {
            true => self.refuse_archive(place),
            false if has_ending(name, &ZIP_DOCUMENTS) => self.document(place, start, source),
            false => self.skip(place, sniff::unread(start)),
        }
    }

    #[cfg(feature = "archives")]
    fn tar(&mut self, place: &Arc<str>, source: Source<'_>) -> ControlFlow<()> {
        self.archive(place, source, |source, each| archive::tar(source, each))
    }

    #[cfg(feature = "archives")]
    fn warc(&mut self, place: &Arc<str>, source: Source<'_>) -> ControlFlow<()> {
        self.archive(place, source, |source, each| super::warc::pages(source, each))
    }

    #[cfg(not(feature = "archives"))]
    fn warc(&mut self, place: &Arc<str>, _: Source<'_>) -> ControlFlow<()> {
        self.refuse_archive(place)
    }

    #[cfg(not(feature = "archives"))]
    fn tar(&mut self, place: &Arc<str>, _: Source<'_>) -> ControlFlow<()> {
        self.refuse_archive(place)
    }

    /// Refuses an archive: it is no text.
    #[cfg(not(feature = "archives"))]
    fn refuse_archive(&mut self, place: &str) -> ControlFlow<()> {
        let why = "it is an archive, and this build has no feature `archives` to read it";
        self.fail(unread(place, why))
    }

    /// An archive, whose files are documents.
    #[cfg(feature = "archives")]
    fn archive<S: Sized>(
        &mut self,
        place: &Arc<str>,
        source: S,
        go_through: impl FnOnce(S, archive::Each<'_>) -> io::Result<ControlFlow<()>>,
    ) -> ControlFlow<()> {
        if self.is_one {
            return self.skip(place, "it is an archive, of which each file is a text");
        }
        if self.within.len() == ARCHIVES_MAX {
            return self.skip(place, "it is an archive within an archive within an archive");
        }
        // What archives in this one hold is bounded by its own size.
        let len = if self.within.is_empty() { self.len } else { 0 };
        self.within.push(Unpacking::of(len));
        let read = go_through(source, &mut |name, entry| self.inside(place, name, entry));
        self.within.pop();
        read.unwrap_or_else(|error| self.fail(Error::io("read", &**place, error)))
    }

    /// An entry of an archive.
    #[cfg(feature = "archives")]
    fn inside(&mut self, archive: &str, name: &str, entry: Entry<'_>) -> ControlFlow<()> {
        let name = name.strip_prefix("./").unwrap_or(name);
        let is_hidden = |part: &str| part.starts_with('.') && part != "." && part != "..";
        if name.split('/').any(is_hidden) && !self.options.read_ignored {
            return ControlFlow::Continue(());
        }
        let place: Arc<str> = format!("{archive}/{name}").into();
        match entry {
            Entry::File(stream) => {
                let stream: Box<dyn Read + '_> = match &self.within[..] {
                    [outer, _, ..] => Box::new(outer.unpacked(stream)),
                    _ => Box::new(stream),
                };
                self.stream(&place, Source::Stream(stream))
            }
            Entry::Page(stream, name) => self.named(&place, name, Source::Stream(Box::new(stream))),
            Entry::LeftOut(why) => self.skip(&place, why),
            Entry::Other => self.skip(&place, "it is a link, or not a regular file"),
            Entry::Bad(why) => self.fail(unread(&place, why)),
            Entry::Lost(what) => self.fail(unread(archive, what)),
        }
    }

    /// A stream with many documents, which `read` cuts into lines.
    fn records(
        &mut self,
        place: &Arc<str>,
        read: impl FnOnce(
            usize,
            &mut dyn FnMut(Lines) -> ControlFlow<()>,
        ) -> Result<ControlFlow<()>, Fault>,
    ) -> ControlFlow<()> {
        let Reader { options, emit, .. } = self;
        let flow = read(options.record_bytes_max, &mut |lines| {
            emit(match lines {
                Lines::Whole { first_line, bytes } => {
                    let kind = ChunkKind::Lines { first_line };
                    Item::Chunk(Chunk { path: place.clone(), bytes, kind })
                }
                Lines::TooLong(line) => {
                    Item::Failed(Error::input(format!("{place}:{line}"), too_long(options)))
                }
                Lines::Bad(line, what) => {
                    Item::Failed(Error::input(format!("{place}:{line}"), what))
                }
            })
        });
        match flow {
            Ok(flow) => flow,
            Err(Fault::Input(what)) => self.fail(unread(place, what)),
            Err(Fault::Read(error)) => self.fail(Error::io("read", &**place, error)),
        }
    }

    /// A mail, whose attachments are files in it.
    #[cfg(feature = "mail")]
    fn mail(&mut self, place: &Arc<str>, source: Source<'_>) -> ControlFlow<()> {
        match self.bytes(place, source) {
            Ok(bytes) => self.parsed(place, bytes),
            Err(error) => self.fail(error),
        }
    }

    /// A mailbox, whose mails have numbers for names.
    #[cfg(feature = "mail")]
    fn mailbox(&mut self, place: &Arc<str>, source: Source<'_>) -> ControlFlow<()> {
        if self.is_one {
            return self.skip(place, "it is a mailbox, of which each mail is a text");
        }
        let read = mail::read_mailbox(source, self.options.record_bytes_max, |found| match found {
            InMailbox::Mail(number, bytes) => {
                self.parsed(&format!("{place}/{number}").into(), bytes)
            }
            InMailbox::TooLong(number) => {
                self.fail(unread(&format!("{place}/{number}"), too_long(self.options)))
            }
        });
        read.unwrap_or_else(|error| self.fail(Error::io("read", &**place, error)))
    }

    #[cfg(feature = "mail")]
    fn parsed(&mut self, place: &Arc<str>, bytes: Vec<u8>) -> ControlFlow<()> {
        let len = bytes.len() as u64;
        let Mail { text, attachments } = match mail::parse(bytes) {
            Ok(mail) => mail,
            Err(why) => return self.fail(unread(place, why)),
        };
        if self.is_one && !attachments.is_empty() {
            return self.skip(place, "it is a mail with attachments, each of which is a text");
        }
        if !text.trim().is_empty() {
            let (bytes, kind) = (text.into_bytes(), ChunkKind::Text);
            (self.emit)(Item::Chunk(Chunk { path: place.clone(), bytes, kind }))?;
        } else if attachments.is_empty() {
            return self.skip(place, "it is empty");
        }
        let is_too_deep = self.within.len() == ARCHIVES_MAX;
        self.within.push(Unpacking::of(len));
        let flow = attachments.into_iter().try_for_each(|Attachment { name, bytes }| {
            let place: Arc<str> = format!("{place}/{name}").into();
            match bytes {
                _ if is_too_deep => {
                    self.skip(&place, "it is attached to a mail in an archive in an archive")
                }
                Ok(bytes) => self.stream(&place, Source::Bytes(io::Cursor::new(bytes))),
                Err(why) => self.fail(unread(&place, why)),
            }
        });
        self.within.pop();
        flow
    }

    #[cfg(not(feature = "mail"))]
    fn mail(&mut self, place: &Arc<str>, _: Source<'_>) -> ControlFlow<()> {
        self.skip(place, "it is a mail, and this build has no feature `mail` to read it")
    }

    #[cfg(not(feature = "mail"))]
    fn mailbox(&mut self, place: &Arc<str>, _: Source<'_>) -> ControlFlow<()> {
        self.skip(place, "it is a mailbox, and this build has no feature `mail` to read it")
    }

    /// A stream that is one document.
    fn whole(&mut self, place: &Arc<str>, source: Source<'_>, kind: ChunkKind) -> ControlFlow<()> {
        match self.bytes(place, source) {
            Err(error) => self.fail(error),
            Ok(bytes) if bytes.iter().all(u8::is_ascii_whitespace) => {
                self.skip(place, "it is empty")
            }
            Ok(bytes) => (self.emit)(Item::Chunk(Chunk { path: place.clone(), bytes, kind })),
        }
    }

    /// All of a stream, if that is no more than a record may have.
    fn bytes(&self, place: &str, source: Source<'_>) -> cento::Result<Vec<u8>> {
        let max = self.options.record_bytes_max;
        let mut bytes = Vec::new();
        let read = source.take((max as u64).saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|error| Error::io("read", place, error))?;
        match bytes.len() > max {
            true => Err(unread(place, too_long(self.options))),
            false => Ok(bytes),
        }
    }
}
