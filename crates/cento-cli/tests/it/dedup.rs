//! The real binary: deduplication against brute force, resumed, incremental, by passages.

use std::collections::BTreeSet;
use std::fs;

use crate::common::run::{Dir, line};
use crate::common::words;
use cento::hash::mix64;
use cento::index::Index;
use cento_collections::dedup::Progress;
use serde_json::{Value, json};

/// Documents in versions that differ by some words. Some versions are equal, and some are contained
/// in longer documents.
fn stream(seed: u64, count: u64) -> Vec<(String, String)> {
    let text = |seed: u64, i: u64| {
        let drawn = mix64(mix64(seed) ^ i);
        let (family, version) = (drawn % 60, drawn >> 8 & 7);
        let len = 20 + mix64(family) % 60;
        let word = |at: u64| {
            let own = mix64(drawn ^ at) % 16 < version;
            let drawn = mix64(if own { drawn } else { family } << 20 | at);
            if drawn.is_multiple_of(3) {
                format!("c{}", drawn >> 8 & 7)
            } else {
                format!("w{}", drawn % 5000)
            }
        };
        let (from, to) = if version == 7 { (len / 4, len / 2) } else { (0, len) };
        (from..to).map(word).collect::<Vec<_>>().join(" ")
    };
    (0..count).map(|i| (format!("d{i}"), text(seed, i))).collect()
}

fn jsonl(documents: &[(String, String)]) -> String {
    documents.iter().map(|(id, text)| line(id, text, json!({}))).collect()
}

