//! What does this page of the web say?
//!
//! Its content stands where words are many and tags few: the document slope curve of Finn, Kushmerick
//! and Smyth (2001), as Seo and Croft (2008, section 3) use it to take pages out of their frames.
//! They look for the longest part in which the curve of tags over tokens is flat, in windows. Here a
//! word counts +1 and a tag -2, and the content is the part of the page with the greatest sum
//! (docs/BENCHMARKS.md). Tags within long paragraphs and in `pre` count nothing: they are the links of an
//! edition to its dictionary and the colours of a program, and the text would be torn apart. A page of which the
//! content found is a small part is read whole.
//!
//! The tokenizer says which bytes of the page a text is from, and [`parts`] which of its characters are
//! which bytes: those that stand in the page as they are, and those that a reference stands for.

mod aligned;

#[cfg(feature = "archives")]
use std::borrow::Cow;
use std::ops::Range;

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{Span, Token, Tokenizer};

pub(crate) use aligned::decoded;
use aligned::{Part, parts};

use crate::charset;
#[cfg(feature = "archives")]
use crate::extract::Extracted;
use crate::origin::Origins;

/// What is read of web pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Html {
    /// Their content, without menus and other frames.
    #[default]
    Content,
    /// All their text.
    All,
    /// All of the file, as it is, for analysers that know markup.
    Source,
}

/// What a tag takes from the sum; of 1, 2, 3, 4 and 6 the best on annotated pages.
const TAG_COST: i64 = 2;

/// Tags within a paragraph of so many words cost nothing. With 15 to 30 pages are read alike, and better than
/// with any cost (docs/BENCHMARKS.md).
const PARAGRAPH_WORDS_MIN: i64 = 20;

/// Where the content would have less than one word of so many of the page, all of the page is read: its words
/// stand in cells, or each in an element of its own.
const CONTENT_SHARE: i64 = 4;

/// As much of a page as may declare its encoding, by the HTML standard.
const DECLARATION_BYTES: usize = 1024;

/// Elements whose contents are not shown.
const HIDDEN: [&[u8]; 5] = [b"script", b"style", b"template", b"noscript", b"svg"];

/// Elements that stand within a line of text.
const WITHIN_LINES: [&[u8]; 25] = [
    b"a", b"abbr", b"acronym", b"b", b"bdi", b"big", b"cite", b"code", b"dfn", b"em", b"font",
    b"i", b"kbd", b"mark", b"q", b"s", b"samp", b"small", b"span", b"strong", b"sub", b"sup",
    b"tt", b"u", b"wbr",
];

/// The text of a page in these bytes, and where it stands in the page as it was decoded; not if it is the
/// page itself.
#[must_use]
pub fn text_of(bytes: &[u8], encoding: Option<&str>, html: Html) -> (String, Option<Origins>) {
    let declared = encoding.map(str::to_owned).or_else(|| declared(bytes));
    let page = charset::decode(bytes, declared.as_deref()).text;
    match html {
        Html::Source => (page.into_owned(), None),
        Html::All => joined(&page, &pieces(&page)),
        Html::Content => {
            let mut pieces = pieces(&page);
            free_paragraphs(&mut pieces);
            joined(&page, content(&pieces))
        }
    }
}

/// The text of the body of a page, with its lines, such as a chapter of an e-book.
#[cfg(feature = "archives")]
pub(crate) fn body_of(bytes: &[u8]) -> Extracted {
    let page = charset::decode(bytes, declared(bytes).as_deref()).text;
    let page = without_empty(&page);
    let is_body = |at: &usize| {
        let tag = page.as_bytes().get(*at..*at + BODY.len());
        tag.is_some_and(|tag| tag.eq_ignore_ascii_case(BODY))
    };
    let body = memchr::memchr_iter(b'<', page.as_bytes()).find(is_body).unwrap_or_default();
    let body = &page[body..];
    let (text, _) = joined(body, &pieces(body));
    Extracted { text, ..Extracted::default() }
}

/// How the body of a page begins.
#[cfg(feature = "archives")]
const BODY: &[u8] = b"<body";

