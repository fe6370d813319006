//! Submissions of a class: documents of several files, several attempts of an author, documents of
//! earlier years.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::common::run::Dir;
use crate::common::{words, zip};

/// The pairs of a run as `a b`, in order, and the remaining lines.
#[track_caller]
fn pairs(dir: &Dir, args: &[&str]) -> (Vec<String>, Vec<Value>) {
    let ran = dir.run(&[args, &["--format", "json"]].concat());
    assert!(ran.status < 2, "{args:?}: {}", ran.err);
    let lines = ran.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let (pairs, rest): (Vec<Value>, Vec<Value>) = lines.partition(|line| line["a"].is_string());
    let name = |id: &Value, index: &Value| match index.as_str() {
        Some(index) => format!("{} in {index}", id.as_str().unwrap()),
        None => id.as_str().unwrap().to_owned(),
    };
    let named = |pair: &Value| {
        format!("{} {}", name(&pair["a"], &pair["index_a"]), name(&pair["b"], &pair["index_b"]))
    };
    (pairs.iter().map(named).collect(), rest)
}

/// Writes three students with two files each. The second file is the same for every student.
fn students(dir: &Dir) {
    for (number, name) in ["ann", "bob", "cas"].into_iter().enumerate() {
        dir.write(&format!("students/{name}/main.txt"), words(number as u64, 60));
        dir.write(&format!("students/{name}/lib/shared.txt"), words(9, 40));
    }
}

#[test]
fn each_directory_that_the_shell_names_is_a_submission() {
    // Regression: each file was a submission, and Main.txt of two students was a pair.
    let dir = Dir::new();
    students(&dir);
    let expected: BTreeSet<String> =
        ["students/ann students/bob", "students/ann students/cas", "students/bob students/cas"]
            .map(str::to_owned)
            .into();
    let named = ["students/ann", "students/bob", "students/cas"];
    for paths in [&named[..], &["students"]] {
        let (found, _) = pairs(&dir, &[&["pairs"], paths, &["--by", "directory"]].concat());
        assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected, "{paths:?}");
    }
    let ran = dir.run(&[&["pairs"], &named[..], &["--by", "directory"]].concat());
    assert!(
        ran.err.contains("each folder or archive that you name is one document"),
        "{}",
        ran.err
    );
    assert!(ran.out.contains("students/ann/lib/shared.txt  students/bob/lib/shared.txt"));
}

#[test]
fn a_pattern_makes_submissions_of_the_names_of_a_learning_platform() {
    let dir = Dir::new();
    for (name, seed) in
        [("lindqvistada_LATE_91230", 1), ("okaforbruno_91231", 1), ("prieto_91232", 2)]
    {
        for (number, file) in ["Main.txt", "Inventory.txt"].into_iter().enumerate() {
            let text = words(seed * 10 + number as u64, 60);
            dir.write(&format!("flat/{name}_555000{number}_{file}"), text);
        }
    }
    dir.write("flat/README", words(5, 60));
    let args = ["pairs", "flat", "--by", "{document}{_LATE?}_{*}_{*}_{part}"];
    let ran = dir.run(&[&args[..], &["--format", "json"]].concat());
    let first: Value = serde_json::from_str(ran.out.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["a"], &first["b"]),
        (&json!("flat/lindqvistada"), &json!("flat/okaforbruno"))
    );
    assert_eq!(first["symmetric"], 1.0);
    assert_eq!(first["files"][0]["a"], "flat/lindqvistada/Inventory.txt");
    // The message gives the file that does not fit the pattern.
    assert!(ran.status == 3 && ran.err.contains("flat/README"), "{}", ran.err);
    assert!(ran.err.contains("does not fit the pattern"), "{}", ran.err);
    for (by, why) in [("{name}_{part}", "{document}"), ("students", "expected file, directory")] {
        let ran = dir.run(&["pairs", "flat", "--by", by]);
        assert!(ran.status == 2 && ran.err.contains(why), "{}", ran.err);
    }
}

