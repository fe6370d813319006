//! Output files have the format that their names imply.

use std::fs;
use std::io::Read;

use serde_json::{Value, json};

use crate::common::run::{Dir, line};
use crate::common::words;

fn gunzip(bytes: &[u8]) -> String {
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(bytes).read_to_string(&mut text).unwrap();
    text
}

/// Ten documents; the last two are copies.
fn lines() -> String {
    (0..10).map(|n| line(&format!("d{n}"), &words(n % 8, 30), json!({}))).collect()
}

#[test]
fn a_report_into_a_missing_directory_is_refused_before_the_work() {
    let dir = Dir::new();
    dir.write("class/a.txt", words(1, 60));
    dir.write("class/b.txt", words(1, 60));
    dir.write("file", "");
    let check = |args: &[&str], why: &str| {
        let run = dir.run(args);
        assert_eq!((run.status, &*run.out), (2, ""), "{args:?}");
        assert!(run.err.contains(why), "{}", run.err);
    };
    let missing = "there is no folder no; create it first";
    check(&["pairs", "class", "--report", "no/r.html"], missing);
    check(&["pairs", "class", "--graph", "no/g.dot"], missing);
    check(&["compare", "class/a.txt", "class/b.txt", "--report", "no/r.csv"], missing);
    check(&["families", "idx", "--graph", "no/g.graphml"], missing);
    check(&["lineage", "idx", "--report", "no/r.json"], missing);
    check(&["pairs", "class", "--report", "file/r.html"], "file is not a folder");
    dir.write("reports/old", "");
    assert_eq!(dir.run(&["pairs", "class", "--report", "reports/r.html"]).status, 0);
}

