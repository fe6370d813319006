//! Makes a text of the rows of all pages.
//!
//! A reader follows a sentence over the end of a column or page, and reads the notes there later.
//! So a note, or a caption in small letters, that cuts a sentence follows the next column that ends
//! with a sentence. Running heads and feet (`running`) follow the text.

use std::collections::{BTreeMap, HashSet};

use super::compound::Compounds;
use super::page::median;
use super::row::PageRow;
use super::running;
use crate::note_mark::{are_verses, bare_mark, counted_marks};

/// The maximum height of small letters, in heights of the letters of the text.
const SMALL: f64 = 0.93;

/// The minimum distance of two paragraphs, in heights of letters.
const PARAGRAPH_GAP: f64 = 1.8;

/// The minimum distance of the first note from the text, in distances of lines.
const NOTES_APART: f64 = 1.15;

/// Returns the text of pages, separated by form feeds.
pub fn text_of(mut pages: Vec<Vec<PageRow>>) -> String {
    let size = size_of_text(&pages);
    let heads = running::take(&mut pages, size);
    drop_counted_marks(&mut pages);
    drop_verses(&mut pages);
    let compounds = Compounds::of(|| pages.iter().flatten().map(|row| &*row.text));
    let columns: Vec<PageColumn<'_>> =
        pages.iter().enumerate().flat_map(|(page, rows)| columns_of(page, rows, size)).collect();
    let marks = pages.iter().flatten().flat_map(|row| &row.marks).map(|mark| bare_mark(mark));
    let mut out = TextFlow::new(&compounds, marks.collect());
    let mut is_cut = false;
    let mut held: Vec<&[PageRow]> = Vec::new();
    let mut next = next_rows(&columns).into_iter();
    for column in &columns {
        out.go_to(column.page);
        match is_cut {
            true => held.push(column.head),
            false => out.push_rows(column.head),
        }
        out.push_rows(column.body);
        held.push(column.foot);
        is_cut = column.is_cut(next.next().flatten(), is_cut);
        if !is_cut {
            held.drain(..).for_each(|rows| out.push_aside(rows));
        }
    }
    held.into_iter().for_each(|rows| out.push_aside(rows));
    out.go_to(pages.len().saturating_sub(1));
    heads.iter().for_each(|head| out.push_apart(head));
    out.finish()
}

/// A vertical run of rows on a page.
struct PageColumn<'p> {
    page: usize,
    /// Small letters at the top.
    head: &'p [PageRow],
    body: &'p [PageRow],
    /// Notes, and small letters at the end.
    foot: &'p [PageRow],
}

impl PageColumn<'_> {
    /// Returns whether a sentence of the column continues in the row `next`. Without text of its
    /// own, a column changes nothing.
    fn is_cut(&self, next: Option<&PageRow>, was_cut: bool) -> bool {
        let Some(next) = next else { return false };
        let Some(last) = self.body.last() else { return was_cut };
        let has_note = self.foot.first().is_some_and(PageRow::begins_note);
        next.text.starts_with(char::is_lowercase) || (has_note && !ends_sentence(&last.text))
    }
}

/// Returns whether a text ends with a sentence.
fn ends_sentence(text: &str) -> bool {
    let is_after = |c: char| ")]\"'\u{201d}\u{2019}\u{bb}".contains(c) || c.is_whitespace();
    let is_end = |c: char| ".!?:;\u{2026}\u{3002}\u{61f}\u{6d4}\u{964}".contains(c);
    text.trim_end_matches(is_after).ends_with(is_end)
}

/// Returns the first row of text after every column.
fn next_rows<'p>(columns: &[PageColumn<'p>]) -> Vec<Option<&'p PageRow>> {
    let mut next = None;
    let before = |column: &PageColumn<'p>| {
        let found = next;
        next = column.body.first().or(next);
        found
    };
    let mut rows: Vec<Option<&PageRow>> = columns.iter().rev().map(before).collect();
    rows.reverse();
    rows
}

/// Returns the columns of a page whose text has letters of this size. Text in other directions,
/// such as a stamp in the margin, is a foot.
fn columns_of(page: usize, rows: &[PageRow], size: f64) -> Vec<PageColumn<'_>> {
    let main = rows.iter().take_while(|row| row.place.direction == 0).count();
    let (main, others) = rows.split_at(main);
    let marks: Vec<&str> =
        main.iter().flat_map(|row| &row.marks).map(|mark| bare_mark(mark)).collect();
    let is_small = |row: &&PageRow| row.size < SMALL * size;
    let column = |rows| {
        let rows: &[PageRow] = rows;
        let end = rows.iter().rev().take_while(is_small).count();
        let end = if end > 0 { rows.len() - end } else { start_of_notes(rows, &marks) };
        // A column in small letters is text.
        let end = if end == 0 { rows.len() } else { end };
        let start = rows[..end].iter().take_while(is_small).count() % end.max(1);
        let (head, body, foot) = (&rows[..start], &rows[start..end], &rows[end..]);
        PageColumn { page, head, body, foot }
    };
    let mut columns: Vec<PageColumn<'_>> =
        main.chunk_by(|a, b| b.line >= a.line).map(column).collect();
    columns.push(PageColumn { page, head: &[], body: &[], foot: others });
    columns
}

