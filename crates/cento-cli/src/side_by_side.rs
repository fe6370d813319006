//! Two passages side by side, so that changes stand out.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use console::{Style, Term, measure_text_width, pad_str, truncate_str};
use similar::{Algorithm, DiffTag, capture_diff_slices_deadline};

use super::terminal::{is_obeyed, printable};
use cento_report::is_of_a_script_without_spaces;

/// Maximum width of a line. In wider lines the eye loses the next line.
const WIDTH_MAX: usize = 160;
/// The width where there is no terminal.
const WIDTH_DEFAULT: usize = 100;
/// Between the two columns.
const RULE: &str = " | ";

/// How many pieces of an overlong word fill a column.
const PIECES: usize = 4;

/// After this time the comparison of words continues more coarsely.
const COMPARING_MAX: Duration = Duration::from_millis(500);

/// Two columns on a terminal.
pub struct SideBySide {
    column: usize,
    /// Styles of words that only the left text has, and only the right text.
    styles: [Style; 2],
}

/// A piece that both texts have, or that only the left or right text has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step<'a, T> {
    Both(&'a T, &'a T),
    Left(&'a T),
    Right(&'a T),
}

/// A word, or a piece of an overlong word.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DiffWord {
    text: String,
    /// Whether white space precedes the word.
    is_apart: bool,
}

impl SideBySide {
    /// Makes columns as wide as the terminal allows.
    pub fn new() -> SideBySide {
        let width = Term::stdout().size_checked().map_or(WIDTH_DEFAULT, |size| size.1.into());
        let column = (width.clamp(40, WIDTH_MAX) - RULE.len()) / 2;
        SideBySide { column, styles: [Style::new().red().bold(), Style::new().green().bold()] }
    }

    /// Writes a line above the columns.
    pub fn headings(&self, out: &mut impl Write, headings: [String; 2]) -> io::Result<()> {
        let bold = Style::new().bold();
        let [left, right] = headings.map(|text| self.fit(&printable(&text)));
        self.line(out, &bold.apply_to(left).to_string(), &bold.apply_to(right).to_string())
    }

    /// Writes the texts, line beside line: equal parts stay level.
    pub fn texts(&self, out: &mut impl Write, left: &str, right: &str) -> io::Result<()> {
        let [left_style, right_style] = &self.styles;
        let mut lines = [ColumnLine::default(), ColumnLine::default()];
        let (left, right) = (words(left, self.column), words(right, self.column));
        for step in compare(&left, &right, |word: &DiffWord| key(&word.text)) {
            let words = match step {
                Step::Both(left, right) => [Some(left), Some(right)],
                Step::Left(word) => [Some(word), None],
                Step::Right(word) => [None, Some(word)],
            };
            let fits = lines.iter().zip(words).all(|(line, word)| {
                word.is_none_or(|word| line.width == 0 || line.width_with(word) <= self.column)
            });
            if !fits {
                self.line(out, &lines[0].text, &lines[1].text)?;
                lines = [ColumnLine::default(), ColumnLine::default()];
            }
            for ((line, word), style) in lines.iter_mut().zip(words).zip([left_style, right_style])
            {
                let style = (!matches!(step, Step::Both(..))).then_some(style);
                if let Some(word) = word {
                    line.push(word, style);
                }
            }
        }
        self.line(out, &lines[0].text, &lines[1].text)
    }

    /// Writes programs line beside line, with indentation. Equal lines stay level, and changed
    /// lines are beside the lines that they replace.
    pub fn programs(&self, out: &mut impl Write, left: &str, right: &str) -> io::Result<()> {
        let (left, right) = (lines(left), lines(right));
        for row in rows(&compare(&left, &right, |line: &String| without_white_space(line))) {
            let LineRow { lines, is_same } = row;
            let [left, right] = lines.map(|line| pieces(line, self.column));
            for row in 0..left.len().max(right.len()).max(1) {
                let piece = |of: &[String], style: &Style| {
                    let piece = of.get(row).map_or("", String::as_str);
                    if is_same { piece.to_owned() } else { style.apply_to(piece).to_string() }
                };
                let [left_style, right_style] = &self.styles;
                self.line(out, &piece(&left, left_style), &piece(&right, right_style))?;
            }
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
            // Cuts the beginning, because the end of a path says more.
            _ => {
                let cut = text.char_indices().nth(skipped + 3).map_or(0, |(at, _)| at);
                truncate_str(&format!("...{}", &text[cut..]), self.column, "").into_owned()
            }
        }
    }
}

