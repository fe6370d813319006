//! Submissions by their names: in reports without names, in archives, in groups, in empty
//! directories.

use serde_json::Value;

use crate::common::run::Dir;
use crate::common::{words, zip};

/// The names of documents in pairs, without repetitions, in order.
fn documents(out: &str) -> Vec<String> {
    let lines = out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let pairs = lines.filter(|line| line["a"].is_string());
    let mut names: Vec<String> = pairs
        .flat_map(|pair| [pair["a"].clone(), pair["b"].clone()])
        .map(|name| name.as_str().unwrap().to_owned())
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[test]
fn a_report_without_names_has_no_name_of_an_input() {
    // The directories of libraries had the names of students, and the sources were in the order of
    // the names.
    let dir = Dir::new();
    for (seed, name) in [(1, "evelinde"), (2, "fridolin")] {
        dir.write(&format!("lastyear/{name}/main.txt"), words(seed, 90));
    }
    dir.run(&["add", "earlierworks.idx", "lastyear", "--by", "directory"]);
    let own = |seed: u64, rest: &str| format!("{} {} {rest}", words(9, 30), words(seed, 60));
    dir.write("klasse/annabella/main.txt", own(11, &words(1, 50)));
    dir.write("klasse/annabella/node_modules/leftpad.txt", "x");
    dir.write("klasse/bartholomew/main.txt", own(12, &words(20, 30)));
    dir.write("klasse/corinthia/main.txt", own(13, &words(20, 30)));
    dir.write("klasse/desdemona/main.txt", words(14, 44));
    dir.write("klasse/ezechiel/main.txt", words(15, 33));
    dir.write("klasse/gwendolyn/leer.txt", "");
    dir.write("klasse/hannibal/.DS_Store", "x");
    dir.write("klasse/ignatius/w.zip", "PK\x03\x04 damaged");
    dir.write("arbeitsblatt.txt", words(9, 30));
    let args = ["pairs", "klasse", "--by", "directory", "--against", "earlierworks.idx"];
    let args = [&args[..], &["-b", "arbeitsblatt.txt", "--min-similarity", "0.1"]].concat();
    dir.run(&[&args[..], &["--report", "n.json"]].concat());
    let reports = ["--anonymous", "--report", "r.json", "--report", "r.html", "--report", "r.csv"];
    let ran = dir.run(&[&args[..], &reports].concat());
    assert!(ran.out.contains("annabella"), "{}", ran.err);
    let read = |name: &str| std::fs::read_to_string(dir.path(name)).unwrap();
    let names = ["annabella", "bartholomew", "corinthia", "desdemona", "ezechiel", "gwendolyn"];
    let names = [&names[..], &["hannibal", "ignatius", "evelinde", "fridolin"]].concat();
    let places = ["klasse", "lastyear", "earlierworks", "arbeitsblatt", "main.txt", "leer.txt"];
    let places = [&places[..], &["w.zip", "node_modules", "leftpad", "DS_Store"]].concat();
    for report in ["r.json", "r.html", "r.csv"] {
        let text = read(report);
        for name in names.iter().chain(&places) {
            assert!(!text.contains(name), "{report} has {name}");
        }
    }
    let json = |name: &str| serde_json::from_str::<Value>(&read(name)).unwrap();
    let (named, unnamed) = (json("n.json"), json("r.json"));
    let rows = |report: &Value| -> Vec<[u64; 5]> {
        let sources = report["sources"].as_array().unwrap().iter();
        let row = |one: &Value| {
            ["tokens", "new", "known", "shared", "boilerplate"].map(|of| one[of].as_u64().unwrap())
        };
        let mut rows: Vec<_> = sources.map(row).collect();
        rows.sort_unstable();
        rows
    };
    assert_eq!((rows(&unnamed), rows(&unnamed).len()), (rows(&named), 5));
    let numbers: Vec<&Value> =
        unnamed["sources"].as_array().unwrap().iter().map(|one| &one["document"]).collect();
    // Documents in pairs come first, then the remaining documents by number of words.
    let last: Vec<&str> = numbers[3..].iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(last, ["Document 5", "Document 6"], "{numbers:?}");
    assert_eq!(unnamed["sources"][3]["tokens"], 44);
    let parameters = &unnamed["run"]["parameters"];
    assert_eq!(parameters["limit"], "200");
    assert_eq!(parameters["skipped by name"], "2 files");
    let left_out = named["run"]["parameters"]["skipped by name"].as_str().unwrap();
    assert!(left_out.starts_with("2 files: klasse/annabella/node_modules"), "{left_out}");
}

#[test]
fn documents_of_one_group_are_refused_with_the_group() {
    // Regression: nothing was compared, and the report said that no pair is similar enough.
    let dir = Dir::new();
    let files = ["ann/try1", "bob/try1", "bob/try2", "cas/try1"];
    let text = words(1, 60);
    for file in files {
        dir.write(&format!("2026/{file}/e.txt"), &text);
    }
    let named = files.map(|file| format!("2026/{file}/e.txt"));
    let entries: Vec<_> = named.iter().map(|name| (name.as_str(), text.as_bytes())).collect();
    dir.write("z.zip", zip(&entries));
    let by = ["--by", "{student}/{document}/{part}"];
    let ran = dir.run(&[&["pairs", "z.zip", "--group-by", "student"], &by[..]].concat());
    assert_eq!(ran.status, 2, "{}", ran.out);
    let why = "documents are of one group (`student` is 2026), so there are no pairs to compare";
    assert!(ran.err.contains(why), "{}", ran.err);
    let deeper = "{part} has a directory in all files, such as `try1/e.txt`";
    let advice = "--by '{*}/{student}/{document}/{part}' begins one directory further down";
    assert!(ran.err.contains(deeper) && ran.err.contains(advice), "{}", ran.err);
    let by = ["--by", "{*}/{student}/{document}/{part}", "--format", "json"];
    let ran = dir.run(&[&["pairs", "z.zip", "--group-by", "student"], &by[..]].concat());
    assert_eq!((ran.status, documents(&ran.out).len()), (0, 4), "{}", ran.err);
    assert!(!ran.err.contains("has a directory"), "{}", ran.err);
    let args = ["pairs", "2026", "--by", "directory", "--group-by", "{year}/{*}"];
    let ran = dir.run(&args);
    let why = "all 3 documents are of one group (`year` is 2026)";
    assert!(ran.status == 2 && ran.err.contains(why), "{}", ran.err);
    // The documents of an index give the same message.
    dir.run(&["add", "idx", "2026", "--meta", "term=2026"]);
    let ran = dir.run(&["pairs", "idx", "--group-by", "term"]);
    let why = "all 4 documents are of one group (`term` is 2026)";
    assert!(ran.status == 2 && ran.err.contains(why), "{}", ran.err);
}

#[test]
fn an_absolute_name_in_an_archive_joins_no_submissions() {
    // Regression: every submission became part of a single document.
    let dir = Dir::new();
    let inner = |seed: u64| zip(&[("essay.txt", words(seed, 60).as_bytes())]);
    let (ann, bob, cas) = (inner(1), inner(1), inner(1));
    let entries = [("ann/work.zip", &ann[..]), ("bob/work.zip", &bob), ("/abs/essay.zip", &cas)];
    let evil = words(1, 60);
    let entries = [&entries[..], &[("../evil.txt", evil.as_bytes())]].concat();
    dir.write("m.zip", zip(&entries));
    let expected = [
        ("archive", ["m.zip/abs/essay.zip", "m.zip/ann/work.zip", "m.zip/bob/work.zip"]),
        ("directory", ["m.zip/abs", "m.zip/ann", "m.zip/bob"]),
    ];
    for (by, expected) in expected {
        let ran = dir.run(&["pairs", "m.zip", "--by", by, "--format", "json"]);
        assert_eq!(documents(&ran.out), expected, "--by {by}: {}", ran.err);
        let refused = "m.zip/../evil.txt: its name leads out of the archive";
        assert!(ran.status == 3 && ran.err.contains(refused), "{}", ran.err);
    }
}

#[test]
fn an_empty_submission_is_named_once() {
    let dir = Dir::new();
    let text = words(1, 60);
    for name in ["ann", "bob"] {
        dir.write(&format!("h/{name}/main.txt"), &text);
    }
    std::fs::create_dir_all(dir.path("h/cas")).unwrap();
    std::fs::create_dir_all(dir.path("h/ann/empty")).unwrap();
    let named = [("h/ann/main.txt", text.as_bytes()), ("h/bob/main.txt", text.as_bytes())];
    let entries = [&named[..], &[("h/cas/", &b""[..]), ("h/ann/", b"")]].concat();
    dir.write("h.zip", zip(&entries));
    let check = |inputs: &[&str], place: &str| {
        let ran = dir.run(&[&["pairs"], inputs, &["--by", "directory"]].concat());
        let said = format!("cento: {place}: skipped: it has no files\n");
        assert_eq!((ran.status, ran.err.matches(&said).count()), (3, 1), "{}", ran.err);
        assert_eq!(ran.err.matches("it has no files").count(), 1, "{}", ran.err);
        assert!(ran.err.contains("1 text not compared"), "{}", ran.err);
    };
    check(&["h"], "h/cas");
    check(&["h.zip"], "h.zip/h/cas");
    // Links were left out twice.
    check(&["h", "h"], "h/cas");
}

#[test]
fn the_edges_of_files_have_the_resemblance_as_those_of_indexes() {
    let dir = Dir::new();
    dir.write("in/a.txt", format!("{} {}", words(1, 60), words(2, 60)));
    dir.write("in/b.txt", format!("{} {}", words(1, 60), words(3, 60)));
    dir.run(&["add", "idx", "in"]);
    let edges = |input: &str| {
        dir.run(&["pairs", input, "--graph", "g.graphml"]);
        let text = std::fs::read_to_string(dir.path("g.graphml")).unwrap();
        text.lines()
            .filter(|line| line.contains("key=\"weight\""))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!((edges("in"), edges("in").len()), (edges("idx"), 1));
}
