//! How are two passages shown so that the eye finds what was changed?

use std::io::{self, Write};
use std::time::{Duration, Instant};

use console::{Style, Term, measure_text_width, pad_str, truncate_str};
use similar::{Algorithm, DiffTag, capture_diff_slices_deadline};

/// Lines are at most so wide, for the eye to find the next one.
const WIDTH_MAX: usize = 160;
/// The width where there is no terminal.
const WIDTH_DEFAULT: usize = 100;
/// Between the two columns.
const RULE: &str = " | ";

/// After so long the comparison of words is given up and goes on more coarsely.
const COMPARING_MAX: Duration = Duration::from_millis(500);

/// Two columns on a terminal.
pub struct SideBySide {
    column: usize,
    /// Of words that only the left, only the right text has.
    styles: [Style; 2],
}

/// Words with whether they stand in this text only.
type Words<'a> = Vec<(&'a str, bool)>;

impl SideBySide {
    /// Columns as wide as the terminal allows.
    pub fn new() -> SideBySide {
        let width = Term::stdout().size_checked().map_or(WIDTH_DEFAULT, |size| size.1.into());
        let column = (width.clamp(40, WIDTH_MAX) - RULE.len()) / 2;
        SideBySide { column, styles: [Style::new().red().bold(), Style::new().green().bold()] }
    }

    /// A line above the columns.
    pub fn headings(&self, out: &mut impl Write, headings: [String; 2]) -> io::Result<()> {
        let bold = Style::new().bold();
        let [left, right] = headings.map(|text| self.fit(&text));
        self.line(out, &bold.apply_to(left).to_string(), &bold.apply_to(right).to_string())
    }

    /// The texts, line beside line.
    pub fn texts(&self, out: &mut impl Write, left: &str, right: &str) -> io::Result<()> {
        let (left, right) = compare(left, right);
        let (left, right) = (self.wrap(&left, 0), self.wrap(&right, 1));
        for i in 0..left.len().max(right.len()) {
            let cell = |lines: &[String]| lines.get(i).cloned().unwrap_or_default();
            self.line(out, &cell(&left), &cell(&right))?;
        }
        Ok(())
    }

    fn line(&self, out: &mut impl Write, left: &str, right: &str) -> io::Result<()> {
        let left = pad_str(left, self.column, console::Alignment::Left, None);
        writeln!(out, "{}", format!("{left}{RULE}{right}").trim_end())
    }

    fn fit(&self, text: &str) -> String {
        let skipped = measure_text_width(text).saturating_sub(self.column);
        match skipped {
            0 => text.into(),
            // The end of a path says more than its beginning.
            _ => {
                let cut = text.char_indices().nth(skipped + 3).map_or(0, |(at, _)| at);
                truncate_str(&format!("...{}", &text[cut..]), self.column, "").into_owned()
            }
        }
    }

    fn wrap(&self, words: &Words<'_>, side: usize) -> Vec<String> {
        let (mut lines, mut line, mut width) = (Vec::new(), String::new(), 0);
        for &(word, is_only_here) in words {
            let word = truncate_str(word, self.column, "~");
            let len = measure_text_width(&word);
            if width > 0 && width + 1 + len > self.column {
                lines.push(std::mem::take(&mut line));
                width = 0;
            }
            if width > 0 {
                line.push(' ');
                width += 1;
            }
            match is_only_here {
                true => line += &self.styles[side].apply_to(word).to_string(),
                false => line += &word,
            }
            width += len;
        }
        if !line.is_empty() {
            lines.push(line);
        }
        lines
    }
}

/// The words of two texts, each with whether the other lacks it at that place.
fn compare<'a>(left: &'a str, right: &'a str) -> (Words<'a>, Words<'a>) {
    let words = |text: &'a str| text.split_whitespace().collect::<Vec<_>>();
    let (left, right) = (words(left), words(right));
    let plain = |words: &[&str]| words.iter().map(|word| key(word)).collect::<Vec<_>>();
    let deadline = Some(Instant::now() + COMPARING_MAX);
    let (a, b) = (plain(&left), plain(&right));
    let changes = capture_diff_slices_deadline(Algorithm::Myers, &a, &b, deadline);
    let mut marked: (Words<'a>, Words<'a>) =
        (Vec::with_capacity(left.len()), Vec::with_capacity(right.len()));
    for change in changes {
        let is_changed = change.tag() != DiffTag::Equal;
        marked.0.extend(left[change.old_range()].iter().map(|&word| (word, is_changed)));
        marked.1.extend(right[change.new_range()].iter().map(|&word| (word, is_changed)));
    }
    marked
}

/// What makes two words equal: their letters and digits.
fn key(word: &str) -> String {
    let key: String =
        word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    if key.is_empty() { word.into() } else { key }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_one_text_only_are_marked() {
        let (left, right) = compare("The quick, brown fox", "the very quick fox");
        assert_eq!(left, [("The", false), ("quick,", false), ("brown", true), ("fox", false)]);
        assert_eq!(right, [("the", false), ("very", true), ("quick", false), ("fox", false)]);
    }

    #[test]
    fn no_line_is_wider_than_its_column() {
        let columns = SideBySide { column: 10, styles: [Style::new(), Style::new()] };
        let mut out = Vec::new();
        let long = "a bcd efghijklmnopqrstuvwxyz \u{65e5}\u{672c}\u{8a9e}\u{65e5}\u{672c}\u{8a9e}";
        columns.texts(&mut out, long, "x").unwrap();
        for line in String::from_utf8(out).unwrap().lines() {
            assert!(measure_text_width(line) <= 10 + RULE.len() + 1, "{line}");
        }
    }
}
