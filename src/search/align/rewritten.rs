//! Which passages were rewritten, so that hardly two words in a row are left?
//!
//! Sentences are compared as sets of words, weighted by how few sentences of both texts have a word
//! (tf-isf); pairs that are alike by cosine and by the Dice coefficient are seeds. Seeds with few
//! sentences between them, in both texts, are clustered; a cluster whose two sides are not alike
//! as wholes is tried again with smaller gaps. The method and its thresholds are those of
//! Sanchez-Perez, Sidorov and Gelbukh, "A winning approach to text alignment for text reuse
//! detection at PAN 2014", sections 2.2 and 2.3, without stemming, which would need to know the
//! language.

use std::collections::HashMap;
use std::ops::Range;

use super::Side;
use super::chain::{Chain, Taken};
use super::groups::{Seed, groups};
use crate::error::Result;
use crate::hash::BuildKeyHasher;
use crate::stop::{Steps, Stop};
use crate::text::is_white_space;

/// Two sentences whose vectors have at least this cosine may be a seed.
const COSINE_MIN: f64 = 0.3;
/// Two sentences whose sets of words have at least this Dice coefficient may be a seed.
const DICE_MIN: f64 = 0.33;
/// The two sides of a passage have at least this cosine.
const PASSAGE_COSINE_MIN: f64 = 0.34;
/// At most so many sentences between two seeds.
const GAP_SENTENCES_MAX: usize = 4;
/// Who rewrites a passage does not make it longer or shorter than so many times.
const LENGTHS_RATIO_MAX: usize = 4;
/// A shorter side is chance.
const PASSAGE_BYTES_MIN: usize = 150;
/// A sentence of fewer tokens is part of the next.
const SENTENCE_TOKENS_MIN: usize = 3;
/// A text without full stops is cut after so many tokens.
const SENTENCE_TOKENS_MAX: usize = 60;
/// A copied passage of so many tokens needs no closer look.
const COPIED_TOKENS_MIN: usize = 40;
/// Words in more than a twentieth of the sentences of the document bring up no pair of sentences;
/// a twentieth being at least the first number and at most the second.
const SENTENCES_OF_WORD: (usize, usize) = (20, 60);

/// Rewritten passages of two texts of which it is known what was copied: ranges of tokens of the
/// query and of the document, those of most seeds first.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when nobody waits.
pub fn passages(
    query: Side<'_>,
    document: Side<'_>,
    copied: &[Chain],
    steps: &mut Steps<'_>,
) -> Result<Vec<(Range<usize>, Range<usize>)>> {
    let stop = steps.stop();
    let (mut q, mut d) = (Sentences::new(query, stop)?, Sentences::new(document, stop)?);
    weigh(&mut q, &mut d, stop)?;
    let mut long = Taken::default();
    for chain in copied.iter().filter(|chain| chain.matched >= COPIED_TOKENS_MIN) {
        long.insert(chain.query.clone());
    }
    // A sentence that is copied in part is where a copied passage ends.
    let open: Vec<bool> = q.ranges.iter().map(|sentence| long.covered(sentence) == 0).collect();
    steps.begin_stage();
    let seeds = seeds(&q, &d, &open, steps)?;
    steps.begin_stage();
    let mut found = Vec::new();
    cluster(seeds, GAP_SENTENCES_MAX, (&q, &d), &mut found, steps)?;
    found.sort_by_key(|seeds| std::cmp::Reverse(seeds.len()));
    let ranges = found.into_iter().map(|seeds| {
        let (a, b) = extent(&seeds);
        (q.tokens(&a), d.tokens(&b))
    });
    let found = ranges.filter(|(a, b)| {
        let (long, short) = (a.len().max(b.len()), a.len().min(b.len()));
        long <= short * LENGTHS_RATIO_MAX
            && query.bytes(a).min(document.bytes(b)) >= PASSAGE_BYTES_MIN
    });
    Ok(found.collect())
}

impl Side<'_> {
    /// The bytes from the first of these tokens to the last.
    fn bytes(&self, tokens: &Range<usize>) -> usize {
        let spans = &self.tokens.spans[tokens.clone()];
        spans.last().map_or(0, |last| (last.end - spans[0].start) as usize)
    }
}

/// The sentences of a text.
struct Sentences {
    /// Their tokens.
    ranges: Vec<Range<usize>>,
    /// The words of each, by their hashes, ascending.
    words: Vec<Vec<Word>>,
}

/// A word of a sentence, or of a passage.
#[derive(Debug, Clone, Copy)]
struct Word {
    hash: u64,
    /// How often it occurs; once it is weighed, times how much it says (tf-isf).
    weight: f64,
}

