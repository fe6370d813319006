//! Compares the tokenizer with its definition, and tests the definition on particular texts.
//!
//! The definition is implemented naively below: normalize the whole text, and find words with a
//! regular expression. The tables come from the regex crate.

mod line_ends;

use super::*;
use crate::text::Tokens;
use caseless::Caseless;
use line_ends::{is_division, without_line_ends};
use proptest::prelude::*;
use regex::Regex;
use std::collections::HashSet;
use std::sync::LazyLock;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

pub(in crate::text) const DEFAULT: CharForm =
    CharForm { nfkc: true, fold: true, folds: Folds::NONE };

const FORMS: [CharForm; 4] = [
    DEFAULT,
    CharForm { nfkc: true, fold: false, folds: Folds::NONE },
    CharForm { nfkc: false, fold: true, folds: Folds::NONE },
    CharForm { nfkc: false, fold: false, folds: Folds::NONE },
];

type Token = (String, usize, usize);

fn hashed(tokens: &[Token]) -> Vec<(u64, usize, usize)> {
    let hashed = |(word, start, end): &Token| (hash_bytes(word.as_bytes()), *start, *end);
    tokens.iter().map(hashed).collect()
}

fn actual(text: &str, form: CharForm, units: usize) -> Vec<(u64, usize, usize)> {
    let mut tokens = Tokens::default();
    tokenize(text, form, units, &mut tokens, Stop::NEVER).unwrap();
    assert_eq!(tokens.hashes.len(), tokens.spans.len());
    let spans = tokens.spans.iter();
    let spans = spans.map(|span| (span.start as usize, span.end as usize));
    let both = tokens.hashes.iter().zip(spans);
    both.map(|(&hash, (start, end))| (hash, start, end)).collect()
}

fn normal(text: &str, form: CharForm) -> String {
    match (form.nfkc, form.fold) {
        (true, true) => {
            let text = unified(text.chars());
            unified(text.nfkc().default_case_fold().nfkc())
        }
        (true, false) => text.nfkc().collect(),
        (false, true) => text.chars().default_case_fold().collect(),
        (false, false) => text.to_owned(),
    }
}

/// Returns a text with letters of two code points unified, and without the dot that a capital
/// dotted i leaves.
fn unified(text: impl Iterator<Item = char>) -> String {
    let pairs = |c| match crate::text::variants::variant(c) {
        Some(pair) => pair.iter().filter(|&&c| c != '\0').collect::<String>(),
        None => c.to_string(),
    };
    let text: String = text.filter(|&c| c != NUKTA).map(pairs).collect();
    match text.contains("i\u{307}") {
        true => DOTTED.replace_all(&text, "i").into_owned(),
        false => text,
    }
}

static DOTTED: LazyLock<Regex> = LazyLock::new(|| Regex::new("i\u{307}+").unwrap());

/// The dot below of Devanagari.
const NUKTA: char = '\u{93c}';

fn is_left_out(c: char, form: CharForm) -> bool {
    IGNORABLE.contains(&c) || (c == NUKTA && form.nfkc && form.fold)
}

/// The characters that are the second part of a composition, found by decomposing all characters.
static SECOND: LazyLock<HashSet<char>> = LazyLock::new(|| {
    let composed = ('\0'..=char::MAX).filter(|&c| c.nfd().nth(1).is_some() && c.nfc().eq([c]));
    composed.filter_map(|c| c.nfd().last()).collect()
});

/// Includes the signs that lengthen the line between two letters.
static IGNORABLE: LazyLock<HashSet<char>> =
    LazyLock::new(|| characters_like(r"[\p{Default_Ignorable_Code_Point}\x{640}\x{7fa}\x{180a}]"));

/// Characters in all the tables, which have different versions of Unicode.
static ASSIGNED: LazyLock<HashSet<char>> = LazyLock::new(|| characters_like(r"\P{Cn}"));

fn characters_like(pattern: &str) -> HashSet<char> {
    let all = String::from_iter('\0'..=char::MAX);
    let pattern = Regex::new(&format!("{pattern}+")).unwrap();
    pattern.find_iter(&all).flat_map(|found| found.as_str().chars()).collect()
}

