//! Text and attachments of mails.
//!
//! mail-parser reads the parts of a mail. This module keeps input away from the parser that would
//! be slow or nest without bound.

mod mailbox;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::charsets::map::charset_decoder;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{
    Encoding, HeaderName, Message, MessageParser, MessagePart, MimeHeaders, PartType,
};

pub use mailbox::{InMailbox, read_mailbox};

use crate::charset::{self, EncodingLabel};
use crate::html::{self, Html};

/// The maximum size of a header, in bytes, because the parser compares every pair of parameters.
const HEADER_BYTES_MAX: usize = 16 << 10;

/// The maximum product of the number of boundaries and the size of the mail, because the parser
/// searches the remaining mail for each boundary.
const BOUNDARY_STEPS_MAX: usize = 4 << 30;

/// The parameter that defines a boundary.
const BOUNDARY: &[u8] = b"boundary";

/// Why an undecodable part is not read. The parser would return the encoded bytes as text.
const UNDECODED: &str = "its base64 is cut short or invalid";

/// Subtypes of parts that contain mails.
const MAILS: [&[u8]; 3] = [b"rfc822", b"global", b"digest"];

/// Replaces the first letter of these subtypes, so that the parser does not descend into the part.
/// The part is then read as a file in the mail, where nesting is bounded.
const TAKEN_AS_IT_IS: u8 = b'x';

/// A mail, split into text and files.
#[derive(Debug, PartialEq, Eq)]
pub struct Mail {
    /// The subject and the text. Without a plain text, the text of the HTML part.
    pub text: String,
    /// The page, if a browser saved it as MHTML. Pictures and styles of the page are no
    /// attachments.
    pub page: Option<Vec<u8>>,
    /// The attached files, in order. Repeated names are numbered.
    pub attachments: Vec<Attachment>,
}

/// A file attached to a mail.
#[derive(Debug, PartialEq, Eq)]
pub struct Attachment {
    /// The name in the mail, without directories.
    pub name: String,
    /// The contents, or the reason why they are missing, as a clause.
    pub bytes: Result<Vec<u8>, &'static str>,
}

/// Parses a mail. `encoding` applies to parts without a declared encoding.
///
/// # Errors
/// When the bytes are not a mail, would be slow to read, or the text cannot be decoded, with the
/// reason as a clause.
pub fn parse(mut bytes: Vec<u8>, encoding: Option<&str>) -> Result<Mail, String> {
    prepare(&mut bytes)?;
    let parser = MessageParser::new().with_mime_headers().header_text(HeaderName::Subject);
    let none = || "it is damaged or no mail: it has no headers".to_owned();
    let message = parser.parse(&bytes).ok_or_else(none)?;
    if message.text_bodies().chain(message.html_bodies()).any(is_undecoded) {
        return Err(UNDECODED.to_owned());
    }
    if let Some(page) = saved_page(&message) {
        let (text, attachments) = (String::new(), Vec::new());
        return Ok(Mail { text, page: Some(page), attachments });
    }
    let (mut names, mut numbers) = (HashSet::new(), HashMap::new());
    let attachments = message.attachments().enumerate().filter_map(|(at, part)| {
        // Pictures within the text are not attachments.
        let bytes = match &part.body {
            PartType::Text(text) | PartType::Html(text) => file_of(&message, part, text),
            PartType::Binary(bytes) => bytes.clone(),
            PartType::InlineBinary(_) | PartType::Message(_) | PartType::Multipart(_) => {
                return None;
            }
        };
        let wanted = name_of(part, at + 1);
        // The last number is remembered, because searching from 1 for many equal names would be
        // quadratic.
        let number = numbers.entry(wanted.clone()).or_insert(1);
        let mut name = wanted.clone();
        while !names.insert(name.clone()) {
            *number += 1;
            name = format!("{wanted} ({number})");
        }
        let bytes = if is_undecoded(part) { Err(UNDECODED) } else { Ok(bytes.into_owned()) };
        Some(Attachment { name, bytes })
    });
    let attachments = attachments.collect();
    Ok(Mail { text: text_of(&message, encoding)?, page: None, attachments })
}

