//! Finds the encodings declared in files, and compares the declarations with the bytes.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::{
    DETECTED_BYTES_MAX, SAMPLE_BYTES, decode, detect_utf16, standard, utf8_characters, wide,
};

/// A declaration is contradicted if more than 1/16 of the non-ASCII characters cannot be decoded. A
/// few errors are tolerated, because a file may be cut or damaged.
const ERROR_SHARE: usize = 16;

/// Returns whether bytes contradict the declared encoding: a byte order mark or zero bytes show a
/// different encoding, the bytes are UTF-8 with letters beyond ASCII, or many cannot be decoded.
#[must_use]
pub fn contradicts(bytes: &[u8], declared: &str) -> bool {
    let encoding = standard(declared);
    // UTF-8 and marks are detected anyway, so such a declaration adds nothing.
    let is_other = encoding == Some(UTF_8) || Encoding::for_bom(bytes).is_some();
    if is_other || wide::marked(bytes).is_some() || wide::detect(bytes).is_some() {
        return true;
    }
    let is_utf16 = encoding.is_some_and(|found| found == UTF_16LE || found == UTF_16BE);
    if let Some(found) = detect_utf16(bytes) {
        return encoding != Some(found);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => is_utf16 || !text.is_ascii(),
        Err(_) if is_utf16 => is_single_bytes(bytes),
        Err(_) => {
            let sample = &bytes[..bytes.len().min(DETECTED_BYTES_MAX)];
            let (valid, invalid) = utf8_characters(sample);
            valid / ERROR_SHARE >= invalid || is_garbled(sample, declared)
        }
    }
}

/// Returns whether bytes are mostly ASCII letters. UTF-16 has a zero byte beside each ASCII letter,
/// and in Chinese UTF-16, only a third of the bytes look like ASCII letters.
fn is_single_bytes(bytes: &[u8]) -> bool {
    let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
    let letters = sample.iter().filter(|byte| byte.is_ascii_alphabetic() || **byte == b' ').count();
    !sample.contains(&0) && letters * 3 > sample.len() * 2
}

/// Returns whether many characters of a text are invalid in an encoding.
fn is_garbled(sample: &[u8], declared: &str) -> bool {
    let decoded = decode(sample, Some(declared));
    if !decoded.lossy {
        return false;
    }
    let is_error = |c: &char| *c == char::REPLACEMENT_CHARACTER;
    let errors = decoded.text.chars().filter(is_error).count();
    let letters = decoded.text.chars().filter(|c| !c.is_ascii()).count();
    // The end of the sample may cut a character.
    errors > 1 && errors * ERROR_SHARE > letters
}

/// The number of bytes at the start of a text that are searched for a declared encoding.
const DECLARATION_BYTES: usize = 64 << 10;

/// Returns the encoding that bytes in an unknown encoding declare: in the first two lines, as for
/// Python and Emacs, or by commands of LaTeX and comments of TeX editors.
pub fn within(bytes: &[u8]) -> Option<&str> {
    let start = &bytes[..bytes.len().min(DECLARATION_BYTES)];
    let cookie = || start.split(|&byte| byte == b'\n').take(2).find_map(cookie);
    let label = cookie().or_else(|| of_tex(start))?;
    (!contradicts(bytes, label)).then_some(label)
}

/// Returns the label after `coding:` or `coding=` in a line (PEP 263).
fn cookie(line: &[u8]) -> Option<&str> {
    let mut places = memchr::memmem::find_iter(line, b"coding");
    places.find_map(|at| match &line[at + b"coding".len()..] {
        [b':' | b'=', rest @ ..] => known(rest.trim_ascii_start()),
        _ => None,
    })
}

