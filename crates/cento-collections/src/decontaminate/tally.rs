//! Counts what a run over a corpus finds.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::DecontaminateOptions;
use super::benchmarks::Benchmarks;
use super::carriers::{CommonWords, WordCarriers};
use super::finding::Finding;
use cento_text::hash::Digest;
use cento_text::text::is_white_space;

/// Counts the documents where each question occurs, and keeps the strongest evidence.
#[derive(Debug, Clone)]
pub struct Tally {
    digest: Digest,
    carriers: WordCarriers,
    counts: Vec<QuestionCount>,
}

/// The documents with tokens of one question.
#[derive(Debug, Clone, Default)]
struct QuestionCount {
    /// Documents by the tokens of the question in every place.
    groups: BTreeMap<Vec<Matched>, TokenGroup>,
}

/// Tokens of a question, as ascending ranges.
type Matched = Vec<(u32, u32)>;

/// Documents that have the same tokens of a question.
#[derive(Debug, Clone, Default)]
struct TokenGroup {
    documents: u64,
    with_answer: u64,
    best: Option<Evidence>,
}

impl TokenGroup {
    fn add(&mut self, other: &TokenGroup) {
        self.documents += other.documents;
        self.with_answer += other.with_answer;
        let strength = |group: &TokenGroup| group.best.as_ref().map(|best| best.finding.strength());
        // Among equals, the first in the corpus.
        let key = |group: &TokenGroup| {
            (strength(group), group.best.as_ref().map(|best| Reverse(best.number)))
        };
        if key(other) > key(self) {
            self.best.clone_from(&other.best);
        }
    }
}

/// The strongest evidence that a question occurs in the corpus.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Evidence {
    /// The id of the document.
    pub document: String,
    /// The number of the document in the corpus.
    #[serde(skip)]
    number: u64,
    /// The place where the question occurs.
    #[serde(flatten)]
    pub finding: Finding,
    /// The text of the document around the place.
    pub excerpt: String,
    /// The byte of the document where the excerpt begins.
    #[serde(skip)]
    pub excerpt_start: u32,
}

/// The counts of a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct QuestionCounts {
    /// The name of the benchmark.
    pub benchmark: String,
    /// The id of the question.
    pub id: String,
    /// The number of tokens, 0 if the question is not searched for.
    pub tokens: usize,
    /// The verdict: `clean`, `contaminated`, `common`, `too_short` or `empty`.
    pub verdict: &'static str,
    /// The number of documents where the question occurs.
    pub documents: u64,
    /// The number of further documents, which have only common words of the question.
    pub documents_with_common_words: u64,
    /// The number of documents where the answer follows the question, if there is an answer to
    /// search for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_answer: Option<u64>,
    /// The strongest evidence, if any document has words of the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
}

/// The counts of a benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
#[non_exhaustive]
pub struct BenchmarkCounts {
    /// The name of the benchmark.
    pub benchmark: String,
    /// The number of questions.
    pub questions: u64,
    /// The number of questions that occur in a document.
    pub contaminated: u64,
    /// The number of contaminated questions whose answer follows in a document.
    pub with_answer: u64,
    /// The number of questions whose answer was searched for.
    pub answers: u64,
    /// The number of questions whose words in documents are all common.
    pub common: u64,
    /// The number of questions that are too short to be searched for.
    pub too_short: u64,
    /// The number of questions without a word.
    pub empty: u64,
    /// The share of the questions searched for that are contaminated, 0 to 1.
    pub rate: f64,
    /// A digest of the ids, texts and answers of the questions in order (XXH3, 128 bits).
    pub digest: String,
}

/// The counts of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DecontaminationCounts {
    /// The number of documents.
    pub documents: u64,
    /// A digest of the ids and texts of the documents in order (XXH3, 128 bits).
    pub digest: String,
    /// A question of a few tokens is a common phrase if more documents than this have words of it.
    pub common_documents: u64,
    /// The benchmarks in the order of their first questions.
    pub benchmarks: Vec<BenchmarkCounts>,
    /// The questions in their original order.
    #[serde(skip)]
    pub questions: Vec<QuestionCounts>,
}

/// How many bytes to show before and after a passage, and the maximum to show of the passage.
const CONTEXT_BYTES: usize = 160;
const PASSAGE_BYTES_MAX: usize = 4 << 10;

impl Tally {
    /// Begins with no documents.
    #[must_use]
    pub fn new(benchmarks: &Benchmarks) -> Tally {
        Tally {
            digest: Digest::default(),
            carriers: WordCarriers::new(benchmarks),
            counts: vec![QuestionCount::default(); benchmarks.questions().len()],
        }
    }

    /// Counts a document with its findings, in the order returned by the search.
    pub fn add(&mut self, id: &str, text: &str, findings: &[Finding]) {
        let number = self.documents();
        self.carriers.add(findings);
        self.digest =
            Digest::of_parts(&[&self.digest.to_le_bytes(), id.as_bytes(), text.as_bytes()]);
        for findings in findings.chunk_by(|a, b| a.question == b.question) {
            let count = &mut self.counts[findings[0].question];
            let matched = findings.iter().map(|finding| finding.matched.clone()).collect();
            let group = count.groups.entry(matched).or_default();
            group.documents += 1;
            group.with_answer += u64::from(findings.iter().any(Finding::has_answer));
            for finding in findings {
                let is_better = |best: &Evidence| finding.strength() > best.finding.strength();
                if group.best.as_ref().is_none_or(is_better) {
                    group.best = Some(Evidence::of(id, text, finding, number));
                }
            }
        }
    }

