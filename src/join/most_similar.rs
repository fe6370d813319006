//! The most similar documents of a small collection.
//!
//! The pairwise test of Finkel et al. (2002), section 2.6: symmetric similarity of all pairs, the most
//! similar ones first.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::Thresholds;
use super::best::Best;
use super::margin::MARGIN_DOCUMENTS_MIN;
use super::numbering::Numbering;
use super::pairs::{Pair, PairOptions, PairReport, pairs};
use crate::error::Result;
use crate::search::Searcher;
use crate::stop::Stop;

/// A pair, and the similarity of its documents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct SymmetricPair {
    /// The pair.
    #[serde(flatten)]
    pub pair: PairReport,
    /// Symmetric similarity, 0 to 1: twice the common part over the sum of both.
    pub symmetric: f64,
}

/// The options for showing pairs.
#[derive(Debug, Clone, Copy)]
pub struct MostSimilarOptions {
    /// The maximum number of pairs.
    pub limit: usize,
    /// The least symmetric similarity of a pair, 0 to 1: 2 r / (1 + r) for a resemblance of r.
    pub min_similarity: f64,
    /// The least resemblance of the texts of a pair, 0 to 1.
    pub min_resemblance: f64,
    /// The least margin of a pair, -1 to 1, if margins decide.
    pub min_margin: Option<f64>,
    /// Whether those with the greatest margins come first.
    pub by_margin: bool,
    /// The minimum number of tokens in a passage of a pair, which is then shown. If set, it takes
    /// the texts, and the time of finding the passages of every pair that shares a fingerprint.
    pub min_passage: Option<u32>,
    /// The number of threads that search.
    pub threads: usize,
}

impl Default for MostSimilarOptions {
    fn default() -> MostSimilarOptions {
        MostSimilarOptions {
            limit: 20,
            min_similarity: 0.0,
            min_resemblance: 0.0,
            min_margin: None,
            by_margin: false,
            min_passage: None,
            threads: crate::available_threads(),
        }
    }
}

/// The number of pairs of some documents by their symmetric similarity, whether they are shown or
/// not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    /// Pairs with a similarity from 0 to 0.1, from 0.1 to 0.2 and so on; 1 is in the last.
    pub pairs: [u64; 10],
    /// Of these, the pairs that do not meet the thresholds.
    pub below: [u64; 10],
    /// Pairs without a fingerprint in common.
    pub none: u64,
}

impl Histogram {
    /// Counts a pair.
    fn add(&mut self, similarity: f64, is_wanted: bool) {
        let bin = ((similarity * 10.0) as usize).min(9);
        self.pairs[bin] += 1;
        self.below[bin] += u64::from(!is_wanted);
    }

    /// Counts the pairs of this number of documents that were not added.
    fn with_none_of(mut self, documents: u64) -> Histogram {
        let all = documents * documents.saturating_sub(1) / 2;
        self.none = all.saturating_sub(self.pairs.iter().sum());
        self
    }
}

/// The most similar pairs of some documents, and their number.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MostSimilar {
    /// The pairs, the most similar first; of equals those that are stored first.
    pub pairs: Vec<SymmetricPair>,
    /// The number of all pairs that meet the thresholds.
    pub total: u64,
    /// All pairs by their similarity.
    pub histogram: Histogram,
    /// The number of documents that were compared.
    pub compared: u64,
    /// The documents without a fingerprint that counts, in stored order.
    pub not_compared: Vec<NothingLeft>,
}

/// A document without a fingerprint that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NothingLeft {
    /// Its id.
    pub id: String,
    /// Whether it has tokens: all of it is then boilerplate.
    pub has_tokens: bool,
}

