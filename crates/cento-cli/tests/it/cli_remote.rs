//! The real binary: `cento store push`, `pull`, `history` and `restore`, over directories.

use std::fs;
use std::io::BufRead;
use std::path::PathBuf;

use cento_testing::raw::files_with;
use serde_json::json;

use crate::common::run::{Dir, Run, line};
use crate::common::words;

/// Adds a document with this id to the index `name`.
fn add(dir: &Dir, name: &str, id: &str, seed: u64) {
    dir.write("one.jsonl", line(id, &words(seed, 200), json!({})));
    dir.json(&["add", name, "one.jsonl"]);
}

/// The first hit for the text of this document.
fn found(dir: &Dir, index: &str, seed: u64) -> Run {
    dir.write("query.txt", words(seed, 200));
    dir.run(&["search", index, "query.txt", "--format", "json"])
}

#[test]
fn an_index_is_pushed_listed_pulled_and_restored() {
    let dir = Dir::new();
    let url = format!("file://{}", dir.path("store").display());
    add(&dir, "idx", "a", 1);
    let run = dir.run(&["store", "push", "idx", &url]);
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(run.err.starts_with("pushed 1 document as manifest 1; sent "), "{}", run.err);
    let run = dir.run(&["store", "push", "idx", "store/"]);
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(run.err.contains("manifest 1 already"), "{}", run.err);
    add(&dir, "idx", "b", 2);
    assert_eq!(dir.json(&["store", "push", "idx", "store"])["manifest"], 2);

    let pulled = dir.json(&["store", "pull", &url, "copy"]);
    assert_eq!((&pulled["manifest"], &pulled["documents"]), (&json!(2), &json!(2)));
    assert_eq!(found(&dir, "copy", 2).json()["hits"][0]["id"], "b");
    assert!(dir.run(&["store", "pull", &url, "copy"]).err.contains("nothing to do"));
    let old = dir.json(&["store", "pull", &url, "old", "--manifest", "1"]);
    assert_eq!(old["documents"], 1);
    let listed = dir.run(&["store", "history", &url]).out;
    let lines: Vec<&str> = listed.lines().collect();
    assert!(lines.len() == 3 && lines[2].ends_with("  current"), "{listed}");

    let restored = dir.json(&["store", "restore", &url, "1"]);
    assert_eq!(restored, json!({"restored": 1, "manifest": 3}));
    dir.json(&["store", "pull", &url, "copy"]);
    assert_eq!(found(&dir, "copy", 2).status, 1);
    assert_eq!(dir.run(&["check", "copy"]).status, 0);
    let listed = dir.run(&["store", "history", &url]).out;
    assert!(listed.contains("restored from 1  current"), "{listed}");
}

#[test]
fn a_withdrawn_document_comes_back_by_force_only_and_is_named() {
    let dir = Dir::new();
    add(&dir, "idx", "a", 1);
    add(&dir, "idx", "b", 2);
    dir.json(&["store", "push", "idx", "store"]);
    dir.json(&["store", "pull", "store", "other"]);
    assert_eq!(dir.run(&["withdraw", "idx", "a"]).status, 0);
    dir.json(&["store", "push", "idx", "store"]);
    dir.json(&["store", "pull", "store", "other"]);
    let refused = |args: &[&str]| {
        let run = dir.run(args);
        assert_eq!(run.status, 2, "{args:?}: {}", run.err);
        assert!(run.err.contains("does not refuse `a`, withdrawn on"), "{args:?}: {}", run.err);
    };
    refused(&["store", "restore", "store", "1"]);
    refused(&["store", "pull", "store", "new", "--manifest", "1"]);
    refused(&["store", "pull", "store", "idx", "--manifest", "1"]);
    assert!(!dir.path("new").join("meta.json").exists());
    assert_eq!(found(&dir, "idx", 1).status, 1);
    dir.json(&["store", "restore", "store", "1", "--force"]);
    // The owner of a different copy did not force the restore, so a pull is refused.
    refused(&["store", "pull", "store", "other"]);
    assert_eq!(found(&dir, "other", 1).status, 1);
    dir.json(&["store", "pull", "store", "other", "--force"]);
    assert_eq!(found(&dir, "other", 1).status, 0);
    // Copying the files, pushing and pulling preserve withdrawals.
    let mut copied = std::process::Command::new("cp");
    let (from, to) = (dir.path("idx"), dir.path("moved"));
    assert!(copied.arg("-r").arg(from).arg(to).status().unwrap().success());
    dir.json(&["store", "push", "idx", "store2"]);
    dir.json(&["store", "pull", "store2", "pulled"]);
    for index in ["moved", "pulled"] {
        dir.write("one.jsonl", line("again", &words(1, 200), json!({})));
        let run = dir.run(&["add", index, "one.jsonl"]);
        assert_eq!(run.status, 2, "{}", run.err);
        assert!(run.err.contains("`a`, which was withdrawn on"), "{}", run.err);
    }
}