impl Sentences {
    fn new(side: Side<'_>, stop: Stop<'_>) -> Result<Sentences> {
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
    fn tokens(&self, sentences: &Range<usize>) -> Range<usize> {
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
fn weigh(q: &mut Sentences, d: &mut Sentences, stop: Stop<'_>) -> Result<()> {
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
fn norm(words: &[Word]) -> f64 {
    words.iter().map(|word| word.weight.powi(2)).sum::<f64>().sqrt()
}

/// The dot product of two vectors, and the number of words in common.
fn product(a: &[Word], b: &[Word]) -> (f64, usize) {
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

/// Whether the two sides of a passage are alike as wholes; none if that takes too many steps.
fn are_alike(
    (q, d): (&Sentences, &Sentences),
    seeds: &[Seed],
    steps: &mut Steps<'_>,
) -> Result<Option<bool>> {
    let (a, b) = extent(seeds);
    let (a, b) = (&q.words[a], &d.words[b]);
    let words: usize = a.iter().chain(b).map(Vec::len).sum();
    if !steps.take((seeds.len() + words * SORT_STEPS_A_WORD) as u64)? {
        return Ok(None);
    }
    let (a, b) = (joined(a), joined(b));
    Ok(Some(product(&a, &b).0 >= PASSAGE_COSINE_MIN * norm(&a) * norm(&b)))
}

/// What it takes to sort words and add up equal ones, for each.
const SORT_STEPS_A_WORD: usize = 8;

/// The words of several sentences.
fn joined(sentences: &[Vec<Word>]) -> Vec<Word> {
    let mut words: Vec<Word> = sentences.iter().flatten().copied().collect();
    // Stable, so that equal words are added up in the order of the text, and to the same sum.
    words.sort_by_key(|word| word.hash);
    let same = words.chunk_by(|a, b| a.hash == b.hash);
    let sum = |same: &[Word]| same.iter().map(|word| word.weight).sum();
    same.map(|same| Word { hash: same[0].hash, weight: sum(same) }).collect()
}

/// The pairs of alike sentences, of those of the query that are `open`.
fn seeds(q: &Sentences, d: &Sentences, open: &[bool], steps: &mut Steps<'_>) -> Result<Vec<Seed>> {
    let stop = steps.stop();
    let mut sentences_of: HashMap<u64, Vec<u32>, BuildKeyHasher> = HashMap::default();
    for (at, words) in (0u32..).zip(&d.words) {
        stop.check_at(at as usize)?;
        for word in words {
            sentences_of.entry(word.hash).or_default().push(at);
        }
    }
    let many = (d.words.len() / 20).clamp(SENTENCES_OF_WORD.0, SENTENCES_OF_WORD.1);
    let norms: Vec<f64> = d.words.iter().map(|words| norm(words)).collect();
    let mut seeds = Vec::new();
    let mut alike: Vec<u32> = Vec::new();
    for (at, words) in q.words.iter().enumerate().filter(|&(at, _)| open[at]) {
        alike.clear();
        for word in words {
            let sentences =
                sentences_of.get(&word.hash).filter(|sentences| sentences.len() <= many);
            alike.extend(sentences.into_iter().flatten());
        }
        // Sixty words that are in sixty sentences each.
        if !steps.take((words.len() + alike.len() * SORT_STEPS_A_WORD) as u64)? {
            break;
        }
        alike.sort_unstable();
        alike.dedup();
        let norm = norm(words);
        for &other in &alike {
            let others = &d.words[other as usize];
            if !steps.take((words.len() + others.len()) as u64)? {
                return Ok(seeds);
            }
            let (product, common) = product(words, others);
            let dice = 2.0 * common as f64 / (words.len() + others.len()) as f64;
            if product > COSINE_MIN * norm * norms[other as usize] && dice > DICE_MIN {
                seeds.push((at as u32, other));
            }
        }
    }
    Ok(seeds)
}

/// The sentences from the first seed to the last, in the query and in the document.
fn extent(seeds: &[Seed]) -> (Range<usize>, Range<usize>) {
    let range = |of: fn(&Seed) -> u32| {
        let first = seeds.iter().map(of).min().unwrap_or(0);
        first as usize..seeds.iter().map(of).max().unwrap_or(0) as usize + 1
    };
    (range(|seed| seed.0), range(|seed| seed.1))
}

/// Appends the clusters of `seeds` that are alike, with gaps of at most `gap_max` sentences; as many
/// as the steps are enough for.
fn cluster(
    seeds: Vec<Seed>,
    gap_max: usize,
    texts: (&Sentences, &Sentences),
    found: &mut Vec<Vec<Seed>>,
    steps: &mut Steps<'_>,
) -> Result<()> {
    for group in groups(seeds, gap_max, steps)? {
        match are_alike(texts, &group, steps)? {
            None => break,
            Some(true) => found.push(group),
            Some(false) if gap_max > 0 && group.len() > 1 => {
                cluster(group, gap_max - 1, texts, found, steps)?;
            }
            Some(false) => {}
        }
    }
    Ok(())
}
