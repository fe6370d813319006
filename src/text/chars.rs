//! Analyzers with characters as tokens.
//!
//! Four kinds of token, for schemes over characters:
//!
//! - [`Kind::Chars`]: letters and digits, and `_` for every other character. Over ASCII this is the
//!   alphabet of 37 signs of Sun et al. (2013), section 7.1: lower case, digits and `_`. The paper
//!   leaves other texts out. Here a letter or digit of any script is a token, with the marks that
//!   belong to it, normalised and folded as the analyzer `words` does (see [`super::normalize`]):
//!   one composed character and the same letter with a combining accent are one token, a vowel sign
//!   of Devanagari belongs to its consonant, and a ligature is its letters.
//! - [`Kind::Letters`]: the same letters and digits without anything between them. Recognised text
//!   (OCR) has wrong and missing spaces and marks as it has wrong letters, and a word that a line
//!   end divides is whole.
//! - [`Kind::Consonants`]: the consonants; vowels and all else are left out (Koala, Heintze 1996:
//!   chunks of 20 consonants). Vowels are a, e, i, o and u, with whatever marks. Which letters of
//!   other scripts are vowels depends on the language, so these letters are all kept.
//! - [`Kind::Bytes`]: every byte as it is (SIF, Manber 1994: chunks of 50 bytes). The span of a
//!   byte is that of its character, so that no passage cuts one.
//!
//! Marks that follow no letter or digit, and characters that are invisible by definition, are left
//! out. [`Kind::Chars`] takes a text beyond ASCII without a letter or digit, such as one of emoji,
//! symbol by symbol, as `words` does: otherwise all such texts of one length would be equal.
//! [`Kind::Letters`] does so with every text without a letter or digit.
//!
//! Text is read in runs of ASCII, by a table, and *chunks*: a run of other characters, and the
//! letter or digit of ASCII before it, which a mark may change. No normalisation crosses the place
//! before an ASCII character. One that crosses the place after a sign of ASCII makes another sign
//! of it (`=` and U+0338).

use super::family::{Family, Tokenize};
use super::fold::{FOLDS, Folds};
use super::hyphens;
use super::normalize::{Class, Form, Normalizer, Sink};
use super::prepared::FORM;
use super::tokenize::symbols;
use super::unicode::is_letter;
use super::unicode::normal::base;
use super::{Span, Take};
use crate::Result;
use crate::hash::{HashStream, hash_bytes};
use crate::runtime::Stop;
use std::ops::Range;
use std::sync::Arc;

/// `letters()`.
pub(super) const LETTERS: Family = Family {
    name: "letters",
    parameters: &[FOLDS],
    summary: "letters and digits of all scripts, without spaces and marks",
    source: "",
    example: "letters",
    feature: None,
    build: Some(|spec| Arc::new(Characters::new(Kind::Letters, Folds::of(spec)))),
};

/// `chars()`.
pub(super) const CHARS: Family = Family {
    name: "chars",
    parameters: &[FOLDS],
    summary: "letters and digits of all scripts, and `_` for every other character",
    source: "Sun, Qin and Wang 2013, section 7.1, for ASCII",
    example: "chars",
    feature: None,
    build: Some(|spec| Arc::new(Characters::new(Kind::Chars, Folds::of(spec)))),
};

/// `consonants()`.
pub(super) const CONSONANTS: Family = Family {
    name: "consonants",
    parameters: &[],
    summary: "consonants, and all letters of scripts other than Latin",
    source: "Heintze 1996: Koala, for ASCII",
    example: "consonants",
    feature: None,
    build: Some(|_| Arc::new(Characters::new(Kind::Consonants, Folds::NONE))),
};

/// `bytes()`.
pub(super) const BYTES: Family = Family {
    name: "bytes",
    parameters: &[],
    summary: "every byte",
    source: "Manber 1994: SIF",
    example: "bytes",
    feature: None,
    build: Some(|_| Arc::new(Characters::new(Kind::Bytes, Folds::NONE))),
};

