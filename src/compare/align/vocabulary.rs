//! How much do the words of two texts say, and in which sentences of the document are the query's?
//!
//! Words are weighted by how few sentences of both texts have them (tf-isf).

use std::collections::HashMap;
use std::ops::Range;

use super::ROOM;
use super::known::Known;
use super::sentences::Sentences;
use crate::error::Result;
use crate::hash::BuildKeyHasher;
use crate::number::ln;
use crate::stop::Stop;

type Numbers = HashMap<u64, u32, BuildKeyHasher>;

/// The number of a word; a new one gets the next, and a count.
fn number_in(numbers: &mut Numbers, hash: u64, counts: &mut Vec<u32>) -> u32 {
    *numbers.entry(hash).or_insert_with(|| {
        counts.push(0);
        counts.len() as u32 - 1
    })
}

/// The words of a query, each with a number: found once for all documents.
pub struct QueryWords {
    numbers: Numbers,
    known: Known,
    /// The numbers of the words of its sentences, one sentence after the other.
    in_order: Vec<u32>,
    /// In how many sentences each word is.
    counts: Vec<u32>,
}

impl QueryWords {
    /// The words of these sentences.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
    pub fn new(q: &Sentences, stop: Stop<'_>) -> Result<QueryWords> {
        let words = q.all_words();
        let mut numbers = Numbers::default();
        numbers.reserve(words.len().min(ROOM));
        let mut counts: Vec<u32> = Vec::new();
        let mut in_order = Vec::with_capacity(words.len());
        for (at, word) in words.iter().enumerate() {
            stop.check_at(at)?;
            let number = number_in(&mut numbers, word.hash, &mut counts);
            counts[number as usize] += 1;
            in_order.push(number);
        }
        let known = Known::new(numbers.keys().copied());
        Ok(QueryWords { numbers, known, in_order, counts })
    }

    /// How many words there are.
    pub fn count(&self) -> usize {
        self.counts.len()
    }

    /// The number of a word, if the query has it.
    #[inline]
    pub fn number(&self, hash: u64) -> Option<u32> {
        if self.known.may_have(hash) { self.numbers.get(&hash).copied() } else { None }
    }

    /// The numbers of the words of some sentences.
    pub fn of(&self, q: &Sentences, sentences: &Range<usize>) -> &[u32] {
        &self.in_order[q.places(sentences)]
    }
}

/// The words of a query and a document, which are weighed.
pub struct Vocabulary<'a> {
    /// Those of the query.
    pub of_query: &'a QueryWords,
    /// The numbers of the words of the document, in their order; those that the query does not have come after those
    /// that it has.
    numbers: Vec<u32>,
    count: usize,
}

impl<'a> Vocabulary<'a> {
    /// Weighs all words: a word says ln(1 + sentences / sentences with the word), over both texts. The
    /// one is for texts of a sentence or two, of which every shared word would say nothing.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
    pub fn weigh(
        (q, of_query): (&mut Sentences, &'a QueryWords),
        d: &mut Sentences,
        stop: Stop<'_>,
    ) -> Result<Vocabulary<'a>> {
        let words = d.all_words();
        let mut others = Numbers::default();
        others.reserve(words.len().min(ROOM).max(words.len() / 4));
        let mut counts = of_query.counts.clone();
        let mut numbers = Vec::with_capacity(words.len());
        for (at, word) in words.iter().enumerate() {
            stop.check_at(at)?;
            let number = of_query.number(word.hash);
            let number = number.unwrap_or_else(|| number_in(&mut others, word.hash, &mut counts));
            counts[number as usize] += 1;
            numbers.push(number);
        }
        let sentences = q.count() + d.count();
        // Few words are in many sentences, and a logarithm takes as long as ten words.
        let mut of_count = vec![0.0; sentences + 1];
        let mut says = Vec::with_capacity(counts.len());
        for (at, &count) in counts.iter().enumerate() {
            stop.check_at(at)?;
            let known = &mut of_count[count as usize];
            if *known == 0.0 {
                *known = ln(1.0 + sentences as f64 / f64::from(count));
            }
            says.push(*known);
        }
        for (sentences, numbers) in [(q, &of_query.in_order), (d, &numbers)] {
            let words = sentences.all_words_mut().iter_mut();
            for (at, (word, &number)) in words.zip(numbers).enumerate() {
                stop.check_at(at)?;
                word.weight *= says[number as usize];
            }
        }
        Ok(Vocabulary { of_query, numbers, count: counts.len() })
    }

