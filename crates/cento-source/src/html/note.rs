//! Marks of notes and numbers of verses between the words of a sentence.
//!
//! A raised number or sign at the end of a word, or a raised link, marks a note. Marks are removed,
//! because a different edition of the text numbers its notes differently. Powers, ordinals and
//! formulas (10^3, 2nd, x^2, m^2) are text. Raised numbers before words are verse numbers if the
//! numbers count up, and isotopes otherwise. An element whose class says that it is the number of a
//! line or verse is believed, if it has nothing but a number.

use std::ops::Range;

use html5gum::{SpanBound, StartTag};

use super::outermost::Outermost;
use super::style::PageStyle;
use super::{PagePiece, TagPlace, is_within_line};
use crate::css;
use crate::note_mark::{
    RaisedText, are_verses, bare_mark, counted_marks, is_citation, is_note_target, is_word_apart,
};

/// Follows the tags of a page.
#[derive(Default)]
pub struct Marks {
    is_in_link: bool,
    /// The link is declared as a note mark, which style sheets raise.
    is_in_mark: bool,
    /// The target of the link is a note.
    is_to_note: bool,
    raised: usize,
    /// The element that a style raises.
    styled: Option<Outermost<()>>,
    /// The element that is declared to be the number of a line.
    numbering: Option<Outermost<()>>,
    /// The note within a line, with its first piece.
    note: Option<Outermost<usize>>,
    /// The pieces of the notes within lines.
    notes: Vec<Range<usize>>,
}

/// Classes of notes within a line, without `-` and `_`.
const NOTES: [&[u8]; 5] = [b"footnote", b"sidenote", b"marginnote", b"endnote", b"ltxnote"];

/// Classes of the numbers of lines and verses, without `-` and `_`: `line-number`, `versenum`.
const NUMBERINGS: [&[u8]; 13] = [
    b"ln",
    b"verse",
    b"vn",
    b"linenr",
    b"linenumber",
    b"linenum",
    b"lineno",
    b"linenos",
    b"lnum",
    b"versenumber",
    b"versenum",
    b"verseno",
    b"vnum",
];

/// The longest number of a line, in characters, with signs around it.
const NUMBER_CHARS_MAX: usize = 8;

/// Returns whether an attribute has such a word.
fn has_word<S: SpanBound>(tag: &StartTag<S>, attribute: &[u8], is: impl Fn(&[u8]) -> bool) -> bool {
    let value = tag.attributes.get(attribute);
    value.is_some_and(|value| value.split(u8::is_ascii_whitespace).any(is))
}

/// The attributes of the number of a printed page in an e-book, and their values.
const PAGE_BREAKS: [(&[u8], &[u8]); 2] =
    [(b"epub:type", b"pagebreak"), (b"role", b"doc-pagebreak")];

fn is_numbering<S: SpanBound>(tag: &StartTag<S>) -> bool {
    let is_page =
        PAGE_BREAKS.iter().any(|(name, value)| has_word(tag, name, |word| word == *value));
    is_page || has_class(tag, &NUMBERINGS)
}

/// Returns whether an element has one of these classes, without `-` and `_`.
fn has_class<S: SpanBound>(tag: &StartTag<S>, classes: &[&[u8]]) -> bool {
    has_word(tag, b"class", |class| {
        let letters = || class.iter().filter(|byte| !b"-_".contains(byte));
        classes.iter().any(|of| letters().map(u8::to_ascii_lowercase).eq(of.iter().copied()))
    })
}

/// The attributes of a link to a note, in e-books and in pages, and their values.
const LINKS_TO_NOTES: [(&[u8], &[u8]); 3] =
    [(b"epub:type", b"noteref"), (b"role", b"doc-noteref"), (b"class", b"noteref")];

/// Returns whether the target of a link is a note on this page.
fn is_to_note<S: SpanBound>(tag: &StartTag<S>) -> bool {
    tag.attributes.get(&b"href"[..]).is_some_and(|target| is_note_target(target))
}

