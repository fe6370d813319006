//! Examination: the texts of the chosen documents decide which are shown, and provide details.
//!
//! Documents are examined one after another, best first: verified, and searched for passages, until
//! there are enough. The same rules apply to documents that shards have examined.

use super::evidence::Evidence;
use super::extent::Extent;
use super::hit_details::{HitDetails, List, ListedDocument, may_have_any};
use super::patience::Patience;
use super::pruning::Pruning;
use super::query::Query;
use super::score::Scored;
use super::verify;
use crate::error::Result;

/// The result of an examination.
pub struct ExaminedHits<T> {
    /// The documents to show, best first.
    pub shown: Vec<T>,
    /// The number of documents that passed, shown or not.
    pub passed: usize,
    /// Whether some documents were not examined.
    pub is_cut: bool,
    /// Whether the outcome for a deciding document is still missing.
    pub is_unknown: bool,
}

/// The outcome for one document.
pub enum Examination<T> {
    /// The document is a hit, if its passages are long enough.
    Document(T),
    /// The measure of the document misses a threshold.
    Dropped,
    /// The shard of the document has not examined it yet.
    Unknown,
}

/// Examines documents, either locally or from the answers of shards.
pub trait Examine {
    type Document: ListedDocument;

    /// Examines the next of the chosen documents.
    fn examine(&mut self, scored: Scored) -> Result<Examination<Self::Document>>;

    /// Completes the last examined document, which will be shown.
    fn keep(&mut self, document: &mut Self::Document) -> Result<()>;
}

/// Examines documents, best first.
///
/// # Errors
/// When a document cannot be read. [`Error::Cancelled`](crate::Error::Cancelled) soon after the
/// query is stopped.
pub fn examine<E: Examine>(
    query: &Query,
    chosen: Vec<Scored>,
    examiner: &mut E,
) -> Result<ExaminedHits<E::Document>> {
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
    Ok(ExaminedHits { shown, passed, is_cut, is_unknown })
}

impl<T> ExaminedHits<T> {
    /// Computes the number of documents that meet the query. `met` documents were found and
    /// `chosen` documents were to be examined. `is_pruned` means that documents may have been
    /// dropped earlier.
    pub fn extent(&self, pruning: Pruning, chosen: usize, met: usize, is_pruned: bool) -> Extent {
        match pruning.checks_texts {
            true => {
                let is_cut = chosen < met || self.is_cut;
                Extent::of_those_looked_at(self.shown.len(), self.passed, is_cut)
            }
            false => Extent::of_all(self.shown.len(), met, is_pruned),
        }
    }
}

/// Examines documents of the snapshot by their texts, if the query requires it.
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
            return Ok(Examination::Document(HitDetails::new(scored, None, None, None)));
        };
        let verified = evidence.verify(scored.address)?;
        if verified.as_ref().is_some_and(|verified| !verify::meets(verified, self.query)) {
            return Ok(Examination::Dropped);
        }
        let passages = evidence.passages(scored.address)?;
        Ok(Examination::Document(HitDetails::new(scored, None, verified, passages)))
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