/// A line of a column.
#[derive(Default)]
struct ColumnLine {
    text: String,
    width: usize,
}

impl ColumnLine {
    /// Returns the width of the line with `word` appended.
    fn width_with(&self, word: &DiffWord) -> usize {
        self.width + usize::from(self.has_space_before(word)) + measure_text_width(&word.text)
    }

    fn has_space_before(&self, word: &DiffWord) -> bool {
        self.width > 0 && word.is_apart
    }

    fn push(&mut self, word: &DiffWord, style: Option<&Style>) {
        let width = self.width_with(word);
        if self.has_space_before(word) {
            self.text.push(' ');
        }
        match style {
            Some(style) => self.text += &style.apply_to(&word.text).to_string(),
            None => self.text += &word.text,
        }
        self.width = width;
    }
}

/// Splits a text into words that fit a column: long words in pieces, scripts without spaces in
/// letters, and characters that would move the cursor replaced.
fn words(text: &str, column: usize) -> Vec<DiffWord> {
    let mut words: Vec<DiffWord> = Vec::new();
    let width_max = column / PIECES;
    for word in text.split_whitespace() {
        let is_long = measure_text_width(word) > column;
        let mut is_apart = true;
        // Whether the next letter begins a piece.
        let mut is_ended = true;
        for c in word.chars() {
            let c = if is_obeyed(c) { char::REPLACEMENT_CHARACTER } else { c };
            let is_letter_alone = is_of_a_script_without_spaces(c);
            let is_mark = measure_text_width(c.encode_utf8(&mut [0; 4])) == 0;
            match words.last_mut() {
                Some(piece) if !is_apart && (is_mark || !is_ended && !is_letter_alone) => {
                    piece.text.push(c);
                }
                _ => words.push(DiffWord { text: c.into(), is_apart }),
            }
            is_apart = false;
            let piece = words.last().map_or(0, |piece| measure_text_width(&piece.text));
            is_ended = is_letter_alone || is_mark && is_ended || is_long && piece >= width_max;
        }
    }
    words
}

/// Returns the lines of a program without characters that would move the cursor.
fn lines(text: &str) -> Vec<String> {
    let visible = |line: &str| {
        let line = line.replace('\t', "    ");
        line.chars().map(|c| if is_obeyed(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
    };
    text.lines().map(visible).collect()
}

/// Cuts a text into pieces of about this width.
fn pieces(text: &str, width: usize) -> Vec<String> {
    let (mut pieces, mut piece) = (Vec::new(), String::new());
    for c in text.chars() {
        piece.push(c);
        if measure_text_width(&piece) >= width {
            pieces.push(std::mem::take(&mut piece));
        }
    }
    pieces.extend(Some(piece).filter(|piece| !piece.is_empty()));
    pieces
}

/// Aligns the words or lines of two texts, keeping the order. Items with equal `key` are equal.
fn compare<'a, T>(left: &'a [T], right: &'a [T], key: impl Fn(&T) -> String) -> Vec<Step<'a, T>> {
    let plain = |words: &[T]| words.iter().map(&key).collect::<Vec<_>>();
    let deadline = Some(Instant::now() + COMPARING_MAX);
    let (a, b) = (plain(left), plain(right));
    let mut steps = Vec::with_capacity(left.len().max(right.len()));
    for change in capture_diff_slices_deadline(Algorithm::Myers, &a, &b, deadline) {
        let (left, right) = (&left[change.old_range()], &right[change.new_range()]);
        if change.tag() == DiffTag::Equal {
            steps.extend(left.iter().zip(right).map(|(left, right)| Step::Both(left, right)));
        } else {
            steps.extend(left.iter().map(Step::Left));
            steps.extend(right.iter().map(Step::Right));
        }
    }
    steps
}

/// Lines of two programs to show on one row.
#[derive(Debug, PartialEq, Eq)]
struct LineRow<'a> {
    /// Empty where a program has no line.
    lines: [&'a str; 2],
    is_same: bool,
}

/// Arranges steps in rows. A run of lines that only the left program has is paired with the
/// following run of the right program, line by line.
fn rows<'a>(steps: &[Step<'a, String>]) -> Vec<LineRow<'a>> {
    let mut rows = Vec::with_capacity(steps.len());
    let is_same = |step: &Step<'_, String>| matches!(step, Step::Both(..));
    for steps in steps.chunk_by(|a, b| is_same(a) == is_same(b)) {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for step in steps {
            match *step {
                Step::Both(a, b) => rows.push(LineRow { lines: [a, b], is_same: true }),
                Step::Left(line) => left.push(line.as_str()),
                Step::Right(line) => right.push(line.as_str()),
            }
        }
        rows.extend((0..left.len().max(right.len())).map(|at| {
            let lines = [&left, &right].map(|lines| lines.get(at).copied().unwrap_or_default());
            LineRow { lines, is_same: false }
        }));
    }
    rows
}