/// Returns the page that a browser saved: the first HTML part of related parts, if the part has a
/// `Content-Location`. HTML parts of mails lack this header.
fn saved_page(message: &Message<'_>) -> Option<Vec<u8>> {
    let root = message.parts.first()?;
    let kind = root.content_type()?;
    let is_related = kind.ctype() == "multipart" && kind.subtype() == Some("related");
    let mut parts = message.parts.iter();
    let page = parts.find(|part| matches!(part.body, PartType::Html(_)))?;
    let PartType::Html(text) = &page.body else { return None };
    let is_saved = page.content_location().or(root.content_location()).is_some();
    (is_saved && (is_related || std::ptr::eq(root, page)))
        .then(|| file_of(message, page, text).into_owned())
}

/// Returns whether base64 of a part could not be decoded. Other encodings leave most letters
/// readable.
fn is_undecoded(part: &MessagePart<'_>) -> bool {
    let encoding = part.content_transfer_encoding();
    part.is_encoding_problem
        && encoding.is_some_and(|encoding| encoding.trim().eq_ignore_ascii_case("base64"))
}

/// Refuses mails that would be slow to parse, and changes the types of parts that the parser would
/// nest without bound.
fn prepare(bytes: &mut [u8]) -> Result<(), String> {
    let mut at = 0;
    while let Some(found) = find_header(&bytes[at..]) {
        let start = at + found;
        let len = header_len(&bytes[start..]);
        if len > HEADER_BYTES_MAX {
            return Err(format!("it has a header of more than {HEADER_BYTES_MAX} bytes"));
        }
        let value = &mut bytes[start..start + len];
        for mail in MAILS {
            let places = 0..(value.len() + 1).saturating_sub(mail.len());
            for place in places {
                if value[place..place + mail.len()].eq_ignore_ascii_case(mail) {
                    value[place] = TAKEN_AS_IT_IS;
                }
            }
        }
        at = start + len.max(1);
    }
    let is_boundary = |&at: &usize| {
        let found = bytes.get(at..at + BOUNDARY.len());
        found.is_some_and(|found| found.eq_ignore_ascii_case(BOUNDARY))
    };
    let boundaries = memchr::memchr2_iter(b'b', b'B', bytes).filter(is_boundary).count();
    match boundaries.saturating_mul(bytes.len()) > BOUNDARY_STEPS_MAX {
        true => Err(format!("it has {boundaries} parts within each other, too many for its size")),
        false => Ok(()),
    }
}

/// Returns the place of the next `Content-...` header with parameters.
fn find_header(bytes: &[u8]) -> Option<usize> {
    const REST: [&[u8]; 2] = [b"ontent-type", b"ontent-disposition"];
    let is_one = |&at: &usize| {
        REST.iter().any(|rest| {
            let found = bytes.get(at + 1..at + 1 + rest.len());
            found.is_some_and(|found| found.eq_ignore_ascii_case(rest))
        })
    };
    memchr::memchr2_iter(b'c', b'C', bytes).find(is_one)
}

/// Returns the length of a header with its continuation lines, in bytes.
fn header_len(bytes: &[u8]) -> usize {
    let is_end = |&at: &usize| !matches!(bytes.get(at + 1), Some(b' ' | b'\t'));
    memchr::memchr_iter(b'\n', bytes).find(is_end).unwrap_or(bytes.len())
}

