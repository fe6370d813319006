//! The real binary: passages, traces, verification, comparisons, statistics.

use crate::common::run::{Dir, line};
use crate::common::words;
use serde_json::{Value, json};

/// Two sources, a text stitched together from the sources, and an unrelated text.
fn stitched() -> (Dir, String) {
    let dir = Dir::new();
    let (one, other) = (words(1, 150), words(2, 100));
    let corpus = [
        line("one", &one, json!({})),
        line("other", &format!("{} {other}", words(3, 50)), json!({})),
        line("part", &words(1, 90), json!({})),
        line("own", &words(4, 100), json!({})),
    ];
    dir.write("corpus.jsonl", corpus.concat());
    dir.json(&["add", "idx", "corpus.jsonl"]);
    (dir, format!("{one} {} {other}", words(5, 40)))
}

fn ids(answer: &Value) -> Vec<&str> {
    answer["hits"].as_array().unwrap().iter().map(|hit| hit["id"].as_str().unwrap()).collect()
}

#[test]
fn passages_are_shown_on_request() {
    let (dir, query) = stitched();
    let plain = dir.json(&["search", "idx", "--text", &query]);
    let global = plain["query"]["global"].as_f64().unwrap();
    assert!(global > 0.7 && global < 1.0, "the words between are in no document");
    // `part` is completely within `one`.
    assert!(
        dir.json(&["search", "idx", "--id", "part"])["query"]["global"].as_f64().unwrap() > 0.9
    );
    let own = dir.run(&["search", "idx", "--id", "own", "--format", "json"]).json();
    assert_eq!(own["query"]["global"], 0.0);
    assert!(plain["hits"][0].get("passages").is_none());
    let answer = dir.json(&["search", "idx", "--text", &query, "--passages"]);
    let passage = &answer["hits"][0]["passages"][0];
    assert_eq!(passage["a"], json!([0, words(1, 150).len()]));
    assert_eq!(passage["b"], json!([0, words(1, 150).len()]));
    assert_eq!((&passage["tokens"], &passage["similarity"]), (&json!(150), &json!(1.0)));
    let human = dir.run(&["search", "idx", "--text", &query, "--passages"]).out;
    assert!(human.contains("150 words, similarity 100.0 %"), "{human}");
}

#[test]
fn a_hit_has_a_passage_of_the_requested_length() {
    let (dir, query) = stitched();
    let long =
        |tokens: &str| dir.run(&["search", "idx", "--text", &query, "--min-passage", tokens]);
    let all = dir.json(&["search", "idx", "--text", &query, "--passages"]);
    let lengths = |answer: &Value| -> Vec<u64> {
        let hits = answer["hits"].as_array().unwrap().iter();
        hits.flat_map(|hit| hit["passages"].as_array().unwrap().clone())
            .map(|passage| passage["tokens"].as_u64().unwrap())
            .collect()
    };
    assert!(lengths(&all).iter().any(|&tokens| tokens < 150), "{all}");
    let one = dir.json(&["search", "idx", "--text", &query, "--min-passage", "150"]);
    assert_eq!((ids(&one), lengths(&one)), (vec!["one"], vec![150]));
    assert_eq!((long("150").status, long("151").status, long("0").status), (0, 1, 2));
    let refused =
        dir.run(&["search", "idx", "--text", &query, "--min-passage", "9", "--goal", "passage"]);
    assert_eq!(refused.status, 2);
}

#[test]
fn compared_files_without_a_long_passage_have_nothing_in_common() {
    let (dir, query) = stitched();
    dir.write("a.txt", &query);
    dir.write("b.txt", words(1, 150));
    let compare = |tokens: &str| {
        dir.run(&["compare", "a.txt", "b.txt", "--min-passage", tokens, "--format", "json"])
    };
    assert_eq!(compare("150").status, 0);
    let none = compare("151");
    assert_eq!(none.status, 1);
    assert_eq!(none.json()["passages"], json!([]));
}

