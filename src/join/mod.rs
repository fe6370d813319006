//! Joins: the documents of a collection that belong together.
//!
//! A whole index against itself or another: pairs of documents ([`pairs`]), clusters of them
//! ([`cluster`]), the passages that documents carry ([`families`]), the versions of documents
//! ([`lineage`]), and deduplication of documents as they come ([`dedup`]). Every document is
//! searched for as a query would be, so the guarantees of a search hold here: a pair has at least
//! one fingerprint in common that is no stop-fingerprint, and every number of it is exact. Exact
//! copies that have stop-fingerprints only are found by their digests (`copies`).
//!
//! [`decontaminate`] joins a stream of documents with the questions of benchmarks, without an
//! index.

mod best;
mod by_document;
mod chronology;
pub mod cluster;
mod contenders;
mod copies;
mod cutting;
pub mod decontaminate;
pub mod dedup;
mod defaults;
pub mod families;
pub mod hand_ins;
mod job;
mod known;
pub mod lineage;
pub mod margin;
pub mod most_similar;
mod nearest;
mod numbering;
mod pair;
mod pair_search;
pub mod pairs;
mod preference;
mod program_texts;
mod ranges;
mod ranked;
pub mod reuse;
mod score;
pub mod series;
mod sets;
mod sources;
mod thresholds;
mod verify;
mod weights;
pub mod withdraw;

pub use crate::search::StopCounts;
pub use cento_api::TimeOrder;
pub use cento_api::{
    ClusterOptions, DecontaminateOptions, DedupOptions, FamilyOptions, LineageOptions, Linkage,
    PairOptions, PairRank, PairReport, Prefer, ReuseOptions, Scope, SymmetricPair, Thresholds,
    WeightedPair, WithdrawOptions, Withdrawal,
};
pub use cutting::cut_out;
pub use job::{Job, Judge, Resources};