/// Letters that are apostrophes, as a class of a regular expression.
pub(in crate::text) const APOSTROPHES: &str =
    r"\x{2b9}-\x{2bf}\x{2c8}\x{2ca}\x{2cb}\x{2ee}\x{374}\x{a78b}\x{a78c}";

/// Letters of scripts without spaces, except the apostrophe that Thai shares, as a class.
const UNITS: &str = concat!(
    r"[[[\p{L}\p{Nl}]&&[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}",
    r"\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]]--\x{2bc}]"
);

/// Captures runs of units. A match without the capture is a word.
static WORDS: LazyLock<Regex> = LazyLock::new(|| {
    let other = format!(r"[[\p{{L}}\p{{N}}\p{{Pc}}]--[{UNITS}{APOSTROPHES}]]");
    Regex::new(&format!(r"(?<run>(?:{UNITS}\p{{M}}*)+)|(?:{other}\p{{M}}*)+")).unwrap()
});

static UNIT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\P{M}\p{M}*").unwrap());

pub(in crate::text) fn decomposed(c: char) -> char {
    c.nfkd().next().unwrap()
}

/// The normalized text, and the original place of each byte.
///
/// The characters after an ASCII space or sign in a segment may be a letter (a vowel jamo) or fold
/// to a letter (U+0345). With `for_words`, the letter does not come from the space.
pub(in crate::text) fn map(
    text: &str,
    form: CharForm,
    for_words: bool,
) -> (String, Vec<(usize, usize)>) {
    let mut segments: Vec<(String, usize, usize)> = Vec::new();
    let mut kept = String::new();
    for (start, c) in text.char_indices() {
        if is_left_out(c, form) || is_division(text, start) {
            continue;
        }
        kept.push(c);
        let end = start + c.len_utf8();
        let first = c.nfkd().next().unwrap();
        let boundary = canonical_combining_class(first) == 0 && !SECOND.contains(&first);
        match segments.last_mut() {
            Some(segment) if form.nfkc && !boundary => {
                if for_words && segment.0.bytes().all(|byte| !is_word_byte(byte)) {
                    segment.1 = start;
                }
                segment.0.push(c);
                segment.2 = end;
            }
            _ => segments.push((c.to_string(), start, end)),
        }
    }
    let mut joined = String::new();
    let mut sources = Vec::new();
    // A normal form may contain such a sign: U+FE71 is the tatweel with a mark.
    let normal = |text: &str| normal(text, form).replace(|c| is_left_out(c, form), "");
    for (segment, start, end) in segments {
        joined += &normal(&segment);
        sources.resize(joined.len(), (start, end));
    }
    assert_eq!(joined, normal(&kept), "segments can be normalized apart");
    without_line_ends(text, &joined, &sources)
}

fn reference(original: &str, form: CharForm, units: usize) -> Vec<Token> {
    let (text, sources) = map(original, form, true);
    let token = |start: usize, end: usize| {
        let word = text[start..end].to_owned();
        (word, sources[start].0, sources[end - 1].1)
    };
    let mut tokens = Vec::new();
    let mut last_run_end = usize::MAX;
    for found in WORDS.captures_iter(&text) {
        let all = found.get(0).unwrap();
        if units == 0 {
            // Runs are not distinguished from words, so neighbors make a single word.
            if last_run_end == all.start() {
                let (word, start, _): Token = tokens.pop().unwrap();
                tokens.push((word + all.as_str(), start, sources[all.end() - 1].1));
            } else {
                tokens.push(token(all.start(), all.end()));
            }
            last_run_end = all.end();
            continue;
        }
        let Some(run) = found.name("run") else {
            tokens.push(token(all.start(), all.end()));
            continue;
        };
        let ranges: Vec<_> = UNIT.find_iter(run.as_str()).map(|unit| unit.range()).collect();
        for gram in ranges.windows(units.min(ranges.len())) {
            let (first, last) = (&gram[0], &gram[gram.len() - 1]);
            tokens.push(token(run.start() + first.start, run.start() + last.end));
        }
    }
    if tokens.is_empty() {
        let (text, sources) = map(original, form, false);
        let seen = text.char_indices().filter(|(_, c)| !c.is_whitespace());
        tokens = seen.map(|(i, c)| (c.to_string(), sources[i].0, sources[i].1)).collect();
    }
    tokens
}