/// Elements that XML may close at once and HTML does not: what follows would be taken for their text.
#[cfg(feature = "archives")]
const RAW: [&str; 7] = ["iframe", "noframes", "script", "style", "textarea", "title", "xmp"];

/// Longer tags are left as they are.
#[cfg(feature = "archives")]
const TAG_BYTES_MAX: usize = 1024;

/// A page written as XML without elements that have no text and are closed at once.
#[cfg(feature = "archives")]
fn without_empty(page: &str) -> Cow<'_, str> {
    let mut kept = String::new();
    let mut from = 0;
    for at in memchr::memchr_iter(b'<', page.as_bytes()) {
        let rest = &page.as_bytes()[at + 1..];
        let rest = &rest[..rest.len().min(TAG_BYTES_MAX)];
        let len = rest.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(rest.len());
        if at < from || !RAW.iter().any(|raw| rest[..len].eq_ignore_ascii_case(raw.as_bytes())) {
            continue;
        }
        let Some(end) = memchr::memchr(b'>', rest) else { continue };
        if rest[..end].ends_with(b"/") {
            kept.push_str(&page[from..at]);
            from = at + 1 + end + 1;
        }
    }
    if from == 0 { Cow::Borrowed(page) } else { Cow::Owned(kept + &page[from..]) }
}

/// The label after `charset=`, of a `meta` element, or else after `encoding=` of an XML declaration.
pub(crate) fn declared(bytes: &[u8]) -> Option<String> {
    let start = bytes[..bytes.len().min(DECLARATION_BYTES)].to_ascii_lowercase();
    [&b"charset"[..], b"encoding"].iter().find_map(|name| {
        // The words may also stand where nothing is declared.
        let mut places = memchr::memmem::find_iter(&start, name);
        places.find_map(|at| label(&start[at + name.len()..]))
    })
}

/// The label of an encoding after `=`.
fn label(text: &[u8]) -> Option<String> {
    let text = text.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let text = text.strip_prefix(b"\"").or(text.strip_prefix(b"'")).unwrap_or(text);
    let is_label = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_:.".contains(byte);
    let len = text.iter().position(|byte| !is_label(byte)).unwrap_or(text.len());
    let label = String::from_utf8(text[..len].to_vec()).ok()?;
    // What was found by reading it as ASCII is not in UTF-16.
    (charset::is_known(&label) && !label.starts_with("utf-16")).then_some(label)
}

/// A part of a page.
enum Piece {
    /// Text.
    Text {
        /// What the page says, with references decoded.
        text: String,
        /// The bytes of the page that say so.
        span: Range<usize>,
        /// Its words.
        words: i64,
    },
    /// A tag.
    Tag {
        /// Where it may stand.
        place: Place,
        /// What it takes from the sum.
        cost: i64,
    },
}

/// Where a tag stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Within a line of text.
    Line,
    /// At the end of a line of a paragraph.
    LineEnd,
    /// At the end of a paragraph.
    BlockEnd,
    /// Around what is not shown.
    Hidden,
}

impl Piece {
    /// A tag within so many open elements `pre`.
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

fn pieces(page: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    // The element whose contents are not shown, and how many of its name are open.
    let mut hidden: Option<(Vec<u8>, usize)> = None;
    let mut preformatted = 0;
    let mut emitter = DefaultEmitter::<usize>::new_with_span();
    // Scripts are not tags.
    emitter.naively_switch_states(true);
    for Ok(token) in Tokenizer::new_with_emitter(page, emitter) {
        match token {
            Token::StartTag(tag) => {
                pieces.push(Piece::tag(&tag.name, preformatted));
                preformatted += usize::from(tag.name.as_slice() == b"pre");
                match &mut hidden {
                    Some((name, open)) if *name == tag.name.0 => *open += 1,
                    None if HIDDEN.contains(&tag.name.as_slice()) && !tag.self_closing => {
                        hidden = Some((tag.name.0.clone(), 1));
                    }
                    _ => {}
                }
            }
            Token::EndTag(tag) => {
                preformatted -= usize::from(preformatted > 0 && tag.name.as_slice() == b"pre");
                pieces.push(Piece::tag(&tag.name, preformatted));
                if let Some((name, open)) = &mut hidden
                    && *name == tag.name.0
                {
                    *open -= 1;
                    if *open == 0 {
                        hidden = None;
                    }
                }
            }
            Token::String(found) if hidden.is_none() => {
                let text = String::from_utf8_lossy(&found.value).into_owned();
                let Span { start, end } = found.span;
                let words = words(&text);
                pieces.push(Piece::Text { text, span: start..end, words });
            }
            _ => {}
        }
    }
    pieces
}

/// Words, or pairs of letters in scripts that set no spaces between words.
fn words(text: &str) -> i64 {
    let is_dense = |c: &char| matches!(c, '\u{e00}'..='\u{eff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}');
    let of_piece = |piece: &str| match piece.is_ascii() {
        true => 1,
        false => 1 + piece.chars().filter(is_dense).count() as i64 / 2,
    };
    text.split(char::is_whitespace).filter(|piece| !piece.is_empty()).map(of_piece).sum()
}

/// Makes tags within long paragraphs cost nothing: the words of an edition may all be links to a dictionary,
/// those of a recognised page have places, and a menu has few words.
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
        Piece::Tag { .. } => 0,
    });
    words.sum()
}

