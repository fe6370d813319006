//! cento: a persistent on-disk search engine for near-duplicate and reused text.
//!
//! Layers, each knowing only those to its right:
//! `join` -> `search` -> `index` -> `segment` -> `scheme` -> `text`.
//!
//! ```no_run
//! use cento::index::Index;
//! use cento::search::{Query, Searcher};
//!
//! let searcher = Searcher::new(Index::open_for_search("corpus.idx")?.snapshot()?);
//! let text = std::fs::read_to_string("q.txt")?;
//! let query = Query { min_containment: 0.3, passages: true, ..Query::text(text) };
//! for hit in searcher.search(&query)?.hits {
//!     println!("{} {:.3} {:?}", hit.id, hit.containment, hit.passages);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// What decides signatures and answers must not follow the compiler's Unicode version (clippy.toml);
// tests may compare with it.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod automaton;
pub mod budget;
pub mod error;
#[doc(hidden)]
pub mod fault;
pub mod hash;
pub mod index;
pub mod join;
pub mod measure;
mod overlap;
#[doc(hidden)]
pub mod replace;
pub mod scheme;
pub mod search;
pub mod segment;
pub mod spec;
pub mod stop;
pub mod text;

/// As many threads as there are processors for this process; at least 1.
#[doc(hidden)]
pub fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

pub use error::{Corruption, Error, Result};
pub use overlap::{Category, Overlap};
/// The tantivy that cento is built on, for queries that compose with [`search::SimilarTo`].
pub use tantivy;
