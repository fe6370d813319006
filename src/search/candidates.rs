//! Candidates: documents that share fingerprints with the query, with their counts.
//!
//! Fingerprints are processed rarest first, by document frequency in the whole index. If a hit must
//! have t of the m fingerprints, it has at least one of the m - t + 1 rarest, so only the posting
//! lists of those bring up documents (prefix filtering). The remaining lists, which are the
//! longest, are probed only for documents already brought up (DivideSkip). The limit t is the
//! largest that the thresholds of the query allow, and rises when documents can no longer be among
//! the k best. Lists of stop-fingerprints bring up no document, but count for documents brought up
//! by other lists. Every count is therefore exact, and so is the set of documents, except for
//! documents that share only stop-fingerprints.
//!
//! Fingerprints can be weighed, and then the same reasoning applies to sums of weights: a hit has
//! at least one of the rarest fingerprints, which weigh most, as long as the remaining fingerprints
//! together weigh less than the threshold. When only the best by weight are requested, the score of
//! the current best excludes further documents ([`BestByWeight`]).
//!
//! Segments are counted one at a time, in dense counters with a list of touched documents.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use cento_api::ShardFrequencies;

use super::best_by_weight::BestByWeight;
use super::candidate::Candidate;
use super::filter::Filter;
use super::frequencies::{
    added_up, known, known_in, leave_out_all_deleted, leave_out_deleted, look_up,
};
use super::tuning::Tuning;
use super::weigh::{Weigh, least_weight};
use crate::error::Result;
use crate::index::{DocAddress, SegmentView, Snapshot};
use crate::runtime::Stop;
use crate::segment::{Candidates, SegmentReader, Term};

/// The conditions of a search for candidates.
pub struct Request<'a> {
    /// The distinct fingerprints of the query, ascending.
    pub keys: &'a [u64],
    /// The minimum number of shared fingerprints, at least 1.
    pub overlap_min: u32,
    /// The number of best documents by overlap, at least 1. Other documents may be dropped.
    pub best: usize,
    /// The number of best documents by weight, at least 1. Other documents may be dropped.
    pub best_by_weight: usize,
    /// The sizes where the search changes its method.
    pub tuning: Tuning,
    /// Fingerprints in more live documents are stop-fingerprints.
    pub max_df: u64,
    /// The most postings to read.
    pub budget: u64,
    /// The weights, if fingerprints are weighed, and the minimum share of the query's weight.
    pub weighed: Option<(Weigh, f64)>,
    /// The frequencies in the whole collection, if the snapshot is one of several shards.
    pub collection: Option<&'a ShardFrequencies>,
    /// Documents that do not match are dropped.
    pub filter: Option<&'a Filter<'a>>,
    /// Documents that are never candidates, ascending.
    pub excluded: &'a [DocAddress],
    /// Whether to keep the terms of the query, for reading signatures of documents later.
    pub keeps_terms: bool,
    /// Ends the search early.
    pub stop: &'a Stop,
}

impl Request<'_> {
    fn is_excluded(&self, address: DocAddress) -> bool {
        self.excluded.binary_search(&address).is_ok()
    }
}

/// The documents that share fingerprints with a query.
#[derive(Debug, Default)]
pub struct CandidateSet {
    /// The documents, segment by segment.
    pub documents: Vec<Candidate>,
    /// For each fingerprint, whether it occurs in a live document that is not excluded.
    pub known: Vec<bool>,
    /// The stop-fingerprints: place among the keys, ascending, and document frequency.
    pub stopped: Vec<(u32, u64)>,
    /// The number of fingerprints that were not looked up because the budget was exhausted. If
    /// positive, counts may be too low and documents may be missing.
    pub unread: u32,
    /// The number of postings of the fingerprints that were looked up, an upper bound of the
    /// postings that were read.
    pub postings: u64,
    /// The weight of each key. Empty if fingerprints are not weighed.
    pub weights: Vec<u64>,
    /// For each segment, the ordinals of the query's terms and their places among the keys,
    /// ascending. Empty unless [`Request::keeps_terms`].
    pub terms: Vec<Vec<(u32, u32)>>,
    /// Whether documents may have been dropped because they are not among the best. At least
    /// [`Request::best`] or [`Request::best_by_weight`] documents were found then.
    pub is_pruned: bool,
}

