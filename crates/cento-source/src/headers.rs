//! Recognizes the beginnings of mails and mailboxes.
//!
//! No mail parser is involved, so a build without the parser can still report that it skips mails.

/// Headers that only mails have.
const OF_MAILS: [&[u8]; 5] =
    [b"received", b"message-id", b"mime-version", b"return-path", b"delivered-to"];

/// Headers of mails and articles that other texts may also have.
const OF_ARTICLES: [&[u8]; 16] = [
    b"cc",
    b"date",
    b"distribution",
    b"expires",
    b"followup-to",
    b"keywords",
    b"lines",
    b"newsgroups",
    b"nntp-posting-host",
    b"organization",
    b"path",
    b"references",
    b"reply-to",
    b"subject",
    b"to",
    b"xref",
];

/// Beginnings of the first header, because other formats with headers begin with different names.
const FIRST: [&[u8]; 12] = [
    b"from",
    b"date",
    b"subject",
    b"to",
    b"x-",
    b"xref",
    b"path",
    b"newsgroups",
    b"organization",
    b"lines",
    b"references",
    b"reply-to",
];

/// Returns whether a text begins with headers of a mail or an article of a newsgroup. Some header
/// must be specific to mails, unless the file name says that the file is a mail (`is_named`).
/// Without such a header, an author, another usual header and an empty line make a mail, because
/// collections of articles keep no more.
pub fn begins_as_mail(text: &[u8], is_named: bool) -> bool {
    let is = |name: &[u8], of: &[&[u8]]| of.iter().any(|of| name.eq_ignore_ascii_case(of));
    let (mut is_of_mail, mut has_author, mut has_other) = (false, false, false);
    for (at, line) in text.split(|&byte| byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            return is_of_mail || has_author && has_other;
        }
        if at > 0 && line.starts_with(b" ") || line.starts_with(b"\t") {
            continue;
        }
        let Some(name) = header_name(line) else { break };
        if is_named {
            return true;
        }
        is_of_mail |= is(name, &OF_MAILS);
        has_author |= is(name, &[b"from"]);
        has_other |= is(name, &OF_ARTICLES);
        let begins = |first: &&[u8]| {
            name.get(..first.len()).is_some_and(|name| name.eq_ignore_ascii_case(first))
        };
        if at == 0 && !is_of_mail && !FIRST.iter().any(begins) {
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

/// Returns whether a text begins with the separator of a mailbox and a header.
pub fn begins_as_mailbox(text: &[u8]) -> bool {
    let mut lines = text.split(|&byte| byte == b'\n');
    let first = lines.next().unwrap_or_default();
    let Some(second) = lines.next() else { return false };
    match separator(first) {
        Some(Separator::Dated) => header_name(second).is_some(),
        Some(Separator::Bare) => is_usual_header(second),
        None => false,
    }
}

/// The line around each mail of an MMDF mailbox.
const MMDF: &[u8] = b"\x01\x01\x01\x01";

/// Returns whether bytes begin as a mailbox in the format MMDF.
pub fn begins_as_mmdf(bytes: &[u8]) -> bool {
    let rest = bytes.strip_prefix(MMDF);
    rest.is_some_and(|rest| rest.starts_with(b"\n") || rest.starts_with(b"\r\n"))
}

/// A line before a mail of a mailbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    /// A line with a time, such as `From ann@example.org Mon Jan  1 12:00:00 2024`.
    Dated,
    /// A line with at most an address, as some programs export mails. Counts only before a header.
    Bare,
}

/// Returns the kind of separator for a line, or `None` if the line is no separator.
pub fn separator(line: &[u8]) -> Option<Separator> {
    let rest = line.strip_prefix(b"From ")?;
    let is_time =
        |time: &[u8]| time[2] == b':' && [0, 1, 3, 4].iter().all(|&at| time[at].is_ascii_digit());
    if rest.windows(5).any(is_time) {
        return Some(Separator::Dated);
    }
    let is_bare = rest.trim_ascii().split(u8::is_ascii_whitespace).count() == 1;
    is_bare.then_some(Separator::Bare)
}

/// Returns whether a line is a header of most mails, or a header of mail programs.
pub fn is_usual_header(line: &[u8]) -> bool {
    const USUAL: [&[u8]; 12] = [
        b"from",
        b"to",
        b"cc",
        b"date",
        b"subject",
        b"received",
        b"message-id",
        b"return-path",
        b"delivered-to",
        b"mime-version",
        b"content-type",
        b"status",
    ];
    let is_extension = |name: &[u8]| name.len() > 2 && name[..2].eq_ignore_ascii_case(b"x-");
    header_name(line).is_some_and(|name| {
        is_extension(name) || USUAL.iter().any(|usual| name.eq_ignore_ascii_case(usual))
    })
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
        check("From: z\n\nbody\nReceived: x", false, false);
        check("From: z\nSubject: s\nbody goes on", false, false);
        check("From: z\nChapter: 1\n\nbody", false, false);
        check("Date: 1 May\nSubject: history\n\nAn essay", false, false);
        check("From: z\n\nbody", true, true);
        check("a text\n", true, false);
        check("Note: this\nMessage-ID: x\n", false, false);
        check("title: a\ntext: b\n", false, false);
        check("", true, false);
        // Articles of newsgroups, whose collections keep few headers.
        check("From: z\nSubject: Re: s\nLines: 3\n\nbody", false, true);
        check("From: z\r\nSubject: s\r\n\r\nbody", false, true);
        check("Xref: h a.b:1\nPath: a!b\nFrom: z\nNewsgroups: a.b\n\nbody", false, true);
        check("Newsgroups: a.b\nFrom: z\nMessage-ID: <1>\n\nbody", false, true);
        let mailbox = "From a@b Mon Jan  1 12:00:00 2024\nSubject: s\n\nbody";
        assert!(begins_as_mailbox(mailbox.as_bytes()));
        assert!(!begins_as_mailbox(b"From here on\nit: goes"));
        assert!(!begins_as_mailbox(b"From here at 12:00\nit goes"));
        assert!(begins_as_mailbox(b"From \nX-Id: 1\n"));
        assert!(begins_as_mailbox(b"From a@b\r\nSubject: s\r\n"));
        assert!(!begins_as_mailbox(b"From here\nit: goes"));
        assert!(!begins_as_mailbox(b"From "));
        assert!(begins_as_mmdf(b"\x01\x01\x01\x01\r\nFrom: x") && !begins_as_mmdf(b"\x01\x01"));
    }
}