/// Returns the label that a TeX file declares.
fn of_tex(start: &[u8]) -> Option<&str> {
    start.split(|&byte| byte == b'\n').find_map(|line| {
        let line = line.trim_ascii();
        if let Some(comment) = line.strip_prefix(b"%") {
            let comment = comment.trim_ascii_start();
            let is_magic = comment.get(..4).is_some_and(|it| it.eq_ignore_ascii_case(b"!tex"));
            let at = memchr::memmem::find(comment, b"encoding").filter(|_| is_magic)?;
            let label = comment[at + b"encoding".len()..].trim_ascii_start();
            return known(label.strip_prefix(b"=")?.trim_ascii_start());
        }
        let after = |command: &[u8]| {
            let at = memchr::memmem::find(line, command)?;
            known(&line[at + command.len()..])
        };
        let of_package = || {
            let at = memchr::memmem::find(line, b"]{inputenc}")?;
            // The last option is the encoding at the beginning of the document.
            let from = line[..at].iter().rposition(|&byte| byte == b'[' || byte == b',')?;
            known(line[from + 1..at].trim_ascii_start())
        };
        of_package()
            .or_else(|| after(b"\\inputencoding{"))
            .or_else(|| after(b"\\enableregime[").or_else(|| after(b"\\XeTeXinputencoding \"")))
    })
}

/// Returns the leading label, if it is known.
fn known(bytes: &[u8]) -> Option<&str> {
    let is_label = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_:.".contains(byte);
    let len = bytes.iter().position(|byte| !is_label(byte)).unwrap_or(bytes.len());
    let label = std::str::from_utf8(&bytes[..len]).ok()?;
    super::is_known(label).then_some(label)
}

/// Returns the WHATWG name of an encoding from its name in TeX or Emacs. Emacs appends the kind of
/// line ends.
pub fn usual(label: &str) -> Cow<'_, str> {
    let label = label.trim();
    let ends = ["-unix", "-dos", "-mac"];
    let label = ends.iter().find_map(|end| label.strip_suffix(end)).unwrap_or(label);
    let lower = label.to_ascii_lowercase();
    Cow::Borrowed(match lower.as_str() {
        "ansinew" => "windows-1252",
        "applemac" | "macosroman" | "mac-roman" | "macroman" => "macintosh",
        "maccyr" => "x-mac-cyrillic",
        "latin9" | "latin-9" | "iso-latin-9" | "isolatin9" => "iso-8859-15",
        "latin10" | "latin-10" => "iso-8859-16",
        "utf8x" | "mule-utf-8" | "utf-8-emacs" => "utf-8",
        _ => {
            let number = ["latin-", "iso-latin-", "isolatin"];
            let number = number.iter().find_map(|start| lower.strip_prefix(start));
            return match number {
                Some(number) => Cow::Owned(format!("latin{number}")),
                None => Cow::Borrowed(label),
            };
        }
    })
}

#[cfg(test)]
mod tests {
    use encoding_rs::{KOI8_R, SHIFT_JIS, WINDOWS_1251, WINDOWS_1252};

    use super::super::{EncodingLabel, decode_undoubted};
    use super::*;

    const GERMAN: &str = "Die Gr\u{f6}\u{df}e der St\u{e4}dte f\u{fc}hrt weiter. ";
    const RUSSIAN: &str = "\u{412}\u{441}\u{435} \u{441}\u{447}\u{430}\u{441}\u{442}\u{43b}\
        \u{438}\u{432}\u{44b}\u{435} \u{441}\u{435}\u{43c}\u{44c}\u{438} \
        \u{43f}\u{43e}\u{445}\u{43e}\u{436}\u{438}. ";
    const JAPANESE: &str = "\u{543e}\u{8f29}\u{306f}\u{732b}\u{3067}\u{3042}\u{308b}\u{3002}\
        \u{540d}\u{524d}\u{306f}\u{307e}\u{3060}\u{7121}\u{3044}\u{3002}";

    #[track_caller]
    fn check(bytes: &[u8], declared: &str, text: &str) {
        let read = decode_undoubted(bytes, EncodingLabel::Declared(declared)).unwrap();
        assert_eq!(read, text, "{declared}");
    }

