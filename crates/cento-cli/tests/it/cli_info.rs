//! The lists of schemes, analyzers, measures and formats.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::common::run::Dir;

/// The entries of a list, by their names.
fn listed(dir: &Dir, args: &[&str]) -> HashMap<String, Value> {
    let run = dir.run(&[args, &["--format", "json"]].concat());
    assert_eq!(run.status, 0, "{}", run.err);
    let entries = run.out.lines().map(|line| {
        let entry: Value = serde_json::from_str(line).unwrap();
        (entry["name"].as_str().unwrap().to_owned(), entry)
    });
    entries.collect()
}

#[test]
fn every_list_says_all_there_is_to_know() {
    let dir = Dir::new();
    for (list, count) in [
        ("schemes", cento::scheme::families().len()),
        ("analyzers", cento::text::analyzer::families().len()),
        ("measures", cento::compare::measure::families().len()),
    ] {
        let entries = listed(&dir, &["info", list]);
        assert_eq!(entries.len(), count, "{list}");
        let text = dir.run(&["info", list]).out;
        for (name, entry) in &entries {
            let spec = entry["spec"].as_str().unwrap();
            assert!(text.lines().any(|line| line == spec), "{spec} is not in the text");
            assert!(text.contains(entry["summary"].as_str().unwrap()), "{name}");
            for parameter in entry["parameters"].as_array().unwrap() {
                assert!(!parameter["meaning"].as_str().unwrap().is_empty(), "{parameter}");
                let has_bounds = parameter["min"].is_u64() && parameter["max"].is_u64();
                let has_values =
                    parameter["values"].is_array() && !parameter["default"].is_number();
                assert!(has_bounds != has_values, "{parameter}");
            }
        }
    }
}

#[test]
fn an_entry_of_each_list() {
    let dir = Dir::new();
    let winnow = &listed(&dir, &["info", "schemes", "winnow"])["winnow"];
    assert_eq!(winnow["spec"], "winnow(k=5,w=10)");
    assert_eq!((&winnow["kind"], &winnow["span"]), (&json!("positional"), &json!("5 tokens")));
    assert_eq!(winnow["table"], Value::Null);
    assert!(winnow["source"].as_str().unwrap().contains("Schleimer"));
    let w = &winnow["parameters"][1];
    assert_eq!((&w["name"], &w["default"]), (&json!("w"), &json!(10)));
    assert_eq!((&w["min"], &w["max"]), (&json!(1), &json!(512)));
    let schemes = listed(&dir, &["info", "schemes", "spex", "minhash", "se"]);
    assert_eq!(schemes.len(), 3);
    assert_eq!(schemes["spex"]["table"], "runs of k tokens that occur twice or more");
    assert_eq!(schemes["minhash"]["kind"], "sketch");
    assert_eq!(schemes["se"]["span"], "a segment of any length");
    let code = &listed(&dir, &["info", "analyzers"])["code"];
    assert_eq!(code["parameters"][0]["values"][4], "rust");
    let measures = listed(&dir, &["info", "measures"]);
    assert_eq!(measures["cosine"]["collection"], true);
    assert_eq!(measures["containment"]["asymmetric"], true);
    assert_eq!(measures["damerau"]["costs"], "n m");
}

#[test]
fn an_example_of_each_list_can_be_used() {
    let dir = Dir::new();
    dir.write("a.txt", "one two three four five six seven eight nine ten eleven twelve");
    for (name, entry) in listed(&dir, &["info", "analyzers"]) {
        let run = dir.run(&[
            "method",
            "fingerprint",
            "a.txt",
            "--analyzer",
            entry["example"].as_str().unwrap(),
        ]);
        assert_eq!(run.status, 0, "{name}: {}", run.err);
    }
    for (name, entry) in listed(&dir, &["info", "measures"]) {
        let run = dir.run(&[
            "compare",
            "a.txt",
            "a.txt",
            "--measures",
            entry["example"].as_str().unwrap(),
        ]);
        assert_eq!(run.status, 0, "{name}: {}", run.err);
    }
    for (name, entry) in listed(&dir, &["info", "schemes"]) {
        let run = dir.run(&[
            "method",
            "fingerprint",
            "a.txt",
            "--scheme",
            entry["example"].as_str().unwrap(),
        ]);
        let needs_table = run.err.contains("it needs a frequency table");
        assert_eq!(needs_table, entry["table"].is_string(), "{name}: {}", run.err);
        assert_eq!(run.status, if needs_table { 2 } else { 0 }, "{name}: {}", run.err);
    }
}

#[test]
fn an_unknown_name_is_refused_with_a_list_of_the_known_ones() {
    let dir = Dir::new();
    let refused = dir.run(&["info", "schemes", "winow"]);
    assert_eq!(refused.status, 2);
    assert!(
        refused.err.contains("no such scheme") && refused.err.contains("winnow"),
        "{}",
        refused.err
    );
}

#[test]
fn the_readme_and_the_book_name_every_scheme_and_only_what_there_is() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |name| std::fs::read_to_string(root.join(name)).unwrap();
    let text = read("README.md") + &read("docs/concepts/schemes.md");
    let families = cento::scheme::families();
    for family in families {
        let (alone, called) = (format!("`{}`", family.name), format!("`{}(", family.name));
        assert!(text.contains(&alone) || text.contains(&called), "{} is not named", family.name);
    }
    // A quotation in backticks that begins like a scheme with values must be a valid scheme.
    for line in text.lines() {
        for quoted in line.split('`').skip(1).step_by(2) {
            let name = quoted.split('(').next().unwrap();
            let is_scheme = families.iter().any(|family| family.name == name);
            if is_scheme && quoted.ends_with(')') && quoted.contains('=') {
                let error = cento::scheme::parse(quoted).err().map(|error| error.to_string());
                let is_whole = error.as_ref().is_none_or(|error| error.contains("needs a freq"));
                assert!(is_whole, "{error:?}");
            }
        }
    }
}

#[test]
fn every_format_is_listed_with_whether_this_build_reads_it() {
    let dir = Dir::new();
    let formats = listed(&dir, &["info", "formats"]);
    assert_eq!(formats.len(), cento_source::formats().len());
    let text = dir.run(&["info", "formats"]).out;
    for format in cento_source::formats() {
        let entry = &formats[format.name];
        assert_eq!(entry["available"], format.is_built, "{}", format.name);
        assert_eq!(entry["feature"].as_str(), format.feature, "{}", format.name);
        assert!(text.contains(format.documents), "{}", format.name);
    }
    assert_eq!(text.contains("its feature `office` is off"), !cfg!(feature = "office"));
    let refused = dir.run(&["info", "formats", "wav"]);
    assert_eq!(refused.status, 2);
    assert!(refused.err.contains("no such format; there are text, json-lines"), "{}", refused.err);
}
