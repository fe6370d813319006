//! Classes of characters, in the version of Unicode that every build shares.
//!
//! The methods of `char` and `str` follow the Unicode version of the compiler, and crates of
//! Unicode the version of their release, so two builds could split the same text into different
//! words. Code that determines tokens, and signatures with them, uses this module: [`tables`],
//! which are part of the source, and two small sets that Unicode keeps stable. `clippy.toml` lists
//! the methods that this module replaces, and `lib.rs` forbids those methods.
//!
//! The look of letters (unicode-security), languages and stems are not here. The digest of an
//! analyzer covers all three.

pub(super) mod normal;
mod tables;

use tables::{CATEGORIES, FOLDS, FULL_FOLDS, SCRIPTS, UNSPACED, UPPER_CASE};

/// The general categories of Unicode that affect words, by their short names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordCategory {
    /// Unassigned characters, and noncharacters.
    Cn,
    /// All five categories of letters.
    L,
    /// Marks, which belong to the preceding character.
    M,
    /// Numbers written as letters.
    Nl,
    /// Decimal digits and other numbers.
    N,
    /// Punctuation that joins words.
    Pc,
    /// All categories that are not listed here.
    Other,
}

/// A script that shares the look of letters with other scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LetterScript {
    Cyrillic,
    Greek,
    Latin,
}

pub(super) fn category(c: char) -> WordCategory {
    let run = CATEGORIES.partition_point(|&(first, _)| first <= u32::from(c)) - 1;
    CATEGORIES[run].1
}

/// Returns whether `c` is a letter: of category L or Nl, or a letter in a circle or square.
///
/// Together with the marks that Unicode counts as alphabetic, these are the property Alphabetic.
pub fn is_letter(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphabetic();
    }
    matches!(category(c), WordCategory::L | WordCategory::Nl)
        || matches!(c,
            '\u{24b6}'..='\u{24e9}' | '\u{1f130}'..='\u{1f149}' | '\u{1f150}'..='\u{1f169}'
            | '\u{1f170}'..='\u{1f189}')
}

/// Returns whether `c` is an upper-case letter (category Lu).
pub(super) fn is_upper_case(c: char) -> bool {
    let c = u32::from(c);
    let before = UPPER_CASE.partition_point(|&(first, ..)| first <= c);
    before > 0 && {
        let (first, last, step) = UPPER_CASE[before - 1];
        c <= last && (c - first).is_multiple_of(step)
    }
}

/// Returns whether `c` is a number of any kind (category N).
pub fn is_number(c: char) -> bool {
    matches!(category(c), WordCategory::Nl | WordCategory::N)
}

/// Returns whether `c` belongs to the preceding character (category M).
pub(super) fn is_mark(c: char) -> bool {
    category(c) == WordCategory::M
}

/// Returns whether the tables contain `c`.
pub(super) fn is_assigned(c: char) -> bool {
    // Faster for most text: U+0378 is the first unassigned character.
    c < '\u{378}' || category(c) != WordCategory::Cn
}

/// Returns whether a script of `c` is written without spaces between words: the scripts of Lucene's
/// CJKBigramFilter (Hangul has spaces, but between phrases), and Thai, Lao, Khmer and Myanmar.
#[must_use]
pub fn is_unspaced(c: char) -> bool {
    is_in(c, &UNSPACED)
}

/// Returns whether `c` is a letter of Hangul, in any block.
pub(super) const fn is_hangul(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11ff}' | '\u{3131}'..='\u{318e}' | '\u{a960}'..='\u{a97c}'
        | '\u{ac00}'..='\u{d7fb}' | '\u{ffa0}'..='\u{ffdc}')
}

/// Returns whether `c` is in a block of the script of Burma.
pub(super) const fn is_burmese(c: char) -> bool {
    matches!(c, '\u{1000}'..='\u{109f}' | '\u{a9e0}'..='\u{a9ff}' | '\u{aa60}'..='\u{aa7f}')
}

/// Returns whether `c` is in the block of Tibetan, whose syllables are divided by the sign U+0F0B
/// and not by spaces.
pub(super) const fn is_tibetan(c: char) -> bool {
    matches!(c, '\u{f00}'..='\u{fff}')
}

/// Returns the script of `c`, or `None` if the script has no lookalikes.
pub(super) fn script(c: char) -> Option<LetterScript> {
    if c.is_ascii() {
        return c.is_ascii_alphabetic().then_some(LetterScript::Latin);
    }
    let before = SCRIPTS.partition_point(|&(first, ..)| first <= u32::from(c)).checked_sub(1)?;
    let (_, last, script) = SCRIPTS[before];
    (u32::from(c) <= last).then_some(script)
}

/// Returns the full case folding of `c` (C and F of CaseFolding.txt): up to three characters,
/// padded with NUL.
#[inline(always)]
fn fold(c: char) -> [char; 3] {
    if c.is_ascii() {
        return [c.to_ascii_lowercase(), '\0', '\0'];
    }
    let code = u32::from(c);
    let before = FOLDS.partition_point(|&(first, ..)| first <= code) - 1;
    let (first, last, step, by) = FOLDS[before];
    // Steps are 1 or 2, so a mask replaces the division.
    if code > last || (code - first) & (step - 1) != 0 {
        [c, '\0', '\0']
    } else if by == 0 {
        fold_to_several(c)
    } else {
        let folded = char::from_u32(code.wrapping_add_signed(by));
        [folded.expect("a folding is a character"), '\0', '\0']
    }
}

#[cold]
fn fold_to_several(c: char) -> [char; 3] {
    let found = FULL_FOLDS.binary_search_by_key(&c, |&(c, _)| c);
    FULL_FOLDS[found.expect("the tables name the same characters")].1
}

