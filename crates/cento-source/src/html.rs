//! The text of web pages.
//!
//! The core of a page is the part with many words and few tags. The document slope curve of Finn,
//! Kushmerick and Smyth (2001) finds the core, as in Seo and Croft (2008, section 3), who take
//! pages out of their frames. The paper searches, in windows, for the longest part where the curve
//! of tags over tokens is flat. cento instead adds 1 for a word and subtracts 2 for a tag, and
//! takes the part of the page with the maximum sum (docs/DESIGN.md). Tags within long paragraphs
//! and in `pre` cost nothing. Such tags link the words of an edition to a dictionary, or color the
//! source code of a program, and would tear the text apart. The [`content`] is the core with the
//! text around it that is in no menu.
//!
//! The tokenizer reports the bytes of the page that a text comes from. [`parts`] then maps each
//! character, literal or decoded from a reference, to its bytes.

mod aligned;
mod body;
mod content;
mod encoding;
mod format;
mod frame;
mod hidden;
mod note;
mod outermost;
mod place;
mod quotation;
mod style;

use std::ops::Range;

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{Span, StartTag, Token, Tokenizer};

pub(crate) use aligned::decoded;
use aligned::{AlignedPart, parts};
pub(crate) use body::body_of;
use body::{EmptyElements, without_empty};
pub(crate) use encoding::{decoded_page, decoded_xml};
pub use format::FORMAT;
use frame::{FRAMES_MAX, framed, letters};
use hidden::{Sight, Visibility, article_in_data, hidden_in};
use note::{Marks, drop_marks, move_notes};
use place::{PlaceInPage, Places};
use quotation::{Bibliographies, BlockQuotes};
use style::PageStyle;

use crate::charset::EncodingLabel;
use crate::origin::Origins;
use crate::quoted::{self, OpenQuotations};

/// The part of a web page that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Html {
    /// The content, without menus and other frames.
    #[default]
    Content,
    /// All visible text, menus included.
    All,
    /// The whole file, unchanged, for analyzers that read markup.
    Source,
}

/// The cost of a tag in the sum. Of 1, 2, 3, 4 and 6, this cost was best on annotated pages.
const TAG_COST: i64 = 2;

/// Elements whose contents are not shown, or repeat what is beside them: readings of characters
/// (ruby), and the source of a formula.
const HIDDEN: [&[u8]; 9] = [
    b"script",
    b"style",
    b"template",
    b"noscript",
    b"rt",
    b"rp",
    b"rtc",
    b"annotation",
    b"annotation-xml",
];

/// Elements of HTML that end a line of text, or stand apart from the words beside them. The
/// remaining elements are within a line: parts of a sentence, and by the rules of HTML also unknown
/// elements.
const APART: [&[u8]; 83] = [
    b"address",
    b"applet",
    b"area",
    b"article",
    b"aside",
    b"audio",
    b"base",
    b"basefont",
    b"blockquote",
    b"body",
    b"br",
    b"button",
    b"canvas",
    b"caption",
    b"center",
    b"col",
    b"colgroup",
    b"datalist",
    b"dd",
    b"details",
    b"dialog",
    b"dir",
    b"div",
    b"dl",
    b"dt",
    b"embed",
    b"fieldset",
    b"figcaption",
    b"figure",
    b"footer",
    b"form",
    b"frame",
    b"frameset",
    b"h1",
    b"h2",
    b"h3",
    b"h4",
    b"h5",
    b"h6",
    b"head",
    b"header",
    b"hgroup",
    b"hr",
    b"html",
    b"iframe",
    b"img",
    b"input",
    b"legend",
    b"li",
    b"link",
    b"main",
    b"map",
    b"menu",
    b"meta",
    b"meter",
    b"nav",
    b"noframes",
    b"object",
    b"ol",
    b"optgroup",
    b"option",
    b"p",
    b"param",
    b"picture",
    b"pre",
    b"progress",
    b"search",
    b"section",
    b"select",
    b"source",
    b"summary",
    b"table",
    b"tbody",
    b"td",
    b"textarea",
    b"tfoot",
    b"th",
    b"thead",
    b"title",
    b"tr",
    b"track",
    b"ul",
    b"video",
];

/// Returns whether an element is within a line of text. A custom element (`x-card`) is not, because
/// style sheets make blocks of most of them. Neither is a part of a drawing, except `tspan`.
fn is_within_line(name: &[u8]) -> bool {
    const DRAWN: [&[u8]; 5] = [b"svg", b"text", b"textpath", b"foreignobject", b"g"];
    !APART.contains(&name) && !DRAWN.contains(&name) && !name.contains(&b'-')
}

