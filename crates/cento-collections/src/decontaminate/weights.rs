//! Weighs the tokens of questions.
//!
//! A background model of the questions ([`background`](cento_text::compare::background)) gives the
//! probability of a token after its predecessors, for a reader of the other questions. A token
//! weighs the probability that this reader does not guess it: next to nothing for the words of a
//! form, and the whole weight for a name. Weights in bits would rank tokens alike, but then a rare
//! name weighs so much that half of the words rarely make half of the question.
//!
//! The model does not count long copies. So questions that share a run of `k` tokens also share its
//! weight: if a hundred questions have "which of the following is", a question owns a hundredth.

use std::collections::HashMap;
use std::f64::consts::LN_2;

use super::wanted::WantedText;
use cento_text::compare::background::Background;
use cento_text::hash::BuildKeyHasher;
use cento_text::number::exp;
use cento_text::scheme::run_values;

/// The weight of a token that cannot be guessed. Weights are integers, because sums must not depend
/// on the order of the terms.
const WHOLE: f64 = 65_536.0;

/// What weights are computed from.
#[derive(Debug)]
pub(super) struct TokenWeights {
    background: Background,
    /// By run, the number of texts that have the run.
    texts: HashMap<u64, u32, BuildKeyHasher>,
}

impl TokenWeights {
    /// Counts the runs of distinct texts.
    pub fn new<'a>(wanted: impl Iterator<Item = &'a WantedText> + Clone, k: usize) -> TokenWeights {
        let mut texts: HashMap<u64, u32, BuildKeyHasher> = HashMap::default();
        for run in wanted.clone().flat_map(WantedText::runs) {
            *texts.entry(*run).or_default() += 1;
        }
        // The model counts only the first texts of a large benchmark, whose order must not matter.
        let mut sampled: Vec<&WantedText> = wanted.collect();
        sampled.sort_unstable_by_key(|text| (run_values(&text.tokens, k).min(), &text.tokens));
        let tokens: Vec<&[u64]> = sampled.iter().map(|text| &text.tokens[..]).collect();
        TokenWeights { background: Background::new(&tokens), texts }
    }

    /// Returns the number of texts that have a run.
    pub fn texts(&self, run: u64) -> u32 {
        self.texts.get(&run).copied().unwrap_or(0)
    }

    /// Returns the weights of the tokens of a text, each at least 1.
    pub fn of(&self, wanted: &WantedText, k: usize) -> Vec<u32> {
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
