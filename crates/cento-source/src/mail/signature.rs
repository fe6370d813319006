//! Signatures, keys, cards and calendars in mails. They are no text of the mail.

use mail_parser::{MessagePart, MimeHeaders};

/// Types of parts that are written or read by programs, not by people.
const TYPES: [(&str, &str); 11] = [
    ("application", "ics"),
    ("application", "pgp-encrypted"),
    ("application", "pgp-keys"),
    ("application", "pgp-signature"),
    ("application", "pkcs7-signature"),
    ("application", "x-pkcs7-signature"),
    ("text", "calendar"),
    ("text", "directory"),
    ("text", "vcard"),
    ("text", "x-vcalendar"),
    ("text", "x-vcard"),
];

/// The endings of the names of such parts, whatever their type is.
const ENDINGS: [&str; 4] = [".ics", ".p7s", ".sig", ".vcf"];

/// Returns whether a part is a signature, a key, a card or a calendar.
pub fn is_control(part: &MessagePart<'_>) -> bool {
    let kind = part.content_type().map(|kind| (kind.ctype(), kind.subtype().unwrap_or_default()));
    let is_type = kind.is_some_and(|(kind, subtype)| {
        let is = |of: &(&str, &str)| {
            kind.eq_ignore_ascii_case(of.0) && subtype.eq_ignore_ascii_case(of.1)
        };
        TYPES.iter().any(is)
    });
    let name = part.attachment_name().unwrap_or_default();
    // The text of an encrypted mail may have the same names as a signature.
    let is_armor = || ARMOR.iter().any(|(begin, _)| part.contents().starts_with(begin.as_bytes()));
    is_type || crate::format::has_ending(name, &ENDINGS) || is_armor()
}

/// The line before a signed text. Headers of the signature follow, and an empty line.
const SIGNED: &str = "-----BEGIN PGP SIGNED MESSAGE-----";

/// The beginnings of lines before and after a signature or a key in the text.
const ARMOR: [(&str, &str); 2] = [
    ("-----BEGIN PGP SIGNATURE-----", "-----END PGP SIGNATURE-----"),
    ("-----BEGIN PGP PUBLIC KEY BLOCK-----", "-----END PGP PUBLIC KEY BLOCK-----"),
];

/// Returns a text without the signature of PGP around it, and without keys.
pub fn without_armor(text: String) -> String {
    if !text.contains("-----BEGIN PGP ") {
        return text;
    }
    let mut kept = String::new();
    let (mut is_signed, mut is_head) = (false, false);
    let mut end = None;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_end();
        if let Some(wanted) = end {
            end = (trimmed != wanted).then_some(wanted);
        } else if is_head {
            is_head = !trimmed.is_empty();
        } else if trimmed == SIGNED {
            (is_signed, is_head) = (true, true);
        } else if let Some((_, wanted)) = ARMOR.iter().find(|(begin, _)| *begin == trimmed) {
            end = Some(*wanted);
        } else {
            // Signing puts a hyphen and a space before lines that begin with a hyphen.
            let line = line.strip_prefix("- ").filter(|_| is_signed).unwrap_or(line);
            kept.push_str(line);
        }
    }
    // Without an end, the text may be about such a signature.
    if end.is_some() || is_head { text } else { kept }
}
