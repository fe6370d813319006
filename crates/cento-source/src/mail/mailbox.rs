//! Cuts a mailbox into mails.
//!
//! mail-parser's iterator holds messages of any length, so this module cuts mailboxes itself. A
//! line `From ` begins a mail if it has a time and follows an empty line, or if a header follows.
//! Some programs write no date, and others no empty line. MMDF uses lines of four control
//! characters.

use std::io::{self, BufRead, BufReader, Read};
use std::ops::ControlFlow;

use crate::headers::{Separator, begins_as_mmdf, is_usual_header, separator};

/// The mark at the beginning of a UTF-8 file, which editors add.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// A mail of a mailbox.
#[derive(Debug, PartialEq, Eq)]
pub enum InMailbox {
    /// The mail of this number, counted from 1.
    Mail(u64, Vec<u8>),
    /// The mail of this number is longer than allowed, and has been passed over.
    TooLong(u64),
}

/// Cuts a mailbox (mbox) into mails, until `emit` breaks off. A mail much longer than `bytes_max`
/// is skipped without being held.
///
/// # Errors
/// When the stream cannot be read further. The complete mails before have been emitted.
pub fn read_mailbox(
    stream: impl Read,
    bytes_max: usize,
    mut emit: impl FnMut(InMailbox) -> ControlFlow<()>,
) -> io::Result<ControlFlow<()>> {
    /// The maximum size of a piece of a long line, in bytes.
    const PIECE_BYTES_MAX: u64 = 64 << 10;
    let mut stream = BufReader::new(stream);
    let mut mails = Mails { bytes_max, emit: &mut emit, number: 0, mail: None };
    let mut at = LineStart::default();
    // A possible separator, which counts only if a header follows.
    let mut candidate: Option<Vec<u8>> = None;
    let mut is_first = true;
    loop {
        let mut piece = Vec::new();
        let len = (&mut stream).take(PIECE_BYTES_MAX).read_until(b'\n', &mut piece)?;
        if std::mem::take(&mut is_first) && piece.starts_with(BOM) {
            piece.drain(..BOM.len());
        }
        if let Some(line) = candidate.take() {
            let flow = match is_usual_header(&piece) {
                true => mails.begin(),
                false => {
                    mails.add(&line, true);
                    ControlFlow::Continue(())
                }
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        if len == 0 {
            return Ok(mails.end());
        }
        let found = if at.begins_line { separator(&piece) } else { None };
        let is_mmdf = at.begins_line && begins_as_mmdf(&piece);
        match found {
            Some(Separator::Dated) if at.follows_empty => {
                if mails.begin().is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Some(Separator::Dated) => candidate = Some(piece.clone()),
            Some(Separator::Bare) if at.follows_empty => candidate = Some(piece.clone()),
            _ if is_mmdf => {
                if mails.begin().is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            _ => mails.add(&piece, at.begins_line),
        }
        at = LineStart {
            follows_empty: at.begins_line && piece.trim_ascii().is_empty(),
            begins_line: piece.ends_with(b"\n"),
        };
    }
}

/// The position after a line, or after a piece of a long line.
struct LineStart {
    begins_line: bool,
    follows_empty: bool,
}

impl Default for LineStart {
    fn default() -> LineStart {
        LineStart { begins_line: true, follows_empty: true }
    }
}

/// The mails of a mailbox.
struct Mails<'a> {
    bytes_max: usize,
    emit: &'a mut dyn FnMut(InMailbox) -> ControlFlow<()>,
    /// The number of complete mails.
    number: u64,
    /// The current mail, or `Err` if the mail is too long. `None` before the first separator.
    mail: Option<Result<Vec<u8>, ()>>,
}

impl Mails<'_> {
    /// Ends the current mail and begins a new one.
    fn begin(&mut self) -> ControlFlow<()> {
        let flow = self.end();
        self.mail = Some(Ok(Vec::new()));
        flow
    }

    /// Ends the mail. The lines between two mails of MMDF are no mail.
    fn end(&mut self) -> ControlFlow<()> {
        let found = match self.mail.take() {
            Some(Ok(bytes)) if bytes.trim_ascii().is_empty() => return ControlFlow::Continue(()),
            Some(Ok(bytes)) => InMailbox::Mail(self.number + 1, bytes),
            Some(Err(())) => InMailbox::TooLong(self.number + 1),
            None => return ControlFlow::Continue(()),
        };
        self.number += 1;
        (self.emit)(found)
    }

    /// Adds a line, or a piece of a long line.
    fn add(&mut self, piece: &[u8], begins_line: bool) {
        let Some(Ok(mail)) = &mut self.mail else { return };
        // mbox marks a line of text that resembles a separator with `>`.
        let marks = piece.iter().take_while(|&&byte| byte == b'>').count();
        let is_marked = begins_line && marks > 0 && piece[marks..].starts_with(b"From ");
        mail.extend_from_slice(&piece[usize::from(is_marked)..]);
        if mail.len() > self.bytes_max {
            self.mail = Some(Err(()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the mails of a mailbox.
    fn mails(mailbox: &str) -> Vec<String> {
        let mut found = Vec::new();
        let flow = read_mailbox(mailbox.as_bytes(), 1000, |mail| {
            let InMailbox::Mail(number, bytes) = mail else { panic!("{mail:?}") };
            assert_eq!(number, found.len() as u64 + 1);
            found.push(String::from_utf8(bytes).unwrap());
            ControlFlow::Continue(())
        });
        assert!(flow.unwrap().is_continue());
        found
    }

    #[test]
    fn a_line_that_headers_follow_begins_a_mail_with_or_without_a_date() {
        let (one, two) = ("From: a\nSubject: one\n\nthe text\n", "Subject: two\n\nmore text\n");
        let dated = "From a@b Mon Jan  5 10:00:00 2026";
        for separator in [dated, "From ", "From a@b"] {
            let mailbox = format!("{separator}\n{one}\n{separator}\n{two}");
            assert_eq!(mails(&mailbox), [format!("{one}\n"), two.to_owned()], "{separator}");
        }
        assert_eq!(mails(&format!("\u{feff}{dated}\n{one}{dated}\n{two}")), [one, two]);
        // Without an empty line, and in MMDF.
        assert_eq!(mails(&format!("{dated}\n{one}{dated}\n{two}")), [one, two]);
        let mark = "\x01\x01\x01\x01\n";
        assert_eq!(mails(&format!("{mark}{one}{mark}{mark}{two}{mark}")), [one, two]);
        // These lines belong to a text.
        for line in ["From here on\nit goes\n", "From \nhere\n", "From x at 12:00 it\ngoes\n"] {
            let text = format!("{one}{line}");
            assert_eq!(mails(&format!("{dated}\n{text}")), [text], "{line}");
        }
        assert_eq!(mails("no mail"), [""; 0]);
    }

    fn cut(mailbox: &[u8], max: usize) -> Vec<InMailbox> {
        let mut found = Vec::new();
        let end = read_mailbox(mailbox, max, |mail| {
            found.push(mail);
            ControlFlow::Continue(())
        });
        assert!(end.unwrap().is_continue());
        found
    }

    #[test]
    fn a_mailbox_is_cut_at_lines_that_stand_before_mails() {
        let head = "From a Mon Jan  1 12:00:00 2024\n";
        let mails = ["Subject: 1\n\nFrom here at noon\n\n", "Subject: 2\n\n>From a\n>>From b\n"];
        let mailbox = format!("{head}{}{head}{}", mails[0], mails[1]);
        let expected = [
            InMailbox::Mail(1, mails[0].into()),
            InMailbox::Mail(2, b"Subject: 2\n\nFrom a\n>From b\n".to_vec()),
        ];
        assert_eq!(cut(mailbox.as_bytes(), 1000), expected);
        let long = format!("{head}{}\n\n{head}x: y\n\n", "x".repeat(300_000));
        let expected = [InMailbox::TooLong(1), InMailbox::Mail(2, b"x: y\n\n".to_vec())];
        assert_eq!(cut(long.as_bytes(), 1000), expected);
    }
}
