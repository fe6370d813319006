//! Letters with two code points.
//!
//! NFKC unifies characters that Unicode defines as equal. Some letters have two code points that
//! NFKC distinguishes, because a different language needs the distinction or because of the history
//! of an encoding. The same text from two keyboards could then share no word:
//!
//! - Arabic script: the yeh and kaf of Persian and Urdu keyboards, the dotless yeh at the end of
//!   words, the heh of Urdu, heh with hamza, and the digits of Persian.
//! - Turkish: the dotted and the dotless i, which programs without support for Turkish confuse when
//!   they change the case of a text.
//! - Romanian: s and t with comma, or with the cedilla of older encodings.
//! - Devanagari: letters with and without the dot below (nukta), and the chandrabindu, which is
//!   often printed as an anusvara. Bengali keeps both signs, because they distinguish words.
//! - Malayalam and Bengali: final consonants as one character or with a virama.
//! - Cyrillic: yo, which Russian prints as ye.
//!
//! The mapping is to the simpler of the two code points. It belongs to the case-insensitive forms.
//! Without folding, letters remain as written.

/// Fills the second place of a letter that becomes a single character.
const NONE: char = '\0';

/// The dot above, which remains when a capital dotted i becomes small.
const DOT_ABOVE: char = '\u{307}';

/// Returns whether a character is dropped: the nukta of Devanagari.
pub(super) const fn is_left_out(c: char) -> bool {
    c == '\u{93c}'
}

/// Returns the characters that a letter is compared as, or `None` if the letter is unchanged.
#[inline]
pub(super) fn variant(c: char) -> Option<[char; 2]> {
    if c < '\u{130}' {
        return None;
    }
    Some(match c {
        '\u{130}' | '\u{131}' => ['i', NONE],
        '\u{218}' => ['\u{15e}', NONE],
        '\u{219}' => ['\u{15f}', NONE],
        '\u{21a}' => ['\u{162}', NONE],
        '\u{21b}' => ['\u{163}', NONE],
        '\u{401}' => ['\u{415}', NONE],
        '\u{451}' => ['\u{435}', NONE],
        '\u{649}' | '\u{6cc}' => ['\u{64a}', NONE],
        '\u{6a9}' => ['\u{643}', NONE],
        '\u{6c1}' => ['\u{647}', NONE],
        '\u{6c0}' | '\u{6c2}' => ['\u{647}', '\u{654}'],
        '\u{6f0}'..='\u{6f9}' => {
            [char::from_u32(c as u32 - 0x90).expect("a digit is a character"), NONE]
        }
        '\u{901}' => ['\u{902}', NONE],
        '\u{929}' => ['\u{928}', NONE],
        '\u{931}' => ['\u{930}', NONE],
        '\u{934}' => ['\u{933}', NONE],
        '\u{958}' => ['\u{915}', NONE],
        '\u{959}' => ['\u{916}', NONE],
        '\u{95a}' => ['\u{917}', NONE],
        '\u{95b}' => ['\u{91c}', NONE],
        '\u{95c}' => ['\u{921}', NONE],
        '\u{95d}' => ['\u{922}', NONE],
        '\u{95e}' => ['\u{92b}', NONE],
        '\u{95f}' => ['\u{92f}', NONE],
        '\u{9ce}' => ['\u{9a4}', '\u{9cd}'],
        '\u{d7a}' => ['\u{d23}', '\u{d4d}'],
        '\u{d7b}' => ['\u{d28}', '\u{d4d}'],
        '\u{d7c}' => ['\u{d30}', '\u{d4d}'],
        '\u{d7d}' => ['\u{d32}', '\u{d4d}'],
        '\u{d7e}' => ['\u{d33}', '\u{d4d}'],
        '\u{d7f}' => ['\u{d15}', '\u{d4d}'],
        _ => return None,
    })
}

/// Returns the character that a letter is compared as, or `None` for several characters.
pub(super) fn single(c: char) -> Option<char> {
    match variant(c) {
        None => Some(c),
        Some([first, NONE]) => Some(first),
        Some(_) => None,
    }
}

/// Returns whether any of the characters is compared as something else.
pub(super) fn has_variants(chars: &[char]) -> bool {
    chars.iter().any(|&c| variant(c).is_some() || c == DOT_ABOVE || is_left_out(c))
}

