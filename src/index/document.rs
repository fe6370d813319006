//! Documents to add to an index.

use std::path::Path;

use cento_api::Part;
use cento_api::part::{part_texts, parts_problem};
use serde_json::{Map, Value};

use super::{id_problem, meta_problem};
use crate::error::{Error, Result};
use crate::hash::Digest;
use crate::text::kind::no_text_in;

/// A document to be added: an id, a text and a meta object.
///
/// A document is checked when it is added, or earlier with [`checked`](Document::checked). Adding a
/// document replaces the stored document with the same id.
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
    /// The caller's id: not empty, at most [`ID_BYTES_MAX`](super::ID_BYTES_MAX) bytes, no
    /// controls.
    pub id: String,
    /// The text, in UTF-8. The byte offsets of passages refer to this string.
    pub text: String,
    /// The parts that the text was joined from. Empty for most documents.
    pub parts: Vec<Part>,
    /// The caller's metadata: at most [`META_BYTES_MAX`](super::META_BYTES_MAX) bytes as JSON.
    pub meta: Map<String, Value>,
    /// The record that the document was read from, if the reader keeps records. Joins return the
    /// record. No index stores it.
    pub record: Option<Box<str>>,
    /// Where the id comes from, which decides whether the document may replace a stored one.
    pub id_source: IdSource,
}

/// Where an id comes from: from the caller, or from a reader that used the place of the document.
///
/// A document with a made id only replaces a document found at the same place. Otherwise two files
/// with the same name in two directories would replace each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdSource {
    is_made: bool,
    /// The number of the place, or 0 if the place is unknown.
    place: u64,
}

impl IdSource {
    /// The caller gave the id. The document replaces any stored document with this id.
    pub const GIVEN: IdSource = IdSource { is_made: false, place: 0 };

    /// The id was made for a document of a stream whose documents have no ids.
    pub const STREAM: IdSource = IdSource { is_made: true, place: 0 };

    /// Returns the source of an id made from an absolute path, for this file or something in it.
    #[must_use]
    pub fn file(path: &Path) -> IdSource {
        let place = Digest::of(path.as_os_str().as_encoded_bytes()).low;
        IdSource { is_made: true, place: place.max(1) }
    }

    /// Returns the source of an id that was made from the place with this number. The number is 0
    /// if the place is unknown.
    #[must_use]
    pub fn made(place: u64) -> IdSource {
        IdSource { is_made: true, place }
    }

    /// Returns the number of the place if the id was made from it, 0 if the place is unknown.
    #[must_use]
    pub fn made_of(self) -> Option<u64> {
        self.is_made.then_some(self.place)
    }

    /// Marks the id as chosen, so that the document replaces any stored document with this id.
    #[must_use]
    pub fn chosen(self) -> IdSource {
        IdSource { is_made: false, ..self }
    }

    /// Returns the number of the place, if known.
    #[must_use]
    pub fn place(self) -> Option<u64> {
        (self.place != 0).then_some(self.place)
    }

    /// Returns the source of a chosen id whose document was found at `place`, if given.
    #[must_use]
    pub fn at(place: Option<u64>) -> IdSource {
        IdSource { is_made: false, place: place.unwrap_or(0) }
    }

    /// Returns whether a document may replace the stored document of its id, found at `place`.
    pub fn may_replace(self, place: Option<u64>) -> bool {
        !self.is_made || (self.place != 0 && place == Some(self.place))
    }
}

impl Document {
    /// Makes a document from an id and a text, without parts or metadata.
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Document {
        let (id, text, id_source) = (id.into(), text.into(), IdSource::GIVEN);
        Document { id, text, parts: Vec::new(), meta: Map::new(), record: None, id_source }
    }

    /// Makes a document from named parts, such as the files of a submission or the chapters of a
    /// book. The text is the text of the parts, joined with line feeds.
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
                // The line feed separates the last word of a part from the next part.
                document.text.push('\n');
            }
            // A text that is too long is refused later, when the document is checked.
            let start = u32::try_from(document.text.len()).unwrap_or(u32::MAX);
            document.parts.push(Part::new(name, start));
            document.text.push_str(text.as_ref());
        }
        document
    }

    /// Returns the name and the text of each part. Empty for a document without parts.
    pub fn part_texts(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        part_texts(&self.parts, &self.text)
    }

    /// Sets the parts of the text, in the order of their start offsets.
    #[must_use]
    pub fn with_parts(self, parts: Vec<Part>) -> Document {
        Document { parts, ..self }
    }

    /// Sets the origin of the id.
    #[must_use]
    pub fn with_id_source(self, id_source: IdSource) -> Document {
        Document { id_source, ..self }
    }

    /// Sets the metadata: an object that filters can query.
    ///
    /// ```
    /// use cento::Document;
    ///
    /// let meta = serde_json::json!({"lang": "de", "year": 1911});
    /// let meta = meta.as_object().unwrap().clone();
    /// let document = Document::new("a.txt", "Es war einmal").with_meta(meta);
    /// assert_eq!(document.meta["year"], 1911);
    /// # Ok::<(), cento::Error>(())
    /// ```
    #[must_use]
    pub fn with_meta(self, meta: Map<String, Value>) -> Document {
        Document { meta, ..self }
    }

    /// Returns the document if an index can hold it.
    ///
    /// # Errors
    /// [`Error::Input`] when an index cannot hold the id, the text, the parts or the meta object.
    pub fn checked(self) -> Result<Document> {
        let place = format!("document {:?}", self.id.chars().take(64).collect::<String>());
        match self.problem() {
            Some(what) => Err(Error::input(place, what)),
            None => Ok(self),
        }
    }

    /// Returns why an index cannot hold the document, as a clause. `None` for a valid document.
    ///
    /// ```
    /// use cento::Document;
    ///
    /// assert_eq!(Document::new("a.txt", "some text").problem(), None);
    /// assert!(Document::new("", "a text without an id").problem().is_some());
    /// # Ok::<(), cento::Error>(())
    /// ```
    pub fn problem(&self) -> Option<String> {
        let text = || no_text_in(&self.text).map(|why| format!("its text is binary data: {why}"));
        let parts = || parts_problem(&self.parts, &self.text);
        id_problem(&self.id).or_else(text).or_else(parts).or_else(|| meta_problem(&self.meta))
    }
}
