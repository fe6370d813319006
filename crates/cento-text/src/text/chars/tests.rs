use super::*;
use crate::text::normalize::is_apostrophe;
use crate::text::tokenize::tests::{APOSTROPHES, DEFAULT, characters, decomposed, map};
use crate::text::{Analyzer, Tokens};
use proptest::prelude::*;
use regex::Regex;
use std::sync::LazyLock;

fn tokens(kind: CharKind, text: &str) -> Tokens {
    let mut tokens = Tokens::default();
    Characters::new(kind, Folds::NONE).tokenize(text, &mut tokens, Stop::NEVER).unwrap();
    assert_eq!(tokens.hashes.len(), tokens.spans.len());
    for span in &tokens.spans {
        let piece = text.get(span.start as usize..span.end as usize);
        assert!(piece.is_some_and(|piece| !piece.is_empty()), "{text}");
    }
    tokens
}

fn check(kind: CharKind, text: &str, expected: &[&str]) {
    let wanted: Vec<u64> = expected.iter().map(|sign| hash_bytes(sign.as_bytes())).collect();
    assert_eq!(tokens(kind, text).hashes, wanted, "{text}");
}

/// Checks that each token is a character of `expected`.
fn check_signs(kind: CharKind, text: &str, expected: &str) {
    let mut bytes = [[0; 4]; 64];
    let signs = expected.chars().zip(&mut bytes).map(|(c, bytes)| &*c.encode_utf8(bytes));
    check(kind, text, &signs.collect::<Vec<_>>());
}

/// A letter or digit with its marks, or any other character.
static GROUPS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(&format!(r"(?<sign>[[\p{{L}}\p{{N}}]--[{APOSTROPHES}]]\p{{M}}*)|\P{{M}}")).unwrap()
});

/// Returns the tokens of a text with their ranges. The text is normalized as a whole, and then cut
/// into groups.
fn reference(text: &str) -> Vec<(String, usize, usize)> {
    let (normal, sources) = map(text, DEFAULT, true);
    let sign = |group: &regex::Captures<'_>| {
        let (all, sign) = (group.get(0).unwrap(), group.name("sign"));
        let sign = sign.map_or("_", |sign| sign.as_str());
        (sign.to_owned(), sources[all.start()].0, sources[all.end() - 1].1)
    };
    let groups: Vec<_> = GROUPS.captures_iter(&normal).map(|group| sign(&group)).collect();
    if text.is_ascii() || groups.iter().any(|group| group.0 != "_") {
        return groups;
    }
    let (normal, sources) = map(text, DEFAULT, false);
    let seen = normal.char_indices().filter(|(_, c)| !c.is_whitespace());
    seen.map(|(at, c)| (c.to_string(), sources[at].0, sources[at].1)).collect()
}

