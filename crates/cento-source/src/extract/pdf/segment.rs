//! The segments of the lines of a page.
//!
//! Consecutive letters become fragments, and adjacent fragments of a line become segments.

use hayro_interpret::kurbo::Vec2;

use super::page::Letter;

/// The minimum gap between segments of a line, in heights of letters.
const SEGMENT_GAP: f64 = 1.0;

/// The minimum gap between words, in heights of letters.
pub const WORD_GAP: f64 = 0.12;

/// Letters of a line without a wide gap.
pub struct LineSegment<'a> {
    pub letters: Vec<Spot<'a>>,
    pub start: f64,
    pub end: f64,
    pub line: f64,
    pub size: f64,
    /// The number of the row on the page, from the top.
    pub row: usize,
}

/// The position of a letter on its line. The x axis is the direction of reading.
#[derive(Clone, Copy)]
pub struct Spot<'a> {
    pub letter: &'a Letter,
    pub start: f64,
    pub end: f64,
    pub line: f64,
}

impl<'a> Spot<'a> {
    pub fn of(letter: &'a Letter, along: Vec2) -> Spot<'a> {
        let origin = letter.origin.to_vec2();
        let start = origin.dot(along);
        Spot { letter, start, end: start + letter.advance, line: along.cross(origin) }
    }
}

/// Joins consecutive letters of a line, in the order of the input.
pub fn fragments<'a>(spots: impl Iterator<Item = Spot<'a>>) -> Vec<LineSegment<'a>> {
    let mut fragments: Vec<LineSegment<'_>> = Vec::new();
    for spot in spots {
        let size = spot.letter.size;
        match fragments.last_mut() {
            Some(last) if last.goes_on(&spot) => last.push(spot),
            _ => fragments.push(LineSegment {
                letters: vec![spot],
                start: spot.start,
                end: spot.end,
                line: spot.line,
                size,
                row: 0,
            }),
        }
    }
    // Fragments of spaces are dropped, because letter positions already show the gaps.
    fragments.retain(|fragment| fragment.letters.iter().any(|spot| !spot.letter.is_space()));
    fragments.iter_mut().for_each(LineSegment::trim);
    fragments
}

impl<'a> LineSegment<'a> {
    fn goes_on(&self, spot: &Spot<'_>) -> bool {
        let size = self.size.max(spot.letter.size);
        let (gap, rise) = (spot.start - self.end, (spot.line - self.line).abs());
        let smaller = self.size.min(spot.letter.size);
        let is_script = smaller < size * 0.97 && gap.abs() < size * 0.35;
        let is_beside = gap > -0.4 * size && gap < SEGMENT_GAP * size;
        is_beside && (rise < 0.25 * size || (is_script && rise < 0.6 * size))
    }

    fn push(&mut self, spot: Spot<'a>) {
        if !spot.letter.is_space() && spot.letter.size > self.size {
            (self.size, self.line) = (spot.letter.size, spot.line);
        }
        self.end = self.end.max(spot.end);
        self.letters.push(spot);
    }

    /// Returns the number of words, which gaps separate.
    pub fn words(&self) -> usize {
        let letters: Vec<_> = self.letters.iter().filter(|spot| !spot.letter.is_space()).collect();
        let is_gap = |pair: &&[&Spot<'_>]| pair[1].start - pair[0].end > WORD_GAP * self.size;
        1 + letters.windows(2).filter(is_gap).count()
    }

    /// Returns whether the first letter is a small one.
    pub fn begins_small(&self) -> bool {
        self.letters.first().is_some_and(|spot| spot.letter.text.starts_with(char::is_lowercase))
    }

    /// Removes leading and trailing spaces.
    pub fn trim(&mut self) {
        let is_space = |spot: &Spot<'_>| spot.letter.is_space();
        while self.letters.last().is_some_and(is_space) {
            self.letters.pop();
        }
        let spaces = self.letters.iter().take_while(|spot| is_space(spot)).count();
        self.letters.drain(..spaces);
        self.start = self.letters.iter().map(|spot| spot.start).fold(f64::INFINITY, f64::min);
        self.end = self.letters.iter().map(|spot| spot.end).fold(f64::NEG_INFINITY, f64::max);
    }
}

/// Joins fragments of a row that are close together.
pub fn segments_of_row(row: Vec<LineSegment<'_>>) -> Vec<LineSegment<'_>> {
    let mut merged: Vec<LineSegment<'_>> = Vec::new();
    for fragment in row {
        match merged.last_mut() {
            Some(last)
                if fragment.start - last.end < SEGMENT_GAP * last.size.max(fragment.size) =>
            {
                last.letters.extend(fragment.letters);
                last.end = last.end.max(fragment.end);
                last.size = last.size.max(fragment.size);
            }
            _ => merged.push(fragment),
        }
    }
    merged
}

/// Segments by lines, from the top to the bottom.
pub fn rows(mut segments: Vec<LineSegment<'_>>) -> Vec<Vec<LineSegment<'_>>> {
    segments.sort_by(|a, b| a.line.total_cmp(&b.line));
    let mut rows: Vec<Vec<LineSegment<'_>>> = Vec::new();
    for segment in segments {
        match rows.last_mut() {
            Some(row) if segment.line - row[0].line < 0.3 * segment.size.min(row[0].size) => {
                row.push(segment);
            }
            _ => rows.push(vec![segment]),
        }
    }
    rows.iter_mut().for_each(|row| row.sort_by(|a, b| a.start.total_cmp(&b.start)));
    rows
}
