//! Queries: the subject of a search, its thresholds and its options.

use std::borrow::Cow;
use std::sync::Arc;

use cento_api::part::parts_problem;
use cento_api::{CitedPart, Part};
use derive_setters::Setters;

use super::memory::QueryMemory;
use super::{Goal, MaxDf, Rank, SearchOptions, Thresholds};
use crate::compare::measure::Measure;
use crate::error::{Error, Result};
use crate::index::{Document, Preset, PresetDefaults, PresetRank, PresetUse};
use crate::runtime::Stop;
use crate::scheme::Fingerprint;
use crate::scheme::frequency::FrequencyTable;
use crate::text::Analyzer;

/// A search: its subject, and the conditions for hits.
///
/// The subject is a text, a signature, or the id of a stored document. The fields of [`Thresholds`]
/// and [`SearchOptions`] are also methods of a query. A query is checked when it is used:
/// [`Searcher::search`](super::Searcher::search) refuses values that contradict each other.
///
/// ```
/// use cento::{Query, Rank};
///
/// let query = Query::text("the text to look for").min_containment(0.3).limit(5);
/// assert_eq!(query.thresholds.min_containment, Some(0.3));
/// let rewritten = Query::id("essay.txt").rank(Rank::Weight).passages(true);
/// assert_eq!(rewritten.options.passages, true);
/// ```
#[doc(alias = "plagiarism")]
#[doc(alias = "near-duplicate")]
#[derive(Debug, Clone, Setters)]
#[non_exhaustive]
#[setters(into)]
pub struct Query {
    /// The text or document to search for.
    #[setters(skip)]
    pub subject: Subject,
    /// The parts of the text to search for. Passages state their part. Only for a text
    /// or a signature: a stored document has its own parts, and the parts of a signature must have
    /// their first tokens.
    #[setters(skip)]
    pub parts: Vec<Part>,
    /// The thresholds that hits must meet.
    #[setters(skip)]
    pub thresholds: Thresholds,
    /// The other options of the search.
    #[setters(skip)]
    pub options: SearchOptions,
    /// Set this to end the search early, when its answer is no longer needed.
    #[setters(skip)]
    pub stop: Stop,
    /// The bytes for the passages of the answer. When the limit is reached, the last hits lose
    /// their passages: [`Hit::passages`](super::Hit::passages) is then `None`, and the passages are
    /// marked as incomplete.
    pub passage_bytes_max: Option<usize>,
    /// The budget for the memory of compared texts. Only large amounts are reserved.
    pub memory: Option<QueryMemory>,
    /// The table of word frequencies for measures that use a collection, for `verify`.
    pub frequencies: Option<Arc<FrequencyTable>>,
    /// The most steps of `verify`, or `None` for no limit. See [`Measure::within`].
    pub measure_steps_max: Option<u64>,
}

/// Makes the fields of the options methods of [`Query`].
macro_rules! option_methods {
    ($($field:ident: $($name:ident: $type:ty),+;)+) => {
        impl Query {
            $($(
                #[doc = concat!("Sets `", stringify!($field), ".", stringify!($name), "`.")]
                #[must_use]
                pub fn $name(mut self, $name: impl Into<$type>) -> Query {
                    self.$field.$name = $name.into();
                    self
                }
            )+)+

            /// The names of these methods, for a test of completeness.
            #[cfg(test)]
            const OPTION_METHODS: &[(&'static str, &'static str)] =
                &[$($((stringify!($field), stringify!($name)),)+)+];
        }
    };
}

option_methods! {
    thresholds:
        min_containment: Option<f64>,
        min_resemblance: Option<f64>,
        min_overlap: Option<u32>,
        min_weighted_containment: Option<f64>,
        min_weighted_resemblance: Option<f64>;
    options:
        goal: Goal,
        rank: Option<Rank>,
        candidates: Option<usize>,
        limit: Option<usize>,
        exclude_id: Vec<String>,
        max_df: Option<MaxDf>,
        budget: Option<u64>,
        counts_only: bool,
        passages: bool,
        min_passage: Option<u32>,
        max_expected: Option<f64>,
        carriers: Option<usize>,
        without: Vec<CitedPart>,
        min_similarity: Option<f64>;
}

