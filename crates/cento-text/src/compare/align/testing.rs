//! Texts for the tests of alignments.

use crate::runtime::Stop;
use crate::text::{AnalyzedText, Analyzer};

/// Analyzes a text by the default analyzer.
pub fn analyzed(text: impl Into<String>) -> AnalyzedText {
    AnalyzedText::new(text.into(), &Analyzer::default(), Stop::NEVER).unwrap()
}