/// Returns whether its style raises an element.
fn is_raised_by_style<S: SpanBound>(tag: &StartTag<S>) -> bool {
    let style = tag.attributes.get(&b"style"[..]);
    style.is_some_and(|style| css::is_raised(&String::from_utf8_lossy(style)))
}

impl Marks {
    /// Takes a start tag, whose piece has this number, and returns whether the number of a note
    /// begins: a raised link.
    pub fn start<S: SpanBound>(
        &mut self,
        tag: &StartTag<S>,
        style: &PageStyle,
        piece: usize,
    ) -> bool {
        let name = tag.name.as_slice();
        let is_within = is_within_line(name);
        Outermost::start(&mut self.numbering, name, is_within && is_numbering(tag), ());
        // Raised elements and links of these classes are marks.
        let is_note = is_within && !MARKING.contains(&name) && has_class(tag, &NOTES);
        Outermost::start(&mut self.note, name, is_note, piece);
        let is_raised = is_within && (is_raised_by_style(tag) || style.raises(tag));
        Outermost::start(&mut self.styled, name, is_raised, ());
        match name {
            b"a" => {
                (self.is_in_link, self.is_to_note) = (true, is_to_note(tag));
                self.is_in_mark = LINKS_TO_NOTES
                    .iter()
                    .any(|(attribute, value)| has_word(tag, attribute, |word| word == *value));
                self.is_raised()
            }
            b"sup" => {
                self.raised += 1;
                self.is_in_link
            }
            _ => is_raised && self.is_in_link,
        }
    }

    /// Returns whether the place is in a raised element.
    pub fn is_raised(&self) -> bool {
        self.raised > 0 || self.is_in_mark || self.styled.is_some()
    }

    /// Returns whether the place is in a link to a note.
    pub fn is_linked(&self) -> bool {
        self.is_to_note
    }

    /// Returns the pieces of the notes within lines.
    pub fn notes(&self) -> &[Range<usize>] {
        &self.notes
    }

    /// Returns whether a text at this place is the number of a line or verse.
    pub fn is_numbering(&self, text: &str) -> bool {
        let number = text.trim();
        let is_sign = |c: char| ".:|()[]".contains(c);
        self.numbering.is_some()
            && number.len() <= NUMBER_CHARS_MAX
            && number.contains(|c: char| c.is_ascii_digit())
            && number.chars().all(|c| c.is_ascii_digit() || is_sign(c))
    }

    /// Takes an end tag, after the piece of this number.
    pub fn end(&mut self, name: &[u8], piece: usize) {
        Outermost::end(&mut self.numbering, name);
        let note = self.note.as_ref().map(|note| note.from);
        Outermost::end(&mut self.note, name);
        if let Some(from) = note.filter(|_| self.note.is_none()) {
            self.notes.push(from..piece);
        }
        Outermost::end(&mut self.styled, name);
        match name {
            b"a" => (self.is_in_link, self.is_in_mark, self.is_to_note) = (false, false, false),
            b"sup" => self.raised = self.raised.saturating_sub(1),
            _ => {}
        }
    }
}

/// Elements that mark notes.
const MARKING: [&[u8]; 2] = [b"a", b"sup"];

