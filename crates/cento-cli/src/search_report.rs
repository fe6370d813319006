//! What does a search say in its report?

use std::collections::HashMap;

use cento::search::Answer;
use cento::{Analyzer, Error};
use cento_report::Searched;

/// What was searched for, as the reader knows it.
pub struct Subject {
    /// The name: a path, an id.
    pub name: String,
    /// The text.
    pub text: String,
}

/// Collects the answers of a run.
#[derive(Default)]
pub struct Collected {
    /// The documents, in the order of the queries.
    pub searched: Vec<Searched>,
    /// Texts of sources: those of one query are often those of the next.
    texts: HashMap<String, Option<String>>,
    /// How many bytes these are.
    held: usize,
}

/// Texts of sources are held up to this many bytes, and read again otherwise.
const HELD_BYTES_MAX: usize = 64 << 20;

impl Collected {
    /// Adds an answer. `text_of` reads stored texts, and `analyzer` is that of the index.
    ///
    /// # Errors
    /// When a text cannot be read.
    pub fn add(
        &mut self,
        Subject { name, text }: Subject,
        answer: &Answer,
        mut text_of: impl FnMut(&str) -> cento::Result<Option<String>>,
        analyzer: &Analyzer,
    ) -> cento::Result<()> {
        let held = |id: &str| self.text(id, &mut text_of);
        let searched = Searched::new(name, text, answer, held, analyzer)?;
        self.searched.push(searched);
        Ok(())
    }

    fn text(
        &mut self,
        id: &str,
        text_of: &mut impl FnMut(&str) -> cento::Result<Option<String>>,
    ) -> cento::Result<Option<String>> {
        if let Some(text) = self.texts.get(id) {
            return Ok(text.clone());
        }
        let text = text_of(id)?;
        self.held += text.as_ref().map_or(0, String::len);
        if self.held > HELD_BYTES_MAX {
            self.texts.clear();
            self.held = 0;
        }
        self.texts.insert(id.to_owned(), text.clone());
        Ok(text)
    }
}

/// The error when there is no text to be shown.
pub fn without_text(name: &str) -> Error {
    let what = "its text is not stored, and a report shows it; search with the file instead, or \
                without --report";
    Error::input(name, what)
}
