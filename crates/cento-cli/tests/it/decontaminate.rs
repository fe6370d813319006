//! The real binary: questions of benchmarks in a corpus.

use std::fs;

use serde_json::{Value, json};

use crate::common::run::{Dir, line};
use crate::common::words;

fn lines(dir: &Dir, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(dir.path(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The text of a question, different for each number.
fn question(number: u64) -> String {
    words(1000 + number, 8 + number as usize * 3)
}

/// Twenty questions. The first fifteen occur in a document each, out of sixty documents.
fn planted() -> Dir {
    let dir = Dir::new();
    let questions = (0..20).map(|number| {
        let answer = words(2000 + number, 9);
        json!({"id": format!("q{number}"), "question": question(number), "answer": answer})
    });
    dir.write("bench.jsonl", questions.map(|q| format!("{q}\n")).collect::<String>());
    let documents = (0..60).map(|number| {
        let (before, after) = (words(number, 50), words(500 + number, 50));
        let text = match number {
            0..5 => format!("{before} {} {after}", question(number)),
            5..10 => format!("{before}\n{}\n{after}", question(number).replace(' ', "\n  ")),
            10..15 => {
                let answer = words(2000 + number, 9);
                format!("{before} {} {answer} {after}", question(number).to_uppercase())
            }
            _ => format!("{before} {after}"),
        };
        line(&format!("d{number}"), &text, json!({"n": number}))
    });
    dir.write("corpus.jsonl", documents.collect::<String>());
    dir
}

const ARGS: [&str; 6] =
    ["decontaminate", "corpus.jsonl", "--against", "bench.jsonl", "--answer-field", "answer"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&ARGS, more].concat()
}

#[test]
fn planted_questions_are_found_with_their_places() {
    let dir = planted();
    let summary = dir.json(&with(&["--documents", "found.jsonl", "--questions", "q.jsonl"]));
    let of = &summary["benchmarks"][0];
    assert_eq!((&of["benchmark"], &of["questions"]), (&json!("bench"), &json!(20)));
    assert_eq!((&of["contaminated"], &of["with_answer"]), (&json!(15), &json!(5)));
    assert_eq!((&of["rate"], &summary["contaminated_documents"]), (&json!(0.75), &json!(15)));
    let corpus = lines(&dir, "corpus.jsonl");
    let found = lines(&dir, "found.jsonl");
    assert_eq!(found.len(), 15);
    for (number, row) in found.iter().enumerate() {
        assert_eq!(row["document"], format!("d{number}"));
        assert_eq!(row["question"], format!("q{number}"));
        assert_eq!((&row["share"], &row["answer"]), (&json!(1.0), &json!(number >= 10)));
        let place = |name: &str| row[name].as_u64().unwrap() as usize;
        let text = corpus[number]["text"].as_str().unwrap();
        assert_eq!(row["passage"], text[place("start")..place("end")]);
        let there = row["passage"].as_str().unwrap().to_lowercase();
        let there: Vec<&str> = there.split_whitespace().collect();
        assert_eq!(there.join(" "), question(number as u64));
    }
    let verdicts = lines(&dir, "q.jsonl");
    let verdicts: Vec<_> = verdicts.iter().map(|row| row["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, [["contaminated"; 15].as_slice(), &["clean"; 5]].concat());
    // The answers do not depend on threads or memory.
    let small = with(&["--documents", "other.jsonl", "--threads", "3", "--memory", "1MB"]);
    let other = dir.json(&small);
    assert_eq!(other, summary);
    assert!(
        fs::read(dir.path("other.jsonl")).unwrap() == fs::read(dir.path("found.jsonl")).unwrap()
    );
    let none = dir.run(&[
        "decontaminate",
        "bench.jsonl",
        "--text-field",
        "answer",
        "--against",
        "bench.jsonl",
    ]);
    assert_eq!(none.status, 1, "{}", none.err);
}

#[test]
fn the_corpus_is_written_without_annotated_or_cut() {
    let dir = planted();
    let corpus = fs::read_to_string(dir.path("corpus.jsonl")).unwrap();
    let summary = dir.json(&with(&["--out", "clean.jsonl.zst"]));
    assert_eq!((&summary["kept"], &summary["dropped"]), (&json!(45), &json!(15)));
    dir.json(&with(&["--out", "clean.jsonl"]));
    let rest: String = corpus.lines().skip(15).map(|line| format!("{line}\n")).collect();
    assert!(fs::read_to_string(dir.path("clean.jsonl")).unwrap() == rest);
    // The output is clean.
    for name in ["clean.jsonl", "clean.jsonl.zst"] {
        let again = dir.run(&["decontaminate", name, "--against", "bench.jsonl"]);
        assert_eq!(again.status, 1, "{}", again.err);
    }
    dir.json(&with(&["--out", "all.jsonl", "--annotate"]));
    for (number, row) in lines(&dir, "all.jsonl").iter().enumerate() {
        let verdict = &row["decontaminate"];
        let expected = if number < 15 { "contaminated" } else { "clean" };
        assert_eq!((&verdict["verdict"], &row["meta"]["n"]), (&json!(expected), &json!(number)));
        assert_eq!(verdict["questions"], if number < 15 { json!(1) } else { Value::Null });
    }
    let summary = dir.json(&with(&["--out", "cut.jsonl", "--cut-passages"]));
    assert_eq!((&summary["kept"], &summary["cut"]), (&json!(60), &json!(15)));
    let before = lines(&dir, "corpus.jsonl");
    for (number, (before, after)) in before.iter().zip(lines(&dir, "cut.jsonl")).enumerate() {
        let text = before["text"].as_str().unwrap();
        let question = match number {
            0..5 => question(number as u64),
            5..10 => question(number as u64).replace(' ', "\n  "),
            10..15 => question(number as u64).to_uppercase(),
            _ => "-".into(),
        };
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let rest = after["text"].as_str().unwrap();
        assert_eq!(words(rest), words(&text.replace(&question, "")));
        // A space is removed with the question.
        assert_eq!(rest.matches(char::is_whitespace).count() + 1, words(rest).split(' ').count());
        assert_eq!(after["meta"], before["meta"]);
    }
    // Existing files are not overwritten.
    let again = dir.run(&with(&["--out", "clean.jsonl"]));
    assert!(again.status == 2 && again.err.contains("exists already"), "{}", again.err);
}

#[test]
fn each_place_of_a_question_is_cut_listed_and_annotated() {
    // Regression: only the first place was cut, so the written corpus still had the question.
    let dir = Dir::new();
    let question =
        "Which metal did the glass masters of the lagoon add to take away the green tint";
    dir.write("bench.jsonl", format!("{}\n", json!({"id": "q", "question": question})));
    let text = format!("Exercise. {question}? Think about it. Solution. {question}? Manganese.");
    dir.write("corpus.jsonl", line("d", &text, json!({})));
    let args = ["decontaminate", "corpus.jsonl", "--against", "bench.jsonl"];
    let places: Vec<usize> = text.match_indices(question).map(|(at, _)| at).collect();
    let summary = dir.json(&[&args[..], &["--documents", "found.jsonl"]].concat());
    assert_eq!(summary["contaminated_documents"], 1);
    let found = lines(&dir, "found.jsonl");
    assert_eq!(
        found.iter().map(|row| row["start"].as_u64().unwrap() as usize).collect::<Vec<_>>(),
        places
    );
    dir.json(&[&args[..], &["--annotate", "--out", "all.jsonl"]].concat());
    let verdict = &lines(&dir, "all.jsonl")[0]["decontaminate"];
    let range = |at: &usize| json!([at, at + question.len()]);
    assert_eq!(verdict["passages"], Value::from_iter(places.iter().map(range)));
    assert_eq!(verdict["questions"], 1);
    dir.json(&[&args[..], &["--cut-passages", "--out", "cut.jsonl"]].concat());
    let cut = lines(&dir, "cut.jsonl");
    assert_eq!(cut[0]["text"], "Exercise. Think about it. Solution. Manganese.");
    let again = dir.run(&["decontaminate", "cut.jsonl", "--against", "bench.jsonl"]);
    assert_eq!(again.status, 1, "{}", again.err);
}

/// A question that quotes a sentence, ten documents with the sentence, and a document with the
/// question.
fn quoted() -> Dir {
    let dir = Dir::new();
    let (before, sentence, after) = (words(1, 6), words(2, 24), words(3, 6));
    let question = format!("{before} {sentence} {after}");
    dir.write("bench.jsonl", format!("{}\n", json!({"id": "q", "question": question})));
    let documents = (0..11).map(|number| {
        let text = if number == 10 { &question } else { &sentence };
        let text = format!("{} {text} {}", words(10 + number, 40), words(30 + number, 40));
        line(&format!("d{number}"), &text, json!({}))
    });
    dir.write("corpus.jsonl", documents.collect::<String>());
    dir
}

#[test]
fn words_that_documents_have_without_the_question_contaminate_none() {
    // Regression: every document with the sentence was contaminated.
    let dir = quoted();
    let args = ["decontaminate", "corpus.jsonl", "--against", "bench.jsonl"];
    let lists = ["--documents", "found.jsonl", "--questions", "q.jsonl", "--out", "clean.jsonl"];
    let summary = dir.json(&[&args[..], &lists].concat());
    assert_eq!((&summary["contaminated_documents"], &summary["kept"]), (&json!(1), &json!(10)));
    assert_eq!(summary["documents_with_common_words"], 10, "{summary}");
    let found = lines(&dir, "found.jsonl");
    for (number, row) in found.iter().enumerate() {
        let is_leak = number == 10;
        assert_eq!((&row["common"], &row["carriers"]), (&json!(!is_leak), &json!(11)), "{row}");
        assert_eq!(row["matched"], row["passage"]);
        assert_eq!(row["own_share"].as_f64().unwrap() == 1.0, is_leak, "{row}");
    }
    assert_eq!(found.len(), 11);
    let question = &lines(&dir, "q.jsonl")[0];
    assert_eq!(
        (&question["documents"], &question["documents_with_common_words"]),
        (&json!(1), &json!(10))
    );
    dir.json(&[&args[..], &["--cut-passages", "--out", "cut.jsonl"]].concat());
    let (before, after) = (lines(&dir, "corpus.jsonl"), lines(&dir, "cut.jsonl"));
    assert_eq!(before[..10], after[..10]);
    assert!(before[10] != after[10]);
    dir.json(&[&args[..], &["--annotate", "--out", "all.jsonl"]].concat());
    let verdicts = lines(&dir, "all.jsonl");
    assert_eq!(verdicts[0]["decontaminate"]["verdict"], "common");
    assert_eq!(verdicts[10]["decontaminate"]["verdict"], "contaminated");
    let threads = [&args[..], &["--documents", "other.jsonl", "--threads", "3"]].concat();
    dir.json(&[&threads[..], &["--memory", "1MB"]].concat());
    assert_eq!(lines(&dir, "other.jsonl"), found);
}

#[test]
fn a_question_with_choices_is_found_with_the_labels_of_the_choices() {
    let dir = Dir::new();
    let question = "Name the usual boiling point of pure water at sea level?";
    let texts = ["90 degrees", "100 degrees", "110 degrees", "120 degrees"];
    let labelled = json!({"text": texts, "label": ["A", "B", "C", "D"]});
    for (name, choices) in [("plain.jsonl", json!(texts)), ("arc.jsonl", labelled)] {
        dir.write(
            name,
            format!("{}\n", json!({"id": "q", "question": question, "choices": choices})),
        );
    }
    let listed = |label: &dyn Fn(char) -> String| {
        let options: Vec<String> =
            "ABCD".chars().zip(texts).map(|(letter, text)| label(letter) + text).collect();
        format!("Practice test. {question}\n{}\nAnswer: B", options.join("\n"))
    };
    let corpus = [
        line("points", &listed(&|letter| format!("{letter}. ")), json!({})),
        line("brackets", &listed(&|letter| format!("({letter}) ")), json!({})),
        line("strokes", &listed(&|_| "- ".into()), json!({})),
        line("alone", question, json!({})),
    ];
    dir.write("corpus.jsonl", corpus.concat());
    for name in ["plain.jsonl", "arc.jsonl"] {
        let list = format!("{name}.found.jsonl");
        let args = ["decontaminate", "corpus.jsonl", "--against", name, "--documents", &list];
        let fields = ["--question-field", "question", "--question-field", "choices"];
        dir.json(&[&args[..], &fields].concat());
        let found = lines(&dir, &list);
        let shown: Vec<_> = found.iter().map(|row| (&row["document"], &row["share"])).collect();
        // Without the choices, the text is still more than half of the question.
        let ids = ["points", "brackets", "strokes", "alone"].map(|id| json!(id));
        let shares = [1.0, 1.0, 1.0, 11.0 / 19.0].map(|share| json!(share));
        assert_eq!(shown, ids.iter().zip(&shares).collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn a_record_is_not_annotated_twice() {
    // Regression: the record got two members with the same name.
    let dir = planted();
    dir.json(&with(&["--out", "once.jsonl", "--annotate"]));
    let args = ["decontaminate", "once.jsonl", "--against", "bench.jsonl", "--annotate"];
    let twice = dir.run(&[&args[..], &["--out", "twice.jsonl"]].concat());
    assert_eq!(twice.status, 2, "{}", twice.err);
    let said = "the record \"d0\": it has a member `decontaminate` already";
    assert!(twice.err.contains(said) && !dir.path("twice.jsonl").exists(), "{}", twice.err);
    dir.write("a.jsonl", "{\"id\":\"a\",\"text\":\"x y z\",\"dedup\":1}\n");
    let dedup = dir.run(&["dedup", "a.jsonl", "--annotate", "--out", "b.jsonl"]);
    assert_eq!(dedup.status, 2, "{}", dedup.err);
    assert!(dedup.err.contains("\"a\": it has a member `dedup` already"), "{}", dedup.err);
    dir.write("a.csv", "id,text,dedup\na,x y z,1\n");
    let dedup = dir.run(&["dedup", "a.csv", "--annotate", "--out", "b.csv"]);
    assert!(
        dedup.status == 2 && dedup.err.contains("a.csv: it has a column `dedup`"),
        "{}",
        dedup.err
    );
}

#[test]
fn benchmarks_that_are_ambiguous_are_refused_and_one_that_is_named_twice_counts_once() {
    let dir = planted();
    let args = ["decontaminate", "corpus.jsonl", "--against", "bench.jsonl"];
    let once = dir.json(&args);
    let twice = dir.json(&[&args[..], &["--against", "./bench.jsonl"]].concat());
    assert_eq!(once["benchmarks"], twice["benchmarks"]);
    let same = [question(1), question(2)].map(|text| json!({"id": "a", "question": text}));
    dir.write("same.jsonl", same.map(|q| format!("{q}\n")).concat());
    let run = dir.run(&["decontaminate", "corpus.jsonl", "--against", "same.jsonl"]);
    let said = "same.jsonl:2: its id is \"a\", as that of same.jsonl:1";
    assert!(run.status == 2 && run.err.contains(said), "{}", run.err);
    dir.write("lacks.jsonl", "{\"id\":\"q\",\"question\":\"x\"}\n");
    let fields = ["--question-field", "question", "--question-field", "choices"];
    let lacks = ["decontaminate", "corpus.jsonl", "--against", "lacks.jsonl"];
    let run = dir.run(&[&lacks[..], &fields].concat());
    let said = "lacks.jsonl:1: there is no `choices`";
    assert!(run.status == 2 && run.err.contains(said), "{}", run.err);
}

#[test]
fn a_file_of_a_benchmark_that_is_left_out_is_listed() {
    let dir = planted();
    dir.write("all/a.jsonl", format!("{}\n", json!({"question": question(1)})));
    dir.write("all/.hidden.jsonl", "");
    let summary = dir.json(&["decontaminate", "corpus.jsonl", "--against", "all"]);
    assert_eq!(summary["left_out"][0]["path"], "all/.hidden.jsonl", "{summary}");
    assert_eq!((&summary["skipped"], &summary["skipped_by_name"]), (&json!(1), &json!(1)));
}

#[test]
fn a_run_that_was_killed_leaves_no_output_and_can_be_started_again() {
    let dir = planted();
    let args = with(&["--out", "clean.jsonl", "--documents", "found.csv"]);
    for point in ["document:1", "document:30", "document:60", "end:1"] {
        dir.paused(point, &args).kill();
        assert!(!dir.path("clean.jsonl").exists() && !dir.path("found.csv").exists(), "{point}");
    }
    assert_eq!(dir.paused("document:9", &args).interrupt(), 130);
    assert!(!dir.path("clean.jsonl").exists());
    assert!(!dir.path(".part-clean.jsonl").exists());
    dir.json(&args);
    assert_eq!(lines(&dir, "clean.jsonl").len(), 45);
    assert!(!dir.path(".part-clean.jsonl").exists());
}

#[test]
fn every_input_is_accounted_for() {
    let dir = planted();
    dir.write("in/a.jsonl", format!("{}no json\n", line("a", &question(3), json!({}))));
    dir.write("in/b.bin", b"\x00\x01\x02\x00");
    dir.write("in/c.txt", format!("{}\n", question(4)));
    dir.write("in/empty.txt", "");
    let run = dir.run(&["decontaminate", "in", "--against", "bench.jsonl", "--format", "json"]);
    assert_eq!(run.status, 3, "{}", run.err);
    let summary = run.json();
    assert_eq!((&summary["documents"], &summary["failed"]), (&json!(2), &json!(1)));
    assert_eq!((&summary["skipped"], &summary["contaminated_documents"]), (&json!(2), &json!(2)));
    assert!(run.err.contains("in/a.jsonl:2"), "{}", run.err);
    let strict = dir.run(&["decontaminate", "in", "--against", "bench.jsonl", "--strict"]);
    assert_eq!(strict.status, 2);
}

#[test]
fn bad_input_is_refused_with_its_name() {
    let dir = planted();
    dir.write("other.jsonl", "{\"prompt\":\"a question without the field\"}\n");
    dir.write("none.txt", "\n");
    let check = |args: &[&str], what: &str| {
        let run = dir.run(&[&["decontaminate"], args].concat());
        assert!(run.status == 2 && run.err.contains(what), "{args:?}: {}", run.err);
    };
    check(&["corpus.jsonl", "--against", "other.jsonl"], "--question-field");
    check(&["corpus.jsonl", "--against", "other.jsonl"], "other.jsonl:1");
    check(&["corpus.jsonl", "--against", "missing.jsonl"], "missing.jsonl");
    check(&["corpus.jsonl", "--against", "none.txt"], "no question");
    check(&["-", "--against", "bench.jsonl", "--out", "x.jsonl"], "read twice");
    check(
        &["corpus.jsonl", "--against", "bench.jsonl", "--out", "bench.jsonl"],
        "is the input bench.jsonl",
    );
    check(&["corpus.jsonl", "--against", "bench.jsonl", "--out", "x.parquet"], "promises .parquet");
    check(&["corpus.jsonl", "--against", "bench.jsonl", "--min-share", "0"], "min_share");
    check(&["corpus.jsonl", "--against", "bench.jsonl", "--analyzer", "none"], "none");
    let columns = ["--question-field", "prompt", "--text-field", "text"];
    let found = dir.run(
        &[&["decontaminate", "corpus.jsonl", "--against", "other.jsonl"], &columns[..]].concat(),
    );
    assert_eq!(found.status, 1, "{}", found.err);
}

#[test]
fn the_forms_of_benchmarks_and_lists_are_those_of_their_names() {
    let dir = planted();
    let texts: Vec<String> = (0..4).map(question).collect();
    dir.write("lines.txt", texts.join("\n"));
    let rows = texts.iter().enumerate().map(|(n, text)| format!("{n},{text},set{}\n", n % 2));
    dir.write("table.csv", format!("id,q,of\n{}", rows.collect::<String>()));
    let run = dir.json(&["decontaminate", "corpus.jsonl", "--against", "lines.txt"]);
    assert_eq!(run["benchmarks"][0]["contaminated"], 4);
    let args = ["decontaminate", "corpus.jsonl", "--against", "table.csv", "--question-field", "q"];
    let more = ["--benchmark-field", "of", "--documents", "d.csv", "--questions", "q.tsv"];
    let run = dir.json(&[&args[..], &more].concat());
    let names: Vec<_> =
        run["benchmarks"].as_array().unwrap().iter().map(|of| of["benchmark"].clone()).collect();
    assert_eq!(names, ["set0", "set1"]);
    let table = fs::read_to_string(dir.path("d.csv")).unwrap();
    assert!(table.starts_with("document,benchmark,question,common,share,"), "{table}");
    assert!(table.lines().nth(2).unwrap().starts_with("d1,set1,1,false,1.0,"), "{table}");
    assert_eq!(fs::read_to_string(dir.path("q.tsv")).unwrap().lines().count(), 5);
}

#[test]
fn a_report_has_the_evidence_and_says_how_it_was_made() {
    let dir = planted();
    dir.json(&with(&["--report", "r.html", "--report", "r.json", "--report", "r.csv"]));
    let report: Value = serde_json::from_slice(&fs::read(dir.path("r.json")).unwrap()).unwrap();
    assert_eq!(report["strongest"].as_array().unwrap().len(), 5);
    // Of equal shares the longest first.
    assert_eq!(report["strongest"][0]["id"], "q14");
    assert_eq!(report["strongest"][0]["evidence"]["document"], "d14");
    let parameters = report["run"]["parameters"].as_object().unwrap();
    assert!(parameters.contains_key("corpus digest (XXH3)"), "{parameters:?}");
    let html = fs::read_to_string(dir.path("r.html")).unwrap();
    assert!(html.contains("15") && html.contains("<mark>"), "{}", html.len());
    let csv = fs::read_to_string(dir.path("r.csv")).unwrap();
    assert!(csv.contains("bench,20,15,5,0,0,0,0.75,"), "{csv}");
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_files_are_copied_without_contaminated_rows() {
    let dir = Dir::new();
    dir.write("in/a.parquet", include_bytes!("tables/sample.parquet"));
    let columns = ["--text-field", "content", "--id-field", "url"];
    let texts = lines_of_sample();
    let bench: String =
        [4, 40].map(|row| format!("{}\n", json!({"question": texts[row]}))).concat();
    dir.write("bench.jsonl", bench);
    let run = |more: &[&str]| {
        let args = ["decontaminate", "in", "--against", "bench.jsonl"];
        dir.json(&[&args[..], &columns, more].concat())
    };
    let summary = run(&["--out", "out/", "--documents", "found.parquet"]);
    // Row 40 has many copies.
    let dropped = texts.iter().filter(|text| [&texts[4], &texts[40]].contains(text)).count();
    assert_eq!((&summary["dropped"], dropped > 10), (&json!(dropped), true), "{summary}");
    assert_eq!(summary["kept"], json!(texts.len() - dropped));
    let again = ["decontaminate", "out", "--against", "bench.jsonl"];
    let again = dir.run(&[&again[..], &columns].concat());
    assert_eq!(again.status, 1, "{}", again.err);
    run(&["--out", "all/", "--annotate"]);
    let rows = ["dedup", "all/a.parquet", "--exact", "--annotate", "--out", "rows.jsonl"];
    dir.run(&[&rows[..], &columns].concat());
    let rows = lines(&dir, "rows.jsonl");
    assert_eq!(rows.len(), texts.len());
    assert_eq!(rows[4]["decontaminate"]["verdict"], "contaminated");
    assert_eq!(
        (&rows[4]["decontaminate"]["share"], &rows[4]["decontaminate"]["benchmark"]),
        (&json!(1.0), &json!("bench"))
    );
    assert!(rows.iter().any(|row| row["decontaminate"]["verdict"] == "clean"));
    let list = [
        "dedup",
        "found.parquet",
        "--exact",
        "--text-field",
        "passage",
        "--id-field",
        "NONE",
        "--annotate",
        "--out",
        "list.jsonl",
    ];
    dir.run(&list);
    assert_eq!(lines(&dir, "list.jsonl")[0]["benchmark"], "bench");
}

#[cfg(feature = "parquet")]
fn lines_of_sample() -> Vec<String> {
    let lines = include_str!("tables/sample.jsonl").lines();
    let text =
        |line| serde_json::from_str::<Value>(line).unwrap()["content"].as_str().unwrap().to_owned();
    lines.map(text).collect()
}