#[test]
fn an_index_holds_submissions_with_their_parts_and_meta() {
    let dir = Dir::new();
    students(&dir);
    dir.write("students/bob/stock.json", "[1, 2]");
    let added = ["add", "idx", "students", "--by", "directory", "--meta", "term=2025"];
    let report = dir.json(&added);
    assert_eq!((&report["added"], &report["skipped_by_name"]), (&json!(3), &json!(1)));
    // A second run changes nothing. Without one file, the document of the same id differs.
    assert_eq!(dir.json(&added)["unchanged"], 3);
    std::fs::remove_file(dir.path("students/bob/main.txt")).unwrap();
    let report = dir.json(&added);
    assert_eq!((&report["replaced"], &report["unchanged"]), (&json!(1), &json!(2)));
    let shown = dir.json(&["show", "idx", "students/ann"]);
    assert_eq!(shown["meta"], json!({"term": 2025}));
    let text = shown["text"].as_str().unwrap();
    assert_eq!(text, format!("{}\n{}", words(9, 40), words(0, 60)), "lib/shared.txt, main.txt");
}

#[test]
fn several_tries_of_an_author_are_in_no_pair_with_each_other() {
    let dir = Dir::new();
    for (number, name) in ["ann", "bob", "cas"].into_iter().enumerate() {
        for attempt in 1..=2 {
            let text = format!("{} {}", words(number as u64, 60), words(20 + attempt, 40));
            dir.write(&format!("rs/{name}/try{attempt}.txt"), text);
        }
    }
    let (all, _) = pairs(&dir, &["pairs", "rs"]);
    assert!(all.contains(&"rs/ann/try1.txt rs/ann/try2.txt".into()), "{all:?}");
    let (across, _) = pairs(&dir, &["pairs", "rs", "--group-by", "{author}/{*}"]);
    assert!(!across.is_empty());
    for pair in &across {
        let (a, b) = pair.split_once(' ').unwrap();
        assert_ne!(a.split('/').nth(1), b.split('/').nth(1), "{pair}");
    }
    // A field of the pattern that makes the documents does the same, and so does an index.
    let by = ["--by", "{author}/{document}", "--group-by", "author"];
    let (by_field, _) = pairs(&dir, &[&["pairs", "rs"], &by[..]].concat());
    assert_eq!(by_field.len(), across.len());
    dir.run(&["add", "idx", "rs"]);
    let stored = ["pairs", "idx", "--group-by", "{author}/{*}", "--min-overlap", "1"];
    let (stored, _) = pairs(&dir, &stored);
    assert_eq!(stored.into_iter().collect::<BTreeSet<_>>(), across.into_iter().collect());
    let ran = dir.run(&["pairs", "rs", "--group-by", "{a}/{b}/{c}/{d}"]);
    assert!(ran.status == 2 && ran.err.contains("an id is `rs/ann/try1.txt`"), "{}", ran.err);
}

/// Earlier years in an index, and a new one on the disk: ann copied from an earlier year, bob and
/// cas have a passage in common, dan is alone. Two of the earlier ones are equal.
fn years(dir: &Dir) {
    for (year, name, seed) in [(2023, "eve", 1), (2023, "fay", 1), (2024, "gil", 2)] {
        dir.write(&format!("{year}/{name}/main.txt"), words(seed, 90));
    }
    dir.run(&["add", "old.idx", "2023", "2024", "--by", "directory", "--meta", "course=cs"]);
    dir.write("2025/ann/main.txt", format!("{} {}", words(2, 60), words(10, 60)));
    dir.write("2025/bob/main.txt", format!("{} {}", words(3, 60), words(11, 60)));
    dir.write("2025/cas/main.txt", format!("{} {}", words(12, 60), words(3, 60)));
    dir.write("2025/dan/main.txt", words(13, 90));
}

