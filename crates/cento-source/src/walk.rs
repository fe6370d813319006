//! Which files are meant, and what do they hold?

use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::WalkBuilder;

#[cfg(feature = "archives")]
use super::archive::{self, Entry};
use super::compressed::{Compression, peek};
use super::jsonl::{Lines, read_lines};
use super::{Chunk, ChunkKind, Item, PEEK_BYTES, SourceOptions, ignored, too_long};
use crate::kind::no_text;
use cento::Error;

/// The name of standard input, as a path and in places.
const STDIN: &str = "-";

/// Reads all `inputs` in order, directories in the order of their names, until `emit` breaks off.
///
/// A path ending in `.jsonl` or `.ndjson` holds a document a line; `-` is standard input, which
/// does so if it begins with `{`; any other file is one document, with the path as its id. All may
/// be compressed, as `.gz` or `.zst`. In directories, links are not followed, and hidden files and
/// those that a `.gitignore` or `.ignore` excludes are not seen unless the options say so.
pub fn read(
    inputs: &[PathBuf],
    options: &SourceOptions,
    emit: &mut dyn FnMut(Item) -> ControlFlow<()>,
) {
    let mut reader = Reader { options, emit };
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

struct Reader<'a> {
    options: &'a SourceOptions,
    emit: &'a mut dyn FnMut(Item) -> ControlFlow<()>,
}

impl Reader<'_> {
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
                    self.fail(Error::input(path.display().to_string(), error.to_string()))?;
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
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) => return self.fail(Error::io("read", path, error)),
        };
        let (_, inner) = Compression::of_name(&place);
        let is_archive = [".zip", ".tgz"].iter().any(|end| place.ends_with(end));
        if is_archive || inner.ends_with(".tar") {
            self.archive(path, &place, file)
        } else {
            self.stream(&place, file)
        }
    }

    /// An archive, whose files are documents.
    #[cfg(feature = "archives")]
    fn archive(&mut self, path: &Path, place: &str, file: File) -> ControlFlow<()> {
        let read = if place.ends_with(".zip") {
            archive::zip(file, &mut |name, entry| self.inside(place, name, entry))
        } else {
            let is_tgz = place.ends_with(".tgz");
            let compression =
                if is_tgz { Compression::Gzip } else { Compression::of_name(place).0 };
            compression.open(file).and_then(|stream| {
                archive::tar(stream, &mut |name, entry| self.inside(place, name, entry))
            })
        };
        read.unwrap_or_else(|error| self.fail(Error::io("read", path, error)))
    }

    /// Refuses an archive: it is no text.
    #[cfg(not(feature = "archives"))]
    fn archive(&mut self, path: &Path, _: &str, _: File) -> ControlFlow<()> {
        let why = "it is an archive, and this build has no feature `archives` to read it";
        self.fail(Error::io("read", path, io::Error::other(why)))
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
            Entry::File(stream) => self.stream(&place, stream),
            Entry::Other => self.skip(&place, "it is a link, or not a regular file"),
            Entry::Bad(why) => self.fail(Error::io("read", &*place, io::Error::other(why))),
            Entry::Lost(what) => self.fail(Error::io("read", archive, io::Error::other(what))),
        }
    }

    /// A file of this name, which says how it is compressed and what is in it.
    fn stream(&mut self, place: &Arc<str>, file: impl Read) -> ControlFlow<()> {
        let (compression, inner) = Compression::of_name(place);
        let has_lines = inner.ends_with(".jsonl") || inner.ends_with(".ndjson");
        match compression.open(file) {
            Ok(stream) if has_lines => self.lines(place, stream),
            Ok(stream) => self.text(place, stream),
            Err(error) => self.fail(Error::io("read", &**place, error)),
        }
    }

    fn stdin(&mut self) -> ControlFlow<()> {
        let opened = peek(io::stdin().lock(), PEEK_BYTES)
            .and_then(|(start, stream)| Compression::of_magic(&start).open(stream))
            .and_then(|stream| peek(stream, PEEK_BYTES));
        let (start, stream) = match opened {
            Ok(opened) => opened,
            Err(error) => return self.fail(Error::io("read", "standard input", error)),
        };
        let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&start);
        match start.trim_ascii_start().first() {
            Some(b'{') => self.lines(&STDIN.into(), stream),
            _ => self.text(&STDIN.into(), stream),
        }
    }

    /// A stream with a document a line.
    fn lines(&mut self, place: &Arc<str>, stream: impl Read) -> ControlFlow<()> {
        let Reader { options, emit } = self;
        let flow = read_lines(stream, options.record_bytes_max, |lines| {
            emit(match lines {
                Lines::Whole { first_line, bytes } => {
                    let kind = ChunkKind::Lines { first_line };
                    Item::Chunk(Chunk { path: place.clone(), bytes, kind })
                }
                Lines::TooLong(line) => {
                    Item::Failed(Error::input(format!("{place}:{line}"), too_long(options)))
                }
            })
        });
        flow.unwrap_or_else(|error| self.fail(Error::io("read", &**place, error)))
    }

    /// A stream that is one document.
    fn text(&mut self, place: &Arc<str>, stream: impl Read) -> ControlFlow<()> {
        let max = self.options.record_bytes_max;
        let mut stream = stream.take(max as u64 + 1);
        let mut bytes = Vec::new();
        let start = stream.by_ref().take(PEEK_BYTES as u64).read_to_end(&mut bytes);
        if start.is_ok()
            && let Some(why) = no_text(&bytes, self.options.encoding.is_some())
        {
            return self.skip(place, why);
        }
        if let Err(error) = start.and_then(|_| stream.read_to_end(&mut bytes)) {
            return self.fail(Error::io("read", &**place, error));
        }
        if bytes.len() > max {
            return self.fail(Error::input(&**place, too_long(self.options)));
        }
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return self.skip(place, "it is empty");
        }
        (self.emit)(Item::Chunk(Chunk { path: place.clone(), bytes, kind: ChunkKind::File }))
    }
}
