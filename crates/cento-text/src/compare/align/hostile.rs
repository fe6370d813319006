//! Tests texts designed to take long: aligning must take bounded steps or be cut, and must react to
//! a stop.

use std::fmt::Write;

use super::alike::{seeds, seeds_max};
use super::noisy::testing::{misread, text};
use super::vocabulary::{OtherText, Vocabulary};
use super::*;
use crate::hash::mix64;
use crate::runtime::stop::testing::After;
use crate::runtime::stop::{PLACES_BETWEEN_LOOKS, STEPS_BETWEEN_LOOKS, Stop};
use crate::text::{Analyzer, Tokens};

struct HostileText {
    text: String,
    tokens: Tokens,
}

impl HostileText {
    fn new(text: String) -> HostileText {
        let mut tokens = Tokens::default();
        Analyzer::default().analyze(&text, &mut tokens, Stop::NEVER).unwrap();
        HostileText { text, tokens }
    }

    fn side(&self) -> Side<'_> {
        Side { text: &self.text, tokens: &self.tokens, parts: &[] }
    }
}

/// Makes a sentence of nine unique words.
fn sentence(number: u64, out: &mut String) {
    for word in 0..9 {
        write!(out, "w{:x} ", mix64(number * 16 + word) >> 40).unwrap();
    }
    out.push_str("end. ");
}

/// Returns two texts with common sentences, ordered so that every cut takes a single sentence off a
/// group, and with four unique sentences between.
fn spiral(count: u64) -> [HostileText; 2] {
    let orders: [fn(u64) -> u64; 2] = [|place| place ^ 1, |place| (place + 1) ^ 1];
    let mut side = 0;
    orders.map(|order| {
        side += 1;
        let mut places: Vec<u64> = (0..count).collect();
        places.sort_by_key(|&number| order(number));
        let mut text = String::new();
        for number in places {
            // Every other word differs, so that the texts share no runs of words.
            let mut shared = String::new();
            sentence(number, &mut shared);
            for (at, word) in shared.split_whitespace().enumerate() {
                text.push_str(word.trim_end_matches('.'));
                if at % 2 == 1 {
                    write!(text, " x{:x}", mix64(number << 8 | at as u64 | side << 40) >> 44)
                        .unwrap();
                }
                text.push(' ');
            }
            text.push_str(". ");
            for other in 0..4 {
                sentence((side << 32) + number * 4 + other, &mut text);
            }
        }
        HostileText::new(text)
    })
}

/// Makes a text of one-letter words.
fn letters(count: u64, seed: u64) -> HostileText {
    let letter = |i| char::from(b'a' + (mix64(seed << 40 | i) % 26) as u8);
    HostileText::new((0..count).flat_map(|i| [letter(i), ' ']).collect())
}

/// Returns the same sentences in two orders.
fn shuffled(count: u64) -> [HostileText; 2] {
    [1, 2].map(|seed| {
        let mut places: Vec<u64> = (0..count).collect();
        places.sort_by_key(|&number| mix64(seed << 40 | number));
        let mut text = String::new();
        places.into_iter().for_each(|number| sentence(number, &mut text));
        HostileText::new(text)
    })
}

/// Returns a summary and the longer text. Each sentence of the summary sums up one sentence of the
/// longer text, where thirty unique sentences follow. The whole is a summary, and so is a stretch
/// from one fifth sentence to the next.
fn summary(count: u64) -> [HostileText; 2] {
    let (mut short, mut long) = (String::new(), String::new());
    for number in 0..count {
        sentence(number, &mut short);
        let mut rewritten = String::new();
        sentence(number, &mut rewritten);
        for word in rewritten.split_whitespace() {
            write!(long, "{word} x{:x} ", mix64(number << 8 | 1 << 60) >> 44).unwrap();
        }
        long.push_str(". ");
        for other in 0..30 {
            sentence((1 << 32) + number * 30 + other, &mut long);
        }
    }
    [HostileText::new(short), HostileText::new(long)]
}

/// Returns nested summaries: each sentence resembles a sentence far from the match of the next
/// sentence.
fn summaries_within_summaries(count: u64) -> [HostileText; 2] {
    let [_, long] = summary(count);
    let mut short = String::new();
    for number in 0..count {
        sentence(number % 5 * (count / 5) + number / 5, &mut short);
    }
    [HostileText::new(short), long]
}

/// Returns a text with this many summaries of eight sentences, each of 32 different sentences of
/// the other text, with unique sentences between.
fn many_summaries(count: u64) -> [HostileText; 2] {
    let (mut short, mut long) = (String::new(), String::new());
    let word = |number: u64, out: &mut String| {
        write!(out, "w{:x} ", mix64(number) >> 32).unwrap();
    };
    for number in 0..count {
        for at in 0..64 {
            word(number << 8 | at, &mut short);
            if at % 8 == 7 {
                short.push_str(". ");
            }
            // Two words in a row share a sentence of ten.
            word(number << 8 | at, &mut long);
            if at % 2 == 1 {
                (0..8).for_each(|i| word(1 << 50 | number << 16 | at << 8 | i, &mut long));
                long.push_str(". ");
            }
        }
        (0..5).for_each(|other| sentence((1 << 32) + number * 5 + other, &mut short));
    }
    [HostileText::new(short), HostileText::new(long)]
}

