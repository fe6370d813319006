//! Splitting of texts into words.
//!
//! A word is a maximal run of word characters of the normalized text (see [`super::normalize`]):
//! letters, numbers and connector punctuation such as the underscore, each with the marks that
//! follow. A mark that follows no word character belongs to no word. Runs of letters in scripts
//! without spaces are cut into overlapping n-grams of *units*, where a unit is a letter and the
//! marks that follow. A run shorter than n is a single token. A line end between two letters of
//! such scripts, except Korean and Burmese, or between two Tibetan letters, is ignored
//! ([`super::lines`]). A text without words is read symbol by symbol, so that "!!!" and "???" are
//! not both empty. A text of white space and invisible characters has no token.
//!
//! Most text is ASCII, so ASCII words with ASCII on both sides never go through the general code.
//! The text is lower-cased 1 KiB at a time and turned into a bit per byte (word or not), both by
//! loops that the compiler vectorizes, and the edges of the bits are the edges of words. A run of
//! word bytes with a byte above 127, a *chunk*, is read character by character, in place as long as
//! its letters are settled and do not become longer, which holds for most alphabets. Two facts
//! allow reading a chunk alone: normalization never combines an ASCII character with a character
//! before it, and only a mark can combine with an ASCII character before it that is no word
//! character, which at most makes a different sign (`=` and U+0338).

use super::family::{Family, Tokenize};
use super::fold::{FOLDS, Folds};
use super::hyphens;
use super::lines::line_end_within;
use super::normalize::{CharForm, CharSink, Class, Normalizer};
use super::unicode::is_white_space;
use super::{Span, Take};
use crate::Result;
use crate::hash::{HashStream, hash_bytes};
use crate::runtime::Stop;
use crate::spec::{Parameter, Spec};
use std::ops::Range;
use std::sync::Arc;

pub(super) const FAMILY: Family = Family {
    name: "words",
    parameters: &[
        Parameter::switch("nfkc", 1, "1 makes compatible characters equal (Unicode NFKC)"),
        Parameter::switch("fold", 1, "1 makes upper and lower case equal (full case folding)"),
        Parameter::number(
            "cjk",
            2,
            0,
            UNITS_MAX as u32,
            "letters of scripts written without spaces are cut into overlapping runs of this many; \
             0 leaves them whole",
        ),
        FOLDS,
    ],
    summary: "words, as they read rather than as they are encoded",
    source: "",
    example: "words(nfkc=1,fold=1,cjk=2)",
    build: |spec| Arc::new(WordTokens::new(spec)),
};

/// The analyzer: the tokens of a text are its words.
#[derive(Debug)]
struct WordTokens {
    form: CharForm,
    units: usize,
    folds: Folds,
}

impl WordTokens {
    fn new(spec: &Spec) -> WordTokens {
        let folds = Folds::of(spec);
        let (nfkc, fold) = (spec.is_on("nfkc"), spec.is_on("fold"));
        let form = CharForm { nfkc, fold, folds: folds.of_letters() };
        WordTokens { form, units: spec.get("cjk") as usize, folds }
    }
}

impl Tokenize for WordTokens {
    fn tokenize(&self, text: &str, tokens: &mut impl Take, stop: &Stop) -> Result<()> {
        let Some(joined) = hyphens::join(text, self.folds) else {
            return tokenize(text, self.form, self.units, tokens, stop);
        };
        stop.check()?;
        tokenize(&joined.text, self.form, self.units, &mut joined.moved(tokens), stop)
    }

    fn scratch_bytes(&self, text_bytes: usize) -> usize {
        hyphens::scratch_bytes(self.folds, text_bytes)
    }
}

/// The maximum length of n-grams of units.
pub(super) const UNITS_MAX: usize = 4;

/// The number of bytes processed at a time, a multiple of [`BLOCK`]. Twice as many are no faster,
/// and four times as many are 4 % slower.
const PIECE: usize = 1024;

/// The number of bytes whose bits fit into an integer.
const BLOCK: usize = 64;

