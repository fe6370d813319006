//! Compares the versions of a passage, and finds the changed words.
//!
//! Words are tokens of the analyzer for passages, so a different spelling of an equal word is no
//! change.

use std::collections::HashMap;
use std::ops::Range;

use similar::DiffOp;

use super::end_words::Ends;
use super::settle::tokens;
use cento_api::error::Result;
use cento_text::compare::difference::Comparisons;
use cento_text::runtime::Stop;
use cento_text::text::{Analyzer, Tokens};

pub use cento_api::Change;

/// The maximum number of previous versions to compare a version with. The latest versions are
/// taken.
const EARLIER_MAX: usize = 256;

/// How many versions are compared word by word: the versions with most words in common.
const COMPARED_MAX: usize = 3;

/// The maximum number of comparisons of words for one version, which take about a tenth of a
/// second.
const COMPARISONS_MAX: u64 = 1 << 24;

/// The wording of a passage in relation to previous carriers.
#[derive(Debug, Clone, PartialEq)]
pub struct Version {
    /// The number of the wording, from 1.
    pub number: u64,
    /// The place in the list of the earlier carrier with the nearest wording.
    pub nearest: Option<usize>,
    /// The similarity to the nearest wording. `None` if the wordings are too long to be compared.
    pub similarity: Option<f64>,
    pub changes: Vec<Change>,
    /// Words at the ends that only one of the compared wordings has, if wordings were compared.
    pub ends: Option<Ends>,
}

impl Version {
    /// Creates a version without a list of changes.
    fn without_changes(number: usize, nearest: Option<usize>, similarity: Option<f64>) -> Version {
        let number = number as u64 + 1;
        Version { number, nearest, similarity, changes: Vec::new(), ends: None }
    }
}

/// The versions before some places were extended.
pub struct Previous<'a> {
    pub versions: &'a [Version],
    /// Which texts were extended.
    pub is_changed: &'a [bool],
}

impl Previous<'_> {
    /// Returns the carrier that `carrier` was compared with, and the version if neither text has
    /// changed. Returns `None` for the first carrier and for an exact copy of an earlier wording.
    fn of(&self, carrier: usize) -> Option<(usize, Option<&Version>)> {
        let version = &self.versions[carrier];
        let is_copy = version.ends.is_none() && version.similarity.is_some();
        let nearest = version.nearest.filter(|_| !is_copy)?;
        let is_same = !self.is_changed[carrier] && !self.is_changed[nearest];
        Some((nearest, is_same.then_some(version)))
    }
}

pub struct Words {
    tokens: Tokens,
    /// The hashes of the words, ascending.
    sorted: Vec<u64>,
}

impl Words {
    /// Finds the words of a text.
    ///
    /// # Errors
    /// The errors of [`words`].
    pub fn new(analyzer: &Analyzer, text: &str, stop: &Stop) -> Result<Words> {
        stop.check()?;
        let tokens = words(analyzer, text, stop)?;
        let mut sorted = tokens.hashes.clone();
        sorted.sort_unstable();
        Ok(Words { tokens, sorted })
    }
}

/// A wording and the first carrier that has it.
struct Wording<'a> {
    carrier: usize,
    text: &'a str,
    words: &'a Words,
}

/// Returns the versions of a passage from the texts of its carriers, in the order of the carriers.
/// With `previous` versions, a wording is compared only with the wording that was nearest then.
///
/// # Errors
/// [`Error::Cancelled`](cento::Error::Cancelled) soon after `stop`.
pub fn versions(
    texts: &[(&str, &Words)],
    previous: Option<Previous<'_>>,
    stop: &Stop,
) -> Result<Vec<Version>> {
    let mut numbers: HashMap<&[u64], usize> = HashMap::new();
    let mut wordings: Vec<Wording<'_>> = Vec::new();
    let mut versions: Vec<Version> = Vec::with_capacity(texts.len());
    for (carrier, &(text, words)) in texts.iter().enumerate() {
        stop.check()?;
        let number = *numbers.entry(&words.tokens.hashes[..]).or_insert(wordings.len());
        if let Some(first) = wordings.get(number) {
            versions.push(Version::without_changes(number, Some(first.carrier), Some(1.0)));
            continue;
        }
        let wording = Wording { carrier, text, words };
        versions.push(match previous.as_ref().and_then(|previous| previous.of(carrier)) {
            Some((_, Some(same))) => Version { number: number as u64 + 1, ..same.clone() },
            Some((nearest, None)) => {
                let nearest = versions[nearest].number as usize - 1;
                wording.compared(&wordings, &[nearest], stop)?
            }
            None => wording.version(&wordings, stop)?,
        });
        wordings.push(wording);
    }
    Ok(versions)
}

/// Returns the words of a text, which are the tokens of `analyzer` except the breaks between
/// paragraphs of a program, which have no bytes.
///
/// # Errors
/// When the text is too large to be analyzed. [`Error::Cancelled`](cento::Error::Cancelled) soon
/// after `stop`.
pub fn words(analyzer: &Analyzer, text: &str, stop: &Stop) -> Result<Tokens> {
    let mut tokens = tokens(analyzer, text, stop)?;
    let is_word: Vec<bool> = tokens.spans.iter().map(|span| span.start < span.end).collect();
    let mut each = is_word.iter();
    tokens.hashes.retain(|_| each.next() == Some(&true));
    tokens.spans.retain(|span| span.start < span.end);
    Ok(tokens)
}

