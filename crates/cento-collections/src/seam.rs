//! Widens cuts so that the remaining text stays readable.
//!
//! Passages are runs of tokens. Cutting only the tokens would leave marks between them: a full stop
//! at the beginning of a line, empty brackets, two blanks. So a cut is widened to the marks and
//! blanks of the passage, and to the ends of its line or sentence if few words remain there.
//! Nothing is ever added to a text: the passages of a verdict tell exactly which text was lost.

use std::ops::Range;

use cento_api::Part;
use cento_text::text::{is_unspaced, is_white_space};

/// How many words of a line or sentence may be cut with a passage: at most this number, and at most
/// a quarter of the words of the passage.
const WIDENED_MAX: usize = 4;
const WIDENED_SHARE: usize = 4;

/// Marks between two parts of a sentence.
const SEPARATORS: &str = ",;:-\u{2013}\u{2014}\u{ff0c}\u{3001}\u{ff1b}\u{ff1a}\u{60c}\u{61b}";

/// Marks at the end of a sentence.
const ENDS: &str =
    ".!?\u{2026}\u{3002}\u{ff01}\u{ff1f}\u{ff0e}\u{ff61}\u{61f}\u{6d4}\u{964}\u{965}";

/// Opening brackets and quotation marks, each with the closing mark.
const PAIRS: [(char, char); 16] = [
    ('(', ')'),
    ('[', ']'),
    ('{', '}'),
    ('"', '"'),
    ('\'', '\''),
    ('*', '*'),
    ('_', '_'),
    ('\u{201c}', '\u{201d}'),
    ('\u{2018}', '\u{2019}'),
    ('\u{201e}', '\u{201c}'),
    ('\u{ab}', '\u{bb}'),
    ('\u{bb}', '\u{ab}'),
    ('\u{300c}', '\u{300d}'),
    ('\u{300e}', '\u{300f}'),
    ('\u{300a}', '\u{300b}'),
    ('\u{ff08}', '\u{ff09}'),
];

/// The maximum number of unmatched marks in a passage. A passage with more is no prose.
const UNMATCHED_MAX: usize = 64;

/// Widens ranges of a text with these parts. Ranges are ascending, do not overlap and lie within a
/// part each. Returns as many ranges with the same properties.
pub fn widened(text: &str, parts: &[Part], ranges: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let ends = parts.iter().skip(1).map(|part| part.start as usize - 1);
    let mut wide: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
    let (mut start, mut rest) = (0, ranges);
    for end in ends.chain(std::iter::once(text.len())) {
        let count = rest.partition_point(|range| range.1 as usize <= end);
        let (own, after) = rest.split_at(count);
        let local = own.iter().map(|&(a, b)| a as usize - start..b as usize - start);
        let local = Widening::of(&text[start..end], local.collect()).finish();
        let whole =
            |range: Range<usize>| ((range.start + start) as u32, (range.end + start) as u32);
        wide.extend(local.into_iter().map(whole));
        (start, rest) = (end + 1, after);
    }
    wide
}

/// Tells whether a text has at least `least` words. In scripts without spaces, letters count as
/// words.
///
/// ```
/// use cento_collections::has_words;
///
/// assert!(has_words("one two three", 3));
/// assert!(!has_words("one, two...", 3));
/// ```
pub fn has_words(text: &str, least: usize) -> bool {
    let mut words = WordCount::default();
    least == 0
        || text.chars().any(|c| {
            words.add(c);
            words.count >= least
        })
}

/// Counts words character by character, forward or backward.
#[derive(Debug, Default)]
struct WordCount {
    count: usize,
    is_within: bool,
}

impl WordCount {
    fn add(&mut self, c: char) {
        let is_word = c.is_alphanumeric();
        if is_word && is_unspaced(c) {
            (self.count, self.is_within) = (self.count + 1, false);
        } else if is_white_space(c) {
            self.is_within = false;
        } else if is_word && !self.is_within {
            (self.count, self.is_within) = (self.count + 1, true);
        }
    }
}

/// The cuts in the text of one part.
struct Widening<'a> {
    text: &'a str,
    ranges: Vec<Range<usize>>,
    /// Cuts, with the numbers of the joined ranges.
    cuts: Vec<(Range<usize>, Range<usize>)>,
}

