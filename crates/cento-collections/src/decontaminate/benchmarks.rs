//! Holds the questions of benchmarks in memory and searches documents for them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::ops::Range;

use super::finding::{AnswerFinding, Finding};
use super::labels;
use super::stretch::{self, Region, TextOccurrence};
use super::surroundings::Surroundings;
use super::unescaped::UnescapedText;
use super::wanted::WantedText;
use super::weights::TokenWeights;
use super::{DecontaminateOptions, SHORT};
use cento_api::error::Result;
use cento_text::compare::place::places;
use cento_text::hash::BuildKeyHasher;
use cento_text::runtime::Stop;
use cento_text::scheme::run_values;
use cento_text::text::{Analyzer, Span, Tokens};

/// A question of a benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Question {
    /// The name of the benchmark.
    pub benchmark: String,
    /// The id of the question in its benchmark.
    pub id: String,
    /// The text of the question.
    pub text: String,
    /// The answer, if the benchmark gives one.
    pub answer: Option<String>,
}

/// Why a question is not searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unusable {
    /// The question has no token.
    Empty,
    /// The question has fewer tokens than a run.
    Short,
}

impl Unusable {
    /// Returns the reason as a clause.
    #[must_use]
    pub fn why(self) -> &'static str {
        match self {
            Unusable::Empty => "it has no words",
            Unusable::Short => "it has fewer words than a run, so that it identifies no text",
        }
    }
}

/// How many tokens after a question an answer may begin.
const ANSWER_WITHIN: usize = 20;

/// The questions of benchmarks, prepared for searching documents.
///
/// ```
/// use cento::Stop;
/// use cento_collections::decontaminate::{Benchmarks, DecontaminateOptions, Question, Scratch};
///
/// let text = "Which planet of the solar system has the most moons?".to_owned();
/// let question = Question { text, ..Question::default() };
/// let benchmarks =
///     Benchmarks::new(vec![question], &DecontaminateOptions::default(), Stop::NEVER)?;
/// let page = "Quiz. WHICH PLANET of the\nsolar system has the most moons? Think!";
/// let findings = benchmarks.findings(page, &mut Scratch::default(), Stop::NEVER)?;
/// assert_eq!(findings[0].share, 1.0);
/// assert_eq!(findings[0].bytes, (6, 57));
/// # Ok::<(), cento::Error>(())
/// ```
#[doc(alias = "contamination")]
#[derive(Debug)]
pub struct Benchmarks {
    questions: Vec<Question>,
    analyzer: Analyzer,
    k: usize,
    /// The distinct texts of the questions.
    texts: Vec<QuestionText>,
    /// By question, the number of its text.
    text_of: Vec<std::result::Result<u32, Unusable>>,
    answers: Vec<Option<WantedText>>,
    finders: Finders,
    runs: HashSet<u64, BuildKeyHasher>,
}

/// The text of one or more questions.
#[derive(Debug)]
struct QuestionText {
    wanted: WantedText,
    /// The numbers of the questions, ascending.
    questions: Vec<u32>,
    least_places: usize,
}

/// The runs that bring up a text.
#[derive(Debug, Default)]
struct Finders {
    /// One bit for the highest bits of each run. Most runs of a document miss here, without a hash
    /// lookup.
    bits: Vec<u64>,
    shift: u32,
    /// By run, the range of its texts in `texts`.
    ranges: HashMap<u64, (u32, u32), BuildKeyHasher>,
    texts: Vec<u32>,
}

/// Memory that is reused from document to document.
#[derive(Debug, Default)]
pub struct Scratch {
    tokens: Tokens,
    runs: Vec<u64>,
    /// By text, the places near which the text may occur.
    near: HashMap<u32, Near, BuildKeyHasher>,
}

/// The places near which a text may occur.
#[derive(Debug, Default)]
struct Near {
    /// The latest places with a run of the text, within its window.
    recent: VecDeque<usize>,
    /// Ascending ranges of places that do not touch.
    regions: Vec<Range<usize>>,
}

