//! Decontamination: which questions of benchmarks occur in the documents of a corpus?
//!
//! The questions are few and in memory. The documents are many and pass by once, in any order, on
//! any number of threads. So there is no index. [`Benchmarks`] holds every run of `run` tokens of
//! the questions, looks up each run of a document, and compares tokens where enough of a question
//! comes together. Letter case, white space and line breaks do not count, because the analyzer
//! ignores them. Escapes of JSON and HTML (`unescaped`) and labels of options (`labels`) do not
//! count either.
//!
//! A question *occurs* in a document if a stretch of the document, at most twice as long as the
//! question, has at least `min_share` of the question's own words, in common runs:
//!
//! - A token weighs more the harder it is to guess, and questions with the same token share its
//!   weight (`weights`). "Where is the town of Peru?" is not "Where is the town of Chad?".
//! - When all documents have been read, the documents share tokens too (`carriers`). A quotation
//!   that many documents have without the remaining words of the question is no leak.
//! - At least [`SHORT`] tokens must occur there. A question with fewer tokens must occur word for
//!   word.
//!
//! If a question occurs in several places of a document, all places are found, without overlaps.
//! [`Benchmarks::cut_out`] leaves a text where nothing is found any more.
//!
//! A question shorter than a run identifies no text and is reported ([`Benchmarks::unusable`]). A
//! question of a few tokens in many documents is a common phrase, which [`CommonWords`] recognizes.
//!
//! This module reads and writes no files.

mod benchmarks;
mod carriers;
mod cutting;
mod finding;
mod labels;
mod stretch;
mod surroundings;
mod tally;
#[cfg(test)]
mod tests;
mod unescaped;
mod wanted;
mod weights;

pub use benchmarks::{Benchmarks, Question, Scratch, Unusable};
pub use carriers::{CarriedWords, CarrierCounts, CommonWords, WordCarriers};
pub use cento_api::DecontaminateOptions;
pub use finding::{AnswerFinding, Finding};
pub use tally::{BenchmarkCounts, DecontaminationCounts, Evidence, QuestionCounts, Tally};

/// The minimum number of a question's tokens that must occur in a document. A question with fewer
/// tokens must occur word for word: with one of seven words changed, it is a different question.
pub const SHORT: usize = 8;