impl<'a> Widening<'a> {
    fn of(text: &'a str, ranges: Vec<Range<usize>>) -> Widening<'a> {
        let cuts = ranges.iter().cloned().enumerate().map(|(at, range)| (range, at..at + 1));
        let cuts = cuts.collect();
        Widening { text, ranges, cuts }
    }

    fn finish(mut self) -> Vec<Range<usize>> {
        self.join();
        self.widen(|text, within, cut| {
            with_line(text, within, cut).or_else(|| with_sentence(text, within, cut))
        });
        self.join();
        self.widen(|text, within, cut| {
            Some(with_blanks(text, within, &with_marks(text, within, cut)))
        });
        let Widening { mut ranges, cuts, .. } = self;
        for (cut, numbers) in cuts {
            let own = &mut ranges[numbers];
            own[0].start = cut.start;
            for at in 1..own.len() {
                own[at].start = own[at].start.max(cut.start);
                own[at - 1].end = own[at].start;
            }
            let last = own.len() - 1;
            own[last].end = cut.end;
        }
        ranges
    }

    /// Joins cuts without a word between them.
    fn join(&mut self) {
        let mut joined: Vec<(Range<usize>, Range<usize>)> = Vec::with_capacity(self.cuts.len());
        for (cut, numbers) in std::mem::take(&mut self.cuts) {
            match joined.last_mut() {
                Some((before, of)) if is_gap(self.text, before.end, cut.start) => {
                    before.end = before.end.max(cut.end);
                    of.end = numbers.end;
                }
                _ => joined.push((cut, numbers)),
            }
        }
        self.cuts = joined;
    }

    /// Widens each cut, without touching its neighbors.
    fn widen(
        &mut self,
        wider: impl Fn(&str, &Range<usize>, &Range<usize>) -> Option<Range<usize>>,
    ) {
        let mut low = 0;
        for at in 0..self.cuts.len() {
            let high = self.cuts.get(at + 1).map_or(self.text.len(), |next| next.0.start);
            let cut = &mut self.cuts[at].0;
            let end = cut.end;
            if let Some(wide) = wider(self.text, &(low..high), cut) {
                *cut = wide;
            }
            // Both neighbors may cut the few words between them, so the limit is the old end.
            low = end;
        }
    }
}

/// Tells whether two cuts have no word between them.
fn is_gap(text: &str, start: usize, end: usize) -> bool {
    start >= end || !has_words(&text[start..end], 1)
}

/// Returns how many more words may be cut with a passage.
fn spare_words(passage: &str) -> usize {
    (1..=WIDENED_MAX).rev().find(|n| has_words(passage, n * WIDENED_SHARE)).unwrap_or(0)
}

/// Extends a cut to whole lines, unless the added text has many words or ends a sentence of its
/// own. A number at the beginning, such as `1.`, is no sentence.
fn with_line(text: &str, within: &Range<usize>, cut: &Range<usize>) -> Option<Range<usize>> {
    let is_end = |c: char, _| matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}');
    let spare = spare_words(&text[cut.clone()]);
    let (start, before) = backward(&text[..cut.start], within.start, spare, is_end)?;
    let (end, after) = forward(&text[..within.end], cut.end, spare - before, is_end)?;
    let ends = |c: char| is_of(ENDS, c);
    let is_apart = before > 1 && text[start..cut.start].trim_end().ends_with(ends)
        || after > 1 && text[cut.end..end].trim_start().starts_with(ends);
    (!is_apart).then_some(start..end)
}

/// Returns a cut with the remainder of its first and last sentence, unless the remainder has many
/// words.
fn with_sentence(text: &str, within: &Range<usize>, cut: &Range<usize>) -> Option<Range<usize>> {
    let is_end = |c: char, next: Option<char>| {
        matches!(c, '\n' | '\r') || is_of(ENDS, c) && !is_within_word(c, next)
    };
    let spare = spare_words(&text[cut.clone()]);
    let (mut start, before) = backward(&text[..cut.start], within.start, spare, is_end)?;
    let (end, _) = forward(&text[..within.end], cut.end, spare - before, is_end)?;
    if text[..start].ends_with(|c| is_of(ENDS, c)) {
        // Closing quotation marks belong to the previous sentence.
        let before = &text[start..cut.start];
        start += before.len() - before.trim_start_matches(is_closing).len();
    }
    Some(start..end)
}

