//! Numbers of lines in the margins of a page, and between its columns.
//!
//! Numbers of lines stand below each other where the page has nothing else, and count its rows:
//! from one number to the next, there are as many rows as the difference of the numbers. Numbers of
//! a list count its items, which may have several rows, and stand where other lines begin. Numbers
//! in a table are beside cells, not beside lines of text.

use std::collections::BTreeMap;
use std::ops::Range;

use super::segment::{LineSegment, Spot, WORD_GAP};

/// The maximum number of digits. Longer numbers count no lines.
const DIGITS_MAX: usize = 5;

/// The minimum of aligned numbers that count every row. A list of items may have as many rows, so
/// the minimum is higher than for numbers that skip rows, which a list never does.
const NUMBERS_MIN: usize = 4;
const NUMBERS_APART_MIN: usize = 2;

/// The minimum share (1/3) of the rows of a page between the first and the last number.
const ROWS_SHARE: usize = 3;

/// The maximum horizontal distance of aligned places, in heights of letters.
const ALIGNED: f64 = 0.25;

/// The minimum mean width of text beside numbers, if there are several texts in a row, in heights
/// of letters. Narrower texts are cells of a table.
const TEXT_WIDTH_MIN: f64 = 10.0;

/// The margins where earlier pages had line numbers. Fewer numbers are enough on later pages.
#[derive(Default)]
pub struct Margins {
    spans: Vec<Range<f64>>,
    /// The number of rows of the pages so far.
    rows: usize,
}

/// A number that may be the number of a line.
#[derive(Clone)]
struct LineNumber {
    value: u32,
    /// The places of the row, and of the segment in the row.
    row: usize,
    segment: usize,
    /// The letters of the number in the segment.
    letters: Range<usize>,
    start: f64,
    end: f64,
    size: f64,
}

impl Margins {
    /// Removes the numbers of lines from the rows of a page.
    pub fn take_numbers(&mut self, rows: &mut Vec<Vec<LineSegment<'_>>>) {
        let all = numbers_of(rows);
        let mut taken: BTreeMap<NumberPlace, LineNumber> = BTreeMap::new();
        let places: [fn(&LineNumber) -> f64; 3] =
            [|it| it.end, |it| it.start, |it| (it.start + it.end) / 2.0];
        for place in places {
            let columns = aligned(&all, place);
            for column in columns.iter().flat_map(|it| it.chunk_by(|a, b| a.value < b.value)) {
                let is_new = column.iter().all(|number| !taken.contains_key(&number.place()));
                if is_new && self.are_of_lines(column, &all, rows) {
                    self.add(span_of(column));
                    taken.extend(column.iter().map(|number| (number.place(), number.clone())));
                }
            }
        }
        self.rows += rows.len();
        // From the end, so that the remaining places stay valid.
        for LineNumber { row, segment, letters, .. } in taken.into_values().rev() {
            let line = &mut rows[row];
            line[segment].letters.drain(letters);
            line[segment].trim();
            if line[segment].letters.is_empty() {
                line.remove(segment);
            }
        }
        rows.retain(|row| !row.is_empty());
    }

    fn add(&mut self, span: Range<f64>) {
        if !self.has(&span) {
            self.spans.push(span);
        }
    }

    fn has(&self, span: &Range<f64>) -> bool {
        self.spans.iter().any(|it| it.start < span.end && span.start < it.end)
    }

