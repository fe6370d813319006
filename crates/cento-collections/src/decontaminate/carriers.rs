//! Finds words of a question that documents have without the remaining question.
//!
//! A question may quote a famous sentence, state an identity, or begin with a license, which
//! documents have from elsewhere. The corpus itself shows this. If a question was copied into
//! documents, every part of the question is in about as many documents. If ten unrelated documents
//! have some words and one document has the remaining words, the ten share the common words and own
//! a tenth each.
//!
//! Documents are unrelated if the words around the place differ, so copies of a page count once.

use std::collections::HashSet;

use super::DecontaminateOptions;
use super::benchmarks::Benchmarks;
use super::finding::Finding;

/// Counts the documents that have words of questions.
#[derive(Debug, Clone)]
pub struct WordCarriers {
    tokens: Vec<usize>,
    counts: Vec<CarrierCount>,
    documents: u64,
}

/// The documents with words of one question.
#[derive(Debug, Clone, Default)]
struct CarrierCount {
    /// The number of these documents, related or not.
    documents: u64,
    /// By token, the number of unrelated documents with the token.
    carriers: Vec<u32>,
    /// The surroundings seen so far, to recognize related documents.
    surroundings: HashSet<u32>,
}

impl WordCarriers {
    /// Begins with no documents.
    #[must_use]
    pub fn new(benchmarks: &Benchmarks) -> WordCarriers {
        let tokens: Vec<usize> =
            (0..benchmarks.questions().len()).map(|number| benchmarks.tokens(number)).collect();
        WordCarriers { counts: vec![CarrierCount::default(); tokens.len()], tokens, documents: 0 }
    }

    /// Counts a document with its findings, in the order returned by the search.
    pub fn add(&mut self, findings: &[Finding]) {
        self.documents += 1;
        for findings in findings.chunk_by(|a, b| a.question == b.question) {
            let question = findings[0].question;
            let (count, tokens) = (&mut self.counts[question], self.tokens[question]);
            count.documents += 1;
            let beside = findings.iter().fold(0u32, |sum, of| sum.wrapping_add(of.surroundings));
            if !count.surroundings.insert(beside) {
                continue;
            }
            count.carriers.resize(tokens, 0);
            let mut is_there = vec![false; tokens];
            for &(start, end) in findings.iter().flat_map(|finding| &finding.matched) {
                is_there[start as usize..end as usize].fill(true);
            }
            let carriers = count.carriers.iter_mut().zip(is_there);
            carriers.for_each(|(carriers, is_there)| *carriers += u32::from(is_there));
        }
    }

    /// Returns the number of documents so far.
    #[must_use]
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Returns the verdict on words of the questions, according to the documents so far.
    #[must_use]
    pub fn common<'a>(
        &self,
        benchmarks: &'a Benchmarks,
        options: &DecontaminateOptions,
    ) -> CommonWords<'a> {
        let most = options.common_of(self.documents);
        let is_phrase = |(tokens, count): (&usize, &CarrierCount)| {
            *tokens <= DecontaminateOptions::COMMON_TOKENS_MAX as usize && count.documents > most
        };
        CommonWords {
            benchmarks,
            carriers: self.counts.iter().map(|count| count.carriers.clone()).collect(),
            phrases: self.tokens.iter().zip(&self.counts).map(is_phrase).collect(),
            min_share: options.min_share,
        }
    }
}

fn tokens(ranges: &[(u32, u32)]) -> impl Iterator<Item = usize> {
    ranges.iter().flat_map(|&(start, end)| start as usize..end as usize)
}

/// Decides about places of questions, after all documents were counted.
#[derive(Debug)]
pub struct CommonWords<'a> {
    pub(super) benchmarks: &'a Benchmarks,
    /// By question and token, the number of unrelated documents that have the token.
    carriers: Vec<Vec<u32>>,
    pub(super) phrases: Vec<bool>,
    min_share: f64,
}

