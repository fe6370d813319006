//! The real binary: pairs of files, and which arguments are files and which are indexes.

use std::fs;
use std::io::Write;

use serde_json::{Value, json};

use super::cli_join::{ids, jsons};
use crate::common::run::{Dir, line};
use crate::common::{words, zip};

/// The bytes of a tar archive with these files.
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
fn files_of_archives_and_directories_are_paired() {
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
        let run = dir.run(&["pairs", path, "--format", "json"]);
        assert_eq!(run.status, 0, "{path}: {}", run.err);
        let mut pairs = jsons(&run.out);
        let end = pairs.pop().unwrap();
        let hidden = json!({
            "name": format!("{path}/x/.hidden"),
            "files": 1,
            "reason": "it is hidden",
            "advice": "--all reads it",
        });
        assert_eq!(end["left_out"], json!([hidden]), "{end}");
        assert_eq!(ids(&pairs), [format!("{path}/x/one.txt {path}/x/two.txt")]);
        let similarity = pairs[0]["symmetric"].as_f64().unwrap();
        assert!((0.6..0.9).contains(&similarity), "{similarity}");
        let long = dir.run(&["pairs", path, "--min-passage", "80", "--format", "json"]);
        assert_eq!(jsons(&long.out)[0]["passages"][0]["tokens"], 80);
        let human = dir.run(&["pairs", path, "--min-passage", "80"]).out;
        assert!(human.contains("80 words"), "{human}");
        assert_eq!(dir.run(&["pairs", path, "--min-passage", "81"]).status, 1);
        let resemblance = pairs[0]["resemblance"].to_string();
        for (least, status) in [(&resemblance[..], 0), ("1", 1)] {
            let run = dir.run(&["pairs", path, "--min-resemblance", least]);
            assert_eq!(run.status, status, "{least}: {}", run.err);
        }
    }
    dir.json(&["add", "idx", "files.zip", "files.tar"]);
    assert_eq!(dir.json(&["stats", "idx", "--quick"])["documents"], 6);
    // Long and unusual names. A name without an end is refused before filling the memory.
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
    assert_eq!(dir.run(&["pairs", "dir/x/one.txt"]).status, 2);
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
        "pairs",
        "in",
        "--by",
        "directory",
        "--analyzer",
        "code",
        "--scheme",
        "winnow(k=5,w=4)",
        "--boilerplate",
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
    assert_eq!(lines[1], json!({"cluster": 1, "size": 2, "members": ["in/ann", "in/bob"]}));
    let graph = fs::read_to_string(dir.path("pairs.dot")).unwrap();
    assert!(graph.contains("\"in/ann\" -- \"in/bob\""), "{graph}");
    dir.write("lines.jsonl", line("a", "one two", json!({})));
    let run = dir.run(&["pairs", "lines.jsonl", "--by", "directory"]);
    let told = "lines.jsonl: its documents are in no directories; use --by file";
    assert!(run.status == 2 && run.err.contains(told), "{}", run.err);
}

#[test]
fn a_rank_by_passages_has_the_longest_copy_first() {
    // Similar usual solutions, and two copies of an unusual solution.
    let dir = Dir::new();
    let usual = words(1, 150);
    for number in 0..9 {
        dir.write(&format!("in/{number}.txt"), format!("{usual} {}", words(10 + number, 20)));
    }
    let copied = words(2, 200);
    dir.write("in/x.txt", &copied);
    dir.write("in/y.txt", format!("{copied} {}", words(20, 90)));
    let first = |options: &[&str]| -> Value {
        let run = dir.run(&[&["pairs", "in", "--format", "json"], options].concat());
        jsons(&run.out)[0].clone()
    };
    assert_ne!(first(&[])["a"], "in/x.txt", "the usual solutions are more alike");
    // By words in passages the longer copy is first.
    let standing = first(&["--rank", "passages"]);
    assert_eq!((&standing["a"], &standing["b"]), (&json!("in/x.txt"), &json!("in/y.txt")));
}