#[test]
fn new_files_are_compared_with_each_other_and_with_an_index_but_not_old_with_old() {
    let dir = Dir::new();
    years(&dir);
    let args = ["pairs", "2025", "--by", "directory", "--against", "old.idx"];
    let (found, sources) = pairs(&dir, &args);
    assert_eq!(found, ["2025/ann 2024/gil in old.idx", "2025/bob 2025/cas"]);
    let share = |name: &str, of: &str| {
        let one = sources.iter().find(|one| one["document"] == name).unwrap();
        one[of].as_f64().unwrap() / one["tokens"].as_f64().unwrap()
    };
    assert!((share("2025/ann", "known") - 0.5).abs() < 0.05 && share("2025/ann", "shared") == 0.0);
    assert!((share("2025/bob", "shared") - 0.5).abs() < 0.05 && share("2025/bob", "known") == 0.0);
    assert_eq!((share("2025/dan", "new"), sources.len()), (1.0, 4));
    // A single new document is enough, because the index decides on scheme and analyzer.
    let (found, _) = pairs(&dir, &["pairs", "2025/ann/main.txt", "--against", "old.idx"]);
    assert_eq!(found, ["2025/ann/main.txt 2024/gil in old.idx"]);
    let ran = dir.run(&[&args[..], &["--scheme", "kgram(k=3)"]].concat());
    assert!(ran.status == 2 && ran.err.contains("omit --for, --scheme"), "{}", ran.err);
    let reported = [&args[..], &["--report", "r.html", "--report", "r.json"]].concat();
    assert_eq!(dir.run(&reported).status, 0);
    let html = std::fs::read_to_string(dir.path("r.html")).unwrap();
    assert!(html.contains("New documents") && html.contains("2024/gil in old.idx"));
    let report: Value =
        serde_json::from_str(&std::fs::read_to_string(dir.path("r.json")).unwrap()).unwrap();
    assert_eq!((&report["compared"], report["sources"].as_array().unwrap().len()), (&json!(7), 4));
}

#[test]
fn what_was_compared_is_added_once() {
    let dir = Dir::new();
    years(&dir);
    let args = ["pairs", "2025", "--by", "directory", "--against", "old.idx"];
    let add = [&args[..], &["--add", "--meta", "term=2025"]].concat();
    let (first, _) = pairs(&dir, &args);
    let (found, _) = pairs(&dir, &add);
    assert_eq!(found, first);
    let listed = || dir.run(&["list", "old.idx", "--format", "json"]).out;
    let all = listed();
    assert_eq!(all.lines().count(), 7, "{all}");
    assert_eq!(all.matches("\"term\":2025").count(), 4, "{all}");
    // In a second run, the index has each document already. A document is not a copy of itself.
    let (found, _) = pairs(&dir, &add);
    assert_eq!((found, listed()), (first.clone(), all));
    let ran = dir.run(&add);
    assert!(ran.err.contains("4 unchanged") && ran.err.contains("earlier version"), "{}", ran.err);
    // The added documents equal the documents that `cento add` adds.
    let added = dir.json(&["show", "old.idx", "2025/bob"]);
    let direct = Dir::new();
    years(&direct);
    direct.run(&["add", "old.idx", "2025", "--by", "directory", "--meta", "term=2025"]);
    let shown = direct.json(&["show", "old.idx", "2025/bob"]);
    for field in ["text", "meta", "fingerprints", "tokens", "parts"] {
        assert_eq!(added[field], shown[field], "{field}");
    }
    // A different document with an existing id is refused, and nothing is added.
    let other = Dir::new();
    other.write("2025/bob/main.txt", words(30, 90));
    other.write("2025/zoe/main.txt", words(31, 90));
    let index = dir.path("old.idx");
    let index = index.to_str().unwrap();
    let ran = other.run(&["pairs", "2025", "--by", "directory", "--against", index, "--add"]);
    assert!(ran.status == 2 && ran.err.contains("2025/bob: "), "{}", ran.err);
    assert!(ran.err.contains("has another document of this name"), "{}", ran.err);
    assert_eq!(listed().lines().count(), 7);
    let ran = dir.run(&["pairs", "2025", "--add"]);
    assert!(ran.status == 2 && ran.err.contains("--against"), "{}", ran.err);
}

#[test]
fn a_submission_that_is_all_boilerplate_is_not_compared_and_is_added() {
    let dir = Dir::new();
    dir.write("sheet.txt", words(1, 60));
    dir.write("new/ann.txt", format!("{} {}", words(1, 60), words(2, 60)));
    dir.write("new/bob.txt", words(1, 60));
    dir.write("new/cas.txt", "");
    dir.write("new/dan.txt", words(3, 60));
    assert_eq!(dir.run(&["create", "idx"]).status, 0);
    let run = dir.run(&["pairs", "new", "-b", "sheet.txt", "--against", "idx", "--add"]);
    assert_eq!(run.status, 3, "{}", run.err);
    assert!(run.err.contains("new/bob.txt: there is nothing to compare"), "{}", run.err);
    assert!(run.err.contains("3 added"), "{}", run.err);
}