#[test]
fn a_pulled_index_keeps_its_withdrawals_whatever_writes_to_it() {
    let dir = Dir::new();
    (0..4).for_each(|n| add(&dir, "idx", &format!("d{n}"), n + 1));
    for (at, id) in ["d0", "d1"].iter().enumerate() {
        // In the second round, the pulled index already has withdrawals.
        assert_eq!(dir.run(&["withdraw", "idx", id]).status, 0);
        dir.json(&["store", "push", "idx", "store"]);
        dir.write("new.jsonl", line("new", &words(9, 200), json!({})));
        for (name, write) in [
            ("removing", &["remove", "removing", "d3"][..]),
            ("adding", &["add", "adding", "new.jsonl"]),
            ("compacting", &["compact", "compacting"]),
            ("withdrawing", &["withdraw", "withdrawing", "d2"]),
        ] {
            dir.json(&["store", "pull", "store", name, "--force"]);
            // A further commit removes the leftovers of the first commit.
            for write in [write, &["remove", name, "d2"], &["compact", name]] {
                let written = dir.run(write);
                assert!(written.status < 2, "{write:?}: {}", written.err);
            }
            let checked = dir.run(&["check", name]);
            assert_eq!(checked.status, 0, "{name}: {}", checked.err);
            dir.write("back.jsonl", line("back", &words(at as u64 + 1, 200), json!({})));
            let refused = dir.run(&["add", name, "back.jsonl"]);
            assert_eq!(refused.status, 2, "{name}");
            let why = format!("`{id}`, which was withdrawn on");
            assert!(refused.err.contains(&why), "{name}: {}", refused.err);
        }
    }
}

#[test]
fn a_pull_that_changes_the_list_of_segments_alone_says_what_it_did() {
    let dir = Dir::new();
    add(&dir, "idx", "a", 1);
    add(&dir, "idx", "b", 2);
    assert_eq!(dir.run(&["withdraw", "idx", "a"]).status, 0);
    dir.json(&["store", "push", "idx", "store"]);
    dir.json(&["store", "pull", "store", "copy"]);
    // The list then names no withdrawals.
    assert_eq!(dir.run(&["withdraw", "idx", "--forget", "a"]).status, 0);
    dir.json(&["store", "push", "idx", "store"]);
    let run = dir.run(&["store", "pull", "store", "copy", "--force"]);
    assert_eq!(run.err, "pulled manifest 2, 1 document; all of its files were there\n");
    let again = dir.json(&["store", "pull", "store", "copy"]);
    assert_eq!((&again["is_new"], &again["files"]), (&json!(false), &json!(0)));
}

