//! The real binary through the command line: the contract with scripts and programs.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::common::run::{Dir, Run, corpus, indexed, line};
#[cfg(target_os = "linux")]
use crate::common::wait_until;
use crate::common::words;
use serde_json::{Value, json};

#[test]
fn an_added_document_is_found() {
    let dir = Dir::new();
    dir.write("corpus.jsonl", corpus());
    let report = dir.json(&["add", "idx", "corpus.jsonl"]);
    assert_eq!(
        (&report["added"], &report["replaced"], &report["unchanged"], &report["failed"]),
        (&json!(3), &json!(0), &json!(0), &json!(0))
    );
    assert!(report["took_us"].is_u64() && report["skipped"] == 0 && report["bytes"].is_u64());
    let answer = dir.json(&["search", "idx", "--text", &words(1, 80)]);
    assert_eq!(answer["query"]["id"], Value::Null);
    assert_eq!(answer["query"]["tokens"], 80);
    assert_eq!(answer["query"]["stopped"], 0);
    let hits = answer["hits"].as_array().unwrap();
    assert_eq!(hits.len(), 2);
    let ids: Vec<&str> = hits.iter().map(|hit| hit["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["b", "a"], "b is shorter, so more of it is in the query");
    assert_eq!(hits[0]["containment_of_a"], 1.0);
    assert_eq!(hits[1]["meta"], json!({"lang": "en", "year": 2019}));
    for hit in hits {
        let number = |name: &str| hit[name].as_f64().unwrap();
        let query = answer["query"]["fingerprints"].as_f64().unwrap();
        assert!(number("overlap") <= query.min(number("fingerprints")));
        // Every run of the 80 shared words occurs in texts of 200 and 140 words.
        let all = |words: f64| words - 4.0;
        let truth = all(80.0) / all(if hit["id"] == "a" { 200.0 } else { 140.0 });
        for name in ["containment_of_b", "resemblance"] {
            let is_off = (number(name) - truth).abs();
            assert!(is_off <= 3.0 * number("standard_error"), "{name} {truth} {hit}");
        }
    }
    assert!(answer["took_us"].is_u64());
}

#[test]
fn the_exit_status_is_that_of_grep() {
    let dir = indexed();
    assert_eq!(dir.run(&["search", "idx", "--text", &words(1, 80)]).status, 0);
    assert_eq!(dir.run(&["search", "idx", "--text", &words(77, 80)]).status, 1);
    assert_eq!(dir.run(&["search", "idx", "--id", "nobody"]).status, 2);
    assert_eq!(dir.run(&["search", "nowhere", "--text", "x"]).status, 2);
    assert_eq!(dir.run(&["search", "idx", "--min-containment", "1.5", "--text", "x"]).status, 2);
    assert_eq!(dir.run(&["search", "idx", "no-such-file.txt"]).status, 2);
    assert_eq!(dir.run(&["remove", "idx", "nobody"]).status, 1);
    assert_eq!(dir.run(&["add", "idx", "no-such-file.txt"]).status, 2);
}

#[test]
fn queries_come_from_files_standard_input_and_the_index() {
    let dir = indexed();
    let passage = words(1, 80);
    dir.write("query.txt", &passage);
    let by_text = dir.json(&["search", "idx", "--text", &passage]);
    let same = |mut other: Value| {
        other["took_us"] = by_text["took_us"].clone();
        assert_eq!(other, by_text);
    };
    let mut by_file = dir.json(&["search", "idx", "query.txt"]);
    assert_eq!(by_file["query"]["id"].take(), "query.txt");
    same(by_file);
    same(dir.run_with(&["search", "idx", "--format", "json"], passage.as_bytes()).json());
    same(dir.run_with(&["search", "idx", "-", "--format", "json"], passage.as_bytes()).json());
    let by_id = dir.json(&["search", "idx", "--id", "b"]);
    assert_eq!(by_id["query"]["id"], "b");
    assert_eq!(by_id["hits"].as_array().unwrap().len(), 1, "not b itself");
    assert_eq!(by_id["hits"][0]["id"], "a");
    let lines = dir.run(&["search", "idx", "corpus.jsonl", "--format", "json"]);
    let ids: Vec<Value> = lines
        .out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["query"]["id"].clone())
        .collect();
    assert_eq!(ids, ["a", "b", "c"]);
}

#[test]
fn thresholds_limits_and_filters_narrow_the_hits() {
    let dir = indexed();
    let passage = words(1, 80);
    let ids = |args: &[&str]| -> Vec<String> {
        let base = ["search", "idx", "--text", &passage, "--format", "json"];
        let answer = dir.run(&[&base, args].concat()).json();
        let hits = answer["hits"].as_array().unwrap();
        hits.iter().map(|hit| hit["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&[]), ["b", "a"]);
    assert_eq!(ids(&["--limit", "1"]), ["b"]);
    assert_eq!(ids(&["--min-resemblance", "0.5"]), ["b"]);
    assert_eq!(ids(&["--min-containment", "1"]), ["b", "a"]);
    assert_eq!(ids(&["--min-overlap", "1000"]), [""; 0]);
    assert_eq!(ids(&["--filter", "lang:de"]), ["b"]);
    assert_eq!(ids(&["--filter", "lang:en AND year:[2019 TO *]"]), ["a"]);
    assert_eq!(ids(&["--filter", "id:a"]), ["a"]);
    assert_eq!(ids(&["--filter", "id:b*"]), ["b"]);
    assert_eq!(ids(&["--filter", "id:\"b\"*"]), ["b"]);
    assert_eq!(ids(&["--filter", "id:* AND -id:b*"]), ["a"]);
    assert_eq!(ids(&["--filter", "-id:b"]), ["a"]);
    assert_eq!(ids(&["--filter", "added:[2020-01-01T00:00:00Z TO *]"]).len(), 2);
    assert_eq!(ids(&["--max-df", "1"]), ["a"; 0], "every shared fingerprint is in two documents");
    let refused = dir.run(&["search", "idx", "--text", "x", "--filter", "lang:["]);
    assert_eq!(refused.status, 2);
    assert!(refused.err.contains("lang:["), "{}", refused.err);
    // Nothing was found, without a word.
    for verb in [&["search", "idx", "--text", "x"][..], &["list", "idx"], &["export", "idx"]] {
        let refused = dir.run(&[verb, &["--filter", "NOT Lang:de"]].concat());
        assert_eq!((refused.status, &*refused.out), (2, ""), "{verb:?}");
        for said in ["no document has the field `Lang`", "`lang`, `year`", "did you mean `lang`?"] {
            assert!(refused.err.contains(said), "{}", refused.err);
        }
    }
    // A later document may have the field, so the watch is accepted.
    let of_watch = ["--text", "one two three", "--min-passage", "2", "--filter", "later:1"];
    let run = dir.run(&[&["watch", "add", "idx"], &of_watch[..]].concat());
    assert_eq!(run.status, 0, "{}", run.err);
    assert_eq!(ids(&["--filter", "added:[2020 TO *]"]).len(), 2);
}

#[test]
fn a_filter_an_id_and_a_text_may_begin_with_a_hyphen() {
    // Regression: only the filters of a search and a watch could, and others were options.
    let dir = indexed();
    for verb in ["list", "export"] {
        let run = dir.run(&[verb, "idx", "--filter", "-id:a"]);
        assert_eq!((run.status, run.out.lines().count()), (0, 2), "{verb}: {}", run.err);
    }
    let removed = dir.json(&["remove", "idx", "--filter", "-id:a", "--dry-run"]);
    assert_eq!(removed["removed"], 2);
    let text = format!("-5 degrees {}", words(9, 60));
    dir.write("cold.jsonl", line("-5", &text, json!({})));
    dir.json(&["add", "idx", "cold.jsonl"]);
    for query in [["--id", "-5"], ["--text", &text]] {
        let run = dir.run(&[&["search", "idx"], &query[..]].concat());
        assert!(run.status < 2, "{query:?}: {}", run.err);
        let run = dir.run(&[&["watch", "add", "idx"], &query[..]].concat());
        assert_eq!(run.status, 0, "{query:?}: {}", run.err);
    }
}

#[test]
fn removed_documents_are_gone_and_compaction_gives_their_space_back() {
    let dir = indexed();
    // A repeated id is removed once, and not reported as missing.
    let removed = dir.json(&["remove", "idx", "a", "nobody", "a", "nobody"]);
    assert_eq!(removed, json!({"removed": 1, "missing": ["nobody"]}));
    let hits = dir.json(&["search", "idx", "--text", &words(1, 80)])["hits"].clone();
    assert_eq!(hits.as_array().unwrap().len(), 1);
    assert_eq!(dir.json(&["stats", "idx"])["documents"], 2);
    dir.json(&["compact", "idx"]);
    let stats = dir.json(&["stats", "idx"]);
    assert_eq!(
        (&stats["documents"], &stats["deleted"], &stats["segments"]),
        (&json!(2), &json!(0), &json!(1))
    );
    assert_eq!(dir.json(&["search", "idx", "--text", &words(1, 80)])["hits"], hits);
    assert_eq!(
        dir.json(&["check", "idx"]),
        json!({"ok": true, "segments": 1, "damaged": 0, "problems": []})
    );
    let sigs = fs::read_dir(dir.path("idx")).unwrap().filter(|entry| {
        entry.as_ref().unwrap().path().extension().is_some_and(|extension| extension == "sig")
    });
    assert_eq!(sigs.count(), 1, "files of old segments are collected");
}

#[test]
fn stats_have_the_agreed_shape() {
    let stats = indexed().json(&["stats", "idx"]);
    for name in ["documents", "deleted", "segments", "terms", "postings", "fingerprints", "tokens"]
    {
        assert!(stats[name].is_u64(), "{name}");
    }
    assert_eq!(stats["scheme"], "winnow(k=5,w=10)");
    assert!(stats["analyzer"].as_str().unwrap().starts_with("words("));
    for name in ["signatures", "text", "other"] {
        assert!(stats["bytes"][name].as_u64().unwrap() > 0, "{name}");
    }
}

#[test]
fn a_signature_made_elsewhere_is_searched_for() {
    let dir = Dir::new();
    dir.write("corpus.jsonl", corpus());
    dir.json(&["add", "idx", "corpus.jsonl", "--no-text"]);
    assert_eq!(dir.json(&["stats", "idx"])["bytes"]["text"], 0);
    dir.write("query.txt", words(1, 80));
    let signature = dir.run(&["method", "fingerprint", "query.txt", "--format", "json"]);
    let shape = signature.json();
    assert_eq!(
        (&shape["scheme"], &shape["key_bits"], &shape["tokens"]),
        (&json!("winnow(k=5,w=10)"), &json!(40), &json!(80))
    );
    assert!(shape["fingerprints"][0][0].is_string() && shape["fingerprints"][0][1].is_u64());
    dir.write("query.sig.json", &signature.out);
    let by_signature = dir.json(&["search", "idx", "--signature", "query.sig.json"]);
    let mut by_text = dir.json(&["search", "idx", "query.txt"]);
    by_text["query"]["id"].take();
    assert_eq!(
        (&by_signature["hits"], &by_signature["query"]),
        (&by_text["hits"], &by_text["query"])
    );
    dir.write("other.json", signature.out.replace("w=10", "w=9"));
    let refused = dir.run(&["search", "idx", "--signature", "other.json"]);
    assert_eq!(refused.status, 2);
    assert!(refused.err.contains("cento method fingerprint --scheme"), "{}", refused.err);
}

#[test]
fn short_documents_find_their_copies_and_are_distinct() {
    let dir = Dir::new();
    let texts = ["one", "two", "one two", "one two three four", "!!!", "???", "\u{6771}\u{4eac}"];
    let lines: String =
        texts.iter().enumerate().map(|(i, text)| line(&i.to_string(), text, json!({}))).collect();
    dir.write("short.jsonl", lines);
    dir.json(&["add", "idx", "short.jsonl"]);
    for (i, text) in texts.iter().enumerate() {
        let hits = dir.json(&["search", "idx", "--text", text])["hits"].clone();
        assert_eq!(hits.as_array().unwrap().len(), 1, "{text}: {hits}");
        assert_eq!(hits[0]["id"], i.to_string());
    }
}

#[test]
fn every_scheme_finds_a_copy() {
    let dir = Dir::new();
    dir.write("corpus.jsonl", corpus());
    // Every scheme of this build, and some schemes with further parameters.
    let all = dir.run(&["info", "schemes", "--format", "json"]).out;
    let all = all.lines().map(|line| {
        let scheme: Value = serde_json::from_str(line).unwrap();
        scheme["spec"].as_str().unwrap().to_owned()
    });
    let others = ["kgram(k=3)", "mod(k=5,p=4)", "winnow(k=8,w=20)"].map(str::to_owned);
    for scheme in all.chain(others) {
        let index = format!("{scheme}.idx");
        let mut add = vec!["add", &index, "corpus.jsonl", "--scheme", &scheme];
        let mut added = dir.run(&add);
        // The message says which table a scheme needs, if the scheme needs a table.
        add.extend(["--frequencies", "table"]);
        for needed in ["needs a frequency table", "needs counts of runs of "] {
            if let Some((_, q)) = added.err.split_once(needed) {
                let q = q.split(';').next().filter(|q| !q.is_empty()).unwrap_or("1");
                let _ = fs::remove_file(dir.path("table"));
                let train =
                    ["method", "train", "corpus.jsonl", "--analyzer", "words", "--out", "table"];
                assert_eq!(dir.run(&[&train[..], &["--run-length", q]].concat()).status, 0);
                added = dir.run(&add);
            }
        }
        assert_eq!(added.status, 0, "{scheme}: {}", added.err);
        let answer = dir.json(&["search", &index, "--text", &words(1, 200)]);
        assert_eq!(
            (&answer["hits"][0]["id"], &answer["hits"][0]["resemblance"]),
            (&json!("a"), &json!(1.0)),
            "{scheme}"
        );
    }
}

#[test]
fn an_index_keeps_the_scheme_it_was_created_with() {
    let dir = indexed();
    let refused = dir.run(&["add", "idx", "corpus.jsonl", "--scheme", "kgram(k=3)"]);
    assert_eq!(refused.status, 2);
    assert!(refused.err.contains("winnow(k=5,w=10)"), "{}", refused.err);
    assert_eq!(dir.run(&["create", "idx"]).status, 2);
    dir.write("full/file.txt", "x");
    assert_eq!(dir.run(&["create", "full"]).status, 2);
    let refused = dir.run(&["create", "new", "--scheme", "winnow(q=1)"]);
    assert!(
        refused.status == 2 && refused.err.contains("allowed: winnow(k=5,w=10)"),
        "{}",
        refused.err
    );
    assert!(!dir.path("new").exists());
}

#[test]
fn check_reports_damage_and_ends_with_2() {
    let dir = indexed();
    let sig = fs::read_dir(dir.path("idx"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|extension| extension == "sig"))
        .unwrap();
    let mut bytes = fs::read(&sig).unwrap();
    bytes[100] ^= 1;
    fs::write(&sig, bytes).unwrap();
    let run = dir.run(&["check", "idx", "--format", "json"]);
    assert_eq!((run.status, &run.json()["ok"]), (2, &json!(false)));
    let problem = &run.json()["problems"][0];
    let name = sig.file_name().unwrap().to_str().unwrap();
    assert!(problem["file"].as_str().unwrap().contains(name), "{problem}");
    assert!(
        problem["section"].is_string() && problem["offset"].is_u64() && problem["what"].is_string()
    );
    fs::write(dir.path("idx/meta.json"), "{}").unwrap();
    let run = dir.run(&["check", "idx", "--format", "json"]);
    assert_eq!((run.status, &run.json()["problems"][0]["file"]), (2, &json!("meta.json")));
}

#[test]
fn leftovers_of_a_crash_do_not_keep_an_index_from_opening() {
    let dir = indexed();
    dir.write("idx/.tmpAbCdEf", "half of a meta.json");
    dir.write("idx/0123456789abcdef0123456789abcdef.sig", "half of a segment");
    dir.write("idx/.tantivy-writer.lock", "");
    assert_eq!(dir.run(&["search", "idx", "--text", &words(1, 80)]).status, 0);
    // Leftover segments are not damage, but `check` lists the segments because they may contain
    // removed texts.
    let checked = dir.run(&["check", "idx", "--format", "json"]);
    assert_eq!((checked.status, &checked.json()["ok"]), (3, &json!(true)), "{}", checked.out);
    assert!(checked.out.contains("0123456789abcdef0123456789abcdef.sig"), "{}", checked.out);
    dir.write("more.jsonl", line("z", &words(8, 60), json!({})));
    assert_eq!(dir.json(&["add", "idx", "more.jsonl"])["added"], 1);
    assert_eq!(dir.json(&["check", "idx"])["unlisted"], json!(null));
    // The directory of a creation that was cut off can be used again.
    dir.write("cut/.managed.json", "[]");
    assert_eq!(dir.run(&["create", "cut"]).status, 0);
}

#[test]
fn completions_and_manual_pages_are_printed() {
    let dir = Dir::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(dir.run(&["info", "completions", shell]).out.contains("cento"));
    }
    assert!(dir.run(&["info", "man"]).out.contains(".TH cento"));
    assert!(dir.run(&["info", "man", "search"]).out.contains("containment"));
    assert!(dir.run(&["info", "man", "method", "train"]).out.contains("run"));
    assert_eq!(dir.run(&["info", "man", "nothing"]).status, 2);
    assert!(dir.run(&["--version"]).out.starts_with("cento "));
}

#[test]
fn all_manual_pages_are_written_at_once() {
    let dir = Dir::new();
    assert_eq!(dir.run(&["info", "man", "--out", "share/man1"]).status, 0);
    let verbs: Vec<String> = dir.all_verbs().into_iter().map(|(verb, _)| verb).collect();
    assert!(verbs.iter().any(|verb| verb == "info health"), "{verbs:?}");
    for verb in &verbs {
        let name = verb.replace(' ', "-");
        let page = fs::read_to_string(dir.path(&format!("share/man1/cento-{name}.1"))).unwrap();
        assert!(page.contains("SYNOPSIS"), "{verb}");
    }
    let pages = fs::read_dir(dir.path("share/man1")).unwrap();
    assert_eq!(pages.count(), verbs.len() + 1);
    dir.write("file", "");
    let run = dir.run(&["info", "man", "--out", "file"]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("file"), "{}", run.err);
}

/// Sources that Cargo downloaded, with `my home` as Cargo's directory.
const SOURCES: &str = "my home/registry/src/index.crates.io-1949cf8c6b5b557f";

#[test]
fn the_demo_shows_what_packages_share_and_ends_with_a_report() {
    let dir = Dir::new();
    for (i, package) in ["alpha-1.0.0", "beta-2.1.0"].iter().enumerate() {
        let readme = format!("{} {}", words(1, 300), words(10 + i as u64, 60));
        let package = format!("{SOURCES}/{package}");
        dir.write(&format!("{package}/README.md"), readme);
        dir.write(&format!("{package}/lib.rs"), words(20 + i as u64, 200));
        // These files are more alike than the sources, but of no interest.
        for repeated in ["LICENSE", "CHANGELOG.md", "Cargo.toml"] {
            let text = format!("{} {i}", words(5, 400));
            dir.write(&format!("{package}/{repeated}"), text);
        }
        let generated = format!("// This file is generated by a program.\n{} {i}", words(6, 400));
        dir.write(&format!("{package}/tables.rs"), generated);
    }
    dir.write("temporary/.keep", "");
    let mut demo = dir.command(&["demo"]);
    demo.env("CARGO_HOME", dir.path("my home"));
    let temporary = dir.path("temporary");
    let run: Run = demo.env("TMPDIR", &temporary).env("TMP", &temporary).output().unwrap().into();
    assert_eq!(run.status, 0, "{}", run.err);
    let shown = |what: &str| assert!(run.out.contains(what), "{what}: {}", run.out);
    shown("Indexed 4 documents");
    shown("Skipping 6 files that every project repeats");
    shown("alpha-1.0.0/README.md");
    shown("beta-2.1.0/README.md");
    shown("of wall time");
    for hidden in ["LICENSE", "CHANGELOG", "Cargo.toml", "tables.rs"] {
        assert!(!run.out.contains(hidden), "{}", run.out);
    }
    // The index is gone, and the report has stayed.
    let kept = fs::read_dir(dir.path("temporary")).unwrap();
    let kept = kept.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let kept: Vec<_> = kept.filter(|name| name != ".keep").collect();
    assert!(matches!(&kept[..], [name] if name.ends_with(".html")), "{kept:?}");
    shown(&kept[0]);
    let report = fs::read_to_string(dir.path(&format!("temporary/{}", kept[0]))).unwrap();
    assert!(report.contains("beta-2.1.0/README.md"), "{report}");
    #[cfg(unix)]
    the_commands_run_as_they_are_printed(&dir, &run);
    let mut without = dir.command(&["demo"]);
    let without: Run =
        without.env("CARGO_HOME", Path::new("/nonexistent")).output().unwrap().into();
    assert_eq!(without.status, 2);
    assert!(without.err.contains("name a folder"), "{}", without.err);
}

#[test]
fn a_demonstration_of_nothing_is_an_error_that_names_the_directory() {
    let dir = Dir::new();
    dir.write("temporary/.keep", "");
    dir.write("empty/picture.png", "");
    dir.write("file.txt", words(1, 50));
    for (name, why) in [
        ("mistyped", "mistyped does not exist"),
        ("empty", "empty/picture.png: skipped: it is empty"),
        ("file.txt", "1 document to compare; at least two are needed"),
    ] {
        let mut demo = dir.command(&["demo", name]);
        let run: Run = demo.env("TMPDIR", dir.path("temporary")).output().unwrap().into();
        assert_eq!((run.status, &*run.out), (2, ""), "{name}: {}", run.err);
        assert!(run.err.contains(why), "{}", run.err);
        // An empty report does not stay.
        assert_eq!(fs::read_dir(dir.path("temporary")).unwrap().count(), 1);
    }
}

#[test]
fn a_folder_is_compared_with_itself_and_with_the_one_of_last_year() {
    let dir = Dir::new();
    dir.write("temporary/.keep", "");
    let own = |seed: u64| words(seed, 120);
    dir.write("class/anna.txt", own(2) + " " + &words(1, 60));
    dir.write("class/ben.txt", own(3) + " " + &words(1, 60));
    dir.write("class/carla.txt", own(4) + " " + &words(5, 60));
    dir.write("class/letter.html", format!("<p>{}</p>", own(6)));
    dir.write("last year/dora.txt", own(7) + " " + &words(5, 60));
    dir.write("last year/dora again.txt", own(7) + " " + &words(5, 60));
    let run = |args: &[&str]| -> (Run, String) {
        let mut demo = dir.command(args);
        let run: Run = demo.env("TMPDIR", dir.path("temporary")).output().unwrap().into();
        assert_eq!(run.status, 0, "{args:?}: {}", run.err);
        let place = run.out.lines().find_map(|line| line.split("side by side: ").nth(1));
        let report = fs::read_to_string(place.unwrap_or_else(|| panic!("{}", run.out))).unwrap();
        (run, report)
    };
    let (alone, report) = run(&["demo", "class"]);
    assert!(alone.out.contains("class/anna.txt  class/ben.txt"), "{}", alone.out);
    assert!(!alone.out.contains("carla"), "{}", alone.out);
    assert!(report.contains("class/anna.txt") && report.contains("class/ben.txt"));
    let (both, report) = run(&["demo", "class", "--against", "last year"]);
    assert!(both.out.contains("class/anna.txt  class/ben.txt"), "{}", both.out);
    assert!(both.out.contains("class/carla.txt  last year/dora"), "{}", both.out);
    // Only new texts are compared, not two earlier texts.
    assert!(!both.out.contains("last year/dora again.txt  last year/dora.txt"), "{}", both.out);
    assert!(!both.out.contains("last year/dora.txt  last year/dora again.txt"), "{}", both.out);
    assert!(report.contains("last year/dora"));
    // Comparing with an index of the earlier texts gives the same result.
    dir.json(&["add", "old.idx", "last year"]);
    let of = |against: &str| {
        let run = dir.run(&["pairs", "class", "--against", against, "--format", "csv"]);
        assert_eq!(run.status, 0, "{}", run.err);
        let rows: Vec<&str> = run.out.lines().collect();
        let name = if against == "old.idx" { "old.idx" } else { "last year" };
        rows.join("\n").replace(name, "AGAINST").replace("AGAINST/", "last year/")
    };
    assert_eq!(of("last year").matches("dora").count(), of("old.idx").matches("dora").count());
    let refused = dir.run(&["pairs", "old.idx", "--against", "class"]);
    assert!(refused.err.contains("`cento add x.idx class`"), "{}", refused.err);
    let refused = dir.run(&["pairs", "class", "--against", "last year", "--add"]);
    assert!(refused.err.contains("`cento add x.idx last year`"), "{}", refused.err);
}

#[test]
fn a_demonstration_shows_the_resemblance_that_compare_computes() {
    let dir = Dir::new();
    for seed in 2..4 {
        let text = words(1, 100) + " " + &words(seed, 37);
        dir.write(&format!("{SOURCES}/p{seed}-1.0.0/a.txt"), text);
    }
    // The report is kept after the run.
    let mut demo = dir.command(&["demo"]);
    demo.env("CARGO_HOME", dir.path("my home"));
    let temporary = dir.path(".");
    let run: Run = demo.env("TMPDIR", &temporary).env("TMP", &temporary).output().unwrap().into();
    let [a, b] = [2, 3].map(|seed| format!("{SOURCES}/p{seed}-1.0.0/a.txt"));
    let resemblance = dir.json(&["compare", &a, &b])["resemblance"].clone();
    let shown = format!("{:.1} %  p2-1.0.0/a.txt", 100.0 * resemblance.as_f64().unwrap());
    assert!(run.out.contains(&shown), "{shown}: {}", run.out);
}

#[cfg(unix)]
fn the_commands_run_as_they_are_printed(dir: &Dir, run: &Run) {
    let is_command = |line: &&str| line.contains(" compare ") || line.contains(" demo.idx");
    let commands: Vec<&str> = run.out.lines().filter(is_command).map(str::trim).collect();
    assert_eq!(commands.len(), 3, "{}", run.out);
    for command in commands {
        let mut shell = std::process::Command::new("sh");
        let ran = shell.args(["-c", command]).current_dir(dir.path(".")).output().unwrap();
        assert!(ran.status.success(), "{command}: {}", String::from_utf8_lossy(&ran.stderr));
    }
    assert!(dir.path("sources.html").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn the_demo_opens_its_report_with_the_program_of_the_system() {
    use std::os::unix::fs::PermissionsExt;
    let dir = Dir::new();
    for (seed, name) in [(10, "a/1.txt"), (11, "b/2.txt")] {
        let text = format!("{} {}", words(1, 300), words(seed, 60));
        dir.write(&format!("texts/{name}"), text);
    }
    // Renames in one step, so that the test never reads an incomplete file.
    dir.write("bin/xdg-open", "#!/bin/sh\necho \"$1\" > opened.new && mv opened.new opened\n");
    fs::set_permissions(dir.path("bin/xdg-open"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path =
        std::env::join_paths(std::iter::once(dir.path("bin")).chain(std::env::split_paths(&path)));
    let mut demo = dir.command(&["demo", "texts", "--open"]);
    let demo = demo.env("PATH", path.unwrap()).env("TMPDIR", dir.path("bin"));
    let run: Run = demo.output().unwrap().into();
    assert_eq!(run.status, 0, "{}", run.err);
    // The program is started, and not waited for.
    wait_until("the page", || dir.path("opened").exists());
    let opened = fs::read_to_string(dir.path("opened")).unwrap();
    assert!(opened.trim().ends_with(".html") && run.out.contains(opened.trim()), "{opened}");
}

#[cfg(unix)]
#[test]
fn a_pipe_that_closes_is_no_error() {
    let dir = indexed();
    let mut child = dir
        .command(&["info", "man"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
