//! Tests texts of nearly the same repeated clause: a clause of a copy must align with its original.

use std::fmt::Write;
use std::ops::Range;

use proptest::prelude::*;

use super::testing::analyzed;
use super::*;
use crate::hash::mix64;
use crate::text::AnalyzedText;

/// A passage as ranges of tokens, with the number of matched tokens.
type Place = (Range<usize>, Range<usize>, usize);

/// Returns the passages, and the numbers of tokens of both texts.
fn passages(a: &str, b: &str) -> (Vec<Place>, [usize; 2]) {
    let texts = [a, b].map(analyzed);
    let [query, document] = texts.each_ref().map(AnalyzedText::side);
    let found = align(query, document, Genre::Prose, Stop::NEVER).unwrap();
    assert!(found.is_complete);
    let tokens = [query, document].map(|side| side.tokens.hashes.len());
    let place = |found: AlignedPassage| {
        let matched = found.matched_tokens();
        (found.query, found.hit, matched)
    };
    (found.passages.into_iter().map(place).collect(), tokens)
}

/// Checks that two texts of the same length make one passage, where all but `changed` words match.
fn check_one_passage(a: &str, b: &str, changed: usize) {
    let (found, [len, _]) = passages(a, b);
    assert_eq!(found, [(0..len, 0..len, len - changed)], "{b}");
}

/// Applies changes to a text. A change is the line from 0, the old words, and the new words.
fn changed(text: &str, changes: &[(usize, &str, &str)]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for &(line, from, to) in changes {
        assert!(lines[line].contains(from));
        lines[line] = lines[line].replacen(from, to, 1);
    }
    lines.join("\n")
}

/// Returns a will with a bequest on each line.
fn will(bequests: &[[&str; 4]]) -> String {
    let mut text = String::new();
    for [heir, name, pounds, months] in bequests {
        writeln!(
            text,
            "Item, I give and bequeath to my {heir} {name} the sum of {pounds} pounds, to be paid \
             within {months} months after my decease."
        )
        .unwrap();
    }
    text
}

const BEQUESTS: [[&str; 4]; 10] = [
    ["son", "Thomas", "ten", "six"],
    ["daughter", "Mary", "five", "three"],
    ["nephew", "William", "twenty", "twelve"],
    ["niece", "Anne", "two", "two"],
    ["cousin", "Robert", "eight", "nine"],
    ["brother", "Henry", "forty", "four"],
    ["sister", "Elizabeth", "three", "five"],
    ["servant", "Susan", "one", "eight"],
    ["friend", "George", "nine", "seven"],
    ["neighbour", "Edward", "six", "ten"],
];

const PSALM: [&str; 15] = [
    "O give thanks unto the LORD; for he is good: ",
    "O give thanks unto the God of gods: ",
    "O give thanks to the Lord of lords: ",
    "To him who alone doeth great wonders: ",
    "To him that by wisdom made the heavens: ",
    "To him that stretched out the earth above the waters: ",
    "To him that made great lights: ",
    "The sun to rule by day: ",
    "The moon and stars to rule by night: ",
    "To him that smote Egypt in their firstborn: ",
    "And brought out Israel from among them: ",
    "With a strong hand, and with a stretched out arm: ",
    "To him which divided the Red sea into parts: ",
    "And made Israel to pass through the midst of it: ",
    "But overthrew Pharaoh and his host in the Red sea: ",
];

/// Returns the first verses of a psalm, each on a line.
fn psalm(verses: usize) -> String {
    let verse = |verse: &&str| format!("{verse}for his mercy endureth for ever.\n");
    PSALM[..verses].iter().map(verse).collect()
}

#[test]
fn each_bequest_of_a_copied_will_goes_to_its_own_heir() {
    // Regression: the passage began in the second bequest, and the first bequest was the
    // neighbor's.
    let text = will(&BEQUESTS);
    let letters = [
        (2, "bequeath", "bequeatb"),
        (4, "months", "rnonths"),
        (6, "pounds", "pouuds"),
        (8, "give", "givc"),
    ];
    check_one_passage(&text, &changed(&text, &letters), 4);
    let words = [2, 4, 6, 8].map(|line| (line, "bequeath", "leave"));
    check_one_passage(&text, &changed(&text, &words), 4);
}

#[test]
fn the_first_verse_of_a_psalm_is_not_the_second() {
    let text = psalm(15);
    check_one_passage(&text, &changed(&text, &[(0, "LORD", "L0RD"), (2, "ever", "evcr")]), 2);
}

#[test]
fn verses_with_wrong_letters_are_those_of_the_same_number() {
    // Regression: only alignments with other verses had enough wrong letters for a noisy passage,
    // and such an alignment was taken.
    let text = psalm(8);
    let misread = [
        (0, "endureth", "endvreth"),
        (1, "give", "giue"),
        (2, "for", "frr"),
        (4, "by", "hy"),
        (4, "heavens", "heavenx"),
        (4, "mercy", "m0rcy"),
        (4, "ever", "evea"),
        (5, "that", "thqt"),
        (5, "for ever", "fo5 ever"),
        (7, "for", "foz"),
    ];
    check_one_passage(&text, &changed(&text, &misread), misread.len());
}

#[test]
fn a_number_in_one_text_only_does_not_move_the_words_after_it() {
    // Regression: the only passage began with the second "and the earth".
    let numbered = "IN the beginning God created the Heaven, and the Earth. 2 And the earth was \
        without form, and void, and darkness was upon the face of the deep: and the Spirit of God \
        moved upon the face of the waters. 3 And God said, Let there be light: and there was \
        light.";
    let plain = numbered.replace(" 2 And", " And").replace(" 3 And", " And");
    let (found, [numbered_len, plain_len]) = passages(numbered, &plain);
    assert_eq!(found, [(0..numbered_len, 0..plain_len, plain_len)]);
}

proptest! {
    #[test]
    fn a_formulaic_copy_with_some_words_changed_is_one_passage_from_end_to_end(
        seed in 0u64..1 << 32,
        // At most sixteen, because more frequent runs are not looked up at each place.
        clauses in 4u64..=16,
        (words, variable) in (10u64..30, 1u64..5),
        changed_of_100 in 0u64..100,
        is_letter in proptest::bool::ANY,
    ) {
        // Each clause has frequent words and a few unique words.
        let (mut text, mut copy, mut changed) = (String::new(), String::new(), 0);
        let period = words / variable;
        for clause in 0..clauses {
            for at in 0..words {
                let of = if at % period == period / 2 { clause + 1 } else { 0 };
                let word = format!("{:06x}", mix64(of << 16 | at) >> 40);
                write!(text, "{word} ").unwrap();
                // At most one word in five is replaced, and no word at either end.
                let is_end = clause == 0 && at < 5 || clause + 1 == clauses && at + 5 >= words;
                let drawn = mix64(1 << 52 | seed << 16 | clause << 6 | at);
                if is_end || at % 5 != 2 || drawn % 100 >= changed_of_100 {
                    write!(copy, "{word} ").unwrap();
                    continue;
                }
                changed += 1;
                if is_letter {
                    write!(copy, "{}z ", &word[..5]).unwrap();
                } else {
                    write!(copy, "{:06x} ", drawn >> 40).unwrap();
                }
            }
            let end = text.trim_end().len();
            text.truncate(end);
            text.push_str(".\n");
            let end = copy.trim_end().len();
            copy.truncate(end);
            copy.push_str(".\n");
        }
        let (found, [len, _]) = passages(&text, &copy);
        prop_assert_eq!(found, [(0..len, 0..len, len - changed)]);
    }
}
