//! Decontamination: which questions of benchmarks occur in the documents of a corpus?
//!
//! The questions are few and in memory; the documents are many and pass by once, in any order, on
//! any number of threads. So there is no index: [`Benchmarks`] holds every run of `run` tokens of
//! the questions, looks up each run of a document, and compares the tokens where enough of a
//! question comes together. Letter case, white space and line breaks do not count, because the
//! analyzer does not see them. Neither do escapes of JSON and HTML (`unescaped`), and labels before
//! options in the document (`labels`).
//!
//! A question *occurs* in a document if a stretch of the document, at most twice as long as the
//! question, has at least `min_share` of its tokens in runs that both have. A reader of both texts
//! must call it the question, so two cases need more:
//!
//! - A run that many questions have, such as "which of the following is", is boilerplate of the
//!   benchmarks. The other tokens are the question's *own*: the stretch must have that share of
//!   these too. "Where is the town of Peru?" is not "Where is the town of Chad?".
//! - At least [`SHORT`] tokens must occur there; a question with fewer must occur there word for
//!   word.
//!
//! A question that is in a document several times occurs in several places: all are found, none
//! overlap. [`Benchmarks::cut_out`] leaves a text where nothing is found any more.
//!
//! A question shorter than a run identifies nothing, and is named ([`Benchmarks::unusable`]). One
//! of a few tokens that many documents have is a common phrase, which the [`Tally`] tells.
//!
//! Nothing here reads or writes files.

mod benchmarks;
mod cutting;
mod finding;
mod labels;
mod stretch;
mod tally;
#[cfg(test)]
mod tests;
mod unescaped;
mod wanted;

pub use benchmarks::{Benchmarks, Question, Scratch, Unusable};
pub use cento_api::DecontaminateOptions;
pub use finding::{AnswerFinding, Finding};
pub use tally::{BenchmarkCounts, DecontaminationCounts, Evidence, QuestionCounts, Tally};

/// At least this number of tokens of a question must occur in a document. A question of fewer must
/// occur there word for word: with one of seven words changed it is another question.
pub const SHORT: usize = 8;

/// A run of this number of questions with different texts, or of more, is boilerplate of the
/// benchmarks.
pub const BOILERPLATE_QUESTIONS: usize = 10;
