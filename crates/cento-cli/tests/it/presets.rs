//! The real binary: an index takes and keeps the settings of `--for`, and explicit options override
//! the preset.

use std::fs;
use std::path::Path;

use cento::Preset;
use serde_json::{Value, json};

use crate::cli_join::jsons;
use crate::common::run::{Dir, Run, line};
use crate::common::service::Service;
use crate::common::words;

/// Two documents that share three words in four. The resemblance is below 0.8, and far above
/// chance.
fn alike() -> String {
    let (a, b) = (words(1, 200), format!("{} {}", words(2, 50), words(1, 150)));
    line("a", &a, json!({})) + &line("b", &b, json!({}))
}

/// An index of `alike()`, created for a purpose, with a scheme that finds the texts.
fn indexed_for(purpose: &str) -> Dir {
    let dir = Dir::new();
    dir.write("alike.jsonl", alike());
    dir.json(&["add", "idx", "alike.jsonl", "--for", purpose, "--scheme", "winnow"]);
    dir
}

fn listed(dir: &Dir) -> Vec<Value> {
    let run = dir.run(&["info", "presets", "--format", "json"]);
    assert_eq!(run.status, 0, "{}", run.err);
    jsons(&run.out)
}

fn pairs_of(run: &Run) -> Vec<Value> {
    jsons(&run.out).into_iter().filter(|line| line.get("a").is_some()).collect()
}

#[test]
fn every_preset_creates_what_the_list_says_and_stats_show_it() {
    let dir = Dir::new();
    dir.write("text.txt", words(1, 50));
    dir.write("Program.java", "class Program { int one() { return 1; } }");
    let list = listed(&dir);
    assert_eq!(list.len(), Preset::ALL.len());
    for entry in list {
        let text = |field: &str| entry[field].as_str().unwrap().to_owned();
        let name = text("name");
        let (input, analyzer) = match name.as_str() {
            "code" => ("Program.java", "code(language=java)".to_owned()),
            _ => ("text.txt", text("analyzer")),
        };
        let scheme = cento::scheme::parse(&text("scheme")).unwrap().to_string();
        let (created, added) = (format!("created-{name}"), format!("added-{name}"));
        let run = dir.run(&["create", &created, "--for", &name, "--analyzer", &analyzer]);
        assert_eq!(run.status, 0, "{}", run.err);
        dir.json(&["add", &added, input, "--for", &name]);
        for index in [&created, &added] {
            let stats = dir.json(&["stats", index]);
            assert_eq!((&stats["preset"], &stats["scheme"]), (&json!(name), &json!(scheme)));
            // The analyzer is shown with every parameter, including parameters set by the preset.
            let (shown, named) = (stats["analyzer"].as_str().unwrap(), text("analyzer"));
            let (family, parameters) = named.split_once('(').unwrap_or((&named, ")"));
            assert!(shown.starts_with(family), "{stats}");
            assert!(shown.contains(parameters.trim_end_matches(')')), "{stats}");
            let shown = dir.run(&["stats", index]).out;
            assert!(shown.contains(&format!("preset        {name}\n")), "{shown}");
        }
        let shown = dir.run(&["info", "presets", &name]).out;
        assert!(shown.contains(&text("purpose")) && shown.contains(&text("scheme")), "{shown}");
    }
    dir.json(&["add", "plain", "text.txt"]);
    assert!(dir.json(&["stats", "plain"]).get("preset").is_none());
}

#[test]
fn every_door_knows_the_presets_of_the_library() {
    let names: Vec<&str> = Preset::ALL.iter().map(|preset| preset.name()).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let document: Value = serde_json::from_str(&read("crates/cento-serve/openapi.json")).unwrap();
    assert_eq!(document["components"]["schemas"]["Preset"]["enum"], json!(names));
    let options = read("python/package/cento/_options.py");
    let (_, literal) = options.split_once("\nPreset = Literal[").unwrap();
    let literal = literal.split_once(']').unwrap().0.split(',').map(str::trim);
    let literal: Vec<_> = literal.filter(|name| !name.is_empty()).collect();
    assert_eq!(literal, names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>());
    let dir = Dir::new();
    for verb in ["create", "add", "pairs", "dedup", "compare", "method fingerprint"] {
        let verb = verb.split(' ').collect::<Vec<_>>();
        let help = dir.run(&[&verb[..], &["--help"]].concat()).out;
        for name in &names {
            assert!(help.contains(&format!("- {name}:")), "{verb:?}: {help}");
        }
    }
    assert_eq!(listed(&dir).iter().map(|entry| &entry["name"]).collect::<Vec<_>>(), names);
}

