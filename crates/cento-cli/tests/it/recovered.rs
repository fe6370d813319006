//! Segments that no list mentions become an index again.

use std::fs;
use std::path::PathBuf;

use crate::common::run::{Dir, line};
use crate::common::words;
use serde_json::{Value, json};

/// An index of two commits: a segment of forty documents, one replaced and one removed, and a
/// segment of two documents. `first.json` has the list of the first commit.
fn two_commits() -> Dir {
    let dir = Dir::new();
    let lines = |from: u64, to: u64| -> String {
        (from..to).map(|i| line(&format!("d{i}"), &words(i, 80), json!({"n": i})) + "\n").collect()
    };
    dir.write("one.jsonl", lines(0, 40));
    dir.json(&["add", "idx", "one.jsonl"]);
    fs::copy(dir.path("idx/meta.json"), dir.path("first.json")).unwrap();
    let replaced = line("d0", &words(50, 80), json!({"n": 0}));
    dir.write("two.jsonl", replaced + "\n" + &lines(40, 41));
    dir.json(&["add", "idx", "two.jsonl"]);
    dir.json(&["remove", "idx", "d1"]);
    dir
}

fn segments(dir: &Dir) -> Vec<Value> {
    listed(dir, 0)
}

/// The segments, where the exit status is this.
fn listed(dir: &Dir, status: i32) -> Vec<Value> {
    let run = dir.run(&["recover", "idx", "--format", "json"]);
    assert_eq!(run.status, status, "{}", run.err);
    run.json()["segments"].as_array().unwrap().clone()
}

/// Asserts that the index `new` has the forty live documents.
fn assert_is_whole(dir: &Dir) {
    assert_eq!(dir.json(&["check", "new"])["ok"], true);
    assert_eq!(dir.json(&["stats", "new"])["documents"], 40);
    for (seed, id) in [(50, "d0"), (2, "d2"), (40, "d40")] {
        let found = dir.json(&["search", "new", "--text", &words(seed, 80), "--limit", "1"]);
        assert_eq!(found["hits"][0]["id"], id);
    }
    // The recovered index can be changed like any index.
    dir.write("more.txt", words(99, 80));
    assert_eq!(dir.json(&["add", "new", "more.txt"])["added"], 1);
    assert_eq!(dir.run(&["compact", "new"]).status, 0);
    assert_eq!(dir.json(&["check", "new"])["ok"], true);
}

#[test]
fn without_its_list_an_index_is_made_of_its_segments() {
    for damage in ["gone", "damaged"] {
        let dir = two_commits();
        let before = segments(&dir);
        assert!(before.len() == 2 && before.iter().all(|one| one["listed"] == true), "{before:?}");
        match damage {
            "gone" => fs::remove_file(dir.path("idx/meta.json")).unwrap(),
            _ => fs::write(dir.path("idx/meta.json"), "{\"segments\": [").unwrap(),
        }
        let after = segments(&dir);
        assert!(after.iter().all(|one| one["listed"] == false && one["problem"].is_null()));
        // The configuration of the index must be given.
        let refused = dir.run(&["recover", "idx", "--to", "new"]);
        assert!(
            refused.status == 2 && refused.err.contains("an empty one will do"),
            "{}",
            refused.err
        );
        dir.run(&["create", "other", "--scheme", "kgram(k=3)"]);
        let refused = dir.run(&["recover", "idx", "--to", "new", "--like", "other"]);
        assert!(refused.status == 2 && !dir.path("new").exists(), "{}", refused.err);
        dir.run(&["create", "like"]);
        let made = dir.json(&["recover", "idx", "--to", "new", "--like", "like"]);
        assert_eq!(made["documents"], 40);
        assert_is_whole(&dir);
        let left: Vec<PathBuf> =
            fs::read_dir(dir.path("idx")).unwrap().map(|e| e.unwrap().path()).collect();
        assert!(left.len() > 14, "nothing is taken away: {left:?}");
    }
}

#[test]
fn an_older_list_that_was_put_back_hides_no_segment() {
    let dir = two_commits();
    fs::copy(dir.path("first.json"), dir.path("idx/meta.json")).unwrap();
    let found = segments(&dir);
    let unlisted = found.iter().filter(|one| one["listed"] == false).count();
    assert_eq!((found.len(), unlisted), (2, 1), "{found:?}");
    let shown = dir.run(&["recover", "idx", "--format", "human"]);
    assert!(
        shown.out.contains("whole, not listed") && shown.out.contains("whole, listed"),
        "{}",
        shown.out
    );
    assert_eq!(dir.json(&["recover", "idx", "--to", "new"])["documents"], 40);
    assert_is_whole(&dir);
    // Recovery does not overwrite an existing index.
    let refused = dir.run(&["recover", "idx", "--to", "new"]);
    assert!(refused.status == 2 && refused.err.contains("exists"), "{}", refused.err);
}

