//! The text of a row: words, and raised numbers between words.

use std::collections::HashSet;
use std::ops::Range;

use super::bidi::{is_leftward_text, read_order};
use super::page::median;
use super::segment::{LineSegment, Spot, WORD_GAP};
use crate::note_mark::{RaisedText, bare_mark, is_citation, is_signs};

/// The maximum size of raised letters with how far they are above the line at least, in heights of
/// the letters beside them. The lines of a scan rise and fall a little, with letters of about the
/// same size.
const RAISED: [(f64, f64); 2] = [(0.85, 0.12), (0.97, 0.25)];

/// The text before a raised number that decides whether the number marks a note, in letters.
const LETTERS_BEFORE: usize = 8;

/// A row of a page, or its part in a column.
pub struct PageRow {
    pub text: String,
    pub place: RowPlace,
    /// The distance of the baseline from the top of the page.
    pub line: f64,
    /// The height of the largest letters.
    pub height: f64,
    /// The height of most letters.
    pub size: f64,
    /// The marks of notes that were removed from the text.
    pub marks: Vec<String>,
    /// Raised numbers before words: the numbers of verses, notes or isotopes.
    pub numbers: Vec<(Range<usize>, u32)>,
    /// The numbers of marks in their order. For a number after a short word, which may be a power,
    /// with its place in the text.
    pub counted: Vec<(u32, Option<Range<usize>>)>,
    /// The raised mark at the beginning of the line. From right to left, the text ends with it.
    pub mark: Option<String>,
}

impl PageRow {
    /// Returns whether the row begins with a raised mark, a number or a sign, as notes do.
    pub fn begins_note(&self) -> bool {
        let word = self.first_word();
        self.mark.is_some() || is_citation(word) || is_signs(word)
    }

    pub fn first_word(&self) -> &str {
        self.text.split_whitespace().next().unwrap_or_default()
    }

    /// Returns the text of a row of a note. Skips a mark at the beginning: a raised mark, or a mark
    /// that was removed from the text.
    pub fn text_of_note(&self, marks: &HashSet<&str>) -> &str {
        let word = self.first_word();
        let word = Some(word).filter(|word| marks.contains(bare_mark(word)));
        let rest = self.mark.as_deref().and_then(|mark| self.text.strip_prefix(mark));
        rest.or_else(|| self.text.strip_prefix(word?)).unwrap_or(&self.text).trim_start()
    }
}

/// The place of a row on its page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowPlace {
    /// The number of the direction of text, the most frequent first.
    pub direction: usize,
    /// The number of the row in this direction, from the top. Parts in different columns share it.
    pub row: usize,
}