#[test]
fn a_trace_has_the_spans_of_a_text_and_leaves_out_documents_that_add_nothing() {
    let (dir, query) = stitched();
    let all = dir.json(&["search", "idx", "--text", &query]);
    assert_eq!(ids(&all), ["one", "other", "part"]);
    let traced = dir.json(&["search", "idx", "--text", &query, "--goal", "trace"]);
    assert_eq!(ids(&traced), ["one", "other"]);
    let same = dir.json(&["trace", "idx", "--text", &query]);
    assert_eq!((&same["trace"], &same["hits"]), (&traced["trace"], &traced["hits"]));
    let trace = &traced["trace"];
    let spans = trace["spans"].as_array().unwrap();
    let best: Vec<&Value> = spans.iter().map(|span| &span["best"]["id"]).collect();
    assert_eq!(best, ["one", "other"]);
    let shares = ["reused", "common", "cited", "new"].map(|share| trace[share].as_f64().unwrap());
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{shares:?}");
    let adds = traced["hits"].as_array().unwrap().iter().map(|hit| hit["adds"].as_u64().unwrap());
    let size = trace["size"].as_u64().unwrap() as f64;
    assert!((adds.sum::<u64>() as f64 / size - shares[0]).abs() < 1e-9, "{traced}");
    let human = dir.run(&["trace", "idx", "--text", &query]).out;
    assert!(human.contains("reused") && human.contains("in 2 spans"), "{human}");
    assert!(human.contains("of one: 150 words"), "{human}");
    let rows = dir.run(&["trace", "idx", "--text", &query, "--format", "csv"]).out;
    assert_eq!(rows.lines().count(), 3, "{rows}");
    // Regression: a misspelled field was told only as a lack of dates.
    let undated = dir.run(&["trace", "idx", "--text", &query, "--date", "yaer"]);
    assert!(undated.err.contains("no document has the field `yaer`"), "{}", undated.err);
    assert_eq!((undated.status, undated.out.as_str()), (2, ""), "{}", undated.err);
    let nothing = dir.run(&["trace", "idx", "--text", &words(77, 60)]);
    assert_eq!(nothing.status, 1);
    assert!(nothing.out.contains("100.0 % new, in 0 spans"), "{}", nothing.out);
}

#[test]
fn a_trace_of_a_few_words_finds_the_documents_that_contain_them() {
    let (dir, _) = stitched();
    let phrase = words(3, 50).split(' ').take(3).collect::<Vec<_>>().join(" ");
    let trace = |more: &[&str]| dir.run(&[&["trace", "idx", "--text", &phrase], more].concat());
    let found = trace(&[]);
    assert!(found.out.contains("100.0 % new, in 0 spans"), "{}", found.out);
    assert!(found.out.contains("1 document with the whole text: other\n"), "{}", found.out);
    assert_eq!(found.status, 0);
    let kept = trace(&["--filter", "id:other"]);
    let expected = "1 document with the whole text among those that match the filter: other\n";
    assert!(kept.out.contains(expected) && kept.status == 0, "{}", kept.out);
    let none = trace(&["--filter", "NOT id:other"]);
    let expected = "no document that matches the filter contains the whole text";
    assert!(none.out.contains(expected) && none.status == 1, "{}", none.out);
}

#[test]
fn the_best_passage_is_that_of_the_document_with_most_of_the_query() {
    let (dir, _) = stitched();
    let passage = words(2, 60);
    // The second half first.
    let (head, tail) = passage.split_at(passage.len() / 2);
    let query = format!("{tail} {head}");
    let answer = dir.json(&["search", "idx", "--text", &query, "--goal", "passage"]);
    assert_eq!(ids(&answer), ["other"]);
    let found = &answer["hits"][0]["passages"][0];
    let span = |name: &str, at: usize| found[name][at].as_u64().unwrap() as usize;
    let text = format!("{} {}", words(3, 50), words(2, 100));
    let best = &text[span("b", 0)..span("b", 1)];
    assert!(best.contains(&passage), "{best}");
    assert!(best.len() < passage.len() + 30 * 6, "no more than two windows on either side: {best}");
    assert!(found["similarity"].as_f64().unwrap() > 0.85);
    let candidates = &answer["candidates"];
    let number = |name: &str| candidates[name].as_u64().unwrap();
    assert!(number("calculated") > 0 && number("calculated") <= number("texts"));
    let nothing = dir.run(&["search", "idx", "--text", &words(77, 60), "--goal", "passage"]);
    assert_eq!(nothing.status, 1);
    dir.json(&["add", "bare", "corpus.jsonl", "--no-text"]);
    assert_eq!(dir.run(&["search", "bare", "--text", &query, "--goal", "passage"]).status, 2);
}

