//! Families of small collections, compared with a search of every text for every passage.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::chronology::TimeOrder;
use cento::index::{Config, Document, Index, WriterOptions};
use cento_text::runtime::Stop;

/// A word unlike any other word.
fn word(seed: u64, at: u64) -> String {
    let mut number = cento_text::hash::mix64(seed << 32 | at);
    let letter = |_| {
        number = number.rotate_left(7).wrapping_mul(5);
        char::from(b'a' + (number % 26) as u8)
    };
    (0..9).map(letter).collect()
}

/// Words that no other text has, in sentences of ten.
fn words(seed: u64, count: u64) -> String {
    let words: Vec<String> = (0..count).map(|at| word(seed, at)).collect();
    words.chunks(10).map(|sentence| sentence.join(" ")).collect::<Vec<_>>().join(". ")
}

/// A searcher over these texts, whose ids are their numbers.
fn searcher(texts: &[(String, Value)]) -> Searcher {
    searcher_by("words", texts)
}

fn searcher_by(analyzer: &str, texts: &[(String, Value)]) -> Searcher {
    let index = Index::in_memory(Config::new("winnow(k=3,w=4)", analyzer, true).unwrap()).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    for (number, (text, meta)) in texts.iter().enumerate() {
        let document = Document::new(format!("d{number}"), text);
        writer.add(document.with_meta(meta.as_object().unwrap().clone())).unwrap();
    }
    writer.finish().unwrap();
    Searcher::new(index.snapshot().unwrap())
}

fn found(searcher: &Searcher, options: &FamilyOptions) -> Vec<Family> {
    families(searcher, options).threads(2).collect::<Result<_>>().unwrap()
}

fn ids(family: &Family) -> Vec<&str> {
    family.carriers.iter().map(|carrier| carrier.id.as_str()).collect()
}

#[test]
fn carriers_are_in_the_order_of_their_dates_with_what_each_changed() {
    let passage = words(0, 30);
    let edited = passage.replace(&word(0, 14), "other");
    let texts = [
        (format!("{}. {edited}", words(1, 20)), json!({"date": "1902-05"})),
        (format!("{}.\n{passage}. {}", words(2, 20), words(3, 9)), json!({"date": "1901-12-31"})),
        (format!("{edited}. {}", words(4, 20)), json!({"date": "1902-05-07"})),
        (words(5, 60), json!({"date": "1900"})),
    ];
    let searcher = searcher(&texts);
    let options = FamilyOptions::default().date("date");
    let families = found(&searcher, &options);
    assert_eq!(families.len(), 1);
    let family = &families[0];
    assert_eq!(ids(family), ["d1", "d0", "d2"]);
    assert_eq!((family.documents, family.tokens, family.versions), (3, 30, 2));
    assert_eq!((&family.text, family.order), (&passage, TimeOrder::Date));
    assert!(family.first_is_certain && family.complete);
    let [first, second, third] = &family.carriers[..] else { panic!("{family:?}") };
    assert_eq!(
        (first.line, first.nearest, first.date.as_deref()),
        (Some(2), None, Some("1901-12-31"))
    );
    assert_eq!(second.changes, [Change { removed: word(0, 14), added: "other".into() }]);
    assert_eq!((third.nearest, third.similarity, third.version), (Some(2), Some(1.0), 2));
    // The first document is another in the order of addition, and the answer tells which order it
    // is.
    let by_added = &found(&searcher, &FamilyOptions::default())[0];
    assert_eq!((ids(by_added), by_added.order), (vec!["d0", "d1", "d2"], TimeOrder::Added));
    assert!(!by_added.first_is_certain);
}

/// The texts of the places of a family, with the ids of their documents.
fn carried<'a>(texts: &'a [(String, Value)], family: &'a Family) -> Vec<(&'a str, &'a str)> {
    let carried = family.carriers.iter().map(|carrier| {
        let text = &texts[carrier.id[1..].parse::<usize>().unwrap()].0;
        (carrier.id.as_str(), &text[carrier.start as usize..carrier.end as usize])
    });
    carried.collect()
}

