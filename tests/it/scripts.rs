//! Finds copies and passages with edits in eight languages, and texts of a few words.
//!
//! Texts, edits and queries are always the same. The bounds are the measured shares minus 5 points.
//! `cento-research scripts` prints such figures.

use crate::common::udhr::{Articles, CHANGES, Change, Found, Kind, LANGUAGES, Setting, ShortTexts};
use cento::search::Rank;

const DEFAULT: Setting = Setting { scheme: "winnow(k=5,w=10)", rank: Rank::Overlap };
const REUSE: Setting = Setting { scheme: "reuse", rank: Rank::Weight };

/// The words edited, in a hundred.
const EDITS: [u32; 3] = [5, 10, 20];

/// Bounds in per cent, for copies and then for passages, at each share of edits: the minimum share
/// of queries with a correct first hit, and the minimum share of copied bytes that passages cover.
/// The last bound is the maximum share of bytes in passages that are not copied.
type Bounds = (&'static str, [u32; 3], [u32; 3], [u32; 3], [u32; 3], u32);

fn check(setting: Setting, bounds: [Bounds; 8]) {
    let articles = Articles::new(setting).unwrap();
    let mut missed = Vec::new();
    for (language, bounds) in LANGUAGES.iter().zip(bounds) {
        let (code, copies, covered_copies, passages, covered_passages, beside) = bounds;
        assert_eq!(code, language.code);
        for (kind, first, covered) in
            [(Kind::Copy, copies, covered_copies), (Kind::Passage, passages, covered_passages)]
        {
            for (at, edits) in EDITS.into_iter().enumerate() {
                let found = articles.find(language, kind, edits, 2).unwrap();
                assert!(found.queries >= 12, "{code} {kind:?}: {} queries", found.queries);
                let share = |percent: u32| f64::from(percent) / 100.0;
                if found.first_share() < share(first[at])
                    || found.covered_share() < share(covered[at])
                    || found.beside_share() > share(beside)
                {
                    let (first, covered) = (found.first_share(), found.covered_share());
                    let beside = found.beside_share();
                    missed.push(format!(
                        "{code} {kind:?} {edits} %: {first:.2} {covered:.2} {beside:.2}"
                    ));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{}: {missed:#?}", setting.scheme);
}

#[test]
fn edited_copies_and_passages_are_found_in_every_script() {
    check(
        DEFAULT,
        [
            ("eng", [88, 83, 57], [90, 87, 78], [95, 85, 70], [94, 91, 87], 24),
            ("deu", [85, 73, 60], [88, 82, 76], [95, 90, 75], [94, 94, 82], 22),
            ("rus", [90, 75, 57], [91, 83, 75], [95, 85, 50], [94, 95, 74], 19),
            ("arb", [75, 67, 48], [84, 82, 71], [95, 95, 70], [91, 92, 69], 22),
            ("hin", [88, 77, 50], [92, 86, 71], [95, 90, 86], [94, 93, 87], 27),
            ("cmn", [92, 83, 67], [93, 86, 77], [95, 95, 95], [94, 91, 90], 9),
            ("jpn", [95, 92, 77], [93, 91, 78], [95, 90, 77], [94, 90, 90], 10),
            ("tha", [95, 95, 92], [95, 95, 94], [95, 95, 95], [95, 94, 94], 12),
        ],
    );
}

#[test]
fn the_scheme_for_reused_text_finds_more_edits_in_every_script() {
    check(
        REUSE,
        [
            ("eng", [95, 88, 83], [92, 87, 84], [95, 95, 95], [94, 91, 92], 24),
            ("deu", [88, 88, 85], [90, 89, 84], [95, 95, 95], [94, 94, 92], 21),
            ("rus", [92, 92, 90], [93, 92, 92], [95, 95, 95], [94, 95, 93], 19),
            ("arb", [95, 95, 90], [91, 92, 85], [95, 95, 95], [91, 92, 92], 22),
            ("hin", [95, 95, 95], [94, 93, 92], [95, 95, 95], [94, 93, 92], 26),
            ("cmn", [95, 95, 95], [93, 91, 85], [95, 95, 95], [94, 91, 90], 9),
            ("jpn", [95, 95, 95], [93, 92, 82], [95, 95, 95], [94, 90, 90], 10),
            ("tha", [95, 95, 95], [95, 95, 94], [95, 95, 95], [95, 94, 94], 12),
        ],
    );
}

/// Returns the hits for short texts, by language.
fn short(scheme: &'static str, words: usize, change: Change) -> Vec<(&'static str, Found)> {
    let texts = ShortTexts::new(Setting { scheme, rank: Rank::Overlap }, words).unwrap();
    LANGUAGES
        .iter()
        .map(|language| (language.code, texts.find(language, change).unwrap()))
        .collect()
}

#[test]
fn pairs_of_words_find_changed_titles_in_every_script() {
    for words in [4, 5, 10] {
        for change in CHANGES {
            for (code, found) in short("kgram(k=2)", words, change) {
                assert!(found.queries >= 40);
                let first = found.first_share();
                assert!(first >= 0.93, "{code}, {words} words, {change:?}: {first:.2}");
            }
        }
    }
}

#[test]
fn of_a_text_shorter_than_a_fingerprint_only_exact_copies_are_found() {
    for (code, found) in short(DEFAULT.scheme, 4, Change::None) {
        assert_eq!(found.first, found.queries, "{code}");
    }
    for change in [Change::Replaced, Change::Added] {
        for (code, found) in short(DEFAULT.scheme, 4, change) {
            // Other languages are cut into pairs of letters, and four of their words have more than
            // four pairs.
            if ["eng", "deu", "rus", "arb", "hin"].contains(&code) {
                assert_eq!(found.first, 0, "{code}, {change:?}");
            }
        }
    }
}

#[test]
fn the_default_finds_changed_messages_in_every_script() {
    for change in CHANGES {
        for (code, found) in short(DEFAULT.scheme, 25, change) {
            assert!(found.queries >= 16);
            let first = found.first_share();
            assert!(first >= 0.9, "{code}, {change:?}: {first:.2}");
        }
    }
}
