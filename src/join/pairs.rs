//! Which pairs of documents share enough text?
//!
//! Every document is searched for among the others (Seo and Croft 2008, section 4: n searches of m
//! posting lists of at most l documents), from the least overlap that its own size and the
//! thresholds ask for, so that prefix filtering leaves most lists unread. A pair that both of its
//! documents find is given once, by the one that is stored first: nothing is remembered.
//!
//! Two indexes are joined from one side only; what the other side asks for is looked at then.
//!
//! Exact copies of which every fingerprint is stopped are in pairs with the first of them only
//! ([`copies`](super::copies)).

use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use super::copies::Copies;
use super::margin::{MARGIN_RANK, Margins};
use super::numbering::Numbering;
use super::series::{Scope, Series};
use super::weights::Weights;
use super::{Thresholds, WeightedPair};
use crate::compare::{Passage, Passages};
use crate::error::{Error, Result};
use crate::estimate::Estimate;
use crate::index::{DocAddress, MaxDf, Snapshot};
use crate::ordered::in_order;
use crate::overlap::{Category, Overlap};
use crate::search::{Neighbour, Searcher, Texts, WeightedOverlap};
use crate::stop::Stop;

/// Which pairs, and how they are found.
#[derive(Debug, Clone)]
pub struct PairOptions {
    /// What a pair must have.
    pub thresholds: Thresholds,
    /// Which pairs are kept, by a field of `meta`.
    pub scope: Scope,
    /// Fingerprints in more documents bring up no pair; the index's own limit if not given.
    pub max_df: Option<MaxDf>,
    /// Whether the margins of pairs are found ([`margin`](super::margin)), which takes a second search
    /// for every document of a pair.
    pub relative: bool,
    /// The least margin of a pair, -1 to 1, if margins decide.
    pub margin_min: Option<f64>,
    /// Whether pairs show their weighted measures, which they do anyway if the thresholds ask for any:
    /// fingerprints are weighed by their rarity in the index that is searched.
    pub weighted: bool,
    /// Whether pairs show what the resemblance of the texts themselves is estimated to be, for which a
    /// signature is read for each pair; so they do if the thresholds ask for it.
    pub estimates: bool,
    /// Whether passages are found, which takes the texts of both documents of each pair.
    pub passages: bool,
    /// The minimum number of tokens in a passage of a pair; shorter ones are left out: it is as if
    /// [`passages`](Self::passages) were set.
    pub min_passage: Option<u32>,
    /// Threads that search.
    pub threads: usize,
}

