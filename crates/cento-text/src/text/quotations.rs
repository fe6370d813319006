//! Quotations in a text: between quotation marks, and the lines that quote a mail.

use std::ops::Range;

use super::unicode::{is_letter, is_number, is_white_space};

/// The maximum size of a quotation, in bytes. Without a maximum, a mark that lacks its partner
/// would quote much text, and so would two marks around a whole text.
pub const QUOTATION_BYTES_MAX: usize = 2000;

/// Returns the marks that close a quotation opened by this character.
#[must_use]
pub fn closing_quotation_marks(open: char) -> &'static [char] {
    match open {
        '"' => &['"'],
        '\u{ff02}' => &['\u{ff02}'],
        '\u{201c}' => &['\u{201d}'],
        // German and Polish, Hungarian.
        '\u{201e}' => &['\u{201c}', '\u{201d}'],
        '\u{201a}' => &['\u{2018}', '\u{2019}'],
        // Swedish and Finnish, which use the same mark at both ends.
        '\u{201d}' => &['\u{201d}'],
        // Single quotation marks of British English.
        '\u{2018}' => &['\u{2019}'],
        '\u{ab}' => &['\u{bb}'],
        // German points the marks inward, and Finnish uses this mark at both ends.
        '\u{bb}' => &['\u{ab}', '\u{bb}'],
        '\u{2039}' => &['\u{203a}'],
        '\u{203a}' => &['\u{2039}', '\u{203a}'],
        '\u{300c}' => &['\u{300d}'],
        '\u{300e}' => &['\u{300f}'],
        '\u{ff62}' => &['\u{ff63}'],
        '\u{301d}' => &['\u{301e}', '\u{301f}'],
        _ => &[],
    }
}

/// Returns whether a character can be part of a word.
fn is_word(c: char) -> bool {
    is_letter(c) || is_number(c)
}

/// Returns whether a mark is straight: the same mark at both ends of a quotation, and the mark of
/// inches and seconds of arc.
fn is_straight(mark: char) -> bool {
    matches!(mark, '"' | '\u{ff02}')
}

/// Returns whether a straight mark opens a quotation between these texts.
///
/// A mark after a number opens no quotation, unless a word follows ("12\" thick", "30\"N"). Neither
/// does a mark at the end of a word, nor a mark alone between spaces, which repeats the word above.
/// But programs for French put a space on each side.
fn opens_straight(before: &str, after: &str) -> bool {
    let is_space = is_white_space;
    let ends_word = |text: &str| {
        let is_end = |c: char| is_space(c) || ".,;:!?)]}/-\u{d7}\u{2013}\u{2014}".contains(c);
        text.chars().next().is_none_or(is_end)
    };
    let last = before.chars().next_back().unwrap_or(' ');
    if is_number(last) || matches!(last, '\'' | '\u{2032}' | '\u{2019}') {
        // A point of the compass, or the second side of a rectangle.
        let word = after.split(|c: char| !is_letter(c)).next().unwrap_or_default();
        return !ends_word(after) && !matches!(word, "N" | "S" | "E" | "W" | "O" | "x" | "X");
    }
    let Some(next) = after.chars().next() else { return false };
    match (is_space(last), is_space(next)) {
        // A comma or a full stop alone is after the end of a quotation.
        (true, false) => {
            let beyond = after[next.len_utf8()..].chars().next();
            !ends_word(after) || beyond.is_some_and(|c| !is_space(c))
        }
        (false, false) => !ends_word(after) || "([{".contains(last),
        (false, true) => false,
        (true, true) => {
            let is_blank = |c: char| matches!(c, ' ' | '\u{a0}' | '\u{202f}');
            let [word, text] =
                [before.trim_end_matches(is_blank), after.trim_start_matches(is_blank)];
            let are_single = [&before[word.len()..], &after[..after.len() - text.len()]]
                .iter()
                .all(|blank| blank.chars().count() == 1);
            let is_word = |c: char| !is_space(c) && !is_straight(c);
            are_single
                && word.ends_with(|c: char| is_word(c) && !is_number(c))
                && text.starts_with(is_word)
        }
    }
}

