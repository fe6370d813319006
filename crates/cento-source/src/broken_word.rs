//! Words over two lines of a printed page.

/// Marks at the end of a line that mean nothing else: the soft hyphen, the not sign of
/// transcriptions, the double hyphen of early prints.
const MARKS: [char; 3] = ['\u{ad}', '\u{ac}', '\u{2e17}'];

/// Hyphens, which may also be part of the word.
const HYPHENS: [char; 2] = ['-', '\u{2010}'];

/// Returns a text that ends with a line, without the mark of the break, if the word at its end goes
/// on with the character `next` of the next line: after a mark always, after a hyphen if a letter is
/// before it and a small letter follows.
pub fn begun(text: &str, next: char) -> Option<&str> {
    if let Some(word) = text.strip_suffix(MARKS) {
        return next.is_alphabetic().then_some(word);
    }
    let word = text.strip_suffix(HYPHENS).filter(|_| next.is_lowercase())?;
    word.ends_with(char::is_alphabetic).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_goes_on_after_a_hyphen_and_a_small_letter() {
        for (text, next, expected) in [
            ("eld-", 'e', Some("eld")),
            ("eld\u{2010}", '\u{fc}', Some("eld")),
            ("eld\u{ac}", 'E', Some("eld")),
            ("eld\u{ad}", 'e', Some("eld")),
            ("eld\u{2e17}", 'e', Some("eld")),
            // Names, numbers, dashes, and no hyphen.
            ("Anglo-", 'S', None),
            ("1914-", 'b', None),
            ("word -", 'b', None),
            ("word --", 'b', None),
            ("\u{ac}", '1', None),
            ("eld", 'e', None),
            ("-", 'e', None),
        ] {
            assert_eq!(begun(text, next), expected, "{text}{next}");
        }
    }
}