#[test]
fn many_summaries_in_one_text_are_found_in_proportion_to_its_length() {
    // Regression: each summary was compared with the whole text around it.
    let steps = [50u64, 400].map(|count| {
        let (steps, alignment) = steps_of(&many_summaries(count));
        assert!(alignment.is_complete);
        let summaries =
            alignment.passages.iter().filter(|found| found.hit.len() >= 3 * found.query.len());
        assert_eq!(summaries.count() as u64, count);
        steps
    });
    assert!(steps[1] <= 10 * steps[0], "{steps:?}");
}

fn repeated(count: usize) -> HostileText {
    let mut one = String::new();
    sentence(1, &mut one);
    HostileText::new(one.repeat(count))
}

/// Returns a text of this many three-word sentences over a vocabulary of sixty words, and a text of
/// 1,200 three-word sentences where every word occurs in exactly sixty sentences, the maximum that
/// still brings up pairs. A sentence of the first text resembles some 180 sentences of the second.
fn alike_sentences(sentences: u64) -> [HostileText; 2] {
    let text = |words: &mut dyn Iterator<Item = [u64; 3]>| {
        let sentence = |[a, b, c]: [u64; 3]| format!("w{} w{} w{}. ", a % 60, b % 60, c % 60);
        HostileText::new(words.map(sentence).collect())
    };
    let drawn = |at: u64, turn: u64| 20 * turn + mix64(3 * at + turn) % 20;
    [
        text(&mut (0..sentences).map(|at| [0, 1, 2].map(|turn| drawn(at, turn)))),
        text(&mut (0..1200).map(|at| [at, at + 1 + at / 60, at + 40])),
    ]
}

/// Returns words of two letters, and a copy with every ninth letter changed.
fn words_of_two_letters(count: u64) -> [HostileText; 2] {
    [0, 1].map(|side| {
        let word = |number: u64| {
            let letter = |at: u64| {
                let wrong = side * u64::from((8 * number + at).is_multiple_of(9));
                char::from(b'a' + ((mix64(number % 3000) >> at & 1) ^ wrong) as u8)
            };
            (0..8).map(letter).chain([' ']).collect::<String>()
        };
        HostileText::new((0..count).map(word).collect())
    })
}

/// Returns a text, and a copy with wrong letters.
fn noisy(words: u64) -> [HostileText; 2] {
    let own = text(1, words);
    let misread = misread(&own, 15, 1);
    [HostileText::new(own), HostileText::new(misread)]
}

/// Returns all hostile pairs of texts by name.
fn pairs(size: usize) -> Vec<(&'static str, [HostileText; 2])> {
    let count = size as u64;
    vec![
        ("spiral", spiral(count / 500)),
        ("random letters", [letters(count / 2, 1), letters(count / 2, 2)]),
        ("shuffled sentences", shuffled(count / 80)),
        ("summary", summary(count / 2000)),
        ("summaries within summaries", summaries_within_summaries(count / 2000)),
        ("many summaries", many_summaries(count / 1500)),
        ("one sentence", [repeated(size / 80), repeated(size / 90)]),
        ("one word", [1, 2].map(|i| HostileText::new("word ".repeat(size / 5 - i)))),
        ("dots", [1, 2].map(|i| HostileText::new(". ".repeat(size / 2 - i)))),
        ("alike sentences", alike_sentences(count / 1000)),
        ("noisy copy", noisy(count / 8)),
        ("words of two letters", words_of_two_letters(count / 9)),
        ("words that end", [1, 2].map(|i| HostileText::new("a b c. ".repeat(size / 7 - i)))),
    ]
}

#[test]
fn no_more_alike_sentences_are_paired_than_there_is_memory_for() {
    // Regression: pairs of a query of 100,000 tokens took 200 MB, which a search did not charge to
    // its budget.
    let texts = alike_sentences(1 << 10);
    let (steps, alignment) = steps_of(&texts);
    let [query, document] = texts.each_ref().map(|text| text.tokens.hashes.len());
    let most = seeds_max(query) as u64;
    assert!(!alignment.is_complete && most < 180 << 10, "{most} pairs");
    let bound = 64 * (most + (query + document) as u64) * u64::from(most.ilog2());
    assert!(steps <= bound, "{steps} steps");
    // A sixteenth of the sentences has fewer pairs.
    assert!(steps_of(&alike_sentences(64)).1.is_complete);
}