impl Finders {
    fn of(mut pairs: Vec<(u64, u32)>) -> Finders {
        pairs.sort_unstable();
        let bits = (pairs.len() * 16).next_power_of_two().max(64);
        let mut finders = Finders {
            bits: vec![0; bits / 64],
            shift: 64 - bits.trailing_zeros(),
            ranges: HashMap::default(),
            texts: Vec::with_capacity(pairs.len()),
        };
        for group in pairs.chunk_by(|a, b| a.0 == b.0) {
            let run = group[0].0;
            let start = finders.texts.len() as u32;
            finders.texts.extend(group.iter().map(|(_, text)| *text));
            finders.ranges.insert(run, (start, finders.texts.len() as u32));
            let bit = run >> finders.shift;
            finders.bits[bit as usize / 64] |= 1 << (bit % 64);
        }
        finders
    }

    #[inline]
    fn texts(&self, run: u64) -> &[u32] {
        let bit = run >> self.shift;
        if self.bits[bit as usize / 64] >> (bit % 64) & 1 == 0 {
            return &[];
        }
        self.ranges.get(&run).map_or(&[], |&(start, end)| &self.texts[start as usize..end as usize])
    }
}

impl Near {
    /// Records a place with a run of the text.
    fn add(&mut self, place: usize, wanted: &WantedText, least_places: usize) {
        let window = wanted.window();
        while self.recent.front().is_some_and(|first| first + window <= place) {
            self.recent.pop_front();
        }
        self.recent.push_back(place);
        if self.recent.len() < least_places {
            return;
        }
        // A stretch with these places begins and ends within a window of them.
        let start = self.recent.front().map_or(place, |first| *first).saturating_sub(window);
        match self.regions.last_mut() {
            Some(last) if start <= last.end => last.end = place + window,
            _ => self.regions.push(start..place + window),
        }
    }
}

impl Benchmarks {
    /// Prepares questions for searching documents.
    ///
    /// # Errors
    /// When an option is out of bounds, or the analyzer is unknown.
    /// [`Error::Cancelled`](cento::Error::Cancelled) soon after `stop`.
    pub fn new(
        questions: Vec<Question>,
        options: &DecontaminateOptions,
        stop: &Stop,
    ) -> Result<Benchmarks> {
        options.check()?;
        // All words count, because without some words questions about different numbers can be
        // equal.
        let analyzer = options.analyzer.parse::<Analyzer>()?.of_all_words_but_tags();
        let (k, share) = (options.run as usize, options.min_share);
        let mut tokens = Tokens::default();
        let mut known: HashMap<Vec<u64>, u32> = HashMap::new();
        let (mut texts, mut text_of, mut answers) = (Vec::new(), Vec::new(), Vec::new());
        for (number, question) in (0..).zip(&questions) {
            analyzer.analyze(&question.text, &mut tokens, stop)?;
            text_of.push(match tokens.hashes.len() {
                0 => Err(Unusable::Empty),
                len if len < k => Err(Unusable::Short),
                _ => {
                    let next = texts.len() as u32;
                    let text = *known.entry(tokens.hashes.clone()).or_insert_with(|| {
                        let wanted = WantedText::new(tokens.hashes.clone(), k, share);
                        texts.push(QuestionText { wanted, questions: Vec::new(), least_places: 1 });
                        next
                    });
                    texts[text as usize].questions.push(number);
                    Ok(text)
                }
            });
            answers.push(match &question.answer {
                Some(answer) => {
                    analyzer.analyze(answer, &mut tokens, stop)?;
                    is_told(answer, &tokens)
                        .then(|| WantedText::new(tokens.hashes.clone(), k, share))
                }
                None => None,
            });
        }
        let finders = weigh(&mut texts, k, share);
        let runs = texts.iter().flat_map(|text| text.wanted.runs()).copied().collect();
        Ok(Benchmarks { questions, analyzer, k, texts, text_of, answers, finders, runs })
    }