/// Returns whether a mark opens a quotation between the texts before and after the mark.
///
/// A mark that also closes quotations, or is an apostrophe, opens a quotation only where a word
/// begins. Otherwise the end of an overlong quotation would open another quotation.
fn opens(mark: char, before: &str, after: &str) -> bool {
    if is_straight(mark) {
        return opens_straight(before, after);
    }
    let is_ambiguous = matches!(mark, '\u{201d}' | '\u{bb}' | '\u{203a}' | '\u{2018}');
    let is_bound = |c: char| {
        is_white_space(c)
            || "([{/-\u{2013}\u{2014}\u{2010}".contains(c)
            || !closing_quotation_marks(c).is_empty()
    };
    let begins_word = || {
        before.chars().next_back().is_none_or(is_bound)
            && after.chars().next().is_some_and(|c| !is_white_space(c))
    };
    !is_ambiguous || begins_word() && !(mark == '\u{2018}' && is_elided(after))
}

/// Returns whether a straight mark between these texts can only open a quotation.
fn surely_opens(before: &str, after: &str) -> bool {
    before.ends_with(|c: char| is_white_space(c) || "([{".contains(c)) && after.starts_with(is_word)
}

/// Returns whether the word that begins here lacks its beginning. The mark before is then an
/// apostrophe, which programs turn the wrong way.
fn is_elided(after: &str) -> bool {
    const ELIDED: [&str; 10] =
        ["tis", "twas", "twere", "twill", "til", "till", "em", "cause", "bout", "n"];
    let word = after.split(|c: char| !is_word(c)).next().unwrap_or_default();
    word.starts_with(|c: char| c.is_ascii_digit())
        || ELIDED.iter().any(|elided| word.eq_ignore_ascii_case(elided))
}

/// Returns whether a mark that could close a quotation is an apostrophe, because a letter follows.
///
/// The apostrophe of a plural ("the boys' books") cannot be recognized, and ends a quotation too
/// early.
fn is_apostrophe(mark: char, after: &str) -> bool {
    mark == '\u{2019}' && after.starts_with(is_word)
}

/// Finds the quotations of a text: ascending, disjoint ranges of bytes with their marks.
#[must_use]
pub fn quotations(text: &str) -> Vec<Range<u32>> {
    let mut found = Vec::new();
    // The end of the text that has been examined.
    let mut from = 0;
    for (at, c) in text.char_indices() {
        let closing = closing_quotation_marks(c);
        let start = at + c.len_utf8();
        if at < from || closing.is_empty() || !opens(c, &text[..at], &text[start..]) {
            continue;
        }
        for (offset, c) in text[start..].char_indices() {
            if offset > QUOTATION_BYTES_MAX || is_paragraph_end(&text[start + offset..]) {
                break;
            }
            let end = start + offset + c.len_utf8();
            // The opening mark lacked its partner, because this mark begins a word.
            if is_straight(c) && surely_opens(&text[..start + offset], &text[end..]) {
                break;
            }
            if closing.contains(&c) && !is_apostrophe(c, &text[end..]) {
                from = end;
                found.push(at as u32..from as u32);
                break;
            }
        }
    }
    found.extend(quoted_lines(text));
    found
}

/// Returns whether a paragraph ends here, at an empty line or a page.
fn is_paragraph_end(rest: &str) -> bool {
    let Some(next) = rest.strip_prefix('\n') else { return rest.starts_with('\u{c}') };
    next.trim_start_matches([' ', '\t', '\r']).starts_with('\n')
}

/// Returns the quoted lines of Markdown or mail.
fn quoted_lines(text: &str) -> impl Iterator<Item = Range<u32>> {
    lines(text)
        .filter(|(_, line)| line.trim_start_matches(is_white_space).starts_with(LINE_MARK))
        .map(|(range, _)| range)
}

/// The mark at the beginning of a quoted line.
const LINE_MARK: char = '>';

/// Returns the number of bytes of the marks at the beginning of a quoted line, with their spaces.
/// A word or sentence that a line end divides goes on after them.
pub fn line_marks(line: &str) -> usize {
    match line.starts_with(LINE_MARK) {
        true => line.len() - line.trim_start_matches([LINE_MARK, ' ']).len(),
        false => 0,
    }
}