/// The subject of a search.
///
/// ```
/// # use cento::{Config, Document, Index, WriterOptions};
/// # let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
/// # let mut writer = index.writer(WriterOptions::default())?;
/// # let poem = "A lighthouse was a fire behind a window and half of the light went up";
/// # writer.add(Document::new("poem", poem))?;
/// # writer.add(Document::new("copy", format!("{poem} the chimney")))?;
/// # writer.commit()?;
/// use cento::{Query, Searcher, Subject};
///
/// // Send only a signature, so that the searcher never sees the text.
/// let (tokens, fingerprints) = index.config().sign(poem)?;
/// let query = Query::new(Subject::Signature { tokens, fingerprints });
/// assert_eq!(Searcher::new(index.snapshot()?).search(&query)?.hits.len(), 2);
/// # Ok::<(), cento::Error>(())
/// ```
#[derive(Debug, Clone)]
pub enum Subject {
    /// A text, to be analyzed and signed like the documents of the index.
    Text(String),
    /// A signature that was made elsewhere with the scheme and analyzer of the index.
    Signature {
        /// The number of tokens of the document.
        tokens: u32,
        /// The fingerprints, ordered by position.
        fingerprints: Vec<Fingerprint>,
    },
    /// The id of a stored document. The document itself is not a hit.
    Id(String),
}

impl Query {
    /// The default number of hits, with or without passages.
    pub const HITS: usize = 10;

    /// The default number of consecutive documents without a passage that stops a search for
    /// passages.
    ///
    /// On the training documents of PAN 2013, reports by weight then show a share of reused text
    /// that is 0.003 smaller, on average, than the share with the 1,000 best documents, after
    /// examining 46 documents.
    pub const PATIENCE: usize = 30;

    /// The default maximum number of documents that are searched for passages.
    pub const CANDIDATES: usize = 1000;

    /// The default maximum number of documents that are compared with a span of a trace.
    pub const CARRIERS: usize = 100;

    /// Reserves memory for a part of the answer, such as "excerpts", if memory is limited.
    ///
    /// # Errors
    /// The errors of [`QueryMemory::keep`].
    pub(super) fn keep(&self, bytes: usize, what: &str) -> Result<()> {
        match &self.memory {
            Some(memory) => memory.keep(0, bytes, what),
            None => Ok(()),
        }
    }

    /// Returns whether the similarity of texts decides which documents are hits.
    pub(super) fn is_of_texts(&self) -> bool {
        self.thresholds.is_of_texts()
    }

    /// Returns whether all runs of the text are looked up, and not only those that a document with
    /// the text keeps: to trace an edited text. Thresholds compare what documents keep.
    pub(super) fn looks_up_all_runs(&self) -> bool {
        let has_thresholds = self.is_of_texts() || self.thresholds.is_weighed();
        self.options.goal == Goal::Trace && !has_thresholds
    }

    /// Returns whether documents that meet the thresholds must also pass a check of their texts.
    pub(super) fn checks_texts(&self) -> bool {
        self.options.verify.is_some() || self.options.min_passage.is_some()
    }

    /// Returns whether estimates are shown.
    pub(super) fn shows_estimates(&self) -> bool {
        !self.options.counts_only || self.is_of_texts()
    }

    /// Returns whether passages are shown.
    pub(super) fn shows_passages(&self) -> bool {
        self.options.passages || self.options.min_passage.is_some()
    }

    /// Returns the ranking of the hits.
    pub(super) fn ranked_by(&self) -> Rank {
        self.options.rank.unwrap_or_default()
    }

    /// Returns the query with the defaults of this preset for missing options, and the used
    /// defaults.
    pub(super) fn with_defaults(
        &self,
        preset: Option<Preset>,
    ) -> (Cow<'_, Query>, Option<PresetDefaults>) {
        let mut used = PresetUse::of(preset);
        let rank = rank_by(&self.options, &mut used);
        match used.defaults() {
            None => (Cow::Borrowed(self), None),
            defaults => {
                let mut query = self.clone();
                query.options.rank = Some(rank);
                (Cow::Owned(query), defaults)
            }
        }
    }

