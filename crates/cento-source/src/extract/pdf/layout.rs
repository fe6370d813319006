//! Puts the letters of a page into reading order.
//!
//! Line segments (`segment`) above each other become columns. Where a gap runs through six lines,
//! the text to the left of the gap is read first. The most frequent direction of text comes first,
//! followed by text in other directions. `margin` removes the numbers of lines before, and `flow`
//! makes a text of the rows of all pages.

use std::collections::BTreeMap;

use hayro_interpret::kurbo::Vec2;

use super::margin::Margins;
use super::page::Letter;
use super::row::{self, PageRow, RowPlace};
use super::segment::{LineSegment, Spot, fragments, rows, segments_of_row};

/// Maximum nesting of columns.
const DEPTH_MAX: usize = 4;

/// Minimum number of lines of two columns.
const COLUMN_LINES: usize = 6;

/// The minimum mean width of the segments of a column, in heights of letters. Narrower columns are
/// labels or numbers.
const COLUMN_WIDTH: f64 = 5.0;

/// The minimum mean width of the segments of a narrow column of running text, as a fraction of the
/// column and in words. A line of such text takes as many words as fit, and most begin within a
/// sentence. The cells of a table begin with capitals or numbers, or have any length.
const RUNNING_FILL: f64 = 0.7;
const RUNNING_WORDS: f64 = 1.5;

/// The minimum gap between columns, in heights of letters.
const COLUMN_GAP: f64 = 0.8;

/// Returns the rows of a page in reading order, without the numbers of lines in the margins.
pub fn rows_of<'a>(
    letters: impl Iterator<Item = &'a Letter>,
    margins: &mut Margins,
) -> Vec<PageRow> {
    let mut directions: BTreeMap<i64, Vec<&Letter>> = BTreeMap::new();
    for letter in letters {
        // Directions are rounded to five degrees, because scans may be slightly rotated.
        let step = (letter.along.atan2().to_degrees() / 5.0).round() as i64;
        directions.entry(step.rem_euclid(72)).or_default().push(letter);
    }
    let mut directions: Vec<(i64, Vec<&Letter>)> = directions.into_iter().collect();
    directions.sort_by_key(|(_, letters)| std::cmp::Reverse(letters.len()));
    let mut read_rows = Vec::new();
    for (number, (step, letters)) in directions.into_iter().enumerate() {
        let along = Vec2::from_angle((step as f64 * 5.0).to_radians());
        let spots = letters.iter().map(|letter| Spot::of(letter, along));
        let segments = rows(fragments(spots)).into_iter().flat_map(segments_of_row).collect();
        let mut rows = rows(segments);
        if number == 0 {
            margins.take_numbers(&mut rows);
        }
        for (at, segment) in rows
            .iter_mut()
            .enumerate()
            .flat_map(|(at, row)| row.iter_mut().map(move |segment| (at, segment)))
        {
            segment.row = at;
        }
        let mut page = LaidOutPage { rows: &mut read_rows, direction: number };
        read(rows, 0, &mut page);
    }
    read_rows
}

/// The rows of a page that have been read so far.
struct LaidOutPage<'r> {
    rows: &'r mut Vec<PageRow>,
    /// The number of the direction of text, the most frequent first.
    direction: usize,
}

impl LaidOutPage<'_> {
    fn push(&mut self, row: &[LineSegment<'_>]) {
        let Some(first) = row.first() else { return };
        let place = RowPlace { direction: self.direction, row: first.row };
        self.rows.push(row::row_of(row, place));
    }
}

