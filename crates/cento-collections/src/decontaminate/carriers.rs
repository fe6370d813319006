//! Finds words of a question that documents have without the remaining question.
//!
//! A question may quote a famous sentence, state an identity, or begin with a license, which
//! documents have from elsewhere. The corpus itself shows this. If a question was copied into
//! documents, every part of the question is in about as many documents. If ten unrelated documents
//! have some words and one document has the remaining words, the ten share the common words and own
//! a tenth each.
//!
//! Documents are unrelated if the words around the place differ (`surroundings`), so copies of a
//! page count once.

use std::collections::HashMap;

use super::DecontaminateOptions;
use super::benchmarks::Benchmarks;
use super::finding::Finding;

/// The words of a question that a document has.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CarriedWords {
    /// The number of the question.
    pub question: usize,
    /// A digest of the words around the places. Related documents have the same digest.
    pub surroundings: u32,
    /// One bit for each token of the question, the lowest bit of the first byte first.
    pub tokens: Vec<u8>,
}

impl CarriedWords {
    /// Returns the words of each question that a document has, from its findings in the order
    /// returned by the search.
    pub fn all<'a>(
        benchmarks: &'a Benchmarks,
        findings: &'a [Finding],
    ) -> impl Iterator<Item = CarriedWords> + 'a {
        let of_question = findings.chunk_by(|a, b| a.question == b.question);
        of_question.map(|of| CarriedWords::of(of, benchmarks.tokens(of[0].question)))
    }

    /// Returns the words at all places of a question of this number of tokens.
    fn of(findings: &[Finding], token_count: usize) -> CarriedWords {
        let mut bits = vec![0; token_count.div_ceil(8)];
        for token in findings.iter().flat_map(|finding| tokens(&finding.matched)) {
            bits[token / 8] |= 1 << (token % 8);
        }
        let surroundings = findings.iter().fold(0u32, |sum, of| sum.wrapping_add(of.surroundings));
        CarriedWords { question: findings[0].question, surroundings, tokens: bits }
    }
}

/// The number of documents with words of one question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CarrierCounts {
    /// The number of these documents, related or not.
    pub documents: u64,
    /// By token, the number of unrelated documents with the token. Empty if no document has any.
    pub carriers: Vec<u32>,
}

/// Counts the documents that have words of questions.
#[derive(Debug, Clone)]
pub struct WordCarriers {
    tokens: Vec<usize>,
    counts: Vec<QuestionCarriers>,
    documents: u64,
}

/// The documents with words of one question.
#[derive(Debug, Clone, Default)]
struct QuestionCarriers {
    counts: CarrierCounts,
    /// By surroundings, the number of the tokens that the related documents have together. A few
    /// sets of tokens are in most documents, so a document costs a number instead of a set.
    related: HashMap<u32, u32>,
    token_sets: Vec<Vec<u8>>,
    number_of: HashMap<Vec<u8>, u32>,
}

impl QuestionCarriers {
    /// Counts a document. Related documents carry a token once, whichever of them has it, so that
    /// their order does not matter.
    fn add(&mut self, words: CarriedWords, token_count: usize) {
        self.counts.documents += 1;
        let known = self.related.get(&words.surroundings);
        let known = known.map_or(&[][..], |set| &self.token_sets[*set as usize]);
        let before = |byte: usize| known.get(byte).copied().unwrap_or_default();
        self.counts.carriers.resize(token_count, 0);
        for (token, carriers) in self.counts.carriers.iter_mut().enumerate() {
            let is_new = (words.tokens[token / 8] & !before(token / 8)) >> (token % 8) & 1;
            *carriers += u32::from(is_new);
        }
        let together: Vec<u8> =
            words.tokens.iter().enumerate().map(|(byte, own)| own | before(byte)).collect();
        let set = *self.number_of.entry(together).or_insert_with_key(|together| {
            self.token_sets.push(together.clone());
            self.token_sets.len() as u32 - 1
        });
        self.related.insert(words.surroundings, set);
    }
}

impl WordCarriers {
    /// Begins with no documents.
    #[must_use]
    pub fn new(benchmarks: &Benchmarks) -> WordCarriers {
        let tokens: Vec<usize> =
            (0..benchmarks.questions().len()).map(|number| benchmarks.tokens(number)).collect();
        let counts = vec![QuestionCarriers::default(); tokens.len()];
        WordCarriers { counts, tokens, documents: 0 }
    }

