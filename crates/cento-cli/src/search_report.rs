//! What does a search say in its report?

use std::collections::HashMap;

use cento::search::{Answer, Hit};
use cento::{Analyzer, Error, Passage, Tokens, Unit};
use cento_report::{Found, Place, Searched};

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
        subject: Subject,
        answer: &Answer,
        mut text_of: impl FnMut(&str) -> cento::Result<Option<String>>,
        analyzer: impl FnOnce() -> cento::Result<Analyzer>,
    ) -> cento::Result<()> {
        let Subject { name, text } = subject;
        let passages = || answer.hits.iter().flat_map(|hit| hit.passages.iter().flatten());
        // Without stored texts passages are ranges of tokens.
        let mut tokens = Tokens::default();
        if passages().any(|passage| passage.unit == Unit::Tokens) {
            analyzer()?.analyze(&text, &mut tokens)?;
        }
        let mut sources = Vec::with_capacity(answer.hits.len());
        for hit in &answer.hits {
            let passages: Vec<Passage> = hit.passages.iter().flatten().cloned().collect();
            // A hit without a passage is counted, and its text is not needed.
            let text = match passages.is_empty() {
                true => None,
                false => self.text(&hit.id, &mut text_of)?,
            };
            sources.push(found(hit, &passages, text, &tokens));
        }
        self.searched.push(Searched { name, text, sources, complete: answer.complete });
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

fn found(hit: &Hit, passages: &[Passage], text: Option<String>, tokens: &Tokens) -> Found {
    Found {
        id: hit.id.clone(),
        meta: hit.meta.clone(),
        passages: passages.iter().map(|passage| Place::new(passage, tokens)).collect(),
        text,
        complete: hit.passages_complete != Some(false),
    }
}

/// The error when there is no text to be shown.
pub fn without_text(name: &str) -> Error {
    let what = "its text is not stored, and a report shows it; search with the file instead, or \
                without --report";
    Error::input(name, what)
}
