//! The real binary: pairs, clusters, pairs of files, boilerplate, reports.

use std::fs;
use std::io::{Read, Write};
use std::process::Command;

use crate::common::run::{Dir, line};
use crate::common::words;
use flate2::read::MultiGzDecoder;
use serde_json::{Value, json};

pub fn jsons(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Versions `a1` to `a3` of a text, `a1` and `a3` with little in common, `b` with a passage of the
/// text, and `c` with nothing in common.
fn versions() -> Dir {
    let dir = Dir::new();
    let text = words(1, 200);
    let part = |from: usize, to: usize| {
        text.split(' ').skip(from).take(to - from).collect::<Vec<_>>().join(" ")
    };
    let documents = [
        line(
            "a1",
            &format!("{} {}", part(0, 130), words(2, 20)),
            json!({"s": "x", "date": "2020"}),
        ),
        line("a2", &part(40, 170), json!({"s": "x", "date": "2019"})),
        line("a3", &format!("{} {}", part(80, 200), words(3, 10)), json!({"s": "y"})),
        line(
            "b",
            &format!("{} {}", part(60, 90), words(4, 300)),
            json!({"s": "y", "date": "2018"}),
        ),
        line("c", &words(5, 100), json!({})),
    ];
    dir.write("corpus.jsonl", documents.concat());
    dir.json(&["add", "idx", "corpus.jsonl"]);
    dir
}

pub fn ids(pairs: &[Value]) -> Vec<String> {
    let id = |pair: &Value, side: &str| pair[side].as_str().unwrap().to_owned();
    pairs.iter().map(|pair| format!("{} {}", id(pair, "a"), id(pair, "b"))).collect()
}

/// The pairs of the index `idx`.
fn pairs(dir: &Dir, args: &[&str]) -> Vec<Value> {
    jsons(&dir.run(&[&["pairs", "idx", "--format", "json"], args].concat()).out)
}

#[test]
fn pairs_have_categories() {
    let dir = versions();
    let all = pairs(&dir, &[]);
    assert_eq!(ids(&all), ["a1 a2", "a1 a3", "a1 b", "a2 a3", "a2 b"]);
    assert_eq!(all[0]["category"], "C4");
    assert!(all[2]["containment_of_b"].as_f64().unwrap() < 0.2);
    assert!(all.iter().all(|pair| pair.get("passages").is_none()));
}

#[test]
fn pairs_have_passages_on_request() {
    let dir = versions();
    let close = pairs(&dir, &["--min-containment", "0.5", "--passages"]);
    assert_eq!(ids(&close), ["a1 a2", "a2 a3"]);
    let passage = &close[0]["passages"][0];
    let text = words(1, 200);
    let start = text.split(' ').take(40).map(|word| word.len() + 1).sum::<usize>();
    assert_eq!((&passage["a"][0], &passage["b"][0]), (&json!(start), &json!(0)));
}

#[test]
fn pairs_have_a_passage_of_the_requested_length() {
    let dir = versions();
    let longest = &pairs(&dir, &["--min-containment", "0.5", "--passages"])[0]["passages"][0];
    let tokens = longest["tokens"].as_u64().unwrap();
    let long = pairs(&dir, &["--min-passage", &tokens.to_string()]);
    assert!(ids(&long).contains(&"a1 a2".to_owned()), "{long:?}");
    let shorter = |pair: &Value| {
        let passages = pair["passages"].as_array().unwrap();
        passages.is_empty() || passages.iter().any(|p| p["tokens"].as_u64().unwrap() < tokens)
    };
    assert!(!long.iter().any(shorter) && long.len() < 5, "{long:?}");
    assert_eq!(dir.run(&["pairs", "idx", "--min-passage", "1000"]).status, 1);
}

#[test]
fn pairs_are_of_one_group_or_of_two() {
    let dir = versions();
    assert_eq!(ids(&pairs(&dir, &["--within", "s"])), ["a1 a2"]);
    assert_eq!(ids(&pairs(&dir, &["--group-by", "s", "--min-overlap", "8"])), ["a1 a3", "a2 a3"]);
}

#[test]
fn pairs_have_the_least_resemblance_of_their_texts() {
    let dir = versions();
    let found = pairs(&dir, &["--min-resemblance", "0.01"]);
    assert!(!found.is_empty());
    for pair in found {
        let number = |name: &str| pair[name].as_f64().unwrap();
        assert!(number("resemblance") >= 0.01 && pair["exact"] == true, "{pair}");
        assert!(number("containment_of_a") >= number("resemblance"), "{pair}");
    }
    for none in ["0.99", "0.999"] {
        assert_eq!(dir.run(&["pairs", "idx", "--min-resemblance", none]).status, 1, "{none}");
    }
}

#[test]
fn pairs_are_found_with_another_index() {
    let dir = versions();
    dir.write("d.jsonl", line("d", &words(5, 100), json!({})));
    dir.json(&["add", "other", "d.jsonl"]);
    let across = dir.run(&["pairs", "idx", "--against", "other", "--format", "json"]);
    assert_eq!(ids(&jsons(&across.out)), ["c d"]);
}

#[test]
fn passages_of_an_index_without_texts_are_refused() {
    let dir = versions();
    dir.json(&["add", "bare", "corpus.jsonl", "--no-text"]);
    for args in [&["--min-passage", "20"][..], &["--passages"]] {
        let refused = dir.run(&[&["pairs", "bare"], args].concat());
        assert!(refused.status == 2 && refused.err.contains("stores none"), "{}", refused.err);
    }
}

fn number(pair: &Value, of: &str) -> f64 {
    pair.pointer(of).unwrap().as_f64().unwrap()
}

fn descends(pairs: &[Value], of: &str) -> bool {
    pairs.is_sorted_by(|one, other| number(one, of) >= number(other, of))
}

fn sorted_ids(pairs: &[Value]) -> Vec<String> {
    let mut ids = ids(pairs);
    ids.sort();
    ids
}

#[test]
fn pairs_are_ranked_by_weight() {
    let dir = versions();
    let plain = pairs(&dir, &[]);
    assert!(plain.iter().all(|pair| pair.get("weighted").is_none()));
    let by_weight = pairs(&dir, &["--rank", "weight"]);
    assert!(descends(&by_weight, "/weighted/resemblance"), "{by_weight:?}");
    assert_eq!(sorted_ids(&by_weight), sorted_ids(&plain));
    assert_ne!(ids(&by_weight), ids(&plain));
    let human = dir.run(&["pairs", "idx", "--rank", "weight"]);
    assert_eq!(human.out.matches(" weighted\n").count(), plain.len());
    assert!(human.err.contains("5 pairs of 5 documents"), "{}", human.err);
}

#[test]
fn thresholds_of_weights_are_the_only_ones_as_others_are() {
    let dir = versions();
    let by_weight = pairs(&dir, &["--rank", "weight"]);
    let least = number(&by_weight[1], "/weighted/resemblance");
    let heavy = pairs(&dir, &["--min-weighted-resemblance", &least.to_string()]);
    assert_eq!(sorted_ids(&heavy), sorted_ids(&by_weight[..2]));
    let contained = pairs(&dir, &["--min-weighted-containment", "0.5"]);
    let containment = |pair: &Value| {
        number(pair, "/weighted/containment_of_a").max(number(pair, "/weighted/containment_of_b"))
    };
    let expected: Vec<Value> =
        by_weight.iter().filter(|pair| containment(pair) >= 0.5).cloned().collect();
    assert!(!expected.is_empty() && expected.len() < by_weight.len(), "{by_weight:?}");
    assert_eq!(sorted_ids(&contained), sorted_ids(&expected));
}

#[test]
fn pairs_are_ranked_by_overlap_also_by_a_limit_alone() {
    let dir = versions();
    let most = pairs(&dir, &["--rank", "overlap", "--limit", "2"]);
    // The last line says that further pairs exist.
    assert!(most.len() == 3 && descends(&most[..2], "/overlap"), "{most:?}");
    assert_eq!(pairs(&dir, &["-n", "2"]), most);
}

#[test]
fn pairs_are_ranked_by_passages() {
    let dir = versions();
    let by_passages = pairs(&dir, &["--rank", "passages"]);
    assert!(descends(&by_passages, "/passage_tokens"), "{by_passages:?}");
    assert!(by_passages.iter().all(|pair| pair.get("passages").is_none()));
    let shown = pairs(&dir, &["--rank", "passages", "--passages", "-n", "1"]);
    assert_eq!(shown[0]["passage_tokens"], by_passages[0]["passage_tokens"]);
    assert_eq!(shown[0]["passage_tokens"], shown[0]["passages"][0]["tokens"]);
}

#[test]
fn a_limit_or_a_rank_is_refused_with_an_output_file() {
    let dir = versions();
    for wrong in [&["-n", "1", "--out", "out"][..], &["--rank", "weight", "--out", "out"]] {
        assert_eq!(dir.run(&[&["pairs", "idx"], wrong].concat()).status, 2, "{wrong:?}");
    }
}

#[test]
fn members_of_clusters_have_the_weights_of_their_pairs() {
    let dir = versions();
    let clusters = |args: &[&str]| {
        jsons(&dir.run(&[&["cluster", "idx", "--format", "json"], args].concat()).out)
    };
    let member = &clusters(&["--min-weighted-resemblance", "0.05"])[0]["members"][0];
    let by_weight = pairs(&dir, &["--rank", "weight"]);
    let pair = by_weight.iter().find(|pair| pair["a"] == "a1" && pair["b"] == member["id"]);
    assert_eq!(member["weighted"], pair.unwrap()["weighted"]);
    assert_eq!(clusters(&["--min-weighted-resemblance", "0.99"]), [] as [Value; 0]);
    assert_eq!(clusters(&["--min-resemblance", "0.3"])[0]["members"][0].get("weighted"), None);
}

#[test]
fn pairs_are_resumed_where_they_were_interrupted() {
    let dir = Dir::new();
    let versions = (0..800u64).map(|i| {
        line(&format!("d{i}"), &format!("{} {}", words(i / 40, 60), words(i, 30)), json!({}))
    });
    dir.write("corpus.jsonl", versions.collect::<String>());
    dir.json(&["add", "idx", "corpus.jsonl"]);
    let args = ["pairs", "idx", "--passages", "--format", "json", "--threads", "1"];
    let whole = dir.run(&args).out;
    let out = [&args[..], &["--out", "out"]].concat();
    assert_eq!(dir.paused("document:300", &out).interrupt(), 130);
    assert!(dir.path("out.checkpoint").exists());
    let length = fs::metadata(dir.path("out")).unwrap().len();
    assert!(length > 0 && (length as usize) < whole.len());
    let refused = dir.run(&out);
    assert!(refused.status == 2 && refused.err.contains("--resume"), "{}", refused.err);
    let other = [&out[..], &["--resume", "--min-overlap", "3"]].concat();
    let refused = dir.run(&other);
    assert!(refused.status == 2 && refused.err.contains("other options"), "{}", refused.err);
    // Output after the last checkpoint is written again.
    let mut file = fs::File::options().append(true).open(dir.path("out")).unwrap();
    file.write_all(b"{\"a\":").unwrap();
    let resumed = dir.run(&[&out[..], &["--resume"]].concat());
    assert_eq!(resumed.status, 0, "{}", resumed.err);
    assert!(fs::read_to_string(dir.path("out")).unwrap() == whole);
    assert!(!dir.path("out.checkpoint").exists());
    assert_eq!(dir.run(&out).status, 2);
}

#[test]
fn a_table_of_pairs_that_is_resumed_has_its_columns_once() {
    let dir = versions();
    let whole = dir.run(&["pairs", "idx", "--format", "csv"]).out;
    assert!(whole.starts_with("a,index_a,b,") && whole.lines().count() > 2, "{whole}");
    // Stops before the first pair, and after some pairs.
    for (name, point) in
        [("a.csv", "document:1"), ("b.csv.gz", "document:2"), ("c.csv", "document:3")]
    {
        let args = ["pairs", "idx", "--format", "csv", "--threads", "1", "--out", name];
        assert_eq!(dir.paused(point, &args).interrupt(), 130);
        assert_eq!(dir.run(&[&args[..], &["--resume"]].concat()).status, 0);
        let written = fs::read(dir.path(name)).unwrap();
        let mut text = String::new();
        match name.ends_with(".gz") {
            true => MultiGzDecoder::new(&*written).read_to_string(&mut text).map(drop).unwrap(),
            false => text = String::from_utf8(written).unwrap(),
        }
        assert_eq!(text, whole, "{name}");
    }
    let none = ["pairs", "idx", "--min-overlap", "100000", "--format", "tsv", "--out", "none.tsv"];
    assert_eq!(dir.run(&none).status, 1);
    let none = fs::read_to_string(dir.path("none.tsv")).unwrap();
    assert!(none.starts_with("a\tindex_a\tb\t") && none.lines().count() == 1, "{none}");
    for (name, format, expected) in [
        ("x.csv", "json", "promises a table with commas; add --format csv"),
        ("x.jsonl", "tsv", "promises JSON lines; add --format json"),
        ("x.tsv.zst", "csv", "promises a table with tabs; add --format tsv"),
    ] {
        let run = dir.run(&["pairs", "idx", "--format", format, "--out", name]);
        assert!(run.status == 2 && run.err.contains(expected), "{}", run.err);
        assert!(!dir.path(name).exists(), "{name}");
    }
}

#[test]
fn pairs_of_indexes_are_written_as_a_network() {
    let dir = versions();
    let pairs = jsons(&dir.run(&["pairs", "idx", "--format", "json"]).out);
    for (name, edge) in [("n.graphml", "<edge "), ("n.dot", " -- ")] {
        let run = dir.run(&["pairs", "idx", "--graph", name]);
        assert_eq!(run.status, 0, "{}", run.err);
        let network = fs::read_to_string(dir.path(name)).unwrap();
        assert_eq!(network.matches(edge).count(), pairs.len(), "{name}: {network}");
    }
    // The network has all pairs, whatever the terminal shows.
    assert_eq!(dir.run(&["pairs", "idx", "-n", "1", "--graph", "best.graphml"]).status, 0);
    let best = fs::read_to_string(dir.path("best.graphml")).unwrap();
    assert_eq!(best.matches("<edge ").count(), pairs.len(), "{best}");
    // Documents of two indexes are two nodes, also with the same id.
    assert_eq!(dir.run(&["pairs", "idx", "--against", "idx", "--graph", "both.dot"]).status, 0);
    let both = fs::read_to_string(dir.path("both.dot")).unwrap();
    assert!(both.contains("a1 in idx") && both.contains("\"a1\""), "{both}");
    for (args, expected) in [
        (["--graph", "n.svg", "--format", "json"], ".graphml"),
        (["--graph", "n.graphml", "--out", "out"], "cannot be used with"),
    ] {
        let run = dir.run(&[&["pairs", "idx"], &args[..]].concat());
        assert!(run.status == 2 && run.err.contains(expected), "{}", run.err);
    }
}

#[test]
fn pairs_of_an_index_are_not_resumed_as_pairs_against_itself() {
    // Indexes and options are equal, but the second run writes every pair in either direction.
    let dir = versions();
    let args = ["pairs", "idx", "--format", "json", "--out", "out"];
    assert_eq!(dir.paused("document:2", &args).interrupt(), 130);
    let written = fs::read(dir.path("out")).unwrap();
    let other = [&args[..], &["--against", "idx", "--resume"]].concat();
    let refused = dir.run(&other);
    assert!(refused.status == 2 && refused.err.contains("other options"), "{}", refused.err);
    assert!(fs::read(dir.path("out")).unwrap() == written);
    assert_eq!(dir.run(&[&args[..], &["--resume"]].concat()).status, 0);
}

#[test]
fn pairs_that_were_cut_off_before_their_first_checkpoint_begin_again() {
    // A kill between the creation of the output and its first checkpoint leaves an empty file.
    let dir = versions();
    let args = ["pairs", "idx", "--format", "json", "--out", "out"];
    assert_eq!(dir.run(&args).status, 0);
    let whole = fs::read(dir.path("out")).unwrap();
    let resumed = [&args[..], &["--resume"]].concat();
    for again in [&args[..], &resumed] {
        fs::write(dir.path("out"), "").unwrap();
        let run = dir.run(again);
        assert_eq!(run.status, 0, "{}", run.err);
        assert!(fs::read(dir.path("out")).unwrap() == whole);
        assert!(!dir.path("out.checkpoint").exists());
        // A complete output is neither overwritten nor continued.
        assert_eq!(dir.run(again).status, 2);
        assert!(fs::read(dir.path("out")).unwrap() == whole);
    }
    fs::remove_file(dir.path("out")).unwrap();
    assert_eq!(dir.run(&resumed).status, 0);
    assert!(fs::read(dir.path("out")).unwrap() == whole);
}

#[test]
fn pairs_that_cannot_be_written_are_reported_with_the_file() {
    let dir = Dir::new();
    let line_of =
        |i| line(&format!("d{i}"), &format!("{} {}", words(1, 60), words(i, 20)), json!({}));
    dir.write("corpus.jsonl", (0..40u64).map(line_of).collect::<String>());
    dir.json(&["add", "idx", "corpus.jsonl"]);
    // The checkpoint finds room below the limit on the size of files, the pairs do not.
    let cento = env!("CARGO_BIN_EXE_cento");
    let script = format!("trap '' XFSZ; ulimit -f 1; exec {cento} pairs idx --out out");
    let run = Command::new("sh").args(["-c", &script]).current_dir(dir.path(".")).output().unwrap();
    let told = String::from_utf8(run.stderr).unwrap();
    assert!(run.status.code() == Some(2) && told.contains("write out:"), "{told}");
}

#[test]
fn clusters_have_no_chains() {
    let dir = versions();
    let clusters = |args: &[&str]| {
        let run = dir.run(
            &[&["cluster", "idx", "--min-resemblance", "0.3", "--format", "json"], args].concat(),
        );
        jsons(&run.out)
    };
    let members = |cluster: &Value| -> Vec<String> {
        let members = cluster["members"].as_array().unwrap().iter();
        members.map(|member| member["id"].as_str().unwrap().to_owned()).collect()
    };
    let star = clusters(&[]);
    let member = &star[0]["members"][0];
    let pairs = jsons(&dir.run(&["pairs", "idx", "--format", "json"]).out);
    let pair = pairs.iter().find(|pair| pair["a"] == "a1" && pair["b"] == "a2").unwrap();
    assert!(member["exact"] == true && pair["exact"] == true, "{member}");
    assert_eq!(member["resemblance"], pair["resemblance"]);
    assert_eq!((star.len(), &star[0]["representative"]), (1, &json!("a1")));
    assert_eq!(members(&star[0]), ["a2"]);
    let single = clusters(&["--linkage", "single"]);
    assert_eq!((single.len(), members(&single[0])), (1, vec!["a2".into(), "a3".into()]));
    // The middle of the chain resembles both ends.
    let dated = clusters(&["--prefer", "date"]);
    assert_eq!((&dated[0]["representative"], &dated[0]["size"]), (&json!("a2"), &json!(3)));
    assert_eq!(clusters(&["--prefer", "-date"])[0]["representative"], "a1");
    for prefer in ["dat", "-dat"] {
        let run = dir.run(&["cluster", "idx", "--prefer", prefer]);
        assert_eq!((run.status, &*run.out), (2, ""), "{prefer}");
        let said =
            "no document has the field `dat` (did you mean `date`?); the fields there are `date`";
        assert!(run.err.contains(said), "{}", run.err);
    }
    assert_eq!(clusters(&["--prefer", "longest"])[0]["representative"], "a1");
    // Large numbers are distinguished.
    let stamped =
        [("p", 20_240_131_123_059u64), ("q", 20_200_101_000_000), ("r", 20_220_101_000_000)];
    let stamped = stamped.map(|(id, ts)| line(id, &words(8, 50), json!({ "ts": ts })));
    dir.write("stamped.jsonl", stamped.concat());
    dir.json(&["add", "stamped", "stamped.jsonl"]);
    for (prefer, expected) in [("ts", "q"), ("-ts", "p"), ("oldest", "p")] {
        let run = dir.run(&["cluster", "stamped", "--prefer", prefer, "--format", "json"]);
        assert_eq!(jsons(&run.out)[0]["representative"], expected, "{prefer}");
    }
    assert!(clusters(&["--min-size", "3"]).is_empty());
    let human = dir.run(&["cluster", "idx", "--min-resemblance", "0.3"]);
    assert!(human.out.starts_with("1: 2 documents like a1"), "{}", human.out);
}

#[test]
fn copies_with_only_stop_fingerprints_are_found_and_stopping_is_reported() {
    // Of more copies than --max-df, `pairs` found 0 pairs and `cluster` 0 clusters, without a word.
    let dir = Dir::new();
    let copies = (0..12).map(|at| line(&format!("copy{at:02}"), &words(1, 8), json!({})));
    let others = ["one", "two"].map(|id| line(id, &words(2, 100), json!({})));
    dir.write("corpus.jsonl", copies.chain(others).collect::<String>());
    dir.json(&["add", "idx", "corpus.jsonl"]);
    let told = "in more than 5 documents each (--max-df); 12 documents have no others: of these \
                only exact copies are found";
    let run = |verb: &str, more: &[&str]| {
        let verb_words: Vec<&str> = verb.split(' ').collect();
        let run = dir.run(&[&verb_words[..], &["idx", "--max-df", "5"], more].concat());
        assert_eq!(run.status, 0, "{}", run.err);
        assert!(
            run.err.contains(told) || run.out.contains(told),
            "{verb}: {} {}",
            run.err,
            run.out
        );
        run
    };
    let pairs = jsons(&run("pairs", &["--format", "json"]).out);
    assert_eq!(pairs.len(), 12);
    let mut beside = ids(&pairs);
    assert_eq!(beside.pop().unwrap(), "one two");
    let expected: Vec<String> = (1..12).map(|at| format!("copy00 copy{at:02}")).collect();
    assert_eq!(beside, expected);
    assert!(pairs.iter().all(|pair| pair["resemblance"] == 1.0));
    let clusters = jsons(&run("cluster", &["--format", "json"]).out);
    assert_eq!(clusters.iter().map(|found| &found["size"]).collect::<Vec<_>>(), [12, 2]);
    assert_eq!(clusters[0]["representative"], "copy00");
    let ranked = run("pairs", &["--rank", "weight", "--limit", "20", "--passages"]);
    assert!(ranked.err.contains("12 pairs of 14 documents"), "{}", ranked.err);
    run("method analyze", &[]);
    let statistics = dir.json(&["method", "analyze", "idx", "--max-df", "5"]);
    assert_eq!(
        (&statistics["total"]["pairs"], &statistics["total"]["documents"]),
        (&json!(12), &json!(14))
    );
    assert_eq!(
        (&statistics["stopped"]["max_df"], &statistics["stopped"]["documents"]),
        (&json!(5), &json!(12))
    );
    // Without `--max-df`, no fingerprint is ignored, and the run finds every pair.
    let all = dir.run(&["pairs", "idx"]);
    assert!(all.err.contains("67 pairs") && !all.err.contains("stopped"), "{}", all.err);
}

#[test]
fn boilerplate_is_subtracted() {
    let dir = Dir::new();
    let license = words(1, 300);
    let with = |text: String| format!("{license} {text}");
    let documents = [
        line("a", &with(words(2, 60)), json!({})),
        line("b", &with(words(3, 60)), json!({})),
        line("c", &with(words(2, 60)), json!({})),
    ];
    dir.write("corpus.jsonl", documents.concat());
    dir.write("licence.txt", &license);
    dir.json(&["add", "idx", "corpus.jsonl"]);
    dir.json(&["add", "licences", "licence.txt"]);
    let args = ["pairs", "idx", "--format", "json", "--min-resemblance", "0.5"];
    assert_eq!(jsons(&dir.run(&args).out).len(), 3);
    for boilerplate in ["licence.txt", "licences"] {
        let pairs = jsons(&dir.run(&[&args[..], &["-b", boilerplate]].concat()).out);
        assert_eq!(ids(&pairs), ["a c"]);
        let answer = dir.json(&["search", "idx", "--text", &with(words(3, 60)), "-b", boilerplate]);
        assert_eq!(
            (&answer["hits"][0]["id"], &answer["hits"][0]["containment_of_a"]),
            (&json!("b"), &json!(1.0))
        );
        assert!(answer["hits"][1]["overlap"].as_u64().unwrap_or(0) <= 2);
    }
    let none = dir.run(&["search", "idx", "--text", &license, "-b", "licence.txt"]);
    assert_eq!(none.status, 1);
    assert_eq!(dir.run(&["pairs", "idx", "-b", "missing"]).status, 2);
}

#[test]
fn repeated_passages_of_a_collection_are_reported() {
    let dir = Dir::new();
    let (notice, other) = (words(1, 60), words(2, 30));
    let documents = (0..12u64).map(|i| {
        let text = match i % 3 {
            0 => format!("{} {notice}", words(10 + i, 100)),
            1 => format!("{other} {} {notice}", words(10 + i, 100)),
            _ => words(10 + i, 100),
        };
        line(&format!("d{i:02}"), &text, json!({}))
    });
    dir.write("corpus.jsonl", documents.collect::<String>());
    dir.write("copy.jsonl", line("copy", &format!("{} {notice}", words(10, 100)), json!({})));
    dir.json(&["add", "idx", "corpus.jsonl", "copy.jsonl"]);
    let shown = ["method", "boilerplate", "idx", "--min-share", "0.6", "--format", "json"];
    let run = dir.run(&shown);
    // The second notice is in four documents, which is too few. The copy does not count as a
    // document.
    let passages = jsons(&run.out);
    assert_eq!(passages.len(), 1);
    assert_eq!((&passages[0]["documents"], &passages[0]["of_documents"]), (&json!(8), &json!(12)));
    assert_eq!(passages[0]["text"], json!(notice));
    let human = dir.run(&["method", "boilerplate", "idx", "--min-share", "0.6"]);
    assert!(human.out.contains("in 8 of 12 documents"), "{}", human.out);
    let none = dir.run(&["method", "boilerplate", "idx"]);
    let said = "no passage is in 9 of 12 different documents; --min-share lowers the share\n";
    assert_eq!((none.status, &*none.out, &*none.err), (1, "", said));
    // Further verbs accept the output as boilerplate, with the same effect as `-b auto`.
    let pairs = |more: &[&str]| {
        let least = ["pairs", "idx", "--min-containment", "0.25", "--format", "json"];
        let run = dir.run(&[&least, more].concat());
        jsons(&run.out).iter().map(|pair| [&pair["a"], &pair["b"]].map(Value::to_string)).collect()
    };
    let all: Vec<[String; 2]> = pairs(&[]);
    assert!(all.len() > 30, "{all:?}");
    let copies = [["\"d00\"".to_owned(), "\"copy\"".to_owned()]];
    dir.write("passages.jsonl", &run.out);
    dir.write("passages.txt", &human.out);
    for name in ["passages.jsonl", "passages.txt", "auto:0.6"] {
        let without = pairs(&["-b", name]);
        assert_eq!(without, copies, "{name}");
    }
    let limited = dir.run(&["method", "boilerplate", "idx", "--min-share", "0.6", "--limit", "0"]);
    let said = "0 of 1 passages shown; --limit 1 shows all\n";
    assert_eq!((limited.status, &*limited.out, &*limited.err), (0, "", said));
    assert_eq!(dir.run(&["method", "boilerplate", "idx", "--min-share", "0"]).status, 2);
    let statistics = dir.json(&["method", "analyze", "idx"]);
    assert_eq!(
        (&statistics["documents"], &statistics["total"]["documents"]),
        (&json!(13), &json!(9))
    );
    let row = |at: usize| statistics["categories"][at].clone();
    assert_eq!((&row(0)["category"], &row(0)["pairs"]), (&json!("C1"), &json!(1)));
    assert_eq!(row(0)["patterns"], json!([["exact_alias", 1]]));
    let pairs: u64 = (0..6).map(|at| row(at)["pairs"].as_u64().unwrap()).sum();
    assert_eq!(statistics["total"]["pairs"], pairs);
    assert_eq!(statistics["total"]["siblings"], 2.0 * pairs as f64 / 9.0);
    assert!(dir.run(&["method", "analyze", "idx"]).out.contains("siblings"));
    assert_eq!(statistics["estimated"], false);
    dir.json(&["add", "bare", "corpus.jsonl", "--no-text"]);
    assert_eq!(dir.json(&["method", "analyze", "bare"])["total"]["patterns"], json!([]));
}

#[test]
fn the_categories_of_a_collection_are_those_of_its_pairs() {
    // Regression: the shares were estimated from fingerprints, while `pairs` measures the texts.
    let dir = Dir::new();
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/samples/articles.jsonl");
    for (index, more, is_estimated) in [("idx", &[][..], false), ("bare", &["--no-text"], true)] {
        dir.json(&[&["add", index, samples], more].concat());
        let pairs = jsons(&dir.run(&["pairs", index, "--format", "json"]).out);
        let statistics = dir.json(&["method", "analyze", index]);
        for row in statistics["categories"].as_array().unwrap() {
            let of = |pair: &&Value| pair["category"] == row["category"];
            assert_eq!(row["pairs"], pairs.iter().filter(of).count(), "{index}: {row}");
        }
        assert!(statistics["total"]["pairs"].as_u64() > Some(2), "{statistics}");
        assert_eq!(statistics["categories_estimated"], is_estimated);
        let human = dir.run(&["method", "analyze", index]).out;
        assert_eq!(human.contains("Categories are estimates"), is_estimated, "{human}");
    }
}

#[test]
fn the_least_overlap_is_the_only_threshold_if_it_is_given() {
    // Regression: the default minimum containment of 0.1 still applied and dropped the pair.
    let dir = Dir::new();
    let (shared, text) = (words(1, 20), |seed| words(seed, 600));
    let lines = [("a", text(2)), ("b", text(3))]
        .map(|(id, text)| line(id, &format!("{text} {shared}"), json!({})));
    dir.write("in.jsonl", lines.concat());
    dir.json(&["add", "idx", "in.jsonl"]);
    assert_eq!(dir.run(&["pairs", "idx"]).status, 1, "less than a tenth");
    assert_eq!(dir.run(&["cluster", "idx"]).status, 1, "less than a half");
    let run = dir.run(&["pairs", "idx", "--min-overlap", "2"]);
    assert_eq!((run.status, run.out.lines().count()), (0, 1));
    assert!(run.err.contains("1 pair of 2 documents"), "{}", run.err);
    let run = dir.run(&["cluster", "idx", "--min-overlap", "2"]);
    assert!(run.status == 0 && run.err.contains("1 cluster of 2 of 2 documents"), "{}", run.err);
    assert_eq!(dir.run(&["pairs", "idx", "--min-overlap", "100"]).status, 1);
    let run = dir.run(&["compact", "idx"]);
    assert!(run.err.contains("nothing to do: the index has 1 segment\n"), "{}", run.err);
}
