//! The real binary: pairs, clusters, the pairwise test, boilerplate, reports.

use std::fs;
use std::io::Write;
use std::process::Command;

use crate::common::run::{Dir, line};
use crate::common::{words, zip};
use serde_json::{Value, json};

fn jsons(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Versions `a1` to `a3` of one text, of which the last ones have little in common, `b` with a
/// passage of it, `c` with nothing.
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

fn ids(pairs: &[Value]) -> Vec<String> {
    let id = |pair: &Value, side: &str| pair[side].as_str().unwrap().to_owned();
    pairs.iter().map(|pair| format!("{} {}", id(pair, "a"), id(pair, "b"))).collect()
}

#[test]
fn pairs_have_categories_and_passages() {
    let dir = versions();
    let pairs = |args: &[&str]| {
        jsons(&dir.run(&[&["pairs", "idx", "--format", "json"], args].concat()).out)
    };
    let all = pairs(&[]);
    assert_eq!(ids(&all), ["a1 a2", "a1 a3", "a1 b", "a2 a3", "a2 b"]);
    assert_eq!(all[0]["category"], "C4");
    assert!(all[2]["containment_of_b"].as_f64().unwrap() < 0.2);
    assert!(all.iter().all(|pair| pair.get("passages").is_none()));
    let close = pairs(&["--min-containment", "0.5", "--passages"]);
    assert_eq!(ids(&close), ["a1 a2", "a2 a3"]);
    let passage = &close[0]["passages"][0];
    let tokens = passage["tokens"].as_u64().unwrap();
    let long = pairs(&["--min-passage", &tokens.to_string()]);
    assert!(ids(&long).contains(&"a1 a2".to_owned()), "{long:?}");
    let shorter = |pair: &Value| {
        let passages = pair["passages"].as_array().unwrap();
        passages.is_empty() || passages.iter().any(|p| p["tokens"].as_u64().unwrap() < tokens)
    };
    assert!(!long.iter().any(shorter) && long.len() < all.len(), "{long:?}");
    assert_eq!(dir.run(&["pairs", "idx", "--min-passage", "1000"]).status, 1);
    let text = words(1, 200);
    let start = text.split(' ').take(40).map(|word| word.len() + 1).sum::<usize>();
    assert_eq!((&passage["a"][0], &passage["b"][0]), (&json!(start), &json!(0)));
    assert_eq!(ids(&pairs(&["--within", "s"])), ["a1 a2"]);
    assert_eq!(ids(&pairs(&["--across", "s", "--min-overlap", "8"])), ["a1 a3", "a2 a3"]);
    assert_eq!(dir.run(&["pairs", "idx", "--min-resemblance", "0.99"]).status, 1);
    for pair in pairs(&["--min-resemblance", "0.01"]) {
        let number = |name: &str| pair[name].as_f64().unwrap();
        assert!(number("resemblance") >= 0.01 && pair["exact"] == true, "{pair}");
        assert!(number("containment_of_a") >= number("resemblance"), "{pair}");
    }
    assert_eq!(dir.run(&["pairs", "idx", "--min-resemblance", "0.999"]).status, 1);
    // Another index.
    dir.write("d.jsonl", line("d", &words(5, 100), json!({})));
    dir.json(&["add", "other", "d.jsonl"]);
    let across = dir.run(&["pairs", "idx", "--against", "other", "--format", "json"]);
    assert_eq!(ids(&jsons(&across.out)), ["c d"]);
    dir.json(&["add", "bare", "corpus.jsonl", "--no-text"]);
    let refused = dir.run(&["pairs", "bare", "--min-passage", "20"]);
    assert!(refused.status == 2 && refused.err.contains("stores none"), "{}", refused.err);
    let refused = dir.run(&["pairs", "bare", "--passages"]);
    assert!(refused.status == 2 && refused.err.contains("stores none"), "{}", refused.err);
}

#[test]
fn pairs_and_clusters_are_weighed_and_pairs_ranked() {
    let dir = versions();
    let pairs = |args: &[&str]| {
        jsons(&dir.run(&[&["pairs", "idx", "--format", "json"], args].concat()).out)
    };
    let number = |pair: &Value, of: &str| pair.pointer(of).unwrap().as_f64().unwrap();
    let descends = |pairs: &[Value], of: &str| {
        pairs.is_sorted_by(|one, other| number(one, of) >= number(other, of))
    };
    let ids_of = |pairs: &[Value]| {
        let mut ids = ids(pairs);
        ids.sort();
        ids
    };
    let plain = pairs(&[]);
    assert!(plain.iter().all(|pair| pair.get("weighted").is_none()));
    let by_weight = pairs(&["--rank", "weight"]);
    assert!(descends(&by_weight, "/weighted/resemblance"), "{by_weight:?}");
    assert_eq!(ids_of(&by_weight), ids_of(&plain));
    assert_ne!(ids(&by_weight), ids(&plain));
    // Thresholds of weights are the only ones, as others are.
    let least = number(&by_weight[1], "/weighted/resemblance");
    let heavy = pairs(&["--min-weighted-resemblance", &least.to_string()]);
    assert_eq!(ids_of(&heavy), ids_of(&by_weight[..2]));
    let contained = pairs(&["--min-weighted-containment", "0.5"]);
    let containment = |pair: &Value| {
        number(pair, "/weighted/containment_of_a").max(number(pair, "/weighted/containment_of_b"))
    };
    let expected: Vec<Value> =
        by_weight.iter().filter(|pair| containment(pair) >= 0.5).cloned().collect();
    assert!(!expected.is_empty() && expected.len() < plain.len(), "{by_weight:?}");
    assert_eq!(ids_of(&contained), ids_of(&expected));
    let most = pairs(&["--rank", "overlap", "--limit", "2"]);
    // The last line says that there are more.
    assert!(most.len() == 3 && descends(&most[..2], "/overlap"), "{most:?}");
    let by_passages = pairs(&["--rank", "passages"]);
    assert!(descends(&by_passages, "/passage_tokens"), "{by_passages:?}");
    assert!(by_passages.iter().all(|pair| pair.get("passages").is_none()));
    let shown = pairs(&["--rank", "passages", "--passages", "-n", "1"]);
    assert_eq!(shown[0]["passage_tokens"], by_passages[0]["passage_tokens"]);
    assert_eq!(shown[0]["passage_tokens"], shown[0]["passages"][0]["tokens"]);
    let human = dir.run(&["pairs", "idx", "--rank", "weight"]);
    assert_eq!(human.out.matches(" weighted\n").count(), plain.len());
    assert!(human.err.contains("5 pairs of 5 documents"), "{}", human.err);
    for wrong in [&["-n", "1"][..], &["--rank", "weight", "--out", "out"]] {
        assert_eq!(dir.run(&[&["pairs", "idx"], wrong].concat()).status, 2);
    }
    let clusters = |args: &[&str]| {
        jsons(&dir.run(&[&["cluster", "idx", "--format", "json"], args].concat()).out)
    };
    let member = &clusters(&["--min-weighted-resemblance", "0.05"])[0]["members"][0];
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
    assert_eq!(dir.paused("document:300", &out).interrupt(), 2);
    assert!(dir.path("out.checkpoint").exists());
    let length = fs::metadata(dir.path("out")).unwrap().len();
    assert!(length > 0 && (length as usize) < whole.len());
    let refused = dir.run(&out);
    assert!(refused.status == 2 && refused.err.contains("--resume"), "{}", refused.err);
    let other = [&out[..], &["--resume", "--min-overlap", "3"]].concat();
    let refused = dir.run(&other);
    assert!(refused.status == 2 && refused.err.contains("other options"), "{}", refused.err);
    // What was written after the last checkpoint is written again.
    let mut file = fs::File::options().append(true).open(dir.path("out")).unwrap();
    file.write_all(b"{\"a\":").unwrap();
    let resumed = dir.run(&[&out[..], &["--resume"]].concat());
    assert_eq!(resumed.status, 0, "{}", resumed.err);
    assert!(fs::read_to_string(dir.path("out")).unwrap() == whole);
    assert!(!dir.path("out.checkpoint").exists());
    assert_eq!(dir.run(&out).status, 2);
}

#[test]
fn pairs_of_an_index_are_not_resumed_as_pairs_against_itself() {
    // Both runs have the same indexes and options, but the second writes each pair from both sides.
    let dir = versions();
    let args = ["pairs", "idx", "--format", "json", "--out", "out"];
    assert_eq!(dir.paused("document:2", &args).interrupt(), 2);
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
        // What was written to the end is neither overwritten nor gone on with.
        assert_eq!(dir.run(again).status, 2);
        assert!(fs::read(dir.path("out")).unwrap() == whole);
    }
    fs::remove_file(dir.path("out")).unwrap();
    assert_eq!(dir.run(&resumed).status, 0);
    assert!(fs::read(dir.path("out")).unwrap() == whole);
}

