//! How much of a text stands in another, word for word?
//!
//! As the matching statistics of MDR (Monostori, Zaslavsky and Schmidt 2000): for each token of the
//! first text the longest stretch ending there that is anywhere in the second, found by walking
//! the second's suffix automaton.

use std::collections::HashMap;
use std::ops::Range;

use crate::error::Result;
use crate::stop::Stop;

/// The share of the tokens of `a` that stand in stretches of at least `len_min` tokens which `b`
/// has too.
pub(super) fn overlap(a: &[u64], b: &[u64], len_min: usize, stop: Stop<'_>) -> Result<f64> {
    let found = stretches(a, b, len_min, stop)?;
    let covered: usize = found.iter().map(ExactSizeIterator::len).sum();
    Ok(covered as f64 / a.len().max(1) as f64)
}

/// The tokens of `a` that stand in stretches of at least `len_min` tokens which `b` has too, as
/// ranges that neither touch nor overlap.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) soon after `stop`.
pub fn stretches(
    a: &[u64],
    b: &[u64],
    len_min: usize,
    stop: Stop<'_>,
) -> Result<Vec<Range<usize>>> {
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
    states: Vec<State>,
    next: HashMap<(u32, u64), u32>,
}

#[derive(Clone, Copy)]
struct State {
    /// The longest stretch that leads here.
    len: usize,
    /// The state of its longest suffix that stands elsewhere too; none for the first.
    link: Option<u32>,
}

impl Automaton {
    fn new(tokens: &[u64], stop: Stop<'_>) -> Result<Automaton> {
        let first = State { len: 0, link: None };
        let mut automaton = Automaton { states: vec![first], next: HashMap::new() };
        let mut out: HashMap<u32, Vec<u64>> = HashMap::new();
        let mut last = 0;
        for (at, &token) in tokens.iter().enumerate() {
            stop.check_at(at)?;
            last = automaton.push(last, token, &mut out);
        }
        Ok(automaton)
    }

    /// Appends a token to the sequence that ends in `last`; its new last state. `out` has the
    /// tokens that lead out of each state.
    fn push(&mut self, last: u32, token: u64, out: &mut HashMap<u32, Vec<u64>>) -> u32 {
        let new = self.states.len() as u32;
        self.states.push(State { len: self.states[last as usize].len + 1, link: Some(0) });
        let mut from = Some(last);
        while let Some(state) = from.filter(|&state| !self.next.contains_key(&(state, token))) {
            self.next.insert((state, token), new);
            out.entry(state).or_default().push(token);
            from = self.states[state as usize].link;
        }
        let Some(state) = from else { return new };
        let to = self.next[&(state, token)];
        let len = self.states[state as usize].len + 1;
        if self.states[to as usize].len == len {
            self.states[new as usize].link = Some(to);
            return new;
        }
        let copy = self.states.len() as u32;
        self.states.push(State { len, ..self.states[to as usize] });
        let tokens = out.get(&to).cloned().unwrap_or_default();
        for &token in &tokens {
            self.next.insert((copy, token), self.next[&(to, token)]);
        }
        out.insert(copy, tokens);
        let mut from = Some(state);
        while let Some(state) = from.filter(|&state| self.next.get(&(state, token)) == Some(&to)) {
            self.next.insert((state, token), copy);
            from = self.states[state as usize].link;
        }
        self.states[to as usize].link = Some(copy);
        self.states[new as usize].link = Some(copy);
        new
    }

    /// From a state reached by `len` tokens, the longest stretch that ends with `token`.
    fn step(&self, mut state: u32, mut len: usize, token: u64) -> (u32, usize) {
        loop {
            if let Some(&next) = self.next.get(&(state, token)) {
                return (next, len + 1);
            }
            match self.states[state as usize].link {
                None => return (0, 0),
                Some(link) => (state, len) = (link, self.states[link as usize].len),
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
