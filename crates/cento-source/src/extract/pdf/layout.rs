//! Puts the letters of a page into reading order.
//!
//! Consecutive letters become fragments, adjacent fragments become line segments, and segments
//! above each other become columns. Where a gap runs through six lines, the text to the left of the
//! gap is read first. The most frequent direction of text comes first, followed by text in other
//! directions.

use std::collections::BTreeMap;

use hayro_interpret::kurbo::Vec2;

use crate::broken_word;

use super::bidi::{is_leftward_text, read_order};
use super::page::{Letter, median};

/// Maximum nesting of columns.
const DEPTH_MAX: usize = 4;

/// Minimum number of lines of two columns.
const COLUMN_LINES: usize = 6;

/// The minimum mean width of the segments of a column, in heights of letters. Narrower columns are
/// labels or numbers.
const COLUMN_WIDTH: f64 = 5.0;

/// The minimum gap between words, and between segments of a line, in heights of letters.
const WORD_GAP: f64 = 0.12;
const SEGMENT_GAP: f64 = 1.0;

/// The minimum gap between columns, in heights of letters.
const COLUMN_GAP: f64 = 0.8;

/// Letters of a line without a wide gap.
struct LineSegment<'a> {
    letters: Vec<Spot<'a>>,
    start: f64,
    end: f64,
    line: f64,
    size: f64,
}

/// The position of a letter on its line. The x axis is the direction of reading.
#[derive(Clone, Copy)]
struct Spot<'a> {
    letter: &'a Letter,
    start: f64,
    end: f64,
    line: f64,
}

impl<'a> Spot<'a> {
    fn of(letter: &'a Letter, along: Vec2) -> Spot<'a> {
        let origin = letter.origin.to_vec2();
        let start = origin.dot(along);
        Spot { letter, start, end: start + letter.advance, line: along.cross(origin) }
    }
}

/// Returns the text of letters.
pub fn text_of<'a>(letters: impl Iterator<Item = &'a Letter>) -> String {
    let mut directions: BTreeMap<i64, Vec<&Letter>> = BTreeMap::new();
    for letter in letters {
        // Directions are rounded to five degrees, because scans may be slightly rotated.
        let step = (letter.along.atan2().to_degrees() / 5.0).round() as i64;
        directions.entry(step.rem_euclid(72)).or_default().push(letter);
    }
    let mut directions: Vec<(i64, Vec<&Letter>)> = directions.into_iter().collect();
    directions.sort_by_key(|(_, letters)| std::cmp::Reverse(letters.len()));
    let mut text = String::new();
    for (step, letters) in directions {
        let along = Vec2::from_angle((step as f64 * 5.0).to_radians());
        let spots = letters.iter().map(|letter| Spot::of(letter, along));
        let segments = rows(fragments(spots)).into_iter().flat_map(segments_of_row).collect();
        read(rows(segments), 0, &mut LaidOutPage { text: &mut text, last: None });
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
    }
    text
}

