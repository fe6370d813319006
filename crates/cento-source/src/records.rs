//! Cuts JSON into records, if the JSON is not a list of lines.

use std::io::{self, Read};
use std::mem;
use std::ops::ControlFlow;

use crate::jsonl::{CHUNK_BYTES, Lines};
use crate::shape::{Nesting, is_members};

/// Cuts JSON into records, one per line, without parsing: only quotation marks and brackets count.
/// Records are numbered instead of lines. Long records are skipped as in
/// [`read_lines`](crate::jsonl::read_lines). Any element of a top-level array is a record, but only
/// objects are records in lists within an object.
///
/// # Errors
/// When the stream cannot be read further, does not have this form, or ends too early.
pub fn read_records(
    mut inner: impl Read,
    nesting: Nesting,
    record_bytes_max: usize,
    mut emit: impl FnMut(Lines) -> ControlFlow<()>,
) -> io::Result<ControlFlow<()>> {
    let mut cut = CutState::new(nesting, record_bytes_max);
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        let outcome = (&mut inner).take(CHUNK_BYTES).read_to_end(&mut buffer);
        for &byte in &buffer {
            if cut.byte(byte, &mut emit)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        // Complete records are passed on, even if no more come.
        let is_at_end = outcome.as_ref().map_or(true, |&len| len == 0);
        if is_at_end && cut.is_no_json() && cut.end_record(&mut emit).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        if (is_at_end || cut.lines.len() as u64 >= CHUNK_BYTES) && cut.flush(&mut emit).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        outcome?;
        if is_at_end {
            return cut.end();
        }
    }
}

/// The state of cutting the JSON.
struct CutState {
    nesting: Nesting,
    max: usize,
    /// The open brackets around the records.
    around: Vec<u8>,
    /// The number of open brackets.
    depth: usize,
    is_string: bool,
    is_escaped: bool,
    /// The top-level array has ended.
    is_over: bool,
    /// A record has begun with this byte, within this number of brackets.
    begun: Option<(u8, usize)>,
    is_too_long: bool,
    record: Vec<u8>,
    /// The number of the record.
    number: u64,
    lines: Vec<u8>,
    /// The number of the first of the lines.
    first: u64,
}

impl CutState {
    fn new(nesting: Nesting, max: usize) -> CutState {
        CutState {
            nesting,
            max,
            around: Vec::new(),
            depth: 0,
            is_string: false,
            is_escaped: false,
            is_over: false,
            begun: None,
            is_too_long: false,
            record: Vec::new(),
            number: 1,
            lines: Vec::new(),
            first: 1,
        }
    }

