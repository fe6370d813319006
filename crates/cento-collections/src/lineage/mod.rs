//! The lineage of documents: versions and their ancestors.
//!
//! The direct ancestor of a document is the earlier document that explains most of it: that has the
//! greatest share of its runs of words; of those, the one that is most like it. Two documents are
//! compared if either explains enough of the other, beyond the text that many documents have; that
//! makes no versions, but of documents that are nearly the same. A document that another one has
//! whole, in one place of a text of its own that is longer than it, is quoted, and not its
//! ancestor.
//!
//! Of documents with the same text the first one represents all where dates do not tell: a hundred
//! copies say no more than one, and would leave no room for other candidates.
//!
//! The document with the earlier date is the earlier one. Where dates do not tell, all versions of
//! a document together do (`root`), because versions add more than they leave out; so a direction
//! without dates is uncertain, and said to be.
//!
//! Each document has one ancestor at most, and the ancestors of a document never lead back to it:
//! the pairs that explain most are taken first, and a pair that would close a circle is left out.

mod copies;
mod root;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use self::copies::first_copies;
use self::root::{Link, Place, places};
use super::PairOptions;
use super::Thresholds;
use super::chronology::{Chronology, NoDate};
use super::job::{Job, Judge, Resources};
use super::pair::Pair;
use super::pair_search::{Versions, Wanted};
use super::pairs::{DocumentPairs, pairs};
use cento::index::Snapshot;
use cento::search::Searcher;
use cento_api::error::Result;
use cento_api::similarity::Similarity;
use cento_text::runtime::Stop;
use cento_text::runtime::ordered::{Begin, results_max};

pub use cento_api::{Descent, DirectionBy, LineageOptions};

/// The best earlier documents that are kept for each document, in case that some close a
/// circle; and the most similar documents where dates do not tell.
const CANDIDATES_MAX: usize = 8;

/// Text that more documents have makes no versions: notices, headings, forms. A short document that
/// is a third notice would be the ancestor of hundreds that have the notice too.
const COMMON_DF: u64 = 50;

/// Documents that are at least as alike are versions, whatever part of their text others have: of
/// more than [`COMMON_DF`] versions of one document all have most of it.
const ALIKE: f64 = 0.7;

/// An ancestor that explains little of a document must be spread over this share of it: less is a
/// quotation. One that explains this share of it is an ancestor wherever it stands.
const SPREAD_MIN: f64 = 0.5;

/// A document that has this share of another one has it whole: where a quotation begins and ends,
/// some words may be others.
const WHOLE_MIN: f64 = 0.9;

/// The memory of an ancestor in the tree of all: its entry, in nodes that may be half empty.
const ANCESTOR_BYTES: usize = 2 * size_of::<(u32, Candidate)>();

/// The memory of a document of the answer: with two ids and a date.
const DESCENT_BYTES: usize = size_of::<Descent>() + 256;

/// Finds the lineage of the documents of an index: trees of versions, the largest first; equal ones
/// in the order of their first documents. In a tree each document comes after its ancestor.
/// Documents without versions are left out.
///
/// The iterator begins at the first call of [`next`](Iterator::next), and ends its threads when it
/// is dropped.
///
/// # Errors
/// The iterator gives an error, and ends, when an option is out of bounds, no document has a date
/// in the field, or a file is damaged; [`Error::Cancelled`](cento::Error::Cancelled) after it was
/// stopped.
pub fn lineage(searcher: &Searcher, options: &LineageOptions) -> Lineage {
    Job::new(searcher, LineageJudge { options: options.clone() })
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
pub type Lineage = Job<LineageJudge>;

/// Decides which document is the ancestor of another.
#[derive(Debug)]
pub struct LineageJudge {
    options: LineageOptions,
}

/// A document that may be the ancestor of another.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Candidate {
    /// The ranks of both documents.
    ancestor: u32,
    document: u32,
    by: DirectionBy,
    /// The ancestor is `a`.
    similarity: Similarity,
}

/// What candidates are ordered by, the best last.
type Key = (u64, u64, i64, Reverse<u32>);

impl Candidate {
    /// Returns how much the ancestor explains, how alike both documents are, then the later
    /// ancestor by dates; where these do not tell, the first.
    fn by_explained(&self) -> Key {
        // Shares are not negative, so the order of their bits is that of the numbers.
        let Similarity { resemblance, containment_of_b, .. } = self.similarity;
        let later = match self.by {
            DirectionBy::Date => i64::from(self.ancestor),
            _ => -1 - i64::from(self.ancestor),
        };
        (containment_of_b.to_bits(), resemblance.to_bits(), later, Reverse(self.document))
    }

    /// Returns how alike both documents are, whichever is the earlier one.
    fn by_resemblance(&self) -> Key {
        let (explained, resemblance, ancestor, document) = self.by_explained();
        (resemblance, explained, ancestor, document)
    }