#[test]
fn signatures_can_be_made_of_the_texts_again() {
    let (dir, query) = stitched();
    assert_eq!(dir.run(&["create", "made", "--signatures", "computed"]).status, 0);
    dir.json(&["add", "made", "corpus.jsonl"]);
    dir.json(&["add", "added", "corpus.jsonl", "--signatures", "computed"]);
    for args in [
        &["search", "--text", &query, "--passages"][..],
        &["search", "--id", "other", "--min-overlap", "1"],
        &["trace", "--text", &query],
        &["pairs", "--min-overlap", "1"],
        &["check"],
    ] {
        let said = |index: &str| {
            let run = dir.run(&[&args[..1], &[index], &args[1..]].concat());
            // Every line except the line with the duration.
            let lines = run.out.lines().filter(|line| !line.ends_with(" us"));
            (run.status, lines.map(str::to_owned).collect::<Vec<_>>())
        };
        assert_eq!(said("made"), said("idx"), "{args:?}");
        assert_eq!(said("added"), said("idx"), "{args:?}");
    }
    let size = |index: &str| dir.json(&["stats", index])["bytes"]["signatures"].as_u64().unwrap();
    assert!(size("made") < size("idx"));
    let refused = dir.run(&["add", "idx", "corpus.jsonl", "--signatures", "computed"]);
    assert_eq!(refused.status, 2);
    assert!(refused.err.contains("--signatures stored"), "{}", refused.err);
    let refused = dir.run(&["create", "no", "--no-text", "--signatures", "computed"]);
    assert_eq!(refused.status, 2);
    assert!(refused.err.contains("an index stores texts or signatures"), "{}", refused.err);
}

#[test]
fn an_answer_that_was_cut_says_so_and_how_many_there_are_if_it_knows() {
    let (dir, query) = stitched();
    let search = |more: &[&str]| {
        let args = [&["search", "idx", "--text", &query][..], more].concat();
        let json = dir.run(&[&args[..], &["--format", "json"]].concat()).json();
        (json, dir.run(&args).out)
    };
    // Regression: "0 hits shown, there are more", with the status of a search without hits.
    let none = dir.run(&["search", "idx", "--text", &query, "--limit", "0"]);
    assert_eq!(none.status, 0, "{}", none.out);
    assert!(none.out.contains("there are more"), "{}", none.out);
    let (cut, human) = search(&["--limit", "2"]);
    assert_eq!(
        (&cut["more"], &cut["total"], &cut["complete"]),
        (&json!(true), &Value::Null, &json!(true))
    );
    assert!(human.ends_with("2 hits shown, there are more; raise --limit\n"), "{human}");
    let (cut, human) = search(&["--limit", "2", "--min-resemblance", "0.01"]);
    assert_eq!((&cut["more"], &cut["total"]), (&json!(true), &json!(3)));
    assert!(human.ends_with("2 of 3 hits shown; --limit 3 shows all\n"), "{human}");
    let (all, human) = search(&["--limit", "3"]);
    assert_eq!((&all["more"], &all["total"]), (&json!(false), &json!(3)));
    assert!(!human.contains("shown"), "{human}");
    let (cut, human) = search(&["--rank", "passages", "--candidates", "2", "--limit", "2"]);
    assert_eq!((&cut["more"], &cut["total"]), (&json!(true), &Value::Null));
    assert!(human.ends_with("2 hits shown, there are more; raise --limit\n"), "{human}");
    let args = ["--rank", "passages", "--candidates", "1", "--limit", "1", "--min-passage", "200"];
    let (none, human) = search(&args);
    assert_eq!((&none["more"], &none["hits"]), (&json!(true), &json!([])));
    assert!(human.ends_with("0 hits shown, there may be more; raise --candidates\n"), "{human}");
    // Regression: a trace, which shows spans, was to be completed with --limit.
    let cut = dir.run(&["trace", "idx", "--text", &query, "--candidates", "1"]).out;
    assert!(cut.contains("did not compare every document") && !cut.contains("--limit"), "{cut}");
    // A report lists sources, and a truncated search does not have every hit.
    let report = |limit| {
        dir.run(&["search", "idx", "--text", &query, "--limit", limit, "--report", "r.html"]);
        std::fs::read_to_string(dir.path("r.html")).unwrap()
    };
    let cut = "the list of sources was cut";
    assert!(report("2").contains(cut) && !report("3").contains(cut));
}

