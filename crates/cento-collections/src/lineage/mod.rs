//! Lineage: which documents are versions of an earlier document?
//!
//! The direct ancestor of a document is the earlier document that explains most of it, by having
//! the greatest share of its runs of words. Among equals the more similar document wins. Two
//! documents are compared if either document explains enough of its partner, not counting text that
//! many documents have. Common text makes no versions, except of documents that are nearly the
//! same. A document that is contained whole, in one place of a longer text, is quoted there and is
//! no ancestor.
//!
//! Where dates do not tell, the first of several documents with the same text represents them. A
//! hundred copies say no more than one document and would leave no room for other candidates.
//!
//! The document with the earlier date is the earlier document. Where dates do not tell, the
//! versions of a document decide together (`root`), because versions add more than they leave out.
//! A direction without dates is uncertain, and the result says so.
//!
//! A document has at most one ancestor, and ancestors never lead back to the document. Pairs that
//! explain most are taken first, and a pair that would close a circle is skipped.

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
use super::pair_search::{PairConditions, Versions};
use super::pairs::{DocumentPairs, pairs};
use cento::index::Snapshot;
use cento::search::Searcher;
use cento_api::error::Result;
use cento_api::similarity::Similarity;
use cento_text::runtime::Stop;
use cento_text::runtime::ordered::{Begin, results_max};

pub use cento_api::{Descent, DirectionBy, LineageOptions};

/// The number of candidates to keep for a document: the best earlier documents, in case that the
/// best close a circle, and the most similar documents where dates do not tell.
const CANDIDATES_MAX: usize = 8;

/// Text in more documents makes no versions, for example notices, headings and forms. Otherwise a
/// short document that is one third notice would be the ancestor of hundreds of documents with the
/// notice.
const COMMON_DF: u64 = 50;

/// Documents with at least this resemblance are versions even if their text is common. With more
/// than [`COMMON_DF`] versions of a document, most of its text is common.
const ALIKE: f64 = 0.7;

/// An ancestor that explains less than this share of a document must be spread over this share of
/// the document, because a compact part is a quotation. With a greater share, the place does not
/// matter.
const SPREAD_MIN: f64 = 0.5;

/// A document is contained whole if another document has this share of its runs, because the words
/// at the ends of a quotation may differ.
const WHOLE_MIN: f64 = 0.9;

/// The memory of an ancestor in the tree of ancestors, whose nodes may be half empty.
const ANCESTOR_BYTES: usize = 2 * size_of::<(u32, AncestorCandidate)>();

/// The memory of a document in the answer, with two ids and a date.
const DESCENT_BYTES: usize = size_of::<Descent>() + 256;

/// Finds the lineage of the documents of an index: trees of versions, the largest first, then in
/// the order of their first documents. A document comes after its ancestor. Documents without
/// versions are left out.
///
/// The work begins at the first call of [`next`](Iterator::next), and the threads end when the
/// iterator is dropped.
///
/// ```
/// # use cento::{Config, Document, Index, Searcher, WriterOptions};
/// # let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
/// # let mut writer = index.writer(WriterOptions::default())?;
/// # let poem = "A lighthouse was a fire behind a window and half of the light went up";
/// # let meta = |date: &str| [("date".to_owned(), date.into())].into_iter().collect();
/// # writer.add(Document::new("first", poem).with_meta(meta("1900")))?;
/// # let copy = format!("{poem} the chimney");
/// # writer.add(Document::new("second", copy).with_meta(meta("1901")))?;
/// # writer.add(Document::new("other", "a text about clocks that has no copy in the index"))?;
/// # writer.finish()?;
/// # let searcher = Searcher::new(index.snapshot()?);
/// use cento_collections::{LineageOptions, lineage::lineage};
///
/// let found = lineage(&searcher, &LineageOptions::default().date("date"));
/// let found = found.collect::<cento::Result<Vec<_>>>()?;
/// assert_eq!((&*found[1].id, found[1].ancestor.as_deref()), ("second", Some("first")));
/// # Ok::<(), cento::Error>(())
/// ```
///
/// # Errors
/// The iterator gives an error, and ends, when an option is out of bounds, no document has a date
/// in the field, or a file is damaged, and with [`Error::Cancelled`](cento::Error::Cancelled) after
/// it was stopped.
#[doc(alias = "stemma")]
pub fn lineage(searcher: &Searcher, options: &LineageOptions) -> Lineage {
    Job::new(searcher, LineageJudge { options: options.clone() })
}

