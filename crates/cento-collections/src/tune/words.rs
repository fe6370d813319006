//! Splits a text into the words that an edit changes.

use cento_api::error::Result;
use cento_text::runtime::Stop;
use cento_text::text::{Analyzer, Tokens};

/// Splits a text into words, each with the characters up to the next word. Together they are the
/// text.
///
/// A word is a token of the analyzer `words`. In scripts without spaces, whose tokens overlap, a
/// word is every second token, which is a pair of letters.
pub(super) fn words<'a>(text: &'a str, stop: &Stop) -> Result<Vec<&'a str>> {
    let mut tokens = Tokens::default();
    Analyzer::default().analyze(text, &mut tokens, stop)?;
    let (mut words, mut start, mut end) = (Vec::with_capacity(tokens.spans.len()), 0, 0);
    for span in &tokens.spans {
        let (from, to) = (span.start as usize, span.end as usize);
        if from < end {
            continue;
        }
        if end > 0 {
            words.push(&text[start..from]);
            start = from;
        }
        end = to;
    }
    if end > 0 {
        words.push(&text[start..]);
    }
    Ok(words)
}

/// Splits a word from the characters that follow.
pub(super) fn split(word: &str) -> (&str, &str) {
    let is_letter = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || c == '_';
    // A word of non-ASCII punctuation is a word by itself.
    let end = word
        .rfind(is_letter)
        .map_or(0, |at| at + word[at..].chars().next().map_or(0, char::len_utf8));
    word.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_text_are_together_the_text() {
        let check = |text: &str, expected: &[&str]| {
            let found = words(text, Stop::NEVER).unwrap();
            assert_eq!(found.concat(), text);
            assert_eq!(found, expected);
        };
        check("one, two\nthree.", &["one, ", "two\n", "three."]);
        check("  \"one\" two", &["  \"one\" ", "two"]);
        check("\u{6211}\u{4eec}\u{5929}\u{7a7a}", &["\u{6211}\u{4eec}", "\u{5929}\u{7a7a}"]);
        assert!(words("", Stop::NEVER).unwrap().is_empty());
    }

    #[test]
    fn a_word_is_split_from_the_signs_behind_it() {
        assert_eq!(split("one, "), ("one", ", "));
        assert_eq!(split("one"), ("one", ""));
        assert_eq!(split(" -- "), ("", " -- "));
        assert_eq!(split("caf\u{e9}.\n"), ("caf\u{e9}", ".\n"));
    }
}
