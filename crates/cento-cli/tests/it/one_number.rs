//! The same number everywhere: on the terminal, in JSON, tables and reports, and from the service.

use std::path::Path;

use serde_json::{Value, json};

use crate::common::run::Dir;
use crate::common::service::Service;
use crate::common::words;

/// Returns a directory with the samples of the book, and the index `idx`.
fn samples() -> Dir {
    let dir = Dir::new();
    let samples = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/samples"));
    std::fs::create_dir(dir.path("class")).unwrap();
    let essays = std::fs::read_dir(samples.join("class")).unwrap();
    let essays = essays.map(|file| format!("class/{}", file.unwrap().file_name().display()));
    for name in essays.chain(["articles.jsonl".into(), "essay.txt".into()]) {
        std::fs::copy(samples.join(&name), dir.path(&name)).unwrap();
    }
    dir.json(&["add", "idx", "articles.jsonl", "--for", "essays"]);
    dir
}

/// Writes a share as people read it.
fn shown(share: &Value) -> String {
    let share = share.as_f64().expect("a share is a number");
    assert!((0.0..=1.0).contains(&share), "{share}");
    cento_report::percent(share)
}

/// Returns the values of columns in the rows of a table.
fn columns(table: &str, names: &[&str]) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let at = |name: &&str| headers.iter().position(|header| header == *name).expect("a column");
    let places: Vec<usize> = names.iter().map(at).collect();
    let values = |row: csv::StringRecord| places.iter().map(|&at| row[at].to_owned()).collect();
    reader.records().map(|row| values(row.unwrap())).collect()
}

#[track_caller]
fn read(dir: &Dir, name: &str) -> String {
    std::fs::read_to_string(dir.path(name)).unwrap()
}

#[test]
fn a_pair_has_one_number() {
    let dir = samples();
    // `compare` counts the worksheet.
    let class = ["pairs", "class", "-b", "none"];
    let lines = dir.run(&[&class[..], &["--format", "json"]].concat()).out;
    let pairs: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let pairs: Vec<&Value> = pairs.iter().filter(|pair| pair["symmetric"].is_f64()).collect();
    assert_eq!(pairs.len(), 10);
    let names = ["symmetric", "containment_of_a", "containment_of_b", "resemblance"];
    let table = columns(&dir.run(&[&class[..], &["--format", "csv"]].concat()).out, &names);
    let terminal = dir.run(&class).out;
    for report in ["class.json", "class.html", "class.csv"] {
        assert_eq!(dir.run(&[&class[..], &["--report", report]].concat()).status, 0);
    }
    let report: Value = serde_json::from_str(&read(&dir, "class.json")).unwrap();
    let page = read(&dir, "class.html").replace('\u{a0}', " ");
    let report_table = columns(&read(&dir, "class.csv"), &["similarity"]);
    for (at, pair) in pairs.iter().enumerate() {
        let [a, b] = ["a", "b"].map(|side| pair[side].as_str().unwrap());
        let alike = shown(&pair["symmetric"]);
        let line = terminal.lines().find(|line| line.contains(a) && line.contains(b)).unwrap();
        assert!(line.trim_start().starts_with(&alike), "{alike}: {line}");
        let values = names.map(|name| pair[name].to_string());
        assert_eq!(table[at], values, "{a} {b}");
        let reported = &report["pairs"][at];
        assert_eq!(reported["similarity"], pair["symmetric"], "{a} {b}");
        assert_eq!(reported["resemblance"], pair["resemblance"], "{a} {b}");
        assert_eq!(report_table[at][0], pair["symmetric"].to_string(), "{a} {b}");
        assert!(page.contains(&alike), "{alike} is not in the page");
        let compared = dir.run(&["compare", a, b]).out;
        let [of_a, of_b, both] = ["containment_of_a", "containment_of_b", "resemblance"]
            .map(|measure| shown(&pair[measure]));
        let sentence = format!(
            "{of_a} of {a} is in {b}, {of_b} of {b} is in {a}, by runs of 5 words; resemblance \
             {both},"
        );
        assert!(compared.starts_with(&sentence), "{sentence}\n{compared}");
        let compared = dir.json(&["compare", a, b]);
        for measure in ["containment_of_a", "containment_of_b", "resemblance"] {
            assert_eq!(compared[measure], pair[measure], "{a} {b}: {measure}");
        }
    }
}

