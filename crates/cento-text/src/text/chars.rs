//! Analyzers with characters as tokens.
//!
//! Four kinds of token, for schemes over characters:
//!
//! - [`CharKind::Chars`]: letters and digits, and `_` for every other character. In ASCII this is
//!   the
//!   alphabet of 37 signs of Sun et al. (2013), section 7.1: lower case, digits and `_`. The paper
//!   does not treat other texts. Here a letter or digit of any script is a token, with its marks,
//!   normalized and folded as in the analyzer `words` (see [`super::normalize`]): a composed
//!   character and the same letter with a combining accent are the same token, a vowel sign of
//!   Devanagari belongs to its consonant, and a ligature is its letters.
//! - [`CharKind::Letters`]: the same letters and digits without anything between. OCR text has
//!   wrong
//!   and missing spaces and marks as well as wrong letters, and a word that a line end divides is
//!   whole.
//! - [`CharKind::Consonants`]: the consonants, without vowels and everything else (Koala, Heintze
//!   1996:
//!   chunks of 20 consonants). Vowels are a, e, i, o and u, with any marks. Which letters of other
//!   scripts are vowels depends on the language, so all letters of other scripts are kept.
//! - [`CharKind::Bytes`]: every byte unchanged (SIF, Manber 1994: chunks of 50 bytes). The span of
//!   a
//!   byte is the span of its character, so that no passage cuts a character.
//!
//! Marks that follow no letter or digit, and characters that are invisible by definition, are
//! omitted. [`CharKind::Chars`] reads a text beyond ASCII without a letter or digit, such as emoji,
//! symbol by symbol, as `words` does. Otherwise all such texts of the same length would be equal.
//! [`CharKind::Letters`] does so with every text without a letter or digit.
//!
//! Text is read in runs of ASCII, by a table, and in *chunks*: a run of other characters, with the
//! preceding ASCII letter or digit, which a mark may change. Normalization never combines an ASCII
//! character with a character before it. A sign of ASCII that combines with the next character
//! becomes a different sign (`=` and U+0338).

use super::family::{Family, Tokenize};
use super::fold::{FOLDS, Folds};
use super::hyphens;
use super::lines::line_end_within;
use super::normalize::{CharForm, CharSink, Class, Normalizer};
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

pub(super) const LETTERS: Family = Family {
    name: "letters",
    parameters: &[FOLDS],
    summary: "letters and digits of all scripts, without spaces and marks",
    source: "",
    example: "letters",
    build: |spec| Arc::new(Characters::new(CharKind::Letters, Folds::of(spec))),
};

pub(super) const CHARS: Family = Family {
    name: "chars",
    parameters: &[FOLDS],
    summary: "letters and digits of all scripts, and `_` for every other character",
    source: "Sun, Qin and Wang 2013, section 7.1, for ASCII",
    example: "chars",
    build: |spec| Arc::new(Characters::new(CharKind::Chars, Folds::of(spec))),
};

pub(super) const CONSONANTS: Family = Family {
    name: "consonants",
    parameters: &[],
    summary: "consonants, and all letters of scripts other than Latin",
    source: "Heintze 1996: Koala, for ASCII",
    example: "consonants",
    build: |_| Arc::new(Characters::new(CharKind::Consonants, Folds::NONE)),
};