#[test]
fn pairs_that_cannot_be_written_are_told_with_the_file() {
    let dir = Dir::new();
    let line_of =
        |i| line(&format!("d{i}"), &format!("{} {}", words(1, 60), words(i, 20)), json!({}));
    dir.write("corpus.jsonl", (0..40u64).map(line_of).collect::<String>());
    dir.json(&["add", "idx", "corpus.jsonl"]);
    // The checkpoint finds room below the limit on the size of files, the pairs do not.
    let cento = env!("CARGO_BIN_EXE_cento");
    let script = format!("trap '' XFSZ; ulimit -f 1; exec {cento} pairs idx --out out");
    let run =
        Command::new("sh").args(["-c", &script]).current_dir(dir.dir.path()).output().unwrap();
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
    // In the middle of the chain is the one that is like both.
    let dated = clusters(&["--prefer", "date"]);
    assert_eq!((&dated[0]["representative"], &dated[0]["size"]), (&json!("a2"), &json!(3)));
    assert_eq!(clusters(&["--prefer", "-date"])[0]["representative"], "a1");
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
fn copies_of_which_every_fingerprint_is_stopped_are_found_and_what_was_stopped_is_told() {
    // Of more copies than --max-df, `pairs` found 0 pairs and `cluster` 0 clusters, without a word.
    let dir = Dir::new();
    let copies = (0..12).map(|at| line(&format!("copy{at:02}"), &words(1, 8), json!({})));
    let others = ["one", "two"].map(|id| line(id, &words(2, 100), json!({})));
    dir.write("corpus.jsonl", copies.chain(others).collect::<String>());
    dir.json(&["add", "idx", "corpus.jsonl"]);
    let told = "in more than 5 documents each (--max-df); 12 documents have no others: of these only \
                exact copies are found";
    let run = |verb: &str, more: &[&str]| {
        let run = dir.run(&[&[verb, "idx", "--max-df", "5"], more].concat());
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
    run("analyze", &[]);
    let statistics = dir.json(&["analyze", "idx", "--max-df", "5"]);
    assert_eq!(
        (&statistics["total"]["pairs"], &statistics["total"]["documents"]),
        (&json!(12), &json!(14))
    );
    assert_eq!(
        (&statistics["stopped"]["max_df"], &statistics["stopped"]["documents"]),
        (&json!(5), &json!(12))
    );
    // Nothing is told if nothing is stopped, and then all pairs are found.
    let all = dir.run(&["pairs", "idx"]);
    assert!(all.err.contains("67 pairs") && !all.err.contains("stopped"), "{}", all.err);
}

#[test]
fn boilerplate_is_subtracted() {
    let dir = Dir::new();
    let licence = words(1, 300);
    let with = |text: String| format!("{licence} {text}");
    let documents = [
        line("a", &with(words(2, 60)), json!({})),
        line("b", &with(words(3, 60)), json!({})),
        line("c", &with(words(2, 60)), json!({})),
    ];
    dir.write("corpus.jsonl", documents.concat());
    dir.write("licence.txt", &licence);
    dir.json(&["add", "idx", "corpus.jsonl"]);
    dir.json(&["add", "licences", "licence.txt"]);
    let args = ["pairs", "idx", "--format", "json", "--min-resemblance", "0.5"];
    assert_eq!(jsons(&dir.run(&args).out).len(), 3);
    for boilerplate in ["licence.txt", "licences"] {
        let pairs = jsons(&dir.run(&[&args[..], &["-b", boilerplate]].concat()).out);
        assert_eq!(ids(&pairs), ["a c"]);
        let answer = dir.json(&["search", "idx", "--text", &with(words(3, 60)), "-b", boilerplate]);
        assert_eq!(
            (&answer["hits"][0]["id"], &answer["hits"][0]["containment_of_query"]),
            (&json!("b"), &json!(1.0))
        );
        assert!(answer["hits"][1]["overlap"].as_u64().unwrap_or(0) <= 2);
    }
    let none = dir.run(&["search", "idx", "--text", &licence, "-b", "licence.txt"]);
    assert_eq!(none.status, 1);
    assert_eq!(dir.run(&["pairs", "idx", "-b", "missing"]).status, 2);
}

#[test]
fn what_a_collection_repeats_is_told() {
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
    let run = dir.run(&["boilerplate", "idx", "--limit", "5", "--format", "json"]);
    let passages = jsons(&run.out);
    assert_eq!(passages.len(), 2);
    assert_eq!((&passages[0]["documents"], &passages[1]["documents"]), (&json!(9), &json!(4)));
    let text = passages[0]["text"].as_str().unwrap();
    assert!(notice.contains(text) && text.split(' ').count() > 40, "{text}");
    let human = dir.run(&["boilerplate", "idx"]);
    assert!(human.out.contains("in 9 documents"), "{}", human.out);
    // What it writes is boilerplate for other verbs.
    let pairs = |more: &[&str]| {
        let least = ["pairs", "idx", "--min-containment", "0.25", "--format", "json"];
        let run = dir.run(&[&least, more].concat());
        jsons(&run.out).iter().map(|pair| [&pair["a"], &pair["b"]].map(Value::to_string)).collect()
    };
    let all: Vec<[String; 2]> = pairs(&[]);
    assert!(all.len() > 30, "{all:?}");
    let copies = [["\"d00\"".to_owned(), "\"copy\"".to_owned()]];
    for (name, written) in [("passages.jsonl", &run.out), ("passages.txt", &human.out)] {
        dir.write(name, written);
        let without = pairs(&["-b", name]);
        assert_eq!(without, copies, "{name}");
    }
    let none = dir.run(&["boilerplate", "idx", "--limit", "0"]);
    assert_eq!((none.status, &none.out[..]), (1, ""));
    let statistics = dir.json(&["analyze", "idx"]);
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
    assert!(dir.run(&["analyze", "idx"]).out.contains("siblings"));
    dir.json(&["add", "bare", "corpus.jsonl", "--no-text"]);
    assert_eq!(dir.json(&["analyze", "bare"])["total"]["patterns"], json!([]));
}

/// The bytes of a tar archive of these files.
fn tar(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, name, text.as_bytes()).unwrap();
    }
    archive.into_inner().unwrap()
}

