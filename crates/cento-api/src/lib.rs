//! The types that programs exchange with cento, without the engine.
//!
//! Options, answers, errors and their reasons are defined here once. The library [`cento`]
//! re-exports the types that its calls take and return, and the service, its clients, the command
//! and the Python module use the same types. Use this crate alone if you exchange such values
//! without the engine. [`http`] has the bodies of the HTTP API, version 1.
//!
//! Nothing here reads an index or a text. You give schemes, analyzers and measures as
//! specifications, which the library reads when you use them.
//!
//! [`cento`]: https://docs.rs/cento

// Numbers and texts must be read in the same way on every machine, as in the library (clippy.toml).
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod add_report;
mod answer;
mod cited;
mod compare;
mod comparison;
mod decontaminate;
mod dedup;
pub mod document;
pub mod error;
mod family;
pub mod http;
mod join;
pub mod json;
mod lineage;
mod max_df;
mod merge;
mod name_pattern;
mod novelty;
pub mod number;
pub mod overlap;
mod pair;
pub mod part;
mod passage;
mod preset;
pub mod reason;
mod repeated;
mod search;
mod service_file;
mod shards;
pub mod similarity;
mod sources;
mod stats;
pub mod suggest;
mod thresholds;
mod trace;
mod unseen;
mod watch;
pub mod whole;
mod withdraw;

pub use add_report::AddReport;
pub use answer::{Answer, CandidateTexts, Hit, QueryInfo, Stopped, Verified};
pub use cited::CitedPart;
pub use compare::CompareOptions;
pub use comparison::Comparison;
pub use decontaminate::DecontaminateOptions;
pub use dedup::DedupOptions;
pub use error::{Corruption, Error, Result};
pub use family::{Carrier, Change, DateRelation, Family, FamilyOptions, TimeOrder};
pub use join::{ClusterOptions, Linkage, PairOptions, PairRank, Prefer, ReuseOptions, Scope};
pub use lineage::{Descent, DirectionBy, LineageOptions};
pub use max_df::MaxDf;
pub use merge::{AddedIndexes, OnConflict};
pub use name_pattern::{NameFields, NamePattern};
pub use novelty::{NOVELTY, NewText, Novelty, NoveltySource};
pub use overlap::{Category, Overlap};
pub use pair::{PairReport, SymmetricPair, WeightedSimilarity};
pub use part::{Part, PartText};
pub use passage::{MAX_EXPECTED, Origin, Passage, Unit};
pub use preset::{
    DEFAULT_SPEC, Preset, PresetDefaults, PresetRank, REUSE, REUSE_ANALYZER, REUSE_SPEC,
};
pub use reason::{ConflictKind, Reason, Refusal};
pub use repeated::{BoilerplateShare, RepeatedPassage};
pub use search::{Goal, Rank, SearchOptions};
pub use service_file::{DEFAULT_PORT, ServiceFile};
pub use shards::{
    DocumentFacts, PassageCounts, QueryTokens, SampledText, ShardAnswers, ShardCandidate,
    ShardCandidates, ShardContaining, ShardFrequencies, ShardHit, ShardSample, ShardSpans,
    ShardStep, ShardWinners, TextExcerpt,
};
pub use similarity::Similarity;
pub use sources::{SourceRanges, SourcedDocument, Sources};
pub use stats::{Bytes, Compaction, Stats};
pub use thresholds::Thresholds;
pub use trace::{ContainingDocuments, CountUnit, SpanCarrier, Trace, TracedSpan};
pub use unseen::UnseenText;
pub use watch::{Watch, WatchEvent, WatchEvents, WatchOptions, WatchedKind, Webhook};
pub use withdraw::{QuotingDocument, RemovalReason, RemovedDocument, WithdrawOptions, Withdrawal};
