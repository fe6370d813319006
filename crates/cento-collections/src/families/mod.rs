//! Families of passages: every reused passage once, with the documents that carry the passage.
//!
//! `partners` chooses the pairs of documents to compare. Shared passages become places in
//! documents, and `twice` finds further places of a passage that a document repeats. `grow` groups
//! the places into families. The carriers of a family are ordered by date, and `version` compares a
//! carrier with its predecessors.
//!
//! Nothing is stored, because families follow from the documents in the index. A question about one
//! document, or about documents added since an earlier answer, compares only the carriers of their
//! fingerprints, and the answer has the families with a place in one of these documents.

mod describe;
mod end_words;
mod ends;
mod grow;
mod held;
mod link;
mod partners;
mod places;
mod repeated;
mod request;
mod settle;
mod twice;
mod version;

use super::chronology::{Chronology, NoDate};
use super::job::{Job, Judge, Resources};
use super::pair::check_texts;
use cento::search::Searcher;
use cento_api::error::Result;
use cento_text::runtime::ordered::Begin;
use describe::{Describing, document_count};
use link::{PassageLinks, Place, links};
use request::{Request, Tuning};
use settle::Settling;
use std::cmp::Reverse;
use std::sync::OnceLock;

pub use cento_api::{Carrier, Change, DateRelation, DirectionBy, Family, FamilyOptions};

/// The default of [`Families::memory_bytes`].
const MEMORY_BYTES: usize = 1 << 30;

/// Finds the families of passages of an index. Families of more documents come first, then longer
/// passages, then the order of their first carriers.
///
/// The work begins at the first call of [`next`](Iterator::next), and the threads end when the
/// iterator is dropped.
///
/// ```
/// use cento_collections::families::{FamilyOptions, families};
/// use cento::{Config, Document, Index, Searcher, WriterOptions};
/// # let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
/// # let mut writer = index.writer(WriterOptions::default())?;
/// # let meta = |date: &str| [("date".to_owned(), date.into())].into_iter().collect();
/// # let text = "a text of a few words that two documents have, one of them with a change";
/// # writer.add(Document::new("late", text).with_meta(meta("1901")))?;
/// # writer.add(Document::new("early", text).with_meta(meta("1900")))?;
/// # writer.finish()?;
///
/// let searcher = Searcher::new(index.snapshot()?);
/// let options = FamilyOptions::default().date("date").min_passage(12u32);
/// for family in families(&searcher, &options) {
///     let family = family?;
///     assert_eq!((family.carriers[0].id.as_str(), family.first_is_certain), ("early", true));
/// }
/// # Ok::<(), cento::Error>(())
/// ```
///
/// # Errors
/// The iterator gives an error, and ends, when an option is out of bounds, the index stores no
/// texts, no document has a date in the field, the passages take too much memory, or a file is
/// damaged, and with [`Error::Cancelled`](cento::Error::Cancelled) after it was stopped.
#[doc(alias = "text reuse")]
pub fn families(searcher: &Searcher, options: &FamilyOptions) -> Families {
    let options = options.clone();
    let judge = FamilyJudge { options, memory_bytes: MEMORY_BYTES, tuning: Tuning::default() };
    Job::new(searcher, judge)
}

/// Facts about a search for families.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FamilySummary {
    /// The number of families, including families beyond the limit.
    pub families: u64,
    /// The number of compared pairs of documents.
    pub pairs: u64,
    /// The number of pairs whose search for passages was cut short, so that carriers may be
    /// missing.
    pub cut_pairs: u64,
    /// The number of documents without a date, which come last. 0 unless dates decide.
    pub undated: u64,
    /// The id and the value of the first document whose value is no date.
    pub no_date: Option<(String, String)>,
    /// Pass this to `since` to find the families of documents that are added later.
    pub cursor: u64,
}

/// Iterator over the families of a collection, made by [`families`].
pub type Families = Job<FamilyJudge>;

/// Decides which passages form a family.
#[derive(Debug)]
pub struct FamilyJudge {
    options: FamilyOptions,
    memory_bytes: usize,
    tuning: Tuning,
}

impl Families {
    /// Sets the memory for passages, in bytes. The default is 1 GiB.
    pub fn memory_bytes(self, bytes: usize) -> Families {
        self.with_judge(|judge| judge.memory_bytes = bytes)
    }

    /// Sets the sizes that decide which pairs are compared.
    #[cfg(test)]
    fn tuning(self, tuning: Tuning) -> Families {
        self.with_judge(|judge| judge.tuning = tuning)
    }
}

/// A family as its places, by the ranks of their documents.
type Settled = Vec<(u32, Place)>;

impl Judge for FamilyJudge {
    type Item = Family;
    /// The summary, and the memory of the remaining families in bytes.
    type Facts = (FamilySummary, usize);

    fn run(
        self,
        Resources { searcher, threads, stop, progress }: Resources<'_>,
        found: &OnceLock<(FamilySummary, usize)>,
        begin: Begin<'_, Family>,
    ) -> Result<()> {
        let FamilyJudge { options, memory_bytes, tuning } = self;
        options.check()?;
        let snapshot = searcher.snapshot();
        let documents = Chronology::new(snapshot, options.date.as_deref(), stop)?;
        let request = Request { searcher, options: &options, threads, memory_bytes, tuning, stop };
        let searched_for = request.searched_for(&documents)?;
        check_texts(snapshot, snapshot)?;
        let PassageLinks { links, pairs, cut_pairs, mut cut } = {
            let pairs = partners::pairs(&request, &documents, searched_for.as_deref())?;
            let mut links = links(&request, &documents, &pairs, progress)?;
            twice::divide(&mut links, &request, &documents)?;
            links
        };
        let mut texts = Settling::new(snapshot, &documents, options.min_passage, stop);
        let grown = grow::grow(&links, documents.len(), &mut texts, stop)?;
        cut.extend(texts.cut());
        drop(links);
        let places = |claims: Vec<grow::Claim>| {
            let mut places: Settled =
                claims.iter().map(|claim| (claim.document, claim.place)).collect();
            places.sort_unstable();
            places
        };
        let mut settled: Vec<Settled> = grown.into_iter().map(places).collect();
        let is_wanted = |places: &Settled| {
            let has =
                |wanted: &[u32]| places.iter().any(|(rank, _)| wanted.binary_search(rank).is_ok());
            document_count(places) >= options.min_documents
                && searched_for.as_deref().is_none_or(has)
        };
        settled.retain(is_wanted);
        settled.sort_by_key(|places| {
            let length = places.first().map(|&(_, place)| places::length(place));
            (Reverse(document_count(places)), Reverse(length), places.first().copied())
        });
        repeated::remove(&mut settled, stop)?;
        let Chronology { undated, ref no_date, cursor, .. } = documents;
        let summary = FamilySummary {
            families: settled.len() as u64,
            pairs,
            cut_pairs,
            undated,
            no_date: no_date.clone().map(|NoDate { id, value }| (id, value)),
            cursor,
        };
        settled.truncate(options.limit.unwrap_or(usize::MAX));
        settled.shrink_to_fit();
        let held = held::bytes(&settled, &cut, threads).saturating_add(documents.bytes());
        let _ = found.set((summary, held));
        let requested = options.document.as_ref().and(searched_for.as_deref());
        let describing = Describing {
            snapshot,
            documents: &documents,
            requested: requested.and_then(|ranks| ranks.first().copied()),
            cut_short: &cut,
            stop,
        };
        begin(0..settled.len() as u64, &|at| {
            let family = describing.family(&settled[at as usize])?;
            Ok(Family { family: at + 1, ..family })
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests;