#[test]
fn stop_fingerprints_are_named_and_the_index_knows_its_limit() {
    let dir = Dir::new();
    let corpus: Vec<String> = (0..5)
        .map(|i| {
            line(&format!("d{i}"), &format!("{} {}", words(1, 30), words(10 + i, 30)), json!({}))
        })
        .collect();
    dir.write("corpus.jsonl", corpus.concat());
    assert_eq!(dir.run(&["create", "idx", "--max-df", "3"]).status, 0);
    dir.json(&["add", "idx", "corpus.jsonl"]);
    let run = dir.run(&["search", "idx", "--text", &words(1, 30), "--format", "json"]);
    let answer = run.json();
    assert_eq!((run.status, &answer["hits"]), (1, &json!([])));
    let stopped = answer["query"]["stopped_fingerprints"].as_array().unwrap();
    assert_eq!(stopped.len() as u64, answer["query"]["stopped"].as_u64().unwrap());
    assert!(!stopped.is_empty());
    assert!(stopped.iter().all(|stopped| stopped["df"] == 5 && stopped["key"].is_string()));
    let answer = dir.json(&["search", "idx", "--text", &words(1, 30), "--max-df", "5"]);
    assert_eq!(ids(&answer).len(), 5);
    let stats = dir.json(&["stats", "idx"]);
    assert_eq!(stats["frequencies"]["max_df"], 3);
    assert!(stats["frequencies"]["stopped"]["terms"].as_u64().unwrap() > 0);
    assert!(dir.json(&["stats", "idx", "--quick"]).get("frequencies").is_none());
    let human = dir.run(&["stats", "idx"]).out;
    assert!(human.contains("max-df 3:"), "{human}");
}

#[test]
fn hits_are_verified_against_their_text() {
    let (dir, query) = stitched();
    let answer =
        dir.json(&["search", "idx", "--text", &query, "--verify", "containment", "--limit", "1"]);
    let verified = &answer["hits"][0]["verified"];
    assert_eq!(verified["measure"], "containment(k=5)");
    // 146 runs of five words, of 286 of the query.
    assert!((verified["similarity"].as_f64().unwrap() - 146.0 / 286.0).abs() < 1e-9);
    let strict = ["--verify", "cosine", "--min-similarity", "0.99"];
    let run = dir.run(&[&["search", "idx", "--text", &query], &strict[..]].concat());
    assert_eq!(run.status, 1, "{}", run.out);
    let wrong = dir.run(&["search", "idx", "--text", &query, "--verify", "telepathy"]);
    assert!(wrong.status == 2 && wrong.err.contains("levenshtein"), "{}", wrong.err);
    dir.write("bare.jsonl", line("a", &query, json!({})));
    dir.json(&["add", "bare", "bare.jsonl", "--no-text"]);
    let refused = dir.run(&["search", "bare", "--text", &query, "--verify", "lcs"]);
    assert_eq!(refused.status, 2);
    assert!(refused.err.contains("search without it"), "{}", refused.err);
}

#[test]
fn a_registry_is_searched_without_any_text() {
    let (dir, query) = stitched();
    dir.json(&["add", "registry", "corpus.jsonl", "--no-text"]);
    dir.write("query.txt", &query);
    let signature = dir.run(&["method", "fingerprint", "query.txt", "--format", "json"]).out;
    assert!(!signature.contains(&query[..20]));
    dir.write("hostile.json", signature.replacen("\"tokens\":", "\"tokens\":0,\"was\":", 1));
    let refused = dir.run(&["search", "registry", "--signature", "hostile.json", "--passages"]);
    assert_eq!(refused.status, 2);
    assert!(refused.err.contains("beyond 0 tokens"), "{}", refused.err);
    dir.write("signature.json", signature);
    let mut answer =
        dir.json(&["search", "registry", "--signature", "signature.json", "--passages"]);
    assert_eq!(ids(&answer), ["one", "other", "part"]);
    let passage = &answer["hits"][0]["passages"][0];
    assert_eq!(passage["unit"], "tokens");
    let by_text = dir.json(&["search", "registry", "query.txt", "--passages"]);
    answer["took_us"] = by_text["took_us"].clone();
    // A file has a name as its id, and a signature has no id.
    assert_eq!(answer["query"]["id"].take(), Value::Null);
    answer["query"]["id"] = json!("query.txt");
    assert_eq!(answer, by_text);
    let human = dir.run(&["search", "registry", "query.txt", "--passages"]).out;
    assert!(human.contains("tokens "), "{human}");
}

