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
/// The subject is a text, a signature, or the id of a stored document. The fields of
/// [`Thresholds`] and [`SearchOptions`] are methods here too. A query is checked when it is used:
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
#[derive(Debug, Clone, Setters)]
#[non_exhaustive]
#[setters(into)]
pub struct Query {
    /// The text or document to search for.
    #[setters(skip)]
    pub subject: Subject,
    /// The parts of the text that is searched for, if it has any: passages name them. A stored
    /// document has its own; those of a signature know their first tokens.
    #[setters(skip)]
    pub parts: Vec<Part>,
    /// The thresholds that hits must meet.
    #[setters(skip)]
    pub thresholds: Thresholds,
    /// The other options of the search.
    #[setters(skip)]
    pub options: SearchOptions,
    /// Set to end the search soon, when its answer is no longer needed.
    #[setters(skip)]
    pub stop: Stop,
    /// The memory, in bytes, for the passages of the answer. Those of the hits that come last are
    /// left out if they take more: [`Hit::passages`](super::Hit::passages) is then `None`, and they
    /// are not complete.
    pub passage_bytes_max: Option<usize>,
    /// The budget for the memory of compared texts, if they take much.
    pub memory: Option<QueryMemory>,
    /// The table that weighs the words of measures that know a collection, for `verify`.
    pub frequencies: Option<Arc<FrequencyTable>>,
    /// The maximum number of steps of `verify`, if it is bounded; see [`Measure::within`].
    pub measure_steps_max: Option<u64>,
}

/// Makes the fields of options methods of [`Query`].
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

            /// The names of these methods, for a test that none is missing.
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
#[derive(Debug, Clone)]
pub enum Subject {
    /// A text, to be analyzed and signed as the index's documents were.
    Text(String),
    /// A signature that was made elsewhere with the index's scheme and analyzer.
    Signature {
        /// The tokens of the document.
        tokens: u32,
        /// Its fingerprints.
        fingerprints: Vec<Fingerprint>,
    },
    /// A stored document, which is not among the hits.
    Id(String),
}

impl Query {
    /// The default number of hits, with or without passages.
    pub const HITS: usize = 10;

    /// The number of consecutive documents without a passage that ends a search for passages by
    /// default.
    ///
    /// On the training documents of PAN 2013, reports by weight then show a share of reused text
    /// that is .003 less, on average, than that of the 1,000 best documents, after looking at 46 of
    /// them.
    pub const PATIENCE: usize = 30;

    /// The default maximum number of documents whose passages are looked for.
    pub const CANDIDATES: usize = 1000;

    /// The default maximum number of documents that are compared with a span of a trace.
    pub const CARRIERS: usize = 100;

    /// Tells whether the similarity of texts decides which documents are hits.
    pub(super) fn is_of_texts(&self) -> bool {
        self.thresholds.is_of_texts()
    }

    /// Tells whether documents that meet the thresholds must pass a check of their texts.
    pub(super) fn checks_texts(&self) -> bool {
        self.options.verify.is_some() || self.options.min_passage.is_some()
    }

    /// Tells whether estimates are to be shown.
    pub(super) fn shows_estimates(&self) -> bool {
        !self.options.counts_only || self.is_of_texts()
    }

    /// Tells whether passages are to be shown.
    pub(super) fn shows_passages(&self) -> bool {
        self.options.passages || self.options.min_passage.is_some()
    }

    /// Returns the ranking of the hits.
    pub(super) fn ranked_by(&self) -> Rank {
        self.options.rank.unwrap_or_default()
    }

    /// Returns the query with the defaults of this preset for options that are not set, and the
    /// names of these.
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

    /// Tells whether fingerprints are to be weighed.
    pub(super) fn is_weighed(&self) -> bool {
        // Those that rarely occur tell best where a passage is from.
        let is_by_weight = self.ranked_by() != Rank::Overlap || self.options.goal == Goal::Trace;
        is_by_weight || self.thresholds.is_weighed()
    }

    /// Returns the least share of the query's weight in a document that meets the thresholds.
    pub(super) fn least_weighted(&self) -> f64 {
        // Weighted resemblance is at most weighted containment.
        self.thresholds.weighted_containment().max(self.thresholds.weighted_resemblance())
    }

    /// Dates the documents of a trace by this field of their meta.
    #[must_use]
    pub fn date(mut self, field: impl Into<String>) -> Query {
        self.options.date = Some(field.into());
        self
    }

    /// Restricts hits to documents that match this query of their meta, ids or times of addition.
    #[must_use]
    pub fn filter(mut self, filter: impl Into<String>) -> Query {
        self.options.filter = Some(filter.into());
        self
    }

    /// Also measures each hit on the whole texts, by the measure of this specification.
    #[must_use]
    pub fn verify(mut self, measure: impl Into<String>) -> Query {
        self.options.verify = Some(measure.into());
        self
    }

    /// Returns the measure of `verify`, if it is set, for texts that `analyzer` makes tokens of.
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

    /// Refuses a query that contradicts itself or is out of bounds.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument), which names the option;
    /// [`Error::Spec`](crate::Error::Spec) if there is no such measure.
    pub fn check(&self) -> Result<()> {
        self.thresholds.check()?;
        self.options.check()?;
        let problem = match &self.subject {
            Subject::Text(text) => parts_problem(&self.parts, text),
            _ if self.parts.is_empty() => None,
            // A watch without its text has them.
            Subject::Signature { .. } if self.parts.iter().all(|p| p.first_token.is_some()) => None,
            _ => Some("only a text that is searched for has `parts`".into()),
        };
        if let Some(problem) = problem {
            return Err(Error::argument("parts", problem));
        }
        let measure = self.options.verify.as_deref().map(str::parse::<Measure>);
        measure.transpose().map(|_| ())
    }

    /// Returns the flag that ends the search when its answer is no longer needed.
    pub(super) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Creates a search for a text: the ten documents that share most with it.
    pub fn text(text: impl Into<String>) -> Query {
        Query::new(Subject::Text(text.into()))
    }

    /// Creates a search for a text of several parts, each with its name and text: their texts,
    /// joined with line feeds, are the text, and passages name the part that they are in.
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

    /// Creates a search for the documents like a stored one.
    pub fn id(id: impl Into<String>) -> Query {
        Query::new(Subject::Id(id.into()))
    }

    /// Creates a search for `subject`: the ten documents that share most with it.
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

/// Returns the ranking in an index with this preset: a preset ranks hits only.
pub(super) fn rank_by(options: &SearchOptions, preset: &mut PresetUse) -> Rank {
    let of_preset = |rank| match rank {
        PresetRank::Weight => Some(Rank::Weight),
        // Hits have no scores of pairs.
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
        // The fields, as the error for an unknown one lists them.
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
