//! Pairs of documents that share enough text.
//!
//! Every document is searched for among the others (Seo and Croft 2008, section 4: n searches of m
//! posting lists of at most l documents), from the least overlap that its own size and the
//! thresholds require, so that prefix filtering leaves most lists unread. A pair that both of its
//! documents find is returned once, by the one that is stored first: nothing is remembered.
//!
//! Fingerprints bring up candidates, with room for chance; the texts decide. Without texts, a pair
//! needs an estimate that is evidence ([`Similarity::resembles`]).
//!
//! Two indexes are joined from one side only; the requirements of the other side are checked then.
//!
//! Exact copies that have only stop-fingerprints are in pairs with the first of them only
//! (`copies`).

use serde::{Deserialize, Serialize};

use super::copies::Copies;
use super::margin::{MARGIN_RANK, Margins};
use super::numbering::Numbering;
use super::series::{Scope, Series};
use super::verify::{Own, Verifier};
use super::weights::{Weights, candidates};
use super::{Thresholds, WeightedPair};
use crate::compare::{PairPassage, Passages};
use crate::error::{Error, Result};
use crate::index::{DocAddress, MaxDf, Snapshot};
use crate::ordered::in_order;
use crate::overlap::{Category, Overlap};
use crate::sampling::{Sampling, Size};
use crate::search::{Neighbour, Searcher, StoredRuns, Texts, WeightedOverlap, kept_runs};
use crate::similarity::Similarity;
use crate::stop::Stop;

/// The options of a search for pairs.
#[derive(Debug, Clone)]
pub struct PairOptions {
    /// The thresholds of a pair.
    pub thresholds: Thresholds,
    /// The pairs that are kept, by a field of `meta`.
    pub scope: Scope,
    /// Fingerprints in more documents bring up no pair; the index's own limit if unset.
    pub max_df: Option<MaxDf>,
    /// Whether to compute the margins of pairs ([`margin`](super::margin)), which takes a second
    /// search for every document of a pair.
    pub margins: bool,
    /// The least margin of a pair, -1 to 1, if margins decide.
    pub min_margin: Option<f64>,
    /// Whether to show the weighted measures of pairs, which are shown anyway if the thresholds use
    /// any: fingerprints are weighed by their rarity in the index that is searched.
    pub weighted: bool,
    /// Whether to find passages, which takes the texts of both documents of each pair.
    pub passages: bool,
    /// The minimum number of tokens in a passage of a pair; shorter ones are left out. It implies
    /// [`passages`](Self::passages).
    pub min_passage: Option<u32>,
    /// The number of threads that search.
    pub threads: usize,
}

impl Default for PairOptions {
    fn default() -> PairOptions {
        PairOptions {
            thresholds: Thresholds::default(),
            scope: Scope::Everywhere,
            max_df: None,
            margins: false,
            min_margin: None,
            weighted: false,
            passages: false,
            min_passage: None,
            threads: crate::available_threads(),
        }
    }
}

impl PairOptions {
    pub(super) fn needs_passages(&self) -> bool {
        self.passages || self.min_passage.is_some()
    }

    fn is_weighed(&self) -> bool {
        self.weighted || self.thresholds.is_weighed()
    }
}

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
    /// How much more alike they are than others are to either, if it was requested and the
    /// collection is large enough.
    pub margin: Option<f64>,
    /// How similar their texts are.
    pub similarity: Similarity,
    /// The measures with fingerprints weighed by their rarity, if these were weighed.
    pub weighted: Option<WeightedPair>,
    /// The tokens of `a` in passages in common, if pairs are ranked by them.
    pub passage_tokens: Option<u32>,
    /// The passages in common, if they were requested: `query` is in `a`, `hit` in `b`.
    pub passages: Option<Passages>,
}

/// A pair with the ids of its documents, as programs show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct PairReport {
    /// The id of the one document.
    pub a: String,
    /// The id of the other.
    pub b: String,
    /// The index that has `a`, if several were searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub index_a: Option<String>,
    /// The index that has `b`, if several were searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub index_b: Option<String>,
    /// Distinct fingerprints in common.
    pub overlap: u32,
    /// How similar their texts are.
    #[serde(flatten)]
    pub similarity: Similarity,
    /// Distinct fingerprints of `a`, boilerplate left out.
    pub fingerprints_a: u32,
    /// Distinct fingerprints of `b`, boilerplate left out.
    pub fingerprints_b: u32,
    /// Tokens of `a`.
    pub tokens_a: u32,
    /// Tokens of `b`.
    pub tokens_b: u32,
    /// Resemblance less that of the sixth best other neighbour of either document, whichever is
    /// greater, -1 to 1: how far the pair stands out from its collection. Only if it was requested,
    /// and the collection has eight documents or more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub margin: Option<f64>,
    /// For programs: whether either is too short to be distinctive, because independent solutions
    /// of a task of its size are often equal. The numbers are then meaningless.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub too_short: Option<bool>,
    /// The measures with fingerprints weighed by their rarity, if these were weighed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub weighted: Option<WeightedPair>,
    /// The tokens of `a` in passages in common, if pairs are ranked by them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub passage_tokens: Option<u32>,
    /// The category of Seo and Croft; none if either containment is a tenth or less.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub category: Option<Category>,
    /// The passages in common, if they were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub passages: Option<Vec<PairPassage>>,
    /// Whether these are all, if they were requested: if not, looking for all would have taken more
    /// steps or memory than it may. Equal texts have equal answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub passages_complete: Option<bool>,
}

