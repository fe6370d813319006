//! NFKC with the same results for every version of Unicode in the crate.
//!
//! The tables of normalization are large, so this module uses the tables of unicode-normalization,
//! in any version that knows the characters of [`super::tables`]. The version makes no difference:
//!
//! - A string of characters that a version of Unicode has assigned has the same normal form in
//!   every later version (UAX #15, "Stability of Normalized Forms"; Unicode Character Encoding
//!   Stability Policies, "Normalization Stability", which hold for all versions from 4.1 on). The
//!   same policies fix decompositions and combining classes of assigned characters.
//! - An unassigned character has combining class 0, no decomposition and no composition (UAX #44,
//!   the default values of properties): nothing changes the character, and nothing crosses it. A
//!   text is therefore split at characters that the tables lack, and these characters are passed on
//!   unchanged.
//!
//! Only one thing may change for an assigned character: a new character may compose with it. The
//! characters that can be the second part of a composition are therefore a table too.
//!
//! No other module uses unicode-normalization.

use super::tables::SECONDS;
use super::{folded, is_assigned, is_in};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

#[inline(always)]
pub(in crate::text) fn extend_by_nfkc(normal: &mut Vec<char>, chars: &[char]) {
    by_parts(chars, is_assigned, normal, |normal, part| {
        normal.extend(part.iter().copied().nfkc());
    });
}

/// Appends `chars` to `normal`, converted to NFKC, folded, and converted to NFKC again.
#[inline(always)]
pub(in crate::text) fn extend_by_nfkc_and_folding(normal: &mut Vec<char>, chars: &[char]) {
    by_parts(chars, is_assigned, normal, |normal, part| {
        normal.extend(folded(part.iter().copied().nfkc()).nfkc());
    });
}

/// Appends `chars` to `normal`, decomposed with compatibility mappings (NFKD) or without (NFD).
pub(in crate::text) fn extend_by_decomposition(
    normal: &mut Vec<char>,
    chars: &[char],
    compatible: bool,
) {
    by_parts(chars, is_assigned, normal, |normal, part| match compatible {
        true => normal.extend(part.iter().copied().nfkd()),
        false => normal.extend(part.iter().copied().nfd()),
    });
}

/// Appends to `normal` the output of `form` for each part of assigned characters. Unassigned
/// characters are appended unchanged.
#[inline(always)]
fn by_parts(
    chars: &[char],
    is_assigned: impl Fn(char) -> bool,
    normal: &mut Vec<char>,
    form: impl Fn(&mut Vec<char>, &[char]),
) {
    if chars.iter().all(|&c| is_assigned(c)) {
        return form(normal, chars);
    }
    for part in chars.chunk_by(|&a, &b| is_assigned(a) == is_assigned(b)) {
        if is_assigned(part[0]) {
            form(normal, part);
        } else {
            normal.extend(part);
        }
    }
}

/// Returns the form NFKC of `c`, which must be assigned.
pub(in crate::text) fn nfkc(c: char) -> impl Iterator<Item = char> {
    debug_assert!(is_assigned(c), "{c:?}");
    c.nfkc()
}

/// Returns the base letter of `c` without its marks. `c` must be assigned.
pub(in crate::text) fn base(c: char) -> char {
    debug_assert!(is_assigned(c), "{c:?}");
    c.nfkd().next().unwrap_or(c)
}

/// Returns the combining class of `c`, which must be assigned.
pub(in crate::text) fn combining_class(c: char) -> u8 {
    debug_assert!(is_assigned(c), "{c:?}");
    canonical_combining_class(c)
}

/// Returns whether normalization never crosses the place before `c`, which must be assigned.
pub(in crate::text) fn starts_segment(c: char) -> bool {
    debug_assert!(is_assigned(c), "{c:?}");
    let first = base(c);
    combining_class(first) == 0 && !is_second(first)
}

