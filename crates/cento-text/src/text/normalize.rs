//! Normalization of texts, so that the encoding of their characters does not matter.
//!
//! Two spellings of a word must give the same token, whether composed or not, full-width or not, in
//! upper or lower case. Characters are therefore converted to NFKC, folded by the full Unicode case
//! folding, and converted to NFKC again, because folding can leave a text that is not normalized
//! (U+0345 becomes a letter). Characters that are invisible by definition
//! (Default_Ignorable_Code_Point: soft hyphen, zero-width space and joiners, variation selectors,
//! bidirectional controls, byte order mark) are dropped first, as in Unicode's own NFKC_Casefold:
//! readers do not see such characters, and they are the usual way to hide a copy from a comparison.
//! Signs that only lengthen the line between two letters, such as the Arabic tatweel, are dropped
//! too. Where case is folded, letters with two code points that NFKC distinguishes are unified
//! ([`super::variants`]).
//!
//! Normal forms do not reach across a *segment*: a character that starts a syllable or stands
//! alone, with the following characters that may combine with it. A text is therefore normalized
//! segment by segment, in bounded memory, and every character of the result knows the bytes of its
//! segment in the original text.
//!
//! [`super::tokenize`] decides where words begin and end.

use super::Span;
use super::fold::Folds;
use super::unicode::normal::{
    combining_class, extend_by_decomposition, extend_by_nfkc, extend_by_nfkc_and_folding,
    is_second, nfkc, starts_segment,
};
use super::unicode::{WordCategory, category, folded, is_assigned, is_tibetan, is_unspaced};
use super::variants;
use crate::Result;
use crate::runtime::Stop;
use std::sync::OnceLock;

/// The equivalences for the comparison of characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CharForm {
    /// Compatibility and canonical equivalence (NFKC).
    pub(super) nfkc: bool,
    /// Full Unicode case folding.
    pub(super) fold: bool,
    /// The folds, but only folds of letters.
    pub(super) folds: Folds,
}

impl CharForm {
    /// Returns whether the form of a character depends on the characters around it.
    fn composes(self) -> bool {
        self.nfkc || !self.folds.is_none()
    }

    /// Returns whether letters with two code points are unified.
    fn unifies(self) -> bool {
        self.nfkc && self.fold
    }

    pub(super) fn ascii(self, byte: u8) -> u8 {
        self.folds.ascii(if self.fold { byte.to_ascii_lowercase() } else { byte })
    }

    #[inline(always)]
    fn extend(self, normal: &mut Vec<char>, chars: &[char]) {
        if !self.unifies() {
            return self.extend_by_folds(normal, chars);
        }
        let before = normal.len();
        match variants::has_variants(chars) {
            true => {
                let mut unified = Vec::new();
                variants::extend(&mut unified, chars);
                self.extend_by_folds(normal, &unified);
            }
            false => self.extend_by_folds(normal, chars),
        }
        // Composition and folding can make new variants.
        if variants::has_variants(&normal[before..]) {
            let unified = normal.split_off(before);
            variants::extend(normal, &unified);
        }
    }

    #[inline(always)]
    fn extend_by_folds(self, normal: &mut Vec<char>, chars: &[char]) {
        if self.folds.is_none() {
            return self.extend_by_equivalences(normal, chars);
        }
        let (mut decomposed, mut changed) = (Vec::new(), Vec::new());
        extend_by_decomposition(&mut decomposed, chars, self.nfkc);
        self.folds.extend(&mut changed, &decomposed);
        self.extend_by_equivalences(normal, &changed);
    }

    #[inline(always)]
    fn extend_by_equivalences(self, normal: &mut Vec<char>, chars: &[char]) {
        match (self.nfkc, self.fold) {
            (true, true) => extend_by_nfkc_and_folding(normal, chars),
            (true, false) => extend_by_nfkc(normal, chars),
            (false, true) => normal.extend(folded(chars.iter().copied())),
            (false, false) => normal.extend(chars),
        }
    }
}

/// The role of a character in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// White space, punctuation and symbols: what separates words.
    Other,
    /// Part of a word: a letter, a number or connector punctuation.
    Word,
    /// A letter of a script written without spaces.
    Unit,
    /// Part of a word, like [`Class::Word`], in a script with signs instead of spaces, where lines
    /// may end within a word (Tibetan).
    Syllable,
    /// Belongs to the preceding character.
    Mark,
    /// Dropped from the text.
    Ignorable,
}

/// Receives the characters of a normalized text, in order.
pub(super) trait CharSink {
    /// Takes `c`, which was made from the bytes `span` of the original text.
    fn accept(&mut self, c: char, class: Class, span: Span);
}

