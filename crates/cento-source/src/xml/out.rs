//! Collection of text from elements.

use super::Rule;
use crate::broken_word;
use crate::extracted::ExtractedText;
use crate::note_mark::{
    RaisedNumbers, RaisedRole, RaisedText, is_citation, is_close, is_signs, is_word_apart,
};
use crate::quoted::{self, OpenQuotations};
use cento::text::is_bibliography_heading;

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
    /// The separator before the end of a paragraph that the next paragraph continues.
    continued: Option<CharacterGap>,
    /// Whether a page or column ends here, which separates no words, but may break a word.
    is_page_break: bool,
    /// The number of page ends since the last character. More than 1 means empty pages.
    pages: usize,
    /// Whether a printed line ends here, perhaps together with its column or page.
    is_print: bool,
    /// The separator within a joined word, which follows the word, and its number of page ends.
    owed: Option<(CharacterGap, usize)>,
    /// A raised text at the end. The following text decides whether this is the mark of a note.
    raised: Option<PendingMark>,
    /// The raised numbers of the text.
    numbers: RaisedNumbers,
    /// The number of open block quotations.
    blocks_quoted: usize,
    /// The open quotations in the line.
    quotations: OpenQuotations,
}

/// The form of a text that may mark a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MarkForm {
    /// A citation in the line, which is a mark in brackets or at the end of a word.
    Citation,
    /// Above the line.
    Raised,
    /// A link above the line, or a text that is declared as a mark.
    Link,
}

#[derive(Debug)]
struct PendingMark {
    text: String,
    form: MarkForm,
}

/// Returns the close bracket of an open bracket.
fn close_of(open: char) -> Option<char> {
    match open {
        '[' => Some(']'),
        '(' => Some(')'),
        _ => None,
    }
}

impl Buffer {
    /// Decides whether a raised text is a mark, now that the following text is known. Returns what
    /// remains of the following text.
    fn settle<'a>(&mut self, next: &'a str) -> &'a str {
        let Some(mut mark) = self.raised.take() else { return next };
        if mark.form == MarkForm::Citation {
            let text = mark.text.trim();
            if !is_citation(text) && !is_signs(text) {
                self.write(&mark.text);
                return next;
            }
            if self.bracket().is_some() {
                return self.settle_citation(mark, next);
            }
            // Without brackets, a mark is at the end of a word of any length.
            let is_end = |c: char| c.is_alphabetic() || is_close(c);
            let is_glued = self.gap == CharacterGap::Nothing && self.text.ends_with(is_end);
            let is_in_brackets = text.starts_with(['[', '(']) && text.ends_with([']', ')']);
            if !is_glued && !is_in_brackets {
                self.write(&mark.text);
                return next;
            }
            mark.form = MarkForm::Link;
        }
        let text = mark.text.trim();
        let is_glued = matches!(self.gap, CharacterGap::Nothing | CharacterGap::Glue)
            && !mark.text.starts_with(char::is_whitespace);
        let before = if is_glued { self.text.as_str() } else { "" };
        let after = next.chars().next().filter(|c| !c.is_whitespace());
        let is_apart = mark.text.ends_with(char::is_whitespace);
        let is_link = mark.form == MarkForm::Link;
        let raised = RaisedText { text, is_link, before, after };
        let role = match raised.verse() {
            Some(number) => RaisedRole::Verse(number),
            None => RaisedText { after: after.filter(|_| !is_apart), ..raised }.role(),
        };
        if matches!(role, RaisedRole::Mark(_)) {
            self.numbers.add(role, self.text.len()..self.text.len());
            if is_apart || is_word_apart(after) {
                self.gap = self.gap.max(CharacterGap::Space);
            }
            return next;
        }
        let len = text.len();
        let trailing = mark.text.split_off(mark.text.trim_end().len());
        self.write(&mark.text);
        let end = self.text.len();
        self.numbers.add(role, end.saturating_sub(len)..end);
        self.write(&trailing);
        next
    }

    /// Returns the bracket at the end of the text, if text is before it in the line.
    fn bracket(&self) -> Option<char> {
        let open = self.text.chars().next_back().filter(|&c| close_of(c).is_some())?;
        let line = &self.text[..self.text.len() - open.len_utf8()];
        let line = line.strip_suffix(quoted::LINE).unwrap_or(line).trim_end_matches(' ');
        let is_in_line = self.gap <= CharacterGap::Space && !line.is_empty();
        (is_in_line && !line.ends_with(['\n', '\u{c}'])).then_some(open)
    }

    /// Drops citations in brackets when the bracket closes: `[1]`, `[1, 2]`.
    fn settle_citation<'a>(&mut self, mut mark: PendingMark, next: &'a str) -> &'a str {
        let close = self.bracket().and_then(close_of);
        let end = next.find(|c| Some(c) == close);
        let between = &next[..end.unwrap_or(next.len())];
        let is_between =
            |c: char| c.is_ascii_digit() || c.is_whitespace() || ",;-\u{2013}".contains(c);
        let is_list = !next.is_empty() && between.chars().all(is_between);
        match end.filter(|_| is_list) {
            Some(end) => {
                self.text.pop();
                self.text.truncate(self.text.trim_end_matches(' ').len());
                let rest = &next[end + 1..];
                let is_sign = rest.starts_with(|c: char| !c.is_alphanumeric());
                self.gap = if is_sign { CharacterGap::Nothing } else { CharacterGap::Space };
                rest
            }
            None if is_list => {
                mark.text.push_str(between);
                self.raised = Some(mark);
                ""
            }
            None => {
                self.write(&mark.text);
                next
            }
        }
    }

    /// Appends text and collapses white space.
    fn write(&mut self, text: &str) {
        let Buffer { text: written, gap, continued, is_page_break, pages, is_print, owed, .. } =
            self;
        let (is_quoted, quotations) = (self.blocks_quoted > 0, &mut self.quotations);
        if let Some(before) = continued.take_if(|_| !text.is_empty()) {
            *gap = before;
        }
        for (at, c) in text.char_indices() {
            if c.is_whitespace() {
                let (after, ends) = owed.take().unwrap_or((CharacterGap::Space, 0));
                *pages += ends;
                *gap =
                    if *gap == CharacterGap::Glue { CharacterGap::Glue } else { (*gap).max(after) };
                continue;
            }
            let gap = std::mem::take(gap);
            let pages = std::mem::take(pages);
            let may_break = std::mem::take(is_page_break) && gap <= CharacterGap::Space;
            let may_go_on = std::mem::take(is_print) && gap >= CharacterGap::PrintedLine;
            let is_divided = gap == CharacterGap::Space && written.ends_with('\u{ad}');
            if (may_break || is_divided || (may_go_on && gap != CharacterGap::Glue))
                && let Some(begun) = broken_word::begun_in_print(written, &text[at..])
            {
                written.truncate(begun.len());
                written.push(c);
                *owed = Some((gap, pages)).filter(|_| gap >= CharacterGap::Block);
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
            let begins_line = written.is_empty() || separator.ends_with(['\n', '\u{c}']);
            written.extend(std::iter::repeat_n(separator, times));
            if is_quoted && begins_line {
                written.push_str(quoted::LINE);
            }
            quotations.open(written, c);
            written.push(c);
        }
    }

    /// Ends a quotation in the line.
    fn end_quotation(&mut self) {
        if let Some(mark) = self.quotations.closing_mark() {
            self.settle(mark.encode_utf8(&mut [0; 4]));
        }
        self.quotations.end(&mut self.text);
    }

    /// Returns the finished text.
    fn finish(mut self) -> String {
        self.settle("");
        self.numbers.remove_from(&mut self.text, true);
        self.text
    }
}

