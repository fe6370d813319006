//! Letters that are printed twice, as bold text and shadows are by some programs.
//!
//! A letter on top of the same letter is a copy. Further apart, a letter alone may be the next
//! letter of a word ("ll"), so only several different letters with the same distance are copies.

use std::collections::HashMap;

use hayro_interpret::kurbo::Vec2;

use super::page::Letter;

/// The maximum distance between two overlaid letters, in heights of letters. Less than the width of
/// the narrowest letter.
const ON_TOP: f64 = 0.12;

/// The maximum distance of a shadow, in heights of letters.
const SHADOW: f64 = 0.35;

/// The maximum difference of equal distances, in heights of letters.
const SAME_DISTANCE: f64 = 0.03;

/// The minimum number of letters of a shadow, and of different letters among them.
const LETTERS_MIN: usize = 3;
const DIFFERENT_MIN: usize = 2;

/// Marks the letters that are copies. If a reader sees the copy, the copied letter counts as seen.
pub fn copies(letters: &[Letter], seen: &mut [bool]) -> Vec<bool> {
    let mut is_copy = vec![false; letters.len()];
    let mut shadows: Vec<Shadow<'_>> = Vec::new();
    let mut places: HashMap<(&str, i32, i64, i64), Vec<usize>> = HashMap::new();
    let drawn = letters.iter().enumerate().filter(|(_, letter)| !letter.is_space());
    for (number, (at, letter)) in drawn.enumerate() {
        // Letters of about the same size share a grid, whose cells are as large as a shadow is far.
        let class = letter.size.max(0.1).log2().mul_add(4.0, 0.5).floor();
        let cell = (class / 4.0).exp2() * SHADOW;
        let (x, y) = ((letter.origin.x / cell) as i64, (letter.origin.y / cell) as i64);
        let key = |x, y| (&*letter.text, class as i32, x, y);
        let near = (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (x + dx, y + dy)));
        let others = near.filter_map(|(x, y)| places.get(&key(x, y))).flatten();
        let others =
            others.map(|&other| (other, (letter.origin - letters[other].origin) / letter.size));
        let others: Vec<(usize, Vec2)> = others.filter(|(_, by)| by.hypot() < SHADOW).collect();
        if let Some((first, _)) = others.iter().find(|(_, by)| by.hypot() < ON_TOP) {
            seen[*first] |= seen[at];
            is_copy[at] = true;
            continue;
        }
        places.entry(key(x, y)).or_default().push(at);
        shadows.retain(|shadow| shadow.goes_on_at(number));
        for (other, by) in others {
            let known = shadows.iter().position(|shadow| shadow.is_by(by));
            let known = known.unwrap_or_else(|| {
                shadows.push(Shadow { by, ..Shadow::default() });
                shadows.len() - 1
            });
            shadows[known].add(number, (at, other), &letter.text);
            shadows[known].mark(&mut is_copy, seen);
        }
    }
    is_copy
}

/// Consecutive letters with the same distance from the same letters before them.
#[derive(Default)]
struct Shadow<'l> {
    /// Pairs of a letter and the letter repeated by it.
    pairs: Vec<(usize, usize)>,
    by: Vec2,
    /// The number of the last letter among the drawn letters.
    last: usize,
    different: Vec<&'l str>,
}

impl<'l> Shadow<'l> {
    /// A shadow may be drawn letter by letter, so the letter after the next still continues it.
    fn goes_on_at(&self, number: usize) -> bool {
        number <= self.last + 2
    }

    fn is_by(&self, by: Vec2) -> bool {
        (self.by - by).hypot() < SAME_DISTANCE
    }

    fn add(&mut self, number: usize, pair: (usize, usize), text: &'l str) {
        self.last = number;
        self.pairs.push(pair);
        if self.different.len() < DIFFERENT_MIN && !self.different.contains(&text) {
            self.different.push(text);
        }
    }

    /// Marks the letters as copies if they are a shadow.
    fn mark(&mut self, is_copy: &mut [bool], seen: &mut [bool]) {
        if self.pairs.len() < LETTERS_MIN || self.different.len() < DIFFERENT_MIN {
            return;
        }
        for &(at, other) in &self.pairs {
            seen[other] |= seen[at];
            is_copy[at] = true;
        }
        // Marked letters need not be marked again, but the shadow goes on.
        let kept = self.pairs.len().saturating_sub(LETTERS_MIN);
        self.pairs.drain(..kept);
    }
}
