//! Splits a text into sentences and counts the words in each sentence.
//!
//! Sentences are bags of words, which [`super::vocabulary`] weighs.

use std::ops::Range;

use super::Side;
use crate::error::Result;
use crate::runtime::Stop;
use crate::text::{Span, is_white_space};

/// Minimum tokens of a sentence. A shorter sentence joins the next sentence.
const SENTENCE_TOKENS_MIN: usize = 3;
/// Maximum tokens of a sentence, so that text without full stops is cut too.
const SENTENCE_TOKENS_MAX: usize = 60;

/// The sentences of a text, with their words as numbers.
pub struct Sentences {
    /// Token range of each sentence, ascending and without gaps.
    pub ranges: Vec<Range<usize>>,
    /// The distinct words of the sentences, in the order of the text.
    words: Vec<Word>,
    /// Start of each sentence in `words`, and the end of the last sentence.
    starts: Vec<u32>,
}

/// A distinct word of a sentence.
#[derive(Debug, Clone, Copy)]
pub struct Word {
    /// The number of the word in the vocabulary of the two texts.
    pub number: u32,
    /// The number of occurrences in the sentence, at least 1.
    pub times: u32,
}

impl Sentences {
    /// Counts the words in the sentences with the given [`ranges`] of tokens. `number_of` numbers a
    /// word.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
    pub fn of(
        ranges: Vec<Range<usize>>,
        mut number_of: impl FnMut(usize) -> u32,
        stop: &Stop,
    ) -> Result<Sentences> {
        let tokens = ranges.last().map_or(0, |last| last.end);
        let mut words: Vec<Word> = Vec::with_capacity(tokens);
        let mut starts = Vec::with_capacity(ranges.len() + 1);
        // For each word, the index after its last entry in `words`, or 0 before the first entry.
        let mut last: Vec<u32> = Vec::new();
        for (at, range) in ranges.iter().enumerate() {
            stop.check_at(at)?;
            let start = words.len() as u32;
            starts.push(start);
            for token in range.clone() {
                let number = number_of(token);
                if number as usize >= last.len() {
                    last.resize(number as usize + 1, 0);
                }
                let last = &mut last[number as usize];
                if *last > start {
                    words[*last as usize - 1].times += 1;
                } else {
                    words.push(Word { number, times: 1 });
                    *last = words.len() as u32;
                }
            }
        }
        starts.push(words.len() as u32);
        Ok(Sentences { ranges, words, starts })
    }

    /// Returns the words of all sentences, in order.
    pub fn all_words(&self) -> &[Word] {
        &self.words
    }

    /// Returns the number of sentences.
    pub fn count(&self) -> usize {
        self.ranges.len()
    }

    /// Returns the distinct words of a sentence.
    pub fn words(&self, sentence: usize) -> &[Word] {
        self.words_of(&(sentence..sentence + 1))
    }

    /// Returns the words of several sentences, in order.
    pub fn words_of(&self, sentences: &Range<usize>) -> &[Word] {
        &self.words[self.starts[sentences.start] as usize..self.starts[sentences.end] as usize]
    }

    /// Returns the tokens of a range of sentences.
    pub fn tokens(&self, sentences: &Range<usize>) -> Range<usize> {
        self.ranges[sentences.start].start..self.ranges[sentences.end - 1].end
    }
}

/// Returns the tokens of every sentence of a text.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn ranges(side: Side<'_>, stop: &Stop) -> Result<Vec<Range<usize>>> {
    let count = side.tokens.spans.len();
    let (mut ranges, mut start) = (Vec::new(), 0);
    while start < count {
        stop.check_at(ranges.len())?;
        let end = end_of_sentence(side, start);
        ranges.push(start..end);
        start = end;
    }
    Ok(ranges)
}