impl MostSimilarOptions {
    /// Tells whether a pair meets the thresholds; keeps only its passages that are long enough.
    fn is_met(&self, pair: &mut Pair) -> bool {
        let resemblance = self.min_resemblance;
        let is_alike = pair.similarity.symmetric() >= self.min_similarity
            && Thresholds::default().min_resemblance(resemblance).meets(&pair.similarity)
            && self
                .min_margin
                .is_none_or(|least| pair.margin.is_some_and(|margin| margin >= least));
        let passages = pair.passages.take();
        pair.passages =
            passages.map(|passages| passages.of_at_least(self.min_passage.unwrap_or(0)));
        let has_passage =
            || pair.passages.as_ref().is_some_and(|passages| !passages.found.is_empty());
        is_alike && (self.min_passage.is_none() || has_passage())
    }
}

/// Finds the most similar pairs of documents, and counts all of them.
///
/// They have a margin ([`margin`](super::margin)) if there are enough documents for it.
///
/// # Errors
/// When margins decide and there are too few documents for them, and when a file is damaged; [`Error::Cancelled`](crate::Error::Cancelled) after `stop`.
pub fn most_similar(
    searcher: &Searcher,
    options: &MostSimilarOptions,
    stop: &Stop,
) -> Result<MostSimilar> {
    let MostSimilarOptions { limit, min_margin, by_margin, min_passage, threads, .. } = *options;
    let snapshot = searcher.snapshot();
    let documents = snapshot.documents();
    let not_compared = nothing_left(searcher, stop)?;
    let compared = documents - not_compared.len() as u64;
    // Pairs that do not meet the thresholds are counted, so no threshold is passed to the join. The
    // requested margin makes too few documents an error.
    let joined = PairOptions {
        margins: documents >= MARGIN_DOCUMENTS_MIN,
        min_margin: (by_margin || min_margin.is_some()).then_some(f64::NEG_INFINITY),
        passages: min_passage.is_some(),
        threads,
        ..PairOptions::default()
    };
    let mut best = Best::new(limit, |one: &Pair, other: &Pair| order(by_margin, one, other));
    let (mut total, mut histogram) = (0, Histogram::default());
    pairs(searcher, None, &joined, 0, stop, &mut |_, mut found| {
        found.retain_mut(|pair| {
            let is_met = options.is_met(pair);
            histogram.add(pair.similarity.symmetric(), is_met);
            is_met
        });
        total += found.len() as u64;
        best.extend(found);
        Ok(())
    })?;
    let report = |pair: Pair| {
        let symmetric = pair.similarity.symmetric();
        Ok(SymmetricPair { pair: pair.report(snapshot, snapshot)?, symmetric })
    };
    let pairs = best.finish().into_iter().map(report).collect::<Result<_>>()?;
    let histogram = histogram.with_none_of(compared);
    Ok(MostSimilar { pairs, total, histogram, compared, not_compared })
}

/// Finds the documents without a fingerprint that counts, in stored order: they are in no pair.
///
/// # Errors
/// When a file is damaged; [`Error::Cancelled`](crate::Error::Cancelled) after `stop`.
pub fn nothing_left(searcher: &Searcher, stop: &Stop) -> Result<Vec<NothingLeft>> {
    let (snapshot, mut found) = (searcher.snapshot(), Vec::new());
    let numbering = Numbering::new(snapshot);
    for number in 0..numbering.end() {
        stop.check_at(number as usize)?;
        let address = numbering.address(number);
        let segment = snapshot.segment(address);
        if segment.is_alive(address.doc) && searcher.size_of(address)? == 0 {
            let has_tokens = segment.signatures.document(address.doc)?.tokens > 0;
            found.push(NothingLeft { id: snapshot.id(address)?, has_tokens });
        }
    }
    Ok(found)
}

