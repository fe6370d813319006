//! Access to an index without write permission, and during writes of a second process.
#![cfg(unix)]

use std::fs;
use std::process::Command;

use crate::common::run::{Dir, Run, indexed, line};
use crate::common::service::{JSON, Service};
use crate::common::{wait_until, words};
use cento::index::{Index, WriterOptions};
use serde_json::json;

/// The user id of an account without files.
const NOBODY: u32 = 65534;

/// Runs cento in `dir` as a user with permission to read everything there and to write nothing.
fn run_as_reader(dir: &Dir, args: &[&str]) -> Run {
    as_reader(dir, args, |mut command| command.output().unwrap().into())
}

/// Passes `run` a command that runs cento in `dir` as a user with permission to read and not to
/// write.
fn as_reader<T>(dir: &Dir, args: &[&str], run: impl FnOnce(Command) -> T) -> T {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    for name in [".", "rfc.idx"] {
        fs::set_permissions(dir.path(name), fs::Permissions::from_mode(0o555)).unwrap();
    }
    // The superuser may write anywhere, so the test runs the command as a different user.
    let is_superuser = fs::File::create(dir.path("rfc.idx/probe")).is_ok();
    let mut command = dir.command(args);
    if is_superuser {
        fs::remove_file(dir.path("rfc.idx/probe")).unwrap();
        let program = dir.path("cento");
        if !program.exists() {
            // The build directory may be closed to the user. A separate process copies the program,
            // because a program open for writing cannot be run, and children of parallel tests
            // would inherit the open file.
            let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_cento")).arg(&program).status();
            assert!(copied.unwrap().success());
        }
        command = Command::new(program);
        command.args(args).current_dir(dir.path(".")).uid(NOBODY).gid(NOBODY);
    }
    let ran = run(command);
    for name in [".", "rfc.idx"] {
        fs::set_permissions(dir.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    ran
}

#[test]
fn a_user_with_read_permission_can_read() {
    let dir = Dir::new();
    dir.write("a.txt", words(1, 60));
    assert_eq!(dir.run(&["add", "rfc.idx", "a.txt"]).status, 0);
    // Once with the file that is locked while segments are opened, and once without, as in a copy.
    for lock in ["there", "gone"] {
        if lock == "gone" {
            fs::remove_file(dir.path("rfc.idx/.tantivy-meta.lock")).unwrap();
        }
        for verb in
            [&["search", "rfc.idx", "a.txt"][..], &["stats", "rfc.idx"], &["check", "rfc.idx"]]
        {
            let run = run_as_reader(&dir, verb);
            assert_eq!(run.status, 0, "{verb:?}, lock {lock}: {}", run.err);
        }
    }
}

#[test]
fn a_user_without_write_permission_gets_an_error() {
    let dir = Dir::new();
    dir.write("a.txt", words(1, 60));
    assert_eq!(dir.run(&["add", "rfc.idx", "a.txt"]).status, 0);
    for lock in ["there", "gone"] {
        if lock == "gone" {
            fs::remove_file(dir.path("rfc.idx/.tantivy-writer.lock")).unwrap();
        }
        for verb in [&["add", "rfc.idx", "a.txt"][..], &["compact", "rfc.idx"]] {
            let run = run_as_reader(&dir, verb);
            assert_eq!(run.status, 2, "{verb:?}: {}", run.err);
            assert!(run.err.contains("ermission denied"), "{verb:?}, lock {lock}: {}", run.err);
            assert!(!run.err.contains("another process"), "{verb:?}: {}", run.err);
        }
    }
}

#[test]
fn an_index_that_may_not_be_read_is_neither_missing_nor_damaged() {
    // The message called the index missing, and `check` called the index damaged.
    use std::os::unix::fs::PermissionsExt;
    let dir = Dir::new();
    dir.write("a.txt", words(1, 60));
    assert_eq!(dir.run(&["add", "closed.idx", "a.txt"]).status, 0);
    assert_eq!(dir.run(&["add", "rfc.idx", "a.txt"]).status, 0);
    let close = |path: &std::path::Path| {
        fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
    };
    let files = fs::read_dir(dir.path("rfc.idx")).unwrap().map(|file| file.unwrap().path());
    let signatures = files.filter(|file| file.extension().is_some_and(|ending| ending == "sig"));
    signatures.for_each(|file| close(&file));
    close(&dir.path("closed.idx"));
    for index in ["closed.idx", "rfc.idx"] {
        for line in ["search INDEX a.txt", "stats INDEX", "check INDEX", "serve INDEX"] {
            let line = line.replace("INDEX", index);
            let run = run_as_reader(&dir, &line.split(' ').collect::<Vec<_>>());
            assert_eq!(run.status, 2, "{line}: {}", run.err);
            let is_told = run.err.contains("ermission denied") && run.err.contains(index);
            assert!(is_told && !run.err.contains("no index here"), "{line}: {}", run.err);
            assert!(!run.out.contains("damaged"), "{line}: {}", run.out);
            assert!(!run.err.contains("--read-only"), "{line}: {}", run.err);
        }
    }
    fs::set_permissions(dir.path("closed.idx"), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_user_without_write_permission_can_serve_and_sees_later_commits() {
    // The service took the lock of a writer, and could not begin.
    let dir = Dir::new();
    dir.write("a.txt", words(1, 60));
    assert_eq!(dir.run(&["add", "rfc.idx", "a.txt"]).status, 0);
    let serve = ["serve", "rfc.idx", "--listen", "127.0.0.1:0"];
    let refused = run_as_reader(&dir, &serve);
    assert!(refused.status == 2 && refused.err.contains("; --read-only serves"), "{}", refused.err);
    let files = || {
        let files = fs::read_dir(dir.path("rfc.idx")).unwrap().map(|file| file.unwrap());
        let mut files: Vec<_> = files
            .map(|file| (file.file_name(), file.metadata().unwrap().modified().unwrap()))
            .collect();
        files.sort();
        files
    };
    let before = files();
    let read_only = [&serve[..], &["--read-only", "--log", "json"]].concat();
    let service = as_reader(&dir, &read_only, Service::saying);
    assert_eq!(service.ask("GET", "/readyz", "", "").status, 200);
    for (method, path, body) in [
        ("POST", "/v1/documents", "{\"id\": \"x\", \"text\": \"y\"}"),
        ("DELETE", "/v1/documents/a.txt", ""),
        ("POST", "/v1/commit", "{}"),
        ("POST", "/v1/compact", "{}"),
    ] {
        let reply = service.ask(method, path, JSON, body);
        assert_eq!((reply.status, reply.code().as_str()), (403, "read_only"), "{path}");
    }
    let found = service.post("/v1/search", &format!("{{\"text\": \"{}\"}}", words(1, 60)));
    assert!(found.status == 200 && found.body.contains("\"a.txt\""), "{found:?}");
    // As with a single index, the path is not shown.
    assert!(!found.body.contains("rfc.idx"), "{found:?}");
    assert_eq!(files(), before);
    // The service holds no lock, so a second process can write.
    dir.write("b.txt", words(2, 60));
    assert_eq!(dir.run(&["add", "rfc.idx", "b.txt"]).status, 0);
    wait_until("the commit to be seen", || service.client().stats().unwrap().index.documents == 2);
    assert!(service.stop());
}

#[test]
fn a_service_beside_a_writer_says_how() {
    let dir = Dir::new();
    assert_eq!(dir.run(&["create", "idx"]).status, 0);
    let index = Index::open(dir.path("idx")).unwrap();
    let _writer = index.writer(WriterOptions::default()).unwrap();
    let refused = dir.run(&["serve", "idx", "--listen", "127.0.0.1:0"]);
    assert!(refused.status == 2 && refused.err.contains("; --read-only serves"), "{}", refused.err);
    let together = dir.run(&["serve", "idx", "--read-only", "--compact-at", "03:00"]);
    assert!(
        together.status == 2 && together.err.contains("cannot be used with"),
        "{}",
        together.err
    );
}

#[test]
fn short_writers_wait_for_their_turn_if_they_are_asked_to() {
    let dir = indexed();
    let index = Index::open(dir.path("idx")).unwrap();
    dir.json(&["store", "push", "idx", "store"]);
    dir.json(&["store", "pull", "store", "copy"]);
    let copy = Index::open(dir.path("copy")).unwrap();
    dir.write("new.jsonl", line("new", &words(50, 60), json!({})));
    dir.write("mine.txt", words(1, 80));
    let verbs: [&[&str]; 9] = [
        &["add", "idx", "new.jsonl"],
        &["withdraw", "idx", "new"],
        &["withdraw", "idx", "--forget", "new"],
        &["add", "idx", "new.jsonl"],
        &["watch", "add", "idx", "mine.txt"],
        &["compact", "idx"],
        &["dedup", "new.jsonl", "--index", "idx", "--out", "out.jsonl"],
        &["store", "pull", "store", "copy"],
        &["remove", "idx", "new"],
    ];
    let lock = || {
        let lock = |index: &Index| index.writer(WriterOptions::default().merge(false)).unwrap();
        (lock(&index), lock(&copy))
    };
    let writers = lock();
    for verb in verbs {
        // The verb fails at once by default, and otherwise after the given time.
        for wait in [&[][..], &["--wait", "1ms"]] {
            let run = dir.run(&[verb, wait].concat());
            assert_eq!(run.status, 2, "{verb:?} {}", run.err);
            assert!(run.err.contains("--wait 1m"), "{verb:?} {}", run.err);
        }
    }
    let add = |i: u64| {
        dir.write(&format!("{i}.jsonl"), line(&i.to_string(), &words(60 + i, 60), json!({})));
        let file = format!("{i}.jsonl");
        dir.command(&["add", "idx", &file, "--wait", "10m"]).spawn().unwrap()
    };
    let mut children: Vec<_> = (0..4).map(add).collect();
    drop(writers);
    assert!(children.iter_mut().all(|child| child.wait().unwrap().success()));
    let before = dir.json(&["stats", "idx"])["documents"].as_u64();
    assert_eq!(before, Some(7));
    for verb in verbs {
        let writers = lock();
        let mut child = dir.command(&[verb, &["--wait", "10m"]].concat()).spawn().unwrap();
        drop(writers);
        assert!(child.wait().unwrap().success(), "{verb:?}");
    }
    assert_eq!(dir.json(&["stats", "idx"])["documents"].as_u64(), Some(7));
}
