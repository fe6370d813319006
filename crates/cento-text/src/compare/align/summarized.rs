//! Finds summaries of a longer text.
//!
//! A summary may fuse sentences from anywhere in a text, so no two sentences need be alike. Only
//! words remain: a stretch of text takes most of its words from the longer text, and the words
//! around the stretch do not. A sentence scores the weight of its shared words, less the weight of
//! its remaining words, and [`scan`](super::scan) finds the best stretches. The text summed up is
//! the place of a thousand words or so with most of the rarer words. If a short place already has
//! nearly all rarer words, the passage was rewritten, not summed up.
//!
//! Chance also makes words common, and more so for a long place and for similar topics. So a
//! summary must share more than the surrounding text does. With little surrounding text, a summary
//! must share more than texts of different writers on a single topic do: the independent answers of
//! Clough and Stevenson ("Developing a corpus of plagiarised short answers", Language Resources and
//! Evaluation 2011) share up to two fifths of the weight with articles of 240 to 540 words. A
//! summary must also share pairs of adjacent words. Copied or rewritten passages within a summary
//! do not count as evidence, because cento reports those passages anyway.

use std::ops::Range;

use super::order::OrderedPair;
use super::scan::segments;
use super::sentences::Sentences;
use super::vocabulary::{
    KnownWords, OtherText, Places, Vocabulary, Weights as WordWeights, many_sentences,
};
use super::{AlignedPassage, COPIED_TOKENS_MIN, CoveredRanges, SIMILARITY_OF_ONE_MIN};
use crate::error::Result;
use crate::hash::mix64;
use crate::number::ln;
use crate::runtime::Steps;

/// Minimum length of a summary. Shorter summaries are chance.
const SUMMARY_TOKENS_MIN: usize = 60;
/// Maximum tokens of the longer side, unless this is most of the text: then the longer side is the
/// whole text.
const LONG_TOKENS_MAX: usize = 1 << 11;
/// Minimum share of a summary's weight that the longer side has.
const SHARE_MIN: f64 = 0.5;
/// Minimum score of a stretch, in halved units of word weights.
const SCORE_MIN: f64 = 32.0;
/// Minimum score of the distinct words outside rewritten passages, so that a rewritten passage
/// alone makes no summary.
const SCORE_OF_REST_MIN: f64 = 24.0;
/// A place half as long again as the summary has at most this share of the rarer words' weight on
/// the longer side. With more, the passage was rewritten.
const NEAR_SHARE_MAX: f64 = 0.75;
/// Share of adjacent word pairs that doubling the place adds by chance. A summary must share this
/// much per doubling beyond twice its length, and per doubling beyond 1,024 tokens. Headers with
/// the same fields share a quarter of their pairs with a text 14 times as long.
const PAIRS_STEP: f64 = 0.1;
/// Share of weight that a text on the same topic has by chance in up to 512 tokens. Each doubling
/// adds a tenth.
const CHANCE: f64 = 0.3;
/// The weight of [`CHANCE`] in the average with the text around the summary, about a hundred words'
/// weight.
const CHANCE_WEIGHT: f64 = 400.0;
/// Minimum excess of a summary's share of weight over the expected share.
const EXCESS_MIN: f64 = 0.35;

/// The tokens of the query and of the document: a summary and the place summed up.
pub type Summary = (Range<usize>, Range<usize>);

/// Which sentences may be part of a summary?
pub struct Open {
    /// By sentence: outside long copied passages.
    uncopied: Vec<bool>,
    /// By sentence: also outside rewritten passages, which would explain the common words.
    unexplained: Vec<bool>,
}

impl Open {
    /// Decides which sentences are open. `place` returns the side of a rewritten passage that is in
    /// this text.
    pub fn new(
        sentences: &Sentences,
        uncopied: Vec<bool>,
        rewritten: &[AlignedPassage],
        place: fn(&AlignedPassage) -> &Range<usize>,
    ) -> Open {
        let mut explained = CoveredRanges::default();
        for passage in rewritten {
            let tokens = passage.query.len().min(passage.hit.len());
            // Only a certain passage explains words: as long as a copy, and as similar as a passage
            // of a single pair of sentences.
            if passage.similarity >= SIMILARITY_OF_ONE_MIN && tokens >= COPIED_TOKENS_MIN {
                explained.insert(place(passage).clone());
            }
        }
        let is_free = |sentence: &Range<usize>| explained.covered(sentence) == 0;
        let of = uncopied.iter().zip(&sentences.ranges);
        let unexplained = of.map(|(&is_open, sentence)| is_open && is_free(sentence)).collect();
        Open { uncopied, unexplained }
    }
}