#[track_caller]
pub(in crate::text) fn check(text: &str, expected: &[&str]) {
    let tokens = reference(text, DEFAULT, 2);
    let words: Vec<&str> = tokens.iter().map(|(word, ..)| word.as_str()).collect();
    assert_eq!(words, expected, "the reference, on {text:?}");
    assert_eq!(actual(text, DEFAULT, 2), hashed(&tokens), "{text:?}");
}

/// Checks that the tokens come from these pieces of the text.
#[track_caller]
pub(in crate::text) fn check_spans(text: &str, expected: &[&str]) {
    let spans = actual(text, DEFAULT, 2);
    let pieces: Vec<&str> = spans.iter().map(|&(_, start, end)| &text[start..end]).collect();
    assert_eq!(pieces, expected, "{text:?}");
}

#[test]
fn words_are_letters_numbers_marks_and_underscores() {
    check("The quick, brown fox!", &["the", "quick", "brown", "fox"]);
    check(
        "snake_case x1 1_000 3.14 e-mail",
        &["snake_case", "x1", "1_000", "3", "14", "e", "mail"],
    );
    check("a\tb\r\nc\0d", &["a", "b", "c", "d"]);
    check("don\u{2019}t", &["don", "t"]);
    check("one", &["one"]);
}

#[test]
fn spellings_of_one_word_are_equal() {
    check("caf\u{e9} cafe\u{301} CAFE\u{301}", &["caf\u{e9}"; 3]);
    check("Stra\u{df}e STRASSE \u{1e9e}", &["strasse", "strasse", "ss"]);
    check("\u{fb01}ne \u{ff26}\u{ff29}\u{ff2e}\u{ff25}", &["fine"; 2]);
    check("\u{130} i\u{307} I", &["i"; 3]);
    check("\u{3a3}\u{3c3}\u{3c2}", &["\u{3c3}\u{3c3}\u{3c3}"]);
    check("\u{212b} \u{c5} A\u{30a}", &["\u{e5}"; 3]);
}

#[test]
fn a_letter_that_looks_like_an_apostrophe_divides_words_as_it_does() {
    // Copies of Ukrainian and Uzbek texts were unrelated if one had U+02BC or U+02BB for '.
    let apostrophes = ['\'', '\u{2019}', '\u{2018}', '`', '\u{b4}', '\u{2032}', '\u{ff07}'];
    let letters = ['\u{2bb}', '\u{2bc}', '\u{2bd}', '\u{2be}', '\u{2bf}', '\u{a78b}', '\u{a78c}'];
    for c in apostrophes.into_iter().chain(letters) {
        check(&format!("\u{43f}{c}\u{44f}\u{442}\u{44c}"), &["\u{43f}", "\u{44f}\u{442}\u{44c}"]);
        check(&format!("O{c}zbekiston"), &["o", "zbekiston"]);
        check_spans(&format!("O{c}z {c}a{c}"), &["O", "z", "a"]);
    }
    check("\u{149} Do\u{2ba}m", &["n", "do", "m"]);
}

#[test]
fn the_letters_that_divide_words_are_those_that_unicode_confuses_with_the_apostrophe() {
    let of_scripts = characters_like(r"[\p{L}&&[\p{Common}\p{Latin}]]");
    let is_like = |c: &char| unicode_security::skeleton(&c.to_string()).all(|c| c == '\'');
    let expected: HashSet<char> =
        of_scripts.into_iter().filter(is_like).chain(['\u{2bf}']).collect();
    let normalizer = Normalizer::new(FORMS[3], Stop::NEVER);
    let letters = characters_like(r"\p{L}").into_iter();
    let divide = |c: &char| matches!(normalizer.settled(*c), Some((_, Class::Other)));
    assert_eq!(letters.filter(divide).collect::<HashSet<_>>(), expected);
}

#[test]
fn invisible_characters_are_not_there() {
    for invisible in
        ["\u{ad}", "\u{200b}", "\u{200c}", "\u{200d}", "\u{2060}", "\u{feff}", "\u{fe0f}"]
    {
        check(&format!("hy{invisible}phen"), &["hyphen"]);
        check(&format!("e{invisible}\u{301}"), &["\u{e9}"]);
        check(&format!("{invisible} {invisible}"), &[]);
    }
    check_spans("\u{ad}hy\u{ad}phen\u{ad} x", &["hy\u{ad}phen", "x"]);
}

