//! Weighs the words of two texts, and finds the sentences with a common word.
//!
//! Words have numbers. For a text compared with many texts, words are numbered once, and further
//! words of the second text come after. A word weighs more the fewer sentences contain the word
//! (tf-isf).

use std::collections::HashMap;
use std::ops::Range;

use super::NONE;
use super::common::table;
use super::hash_filter::HashFilter;
use super::sentences::{Sentences, Word};
use crate::error::Result;
use crate::hash::BuildKeyHasher;
use crate::number::ln;
use crate::runtime::Stop;

type Numbers = HashMap<u64, u32, BuildKeyHasher>;

/// Numbers for the words of a text, computed once for all texts to compare with it.
pub struct KnownWords {
    numbers: Numbers,
    known: HashFilter,
    /// The sentences of the text, as numbered words.
    pub sentences: Sentences,
    /// For each word, the number of sentences with it.
    counts: Vec<u32>,
}

impl KnownWords {
    /// Numbers the words of `tokens`. `ranges` are the sentences.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
    pub fn new(ranges: Vec<Range<usize>>, tokens: &[u64], stop: &Stop) -> Result<KnownWords> {
        let mut numbers = table(tokens.len());
        let number_of = |at: usize| {
            let next = numbers.len() as u32;
            *numbers.entry(tokens[at]).or_insert(next)
        };
        let sentences = Sentences::of(ranges, number_of, stop)?;
        let known = HashFilter::new(numbers.keys().copied(), stop)?;
        let mut counts = vec![0; numbers.len()];
        count(&mut counts, &sentences, stop)?;
        Ok(KnownWords { numbers, known, sentences, counts })
    }

    /// Returns the number of words.
    pub fn count(&self) -> usize {
        self.counts.len()
    }

    /// Returns the number of sentences that have each word.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// Returns the number of a word, if the text has it.
    #[inline]
    fn number(&self, hash: u64) -> Option<u32> {
        if self.known.may_have(hash) { self.numbers.get(&hash).copied() } else { None }
    }
}

/// A text whose words are compared with known ones.
pub struct OtherText<'a> {
    /// The hash of each token.
    pub tokens: &'a [u64],
    /// The token range of each sentence.
    pub ranges: Vec<Range<usize>>,
    /// For each token, the number of the known word, or [`NONE`].
    numbers: Vec<u32>,
}

impl<'a> OtherText<'a> {
    /// Looks up the words of a text with these sentences.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
    pub fn new(
        words: &KnownWords,
        ranges: Vec<Range<usize>>,
        tokens: &'a [u64],
        stop: &Stop,
    ) -> Result<OtherText<'a>> {
        let mut numbers = Vec::with_capacity(tokens.len());
        for (at, &hash) in tokens.iter().enumerate() {
            stop.check_at(at)?;
            numbers.push(words.number(hash).unwrap_or(NONE));
        }
        Ok(OtherText { tokens, ranges, numbers })
    }

    /// Returns the number of the known word that a token is.
    #[inline]
    pub fn number(&self, at: usize) -> Option<u32> {
        Some(self.numbers[at]).filter(|&number| number != NONE)
    }
}

/// Bounds of the limit for frequent words. A word is frequent in a text if more than a twentieth of
/// the sentences have it, where the twentieth is clamped to these two numbers. Bounds work:
/// frequent words weigh little, and no evaluation set needs them.
const SENTENCES_OF_WORD: (usize, usize) = (20, 60);

/// Returns the maximum number of sentences with a word that is not frequent, in a text of `count`
/// sentences.
pub fn many_sentences(count: usize) -> usize {
    let (least, most) = SENTENCES_OF_WORD;
    (count / 20).clamp(least, most)
}

/// Returns the weight of a word in `count` of `sentences` sentences, rounded to 4,096ths. Rounded
/// weights add up exactly in any order, so the first of several equal sentences is always taken.
fn says_of(count: u32, sentences: usize) -> f64 {
    (ln(1.0 + sentences as f64 / f64::from(count)) * 4096.0).round() / 4096.0
}

/// The weights of words by the number of sentences that have them.
///
/// Weights are kept, because a logarithm takes as long as ten words, and few words have a high
/// count.
pub struct Weights {
    sentences: usize,
    /// The weight for each count, or 0 if not yet computed.
    of_count: Vec<f64>,
}

impl Weights {
    /// Creates the weights of words in this many sentences.
    pub fn new(sentences: usize) -> Weights {
        Weights { sentences, of_count: vec![0.0; sentences + 1] }
    }

