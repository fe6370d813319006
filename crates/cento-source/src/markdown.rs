//! Text of Markdown.
//!
//! Markup, addresses and HTML tags are removed. Notes within a sentence (`^[...]`) follow their
//! paragraph, and raised numbers that mark notes or verses go. Lines of block quotations keep their
//! mark, except of callouts (`> [!NOTE]`), which are the author's own words. Every line stays at
//! its place, so that line numbers of passages are line numbers of the file.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::SourceOptions;
use crate::format::{FileFormat, Markup, TextOf};
use crate::html::Html;
use crate::note_mark::{RaisedNumbers, RaisedRole, RaisedText, last_word};
use crate::quoted::{OpenQuotations, with_quoted_lines};

/// Markdown: CommonMark with tables and footnotes.
pub static FORMAT: FileFormat = FileFormat {
    name: "markdown",
    endings: &[".md", ".markdown"],
    documents: "the text without markup",
    feature: None,
    is_built: true,
    keeps_lines: true,
    example: b"# Tides\n\nTwice a *day*\nthe [sea](http://example.org) rises.\n",
    markup: Some(Markup {
        is: "it is text",
        begins: |_| false,
        named_begins: Some(b""),
        text_of: TextOf::Decoded(text_of),
        has_source: true,
    }),
};

/// Returns the text of Markdown within a different file. Returns the Markdown unchanged if the
/// options ask for sources.
pub fn text_within(markdown: String, options: &SourceOptions) -> String {
    match options.html != Html::Source {
        true => text_of(&markdown),
        false => markdown,
    }
}

/// Returns the text of Markdown (CommonMark with tables, footnotes, strikethrough and task lists).
fn text_of(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS;
    let all_notes = notes_of(markdown);
    let mut out = MarkdownText { source: markdown, all_notes, ..MarkdownText::default() };
    // Collected over events, because a tag may span lines, and every line is a separate event.
    let mut html: Option<String> = None;
    for (event, range) in Parser::new_ext(markdown, options).into_offset_iter() {
        if let Event::Html(tag) | Event::InlineHtml(tag) = &event {
            out.quote_within(tag, &range);
        }
        match (event, &mut html) {
            (Event::Start(Tag::BlockQuote(_)), _) => out.quote(range),
            (Event::Start(Tag::HtmlBlock), _) => html = Some(String::new()),
            (Event::End(TagEnd::HtmlBlock), Some(all)) => {
                out.push(&without_tags(all), range.start, range.end);
                html = None;
            }
            (Event::Html(words) | Event::Text(words), Some(all)) => all.push_str(&words),
            (Event::Text(words), None) => out.push_words(&words, range),
            (Event::Code(words), None) => out.push(&words, range.start, range.end),
            (Event::InlineHtml(tag), None) => {
                out.push("", range.start, range.end);
                match &*tag.to_ascii_lowercase() {
                    "<sup>" => out.raised = Some((out.text.len(), range.end)),
                    "</sup>" => out.end_raised(range),
                    "<q>" => out.quotations.begin(),
                    "</q>" => out.quotations.end(&mut out.text),
                    _ => {}
                }
            }
            (Event::SoftBreak | Event::HardBreak, None) if out.note.is_some() => {
                out.notes.push(' ');
            }
            (Event::Start(Tag::CodeBlock(_)), None) => out.is_code = true,
            (Event::End(end), None) => {
                out.is_code &= end != TagEnd::CodeBlock;
                out.end(end);
            }
            _ => {}
        }
    }
    out.go_to(markdown.len());
    out.finish()
}

#[derive(Default)]
struct MarkdownText<'a> {
    source: &'a str,
    /// The position in the source.
    at: usize,
    text: String,
    is_code: bool,
    /// The places of all notes in the source, without their brackets.
    all_notes: Vec<Range<usize>>,
    /// The open note.
    note: Option<Range<usize>>,
    /// The notes of the paragraph so far.
    notes: String,
    /// Where a raised text begins, in the text and in the source.
    raised: Option<(usize, usize)>,
    /// The raised numbers of the text.
    numbers: RaisedNumbers,
    /// The open quotations within a line.
    quotations: OpenQuotations,
    /// The places of block quotations in the source.
    block_quotes: Vec<Range<usize>>,
    /// Where the open block quotations in HTML begin in the source.
    open_block_quotes: Vec<usize>,
}

