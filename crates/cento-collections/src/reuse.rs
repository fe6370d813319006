//! Measures the share and the kinds of reused text in a collection.
//!
//! This is the analysis of Seo and Croft (2008), section 6: the number of documents in a pair of
//! each category, and the number of their partners (*siblings*). The paper found the patterns
//! behind the pairs by reading 50 pairs of each category. Here [`Pattern`] examines a sample of
//! pairs.

mod pattern;

use std::collections::{BTreeMap, BinaryHeap};

use serde::Serialize;

pub use super::ReuseOptions;
pub use pattern::Pattern;

use super::numbering::Numbering;
use super::pairs::{DocumentPairs, PairOptions, pairs};
use super::{StopCounts, Thresholds};
use cento::index::DocAddress;
use cento::search::Searcher;
use cento_api::error::Result;
use cento_api::overlap::Category;
use cento_text::hash::mix64;
use cento_text::runtime::Stop;

/// The amount of reused text in a collection.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReuseStatistics {
    /// The number of live documents.
    pub documents: u64,
    /// The categories from C1 to C6.
    pub categories: Vec<CategoryStatistics>,
    /// All categories together. The pairs of a pattern are extrapolated from the examined pairs of
    /// each category.
    pub total: CategoryStatistics,
    /// Whether patterns in `total` are extrapolated, because not all pairs were examined.
    pub estimated: bool,
    /// Whether categories are estimated, because the texts of some pairs are not at hand or their
    /// fingerprints are not runs of words.
    pub categories_estimated: bool,
    /// How much the limit of document frequency hides.
    pub stopped: StopCounts,
}

/// The pairs of one category.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CategoryStatistics {
    /// The category. `None` means all categories together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
    /// The number of pairs of documents. n copies that have only stop-fingerprints count as n - 1
    /// pairs ([`pairs`]).
    pub pairs: u64,
    /// The number of documents in at least one pair of this category.
    pub documents: u64,
    /// The share of the collection that these documents are, 0 to 1.
    pub share: f64,
    /// The mean number of partners of a document that is in a pair of this category.
    pub siblings: f64,
    /// The number of examined pairs by pattern, extrapolated if this is the total. Empty if the
    /// index stores no texts.
    pub patterns: Vec<(Pattern, u64)>,
    /// The number of examined pairs with too many differences to find a pattern, extrapolated if
    /// this is the total.
    pub unclassified: u64,
}

/// Documents and pairs of a category while they are counted.
#[derive(Default)]
struct CategoryCounts {
    pairs: u64,
    has_document: Vec<bool>,
    /// The pairs with the smallest hashes, a sample for patterns. The greatest hash is on top.
    sample: BinaryHeap<(u64, DocAddress, DocAddress)>,
}

impl CategoryCounts {
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

/// The categories of reused text, in order from C1 to C6.
pub const CATEGORIES: [Category; 6] =
    [Category::C1, Category::C2, Category::C3, Category::C4, Category::C5, Category::C6];

/// Analyzes the collection of `searcher`. Calls `progress` with the number of documents searched
/// for so far, and the number of all documents.
///
/// # Errors
/// When a file is damaged. [`cento::Error::Cancelled`] soon after `stop`.
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
    let new =
        || CategoryCounts { has_document: vec![false; end as usize], ..CategoryCounts::default() };
    let mut counts: Vec<CategoryCounts> = CATEGORIES.iter().map(|_| new()).collect();
    let mut total = new();
    // Every category requires that the documents have more than a tenth in common.
    let thresholds = Thresholds::default().min_containment(0.1);
    let pair_options = PairOptions::default().thresholds(thresholds).max_df(options.max_df);
    // The sample depends on the texts of the pairs, not on where they are stored.
    let digest = |address: DocAddress| -> Result<u64> {
        Ok(mix64(snapshot.segment(address).signatures.digest(address.doc)?.low))
    };
    let found = pairs(searcher, &pair_options).threads(threads).stop(stop);
    let mut categories_estimated = false;
    for document in found.by_document() {
        let DocumentPairs { next, pairs: found } = document?;
        for pair in found {
            // Texts decide the category where they are at hand.
            categories_estimated |= !pair.similarity.exact;
            let Some(category) = pair.similarity.category() else { continue };
            let numbers = [pair.a, pair.b].map(|address| numbering.number(address));
            let place = CATEGORIES.iter().position(|&other| other == category);
            let counts = &mut counts[place.expect("there are six categories")];
            counts.add(numbers);
            total.add(numbers);
            let digests = [digest(pair.a)?, digest(pair.b)?];
            let (least, most) = (digests[0].min(digests[1]), digests[0].max(digests[1]));
            let hash = mix64(mix64(least) ^ most);
            counts.sample.push((hash, pair.a, pair.b));
            if counts.sample.len() > options.limit {
                counts.sample.pop();
            }
        }
        progress(next, end);
    }
    let documents = snapshot.documents();
    let total = total.statistics(None, documents);
    let stopped = searcher.stop_counts(options.max_df, stop)?;
    let estimated = snapshot.config().store_text
        && counts.iter().any(|counts| counts.pairs > counts.sample.len() as u64);
    let mut statistics = ReuseStatistics {
        documents,
        categories: Vec::new(),
        total,
        estimated,
        categories_estimated,
        stopped,
    };
    for (counts, category) in counts.iter().zip(CATEGORIES) {
        let mut of_category = counts.statistics(Some(category), documents);
        if snapshot.config().store_text {
            let sample = counts.sample.clone().into_sorted_vec();
            for (_, a, b) in sample {
                let Some(pattern) = pattern::of(searcher, a, b, stop)? else {
                    of_category.unclassified += 1;
                    continue;
                };
                add(&mut of_category.patterns, pattern, 1);
            }
            of_category.patterns.sort_unstable();
        }
        statistics.categories.push(of_category);
    }
    let (patterns, unclassified) = all_kinds(&statistics.categories);
    statistics.total.patterns = patterns;
    statistics.total.unclassified = unclassified;
    Ok(statistics)
}

