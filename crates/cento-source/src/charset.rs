//! Finds the encoding of bytes, and decodes them.
//!
//! No encoding can be known for certain, so evidence is weighed in order of strength: a byte
//! order mark, the user's choice, the zero bytes of UTF-16 and UTF-32, validity as UTF-8, the
//! file's own declaration, and finally the statistics of chardetng. Every sequence of bytes yields
//! a text, because undecodable bytes become U+FFFD, which [`DecodedText::lossy`] reports.
//!
//! Readers of formats that declare encodings (HTML, XML, mail) pass an [`EncodingLabel::Declared`].
//! This module finds the declarations of plain text and TeX. A declaration is ignored if [the bytes
//! contradict it](contradicts), because programs that convert a file seldom change the declaration.

mod declared;
mod decoding_reader;
mod dos;
mod wide;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE};
use std::borrow::Cow;

pub use declared::contradicts;
pub(crate) use decoding_reader::DecodingReader;
pub(crate) use dos::DosPage;
pub(crate) use wide::Width;

/// A decoded text, with the encoding that was used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodedText<'a> {
    /// The text, without a byte order mark. Borrowed if the bytes were UTF-8.
    pub text: Cow<'a, str>,
    /// The name in the WHATWG Encoding Standard, or the number of a code page of DOS.
    pub charset: &'static str,
    /// Whether undecodable bytes were replaced by U+FFFD.
    pub lossy: bool,
}

/// The label of an encoding, by its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EncodingLabel<'a> {
    /// Neither the user nor the file names an encoding.
    Missing,
    /// Chosen by the user. Always decides.
    Named(&'a str),
    /// Declared by the file or its sender. Decides unless the bytes contradict the declaration.
    Declared(&'a str),
}

impl<'a> EncodingLabel<'a> {
    /// Returns the user's label, or else the declared label.
    pub fn of(named: Option<&'a str>, declared: Option<&'a str>) -> EncodingLabel<'a> {
        match (named, declared) {
            (Some(named), _) => EncodingLabel::Named(named),
            (None, Some(declared)) => EncodingLabel::Declared(declared),
            (None, None) => EncodingLabel::Missing,
        }
    }

    /// Returns the label if it decides how to decode `bytes`.
    pub fn believed(self, bytes: &[u8]) -> Option<&'a str> {
        match self {
            EncodingLabel::Missing => None,
            EncodingLabel::Named(label) => Some(label),
            EncodingLabel::Declared(label) => (!contradicts(bytes, label)).then_some(label),
        }
    }
}

/// The size of the sample that represents a file, in bytes.
const SAMPLE_BYTES: usize = 8 << 10;

/// The number of bytes that the detector reads, from the first evidence on. Bounded because the
/// detector reads only about 10 MB/s, and a few pages of text suffice.
const DETECTED_BYTES_MAX: usize = 64 << 10;

/// Returns whether there is an encoding of this name, in the WHATWG Encoding Standard or among the
/// code pages of DOS.
///
/// ```
/// use cento_source::charset::is_known;
///
/// assert!(is_known("latin1") && is_known("cp437"));
/// assert!(!is_known("enigma"));
/// ```
#[must_use]
pub fn is_known(label: &str) -> bool {
    standard(label).is_some() || dos_page(label).is_some() || Width::named(label).is_some()
}

/// Returns the code page of DOS with this name.
fn dos_page(label: &str) -> Option<DosPage> {
    DosPage::named(&declared::usual(label))
}

/// Returns the encoding of the WHATWG Encoding Standard with this name, or with its name in TeX or
/// Emacs.
fn standard(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label_no_replacement(declared::usual(label).as_bytes())
}