    /// Returns how much more the document adds than it leaves out of the ancestor.
    fn growth(&self) -> i64 {
        let Similarity { containment_of_a, containment_of_b, .. } = self.similarity;
        ((containment_of_a - containment_of_b) * f64::from(1 << 20)).round() as i64
    }
}

/// The best candidates of each document.
struct Kept {
    key: fn(&Candidate) -> Key,
    of_documents: BTreeMap<u32, Vec<Candidate>>,
}

impl Kept {
    fn by(key: fn(&Candidate) -> Key) -> Kept {
        Kept { key, of_documents: BTreeMap::new() }
    }

    fn add(&mut self, candidate: Candidate) {
        let of_document = self.of_documents.entry(candidate.document).or_default();
        // The first of several copies is a candidate for each of them.
        if of_document.iter().any(|known| known.ancestor == candidate.ancestor) {
            return;
        }
        of_document.push(candidate);
        if of_document.len() > CANDIDATES_MAX {
            let worst = (0..of_document.len()).min_by_key(|&at| (self.key)(&of_document[at]));
            if let Some(at) = worst {
                of_document.swap_remove(at);
            }
        }
    }

    fn into_candidates(self) -> impl Iterator<Item = Candidate> {
        self.of_documents.into_values().flatten()
    }
}

impl Judge for LineageJudge {
    type Item = Descent;
    /// The summary, and the memory of the documents to come, in bytes.
    type Facts = (LineageSummary, usize);

    fn run(
        self,
        Resources { searcher, threads, stop, progress }: Resources<'_>,
        found: &OnceLock<(LineageSummary, usize)>,
        begin: Begin<'_, Descent>,
    ) -> Result<()> {
        let LineageJudge { options } = self;
        options.check()?;
        let snapshot = searcher.snapshot();
        let documents = Chronology::new(snapshot, options.date.as_deref(), stop)?;
        let first_copies = first_copies(snapshot, &documents, stop)?;
        let direct = Directions { searcher, documents: &documents, first_copies };
        let thresholds = Thresholds::default().min_containment(options.min_explained);
        let pair_options = PairOptions::default().thresholds(thresholds).max_df(options.max_df);
        let versions = Versions {
            common_df: COMMON_DF,
            min_share: options.min_explained,
            min_resemblance: ALIKE,
        };
        let wanted = Wanted { versions: Some(versions), ..Wanted::of(&pair_options)? };
        let all = pairs(searcher, &pair_options).threads(threads).stop(stop);
        let (join, _) = all.into_parts()?;
        let mut dated = Kept::by(Candidate::by_explained);
        let mut others = Kept::by(Candidate::by_resemblance);
        for found in join.start(wanted) {
            let DocumentPairs { next, pairs } = found?;
            progress(next);
            for pair in pairs {
                direct.add(&pair, options.min_explained, (&mut dated, &mut others), stop)?;
            }
        }
        let dated: Vec<Candidate> = dated.into_candidates().collect();
        let mut candidates = direct.earlier(others.into_candidates().collect(), &dated, stop)?;
        candidates.extend(dated);
        let ancestors = ancestors(candidates);
        let rows = rows(&ancestors);
        let dated = ancestors.values().filter(|found| found.by == DirectionBy::Date);
        let Chronology { undated, ref no_date, .. } = documents;
        let summary = LineageSummary {
            trees: rows.last().map_or(0, |row| row.tree),
            versions: ancestors.len() as u64,
            dated: dated.count() as u64,
            undated,
            no_date: no_date.clone().map(|NoDate { id, value }| (id, value)),
        };
        let waiting = results_max(threads) * DESCENT_BYTES;
        let copies = direct.first_copies.capacity() * size_of::<u32>();
        let held = rows.capacity() * size_of::<Row>() + ancestors.len() * ANCESTOR_BYTES + copies;
        let _ = found.set((summary, held + waiting + documents.bytes()));
        begin(0..rows.len() as u64, &|at| {
            direct.describe(&rows[at as usize], ancestors.get(&rows[at as usize].document))
        });
        Ok(())
    }
}

/// Tells which of two documents is the earlier one.
struct Directions<'a> {
    searcher: &'a Searcher,
    documents: &'a Chronology,
    /// The first document with the text of each document, by rank.
    first_copies: Vec<u32>,
}