    /// How many words both texts have.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The numbers of the words of some sentences of the document.
    pub fn of(&self, d: &Sentences, sentences: &Range<usize>) -> &[u32] {
        &self.numbers[d.places(sentences)]
    }

    /// In which sentences of the document each word of the query is.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
    pub fn places(&self, d: &Sentences, stop: Stop<'_>) -> Result<Places> {
        let count = self.of_query.count();
        let mut starts = vec![0u32; count + 1];
        for (at, &number) in self.numbers.iter().enumerate() {
            stop.check_at(at)?;
            if let Some(starts) = starts.get_mut(number as usize + 1) {
                *starts += 1;
            }
        }
        for word in 0..count {
            starts[word + 1] += starts[word];
        }
        let mut free = starts.clone();
        let mut sentences = vec![0u32; starts[count] as usize];
        for sentence in 0..d.count() {
            stop.check_at(sentence)?;
            let numbers = self.of(d, &(sentence..sentence + 1));
            for &number in numbers.iter().filter(|&&number| (number as usize) < count) {
                let free = &mut free[number as usize];
                sentences[*free as usize] = sentence as u32;
                *free += 1;
            }
        }
        Ok(Places { starts, sentences })
    }
}

/// The sentences of a document that each word of the query is in.
pub struct Places {
    starts: Vec<u32>,
    sentences: Vec<u32>,
}

impl Places {
    /// The number of words.
    pub fn count(&self) -> u32 {
        (self.starts.len() - 1) as u32
    }

    /// The sentences that a word is in, ascending.
    pub fn of(&self, number: u32) -> &[u32] {
        let at = number as usize;
        &self.sentences[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Analyzed, Analyzer};

    fn analyzed(text: &str) -> Analyzed {
        Analyzed::new(text.into(), &Analyzer::default(), Stop::NEVER).unwrap()
    }

    #[test]
    fn words_are_weighed_and_found_by_their_definition() {
        let texts = [
            "The cat sat on the mat. A dog ran past the cat. It was a black dog indeed.",
            "The cat ran past. Nobody saw the cat and the dog. They had gone home. The end was near.",
        ];
        let [a, b] = texts.map(analyzed);
        let [q, d] = [&a, &b].map(|text| Sentences::new(text.side(), Stop::NEVER).unwrap());
        let (mut weighed_q, mut weighed_d) = (q.clone(), d.clone());
        let words = QueryWords::new(&q, Stop::NEVER).unwrap();
        let found = Vocabulary::weigh((&mut weighed_q, &words), &mut weighed_d, Stop::NEVER);
        let places = found.unwrap().places(&d, Stop::NEVER).unwrap();
        let has = |sentences: &Sentences, at: usize, hash: u64| {
            sentences.words(at).iter().any(|word| word.hash == hash)
        };
        let count = |sentences: &Sentences, hash: u64| {
            (0..sentences.count()).filter(|&at| has(sentences, at, hash)).count()
        };
        let all = (q.count() + d.count()) as f64;
        for (plain, weighed) in [(&q, &weighed_q), (&d, &weighed_d)] {
            for (word, weighed) in plain.all_words().iter().zip(weighed.all_words()) {
                let with = count(&q, word.hash) + count(&d, word.hash);
                assert_eq!(weighed.weight, word.weight * ln(1.0 + all / with as f64));
            }
        }
        let mut shared = 0;
        for sentence in 0..q.count() {
            for (word, &number) in
                q.words(sentence).iter().zip(words.of(&q, &(sentence..sentence + 1)))
            {
                assert_eq!(words.number(word.hash), Some(number));
                let expected = (0..d.count()).filter(|&at| has(&d, at, word.hash));
                let expected: Vec<u32> = expected.map(|at| at as u32).collect();
                assert_eq!(places.of(number), expected);
                shared += expected.len();
            }
        }
        assert!(shared > 10, "{shared}");
        let only_there = d.all_words().iter().filter(|word| count(&q, word.hash) == 0);
        assert!(only_there.filter(|word| words.number(word.hash).is_none()).count() > 5);
    }
}