/// Returns the text of the segments of a row.
pub fn row_of(segments: &[LineSegment<'_>], place: RowPlace) -> PageRow {
    // A short segment does not show how far its words are apart.
    let longest = segments.iter().max_by_key(|segment| segment.letters.len());
    let usual = longest.and_then(word_gap).unwrap_or(WORD_GAP);
    let mut parts: Vec<WordsOfSegment> =
        segments.iter().map(|it| words(it, word_gap(it).unwrap_or(usual))).collect();
    let all: String = parts.iter().map(|part| &*part.text).collect();
    if is_leftward_text(&all) {
        parts.reverse();
    }
    let letters = segments.iter().flat_map(|segment| &segment.letters);
    let mut sizes: Vec<f64> = letters.map(|spot| spot.letter.size).collect();
    let first = segments.first();
    let height = first.map_or(0.0, |segment| segment.size);
    let mut row = PageRow {
        text: String::new(),
        place,
        line: first.map_or(0.0, |segment| segment.line),
        height,
        size: median(&mut sizes).unwrap_or(height),
        marks: Vec::new(),
        numbers: Vec::new(),
        counted: Vec::new(),
        mark: parts.first_mut().and_then(|first| first.mark.take()),
    };
    for (at, part) in parts.into_iter().enumerate() {
        if at > 0 {
            row.text.push('\t');
        }
        let start = row.text.len();
        let moved = |(at, number): (Range<usize>, u32)| (at.start + start..at.end + start, number);
        row.numbers.extend(part.numbers.into_iter().map(moved));
        row.counted.extend(
            part.counted
                .into_iter()
                .map(|(number, at)| (number, at.map(|at| at.start + start..at.end + start))),
        );
        row.marks.extend(part.marks);
        row.text.push_str(&part.text);
    }
    row
}

/// The text of a segment.
#[derive(Default)]
struct WordsOfSegment {
    text: String,
    marks: Vec<String>,
    numbers: Vec<(Range<usize>, u32)>,
    counted: Vec<(u32, Option<Range<usize>>)>,
    mark: Option<String>,
}

/// Returns the words of a segment, which are further apart than `limit`, in heights of letters.
fn words(segment: &LineSegment<'_>, limit: f64) -> WordsOfSegment {
    let letters = &segment.letters;
    let mut found = WordsOfSegment::default();
    let mut line: Vec<&str> = Vec::new();
    // The places of raised numbers in `line`.
    let mut numbers: Vec<(Range<usize>, u32)> = Vec::new();
    let mut counted: Vec<(u32, Option<Range<usize>>)> = Vec::new();
    let mut last: Option<(f64, f64)> = None;
    let mut has_space = false;
    let mut at = 0;
    while at < letters.len() {
        let spot = &letters[at];
        if spot.letter.is_space() {
            has_space = true;
            at += 1;
            continue;
        }
        let raised = raised_at(letters, at);
        let kind = kind_of(letters, at, raised, limit);
        let len = if matches!(kind, RaisedKind::Letters) { 1 } else { raised.len() };
        let end = (letters[at + len - 1].end, spot.letter.size);
        at += len;
        if let RaisedKind::Note(mark) = kind {
            counted.extend(bare_mark(&mark).parse().ok().map(|number| (number, None)));
            found.marks.push(mark);
            last = last.map(|(_, size)| (end.0, size));
            continue;
        }
        if let Some((end, size)) = last
            && (has_space || spot.start - end > limit * size.min(spot.letter.size))
        {
            line.push(" ");
        }
        let start = line.len();
        line.extend(letters[at - len..at].iter().enumerate().filter_map(|(number, spot)| {
            visible_text(spot, letters.get(at - len + number + 1), limit)
        }));
        match kind {
            RaisedKind::Number(number) => numbers.push((start..line.len(), number)),
            RaisedKind::Uncertain(number) => counted.push((number, Some(start..line.len()))),
            _ => {}
        }
        if start == 0 && matches!(kind, RaisedKind::Number(_) | RaisedKind::Mark) {
            found.mark = Some(line.concat());
        }
        (last, has_space) = (Some(end), false);
    }
    let length = |pieces: &[&str]| pieces.iter().map(|piece| piece.len()).sum::<usize>();
    let place = |at: Range<usize>| length(&line[..at.start])..length(&line[..at.end]);
    let places: Vec<(Range<usize>, u32)> =
        numbers.into_iter().map(|(at, number)| (place(at), number)).collect();
    let counted = counted.into_iter().map(|(number, at)| (number, at.map(place)));
    let counted: Vec<(u32, Option<Range<usize>>)> = counted.collect();
    let written = line.concat();
    found.text = read_order(line).concat();
    if found.text == written {
        (found.numbers, found.counted) = (places, counted);
    }
    found
}

/// The meaning of a raised text.
enum RaisedKind {
    /// It belongs to the word.
    Letters,
    /// It marks a note, and is no text.
    Note(String),
    /// A number before a word.
    Number(u32),
    /// A number after a short word.
    Uncertain(u32),
    /// A number or sign at the beginning of a line, with a space after it.
    Mark,
}

/// Returns the raised letters that begin at this letter.
fn raised_at<'s, 'a>(letters: &'s [Spot<'a>], at: usize) -> &'s [Spot<'a>] {
    let is_raised = |spot: &Spot<'_>, base: &Spot<'_>| {
        let height = base.letter.size;
        let (size, rise) = (spot.letter.size / height, (base.line - spot.line) / height);
        RAISED.iter().any(|(size_max, rise_min)| size < *size_max && rise > *rise_min)
    };
    let before = letters[..at].iter().rev().find(|spot| !spot.letter.is_space());
    let after = || letters[at..].iter().find(|spot| is_raised(&letters[at], spot));
    let Some(base) = before.or_else(after) else { return &[] };
    let len = letters[at..].iter().take_while(|spot| is_raised(spot, base)).count();
    let spaces = letters[at..at + len].iter().rev().take_while(|spot| spot.letter.is_space());
    &letters[at..at + len - spaces.count()]
}

