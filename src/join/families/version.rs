//! The versions of a passage, and the words that each changed.

use std::collections::HashMap;
use std::ops::Range;

use similar::DiffOp;

use super::settle::tokens;
use crate::compare::difference::Comparisons;
use crate::error::Result;
use crate::runtime::Stop;
use crate::text::{Analyzer, Tokens};

pub use cento_api::Change;

/// A version is compared with at most this many versions before it, the last ones.
const EARLIER_MAX: usize = 256;

/// Of these, the versions with most words in common are compared word by word.
const COMPARED_MAX: usize = 3;

/// The maximum number of comparisons of words for one version: a tenth of a second or so.
const COMPARISONS_MAX: u64 = 1 << 24;

/// The wording of a passage, beside those of the carriers before it.
#[derive(Debug, Clone, PartialEq)]
pub struct Version {
    /// The number of the wording, from 1.
    pub number: u64,
    /// The earlier carrier whose wording is the nearest, by its place.
    pub nearest: Option<usize>,
    /// The similarity of both; `None` if the wordings are too long to be compared.
    pub similarity: Option<f64>,
    pub changes: Vec<Change>,
}

/// A wording and the first carrier that has it.
struct Wording<'a> {
    carrier: usize,
    text: &'a str,
    tokens: Tokens,
    /// The hashes of its words, ascending.
    sorted: Vec<u64>,
}

/// Returns the versions of the texts of a passage, in the order of the carriers.
///
/// # Errors
/// When a text is too large to be analyzed; [`Error::Cancelled`](crate::Error::Cancelled) soon
/// after `stop`.
pub fn versions(texts: &[String], stop: &Stop) -> Result<Vec<Version>> {
    let analyzer = Analyzer::default();
    let mut numbers: HashMap<Vec<u64>, usize> = HashMap::new();
    let mut wordings: Vec<Wording<'_>> = Vec::new();
    let mut versions = Vec::with_capacity(texts.len());
    for (carrier, text) in texts.iter().enumerate() {
        stop.check()?;
        let tokens = tokens(&analyzer, text, stop)?;
        if let Some(&number) = numbers.get(&tokens.hashes) {
            let (nearest, similarity) = (Some(wordings[number].carrier), Some(1.0));
            let number = number as u64 + 1;
            versions.push(Version { number, nearest, similarity, changes: Vec::new() });
            continue;
        }
        numbers.insert(tokens.hashes.clone(), wordings.len());
        let mut sorted = tokens.hashes.clone();
        sorted.sort_unstable();
        let wording = Wording { carrier, text, tokens, sorted };
        versions.push(wording.version(&wordings, stop)?);
        wordings.push(wording);
    }
    Ok(versions)
}

impl Wording<'_> {
    /// Compares a new wording with those before it.
    fn version(&self, earlier: &[Wording<'_>], stop: &Stop) -> Result<Version> {
        let number = earlier.len() as u64 + 1;
        let mut likely: Vec<(usize, f64)> = Vec::new();
        for (at, other) in
            earlier.iter().enumerate().skip(earlier.len().saturating_sub(EARLIER_MAX))
        {
            stop.check()?;
            let common = common_count(&self.sorted, &other.sorted);
            likely.push((at, similarity(common, self.sorted.len(), other.sorted.len())));
        }
        likely.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let by = Comparisons::new(COMPARISONS_MAX, stop);
        let mut best: Option<(f64, usize, Vec<DiffOp>)> = None;
        for &(at, _) in likely.iter().take(COMPARED_MAX) {
            let other = &earlier[at];
            let Some(found) = by.differences(&other.tokens.hashes, &self.tokens.hashes)? else {
                break;
            };
            let equal = found.iter().map(|op| match op {
                DiffOp::Equal { len, .. } => *len,
                _ => 0,
            });
            let alike = similarity(equal.sum(), other.sorted.len(), self.sorted.len());
            if best.as_ref().is_none_or(|(most, ..)| alike > *most) {
                best = Some((alike, at, found));
            }
        }
        let Some((alike, at, found)) = best else {
            let nearest = likely.first().map(|&(at, _)| earlier[at].carrier);
            return Ok(Version { number, nearest, similarity: None, changes: Vec::new() });
        };
        let other = &earlier[at];
        let changes = found.iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
        let changes = changes.map(|op| Change {
            removed: words(other.text, &other.tokens, op.old_range()),
            added: words(self.text, &self.tokens, op.new_range()),
        });
        let (nearest, changes) = (Some(other.carrier), changes.collect());
        Ok(Version { number, nearest, similarity: Some(alike), changes })
    }
}

/// Returns the text from the first of some tokens to the last.
fn words(text: &str, tokens: &Tokens, range: Range<usize>) -> String {
    let spans = &tokens.spans[range];
    let place = spans.first().zip(spans.last()).map(|(first, last)| first.start..last.end);
    let place = place.map(|place| place.start as usize..place.end as usize);
    place.and_then(|place| text.get(place)).unwrap_or_default().to_owned()
}

/// Counts the values that two ascending lists have in common, each as often as both have it.
fn common_count(a: &[u64], b: &[u64]) -> usize {
    let (mut at, mut other, mut count) = (0, 0, 0);
    while at < a.len() && other < b.len() {
        match a[at].cmp(&b[other]) {
            std::cmp::Ordering::Less => at += 1,
            std::cmp::Ordering::Greater => other += 1,
            std::cmp::Ordering::Equal => (at, other, count) = (at + 1, other + 1, count + 1),
        }
    }
    count
}

fn similarity(common: usize, a: usize, b: usize) -> f64 {
    2.0 * common as f64 / (a + b).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(texts: &[&str]) -> Vec<Version> {
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        versions(&texts, Stop::NEVER).unwrap()
    }

    fn change(removed: &str, added: &str) -> Change {
        Change { removed: removed.into(), added: added.into() }
    }

    #[test]
    fn a_version_is_compared_with_the_earlier_one_that_it_is_nearest_to() {
        let found = of(&[
            "the quick brown fox jumps over the lazy dog",
            "the quick red fox jumps over the lazy dog",
            "the quick brown fox jumps over the lazy cat",
            "the quick red fox jumps over the lazy old dog",
        ]);
        let nearest: Vec<_> = found.iter().map(|version| version.nearest).collect();
        assert_eq!(nearest, [None, Some(0), Some(0), Some(1)]);
        assert_eq!(found[1].changes, [change("brown", "red")]);
        assert_eq!(found[2].changes, [change("dog", "cat")]);
        assert_eq!(found[3].changes, [change("", "old")]);
        assert_eq!(found[3].similarity, Some(18.0 / 19.0));
    }

    #[test]
    fn case_punctuation_and_layout_make_no_version() {
        let found = of(&["One two,\n three.", "one TWO three", "one two four", "One. Two. Four."]);
        let numbers: Vec<_> = found.iter().map(|version| version.number).collect();
        assert_eq!(numbers, [1, 1, 2, 2]);
        assert_eq!((found[3].nearest, found[3].similarity), (Some(2), Some(1.0)));
        assert!(found[3].changes.is_empty());
    }

    #[test]
    fn long_passages_without_anything_in_common_are_not_compared_without_end() {
        let text = |seed: u32| (0..20_000).map(|at| format!("w{seed}x{at} ")).collect::<String>();
        let found = of(&[&text(1), &text(2)]);
        assert_eq!((found[1].number, found[1].nearest, found[1].similarity), (2, Some(0), None));
        assert!(found[1].changes.is_empty());
    }
}