/// Applies [`fold`] to each of the characters.
pub(super) fn folded(chars: impl Iterator<Item = char>) -> impl Iterator<Item = char> {
    FoldedChars { chars, rest: ['\0'; 2] }
}

struct FoldedChars<I> {
    chars: I,
    rest: [char; 2],
}

impl<I: Iterator<Item = char>> Iterator for FoldedChars<I> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let [next, last] = self.rest;
        if next != '\0' {
            self.rest = [last, '\0'];
            return Some(next);
        }
        let [first, rest @ ..] = fold(self.chars.next()?);
        self.rest = rest;
        Some(first)
    }
}

fn is_in(c: char, ranges: &[(u32, u32)]) -> bool {
    let before = ranges.partition_point(|&(first, _)| first <= u32::from(c));
    before > 0 && u32::from(c) <= ranges[before - 1].1
}

/// Returns whether `c` has the property White_Space, which is the same in Unicode 6.3 to 18.
#[must_use]
pub const fn is_white_space(c: char) -> bool {
    matches!(c,
        '\t'..='\r' | ' ' | '\u{85}' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}'
        | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use caseless::Caseless;
    use regex::Regex;
    use std::collections::HashSet;
    use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};
    use unicode_script::UnicodeScript;

    fn characters_like(pattern: &str) -> HashSet<char> {
        let all = String::from_iter('\0'..=char::MAX);
        let pattern = Regex::new(&format!("{pattern}+")).unwrap();
        pattern.find_iter(&all).flat_map(|found| found.as_str().chars()).collect()
    }

    #[test]
    fn properties_are_those_of_unicode() {
        // The tables of the regex crate may have an older version.
        let assigned = characters_like(r"\P{Cn}");
        assert!(assigned.len() > 150_000, "{}", assigned.len());
        let check = |pattern: &str, has: &dyn Fn(char) -> bool| {
            let expected = characters_like(pattern);
            assert!(!expected.is_empty(), "{pattern}");
            for &c in &assigned {
                assert_eq!(has(c), expected.contains(&c), "{pattern} {c:?}");
            }
        };
        check(r"[\p{Alphabetic}--\p{M}]", &is_letter);
        check(r"\p{Lu}", &is_upper_case);
        check(r"\p{N}", &is_number);
        check(r"\p{M}", &is_mark);
        check(r"\p{White_Space}", &is_white_space);
        check(r"\P{Cn}", &is_assigned);
    }

    #[test]
    fn every_character_is_as_in_the_crates_of_the_tables() {
        // `tools/Cargo.toml` pins the versions that the tables were made from.
        for c in '\0'..=char::MAX {
            let group = c.general_category_group();
            let is = |category| c.general_category() == category;
            let expected = match group {
                _ if is(GeneralCategory::Unassigned) => WordCategory::Cn,
                GeneralCategoryGroup::Letter => WordCategory::L,
                GeneralCategoryGroup::Mark => WordCategory::M,
                GeneralCategoryGroup::Number if is(GeneralCategory::LetterNumber) => {
                    WordCategory::Nl
                }
                GeneralCategoryGroup::Number => WordCategory::N,
                _ if is(GeneralCategory::ConnectorPunctuation) => WordCategory::Pc,
                _ => WordCategory::Other,
            };
            assert_eq!(category(c), expected, "{c:?}");
            assert_eq!(is_assigned(c), expected != WordCategory::Cn, "{c:?}");
            let is_circled = matches!(u32::from(c), 0x24b6..=0x24e9 | 0x1f130..=0x1f149
                | 0x1f150..=0x1f169 | 0x1f170..=0x1f189);
            let is_of_letters = matches!(expected, WordCategory::L | WordCategory::Nl);
            assert_eq!(is_letter(c), is_of_letters || is_circled, "{c:?}");
            assert_eq!(is_number(c), group == GeneralCategoryGroup::Number, "{c:?}");
            assert_eq!(is_mark(c), group == GeneralCategoryGroup::Mark, "{c:?}");
            assert!(folded([c].into_iter()).eq([c].into_iter().default_case_fold()), "{c:?}");
        }
    }

    #[test]
    fn every_script_is_as_in_the_crate_of_the_table() {
        use unicode_script::Script as Known;
        let unspaced = [
            Known::Han,
            Known::Hiragana,
            Known::Katakana,
            Known::Hangul,
            Known::Thai,
            Known::Lao,
            Known::Khmer,
            Known::Myanmar,
        ];
        for c in '\0'..=char::MAX {
            let expected = match c.script() {
                Known::Cyrillic => Some(LetterScript::Cyrillic),
                Known::Greek => Some(LetterScript::Greek),
                Known::Latin => Some(LetterScript::Latin),
                _ => None,
            };
            assert_eq!(script(c), expected, "{c:?}");
            let is_upper = c.general_category() == GeneralCategory::UppercaseLetter;
            assert_eq!(is_upper_case(c), is_upper, "{c:?}");
            let scripts = c.script_extension();
            // Common and Inherited contain every script.
            let is_of_any = scripts.is_common() || scripts.is_inherited();
            let expected = !is_of_any && unspaced.iter().any(|&s| scripts.contains_script(s));
            assert_eq!(is_unspaced(c), expected, "{c:?}");
            if is_letter(c) {
                assert_eq!(is_hangul(c), c.script() == Known::Hangul, "{c:?}");
                assert_eq!(is_burmese(c), c.script() == Known::Myanmar, "{c:?}");
                assert_eq!(is_tibetan(c), c.script() == Known::Tibetan, "{c:?}");
            }
        }
    }
}
