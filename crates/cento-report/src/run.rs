//! What is a report of, and how was it made?

use std::collections::BTreeMap;

use cento::Analyzer;
use serde::Serialize;

/// How the numbers of a report came about: its foot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Run {
    /// The title; a default if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What was done, such as `search`.
    pub action: String,
    /// The options that decide what is found, by name.
    pub parameters: BTreeMap<String, String>,
    /// The index that was searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<IndexState>,
    /// Whether the documents are programs, which are shown line by line.
    #[serde(skip)]
    pub is_code: bool,
    /// When it was made, as the reader is to see it; the caller knows the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The version of cento.
    pub version: &'static str,
}

/// The state of an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IndexState {
    /// Where it is: a directory, or the address of a service.
    pub place: String,
    /// The number of its commit, in decimal digits: many readers of JSON round large numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<String>,
    /// The number of its documents.
    pub documents: u64,
}

impl Run {
    /// Begins with what was done.
    #[must_use]
    pub fn new(action: impl Into<String>) -> Run {
        Run { action: action.into(), version: env!("CARGO_PKG_VERSION"), ..Run::default() }
    }

    /// Notes how documents were analyzed, which decides how they are shown.
    #[must_use]
    pub fn analyzed_by(self, analyzer: &Analyzer) -> Run {
        Run { is_code: analyzer.spec().name() == "code", ..self }
    }

    /// Adds an option.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl ToString) -> Run {
        self.parameters.insert(name.into(), value.to_string());
        self
    }
}