/// Returns the end of the sentence that begins with this token.
fn end_of_sentence(side: Side<'_>, start: usize) -> usize {
    let spans = &side.tokens.spans;
    let longest = spans.len().min(start + SENTENCE_TOKENS_MAX);
    let shortest = longest.min(start + SENTENCE_TOKENS_MIN);
    let ends_before = |two: &[Span]| {
        let between = two[0].end as usize..two[1].start as usize;
        // A quick test: a single byte ends no sentence, and five words in six are followed by a
        // single space.
        between.len() > 1
            && side.text.as_bytes().get(between.clone()).is_some_and(may_end_sentence)
            && side.text.get(between.clone()).is_some_and(|gap| {
                ends_sentence(gap, side.text.get(between.end..).unwrap_or_default())
            })
    };
    let mut ends = spans[shortest - 1..longest].windows(2);
    ends.position(ends_before).map_or(longest, |at| shortest + at)
}

/// Returns whether the bytes between two words may end a sentence. A quick test, because only
/// spaces and at most one line end follow most words.
#[inline]
fn may_end_sentence(between: &[u8]) -> bool {
    let add = |(all, lines): (u8, u32), &byte: &u8| {
        let class = CLASSES[usize::from(byte)];
        (all | class, lines + u32::from(class / CharClass::Line as u8))
    };
    let (all, lines) = between.iter().fold((0, 0), add);
    all & (CharClass::Mark as u8 | CharClass::Other as u8) != 0 || lines > 1
}

/// Returns whether the characters between two words end a sentence. `after` is the text from the
/// second word on.
fn ends_sentence(between: &str, after: &str) -> bool {
    if !between.is_ascii() {
        return ends_by_characters(between, after);
    }
    let mut seen = CharClasses::default();
    between.bytes().for_each(|byte| seen.add(CLASSES[usize::from(byte)]));
    seen.end_sentence() || seen.lines > 1 && !goes_on(between, after)
}

/// Decides like [`ends_sentence`], for text that is not ASCII.
fn ends_by_characters(between: &str, after: &str) -> bool {
    let mut seen = CharClasses::default();
    between.chars().for_each(|c| seen.add(class_of(c)));
    seen.end_sentence() || seen.lines > 1 && !goes_on(between, after)
}

/// Returns whether a sentence continues after an empty line, because subtitles, stanzas and pages
/// are cut anywhere. Only white space, commas and semicolons may be there, and a comma, a semicolon
/// or a small letter must show that more was to come. A capital follows a heading, and a list item
/// has its own mark.
fn goes_on(between: &str, after: &str) -> bool {
    let is_joined = between.contains([',', ';']);
    let is_blank = between.chars().all(|c| matches!(c, ',' | ';') || is_white_space(c));
    is_blank && (is_joined || after.starts_with(is_small))
}

/// Returns whether a letter is a small letter: Latin (ASCII and Latin-1), Greek or Cyrillic. Words
/// rarely begin with further small letters.
fn is_small(letter: char) -> bool {
    matches!(letter, 'a'..='z' | '\u{df}'..='\u{f6}' | '\u{f8}'..='\u{ff}'
        | '\u{3ac}'..='\u{3ce}' | '\u{430}'..='\u{45f}')
}

/// A property of a character at the end of a sentence, a bit each.
#[derive(Clone, Copy)]
enum CharClass {
    Ends = 1,
    Mark = 1 << 1,
    BeforeSpace = 1 << 2,
    /// [`CharClasses::add`] shifts the preceding class to this bit.
    Space = 1 << 3,
    Line = 1 << 4,
    /// A byte of a character that is not ASCII.
    Other = 1 << 7,
}

const fn class_of(c: char) -> u8 {
    match c {
        '.' | '!' | '?' => CharClass::Mark as u8 | CharClass::BeforeSpace as u8,
        '"' | '\u{201d}' | ')' => CharClass::BeforeSpace as u8,
        '\n' => CharClass::Space as u8 | CharClass::Line as u8,
        // The ideographic full stop and its halfwidth form, the fullwidth exclamation and question
        // marks, which no space follows; the single and double danda of Indic scripts; the Arabic
        // question mark and the full stop of Urdu. No number and no abbreviation contains them, so
        // no space is required after them.
        '\u{3002}' | '\u{ff61}' | '\u{ff01}' | '\u{ff1f}' | '\u{964}' | '\u{965}' | '\u{61f}'
        | '\u{6d4}' => CharClass::Ends as u8,
        _ if is_white_space(c) => CharClass::Space as u8,
        _ => 0,
    }
}