#[test]
fn no_output_replaces_an_input_or_a_file_of_somebody_else() {
    let dir = Dir::new();
    let essay = format!("<p>{}</p>", words(1, 60));
    dir.write("essay.html", &essay);
    dir.write("class/a.txt", words(1, 60));
    dir.write("class/b.txt", words(1, 60));
    dir.write("in.jsonl", lines());
    dir.write("quiz.json", r#"[{"question": "Who kept the light?"}]"#);
    dir.json(&["add", "idx", "in.jsonl"]);
    for name in ["x.html", "x.json", "x.csv", "x.dot", "x.table", "x.txt", "x.jsonl"] {
        dir.write(name, "precious");
    }
    let check = |args: &[&str], why: &str| {
        let run = dir.run(args);
        assert_eq!((run.status, &*run.out), (2, ""), "{args:?}: {}", run.err);
        assert!(run.err.contains(why), "{args:?}: {}", run.err);
        let kept = fs::read_to_string(dir.path(args.last().unwrap()));
        assert!(kept.is_ok_and(|kept| kept == "precious"), "{args:?}");
    };
    let there = "the file exists already; choose another name, or remove it";
    check(&["search", "idx", "essay.html", "--report", "x.html"], there);
    check(&["trace", "idx", "essay.html", "--report", "x.json"], there);
    check(&["compare", "class/a.txt", "class/b.txt", "--report", "x.csv"], there);
    check(&["pairs", "class", "--report", "x.csv"], there);
    check(&["pairs", "class", "--graph", "x.dot"], there);
    check(&["pairs", "idx", "--out", "x.txt"], there);
    check(&["pairs", "idx", "--context", "5", "--out", "x.txt"], there);
    check(&["families", "idx", "--report", "x.json"], there);
    check(&["families", "idx", "--out", "x.txt"], there);
    check(&["lineage", "idx", "--graph", "x.dot"], there);
    check(&["lineage", "in.jsonl", "--format", "json", "--out", "x.jsonl"], there);
    check(&["method", "tune", "in.jsonl", "--report", "x.csv"], there);
    check(&["method", "train", "in.jsonl", "--out", "x.table"], there);
    check(&["method", "boilerplate", "class", "--out", "x.jsonl"], there);
    let corpus = ["decontaminate", "in.jsonl", "--against", "quiz.json"];
    check(&[&corpus[..], &["--report", "x.html"]].concat(), there);
    check(&[&corpus[..], &["--documents", "x.jsonl"]].concat(), there);
    check(&["dedup", "in.jsonl", "--out", "x.jsonl"], there);

    let refused = |args: &[&str], why: &str| {
        let run = dir.run(args);
        assert!(run.status == 2 && run.err.contains(why), "{args:?}: {}", run.err);
    };
    let input = "this output is the input";
    refused(&["search", "idx", "essay.html", "--report", "essay.html"], input);
    refused(&["compare", "class/a.txt", "essay.html", "--report", "essay.html"], input);
    refused(&[&corpus[..], &["--report", "quiz.json"]].concat(), input);
    // The next run would read the report as one of the essays.
    let inside = "this output is inside the input class, where the next run would read it";
    refused(&["pairs", "class", "--report", "class/r.html"], inside);
    refused(&["pairs", "class", "--graph", "class/g.dot"], inside);
    refused(&["method", "train", "class", "--out", "class/table"], inside);
    refused(&["method", "boilerplate", "class", "--out", "class/b.jsonl"], inside);
    refused(&["pairs", "class", "--report", "r.csv", "--report", "./r.csv"], "two outputs");
    assert_eq!(fs::read_to_string(dir.path("essay.html")).unwrap(), essay);
}

#[test]
fn a_report_or_network_replaces_an_earlier_one() {
    let dir = Dir::new();
    let dated = |id, seed, date| line(id, &words(seed, 90), json!({ "date": date }));
    dir.write("in.jsonl", dated("a", 1, "2001") + &dated("b", 1, "2002") + &dated("c", 2, "2003"));
    dir.write("essay.txt", words(1, 90));
    dir.write("quiz.json", format!(r#"[{{"question": "{}"}}]"#, words(1, 30)));
    assert_eq!(dir.run(&["add", "idx", "in.jsonl"]).status, 0);
    let twice = |args: &[&str], files: &[&str]| {
        let run = || dir.run(&[args, files].concat());
        let (first, again) = (run(), run());
        assert!(first.status < 2, "{args:?}: {}", first.err);
        assert_eq!(again.status, first.status, "{args:?}: {}", again.err);
        files.iter().filter(|file| file.starts_with("r.")).for_each(|file| {
            fs::remove_file(dir.path(file)).unwrap();
        });
    };
    let reports =
        ["--report", "r.html", "--report", "r.json", "--report", "r.csv", "--title", "<meta>"];
    let networks = [&reports[..], &["--graph", "r.dot"]].concat();
    twice(&["search", "idx", "essay.txt", "--min-overlap", "3"], &reports);
    twice(&["pairs", "in.jsonl"], &networks);
    twice(&["pairs", "idx"], &[&reports[..], &["--graph", "r.graphml"]].concat());
    twice(&["families", "idx", "--date", "date"], &networks);
    twice(&["lineage", "idx", "--date", "date", "--graph", "r.graphml"], &reports);
    twice(&["lineage", "idx", "--date", "date"], &networks);
    twice(&["decontaminate", "in.jsonl", "--against", "quiz.json"], &reports);
}

#[test]
fn kept_documents_are_compressed_as_the_name_of_the_output_says() {
    let dir = Dir::new();
    dir.write("in.jsonl", lines());
    let expected: String = lines().lines().take(8).map(|line| format!("{line}\n")).collect();
    let args = ["dedup", "in.jsonl", "--dropped", "dropped.jsonl.zst", "--out"];
    let summary = dir.json(&[&args[..], &["kept.jsonl.gz"]].concat());
    assert_eq!((&summary["kept"], &summary["exact"]), (&json!(8), &json!(2)));
    assert_eq!(gunzip(&fs::read(dir.path("kept.jsonl.gz")).unwrap()), expected);
    let report = zstd::decode_all(fs::File::open(dir.path("dropped.jsonl.zst")).unwrap()).unwrap();
    assert_eq!(String::from_utf8(report).unwrap().lines().count(), 2);
    assert_eq!(dir.json(&["add", "idx", "kept.jsonl.gz"])["added"], 8);
    let pairs =
        ["pairs", "idx", "--format", "json", "--min-resemblance", "0", "--out", "p.jsonl.gz"];
    assert_eq!(dir.run(&pairs).status, 1);
    assert_eq!(gunzip(&fs::read(dir.path("p.jsonl.gz")).unwrap()), "");
}

#[test]
fn a_compressed_output_is_resumed() {
    let dir = Dir::new();
    dir.write(
        "in.jsonl",
        (0..300).map(|n| line(&format!("d{n}"), &words(n, 30), json!({}))).collect::<String>(),
    );
    let args = ["dedup", "in.jsonl", "--index", "kept.idx", "--out", "kept.jsonl.gz"];
    dir.paused("document:200", &args).kill();
    let ran = dir.run(&[&args[..], &["--resume"]].concat());
    assert_eq!(ran.status, 0, "{}", ran.err);
    let kept = gunzip(&fs::read(dir.path("kept.jsonl.gz")).unwrap());
    assert_eq!(kept, fs::read_to_string(dir.path("in.jsonl")).unwrap());
}

#[test]
fn a_table_is_written_as_a_table() {
    let dir = Dir::new();
    let rows = |names: &str, delimiter: char| {
        let rows = (0..10).map(|n| {
            let (d, text) = (delimiter, words(n % 8, 30));
            format!("\"a{d} \"\"b\"\"\"{d}{text}{d}n{n}\n")
        });
        format!("note{delimiter}text{delimiter}{names}\n{}", rows.collect::<String>())
    };
    dir.write("in.csv", rows("id", ';'));
    assert_eq!(dir.json(&["dedup", "in.csv", "--out", "kept.csv"])["kept"], 8);
    let expected: String =
        rows("id", ';').lines().take(9).map(|line| format!("{line}\n")).collect();
    assert_eq!(fs::read_to_string(dir.path("kept.csv")).unwrap(), expected);
    assert_eq!(dir.json(&["dedup", "in.csv", "--out", "kept.tsv.gz", "--annotate"])["kept"], 8);
    let kept = gunzip(&fs::read(dir.path("kept.tsv.gz")).unwrap());
    assert_eq!(kept.lines().count(), 11);
    assert!(kept.starts_with("note\ttext\tid\tdedup\n"), "{kept}");
    assert_eq!(dir.json(&["add", "idx", "kept.tsv.gz"])["added"], 10);
    // Errors are reported before any work.
    dir.write("other.csv", rows("name", ';'));
    dir.write("in.jsonl", lines());
    for (input, said) in [
        ("other.csv", "its columns differ from the columns of in.csv"),
        ("in.jsonl", "it is no table"),
    ] {
        let ran = dir.run(&["dedup", "in.csv", input, "--out", "new.csv"]);
        assert!(ran.status == 2 && ran.err.contains(said), "{}", ran.err);
        assert!(!dir.path("new.csv").exists());
    }
    // These inputs cannot be read, whatever the output's name.
    dir.write("twice.csv", "id,text,id\n1,a,2\n");
    for (input, said) in [("twice.csv", "two columns are called `id`"), ("gone.csv", "gone.csv")] {
        let ran = dir.run(&["dedup", input, "--out", "new.csv"]);
        assert!(ran.status == 2 && ran.err.contains(said), "{}", ran.err);
        assert!(!ran.err.contains("end the name"), "{}", ran.err);
    }
}

#[test]
fn a_name_that_promises_another_format_is_refused_before_any_work() {
    let dir = Dir::new();
    dir.write("in.jsonl", lines());
    dir.json(&["add", "idx", "in.jsonl"]);
    let check = |args: &[&str], said: &str| {
        let ran = dir.run(args);
        assert!(ran.status == 2 && ran.err.contains(said), "{args:?}: {}", ran.err);
        assert!(!dir.path(args.last().unwrap()).exists(), "{args:?}");
    };
    check(&["dedup", "in.jsonl", "--out", "kept.parquet"], "in / to copy Parquet files");
    check(&["dedup", "in.jsonl", "--out", "kept.jsonl.bz2"], "end the name in .jsonl");
    check(&["dedup", "in.jsonl", "--out", "kept.json"], "end the name in .jsonl");
    check(&["dedup", "in.jsonl", "--dropped", "dropped.csv"], "promises a table");
    check(&["pairs", "idx", "--out", "pairs.parquet"], "its name promises .parquet");
    check(&["pairs", "idx", "--out", "pairs.jsonl"], "add --format json");
    check(&["method", "train", "in.jsonl", "--out", "words.gz"], "choose another name");
    let kept: Value = dir.json(&["dedup", "in.jsonl", "--out", "kept.txt"]);
    assert_eq!(kept["kept"], 8);
}

#[test]
fn a_network_is_written_in_the_form_that_its_name_says() {
    let dir = Dir::new();
    for name in ["a.txt", "b.txt"] {
        dir.write(name, words(1, 60));
    }
    let pairs = ["pairs", "a.txt", "b.txt", "--graph"];
    for (name, expected) in [("n.graphml", "<edge source=\"n0\""), ("n.dot", " -- ")] {
        let run = dir.run(&[&pairs[..], &[name]].concat());
        let text = fs::read_to_string(dir.path(name)).unwrap();
        assert!(run.status == 0 && text.contains(expected), "{text} {}", run.err);
    }
    let run = dir.run(&[&pairs[..], &["n.svg"]].concat());
    assert!(run.status == 2 && run.err.contains("n.svg") && run.out.is_empty(), "{}", run.err);
}

#[cfg(unix)]
#[test]
fn an_output_that_is_no_file_is_written_as_a_stream() {
    // "cannot shorten /dev/null: Invalid argument".
    let dir = Dir::new();
    dir.write("in.jsonl", lines());
    dir.write("bench.jsonl", "{\"question\":\"words that no document has at all\"}\n");
    dir.json(&["add", "idx", "in.jsonl"]);
    let decontaminate = ["decontaminate", "in.jsonl", "--against", "bench.jsonl"];
    for args in [
        &["dedup", "in.jsonl"][..],
        &["dedup", "in.jsonl", "--index", "kept.idx", "--annotate"],
        &["pairs", "idx"],
        &["method", "boilerplate", "idx"],
        &["pairs", "idx", "--min-passage", "20", "--context", "40"],
        &decontaminate,
    ] {
        let run = dir.run(&[args, &["--out", "/dev/null"]].concat());
        assert!(run.status < 2, "{args:?}: {}", run.err);
        assert!(!fs::exists("/dev/null.checkpoint").unwrap());
    }
    let resumed = dir.run(&["pairs", "idx", "--resume", "--out", "/dev/null"]);
    assert!(resumed.status == 2 && resumed.err.contains("no regular file"), "{}", resumed.err);
    let pipe = dir.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn(move || fs::read_to_string(pipe).unwrap());
    assert_eq!(dir.json(&["dedup", "in.jsonl", "--out", "pipe"])["kept"], 8);
    assert_eq!(reader.join().unwrap().lines().count(), 8);
    // A file to be read again must not be a stream.
    std::os::unix::fs::symlink("/dev/null", dir.path("null")).unwrap();
    for args in [
        &["withdraw", "idx", "d0", "--record", "null"][..],
        &["method", "train", "in.jsonl", "--out", "null"],
    ] {
        let run = dir.run(args);
        assert!(run.status == 2 && run.err.contains("it is a pipe or a device"), "{}", run.err);
        assert!(dir.path("null").is_symlink(), "{args:?}");
    }
}

#[test]
fn a_refused_command_leaves_no_output() {
    let dir = Dir::new();
    dir.write("in.jsonl", line("a", &words(1, 50), json!({})));
    dir.json(&["add", "w.idx", "in.jsonl"]);
    dir.json(&["add", "c.idx", "in.jsonl", "--for", "corpus"]);
    dir.json(&["add", "bare.idx", "in.jsonl", "--no-text"]);
    for args in [
        &["pairs", "w.idx", "--against", "c.idx"][..],
        &["pairs", "bare.idx", "--min-passage", "20"],
        &["pairs", "bare.idx", "--min-passage", "20", "--format", "csv"],
        &["pairs", "bare.idx", "--min-passage", "20", "--context", "40"],
        &[
            "pairs",
            "w.idx",
            "--min-passage",
            "20",
            "--context",
            "40",
            "--against",
            "c.idx",
            "--format",
            "csv",
        ],
        &["families", "bare.idx"],
        &["families", "w.idx", "--date", "none"],
        &["method", "boilerplate", "bare.idx"],
    ] {
        let run = dir.run(&[args, &["--out", "out"]].concat());
        assert_eq!(run.status, 2, "{args:?}: {}", run.err);
        for name in ["out", "out.checkpoint"] {
            assert!(!dir.path(name).exists(), "{args:?} left {name}: {}", run.err);
        }
    }
    // A list without rows is a list too.
    assert_eq!(
        dir.run(&["pairs", "w.idx", "--min-passage", "20", "--context", "40", "--out", "out"])
            .status,
        1
    );
    assert!(dir.path("out").exists());
}

#[test]
fn a_run_that_is_refused_at_its_end_leaves_no_output() {
    // Once the whole corpus was there under its final name, and the corrected run was refused
    // because "the file exists already".
    let dir = Dir::new();
    dir.write("in.jsonl", lines());
    dir.write("quiz.jsonl", "{\"question\": \"who wrote the first of the many words?\"}\n");
    for (args, created) in [
        ("dedup in.jsonl --within serie --out o --dropped d", "o d"),
        ("dedup in.jsonl --group-by serie --out o --index x.idx", "o x.idx"),
        ("dedup in.jsonl --text-field body --out o.gz --dropped d --index x.idx", "o.gz d x.idx"),
        ("dedup in.jsonl --index y.idx --meta-field serie --out o", "o"),
        (
            "decontaminate in.jsonl --against quiz.jsonl --text-field body --out o --questions q \
             --documents d",
            "o q d",
        ),
        ("add x.idx in.jsonl --text-field body", "x.idx"),
    ] {
        let run = dir.run(&args.split_whitespace().collect::<Vec<_>>());
        assert_eq!(run.status, 2, "{args}: {}", run.err);
        for name in created.split(' ') {
            assert!(!dir.path(name).exists(), "{args} left {name}: {}", run.err);
        }
    }
    // An existing index stays, and so does an index with documents.
    assert!(dir.path("y.idx").exists());
    assert_eq!(dir.run(&["create", "x.idx"]).status, 0);
    assert_eq!(dir.run(&["add", "x.idx", "in.jsonl", "--text-field", "body"]).status, 2);
    assert!(dir.path("x.idx").exists());
    dir.json(&["dedup", "in.jsonl", "--out", "o", "--dropped", "d"]);
}