#[test]
fn a_sign_that_lengthens_a_word_is_not_there() {
    // A copy of an Arabic text with tatweels shared a sixth of its runs.
    check("\u{643}\u{640}\u{640}\u{62a}\u{64e}\u{640}\u{628}", &["\u{643}\u{62a}\u{64e}\u{628}"]);
    check("\u{7d2}\u{7fa}\u{7de}", &["\u{7d2}\u{7de}"]);
    check("\u{182e}\u{180a}\u{1823}", &["\u{182e}\u{1823}"]);
    check("\u{627}\u{640}\u{654}", &["\u{623}"]);
    // In a normal form, between words, alone.
    check("\u{628}\u{fe77}\u{628}", &["\u{628}\u{64e}\u{628}"]);
    check("\u{628} \u{640} \u{628}", &["\u{628}"; 2]);
    check("\u{640}\u{640} !", &["!"]);
    check_spans("\u{640}\u{628}\u{640}\u{628}\u{640}", &["\u{628}\u{640}\u{628}"]);
    // U+0883 is a letter.
    check("\u{628}\u{883}", &["\u{628}\u{883}"]);
}

#[test]
fn scripts_without_spaces_become_pairs() {
    check("\u{4e2d}\u{6587}\u{5b57}", &["\u{4e2d}\u{6587}", "\u{6587}\u{5b57}"]);
    check("\u{4e2d}", &["\u{4e2d}"]);
    check("iPhone\u{624b}\u{673a}15", &["iphone", "\u{624b}\u{673a}", "15"]);
    check("\u{ff76}\u{ff9e}\u{30fc}", &["\u{30ac}\u{30fc}"]);
    check("\u{1112}\u{1161}\u{11ab}\u{ae00}", &["\u{d55c}\u{ae00}"]);
    // Thai: a tone mark stays with its letter, and the digits are a number.
    check(
        "\u{e19}\u{e49}\u{e33}\u{e52}\u{e55}",
        &["\u{e19}\u{e49}\u{e4d}\u{e32}", "\u{e52}\u{e55}"],
    );
    check_spans("\u{4e2d}\u{6587}\u{5b57}", &["\u{4e2d}\u{6587}", "\u{6587}\u{5b57}"]);
}

#[test]
fn a_line_end_within_text_without_spaces_is_not_there() {
    // Wrapped copies of Chinese, Thai and Tibetan texts lost half of their runs.
    let pairs = ["\u{4e2d}\u{6587}", "\u{6587}\u{5b57}"];
    for end in ["\n", "\r\n", "\r", "\u{200b}\n", "\n\u{200b}"] {
        check(&format!("\u{4e2d}{end}\u{6587}\u{5b57}"), &pairs);
        check(&format!("\u{4e2d}\u{6587}{end}\u{5b57}"), &pairs);
        check(&format!("\u{e19}\u{e49}{end}\u{e33}"), &["\u{e19}\u{e49}\u{e4d}\u{e32}"]);
        // Within a syllable of Tibetan, before a vowel sign, and in Khmer.
        check(&format!("\u{f42}{end}\u{f45}\u{f0b}\u{f54}"), &["\u{f42}\u{f45}", "\u{f54}"]);
        check(&format!("\u{f42}{end}\u{f7c}\u{f44}"), &["\u{f42}\u{f7c}\u{f44}"]);
        check(&format!("\u{1780}{end}\u{17d2}{end}\u{1780}"), &["\u{1780}\u{17d2}\u{1780}"]);
    }
    // The marks of a quoted line belong to the line end.
    for end in ["\n> ", "\r\n>", "\n>> "] {
        check(&format!("\u{4e2d}\u{6587}{end}\u{5b57}"), &pairs);
    }
    // The form of a letter before or after the line end is compatible.
    check("\u{3314}\n\u{ff76}", &["\u{30ad}\u{30ed}", "\u{30ed}\u{30ab}"]);
    check_spans("\u{4e2d}\n\u{6587}", &["\u{4e2d}\n\u{6587}"]);
    // Whole runs also continue.
    let whole = hash_bytes("\u{4e2d}\u{6587}".as_bytes());
    assert_eq!(actual("\u{4e2d}\n\u{6587}", DEFAULT, 0), [(whole, 0, 7)]);
}

