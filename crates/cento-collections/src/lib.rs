//! What belongs together in a collection of documents?
//!
//! A whole index against itself or another: pairs of documents ([`pairs`]), clusters of them
//! ([`cluster`]), the passages that documents carry ([`families`]), the versions of documents
//! ([`lineage`]), and deduplication of documents as they come ([`dedup`]). Every document is
//! searched for as a query would be, so the guarantees of a search hold here: a pair has at least
//! one fingerprint in common that is no stop-fingerprint, and every number of it is exact. Exact
//! copies that have stop-fingerprints only are found by their digests (`copies`).
//!
//! ```
//! use cento::{Config, Document, Index, Searcher, WriterOptions};
//! use cento_collections::pairs::{PairOptions, pairs};
//!
//! let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
//! let mut writer = index.writer(WriterOptions::default())?;
//! writer.add(Document::new("a", "a text of a few words that two documents have"))?;
//! writer.add(Document::new("b", "a text of a few words that two documents have"))?;
//! writer.finish()?;
//!
//! let searcher = Searcher::new(index.snapshot()?);
//! let found = pairs(&searcher, &PairOptions::default()).collect::<cento::Result<Vec<_>>>()?;
//! assert_eq!(found[0].similarity.containment_of_a, 1.0);
//! # Ok::<(), cento::Error>(())
//! ```
//!
//! [`hand_ins`] compares new documents with each other and an archive, [`withdraw`] removes a
//! document with its copies, [`decontaminate`] joins a stream of documents with the questions of
//! benchmarks, without an index. [`watch`] matches later commits against standing queries, and
//! [`tune`] finds the setting that suits a collection.

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
pub mod most_similar;
mod numbering;
mod pair;
mod pair_search;
pub mod pairs;
mod preference;
mod program_texts;
mod ranked;
pub mod reuse;
mod score;
mod seam;
pub mod series;
mod sets;
mod sources;
mod thresholds;
pub mod tune;
mod verify;
pub mod watch;
mod weights;
pub mod withdraw;

pub use cento::search::StopCounts;
pub use cento_api::TimeOrder;
pub use cento_api::{
    ClusterOptions, DecontaminateOptions, DedupOptions, FamilyOptions, LineageOptions, Linkage,
    PairOptions, PairRank, PairReport, Prefer, ReuseOptions, Scope, SymmetricPair, Thresholds,
    WeightedSimilarity, WithdrawOptions, Withdrawal,
};
pub use cutting::cut_out;
pub use job::{Job, Judge, Resources};
pub use seam::has_words;

/// Compiles the programs of the book's chapter on the library.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/howto/library.md")]
struct Chapter;
