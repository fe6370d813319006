//! Replaces escapes of JSON and HTML in a text, and remembers where the characters came from.
//!
//! Collections of programs and pages have copies of benchmarks in stored form: a question inside a
//! string of JSON, or between the tags of a page. A reader sees through `\n`, `\u4e2d` and `&#39;`,
//! but the analyzer would take their letters for words.

/// Names of HTML character references, without `&amp;`.
const REFERENCES: [(&str, char); 14] = [
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", ' '),
    ("lsquo", '\u{2018}'),
    ("rsquo", '\u{2019}'),
    ("ldquo", '\u{201c}'),
    ("rdquo", '\u{201d}'),
    ("ndash", '\u{2013}'),
    ("mdash", '\u{2014}'),
    ("hellip", '\u{2026}'),
    ("shy", '\u{ad}'),
    ("middot", '\u{b7}'),
];

/// The longest reference to look at, in bytes.
const REFERENCE_BYTES_MAX: usize = 12;

/// A text with escapes replaced by their characters.
pub(super) struct UnescapedText {
    pub text: String,
    /// For each escape, the byte after its character, and the byte after the escape in the original
    /// text.
    after: Vec<(u32, u32)>,
}

impl UnescapedText {
    /// Replaces the escapes of a text, or returns `None` if there are no escapes. Nested escapes
    /// are replaced too, as in JSON inside a JSON string.
    pub fn of(text: &str) -> Option<UnescapedText> {
        let next = |from: usize| text[from..].find(['\\', '&']).map(|at| from + at);
        let mut unescaped = UnescapedText { text: String::new(), after: Vec::new() };
        let (mut copied, mut at) = (0, next(0)?);
        loop {
            let found = if text.as_bytes()[at] == b'&' {
                reference(&text[at..])
            } else {
                escape(&text[at..])
            };
            match found {
                Ok((character, len)) => {
                    unescaped.text.push_str(&text[copied..at]);
                    unescaped.text.push(character);
                    copied = at + len;
                    unescaped.after.push((unescaped.text.len() as u32, copied as u32));
                    at = copied;
                }
                Err(len) => at += len,
            }
            match next(at) {
                Some(found) => at = found,
                None => break,
            }
        }
        unescaped.text.push_str(&text[copied..]);
        (!unescaped.after.is_empty()).then_some(unescaped)
    }

    /// Returns the bytes of the original text that became these bytes.
    pub fn original(&self, start: u32, end: u32) -> (u32, u32) {
        let place = |byte: u32| {
            let before = self.after.partition_point(|(own, _)| *own <= byte);
            let (own, original) = before.checked_sub(1).map_or((0, 0), |last| self.after[last]);
            original + (byte - own)
        };
        (place(start), place(end))
    }
}

/// Returns the character of the JSON escape at the beginning of a text and the length of the
/// escape, or else the number of backslashes.
fn escape(text: &str) -> Result<(char, usize), usize> {
    let slashes = text.bytes().take_while(|byte| *byte == b'\\').count();
    let rest = &text[slashes..];
    let character = match rest.bytes().next() {
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'"') => '"',
        Some(b'/') => '/',
        Some(b'u') => return unicode(rest, slashes).ok_or(slashes),
        _ => return Err(slashes),
    };
    Ok((character, slashes + 1))
}

/// Returns the character of `u` and four hexadecimal digits at the beginning of a text. A surrogate
/// pair needs a second half after the same number of backslashes.
fn unicode(text: &str, slashes: usize) -> Option<(char, usize)> {
    let unit = |text: &str| {
        let digits = text.strip_prefix('u')?.get(..4)?;
        digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then_some(())?;
        u16::from_str_radix(digits, 16).ok()
    };
    let first = unit(text)?;
    if let Some(character) = char::from_u32(first.into()) {
        return Some((character, slashes + 5));
    }
    let rest = text.get(5..)?;
    let is_same = rest.bytes().take_while(|byte| *byte == b'\\').count() == slashes;
    let second = unit(rest.get(slashes..).filter(|_| is_same)?)?;
    let mut decoded = char::decode_utf16([first, second]);
    Some((decoded.next()?.ok()?, 2 * (slashes + 5)))
}

