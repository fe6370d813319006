//! Text of OCR output in the format hOCR.
//!
//! hOCR is HTML whose classes mark pages, areas, paragraphs, lines and words. Reading hOCR as a web
//! page would lose short parts, because tags cost more than few words count. This reader takes all
//! text of the body with its lines, as for ALTO and PAGE, and joins words that continue on the next
//! line.

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{StartTag, Token, Tokenizer};

use crate::broken_word;
use crate::extracted::ExtractedText;
use crate::format::{FileFormat, Markup, TextOf};
use crate::html;

/// OCR output as HTML.
pub static FORMAT: FileFormat = FileFormat {
    name: "hocr",
    endings: &[".hocr"],
    documents: "the text of an OCR page (hOCR)",
    feature: None,
    is_built: true,
    keeps_lines: false,
    example: b"<html><head><meta name='ocr-system' content='x'></head>\
        <body><div class='ocr_page'><span class='ocr_line'>Twice a day</span>\
        <span class='ocr_line'>the sea rises.</span></div></body></html>\n",
    markup: Some(Markup {
        is: "it is an OCR page",
        begins: |start| is_hocr(start.text),
        named_begins: None,
        text_of: TextOf::Bytes(|bytes, options| {
            let page = html::decoded_page(bytes, options.label())?;
            Ok((ExtractedText { text: text_of(&page), ..ExtractedText::default() }, None))
        }),
        has_source: true,
    }),
};

/// The class of a page.
const PAGE: &str = "ocr_page";

/// Names of `meta` elements that only hOCR has.
const METAS: [&[u8]; 2] = [b"ocr-system", b"ocr-capabilities"];

/// Classes of lines. Headings and captions may be single lines.
const LINES: [&str; 6] =
    ["ocr_line", "ocrx_line", "ocr_header", "ocr_footer", "ocr_caption", "ocr_textfloat"];

/// The classes of paragraphs, columns and areas.
const BLOCKS: [&str; 4] = ["ocr_par", "ocr_carea", "ocrx_block", "ocr_column"];

/// The class of words. Words need no space between their elements.
const WORD: &str = "ocrx_word";

/// Elements that do not begin a line.
const WITHIN_LINES: [&[u8]; 10] =
    [b"span", b"a", b"b", b"em", b"i", b"strong", b"sub", b"sup", b"u", b"font"];

/// Returns whether a text begins as hOCR, by an element with the class of a page, or a `meta`
/// element of hOCR. Text alone does not count, because a page about hOCR mentions them.
fn is_hocr(start: &[u8]) -> bool {
    let has = |mark: &[u8]| memchr::memmem::find(start, mark).is_some();
    if !start.starts_with(b"<") || !(has(PAGE.as_bytes()) || METAS.iter().any(|meta| has(meta))) {
        return false;
    }
    let start = String::from_utf8_lossy(start);
    tokens(&start).any(|token| match token {
        Token::StartTag(tag) => {
            let name = tag.attributes.get(&b"name"[..]).map(|name| name.to_vec());
            let is_meta = tag.name.as_slice() == b"meta"
                && name.is_some_and(|name| METAS.contains(&name.as_slice()));
            is_meta || has_class(&tag, &[PAGE])
        }
        _ => false,
    })
}

/// Returns the tokens of a page. No element switches the tokenizer's state, because hOCR is XHTML.
/// In HTML, `<title/>` would turn the remaining page into a title.
fn tokens(page: &str) -> impl Iterator<Item = Token<usize>> + '_ {
    Tokenizer::new_with_emitter(page, DefaultEmitter::<usize>::new_with_span()).flatten()
}

/// Returns whether an element has any of these classes.
fn has_class<S: html5gum::SpanBound>(tag: &StartTag<S>, names: &[&str]) -> bool {
    let Some(class) = tag.attributes.get(&b"class"[..]) else { return false };
    let class = class.to_vec();
    let class = String::from_utf8_lossy(&class);
    class.split_ascii_whitespace().any(|found| names.contains(&found))
}

/// The separator of two words. The greatest of several separators counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum WordGap {
    None,
    Space,
    Line,
    Block,
    Page,
}

impl WordGap {
    /// Returns the gap before an element.
    fn before<S: html5gum::SpanBound>(tag: &StartTag<S>) -> WordGap {
        match tag.name.as_slice() {
            _ if has_class(tag, &[PAGE]) => WordGap::Page,
            _ if has_class(tag, &BLOCKS) => WordGap::Block,
            _ if has_class(tag, &LINES) => WordGap::Line,
            _ if has_class(tag, &[WORD]) => WordGap::Space,
            name => WordGap::around(name),
        }
    }

