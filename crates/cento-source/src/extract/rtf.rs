//! Visible text of RTF documents.
//!
//! anydoc, the library that reads RTF, also returns deleted and hidden text. This module therefore
//! removes such text from the document first. RTF is a stream of words and groups, so no deeper
//! knowledge of the format is needed. Nor does anydoc say which text is raised, so this module puts
//! signs around it, and takes them out of the text together with the marks of notes.

use std::collections::HashSet;

use anydoc::Format;

use super::model::by_anydoc;
use crate::charset;
use crate::extracted::ExtractedText;
use crate::note_mark::{RaisedNumbers, RaisedRole, RaisedText, last_word};

/// The signs before and after a raised text, which are characters for private use, and the groups
/// that write the signs.
const RAISED: [char; 2] = ['\u{ef0e}', '\u{ef0f}'];
const RAISED_GROUPS: [&[u8]; 2] = [b"{\\uc0\\u-4338 }", b"{\\uc0\\u-4337 }"];

/// The maximum size of unreadable text, in half points.
const SIZE_HIDDEN: i32 = 4;

/// The minimum of red, green and blue in a color that is as white as paper.
const LIGHT: i32 = 0xf5;

/// Groups without text of the document.
const TABLES: [&[u8]; 8] = [
    b"fonttbl",
    b"colortbl",
    b"stylesheet",
    b"info",
    b"listtable",
    b"listoverridetable",
    b"revtbl",
    b"generator",
];

/// Words that name an encoding that anydoc does not know, and its label. A number names another
/// one (`ansicpg`).
const PAGES: [(&[u8], &str); 3] = [(b"mac", "macintosh"), (b"pc", "cp437"), (b"pca", "cp850")];

/// Numbers of encodings that anydoc does not know, and their labels.
const NUMBERED: [(i32, &str); 8] = [
    (437, "cp437"),
    (737, "cp737"),
    (850, "cp850"),
    (852, "cp852"),
    (855, "cp855"),
    (866, "ibm866"),
    (10000, "macintosh"),
    (10007, "x-mac-cyrillic"),
];

/// Returns the characters of the bytes from 0x80 on in an encoding.
fn upper_half(label: &str) -> Vec<char> {
    let bytes: Vec<u8> = (0x80..=0xff).collect();
    charset::decode(&bytes, Some(label)).text.chars().collect()
}

/// Groups with entries of an index or of a table of contents, which name words of the text again.
const ENTRIES: [&[u8]; 5] = [b"xe", b"rxe", b"txe", b"tc", b"tcn"];

/// Words with the number of a style of characters, a section or a table.
const STYLES: [&[u8]; 3] = [b"\\cs", b"\\ds", b"\\ts"];

/// Control words that represent characters or line ends.
const CHARACTERS: [&[u8]; 14] = [
    b"par",
    b"line",
    b"tab",
    b"emdash",
    b"endash",
    b"emspace",
    b"enspace",
    b"qmspace",
    b"bullet",
    b"lquote",
    b"rquote",
    b"ldblquote",
    b"rdblquote",
    b"u",
];

/// The look of the text of a group.
#[derive(Clone, Copy, Default)]
struct GroupLook {
    is_deleted: bool,
    vanishes: bool,
    is_small: bool,
    is_white: bool,
    /// The background is colored, so that white text is visible.
    is_behind: bool,
    /// The text is above the line.
    is_raised: bool,
    /// The group is a table of the header, not text.
    is_table: bool,
    /// The group is the table of colors.
    is_colors: bool,
    /// The number of characters after a Unicode character that replace it, other than 1.
    replacing: Option<usize>,
}

/// Returns the visible text of an RTF document.
///
/// # Errors
/// When it has no text, with the reason as a clause.
pub fn text_of(bytes: &[u8]) -> Result<ExtractedText, String> {
    let (seen, hidden) = seen(bytes);
    let found = by_anydoc(&seen, Format::Rtf)?;
    Ok(ExtractedText { hidden, text: without_marks(found.text), ..found })
}