fn lines(dir: &Dir, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(dir.path(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn ids(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["id"].as_str().unwrap()).collect()
}

#[test]
fn verdicts_are_those_of_brute_force() {
    for (near, contained) in [(0.8, None), (0.5, Some(0.9)), (1.0, Some(0.6)), (0.3, None)] {
        let dir = Dir::new();
        let documents = stream(7, 500);
        dir.write("in.jsonl", jsonl(&documents));
        let near_arg = near.to_string();
        let mut args = vec![
            "dedup",
            "in.jsonl",
            "--scheme",
            "kgram(k=1)",
            "--out",
            "out",
            "--dropped",
            "report",
        ];
        args.extend(["--min-resemblance", &near_arg]);
        let contained_arg = contained.unwrap_or(0.0).to_string();
        if contained.is_some() {
            args.extend(["--min-containment", &contained_arg]);
        }
        // Small enough to force commits during the run.
        args.extend(["--memory", "100KB", "--threads", "3"]);
        let summary = dir.json(&args);
        // Computes the expected result from the definition.
        let mut kept: Vec<(&str, &str, BTreeSet<&str>)> = Vec::new();
        let mut dropped: Vec<(&str, &str, f64, &str)> = Vec::new();
        for (id, text) in &documents {
            let own: BTreeSet<&str> = text.split(' ').collect();
            let better = |a: &(u8, f64, &str), b: &(u8, f64, &str)| {
                a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(b.2.cmp(a.2))
            };
            let reason = kept.iter().filter_map(|(of, other_text, other)| {
                let overlap = own.intersection(other).count() as f64;
                let resemblance = overlap / own.union(other).count() as f64;
                let containment = overlap / own.len() as f64;
                if *other_text == text {
                    Some((2, 1.0, *of))
                } else if resemblance >= near {
                    Some((1, resemblance, *of))
                } else if contained.is_some_and(|contained| containment >= contained) {
                    Some((0, containment, *of))
                } else {
                    None
                }
            });
            match reason.max_by(better) {
                None => kept.push((id, text, own)),
                Some((rank, similarity, of)) => {
                    dropped.push((
                        id,
                        ["contained", "near", "exact"][rank as usize],
                        similarity,
                        of,
                    ));
                }
            }
        }
        let out = lines(&dir, "out");
        assert_eq!(ids(&out), kept.iter().map(|kept| kept.0).collect::<Vec<_>>());
        let report = lines(&dir, "report");
        assert_eq!(report.len(), dropped.len());
        for (line, (id, verdict, similarity, of)) in report.iter().zip(&dropped) {
            let found = ["resemblance", "containment"].iter().find_map(|name| line[name].as_f64());
            let told = (line["id"].as_str(), line["verdict"].as_str(), line["of"].as_str());
            assert_eq!(told, (Some(*id), Some(*verdict), Some(*of)));
            assert!((found.unwrap_or(1.0) - similarity).abs() < 1e-9);
        }
        assert_eq!(summary["kept"], kept.len());
        let counted = ["exact", "near", "contained"].map(|name| summary[name].as_u64().unwrap());
        assert_eq!(counted.iter().sum::<u64>() as usize, dropped.len());
        assert!(
            counted[1] + counted[2] > 20 && kept.len() > 50,
            "{counted:?}, {} kept",
            kept.len()
        );
    }
}

#[test]
fn a_run_that_was_killed_goes_on_to_the_same_end() {
    let dir = Dir::new();
    dir.write("in.jsonl", jsonl(&stream(3, 20_000)));
    let whole =
        ["dedup", "in.jsonl", "--out", "whole", "--dropped", "whole.report", "--index", "a"];
    let options = ["--min-resemblance", "0.5", "--min-containment", "0.9", "--memory", "2MiB"];
    let summary = dir.json(&[&whole[..], &options].concat());
    let args = ["dedup", "in.jsonl", "--out", "out", "--dropped", "report", "--index", "b"];
    let args = [&args[..], &options].concat();
    // Interrupts before and after the first commit, before later commits, and between documents.
    let points = [
        "commit:1",
        "document:1",
        "commit:2",
        "document:3000",
        "commit:3",
        "document:4000",
        "commit:2",
        "document:5000",
    ];
    let mut records = Vec::new();
    for (attempt, point) in points.into_iter().enumerate() {
        let resume: &[&str] = if attempt == 0 { &[] } else { &["--resume"] };
        dir.paused(point, &[&args[..], resume].concat()).kill();
        let index = Index::open(dir.path("b")).unwrap();
        records.push(Progress::of(&index).unwrap().map_or(0, |progress| progress.records));
    }
    assert!(records.is_sorted() && records[1] == 0 && records[7] > 0, "{records:?}");
    let last = dir.json(&[&args[..], &["--resume"]].concat());
    assert_eq!(last, summary);
    for (whole, resumed) in [("whole", "out"), ("whole.report", "report")] {
        assert!(fs::read(dir.path(whole)).unwrap() == fs::read(dir.path(resumed)).unwrap());
    }
    dir.json(&["check", "b"]);
    let documents = |index| dir.json(&["stats", index, "--quick"])["documents"].clone();
    assert_eq!(documents("a"), documents("b"));
    // A finished run is not resumed, and the output is not overwritten.
    let again = dir.run(&args);
    assert_eq!(again.status, 2);
    assert!(again.err.contains("the file exists already"), "{}", again.err);
}

#[test]
fn an_interrupted_run_is_not_forgotten() {
    let dir = Dir::new();
    dir.write("in.jsonl", jsonl(&stream(3, 20_000)));
    let args = ["dedup", "in.jsonl", "--out", "out", "--index", "a", "--memory", "1MiB"];
    dir.paused("commit:2", &args).kill();
    let check = |args: &[&str], what: &str| {
        let run = dir.run(args);
        assert_eq!(run.status, 2, "{}", run.err);
        assert!(run.err.contains(what), "{}", run.err);
    };
    check(&args, "--resume");
    let other = ["dedup", "in.jsonl", "--out", "out", "--index", "a", "--resume"];
    check(&[&other[..], &["--exact"]].concat(), "other inputs or options");
    assert_eq!(dir.run(&[&args[..], &["--resume"]].concat()).status, 0);
}

#[test]
fn only_the_same_run_is_resumed() {
    let dir = Dir::new();
    let documents = stream(3, 20_000);
    dir.write("in.jsonl", jsonl(&documents));
    let args = [
        "dedup",
        "in.jsonl",
        "--out",
        "out",
        "--index",
        "a",
        "--memory",
        "1MiB",
        "--dropped",
        "report",
    ];
    // More has been committed than the beginning.
    dir.paused("commit:3", &args).kill();
    let check = |args: &[&str], what: &str| {
        let run = dir.run(args);
        assert_eq!(run.status, 2, "{}", run.err);
        assert!(run.err.contains(what), "{}", run.err);
    };
    let resume = [&args[..], &["--resume"]].concat();
    // Something else is written to the index: the run can still be gone on with.
    dir.write("other.txt", words(77, 50));
    dir.json(&["add", "a", "other.txt"]);
    check(&args, "--resume");
    // The documents have changed, or there are fewer.
    dir.write("in.jsonl", jsonl(&documents[1..]));
    check(&resume, "resume with the same");
    dir.write("in.jsonl", jsonl(&documents[..50]));
    check(&resume, "resume with the same");
    dir.write("in.jsonl", jsonl(&documents));
    // The output is gone.
    fs::rename(dir.path("out"), dir.path("away")).unwrap();
    check(&resume, "out");
    fs::rename(dir.path("away"), dir.path("out")).unwrap();
    assert_eq!(dir.run(&resume).status, 0);
    // An abandoned run does not block a new run.
    dir.paused("commit:2", &["dedup", "other.txt", "--out", "b", "--index", "c"]).kill();
    let again = ["dedup", "other.txt", "--index", "c"];
    check(&again, "--restart");
    assert_eq!(dir.run(&[&again[..], &["--restart"]].concat()).status, 0);
}

#[test]
fn no_output_lies_inside_the_input() {
    let dir = Dir::new();
    dir.write("in/a.jsonl", line("a", &words(1, 50), json!({})));
    let check = |args: &[&str], what: &str| {
        let run = dir.run(&[&["dedup"], args].concat());
        assert!(run.status == 2 && run.err.contains(what), "{}", run.err);
    };
    check(&["in", "--out", "in/out"], "inside the input");
    check(&["in", "--index", "in/idx"], "inside the input");
    check(&["in/a.jsonl", "--out", "in/a.jsonl"], "is the input in/a.jsonl");
    check(&["in", "--out", "x", "--dropped", "./x"], "two outputs");
    check(&["in", "--out", "-"], "no name of a file");
    #[cfg(unix)]
    assert_eq!(dir.run(&["dedup", "in", "--out", "/dev/null", "--dropped", "/dev/null"]).status, 0);
    assert_eq!(dir.run(&["dedup", "in", "--out", "x", "--dropped", "y"]).status, 0);
}

#[test]
fn one_id_many_times_is_no_trouble() {
    let dir = Dir::new();
    let all: String = (0..3000).map(|i| line("same", &words(i, 30), json!({}))).collect();
    dir.write("in.jsonl", all);
    let summary =
        dir.json(&["dedup", "in.jsonl", "--out", "out", "--dropped", "report", "--index", "a"]);
    assert_eq!(summary["kept"], 3000);
    let report = lines(&dir, "report");
    assert_eq!(report.len(), 2999);
    assert_eq!((&report[0]["verdict"], &report[0]["kept_as"]), (&json!("kept"), &json!("same#2")));
    assert_eq!(report[2998]["kept_as"], "same#3000");
    // A second run over the same documents finds each document unchanged.
    let again = ["--out", "out2", "--dropped", "report2", "--index", "a"];
    let summary = dir.json(&[&["dedup", "in.jsonl"][..], &again].concat());
    assert_eq!((&summary["kept"], &summary["unchanged"]), (&json!(3000), &json!(3000)));
    assert_eq!(lines(&dir, "report2")[2998]["kept_as"], "same#3000");
    let files = ["out", "out2"].map(|name| fs::read(dir.path(name)).unwrap());
    assert!(files[0] == files[1]);
}

#[test]
fn a_repeated_batch_is_not_a_duplicate_of_itself() {
    let dir = Dir::new();
    dir.write("in.jsonl", jsonl(&stream(7, 1500)));
    let run = |out: &str, of: &[&str]| {
        let more =
            ["--min-containment", "0.8", "--out", out, "--dropped", &format!("{out}.report")];
        dir.json(&[&["dedup", "in.jsonl"][..], of, &more].concat())
    };
    let first = run("first", &["--index", "kept"]);
    assert!(first["kept"].as_u64() < Some(1500), "{first}");
    let kept = fs::read(dir.path("first")).unwrap();
    for (out, of) in [
        ("again", &["--index", "kept"][..]),
        ("threads", &["--index", "kept", "--threads", "1", "--memory", "1MB"]),
        ("against", &["--against", "kept"]),
    ] {
        let again = run(out, of);
        assert_eq!(
            (&again["kept"], &again["unchanged"]),
            (&first["kept"], &first["kept"]),
            "{out}"
        );
        assert!(fs::read(dir.path(out)).unwrap() == kept, "{out}");
        assert_eq!(lines(&dir, &format!("{out}.report")).len(), 1500 - lines(&dir, "first").len());
    }
    assert_eq!(dir.json(&["stats", "kept", "--quick"])["documents"], first["kept"]);
    // Kept documents have their reason.
    let run = dir.run(&["dedup", "in.jsonl", "--against", "kept", "--annotate"]);
    let first: Value = serde_json::from_str(run.out.lines().next().unwrap()).unwrap();
    assert_eq!((run.status, &first["dedup"]), (0, &json!({"verdict": "unchanged"})));
}

#[test]
fn a_corrected_document_takes_the_place_of_the_old_one() {
    // Regression: the corrected document was a near-duplicate of its old version, so the old text
    // stayed.
    let dir = Dir::new();
    let (a, b) = (words(1, 200), words(2, 200));
    let corrected = format!("{a} One more sentence was added.");
    dir.write("in.jsonl", [line("a", &a, json!({})), line("b", &b, json!({}))].concat());
    dir.json(&["dedup", "in.jsonl", "--index", "idx", "--out", "1"]);
    // A copy of the old text comes after the correction, in the batch or in the next one.
    let fixed = [line("a", &corrected, json!({})), line("c", &b, json!({}))].concat();
    dir.write("fixed.jsonl", fixed);
    let run = dir.run(&["dedup", "fixed.jsonl", "--index", "idx", "--out", "2"]);
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(run.err.contains("1 kept, 1 of these in place of old versions"), "{}", run.err);
    assert!(run.err.contains(r#"{"id":"a","verdict":"kept","replaces":true}"#), "{}", run.err);
    assert_eq!(lines(&dir, "2")[0]["text"], corrected);
    assert_eq!(dir.json(&["show", "idx", "a"])["text"], corrected);
    assert_eq!(dir.json(&["stats", "idx", "--quick"])["documents"], 2);
    // The meta object is corrected as well.
    dir.write("dated.jsonl", line("a", &corrected, json!({"year": 2024})));
    let summary = dir.json(&["dedup", "dated.jsonl", "--index", "idx", "--out", "3"]);
    assert_eq!(summary["unchanged"], 1);
    assert_eq!(dir.json(&["show", "idx", "a"])["meta"], json!({"year": 2024}));
}

#[test]
fn a_correction_that_is_a_duplicate_removes_the_old_text() {
    // Regression: the old text stayed in the index, so that a new document with this text was
    // dropped as the duplicate of a text that no output had any more.
    let dir = Dir::new();
    let [a, b] = [1, 2].map(|seed| words(seed, 200));
    dir.write("in.jsonl", [line("a", &a, json!({})), line("b", &b, json!({}))].concat());
    dir.json(&["dedup", "in.jsonl", "--index", "idx", "--out", "1"]);
    dir.write("fixed.jsonl", [line("a", &a, json!({})), line("b", &a, json!({}))].concat());
    let fixed = dir.json(&["dedup", "fixed.jsonl", "--index", "idx", "--out", "2"]);
    assert_eq!((&fixed["unchanged"], &fixed["exact"]), (&json!(1), &json!(1)));
    assert_eq!(dir.json(&["stats", "idx", "--quick"])["documents"], 1);
    dir.write("next.jsonl", line("c", &b, json!({})));
    assert_eq!(dir.json(&["dedup", "next.jsonl", "--index", "idx", "--out", "3"])["kept"], 1);
    // Within one run, too: the old text goes before a later document comes.
    let batch = [line("c", &a, json!({})), line("d", &b, json!({}))].concat();
    dir.write("both.jsonl", batch);
    assert_eq!(dir.json(&["dedup", "both.jsonl", "--index", "idx", "--out", "4"])["kept"], 1);
    assert_eq!(lines(&dir, "4")[0]["id"], "d");
}

#[test]
fn a_line_number_is_no_id() {
    // Tomorrow's file has the name of today's.
    let dir = Dir::new();
    let text = |i: u64| format!("{}\n", json!({"text": words(i, 60)}));
    let run = |lines: &[u64], out: &str| {
        dir.write("day.jsonl", lines.iter().map(|&i| text(i)).collect::<String>());
        dir.json(&["dedup", "day.jsonl", "--index", "idx", "--out", out, "--dropped", "r"])
    };
    assert_eq!(run(&[1, 2], "monday")["kept"], 2);
    let tuesday = run(&[3, 4], "tuesday");
    assert_eq!((&tuesday["kept"], &tuesday["replaced"]), (&json!(2), &Value::Null));
    assert_eq!(lines(&dir, "r")[0]["kept_as"], "day.jsonl:1#2");
    fs::remove_file(dir.path("r")).unwrap();
    let again = run(&[3, 4], "again");
    assert_eq!((&again["kept"], &again["unchanged"]), (&json!(2), &json!(2)));
    assert_eq!(dir.json(&["stats", "idx", "--quick"])["documents"], 4);
    fs::remove_file(dir.path("r")).unwrap();
    // Swapping the texts of two ids gives duplicates.
    dir.write("day.jsonl", text(4) + &text(1));
    let run = dir.run(&["dedup", "day.jsonl", "--index", "idx", "--out", "other"]);
    assert!(run.err.contains("0 kept, 2 exact duplicates"), "{}", run.err);
}

#[test]
fn tomorrow_runs_against_today() {
    let dir = Dir::new();
    let (a, b, c) = (words(1, 200), words(2, 200), words(3, 200));
    let near = format!("{} changed", words(1, 195));
    dir.write("monday.jsonl", [line("a", &a, json!({})), line("b", &b, json!({}))].concat());
    dir.write("tuesday.jsonl", [line("b", &c, json!({})), line("x", &near, json!({}))].concat());
    dir.json(&["dedup", "monday.jsonl", "--index", "idx", "--out", "1"]);
    let report = ["--dropped", "report"];
    let summary = dir
        .json(&[&["dedup", "tuesday.jsonl", "--index", "idx", "--out", "2"][..], &report].concat());
    assert_eq!((&summary["kept"], &summary["near"]), (&json!(1), &json!(1)));
    let told = lines(&dir, "report");
    assert_eq!(told[0], json!({"id": "b", "verdict": "kept", "replaces": true}));
    assert_eq!(told[1]["of"], "a");
    // A new text under an existing id replaces the old text.
    let answer = dir.json(&["search", "idx", "--text", &c]);
    assert_eq!(answer["hits"][0]["id"], "b");
    assert_eq!(dir.json(&["stats", "idx", "--quick"])["documents"], 2);
    // The index after `--against` is not changed.
    dir.write("wednesday.jsonl", line("w", &c, json!({})));
    let args = ["dedup", "wednesday.jsonl", "--against", "idx", "--out", "3"];
    let run = dir.run(&args);
    assert_eq!(run.status, 1, "{}", run.err);
    assert!(run.err.contains(r#"{"id":"w","verdict":"exact","of":"b"}"#), "{}", run.err);
    assert_eq!(dir.json(&["stats", "idx", "--quick"])["documents"], 2);
    dir.json(&["add", "other", "monday.jsonl", "--scheme", "kgram"]);
    let run = dir.run(&["dedup", "wednesday.jsonl", "--against", "idx", "--against", "other"]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("cannot be compared"), "{}", run.err);
}

#[test]
fn an_index_that_exists_is_not_used_with_other_settings() {
    // The options were ignored, and the run went on with the scheme of the index.
    let dir = Dir::new();
    dir.write("in.jsonl", line("a", &words(1, 50), json!({})));
    dir.json(&["dedup", "in.jsonl", "--index", "idx", "--out", "1"]);
    for other in [&["--scheme", "kgram(k=3)"][..], &["--analyzer", "chars"], &["--no-text"]] {
        let run =
            dir.run(&[&["dedup", "in.jsonl", "--index", "idx", "--out", "2"], other].concat());
        assert_eq!(run.status, 2, "{other:?}: {}", run.err);
        assert!(run.err.contains("was created with --scheme winnow(k=5,w=10)"), "{}", run.err);
        assert!(!dir.path("2").exists());
    }
    let same = ["--scheme", "winnow(k=5,w=10)", "--analyzer", "words"];
    dir.run(&[&["dedup", "in.jsonl", "--index", "idx", "--out", "2"][..], &same].concat());
    assert!(dir.path("2").exists());
}

#[test]
fn records_stay_as_they_were() {
    let dir = Dir::new();
    let text = words(1, 60);
    let first = format!(r#"{{ "z":1.50, "text":"{text}","id":"a", "more":[null]}}"#);
    let input = format!("{first}\n{}no json\n", line("b", &text, json!({"lang": "en"})));
    dir.write("in.jsonl", &input);
    dir.write("c.txt", words(2, 50));
    let run = dir.run(&["dedup", "in.jsonl", "c.txt"]);
    assert_eq!(run.status, 3, "{}", run.err);
    let out: Vec<&str> = run.out.lines().collect();
    assert_eq!((out.len(), out[0]), (2, first.as_str()));
    assert_eq!(serde_json::from_str::<Value>(out[1]).unwrap()["id"], "c.txt");
    assert!(run.err.contains("in.jsonl:3") && run.err.contains("1 failed"), "{}", run.err);
    let run = dir.run(&["dedup", "in.jsonl", "--annotate"]);
    let annotated: Vec<Value> =
        run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(annotated[0]["dedup"], json!({"verdict": "kept"}));
    assert_eq!(annotated[0]["z"], 1.5);
    assert_eq!(annotated[1]["dedup"], json!({"verdict": "exact", "of": "a"}));
    assert_eq!(annotated[1]["meta"]["lang"], "en");
    assert_eq!(dir.run(&["dedup", "in.jsonl", "--strict"]).status, 2);
}

#[test]
fn boilerplate_makes_no_duplicates() {
    let dir = Dir::new();
    let license = words(9, 600);
    let with = |seed| format!("{license} {}", words(seed, 40));
    let texts = [with(1), with(2), with(1).replacen("w", "v", 1)];
    let documents: Vec<(String, String)> =
        texts.into_iter().enumerate().map(|(i, text)| (format!("d{i}"), text)).collect();
    dir.write("in.jsonl", jsonl(&documents));
    dir.write("licence.txt", &license);
    let kept =
        |args: &[&str]| dir.run(&[&["dedup", "in.jsonl"], args].concat()).out.lines().count();
    assert_eq!(kept(&[]), 1);
    assert_eq!(kept(&["-b", "licence.txt"]), 2);
    assert_eq!(kept(&["-b", "licence.txt", "--memory", "1KB", "--min-containment", "0.9"]), 2);
}

#[test]
fn repeated_passages_are_cut_out() {
    let dir = Dir::new();
    let (passage, own, other) = (words(9, 40), words(1, 100), words(2, 100));
    // Copies the remaining fields byte for byte, even unusual values.
    let b = format!(
        r#"{{"z": 1e999, "text" : "{passage}. {other}","id":"b","n":0.100,"odd":"\ud800","meta":{{"n": 2}} }}"#
    );
    let input = [
        line("a", &format!("{own} {passage}"), json!({"n": 1})),
        format!("{b}\n"),
        line("c", &passage, json!({})),
    ];
    dir.write("in.jsonl", input.concat());
    let args = ["dedup", "in.jsonl", "--cut-passages", "30", "--out", "out", "--dropped", "report"];
    let summary = dir.json(&args);
    assert_eq!(
        (&summary["kept"], &summary["cut"], &summary["passages"]),
        (&json!(2), &json!(1), &json!(1))
    );
    let out = fs::read_to_string(dir.path("out")).unwrap();
    assert_eq!(out.lines().nth(1).unwrap(), b.replace(&format!("{passage}. "), ""));
    let report = lines(&dir, "report");
    assert_eq!(
        report[0]["cut"][0],
        json!({"bytes": [0, passage.len() + 2], "tokens": 40, "of": "a"})
    );
    assert_eq!((&report[1]["id"], &report[1]["verdict"]), (&json!("c"), &json!("passages")));
}

#[test]
fn a_table_keeps_its_mark_and_files_left_out_by_a_pattern_are_counted() {
    let dir = Dir::new();
    let row = |id: u64, seed| format!("{id};{}\r\n", words(seed, 40));
    dir.write("in.csv", format!("\u{feff}id;text\r\n{}{}{}", row(1, 1), row(2, 1), row(3, 3)));
    let run = dir.run(&["dedup", "in.csv", "--out", "out.csv", "--dropped", "d.jsonl"]);
    assert_eq!(run.status, 0, "{}", run.err);
    let out = fs::read_to_string(dir.path("out.csv")).unwrap();
    assert_eq!(out, format!("\u{feff}id;text\r\n{}{}", row(1, 1), row(3, 3)));

    fs::create_dir(dir.path("site")).unwrap();
    for (name, text) in [("a.html", words(5, 40)), ("b.txt", words(6, 40)), ("c.txt", words(7, 40))]
    {
        dir.write(&format!("site/{name}"), text);
    }
    dir.write("site/empty.html", "");
    let args = ["dedup", "site", "--include", "*.html", "--out", "o.jsonl"];
    let summary = dir.json(&[&args[..], &["--dropped", "left.jsonl"]].concat());
    assert_eq!((&summary["kept"], &summary["skipped"]), (&json!(1), &json!(3)));
    assert_eq!(summary["skipped_by_name"], 2);
    let left = fs::read_to_string(dir.path("left.jsonl")).unwrap();
    assert_eq!(left.lines().count(), 1, "{left}");
    assert!(left.contains("empty.html"), "{left}");
}

#[test]
fn two_documents_that_swap_their_texts_are_corrections_and_no_duplicates() {
    // The first was once a duplicate of the old version of the second, and its text was lost.
    let dir = Dir::new();
    let [one, two] = [words(1, 60), words(2, 60)];
    let both = |a: &str, b: &str| line("a", a, json!({})) + &line("b", b, json!({}));
    dir.write("first.jsonl", both(&one, &two));
    dir.write("swapped.jsonl", both(&two, &one));
    for index in ["kept.idx", "cut.idx"] {
        let cut: &[&str] = if index == "cut.idx" { &["--cut-passages", "20"] } else { &[] };
        let out = [index, ".1.jsonl"].concat();
        let args = ["dedup", "first.jsonl", "--index", index, "--out", &out];
        assert_eq!(dir.json(&[&args[..], cut].concat())["kept"], 2);
        let out = [index, ".2.jsonl"].concat();
        let args = ["dedup", "swapped.jsonl", "--index", index, "--out", &out];
        assert_eq!(dir.json(&[&args[..], cut].concat())["kept"], 2, "{index}");
        assert_eq!(dir.json(&["show", index, "a"])["text"], two);
        assert_eq!(dir.json(&["show", index, "b"])["text"], one);
    }
    dir.json(&["add", "idx", "first.jsonl"]);
    assert_eq!(dir.json(&["add", "idx", "swapped.jsonl"])["replaced"], 2);
    assert_eq!(dir.json(&["show", "idx", "a"])["text"], two);
}
