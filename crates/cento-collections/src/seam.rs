//! Widens cuts so that the remaining text stays readable.
//!
//! Passages are runs of tokens. Cutting only the tokens would leave marks between them: a full stop
//! at the beginning of a line, empty brackets, two blanks. So a cut is widened to the marks and
//! blanks of the passage, and to the ends of its line or sentence if few words remain there.
//! Nothing is ever added to a text: the passages of a verdict tell exactly which text was lost.

use std::ops::Range;
use std::sync::LazyLock;

use cento_api::Part;
use cento_text::text::{closing_quotation_marks, is_unspaced, is_white_space};

/// How many words of a line or sentence may be cut with a passage: at most this number, and at most
/// a quarter of the words of the passage.
const WIDENED_MAX: usize = 4;
const WIDENED_SHARE: usize = 4;

/// Marks between two parts of a sentence.
const SEPARATORS: &str = ",;:-\u{2013}\u{2014}\u{ff0c}\u{3001}\u{ff1b}\u{ff1a}\u{60c}\u{61b}";

/// Marks at the end of a sentence.
const ENDS: &str =
    ".!?\u{2026}\u{3002}\u{ff01}\u{ff1f}\u{ff0e}\u{ff61}\u{61f}\u{6d4}\u{964}\u{965}";

/// Brackets of Unicode that stand around text, each opening one before its closing one. Arabic
/// texts have ornate parentheses in either order.
const BRACKETS: &str = "()[]{}\u{f3a}\u{f3b}\u{f3c}\u{f3d}\u{169b}\u{169c}\u{2045}\u{2046}\
     \u{2329}\u{232a}\u{27e6}\u{27e7}\u{27e8}\u{27e9}\u{27ea}\u{27eb}\u{2e28}\u{2e29}\
     \u{3008}\u{3009}\u{300a}\u{300b}\u{3010}\u{3011}\u{3014}\u{3015}\u{3016}\u{3017}\
     \u{3018}\u{3019}\u{301a}\u{301b}\u{fd3e}\u{fd3f}\u{fd3f}\u{fd3e}\u{ff08}\u{ff09}\
     \u{ff3b}\u{ff3d}\u{ff5b}\u{ff5d}\u{ff5f}\u{ff60}";

/// Marks that stand around text, and alone are apostrophes or signs.
const SIGNS: &str = "'*_`";

/// Opening brackets and quotation marks, each with a closing mark. Some marks open in one language
/// and close in another, and some do both in the same language.
static PAIRS: LazyLock<Vec<(char, char)>> = LazyLock::new(|| {
    let mut brackets = BRACKETS.chars();
    let brackets = std::iter::from_fn(|| Some((brackets.next()?, brackets.next()?)));
    let signs = SIGNS.chars().map(|sign| (sign, sign));
    let quotations = ('!'..='\u{ffff}')
        .flat_map(|open| closing_quotation_marks(open).iter().map(move |close| (open, *close)));
    brackets.chain(signs).chain(quotations).collect()
});

/// The quotation marks of French, which has blanks within them.
const FRENCH_OPENING: [char; 2] = ['\u{ab}', '\u{2039}'];
const FRENCH_CLOSING: [char; 2] = ['\u{bb}', '\u{203a}'];

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
    // A sentence may end in a quotation, or in brackets.
    let ends = |c: char| is_of(ENDS, c);
    let is_beside = |c: char| is_white_space(c) || is_closing(c);
    let is_apart = before > 1 && text[start..cut.start].trim_end_matches(is_beside).ends_with(ends)
        || after > 1 && text[cut.end..end].trim_start_matches(is_beside).starts_with(ends);
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
        let own = before.trim_start_matches(is_closing);
        // French has a blank before them, and one after them.
        let apart = own.trim_start_matches(is_space).strip_prefix(FRENCH_CLOSING);
        let own = apart.filter(|rest| rest.starts_with(is_space)).unwrap_or(own);
        start += before.len() - own.len();
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

fn is_pair(open: char, close: char) -> bool {
    PAIRS.contains(&(open, close))
}

fn is_opening(c: char) -> bool {
    PAIRS.iter().any(|pair| pair.0 == c)
}

