//! Where does one word end and the next begin?
//!
//! A word is a run of letters, marks, numbers and connectors such as `_` (`\w` of Unicode
//! regular expressions, UTS 18). Scripts that are written without spaces are cut into overlapping
//! pairs of characters. Invisible format characters inside a word do not split it. A text without
//! any word is taken symbol by symbol, so that it too has tokens.
//!
//! Runs of ASCII, which are most text, never see the Unicode tables.

use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};
use unicode_script::{Script, UnicodeScript};

use super::normalize::Normalization;
use super::{Span, Tokens};
use crate::hash::hash_bytes;

/// How a text is cut into tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tokenizer {
    /// What is done to characters before they are compared.
    pub normalization: Normalization,
    /// Characters in a token of a script written without spaces: 1, or 2 for overlapping pairs.
    pub unit_chars: u32,
}

/// What an ASCII byte is to the tokenizer; `OTHER` for the bytes of longer characters.
const SEPARATOR: u8 = 0;
const WORD: u8 = 1;
const UPPER: u8 = 2;
const OTHER: u8 = 4;

const CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [OTHER; 256];
    let mut byte = 0;
    while byte < 128 {
        let b = byte as u8;
        table[byte] = if b.is_ascii_uppercase() {
            WORD | UPPER
        } else if b.is_ascii_alphanumeric() || b == b'_' {
            WORD
        } else {
            SEPARATOR
        };
        byte += 1;
    }
    table
}

/// Words of so many bytes are lower-cased on the stack.
const SHORT_WORD_BYTES: usize = 64;

impl Tokenizer {
    /// Appends the tokens of `text`, which is shorter than 4 GiB.
    pub fn run(&self, text: &str, tokens: &mut Tokens) {
        let bytes = text.as_bytes();
        let mut words = Words::new(*self);
        let mut at = 0;
        while at < bytes.len() {
            let mut class = CLASSES[bytes[at] as usize];
            if class == SEPARATOR {
                at += 1;
                continue;
            }
            let start = at;
            let mut seen = 0;
            while class != SEPARATOR {
                seen |= class;
                at += 1;
                class = bytes.get(at).map_or(SEPARATOR, |&byte| CLASSES[byte as usize]);
            }
            if seen & OTHER != 0 {
                words.run(&text[start..at], start, tokens);
            } else if seen & UPPER != 0 && self.normalization.fold {
                tokens.push(hash_lower(&bytes[start..at]), start, at);
            } else {
                tokens.push(hash_bytes(&bytes[start..at]), start, at);
            }
        }
        if tokens.hashes.is_empty() {
            symbols(text, tokens);
        }
    }
}

#[inline]
fn hash_lower(word: &[u8]) -> u64 {
    let mut lower = [0; SHORT_WORD_BYTES];
    match lower.get_mut(..word.len()) {
        Some(lower) => {
            for (to, from) in lower.iter_mut().zip(word) {
                *to = from.to_ascii_lowercase();
            }
            hash_bytes(lower)
        }
        None => hash_bytes(&word.to_ascii_lowercase()),
    }
}

/// Each character that is not white space, as a token.
fn symbols(text: &str, tokens: &mut Tokens) {
    for (at, c) in text.char_indices().filter(|(_, c)| !c.is_whitespace()) {
        let end = at + c.len_utf8();
        tokens.push(hash_bytes(&text.as_bytes()[at..end]), at, end);
    }
}

/// What a normalised character is to a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Begins or goes on with a word.
    Word,
    /// A character of a script that is written without spaces.
    Unit,
    /// Belongs to the character before it.
    Mark,
    /// Is not seen: soft hyphen, zero-width space and joiners, byte order mark.
    Ignored,
    /// Ends a word.
    Separator,
}

fn kind(c: char) -> Kind {
    if c.is_ascii() {
        let is_word = CLASSES[c as usize] != SEPARATOR;
        return if is_word { Kind::Word } else { Kind::Separator };
    }
    if matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}') {
        return Kind::Ignored;
    }
    match c.general_category_group() {
        GeneralCategoryGroup::Mark => Kind::Mark,
        GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number => {
            if is_unspaced(c) {
                Kind::Unit
            } else {
                Kind::Word
            }
        }
        _ if c.general_category() == GeneralCategory::ConnectorPunctuation => Kind::Word,
        _ => Kind::Separator,
    }
}

/// Whether words of the script of `c` run together. Hangul has spaces but joins particles to
/// words; pairs find both, as in Lucene's CJKBigramFilter.
fn is_unspaced(c: char) -> bool {
    // No such script has a character below Thai.
    c >= '\u{e00}'
        && matches!(
            c.script(),
            Script::Han
                | Script::Hiragana
                | Script::Katakana
                | Script::Hangul
                | Script::Bopomofo
                | Script::Thai
                | Script::Lao
                | Script::Khmer
                | Script::Myanmar
        )
        // The prolonged sound mark and its like are common to the kana.
        || matches!(c, '\u{30fc}' | '\u{3005}' | '\u{3006}')
}