/// Returns a text without the signs around raised texts, and without the marks of notes.
fn without_marks(text: String) -> String {
    if !text.contains(RAISED) {
        return text;
    }
    let (mut out, mut numbers) = (String::with_capacity(text.len()), RaisedNumbers::default());
    let mut rest = &*text;
    while let Some((before, from)) = rest.split_once(RAISED[0]) {
        out.push_str(before);
        let (raised, mut after) = from.split_once(RAISED[1]).unwrap_or((from, ""));
        let mut raised = raised.to_owned();
        // Programs write the digits of a number in groups of their own.
        while let Some((more, next)) =
            after.strip_prefix(RAISED[0]).and_then(|next| next.split_once(RAISED[1]))
        {
            raised.push_str(more);
            after = next;
        }
        let mark = raised.trim();
        let after_mark = after.chars().next().filter(|c| !c.is_whitespace());
        let before = last_word(&out);
        let role = RaisedText { text: mark, is_link: false, before, after: after_mark }.role();
        let start = out.len() + raised.len() - raised.trim_start().len();
        numbers.add(role, start..start + mark.len());
        if !matches!(role, RaisedRole::Mark(_)) {
            out.push_str(&raised);
        }
        rest = after;
    }
    out.push_str(rest);
    numbers.remove_from(&mut out, false);
    out.retain(|c| !RAISED.contains(&c));
    out
}

/// Returns the document without invisible text, and the number of hidden characters removed.
pub fn seen(rtf: &[u8]) -> (Vec<u8>, usize) {
    let mut filter = RtfFilter::default();
    let mut at = 0;
    while at < rtf.len() {
        at += filter.next(&rtf[at..]);
    }
    (filter.kept, filter.hidden)
}

#[derive(Default)]
struct RtfFilter {
    kept: Vec<u8>,
    hidden: usize,
    look: GroupLook,
    /// The looks of the text around the open groups.
    around: Vec<GroupLook>,
    /// Red, green and blue of the current color, and the number of the color.
    color: [i32; 3],
    colors: i32,
    white: HashSet<i32>,
    /// Whether cells of the open row are colored.
    is_row_colored: bool,
    /// Whether the last text that was kept is raised.
    is_in_raised: bool,
    /// The characters of the bytes from 0x80 on, if anydoc does not know the encoding.
    page: Option<Vec<char>>,
    /// The number of the next characters that replace a Unicode character.
    replacing: usize,
    /// The next group has text that the group after it has in Unicode.
    is_repeated: bool,
}

impl RtfFilter {
    /// Reads a token and returns the number of bytes read.
    fn next(&mut self, rest: &[u8]) -> usize {
        match rest {
            [b'{', ..] => {
                self.around.push(self.look);
                self.look.is_deleted |= std::mem::take(&mut self.is_repeated);
                self.keep(&rest[..1])
            }
            [b'}', ..] => {
                let look = self.around.pop().unwrap_or_default();
                self.raise(look.is_raised);
                self.look = look;
                self.keep(&rest[..1])
            }
            [b'\\', b'\'', ..] => self.text(&rest[..rest.len().min(4)], 1),
            [b'\\', letter, ..] if letter.is_ascii_alphabetic() => self.word(rest),
            [b'\\', b'*', after @ ..] if !self.begins_destination(after) => 2,
            // The next words of the group may be unknown, and are then not part of the text.
            [b'\\', b'*', ..] => self.keep(&rest[..2]),
            [b'\\', b'~' | b'\n' | b'\r', ..] => self.text(&rest[..2], 0),
            [b'\\', _, ..] => self.text(&rest[..2], 1),
            [b'\n' | b'\r', ..] => self.keep(&rest[..1]),
            [b';', ..] if self.look.is_colors => {
                if self.color.iter().all(|part| *part >= LIGHT) {
                    self.white.insert(self.colors);
                }
                (self.color, self.colors) = ([0; 3], self.colors.saturating_add(1));
                self.keep(&rest[..1])
            }
            [b' ', ..] => self.text(&rest[..1], 0),
            _ => self.text(&rest[..1], 1),
        }
    }

