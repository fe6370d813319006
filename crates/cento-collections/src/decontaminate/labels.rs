//! Removes labels of options from a text, such as `A.` or `(2)`, which the options of a benchmark
//! lack.

use cento_text::text::{Tokens, is_white_space};

/// The maximum number of tokens between two labels. Longer options have enough runs of their own.
const OPTION_TOKENS_MAX: usize = 64;

/// How labels are written. The labels of a list are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LabelStyle {
    alphabet: Alphabet,
    /// The mark after a label.
    mark: char,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alphabet {
    Upper,
    Lower,
    Digits,
}

struct OptionList {
    style: LabelStyle,
    /// The number of the last label, from 1 on, and the token.
    last: (u32, usize),
    /// The token of the first label, until the list has a second label.
    first: Option<usize>,
}

/// Removes the tokens of a text that are labels of options. Returns the ascending places of the
/// tokens that now come where labels were removed.
///
/// A label is a single letter or number before a mark. The labels of a list have one style and are
/// consecutive from the first letter or 1 on, with words between labels. So neither the end of a
/// sentence nor initials are labels.
pub(super) fn remove(text: &str, tokens: &mut Tokens) -> Vec<usize> {
    let mut labels = of_lists(text, tokens);
    if labels.is_empty() {
        return labels;
    }
    labels.sort_unstable();
    leave_out(&mut tokens.hashes, &labels);
    leave_out(&mut tokens.spans, &labels);
    (0..).zip(labels).map(|(before, label): (usize, usize)| label - before).collect()
}

fn leave_out<T>(values: &mut Vec<T>, numbers: &[usize]) {
    let (mut all, mut left_out) = (0.., numbers.iter().peekable());
    values.retain(|_| {
        let number = all.next();
        left_out.next_if(|other| Some(**other) == number).is_none()
    });
}

/// Returns the tokens that are labels of options.
fn of_lists(text: &str, tokens: &Tokens) -> Vec<usize> {
    let (mut lists, mut labels): (Vec<OptionList>, Vec<usize>) = Default::default();
    for (token, span) in tokens.spans.iter().enumerate() {
        // Most words are longer than labels.
        if span.end - span.start > 2 {
            continue;
        }
        let Some((style, number)) = label(text, span.start as usize, span.end as usize) else {
            continue;
        };
        let list = lists.iter_mut().find(|list| list.style == style);
        match list {
            Some(list) if number == list.last.0 + 1 => {
                let between = token - list.last.1 - 1;
                if (1..=OPTION_TOKENS_MAX).contains(&between) {
                    labels.extend(list.first.take());
                    labels.push(token);
                    list.last = (number, token);
                }
            }
            _ if number != 1 => {}
            Some(list) => (list.last, list.first) = ((1, token), Some(token)),
            None => lists.push(OptionList { style, last: (1, token), first: Some(token) }),
        }
    }
    labels
}

/// Returns the style and the number of the label in these bytes of a text, if it may be a label.
fn label(text: &str, start: usize, end: usize) -> Option<(LabelStyle, u32)> {
    let (alphabet, number) = match text.get(start..end)?.as_bytes() {
        [letter @ b'A'..=b'Z'] => (Alphabet::Upper, letter - b'A' + 1),
        [letter @ b'a'..=b'z'] => (Alphabet::Lower, letter - b'a' + 1),
        [digit @ b'1'..=b'9'] => (Alphabet::Digits, digit - b'0'),
        [ten @ b'1'..=b'9', one @ b'0'..=b'9'] => {
            (Alphabet::Digits, 10 * (ten - b'0') + (one - b'0'))
        }
        _ => return None,
    };
    // Markdown may have marks of emphasis here: **A.** or **A**.
    let rest = text[end..].trim_start_matches(['*', '_']);
    let mut rest = rest.chars();
    let mark = rest.next()?;
    let next = rest.next();
    let before = text[..start].chars().next_back();
    let is_label = match mark {
        // Marks of Chinese and Japanese texts, which have no blanks.
        '\u{ff0e}' | '\u{3001}' | '\u{ff1a}' | '\u{ff09}' | '\u{3011}' => {
            before.is_none_or(|before| !before.is_ascii_alphanumeric())
        }
        '.' | ':' | ')' | ']' | '}' => {
            let is_number = |next: char| alphabet == Alphabet::Digits && next.is_ascii_digit();
            before.is_none_or(|before| is_white_space(before) || OPENING.contains(before))
                && !next.is_some_and(is_number)
        }
        _ => false,
    };
    is_label.then_some((LabelStyle { alphabet, mark }, number.into()))
}