#[test]
fn a_passage_that_documents_have_twice_is_one_family_with_all_its_places() {
    // The texts in between share function words, as any two texts do. Both ends have unique words,
    // because a passage extends as far as the texts are equal.
    let between = |seed: u64| {
        let words: Vec<String> = (0..31)
            .map(|at| {
                if at % 4 == 1 {
                    ["the", "of", "and"][at as usize % 3].into()
                } else {
                    word(seed, at)
                }
            })
            .collect();
        words.join(" ")
    };
    let passage = words(0, 33);
    let edited = [3, 11, 19, 27]
        .iter()
        .fold(passage.clone(), |text, &at| text.replace(&word(0, at), &word(9, at)));
    let twice =
        |passage: &str, other: &str, seed: u64| format!("{passage}. {}. {other}.", between(seed));
    let once = format!("{}. {passage}. {}", words(5, 40), words(6, 30));
    for texts in [
        vec![twice(&passage, &passage, 1), twice(&passage, &passage, 2)],
        vec![once.clone(), twice(&passage, &passage, 2)],
        vec![once.clone(), twice(&passage, &edited, 1), twice(&edited, &edited, 2)],
        vec![twice(&edited, &passage, 1), twice(&edited, &edited, 2), once],
    ] {
        let texts: Vec<(String, Value)> = texts.into_iter().map(|text| (text, json!({}))).collect();
        let searcher = searcher(&texts);
        let families = found(&searcher, &FamilyOptions::default());
        assert_eq!(families.len(), 1, "{families:?}");
        let family = &families[0];
        let mut expected = Vec::new();
        for (number, (text, _)) in texts.iter().enumerate() {
            let own: Vec<usize> = [&passage, &edited]
                .iter()
                .flat_map(|passage| text.match_indices(&***passage).map(|(at, _)| at))
                .collect();
            expected.extend(own.iter().map(|_| format!("d{number}")));
        }
        assert_eq!(ids(family), expected, "{:?}", carried(&texts, family));
        for (id, place) in carried(&texts, family) {
            assert!(place == passage || place == edited, "{id}: {place}");
        }
        assert_eq!((family.documents, family.tokens), (texts.len() as u64, 33));
    }
}

#[test]
fn a_copy_of_a_song_with_its_refrain_is_one_passage() {
    let (refrain, verses) = (words(0, 30), [words(1, 40), words(2, 40)]);
    let song = format!("{}. {refrain}. {}. {refrain}.", verses[0], verses[1]);
    let texts = [
        (format!("{}. {song}", words(3, 20)), json!({})),
        (format!("{song} {}", words(4, 20)), json!({})),
    ];
    let searcher = searcher(&texts);
    let families = found(&searcher, &FamilyOptions::default());
    let tokens: Vec<u32> = families.iter().map(|family| family.tokens).collect();
    // The places of the refrain are inside the places of the song.
    assert_eq!(tokens, [140], "{families:?}");
    assert_eq!(families[0].carriers.len(), 2);
}

#[test]
fn a_first_carrier_without_a_date_of_its_own_is_not_certain() {
    let passage = words(0, 30);
    let check = |dates: [Value; 2], expected: bool| {
        let of = |at: u64, date: &Value| {
            (format!("{passage} {}", words(1 + at, 20)), json!({"date": date}))
        };
        let searcher = searcher(&[of(0, &dates[0]), of(1, &dates[1])]);
        let families = found(&searcher, &FamilyOptions::default().date("date"));
        assert_eq!(families[0].first_is_certain, expected, "{dates:?}");
    };
    check([json!("1999"), json!("2000-01-01")], true);
    check([json!("1999"), json!("1999-05")], false);
    check([json!("1999"), Value::Null], false);
    check([json!(3), json!(3)], false);
    check([json!(3), json!(4)], true);
}

#[test]
fn documents_without_a_date_are_counted_and_a_field_without_dates_is_refused() {
    let text = |at: u64| format!("{} {}", words(0, 30), words(at + 1, 20));
    let searcher = searcher(&[
        (text(0), json!({"date": "May 1999"})),
        (text(1), json!({"date": "1999-05"})),
        (text(2), json!({})),
    ]);
    let mut all = families(&searcher, &FamilyOptions::default().date("date"));
    let family = all.next().unwrap().unwrap();
    assert_eq!(ids(&family), ["d1", "d0", "d2"]);
    let summary = all.summary();
    assert_eq!((summary.undated, summary.no_date), (2, Some(("d0".into(), "May 1999".into()))));
    let error = families(&searcher, &FamilyOptions::default().date("day")).next().unwrap();
    let error = error.unwrap_err().to_string();
    assert!(error.contains("`day`") && error.contains("`date`"), "{error}");
}

