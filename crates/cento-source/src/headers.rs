//! The beginnings of mails and mailboxes.
//!
//! No parser of mails is needed here: a build without one still reports the mails that it leaves
//! out.

/// Returns whether a text begins as a mail: with headers, some of them found only in mails. In a
/// file named as a mail (`is_named`), any header will do.
pub fn begins_as_mail(text: &[u8], is_named: bool) -> bool {
    /// Headers that occur only in mails.
    const OF_MAILS: [&[u8]; 5] =
        [b"received", b"message-id", b"mime-version", b"return-path", b"delivered-to"];
    let mut is_of_mail = false;
    for (at, line) in text.split(|&byte| byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            break;
        }
        if at > 0 && line.starts_with(b" ") || line.starts_with(b"\t") {
            continue;
        }
        let Some(name) = header_name(line) else { break };
        if is_named {
            return true;
        }
        is_of_mail |= OF_MAILS.iter().any(|of_mail| name.eq_ignore_ascii_case(of_mail));
        let is_first = at == 0 && !is_of_mail;
        // Lists of other things begin differently.
        if is_first
            && ![&b"from"[..], b"date", b"subject", b"to", b"x-"].iter().any(|first| {
                name.get(..first.len()).is_some_and(|name| name.eq_ignore_ascii_case(first))
            })
        {
            return false;
        }
    }
    is_of_mail
}

fn header_name(line: &[u8]) -> Option<&[u8]> {
    let name = &line[..memchr::memchr(b':', line)?];
    let is_name = |byte: &u8| byte.is_ascii_graphic();
    (!name.is_empty() && name.iter().all(is_name)).then_some(name)
}

/// Returns whether a text begins as a mailbox: with the line that precedes a mail, and a header.
pub fn begins_as_mailbox(text: &[u8]) -> bool {
    let mut lines = text.split(|&byte| byte == b'\n');
    let first = lines.next().unwrap_or_default();
    is_separator(first) && lines.next().is_some_and(|line| header_name(line).is_some())
}

/// Returns whether a line is one such as `From ann@example.org Mon Jan  1 12:00:00 2024`.
pub fn is_separator(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"From ") else { return false };
    rest.windows(5)
        .any(|time| time[2] == b':' && [0, 1, 3, 4].iter().all(|&at| time[at].is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mail_is_known_by_headers_that_only_mails_have() {
        let check = |text: &str, is_named: bool, expected: bool| {
            assert_eq!(begins_as_mail(text.as_bytes(), is_named), expected, "{text}");
        };
        check("Received: from x\n\tby y\nFrom: z\n\nbody", false, true);
        check("From: z\r\nSubject: s\r\nMessage-ID: <1>\r\n\r\n", false, true);
        check("From: z\nSubject: s\n\nbody\nReceived: x", false, false);
        check("From: z\n\nbody", true, true);
        check("a text\n", true, false);
        check("Note: this\nMessage-ID: x\n", false, false);
        check("title: a\ntext: b\n", false, false);
        check("", true, false);
        let mailbox = "From a@b Mon Jan  1 12:00:00 2024\nSubject: s\n\nbody";
        assert!(begins_as_mailbox(mailbox.as_bytes()));
        assert!(!begins_as_mailbox(b"From here on\nit: goes"));
        assert!(!begins_as_mailbox(b"From here at 12:00\nit goes"));
    }
}