/// Reads `bytes` as text, in the encoding that the user `named` if it is a known label.
///
/// A byte order mark overrules the name, as in browsers. An unknown label is ignored.
///
/// ```
/// use cento_source::charset::decode;
///
/// // German in windows-1252: the bytes are no UTF-8, and the letters tell the encoding.
/// let decoded = decode(b"K\xf6nig und B\xfcrger gehen \xfcber die Br\xfccke", None);
/// assert!(decoded.text.starts_with("K\u{f6}nig") && !decoded.lossy);
/// assert_eq!(decode(b"K\x94nig", Some("cp437")).text, "K\u{f6}nig");
/// ```
#[must_use]
pub fn decode<'a>(bytes: &'a [u8], named: Option<&str>) -> DecodedText<'a> {
    let marked = wide::marked(bytes);
    let of_mark = marked.map(|(width, mark_length)| (width, &bytes[mark_length..]));
    let by_name = || named.and_then(Width::named).map(|width| (width, bytes));
    let by_zeros = || wide::detect(bytes).filter(|_| named.is_none()).map(|width| (width, bytes));
    if let Some((width, bytes)) = of_mark.or_else(by_name).or_else(by_zeros) {
        let (text, lossy) = width.decode(bytes);
        return DecodedText { text: text.into(), charset: width.name(), lossy };
    }
    if let Some((encoding, mark_length)) = Encoding::for_bom(bytes) {
        return decode_as(encoding, &bytes[mark_length..]);
    }
    if let Some(encoding) = named.and_then(standard) {
        return decode_as(encoding, bytes);
    }
    if let Some(page) = named.and_then(dos_page) {
        return DecodedText { text: page.decode(bytes).into(), charset: page.number, lossy: false };
    }
    if let Some(encoding) = detect_utf16(bytes) {
        return decode_as(encoding, bytes);
    }
    match std::str::from_utf8(bytes) {
        // ISO-2022-JP consists of ASCII bytes, and is therefore valid UTF-8.
        Ok(text) if text.contains('\u{1b}') && text.is_ascii() => {
            let decoded = decode_as(detect(bytes), bytes);
            if decoded.charset == ISO_2022_JP.name() && !decoded.lossy {
                decoded
            } else {
                decode_as(UTF_8, bytes)
            }
        }
        Ok(text) => DecodedText { text: Cow::Borrowed(text), charset: UTF_8.name(), lossy: false },
        Err(_) if is_damaged_utf8(bytes) => decode_as(UTF_8, bytes),
        Err(_) => match declared::within(bytes) {
            Some(label) => decode(bytes, Some(label)),
            None => decode_as(detect(bytes), bytes),
        },
    }
}

/// Returns `bytes` as text, as [`decode`] does.
///
/// # Errors
/// When neither the user nor the file says which encoding it is, and it is in [doubt], with the
/// reason as a clause.
pub(crate) fn decode_undoubted<'a>(
    bytes: &'a [u8],
    label: EncodingLabel<'_>,
) -> Result<Cow<'a, str>, String> {
    let believed = label.believed(bytes);
    let decoded = decode(bytes, believed);
    let is_told = || believed.or_else(|| declared::within(bytes)).is_some_and(is_known);
    match doubt(&decoded, 1).filter(|_| !is_told()) {
        Some(why) => Err(why),
        None => Ok(decoded.text),
    }
}

/// Returns the text of a record: UTF-8, or else bytes decoded in the detected encoding.
#[must_use]
pub fn record_text(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| decode(bytes, None).text, Cow::Borrowed)
}

/// Returns whether the first 8 KiB contain a NUL outside of UTF-16. git and ripgrep use the same
/// test.
#[must_use]
pub fn looks_binary(bytes: &[u8]) -> bool {
    let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
    if wide::marked(sample).is_some() || wide::detect(sample).is_some() {
        return false;
    }
    match Encoding::for_bom(sample) {
        Some((encoding, mark_length)) if encoding != UTF_8 => {
            units(&sample[mark_length..], encoding).any(|unit| unit == 0)
        }
        _ => sample.contains(&0) && detect_utf16(sample).is_none(),
    }
}

/// Returns whether bytes without a declared encoding are taken for UTF-16 or UTF-32.
#[must_use]
pub fn is_utf16(bytes: &[u8]) -> bool {
    if wide::marked(bytes).is_some() || wide::detect(bytes).is_some() {
        return true;
    }
    let by_mark = Encoding::for_bom(bytes).map(|(encoding, _)| encoding);
    by_mark.or_else(|| detect_utf16(bytes)).is_some_and(|encoding| encoding != UTF_8)
}

/// Returns why the detected encoding of a text is doubtful, as a clause, if the text has at least
/// `controls_min` control characters. Code pages of DOS, which the detector does not know, decode
/// to control characters in other encodings.
pub(crate) fn doubt(decoded: &DecodedText<'_>, controls_min: usize) -> Option<String> {
    let is_control = |c: char| ('\u{80}'..='\u{9f}').contains(&c) && c != '\u{85}';
    // Valid UTF-8 has control characters only if the writer meant them.
    if decoded.charset == UTF_8.name() {
        return None;
    }
    let (mut controls, mut others, mut ascii) = (0usize, 0usize, 0usize);
    for c in decoded.text.chars() {
        let count = match c {
            c if c.is_ascii() => &mut ascii,
            c if is_control(c) => &mut controls,
            _ => &mut others,
        };
        *count += 1;
    }
    let is_doubtful = controls >= controls_min
        && controls * DOUBTFUL_SHARE > others
        && controls * STRAY_SHARE > ascii;
    is_doubtful.then(|| {
        format!(
            "its encoding is unknown: as {} it has control characters for letters; name the \
             encoding with --encoding, such as cp850 or cp437 for a text of DOS, or macintosh",
            decoded.charset
        )
    })
}