#[test]
fn families_of_one_document_and_since_a_cursor_are_those_of_all_that_they_touch() {
    let shared = |at: u64| words(100 + at, 40);
    let texts: Vec<(String, Value)> = (0..6)
        .map(|at| {
            let own = words(at, 30);
            (format!("{} {own} {}", shared(at % 2), shared(2 + at / 3)), json!({"n": at}))
        })
        .collect();
    let searcher = searcher(&texts);
    let options = FamilyOptions::default().date("n");
    let all = found(&searcher, &options);
    let of = |options: &FamilyOptions| told(found(&searcher, options));
    let with =
        |id: &str| told(all.iter().filter(|family| ids(family).contains(&id)).cloned().collect());
    for id in ["d0", "d3", "d5"] {
        assert_eq!(of(&options.clone().document(id)), with(id), "{id}");
        assert_eq!(with(id).len(), 2);
    }
    let mut cursor = families(&searcher, &options);
    assert!(cursor.next().is_some());
    assert_eq!(of(&options.clone().since(cursor.summary().cursor)), []);
    assert_eq!(of(&options.clone().since(0u64)).len(), all.len());
}

/// Families without their numbers, and without the relation of carriers to the requested document.
fn told(families: Vec<Family>) -> Vec<Family> {
    let without_relation = |carrier| Carrier { relation: None, ..carrier };
    let told = families.into_iter().map(|family| Family {
        family: 0,
        carriers: family.carriers.into_iter().map(without_relation).collect(),
        ..family
    });
    told.collect()
}

#[test]
fn carriers_relate_to_the_requested_document_as_their_dates_do() {
    let dates = [json!("1885"), json!("1885"), Value::Null, json!("1885-03"), json!("1890")];
    let texts: Vec<(String, Value)> = (1..)
        .zip(dates)
        .map(|(at, date)| (format!("{} {}", words(0, 30), words(at, 20)), json!({"date": date})))
        .collect();
    let searcher = searcher(&texts);
    let check = |options: FamilyOptions, expected: [Option<DateRelation>; 5]| {
        let families = found(&searcher, &options);
        let mut carriers = families[0].carriers.clone();
        carriers.sort_by(|a, b| a.id.cmp(&b.id));
        let relations: Vec<_> = carriers.iter().map(|carrier| carrier.relation).collect();
        assert_eq!(relations, expected, "{options:?}");
    };
    let (earlier, later) = (Some(DateRelation::Earlier), Some(DateRelation::Later));
    let (same, unknown) = (Some(DateRelation::SameDate), Some(DateRelation::Unknown));
    let by_date = FamilyOptions::default().date("date");
    check(by_date.clone().document("d0"), [None, same, unknown, unknown, later]);
    check(by_date.clone().document("d3"), [unknown, unknown, unknown, None, later]);
    check(by_date.clone().document("d4"), [earlier, earlier, unknown, earlier, None]);
    check(by_date.clone(), [None; 5]);
    let added = FamilyOptions::default().document("d4");
    check(added, [unknown, unknown, unknown, unknown, None]);
    // A direction is certain only between documents with dates that differ.
    let families = found(&searcher, &by_date);
    let by: Vec<_> = families[0].carriers.iter().map(|carrier| carrier.direction_by).collect();
    let (date, added) = (Some(DirectionBy::Date), Some(DirectionBy::Added));
    assert_eq!(by, [None, added, added, date, added], "{:?}", ids(&families[0]));
}

#[test]
fn documents_that_were_added_at_the_same_time_tell_no_direction() {
    let index = Index::in_memory(Config::new("winnow(k=3,w=4)", "words", true).unwrap()).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    let text = |at| format!("{} {}", words(0, 30), words(at, 20));
    writer.add(Document::new("z", text(1))).unwrap();
    writer.commit().unwrap();
    let snapshot = index.snapshot().unwrap();
    let other = Document::new("a", text(2));
    let other = cento::index::SignedDocument::new(other, index.config(), Stop::NEVER).unwrap();
    writer.add_at(other, &snapshot, snapshot.find("z").unwrap().unwrap()).unwrap();
    writer.add(Document::new("b", text(3))).unwrap();
    writer.finish().unwrap();
    let searcher = Searcher::new(index.snapshot().unwrap());
    let families = found(&searcher, &FamilyOptions::default());
    assert_eq!(ids(&families[0]), ["a", "z", "b"]);
    let by: Vec<_> = families[0].carriers.iter().map(|carrier| carrier.direction_by).collect();
    assert_eq!(by, [None, Some(DirectionBy::Unknown), Some(DirectionBy::Added)]);
}