    /// Returns whether a column of numbers counts the rows of the page, and has its place for
    /// itself. A head or foot may extend over numbers between two columns, or over the place where
    /// the pages before had numbers.
    fn are_of_lines(
        &self,
        column: &[LineNumber],
        all: &[LineNumber],
        rows: &[Vec<LineSegment<'_>>],
    ) -> bool {
        let is_known = self.has(&span_of(column));
        let steps = column.windows(2).map(|pair| step_of(&pair[0], &pair[1], rows));
        let steps: Vec<(usize, usize)> = steps.collect();
        let counting = steps.iter().filter(|(by, rows)| by == rows).count();
        let is_apart = steps.iter().all(|(by, _)| *by > 1);
        let min = match (is_known, is_apart) {
            (true, _) => 1,
            (false, true) => NUMBERS_APART_MIN,
            (false, false) => NUMBERS_MIN,
        };
        // Headings and formulas may be rows without a number.
        if column.len() < min || counting * 3 < (column.len() - 1) * 2 {
            return false;
        }
        // Numbers of every row count from the first, and most rows of the page have them.
        let counted: usize = steps.iter().map(|(_, rows)| rows).sum();
        let is_long = is_known || (counted + 1) * ROWS_SHARE >= rows.len();
        let is_from_first = column[0].value as usize <= self.rows + column[0].row + 1;
        if !is_long || !(is_from_first || (is_apart && column.len() > 1)) {
            return false;
        }
        let around = Surroundings::of(column, all, rows);
        let may_have_head = is_known || around.is_between;
        around.has_lines() && (around.is_alone || (may_have_head && around.is_alone_within))
    }
}

/// The row, the segment in the row, and the first letter in the segment.
type NumberPlace = (usize, usize, usize);

impl LineNumber {
    fn place(&self) -> NumberPlace {
        (self.row, self.segment, self.letters.start)
    }
}

fn span_of(column: &[LineNumber]) -> Range<f64> {
    let start = column.iter().map(|it| it.start).fold(f64::INFINITY, f64::min);
    let end = column.iter().map(|it| it.end).fold(f64::NEG_INFINITY, f64::max);
    start..end
}

/// Returns by how much the second number is greater, and by how many rows of text it is below.
fn step_of(
    first: &LineNumber,
    second: &LineNumber,
    rows: &[Vec<LineSegment<'_>>],
) -> (usize, usize) {
    let by = second.value.saturating_sub(first.value) as usize;
    // A number may be on a separate row, above or below the numbered line.
    let is_text = |it: &LineSegment<'_>| {
        number_at(it, true).is_none_or(|(letters, _)| letters.len() < it.letters.len())
    };
    let has_text = |row: &&Vec<LineSegment<'_>>| row.iter().any(is_text);
    let between = rows[first.row + 1..=second.row].iter().filter(has_text).count();
    (by, between)
}

/// Returns the numbers of a page at the beginnings and ends of segments, from the top.
fn numbers_of(rows: &[Vec<LineSegment<'_>>]) -> Vec<LineNumber> {
    let mut found = Vec::new();
    for (row, line) in rows.iter().enumerate() {
        for (segment, of) in line.iter().enumerate() {
            let both = [number_at(of, true), number_at(of, false)];
            let [first, last] = both;
            let last = last.filter(|last| first.as_ref().is_none_or(|first| first.0 != last.0));
            for (letters, value) in [first, last].into_iter().flatten() {
                let spots = &of.letters[letters.clone()];
                let (start, end) = (spots[0].start, spots[spots.len() - 1].end);
                let size = spots[0].letter.size;
                found.push(LineNumber { value, row, segment, letters, start, end, size });
            }
        }
    }
    found
}

/// Returns the number at the beginning or at the end of a segment, apart from the words.
fn number_at(segment: &LineSegment<'_>, is_at_start: bool) -> Option<(Range<usize>, u32)> {
    let letters = &segment.letters;
    let is_digit = |spot: &&Spot<'_>| {
        let text = &*spot.letter.text;
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let at = match is_at_start {
        true => 0..letters.iter().take_while(is_digit).count(),
        false => letters.len() - letters.iter().rev().take_while(is_digit).count()..letters.len(),
    };
    let beside = match is_at_start {
        true => letters.get(at.end).zip(letters[..at.end].last()),
        false => letters[at.start..].first().zip(letters[..at.start].last()),
    };
    let is_apart = beside.is_none_or(|(next, last)| {
        let gap = WORD_GAP * next.letter.size;
        [next, last].iter().any(|spot| spot.letter.is_space()) || next.start - last.end > gap
    });
    let digits: String = letters[at.clone()].iter().map(|spot| &*spot.letter.text).collect();
    let is_number = is_apart && !digits.is_empty() && digits.len() <= DIGITS_MAX;
    Some(at).filter(|_| is_number).zip(digits.parse().ok())
}

/// Returns the groups of numbers whose `place` is the same, each from the top.
fn aligned(all: &[LineNumber], place: fn(&LineNumber) -> f64) -> Vec<Vec<LineNumber>> {
    let mut sorted: Vec<&LineNumber> = all.iter().collect();
    sorted.sort_by(|a, b| place(a).total_cmp(&place(b)));
    let mut columns: Vec<Vec<LineNumber>> = Vec::new();
    for number in sorted {
        match columns.last_mut() {
            Some(column) if place(number) - place(&column[0]) < ALIGNED * number.size => {
                column.push(number.clone());
            }
            _ => columns.push(vec![number.clone()]),
        }
    }
    columns.iter_mut().for_each(|column| column.sort_by_key(|number| number.row));
    columns
}

/// The text around the numbers of a column.
struct Surroundings {
    /// Nothing else is above, below or between the numbers.
    is_alone: bool,
    /// Most numbers have text on both sides.
    is_between: bool,
    /// Nothing else is between the first and the last number.
    is_alone_within: bool,
    /// The widths of the texts beside every number, in heights of letters.
    beside: Vec<Vec<f64>>,
}

impl Surroundings {
    fn of(
        column: &[LineNumber],
        all: &[LineNumber],
        rows: &[Vec<LineSegment<'_>>],
    ) -> Surroundings {
        let Range { start, end } = span_of(column);
        let within = column[0].row..=column[column.len() - 1].row;
        let (mut is_alone, mut is_alone_within, mut between) = (true, true, 0);
        let mut beside = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            let own = in_row(column, at);
            let texts = texts_of(row, in_row(all, at), own);
            let is_over = texts.iter().any(|(text, _)| text.start < end && start < text.end);
            is_alone &= !is_over;
            is_alone_within &= !is_over || !within.contains(&at);
            if !own.is_empty() && !texts.is_empty() {
                let is_left = texts.iter().any(|(text, _)| text.end <= start);
                let is_right = texts.iter().any(|(text, _)| text.start >= end);
                between += usize::from(is_left && is_right);
                let width = |(text, size): &(Range<f64>, f64)| (text.end - text.start) / size;
                beside.push(texts.iter().map(width).collect());
            }
        }
        let is_between = between * 2 > column.len();
        Surroundings { is_alone, is_between, is_alone_within, beside }
    }

    /// Returns whether the numbers are beside lines of text, and not beside cells of a table.
    fn has_lines(&self) -> bool {
        let texts: usize = self.beside.iter().map(Vec::len).sum();
        let width: f64 = self.beside.iter().flatten().sum();
        let has_one = texts * 2 <= self.beside.len() * 3;
        texts > 0 && (has_one || width >= TEXT_WIDTH_MIN * texts as f64)
    }
}

/// Returns the numbers of a row among numbers in the order of rows.
fn in_row(numbers: &[LineNumber], row: usize) -> &[LineNumber] {
    let start = numbers.partition_point(|it| it.row < row);
    let end = numbers.partition_point(|it| it.row <= row);
    &numbers[start..end]
}

/// Returns the extents and heights of the texts in a row. Ignores the column's `own` numbers, and
/// numbers that stand alone, because a second margin may contain lone numbers.
fn texts_of(
    row: &[LineSegment<'_>],
    numbers: &[LineNumber],
    own: &[LineNumber],
) -> Vec<(Range<f64>, f64)> {
    let mut texts = Vec::new();
    for (segment, of) in row.iter().enumerate() {
        let is_here = |it: &&LineNumber| it.segment == segment;
        if numbers.iter().filter(is_here).any(|it| it.letters.len() == of.letters.len()) {
            continue;
        }
        let own = own.iter().find(is_here).map_or(0..0, |it| it.letters.clone());
        let rest = of.letters.iter().enumerate();
        let rest = rest.filter(|(at, spot)| !spot.letter.is_space() && !own.contains(at));
        let (start, end) = rest
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(start, end), (_, it)| {
                (start.min(it.start), end.max(it.end))
            });
        if start < end {
            texts.push((start..end, of.size));
        }
    }
    texts
}
