//! Projected places, settled by the texts.

use super::grow::{Claim, SHARE_MIN, is_same, length};
use super::link::{MATCHED_MIN, Place};
use crate::compare::passages::{Genre, between};
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
        let passage = self.read(source.document)?;
        let passage = cut(&passage, source.place);
        for claim in projected {
            let text = self.read(claim.document)?;
            // The estimate may be off by as much as the passage was edited.
            let margin = length(claim.place).max(length(source.place)) / 2;
            let window = cut_wider(&text, claim.place, margin);
            let Some(place) = self.find(passage, &text[window.0..window.1])? else { continue };
            let offset = window.0 as u32;
            let place = (offset + place.0, offset + place.1);
            let is_known = |&(document, known): &(u32, Place)| {
                document == claim.document && is_same(known, place)
            };
            if !settled.iter().any(is_known) {
                settled.push((claim.document, place));
            }
        }
        settled.sort_unstable();
        Ok(settled)
    }

    fn read(&self, rank: u32) -> Result<String> {
        Ok(self.snapshot.text(self.documents.address(rank))?.unwrap_or_default())
    }

    /// Returns the place in a text that has most of a passage, if one has at least half of it.
    fn find(&self, passage: &str, text: &str) -> Result<Option<Place>> {
        let config = self.snapshot.config();
        let (analyzer, genre) = (config.analyzer.of_passages(), Genre::of(&config.analyzer));
        let [a, b] = [passage, text].map(|text| tokens(&analyzer, text, self.stop));
        let (a, b) = (a?, b?);
        let (a, b) =
            (Side { text: passage, tokens: &a, parts: &[] }, Side { text, tokens: &b, parts: &[] });
        let found = between(a, b, genre, self.stop)?.found.into_iter();
        let found = found.filter(|found| {
            let has_most = f64::from(length(found.query)) >= SHARE_MIN * passage.len() as f64;
            let is_carried = found.matched * 100 >= MATCHED_MIN * found.tokens;
            has_most && is_carried && found.tokens >= self.min_passage
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
