//! Block quotations and bibliographies of a page.
//!
//! Many pages have a `blockquote` for its indentation, around the whole page or each of its
//! sections. So a `blockquote` with a heading, a table or most words of the page is layout, and so
//! is every one if together they have most words. Neither counts one that never ends, as it would
//! swallow the remaining page. A `blockquote` that is declared as a quotation, as mail programs and
//! forums declare it, needs no such guess: it has a `cite`, or a type or class that says so.

use std::ops::Range;

use cento::text::is_bibliography_heading;
use html5gum::StartTag;

use super::PagePiece;

/// Elements that a quotation of prose lacks.
const LAYOUT: [&[u8]; 8] = [b"h1", b"h2", b"h3", b"h4", b"h5", b"h6", b"hr", b"table"];

/// The share of the words of a page above which block quotations are layout (2/3).
const LAYOUT_SHARE: [i64; 2] = [2, 3];

/// A `blockquote` element.
#[derive(Default)]
struct BlockQuote {
    /// The number of the `blockquote` around it, which is lower.
    around: Option<usize>,
    words: i64,
    is_declared: bool,
    has_layout: bool,
    is_ended: bool,
}

/// Follows the `blockquote` elements of a page.
#[derive(Default)]
pub struct BlockQuotes {
    all: Vec<BlockQuote>,
    open: Vec<usize>,
}

impl BlockQuotes {
    /// Returns the number of the innermost open `blockquote`.
    pub fn now(&self) -> Option<usize> {
        self.open.last().copied()
    }

    /// Takes a start tag.
    pub fn start(&mut self, tag: &StartTag<usize>) {
        let name = tag.name.as_slice();
        if name == b"blockquote" {
            let (around, is_declared) = (self.now(), is_declared(tag));
            self.open.push(self.all.len());
            self.all.push(BlockQuote { around, is_declared, ..BlockQuote::default() });
        } else if LAYOUT.contains(&name)
            && let Some(open) = self.now()
        {
            self.all[open].has_layout = true;
        }
    }

    /// Takes an end tag.
    pub fn end(&mut self, name: &[u8]) {
        if name == b"blockquote"
            && let Some(open) = self.open.pop()
        {
            self.all[open].is_ended = true;
        }
    }

    /// Removes the numbers of elements that are no quotations from the places of texts.
    pub fn settle(mut self, pieces: &mut [PagePiece]) {
        if self.all.is_empty() {
            return;
        }
        let mut page_words = 0;
        for piece in pieces.iter() {
            if let PagePiece::Text { words, place, .. } = piece {
                page_words += words;
                if let Some(number) = place.block_quote {
                    self.all[number].words += words;
                }
            }
        }
        let own: Vec<i64> = self.all.iter().map(|quote| quote.words).collect();
        for number in (0..self.all.len()).rev() {
            let BlockQuote { around, words, has_layout, .. } = self.all[number];
            if let Some(around) = around {
                self.all[around].words += words;
                self.all[around].has_layout |= has_layout;
            }
        }
        let [part, whole] = LAYOUT_SHARE;
        let is_most = |words: i64| words * whole > page_words * part;
        let may_be: Vec<bool> = self
            .all
            .iter()
            .map(|quote| {
                let is_layout = quote.has_layout || is_most(quote.words);
                quote.is_ended && (quote.is_declared || !is_layout)
            })
            .collect();
        let is_guess = |number: &usize| may_be[*number] && !self.all[*number].is_declared;
        let guessed = (0..own.len()).filter(is_guess).map(|number| own[number]).sum();
        let is_one =
            |number: usize| may_be[number] && (self.all[number].is_declared || !is_most(guessed));
        for piece in pieces {
            if let PagePiece::Text { place, .. } = piece {
                place.block_quote = place.block_quote.filter(|number| is_one(*number));
            }
        }
    }
}

/// Returns whether an attribute says that a `blockquote` is a quotation.
fn is_declared(tag: &StartTag<usize>) -> bool {
    let value = |name: &[u8]| tag.attributes.get(name).map(|value| value.to_ascii_lowercase());
    let has = |name: &[u8], word: &[u8]| {
        value(name).is_some_and(|value| memchr::memmem::find(&value, word).is_some())
    };
    value(b"cite").is_some_and(|cite| !cite.trim_ascii().is_empty())
        || has(b"type", b"cite")
        || has(b"class", b"quot")
        || has(b"class", b"cite")
}

