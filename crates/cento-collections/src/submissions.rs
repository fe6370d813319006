//! Compares submissions with each other and with an archive.
//!
//! A class submits forty essays, or a newsroom forty articles. Which submissions are alike, which
//! are in the archive already, and where does the text of each submission come from? The new
//! documents are in an index of their own, which need not be kept. The archive is not changed.

use std::fmt;
use std::sync::Arc;

use cento_api::{BoilerplateShare, Sources};

use super::PairOptions;
use super::known::{WithKnown, with_known};
use super::links::Connect;
use super::most_similar::MostSimilar;
use super::pairs::{Pairs, document_count, pairs};
use super::series::repeated_passages;
use cento::index::Snapshot;
use cento::search::{Boilerplate, QueryMemory, RepeatedPassages, Searcher};
use cento_api::error::Result;
use cento_text::runtime::Stop;

/// Submitted documents and the way to compare them.
///
/// ```
/// use cento_collections::submissions::Submissions;
/// use cento_collections::pairs::PairOptions;
/// use cento::{Config, Document, Index, WriterOptions};
///
/// # fn main() -> cento::Result<()> {
/// let index_of = |documents: &[(&str, &str)]| {
///     let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
///     let mut writer = index.writer(WriterOptions::default())?;
///     for (id, text) in documents {
///         writer.add(Document::new(*id, *text))?;
///     }
///     writer.finish()?;
///     index.snapshot()
/// };
/// let text = "a text of some words that was handed in last year and again this year";
/// let archive = index_of(&[("last year", text)])?;
/// let new = index_of(&[("ann", text), ("bob", "and another text, which was never seen before")])?;
///
/// let submissions = Submissions::new(&new, &PairOptions::default()).against(&archive, "archive")?;
/// let compared = submissions.with_sources(true).compare()?;
/// let pair = &compared.most_similar.pairs[0].pair;
/// assert_eq!((&*pair.a, &*pair.b), ("ann", "last year"));
/// assert_eq!(pair.index_b.as_deref(), Some("archive"));
/// assert_eq!(compared.sources[0].known, compared.sources[0].tokens);
/// # Ok(())
/// # }
/// ```
#[doc(alias = "plagiarism")]
pub struct Submissions {
    new: Snapshot,
    archive: Option<WithKnown>,
    options: PairOptions,
    boilerplate: Option<Boilerplate>,
    counts_sources: bool,
    connect: Connect,
    threads: usize,
    stop: Stop,
    memory: Option<QueryMemory>,
    progress: Option<Arc<dyn Fn(u64) + Send + Sync>>,
}

/// The documents of a class. More documents have little text that three of four of them have, and
/// finding the text takes as long as the comparison.
pub const HANDOUT_DOCUMENTS_MAX: u64 = 1000;

impl fmt::Debug for Submissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Submissions").field("options", &self.options).finish_non_exhaustive()
    }
}

/// The result of comparing submissions. The searcher over all documents, the new documents first.
#[derive(Debug)]
#[non_exhaustive]
pub struct ComparedSubmissions {
    /// The searcher over all documents, the new ones first.
    pub searcher: Searcher,
    /// The most similar pairs with at least one new document.
    pub most_similar: MostSimilar,
    /// Where the text of each new document comes from, the document with most reused text first.
    /// Empty unless requested, or without stored texts.
    pub sources: Vec<Sources>,
}

impl Submissions {
    /// Prepares the comparison of the documents of a snapshot with each other.
    #[must_use]
    pub fn new(documents: &Snapshot, options: &PairOptions) -> Submissions {
        Submissions {
            new: documents.clone(),
            archive: None,
            options: options.clone(),
            boilerplate: None,
            counts_sources: false,
            connect: Connect::Nothing,
            threads: cento::available_threads(),
            stop: Stop::default(),
            memory: None,
            progress: None,
        }
    }

    /// Compares the new documents with an archive too, without the archive's earlier versions of
    /// the new documents. `name` is the name of the archive, unless the archive is a union with
    /// names already.
    ///
    /// # Errors
    /// When the archive signs texts differently, or an id cannot be read.
    pub fn against(self, archive: &Snapshot, name: &str) -> Result<Submissions> {
        let archive = Some(with_known(&self.new, archive, name)?);
        Ok(Submissions { archive, ..self })
    }

    /// Returns the ids of new documents with an earlier version in the archive, which is a document
    /// with the same id from the same place.
    #[must_use]
    pub fn earlier_versions(&self) -> &[String] {
        self.archive.as_ref().map_or(&[], |archive| &archive.earlier)
    }

    /// Returns the ids of new documents that the archive has from another place.
    #[must_use]
    pub fn ids_from_elsewhere(&self) -> &[String] {
        self.archive.as_ref().map_or(&[], |archive| &archive.elsewhere)
    }

    /// Ignores text that does not count, such as the text of an assignment.
    #[must_use]
    pub fn without(self, boilerplate: Option<Boilerplate>) -> Submissions {
        Submissions { boilerplate, ..self }
    }

    /// Finds the passages that at least this share of the new documents have. The documents of a
    /// group count as one.
    ///
    /// # Errors
    /// The errors of [`repeated_passages`].
    pub fn repeated_passages(&self, share: BoilerplateShare) -> Result<RepeatedPassages> {
        repeated_passages(&self.new, &self.options.scope()?, share, self.threads, &self.stop)
    }