pub(super) const BYTES: Family = Family {
    name: "bytes",
    parameters: &[],
    summary: "every byte",
    source: "Manber 1994: SIF",
    example: "bytes",
    build: |_| Arc::new(Characters::new(CharKind::Bytes, Folds::NONE)),
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CharKind {
    Chars,
    Letters,
    Consonants,
    Bytes,
}

/// The analyzer: the tokens of a text are its characters.
#[derive(Debug)]
struct Characters {
    kind: CharKind,
    folds: Folds,
    /// For each byte of ASCII, the hash of its token, or `None` if the byte is omitted.
    hashes: Box<[Option<u64>; 128]>,
}

impl Characters {
    fn new(kind: CharKind, folds: Folds) -> Characters {
        let hash = |byte: usize| {
            let sign = sign_of(kind, (byte as u8).to_ascii_lowercase())?;
            Some(hash_bytes(&[folds.ascii(sign)]))
        };
        Characters { kind, folds, hashes: Box::new(std::array::from_fn(hash)) }
    }

    fn form(&self) -> CharForm {
        CharForm { folds: self.folds.of_letters(), ..FORM }
    }
}

/// The signs of [`CharKind::Chars`] in a text of ASCII, in the order of their alphabet.
const ALPHABET: &[u8; 37] = b"0123456789_abcdefghijklmnopqrstuvwxyz";

/// The sign for the characters between words.
const SEPARATOR: u8 = b'_';

/// The number of letters of a usual word: 4.5 in English sentences, 4.6 in RFCs, 4.9 in novels and
/// essays, 5.3 in OCR pages of German and French books.
const LETTERS_A_WORD: u32 = 5;

/// The number of consonants of a usual word: three in five letters.
const CONSONANTS_A_WORD: u32 = 3;

/// The number of bytes of ASCII that are processed at a time.
const PIECE: usize = 1024;

/// The number of pieces and chunks between two checks of the stop flag.
const PARTS_BETWEEN_LOOKS: usize = 64;

/// The maximum number of bytes of a letter in memory. A letter with more marks is hashed
/// incrementally.
const LETTER_BYTES_HELD: usize = 64;

impl Tokenize for Characters {
    fn tokenize(&self, text: &str, tokens: &mut impl Take, stop: &Stop) -> Result<()> {
        // Letters are joined anyway, so hyphens matter only for `chars`.
        let folds = match self.kind {
            CharKind::Chars => self.folds,
            _ => self.folds.without_hyphens(),
        };
        let Some(joined) = hyphens::join(text, folds) else {
            return self.read(text, tokens, stop);
        };
        stop.check()?;
        self.read(&joined.text, &mut joined.moved(tokens), stop)
    }

    fn scratch_bytes(&self, text_bytes: usize) -> usize {
        hyphens::scratch_bytes(self.folds, text_bytes)
    }

    fn alphabet(&self) -> Option<&'static [u8]> {
        (self.kind == CharKind::Chars).then_some(ALPHABET)
    }

    fn of_passages(&self) -> Option<String> {
        // A reader counts words. Bytes are for data that may have no words.
        let folds = FOLDS.written(self.folds.value());
        (self.kind != CharKind::Bytes).then(|| format!("words(folds={folds})"))
    }

    fn of_all_words(&self, _: bool) -> Option<String> {
        (self.kind == CharKind::Consonants).then(|| "words".to_owned())
    }

    fn tokens_a_word(&self) -> u32 {
        match self.kind {
            CharKind::Letters => LETTERS_A_WORD,
            // A word has a space after its letters.
            CharKind::Chars => LETTERS_A_WORD + 1,
            CharKind::Consonants => CONSONANTS_A_WORD,
            CharKind::Bytes => 1,
        }
    }
}

