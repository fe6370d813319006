//! How many words a token counts as.
//!
//! A reader counts words. A token is a word, except in scripts written without spaces, where tokens
//! are overlapping pairs of letters. Such a token counts as the share of a word that a letter is.
//!
//! A short paragraph in each language, cut into words by ICU with its dictionaries, has these
//! numbers of letters per word: Chinese 1.5, Japanese 1.5, Thai 3.0, Khmer 3.1, Lao 3.4, Burmese
//! 1.9. The Penn Chinese Treebank 5.1 has 824,983 characters in 507,222 words: 1.6. The phrases
//! between the spaces of Korean have 2.9 letters, so two pairs.

use std::ops::Range;

use super::Side;
use super::tokenize::UNITS_MAX;
use super::unicode::{is_burmese, is_hangul, is_letter, is_unspaced};

/// A word, in parts: the shares of letters are whole numbers of parts.
pub const WORD: u64 = 24;

/// Returns the number of words in a range of tokens of a text, in parts ([`WORD`]). Tokens of
/// programs are not words.
pub(crate) fn word_parts(side: Side<'_>, tokens: Range<usize>) -> u64 {
    let spans = side.tokens.spans.get(tokens).unwrap_or_default();
    let (Some(first), Some(last)) = (spans.first(), spans.last()) else { return 0 };
    // Most texts have no letter of such a script, so a look at every token is unnecessary.
    let bytes = side.text.as_bytes().get(first.start as usize..last.end as usize);
    if bytes.is_some_and(<[u8]>::is_ascii) {
        return spans.len() as u64 * WORD;
    }
    let text = |start: u32, end: u32| side.text.get(start as usize..end as usize);
    spans.iter().map(|span| text(span.start, span.end).map_or(WORD, parts)).sum()
}

/// Returns the parts of a word that a token with this text counts as.
fn parts(token: &str) -> u64 {
    // The first letter of the scripts without spaces is U+0E01.
    if token.as_bytes().first().is_none_or(|&byte| byte < 0xe0) {
        return WORD;
    }
    let share = |c: char| match c {
        _ if !is_unspaced(c) || !is_letter(c) => None,
        // The scripts Thai, Lao and Khmer.
        '\u{e00}'..='\u{eff}' | '\u{1780}'..='\u{17ff}' => Some(WORD / 3),
        _ if is_hangul(c) || is_burmese(c) => Some(WORD / 2),
        // The remaining scripts: Han and kana.
        _ => Some(WORD * 5 / 8),
    };
    let Some(one) = token.chars().next().and_then(share) else { return WORD };
    // Runs may be left whole, so every letter counts.
    match token.chars().filter_map(share).count() {
        0..=UNITS_MAX => one,
        letters => one * letters as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AnalyzedText, Analyzer};
    use super::*;
    use crate::Stop;

    #[test]
    fn letter_pairs_are_shares_of_words() {
        let check = |spec: &str, text: &str, words: f64| {
            let analyzer: Analyzer = spec.parse().unwrap();
            let text = AnalyzedText::new(text.into(), &analyzer, Stop::NEVER).unwrap();
            let all = 0..text.tokens.hashes.len();
            let found = word_parts(text.side(), all) as f64 / WORD as f64;
            assert!((found - words).abs() < 1e-9, "{spec} {}: {found}", text.text);
        };
        check("words", "The quick, br\u{f6}wn \u{444}\u{43e}\u{43a}s: 12!", 5.0);
        // Chinese, kana, Thai with a tone and a digit, Burmese, Korean; a letter alone.
        check("words", "\u{4e2d}\u{6587}\u{5b57} ab", 2.0 * 0.625 + 1.0);
        check("words", "\u{30ab}\u{30bf}\u{30ab}", 2.0 * 0.625);
        check("words", "\u{e01}\u{e49}\u{e02}\u{e03}\u{e04} \u{e52}", 3.0 / 3.0 + 1.0);
        check("words", "\u{1000}\u{102d}\u{1001}\u{1002}", 1.0);
        check("words", "\u{d55c}\u{ad6d}\u{c5b4} \u{d55c}", 1.5);
        check("words(cjk=0)", &"\u{4e2d}".repeat(16), 10.0);
        check("words(cjk=1)", &"\u{4e2d}".repeat(16), 10.0);
    }
}
