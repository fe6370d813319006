//! How does the answer to a search become what a report is made of?

use cento::search::{Answer, Hit};
use cento::{Analyzer, Passage, Result, Tokens, Unit};

use crate::reuse::{Found, Place, Searched};

impl Searched {
    /// Takes the answer to a search for `text`, with passages. `text_of` reads the text of a source by its
    /// id, none if it is not stored; `analyzer` is that of the index, which is asked for if it stores no texts.
    ///
    /// # Errors
    /// When a text cannot be read or analysed.
    pub fn new(
        name: String,
        text: String,
        answer: &Answer,
        mut text_of: impl FnMut(&str) -> Result<Option<String>>,
        analyzer: impl FnOnce() -> Result<Analyzer>,
    ) -> Result<Searched> {
        let mut passages = answer.hits.iter().flat_map(|hit| hit.passages.iter().flatten());
        // Without stored texts passages are ranges of tokens.
        let mut tokens = Tokens::default();
        if passages.any(|passage| passage.unit == Unit::Tokens) {
            analyzer()?.analyze(&text, &mut tokens)?;
        }
        let mut sources = Vec::with_capacity(answer.hits.len());
        for hit in &answer.hits {
            let passages = hit.passages.as_deref().unwrap_or_default();
            // A hit without a passage is counted, and its text is not needed.
            let text = if passages.is_empty() { None } else { text_of(&hit.id)? };
            sources.push(found(hit, passages, text, &tokens));
        }
        Ok(Searched { name, text, sources, complete: answer.complete })
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
