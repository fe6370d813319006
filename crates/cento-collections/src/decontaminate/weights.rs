//! How much does each token count among a question's own words?
//!
//! A background model of the questions ([`background`](cento_text::compare::background)) says how
//! probable a token is after those before it, for a reader of the other questions. A token counts
//! by the probability that this reader does not guess it: the words of a form hardly, and a name
//! whole. Weights in bits would rank the tokens alike, but a rare name then weighs so much that
//! half of the words are seldom half of the question.
//!
//! The model does not count long copies. So the questions that have a run of `k` tokens with the
//! token also share it: of "which of the following is" each of a hundred questions owns a
//! hundredth.

use std::collections::HashMap;
use std::f64::consts::LN_2;

use super::wanted::Wanted;
use cento_text::compare::background::Background;
use cento_text::hash::BuildKeyHasher;
use cento_text::number::exp;
use cento_text::scheme::run_values;

/// The weight of a token that cannot be guessed. Weights are whole numbers, because sums must not
/// depend on their order.
const WHOLE: f64 = 65_536.0;

/// What the tokens of the questions say.
#[derive(Debug)]
pub(super) struct Weights {
    background: Background,
    /// The number of texts that have each run.
    texts: HashMap<u64, u32, BuildKeyHasher>,
}

impl Weights {
    /// Counts the runs of different texts.
    pub fn new<'a>(wanted: impl Iterator<Item = &'a Wanted> + Clone, k: usize) -> Weights {
        let mut texts: HashMap<u64, u32, BuildKeyHasher> = HashMap::default();
        for run in wanted.clone().flat_map(Wanted::runs) {
            *texts.entry(*run).or_default() += 1;
        }
        // The model counts only the first texts of a large benchmark, whose order must not matter.
        let mut sampled: Vec<&Wanted> = wanted.collect();
        sampled.sort_unstable_by_key(|text| (run_values(&text.tokens, k).min(), &text.tokens));
        let tokens: Vec<&[u64]> = sampled.iter().map(|text| &text.tokens[..]).collect();
        Weights { background: Background::new(&tokens), texts }
    }

    /// Returns the number of texts that have a run.
    pub fn texts(&self, run: u64) -> u32 {
        self.texts.get(&run).copied().unwrap_or(0)
    }

    /// Returns the weights of the tokens of a text, 1 or more.
    pub fn of(&self, wanted: &Wanted, k: usize) -> Vec<u32> {
        let mut owners = vec![1; wanted.tokens.len()];
        for (place, run) in run_values(&wanted.tokens, k).enumerate() {
            let texts = self.texts(run);
            owners[place..place + k].iter_mut().for_each(|owners| *owners = texts.max(*owners));
        }
        let bits = self.background.bits(&wanted.tokens, 1);
        let unguessed = |bits: f64| 1.0 - exp(-bits * LN_2);
        let weight = |(bits, owners)| (unguessed(bits) * WHOLE / f64::from(owners)) as u32;
        bits.into_iter().zip(owners).map(|token| weight(token).max(1)).collect()
    }
}
