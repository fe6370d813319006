//! Search: finds stored documents that share text with a document.
//!
//! The input is a document, the output is hits. Measures follow Broder's terms: containment C(Q,D)
//! is the share of the query's distinct fingerprints that the document has. Resemblance is the
//! number of shared fingerprints as a share of the fingerprints of both documents together.
//!
//! A query passes through these files, in this order:
//!
//! 1. `pipeline`: [`Searcher::search`] calls the stages one after another and makes the answer.
//! 2. `query_signature`: signs the text, or reads the signature of the stored document.
//! 3. `retrieve`: `candidates` looks up the fingerprints in every segment, excludes fingerprints
//!    with a high document frequency, and counts. By weight, `best_by_weight` keeps the documents
//!    that may be among the best. Within a budget the best are counted again. `pruning` determines
//!    how many of the best may be kept already.
//! 4. `meeting`: applies the thresholds to counts (`score`), then to texts (`similar`).
//! 5. By goal: `hits` takes the best, `trace` the documents that the parts of the query come from,
//!    and `best_passage` the single passage most like the query.
//! 6. `examine`: compares texts (`evidence`) for measures and passages, and `hit_details` makes the
//!    hits.

mod among;
mod best;
mod best_by_weight;
mod best_passage;
mod boilerplate;
#[cfg(test)]
mod brute_force;
mod candidate;
mod candidates;
mod chance;
mod containing;
mod cost;
mod cover;
mod estimates;
mod evidence;
mod examine;
mod extent;
mod filter;
mod fingerprints;
mod foreign_signature;
mod frequencies;
mod hit_details;
mod hits;
mod listing;
mod meeting;
pub mod memory;
mod neighbors;
mod outcome;
mod patience;
mod pipeline;
mod pruning;
mod query;
mod query_signature;
mod removal;
mod repeated;
mod retrieve;
mod run_sets;
mod sample;
mod score;
mod searcher;
mod shard_caches;
mod shards;
mod shared;
mod similar;
mod similar_to;
mod stopped;
mod ties;
mod trace;
mod tuning;
mod verify;
mod weigh;

pub use crate::index::MaxDf;
pub use boilerplate::Boilerplate;
pub use cento_api::{
    Answer, BoilerplateShare, CandidateTexts, ContainingDocuments, CountUnit, Goal, Hit, QueryInfo,
    Rank, RepeatedPassage, SearchOptions, ShardAnswers, ShardCandidate, ShardCandidates,
    ShardFrequencies, ShardHit, ShardSample, ShardSpans, ShardStep, ShardWinners, SpanCarrier,
    Stopped, Thresholds, Trace, TracedSpan, Verified, WeightedSimilarity,
};
pub use chance::Chance;
pub use cost::Cost;
pub use estimates::Estimates;
pub use filter::reads_texts;
pub use foreign_signature::ForeignSignature;
pub use memory::QueryMemory;
pub use memory::StoredMemory;
pub use neighbors::{Neighbor, NeighborLimits, Texts};
pub use query::{Query, Subject};
pub use repeated::RepeatedPassages;
pub use run_sets::{RunMaker, StoredRuns, kept_runs};
pub use searcher::Searcher;
pub use shards::{add_up_frequencies, next_step};
pub use similar_to::SimilarTo;
pub use stopped::StopCounts;
pub use weigh::{Weigh, WeightedOverlap, least_weight};