/// Collects a text. White space collapses to a single space, lines have no trailing spaces, and an
/// empty line separates paragraphs.
#[derive(Debug, Default)]
pub struct Out {
    text: Buffer,
    /// Parts that have begun and are not yet taken, innermost last.
    parts: Vec<Buffer>,
    /// Notes and similar texts that follow the main text.
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
        if text.is_empty() {
            return;
        }
        let buffer = self.buffer();
        let rest = buffer.settle(text);
        buffer.write(rest);
    }

    /// Appends a text that may mark a note. A mark is left out.
    pub fn mark(&mut self, text: &str, form: MarkForm) {
        let buffer = self.buffer();
        match &mut buffer.raised {
            Some(mark) => {
                mark.text.push_str(text);
                mark.form = mark.form.max(form);
            }
            None if text.trim().is_empty() => buffer.write(text),
            None => buffer.raised = Some(PendingMark { text: text.to_owned(), form }),
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
        let buffer = self.buffer();
        buffer.settle("");
        if by >= CharacterGap::Block {
            buffer.quotations.pause(&mut buffer.text);
        }
        buffer.is_print |= by == CharacterGap::PrintedLine;
        let (owed, pages) = buffer.owed.take().unwrap_or_default();
        buffer.pages += pages;
        let by = by.max(owed);
        let gap = &mut buffer.gap;
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

    /// Ends a line of a printed page. A hyphenated word continues on the next line, or in the next
    /// column or page.
    pub fn printed_line(&mut self) {
        self.separate(CharacterGap::PrintedLine);
    }

    /// Continues the paragraph in the next one.
    pub fn continue_paragraph(&mut self) {
        let buffer = self.buffer();
        buffer.settle("");
        buffer.continued = Some(buffer.gap);
    }

    /// Ends a page or column within a line of text. A hyphenated word continues on the next page.
    pub fn page_break(&mut self) {
        let buffer = self.buffer();
        buffer.settle("");
        buffer.is_page_break = true;
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
        let buffer = self.buffer();
        buffer.settle("");
        let Buffer { text, gap, .. } = buffer;
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

    /// Says whether the following lines are quoted, in formats that say so for each paragraph.
    pub fn quote_lines(&mut self, are_quoted: bool) {
        self.buffer().blocks_quoted = usize::from(are_quoted);
    }

    /// Begins a bibliography without a heading. A bibliography is recognized by the heading, so
    /// this writes one, unless the text before is one.
    pub fn begin_bibliography(&mut self) {
        self.block();
        let last = self.buffer().text.rsplit('\n').next();
        if !last.is_some_and(is_bibliography_heading) {
            self.push(quoted::BIBLIOGRAPHY);
            self.block();
        }
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
        self.parts.pop().map(Buffer::finish).unwrap_or_default()
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
            Rule::Quoted => self.buffer().quotations.begin(),
            Rule::BlockQuote => {
                self.block();
                self.buffer().blocks_quoted += 1;
            }
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
            Rule::Quoted => self.buffer().end_quotation(),
            Rule::BlockQuote => {
                self.block();
                let buffer = self.buffer();
                buffer.blocks_quoted = buffer.blocks_quoted.saturating_sub(1);
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
        let mut text = self.text.finish();
        for aside in self.asides {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(&aside);
        }
        ExtractedText { text, missing: missing.or(self.defect), hidden: self.hidden }
    }
}
