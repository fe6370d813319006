//! Folding: spellings of the same word that are equal on request.
//!
//! Normal forms and case folding make characters equal that differ in encoding or case (see
//! [`super::normalize`]). The spellings of a word also differ between centuries, editors and
//! keyboards: `vnd` and `und`, Greek with and without accents, `ue` for u with an umlaut. Each
//! difference has a name in the parameter `folds` of an analyzer. Folds are off by default, because
//! they also make different words equal (`schon`, and the same letters with an umlaut, by `marks`).
//!
//! Letters are folded between decomposition and composition. A fold then sees the base of a letter
//! and each of its marks, and all other letters keep their normal form. The marks are the marks of
//! Lucene's ICUFoldingFilter (UTR 30, "Diacritic Folding"), except marks that readers take for
//! letters: vowel signs of India, tones of Thai, voiced kana.
//!
//! [`super::hyphens`] joins words at line ends, [`super::numbers`] finds the numbers of lines.

use super::unicode::normal::combining_class;
use crate::spec::{Parameter, Spec};

/// The spellings that are equal, as bits in the order of [`NAMES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Folds(u8);

const NAMES: [&str; 8] =
    ["marks", "uv", "ij", "ligatures", "forms", "umlauts", "hyphens", "numbers"];

/// The parameter of analyzers.
pub(super) const FOLDS: Parameter = Parameter::set(
    "folds",
    &NAMES,
    "spellings that are equal: `marks`, letters with and without accents, breathings, strokes and \
     vowel points; `uv`, v and u; `ij`, j and i; `ligatures`, `ae` and `oe` in one letter or two; \
     `forms`, long s and s, round r and r, the sigmas; `umlauts`, a, o and u with an umlaut and \
     ae, oe and ue; `hyphens`, a word that a line end divides and the whole word; `numbers`, texts \
     with and without the numbers of their lines, verses or notes",
);

impl Folds {
    pub(super) const NONE: Folds = Folds(0);
    const MARKS: Folds = Folds(1);
    const UV: Folds = Folds(1 << 1);
    const IJ: Folds = Folds(1 << 2);
    const LIGATURES: Folds = Folds(1 << 3);
    const FORMS: Folds = Folds(1 << 4);
    const UMLAUTS: Folds = Folds(1 << 5);
    pub(super) const HYPHENS: Folds = Folds(1 << 6);
    const NUMBERS: Folds = Folds(1 << 7);

    pub(super) fn of(spec: &Spec) -> Folds {
        Folds(u8::try_from(spec.get(FOLDS.name)).expect("there are eight"))
    }

    pub(super) fn value(self) -> u32 {
        self.0.into()
    }

    const fn has(self, fold: Folds) -> bool {
        self.0 & fold.0 != 0
    }

    pub(super) const fn of_letters(self) -> Folds {
        Folds(self.0 & !(Folds::HYPHENS.0 | Folds::NUMBERS.0))
    }

    pub(super) const fn joins_lines(self) -> bool {
        self.has(Folds::HYPHENS)
    }

    /// Returns whether the numbers of lines are removed.
    pub(super) const fn leaves_out_numbers(self) -> bool {
        self.has(Folds::NUMBERS)
    }

    /// Returns the folds that change a text before it is cut into words.
    pub(super) const fn of_lines(self) -> Folds {
        Folds(self.0 & (Folds::HYPHENS.0 | Folds::NUMBERS.0))
    }

    /// Returns these folds without the joining of words at line ends.
    pub(super) const fn without_hyphens(self) -> Folds {
        Folds(self.0 & !Folds::HYPHENS.0)
    }

    pub(super) const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Returns the bits of the folds of letters, less than 64.
    pub(super) const fn number(self) -> usize {
        self.of_letters().0 as usize
    }

    #[inline]
    pub(super) const fn change_ascii(self) -> bool {
        self.has(Folds(Folds::UV.0 | Folds::IJ.0))
    }

    #[inline(always)]
    pub(super) const fn ascii(self, byte: u8) -> u8 {
        match byte | 0x20 {
            b'v' if self.has(Folds::UV) => byte - 1,
            b'j' if self.has(Folds::IJ) => byte - 1,
            _ => byte,
        }
    }

    /// Returns whether the folding of the preceding letter depends on `mark`.
    pub(super) fn is_of_letter_before(self, mark: char) -> bool {
        self.has(Folds::UMLAUTS) && is_umlaut(mark)
    }