#[test]
fn a_part_of_a_text_is_no_pattern_of_files() {
    // Regression: the argument was taken for a pattern that matched no file, so nothing was
    // excluded.
    let dir = Dir::new();
    dir.write("in/a.txt", words(1, 50));
    dir.write("in/b.txt", words(1, 50));
    dir.write("in/quotations", words(1, 50));
    for part in ["quotations", "bibliography"] {
        for args in [&["pairs", "in"][..], &["add", "idx", "in"], &["dedup", "in", "--out", "o"]] {
            let run = dir.run(&[args, &["--exclude", part]].concat());
            assert_eq!(run.status, 2, "{}", run.err);
            assert!(run.err.contains("--without"), "{}", run.err);
            assert!(run.err.contains(&format!("'./{part}'")), "{}", run.err);
        }
    }
    let run = dir.run(&["pairs", "in", "--exclude", "./quotations"]);
    assert_eq!((run.status, run.out.matches("in/").count()), (0, 2), "{}", run.err);
}

#[test]
fn what_is_cited_counts_neither_in_pairs_nor_in_what_is_known() {
    let dir = Dir::new();
    let (quoted, list) = (words(100, 40), words(101, 60));
    let essay = |own: u64, end: usize| {
        let own = [words(own, 60), words(own + 10, 60)];
        [
            &own[0],
            &format!("\"{quoted}\" (Smith 1990)")[..],
            &own[1],
            &format!("References\n{list}"),
        ][..end]
            .join("\n\n")
    };
    dir.write("in/ann.txt", essay(1, 4));
    dir.write("in/bob.txt", essay(2, 4));
    // eve has the quotation as her own text, without quotation marks.
    dir.write("in/eve.txt", format!("{}\n\n{quoted}", words(3, 60)));
    dir.write("old/book.txt", format!("{}\n\n{quoted}\n\n{}", words(4, 60), words(5, 60)));
    dir.json(&["add", "old.idx", "old"]);
    let base = ["pairs", "in", "--against", "old.idx", "--passages", "--format", "json"];
    let pairs = |args: &[&str]| {
        let run = dir.run(&[&base[..], args].concat());
        assert!(run.status <= 1, "{}", run.err);
        jsons(&run.out)
    };
    let with_passage = |lines: &[Value]| -> Vec<String> {
        let pairs =
            lines.iter().filter(|line| line["passages"].as_array().is_some_and(|p| !p.is_empty()));
        ids(&pairs.cloned().collect::<Vec<_>>())
    };
    assert_eq!(with_passage(&pairs(&[])).len(), 6);
    let without = pairs(&["--without", "quotations", "--without", "bibliography"]);
    assert_eq!(with_passage(&without), ["in/eve.txt old/book.txt"]);
    let known = |name: &str| {
        let line = without.iter().find(|line| line["document"] == name).unwrap();
        line["known"].as_u64().unwrap()
    };
    assert_eq!([known("in/ann.txt"), known("in/bob.txt"), known("in/eve.txt")], [0, 0, 40]);
    // Excludes only the bibliography.
    let listed = pairs(&["--without", "bibliography"]);
    let of_both = listed.iter().find(|line| line["a"] == "in/ann.txt" && line["b"] == "in/bob.txt");
    assert_eq!(of_both.unwrap()["passages"][0]["tokens"], 42, "{of_both:?}");
    // Indexes, a search, and a comparison.
    dir.json(&["add", "new.idx", "in"]);
    let parts = ["--without", "quotations", "--without", "bibliography"];
    let of = |args: &[&str]| dir.run(&[args, &parts[..], &["--format", "json"]].concat());
    assert_eq!(jsons(&of(&["pairs", "new.idx", "--passages"]).out).len(), 0);
    let found = of(&["search", "old.idx", "in/ann.txt", "--passages"]);
    assert_eq!(found.status, 1, "{}", found.out);
    let compared = jsons(&of(&["compare", "in/ann.txt", "in/bob.txt"]).out);
    assert!(compared[0]["resemblance"].as_f64().unwrap() < 0.02, "{compared:?}");
    assert_eq!(compared[0]["passages"], json!([]));
    dir.json(&["add", "bare.idx", "in", "--no-text"]);
    let refused = of(&["pairs", "bare.idx"]);
    assert!(refused.status == 2 && refused.err.contains("stores none"), "{}", refused.err);
}

