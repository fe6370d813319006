//! What does a search over HTTP ask for?

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Signature, whole};
use cento::Measure;
use cento::index::{Config, MaxDf};
use cento::scheme::frequency::FrequencyTable;
use cento::search::{Goal, Query, Rank, Subject};
use cento::text::kind::no_text_in;
use cento::{Error, Result};

/// The maximum number of hits, or of pairs, that a service can be asked for.
pub const HITS_MAX: usize = 10_000;

/// A service looks for the passages of at most this many candidates to rank them, and then has no more hits.
pub const CANDIDATES_MAX: usize = 1000;

/// A search: one of `text`, `id` and `signature`, and what counts as a hit. The options are those of
/// `cento search`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SearchRequest {
    /// Search for this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(pattern = r"^[^\x00]*$"))]
    pub text: Option<String>,
    /// Search for documents like the stored one with this id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Search for a signature made elsewhere, as `cento fingerprint --format json` prints it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
    /// Only hits that hold at least this share of the query.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(minimum = 0.0, maximum = 1.0))]
    pub min_containment: f64,
    /// Only hits with at least this resemblance.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(minimum = 0.0, maximum = 1.0))]
    pub min_resemblance: f64,
    /// Only hits with at least this many fingerprints in common. Default: 1.
    #[serde(default = "default_min_overlap", deserialize_with = "whole::number")]
    pub min_overlap: u32,
    /// Only hits with at least this share of the weight of the query's fingerprints, of which rare
    /// ones weigh more.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(minimum = 0.0, maximum = 1.0))]
    pub min_weighted_containment: f64,
    /// Only hits with at least this weighted resemblance.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(minimum = 0.0, maximum = 1.0))]
    pub min_weighted_resemblance: f64,
    /// Rank hits by `overlap`, the fingerprints in common, by `weight`, where rare fingerprints count
    /// for more, or by `passages`, the tokens in passages in common. Default: `overlap`. Not with
    /// `best` or `cover`.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub rank: Rank,
    /// The documents, the best by weight, whose passages are looked for to rank by `passages`; at
    /// least `limit`. Default: until 30 documents in a row lack one, at most 1000.
    #[serde(default, deserialize_with = "whole::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(maximum = 1000))]
    pub candidates: Option<usize>,
    /// The maximum number of hits; at most 1000 to rank by `passages`. Default: 10; with `passages`,
    /// `min_passage`, `cover` or the rank `passages` all up to the last document with a passage. The
    /// search for it ends when 30 documents in a row lack one, and after 1000.
    #[serde(default, deserialize_with = "whole::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(maximum = 10000))]
    pub limit: Option<usize>,
    /// Only documents that match, such as `lang:de AND year:[2019 TO *]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(format = "cento-filter"))]
    pub filter: Option<String>,
    /// Fingerprints in more documents find nothing by themselves: a number of documents, or a share of
    /// them such as `0.01`. Default: what the index was created with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(pattern = r"^(default|[0-9]{1,19}|0?\.[0-9]+|1\.0+)$"))]
    pub max_df: Option<String>,
    /// The maximum number of postings to read; the answer may then lack hits, and says so.
    #[serde(default, deserialize_with = "whole::option", skip_serializing_if = "Option::is_none")]
    pub budget: Option<u64>,
    /// Texts that do not count, such as templates. Counting without them takes time in proportion to
    /// the documents of the index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boilerplate: Vec<String>,
    /// Show the estimated resemblance of the texts themselves, for which the signature of each hit is
    /// read. Default: true.
    #[serde(default = "yes")]
    pub estimates: bool,
    /// Show the passages that the query shares with each hit.
    #[serde(default)]
    pub passages: bool,
    /// Only hits with a passage of at least this many tokens of the query; shorter passages are not
    /// shown.
    #[serde(default, deserialize_with = "whole::option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1))]
    pub min_passage: Option<u32>,
    /// Measure hits over both texts too; a wrong measure is answered with the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schema::measure))]
    pub verify: Option<String>,
    /// Only hits that `verify` finds at least this similar.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(minimum = 0.0, maximum = 1.0))]
    pub min_similarity: f64,
    /// Instead of hits, find the one passage that is most like the query.
    #[serde(default)]
    pub best: bool,
    /// Instead of the best hits, find the smallest set of documents that explains the query.
    #[serde(default)]
    pub cover: bool,
}

fn default_min_overlap() -> u32 {
    Query::text("").min_overlap
}

fn yes() -> bool {
    true
}

impl Default for SearchRequest {
    fn default() -> SearchRequest {
        SearchRequest::of(&Query { estimates: true, ..Query::text("") })
    }
}