/// Cuts pieces of text with characters beyond ASCII.
struct Words {
    tokenizer: Tokenizer,
    word: Piece,
    /// The unit being read, and the one before it in its run.
    unit: Piece,
    last_unit: Piece,
    /// Whether `last_unit` is in a token already.
    is_paired: bool,
}

/// Characters that go together, and the bytes they were made from; none if there is no span.
#[derive(Default)]
struct Piece {
    text: String,
    span: Option<Span>,
}

impl Piece {
    fn append(&mut self, c: char, span: Span) {
        self.text.push(c);
        let start = self.span.map_or(span.start, |whole| whole.start);
        self.span = Some(Span { start, end: span.end });
    }

    fn clear(&mut self) {
        self.text.clear();
        self.span = None;
    }

    /// Makes a token of the piece, unless it is empty, and clears it.
    fn emit(&mut self, tokens: &mut Tokens) {
        if let Some(Span { start, end }) = self.span {
            tokens.push(hash_bytes(self.text.as_bytes()), start as usize, end as usize);
        }
        self.clear();
    }
}

impl Words {
    fn new(tokenizer: Tokenizer) -> Words {
        Words {
            tokenizer,
            word: Piece::default(),
            unit: Piece::default(),
            last_unit: Piece::default(),
            is_paired: false,
        }
    }

    /// Appends the tokens of `piece`, which begins at byte `start` of the text and has ASCII
    /// separators around it.
    fn run(&mut self, piece: &str, start: usize, tokens: &mut Tokens) {
        let normalization = self.tokenizer.normalization;
        normalization.run(piece, start, |c, span| self.take(c, span, tokens));
        self.end_run(tokens);
    }

    fn take(&mut self, c: char, span: Span, tokens: &mut Tokens) {
        match kind(c) {
            Kind::Word => {
                self.end_units(tokens);
                self.word.append(c, span);
            }
            Kind::Unit => {
                self.word.emit(tokens);
                self.end_unit(tokens);
                self.unit.append(c, span);
            }
            Kind::Mark if self.word.span.is_some() => self.word.append(c, span),
            Kind::Mark if self.unit.span.is_some() => self.unit.append(c, span),
            Kind::Mark | Kind::Separator => self.end_run(tokens),
            Kind::Ignored => {}
        }
    }

    fn end_run(&mut self, tokens: &mut Tokens) {
        self.word.emit(tokens);
        self.end_units(tokens);
    }

    /// Ends the unit being read: it makes a pair with the one before it.
    fn end_unit(&mut self, tokens: &mut Tokens) {
        let Some(span) = self.unit.span else { return };
        if self.tokenizer.unit_chars == 1 {
            return self.unit.emit(tokens);
        }
        if let Some(Span { start, .. }) = self.last_unit.span {
            self.last_unit.text.push_str(&self.unit.text);
            self.last_unit.span = Some(Span { start, end: span.end });
            self.last_unit.emit(tokens);
            self.is_paired = true;
        }
        std::mem::swap(&mut self.last_unit, &mut self.unit);
        self.unit.clear();
    }