/// Joins consecutive letters of a line, in the order of the input.
fn fragments<'a>(spots: impl Iterator<Item = Spot<'a>>) -> Vec<LineSegment<'a>> {
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
        let is_script = spot.letter.size < self.size * 0.85 && gap.abs() < size * 0.35;
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

    /// Removes leading and trailing spaces.
    fn trim(&mut self) {
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
fn segments_of_row(row: Vec<LineSegment<'_>>) -> Vec<LineSegment<'_>> {
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
fn rows(mut segments: Vec<LineSegment<'_>>) -> Vec<Vec<LineSegment<'_>>> {
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

/// The text of a page that has been written so far.
struct LaidOutPage<'t> {
    text: &'t mut String,
    /// The line and height of the last row.
    last: Option<(f64, f64)>,
}

impl LaidOutPage<'_> {
    fn push(&mut self, row: &[LineSegment<'_>]) {
        let Some(first) = row.first() else { return };
        let mut parts: Vec<String> = row.iter().map(words).collect();
        if is_leftward_text(&parts.concat()) {
            parts.reverse();
        }
        if let Some((line, size)) = self.last {
            match broken_word::begun(self.text, &parts[0]).map(str::len) {
                Some(len) => self.text.truncate(len),
                None => {
                    let step = first.line - line;
                    let is_far = step > 1.8 * size.max(first.size) || step < 0.0;
                    self.text.push_str(if is_far { "\n\n" } else { "\n" });
                }
            }
        }
        self.text.push_str(&parts.join("\t"));
        self.last = Some((first.line, first.size));
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
}

impl CoveredWidth {
    fn add(&mut self, segment: &LineSegment<'_>) {
        let (start, end, size) = (segment.start, segment.end, segment.size);
        let mut new = WidthSpan { start, end, size, segments: 1, width: (end - start) / size };
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
            match span.segments >= 2 && span.width >= COLUMN_WIDTH * span.segments as f64 {
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

/// Returns the words of a segment.
fn words(segment: &LineSegment<'_>) -> String {
    let limit = word_gap(segment);
    let mut line: Vec<&str> = Vec::new();
    let mut last: Option<&Spot<'_>> = None;
    let mut has_space = false;
    let mut mark_end = 0;
    for (at, spot) in segment.letters.iter().enumerate() {
        mark_end = mark_end.max(at + note_mark(&segment.letters, at, limit));
        if at < mark_end {
            continue;
        }
        if spot.letter.is_space() {
            has_space = true;
            continue;
        }
        if let Some(last) = last {
            let size = last.letter.size.min(spot.letter.size);
            if has_space || spot.start - last.end > limit * size {
                line.push(" ");
            }
        }
        line.push(&spot.letter.text);
        (last, has_space) = (Some(spot), false);
    }
    read_order(line).concat()
}

/// The minimum length of a word that a raised number can mark. Shorter words are units and
/// variables.
const MARKED_LETTERS_MIN: usize = 3;

/// Returns the number of letters in a note mark at this position: small raised digits or signs at
/// the end of a word or sentence. Zero for ordinals, powers and formulas.
fn note_mark(letters: &[Spot<'_>], at: usize, gap: f64) -> usize {
    let Some(last) = at.checked_sub(1).map(|before| &letters[before]) else { return 0 };
    let size = last.letter.size;
    let is_raised =
        |spot: &&Spot<'_>| spot.letter.size < size * 0.85 && (last.line - spot.line) > size * 0.12;
    let is_mark = |c: char| c.is_ascii_digit() || "*\u{2020}\u{2021}\u{a7},".contains(c);
    let raised = letters[at..].iter().take_while(is_raised);
    let raised: Vec<_> = raised.filter(|spot| !spot.letter.is_space()).collect();
    let text = || raised.iter().flat_map(|spot| spot.letter.text.chars());
    if raised.is_empty() || raised.len() > 3 || !text().all(is_mark) {
        return 0;
    }
    let is_letter = |spot: &&Spot<'_>| spot.letter.text.chars().all(char::is_alphabetic);
    let word = letters[..at].iter().rev().take_while(is_letter).count();
    let is_close = |c: char| ".;:!?)]\"'\u{201d}\u{2019}\u{bb}".contains(c);
    let after_sign = last.letter.text.chars().all(|c| is_close(c) || c == ',');
    let end = at + raised.len();
    let is_end = letters.get(end).is_none_or(|next| {
        let is_apart = next.start - letters[end - 1].end > gap * size;
        next.letter.is_space() || is_apart || !next.letter.text.chars().all(char::is_alphanumeric)
    });
    match is_end && (word >= MARKED_LETTERS_MIN || after_sign) {
        true => raised.len(),
        false => 0,
    }
}

/// Returns the minimum gap between words of a segment, in heights of letters. The gap exceeds the
/// usual gap between letters, because text may be letter-spaced, and is larger if the segment has
/// spaces.
fn word_gap(segment: &LineSegment<'_>) -> f64 {
    let spaces = segment.letters.iter().filter(|spot| spot.letter.is_space()).count();
    let pairs = segment.letters.windows(2);
    let pairs = pairs.filter(|pair| pair.iter().all(|spot| !spot.letter.is_space()));
    let mut gaps: Vec<f64> = Vec::new();
    let mut steps: Vec<f64> = Vec::new();
    for pair in pairs {
        let size = pair[0].letter.size.min(pair[1].letter.size);
        gaps.push((pair[1].start - pair[0].end) / size);
        steps.push((pair[1].start - pair[0].start) / size);
    }
    let words =
        segment.letters.iter().filter(|spot| spot.letter.text.chars().all(char::is_alphabetic));
    if gaps.len() < 3 || words.count() * 10 < segment.letters.len() * 6 {
        return WORD_GAP;
    }
    let count = gaps.len();
    let middle = median(&mut gaps).unwrap_or_default().clamp(0.0, 0.45);
    let step = median(&mut steps).unwrap_or_default();
    let even = steps.iter().filter(|other| (**other - step).abs() < 0.03 * step).count();
    if even * 10 >= count * 8 && spaces > 0 {
        // In a monospaced font, the gap depends on the width of the letter, but the advance is
        // constant.
        return WORD_GAP.max(step * 0.9);
    }
    let written = if spaces * 15 >= count && spaces > 0 { 0.25 } else { 0.0 };
    (middle + WORD_GAP).max(written)
}
