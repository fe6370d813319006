//! Marks of quotations that a format has as elements.
//!
//! A quotation is recognized by its marks in the text, whatever the format was. So readers write
//! the marks that a person sees where the file has an element: quotation marks within a line, and
//! `> ` before each line of a block quotation, as in mail and Markdown. No mark is a word. A
//! bibliography is recognized by its heading, which some formats leave to programs.

use std::ops::Range;

use cento::text::closing_quotation_marks;

/// What begins each line of a block quotation.
pub const LINE: &str = "> ";

/// The heading of a bibliography whose format has none.
pub const BIBLIOGRAPHY: &str = "References";

/// Quotation marks, and the marks of quotations within them. Deeper quotations get no marks,
/// because they are within marks already.
const MARKS: [[char; 2]; 2] = [['\u{201c}', '\u{201d}'], ['\u{2018}', '\u{2019}']];

/// The marks of an open quotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QuotationMarks {
    /// The quotation has no character yet.
    Awaited,
    Written,
    /// The text has marks of its own.
    Own,
}

/// The open quotations within a line, outermost first.
#[derive(Debug, Default)]
pub struct OpenQuotations {
    open: Vec<QuotationMarks>,
    /// The number of deeper quotations.
    deeper: usize,
}

impl OpenQuotations {
    pub fn begin(&mut self) {
        match self.open.len() < MARKS.len() {
            true => self.open.push(QuotationMarks::Awaited),
            false => self.deeper += 1,
        }
    }

    /// Writes opening marks before the next character.
    pub fn open(&mut self, text: &mut String, next: char) {
        for (marks, [open, _]) in self.open.iter_mut().zip(MARKS) {
            if *marks == QuotationMarks::Awaited {
                let is_marked = is_mark(next) || ends_in_mark(text);
                *marks = if is_marked { QuotationMarks::Own } else { QuotationMarks::Written };
                text.extend((!is_marked).then_some(open));
            }
        }
    }

    /// Returns the mark that closes the innermost quotation.
    pub fn closing_mark(&self) -> Option<char> {
        let at = self.open.len().checked_sub(1).filter(|_| self.deeper == 0)?;
        (self.open[at] == QuotationMarks::Written).then_some(MARKS[at][1])
    }

    /// Ends the innermost quotation.
    pub fn end(&mut self, text: &mut String) {
        text.extend(self.closing_mark());
        match self.deeper {
            0 => _ = self.open.pop(),
            _ => self.deeper -= 1,
        }
    }

    /// Closes the quotations at the end of a paragraph. They open again in the next paragraph,
    /// because a quotation in marks does not go beyond its paragraph.
    pub fn pause(&mut self, text: &mut String) {
        for (marks, [_, close]) in self.open.iter_mut().zip(MARKS).rev() {
            if *marks == QuotationMarks::Written {
                *marks = QuotationMarks::Awaited;
                text.push(close);
            }
        }
    }

    /// Ends all quotations, in formats whose authors may forget to end them.
    pub fn end_all(&mut self, text: &mut String) {
        self.pause(text);
        self.open.clear();
        self.deeper = 0;
    }
}

/// Returns whether a quotation that begins with this character needs no other mark: a quotation
/// mark, or the dash of a speaker.
fn is_mark(c: char) -> bool {
    matches!(c, '\'' | '`' | '\u{2013}'..='\u{2015}') || !closing_quotation_marks(c).is_empty()
}

/// Returns whether a text ends in a mark that opens a quotation.
fn ends_in_mark(text: &str) -> bool {
    let mut before = text.chars().rev();
    match before.next() {
        // After a letter, it is an apostrophe (`l'`).
        Some('\'' | '\u{2019}') => before.next().is_none_or(|c| !c.is_alphabetic()),
        // French has a space within its marks.
        Some(' ' | '\u{a0}' | '\u{202f}') => before.next() == Some('\u{ab}'),
        last => last.is_some_and(|c| c == '`' || !closing_quotation_marks(c).is_empty()),
    }
}

/// Marks the lines of a text that are quoted. Every line of the source is a line of the text.
/// `quoted` has places in the source, and touches no other lines.
pub fn with_quoted_lines(text: String, source: &str, mut quoted: Vec<Range<usize>>) -> String {
    if quoted.is_empty() {
        return text;
    }
    quoted.sort_by_key(|range| range.start);
    let mut quoted = quoted.into_iter().peekable();
    let mut lines = source.split_inclusive('\n');
    let mut out = String::with_capacity(text.len());
    let (mut line_end, mut quotation_end) = (0, 0);
    for line in text.split_inclusive('\n') {
        let line_start = line_end;
        line_end += lines.next().map_or(0, str::len);
        while let Some(range) = quoted.next_if(|range| range.start < line_end) {
            quotation_end = quotation_end.max(range.end);
        }
        let words = line.trim_start();
        if line_start < quotation_end && !words.is_empty() && !words.starts_with('>') {
            out.push_str(LINE);
        }
        out.push_str(line);
    }
    out
}

/// Returns where the line ends that a place of a text is in, with its line end.
pub fn line_end(source: &str, at: usize) -> usize {
    memchr::memchr(b'\n', &source.as_bytes()[at..]).map_or(source.len(), |len| at + len + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a text in which braces are the elements of quotations, and a bar ends a paragraph.
    fn marked(source: &str) -> String {
        let (mut text, mut quotations) = (String::new(), OpenQuotations::default());
        for c in source.chars() {
            match c {
                '{' => quotations.begin(),
                '}' => quotations.end(&mut text),
                '|' => {
                    quotations.pause(&mut text);
                    text.push_str("\n\n");
                }
                c => {
                    quotations.open(&mut text, c);
                    text.push(c);
                }
            }
        }
        text
    }

    #[test]
    fn quotations_get_the_marks_that_they_lack() {
        for (source, expected) in [
            ("He said {no}.", "He said \u{201c}no\u{201d}."),
            ("{a {b {c} d}}{}", "\u{201c}a \u{2018}b c d\u{2019}\u{201d}"),
            ("{a|b} c", "\u{201c}a\u{201d}\n\n\u{201c}b\u{201d} c"),
            // Marks of the author, within or around the element.
            ("\"{a}\" {\"b\"} \u{ab}\u{a0}{c}\u{a0}\u{bb} {\u{2014} d}", ""),
            ("'{a}' {'b'}", ""),
            ("l'{a}", "l'\u{201c}a\u{201d}"),
        ] {
            let own = source.replace(['{', '}'], "");
            assert_eq!(marked(source), if expected.is_empty() { &own } else { expected });
        }
    }

    #[test]
    fn lines_are_quoted_once() {
        let source = "one\ntwo\n\n> three\nfour";
        let lines =
            |quoted: &[Range<usize>]| with_quoted_lines(source.to_owned(), source, quoted.to_vec());
        assert_eq!(lines(&[4..16, 5..7]), "one\n> two\n\n> three\nfour");
        assert_eq!(lines(&[17..21, 0..3]), "> one\ntwo\n\n> three\n> four");
        assert_eq!(lines(&[]), source);
    }
}
