//! A pair of documents, and how it becomes a report.

use super::{PairReport, WeightedSimilarity};
use cento::index::{DocAddress, Snapshot};
use cento::search::Searcher;
use cento_api::error::{Error, Result};
use cento_api::overlap::Overlap;
use cento_api::similarity::Similarity;
use cento_text::compare::Passages;

/// Two documents that share text.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Pair {
    /// The document that is stored first, or that of the first index.
    pub a: DocAddress,
    /// The other.
    pub b: DocAddress,
    /// The fingerprints that they have in common.
    pub overlap: Overlap,
    /// How much two programs suggest that one was copied, 0 to 1, if it was requested.
    pub score: Option<f64>,
    /// For programs: whether either is too short for meaningful numbers.
    pub too_short: Option<bool>,
    /// How similar their texts are.
    pub similarity: Similarity,
    /// The measures with fingerprints weighed by their rarity, if these were weighed.
    pub weighted: Option<WeightedSimilarity>,
    /// The tokens of `a` in passages in common, if pairs are ranked by them.
    pub passage_tokens: Option<u32>,
    /// The passages in common, if they were requested: `query` is in `a`, `hit` in `b`.
    pub passages: Option<Passages>,
}

/// The numbers of programs with fewer tokens are meaningless: of 119 pairs of independent programs
/// of IR-Plag where one has fewer, 47 in 100 had a resemblance of .8 or more, and of 135 with 50 to
/// 99 tokens 2 in 100 (research/RESULTS.md, "Copies of programs").
pub const PROGRAM_TOKENS_MIN: u32 = 50;

/// Tells whether a document is a program with too few tokens for meaningful numbers.
///
/// # Errors
/// When it is damaged.
pub(super) fn is_too_short(searcher: &Searcher, address: DocAddress) -> Result<bool> {
    let snapshot = searcher.snapshot();
    if !snapshot.config().analyzer.is_of_programs() {
        return Ok(false);
    }
    let document = snapshot.segment(address).signatures.document(address.doc)?;
    Ok(document.tokens < PROGRAM_TOKENS_MIN)
}

impl Pair {
    /// Exchanges the documents.
    pub(super) fn swapped(self) -> Pair {
        Pair {
            a: self.b,
            b: self.a,
            overlap: self.overlap.swapped(),
            similarity: self.similarity.swapped(),
            weighted: self.weighted.map(WeightedSimilarity::swapped),
            ..self
        }
    }

    /// Returns the pair without passages, which may be large.
    pub(super) fn without_passages(&self) -> Pair {
        Pair { passages: None, ..*self }
    }

    /// Makes the report of the pair, with the ids of its documents.
    ///
    /// # Errors
    /// When an id cannot be read.
    pub fn report(self, a: &Snapshot, b: &Snapshot) -> Result<PairReport> {
        let tokens = |snapshot: &Snapshot, address: DocAddress| {
            let segment = snapshot.segment(address);
            segment.signatures.document(address.doc).map(|document| document.tokens)
        };
        let (tokens_a, tokens_b) = (tokens(a, self.a)?, tokens(b, self.b)?);
        Ok(PairReport {
            fingerprints_a: self.overlap.in_a,
            fingerprints_b: self.overlap.in_b,
            tokens_a,
            tokens_b,
            score: self.score,
            too_short: self.too_short,
            index_a: a.name_of(self.a).map(str::to_owned),
            index_b: b.name_of(self.b).map(str::to_owned),
            a: a.id(self.a)?,
            b: b.id(self.b)?,
            overlap: self.overlap.shared,
            similarity: self.similarity,
            weighted: self.weighted,
            passage_tokens: self.passage_tokens,
            category: self.similarity.category(),
            passages_complete: self.passages.as_ref().map(|passages| passages.complete),
            passages: self.passages.map(|passages| passages.found),
        })
    }
}

/// Checks that there are texts to find passages in.
pub fn check_texts(snapshot: &Snapshot, other: &Snapshot) -> Result<()> {
    let Some(without) = [snapshot, other].into_iter().find(|one| !one.config().store_text) else {
        return Ok(());
    };
    // A client of a service may read this, so it has no path.
    let (path, is_one) = (without.index().path(), snapshot.index().path() == other.index().path());
    let index = match path.file_name().filter(|_| !is_one) {
        Some(name) => format!("`{}`", name.to_string_lossy()),
        None => "the index".to_owned(),
    };
    let what = format!("passages are found by comparing texts, but {index} stores none");
    Err(Error::argument("passages", what))
}