/// Finds summaries in both directions: of the document in the query, then of the query in the
/// document.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn passages(
    pair: OrderedPair<'_>,
    texts: &Vocabulary<'_>,
    open: [&Open; 2],
    steps: &mut Steps<'_>,
) -> Result<Vec<Summary>> {
    let [q, d] = [(texts.q(), pair.query), (texts.d(), pair.document)]
        .map(|(sentences, side)| SentenceText { sentences, tokens: &side.tokens.hashes });
    let found = |own, other, open: &Open, steps: &mut Steps<'_>| -> Result<Vec<Summary>> {
        Summaries { texts, own, other, open }.find(steps)
    };
    let mut summaries = found(q, d, open[0], steps)?;
    let of_document = found(d, q, open[1], steps)?;
    summaries.extend(of_document.into_iter().map(|(summary, long)| (long, summary)));
    Ok(summaries)
}

#[derive(Clone, Copy)]
struct SentenceText<'a> {
    sentences: &'a Sentences,
    tokens: &'a [u64],
}

/// The search for summaries in one direction.
struct Summaries<'a> {
    texts: &'a Vocabulary<'a>,
    /// The text that has the summaries.
    own: SentenceText<'a>,
    /// The text to be summed up.
    other: SentenceText<'a>,
    /// Sentences of `own` that may be part of a summary.
    open: &'a Open,
}

/// The weight of words, and the weight of the shared words.
#[derive(Clone, Copy)]
struct Weights {
    common: f64,
    all: f64,
}

/// The words of a text. The words of a summary can be subtracted.
struct SurroundingWords {
    /// Number of sentences with each word.
    times: Vec<u32>,
    /// Total weight of the distinct words. Weights are multiples of a power of two, so that adding
    /// and subtracting leaves no rounding error.
    all: f64,
}

impl SurroundingWords {
    fn add(&mut self, texts: &Vocabulary<'_>, words: impl Iterator<Item = u32>) {
        for word in words {
            let times = &mut self.times[word as usize];
            self.all += if *times == 0 { texts.weight_of(word) } else { 0.0 };
            *times += 1;
        }
    }

    fn remove(&mut self, texts: &Vocabulary<'_>, words: impl Iterator<Item = u32>) {
        for word in words {
            let times = &mut self.times[word as usize];
            *times -= 1;
            self.all -= if *times == 0 { texts.weight_of(word) } else { 0.0 };
        }
    }
}

