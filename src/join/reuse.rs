//! The share of reused text in a collection, and its kinds.
//!
//! This is the analysis of Seo and Croft (2008), section 6: the number of documents in a pair of
//! each category, and the number of their partners (their *siblings*). The kinds of pattern behind
//! the pairs, which the paper identifies by hand on 50 pairs of each category, are identified here
//! by [`Pattern`] on as many.

mod pattern;

use std::collections::BinaryHeap;

use serde::Serialize;

pub use super::ReuseOptions;
pub use pattern::Pattern;

use super::numbering::Numbering;
use super::pairs::{DocumentPairs, PairOptions, pairs};
use super::{StopCounts, Thresholds};
use crate::error::Result;
use crate::hash::mix64;
use crate::index::DocAddress;
use crate::overlap::Category;
use crate::runtime::Stop;
use crate::search::Searcher;

/// The amount of reused text in a collection.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReuseStatistics {
    /// The number of documents of the collection.
    pub documents: u64,
    /// The categories from C1 to C6.
    pub categories: Vec<CategoryStatistics>,
    /// All categories together.
    pub total: CategoryStatistics,
    /// The effect of the limit of document frequency.
    pub stopped: StopCounts,
}

/// The pairs of one category.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CategoryStatistics {
    /// The category; `None` for all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
    /// The number of pairs of documents; copies that have only stop-fingerprints form one pair less
    /// than their number ([`pairs`]).
    pub pairs: u64,
    /// The number of documents that are in at least one such pair.
    pub documents: u64,
    /// Their share of the collection, 0 to 1.
    pub share: f64,
    /// The mean number of documents that each of them is in a pair with.
    pub siblings: f64,
    /// The patterns of the examined pairs, with the number of pairs of each; empty if the index
    /// stores no texts.
    pub patterns: Vec<(Pattern, u64)>,
    /// The number of pairs of the sample that differ in too many places for their pattern to be
    /// found.
    pub unclassified: u64,
}

/// The documents and pairs of a category, while they are counted.
#[derive(Default)]
struct Counts {
    pairs: u64,
    has_document: Vec<bool>,
    /// The pairs with the least hashes, greatest first.
    sample: BinaryHeap<(u64, DocAddress, DocAddress)>,
}

impl Counts {
    fn add(&mut self, numbers: [u64; 2]) {
        self.pairs += 1;
        for number in numbers {
            self.has_document[number as usize] = true;
        }
    }

    fn statistics(&self, category: Option<Category>, all: u64) -> CategoryStatistics {
        let documents = self.has_document.iter().filter(|&&has| has).count() as u64;
        let share = |part: u64, of: u64| if of == 0 { 0.0 } else { part as f64 / of as f64 };
        CategoryStatistics {
            category,
            pairs: self.pairs,
            documents,
            share: share(documents, all),
            siblings: share(2 * self.pairs, documents),
            patterns: Vec::new(),
            unclassified: 0,
        }
    }
}

/// The categories, in order.
pub const CATEGORIES: [Category; 6] =
    [Category::C1, Category::C2, Category::C3, Category::C4, Category::C5, Category::C6];

/// Analyzes the collection of `searcher`. Calls `progress` with the number of documents processed
/// so far, and the number of all.
///
/// # Errors
/// When a file is damaged; [`crate::Error::Cancelled`] after `stop`.
pub fn reuse_statistics(
    searcher: &Searcher,
    options: ReuseOptions,
    threads: usize,
    stop: &Stop,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<ReuseStatistics> {
    let snapshot = searcher.snapshot();
    let numbering = Numbering::new(snapshot);
    let end = numbering.end();
    let new = || Counts { has_document: vec![false; end as usize], ..Counts::default() };
    let mut counts: Vec<Counts> = CATEGORIES.iter().map(|_| new()).collect();
    let mut total = new();
    // Both documents of a pair with a category have more than a tenth in common.
    let thresholds = Thresholds::default().min_containment(0.1);
    let pair_options = PairOptions::default().thresholds(thresholds).max_df(options.max_df);
    // The choice of examined pairs depends on their texts, not on where they are stored.
    let digest = |address: DocAddress| -> Result<u64> {
        Ok(mix64(snapshot.segment(address).signatures.digest(address.doc)?.low))
    };
    let found = pairs(searcher, &pair_options).threads(threads).stop(stop);
    for document in found.by_document() {
        let DocumentPairs { next, pairs: found } = document?;
        for pair in found {
            let Some(category) = pair.overlap.category() else { continue };
            let numbers = [pair.a, pair.b].map(|address| numbering.number(address));
            let place = CATEGORIES.iter().position(|&other| other == category);
            let counts = &mut counts[place.expect("there are six categories")];
            counts.add(numbers);
            total.add(numbers);
            let digests = [digest(pair.a)?, digest(pair.b)?];
            let (least, most) = (digests[0].min(digests[1]), digests[0].max(digests[1]));
            let hash = mix64(mix64(least) ^ most);
            counts.sample.push((hash, pair.a, pair.b));
            if counts.sample.len() > options.sample {
                counts.sample.pop();
            }
        }
        progress(next, end);
    }
    let documents = snapshot.documents();
    let total = total.statistics(None, documents);
    let stopped = searcher.stop_counts(options.max_df, stop)?;
    let mut statistics = ReuseStatistics { documents, categories: Vec::new(), total, stopped };
    for (counts, category) in counts.iter().zip(CATEGORIES) {
        let mut of_category = counts.statistics(Some(category), documents);
        if snapshot.config().store_text {
            let sample = counts.sample.clone().into_sorted_vec();
            for (_, a, b) in sample {
                let Some(pattern) = pattern::of(searcher, a, b, stop)? else {
                    of_category.unclassified += 1;
                    statistics.total.unclassified += 1;
                    continue;
                };
                add(&mut of_category.patterns, pattern, 1);
                add(&mut statistics.total.patterns, pattern, 1);
            }
            of_category.patterns.sort_unstable();
        }
        statistics.categories.push(of_category);
    }
    statistics.total.patterns.sort_unstable();
    Ok(statistics)
}

fn add(patterns: &mut Vec<(Pattern, u64)>, pattern: Pattern, count: u64) {
    match patterns.iter_mut().find(|(other, _)| *other == pattern) {
        Some((_, sum)) => *sum += count,
        None => patterns.push((pattern, count)),
    }
}