/// The text of a page, the place of the text in the decoded page (`None` if the text is the page),
/// and the number of characters that a reader does not see.
pub(crate) type PageText = (String, Option<Origins>, usize);

/// Returns the text of a page. Without a `label`, the declaration of the page counts.
///
/// # Errors
/// When the encoding is unknown, with the reason as a clause.
pub(crate) fn text_of(
    bytes: &[u8],
    label: EncodingLabel<'_>,
    html: Html,
) -> Result<PageText, String> {
    Ok(text_of_page(&decoded_page(bytes, label)?, html))
}

/// Returns the text of a page.
#[must_use]
pub(crate) fn text_of_page(page: &str, html: Html) -> PageText {
    if html == Html::Source {
        return (page.to_owned(), None, 0);
    }
    let mut pieces = pieces(page);
    let hidden = hidden_in(&pieces) + article_in_data(page, &pieces);
    if html == Html::Content {
        content::free_paragraphs(&mut pieces);
        content::keep_content(&mut pieces);
    }
    let (text, origins) = joined(page, &pieces);
    (text, origins, hidden)
}

/// A part of a page.
enum PagePiece {
    /// Text that a reader sees.
    Text {
        /// The text, with references decoded.
        text: String,
        /// The bytes of the page that the text comes from.
        span: Range<usize>,
        words: i64,
        place: PlaceInPage,
    },
    /// The number of characters at this point that a reader does not see.
    Hidden(usize),
    /// A start or end tag.
    Tag {
        /// The kind of separation that the tag makes.
        place: TagPlace,
        /// The amount that the tag subtracts from the sum.
        cost: i64,
    },
}

/// The place of a tag.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TagPlace {
    /// Within a line of text.
    Line,
    /// At the end of a word: before the number of a note.
    WordEnd,
    /// At the end of a line of a paragraph.
    LineEnd,
    /// At the end of a paragraph.
    BlockEnd,
    /// At the end of a cell of a table.
    CellEnd,
    /// Around an element that is not displayed.
    Hidden,
    /// Where a quotation in the line begins or ends.
    QuotationStart,
    QuotationEnd,
}

impl TagPlace {
    /// Returns whether the tag separates no words.
    fn is_in_line(self) -> bool {
        matches!(self, TagPlace::Line | TagPlace::QuotationStart | TagPlace::QuotationEnd)
    }
}

impl PagePiece {
    /// Returns the piece for a start or end tag within `preformatted` open `pre` elements.
    fn tag(name: &[u8], is_end: bool, preformatted: usize) -> PagePiece {
        let place = match name {
            b"q" if is_end => TagPlace::QuotationEnd,
            b"q" => TagPlace::QuotationStart,
            b"br" => TagPlace::LineEnd,
            b"td" | b"th" => TagPlace::CellEnd,
            b"svg" => TagPlace::Hidden,
            _ if HIDDEN.contains(&name) => TagPlace::Hidden,
            _ if is_within_line(name) => TagPlace::Line,
            _ => TagPlace::BlockEnd,
        };
        PagePiece::Tag { place, cost: if preformatted > 0 { 0 } else { TAG_COST } }
    }
}

/// Returns the pieces of a page. If a reader would see no text at all, hidden text is included. If
/// a style sheet hides most words, a script displays them, and the sheet is ignored.
fn pieces(page: &str) -> Vec<PagePiece> {
    let page = &*without_empty(page, EmptyElements::InDrawings);
    let (mut pieces, mut words) = pieces_seen(page, PageStyle::of(page), false, FRAMES_MAX);
    if words.hidden_by_rule > words.seen {
        (pieces, words) = pieces_seen(page, PageStyle::default(), false, FRAMES_MAX);
    }
    if words.seen == 0 && words.hidden > 0 {
        pieces = pieces_seen(page, PageStyle::default(), true, FRAMES_MAX).0;
    }
    drop_marks(&mut pieces);
    pieces
}

/// The numbers of words of a page.
#[derive(Default)]
struct PageWords {
    seen: i64,
    hidden: i64,
    /// Hidden by nothing but a style sheet.
    hidden_by_rule: i64,
}