#[test]
fn a_segment_that_is_not_whole_is_named_and_left_out() {
    let dir = two_commits();
    let name = segments(&dir)[0]["segment"].as_str().unwrap().to_owned();
    let file = dir.path(&format!("idx/{name}.store"));
    let mut bytes = fs::read(&file).unwrap();
    bytes[20] ^= 1;
    fs::write(&file, bytes).unwrap();
    let damaged = listed(&dir, 2);
    let problem = damaged[0]["problem"].as_str().unwrap();
    assert!(problem.contains(".store") && damaged[1]["problem"].is_null(), "{damaged:?}");
    let documents =
        damaged[1]["documents"].as_u64().unwrap() - damaged[1]["deleted"].as_u64().unwrap();
    // Some documents could not be recovered.
    let made = dir.run(&["recover", "idx", "--to", "new", "--format", "json"]);
    assert_eq!((made.status, &made.json()["documents"]), (2, &json!(documents)));
    assert!(made.err.contains("without the documents of 1 damaged segment"), "{}", made.err);
    assert_eq!(dir.json(&["check", "new"])["ok"], true);
    // No requested segment is missing.
    let whole = damaged[1]["segment"].as_str().unwrap();
    dir.json(&["recover", "idx", "--to", "chosen", "--segment", whole]);
    let refused = dir.run(&["recover", "idx", "--to", "third", "--segment", &name]);
    assert!(refused.status == 2 && refused.err.contains("is not whole"), "{}", refused.err);
    assert!(!dir.path("third").exists());
    let refused = dir.run(&["recover", "idx", "--to", "third", "--segment", "0123"]);
    assert!(refused.status == 2 && refused.err.contains("`0123`"), "{}", refused.err);
}

#[test]
fn a_lost_list_of_deleted_documents_is_damage_and_what_comes_back_is_counted() {
    let dir = two_commits();
    for entry in fs::read_dir(dir.path("idx")).unwrap().flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "del") {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    let found = listed(&dir, 2);
    let is_damaged = |one: &&Value| !one["problem"].is_null();
    let (damaged, whole) = (found.iter().find(is_damaged).unwrap(), found.len());
    assert_eq!((whole, &damaged["undeleted"]), (2, &json!(2)), "{found:?}");
    let problem = damaged["problem"].as_str().unwrap();
    assert!(problem.contains(".del is missing: 2 of its documents"), "{problem}");
    // Removed documents do not return without a request.
    let made = dir.run(&["recover", "idx", "--to", "new", "--format", "json"]);
    assert_eq!((made.status, &made.json()["documents"]), (2, &json!(2)), "{}", made.err);
    assert!(made.err.contains("without the documents of 1 damaged segment"), "{}", made.err);
    assert!(made.err.contains("--segment"), "{}", made.err);
    assert_eq!(dir.run(&["show", "new", "d1"]).status, 2);
    let name = damaged["segment"].as_str().unwrap();
    let made = dir.run(&["recover", "idx", "--to", "old", "--segment", name, "--format", "json"]);
    assert_eq!((made.status, &made.json()["documents"]), (2, &json!(40)), "{}", made.err);
    let told = "2 documents that were removed or replaced are live again";
    assert!(made.err.contains(told), "{}", made.err);
    // Two versions of the replaced document are live. The advice only has options of `recover`.
    let other = found.iter().find(|one| one["problem"].is_null()).unwrap();
    let other = other["segment"].as_str().unwrap();
    let refused =
        dir.run(&["recover", "idx", "--to", "third", "--segment", name, "--segment", other]);
    assert_eq!((refused.status, dir.path("third").exists()), (2, false));
    assert!(refused.err.contains("choose the segments"), "{}", refused.err);
    assert!(!refused.err.contains("--on-conflict"), "{}", refused.err);
    // Does what the message advises.
    dir.json(&["merge", "old", "new", "--on-conflict", "later"]);
    assert_eq!(dir.json(&["stats", "old"])["documents"], 41);
}

#[test]
fn what_comes_back_is_told_where_no_other_segment_is_whole() {
    let dir = Dir::new();
    let lines: Vec<String> =
        (0..5).map(|i| line(&format!("d{i}"), &words(i, 80), json!({}))).collect();
    dir.write("one.jsonl", lines.join("\n"));
    dir.json(&["add", "idx", "one.jsonl"]);
    dir.json(&["remove", "idx", "d1"]);
    let list = fs::read_dir(dir.path("idx")).unwrap().map(|entry| entry.unwrap().path());
    let is_del = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "del");
    let lists: Vec<PathBuf> = list.filter(is_del).collect();
    assert_eq!(lists.len(), 1, "{lists:?}");
    fs::remove_file(&lists[0]).unwrap();
    let refused = dir.run(&["recover", "idx", "--to", "new"]);
    assert_eq!((refused.status, dir.path("new").exists()), (2, false));
    let told = "is taken if it is named: documents that were removed or replaced, 1 of them";
    assert!(refused.err.contains(told), "{}", refused.err);
}

#[test]
fn an_end_of_a_file_that_is_cut_off_is_told_in_words_of_our_own() {
    let dir = two_commits();
    let name = segments(&dir)[0]["segment"].as_str().unwrap().to_owned();
    let file = dir.path(&format!("idx/{name}.term"));
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() - 5]).unwrap();
    let problem = listed(&dir, 2)[0]["problem"].as_str().unwrap().to_owned();
    assert!(problem.contains(".term") && problem.contains("cut off"), "{problem}");
    assert!(!problem.contains("tantivy"), "{problem}");
}