    /// Ends a run of units; one that stands alone is a token by itself.
    fn end_units(&mut self, tokens: &mut Tokens) {
        self.end_unit(tokens);
        if !self.is_paired {
            self.last_unit.emit(tokens);
        }
        self.last_unit.clear();
        self.is_paired = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DEFAULT: Tokenizer =
        Tokenizer { normalization: Normalization { nfkc: true, fold: true }, unit_chars: 2 };

    fn tokens(tokenizer: Tokenizer, text: &str) -> Tokens {
        let mut tokens = Tokens::default();
        tokenizer.run(text, &mut tokens);
        tokens
    }

    fn hashes(words: &[&str]) -> Vec<u64> {
        words.iter().map(|word| hash_bytes(word.as_bytes())).collect()
    }

    fn check(text: &str, words: &[&str]) {
        assert_eq!(tokens(DEFAULT, text).hashes, hashes(words), "{text:?}");
    }

    #[test]
    fn words_are_lower_case_and_without_punctuation() {
        check(
            "The quick, brown fox's 2nd JUMP!",
            &["the", "quick", "brown", "fox", "s", "2nd", "jump"],
        );
        check("snake_case 3.14", &["snake_case", "3", "14"]);
        check(&"Long".repeat(40), &[&"long".repeat(40)]);
        check("", &[]);
        check(" \t\n", &[]);
    }

    #[test]
    fn one_word_written_in_many_ways_is_one_token() {
        for word in [
            "caf\u{e9}",
            "cafe\u{301}",
            "CAF\u{c9}",
            "\u{ff43}\u{ff41}\u{ff46}\u{e9}",
            "ca\u{ad}f\u{e9}",
            "ca\u{200b}fe\u{301}",
            "\u{feff}caf\u{e9}",
        ] {
            check(word, &["caf\u{e9}"]);
        }
        check("STRASSE stra\u{df}e \u{fb01}n", &["strasse", "strasse", "fin"]);
        check("\u{3a3}\u{3b9}\u{3c2}", &["\u{3c3}\u{3b9}\u{3c3}"]);
    }

    #[test]
    fn scripts_without_spaces_are_cut_into_pairs() {
        check("\u{6771}\u{4eac}\u{90fd}", &["\u{6771}\u{4eac}", "\u{4eac}\u{90fd}"]);
        check("\u{6771}", &["\u{6771}"]);
        check("a\u{6771}\u{4eac}b", &["a", "\u{6771}\u{4eac}", "b"]);
        check("\u{6771}\u{3001}\u{4eac}", &["\u{6771}", "\u{4eac}"]);
        // Half-width kana with a voiced mark are one character each.
        check("\u{ff76}\u{ff9e}\u{ff77}", &["\u{30ac}\u{30ad}"]);
        let alone = Tokenizer { unit_chars: 1, ..DEFAULT };
        let found = tokens(alone, "\u{6771}\u{4eac}").hashes;
        assert_eq!(found, hashes(&["\u{6771}", "\u{4eac}"]));
    }

    #[test]
    fn a_long_run_of_han_keeps_all_its_characters() {
        let run: String = (0..40).filter_map(|i| char::from_u32(0x4e00 + i)).collect();
        assert_eq!(tokens(DEFAULT, &run).hashes.len(), 39);
    }

    #[test]
    fn a_text_without_words_is_taken_symbol_by_symbol() {
        check("!!? \u{2026}", &["!", "!", "?", "\u{2026}"]);
        assert_ne!(tokens(DEFAULT, "!!!").hashes, tokens(DEFAULT, "???").hashes);
    }

    #[test]
    fn spans_are_of_the_original_text() {
        let text = "x \u{fb01}n\u{e9}, Caf\u{e9} \u{6771}\u{4eac}";
        let tokens = tokens(DEFAULT, text);
        let pieces: Vec<&str> =
            tokens.spans.iter().map(|s| &text[s.start as usize..s.end as usize]).collect();
        assert_eq!(pieces, ["x", "\u{fb01}n\u{e9}", "Caf\u{e9}", "\u{6771}\u{4eac}"]);
    }

    /// The definition, on the whole normalised text: no pieces, no table, no spans.
    fn naive(text: &str) -> Vec<u64> {
        use caseless::Caseless;
        use unicode_normalization::UnicodeNormalization;
        let (mut words, mut run) = (Vec::new(), Vec::<(Kind, String)>::new());
        let mut flush = |run: &mut Vec<(Kind, String)>| {
            match run.first().map(|first| first.0) {
                Some(Kind::Word) => words.push(run.iter().map(|part| part.1.as_str()).collect()),
                Some(_) if run.len() == 1 => words.push(run[0].1.clone()),
                _ => words.extend(run.windows(2).map(|pair| format!("{}{}", pair[0].1, pair[1].1))),
            }
            run.clear();
        };
        for c in text.nfkc().default_case_fold().nfkc() {
            match kind(c) {
                Kind::Ignored => {}
                Kind::Mark if !run.is_empty() => run.last_mut().unwrap().1.push(c),
                Kind::Mark | Kind::Separator => flush(&mut run),
                kind => {
                    if run.first().is_some_and(|first| first.0 != kind) {
                        flush(&mut run);
                    }
                    run.push((kind, c.to_string()));
                }
            }
        }
        flush(&mut run);
        words.iter().map(|word: &String| hash_bytes(word.as_bytes())).collect()
    }

    fn text() -> impl Strategy<Value = String> {
        let special: Vec<char> = "abcXYZ09_ .,<=\n\u{301}\u{338}\u{345}\u{df}\u{130}\u{fb01}\u{fdfa}\u{ad}\
            \u{200d}\u{200b}\u{ff76}\u{ff9e}\u{ff21}\u{ac00}\u{1100}\u{1161}\u{3042}\u{30fc}\u{6771}\
            \u{4eac}\u{3001}\u{e01}\u{e34}\u{3c3}\u{3a3}\u{627}\u{653}\u{bd}\u{1f600}\u{a0}\u{b5}\u{5d0}"
            .chars()
            .collect();
        let one = prop_oneof![9 => proptest::sample::select(special), 1 => any::<char>()];
        proptest::collection::vec(one, 0..40).prop_map(|chars| chars.into_iter().collect())
    }

    proptest! {
        #[test]
        fn tokens_are_those_of_the_definition(text in text()) {
            let expected = naive(&text);
            prop_assume!(!expected.is_empty());
            prop_assert_eq!(tokens(DEFAULT, &text).hashes, expected);
        }

        #[test]
        fn every_span_is_a_piece_of_the_text(text in text()) {
            let found = tokens(DEFAULT, &text);
            prop_assert_eq!(found.hashes.len(), found.spans.len());
            for span in &found.spans {
                prop_assert!(text.get(span.start as usize..span.end as usize).is_some());
                prop_assert!(span.start < span.end);
            }
            for pair in found.spans.windows(2) {
                prop_assert!(pair[0].start <= pair[1].start && pair[0].end <= pair[1].end);
            }
        }
    }
}