#[test]
fn pairs_of_alike_sentences_end_at_the_sentence_that_reaches_the_bound() {
    let [query, document] = alike_sentences(64);
    let [q, d] =
        [&query, &document].map(|text| sentences::ranges(text.side(), Stop::NEVER).unwrap());
    let open = vec![true; q.len()];
    let open_in_hit = vec![true; d.len()];
    let words = KnownWords::new(q, &query.tokens.hashes, Stop::NEVER).unwrap();
    let other = OtherText::new(&words, d, &document.tokens.hashes, Stop::NEVER).unwrap();
    let texts = Vocabulary::new(&words, other, false, Stop::NEVER).unwrap();
    let found = |seeds_max: usize| {
        let mut steps = Steps::unbounded(Stop::NEVER);
        let found = seeds(&texts, [&open, &open_in_hit], seeds_max, &mut steps).unwrap().all;
        (found, steps.is_complete())
    };
    let (all, is_complete) = found(usize::MAX);
    assert!(is_complete && all.len() > 10_000, "{}", all.len());
    assert_eq!(found(all.len() + 1), (all.clone(), true));
    for seeds_max in [0, 1, 100, 5_000] {
        let (some, is_complete) = found(seeds_max);
        let last = some.last().map(|seed| seed.0);
        let of_last = some.iter().filter(|seed| Some(seed.0) == last).count();
        assert!(!is_complete && some.len() >= seeds_max, "{seeds_max}: {}", some.len());
        assert!(some.is_empty() || some.len() - of_last < seeds_max, "{seeds_max}: {}", some.len());
        assert_eq!(some, all[..some.len()]);
    }
}

/// Aligns two texts within a number of steps.
fn aligned([a, b]: &[HostileText; 2], steps: &mut Steps<'_>) -> Result<Alignment> {
    let prepared = Prepared::new(a.side(), Genre::Prose, steps.stop())?;
    align_within(a.side(), &prepared, b.side(), steps)
}

fn steps_of(texts: &[HostileText; 2]) -> (u64, Alignment) {
    let mut steps = Steps::unbounded(Stop::NEVER);
    let alignment = aligned(texts, &mut steps).unwrap();
    (steps.taken(), alignment)
}

#[test]
fn hostile_texts_take_steps_in_proportion_to_their_length() {
    // Regression: a spiral of 5 MB kept a processor busy for four minutes.
    for (name, texts) in pairs(1 << 16) {
        let tokens: usize = texts.iter().map(|text| text.tokens.hashes.len()).sum();
        let (steps, alignment) = steps_of(&texts);
        let bound = 64 * tokens as u64 * u64::from(tokens.ilog2());
        assert!(steps <= bound, "{name}: {steps} steps for {tokens} tokens");
        assert!(alignment.is_complete && alignment.steps <= steps, "{name}");
    }
}

#[test]
fn random_letters_as_words_take_steps_in_proportion_to_their_length() {
    // The text is so long that every run of three letters is as frequent as a seed may be.
    let count = 1 << 17;
    let (steps, alignment) = steps_of(&[letters(count, 1), letters(count, 2)]);
    let bound = 64 * 2 * count * u64::from(count.ilog2());
    assert!(alignment.is_complete && steps <= bound, "{steps} steps");
}

#[test]
fn an_alignment_that_is_cut_says_so_and_is_always_the_same() {
    for (name, texts) in pairs(1 << 15) {
        let (_, whole) = steps_of(&texts);
        let most = whole.steps;
        for max in [0, most / 7, most / 2, most - 1] {
            let cut = || {
                let mut steps = Steps::new(max, Stop::NEVER);
                aligned(&texts, &mut steps).unwrap()
            };
            let once = cut();
            assert!(!once.is_complete && once.steps <= max, "{name}: {max} of {most}");
            assert_eq!(once, cut(), "{name}");
        }
        let mut steps = Steps::new(most, Stop::NEVER);
        assert_eq!(aligned(&texts, &mut steps).unwrap(), whole, "{name}");
    }
}

#[test]
fn preparing_a_query_is_stopped_while_its_seeds_are_numbered() {
    // Regression: only the search for sentences checked the flag.
    for (name, texts) in pairs(1 << 16) {
        let query = texts[0].side();
        let flag = After::looks(u64::MAX);
        sentences::ranges(query, flag.stop()).unwrap();
        let of_sentences = flag.count();
        Prepared::new(query, Genre::Prose, flag.stop()).unwrap();
        let of_seeds = flag.count() - 2 * of_sentences;
        let places = query.tokens.hashes.len() / PLACES_BETWEEN_LOOKS;
        assert!(of_seeds > places as u64, "{name}: {of_seeds} looks in {places}");
    }
}

#[test]
fn an_alignment_ends_at_the_check_that_finds_it_cancelled() {
    for (name, texts) in pairs(1 << 16) {
        let [a, b] = &texts;
        let flag = After::looks(u64::MAX);
        let mut steps = Steps::unbounded(flag.stop());
        aligned(&texts, &mut steps).unwrap();
        let (looks, steps) = (flag.count(), steps.taken());
        assert!(looks > steps / (2 * STEPS_BETWEEN_LOOKS), "{name}: {looks} looks, {steps} steps");
        for looks_max in [0, 1, looks / 2, looks - 1] {
            let flag = After::looks(looks_max);
            let stopped = align(a.side(), b.side(), Genre::Prose, flag.stop());
            assert!(matches!(stopped, Err(crate::Error::Cancelled)), "{name}");
            assert_eq!(flag.count(), looks_max + 1, "{name}");
        }
    }
}
