//! Replacement of letters that are not in the script of their word.
//!
//! A Latin "o" in a Cyrillic word looks right and spoils every comparison (Sharapova and Sharapova
//! 2018, section 3.3). If a word has letters of several of the scripts Latin, Cyrillic and Greek,
//! its letters of the wrong script are replaced by letters of the right script that look the same,
//! by the table of confusable characters of Unicode (UTS #39). The right script has the most
//! letters without a lookalike in the other scripts. Among equal scripts, the script with the most
//! letters is right, then the first in the list. A word with every letter replaced looks exactly
//! like a foreign word.

use super::edit::EditedText;
use crate::hash::hash_bytes;
use crate::text::normalize::is_within_words;
use crate::text::unicode::{LetterScript, is_letter, is_upper_case, script};
use std::collections::HashMap;
use std::sync::OnceLock;

const SCRIPTS: usize = LetterScript::Latin as usize + 1;

/// The blocks whose letters are examined: ASCII, Greek, Cyrillic.
const LETTERS: [std::ops::RangeInclusive<char>; 3] =
    ['A'..='z', '\u{370}'..='\u{3ff}', '\u{400}'..='\u{4ff}'];

/// For a letter, the lookalike in each script.
type Likes = [Option<char>; SCRIPTS];

fn script_of(c: char) -> Option<usize> {
    script(c).map(|script| script as usize)
}

/// Returns the letters that have a lookalike in another script.
fn likes() -> &'static HashMap<char, Likes> {
    static LIKES: OnceLock<HashMap<char, Likes>> = OnceLock::new();
    LIKES.get_or_init(|| {
        // The common key of all characters with the same case and look.
        let look = |c: char| {
            (unicode_security::skeleton(&c.to_string()).collect::<String>(), is_upper_case(c))
        };
        let letters = LETTERS.into_iter().flatten().filter(|&c| is_letter(c));
        let mut groups: HashMap<(String, bool), Likes> = HashMap::new();
        for c in letters.clone() {
            if let Some(script) = script_of(c) {
                groups.entry(look(c)).or_default()[script].get_or_insert(c);
            }
        }
        let likes = letters.filter_map(|c| {
            Some((
                c,
                groups.remove(&look(c)).inspect(|likes| {
                    groups.insert(look(c), *likes);
                })?,
            ))
        });
        likes.filter(|(_, likes)| likes.iter().flatten().count() > 1).collect()
    })
}

/// Returns a hash of all letters with lookalikes, which differs between versions of the table.
pub(in crate::text) fn likes_hash() -> u64 {
    let letters = LETTERS.into_iter().flatten();
    let both = letters.filter_map(|c| Some((c, likes().get(&c)?)));
    let text: String = both
        .flat_map(|(c, likes)| [Some(c)].into_iter().chain(*likes))
        .map(|c| c.unwrap_or('-'))
        .collect();
    hash_bytes(text.as_bytes())
}

/// Returns the text with each word in a single script, or `None` if nothing changes.
pub(in crate::text) fn replace(text: &str) -> Option<EditedText> {
    let mut edited: Option<EditedText> = None;
    let mut copied = 0;
    for (start, word) in words(text) {
        let Some(script) = right_script(word) else { continue };
        for (at, c) in word.char_indices() {
            let like = likes()
                .get(&c)
                .and_then(|likes| likes[script])
                .filter(|&like| like != c && script_of(c) != Some(script));
            if let Some(like) = like {
                let edited = edited.get_or_insert_default();
                edited.copy(text, copied, start + at);
                copied = start + at + c.len_utf8();
                edited.replace(like.encode_utf8(&mut [0; 4]), start + at, copied);
            }
        }
    }
    if let Some(edited) = &mut edited {
        edited.copy(text, copied, text.len());
    }
    edited
}

/// Returns the runs of letters with a non-ASCII letter, including marks and invisible characters,
/// and their positions.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let ends = |c: char| !is_letter(c) && !is_within_words(c);
        // Most text is ASCII, which is not examined letter by letter.
        let other = at + first_not_ascii(&text.as_bytes()[at..])?;
        let before = &text[at..other];
        let from = at + before.rfind(ends).map_or(0, |i| i + 1);
        let start = from + text[from..].find(is_letter)?;
        let end = text[start..].find(ends).map_or(text.len(), |i| start + i);
        at = end;
        Some((start, &text[start..end]))
    })
}