impl Summaries<'_> {
    /// Returns the token ranges of the summaries and of the places summed up.
    fn find(&self, steps: &mut Steps<'_>) -> Result<Vec<Summary>> {
        let sentences = self.own.sentences;
        if !steps.take(sentences.all_words().len() as u64)? {
            return Ok(Vec::new());
        }
        let score = |sentence: usize| -> f64 {
            if !self.open.uncopied[sentence] {
                return 0.0;
            }
            let words = sentences.words(sentence).iter();
            words
                .map(|word| score(self.texts.weight(word), self.texts.is_common(word.number)))
                .sum()
        };
        let mut found = Vec::new();
        let mut stretches = segments((0..sentences.count()).map(score), SCORE_MIN);
        stretches.retain(|short| sentences.tokens(short).len() >= SUMMARY_TOKENS_MIN);
        if stretches.is_empty() {
            return Ok(found);
        }
        let places = self.texts.places_in(self.other.sentences, steps.stop())?;
        let mut around = None;
        for short in stretches {
            match self.summed_up(&short, &places, &mut around, steps)? {
                None => break,
                Some(long) if long.is_empty() => {}
                Some(long) => {
                    found.push((sentences.tokens(&short), self.other.sentences.tokens(&long)));
                }
            }
        }
        Ok(found)
    }

    /// Returns the sentences summed up by `short`: an empty range if there are no such sentences,
    /// and `None` if the search takes too many steps.
    fn summed_up(
        &self,
        short: &Range<usize>,
        places: &Places,
        around: &mut Option<SurroundingWords>,
        steps: &mut Steps<'_>,
    ) -> Result<Option<Range<usize>>> {
        let (tokens, none) = (self.own.sentences.tokens(short).len(), Ok(Some(0..0)));
        let words = short.clone().filter(|&at| self.open.uncopied[at]);
        let words = words.flat_map(|at| self.own.sentences.words(at));
        let words = distinct(words.map(|word| word.number));
        let Some(evidence) = self.evidence(&words, places, steps)? else { return Ok(None) };
        let (long, weight) = self.densest(&words, &evidence, LONG_TOKENS_MAX);
        let (_, near) = self.densest(&words, &evidence, tokens * 3 / 2);
        if near > NEAR_SHARE_MAX * weight || long.is_empty() {
            return none;
        }
        let sentences = self.other.sentences;
        let is_most = sentences.tokens(&long).len() * 2 >= self.other.tokens.len();
        let long = if is_most { 0..sentences.count() } else { long };
        let len = sentences.tokens(&long).len();
        // Each word and each pair of the place is looked up in the summary.
        if !steps.take(16 * len as u64)? {
            return Ok(None);
        }
        let has = self.common_words(&words, &long, places);
        let is_likely = self.has_the_words(short, &words, &has)
            && self.pairs(short, &long) >= pairs_min(tokens, len);
        if !is_likely {
            return none;
        }
        let around = match around {
            Some(around) => around,
            None if !steps.take(self.own.sentences.all_words().len() as u64)? => return Ok(None),
            None => around.insert(self.around()),
        };
        if !steps.take(16 * (len + tokens) as u64)? {
            return Ok(None);
        }
        let exceeds = self.exceeds_chance(short, &words, &long, around, &has);
        Ok(Some(if exceeds { long } else { 0..0 }))
    }

    /// Collects the words of all sentences of `own` that may surround a summary.
    fn around(&self) -> SurroundingWords {
        let mut around = SurroundingWords { times: vec![0; self.texts.count()], all: 0.0 };
        around.add(self.texts, self.unexplained(0..self.own.sentences.count()));
        around
    }

    /// Returns the words of `sentences` that no rewritten passage explains. A word in several
    /// sentences is repeated.
    fn unexplained(&self, sentences: Range<usize>) -> impl Iterator<Item = u32> {
        let unexplained = sentences.filter(|&at| self.open.unexplained[at]);
        unexplained.flat_map(|at| self.own.sentences.words(at).iter().map(|word| word.number))
    }

    /// Returns pairs of a sentence of the other text and the index in `words` of a rarer word of
    /// that sentence, ascending. Returns `None` after too many steps.
    fn evidence(
        &self,
        words: &[u32],
        places: &Places,
        steps: &mut Steps<'_>,
    ) -> Result<Option<Vec<(u32, u32)>>> {
        // Frequent words are everywhere, so they do not point to a place.
        let many = many_sentences(self.other.sentences.count());
        let mut evidence: Vec<(u32, u32)> = Vec::new();
        let common = (0u32..).zip(words).filter(|&(_, &word)| self.texts.is_common(word));
        for (at, &word) in common {
            let sentences = places.of(word);
            if sentences.len() <= many {
                if !steps.take(8 * sentences.len() as u64)? {
                    return Ok(None);
                }
                evidence.extend(sentences.iter().map(|&sentence| (sentence, at)));
            }
        }
        let sort = evidence.len() as u64 * u64::from(evidence.len().max(1).ilog2());
        if !steps.take(sort + 8 * words.len() as u64)? {
            return Ok(None);
        }
        evidence.sort_unstable();
        Ok(Some(evidence))
    }

    /// Returns the range of sentences of the other text with the most weight of `words`, and that
    /// weight. A range of several sentences has at most `tokens_max` tokens. The first and last
    /// sentence have a word.
    fn densest(
        &self,
        words: &[u32],
        evidence: &[(u32, u32)],
        tokens_max: usize,
    ) -> (Range<usize>, f64) {
        let mut times = vec![0u32; words.len()];
        let weight_of = |word: u32| self.texts.weight_of(words[word as usize]);
        let (mut best, mut most, mut weight, mut first) = (0..0, 0.0, 0.0, 0);
        for &(last, word) in evidence {
            let times_of = &mut times[word as usize];
            weight += if *times_of == 0 { weight_of(word) } else { 0.0 };
            *times_of += 1;
            let range = |first: usize| evidence[first].0 as usize..last as usize + 1;
            while evidence[first].0 < last
                && self.other.sentences.tokens(&range(first)).len() > tokens_max
            {
                let word = evidence[first].1;
                let times_of = &mut times[word as usize];
                *times_of -= 1;
                weight -= if *times_of == 0 { weight_of(word) } else { 0.0 };
                first += 1;
            }
            if weight > most {
                (best, most) = (range(first), weight);
            }
        }
        (best, most)
    }

    /// Returns the `words` that occur in the sentences `long` of the other text, ascending.
    fn common_words(&self, words: &[u32], long: &Range<usize>, places: &Places) -> Vec<u32> {
        let is_in_long = |&word: &u32| {
            let sentences = places.of(word);
            let first = sentences.partition_point(|&sentence| (sentence as usize) < long.start);
            sentences.get(first).is_some_and(|&sentence| (sentence as usize) < long.end)
        };
        let is_common = |word: &u32| self.texts.is_common(*word) && is_in_long(word);
        words.iter().copied().filter(is_common).collect()
    }

    /// Adds up the weights of `words`, and of the `words` in `common`, which must ascend.
    fn weights(&self, words: &[u32], common: &[u32]) -> Weights {
        let weight = |word: &u32| self.texts.weight_of(*word);
        let is_common = |word: &&u32| common.binary_search(word).is_ok();
        let common = words.iter().filter(is_common).map(weight).sum();
        Weights { common, all: words.iter().map(weight).sum() }
    }

    /// Returns whether enough words of `short` are in `common`, also without the words that
    /// rewritten passages explain.
    fn has_the_words(&self, short: &Range<usize>, words: &[u32], common: &[u32]) -> bool {
        let within = self.weights(words, common);
        let rest = distinct(self.unexplained(short.clone()));
        let rest = self.weights(&rest, common);
        within.common >= SHARE_MIN * within.all
            && rest.common - SHARE_MIN * rest.all >= SCORE_OF_REST_MIN
    }

    /// Returns whether `short` shares more of its weight with `long` than the text around it does,
    /// and more than chance gives.
    ///
    /// `around` holds the words of the whole text. Removing a summary's words and adding them again
    /// keeps the time linear, because counting anew for each summary would take quadratic time.
    fn exceeds_chance(
        &self,
        short: &Range<usize>,
        words: &[u32],
        long: &Range<usize>,
        around: &mut SurroundingWords,
        common: &[u32],
    ) -> bool {
        let within = self.weights(words, common);
        around.remove(self.texts, self.unexplained(short.clone()));
        let of_long = self.other.sentences.words_of(long).iter().map(|word| word.number);
        let of_long = distinct(of_long).into_iter();
        let are_around = of_long.filter(|&word| around.times[word as usize] > 0);
        let common_around: f64 = are_around.map(|word| self.texts.weight_of(word)).sum();
        let chance = CHANCE + 0.1 * doublings(self.other.sentences.tokens(long).len(), 512);
        let expected = (common_around + CHANCE_WEIGHT * chance) / (around.all + CHANCE_WEIGHT);
        around.add(self.texts, self.unexplained(short.clone()));
        within.common >= (expected + EXCESS_MIN) * within.all
    }

    /// Returns the share of adjacent word pairs in `short` that also occur in `long`.
    fn pairs(&self, short: &Range<usize>, long: &Range<usize>) -> f64 {
        let pair = |two: &[u64]| mix64(two[0]) ^ two[1];
        let sentences = short.clone().filter(|&at| self.open.uncopied[at]);
        let mut pairs: Vec<u64> = sentences
            .map(|at| &self.own.tokens[self.own.sentences.ranges[at].clone()])
            .flat_map(|tokens| tokens.windows(2).map(pair))
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut has = vec![false; pairs.len()];
        for two in self.other.tokens[self.other.sentences.tokens(long)].windows(2) {
            if let Ok(at) = pairs.binary_search(&pair(two)) {
                has[at] = true;
            }
        }
        has.iter().filter(|&&has| has).count() as f64 / pairs.len().max(1) as f64
    }
}