#[test]
fn other_line_ends_divide_words() {
    let one = ["\u{4e2d}", "\u{6587}"];
    for end in [
        "\n\n",
        "\r\n\r\n",
        "\n\r",
        "\r\u{200b}\n",
        " \n",
        "\n ",
        "\n\u{3000}",
        "\u{3002}\n",
        "\n-",
        " ",
        "\t",
        "\u{c}",
    ] {
        check(&format!("\u{4e2d}{end}\u{6587}"), &one);
    }
    // Burmese and Korean phrases have spaces; other scripts, numbers, and text between two scripts.
    check("\u{1000}\n\u{1001}", &["\u{1000}", "\u{1001}"]);
    check("\u{d55c}\n\u{ae00}", &["\u{d55c}", "\u{ae00}"]);
    check("\u{e9}\n\u{e9}", &["\u{e9}"; 2]);
    check("\u{915}\n\u{93f}", &["\u{915}"]);
    check("\u{4e2d}\n\u{e52}\n\u{e52}", &["\u{4e2d}", "\u{e52}", "\u{e52}"]);
    check("\u{4e2d}\na\n\u{6587}", &["\u{4e2d}", "a", "\u{6587}"]);
    check("\u{4e2d}\n\u{e9}\n\u{6587}", &["\u{4e2d}", "\u{e9}", "\u{6587}"]);
    check("\u{4e2d}\n", &["\u{4e2d}"]);
}

#[test]
fn one_character_can_make_several_words() {
    let words = ["\u{635}\u{644}\u{64a}", "\u{627}\u{644}\u{644}\u{647}"];
    let more = ["\u{639}\u{644}\u{64a}\u{647}", "\u{648}\u{633}\u{644}\u{645}"];
    check("\u{fdfa}", &[words, more].concat());
    check_spans("(\u{fdfa})", &["\u{fdfa}"; 4]);
    check("a\u{bd}b", &["a1", "2b"]);
    check_spans("a\u{bd}b", &["a\u{bd}", "\u{bd}b"]);
}

#[test]
fn a_mark_without_a_word_is_no_word() {
    check("a \u{301}b", &["a", "b"]);
    check("=\u{338}\u{301}x", &["x"]);
    check("x\u{b4}y", &["x", "y"]);
}

#[test]
fn a_text_without_words_is_taken_symbol_by_symbol() {
    check("!!!", &["!"; 3]);
    check("? \u{ff01}\n", &["?", "!"]);
    check("=\u{338}", &["\u{2260}"]);
    check("\u{1f44d} \u{301}", &["\u{1f44d}", "\u{301}"]);
    check_spans("\u{1f44d}\u{200d}! ", &["\u{1f44d}", "!"]);
}

#[test]
fn a_text_without_anything_to_see_has_no_token() {
    for text in ["", " ", "\n\t\u{a0}\u{3000}\u{2028}", "\u{feff}", " \u{ad} "] {
        check(text, &[]);
    }
}

#[test]
fn options_change_what_they_name() {
    let words = |text, form, units| {
        let tokens = reference(text, form, units);
        assert_eq!(actual(text, form, units), hashed(&tokens));
        tokens.into_iter().map(|(word, ..)| word).collect::<Vec<_>>()
    };
    let [_, unfolded, folded, raw] = FORMS;
    assert_eq!(words("Caf\u{e9} \u{fb01}", unfolded, 2), ["Caf\u{e9}", "fi"]);
    assert_eq!(words("Cafe\u{301} \u{ff21}\u{df}", folded, 2), ["cafe\u{301}", "\u{ff41}ss"]);
    assert_eq!(words("Cafe\u{301} \u{fb01}", raw, 2), ["Cafe\u{301}", "\u{fb01}"]);
    let han = "x\u{4e2d}\u{6587}\u{5b57}y";
    assert_eq!(words(han, DEFAULT, 0), [han]);
    assert_eq!(words(han, DEFAULT, 1), ["x", "\u{4e2d}", "\u{6587}", "\u{5b57}", "y"]);
    assert_eq!(words(han, DEFAULT, 3), ["x", "\u{4e2d}\u{6587}\u{5b57}", "y"]);
    assert_eq!(words(han, DEFAULT, 4), ["x", "\u{4e2d}\u{6587}\u{5b57}", "y"]);
}

