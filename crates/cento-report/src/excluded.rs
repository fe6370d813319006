//! Quotations and bibliographies in a text.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// The parts of a text that are excluded on request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exclusions {
    /// Text in quotation marks within a paragraph, and paragraphs of lines that begin with `>`.
    pub quotations: bool,
    /// Everything after a heading such as "References" in the second half of the text.
    pub bibliography: bool,
}

/// Maximum size of a quotation, in bytes: otherwise a mark that lacks its partner would exclude
/// much, and so would a whole text between two marks.
pub const QUOTATION_BYTES_MAX: usize = 2000;

/// Returns the marks that close a quotation opened by this character.
fn closing(open: char) -> &'static [char] {
    match open {
        '"' => &['"'],
        '\u{201c}' => &['\u{201d}'],
        // German and Polish, Hungarian.
        '\u{201e}' => &['\u{201c}', '\u{201d}'],
        '\u{ab}' => &['\u{bb}'],
        '\u{bb}' => &['\u{ab}'],
        '\u{300c}' => &['\u{300d}'],
        '\u{300e}' => &['\u{300f}'],
        _ => &[],
    }
}

/// Finds the quotations of a text: ascending, disjoint ranges of bytes with their marks.
#[must_use]
pub fn quotations(text: &str) -> Vec<Range<u32>> {
    let mut found = Vec::new();
    // The end of the text that has been examined.
    let mut from = 0;
    for (at, c) in text.char_indices() {
        let closing = closing(c);
        if at < from || closing.is_empty() {
            continue;
        }
        let start = at + c.len_utf8();
        for (offset, c) in text[start..].char_indices() {
            if offset > QUOTATION_BYTES_MAX || is_paragraph_end(&text[start + offset..]) {
                break;
            }
            if closing.contains(&c) {
                from = start + offset + c.len_utf8();
                found.push(at as u32..from as u32);
                break;
            }
        }
    }
    found.extend(quoted_lines(text));
    found
}

/// Returns whether a paragraph ends here: at an empty line or a page.
fn is_paragraph_end(rest: &str) -> bool {
    let Some(next) = rest.strip_prefix('\n') else { return rest.starts_with('\u{c}') };
    next.trim_start_matches([' ', '\t', '\r']).starts_with('\n')
}

/// The lines of a quotation in Markdown or mail.
fn quoted_lines(text: &str) -> impl Iterator<Item = Range<u32>> {
    lines(text).filter(|(_, line)| line.trim_start().starts_with('>')).map(|(range, _)| range)
}

/// Finds the bibliography of a text: from the last heading that announces one, if that is in the
/// second half of the text, to the end or to an appendix.
#[must_use]
pub fn bibliography(text: &str) -> Option<Range<u32>> {
    let headings: Vec<&str> = include_str!("headings.txt").lines().collect();
    let is_late = |range: &Range<u32>| range.start as usize >= text.len() / 2;
    let is_heading = |line: &str| headings.contains(&bare(line).as_str());
    let mut start = None;
    for (range, line) in lines(text).filter(|(range, _)| is_late(range)) {
        if is_heading(line) {
            start = Some(range.start);
        }
    }
    let start = start?;
    let after = |(range, line): (Range<u32>, &str)| {
        (range.start > start && is_appendix(&bare(line))).then_some(range.start)
    };
    Some(start..lines(text).find_map(after).unwrap_or(text.len() as u32))
}

fn is_appendix(line: &str) -> bool {
    let appendices = [
        "appendix",
        "appendices",
        "anhang",
        "annexe",
        "annexes",
        "anexo",
        "appendice",
        "\u{43f}\u{440}\u{438}\u{43b}\u{43e}\u{436}\u{435}\u{43d}\u{438}\u{435}",
    ];
    // "Appendix A", "Appendix 2: Data", and no sentence that begins with the word.
    let mut words = line.split_whitespace();
    let is_first =
        words.next().is_some_and(|word| appendices.contains(&word.trim_end_matches(':')));
    is_first
        && words.next().is_none_or(|word| word.trim_end_matches([':', '.']).chars().count() <= 2)
}

/// A line without the marks and the number of a heading, in lower case.
fn bare(line: &str) -> String {
    let is_mark = |c: char| c.is_whitespace() || c.is_numeric() || "#*=.):".contains(c);
    line.trim_matches(is_mark).to_lowercase()
}

/// The lines of a text, with their places.
fn lines(text: &str) -> impl Iterator<Item = (Range<u32>, &str)> {
    text.split_inclusive(['\n', '\u{c}']).scan(0, |at, line| {
        let start = *at;
        *at += line.len() as u32;
        Some((start..*at, line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut<'a>(text: &'a str, ranges: &[Range<u32>]) -> Vec<&'a str> {
        ranges.iter().map(|range| &text[range.start as usize..range.end as usize]).collect()
    }

    #[test]
    fn quotations_are_found_in_their_paragraph() {
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(cut(text, &quotations(text)), expected, "{text:?}");
        };
        check("He said \"yes\" and \"no\".", &["\"yes\"", "\"no\""]);
        check(
            "\u{201e}ja\u{201c} \u{ab}da\u{bb} \u{300c}\u{4e00}\u{300d}",
            &["\u{201e}ja\u{201c}", "\u{ab}da\u{bb}", "\u{300c}\u{4e00}\u{300d}"],
        );
        // A mark that lacks its partner excludes nothing in the next paragraph.
        check("a 5\" pipe\n\n\"quoted\"", &["\"quoted\""]);
        check("over \"two\nlines\" of one", &["\"two\nlines\""]);
        check("text\n> quoted\n> more\ntext", &["> quoted\n", "> more\n"]);
        check(&format!("\"{}\"", "long ".repeat(500)), &[]);
        check("it's John's", &[]);
    }

    #[test]
    fn a_bibliography_is_the_end_of_a_text() {
        let body = "Body of the text.\n".repeat(9);
        let check = |end: &str, expected: Option<&str>| {
            let text = format!("{body}{end}");
            let found = bibliography(&text).map(|range| cut(&text, &[range])[0].to_owned());
            assert_eq!(found.as_deref(), expected, "{end:?}");
        };
        check("References\n[1] A\n[2] B", Some("References\n[1] A\n[2] B"));
        check("## 7. Bibliography:\nA\n", Some("## 7. Bibliography:\nA\n"));
        check("REFERENCES\nA\n\nAppendix A\nB\n", Some("REFERENCES\nA\n\n"));
        check("References are given below.\nA", None);
        check("\u{53c2}\u{8003}\u{6587}\u{732e}\nA", Some("\u{53c2}\u{8003}\u{6587}\u{732e}\nA"));
        // The table of contents names it, too.
        assert_eq!(bibliography(&format!("References\n{body}")), None);
    }
}
