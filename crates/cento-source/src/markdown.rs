//! Text of Markdown.
//!
//! Markup, addresses and HTML tags are removed. Every line stays at its place, so that line numbers
//! of passages are line numbers of the file.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::SourceOptions;
use crate::format::{FileFormat, Markup, TextOf};
use crate::html::Html;

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
    let mut out = MarkdownText { source: markdown, at: 0, text: String::new() };
    // Collected over events, because a tag may span lines, which arrive one by one.
    let mut html: Option<String> = None;
    for (event, range) in Parser::new_ext(markdown, options).into_offset_iter() {
        match (event, &mut html) {
            (Event::Start(Tag::HtmlBlock), _) => html = Some(String::new()),
            (Event::End(TagEnd::HtmlBlock), Some(all)) => {
                out.push(&without_tags(all), range.start, range.end);
                html = None;
            }
            (Event::Html(words) | Event::Text(words), Some(all)) => all.push_str(&words),
            (Event::Text(words) | Event::Code(words), None) => {
                out.push(&words, range.start, range.end);
            }
            (Event::InlineHtml(_), None) => out.push("", range.start, range.end),
            _ => {}
        }
    }
    out.go_to(markdown.len());
    out.text
}

struct MarkdownText<'a> {
    source: &'a str,
    /// The position in the source.
    at: usize,
    text: String,
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
        self.go_to(start);
        self.text.push_str(words);
        let passed = self.source.get(self.at..end).unwrap_or_default();
        // A line end in code became a space, and lines within a tag disappeared.
        let lines = |text: &str| memchr::memchr_iter(b'\n', text.as_bytes()).count();
        let lost = lines(passed).saturating_sub(lines(words));
        self.text.extend(std::iter::repeat_n('\n', lost));
        self.at = self.at.max(end);
    }
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
        check("![alt](pic.png) end", "alt end");
        check("line\\\nbreak  \nhere", "line\nbreak\nhere");
        check("`a\nb` c", "a b\n c");
    }

    proptest! {
        #[test]
        fn every_line_stays_a_line(markdown in "[a-z*_`#>|<\\[\\]()\\\\&; \n-]{0,80}") {
            let lines = |text: &str| text.matches('\n').count();
            prop_assert_eq!(lines(&text_of(&markdown)), lines(&markdown), "{:?}", markdown);
        }
    }
}
