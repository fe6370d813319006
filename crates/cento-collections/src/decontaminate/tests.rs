//! Findings compared with the definition, and cases that a reader would decide.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use cento::index::Document;
use cento_api::error::Error;
use cento_text::runtime::Stop;

fn question(text: &str) -> Question {
    Question { text: text.to_owned(), ..Question::default() }
}

fn benchmarks(texts: &[&str], options: &DecontaminateOptions) -> Benchmarks {
    let questions = texts.iter().map(|text| question(text)).collect();
    Benchmarks::new(questions, options, Stop::NEVER).unwrap()
}

fn findings(benchmarks: &Benchmarks, text: &str) -> Vec<Finding> {
    benchmarks.findings(text, &mut Scratch::default(), Stop::NEVER).unwrap()
}

type Words<'a> = Vec<&'a str>;

fn words(text: &str) -> Words<'_> {
    text.split_whitespace().collect()
}

fn runs<'a>(text: &[&'a str], k: usize) -> BTreeSet<Words<'a>> {
    text.windows(k).map(<[&str]>::to_vec).collect()
}

/// Returns by question the number and the weight of tokens in the best stretch, found by looking at
/// every stretch of the document.
fn naive(
    benchmarks: &Benchmarks,
    text: &str,
    options: &DecontaminateOptions,
) -> BTreeMap<usize, (usize, u64)> {
    let k = options.run as usize;
    let text = words(text);
    let mut found = BTreeMap::new();
    for (number, question) in benchmarks.questions().iter().enumerate() {
        let question = words(&question.text);
        if question.len() < k {
            continue;
        }
        if question.len() < SHORT {
            if text.windows(question.len()).any(|part| part == question) {
                found.insert(number, (question.len(), u64::MAX));
            }
            continue;
        }
        let weights = benchmarks.weights(number);
        let all: u64 = weights.iter().copied().map(u64::from).sum();
        let least = (options.min_share * all as f64 - 1e-6).ceil() as u64;
        let best = (0..text.len()).filter_map(|start| {
            let end = (start + 2 * question.len()).min(text.len());
            let there = runs(&text[start..end], k);
            let mut covered = vec![false; question.len()];
            for (at, run) in question.windows(k).enumerate() {
                if there.contains(run) {
                    covered[at..at + k].fill(true);
                }
            }
            let matched = || weights.iter().zip(&covered).filter(|(_, covered)| **covered);
            let weight = matched().map(|(weight, _)| u64::from(*weight)).sum();
            let tokens = matched().count();
            (tokens >= SHORT && weight >= least).then_some((tokens, weight))
        });
        if let Some(best) = best.max() {
            found.insert(number, best);
        }
    }
    found
}