/// Marks that may come before a label.
const OPENING: &str = "([{<>*_|\"'`\u{ff08}\u{3010}";

#[cfg(test)]
mod tests {
    use super::*;
    use cento_text::runtime::Stop;
    use cento_text::text::Analyzer;

    fn check(text: &str, expected: &[&str]) {
        let analyzer: Analyzer = "words".parse().unwrap();
        let mut tokens = Tokens::default();
        analyzer.analyze(text, &mut tokens, Stop::NEVER).unwrap();
        let before = tokens.clone();
        let labels = of_lists(text, &tokens);
        let shown: Vec<_> = labels.iter().map(|at| tokens.spans[*at]).collect();
        let shown: Vec<_> = shown.iter().map(|s| &text[s.start as usize..s.end as usize]).collect();
        assert_eq!(shown, expected, "{text}");
        let seams = remove(text, &mut tokens);
        assert_eq!(seams.len(), expected.len());
        let after = |label: &usize| {
            let mut rest = before.spans[*label..].iter();
            rest.find(|span| tokens.spans.contains(span))
        };
        let mut sorted = labels.clone();
        sorted.sort_unstable();
        for (label, seam) in sorted.iter().zip(seams) {
            assert_eq!(tokens.spans.get(seam), after(label), "{text}");
        }
        assert_eq!(tokens.hashes.len(), tokens.spans.len());
        assert_eq!(tokens.hashes.len() + expected.len(), before.hashes.len());
        for (at, span) in before.spans.iter().enumerate().filter(|(at, _)| !labels.contains(at)) {
            let place = tokens.spans.iter().position(|other| other == span).unwrap();
            assert_eq!(tokens.hashes[place], before.hashes[at]);
        }
    }

    #[test]
    fn labels_of_options_are_letters_or_numbers_in_their_order() {
        check("A. 90 B. 100 C. 110", &["A", "B", "C"]);
        check("Which?\n(a) one\n(b) two, c) three, d. four", &["a", "b", "c"]);
        check("1) one 2) two 3) three", &["1", "2", "3"]);
        check("<li>A: x</li><li>B: y</li>", &["A", "B"]);
        check("**A.** x **B.** y **C**. z", &["A", "B", "C"]);
        check("\u{54ea}\u{4e2a}A\u{ff0e}\u{5317}\u{4eac}B\u{ff0e}\u{4e0a}\u{6d77}", &["A", "B"]);
        let ten: String = (1..12).map(|number| format!("{number}. word ")).collect();
        check(&ten, &["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"]);
        // The second list is inside the first.
        check("A. x a) y b) z B. u", &["a", "b", "A", "B"]);
        check("A. x B. y A. u B. v", &["A", "B", "A", "B"]);
    }

    #[test]
    fn other_letters_and_numbers_are_no_labels() {
        for text in [
            "vitamin A. The next",
            "J. K. Rowling and A. B. Smith",
            "version 1.2 and 2.3",
            "at 1:15 and 2:30",
            "B. one C. two",
            "A. one C. two",
            "A. one B) two",
            "1 apple 2 pears",
            "x=1) y=2)",
            "",
        ] {
            check(text, &[]);
        }
        let long = format!("1. {} 2. two", "word ".repeat(OPTION_TOKENS_MAX + 1));
        check(&long, &[]);
    }
}