/// Extrapolates the examined pairs of a category to its other pairs. Returns the pairs by pattern
/// and the pairs without a pattern. The numbers add up to the number of pairs.
fn all_kinds(categories: &[CategoryStatistics]) -> (Vec<(Pattern, u64)>, u64) {
    let mut shares: BTreeMap<Option<Pattern>, f64> = BTreeMap::new();
    let mut pairs = 0;
    for CategoryStatistics { pairs: of_category, patterns, unclassified, .. } in categories {
        let classified = patterns.iter().map(|&(pattern, count)| (Some(pattern), count));
        let kinds = || classified.clone().chain([(None, *unclassified)]);
        let examined: u64 = kinds().map(|(_, count)| count).sum();
        if examined == 0 {
            continue;
        }
        pairs += of_category;
        for (kind, count) in kinds().filter(|(_, count)| *count > 0) {
            *shares.entry(kind).or_default() +=
                *of_category as f64 * count as f64 / examined as f64;
        }
    }
    // Round down, then round up where most is missing, until the numbers add up.
    let mut whole: Vec<(Option<Pattern>, u64, f64)> = shares
        .into_iter()
        .map(|(kind, share)| (kind, share.floor() as u64, share - share.floor()))
        .collect();
    let lacking = pairs.saturating_sub(whole.iter().map(|(_, count, _)| count).sum());
    let mut by_loss: Vec<usize> = (0..whole.len()).collect();
    by_loss.sort_by(|&a, &b| whole[b].2.total_cmp(&whole[a].2).then(a.cmp(&b)));
    for place in by_loss.into_iter().take(lacking as usize) {
        whole[place].1 += 1;
    }
    let unclassified = whole.iter().find(|(kind, ..)| kind.is_none()).map_or(0, |found| found.1);
    let patterns = whole.into_iter().filter_map(|(kind, count, _)| Some((kind?, count))).collect();
    (patterns, unclassified)
}

fn add(patterns: &mut Vec<(Pattern, u64)>, pattern: Pattern, count: u64) {
    match patterns.iter_mut().find(|(other, _)| *other == pattern) {
        Some((_, sum)) => *sum += count,
        None => patterns.push((pattern, count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Pattern::{ExactAlias, Template, TextReuse};

    #[test]
    fn each_category_counts_by_its_pairs_and_not_by_its_sample() {
        let category = |pairs, patterns: &[(Pattern, u64)], unclassified| CategoryStatistics {
            category: None,
            pairs,
            documents: 0,
            share: 0.0,
            siblings: 0.0,
            patterns: patterns.to_vec(),
            unclassified,
        };
        let check = |categories: &[CategoryStatistics], expected: &[(Pattern, u64)], none| {
            assert_eq!(all_kinds(categories), (expected.to_vec(), none));
        };
        // All of ten copies are examined, and some of 66 pairs.
        for (copies, reused) in [(10, 66), (10, 50), (5, 5), (1, 1)] {
            let categories =
                [category(10, &[(ExactAlias, copies)], 0), category(66, &[(TextReuse, reused)], 0)];
            check(&categories, &[(ExactAlias, 10), (TextReuse, 66)], 0);
        }
        check(&[category(0, &[], 0)], &[], 0);
        // Three patterns of 10 / 3 pairs, then 9 pairs at 2 to 1. Rounded numbers add up to the
        // pairs.
        let thirds = [(ExactAlias, 1), (Template, 1), (TextReuse, 1)];
        check(&[category(10, &thirds, 0)], &[(ExactAlias, 4), (Template, 3), (TextReuse, 3)], 0);
        check(&[category(9, &[(Template, 2)], 1)], &[(Template, 6)], 3);
        check(&[category(7, &[], 2)], &[], 7);
    }
}