/// Memory that is reused from one query to the next.
#[derive(Debug, Default)]
pub struct Counters {
    /// Zero for every document between segments.
    counts: Vec<u32>,
    /// The sums of weights, if fingerprints are weighed.
    weights: Vec<u64>,
    touched: Vec<u32>,
    docs: Vec<u32>,
    sizes: Vec<u32>,
}

/// Finds the documents that meet the request.
///
/// # Errors
/// When a file is damaged.
pub fn find(
    snapshot: &Snapshot,
    request: &Request<'_>,
    counters: &mut Counters,
) -> Result<CandidateSet> {
    let (segments, stop) = (snapshot.segments(), request.stop);
    // Look up every dictionary first: whether a fingerprint is stopped depends on its frequency in
    // the whole index. A limit per segment would lose most hits in an index of several segments.
    let (terms, mut dfs) = look_up(snapshot, request.keys, request.stop)?;
    let known = match request.collection {
        Some(collection) => {
            dfs = added_up(collection, request.max_df, request.weighed.is_some());
            known_in(collection)
        }
        None => {
            match request.weighed {
                None => leave_out_deleted(snapshot, &terms, request.max_df, &mut dfs, stop)?,
                Some(_) => leave_out_all_deleted(segments, &terms, &mut dfs, stop)?,
            }
            known(segments, &terms, dfs.len(), request.excluded, stop)?
        }
    };
    let weights = match request.weighed {
        Some((weigh, _)) => weigh.weights(&dfs),
        None => Vec::new(),
    };
    let mut plan = ReadingPlan::new(request, &dfs, &weights);
    let (unread, postings) = (plan.unread(), plan.postings);
    let mut found = CandidateSet { known, unread, postings, weights, ..CandidateSet::default() };
    for (i, &df) in (0u32..).zip(&dfs) {
        if df > request.max_df {
            found.stopped.push((i, df));
        }
    }
    for (at, (segment, terms)) in segments.iter().zip(terms).enumerate() {
        if request.keeps_terms {
            found.terms.push(terms.iter().map(|(i, term)| (term.ordinal, *i)).collect());
        }
        let mut ranked: Vec<(u32, Term<'_>)> =
            terms.into_iter().map(|(i, term)| (plan.ranks[i as usize], term)).collect();
        ranked.retain(|&(rank, _)| rank < plan.read);
        ranked.sort_unstable_by_key(|&(rank, _)| rank);
        match request.weighed {
            None => plan.count::<false>(at, segment, &ranked, counters)?,
            Some(_) => plan.count::<true>(at, segment, &ranked, counters)?,
        }
        let before = found.documents.len();
        plan.collect(at, segment, counters, &mut found.documents)?;
        plan.raise(found.documents[before..].iter().map(|counted| counted.overlap));
    }
    if let Some(best) = plan.by_weight {
        found.documents = best.finish();
        found.is_pruned = found.documents.len() >= request.best_by_weight;
        return Ok(found);
    }
    found.is_pruned = request.best != usize::MAX && plan.best.len() == request.best;
    let reachable = plan.overlap_min();
    found.documents.retain(|counted| counted.overlap >= reachable);
    Ok(found)
}

/// How many documents may raise the minimum score per requested document.
const RAISED_BY_FOR_EACH: usize = 4;
/// The minimum of that number. See [`RAISED_BY_FOR_EACH`].
const RAISED_BY_MIN: usize = 1 << 8;

/// The order of reading posting lists, and which lists bring up documents.
struct ReadingPlan<'a> {
    request: &'a Request<'a>,
    /// The rank of each key in the order of reading, rarest first.
    ranks: Vec<u32>,
    /// The number of ranks that are not stopped.
    kept: u32,
    /// The number of ranks that are read at all, within the budget.
    read: u32,
    postings: u64,
    /// The weights by rank, if fingerprints are weighed.
    weights: Vec<u64>,
    /// By rank, the weight of the fingerprint and of all later ranks together.
    rest: Vec<u64>,
    /// The minimum weight of a document, or 0 if fingerprints are not weighed.
    weight_min: u64,
    /// The largest overlaps so far, at most [`Request::best`]. Unused if all are requested.
    best: BinaryHeap<Reverse<u32>>,
    /// The best by weight so far, if only the best are requested.
    by_weight: Option<BestByWeight>,
}