/// Writes rows, column by column where there are columns.
fn read(mut rows: Vec<Vec<LineSegment<'_>>>, depth: usize, page: &mut LaidOutPage<'_>) {
    let mut at = 0;
    while at < rows.len() {
        let columns = (depth < DEPTH_MAX).then(|| columns(&rows[at..])).flatten();
        let (len, starts) = columns.unwrap_or((1, Vec::new()));
        if starts.len() < 2 {
            rows[at..at + len].iter().for_each(|row| page.push(row));
            at += len;
            continue;
        }
        let mut parts: Vec<Vec<Vec<LineSegment<'_>>>> = starts.iter().map(|_| Vec::new()).collect();
        for row in &mut rows[at..at + len] {
            parts.iter_mut().for_each(|part| part.push(Vec::new()));
            for segment in row.drain(..) {
                let column = starts.iter().rposition(|&start| segment.start >= start - 0.01);
                let row = parts[column.unwrap_or_default()].last_mut();
                row.expect("each row has been begun").push(segment);
            }
        }
        for mut part in parts {
            part.retain(|row| !row.is_empty());
            read(part, depth + 1, page);
        }
        at += len;
    }
}

/// Returns the number of leading rows that form columns, and the starts of columns with text.
fn columns(rows: &[Vec<LineSegment<'_>>]) -> Option<(usize, Vec<f64>)> {
    let mut spans = CoveredWidth::default();
    let mut len = 0;
    for row in rows {
        let mut grown = spans.clone();
        row.iter().for_each(|segment| grown.add(segment));
        let is_lost = grown.starts().len() < 2;
        if is_lost && len >= COLUMN_LINES {
            break;
        }
        spans = grown;
        len += 1;
        if len == COLUMN_LINES && spans.starts().len() < 2 {
            return None;
        }
    }
    (len >= 4 && spans.starts().len() >= 2).then(|| (len, spans.text_starts()))
}

/// The covered parts of the width of a page.
#[derive(Clone, Default)]
struct CoveredWidth(Vec<WidthSpan>);

#[derive(Clone, Copy)]
struct WidthSpan {
    start: f64,
    end: f64,
    size: f64,
    segments: usize,
    /// The total width of the segments, in heights of letters.
    width: f64,
    /// The total number of words.
    words: usize,
    /// The number of segments that begin with a small letter.
    small: usize,
}

impl WidthSpan {
    /// Returns whether the segments are lines of a text.
    fn is_column(&self) -> bool {
        let segments = self.segments as f64;
        let is_running = || {
            self.segments >= COLUMN_LINES
                && self.small * 2 > self.segments
                && self.words as f64 >= RUNNING_WORDS * segments
                && self.width >= RUNNING_FILL * segments * (self.end - self.start) / self.size
        };
        self.segments >= 2 && (self.width >= COLUMN_WIDTH * segments || is_running())
    }
}

impl CoveredWidth {
    fn add(&mut self, segment: &LineSegment<'_>) {
        let (start, end, size) = (segment.start, segment.end, segment.size);
        let (words, width) = (segment.words(), (end - start) / size);
        let small = usize::from(segment.begins_small());
        let mut new = WidthSpan { start, end, size, segments: 1, width, words, small };
        let gap = |a: &WidthSpan, b: &WidthSpan| COLUMN_GAP * a.size.min(b.size);
        self.0.retain(|old| {
            let is_apart =
                old.end + gap(old, &new) < new.start || new.end + gap(old, &new) < old.start;
            if !is_apart {
                new.start = new.start.min(old.start);
                new.end = new.end.max(old.end);
                new.size = new.size.max(old.size);
                new.segments += old.segments;
                new.width += old.width;
                new.words += old.words;
                new.small += old.small;
            }
            is_apart
        });
        self.0.push(new);
    }

    fn starts(&self) -> Vec<f64> {
        self.0.iter().map(|span| span.start).collect()
    }

    /// Returns the starts of the columns of text. A label before a column belongs to the column.
    fn text_starts(&self) -> Vec<f64> {
        let mut spans = self.0.clone();
        spans.sort_by(|a, b| a.start.total_cmp(&b.start));
        let (mut starts, mut label) = (Vec::new(), None);
        for span in spans {
            let start = label.take().unwrap_or(span.start);
            match span.is_column() {
                true => starts.push(start),
                false => label = Some(start),
            }
        }
        if starts.len() >= 2
            && let (Some(first), Some(min)) = (starts.first_mut(), self.min())
        {
            *first = min;
        }
        starts
    }

    fn min(&self) -> Option<f64> {
        self.0.iter().map(|span| span.start).min_by(f64::total_cmp)
    }
}
