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
//! question, has at least `min_share` of the question's own words, in runs that both have:
//!
//! - A token counts as far as it is hard to guess, and the questions that have it share it
//!   (`weights`). "Where is the town of Peru?" is not "Where is the town of Chad?".
//! - When all documents have been read, the corpus shares it too (`carriers`): a quotation that
//!   many documents have without the rest of the question is no leak.
//! - At least [`SHORT`] tokens must occur there; a question with fewer must occur there word for
//!   word.
//!
//! A question that is in a document several times occurs in several places: all are found, none
//! overlap. [`Benchmarks::cut_out`] leaves a text where nothing is found any more.
//!
//! A question shorter than a run identifies nothing, and is named ([`Benchmarks::unusable`]). One
//! of a few tokens that many documents have is a common phrase, which [`CommonWords`] tells.
//!
//! Nothing here reads or writes files.

mod benchmarks;
mod carriers;
mod cutting;
mod finding;
mod labels;
mod stretch;
mod tally;
#[cfg(test)]
mod tests;
mod unescaped;
mod wanted;
mod weights;

pub use benchmarks::{Benchmarks, Question, Scratch, Unusable};
pub use carriers::{CommonWords, WordCarriers};
pub use cento_api::DecontaminateOptions;
pub use finding::{AnswerFinding, Finding};
pub use tally::{BenchmarkCounts, DecontaminationCounts, Evidence, QuestionCounts, Tally};

/// At least this number of tokens of a question must occur in a document. A question of fewer must
/// occur there word for word: with one of seven words changed it is another question.
pub const SHORT: usize = 8;
