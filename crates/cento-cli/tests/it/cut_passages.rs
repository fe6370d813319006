//! The real binary: deduplication with cut passages leaves no repeated passage.

use std::fs;

use serde_json::{Value, json};

use crate::common::run::{Dir, line};
use crate::common::words;

fn lines(dir: &Dir, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(dir.path(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The first and the last words of a text.
fn halves(text: &str, first: usize) -> (String, String) {
    let words: Vec<&str> = text.split(' ').collect();
    (words[..first].join(" "), words[first..].join(" "))
}

#[test]
fn a_scheme_that_may_miss_passages_to_cut_is_named() {
    let dir = Dir::new();
    dir.write("in.jsonl", line("a", &words(1, 40), json!({})));
    let said = |args: &str| {
        let args: Vec<&str> = args.split(' ').collect();
        dir.run(&[&["dedup", "in.jsonl"][..], &args].concat()).err
    };
    let short = said("--cut-passages 5");
    let expected = "winnow(k=5,w=10) is sure to find passages of 14 tokens or more; an index with \
                    --scheme 'kgram(k=5)' finds all of 5\n";
    assert!(short.contains(expected), "{short}");
    let none = said("--cut-passages 20 --scheme minhash(k=5,b=16,r=8)");
    assert!(none.contains("is not sure to find passages of any length"), "{none}");
    for sure in ["--cut-passages 14", "--cut-passages 5 --scheme kgram(k=5)", "--exact"] {
        assert!(!said(sure).contains("sure to find"), "{sure}");
    }
}

#[test]
fn a_stream_loses_what_another_index_has_and_nothing_else() {
    let dir = Dir::new();
    dir.write("own.jsonl", line("own", &words(1, 100), json!({})));
    dir.json(&["add", "withdrawn.idx", "own.jsonl"]);
    let quoting = |own: &str| format!("{own} {}", words(1, 30));
    let kept = [
        line("other", &words(3, 50), json!({"year": 2026})),
        // A duplicate with the id of a different record.
        line("other", &words(3, 50), json!({})),
        "{\"z\": 1.0, \"text\":  \"short\", \"id\": 7}\n".to_owned(),
    ];
    let input = [
        &line("own", &words(1, 100), json!({}))[..],
        &kept[0],
        &line("copy", &format!("{} more", words(1, 100)), json!({})),
        &line("quoting", &quoting(&words(2, 60)), json!({})),
        &line("passage", &words(1, 30), json!({})),
        &line("again", &quoting(&words(2, 60)), json!({})),
        &kept[1],
        &kept[2],
    ];
    dir.write("in.jsonl", input.concat());
    let args = ["dedup", "in.jsonl", "--against", "withdrawn.idx", "--only-against"];
    let cut = ["--cut-passages", "20", "--out", "out.jsonl", "--dropped", "dropped"];
    let summary = dir.json(&[&args[..], &cut].concat());
    assert_eq!((&summary["kept"], &summary["cut"]), (&json!(5), &json!(2)), "{summary}");
    let rest = |id: &str| line(id, &words(2, 60), json!({}));
    let expected = [&kept[0][..], &rest("quoting"), &rest("again"), &kept[1], &kept[2]];
    assert_eq!(fs::read_to_string(dir.path("out.jsonl")).unwrap(), expected.concat());
    let dropped = lines(&dir, "dropped");
    let verdicts = dropped.iter().filter(|line| line["verdict"] != "kept");
    let verdicts: Vec<_> = verdicts.map(|line| (&line["id"], &line["verdict"])).collect();
    let expected = [("own", "exact"), ("copy", "near"), ("passage", "passages")];
    let expected = expected.map(|(id, verdict)| (json!(id), json!(verdict)));
    assert!(verdicts.iter().eq(&expected.each_ref().map(|(id, verdict)| (id, verdict))));
    // Nothing is left to find.
    let args = [&["dedup", "out.jsonl"], &args[2..], &["--cut-passages", "20", "--out", "2"]];
    let again = dir.json(&args.concat());
    assert_eq!((&again["kept"], &again["cut"]), (&json!(5), &json!(0)), "{again}");
    for wrong in [&["--only-against"][..], &["--index", "i", "--against", "withdrawn.idx"]] {
        let run = dir.run(&[&["dedup", "in.jsonl", "--only-against"], wrong].concat());
        assert_eq!(run.status, 2, "{}", run.err);
    }
}

#[test]
fn parts_that_meet_after_a_cut_are_looked_at_again() {
    let dir = Dir::new();
    let (a, z) = (words(1, 36), words(2, 40));
    let (begin, end) = halves(&a, 17);
    let frame = |own: u64| {
        let (begin, end) = halves(&words(3, 24), 12);
        format!("{begin} {} {end}", words(own, 40))
    };
    let input = [
        line("a", &a, json!({})),
        line("z", &z, json!({})),
        // Without `z`, the text equals `a`.
        line("c", &format!("{begin} {z} {end}"), json!({})),
        line("m", &words(4, 40), json!({})),
        line("n", &words(5, 40), json!({})),
        // Without repeated passages, both texts are the same few words.
        line("first", &frame(4), json!({})),
        line("second", &frame(5), json!({})),
        // The document's words join the words of `z` on either side.
        line("x", &format!("{} {begin} {z} {}", words(6, 30), words(7, 30)), json!({})),
        // The same text as `first`.
        line("again", &frame(4), json!({})),
    ];
    dir.write("in.jsonl", input.concat());
    let args = ["dedup", "in.jsonl", "--cut-passages", "20", "--dropped", "dropped", "--out"];
    let summary = dir.json(&[&args[..], &["out"]].concat());
    assert_eq!((&summary["kept"], &summary["cut"]), (&json!(6), &json!(2)), "{summary}");
    let dropped = lines(&dir, "dropped");
    let said = |id: &str| dropped.iter().find(|line| line["id"] == id).unwrap().clone();
    for (id, of) in [("c", "a"), ("second", "first"), ("again", "first")] {
        assert_eq!(said(id), json!({"id": id, "verdict": "exact", "of": of}));
    }
    // Nothing is left to find.
    let again = dir.run(&["dedup", "out", "--cut-passages", "20", "--format", "json"]);
    assert_eq!(again.err.lines().count(), 1, "{}", again.err);
    let again: Value = serde_json::from_str(&again.err).unwrap();
    assert_eq!((&again["kept"], &again["cut"]), (&json!(6), &json!(0)), "{again}");
}

#[test]
fn what_is_left_reads_as_text_and_few_words_are_dropped_and_counted() {
    let dir = Dir::new();
    let passage = words(1, 40);
    let texts = [
        ("a", format!("A page of its own, {}. {passage}.", words(2, 90))),
        ("b", format!("It begins so. (\u{201c}{passage}.\u{201d}) And so it ends.")),
        ("few", format!("Three own words. {passage}?")),
        ("line", format!("Some words before the list.\n- {passage};\n- another item")),
        ("none", passage.clone()),
    ];
    let input: String = texts.iter().map(|(id, text)| line(id, text, json!({}))).collect();
    dir.write("in.jsonl", &input);
    let args = ["dedup", "in.jsonl", "--cut-passages", "20", "--dropped"];
    let summary = dir.json(&[&args[..], &["list", "--out", "out"]].concat());
    let counts = ["kept", "cut", "passages"].map(|name| summary[name].as_u64().unwrap());
    assert_eq!(counts, [3, 2, 2], "{summary}");
    let found: Vec<Value> = lines(&dir, "out").iter().map(|line| line["text"].clone()).collect();
    let rests = ["It begins so. And so it ends.", "Some words before the list.\n- another item"];
    assert_eq!(found[1..], rests.map(|text| json!(text)));
    let more = dir.json(&[&args[..], &["list2", "--out", "out2", "--min-left", "8"]].concat());
    assert_eq!((&more["kept"], &more["cut"], &more["passages"]), (&json!(1), &json!(0), &json!(4)));
    let fewer = dir.json(&[&args[..], &["list3", "--out", "out3", "--min-left", "0"]].concat());
    assert_eq!((&fewer["kept"], &fewer["passages"]), (&json!(4), &json!(1)), "{fewer}");
    // Questions are cut in the same way.
    dir.write("bench.jsonl", format!("{}\n", json!({"question": passage})));
    let args = ["decontaminate", "in.jsonl", "--against", "bench.jsonl", "--cut-passages", "--out"];
    let summary = dir.json(&[&args[..], &["out4"]].concat());
    let counts = ["kept", "cut", "dropped"].map(|name| summary[name].as_u64().unwrap());
    assert_eq!(counts, [3, 3, 2], "{summary}");
    let left = [&*format!("A page of its own, {}.", words(2, 90)), rests[0], rests[1]];
    let found: Vec<Value> = lines(&dir, "out4").iter().map(|line| line["text"].clone()).collect();
    assert_eq!(found, left.map(|text| json!(text)));
    let human = dir.run(&[&args[..], &["out5", "--min-left", "8"]].concat());
    assert!(
        human.err.contains("5 contaminated, 1 written, 1 of these without passages, 4 dropped"),
        "{}",
        human.err
    );
}

#[test]
fn a_run_that_cuts_passages_goes_on_to_the_same_end() {
    let dir = Dir::new();
    // Every third document quotes the previous document, within a frame that many documents have.
    let text = |i: u64| match i % 3 {
        0 => words(i, 30),
        1 => {
            let (begin, end) = halves(&words(90_000 + i / 30, 16), 8);
            format!("{begin} {} {end}", words(i - 1, 30))
        }
        _ => words(i / 900, 40),
    };
    let input: String = (0..6000).map(|i| line(&format!("d{i}"), &text(i), json!({}))).collect();
    dir.write("in.jsonl", input);
    let options = ["--cut-passages", "20", "--memory", "1MiB"];
    let whole = ["dedup", "in.jsonl", "--out", "whole", "--dropped", "whole.report"];
    let one_thread = ["--index", "a", "--threads", "1"];
    let summary = dir.json(&[&whole[..], &one_thread, &options].concat());
    assert!(summary["cut"].as_u64() >= Some(100), "{summary}");
    let args = ["dedup", "in.jsonl", "--out", "out", "--dropped", "report", "--index", "b"];
    let args = [&args[..], &options, &["--threads", "3"]].concat();
    for (attempt, point) in ["commit:2", "document:1500", "commit:2"].into_iter().enumerate() {
        let resume: &[&str] = if attempt == 0 { &[] } else { &["--resume"] };
        dir.paused(point, &[&args[..], resume].concat()).kill();
    }
    assert_eq!(dir.json(&[&args[..], &["--resume"]].concat()), summary);
    for (whole, resumed) in [("whole", "out"), ("whole.report", "report")] {
        assert!(fs::read(dir.path(whole)).unwrap() == fs::read(dir.path(resumed)).unwrap());
    }
    // The index keeps what the output has.
    let stored = dir.json(&["dedup", "out", "--index", "b", "--out", "again", "--exact"]);
    assert_eq!((&stored["kept"], &stored["unchanged"]), (&summary["kept"], &summary["kept"]));
}

#[test]
fn a_repeated_run_into_the_same_index_ends_the_same() {
    let dir = Dir::new();
    let (a, b) = (words(1, 60), words(2, 50));
    let chain = [
        line("a", &a, json!({})),
        line("b", &format!("{b} {a}"), json!({})),
        // Without `a`, its second half is what the index keeps of `b`.
        line("c", &format!("{a} {} {b}", words(3, 30)), json!({})),
        line("d", &format!("{b} {}", words(4, 4)), json!({})),
        // The whole text of `b`, which the index does not have.
        line("e", &format!("{b} {a}"), json!({})),
    ];
    let quoting = (0..200).map(|i| {
        let text = match i % 3 {
            0 => words(100 + i, 40),
            _ => format!("{} {} {}", words(1000 + i, 25), words(99 + i, 40), words(2000 + i, 25)),
        };
        line(&format!("q{i}"), &text, json!({}))
    });
    dir.write("in.jsonl", chain.into_iter().chain(quoting).collect::<String>());
    let run = |name: &str, more: &[&str]| {
        let (out, report) = (format!("out{name}"), format!("report{name}"));
        let args = ["dedup", "in.jsonl", "--index", "idx", "--cut-passages", "20", "--out", &out];
        let summary = dir.json(&[&args[..], &["--dropped", &report], more].concat());
        (summary, fs::read(dir.path(&out)).unwrap(), lines(&dir, &report))
    };
    let (first, out, report) = run("1", &[]);
    assert!(first["cut"].as_u64() > Some(60), "{first}");
    for (name, more) in [("2", &[][..]), ("3", &["--threads", "1"])] {
        // The passage of `b` was found in no document, and `c` was stored with it.
        let (again, out_again, report_again) = run(name, more);
        assert!(out_again == out, "{name}: {again}");
        assert_eq!((&again["kept"], &again["unchanged"]), (&first["kept"], &first["kept"]));
        let cuts = |report: &[Value]| -> Vec<Value> {
            let cut = report.iter().map(|line| json!([line["id"], line["cut"], line["of"]]));
            cut.collect()
        };
        assert_eq!(cuts(&report_again), cuts(&report), "{name}");
    }
}

#[test]
fn a_refused_run_leaves_nothing_and_names_no_temporary_index() {
    let dir = Dir::new();
    dir.write("in.jsonl", line("a", &words(1, 50), json!({})));
    dir.json(&["add", "c.idx", "in.jsonl", "--for", "corpus"]);
    dir.json(&["add", "w.idx", "in.jsonl"]);
    dir.json(&["add", "bare.idx", "in.jsonl", "--no-text"]);
    dir.write("taken", "some text");
    let check = |args: &[&str], what: &str, absent: &[&str]| {
        let out: &[&str] = if args.contains(&"--out") { &[] } else { &["--out", "out"] };
        let run = dir.run(&[&["dedup", "in.jsonl"], args, out].concat());
        assert_eq!(run.status, 2, "{args:?}: {}", run.err);
        assert!(run.err.contains(what), "{args:?}: {}", run.err);
        for name in absent.iter().chain(&["out", "new"]) {
            assert!(!dir.path(name).exists(), "{args:?} left {name}");
        }
    };
    check(&["--against", "c.idx", "--against", "w.idx"], "but c.idx uses", &[]);
    check(&["--against", "c.idx", "--scheme", "kgram(k=3)"], "but this run uses", &[]);
    check(&["--against", "c.idx", "--index", "w.idx"], "but w.idx uses", &[]);
    check(&["--against", "c.idx", "--index", "new", "--analyzer", "chars"], "but new uses", &[]);
    check(&["--against", "bare.idx", "--cut-passages", "9", "--index", "new"], "no text", &[]);
    check(&["--index", "new", "--dropped", "taken"], "taken: the file exists already", &[]);
    check(&["--index", "new", "--dropped", "none/list"], "none/list", &[]);
    check(&["--index", "new", "--dropped", "list", "--out", "none/out"], "none/out", &["list"]);
    // The index cannot be created.
    check(&["--index", "taken"], "taken", &[]);
    check(&["--index", "taken/new", "--dropped", "list"], "taken/new", &["list"]);
}
