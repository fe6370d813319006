//! Pairs of documents that share enough text.
//!
//! Every document is searched for in the index (Seo and Croft 2008, section 4: n searches of m
//! posting lists of at most l documents). The search requires the minimum overlap that the
//! document's own size and the thresholds imply, so prefix filtering leaves most lists unread. If
//! both documents find the pair, only the document stored first reports it, so the join remembers
//! no pairs.
//!
//! Fingerprints bring up candidates, with a margin for chance, and then the texts decide. Without
//! texts, a pair needs an estimate that is evidence
//! ([`Similarity::resembles`](cento::Similarity::resembles)).
//!
//! A join of two indexes searches from the first index only and checks the requirements of the
//! second index afterwards.
//!
//! Exact copies that have only stop-fingerprints are paired with the first copy only (`copies`).

use std::sync::Arc;

use std::ops::Range;
use std::vec;

use super::by_document::Join;
use super::defaults::{EffectiveOptions, PairList};
use super::links::{Connect, Links};
use super::numbering::Numbering;
use super::pair_search::PairConditions;
use super::ranked;
use cento::index::PresetDefaults;
use cento::search::{QueryMemory, Searcher};
use cento_api::error::{Error, Result};
use cento_text::runtime::Stop;

pub use super::by_document::{DocumentPairs, JoinSummary, PairsByDocument};
pub use super::pair::{PROGRAM_TOKENS_MIN, Pair};
pub use super::score::has_scores;
pub use super::{PairOptions, PairRank, PairReport};

/// Finds all pairs of documents of `searcher`. The iterator begins at the first call of
/// [`next`](Iterator::next) and ends its threads when it is dropped.
///
/// Documents with equal texts that have only stop-fingerprints are each paired with the first such
/// document only, because 20,000 copies would make 200 million pairs.
///
/// Pairs come in the order of their documents in the index, or best first if there is a rank. The
/// number of threads does not change the order.
///
/// ```
/// use cento_collections::pairs::{PairOptions, pairs};
/// use cento::{Config, Document, Index, Searcher, WriterOptions};
/// # let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
/// # let mut writer = index.writer(WriterOptions::default())?;
/// # writer.add(Document::new("a", "a text of a few words that two documents have"))?;
/// # writer.add(Document::new("b", "a text of a few words that two documents have"))?;
/// # writer.finish()?;
///
/// let searcher = Searcher::new(index.snapshot()?);
/// for pair in pairs(&searcher, &PairOptions::default().min_similarity(0.5)) {
///     let pair = pair?.report(searcher.snapshot(), searcher.snapshot())?;
///     assert_eq!((&*pair.a, &*pair.b), ("a", "b"));
/// }
/// # Ok::<(), cento::Error>(())
/// ```
///
/// # Errors
/// The iterator gives an error, and ends, when the options contradict each other, the indexes sign
/// texts differently, no document has the field of the scope, or a file is damaged, and with
/// [`Error::Cancelled`] after it was stopped.
#[doc(alias = "all-pairs")]
#[doc(alias = "plagiarism")]
pub fn pairs(searcher: &Searcher, options: &PairOptions) -> Pairs {
    Pairs {
        join: Join {
            searcher: searcher.clone(),
            against: None,
            options: options.clone(),
            threads: cento::available_threads(),
            stop: Stop::default(),
            documents: 0..u64::MAX,
            memory: None,
            chance: Arc::default(),
            connect: Connect::Nothing,
        },
        progress: None,
        given: PairSource::Nothing,
        total: 0,
        summary: JoinSummary::default(),
        links: Links::default(),
    }
}

/// Gets the number of documents searched for so far.
type Progress = Box<dyn FnMut(u64) + Send>;

/// Iterator over the pairs of a collection, made by [`pairs`].
#[must_use = "an iterator finds nothing before the first call of `next`"]
pub struct Pairs {
    join: Join,
    progress: Option<Progress>,
    given: PairSource,
    total: u64,
    summary: JoinSummary,
    links: Links,
}

enum PairSource {
    /// Before the first call of `next`.
    Nothing,
    /// The remaining pairs of the current document, then the documents to come.
    ByDocument(vec::IntoIter<Pair>, PairsByDocument),
    /// The remaining pairs, best first. After an error this list is empty, which ends the
    /// iteration.
    Ranked(vec::IntoIter<Pair>),
}

impl std::fmt::Debug for Pairs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pairs").field("join", &self.join).finish_non_exhaustive()
    }
}

impl Pairs {
    /// Pairs each document of the first index with documents of `other`, instead of its own index.
    /// Copies that have only stop-fingerprints are paired with the first copy in `other`.
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
    /// use cento_collections::{PairOptions, pairs::pairs};
    ///
    /// // Pairs of a document of this index with a document of last year's index.
    /// let last_year = searcher.clone();
    /// let found = pairs(&searcher, &PairOptions::default()).against(&last_year);
    /// assert!(found.count() >= 3);
    /// # Ok::<(), cento::Error>(())
    /// ```
    pub fn against(mut self, other: &Searcher) -> Pairs {
        self.join.against = Some(other.clone());
        self
    }

