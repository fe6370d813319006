//! A text to search for: a question, or the answer to a question.

use super::SHORT;
use cento_text::scheme::run_values;

/// A text to search for, as runs.
#[derive(Debug)]
pub(super) struct WantedText {
    /// The hashes of the tokens.
    pub tokens: Vec<u64>,
    /// The distinct runs, ascending.
    runs: Vec<u64>,
    /// The places of the runs. Run i has the places `places[starts[i]..starts[i + 1]]`.
    starts: Vec<u32>,
    places: Vec<u32>,
    /// The weight of each token, and the sum of the weights.
    weights: Vec<u32>,
    weight: u64,
    /// The minimum number and the minimum weight of tokens that must occur together.
    least: (u32, u64),
}

impl WantedText {
    /// Prepares a text of at least `k` tokens. `share` of the tokens must occur, and all tokens
    /// weigh the same.
    pub fn new(tokens: Vec<u64>, k: usize, share: f64) -> WantedText {
        let mut of_place: Vec<(u64, u32)> = run_values(&tokens, k).zip(0..).collect();
        of_place.sort_unstable();
        let (mut runs, mut starts) = (Vec::new(), Vec::new());
        for (at, (run, _)) in of_place.iter().enumerate() {
            if runs.last() != Some(run) {
                runs.push(*run);
                starts.push(at as u32);
            }
        }
        starts.push(of_place.len() as u32);
        let places = of_place.into_iter().map(|(_, place)| place).collect();
        let (weights, few) = (vec![1; tokens.len()], SHORT.min(tokens.len()) as u32);
        let (weight, least) = (0, (few, 0));
        let mut wanted =
            WantedText { tokens, runs, starts, places, weights: Vec::new(), weight, least };
        wanted.set_weights(weights, share);
        wanted
    }

    /// Sets the weights of the tokens. `share` of their sum must occur.
    pub fn set_weights(&mut self, weights: Vec<u32>, share: f64) {
        self.weight = weights.iter().copied().map(u64::from).sum();
        self.least.1 = least_of(share, self.weight);
        self.weights = weights;
    }

    pub fn runs(&self) -> &[u64] {
        &self.runs
    }

    /// Returns the number of a run, if the text has the run.
    pub fn number_of(&self, run: u64) -> Option<usize> {
        self.runs.binary_search(&run).ok()
    }

    /// Returns the places of the run with this number.
    pub fn places(&self, run: usize) -> &[u32] {
        &self.places[self.starts[run] as usize..self.starts[run + 1] as usize]
    }

    pub fn weights(&self) -> &[u32] {
        &self.weights
    }

    pub fn weight(&self) -> u64 {
        self.weight
    }

    /// Returns the minimum number and the minimum weight of tokens that must occur together.
    pub fn least(&self) -> (u32, u64) {
        self.least
    }

    /// Returns the maximum length of a stretch for the text to occur there.
    pub fn window(&self) -> usize {
        2 * self.tokens.len()
    }

    /// Returns the rarest runs of the text, which bring up the text. `texts` returns the number of
    /// texts with a run. The remaining runs have at most half of the minimum weight. Also returns
    /// the minimum number of places with these runs in a stretch where the text occurs.
    pub fn finders(&self, k: usize, texts: impl Fn(u64) -> u32) -> (Vec<u64>, usize) {
        let mut runs = self.runs.clone();
        runs.sort_unstable_by_key(|run| (texts(*run), *run));
        let mut is_covered = vec![false; self.tokens.len()];
        let mut covered = 0;
        while let Some(run) = runs.last().filter(|run| texts(**run) > 1) {
            let others = self.tokens_of(*run, k).filter(|&token| !is_covered[token]);
            let weight: u64 = others.map(|token| u64::from(self.weights[token])).sum();
            if 2 * (covered + weight) > self.least.1 {
                break;
            }
            covered += weight;
            self.tokens_of(*run, k).for_each(|token| is_covered[token] = true);
            runs.pop();
        }
        let weight = |run: &u64| -> u64 {
            self.tokens_of(*run, k).map(|token| u64::from(self.weights[token])).sum()
        };
        let heaviest = runs.iter().map(weight).max().unwrap_or(1).max(1);
        let places = (self.least.1 - covered).div_ceil(heaviest).max(1);
        (runs, places as usize)
    }

    /// Returns the tokens at the places of a run. Tokens in overlapping places come several times.
    fn tokens_of(&self, run: u64, k: usize) -> impl Iterator<Item = usize> {
        let number = self.number_of(run).expect("it is one of its runs");
        self.places(number).iter().flat_map(move |&at| at as usize..at as usize + k)
    }
}

/// Returns the minimum weight that is this share of a weight.
fn least_of(share: f64, of: u64) -> u64 {
    // Rounding must not exclude a weight that is exactly the share.
    ((share * of as f64 - 1e-6).ceil() as u64).clamp(1, of.max(1))
}