    /// Returns the digest of the ids and texts of the documents so far, in order.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Returns the number of documents so far.
    #[must_use]
    pub fn documents(&self) -> u64 {
        self.carriers.documents()
    }

    /// Returns the verdict on words of the questions, according to the documents so far.
    #[must_use]
    pub fn common<'a>(
        &self,
        benchmarks: &'a Benchmarks,
        options: &DecontaminateOptions,
    ) -> CommonWords<'a> {
        self.carriers.common(benchmarks, options)
    }

    /// Returns the counts. `common` decides which places count as contamination.
    #[must_use]
    pub fn finish(
        self,
        common: &CommonWords<'_>,
        options: &DecontaminateOptions,
    ) -> DecontaminationCounts {
        let (documents, benchmarks) = (self.documents(), common.benchmarks);
        let mut of_benchmarks: Vec<BenchmarkCounts> = Vec::new();
        let mut digests: Vec<Digest> = Vec::new();
        let mut place_of = std::collections::HashMap::new();
        let mut questions = Vec::with_capacity(self.counts.len());
        for (number, count) in self.counts.into_iter().enumerate() {
            let (own, others) = count.groups(|matched| common.has_tokens(number, matched));
            let question = &benchmarks.questions()[number];
            let verdict = match benchmarks.unusable(number) {
                Some(super::Unusable::Empty) => "empty",
                Some(super::Unusable::Short) => "too_short",
                None if own.documents > 0 => "contaminated",
                None if others.documents > 0 => "common",
                None => "clean",
            };
            let at = *place_of.entry(question.benchmark.clone()).or_insert_with(|| {
                let benchmark = question.benchmark.clone();
                of_benchmarks.push(BenchmarkCounts { benchmark, ..BenchmarkCounts::default() });
                digests.push(Digest::default());
                of_benchmarks.len() - 1
            });
            let of = &mut of_benchmarks[at];
            let answer = question.answer.as_deref().unwrap_or_default();
            let parts = [&*question.id, &*question.text, answer].map(str::as_bytes);
            digests[at] =
                Digest::of_parts(&[&[&digests[at].to_le_bytes()[..]], &parts[..]].concat());
            let has_answer = benchmarks.has_answer(number);
            of.questions += 1;
            of.answers += u64::from(has_answer && benchmarks.unusable(number).is_none());
            match verdict {
                "empty" => of.empty += 1,
                "too_short" => of.too_short += 1,
                "common" => of.common += 1,
                "contaminated" => of.contaminated += 1,
                _ => {}
            }
            of.with_answer += u64::from(verdict == "contaminated" && own.with_answer > 0);
            questions.push(QuestionCounts {
                benchmark: question.benchmark.clone(),
                id: question.id.clone(),
                tokens: benchmarks.tokens(number),
                verdict,
                documents: own.documents,
                documents_with_common_words: others.documents,
                with_answer: has_answer.then_some(own.with_answer),
                evidence: own.best.or(others.best),
            });
        }
        for (of, digest) in of_benchmarks.iter_mut().zip(digests) {
            of.digest = shown(digest);
            let searched = of.questions - of.too_short - of.empty;
            of.rate = of.contaminated as f64 / searched.max(1) as f64;
        }
        DecontaminationCounts {
            documents,
            digest: shown(self.digest),
            common_documents: options.common_of(documents),
            benchmarks: of_benchmarks,
            questions,
        }
    }
}

fn shown(digest: Digest) -> String {
    format!("{:016x}{:016x}", digest.high, digest.low)
}

impl QuestionCount {
    /// Returns the documents where the question occurs, and the documents with only common words.
    fn groups(&self, is_common: impl Fn(&Matched) -> bool) -> (TokenGroup, TokenGroup) {
        let (mut own, mut common) = (TokenGroup::default(), TokenGroup::default());
        for (matched, group) in &self.groups {
            match matched.iter().all(&is_common) {
                true => common.add(group),
                false => own.add(group),
            }
        }
        (own, common)
    }
}

impl Evidence {
    fn of(id: &str, text: &str, finding: &Finding, number: u64) -> Evidence {
        let (start, end) = (finding.bytes.0 as usize, finding.bytes.1 as usize);
        // Up to the answer, if the answer is near.
        let end = finding.answer.and_then(|answer| answer.bytes).map_or(end, |(_, e)| e as usize);
        let end = end.min(start + PASSAGE_BYTES_MAX);
        let first = text.floor_char_boundary(start.saturating_sub(CONTEXT_BYTES));
        let last = text.ceil_char_boundary((end + CONTEXT_BYTES).min(text.len()));
        // Shorten the context to whole words.
        let first = match first {
            0 => 0,
            first => text[first..start].find(is_white_space).map_or(start, |at| first + at),
        };
        let end = text.floor_char_boundary(end);
        let last = match last == text.len() {
            true => last,
            false => text[end..last].rfind(is_white_space).map_or(end, |at| end + at),
        };
        Evidence {
            document: id.to_owned(),
            number,
            finding: finding.clone(),
            excerpt: text[first..last].to_owned(),
            excerpt_start: first as u32,
        }
    }
}
