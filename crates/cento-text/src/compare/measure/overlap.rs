//! The share of a text that is copied word for word from a second text.
//!
//! The method is the matching statistics of MDR (Monostori, Zaslavsky and Schmidt 2000): for each
//! token of the first text, the longest stretch that ends there and occurs anywhere in the second
//! text. A walk through the suffix automaton of the second text finds these stretches.

use std::collections::HashMap;
use std::ops::Range;

use super::family::Family;
use crate::error::Result;
use crate::hash::{BuildKeyHasher, mix64};
use crate::runtime::Stop;
use crate::spec::Parameter;

pub(super) const FAMILY: Family = Family {
    name: "overlap",
    parameters: &[Parameter::number("n", 10, 1, 1000, "the tokens of a stretch, at least")],
    summary: "tokens of the first text in common stretches of at least n",
    source: "Finkel, Zaslavsky, Monostori and Schmidt 2002, section 3: MDR",
    example: "overlap(n=10)",
    purpose: "exact quotations",
    is_asymmetric: true,
    similarity: |texts| {
        let [a, b] = texts.tokens();
        overlap(a, b, texts.get("n"), texts.stop)
    },
    ..Family::PLAIN
};

/// Returns the share of the tokens of `a` in stretches of at least `len_min` tokens that `b` also
/// has.
pub(super) fn overlap(a: &[u64], b: &[u64], len_min: usize, stop: &Stop) -> Result<f64> {
    let found = stretches(a, b, len_min, stop)?;
    let covered: usize = found.iter().map(ExactSizeIterator::len).sum();
    Ok(covered as f64 / a.len().max(1) as f64)
}

/// Returns the tokens of `a` in stretches of at least `len_min` tokens that `b` also has, as ranges
/// that neither touch nor overlap.
///
/// ```
/// use cento_text::compare::measure::overlap::stretches;
///
/// // The stretch 2 3 4 is in both texts. The single token 9 is too short.
/// let found = stretches(&[1, 2, 3, 4, 9], &[9, 2, 3, 4], 2, cento_text::Stop::NEVER)?;
/// assert_eq!(found, [1..4]);
/// # Ok::<(), cento_text::Error>(())
/// ```
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
pub fn stretches(a: &[u64], b: &[u64], len_min: usize, stop: &Stop) -> Result<Vec<Range<usize>>> {
    let automaton = Automaton::new(b, stop)?;
    let (mut state, mut len) = (0, 0);
    let mut found: Vec<Range<usize>> = Vec::new();
    for (i, token) in a.iter().enumerate() {
        stop.check_at(i)?;
        (state, len) = automaton.step(state, len, *token);
        if len >= len_min {
            match found.last_mut() {
                Some(last) if last.end + len > i => last.end = i + 1,
                _ => found.push(i + 1 - len..i + 1),
            }
        }
    }
    Ok(found)
}

/// The smallest automaton that accepts every suffix of a sequence (Blumer et al. 1985).
struct Automaton {
    states: Vec<AutomatonState>,
    tokens: HashMap<u64, u32, BuildKeyHasher>,
    /// The next state, by the mixed state and token number.
    next: HashMap<u64, u32, BuildKeyHasher>,
}

#[derive(Clone, Copy)]
struct AutomatonState {
    /// The length of the longest stretch that leads to the state.
    len: u32,
    /// The state of the longest suffix that also occurs elsewhere, or `None` for the first state.
    link: Option<u32>,
}

/// The tokens that lead out of each state, while an automaton is made. The lists share a vector,
/// because freeing a vector per state takes as long as filling the vectors.
#[derive(Default)]
struct Transitions {
    /// For each state, the index in `all` of the first token.
    first: Vec<u32>,
    /// A token, and the index of the next token of the same state.
    all: Vec<(u32, u32)>,
}

/// Marks the end of a list.
const NONE: u32 = u32::MAX;

