//! Hyphens at the ends of lines that belong to the word.
//!
//! "well-" at the end of a line may begin "well-known" or "wellknown". The other lines of the
//! document decide: the word is written somewhere else with the hyphen and nowhere without, or the
//! document divides its words with a different sign, as programs with U+2010 do.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use crate::broken_word;

const HYPHENS: [char; 3] = ['-', '\u{2010}', '\u{ad}'];

/// The minimum number of lines that end with a different sign than the hyphen.
const OTHER_SIGNS_MIN: usize = 3;

/// The compounds of a document, as digests, which take less memory than words.
#[derive(Default)]
pub struct Compounds {
    hyphenated: HashSet<u64>,
    whole: HashSet<u64>,
    /// The document divides words with a different sign than the hyphen.
    has_other_sign: bool,
}

impl Compounds {
    /// Returns the compounds within the lines of a document.
    pub fn of<'t, T: Iterator<Item = &'t str>>(lines: impl Fn() -> T) -> Compounds {
        let mut compounds = Compounds::default();
        let ends = |sign: char| lines().filter(|line| divides(line, sign)).count();
        let hyphens = ends('-');
        let others = ends('\u{2010}') + ends('\u{ad}');
        if hyphens + others == 0 {
            return compounds;
        }
        compounds.has_other_sign = others >= OTHER_SIGNS_MIN && others > hyphens;
        for line in lines() {
            let mut before: Option<(&str, bool)> = None;
            for (word, sign) in words(line) {
                compounds.whole.insert(digest(&[word]));
                if let Some((first, true)) = before {
                    compounds.hyphenated.insert(digest(&[first, "-", word]));
                }
                before = Some((word, sign));
            }
        }
        compounds
    }

    /// Returns the length of a text without the sign at its end, if its last word continues in the
    /// line `next`, and the hyphen of the word.
    pub fn begun(&self, text: &str, next: &str) -> Option<(usize, &'static str)> {
        let text = text.trim_end();
        let begun = broken_word::begun(text, next)?;
        let is_between = |c: char| !c.is_alphabetic();
        let first = begun.rsplit(is_between).next().unwrap_or_default();
        let second = next.split(is_between).next().unwrap_or_default();
        let is_hyphen = text.ends_with('-');
        let is_compound = self.hyphenated.contains(&digest(&[first, "-", second]));
        let keeps = (is_compound || (is_hyphen && self.has_other_sign))
            && !self.whole.contains(&digest(&[first, second]));
        Some((begun.len(), if keeps { "-" } else { "" }))
    }
}

/// Returns whether a line ends with a letter and this sign.
fn divides(line: &str, sign: char) -> bool {
    line.strip_suffix(sign).is_some_and(|line| line.ends_with(char::is_alphabetic))
}

/// Returns the words of a text, with a flag for words before a hyphen and a further word.
fn words(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let pieces = text.split_inclusive(|c: char| !c.is_alphabetic());
    pieces.filter_map(|piece| {
        let word = piece.trim_end_matches(|c: char| !c.is_alphabetic());
        (!word.is_empty()).then(|| (word, piece[word.len()..].starts_with(HYPHENS)))
    })
}

fn digest(parts: &[&str]) -> u64 {
    let word: String = parts.concat().to_lowercase();
    BuildHasherDefault::<DefaultHasher>::default().hash_one(word)
}
