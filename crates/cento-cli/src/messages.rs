//! Limits the number of messages of one kind.

use std::cell::RefCell;
use std::collections::HashMap;

use super::advice::advised;
use super::hints::ErrorWithHint;
use super::output;
use super::terminal::{self, Kind, note, tell};
use cento::Error;
use cento_source::ReadError;

/// Maximum number of messages of one kind to show.
const SHOWN_MAX: u64 = 10;

/// Maximum number of distinct kinds. Reasons can contain anything, so further kinds count as one.
const KINDS_MAX: usize = 100;

/// The name for the kinds beyond the maximum. Some of these kinds may not show a single message.
const OTHERS: &str = "of other kinds; not all are shown";

/// Counts messages by kind. Shows the first messages of each kind, and the number of hidden
/// messages.
#[derive(Debug, Default)]
pub struct Messages {
    kinds: RefCell<MessageKinds>,
}

#[derive(Debug, Default)]
struct MessageKinds {
    /// For each kind, in order: the first reason, the count, and whether the messages are notes.
    counts: Vec<(String, u64, Kind)>,
    places: HashMap<String, usize>,
}

impl Messages {
    /// Counts a message with this reason, and returns whether to show it.
    pub fn counts(&self, of: Kind, reason: &str) -> bool {
        let mut kinds = self.kinds.borrow_mut();
        let kind = kind_of(reason);
        let number = match kinds.places.get(&kind) {
            Some(&number) => number,
            None if kinds.counts.len() > KINDS_MAX => KINDS_MAX,
            None => {
                let number = kinds.counts.len();
                let name = if number == KINDS_MAX { OTHERS } else { reason };
                kinds.counts.push((name.to_owned(), 0, of));
                kinds.places.insert(kind, number);
                number
            }
        };
        kinds.counts[number].1 += 1;
        let is_left_out = of == Kind::Note && terminal::is_quiet();
        kinds.counts[number].1 <= SHOWN_MAX && !is_left_out
    }

    /// Counts an error, and returns whether to show it.
    pub fn counts_error(&self, error: &Error) -> bool {
        self.counts(Kind::Error, &reason_of(error))
    }

    /// Reports the reason of something, unless too many messages of the kind were shown.
    pub fn tell(&self, name: &str, reason: &str) {
        if self.counts(Kind::Error, reason) {
            tell!("cento: {name}: {reason}");
        }
    }

    /// Reports an error, unless too many messages of the kind were shown.
    pub fn tell_error(&self, error: &Error) {
        if self.counts_error(error) {
            tell!("cento: {}", ErrorWithHint(error));
        }
    }

    /// Reports an item that is not a document, unless too many messages of the kind were shown.
    pub fn tell_no_document(&self, no_document: &ReadError) {
        match no_document {
            ReadError::LeftOut { place, why, .. } => {
                let said = advised(why);
                if self.counts(Kind::Note, &said) {
                    note!("cento: {place}: {said}");
                }
            }
            ReadError::Refused(error) | ReadError::Unread(error) => self.tell_error(error),
        }
    }

    /// Shows how many messages were not shown.
    pub fn finish(&self) {
        for (kind, line) in self.lines() {
            terminal::say(kind, format_args!("{line}"));
        }
    }

    fn lines(&self) -> Vec<(Kind, String)> {
        let kinds = self.kinds.borrow();
        let more = kinds.counts.iter().filter(|(_, count, _)| *count > SHOWN_MAX);
        more.map(|(reason, count, kind)| {
            let more = output::count(count - SHOWN_MAX);
            let said = match reason.as_str() {
                OTHERS => format!("cento: and {more} more {OTHERS}"),
                reason => format!("cento: and {more} more of this kind: {reason}"),
            };
            (*kind, said)
        })
        .collect()
    }
}

/// Returns the reason of an error, without the place.
fn reason_of(error: &Error) -> String {
    match error {
        Error::Input { what, .. } => what.clone(),
        Error::Io { source, .. } => source.to_string(),
        Error::Internal { what, .. } => what.clone(),
        error => error.to_string(),
    }
}

/// Returns the kind of a reason: the text without numbers and quotations, which differ by message.
fn kind_of(reason: &str) -> String {
    let mut kind = String::with_capacity(reason.len());
    let mut quote = None;
    for c in reason.chars() {
        match (quote, c) {
            (Some(end), c) if c == end => quote = None,
            (Some(_), _) => {}
            (None, '`' | '"') => {
                quote = Some(c);
                kind.push(c);
            }
            (None, '0'..='9') if kind.ends_with('0') => {}
            (None, '0'..='9') => kind.push('0'),
            (None, c) => kind.push(c),
        }
    }
    kind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_messages_of_a_kind_are_shown_and_the_others_counted() {
        let messages = Messages::default();
        let shown = (0..6000)
            .filter(|n| messages.counts(Kind::Error, &format!("column {n} of `{n}x` is bad")));
        assert_eq!(shown.count(), 10);
        assert!(messages.counts_error(&Error::input("a.csv:1", "it is empty")));
        assert_eq!(
            messages.lines(),
            [(
                Kind::Error,
                "cento: and 5,990 more of this kind: column 0 of `0x` is bad".to_owned()
            )]
        );
    }

    #[test]
    fn a_message_of_each_of_many_kinds_is_shown() {
        // Regression: with thirty kinds of messages in a directory, the last kinds were not
        // reported.
        let messages = Messages::default();
        let reason = |n: u32| char::from_u32(0x4e00 + n).unwrap().to_string();
        let shown =
            (0..3).flat_map(|_| 0..60).filter(|&n| messages.counts(Kind::Error, &reason(n)));
        assert_eq!(shown.count(), 180);
        assert_eq!(messages.lines(), []);
    }

    #[test]
    fn reasons_without_end_are_few_kinds() {
        let messages = Messages::default();
        let letters = |n: u32| char::from_u32(0x4e00 + n).unwrap().to_string();
        let shown = (0..6000).filter(|&n| messages.counts(Kind::Error, &letters(n))).count();
        assert_eq!(shown, KINDS_MAX + SHOWN_MAX as usize);
        let more = 6000 - shown as u64;
        let said = format!("cento: and {} more {OTHERS}", output::count(more));
        assert_eq!(messages.lines(), [(Kind::Error, said)]);
    }
}