#[test]
fn archives_and_directories_are_compared_pairwise() {
    let dir = Dir::new();
    let (one, two) = (words(1, 100), format!("{} {}", words(1, 80), words(2, 20)));
    let three = words(3, 100);
    let files = [
        ("x/one.txt", &one[..]),
        ("x/two.txt", &two),
        ("x/three.txt", &three),
        ("x/.hidden", &one),
    ];
    files.iter().for_each(|(name, text)| dir.write(&format!("dir/{name}"), text));
    dir.write("files.tar", tar(&files));
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gz.write_all(&tar(&files)).unwrap();
    dir.write("files.tgz", gz.finish().unwrap());
    dir.write("files.zip", zip(&files.map(|(name, text)| (name, text.as_bytes()))));
    for path in ["dir", "files.tar", "files.tgz", "files.zip"] {
        let run = dir.run(&["pairwise", path, "--format", "json"]);
        assert_eq!(run.status, 0, "{path}: {}", run.err);
        let mut pairs = jsons(&run.out);
        let end = pairs.pop().unwrap();
        let hidden = json!({
            "name": format!("{path}/x/.hidden"),
            "files": 1,
            "reason": "it is hidden; --all reads it",
        });
        assert_eq!(end["left_out"], json!([hidden]), "{end}");
        assert_eq!(ids(&pairs), [format!("{path}/x/one.txt {path}/x/two.txt")]);
        let similarity = pairs[0]["symmetric"].as_f64().unwrap();
        assert!((0.6..0.9).contains(&similarity), "{similarity}");
        let long = dir.run(&["pairwise", path, "--min-passage", "80", "--format", "json"]);
        assert_eq!(jsons(&long.out)[0]["passages"][0]["tokens"], 80);
        let human = dir.run(&["pairwise", path, "--min-passage", "80"]).out;
        assert!(human.contains("80 tokens"), "{human}");
        assert_eq!(dir.run(&["pairwise", path, "--min-passage", "81"]).status, 1);
        let resemblance = pairs[0]["resemblance"].to_string();
        for (least, status) in [(&resemblance[..], 0), ("1", 1)] {
            let run = dir.run(&["pairwise", path, "--min-resemblance", least]);
            assert_eq!(run.status, status, "{least}: {}", run.err);
        }
    }
    dir.json(&["add", "idx", "files.zip", "files.tar"]);
    assert_eq!(dir.json(&["stats", "idx", "--quick"])["documents"], 6);
    // Long names and odd ones; a name that does not end is refused before it fills the memory.
    let long = format!("{}/x.txt", "long".repeat(60));
    dir.write("long.tar", tar(&[(&long, &one), ("d/./e.txt", &two)]));
    dir.json(&["add", "long", "long.tar"]);
    let answer = dir.json(&["search", "long", "--text", &one]);
    assert_eq!(answer["hits"][0]["id"], format!("long.tar/{long}"));
    assert_eq!(answer["hits"].as_array().unwrap().len(), 2);
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::GNULongName);
    header.set_size(64 << 20);
    header.set_cksum();
    let mut bomb = header.as_bytes().to_vec();
    bomb.resize(bomb.len() + (64 << 20), b'n');
    dir.write("bomb.tar", bomb);
    let run = dir.run(&["add", "bomb", "bomb.tar"]);
    assert!(run.err.contains("bomb.tar: it is cut short") && run.err.len() < 500, "{}", run.err);
    let tar = fs::read(dir.path("files.tar")).unwrap();
    dir.write("cut.tar", &tar[..700]);
    dir.write("cut.zip", &fs::read(dir.path("files.zip")).unwrap()[..200]);
    for path in ["cut.tar", "cut.zip"] {
        let run = dir.run(&["add", "cut", path]);
        assert!(run.err.contains(path), "{}", run.err);
    }
    assert_eq!(dir.run(&["pairwise", "dir/x/one.txt"]).status, 2);
}

