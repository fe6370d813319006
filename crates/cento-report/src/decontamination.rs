//! A report on the questions of benchmarks in a corpus.

use serde::Serialize;

use cento_collections::decontaminate::{Benchmarks, DecontaminationCounts, QuestionCounts};

use crate::omission::NotCompared;
use crate::run::Run;

/// The questions of benchmarks that occur in a corpus, with evidence.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct DecontaminationReport {
    /// The origin of the numbers.
    pub run: Run,
    /// The counts of corpus and benchmarks.
    #[serde(flatten)]
    pub counts: DecontaminationCounts,
    /// The number of documents where a question occurs.
    pub contaminated_documents: u64,
    /// The minimum share of a question in a document that contaminates it.
    pub min_share: f64,
    /// The strongest evidence of each benchmark.
    pub strongest: Vec<QuestionEntry>,
    /// The questions that only share common words with documents, in descending order of documents.
    pub common_phrases: Vec<QuestionEntry>,
    /// The inputs that were not read, with reasons.
    pub not_compared: Vec<NotCompared>,
}

/// A question with its counts.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct QuestionEntry {
    /// The counts, with the strongest evidence.
    #[serde(flatten)]
    pub counts: QuestionCounts,
    /// The text of the question.
    pub text: String,
    /// The answer, if the benchmark contains an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

/// The number of questions that are shown per benchmark, and of questions with common words.
const SHOWN_MAX: usize = 5;

impl DecontaminationReport {
    /// Chooses the evidence to show: the questions of each benchmark with the greatest shares,
    /// longer questions first among equal shares.
    #[must_use]
    pub fn new(
        run: Run,
        counts: DecontaminationCounts,
        benchmarks: &Benchmarks,
        min_share: f64,
        contaminated_documents: u64,
        not_compared: Vec<NotCompared>,
    ) -> DecontaminationReport {
        let entry = |number: usize| {
            let question = &benchmarks.questions()[number];
            QuestionEntry {
                counts: counts.questions[number].clone(),
                text: question.text.clone(),
                answer: question.answer.clone(),
            }
        };
        let of = |verdict: &'static str| {
            let all = counts.questions.iter().enumerate();
            all.filter(move |(_, question)| question.verdict == verdict)
        };
        let mut strongest = Vec::new();
        for benchmark in &counts.benchmarks {
            let mut own: Vec<usize> = of("contaminated")
                .filter(|(_, question)| question.benchmark == benchmark.benchmark)
                .map(|(number, _)| number)
                .collect();
            own.sort_by(|a, b| {
                let key = |number: &usize| {
                    let question = &counts.questions[*number];
                    let finding = question.evidence.as_ref().map(|evidence| &evidence.finding);
                    (finding.map_or(0.0, |finding| finding.share), question.tokens)
                };
                let ((share_a, tokens_a), (share_b, tokens_b)) = (key(a), key(b));
                share_b.total_cmp(&share_a).then(tokens_b.cmp(&tokens_a))
            });
            strongest.extend(own.into_iter().take(SHOWN_MAX).map(entry));
        }
        let mut common: Vec<usize> = of("common").map(|(number, _)| number).collect();
        common.sort_by_key(|number| {
            std::cmp::Reverse(counts.questions[*number].documents_with_common_words)
        });
        let common_phrases = common.into_iter().take(SHOWN_MAX).map(entry).collect();
        DecontaminationReport {
            run,
            contaminated_documents,
            min_share,
            strongest,
            common_phrases,
            not_compared,
            counts,
        }
    }
}
