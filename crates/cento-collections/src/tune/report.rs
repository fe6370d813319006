//! The results of a run, for people and programs.

use serde::Serialize;

use super::interval::Share;
use super::setting::Setting;
use super::threshold::Point;
use cento::search::Rank;

/// The measure that thresholds apply to. If hits are ranked by weight, the measure is weighted too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// The share of the query that a document has, for finding passages.
    Containment,
    /// The share of both texts that is common, for finding near-duplicates.
    Resemblance,
}

impl By {
    /// Returns the command-line option of the threshold, for hits with this ranking.
    #[must_use]
    pub fn option(self, rank: Rank) -> &'static str {
        match (self, rank == Rank::Overlap) {
            (By::Containment, true) => "--min-containment",
            (By::Containment, false) => "--min-weighted-containment",
            (By::Resemblance, true) => "--min-resemblance",
            (By::Resemblance, false) => "--min-weighted-resemblance",
        }
    }

    /// Returns the name of the measure.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            By::Containment => "containment",
            By::Resemblance => "resemblance",
        }
    }
}

/// The results of a run.
#[derive(Debug, Clone, Serialize)]
pub struct TuneReport {
    /// The number of documents in each index.
    pub documents: u64,
    /// The bytes of the documents' texts.
    pub text_bytes: u64,
    /// The number of queries for choosing thresholds and the best setting.
    pub queries_to_choose: u64,
    /// The number of queries for judging, which give the figures of the report.
    pub queries_to_judge: u64,
    /// The measure that thresholds apply to.
    pub by: By,
    /// The maximum number of judged hits of a query, each with a distinct text.
    pub hits_judged: u64,
    /// Whether labels alone decide about false hits, so that hits without a label do not count. If
    /// not, hits without text in common with the query are false.
    pub judged_by_labels: bool,
    /// The place of the best setting in `settings`: the fewest fingerprints among the settings
    /// close to the best, by the queries for choosing. `None` if no setting found anything.
    pub best: Option<usize>,
    /// What limits the conclusions, as sentences.
    pub warnings: Vec<String>,
    /// The settings in the order of their trials. Ratios are relative to the first setting.
    pub settings: Vec<SettingReport>,
    /// Settings that this build cannot try, with the reason.
    pub not_tried: Vec<NotTried>,
}

/// A setting that was not tried.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NotTried {
    /// The setting that cannot be used.
    pub setting: Setting,
    /// The reason, as a sentence.
    pub reason: String,
}

/// The results and the costs of a setting.
#[derive(Debug, Clone, Serialize)]
pub struct SettingReport {
    /// The setting that was tried.
    #[serde(flatten)]
    pub setting: Setting,
    /// The arguments of `cento create` for an index with the setting.
    pub create: Vec<String>,
    /// The command-line option of the threshold.
    pub threshold_option: &'static str,
    /// The threshold, chosen by other queries than the queries for judging.
    pub threshold: f64,
    /// F1 with the threshold, for the queries for choosing.
    pub f1_to_choose: f64,
    /// F1 with the threshold, for the queries for judging.
    pub f1: f64,
    /// The share of wanted documents found with the threshold.
    pub recall: Share,
    /// The share of wanted documents found with the threshold, by kind of query.
    pub kinds: Vec<KindReport>,
    /// The share of wanted documents that are the first hits, without a threshold.
    pub first: Share,
    /// The share of wanted documents that are the first hits, for the queries for choosing.
    pub first_to_choose: Share,
    /// The number of false hits with the threshold.
    pub false_hits: u64,
    /// The share of queries with a false hit.
    pub with_false_hit: Share,
    /// The number of hits with the threshold that no label mentions.
    pub unjudged: u64,
    /// The number of distinct fingerprints of each document, summed over documents.
    pub fingerprints: u64,
    /// The ratio of `fingerprints` to the first setting.
    pub fingerprints_ratio: f64,
    /// The bytes of the signatures.
    pub bytes: u64,
    /// The time for adding the documents, in microseconds.
    pub add_us: u64,
    /// The ratio of `add_us` to the first setting.
    pub add_ratio: f64,
    /// The median time of a search without a threshold, in microseconds.
    pub search_us: u64,
    /// The ratio of `search_us` to the first setting.
    pub search_ratio: f64,
    /// The wanted documents by the similarity of their texts to the query.
    pub curve: Vec<CurveBin>,
    /// The effect of each threshold on the queries for judging, by estimated similarities.
    pub thresholds: Vec<Point>,
}

impl SettingReport {
    /// Returns the mean number of false hits for each query.
    #[must_use]
    pub fn false_hits_a_query(&self) -> f64 {
        self.false_hits as f64 / self.with_false_hit.of.max(1) as f64
    }

    /// Returns a short name: the option of the preset, or else the parts of the setting.
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
    /// The kind of query.
    pub kind: String,
    /// The share of wanted documents found with the threshold.
    pub recall: Share,
}

/// The wanted documents whose similarity is in one tenth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CurveBin {
    /// The lower end of the tenth. The similarity is the exact similarity of the texts by the
    /// setting's runs, or by all fingerprints for a scheme without runs.
    pub from: f64,
    /// The share of these documents among the hits, whatever their score.
    pub found: Share,
    /// The share of these documents whose score meets the threshold.
    pub passed: Share,
}