    #[test]
    fn utf8_is_read_as_such_whatever_is_declared() {
        let labels = [
            "iso-8859-1",
            "windows-1251",
            "koi8-r",
            "shift_jis",
            "gb2312",
            "big5",
            "euc-kr",
            "utf-16",
            "utf-32",
            "cp850",
            "macintosh",
            "us-ascii",
            "no such label",
        ];
        for text in [GERMAN, RUSSIAN, JAPANESE] {
            labels.iter().for_each(|label| check(text.as_bytes(), label, text));
            // A stray byte in a long text is no reason to believe a wrong declaration.
            let text = text.repeat(9);
            let bytes = [text.as_bytes(), b"\xe2"].concat();
            check(&bytes, "iso-8859-1", &format!("{text}\u{fffd}"));
        }
    }

    #[test]
    fn other_bytes_are_detected_if_they_are_declared_as_utf8() {
        for (encoding, text) in [
            (WINDOWS_1252, GERMAN),
            (WINDOWS_1251, RUSSIAN),
            (KOI8_R, RUSSIAN),
            (SHIFT_JIS, JAPANESE),
        ] {
            let text = text.repeat(5);
            let bytes = encoding.encode(&text).0;
            check(&bytes, "utf-8", &text);
            check(&bytes, encoding.name(), &text);
            // The user's choice decides even against the bytes.
            let named = decode_undoubted(&bytes, EncodingLabel::Named("utf-8")).unwrap();
            assert!(named.contains('\u{fffd}'));
        }
        // If the declaration fails, the encoding is detected.
        let text = GERMAN.repeat(5);
        check(&WINDOWS_1252.encode(&text).0, "utf-16", &text);
        check(&WINDOWS_1252.encode(&text).0, "euc-jp", &text);
        let wide: Vec<u8> = GERMAN.encode_utf16().flat_map(u16::to_be_bytes).collect();
        check(&wide, "utf-16", GERMAN);
        check(&wide, "iso-8859-1", GERMAN);
    }

    #[test]
    fn a_text_declares_its_encoding_as_python_emacs_and_tex_do() {
        let dos = b"Die Gr\x94\xe1e der St\x84dte f\x81hrt weiter. ";
        for line in [
            "# -*- coding: cp850 -*-",
            "#!/usr/bin/python\n# vim: set fileencoding=cp850 :",
            ";; -*- mode: x; coding: cp850-dos -*-",
            "\\usepackage[cp850]{inputenc}",
            "% \\usepackage[latin1]{inputenc}\n\\usepackage[latin1, cp850]{inputenc}",
            "\\inputencoding{cp850}",
            "%!TEX root = a\n% !TeX encoding = IBM850",
        ] {
            let bytes = [line.as_bytes(), b"\n", dos].concat();
            let read = decode_undoubted(&bytes, EncodingLabel::Missing).unwrap();
            assert_eq!(read, format!("{line}\n{GERMAN}"));
        }
        let mac =
            b"\\usepackage[applemac]{inputenc}\nDie Gr\x9a\xa7e der St\x8adte f\x9fhrt weiter. ";
        let read = decode_undoubted(mac, EncodingLabel::Missing).unwrap();
        assert!(read.ends_with(GERMAN), "{read}");
        // The bytes are valid UTF-8, so the declaration is ignored.
        let cookie = format!("# coding: latin-1\n{GERMAN}");
        assert_eq!(decode_undoubted(cookie.as_bytes(), EncodingLabel::Missing).unwrap(), cookie);
    }

    #[test]
    fn names_of_tex_and_emacs_are_those_of_the_standard() {
        for (name, encoding) in [
            ("latin1", "windows-1252"),
            ("latin-1", "windows-1252"),
            ("iso-latin-2-unix", "ISO-8859-2"),
            ("latin9", "ISO-8859-15"),
            ("ansinew", "windows-1252"),
            ("applemac", "macintosh"),
            ("utf8x", "UTF-8"),
            ("koi8-r", "KOI8-R"),
            ("cp1251", "windows-1251"),
        ] {
            assert_eq!(standard(name).map(Encoding::name), Some(encoding), "{name}");
        }
    }
}