impl Transitions {
    fn push(&mut self, state: u32, token: u32) {
        let first = &mut self.first[state as usize];
        let before = std::mem::replace(first, self.all.len() as u32);
        self.all.push((token, before));
    }
}

/// Returns the key of `next`. Mixing is a bijection, so different pairs have different keys.
fn key(state: u32, token: u32) -> u64 {
    mix64(u64::from(state) << 32 | u64::from(token))
}

impl Automaton {
    fn new(tokens: &[u64], stop: &Stop) -> Result<Automaton> {
        let first = AutomatonState { len: 0, link: None };
        let mut automaton =
            Automaton { states: vec![first], tokens: HashMap::default(), next: HashMap::default() };
        let mut out = Transitions { first: vec![NONE], all: Vec::new() };
        let mut last = 0;
        for (at, &token) in tokens.iter().enumerate() {
            stop.check_at(at)?;
            let number = automaton.tokens.len() as u32;
            let number = *automaton.tokens.entry(token).or_insert(number);
            last = automaton.push(last, number, &mut out);
        }
        Ok(automaton)
    }

    fn add(&mut self, state: AutomatonState, out: &mut Transitions) -> u32 {
        self.states.push(state);
        out.first.push(NONE);
        self.states.len() as u32 - 1
    }

    /// Appends a token to the sequence that ends in `last`. Returns the new last state.
    fn push(&mut self, last: u32, token: u32, out: &mut Transitions) -> u32 {
        let len = self.states[last as usize].len + 1;
        let new = self.add(AutomatonState { len, link: Some(0) }, out);
        let mut from = Some(last);
        while let Some(state) = from.filter(|&state| !self.next.contains_key(&key(state, token))) {
            self.next.insert(key(state, token), new);
            out.push(state, token);
            from = self.states[state as usize].link;
        }
        let Some(state) = from else { return new };
        let to = self.next[&key(state, token)];
        let len = self.states[state as usize].len + 1;
        if self.states[to as usize].len == len {
            self.states[new as usize].link = Some(to);
            return new;
        }
        let copy = self.add(AutomatonState { len, ..self.states[to as usize] }, out);
        let mut at = out.first[to as usize];
        while let Some(&(token, after)) = out.all.get(at as usize) {
            self.next.insert(key(copy, token), self.next[&key(to, token)]);
            out.push(copy, token);
            at = after;
        }
        let mut from = Some(state);
        while let Some(state) = from.filter(|&state| self.next.get(&key(state, token)) == Some(&to))
        {
            self.next.insert(key(state, token), copy);
            from = self.states[state as usize].link;
        }
        self.states[to as usize].link = Some(copy);
        self.states[new as usize].link = Some(copy);
        new
    }

    /// Returns the state and the length of the longest stretch that ends with `token`, from a state
    /// reached by `len` tokens.
    fn step(&self, mut state: u32, mut len: usize, token: u64) -> (u32, usize) {
        let Some(&token) = self.tokens.get(&token) else { return (0, 0) };
        loop {
            if let Some(&next) = self.next.get(&key(state, token)) {
                return (next, len + 1);
            }
            match self.states[state as usize].link {
                None => return (0, 0),
                Some(link) => {
                    (state, len) = (link, self.states[link as usize].len as usize);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn stretches_are_those_found_by_looking(
            a in proptest::collection::vec(0u64..4, 1..40),
            b in proptest::collection::vec(0u64..4, 0..40),
            len_min in 1usize..6,
        ) {
            let mut covered = vec![false; a.len()];
            for len in len_min..=a.len() {
                for start in 0..=a.len() - len {
                    if b.windows(len).any(|stretch| stretch == &a[start..start + len]) {
                        covered[start..start + len].fill(true);
                    }
                }
            }
            let count = covered.iter().filter(|&&covered| covered).count();
            let found = overlap(&a, &b, len_min, Stop::NEVER).unwrap();
            prop_assert_eq!(found, count as f64 / a.len() as f64);
        }
    }
}
