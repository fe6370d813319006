//! Collection of text from elements.

use super::Rule;
use crate::broken_word;
use crate::extracted::ExtractedText;

/// The separator before the next character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum CharacterGap {
    #[default]
    Nothing,
    Space,
    Line,
    /// The end of a line of a printed page, where a word may go on.
    PrintedLine,
    Block,
    Page,
    /// No separator, and white space after it is dropped, because a word continues.
    Glue,
}

#[derive(Debug, Default)]
struct Buffer {
    text: String,
    gap: CharacterGap,
    /// The number of page ends since the last character. More than 1 means empty pages.
    pages: usize,
}

/// Collects a text. White space collapses to a single space, lines have no trailing spaces, and an
/// empty line separates paragraphs.
#[derive(Debug, Default)]
pub struct Out {
    text: Buffer,
    /// Parts that have begun and are not yet taken, innermost last.
    parts: Vec<Buffer>,
    /// Notes and other texts that follow the main text.
    asides: Vec<String>,
    /// The number of characters that a reader does not see.
    pub hidden: usize,
    /// A defect that does not end the text, as a clause.
    pub defect: Option<String>,
}

impl Out {
    fn buffer(&mut self) -> &mut Buffer {
        self.parts.last_mut().unwrap_or(&mut self.text)
    }

    /// Appends text and collapses white space.
    pub fn push(&mut self, text: &str) {
        let Buffer { text: written, gap, pages } = self.buffer();
        for (at, c) in text.char_indices() {
            if c.is_whitespace() {
                *gap = if *gap == CharacterGap::Glue {
                    CharacterGap::Glue
                } else {
                    (*gap).max(CharacterGap::Space)
                };
                continue;
            }
            let gap = std::mem::take(gap);
            let pages = std::mem::take(pages);
            if gap == CharacterGap::PrintedLine
                && let Some(begun) = broken_word::begun_in_print(written, &text[at..])
            {
                written.truncate(begun.len());
                written.push(c);
                continue;
            }
            let separator = match gap {
                CharacterGap::Page => "\u{c}",
                _ if written.is_empty() => "",
                CharacterGap::Nothing | CharacterGap::Glue => "",
                CharacterGap::Space => " ",
                CharacterGap::Line | CharacterGap::PrintedLine => "\n",
                CharacterGap::Block => "\n\n",
            };
            let times = if gap == CharacterGap::Page { pages } else { 1 };
            written.extend(std::iter::repeat_n(separator, times));
            written.push(c);
        }
    }

    /// Whether a part is begun.
    pub fn is_in_part(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Adds text if a part is begun.
    pub fn push_to_part(&mut self, text: &str) {
        if self.is_in_part() {
            self.push(text);
        }
    }

    fn separate(&mut self, by: CharacterGap) {
        let gap = &mut self.buffer().gap;
        let is_glued = *gap == CharacterGap::Glue && by <= CharacterGap::PrintedLine;
        *gap = match *gap {
            CharacterGap::Glue if is_glued => CharacterGap::Glue,
            CharacterGap::Glue => by,
            gap => gap.max(by),
        };
    }

    /// Ensures white space between words.
    pub fn space(&mut self) {
        self.separate(CharacterGap::Space);
    }

    /// Ends the current line.
    pub fn line(&mut self) {
        self.separate(CharacterGap::Line);
    }

    /// Ends a line of a printed page. A hyphenated word continues on the next line.
    pub fn printed_line(&mut self) {
        self.separate(CharacterGap::PrintedLine);
    }

    /// Ends the current paragraph.
    pub fn block(&mut self) {
        self.separate(CharacterGap::Block);
    }

    /// Ends the current page.
    pub fn page(&mut self) {
        self.buffer().pages += 1;
        self.separate(CharacterGap::Page);
    }

    /// Removes the hyphen at the end of the text, and joins the next word.
    pub fn join(&mut self) {
        let Buffer { text, gap, .. } = self.buffer();
        // The hyphens of early prints, of word processors, of Transkribus.
        let end =
            text.trim_end_matches(['-', '\u{2010}', '\u{ad}', '\u{ac}', '=', '\u{2e17}']).len();
        text.truncate(end);
        *gap = CharacterGap::Glue;
    }

    /// Appends finished text with its paragraphs and lines.
    pub fn push_paragraphs(&mut self, text: &str) {
        for paragraph in text.split("\n\n") {
            self.block();
            for line in paragraph.lines() {
                self.line();
                self.push(line);
            }
        }
        self.block();
    }

    /// Counts characters of invisible text, which is not added.
    pub fn hide(&mut self, text: &str) {
        self.hidden += text.chars().filter(|c| !c.is_whitespace()).count();
    }

    /// Begins a part, which [`take`](Self::take) returns separately.
    pub fn begin(&mut self) {
        self.parts.push(Buffer::default());
    }

    /// Takes the part begun last.
    pub fn take(&mut self) -> String {
        self.parts.pop().map(|buffer| buffer.text).unwrap_or_default()
    }

    /// Appends a note, which follows the main text.
    pub fn aside(&mut self, text: String) {
        if !text.is_empty() {
            self.asides.push(text);
        }
    }

    pub(super) fn enter(&mut self, rule: Rule) {
        match rule {
            Rule::Inline | Rule::Skip => {}
            Rule::Line => self.line(),
            Rule::Block => self.block(),
            Rule::Aside => self.begin(),
        }
    }

    pub(super) fn leave(&mut self, rule: Rule) {
        match rule {
            Rule::Inline | Rule::Skip => {}
            Rule::Line => self.line(),
            Rule::Block => self.block(),
            Rule::Aside => {
                let text = self.take();
                self.aside(text);
            }
        }
    }

    /// Returns the text. `missing` describes lost parts of the file.
    pub fn finish(mut self, missing: Option<String>) -> ExtractedText {
        // Damage may have left parts open.
        while !self.parts.is_empty() {
            let text = self.take();
            self.aside(text);
        }
        let mut text = self.text.text;
        for aside in self.asides {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(&aside);
        }
        ExtractedText { text, missing: missing.or(self.defect), hidden: self.hidden }
    }
}
