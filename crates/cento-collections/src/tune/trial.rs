//! Tries one setting: indexes the documents and searches for the queries.

use std::collections::HashSet;
use std::path::Path;
use std::time::Instant;

use super::case::{Case, Cases};
use super::common_text::CommonTexts;
use super::copies::TrialTexts;
use super::report::By;
use super::setting::Setting;
use super::threshold::QueryScores;
use cento::index::{Index, SigningOptions, WriterOptions};
use cento::search::{Hit, Query, Rank, RunMaker, Searcher};
use cento_api::error::{Error, Result};
use cento_api::overlap::Overlap;
use cento_api::similarity::Similarity;
use cento_text::runtime::Stop;
use cento_text::scheme::distinct_keys;
use cento_text::text::Tokens;

/// The memory of the writer of a trial, in bytes.
const MEMORY_BYTES: usize = 128 << 20;

/// The maximum number of judged texts for a planted query, as many as a search shows.
const HITS_MAX: usize = Query::HITS;

/// The maximum for a labeled query, whose labels mention documents far down the list.
const LABELLED_HITS_MAX: usize = 200;

/// Returns the maximum number of judged hits of a query, each with a distinct text.
pub(super) fn texts_max(cases: &Cases) -> usize {
    if cases.has_different { LABELLED_HITS_MAX } else { HITS_MAX }
}

/// An index of the documents of a trial.
pub(super) struct TrialIndex {
    searcher: Searcher,
    /// The time for adding the documents, in microseconds.
    pub add_us: u64,
    /// The bytes of the signatures.
    pub bytes: u64,
    /// The number of distinct fingerprints of each document, summed over documents.
    pub postings: u64,
}

impl TrialIndex {
    /// Makes the index in a new directory.
    ///
    /// # Errors
    /// When the setting cannot be used, or the index cannot be written. [`Error::Cancelled`] soon
    /// after `stop`.
    pub fn new(path: &Path, setting: &Setting, cases: &Cases, stop: &Stop) -> Result<TrialIndex> {
        let index = Index::create(path, setting.config()?)?;
        let started = Instant::now();
        let mut writer = index.writer(WriterOptions::default().memory_bytes(MEMORY_BYTES))?;
        let documents = cases.documents.iter().cloned().map(|mut document| {
            // Documents with the same id have replaced each other in the sample.
            document.id_source = document.id_source.chosen();
            Ok::<_, Error>(document)
        });
        writer.add_all(documents, &SigningOptions::default().stop(stop.clone()))?;
        writer.finish()?;
        let add_us = started.elapsed().as_micros() as u64;
        let snapshot = index.snapshot()?;
        let stats = snapshot.stats()?;
        let (bytes, postings) = (stats.bytes.signatures, stats.postings);
        Ok(TrialIndex { searcher: Searcher::new(snapshot), add_us, bytes, postings })
    }
}

/// The answers to the queries of a trial.
#[derive(Debug, Clone, Default)]
pub(super) struct TrialAnswers {
    /// The scores by query.
    pub scores: Vec<QueryScores>,
    /// By query, the number of wanted documents among the first hits, without a threshold.
    pub first: Vec<u64>,
    /// By query, the number of hits that no label mentions.
    pub unjudged: Vec<u64>,
    /// The durations of the searches, in microseconds.
    pub took_us: Vec<u64>,
    /// By query and wanted document, in order, the similarity of the texts by the setting's runs,
    /// and whether the document was found.
    pub wanted: Vec<(f64, bool)>,
}

/// How the queries of a trial are searched for, and how hits are judged.
pub(super) struct Trial<'a> {
    pub setting: &'a Setting,
    pub by: By,
    pub index: &'a TrialIndex,
    pub cases: &'a Cases,
    /// The distinct texts of the documents.
    pub texts: &'a TrialTexts,
    pub stop: &'a Stop,
}