/// Returns the normal form of a single word, which may continue after a line end (see
/// [`super::lines`]).
pub(super) fn normal_form(word: &str, form: CharForm) -> String {
    if word.is_ascii() {
        return word.bytes().map(|byte| char::from(form.ascii(byte))).collect();
    }
    struct FoldedLetters(String);
    impl CharSink for FoldedLetters {
        fn accept(&mut self, c: char, class: Class, _: Span) {
            if class != Class::Ignorable && !matches!(c, '\n' | '\r') {
                self.0.push(c);
            }
        }
    }
    let mut letters = FoldedLetters(String::new());
    let normalized = Normalizer::new(form, Stop::NEVER).normalize(word, 0, &mut letters);
    normalized.expect("normalizing fails only when it is stopped");
    letters.0
}

/// The maximum length of a segment. Longer segments are cut. Real segments have at most a handful
/// of characters, but a text of a gigabyte of accents would otherwise be in memory several times
/// over. (The same reason, and nearly the same limit, as the Stream-Safe Text Format of UAX #15.)
const SEGMENT_CHARS_MAX: usize = 32;

/// Converts texts to their normal form.
pub(super) struct Normalizer<'a> {
    table: CharTable,
    /// The segment being read, unless it is a single settled character so far.
    chars: [char; SEGMENT_CHARS_MAX],
    entries: [CharEntry; SEGMENT_CHARS_MAX],
    length: usize,
    span: Span,
    /// Whether the segment can be normalized by replacing each character separately.
    plain: bool,
    expanded: Vec<char>,
    stop: &'a Stop,
    /// The number of segments that needed the general algorithm, which takes a microsecond a
    /// character.
    expansions: usize,
}

impl<'a> Normalizer<'a> {
    /// Creates a normalizer, which ends early when `stop` is set.
    pub(super) fn new(form: CharForm, stop: &'a Stop) -> Normalizer<'a> {
        Normalizer {
            table: CharTable::new(form),
            chars: ['\0'; SEGMENT_CHARS_MAX],
            entries: [CharEntry::ABSENT; SEGMENT_CHARS_MAX],
            length: 0,
            span: Span { start: 0, end: 0 },
            plain: true,
            expanded: Vec::new(),
            stop,
            expansions: 0,
        }
    }

    /// Passes the normal form of `text`, which begins at byte `offset` of its document, to `sink`.
    #[inline(always)]
    pub(super) fn normalize(
        &mut self,
        text: &str,
        offset: usize,
        sink: &mut impl CharSink,
    ) -> Result<()> {
        // Most segments are a single settled character. The character is kept here, and moved to
        // `self.chars`, which is slower, only when a second character joins it.
        let mut alone: Option<(CharEntry, Span)> = None;
        for (i, c) in text.char_indices() {
            let start = (offset + i) as u32;
            let span = Span { start, end: start + c.len_utf8() as u32 };
            let entry = self.table.entry(c);
            if entry.stands_alone() {
                match alone.take() {
                    Some((entry, span)) => sink.accept(entry.mapped, entry.class, span),
                    None => self.finish(sink)?,
                }
                alone = Some((entry, span));
                continue;
            }
            if entry.class == Class::Ignorable {
                continue;
            }
            if let Some((entry, span)) = alone.take() {
                let before = &text[span.start as usize - offset..];
                let c = before.chars().next().expect("a span of the text begins a character");
                self.join(c, entry, span);
            }
            if entry.is(CharEntry::BOUNDARY) || self.length == SEGMENT_CHARS_MAX {
                self.finish(sink)?;
            }
            self.join(c, entry, span);
        }
        match alone {
            Some((entry, span)) => sink.accept(entry.mapped, entry.class, span),
            None => self.finish(sink)?,
        }
        Ok(())
    }

    /// Returns the mapping and the class of a character, or `None` if the characters around it may
    /// change either.
    #[inline(always)]
    pub(super) fn settled(&self, c: char) -> Option<(char, Class)> {
        let entry = self.table.entry(c);
        entry.stands_alone().then_some((entry.mapped, entry.class))
    }

    fn join(&mut self, c: char, entry: CharEntry, span: Span) {
        // Marks that never compose and are in canonical order remain unchanged (the quick check of
        // UAX #15). Thai, Arabic and Devanagari therefore seldom need the general algorithm.
        let before = match self.length {
            0 => {
                self.plain = true;
                self.span.start = span.start;
                0
            }
            length => self.entries[length - 1].combining,
        };
        let ordered = entry.combining == 0 || entry.combining >= before;
        self.plain &= entry.is(CharEntry::SETTLED) && ordered;
        self.span.end = span.end;
        self.chars[self.length] = c;
        self.entries[self.length] = entry;
        self.length += 1;
    }

    fn finish(&mut self, sink: &mut impl CharSink) -> Result<()> {
        if self.plain {
            for entry in &self.entries[..self.length] {
                sink.accept(entry.mapped, entry.class, self.span);
            }
        } else if self.length > 0 {
            self.expand(sink)?;
        }
        self.length = 0;
        Ok(())
    }

    #[cold]
    fn expand(&mut self, sink: &mut impl CharSink) -> Result<()> {
        if self.expansions.is_multiple_of(EXPANSIONS_BETWEEN_LOOKS) {
            self.stop.check()?;
        }
        self.expansions += 1;
        let chars = &self.chars[..self.length];
        self.expanded.clear();
        self.table.form.extend(&mut self.expanded, chars);
        for &c in &self.expanded {
            sink.accept(c, self.table.entry(c).own_class, self.span);
        }
        Ok(())
    }
}

/// The number of expansions between two checks of the stop flag, of at most [`SEGMENT_CHARS_MAX`]
/// characters each.
const EXPANSIONS_BETWEEN_LOOKS: usize = 512;

/// The properties of a character in a [`CharForm`].
#[derive(Debug, Clone, Copy)]
struct CharEntry {
    mapped: char,
    combining: u8,
    /// The class of `mapped`, or [`Class::Ignorable`].
    class: Class,
    own_class: Class,
    /// [`CharEntry::BOUNDARY`] and [`CharEntry::SETTLED`], in a byte, so that an entry takes eight
    /// bytes.
    flags: u8,
}

impl CharEntry {
    /// A segment starts before the character, whatever precedes it.
    const BOUNDARY: u8 = 1;
    /// The character becomes `mapped` among any other settled characters in canonical order.
    const SETTLED: u8 = 2;