    /// Searches with this number of threads. The default is the number of processors.
    pub fn threads(mut self, threads: usize) -> Pairs {
        self.join.threads = threads;
        self
    }

    /// Stops soon after `stop` is set, with [`Error::Cancelled`].
    pub fn stop(mut self, stop: &Stop) -> Pairs {
        self.join.stop = stop.clone();
        self
    }

    /// Restricts the search to the documents with these numbers, below [`document_count`].
    /// Searching several ranges in turn gives the same pairs as one search.
    pub fn documents(mut self, numbers: Range<u64>) -> Pairs {
        self.join.documents = numbers;
        self
    }

    /// Takes the memory for the texts of documents beyond the range of
    /// [`documents`](Self::documents) from this budget when the texts are read. A service knows the
    /// size of the documents in the range beforehand, but not of the archive after the range. The
    /// iterator gives [`Error::Memory`] when the budget is used up.
    pub fn memory(mut self, memory: Option<QueryMemory>) -> Pairs {
        self.join.memory = memory;
        self
    }

    /// Also finds out which documents the pairs connect, including the pairs beyond the limit
    /// ([`links`](Self::links)). Pairs without a rank are all given, so this has no effect there.
    pub fn connecting(mut self, connect: Connect) -> Pairs {
        self.join.connect = connect;
        self
    }

    /// Calls `progress` with the number of documents searched for so far, during calls of
    /// [`next`](Iterator::next). Ranked pairs come only after the whole search, so without the
    /// callback a ranked search would show no progress.
    pub fn progress(mut self, progress: impl FnMut(u64) + Send + 'static) -> Pairs {
        self.progress = Some(Box::new(progress));
        self
    }

    /// Returns the effective options: explicit options, completed with the defaults of the preset
    /// that all documents have in common.
    #[must_use]
    pub fn options(&self) -> PairOptions {
        self.effective().options
    }

    /// Returns the defaults of the preset that took effect, because no explicit option overrides
    /// them.
    #[must_use]
    pub fn defaults(&self) -> Option<PresetDefaults> {
        self.effective().defaults
    }

    fn effective(&self) -> EffectiveOptions<PairOptions> {
        let Join { searcher, options, .. } = &self.join;
        EffectiveOptions::of_pairs(options, PairList::OfCollection, searcher, self.join.other())
    }

    /// Returns an iterator over the documents, each with its pairs.
    ///
    /// The iterator gives the errors of [`pairs`], and an error if the options have a rank or a
    /// limit, because pairs by document are in stored order.
    pub fn by_document(mut self) -> PairsByDocument {
        self.join.options = self.options();
        let options = &self.join.options;
        let ranked = options.rank.map(|_| "rank").or(options.limit.map(|_| "limit"));
        let refused = |name| {
            let what = format!("pairs in the order of their documents cannot have a `{name}`");
            Error::argument(name, what)
        };
        let wanted = ranked.map(refused).map_or_else(|| PairConditions::of(options), Err);
        match wanted.and_then(|wanted| self.join.leave_out_parts().map(|()| wanted)) {
            Ok(wanted) => self.join.start(wanted),
            Err(error) => PairsByDocument::refused(error),
        }
    }

    /// Returns the number of pairs that meet the thresholds. Without a rank this counts the pairs
    /// given so far, with a rank all pairs.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns facts about the collection, complete once the iteration has ended.
    #[must_use]
    pub fn summary(&self) -> JoinSummary {
        self.summary
    }

    /// Returns the links of all pairs, if they are [wanted](Self::connecting) and ranked, once the
    /// first pair was asked for.
    #[must_use]
    pub fn links(&self) -> &Links {
        &self.links
    }

    pub(super) fn into_parts(mut self) -> Result<(Join, Progress)> {
        self.join.leave_out_parts()?;
        Ok((self.join, self.progress.unwrap_or_else(|| Box::new(|_| {}))))
    }

    fn begin(&mut self) -> Result<()> {
        self.join.options = self.options();
        self.join.leave_out_parts()?;
        let options = &self.join.options;
        self.given = match options.rank {
            None => {
                let found = self.join.start(PairConditions::of(options)?);
                PairSource::ByDocument(Vec::new().into_iter(), found)
            }
            Some(rank) => {
                let mut ignored = |_| {};
                let progress: &mut dyn FnMut(u64) = match &mut self.progress {
                    Some(progress) => progress,
                    None => &mut ignored,
                };
                let best = ranked::best_pairs(&self.join, rank, progress)?;
                (self.total, self.summary, self.links) = (best.total, best.summary, best.links);
                PairSource::Ranked(best.pairs.into_iter())
            }
        };
        Ok(())
    }

    fn step(&mut self) -> Result<Option<Pair>> {
        loop {
            match &mut self.given {
                PairSource::Nothing => self.begin()?,
                PairSource::Ranked(pairs) => return Ok(pairs.next()),
                PairSource::ByDocument(current, documents) => {
                    if let Some(pair) = current.next() {
                        self.total += 1;
                        return Ok(Some(pair));
                    }
                    let Some(found) = documents.next() else {
                        self.summary = documents.summary();
                        return Ok(None);
                    };
                    let DocumentPairs { next, pairs } = found?;
                    if let Some(progress) = &mut self.progress {
                        progress(next);
                    }
                    *current = pairs.into_iter();
                }
            }
        }
    }
}

