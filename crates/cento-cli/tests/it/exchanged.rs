//! An index that is replaced by a different index while the command is writing.
#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::process::Stdio;

use crate::common::run::{Dir, line};
use crate::common::{wait_until, words};
use cento_testing::exchanged::{switch, two};
use serde_json::{Value, json};

fn documents(dir: &Dir, index: &str) -> Value {
    // An aborted addition leaves uncommitted files, which gives status 3.
    let check = dir.run(&["check", index, "--format", "json"]);
    assert!([0, 3].contains(&check.status) && check.json()["ok"] == true, "{}", check.err);
    dir.json(&["stats", index])["documents"].clone()
}

#[test]
fn an_addition_ends_when_its_index_is_exchanged() {
    for exchange in ["link", "backup", "removed", "lock"] {
        let dir = Dir::new();
        two(&dir, 3);
        let mut command = dir.command(&["add", "idx", "-", "--commit-every", "1"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let list = || fs::read(dir.path("v1/meta.json")).unwrap();
        let before = list();
        // More than is read at once.
        let id = |i: u64| format!("n{i}");
        let lines = (0..5000).map(|i| line(&id(i), &words(200 + i, 60), json!({})));
        stdin.write_all(lines.collect::<Vec<_>>().join("\n").as_bytes()).unwrap();
        wait_until("it commits", || list() != before);
        match exchange {
            "link" => switch(&dir, "v2"),
            "backup" => {
                fs::rename(dir.path("v1"), dir.path("aside")).unwrap();
                fs::rename(dir.path("v2"), dir.path("v1")).unwrap();
            }
            "removed" => {
                // Renaming first prevents writes into the directory while it is being removed.
                fs::rename(dir.path("v1"), dir.path("aside")).unwrap();
                fs::remove_dir_all(dir.path("aside")).unwrap();
            }
            _ => fs::remove_file(dir.path("v1/.tantivy-writer.lock")).unwrap(),
        }
        // The pipe may break, because the command may have ended.
        for i in 0..20 {
            let _ = writeln!(stdin, "\n{}", line(&id(6000 + i), &words(9000 + i, 60), json!({})));
        }
        drop(stdin);
        let ended = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(2), "{exchange}: {told}");
        assert!(told.contains("open the index again"), "{exchange}: {told}");
        match exchange {
            "link" => assert_eq!(documents(&dir, "v2"), 3, "{told}"),
            "backup" => assert_eq!(documents(&dir, "v1"), 3, "{told}"),
            "removed" => assert!(!dir.path("v1").exists(), "{told}"),
            _ => assert!(documents(&dir, "v1").as_u64() >= Some(4), "{told}"),
        }
    }
}
