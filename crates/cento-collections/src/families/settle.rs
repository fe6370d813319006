//! Finds projected places in the texts.

use std::collections::HashSet;

use super::grow::Texts;
use super::link::{DocumentPlace, Matched, Place};
use super::places::{SHARE_MIN, length};
use crate::chronology::Chronology;
use cento::index::Snapshot;
use cento_api::error::Result;
use cento_text::compare::passages::{Genre, Passages, Prepared, between_prepared};
use cento_text::runtime::Stop;
use cento_text::text::{Analyzer, Side, Tokens};

/// Searches texts for the passages of founders.
pub struct Settling<'a> {
    snapshot: &'a Snapshot,
    documents: &'a Chronology,
    min_passage: u32,
    stop: &'a Stop,
    /// The previous founder, prepared. The next request is usually about the same founder.
    wanted: Option<(DocumentPlace, WantedPassage)>,
    /// The documents of founders whose passage may have further places, because a search was cut
    /// short.
    cut: HashSet<u32>,
}

impl Texts for Settling<'_> {
    fn find(
        &mut self,
        founder: DocumentPlace,
        estimate: DocumentPlace,
    ) -> Result<Option<(Place, f64)>> {
        let wanted = match self.wanted.take() {
            Some((known, wanted)) if known == founder => wanted,
            _ => self.wanted(founder)?,
        };
        let text = self.read(estimate.document)?;
        // The estimate may be off by as much as the passage was edited.
        let margin = length(estimate.place).max(length(founder.place)) / 2;
        let window = cut_wider(&text, estimate.place, margin);
        let (found, is_complete) = wanted.find(&text[window.0..window.1], self)?;
        self.wanted = Some((founder, wanted));
        if !is_complete {
            self.cut.insert(founder.document);
        }
        let moved = |(start, end)| (window.0 as u32 + start, window.0 as u32 + end);
        Ok(found.map(|(place, kept)| (moved(place), kept)))
    }
}

impl<'a> Settling<'a> {
    /// Prepares a search for places of at least `min_passage` tokens.
    pub fn new(
        snapshot: &'a Snapshot,
        documents: &'a Chronology,
        min_passage: u32,
        stop: &'a Stop,
    ) -> Settling<'a> {
        Settling { snapshot, documents, min_passage, stop, wanted: None, cut: HashSet::new() }
    }

    /// Returns the documents of the founders that may have further carriers.
    pub fn cut(self) -> HashSet<u32> {
        self.cut
    }

    fn read(&self, rank: u32) -> Result<String> {
        Ok(self.snapshot.text(self.documents.address(rank))?.unwrap_or_default())
    }

    /// Prepares the passage of a founder for searches in texts.
    fn wanted(&self, founder: DocumentPlace) -> Result<WantedPassage> {
        let text = cut(&self.read(founder.document)?, founder.place).to_owned();
        let config = self.snapshot.config();
        let (analyzer, genre) = (config.analyzer.of_passages(), Genre::of(&config.analyzer));
        let tokens = tokens(&analyzer, &text, self.stop)?;
        let side = Side { text: &text, tokens: &tokens, parts: &[] };
        let prepared = Prepared::new(side, genre, self.stop)?;
        Ok(WantedPassage { text, tokens, prepared, analyzer })
    }
}

/// A founder's passage, prepared for searches in texts.
struct WantedPassage {
    text: String,
    tokens: Tokens,
    prepared: Prepared,
    analyzer: Analyzer,
}

impl WantedPassage {
    /// Returns the place in a text that has most of the passage, if it is at least half, with the
    /// share of the passage's words there. Also returns whether the search was complete.
    fn find(&self, text: &str, by: &Settling<'_>) -> Result<(Option<(Place, f64)>, bool)> {
        let WantedPassage { text: passage, tokens: own, prepared, analyzer } = self;
        let other = tokens(analyzer, text, by.stop)?;
        let query = Side { text: passage, tokens: own, parts: &[] };
        let document = Side { text, tokens: &other, parts: &[] };
        let Passages { found, complete, .. } =
            between_prepared(query, prepared, document, by.stop)?.of_at_least(by.min_passage);
        let whole = (0, passage.len() as u32);
        let found = found
            .into_iter()
            .map(|found| (Matched::new(&found, found.a, own), found))
            .filter(|(matched, found)| {
                let has_most = f64::from(length(found.a)) >= SHARE_MIN * f64::from(length(whole));
                has_most && matched.is_passage(by.min_passage)
            });
        let best = found.max_by_key(|(_, found)| (found.matched, std::cmp::Reverse(found.b)));
        let best = best.map(|(_, found)| (found.b, Matched::new(&found, whole, own).share));
        Ok((best, complete))
    }
}

pub fn tokens(analyzer: &Analyzer, text: &str, stop: &Stop) -> Result<Tokens> {
    let mut tokens = Tokens::default();
    analyzer.analyze(text, &mut tokens, stop)?;
    Ok(tokens)
}

pub fn cut(text: &str, place: Place) -> &str {
    text.get(place.0 as usize..place.1 as usize).unwrap_or_default()
}

/// Returns the range of a place with this margin, between characters.
fn cut_wider(text: &str, (start, end): Place, margin: u32) -> (usize, usize) {
    let start = text.floor_char_boundary(start.saturating_sub(margin) as usize);
    let end = text.ceil_char_boundary((end.saturating_add(margin) as usize).min(text.len()));
    (start.min(end), end)
}
