//! How does the answer to a search, or a list of pairs, become what a report is made of?

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cento::join::pairs::PairReport;
use cento::search::{Answer, Hit, Searcher, Subject};
use cento::{Analyzer, Passage, Result, Stop, Tokens, Unit};

use crate::pairs::Joined;
use crate::reuse::{Counting, Found, Place, Searched};

impl Searched {
    /// Takes the answer to a search for `text`, with passages. `text_of` reads the text of a source by its
    /// id, none if it is not stored; `analyzer` is that of the index.
    ///
    /// # Errors
    /// When a text cannot be read or analysed.
    pub fn new(
        name: String,
        text: String,
        answer: &Answer,
        mut text_of: impl FnMut(&str) -> Result<Option<String>>,
        analyzer: &Analyzer,
    ) -> Result<Searched> {
        let mut passages = answer.hits.iter().flat_map(|hit| hit.passages.iter().flatten());
        // Without stored texts passages are ranges of tokens.
        let mut tokens = Tokens::default();
        if passages.any(|passage| passage.unit == Unit::Tokens) {
            analyzer.analyze(&text, &mut tokens)?;
        }
        let mut sources = Vec::with_capacity(answer.hits.len());
        for hit in &answer.hits {
            let passages = hit.passages.as_deref().unwrap_or_default();
            // A hit without a passage is counted, and its text is not needed.
            let text = if passages.is_empty() { None } else { text_of(&hit.id)? };
            sources.push(found(hit, passages, text, &tokens));
        }
        let boilerplate = answer.query.boilerplate.clone();
        let counting = Counting { boilerplate, tokens: analyzer.program_tokens(&text)? };
        let &Answer { more, complete, .. } = answer;
        Ok(Searched { name, text, sources, counting, more, complete })
    }
}

impl Joined {
    /// Takes pairs of an index with their similarities, and reads what is shown of them: the texts, and the
    /// passages if they are not there yet.
    ///
    /// # Errors
    /// When a text cannot be read; [`Error::Cancelled`](cento::Error::Cancelled) soon after `stop`.
    pub fn read(
        mut pairs: Vec<(PairReport, f64)>,
        searcher: &Searcher,
        stop: Option<&Arc<AtomicBool>>,
    ) -> Result<Joined> {
        let snapshot = searcher.snapshot();
        let (mut texts, mut boilerplate) = (HashMap::new(), HashMap::new());
        let wanted = stop.map_or(Stop::NEVER, |flag| Stop::on(&**flag));
        for (pair, _) in &mut pairs {
            if pair.passages.is_none() {
                let subject = Subject::Id(pair.a.clone());
                let found = searcher.passages(&subject, &pair.b, stop.cloned())?;
                (pair.passages, pair.passages_complete) = (Some(found.found), Some(found.complete));
            }
            for id in [&pair.a, &pair.b] {
                if !texts.contains_key(id)
                    && let Some(address) = snapshot.find(id)?
                    && let Some(text) = snapshot.document(address)?.text
                {
                    if let Some(named) = searcher.boilerplate() {
                        boilerplate.insert(id.clone(), named.ranges_in(&text, wanted)?);
                    }
                    texts.insert(id.clone(), text);
                }
            }
        }
        Ok(Joined { pairs, texts, boilerplate, ..Joined::default() })
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
