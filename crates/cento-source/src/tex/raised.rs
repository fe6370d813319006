//! Raised numbers that mark notes, as on web pages.

use crate::note_mark::WORD_LETTERS_MIN;

/// The longest number of a note, with a range or a list.
const NUMBER_BYTES_MAX: usize = 8;

/// Returns the length in bytes of a note mark, or `None` if a raised number is text, such as a
/// power. `rest` begins with an item of `forms`: the signs before and after the number.
pub fn mark_len(before: &str, rest: &str, forms: &[(&str, &str)]) -> Option<usize> {
    let left = forms.iter().find_map(|(open, close)| {
        let inner = rest.strip_prefix(open)?;
        let number = inner.find(|c: char| !c.is_ascii_digit() && !", -".contains(c))?;
        let is_number =
            number <= NUMBER_BYTES_MAX && inner.starts_with(|c: char| c.is_ascii_digit());
        inner[number..].strip_prefix(close).filter(|_| is_number)
    })?;
    let is_inside = left.starts_with(char::is_alphanumeric);
    (!is_inside && takes_mark(before)).then_some(rest.len() - left.len())
}

/// Returns whether a note may be marked after this text: a word, or the end of a sentence after a
/// word. Unlike elsewhere, a parenthesis alone is not enough, because it ends many formulas.
fn takes_mark(before: &str) -> bool {
    let before = before.trim_end_matches([',', ';', ':', '.', '!', '?', '"', '\u{201d}', '\u{bb}']);
    let is_accent = |c: &char| ('\u{300}'..='\u{36f}').contains(c);
    let letters = before.chars().rev().take_while(|c| c.is_alphabetic() || is_accent(c));
    letters.filter(|c| !is_accent(c)).take(WORD_LETTERS_MIN).count() == WORD_LETTERS_MIN
}

#[cfg(test)]
mod tests {
    use crate::tex::text_of;

    #[test]
    fn raised_numbers_after_words_mark_notes() {
        for (tex, text) in [
            (
                "wall\\textsuperscript{1} in the gate$^{2}$, day.$^3$ Then",
                "wall in the gate, day. Then",
            ),
            ("Ann\\textsuperscript{1,2} wrote", "Ann wrote"),
            ("caf\\'e\\textsuperscript{4} x", "cafe\u{301} x"),
            ("km$^2$ and x$^{2}$ and 10\\textsuperscript{3}", "km 2 and x 2 and 103"),
            ("the 2\\textsuperscript{nd} \\textsuperscript{14}C $e^{2}$", "the 2nd 14C e 2"),
            ("area$^2x$ word\\textsuperscript{12", "area 2x word12"),
        ] {
            assert_eq!(text_of(tex), text, "{tex}");
        }
    }
}