impl Directions<'_> {
    fn snapshot(&self) -> &Snapshot {
        self.searcher.snapshot()
    }

    fn tokens(&self, rank: u32) -> Result<u32> {
        let address = self.documents.address(rank);
        let segment = self.snapshot().segment(address);
        Ok(segment.signatures.document(address.doc)?.tokens)
    }

    /// Tells whether the first of two documents is before the second by their dates.
    fn is_before(&self, one: u32, other: u32) -> bool {
        let times = self.documents.time(one).zip(self.documents.time(other));
        times.is_some_and(|(one, other)| one.is_before(other))
    }

    /// Adds the candidates of a pair: that with the earlier date, or both if dates do not tell,
    /// each as the first document with its text.
    fn add(
        &self,
        pair: &Pair,
        min_explained: f64,
        (dated, others): (&mut Kept, &mut Kept),
        stop: &Stop,
    ) -> Result<()> {
        let [a, b] = [pair.a, pair.b].map(|address| self.documents.rank(address));
        let is_told = self.is_before(a, b) || self.is_before(b, a);
        let similarity = pair.similarity;
        for (one, document, similarity) in [(a, b, similarity), (b, a, similarity.swapped())] {
            let ancestor = if is_told { one } else { self.first_copies[one as usize] };
            if ancestor == document || self.is_before(document, ancestor) {
                continue;
            }
            // The direction of the others is found when all are known.
            let (kept, by) = match self.is_before(ancestor, document) {
                true => (&mut *dated, DirectionBy::Date),
                false => (&mut *others, DirectionBy::Added),
            };
            let candidate = Candidate { ancestor, document, by, similarity };
            if self.is_version(&candidate, min_explained, stop)? {
                kept.add(candidate);
            }
        }
        Ok(())
    }

    /// Tells whether the document is a version of the other, and does not only quote it: the common
    /// text is enough of it, or spread over it.
    fn is_version(&self, of: &Candidate, min_explained: f64, stop: &Stop) -> Result<bool> {
        let Similarity { containment_of_a, containment_of_b: explained, .. } = of.similarity;
        let may_be_quoted = containment_of_a >= WHOLE_MIN && explained < SPREAD_MIN;
        if explained >= min_explained && !may_be_quoted {
            return Ok(true);
        }
        let keys = self.searcher.keys_of(self.documents.address(of.ancestor), stop)?;
        let signature = self.snapshot().signature(self.documents.address(of.document), stop)?;
        let shared = signature.iter().filter(|found| keys.binary_search(&found.key).is_ok());
        let at: Vec<u32> = shared.map(|found| found.position).collect();
        // Some words elsewhere, such as a heading, spread nothing.
        let (Some(from), Some(to)) = (at.get(at.len() / 10), at.iter().rev().nth(at.len() / 10))
        else {
            return Ok(true);
        };
        let reached = f64::from(to.saturating_sub(*from));
        Ok(reached >= SPREAD_MIN * f64::from(self.tokens(of.document)?))
    }

    /// Returns the candidates whose ancestor is the earlier document by all versions together, of
    /// those whose dates do not tell. `dated` are the others.
    fn earlier(
        &self,
        candidates: Vec<Candidate>,
        dated: &[Candidate],
        stop: &Stop,
    ) -> Result<Vec<Candidate>> {
        if candidates.is_empty() {
            return Ok(candidates);
        }
        let link = |found: &Candidate| Link {
            a: found.ancestor,
            b: found.document,
            resemblance: found.similarity.resemblance,
            growth: found.growth(),
        };
        let ends = |members: &[u32]| {
            let has_time = |rank: &u32| self.documents.time(*rank).is_some();
            let earliest = members.iter().copied().find(has_time)?;
            let latest = members.iter().copied().rev().find(has_time)?;
            self.is_before(earliest, latest).then_some((earliest, latest))
        };
        let links = candidates.iter().chain(dated).map(link).collect();
        let places = places(self.documents.len(), links, ends, stop)?;
        let mut earlier = Vec::new();
        for candidate in candidates {
            if let Some(by) = self.direction(&candidate, &places)? {
                earlier.push(Candidate { by, ..candidate });
            }
        }
        Ok(earlier)
    }

    /// Returns the reason why the ancestor is the earlier one, if it is.
    fn direction(&self, of: &Candidate, places: &[Place]) -> Result<Option<DirectionBy>> {
        let [one, other] = [of.ancestor, of.document].map(|rank| places[rank as usize]);
        let by_addition = || self.documents.by_addition(of.ancestor, of.document);
        if one.level != other.level {
            let by = if other.tells_direction { DirectionBy::Length } else { by_addition() };
            return Ok((one.level < other.level).then_some(by));
        }
        let [tokens, others] = [self.tokens(of.ancestor)?, self.tokens(of.document)?];
        Ok(match tokens == others {
            true => (of.ancestor < of.document).then(by_addition),
            false => (tokens < others).then_some(DirectionBy::Length),
        })
    }

    fn describe(&self, row: &Row, found: Option<&Candidate>) -> Result<Descent> {
        let id = |rank: u32| self.snapshot().id(self.documents.address(rank));
        Ok(Descent {
            tree: row.tree,
            depth: row.depth,
            id: id(row.document)?,
            date: self.documents.date(self.snapshot(), row.document)?,
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
    candidates.sort_unstable_by_key(|candidate| Reverse(candidate.by_explained()));
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
mod tests;
