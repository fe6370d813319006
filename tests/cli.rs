//! The real binary through its command line: the contract that other programs rely on.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use common::words;
use serde_json::{Value, json};

struct Dir {
    dir: tempfile::TempDir,
}

struct Run {
    status: i32,
    out: String,
    err: String,
}

impl Run {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {} {}", self.out, self.err))
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Run {
        Run {
            status: output.status.code().expect("cento ends by itself"),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Dir {
    fn new() -> Dir {
        Dir { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cento"));
        command.current_dir(self.dir.path()).args(args);
        command
    }

    fn run(&self, args: &[&str]) -> Run {
        self.command(args).stdin(Stdio::null()).output().unwrap().into()
    }

    fn run_with(&self, args: &[&str], stdin: &[u8]) -> Run {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // The process may end before it has read everything.
        let _ = child.stdin.take().unwrap().write_all(stdin);
        child.wait_with_output().unwrap().into()
    }

    /// Runs a command that is to succeed, and parses its output.
    fn json(&self, args: &[&str]) -> Value {
        let run = self.run(&[args, &["--format", "json"]].concat());
        assert_eq!(run.status, 0, "{args:?}: {}", run.err);
        run.json()
    }
}

fn line(id: &str, text: &str, meta: Value) -> String {
    format!("{}\n", json!({"id": id, "text": text, "meta": meta}))
}

/// Three documents: `b` has a passage of `a`, `c` shares nothing.
fn corpus() -> String {
    let a = words(1, 200);
    let b = format!("{} {}", words(2, 60), words(1, 80));
    [
        line("a", &a, json!({"lang": "en", "year": 2019})),
        line("b", &b, json!({"lang": "de", "year": 2021})),
        line("c", &words(3, 100), json!({})),
    ]
    .concat()
}

fn indexed() -> Dir {
    let dir = Dir::new();
    dir.write("corpus.jsonl", corpus());
    dir.json(&["add", "idx", "corpus.jsonl"]);
    dir
}

#[test]
fn what_was_added_is_found() {
    let dir = Dir::new();
    dir.write("corpus.jsonl", corpus());
    let report = dir.json(&["add", "idx", "corpus.jsonl"]);
    assert_eq!(
        (&report["added"], &report["replaced"], &report["unchanged"], &report["failed"]),
        (&json!(3), &json!(0), &json!(0), &json!(0))
    );
    assert!(report["seconds"].is_f64() && report["skipped"] == 0 && report["bytes"].is_u64());
    let answer = dir.json(&["search", "idx", "--text", &words(1, 80)]);
    assert_eq!(answer["query"]["id"], Value::Null);
    assert_eq!(answer["query"]["tokens"], 80);
    assert_eq!(answer["query"]["stopped"], 0);
    let hits = answer["hits"].as_array().unwrap();
    assert_eq!(hits.len(), 2);
    let ids: Vec<&str> = hits.iter().map(|hit| hit["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["b", "a"], "b is shorter, so more of it is in the query");
    assert_eq!(hits[1]["containment"], 1.0);
    assert_eq!(hits[1]["meta"], json!({"lang": "en", "year": 2019}));
    for hit in hits {
        let number = |name: &str| hit[name].as_f64().unwrap();
        let query = answer["query"]["fingerprints"].as_f64().unwrap();
        let (overlap, document) =
            (number("overlap"), number("overlap") / number("containment_in_query"));
        assert!((number("containment") - overlap / query).abs() < 1e-9);
        assert!((number("resemblance") - overlap / (query + document - overlap)).abs() < 1e-9);
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
    same(dir.json(&["search", "idx", "query.txt"]));
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
    assert_eq!(ids(&["--max-df", "1"]), ["a"; 0], "every shared fingerprint is in two documents");
    let refused = dir.run(&["search", "idx", "--text", "x", "--filter", "lang:["]);
    assert_eq!(refused.status, 2);
    assert!(refused.err.contains("lang:["), "{}", refused.err);
}

#[test]
fn a_document_is_replaced_by_its_id_and_left_alone_if_unchanged() {
    let dir = indexed();
    let again = dir.json(&["add", "idx", "corpus.jsonl"]);
    assert_eq!((&again["added"], &again["unchanged"]), (&json!(0), &json!(3)));
    dir.write(
        "new.jsonl",
        line("a", &words(9, 100), json!({})) + &line("c", &words(3, 100), json!({"x": 1})),
    );
    let replaced = dir.json(&["add", "idx", "new.jsonl"]);
    assert_eq!((&replaced["replaced"], &replaced["unchanged"]), (&json!(2), &json!(0)));
    assert_eq!(dir.json(&["stats", "idx"])["documents"], 3);
    assert_eq!(dir.json(&["search", "idx", "--text", &words(9, 100)])["hits"][0]["id"], "a");
    assert_eq!(
        dir.json(&["search", "idx", "--text", &words(3, 100)])["hits"][0]["meta"],
        json!({"x": 1})
    );
}

#[test]
fn the_last_of_a_repeated_id_wins() {
    let dir = Dir::new();
    let lines = [words(1, 50), words(2, 50), words(1, 50)].map(|text| line("a", &text, json!({})));
    dir.write("twice.jsonl", lines.concat());
    let report = dir.json(&["add", "idx", "twice.jsonl"]);
    assert_eq!((&report["added"], &report["replaced"]), (&json!(1), &json!(2)));
    assert_eq!(dir.run(&["search", "idx", "--text", &words(2, 50)]).status, 1);
    assert_eq!(
        dir.json(&["search", "idx", "--text", &words(1, 50)])["hits"][0]["containment"],
        1.0
    );
    // In one run over an index that holds the first version, with commits in between.
    dir.write(
        "back.jsonl",
        line("a", &words(2, 50), json!({})) + &line("a", &words(1, 50), json!({})),
    );
    let report = dir.json(&["add", "idx", "back.jsonl", "--commit-every", "1"]);
    assert_eq!(report["replaced"], 2);
    assert_eq!(dir.run(&["search", "idx", "--text", &words(2, 50)]).status, 1);
}

#[test]
fn removed_documents_are_gone_and_compaction_gives_their_space_back() {
    let dir = indexed();
    let removed = dir.json(&["remove", "idx", "a", "nobody"]);
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
    assert_eq!(dir.json(&["check", "idx"]), json!({"ok": true, "segments": 1, "problems": []}));
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
fn files_and_directories_are_documents() {
    let dir = Dir::new();
    dir.write("docs/a.txt", words(1, 60));
    dir.write("docs/sub/b.md", words(2, 60));
    dir.write("docs/latin.txt", b"caf\xe9 cr\xe8me br\xfbl\xe9e \xe0 la carte et d\xe9j\xe0 vu sous un ch\xeane pr\xe8s de la for\xeat");
    dir.write("docs/image.png", b"\x89PNG\r\n\0\0\0\0");
    dir.write("docs/empty.txt", " \n");
    dir.write("docs/.hidden", words(4, 60));
    dir.write("docs/more.jsonl", line("in-lines", &words(5, 60), json!({})));
    #[cfg(unix)]
    std::os::unix::fs::symlink("docs", dir.path("docs/loop")).unwrap();
    let report = dir.json(&["add", "idx", "docs"]);
    let expected = if cfg!(unix) { 3 } else { 2 };
    assert_eq!((&report["added"], &report["skipped"]), (&json!(4), &json!(expected)));
    for id in ["docs/a.txt", "docs/sub/b.md", "docs/latin.txt", "in-lines"] {
        assert_ne!(dir.run(&["search", "idx", "--id", id]).status, 2, "{id}");
    }
    let accents = dir.json(&["search", "idx", "--text", "Caf\u{e9} cr\u{e8}me br\u{fb}l\u{e9}e \u{e0} la carte et d\u{e9}j\u{e0} vu sous un ch\u{ea}ne pr\u{e8}s de la for\u{ea}t"]);
    assert_eq!(accents["hits"][0]["id"], "docs/latin.txt");
}

#[test]
fn compressed_sources_are_read() {
    let dir = Dir::new();
    let gzip = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    dir.write("a.jsonl.gz", gzip(&line("a", &words(1, 60), json!({}))));
    dir.write(
        "b.jsonl.zst",
        zstd::encode_all(line("b", &words(2, 60), json!({})).as_bytes(), 1).unwrap(),
    );
    dir.write("c.txt.gz", gzip(&words(3, 60)));
    let report = dir.json(&["add", "idx", "a.jsonl.gz", "b.jsonl.zst", "c.txt.gz"]);
    assert_eq!(report["added"], 3);
    let stdin = gzip(&line("d", &words(4, 60), json!({})));
    let report = dir.run_with(&["add", "idx", "-", "--format", "json"], &stdin).json();
    assert_eq!(report["added"], 1);
    for (id, seed) in [("a", 1), ("b", 2), ("c.txt.gz", 3), ("d", 4)] {
        assert_eq!(dir.json(&["search", "idx", "--text", &words(seed, 60)])["hits"][0]["id"], id);
    }
}

#[test]
fn a_bad_record_is_told_with_its_place_and_the_others_land() {
    let dir = Dir::new();
    let mut bytes = line("a", &words(1, 60), json!({})).into_bytes();
    bytes.extend(
        b"{\"id\": \"b\", \"text\": 5}\n{broken\n{\"id\":\"\",\"text\":\"x\"}\n\n\xff\xfe\n",
    );
    bytes.extend(line("c", &words(2, 60), json!({})).into_bytes());
    dir.write("mixed.jsonl", &bytes);
    let run = dir.run(&["add", "idx", "mixed.jsonl", "--format", "json"]);
    assert_eq!(run.status, 0);
    let report = run.json();
    assert_eq!((&report["added"], &report["failed"]), (&json!(2), &json!(4)));
    for place in [
        "mixed.jsonl:2: `text` is not a string",
        "mixed.jsonl:3: ",
        "mixed.jsonl:4: the id is empty",
        "mixed.jsonl:6: ",
    ] {
        assert!(run.err.contains(place), "{place} in {}", run.err);
    }
    let strict = dir.run(&["add", "strict", "mixed.jsonl", "--strict"]);
    assert_eq!(strict.status, 2);
    assert!(strict.err.contains("mixed.jsonl:2"), "{}", strict.err);
    assert_eq!(dir.json(&["stats", "strict"])["documents"], 0);
}

#[test]
fn a_line_beyond_the_limit_is_refused_and_its_neighbours_land() {
    let dir = Dir::new();
    let long = line("long", &words(9, 40_000), json!({}));
    let lines = line("a", &words(1, 60), json!({})) + &long + &line("b", &words(2, 60), json!({}));
    dir.write("long.jsonl", lines);
    let run =
        dir.run(&["add", "idx", "long.jsonl", "--max-record-bytes", "100kB", "--format", "json"]);
    assert_eq!((&run.json()["added"], &run.json()["failed"]), (&json!(2), &json!(1)));
    assert!(run.err.contains("long.jsonl:2: longer than 100000 bytes"), "{}", run.err);
}

#[test]
fn a_truncated_file_keeps_what_came_before() {
    let dir = Dir::new();
    let many: String =
        (0..2000).map(|i| line(&format!("d{i}"), &words(i, 40), json!({}))).collect();
    let whole = zstd::encode_all(many.as_bytes(), 1).unwrap();
    dir.write("cut.jsonl.zst", &whole[..whole.len() / 2]);
    let run = dir.run(&["add", "idx", "cut.jsonl.zst", "--format", "json"]);
    assert_eq!((run.status, &run.json()["failed"]), (0, &json!(1)));
    assert!(run.json()["added"].as_u64().unwrap() > 100);
    assert!(run.err.contains("cut.jsonl.zst"), "{}", run.err);
}

#[test]
fn the_fields_of_a_line_can_be_named() {
    let dir = Dir::new();
    dir.write(
        "x.jsonl",
        format!("{}\n", json!({"url": 7, "body": words(1, 60), "info": {"n": 1}})),
    );
    dir.json(&[
        "add",
        "idx",
        "x.jsonl",
        "--id-field",
        "url",
        "--text-field",
        "body",
        "--meta-field",
        "info",
    ]);
    let answer = dir.json(&["search", "idx", "--text", &words(1, 60)]);
    assert_eq!(
        (&answer["hits"][0]["id"], &answer["hits"][0]["meta"]),
        (&json!("7"), &json!({"n": 1}))
    );
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let dir = Dir::new();
    let many: String =
        (0..3000).map(|i| line(&format!("d{i}"), &words(i % 500, 80), json!({}))).collect();
    dir.write("many.jsonl", many);
    let sig = |index: &str, threads: &str| -> Vec<u8> {
        dir.json(&["add", index, "many.jsonl", "--threads", threads]);
        let sigs: Vec<PathBuf> = fs::read_dir(dir.path(index))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "sig"))
            .collect();
        assert_eq!(sigs.len(), 1);
        fs::read(&sigs[0]).unwrap()
    };
    assert!(sig("one", "1") == sig("four", "4"));
}

#[test]
fn a_signature_made_elsewhere_is_searched_for() {
    let dir = Dir::new();
    dir.write("corpus.jsonl", corpus());
    dir.json(&["add", "idx", "corpus.jsonl", "--no-text"]);
    assert_eq!(dir.json(&["stats", "idx"])["bytes"]["text"], 0);
    dir.write("query.txt", words(1, 80));
    let signature = dir.run(&["fingerprint", "query.txt", "--format", "json"]);
    let shape = signature.json();
    assert_eq!(
        (&shape["scheme"], &shape["key_bits"], &shape["tokens"]),
        (&json!("winnow(k=5,w=10)"), &json!(40), &json!(80))
    );
    assert!(shape["fingerprints"][0][0].is_string() && shape["fingerprints"][0][1].is_u64());
    dir.write("query.sig.json", &signature.out);
    let by_signature = dir.json(&["search", "idx", "--signature", "query.sig.json"]);
    let by_text = dir.json(&["search", "idx", "query.txt"]);
    assert_eq!(
        (&by_signature["hits"], &by_signature["query"]),
        (&by_text["hits"], &by_text["query"])
    );
    dir.write("other.json", signature.out.replace("w=10", "w=9"));
    let refused = dir.run(&["search", "idx", "--signature", "other.json"]);
    assert_eq!(refused.status, 2);
    assert!(refused.err.contains("cento fingerprint --scheme"), "{}", refused.err);
}

#[test]
fn short_documents_find_their_copies_and_are_told_apart() {
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
    for scheme in ["kgram(k=3)", "mod(k=5,p=4)", "winnow(k=8,w=20)"] {
        let dir = Dir::new();
        dir.write("corpus.jsonl", corpus());
        assert_eq!(dir.run(&["create", "idx", "--scheme", scheme]).status, 0);
        dir.json(&["add", "idx", "corpus.jsonl"]);
        assert_eq!(dir.json(&["stats", "idx"])["scheme"], scheme);
        let answer = dir.json(&["search", "idx", "--text", &words(1, 200)]);
        assert_eq!(
            (&answer["hits"][0]["id"], &answer["hits"][0]["resemblance"]),
            (&json!("a"), &json!(1.0))
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
    assert_eq!(dir.json(&["check", "idx"])["ok"], true);
    dir.write("more.jsonl", line("z", &words(8, 60), json!({})));
    assert_eq!(dir.json(&["add", "idx", "more.jsonl"])["added"], 1);
    // A creation that was cut off.
    dir.write("cut/.managed.json", "[]");
    assert_eq!(dir.run(&["create", "cut"]).status, 0);
}

#[test]
fn completions_and_manual_pages_are_printed() {
    let dir = Dir::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(dir.run(&["completions", shell]).out.contains("cento"));
    }
    assert!(dir.run(&["man"]).out.contains(".TH cento"));
    assert!(dir.run(&["man", "search"]).out.contains("containment"));
    assert_eq!(dir.run(&["man", "nothing"]).status, 2);
    assert!(dir.run(&["--version"]).out.starts_with("cento "));
}

#[test]
fn the_demo_needs_no_more_than_a_directory() {
    let dir = Dir::new();
    for (i, package) in ["alpha-1.0.0", "beta-2.1.0"].iter().enumerate() {
        let readme = format!("{} {}", words(1, 300), words(10 + i as u64, 60));
        dir.write(&format!("registry/{package}/README.md"), readme);
        dir.write(&format!("registry/{package}/LICENSE"), words(5, 100));
        dir.write(&format!("registry/{package}/lib.rs"), words(20 + i as u64, 200));
    }
    let run = dir.run(&["demo", "registry"]);
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(run.out.contains("6 documents"), "{}", run.out);
    assert!(
        run.out.contains("alpha-1.0.0/README.md") && run.out.contains("beta-2.1.0/README.md"),
        "{}",
        run.out
    );
    assert!(run.out.contains("Answered in"), "{}", run.out);
    let mut without = dir.command(&["demo"]);
    let without: Run =
        without.env("CARGO_HOME", Path::new("/nonexistent")).output().unwrap().into();
    assert_eq!(without.status, 2);
    assert!(without.err.contains("name a directory"), "{}", without.err);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_the_index_as_the_last_commit_left_it() {
    let dir = indexed();
    let before = dir.json(&["stats", "idx"]);
    let mut command = dir.command(&["add", "idx", "-"]);
    command.stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // More than the pipe and all buffers hold: once it is written, documents are on their way.
    for i in 0..5000 {
        stdin.write_all(line(&format!("n{i}"), &words(i, 100), json!({})).as_bytes()).unwrap();
    }
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    // Standard input stays open: the process must not wait for it.
    let status = child.wait().unwrap();
    drop(stdin);
    assert_eq!(status.code(), Some(2));
    assert_eq!(dir.json(&["stats", "idx"])["documents"], before["documents"]);
    assert_eq!(dir.json(&["check", "idx"])["ok"], true);
    dir.write("more.jsonl", line("z", &words(8, 60), json!({})));
    assert_eq!(dir.json(&["add", "idx", "more.jsonl"])["added"], 1);
}

#[cfg(unix)]
#[test]
fn a_pipe_that_closes_is_no_error() {
    let dir = indexed();
    let mut child =
        dir.command(&["man"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
