//! The pairs of one document.
//!
//! [`pairs`](super::pairs) describes the method, and why no pair is lost.

use std::sync::Arc;

use super::contenders::{Archive, Contenders, CountedPair, PairCandidate, RankedPairs, is_met};
use super::copies::Copies;
use super::counted::CountedKeys;
use super::numbering::Numbering;
use super::pair::{Pair, check_texts, is_too_short};
use super::program_texts::{ProgramTexts, ScoredTexts};
use super::score::PairScores;
use super::series::{Scope, Series};
use super::thresholds::PairThresholds;
use super::verify::{ComparedDocument, Verifier};
use super::weights::{DocumentWeights, candidates};
use super::{PairOptions, PairRank, Thresholds};
use cento::index::{DocAddress, MaxDf};
use cento::search::{
    Chance, Neighbor, NeighborLimits, RunMaker, Searcher, StoredMemory, StoredRuns, Texts, Weigh,
    WeightedOverlap, kept_runs,
};
use cento_api::MAX_EXPECTED;
use cento_api::error::Result;
use cento_api::overlap::Overlap;
use cento_api::similarity::Similarity;
use cento_text::compare::Passages;
use cento_text::runtime::Stop;
use cento_text::sampling::{Sampling, Size};

/// Conditions for versions: the documents share enough rare text, or nearly all of their text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Versions {
    /// A fingerprint in more documents than this number counts as common.
    pub common_df: u64,
    /// The minimum share of the uncommon fingerprints of either document that both documents have.
    pub min_share: f64,
    /// The minimum resemblance of versions that do not reach `min_share`.
    pub min_resemblance: f64,
}

/// The conditions for the pairs of each document: [`PairOptions`] without a limit.
#[derive(Debug, Clone)]
pub(super) struct PairConditions {
    pub thresholds: Thresholds,
    /// The minimum symmetric similarity.
    pub min_similarity: f64,
    /// Further conditions, if only versions are wanted.
    pub versions: Option<Versions>,
    pub scope: Scope,
    /// The series of the scope, unless the search is to read them.
    pub series: Option<Arc<Series>>,
    pub max_df: Option<MaxDf>,
    /// Whether to compute scores, which requires the texts of all documents.
    pub scores: bool,
    /// Whether to compare all words, as a verdict does, even if the analyzer of the index omits
    /// some.
    pub by_verdicts: bool,
    /// Whether to weigh fingerprints even if no threshold is weighted.
    pub weighted: bool,
    /// Whether to find passages, which requires the texts of both documents of each pair.
    pub passages: bool,
    pub min_passage: Option<u32>,
    pub max_expected: f64,
    /// The rank and the limit, if only the best pairs are wanted.
    pub ranked: Option<RankedPairs>,
    /// The conditions of the best pairs, in a search that counts all pairs.
    pub met: Option<PairOptions>,
    /// The archive, whose documents are not compared with each other.
    pub archive: Option<Archive>,
}

/// Margin for rounding errors when a symmetric similarity is converted into a resemblance.
const ROUNDING: f64 = 1e-9;

impl PairConditions {
    /// Translates the options of a join into conditions.
    ///
    /// # Errors
    /// When the options contradict each other or are out of bounds.
    pub fn of(options: &PairOptions) -> Result<PairConditions> {
        options.check()?;
        let mut thresholds = options.effective_thresholds();
        let min_similarity = options.min_similarity.unwrap_or(0.0);
        if min_similarity > 0.0 {
            // Excludes most candidates early. The symmetric similarity itself is checked at the
            // end.
            let resemblance = min_similarity / (2.0 - min_similarity) * (1.0 - ROUNDING);
            thresholds = thresholds.min_resemblance(resemblance.max(thresholds.resemblance()));
        }
        Ok(PairConditions {
            thresholds,
            min_similarity,
            versions: None,
            scope: options.scope()?,
            series: None,
            max_df: options.max_df,
            scores: false,
            by_verdicts: false,
            weighted: options.weighted,
            passages: options.passages || options.min_passage.is_some(),
            min_passage: options.min_passage,
            max_expected: options.max_expected.unwrap_or(MAX_EXPECTED),
            ranked: None,
            met: None,
            archive: None,
        })
    }