impl Default for PairOptions {
    fn default() -> PairOptions {
        PairOptions {
            thresholds: Thresholds::default(),
            scope: Scope::Everywhere,
            max_df: None,
            relative: false,
            margin_min: None,
            weighted: false,
            estimates: false,
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

    fn needs_estimates(&self) -> bool {
        self.estimates || self.thresholds.estimated_resemblance > 0.0
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
    /// What they have in common.
    pub overlap: Overlap,
    /// How much more alike they are than others are to either, if it was asked for and the collection
    /// is large enough.
    pub margin: Option<f64>,
    /// How similar the texts themselves are, if it was asked for; none if the scheme cannot say, or
    /// with boilerplate.
    pub estimate: Option<Estimate>,
    /// The measures with fingerprints weighed by their rarity, if these were weighed.
    pub weighted: Option<WeightedPair>,
    /// The tokens of `a` in passages in common, if pairs are ranked by them.
    pub passage_tokens: Option<u32>,
    /// The passages in common, if they were asked for: `query` is in `a`, `hit` in `b`.
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
    /// How much of `a` is in `b`, 0 to 1.
    pub containment_a_in_b: f64,
    /// How much of `b` is in `a`, 0 to 1.
    pub containment_b_in_a: f64,
    /// How much of both together is in both, 0 to 1.
    pub resemblance: f64,
    /// Distinct fingerprints of `a`, boilerplate left out.
    pub fingerprints_a: u32,
    /// Distinct fingerprints of `b`, boilerplate left out.
    pub fingerprints_b: u32,
    /// Tokens of `a`.
    pub tokens_a: u32,
    /// Tokens of `b`.
    pub tokens_b: u32,
    /// Resemblance less that of the sixth best other neighbour of either document, whichever is
    /// greater, -1 to 1: how far the pair stands out from its collection. Only if it was asked for,
    /// and the collection has eight documents or more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub margin: Option<f64>,
    /// Of programs: whether either has so few tokens that independent solutions of a task are often
    /// equal. The numbers then say nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub too_short: Option<bool>,
    /// The similarity of the texts themselves, estimated from their fingerprints; absent if the scheme cannot
    /// say, or with boilerplate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub estimate: Option<Estimate>,
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
    /// The passages in common, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub passages: Option<Vec<Passage>>,
    /// Whether these are all, if they were asked for: if not, looking for all would have taken more
    /// steps or memory than it may. Equal texts have equal answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub passages_complete: Option<bool>,
}

/// Programs with fewer tokens say nothing: of 119 pairs of independent programs of IR-Plag of which one
/// has fewer, 47 in 100 had a resemblance of .8 or more, and of 135 with 50 to 99 tokens 2 in 100
/// (docs/BENCHMARKS.md, "Copies of programs").
pub const PROGRAM_TOKENS_MIN: u32 = 50;

impl Pair {
    /// Gives the pair with the ids of its documents.
    ///
    /// # Errors
    /// When an id cannot be read.
    pub fn report(self, a: &Snapshot, b: &Snapshot) -> Result<PairReport> {
        let tokens = |snapshot: &Snapshot, address: DocAddress| {
            let segment = snapshot.segment(address);
            segment.signatures.document(address.doc).map(|document| document.tokens)
        };
        let (tokens_a, tokens_b) = (tokens(a, self.a)?, tokens(b, self.b)?);
        let is_of_programs = a.config().analyzer.spec().name() == "code";
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
            containment_a_in_b: self.overlap.containment(),
            containment_b_in_a: self.overlap.swapped().containment(),
            resemblance: self.overlap.resemblance(),
            estimate: self.estimate,
            weighted: self.weighted,
            passage_tokens: self.passage_tokens,
            category: self.overlap.category(),
            passages_complete: self.passages.as_ref().map(|passages| passages.complete),
            passages: self.passages.map(|passages| passages.found),
        })
    }
}

/// Finds all pairs of documents of `searcher`, or, with `against`, of one of it and one of that. Documents with
/// the same text that have stop-fingerprints only are each in a pair with the first of them (of the other index,
/// with `against`): of 20,000 there would be 200 million pairs.
///
/// `sink` is called for every document of the first index, in the order in which they are stored,
/// from the one with the number `from` on (0 for all), with the number of the next and the pairs
/// that the document gives. Pairs come in the same order whatever the number of threads.
///
/// # Errors
/// When the indexes sign texts differently, a file is damaged, or `sink` fails;
/// [`Error::Cancelled`] after `stop`.
pub fn pairs(
    searcher: &Searcher,
    against: Option<&Searcher>,
    options: &PairOptions,
    from: u64,
    stop: &AtomicBool,
    sink: &mut dyn FnMut(u64, Vec<Pair>) -> Result<()>,
) -> Result<()> {
    let join = Join::new(searcher, against, options, Stop::on(stop))?;
    let numbers = from..join.numbering.end();
    in_order(
        options.threads,
        numbers,
        stop,
        &|number| join.pairs_of(number),
        &mut |number, pairs| sink(number + 1, pairs),
    )
}

pub use super::ranked::best_pairs;

/// How many documents [`pairs`] goes through.
#[must_use]
pub fn document_count(searcher: &Searcher) -> u64 {
    Numbering::new(searcher.snapshot()).end()
}

struct Join<'a> {
    searcher: &'a Searcher,
    against: Option<&'a Searcher>,
    options: &'a PairOptions,
    /// What is asked of the fingerprints.
    thresholds: Thresholds,
    numbering: Numbering,
    /// Of the index in which documents are looked for.
    other: Numbering,
    series: Option<Series>,
    copies: Copies,
    margins: Option<Margins<'a>>,
    /// Of the documents of the index in which documents are looked for, if fingerprints are weighed.
    weights: Option<Weights<'a>>,
    /// The fewest fingerprints that a document has in which others are looked for.
    in_other_min: u32,
    stop: Stop<'a>,
}