#[test]
fn words_may_lie_anywhere_in_a_piece() {
    // Words of every length that end around the ends of pieces and blocks.
    for gap in [0, 1, 62, 63, 64, 65, PIECE - 2, PIECE - 1, PIECE, PIECE + 1] {
        for length in [1, 2, 63, 64, 65, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 3 * PIECE + 7] {
            for tail in ["", " ", ".z", "\u{e9}", " \u{e9}z"] {
                let text = format!("{}{}{tail}", " ".repeat(gap), "aB".repeat(length / 2 + 1));
                let expected = hashed(&reference(&text, DEFAULT, 2));
                assert_eq!(actual(&text, DEFAULT, 2), expected, "{gap} {length} {tail:?}");
            }
        }
    }
}

#[test]
fn long_words_and_runs_are_hashed_whole() {
    let word = "\u{e9}A".repeat(3 * WORD_BYTES_HELD);
    let expected = hash_bytes(word.to_lowercase().as_bytes());
    assert_eq!(actual(&word, DEFAULT, 2), [(expected, 0, word.len())]);
    // The word after a long word does not inherit its bytes.
    let text = format!("{word} x\u{e9}");
    let last = (hash_bytes("x\u{e9}".as_bytes()), word.len() + 1, text.len());
    assert_eq!(actual(&text, DEFAULT, 2)[1], last);
    assert_eq!(actual(&"\u{4e2d}".repeat(9000), DEFAULT, 2).len(), 8999);
}

#[test]
fn a_text_of_nothing_but_marks_is_taken_in_pieces() {
    let marks = "\u{301}\u{316}".repeat(10_000);
    assert_eq!(actual(&format!("a{marks}"), DEFAULT, 2).len(), 1);
    assert_eq!(actual(&format!("\u{4e2d}{marks}"), DEFAULT, 2).len(), 1);
    assert_eq!(actual(&marks, DEFAULT, 2).len(), 20_000);
}

#[test]
fn ignorable_characters_are_those_of_unicode() {
    let mut normalizer = Normalizer::new(DEFAULT, Stop::NEVER);
    let mut sink = Seen(0);
    for c in '\0'..=char::MAX {
        sink.0 = 0;
        normalizer.normalize(c.encode_utf8(&mut [0; 4]), 0, &mut sink).unwrap();
        assert_eq!(sink.0 == 0, is_left_out(c, DEFAULT), "{c:?}");
    }
}

struct Seen(usize);

impl CharSink for Seen {
    fn accept(&mut self, _c: char, _class: Class, _span: Span) {
        self.0 += 1;
    }
}

#[test]
fn every_character_is_tokenized_as_defined() {
    // Samples the large uniform blocks. A second test shows that the plain blocks are plain.
    let large = |c| matches!(c, '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{17000}'..='\u{18cff}' | '\u{20000}'..);
    let all = ('\0'..='\u{e01ef}').filter(|&c| !large(c) || (c as u32).is_multiple_of(61));
    let all: Vec<char> = all.filter(|&c| ASSIGNED.contains(&c)).collect();
    assert!(all.len() > 40_000, "{}", all.len());
    for some in all.chunks(512) {
        let lines = some.iter().map(|c| format!("{c} a{c}b{c}{c}\u{301}{c}\u{345}\u{323}<{c}\n"));
        let text: String = lines.collect();
        assert_eq!(
            actual(&text, DEFAULT, 2),
            hashed(&reference(&text, DEFAULT, 2)),
            "{:?} to {:?}",
            some[0],
            some[some.len() - 1]
        );
    }
}

#[test]
fn letters_taken_for_plain_are_plain() {
    for c in ('\u{4e00}'..='\u{9fff}').chain('\u{ac00}'..='\u{d7a3}') {
        let mut bytes = [0; 4];
        let text: &str = c.encode_utf8(&mut bytes);
        assert!(FORMS.iter().all(|&form| normal(text, form) == text), "{c:?}");
        assert!(!SECOND.contains(&c), "{c:?}");
        assert!(WORDS.captures(text).unwrap().name("run").is_some(), "{c:?}");
    }
}

