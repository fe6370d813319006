//! Limits the size and nesting of filters before they are parsed.
//!
//! tantivy's grammar and the queries it makes are recursive: a filter of 2 KiB of parentheses
//! overflows the stack of a thread, which ends the process. Some steps of the parser take time
//! quadratic in the length of a word. Filters are therefore checked first, in a single pass from
//! left to right that knows no grammar and errs on the safe side.

use crate::text::is_white_space;

/// The most bytes of a filter, enough for a set of several hundred ids.
const BYTES_MAX: usize = 16 << 10;

/// The deepest nesting of parentheses and `NOT`. In a debug build, a level takes up to 10 KiB of
/// stack, and threads have 2 MiB.
const DEPTH_MAX: usize = 32;

/// The most bytes without a sign or space, because at every word the grammar searches up to the
/// next sign or space for the end of a name. The longest id fits.
const RUN_BYTES_MAX: usize = 1 << 10;

/// Characters that a field name may contain only after a backslash.
const SIGNS: [char; 15] =
    ['+', '^', '`', ':', '{', '}', '"', '\'', '[', ']', '(', ')', '!', '*', ' '];

/// The most parts of a field name.
const PARTS_MAX: usize = 32;

/// The most words and signs in a filter.
const WORDS_MAX: usize = 4 << 10;

/// The most ranges and prefixes of values, because each may examine every document.
const SCANS_MAX: usize = 32;

/// Returns an error, as a clause, if the filter is too large or too deep.
pub(super) fn check(text: &str) -> Result<(), String> {
    if text.len() > BYTES_MAX {
        return Err(format!(
            "it has {} bytes; the maximum is {BYTES_MAX}; search several times, or give documents \
             a field of `meta` that expresses the same",
            text.len()
        ));
    }
    let mut open = OpenGroups::default();
    let (mut words, mut dots) = (0, 0);
    // Where the run without a sign or space begins, and where the word begins.
    let (mut run_start, mut word_start) = (0, 0);
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let is_sign = SIGNS.contains(&c);
        // tantivy reserves some control characters in field names.
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
        // Field names may contain white space, and signs after a backslash.
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
            // In quotations and regular expressions parentheses do not nest. Only a grammar can
            // tell where quotations begin and end.
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

/// The parentheses and negations that may be open: at least those open in the grammar.
///
/// A pair of parentheses is removed only if no character in between can begin or end a quotation,
/// because then the whole pair is inside or outside a quotation.
#[derive(Default)]
struct OpenGroups {
    /// The kinds of the open marks. A plain parenthesis certainly matches the next closing
    /// parenthesis.
    marks: Vec<NestingMark>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NestingMark {
    Parenthesis,
    /// A parenthesis followed by a character that may be a quotation mark.
    Blurred,
    Negation,
}

impl OpenGroups {
    fn depth(&self) -> usize {
        self.marks.len()
    }

    fn parenthesis(&mut self) {
        self.marks.push(NestingMark::Parenthesis);
    }

    fn negation(&mut self) {
        self.marks.push(NestingMark::Negation);
    }

    fn blur(&mut self) {
        let parentheses = self.marks.iter_mut().filter(|mark| **mark == NestingMark::Parenthesis);
        parentheses.for_each(|mark| *mark = NestingMark::Blurred);
    }

    fn close(&mut self) {
        let last = self.marks.iter().rposition(|mark| *mark != NestingMark::Negation);
        if let Some(last) = last.filter(|&last| self.marks[last] == NestingMark::Parenthesis) {
            self.marks.truncate(last);
        }
    }
}
