//! Which sentences of two texts are alike?
//!
//! Two sentences are alike by the cosine of their weighted words and by the Dice coefficient of
//! their sets: Sanchez-Perez, Sidorov and Gelbukh, "A winning approach to text alignment for text
//! reuse detection at PAN 2014", section 2.2, whose thresholds these are, without stemming, which
//! would need to know the language.

use std::collections::HashMap;
use std::ops::Range;

use super::groups::Seed;
use super::sentences::{SORT_STEPS_A_WORD, Sentences, norm, product};
use crate::error::Result;
use crate::hash::BuildKeyHasher;
use crate::stop::Steps;

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
/// [`Error::Cancelled`](crate::Error::Cancelled) when nobody waits.
pub fn seeds(q: &Sentences, d: &Sentences, open: &[bool], steps: &mut Steps<'_>) -> Result<Seeds> {
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
    let mut seeds =
        Seeds { all: Vec::new(), best: [vec![None; q.words.len()], vec![None; d.words.len()]] };
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
            let norms = norm * norms[other as usize];
            if product > COSINE_MIN * norms && dice > DICE_MIN {
                seeds.push((at as u32, other), product / norms);
            }
        }
    }
    Ok(seeds)
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