/// Returns whether `c` is unchanged alone, but `c` or its first part is the second part of a
/// composition (NFKC_Quick_Check is Maybe).
pub(in crate::text) fn is_second(c: char) -> bool {
    is_in(c, &SECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use regex::Regex;
    use std::collections::HashSet;
    use std::sync::LazyLock;
    use unicode_normalization::char::{compose, decompose_compatible};

    /// Follows the definition of NFKC (UAX #15, section 1.3) for the characters of `is_assigned`:
    /// decompose, order, compose.
    fn by_definition(chars: &[char], is_assigned: impl Fn(char) -> bool) -> Vec<char> {
        let class = |c| if is_assigned(c) { canonical_combining_class(c) } else { 0 };
        let mut apart = Vec::new();
        for &c in chars {
            if is_assigned(c) {
                decompose_compatible(c, |part| apart.push(part));
            } else {
                apart.push(c);
            }
        }
        for marks in apart.split_mut(|&c| class(c) == 0) {
            marks.sort_by_key(|&c| class(c));
        }
        let mut composed: Vec<char> = Vec::new();
        let mut starter = None;
        for c in apart {
            let with = starter.filter(|&at: &usize| {
                let between = &composed[at + 1..];
                between.iter().all(|&other| class(other) != 0 && class(other) < class(c))
            });
            let whole = with.and_then(|at| {
                let is_known = is_assigned(composed[at]) && is_assigned(c);
                compose(composed[at], c).filter(|&whole| is_known && is_assigned(whole))
            });
            if let (Some(at), Some(whole)) = (with, whole) {
                composed[at] = whole;
                continue;
            }
            if class(c) == 0 {
                starter = Some(composed.len());
            }
            composed.push(c);
        }
        composed
    }

    fn nfkc_as_of(chars: &[char], is_assigned: impl Fn(char) -> bool) -> Vec<char> {
        let mut normal = Vec::new();
        by_parts(chars, is_assigned, &mut normal, |normal, part| {
            normal.extend(part.iter().copied().nfkc());
        });
        normal
    }

    /// The characters of an old version of Unicode, because the library has a later version.
    static OLD: LazyLock<HashSet<char>> = LazyLock::new(|| {
        let all = String::from_iter('\0'..=char::MAX);
        let pattern = Regex::new(r"\p{Age=12.0}+").unwrap();
        pattern.find_iter(&all).flat_map(|found| found.as_str().chars()).collect()
    });

    fn is_changed(c: char) -> bool {
        canonical_combining_class(c) != 0 || !c.nfkd().eq([c])
    }

    /// Characters that normalization changes, moves or composes, assigned in that version or later.
    static LIVELY: LazyLock<[Vec<char>; 2]> = LazyLock::new(|| {
        let mut lively: Vec<char> = ('\0'..=char::MAX)
            .filter(|&c| is_changed(c) && !('\u{ac00}'..='\u{d7a3}').contains(&c))
            .collect();
        let parts: Vec<char> = lively.iter().flat_map(|c| c.nfd()).collect();
        lively.extend(parts);
        let (old, young): (Vec<char>, Vec<char>) = lively.iter().partition(|c| OLD.contains(c));
        assert!(old.len() > 1000 && young.len() > 100, "{} {}", old.len(), young.len());
        [old, young]
    });

    /// Returns texts of many composing characters, split by unassigned characters.
    fn lively_text() -> impl Strategy<Value = Vec<char>> {
        let [old, young] = &*LIVELY;
        let c = prop_oneof![
            4 => prop::sample::select(&old[..]),
            4 => prop::sample::select(&young[..]),
            2 => prop::sample::select(&['a', 'e', 'A', '\u{1100}', '\u{1161}', '\u{11a8}'][..]),
            4 => prop::char::range('\u{300}', '\u{345}'),
            1 => any::<char>(),
        ];
        prop::collection::vec(c, 0..12)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn a_later_library_normalizes_as_an_older_one(text in lively_text()) {
            let is_old = |c| OLD.contains(&c);
            prop_assert_eq!(nfkc_as_of(&text, is_old), by_definition(&text, is_old));
        }

        #[test]
        fn characters_of_the_tables_are_normalized_by_definition(text in lively_text()) {
            let mut normal = Vec::new();
            extend_by_nfkc(&mut normal, &text);
            prop_assert_eq!(&normal, &by_definition(&text, is_assigned));
            let folded: Vec<char> = folded(normal.into_iter()).collect();
            let mut twice = Vec::new();
            extend_by_nfkc_and_folding(&mut twice, &text);
            prop_assert_eq!(twice, by_definition(&folded, is_assigned));
        }
    }

    #[test]
    fn a_character_of_a_later_version_is_left_unchanged() {
        let is_old = |c| OLD.contains(&c);
        let check = |text: &[char], expected: &[char]| {
            assert_eq!(nfkc_as_of(text, is_old), expected, "{text:?}");
            assert!(!text.iter().copied().nfkc().eq(expected.iter().copied()), "{text:?}");
        };
        // Vowel signs of Kirat Rai that compose, and a letter of Todhri that decomposes (16.0).
        check(&['\u{16d67}', '\u{16d67}'], &['\u{16d67}', '\u{16d67}']);
        check(&['\u{105d2}', '\u{307}'], &['\u{105d2}', '\u{307}']);
        // A mark of Arabic (14.0) below the letter, which keeps its place and separates other
        // marks.
        check(&['b', '\u{301}', '\u{899}'], &['b', '\u{301}', '\u{899}']);
        check(&['a', '\u{899}', '\u{301}'], &['a', '\u{899}', '\u{301}']);
    }

    #[test]
    fn assigned_characters_normalize_to_assigned_ones() {
        for c in ('\0'..=char::MAX).filter(|&c| is_assigned(c)) {
            assert!(
                nfkc(c).chain(c.nfkd()).chain(folded([c].into_iter())).all(is_assigned),
                "{c:?}"
            );
        }
    }

    #[test]
    fn seconds_are_those_of_the_library() {
        // A later library may know new characters that compose with old characters, but none exists
        // yet.
        let quick = |c| unicode_normalization::is_nfkc_quick(std::iter::once(c));
        for c in ('\0'..=char::MAX).filter(|&c| is_assigned(c)) {
            let is_maybe = quick(c) == unicode_normalization::IsNormalized::Maybe;
            assert_eq!(is_second(c), is_maybe, "{c:?}");
        }
    }
}
