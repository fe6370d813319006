//! The findings of a run, for people and programs.

use serde::Serialize;

use super::interval::Share;
use super::setting::Setting;
use super::threshold::Point;
use cento::search::Rank;

/// The measure that thresholds apply to. Where hits are ranked by weight, it is weighted, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// The share of the query that a document has: for passages.
    Containment,
    /// The share of both that both have: for near-duplicates.
    Resemblance,
}

impl By {
    /// Returns the threshold's option on the command line, for hits with this ranking.
    #[must_use]
    pub fn option(self, rank: Rank) -> &'static str {
        match (self, rank == Rank::Overlap) {
            (By::Containment, true) => "--min-containment",
            (By::Containment, false) => "--min-weighted-containment",
            (By::Resemblance, true) => "--min-resemblance",
            (By::Resemblance, false) => "--min-weighted-resemblance",
        }
    }

    /// Returns its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            By::Containment => "containment",
            By::Resemblance => "resemblance",
        }
    }
}

/// The findings of a run.
#[derive(Debug, Clone, Serialize)]
pub struct TuneReport {
    /// The documents in each index.
    pub documents: u64,
    /// The bytes of their texts.
    pub text_bytes: u64,
    /// The queries that thresholds and the best setting are chosen on.
    pub queries_to_choose: u64,
    /// The queries that they are judged on, which all figures are of.
    pub queries_to_judge: u64,
    /// The measure that thresholds apply to.
    pub by: By,
    /// The maximum number of hits of a query that are judged, each with another text.
    pub hits_judged: u64,
    /// Whether the hits that are neither wanted nor named by a label are left out of the false
    /// hits; if not, those without text in common with the query are false.
    pub judged_by_labels: bool,
    /// The place of the best setting in `settings`: the fewest fingerprints among those that are
    /// next to best on the queries to choose. `None` if nothing was found with any.
    pub best: Option<usize>,
    /// What limits the conclusions, as sentences.
    pub warnings: Vec<String>,
    /// The settings, in the order of their trial. Ratios are to the first.
    pub settings: Vec<SettingReport>,
    /// Settings that this build cannot try, with the reason.
    pub not_tried: Vec<NotTried>,
}

/// A setting that was not tried.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NotTried {
    /// The setting.
    pub setting: Setting,
    /// The reason, as a sentence.
    pub reason: String,
}

/// The findings and the costs of a setting.
#[derive(Debug, Clone, Serialize)]
pub struct SettingReport {
    /// The setting.
    #[serde(flatten)]
    pub setting: Setting,
    /// The arguments of `cento create` that make an index with it.
    pub create: Vec<String>,
    /// The option of the threshold.
    pub threshold_option: &'static str,
    /// The threshold, chosen on other queries than the figures are of.
    pub threshold: f64,
    /// F1 with the threshold on the queries to choose.
    pub f1_to_choose: f64,
    /// F1 with the threshold.
    pub f1: f64,
    /// The wanted documents that are found with the threshold.
    pub recall: Share,
    /// Their share by the kind of query.
    pub kinds: Vec<KindReport>,
    /// The wanted documents that are the first hits, without a threshold.
    pub first: Share,
    /// These first hits of the queries to choose.
    pub first_to_choose: Share,
    /// The false hits with the threshold.
    pub false_hits: u64,
    /// The queries with a false hit.
    pub with_false_hit: Share,
    /// Hits with the threshold that no label names.
    pub unjudged: u64,
    /// The distinct fingerprints of all documents, each document's counted by itself.
    pub fingerprints: u64,
    /// The ratio of these to those of the first setting.
    pub fingerprints_ratio: f64,
    /// The bytes of the signatures.
    pub bytes: u64,
    /// The time that it took to add the documents, in microseconds.
    pub add_us: u64,
    /// The ratio of this to that of the first setting.
    pub add_ratio: f64,
    /// The median duration of a search without a threshold, in microseconds.
    pub search_us: u64,
    /// The ratio of this to that of the first setting.
    pub search_ratio: f64,
    /// The wanted documents by the similarity of their texts to the query.
    pub curve: Vec<CurveBin>,
    /// The effect of each threshold on the queries to judge, by estimated similarities.
    pub thresholds: Vec<Point>,
}

impl SettingReport {
    /// Returns the mean number of false hits of a query.
    #[must_use]
    pub fn false_hits_a_query(&self) -> f64 {
        self.false_hits as f64 / self.with_false_hit.of.max(1) as f64
    }

    /// Returns a short name: that of its preset, or its parts.
    #[must_use]
    pub fn name(&self) -> String {
        match self.setting.preset {
            Some(preset) => format!("--for {preset}"),
            None => {
                let Setting { scheme, analyzer, rank, .. } = &self.setting;
                let rank = if *rank == Rank::Overlap { "" } else { ", by weight" };
                format!("{scheme} over {analyzer}{rank}")
            }
        }
    }
}

/// The wanted documents of one kind of query.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KindReport {
    /// The kind.
    pub kind: String,
    /// Those that are found with the threshold.
    pub recall: Share,
}

/// The wanted documents whose similarity is in one tenth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CurveBin {
    /// The least similarity: the exact one of the texts in the runs that the setting compares; of a
    /// scheme without runs that of the fingerprints.
    pub from: f64,
    /// The documents among the hits, whatever their score.
    pub found: Share,
    /// Those with a score that meets the threshold.
    pub passed: Share,
}