/// Facts about a search for lineage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineageSummary {
    /// The number of trees of versions.
    pub trees: u64,
    /// The number of documents with an ancestor.
    pub versions: u64,
    /// The number of documents whose date is later than the date of their ancestor.
    pub dated: u64,
    /// The number of documents without a date, 0 unless dates were requested.
    pub undated: u64,
    /// The id and the value of the first document whose value is no date.
    pub no_date: Option<(String, String)>,
}

/// Iterator over the lineage of a collection, made by [`lineage`].
pub type Lineage = Job<LineageJudge>;

/// Decides about the ancestors of documents.
#[derive(Debug)]
pub struct LineageJudge {
    options: LineageOptions,
}

/// A document that may be the ancestor of another document.
#[derive(Debug, Clone, Copy, PartialEq)]
struct AncestorCandidate {
    ancestor: u32,
    document: u32,
    by: DirectionBy,
    /// The similarity, with the ancestor as `a`.
    similarity: Similarity,
}

/// The order of candidates, the best last.
type Key = (u64, u64, i64, Reverse<u32>);

impl AncestorCandidate {
    /// Orders by how much the ancestor explains, then by resemblance. Among equals the latest
    /// ancestor wins if dates tell, and otherwise the first.
    fn by_explained(&self) -> Key {
        // Shares are not negative, so their bits have the order of the numbers.
        let Similarity { resemblance, containment_of_b, .. } = self.similarity;
        let later = match self.by {
            DirectionBy::Date => i64::from(self.ancestor),
            _ => -1 - i64::from(self.ancestor),
        };
        (containment_of_b.to_bits(), resemblance.to_bits(), later, Reverse(self.document))
    }

    /// Orders by resemblance, which does not depend on the direction.
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

struct AncestorCandidates {
    key: fn(&AncestorCandidate) -> Key,
    of_documents: BTreeMap<u32, Vec<AncestorCandidate>>,
}

impl AncestorCandidates {
    fn by(key: fn(&AncestorCandidate) -> Key) -> AncestorCandidates {
        AncestorCandidates { key, of_documents: BTreeMap::new() }
    }

    fn add(&mut self, candidate: AncestorCandidate) {
        let of_document = self.of_documents.entry(candidate.document).or_default();
        // The first of several copies is a candidate for every copy.
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

    fn into_candidates(self) -> impl Iterator<Item = AncestorCandidate> {
        self.of_documents.into_values().flatten()
    }
}

impl Judge for LineageJudge {
    type Item = Descent;
    /// The summary, and the memory of the remaining documents in bytes.
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
        let wanted =
            PairConditions { versions: Some(versions), ..PairConditions::of(&pair_options)? };
        let all = pairs(searcher, &pair_options).threads(threads).stop(stop);
        let (join, _) = all.into_parts()?;
        let mut dated = AncestorCandidates::by(AncestorCandidate::by_explained);
        let mut others = AncestorCandidates::by(AncestorCandidate::by_resemblance);
        for found in join.start(wanted) {
            let DocumentPairs { next, pairs } = found?;
            progress(next);
            for pair in pairs {
                direct.add(&pair, options.min_explained, &mut dated, &mut others, stop)?;
            }
        }
        let dated: Vec<AncestorCandidate> = dated.into_candidates().collect();
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
        let held =
            rows.capacity() * size_of::<TreeRow>() + ancestors.len() * ANCESTOR_BYTES + copies;
        let _ = found.set((summary, held + waiting + documents.bytes()));
        begin(0..rows.len() as u64, &|at| {
            direct.describe(&rows[at as usize], ancestors.get(&rows[at as usize].document))
        });
        Ok(())
    }
}

/// Decides which of two documents is earlier.
struct Directions<'a> {
    searcher: &'a Searcher,
    documents: &'a Chronology,
    /// The first document with the same text, by rank.
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

    /// Tells whether document `one` is earlier than document `other` by their dates.
    fn is_before(&self, one: u32, other: u32) -> bool {
        let times = self.documents.time(one).zip(self.documents.time(other));
        times.is_some_and(|(one, other)| one.is_before(other))
    }

