//! The documents in a chunk of bytes.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use cento::index::{Document, IdSource};
use cento::{Error, Map, Result, UnseenText};
use serde_json::Value;

use crate::format::Markup;
use crate::{DEFECT, ExtractedText, Origins, SourceOptions};
use crate::{charset, checked, html, partition, partly_read, records_in_file, sniff, unread};

/// The beginning of an XML file, which may declare its encoding.
const XML: &[u8] = b"<?xml";

/// Bytes of a single document, or of many records.
#[derive(Debug)]
pub struct Chunk {
    /// The path of the file that the bytes come from, also for several chunks of one file.
    pub path: Arc<str>,
    /// The content, undecoded. Empty if the document has parts.
    pub bytes: Vec<u8>,
    /// The kind of the bytes.
    pub kind: ChunkKind,
    /// The source of generated ids, for documents without an id.
    pub id_source: IdSource,
    /// The files of a document in parts. The chunk itself then has no bytes.
    pub(crate) parts: Option<Box<ChunkParts>>,
    /// Definitions in other files that the content uses, as source.
    pub(crate) definitions: Option<Arc<str>>,
}

/// The files of a document of several.
#[derive(Debug)]
pub(crate) struct ChunkParts {
    /// The names of the files in the document, and the files.
    files: Vec<(String, Chunk)>,
    /// Fields of the meta object, as texts.
    fields: Vec<(String, String)>,
}

impl ChunkParts {
    /// Returns the parts of a document, which come in the order of their names.
    pub fn new(mut files: Vec<(String, Chunk)>, fields: Vec<(String, String)>) -> ChunkParts {
        files.sort_by_cached_key(|file| file.1.path.clone());
        with_own_names(&mut files);
        ChunkParts { files, fields }
    }
}

/// Sorts the files of a document by name, and numbers repeated names, because a pattern may give
/// two files the same name.
pub(crate) fn with_own_names<T>(files: &mut [(String, T)]) {
    files.sort_by_cached_key(|file| PathBuf::from(&file.0));
    let mut taken: HashSet<String> = files.iter().map(|file| file.0.clone()).collect();
    let mut times: HashMap<String, u32> = HashMap::new();
    for (name, _) in files {
        let times = times.entry(name.clone()).or_insert(0);
        *times += 1;
        if *times > 1 {
            let mut own = format!("{name}#{times}");
            while !taken.insert(own.clone()) {
                *times += 1;
                own = format!("{name}#{times}");
            }
            *name = own;
        }
    }
}

/// Returns a meta object with these fields. A repeated field becomes a list.
pub(crate) fn meta_of_fields(fields: &[(String, String)]) -> Map<String, Value> {
    let mut meta = Map::new();
    for (name, value) in fields {
        let value = Value::String(value.clone());
        match meta.get_mut(name) {
            None => drop(meta.insert(name.clone(), value)),
            Some(Value::Array(values)) => values.push(value),
            Some(one) => *one = Value::Array(vec![one.take(), value]),
        }
    }
    meta
}

/// The kind of the bytes of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkKind {
    /// Whole lines, each with a JSON object.
    Lines {
        /// The number of the first line in its file, from 1.
        first_line: u64,
        /// The lines were made from rows of a table, so every value is a string.
        are_rows: bool,
    },
    /// A whole file of text.
    File,
    /// A whole document of an office program, e-book or PDF.
    Document,
    /// A file for the user-defined command with this number.
    Reader(usize),
    /// A whole file of a text with markup.
    Markup(&'static Markup),
    /// The extracted text of a file, in UTF-8.
    Text {
        /// The number of characters of the file that a reader does not see.
        hidden: usize,
    },
}

/// The content of a file beside the text of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct InFile {
    /// The place of the text in the file. Only web pages have it.
    pub origins: Option<Origins>,
    /// The number of omitted characters that a reader does not see, such as white letters.
    pub hidden_characters: u64,
    /// The file has an id and a meta object, and no text: the meta object of the stored document of
    /// this id is to be changed, by a merge patch. Read only if requested.
    pub is_meta_only: bool,
}