/// Returns the pieces of a page, and how many words a reader sees. If all text is hidden, a script
/// probably reveals the text.
fn pieces_seen(
    page: &str,
    style: PageStyle,
    sees_all: bool,
    frames: usize,
) -> (Vec<PagePiece>, PageWords) {
    let mut pieces = Vec::new();
    let (mut sight, mut marks, mut preformatted) = (Sight::with_style(style), Marks::default(), 0);
    let (mut places, mut block_quotes) = (Places::default(), BlockQuotes::default());
    let mut bibliographies = Bibliographies::default();
    let mut count = PageWords::default();
    let mut emitter = DefaultEmitter::<usize>::new_with_span();
    // Tags within scripts are not tags of the page.
    emitter.naively_switch_states(true);
    for Ok(token) in Tokenizer::new_with_emitter(page, emitter) {
        match token {
            Token::StartTag(tag) => {
                let is_seen = sight.seen() == Visibility::Yes;
                sight.start(&tag);
                places.start(&tag, pieces.len());
                block_quotes.start(&tag);
                bibliographies.start(&tag);
                pieces.push(PagePiece::tag(&tag.name, false, preformatted));
                if let Some((inner, seen)) =
                    framed(&tag, frames).filter(|_| is_seen && sight.is_declared_visible())
                {
                    count.seen += seen;
                    pieces
                        .extend(inner.into_iter().map(|piece| piece.in_frame(&tag, places.now())));
                }
                if begins_drawn_line(&tag) {
                    pieces.push(PagePiece::Tag { place: TagPlace::LineEnd, cost: 0 });
                }
                if marks.start(&tag, sight.style(), pieces.len() - 1) {
                    pieces.push(PagePiece::Tag { place: TagPlace::WordEnd, cost: 0 });
                }
                preformatted += usize::from(tag.name.as_slice() == b"pre");
            }
            Token::EndTag(tag) => {
                preformatted -= usize::from(preformatted > 0 && tag.name.as_slice() == b"pre");
                pieces.push(PagePiece::tag(&tag.name, true, preformatted));
                block_quotes.end(&tag.name);
                sight.end(&tag.name);
                marks.end(&tag.name, pieces.len());
                places.end(&tag.name);
            }
            Token::String(found) => {
                let text = String::from_utf8_lossy(&found.value).into_owned();
                let words = words(&text);
                match sight.seen() {
                    Visibility::Hidden if !sees_all => {
                        count.hidden += words;
                        count.hidden_by_rule += if sight.is_hidden_by_rule() { words } else { 0 };
                        pieces.push(PagePiece::Hidden(letters_of(&text)));
                    }
                    Visibility::NoText => {}
                    Visibility::Fallback => pieces.push(PagePiece::Hidden(letters(&text, frames))),
                    _ if marks.is_numbering(&text) => {
                        pieces.push(PagePiece::Tag { place: TagPlace::WordEnd, cost: 0 });
                    }
                    Visibility::Yes | Visibility::Hidden => {
                        count.seen += words;
                        let Span { start, end } = found.span;
                        let (is_raised, is_note) = (marks.is_raised(), marks.is_linked());
                        let block_quote = block_quotes.now();
                        let place = PlaceInPage { is_raised, is_note, block_quote, ..places.now() };
                        if let Some(span) = bibliographies.text(&text) {
                            let text = quoted::BIBLIOGRAPHY.to_owned();
                            pieces.push(PagePiece::Text { text, span, words: 1, place });
                            pieces.push(PagePiece::Tag { place: TagPlace::BlockEnd, cost: 0 });
                        }
                        pieces.push(PagePiece::Text { text, span: start..end, words, place });
                    }
                }
            }
            _ => {}
        }
    }
    let endless = places.endless().unwrap_or(pieces.len());
    for piece in &mut pieces[endless..] {
        if let PagePiece::Text { place, .. } = piece {
            place.is_beside = false;
        }
    }
    block_quotes.settle(&mut pieces);
    (move_notes(pieces, marks.notes()), count)
}

/// Returns whether a part of a drawn text is placed on its own, as lines of a drawing are.
fn begins_drawn_line(tag: &StartTag<usize>) -> bool {
    let is_placed = |name: &&[u8]| tag.attributes.contains_key(*name);
    tag.name.as_slice() == b"tspan" && [&b"x"[..], b"y", b"dy"].iter().any(is_placed)
}

/// Returns the number of characters except white space.
fn letters_of(text: &str) -> usize {
    text.chars().filter(|c| !c.is_whitespace()).count()
}