#[test]
fn the_least_overlap_is_the_only_threshold_if_it_is_given() {
    // A tenth of containment applied all the same, and the pair was missing.
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

/// A program of Java whose variables have this name.
fn java(name: &str) -> String {
    let body: String = (0..9)
        .map(|i| match i % 3 {
            0 => format!(
                "for (int {name}{i} = 0; {name}{i} < {i}; {name}{i}++) total += {name}{i};\n"
            ),
            1 => format!("if (total > {i}) {{ System.out.println(total); }} else {{ total--; }}\n"),
            _ => {
                format!("String {name}{i} = String.valueOf(total); total += {name}{i}.length();\n")
            }
        })
        .collect();
    format!("class Main {{ int run(int total) {{\n{body}return total;\n}} }}\n")
}

#[test]
fn directories_are_compared_as_submissions() {
    let dir = Dir::new();
    let template = "class Template { void given() { int a = 1; int b = 2; int c = a * b; } }\n";
    let other = "import java.util.*; class Main { Map<String, List<Long>> seen = new TreeMap<>();\n\
                 void take(String key) throws Exception { try { seen.get(key).add(3L); }\n\
                 catch (RuntimeException e) { throw new Exception(key + e); } finally { seen.clear(); } } }";
    for (student, program) in [("ann", java("x")), ("bob", java("yy")), ("cyd", other.into())] {
        dir.write(&format!("in/{student}/src/Main.java"), program);
        dir.write(&format!("in/{student}/Template.java"), template);
    }
    dir.write("template/Template.java", template);
    let run = dir.run(&[
        "pairwise",
        "in",
        "--by",
        "directory",
        "--analyzer",
        "code",
        "--scheme",
        "winnow(k=5,w=4)",
        "--template",
        "template",
        "--min-similarity",
        "0.9",
        "--clusters",
        "--graph",
        "pairs.dot",
        "--format",
        "json",
    ]);
    assert_eq!(run.status, 0, "{}", run.err);
    let lines = jsons(&run.out);
    assert_eq!(lines.len(), 2, "a pair and a cluster: {}", run.out);
    assert_eq!((&lines[0]["a"], &lines[0]["b"]), (&json!("in/ann"), &json!("in/bob")));
    let files = lines[0]["files"].as_array().unwrap();
    assert_eq!(files.len(), 1, "the template does not count: {files:?}");
    assert_eq!(files[0]["a"], "in/ann/src/Main.java");
    assert_eq!(files[0]["b"], "in/bob/src/Main.java");
    assert_eq!(lines[0]["too_short"], false);
    assert!(lines[0]["tokens_a"].as_u64() > lines[0]["fingerprints_a"].as_u64());
    assert_eq!(lines[0].get("margin"), None, "three documents are too few");
    assert_eq!(lines[1], json!({"cluster": 1, "size": 2, "members": ["in/ann", "in/bob"]}));
    let graph = fs::read_to_string(dir.path("pairs.dot")).unwrap();
    assert!(graph.contains("\"in/ann\" -- \"in/bob\""), "{graph}");
    dir.write("lines.jsonl", line("a", "one two", json!({})));
    let run = dir.run(&["pairwise", "lines.jsonl", "--by", "directory"]);
    let told = "lines.jsonl: its documents are in no directories; use --by file";
    assert!(run.status == 2 && run.err.contains(told), "{}", run.err);
}

#[test]
fn a_copy_stands_out_from_its_collection() {
    // Usual solutions that are alike, and another of which there are two.
    let dir = Dir::new();
    let usual = words(1, 150);
    for number in 0..9 {
        dir.write(&format!("in/{number}.txt"), format!("{usual} {}", words(10 + number, 20)));
    }
    let copied = words(2, 200);
    dir.write("in/x.txt", &copied);
    dir.write("in/y.txt", format!("{copied} {}", words(20, 90)));
    let first = |options: &[&str]| -> Value {
        let run = dir.run(&[&["pairwise", "in", "--format", "json"], options].concat());
        jsons(&run.out)[0].clone()
    };
    assert_ne!(first(&[])["a"], "in/x.txt", "the usual solutions are more alike");
    let standing = first(&["--relative"]);
    assert_eq!((&standing["a"], &standing["b"]), (&json!("in/x.txt"), &json!("in/y.txt")));
    let margin = standing["margin"].as_f64().unwrap();
    assert!(margin > 0.5, "{margin}");
    dir.json(&["add", "idx", "in"]);
    let run = dir.run(&["pairs", "idx", "--min-margin", "0.4", "--format", "json"]);
    let pairs = jsons(&run.out);
    assert_eq!(ids(&pairs), ["in/x.txt in/y.txt"]);
    assert_eq!(pairs[0]["margin"], standing["margin"]);
    assert_eq!(pairs[0].get("too_short"), None, "that is said of programs");
    dir.json(&["remove", "idx", "in/0.txt", "in/1.txt", "in/2.txt", "in/3.txt"]);
    let run = dir.run(&["pairs", "idx", "--min-margin", "0.4"]);
    assert!(run.status == 2 && run.err.contains("not as many documents"), "{}", run.err);
}
