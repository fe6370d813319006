//! The sets of texts for measuring rules. A set gives a figure between 0 and 1.
//!
//! Some sets have labels from outside (PAN, judged programs, answers of known sources). The labels
//! of the remaining sets follow from the construction: planted sentences, tables with equal or
//! different values.

mod made;
mod prose;
mod source;

use std::path::Path;

use cento::Stop;
use cento::compare::align::{AlignedPassage, Genre, Side, align};
use cento::text::{Analyzer, Tokens};

use crate::Result;

/// A set of texts, with the meaning of its figure.
pub struct Set {
    /// The name in the head of the table.
    pub name: &'static str,
    /// Whether rules were chosen on it, in whole or in part.
    pub chose_rules: bool,
    /// The meaning of the figure.
    pub figure: &'static str,
    /// Computes the figure from the corpora in a directory.
    pub measure: fn(&Path) -> Result<f64>,
}

/// All sets, in the order of the table.
pub const SETS: [Set; 20] = [
    Set {
        name: "PAN",
        chose_rules: true,
        figure: "plagdet, PAN 2013 training",
        measure: prose::pan,
    },
    Set {
        name: "long",
        chose_rules: false,
        figure: "plagdet, PAN, where the source is one of twelve in a longer document",
        measure: prose::among,
    },
    Set {
        name: "unrelated",
        chose_rules: true,
        figure: "share of pairs of PAN documents drawn at random without a passage",
        measure: prose::unrelated,
    },
    Set {
        name: "answers",
        chose_rules: true,
        figure: "AUC of short answers and the article they were cut from, Clough and Stevenson",
        measure: prose::answers,
    },
    Set {
        name: "OCR",
        chose_rules: true,
        figure: "F1 of words in passages of OCR pages, beside other pages",
        measure: prose::recognized,
    },
    Set {
        name: "joined",
        chose_rules: true,
        figure: "F1 of words in passages where spaces are lost, or between all letters",
        measure: made::joined,
    },
    Set {
        name: "tables",
        chose_rules: true,
        figure: "F1 of words in tables of equal values, beside tables of other values",
        measure: made::tables,
    },
    Set {
        name: "paraphrases",
        chose_rules: false,
        figure: "F1 of words of rewritten sentences among others",
        measure: prose::paraphrases,
    },
    Set {
        name: "planted",
        chose_rules: false,
        figure: "F1 of words of planted passages of articles, 0 to 20 % of the words changed",
        measure: made::planted,
    },
    Set {
        name: "repeated",
        chose_rules: false,
        figure: "F1 of words of planted lines of texts that repeat themselves",
        measure: made::repeated,
    },
    Set {
        name: "languages",
        chose_rules: false,
        figure: "F1 of words of planted articles in German, Russian, Hindi, Chinese, Japanese, Thai",
        measure: made::languages,
    },
    Set {
        name: "matched",
        chose_rules: false,
        figure: "F1 of unchanged words of planted passages among the matched ones",
        measure: made::matched,
    },
    Set {
        name: "revisions",
        chose_rules: false,
        figure: "F1 of words in runs of five that revisions of a document have in common",
        measure: prose::revisions,
    },
    Set {
        name: "topics",
        chose_rules: false,
        figure: "share of pairs of documents of one project without a passage of other words",
        measure: prose::topics,
    },
    Set {
        name: "pages",
        chose_rules: false,
        figure: "F1 of words of the article in a web page, beside other articles",
        measure: prose::pages,
    },
    Set {
        name: "quotations",
        chose_rules: false,
        figure: "AUC of sentences and the verses that they quote",
        measure: prose::quotations,
    },
    Set {
        name: "IR-Plag",
        chose_rules: true,
        figure: "AUC of copies of programs, beside independent programs",
        measure: source::irplag,
    },
    Set {
        name: "contests",
        chose_rules: false,
        figure: "AUC of judged pairs of programs of contests",
        measure: source::contests,
    },
    Set {
        name: "progpedia",
        chose_rules: false,
        figure: "AUC of judged pairs of submissions of one task",
        measure: source::submissions,
    },
    Set {
        name: "constants",
        chose_rules: false,
        figure: "F1 of tokens of programs with tables of equal values, beside other values",
        measure: source::constants,
    },
];

/// A text with its tokens.
pub struct Text {
    text: String,
    tokens: Tokens,
}

impl Text {
    /// Analyzes a text into tokens.
    pub fn new(text: impl Into<String>, analyzer: &Analyzer) -> Result<Text> {
        let (text, mut tokens) = (text.into(), Tokens::default());
        analyzer.analyze(&text, &mut tokens, Stop::NEVER)?;
        Ok(Text { text, tokens })
    }

    fn side(&self) -> Side<'_> {
        Side { text: &self.text, tokens: &self.tokens, parts: &[] }
    }

    fn len(&self) -> usize {
        self.tokens.hashes.len()
    }

    /// Returns the passages in common with `other`.
    fn passages(&self, other: &Text, genre: Genre) -> Result<Vec<AlignedPassage>> {
        Ok(align(self.side(), other.side(), genre, Stop::NEVER)?.passages)
    }

    /// Returns for every token whether a passage with `other` contains the token.
    fn marked(&self, other: &Text, genre: Genre) -> Result<Vec<bool>> {
        let mut marked = vec![false; self.len()];
        for passage in self.passages(other, genre)? {
            marked[passage.query].fill(true);
        }
        Ok(marked)
    }

    /// Returns the share of the shorter text that is matched in the longer text.
    fn matched_share(&self, other: &Text, genre: Genre) -> Result<f64> {
        let mut matched = vec![false; self.len()];
        for passage in self.passages(other, genre)? {
            passage.matched.into_iter().for_each(|range| matched[range].fill(true));
        }
        let matched = matched.iter().filter(|&&is_matched| is_matched).count();
        Ok(matched as f64 / self.len().min(other.len()).max(1) as f64)
    }
}

/// Counts of marked words and of words to mark.
#[derive(Default)]
pub struct Counts {
    right: u64,
    wrong: u64,
    missed: u64,
}

impl Counts {
    /// Adds the words of a text; words without a label do not count.
    fn add(&mut self, marked: &[bool], expected: impl IntoIterator<Item = Option<bool>>) {
        for (marked, expected) in marked.iter().zip(expected) {
            match (marked, expected) {
                (true, Some(true)) => self.right += 1,
                (true, Some(false)) => self.wrong += 1,
                (false, Some(true)) => self.missed += 1,
                _ => {}
            }
        }
    }

    fn f1(&self) -> f64 {
        2.0 * self.right as f64 / (2 * self.right + self.wrong + self.missed).max(1) as f64
    }
}

/// Returns the probability that a copy scores more than an unrelated pair. Equal scores count half.
fn auc(scored: &[(f64, bool)]) -> f64 {
    let of = |is_copy: bool| {
        let of = scored.iter().filter(move |(_, copy)| *copy == is_copy);
        let mut of: Vec<f64> = of.map(|(score, _)| *score).collect();
        of.sort_unstable_by(f64::total_cmp);
        of
    };
    let (copies, others) = (of(true), of(false));
    let below = |score: f64| {
        let less = others.partition_point(|&other| other < score);
        let same = others.partition_point(|&other| other <= score) - less;
        less as f64 + same as f64 / 2.0
    };
    let sum: f64 = copies.iter().map(|&score| below(score)).sum();
    sum / (copies.len() * others.len()).max(1) as f64
}
