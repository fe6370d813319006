//! Which documents do pairs connect?
//!
//! A list shows the best pairs, but a cluster has all its members, whatever the list shows. So the
//! search notes every pair that meets the thresholds. A pair connects its documents only if they
//! share a passage that is evidence beyond chance, and finding passages takes most of the time.
//! For clusters, the passages of two documents that are connected already are not searched for.
//! The most similar pairs come first, so a limit is reached by the least similar pairs.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::by_document::Join;
pub use super::connect::Connect;
use super::contenders::CountedPair;
use super::pair::is_too_short;
use cento::index::DocAddress;
use cento_api::error::Result;
use cento_text::compare::Passages;
use cento_text::runtime::ordered::in_order;

/// A pair that connects two documents.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Link {
    /// The document that is stored first or, in a join of two indexes, the document of the first
    /// index.
    pub a: DocAddress,
    /// The other document.
    pub b: DocAddress,
    /// The resemblance of the two documents, 0 to 1.
    pub resemblance: f64,
}

/// The documents that pairs connect, whether a list shows the pairs or not.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Links {
    /// Pairs that connect documents, the most similar first. They have the same clusters as all
    /// pairs that connect documents, if `examined` is `total`.
    pub links: Vec<Link>,
    /// The number of pairs that meet the thresholds, without programs too short to judge.
    pub total: u64,
    /// The clusters are of this number of most similar pairs.
    pub examined: u64,
    /// Every link of this number of most similar pairs is in `links`, with [`Connect::Edges`].
    pub listed: u64,
}

/// The number of pairs to note. A note takes 24 bytes.
const NOTED_MAX: usize = 1 << 19;

/// The number of pairs whose links are all listed.
const EDGES_MAX: usize = 1 << 13;

/// The number of pairs whose passages are searched for.
const SEARCHES_MAX: usize = 1 << 14;

/// The number of pairs whose passages are searched for in parallel.
const BATCH: usize = 1 << 8;

fn best_first(one: &Link, other: &Link) -> Ordering {
    let similar = other.resemblance.total_cmp(&one.resemblance);
    similar.then_with(|| (one.a, one.b).cmp(&(other.a, other.b)))
}

/// The pairs of a search that may connect documents.
pub(super) struct LinkSearch {
    connect: Connect,
    noted: Vec<Link>,
    total: u64,
}

impl LinkSearch {
    pub fn new(connect: Connect) -> LinkSearch {
        LinkSearch { connect, noted: Vec::new(), total: 0 }
    }

    /// Notes a pair if it meets the thresholds.
    pub fn note(&mut self, seen: &CountedPair) {
        if self.connect == Connect::Nothing || !seen.is_met || seen.is_too_short {
            return;
        }
        let CountedPair { a, b, similarity, .. } = *seen;
        self.noted.push(Link { a, b, resemblance: similarity / (2.0 - similarity) });
        self.total += 1;
        if self.noted.len() == 2 * NOTED_MAX {
            self.forget();
        }
    }

    /// Keeps the most similar pairs.
    fn forget(&mut self) {
        if self.noted.len() > NOTED_MAX {
            self.noted.select_nth_unstable_by(NOTED_MAX, best_first);
            self.noted.truncate(NOTED_MAX);
        }
    }

    /// Finds the pairs that connect documents.
    ///
    /// # Errors
    /// When a document cannot be read. [`Error::Cancelled`](cento::Error::Cancelled) after the join
    /// was stopped.
    pub fn finish(mut self, join: &Join) -> Result<Links> {
        self.forget();
        self.noted.sort_unstable_by(best_first);
        let LinkSearch { connect, noted, total } = self;
        let has_texts = join.searcher.stores_texts() && join.other().stores_texts();
        // The pairs with a minimum passage have a passage already.
        let needs_passages = has_texts && join.options.min_passage.is_none();
        let searches_max = if needs_passages { SEARCHES_MAX } else { usize::MAX };
        let mut components = Components::default();
        let mut links = Links { total, ..Links::default() };
        let (mut at, mut searches) = (0, 0);
        while at < noted.len() && searches < searches_max {
            let lists_all = connect == Connect::Edges && searches < EDGES_MAX;
            let mut batch = Vec::with_capacity(BATCH);
            while at < noted.len() && batch.len() < BATCH {
                let link = noted[at];
                at += 1;
                if lists_all || !components.are_connected(ends(join, link)) {
                    batch.push(link);
                }
            }
            searches += batch.len();
            let connects = |number: u64| -> Result<bool> {
                let link = batch[number as usize];
                Ok(!needs_passages || has_passage(join, link)?)
            };
            let numbers = 0..batch.len() as u64;
            in_order(join.threads, numbers, &join.stop, &connects, &mut |number, connects| {
                let link = batch[number as usize];
                if connects && (components.connect(ends(join, link)) || lists_all) {
                    links.links.push(link);
                }
                Ok(())
            })?;
            if lists_all {
                links.listed = at as u64;
            }
        }
        links.examined = at as u64;
        Ok(links)
    }
}