impl Characters {
    fn read(&self, text: &str, tokens: &mut impl Take, stop: &Stop) -> Result<()> {
        match self.kind {
            CharKind::Bytes => bytes(text, tokens, stop),
            CharKind::Consonants => self.characters(text, tokens, stop),
            CharKind::Letters if has_sign(text, stop)? => self.characters(text, tokens, stop),
            CharKind::Chars if has_sign(text, stop)? || text.is_ascii() => {
                self.characters(text, tokens, stop)
            }
            CharKind::Chars | CharKind::Letters => symbols(text, self.form(), tokens, stop),
        }
    }
}

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
    impl CharSink for Signs {
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

/// Returns whether a normalized character is a letter or digit: a word character that does not join
/// words.
fn is_sign(c: char, class: Class) -> bool {
    // The connector punctuation that NFKC leaves.
    let joins = matches!(c, '_' | '\u{203f}' | '\u{2040}' | '\u{2054}');
    matches!(class, Class::Word | Class::Unit | Class::Syllable) && !joins
}

/// Returns the sign of a lower-case byte of ASCII, or `None` if the byte is omitted.
const fn sign_of(kind: CharKind, lower: u8) -> Option<u8> {
    match (lower, kind) {
        (_, CharKind::Bytes) => Some(lower),
        (b'a' | b'e' | b'i' | b'o' | b'u' | b'0'..=b'9', CharKind::Consonants) => None,
        (b'0'..=b'9' | b'a'..=b'z', _) => Some(lower),
        (_, CharKind::Chars) => Some(SEPARATOR),
        _ => None,
    }
}

impl Characters {
    /// Appends the characters of `text`, which must be at most `u32::MAX` bytes long.
    fn characters<T: Take>(&self, text: &str, tokens: &mut T, stop: &Stop) -> Result<()> {
        // Created at the first chunk, which in English text may never occur.
        let mut slow: Option<(Normalizer<'_>, PendingLetter)> = None;
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
                let (normalizer, letter) = slow.get_or_insert_with(|| {
                    (Normalizer::new(self.form(), stop), PendingLetter::new())
                });
                let start = at + chunk.start;
                let mut sink = CharacterSink { by: self, letter, tokens };
                normalizer.normalize(&text[start..at + chunk.end], start, &mut sink)?;
                at += chunk.end;
                let line_end = match sink.letter.is_open {
                    true => line_end_within(text, at, normalizer)?,
                    false => 0,
                };
                at += line_end;
                // ASCII letters do not go through the sink.
                if line_end == 0 || text.as_bytes()[at].is_ascii() {
                    sink.close();
                }
            } else {
                at += chunk.end;
            }
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
        if self.kind == CharKind::Chars {
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
        self.kind != CharKind::Consonants
            || is_letter(sign) && !matches!(base(sign), 'a' | 'e' | 'i' | 'o' | 'u')
    }
}

/// Returns the chunk after the first `ascii` bytes of `bytes`, which are ASCII. Empty if no
/// non-ASCII character follows.
fn chunk_after(bytes: &[u8], ascii: usize) -> Range<usize> {
    if bytes.get(ascii).is_none_or(u8::is_ascii) {
        return ascii..ascii;
    }
    let joins = ascii > 0 && bytes[ascii - 1].is_ascii_alphanumeric();
    let length = bytes[ascii..].iter().take_while(|byte| !byte.is_ascii()).count();
    ascii - usize::from(joins)..ascii + length
}

/// A letter or digit, and its marks so far.
struct PendingLetter {
    is_open: bool,
    bytes: [u8; LETTER_BYTES_HELD],
    length: usize,
    /// The hash of the bytes that are no longer in `bytes`.
    stream: Option<Box<HashStream>>,
    span: Span,
}

impl PendingLetter {
    fn new() -> PendingLetter {
        let span = Span { start: 0, end: 0 };
        PendingLetter {
            is_open: false,
            bytes: [0; LETTER_BYTES_HELD],
            length: 0,
            stream: None,
            span,
        }
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
    letter: &'a mut PendingLetter,
    tokens: &'a mut T,
}

impl<T: Take> CharacterSink<'_, T> {
    /// Ends the letter, if a letter is open.
    #[inline]
    fn close(&mut self) {
        if std::mem::take(&mut self.letter.is_open) {
            let hash = self.letter.hash();
            self.tokens.take(hash, self.letter.span);
            self.letter.length = 0;
        }
    }
}

impl<T: Take> CharSink for CharacterSink<'_, T> {
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
                if self.by.kind == CharKind::Chars {
                    self.tokens.take(hash_bytes(&[SEPARATOR]), span);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