/// Goes back from the end of a text to the last character that `is_end`. Returns the place after
/// the character and the number of words from there, or `None` after more than `most` words.
fn backward(
    text: &str,
    low: usize,
    most: usize,
    is_end: impl Fn(char, Option<char>) -> bool,
) -> Option<(usize, usize)> {
    let (mut words, mut next) = (WordCount::default(), None);
    for (at, c) in text[low..].char_indices().rev() {
        if is_end(c, next) {
            return Some((low + at + c.len_utf8(), words.count));
        }
        words.add(c);
        if words.count > most {
            return None;
        }
        next = Some(c);
    }
    Some((low, words.count))
}

/// Goes on from a place of a text to the first character that `is_end`. Returns the character's
/// place and the number of words before it, or `None` after more than `most` words.
fn forward(
    text: &str,
    start: usize,
    most: usize,
    is_end: impl Fn(char, Option<char>) -> bool,
) -> Option<(usize, usize)> {
    let mut words = WordCount::default();
    let mut chars = text[start..].char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if is_end(c, chars.peek().map(|next| next.1)) {
            return Some((start + at, words.count));
        }
        words.add(c);
        if words.count > most {
            return None;
        }
    }
    Some((text.len(), words.count))
}

fn is_of(marks: &str, c: char) -> bool {
    marks.contains(c)
}

fn is_space(c: char) -> bool {
    is_white_space(c) && !matches!(c, '\n' | '\r')
}

fn is_closing(c: char) -> bool {
    PAIRS.iter().any(|pair| pair.1 == c)
}

/// Tells whether a mark is part of a number or a name, such as `.5` or `.txt`.
fn is_within_word(mark: char, next: Option<char>) -> bool {
    let Some(next) = next else { return false };
    mark.is_ascii() && (next.is_alphanumeric() || mark == '-' && !is_white_space(next))
}

/// A cut that grows mark by mark, with the text around it.
struct SeamSides<'a> {
    text: &'a str,
    within: Range<usize>,
    cut: Range<usize>,
    /// Marks that the passage opens and does not close.
    unclosed: Vec<char>,
    /// Marks that the passage closes and does not open.
    unopened: Vec<char>,
}

/// Returns a cut with the marks that make no sense without the passage.
fn with_marks(text: &str, within: &Range<usize>, cut: &Range<usize>) -> Range<usize> {
    let (unopened, unclosed) = unmatched(&text[cut.clone()]);
    let within = within.clone();
    let mut sides = SeamSides { text, within, cut: cut.clone(), unclosed, unopened };
    while let Some(wider) = sides.wider() {
        sides.cut = wider;
    }
    let glues = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() && !is_unspaced(c));
    let before = text[..sides.cut.start].chars().next_back();
    match glues(before) && glues(text[sides.cut.end..].chars().next()) {
        true => cut.clone(),
        false => sides.cut,
    }
}

/// Returns the unopened and the unclosed marks of a passage. Marks that double as apostrophes or
/// signs do not count.
fn unmatched(passage: &str) -> (Vec<char>, Vec<char>) {
    let (mut unopened, mut unclosed): (Vec<char>, Vec<char>) = (Vec::new(), Vec::new());
    let directed = || PAIRS.iter().filter(|(open, close)| open != close);
    for c in passage.chars().filter(|c| !c.is_alphanumeric()) {
        let closed = unclosed.iter().rposition(|open| directed().any(|pair| *pair == (*open, c)));
        if let Some(at) = closed {
            unclosed.remove(at);
        } else if unclosed.len() + unopened.len() == UNMATCHED_MAX {
            break;
        } else if directed().any(|pair| pair.0 == c) {
            unclosed.push(c);
        } else if directed().any(|pair| pair.1 == c) {
            unopened.push(c);
        }
    }
    if passage.matches('"').count() % 2 == 1 {
        unopened.push('"');
        unclosed.push('"');
    }
    (unopened, unclosed)
}