#[test]
fn pairs_are_of_indexes_or_of_files_and_not_of_both() {
    let dir = Dir::new();
    for (name, seed) in [("in/a.txt", 1), ("in/b.txt", 1), ("in/c.txt", 2)] {
        dir.write(name, words(seed, 80));
    }
    dir.json(&["add", "idx", "in"]);
    dir.json(&["add", "other", "in/a.txt"]);
    for paths in [&["idx"][..], &["in"], &["in/a.txt", "in/b.txt"]] {
        let run = dir.run(&[&["pairs", "--format", "json"], paths].concat());
        assert_eq!(run.status, 0, "{paths:?}: {}", run.err);
        assert_eq!(ids(&jsons(&run.out)[..1]), ["in/a.txt in/b.txt"], "{paths:?}");
    }
    let refused = |arguments: &[&str], why: &str| {
        let run = dir.run(&[&["pairs"], arguments].concat());
        assert_eq!((run.status, &run.out[..]), (2, ""), "{arguments:?}");
        assert!(run.err.contains(why), "{arguments:?}: {}", run.err);
    };
    refused(&["idx", "in/a.txt"], "idx is an index, and in/a.txt is not");
    refused(&["in", "idx"], "idx is an index, and in is not");
    refused(&["in", "nothing"], "nothing");
    for (option, value) in [("--by", "directory"), ("--scheme", "winnow"), ("--exclude", "*.x")] {
        let why = format!("{option} is for pairs of files, and idx is an index");
        refused(&["idx", option, value], &why);
    }
    refused(&["in", "--out", "x"], "--out is for pairs of indexes, and in is no index");
    refused(&["in", "--against", "no.idx"], "no.idx does not exist; --against takes a folder");
    let boilerplate = ["idx", "--against", "other", "-b", "in/a.txt"];
    refused(&boilerplate, "--boilerplate cannot be used with --against");
    let ranked = ["idx", "--rank", "overlap", "--out", "x"];
    refused(&ranked, "--rank cannot be used with --out");
}

#[test]
fn pairs_of_files_and_of_indexes_have_the_same_options() {
    let dir = Dir::new();
    let long = words(1, 60);
    let texts =
        [("a", long.clone()), ("b", long.clone() + &words(2, 60)), ("c", long + &words(3, 9))];
    for (name, text) in texts {
        dir.write(&format!("in/{name}.txt"), text);
    }
    dir.json(&["add", "idx", "in"]);
    for options in [
        &["--rank", "similarity"][..],
        &["--rank", "overlap", "--limit", "2"],
        &["--rank", "weight", "--min-weighted-resemblance", "0.1"],
        &["--rank", "passages", "--passages"],
        &["--rank", "similarity", "--min-similarity", "0.6"],
        &["--rank", "similarity", "--min-overlap", "9", "--min-containment", "0.9"],
        &["--rank", "similarity", "--max-df", "1"],
    ] {
        let [of_files, of_index] = ["in", "idx"].map(|path| {
            let run = dir.run(&[&["pairs", path, "--format", "json"], options].concat());
            let mut pairs = jsons(&run.out);
            pairs.pop();
            for pair in &mut pairs {
                pair.as_object_mut().unwrap().remove("symmetric");
            }
            pairs
        });
        assert_eq!(of_files, of_index, "{options:?}");
    }
}

#[test]
fn groups_whose_names_are_written_the_same_are_apart_in_clusters() {
    // The fields of a pattern were joined, and a list was the same as a text that is written so. A
    // number and a text of its digits are one group, as for a filter.
    let dir = Dir::new();
    let text = words(1, 80);
    let lines = |metas: &[(&str, Value)]| -> String {
        let line = |(id, group): &(&str, Value)| {
            format!("{}\n", json!({"id": id, "text": text, "meta": {"group": group}}))
        };
        metas.iter().map(line).collect()
    };
    let members = |path: &str, by: &str| {
        let found = dir.run(&["pairs", path, "--clusters", "--format", "json", "--group-by", by]);
        let found = jsons(&found.out);
        found.iter().find(|line| line["members"].is_array()).map(|line| line["members"].clone())
    };
    dir.write("values.jsonl", lines(&[("x", json!([1])), ("y", json!("[1]"))]));
    assert_eq!(members("values.jsonl", "group"), Some(json!(["[1]", "[1]"])));
    dir.write("numbers.jsonl", lines(&[("x", json!(1)), ("y", json!("1")), ("z", json!(2))]));
    assert_eq!(members("numbers.jsonl", "group"), Some(json!(["1", "2"])));
    dir.write("names.jsonl", lines(&[("a b_c", json!(0)), ("a_b c", json!(0))]));
    assert_eq!(members("names.jsonl", "{class}_{group}"), Some(json!(["a b c", "a b c"])));
}

