//! Which words do the sentences of a text have, and what do these say?
//!
//! Sentences are sets of words, weighted by how few sentences of both texts have a word (tf-isf).

use std::collections::HashMap;
use std::ops::Range;

use super::Side;
use crate::error::Result;
use crate::hash::BuildKeyHasher;
use crate::stop::Stop;
use crate::text::is_white_space;

/// A sentence of fewer tokens is part of the next.
const SENTENCE_TOKENS_MIN: usize = 3;
/// A text without full stops is cut after so many tokens.
const SENTENCE_TOKENS_MAX: usize = 60;

/// The sentences of a text.
pub struct Sentences {
    /// Their tokens.
    pub ranges: Vec<Range<usize>>,
    /// The words of each, by their hashes, ascending.
    pub words: Vec<Vec<Word>>,
}

/// A word of a sentence, or of a passage.
#[derive(Debug, Clone, Copy)]
pub struct Word {
    /// The hash of its token.
    pub hash: u64,
    /// How often it occurs; once it is weighed, times how much it says (tf-isf).
    pub weight: f64,
}

impl Sentences {
    /// The sentences of a text, of which the words are not weighed yet.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) when nobody waits.
    pub fn new(side: Side<'_>, stop: Stop<'_>) -> Result<Sentences> {
        let spans = &side.tokens.spans;
        let mut ranges: Vec<Range<usize>> = Vec::new();
        let mut start = 0;
        for end in 1..=spans.len() {
            stop.check_at(end)?;
            let len = end - start;
            let ends = match spans.get(end) {
                None => true,
                Some(next) => {
                    let between = spans[end - 1].end as usize..(next.start as usize);
                    len >= SENTENCE_TOKENS_MAX
                        || len >= SENTENCE_TOKENS_MIN
                            && side.text.get(between).is_some_and(ends_sentence)
                }
            };
            if ends {
                ranges.push(start..end);
                start = end;
            }
        }
        let words = ranges.iter().enumerate().map(|(at, range)| {
            stop.check_at(at)?;
            let mut hashes = side.tokens.hashes[range.clone()].to_vec();
            hashes.sort_unstable();
            let same = hashes.chunk_by(|a, b| a == b);
            Ok(same.map(|same| Word { hash: same[0], weight: same.len() as f64 }).collect())
        });
        Ok(Sentences { words: words.collect::<Result<_>>()?, ranges })
    }

    /// The tokens of a range of sentences.
    pub fn tokens(&self, sentences: &Range<usize>) -> Range<usize> {
        self.ranges[sentences.start].start..self.ranges[sentences.end - 1].end
    }
}

/// Whether what stands between two words is the end of a sentence.
fn ends_sentence(between: &str) -> bool {
    let has_mark = between.contains(['.', '!', '?']);
    let mut last = ' ';
    let mut lines = 0;
    for c in between.chars() {
        // Full stops of scripts without spaces need none after them.
        if matches!(c, '\u{3002}' | '\u{ff01}' | '\u{ff1f}' | '\u{0964}') {
            return true;
        }
        let is_after_mark = matches!(last, '.' | '!' | '?' | '"' | '\u{201d}' | ')');
        if has_mark && is_after_mark && is_white_space(c) {
            return true;
        }
        lines += u32::from(c == '\n');
        last = c;
    }
    lines > 1
}

/// Weighs all words: a word says ln(1 + sentences / sentences with the word), over both texts. The
/// one is for texts of a sentence or two, of which every shared word would say nothing.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when nobody waits.
pub fn weigh(q: &mut Sentences, d: &mut Sentences, stop: Stop<'_>) -> Result<()> {
    let mut counts: HashMap<u64, u32, BuildKeyHasher> = HashMap::default();
    for (at, word) in q.words.iter().chain(&d.words).flatten().enumerate() {
        stop.check_at(at)?;
        *counts.entry(word.hash).or_default() += 1;
    }
    let sentences = (q.words.len() + d.words.len()) as f64;
    for (at, word) in q.words.iter_mut().chain(&mut d.words).flatten().enumerate() {
        stop.check_at(at)?;
        word.weight *= (1.0 + sentences / f64::from(counts[&word.hash])).ln();
    }
    Ok(())
}

/// The length of a vector.
pub fn norm(words: &[Word]) -> f64 {
    words.iter().map(|word| word.weight.powi(2)).sum::<f64>().sqrt()
}

/// The dot product of two vectors, and the number of words in common.
pub fn product(a: &[Word], b: &[Word]) -> (f64, usize) {
    let (mut sum, mut common, mut i, mut j) = (0.0, 0, 0, 0);
    while i < a.len() && j < b.len() {
        let (left, right) = (a[i].hash, b[j].hash);
        if left == right {
            sum += a[i].weight * b[j].weight;
            common += 1;
        }
        i += usize::from(left <= right);
        j += usize::from(right <= left);
    }
    (sum, common)
}

/// What it takes to sort words and add up equal ones, for each.
pub const SORT_STEPS_A_WORD: usize = 8;

/// The words of several sentences.
pub fn joined(sentences: &[Vec<Word>]) -> Vec<Word> {
    let mut words: Vec<Word> = sentences.iter().flatten().copied().collect();
    // Stable, so that equal words are added up in the order of the text, and to the same sum.
    words.sort_by_key(|word| word.hash);
    let same = words.chunk_by(|a, b| a.hash == b.hash);
    let sum = |same: &[Word]| same.iter().map(|word| word.weight).sum();
    same.map(|same| Word { hash: same[0].hash, weight: sum(same) }).collect()
}