/// Returns the number of words, or of pairs of letters in scripts without spaces between words.
fn words(text: &str) -> i64 {
    let is_dense = |c: &char| matches!(c, '\u{e00}'..='\u{eff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}');
    let of_piece = |piece: &str| match piece.is_ascii() {
        true => 1,
        false => 1 + piece.chars().filter(is_dense).count() as i64 / 2,
    };
    text.split(char::is_whitespace).filter(|piece| !piece.is_empty()).map(of_piece).sum()
}

/// Joins the pieces into the lines that a browser shows. Also returns the places of the lines in
/// the page.
fn joined(page: &str, pieces: &[PagePiece]) -> (String, Option<Origins>) {
    let origins = Origins::of_file(page);
    let mut writer = TextWriter::of(origins);
    for piece in pieces {
        match piece {
            PagePiece::Text { text, span, place, .. } => {
                writer.is_quoted = place.block_quote.is_some();
                let source = page.get(span.clone()).unwrap_or_default();
                for part in parts(text, source) {
                    writer.push(&part, span.start);
                }
            }
            PagePiece::Tag { place: TagPlace::LineEnd, .. } => writer.gap = Some(TextGap::Line),
            PagePiece::Tag { place: TagPlace::BlockEnd | TagPlace::CellEnd, .. } => {
                writer.quotations.end_all(&mut writer.text);
                writer.gap = Some(TextGap::Line);
            }
            PagePiece::Tag { place: TagPlace::QuotationStart, .. } => writer.quotations.begin(),
            PagePiece::Tag { place: TagPlace::QuotationEnd, .. } => {
                writer.quotations.end(&mut writer.text);
            }
            PagePiece::Tag { place: TagPlace::WordEnd, .. } => {
                writer.gap = writer.gap.or(Some(TextGap::Space(None)));
            }
            PagePiece::Tag { .. } | PagePiece::Hidden(_) => {}
        }
    }
    writer.quotations.end_all(&mut writer.text);
    (writer.text, writer.origins)
}

/// Writes text and collapses white space. Lines neither begin nor end with a space.
struct TextWriter {
    text: String,
    origins: Option<Origins>,
    /// The separator that precedes the next character.
    gap: Option<TextGap>,
    /// Whether the text is in a block quotation.
    is_quoted: bool,
    quotations: OpenQuotations,
}

/// A separator of words.
#[derive(Clone, Copy)]
enum TextGap {
    /// A space, with the place of a literal space in the page, if any.
    Space(Option<usize>),
    /// The end of a line.
    Line,
}

impl TextWriter {
    fn of(origins: Option<Origins>) -> TextWriter {
        let quotations = OpenQuotations::default();
        TextWriter { text: String::new(), origins, gap: None, is_quoted: false, quotations }
    }

    /// Adds a part of a text whose source begins at `base` of the page.
    fn push(&mut self, part: &AlignedPart<'_>, base: usize) {
        let source = base + part.source.start..base + part.source.end;
        let mut begun = None;
        for (at, c) in part.text.char_indices() {
            if c.is_whitespace() {
                let place = (part.is_same && c == ' ').then_some(source.start + at);
                self.gap = self.gap.or(Some(TextGap::Space(place)));
                continue;
            }
            // Only a line end of the source can follow a soft hyphen within a word.
            if c.is_alphabetic() && self.text.ends_with('\u{ad}') {
                self.gap = self.gap.take_if(|gap| matches!(gap, TextGap::Line));
            }
            self.close_gap();
            self.quotations.open(&mut self.text, c);
            let start = self.text.len();
            begun = begun.or(Some(start));
            self.text.push(c);
            if let (Some(origins), true) = (&mut self.origins, part.is_same) {
                origins.push_same(start, source.start + at, c.len_utf8());
            }
        }
        if let (Some(origins), Some(begun), false) = (&mut self.origins, begun, part.is_same) {
            origins.push_replaced(begun..self.text.len(), source);
        }
    }

    fn close_gap(&mut self) {
        let (gap, at) = (self.gap.take(), self.text.len());
        let begins_line = at == 0 || matches!(gap, Some(TextGap::Line));
        match gap.filter(|_| at > 0) {
            Some(TextGap::Line) => self.text.push('\n'),
            Some(TextGap::Space(place)) => {
                self.text.push(' ');
                if let (Some(origins), Some(place)) = (&mut self.origins, place) {
                    origins.push_same(at, place, 1);
                }
            }
            None => {}
        }
        if begins_line && self.is_quoted {
            self.text.push_str(quoted::LINE);
        }
    }
}

#[cfg(test)]
mod tests;