/// The numbers of programs with fewer tokens are meaningless: of 119 pairs of independent programs
/// of IR-Plag where one has fewer, 47 in 100 had a resemblance of .8 or more, and of 135 with 50 to
/// 99 tokens 2 in 100 (tools/RESULTS.md, "Copies of programs").
pub const PROGRAM_TOKENS_MIN: u32 = 50;

impl Pair {
    /// Exchanges the documents.
    fn swapped(self) -> Pair {
        Pair {
            a: self.b,
            b: self.a,
            overlap: self.overlap.swapped(),
            similarity: self.similarity.swapped(),
            weighted: self.weighted.map(WeightedPair::swapped),
            ..self
        }
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
        let is_of_programs = a.config().analyzer.is_of_programs();
        Ok(PairReport {
            fingerprints_a: self.overlap.in_a,
            fingerprints_b: self.overlap.in_b,
            tokens_a,
            tokens_b,
            margin: self.margin,
            too_short: is_of_programs.then_some(tokens_a.min(tokens_b) < PROGRAM_TOKENS_MIN),
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
            passages: self
                .passages
                .map(|passages| passages.found.into_iter().map(PairPassage::from).collect()),
        })
    }
}

/// Finds all pairs of documents of `searcher`, or, with `against`, of one of it and one of that. Documents with
/// the same text that have stop-fingerprints only are each in a pair with the first of them (of the other index,
/// with `against`): of 20,000 there would be 200 million pairs.
///
/// `sink` is called for every document of the first index in storage order, from the one with the
/// number `from` on (0 for all), with the number of the next and the pairs that the document gives.
/// Pairs come in the same order whatever the number of threads.
///
/// # Errors
/// When the indexes sign texts differently, no document has the field of the scope, a file is damaged,
/// or `sink` fails; [`Error::Cancelled`] after `stop`.
pub fn pairs(
    searcher: &Searcher,
    against: Option<&Searcher>,
    options: &PairOptions,
    from: u64,
    stop: &Stop,
    sink: &mut dyn FnMut(u64, Vec<Pair>) -> Result<()>,
) -> Result<JoinSummary> {
    let texts = PairTexts::new(searcher, against);
    let join = Join::new(searcher, &texts, options, stop)?;
    let numbers = from..join.numbering.end();
    in_order(
        options.threads,
        numbers,
        stop,
        &|number| join.pairs_of(number),
        &mut |number, pairs| sink(number + 1, pairs),
    )?;
    let documents_without_field = join.series.as_ref().map_or(0, Series::documents_without_field);
    Ok(JoinSummary { documents_without_field })
}

/// Facts about a collection that result from finding its pairs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JoinSummary {
    /// Documents without the field of the [`Scope`]: they are in no series, so that they are in all
    /// pairs across series and in none within one.
    pub documents_without_field: u64,
}

pub use super::ranked::{BestPairs, PairRank, best_pairs};

/// Returns the number of documents that [`pairs`] searches for.
#[must_use]
pub fn document_count(searcher: &Searcher) -> u64 {
    Numbering::new(searcher.snapshot()).end()
}

/// Checks that there are texts to find passages in.
pub(super) fn check_texts(snapshot: &Snapshot, other: &Snapshot) -> Result<()> {
    match snapshot.config().store_text && other.config().store_text {
        true => Ok(()),
        false => {
            let what = "passages are found by comparing texts, but an index stores none";
            Err(Error::argument("passages", what))
        }
    }
}

/// The comparison of the texts of pairs.
struct PairTexts<'a> {
    against: Option<&'a Searcher>,
    /// Reads the runs of the documents that are searched for, if texts decide; within one index
    /// these are the runs of the verifier.
    own: Option<StoredRuns<'a>>,
    verifier: Verifier<'a>,
}