/// Compares pairs: the more similar first, or the one with the greater margin.
fn order(by_margin: bool, one: &Pair, other: &Pair) -> Ordering {
    let rank = |pair: &Pair| {
        let (similarity, margin) = (pair.similarity.symmetric(), pair.margin.unwrap_or_default());
        if by_margin { [margin, similarity] } else { [similarity, 0.0] }
    };
    let (ranks, others) = (rank(one), rank(other));
    others[0].total_cmp(&ranks[0]).then(others[1].total_cmp(&ranks[1]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Config, Document, Index, SignedDocument, WriterOptions};
    use crate::search::Boilerplate;

    fn searcher(texts: &[(&str, String)]) -> Searcher {
        let index = Index::in_memory(Config::new("kgram(k=1)", "words", true).unwrap()).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        for (id, text) in texts {
            let document = Document::new(*id, text.clone());
            writer
                .add_signed(SignedDocument::new(document, index.config(), Stop::NEVER).unwrap())
                .unwrap();
        }
        writer.finish().unwrap();
        Searcher::new(index.snapshot().unwrap())
    }

    /// Returns a text of `own` words that only this text has, after `common` words that all texts
    /// have.
    fn text(seed: u32, own: u32, common: u32) -> String {
        let common = (0..common).map(|n| format!("all{n} "));
        common.chain((0..own).map(|n| format!("w{seed}x{n} "))).collect()
    }

    #[test]
    fn pairs_below_a_threshold_are_counted_by_their_kind() {
        // Two copies, with two others half of them in common, and one text by itself.
        let [copy, half] = [text(1, 10, 10), text(2, 10, 10)];
        let texts = [
            ("a", copy.clone()),
            ("b", copy),
            ("c", half),
            ("d", text(3, 20, 0)),
            ("e", " ".into()),
        ];
        let (searcher, stop) = (searcher(&texts), Stop::new());
        let check = |options: MostSimilarOptions, shown: &[&str], total, below: [u64; 2]| {
            let found = most_similar(&searcher, &options, &stop).unwrap();
            let ids: Vec<_> =
                found.pairs.iter().map(|p| format!("{}{}", p.pair.a, p.pair.b)).collect();
            assert_eq!((ids, found.total), (shown.iter().map(|s| s.to_string()).collect(), total));
            let Histogram { pairs, below: not_met, none } = found.histogram;
            assert_eq!((pairs[5], pairs[9], none), (2, 1, 3), "{pairs:?}");
            assert_eq!([not_met[5], not_met[9]], below);
            // The empty one is in no pair, not even in one with nothing in common.
            assert_eq!((found.compared, found.not_compared.len()), (4, 1));
            assert_eq!(
                (&*found.not_compared[0].id, found.not_compared[0].has_tokens),
                ("e", false)
            );
        };
        let options = MostSimilarOptions::default();
        check(options, &["ab", "ac", "bc"], 3, [0, 0]);
        check(MostSimilarOptions { min_similarity: 0.6, ..options }, &["ab"], 1, [2, 0]);
        check(MostSimilarOptions { limit: 1, ..options }, &["ab"], 3, [0, 0]);
        check(MostSimilarOptions { min_passage: Some(15), ..options }, &["ab"], 1, [2, 0]);
        check(MostSimilarOptions { min_passage: Some(50), ..options }, &[], 0, [2, 1]);
    }

    #[test]
    fn a_document_of_boilerplate_alone_is_not_compared() {
        let texts = [("a", text(1, 9, 9)), ("b", text(2, 9, 9)), ("sheet", text(3, 0, 9))];
        let searcher = searcher(&texts);
        let mut sheet = Boilerplate::new(searcher.snapshot().config()).unwrap();
        sheet.add_text(&texts[2].1, Stop::NEVER).unwrap();
        let searcher = searcher.excluding(sheet, Stop::NEVER).unwrap();
        let options = MostSimilarOptions::default();
        let found = most_similar(&searcher, &options, Stop::NEVER).unwrap();
        assert_eq!((found.compared, found.histogram.none), (2, 1));
        assert_eq!(found.not_compared, [NothingLeft { id: "sheet".into(), has_tokens: true }]);
    }
}