#[test]
fn an_outrun_push_fails_and_loses_nothing() {
    let dir = Dir::new();
    add(&dir, "a", "one", 1);
    dir.json(&["store", "push", "a", "store"]);
    dir.json(&["store", "pull", "store", "b"]);
    add(&dir, "a", "two", 2);
    add(&dir, "b", "three", 3);
    dir.json(&["store", "push", "a", "store"]);
    let run = dir.run(&["store", "push", "b", "store"]);
    assert_eq!(run.status, 2);
    for part in ["was 1 and is 2", "pull it into another directory"] {
        assert!(run.err.contains(part), "{}", run.err);
    }
    let run = dir.run(&["store", "pull", "store", "b"]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("not pushed") && run.err.contains("--force"), "{}", run.err);
    // Merges the documents of the copy into the newest version.
    dir.json(&["store", "pull", "store", "c"]);
    dir.json(&["merge", "c", "b", "--on-conflict", "later"]);
    assert_eq!(dir.json(&["store", "push", "c", "store"])["manifest"], 3);
    for (seed, id) in [(1, "one"), (2, "two"), (3, "three")] {
        assert_eq!(found(&dir, "c", seed).json()["hits"][0]["id"], id);
    }
    // Pushing does not replace a different index.
    add(&dir, "other", "x", 9);
    let run = dir.run(&["store", "push", "other", "store"]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("holds an index already"), "{}", run.err);
}

#[test]
fn old_manifests_are_removed_on_request() {
    let dir = Dir::new();
    for seed in 1..5 {
        add(&dir, "idx", &seed.to_string(), seed);
        dir.json(&["compact", "idx"]);
        dir.json(&["store", "push", "idx", "store", "--keep", "2"]);
    }
    assert_eq!(dir.run(&["store", "history", "store", "--format", "json"]).out.lines().count(), 4);
    add(&dir, "idx", "5", 5);
    let pushed = dir.json(&["store", "push", "idx", "store", "--keep", "2", "--keep-min-age", "0"]);
    assert_eq!(pushed["retained"]["removed_manifests"], 3);
    assert!(pushed["retained"]["removed_bytes"].as_u64().unwrap() > 0);
    assert_eq!(dir.run(&["store", "history", "store", "--format", "json"]).out.lines().count(), 2);
    assert_eq!(dir.json(&["store", "pull", "store", "copy"])["documents"], 5);
    assert_eq!(dir.run(&["check", "copy"]).status, 0);
}

#[test]
fn a_directory_that_is_no_store_is_refused_and_nothing_is_created() {
    let dir = Dir::new();
    add(&dir, "idx", "a", 1);
    for (args, expected) in [
        (&["store", "pull", "nowhere", "copy"][..], "there is no index here"),
        (&["store", "history", "nowhere"], "there is no index here"),
        (&["store", "restore", "nowhere", "1"], "there is no index here"),
        (&["store", "push", "idx", "http://127.0.0.1:1/x"], "expected s3://"),
        (&["store", "push", "missing", "store"], "missing does not exist"),
    ] {
        let run = dir.run(args);
        assert_eq!(run.status, 2, "{args:?}");
        assert!(run.err.contains(expected), "{args:?}: {}", run.err);
    }
    for name in ["nowhere", "copy", "store"] {
        assert!(!dir.path(name).exists(), "{name}");
    }
}

#[test]
fn a_manifest_0_and_a_directory_that_is_no_store_are_told_as_such() {
    let dir = Dir::new();
    add(&dir, "idx", "a", 1);
    dir.json(&["store", "push", "idx", "store"]);
    for args in [
        &["store", "restore", "store", "0"][..],
        &["store", "pull", "store", "copy", "--manifest", "0"],
    ] {
        let run = dir.run(args);
        assert_eq!(run.status, 2, "{args:?}");
        assert!(run.err.contains("there is no manifest 0"), "{args:?}: {}", run.err);
        assert!(run.err.contains("`cento store history`"), "{args:?}: {}", run.err);
        assert!(!run.err.contains("no push"), "{args:?}: {}", run.err);
    }
    fs::create_dir(dir.path("empty")).unwrap();
    for (name, said) in [
        ("nowhere", "no index here"),
        ("empty", "no index here"),
        ("idx", "idx is an index, not a store"),
    ] {
        let run = dir.run(&["store", "history", name]);
        assert_eq!(run.status, 2, "{name}");
        assert!(run.err.contains(said), "{name}: {}", run.err);
        assert!(!run.err.contains("`cento store history`"), "{name}: {}", run.err);
    }
}