impl<'a> PairTexts<'a> {
    fn new(searcher: &'a Searcher, against: Option<&'a Searcher>) -> PairTexts<'a> {
        let kept = kept_runs();
        let own = searcher.stored_runs(&kept);
        let Some(other) = against else {
            return PairTexts { against, own: None, verifier: Verifier::new(searcher, own) };
        };
        // Texts decide if both documents have them.
        let runs = other.stored_runs(&kept).filter(|_| own.is_some());
        let own = own.filter(|_| runs.is_some());
        PairTexts { against, own, verifier: Verifier::new(other, runs) }
    }

    fn own_runs(&self) -> Option<&StoredRuns<'a>> {
        self.own.as_ref().or_else(|| self.verifier.runs())
    }
}

struct Join<'a> {
    searcher: &'a Searcher,
    against: Option<&'a Searcher>,
    options: &'a PairOptions,
    thresholds: Thresholds,
    texts: &'a PairTexts<'a>,
    sampling: Sampling,
    numbering: Numbering,
    /// The numbering of the index that is searched for documents.
    other: Numbering,
    series: Option<Series>,
    copies: Copies,
    margins: Option<Margins<'a>>,
    /// The weights of the documents of the index that is searched, if fingerprints are weighed.
    weights: Option<Weights<'a>>,
    /// The least overlap that a document of the other index needs to be contained in one that is
    /// searched for.
    contained_min: u32,
    stop: &'a Stop,
}

