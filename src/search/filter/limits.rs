//! Limits on the size and nesting of filters that are parsed.
//!
//! tantivy's grammar, and the query that it makes, are recursive: a filter of 2 KiB that consists
//! of parentheses takes more stack than a thread has, which ends the process. And some of its steps
//! take time with the square of a word's length. So the text is checked first, in one pass from
//! left to right that knows no grammar and errs to the safe side.

use crate::text::is_white_space;

/// The maximum length of a filter, in bytes: some hundred ids in a set.
const BYTES_MAX: usize = 16 << 10;

/// The maximum nesting of parentheses and `NOT`. In a debug build one takes up to 10 KiB of
/// stack; threads have 2 MiB.
const DEPTH_MAX: usize = 32;

/// The maximum number of bytes without a sign or space: up to the next of them the grammar looks
/// for the end of a name, from every word. The longest id fits.
const RUN_BYTES_MAX: usize = 1 << 10;

/// The characters that the name of a field cannot have, unless after a backslash.
const SIGNS: [char; 15] =
    ['+', '^', '`', ':', '{', '}', '"', '\'', '[', ']', '(', ')', '!', '*', ' '];

/// The maximum number of parts in the name of a field.
const PARTS_MAX: usize = 32;

/// The maximum number of words and signs in a filter.
const WORDS_MAX: usize = 4 << 10;

/// The maximum number of ranges and prefixes of values: each may examine every document.
const SCANS_MAX: usize = 32;

/// Reports, as a clause, why the filter is too large or too deep.
pub(super) fn check(text: &str) -> Result<(), String> {
    if text.len() > BYTES_MAX {
        return Err(format!(
            "it has {} bytes; the maximum is {BYTES_MAX}; search several times, or give documents \
             a field of `meta` that expresses the same",
            text.len()
        ));
    }
    let mut open = Open::default();
    let (mut words, mut dots) = (0, 0);
    // The beginnings of the run without a sign or space, and of the word.
    let (mut run_start, mut word_start) = (0, 0);
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let is_sign = SIGNS.contains(&c);
        // tantivy reserves some of them in names of fields.
        if c.is_control() && !is_white_space(c) {
            return Err("it contains a control character".into());
        }
        if is_white_space(c) || is_sign {
            if text[word_start..at].ends_with("NOT") {
                open.negation();
            }
            word_start = end;
        }
        words += usize::from(SIGNS.contains(&previous) || is_white_space(previous))
            * usize::from(!is_white_space(c));
        // Names of fields may have white space in them, and signs after a backslash.
        if is_sign && previous != '\\' {
            if c == ':' && dots >= PARTS_MAX {
                return Err(format!("the name of a field has more than {PARTS_MAX} parts"));
            }
            (run_start, dots) = (end, 0);
        } else {
            dots += usize::from(c == '.');
        }
        if end - run_start > RUN_BYTES_MAX {
            return Err(format!("it has more than {RUN_BYTES_MAX} bytes without a space or sign"));
        }
        match c {
            '(' => open.parenthesis(),
            ')' => open.close(),
            // In quotations and regular expressions parentheses do not nest; only a grammar can
            // tell where these begin and end.
            '"' | '\'' | '/' | '\\' => open.blur(),
            _ => {}
        }
        if open.depth() > DEPTH_MAX {
            return Err(format!(
                "it has more than {DEPTH_MAX} possibly nested parentheses and NOTs; use a set, \
                 such as `lang: IN [de fr]`, or search several times"
            ));
        }
        previous = c;
    }
    match words > WORDS_MAX {
        true => Err(format!("it has more than {WORDS_MAX} words and signs; search several times")),
        false => Ok(()),
    }
}

/// Refuses a filter with too many parts that may examine every document.
pub(super) fn check_scans(scans: usize) -> Result<(), String> {
    match scans > SCANS_MAX {
        true => {
            Err(format!("it has more than {SCANS_MAX} ranges and prefixes; search several times"))
        }
        false => Ok(()),
    }
}

/// The parentheses and negations that may be open: at least those that the grammar has open.
///
/// A pair of parentheses is removed only if no character between them can begin or end a quotation:
/// then both are within one, or neither.
#[derive(Default)]
struct Open {
    /// For each: whether it is a parenthesis that certainly matches the next closing one.
    marks: Vec<Mark>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Parenthesis,
    /// Followed by a character that may be a quotation mark.
    Blurred,
    Negation,
}

impl Open {
    fn depth(&self) -> usize {
        self.marks.len()
    }

    fn parenthesis(&mut self) {
        self.marks.push(Mark::Parenthesis);
    }

    fn negation(&mut self) {
        self.marks.push(Mark::Negation);
    }

    fn blur(&mut self) {
        let parentheses = self.marks.iter_mut().filter(|mark| **mark == Mark::Parenthesis);
        parentheses.for_each(|mark| *mark = Mark::Blurred);
    }

    fn close(&mut self) {
        let last = self.marks.iter().rposition(|mark| *mark != Mark::Negation);
        if let Some(last) = last.filter(|&last| self.marks[last] == Mark::Parenthesis) {
            self.marks.truncate(last);
        }
    }
}