/// The encoding is doubtful if more than 1/20 of the non-ASCII characters are controls.
const DOUBTFUL_SHARE: usize = 20;

/// The text is doubtful only with more than one control in 1,000 ASCII characters. Fewer controls
/// are stray bytes.
const STRAY_SHARE: usize = 1000;

fn decode_as<'a>(encoding: &'static Encoding, bytes: &'a [u8]) -> DecodedText<'a> {
    let (text, lossy) = encoding.decode_without_bom_handling(bytes);
    DecodedText { text, charset: encoding.name(), lossy }
}

/// Returns the most probable encoding of bytes that are not UTF-8.
pub(crate) fn detect(bytes: &[u8]) -> &'static Encoding {
    // ASCII bytes except ESC are no evidence. Two bytes of context come before the first evidence.
    let tells = |&byte: &u8| byte >= 0x80 || byte == 0x1b;
    let start = bytes.iter().position(tells).unwrap_or(0).saturating_sub(2);
    let end = bytes.len().min(start + DETECTED_BYTES_MAX);
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(&bytes[start..end], end == bytes.len());
    detector.guess(None, Utf8Detection::Deny)
}

/// Returns whether bytes are damaged UTF-8: a file cut within a character, or a quotation in a
/// different encoding. Other encodings are hardly ever valid UTF-8 above ASCII. In the worst case,
/// EUC, one valid character occurs by chance for every six errors.
fn is_damaged_utf8(bytes: &[u8]) -> bool {
    let (valid, invalid) = utf8_characters(bytes);
    valid / 4 >= invalid
}

/// Returns the number of valid non-ASCII characters of UTF-8, and the number of errors.
fn utf8_characters(bytes: &[u8]) -> (usize, usize) {
    let (mut valid, mut invalid) = (0usize, 0usize);
    for chunk in bytes.utf8_chunks() {
        valid += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        invalid += usize::from(!chunk.invalid().is_empty());
    }
    (valid, invalid)
}

/// Returns the UTF-16 encoding of bytes that evidently are UTF-16, although they lack a mark: a
/// text in an alphabet, where nearly every second byte is small, many are zero, and no character is
/// a control.
fn detect_utf16(bytes: &[u8]) -> Option<&'static Encoding> {
    let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
    if sample.len() < 4 || !bytes.len().is_multiple_of(2) {
        return None;
    }
    let zeros = |from: usize| sample[from..].iter().step_by(2).filter(|&&byte| byte == 0).count();
    let (encoding, high, zeros, others) = match (zeros(0), zeros(1)) {
        (even, odd) if odd > even => (UTF_16LE, 1, odd, even),
        (even, odd) => (UTF_16BE, 0, even, odd),
    };
    let pairs = sample.len() / 2;
    // Alphabets are below U+1000, so their high bytes are below 0x10, which ASCII text hardly has.
    // A list of names separated by NULs has no such byte. Some punctuation is above U+1000.
    let small = sample[high..].iter().step_by(2).filter(|&&byte| byte < 0x10).count();
    // In a Russian or Greek text, only spaces and line ends have zeros, one character in ten.
    let evident = small * 10 >= pairs * 9 && zeros * 12 >= pairs && zeros >= others * 4;
    (evident && is_text(sample, encoding)).then_some(encoding)
}

/// Returns whether the UTF-16 units of the beginning of a text pair up and are not controls.
fn is_text(sample: &[u8], encoding: &'static Encoding) -> bool {
    let is_text = |c: char| !c.is_control() || matches!(c, '\t' | '\n' | '\u{c}' | '\r' | '\u{85}');
    let mut units = char::decode_utf16(units(sample, encoding)).peekable();
    while let Some(unit) = units.next() {
        match unit {
            Ok(c) if is_text(c) && !matches!(c, '\u{fffe}' | '\u{ffff}') => (),
            // The sample may end between two surrogates.
            Err(error) if units.peek().is_none() && error.unpaired_surrogate() < 0xdc00 => (),
            _ => return false,
        }
    }
    true
}

