//! Untrusted texts as inert parts of a page.
//!
//! maud escapes markup. Controls are shown by their numbers, above all controls of direction, which
//! would show a text in a different order than the compared order.

use std::fmt::Write;
use std::ops::Range;

use maud::{Escaper, Render};

/// A text with visible controls.
pub struct VisibleText<'a>(pub &'a str);

impl Render for VisibleText<'_> {
    fn render_to(&self, out: &mut String) {
        Writer::new(out, None, None).text(self.0);
    }
}

/// Writes texts, and shows where pages and lines begin.
pub struct Writer<'a> {
    /// HTML is appended to this string.
    pub out: &'a mut String,
    /// The current page, if pages are shown. Form feeds separate pages.
    page: Option<u32>,
    /// The number of the next line, if lines are numbered.
    line: Option<u64>,
    /// Whether the next character begins a line with a number.
    is_line_start: bool,
    /// Whether the last character was a carriage return, because a line feed would then end the
    /// same line.
    is_after_return: bool,
}

impl<'a> Writer<'a> {
    /// Writes to `out`. `page` and `line` are where the text begins, or `None` to show no pages or
    /// no lines.
    pub fn new(out: &'a mut String, page: Option<u32>, line: Option<u64>) -> Writer<'a> {
        Writer { out, page, line, is_line_start: line.is_some(), is_after_return: false }
    }

    /// Writes a text, or a part that follows the previous part.
    pub fn text(&mut self, text: &str) {
        let mut plain = 0;
        for (at, c) in text.char_indices() {
            let is_half = c == '\n' && self.is_after_return;
            self.is_after_return = c == '\r';
            let ends_line = c == '\n' && self.line.is_some();
            if !is_half && !is_hidden(c) && !ends_line {
                continue;
            }
            self.escaped(&text[plain..at]);
            plain = at + c.len_utf8();
            match (c, &mut self.page) {
                ('\n', _) if is_half => {}
                ('\n' | '\r', _) => {
                    self.escaped("\n");
                    self.is_line_start = self.line.is_some();
                }
                ('\u{c}', Some(page)) => {
                    *page += 1;
                    let _ = write!(self.out, "<span class=\"page\">page {page}</span>");
                }
                _ => {
                    self.begin_line();
                    let _ =
                        write!(self.out, "<span class=\"control\">U+{:04X}</span>", u32::from(c));
                }
            }
        }
        self.escaped(&text[plain..]);
    }

    /// Writes the heading of a part, whose text follows and begins on this page and line.
    pub fn part(&mut self, name: &str, page: Option<u32>, line: Option<u64>) {
        self.out.push_str("<span class=\"part\">");
        Writer::new(self.out, None, None).text(name);
        self.out.push_str("</span>");
        (self.page, self.line) = (page, line);
        (self.is_line_start, self.is_after_return) = (line.is_some(), false);
    }

    /// Writes the number of the line if a line begins: an empty element, so that copied text
    /// contains no numbers.
    fn begin_line(&mut self) {
        if let (true, Some(line)) = (std::mem::take(&mut self.is_line_start), &mut self.line) {
            let _ = write!(self.out, "<span class=\"l\" data-n=\"{line}\"></span>");
            *line += 1;
        }
    }

    fn escaped(&mut self, text: &str) {
        if !text.is_empty() {
            self.begin_line();
        }
        // Writing to a string cannot fail.
        let _ = Escaper::new(self.out).write_str(text);
    }

    /// Writes a part of a text, with some ranges in this element, such as `ins`.
    pub fn marked(&mut self, text: &str, part: Range<usize>, marks: &[Range<usize>], tag: &str) {
        let mut at = part.start;
        let first = marks.partition_point(|mark| mark.end <= part.start);
        for mark in marks[first..].iter().take_while(|mark| mark.start < part.end) {
            let (start, end) = (mark.start.max(part.start), mark.end.min(part.end));
            self.text(&text[at..start]);
            self.mark(&text[start..end], tag);
            at = end;
        }
        self.text(&text[at..part.end]);
    }

    /// Writes a text in an element. In a program every line has a separate element without its
    /// indentation, which would otherwise be underlined.
    fn mark(&mut self, text: &str, tag: &str) {
        if self.line.is_none() {
            return self.element(text, tag);
        }
        for line in text.split_inclusive('\n') {
            let bare = line.trim();
            let start = line.len() - line.trim_start().len();
            self.text(&line[..start]);
            if !bare.is_empty() {
                self.begin_line();
                self.element(bare, tag);
            }
            self.text(&line[start + bare.len()..]);
        }
    }

    fn element(&mut self, text: &str, tag: &str) {
        let _ = write!(self.out, "<{tag}>");
        self.text(text);
        let _ = write!(self.out, "</{tag}>");
    }
}

/// Returns a text for an attribute or a title, where elements are impossible: controls become their
/// numbers.
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

/// Returns whether a character is invisible and moves visible text: a control other than white
/// space, a separator of lines or paragraphs, or a control of direction that does not end by
/// itself.
fn is_hidden(c: char) -> bool {
    let is_space = matches!(c, '\n' | '\t');
    (c.is_control() && !is_space) || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the number of the line, from 1, that contains this byte of a text.
pub fn line_at(text: &str, at: usize) -> u64 {
    let before = &text.as_bytes()[..at];
    let is_end = |(at, byte): (usize, &u8)| {
        *byte == b'\n' || (*byte == b'\r' && text.as_bytes().get(at + 1) != Some(&b'\n'))
    };
    1 + before.iter().enumerate().filter(|&end| is_end(end)).count() as u64
}

/// The number of lines shown before and after a passage of a program.
const CONTEXT_LINES: usize = 2;

/// Returns the lines of `text` around a range. `None` if the lines are too long for a program.
pub fn with_lines(text: &str, range: &Range<usize>, context_max: usize) -> Option<Range<usize>> {
    let start = text[..range.start].rmatch_indices('\n').nth(CONTEXT_LINES);
    let start = start.map_or(0, |(at, _)| at + 1);
    // A range that ends with its line includes the end of the line.
    let last = range.end - usize::from(text[range.clone()].ends_with('\n'));
    let end = text[last..].match_indices('\n').nth(CONTEXT_LINES);
    let end = end.map_or(text.len(), |(at, _)| last + at).max(range.end);
    (range.start - start <= context_max && end - range.end <= context_max).then_some(start..end)
}

/// Returns `range` with up to `context` more bytes of `text` on both sides, to the ends of words if
/// possible.
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

/// Returns the beginning of a range that may be shown, to the end of a character.
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
        VisibleText(text).render().into_string()
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
        let mut out = String::new();
        Writer::new(&mut out, None, None).marked(text, 2..9, &[0..3, 4..7, 8..13], "ins");
        assert_eq!(out, "<ins>e</ins> <ins>two</ins> <ins>t</ins>");
    }