/// Moves the notes within lines behind their paragraphs. A note without words is a mark, and stays.
pub fn move_notes(pieces: Vec<PagePiece>, notes: &[Range<usize>]) -> Vec<PagePiece> {
    let has_words = |piece: &PagePiece| match piece {
        PagePiece::Text { text, .. } => text.contains(char::is_alphabetic),
        PagePiece::Tag { .. } | PagePiece::Hidden(_) => false,
    };
    let mut notes = notes.iter().filter(|note| pieces[(*note).clone()].iter().any(has_words));
    let mut note = notes.next().cloned();
    if note.is_none() {
        return pieces;
    }
    let mut notes: Vec<Range<usize>> = notes.cloned().collect();
    notes.reverse();
    let line_end = || PagePiece::Tag { place: TagPlace::LineEnd, cost: 0 };
    let (mut moved, mut waiting) = (Vec::with_capacity(pieces.len()), Vec::new());
    for (at, piece) in pieces.into_iter().enumerate() {
        note = note.filter(|note| at < note.end).or_else(|| notes.pop_if(|next| next.start <= at));
        let ends =
            matches!(piece, PagePiece::Tag { place: TagPlace::BlockEnd | TagPlace::CellEnd, .. });
        match &note {
            Some(note) if note.contains(&at) => {
                if note.start == at {
                    waiting.push(line_end());
                }
                waiting.push(piece);
            }
            _ => {
                if ends && !waiting.is_empty() {
                    moved.append(&mut waiting);
                    moved.push(line_end());
                }
                moved.push(piece);
            }
        }
    }
    moved.append(&mut waiting);
    moved
}

/// Removes the marks of notes and the numbers of verses.
pub fn drop_marks(pieces: &mut [PagePiece]) {
    if !pieces.iter().any(is_raised) {
        return;
    }
    let (mut verses, mut counted) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(start) = pieces[at..].iter().position(is_raised).map(|found| at + found) {
        let raised = raised_from(pieces, start);
        at = raised.end;
        let mark = NoteMark::of(pieces, raised.clone());
        if let Some(number) = mark.verse() {
            verses.push((number, raised));
        } else if mark.is_of_note() {
            counted.extend(
                bare_mark(&mark.text).parse().ok().map(|number| ((number, true), raised.clone())),
            );
            let is_apart = is_word_apart(mark.after());
            let is_in_brackets = mark.is_in_brackets();
            if is_in_brackets {
                drop_brackets(pieces, raised.clone());
            }
            remove(pieces, raised, if is_apart { TagPlace::WordEnd } else { TagPlace::Line });
        } else if let Some(number) = mark.raised().uncertain().filter(|_| mark.is_raised) {
            counted.push(((number, false), raised));
        }
    }
    let numbers: Vec<(u32, bool)> = counted.iter().map(|(number, _)| *number).collect();
    for at in counted_marks(&numbers) {
        remove(pieces, counted[at].1.clone(), TagPlace::Line);
    }
    let numbers: Vec<u32> = verses.iter().map(|(number, _)| *number).collect();
    if are_verses(&numbers) {
        verses.into_iter().for_each(|(_, raised)| remove(pieces, raised, TagPlace::Line));
    }
}

fn is_raised(piece: &PagePiece) -> bool {
    matches!(piece, PagePiece::Text { place, .. } if place.is_raised || place.is_note)
}

/// Returns whether a piece is within a line of text and has no words.
fn is_inline(piece: &PagePiece) -> bool {
    match piece {
        PagePiece::Tag { place, .. } => place.is_in_line() || *place == TagPlace::WordEnd,
        PagePiece::Hidden(_) => true,
        PagePiece::Text { .. } => false,
    }
}

/// Returns the range of pieces from a raised text to the end of its mark. The links of a list have
/// signs between them.
fn raised_from(pieces: &[PagePiece], start: usize) -> Range<usize> {
    let is_sign = |c: char| c.is_whitespace() || ",;\u{2013}-".contains(c);
    let is_between = |piece: &PagePiece| match piece {
        PagePiece::Text { text, .. } => text.chars().all(is_sign),
        PagePiece::Tag { .. } | PagePiece::Hidden(_) => false,
    };
    let is_link = |at: usize| matches!(&pieces[at], PagePiece::Text { place, .. } if place.is_note);
    let mut end = start + 1;
    for (at, piece) in pieces.iter().enumerate().skip(start + 1) {
        if is_raised(piece) {
            end = at + 1;
        } else if !(is_inline(piece) || (is_link(end - 1) && is_between(piece))) {
            break;
        }
    }
    start..end
}