    /// Appends characters in a decomposed normal form to `folded`.
    pub(super) fn extend(self, folded: &mut Vec<char>, decomposed: &[char]) {
        let mut rest = decomposed;
        while let [letter, after @ ..] = rest {
            let marks = after.iter().take_while(|&&mark| combining_class(mark) != 0).count();
            let (marks, after) = after.split_at(marks);
            rest = after;
            // Marks without a letter, such as marks after a cut of a long segment, are folded as
            // marks too.
            if !(self.has(Folds::MARKS) && is_diacritic(*letter)) {
                self.push(folded, *letter);
            }
            let is_base = matches!(letter, 'a' | 'o' | 'u' | 'A' | 'O' | 'U');
            let has_umlaut =
                self.has(Folds::UMLAUTS) && is_base && marks.iter().any(|&mark| is_umlaut(mark));
            let is_kept = |mark: &&char| {
                !(has_umlaut && is_umlaut(**mark) || self.has(Folds::MARKS) && is_diacritic(**mark))
            };
            folded.extend(marks.iter().filter(is_kept));
            if has_umlaut {
                folded.push('e');
            }
        }
    }

    /// Appends a letter without its marks.
    fn push(self, folded: &mut Vec<char>, letter: char) {
        if let Some(parts) = self.has(Folds::LIGATURES).then(|| parts(letter)).flatten() {
            folded.extend(parts.bytes().map(|part| char::from(self.ascii(part))));
            return;
        }
        let mut letter = letter;
        if self.has(Folds::MARKS) {
            letter = without_stroke(letter);
        }
        if self.has(Folds::FORMS) {
            letter = of_form(letter);
        }
        folded.push(match u8::try_from(letter) {
            Ok(byte) if byte.is_ascii() => char::from(self.ascii(byte)),
            _ => letter,
        });
    }
}

/// Returns whether a mark is an umlaut: two dots, or the small e of early printed books.
fn is_umlaut(mark: char) -> bool {
    matches!(mark, '\u{308}' | '\u{364}')
}

/// Returns whether a mark is an accent, a breathing or a vowel point, from the blocks for Latin,
/// Greek and Cyrillic, or from Hebrew and Arabic.
fn is_diacritic(mark: char) -> bool {
    matches!(mark,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{487}' | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}' | '\u{fe20}'..='\u{fe2f}'
        | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}'..='\u{5c2}' | '\u{5c4}'..='\u{5c5}'
        | '\u{5c7}' | '\u{64b}'..='\u{652}' | '\u{670}')
}

/// Returns a letter without its stroke, which Unicode counts as part of the letter.
fn without_stroke(letter: char) -> char {
    match letter {
        '\u{f8}' => 'o',
        '\u{d8}' => 'O',
        '\u{111}' => 'd',
        '\u{110}' => 'D',
        '\u{127}' => 'h',
        '\u{126}' => 'H',
        '\u{142}' => 'l',
        '\u{141}' => 'L',
        '\u{167}' => 't',
        '\u{166}' => 'T',
        '\u{131}' => 'i',
        _ => letter,
    }
}

/// Returns the usual form of a letter: s for long s, r for round r, the medial sigma.
fn of_form(letter: char) -> char {
    match letter {
        '\u{17f}' => 's',
        '\u{a75b}' => 'r',
        '\u{a75a}' => 'R',
        '\u{3c2}' | '\u{3f2}' => '\u{3c3}',
        '\u{3f9}' => '\u{3a3}',
        _ => letter,
    }
}

