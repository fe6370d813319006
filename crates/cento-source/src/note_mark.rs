//! Decides which raised texts are the marks of notes and the numbers of verses.
//!
//! A raised number or sign at the end of a word, or a raised link, marks a note, and is no text,
//! because a different edition of the text numbers its notes differently. Powers, ordinals and
//! formulas (10^3, 2nd, x^2, m^2) are text. One rule for web pages, XML and office files.

use std::ops::Range;

/// The minimum length of a word that a raised number without a link can mark. Shorter words are
/// units and variables.
pub const WORD_LETTERS_MIN: usize = 3;

/// The maximum length of a raised link that marks a note, in characters.
const LINK_CHARS_MAX: usize = 6;

/// The maximum length of a list of raised numbers without a link, in bytes.
const LIST_BYTES_MAX: usize = 12;

/// The maximum length of the end of a word that is looked at, in characters.
const LAST_WORD_CHARS_MAX: usize = 32;

/// The minimum number of raised numbers that are taken for verse numbers.
const VERSES_MIN: usize = 3;

/// Returns whether raised numbers before words are the numbers of verses, which count up. Others
/// are the numbers of isotopes.
pub fn are_verses(numbers: &[u32]) -> bool {
    let counts_up = |pair: &&[u32]| pair[0].checked_add(1) == Some(pair[1]);
    let counting = numbers.windows(2).filter(counts_up).count();
    numbers.len() >= VERSES_MIN && counting * 2 >= numbers.len()
}

/// Returns a mark without brackets and signs around the number.
pub fn bare_mark(mark: &str) -> &str {
    let bare = mark.trim_matches(|c: char| "()[].: \u{ff08}\u{ff09}\u{ff3b}\u{ff3d}".contains(c));
    if bare.is_empty() { mark } else { bare }
}

/// Returns the places of numbers that are marks of notes because they continue the count of
/// neighboring marks. A number that is no mark by itself, such as the 7 in "a^7", is `false`.
pub fn counted_marks(numbers: &[(u32, bool)]) -> Vec<usize> {
    let is_mark = |at: Option<usize>, number: Option<u32>| {
        at.and_then(|at| numbers.get(at)).is_some_and(|&(of, is)| is && Some(of) == number)
    };
    let fits = |at: usize| {
        let number = numbers[at].0;
        let before = |by: u32| is_mark(at.checked_sub(by as usize), number.checked_sub(by));
        let after = |by: u32| is_mark(Some(at + by as usize), number.checked_add(by));
        match (at == 0, at + 1 == numbers.len()) {
            (true, _) => after(1) && after(2),
            (_, true) => before(1) && before(2),
            _ => before(1) && after(1),
        }
    };
    (0..numbers.len()).filter(|&at| !numbers[at].1 && fits(at)).collect()
}

/// How the targets of links to notes begin, without `-` and `_`, as word processors, converters and
/// wikis name them: `#_ftn1`, `#fn:1`, `#footnote-1`, `#cite_note-1`.
const TARGETS: [&[u8]; 10] = [
    b"fn",
    b"ftn",
    b"footnote",
    b"sdfootnote",
    b"sdendnote",
    b"endnote",
    b"edn",
    b"note",
    b"citenote",
    b"ftnt",
];

/// Short names of notes and references, which only a number follows: `#n1`, `#ref-12`.
const SHORT_TARGETS: [&[u8]; 9] =
    [b"n", b"en", b"r", b"ref", b"b", b"bib", b"cit", b"cr", b"refcr"];

/// Returns whether the target of a link is a note, in the same file or in another.
pub fn is_note_target(target: &[u8]) -> bool {
    let Some(hash) = target.iter().rposition(|byte| *byte == b'#') else { return false };
    let target = &target[hash + 1..];
    let letters = target.iter().filter(|byte| !b"-_".contains(byte));
    let letters: Vec<u8> = letters.map(u8::to_ascii_lowercase).collect();
    let follows = |rest: &[u8]| rest.iter().any(u8::is_ascii_digit);
    let is_number = |rest: &[u8]| !rest.is_empty() && rest.iter().all(u8::is_ascii_digit);
    TARGETS.iter().any(|of| letters.strip_prefix(*of).is_some_and(follows))
        || SHORT_TARGETS.iter().any(|of| letters.strip_prefix(*of).is_some_and(is_number))
}

/// Returns whether a letter is of a script without spaces between words, or of one whose words take
/// endings after the mark of a note. A mark may then be between two letters.
fn is_dense(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}')
}

/// Returns whether a space belongs before this character in place of the mark of a note, which
/// follows a word.
pub fn is_word_apart(after: Option<char>) -> bool {
    after.is_some_and(|after| after.is_alphanumeric() && !is_dense(after))
}

/// A raised text with its surroundings.
pub struct RaisedText<'a> {
    /// The text without white space around it.
    pub text: &'a str,
    /// Whether it is a link, or declared as the mark of a note.
    pub is_link: bool,
    /// The text before it in the line. Empty after white space.
    pub before: &'a str,
    /// The next character of the line, or `None` if it is white space.
    pub after: Option<char>,
}