impl InFile {
    /// Returns the content that a reader of the file does not see. `text` is the text of the file.
    #[must_use]
    pub fn unseen(&self, text: &str) -> UnseenText {
        UnseenText::of(text).with_hidden(self.hidden_characters)
    }
}

impl ChunkKind {
    /// Returns whether the file is a single document, with its path as id.
    #[must_use]
    pub fn is_whole_file(self) -> bool {
        !matches!(self, ChunkKind::Lines { .. })
    }
}

impl Chunk {
    /// Returns the number of bytes in all files of the chunk.
    pub(crate) fn len(&self) -> usize {
        let parts = self.parts.iter().flat_map(|parts| &parts.files);
        self.bytes.len() + parts.map(|(_, file)| file.bytes.len()).sum::<usize>()
    }

    /// Returns whether any file of the chunk needs a separate process, which is slow.
    pub(crate) fn needs_process(&self) -> bool {
        let is_slow =
            |chunk: &Chunk| matches!(chunk.kind, ChunkKind::Document | ChunkKind::Reader(_));
        let mut parts = self.parts.iter().flat_map(|parts| &parts.files);
        is_slow(self) || parts.any(|(_, file)| is_slow(file))
    }

    /// Returns the documents of the chunk, in order, with the data of the file beside the text.
    ///
    /// # Errors
    /// A record that is not a document, or a document that cannot be read completely, gives an
    /// error. The iterator continues.
    pub fn documents<'a>(
        &'a self,
        options: &'a SourceOptions,
    ) -> impl Iterator<Item = Result<(Document, InFile)>> + 'a {
        let lines = match self.kind {
            ChunkKind::Lines { first_line, are_rows } => Some((first_line, are_rows)),
            _ => None,
        };
        let whole = std::iter::once_with(|| self.whole(options));
        let records =
            lines.map(|(first_line, are_rows)| self.records(first_line, are_rows, options));
        let is_whole = usize::from(records.is_none());
        let all = records.into_iter().flatten().chain(whole.take(is_whole).flatten());
        all.map(|read| {
            let (mut document, in_file) = read?;
            if options.meta.is_empty() || in_file.is_meta_only {
                return Ok((document, in_file));
            }
            document.meta.extend(options.meta.clone());
            let checked = checked(document, options);
            let document = checked.map_err(|what| Error::input(&*self.path, what))?;
            Ok((document, in_file))
        })
    }

    /// Returns the document in a whole file or in several files, and errors for missing parts.
    fn whole(&self, options: &SourceOptions) -> Vec<Result<(Document, InFile)>> {
        let Some(parts) = &self.parts else { return self.document(options).collect() };
        let (mut texts, mut errors, mut hidden_characters) = (Vec::new(), Vec::new(), 0);
        for (name, file) in &parts.files {
            for read in file.document(options) {
                match read {
                    Ok((document, in_file)) => {
                        hidden_characters += in_file.hidden_characters;
                        texts.push((name.clone(), document.text));
                    }
                    Err(error) => errors.push(Err(error)),
                }
            }
        }
        if !texts.is_empty() {
            let document = Document::of_parts(self.path.to_string(), texts);
            let document =
                document.with_meta(meta_of_fields(&parts.fields)).with_id_source(self.id_source);
            let document = checked(document, options);
            let document = document.map_err(|what| unread(&self.path, what));
            let in_file = InFile { hidden_characters, ..InFile::default() };
            errors.push(document.map(|document| (document, in_file)));
        }
        errors
    }

    /// Returns the documents of lines.
    fn records<'a>(
        &'a self,
        first_line: u64,
        are_rows: bool,
        options: &'a SourceOptions,
    ) -> impl Iterator<Item = Result<(Document, InFile)>> + 'a {
        let place = |number| format!("{}:{number}", self.path);
        let partitions = partition::values(&self.path);
        records_in_file(&self.bytes, first_line, are_rows, options, place).map(move |(_, read)| {
            let (mut document, in_file) = read?;
            if !in_file.is_meta_only {
                partition::add(&partitions, &mut document.meta);
                partition::add_to_row(&partitions, &self.path, &mut document.record);
            }
            Ok((self.with_id_source(document), in_file))
        })
    }

    /// Returns the document in a whole file, and an error if a part of the file is missing.
    fn document(
        &self,
        options: &SourceOptions,
    ) -> impl Iterator<Item = Result<(Document, InFile)>> + use<> {
        let (document, missing) = match self.text(options) {
            Ok((ExtractedText { text, missing, hidden }, origins)) => {
                let hidden_characters = hidden as u64;
                let in_file = InFile { origins, hidden_characters, ..InFile::default() };
                let document = Document::new(self.path.to_string(), text);
                let document = checked(document.with_id_source(self.id_source), options);
                let document = document.map(|document| (document, in_file));
                (document.map_err(|what| unread(&self.path, what)), missing)
            }
            Err(error) => (Err(error), None),
        };
        let missing = missing.map(|missing| match &document {
            Ok(_) => Err(partly_read(&self.path, missing)),
            Err(_) => Err(unread(&self.path, missing)),
        });
        [Some(document), missing].into_iter().flatten()
    }

    /// Returns the document. If the id was generated from the place, the document keeps the chunk's
    /// source.
    fn with_id_source(&self, document: Document) -> Document {
        match document.id_source {
            IdSource::STREAM => document.with_id_source(self.id_source),
            _ => document,
        }
    }

    /// Returns the text of a whole file, and the place of the text in the file. A panic in a
    /// library that parses the file fails only this file.
    pub(crate) fn text(&self, options: &SourceOptions) -> Result<(ExtractedText, Option<Origins>)> {
        Error::catch(&self.path, || self.read_text(options)).map_err(|error| match error {
            Error::Internal { .. } => unread(&self.path, DEFECT),
            error => error,
        })
    }

    fn read_text(&self, options: &SourceOptions) -> Result<(ExtractedText, Option<Origins>)> {
        let text = match (self.kind, &options.extraction) {
            (ChunkKind::Markup(markup), _) => {
                let definitions = self.definitions.as_deref().unwrap_or_default();
                let text = markup.text_of(&self.bytes, definitions, options);
                return text.map_err(|why| unread(&self.path, why));
            }
            (ChunkKind::Document, Some(extraction)) => {
                let stop = &options.stop;
                let extracted = extraction.text_of(&self.bytes, stop);
                stop.check()?;
                return match extracted {
                    Ok(extracted) => Ok((extracted, None)),
                    Err(why) => Err(unread(&self.path, why)),
                };
            }
            (ChunkKind::Reader(at), _) => {
                let stop = &options.stop;
                let read = options.readers.text_of(at, &self.bytes, stop);
                stop.check()?;
                return read.map(|read| (read, None)).map_err(|why| unread(&self.path, why));
            }
            (ChunkKind::Document, None) => {
                return Err(unread(&self.path, sniff::unread(&self.bytes)));
            }
            (ChunkKind::Text { hidden }, _) => {
                let text = String::from_utf8_lossy(&self.bytes).into_owned();
                return Ok((ExtractedText { text, hidden, ..ExtractedText::default() }, None));
            }
            (ChunkKind::File | ChunkKind::Lines { .. }, _) => {
                let decode = match self.bytes.starts_with(XML) {
                    true => html::decoded_xml,
                    false => charset::decode_undoubted,
                };
                let decoded = decode(&self.bytes, options.label());
                decoded.map_err(|why| unread(&self.path, why))?.into_owned()
            }
        };
        Ok((ExtractedText { text, ..ExtractedText::default() }, None))
    }
}