/// Returns the letters of a ligature that NFKC does not decompose.
fn parts(letter: char) -> Option<&'static str> {
    Some(match letter {
        '\u{e6}' => "ae",
        '\u{c6}' => "AE",
        '\u{153}' => "oe",
        '\u{152}' => "OE",
        '\u{a733}' => "aa",
        '\u{a732}' => "AA",
        '\u{a735}' => "ao",
        '\u{a734}' => "AO",
        '\u{a737}' => "au",
        '\u{a736}' => "AU",
        '\u{a739}' => "av",
        '\u{a738}' => "AV",
        '\u{a73d}' => "ay",
        '\u{a73c}' => "AY",
        '\u{a74f}' => "oo",
        '\u{a74e}' => "OO",
        '\u{a761}' => "vy",
        '\u{a760}' => "VY",
        '\u{1d6b}' => "ue",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stop;
    use crate::hash::hash_bytes;
    use crate::text::normalize::{CharForm, normal_form};
    use crate::text::prepared::FORM;
    use crate::text::{Analyzer, Tokens};
    use caseless::Caseless;
    use proptest::prelude::*;
    use unicode_normalization::UnicodeNormalization;

    fn tokens(spec: &str, text: &str) -> Tokens {
        let mut tokens = Tokens::default();
        spec.parse::<Analyzer>().unwrap().analyze(text, &mut tokens, Stop::NEVER).unwrap();
        tokens
    }

    /// Checks that two spellings are equal with a fold, and differ without any.
    fn check(fold: &str, one: &str, other: &str) {
        for family in ["words", "letters", "chars", "prefixes"] {
            let values = if family == "prefixes" { "n=64," } else { "" };
            let folded = format!("{family}({values}folds={fold})");
            let plain = format!("{family}({})", values.trim_end_matches(','));
            let hashes = |spec: &str, text| tokens(spec, text).hashes;
            assert_eq!(hashes(&folded, one), hashes(&folded, other), "{folded}: {one} {other}");
            assert_ne!(hashes(&plain, one), hashes(&plain, other), "{plain}: {one} {other}");
        }
    }

    #[test]
    fn spellings_of_one_word_are_equal() {
        check("marks", "\u{c9}t\u{e9}", "ete");
        check("marks", "e\u{301}te\u{301}", "\u{c9}te");
        check("marks", "\u{141}\u{f3}d\u{17a} K\u{f8}benhavn", "Lodz Kobenhavn");
        // Greek with accents, a breathing, an iota below; Hebrew and Arabic with points.
        check(
            "marks",
            "\u{1f08}\u{3b8}\u{3ae}\u{3bd}\u{1fc3}",
            "\u{3b1}\u{3b8}\u{3b7}\u{3bd}\u{3b7}",
        );
        check("marks", "\u{5e9}\u{5c1}\u{5b8}\u{5dc}", "\u{5e9}\u{5dc}");
        check("marks", "\u{643}\u{64e}\u{62a}\u{64e}\u{628}", "\u{643}\u{62a}\u{628}");
        check("uv", "vnd Vber heauen", "und Uber heaven");
        check("ij", "iudge IESU", "judge jesu");
        check("ligatures", "\u{c6}neas c\u{153}ur \u{1fd}", "aeneas coeur a\u{e9}");
        check("forms", "fu\u{a75b}", "fur");
        check(
            "umlauts",
            "\u{dc}ber, Ha\u{308}user, gro\u{364}\u{df}er",
            "Ueber, haeuser, groesser",
        );
        check("marks+uv+umlauts", "V\u{308}ber f\u{fc}r", "uber fuer");
        check("forms+uv", "\u{a75b}eue\u{a75b}", "rever");
    }

    #[test]
    fn a_word_over_a_line_end_is_whole_where_it_was() {
        for spec in ["words(folds=hyphens)", "prefixes(n=64,folds=hyphens)"] {
            let found = tokens(spec, "in Frank-\n reich, in");
            assert_eq!(found.hashes, tokens("words", "in Frankreich, in").hashes, "{spec}");
            assert_eq!((found.spans[1].start, found.spans[1].end), (3, 16), "{spec}");
        }
        assert_eq!(
            tokens("letters", "Frank-\nreich").hashes,
            tokens("letters", "frankreich").hashes
        );
    }

    #[test]
    fn numbers_of_lines_are_left_out_on_request() {
        let (with, without) = (
            "1 in Frank-\n2 reich, in\n3 the end\n4 of it",
            "in Frank-\nreich, in\nthe end\nof it",
        );
        for family in ["words", "letters", "chars", "prefixes"] {
            let spec = format!(
                "{family}({}folds=numbers)",
                if family == "prefixes" { "n=64," } else { "" }
            );
            let (with, without) = (tokens(&spec, with), tokens(&spec, without));
            assert_eq!(with.hashes, without.hashes, "{spec}");
        }
        let found = tokens("words(folds=numbers)", with);
        assert_eq!((found.spans[0].start, found.spans[0].end), (2, 4));
    }

    #[test]
    fn long_s_and_sigmas_are_equal_by_form_where_case_is_not_folded() {
        let hashes = |spec: &str, text| tokens(spec, text).hashes;
        for (one, other) in [("\u{17f}o", "so"), ("\u{3c3}\u{3bf}\u{3c2}", "\u{3c3}\u{3bf}\u{3f2}")]
        {
            for (spec, are_equal) in [
                ("words(nfkc=0,fold=0)", false),
                ("words(nfkc=0,fold=0,folds=forms)", true),
                ("words", true),
            ] {
                assert_eq!(hashes(spec, one) == hashes(spec, other), are_equal, "{spec} {one}");
            }
        }
    }

    #[test]
    fn letters_of_other_scripts_keep_their_marks() {
        // Hindi, Thai, Japanese, Cyrillic without the fold.
        for (one, other) in
            [("\u{915}\u{93f}", "\u{915}"), ("\u{e19}\u{e49}", "\u{e19}"), ("\u{304c}", "\u{304b}")]
        {
            let spec = "words(folds=marks+uv+ij+ligatures+forms+umlauts+hyphens)";
            assert_ne!(tokens(spec, one).hashes, tokens(spec, other).hashes, "{one}");
        }
    }

    /// Returns the folded form of a word, by replacing strings in sequence.
    fn by_replacing(word: &str, folds: Folds) -> String {
        let mut text: String = word.nfkd().collect();
        let mut replace = |fold, from: &[&str], to: &str| {
            if folds.has(fold) {
                from.iter().for_each(|from| text = text.replace(from, to));
            }
        };
        for (base, upper) in [("a", "A"), ("o", "O"), ("u", "U")] {
            for (base, mark) in [(base, "\u{308}"), (base, "\u{364}")] {
                replace(Folds::UMLAUTS, &[&format!("{base}{mark}")], &format!("{base}e"));
            }
            replace(Folds::UMLAUTS, &[&format!("{upper}\u{308}")], &format!("{upper}e"));
        }
        replace(
            Folds::MARKS,
            &[
                "\u{301}", "\u{300}", "\u{308}", "\u{364}", "\u{313}", "\u{345}", "\u{30c}",
                "\u{306}",
            ],
            "",
        );
        replace(Folds::MARKS, &["\u{f8}"], "o");
        replace(Folds::LIGATURES, &["\u{e6}"], "ae");
        replace(Folds::LIGATURES, &["\u{c6}"], "AE");
        replace(Folds::LIGATURES, &["\u{a739}"], "av");
        replace(Folds::FORMS, &["\u{a75b}"], "r");
        replace(Folds::UV, &["v"], "u");
        replace(Folds::UV, &["V"], "U");
        replace(Folds::IJ, &["j"], "i");
        replace(Folds::IJ, &["J"], "I");
        text.nfkc().default_case_fold().nfkc().collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn words_are_those_without_folds_each_folded(
            parts in prop::collection::vec(prop::sample::select(vec![
                "a", "V", "v", "j", "Jo", "u", "U", "o", " ", ", ", "\u{fc}", "u\u{308}",
                "u\u{364}", "\u{e9}", "e\u{301}", "\u{c6}", "\u{1fd}", "\u{a739}", "\u{a75b}",
                "\u{17f}", "\u{f8}", "\u{1fb3}", "\u{1f00}", "\u{3c2}", "\u{df}", "\u{ff36}",
                "\u{4e00}\u{4e8c}", "\u{915}\u{93f}", "\u{43a}\u{439}", "\u{fb05}", "\u{1f0}",
                "word", "\u{ad}", "-",
            ]), 0..40),
            folds in 0u8..64,
            padding in prop::sample::select(vec![0, 1010, 1023]),
        ) {
            let text = format!("x{} {}", " ".repeat(padding), parts.concat());
            let spec = format!("words(folds={})", FOLDS.written(folds.into()));
            let (plain, folded) = (tokens("words", &text), tokens(&spec, &text));
            prop_assert_eq!(&plain.spans, &folded.spans, "{}", text);
            for (span, hash) in folded.spans.iter().zip(folded.hashes) {
                let word = &text[span.start as usize..span.end as usize];
                let word: String = word.chars().filter(|&c| c != '\u{ad}').collect();
                let expected = by_replacing(&word, Folds(folds));
                prop_assert_eq!(hash, hash_bytes(expected.as_bytes()), "{} {}", spec, word);
            }
        }
    }

    #[test]
    fn folding_twice_changes_nothing() {
        for folds in (0..6).map(|bit| Folds(1 << bit)).chain([Folds(63)]) {
            let form = CharForm { folds, ..FORM };
            for c in ('\0'..='\u{1ffff}').filter(|c| !('\u{3400}'..'\u{a000}').contains(c)) {
                let once = normal_form(c.encode_utf8(&mut [0; 4]), form);
                assert_eq!(normal_form(&once, form), once, "{c:?} {folds:?}");
            }
        }
    }
}