/// The maximum number of bytes of a word in memory. A longer word is hashed incrementally.
const WORD_BYTES_HELD: usize = 4096;

/// Appends the tokens of `text`. `units` is the length of n-grams of units, or 0 to leave runs
/// whole.
///
/// `text` must be at most `u32::MAX` bytes long. Cancellation is the only error.
pub(super) fn tokenize(
    text: &str,
    form: CharForm,
    units: usize,
    tokens: &mut impl Take,
    stop: &Stop,
) -> Result<()> {
    let before = tokens.taken();
    words(text, form, units, tokens, stop)?;
    if tokens.taken() == before {
        symbols(text, form, tokens, stop)?;
    }
    Ok(())
}

/// The number of pieces between two checks of the stop flag: some milliseconds.
const PIECES_BETWEEN_LOOKS: usize = 64;

/// The maximum number of unsettled chunks of a piece before testing further chunks stops. In
/// scripts with marks hardly any chunk is settled, so testing would be wasted time.
const UNSETTLED_MAX: usize = 4;

fn words(
    text: &str,
    form: CharForm,
    units: usize,
    tokens: &mut impl Take,
    stop: &Stop,
) -> Result<()> {
    let mut piece = LowercasePiece::new(form);
    // Created at the first chunk, which in English text may never occur.
    let mut slow: Option<(Normalizer<'_>, WordMaker)> = None;
    let (mut start, mut pieces) = (0, 0usize);
    while start < text.len() {
        if pieces.is_multiple_of(PIECES_BETWEEN_LOOKS) {
            stop.check()?;
        }
        pieces += 1;
        let end = piece.scan(&text.as_bytes()[start..]);
        // The first part of a word that goes on after a line end.
        let mut is_open = slow.as_ref().is_some_and(|(_, words)| words.is_open());
        if !piece.has_chunks && end > 0 && !is_open {
            piece.push_words(start, tokens);
            start += end;
            continue;
        }
        let (normalizer, words) =
            slow.get_or_insert_with(|| (Normalizer::new(form, stop), WordMaker::new(units)));
        if end == 0 {
            // A single run of word bytes fills the piece.
            let rest = &text.as_bytes()[start..];
            let end = rest.iter().position(|&byte| !is_word_byte(byte));
            let end = end.map_or(text.len(), |length| start + length);
            chunk(text, start..end, normalizer, words, tokens)?;
            start = end;
            continue;
        }
        let mut unsettled = 0;
        for edge in piece.edges[..piece.edges_length].chunks_exact(2) {
            let (from, to) = (usize::from(edge[0]), usize::from(edge[1]));
            let word = &mut piece.lower[from..to];
            if word.is_ascii() && !is_open {
                push(tokens, hash_bytes(word), start + from, start + to);
                continue;
            }
            let (mut from, to) = (start + from, start + to);
            if unsettled < UNSETTLED_MAX && !is_open {
                from += settled_words(&text[from..to], word, from, normalizer, tokens);
            }
            if from < to {
                unsettled += 1;
                chunk(text, from..to, normalizer, words, tokens)?;
                is_open = words.is_open();
            }
        }
        start += end;
    }
    Ok(())
}

/// Takes the words at the front of a chunk whose letters are all settled and as long as their
/// normal form. Returns the length of the part with these words. `lower` is the lower-cased chunk,
/// whose letters are replaced, and the chunk begins at byte `start` of the text.
///
/// The next part begins with a settled character, so no normalization crosses the boundary.
fn settled_words(
    chunk: &str,
    lower: &mut [u8],
    start: usize,
    normalizer: &Normalizer<'_>,
    tokens: &mut impl Take,
) -> usize {
    // Where the open word begins, or the sign before. The next characters may join either.
    let mut begin = 0;
    let mut is_open = false;
    for (at, c) in chunk.char_indices() {
        match normalizer.settled(c) {
            Some((letter, Class::Word)) if letter.len_utf8() == c.len_utf8() => {
                letter.encode_utf8(&mut lower[at..]);
                if !is_open {
                    (begin, is_open) = (at, true);
                }
            }
            Some((_, Class::Other)) => {
                if is_open {
                    push(tokens, hash_bytes(&lower[begin..at]), start + begin, start + at);
                }
                (begin, is_open) = (at, false);
            }
            _ => return begin,
        }
    }
    if is_open {
        push(tokens, hash_bytes(&lower[begin..]), start + begin, start + chunk.len());
    }
    chunk.len()
}

/// Takes a run of word bytes.
fn chunk(
    text: &str,
    range: Range<usize>,
    normalizer: &mut Normalizer<'_>,
    words: &mut WordMaker,
    tokens: &mut impl Take,
) -> Result<()> {
    let start = range.start;
    let end = range.end;
    normalizer.normalize(&text[range], start, &mut WordSink { words, tokens })?;
    // A word that continues in the next chunk stays open.
    if line_end_within(text, end, normalizer)? == 0 {
        words.close(tokens);
    }
    Ok(())
}

/// Appends every visible character of `text`.
pub(super) fn symbols(
    text: &str,
    form: CharForm,
    tokens: &mut impl Take,
    stop: &Stop,
) -> Result<()> {
    Normalizer::new(form, stop).normalize(text, 0, &mut SymbolSink { tokens })
}

#[inline(always)]
fn push(tokens: &mut impl Take, hash: u64, start: usize, end: usize) {
    tokens.take(hash, Span { start: start as u32, end: end as u32 });
}

/// Returns whether a byte of a text belongs to a run of word bytes.
#[inline(always)]
const fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// A stretch of a text, lower-cased, with the edges of the runs of word bytes.
struct LowercasePiece {
    form: CharForm,
    lower: [u8; PIECE],
    /// Begin, end, begin, end, ...
    edges: [u16; PIECE + 2],
    edges_length: usize,
    /// Whether a byte is above 127.
    has_chunks: bool,
}

impl LowercasePiece {
    fn new(form: CharForm) -> LowercasePiece {
        LowercasePiece {
            form,
            lower: [0; PIECE],
            edges: [0; PIECE + 2],
            edges_length: 0,
            has_chunks: false,
        }
    }

    /// Reads a stretch from the start of `bytes` whose end no run crosses, and returns the length.
    /// Returns 0 if a run begins at the start and ends outside of the piece.
    fn scan(&mut self, bytes: &[u8]) -> usize {
        let bytes = &bytes[..bytes.len().min(PIECE + 1)];
        let (bytes, more) = bytes.split_at(bytes.len().min(PIECE));
        let mut high = 0;
        let mut before = 0;
        self.edges_length = 0;
        let mut blocks = bytes.chunks_exact(BLOCK);
        for (i, block) in blocks.by_ref().enumerate() {
            let block: &[u8; BLOCK] = block.try_into().expect("chunks_exact gives whole blocks");
            self.scan_block(i, block, &mut before, &mut high);
        }
        let rest = blocks.remainder();
        if !rest.is_empty() {
            let mut block = [b' '; BLOCK];
            block[..rest.len()].copy_from_slice(rest);
            self.scan_block(bytes.len() / BLOCK, &block, &mut before, &mut high);
        }
        self.has_chunks = high >= 0x80;
        if self.form.folds.change_ascii() {
            self.lower[..bytes.len()].iter_mut().for_each(|b| *b = self.form.folds.ascii(*b));
        }
        if self.edges_length.is_multiple_of(2) {
            return bytes.len();
        }
        // The last run is open: it ends with the text, or is left to the next piece.
        if more.first().is_some_and(|&byte| is_word_byte(byte)) {
            self.edges_length -= 1;
            usize::from(self.edges[self.edges_length])
        } else {
            self.edges[self.edges_length] = bytes.len() as u16;
            self.edges_length += 1;
            bytes.len()
        }
    }

    /// Reads block `i`. `before` is 1 if the previous block ends in a run. `high` collects high
    /// bits.
    #[inline(always)]
    fn scan_block(&mut self, i: usize, block: &[u8; BLOCK], before: &mut u64, high: &mut u8) {
        let case = if self.form.fold { 0x20 } else { 0 };
        let lower = &mut self.lower[i * BLOCK..][..BLOCK];
        let mut flags = [0; BLOCK];
        for ((lower, flag), &byte) in lower.iter_mut().zip(&mut flags).zip(block) {
            let upper = byte.wrapping_sub(b'A') < 26;
            *lower = if upper { byte | case } else { byte };
            let letter = (byte | 0x20).wrapping_sub(b'a') < 26;
            let digit = byte.wrapping_sub(b'0') < 10;
            *flag = u8::from(letter | digit | (byte == b'_') | (byte >= 0x80));
            *high |= byte;
        }
        let mut bits = 0;
        for (j, eight) in flags.chunks_exact(8).enumerate() {
            let eight = u64::from_le_bytes(eight.try_into().expect("eight flags"));
            // Eight bytes of 0 or 1 become eight bits, the first byte the lowest bit.
            bits |= (eight.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (j * 8);
        }
        let mut edges = bits ^ (bits << 1 | *before);
        *before = bits >> 63;
        while edges != 0 {
            let edge = i * BLOCK + edges.trailing_zeros() as usize;
            self.edges[self.edges_length] = edge as u16;
            self.edges_length += 1;
            edges &= edges - 1;
        }
    }

    /// Appends the words of a piece without chunks that begins at `start` in the text.
    #[inline(always)]
    fn push_words(&self, start: usize, tokens: &mut impl Take) {
        let edges = self.edges[..self.edges_length].chunks_exact(2);
        tokens.take_all(
            edges
                .clone()
                .map(|edge| hash_bytes(&self.lower[usize::from(edge[0])..usize::from(edge[1])])),
            edges.map(|edge| Span {
                start: start as u32 + u32::from(edge[0]),
                end: start as u32 + u32::from(edge[1]),
            }),
        );
    }
}

/// Makes words and n-grams of units out of classified characters.
struct WordMaker {
    /// The length of n-grams of units, or 0 to leave runs whole.
    units_wanted: usize,
    open: OpenToken,
    /// `bytes[begin..end]` is the word so far, or the collected units.
    bytes: Vec<u8>,
    begin: usize,
    end: usize,
    /// The hash of the part of a long word that is no longer in `bytes`.
    stream: Option<Box<HashStream>>,
    /// The span of the word so far.
    span: Span,
    units: [LetterUnit; UNITS_MAX],
    units_length: usize,
    /// Whether an n-gram of this run has been made.
    run_has_tokens: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenToken {
    Nothing,
    Word,
    Run,
}

/// A letter and its marks: the number of bytes in `bytes`, and the position in the text.
#[derive(Clone, Copy)]
struct LetterUnit {
    length: usize,
    span: Span,
}

impl WordMaker {
    fn new(units_wanted: usize) -> WordMaker {
        assert!(units_wanted <= UNITS_MAX, "the analyzer bounds n-grams");
        let span = Span { start: 0, end: 0 };
        WordMaker {
            units_wanted,
            open: OpenToken::Nothing,
            bytes: vec![0; 256],
            begin: 0,
            end: 0,
            stream: None,
            span,
            units: [LetterUnit { length: 0, span }; UNITS_MAX],
            units_length: 0,
            run_has_tokens: false,
        }
    }

    #[inline]
    fn is_open(&self) -> bool {
        self.open != OpenToken::Nothing
    }

    /// Ends the word or the run.
    #[inline]
    fn close(&mut self, tokens: &mut impl Take) {
        match self.open {
            OpenToken::Nothing => return,
            OpenToken::Word => self.push_word(tokens),
            OpenToken::Run if self.units_length == self.units_wanted || !self.run_has_tokens => {
                self.push_units(tokens);
            }
            OpenToken::Run => (),
        }
        self.open = OpenToken::Nothing;
        (self.begin, self.end) = (0, 0);
    }

    #[inline(always)]
    fn extend_word(&mut self, c: char, span: Span) {
        if self.end >= WORD_BYTES_HELD {
            let stream = self.stream.get_or_insert_with(|| Box::new(HashStream::new()));
            stream.write(&self.bytes[self.begin..self.end]);
            (self.begin, self.end) = (0, 0);
        }
        self.append(c);
        self.span.end = span.end;
    }

    fn push_word(&mut self, tokens: &mut impl Take) {
        let hash = match self.stream.take() {
            None => hash_bytes(&self.bytes[self.begin..self.end]),
            Some(mut stream) => {
                stream.write(&self.bytes[self.begin..self.end]);
                stream.finish()
            }
        };
        tokens.take(hash, self.span);
    }

    #[inline(always)]
    fn begin_unit(&mut self, c: char, span: Span, tokens: &mut impl Take) {
        if self.units_length == self.units_wanted {
            self.push_units(tokens);
            self.begin += self.units[0].length;
            self.units.copy_within(1.., 0);
            self.units_length -= 1;
        }
        self.units[self.units_length] = LetterUnit { length: 0, span };
        self.units_length += 1;
        self.extend_unit(c, span);
    }

    #[inline(always)]
    fn extend_unit(&mut self, c: char, span: Span) {
        self.append(c);
        let unit = &mut self.units[self.units_length - 1];
        unit.length += c.len_utf8();
        unit.span.end = span.end;
    }

    #[inline(always)]
    fn push_units(&mut self, tokens: &mut impl Take) {
        let end = self.units[self.units_length - 1].span.end;
        let hash = hash_bytes(&self.bytes[self.begin..self.end]);
        tokens.take(hash, Span { start: self.units[0].span.start, end });
        self.run_has_tokens = true;
    }

    #[inline(always)]
    fn append(&mut self, c: char) {
        // Writes in place. Appending a slice of two or three bytes is a call of memmove, which took
        // a third of the time for Cyrillic text.
        if self.bytes.len() - self.end < 4 {
            self.make_room();
        }
        self.end += c.encode_utf8(&mut self.bytes[self.end..]).len();
    }

    #[cold]
    fn make_room(&mut self) {
        self.bytes.copy_within(self.begin..self.end, 0);
        self.end -= self.begin;
        self.begin = 0;
        if self.end * 2 > self.bytes.len() {
            self.bytes.resize(2 * self.bytes.len(), 0);
        }
    }
}

struct WordSink<'a, T> {
    words: &'a mut WordMaker,
    tokens: &'a mut T,
}

impl<T: Take> CharSink for WordSink<'_, T> {
    #[inline(always)]
    fn accept(&mut self, c: char, class: Class, span: Span) {
        let words = &mut *self.words;
        match class {
            Class::Unit if words.units_wanted > 0 => {
                if words.open != OpenToken::Run {
                    words.close(self.tokens);
                    words.open = OpenToken::Run;
                    words.units_length = 0;
                    words.run_has_tokens = false;
                }
                words.begin_unit(c, span, self.tokens);
            }
            Class::Word | Class::Unit | Class::Syllable => {
                if words.open != OpenToken::Word {
                    words.close(self.tokens);
                    words.open = OpenToken::Word;
                    words.span = span;
                }
                words.extend_word(c, span);
            }
            Class::Mark => match words.open {
                OpenToken::Nothing => (),
                OpenToken::Word => words.extend_word(c, span),
                OpenToken::Run => words.extend_unit(c, span),
            },
            Class::Other => words.close(self.tokens),
            Class::Ignorable => (),
        }
    }
}

/// Turns every visible character into a token.
struct SymbolSink<'a, T> {
    tokens: &'a mut T,
}

impl<T: Take> CharSink for SymbolSink<'_, T> {
    fn accept(&mut self, c: char, class: Class, span: Span) {
        if class != Class::Ignorable && !is_white_space(c) {
            self.tokens.take(hash_bytes(c.encode_utf8(&mut [0; 4]).as_bytes()), span);
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