#[test]
fn the_document_with_most_reused_text_is_first() {
    // Reports listed the texts of a class by name.
    let dir = samples();
    let reports = ["all.csv", "all.json"].map(|report| ["--report", report]).concat();
    let run = dir.run(&[&["search", "idx", "class", "essay.txt"][..], &reports].concat());
    assert_eq!(run.status, 0, "{}", run.err);
    let table = columns(&read(&dir, "all.csv"), &["document", "reused"]);
    assert_eq!(table[0][0], "essay.txt", "{table:?}");
    let reused: Vec<f64> = table.iter().map(|row| row[1].parse().unwrap()).collect();
    assert!(reused[0] > 0.4 && reused.is_sorted_by(|a, b| a >= b), "{table:?}");
    let report: Value = serde_json::from_str(&read(&dir, "all.json")).unwrap();
    assert_eq!(report["documents"][0]["name"], "essay.txt");
    std::fs::create_dir(dir.path("old")).unwrap();
    std::fs::copy(dir.path("class/dora.txt"), dir.path("old/old.txt")).unwrap();
    let run = dir.run(&["pairs", "class", "--against", "old", "--format", "json"]);
    let lines = run.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let sources: Vec<Value> = lines.filter(|line| line["known"].is_u64()).collect();
    assert_eq!(sources.len(), 5, "{}", run.out);
    assert_eq!(sources[0]["document"], "class/dora.txt");
    let reused = |one: &Value| {
        let number = |name: &str| one[name].as_f64().unwrap();
        (number("known") + number("shared")) / number("tokens")
    };
    assert!(sources.is_sorted_by(|a, b| reused(a) >= reused(b)), "{sources:?}");
}

#[test]
fn a_hit_and_the_reused_share_of_a_text_have_one_number() {
    let dir = samples();
    let search = ["search", "idx", "essay.txt", "--passages"];
    let with = |more: &[&str]| dir.run(&[&search[..], more].concat()).out;
    let answer: Value = serde_json::from_str(&with(&["--format", "json"])).unwrap();
    let names = ["containment_of_a", "containment_of_b", "resemblance"];
    let (table, terminal) = (columns(&with(&["--format", "csv"]), &names), with(&[]));
    let text = read(&dir, "essay.txt");
    let service = Service::start(&dir, &[]);
    let asked = json!({"text": text, "passages": true}).to_string();
    let of_service: Value = serde_json::from_str(&service.post("/v1/search", &asked).body).unwrap();
    let hits = answer["hits"].as_array().unwrap();
    assert_eq!(hits.len(), 3);
    for (at, hit) in hits.iter().enumerate() {
        let id = hit["id"].as_str().unwrap();
        let numbers = names.map(|name| shown(&hit[name]));
        let line = terminal.lines().find(|line| line.ends_with(&format!("  {id}"))).unwrap();
        let words = line.replace(" %", "%");
        let words: Vec<&str> = words.split_whitespace().take(3).collect();
        assert_eq!(words, numbers.map(|number| number.replace(' ', "")), "{line}");
        assert_eq!(table[at], names.map(|name| hit[name].to_string()), "{id}");
        for name in names {
            assert_eq!(of_service["hits"][at][name], hit[name], "{id}: {name}");
        }
        for passage in hit["passages"].as_array().unwrap() {
            let similarity = format!("similarity {}", shown(&passage["similarity"]));
            assert!(terminal.contains(&similarity), "{similarity}: {terminal}");
        }
    }
    let trace = dir.json(&["trace", "idx", "essay.txt"])["trace"].clone();
    let terminal = dir.run(&["trace", "idx", "essay.txt"]).out;
    let reused = shown(&trace["reused"]);
    assert!(terminal.contains(&format!("{reused} reused, ")), "{reused}: {terminal}");
    for verb in ["search", "trace"] {
        for report in ["essay.json", "essay.html"] {
            let run = dir.run(&[verb, "idx", "essay.txt", "--report", report]);
            assert_eq!(run.status, 0, "{}", run.err);
        }
        let report: Value = serde_json::from_str(&read(&dir, "essay.json")).unwrap();
        assert_eq!(report["documents"][0]["reused"], trace["reused"], "{verb}");
        let page = read(&dir, "essay.html").replace('\u{a0}', " ");
        assert!(page.contains(&format!("{reused} reused")), "{verb}: {reused}");
    }
    let asked = json!({"text": text, "goal": "trace"}).to_string();
    let of_service: Value = serde_json::from_str(&service.post("/v1/search", &asked).body).unwrap();
    assert_eq!(of_service["trace"]["reused"], trace["reused"]);
}