fn text_of(message: &Message<'_>, encoding: Option<&str>) -> Result<String, String> {
    let text = |part: &MessagePart<'_>| -> Result<String, String> {
        let (text, is_page) = match &part.body {
            PartType::Text(text) => (text, false),
            PartType::Html(page) => (page, true),
            _ => return Ok(String::new()),
        };
        let label = match named_charset(part) {
            Some(Charset::OfParser) => None,
            Some(Charset::Known(name)) => Some(EncodingLabel::Declared(name)),
            None => Some(EncodingLabel::of(encoding, None)),
        };
        let raw = label.map(|label| (bytes_of(message, part), label));
        let all = |page: &str| html::text_of_page(page, Html::All).0;
        Ok(match (raw, is_page) {
            (Some((Some(bytes), label)), true) => html::text_of(&bytes, label, Html::All)?.0,
            (Some((Some(bytes), label)), false) => {
                let text = charset::decode_undoubted(&bytes, label)?;
                joined_flow(part, text.replace("\r\n", "\n"))
            }
            (_, true) => all(text),
            (_, false) => joined_flow(part, text.replace("\r\n", "\n")),
        })
    };
    let parts = |all: &mut dyn Iterator<Item = &MessagePart<'_>>| -> Result<Vec<String>, String> {
        let texts: Result<Vec<_>, _> = all.map(text).collect();
        Ok(texts?.into_iter().filter(|text| !text.trim().is_empty()).collect())
    };
    let mut pieces = vec![subject_of(message, encoding)];
    let plain = parts(&mut message.text_bodies())?;
    pieces.extend(if plain.is_empty() { parts(&mut message.html_bodies())? } else { plain });
    pieces.retain(|piece| !piece.is_empty());
    Ok(pieces.join("\n\n"))
}

/// Joins lines that the mail program has broken within words (RFC 3676 with `delsp=yes`, as for
/// Japanese). The space before such a break is deleted. Without `delsp`, breaks are between words.
fn joined_flow(part: &MessagePart<'_>, text: String) -> String {
    let has = |name: &str, value: &str| {
        let found = part.content_type().and_then(|kind| kind.attribute(name));
        found.is_some_and(|found| found.eq_ignore_ascii_case(value))
    };
    if !has("format", "flowed") || !has("delsp", "yes") {
        return text;
    }
    let mut joined = String::new();
    // The quotation marks of the line that continues.
    let mut open: Option<&str> = None;
    for line in text.lines() {
        let (marks, rest) = line.split_at(line.len() - line.trim_start_matches('>').len());
        // Space-stuffing: a line that begins with a space or a mark gets an additional space.
        let rest = rest.strip_prefix(' ').unwrap_or(rest);
        if open != Some(marks) {
            if !joined.is_empty() {
                joined.push('\n');
            }
            joined.push_str(marks);
        }
        let is_signature = rest == "-- ";
        let soft = rest.strip_suffix(' ').filter(|_| !is_signature);
        joined.push_str(soft.unwrap_or(rest));
        open = soft.map(|_| marks);
    }
    joined
}