#[test]
fn a_check_says_how_many_segments_of_how_many_are_damaged() {
    let dir = two_commits();
    let found = segments(&dir);
    let path = |at: usize, extension: &str| {
        dir.path(&format!("idx/{}.{extension}", found[at]["segment"].as_str().unwrap()))
    };
    let check = |damaged: u64, told: &str| {
        let run = dir.run(&["check", "idx", "--format", "json"]);
        let report = run.json();
        assert_eq!((run.status, &report["segments"]), (2, &json!(2)), "{report}");
        assert_eq!(report["damaged"], damaged, "{report}");
        let run = dir.run(&["check", "idx", "--format", "human"]);
        assert!(run.out.lines().any(|line| line == told), "{}", run.out);
    };
    let whole = fs::read(path(0, "sig")).unwrap();
    let mut bytes = whole.clone();
    bytes[100] ^= 1;
    fs::write(path(0, "sig"), &bytes).unwrap();
    check(1, "1 of 2 segments: damaged");
    fs::write(path(0, "sig"), &whole).unwrap();
    // The index cannot be searched then.
    fs::remove_file(path(1, "store")).unwrap();
    check(1, "1 of 2 segments: damaged");
    fs::write(path(0, "sig"), &bytes).unwrap();
    check(2, "2 of 2 segments: damaged");
}

#[test]
fn an_index_without_its_list_is_damaged_and_not_absent() {
    let dir = two_commits();
    assert_eq!(dir.run(&["create", "other"]).status, 0);
    fs::remove_file(dir.path("idx/meta.json")).unwrap();
    let check = dir.run(&["check", "idx", "--format", "human"]);
    assert_eq!(check.status, 2);
    assert!(
        check.out.contains("meta.json") && check.out.contains("it is missing"),
        "{}",
        check.out
    );
    assert!(check.out.contains("cento recover"), "{}", check.out);
    let text = words(2, 80);
    for args in [
        &["list", "idx"][..],
        &["search", "idx", "--text", &text],
        &["stats", "idx"],
        &["add", "idx", "one.jsonl"],
        &["create", "idx"],
        &["create", "idx", "--if-missing"],
        &["remove", "idx", "d2"],
        &["merge", "idx", "other"],
        &["serve", "idx", "--listen", "127.0.0.1:0"],
    ] {
        let run = dir.run(args);
        let told = run.err.contains("meta.json") && run.err.contains("`cento recover ");
        assert!(run.status == 2 && told, "{args:?}: {}", run.err);
        assert!(!run.err.contains("no index here"), "{args:?}: {}", run.err);
        assert!(!run.err.contains("choose another"), "{args:?}: {}", run.err);
    }
}

#[test]
fn an_id_that_is_live_in_two_segments_is_named() {
    // The lists of deleted documents are gone as well, so both versions are live.
    let dir = two_commits();
    fs::remove_file(dir.path("idx/meta.json")).unwrap();
    for entry in fs::read_dir(dir.path("idx")).unwrap().flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "del") {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    dir.run(&["create", "like"]);
    let refused = dir.run(&["recover", "idx", "--to", "new", "--like", "like"]);
    assert_eq!(refused.status, 2);
    for told in ["`d0`", "both have a document with the id", "choose the segments"] {
        assert!(refused.err.contains(told), "{}", refused.err);
    }
    assert!(!dir.path("new").exists());
    let name = segments(&dir)[0]["segment"].as_str().unwrap().to_owned();
    dir.json(&["recover", "idx", "--to", "new", "--like", "like", "--segment", &name]);
    assert_eq!(dir.json(&["check", "new"])["ok"], true);
}

#[test]
fn a_damaged_list_of_files_of_tantivy_is_named_with_the_way_out() {
    let dir = Dir::new();
    dir.write("a.jsonl", line("a", &words(1, 60), json!({})));
    assert_eq!(dir.json(&["add", "idx", "a.jsonl"])["added"], 1);
    dir.write("idx/.managed.json", "garbage");
    for args in [&["stats", "idx"][..], &["add", "idx", "a.jsonl"], &["check", "idx"]] {
        let run = dir.run(args);
        assert_eq!(run.status, 2, "{}", run.err);
        assert!(run.err.contains("`.managed.json` is damaged") && run.err.contains("delete it"));
        assert!(!run.err.contains("Error("), "{}", run.err);
    }
    fs::remove_file(dir.path("idx/.managed.json")).unwrap();
    dir.write("b.jsonl", line("b", &words(2, 60), json!({})));
    assert_eq!(dir.json(&["add", "idx", "b.jsonl"])["added"], 1);
    // The next writer removes the files that only the damaged list mentions.
    assert_eq!(dir.json(&["add", "idx", "b.jsonl"])["unchanged"], 1);
    assert_eq!(dir.run(&["check", "idx"]).status, 0);
    assert_eq!(dir.json(&["stats", "idx"])["documents"], 2);
}
