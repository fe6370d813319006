//! What kind of character is this, in the version of Unicode that every build shares?
//!
//! The methods of `char` and `str` follow the Unicode version of the compiler, so two builds could
//! take one text for different words. What decides tokens, and with them signatures, asks here: the
//! general categories of a pinned crate, and two small sets that Unicode keeps stable.
//! `clippy.toml` lists the methods that this module stands for; `lib.rs` refuses them.

#![cfg_attr(
    not(all(feature = "avtor", feature = "code")),
    allow(dead_code, reason = "some analysers alone ask some questions")
)]

use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// Whether `c` is a letter: of categories L and Nl, or a letter in a circle or square.
///
/// With the marks that Unicode counts as alphabetic this is the property Alphabetic.
pub(super) fn is_letter(c: char) -> bool {
    c.general_category_group() == GeneralCategoryGroup::Letter
        || c.general_category() == GeneralCategory::LetterNumber
        || matches!(c,
            '\u{24b6}'..='\u{24e9}' | '\u{1f130}'..='\u{1f149}' | '\u{1f150}'..='\u{1f169}'
            | '\u{1f170}'..='\u{1f189}')
}

/// Whether `c` is an upper-case letter (category Lu).
pub(super) fn is_upper_case(c: char) -> bool {
    c.general_category() == GeneralCategory::UppercaseLetter
}

/// Whether `c` is a number of any kind (category N).
pub(super) fn is_number(c: char) -> bool {
    c.general_category_group() == GeneralCategoryGroup::Number
}

/// Whether `c` belongs to the character before it (category M).
pub(super) fn is_mark(c: char) -> bool {
    c.general_category_group() == GeneralCategoryGroup::Mark
}

/// Whether the pinned tables know `c`.
pub(super) fn is_assigned(c: char) -> bool {
    c.general_category() != GeneralCategory::Unassigned
}

/// Whether `c` has the property White_Space, as of Unicode 6.3 to 18.
pub fn is_white_space(c: char) -> bool {
    matches!(c,
        '\t'..='\r' | ' ' | '\u{85}' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}'
        | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex::Regex;
    use std::collections::HashSet;

    fn characters_like(pattern: &str) -> HashSet<char> {
        let all = String::from_iter('\0'..=char::MAX);
        let pattern = Regex::new(&format!("{pattern}+")).unwrap();
        pattern.find_iter(&all).flat_map(|found| found.as_str().chars()).collect()
    }

    #[test]
    fn properties_are_those_of_unicode() {
        // The tables of the regex crate may be of an older version.
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
}