impl<'a> ReadingPlan<'a> {
    /// Makes the plan for keys with these document frequencies and, if weighed, these weights.
    fn new(request: &'a Request<'a>, dfs: &[u64], weight_of: &[u64]) -> ReadingPlan<'a> {
        let mut order: Vec<u32> = (0..dfs.len() as u32).collect();
        // A stable sort: equally frequent fingerprints stay in the order of their keys.
        order.sort_by_key(|&i| dfs[i as usize]);
        let (mut ranks, mut postings, mut read) = (vec![0; dfs.len()], 0u64, 0);
        for (rank, &i) in (0u32..).zip(&order) {
            ranks[i as usize] = rank;
            let so_far = postings.saturating_add(dfs[i as usize]);
            if read == rank && so_far <= request.budget {
                (postings, read) = (so_far, rank + 1);
            }
        }
        let kept = order.partition_point(|&i| dfs[i as usize] <= request.max_df) as u32;
        let (mut weights, mut rest, mut weight_min) = (Vec::new(), Vec::new(), 0);
        if let Some((_, share_min)) = request.weighed {
            weights = order.iter().map(|&i| weight_of[i as usize]).collect();
            rest.clone_from(&weights);
            for rank in (1..rest.len()).rev() {
                rest[rank - 1] += rest[rank];
            }
            // Within a budget, weights are too low for a threshold, as counts are.
            let is_counted_whole = read as usize == order.len();
            weight_min = match rest.first().filter(|_| is_counted_whole) {
                Some(&all) => least_weight(share_min, all),
                None => 0,
            };
        }
        let best = BinaryHeap::new();
        // Within a budget, weights are too low to tell which documents are the best.
        let is_by_weight = request.best_by_weight != usize::MAX && read as usize == order.len();
        let by_weight = is_by_weight
            .then(|| BestByWeight::new(request.best_by_weight, request.tuning.candidates_kept));
        ReadingPlan {
            request,
            ranks,
            kept,
            read,
            postings,
            weights,
            rest,
            weight_min,
            best,
            by_weight,
        }
    }

    /// Returns the weight of this and all later ranks together, or the maximum without weights.
    fn rest(&self, rank: u32) -> u64 {
        self.rest.get(rank as usize).copied().unwrap_or(u64::MAX)
    }

    fn unread(&self) -> u32 {
        self.ranks.len() as u32 - self.read
    }

    /// Returns the minimum overlap of a document that can still be in the result.
    fn overlap_min(&self) -> u32 {
        // Within a budget, counts are too low to bound the overlap of a document.
        if self.unread() > 0 {
            return 1;
        }
        match self.best.peek() {
            Some(Reverse(least)) if self.best.len() == self.request.best => {
                self.request.overlap_min.max(*least)
            }
            _ => self.request.overlap_min,
        }
    }

    /// Records the overlaps of documents found so far.
    fn raise(&mut self, overlaps: impl Iterator<Item = u32>) {
        if self.request.best == usize::MAX {
            return;
        }
        for overlap in overlaps {
            if self.best.len() < self.request.best {
                self.best.push(Reverse(overlap));
            } else if self.best.peek().is_some_and(|Reverse(least)| *least < overlap) {
                self.best.pop();
                self.best.push(Reverse(overlap));
            }
        }
    }

    /// Counts the terms of segment `at` for each document that a sufficiently rare term brings up.
    fn count<const WEIGHED: bool>(
        &mut self,
        at: usize,
        segment: &SegmentView,
        terms: &[(u32, Term<'_>)],
        counters: &mut Counters,
    ) -> Result<()> {
        let documents = segment.signatures.header().documents as usize;
        if counters.counts.len() < documents {
            counters.counts.resize(documents, 0);
        }
        if WEIGHED && counters.weights.len() < documents {
            counters.weights.resize(documents, 0);
        }
        let keys = self.ranks.len() as u32;
        let mut overlap_min = self.overlap_min();
        let mut looked_at = self.request.tuning.reached_after;
        let (mut touches, mut raised_at) = (0, looked_at);
        let mut rest = terms;
        while let Some(((rank, term), after)) = rest.split_first() {
            // A document that has not been met yet lacks every rarer fingerprint.
            let is_too_little = keys - rank < overlap_min || self.rest(*rank) < self.weight_min;
            if *rank >= self.kept || is_too_little || WEIGHED && self.brings_up_none(*rank) {
                break;
            }
            rest = after;
            self.request.stop.check()?;
            let Counters { counts, weights, touched, docs, .. } = counters;
            docs.clear();
            let mut touch = |doc: u32| {
                let count = &mut counts[doc as usize];
                if *count == 0 {
                    touched.push(doc);
                }
                *count += 1;
                if WEIGHED {
                    weights[doc as usize] += self.weights[*rank as usize];
                }
            };
            if let Some(inline) = term.inline() {
                inline.for_each(touch);
            } else {
                segment.signatures.documents_of(term, docs)?;
                docs.iter().for_each(|&doc| touch(doc));
            }
            if touched.len() > looked_at {
                looked_at = 2 * touched.len();
                overlap_min = overlap_min.max(self.reached(segment, counts, touched));
            }
            if WEIGHED {
                touches += term.df() as usize;
                if touches > raised_at {
                    raised_at = 2 * touches;
                    self.raise_score(at, segment, counters)?;
                }
            }
        }
        if !WEIGHED || self.by_weight.is_none() {
            return self.update::<WEIGHED>(segment, rest, overlap_min, counters);
        }
        // The less weight is left, the fewer documents can still be among the best. Examine them
        // when half of the weight has been read and the postings outnumber the documents, so that
        // examining costs no more than reading.
        while let Some((first, _)) = rest.first() {
            let all = self.rest(*first);
            self.raise_score(at, segment, counters)?;
            self.leave_out(segment, all, counters)?;
            let mut postings = 0;
            let some = rest.iter().position(|(rank, term)| {
                let is_due = postings > counters.touched.len() && self.rest(*rank) <= all / 2;
                postings += term.df() as usize;
                is_due
            });
            let (some, after) = rest.split_at(some.unwrap_or(rest.len()));
            self.update::<WEIGHED>(segment, some, overlap_min, counters)?;
            rest = after;
        }
        Ok(())
    }

    /// Returns whether a document whose rarest fingerprint has this rank cannot be among the best.
    fn brings_up_none(&self, rank: u32) -> bool {
        let each = self.weights[rank as usize];
        self.by_weight.as_ref().is_some_and(|best| !best.may_be_brought_up(each, self.rest(rank)))
    }

    /// Raises the minimum score of the best by weight with documents of segment `at`.
    fn raise_score(
        &mut self,
        at: usize,
        segment: &SegmentView,
        counters: &mut Counters,
    ) -> Result<()> {
        let Some(best) = &mut self.by_weight else { return Ok(()) };
        let Counters { counts, weights, touched, docs, sizes } = counters;
        // With a filter, which is applied later, some of the documents may not be hits. The rarest
        // fingerprints bring up the likely best, so the first documents suffice.
        let limit = self.request.best_by_weight;
        let some = limit.saturating_mul(RAISED_BY_FOR_EACH).max(RAISED_BY_MIN);
        let is_unknown = self.request.filter.is_some() || touched.len() < limit;
        if is_unknown {
            return Ok(());
        }
        docs.clear();
        docs.extend(touched.iter().take(some).copied().filter(|&doc| {
            counts[doc as usize] >= self.request.overlap_min
                && segment.is_alive(doc)
                && !self.request.is_excluded(DocAddress { segment: at as u32, doc })
        }));
        segment.signatures.distinct_of(docs, sizes)?;
        let weight = |&doc: &u32| weights[doc as usize];
        best.raise(docs.iter().map(weight).zip(sizes.iter().copied()));
        Ok(())
    }

    /// Drops touched documents that cannot be among the best by weight even with further
    /// fingerprints of the weight `rest`.
    fn leave_out(&self, segment: &SegmentView, rest: u64, counters: &mut Counters) -> Result<()> {
        let Some(best) = &self.by_weight else { return Ok(()) };
        let Counters { counts, weights, touched, sizes, .. } = counters;
        segment.signatures.distinct_of(touched, sizes)?;
        let mut sizes = sizes.iter();
        touched.retain(|&doc| {
            let (count, weight) = (&mut counts[doc as usize], &mut weights[doc as usize]);
            let may_be = sizes.next().is_some_and(|&size| best.may_be(*weight + rest, size));
            if !may_be {
                (*count, *weight) = (0, 0);
            }
            may_be
        });
        Ok(())
    }

    /// Returns the overlap that the requested number of touched documents have reached.
    fn reached(&self, segment: &SegmentView, counts: &[u32], touched: &[u32]) -> u32 {
        let best = self.request.best;
        // With a filter, some documents may not be hits. Within a budget, counts are not known.
        let is_unknown = self.request.filter.is_some() || !self.request.excluded.is_empty();
        if best > touched.len() || is_unknown || self.unread() > 0 {
            return 0;
        }
        let alive = touched.iter().filter(|&&doc| segment.is_alive(doc));
        let mut reached: Vec<u32> = alive.map(|&doc| counts[doc as usize]).collect();
        if reached.len() < best {
            return 0;
        }
        *reached.select_nth_unstable_by(best - 1, |a, b| b.cmp(a)).1
    }

    /// Counts further terms for the documents already brought up.
    fn update<const WEIGHED: bool>(
        &self,
        segment: &SegmentView,
        terms: &[(u32, Term<'_>)],
        overlap_min: u32,
        counters: &mut Counters,
    ) -> Result<()> {
        let Counters { counts, weights, touched, docs, .. } = counters;
        let Some(((first, _), _)) = terms.split_first() else { return Ok(()) };
        let keys = self.ranks.len() as u32;
        let is_wanted = |doc: u32, rank: u32, counts: &[u32], weights: &[u64]| {
            counts[doc as usize] + (keys - rank) >= overlap_min
                && (!WEIGHED || weights[doc as usize] + self.rest(rank) >= self.weight_min)
        };
        let are_all = overlap_min <= 1 + keys - first && self.weight_min <= self.rest(*first);
        let mut wanted = touched.clone();
        if !are_all {
            wanted.retain(|&doc| is_wanted(doc, *first, counts, weights));
        }
        let mut candidates = None;
        // As fewer lists are left, fewer documents can still reach the minimum.
        let looks_each = self.request.tuning.postings_a_look;
        let mut postings = 0;
        for (rank, term) in terms {
            self.request.stop.check()?;
            if postings > looks_each.saturating_mul(wanted.len()) {
                let before = wanted.len();
                wanted.retain(|&doc| is_wanted(doc, *rank, counts, weights));
                if wanted.len() < before {
                    candidates = None;
                }
                postings = 0;
            }
            if wanted.is_empty() {
                return Ok(());
            }
            let weight = if WEIGHED { self.weights[*rank as usize] } else { 0 };
            if SegmentReader::is_probed(term, wanted.len()) {
                let candidates = candidates.get_or_insert_with(|| Candidates::new(wanted.clone()));
                let count = |doc: u32| {
                    counts[doc as usize] += 1;
                    if WEIGHED {
                        weights[doc as usize] += weight;
                    }
                };
                segment.signatures.documents_among(term, candidates, count)?;
                postings += wanted.len();
            } else {
                docs.clear();
                segment.signatures.documents_of(term, docs)?;
                for &doc in docs.iter() {
                    let count = &mut counts[doc as usize];
                    let is_touched = *count > 0;
                    *count += u32::from(is_touched);
                    if WEIGHED && is_touched {
                        weights[doc as usize] += weight;
                    }
                }
                postings += docs.len();
            }
        }
        Ok(())
    }

    /// Moves the counts of segment `at` to `documents`.
    fn collect(
        &mut self,
        at: usize,
        segment: &SegmentView,
        counters: &mut Counters,
        documents: &mut Vec<Candidate>,
    ) -> Result<()> {
        let Counters { counts, weights, touched, docs, sizes } = counters;
        self.request.stop.check()?;
        let is_weighed = self.request.weighed.is_some();
        let weight = |doc: u32| if is_weighed { weights[doc as usize] } else { 0 };
        let overlap_min = self.overlap_min();
        let address = |doc| DocAddress { segment: at as u32, doc };
        docs.clear();
        // The usual case: no deleted documents in the segment, and no exclusions.
        let are_all_there = segment.deleted_documents() == 0 && self.request.excluded.is_empty();
        match are_all_there && overlap_min <= 1 && self.weight_min == 0 {
            true => docs.extend_from_slice(touched),
            false => docs.extend(touched.iter().copied().filter(|&doc| {
                counts[doc as usize] >= overlap_min
                    && weight(doc) >= self.weight_min
                    && segment.is_alive(doc)
                    && !self.request.is_excluded(address(doc))
            })),
        }
        let mut passed = Ok(());
        if let Some(filter) = self.request.filter {
            docs.sort_unstable();
            passed = filter.retain(at, docs, self.request.stop);
        }
        let candidates = docs.iter().map(|&doc| Candidate {
            address: address(doc),
            overlap: counts[doc as usize],
            weight: weight(doc),
        });
        match &mut self.by_weight {
            None => documents.extend(candidates),
            Some(best) => {
                segment.signatures.distinct_of(docs, sizes)?;
                best.extend(candidates, sizes);
            }
        }
        for doc in touched.drain(..) {
            counts[doc as usize] = 0;
            if is_weighed {
                weights[doc as usize] = 0;
            }
        }
        passed
    }
}