/// Returns the subject of a mail. Old mails have raw non-ASCII letters in the subject, in the
/// encoding of the text or in an undeclared encoding.
fn subject_of(message: &Message<'_>, encoding: Option<&str>) -> String {
    let decoded = message.subject().unwrap_or_default().trim().to_owned();
    let mut headers = message.headers().iter().rev();
    let header = headers.find(|header| header.name == HeaderName::Subject);
    let at = header.map(|header| header.offset_start as usize..header.offset_end as usize);
    let raw = at.and_then(|at| message.raw_message().get(at)).unwrap_or_default();
    if raw.is_ascii() || (std::str::from_utf8(raw).is_ok() && encoding.is_none()) {
        return decoded;
    }
    let of_text = message.text_bodies().chain(message.html_bodies()).find_map(named_charset);
    let of_text = match of_text {
        Some(Charset::Known(name)) => Some(name),
        _ => None,
    };
    let name = of_text.or(encoding);
    // The subject is too short for a detection, so the whole mail decides.
    let name = name.unwrap_or_else(|| charset::decode(message.raw_message(), None).charset);
    let text = charset::decode(raw, Some(name)).text;
    // Raw letters and encoded words may be mixed.
    let header = format!("Subject:{}\n\n", text.trim_end());
    let parser = MessageParser::new().header_text(HeaderName::Subject);
    let parsed = parser.parse(header.as_bytes());
    let subject = parsed.as_ref().and_then(|message| message.subject()).unwrap_or_default();
    subject.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The declared encoding of a part.
enum Charset<'a> {
    /// An encoding with this name, which cento decodes.
    Known(&'a str),
    /// An encoding that only the parser supports, such as UTF-7, and has decoded already.
    OfParser,
}

/// Returns the declared encoding of a part, or `None` for unknown names such as `unknown-8bit`.
fn named_charset<'a>(part: &'a MessagePart<'_>) -> Option<Charset<'a>> {
    let name = part.content_type()?.attribute("charset")?;
    // If such a part has other letters, the declaration is wrong.
    if ["us-ascii", "ascii"].iter().any(|ascii| name.eq_ignore_ascii_case(ascii)) {
        return None;
    }
    match charset::is_known(name) {
        true => Some(Charset::Known(name)),
        false => charset_decoder(name.as_bytes()).map(|_| Charset::OfParser),
    }
}

/// Returns the bytes of a part without its transfer encoding, or `None` if that is damaged.
fn bytes_of<'a>(message: &'a Message<'_>, part: &MessagePart<'_>) -> Option<Cow<'a, [u8]>> {
    let at = part.offset_body as usize..part.offset_end as usize;
    let raw = message.raw_message().get(at)?;
    match part.encoding {
        Encoding::None => Some(raw.into()),
        Encoding::QuotedPrintable => quoted_printable_decode(raw).map(Cow::Owned),
        Encoding::Base64 => base64_decode(raw).map(Cow::Owned),
    }
}

/// Returns an attached text as a file. Without a declared encoding, the bytes stay unchanged, and
/// the encoding is detected as for other files. Otherwise, the text becomes UTF-8 with a byte order
/// mark.
fn file_of<'a>(message: &'a Message<'_>, part: &MessagePart<'_>, text: &'a str) -> Cow<'a, [u8]> {
    let decoded: Cow<'_, str> = match (named_charset(part), bytes_of(message, part)) {
        (None, Some(bytes)) => return bytes,
        (Some(Charset::Known(name)), Some(bytes)) => {
            let label = EncodingLabel::Declared(name).believed(&bytes);
            charset::decode(&bytes, label).text.into_owned().into()
        }
        (Some(Charset::OfParser), _) | (_, None) => text.into(),
    };
    match decoded.is_ascii() {
        true => decoded.into_owned().into_bytes().into(),
        false => format!("\u{feff}{decoded}").into_bytes().into(),
    }
}

