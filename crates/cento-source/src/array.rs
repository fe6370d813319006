//! Which records are in this JSON array?

use std::io::{self, Read};
use std::mem;
use std::ops::ControlFlow;

use crate::jsonl::{CHUNK_BYTES, Lines};

/// Cuts an array into its elements, each on a line of its own, looking at nothing but quotation marks
/// and brackets; lines are numbered by elements. Hands on and passes over as
/// [`read_lines`](crate::jsonl::read_lines) does.
///
/// # Errors
/// When the stream cannot be read on, is no array, or ends before the array does.
pub fn read_array(
    mut inner: impl Read,
    element_bytes_max: usize,
    mut emit: impl FnMut(Lines) -> ControlFlow<()>,
) -> io::Result<ControlFlow<()>> {
    let mut cut = Cut { max: element_bytes_max, number: 1, first: 1, ..Cut::default() };
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        let outcome = (&mut inner).take(CHUNK_BYTES).read_to_end(&mut buffer);
        for &byte in &buffer {
            if cut.byte(byte, &mut emit)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        // What came whole before is handed on, even if no more comes.
        let is_at_end = outcome.as_ref().map_or(true, |&len| len == 0);
        if (is_at_end || cut.lines.len() as u64 >= CHUNK_BYTES) && cut.flush(&mut emit).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        outcome?;
        if is_at_end {
            return match cut.place {
                Place::After => Ok(ControlFlow::Continue(())),
                Place::Before => Err(io::Error::other("it is not a JSON array")),
                Place::Within => {
                    let what = "it is cut short: the JSON array in it does not end";
                    Err(io::Error::new(io::ErrorKind::UnexpectedEof, what))
                }
            };
        }
    }
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    #[default]
    Before,
    Within,
    After,
}

/// How far an array has been cut.
#[derive(Default)]
struct Cut {
    max: usize,
    place: Place,
    /// Brackets open within the element.
    depth: usize,
    is_string: bool,
    is_escaped: bool,
    is_too_long: bool,
    element: Vec<u8>,
    /// The number of the element.
    number: u64,
    lines: Vec<u8>,
    /// The number of the first of the lines.
    first: u64,
}

impl Cut {
    fn byte(
        &mut self,
        byte: u8,
        emit: &mut impl FnMut(Lines) -> ControlFlow<()>,
    ) -> io::Result<ControlFlow<()>> {
        match self.place {
            Place::Within if self.is_string || self.depth > 0 => {}
            Place::Within if byte == b',' || byte == b']' => {
                if byte == b']' {
                    self.place = Place::After;
                }
                return Ok(self.end_element(emit));
            }
            Place::Within => {}
            Place::Before if byte == b'[' => {
                self.place = Place::Within;
                return Ok(ControlFlow::Continue(()));
            }
            Place::Before if byte.is_ascii_whitespace() || b"\xef\xbb\xbf".contains(&byte) => {
                return Ok(ControlFlow::Continue(()));
            }
            Place::After if byte.is_ascii_whitespace() => return Ok(ControlFlow::Continue(())),
            Place::Before => return Err(io::Error::other("it is not a JSON array")),
            Place::After => {
                return Err(io::Error::other("something follows the JSON array in it"));
            }
        }
        self.track(byte);
        // A line break in a string is no JSON, and neither is the tab that keeps it on its line.
        let kept = match byte {
            b'\n' | b'\r' if self.is_string => b'\t',
            b'\n' | b'\r' => b' ',
            byte => byte,
        };
        self.is_too_long |= self.element.len() >= self.max;
        if self.is_too_long {
            self.element.clear();
        } else {
            self.element.push(kept);
        }
        Ok(ControlFlow::Continue(()))
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

    fn end_element(&mut self, emit: &mut impl FnMut(Lines) -> ControlFlow<()>) -> ControlFlow<()> {
        let number = self.number;
        self.number += 1;
        if mem::take(&mut self.is_too_long) {
            self.flush(emit)?;
            self.first = self.number;
            return emit(Lines::TooLong(number));
        }
        self.lines.append(&mut self.element);
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    /// The elements with their numbers, the numbers of those too long, and the error at the end.
    fn elements(array: &[u8], max: usize) -> (Vec<(u64, String)>, Vec<u64>, String) {
        let (mut found, mut too_long) = (Vec::new(), Vec::new());
        let end = read_array(array, max, |lines| {
            match lines {
                Lines::TooLong(number) => too_long.push(number),
                Lines::Bad(..) => unreachable!("an array has none"),
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
