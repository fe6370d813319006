//! cento: a persistent on-disk search engine for near-duplicate and reused text.
//!
//! Layers, each knowing only those to its right:
//! `cli` -> `search` -> `index` -> `segment`, `source` -> `scheme` -> `text`.

pub mod cli;
pub mod error;
pub mod hash;
pub mod index;
pub mod scheme;
pub mod search;
pub mod segment;
pub mod source;
pub mod spec;
pub mod text;

pub use error::{Corruption, Error, Result};
/// The tantivy that cento is built on, for queries that compose with [`search::SimilarTo`].
pub use tantivy;