#[test]
fn two_files_are_compared_side_by_side() {
    let dir = Dir::new();
    let shared = words(1, 40);
    dir.write("a.txt", format!("alpha beta {shared} gamma"));
    dir.write("b.txt", format!("{} {}", words(3, 30), shared.replacen(' ', " inserted ", 1)));
    dir.write("c.txt", words(9, 50));
    let run = dir.run(&["compare", "a.txt", "b.txt"]);
    assert_eq!(run.status, 0);
    assert!(run.out.contains("; 1 passage\n") && run.out.contains(" | "), "{}", run.out);
    assert!(!run.out.contains('\u{1b}'), "no colors where there is no terminal");
    let json = dir.json(&["compare", "a.txt", "b.txt"]);
    assert_eq!((&json["a"], &json["b"]), (&json!("a.txt"), &json!("b.txt")));
    for name in ["overlap", "containment_of_a", "containment_of_b", "resemblance"] {
        assert!(json[name].as_f64().unwrap() > 0.0, "{name}");
    }
    assert!(json["category"].is_string() && json.get("measures").is_none());
    let json = dir.json(&["compare", "a.txt", "b.txt", "--measures", "all"]);
    let measures = json["measures"].as_object().unwrap();
    assert_eq!(measures.len(), 14);
    assert!(measures.values().all(|value| (0.0..=1.0).contains(&value.as_f64().unwrap())));
    let human = dir.run(&["compare", "a.txt", "b.txt", "--measures", "lcs"]).out;
    assert!(human.contains(" by lcs"), "{human}");
    assert_eq!(json["passages"].as_array().unwrap().len(), 1);
    assert_eq!(dir.run(&["compare", "a.txt", "c.txt"]).status, 1);
    assert_eq!(dir.run(&["compare", "a.txt", "missing.txt"]).status, 2);
}

/// Sentences of two thousand synthetic nouns, with English function words in between.
fn sentences(seed: u64, count: u64) -> Vec<String> {
    let noun = |at: u64| {
        let word = cento::hash::mix64(seed * 1000 + at) % 2000;
        let syllable = |of: u64| {
            let (first, then) = ((of % 10) as usize, (of / 10 % 5) as usize);
            format!("{}{}", &"bdfglmnprt"[first..=first], &"aeiou"[then..=then])
        };
        format!("{}{}k", syllable(word % 50), syllable(word / 50))
    };
    let sentence = |i: u64| {
        let nouns: Vec<String> = (0..5).map(|part| noun(i * 10 + part)).collect();
        let [a, b, c, d, e] = &nouns[..] else { unreachable!() };
        format!("The {a} of the {b} is a {c} with a {d} near the {e}.")
    };
    (0..count).map(sentence).collect()
}

