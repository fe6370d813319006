//! The text of web pages.
//!
//! The content of a page is the part with many words and few tags: the document slope curve of
//! Finn, Kushmerick and Smyth (2001), as Seo and Croft (2008, section 3) use it to take pages out
//! of their frames. They look for the longest part where the curve of tags over tokens is flat,
//! in windows. Here a word counts +1 and a tag -2, and the content is the part of the page with the
//! greatest sum (docs/DESIGN.md). Tags within long paragraphs and in `pre` count nothing: they
//! are the links of an edition to its dictionary and the colours of a program, and the text would
//! be torn apart. A page is read whole if the content found is a small part of it.
//!
//! The tokenizer gives the bytes of the page that a text is from, and [`parts`] maps its characters
//! to these bytes: literal characters, and those decoded from a reference.

mod aligned;
#[cfg(feature = "office")]
mod body;
mod encoding;
mod format;
mod hidden;
mod note;

use std::ops::Range;

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{Span, Token, Tokenizer};

pub(crate) use aligned::decoded;
use aligned::{Part, parts};
#[cfg(feature = "office")]
pub(crate) use body::body_of;
pub(crate) use encoding::declared;
pub use format::FORMAT;
use hidden::{Sight, Visibility, hidden_in};
use note::Marks;

use crate::charset;
use crate::origin::Origins;

/// The part of web pages that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Html {
    /// Their content, without menus and other frames.
    #[default]
    Content,
    /// All their text.
    All,
    /// The whole file, unchanged, for analyzers that know markup.
    Source,
}

/// The amount that a tag takes from the sum; of 1, 2, 3, 4 and 6 the best on annotated pages.
const TAG_COST: i64 = 2;

/// Tags within a paragraph of this number of words cost nothing. With 15 to 30, pages are read
/// alike, and better than with any cost (docs/DESIGN.md).
const PARAGRAPH_WORDS_MIN: i64 = 20;

/// A page is read whole if its content has less than this fraction of the page's words (one in
/// four): they are in cells, or each in an element of its own.
const CONTENT_SHARE: i64 = 4;

/// Elements whose contents are not shown.
const HIDDEN: [&[u8]; 5] = [b"script", b"style", b"template", b"noscript", b"svg"];

/// Elements within a line of text.
const WITHIN_LINES: [&[u8]; 25] = [
    b"a", b"abbr", b"acronym", b"b", b"bdi", b"big", b"cite", b"code", b"dfn", b"em", b"font",
    b"i", b"kbd", b"mark", b"q", b"s", b"samp", b"small", b"span", b"strong", b"sub", b"sup",
    b"tt", b"u", b"wbr",
];

/// Returns the text of a page, its places in the decoded page (unless the text is the page itself),
/// and the number of characters between that a reader does not see.
#[must_use]
pub fn text_of(
    bytes: &[u8],
    encoding: Option<&str>,
    html: Html,
) -> (String, Option<Origins>, usize) {
    let declared = encoding.map(str::to_owned).or_else(|| declared(bytes));
    let page = charset::decode(bytes, declared.as_deref()).text;
    if html == Html::Source {
        return (page.into_owned(), None, 0);
    }
    let mut pieces = pieces(&page);
    let read = match html {
        Html::Content => {
            free_paragraphs(&mut pieces);
            content(&pieces)
        }
        _ => &pieces,
    };
    let (text, origins) = joined(&page, read);
    (text, origins, hidden_in(read))
}

/// A part of a page.
enum Piece {
    /// Text.
    Text {
        /// The text, with references decoded.
        text: String,
        /// The bytes of the page that it is from.
        span: Range<usize>,
        /// The number of its words.
        words: i64,
    },
    /// The number of characters here that a reader does not see.
    Hidden(usize),
    /// A tag.
    Tag {
        /// The place where it may be.
        place: Place,
        /// The amount that it takes from the sum.
        cost: i64,
    },
}

/// The place of a tag.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Within a line of text.
    Line,
    /// At the end of a word: before the number of a note.
    WordEnd,
    /// At the end of a line of a paragraph.
    LineEnd,
    /// At the end of a paragraph.
    BlockEnd,
    /// Around an element that is not shown.
    Hidden,
}

