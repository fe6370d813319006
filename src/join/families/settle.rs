//! Projected places, settled by the texts.

use super::grow::{Claim, SHARE_MIN, is_same, length};
use super::link::{MATCHED_MIN, Place};
use crate::compare::passages::{Genre, Prepared, between_prepared};
use crate::error::Result;
use crate::index::Snapshot;
use crate::join::chronology::Chronology;
use crate::runtime::Stop;
use crate::text::{Analyzer, Side, Tokens};

/// Looks for passages in texts.
pub struct Settling<'a> {
    pub snapshot: &'a Snapshot,
    pub documents: &'a Chronology,
    pub min_passage: u32,
    pub stop: &'a Stop,
}

impl Settling<'_> {
    /// Returns the places of a family by document: projected ones as the texts have them, without
    /// those that the texts do not have.
    ///
    /// # Errors
    /// When a text cannot be read; [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
    pub fn settle(&self, mut claims: Vec<Claim>) -> Result<Vec<(u32, Place)>> {
        claims.sort_by_key(|claim| (claim.document, claim.place));
        let exact = claims.iter().filter(|claim| !claim.is_projected);
        let mut settled: Vec<(u32, Place)> =
            exact.clone().map(|claim| (claim.document, claim.place)).collect();
        let Some(source) = exact.min_by_key(|claim| (claim.document, claim.place)) else {
            return Ok(settled);
        };
        let projected: Vec<&Claim> = claims.iter().filter(|claim| claim.is_projected).collect();
        if projected.is_empty() {
            return Ok(settled);
        }
        let text = self.read(source.document)?;
        let passage = self.passage(cut(&text, source.place))?;
        let exact = settled.len();
        for of_document in projected.chunk_by(|one, other| one.document == other.document) {
            let document = of_document[0].document;
            let text = self.read(document)?;
            let known = settled[..exact].partition_point(|&(known, _)| known < document);
            let known = settled[known..exact].iter().take_while(|known| known.0 == document);
            let mut known: Vec<Place> = known.map(|&(_, place)| place).collect();
            for claim in of_document {
                // The estimate may be off by as much as the passage was edited.
                let margin = length(claim.place).max(length(source.place)) / 2;
                let window = cut_wider(&text, claim.place, margin);
                let found = passage.find(&text[window.0..window.1], self)?;
                let Some((start, end)) = found else { continue };
                let place = (window.0 as u32 + start, window.0 as u32 + end);
                if !known.iter().any(|&known| is_same(known, place)) {
                    known.push(place);
                    settled.push((document, place));
                }
            }
        }
        settled.sort_unstable();
        Ok(settled)
    }

    fn read(&self, rank: u32) -> Result<String> {
        Ok(self.snapshot.text(self.documents.address(rank))?.unwrap_or_default())
    }

    /// Prepares a passage to be found in texts.
    fn passage<'t>(&self, text: &'t str) -> Result<Wanted<'t>> {
        let config = self.snapshot.config();
        let (analyzer, genre) = (config.analyzer.of_passages(), Genre::of(&config.analyzer));
        let tokens = tokens(&analyzer, text, self.stop)?;
        let side = Side { text, tokens: &tokens, parts: &[] };
        let prepared = Prepared::new(side, genre, self.stop)?;
        Ok(Wanted { text, tokens, prepared, analyzer })
    }
}

/// The passage of a family, to be found in texts.
struct Wanted<'t> {
    text: &'t str,
    tokens: Tokens,
    prepared: Prepared,
    analyzer: Analyzer,
}

impl Wanted<'_> {
    /// Returns the place in a text that has most of the passage, if one has at least half of it.
    fn find(&self, text: &str, by: &Settling<'_>) -> Result<Option<Place>> {
        let Wanted { text: passage, tokens: own, prepared, analyzer } = self;
        let other = tokens(analyzer, text, by.stop)?;
        let query = Side { text: passage, tokens: own, parts: &[] };
        let document = Side { text, tokens: &other, parts: &[] };
        let found = between_prepared((query, prepared), document, by.stop)?.found.into_iter();
        let found = found.filter(|found| {
            let has_most = f64::from(length(found.query)) >= SHARE_MIN * passage.len() as f64;
            let is_carried = found.matched * 100 >= MATCHED_MIN * found.tokens;
            has_most && is_carried && found.tokens >= by.min_passage
        });
        Ok(found
            .max_by_key(|found| (found.matched, std::cmp::Reverse(found.hit)))
            .map(|found| found.hit))
    }
}

pub fn tokens(analyzer: &Analyzer, text: &str, stop: &Stop) -> Result<Tokens> {
    let mut tokens = Tokens::default();
    analyzer.analyze(text, &mut tokens, stop)?;
    Ok(tokens)
}

/// Returns the text of a place.
pub fn cut(text: &str, place: Place) -> &str {
    text.get(place.0 as usize..place.1 as usize).unwrap_or_default()
}

/// Returns the range of a place with this margin, between characters.
fn cut_wider(text: &str, (start, end): Place, margin: u32) -> (usize, usize) {
    let start = text.floor_char_boundary(start.saturating_sub(margin) as usize);
    let end = text.ceil_char_boundary((end.saturating_add(margin) as usize).min(text.len()));
    (start.min(end), end)
}