#[test]
fn a_scheme_or_an_analyzer_beside_it_replaces_its_part() {
    let dir = Dir::new();
    for (args, scheme, analyzer) in [
        (["--scheme", "kgram(k=3)"], "kgram(k=3)", "letters"),
        (["--analyzer", "words"], "mod(k=7,p=9)", "words"),
    ] {
        let run = dir.run(&[&["create", args[1], "--for", "ocr"], &args[..]].concat());
        assert_eq!(run.status, 0, "{}", run.err);
        let stats = dir.json(&["stats", args[1]]);
        assert_eq!((&stats["preset"], &stats["scheme"]), (&json!("ocr"), &json!(scheme)));
        assert!(stats["analyzer"].as_str().unwrap().starts_with(analyzer), "{stats}");
    }
}

#[test]
fn a_misspelt_preset_and_a_missing_language_are_named() {
    let dir = Dir::new();
    let run = dir.run(&["create", "idx", "--for", "essay"]);
    assert!(run.status == 2 && run.err.contains("'essays'"), "{}", run.err);
    let run = dir.run(&["info", "presets", "essay"]);
    assert!(run.status == 2 && run.err.contains("did you mean `essays`?"), "{}", run.err);
    let run = dir.run(&["create", "idx", "--for", "code"]);
    assert!(run.status == 2 && run.err.contains("code(language=java)"), "{}", run.err);
    assert!(!dir.path("idx").exists());
}

#[test]
fn its_threshold_decides_about_near_duplicates_until_another_is_given() {
    let dir = indexed_for("corpus");
    let run = dir.run(&["pairs", "idx", "--format", "json"]);
    assert_eq!((run.status, pairs_of(&run).len()), (1, 0), "{}", run.out);
    assert!(run.err.contains("--for corpus: min_resemblance 0.8"), "{}", run.err);
    for other in [["--min-resemblance", "0"], ["--min-overlap", "1"], ["--min-passage", "50"]] {
        let run = dir.run(&[&["pairs", "idx", "--format", "json"], &other[..]].concat());
        assert_eq!((run.status, pairs_of(&run).len()), (0, 1), "{other:?}");
        assert!(!run.err.contains("--for corpus"), "{}", run.err);
    }
    let run = dir.run(&["pairs", "idx", "--limit", "5", "--format", "json"]);
    let end = jsons(&run.out).pop().unwrap();
    assert_eq!(end["defaults"], json!({"preset": "corpus", "min_resemblance": 0.8}), "{}", run.out);
    // The usual default of `cluster`, 0.5, would find both documents.
    let run = dir.run(&["cluster", "idx"]);
    assert!(
        run.status == 1 && run.err.contains("--for corpus: min_resemblance 0.8"),
        "{}",
        run.err
    );
    assert_eq!(dir.run(&["cluster", "idx", "--min-resemblance", "0.5"]).status, 0);
    let plain = Dir::new();
    plain.write("alike.jsonl", alike());
    plain.json(&["add", "idx", "alike.jsonl", "--scheme", "winnow"]);
    assert_eq!(plain.run(&["cluster", "idx"]).status, 0);
}

#[test]
fn dedup_of_recognized_text_keeps_pages_that_share_an_item() {
    // Regression: two newspaper pages with a common sentence were near-duplicates, and dedup lost a
    // page.
    let words = |seed: usize| {
        let word =
            move |at: usize| format!("{}{}", ["ka", "lo", "mi", "ru"][at % 4], seed * 131 + at);
        (0..100).map(word).collect::<Vec<_>>().join(" ")
    };
    let item = "the steamer albion bound from liverpool for the river plate with a general cargo \
                went ashore last night near the point in a fog";
    let dir = Dir::new();
    let page = |id: &str, seed| json!({"id": id, "text": format!("{} {item}", words(seed))});
    dir.write("pages.jsonl", format!("{}\n{}\n", page("one", 1), page("two", 2)));
    let dedup = ["dedup", "pages.jsonl", "--for", "ocr", "--out", "kept.jsonl", "--format", "json"];
    let run = dir.run(&dedup);
    assert_eq!(run.json()["kept"], json!(2), "{}", run.err);
    let pairs = dir.run(&["pairs", "pages.jsonl", "--for", "ocr", "--format", "json"]);
    assert_eq!(pairs.status, 0, "{}", pairs.err);
}

