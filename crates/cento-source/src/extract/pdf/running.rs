//! Running heads and feet, and the numbers of pages.
//!
//! They stand between the halves of a sentence that continues on the next page. A line at the edge
//! of a page is one if a page close by has the same line at the same height, with numbers that stay
//! or rise with the pages.

use std::collections::HashSet;

use super::row::PageRow;

/// The maximum number of lines of a head or foot. If more lines are the same, the pages are copies.
const LINES_MAX: usize = 3;

/// How many pages further the same line is searched. Left and right pages alternate, and chapters
/// begin without a head.
const PAGES_AHEAD: usize = 4;

/// The maximum difference of equal heights on two pages, in heights of letters.
const SAME_HEIGHT: f64 = 0.5;

/// The minimum distance from the text that sets a line apart, in distances of the lines of the
/// page.
const APART: f64 = 1.25;

/// The maximum height of the letters of a head, in heights of the letters of the text. Larger
/// letters are a title, which may have a number on each page, as in a presentation.
const HEAD_SIZE_MAX: f64 = 1.1;

/// The maximum number of words beside a page number that are not read, as in "Page 3 of 12".
const LABEL_WORDS_MAX: usize = 2;

/// Removes running heads and feet from the rows of pages, and returns every head and foot once.
/// Page numbers are no text. Letters larger than `size`, the usual size of the text, are titles.
pub fn take(pages: &mut [Vec<PageRow>], size: f64) -> Vec<String> {
    let lines: Vec<PageLines<'_>> = pages.iter().map(|rows| PageLines::of(rows)).collect();
    let mut steps: Vec<f64> = lines.iter().flat_map(PageLines::steps).collect();
    steps.sort_by(f64::total_cmp);
    // The lesser of two in the middle: a short page has as many large distances as small ones.
    let middle = steps.len().saturating_sub(1) / 2;
    let apart = APART * steps.get(middle).copied().unwrap_or_default();
    let mut edges: Vec<[PageEdge; 2]> =
        lines.iter().map(|lines| lines.edges(apart, size)).collect();
    for at in 0..edges.len() {
        let (before, after) = edges.split_at_mut(at + 1);
        let Some(page) = before.last_mut() else { break };
        for (pages, other) in (1..).zip(after.iter_mut().take(PAGES_AHEAD)) {
            for (edge, other) in page.iter_mut().zip(other) {
                let same = edge.same_lines(other, pages);
                edge.take(&same);
                other.take(&same);
            }
        }
    }
    (0..2).for_each(|side| take_places(&mut edges, side));
    let (mut heads, mut known) = (Vec::new(), HashSet::new());
    for (edges, rows) in edges.iter().zip(pages) {
        let running: Vec<&EdgeLine> = edges.iter().flat_map(PageEdge::running_lines).collect();
        // A page without other text has no head.
        if running.len() >= edges[0].count {
            continue;
        }
        rows.retain(|row| {
            row.place.direction > 0 || running.iter().all(|line| line.row != row.place.row)
        });
        let lines = running.into_iter().filter(|line| !line.is_page_number());
        let titles = lines.map(EdgeLine::title).filter(|title| !title.is_empty());
        heads.extend(titles.filter(|title| known.insert(title.clone())));
    }
    heads
}

/// The lines at the top or at the bottom of a page, from the edge inwards.
struct PageEdge {
    lines: Vec<EdgeLine>,
    /// The number of lines that are running heads or feet.
    running: usize,
    /// The number of lines of the page.
    count: usize,
}

/// A line at an edge of a page.
#[derive(Clone)]
struct EdgeLine {
    row: usize,
    line: f64,
    height: f64,
    text: String,
    /// Whether the line is apart from the lines further inwards.
    is_apart: bool,
    /// The text without its numbers.
    words: String,
    numbers: Vec<i64>,
    /// Whether a number in it rises with the pages.
    has_page: bool,
}

/// The lines of a page, split into parts by column.
struct PageLines<'p>(Vec<Vec<&'p PageRow>>);