impl<'a> Join<'a> {
    fn new(
        searcher: &'a Searcher,
        against: Option<&'a Searcher>,
        options: &'a PairOptions,
        stop: Stop<'a>,
    ) -> Result<Join<'a>> {
        let snapshot = searcher.snapshot();
        let other = against.unwrap_or(searcher).snapshot();
        snapshot.config().check_signs_as(other.config(), other.index().path())?;
        if options.needs_passages() && !(snapshot.config().store_text && other.config().store_text)
        {
            let what = "passages are found by comparing texts, but an index stores none";
            return Err(Error::Query { what: what.into() });
        }
        let is_relative = options.relative || options.margin_min.is_some();
        let margins = is_relative.then(|| Margins::new(searcher, against, options.max_df));
        let margins = margins.flatten();
        if options.margin_min.is_some() && margins.is_none() {
            let what = format!(
                "the margin of a pair is that over the neighbour of rank {MARGIN_RANK}, and there are \
                 not as many documents beside the two"
            );
            return Err(Error::Query { what });
        }
        let snapshots = if against.is_some() { vec![snapshot, other] } else { vec![snapshot] };
        let (numbering, other_numbering) = (Numbering::new(snapshot), Numbering::new(other));
        let mut in_other_min = u32::MAX;
        if let Some(against) = against {
            for number in 0..other_numbering.end() {
                stop.check_at(number as usize)?;
                let size = against.size_of(other_numbering.address(number))?;
                in_other_min = in_other_min.min(if size == 0 { u32::MAX } else { size });
            }
        }
        let series = Series::read(&options.scope, &snapshots)?;
        let copies = Copies::new(searcher, against, options.max_df, series.as_ref(), stop)?;
        Ok(Join {
            searcher,
            against,
            options,
            thresholds: options
                .thresholds
                .of_fingerprints(searcher)
                .and_then(|_| options.thresholds.of_fingerprints(against.unwrap_or(searcher)))?,
            numbering,
            other: other_numbering,
            series,
            copies,
            margins,
            weights: options.is_weighed().then(|| Weights::new(against.unwrap_or(searcher))),
            in_other_min,
            stop,
        })
    }

    /// The pairs that the document with this number gives.
    fn pairs_of(&self, number: u64) -> Result<Vec<Pair>> {
        let address = self.numbering.address(number);
        let snapshot = self.searcher.snapshot();
        if !snapshot.segment(address).is_alive(address.doc) {
            return Ok(Vec::new());
        }
        let keys = self.searcher.keys_of(address, self.stop)?;
        let in_a = keys.len() as u32;
        let Thresholds { overlap, containment, resemblance, .. } = self.thresholds;
        let none = Thresholds::default();
        let overlap_min = match self.against {
            None => self.thresholds.overlap_min(in_a),
            // From this side alone the smaller document may be the other one.
            Some(_) => {
                let smaller = Thresholds { overlap, containment, ..none };
                let larger = Thresholds { overlap, resemblance, ..none };
                let smaller = smaller.overlap_min(in_a.min(self.in_other_min));
                smaller.max(larger.overlap_min(in_a))
            }
        };
        let searched = self.against.unwrap_or(self.searcher);
        let except = self.against.is_none().then_some(address);
        let (max_df, stop) = (self.options.max_df, self.stop);
        let mut pairs: Vec<Pair> = Vec::new();
        match &self.weights {
            None => {
                let found = searched.neighbours(&keys, overlap_min, max_df, except, stop)?;
                let pair = |found| self.pair(number, in_a, found, None);
                pairs.extend(found.into_iter().filter_map(pair));
            }
            Some(weights) => {
                // From the documents of one index alone the lighter one may be the other.
                let share_min = match self.against {
                    None => self.thresholds.weight_share_min(),
                    Some(_) => self.thresholds.weighted_resemblance,
                };
                let least = (overlap_min, share_min);
                for (found, weighted) in weights.neighbours(&keys, least, max_df, except, stop)? {
                    if self.thresholds.meets(found.with(in_a)) {
                        let weighted = weights.complete(weighted, found.address, stop)?;
                        pairs.extend(self.pair(number, in_a, found, Some(weighted)));
                    }
                }
            }
        }
        self.add_copies(number, &keys, &mut pairs)?;
        if self.options.needs_estimates() {
            self.estimate(address, &keys, &mut pairs)?;
        }
        pairs.sort_unstable_by_key(|pair| (pair.a, pair.b));
        if let Some(margins) = &self.margins {
            for pair in &mut pairs {
                pair.margin = Some(margins.of(pair.a, pair.b, pair.overlap, self.stop)?);
            }
            let least = self.options.margin_min.unwrap_or(f64::NEG_INFINITY);
            pairs.retain(|pair| pair.margin.is_some_and(|margin| margin >= least));
        }
        if self.options.needs_passages() {
            let mut texts = Texts::new(snapshot, searched.snapshot());
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
    fn add_copies(&self, number: u64, keys: &[u64], pairs: &mut Vec<Pair>) -> Result<()> {
        let of = keys.len() as u32;
        let overlap = Overlap::new(of, of, of);
        let mut others = self.copies.of(number).peekable();
        if others.peek().is_none() || !self.thresholds.meets(overlap) {
            return Ok(());
        }
        let weighted = match &self.weights {
            Some(weights) => {
                let all = weights.of_keys(keys, self.stop)?.into_iter().sum();
                let same = WeightedOverlap { shared: all, in_query: all, in_document: all };
                Some(WeightedPair::new(same))
            }
            None => None,
        };
        let own = self.numbering.address(number);
        pairs.extend(others.map(|other| {
            let other = self.other.address(other);
            let is_after = self.against.is_none() && other < own;
            let (a, b) = if is_after { (other, own) } else { (own, other) };
            Pair {
                a,
                b,
                overlap,
                margin: None,
                estimate: None,
                weighted,
                passage_tokens: None,
                passages: None,
            }
        }));
        Ok(())
    }

    /// Estimates how similar the texts are of the document at `own`, with these keys, and of others; leaves
    /// out the pairs of which less is estimated than is asked for.
    fn estimate(&self, own: DocAddress, keys: &[u64], pairs: &mut Vec<Pair>) -> Result<()> {
        let searched = self.against.unwrap_or(self.searcher);
        let has_estimator = [self.searcher, searched].iter().all(|s| s.estimator().is_some());
        if pairs.is_empty() || !has_estimator {
            return Ok(());
        }
        let signatures = &self.searcher.snapshot().segment(own).signatures;
        let tokens = signatures.document(own.doc)?.tokens;
        let signature = self.searcher.snapshot().signature(own, self.stop)?;
        let Some(mut estimates) = searched.estimates((tokens, &signature), keys, self.stop) else {
            return Ok(());
        };
        let is_first = |pair: &Pair| self.against.is_some() || pair.a == own;
        for pair in pairs.iter_mut() {
            pair.estimate = Some(match is_first(pair) {
                true => estimates.with(pair.b, pair.overlap.in_b)?,
                false => estimates.with(pair.a, pair.overlap.in_a)?.swapped(),
            });
        }
        let least = self.options.thresholds.estimated_resemblance;
        pairs.retain(|pair| pair.estimate.is_some_and(|estimate| estimate.resemblance >= least));
        Ok(())
    }

    /// The pair with a document that was found, if it is one and given here.
    fn pair(
        &self,
        number: u64,
        in_a: u32,
        found: Neighbour,
        weights: Option<WeightedOverlap>,
    ) -> Option<Pair> {
        let Neighbour { address, overlap: shared, fingerprints: in_b } = found;
        let overlap = Overlap::new(shared, in_a, in_b);
        let thresholds = self.thresholds;
        let are_heavy = weights.is_none_or(|weights| thresholds.meets_weighted(weights));
        if !thresholds.meets(overlap) || !are_heavy {
            return None;
        }
        let other = self.other.number(address);
        if self.series.as_ref().is_some_and(|series| !series.keeps(number, other)) {
            return None;
        }
        let own = self.numbering.address(number);
        let weighted = weights.map(WeightedPair::new);
        let pair = Pair {
            a: own,
            b: address,
            overlap,
            margin: None,
            estimate: None,
            weighted,
            passage_tokens: None,
            passages: None,
        };
        if self.against.is_some() {
            return Some(pair);
        }
        let other_finds_it = thresholds.finds(shared, in_b, weights.map(WeightedOverlap::swapped));
        match other_finds_it {
            true if other < number => None,
            _ if other < number => {
                let weighted = weighted.map(WeightedPair::swapped);
                Some(Pair { a: address, b: own, overlap: overlap.swapped(), weighted, ..pair })
            }
            _ => Some(pair),
        }
    }
}