    /// Returns the questions in their original order.
    #[must_use]
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// Returns why the question with this number is not searched for, or `None` if it is searched
    /// for.
    ///
    /// ```
    /// use cento::Stop;
    /// use cento_collections::decontaminate::{Benchmarks, Question, Unusable};
    /// use cento_collections::DecontaminateOptions;
    ///
    /// // Two words are in too many texts to be evidence.
    /// let question = Question { text: "Who won?".to_owned(), ..Question::default() };
    /// let benchmarks =
    ///     Benchmarks::new(vec![question], &DecontaminateOptions::default(), Stop::NEVER)?;
    /// assert_eq!(benchmarks.unusable(0), Some(Unusable::Short));
    /// # Ok::<(), cento::Error>(())
    /// ```
    #[must_use]
    pub fn unusable(&self, question: usize) -> Option<Unusable> {
        self.text_of[question].err()
    }

    /// Returns the weight of each token of a question. Empty if the question is not searched for.
    pub(super) fn weights(&self, question: usize) -> &[u32] {
        self.text_of[question].map_or(&[], |text| self.texts[text as usize].wanted.weights())
    }

    /// Returns the number of tokens of a question, 0 if the question is not searched for.
    #[must_use]
    pub fn tokens(&self, question: usize) -> usize {
        self.text_of[question].map_or(0, |text| self.texts[text as usize].wanted.tokens.len())
    }

    /// Tells whether the answer to a question is searched for, which needs an answer longer than a
    /// letter or digit.
    #[must_use]
    pub fn has_answer(&self, question: usize) -> bool {
        self.answers[question].is_some()
    }

    /// Returns the memory, in bytes, for searching a text of this many bytes.
    #[must_use]
    pub fn scratch_bytes(&self, text_bytes: usize) -> usize {
        // Per token a hash, a span and a run, with at least two bytes of text per token, and texts
        // that are near. An unescaped text is shorter than its original, but takes four times its
        // bytes for places.
        self.analyzer.scratch_bytes(text_bytes) + text_bytes.saturating_mul(16 + 5)
    }

    /// Returns the places of a text where questions occur, in the order of the questions, then in
    /// the order of the text. The places of a question do not overlap. If the text has escapes of
    /// JSON or HTML, the unescaped text is searched too. If labels of options, such as `A.`,
    /// interrupt a question, the text is also searched without labels.
    ///
    /// # Errors
    /// When the text is too large to be analyzed. [`Error::Cancelled`](cento::Error::Cancelled)
    /// soon after `stop`.
    pub fn findings(&self, text: &str, scratch: &mut Scratch, stop: &Stop) -> Result<Vec<Finding>> {
        let mut findings = self.found_in(text, scratch, stop)?;
        if let Some(unescaped) = UnescapedText::of(text) {
            let mut others = self.found_in(&unescaped.text, scratch, stop)?;
            let original = |(start, end)| unescaped.original(start, end);
            others.iter_mut().for_each(|other| other.move_to(original));
            findings = stronger(findings, others);
        }
        findings.sort_unstable_by_key(|finding| (finding.question, finding.bytes));
        place_all(&mut findings, text);
        self.mark_questions(&mut findings, stop)?;
        Ok(findings)
    }

    /// Returns the places where questions occur, with or without labels of options.
    fn found_in(&self, text: &str, scratch: &mut Scratch, stop: &Stop) -> Result<Vec<Finding>> {
        self.analyzer.analyze(text, &mut scratch.tokens, stop)?;
        let found = self.found_in_tokens(scratch, stop)?;
        let seams = labels::remove(text, &mut scratch.tokens);
        let hashes = &scratch.tokens.hashes;
        // Lists are common, but labels rarely interrupt a run of a question. So search again only
        // then.
        let is_run_of_question = |seam: &usize| {
            let around = seam.saturating_sub(self.k - 1)..hashes.len().min(seam + self.k - 1);
            around.len() >= self.k
                && run_values(&hashes[around], self.k).any(|run| self.runs.contains(&run))
        };
        Ok(match seams.iter().any(is_run_of_question) {
            true => stronger(found, self.found_in_tokens(scratch, stop)?),
            false => found,
        })
    }

