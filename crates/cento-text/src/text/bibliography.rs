//! Where does the bibliography of a text begin?
//!
//! A bibliography begins after a line that is a heading in `headings.txt`, in the second half of
//! the text. Some headings also occur above prose ("Sources", of a river). The list marks these
//! headings, and the lines after such a heading must look like entries of a bibliography.

use std::collections::HashMap;
use std::ops::Range;
use std::str::Chars;
use std::sync::LazyLock;

use super::digit::decimal_digit;
use super::quotations::lines;
use super::unicode::normal::base;
use super::unicode::{
    folded, is_assigned, is_hangul, is_mark, is_number, is_unspaced, is_white_space,
};

/// Finds the bibliography of a text: from the last heading of a bibliography, if the heading is in
/// the second half of the text, to the end or to an appendix. A heading within the list, as of its
/// web pages, does not begin another.
#[must_use]
pub fn bibliography(text: &str) -> Option<Range<u32>> {
    let is_late = |range: &Range<u32>| range.start as usize >= text.len() / 2;
    // The heading, and the end of the entries that have been examined.
    let mut found: Option<Range<u32>> = None;
    for (range, line) in lines(text).filter(|(range, _)| is_late(range)) {
        let begins = match heading(line) {
            Some(Heading::Certain) => true,
            Some(Heading::Doubtful) => looks_like_entries(&text[range.end as usize..]),
            None => false,
        };
        if !begins {
            continue;
        }
        let between = |list: &Range<u32>| &text[list.end as usize..range.start as usize];
        match found.as_mut().filter(|list| are_entries(between(list))) {
            Some(list) => list.end = range.end,
            None => found = Some(range),
        }
    }
    let start = found?.start;
    let after = |(range, line): (Range<u32>, &str)| {
        (range.start > start && is_appendix(line)).then_some(range.start)
    };
    Some(start..lines(text).find_map(after).unwrap_or(text.len() as u32))
}

/// Returns whether a line is a heading that only bibliographies have.
#[must_use]
pub fn is_bibliography_heading(line: &str) -> bool {
    heading(line) == Some(Heading::Certain)
}

/// A line that announces a bibliography.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heading {
    /// Only a bibliography has this heading.
    Certain,
    /// A chapter of prose may have this heading.
    Doubtful,
}

/// The mark of doubtful headings in the list.
const DOUBTFUL: &str = "? ";

/// The maximum number of characters of a line that are examined. No heading has as many.
const HEADING_CHARS_MAX: usize = 200;

/// The headings of the list, as [`bare`] returns them.
static HEADINGS: LazyLock<HashMap<String, Heading>> = LazyLock::new(|| {
    let heading = |heading: &str| match heading.strip_prefix(DOUBTFUL) {
        Some(heading) => (bare(heading), Heading::Doubtful),
        None => (bare(heading), Heading::Certain),
    };
    include_str!("headings.txt").lines().map(heading).collect()
});

fn heading(line: &str) -> Option<Heading> {
    HEADINGS.get(&bare(line)).copied()
}

fn is_appendix(line: &str) -> bool {
    // As `bare` returns them.
    let appendices = [
        "allegati",
        "allegato",
        "anexo",
        "anexos",
        "anhang",
        "anhange",
        "annex",
        "annexe",
        "annexes",
        "apendice",
        "apendices",
        "appendice",
        "appendices",
        "appendix",
        "bijlage",
        "bijlagen",
        "bilaga",
        "bilagor",
        "ekler",
        "lampiran",
        "priloha",
        "prilohy",
        "za\u{142}acznik",
        "za\u{142}aczniki",
        "\u{434}\u{43e}\u{434}\u{430}\u{442}\u{43a}\u{438}",
        "\u{434}\u{43e}\u{434}\u{430}\u{442}\u{43e}\u{43a}",
        "\u{43f}\u{440}\u{438}\u{43b}\u{43e}\u{436}\u{435}\u{43d}\u{438}\u{435}",
        "\u{43f}\u{440}\u{438}\u{43b}\u{43e}\u{436}\u{435}\u{43d}\u{438}\u{44f}",
        "\u{4ed8}\u{9332}",
        "\u{9644}\u{5f55}",
        "\u{9644}\u{9304}",
        "\u{bd80}\u{b85d}",
    ];
    let line = bare(line);
    // "Appendix A" and "Appendix 2: Data", but no sentence that begins with the word.
    let mut words = line.split(is_white_space).filter(|word| !word.is_empty());
    let is_first =
        words.next().is_some_and(|word| appendices.contains(&word.trim_end_matches(':')));
    is_first
        && words.next().is_none_or(|word| word.trim_end_matches([':', '.']).chars().count() <= 2)
}