#[test]
fn a_rewritten_text_is_found_by_the_scheme_reuse() {
    let dir = Dir::new();
    let corpus: Vec<String> = (0..40)
        .map(|seed| line(&format!("d{seed}"), &sentences(seed, 60).join(" "), json!({})))
        .collect();
    dir.write("corpus.jsonl", corpus.concat());
    let english = ["--analyzer", "avtor(language=en)"];
    dir.json(&[&["add", "idx", "--scheme", "reuse", "corpus.jsonl"], &english[..]].concat());
    let stats = dir.json(&["stats", "idx"]);
    assert_eq!(stats["scheme"], "pairs(n=100)");
    assert!(stats["analyzer"].as_str().unwrap().starts_with("avtor("), "{stats}");
    // An existing index accepts the same settings.
    dir.json(&[&["add", "idx", "--scheme", "reuse", "corpus.jsonl"], &english[..]].concat());
    // The default analyzer is avtor, which detects the language.
    dir.json(&["add", "other", "--scheme", "reuse", "corpus.jsonl"]);
    let analyzer = dir.json(&["stats", "other"])["analyzer"].to_string();
    assert!(analyzer.contains("avtor(language=auto"), "{analyzer}");
    // Replaces function words, and changes the order of sentences.
    let rewritten: Vec<String> = sentences(7, 60)
        .iter()
        .skip(20)
        .take(12)
        .map(|sentence| sentence.replace(" of the ", " in some ").replace(" near the ", " by a "))
        .rev()
        .collect();
    let rewritten = rewritten.join(" ");
    let by_weight = dir.json(&["search", "idx", "--text", &rewritten, "--rank", "weight"]);
    assert_eq!(by_weight["hits"][0]["id"], "d7", "{by_weight}");
    let weighted = &by_weight["hits"][0]["weighted"];
    let second = &by_weight["hits"][1]["weighted"]["containment_of_a"];
    let [of_first, of_second] =
        [&weighted["containment_of_a"], second].map(|c| c.as_f64().unwrap_or(0.0));
    assert!(of_first > 1.5 * of_second, "{by_weight}");
    let least = (of_first - 1e-6).to_string();
    let thresholds = ["search", "idx", "--text", &rewritten, "--min-weighted-containment", &least];
    assert_eq!(ids(&dir.json(&thresholds)), ["d7"]);
    let ranked = ["search", "idx", "--text", &rewritten, "--rank", "passages"];
    let by_passages = dir.json(&ranked);
    assert_eq!(by_passages["hits"][0]["id"], "d7", "{by_passages}");
    let tokens = |at: usize| by_passages["hits"][at]["passage_tokens"].as_u64().unwrap_or(0);
    assert!(tokens(0) > 50 && tokens(0) > tokens(1), "{by_passages}");
    assert!(by_passages["hits"][0].get("passages").is_none());
    let shown = dir.json(&[&ranked[..], &["--passages", "--limit", "1"]].concat());
    assert!(!shown["hits"][0]["passages"].as_array().unwrap().is_empty());
    let human = dir.run(&ranked).out;
    assert!(human.contains("weighted") && human.contains("words in passages"), "{human}");
    let refused = dir.run(&["search", "idx", "--text", "x", "--rank", "weight", "--goal", "trace"]);
    assert_eq!(refused.status, 2);
}