    /// Returns the gap around an element without a class.
    fn around(name: &[u8]) -> WordGap {
        match name {
            b"p" => WordGap::Block,
            name if WITHIN_LINES.contains(&name) => WordGap::None,
            _ => WordGap::Line,
        }
    }

    fn text(self) -> &'static str {
        match self {
            WordGap::None => "",
            WordGap::Space => " ",
            WordGap::Line => "\n",
            WordGap::Block => "\n\n",
            WordGap::Page => "\u{c}",
        }
    }
}

/// Returns the text of the pages.
fn text_of(page: &str) -> String {
    let mut text = String::new();
    let mut gap = WordGap::None;
    // The gap within a joined word, which follows the word.
    let mut owed = WordGap::None;
    // The element whose contents are no text of the page.
    let mut hidden: Option<Vec<u8>> = None;
    for token in tokens(page) {
        match token {
            Token::StartTag(tag) => {
                gap = gap.max(WordGap::before(&tag));
                let is_hidden = [&b"title"[..], b"style", b"script"].contains(&tag.name.as_slice());
                if hidden.is_none() && is_hidden && !tag.self_closing {
                    hidden = Some(tag.name.to_vec());
                }
            }
            Token::EndTag(tag) => {
                gap = gap.max(WordGap::around(&tag.name));
                hidden = hidden.filter(|name| *name != tag.name.to_vec());
            }
            Token::String(found) if hidden.is_none() => {
                let found = found.value.to_vec();
                for piece in String::from_utf8_lossy(&found).split_inclusive(char::is_whitespace) {
                    let word = piece.trim_end();
                    if !word.is_empty() {
                        match broken_word::begun_in_print(&text, word)
                            .filter(|_| gap >= WordGap::Line)
                        {
                            Some(begun) => {
                                text.truncate(begun.len());
                                owed = gap;
                            }
                            None if text.is_empty() => {}
                            None => text.push_str(gap.text()),
                        }
                        text.push_str(word);
                        gap = WordGap::None;
                        if owed >= WordGap::Block {
                            gap = std::mem::replace(&mut owed, WordGap::None);
                        }
                    }
                    if word.len() < piece.len() {
                        gap = gap.max(WordGap::Space);
                    }
                }
            }
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_a_recognized_page_is_read() {
        // Read as a web page, the first line was lost.
        let page = "<html><body><div class='ocr_page'><p class='ocr_par'><span class='ocr_line'>\
            <span class='ocrx_word'>The</span> <span class='ocrx_word'>steamer</span> \
            <span class='ocrx_word'>Albion</span> \
            <span class='ocrx_word'>bound from Liver-</span></span>\n\
            <span class='ocr_line'><span class='ocrx_word'>pool</span> \
            <span class='ocrx_word'>for the river Plate</span></span></p></div></body></html>";
        assert!(is_hocr(page.as_bytes()));
        assert_eq!(text_of(page), "The steamer Albion bound from Liverpool for the river Plate");
    }

    #[test]
    fn pages_areas_and_paragraphs_are_apart_and_the_head_is_no_text() {
        let page = "<?xml version='1.0'?><html><head><title>scan</title><style>p {}</style>\
            <meta name='ocr-system' content='tesseract'/></head><body>\
            <div class='ocr_page' title='bbox 0 0 9 9'><div class='ocr_carea'>\
            <p class='ocr_par'><span class='ocr_header' title='bbox'><span class='ocrx_word'>\
            THE</span><span class='ocrx_word'>TIMES</span></span></p></div>\
            <div class='ocr_carea'><p class='ocr_par'>\
            <span class='ocr_line'>Births &amp; <strong>d</strong>eaths</span></p></div></div>\
            <div class='ocr_page'><span class='ocr_line'>two</span></div></body></html>";
        assert!(is_hocr(page.as_bytes()));
        assert_eq!(text_of(page), "THE TIMES\n\nBirths & deaths\u{c}two");
    }

    #[test]
    fn an_empty_title_ends_where_it_is() {
        // Read as HTML, everything after the tag was the title.
        let page = "<html><head><title/><meta name='ocr-system' content='x'/></head><body>\
            <div class='ocr_page'><span class='ocr_line'>two</span></div></body></html>";
        assert!(is_hocr(page.as_bytes()));
        assert_eq!(text_of(page), "two");
    }

    #[test]
    fn a_page_about_the_format_is_a_web_page() {
        let page = "<html><p>The class <code>ocr_page</code>: &lt;div class='ocr_page'&gt;, with \
            <a href='ocr-system'>ocr-system</a></html>";
        assert!(!is_hocr(page.as_bytes()));
        assert!(!is_hocr(b"class='ocr_page'"));
    }
}
