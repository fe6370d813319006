//! A text to be found in others: a question, or the answer to one.

use super::SHORT;
use cento_text::scheme::run_values;

/// A text to be found, as its runs.
#[derive(Debug)]
pub(super) struct Wanted {
    /// The hashes of its tokens.
    pub tokens: Vec<u64>,
    /// Its distinct runs, ascending.
    runs: Vec<u64>,
    /// The places of each run: those of run i are `places[starts[i]..starts[i + 1]]`.
    starts: Vec<u32>,
    places: Vec<u32>,
    /// Whether a token counts as the text's own.
    is_own: Vec<bool>,
    own: u32,
    /// The least number of its tokens that must occur together, and of its own.
    least: (u32, u32),
}

impl Wanted {
    /// Makes a text of at least `k` tokens ready to be found, by `share` of its tokens. All of them
    /// are its own.
    pub fn new(tokens: Vec<u64>, k: usize, share: f64) -> Wanted {
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
        let own = tokens.len() as u32;
        let few = (SHORT as u32).min(own);
        let least = (least_of(share, own).max(few), least_of(share, own));
        let is_own = vec![true; tokens.len()];
        Wanted { tokens, runs, starts, places, is_own, own, least }
    }

    /// Takes the tokens of runs that are boilerplate from its own, unless none would be left.
    pub fn without(self, k: usize, share: f64, is_boilerplate: impl Fn(u64) -> bool) -> Wanted {
        let mut is_own = vec![true; self.tokens.len()];
        for (place, run) in run_values(&self.tokens, k).enumerate() {
            if is_boilerplate(run) {
                is_own[place..place + k].fill(false);
            }
        }
        let own = is_own.iter().filter(|own| **own).count() as u32;
        if own == 0 {
            return self;
        }
        let least = (self.least.0, least_of(share, own));
        Wanted { is_own, own, least, ..self }
    }

    /// Returns its distinct runs.
    pub fn runs(&self) -> &[u64] {
        &self.runs
    }

    /// Returns the number of a run.
    pub fn number_of(&self, run: u64) -> Option<usize> {
        self.runs.binary_search(&run).ok()
    }

    /// Returns the places of the run of this number.
    pub fn places(&self, run: usize) -> &[u32] {
        &self.places[self.starts[run] as usize..self.starts[run + 1] as usize]
    }

    /// Tells whether the token at this place is its own.
    pub fn is_own(&self, place: usize) -> bool {
        self.is_own[place]
    }

    /// Returns the number of its own tokens.
    pub fn own(&self) -> u32 {
        self.own
    }

    /// Tells whether some of its tokens are boilerplate.
    pub fn has_boilerplate(&self) -> bool {
        (self.own as usize) < self.tokens.len()
    }

    /// Returns the least number of tokens that must occur together, and of own ones.
    pub fn least(&self) -> (u32, u32) {
        self.least
    }

    /// Returns the length of the longest stretch of a document that it may occur in.
    pub fn window(&self) -> usize {
        2 * self.tokens.len()
    }

    /// Returns the least number of places of a stretch with a run of the text that has own tokens,
    /// for the text to occur there.
    pub fn least_places(&self, k: usize) -> usize {
        let most = (0..self.runs.len()).map(|run| self.places(run).len()).max().unwrap_or(1);
        (self.least.1 as usize).div_ceil(k * most).max(1)
    }
}

/// Returns the least whole number that is this share of another.
fn least_of(share: f64, of: u32) -> u32 {
    // Rounding must not exclude a number that is exactly the share.
    ((share * f64::from(of) - 1e-9).ceil() as u32).clamp(1, of.max(1))
}