    /// Returns the number of new documents.
    #[must_use]
    pub fn documents(&self) -> u64 {
        self.new.documents()
    }

    /// Returns whether the texts of the new documents are stored.
    #[must_use]
    pub fn stores_texts(&self) -> bool {
        self.new.config().store_text
    }

    /// Finds handouts, such as the text of an assignment: the passages that most of the new
    /// documents have. Returns no passages if all passages together are longer than half of an
    /// average document, because versions of one text or form have more text in common than a
    /// handout has. Returns none either for more than [`HANDOUT_DOCUMENTS_MAX`] documents. The
    /// documents of a group count as one.
    ///
    /// # Errors
    /// The errors of [`repeated_passages`].
    pub fn handouts(&self) -> Result<RepeatedPassages> {
        let (stats, none) = (self.new.stats()?, RepeatedPassages::of_groups(Vec::new()));
        if stats.documents > HANDOUT_DOCUMENTS_MAX {
            return Ok(none);
        }
        let found = self.repeated_passages(BoilerplateShare::default())?;
        let tokens: u64 = found.passages.iter().map(|passage| u64::from(passage.tokens)).sum();
        Ok(if tokens * stats.documents * 2 <= stats.tokens { found } else { none })
    }

    /// Ignores these passages of the new documents too.
    ///
    /// # Errors
    /// When a text cannot be read.
    pub fn without_repeated(mut self, repeated: &RepeatedPassages) -> Result<Submissions> {
        self.boilerplate = repeated.added_to(self.boilerplate.take(), &self.new, &self.stop)?;
        Ok(self)
    }

    /// Counts where the text of each new document comes from ([`Pairs::sources`]).
    #[must_use]
    pub fn with_sources(self, counts_sources: bool) -> Submissions {
        Submissions { counts_sources, ..self }
    }

    /// Also finds out which documents the pairs connect ([`Pairs::connecting`]).
    #[must_use]
    pub fn connecting(self, connect: Connect) -> Submissions {
        Submissions { connect, ..self }
    }

    /// Searches with this number of threads. The default is the number of processors.
    #[must_use]
    pub fn threads(self, threads: usize) -> Submissions {
        Submissions { threads, ..self }
    }

    /// Stops soon after `stop` is set, with [`Error::Cancelled`](cento::Error::Cancelled).
    #[must_use]
    pub fn stop(self, stop: &Stop) -> Submissions {
        Submissions { stop: stop.clone(), ..self }
    }

    /// Takes the memory for the texts of the archive from this budget ([`Pairs::memory`]).
    #[must_use]
    pub fn memory(self, memory: Option<QueryMemory>) -> Submissions {
        Submissions { memory, ..self }
    }

    /// Calls `progress` with the number of finished searches: one per new document, or two with
    /// [sources](Self::with_sources).
    #[must_use]
    pub fn progress(self, progress: impl Fn(u64) + Send + Sync + 'static) -> Submissions {
        Submissions { progress: Some(Arc::new(progress)), ..self }
    }

    /// Runs the comparison.
    ///
    /// # Errors
    /// The errors of [`Pairs::most_similar`] and [`Pairs::sources`].
    pub fn compare(self) -> Result<ComparedSubmissions> {
        let Submissions { new, archive, options, boilerplate, threads, stop, memory, .. } = self;
        let progress = self.progress.unwrap_or_else(|| Arc::new(|_| {}));
        let all = archive.map_or_else(|| new.clone(), |archive| archive.snapshot);
        let mut searcher = Searcher::new(all);
        if let Some(boilerplate) = boilerplate.filter(|boilerplate| !boilerplate.is_empty()) {
            searcher = searcher.excluding(boilerplate, &stop)?;
        }
        let number_of_new = document_count(&Searcher::new(new.clone()));
        let join = || -> Pairs {
            let join = pairs(&searcher, &options).threads(threads).stop(&stop);
            join.documents(0..number_of_new).memory(memory.clone())
        };
        let of_pairs = Arc::clone(&progress);
        let found = join().connecting(self.connect).progress(move |done| of_pairs(done));
        let most_similar = found.most_similar()?;
        let mut sources = match self.counts_sources {
            true => join()
                .progress(move |done| progress(number_of_new + done))
                .sources(&new, &most_similar.pairs)?,
            false => Vec::new(),
        };
        let reused =
            |one: &Sources| f64::from(one.known + one.shared) / f64::from(one.tokens.max(1));
        sources.sort_by(|a, b| reused(b).total_cmp(&reused(a)));
        Ok(ComparedSubmissions { searcher, most_similar, sources })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use cento::index::{Config, Document, Index, WriterOptions};

    #[test]
    fn the_progress_counts_the_searches_for_pairs_and_then_those_for_sources() {
        let index = Index::in_memory(Config::new("kgram(k=2)", "words", true).unwrap()).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        for id in ["a", "b", "c"] {
            writer.add(Document::new(id, format!("the same words for all but {id}"))).unwrap();
        }
        writer.finish().unwrap();
        let new = index.snapshot().unwrap();
        let done = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&done);
        let submissions = Submissions::new(&new, &PairOptions::default()).with_sources(true);
        submissions.progress(move |number| noted.lock().unwrap().push(number)).compare().unwrap();
        assert_eq!(*done.lock().unwrap(), [1, 2, 3, 4, 5, 6]);
    }
}
