//! The documents of an index, as they are added.

use std::path::Path;

use cento_api::Part;
use cento_api::part::{part_texts, parts_problem};
use serde_json::{Map, Value};

use super::{id_problem, meta_problem};
use crate::error::{Error, Result};
use crate::hash::Digest;
use crate::text::kind::no_text_in;

/// A document, as its source has it: an id, a text and a meta object.
///
/// Nothing is checked until it is added; [`checked`](Document::checked) checks it before. Equal ids
/// replace each other.
///
/// ```
/// use cento::Document;
/// use serde_json::{Value, json};
///
/// let Value::Object(meta) = json!({"lang": "en", "year": 2026}) else { unreachable!() };
/// let document = Document::new("essays/one.txt", "The text of the essay.").with_meta(meta);
/// assert_eq!(document.problem(), None);
/// assert!(Document::new("", "A text without an id.").checked().is_err());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The caller's id: not empty, at most [`ID_BYTES_MAX`](super::ID_BYTES_MAX), no control
    /// characters.
    pub id: String,
    /// The text.
    pub text: String,
    /// The parts of the text, if it was joined of several.
    pub parts: Vec<Part>,
    /// The caller's metadata of the document: at most
    /// [`META_BYTES_MAX`](super::META_BYTES_MAX) as JSON.
    pub meta: Map<String, Value>,
    /// The record that it was read from, if its reader keeps it: handed back by joins, never
    /// stored.
    pub record: Option<Box<str>>,
    /// The origin of the id.
    pub id_source: IdSource,
}

/// The origin of a document's id: the caller chose it, or the reader of the document made it from
/// the place where the document was found.
///
/// A document with a made id replaces only one that was found at the same place, so that two files
/// of one name in two directories do not replace each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdSource {
    is_made: bool,
    /// A number of the place; 0 if it is not known.
    place: u64,
}

impl IdSource {
    /// The id was given with the document, which replaces any other of this id.
    pub const GIVEN: IdSource = IdSource { is_made: false, place: 0 };

    /// The id was made for a document of a stream that does not identify its documents.
    pub const STREAM: IdSource = IdSource { is_made: true, place: 0 };

    /// Returns the source of an id that was made from a path, which is absolute: of this file, or
    /// of something in it.
    #[must_use]
    pub fn file(path: &Path) -> IdSource {
        let place = Digest::of(path.as_os_str().as_encoded_bytes()).low;
        IdSource { is_made: true, place: place.max(1) }
    }

    /// Returns the source of an id that was made from the place with this number; 0 if the place is
    /// unknown.
    #[must_use]
    pub fn made(place: u64) -> IdSource {
        IdSource { is_made: true, place }
    }

    /// Returns the number of the place that the id was made from, if it was; 0 if the place is
    /// unknown.
    #[must_use]
    pub fn made_of(self) -> Option<u64> {
        self.is_made.then_some(self.place)
    }

    /// Returns the source of the same id as a chosen one: the document replaces any other of this
    /// id.
    #[must_use]
    pub fn chosen(self) -> IdSource {
        IdSource { is_made: false, ..self }
    }

    /// Returns the number of the place, if it is known.
    #[must_use]
    pub fn place(self) -> Option<u64> {
        (self.place != 0).then_some(self.place)
    }

    /// Returns the source of an id that was found at the place of this number, if one is given.
    #[must_use]
    pub fn at(place: Option<u64>) -> IdSource {
        IdSource { is_made: false, place: place.unwrap_or(0) }
    }

    /// Returns whether a document may replace the one of its id that was found at the place of this
    /// number.
    pub fn may_replace(self, place: Option<u64>) -> bool {
        !self.is_made || (self.place != 0 && place == Some(self.place))
    }
}

impl Document {
    /// Makes a document of an id and a text.
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Document {
        let (id, text, id_source) = (id.into(), text.into(), IdSource::GIVEN);
        Document { id, text, parts: Vec::new(), meta: Map::new(), record: None, id_source }
    }

    /// Makes a document of parts, each with its name and text: the files of a submission, the
    /// chapters of a book. Their texts, joined with line feeds, are its text.
    ///
    /// ```
    /// use cento::Document;
    ///
    /// let files = [("Main.java", "class Main {}"), ("src/Tree.java", "class Tree {}")];
    /// let document = Document::of_parts("ann", files);
    /// assert_eq!(document.text, "class Main {}\nclass Tree {}");
    /// assert_eq!(document.parts[1].start, 14);
    /// assert!(document.part_texts().eq(files));
    /// ```
    pub fn of_parts<N: Into<String>, T: AsRef<str>>(
        id: impl Into<String>,
        parts: impl IntoIterator<Item = (N, T)>,
    ) -> Document {
        let mut document = Document::new(id, String::new());
        for (name, text) in parts {
            if !document.parts.is_empty() {
                // A word that ends a part is not that which begins the next one.
                document.text.push('\n');
            }
            // A text that is too long is refused when the document is checked.
            let start = u32::try_from(document.text.len()).unwrap_or(u32::MAX);
            document.parts.push(Part::new(name, start));
            document.text.push_str(text.as_ref());
        }
        document
    }

    /// Returns the name and the text of each part; none of a document without parts.
    pub fn part_texts(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        part_texts(&self.parts, &self.text)
    }

    /// Sets the parts of the text.
    #[must_use]
    pub fn with_parts(self, parts: Vec<Part>) -> Document {
        Document { parts, ..self }
    }

    /// Sets the origin of the id.
    #[must_use]
    pub fn with_id_source(self, id_source: IdSource) -> Document {
        Document { id_source, ..self }
    }

    /// Sets the metadata of the document: an object that filters can query.
    #[must_use]
    pub fn with_meta(self, meta: Map<String, Value>) -> Document {
        Document { meta, ..self }
    }

    /// Returns the document if an index can hold it.
    ///
    /// # Errors
    /// When an index cannot hold its id, its parts or its meta object.
    pub fn checked(self) -> Result<Document> {
        let place = format!("document {:?}", self.id.chars().take(64).collect::<String>());
        match self.problem() {
            Some(what) => Err(Error::input(place, what)),
            None => Ok(self),
        }
    }

    /// Returns the reason why an index cannot hold the document, as a clause, if it cannot.
    pub fn problem(&self) -> Option<String> {
        let text = || no_text_in(&self.text).map(|why| format!("its text is not text: {why}"));
        let parts = || parts_problem(&self.parts, &self.text);
        id_problem(&self.id).or_else(text).or_else(parts).or_else(|| meta_problem(&self.meta))
    }
}