impl Iterator for Pairs {
    type Item = Result<Pair>;

    fn next(&mut self) -> Option<Result<Pair>> {
        let pair = self.step().transpose();
        if matches!(pair, Some(Err(_))) {
            self.given = PairSource::Ranked(Vec::new().into_iter());
        }
        pair
    }
}

/// Returns the number of documents that [`pairs`] searches for, including deleted documents.
#[must_use]
pub fn document_count(searcher: &Searcher) -> u64 {
    Numbering::new(searcher.snapshot()).end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pair_search::{PairSearch, PairTexts};
    use cento::Thresholds;
    use cento::index::{Config, Document, Index, WriterOptions};
    use cento_text::runtime::ordered::in_order;
    use std::sync::{Arc, Mutex};

    /// An index of documents in groups of three with almost equal texts.
    fn searcher() -> Searcher {
        let index = Index::in_memory(Config::new("kgram(k=2)", "words", true).unwrap()).unwrap();
        let options = WriterOptions::default().memory_bytes(0usize).merge(false);
        let mut writer = index.writer(options).unwrap();
        for number in 0..60u32 {
            let text: String = (0..20).map(|word| format!("w{}x{word} ", number / 3)).collect();
            writer.add(Document::new(number.to_string(), text + &number.to_string())).unwrap();
            if number == 30 {
                writer.commit().unwrap();
            }
        }
        writer.finish().unwrap();
        Searcher::new(index.snapshot().unwrap())
    }

    fn collected(pairs: Pairs) -> Vec<Pair> {
        pairs.collect::<Result<_>>().unwrap()
    }

    #[test]
    fn the_iterator_gives_the_pairs_that_a_callback_gets() {
        let searcher = searcher();
        let options = PairOptions::default().thresholds(Thresholds::default().min_overlap(1));
        let (mut expected, wanted) = (Vec::new(), PairConditions::of(&options).unwrap());
        let texts = PairTexts::new(&searcher, None, &wanted, None, None);
        let search = PairSearch::new(&searcher, &texts, &wanted, 1, Stop::NEVER).unwrap();
        let work = |number| search.contenders(number);
        in_order(2, 0..search.end(), Stop::NEVER, &work, &mut |_, found| {
            expected.extend(found.pairs);
            Ok(())
        })
        .unwrap();
        assert_eq!(expected.len(), 60);
        for threads in [1, 3] {
            let all = || pairs(&searcher, &options).threads(threads);
            assert_eq!(collected(all()), expected);
            let mut parts = Vec::new();
            for numbers in [0..7, 7..7, 7..41, 41..1000] {
                parts.extend(collected(all().documents(numbers)));
            }
            assert_eq!(parts, expected);
            let (mut next, mut found) = (0, Vec::new());
            for document in all().by_document() {
                let document = document.unwrap();
                next += 1;
                assert_eq!(document.next, next);
                found.extend(document.pairs);
            }
            assert_eq!((next, found), (document_count(&searcher), expected.clone()));
        }
    }

    #[test]
    fn the_iterator_can_be_dropped_and_stopped_and_ends_after_an_error() {
        let (searcher, options) = (searcher(), PairOptions::default());
        for taken in [0, 1, 5] {
            let mut some = pairs(&searcher, &options).threads(2);
            assert_eq!(some.by_ref().take(taken).count(), taken);
            assert_eq!(some.total(), taken as u64);
        }
        let stop = Stop::new();
        let mut stopped = pairs(&searcher, &options).stop(&stop);
        assert!(matches!(stopped.next(), Some(Ok(_))));
        stop.set();
        let last = stopped.by_ref().find(Result::is_err);
        assert!(matches!(last, Some(Err(Error::Cancelled))));
        assert!(stopped.next().is_none());
        let mut refused = pairs(&searcher, &options.clone().within("a").group_by("b"));
        assert!(matches!(refused.next(), Some(Err(Error::InvalidArgument { .. }))));
        assert!(refused.next().is_none());
        let ranked = pairs(&searcher, &options.limit(3usize));
        assert!(matches!(ranked.by_document().next(), Some(Err(Error::InvalidArgument { .. }))));
    }

    #[test]
    fn ranked_pairs_show_progress_before_the_first_is_given() {
        let searcher = searcher();
        let last = Arc::new(Mutex::new(0));
        let noted = last.clone();
        let options = PairOptions::default().rank(PairRank::Similarity).limit(2usize);
        let mut best =
            pairs(&searcher, &options).progress(move |done| *noted.lock().unwrap() = done);
        assert!(matches!(best.next(), Some(Ok(_))));
        assert_eq!(*last.lock().unwrap(), document_count(&searcher));
        assert_eq!((best.by_ref().count(), best.total()), (1, 60));
    }
}
