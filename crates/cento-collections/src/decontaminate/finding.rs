//! A question that occurs in a document.

use serde::{Deserialize, Serialize};

/// A question that occurs in a document, and where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Finding {
    /// The number of the question, in the order of the questions as given.
    pub question: usize,
    /// The share of the tokens of the question that occur there.
    pub share: f64,
    /// The share of the question's own words: each token counts as far as it is hard to guess,
    /// divided by the number of questions that have it.
    pub own_share: f64,
    /// The number of tokens of the question that occur there.
    pub tokens: u32,
    /// The bytes of the document, half-open.
    pub bytes: (u32, u32),
    /// The page on which they begin, if the document has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// The line on which they begin, if the document has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The answer, if the question has one that other words are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerFinding>,
    /// The tokens of the question that occur there: ascending ranges that do not touch.
    pub matched: Vec<(u32, u32)>,
    /// A digest of the words beside the place: copies of one page have the same ones.
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
    /// Whether it does.
    pub found: bool,
    /// The bytes of the document, half-open, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<(u32, u32)>,
}

impl Finding {
    /// Moves its places in the document.
    pub(super) fn move_to(&mut self, place: impl Fn((u32, u32)) -> (u32, u32)) {
        self.bytes = place(self.bytes);
        self.of_document.iter_mut().for_each(|range| *range = place(*range));
        if let Some(bytes) = self.answer.as_mut().and_then(|answer| answer.bytes.as_mut()) {
            *bytes = place(*bytes);
        }
    }

    /// Returns how strong the evidence is, more for stronger.
    pub(super) fn strength(&self) -> (f64, bool) {
        (self.share, self.has_answer())
    }

    /// Tells whether the answer follows the question.
    #[must_use]
    pub fn has_answer(&self) -> bool {
        self.answer.is_some_and(|answer| answer.found)
    }
}
