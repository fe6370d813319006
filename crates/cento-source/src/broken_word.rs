//! Words over two lines of a printed page.

/// Marks with no other meaning at the end of a line: the soft hyphen, the not sign of
/// transcriptions, and the double hyphen of early printed books.
const MARKS: [char; 3] = ['\u{ad}', '\u{ac}', '\u{2e17}'];

/// Hyphens, which may also be part of the word.
const HYPHENS: [char; 2] = ['-', '\u{2010}'];

/// Returns `text` without the break mark at its end, if the last word continues in the line `next`.
/// A mark always continues the word. A hyphen does after a letter and before a lowercase letter, or
/// between two parts in capitals.
pub fn begun<'a>(text: &'a str, next: &str) -> Option<&'a str> {
    let first = next.chars().next()?;
    if let Some(word) = text.strip_suffix(MARKS) {
        return first.is_alphabetic().then_some(word);
    }
    let word = text.strip_suffix(HYPHENS)?;
    let are_capitals = || are_capitals(word.chars().rev()) && are_capitals(next.chars());
    let goes_on = first.is_lowercase() || (first.is_uppercase() && are_capitals());
    (goes_on && word.ends_with(char::is_alphabetic)).then_some(word)
}

/// Returns `text` without the break mark at its end, like [`begun`], in a transcription of a print.
/// Prints in Fraktur have double hyphens, which are transcribed as equals signs. In other texts, an
/// equals sign belongs to a formula.
pub fn begun_in_print<'a>(text: &'a str, next: &str) -> Option<&'a str> {
    let Some(word) = text.strip_suffix('=') else { return begun(text, next) };
    let goes_on = next.starts_with(char::is_lowercase) && word.ends_with(char::is_alphabetic);
    goes_on.then_some(word)
}

/// Returns whether a word has two or more letters, all capitals. A single capital is an initial.
fn are_capitals(letters: impl Iterator<Item = char>) -> bool {
    let mut count = 0;
    for letter in letters.take_while(|c| c.is_alphabetic()) {
        if !letter.is_uppercase() {
            return false;
        }
        count += 1;
    }
    count >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_goes_on_after_a_hyphen_and_a_small_letter() {
        for (text, next, expected) in [
            ("eld-", "ers", Some("eld")),
            ("eld\u{2010}", "\u{fc}b", Some("eld")),
            ("eld\u{ac}", "Ers", Some("eld")),
            ("eld\u{ad}", "e", Some("eld")),
            ("eld\u{2e17}", "e", Some("eld")),
            ("IN CONSTAN-", "TINOPLE WAS", Some("IN CONSTAN")),
            // Names, numbers, dashes, and no hyphen.
            ("Anglo-", "Saxon", None),
            ("ANGLO-", "Saxon", None),
            ("U-", "BOOT", None),
            ("1914-", "b", None),
            ("word -", "b", None),
            ("word --", "b", None),
            ("\u{ac}", "1", None),
            ("eld", "e", None),
            ("-", "e", None),
            ("eld-", "", None),
        ] {
            assert_eq!(begun(text, next), expected, "{text}{next}");
            assert_eq!(begun_in_print(text, next), expected, "{text}{next}");
        }
    }

    #[test]
    fn a_word_of_a_print_goes_on_after_a_double_hyphen() {
        for (text, next, expected) in [
            ("die ge=", "heime", Some("die ge")),
            ("die ge=", "Heime", None),
            ("x =", "y", None),
            ("2=", "y", None),
        ] {
            assert_eq!(begun_in_print(text, next), expected, "{text}{next}");
            assert_eq!(begun(text, next), None, "{text}{next}");
        }
    }
}
