//! What belongs together in a collection of documents?
//!
//! You have many documents, and want to know which of them belong together. This crate has the
//! verbs over a whole collection: pairs of documents ([`pairs`]), clusters ([`cluster`]), passages
//! that several documents carry ([`families`]), versions of documents ([`lineage`]), and
//! deduplication of a stream of documents ([`dedup`]). Each document serves as the query of an
//! ordinary search, in its own index or in another, so the guarantees of a search hold: the
//! documents of a pair share a fingerprint that is no stop-fingerprint, and overlaps are exact
//! counts. Exact copies that have only stop-fingerprints are found by the digests of their texts
//! (`copies`).
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
//! [`submissions`] compares new documents with each other and with an archive. [`withdraw`] removes
//! a
//! document and its copies. [`decontaminate`] joins a stream of documents with the questions of
//! benchmarks, without an index. [`watch`] matches later commits against standing queries, and
//! [`tune`] finds the setting that suits a collection.

mod best;
mod by_document;
mod chronology;
pub mod cluster;
mod connect;
mod contenders;
mod copies;
mod counted;
mod cutting;
pub mod decontaminate;
pub mod dedup;
mod defaults;
pub mod families;
mod job;
mod known;
pub mod lineage;
pub mod links;
pub mod most_similar;
mod numbering;
mod overlap_minimum;
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
pub mod submissions;
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
pub use overlap_minimum::OverlapMinimum;
pub use seam::has_words;

/// Compiles the programs of the book's page on the library as doctests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/howto/library.md")]
struct Chapter;