#[test]
fn a_push_into_a_directory_of_other_files_is_refused_and_changes_nothing() {
    let dir = Dir::new();
    add(&dir, "idx", "a", 1);
    add(&dir, "other", "b", 2);
    fs::create_dir(dir.path("files")).unwrap();
    dir.write("files/a.txt", "a text");
    let names = |name: &str| {
        let entries = fs::read_dir(dir.path(name)).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.retain(|name| !name.to_string_lossy().starts_with('.'));
        names.sort();
        names
    };
    for name in ["idx", "other", "files"] {
        let before = names(name);
        let run = dir.run(&["store", "push", "idx", name]);
        assert_eq!(run.status, 2, "{name}: {}", run.err);
        assert_eq!(names(name), before, "{name}");
    }
    assert_eq!(dir.run(&["store", "push", "idx", "idx/store"]).status, 2);
    assert_eq!(dir.run(&["store", "pull", "idx", "copy"]).status, 2);
    dir.json(&["store", "push", "idx", "store"]);
}

#[test]
fn a_push_is_repeated_until_it_is_stopped() {
    let dir = Dir::new();
    assert_eq!(dir.run(&["create", "idx"]).status, 0);
    for _ in 0..2 {
        assert_eq!(dir.run(&["create", "idx", "--if-missing"]).status, 0);
    }
    assert_eq!(dir.run(&["create", "idx"]).status, 2);
    let mut command =
        dir.command(&["store", "push", "idx", "store", "--every", "10ms", "--keep", "2"]);
    command.stderr(std::process::Stdio::piped());
    let mut pushing = command.spawn().unwrap();
    let mut told = std::io::BufReader::new(pushing.stderr.take().unwrap()).lines();
    for seed in 1..4 {
        let line = told.next().unwrap().unwrap();
        assert!(
            line.starts_with("pushed ") && line.contains(&format!("manifest {seed};")),
            "{line}"
        );
        add(&dir, "idx", &seed.to_string(), seed);
    }
    let pid = pushing.id().to_string();
    std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap();
    assert!(told.any(|line| line.unwrap().contains("stopping")));
    assert!(pushing.wait().unwrap().success());
}

/// Regression: `history`, `restore` and `push` advised "cento store history lists older ones", and
/// failed.
#[test]
fn a_damaged_manifest_is_named_and_each_advice_works() {
    let dir = Dir::new();
    add(&dir, "idx", "a", 1);
    dir.json(&["store", "push", "idx", "store"]);
    dir.json(&["store", "pull", "store", "other"]);
    add(&dir, "idx", "b", 2);
    dir.json(&["store", "push", "idx", "store"]);
    let newest = dir.path("store/manifests/00000000000000000002.json");
    fs::write(&newest, "{}").unwrap();

    let run = dir.run(&["store", "pull", "store", "copy"]);
    assert_eq!(run.status, 2, "{}", run.err);
    assert!(run.err.contains("00000000000000000002.json"), "{}", run.err);
    assert!(run.err.contains("cento store restore"), "{}", run.err);
    assert!(!dir.path("copy").exists());
    let run = dir.run(&["store", "history", "store"]);
    assert_eq!(run.status, 0, "{}", run.err);
    let lines: Vec<&str> = run.out.lines().collect();
    assert!(lines[2].trim_start().starts_with("2  damaged: "), "{}", run.out);
    assert!(lines[2].ends_with("  current"), "{}", run.out);
    let run = dir.run(&["store", "history", "store", "--format", "json"]);
    assert!(run.out.lines().nth(1).unwrap().contains("\"damaged\":\""), "{}", run.out);

    add(&dir, "other", "c", 3);
    let run = dir.run(&["store", "push", "other", "store"]);
    assert_eq!(run.status, 2);
    for part in ["manifest 2 of", "cento store restore"] {
        assert!(run.err.contains(part), "{}", run.err);
    }

    dir.json(&["store", "pull", "store", "copy", "--manifest", "1"]);
    assert_eq!(dir.json(&["store", "push", "idx", "store"])["manifest"], 3);
    dir.json(&["store", "pull", "store", "copy"]);
    assert_eq!(found(&dir, "copy", 2).json()["hits"][0]["id"], "b");
    fs::write(dir.path("store/manifests/00000000000000000003.json"), "").unwrap();
    assert_eq!(dir.json(&["store", "restore", "store", "1"])["manifest"], 4);
    dir.json(&["store", "pull", "store", "copy"]);
    assert_eq!(found(&dir, "copy", 2).status, 1);
}