impl MarkdownText<'_> {
    /// Skips markup up to `to`. Keeps line breaks, and a space where markup separated words.
    fn go_to(&mut self, to: usize) {
        let passed = self.source.get(self.at..to).unwrap_or_default();
        let lines = memchr::memchr_iter(b'\n', passed.as_bytes()).count();
        self.text.extend(std::iter::repeat_n('\n', lines));
        let is_apart = passed.ends_with([' ', '\t', '|']) || passed.contains([' ', '|']);
        if lines == 0 && is_apart && !self.text.ends_with([' ', '\n']) && !self.text.is_empty() {
            self.text.push(' ');
        }
        self.at = self.at.max(to);
    }

    /// Adds the text of the source between two places.
    fn push(&mut self, words: &str, start: usize, end: usize) {
        if self.note.as_ref().is_some_and(|note| note.contains(&start)) {
            self.notes.push_str(words);
            return self.pass(end);
        }
        self.go_to(start);
        if let Some(c) = words.trim_start().chars().next() {
            self.quotations.open(&mut self.text, c);
        }
        self.text.push_str(words);
        let passed = self.source.get(self.at..end).unwrap_or_default();
        // A line end in code became a space, and lines within a tag disappeared.
        let lines = |text: &str| memchr::memchr_iter(b'\n', text.as_bytes()).count();
        let lost = lines(passed).saturating_sub(lines(words));
        self.text.extend(std::iter::repeat_n('\n', lost));
        self.at = self.at.max(end);
    }

    /// Goes to a place, and keeps line breaks only.
    fn pass(&mut self, to: usize) {
        let passed = self.source.get(self.at..to).unwrap_or_default();
        let lines = memchr::memchr_iter(b'\n', passed.as_bytes()).count();
        self.text.extend(std::iter::repeat_n('\n', lines));
        self.at = self.at.max(to);
    }

    /// Adds words in which notes may begin and end. The parser divides a text at each bracket.
    fn push_words(&mut self, words: &str, range: Range<usize>) {
        let source = self.source;
        if self.is_code || source.get(range.clone()) != Some(words) {
            return self.push(words, range.start, range.end);
        }
        let mut at = range.start;
        while at < range.end {
            if let Some(note) = self.note.clone() {
                let (start, end) = (at.max(note.start), range.end.min(note.end));
                self.notes.push_str(source.get(start..end).unwrap_or_default());
                self.pass(range.end.min(note.end + 1));
                if range.end <= note.end {
                    return;
                }
                (self.note, at) = (None, note.end + 1);
                continue;
            }
            let note = self.next_note(at).filter(|note| note.start - SIGN.len() < range.end);
            let end = note.as_ref().map_or(range.end, |note| note.start - SIGN.len());
            if end > at {
                self.push_line(at..end);
            }
            let Some(note) = note else { return };
            self.notes.push(' ');
            at = range.end.min(note.start);
            self.pass(at);
            self.note = Some(note);
        }
    }

    /// Returns the first note whose sign is not before a place.
    fn next_note(&self, at: usize) -> Option<Range<usize>> {
        let first = self.all_notes.partition_point(|note| note.start < at + SIGN.len());
        self.all_notes.get(first).cloned()
    }

    /// Ends a raised text. Marks of notes are no text.
    fn end_raised(&mut self, tag: Range<usize>) {
        let Some((start, from)) = self.raised.take() else { return };
        let is_link = self.source.get(from..tag.start).is_some_and(|all| all.contains("]("));
        let (before, text) = self.text.split_at(start.min(self.text.len()));
        let before = last_word(before);
        let after = self.source[tag.end..].chars().next().filter(|c| !c.is_whitespace());
        let mut role = RaisedText { text: text.trim(), is_link, before, after }.role();
        if matches!(role, RaisedRole::Mark(_)) {
            if text.contains('\n') {
                role = RaisedRole::Text;
            } else {
                self.text.truncate(start);
            }
        }
        self.numbers.add(role, start..self.text.len());
    }

    /// Returns whether a number between two carets begins here, as pandoc writes raised numbers:
    /// `word^1^`. Returns the place of the second caret.
    fn raised_number(&self, at: usize) -> Option<usize> {
        let digits = self.source.get(at..)?.strip_prefix('^')?;
        let end = digits.find(|c: char| !c.is_ascii_digit())?;
        (end > 0 && digits[end..].starts_with('^')).then_some(at + 1 + end)
    }

    /// Adds words without notes. Raised numbers may mark notes elsewhere.
    fn push_line(&mut self, range: Range<usize>) {
        let source = self.source;
        let mut at = range.start;
        let carets = source[range.clone()].match_indices('^').map(|(found, _)| range.start + found);
        for caret in carets {
            let second = self.raised_number(caret).filter(|&end| caret >= at && end < range.end);
            if let Some(end) = second {
                self.push(&source[at..caret], at, caret);
                self.raised = Some((self.text.len(), caret + 1));
                self.pass(caret + 1);
                self.push(&source[caret + 1..end], caret + 1, end);
                self.end_raised(end..end + 1);
                self.pass(end + 1);
                at = end + 1;
            }
        }
        if at < range.end {
            self.push(&source[at..range.end], at, range.end);
        }
    }

    /// Ends a block. The notes of a paragraph follow it.
    fn end(&mut self, end: TagEnd) {
        let is_block = matches!(
            end,
            TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item | TagEnd::TableCell
        );
        if is_block {
            self.note = None;
            self.quotations.end_all(&mut self.text);
            self.push_notes();
        }
    }

    /// Adds a block quotation, unless it is a callout.
    fn quote(&mut self, range: Range<usize>) {
        let quoted = self.source.get(range.clone()).unwrap_or_default();
        if !quoted.trim_start_matches(['>', ' ', '\t']).starts_with("[!") {
            self.block_quotes.push(range.start..range.start + quoted.trim_end().len());
        }
    }

    /// Finds block quotations in a piece of HTML, which may have one of their tags only.
    fn quote_within(&mut self, html: &str, range: &Range<usize>) {
        const TAG: &str = "blockquote";
        let html = html.to_ascii_lowercase();
        for (at, _) in html.match_indices(TAG) {
            if html[..at].ends_with('<') {
                self.open_block_quotes.push(range.start + at + TAG.len());
            } else if html[..at].ends_with("</")
                && let Some(start) = self.open_block_quotes.pop()
            {
                self.block_quotes.push(start..range.start + at);
            }
        }
    }

    /// Adds the notes so far, in the line that ended.
    fn push_notes(&mut self) {
        self.text.push_str(&std::mem::take(&mut self.notes).replace('\n', " "));
    }

    /// Returns the text without the numbers of verses, and without the marks of notes after words
    /// that could be units.
    fn finish(mut self) -> String {
        self.push_notes();
        self.numbers.remove_from(&mut self.text, false);
        with_quoted_lines(self.text, self.source, self.block_quotes)
    }
}