#[test]
fn clusters_have_a_group_once() {
    // Regression: each attempt of an author was a separate member.
    let dir = Dir::new();
    let text = words(1, 80);
    let mut lines = String::new();
    for (author, attempt) in [("ann", 1), ("ann", 2), ("bob", 1), ("bob", 2), ("carl", 1)] {
        let text = format!("{text} {}", words(attempt, 9));
        fs::create_dir_all(dir.path(&format!("class/{author}"))).unwrap();
        dir.write(&format!("class/{author}/{attempt}.txt"), &text);
        let line = json!({"id": format!("{author}{attempt}"), "text": text,
            "meta": {"author": author}});
        lines += &format!("{line}\n");
    }
    lines += &format!("{}\n", json!({"id": "ann", "text": text}));
    dir.write("class.jsonl", &lines);
    let clusters = |path: &str, by: &[&str]| {
        let args = ["pairs", path, "--clusters", "--format", "json"];
        let found = jsons(&dir.run(&[&args[..], by].concat()).out);
        let clusters = found.iter().filter(|line| line["members"].is_array());
        clusters.map(|line| (line["size"].clone(), line["members"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(clusters("class", &[])[0].0, 5);
    let expected = [(json!(3), json!(["ann", "bob", "carl"]))];
    assert_eq!(clusters("class", &["--group-by", "{author}/{*}"]), expected);
    // A document without the field is a separate group, whatever its name.
    let expected = [(json!(4), json!(["ann", "ann", "bob", "carl"]))];
    assert_eq!(clusters("class.jsonl", &["--group-by", "author"]), expected);
    let human = dir.run(&["pairs", "class", "--clusters", "--group-by", "{author}/{*}"]);
    assert_eq!(human.out.lines().last(), Some("cluster 1, 3: ann  bob  carl"));
}

#[test]
fn clusters_and_networks_are_of_all_pairs_whatever_the_limit() {
    // A ring of six looked like a ring of three if the list showed two pairs.
    let dir = Dir::new();
    for member in 0..6 {
        dir.write(&format!("in/{member}.txt"), format!("{} {}", words(1, 90), words(9, member)));
    }
    dir.write("in/other.txt", words(7, 90));
    let args = ["pairs", "in", "--min-similarity", "0.5", "--limit", "2", "-q"];
    let outputs = ["--clusters", "--graph", "g.dot", "--report", "r.json", "--format", "json"];
    let run = dir.run(&[&args[..], &outputs[..]].concat());
    assert_eq!(run.err, "");
    let lines = jsons(&run.out);
    assert_eq!(lines.iter().filter(|line| line["symmetric"].is_number()).count(), 2);
    let cluster = lines.iter().find(|line| line["members"].is_array()).unwrap();
    assert_eq!((&cluster["size"], cluster["members"].as_array().unwrap().len()), (&json!(6), 6));
    let graph = fs::read_to_string(dir.path("g.dot")).unwrap();
    assert_eq!(graph.matches(" -- ").count(), 15, "{graph}");
    let report: Value =
        serde_json::from_str(&fs::read_to_string(dir.path("r.json")).unwrap()).unwrap();
    assert_eq!(report["clusters"][0]["size"], 6);
    assert_eq!(report["pairs"].as_array().unwrap().len(), 2);
    assert_eq!(dir.run(&["add", "idx", "in"]).status, 0);
    let args = ["pairs", "idx", "--min-similarity", "0.5", "--limit", "2", "--graph", "i.dot"];
    assert_eq!(dir.run(&args).status, 0);
    let graph = fs::read_to_string(dir.path("i.dot")).unwrap();
    assert_eq!(graph.matches(" -- ").count(), 15, "{graph}");
}

#[test]
fn files_that_share_only_a_quotation_are_no_pair_without_quotations() {
    let dir = Dir::new();
    let quotation = format!("\u{201c}{}\u{201d}", words(5, 60));
    for seed in [1, 2] {
        let text = format!("{} {quotation} {}", words(seed, 80), words(seed + 2, 80));
        dir.write(&format!("in/{seed}.txt"), text);
    }
    assert_eq!(dir.run(&["pairs", "in", "-q"]).status, 0);
    let run = dir.run(&["pairs", "in", "-q", "--without", "quotations", "--format", "json"]);
    assert_eq!((run.status, &*run.out), (1, ""), "{}", run.err);
}