/// The kind of token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Chars,
    Letters,
    Consonants,
    Bytes,
}

/// The tokens of a text are its characters.
#[derive(Debug)]
struct Characters {
    kind: Kind,
    folds: Folds,
    /// The hash of the token for each byte of ASCII, `None` for one that is left out.
    hashes: Box<[Option<u64>; 128]>,
}

impl Characters {
    fn new(kind: Kind, folds: Folds) -> Characters {
        let hash = |byte: usize| {
            let sign = sign_of(kind, (byte as u8).to_ascii_lowercase())?;
            Some(hash_bytes(&[folds.ascii(sign)]))
        };
        Characters { kind, folds, hashes: Box::new(std::array::from_fn(hash)) }
    }

    fn form(&self) -> Form {
        Form { folds: self.folds.of_letters(), ..FORM }
    }
}

/// The signs of [`Kind::Chars`] in a text of ASCII, in the order of their alphabet.
const ALPHABET: &[u8; 37] = b"0123456789_abcdefghijklmnopqrstuvwxyz";

/// The sign for the characters between words.
const SEPARATOR: u8 = b'_';

/// The number of letters of a usual word: 4.5 in English sentences, 4.6 in RFCs, 4.9 in novels and
/// essays, 5.3 in recognised pages of German and French books.
const LETTERS_A_WORD: u32 = 5;

/// The number of these that are consonants: three in five.
const CONSONANTS_A_WORD: u32 = 3;

/// The number of bytes of ASCII processed in one go.
const PIECE: usize = 1024;

/// The number of pieces and chunks between two checks of the stop flag.
const PARTS_BETWEEN_LOOKS: usize = 64;

/// A letter with more bytes of marks is hashed incrementally instead of being collected.
const LETTER_BYTES_HELD: usize = 64;

impl Tokenize for Characters {
    fn tokenize(&self, text: &str, tokens: &mut impl Take, stop: &Stop) -> Result<()> {
        // Letters are joined without that.
        let joins = self.folds.joins_lines() && self.kind == Kind::Chars;
        let Some(joined) = hyphens::join(text, joins) else {
            return self.read(text, tokens, stop);
        };
        stop.check()?;
        self.read(&joined.text, &mut joined.moved(tokens), stop)
    }

    fn scratch_bytes(&self, text_bytes: usize) -> usize {
        hyphens::scratch_bytes(self.folds.joins_lines(), text_bytes)
    }

    fn alphabet(&self) -> Option<&'static [u8]> {
        (self.kind == Kind::Chars).then_some(ALPHABET)
    }

    fn of_passages(&self) -> Option<String> {
        // A reader counts words; bytes are for data that may lack them.
        let folds = FOLDS.written(self.folds.value());
        (self.kind != Kind::Bytes).then(|| format!("words(folds={folds})"))
    }

    fn tokens_a_word(&self) -> u32 {
        match self.kind {
            Kind::Letters => LETTERS_A_WORD,
            // With the space after them.
            Kind::Chars => LETTERS_A_WORD + 1,
            Kind::Consonants => CONSONANTS_A_WORD,
            Kind::Bytes => 1,
        }
    }
}

impl Characters {
    fn read(&self, text: &str, tokens: &mut impl Take, stop: &Stop) -> Result<()> {
        match self.kind {
            Kind::Bytes => bytes(text, tokens, stop),
            Kind::Consonants => self.characters(text, tokens, stop),
            Kind::Letters if has_sign(text, stop)? => self.characters(text, tokens, stop),
            Kind::Chars if has_sign(text, stop)? || text.is_ascii() => {
                self.characters(text, tokens, stop)
            }
            Kind::Chars | Kind::Letters => symbols(text, self.form(), tokens, stop),
        }
    }
}