    fn byte(
        &mut self,
        byte: u8,
        emit: &mut impl FnMut(Lines) -> ControlFlow<()>,
    ) -> io::Result<ControlFlow<()>> {
        if let Some((first, around)) = self.begun {
            return self.within(first, around, byte, emit);
        }
        let is_space = !self.is_string && (byte.is_ascii_whitespace() || byte == b',');
        let begins = match self.nesting {
            _ if is_space || (self.depth == 0 && b"\xef\xbb\xbf".contains(&byte)) => false,
            Nesting::Sequence => true,
            Nesting::Array if self.is_over => {
                return Err(io::Error::other("something follows the JSON array in it"));
            }
            Nesting::Array => match (self.depth, byte) {
                (0, b'[') => {
                    self.depth = 1;
                    false
                }
                (0, _) => return Err(io::Error::other("it is not a JSON array")),
                (_, b']') => {
                    (self.depth, self.is_over) = (0, true);
                    false
                }
                _ => true,
            },
            Nesting::Members(depth) => {
                let is_place = !self.is_string && self.depth == depth && is_members(&self.around);
                let begins = is_place && byte == b'{';
                if !begins {
                    self.track(byte);
                    self.track_around(byte, depth);
                }
                begins
            }
        };
        if begins {
            self.begun = Some((byte, self.depth));
            self.push(byte);
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Takes a byte within a record, whose first byte and surrounding depth are given.
    fn within(
        &mut self,
        first: u8,
        around: usize,
        byte: u8,
        emit: &mut impl FnMut(Lines) -> ControlFlow<()>,
    ) -> io::Result<ControlFlow<()>> {
        let is_bracketed = matches!(first, b'{' | b'[' | b'"');
        // Invalid JSON, or a number, ends where something else may begin.
        let is_after = match self.nesting {
            Nesting::Sequence => matches!(byte, b'\n' | b'{'),
            _ => matches!(byte, b',' | b']'),
        };
        if !is_bracketed && is_after {
            return match self.end_record(emit) {
                ControlFlow::Break(()) => Ok(ControlFlow::Break(())),
                ControlFlow::Continue(()) => self.byte(byte, emit),
            };
        }
        self.push(byte);
        let is_whole = is_bracketed && !self.is_string && self.depth == around;
        Ok(if is_whole { self.end_record(emit) } else { ControlFlow::Continue(()) })
    }

    /// Appends a byte to the record.
    fn push(&mut self, byte: u8) {
        // The record is invalid either way, and a tab keeps the record on one line.
        let kept = match byte {
            b'\n' | b'\r' if self.is_string => b'\t',
            b'\n' | b'\r' => b' ',
            byte => byte,
        };
        self.track(byte);
        self.is_too_long |= self.record.len() >= self.max;
        if self.is_too_long {
            self.record.clear();
        } else {
            self.record.push(kept);
        }
    }

    fn track(&mut self, byte: u8) {
        if self.is_string {
            self.is_string = byte != b'"' || self.is_escaped;
            self.is_escaped = byte == b'\\' && !self.is_escaped;
            return;
        }
        match byte {
            b'"' => self.is_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    /// Tracks the open brackets outside of records.
    fn track_around(&mut self, byte: u8, depth_max: usize) {
        match byte {
            _ if self.is_string => {}
            b'{' | b'[' if self.depth <= depth_max => self.around.push(byte),
            b'}' | b']' => self.around.truncate(self.depth),
            _ => {}
        }
    }

    fn end_record(&mut self, emit: &mut impl FnMut(Lines) -> ControlFlow<()>) -> ControlFlow<()> {
        // Invalid JSON may leave quotation marks and brackets open, which must not affect the next
        // record.
        if let Some((_, around)) = self.begun.take() {
            (self.is_string, self.is_escaped, self.depth) = (false, false, around);
        }
        let number = self.number;
        self.number += 1;
        if mem::take(&mut self.is_too_long) {
            self.flush(emit)?;
            self.first = self.number;
            return emit(Lines::TooLong(number));
        }
        self.lines.append(&mut self.record);
        self.lines.push(b'\n');
        match self.lines.len() as u64 >= CHUNK_BYTES {
            true => self.flush(emit),
            false => ControlFlow::Continue(()),
        }
    }

    fn flush(&mut self, emit: &mut impl FnMut(Lines) -> ControlFlow<()>) -> ControlFlow<()> {
        let first_line = mem::replace(&mut self.first, self.number);
        match mem::take(&mut self.lines) {
            bytes if bytes.is_empty() => ControlFlow::Continue(()),
            bytes => emit(Lines::Whole { first_line, bytes }),
        }
    }

    /// Returns whether the current record is invalid JSON, which has no recognizable end.
    fn is_no_json(&self) -> bool {
        let begun = self.begun.is_some_and(|(first, _)| !matches!(first, b'{' | b'[' | b'"'));
        begun && self.nesting == Nesting::Sequence
    }

    /// Checks whether the JSON is complete.
    fn end(&self) -> io::Result<ControlFlow<()>> {
        let what = match self.nesting {
            Nesting::Array if self.depth == 0 && !self.is_over => {
                return Err(io::Error::other("it is not a JSON array"));
            }
            _ if self.depth == 0 && self.begun.is_none() => {
                return Ok(ControlFlow::Continue(()));
            }
            Nesting::Array => "it is cut short: the JSON array in it does not end",
            _ => "it is cut short: a JSON object in it does not end",
        };
        Err(io::Error::new(io::ErrorKind::UnexpectedEof, what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    type StreamRecord = (Vec<(u64, String)>, Vec<u64>, String);

    /// Returns the records with their numbers, the numbers of records that are too long, and the
    /// error at the end.
    fn records(array: &[u8], nesting: Nesting, max: usize) -> StreamRecord {
        let (mut found, mut too_long) = (Vec::new(), Vec::new());
        let end = read_records(array, nesting, max, |lines| {
            match lines {
                Lines::TooLong(number) => too_long.push(number),
                Lines::Bad(..) => unreachable!("an array has no bad lines"),
                Lines::Whole { first_line, bytes } => {
                    let text = String::from_utf8(bytes).unwrap();
                    found.extend(
                        (first_line..).zip(text.lines().map(|line| line.trim().to_owned())),
                    );
                }
            }
            ControlFlow::Continue(())
        });
        (found, too_long, end.map_or_else(|error| error.to_string(), |_| String::new()))
    }

    fn elements(text: &[u8], max: usize) -> StreamRecord {
        records(text, Nesting::Array, max)
    }

    #[test]
    fn elements_come_whole_and_numbered() {
        let array = b"\xef\xbb\xbf [ {\"a\":\"],\\\"\"},\n{\n\"b\": [1,\n2]}, 3 ]\n";
        let (found, too_long, error) = elements(array, 100);
        let expected = [(1, "{\"a\":\"],\\\"\"}"), (2, "{ \"b\": [1, 2]}"), (3, "3")];
        assert_eq!(found, expected.map(|(number, text)| (number, text.to_owned())));
        assert_eq!((too_long.len(), error.as_str()), (0, ""));
        let (found, too_long, _) = elements(b"[1,\"xxxxxxxxxx\",[[2]]]", 8);
        assert_eq!((found.len(), found[1].clone(), too_long), (2, (3, "[[2]]".into()), vec![2]));
        assert!(elements(b"[{\"a\":1},{\"b", 100).2.contains("does not end"));
        assert_eq!(elements(b"[{\"a\":1},{\"b", 100).0.len(), 1);
        assert!(elements(b"[] x", 100).2.contains("follows"));
        assert!(elements(b"{}", 100).2.contains("not a JSON array"));
    }

    #[test]
    fn objects_one_after_another_are_records() {
        let text = b"\xef\xbb\xbf{\n\"a\": \"}\"\n}\n{\"b\":[1]}{\"c\":2},\nno, JSON {\"d\":3}\n7";
        let (found, _, error) = records(text, Nesting::Sequence, 100);
        let texts: Vec<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
        let expected =
            ["{ \"a\": \"}\" }", "{\"b\":[1]}", "{\"c\":2}", "no, JSON", "{\"d\":3}", "7"];
        assert_eq!((texts, error.as_str()), (expected.to_vec(), ""));
        // An invalid line does not affect other lines.
        let (found, _, error) = records(b"{\"a\":1}\nno \"[\n{\"b\":2}", Nesting::Sequence, 100);
        assert_eq!((found.len(), found[2].1.as_str(), error.as_str()), (3, "{\"b\":2}", ""));
        assert!(records(b"{\"a\":\"", Nesting::Sequence, 9).2.contains("does not end"));
    }

    #[test]
    fn objects_in_lists_of_an_object_are_records() {
        let text =
            br#"{"n":["x",{"y":[{}]}],"a":{"b":[{"no":1}]},"[{":"]","data":[{"a":[{}]},{"b":"]"}],
            "more":[{"c":1}]}"#;
        let (found, _, error) = records(text, Nesting::Members(2), 100);
        assert_eq!(error, "");
        let texts: Vec<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
        let expected = [r#"{"y":[{}]}"#, r#"{"a":[{}]}"#, r#"{"b":"]"}"#, r#"{"c":1}"#];
        assert_eq!(texts, expected);
        let (found, _, error) = records(br#"{"a":{"b":[{"c":1}]}}"#, Nesting::Members(3), 100);
        assert_eq!((found.len(), error.as_str()), (1, ""));
        assert!(records(b"{\"a\":[{}", Nesting::Members(2), 9).2.contains("does not end"));
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf =
            prop_oneof![any::<String>().prop_map(Value::from), any::<i64>().prop_map(Value::from)];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                (any::<String>(), inner).prop_map(|(key, value)| json!({ key: value })),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_array_is_cut_as_a_parser_cuts_it(values in prop::collection::vec(value(), 0..8), pretty: bool) {
            let array = Value::from(values.clone());
            let text = if pretty { format!("{array:#}") } else { array.to_string() };
            let (found, _, error) = elements(text.as_bytes(), 1 << 20);
            prop_assert_eq!(error, "");
            let parsed: Vec<Value> = found
                .iter()
                .filter(|(_, text)| !text.is_empty())
                .map(|(_, text)| serde_json::from_str(text).unwrap())
                .collect();
            prop_assert_eq!(parsed, values);
        }
    }
}
