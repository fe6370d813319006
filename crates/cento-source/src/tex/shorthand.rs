//! Letters, quotation marks and hyphens that babel writes with `"`.
//!
//! `"a` is a letter only if the preamble loads a language with this shorthand. Elsewhere, `"` is a
//! quotation mark. A chapter in a separate file has no preamble, so only the letters in the chapter
//! can show the language.

use super::option::bracketed;

/// What a language writes after `"`, by the next letter.
type ShorthandLetters = [(char, &'static str)];

/// Shorthands of a source, by the letter after the quotation mark. `None` without such a language.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shorthands(Option<&'static ShorthandLetters>);

static GERMAN: &ShorthandLetters = &[
    ('a', "\u{e4}"),
    ('o', "\u{f6}"),
    ('u', "\u{fc}"),
    ('e', "\u{eb}"),
    ('i', "\u{ef}"),
    ('A', "\u{c4}"),
    ('O', "\u{d6}"),
    ('U', "\u{dc}"),
    ('E', "\u{cb}"),
    ('I', "\u{cf}"),
    ('s', "\u{df}"),
    ('z', "\u{df}"),
    ('S', "SS"),
    ('Z', "SZ"),
];

static DUTCH: &ShorthandLetters = &[
    ('a', "\u{e4}"),
    ('e', "\u{eb}"),
    ('i', "\u{ef}"),
    ('o', "\u{f6}"),
    ('u', "\u{fc}"),
    ('y', "\u{ff}"),
    ('A', "\u{c4}"),
    ('E', "\u{cb}"),
    ('I', "\u{cf}"),
    ('O', "\u{d6}"),
    ('U', "\u{dc}"),
];

static POLISH: &ShorthandLetters = &[
    ('a', "\u{105}"),
    ('c', "\u{107}"),
    ('e', "\u{119}"),
    ('l', "\u{142}"),
    ('n', "\u{144}"),
    ('o', "\u{f3}"),
    ('r', "\u{17c}"),
    ('s', "\u{15b}"),
    ('z', "\u{17a}"),
    ('A', "\u{104}"),
    ('C', "\u{106}"),
    ('E', "\u{118}"),
    ('L', "\u{141}"),
    ('N', "\u{143}"),
    ('O', "\u{d3}"),
    ('R', "\u{17b}"),
    ('S', "\u{15a}"),
    ('Z', "\u{179}"),
];

static SLOVENE: &ShorthandLetters = &[
    ('c', "\u{10d}"),
    ('s', "\u{161}"),
    ('z', "\u{17e}"),
    ('C', "\u{10c}"),
    ('S', "\u{160}"),
    ('Z', "\u{17d}"),
];

/// Names of languages, and the letters that babel writes with `"` in the language. In some
/// languages, `"` is only for hyphens and quotation marks.
static LANGUAGES: [(&str, &ShorthandLetters); 25] = [
    ("german", GERMAN),
    ("ngerman", GERMAN),
    ("germanb", GERMAN),
    ("ngermanb", GERMAN),
    ("austrian", GERMAN),
    ("naustrian", GERMAN),
    ("swissgerman", GERMAN),
    ("nswissgerman", GERMAN),
    ("dutch", DUTCH),
    ("afrikaans", DUTCH),
    ("polish", POLISH),
    ("slovene", SLOVENE),
    ("slovenian", SLOVENE),
    ("danish", &[]),
    ("finnish", &[]),
    ("icelandic", &[]),
    ("italian", &[]),
    ("norsk", &[]),
    ("norwegian", &[]),
    ("nynorsk", &[]),
    ("portuguese", &[]),
    ("brazilian", &[]),
    ("russian", &[]),
    ("swedish", &[]),
    ("ukrainian", &[]),
];

/// The meanings of `"` in all of these languages: quotation marks, and places where a word may
/// break.
const MARKS: [(char, &str); 10] = [
    ('`', "\u{201e}"),
    ('\'', "\u{201c}"),
    ('<', "\u{ab}"),
    ('>', "\u{bb}"),
    ('-', ""),
    ('|', ""),
    ('"', ""),
    ('=', "-"),
    ('~', "-"),
    ('/', "/"),
];

/// Pairs of letters that change when German breaks a word there: `"ck`, and `"ff` for three
/// letters.
const GERMAN_PAIRS: [&str; 9] = ["ck", "ff", "ll", "mm", "nn", "pp", "rr", "tt", "gg"];

/// Commands that name a language in their option or argument.
const LOADING: [&str; 5] =
    ["documentclass", "documentstyle", "usepackage", "RequirePackage", "PassOptionsToPackage"];

/// Commands of polyglossia with the name of a language. Shorthands need an option of the command.
const SETTING: [&str; 4] =
    ["setdefaultlanguage", "setmainlanguage", "setotherlanguages", "setotherlanguage"];

/// The switch of polyglossia for shorthands.
const SWITCH: &str = "babelshorthands";

/// The maximum size of the options and the argument of a loading command, in bytes.
const LOADED_BYTES_MAX: usize = 1000;

/// The minimum number of words with a mark inside in a part of a document with shorthands.
const PART_WORDS_MIN: usize = 3;

impl Shorthands {
    /// Returns the shorthands of the languages that a preamble loads. The last language with
    /// letters wins, because babel makes the last language the main language.
    pub fn of_preamble(preamble: &str) -> Shorthands {
        let preamble = without_comments(preamble);
        let has_babel = preamble.contains("babel}") || preamble.contains("documentstyle");
        let mut found = Shorthands::default();
        for at in memchr::memchr_iter(b'\\', preamble.as_bytes()) {
            let rest = &preamble[at + 1..];
            let named = |names: &[&str]| names.iter().find_map(|name| rest.strip_prefix(name));
            let rest = match (named(&LOADING), named(&SETTING)) {
                (Some(rest), _) => rest,
                (None, Some(rest)) if preamble.contains(SWITCH) => rest,
                _ => continue,
            };
            let (options, argument) = loaded(rest);
            // A class takes the options of babel, but no other package loads a language.
            let options = if has_babel || options.contains(SWITCH) { options } else { "" };
            for name in options.split([',', '=']).chain(argument.split([',', '}'])) {
                let name = name.trim_matches(|c: char| !c.is_ascii_alphabetic());
                let letters = LANGUAGES.iter().find(|(of, _)| *of == name);
                if let Some((_, letters)) = letters
                    && found.0.is_none_or(|found| found.is_empty() || !letters.is_empty())
                {
                    found = Shorthands(Some(letters));
                }
            }
        }
        let is_off = preamble.contains("\\shorthandoff{\"}");
        if is_off { Shorthands::default() } else { found }
    }

    /// Returns the German shorthands, with the Dutch vowels, if a part of a document uses them.
    /// In words such as `f"ur`, the mark cannot be a quotation mark. If any mark ends a quotation,
    /// all are quotation marks.
    pub fn of_part(source: &str) -> Shorthands {
        let mut words = 0;
        for at in memchr::memchr_iter(b'"', source.as_bytes()) {
            let (before, after) = (&source[..at], &source[at + 1..]);
            // Accents, as in `\"a`, are accents in every language.
            if before.ends_with(['\\', '"']) {
                continue;
            }
            let Some(next) = after.chars().next() else { return Shorthands::default() };
            if next.is_whitespace() || ".,;:!?)}".contains(next) {
                return Shorthands::default();
            }
            let is_letter = GERMAN.iter().any(|(letter, _)| *letter == next);
            words += usize::from(is_letter && before.ends_with(|c: char| c.is_ascii_alphabetic()));
        }
        if words < PART_WORDS_MIN { Shorthands::default() } else { Shorthands(Some(GERMAN)) }
    }

    /// Returns the text that `"` and the start of `rest` write together, and the number of bytes
    /// used from `rest`. `None` if the `"` is a quotation mark.
    pub fn read(self, rest: &str) -> Option<(&'static str, usize)> {
        let letters = self.0?;
        let next = rest.chars().next()?;
        let is_pair =
            || std::ptr::eq(letters, GERMAN) && GERMAN_PAIRS.iter().any(|of| rest.starts_with(of));
        let found = letters.iter().chain(&MARKS).find(|(letter, _)| *letter == next);
        match found {
            Some((_, text)) => Some((text, next.len_utf8())),
            None => is_pair().then_some(("", 0)),
        }
    }
}

/// Returns the options and the argument after a loading command.
fn loaded(rest: &str) -> (&str, &str) {
    let rest = &rest[..rest.floor_char_boundary(LOADED_BYTES_MAX)];
    let rest = rest.trim_start();
    let len = bracketed(rest, b'[', b']').unwrap_or(0);
    let (options, rest) = rest.split_at(len);
    let rest = rest.trim_start();
    (options, &rest[..bracketed(rest, b'{', b'}').unwrap_or(0)])
}

/// Returns a source without its comments. A percent sign after a backslash is text.
fn without_comments(source: &str) -> String {
    let mut kept = String::new();
    for line in source.split_inclusive('\n') {
        let is_comment = |&(at, _): &(usize, &str)| !line[..at].ends_with('\\');
        let end = line.match_indices('%').find(is_comment).map_or(line.len(), |(at, _)| at);
        kept.push_str(&line[..end]);
    }
    kept
}

#[cfg(test)]
mod tests {
    use crate::tex::text_of;

    #[track_caller]
    fn check(preamble: &str, body: &str, expected: &str) {
        let source = format!("{preamble}\\begin{{document}}{body}\\end{{document}}");
        assert_eq!(text_of(&source).trim(), expected, "{preamble}");
    }

    #[test]
    fn letters_after_a_quotation_mark_are_of_the_language() {
        let (tex, german) = ("Gr\"o\"se, \"Ol, Dru\"cker", "Gr\u{f6}\u{df}e, \u{d6}l, Drucker");
        for preamble in [
            "\\usepackage[ngerman]{babel}",
            "\\usepackage[english,\n main=austrian]{babel}",
            "\\documentclass[a4paper,german]{article}\\usepackage{babel}",
            "\\usepackage{ngerman}",
            "\\documentstyle[german]{article}",
            "\\setmainlanguage[babelshorthands=true]{german}",
        ] {
            check(preamble, tex, german);
        }
        check(
            "\\usepackage[dutch]{babel}",
            "zee\"en, co\"ordineren",
            "zee\u{eb}n, co\u{f6}rdineren",
        );
        check("\\usepackage[polish]{babel}", "si\"e", "si\u{119}");
        check("\\usepackage[slovene]{babel}", "\"clovek", "\u{10d}lovek");
    }

    #[test]
    fn a_chapter_tells_by_its_letters() {
        let chapter = "\\chapter{\"Uber die T\"ur}f\"ur gro\"se \"`M\"uhe\"'";
        let text = "\u{dc}ber die T\u{fc}r f\u{fc}r gro\u{df}e \u{201e}M\u{fc}he\u{201c}";
        assert_eq!(text_of(chapter), text);
        let quoted = "he said\"and so\"i think\"on\" the \"old\" wall";
        assert_eq!(text_of(quoted), quoted);
        assert_eq!(text_of("a\"o b"), "a\"o b");
    }

    #[test]
    fn helpers_for_hyphens_are_nothing_or_a_hyphen() {
        let tex = "Auf\"|lage, Haus\"=t\"ur, wire\"-less, \"`hier\"', \"<da\">, und\"\"oder";
        let text =
            "Auflage, Haus-t\u{fc}r, wireless, \u{201e}hier\u{201c}, \u{ab}da\u{bb}, undoder";
        check("\\usepackage[ngerman]{babel}", tex, text);
        check("\\usepackage[russian]{babel}", "a\"=b \"o", "a-b \"o");
    }

    #[test]
    fn without_such_a_language_it_is_a_quotation_mark() {
        let text = "the \"old\" \"umlaut\"";
        for preamble in [
            "",
            "\\usepackage[english]{babel}",
            "% \\usepackage[ngerman]{babel}\n",
            "\\usepackage[german]{cleveref}",
            "\\setmainlanguage{german}",
            "\\usepackage[ngerman]{babel}\\shorthandoff{\"}",
        ] {
            check(preamble, text, text);
        }
        check("\\usepackage[ngerman]{babel}", "$\"a$ \\verb|\"a| \\\"a", "\"a \"a a\u{308}");
    }
}