impl RaisedText<'_> {
    /// Returns the number of a verse, which is before a word, or between two.
    pub fn verse(&self) -> Option<u32> {
        let is_open = |c: char| "([\"'\u{201c}\u{2018}\u{ab}".contains(c);
        let begins_word = self.before.chars().next_back().is_none_or(is_open)
            && self.after.is_none_or(|c| c.is_alphabetic() || is_open(c));
        let is_number = self.text.len() <= 3 && self.text.bytes().all(|byte| byte.is_ascii_digit());
        self.text.parse().ok().filter(|_| is_number && begins_word)
    }

    /// Returns whether the text marks a note.
    pub fn is_of_note(&self) -> bool {
        let numbers = is_numbers(self.text);
        if self.is_link {
            let is_short = self.text.chars().count() <= LINK_CHARS_MAX;
            let is_bracketed = self.text.starts_with('[') && self.text.ends_with(']');
            return numbers || (is_short && (is_bracketed || is_signs(self.text)));
        }
        // A power such as s^-1.
        let is_power = self.text.starts_with(['\u{2013}', '-']);
        let is_mark = is_signs(self.text) || (numbers && self.text.len() <= LIST_BYTES_MAX);
        // No power is in brackets or before one, so such a mark follows words of any length.
        let is_bracketed = (self.text.starts_with('[') && self.text.ends_with(']'))
            || (self.text.ends_with(')') && !self.text.starts_with('('));
        let is_after = self.is_after_word() || (is_bracketed && self.is_glued());
        is_after && !is_power && is_mark
    }

    /// Returns what the text is.
    pub fn role(&self) -> RaisedRole {
        match (self.verse(), self.uncertain()) {
            (Some(number), _) => RaisedRole::Verse(number),
            _ if self.is_of_note() => RaisedRole::Mark(bare_mark(self.text).parse().ok()),
            (_, Some(number)) => RaisedRole::Uncertain(number),
            _ => RaisedRole::Text,
        }
    }

    /// Returns the number at the end of a short word, which may be a unit with its power.
    pub fn uncertain(&self) -> Option<u32> {
        let is_end = self.after.is_none_or(|after| !after.is_alphanumeric());
        let is_number = self.text.bytes().all(|byte| byte.is_ascii_digit());
        self.text.parse().ok().filter(|_| is_number && self.is_glued() && is_end)
    }

    /// Returns whether the text touches the end of a word.
    fn is_glued(&self) -> bool {
        self.before.ends_with(char::is_alphabetic)
    }

    /// Returns whether the text is at the end of a word or of a sentence.
    fn is_after_word(&self) -> bool {
        match self.before.chars().next_back() {
            Some(c) if c.is_alphabetic() => {
                let letters = self.before.chars().rev().take_while(|c| c.is_alphabetic());
                self.after.is_none_or(|after| !after.is_alphanumeric() || is_dense(c))
                    && letters.take(WORD_LETTERS_MIN).count() == WORD_LETTERS_MIN
            }
            Some(c) => is_close(c),
            None => false,
        }
    }
}

/// Returns the end of the last word of a text, or an empty text after white space. Not the whole
/// word, because a text without spaces is one word.
pub fn last_word(text: &str) -> &str {
    let letters = text.char_indices().rev().take(LAST_WORD_CHARS_MAX);
    let start = letters.take_while(|(_, c)| !c.is_whitespace()).last();
    &text[start.map_or(text.len(), |(at, _)| at)..]
}

/// What a raised text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RaisedRole {
    /// The number of a verse, if the numbers count up.
    Verse(u32),
    /// The mark of a note, with its number.
    Mark(Option<u32>),
    /// A power of a unit, or the mark of a note if the marks around it count so.
    Uncertain(u32),
    Text,
}

/// The raised numbers of a text. The neighbors of a number decide whether the number is a mark.
#[derive(Debug, Default)]
pub struct RaisedNumbers {
    verses: Vec<(u32, Range<usize>)>,
    /// The numbers after words, in order. Marks are removed already, and have an empty place.
    counted: Vec<(u32, Range<usize>)>,
}

impl RaisedNumbers {
    /// Adds a raised text that is at this place of the text.
    pub fn add(&mut self, role: RaisedRole, place: Range<usize>) {
        match role {
            RaisedRole::Verse(number) => self.verses.push((number, place)),
            RaisedRole::Mark(Some(number)) => self.counted.push((number, place.start..place.start)),
            RaisedRole::Uncertain(number) => self.counted.push((number, place)),
            RaisedRole::Mark(None) | RaisedRole::Text => {}
        }
    }