    /// Returns the places of the tokens where questions occur.
    fn found_in_tokens(&self, scratch: &mut Scratch, stop: &Stop) -> Result<Vec<Finding>> {
        let Scratch { tokens, runs, near } = scratch;
        runs.clear();
        near.clear();
        if tokens.hashes.len() < self.k {
            return Ok(Vec::new());
        }
        runs.extend(run_values(&tokens.hashes, self.k));
        for (place, &run) in runs.iter().enumerate() {
            stop.check_at(place)?;
            for &number in self.finders.texts(run) {
                let text = &self.texts[number as usize];
                near.entry(number).or_default().add(place, &text.wanted, text.least_places);
            }
        }
        let mut stretches = Vec::new();
        for (&number, near) in near.iter() {
            let text = &self.texts[number as usize];
            for region in &near.regions {
                let places = region.start..region.end.min(runs.len());
                let region = Region { tokens: &tokens.hashes, runs, places };
                let found = stretch::all(&text.wanted, region, self.k, stop)?;
                stretches.extend(found.into_iter().map(|stretch| (number, stretch)));
            }
        }
        if stretches.is_empty() {
            return Ok(Vec::new());
        }
        let around = Surroundings::new(&tokens.hashes, runs, self.k);
        let mut findings = Vec::new();
        for (number, stretch) in &stretches {
            for &question in &self.texts[*number as usize].questions {
                let question = question as usize;
                findings.push(self.finding(question, stretch, tokens, &around, stop)?);
            }
        }
        Ok(findings)
    }

    fn finding(
        &self,
        question: usize,
        stretch: &TextOccurrence,
        tokens: &Tokens,
        around: &Surroundings<'_>,
        stop: &Stop,
    ) -> Result<Finding> {
        let text = self.text_of[question].expect("only texts are found");
        let wanted = &self.texts[text as usize].wanted;
        let (matched, weight) = stretch.matched;
        let ranges = |ranges: &[Range<usize>]| -> Vec<(u32, u32)> {
            ranges.iter().map(|range| (range.start as u32, range.end as u32)).collect()
        };
        let answer = match &self.answers[question] {
            Some(answer) => {
                let end = stretch.tokens.end;
                let found = after(answer, end, tokens, around.runs, self.k, stop)?;
                let bytes = found.map(|found| in_bytes(&tokens.spans, &found));
                Some(AnswerFinding { found: bytes.is_some(), bytes })
            }
            None => None,
        };
        Ok(Finding {
            question,
            share: f64::from(matched) / wanted.tokens.len() as f64,
            own_share: weight as f64 / wanted.weight() as f64,
            tokens: matched,
            matched: ranges(&stretch.of_text),
            surroundings: around.digest(&stretch.tokens),
            bytes: in_bytes(&tokens.spans, &stretch.tokens),
            page: None,
            line: None,
            answer,
            of_document: stretch.of_document.iter().map(|r| in_bytes(&tokens.spans, r)).collect(),
            // Ranges of tokens, until the question has been analyzed again.
            of_question: ranges(&stretch.of_text),
        })
    }

    /// Converts the common tokens of questions into bytes.
    fn mark_questions(&self, findings: &mut [Finding], stop: &Stop) -> Result<()> {
        let mut tokens = Tokens::default();
        for findings in findings.chunk_by_mut(|a, b| a.question == b.question) {
            let question = &self.questions[findings[0].question];
            self.analyzer.analyze(&question.text, &mut tokens, stop)?;
            for range in findings.iter_mut().flat_map(|finding| &mut finding.of_question) {
                *range = in_bytes(&tokens.spans, &(range.0 as usize..range.1 as usize));
            }
        }
        Ok(())
    }
}