    /// Returns the weights of the documents of `searched`, if fingerprints are weighed.
    fn weights<'a>(&self, searched: &'a Searcher) -> Option<DocumentWeights<'a>> {
        match self.versions {
            Some(versions) => {
                Some(DocumentWeights::by(searched, Weigh::counting(versions.common_df)))
            }
            None => {
                let is_weighed = self.weighted || self.thresholds.is_weighed();
                is_weighed.then(|| DocumentWeights::new(searched))
            }
        }
    }

    /// Tells whether documents with this overlap may be versions, if only versions are wanted.
    fn may_be_versions(
        &self,
        sampling: Sampling,
        overlap: Overlap,
        of: [Size; 2],
        weights: Option<WeightedOverlap>,
    ) -> bool {
        self.versions.is_none_or(|versions| {
            weights.is_some_and(|weights| weights.max_containment() >= versions.min_share)
                || sampling.may_resemble(
                    versions.min_resemblance,
                    overlap,
                    of.map(|size| size.is_all),
                )
        })
    }

    /// Tells whether documents of this similarity are versions, if only versions are wanted.
    fn are_versions(&self, similarity: &Similarity, weights: Option<WeightedOverlap>) -> bool {
        self.versions.is_none_or(|versions| {
            weights.is_some_and(|weights| weights.max_containment() >= versions.min_share)
                || similarity.resemblance >= versions.min_resemblance
        })
    }
}

pub(super) struct PairTexts<'a> {
    against: Option<&'a Searcher>,
    /// Runs of the first index in a join of two indexes, if texts decide. Within one index, the
    /// verifier has the runs already.
    own: Option<StoredRuns<'a>>,
    verifier: Verifier<'a>,
    /// The texts of programs, if pairs have scores.
    scored: Option<ScoredTexts>,
    /// The source of memory for the texts of an archive. `None` means unbounded.
    memory: Option<StoredMemory>,
    chance: Option<Arc<Chance>>,
}

impl<'a> PairTexts<'a> {
    /// Opens the texts of `searcher` and of `against` for the wanted pairs. `memory` bounds the
    /// memory for the texts of `searcher`.
    pub fn new(
        searcher: &'a Searcher,
        against: Option<&'a Searcher>,
        wanted: &PairConditions,
        memory: Option<StoredMemory>,
        chance: Option<Arc<Chance>>,
    ) -> PairTexts<'a> {
        let kept = kept_runs();
        let scored = wanted.scores.then(|| ScoredTexts::new(searcher, against, memory.clone()));
        let maker = |searcher: &Searcher| match wanted.by_verdicts {
            true => searcher.verdict_maker(),
            false => searcher.run_maker(),
        };
        let runs = |searcher: &'a Searcher, texts: Option<&Arc<ProgramTexts>>| match texts {
            None => searcher.stored_runs(maker(searcher), &kept, memory.clone()),
            Some(texts) => {
                let texts = texts.clone();
                let make = move |at, by: &RunMaker, stop: &Stop| texts.set(at, by, stop);
                searcher.stored_runs_by(maker(searcher), Box::new(make), &kept)
            }
        };
        let own = runs(searcher, scored.as_ref().map(|texts| &texts.a));
        let Some(other) = against else {
            let verifier = Verifier::new(searcher, own);
            return PairTexts { against, own: None, verifier, scored, memory, chance };
        };
        // Texts decide only if both indexes can supply them.
        let runs = runs(other, scored.as_ref().map(ScoredTexts::other));
        let runs = runs.filter(|_| own.is_some());
        let own = own.filter(|_| runs.is_some());
        PairTexts { against, own, verifier: Verifier::new(other, runs), scored, memory, chance }
    }

    fn own_runs(&self) -> Option<&StoredRuns<'a>> {
        self.own.as_ref().or_else(|| self.verifier.runs())
    }
}

pub(super) struct PairSearch<'a> {
    searcher: &'a Searcher,
    against: Option<&'a Searcher>,
    wanted: &'a PairConditions,
    thresholds: Thresholds,
    texts: &'a PairTexts<'a>,
    sampling: Sampling,
    numbering: Numbering,
    /// The numbering of the index that is searched, which is `against` if there is one.
    other: Numbering,
    series: Option<Arc<Series>>,
    copies: Copies,
    /// Counts the common fingerprints, if only texts tell which fingerprints count.
    counted: Option<CountedKeys<'a>>,
    scores: Option<Arc<PairScores>>,
    is_of_programs: bool,
    /// The weights of documents in the searched index, if fingerprints are weighed.
    weights: Option<DocumentWeights<'a>>,
    /// The minimum overlap for a document of `against` to be contained in a searched-for document.
    /// `u32::MAX` within one index.
    contained_min: u32,
    stop: &'a Stop,
}