    /// Adds the candidates of a pair: the document with the earlier date, or both documents if
    /// dates do not tell. Without a date, the first document with the same text represents an
    /// ancestor.
    fn add(
        &self,
        pair: &Pair,
        min_explained: f64,
        dated: &mut AncestorCandidates,
        others: &mut AncestorCandidates,
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
            // The direction of these candidates is found when all candidates are known.
            let (kept, by) = match self.is_before(ancestor, document) {
                true => (&mut *dated, DirectionBy::Date),
                false => (&mut *others, DirectionBy::Added),
            };
            let candidate = AncestorCandidate { ancestor, document, by, similarity };
            if self.is_version(&candidate, min_explained, stop)? {
                kept.add(candidate);
            }
        }
        Ok(())
    }

    /// Tells whether the document is a version of the ancestor instead of only quoting it. The
    /// common text must be enough of the document, or spread over the document.
    fn is_version(&self, of: &AncestorCandidate, min_explained: f64, stop: &Stop) -> Result<bool> {
        let Similarity { containment_of_a, containment_of_b: explained, .. } = of.similarity;
        let may_be_quoted = containment_of_a >= WHOLE_MIN && explained < SPREAD_MIN;
        if explained >= min_explained && !may_be_quoted {
            return Ok(true);
        }
        let keys = self.searcher.keys_of(self.documents.address(of.ancestor), stop)?;
        let signature = self.snapshot().signature(self.documents.address(of.document), stop)?;
        let shared = signature.iter().filter(|found| keys.binary_search(&found.key).is_ok());
        let at: Vec<u32> = shared.map(|found| found.position).collect();
        // Ignore a tenth on either side, so that a few words elsewhere, such as a heading, do not
        // count as spread.
        let (Some(from), Some(to)) = (at.get(at.len() / 10), at.iter().rev().nth(at.len() / 10))
        else {
            return Ok(true);
        };
        let reached = f64::from(to.saturating_sub(*from));
        Ok(reached >= SPREAD_MIN * f64::from(self.tokens(of.document)?))
    }

    /// Returns the candidates whose ancestor is the earlier document. Decides candidates without
    /// dates by all versions together, including the candidates in `dated`.
    fn earlier(
        &self,
        candidates: Vec<AncestorCandidate>,
        dated: &[AncestorCandidate],
        stop: &Stop,
    ) -> Result<Vec<AncestorCandidate>> {
        if candidates.is_empty() {
            return Ok(candidates);
        }
        let link = |found: &AncestorCandidate| Link {
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
                earlier.push(AncestorCandidate { by, ..candidate });
            }
        }
        Ok(earlier)
    }

    /// Returns why the ancestor is the earlier document, if it is.
    fn direction(&self, of: &AncestorCandidate, places: &[Place]) -> Result<Option<DirectionBy>> {
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

    fn describe(&self, row: &TreeRow, found: Option<&AncestorCandidate>) -> Result<Descent> {
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
fn ancestors(mut candidates: Vec<AncestorCandidate>) -> BTreeMap<u32, AncestorCandidate> {
    candidates.sort_unstable_by_key(|candidate| Reverse(candidate.by_explained()));
    let mut chosen: BTreeMap<u32, AncestorCandidate> = BTreeMap::new();
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

/// A document and its place in a tree.
#[derive(Debug, Clone, Copy, PartialEq)]
struct TreeRow {
    tree: u64,
    depth: u64,
    document: u32,
}

/// Returns the documents of the trees in the order of the answer: depth first, with the descendants
/// of a version before the next version of the same ancestor.
fn rows(ancestors: &BTreeMap<u32, AncestorCandidate>) -> Vec<TreeRow> {
    let mut versions: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (&document, found) in ancestors {
        versions.entry(found.ancestor).or_default().push(document);
    }
    let first = versions.keys().filter(|document| !ancestors.contains_key(document));
    let mut trees: Vec<Vec<TreeRow>> = Vec::new();
    for &first in first {
        let (mut rows, mut next) = (Vec::new(), vec![(first, 0)]);
        while let Some((document, depth)) = next.pop() {
            rows.push(TreeRow { tree: 0, depth, document });
            let own = versions.get(&document).into_iter().flatten().rev();
            next.extend(own.map(|&version| (version, depth + 1)));
        }
        trees.push(rows);
    }
    trees.sort_by_key(|rows| Reverse(rows.len()));
    let numbered = (1..).zip(trees);
    numbered
        .flat_map(|(tree, rows)| rows.into_iter().map(move |row| TreeRow { tree, ..row }))
        .collect()
}

#[cfg(test)]
mod tests;
