//! What does this page of the web say?
//!
//! Its content stands where words are many and tags few: the document slope curve of Finn, Kushmerick
//! and Smyth (2001), as Seo and Croft (2008, section 3) use it to take pages out of their frames.
//! They look for the longest part in which the curve of tags over tokens is flat, in windows. Here a
//! word counts +1 and a tag -2, and the content is the part of the page with the greatest sum: one
//! pass, and nothing to choose but that weight (docs/BENCHMARKS.md). Tags in `pre` count nothing: they
//! are the colours of a program, and the text around it would be torn apart.

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{Token, Tokenizer};

use crate::charset;

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

/// The text of a page in these bytes.
#[must_use]
pub fn text_of(bytes: &[u8], encoding: Option<&str>, html: Html) -> String {
    let start = &bytes[..bytes.len().min(DECLARATION_BYTES)];
    let declared = encoding.map(str::to_owned).or_else(|| declared(start));
    let page = charset::decode(bytes, declared.as_deref()).text;
    match html {
        Html::Source => page.into_owned(),
        Html::All => joined(&pieces(&page)),
        Html::Content => {
            let pieces = pieces(&page);
            joined(content(&pieces))
        }
    }
}

/// The label after `charset=`, of a `meta` element or an XML declaration.
fn declared(start: &[u8]) -> Option<String> {
    let start = start.to_ascii_lowercase();
    let at = [&b"charset"[..], b"encoding"]
        .iter()
        .find_map(|name| memchr::memmem::find(&start, name).map(|at| at + name.len()))?;
    let rest = start[at..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let rest = rest.strip_prefix(b"\"").or(rest.strip_prefix(b"'")).unwrap_or(rest);
    let is_label = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_:.".contains(byte);
    let len = rest.iter().position(|byte| !is_label(byte)).unwrap_or(rest.len());
    let label = String::from_utf8(rest[..len].to_vec()).ok()?;
    // What was found by reading it as ASCII is not in UTF-16.
    (charset::is_known(&label) && !label.starts_with("utf-16")).then_some(label)
}

/// A part of a page.
enum Piece {
    /// Text, of so many words.
    Text(String, i64),
    /// A tag.
    Tag {
        /// Whether a line ends at it.
        ends_line: bool,
        /// What it takes from the sum.
        cost: i64,
    },
}

impl Piece {
    /// A tag within so many open elements `pre`.
    fn tag(name: &[u8], preformatted: usize) -> Piece {
        let ends_line = !WITHIN_LINES.contains(&name) && !HIDDEN.contains(&name);
        Piece::Tag { ends_line, cost: if preformatted > 0 { 0 } else { TAG_COST } }
    }
}

fn pieces(page: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    // The element whose contents are not shown, and how many of its name are open.
    let mut hidden: Option<(Vec<u8>, usize)> = None;
    let mut preformatted = 0;
    let mut emitter = DefaultEmitter::default();
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
            Token::String(text) if hidden.is_none() => {
                let text = String::from_utf8_lossy(&text.value).into_owned();
                let words = words(&text);
                pieces.push(Piece::Text(text, words));
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

/// The part with the greatest sum; of equals the first, and the longest.
fn content(pieces: &[Piece]) -> &[Piece] {
    let (mut best, mut best_sum) = (0..0, 0);
    let (mut start, mut sum) = (0, 0);
    for (at, piece) in pieces.iter().enumerate() {
        sum += match piece {
            Piece::Text(_, words) => *words,
            Piece::Tag { cost, .. } => -cost,
        };
        if sum < 0 {
            (start, sum) = (at + 1, 0);
        } else if sum > best_sum {
            (best, best_sum) = (start..at + 1, sum);
        }
    }
    &pieces[best]
}

/// The text of some pieces, its lines as they are shown.
fn joined(pieces: &[Piece]) -> String {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(words, _) => push_words(words, &mut text),
            Piece::Tag { ends_line: true, .. } => {
                let len = text.trim_end_matches(' ').len();
                text.truncate(len);
                if !text.is_empty() && !text.ends_with('\n') {
                    text.push('\n');
                }
            }
            Piece::Tag { .. } => {}
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// Adds text with one space for each white space, none at the start of a line.
fn push_words(words: &str, text: &mut String) {
    for c in words.chars() {
        if !c.is_whitespace() {
            text.push(c);
        } else if !text.is_empty() && !text.ends_with([' ', '\n']) {
            text.push(' ');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<!DOCTYPE html><html><head><title>A shop</title><style>p {}</style></head>\
        <body><ul><li><a href='/'>Home</a></li><li><a href='/b'>Buy</a></li></ul>\
        <h1>The long and winding headline of it all</h1>\n<p>Six words &amp; a <b>bo</b>ld  one here.\
        <p>Another paragraph that has enough words to count.<script>if (a < b) c();</script></p>\
        <div><a>Next</a></div><div><a>Last</a></div></body></html>";

    #[test]
    fn the_content_is_the_part_with_many_words_and_few_tags() {
        let content = "The long and winding headline of it all\nSix words & a bold one here.\n\
                       Another paragraph that has enough words to count.";
        assert_eq!(text_of(PAGE.as_bytes(), None, Html::Content), content);
        let all = format!("A shop\nHome\nBuy\n{content}\nNext\nLast");
        assert_eq!(text_of(PAGE.as_bytes(), None, Html::All), all);
        assert_eq!(text_of(PAGE.as_bytes(), None, Html::Source), PAGE);
    }

    #[test]
    fn the_colours_of_a_program_do_not_tear_the_content_apart() {
        let program = "<i>let</i> <b>x</b> <u>=</u> <b>1</b>;";
        let page = format!(
            "<ul><li>Menu</ul><p>Some words before it.<pre><code>{program}</code></pre><p>And others after it, which are more.\
             <ul><li>a<li>b</ul>"
        );
        let expected = "Some words before it.\nlet x = 1;\nAnd others after it, which are more.";
        assert_eq!(text_of(page.as_bytes(), None, Html::Content), expected);
        // What is not open does not end.
        let page = "</pre><a>x</a><p>two words</p><a>y</a>";
        assert_eq!(text_of(page.as_bytes(), None, Html::Content), "two words");
    }

    #[test]
    fn a_page_without_a_body_has_its_title() {
        let page = "<!DOCTYPE html><html><head><meta charset=utf-8><title>A title</title>\
                    <link rel=x></head><body><div><img src=x></div></body></html>";
        assert_eq!(text_of(page.as_bytes(), None, Html::Content), "A title");
        assert_eq!(text_of(b"<title>One</title>", None, Html::Content), "One");
    }

    #[test]
    fn hidden_elements_end_where_they_end() {
        let check = |page: &str, expected: &str| {
            assert_eq!(text_of(page.as_bytes(), None, Html::All), expected, "{page}");
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
        assert_eq!(text_of(page, None, Html::All), greeting);
        assert_eq!(
            text_of(page, Some("windows-1252"), Html::All),
            "\u{cf}\u{f0}\u{e8}\u{e2}\u{e5}\u{f2}"
        );
        let dense = "\u{543e}\u{8f29}\u{306f}\u{732b}\u{3067}\u{3042}\u{308b}";
        let page = format!("<a>x</a><a>y</a><p>{dense}</p><a>z</a>");
        assert_eq!(text_of(page.as_bytes(), None, Html::Content), dense);
    }
}