    #[test]
    fn lines_are_numbered_where_they_begin() {
        let check = |text: &str, expected: &str| {
            let mut out = String::new();
            Writer::new(&mut out, None, Some(9)).text(text);
            let shown = out.replace("<span class=\"l\" data-n=\"", "").replace("\"></span>", ":");
            assert_eq!(shown, expected, "{text:?}");
        };
        check("a\nb", "9:a\n10:b");
        check("a\r\n\r\nb\rc\n", "9:a\n10:\n11:b\n12:c\n");
        check("", "");
        for (at, line) in [(0, 1), (2, 2), (5, 2), (6, 3), (7, 4)] {
            assert_eq!(line_at("a\nbc\r\n\rd", at), line, "{at}");
        }
    }

    #[test]
    fn the_indentation_of_a_program_is_not_marked() {
        let (text, mut out) = ("a\n  b\n\n  c", String::new());
        let but_first = 1..text.len();
        Writer::new(&mut out, None, Some(1)).marked(text, 0..text.len(), &[but_first], "u");
        let line = |n| format!("<span class=\"l\" data-n=\"{n}\"></span>");
        let expected =
            format!("{}a\n{}  <u>b</u>\n{}\n{}  <u>c</u>", line(1), line(2), line(3), line(4));
        assert_eq!(out, expected);
    }

    #[test]
    fn the_context_of_a_program_is_whole_lines() {
        let text = "1\n22\n333\n4444\n55555\n6\n7";
        let lines = |range: Range<usize>| with_lines(text, &range, 50).map(|range| &text[range]);
        assert_eq!(lines(11..13), Some("22\n333\n4444\n55555\n6"));
        assert_eq!(lines(9..14), Some("22\n333\n4444\n55555\n6"));
        assert_eq!(lines(0..1), Some("1\n22\n333"));
        assert_eq!(lines(0..text.len()), Some(text));
        assert_eq!(with_lines(&"x".repeat(99), &(40..50), 20), None);
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
    fn lines_and_pages_are_counted_within_a_part() {
        let mut out = String::new();
        let mut writer = Writer::new(&mut out, Some(1), Some(1));
        for (name, text) in [("<a>", "x\u{c}y\nz\n"), ("b", "\u{c}x")] {
            writer.part(name, Some(1), Some(1));
            writer.text(text);
        }
        let shown = out.replace("<span class=\"l\" data-n=\"", "").replace("\"></span>", ":");
        let shown =
            shown.replace("<span class=\"part\">", "[").replace("<span class=\"page\">", "(");
        let expected = "[&lt;a&gt;</span>1:x(page 2</span>y\n2:z\n[b</span>(page 2</span>1:x";
        assert_eq!(shown, expected);
    }

    #[test]
    fn pages_are_counted_by_form_feeds() {
        let mut out = String::new();
        Writer::new(&mut out, Some(1), None).text("a\u{c}b");
        assert_eq!(out, "a<span class=\"page\">page 2</span>b");
    }
}