#[test]
fn dedup_takes_the_threshold_of_for_and_of_the_preset_of_its_index() {
    let dir = Dir::new();
    // The documents share three quarters of their text.
    let (a, b) = (words(1, 200), format!("{} {}", words(2, 20), words(1, 170)));
    dir.write("alike.jsonl", line("a", &a, json!({})) + &line("b", &b, json!({})));
    let summary = |args: &[&str]| {
        let fixed = ["dedup", "alike.jsonl", "--out", "kept.jsonl", "--format", "json"];
        let run = dir.run(&[&fixed, args].concat());
        fs::remove_file(dir.path("kept.jsonl")).unwrap();
        assert_eq!(run.status, 0, "{}", run.err);
        (run.json(), run.err)
    };
    let (plain, _) = summary(&[]);
    assert_eq!((&plain["kept"], plain.get("defaults")), (&json!(2), None));
    let (ocr, told) = summary(&["--for", "ocr"]);
    assert_eq!((&ocr["kept"], &ocr["near"]), (&json!(1), &json!(1)));
    assert_eq!(ocr["defaults"], json!({"preset": "ocr", "min_resemblance": 0.6}));
    assert!(told.contains("--for ocr: min_resemblance 0.6"), "{told}");
    let (given, _) = summary(&["--for", "ocr", "--min-resemblance", "0.99"]);
    assert_eq!((&given["kept"], given.get("defaults")), (&json!(2), None));
    let (exact, _) = summary(&["--for", "ocr", "--exact"]);
    assert_eq!((&exact["kept"], exact.get("defaults")), (&json!(2), None));
    dir.run(&["create", "seen", "--for", "ocr"]);
    let (again, _) = summary(&["--index", "seen"]);
    assert_eq!((&again["kept"], &again["defaults"]["preset"]), (&json!(1), &json!("ocr")));
    let run = dir.run(&["dedup", "alike.jsonl", "--index", "seen", "--for", "corpus"]);
    assert!(run.status == 2 && run.err.contains("created with --for ocr"), "{}", run.err);
}

#[test]
fn a_search_uses_its_rank_and_never_its_threshold() {
    let dir = indexed_for("corpus");
    let quotation = words(1, 200).split(' ').take(30).collect::<Vec<_>>().join(" ");
    let answer = dir.json(&["search", "idx", "--text", &quotation]);
    assert!(answer["hits"].as_array().is_some_and(|hits| !hits.is_empty()), "{answer}");
    assert!(answer.get("defaults").is_none(), "{answer}");
    let dir = indexed_for("rewritten");
    let answer = dir.json(&["search", "idx", "--text", &quotation]);
    assert_eq!(answer["defaults"], json!({"preset": "rewritten", "rank": "weight"}));
    assert!(answer["hits"][0].get("weighted").is_some(), "{answer}");
    let shown = dir.run(&["search", "idx", "--text", &quotation]).out;
    assert!(shown.contains("--for rewritten: rank weight"), "{shown}");
    let answer = dir.json(&["search", "idx", "--text", &quotation, "--rank", "overlap"]);
    assert!(answer.get("defaults").is_none(), "{answer}");
    assert!(answer["hits"][0].get("weighted").is_none(), "{answer}");
    let run = dir.run(&["pairs", "idx", "--limit", "1", "--format", "json"]);
    let pairs = jsons(&run.out);
    assert!(pairs[0].get("weighted").is_some(), "{}", run.out);
    assert_eq!(pairs[1]["defaults"], json!({"preset": "rewritten", "rank": "weight"}));
}