/// Brackets and signs around headings and their numbers.
const SIGNS: &str = "#*=.:()[]_-\u{2013}\u{2014}\u{a7}\u{2022}\u{3001}\u{feff}\
     \u{ff08}\u{ff09}\u{ff0e}\u{ff1a}\u{3008}\u{3009}\u{300a}\u{300b}\u{300c}\u{300d}\
     \u{3010}\u{3011}\u{3014}\u{3015}";

/// Returns a line without the marks and the number of a heading, in lower case, and without
/// accents, which capitals may lack and which may be separate characters.
fn bare(line: &str) -> String {
    let line: String = line.trim_matches(is_white_space).chars().take(HEADING_CHARS_MAX).collect();
    // Marks of direction are invisible.
    let is_direction =
        |c: char| matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}');
    let is_sign =
        |c: char| is_white_space(c) || is_number(c) || is_direction(c) || SIGNS.contains(c);
    let line = without_number(line.trim_matches(is_sign)).trim_start_matches(is_sign);
    // Headings of two or four letters are spaced out over the line.
    let is_dense = |c: char| is_unspaced(c) || is_hangul(c);
    let is_spaced_out = line.chars().all(|c| is_dense(c) || is_white_space(c));
    // The first part of a syllable of Hangul is no letter without its marks.
    let letter = |c: char| if is_hangul(c) || !is_assigned(c) { c } else { base(c) };
    let is_kept = |c: &char| !(is_mark(*c) || is_spaced_out && is_white_space(*c));
    folded(line.chars()).map(letter).filter(is_kept).collect()
}

/// Removes a Roman number, a letter or a Chinese number before a heading: "VI. References".
fn without_number(line: &str) -> &str {
    if let Some((number, rest)) = line.split_once('\u{3001}')
        && number.chars().all(|c| digit(c).is_some() || c == '\u{5341}')
    {
        return rest;
    }
    let Some((first, rest)) = line.split_once(is_white_space) else { return line };
    let number = first.trim_end_matches(['.', ')', ':']);
    let is_roman = number.chars().all(|c| "IVXLC".contains(c) || "ivxlc".contains(c));
    let is_letter = number.len() < first.len() && number.chars().count() == 1;
    if !number.is_empty() && (is_roman || is_letter) { rest } else { line }
}

/// How much text after a heading is examined.
const LINES_MAX: usize = 8;
const CHARS_MAX: usize = 1500;

/// The maximum number of characters per detail of entries: an entry has a year, and often pages.
const CHARS_PER_DETAIL: usize = 200;

/// The minimum number of punctuation marks for a hundred words of entries. Prose has about 15,
/// entries have 40 and more.
const MARKS_PERCENT_MIN: usize = 30;

/// Returns whether all of a text looks like entries of a bibliography.
fn are_entries(text: &str) -> bool {
    let mut rest = text.trim_matches(is_white_space);
    while !rest.is_empty() {
        let ends = rest.match_indices('\n').map(|(at, _)| at + 1);
        let end = ends.take(LINES_MAX).last().filter(|_| rest.lines().nth(LINES_MAX).is_some());
        let (piece, after) = rest.split_at(end.unwrap_or(rest.len()));
        if !looks_like_entries(piece) {
            return false;
        }
        rest = after.trim_start_matches(is_white_space);
    }
    true
}