    /// Returns the weight of a word that is in `count` sentences.
    #[inline]
    pub fn of(&mut self, count: u32) -> f64 {
        let known = &mut self.of_count[count as usize];
        if *known == 0.0 {
            *known = says_of(count, self.sentences);
        }
        *known
    }
}

/// Adds, for each word, the number of sentences with it to `counts`.
fn count(counts: &mut [u32], sentences: &Sentences, stop: &Stop) -> Result<()> {
    for (at, word) in sentences.all_words().iter().enumerate() {
        stop.check_at(at)?;
        counts[word.number as usize] += 1;
    }
    Ok(())
}

/// The sentences of a query and of a document, with weights for their words.
pub struct Vocabulary<'a> {
    /// The text whose words are known.
    known: &'a Sentences,
    /// The sentences of the other text. New words have the numbers after the known words.
    other: Sentences,
    /// Whether the known text is the document.
    is_document_known: bool,
    /// The number of words of the known text.
    of_known: usize,
    /// The weight of each word: first the known words, then the new words.
    says: Vec<f64>,
    /// Whether the second text has the known word, by number.
    common: Vec<bool>,
}

impl Vocabulary<'_> {
    /// Weighs the words of two texts. A word weighs ln(1 + sentences / sentences with the word),
    /// over the sentences of the two texts. Without the 1 in the logarithm, every shared word would
    /// weigh nothing in texts of a sentence or two.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
    pub fn new<'a>(
        words: &'a KnownWords,
        other: OtherText<'_>,
        is_document_known: bool,
        stop: &Stop,
    ) -> Result<Vocabulary<'a>> {
        let OtherText { tokens, ranges, numbers } = other;
        let of_known = words.count();
        let mut others = Numbers::default();
        others.reserve((tokens.len() / 4).max(tokens.len().min(1 << 10)));
        let number_of = |at: usize| match numbers[at] {
            NONE => {
                let next = (of_known + others.len()) as u32;
                *others.entry(tokens[at]).or_insert(next)
            }
            number => number,
        };
        let (known, other) = (&words.sentences, Sentences::of(ranges, number_of, stop)?);
        let mut counts = words.counts.clone();
        counts.resize(of_known + others.len(), 0);
        count(&mut counts, &other, stop)?;
        let mut weights = Weights::new(known.count() + other.count());
        let mut says = Vec::with_capacity(counts.len());
        for (at, &count) in counts.iter().enumerate() {
            stop.check_at(at)?;
            says.push(weights.of(count));
        }
        let common = counts.iter().zip(&words.counts).map(|(all, of_known)| all > of_known);
        let common = common.collect();
        Ok(Vocabulary { known, other, is_document_known, of_known, says, common })
    }

    /// Returns the sentences of the query.
    pub fn q(&self) -> &Sentences {
        if self.is_document_known { &self.other } else { self.known }
    }

    /// Returns the sentences of the document.
    pub fn d(&self) -> &Sentences {
        if self.is_document_known { self.known } else { &self.other }
    }

    /// Returns the number of words in both texts together.
    pub fn count(&self) -> usize {
        self.says.len()
    }

    /// Returns the weight of a word in a sentence: occurrences times weight (tf-isf).
    #[inline]
    pub fn weight(&self, word: &Word) -> f64 {
        f64::from(word.times) * self.says[word.number as usize]
    }

    /// Returns the numbers of words, each with its weight.
    pub fn weighed(&self, words: &[Word]) -> impl Iterator<Item = (u32, f64)> {
        words.iter().map(|word| (word.number, self.weight(word)))
    }

    /// Returns the length of the vector of a sentence's words.
    pub fn norm(&self, words: &[Word]) -> f64 {
        self.weighed(words).map(|(_, weight)| weight * weight).sum::<f64>().sqrt()
    }

    /// Returns whether both texts have a word.
    #[inline]
    pub fn is_common(&self, number: u32) -> bool {
        self.common.get(number as usize).is_some_and(|&is_common| is_common)
    }

    /// Returns the weight of a word.
    #[inline]
    pub fn weight_of(&self, number: u32) -> f64 {
        self.says[number as usize]
    }

    /// Finds the sentences of a text with each known word.
    pub fn places_in(&self, text: &Sentences, stop: &Stop) -> Result<Places> {
        let count = self.of_known;
        let mut starts = vec![0u32; count + 1];
        for (at, word) in text.all_words().iter().enumerate() {
            stop.check_at(at)?;
            if let Some(starts) = starts.get_mut(word.number as usize + 1) {
                *starts += 1;
            }
        }
        for word in 0..count {
            starts[word + 1] += starts[word];
        }
        let mut free = starts.clone();
        let mut sentences = vec![0u32; starts[count] as usize];
        for sentence in 0..text.count() {
            stop.check_at(sentence)?;
            let is_known = |word: &&Word| (word.number as usize) < count;
            for word in text.words(sentence).iter().filter(is_known) {
                let free = &mut free[word.number as usize];
                sentences[*free as usize] = sentence as u32;
                *free += 1;
            }
        }
        Ok(Places { starts, sentences })
    }
}

