//! Code that the tools and the research share: running the command, making corpora, measuring.

pub mod cento;
pub mod corpus;
pub mod measure;
pub mod readme;

/// The outcome of a tool, with any error.
pub type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;