/// Returns whether a text begins as a bibliography does, with many years, ranges of pages and
/// addresses, and much punctuation.
fn looks_like_entries(text: &str) -> bool {
    let filled = lines(text)
        .map(|(_, line)| line.trim_matches(is_white_space))
        .filter(|line| !line.is_empty());
    let mut sample = String::new();
    for line in filled.take(LINES_MAX).take_while(|line| !is_appendix(line)) {
        sample.extend(line.chars().chain(['\n']));
    }
    let sample: String = sample.chars().take(CHARS_MAX).collect();
    let chars = sample.chars().filter(|&c| !is_white_space(c)).count();
    let words = sample.split(is_white_space).filter(|word| !word.is_empty()).count();
    let marks = sample.chars().filter(|&c| is_punctuation(c)).count();
    chars > 0
        && chars <= CHARS_PER_DETAIL * details(&sample)
        && marks * 100 >= words * MARKS_PERCENT_MIN
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation()
        || matches!(c, '\u{ab}' | '\u{b7}' | '\u{bb}' | '\u{2010}'..='\u{2027}')
        || matches!(c, '\u{2030}'..='\u{205e}' | '\u{3001}'..='\u{303f}' | '\u{ff01}'..='\u{ff0f}')
        || matches!(c, '\u{ff1a}'..='\u{ff20}' | '\u{5be}' | '\u{5f3}' | '\u{5f4}')
        || matches!(c, '\u{60c}' | '\u{61b}' | '\u{964}')
}

/// Counts the years, ranges of pages and addresses of a text.
fn details(text: &str) -> usize {
    let addresses = ["http://", "https://", "www.", "doi.org", "doi:", "DOI:", "arXiv:"];
    let addresses: usize = addresses.iter().map(|address| text.matches(address).count()).sum();
    let (mut found, mut chars) = (addresses, text.chars());
    while let Some(c) = chars.next() {
        let Some(first) = digit(c) else { continue };
        let (number, digits) = number_of(first, &mut chars);
        // "45-67". A range of years such as "1914-1918" is a single detail.
        let mut after = chars.clone();
        let is_dash = |c: char| matches!(c, '-' | '\u{2010}'..='\u{2014}' | '~' | '\u{301c}');
        let is_range = after.next().is_some_and(is_dash)
            && after.next().and_then(digit).is_some_and(|first| {
                number_of(first, &mut after);
                true
            });
        if is_range {
            chars = after;
        }
        found += usize::from(is_range || digits == 4 && YEARS.contains(&number));
    }
    found
}

/// Years of the calendars in use: Christian, Islamic, Persian and Buddhist.
const YEARS: Range<u32> = 1300..2700;

/// Reads the remaining digits of a number. Returns the number, and how many digits it has.
fn number_of(first: u32, chars: &mut Chars<'_>) -> (u32, usize) {
    let (mut number, mut digits) = (first, 1);
    while let Some(next) = chars.clone().next().and_then(digit) {
        number = number.saturating_mul(10).saturating_add(next);
        digits += 1;
        chars.next();
    }
    (number, digits)
}