/// Returns the letters and digits of a word, which decide whether two words are equal.
fn key(word: &str) -> String {
    let key: String =
        word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    if key.is_empty() { word.into() } else { key }
}

/// Returns a line of a program without white space. Lines that differ only in white space are
/// equal.
fn without_white_space(line: &str) -> String {
    line.chars().filter(|c| !c.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_shown_line_beside_line() {
        let columns = SideBySide { column: 12, styles: [Style::new(), Style::new()] };
        let mut out = Vec::new();
        let right = "int f() {\n    return g(1);\n    more();\n}\n";
        columns.programs(&mut out, "int f() {\n\treturn g(1);\n}", right).unwrap();
        let expected = "int f() {    | int f() {\n    return g | \u{20}   return g\n\
                        (1);         | (1);\n             |     more();\n}            | }\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn lines_that_take_the_place_of_others_are_beside_them() {
        let columns = SideBySide { column: 12, styles: [Style::new(), Style::new()] };
        let mut out = Vec::new();
        let (left, right) = ("f() {\n  a = 1;\n  b = 2;\n}", "f() {\n  x = 1;\n}");
        columns.programs(&mut out, left, right).unwrap();
        let expected = "f() {        | f() {\n  a = 1;     |   x = 1;\n  b = 2;     |\n\
                        }            | }\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn text_without_spaces_is_shown_without_them_and_level_with_a_copy_in_other_lines() {
        let columns = SideBySide { column: 20, styles: [Style::new(), Style::new()] };
        let text =
            "\u{6cb3}\u{6c34}\u{5728}\u{7da0}\u{8272}\u{7684}\u{7530}\u{91ce}\u{4e4b}\u{9593}";
        let shown = |right: &str| {
            let mut out = Vec::new();
            columns.texts(&mut out, text, right).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(shown(text), format!("{text} | {text}\n"));
        let (first, last) = text.split_at(12);
        let level: String = shown(&format!("{first}\n{last}"))
            .lines()
            .map(|line| line.split_once(RULE).unwrap().0.trim_end())
            .collect();
        assert_eq!(level, text);
    }

    #[test]
    fn words_of_one_text_are_distinct_from_those_of_both() {
        let (left, right) = (words("The quick, brown fox", 40), words("the very quick fox", 40));
        let steps = compare(&left, &right, |word: &DiffWord| key(&word.text));
        let shown = steps.iter().map(|step| match step {
            Step::Both(left, right) => (&*left.text, &*right.text),
            Step::Left(word) => (&*word.text, ""),
            Step::Right(word) => ("", &*word.text),
        });
        let expected =
            [("The", "the"), ("", "very"), ("quick,", "quick"), ("brown", ""), ("fox", "fox")];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn nothing_is_lost_and_nothing_moves_the_cursor() {
        let text = format!("{}\u{1b}[2J\u{202e}", "\u{65e5}\u{672c}".repeat(30));
        let pieces = words(&text, 20);
        assert!(pieces.iter().all(|piece| measure_text_width(&piece.text) <= 20));
        let shown: String = pieces.into_iter().map(|piece| piece.text).collect();
        assert_eq!(shown, text.replace(['\u{1b}', '\u{202e}'], "\u{fffd}"));
    }

    #[test]
    fn equal_parts_are_on_the_same_line() {
        let columns = SideBySide { column: 12, styles: [Style::new(), Style::new()] };
        let mut out = Vec::new();
        columns.texts(&mut out, "one two three four five", "one new words two three four").unwrap();
        let text = String::from_utf8(out).unwrap();
        for line in text.lines() {
            let (left, right) = line.split_once(RULE.trim_end()).unwrap();
            let both = |word: &str| left.contains(word) == right.contains(word);
            assert!(["one", "two", "three", "four"].into_iter().all(both), "{text}");
        }
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
