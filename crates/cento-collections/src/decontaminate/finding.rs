//! Findings: questions that occur in documents.

use serde::{Deserialize, Serialize};

/// A place of a document where a question occurs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Finding {
    /// The number of the question, in the original order of the questions.
    pub question: usize,
    /// The share of the question's tokens that occur there, 0 to 1.
    pub share: f64,
    /// The share of the question's own words, 0 to 1. The weight of a token is how hard it is to
    /// guess, divided by the number of questions that have the token.
    pub own_share: f64,
    /// The number of the question's tokens that occur there.
    pub tokens: u32,
    /// The bytes of the document, half-open.
    pub bytes: (u32, u32),
    /// The page on which the place begins, if the document has pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// The line on which the place begins, if the document has several lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Whether the answer follows, if the question has a distinctive answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerFinding>,
    /// The tokens of the question that occur there, as ascending ranges that do not touch.
    pub matched: Vec<(u32, u32)>,
    /// A digest of the words around the place, near and far. Copies of a page have the same
    /// digest.
    pub surroundings: u32,
    /// The bytes of the document in common runs.
    #[serde(skip)]
    pub of_document: Vec<(u32, u32)>,
    /// The bytes of the question in common runs.
    pub of_question: Vec<(u32, u32)>,
}

/// Whether the answer follows the question in the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AnswerFinding {
    /// Whether the answer was found.
    pub found: bool,
    /// The bytes of the answer in the document, half-open, if found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<(u32, u32)>,
}

impl Finding {
    /// Moves the places in the document, for a text that was changed before the search.
    pub(super) fn move_to(&mut self, place: impl Fn((u32, u32)) -> (u32, u32)) {
        self.bytes = place(self.bytes);
        self.of_document.iter_mut().for_each(|range| *range = place(*range));
        if let Some(bytes) = self.answer.as_mut().and_then(|answer| answer.bytes.as_mut()) {
            *bytes = place(*bytes);
        }
    }

    /// Returns the strength of the evidence. Greater is stronger.
    pub(super) fn strength(&self) -> (f64, bool) {
        (self.share, self.has_answer())
    }

    /// Tells whether the answer follows the question.
    #[must_use]
    pub fn has_answer(&self) -> bool {
        self.answer.is_some_and(|answer| answer.found)
    }
}
