//! Examination: the texts of the chosen documents decide which are shown, and give the details.
//!
//! They are examined one after the other, best first: verified, and searched for passages, until
//! there are enough. The same rules hold where shards have examined their documents.

use super::evidence::Evidence;
use super::extent::Extent;
use super::hit_details::{HitDetails, List, ListedDocument, may_have_any};
use super::patience::Patience;
use super::pruning::Pruning;
use super::query::Query;
use super::score::Scored;
use super::verify;
use crate::error::Result;

/// The documents that passed.
pub struct Examined<T> {
    /// Those to show, best first.
    pub shown: Vec<T>,
    /// The number of those that passed, shown or not.
    pub passed: usize,
    /// Whether others were not examined.
    pub is_cut: bool,
    /// Whether a document that decides is not known yet.
    pub is_unknown: bool,
}

/// What the examination of a document says.
pub enum Examination<T> {
    /// The document is a hit, if its passages are long enough.
    Document(T),
    /// Its measure misses a threshold.
    Dropped,
    /// Its shard has not compared it yet.
    Unknown,
}

/// Examines documents.
pub trait Examine {
    type Document: ListedDocument;

    /// Examines the next of the chosen documents.
    fn examine(&mut self, scored: Scored) -> Result<Examination<Self::Document>>;

    /// Completes the document examined last, which will be listed.
    fn keep(&mut self, document: &mut Self::Document) -> Result<()>;
}

/// Examines documents, best first.
///
/// # Errors
/// When a document cannot be read; [`Error::Cancelled`](crate::Error::Cancelled) soon after the
/// query is stopped.
pub fn examine<E: Examine>(
    query: &Query,
    chosen: Vec<Scored>,
    examiner: &mut E,
) -> Result<Examined<E::Document>> {
    let (mut patience, mut shown) = (Patience::of(query), List::of(query));
    let (mut is_cut, mut is_unknown) = (false, false);
    for scored in chosen {
        let is_enough = patience.is_enough(shown.len());
        if is_enough && !patience.goes_on() {
            is_cut = true;
            break;
        }
        query.stop().check()?;
        let mut document = match examiner.examine(scored)? {
            Examination::Document(document) => document,
            Examination::Dropped => continue,
            Examination::Unknown => {
                is_unknown = true;
                break;
            }
        };
        let passages = document.passages();
        patience.look(passages.is_none_or(|passages| passages.found > 0));
        if query.options.min_passage.is_some() && !passages.is_none_or(may_have_any) {
            continue;
        }
        if is_enough {
            is_cut = true;
            break;
        }
        examiner.keep(&mut document)?;
        shown.push(document);
    }
    let passed = shown.len();
    let mut shown = shown.finish();
    shown.truncate(query.shown(shown.iter().map(ListedDocument::may_have_passage)));
    Ok(Examined { shown, passed, is_cut, is_unknown })
}

impl<T> Examined<T> {
    /// Computes the number of documents that meet the query: `chosen` of the `met` documents were
    /// to be examined, and `is_pruned` tells whether others may have been left out before.
    pub fn extent(
        &self,
        pruning: Pruning,
        (chosen, met): (usize, usize),
        is_pruned: bool,
    ) -> Extent {
        match pruning.checks_texts {
            true => {
                let is_cut = chosen < met || self.is_cut;
                Extent::of_those_looked_at(self.shown.len(), self.passed, is_cut)
            }
            false => Extent::of_all(self.shown.len(), met, is_pruned),
        }
    }
}

/// Examines documents of the snapshot by their texts, if the query requests it.
pub struct TextExaminer<'a> {
    evidence: Option<Evidence<'a>>,
    query: &'a Query,
}

impl<'a> TextExaminer<'a> {
    pub fn new(evidence: Option<Evidence<'a>>, query: &'a Query) -> TextExaminer<'a> {
        TextExaminer { evidence, query }
    }
}

impl Examine for TextExaminer<'_> {
    type Document = HitDetails;

    fn examine(&mut self, scored: Scored) -> Result<Examination<HitDetails>> {
        let Some(evidence) = &mut self.evidence else {
            return Ok(Examination::Document(HitDetails::new((scored, None), None, None)));
        };
        let verified = evidence.verify(scored.address)?;
        if verified.as_ref().is_some_and(|verified| !verify::meets(verified, self.query)) {
            return Ok(Examination::Dropped);
        }
        let passages = evidence.passages(scored.address)?;
        Ok(Examination::Document(HitDetails::new((scored, None), verified, passages)))
    }

    fn keep(&mut self, document: &mut HitDetails) -> Result<()> {
        let Some(evidence) = &mut self.evidence else { return Ok(()) };
        if let Some(passages) = &document.passages {
            evidence.keep(passages)?;
        }
        let scored = &mut document.scored;
        scored.similarity = evidence.similarity(scored.address)?.or(scored.similarity);
        Ok(())
    }
}