impl Trial<'_> {
    /// Searches for the queries that `is_asked` chooses, with or without a threshold.
    ///
    /// # Errors
    /// When a search fails. [`Error::Cancelled`] soon after the trial is stopped.
    pub fn answers(
        &self,
        threshold: Option<f64>,
        is_asked: &dyn Fn(&Case) -> bool,
        common: &mut CommonTexts,
        searched: &mut dyn FnMut(),
    ) -> Result<TrialAnswers> {
        let mut answers = TrialAnswers::default();
        let maker = self.index.searcher.run_maker();
        for (number, case) in self.cases.cases.iter().enumerate() {
            if !is_asked(case) {
                continue;
            }
            self.stop.check()?;
            let answer = self.index.searcher.search(&self.query(case, threshold))?;
            answers.took_us.push(answer.took_us);
            let hits = self.of_different_texts(case, answer.hits);
            let is_of = |ids: &[String], text| ids.iter().any(|id| self.texts.number(id) == text);
            // Several wanted documents may have the same text.
            let wanted_of = |text: Option<usize>| {
                case.same.iter().filter(|id| self.texts.number(id) == text).count()
            };
            let mut scores =
                QueryScores { wanted: case.same.len() as u64, ..QueryScores::default() };
            let mut unjudged = 0;
            for (text, hit) in &hits {
                let score = self.score(hit);
                let wanted = wanted_of(*text);
                if wanted > 0 {
                    scores.right.extend(std::iter::repeat_n(score, wanted));
                } else if is_of(&case.different, *text) {
                    scores.wrong.push(score);
                } else if self.cases.has_different {
                    unjudged += 1;
                } else if !self.is_common(number, case, hit, common)? {
                    scores.wrong.push(score);
                }
            }
            let texts: HashSet<_> = case.same.iter().map(|id| self.texts.number(id)).collect();
            let first: usize =
                hits.iter().take(texts.len()).map(|(text, _)| wanted_of(*text)).sum();
            for id in &case.same {
                let text = self.texts.number(id);
                let is_found = hits.iter().any(|(of_hit, _)| *of_hit == text);
                answers.wanted.push((self.similarity(maker.as_ref(), case, id)?, is_found));
            }
            answers.scores.push(scores);
            answers.first.push(first as u64);
            answers.unjudged.push(unjudged);
            searched();
        }
        Ok(answers)
    }

    /// Returns the number of the text of the document that is the query.
    fn text_of_itself(&self, case: &Case) -> Option<usize> {
        self.texts.number(case.itself.as_ref()?)
    }

    /// Returns the first hit of each text, with the number of the text. The query itself is no hit,
    /// and a copy of the query is a hit only if a label mentions the copy.
    fn of_different_texts(&self, case: &Case, hits: Vec<Hit>) -> Vec<(Option<usize>, Hit)> {
        let mut seen = HashSet::new();
        if let Some(text) = self.text_of_itself(case) {
            let mut named = case.same.iter().chain(&case.different);
            if !named.any(|id| self.texts.number(id) == Some(text)) {
                seen.insert(Some(text));
            }
        }
        let hits = hits.into_iter().map(|hit| (self.texts.number(&hit.id), hit));
        hits.filter(|(text, _)| seen.insert(*text)).take(texts_max(self.cases)).collect()
    }

    fn query(&self, case: &Case, threshold: Option<f64>) -> Query {
        let limit = self.texts.hits(texts_max(self.cases), self.text_of_itself(case));
        let query = Query::text(case.query.clone()).rank(self.setting.rank).limit(limit);
        let itself: Vec<String> = case.itself.iter().cloned().collect();
        let mut query = query.exclude_id(itself);
        query.stop = self.stop.clone();
        match (self.by, self.is_weighted()) {
            (By::Containment, false) => query.min_containment(threshold),
            (By::Containment, true) => query.min_weighted_containment(threshold),
            (By::Resemblance, false) => query.min_resemblance(threshold),
            (By::Resemblance, true) => query.min_weighted_resemblance(threshold),
        }
    }

    fn is_weighted(&self) -> bool {
        self.setting.rank != Rank::Overlap
    }

    /// Returns the number of a hit that a threshold applies to, which may be an estimate without a
    /// threshold.
    fn score(&self, hit: &Hit) -> f64 {
        let weighted = hit.weighted.filter(|_| self.is_weighted());
        match (self.by, weighted) {
            (By::Containment, None) => hit.similarity.containment_of_a,
            (By::Resemblance, None) => hit.similarity.resemblance,
            (By::Containment, Some(weighted)) => weighted.containment_of_a,
            (By::Resemblance, Some(weighted)) => weighted.resemblance,
        }
    }

    fn is_common(
        &self,
        number: usize,
        case: &Case,
        hit: &Hit,
        common: &mut CommonTexts,
    ) -> Result<bool> {
        let text = self.text_of(&hit.id)?;
        let unedited = case.unedited.as_deref().unwrap_or(&case.query);
        common.are_common(number, unedited, &hit.id, &text, self.stop)
    }

    fn text_of(&self, id: &str) -> Result<String> {
        let snapshot = self.index.searcher.snapshot();
        let text = snapshot.find(id)?.map(|address| snapshot.text(address)).transpose()?;
        Ok(text.flatten().unwrap_or_default())
    }

    /// Returns the exact similarity of a query and a wanted document by the setting's runs, or by
    /// all fingerprints for a scheme without runs.
    fn similarity(&self, maker: Option<&RunMaker>, case: &Case, id: &str) -> Result<f64> {
        let texts = [&case.query, &self.text_of(id)?];
        let similarity = match maker {
            Some(maker) => {
                let [a, b] = texts.map(|text| maker.of_text(text, self.stop));
                Similarity::exact(a?.overlap(&b?))
            }
            None => {
                let config = self.index.searcher.snapshot().config();
                let [a, b] = texts.map(|text| {
                    let signature = config.sign_into(text, &mut Tokens::default(), self.stop);
                    signature.map(|signature| distinct_keys(&signature))
                });
                Similarity::of_sketches(Overlap::of(&a?, &b?))
            }
        };
        Ok(match self.by {
            By::Containment => similarity.containment_of_a,
            By::Resemblance => similarity.resemblance,
        })
    }
}
