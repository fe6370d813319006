//! Counts invisible characters, and words that mix scripts to imitate letters.
//!
//! Some authors hide a copy by characters without width between letters. Other authors use
//! look-alike letters of a different script. Characters without width do not count in scripts that
//! need them.

use serde::{Deserialize, Serialize};

/// What a reader of a text does not see.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UnseenText {
    /// The number of hidden characters: characters without width between letters. For a file, also
    /// hidden and white letters, which cento leaves out of the text.
    pub hidden_characters: u64,
    /// The number of words with look-alike letters from a second script. Such words equal no other
    /// words.
    pub mixed_words: u64,
}

impl UnseenText {
    /// Counts the invisible characters and mixed words of a text.
    ///
    /// ```
    /// use cento_api::UnseenText;
    ///
    /// let unseen = UnseenText::of("a w\u{200b}ord and a w\u{43e}rd");
    /// assert_eq!((unseen.hidden_characters, unseen.mixed_words), (1, 1));
    /// assert!(UnseenText::of("a word").is_none());
    /// ```
    #[must_use]
    pub fn of(text: &str) -> UnseenText {
        let bytes = text.as_bytes();
        let may_hide =
            bytes.iter().enumerate().any(|(at, &first)| first >= 0xc2 && hides(&bytes[at..]));
        // Letters of Greek and Cyrillic.
        let may_mix = bytes.iter().any(|byte| (0xcd..=0xd4).contains(byte));
        UnseenText {
            hidden_characters: if may_hide { invisible(text) as u64 } else { 0 },
            mixed_words: if may_mix { mixed(text) as u64 } else { 0 },
        }
    }

    /// Adds the counts of a further part of the same text.
    #[must_use]
    pub fn with(self, other: UnseenText) -> UnseenText {
        let mixed_words = self.mixed_words.saturating_add(other.mixed_words);
        UnseenText { mixed_words, ..self }.with_hidden(other.hidden_characters)
    }

    /// Adds invisible characters of the file that are not in the text.
    #[must_use]
    pub fn with_hidden(self, characters: u64) -> UnseenText {
        let hidden_characters = self.hidden_characters.saturating_add(characters);
        UnseenText { hidden_characters, ..self }
    }

    /// Returns whether nothing is invisible.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == UnseenText::default()
    }

    /// Returns warnings for readers, as clauses that follow the name of the text.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let count = |number: u64, what: &str| match number {
            1 => format!("1 {what}"),
            number => format!("{number} {what}s"),
        };
        let mut warnings = Vec::new();
        if self.hidden_characters > 0 {
            let characters = count(self.hidden_characters, "character");
            warnings.push(format!("contains {characters} that a reader does not see"));
        }
        if self.mixed_words > 0 {
            let words = count(self.mixed_words, "word");
            warnings.push(format!(
                "contains {words} with letters of another script that look the same"
            ));
        }
        warnings
    }
}

/// Returns whether a character that [`invisible`] may count begins here, judged by UTF-8 bytes. A
/// quick test, because most texts have no such character.
fn hides(rest: &[u8]) -> bool {
    match rest {
        [0xc2, second, ..] => *second == 0xad,
        [0xcd, second, ..] => *second == 0x8f,
        [0xd8, second, ..] => *second == 0x9c,
        [0xe1, second, ..] => matches!(second, 0x85 | 0xa0),
        [0xe2, 0x80, third, ..] => matches!(third, 0x8b..=0x8f | 0xaa..=0xae),
        [0xe2, second, ..] => *second == 0x81,
        [0xe3, second, ..] => *second == 0x85,
        [0xef, second, ..] => matches!(second, 0xb8 | 0xbb | 0xbe),
        [0xf3, ..] => true,
        _ => false,
    }
}

/// Counts the characters of a text that a reader does not see.
fn invisible(text: &str) -> usize {
    let is_rtl = text.chars().any(is_right_to_left);
    let mut count = 0;
    // The kind of the character before: a letter of a script without joiners, or a black flag.
    let (mut after_letter, mut after_flag) = (false, false);
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let goes_on = |&next: &char| is_simple_letter(next) || is_without_width(next);
        let is_within = after_letter && characters.peek().is_some_and(goes_on);
        count += usize::from(match c {
            '\u{200b}'..='\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{34f}' => is_within,
            '\u{ad}' | '\u{2060}'..='\u{2064}' | '\u{180e}' | '\u{feff}' => true,
            '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => is_within,
            '\u{200e}' | '\u{200f}' | '\u{61c}' => is_within && !is_rtl,
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => !is_rtl,
            // These characters spell flags of regions.
            '\u{e0000}'..='\u{e007f}' => !after_flag,
            '\u{e0100}'..='\u{e01ef}' => is_within,
            _ => false,
        });
        after_flag = c == '\u{1f3f4}' || (after_flag && matches!(c, '\u{e0000}'..='\u{e007f}'));
        // Several characters without width may follow in a row.
        after_letter = is_simple_letter(c) || (after_letter && is_without_width(c));
    }
    count
}