#[test]
fn a_merge_keeps_the_preset_of_its_target() {
    let dir = Dir::new();
    dir.write("a.txt", words(1, 60));
    dir.write("b.txt", words(2, 60));
    dir.json(&["add", "with", "a.txt", "--for", "corpus"]);
    dir.json(&["add", "without", "b.txt", "--scheme", "minhash(k=5,b=16,r=8)"]);
    dir.write("c.txt", words(3, 60));
    dir.json(&["add", "plain", "c.txt", "--scheme", "minhash(k=5,b=16,r=8)"]);
    for (target, shard, kept) in [
        ("with", "without", json!("corpus")),
        ("plain", "with", Value::Null),
        ("new", "with", json!("corpus")),
    ] {
        let run = dir.run(&["merge", target, shard]);
        assert_eq!(run.status, 0, "{target}: {}", run.err);
        assert_eq!(dir.json(&["stats", target])["preset"], kept, "{target}");
    }
    // A preset applies to several indexes only if every index has it.
    let run = dir.run(&["pairs", "with", "plain", "--format", "json"]);
    assert!(!run.err.contains("--for corpus"), "{}", run.err);
}

#[test]
fn another_preset_than_that_of_the_index_is_refused() {
    let dir = indexed_for("corpus");
    assert_eq!(dir.run(&["add", "idx", "alike.jsonl", "--for", "corpus"]).status, 0);
    let run = dir.run(&["add", "idx", "alike.jsonl", "--for", "rewritten"]);
    assert!(run.status == 2 && run.err.contains("created with --for corpus"), "{}", run.err);
    let run = dir.run(&["pairs", "idx", "--for", "corpus"]);
    assert!(run.status == 2 && run.err.contains("--for is for pairs of files"), "{}", run.err);
}

#[test]
fn a_service_follows_the_same_rule() {
    let documents: Vec<Value> = jsons(&alike());
    let ask = |service: &Service, path: &str, request: Value| -> Value {
        let reply = service.post(path, &request.to_string());
        assert_eq!(reply.status, 200, "{reply:?}");
        serde_json::from_str(&reply.body).unwrap()
    };
    let dir = indexed_for("corpus");
    let service = Service::start(&dir, &[]);
    let stats: Value = serde_json::from_str(&service.ask("GET", "/v1/stats", "", "").body).unwrap();
    assert_eq!(stats["preset"], "corpus", "{stats}");
    let shown = dir.run(&["stats", "--url", &service.url]).out;
    assert!(shown.contains("preset        corpus\n"), "{shown}");
    let pairs = ask(&service, "/v1/pairs", json!({"documents": documents}));
    assert_eq!((&pairs["total"], &pairs["defaults"]["min_resemblance"]), (&json!(0), &json!(0.8)));
    for other in [json!({"min_resemblance": 0}), json!({"min_passage": 50})] {
        let mut request = json!({"documents": documents});
        request.as_object_mut().unwrap().extend(other.as_object().unwrap().clone());
        let pairs = ask(&service, "/v1/pairs", request);
        assert!(pairs["total"] == 1 && pairs.get("defaults").is_none(), "{pairs}");
    }
    let request = json!({"pairs": {"documents": documents}});
    let report = service.post("/v1/pairs/report", &request.to_string());
    assert!(report.body.contains("corpus: min_resemblance 0.8"), "{}", report.body);
    let quotation = words(1, 200).split(' ').take(30).collect::<Vec<_>>().join(" ");
    let answer = ask(&service, "/v1/search", json!({"text": quotation}));
    assert!(answer["hits"][0]["id"].is_string() && answer.get("defaults").is_none(), "{answer}");
    let dir = indexed_for("rewritten");
    let service = Service::start(&dir, &[]);
    let answer = ask(&service, "/v1/search", json!({"text": quotation}));
    assert_eq!(answer["defaults"], json!({"preset": "rewritten", "rank": "weight"}), "{answer}");
    let answer = ask(&service, "/v1/search", json!({"text": quotation, "rank": "overlap"}));
    assert!(answer.get("defaults").is_none(), "{answer}");
    let shown = dir.run(&["search", "--url", &service.url, "--text", &quotation]).out;
    assert!(shown.contains("--for rewritten: rank weight"), "{shown}");
}