    /// Removes the numbers of verses, and the marks that the count of their neighbors reveals. With
    /// `is_spaced`, also removes the space after a verse number.
    pub fn remove_from(self, text: &mut String, is_spaced: bool) {
        let numbers: Vec<_> =
            self.counted.iter().map(|(number, place)| (*number, place.is_empty())).collect();
        let marks = counted_marks(&numbers).into_iter().map(|at| self.counted[at].1.clone());
        let mut gone: Vec<Range<usize>> = marks.collect();
        let numbers: Vec<u32> = self.verses.iter().map(|(number, _)| *number).collect();
        if are_verses(&numbers) {
            gone.extend(self.verses.into_iter().map(|(_, place)| {
                let has_space = is_spaced && text[place.end..].starts_with(' ');
                place.start..place.end + usize::from(has_space)
            }));
        }
        if gone.is_empty() {
            return;
        }
        gone.sort_by_key(|place| place.start);
        let (mut rest, mut at) = (String::with_capacity(text.len()), 0);
        for place in gone {
            // The end of a text may have been cut since, where a word was joined.
            let Some(before) = text.get(at..place.start).filter(|_| place.end <= text.len()) else {
                continue;
            };
            rest.push_str(before);
            at = place.end;
        }
        rest.push_str(&text[at..]);
        *text = rest;
    }
}

/// Returns whether a sign may end a word or a sentence.
pub fn is_close(c: char) -> bool {
    ".,;:!?)]\"'\u{201d}\u{2019}\u{bb}".contains(c)
}

/// Returns whether a text is a number or a list of numbers.
fn is_numbers(text: &str) -> bool {
    let is_list = |c: char| {
        c.is_ascii_digit() || ",;[]() -\u{2013}\u{ff08}\u{ff09}\u{ff3b}\u{ff3d}".contains(c)
    };
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    has_digit && text.chars().all(is_list)
}

/// Returns whether a text is the number of a reference or a list of them. Longer numbers are years.
pub fn is_citation(text: &str) -> bool {
    is_numbers(text) && text.split(|c: char| !c.is_ascii_digit()).all(|number| number.len() <= 3)
}

/// Returns whether a text is a sign of a note, or several.
pub fn is_signs(text: &str) -> bool {
    let is_sign = |c: char| "*\u{2020}\u{2021}\u{a7}\u{b6}\u{2016}#\u{203b}".contains(c);
    !text.is_empty() && text.chars().all(is_sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_between_marks_continues_their_count() {
        let numbers = |all: &[i64]| -> Vec<(u32, bool)> {
            all.iter().map(|number| (number.unsigned_abs() as u32, *number > 0)).collect()
        };
        // Numbers that are no marks by themselves are negative.
        for (all, expected) in [
            (&[1, -2, 3][..], &[1][..]),
            (&[-1, 2, 3], &[0]),
            (&[1, 2, -3], &[2]),
            (&[1, -2], &[]),
            (&[1, -2, -3, 2, 3], &[]),
            (&[1, 2, -2, 3], &[]),
            (&[-2, -2], &[]),
        ] {
            assert_eq!(counted_marks(&numbers(all)), expected, "{all:?}");
        }
    }

    #[test]
    fn a_raised_number_after_a_word_marks_a_note_and_powers_are_text() {
        for (before, text, after, expected) in [
            ("the wall", "1", None, true),
            ("the wall.", "12", None, true),
            ("the wall", "1,2\u{2013}4", Some(','), true),
            ("the wall", "\u{2020}", None, true),
            ("10", "3", None, false),
            ("5 m", "2", None, false),
            ("per min", "\u{2013}1", None, false),
            ("it came to", "[2]", None, true),
            ("10", "[2]", None, false),
            ("it came to", "2)", None, true),
            ("10", "2)", None, false),
            ("the wall", "(2)", None, true),
            ("f", "(2)", None, false),
            ("\u{6c34}\u{8eca}\u{306f}", "1", Some('\u{51ac}'), true),
            ("\u{6c34}\u{8eca}\u{306f}", "\u{ff3b}1\u{ff3d}", Some('\u{51ac}'), true),
            ("\u{bc29}\u{c557}\u{ac04}", "1)", Some('\u{c740}'), true),
            ("5 \u{7c73}", "2", Some('\u{7684}'), false),
            ("the", "2", Some('H'), false),
            ("the wall", "th", None, false),
            ("", "1", None, false),
        ] {
            let raised = RaisedText { text, is_link: false, before, after };
            assert_eq!(raised.is_of_note(), expected, "{before}^{text}");
        }
        let link = |text| RaisedText { text, is_link: true, before: "10", after: None };
        assert!(link("3").is_of_note() && link("[a]").is_of_note());
        assert!(!link("see there").is_of_note());
        for target in ["#_ftn1", "#n1", "notes.xhtml#n12", "#ref-3", "/a#cite_note-1"] {
            assert!(is_note_target(target.as_bytes()), "{target}");
        }
        for target in ["#section2", "#nav2", "#n", "notes.xhtml", "#eq2", "#r2d2"] {
            assert!(!is_note_target(target.as_bytes()), "{target}");
        }
    }
}