/// Returns the lines of a text, with their places.
pub fn lines(text: &str) -> impl Iterator<Item = (Range<u32>, &str)> {
    text.split_inclusive(['\n', '\u{c}']).scan(0, |at, line| {
        let start = *at;
        *at += line.len() as u32;
        Some((start..*at, line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut<'a>(text: &'a str, ranges: &[Range<u32>]) -> Vec<&'a str> {
        ranges.iter().map(|range| &text[range.start as usize..range.end as usize]).collect()
    }

    #[test]
    fn quotations_are_found_in_their_paragraph() {
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(cut(text, &quotations(text)), expected, "{text:?}");
        };
        check("He said \"yes\" and \"no\".", &["\"yes\"", "\"no\""]);
        check(
            "\u{201e}ja\u{201c} \u{ab}da\u{bb} \u{300c}\u{4e00}\u{300d}",
            &["\u{201e}ja\u{201c}", "\u{ab}da\u{bb}", "\u{300c}\u{4e00}\u{300d}"],
        );
        // A mark that lacks its partner excludes nothing in the next paragraph.
        check("a 5\" pipe\n\n\"quoted\"", &["\"quoted\""]);
        check("over \"two\nlines\" of one", &["\"two\nlines\""]);
        check("text\n> quoted\n> more\ntext", &["> quoted\n", "> more\n"]);
        check(&format!("\"{}\"", "long ".repeat(500)), &[]);
        check("it's John's", &[]);
    }

    #[test]
    fn marks_of_inches_seconds_and_repetition_open_no_quotation() {
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(cut(text, &quotations(text)), expected, "{text:?}");
        };
        check("12\" thick. Copied. At the top 4\" across, 5\u{bd}\", 6 \" and 7 \" wide", &[]);
        check("48\u{b0}12'30\"N, 16\u{b0} 22' 10\". A 10\"x12\" print, 9\"\u{d7}9\".", &[]);
        check("f'(x) and f'\" x of g'\" y", &[]);
        // A mark after a number may close an open quotation.
        check("He said \"in 1912\" and left. A 3\" pipe.", &["\"in 1912\""]);
        check("He said \"copied\": 3\" and 4\".", &["\"copied\""]);
        check("May  Harding  sold\n\"     \"     bought\n\"     \"     left", &[]);
        check("Il dit \" oui \", puis \" non \".", &["\" oui \"", "\" non \""]);
        check(
            "(\"a\") [\"b\"] \"...c\" x=\"d\" \u{4ed6}\"\u{4f60}\"\u{3002}",
            &["\"a\"", "\"b\"", "\"...c\"", "\"d\"", "\"\u{4f60}\""],
        );
    }

    #[test]
    fn a_straight_mark_without_a_partner_excludes_nothing() {
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(cut(text, &quotations(text)), expected, "{text:?}");
        };
        check("She \"went. The tide turned. He said \"no\" and left.", &["\"no\""]);
        check("She went\" out. The tide turned. He said \"no\" and left.", &["\"no\""]);
    }

    #[test]
    fn the_marks_of_every_language_enclose_a_quotation() {
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(cut(text, &quotations(text)), expected, "{text:?}");
        };
        // Swedish, Finnish, British, Swiss, German, Japanese.
        for [open, close] in [
            ["\u{201d}", "\u{201d}"],
            ["\u{bb}", "\u{bb}"],
            ["\u{2018}", "\u{2019}"],
            ["\u{2039}", "\u{203a}"],
            ["\u{203a}", "\u{2039}"],
            ["\u{201a}", "\u{2018}"],
            ["\u{301d}", "\u{301f}"],
            ["\u{ff62}", "\u{ff63}"],
            ["\u{ff02}", "\u{ff02}"],
        ] {
            let [one, other] = [format!("{open}En, en.{close}"), format!("{open}tv\u{e5}{close}")];
            check(&format!("{one} sa ({other}) han."), &[&one, &other]);
        }
        check("\u{2018}I can\u{2019}t\u{2019}, he said.", &["\u{2018}I can\u{2019}t\u{2019}"]);
    }

    #[test]
    fn apostrophes_and_ends_of_quotations_open_none() {
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(cut(text, &quotations(text)), expected, "{text:?}");
        };
        check("Don\u{2019}t, the boys\u{2019} books, O\u{2018}zbek, l\u{2019}eau.", &[]);
        check(
            "In the \u{2018}90s \u{2018}twas the boys\u{2019} book, rock \u{2018}n\u{2019} roll.",
            &[],
        );
        check("a 5\u{201d} pipe, an 8\u{201d} pipe", &[]);
        // The opening mark is in another paragraph.
        check("its end.\u{201d} Then \u{201c}yes\u{201d}", &["\u{201c}yes\u{201d}"]);
        check(
            "its end\u{a0}\u{bb} then \u{ab}\u{a0}yes\u{a0}\u{bb}",
            &["\u{ab}\u{a0}yes\u{a0}\u{bb}"],
        );
    }
}
