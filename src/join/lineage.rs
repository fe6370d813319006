//! The lineage of documents: versions and their ancestors.
//!
//! The direct ancestor of a document is the earlier document that explains most of it: that has the
//! greatest share of its runs of words; of those, the one that is most like it. Two documents are
//! compared if either explains enough of the other. The one with the earlier date is the
//! earlier one. Where dates do not tell, it is the shorter one, because a version adds more than it
//! removes; so a direction without dates is uncertain, and said to be.
//!
//! Each document has one ancestor at most, and the ancestors of a document never lead back to it:
//! the pairs that explain most are taken first, and a pair that would close a circle is left out.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::{Arc, OnceLock};

use super::PairOptions;
use super::Thresholds;
use super::chronology::{Chronology, NoDate};
use super::pairs::{DocumentPairs, pairs};
use crate::error::Result;
use crate::index::Snapshot;
use crate::runtime::Stop;
use crate::runtime::ordered::Ordered;
use crate::search::Searcher;
use crate::similarity::Similarity;

pub use cento_api::{Descent, DirectionBy, LineageOptions};

/// The best earlier documents that are kept for each document, in case that some close a
/// circle.
const CANDIDATES_MAX: usize = 8;

/// Finds the lineage of the documents of an index: trees of versions, the largest first; equal ones
/// in the order of their first documents. In a tree each document comes after its ancestor.
/// Documents without versions are left out.
///
/// The iterator begins at the first call of [`next`](Iterator::next), and ends its threads when it
/// is dropped.
///
/// # Errors
/// The iterator gives an error, and ends, when an option is out of bounds, no document has a date
/// in the field, or a file is damaged; [`Error::Cancelled`](crate::Error::Cancelled) after it was
/// stopped.
pub fn lineage(searcher: &Searcher, options: &LineageOptions) -> Lineage {
    Lineage {
        stage: Stage::Planned(Box::new(Plan {
            searcher: searcher.clone(),
            options: options.clone(),
            threads: crate::available_threads(),
            stop: Stop::default(),
            progress: Box::new(|_| {}),
        })),
        summary: Arc::default(),
    }
}

/// Facts about a search for lineage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineageSummary {
    /// The number of trees.
    pub trees: u64,
    /// The documents that have an ancestor.
    pub versions: u64,
    /// Those of them with a later date than the ancestor.
    pub dated: u64,
    /// Documents without a date, if dates were requested.
    pub undated: u64,
    /// The id of the first of them that has a value that is no date, and the value.
    pub no_date: Option<(String, String)>,
}

/// The lineage of a collection: [`lineage`].
#[must_use = "an iterator finds nothing before the first call of `next`"]
pub struct Lineage {
    stage: Stage,
    summary: Arc<OnceLock<LineageSummary>>,
}

enum Stage {
    Planned(Box<Plan>),
    Begun(Ordered<Descent>),
    /// Only while it begins.
    Beginning,
}

struct Plan {
    searcher: Searcher,
    options: LineageOptions,
    threads: usize,
    stop: Stop,
    progress: Box<dyn FnMut(u64) + Send>,
}

impl std::fmt::Debug for Lineage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lineage").finish_non_exhaustive()
    }
}

impl Lineage {
    /// Searches with this number of threads instead of as many as there are processors.
    pub fn threads(self, threads: usize) -> Lineage {
        self.with(|plan| plan.threads = threads)
    }

    /// Ends soon after `stop` is set, with [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn stop(self, stop: &Stop) -> Lineage {
        self.with(|plan| plan.stop = stop.clone())
    }

    /// Calls `progress` with the number of documents searched for so far.
    pub fn progress(self, progress: impl FnMut(u64) + Send + 'static) -> Lineage {
        self.with(|plan| plan.progress = Box::new(progress))
    }

    /// Returns facts about the search, which are known from the first document on.
    #[must_use]
    pub fn summary(&self) -> LineageSummary {
        self.summary.get().cloned().unwrap_or_default()
    }

    fn with(mut self, set: impl FnOnce(&mut Plan)) -> Lineage {
        if let Stage::Planned(plan) = &mut self.stage {
            set(plan);
        }
        self
    }
}

/// An earlier document that may be the ancestor of another.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Candidate {
    /// The ranks of both documents.
    ancestor: u32,
    document: u32,
    by: DirectionBy,
    /// The ancestor is `a`.
    similarity: Similarity,
}

