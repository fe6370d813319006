//! The real binary: frequency tables, and indexes with such tables.

use crate::common::run::{Dir, corpus};
use crate::common::words;
use cento::index::Index;
use cento::scheme::frequency::FrequencyTable;
use std::fs;

const SCHEME: [&str; 4] = ["--scheme", "fbw(q=4,w=20)", "--analyzer", "chars"];

/// A corpus, a frequency table of the corpus, and an index with the table.
fn trained() -> Dir {
    let dir = Dir::new();
    dir.write("corpus.jsonl", corpus());
    let run = dir.run(&["method", "train", "corpus.jsonl", "--out", "table"]);
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(run.err.contains("3 documents"), "{}", run.err);
    let created = dir.run(&[&["create", "idx", "--frequencies", "table"], &SCHEME[..]].concat());
    assert_eq!(created.status, 0, "{}", created.err);
    dir.json(&["add", "idx", "corpus.jsonl"]);
    dir
}

#[test]
fn an_index_keeps_its_own_table() {
    let dir = trained();
    fs::remove_file(dir.path("table")).unwrap();
    let answer = dir.json(&["search", "idx", "--text", &words(1, 80), "--passages"]);
    assert_eq!(answer["hits"][0]["containment_of_a"], 1.0);
    assert_eq!(answer["hits"].as_array().unwrap().len(), 2);
    let best = dir.json(&["search", "idx", "--text", &words(1, 80), "--goal", "passage"]);
    assert_eq!(best["hits"][0]["passages"][0]["similarity"], 1.0);
    // Adding needs no table, compacting keeps the table, and `check` finds no problem.
    dir.write("more.txt", words(9, 100));
    dir.json(&["add", "idx", "more.txt"]);
    dir.json(&["compact", "idx"]);
    dir.json(&["check", "idx"]);
    assert!(dir.path("idx/frequencies.cento").exists());
    // Signatures travel, and are known by their table.
    dir.write("q.txt", words(1, 80));
    let signature =
        dir.run(&["method", "fingerprint", "q.txt", "--like", "idx", "--format", "json"]);
    dir.write("q.json", &signature.out);
    let by_signature = dir.json(&["search", "idx", "--signature", "q.json"]);
    assert_eq!(by_signature["hits"][0]["containment_of_a"], 1.0);
    let retrained = dir.run(&["method", "train", "idx", "--out", "other"]);
    assert!(retrained.err.contains("4 documents"), "{}", retrained.err);
    let args = ["method", "fingerprint", "q.txt", "--frequencies", "other", "--format", "json"];
    let other = dir.run(&[&args[..], &SCHEME[..]].concat());
    dir.write("other.json", &other.out);
    let refused = dir.run(&["search", "idx", "--signature", "other.json"]);
    assert_eq!(refused.status, 2);
    assert!(refused.err.contains("frequency table"), "{}", refused.err);
}

#[test]
fn retraining_signs_everything_again() {
    let dir = trained();
    let text = words(1, 80);
    let search = ["search", "idx", "--text", &text, "--limit", "50"];
    dir.write("more.jsonl", corpus().replace("\"a\"", "\"z\""));
    dir.json(&["add", "idx", "more.jsonl"]);
    let before = fs::read(dir.path("idx/frequencies.cento")).unwrap();
    let hits = dir.json(&search)["hits"].as_array().unwrap().len();
    // Leftovers of a crash do no harm.
    fs::create_dir(dir.path(".idx.retrain")).unwrap();
    dir.json(&["compact", "idx", "--retrain"]);
    assert!(!dir.path(".idx.retrain").exists());
    assert_ne!(fs::read(dir.path("idx/frequencies.cento")).unwrap(), before);
    dir.json(&["check", "idx"]);
    let answer = dir.json(&search);
    assert_eq!(answer["hits"].as_array().unwrap().len(), hits);
    assert_eq!(answer["hits"][0]["containment_of_a"], 1.0);
    // Equal to an index made with the new table from the beginning.
    fs::copy(dir.path("idx/frequencies.cento"), dir.path("new")).unwrap();
    let created = dir.run(&[&["create", "other", "--frequencies", "new"], &SCHEME[..]].concat());
    assert_eq!(created.status, 0, "{}", created.err);
    dir.json(&["add", "other", "corpus.jsonl", "more.jsonl"]);
    let strip = |mut answer: serde_json::Value| {
        answer.as_object_mut().unwrap().remove("took_us");
        answer
    };
    assert_eq!(
        strip(dir.json(&["search", "other", "--text", &text, "--limit", "50"])),
        strip(dir.json(&search))
    );
    dir.json(&["add", "plain", "corpus.jsonl"]);
    let refused = dir.run(&["compact", "plain", "--retrain"]);
    assert_eq!(refused.status, 2);
    assert!(refused.err.contains("no frequency table"), "{}", refused.err);
}

