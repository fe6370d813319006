use std::fmt::Write;

use super::super::alike;
use super::super::sentences::ranges;
use super::super::testing::analyzed;
use super::super::{AlignedPassage, Genre, Side, align};
use super::{FirstLook, KnownWords, OtherText};
use crate::hash::mix64;
use crate::runtime::Stop;
use crate::text::{Analyzer, Tokens};

/// Makes a sentence of words with these numbers.
fn sentence(words: impl Iterator<Item = u64>, out: &mut String) {
    words.for_each(|word| write!(out, "w{:x} ", mix64(word) >> 32).unwrap());
    out.push_str(". ");
}

/// Makes `count` sentences of twelve words that no other text has.
fn text(seed: u64, count: u64, out: &mut String) {
    (0..count).for_each(|at| sentence((0..12).map(|i| seed << 32 | at << 8 | i), out));
}

/// Makes sentences of ten words each from every sixth sentence of text 1, in pairs of words, in a
/// different order.
fn summary(out: &mut String) {
    (0..6).for_each(|at| {
        sentence(
            [10, 11, 4, 5, 0, 1, 8, 9, 2, 3].map(|i| 1 << 32 | (at * 6) << 8 | i).into_iter(),
            out,
        );
    });
}

fn aligned(a: &str, b: &str) -> Vec<AlignedPassage> {
    let [a_tokens, b_tokens] = [a, b].map(|text| {
        let mut tokens = Tokens::default();
        Analyzer::default().analyze(text, &mut tokens, Stop::NEVER).unwrap();
        tokens
    });
    let [a, b] =
        [(a, &a_tokens), (b, &b_tokens)].map(|(text, tokens)| Side { text, tokens, parts: &[] });
    align(a, b, Genre::Prose, Stop::NEVER).unwrap().passages
}

#[test]
fn a_summary_is_one_passage_of_either_text() {
    let (mut long, mut short) = (String::new(), String::new());
    text(1, 31, &mut long);
    text(2, 10, &mut short);
    summary(&mut short);
    text(4, 10, &mut short);
    let expected = [120..180, 0..372];
    let found = aligned(&short, &long);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!([found[0].query.clone(), found[0].hit.clone()], expected);
    let found = aligned(&long, &short);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!([found[0].hit.clone(), found[0].query.clone()], expected);
}

/// Returns whether two texts may have a summary, with all sentences `open` or none. The words of
/// the first text are known. No sentences of the two texts may be alike.
fn may_be(a: &str, b: &str, open: [bool; 2]) -> bool {
    let [a, b] = [a, b].map(analyzed);
    let [of_a, of_b] = [&a, &b].map(|text| ranges(text.side(), Stop::NEVER).unwrap());
    let [open, open_in_other] = [vec![open[0]; of_a.len()], vec![open[1]; of_b.len()]];
    let words = KnownWords::new(of_a, &a.tokens.hashes, Stop::NEVER).unwrap();
    let other = OtherText::new(&words, of_b, &b.tokens.hashes, Stop::NEVER).unwrap();
    let mut look = FirstLook::new(words.count());
    let none = [&vec![false; open.len()][..], &open_in_other];
    assert!(!alike::may_be(&words, &other, none, &mut look, Stop::NEVER).unwrap());
    look.may_be(&words, &other, [&open, &open_in_other])
}

#[test]
fn copied_sentences_bring_up_no_summary() {
    // Regression: two texts with a copy and further text had all words numbered and weighed.
    let (mut long, mut short) = (String::new(), String::new());
    text(1, 31, &mut long);
    summary(&mut short);
    for open in [[false, false], [true, false], [false, true], [true, true]] {
        // The first text is the possible summary.
        assert_eq!(may_be(&short, &long, open), open[0], "{open:?}");
        assert_eq!(may_be(&long, &short, [open[1], open[0]]), open[0], "{open:?}");
    }
    let mut other = String::new();
    text(2, 31, &mut other);
    assert!(!may_be(&other, &long, [true, true]));
    // Too short to be a summary, or to be summed up.
    assert!(!may_be(&short[..short.len() / 2], &long, [true, true]));
    assert!(!may_be(&short, &short, [true, true]));
}

/// Returns a word of text 1 by its place.
fn word(sentence: u64, place: u64) -> u64 {
    1 << 32 | sentence << 8 | place
}

/// Makes six sentences, each with these words, between twenty further sentences.
fn between_others(words: impl Fn(u64) -> Vec<u64>) -> String {
    let mut short = String::new();
    text(2, 10, &mut short);
    (0..6).for_each(|at| sentence(words(at).into_iter(), &mut short));
    text(4, 10, &mut short);
    short
}

#[test]
fn an_abstract_fused_from_sentences_all_over_is_a_summary() {
    // Two words in a row of each of six sentences: no two sentences are alike.
    let mut long = String::new();
    text(1, 36, &mut long);
    let short =
        between_others(|at| (0..12).map(|i| word(i / 2 * 6 + at, at * 2 % 12 + i % 2)).collect());
    let found = aligned(&short, &long);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!([found[0].query.clone(), found[0].hit.clone()], [120..192, 0..432]);
    let found = aligned(&long, &short);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!([found[0].hit.clone(), found[0].query.clone()], [120..192, 0..432]);
}