/// Returns the file name of a part, without directories. A part without a name gets one from its
/// number and type.
fn name_of(part: &MessagePart<'_>, number: usize) -> String {
    let kind = part.content_type();
    let subtype = kind.and_then(|kind| kind.subtype()).unwrap_or_default();
    let is_mail = kind.is_some_and(|kind| kind.ctype() == "message");
    let name = part.attachment_name().unwrap_or_default();
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default().trim();
    let ending = match subtype {
        _ if is_mail => ".eml",
        "html" => ".html",
        "plain" => ".txt",
        "pdf" => ".pdf",
        _ => "",
    };
    match name {
        "" | "." | ".." => format!("part {number}{ending}"),
        name if is_mail && !crate::format::has_ending(name, &[".eml"]) => format!("{name}.eml"),
        name => name.trim_start_matches('.').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn soft_breaks_of_a_text_without_spaces_are_no_spaces() {
        let mail = |more: &str| {
            let head = format!("Content-Type: text/plain; charset=utf-8; format=flowed{more}\n\n");
            let text = "\u{6e2f}\u{306e} \n\u{6c34}\u{8eca} \n>\u{53e4}\u{3044} \n> \u{51ac}\nend";
            parse(format!("{head}{text}").into_bytes(), None).unwrap().text
        };
        let joined = "\u{6e2f}\u{306e}\u{6c34}\u{8eca}\n>\u{53e4}\u{3044}\u{51ac}\nend";
        assert_eq!(mail("; delsp=yes"), joined);
        assert!(mail("").contains("\u{306e} \n\u{6c34}"));
    }
    use base64ish::base64;

    /// The encoding of files in mails.
    mod base64ish {
        pub fn base64(bytes: &[u8]) -> String {
            const LETTERS: &[u8] =
                b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
            let mut out = String::new();
            for three in bytes.chunks(3) {
                let bits = three.iter().fold(0u32, |bits, &byte| bits << 8 | u32::from(byte));
                let bits = bits << (8 * (3 - three.len()));
                for at in 0..4 {
                    let letter = LETTERS[(bits >> (18 - 6 * at)) as usize & 63];
                    out.push(if at > three.len() { '=' } else { letter.into() });
                }
            }
            out
        }
    }

    fn mail(bytes: &str) -> Mail {
        parse(bytes.as_bytes().to_vec(), None).unwrap()
    }

    #[test]
    fn the_text_of_a_mail_is_subject_and_body() {
        let plain = "From: a@b\r\nSubject: =?utf-8?q?caf=C3=A9?=\r\n\r\nHello\r\nyou\r\n";
        assert_eq!(mail(plain).text, "caf\u{e9}\n\nHello\nyou\n");
        let both = "Subject: s\nContent-Type: multipart/alternative; boundary=x\n\n--x\n\
                    Content-Type: text/plain\n\nplain\n--x\nContent-Type: text/html\n\n\
                    <p>page</p>\n--x--\n";
        let Mail { text, attachments, .. } = mail(both);
        assert_eq!((text.trim(), attachments), ("s\n\nplain", vec![]));
        let page = "Content-Type: text/html; charset=utf-8\n\n<p>only a<br>page</p>\n";
        assert_eq!(mail(page).text, "only a\npage");
        let quoted = "Content-Transfer-Encoding: quoted-printable\n\
                      Content-Type: text/plain; charset=iso-8859-1\n\ncaf=E9 lo=\nng\n";
        assert_eq!(mail(quoted).text.trim(), "caf\u{e9} long");
    }

    #[test]
    fn letters_are_read_in_the_encoding_that_is_named_or_found() {
        // Non-ASCII letters became U+FFFD.
        let text = "Die Gr\u{f6}\u{df}e der St\u{e4}dte f\u{fc}hrt zu H\u{e4}ndlern.";
        let latin: Vec<u8> = text.chars().map(|c| c as u32 as u8).collect();
        let read = |head: &str, bytes: &[u8], encoding: Option<&str>| {
            let mail = [format!("Subject: s\n{head}\n").as_bytes(), bytes, b"\n"].concat();
            let Mail { text, .. } = parse(mail, encoding).unwrap();
            text.trim_start_matches("s\n\n").trim().to_owned()
        };
        let plain = |charset: &str| format!("Content-Type: text/plain; charset={charset}\n");
        for head in ["", &plain("unknown-8bit"), &plain("us-ascii"), &plain("iso-8859-1")] {
            assert_eq!(read(head, &latin, None), text, "{head}");
            assert_eq!(read(head, &latin, Some("latin1")), text, "{head}");
        }
        let quoted = "Content-Transfer-Encoding: quoted-printable\n";
        assert_eq!(
            read(quoted, b"f=FChrt zu=\n H=E4ndlern", Some("latin1")),
            "f\u{fc}hrt zu H\u{e4}ndlern"
        );
        let encoded = "Content-Transfer-Encoding: base64\n";
        assert_eq!(read(encoded, base64(&latin).as_bytes(), None), text);
        assert_eq!(read("", b"f\x81hrt", Some("cp850")), "f\u{fc}hrt");
        assert_eq!(read(&plain("cp852"), b"\x9f", None), "\u{10d}");
        // The parser knows no encoding of several bytes.
        assert_eq!(
            read(&plain("gb2312"), b"\xb5\xc0\xbf\xc9\xb5\xc0", None),
            "\u{9053}\u{53ef}\u{9053}"
        );
        let page = "Content-Type: text/html\n";
        let body = [b"<meta charset=latin1><p>", &latin[..]].concat();
        assert_eq!(read(page, &body, None), text);
        assert_eq!(read("", text.as_bytes(), None), text);
        assert!(parse(b"Subject: s\n\nDie St\x84dte f\x81hren".to_vec(), None).is_err());
    }

    #[test]
    fn the_subject_and_attached_texts_have_letters_too() {
        let mail = b"Subject: Gr\xfc\xdfe\n an alle\n\
            Content-Type: multipart/mixed; boundary=x\n\n--x\n\n\
            Viele Gr\xfc\xdfe, es f\xfchrt zu Schwierigkeiten f\xfcr die H\xe4ndler.\n--x\n\
            Content-Disposition: attachment; filename=a.txt\n\
            Content-Type: text/plain\n\nf\xfcr\n--x\n\
            Content-Disposition: attachment; filename=b.txt\n\
            Content-Type: text/plain; charset=latin1\n\nf\xfcr\n--x--\n";
        for encoding in [None, Some("latin1")] {
            let Mail { text, attachments, .. } = parse(mail.to_vec(), encoding).unwrap();
            assert!(
                text.starts_with("Gr\u{fc}\u{df}e an alle\n\nViele Gr\u{fc}\u{df}e, es"),
                "{text}"
            );
            let files: Vec<_> = attachments.into_iter().map(|file| file.bytes.unwrap()).collect();
            assert_eq!(files, [&b"f\xfcr"[..], "\u{feff}f\u{fc}r".as_bytes()]);
        }
    }

    #[test]
    fn a_subject_is_read_in_the_encoding_of_its_text_and_may_have_encoded_words() {
        let head = "Content-Type: text/plain; charset=";
        let check = |mail: &[u8], encoding: Option<&str>, expected: &str| {
            let Mail { text, .. } = parse(mail.to_vec(), encoding).unwrap();
            assert_eq!(text.trim(), expected);
        };
        let encoded =
            b"Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?= an J\xfcrgen\n\nF\xfcr die St\xe4dte.\n";
        check(encoded, None, "Gr\u{fc}\u{df}e an J\u{fc}rgen\n\nF\u{fc}r die St\u{e4}dte.");
        let utf8 = format!("Subject: f\u{fc}r\n{head}utf-8\n\nf\u{fc}r\n");
        check(utf8.as_bytes(), Some("latin1"), "f\u{fc}r\n\nf\u{fc}r");
        // Non-ASCII letters were read as windows-1252.
        let ascii = format!("Subject: s\n{head}us-ascii\n\nDie Gr\u{f6}\u{df}e\n");
        check(ascii.as_bytes(), None, "s\n\nDie Gr\u{f6}\u{df}e");
        check(
            b"Subject: a\nSubject: f\xfcr b\n\nf\xfcr alle\n",
            Some("latin1"),
            "f\u{fc}r b\n\nf\u{fc}r alle",
        );
    }

    #[test]
    fn a_page_that_a_browser_saved_is_a_page() {
        // The text had all menus of the page, and each style sheet was a document.
        let mhtml = |address: &str| {
            format!(
                "From: <Saved by Blink>\nSubject: A page\nMIME-Version: 1.0\n\
                 Content-Type: multipart/related; type=\"text/html\"; boundary=\"x\"\n\n--x\n\
                 Content-Type: text/html; charset=iso-8859-1\n{address}\
                 Content-Transfer-Encoding: quoted-printable\n\n<p>caf=E9</p>\n--x\n\
                 Content-Type: text/css\nContent-Location: cid:css-1\n\np {{ color: red }}\n\
                 --x--\n"
            )
        };
        let Mail { text, page, attachments } = mail(&mhtml("Content-Location: http://a.org/\n"));
        assert_eq!((text.as_str(), attachments), ("", vec![]));
        assert_eq!(page.unwrap().trim_ascii_end(), "\u{feff}<p>caf\u{e9}</p>".as_bytes());
        assert_eq!(mail(&mhtml("")).page, None, "a mail with a page and its style");
    }

    #[test]
    fn an_attachment_is_a_file_and_so_is_a_mail() {
        let part = |head: &str, body: &str| format!("--x\n{head}\n\n{body}\n");
        let file = |name: &str, bytes: &[u8]| {
            let head = format!(
                "Content-Type: application/octet-stream\nContent-Transfer-Encoding: base64\n\
                 Content-Disposition: attachment; filename=\"{name}\""
            );
            part(&head, &base64(bytes))
        };
        let forwarded = "Content-Type: Message/RFC822";
        let all = [
            "Subject: s\nContent-Type: multipart/mixed; boundary=x\n\n".to_owned(),
            part("Content-Type: text/plain", "body"),
            file("../a b.bin", b"\0\x01\xff"),
            file("a b.bin", b"other"),
            part(forwarded, "Subject: inner\n\nwords"),
            part("Content-Type: image/png\nContent-Transfer-Encoding: base64", "iVBORw0K"),
            "--x--\n".to_owned(),
        ];
        let Mail { text, attachments, .. } = mail(&all.concat());
        assert_eq!(text.trim(), "s\n\nbody");
        let found: Vec<(&str, &[u8])> = attachments
            .iter()
            .map(|found| (&*found.name, found.bytes.as_deref().unwrap()))
            .collect();
        let inner = b"Subject: inner\n\nwords";
        let expected: [(&str, &[u8]); 3] =
            [("a b.bin", b"\0\x01\xff"), ("a b.bin (2)", b"other"), ("part 3.eml", inner)];
        assert_eq!(found, expected);
    }

    #[test]
    fn an_attachment_that_cannot_be_decoded_is_no_text() {
        // The encoded letters were the text of the file.
        let encoded = base64(b"words of a file that is attached");
        let head = "Subject: s\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nbody\n--x\n\
                    Content-Type: text/plain; name=a.txt\nContent-Transfer-Encoding: BASE64\n\n";
        let files = |rest: &str| {
            let Mail { text, attachments, .. } = mail(&format!("{head}{rest}"));
            assert_eq!(text.trim(), "s\n\nbody");
            attachments.into_iter().map(|file| (file.name, file.bytes)).collect::<Vec<_>>()
        };
        let read = Ok(b"words of a file that is attached".to_vec());
        assert_eq!(files(&format!("{encoded}\n--x--\n")), [("a.txt".to_owned(), read)]);
        let unread = [("a.txt".to_owned(), Err(UNDECODED))];
        assert_eq!(files(&format!("{}\n", &encoded[..20])), unread);
        assert_eq!(files(&format!("{}*{}\n--x--\n", &encoded[..20], &encoded[20..])), unread);
        let alone = "Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n";
        let alone = |body: &str| parse(format!("Subject: s\n{alone}{body}\n").into_bytes(), None);
        assert_eq!(alone(&base64(b"words")).unwrap().text, "s\n\nwords");
        assert_eq!(alone("d29y*ZHM="), Err(UNDECODED.to_owned()));
    }

    #[test]
    fn hostile_mails_are_refused_or_taken_as_they_are() {
        // Freeing nested messages would overflow the stack.
        let deep = "Content-Type: message/rfc822\n\n".repeat(300_000);
        let Mail { attachments, .. } = mail(&deep);
        assert_eq!(attachments.len(), 1);
        let bytes = attachments[0].bytes.as_deref().unwrap();
        assert!(bytes.starts_with(b"Content-Type: message/"));
        let wide = format!("Content-Type: text/plain{}\n\nx", "; a*1=b".repeat(1_000_000));
        assert!(parse(wide.into_bytes(), None).unwrap_err().contains("a header of more than"));
        let parts = "--y\nContent-Type: multipart/mixed; boundary=x\n\n".repeat(100_000);
        let parts = format!("Content-Type: multipart/mixed; boundary=y\n\n{parts}");
        assert!(parse(parts.into_bytes(), None).unwrap_err().contains("too many for its size"));
        assert!(parse(b"".to_vec(), None).unwrap_err().contains("no mail"));
    }
}
