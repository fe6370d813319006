//! Words that differ between two passages.

use std::ops::Range;

use similar::{Algorithm, DiffTag, capture_diff_slices};

/// The maximum number of words of a passage that is compared word by word: in the worst case, the
/// number of steps is the product of both numbers of words.
const WORDS_MAX: usize = 10_000;

/// Maximum number of steps of all comparisons of a report together, by their worst cases.
const STEPS_MAX: u64 = 1 << 30;

/// The words that only one of two passages has, as bytes of the passage: ascending and disjoint.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    /// Words of the first passage that the second lacks.
    pub left: Vec<Range<usize>>,
    /// Words of the second passage that the first lacks.
    pub right: Vec<Range<usize>>,
}

/// Compares passages until its steps are used up.
#[derive(Debug)]
pub struct Comparer {
    steps: u64,
}

impl Default for Comparer {
    fn default() -> Comparer {
        Comparer { steps: STEPS_MAX }
    }
}

impl Comparer {
    /// Finds the words where two passages differ. Case, punctuation and layout make no difference.
    /// Returns `None` if the passages are too long, or too few steps are left. The limit counts
    /// steps, not time, so equal input gives equal reports.
    pub fn compare(&mut self, left: &str, right: &str) -> Option<Difference> {
        let (a, b) = (words(left), words(right));
        if a.len() > WORDS_MAX || b.len() > WORDS_MAX {
            return None;
        }
        self.steps = self.steps.checked_sub(a.len() as u64 * b.len() as u64)?;
        let keys = |text: &str, words: &[Range<usize>]| -> Vec<String> {
            words.iter().map(|word| text[word.clone()].to_lowercase()).collect()
        };
        let (keys_a, keys_b) = (keys(left, &a), keys(right, &b));
        let mut found = Difference::default();
        for change in capture_diff_slices(Algorithm::Patience, &keys_a, &keys_b) {
            if change.tag() != DiffTag::Equal {
                found.left.extend(joined(&a[change.old_range()]));
                found.right.extend(joined(&b[change.new_range()]));
            }
        }
        Some(found)
    }
}

/// Returns the bytes from the first word to the last.
fn joined(words: &[Range<usize>]) -> Option<Range<usize>> {
    Some(words.first()?.start..words.last()?.end)
}

/// Returns the places of the words: runs of letters and digits, or single letters in scripts
/// without spaces.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut is_open = false;
    for (at, c) in text.char_indices() {
        let place = at..at + c.len_utf8();
        let is_alone = is_of_a_script_without_spaces(c);
        match words.last_mut() {
            _ if !c.is_alphanumeric() && !is_mark(c) => is_open = false,
            Some(word) if is_open && !is_alone => word.end = place.end,
            _ => {
                words.push(place);
                is_open = !is_alone;
            }
        }
    }
    words
}

/// Returns whether a character is a combining mark of the common blocks, which belongs to the
/// preceding letter.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{64b}'..='\u{65f}' | '\u{900}'..='\u{dff}')
}

/// Returns whether words of the script of this letter are written without spaces.
#[must_use]
pub fn is_of_a_script_without_spaces(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(left: &str, right: &str) -> (Vec<String>, Vec<String>) {
        let found = Comparer::default().compare(left, right).unwrap();
        let cut = |text: &str, ranges: &[Range<usize>]| {
            ranges.iter().map(|range| text[range.clone()].to_owned()).collect()
        };
        (cut(left, &found.left), cut(right, &found.right))
    }

    #[test]
    fn words_of_one_passage_only_are_found() {
        let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let check = |left: &str, right: &str, only_left: &[&str], only_right: &[&str]| {
            assert_eq!(shown(left, right), (owned(only_left), owned(only_right)));
        };
        check("The quick, brown fox", "the very quick fox", &["brown"], &["very"]);
        check("same\n words", "Same words!", &[], &[]);
        check("a b c d", "a x y d", &["b c"], &["x y"]);
        check("\u{4e00}\u{4e8c}\u{4e09}", "\u{4e00}\u{56db}\u{4e09}", &["\u{4e8c}"], &["\u{56db}"]);
    }

    #[test]
    fn long_passages_are_not_compared_without_end() {
        let long = "word ".repeat(WORDS_MAX + 1);
        assert_eq!(Comparer::default().compare(&long, "word"), None);
        let (mut comparer, text) = (Comparer { steps: 9 }, "one two three");
        assert_eq!(comparer.compare(text, text), Some(Difference::default()));
        assert_eq!(comparer.compare(text, text), None);
    }
}
