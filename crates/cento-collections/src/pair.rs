//! A pair of documents and its report.

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
    /// The document that is stored first or, in a join of two indexes, the document of the first
    /// index.
    pub a: DocAddress,
    /// The document that is stored later or, in a join of two indexes, the document of the second
    /// index.
    pub b: DocAddress,
    /// The number of distinct fingerprints of `a`, of `b`, and in common.
    pub overlap: Overlap,
    /// How strongly two programs suggest copying, from 0 to 1. `None` without scores.
    pub score: Option<f64>,
    /// Whether `a` or `b` is too short a program for meaningful numbers. `None` for prose.
    pub too_short: Option<bool>,
    /// How similar the texts of `a` and `b` are.
    pub similarity: Similarity,
    /// The similarity with fingerprints weighed by rarity. `None` if no weights were requested.
    pub weighted: Option<WeightedSimilarity>,
    /// The tokens of `a` in shared passages. `None` unless the pairs are ranked by passages.
    pub passage_tokens: Option<u32>,
    /// The shared passages, if requested. `query` is a place in `a`, `hit` a place in `b`.
    pub passages: Option<Passages>,
}

/// Numbers about programs with fewer tokens are meaningless: of 119 pairs of independent programs
/// of IR-Plag with a program below this limit, 47 in 100 had a resemblance of 0.8 or more. Of 135
/// pairs with 50 to 99 tokens, 2 in 100 had (research/RESULTS.md, "Copies of programs").
pub const PROGRAM_TOKENS_MIN: u32 = 50;

/// Tells whether a document is a program with fewer than [`PROGRAM_TOKENS_MIN`] tokens.
///
/// # Errors
/// When the document is damaged.
pub(super) fn is_too_short(searcher: &Searcher, address: DocAddress) -> Result<bool> {
    let snapshot = searcher.snapshot();
    if !snapshot.config().analyzer.is_of_programs() {
        return Ok(false);
    }
    let document = snapshot.segment(address).signatures.document(address.doc)?;
    Ok(document.tokens < PROGRAM_TOKENS_MIN)
}

impl Pair {
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

    /// Returns the pair without its passages, which may take much memory.
    pub(super) fn without_passages(&self) -> Pair {
        Pair { passages: None, ..*self }
    }

    /// Turns the pair into its report, which names the documents by id.
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

/// Checks that both indexes store texts, which a search for passages needs.
pub fn check_texts(snapshot: &Snapshot, other: &Snapshot) -> Result<()> {
    let Some(without) = [snapshot, other].into_iter().find(|one| !one.config().store_text) else {
        return Ok(());
    };
    // A client of a service may read this message, so it contains no path.
    let (path, is_one) = (without.index().path(), snapshot.index().path() == other.index().path());
    let index = match path.file_name().filter(|_| !is_one) {
        Some(name) => format!("`{}`", name.to_string_lossy()),
        None => "the index".to_owned(),
    };
    let what = format!("passages are found by comparing texts, but {index} stores none");
    Err(Error::argument("passages", what))
}