#[test]
fn loops_that_any_two_programs_share_are_no_family_and_a_copy_is_one() {
    const STATEMENTS: [&str; 10] = [
        "for (int i = 0; i < n; i++) { sum += values[i]; }",
        "if (line == null) { return; }",
        "System.out.println(sum);",
        "int n = scanner.nextInt();",
        "while (queue.size() > 0) { node = queue.poll(); }",
        "list.add(new Node(left, right));",
        "for (String word : line.split(\" \")) { count++; }",
        "best = Math.max(best, sum - low);",
        "try { reader.close(); } catch (Exception e) { fail(e); }",
        "switch (kind) { case 1: open(); break; default: stop(); }",
    ];
    let statement = |seed: u64, at| {
        STATEMENTS[(cento_text::hash::mix64(seed << 32 | at) % STATEMENTS.len() as u64) as usize]
    };
    let method = |seed: u64, count: u64| {
        let statements: Vec<_> = (0..count).map(|at| statement(seed, at)).collect();
        format!("void run() {{ {} }}", statements.join(" "))
    };
    let program = |at: u64| {
        let copied = if at < 2 { method(99, 30) } else { String::new() };
        let text = format!("class Main {{ {copied} {} }}", method(at, 40));
        (text, json!({ "n": at }))
    };
    let texts: Vec<(String, Value)> = (0..24).map(program).collect();
    let searcher = searcher_by("code(language=java)", &texts);
    let families = found(&searcher, &FamilyOptions::default().date("n"));
    let all: Vec<_> = families.iter().map(|family| (ids(family), family.tokens)).collect();
    assert_eq!((all.len(), &all[0].0), (1, &vec!["d0", "d1"]), "{all:?}");
}

#[test]
fn tables_of_the_same_numbers_are_no_family() {
    // Each text has a table: a row of zeros and ones, and the numbers from 0 to 9 four times.
    let table = |at: u64| {
        let bits = (0..40).map(|bit| (at >> (bit % 8) & 1).to_string());
        let numbers = (0..40).map(|number| (number % 10).to_string());
        bits.chain(numbers).collect::<Vec<_>>().join(" ")
    };
    let text = |at: u64| (format!("{}. {}", words(at, 30), table(at)), json!({"n": at}));
    let mut texts: Vec<(String, Value)> = (1..7).map(text).collect();
    assert_eq!(found(&searcher(&texts), &FamilyOptions::default().date("n")), []);
    // A table becomes part of a passage if words are around it.
    let heading = words(50, 20);
    texts.iter_mut().take(2).for_each(|(text, _)| *text = format!("{heading} {}", table(1)));
    let families = found(&searcher(&texts), &FamilyOptions::default().date("n"));
    assert_eq!((families.len(), ids(&families[0])), (1, vec!["d0", "d1"]));
}

/// Compares all pairs of documents.
const ALL_PAIRS: Tuning = Tuning { all_pairs_max: usize::MAX, counted_max: 0 };

/// Compares as few pairs as possible.
const FEW_PAIRS: [Tuning; 2] = [
    Tuning { all_pairs_max: 0, counted_max: usize::MAX },
    Tuning { all_pairs_max: 0, counted_max: 0 },
];

#[test]
fn a_passage_of_many_documents_is_compared_as_often_as_it_is_carried() {
    let text = |at: u64| (format!("{}. {}", words(0, 60), words(at + 1, 40)), json!({"n": at}));
    let texts: Vec<(String, Value)> = (0..40).map(text).collect();
    let mut all = families(&searcher(&texts), &FamilyOptions::default().date("n"));
    let family = all.next().unwrap().unwrap();
    assert_eq!((family.documents, family.versions), (40, 1));
    assert!(all.next().is_none());
    // At most with the first and the nearest carrier. All pairs would be 780.
    let pairs = all.summary().pairs;
    assert!((39..=78).contains(&pairs), "{pairs}");
}

#[test]
fn little_memory_reads_fingerprints_in_parts_and_finds_the_same() {
    let text = |at: u64| (format!("{}. {}", words(at % 3, 40), words(at + 9, 200)), json!({}));
    let searcher = searcher(&(0..12).map(text).collect::<Vec<_>>());
    let options = FamilyOptions::default();
    let all: Vec<Family> = found(&searcher, &options);
    assert_eq!(all.len(), 3);
    for bytes in [4_000, 10_000, 100_000] {
        let some = families(&searcher, &options).memory_bytes(bytes).threads(3);
        assert_eq!(some.collect::<Result<Vec<_>>>().unwrap(), all, "{bytes}");
    }
}