    /// Returns whether fingerprints are weighed.
    pub(super) fn is_weighed(&self) -> bool {
        // Rare fingerprints are the best evidence of where a passage comes from.
        let is_by_weight = self.ranked_by() != Rank::Overlap || self.options.goal == Goal::Trace;
        is_by_weight || self.thresholds.is_weighed()
    }

    /// Returns whether hits show measures by weight.
    pub(super) fn shows_weights(&self) -> bool {
        match self.options.goal {
            // Weights decide only the order of comparing.
            Goal::Trace => self.thresholds.is_weighed(),
            Goal::Hits | Goal::Passage => self.is_weighed(),
        }
    }

    /// Returns the minimum share of the query's weight in a document that meets the thresholds.
    pub(super) fn least_weighted(&self) -> f64 {
        // Weighted resemblance never exceeds weighted containment.
        self.thresholds.weighted_containment().max(self.thresholds.weighted_resemblance())
    }

    /// Dates the documents of a trace by this field of their meta objects.
    #[must_use]
    pub fn date(mut self, field: impl Into<String>) -> Query {
        self.options.date = Some(field.into());
        self
    }

    /// Restricts hits to documents that match this query on meta object, id or time of addition.
    ///
    /// ```
    /// # use cento::{Config, Document, Index, WriterOptions};
    /// # let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
    /// # let mut writer = index.writer(WriterOptions::default())?;
    /// # let poem = "A lighthouse was a fire behind a window and half of the light went up";
    /// # writer.add(Document::new("poem", poem))?;
    /// # writer.add(Document::new("copy", format!("{poem} the chimney")))?;
    /// # writer.commit()?;
    /// use cento::{Query, Searcher};
    ///
    /// let query = Query::text(poem).filter("id:c*");
    /// let hits = Searcher::new(index.snapshot()?).search(&query)?.hits;
    /// assert_eq!(hits.iter().map(|hit| hit.id.as_str()).collect::<Vec<_>>(), ["copy"]);
    /// # Ok::<(), cento::Error>(())
    /// ```
    #[must_use]
    pub fn filter(mut self, filter: impl Into<String>) -> Query {
        self.options.filter = Some(filter.into());
        self
    }

    /// Also measures each hit on whole texts, with the measure of this specification.
    ///
    /// ```
    /// # use cento::{Config, Document, Index, WriterOptions};
    /// # let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
    /// # let mut writer = index.writer(WriterOptions::default())?;
    /// # let poem = "A lighthouse was a fire behind a window and half of the light went up";
    /// # writer.add(Document::new("poem", poem))?;
    /// # writer.add(Document::new("copy", format!("{poem} the chimney")))?;
    /// # writer.commit()?;
    /// use cento::{Query, Searcher};
    ///
    /// // `verify` measures every hit on the full texts.
    /// let query = Query::text(poem).verify("containment(k=5)");
    /// let hits = Searcher::new(index.snapshot()?).search(&query)?.hits;
    /// assert_eq!(hits[0].verified.as_ref().unwrap().similarity, 1.0);
    /// # Ok::<(), cento::Error>(())
    /// ```
    #[must_use]
    pub fn verify(mut self, measure: impl Into<String>) -> Query {
        self.options.verify = Some(measure.into());
        self
    }

    /// Returns the measure of `verify`, if set, for texts that `analyzer` splits into tokens.
    pub(super) fn measure(&self, analyzer: &Analyzer) -> Result<Option<Measure>> {
        let Some(spec) = &self.options.verify else { return Ok(None) };
        let mut measure: Measure = spec.parse()?;
        if let Some(table) = &self.frequencies {
            measure = measure.in_collection(table, analyzer)?;
        }
        Ok(Some(match self.measure_steps_max {
            Some(steps_max) => measure.within(steps_max),
            None => measure,
        }))
    }

    /// Refuses a query that contradicts itself or has values out of range.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) with the name of the option.
    /// [`Error::Spec`](crate::Error::Spec) for an unknown measure.
    pub fn check(&self) -> Result<()> {
        self.thresholds.check()?;
        self.options.check()?;
        let problem = match &self.subject {
            Subject::Text(text) => parts_problem(&self.parts, text),
            _ if self.parts.is_empty() => None,
            // A watch without its text has such parts.
            Subject::Signature { .. } if self.parts.iter().all(|p| p.first_token.is_some()) => None,
            _ => Some("only a text that is searched for has `parts`".into()),
        };
        if let Some(problem) = problem {
            return Err(Error::argument("parts", problem));
        }
        let measure = self.options.verify.as_deref().map(str::parse::<Measure>);
        measure.transpose().map(|_| ())
    }