/// Tells whether two documents share a passage that is evidence beyond chance, or may share one.
fn has_passage(join: &Join, Link { a, b, .. }: Link) -> Result<bool> {
    // Whether a program is too short is unknown for pairs compared by fingerprints alone.
    if is_too_short(&join.searcher, a)? || is_too_short(join.other(), b)? {
        return Ok(false);
    }
    let found: Passages = join.texts()?.passages(a, b, &join.stop)?;
    Ok(found.may_have_any())
}

/// A document, and whether it is in the second index of a join of two indexes.
type End = (bool, DocAddress);

fn ends(join: &Join, link: Link) -> [End; 2] {
    [(false, link.a), (join.against.is_some(), link.b)]
}

/// Sets of connected documents, as trees.
#[derive(Default)]
struct Components {
    numbers: HashMap<End, usize>,
    parents: Vec<usize>,
}

impl Components {
    fn root(&mut self, end: End) -> usize {
        let next = self.parents.len();
        let mut at = *self.numbers.entry(end).or_insert(next);
        if at == next {
            self.parents.push(next);
        }
        while self.parents[at] != at {
            self.parents[at] = self.parents[self.parents[at]];
            at = self.parents[at];
        }
        at
    }

    fn are_connected(&mut self, [a, b]: [End; 2]) -> bool {
        self.root(a) == self.root(b)
    }

    /// Connects two documents, and tells whether they were not connected.
    fn connect(&mut self, [a, b]: [End; 2]) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a] = b;
        a != b
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::pairs::{PairOptions, pairs};
    use cento::index::{Config, Document, Index, WriterOptions};
    use cento::search::Searcher;

    /// An index of two rings of copies with an edited part each, and of unrelated texts.
    fn searcher(stores_texts: bool) -> Searcher {
        let words = |name: &str, count: u32| -> String {
            (0..count).map(|n| format!("{name}{n} ")).collect()
        };
        let config = Config::new("winnow(k=5,w=10)", "words", stores_texts).unwrap();
        let index = Index::in_memory(config).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        for (ring, members) in [("one", 12), ("two", 7)] {
            for member in 0..members {
                let id = format!("{ring}{member}");
                let text = words(ring, 120) + &words(&format!("{id}x"), 10);
                writer.add(Document::new(id, text)).unwrap();
            }
        }
        for single in 0..3 {
            let id = format!("single{single}");
            writer.add(Document::new(&*id, words(&format!("{id}x"), 120))).unwrap();
        }
        writer.finish().unwrap();
        Searcher::new(index.snapshot().unwrap())
    }

    fn sizes(links: &Links) -> Vec<usize> {
        let mut components = Components::default();
        let mut all = BTreeSet::new();
        for link in &links.links {
            components.connect([(false, link.a), (false, link.b)]);
            all.extend([link.a, link.b]);
        }
        let mut sizes: HashMap<usize, usize> = HashMap::new();
        for address in all {
            *sizes.entry(components.root((false, address))).or_default() += 1;
        }
        let mut sizes: Vec<usize> = sizes.into_values().collect();
        sizes.sort_unstable();
        sizes
    }

    #[test]
    fn clusters_are_of_all_pairs_whatever_the_limit_of_the_list() {
        // The clusters were those of the shown pairs, so a ring of 12 looked like a ring of 3.
        let (of_twelve, of_seven) = (12 * 11 / 2, 7 * 6 / 2);
        for stores_texts in [true, false] {
            let searcher = searcher(stores_texts);
            for limit in [0usize, 2, 1000] {
                let options = PairOptions::default().min_similarity(0.5).limit(limit);
                let links = |connect| {
                    let found = pairs(&searcher, &options).connecting(connect);
                    found.most_similar().unwrap().links
                };
                let found = links(Connect::Clusters);
                assert_eq!(sizes(&found), [7, 12], "{limit}");
                assert_eq!((found.links.len(), found.total), (11 + 6, of_twelve + of_seven));
                assert_eq!(found.examined, found.total);
                let found = links(Connect::Edges);
                assert_eq!(found.links.len() as u64, found.total);
                assert_eq!((sizes(&found), found.listed), (vec![7, 12], found.total));
                assert_eq!(links(Connect::Nothing), Links::default());
                // The best pairs of an index, too.
                let mut best = pairs(&searcher, &options).connecting(Connect::Clusters);
                assert!(best.by_ref().all(|pair| pair.is_ok()));
                assert_eq!(sizes(best.links()), [7, 12], "{limit}");
            }
        }
    }
}