#[test]
fn a_collection_weighs_words() {
    let dir = Dir::new();
    dir.write("corpus.jsonl", corpus());
    dir.json(&["add", "idx", "corpus.jsonl"]);
    for (q, out) in [("1", "words"), ("2", "pairs")] {
        let run = dir.run(&[
            "method",
            "train",
            "idx",
            "--analyzer",
            "words",
            "--run-length",
            q,
            "--out",
            out,
        ]);
        assert_eq!(run.status, 0, "{}", run.err);
    }
    let text = words(1, 30);
    let search = ["search", "idx", "--text", &text, "--verify", "cosine"];
    let similarity = |more: &[&str]| {
        let answer = dir.json(&[&search[..], more].concat());
        answer["hits"][0]["verified"]["similarity"].as_f64().unwrap()
    };
    assert_ne!(similarity(&[]), similarity(&["--frequencies", "words"]));
    let refused = dir.run(&[&search[..], &["--frequencies", "pairs"]].concat());
    assert!(refused.status == 2 && refused.err.contains("single tokens"), "{}", refused.err);
    dir.write("a.txt", words(1, 30));
    dir.write("b.txt", words(1, 20));
    let compare = ["compare", "a.txt", "b.txt", "--measures", "cosine"];
    let measured = |more: &[&str]| dir.json(&[&compare[..], more].concat())["measures"].clone();
    assert_ne!(measured(&[]), measured(&["--frequencies", "words"]));
}

#[test]
fn a_reader_of_the_old_index_is_advised_to_open_it_again() {
    let dir = trained();
    let old = Index::open(dir.path("idx")).unwrap();
    let snapshot = old.snapshot().unwrap();
    let added = snapshot.segments()[0].added_micros(0).unwrap();
    dir.write("more.txt", words(9, 100));
    dir.json(&["add", "idx", "more.txt"]);
    dir.json(&["remove", "idx", "c"]);
    dir.write("idx/notes.txt", "mine");
    let refused = dir.run(&["compact", "idx", "--retrain"]);
    assert!(refused.status == 2 && refused.err.contains("notes.txt"), "{}", refused.err);
    fs::remove_file(dir.path("idx/notes.txt")).unwrap();
    dir.json(&["compact", "idx", "--retrain"]);
    // A snapshot keeps showing the old state.
    let address = snapshot.find("c").unwrap().unwrap();
    assert_eq!(snapshot.document(address).unwrap().text.unwrap(), words(3, 100));
    for error in [old.snapshot().err().unwrap(), old.writer(Default::default()).err().unwrap()] {
        let told = error.to_string();
        assert!(told.contains("open it again") || told.contains("open the index again"), "{told}");
    }
    let new = Index::open(dir.path("idx")).unwrap().snapshot().unwrap();
    assert_eq!(new.documents(), 3);
    assert!(new.find("c").unwrap().is_none());
    let a = new.find("a").unwrap().unwrap();
    assert_eq!(new.segments()[0].added_micros(a.doc).unwrap(), added);
    assert_eq!(new.meta(a).unwrap()["year"], 2019);
    let mut here = dir.command(&["compact", ".", "--retrain"]);
    let run = here.current_dir(dir.path("idx")).output().unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert_eq!(dir.run(&["check", "idx"]).status, 0);
}