#[test]
fn a_search_for_a_submission_names_the_files_of_its_passages() {
    let dir = Dir::new();
    students(&dir);
    assert_eq!(dir.run(&["add", "idx", "students", "--by", "directory"]).status, 0);
    let (shared, main) = (words(9, 40), words(30, 60));
    dir.write(
        "new.zip",
        zip(&[
            ("eva/own.txt", main.as_bytes()),
            ("eva/x/lib.txt", shared.as_bytes()),
            ("eva/data.json", b"[1]"),
        ]),
    );
    let args = ["search", "idx", "new.zip", "--by", "directory", "--passages", "--format", "json"];
    let ran = dir.run(&args);
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert!(ran.err.contains("new.zip/eva/data.json: it holds data"), "{}", ran.err);
    let answers: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [answer] = &answers[..] else { panic!("{}", ran.out) };
    assert_eq!(
        (&answer["query"]["id"], &answer["query"]["tokens"]),
        (&json!("new.zip/eva"), &json!(100))
    );
    let passage = &answer["hits"][0]["passages"][0];
    let places = (&passage["a_part"], &passage["b_part"]);
    assert_eq!(places, (&json!("x/lib.txt"), &json!("lib/shared.txt")));
    // The report has a heading per file, and a service gives the same answer.
    let report = dir.run(&["search", "idx", "new.zip", "--by", "directory", "--report", "r.html"]);
    assert_eq!(report.status, 0, "{}", report.err);
    let html = std::fs::read_to_string(dir.path("r.html")).unwrap();
    assert!(html.contains("x/lib.txt"), "{html}");
    let service = crate::common::service::Service::start(&dir, &[]);
    let of_service = [&args[..1], &["--url", &service.url], &args[2..]].concat();
    let ran = dir.run(&of_service);
    let served: Value = serde_json::from_str(ran.out.lines().next().unwrap()).unwrap();
    assert_eq!(served["hits"], answer["hits"]);
    assert!(service.stop());
}

#[test]
fn what_an_export_puts_beside_the_submissions_is_none() {
    // Regression: in a zip from a Mac, `__MACOSX/class` was a submission without text, and a README
    // turned the whole class into a single document.
    let dir = Dir::new();
    let [ann, bob] = [1, 2].map(|seed| words(seed, 60));
    let mac = [
        ("class/README.txt", &b"Exported on Monday."[..]),
        ("class/ann/a.txt", ann.as_bytes()),
        ("class/bob/a.txt", bob.as_bytes()),
        ("class/cas/a.txt", ann.as_bytes()),
        ("__MACOSX/class/ann/._a.txt", b"\0\x05\x16\x07"),
    ];
    dir.write("in.zip", zip(&mac));
    let ran = dir.run(&["pairs", "in.zip", "--by", "directory", "--limit", "1"]);
    assert!(ran.out.contains("in.zip/class/ann  in.zip/class/cas"), "{}", ran.out);
    assert!(ran.status == 0 && !ran.err.contains("nothing to compare"), "{}", ran.err);
}

#[test]
fn names_of_a_learning_platform_are_noticed() {
    // The pattern must include the number: two students with the same name were a single document.
    let dir = Dir::new();
    let text = words(1, 60);
    let moodle = ["Bo Berg_102", "Bo Berg_103", "Ada Lind_101"]
        .map(|student| format!("{student}_assignsubmission_file_/essay.txt"));
    let files: Vec<_> = moodle.iter().map(|name| (name.as_str(), text.as_bytes())).collect();
    dir.write("m.zip", zip(&files));
    let ran = dir.run(&["pairs", "m.zip", "--by", "directory"]);
    let pattern = "{document}_assignsubmission_{*}/{part}";
    assert!(ran.err.contains(&format!("--by '{pattern}'")), "{}", ran.err);
    let (found, _) = pairs(&dir, &["pairs", "m.zip", "--by", pattern]);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found.contains(&"m.zip/Bo Berg_102 m.zip/Bo Berg_103".to_owned()), "{found:?}");
}

