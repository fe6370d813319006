//! How does a text of anybody become a part of a page in which nothing of it acts?
//!
//! Markup is escaped by maud. Controls, above all those of direction, which would show a text
//! in another order than it is compared in, are shown by their numbers.

use std::fmt::Write;
use std::ops::Range;

use maud::{Escaper, Markup, PreEscaped, Render};

/// A text as it is shown.
pub struct Shown<'a>(pub &'a str);

impl Render for Shown<'_> {
    fn render_to(&self, out: &mut String) {
        Writer::new(out, None).text(self.0);
    }
}

/// Writes texts, and counts their pages if it is to show where they begin.
pub struct Writer<'a> {
    /// What is written.
    pub out: &'a mut String,
    /// The page that the text is on, if that is to be shown; form feeds separate pages.
    page: Option<u32>,
    /// Whether the last character ended a line that a line feed may end with it.
    is_after_return: bool,
}

impl<'a> Writer<'a> {
    /// Writes to `out`; `page` is where the text begins, if pages are to be shown.
    pub fn new(out: &'a mut String, page: Option<u32>) -> Writer<'a> {
        Writer { out, page, is_after_return: false }
    }

    /// Writes a text, or a part of it that follows the last one.
    pub fn text(&mut self, text: &str) {
        let mut plain = 0;
        for (at, c) in text.char_indices() {
            let is_half = c == '\n' && self.is_after_return;
            self.is_after_return = c == '\r';
            if !is_half && !is_hidden(c) {
                continue;
            }
            self.escaped(&text[plain..at]);
            plain = at + c.len_utf8();
            match (c, &mut self.page) {
                ('\n', _) => {}
                ('\r', _) => self.out.push('\n'),
                ('\u{c}', Some(page)) => {
                    *page += 1;
                    let _ = write!(self.out, "<span class=\"page\">page {page}</span>");
                }
                _ => {
                    let _ =
                        write!(self.out, "<span class=\"control\">U+{:04X}</span>", u32::from(c));
                }
            }
        }
        self.escaped(&text[plain..]);
    }

    fn escaped(&mut self, text: &str) {
        // Writing to a string cannot fail.
        let _ = Escaper::new(self.out).write_str(text);
    }

    /// Writes a part of a text, in which some ranges are in this element, such as `ins`.
    pub fn marked(&mut self, text: &str, part: Range<usize>, marks: &[Range<usize>], tag: &str) {
        let mut at = part.start;
        let first = marks.partition_point(|mark| mark.end <= part.start);
        for mark in marks[first..].iter().take_while(|mark| mark.start < part.end) {
            let (start, end) = (mark.start.max(part.start), mark.end.min(part.end));
            self.text(&text[at..start]);
            let _ = write!(self.out, "<{tag}>");
            self.text(&text[start..end]);
            let _ = write!(self.out, "</{tag}>");
            at = end;
        }
        self.text(&text[at..part.end]);
    }
}

/// A text for an attribute or a title, where there can be no elements: controls become their numbers.
pub fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match is_hidden(c) || matches!(c, '\n' | '\t') {
            // Writing to a string cannot fail.
            true => drop(write!(shown, "U+{:04X}", u32::from(c))),
            false => shown.push(c),
        }
    }
    shown
}

/// Returns whether a character is not seen, and moves what is seen: a control other than white space,
/// or one of direction that does not end by itself.
fn is_hidden(c: char) -> bool {
    let is_space = matches!(c, '\n' | '\t');
    (c.is_control() && !is_space) || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text with marks, as markup.
pub fn marked(text: &str, part: Range<usize>, marks: &[Range<usize>], tag: &str) -> Markup {
    let mut out = String::with_capacity(part.len() + part.len() / 8);
    Writer::new(&mut out, None).marked(text, part, marks, tag);
    PreEscaped(out)
}

/// Returns the range of `text` that is at least `range` and has up to `context` more bytes on both
/// sides, to the ends of words where there are any.
pub fn with_context(text: &str, range: &Range<usize>, context: usize) -> Range<usize> {
    let mut start = range.start.saturating_sub(context);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let mut end = (range.end + context).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    if start > 0 {
        start += text[start..range.start].find(char::is_whitespace).map_or(0, |space| space + 1);
    }
    while !text.is_char_boundary(start) {
        start += 1;
    }
    if end < text.len() {
        end =
            text[range.end..end].rfind(char::is_whitespace).map_or(end, |space| range.end + space);
    }
    start.min(range.start)..end.max(range.end)
}

/// Returns as much of a range as may be shown, to the end of a character.
pub fn at_most(text: &str, range: &Range<usize>, bytes_max: usize) -> Range<usize> {
    let mut end = range.end.min(range.start.saturating_add(bytes_max));
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    range.start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        Shown(text).render().into_string()
    }

    #[test]
    fn markup_and_controls_do_not_act() {
        assert_eq!(shown("<b a=\"c\">&"), "&lt;b a=&quot;c&quot;&gt;&amp;");
        assert_eq!(shown("a\u{202e}b"), "a<span class=\"control\">U+202E</span>b");
        assert_eq!(shown("a\r\nb\rc\n\0"), "a\nb\nc\n<span class=\"control\">U+0000</span>");
    }

    #[test]
    fn marks_are_cut_to_the_part() {
        let text = "one two three";
        assert_eq!(
            marked(text, 2..9, &[0..3, 4..7, 8..13], "ins").into_string(),
            "<ins>e</ins> <ins>two</ins> <ins>t</ins>"
        );
    }

    #[test]
    fn context_ends_at_words() {
        let text = "alpha beta gamma delta epsilon";
        assert_eq!(&text[with_context(text, &(11..16), 8)], "beta gamma delta");
        assert_eq!(&text[with_context(text, &(0..5), 100)], text);
        let text = "\u{4e00}".repeat(9);
        assert_eq!(with_context(&text, &(9..12), 4), 6..15);
    }

    #[test]
    fn pages_are_counted_by_form_feeds() {
        let mut out = String::new();
        Writer::new(&mut out, Some(1)).text("a\u{c}b");
        assert_eq!(out, "a<span class=\"page\">page 2</span>b");
    }
}