/// Removes the brackets around a mark, and the spaces before them.
fn drop_brackets(pieces: &mut [PagePiece], range: Range<usize>) {
    let before = pieces[..range.start].iter_mut().rev().find(|piece| !is_inline(piece));
    if let Some(PagePiece::Text { text, span, .. }) = before {
        let kept = text.strip_suffix('[').unwrap_or(text).trim_ascii_end().len();
        span.end = span.end.saturating_sub(text.len() - kept).max(span.start);
        text.truncate(kept);
    }
    let after = pieces[range.end..].iter_mut().find(|piece| !is_inline(piece));
    if let Some(PagePiece::Text { text, span, .. }) = after {
        let rest = text.strip_prefix(']').unwrap_or(text).to_owned();
        span.start = (span.start + text.len() - rest.len()).min(span.end);
        *text = rest;
    }
}

/// Removes a mark and the spaces around the mark. The word before the mark ends with `end`.
fn remove(pieces: &mut [PagePiece], range: Range<usize>, end: TagPlace) {
    let before = pieces[..range.start].iter().rev().take_while(|piece| is_inline(piece)).count();
    for piece in &mut pieces[range.start - before..range.end] {
        match piece {
            PagePiece::Text { .. } => *piece = PagePiece::Tag { place: end, cost: 0 },
            PagePiece::Tag { place, .. } if *place == TagPlace::WordEnd => *place = end,
            _ => {}
        }
    }
}

/// A raised text, or a link to a note, with the surrounding text.
struct NoteMark<'a> {
    text: String,
    is_link: bool,
    is_raised: bool,
    /// In a link to a note.
    is_note: bool,
    /// The texts before and after it in the line.
    before: &'a str,
    after: &'a str,
}

impl NoteMark<'_> {
    fn of(pieces: &[PagePiece], range: Range<usize>) -> NoteMark<'_> {
        let (mut text, mut is_link) = (String::new(), false);
        let (mut is_raised, mut is_note) = (false, false);
        for piece in &pieces[range.clone()] {
            if let PagePiece::Text { text: raised, place, .. } = piece {
                text.push_str(raised);
                is_link |= place.is_link;
                is_raised |= place.is_raised;
                is_note |= place.is_note;
            }
        }
        NoteMark {
            text: text.trim().to_owned(),
            is_link,
            is_raised,
            is_note,
            before: text_of(pieces[..range.start].iter().rev()),
            after: text_of(pieces[range.end..].iter()),
        }
    }

    fn raised(&self) -> RaisedText<'_> {
        let is_apart = self.before.ends_with(char::is_whitespace);
        RaisedText {
            text: &self.text,
            is_link: self.is_link,
            before: if is_apart { "" } else { self.before },
            after: self.after(),
        }
    }

    /// Returns the character after the mark, or `None` before a space.
    fn after(&self) -> Option<char> {
        self.after.chars().next().filter(|c| !c.is_whitespace())
    }

    /// Returns whether brackets that are no part of the link are around it: `[<a>1</a>]`.
    fn is_in_brackets(&self) -> bool {
        self.is_note && self.before.ends_with('[') && self.after.starts_with(']')
    }

    /// Returns the number of a verse.
    fn verse(&self) -> Option<u32> {
        self.raised().verse().filter(|_| !self.is_note)
    }

    /// Returns whether the text marks a note.
    fn is_of_note(&self) -> bool {
        let raised = self.raised();
        // "see note 2" is a sentence, unless the number touches a word.
        let is_bracketed = (self.text.starts_with('[') && self.text.ends_with(']'))
            || (self.is_in_brackets() && is_citation(&self.text));
        let touches_word =
            !raised.before.is_empty() || raised.after.is_some_and(char::is_alphanumeric);
        raised.is_of_note() && (self.is_raised || is_bracketed || touches_word)
    }
}

/// Returns the nearest text in the line, or an empty text if the line ends first.
fn text_of<'a>(mut pieces: impl Iterator<Item = &'a PagePiece>) -> &'a str {
    match pieces.find(|piece| !is_inline(piece)) {
        Some(PagePiece::Text { text, .. }) => text,
        _ => "",
    }
}