#[test]
fn what_a_class_was_handed_out_counts_in_no_pair() {
    // Every two of 12 pupils shared 30 % without a passage, because all have the worksheet.
    let dir = Dir::new();
    let sheet = words(1, 60);
    for number in 0..12 {
        let text = words(if number == 7 { 23 } else { 20 + number }, 140);
        let edited = if number == 7 { text.replacen(' ', " certainly ", 9) } else { text };
        dir.write(&format!("class/e{number}.txt"), format!("{sheet}\n\n{edited}"));
    }
    let said = dir.run(&["pairs", "class"]).err;
    assert!(said.contains("handed out, so not compared: 1 passage of 60 tokens"), "{said}");
    let copied = ["class/e3.txt class/e7.txt"];
    assert_eq!(pairs(&dir, &["pairs", "class"]).0, copied);
    dir.write("sheet.txt", &sheet);
    assert_eq!(pairs(&dir, &["pairs", "class", "-b", "sheet.txt"]).0, copied);
    assert_eq!(pairs(&dir, &["pairs", "class", "-b", "none", "--limit", "100"]).0.len(), 66);
    // Regression: with too few groups, nothing said that the worksheet counts.
    dir.write("last/e.txt", words(99, 140));
    let said = dir.run(&["pairs", "class", "last", "--group-by", "{year}/{*}"]).err;
    let few = "handed-out text counts: no passage is proposed, because there are only 2 groups";
    assert!(said.contains(few), "{said}");
    // An anonymous report counted `none` as a path.
    dir.run(&["pairs", "class", "-b", "none", "--report", "all.html", "--anonymous"]);
    let report = std::fs::read_to_string(dir.path("all.html")).unwrap();
    assert!(!report.contains("1 path"), "{}", report.len());
    // What versions of one text have in common was not handed out.
    let text = words(50, 140);
    for number in 0..8 {
        let edited = text.replacen(' ', &format!(" edit{number} "), 2);
        dir.write(&format!("versions/v{number}.txt"), edited);
    }
    assert_eq!(pairs(&dir, &["pairs", "versions", "--limit", "100"]).0.len(), 28);
}

#[test]
fn the_shares_of_a_submission_do_not_depend_on_the_listed_pairs() {
    // The worksheet is in every document, so the pair with the source is far down the list.
    let dir = Dir::new();
    let sheet = words(1, 60);
    dir.write("old/eve/main.txt", words(2, 900));
    dir.run(&["add", "old.idx", "old", "--by", "directory"]);
    for number in 0..9 {
        let text = format!("{sheet} {}", words(20 + number, 60));
        dir.write(&format!("new/n{number}/main.txt"), text);
    }
    let source = words(2, 900);
    let copied: Vec<&str> = source.split_whitespace().skip(300).take(80).collect();
    let text = format!("{sheet} {} {}", words(30, 60), copied.join(" "));
    dir.write("new/mal/main.txt", text);
    let pairs_of = |more: &[&str]| {
        let args = ["pairs", "new", "--by", "directory", "--against", "old.idx", "-b", "none"];
        let (listed, mut rest) = pairs(&dir, &[&args[..], more].concat());
        rest.retain(|line| line["document"].is_string());
        (listed, rest)
    };
    let (_, all) = pairs_of(&["--limit", "1000"]);
    let mal = all.iter().find(|one| one["document"] == "new/mal").unwrap();
    let count = |name: &str| mal[name].as_i64().unwrap();
    // What most of a class has is common, and in no share.
    assert!((count("known") - 80).abs() < 3 && count("shared") == 0, "{mal}");
    assert_eq!(mal["complete"], true);
    for options in [&["--limit", "1"][..], &["--min-similarity", "0.99"], &[]] {
        let (listed, sources) = pairs_of(options);
        assert!(!listed.iter().any(|pair| pair.contains("old/eve")) || options.is_empty());
        assert_eq!(sources, all, "{options:?}");
    }
}