/// Decides what a raised text means, by the rule for all formats.
fn kind_of(letters: &[Spot<'_>], at: usize, raised: &[Spot<'_>], gap: f64) -> RaisedKind {
    let text: String = raised.iter().map(|spot| &*spot.letter.text).collect();
    if raised.is_empty() || text.chars().all(char::is_alphabetic) {
        return RaisedKind::Letters;
    }
    let is_apart = |a: &Spot<'_>, b: &Spot<'_>| {
        let size = a.letter.size.max(b.letter.size);
        b.letter.is_space() || a.letter.is_space() || b.start - a.end > gap * size
    };
    let pairs = letters[..=at].windows(2).rev().take(LETTERS_BEFORE);
    let word = pairs.take_while(|pair| !is_apart(&pair[0], &pair[1])).count();
    let before: String = letters[at - word..at].iter().map(|spot| &*spot.letter.text).collect();
    let end = at + raised.len();
    let next = letters.get(end).filter(|next| !is_apart(&letters[end - 1], next));
    let after = next.and_then(|next| next.letter.text.chars().next());
    let raised = RaisedText { text: text.trim(), is_link: false, before: &before, after };
    if let Some(number) = raised.verse() {
        RaisedKind::Number(number)
    } else if raised.is_of_note() {
        RaisedKind::Note(text)
    } else if let Some(number) = raised.uncertain() {
        RaisedKind::Uncertain(number)
    } else if at == 0 {
        RaisedKind::Mark
    } else {
        RaisedKind::Letters
    }
}

/// Returns the text of a letter. Many fonts call their hyphen a soft hyphen. Within a line it is a
/// hyphen that a reader sees, unless it has no width.
fn visible_text<'s>(spot: &'s Spot<'_>, next: Option<&Spot<'_>>, gap: f64) -> Option<&'s str> {
    let text = &*spot.letter.text;
    let is_followed = next.is_some_and(|next| {
        !next.letter.is_space() && next.start - spot.end < gap * next.letter.size
    });
    match text {
        "\u{ad}" if is_followed && spot.end - spot.start < gap * spot.letter.size => None,
        "\u{ad}" if is_followed => Some("-"),
        text => Some(text),
    }
}

/// Returns the minimum gap between words of a segment, in heights of letters. The gap exceeds the
/// usual gap between letters, because text may be letter-spaced, and is larger if the segment has
/// spaces. Returns `None` for a segment of a few letters.
fn word_gap(segment: &LineSegment<'_>) -> Option<f64> {
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
    let words = |is: fn(char) -> bool| {
        let words = segment.letters.iter().filter(|spot| spot.letter.text.chars().all(is));
        words.count() * 10 >= segment.letters.len() * 6
    };
    if gaps.len() < 3 {
        return None;
    }
    let count = gaps.len();
    let middle = median(&mut gaps).unwrap_or_default().clamp(0.0, 0.45);
    // Numbers may be cells of a table, unless they are letter-spaced between written spaces.
    let are_spaced = spaces > 0 && middle > WORD_GAP / 2.0 && words(char::is_alphanumeric);
    if !are_spaced && !words(char::is_alphabetic) {
        return Some(WORD_GAP);
    }
    let step = median(&mut steps).unwrap_or_default();
    let even = steps.iter().filter(|other| (**other - step).abs() < 0.03 * step).count();
    if even * 10 >= count * 8 && spaces > 0 {
        // In a monospaced font, the gap depends on the width of the letter, but the advance is
        // constant.
        return Some(WORD_GAP.max(step * 0.9));
    }
    let written = if spaces * 15 >= count && spaces > 0 { 0.25 } else { 0.0 };
    Some((middle + WORD_GAP).max(written))
}