impl Candidate {
    /// Returns what candidates are ordered by, the best last: how much the ancestor explains, how
    /// alike both documents are, then the later ancestor.
    fn key(&self) -> (u64, u64, u32, Reverse<u32>) {
        // Shares are not negative, so the order of their bits is that of the numbers.
        let Similarity { resemblance, containment_of_b, .. } = self.similarity;
        (containment_of_b.to_bits(), resemblance.to_bits(), self.ancestor, Reverse(self.document))
    }
}

impl Eq for Candidate {}

impl Ord for Candidate {
    /// The worst candidate is the greatest, so that a heap gives it up first.
    fn cmp(&self, other: &Candidate) -> std::cmp::Ordering {
        other.key().cmp(&self.key())
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Candidate) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Plan {
    fn begin(self, summary: Arc<OnceLock<LineageSummary>>) -> Ordered<Descent> {
        let (threads, stop) = (self.threads, self.stop.clone());
        Ordered::start(threads, &stop, move |stop, begin| {
            let Plan { searcher, options, threads, progress, .. } = self;
            options.check()?;
            let snapshot = searcher.snapshot();
            let documents = Chronology::new(snapshot, options.date.as_deref(), stop)?;
            let direct = Directions { snapshot, documents: &documents };
            let thresholds = Thresholds::default().min_containment(options.min_explained);
            let pair_options = PairOptions::default().thresholds(thresholds).max_df(options.max_df);
            let found = pairs(&searcher, &pair_options).threads(threads).stop(stop);
            let mut candidates: BTreeMap<u32, BinaryHeap<Candidate>> = BTreeMap::new();
            for found in found.progress(progress).by_document() {
                let DocumentPairs { pairs, .. } = found?;
                for pair in pairs {
                    let candidate = direct.candidate(&pair)?;
                    let of_document = candidates.entry(candidate.document).or_default();
                    of_document.push(candidate);
                    if of_document.len() > CANDIDATES_MAX {
                        of_document.pop();
                    }
                }
            }
            let ancestors = ancestors(candidates.into_values().flatten().collect());
            let rows = rows(&ancestors);
            let dated = ancestors.values().filter(|found| found.by == DirectionBy::Date);
            let Chronology { undated, ref no_date, .. } = documents;
            let _ = summary.set(LineageSummary {
                trees: rows.last().map_or(0, |row| row.tree),
                versions: ancestors.len() as u64,
                dated: dated.count() as u64,
                undated,
                no_date: no_date.clone().map(|NoDate { id, value }| (id, value)),
            });
            begin(0..rows.len() as u64, &|at| {
                direct.describe(&rows[at as usize], ancestors.get(&rows[at as usize].document))
            });
            Ok(())
        })
    }
}

impl Iterator for Lineage {
    type Item = Result<Descent>;

    fn next(&mut self) -> Option<Result<Descent>> {
        loop {
            match std::mem::replace(&mut self.stage, Stage::Beginning) {
                Stage::Planned(plan) => {
                    self.stage = Stage::Begun(plan.begin(self.summary.clone()));
                }
                Stage::Begun(mut found) => {
                    let descent = found.next().map(|found| found.map(|(_, descent)| descent));
                    self.stage = Stage::Begun(found);
                    return descent;
                }
                Stage::Beginning => return None,
            }
        }
    }
}

/// Tells which of two documents is the earlier one.
struct Directions<'a> {
    snapshot: &'a Snapshot,
    documents: &'a Chronology,
}

