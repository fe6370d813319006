//! Which sentences of two texts are alike?
//!
//! Two sentences are alike by the cosine of their weighted words and by the Dice coefficient of
//! their sets: Sanchez-Perez, Sidorov and Gelbukh, "A winning approach to text alignment for text
//! reuse detection at PAN 2014", section 2.2, whose thresholds these are, without stemming, which
//! would need to know the language.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;

use super::groups::Seed;
use super::sentences::{Places, SORT_STEPS_A_WORD, Sentences, Vocabulary, norm, product};
use crate::error::Result;
use crate::hash::{BuildKeyHasher, mix64};
use crate::stop::{Steps, Stop};

/// Two sentences whose vectors have at least this cosine may be a seed.
pub const COSINE_MIN: f64 = 0.3;
/// Two sentences whose sets of words have at least this Dice coefficient may be a seed.
const DICE_MIN: f64 = 0.33;
/// Words in more than a twentieth of the sentences of the document bring up no pair of sentences;
/// a twentieth being at least the first number and at most the second.
const SENTENCES_OF_WORD: (usize, usize) = (20, 60);

/// The pairs of alike sentences of a query and a document.
pub struct Seeds {
    /// All, in the order of the query.
    pub all: Vec<Seed>,
    /// For each sentence of the query, and of the document, the one of the other text that is most
    /// like it, the first of equals; with the cosine of the two.
    pub best: [Vec<Option<(u32, f64)>>; 2],
}

/// The pairs of alike sentences, of those of the query that are `open`; as many as the
/// steps are enough for.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn seeds(
    q: &Sentences,
    d: &Sentences,
    vocabulary: &Vocabulary,
    open: &[bool],
    steps: &mut Steps<'_>,
) -> Result<Seeds> {
    let stop = steps.stop();
    let places = vocabulary.places(d, stop)?;
    let many = (d.count() / 20).clamp(SENTENCES_OF_WORD.0, SENTENCES_OF_WORD.1);
    let norms: Vec<f64> = (0..d.count()).map(|at| norm(d.words(at))).collect();
    let frequent = Frequent::new(d, &places, many, stop)?;
    let mut seeds = Seeds { all: Vec::new(), best: [vec![None; q.count()], vec![None; d.count()]] };
    // The words that bring up a sentence of the document, for each.
    let mut rare = vec![0u32; d.count()];
    let mut alike: Vec<u32> = Vec::new();
    for at in (0..q.count()).filter(|&at| open[at]) {
        let words = q.words(at);
        let mut brought = 0;
        let mut kept = Kept::default();
        for &number in vocabulary.of_query(q, at) {
            let sentences = places.of(number);
            if sentences.len() > many {
                kept.add(frequent.place(number));
                continue;
            }
            brought += sentences.len();
            for &sentence in sentences {
                let count = &mut rare[sentence as usize];
                if *count == 0 {
                    alike.push(sentence);
                }
                *count += 1;
            }
        }
        // Sixty words that are in sixty sentences each.
        let is_enough =
            steps.take((words.len() + brought + alike.len() * SORT_STEPS_A_WORD) as u64)?;
        alike.sort_unstable();
        let norm = norm(words);
        for other in alike.drain(..) {
            let count = std::mem::take(&mut rare[other as usize]);
            let others = d.words(other as usize);
            let dice = |common: usize| 2.0 * common as f64 / (words.len() + others.len()) as f64;
            // Most sentences that are brought up by a word or two are far from alike.
            let common_max = count as usize + kept.common_max(&frequent.kept[other as usize]);
            if !is_enough || dice(common_max) <= DICE_MIN {
                continue;
            }
            if !steps.take((words.len() + others.len()) as u64)? {
                return Ok(seeds);
            }
            let (product, common) = product(words, others);
            let norms = norm * norms[other as usize];
            if product > COSINE_MIN * norms && dice(common) > DICE_MIN {
                seeds.push((at as u32, other), product / norms);
            }
        }
        if !is_enough {
            break;
        }
    }
    Ok(seeds)
}

/// Which frequent words a sentence has: how many two have in common is known at a glance.
#[derive(Clone, Copy, Default)]
struct Kept {
    /// Of the most frequent 64, a bit each.
    bits: u64,
    /// Of the others, how many.
    others: u32,
}

impl Kept {
    fn add(&mut self, place: u32) {
        match place {
            0..64 => self.bits |= 1 << place,
            _ => self.others += 1,
        }
    }

    /// No fewer than both have.
    fn common_max(&self, other: &Kept) -> usize {
        ((self.bits & other.bits).count_ones() + self.others.min(other.others)) as usize
    }
}

/// The words of a document that are too frequent to bring up a sentence.
struct Frequent {
    /// The place of each among them, the most frequent first, by its number.
    places: HashMap<u64, u32, BuildKeyHasher>,
    /// Those of each sentence of the document.
    kept: Vec<Kept>,
}

impl Frequent {
    /// The words that are in more than `many` sentences.
    fn new(d: &Sentences, words: &Places, many: usize, stop: Stop<'_>) -> Result<Frequent> {
        let mut frequent: Vec<(Reverse<usize>, u32)> = Vec::new();
        for number in 0..words.count() {
            stop.check_at(number as usize)?;
            let sentences = words.of(number).len();
            if sentences > many {
                frequent.push((Reverse(sentences), number));
            }
        }
        frequent.sort_unstable();
        let mut kept = vec![Kept::default(); d.count()];
        let mut places = HashMap::default();
        for (place, &(_, number)) in (0u32..).zip(&frequent) {
            stop.check()?;
            places.insert(mix64(u64::from(number)), place);
            words.of(number).iter().for_each(|&sentence| kept[sentence as usize].add(place));
        }
        Ok(Frequent { places, kept })
    }

    fn place(&self, number: u32) -> u32 {
        self.places[&mix64(u64::from(number))]
    }
}

impl Seeds {
    fn push(&mut self, seed: Seed, cosine: f64) {
        self.all.push(seed);
        let [of_query, of_document] = &mut self.best;
        let sides =
            [(&mut of_query[seed.0 as usize], seed.1), (&mut of_document[seed.1 as usize], seed.0)];
        for (best, other) in sides {
            if best.is_none_or(|(_, most)| cosine > most) {
                *best = Some((other, cosine));
            }
        }
    }
}

/// The sentences from the first seed to the last, in the query and in the document.
pub fn extent(seeds: &[Seed]) -> (Range<usize>, Range<usize>) {
    let range = |of: fn(&Seed) -> u32| {
        let first = seeds.iter().map(of).min().unwrap_or(0);
        first as usize..seeds.iter().map(of).max().unwrap_or(0) as usize + 1
    };
    (range(|seed| seed.0), range(|seed| seed.1))
}