    const ABSENT: CharEntry = CharEntry {
        mapped: '\0',
        combining: 0,
        class: Class::Other,
        own_class: Class::Other,
        flags: 0,
    };

    #[inline(always)]
    fn is(self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Returns whether the character becomes `mapped`, whatever is around it.
    #[inline(always)]
    fn stands_alone(self) -> bool {
        self.flags == CharEntry::BOUNDARY | CharEntry::SETTLED
    }

    fn new(c: char, form: CharForm) -> CharEntry {
        if is_plain_unit(c) {
            return CharEntry {
                mapped: c,
                combining: 0,
                class: Class::Unit,
                own_class: Class::Unit,
                flags: CharEntry::BOUNDARY | CharEntry::SETTLED,
            };
        }
        let own_class = match form.unifies() && variants::is_left_out(c) {
            true => Class::Ignorable,
            false => classify(c),
        };
        let mut entry =
            CharEntry { mapped: c, combining: 0, class: own_class, own_class, flags: 0 };
        if own_class == Class::Ignorable {
            return entry;
        }
        if !is_assigned(c) {
            // An unassigned character maps to itself. A library with newer tables would change the
            // character.
            entry.flags = CharEntry::BOUNDARY | CharEntry::SETTLED;
            return entry;
        }
        if !form.composes() || starts_segment(c) {
            entry.flags |= CharEntry::BOUNDARY;
        }
        if let Some(mapped) = settle(c, form) {
            entry.mapped = mapped;
            if mapped != c {
                entry.class = classify(mapped);
            }
            entry.flags |= CharEntry::SETTLED;
        }
        if form.composes() {
            entry.combining = combining_class(entry.mapped);
        }
        entry
    }
}

/// Returns whether `c` is in the two large blocks of letters unchanged by every form. Saves
/// computing the form of each letter: 12 ms for a Chinese and a Korean text.
fn is_plain_unit(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

/// Returns the only character that the assigned `c` can become in any surroundings, if there is
/// such a character.
fn settle(c: char, form: CharForm) -> Option<char> {
    if !form.folds.is_none() {
        return settle_folded(c, form);
    }
    let c = if form.unifies() { variants::single(c)? } else { c };
    let normal = if form.nfkc { only(nfkc(c))? } else { c };
    let folded = if form.fold { only(folded([normal].into_iter()))? } else { normal };
    if !form.nfkc {
        return Some(folded);
    }
    let settled = only(nfkc(folded))?;
    // A mark that folds to something else moves to a different place in its segment (U+0345).
    let keeps_its_place = combining_class(normal) == 0 || settled == normal;
    let is_alone = keeps_its_place && !is_second(normal) && !is_second(settled);
    let settled = if form.unifies() { variants::single(settled)? } else { settled };
    is_alone.then_some(settled)
}

/// Does the work of [`settle`] for a form with folds.
fn settle_folded(c: char, form: CharForm) -> Option<char> {
    let mut chars = Vec::new();
    form.extend(&mut chars, &[c]);
    let settled = only(chars.into_iter())?;
    let keeps_its_place = combining_class(c) == 0 || settled == c;
    let is_alone = !is_second(c) && !is_second(settled) && !form.folds.is_of_letter_before(c);
    (keeps_its_place && is_alone).then_some(settled)
}

fn only(mut chars: impl Iterator<Item = char>) -> Option<char> {
    let first = chars.next()?;
    chars.next().is_none().then_some(first)
}

fn classify(c: char) -> Class {
    if is_ignorable(c) {
        return Class::Ignorable;
    }
    match category(c) {
        _ if is_apostrophe(c) => Class::Other,
        WordCategory::M => Class::Mark,
        // Among numbers, U+3007, the zero of Han numerals, is written among ideographs. Decimal
        // digits are not.
        WordCategory::L | WordCategory::Nl if is_unspaced(c) => Class::Unit,
        WordCategory::L | WordCategory::Nl if is_tibetan(c) => Class::Syllable,
        WordCategory::L | WordCategory::Nl | WordCategory::N | WordCategory::Pc => Class::Word,
        WordCategory::Cn | WordCategory::Other => Class::Other,
    }
}

/// Returns whether `c` is a letter that looks and reads like an apostrophe or a quotation mark: the
/// letters of Latin and of no script whose skeleton is `'` or `''` (Unicode UTS #39), and U+02BF,
/// which is the mirror image of U+02BE as U+2018 is of U+2019.
///
/// The orthographies of Ukrainian, Uzbek and Hawaiian and transcriptions of Arabic prescribe these
/// letters, but most keyboards have only the punctuation, which divides words. The letters
/// therefore divide words too.
pub(super) fn is_apostrophe(c: char) -> bool {
    matches!(
        c,
        '\u{2b9}'
            ..='\u{2bf}'
                | '\u{2c8}'
                | '\u{2ca}'
                | '\u{2cb}'
                | '\u{2ee}'
                | '\u{374}'
                | '\u{a78b}'
                | '\u{a78c}'
    )
}

/// Returns whether `c` does not separate words, because it is a mark or invisible.
pub(super) fn is_within_words(c: char) -> bool {
    matches!(classify(c), Class::Mark | Class::Ignorable)
}

/// Returns whether `c` is invisible to readers: a character with the property
/// Default_Ignorable_Code_Point, which Unicode keeps stable, or a sign that only lengthens the line
/// between two joined letters (Joining_Type Join_Causing): the tatweel of Arabic, the lajanyalan of
/// N'Ko, the nirugu of Mongolian. The tatweels with a hamza or dots, U+0883 to U+0885, are letters.
pub(super) fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
        | '\u{640}' | '\u{7fa}' | '\u{180a}')
}

/// The entries of 256 consecutive characters.
type Page = [CharEntry; 256];

/// The pages of a form. A page is made when a text first needs it, in a tenth of a millisecond. All
/// pages would take a quarter of a second, and most texts need two or three.
type Pages = [OnceLock<Box<Page>>; 0x1100];

/// The entries of all characters in a form.
#[derive(Clone, Copy)]
struct CharTable {
    form: CharForm,
    pages: &'static Pages,
}

impl CharTable {
    fn new(form: CharForm) -> CharTable {
        static PAGES: [Pages; 4] = [const { [const { OnceLock::new() }; 0x1100] }; 4];
        let equivalences = usize::from(form.nfkc) * 2 + usize::from(form.fold);
        let pages = match form.folds.is_none() {
            true => &PAGES[equivalences],
            false => CharTable::pages_of_folds(form.folds.number() * 4 + equivalences),
        };
        CharTable { form, pages }
    }

    /// Returns the pages of a form with folds. The empty list takes 70 KB, so it is made on demand:
    /// few programs use more than one of the 256 forms.
    #[cold]
    fn pages_of_folds(number: usize) -> &'static Pages {
        static PAGES: [OnceLock<Box<Pages>>; 256] = [const { OnceLock::new() }; 256];
        PAGES[number].get_or_init(|| {
            let pages: Box<[_]> = (0..0x1100).map(|_| OnceLock::new()).collect();
            pages.try_into().expect("there are as many pages")
        })
    }

    #[inline(always)]
    fn entry(&self, c: char) -> CharEntry {
        let code = c as usize;
        let page = self.pages[code >> 8].get_or_init(|| make_page(code >> 8, self.form));
        page[code & 0xff]
    }
}

#[cold]
fn make_page(number: usize, form: CharForm) -> Box<Page> {
    let mut page = Box::new([CharEntry::ABSENT; 256]);
    for (low, entry) in page.iter_mut().enumerate() {
        if let Some(c) = char::from_u32((number << 8 | low) as u32) {
            *entry = CharEntry::new(c, form);
        }
    }
    page
}