    /// Returns the flag that ends the search early.
    pub(super) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Creates a search for a text. By default, the answer has the ten documents that share most
    /// with it.
    pub fn text(text: impl Into<String>) -> Query {
        Query::new(Subject::Text(text.into()))
    }

    /// Creates a search for a text of several named parts. The text is the text of the parts,
    /// joined with line feeds, and passages state the part that they are in.
    ///
    /// ```
    /// use cento::Query;
    ///
    /// let query = Query::of_parts([("Main.java", "class Main {}"), ("Tree.java", "class T {}")]);
    /// assert_eq!(query.parts[1].start, 14);
    /// ```
    pub fn of_parts<N: Into<String>, T: AsRef<str>>(
        parts: impl IntoIterator<Item = (N, T)>,
    ) -> Query {
        let Document { text, parts, .. } = Document::of_parts("", parts);
        Query { parts, ..Query::text(text) }
    }

    /// Creates a search for documents like the stored document `id`.
    ///
    /// ```
    /// # use cento::{Config, Document, Index, WriterOptions};
    /// # let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
    /// # let mut writer = index.writer(WriterOptions::default())?;
    /// # let poem = "A lighthouse was a fire behind a window and half of the light went up";
    /// # writer.add(Document::new("poem", poem))?;
    /// # writer.add(Document::new("copy", format!("{poem} the chimney")))?;
    /// # writer.commit()?;
    /// use cento::{Query, Searcher};
    ///
    /// // Documents like a stored one. The document itself is no hit.
    /// let hits = Searcher::new(index.snapshot()?).search(&Query::id("poem"))?.hits;
    /// assert_eq!(hits.iter().map(|hit| hit.id.as_str()).collect::<Vec<_>>(), ["copy"]);
    /// # Ok::<(), cento::Error>(())
    /// ```
    pub fn id(id: impl Into<String>) -> Query {
        Query::new(Subject::Id(id.into()))
    }

    /// Creates a search for `subject`. By default, the answer has the ten documents that share most
    /// with it.
    #[must_use]
    pub fn new(subject: Subject) -> Query {
        Query {
            subject,
            parts: Vec::new(),
            thresholds: Thresholds::default(),
            options: SearchOptions::default(),
            stop: Stop::default(),
            passage_bytes_max: None,
            memory: None,
            frequencies: None,
            measure_steps_max: None,
        }
    }
}

/// Returns the ranking in an index with this preset. A preset only ranks the goal `hits`.
pub(super) fn rank_by(options: &SearchOptions, preset: &mut PresetUse) -> Rank {
    let of_preset = |rank| match rank {
        PresetRank::Weight => Some(Rank::Weight),
        // Only pairs have scores, not hits.
        PresetRank::Score => None,
    };
    let is_open = options.rank.is_none() && options.goal == Goal::Hits;
    let rank = options.rank.or_else(|| is_open.then(|| preset.rank(of_preset)).flatten());
    rank.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_is_a_method_of_a_query() {
        // The error for an unknown field lists the fields.
        let fields = |error: serde_json::Error| -> Vec<String> {
            error.to_string().split('`').skip(3).step_by(2).map(str::to_owned).collect()
        };
        let unknown = r#"{"unknown": 1}"#;
        let thresholds = serde_json::from_str::<Thresholds>(unknown).unwrap_err();
        let options = serde_json::from_str::<SearchOptions>(unknown).unwrap_err();
        let of = |field| Query::OPTION_METHODS.iter().filter(move |method| method.0 == field);
        let names = |field| of(field).map(|method| method.1.to_owned()).collect::<Vec<_>>();
        assert_eq!(fields(thresholds), names("thresholds"));
        let written_out = ["filter", "date", "verify"];
        let mut options = fields(options);
        options.retain(|name| !written_out.contains(&name.as_str()));
        assert_eq!(options, names("options"));
    }
}