/// Weighs the tokens of the questions, and returns the runs that bring up each text.
fn weigh(texts: &mut [QuestionText], k: usize, share: f64) -> Finders {
    let weights = TokenWeights::new(texts.iter().map(|text| &text.wanted), k);
    let mut pairs = Vec::new();
    for (number, text) in (0..).zip(texts.iter_mut()) {
        let of_tokens = weights.of(&text.wanted, k);
        text.wanted.set_weights(of_tokens, share);
        let (runs, least_places) = text.wanted.finders(k, |run| weights.texts(run));
        pairs.extend(runs.into_iter().map(|run| (run, number)));
        text.least_places = least_places;
    }
    Finders::of(pairs)
}

/// Tells whether an answer is distinctive. A single letter or digit is not.
fn is_told(answer: &str, tokens: &Tokens) -> bool {
    let is_char = |span: &Span| answer[span.start as usize..span.end as usize].chars().count() < 2;
    match &tokens.spans[..] {
        [] => false,
        [one] => !is_char(one),
        _ => true,
    }
}

/// Returns the tokens after `end` where the answer occurs.
fn after(
    answer: &WantedText,
    end: usize,
    tokens: &Tokens,
    runs: &[u64],
    k: usize,
    stop: &Stop,
) -> Result<Option<Range<usize>>> {
    let len = answer.tokens.len();
    if len < SHORT {
        let last = (end + ANSWER_WITHIN + len).min(tokens.hashes.len());
        let at = tokens.hashes[end.min(last)..last].windows(len).position(|w| w == answer.tokens);
        return Ok(at.map(|at| end + at..end + at + len));
    }
    let places = end.min(runs.len())..(end + ANSWER_WITHIN + answer.window()).min(runs.len());
    let region = Region { tokens: &tokens.hashes, runs, places };
    Ok(stretch::all(answer, region, k, stop)?.into_iter().next().map(|found| found.tokens))
}

/// Returns the bytes of a non-empty range of tokens.
fn in_bytes(spans: &[Span], tokens: &Range<usize>) -> (u32, u32) {
    let spans = &spans[tokens.clone()];
    let end = spans.iter().map(|span| span.end).max().unwrap_or_default();
    (spans.first().map_or(0, |span| span.start), end)
}

/// Merges findings. If two findings of a question overlap, keeps the finding with more tokens, or
/// else with the answer, or else the first.
fn stronger(mut findings: Vec<Finding>, others: Vec<Finding>) -> Vec<Finding> {
    findings.extend(others);
    findings.sort_by_key(|finding| Reverse((finding.tokens, finding.has_answer())));
    // The end of each kept place, by its start.
    let mut kept: HashMap<usize, BTreeMap<u32, u32>> = HashMap::new();
    findings.retain(|finding| {
        let (start, end) = finding.bytes;
        let kept = kept.entry(finding.question).or_default();
        // Kept places do not overlap, so the last place that begins before the end is nearest.
        let is_free = kept.range(..end).next_back().is_none_or(|(_, other)| *other <= start);
        if is_free {
            kept.insert(start, end);
        }
        is_free
    });
    findings
}

/// Widens the places of findings to whole letters, because tokens may be bytes, and sets their
/// pages and lines.
fn place_all(findings: &mut [Finding], text: &str) {
    if findings.is_empty() {
        return;
    }
    let whole = |(start, end): (u32, u32)| {
        let end = text.ceil_char_boundary(end as usize);
        (text.floor_char_boundary(start as usize) as u32, end as u32)
    };
    findings.iter_mut().for_each(|finding| finding.move_to(whole));
    let starts: Vec<u32> = findings.iter().map(|finding| finding.bytes.0).collect();
    for (finding, (page, line)) in findings.iter_mut().zip(places(text, &starts)) {
        (finding.page, finding.line) = (page, line);
    }
}