#[test]
fn a_store_is_named_relative_to_a_directory_and_found_again_from_another() {
    let dir = Dir::new();
    add(&dir, "idx", "a", 1);
    fs::create_dir(dir.path("sub")).unwrap();
    let run = dir.run(&["store", "push", "idx", "sub/../my store/"]);
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(dir.path("my store/cento.json").exists());
    add(&dir, "idx", "b", 2);
    let url = format!("file://{}", dir.path("my%20store").display());
    assert_eq!(dir.json(&["store", "push", "idx", &url])["manifest"], 2);
    assert_eq!(dir.json(&["store", "pull", "./my store", "copy"])["documents"], 2);
}

#[test]
fn a_withdrawn_text_is_gone_from_disk_and_store_or_named() {
    let dir = Dir::new();
    add(&dir, "idx", "a", 1);
    add(&dir, "idx", "b", 2);
    let text = words(1, 200);
    let has = |name: &str| files_with(&dir.path(name), &text).len();
    dir.json(&["store", "push", "idx", "store"]);
    dir.json(&["store", "pull", "store", "copy"]);
    assert_eq!(dir.run(&["withdraw", "idx", "a", "--record", "a.json"]).status, 0);
    assert_eq!(has("idx"), 0);

    // Leftovers of a killed pull of the old commit.
    let old: Vec<PathBuf> = files_with(&dir.path("copy"), &text);
    let name = old[0].file_name().unwrap().to_str().unwrap();
    for left in [name.to_owned(), format!(".pull-{name}")] {
        fs::copy(&old[0], dir.path("idx").join(&left)).unwrap();
        let checked = dir.run(&["check", "idx"]);
        assert_eq!(checked.status, 3, "{}", checked.out);
        assert!(checked.out.contains(&format!("{left}: of no commit")), "{}", checked.out);
        assert_eq!(
            dir.run(&["check", "idx", "--format", "json"]).json()["unlisted"],
            json!([left])
        );
        let checked = dir.run(&["withdraw", "idx", "--check", "a.json"]);
        assert_eq!(checked.status, 1, "{}", checked.err);
        assert!(
            checked.err.contains(&format!("the file `{left}` is of no commit")),
            "{}",
            checked.err
        );
        for removes in [&["compact", "idx"][..], &["withdraw", "idx", "a"]] {
            fs::copy(&old[0], dir.path("idx").join(&left)).unwrap();
            assert_eq!(dir.run(removes).status, 0);
            assert_eq!(has("idx"), 0);
        }
        assert_eq!(dir.run(&["check", "idx"]).status, 0);
        assert_eq!(dir.run(&["withdraw", "idx", "--check", "a.json"]).status, 0);
    }

    let pushed = dir.run(&["store", "push", "idx", "store"]);
    assert!(pushed.err.contains("; 1 older manifest, from 1 on, may have texts"), "{}", pushed.err);
    let kept = dir.json(&["store", "push", "idx", "store", "--keep", "1"]);
    assert_eq!((&kept["is_new"], &kept["before_withdrawals"]), (&json!(false), &json!([1])));
    assert_eq!(has("store"), 1);
    let kept = dir.json(&["store", "push", "idx", "store", "--keep", "1", "--keep-min-age", "0"]);
    assert_eq!(kept["retained"]["removed_manifests"], 1);
    assert_eq!(kept["before_withdrawals"], json!(null));
    assert_eq!(has("store"), 0);
}