impl PageLines<'_> {
    fn of(rows: &[PageRow]) -> PageLines<'_> {
        let mut order: Vec<&PageRow> = rows.iter().filter(|row| row.place.direction == 0).collect();
        // Stable, so that the parts of a row keep the order of their columns.
        order.sort_by_key(|row| row.place.row);
        PageLines(order.chunk_by(|a, b| a.place.row == b.place.row).map(<[_]>::to_vec).collect())
    }

    /// Returns the distances of the lines.
    fn steps(&self) -> Vec<f64> {
        self.0.windows(2).map(|pair| pair[1][0].line - pair[0][0].line).collect()
    }

    /// Returns the lines at the top and at the bottom, up to a line in larger letters. Lines of
    /// this distance are apart.
    fn edges(&self, apart: f64, size: f64) -> [PageEdge; 2] {
        let PageLines(lines) = self;
        let steps = self.steps();
        let is_apart = |at: usize| steps.get(at).is_some_and(|step| *step > apart);
        let count = lines.len();
        let top = (0..count).map(|at| EdgeLine::of(&lines[at], is_apart(at)));
        let bottom = (0..count).rev();
        let bottom = bottom.map(|at| EdgeLine::of(&lines[at], at > 0 && is_apart(at - 1)));
        let is_small = |line: &EdgeLine| line.height <= HEAD_SIZE_MAX * size || !line.has_words();
        let edge = |lines: &mut dyn Iterator<Item = EdgeLine>| {
            let lines = lines.take(LINES_MAX + 1).take_while(is_small).collect();
            PageEdge { lines, running: 0, count }
        };
        [edge(&mut top.into_iter()), edge(&mut bottom.into_iter())]
    }
}

impl PageEdge {
    fn running_lines(&self) -> &[EdgeLine] {
        &self.lines[..self.running]
    }

    /// Compares the lines with a page that is `pages` further. Returns for every equal line whether
    /// a number in the line rises with the pages.
    fn same_lines(&self, other: &PageEdge, pages: i64) -> Vec<bool> {
        let pairs = self.lines.iter().zip(&other.lines);
        let mut same: Vec<bool> =
            pairs.map_while(|(line, other)| line.same(other, pages)).collect();
        if same.len() > LINES_MAX {
            return Vec::new();
        }
        // The text of two pages may begin alike.
        let is_apart = |at: usize| self.lines[at].is_apart && other.lines[at].is_apart;
        let len = (0..same.len()).rposition(|at| same[at] || is_apart(at));
        same.truncate(len.map_or(0, |last| last + 1));
        same
    }

    fn take(&mut self, same: &[bool]) {
        self.running = self.running.max(same.len());
        for (line, has_page) in self.lines.iter_mut().zip(same) {
            line.has_page |= has_page;
        }
    }
}

/// Takes lines at the place of a head or foot that most pages have: the title of a chapter of one
/// page, and the head of a right page between two left ones.
fn take_places(edges: &mut [[PageEdge; 2]], side: usize) {
    let places: Vec<(f64, f64)> = edges
        .iter()
        .filter_map(|edges| edges[side].running_lines().last())
        .map(|line| (line.line, line.height))
        .collect();
    if places.len() * 2 < edges.len() || places.len() < 2 {
        return;
    }
    for edges in edges {
        let edge = &mut edges[side];
        let Some(next) = edge.lines.get(edge.running) else { continue };
        let is_there = |(line, height): &(f64, f64)| {
            (line - next.line).abs() < SAME_HEIGHT * height && (height - next.height).abs() < 0.1
        };
        let same = places.iter().filter(|place| is_there(place)).count();
        if edge.running == 0 && next.is_apart && same * 2 >= places.len() {
            edge.running = 1;
        }
    }
}

impl EdgeLine {
    fn of(parts: &[&PageRow], is_apart: bool) -> EdgeLine {
        let texts: Vec<&str> = parts.iter().map(|row| &*row.text).collect();
        let text = texts.join("\t");
        let (words, numbers) = words_and_numbers(&text);
        let (row, line, height) = (parts[0].place.row, parts[0].line, parts[0].height);
        EdgeLine { row, line, height, text, is_apart, words, numbers, has_page: false }
    }