impl Piece {
    /// Returns the piece for a tag within `preformatted` open `pre` elements.
    fn tag(name: &[u8], preformatted: usize) -> Piece {
        let place = match name {
            b"br" => Place::LineEnd,
            _ if WITHIN_LINES.contains(&name) => Place::Line,
            _ if HIDDEN.contains(&name) => Place::Hidden,
            _ => Place::BlockEnd,
        };
        Piece::Tag { place, cost: if preformatted > 0 { 0 } else { TAG_COST } }
    }
}

/// Returns the parts of a page; they hold all its text if a reader would see none of it.
fn pieces(page: &str) -> Vec<Piece> {
    let (pieces, is_empty) = pieces_seen(page, false);
    if is_empty { pieces_seen(page, true).0 } else { pieces }
}

/// Returns the parts of a page, and whether all its text is hidden; a script then probably shows
/// it.
fn pieces_seen(page: &str, sees_all: bool) -> (Vec<Piece>, bool) {
    let mut pieces = Vec::new();
    let (mut sight, mut marks, mut preformatted) = (Sight::default(), Marks::default(), 0);
    let (mut has_text, mut has_hidden) = (false, false);
    let mut emitter = DefaultEmitter::<usize>::new_with_span();
    // Tags within scripts are not tags of the page.
    emitter.naively_switch_states(true);
    for Ok(token) in Tokenizer::new_with_emitter(page, emitter) {
        match token {
            Token::StartTag(tag) => {
                sight.start(&tag);
                pieces.push(Piece::tag(&tag.name, preformatted));
                if marks.start(&tag.name) {
                    pieces.push(Piece::Tag { place: Place::WordEnd, cost: 0 });
                }
                preformatted += usize::from(tag.name.as_slice() == b"pre");
            }
            Token::EndTag(tag) => {
                preformatted -= usize::from(preformatted > 0 && tag.name.as_slice() == b"pre");
                pieces.push(Piece::tag(&tag.name, preformatted));
                sight.end(&tag.name);
                marks.end(&tag.name);
            }
            Token::String(found) => {
                let text = String::from_utf8_lossy(&found.value).into_owned();
                let words = words(&text);
                match sight.seen() {
                    Visibility::Hidden if !sees_all => {
                        has_hidden |= words > 0;
                        let letters = text.chars().filter(|c| !c.is_whitespace()).count();
                        pieces.push(Piece::Hidden(letters));
                    }
                    Visibility::NoText => {}
                    Visibility::Yes | Visibility::Hidden => {
                        has_text |= words > 0;
                        let Span { start, end } = found.span;
                        pieces.push(Piece::Text { text, span: start..end, words });
                    }
                }
            }
            _ => {}
        }
    }
    (pieces, has_hidden && !has_text)
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

/// Makes tags within long paragraphs cost nothing: the words of an edition may all be links to a
/// dictionary, those of a recognised page have places, and a menu has few words.
fn free_paragraphs(pieces: &mut [Piece]) {
    let is_end = |piece: &Piece| matches!(piece, Piece::Tag { place: Place::BlockEnd, .. });
    for paragraph in pieces.split_mut(is_end) {
        if words_of(paragraph) < PARAGRAPH_WORDS_MIN {
            continue;
        }
        for piece in paragraph {
            if let Piece::Tag { place: Place::Line | Place::LineEnd, cost } = piece {
                *cost = 0;
            }
        }
    }
}

fn words_of(pieces: &[Piece]) -> i64 {
    let words = pieces.iter().map(|piece| match piece {
        Piece::Text { words, .. } => *words,
        Piece::Tag { .. } | Piece::Hidden(_) => 0,
    });
    words.sum()
}

/// Returns the part with the greatest sum; of equals the first, and the longest. Returns the whole
/// page if that part has few of its words.
fn content(pieces: &[Piece]) -> &[Piece] {
    let (mut best, mut best_sum) = (0..0, 0);
    let (mut start, mut sum) = (0, 0);
    for (at, piece) in pieces.iter().enumerate() {
        sum += match piece {
            Piece::Text { words, .. } => *words,
            Piece::Tag { cost, .. } => -cost,
            Piece::Hidden(_) => 0,
        };
        if sum < 0 {
            (start, sum) = (at + 1, 0);
        } else if sum > best_sum {
            (best, best_sum) = (start..at + 1, sum);
        }
    }
    let best = &pieces[best];
    if words_of(best) * CONTENT_SHARE < words_of(pieces) { pieces } else { best }
}

/// Returns the text of some pieces, with its lines as they are shown, and its places in the page.
fn joined(page: &str, pieces: &[Piece]) -> (String, Option<Origins>) {
    let origins = Origins::of_file(page);
    let mut writer = Writer { text: String::new(), origins, gap: None };
    for piece in pieces {
        match piece {
            Piece::Text { text, span, .. } => {
                let source = page.get(span.clone()).unwrap_or_default();
                for part in parts(text, source) {
                    writer.push(&part, span.start);
                }
            }
            Piece::Tag { place: Place::LineEnd | Place::BlockEnd, .. } => {
                writer.gap = Some(Gap::Line)
            }
            Piece::Tag { place: Place::WordEnd, .. } => {
                writer.gap = writer.gap.or(Some(Gap::Space(None)));
            }
            Piece::Tag { .. } | Piece::Hidden(_) => {}
        }
    }
    (writer.text, writer.origins)
}

/// Writes text with one space for each run of white space, none at the start or end of a line.
struct Writer {
    text: String,
    origins: Option<Origins>,
    /// The gap that is written before the next character.
    gap: Option<Gap>,
}

/// A separator of words.
#[derive(Clone, Copy)]
enum Gap {
    /// A space; its place in the page, if it is a space there.
    Space(Option<usize>),
    /// The end of a line.
    Line,
}

impl Writer {
    /// Adds a part of a text whose source begins at `base` of the page.
    fn push(&mut self, part: &Part<'_>, base: usize) {
        let source = base + part.source.start..base + part.source.end;
        let mut begun = None;
        for (at, c) in part.text.char_indices() {
            if c.is_whitespace() {
                let place = (part.is_same && c == ' ').then_some(source.start + at);
                self.gap = self.gap.or(Some(Gap::Space(place)));
                continue;
            }
            self.close_gap();
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
        let Some(gap) = self.gap.take().filter(|_| !self.text.is_empty()) else { return };
        let at = self.text.len();
        match gap {
            Gap::Line => self.text.push('\n'),
            Gap::Space(place) => {
                self.text.push(' ');
                if let (Some(origins), Some(place)) = (&mut self.origins, place) {
                    origins.push_same(at, place, 1);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(page: &[u8], encoding: Option<&str>, html: Html) -> String {
        text_of(page, encoding, html).0
    }

    /// Returns the text with one space for each run of white space, none at the ends.
    fn collapsed(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Pieces of pages, among them pieces that tokenizers stumble over.
    const PIECES: &[&str] = &[
        "<p>",
        "</p>",
        "<b>",
        "</b>",
        "<pre>",
        "</pre>",
        "<title>",
        "</title>",
        "<xmp>",
        "</xmp>",
        "<textarea>",
        "</textarea>",
        "<script>",
        "</script>",
        "<svg>",
        "</svg>",
        "<br/>",
        "</>",
        "<!-- c -->",
        "<!doctype html>",
        "<a href='&amp;x'>",
        "<",
        "</",
        "<3",
        "words of",
        "\u{416}\u{1f600}",
        " ",
        "  ",
        "\n",
        "\r\n",
        "\r",
        "\0",
        "&amp;",
        "&amp",
        "&notit;",
        "&nbsp;",
        "&nGt;",
        "&semi;",
        "&#x35",
        "&#233;",
        "&#0;",
        "&",
        "&x;",
        "]]>",
    ];

    fn check_origins(page: &str) -> Result<(), TestCaseError> {
        for html in [Html::Content, Html::All] {
            let (text, origins, _) = text_of(page.as_bytes(), Some("utf-8"), html);
            let page = &*charset::decode(page.as_bytes(), Some("utf-8")).text;
            let (mut in_text, mut in_page) = (0, 0);
            for (at, from, is_same) in origins.unwrap().runs() {
                prop_assert!(in_text <= at.start && in_page <= from.start, "{at:?} {from:?}");
                // Text outside the runs was made in extracting.
                prop_assert_eq!(text[in_text..at.start].trim(), "", "{:?}", &text);
                (in_text, in_page) = (at.end, from.end);
                let (text, source) = (&text[at], &page[from]);
                match is_same {
                    true => prop_assert_eq!(text, source),
                    false => {
                        let decoded = source.replace('\0', "\u{fffd}");
                        prop_assert_eq!(text, collapsed(&decoded_text(&decoded)));
                    }
                }
            }
            prop_assert_eq!(text[in_text..].trim(), "", "{:?}", &text);
        }
        Ok(())
    }

    /// Returns the text that a tokenizer makes of a text without tags.
    fn decoded_text(text: &str) -> String {
        let parts = text.split_inclusive("</>").map(|part| part.trim_end_matches("</>"));
        parts.map(decoded).collect()
    }

    proptest! {
        #[test]
        fn every_run_of_the_text_has_its_place_in_the_page(
            pieces in proptest::collection::vec(0..PIECES.len(), 0..24)
        ) {
            check_origins(&pieces.iter().map(|&at| PIECES[at]).collect::<String>())?;
        }

        #[test]
        fn runs_are_right_whatever_the_page_is(page in "[a-c<>/&;#x \r\n\u{e9}-]{0,40}") {
            check_origins(&page)?;
        }
    }

    #[test]
    fn raw_text_has_no_references_and_no_tags() {
        // It was taken for text, where references are decoded and CR is dropped.
        check_origins("<xmp></>&amp;\r").unwrap();
        check_origins("<title></>&amp;").unwrap();
        assert_eq!(shown(b"<xmp></>&amp;\r", None, Html::All), "</>&amp;");
    }

    #[test]
    fn references_are_runs_of_their_own() {
        let page = "<p>caf&eacute;\tau   lait &amp\r\n&ampc</p>";
        let (text, origins, _) = text_of(page.as_bytes(), None, Html::All);
        assert_eq!(text, "caf\u{e9} au lait & &c");
        let found: Vec<(&str, &str)> = origins
            .unwrap()
            .runs()
            .into_iter()
            .map(|(at, from, _)| (&text[at], &page[from]))
            .collect();
        let expected = [
            ("caf", "caf"),
            ("\u{e9}", "&eacute;"),
            ("au ", "au "),
            ("lait ", "lait "),
            ("&", "&amp"),
            ("&", "&amp"),
            ("c", "c"),
        ];
        assert_eq!(found, expected);
    }

    const PAGE: &str = "<!DOCTYPE html><html><head><title>A shop</title><style>p {}</style></head>\
        <body><ul><li><a href='/'>Home</a></li><li><a href='/b'>Buy</a></li></ul>\
        <h1>The long and winding headline of it all</h1>\n<p>Six words &amp; a <b>bo</b>ld  one here.\
        <p>Another paragraph that has enough words to count.<script>if (a < b) c();</script></p>\
        <div><a>Next</a></div><div><a>Last</a></div></body></html>";

    #[test]
    fn the_content_is_the_part_with_many_words_and_few_tags() {
        let content = "The long and winding headline of it all\nSix words & a bold one here.\n\
                       Another paragraph that has enough words to count.";
        assert_eq!(shown(PAGE.as_bytes(), None, Html::Content), content);
        let all = format!("A shop\nHome\nBuy\n{content}\nNext\nLast");
        assert_eq!(shown(PAGE.as_bytes(), None, Html::All), all);
        assert_eq!(shown(PAGE.as_bytes(), None, Html::Source), PAGE);
    }

    #[test]
    fn the_colours_of_a_program_do_not_tear_the_content_apart() {
        let program = "<i>let</i> <b>x</b> <u>=</u> <b>1</b>;";
        let page = format!(
            "<ul><li>Menu</ul><p>Some words before it.<pre><code>{program}</code></pre><p>And others after it, which are more.\
             <ul><li>a<li>b</ul>"
        );
        let expected = "Some words before it.\nlet x = 1;\nAnd others after it, which are more.";
        assert_eq!(shown(page.as_bytes(), None, Html::Content), expected);
        // An end tag without a start tag ends nothing.
        let page = "</pre><a>x</a><p>two words</p><a>y</a>";
        assert_eq!(shown(page.as_bytes(), None, Html::Content), "two words");
    }

    #[test]
    fn markup_around_words_takes_none_of_them() {
        // Only the first words of each were read.
        let words = "the ferry carried farmers children and sheep for two hundred years before the \
                     bridge was built and its last pilot kept a diary of every crossing until the \
                     end";
        let each = |before: &str, after: &str| {
            words.split(' ').map(|word| format!("{before}{word}{after} ")).collect::<String>()
        };
        let menu = "<ul><li><a href=/>Home</a><li><a href=/b>Buy</a></ul>";
        for paragraph in [
            each("<a href=x>", "</a>"),
            each("<span class=line><span class=word title='1 2 3 4'>", "</span></span><br>"),
            each("", " <i>x</i>"),
        ] {
            let page = format!("<html>{menu}<p>{paragraph}</p>{menu}");
            let expected = collapsed(&shown(paragraph.as_bytes(), None, Html::All));
            assert_eq!(collapsed(&shown(page.as_bytes(), None, Html::Content)), expected);
        }
        // Each is a paragraph of its own.
        let page = format!("<html><table>{}</table>", each("<tr><td>", "</td></tr>"));
        assert_eq!(collapsed(&shown(page.as_bytes(), None, Html::Content)), words);
    }

    #[test]
    fn a_page_without_a_body_has_its_title() {
        let page = "<!DOCTYPE html><html><head><meta charset=utf-8><title>A title</title>\
                    <link rel=x></head><body><div><img src=x></div></body></html>";
        assert_eq!(shown(page.as_bytes(), None, Html::Content), "A title");
        assert_eq!(shown(b"<title>One</title>", None, Html::Content), "One");
    }

    #[test]
    fn hidden_elements_end_where_they_end() {
        let check = |page: &str, expected: &str| {
            assert_eq!(shown(page.as_bytes(), None, Html::All), expected, "{page}");
        };
        check("<p>a<svg><svg>x</svg>y</svg>b", "ab");
        check("<template>x<p>y</template>z", "z");
        check("<svg/>a</svg>b<!-- c -->d", "abd");
        check("<p></p>", "");
        // The number of a note is not part of a word.
        check("a word<sup><a href=x>1</a></sup>, word<a><sup>2</sup></a>", "a word 1, word 2");
        check("the 1<sup>st</sup> x<sup>2</sup><a>b</a>", "the 1st x2b");
        check("a</script>b", "ab");
    }

    #[test]
    fn text_that_says_it_is_not_displayed_is_counted_and_left_out() {
        let check = |page: &str, expected: &str, hidden: usize| {
            let (text, _, found) = text_of(page.as_bytes(), None, Html::All);
            assert_eq!((&*text, found), (expected, hidden), "{page}");
        };
        for attribute in [
            "hidden",
            "style='display: none'",
            "style='color:red; VISIBILITY:hidden !important'",
            "style=font-size:0",
            "style='font-size:1px'",
            "style='color:#fff;background-color:#FFF'",
            "style='opacity:0'",
        ] {
            check(&format!("<p>se<span {attribute}>not <b>here</b></span>en</p>"), "seen", 7);
        }
        check("<p>se<span style='color:#fff;background:#000'>e</span>n</p>", "seen", 0);
        // Elements end without end tags.
        check("<div><p hidden>no<p>a</div><p>b", "a\nb", 2);
        check("<ul><li hidden>no<ul><li>no</ul><li>a</ul>b", "a\nb", 4);
        check("<div><p hidden>no</div>a", "a", 2);
        check("<p>a<input hidden>b<br hidden>c", "a\nb\nc", 0);
        check("<div hidden><p>no<p>no</div>a<dialog>no</dialog>", "a", 6);
        // A script reveals the page.
        check("<body style='display:none'><p>a</p>", "a", 0);
        check("<body><div style='display:none'><p>a</p></div>", "a", 0);
    }

    #[test]
    fn a_page_may_declare_its_encoding() {
        let page =
            b"<html><meta http-equiv=Content-Type content='text/html; charset=windows-1251'>\
                     <p>\xcf\xf0\xe8\xe2\xe5\xf2";
        let greeting = "\u{41f}\u{440}\u{438}\u{432}\u{435}\u{442}";
        assert_eq!(shown(page, None, Html::All), greeting);
        let page = b"<html><!-- charset first, of no=1 --><script charset='none'></script>\
                     <meta charset=windows-1251><p>\xcf\xf0\xe8\xe2\xe5\xf2";
        assert_eq!(shown(page, None, Html::All), greeting);
        assert_eq!(
            shown(page, Some("windows-1252"), Html::All),
            "\u{cf}\u{f0}\u{e8}\u{e2}\u{e5}\u{f2}"
        );
        let dense = "\u{543e}\u{8f29}\u{306f}\u{732b}\u{3067}\u{3042}\u{308b}";
        let page = format!("<a>x</a><a>y</a><p>{dense}</p><a>z</a>");
        assert_eq!(shown(page.as_bytes(), None, Html::Content), dense);
    }
}