#[test]
fn the_passages_take_no_more_memory_than_allowed() {
    let searcher = searcher(&[(words(0, 40), json!({})), (words(0, 41), json!({}))]);
    let options = FamilyOptions::default();
    let refused = families(&searcher, &options).memory_bytes(10).next().unwrap();
    assert!(matches!(refused, Err(cento::Error::Memory { .. })), "{refused:?}");
    assert_eq!(families(&searcher, &options).memory_bytes(1000).count(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Passages of unique words are planted in documents, with other words between them. The
    /// reference searches every text for every passage.
    #[test]
    fn planted_families_are_found_exactly(
        lengths in prop::collection::vec(2u64..5, 1..5),
        carried in prop::collection::vec(prop::collection::vec(0usize..5, 0..4), 2..8),
        by_date: bool,
    ) {
        let passages: Vec<String> =
            (0u64..).zip(&lengths).map(|(seed, &count)| words(seed, 10 * count)).collect();
        let mut texts = Vec::new();
        for (at, carried) in (0u64..).zip(&carried) {
            let mut text = words(1000 * (at + 1), 80);
            let mut carried = carried.clone();
            carried.sort_unstable();
            carried.dedup();
            for (next, which) in (1u64..).zip(carried) {
                let passage = passages.get(which).map_or("", String::as_str);
                text += &format!(". {passage}. {}", words(1000 * (at + 1) + next, 80));
            }
            // Dates are opposite to the order of addition.
            texts.push((text, json!({"n": 100 - at})));
        }
        let mut expected = Vec::new();
        for passage in &passages {
            let places = (0..texts.len()).filter_map(|at| {
                let start = texts[at].0.find(passage.as_str())?;
                Some((format!("d{at}"), start as u32, (start + passage.len()) as u32))
            });
            let mut places: Vec<_> = places.collect();
            if by_date {
                places.reverse();
            }
            if places.len() > 1 {
                expected.push(places);
            }
        }
        let searcher = searcher(&texts);
        let options = FamilyOptions { date: by_date.then(|| "n".into()), ..Default::default() };
        let mut families = found(&searcher, &options);
        prop_assert!(families.windows(2).all(|two| two[0].documents >= two[1].documents));
        prop_assert!(families.iter().all(|family| family.versions == 1 && family.complete));
        let mut places: Vec<Vec<_>> = families
            .drain(..)
            .map(|family| {
                let carriers = family.carriers.into_iter();
                carriers.map(|carrier| (carrier.id, carrier.start, carrier.end)).collect()
            })
            .collect();
        places.sort();
        expected.sort();
        prop_assert_eq!(places, expected);
    }

    /// Versions of passages, each with a changed word, are planted in documents. The reference
    /// compares all pairs of documents. A place may end a few words earlier than in the reference,
    /// beside a word that the first carrier has changed near the end of the passage.
    #[test]
    fn families_of_few_pairs_are_those_of_all_pairs(
        carried in prop::collection::vec(
            prop::collection::vec((0u64..4, 0u64..60, 0u64..6), 0..4), 2..12,
        ),
        threads in 1usize..4,
    ) {
        let texts: Vec<(String, Value)> = (0u64..)
            .zip(&carried)
            .map(|(at, carried)| {
                let mut text = words(1000 * (at + 1), 40);
                let mut carried = carried.clone();
                carried.sort_unstable();
                carried.dedup_by_key(|passage| passage.0);
                for (next, (which, edited, version)) in (1u64..).zip(carried) {
                    // Versions are handed down, so equal numbers mean equal words.
                    let passage = words(which, 60)
                        .replace(&word(which, edited), &word(500 + which, version));
                    text += &format!(". {passage}. {}", words(1000 * (at + 1) + next, 40));
                }
                (text, json!({"n": 100 - at}))
            })
            .collect();
        let searcher = searcher(&texts);
        let options = FamilyOptions::default().date("n");
        let of = |tuning: Tuning| {
            let found = families(&searcher, &options).tuning(tuning).threads(threads);
            let mut found = found.collect::<Result<Vec<Family>>>().unwrap();
            found.sort_by_key(|family| (ids(family).join(" "), family.carriers[0].start));
            found
        };
        let expected = of(ALL_PAIRS);
        for tuning in FEW_PAIRS.into_iter().chain([Tuning::default()]) {
            let few = of(tuning);
            prop_assert_eq!(few.len(), expected.len(), "{:?}: {:#?}, {:#?}", tuning, few, expected);
            for (one, other) in few.iter().zip(&expected) {
                prop_assert_eq!(ids(one), ids(other), "{:?}", tuning);
                prop_assert_eq!(one.first_is_certain, other.first_is_certain);
                for (one, other) in one.carriers.iter().zip(&other.carriers) {
                    let length = other.end - other.start;
                    let off = one.start.abs_diff(other.start) + one.end.abs_diff(other.end);
                    prop_assert!(5 * off <= length, "{:?}: {:?}, {:?}", tuning, one, other);
                }
            }
        }
    }
}
