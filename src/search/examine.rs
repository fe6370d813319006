//! Examination: the texts of the chosen documents decide which are shown, and give the details.
//!
//! They are examined one after the other, best first: verified, and searched for passages, until
//! there are enough.

use super::evidence::Evidence;
use super::hit_details::{HitDetails, List};
use super::patience::Patience;
use super::retrieve::Search;
use super::score::Scored;
use super::verify;
use crate::compare::Passages;
use crate::error::Result;

/// The documents that passed.
pub struct Examined {
    /// Those to show, best first.
    pub shown: Vec<HitDetails>,
    /// The number of those that passed, shown or not.
    pub passed: usize,
    /// Whether others were not examined.
    pub is_cut: bool,
}

impl Search<'_> {
    /// Examines documents, each with the number of fingerprints that it adds to a cover.
    ///
    /// # Errors
    /// When a document cannot be read; [`Error::Cancelled`](crate::Error::Cancelled) soon after
    /// the query is stopped.
    pub fn examine(
        &self,
        chosen: Vec<(Scored, Option<u32>)>,
        mut evidence: Option<&mut Evidence<'_>>,
    ) -> Result<Examined> {
        let query = self.query;
        let (mut patience, mut shown) = (Patience::of(query), List::of(query));
        let mut is_cut = false;
        for (scored, adds) in chosen {
            let is_enough = patience.is_enough(shown.len());
            if is_enough && !patience.goes_on() {
                is_cut = true;
                break;
            }
            query.stop().check()?;
            let (mut verified, mut passages, mut scored) = (None, None, scored);
            if let Some(evidence) = &mut evidence {
                verified = evidence.verify(scored.address)?;
                if verified.as_ref().is_some_and(|verified| !verify::meets(verified, query)) {
                    continue;
                }
                passages = evidence.passages(scored.address)?;
                patience.look(passages.as_ref().is_none_or(|passages| !passages.found.is_empty()));
                let may_have_any = passages.as_ref().is_none_or(Passages::may_have_any);
                if query.options.min_passage.is_some() && !may_have_any {
                    continue;
                }
                if is_enough {
                    is_cut = true;
                    break;
                }
                if let Some(passages) = &passages {
                    evidence.keep(passages)?;
                }
                scored.similarity = evidence.similarity(scored.address)?.or(scored.similarity);
            }
            shown.push(HitDetails::new((scored, adds), verified, passages));
        }
        let passed = shown.len();
        let mut shown = shown.finish();
        shown.truncate(query.shown(shown.iter().map(HitDetails::may_have_passage)));
        Ok(Examined { shown, passed, is_cut })
    }
}