impl Directions<'_> {
    fn tokens(&self, rank: u32) -> Result<u32> {
        let address = self.documents.address(rank);
        let segment = self.snapshot.segment(address);
        Ok(segment.signatures.document(address.doc)?.tokens)
    }

    fn candidate(&self, pair: &super::pairs::Pair) -> Result<Candidate> {
        let [a, b] = [pair.a, pair.b].map(|address| self.documents.rank(address));
        let times = self.documents.time(a).zip(self.documents.time(b));
        let by_date = times.and_then(|(one, other)| match () {
            () if one.is_before(other) => Some(true),
            () if other.is_before(one) => Some(false),
            () => None,
        });
        let (is_a_first, by) = match by_date {
            Some(is_a_first) => (is_a_first, DirectionBy::Date),
            None => match (self.tokens(a)?, self.tokens(b)?) {
                (one, other) if one != other => (one < other, DirectionBy::Length),
                _ => (a < b, DirectionBy::Added),
            },
        };
        let similarity = pair.similarity;
        Ok(match is_a_first {
            true => Candidate { ancestor: a, document: b, by, similarity },
            false => Candidate { ancestor: b, document: a, by, similarity: similarity.swapped() },
        })
    }

    fn describe(&self, row: &Row, found: Option<&Candidate>) -> Result<Descent> {
        let id = |rank: u32| self.snapshot.id(self.documents.address(rank));
        Ok(Descent {
            tree: row.tree,
            depth: row.depth,
            id: id(row.document)?,
            date: self.documents.date(self.snapshot, row.document)?,
            time: self.documents.time(row.document).map(|time| time.start),
            tokens: self.tokens(row.document)?,
            ancestor: found.map(|found| id(found.ancestor)).transpose()?,
            direction_by: found.map(|found| found.by),
            similarity: found.map(|found| found.similarity),
        })
    }
}

/// Chooses an ancestor for each document, the best candidates first, without circles.
fn ancestors(mut candidates: Vec<Candidate>) -> BTreeMap<u32, Candidate> {
    candidates.sort_unstable();
    let mut chosen: BTreeMap<u32, Candidate> = BTreeMap::new();
    for candidate in candidates {
        if chosen.contains_key(&candidate.document) {
            continue;
        }
        let mut before = candidate.ancestor;
        while before != candidate.document
            && let Some(next) = chosen.get(&before)
        {
            before = next.ancestor;
        }
        if before != candidate.document {
            chosen.insert(candidate.document, candidate);
        }
    }
    chosen
}

/// A document, and its place in a tree.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Row {
    tree: u64,
    depth: u64,
    document: u32,
}