#[test]
fn a_definition_of_similarity_says_how_long_the_runs_are() {
    // It was "twice the text in common", beside a smaller number than the share of words in common.
    let dir = samples();
    for (scheme, units) in [("kgram(k=3)", "runs of 3 words"), ("winnow", "runs of 5 words")] {
        dir.run(&[
            "pairs", "class", "--scheme", scheme, "--report", "r.json", "--report", "r.html",
        ]);
        let report: Value = serde_json::from_str(&read(&dir, "r.json")).unwrap();
        let said = format!("twice the {units} that both have");
        assert!(report["measure"].as_str().unwrap().starts_with(&said), "{}", report["measure"]);
        assert!(read(&dir, "r.html").contains(&said));
        let compared = dir.run(&["compare", "class/anna.txt", "class/ben.txt", "--scheme", scheme]);
        assert!(compared.out.contains(&format!(", by {units}; resemblance")), "{}", compared.out);
    }
}

#[test]
fn a_report_of_a_search_says_that_its_list_was_cut() {
    // Only tables of pairs had the note.
    let dir = samples();
    let args = ["search", "idx", "essay.txt", "--report", "r.csv", "--report", "r.html"];
    let said = "the list of sources was cut: a higher limit of the search may show more";
    dir.run(&[&args[..], &["--limit", "1"]].concat());
    let notes = columns(&read(&dir, "r.csv"), &["document", "note"]);
    let last = notes.last().unwrap();
    assert!(last[0] == "essay.txt" && last[1] == said, "{notes:?}");
    assert!(read(&dir, "r.html").contains(said));
    dir.run(&args);
    assert!(!read(&dir, "r.csv").contains(said) && !read(&dir, "r.html").contains(said));
}

#[test]
fn documents_without_a_passage_are_no_sources_that_were_left_out() {
    // The report said "Further documents share text with this one" about documents with a single
    // common run of words, and the terminal gave two numbers of hits.
    let dir = Dir::new();
    let line =
        |id: usize, text: String| format!("{}\n", json!({"id": format!("d{id}"), "text": text}));
    let mut lines = line(0, words(1, 60));
    lines
        .extend((1..13).map(|n| line(n, format!("{} {}", words(1, 5), words(100 * n as u64, 60)))));
    dir.write("in.jsonl", lines);
    dir.json(&["add", "idx", "in.jsonl", "--scheme", "kgram(k=5)"]);
    dir.write("q.txt", words(1, 60));
    let args = ["search", "idx", "q.txt", "--passages"];
    let reports = ["--report", "r.json", "--report", "r.html"];
    let run = dir.run(&[&args[..], &reports].concat());
    assert!(run.out.contains("; 13 hits in"), "{}", run.out);
    assert!(run.out.ends_with("10 of 13 hits shown; --limit 13 shows all\n"), "{}", run.out);
    let report: Value = serde_json::from_str(&read(&dir, "r.json")).unwrap();
    assert_eq!(report["documents"][0]["more"], false);
    assert!(!read(&dir, "r.html").contains("the list of sources was cut"));
    dir.run(&[&args[..], &reports, &["--limit", "2"]].concat());
    let report: Value = serde_json::from_str(&read(&dir, "r.json")).unwrap();
    assert_eq!(report["documents"][0]["more"], true);
}

#[test]
fn a_table_of_hits_has_the_shares_of_the_report_and_the_largest_comes_first() {
    // The report listed the source first that added most, and the table had only shares of runs.
    let dir = samples();
    let args = ["search", "idx", "essay.txt", "--passages", "--format", "csv"];
    let run = dir.run(&[&args[..], &["--report", "r.csv", "--report", "r.json"]].concat());
    let hits = columns(&run.out, &["id", "share_in_text"]);
    let sources = columns(&read(&dir, "r.csv"), &["source", "share_in_text"]);
    assert!(sources.len() > 2, "{sources:?}");
    for source in &sources {
        assert!(hits.contains(source), "{source:?} is not in {hits:?}");
    }
    let share = |row: &Vec<String>| row[1].parse::<f64>().unwrap();
    assert!(sources.is_sorted_by(|one, next| share(one) >= share(next)), "{sources:?}");
    let without = dir.run(&["search", "idx", "essay.txt", "--format", "csv"]);
    assert!(columns(&without.out, &["share_in_text"]).iter().all(|row| row[0].is_empty()));
}