/// Appends the bytes of `text`.
fn bytes(text: &str, tokens: &mut impl Take, stop: &Stop) -> Result<()> {
    for (at, (start, c)) in text.char_indices().enumerate() {
        stop.check_at(at)?;
        let span = Span { start: start as u32, end: (start + c.len_utf8()) as u32 };
        for byte in c.encode_utf8(&mut [0; 4]).bytes() {
            tokens.take(hash_bytes(&[byte]), span);
        }
    }
    Ok(())
}

/// Returns whether a text has a letter or digit, in its normal form.
fn has_sign(text: &str, stop: &Stop) -> Result<bool> {
    struct Signs(bool);
    impl Sink for Signs {
        fn accept(&mut self, c: char, class: Class, _: Span) {
            self.0 |= is_sign(c, class);
        }
    }
    let mut normalizer = Normalizer::new(FORM, stop);
    for (at, c) in text.chars().enumerate() {
        stop.check_at(at)?;
        let mut signs = Signs(false);
        match normalizer.settled(c) {
            Some((c, class)) => signs.0 = is_sign(c, class),
            None => normalizer.normalize(c.encode_utf8(&mut [0; 4]), 0, &mut signs)?,
        }
        if signs.0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether a normalised character is a letter or digit: a word character that does not join
/// words.
fn is_sign(c: char, class: Class) -> bool {
    // The connector punctuation that NFKC leaves.
    let joins = matches!(c, '_' | '\u{203f}' | '\u{2040}' | '\u{2054}');
    matches!(class, Class::Word | Class::Unit) && !joins
}

/// Returns the sign of a lower-case byte of ASCII, if it has one.
const fn sign_of(kind: Kind, lower: u8) -> Option<u8> {
    match (lower, kind) {
        (_, Kind::Bytes) => Some(lower),
        (b'a' | b'e' | b'i' | b'o' | b'u' | b'0'..=b'9', Kind::Consonants) => None,
        (b'0'..=b'9' | b'a'..=b'z', _) => Some(lower),
        (_, Kind::Chars) => Some(SEPARATOR),
        _ => None,
    }
}

impl Characters {
    /// Appends the characters of `text`, which must be at most `u32::MAX` bytes long.
    fn characters<T: Take>(&self, text: &str, tokens: &mut T, stop: &Stop) -> Result<()> {
        // Created at the first chunk, which in English text may never occur.
        let mut slow: Option<(Normalizer<'_>, Letter)> = None;
        let (mut at, mut parts) = (0, 0usize);
        while at < text.len() {
            if parts.is_multiple_of(PARTS_BETWEEN_LOOKS) {
                stop.check()?;
            }
            parts += 1;
            let rest = &text.as_bytes()[at..];
            let piece = &rest[..rest.len().min(PIECE)];
            let ascii = match piece.is_ascii() {
                true => piece.len(),
                false => piece.iter().take_while(|byte| byte.is_ascii()).count(),
            };
            let chunk = chunk_after(rest, ascii);
            self.push_ascii(&rest[..chunk.start], at, tokens);
            if !chunk.is_empty() {
                let (normalizer, letter) =
                    slow.get_or_insert_with(|| (Normalizer::new(self.form(), stop), Letter::new()));
                let start = at + chunk.start;
                let mut sink = CharacterSink { by: self, letter, tokens };
                normalizer.normalize(&text[start..at + chunk.end], start, &mut sink)?;
                sink.close();
            }
            at += chunk.end;
        }
        Ok(())
    }

    /// Appends the characters of a piece of ASCII that begins at byte `start` of the text.
    fn push_ascii(&self, piece: &[u8], start: usize, tokens: &mut impl Take) {
        let span = |at: usize| {
            let start = (start + at) as u32;
            Span { start, end: start + 1 }
        };
        let hash = |&byte: &u8| self.hashes[usize::from(byte)];
        if self.kind == Kind::Chars {
            let hashes = piece.iter().map(|byte| hash(byte).expect("every byte has a sign"));
            tokens.take_all(hashes, (0..piece.len()).map(span));
            return;
        }
        for (at, byte) in piece.iter().enumerate() {
            if let Some(hash) = hash(byte) {
                tokens.take(hash, span(at));
            }
        }
    }

    /// Returns whether a letter or digit in normal form is a token.
    fn keeps(&self, sign: char) -> bool {
        self.kind != Kind::Consonants
            || is_letter(sign) && !matches!(base(sign), 'a' | 'e' | 'i' | 'o' | 'u')
    }
}

/// Returns the chunk after the first `ascii` bytes of `bytes`, which are ASCII: empty if no other
/// character follows.
fn chunk_after(bytes: &[u8], ascii: usize) -> Range<usize> {
    if bytes.get(ascii).is_none_or(u8::is_ascii) {
        return ascii..ascii;
    }
    let joins = ascii > 0 && bytes[ascii - 1].is_ascii_alphanumeric();
    let length = bytes[ascii..].iter().take_while(|byte| !byte.is_ascii()).count();
    ascii - usize::from(joins)..ascii + length
}

/// A letter or digit, and the marks so far.
struct Letter {
    is_open: bool,
    bytes: [u8; LETTER_BYTES_HELD],
    length: usize,
    /// The hash of the bytes that are no longer in `bytes`.
    stream: Option<Box<HashStream>>,
    span: Span,
}

impl Letter {
    fn new() -> Letter {
        let span = Span { start: 0, end: 0 };
        Letter { is_open: false, bytes: [0; LETTER_BYTES_HELD], length: 0, stream: None, span }
    }

    fn append(&mut self, c: char, span: Span) {
        if LETTER_BYTES_HELD - self.length < 4 {
            let stream = self.stream.get_or_insert_with(|| Box::new(HashStream::new()));
            stream.write(&self.bytes[..self.length]);
            self.length = 0;
        }
        self.length += c.encode_utf8(&mut self.bytes[self.length..]).len();
        self.span.end = span.end;
    }

    fn hash(&mut self) -> u64 {
        match self.stream.take() {
            None => hash_bytes(&self.bytes[..self.length]),
            Some(mut stream) => {
                stream.write(&self.bytes[..self.length]);
                stream.finish()
            }
        }
    }
}

/// Turns the characters of a chunk into tokens.
struct CharacterSink<'a, T> {
    by: &'a Characters,
    letter: &'a mut Letter,
    tokens: &'a mut T,
}

impl<T: Take> CharacterSink<'_, T> {
    /// Ends the letter, if one is open.
    #[inline]
    fn close(&mut self) {
        if std::mem::take(&mut self.letter.is_open) {
            let hash = self.letter.hash();
            self.tokens.take(hash, self.letter.span);
            self.letter.length = 0;
        }
    }
}

impl<T: Take> Sink for CharacterSink<'_, T> {
    #[inline(always)]
    fn accept(&mut self, c: char, class: Class, span: Span) {
        match class {
            Class::Ignorable => (),
            Class::Mark if self.letter.is_open => self.letter.append(c, span),
            Class::Mark => (),
            _ if is_sign(c, class) => {
                self.close();
                if self.by.keeps(c) {
                    self.letter.is_open = true;
                    self.letter.span = span;
                    self.letter.append(c, span);
                }
            }
            _ => {
                self.close();
                if self.by.kind == Kind::Chars {
                    self.tokens.take(hash_bytes(&[SEPARATOR]), span);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tokenize::tests::{DEFAULT, characters, decomposed, map};
    use crate::text::{Analyzer, Tokens};
    use proptest::prelude::*;
    use regex::Regex;
    use std::sync::LazyLock;

    fn tokens(kind: Kind, text: &str) -> Tokens {
        let mut tokens = Tokens::default();
        Characters::new(kind, Folds::NONE).tokenize(text, &mut tokens, Stop::NEVER).unwrap();
        assert_eq!(tokens.hashes.len(), tokens.spans.len());
        for span in &tokens.spans {
            let piece = text.get(span.start as usize..span.end as usize);
            assert!(piece.is_some_and(|piece| !piece.is_empty()), "{text}");
        }
        tokens
    }

    fn check(kind: Kind, text: &str, expected: &[&str]) {
        let wanted: Vec<u64> = expected.iter().map(|sign| hash_bytes(sign.as_bytes())).collect();
        assert_eq!(tokens(kind, text).hashes, wanted, "{text}");
    }

    /// Checks that each token is a character of `expected`.
    fn check_signs(kind: Kind, text: &str, expected: &str) {
        let mut bytes = [[0; 4]; 64];
        let signs = expected.chars().zip(&mut bytes).map(|(c, bytes)| &*c.encode_utf8(bytes));
        check(kind, text, &signs.collect::<Vec<_>>());
    }

    /// A letter or digit with its marks, or any other character.
    static GROUPS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?<sign>[\p{L}\p{N}]\p{M}*)|\P{M}").unwrap());

    /// Returns the tokens of a text that is normalised as a whole, group by group, and their
    /// ranges.
    fn reference(text: &str) -> Vec<(String, usize, usize)> {
        let (normal, sources) = map(text, DEFAULT, true);
        let sign = |group: &regex::Captures<'_>| {
            let (all, sign) = (group.get(0).unwrap(), group.name("sign"));
            let sign = sign.map_or("_", |sign| sign.as_str());
            (sign.to_owned(), sources[all.start()].0, sources[all.end() - 1].1)
        };
        let groups: Vec<_> = GROUPS.captures_iter(&normal).map(|group| sign(&group)).collect();
        if text.is_ascii() || groups.iter().any(|group| group.0 != "_") {
            return groups;
        }
        let (normal, sources) = map(text, DEFAULT, false);
        let seen = normal.char_indices().filter(|(_, c)| !c.is_whitespace());
        seen.map(|(at, c)| (c.to_string(), sources[at].0, sources[at].1)).collect()
    }

    fn check_reference(text: &str) -> std::result::Result<(), TestCaseError> {
        let expected = reference(text);
        let Tokens { hashes, spans } = tokens(Kind::Chars, text);
        let wanted: Vec<u64> = expected.iter().map(|sign| hash_bytes(sign.0.as_bytes())).collect();
        prop_assert_eq!(&hashes, &wanted, "{}", text);
        for ((sign, start, end), span) in expected.iter().zip(&spans) {
            let found = (span.start as usize, span.end as usize);
            // A sign of ASCII and what follows in its segment are read apart.
            let before = text.get(*start..found.0).unwrap_or_default();
            let is_later = before.starts_with('_') && found.1 == *end;
            let is_it = found == (*start, *end) || is_later || sign == "_";
            prop_assert!(is_it, "{text}: {sign} {found:?}");
        }
        prop_assert!(spans.is_sorted_by_key(|span| span.start), "{}", text);
        // Consonants keep the signs of letters other than the five vowels.
        let is_kept = |sign: &str| {
            let c = sign.chars().next().unwrap();
            is_letter(c) && !"aeiou".contains(decomposed(c))
        };
        if expected.iter().any(|(sign, ..)| is_letter(sign.chars().next().unwrap())) {
            let kept = expected.iter().filter(|(sign, ..)| sign != "_" && is_kept(sign));
            let kept: Vec<u64> = kept.map(|sign| hash_bytes(sign.0.as_bytes())).collect();
            prop_assert_eq!(tokens(Kind::Consonants, text).hashes, kept, "{}", text);
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn any_text_is_read_group_by_group(
            characters in prop::collection::vec(characters(), 0..60),
            padding in prop::sample::select(vec![0, PIECE - 50, PIECE - 3]),
            pad in prop::sample::select(vec![".", "b"]),
        ) {
            check_reference(&(pad.repeat(padding) + &String::from_iter(characters)))?;
        }

        #[test]
        fn a_text_of_ascii_is_read_as_in_the_papers(text in "[ -~\n\t]{0,80}") {
            let sign = |byte: u8| if byte.is_ascii_alphanumeric() { byte } else { b'_' };
            let signs = text.to_ascii_lowercase().into_bytes().into_iter().map(sign);
            let found = tokens(Kind::Chars, &text);
            prop_assert_eq!(found.hashes, signs.map(|sign| hash_bytes(&[sign])).collect::<Vec<_>>());
            let is_each = |(at, span): (u32, &Span)| *span == Span { start: at, end: at + 1 };
            prop_assert!((0..).zip(&found.spans).all(is_each));
            let lower = text.to_ascii_lowercase();
            let kept = lower.bytes().filter(|b| b.is_ascii_lowercase() && !b"aeiou".contains(b));
            let kept: Vec<u64> = kept.map(|sign| hash_bytes(&[sign])).collect();
            prop_assert_eq!(tokens(Kind::Consonants, &text).hashes, kept);
        }
    }

    #[test]
    fn letters_are_the_signs_without_those_between() {
        for text in ["A b-9\u{e9}!", "re\u{301} \u{301}x", "\u{915}\u{93f}, \u{4e2d}\u{6587}\u{bd}"]
        {
            let mut signs = tokens(Kind::Chars, text).hashes;
            signs.retain(|&hash| hash != hash_bytes(b"_"));
            assert_eq!(tokens(Kind::Letters, text).hashes, signs, "{text}");
        }
        check_signs(Kind::Letters, "Frank-\nreich", "frankreich");
        check_signs(Kind::Letters, "!!! ?", "!!!?");
    }

    #[test]
    fn texts_become_signs() {
        check_signs(Kind::Chars, "A b-9\u{e9}!", "a_b_9\u{e9}_");
        check_signs(Kind::Consonants, "Koala, Y\u{e9}s: 20", "klys");
        let expected = ["A".as_bytes(), &[0xc3], &[0xa9], b" ", b"b"];
        let expected: Vec<u64> = expected.map(hash_bytes).to_vec();
        assert_eq!(tokens(Kind::Bytes, "A\u{e9} b").hashes, expected);
        assert_eq!(tokens(Kind::Bytes, "A\u{e9} b").spans[2], Span { start: 1, end: 3 });
    }

    #[test]
    fn letters_of_all_scripts_are_kept_with_their_marks() {
        let chars = |text, expected: &[&str]| check(Kind::Chars, text, expected);
        // Russian, composed and not; Greek with accents and a final sigma; Hindi; Chinese; Thai.
        chars(
            "\u{419}\u{43e}\u{434}, \u{438}\u{306}",
            &["\u{439}", "\u{43e}", "\u{434}", "_", "_", "\u{439}"],
        );
        chars("\u{39f}\u{1f50}\u{3c2}", &["\u{3bf}", "\u{1f50}", "\u{3c3}"]);
        chars("\u{3ac} \u{3b1}\u{301}", &["\u{3ac}", "_", "\u{3ac}"]);
        chars(
            "\u{939}\u{93f}\u{928}\u{94d}\u{926}\u{940}",
            &["\u{939}\u{93f}", "\u{928}\u{94d}", "\u{926}\u{940}"],
        );
        chars("\u{4e2d}\u{6587}\u{3002}", &["\u{4e2d}", "\u{6587}", "_"]);
        chars("\u{e19}\u{e49}\u{e52}", &["\u{e19}\u{e49}", "\u{e52}"]);
        // Digits of other scripts, a ligature, a letter that folds to two, a fraction.
        chars("\u{663}\u{fb01}\u{df}", &["\u{663}", "f", "i", "s", "s"]);
        chars("\u{bd}", &["1", "_", "2"]);
        // Emoji are signs between letters; joiners between them, and selectors, are not there.
        chars("a\u{1f468}\u{200d}\u{1f469}b\u{fe0f}", &["a", "_", "_", "b"]);
        chars("1\u{fe0f}\u{20e3}", &["1\u{20e3}"]);
        // A letter with more marks than a segment holds is one token.
        let marks = format!("e{}", "\u{316}".repeat(300));
        chars(&format!("{marks}x"), &[&marks, "x"]);
    }

    #[test]
    fn joiners_that_join_nothing_are_left_out() {
        // A mark after a sign or at the beginning, a joiner without neighbours.
        check_signs(Kind::Chars, "\u{301}a \u{301}b!\u{93f}", "a_b_");
        check(Kind::Chars, "\u{200d}a\u{200d}\u{200d}\u{94d}", &["a\u{94d}"]);
    }

    #[test]
    fn texts_beyond_ascii_without_a_letter_differ_if_their_signs_do() {
        check_signs(Kind::Chars, "!!! ?", "_____");
        check_signs(Kind::Chars, "!\u{2026}?", "!...?");
        check_signs(Kind::Chars, "\u{1f44d} \u{1f389}", "\u{1f44d}\u{1f389}");
        check_signs(Kind::Chars, " \n\u{a0}", "");
        // One letter, of any script or within a symbol, and they are signs between letters.
        check_signs(Kind::Chars, "!? \u{436}", "___\u{436}");
        check_signs(Kind::Chars, "!\u{2122}", "_tm");
    }

    #[test]
    fn unrelated_texts_of_another_script_have_no_run_of_characters_in_common() {
        let runs = |spec: &str, text: &str| {
            let (mut tokens, analyzer) = (Tokens::default(), spec.parse::<Analyzer>().unwrap());
            analyzer.analyze(text, &mut tokens, Stop::NEVER).unwrap();
            tokens.hashes.windows(5).map(<[u64]>::to_vec).collect::<Vec<_>>()
        };
        let one = "\u{43c}\u{44b}\u{448}\u{44c} \u{441}\u{44a}\u{435}\u{43b}\u{430} \u{441}\u{44b}\u{440}";
        let other = "\u{434}\u{43e}\u{436}\u{434}\u{44c} \u{438}\u{434}\u{451}\u{442} \u{432}\u{435}\u{437}\u{434}\u{435}";
        for spec in ["chars", "consonants", "bytes"] {
            let (one, other) = (runs(spec, one), runs(spec, other));
            assert!(one.len() > 5 && other.len() > 5, "{spec}");
            assert!(one.iter().all(|run| !other.contains(run)), "{spec}");
        }
    }

    #[test]
    fn every_character_is_read_as_defined() {
        let all =
            ('\0'..='\u{1ffff}').filter(|&c| (c as u32) < 0x3400 || (c as u32).is_multiple_of(29));
        let assigned = Regex::new(r"^\P{Cn}$").unwrap();
        let all = all.filter(|c| assigned.is_match(c.encode_utf8(&mut [0; 4])));
        for some in all.collect::<Vec<_>>().chunks(256) {
            let lines =
                some.iter().map(|c| format!("{c} a{c}b{c}{c}\u{301}{c}\u{345}\u{323}<{c}\n"));
            check_reference(&lines.collect::<String>()).unwrap();
        }
        for c in '\0'..=char::MAX {
            let mut has = false;
            let mut normalizer = Normalizer::new(DEFAULT, Stop::NEVER);
            let mut sink = Joining(&mut has);
            normalizer.normalize(c.encode_utf8(&mut [0; 4]), 0, &mut sink).unwrap();
            assert!(!has, "{c:?}");
        }
    }

    /// Records connector punctuation that is taken for a letter.
    struct Joining<'a>(&'a mut bool);

    impl Sink for Joining<'_> {
        fn accept(&mut self, c: char, class: Class, _: Span) {
            use crate::text::unicode::{Category, category};
            *self.0 |= is_sign(c, class) && category(c) == Category::Pc;
        }
    }
}
