//! Line ends within words, by the definition.

use super::*;

/// Returns whether a character is of a line end where a soft hyphen divides a word.
pub fn is_division(text: &str, at: usize) -> bool {
    const LETTERS: &str = r"\p{Alphabetic}";
    const LEFT_OUT: &str = r"[\p{Default_Ignorable_Code_Point}\x{640}\x{7fa}\x{180a}\p{M}]";
    static BEFORE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(&format!(r"[{LETTERS}--[{LEFT_OUT}{APOSTROPHES}]]{LEFT_OUT}*\x{{ad}}$")).unwrap()
    });
    static AFTER: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(&format!(r"^[{LETTERS}--[\p{{M}}\p{{Hangul}}{UNITS}{APOSTROPHES}]]")).unwrap()
    });
    let is_end = ['\r', '\n'];
    let is_of_marks = |text: &str| text.starts_with(['>', ' ']);
    let is_after_end = || text[..at].trim_end_matches(['>', ' ']).ends_with(is_end);
    if !(text[at..].starts_with(is_end) || is_of_marks(&text[at..]) && is_after_end()) {
        return false;
    }
    // The marks of a quoted line belong to its line end.
    static LINE_END: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?:\r\n|\r|\n)(?:>[> ]*)?").unwrap());
    let mut ends = LINE_END.find_iter(text).filter(|end| end.range().contains(&at));
    ends.next().is_some_and(|end| {
        BEFORE.is_match(&text[..end.start()]) && AFTER.is_match(&text[end.end()..])
    })
}

/// Returns the number of bytes of the marks of a quoted line.
fn quoted_line_marks(line: &str) -> usize {
    static LINE_MARKS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^>[> ]*").unwrap());
    let marks = LINE_MARKS.find(line).map_or(0, |marks| marks.end());
    if line[marks..].starts_with(|c| MARKS.contains(&c)) { 0 } else { marks }
}

/// Removes the line ends between two letters, or a letter and its mark, of scripts that are wrapped
/// within words. CR and LF are one line end if nothing is between them in `original`.
pub fn without_line_ends(
    original: &str,
    text: &str,
    sources: &[(usize, usize)],
) -> (String, Vec<(usize, usize)>) {
    let (mut kept, mut kept_sources) = (String::new(), Vec::new());
    let mut chars = text.char_indices().peekable();
    let mut is_after_letter = false;
    while let Some((at, c)) = chars.next() {
        if c == '\r' || c == '\n' {
            let mut next = chars.clone();
            if c == '\r' && original[sources[at].1..].starts_with('\n') {
                next.next_if(|next| next.1 == '\n');
            }
            let end = next.peek().map_or(at + c.len_utf8(), |next| next.0) - 1;
            let end = sources[end].1;
            let marks = quoted_line_marks(&original[end..]);
            let is_mark = |next: &(usize, char)| marks > 0 && sources[next.0].0 < end + marks;
            while next.next_if(is_mark).is_some() {}
            let goes_on =
                |next: &(usize, char)| UNBROKEN.contains(&next.1) || MARKS.contains(&next.1);
            if is_after_letter && next.peek().is_some_and(goes_on) {
                chars = next;
                continue;
            }
        }
        is_after_letter = UNBROKEN.contains(&c) || is_after_letter && MARKS.contains(&c);
        kept.push(c);
        kept_sources.resize(kept.len(), sources[at]);
    }
    (kept, kept_sources)
}

/// Letters of the scripts that are wrapped within words.
static UNBROKEN: LazyLock<HashSet<char>> = LazyLock::new(|| {
    characters_like(&format!(r"[[{UNITS}--[\p{{Hangul}}\p{{Myanmar}}]][\p{{L}}&&\p{{Tibetan}}]]"))
});

static MARKS: LazyLock<HashSet<char>> = LazyLock::new(|| characters_like(r"\p{M}"));