/// Returns the value of a decimal digit, also of a Chinese digit.
fn digit(c: char) -> Option<u32> {
    const CHINESE: &str =
        "\u{3007}\u{4e00}\u{4e8c}\u{4e09}\u{56db}\u{4e94}\u{516d}\u{4e03}\u{516b}\u{4e5d}";
    let chinese = || CHINESE.chars().position(|digit| digit == c).map(|at| at as u32);
    decimal_digit(c).or_else(chinese)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::unicode::is_letter;

    fn check(end: &str, expected: Option<&str>) {
        let text = format!("{}{end}", "Body of the text.\n".repeat(9 + end.len() / 10));
        let found = bibliography(&text).map(|at| &text[at.start as usize..at.end as usize]);
        assert_eq!(found, expected, "{end:?}");
    }

    #[test]
    fn a_bibliography_is_the_end_of_a_text() {
        let body = "Body of the text.\n".repeat(9);
        check("References\n[1] A\n[2] B", Some("References\n[1] A\n[2] B"));
        check("## 7. Bibliography:\nA\n", Some("## 7. Bibliography:\nA\n"));
        check("REFERENCES\nA\n\nAppendix A\nB\n", Some("REFERENCES\nA\n\n"));
        check("References are given below.\nA", None);
        check("\u{53c2}\u{8003}\u{6587}\u{732e}\nA", Some("\u{53c2}\u{8003}\u{6587}\u{732e}\nA"));
        // The table of contents also contains the heading.
        assert_eq!(bibliography(&format!("References\n{body}")), None);
    }

    #[test]
    fn the_number_and_the_writing_of_a_heading_do_not_matter() {
        for heading in [
            "VI. References",
            "iv) References",
            "A. References",
            "VI References",
            "5.2 \u{2013} References:",
            "[References]",
            "REFERENCES CITED",
            "Notes and references",
            "\u{392}\u{399}\u{392}\u{39b}\u{399}\u{39f}\u{393}\u{3a1}\u{391}\u{3a6}\u{399}\u{391}",
            "R\u{c9}F\u{c9}RENCES",
            "Re\u{301}fe\u{301}rences:",
            "\u{53c2}\u{8003}\u{6587}\u{732e}\u{ff1a}",
            "\u{3010}\u{53c2}\u{8003}\u{6587}\u{732e}\u{3011}",
            "\u{53c2}\u{3000}\u{8003}\u{3000}\u{6587}\u{3000}\u{732e}",
            "\u{cc38} \u{ace0} \u{bb38} \u{d5cc}",
            "KAYNAK\u{c7}A",
            "B\u{130}BL\u{130}YOGRAFYA",
            "\u{516d}\u{3001}\u{53c2}\u{8003}\u{6587}\u{732e}",
            "\u{200f}\u{627}\u{644}\u{645}\u{631}\u{627}\u{62c}\u{639}\u{200f}",
        ] {
            let end = format!("{heading}\nA\n");
            check(&end, Some(&end));
        }
        for line in ["My references", "Mix references", "VI. References of this page", "VI."] {
            assert_eq!(heading(line), None, "{line}");
        }
        for heading in include_str!("headings.txt").lines() {
            let heading = heading.strip_prefix(DOUBTFUL).unwrap_or(heading);
            let letters = |text: &str| text.chars().filter(|&c| is_letter(c)).count();
            assert_eq!(letters(&bare(heading)), letters(heading), "{heading}");
        }
        assert_eq!(HEADINGS.len(), include_str!("headings.txt").lines().count());
    }

    #[test]
    fn headings_of_many_languages_are_known() {
        let headings = [
            (
                "\u{392}\u{3b9}\u{3b2}\u{3bb}\u{3b9}\u{3bf}\u{3b3}\u{3c1}\u{3b1}\u{3c6}\u{3af}\
                 \u{3b1}",
                "Smith, J. (2001): Nile, 3-5.",
            ),
            ("Kaynak\u{e7}a", "Smith, J. (2001): Nile, 3-5."),
            ("Quellen", "Smith, J. (2001): Nile, 3-5."),
            (
                "\u{627}\u{644}\u{645}\u{631}\u{627}\u{62c}\u{639}",
                "\u{637}\u{647} \u{62d}\u{633}\u{64a}\u{646}\u{60c} \u{661}\u{669}\u{662}\u{669}.",
            ),
            (
                "\u{645}\u{646}\u{627}\u{628}\u{639}",
                "\u{62f}\u{647}\u{62e}\u{62f}\u{627}. (\u{6f1}\u{6f3}\u{6f7}\u{6f7}).",
            ),
            (
                "\u{5de}\u{5e7}\u{5d5}\u{5e8}\u{5d5}\u{5ea}",
                "\u{5db}\u{5d4}\u{5df}, \u{5d0}. (2001), 3-5.",
            ),
            (
                "\u{938}\u{902}\u{926}\u{930}\u{94d}\u{92d}",
                "\u{936}\u{930}\u{94d}\u{92e}\u{93e}, \u{930}. (\u{968}\u{966}\u{966}\u{967}).",
            ),
            ("\u{cc38}\u{ace0}\u{bb38}\u{d5cc}", "\u{ae40}\u{c601}\u{d76c}. \u{ac15}. 2001."),
            (
                "\u{e1a}\u{e23}\u{e23}\u{e13}\u{e32}\u{e19}\u{e38}\u{e01}\u{e23}\u{e21}",
                "\u{e01}. (\u{e52}\u{e55}\u{e54}\u{e54}).",
            ),
            (
                "\u{6587}\u{732e}",
                "\u{738b}\u{4e00}\u{ff0c}\u{300a}\u{6c5f}\u{300b}\u{ff0c}\
                 \u{4e8c}\u{3007}\u{3007}\u{4e00}\u{5e74}\u{3002}",
            ),
        ];
        for (heading, entry) in headings {
            let end = format!("{heading}\n\n{entry}\n{entry}\n");
            check(&end, Some(&end));
        }
    }

    #[test]
    fn a_heading_within_a_bibliography_begins_no_other() {
        // A list of web pages after the books counted alone.
        let books = "Smith, J. (2001). Rivers. London: Water, 3-5.\n".repeat(20);
        let pages = "https://example.org/lakes (2019)\n";
        for heading in ["Sitografia", "Webographie", "Quellen"] {
            let end = format!("Bibliografia\n\n{books}\n{heading}\n{pages}");
            check(&end, Some(&end));
        }
        // The references of an earlier chapter end before the next chapter.
        let last = format!("References\n{books}");
        let end = format!("{last}\n{}{last}", "The lake lies in the hills.\n".repeat(9));
        check(&end, Some(&last));
    }

    #[test]
    fn a_heading_that_prose_may_have_needs_entries_below_it() {
        // A chapter "Sources" about a river was excluded with everything that followed.
        let story = "The river has two sources, and both are in the hills above the town.\n\
                     In 1858 a traveller came to the lake, and in 1862 he found the falls.\n\
                     He wrote home about it, but nobody there believed a word of what he said.\n";
        let dense =
            "In 1858 Speke saw the lake. In 1862 he saw the falls. By 1863 all knew of it.\n";
        for heading in ["Sources", "Quellen", "Literature", "3. Literatur"] {
            check(&format!("{heading}\n\n{}", story.repeat(3)), None);
            check(&format!("{heading}\n{}", dense.repeat(4)), None);
            check(&format!("{heading}\n"), None);
        }
        for entries in [
            "Smith, J. (2001). The sources of rivers. Journal of Lakes, 12(3), 45-67.\nDoe, A. \
             (1999).\nRivers. London: Water.\n",
            "[1] J. Smith and A. Doe, \"On the rivers of the north and their\nsources,\" in Proc. \
             Lakes,\n1999, pp. 12\u{2013}19.\n[2] A. Doe, Rivers, 2nd ed.\n",
            "NASA, https://example.org/rivers\nhttps://example.org/lakes, seen on 3 May\n",
            "M\u{fc}ller, Hans: Die Quellen der Fl\u{fc}sse. Berlin 1999.\nSpeke, John: Journal. \
             Edinburgh 1863.\n",
        ] {
            for heading in ["Sources", "Quellen", "Literatur"] {
                let end = format!("{heading}\n\n{entries}");
                check(&end, Some(&end));
            }
        }
        // The certain heading remains the beginning.
        let both = format!("References\nDoe, A. 2001.\nSources\n{}", story.repeat(3));
        check(&both, Some(&both));
    }
}
