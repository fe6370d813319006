//! Passages in scripts without spaces, where tokens are pairs of letters.

use crate::passages::found_by_all;

/// Two texts that share a name, and the name, in Thai, Japanese and Chinese: a university, a
/// provider, a committee. Each name has more than 12 pairs of letters, but fewer words.
fn texts() -> impl Iterator<Item = [&'static str; 3]> {
    let lines = include_str!("../data/unspaced.txt").lines();
    lines.map(|line| {
        let texts: Vec<&str> = line.split('\t').collect();
        texts.try_into().expect("a line has two texts and a name")
    })
}

const SCHEME: &str = "winnow(k=5,w=10)";

#[test]
fn a_name_in_a_script_without_spaces_is_no_passage() {
    for [one, other, _] in texts() {
        for min in [None, Some(12)] {
            let found = found_by_all(SCHEME, [one, other], min);
            assert!(found.iter().all(Vec::is_empty), "{one} {min:?}: {found:?}");
        }
    }
}

#[test]
fn a_passage_in_a_script_without_spaces_has_words_enough() {
    for [one, other, _] in texts() {
        let longer = format!("{one} {other}");
        for (min, is_found) in [(None, true), (Some(12), true), (Some(30), false)] {
            let found = found_by_all(SCHEME, [one, &longer], min);
            assert!(found.iter().all(|of| of.is_empty() != is_found), "{one} {min:?}: {found:?}");
        }
    }
}

#[test]
fn a_short_text_in_a_script_without_spaces_is_found_in_another() {
    // The name has fewer words than a passage, but it is a whole text.
    for [text, _, name] in texts() {
        let found = found_by_all(SCHEME, [name, text], None);
        assert!(found.iter().all(|of| of.len() == 1), "{name}: {found:?}");
    }
}