/// The part with the greatest sum; of equals the first, and the longest. All of the page if that part has few
/// of its words.
fn content(pieces: &[Piece]) -> &[Piece] {
    let (mut best, mut best_sum) = (0..0, 0);
    let (mut start, mut sum) = (0, 0);
    for (at, piece) in pieces.iter().enumerate() {
        sum += match piece {
            Piece::Text { words, .. } => *words,
            Piece::Tag { cost, .. } => -cost,
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

/// The text of some pieces, its lines as they are shown, and where it stands in the page.
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
            Piece::Tag { .. } => {}
        }
    }
    (writer.text, writer.origins)
}

/// Writes text with one space for each white space, none at the start or end of a line.
struct Writer {
    text: String,
    origins: Option<Origins>,
    /// What is written before the next character.
    gap: Option<Gap>,
}

/// What separates words.
#[derive(Clone, Copy)]
enum Gap {
    /// A space; where it stands in the page, if it is one there.
    Space(Option<usize>),
    /// The end of a line.
    Line,
}

impl Writer {
    /// Adds a part of a text, the source of which begins at `base` of the page.
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

    /// One space for each white space, none at the ends.
    fn collapsed(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Pieces of pages, among them what tokenizers stumble over.
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
            let (text, origins) = text_of(page.as_bytes(), Some("utf-8"), html);
            let page = &*charset::decode(page.as_bytes(), Some("utf-8")).text;
            let (mut in_text, mut in_page) = (0, 0);
            for (at, from, is_same) in origins.unwrap().runs() {
                prop_assert!(in_text <= at.start && in_page <= from.start, "{at:?} {from:?}");
                // What is in no run was made.
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

    /// What a tokenizer makes of a text without tags.
    fn decoded_text(text: &str) -> String {
        let parts = text.split_inclusive("</>").map(|part| part.trim_end_matches("</>"));
        parts.map(decoded).collect()
    }

    proptest! {
        #[test]
        fn every_run_of_the_text_is_what_the_page_says_there(
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
        // It was taken for text in which they are decoded and dropped.
        check_origins("<xmp></>&amp;\r").unwrap();
        check_origins("<title></>&amp;").unwrap();
        assert_eq!(shown(b"<xmp></>&amp;\r", None, Html::All), "</>&amp;");
    }

    #[test]
    fn references_are_runs_of_their_own() {
        let page = "<p>caf&eacute;\tau   lait &amp\r\n&ampc</p>";
        let (text, origins) = text_of(page.as_bytes(), None, Html::All);
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
        // What is not open does not end.
        let page = "</pre><a>x</a><p>two words</p><a>y</a>";
        assert_eq!(shown(page.as_bytes(), None, Html::Content), "two words");
    }

    #[test]
    fn markup_around_words_takes_none_of_them() {
        // Of each only the first words were read.
        let words = "the ferry carried farmers children and sheep for two hundred years before the bridge \
                     was built and its last pilot kept a diary of every crossing until the end";
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
        check("a</script>b", "ab");
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