/// Returns the position of the first byte that is not ASCII, examining many bytes at a time.
fn first_not_ascii(bytes: &[u8]) -> Option<usize> {
    const BLOCK: usize = 64;
    let before = BLOCK * bytes.chunks_exact(BLOCK).take_while(|block| block.is_ascii()).count();
    bytes[before..].iter().position(|byte| !byte.is_ascii()).map(|at| before + at)
}

/// Returns the right script of a word with letters of several scripts.
fn right_script(word: &str) -> Option<usize> {
    if word.is_ascii() {
        return None;
    }
    let mut letters = [0usize; SCRIPTS];
    word.chars().filter_map(script_of).for_each(|script| letters[script] += 1);
    let present = (0..SCRIPTS).filter(|&script| letters[script] > 0);
    if present.clone().count() < 2 {
        return None;
    }
    let mut sure = [0usize; SCRIPTS];
    for c in word.chars().filter(|c| !likes().contains_key(c)) {
        if let Some(script) = script_of(c) {
            sure[script] += 1;
        }
    }
    present.max_by_key(|&script| (sure[script], letters[script], std::cmp::Reverse(script)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_words(text: &str) -> Vec<(usize, &str)> {
        let (mut words, mut at) = (Vec::new(), 0);
        while let Some(i) = text[at..].find(is_letter) {
            let start = at + i;
            let ends = |c: char| !is_letter(c) && !is_within_words(c);
            at = text[start..].find(ends).map_or(text.len(), |i| start + i);
            words.push((start, &text[start..at]));
        }
        words
    }

    proptest::proptest! {
        #[test]
        fn words_that_are_not_ascii_are_all_looked_at(
            text in "[ab'.1 \u{e9}\u{43e}\u{301}\u{ad}\u{200d}\u{2014}]{0,40}",
        ) {
            let not_ascii = |word: &(usize, &str)| !word.1.is_ascii();
            let expected: Vec<_> = all_words(&text).into_iter().filter(not_ascii).collect();
            let found: Vec<_> = words(&text).filter(not_ascii).collect();
            proptest::prop_assert_eq!(found, expected);
        }

        #[test]
        fn the_first_byte_that_is_not_ascii_is_found(bytes in "a{0,130}[a\u{e9}]{0,70}") {
            let expected = bytes.bytes().position(|byte| !byte.is_ascii());
            proptest::prop_assert_eq!(first_not_ascii(bytes.as_bytes()), expected);
        }
    }

    #[test]
    fn letters_of_the_wrong_script_are_replaced() {
        let check = |text: &str, expected: &str| {
            let edited = replace(text).map_or_else(|| text.to_owned(), |edited| edited.text);
            assert_eq!(edited, expected, "{text}");
        };
        // "moloko" with a Latin o, "Word" with a Cyrillic o, a Greek word with a Latin o.
        check("\u{43c}o\u{43b}o\u{43a}o", "\u{43c}\u{43e}\u{43b}\u{43e}\u{43a}\u{43e}");
        check("a W\u{43e}rd.", "a Word.");
        check("\u{3bb}o\u{3b3}", "\u{3bb}\u{3bf}\u{3b3}");
        // Capitals look like capitals: "VOR" in Cyrillic with a Latin O.
        check("\u{412}O\u{420}\u{42b}", "\u{412}\u{41e}\u{420}\u{42b}");
        // A zero-width space and a soft hyphen separate nothing.
        check("\u{43c}\u{200b}o\u{ad}\u{43b}", "\u{43c}\u{200b}\u{43e}\u{ad}\u{43b}");
        // Words in a single script are left unchanged, even if their letters could be in another
        // script.
        for text in ["plain text", "\u{43e}\u{43d} ace", "\u{e9}t\u{e9}", ""] {
            assert!(replace(text).is_none(), "{text}");
        }
    }
}