/// Sorts words and removes repetitions.
fn distinct(words: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut words: Vec<u32> = words.collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// Returns the score that a word adds to its sentence, negative if the other text lacks the word.
fn score(weight: f64, is_common: bool) -> f64 {
    if is_common { weight * (1.0 - SHARE_MIN) } else { weight * -SHARE_MIN }
}

/// Returns how many doublings lead from `of` to `len`, as a fraction, 0 if `len` is shorter.
fn doublings(len: usize, of: usize) -> f64 {
    ln(len.max(of) as f64 / of as f64) / std::f64::consts::LN_2
}

/// Returns the minimum share of common word pairs for a summary of `tokens` tokens of a place of
/// `len` tokens.
fn pairs_min(tokens: usize, len: usize) -> f64 {
    PAIRS_STEP * (doublings(len, 2 * tokens) + doublings(len, 1024))
}

/// A quick check of a known text against another text.
///
/// Most candidates of a search have no summary, so the check saves numbering their words.
pub struct FirstLook {
    /// The number of sentences of the second text with each known word.
    pub of_known: Vec<u32>,
    /// For words missing from the known text, at least the number of sentences of the other text
    /// with the word. The number may be too large, because several words share a place.
    pub of_others: Vec<u32>,
}

impl FirstLook {
    /// Returns the place in `of_others` of a word that the known text lacks.
    #[inline]
    pub fn place(&self, hash: u64) -> usize {
        hash as usize & (self.of_others.len() - 1)
    }

    /// Starts with counts of 0 for this many known words.
    pub fn new(known: usize) -> FirstLook {
        FirstLook { of_known: vec![0; known], of_others: vec![0; 1 << 10] }
    }

    /// Returns whether either text may contain a summary of its partner. If not, [`passages`] finds
    /// nothing. `open` marks the sentences of the known text outside copied passages, and
    /// `open_in_other` the sentences of the other text.
    ///
    /// The check never scores a sentence too low, because a word missing from the known text weighs
    /// no less in [`passages`].
    pub fn may_be(
        &self,
        words: &KnownWords,
        other: &OtherText<'_>,
        [open, open_in_other]: [&[bool]; 2],
    ) -> bool {
        let sentences = &words.sentences;
        let tokens = [sentences.ranges.last(), other.ranges.last()];
        let tokens = tokens.map(|last| last.map_or(0, |last| last.end));
        let may_sum_up = |short: usize, long: usize| {
            short >= SUMMARY_TOKENS_MIN && 2 * long > 3 * SUMMARY_TOKENS_MIN
        };
        let may_sum_up = [may_sum_up(tokens[0], tokens[1]), may_sum_up(tokens[1], tokens[0])];
        if may_sum_up == [false, false] {
            return false;
        }
        let mut weights = WordWeights::new(sentences.count() + other.ranges.len());
        let counts = words.counts().iter().zip(&self.of_known);
        let of_known: Vec<f64> =
            counts.map(|(known, other)| score(weights.of(known + other), *other > 0)).collect();
        let in_known = (0..sentences.count()).map(|at| {
            let words = if open[at] { sentences.words(at) } else { &[] };
            words.iter().map(|word| f64::from(word.times) * of_known[word.number as usize]).sum()
        });
        if may_sum_up[0] && !segments(in_known, SCORE_MIN).is_empty() {
            return true;
        }
        let in_other = other.ranges.iter().zip(open_in_other).map(|(range, &is_open)| {
            let tokens = if is_open { range.clone() } else { 0..0 };
            let of_token = |at: usize| match other.number(at) {
                Some(number) => of_known[number as usize],
                None => {
                    let sentences = self.of_others[self.place(other.tokens[at])];
                    score(weights.of(sentences), false)
                }
            };
            tokens.map(of_token).sum()
        });
        may_sum_up[1] && !segments(in_other, SCORE_MIN).is_empty()
    }
}

#[cfg(test)]
mod tests;
