//! Text and attachments of mails.
//!
//! mail-parser reads the parts of a mail. This module keeps input away from the parser that would
//! be slow or nest without bound.

mod mailbox;
mod signature;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

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

/// What the subtype of a digest of mails becomes.
const DIGEST: &[u8] = b"xigest";

/// A mail, split into text and files.
#[derive(Debug, PartialEq, Eq)]
pub struct Mail {
    /// The subject and the text. The text of the HTML part, if there is no plain text or only a
    /// short one that points to the page.
    pub text: String,
    /// The number of characters of the HTML part that a reader does not see.
    pub hidden: usize,
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
        let (text, hidden, attachments) = (String::new(), 0, Vec::new());
        return Ok(Mail { text, hidden, page: Some(page), attachments });
    }
    let digested = mails_of_digests(&message);
    let (mut names, mut numbers) = (HashSet::new(), HashMap::new());
    let attached = message.attachments().filter(|part| !digested.contains_key(&part.offset_body));
    let files = attached.chain(digested.values().copied());
    let attachments = files.enumerate().filter_map(|(at, part)| {
        if signature::is_control(part) {
            return None;
        }
        // Pictures within the text are not attachments.
        let bytes = match &part.body {
            PartType::Text(text) | PartType::Html(text) => file_of(&message, part, text),
            PartType::Binary(bytes) => bytes.clone(),
            PartType::InlineBinary(_) | PartType::Message(_) | PartType::Multipart(_) => {
                return None;
            }
        };
        let wanted = match digested.contains_key(&part.offset_body) {
            true => format!("part {}.eml", at + 1),
            false => name_of(part, at + 1),
        };
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
    let (text, hidden) = text_of(&message, &digested, encoding)?;
    Ok(Mail { text, hidden, page: None, attachments })
}

/// Returns the parts that are mails because they are in a digest, and declare no type, by
/// the places of their bodies.
fn mails_of_digests<'a>(message: &'a Message<'a>) -> BTreeMap<u32, &'a MessagePart<'a>> {
    let is_digest = |part: &&MessagePart<'_>| {
        let subtype = part.content_type().and_then(|kind| kind.subtype());
        subtype.is_some_and(|subtype| subtype.as_bytes() == DIGEST)
    };
    let children = |part: &'a MessagePart<'a>| match &part.body {
        PartType::Multipart(children) => children.as_slice(),
        _ => &[],
    };
    let all = message.parts.iter().filter(is_digest).flat_map(children);
    let parts = all.filter_map(|&id| message.parts.get(id as usize));
    let mails = parts.filter(|part| part.content_type().is_none());
    mails.map(|part| (part.offset_body, part)).collect()
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

/// The maximum part of the letters of a page that a plain text has if it only asks the reader to
/// open the page.
const STUB_PART: usize = 10;

/// Returns the text of a mail, and the number of characters that a reader does not see.
fn text_of(
    message: &Message<'_>,
    digested: &BTreeMap<u32, &MessagePart<'_>>,
    encoding: Option<&str>,
) -> Result<(String, usize), String> {
    let parts = |all: &mut dyn Iterator<Item = &MessagePart<'_>>| {
        let (mut texts, mut hidden) = (Vec::new(), 0);
        let is_text = |part: &&MessagePart<'_>| {
            !signature::is_control(part) && !digested.contains_key(&part.offset_body)
        };
        for part in all.filter(is_text) {
            let (text, unseen) = text_of_part(message, part, encoding)?;
            hidden += unseen;
            if !text.trim().is_empty() {
                texts.push(text);
            }
        }
        Ok::<_, String>((texts, hidden))
    };
    let letters = |(texts, _): &(Vec<String>, usize)| {
        texts.iter().flat_map(|text| text.chars()).filter(|c| c.is_alphanumeric()).count()
    };
    let mut found = parts(&mut message.text_bodies())?;
    let bytes_of_page = |part: &MessagePart<'_>| match &part.body {
        PartType::Text(text) | PartType::Html(text) => text.len(),
        _ => 0,
    };
    let page_bytes: usize = message.html_bodies().map(bytes_of_page).sum();
    // Most pages need not be read, because they have no more letters than bytes.
    if letters(&found) < page_bytes / STUB_PART || found.0.is_empty() {
        let page = parts(&mut message.html_bodies())?;
        if letters(&found) < letters(&page) / STUB_PART {
            found = page;
        }
    }
    let (texts, hidden) = found;
    let mut pieces = vec![subject_of(message, encoding)];
    pieces.extend(texts);
    pieces.retain(|piece| !piece.is_empty());
    Ok((pieces.join("\n\n"), hidden))
}

/// Returns the text of a part, and the number of characters that a reader does not see.
fn text_of_part(
    message: &Message<'_>,
    part: &MessagePart<'_>,
    encoding: Option<&str>,
) -> Result<(String, usize), String> {
    let (text, is_page) = match &part.body {
        PartType::Text(text) => (text, false),
        PartType::Html(page) => (page, true),
        _ => return Ok((String::new(), 0)),
    };
    let label = match named_charset(part) {
        Some(Charset::OfParser) => None,
        Some(Charset::Known(name)) => Some(EncodingLabel::Declared(name)),
        None => Some(EncodingLabel::of(encoding, None)),
    };
    let raw = label.and_then(|label| Some((bytes_of(message, part)?, label)));
    if is_page {
        let (text, _, hidden) = match raw {
            Some((bytes, label)) => html::text_of(&bytes, label, Html::All)?,
            None => html::text_of_page(text, Html::All),
        };
        return Ok((text, hidden));
    }
    let text = match &raw {
        Some((bytes, label)) => charset::decode_undoubted(bytes, *label)?,
        None => (&**text).into(),
    };
    let text = joined_flow(part, text.replace("\r\n", "\n"));
    Ok((signature::without_armor(text), 0))
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
    /// An encoding such as UTF-7 that only the parser supports and has already decoded.
    OfParser,
}

/// Returns the declared encoding of a part, or `None` for unknown names such as `unknown-8bit`.
fn named_charset<'a>(part: &'a MessagePart<'_>) -> Option<Charset<'a>> {
    let name = part.content_type()?.attribute("charset")?;
    // If such a part contains letters beyond ASCII, the declaration is wrong.
    if ["us-ascii", "ascii"].iter().any(|ascii| name.eq_ignore_ascii_case(ascii)) {
        return None;
    }
    match charset::is_known(name) {
        true => Some(Charset::Known(name)),
        false => charset_decoder(name.as_bytes()).map(|_| Charset::OfParser),
    }
}

/// Undoes the transfer encoding of a part. Returns `None` if the encoding is damaged.
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