/// Programs that differ in an increasing number of statements.
fn programs(count: usize) -> Dir {
    let dir = Dir::new();
    for number in 0..count {
        let body: String = (0..20)
            .map(|at| match at < number {
                true => {
                    format!("for (int i{at} = 0; i{at} < {at}; i{at}++) {{ call{at}(i{at}); }}\n")
                }
                false => format!("int x{at} = y{at} + {at}; if (x{at} > {at}) {{ run(x{at}); }}\n"),
            })
            .collect();
        dir.write(&format!("in/P{number}.java"), format!("class P {{ void run() {{\n{body}}} }}"));
    }
    dir
}

#[test]
fn pairs_of_programs_are_ranked_by_the_score_in_the_command_and_the_service() {
    let pairs = |count: usize, options: &[&str]| {
        let args = ["pairs", "in", "--for", "code", "--limit", "3", "--format", "json"];
        let run = programs(count).run(&[&args, options].concat());
        assert_eq!(run.status, 0, "{}", run.err);
        let end = jsons(&run.out).pop().unwrap();
        (pairs_of(&run), end, run.err)
    };
    let (shown, end, told) = pairs(9, &[]);
    assert_eq!(end["defaults"], json!({"preset": "code", "rank": "score"}), "{end}");
    assert!(told.contains("--for code: rank score"), "{told}");
    let scores: Vec<f64> = shown.iter().map(|pair| pair["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b) && scores[0] < 1.0, "{scores:?}");
    let (by_score, _, _) = pairs(9, &["--rank", "score"]);
    assert_eq!(shown, by_score);
    let (by_similarity, end, _) = pairs(9, &["--rank", "similarity"]);
    assert!(
        by_similarity.iter().map(|pair| pair["symmetric"].as_f64()).is_sorted_by(|a, b| a >= b)
    );
    assert!(end.get("defaults").is_none(), "{end}");
    let (few, end, _) = pairs(4, &[]);
    assert_eq!(end["defaults"]["rank"], "score", "{end}");
    assert!(few.iter().all(|pair| pair["score"].is_f64()));
    // An index has the same scores, and the service too.
    let dir = programs(9);
    dir.json(&["add", "idx", "in", "--for", "code"]);
    let run = dir.run(&["pairs", "idx", "--limit", "3", "--format", "json"]);
    let stored: Vec<f64> =
        pairs_of(&run).iter().map(|pair| pair["score"].as_f64().unwrap()).collect();
    assert_eq!(stored, scores);
    let text = |number| fs::read_to_string(dir.path(&format!("in/P{number}.java"))).unwrap();
    let documents: Vec<_> =
        (0..9).map(|number| json!({"id": format!("{number}"), "text": text(number)})).collect();
    let service = Service::start(&dir, &[]);
    let request = json!({"documents": documents, "limit": 3}).to_string();
    let answer: Value = serde_json::from_str(&service.post("/v1/pairs", &request).body).unwrap();
    assert_eq!(answer["defaults"], json!({"preset": "code", "rank": "score"}), "{answer}");
    let served = answer["pairs"].as_array().unwrap().iter();
    assert_eq!(served.map(|pair| pair["score"].as_f64().unwrap()).collect::<Vec<_>>(), scores);
    // Without texts there is no score.
    let args =
        ["create", "bare", "--for", "code", "--analyzer", "code(language=java)", "--no-text"];
    assert_eq!(dir.run(&args).status, 0);
    dir.json(&["add", "bare", "in"]);
    let run = dir.run(&["pairs", "bare", "--limit", "3", "--format", "json"]);
    assert!(run.status == 0 && !run.err.contains("rank score"), "{}", run.err);
    let run = dir.run(&["pairs", "bare", "--rank", "score"]);
    assert!(run.status == 2 && run.err.contains("stores no texts"), "{}", run.err);
}

#[test]
fn programs_that_are_too_short_to_tell_are_set_apart() {
    let dir = programs(3);
    let short = "class S { int next(int x) { return x + 1; } }";
    dir.write("in/S1.java", short);
    dir.write("in/S2.java", short.replace('x', "y"));
    let args = ["pairs", "in", "--for", "code", "--min-similarity", "0.9", "--clusters"];
    let run = dir.run(&[&args[..], &["--graph", "pairs.dot", "--report", "pairs.html"]].concat());
    assert_eq!(run.status, 0, "{}", run.err);
    let (before, after) = run.out.split_once("too short to tell:\n").unwrap();
    assert!(!before.contains("S1.java") && after.contains("in/S1.java  in/S2.java"), "{}", run.out);
    assert!(!after.contains("cluster 2"), "{after}");
    let graph = fs::read_to_string(dir.path("pairs.dot")).unwrap();
    assert!(graph.contains("P1.java") && !graph.contains("S1.java"), "{graph}");
    let report = fs::read_to_string(dir.path("pairs.html")).unwrap();
    assert_eq!(report.matches("Programs that are too short to tell").count(), 1);
    dir.json(&["add", "idx", "in", "--for", "code"]);
    for rank in ["score", "similarity", "overlap", "weight", "passages"] {
        for place in ["in", "idx"] {
            let mut args = vec!["pairs", place, "--rank", rank, "--format", "json"];
            if place == "in" {
                args.extend(["--for", "code"]);
            }
            let run = dir.run(&args);
            let apart: Vec<bool> =
                pairs_of(&run).iter().map(|pair| pair["too_short"].as_bool().unwrap()).collect();
            assert!(apart.is_sorted() && apart.contains(&true), "{place} {rank}: {apart:?}");
        }
    }
}

#[test]
fn pairs_of_files_take_the_threshold_until_another_is_given() {
    let dir = Dir::new();
    dir.write("a.txt", words(1, 200));
    dir.write("b.txt", format!("{} {}", words(2, 50), words(1, 150)));
    let count = |options: &[&str]| {
        let files = ["a.txt", "b.txt", "--for", "corpus", "--scheme", "winnow"];
        let args = [&["pairs", "--format", "json"], &files[..]].concat();
        let run = dir.run(&[&args[..], options].concat());
        (pairs_of(&run).len(), run.err.contains("--for corpus: min_resemblance 0.8"))
    };
    assert_eq!(count(&[]), (0, true));
    assert_eq!(count(&["--min-resemblance", "0"]), (1, false));
    assert_eq!(count(&["--min-similarity", "0"]), (1, false));
}

#[test]
fn a_comparison_uses_its_scheme_and_a_service_its_own() {
    let dir = Dir::new();
    dir.write("a.txt", "one two three four");
    dir.write("b.txt", "one two and three four");
    let overlap = |options: &[&str]| {
        let run = dir.run(&[&["compare", "a.txt", "b.txt", "--format", "json"], options].concat());
        run.json()["overlap"].as_u64().unwrap()
    };
    assert_eq!(overlap(&[]), 0);
    assert_eq!(overlap(&["--for", "rewritten"]), 7);
    for option in [["--for", "corpus"], ["--scheme", "winnow"], ["--analyzer", "words"]] {
        let args = ["compare", "a.txt", "b.txt", "--url", "http://127.0.0.1:9"];
        let run = dir.run(&[&args, &option[..]].concat());
        assert!(run.status == 2 && run.err.contains("cannot be used with --url"), "{}", run.err);
    }
}

#[test]
fn old_prints_are_found_by_modern_spelling_and_so_is_recognized_text() {
    // Genesis 1 as printed in 1611 and in 1545, and with the spelling of today.
    let old = [
        "In the beginning God created the Heauen, and the Earth. And the earth was without forme, \
         and voyd, and darkene\u{17f}\u{17f}e was vpon the face of the deepe: and the Spirit of \
         God mooued vpon the face of the waters.",
        "Am anfang \u{17f}chuff Gott Himel vnd Erden. Vnd die Erde war w\u{fc}\u{17f}t vnd leer / \
         vnd es war fin\u{17f}ter auff der Tieffe / Vnd der Geist Gottes \u{17f}chwebet auff dem \
         Wa\u{17f}\u{17f}er.",
    ];
    let modern = [
        "In the beginning God created the heaven and the earth. And the earth was without form, \
         and void; and darkness was upon the face of the deep. And the Spirit of God moved upon \
         the face of the waters.",
        "Am Anfang schuf Gott Himmel und Erde. Und die Erde war wuest und leer, und es war \
         finster auf der Tiefe; und der Geist Gottes schwebte auf dem Wasser.",
    ];
    let dir = Dir::new();
    let lines = ["1611", "1545"].iter().zip(old).map(|(id, text)| line(id, text, json!({})));
    dir.write("old.jsonl", lines.collect::<String>() + &alike());
    for (purpose, found) in [("ocr", 2), ("essays", 0)] {
        dir.json(&["add", purpose, "old.jsonl", "--for", purpose]);
        let first = ["1611", "1545"].iter().zip(modern).filter(|(id, text)| {
            let run = dir.run(&["search", purpose, "--text", text, "--format", "json"]);
            run.json()["hits"][0]["id"] == json!(id)
        });
        assert_eq!(first.count(), found, "{purpose}");
    }
}

#[test]
fn short_texts_with_a_segment_in_common_are_no_duplicates() {
    // Regression: each text has a single segment, equal in two texts. Dedup reported duplicates of
    // 1.000 without the ~ of an estimate.
    const FOR: [&str; 4] = ["--for", "corpus", "--scheme", "breaking(p=6)"];
    let dir = Dir::new();
    let texts = [
        "Licensed under the Academic Free License version 1.1.",
        "Licensed under the Academic Software License version 3.0",
        "licenseId: CDDL-1.0",
        "license : AGPL-1.0+",
    ];
    let lines = |texts: &[&str], from: usize| -> String {
        let line = |(at, text): (usize, &&str)| {
            format!("{}\n", json!({"id": format!("t{}", from + at), "text": text}))
        };
        texts.iter().enumerate().map(line).collect()
    };
    dir.write("all.jsonl", lines(&texts, 0));
    let deduped =
        |args: &[&str]| dir.json(&[&["dedup"], &FOR[..], args].concat())["near"].as_u64().unwrap();
    assert_eq!(deduped(&["all.jsonl", "--out", "kept.jsonl"]), 0);
    let pairs = dir.run(&[&["pairs", "all.jsonl", "--format", "json"], &FOR[..]].concat());
    assert_eq!(pairs_of(&pairs).len(), 0, "{}", pairs.out);
    dir.json(&[&["add", "idx", "all.jsonl"], &FOR[..]].concat());
    assert_eq!(dir.run(&["pairs", "idx"]).status, 1);
    assert_eq!(dir.run(&["cluster", "idx"]).status, 1);
    let near = format!("{} Really.", texts[0]);
    let search = |text: &str, least: &str| {
        dir.run(&["search", "idx", "--text", text, "--min-resemblance", least, "--format", "json"])
    };
    assert!(!search(texts[0], "0.8").out.contains("\"t1\""));
    let found = search(&near, "0.8");
    assert!(found.out.contains("\"t0\"") && found.out.contains("\"exact\":true"), "{}", found.out);
    // A nearly equal text is still a duplicate, in a batch and against an index.
    dir.write("near.jsonl", lines(&[&near, &near.replace("Free", "Open")], 10));
    assert_eq!(deduped(&["near.jsonl", "--against", "idx", "--out", "new.jsonl"]), 1);
    dir.write("both.jsonl", lines(&[texts[0], &near, texts[1]], 0));
    assert_eq!(deduped(&["both.jsonl", "--out", "other.jsonl"]), 1);
    for (at, text) in texts.iter().enumerate() {
        dir.write(&format!("{at}.txt"), text);
    }
    let compared = dir.json(&["compare", "0.txt", "1.txt", "--scheme", "breaking(p=6)"]);
    assert!(
        compared["exact"] == true && compared["resemblance"].as_f64() < Some(0.5),
        "{compared}"
    );
    // Long texts are also compared. A scheme without runs compares sketches, and the output shows a
    // ~.
    let long = |own: &str| {
        let word = |at: usize| format!("word{} ", at * at % 997);
        format!("{}{own}", (0..400).map(word).collect::<String>())
    };
    dir.write("long.jsonl", lines(&[&long("end"), &long("other end")], 0));
    for (by, is_estimated) in [(["--for", "corpus"], false), (["--scheme", "lsh"], true)] {
        let run = dir.run(&[&["pairs", "long.jsonl"], &by[..]].concat());
        let pair = run.out.lines().nth(1).unwrap_or_default();
        assert_eq!(pair.trim_start().starts_with('~'), is_estimated, "{by:?} {}", run.out);
    }
}