impl SearchRequest {
    /// Asks for what `query` asks for, except for its subject, its filter's and its measure's context:
    /// texts, ids and signatures are said as they are to be sent.
    pub fn of(query: &Query) -> SearchRequest {
        SearchRequest {
            text: None,
            id: None,
            signature: None,
            min_containment: query.min_containment,
            min_resemblance: query.min_resemblance,
            min_overlap: query.min_overlap,
            min_weighted_containment: query.min_weighted_containment,
            min_weighted_resemblance: query.min_weighted_resemblance,
            rank: query.rank,
            candidates: query.candidates,
            limit: query.limit,
            filter: query.filter.clone(),
            max_df: query.max_df.map(|limit| limit.to_string()),
            budget: query.budget,
            boilerplate: Vec::new(),
            estimates: query.estimates,
            passages: query.passages,
            min_passage: query.min_passage,
            verify: query.verify.as_ref().map(Measure::to_string),
            min_similarity: query.min_similarity,
            best: query.goal == Goal::Passage,
            cover: query.goal == Goal::Cover,
        }
    }

    /// The query of an index with this configuration; `collection` weighs the words of measures that
    /// know a collection.
    ///
    /// # Errors
    /// When the request is none that can be answered.
    pub fn query(self, config: &Config, collection: Option<&Arc<FrequencyTable>>) -> Result<Query> {
        let subject = subject(self.text, self.id, self.signature, config)?;
        for (name, of) in [
            ("min_containment", self.min_containment),
            ("min_resemblance", self.min_resemblance),
            ("min_similarity", self.min_similarity),
            ("min_weighted_containment", self.min_weighted_containment),
            ("min_weighted_resemblance", self.min_weighted_resemblance),
        ] {
            share(name, of)?;
        }
        if self.rank != Rank::Overlap && (self.best || self.cover) {
            return Err(Error::argument(
                "rank",
                "`rank` cannot be combined with `best` or `cover`",
            ));
        }
        let is_alone = self.verify.is_none() && self.min_passage.is_none();
        if self.best && (self.cover || !is_alone || !self.boilerplate.is_empty()) {
            return Err(Error::argument(
                "best",
                "`best` cannot be combined with `cover`, `verify`, `min_passage` or `boilerplate`",
            ));
        }
        min_passage(self.min_passage)?;
        if self.min_similarity > 0.0 && self.verify.is_none() {
            return Err(Error::argument("min_similarity", "`min_similarity` needs `verify`"));
        }
        let mut verify: Option<Measure> = self.verify.map(|name| name.parse()).transpose()?;
        if let Some(table) = collection {
            let weigh = |measure: Measure| measure.in_collection(table, &config.analyzer);
            verify = verify.map(weigh).transpose()?;
        }
        Ok(Query {
            min_containment: self.min_containment,
            min_resemblance: self.min_resemblance,
            min_overlap: self.min_overlap,
            min_weighted_containment: self.min_weighted_containment,
            min_weighted_resemblance: self.min_weighted_resemblance,
            rank: self.rank,
            candidates: self.candidates,
            limit: self.limit,
            filter: self.filter,
            max_df: self.max_df.map(|limit| limit.parse::<MaxDf>()).transpose()?,
            budget: self.budget,
            estimates: self.estimates,
            passages: self.passages,
            min_passage: self.min_passage,
            verify,
            min_similarity: self.min_similarity,
            goal: goal(self.best, self.cover),
            ..Query::new(subject)
        })
    }
}

/// Returns the goal that `best` and `cover`, the fields of a request and the options of the command,
/// ask for. They exclude each other; [`SearchRequest::of`] is the way back.
pub fn goal(best: bool, cover: bool) -> Goal {
    match (best, cover) {
        (true, _) => Goal::Passage,
        (_, true) => Goal::Cover,
        _ => Goal::Hits,
    }
}

/// Checks a share that a request names.
///
/// # Errors
/// When it is no number from 0 to 1.
pub(super) fn share(name: &'static str, share: f64) -> Result<f64> {
    match (0.0..=1.0).contains(&share) {
        true => Ok(share),
        false => Err(Error::argument(name, format!("`{name}` must be a number from 0 to 1"))),
    }
}

/// Checks the least length of passages that a request names.
///
/// # Errors
/// When it is 0, which leaves out nothing and is no passage.
pub(super) fn min_passage(tokens: Option<u32>) -> Result<Option<u32>> {
    match tokens {
        Some(0) => Err(Error::argument("min_passage", "`min_passage` must be at least 1")),
        _ => Ok(tokens),
    }
}

/// What is searched for, of three that exclude each other.
pub(super) fn subject(
    text: Option<String>,
    id: Option<String>,
    signature: Option<Signature>,
    config: &Config,
) -> Result<Subject> {
    match (text, id, signature) {
        (Some(text), None, None) => match no_text_in(&text) {
            Some(why) => Err(Error::argument("text", format!("`text` is not text: {why}"))),
            None => Ok(Subject::Text(text)),
        },
        (None, Some(id), None) => Ok(Subject::Id(id)),
        (None, None, Some(signature)) => signature.subject(config),
        _ => Err(Error::arguments("exactly one of `text`, `id` and `signature` is required")),
    }
}