impl<'a> Join<'a> {
    fn new(
        searcher: &'a Searcher,
        texts: &'a PairTexts<'a>,
        options: &'a PairOptions,
        stop: &'a Stop,
    ) -> Result<Join<'a>> {
        let against = texts.against;
        let snapshot = searcher.snapshot();
        let other = against.unwrap_or(searcher).snapshot();
        snapshot.config().check_signs_as(other.config(), other.index().path())?;
        if options.needs_passages() {
            check_texts(snapshot, other)?;
        }
        let has_margins = options.margins || options.min_margin.is_some();
        let margins = has_margins.then(|| Margins::new(searcher, against, options.max_df));
        let margins = margins.flatten();
        if options.min_margin.is_some() && margins.is_none() {
            let what = format!(
                "the margin of a pair is that over the neighbour of rank {MARGIN_RANK}, and there are \
                 not as many documents beside the two"
            );
            return Err(Error::argument("min_margin", what));
        }
        let snapshots = if against.is_some() { vec![snapshot, other] } else { vec![snapshot] };
        let (numbering, other_numbering) = (Numbering::new(snapshot), Numbering::new(other));
        let sampling = texts.verifier.sampling();
        let thresholds = options.thresholds;
        let contained_min = match against {
            Some(against) => contained_min(against, &other_numbering, thresholds, sampling, stop)?,
            None => u32::MAX,
        };
        let series = Series::read(&options.scope, &snapshots)?;
        let copies = Copies::new(searcher, against, options.max_df, series.as_ref(), stop)?;
        Ok(Join {
            searcher,
            against,
            options,
            thresholds,
            texts,
            sampling,
            numbering,
            other: other_numbering,
            series,
            copies,
            margins,
            weights: options.is_weighed().then(|| Weights::new(against.unwrap_or(searcher))),
            contained_min,
            stop,
        })
    }

    /// Returns the least overlap that a document of this size needs to find the others of its
    /// pairs.
    fn overlap_min(&self, own: Size) -> u32 {
        let thresholds = self.thresholds;
        match self.against {
            None => self.thresholds.overlap_min(self.sampling, own),
            // From this side alone the other document may be the one that is contained.
            Some(_) => {
                let contained = thresholds.min_resemblance(None);
                let alike = thresholds.min_containment(None);
                let least = contained.overlap_min(self.sampling, own).min(self.contained_min);
                least.max(alike.overlap_min(self.sampling, own))
            }
        }
    }

    /// Returns the documents that share enough fingerprints with one that has these keys, and the
    /// weights of both.
    fn candidates(
        &self,
        own: DocAddress,
        keys: &[u64],
        overlap_min: u32,
    ) -> Result<Vec<(Neighbour, Option<WeightedOverlap>)>> {
        let searched = self.against.unwrap_or(self.searcher);
        let except = self.against.is_none().then_some(own);
        // From the documents of one index alone the lighter one may be the other.
        let share_min = match self.against {
            None => self.thresholds.weight_share_min(),
            Some(_) => self.thresholds.weighted_resemblance(),
        };
        let (by, least) = ((searched, self.weights.as_ref()), (overlap_min, share_min));
        candidates(by, keys, least, self.options.max_df, except, self.stop)
    }

    /// Returns the pairs of the document with this number.
    fn pairs_of(&self, number: u64) -> Result<Vec<Pair>> {
        let address = self.numbering.address(number);
        let snapshot = self.searcher.snapshot();
        if !snapshot.segment(address).is_alive(address.doc) {
            return Ok(Vec::new());
        }
        let keys = self.searcher.keys_of(address, self.stop)?;
        let runs = self.texts.own_runs();
        let mut own = Own::stored((self.searcher, address), &keys, self.sampling, runs)?;
        let overlap_min = self.overlap_min(own.size);
        let mut verification = self.texts.verifier.begin();
        let mut pairs: Vec<Pair> = Vec::new();
        for (found, weights) in self.candidates(address, &keys, overlap_min)? {
            let size = verification.size(found)?;
            let may_be = (own.size, size);
            let Some(weights) = self.may_pair(number, may_be, (found, weights))? else { continue };
            let similarity = verification.with(&mut own, (found, size), self.stop)?;
            if self.thresholds.meets(&similarity) {
                let overlap = found.with(own.size.fingerprints);
                pairs.push(self.pair(number, found.address, (overlap, similarity), weights));
            }
        }
        self.add_copies(number, &own, &mut pairs)?;
        pairs.sort_unstable_by_key(|pair| (pair.a, pair.b));
        if let Some(margins) = &self.margins {
            for pair in &mut pairs {
                pair.margin = Some(margins.of(pair.a, pair.b, pair.overlap, self.stop)?);
            }
            let least = self.options.min_margin.unwrap_or(f64::NEG_INFINITY);
            pairs.retain(|pair| pair.margin.is_some_and(|margin| margin >= least));
        }
        if self.options.needs_passages() {
            let searched = self.against.unwrap_or(self.searcher);
            let mut texts = Texts::new(self.searcher, searched);
            let tokens_min = self.options.min_passage.unwrap_or(0);
            for pair in &mut pairs {
                let passages = texts.passages(pair.a, pair.b, self.stop)?;
                pair.passages = Some(passages.of_at_least(tokens_min));
            }
        }
        if self.options.min_passage.is_some() {
            let has_any = |passages: &Passages| !passages.found.is_empty();
            pairs.retain(|pair| pair.passages.as_ref().is_some_and(has_any));
        }
        Ok(pairs)
    }

    /// Adds the pairs with copies that no fingerprint brings up, if copies are a pair.
    fn add_copies(&self, number: u64, own: &Own<'_>, pairs: &mut Vec<Pair>) -> Result<()> {
        let of = own.size.fingerprints;
        let overlap = Overlap::new(of, of, of);
        let mut others = self.copies.of(number).peekable();
        if others.peek().is_none() || !self.thresholds.meet_copies(of) {
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
        pairs.extend(others.map(|other| {
            self.pair(number, self.other.address(other), (overlap, similarity), weights)
        }));
        Ok(())
    }

    /// Tells whether the document with this number may form a pair with one that was found, to be
    /// returned here; if so, returns the weights of both.
    fn may_pair(
        &self,
        number: u64,
        (own, size): (Size, Size),
        (found, weights): (Neighbour, Option<WeightedOverlap>),
    ) -> Result<Option<Option<WeightedOverlap>>> {
        let overlap = found.with(own.fingerprints);
        let other = self.other.number(found.address);
        if !self.thresholds.may_meet(self.sampling, overlap, [own, size])
            || self.series.as_ref().is_some_and(|series| !series.keeps(number, other))
        {
            return Ok(None);
        }
        let complete = |by: &Weights<'_>, weights| by.complete(weights, found.address, self.stop);
        let weights = self.weights.as_ref().zip(weights).map(|(by, weights)| complete(by, weights));
        let weights = weights.transpose()?;
        if weights.is_some_and(|weights| !self.thresholds.meets_weighted(weights)) {
            return Ok(None);
        }
        let other_finds_it = || {
            let swapped = weights.map(WeightedOverlap::swapped);
            self.thresholds.finds(self.sampling, found.overlap, size, swapped)
        };
        let is_given = self.against.is_some() || other > number || !other_finds_it();
        Ok(is_given.then_some(weights))
    }

    /// Makes the pair with a document that was found.
    fn pair(
        &self,
        number: u64,
        other: DocAddress,
        (overlap, similarity): (Overlap, Similarity),
        weights: Option<WeightedOverlap>,
    ) -> Pair {
        let pair = Pair {
            a: self.numbering.address(number),
            b: other,
            overlap,
            similarity,
            margin: None,
            weighted: weights.map(WeightedPair::new),
            passage_tokens: None,
            passages: None,
        };
        let is_first = self.against.is_some() || self.other.number(other) > number;
        if is_first { pair } else { pair.swapped() }
    }
}

/// Returns the least overlap that a document of this index needs to find one that contains it.
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