/// Returns where the notes at the end of a column begin, if they have letters of the same size as
/// the text. Each begins with one of the marks, raised or after a gap, and only a note follows
/// after a larger gap.
fn start_of_notes(rows: &[PageRow], marks: &[&str]) -> usize {
    let mut steps: Vec<f64> = rows.windows(2).map(|pair| pair[1].line - pair[0].line).collect();
    let step = median(&mut steps).unwrap_or_default();
    let mut start = rows.len();
    for at in (1..rows.len()).rev() {
        let (row, next) = (&rows[at - 1], &rows[at]);
        let is_raised = next.mark.as_ref().is_some_and(|mark| marks.contains(&bare_mark(mark)));
        let is_numbered = marks.contains(&bare_mark(next.first_word()));
        let is_apart = next.line - row.line > NOTES_APART * step;
        if is_raised || (is_numbered && (is_apart || start < rows.len())) {
            start = at;
        } else if is_far((row.line, row.height), next) {
            break;
        }
    }
    start
}

/// Returns whether a row is far below a line with letters of this height, or above the line.
fn is_far((line, height): (f64, f64), next: &PageRow) -> bool {
    let step = next.line - line;
    step > PARAGRAPH_GAP * height.max(next.height) || step < 0.0
}

/// Returns the height of most letters.
fn size_of_text(pages: &[Vec<PageRow>]) -> f64 {
    let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
    for row in pages.iter().flatten() {
        *counts.entry((row.size * 2.0).round() as i64).or_default() += row.text.len();
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map_or(0.0, |(size, _)| size as f64 / 2.0)
}

/// Removes the marks of notes after short words, which continue the count of the other marks.
fn drop_counted_marks(pages: &mut [Vec<PageRow>]) {
    let all = || pages.iter().flatten().flat_map(|row| &row.counted);
    let numbers: Vec<(u32, bool)> = all().map(|(number, at)| (*number, at.is_none())).collect();
    let marks: HashSet<usize> = counted_marks(&numbers).into_iter().collect();
    let mut number = numbers.len();
    for row in pages.iter_mut().flatten().rev() {
        for (_, at) in row.counted.drain(..).rev() {
            number -= 1;
            if let Some(at) = at.filter(|_| marks.contains(&number)) {
                let len = at.len();
                row.text.replace_range(at.clone(), "");
                for (other, _) in row.numbers.iter_mut().filter(|(it, _)| it.start > at.start) {
                    *other = other.start - len..other.end - len;
                }
            }
        }
    }
}

/// Removes the numbers of verses: raised numbers before words that count up.
fn drop_verses(pages: &mut [Vec<PageRow>]) {
    let rows = || pages.iter().flatten();
    let numbers: Vec<u32> =
        rows().flat_map(|row| &row.numbers).map(|(_, number)| *number).collect();
    if !are_verses(&numbers) {
        return;
    }
    for row in pages.iter_mut().flatten() {
        for (at, _) in row.numbers.drain(..).rev() {
            if at.start == 0 {
                row.mark = None;
            }
            row.text.replace_range(at, "");
        }
    }
}

/// The text of the pages so far.
struct TextFlow<'c> {
    compounds: &'c Compounds,
    /// The marks of notes in the document.
    marks: HashSet<&'c str>,
    text: String,
    page: usize,
    /// The number of pages that ended since the last row.
    breaks: usize,
    /// The line and height of the last row.
    last: Option<(f64, f64)>,
}

impl<'c> TextFlow<'c> {
    fn new(compounds: &'c Compounds, marks: HashSet<&'c str>) -> TextFlow<'c> {
        TextFlow { compounds, marks, text: String::new(), page: 0, breaks: 0, last: None }
    }

    fn go_to(&mut self, page: usize) {
        self.breaks += page - self.page;
        self.page = page;
    }

    fn push_rows(&mut self, rows: &[PageRow]) {
        for row in rows {
            self.push(row, &row.text);
        }
    }

    /// Adds a row. If the last word continues in the row, the whole word stays on its first page.
    fn push(&mut self, row: &PageRow, text: &str) {
        let mut text = text;
        if let Some((len, hyphen)) = self.compounds.begun(&self.text, text) {
            self.text.truncate(len);
            self.text.push_str(hyphen);
            if self.breaks > 0 {
                let word = text.find(char::is_whitespace).unwrap_or(text.len());
                self.text.push_str(&text[..word]);
                text = &text[word..];
                self.separate("\n");
            }
        } else {
            let is_far = self.last.is_none_or(|last| is_far(last, row));
            self.separate(if is_far && self.breaks == 0 { "\n\n" } else { "\n" });
        }
        self.text.push_str(text);
        self.last = Some((row.line, row.height));
    }

    /// Ends the last line, and the pages that ended.
    fn separate(&mut self, by: &str) {
        if !self.text.is_empty() && !self.text.ends_with(['\n', '\u{c}']) {
            self.text.push_str(by);
        }
        self.text.extend(std::iter::repeat_n('\u{c}', std::mem::take(&mut self.breaks)));
    }

    /// Adds notes and captions, without the marks of the notes.
    fn push_aside(&mut self, rows: &[PageRow]) {
        let Some((first, rest)) = rows.split_first() else { return };
        self.push_apart(first.text_of_note(&self.marks));
        self.last = Some((first.line, first.height));
        for row in rest {
            self.push(row, row.text_of_note(&self.marks));
        }
        self.last = None;
    }

    /// Adds a text after an empty line.
    fn push_apart(&mut self, text: &str) {
        self.separate("\n\n");
        self.text.push_str(text);
        self.last = None;
    }

    fn finish(mut self) -> String {
        self.separate("\n");
        self.text
    }
}