    /// Compares two lines on pages of this distance. Returns `None` if the lines differ, or else
    /// whether a number rises with the pages.
    fn same(&self, other: &EdgeLine, pages: i64) -> Option<bool> {
        if (self.line - other.line).abs() > SAME_HEIGHT * self.height.min(other.height) {
            return None;
        }
        let rises = |(a, b): (&i64, &i64)| b.checked_sub(*a) == Some(pages);
        let pairs = || self.numbers.iter().zip(&other.numbers);
        if self.words == other.words {
            let stays = pairs().all(|pair| pair.0 == pair.1 || rises(pair));
            let has_page = pairs().any(rises);
            return (stays && (has_page || self.has_words())).then_some(has_page);
        }
        // The title of a section beside the number of the page.
        let ends = |line: &EdgeLine| [line.end_number(true), line.end_number(false)];
        let is_numbered = ends(self)
            .iter()
            .flatten()
            .any(|number| ends(other).iter().flatten().any(|other| rises((number, other))));
        (is_numbered && self.is_apart && other.is_apart).then_some(true)
    }

    fn has_words(&self) -> bool {
        self.words.chars().any(char::is_alphabetic)
    }

    /// Returns the number at the beginning or at the end of the line.
    fn end_number(&self, is_first: bool) -> Option<i64> {
        let is_digit = |c: char| c.is_ascii_digit();
        match is_first {
            true => self.numbers.first().filter(|_| self.text.starts_with(is_digit)).copied(),
            false => self.numbers.last().filter(|_| self.text.ends_with(is_digit)).copied(),
        }
    }

    /// Returns whether the line has nothing but the number of the page and a label.
    fn is_page_number(&self) -> bool {
        let words = self.words.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
        self.has_page && words.count() <= LABEL_WORDS_MAX
    }

    /// Returns the line without the number of the page.
    fn title(&self) -> String {
        let is_number = |c: char| c.is_ascii_digit() || c.is_whitespace();
        self.text.trim_matches(is_number).to_owned()
    }
}

/// Returns a text with `#` for each number, and the numbers. A line that is a Roman number is the
/// number of a page.
fn words_and_numbers(text: &str) -> (String, Vec<i64>) {
    let sign = |c: char| !c.is_alphanumeric();
    if let Some(number) = roman(text.trim_matches(sign)) {
        return ("#".into(), vec![number]);
    }
    let (mut words, mut numbers) = (String::new(), Vec::new());
    let mut rest = text.trim();
    while let Some(next) = rest.chars().next() {
        let is_digit = |c: char| c.is_ascii_digit();
        let len = rest.find(|c| !is_digit(c)).unwrap_or(rest.len());
        if len > 0 {
            // A number that is too long for this is no number of a page.
            numbers.push(rest[..len].parse().unwrap_or(i64::MIN));
            words.push('#');
            rest = &rest[len..];
        } else {
            let is_space = next.is_whitespace();
            if !is_space || !words.ends_with(' ') {
                words.extend(if is_space { ' '.to_lowercase() } else { next.to_lowercase() });
            }
            rest = &rest[next.len_utf8()..];
        }
    }
    (words, numbers)
}

/// Returns the value of a Roman number.
fn roman(text: &str) -> Option<i64> {
    let value = |c: char| match c.to_ascii_lowercase() {
        'i' => Some(1),
        'v' => Some(5),
        'x' => Some(10),
        'l' => Some(50),
        'c' => Some(100),
        _ => None,
    };
    let values: Option<Vec<i64>> = text.chars().map(value).collect();
    let values = values.filter(|values| !values.is_empty())?;
    let signed = values.iter().enumerate().map(|(at, &value)| {
        let is_before_greater = values.get(at + 1).is_some_and(|next| *next > value);
        if is_before_greater { -value } else { value }
    });
    Some(signed.sum())
}