fn text(words: u8, len: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(0..words, len)
        .prop_map(|words| words.iter().map(|word| format!("w{word}")).collect::<Vec<_>>().join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn findings_are_those_of_every_question_against_every_stretch(
        (questions, parts) in (2u8..6, 1usize..30).prop_flat_map(|(alphabet, count)| {
            let part = (0..count, 0usize..20, 0usize..30, text(alphabet + 2, 0..12));
            (prop::collection::vec(text(alphabet, 0..24), count), prop::collection::vec(part, 0..5))
        }),
        run in 2u32..5,
        tenths in 1u32..11,
    ) {
        let options = DecontaminateOptions::default().run(run).min_share(f64::from(tenths) / 10.0);
        let questions: Vec<&str> = questions.iter().map(String::as_str).collect();
        // Parts of questions among other words.
        let mut text = Vec::new();
        for (from, start, len, other) in &parts {
            text.extend(words(questions[*from]).into_iter().skip(*start).take(*len));
            text.extend(words(other));
        }
        let text = text.join(" ");
        let benchmarks = benchmarks(&questions, &options);
        let found = findings(&benchmarks, &text);
        let expected = naive(&benchmarks, &text, &options);
        let numbers: BTreeSet<usize> = found.iter().map(|finding| finding.question).collect();
        prop_assert_eq!(numbers, expected.keys().copied().collect());
        for places in found.chunk_by(|a, b| a.question == b.question) {
            let number = places[0].question;
            let (all, of_own) = expected[&number];
            let best = places.iter().max_by_key(|finding| finding.tokens).unwrap();
            prop_assert_eq!(best.tokens as usize, all);
            if words(questions[number]).len() >= SHORT {
                let most = places.iter().filter(|finding| finding.tokens as usize == all);
                let most = most.map(|finding| finding.own_share).fold(0.0, f64::max);
                let weight = benchmarks.weights(number).iter().copied().map(u64::from).sum::<u64>();
                prop_assert_eq!(most, of_own as f64 / weight as f64);
            }
            // Any further place would overlap a returned place. Returned places do not overlap.
            let ends = places.iter().map(|finding| finding.bytes);
            let mut at = 0;
            for (start, end) in ends.chain([(text.len() as u32, text.len() as u32)]) {
                prop_assert!(start >= at);
                let between = naive(&benchmarks, &text[at as usize..start as usize], &options);
                prop_assert!(!between.contains_key(&number));
                at = end;
            }
        }
        for finding in &found {
            let all = finding.tokens as usize;
            let question = words(questions[finding.question]);
            prop_assert_eq!(finding.share, all as f64 / question.len() as f64);
            // The place has these tokens.
            let (start, end) = (finding.bytes.0 as usize, finding.bytes.1 as usize);
            let again = naive(&benchmarks, &text[start..end], &options);
            prop_assert_eq!(again.get(&finding.question).map(|found| found.0), Some(all));
            let marked = |ranges: &[(u32, u32)], text: &str| ranges.iter()
                .map(|r| words(&text[r.0 as usize..r.1 as usize]).len()).sum::<usize>();
            prop_assert_eq!(marked(&finding.of_question, questions[finding.question]), all);
            let of_document = &finding.of_document;
            prop_assert!(of_document.first().is_some_and(|first| first.0 == finding.bytes.0));
            prop_assert!(of_document.last().is_some_and(|last| last.1 == finding.bytes.1));
        }
    }

    #[test]
    fn after_cutting_nothing_is_found_any_more(
        questions in prop::collection::vec(text(4, 0..24), 1..6),
        parts in prop::collection::vec((0usize..6, 0usize..20, 0usize..30, text(6, 0..6)), 0..12),
        marks in prop::collection::vec(prop::sample::select(vec![
            " ", ". ", "\\n", "\n", " &amp; ", " A. ", " B. ", "\n(1) ", "\n(2) ",
        ]), 1..9),
        run in 2u32..5,
        tenths in 1u32..11,
        in_parts: bool,
    ) {
        let options = DecontaminateOptions::default().run(run).min_share(f64::from(tenths) / 10.0);
        let questions: Vec<&str> = questions.iter().map(String::as_str).collect();
        let mut text = String::new();
        for (number, (from, start, len, other)) in parts.iter().enumerate() {
            let question = words(questions[from % questions.len()]);
            for word in question.into_iter().skip(*start).take(*len).chain(words(other)) {
                text += word;
                text += marks[(number + text.len()) % marks.len()];
            }
        }
        let document = match in_parts {
            true => Document::of_parts("a", text.split("\n").map(|part| ("p", part))),
            false => Document::new("a", text.clone()),
        };
        let benchmarks = benchmarks(&questions, &options);
        // The first question is a common phrase, which stays.
        let is_cut = |finding: &Finding| finding.question > 0;
        let mut scratch = Scratch::default();
        let cut = benchmarks.cut_out(&document, is_cut, &mut scratch, Stop::NEVER).unwrap();
        let found = findings(&benchmarks, &text);
        prop_assert_eq!(cut.is_some(), found.iter().any(is_cut));
        if let Some((rest, parts)) = cut {
            let found = findings(&benchmarks, &rest);
            prop_assert!(!found.iter().any(is_cut), "{}", rest);
            prop_assert_eq!(parts.len(), document.parts.len());
            // The remaining text is a subsequence of the text.
            let mut letters = text.chars();
            prop_assert!(rest.chars().all(|letter| letters.any(|other| other == letter)));
        }
    }
}

const PLANET: &str =
    "Which planet of the solar system has the largest number of known moons in the year 2023?";

#[track_caller]
fn check(question: &str, text: &str, expected: Option<f64>) {
    let benchmarks = benchmarks(&[question], &DecontaminateOptions::default());
    let found = findings(&benchmarks, text);
    assert_eq!(found.first().map(|finding| finding.share), expected, "{text}");
}

#[test]
fn a_question_is_found_however_it_is_written() {
    check(PLANET, PLANET, Some(1.0));
    check(PLANET, &PLANET.to_uppercase(), Some(1.0));
    check(PLANET, &PLANET.replace(' ', "\n   "), Some(1.0));
    check(PLANET, &PLANET.replace(' ', " \u{2014} "), Some(1.0));
    let around = "words that have nothing to do with it ".repeat(50);
    check(PLANET, &format!("{around}{PLANET}{around}"), Some(1.0));
    check(PLANET, &PLANET.replace("largest", "largset"), Some(16.0 / 17.0));
    // Half of the question, and less.
    let half = PLANET.split(" largest").next().unwrap();
    check(PLANET, half, Some(8.0 / 17.0));
    check(PLANET, half.strip_suffix(" the").unwrap(), None);
    check(PLANET, &around, None);
}

#[test]
fn all_places_of_a_question_are_found_and_cut() {
    // Once only the strongest place was cut, so that the corpus without it still had the question.
    let benchmarks = benchmarks(&[PLANET, "Where is the town?"], &DecontaminateOptions::default());
    let typo = PLANET.replace("largest", "largset");
    let text =
        format!("One: {typo} Two: {PLANET} Where is the town? Three: {PLANET}. Where is THE town?");
    let found = findings(&benchmarks, &text);
    let shown: Vec<_> = found.iter().map(|f| (f.question, f.tokens, f.bytes.0)).collect();
    let place = |of: &str| -> Vec<u32> {
        let text = text.to_lowercase();
        text.match_indices(&of.to_lowercase()).map(|(at, _)| at as u32).collect()
    };
    let (planet, town) = (place(PLANET), place("Where is the town"));
    let expected =
        [(0, 16, 5), (0, 17, planet[0]), (0, 17, planet[1]), (1, 4, town[0]), (1, 4, town[1])];
    assert_eq!(shown, expected);
    let mut tally = Tally::new(&benchmarks);
    tally.add("a", &text, &found);
    let options = DecontaminateOptions::default();
    let common = tally.common(&benchmarks, &options);
    let counts = tally.finish(&common, &options);
    assert_eq!(counts.questions.iter().map(|of| of.documents).collect::<Vec<_>>(), [1, 1]);
    let evidence = counts.questions[0].evidence.as_ref().unwrap();
    assert_eq!((evidence.finding.share, evidence.finding.bytes.0), (1.0, planet[0]));
    let document = Document::new("a", format!("{text}\nSix other words of the page."));
    let cut = benchmarks.cut_out(&document, |_| true, &mut Scratch::default(), Stop::NEVER);
    assert_eq!(cut.unwrap().unwrap().0, "Six other words of the page.");
}

#[test]
fn questions_that_come_together_when_others_are_cut_are_cut_too() {
    let benchmarks = benchmarks(&[PLANET], &DecontaminateOptions::default());
    let (first, last) = PLANET.split_at(PLANET.len() / 2);
    // A cut brings together the halves around the cut.
    let text = format!(
        "before {}{} after",
        format!("{first} ").repeat(400),
        format!(" {last}").repeat(400)
    );
    let document = Document::new("a", text);
    let cut = benchmarks.cut_out(&document, |_| true, &mut Scratch::default(), Stop::NEVER);
    let rest = cut.unwrap().unwrap().0;
    assert_eq!(findings(&benchmarks, &rest), []);
    let between = "between ".repeat(40);
    let near = format!("before {first}{last}{first} {between} {last} after");
    let document = Document::new("a", near);
    let cut = benchmarks.cut_out(&document, |_| true, &mut Scratch::default(), Stop::NEVER);
    let rest = cut.unwrap().unwrap().0;
    assert!(rest.starts_with("before") && rest.contains(&between), "{rest}");
}

#[test]
fn a_question_of_bytes_is_found_as_whole_letters() {
    let options = DecontaminateOptions::default().analyzer("bytes()");
    let question = "\u{e9}\u{e8}\u{ea}\u{eb}";
    let benchmarks = benchmarks(&[&question.repeat(2)], &options);
    let text = format!("{}\u{c3}\u{e7}", question.repeat(2));
    for finding in findings(&benchmarks, &text) {
        assert!(text.get(finding.bytes.0 as usize..finding.bytes.1 as usize).is_some());
    }
    let document = Document::new("a", text);
    let cut = benchmarks.cut_out(&document, |_| true, &mut Scratch::default(), Stop::NEVER);
    assert_eq!(findings(&benchmarks, &cut.unwrap().unwrap().0), []);
}

#[test]
fn a_question_about_other_numbers_is_another_by_any_analyzer() {
    let question = "A car needs 25 litres for 400 kilometres; how far does it go with 16 litres?";
    let other = "A car needs 30 litres for 250 kilometres; how far does it go with 12 litres?";
    for analyzer in ["avtor(language=en)", "prefixes(n=1)"] {
        let benchmarks =
            benchmarks(&[question], &DecontaminateOptions::default().analyzer(analyzer));
        assert_eq!(findings(&benchmarks, other), [], "{analyzer}");
        assert_eq!(findings(&benchmarks, question).len(), 1, "{analyzer}");
        // An analyzer that omits tags does not count them as words of the question.
        let tagged = question.replace(" how", " <b>how</b>");
        let is_found = findings(&benchmarks, &tagged).len() == 1;
        assert!(is_found || !analyzer.starts_with("avtor"), "{analyzer}");
    }
}

#[test]
fn options_are_found_with_their_labels() {
    // Once a letter before each short option left no common run.
    let question = "What is the boiling point of pure water at sea level?\n90 degrees\n\
                    100 degrees\n110 degrees\n120 degrees";
    let benchmarks = benchmarks(&[question], &DecontaminateOptions::default());
    let of = |labels: [&str; 4]| {
        let parts = question.split('\n').skip(1).zip(labels);
        let options: Vec<String> =
            parts.map(|(option, label)| format!("{label}{option}")).collect();
        format!(
            "Test. {}\n{}\nAnswer: B",
            &question[..question.find('\n').unwrap()],
            options.join("\n")
        )
    };
    for labels in [
        ["A. ", "B. ", "C. ", "D. "],
        ["(A) ", "(B) ", "(C) ", "(D) "],
        ["a) ", "b) ", "c) ", "d) "],
        ["1. ", "2. ", "3. ", "4. "],
        ["- A: ", "- B: ", "- C: ", "- D: "],
        ["- ", "- ", "- ", "- "],
    ] {
        let text = of(labels);
        for text in [text.clone(), serde_json::to_string(&text).unwrap()] {
            let found = findings(&benchmarks, &text);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(found[0].share, 1.0, "{text}");
            let place = &text[found[0].bytes.0 as usize..found[0].bytes.1 as usize];
            assert!(place.starts_with("What is") && place.ends_with("120 degrees"), "{place}");
        }
    }
    // Labels are no words, so with different options the share is the same as without labels.
    let other = |labels| {
        let found = findings(&benchmarks, &of(labels).replace("degrees", "kelvin"));
        found.iter().map(|finding| finding.share).collect::<Vec<_>>()
    };
    assert_eq!(other(["A. ", "B. ", "C. ", "D. "]), [12.0 / 19.0]);
    assert_eq!(other(["- ", "- ", "- ", "- "]), [12.0 / 19.0]);
}

#[test]
fn words_that_are_scattered_are_no_question() {
    // Every run of the question occurs in the text, but not in one place.
    let words = words(PLANET);
    let around = " and then a good many other words that occur between two runs".repeat(3);
    let scattered: String = words.windows(4).map(|run| run.join(" ") + &around).collect();
    check(PLANET, &scattered, None);
}

#[test]
fn a_few_words_of_a_question_are_common_to_texts_that_have_nothing_to_do_with_it() {
    // Five of the eight words.
    check("a few of the many reasons why a", "only a few of the many came", None);
    let long = "a few of the many reasons why a bee dances in the hive";
    check(long, &long.replace("hive", "field"), Some(12.0 / 13.0));
}

#[test]
fn a_short_question_is_found_word_for_word_only() {
    check("Where is the town of Peru?", "They ask: where is the TOWN of Peru", Some(1.0));
    check("Where is the town of Peru?", "where is the town of Chad", None);
    check("Where is the town of Peru?", "the town of Peru is where", None);
    let few = benchmarks(&["Why not?", "", PLANET], &DecontaminateOptions::default());
    let unusable: Vec<_> = (0..3).map(|number| few.unusable(number)).collect();
    assert_eq!(unusable, [Some(Unusable::Short), Some(Unusable::Empty), None]);
}

#[test]
fn the_form_of_many_questions_is_boilerplate() {
    let of =
        |country: &str| format!("Which of the following cities is the capital of {country} today?");
    let countries =
        ["Peru", "Chad", "Fiji", "Cuba", "Iran", "Iraq", "Mali", "Oman", "Togo", "Laos"];
    let questions: Vec<String> = countries.iter().map(|country| of(country)).collect();
    let questions: Vec<&str> = questions.iter().map(String::as_str).collect();
    let benchmarks = benchmarks(&questions, &DecontaminateOptions::default());
    let found = findings(&benchmarks, &of("Chad"));
    assert_eq!(found.iter().map(|finding| finding.question).collect::<Vec<_>>(), [1]);
    assert_eq!((found[0].share, found[0].own_share), (1.0, 1.0));
    // Ten in eleven words are the same.
    assert_eq!(findings(&benchmarks, &of("Kenya")), []);
}

#[test]
fn an_answer_counts_where_it_follows() {
    let check = |answer: &str, text: &str, expected: Option<bool>| {
        let question = Question { answer: Some(answer.to_owned()), ..question(PLANET) };
        let options = DecontaminateOptions::default();
        let benchmarks = Benchmarks::new(vec![question], &options, Stop::NEVER).unwrap();
        let found = findings(&benchmarks, text);
        assert_eq!(found[0].answer.map(|answer| answer.found), expected, "{text}");
        if let Some((start, end)) = found[0].answer.and_then(|answer| answer.bytes) {
            let there = &text[start as usize..end as usize];
            assert!(answer.to_lowercase().starts_with(&there.to_lowercase()), "{there}");
        }
    };
    check("Saturn", &format!("{PLANET} Answer: saturn!"), Some(true));
    check("Saturn", &format!("Saturn. {PLANET} Jupiter"), Some(false));
    check("Saturn", &format!("{PLANET} {} Saturn", "other ".repeat(30)), Some(false));
    // Any text has a single letter.
    check("B", &format!("{PLANET} A or B"), None);
    let long = "Saturn, because astronomers have found more than one hundred and forty of them";
    check(long, &format!("{PLANET} The answer is {long}."), Some(true));
    check(long, &format!("{PLANET} The answer is unknown."), Some(false));
}

#[test]
fn a_common_phrase_is_named_as_such() {
    let phrase = "to be or not to be that is the question";
    let options = DecontaminateOptions::default();
    let benchmarks = benchmarks(&[phrase, PLANET], &options);
    let mut tally = Tally::new(&benchmarks);
    for number in 0..30 {
        let text = format!("Document {number}: {phrase}. {PLANET}");
        tally.add(&number.to_string(), &text, &findings(&benchmarks, &text));
    }
    assert_eq!(tally.common(&benchmarks, &options).phrases, [true, false]);
    let counts = tally.clone().finish(&tally.common(&benchmarks, &options), &options);
    let verdicts: Vec<_> = counts.questions.iter().map(|question| question.verdict).collect();
    assert_eq!(verdicts, ["common", "contaminated"]);
    assert_eq!((counts.benchmarks[0].common, counts.benchmarks[0].contaminated), (1, 1));
    assert_eq!(counts.benchmarks[0].rate, 0.5);
    let common = tally.common(&benchmarks, &options.common(30u64));
    assert_eq!(common.phrases, [false, false]);
}

#[test]
fn a_search_is_stopped() {
    let benchmarks = benchmarks(&[PLANET], &DecontaminateOptions::default());
    let stop = Stop::new();
    stop.set();
    let found = benchmarks.findings(PLANET, &mut Scratch::default(), &stop);
    assert!(matches!(found, Err(Error::Cancelled)));
}

#[test]
fn questions_are_found_within_json_and_html() {
    // Letters of escapes were once taken for words, so that programs and Chinese texts were not
    // found in JSON as Python writes it.
    let program = "def separate(groups):\n    \"\"\"Input to this function is a string\n    of \
                   groups.\n    Separate these\n    and return the list.\n    \"\"\"\n";
    let chinese = "\u{4e0b}\u{5217}\u{54ea}\u{4e00}\u{9879}\u{4e0d}\
                   \u{5c5e}\u{4e8e}\u{7269}\u{7406}\u{53d8}\u{5316}";
    let quote = "Who said \"I don't know\" when they wanted the way to the city's harbour?";
    let own = [program, chinese, quote];
    let benchmarks = benchmarks(&own, &DecontaminateOptions::default());
    let json = |text: &str| -> String {
        let written = serde_json::to_string(text).unwrap();
        let units = |c: char| c.encode_utf16(&mut [0; 2]).to_vec();
        let escaped = |c: char| match c.is_ascii() {
            true => c.to_string(),
            false => units(c).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
        };
        written.chars().map(escaped).collect()
    };
    let html = |text: &str| text.replace('"', "&quot;").replace('\'', "&#39;");
    for (number, question) in own.iter().enumerate() {
        for stored in [json(question), json(&json(question)), html(question), json(&html(question))]
        {
            let text = format!("{{\"id\": \"\u{e9}\\t\", \"prompt\": {stored}, \"n\": 1}}");
            let found = findings(&benchmarks, &text);
            let found = found.iter().find(|found| found.question == number);
            let found = found.unwrap_or_else(|| panic!("{text}"));
            assert_eq!(found.share, 1.0, "{text}");
            let place = &text[found.bytes.0 as usize..found.bytes.1 as usize];
            // The place extends from the first to the last word.
            assert!(stored.contains(place), "{place}");
            let sides = stored.split_once(place).unwrap();
            let is_word = |side: &str| {
                let side = side.replace("&quot;", "").replace("\\n", "");
                side.chars().any(char::is_alphanumeric)
            };
            assert!(!is_word(sides.0) && !is_word(sides.1), "{sides:?}");
        }
    }
}