impl CommonWords<'_> {
    /// Tells whether the words at a place are common, because documents have them without the
    /// remaining question or because the question is a common phrase.
    #[must_use]
    pub fn has(&self, finding: &Finding) -> bool {
        self.has_tokens(finding.question, &finding.matched)
    }

    pub(super) fn has_tokens(&self, question: usize, matched: &[(u32, u32)]) -> bool {
        self.phrases[question] || self.own_share_of(question, matched) < self.min_share
    }

    /// Returns the share of the question's own words at a place, by the counts of all documents.
    #[must_use]
    pub fn own_share(&self, finding: &Finding) -> f64 {
        self.own_share_of(finding.question, &finding.matched)
    }

    fn own_share_of(&self, question: usize, matched: &[(u32, u32)]) -> f64 {
        let weights = self.benchmarks.weights(question);
        let mut others = self.carriers[question].clone();
        others.resize(weights.len(), 0);
        let mut is_matched = vec![false; weights.len()];
        for token in tokens(matched) {
            // The document with the finding does not count as another document.
            others[token] = others[token].saturating_sub(1);
            is_matched[token] = true;
        }
        // Documents with every token may have the whole question, so their number is subtracted.
        let whole = others.iter().copied().min().unwrap_or_default();
        let (mut own, mut all) = (0.0, 0.0);
        for ((weight, others), is_matched) in weights.iter().zip(others).zip(is_matched) {
            let weight = f64::from(*weight) / f64::from(1 + others - whole);
            all += weight;
            own += if is_matched { weight } else { 0.0 };
        }
        own / all
    }

    /// Returns the number of unrelated documents that have the words at a place, or more than half
    /// of them.
    #[must_use]
    pub fn carriers(&self, finding: &Finding) -> u64 {
        let of_tokens = &self.carriers[finding.question];
        let mut carriers: Vec<u32> = tokens(&finding.matched)
            .map(|token| of_tokens.get(token).copied().unwrap_or_default())
            .collect();
        carriers.sort_unstable();
        carriers.get(carriers.len().saturating_sub(1) / 2).copied().unwrap_or_default().into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DecontaminateOptions, DecontaminationCounts, Question, Scratch, Tally};
    use super::*;
    use cento_text::runtime::Stop;

    const SENTENCE: &str = "in the year of the long winter the captain said that no harbour is \
                            safe for those who never learned to leave it";
    const FRAME: [&str; 2] = ["who wrote this well known sentence", "give the name of its author"];

    /// Returns words that no other number has.
    fn words(number: usize) -> String {
        (0..30).map(|at| format!("w{number}x{at} ")).collect()
    }

    fn whole() -> String {
        format!("{} {SENTENCE} {}", FRAME[0], FRAME[1])
    }

    /// Returns the verdict on the place in each document with its carriers, and the counts.
    fn verdicts(
        questions: &[String],
        documents: &[String],
    ) -> (Vec<Option<(bool, u64)>>, DecontaminationCounts) {
        let options = DecontaminateOptions::default();
        let questions =
            questions.iter().map(|text| Question { text: text.clone(), ..Question::default() });
        let benchmarks = Benchmarks::new(questions.collect(), &options, Stop::NEVER).unwrap();
        let mut tally = Tally::new(&benchmarks);
        let mut all = Vec::new();
        for (number, text) in documents.iter().enumerate() {
            let found = benchmarks.findings(text, &mut Scratch::default(), Stop::NEVER).unwrap();
            tally.add(&number.to_string(), text, &found);
            all.push(found);
        }
        let common = tally.common(&benchmarks, &options);
        let verdict = |finding: &Finding| (common.has(finding), common.carriers(finding));
        let verdicts = all.iter().map(|found| found.first().map(verdict)).collect();
        (verdicts, tally.finish(&common, &options))
    }

    fn with(texts: impl IntoIterator<Item = String>) -> Vec<String> {
        let around = |(at, text)| format!("{}{text} {}", words(2 * at), words(2 * at + 1));
        texts.into_iter().enumerate().map(around).collect()
    }

    #[test]
    fn a_famous_sentence_that_documents_have_without_the_question_is_no_leak() {
        for carriers in [4, 10, 100] {
            let documents = with([whole()].into_iter().chain(vec![SENTENCE.into(); carriers]));
            let (verdicts, counts) = verdicts(&[whole()], &documents);
            let expected = carriers as u64 + 1;
            assert_eq!(verdicts[0], Some((false, expected)));
            assert_eq!(verdicts[1..], vec![Some((true, expected)); carriers]);
            let question = &counts.questions[0];
            assert_eq!(
                (question.documents, question.documents_with_common_words),
                (1, carriers as u64)
            );
            // Without the leak, documents only quote from the question.
            let (_, counts) = self::verdicts(&[whole()], &documents[1..]);
            assert_eq!((counts.questions[0].verdict, counts.benchmarks[0].common), ("common", 1));
            assert_eq!(counts.benchmarks[0].contaminated, 0);
        }
    }

    #[test]
    fn half_a_question_that_no_other_document_has_is_a_leak() {
        let question = [words(900)];
        let half = question[0].split_at(question[0].len() / 2);
        let (found, _) = verdicts(&question, &with([half.0.into()]));
        assert_eq!(found, [Some((false, 1))]);
        let (found, _) = verdicts(&question, &with([half.1.into()]));
        assert_eq!(found, [Some((false, 1))]);
    }

    #[test]
    fn copies_of_one_page_are_one_carrier() {
        let page = format!("{} {SENTENCE} {}", words(1), words(2));
        let pages: Vec<String> = (10..40).map(|at| format!("{}{page}", words(at))).collect();
        let (found, _) = verdicts(&[whole()], &pages);
        assert_eq!(found, vec![Some((false, 1)); 30]);
    }

    #[test]
    fn any_number_of_leaks_of_the_whole_question_stay_leaks() {
        let texts = (0..100).map(|at| match at % 5 {
            0 => SENTENCE.into(),
            1 => whole().replace("captain", "captian"),
            2 => whole().replace("author", "auhtor"),
            _ => whole(),
        });
        let (found, counts) = verdicts(&[whole()], &with(texts));
        assert_eq!(found.iter().flatten().filter(|(is_common, _)| !is_common).count(), 80);
        assert_eq!(counts.questions[0].documents, 80);
    }

    #[test]
    fn what_several_questions_have_is_not_own() {
        let identity = "one plus two times three equals three plus four divided by two minus zero";
        let questions: Vec<String> =
            (0..3).map(|at| format!("{identity} {}", &words(100 + at)[..60])).collect();
        let documents = with([identity.to_owned(), questions[1].clone()]);
        let (found, counts) = verdicts(&questions, &documents);
        assert_eq!(found, [None, Some((false, 1))]);
        let verdicts: Vec<_> = counts.questions.iter().map(|question| question.verdict).collect();
        assert_eq!(verdicts, ["clean", "contaminated", "clean"]);
    }

    #[test]
    fn the_order_of_the_documents_does_not_matter() {
        let mut texts = vec![SENTENCE.to_owned(); 9];
        texts.extend([whole(), format!("{} {SENTENCE}", FRAME[0])]);
        let documents = with(texts);
        let reversed: Vec<String> = documents.iter().rev().cloned().collect();
        let (mut backward, counts) = verdicts(&[whole()], &reversed);
        let (forward, other) = verdicts(&[whole()], &documents);
        backward.reverse();
        assert_eq!(backward, forward);
        assert_eq!(counts.benchmarks[0].contaminated, other.benchmarks[0].contaminated);
    }
}
