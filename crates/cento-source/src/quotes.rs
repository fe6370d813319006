//! Finds misplaced quotation marks in a table.
//!
//! After a quotation mark that is never closed, the parser of tables silently reads the whole
//! remaining table as one field, or everything up to the next mark. A single stray mark could hide
//! any number of rows.

use std::cell::RefCell;
use std::collections::VecDeque;

/// Follows the quotations of a table while it is read.
pub struct Quotes {
    delimiter: u8,
    state: RefCell<QuoteState>,
}

/// The beginning of a quotation: the byte, and the line.
type Start = (u64, u64);

struct QuoteState {
    /// The number of bytes seen.
    bytes: u64,
    /// The number of the current line, from 1.
    line: u64,
    /// The last byte seen.
    last: u8,
    /// The quotation that is open at the current byte.
    open: Option<Start>,
    /// The quotation that ended with the last byte, unless a second mark follows.
    closed: Option<Start>,
    /// The quotation over several lines that only blanks have followed so far.
    blank_after: Option<Start>,
    /// Quotations over several lines that end within a text. Their marks do not belong together.
    stray: VecDeque<Start>,
    is_over: bool,
    /// Whether lines end in CR LF, judged by the first line.
    is_crlf: Option<bool>,
}

impl Quotes {
    /// Returns the state for a table whose fields are separated by this byte.
    pub fn new(delimiter: u8) -> Quotes {
        let state = QuoteState {
            bytes: 0,
            line: 1,
            last: b'\n',
            open: None,
            closed: None,
            blank_after: None,
            stray: VecDeque::new(),
            is_over: false,
            is_crlf: None,
        };
        Quotes { delimiter, state: RefCell::new(state) }
    }

    /// Takes the bytes read next. Empty bytes mean the end.
    pub fn see(&self, read: &[u8]) {
        let state = &mut *self.state.borrow_mut();
        state.is_over = read.is_empty();
        let Some(&last) = read.last() else { return };
        if state.is_crlf.is_none()
            && let Some(at) = memchr::memchr(b'\n', read)
        {
            let previous = if at == 0 { state.last } else { read[at - 1] };
            state.is_crlf = Some(previous == b'\r');
        }
        let mut counted = 0;
        if let Some(closed) = state.blank_after.take() {
            self.judge(state, closed, read);
        }
        if state.closed.is_some() && read[0] != b'"' {
            self.after_quotation(state, read);
        }
        for at in memchr::memchr_iter(b'"', read) {
            state.line += memchr::memchr_iter(b'\n', &read[counted..at]).count() as u64;
            counted = at;
            let previous = if at == 0 { state.last } else { read[at - 1] };
            let is_start = previous == self.delimiter || matches!(previous, b'\n' | b'\r');
            let is_after_mark = previous == 0xbf && state.bytes + at as u64 == 3;
            match state.open.take() {
                Some(open) => {
                    state.closed = Some(open);
                    if read.get(at + 1).is_some_and(|&next| next != b'"') {
                        self.after_quotation(state, &read[at + 1..]);
                    }
                }
                // Two marks in a row are one quoted mark.
                None if state.closed.is_some() => state.open = state.closed.take(),
                None if is_start || is_after_mark => {
                    state.open = Some((state.bytes + at as u64, state.line));
                }
                None => {}
            }
        }
        state.line += memchr::memchr_iter(b'\n', &read[counted..]).count() as u64;
        state.bytes += read.len() as u64;
        state.last = last;
    }

    /// Judges a closed quotation by the bytes that follow.
    fn after_quotation(&self, state: &mut QuoteState, rest: &[u8]) {
        if let Some(closed) = state.closed.take().filter(|(_, line)| *line < state.line) {
            self.judge(state, closed, rest);
        }
    }

    /// Judges a quotation over several lines by the first byte that is no blank. Blanks alone do
    /// not tell whether a text follows, as after the inches of `5" pipe`.
    fn judge(&self, state: &mut QuoteState, closed: Start, rest: &[u8]) {
        let is_blank = |byte: u8| matches!(byte, b' ' | b'\t') && byte != self.delimiter;
        match rest.iter().find(|&&byte| !is_blank(byte)) {
            None => state.blank_after = Some(closed),
            Some(&next) if next == self.delimiter || matches!(next, b'\n' | b'\r') => {}
            Some(_) => state.stray.push_back(closed),
        }
    }

    /// Returns whether lines end in CR LF. The parser counts the LF as the beginning of the next
    /// row.
    pub fn is_crlf(&self) -> bool {
        self.state.borrow().is_crlf == Some(true)
    }

    /// Returns the line of the mark that is still open at the end of the table, if it is before
    /// `byte`.
    pub fn unclosed_before(&self, byte: u64) -> Option<u64> {
        let state = self.state.borrow();
        state.open.filter(|(place, _)| state.is_over && *place < byte).map(|(_, line)| line)
    }

    /// Returns the line of the first stray mark before `byte`, and forgets the stray marks before
    /// `byte`.
    pub fn stray_before(&self, byte: u64) -> Option<u64> {
        let stray = &mut self.state.borrow_mut().stray;
        let mut found = None;
        while let Some(&(_, line)) = stray.front().filter(|(place, _)| *place < byte) {
            found = found.or(Some(line));
            stray.pop_front();
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the line of the unclosed mark, and the line of the first stray mark.
    fn found(table: &str, cut: usize) -> (Option<u64>, Option<u64>) {
        let quotes = Quotes::new(b',');
        table.as_bytes().chunks(cut.max(1)).for_each(|part| quotes.see(part));
        quotes.see(b"");
        (quotes.unclosed_before(u64::MAX), quotes.stray_before(u64::MAX))
    }

    #[test]
    fn a_mark_that_is_not_closed_is_found_in_its_line() {
        for cut in 1..20 {
            assert_eq!(found("a,b\n1,\"x\n\"\"y\n\",3\n", cut), (None, None));
            assert_eq!(found("a,5\" pipe\n\"x\" y,1\n", cut), (None, None));
            assert_eq!(found("a,b\n1,\"x\n2,y\n", cut), (Some(2), None));
            assert_eq!(found("\u{feff}\"a\",b\n\"1\"\"\",\"x\"\"\n2,y", cut), (Some(2), None));
            assert_eq!(found("a\n\"x\n2,\"y\"\n", cut), (None, Some(2)));
            assert_eq!(found("a\n\"x\n2\" ,y\n", cut), (None, None));
            assert_eq!(found("a\n\"x\n2,5\" pipe\n", cut), (None, Some(2)));
        }
    }

    proptest! {
        #[test]
        fn a_table_as_it_is_written_has_no_open_mark(
            rows in prop::collection::vec(prop::collection::vec("[a\" ,\n\r]{0,8}", 2), 1..8), cut in 1usize..9,
        ) {
            let mut writer = csv::Writer::from_writer(Vec::new());
            rows.iter().for_each(|row| writer.write_record(row).unwrap());
            let table = String::from_utf8(writer.into_inner().unwrap()).unwrap();
            prop_assert_eq!(found(&table, cut), (None, None));
        }
    }
}