impl SeamSides<'_> {
    /// Returns the cut with one more mark on either side, or with a pair of marks around it.
    fn wider(&mut self) -> Option<Range<usize>> {
        let left = &self.text[self.within.start..self.cut.start];
        let right = &self.text[self.cut.end..self.within.end];
        let (before, after) = (left.trim_end_matches(is_space), right.trim_start_matches(is_space));
        let (is_close, follows) = (before.len() == left.len(), after.len() == right.len());
        let mut before_chars = before.chars();
        let (l, before_l) = (before_chars.next_back(), before_chars.next_back());
        let mut after_chars = after.chars();
        let (r, after_r) = (after_chars.next(), after_chars.next());
        let start = |l: char| self.within.start + before.len() - l.len_utf8();
        let end = |r: char| self.within.end - after.len() + r.len_utf8();
        let opens = |l: char| {
            let is_first = before_l.is_none_or(|c| !c.is_alphanumeric() || is_unspaced(c));
            is_close && is_first && PAIRS.iter().any(|pair| pair.0 == l)
        };
        if let (Some(l), Some(r)) = (l, r) {
            // French has blanks within its quotation marks. In German, they point inwards.
            let is_french =
                l == '\u{ab}' && before_l.is_none_or(|c| is_white_space(c) || is_of("([", c));
            let is_bracket = is_of("([{\u{ff08}", l) || is_french;
            if PAIRS.contains(&(l, r)) && (is_bracket || opens(l) && follows) {
                return Some(start(l)..end(r));
            }
        }
        let partner = |of: &[char], is: &dyn Fn(&(char, char), char) -> bool| {
            of.iter().rposition(|c| PAIRS.iter().any(|pair| is(pair, *c)))
        };
        if let Some(r) = r.filter(|_| follows)
            && let Some(at) = partner(&self.unclosed, &|pair, open| *pair == (open, r))
        {
            let end = end(r);
            self.unclosed.remove(at);
            return Some(self.cut.start..end);
        }
        if let Some(l) = l.filter(|l| opens(*l))
            && let Some(at) = partner(&self.unopened, &|pair, close| *pair == (l, close))
        {
            let start = start(l);
            self.unopened.remove(at);
            return Some(start..self.cut.end);
        }
        let separates = |mark: char, next| is_of(SEPARATORS, mark) && !is_within_word(mark, next);
        let ends = |mark: char, next| is_of(ENDS, mark) && !is_within_word(mark, next);
        let is_begin = l.is_none_or(|l| matches!(l, '\n' | '\r') || is_of(ENDS, l) || opens(l));
        let l_separates = l.is_some_and(|l| separates(l, self.text[start(l)..].chars().nth(1)));
        if let Some(r) = r
            && (separates(r, after_r) && (is_begin || l_separates) || ends(r, after_r) && is_begin)
        {
            return Some(self.cut.start..end(r));
        }
        let is_end = r.is_none_or(|r| matches!(r, '\n' | '\r') || closes(r, after_r));
        l.filter(|_| l_separates && is_end).map(|l| start(l)..self.cut.end)
    }
}

/// Returns a cut with the blanks that would be doubled.
fn with_blanks(text: &str, within: &Range<usize>, cut: &Range<usize>) -> Range<usize> {
    let (left, right) = (&text[within.start..cut.start], &text[cut.end..within.end]);
    let before = left.trim_end_matches(is_white_space);
    let after = right.trim_start_matches(is_white_space);
    let (blank, next_blank) = (&left[before.len()..], &right[..right.len() - after.len()]);
    let without_blank = cut.start - blank.len()..cut.end;
    let without_next = cut.start..cut.end + next_blank.len();
    let mut follows = after.chars();
    // A cut at the beginning or end of the text leaves no blanks there.
    let Some(last) = before.chars().next_back() else { return without_next };
    let Some(first) = follows.next() else { return without_blank };
    if next_blank.is_empty() {
        return if closes(first, follows.next()) { without_blank } else { cut.clone() };
    }
    if blank.is_empty() {
        let opens = PAIRS.iter().any(|(open, close)| *open == last && open != close);
        return if opens { without_next } else { cut.clone() };
    }
    let lines = |blank: &str| blank.matches('\n').count();
    match lines(next_blank) {
        0 => without_next,
        // The next line keeps its own indentation.
        next if next >= lines(blank) => without_blank,
        _ => without_next,
    }
}

/// Tells whether a mark ends a word, so that no blank comes before it.
fn closes(mark: char, next: Option<char>) -> bool {
    let is_dash = is_of("-\u{2013}\u{2014}", mark);
    match mark {
        '"' | '\'' | '*' | '_' => next.is_none_or(|next| !next.is_alphanumeric()),
        _ => is_of(ENDS, mark) || is_of(SEPARATORS, mark) && !is_dash || is_closing(mark),
    }
}

#[cfg(test)]
mod tests;