fn is_closing(c: char) -> bool {
    PAIRS.iter().any(|pair| pair.1 == c)
}

fn is_opening_bracket(c: char) -> bool {
    BRACKETS.chars().step_by(2).any(|open| open == c)
}

/// The pairs whose marks tell the beginning of a quotation from its end.
fn directed() -> impl Iterator<Item = &'static (char, char)> {
    PAIRS.iter().filter(|(open, close)| open != close)
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

/// Returns the unopened and the unclosed marks of a passage. A mark that may be either is among
/// both. Marks that double as apostrophes or signs do not count.
fn unmatched(passage: &str) -> (Vec<char>, Vec<char>) {
    let (mut unopened, mut unclosed): (Vec<char>, Vec<char>) = (Vec::new(), Vec::new());
    let counts = |c: &char| !c.is_alphanumeric() && !is_white_space(*c) && !is_of(SIGNS, *c);
    for c in passage.chars().filter(counts) {
        if let Some(at) = unclosed.iter().rposition(|open| is_pair(*open, c)) {
            forget(&mut unopened, unclosed.remove(at));
            continue;
        }
        if unclosed.len() + unopened.len() >= UNMATCHED_MAX {
            break;
        }
        if is_opening(c) {
            unclosed.push(c);
        }
        if is_closing(c) {
            unopened.push(c);
        }
    }
    (unopened, unclosed)
}

/// Removes a mark that has found its partner, and might have been the other half of a pair.
fn forget(marks: &mut Vec<char>, mark: char) {
    if let Some(at) = marks.iter().rposition(|other| *other == mark) {
        marks.remove(at);
    }
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
            is_close && is_first && is_opening(l)
        };
        // The French marks point inwards in German, where they close after a letter or a mark.
        let opens_apart = |l: char| {
            let is_first = before_l.is_none_or(|c| is_white_space(c) || is_of("([", c));
            is_opening_bracket(l) || FRENCH_OPENING.contains(&l) && is_first
        };
        if let (Some(l), Some(r)) = (l, r)
            && is_pair(l, r)
            && (opens_apart(l) || opens(l) && follows)
        {
            return Some(start(l)..end(r));
        }
        // After a blank, a mark at the beginning of a word opens a quotation of its own.
        let ends_word = after_r.is_none_or(|c| !c.is_alphanumeric());
        if let Some(r) = r.filter(|_| follows || ends_word)
            && let Some(at) = self.unclosed.iter().rposition(|open| is_pair(*open, r))
        {
            let end = end(r);
            forget(&mut self.unopened, self.unclosed.remove(at));
            return Some(self.cut.start..end);
        }
        if let Some(l) = l.filter(|l| opens(*l) || opens_apart(*l))
            && let Some(at) = self.unopened.iter().rposition(|close| is_pair(l, *close))
        {
            let start = start(l);
            forget(&mut self.unclosed, self.unopened.remove(at));
            return Some(start..self.cut.end);
        }
        let separates = |mark: char, next| is_of(SEPARATORS, mark) && !is_within_word(mark, next);
        let ends = |mark: char, next| is_of(ENDS, mark) && !is_within_word(mark, next);
        let is_begin = l.is_none_or(|l| {
            let closes_sentence = is_closing(l) && before_l.is_some_and(|c| is_of(ENDS, c));
            let is_end = matches!(l, '\n' | '\r') || is_of(ENDS, l) || closes_sentence;
            is_end || opens(l) || opens_apart(l)
        });
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
        // A mark that had a blank after it closes, even if it opens in another language.
        let is_apart = text[cut.clone()].starts_with(is_white_space);
        let opens = !is_apart && directed().any(|pair| pair.0 == last);
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
    // Other marks open a quotation as well, at the beginning of a word.
    let closes_only =
        directed().any(|pair| pair.1 == mark) && !directed().any(|pair| pair.0 == mark);
    let ends_word = next.is_none_or(|next| !next.is_alphanumeric());
    is_of(ENDS, mark)
        || is_of(SEPARATORS, mark) && !is_dash
        || is_closing(mark) && (closes_only || ends_word)
}

#[cfg(test)]
mod tests;