    /// Counts a document with its findings, in the order returned by the search.
    pub fn add(&mut self, findings: &[Finding]) {
        self.documents += 1;
        for findings in findings.chunk_by(|a, b| a.question == b.question) {
            let question = findings[0].question;
            let words = CarriedWords::of(findings, self.tokens[question]);
            self.counts[question].add(words, self.tokens[question]);
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
        let counts = self.counts.iter().map(|of| of.counts.clone()).collect();
        CommonWords::new(benchmarks, options, self.documents, counts)
    }
}

fn tokens(ranges: &[(u32, u32)]) -> impl Iterator<Item = usize> {
    ranges.iter().flat_map(|&(start, end)| start as usize..end as usize)
}

/// Decides about places of questions, after all documents were counted.
#[derive(Debug)]
pub struct CommonWords<'a> {
    pub(super) benchmarks: &'a Benchmarks,
    /// By question, the documents with its words.
    counts: Vec<CarrierCounts>,
    pub(super) phrases: Vec<bool>,
    min_share: f64,
}

impl<'a> CommonWords<'a> {
    /// Returns the verdict on words of the questions, by the number of documents in a corpus and
    /// the counts of each question. If each process has a part of the corpus, the counts of all
    /// processes can be added up, once related documents ([`CarriedWords`]) are in one process.
    ///
    /// ```
    /// use cento::Stop;
    /// use cento_collections::DecontaminateOptions;
    /// use cento_collections::decontaminate::{
    ///     Benchmarks, CarrierCounts, CommonWords, Question, Scratch,
    /// };
    ///
    /// let options = DecontaminateOptions::default();
    /// let text = "to be or not to be that is the question".to_owned();
    /// let question = Question { text: text.clone(), ..Question::default() };
    /// let benchmarks = Benchmarks::new(vec![question], &options, Stop::NEVER)?;
    /// let finding = &benchmarks.findings(&text, &mut Scratch::default(), Stop::NEVER)?[0];
    /// let counts = |documents| vec![CarrierCounts { documents, carriers: vec![7; 10] }];
    /// assert!(CommonWords::new(&benchmarks, &options, 1000, counts(11)).has(finding));
    /// assert!(!CommonWords::new(&benchmarks, &options, 1000, counts(10)).has(finding));
    /// # Ok::<(), cento::Error>(())
    /// ```
    ///
    /// # Panics
    /// When the counts are not as many as the questions.
    #[must_use]
    pub fn new(
        benchmarks: &'a Benchmarks,
        options: &DecontaminateOptions,
        documents: u64,
        counts: Vec<CarrierCounts>,
    ) -> CommonWords<'a> {
        assert_eq!(counts.len(), benchmarks.questions().len(), "each question has its counts");
        let most = options.common_of(documents);
        let is_phrase = |(question, of): (usize, &CarrierCounts)| {
            let is_short =
                benchmarks.tokens(question) <= DecontaminateOptions::COMMON_TOKENS_MAX as usize;
            is_short && of.documents > most
        };
        let phrases = counts.iter().enumerate().map(is_phrase).collect();
        CommonWords { benchmarks, counts, phrases, min_share: options.min_share }
    }

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
        let mut others = self.counts[question].carriers.clone();
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
        let of_tokens = &self.counts[finding.question].carriers;
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
    fn documents_that_quote_more_of_a_speech_than_the_question_are_unrelated() {
        // The words next to the place are the same in all documents.
        let speech = format!("{} {SENTENCE} {}", words(1), words(2));
        let article = |number: usize| (0..6).map(|part| words(100 * number + part)).collect();
        let articles: Vec<String> = (1..40).map(article).collect();
        let quoting: Vec<String> = articles
            .iter()
            .map(|article: &String| format!("{article}{speech} {article}"))
            .collect();
        let (found, counts) = verdicts(&[whole()], &quoting);
        assert_eq!(found, vec![Some((true, 39)); 39]);
        assert_eq!(counts.questions[0].verdict, "common");
        // Copies of an article with other first lines count as a few carriers, not as 39.
        let copies: Vec<String> =
            (0..39).map(|at| format!("{}{}", words(5000 + at), quoting[7])).collect();
        let (found, _) = verdicts(&[whole()], &copies);
        assert!(found.iter().all(|found| found.is_some_and(|(_, carriers)| carriers < 9)));
    }

    #[test]
    fn the_order_of_copies_that_have_other_words_does_not_matter() {
        // The first copy of a page once decided which words all of its copies have: here the whole
        // question or a part of it, each five times within the same words.
        let copies = (0..10).map(|at| match at % 2 {
            0 => format!("{} {SENTENCE} {}", words(at / 2), words(90 + at / 2)),
            _ => format!("{} {} {}", words(at / 2), whole(), words(90 + at / 2)),
        });
        let documents: Vec<String> = copies.collect();
        let reversed: Vec<String> = documents.iter().rev().cloned().collect();
        let (forward, _) = verdicts(&[whole()], &documents);
        let (mut backward, _) = verdicts(&[whole()], &reversed);
        backward.reverse();
        assert_eq!(backward, forward);
        let (is_common, carriers) = forward[0].unwrap();
        assert_eq!((is_common, carriers), (false, 5));
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
