//! How much text do query and hit really share?
//!
//! Fingerprints are a sample; with both texts at hand all runs of words can be compared.

use serde::Serialize;

use super::Query;
use super::compare::{Signed, shares};
use crate::error::Result;
use crate::index::Config;

/// The scheme that takes every run of five words.
pub const VERIFYING_SCHEME: &str = "kgram(k=5)";

/// The measures of a hit over all runs of five words of both texts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Verified {
    /// C(Q,D).
    pub containment: f64,
    /// C(D,Q).
    pub containment_in_query: f64,
    /// Resemblance.
    pub resemblance: f64,
}

impl Verified {
    /// Whether these measures meet the query's thresholds.
    pub fn meets(&self, query: &Query) -> bool {
        self.containment >= query.min_containment && self.resemblance >= query.min_resemblance
    }
}

/// Compares one text with others.
pub struct Verifier {
    config: Config,
    query: Signed,
}

impl Verifier {
    /// Of the text `query`, which is analysed as `config` says.
    ///
    /// # Errors
    /// When the text is too large to be analysed.
    pub fn new(config: &Config, query: &str) -> Result<Verifier> {
        let config = Config::new(VERIFYING_SCHEME, &config.analyzer.to_string(), false)?;
        let query = Signed::new(&config, query)?;
        Ok(Verifier { config, query })
    }

    /// The measures of a document with this text.
    ///
    /// # Errors
    /// When the text is too large to be analysed.
    pub fn verify(&self, text: &str) -> Result<Verified> {
        let document = Signed::new(&self.config, text)?;
        let (_, [containment, containment_in_query, resemblance]) =
            shares(&self.query.keys, &document.keys);
        Ok(Verified { containment, containment_in_query, resemblance })
    }
}