/// The classes of ASCII characters, and a single class for all other bytes.
static CLASSES: [u8; 256] = {
    let mut classes = [CharClass::Other as u8; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = class_of(byte as u8 as char);
        byte += 1;
    }
    classes
};

/// The classes of the characters seen so far.
#[derive(Default)]
struct CharClasses {
    all: u8,
    last: u8,
    /// [`CharClass::Space`] once white space has followed a mark, a quotation mark or a bracket.
    spaced: u8,
    lines: u32,
}

impl CharClasses {
    #[inline]
    fn add(&mut self, class: u8) {
        self.all |= class;
        self.spaced |= ((self.last & CharClass::BeforeSpace as u8) << 1) & class;
        self.lines += u32::from(class & CharClass::Line as u8 != 0);
        self.last = class;
    }

    /// Returns whether the marks end a sentence.
    fn end_sentence(&self) -> bool {
        let has_mark = self.all & CharClass::Mark as u8 != 0;
        self.all & CharClass::Ends as u8 != 0
            || has_mark && self.spaced & CharClass::Space as u8 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::analyzed;
    use super::*;
    use proptest::prelude::*;

    /// Returns the number of tokens of each sentence.
    fn lengths(text: &str) -> Vec<usize> {
        let analyzed = analyzed(text);
        let ranges = ranges(analyzed.side(), Stop::NEVER).unwrap();
        ranges.iter().map(Range::len).collect()
    }

    #[test]
    fn sentences_end_with_the_marks_of_every_script() {
        let (arabic, urdu) = (
            "\u{645}\u{627} \u{647}\u{630}\u{627} \u{627}",
            "\u{6cc}\u{6c1} \u{645}\u{631} \u{6c1}\u{6d2}",
        );
        let (hindi, japanese) = (
            "\u{930}\u{93e}\u{92e} \u{918}\u{930} \u{917}\u{92f}\u{93e}",
            "\u{ff72}\u{ff77} \u{ff76} \u{ff78}",
        );
        for (words, mark) in [
            ("one two three", "."),
            ("one two three", "!"),
            (arabic, "\u{61f}"),
            (urdu, "\u{6d4}"),
            (hindi, "\u{964}"),
            (hindi, "\u{965}"),
            (japanese, "\u{ff61}"),
            (japanese, "\u{3002}"),
        ] {
            let whole = lengths(words)[0];
            assert!(whole >= SENTENCE_TOKENS_MIN, "{words}");
            assert_eq!(lengths(&format!("{words}{mark} {words}{mark}")), [whole, whole], "{mark}");
            assert_eq!(lengths(&format!("{words}, {words}")).len(), 1, "{words}");
        }
    }

    #[test]
    fn no_character_of_one_byte_ends_a_sentence() {
        for byte in 0..128u8 {
            assert!(!ends_sentence(&char::from(byte).to_string(), "A"), "{byte}");
        }
        assert!(!ends_sentence("", "A"));
    }

    /// Returns whether a sentence ends: at a mark of other scripts; where white space follows a
    /// mark, a quotation mark or a bracket, if a full stop or similar is anywhere between the
    /// words; or if there are two line feeds, unless nothing but white space, commas and semicolons
    /// is there, and one of these marks or a small letter after them.
    fn ends_by_definition(between: &[char], is_small: bool) -> bool {
        let has = |marks: &str| between.iter().any(|&c| marks.contains(c));
        let is_spaced =
            |pair: &[char]| ".!?\"\u{201d})".contains(pair[0]) && is_white_space(pair[1]);
        let lines = between.iter().filter(|&&c| c == '\n').count();
        let is_blank = between.iter().all(|&c| ",;".contains(c) || is_white_space(c));
        has("\u{3002}\u{ff61}\u{ff01}\u{ff1f}\u{964}\u{965}\u{61f}\u{6d4}")
            || has(".!?") && between.windows(2).any(is_spaced)
            || lines > 1 && !(is_blank && (has(",;") || is_small))
    }

    #[test]
    fn a_sentence_ends_where_the_definition_says() {
        let characters = ['.', '?', '"', ')', '\u{201d}', ',', '\u{a0}', ' ', '\n', '\u{3002}'];
        for len in 0..=5 {
            let count = 10usize.pow(len);
            let mut ends = [0; 2];
            for number in 0..count {
                let digits = (0..len).map(|digit| number / 10usize.pow(digit) % 10);
                let between: Vec<char> = digits.map(|digit| characters[digit]).collect();
                for (after, is_small) in [("A", false), ("\u{436}", true), ("1", false)] {
                    let expected = ends_by_definition(&between, is_small);
                    let found = ends_sentence(&between.iter().collect::<String>(), after);
                    assert_eq!(found, expected, "{between:?} {after}");
                    ends[usize::from(expected)] += 1;
                }
            }
            assert!(len < 2 || ends.iter().all(|&ends| ends > count / 10), "{len}: {ends:?}");
        }
    }

    proptest! {
        #[test]
        fn sentences_end_where_the_text_between_two_words_ends_one(
            parts in proptest::collection::vec(
                prop::sample::select(vec![
                    " a", " b", "-c", "  d", " 1.2", " e. F", ".g", "\n\nH", "\n\ni", "? j", ". ",
                    "\u{3042}\u{3044}\u{3002}", "\u{3042}", " \u{e9}",
                ]),
                0..250,
            ),
            // Words alone, so that a sentence is cut where it is too long.
            words in 0usize..200,
        ) {
            let text = parts.concat() + &" a".repeat(words);
            let analyzed = analyzed(text.as_str());
            let spans = &analyzed.tokens.spans;
            let mut expected: Vec<Range<usize>> = Vec::new();
            let mut start = 0;
            for end in 1..=spans.len() {
                let ends = || {
                    let (before, after) = (spans[end - 1].end as usize, spans[end].start as usize);
                    before < after && ends_sentence(&text[before..after], &text[after..])
                };
                let len = end - start;
                if end == spans.len() || len >= SENTENCE_TOKENS_MAX
                    || len >= SENTENCE_TOKENS_MIN && ends()
                {
                    expected.push(start..end);
                    start = end;
                }
            }
            prop_assert_eq!(ranges(analyzed.side(), Stop::NEVER).unwrap(), expected);
        }
    }

    #[test]
    fn an_empty_line_ends_a_sentence_unless_more_was_to_come() {
        // Lines of subtitles, a stanza, a page, a clause before a name.
        assert_eq!(lengths("the water had risen\n\n\nby two metres"), [7]);
        assert_eq!(lengths("the water had risen\n\u{c}\nby two metres"), [7]);
        assert_eq!(lengths("the water had risen,\n\nAnna said to us"), [8]);
        // A paragraph, a heading, a list, a numbered list, letters without case.
        assert_eq!(lengths("the water had risen.\n\nby two metres"), [4, 3]);
        assert_eq!(lengths("Of tides and water\n\nThe water had risen"), [4, 4]);
        assert_eq!(lengths("- salt and water\n\n- bread and butter"), [3, 3]);
        assert_eq!(lengths("1 salt and water\n\n2 bread and butter"), [4, 4]);
        assert_eq!(lengths("\u{5d0} \u{5d1} \u{5d2}\n\n\u{5d3} \u{5d4} \u{5d5}"), [3, 3]);
    }

    #[test]
    fn a_full_stop_within_a_number_ends_no_sentence() {
        assert_eq!(lengths("it costs about 1.5 or 2.25 today"), [9]);
    }
}