/// The sign before a note.
const SIGN: &str = "^[";

/// Returns the places of the notes of a text without their brackets, in order. A note has no empty
/// line. All are found in one pass, because a search for the end of each would read a paragraph of
/// open brackets again for every bracket.
fn notes_of(source: &str) -> Vec<Range<usize>> {
    let bytes = source.as_bytes();
    let (mut notes, mut open, mut last) = (Vec::new(), Vec::new(), b' ');
    if memchr::memmem::find(bytes, SIGN.as_bytes()).is_none() {
        return notes;
    }
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'[' if last != b'\\' => open.push(at),
            b']' if last != b'\\' => {
                let begun = open.pop().filter(|&begun| bytes[..=begun].ends_with(SIGN.as_bytes()));
                notes.extend(begun.map(|begun| begun + 1..at));
            }
            b'\n' if last == b'\n' => open.clear(),
            _ => {}
        }
        // A line of spaces is empty.
        if !(last == b'\n' && matches!(byte, b' ' | b'\t' | b'\r')) {
            last = byte;
        }
    }
    notes.sort_by_key(|note| note.start);
    notes
}

/// Removes tags and comments from HTML, and keeps line breaks.
fn without_tags(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some(open) = rest.find('<') {
        text.push_str(&rest[..open]);
        rest = &rest[open..];
        let end = match rest.starts_with("<!--") {
            true => rest.find("-->").map(|at| at + 3),
            false => rest.find('>').map(|at| at + 1),
        };
        let (tag, after) = rest.split_at(end.unwrap_or(rest.len()));
        text.extend(tag.chars().filter(|&c| c == '\n'));
        rest = after;
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(markdown: &str, expected: &str) {
        assert_eq!(text_of(markdown), expected);
    }

    #[test]
    fn markup_goes_and_words_stay_on_their_lines() {
        check(
            "# One *two*\n\n- [three](http://x.org/y)s\n- f**our**\n",
            "One two\n\nthrees\nfour\n",
        );
        check("a `b c` &amp; \\* d\nfour\n", "a b c & * d\nfour\n");
        check("|a|b|\n|-|-|\n|c d|`e`|\n", "a b\n\nc d e\n");
        check("```rust\nfn f() {}\n```\ntext\n", "\nfn f() {}\n\ntext\n");
        check("one[^1]\n\n[^1]: note\n\n[x]: http://y.org\n", "one\n\nnote\n\n\n");
        check(
            "<p\nalign=x>words <b>he</b>re</p>\n\nand <i>in</i>side\n",
            "\nwords here\n\nand inside\n",
        );
        check("wall<sup>1</sup> of 10<sup>3</sup> m<sup>[2]</sup>.\n", "wall of 103 m.\n");
        check(
            "wall^1^ of 10^3^ m^2^ or x^2 and y^2 z^th^\n",
            "wall of 103 m2 or x^2 and y^2 z^th^\n",
        );
        check("wall^1^ it is to^2^, and gate.^3^\n", "wall it is to, and gate.\n");
        check("wall<sup>1</sup> to<sup>2</sup> gate<sup>3</sup>", "wall to gate");
        check("one^[a^1^ b] `a^1^`", "one a^1^ a^1^ b");
        check(
            "<sup>1</sup>In <sup>2</sup>the <sup>3</sup> end <sup>4</sup>of\n",
            "In the  end of\n",
        );
        check("![alt](pic.png) end", "alt end");
        check("line\\\nbreak  \nhere", "line\nbreak\nhere");
        check("`a\nb` c", "a b\n c");
    }

    #[test]
    fn lines_of_block_quotations_keep_their_marks() {
        check("a\n\n> *b*\nc\n>\n> d\n\ne\n", "a\n\n> b\n> c\n\n> d\n\ne\n");
        check("- > > a\n\n> [!NOTE]\n> b\n", "> a\n\n[!NOTE]\nb\n");
        check("<blockquote>\n\n*a*\n\n</blockquote>\nb\n\nc", "\n\n> a\n\n\nb\n\nc");
        check("<blockquote>\na\n</blockquote>\n", "\n> a\n\n");
        check(
            "a <q>b *c*</q>, <q>\"d\"</q> <q>e\n\nf",
            "a \u{201c}b c\u{201d}, \"d\" \u{201c}e\u{201d}\n\nf",
        );
    }

    #[test]
    fn notes_in_a_sentence_follow_their_paragraph() {
        check(
            "one^[A *note* [of](x) it.] two^[B].\n\nthree\n",
            "one two. A note of it. B\n\nthree\n",
        );
        check("one^[A\nnote.] two\nthree\n\nfour", "one\n two\nthree A note.\n\nfour");
        check("`a^[b]` and\n\n    c^[d]\n", "a^[b] and\n\nc^[d]\n");
        check("one^[two\n\nthree] x^2 [a] ^ [b]\n", "one^[two\n\nthree] x^2 [a] ^ [b]\n");
        check("one^[two ^[three] four", "one^[two  four three");
    }

    /// Returns the place of the closing bracket of a note that begins here.
    fn end_of_note(source: &str, start: usize) -> Option<usize> {
        let (mut open, mut last) = (1, b' ');
        for (at, &byte) in source.as_bytes().iter().enumerate().skip(start) {
            match byte {
                b'[' if last != b'\\' => open += 1,
                b']' if last != b'\\' => open -= 1,
                b'\n' if last == b'\n' => return None,
                _ => {}
            }
            if open == 0 {
                return Some(at);
            }
            if !(last == b'\n' && matches!(byte, b' ' | b'\t' | b'\r')) {
                last = byte;
            }
        }
        None
    }

    proptest! {
        #[test]
        fn notes_are_those_that_a_search_from_each_sign_finds(
            markdown in r"([\^\[\]\\a \n]|\^\[|\n \n){0,40}",
        ) {
            let starts = markdown.match_indices(SIGN).map(|(at, _)| at + SIGN.len());
            let naive = starts.filter_map(|start| Some(start..end_of_note(&markdown, start)?));
            prop_assert_eq!(notes_of(&markdown), naive.collect::<Vec<_>>());
        }

        #[test]
        fn every_line_stays_a_line(markdown in "[a-z*_`#>|<\\[\\]()^\\\\&; \n-]{0,80}") {
            let lines = |text: &str| text.matches('\n').count();
            prop_assert_eq!(lines(&text_of(&markdown)), lines(&markdown), "{:?}", markdown);
        }
    }
}