fn check_reference(text: &str) -> std::result::Result<(), TestCaseError> {
    let expected = reference(text);
    let Tokens { hashes, spans } = tokens(CharKind::Chars, text);
    let wanted: Vec<u64> = expected.iter().map(|sign| hash_bytes(sign.0.as_bytes())).collect();
    prop_assert_eq!(&hashes, &wanted, "{}", text);
    for ((sign, start, end), span) in expected.iter().zip(&spans) {
        let found = (span.start as usize, span.end as usize);
        // A sign of ASCII is read separately from the rest of its segment.
        let before = text.get(*start..found.0).unwrap_or_default();
        let is_later = before.starts_with('_') && found.1 == *end;
        let is_it = found == (*start, *end) || is_later || sign == "_";
        prop_assert!(is_it, "{text}: {sign} {found:?}");
    }
    prop_assert!(spans.is_sorted_by_key(|span| span.start), "{}", text);
    // Consonants keep the signs of letters other than the five vowels.
    let is_letter = |c: char| is_letter(c) && !is_apostrophe(c);
    let is_kept = |sign: &str| {
        let c = sign.chars().next().unwrap();
        is_letter(c) && !"aeiou".contains(decomposed(c))
    };
    if expected.iter().any(|(sign, ..)| is_letter(sign.chars().next().unwrap())) {
        let kept = expected.iter().filter(|(sign, ..)| sign != "_" && is_kept(sign));
        let kept: Vec<u64> = kept.map(|sign| hash_bytes(sign.0.as_bytes())).collect();
        prop_assert_eq!(tokens(CharKind::Consonants, text).hashes, kept, "{}", text);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text_is_read_group_by_group(
        characters in prop::collection::vec(characters(), 0..60),
        padding in prop::sample::select(vec![0, PIECE - 50, PIECE - 3]),
        pad in prop::sample::select(vec![".", "b"]),
    ) {
        check_reference(&(pad.repeat(padding) + &String::from_iter(characters)))?;
    }

    #[test]
    fn a_text_of_ascii_is_read_as_in_the_papers(text in "[ -~\n\t]{0,80}") {
        let sign = |byte: u8| if byte.is_ascii_alphanumeric() { byte } else { b'_' };
        let signs = text.to_ascii_lowercase().into_bytes().into_iter().map(sign);
        let found = tokens(CharKind::Chars, &text);
        prop_assert_eq!(found.hashes, signs.map(|sign| hash_bytes(&[sign])).collect::<Vec<_>>());
        let is_each = |(at, span): (u32, &Span)| *span == Span { start: at, end: at + 1 };
        prop_assert!((0..).zip(&found.spans).all(is_each));
        let lower = text.to_ascii_lowercase();
        let kept = lower.bytes().filter(|b| b.is_ascii_lowercase() && !b"aeiou".contains(b));
        let kept: Vec<u64> = kept.map(|sign| hash_bytes(&[sign])).collect();
        prop_assert_eq!(tokens(CharKind::Consonants, &text).hashes, kept);
    }
}

#[test]
fn letters_are_the_signs_without_those_between() {
    for text in ["A b-9\u{e9}!", "re\u{301} \u{301}x", "\u{915}\u{93f}, \u{4e2d}\u{6587}\u{bd}"] {
        let mut signs = tokens(CharKind::Chars, text).hashes;
        signs.retain(|&hash| hash != hash_bytes(b"_"));
        assert_eq!(tokens(CharKind::Letters, text).hashes, signs, "{text}");
    }
    check_signs(CharKind::Letters, "Frank-\nreich", "frankreich");
    check_signs(CharKind::Letters, "!!! ?", "!!!?");
}

#[test]
fn texts_become_signs() {
    check_signs(CharKind::Chars, "A b-9\u{e9}!", "a_b_9\u{e9}_");
    check_signs(CharKind::Consonants, "Koala, Y\u{e9}s: 20", "klys");
    let expected = ["A".as_bytes(), &[0xc3], &[0xa9], b" ", b"b"];
    let expected: Vec<u64> = expected.map(hash_bytes).to_vec();
    assert_eq!(tokens(CharKind::Bytes, "A\u{e9} b").hashes, expected);
    assert_eq!(tokens(CharKind::Bytes, "A\u{e9} b").spans[2], Span { start: 1, end: 3 });
}

#[test]
fn letters_of_all_scripts_are_kept_with_their_marks() {
    let chars = |text, expected: &[&str]| check(CharKind::Chars, text, expected);
    // Russian, composed and not; Greek with accents and a final sigma; Hindi; Chinese; Thai.
    chars(
        "\u{419}\u{43e}\u{434}, \u{438}\u{306}",
        &["\u{439}", "\u{43e}", "\u{434}", "_", "_", "\u{439}"],
    );
    chars("\u{39f}\u{1f50}\u{3c2}", &["\u{3bf}", "\u{1f50}", "\u{3c3}"]);
    chars("\u{3ac} \u{3b1}\u{301}", &["\u{3ac}", "_", "\u{3ac}"]);
    chars(
        "\u{939}\u{93f}\u{928}\u{94d}\u{926}\u{940}",
        &["\u{939}\u{93f}", "\u{928}\u{94d}", "\u{926}\u{940}"],
    );
    chars("\u{4e2d}\u{6587}\u{3002}", &["\u{4e2d}", "\u{6587}", "_"]);
    chars("\u{e19}\u{e49}\u{e52}", &["\u{e19}\u{e49}", "\u{e52}"]);
    // Digits of other scripts, a ligature, a letter that folds to two, a fraction.
    chars("\u{663}\u{fb01}\u{df}", &["\u{663}", "f", "i", "s", "s"]);
    chars("\u{bd}", &["1", "_", "2"]);
    // Emoji are signs between letters. Joiners between emoji, and selectors, are omitted.
    chars("a\u{1f468}\u{200d}\u{1f469}b\u{fe0f}", &["a", "_", "_", "b"]);
    chars("1\u{fe0f}\u{20e3}", &["1\u{20e3}"]);
    // A letter with more marks than a segment has room for is a single token.
    let marks = format!("e{}", "\u{316}".repeat(300));
    chars(&format!("{marks}x"), &[&marks, "x"]);
}

#[test]
fn a_line_end_within_text_without_spaces_is_no_sign() {
    check_signs(CharKind::Chars, "\u{4e2d}\n\u{6587}\r\n\u{5b57}", "\u{4e2d}\u{6587}\u{5b57}");
    check(CharKind::Chars, "\u{f42}\n\u{f7c}x", &["\u{f42}\u{f7c}", "x"]);
    check_signs(
        CharKind::Chars,
        "\u{4e2d}\n\n\u{6587} \u{5b57}\na\u{d55c}\n\u{ae00}",
        "\u{4e2d}__\u{6587}_\u{5b57}_a\u{d55c}_\u{ae00}",
    );
}

#[test]
fn a_line_end_after_a_soft_hyphen_is_no_sign() {
    check_signs(
        CharKind::Chars,
        "aa\u{ad}\nb\u{e9}\u{ad}\r\n\u{e9} c\u{ad}\n1",
        "aab\u{e9}\u{e9}_c_1",
    );
    // Letters that read like apostrophes are between words.
    check_signs(CharKind::Chars, "Hawai\u{2bb}\u{ad}\ni", "hawai__i");
    check_signs(CharKind::Chars, "\u{e9}\u{ad}\n\u{2bc}", "\u{e9}__");
}

#[test]
fn joiners_that_join_nothing_are_left_out() {
    // A mark after a sign or at the beginning, a joiner without neighbors.
    check_signs(CharKind::Chars, "\u{301}a \u{301}b!\u{93f}", "a_b_");
    check(CharKind::Chars, "\u{200d}a\u{200d}\u{200d}\u{94d}", &["a\u{94d}"]);
}

#[test]
fn texts_beyond_ascii_without_a_letter_differ_if_their_signs_do() {
    check_signs(CharKind::Chars, "!!! ?", "_____");
    check_signs(CharKind::Chars, "!\u{2026}?", "!...?");
    check_signs(CharKind::Chars, "\u{1f44d} \u{1f389}", "\u{1f44d}\u{1f389}");
    check_signs(CharKind::Chars, " \n\u{a0}", "");
    // With a letter, of any script or within a symbol, symbols are only signs between letters.
    check_signs(CharKind::Chars, "!? \u{436}", "___\u{436}");
    check_signs(CharKind::Chars, "!\u{2122}", "_tm");
}

#[test]
fn unrelated_texts_of_another_script_have_no_run_of_characters_in_common() {
    let runs = |spec: &str, text: &str| {
        let (mut tokens, analyzer) = (Tokens::default(), spec.parse::<Analyzer>().unwrap());
        analyzer.analyze(text, &mut tokens, Stop::NEVER).unwrap();
        tokens.hashes.windows(5).map(<[u64]>::to_vec).collect::<Vec<_>>()
    };
    let one =
        "\u{43c}\u{44b}\u{448}\u{44c} \u{441}\u{44a}\u{435}\u{43b}\u{430} \u{441}\u{44b}\u{440}";
    let other = "\u{434}\u{43e}\u{436}\u{434}\u{44c} \u{438}\u{434}\u{451}\u{442} \u{432}\u{435}\u{437}\u{434}\u{435}";
    for spec in ["chars", "consonants", "bytes"] {
        let (one, other) = (runs(spec, one), runs(spec, other));
        assert!(one.len() > 5 && other.len() > 5, "{spec}");
        assert!(one.iter().all(|run| !other.contains(run)), "{spec}");
    }
}

#[test]
fn every_character_is_read_as_defined() {
    let all =
        ('\0'..='\u{1ffff}').filter(|&c| (c as u32) < 0x3400 || (c as u32).is_multiple_of(29));
    let assigned = Regex::new(r"^\P{Cn}$").unwrap();
    let all = all.filter(|c| assigned.is_match(c.encode_utf8(&mut [0; 4])));
    for some in all.collect::<Vec<_>>().chunks(256) {
        let lines = some.iter().map(|c| format!("{c} a{c}b{c}{c}\u{301}{c}\u{345}\u{323}<{c}\n"));
        check_reference(&lines.collect::<String>()).unwrap();
    }
    for c in '\0'..=char::MAX {
        let mut has = false;
        let mut normalizer = Normalizer::new(DEFAULT, Stop::NEVER);
        let mut sink = Joining(&mut has);
        normalizer.normalize(c.encode_utf8(&mut [0; 4]), 0, &mut sink).unwrap();
        assert!(!has, "{c:?}");
    }
}

/// Records connector punctuation that is taken for a letter.
struct Joining<'a>(&'a mut bool);

impl CharSink for Joining<'_> {
    fn accept(&mut self, c: char, class: Class, _: Span) {
        use crate::text::unicode::{WordCategory, category};
        *self.0 |= is_sign(c, class) && category(c) == WordCategory::Pc;
    }
}