/// Returns the character of the HTML reference at the beginning of a text and the length of the
/// reference, or else 1.
fn reference(text: &str) -> Result<(char, usize), usize> {
    let mut from = 1;
    while text[from..].starts_with("amp;") {
        from += 4;
    }
    let named = || {
        let window = &text.as_bytes()[from..text.len().min(from + REFERENCE_BYTES_MAX)];
        let end = from + window.iter().position(|byte| *byte == b';')?;
        let name = text.get(from..end)?;
        let number = |digits: &str, radix| u32::from_str_radix(digits, radix).ok();
        let character = match name.strip_prefix('#') {
            Some(digits) => char::from_u32(match digits.strip_prefix(['x', 'X']) {
                Some(digits) => number(digits, 16)?,
                None => number(digits, 10)?,
            })?,
            None => REFERENCES.iter().find(|(other, _)| *other == name)?.1,
        };
        Some((character, end + 1))
    };
    // Without a name, `&amp;` is an ampersand.
    named().or((from > 1).then_some(('&', from))).ok_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, expected: &str) {
        let unescaped = UnescapedText::of(text);
        assert_eq!(unescaped.map(|found| found.text).as_deref().unwrap_or(text), expected);
    }

    #[test]
    fn escapes_are_replaced_and_all_else_stays() {
        check(
            r#"{"q":"a\n\tb\\n\"c\" \/ \u00e9\\u4E2D\ud83e\udd89"}"#,
            "{\"q\":\"a\n\tb\n\"c\" / \u{e9}\u{4e2d}\u{1f989}\"}",
        );
        check("a &lt;b&gt; &#39;c&#x27; &amp;quot;d&amp; R&D &nbsp;e", "a <b> 'c' \"d& R&D  e");
        for same in [
            r"C:\docs\x",
            r"\u12g4",
            r"\ud800 \ud800\x41",
            r"\",
            "&",
            "&;",
            "&#;",
            "&#xd800;",
            "&\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9};",
            "&other;",
        ] {
            assert!(UnescapedText::of(same).is_none(), "{same}");
        }
    }

    proptest! {
        #[test]
        fn places_are_those_of_the_characters(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    ("a", "a"), ("\u{e9}\u{1f989}", "\u{e9}\u{1f989}"), (r"\n", "\n"), ("&", "&"),
                    (r"\u4e2d", "\u{4e2d}"), ("&#39;", "'"), ("&amp;", "&"),
                    (r"\ud83e\udd89", "\u{1f989}"), (" ", " "), (r"\ ", r"\ "),
                ]),
                0..12,
            ),
        ) {
            // Blanks keep two parts from forming an escape.
            let join = |of: fn(&(&str, &str)) -> String| {
                parts.iter().map(of).collect::<Vec<_>>().join(" ")
            };
            let (text, expected) = (join(|part| part.0.into()), join(|part| part.1.into()));
            match UnescapedText::of(&text) {
                None => prop_assert_eq!(&text, &expected),
                Some(found) => {
                    prop_assert_eq!(&found.text, &expected);
                    let (mut at, mut own) = (0, 0);
                    for (original, plain) in &parts {
                        let range = (own as u32, (own + plain.len()) as u32);
                        let bytes = (at as u32, (at + original.len()) as u32);
                        prop_assert_eq!(found.original(range.0, range.1), bytes);
                        (at, own) = (at + original.len() + 1, own + plain.len() + 1);
                    }
                }
            }
        }

        #[test]
        fn no_text_makes_it_panic_or_grow(text in r#"([\\&;#xun0-9a-f"\u{e9}]|amp;|ud83e){0,40}"#) {
            if let Some(found) = UnescapedText::of(&text) {
                prop_assert!(found.text.len() < text.len());
            }
        }
    }
}