#[test]
fn the_longer_a_text_beside_the_summary_the_more_pairs_it_has() {
    // Regression: headers with the same fields became summaries of texts 14 and 60 times as long.
    let found = |spread: u64| {
        let mut long = String::new();
        text(1, 36 * spread, &mut long);
        let word = |at: u64, i: u64| match i {
            0..8 => word((i / 2 * 6 + at) * spread, at * 2 % 12 + i % 2),
            _ => 9 << 40 | at << 8 | i,
        };
        let short = between_others(|at| (0..12).map(|i| word(at, i)).collect());
        (aligned(&short, &long).len(), aligned(&long, &short).len())
    };
    assert_eq!([found(1), found(4)], [(1, 1), (0, 0)]);
}

#[test]
fn texts_on_one_topic_by_different_writers_are_no_summary() {
    // Five words in twelve, in no order of the other text.
    let mut long = String::new();
    text(1, 36, &mut long);
    let short = between_others(|at| {
        let of_topic = |i: u64| word((at * 5 + i * 7) % 36, i);
        (0..12).map(|i| if i % 5 < 2 { of_topic(i) } else { 9 << 40 | at << 8 | i }).collect()
    });
    assert_eq!(aligned(&short, &long), []);
    assert_eq!(aligned(&long, &short), []);
}

#[test]
fn names_without_the_words_between_them_are_no_summary() {
    // The same names in a different order: the names are shared, the wording is not.
    let mut long = String::new();
    text(1, 36, &mut long);
    let short = between_others(|at| (0..12).map(|i| word((at + i * 3) % 36, i)).collect());
    assert_eq!(aligned(&short, &long), []);
}

#[test]
fn terms_that_two_contracts_have_throughout_are_no_summary() {
    // Half of every sentence is a clause. Four clauses recur in both texts.
    let contract = |seed: u64, sentences: u64| {
        let mut text = String::new();
        let clause = |at: u64, i: u64| (7 << 40) | ((at % 4) << 8) | i;
        (0..sentences).for_each(|at| {
            let own = |i: u64| seed << 32 | at << 8 | i;
            let words = |i| if i < 6 { clause(at, i) } else { own(i) };
            sentence((0..12).map(words), &mut text);
        });
        text
    };
    let is_summary = |found: &AlignedPassage| found.hit.len() >= 3 * found.query.len();
    let found = aligned(&contract(1, 12), &contract(2, 60));
    assert!(!found.iter().any(is_summary), "{found:?}");
}

#[test]
fn a_rewritten_passage_that_is_a_little_like_a_distant_sentence_is_unchanged() {
    let (mut long, mut short) = (String::new(), String::new());
    // Ten sentences, two thirds of each in its own words. The first sentence slightly resembles a
    // sentence thirty sentences later.
    let rewritten = |at: u64, seed: u64| {
        (0..12).map(move |i| if i % 3 == 2 { seed << 40 | at << 8 | i } else { at << 8 | i })
    };
    (0..10).for_each(|at| sentence(rewritten(at, 5), &mut short));
    (0..10).for_each(|at| sentence(rewritten(at, 6), &mut long));
    text(7, 30, &mut long);
    sentence((0..12).map(|i| if i % 2 == 1 { 8 << 40 | i } else { i }), &mut long);
    let found = aligned(&short, &long);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!([found[0].query.clone(), found[0].hit.clone()], [0..120, 0..120]);
}

#[test]
fn where_all_sentences_are_alike_there_is_no_summary_but_rewritten_text() {
    // Sentences of ten words, from a vocabulary of twenty-five.
    let word = |seed: u64, at: u64, i: u64| mix64(seed << 32 | at << 8 | i) % 25;
    let alike = |seed: u64, at: u64, out: &mut String| {
        sentence((0..10).map(|i| word(seed, at, i)), out);
    };
    let (mut long, mut other, mut rewritten) = (String::new(), String::new(), String::new());
    (0..60).for_each(|at| alike(1, at, &mut long));
    (0..12).for_each(|at| alike(2, at, &mut other));
    let found = aligned(&other, &long);
    assert!(found.iter().all(|found| found.hit.len() < 3 * found.query.len()), "{found:?}");
    // The same sentences in a different order, each a word shorter.
    (20..32).rev().for_each(|at| {
        sentence((1..10).rev().map(|i| word(1, at, i)), &mut rewritten);
    });
    let found = aligned(&rewritten, &long);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!([found[0].query.clone(), found[0].hit.clone()], [0..108, 200..320]);
}

#[test]
fn two_sentences_in_common_with_a_long_text_are_no_summary() {
    let (mut long, mut short) = (String::new(), String::new());
    text(1, 41, &mut long);
    text(2, 4, &mut short);
    sentence((0..12).map(|i| 1 << 32 | i), &mut short);
    text(4, 4, &mut short);
    sentence((0..12).map(|i| 1 << 32 | 40 << 8 | i), &mut short);
    let found = aligned(&short, &long);
    assert_eq!(found.len(), 2, "{found:?}");
}