/// Follows where bibliographies without headings begin.
#[derive(Default)]
pub struct Bibliographies {
    /// The tag of a bibliography that has begun, and has no heading or text so far.
    begun: Option<Range<usize>>,
    /// Whether the last text is the heading of a bibliography.
    is_after_heading: bool,
}

impl Bibliographies {
    /// Takes a start tag.
    pub fn start(&mut self, tag: &StartTag<usize>) {
        let has = |name: &[u8], role: &[u8]| {
            let value = tag.attributes.get(name);
            value.is_some_and(|value| value.split(|byte| *byte == b' ').any(|one| one == role))
        };
        if has(b"role", b"doc-bibliography") || has(b"epub:type", b"bibliography") {
            self.begun = Some(tag.span.start..tag.span.end).filter(|_| !self.is_after_heading);
        } else if matches!(tag.name.as_slice(), [b'h', b'1'..=b'6'] | b"header" | b"caption") {
            self.begun = None;
        }
    }

    /// Takes a text that a reader sees. Returns the tag of a bibliography that needs a heading
    /// before the text.
    pub fn text(&mut self, text: &str) -> Option<Range<usize>> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        self.is_after_heading = is_bibliography_heading(text);
        self.begun.take().filter(|_| !self.is_after_heading)
    }
}

#[cfg(test)]
mod tests {
    use crate::html::{Html, text_of_page};

    #[track_caller]
    fn check(body: &str, expected: &str) {
        let own = "<p>one two three four five six seven eight nine ten</p>";
        let (text, _, _) = text_of_page(&format!("<body>{own}{body}"), Html::All);
        let text = text.split_once("ten").unwrap().1;
        assert_eq!(text.strip_prefix('\n').unwrap_or(text), expected, "{body}");
    }

    #[test]
    fn lines_of_block_quotations_are_quoted() {
        check("<blockquote><p>a <b>b</b><br>c</p><p>d</blockquote>e", "> a b\n> c\n> d\ne");
        check("<blockquote>a<blockquote>b</blockquote>c</blockquote>d", "> a\n> b\n> c\nd");
        check("<p>a<blockquote hidden>b</blockquote>c", "a\nc");
    }

    #[test]
    fn block_quotations_that_are_layout_are_not_quoted() {
        check("<blockquote>a <table><tr><td>b</table></blockquote>", "a\nb");
        check("<blockquote><h2>a</h2><blockquote>b</blockquote></blockquote>c", "a\n> b\nc");
        check("<blockquote>a<p>b", "a\nb");
        let most = "a ".repeat(21);
        check(&format!("<blockquote>{most}</blockquote>"), most.trim());
        let halves = format!("<blockquote>{}</blockquote>", "a ".repeat(11)).repeat(2);
        let line = "a ".repeat(11);
        check(&halves, &format!("{}\n{}", line.trim(), line.trim()));
        // Unless the page says that they are quotations.
        for how in ["type=cite", "class='gmail_quote'", "cite=http://example.org"] {
            check(&format!("<blockquote {how}>{most}</blockquote>"), &format!("> {}", most.trim()));
        }
    }

    #[test]
    fn quotations_in_a_line_have_marks() {
        check("a <q>b <i>c</i></q>, <q>\"d\"</q>", "\na \u{201c}b c\u{201d}, \"d\"".trim_start());
        check("a <q>b<p>c", "a \u{201c}b\u{201d}\nc");
        check("a <q hidden>b</q><q></q> c", "a c");
        let page = "<p>a <q>b</q> c";
        let (text, origins, _) = text_of_page(page, Html::All);
        let place = |words: &str| {
            let at = text.find(words).unwrap() as u32;
            let origin = origins.as_ref().unwrap().of((at, at + words.len() as u32)).unwrap();
            &page[origin.start as usize..origin.end as usize]
        };
        assert_eq!((place("b"), place("c")), ("b", "c"));
    }

    #[test]
    fn a_bibliography_without_a_heading_gets_one() {
        let list = "<section role='doc-bibliography'><p>A (2001)</section>";
        check(list, "References\nA (2001)");
        check(&list.replace("<p>", "<h2>Works</h2><p>"), "Works\nA (2001)");
        check(&format!("<h2>Literaturverzeichnis</h2>{list}"), "Literaturverzeichnis\nA (2001)");
    }
}