#[test]
fn spex_reads_everything_as_often_as_it_must() {
    let dir = Dir::new();
    dir.write("corpus.jsonl", corpus());
    let train =
        ["method", "train", "--run-length", "3", "--analyzer", "words", "--spex", "--out", "table"];
    let run = dir.run(&[&train[..], &["corpus.jsonl"]].concat());
    assert!(run.err.contains("3 documents"), "{}", run.err);
    let all = dir.run(&[
        "method",
        "train",
        "--run-length",
        "3",
        "--analyzer",
        "words",
        "--out",
        "all",
        "corpus.jsonl",
    ]);
    assert_eq!(all.status, 0, "{}", all.err);
    let counts = |name: &str, least: u64| {
        let mut counts = Vec::new();
        let table = FrequencyTable::open(&dir.path(name)).unwrap();
        table.for_each(&mut |key, count| counts.extend((count >= least).then_some((key, count))));
        counts
    };
    assert_eq!(counts("table", 0), counts("all", 2));
    assert!(counts("table", 0).len() >= 78);
    let args = ["create", "idx", "--scheme", "spex(k=3)", "--frequencies", "table"];
    assert_eq!(dir.run(&args).status, 0);
    dir.json(&["add", "idx", "corpus.jsonl"]);
    let answer = dir.json(&["search", "idx", "--text", &words(1, 80)]);
    assert_eq!(answer["hits"][0]["containment_of_a"], 1.0);
    fs::remove_file(dir.path("table")).unwrap();
    let refused = dir.run(&[&train[..], &["-"]].concat());
    assert_eq!(refused.status, 2);
    assert!(refused.err.contains("several times"), "{}", refused.err);
}

#[test]
fn an_index_of_prepared_words_finds_inflected_ones() {
    let dir = Dir::new();
    dir.write(
        "a.html",
        "<p>The connected machines were <b>testing</b> several remarkable networks again",
    );
    for (name, expected) in [("avtor(language=en)", 0), ("words", 1)] {
        let index = format!("{name}.idx");
        assert_eq!(dir.run(&["create", &index, "--analyzer", name]).status, 0);
        dir.json(&["add", &index, "a.html"]);
        let query = "A connecting machine tests several remarkable network";
        assert_eq!(dir.run(&["search", &index, "--text", query]).status, expected, "{name}");
    }
}

#[test]
fn a_table_that_does_not_fit_is_refused_with_advice() {
    let dir = trained();
    let check = |args: &[&str], what: &str| {
        let run = dir.run(args);
        assert_eq!(run.status, 2, "{args:?}");
        assert!(run.err.contains(what), "{args:?}: {}", run.err);
    };
    check(&["create", "a", "--scheme", "fbw", "--analyzer", "chars"], "cento method train");
    check(&["create", "a", "--frequencies", "table"], "another analyzer");
    let args = ["create", "a", "--frequencies", "table", "--analyzer", "chars"];
    check(&args, "reads no frequency table");
    check(&[&args[..], &["--scheme", "fbw(q=5)"]].concat(), "q=4");
    check(&[&args[..], &["--scheme", "imatch"]].concat(), "runs of 1");
    let args = ["create", "a", "--frequencies", "corpus.jsonl", "--scheme", "fbw"];
    check(&args, "cento method train");
    check(&["add", "idx", "corpus.jsonl", "--frequencies", "missing"], "missing");
    assert!(!dir.path("a").join("meta.json").exists());
    dir.json(&["add", "bare", "corpus.jsonl", "--no-text"]);
    check(&["method", "train", "bare", "--out", "x"], "stores no text");
    let mut table = fs::read(dir.path("idx/frequencies.cento")).unwrap();
    let last = table.len() - 1;
    table[last] ^= 1;
    fs::write(dir.path("idx/frequencies.cento"), table).unwrap();
    check(&["search", "idx", "--text", "x"], "frequencies.cento");
    fs::remove_file(dir.path("idx/frequencies.cento")).unwrap();
    check(&["search", "idx", "--text", "x"], "frequency table");
}

#[test]
fn nothing_to_count_makes_no_table() {
    let dir = Dir::new();
    dir.write("empty.txt", "");
    assert_eq!(dir.run(&["create", "none.idx"]).status, 0);
    for input in ["empty.txt", "none.idx"] {
        let run = dir.run(&["method", "train", input, "--out", "t.freq"]);
        assert_eq!(run.status, 2, "{}", run.err);
        assert!(run.err.contains("no text to count"), "{}", run.err);
        assert!(!dir.path("t.freq").exists());
    }
}