fn is_without_width(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{fe00}'..='\u{fe0f}' | '\u{ad}')
}

/// Returns whether `c` is a letter of a script that has no joining characters without width.
fn is_simple_letter(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || (('\u{c0}'..'\u{590}').contains(&c) && c != '\u{d7}' && c != '\u{f7}')
}

fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

/// Cyrillic and Greek letters that look like Latin letters.
const ALIKE: &str = "\u{430}\u{435}\u{43e}\u{440}\u{441}\u{443}\u{445}\u{456}\u{458}\u{455}\u{4bb}\u{501}\
    \u{51b}\u{51d}\u{410}\u{412}\u{415}\u{41a}\u{41c}\u{41d}\u{41e}\u{420}\u{421}\u{422}\u{423}\u{425}\u{406}\
    \u{408}\u{405}\u{391}\u{392}\u{395}\u{396}\u{397}\u{399}\u{39a}\u{39c}\u{39d}\u{39f}\u{3a1}\u{3a4}\u{3a5}\
    \u{3a7}\u{3bf}\u{3bd}\u{3b9}\u{3ba}\u{3c1}\u{3b1}";

/// Counts the words with letters of a different script that look like the letters they replace.
fn mixed(text: &str) -> usize {
    let is_other = |c: char| matches!(c, '\u{370}'..='\u{3ff}' | '\u{400}'..='\u{52f}');
    let is_latin = |c: char| c.is_ascii_alphabetic() || ('\u{c0}'..'\u{250}').contains(&c);
    let is_mixed = |word: &str| {
        let mut others = word.chars().filter(|&c| is_other(c));
        word.chars().nth(2).is_some()
            && (others.all(|c| ALIKE.contains(c)) || is_mostly_other(word, is_other))
    };
    let (mut count, mut start, mut has_other, mut has_latin) = (0, 0, false, false);
    // The last word ends with the text.
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let (other, latin) = (is_other(c), is_latin(c));
        if !other && !latin {
            count += usize::from(has_other && has_latin && is_mixed(&text[start..at]));
            (start, has_other, has_latin) = (at + c.len_utf8(), false, false);
        }
        has_other |= other;
        has_latin |= latin;
    }
    count
}

/// Returns whether a word is Greek or Cyrillic, with Latin letters of the same look.
fn is_mostly_other(word: &str, is_other: impl Fn(char) -> bool) -> bool {
    const LATIN_ALIKE: &str = "aeopcyxijsABEKMHOPCTXIJSZNYv";
    let (others, latin): (Vec<char>, Vec<char>) = word.chars().partition(|&c| is_other(c));
    others.len() > latin.len() && latin.into_iter().all(|c| LATIN_ALIKE.contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_without_width_within_words_are_counted() {
        let check = |text: &str, expected: usize| assert_eq!(invisible(text), expected, "{text:?}");
        check("plain text, caf\u{e9}", 0);
        check("wo\u{200b}rd wo\u{200d}\u{200c}rd", 3);
        check("so\u{ad}ft \u{feff} \u{202e}back", 3);
        check("a\u{e0061}\u{e0062}", 2);
        // Scripts, flags and lines need these characters.
        check(
            "\u{1f3f4}\u{e0067}\u{e0062}\u{e007f} \u{1f468}\u{200d}\u{1f469} \u{2764}\u{fe0f}",
            0,
        );
        check("\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645} \u{200f}x\u{202a}", 0);
        check("\u{e01}\u{200b}\u{e02} path/\u{200b}file", 0);
    }

    #[test]
    fn every_character_that_may_be_counted_is_looked_for() {
        for c in '\u{80}'..=char::MAX {
            let text = format!("a{c}b");
            let counted = invisible(&text) as u64;
            assert_eq!(UnseenText::of(&text).hidden_characters, counted, "{c:?}");
            let text = format!("ab{c}");
            assert_eq!(UnseenText::of(&text).mixed_words, mixed(&text) as u64, "{c:?}");
        }
    }

    #[test]
    fn words_with_letters_that_only_look_like_latin_ones_are_counted() {
        let check = |text: &str, expected: usize| assert_eq!(mixed(text), expected, "{text:?}");
        check("w\u{43e}rd t\u{435}xt s\u{430}me word", 3);
        check("\u{441}\u{43b}o\u{432}\u{43e}", 1);
        check(
            "\u{441}\u{43b}\u{43e}\u{432}\u{43e} and \u{3bb}\u{3cc}\u{3b3}\u{3bf}\u{3c2} \u{3bc}m \u{394}xy",
            0,
        );
    }
}