#[test]
fn each_answer_names_its_query_and_an_unreadable_query_costs_only_itself() {
    let (dir, query) = stitched();
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    dir.write("hand/aaa.png", png);
    dir.write("hand/ann.txt", &query);
    dir.write("hand/bob.txt", words(4, 60));
    dir.write("hand/zzz.txt", " ");
    let args = ["search", "idx", "hand", "hand/bob.txt", "none.txt", "--report", "r.json"];
    let ran = dir.run(&[&args[..], &["--format", "json"]].concat());
    assert_eq!(ran.status, 3);
    let lines: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let asked: Vec<_> = lines.iter().map(|line| line["query"]["id"].as_str()).collect();
    let expected = [Some("hand/ann.txt"), Some("hand/bob.txt"), Some("hand/bob.txt"), None];
    assert_eq!(asked, expected, "{}", ran.out);
    let named = |list: &Value| -> Vec<String> {
        let list = list.as_array().unwrap().iter();
        list.map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    let unread = ["hand/aaa.png", "hand/zzz.txt", "none.txt"];
    assert_eq!(
        (&lines[3]["answered"], named(&lines[3]["not_compared"])),
        (&json!(3), unread.map(String::from).to_vec())
    );
    let report: Value =
        serde_json::from_str(&std::fs::read_to_string(dir.path("r.json")).unwrap()).unwrap();
    assert_eq!(report["documents"].as_array().unwrap().len(), 3);
    assert_eq!(named(&report["not_compared"]), unread);
    for name in unread {
        assert!(ran.err.contains(name), "{name}: {}", ran.err);
    }
    let human = dir.run(&["search", "idx", "hand/ann.txt"]);
    assert!(human.status == 0 && human.out.starts_with("hand/ann.txt: "), "{}", human.out);
}

#[test]
fn a_bad_record_of_many_queries_costs_only_itself() {
    let (dir, query) = stitched();
    let mut lines = vec![line("good", &query, json!({})), "{\"id\": \"torn\", \n".into()];
    lines.extend((0..40).map(|n| format!("{{\"id\": \"n{n}\", \"text\": {n}}}\n")));
    lines.push(line("last", &words(4, 60), json!({})));
    dir.write("q.jsonl", lines.concat());
    let ran = dir.run(&["search", "idx", "q.jsonl", "--format", "json"]);
    let ids: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(ran.status, 3, "{}", ran.err);
    assert_eq!((&ids[0]["query"]["id"], &ids[1]["query"]["id"]), (&json!("good"), &json!("last")));
    assert_eq!(ids[2]["not_compared"].as_array().unwrap().len(), 41);
    // The first errors of a kind are listed, and the remaining errors are counted.
    assert_eq!(ran.err.lines().filter(|line| line.starts_with("cento: q.jsonl:")).count(), 11);
    assert!(ran.err.contains("and 30 more of this kind: "), "{}", ran.err);
    // An error common to every query is reported once.
    let ran = dir.run(&["search", "idx", "q.jsonl", "--filter", "no such (filter"]);
    assert!(ran.status == 2 && ran.err.lines().count() == 1, "{}", ran.err);
}

/// The path of a query was an id, which has at most 1,024 bytes and no control characters.
#[cfg(unix)]
#[test]
fn a_query_may_have_any_name() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let dir = Dir::new();
    let text = words(1, 200);
    dir.write("in/a.txt", &text);
    dir.json(&["add", "idx", "in"]);
    let deep = vec!["d".repeat(200); 8].join("/");
    std::fs::create_dir_all(dir.path(&deep)).unwrap();
    let deep = format!("{deep}/q.txt");
    let names: [&[u8]; 15] = [
        b"a:b.txt",
        b"-dash.txt",
        b"id:x",
        b"http:x.txt",
        b"http:",
        b"file:x",
        b"s3:x",
        b"new\nline.txt",
        b"\x1b[31m",
        b"bad\xff.txt",
        b"%41.txt",
        b"[a]*?{b,c}.txt",
        b"~x",
        b" ",
        deep.as_bytes(),
    ];
    for name in names {
        let name = OsStr::from_bytes(name);
        std::fs::write(dir.path(".").join(name), &text).unwrap();
        let mut command = dir.command(&["search", "idx", "--format", "json", "--"]);
        let output = command.arg(name).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{name:?}: {told}");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["hits"][0]["resemblance"], 1.0, "{name:?}");
    }
    // So are records, whose ids may be anything.
    for id in ["\"x\\ny\"", &format!("\"{}\"", "x".repeat(2000)), "[1]", "\"\""] {
        let line = format!("{{\"id\":{id},\"text\":{}}}", serde_json::json!(text));
        dir.write("q.jsonl", line);
        let run = dir.run(&["search", "idx", "q.jsonl", "--format", "json"]);
        assert_eq!(run.status, 0, "{id}: {}", run.err);
    }
}

#[test]
fn an_empty_query_is_refused_in_every_door() {
    let (dir, _) = stitched();
    dir.write("empty.txt", " \n");
    let queries = format!("{}{}", line("a", "", json!({})), line("b", &words(1, 60), json!({})));
    for (args, stdin, status) in [
        (&["search", "idx", "empty.txt"][..], "", 2),
        (&["search", "idx"], " \n", 2),
        // The second query is answered.
        (&["search", "idx", "--jsonl"], &queries, 3),
    ] {
        let run = dir.run_with(args, stdin.as_bytes());
        assert_eq!(run.status, status, "{args:?}: {}", run.err);
        assert!(run.err.contains("is empty"), "{args:?}: {}", run.err);
    }
}

#[test]
fn a_list_of_records_on_standard_input_is_told_of_jsonl() {
    let (dir, query) = stitched();
    let lines = line("q1", &query, json!({})) + &line("q2", &words(4, 100), json!({}));
    for verb in ["search", "trace"] {
        for args in [&[verb, "idx"][..], &[verb, "idx", "-"]] {
            let run = dir.run_with(args, lines.as_bytes());
            let said = "cento: standard input: it is a list of records; each of them is a text; \
                        --jsonl takes each of them as a query";
            assert!(run.status != 0 && run.err.contains(said), "{args:?}: {}", run.err);
            let run = dir.run_with(&[args, &["--jsonl"]].concat(), lines.as_bytes());
            assert!(run.status == 0 && run.out.contains("q2"), "{args:?}: {}", run.err);
        }
    }
}
