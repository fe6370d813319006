//! The real binary: families of early printed books, where spellings and the ends of passages
//! differ.

use serde_json::{Value, json};

use crate::common::run::Dir;

const ILIAD: &str = include_str!("editions/iliad.jsonl");
const VULGATE: &str = include_str!("editions/vulgate.jsonl");
const GENESIS: &str = include_str!("editions/genesis.jsonl");

/// An index of early printed books with these documents.
fn prints(lines: &str) -> Dir {
    let dir = Dir::new();
    dir.write("in.jsonl", lines);
    assert_eq!(dir.run(&["create", "idx", "--for", "ocr"]).status, 0);
    assert_eq!(dir.json(&["add", "idx", "in.jsonl"])["added"], lines.lines().count());
    dir
}

/// The output of a command, by lines of JSON.
fn found(dir: &Dir, args: &[&str]) -> Vec<Value> {
    let run = dir.run(&[args, &["--format", "json"]].concat());
    assert_eq!(run.status, 0, "{}", run.err);
    run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn families(dir: &Dir) -> Vec<Value> {
    found(dir, &["families", "idx", "--date", "date"])
}

#[test]
fn spellings_that_the_index_takes_for_equal_are_one_version_of_as_many_words_as_a_passage_has() {
    for texts in [ILIAD, VULGATE] {
        let dir = prints(texts);
        let (families, passages) = (
            families(&dir),
            found(&dir, &["pairs", "idx", "--min-passage", "20", "--context", "40"]),
        );
        assert_eq!((families.len(), passages.len()), (1, 1), "{families:?} {passages:?}");
        let (family, passage) = (&families[0], &passages[0]);
        assert_eq!(passage["similarity"], 1.0);
        assert_eq!(family["tokens"], passage["tokens"], "{family}");
        assert_eq!(family["versions"], 1, "{family}");
        let later = &family["carriers"][1];
        assert_eq!((&later["nearest"], &later["similarity"]), (&json!(1), &json!(1.0)));
        assert!(later.get("changes").is_none(), "{family}");
    }
}

/// The changes of each carrier, as removed and added words.
fn changes(family: &Value) -> Vec<(&str, &str)> {
    let carriers = family["carriers"].as_array().unwrap().iter();
    let changes = carriers.flat_map(|carrier| carrier["changes"].as_array().into_iter().flatten());
    changes
        .map(|change| (change["removed"].as_str().unwrap(), change["added"].as_str().unwrap()))
        .collect()
}

#[test]
fn a_version_adds_no_words_that_the_other_has_beside_its_place() {
    let editions: Vec<&str> = GENESIS.lines().collect();
    let of = |some: &[usize]| some.iter().map(|&at| format!("{}\n", editions[at])).collect();
    for some in [&[1, 2][..], &[0, 1], &[0, 2], &[0, 1, 2], &[2, 1, 0]] {
        let lines: String = of(some);
        let families = families(&prints(&lines));
        assert_eq!(families.len(), 1, "{families:?}");
        let family = &families[0];
        assert_eq!(family["documents"], some.len());
        for (removed, added) in changes(family) {
            // Every edition begins and ends with the same words.
            for words in [removed, added].map(str::to_lowercase) {
                assert!(!words.contains("beginning") && !words.contains("first day"), "{family}");
                assert!(!words.contains("and the earth"), "{family}");
            }
        }
        if some.len() == 3 {
            let carriers = family["carriers"].as_array().unwrap();
            assert!(carriers.iter().all(|carrier| carrier["start"] == 0), "{family}");
        }
    }
}