impl<'a> PairSearch<'a> {
    /// Prepares the search.
    ///
    /// # Errors
    /// When the indexes sign texts differently or store no texts to find passages in, no document
    /// has the field of the scope, scores are wanted for documents without texts, or a file is
    /// damaged.
    pub fn new(
        searcher: &'a Searcher,
        texts: &'a PairTexts<'a>,
        wanted: &'a PairConditions,
        threads: usize,
        stop: &'a Stop,
    ) -> Result<PairSearch<'a>> {
        let against = texts.against;
        let snapshot = searcher.snapshot();
        let other = against.unwrap_or(searcher).snapshot();
        let (own_name, path) = (snapshot.index().path().display(), other.index().path());
        snapshot.config().check_signs_alike(own_name, other.config(), path)?;
        if wanted.passages {
            check_texts(snapshot, other)?;
        }
        let snapshots = if against.is_some() { vec![snapshot, other] } else { vec![snapshot] };
        let (numbering, other_numbering) = (Numbering::new(snapshot), Numbering::new(other));
        let sampling = texts.verifier.sampling();
        let thresholds = wanted.thresholds;
        let contained_min = match against {
            Some(against) => contained_min(against, &other_numbering, thresholds, sampling, stop)?,
            None => u32::MAX,
        };
        let series = match &wanted.series {
            Some(series) => Some(series.clone()),
            None => {
                let documents = snapshots.iter().map(|snapshot| snapshot.documents()).sum();
                let series = Series::read(&wanted.scope, &snapshots)?;
                series.as_ref().map_or(Ok(()), |series| series.check_has_pairs(documents))?;
                series.map(Arc::new)
            }
        };
        let scores = |texts: &ScoredTexts| {
            let new = wanted.archive.as_ref().map_or(0, |archive| archive.first);
            PairScores::new(texts.clone(), new, threads, stop)
        };
        let scores = texts.scored.as_ref().map(scores).transpose()?.map(Arc::new);
        let counted = CountedKeys::new(searcher, against, texts.memory.clone());
        let copies = Copies::new(searcher, against, wanted.max_df, series.as_deref(), stop)?;
        Ok(PairSearch {
            searcher,
            against,
            wanted,
            thresholds,
            texts,
            sampling,
            numbering,
            other: other_numbering,
            series,
            copies,
            counted,
            scores,
            is_of_programs: snapshot.config().analyzer.is_of_programs(),
            weights: wanted.weights(against.unwrap_or(searcher)),
            contained_min,
            stop,
        })
    }

    /// Returns the minimum overlap for a document of size `own` to find its partners.
    fn overlap_min(&self, own: Size) -> u32 {
        let thresholds = self.thresholds;
        match self.against {
            None => self.thresholds.overlap_min(self.sampling, own),
            // The search runs from this side only, so the partner may be the contained document.
            Some(_) => {
                let contained = thresholds.min_resemblance(None);
                let alike = thresholds.min_containment(None);
                let least = contained.overlap_min(self.sampling, own).min(self.contained_min);
                least.max(alike.overlap_min(self.sampling, own))
            }
        }
    }

    /// Returns the documents that share enough of these keys with `own`, and the weights of both
    /// sides.
    fn candidates(
        &self,
        own: DocAddress,
        keys: &[u64],
        overlap_min: u32,
    ) -> Result<Vec<(Neighbor, Option<WeightedOverlap>)>> {
        let searched = self.against.unwrap_or(self.searcher);
        let except = self.against.is_none().then_some(own);
        // Only documents of one index are searched for, so the lighter document may be the partner.
        let share_min = match self.against {
            None => self.thresholds.weight_share_min(),
            Some(_) => self.thresholds.weighted_resemblance(),
        };
        let max_df = self.wanted.max_df;
        let limits = NeighborLimits { overlap_min, share_min, max_df, except };
        candidates(searched, self.weights.as_ref(), keys, limits, self.stop)
    }

    pub fn end(&self) -> u64 {
        self.numbering.end()
    }

    /// Returns the number of documents that lack the field of the scope.
    pub fn documents_without_field(&self) -> u64 {
        self.series.as_deref().map_or(0, Series::documents_without_field)
    }

    /// Returns the scores of pairs, if they are wanted.
    pub fn scores(&self) -> Option<Arc<PairScores>> {
        self.scores.clone()
    }

    /// Returns the pairs of this document. With a rank, pairs without a chance to be among the best
    /// are only counted.
    ///
    /// # Errors
    /// When a file is damaged; [`Error::Cancelled`] after the search was stopped.
    pub fn contenders(&self, number: u64) -> Result<Contenders> {
        let address = self.numbering.address(number);
        let snapshot = self.searcher.snapshot();
        if !snapshot.segment(address).is_alive(address.doc) {
            return Ok(Contenders::default());
        }
        let keys = self.searcher.keys_of(address, self.stop)?;
        let runs = self.texts.own_runs();
        let mut own = ComparedDocument::stored(self.searcher, address, &keys, self.sampling, runs)?;
        let overlap_min = self.overlap_min(own.size);
        let mut verification = self.texts.verifier.begin();
        let mut candidates = Vec::new();
        for (found, weights) in self.candidates(address, &keys, overlap_min)? {
            let size = verification.size(found)?;
            let candidate = PairCandidate { found, size, weights };
            candidates.extend(self.may_pair(number, own.size, candidate)?);
        }
        let others = self.leave_out(number, own.size, &mut candidates);
        let mut pairs: Vec<Pair> = Vec::new();
        for PairCandidate { found, size, weights } in candidates {
            let similarity = verification.with(&mut own, found, size, self.stop)?;
            if self.thresholds.meets(&similarity)
                && similarity.symmetric() >= self.wanted.min_similarity
                && self.wanted.are_versions(&similarity, weights)
            {
                let overlap = found.with(own.size.fingerprints);
                pairs.push(self.pair(number, found.address, overlap, similarity, weights));
            }
        }
        self.add_copies(number, &own, &mut pairs)?;
        if let Some(counted) = &self.counted {
            counted.count(&mut pairs, self.thresholds.overlap(), self.stop)?;
        }
        pairs.sort_unstable_by_key(|pair| (pair.a, pair.b));
        if self.is_of_programs {
            for pair in &mut pairs {
                pair.too_short = Some(self.is_too_short(pair)?);
            }
        }
        if self.wanted.passages {
            self.add_passages(&mut pairs)?;
        }
        let mut contenders = self.choose(pairs)?;
        contenders.others.extend(others);
        Ok(contenders)
    }

    /// Removes archived candidates that will not be compared by text, and returns their
    /// similarities as estimated from fingerprints.
    fn leave_out(
        &self,
        number: u64,
        own: Size,
        candidates: &mut Vec<PairCandidate>,
    ) -> Vec<CountedPair> {
        let Some(archive) = &self.wanted.archive else { return Vec::new() };
        let is_archived = |address| self.other.number(address) >= archive.first;
        let left_out = archive.leave_out(own, self.sampling, candidates, is_archived);
        let seen = left_out.into_iter().map(|PairCandidate { found, weights, .. }| {
            let overlap = found.with(own.fingerprints);
            let sketched = Similarity::of_sketches(overlap);
            let mut pair = self.pair(number, found.address, overlap, sketched, weights);
            let is_met = is_met(&archive.options, &mut pair);
            CountedPair { is_met, is_estimated: true, ..CountedPair::met(&pair) }
        });
        seen.collect()
    }

    /// Separates pairs with a chance to be among the best. Without a rank, keeps all pairs.
    fn choose(&self, mut pairs: Vec<Pair>) -> Result<Contenders> {
        let Some(ranked) = &self.wanted.ranked else {
            return Ok(Contenders { pairs, others: Vec::new() });
        };
        let mut others = Vec::new();
        if let Some(options) = &self.wanted.met {
            pairs.retain_mut(|pair| {
                let is_met = is_met(options, pair);
                if !is_met {
                    others.push(CountedPair { is_met, ..CountedPair::met(pair) });
                }
                is_met
            });
        }
        if ranked.rank == PairRank::Passages {
            for pair in &mut pairs {
                pair.passage_tokens = pair.passages.as_ref().map(Passages::tokens);
            }
        }
        let scores = self.scores.as_ref().filter(|_| ranked.rank == PairRank::Score);
        if let Some(scores) = scores {
            for pair in &mut pairs {
                pair.score = Some(scores.of(pair.a, pair.b, self.stop)?);
            }
        }
        let mut contenders = ranked.divide(pairs);
        contenders.others.extend(others);
        Ok(contenders)
    }

    fn add_passages(&self, pairs: &mut Vec<Pair>) -> Result<()> {
        let texts = Texts::new(self.searcher, self.against.unwrap_or(self.searcher));
        let texts = texts.within(self.texts.memory.clone());
        let mut texts = texts.rated(self.texts.chance.clone(), self.wanted.max_expected);
        let tokens_min = self.wanted.min_passage.unwrap_or(0);
        for pair in &mut *pairs {
            let passages = texts.passages(pair.a, pair.b, self.stop)?;
            pair.passages = Some(passages.of_at_least(tokens_min));
        }
        if self.wanted.min_passage.is_some() {
            pairs.retain(|pair| pair.passages.as_ref().is_some_and(Passages::may_have_any));
        }
        Ok(())
    }

    /// Tells whether `a` or `b` is a program with fewer than `PROGRAM_TOKENS_MIN` tokens.
    fn is_too_short(&self, pair: &Pair) -> Result<bool> {
        let other = self.against.unwrap_or(self.searcher);
        Ok(is_too_short(self.searcher, pair.a)? || is_too_short(other, pair.b)?)
    }

    /// Adds pairs with exact copies that share only stop-fingerprints, if copies meet the
    /// thresholds.
    fn add_copies(
        &self,
        number: u64,
        own: &ComparedDocument<'_>,
        pairs: &mut Vec<Pair>,
    ) -> Result<()> {
        let of = own.size.fingerprints;
        let overlap = Overlap::new(of, of, of);
        let others: Vec<u64> = self.copies.of(number).collect();
        if others.is_empty() || !self.thresholds.meet_copies(of) {
            return Ok(());
        }
        let similarity = Similarity::exact(overlap);
        let weights = match &self.weights {
            Some(weights) => {
                let all = weights.of_keys(own.keys(), self.stop)?.into_iter().sum();
                Some(WeightedOverlap { shared: all, in_query: all, in_document: all })
            }
            None => None,
        };
        pairs.extend(others.into_iter().map(|other| {
            self.pair(number, self.other.address(other), overlap, similarity, weights)
        }));
        Ok(())
    }

    /// Returns the candidate, with the weights of both documents, if the two documents may form a
    /// pair for this document to report.
    fn may_pair(
        &self,
        number: u64,
        own: Size,
        PairCandidate { found, size, weights }: PairCandidate,
    ) -> Result<Option<PairCandidate>> {
        let overlap = found.with(own.fingerprints);
        let other = self.other.number(found.address);
        if !self.thresholds.may_meet(self.sampling, overlap, [own, size])
            || self.series.as_ref().is_some_and(|series| !series.keeps(number, other))
        {
            return Ok(None);
        }
        let complete =
            |by: &DocumentWeights<'_>, weights| by.complete(weights, found.address, self.stop);
        let weights = self.weights.as_ref().zip(weights).map(|(by, weights)| complete(by, weights));
        let weights = weights.transpose()?;
        if weights.is_some_and(|weights| !self.thresholds.meets_weighted(weights))
            || !self.wanted.may_be_versions(self.sampling, overlap, [own, size], weights)
        {
            return Ok(None);
        }
        let other_finds_it = || {
            let swapped = weights.map(WeightedOverlap::swapped);
            self.thresholds.finds(self.sampling, found.overlap, size, swapped)
        };
        let is_given = self.against.is_some() || other > number || !other_finds_it();
        Ok(is_given.then_some(PairCandidate { found, size, weights }))
    }

    /// Makes a pair, with the document stored first as `a`.
    fn pair(
        &self,
        number: u64,
        other: DocAddress,
        overlap: Overlap,
        similarity: Similarity,
        weights: Option<WeightedOverlap>,
    ) -> Pair {
        let pair = Pair {
            a: self.numbering.address(number),
            b: other,
            overlap,
            similarity,
            score: None,
            too_short: None,
            weighted: weights.map(WeightedOverlap::measures),
            passage_tokens: None,
            passages: None,
        };
        let is_first = self.against.is_some() || self.other.number(other) > number;
        if is_first { pair } else { pair.swapped() }
    }
}

/// Returns the minimum overlap for a document of this index to be contained in another document.
fn contained_min(
    searcher: &Searcher,
    numbering: &Numbering,
    thresholds: Thresholds,
    sampling: Sampling,
    stop: &Stop,
) -> Result<u32> {
    let thresholds = thresholds.min_resemblance(None);
    let mut least = u32::MAX;
    for number in 0..numbering.end() {
        stop.check_at(number as usize)?;
        let address = numbering.address(number);
        let fingerprints = searcher.size_of(address)?;
        if fingerprints > 0 {
            let size = searcher.size_by(sampling, address, fingerprints)?;
            least = least.min(thresholds.overlap_min(sampling, size));
        }
    }
    Ok(least)
}