/// The sentences of a text with each known word.
pub struct Places {
    starts: Vec<u32>,
    sentences: Vec<u32>,
}

impl Places {
    /// Returns the number of words.
    pub fn count(&self) -> u32 {
        (self.starts.len() - 1) as u32
    }

    /// Returns the sentences with a word, ascending, or an empty slice if the word is not known.
    #[inline]
    pub fn of(&self, number: u32) -> &[u32] {
        let at = number as usize;
        match self.starts.get(at..at + 2) {
            Some(&[start, end]) => &self.sentences[start as usize..end as usize],
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sentences::ranges;
    use super::super::testing::analyzed;
    use super::*;

    #[test]
    fn words_are_weighed_and_found_by_their_definition() {
        let texts = [
            "The cat sat on the mat. A dog ran past the cat. It was a black dog indeed.",
            "The cat ran past. Nobody saw the cat and the dog. They had gone home. The end was \
             near.",
        ];
        let [a, b] = texts.map(analyzed);
        let [of_a, of_b] = [&a, &b].map(|text| ranges(text.side(), Stop::NEVER).unwrap());
        let words = KnownWords::new(of_a.clone(), &a.tokens.hashes, Stop::NEVER).unwrap();
        let other = OtherText::new(&words, of_b.clone(), &b.tokens.hashes, Stop::NEVER).unwrap();
        let vocabulary = Vocabulary::new(&words, other, false, Stop::NEVER).unwrap();
        let places = vocabulary.places_in(vocabulary.d(), Stop::NEVER).unwrap();
        let tokens = [(&a, &of_a), (&b, &of_b)].map(|(text, ranges)| {
            let hashes = |range: &Range<usize>| text.tokens.hashes[range.clone()].to_vec();
            ranges.iter().map(hashes).collect::<Vec<_>>()
        });
        let all: Vec<&Vec<u64>> = tokens.iter().flatten().collect();
        let (mut numbers, mut shared) = (HashMap::new(), 0);
        for (sentences, tokens) in [vocabulary.q(), vocabulary.d()].into_iter().zip(&tokens) {
            assert_eq!(sentences.count(), tokens.len());
            for (at, tokens) in tokens.iter().enumerate() {
                let mut seen: Vec<u64> = Vec::new();
                for hash in tokens {
                    if !seen.contains(hash) {
                        seen.push(*hash);
                    }
                }
                assert_eq!(sentences.words(at).len(), seen.len());
                for (word, hash) in sentences.words(at).iter().zip(seen) {
                    assert_eq!(*numbers.entry(hash).or_insert(word.number), word.number);
                    let times = tokens.iter().filter(|&&other| other == hash).count() as f64;
                    let with = all.iter().filter(|tokens| tokens.contains(&hash)).count() as u32;
                    let weight = vocabulary.weight(word);
                    assert_eq!(weight, times * says_of(with, all.len()));
                    let exact = times * ln(1.0 + all.len() as f64 / f64::from(with));
                    assert!((weight - exact).abs() < times / 4096.0);
                }
            }
        }
        for (hash, &number) in &numbers {
            let is_known = tokens[0].iter().flatten().any(|other| other == hash);
            assert_eq!(words.number(*hash), is_known.then_some(number));
            if !is_known {
                assert!(places.of(number).is_empty());
            } else {
                let expected = (0..tokens[1].len()).filter(|&at| tokens[1][at].contains(hash));
                let expected: Vec<u32> = expected.map(|at| at as u32).collect();
                assert_eq!(places.of(number), expected);
                shared += expected.len();
            }
        }
        assert!(shared > 5, "{shared}");
        assert!(vocabulary.count() > words.count() + 5);
        assert_eq!(vocabulary.count(), numbers.len());
    }
}