impl Wording<'_> {
    /// Compares a new wording with the previous wordings that share most words.
    fn version(&self, earlier: &[Wording<'_>], stop: &Stop) -> Result<Version> {
        let mut likely: Vec<(usize, f64)> = Vec::new();
        for (at, other) in
            earlier.iter().enumerate().skip(earlier.len().saturating_sub(EARLIER_MAX))
        {
            stop.check()?;
            let common = common_count(&self.words.sorted, &other.words.sorted);
            likely
                .push((at, similarity(common, self.words.sorted.len(), other.words.sorted.len())));
        }
        likely.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let likely: Vec<usize> = likely.into_iter().take(COMPARED_MAX).map(|(at, _)| at).collect();
        self.compared(earlier, &likely, stop)
    }

    /// Compares a new wording with the previous wordings at these places, and keeps the nearest.
    fn compared(&self, earlier: &[Wording<'_>], some: &[usize], stop: &Stop) -> Result<Version> {
        let number = earlier.len();
        let by = Comparisons::new(COMPARISONS_MAX, stop);
        let mut best: Option<(f64, usize, Vec<DiffOp>)> = None;
        for &at in some {
            let other = &earlier[at];
            let Some(found) =
                by.differences(&other.words.tokens.hashes, &self.words.tokens.hashes)?
            else {
                break;
            };
            let equal = found.iter().map(|op| match op {
                DiffOp::Equal { len, .. } => *len,
                _ => 0,
            });
            let alike = similarity(equal.sum(), other.words.sorted.len(), self.words.sorted.len());
            if best.as_ref().is_none_or(|(most, ..)| alike > *most) {
                best = Some((alike, at, found));
            }
        }
        let Some((alike, at, found)) = best else {
            let nearest = some.first().map(|&at| earlier[at].carrier);
            return Ok(Version::without_changes(number, nearest, None));
        };
        let other = &earlier[at];
        let changes = found.iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
        let changes = changes.map(|op| Change {
            removed: text_of(other.text, &other.words.tokens, op.old_range()),
            added: text_of(self.text, &self.words.tokens, op.new_range()),
        });
        let ends = Ends::new(&found, &other.words.tokens.hashes, &self.words.tokens.hashes);
        Ok(Version {
            changes: changes.collect(),
            ends: Some(ends),
            ..Version::without_changes(number, Some(other.carrier), Some(alike))
        })
    }
}

/// Returns the text from the first to the last of some tokens, widened to whole characters, because
/// a token can be a single byte.
fn text_of(text: &str, tokens: &Tokens, range: Range<usize>) -> String {
    let spans = &tokens.spans[range];
    let Some((first, last)) = spans.first().zip(spans.last()) else { return String::new() };
    let start = text.floor_char_boundary(first.start as usize);
    let end = text.ceil_char_boundary(last.end as usize);
    text[start..end].to_owned()
}

/// Counts the common values of two ascending lists, as often as both lists have them.
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

    fn by(analyzer: &str, texts: &[&str]) -> Vec<Version> {
        let analyzer: Analyzer = analyzer.parse().unwrap();
        let all: Vec<Words> =
            texts.iter().map(|text| Words::new(&analyzer, text, Stop::NEVER).unwrap()).collect();
        let texts: Vec<(&str, &Words)> = texts.iter().copied().zip(&all).collect();
        versions(&texts, None, Stop::NEVER).unwrap()
    }

    fn of(texts: &[&str]) -> Vec<Version> {
        by("words", texts)
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
    fn what_the_analyzer_takes_for_equal_makes_no_version() {
        let check = |analyzer: &str, texts: [&str; 2], changes: &[Change]| {
            let found = &by(analyzer, &texts)[1];
            assert_eq!(found.changes, changes, "{analyzer}");
            assert_eq!(found.number, if changes.is_empty() { 1 } else { 2 }, "{analyzer}");
        };
        let latin = ["ET VACVA ERAT SVPER", "et uacua erat super"];
        check("words(folds=uv)", latin, &[]);
        check("words", latin, &[change("VACVA", "uacua"), change("SVPER", "super")]);
        check("words(folds=uv)", ["VACVA ERAT", "uacua est"], &[change("ERAT", "est")]);
        check("words(folds=hyphens)", ["a di-\nvided word", "a divided word"], &[]);
        check("words(fold=0)", ["One word", "one word"], &[change("One", "one")]);
        // Half of a character is shown as the whole character.
        check("bytes", ["caf\u{e9}", "caf\u{e8}"], &[change("\u{e9}", "\u{e8}")]);
        // In programs, different names are equal, and so are comments and paragraphs.
        let programs = ["int a = b + 1; // one", "int x = y + 1;\n\n"];
        check("code(language=c)", programs, &[]);
        check("code(language=c)", ["a = b + 1;", "a = b - 1;"], &[change("+", "-")]);
    }

    #[test]
    fn long_passages_without_anything_in_common_are_not_compared_without_end() {
        let text = |seed: u32| (0..20_000).map(|at| format!("w{seed}x{at} ")).collect::<String>();
        let found = of(&[&text(1), &text(2)]);
        assert_eq!((found[1].number, found[1].nearest, found[1].similarity), (2, Some(0), None));
        assert!(found[1].changes.is_empty());
    }
}