fn units(bytes: &[u8], encoding: &'static Encoding) -> impl Iterator<Item = u16> {
    let little = encoding == UTF_16LE;
    bytes.chunks_exact(2).map(move |pair| {
        let (low, high) = if little { (0, 1) } else { (1, 0) };
        u16::from(pair[low]) | u16::from(pair[high]) << 8
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{EUC_KR, GBK, KOI8_U, SHIFT_JIS, WINDOWS_1251, WINDOWS_1252};
    use proptest::prelude::*;

    const ENGLISH: &str = "Call me Ishmael. Some years ago, never mind how long precisely.\n";
    const FRENCH: &str = "\u{c0} c\u{f4}t\u{e9} de l'\u{e9}glise, un \u{e9}l\u{e8}ve \u{e2}g\u{e9} d\u{e9}j\u{e0} re\u{e7}u. ";
    const RUSSIAN: &str = "\u{412}\u{441}\u{435} \u{441}\u{447}\u{430}\u{441}\u{442}\u{43b}\u{438}\u{432}\u{44b}\u{435} \u{441}\u{435}\u{43c}\u{44c}\u{438} \u{43f}\u{43e}\u{445}\u{43e}\u{436}\u{438} \u{434}\u{440}\u{443}\u{433} \u{43d}\u{430} \u{434}\u{440}\u{443}\u{433}\u{430}. ";
    const JAPANESE: &str = "\u{543e}\u{8f29}\u{306f}\u{732b}\u{3067}\u{3042}\u{308b}\u{3002}\u{540d}\u{524d}\u{306f}\u{307e}\u{3060}\u{7121}\u{3044}\u{3002}";
    const CHINESE: &str = "\u{9053}\u{53ef}\u{9053}\u{ff0c}\u{975e}\u{5e38}\u{9053}\u{3002}\u{540d}\u{53ef}\u{540d}\u{ff0c}\u{975e}\u{5e38}\u{540d}\u{3002}";
    const KOREAN: &str = "\u{b300}\u{d55c}\u{bbfc}\u{ad6d}\u{c758} \u{c8fc}\u{ad8c}\u{c740} \u{ad6d}\u{bbfc}\u{c5d0}\u{ac8c} \u{c788}\u{ace0}, ";

    fn utf16(text: &str, little: bool) -> Vec<u8> {
        let bytes = |unit: u16| {
            if little { unit.to_le_bytes() } else { unit.swap_bytes().to_le_bytes() }
        };
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[track_caller]
    fn check(bytes: &[u8], declared: Option<&str>, charset: &str, text: &str) {
        let decoded = decode(bytes, declared);
        assert_eq!((decoded.charset, &*decoded.text), (charset, text));
        assert_eq!(decoded.lossy, text.contains('\u{fffd}'));
    }

    #[test]
    fn utf8_is_borrowed() {
        for text in ["", ENGLISH, FRENCH, CHINESE, "\u{1b}[31mred\u{1b}[0m"] {
            check(text.as_bytes(), None, "UTF-8", text);
        }
        let decoded = decode(FRENCH.as_bytes(), None);
        assert!(matches!(decoded.text, Cow::Borrowed(_)));
    }

    #[test]
    fn a_mark_overrules_a_declaration() {
        let text = format!("\u{feff}{RUSSIAN}");
        for declared in [None, Some("windows-1251")] {
            check(text.as_bytes(), declared, "UTF-8", RUSSIAN);
            check(&utf16(&text, true), declared, "UTF-16LE", RUSSIAN);
            check(&utf16(&text, false), declared, "UTF-16BE", RUSSIAN);
        }
    }

    #[test]
    fn a_declaration_overrules_detection() {
        check(b"\xe9", Some(" Latin1 "), "windows-1252", "\u{e9}");
        check(b"\xe9", Some("koi8-r"), "KOI8-R", "\u{418}");
        check(b"a\xffb", Some("utf-8"), "UTF-8", "a\u{fffd}b");
        check(b"abc", Some("no such thing"), "UTF-8", "abc");
        check(b"abc", Some("iso-2022-kr"), "UTF-8", "abc");
    }

    #[test]
    fn a_text_of_dos_is_read_by_name_and_refused_without() {
        let text = "Die Gr\u{f6}\u{df}e der St\u{e4}dte f\u{fc}hrt";
        let bytes = b"Die Gr\x94\xe1e der St\x84dte f\x81hrt";
        check(bytes, Some("cp850"), "850", text);
        check(bytes, Some("IBM437"), "437", text);
        let why = decode_undoubted(bytes, EncodingLabel::Missing).unwrap_err();
        assert!(why.contains("--encoding") && why.contains("cp850"), "{why}");
        assert_eq!(decode_undoubted(bytes, EncodingLabel::Named("cp852")).unwrap(), text);
        // A stray byte in a long text, and controls in UTF-8, are no reason for a doubt.
        let stray = FRENCH.chars().map(|c| c as u32 as u8).collect::<Vec<_>>().repeat(9);
        let is_read = |bytes: &[u8]| decode_undoubted(bytes, EncodingLabel::Missing).is_ok();
        assert!(is_read(&[&stray[..], b"\x81"].concat()));
        assert!(is_read(&[&ENGLISH.repeat(99).into_bytes()[..], b"\x90"].concat()));
        assert!(is_read("a\u{81}\u{82}".as_bytes()));
    }

    #[test]
    fn utf16_without_a_mark_is_seen_by_its_zeros() {
        for text in ["hi", ENGLISH, FRENCH, RUSSIAN, &ENGLISH.repeat(500)] {
            check(&utf16(text, true), None, "UTF-16LE", text);
            check(&utf16(text, false), None, "UTF-16BE", text);
            assert!(!looks_binary(&utf16(text, true)), "{text}");
        }
        // A surrogate pair across the end of the sample.
        let text = format!("{}{}", "x".repeat(SAMPLE_BYTES / 2 - 1), "\u{1f44d}");
        check(&utf16(&text, true), None, "UTF-16LE", &text);
    }

    #[test]
    fn old_encodings_are_detected() {
        let encodings = [
            (WINDOWS_1252, FRENCH),
            (WINDOWS_1251, RUSSIAN),
            (KOI8_U, RUSSIAN),
            (SHIFT_JIS, JAPANESE),
            (GBK, CHINESE),
            (EUC_KR, KOREAN),
        ];
        for (encoding, text) in encodings {
            let text = ENGLISH.to_owned() + &text.repeat(5);
            let bytes = encoding.encode(&text).0;
            check(&bytes, None, encoding.name(), &text);
        }
        check(b"\x1b$B8cGZ$OG-$G$\"$k\x1b(B", None, "ISO-2022-JP", &JAPANESE[..21]);
    }

    #[test]
    fn damaged_utf8_is_still_utf8() {
        let mut bytes = RUSSIAN.as_bytes().to_vec();
        bytes.truncate(bytes.len() - 3);
        let decoded = decode(&bytes, None);
        assert_eq!((decoded.charset, decoded.lossy), ("UTF-8", true));
        assert!(decoded.text.starts_with(&RUSSIAN[..RUSSIAN.len() - 4]));
    }

    #[test]
    fn a_nul_makes_bytes_binary() {
        assert!(!looks_binary(b""));
        assert!(!looks_binary(ENGLISH.as_bytes()));
        assert!(!looks_binary(b"\xe9\x80\xff"));
        assert!(looks_binary(b"ab\0c"));
        assert!(looks_binary(b"file1\0file2\0"));
        assert!(looks_binary(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0"));
        assert!(looks_binary(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\0"));
        assert!(looks_binary(&[0; 5000]));
        assert!(looks_binary(b"\xff\xfea\0\0\0"));
        assert!(!looks_binary(&utf16(&format!("\u{feff}{RUSSIAN}"), false)));
        let numbers: Vec<u8> = (0..2000u16).flat_map(u16::to_le_bytes).collect();
        assert!(looks_binary(&numbers));
        // Only the first 8 KiB are examined.
        let late = [ENGLISH.repeat(200).as_bytes(), b"\0"].concat();
        assert!(!looks_binary(&late));
    }

    proptest! {
        #[test]
        fn any_bytes_are_some_text(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0), Just(0x1b), Just(b'$')], 0..300),
            declared in prop::sample::select(vec![None, Some("utf-16"), Some("gb18030"), Some("iso-2022-jp"), Some("")]),
        ) {
            let decoded = decode(&bytes, declared);
            let replaced = decoded.text.contains(char::REPLACEMENT_CHARACTER);
            prop_assert!(replaced || !decoded.lossy);
            prop_assert!(is_known(decoded.charset), "{}", decoded.charset);
            // Without NULs and marks, bytes are never binary.
            prop_assert!(bytes.contains(&0) || !looks_binary(&bytes));
        }

        #[test]
        fn text_in_utf8_is_read_back(text in any::<String>()) {
            prop_assume!(!text.contains(['\0', '\u{1b}', '\u{feff}']));
            prop_assert_eq!(&*decode(text.as_bytes(), None).text, &text);
        }
    }
}