    /// Returns whether `\*` and these bytes begin a destination: at the beginning of a group, and
    /// not before a style. Some programs write the mark before the style of a run, whose text
    /// belongs to the document.
    fn begins_destination(&self, after: &[u8]) -> bool {
        let is_style = STYLES.iter().any(|style| {
            after
                .trim_ascii_start()
                .strip_prefix(*style)
                .is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_digit))
        });
        // The group with a text in Unicode.
        let is_text = after
            .strip_prefix(b"\\ud")
            .is_some_and(|rest| rest.first().is_some_and(|byte| !byte.is_ascii_alphanumeric()));
        let begins_group = self.kept.trim_ascii_end().ends_with(b"{");
        self.look.is_table || (!is_style && !is_text && begins_group)
    }

    fn keep(&mut self, bytes: &[u8]) -> usize {
        self.kept.extend_from_slice(bytes);
        bytes.len()
    }

    /// Keeps text if it is visible, or else counts its characters as hidden. A space or the end of
    /// a line, which has no characters, separates words whatever its size and color are.
    fn text(&mut self, bytes: &[u8], characters: usize) -> usize {
        let GroupLook { is_deleted, vanishes, is_small, is_white, is_behind, is_table, .. } =
            self.look;
        let is_lost_in_white = is_white && !is_behind && !self.is_row_colored;
        let is_faint = is_small || is_lost_in_white;
        let is_hidden = vanishes || (is_faint && characters > 0);
        if is_table || !(is_deleted || is_hidden) {
            self.raise(self.look.is_raised && !is_table);
            return self.keep_decoded(bytes, characters);
        }
        self.hidden += if is_deleted { 0 } else { characters };
        bytes.len()
    }

    /// Keeps text, in Unicode if anydoc does not know the encoding. The characters that replace a
    /// Unicode character stay.
    fn keep_decoded(&mut self, bytes: &[u8], characters: usize) -> usize {
        let byte = match bytes {
            [b'\\', b'\'', digits @ ..] => {
                let digits = std::str::from_utf8(digits).ok();
                digits.and_then(|digits| u8::from_str_radix(digits, 16).ok())
            }
            [byte] => Some(*byte),
            _ => None,
        };
        if characters > 0 && self.replacing > 0 {
            self.replacing -= 1;
            return self.keep(bytes);
        }
        let at = byte.and_then(|byte| byte.checked_sub(0x80));
        let decoded = self.page.as_ref().zip(at).and_then(|(page, at)| page.get(usize::from(at)));
        match decoded.and_then(|&c| u16::try_from(u32::from(c)).ok()) {
            Some(unit) => {
                self.kept.extend(format!("{{\\uc0\\u{} }}", unit.cast_signed()).bytes());
                bytes.len()
            }
            None => self.keep(bytes),
        }
    }

    /// Writes a sign where raised text begins or ends.
    fn raise(&mut self, is_raised: bool) {
        if is_raised != self.is_in_raised {
            self.keep(RAISED_GROUPS[usize::from(!is_raised)]);
            self.is_in_raised = is_raised;
        }
    }

    /// Reads a control word, with the number and the space after the word.
    fn word(&mut self, rest: &[u8]) -> usize {
        let letters = rest[1..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let (name, after) = rest[1..].split_at(letters);
        let sign = usize::from(after.first() == Some(&b'-'));
        let digits = after[sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = if digits > 0 { &after[..sign + digits] } else { &after[..0] };
        let value: Option<i32> =
            std::str::from_utf8(number).ok().and_then(|number| number.parse().ok());
        let mut len = 1 + letters + number.len();
        len += usize::from(rest.get(len) == Some(&b' '));
        if name == b"bin" {
            len = len.saturating_add(value.unwrap_or_default().max(0) as usize).min(rest.len());
            return self.keep(&rest[..len]);
        }
        if name == b"u" {
            self.replacing = 0;
            let len = self.text(&rest[..len], 1);
            self.replacing = self.look.replacing.unwrap_or(1);
            return len;
        }
        if CHARACTERS.contains(&name) {
            let is_seen = matches!(name, b"par" | b"line" | b"tab");
            return self.text(&rest[..len], usize::from(!is_seen));
        }
        self.property(name, value);
        self.raise(self.is_in_raised && self.look.is_raised);
        self.keep(&rest[..len])
    }

    /// Applies a control word to the look of the following text.
    fn property(&mut self, name: &[u8], value: Option<i32>) {
        let (is_on, number) = (value != Some(0), value.unwrap_or_default());
        let is_colored = number > 0 && !self.white.contains(&number);
        let look = &mut self.look;
        let named = PAGES.iter().find(|(of, _)| *of == name).map(|(_, label)| *label);
        if named.is_some() || name == b"ansicpg" {
            let numbered = NUMBERED.iter().find(|(of, _)| *of == number).map(|(_, label)| *label);
            self.page = named.or(numbered).map(upper_half);
        }
        match name {
            b"upr" => self.is_repeated = true,
            b"uc" => look.replacing = Some(number.max(0) as usize),
            name if ENTRIES.contains(&name) => look.is_deleted = true,
            b"deleted" => look.is_deleted = is_on,
            b"v" => look.vanishes = is_on,
            b"plain" => {
                (look.is_deleted, look.vanishes, look.is_small) = (false, false, false);
                (look.is_white, look.is_behind, look.is_raised) = (false, false, false);
            }
            b"fs" => look.is_small = number <= SIZE_HIDDEN,
            b"super" => look.is_raised = is_on,
            b"up" => look.is_raised = number > 0,
            // A note within its raised mark is not raised, and has separate signs.
            b"nosupersub" | b"sub" | b"dn" | b"footnote" => look.is_raised = false,
            b"cf" => look.is_white = self.white.contains(&number),
            b"highlight" | b"cb" | b"chcbpat" | b"cbpat" => look.is_behind = is_colored,
            b"trowd" => self.is_row_colored = false,
            b"clcbpat" | b"clshdng" => self.is_row_colored |= is_colored,
            // The text of a shape, which may be filled.
            b"shptxt" => (look.is_table, look.is_behind) = (false, true),
            b"red" if look.is_colors => self.color[0] = number,
            b"green" if look.is_colors => self.color[1] = number,
            b"blue" if look.is_colors => self.color[2] = number,
            name if TABLES.contains(&name) => {
                look.is_table = true;
                look.is_colors = name == b"colortbl";
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rtf: &str, expected: &str, hidden: usize) {
        let (kept, found) = seen(rtf.as_bytes());
        assert_eq!((&*String::from_utf8_lossy(&kept), found), (expected, hidden));
    }

    #[test]
    fn deleted_and_hidden_text_is_taken_out() {
        check("{\\rtf1 a {\\deleted no\\'e9\\par\\u233? }b}", "{\\rtf1 a {\\deleted }b}", 0);
        check("{\\rtf1\\v no\\v0 a}", "{\\rtf1\\v \\v0 a}", 2);
        check("{\\rtf1\\deleted x\\plain a\\{}", "{\\rtf1\\deleted \\plain a\\{}", 0);
        check("{\\rtf1{\\fs2 no}\\fs20 a}", "{\\rtf1{\\fs2 }\\fs20 a}", 2);
        let colors = "{\\colortbl;\\red255\\green255\\blue255;\\red0\\green0\\blue0;}";
        check(
            &format!("{{\\rtf1{colors}\\cf1 no\\cf2 a\\highlight2\\cf1 b}}"),
            &format!("{{\\rtf1{colors}\\cf1 \\cf2 a\\highlight2\\cf1 b}}"),
            2,
        );
        // Small ends of lines joined the words beside them.
        check("{\\rtf1 a{\\fs2 no \\par}b}", "{\\rtf1 a{\\fs2  \\par}b}", 2);
        check("{\\stylesheet{\\s1\\v Hidden;}}a", "{\\stylesheet{\\s1\\v Hidden;}}a", 0);
        check("{\\v\\bin3 }}}x}a", "{\\v\\bin3 }}}}a", 1);
    }

    #[test]
    fn a_text_is_read_in_its_encoding_and_once() {
        let check = |document: &str, expected: &str| {
            let read = text_of(format!("{{\\rtf1{document}}}").as_bytes()).unwrap();
            assert_eq!(read.text.trim_end(), expected, "{document}");
        };
        check("\\mac Gr\\'9f\\'a7e \\u8217\\'d5s", "Gr\u{fc}\u{df}e \u{2019}s");
        check("\\ansi\\ansicpg10000 Gr\\'9f\\'a7e", "Gr\u{fc}\u{df}e");
        check("\\pca Gr\\'81\\'e1e \\uc2\\u233\\'82\\'82t", "Gr\u{fc}\u{df}e \u{e9}t");
        check("\\pc \\'82", "\u{e9}");
        check("\\ansi\\ansicpg866 \\'8c\\'a5", "\u{41c}\u{435}");
        check("\\ansi\\ansicpg1251 \\'cc\\'e5", "\u{41c}\u{435}");
        check("\\ansi a {\\upr{??}{\\*\\ud{\\u1052?\\u1077?}}} b", "a \u{41c}\u{435} b");
        check("\\ansi a.{\\xe{\\v a}}{\\tc\\tcl1 a} b", "a. b");
        assert_eq!(seen(b"{\\rtf1 a{\\xe{\\v entry}}}").1, 0);
    }

    #[test]
    fn a_style_of_characters_is_no_destination() {
        check("{\\rtf1 a {\\*\\cs7\\b word} b}", "{\\rtf1 a {\\cs7\\b word} b}", 0);
        check("{\\rtf1 a {\\b\\*\\x word} b}", "{\\rtf1 a {\\b\\x word} b}", 0);
        check("{\\rtf1{\\*\\cstyle no}a}", "{\\rtf1{\\*\\cstyle no}a}", 0);
        check("{\\stylesheet{\\*\\cs7 Bold;}}a", "{\\stylesheet{\\*\\cs7 Bold;}}a", 0);
    }

    #[test]
    fn raised_numbers_after_words_are_marks_of_notes() {
        let check = |body: &str, expected: &str| {
            let read = text_of(format!("{{\\rtf1\\ansi {body}}}").as_bytes()).unwrap();
            assert_eq!(read.text.trim_end(), expected, "{body}");
        };
        check("the gate{\\super 1} was 10{\\super 3} m{\\super 2}.", "the gate was 103 m2.");
        check(
            "gate{\\up6\\fs14 1} to{\\super 2} wall\\super 3\\nosupersub , so",
            "gate to wall, so",
        );
        check("gate.{\\super 1}{\\super 2}\\par The 1{\\super st} of", "gate.\n\nThe 1st of");
        check("{\\super 1}In {\\super 2}the {\\super 3}end", "In the end");
        let note = "a gate{\\super\\chftn{\\footnote{\\super\\chftn} a note}} was";
        check(note, "a gate was\n\n a note");
        check("a \\super b\\plain  c {\\super d", "a b c d");
    }

    #[test]
    fn any_bytes_have_an_end() {
        for bytes in
            [&b"\\"[..], b"\\'", b"\\'e", b"}}}", b"\\bin99999999999 a", b"\\u-", b"{", b"\\fs-"]
        {
            let (kept, _) = seen(bytes);
            assert!(kept.len() <= bytes.len());
        }
    }
}