pub(in crate::text) fn characters() -> impl Strategy<Value = char> {
    let pool = |characters: &str| prop::sample::select(characters.chars().collect::<Vec<_>>());
    prop_oneof![
        4 => pool("abcxyzABCXYZ019_IisS"),
        3 => pool(" \t\n.,-=<>!?'\0\u{7f}"),
        // Marks: composing, reordering, folding to a letter, of other scripts.
        3 => pool("\u{301}\u{300}\u{308}\u{30a}\u{307}\u{338}\u{323}\u{327}\u{345}\u{3099}\u{309a}\u{e38}\u{e48}\u{64b}\u{654}\u{93c}\u{94d}\u{9be}\u{20e3}\u{1abf}\u{302a}"),
        2 => pool("\u{e9}\u{c9}\u{df}\u{1e9e}\u{130}\u{131}\u{149}\u{390}\u{3a3}\u{3c2}\u{1fb3}\u{1f80}\u{1c4}\u{401}\u{430}\u{587}\u{17f}\u{212a}\u{10a0}\u{ab70}"),
        2 => pool("\u{fb01}\u{fb03}\u{ff21}\u{ff11}\u{bd}\u{b2}\u{2474}\u{2160}\u{b4}\u{a8}\u{fdfa}\u{fdf2}\u{fefb}\u{2122}\u{3231}\u{33a1}\u{3000}\u{a0}"),
        2 => pool("\u{4e2d}\u{6587}\u{fa0e}\u{f900}\u{3007}\u{3005}\u{3042}\u{304b}\u{30ab}\u{30fc}\u{ff76}\u{ff9e}\u{3001}\u{20bb7}"),
        2 => pool("\u{1100}\u{1161}\u{11a8}\u{ac00}\u{ac01}\u{3131}\u{ffa1}\u{1175}\u{11c2}"),
        2 => pool("\u{e01}\u{e33}\u{e40}\u{e52}\u{eb3}\u{edc}\u{1780}\u{17d2}\u{1000}\u{102d}\u{1041}\u{915}\u{958}\u{9c7}\u{627}\u{644}\u{661}\u{5e9}\u{fb2a}"),
        1 => pool("\u{640}\u{628}\u{fe71}\u{fe77}\u{7fa}\u{180a}"),
        2 => pool("\u{ad}\u{200b}\u{200c}\u{200d}\u{200e}\u{2060}\u{feff}\u{fe0f}\u{34f}\u{115f}\u{3164}\u{ffa0}\u{e0100}"),
        1 => pool("\u{2bb}\u{2bc}\u{2bf}\u{2ee}\u{374}\u{149}\u{a78b}"),
        1 => pool("\u{1f44d}\u{1f3fd}\u{1f1e9}\u{263a}\u{2026}\u{2019}\u{2028}\u{85}\u{e000}\u{fffd}"),
        1 => any::<char>().prop_filter("assigned", |&c| ASSIGNED.contains(&c)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_text_is_tokenized_as_defined(
        characters in prop::collection::vec(characters(), 0..60),
        form in prop::sample::select(&FORMS[..]),
        units in 0..=UNITS_MAX,
        padding in prop::sample::select(vec![0, PIECE - 50, PIECE - 7]),
    ) {
        let text = ".".repeat(padding) + &String::from_iter(characters);
        let expected = hashed(&reference(&text, form, units));
        prop_assert_eq!(actual(&text, form, units), expected);
    }

    #[test]
    fn wrapped_text_is_tokenized_as_defined(
        characters in prop::collection::vec(prop::sample::select(
            "\n\n\n\n\r\u{4e2d}\u{6587}\u{3042}\u{304b}\u{3099}\u{3314}\u{ff76}\u{ff9e}\u{e01}\
             \u{e33}\
             \u{e48}\u{f42}\u{f7c}\u{f0b}\u{1000}\u{102d}\u{d55c}\u{1161}\u{301}\u{345}\u{e9}a .\
             \u{3002}\u{200b}\u{e52}\u{ad}\u{ad}\u{ad}\u{ad}xS\u{df}\u{fb01}\u{2bc}"
                .chars().collect::<Vec<_>>(),
        ), 0..40),
        form in prop::sample::select(&FORMS[..]),
        units in 0..=UNITS_MAX,
        padding in prop::sample::select(vec![0, PIECE - 50, PIECE - 20, PIECE - 7]),
    ) {
        let text = ".".repeat(padding) + &String::from_iter(characters);
        let expected = hashed(&reference(&text, form, units));
        prop_assert_eq!(actual(&text, form, units), expected);
    }
}