/// Appends characters to `unified`, in the form that is compared.
pub(super) fn extend(unified: &mut Vec<char>, chars: &[char]) {
    for &c in chars.iter().filter(|&&c| !is_left_out(c)) {
        if c == DOT_ABOVE && unified.last() == Some(&'i') {
            continue;
        }
        match variant(c) {
            None => unified.push(c),
            Some([first, NONE]) => unified.push(first),
            Some(both) => unified.extend(both),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stop;
    use crate::text::{Analyzer, Tokens};

    fn hashes(spec: &str, text: &str) -> Vec<u64> {
        let mut tokens = Tokens::default();
        spec.parse::<Analyzer>().unwrap().analyze(text, &mut tokens, Stop::NEVER).unwrap();
        tokens.hashes
    }

    /// Pairs of encodings of the same text.
    const SAME: [(&str, &str); 17] = [
        // Persian with the keyboards of Iran and of Arabic countries; Urdu.
        (
            "\u{6a9}\u{62a}\u{627}\u{628}\u{6cc} \u{6f1}\u{6f9}",
            "\u{643}\u{62a}\u{627}\u{628}\u{64a} \u{661}\u{669}",
        ),
        ("\u{6a9}\u{62a}\u{627}\u{628}\u{6cc}", "\u{643}\u{62a}\u{627}\u{628}\u{649}"),
        ("\u{6cc}\u{6c1} \u{6c1}\u{627}\u{62a}", "\u{64a}\u{647} \u{647}\u{627}\u{62a}"),
        ("\u{62e}\u{627}\u{646}\u{6c0}", "\u{62e}\u{627}\u{646}\u{647}\u{654}"),
        ("\u{62e}\u{627}\u{646}\u{6c2}", "\u{62e}\u{627}\u{646}\u{647}\u{654}"),
        ("\u{6cc}\u{654}", "\u{626}"),
        ("\u{fe8e}\u{fef2}\u{fb90}", "\u{627}\u{64a}\u{643}"),
        // Turkish in capitals, lower-cased with and without support for Turkish.
        ("I\u{15e}IK \u{130}Y\u{130}", "\u{131}\u{15f}\u{131}k iyi"),
        ("\u{130}STANBUL", "i\u{307}stanbul"),
        ("I\u{307}stanbul", "\u{131}stanbul"),
        // Romanian with comma and cedilla.
        ("\u{219}tiin\u{21b}\u{103} \u{218}I", "\u{15f}tiin\u{163}\u{103} s\u{327}i"),
        ("s\u{326}i", "\u{15f}i"),
        // Hindi with and without the nukta, with chandrabindu and anusvara.
        ("\u{91c}\u{93c}\u{930}\u{93e} \u{95e}\u{929}", "\u{91c}\u{930}\u{93e} \u{92b}\u{928}"),
        ("\u{939}\u{93e}\u{901}", "\u{939}\u{93e}\u{902}"),
        // Malayalam and Bengali, with final consonants in both encodings.
        ("\u{d05}\u{d35}\u{d7b}", "\u{d05}\u{d35}\u{d28}\u{d4d}\u{200d}"),
        ("\u{9b9}\u{9a0}\u{9be}\u{9ce}", "\u{9b9}\u{9a0}\u{9be}\u{9a4}\u{9cd}\u{200d}"),
        // Russian with yo and ye.
        ("\u{401}\u{43b}\u{43a}\u{430} \u{435}\u{308}", "\u{435}\u{43b}\u{43a}\u{430} \u{435}"),
    ];

    #[test]
    fn a_text_is_the_same_in_each_of_its_encodings() {
        for (one, other) in SAME {
            for spec in ["words", "letters", "chars"] {
                assert_eq!(hashes(spec, one), hashes(spec, other), "{spec} {one} {other}");
            }
            let plain = "words(fold=0)";
            assert_ne!(hashes(plain, one), hashes(plain, other), "{one}");
        }
    }

    #[test]
    fn letters_that_tell_words_apart_stay_apart() {
        for (one, other) in [
            // The anusvara and chandrabindu of Bengali, aspirates of Urdu, ye of Urdu.
            ("\u{99a}\u{9be}\u{981}\u{9a6}", "\u{99a}\u{9be}\u{982}\u{9a6}"),
            ("\u{628}\u{6be}\u{6cc}", "\u{628}\u{6c1}\u{6cc}"),
            ("\u{633}\u{6d2}", "\u{633}\u{6cc}"),
            ("\u{e9}t\u{e9}", "ete"),
            ("\u{43c}\u{43e}\u{439}", "\u{43c}\u{43e}\u{438}"),
        ] {
            assert_ne!(hashes("words", one), hashes("words", other), "{one} {other}");
        }
    }

    #[test]
    fn variants_have_no_variants() {
        for c in ('\0'..=char::MAX).filter(|&c| variant(c).is_some()) {
            let mut once = Vec::new();
            extend(&mut once, &[c]);
            assert!(!has_variants(&once), "{c:?}");
            assert!(!c.is_ascii(), "{c:?}");
        }
    }
}