/// Returns the documents of the trees in the order of the answer: each tree from its first document
/// on, and all descendants of a version before the next version of the same ancestor.
fn rows(ancestors: &BTreeMap<u32, Candidate>) -> Vec<Row> {
    let mut versions: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (&document, found) in ancestors {
        versions.entry(found.ancestor).or_default().push(document);
    }
    let first = versions.keys().filter(|document| !ancestors.contains_key(document));
    let mut trees: Vec<Vec<Row>> = Vec::new();
    for &first in first {
        let (mut rows, mut next) = (Vec::new(), vec![(first, 0)]);
        while let Some((document, depth)) = next.pop() {
            rows.push(Row { tree: 0, depth, document });
            let own = versions.get(&document).into_iter().flatten().rev();
            next.extend(own.map(|&version| (version, depth + 1)));
        }
        trees.push(rows);
    }
    trees.sort_by_key(|rows| Reverse(rows.len()));
    let numbered = (1..).zip(trees);
    numbered.flat_map(|(tree, rows)| rows.into_iter().map(move |row| Row { tree, ..row })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Config, Document, Index, WriterOptions};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn searcher(texts: &[(&str, String, Value)]) -> Searcher {
        let index = Index::in_memory(Config::new("kgram(k=2)", "words", true).unwrap()).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        for (id, text, meta) in texts {
            let document = Document::new(*id, text);
            writer.add(document.with_meta(meta.as_object().unwrap().clone())).unwrap();
        }
        writer.finish().unwrap();
        Searcher::new(index.snapshot().unwrap())
    }

    fn words(numbers: std::ops::Range<u32>) -> String {
        numbers.map(|number| format!("w{number} ")).collect()
    }

    fn found(searcher: &Searcher, options: &LineageOptions) -> Vec<Descent> {
        lineage(searcher, options).threads(2).collect::<Result<_>>().unwrap()
    }

    fn shown(found: &[Descent]) -> Vec<(u64, u64, &str, &str)> {
        let mut rows = Vec::new();
        for Descent { tree, depth, id, ancestor, .. } in found {
            rows.push((*tree, *depth, &**id, ancestor.as_deref().unwrap_or_default()));
        }
        rows
    }

    #[test]
    fn the_ancestor_is_the_earlier_document_that_explains_most() {
        let searcher = searcher(&[
            ("third", words(10..130), json!({"year": 2003})),
            ("branch", words(0..100) + &words(500..520), json!({"year": 2004})),
            ("first", words(0..100), json!({"year": 2001})),
            ("other", words(900..950), json!({"year": 2001})),
            ("second", words(0..120), json!({"year": 2002})),
        ]);
        let dated = found(&searcher, &LineageOptions::default().date("year"));
        let expected = [
            (1, 0, "first", ""),
            (1, 1, "second", "first"),
            (1, 2, "third", "second"),
            (1, 1, "branch", "first"),
        ];
        assert_eq!(shown(&dated), expected);
        assert!(dated[1..].iter().all(|row| row.direction_by == Some(DirectionBy::Date)));
        let added = dated[1].similarity.unwrap();
        assert_eq!((added.containment_of_a, added.containment_of_b), (1.0, 99.0 / 119.0));
    }

    #[test]
    fn without_dates_the_longer_document_is_the_later_and_that_is_said() {
        let searcher = searcher(&[
            ("long", words(0..120), json!({})),
            ("short", words(0..100), json!({})),
            ("same", words(0..100), json!({})),
        ]);
        let found = found(&searcher, &LineageOptions::default());
        let by: Vec<_> = found.iter().map(|row| row.direction_by).collect();
        assert_eq!(shown(&found)[..2], [(1, 0, "short", ""), (1, 1, "same", "short")]);
        assert_eq!(by, [None, Some(DirectionBy::Added), Some(DirectionBy::Length)]);
    }

    #[test]
    fn dates_that_are_missing_close_no_circle() {
        // By dates a is before b; c, without one, is between them by length, the other way round.
        let searcher = searcher(&[
            ("a", words(0..140), json!({"year": 2001})),
            ("b", words(0..100), json!({"year": 2002})),
            ("c", words(0..120), json!({})),
        ]);
        let found = found(&searcher, &LineageOptions::default().date("year"));
        assert_eq!(found.len(), 3);
        assert_eq!(found.iter().filter(|row| row.ancestor.is_none()).count(), 1, "{found:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// With distinct dates, the ancestor of each document is the best of all earlier ones.
        #[test]
        fn ancestors_are_those_of_a_comparison_of_all_pairs(
            some in prop::collection::vec((0u32..60, 10u32..60), 2..12),
        ) {
            let texts: Vec<(String, String, Value)> = some
                .iter()
                .enumerate()
                .map(|(at, &(start, count))| {
                    (format!("d{at:02}"), words(start..start + count), json!({"n": 50 - at}))
                })
                .collect();
            let texts: Vec<(&str, String, Value)> =
                texts.iter().map(|(id, text, meta)| (&**id, text.clone(), meta.clone())).collect();
            let runs = |at: usize| some[at].0..some[at].0 + some[at].1 - 1;
            let mut expected = BTreeMap::new();
            for document in 0..some.len() {
                let own = runs(document);
                let mut best: Option<((f64, f64), usize)> = None;
                // A greater number was added later, and has an earlier date.
                for other in (document + 1..some.len()).rev() {
                    let its = runs(other);
                    let common = own.end.min(its.end).saturating_sub(own.start.max(its.start));
                    let (all, common) = ((own.len() + its.len()) as f64, f64::from(common));
                    let least = own.len().min(its.len()) as f64;
                    let key = (common / own.len() as f64, common / (all - common));
                    if common / least >= 0.3 && best.is_none_or(|(most, _)| key >= most) {
                        best = Some((key, other));
                    }
                }
                if let Some((_, other)) = best {
                    expected.insert(texts[document].0, texts[other].0);
                }
            }
            let searcher = searcher(&texts);
            let found = found(&searcher, &LineageOptions::default().date("n"));
            let ancestors: BTreeMap<&str, &str> = found
                .iter()
                .filter_map(|row| Some((row.id.as_str(), row.ancestor.as_deref()?)))
                .collect();
            prop_assert_eq!(ancestors, expected);
            // Each document comes after its ancestor, in its tree and one step deeper.
            for (at, row) in found.iter().enumerate() {
                let Some(ancestor) = &row.ancestor else { continue };
                let before = found[..at].iter().find(|other| &other.id == ancestor);
                let its_place = before.map(|other| (other.tree, other.depth + 1));
                prop_assert_eq!(its_place, Some((row.tree, row.depth)));
            }
        }
    }
}
