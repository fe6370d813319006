//! The real binary: choosing the representative of a cluster.

use serde_json::json;

use crate::common::run::{Dir, line};
use crate::common::words;

#[test]
fn documents_without_the_field_of_a_preference_are_counted() {
    let dir = Dir::new();
    let date = |of: u64| if of < 3 { json!({"date": 9 - of}) } else { json!({}) };
    let lines = (0..5u64).map(|of| line(&format!("a{of}"), &words(1, 60), date(of)));
    dir.write("in.jsonl", lines.collect::<String>());
    dir.json(&["add", "idx", "in.jsonl"]);
    let run = dir.run(&["cluster", "idx", "--prefer", "date", "--format", "json"]);
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(
        run.err.contains("2 documents without the field `date`: preferred last"),
        "{}",
        run.err
    );
    assert!(run.out.contains("\"representative\":\"a2\""), "{}", run.out);
    let oldest = dir.run(&["cluster", "idx"]);
    assert!(!oldest.err.contains("without the field"), "{}", oldest.err);
}

#[test]
fn a_group_has_numbers_and_the_strings_of_their_digits() {
    // As a filter finds both: a table has strings only, and programs write either.
    let dir = Dir::new();
    let text = words(1, 60);
    let years = [json!(2020), json!("2020"), json!(2020.0), json!(2021), json!("2021")];
    let lines: Vec<String> = ('a'..)
        .zip(&years)
        .map(|(id, year)| line(&id.to_string(), &text, json!({"year": year, "of": {"n": year}})))
        .collect();
    dir.write("in.jsonl", lines.concat());
    dir.json(&["add", "idx", "in.jsonl"]);
    let count = |args: &[&str]| {
        let run = dir.run(&[args, &["--format", "json"]].concat());
        assert_eq!(run.status, 0, "{args:?}: {}", run.err);
        run.out.lines().filter(|line| line.contains("\"a\":")).count()
    };
    for field in ["year", "meta.year", "of.n", "meta.of.n"] {
        assert_eq!(count(&["pairs", "idx", "--within", field]), 4, "{field}");
        assert_eq!(count(&["pairs", "idx", "--group-by", field]), 6, "{field}");
        assert_eq!(count(&["pairs", "in.jsonl", "--within", field, "-n", "20"]), 4, "{field}");
        let dedup = ["dedup", "in.jsonl", "--within", field, "--out"];
        let out = format!("{field}.jsonl");
        assert_eq!(dir.json(&[&dedup[..], &[&out]].concat())["kept"], 2, "{field}");
        let filter = format!("{field}:2020");
        let listed = dir.run(&["list", "idx", "--filter", &filter, "--format", "json"]);
        assert_eq!(listed.out.lines().count(), 3, "{}", listed.out);
    }
    let boilerplate = ["method", "boilerplate", "idx", "--within", "meta.year"];
    assert!(dir.run(&boilerplate).status < 2);
}

#[test]
fn a_field_that_decides_may_be_named_with_meta_as_in_a_filter() {
    let dir = Dir::new();
    let text = words(1, 60);
    let scores = [("a", json!(10)), ("b", json!(9)), ("c", json!(8.5))];
    let lines: String =
        scores.iter().map(|(id, score)| line(id, &text, json!({ "score": score }))).collect();
    dir.write("in.jsonl", &lines);
    dir.json(&["add", "idx", "in.jsonl"]);
    for (prefer, expected) in
        [("score", "c"), ("-score", "a"), ("meta.score", "c"), ("-meta.score", "a")]
    {
        let prefer = format!("--prefer={prefer}");
        let run = dir.run(&["cluster", "idx", &prefer, "--format", "json"]);
        assert!(run.out.contains(&format!("\"representative\":\"{expected}\"")), "{}", run.out);
        let out = format!("out{prefer}.jsonl");
        let run = dir.run(&["dedup", "in.jsonl", &prefer, "--out", &out]);
        assert_eq!(run.status, 0, "{}", run.err);
        let kept = std::fs::read_to_string(dir.path(&out)).unwrap();
        assert!(kept.starts_with(&format!("{{\"id\":\"{expected}\"")), "{prefer}: {kept}");
    }
}
