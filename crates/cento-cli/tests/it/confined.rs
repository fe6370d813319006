//! System calls that are allowed to processes reading documents and tables.

use std::io::Read;
#[cfg(feature = "office")]
use std::io::Write;
use std::process::{Child, Stdio};

use crate::common::run::Dir;

/// Whether each thread of a process has a filter of system calls, by the system's own account.
#[track_caller]
fn check_is_confined(process: &Child) {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", process.id())).unwrap();
    let mut threads = 0;
    for task in tasks {
        let status = std::fs::read_to_string(task.unwrap().path().join("status")).unwrap();
        let value = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap_or_else(|| panic!("no {name} in {status}")).trim().to_owned()
        };
        // The value 2 means that a filter is active.
        assert_eq!((value("Seccomp:").as_str(), value("NoNewPrivs:").as_str()), ("2", "1"));
        threads += 1;
    }
    assert!(threads > 0);
}

fn started(dir: &Dir, args: &[&str], input: Stdio) -> Child {
    let mut command = dir.command(args);
    command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

#[cfg(feature = "office")]
#[test]
fn the_process_that_reads_documents_is_confined() {
    let dir = Dir::new();
    let mut worker = started(&dir, &["extract-worker"], Stdio::piped());
    let mut input = worker.stdin.take().unwrap();
    let mut output = worker.stdout.take().unwrap();
    let request = |bytes: &[u8]| [&(bytes.len() as u64).to_le_bytes(), bytes].concat();
    // A document for every parser, so that the filter sees the system calls of every parser.
    for bytes in [
        super::documents::docx("some words"),
        super::documents::pdf(&["some words"]),
        b"{\\rtf1\\ansi some words\\par}".to_vec(),
    ] {
        input.write_all(&request(&bytes)).unwrap();
        let mut answer = [0; 9];
        output.read_exact(&mut answer).unwrap();
        assert_eq!(answer[0], 0, "it is a failure");
        let mut text = vec![0; u64::from_le_bytes(answer[1..].try_into().unwrap()) as usize];
        output.read_exact(&mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap().trim(), "some words");
        output.read_exact(&mut [0; 16]).unwrap();
        check_is_confined(&worker);
    }
    drop(input);
    assert!(worker.wait().unwrap().success());
}

#[cfg(feature = "parquet")]
#[test]
fn the_process_that_reads_tables_is_confined() {
    let dir = Dir::new();
    dir.write("a.parquet", include_bytes!("tables/sample.parquet"));
    let input = std::fs::File::open(dir.path("a.parquet")).unwrap();
    let request = r#"{"read":{"kind":"parquet","id":"url","text":["content"],
        "meta":{"Named":["meta"]},"all":false,"row_bytes_max":65536}}"#;
    let mut worker = started(&dir, &["table-worker", request], input.into());
    let mut output = worker.stdout.take().unwrap();
    // The first byte of the answer is the kind: columns that are not read. Rows follow.
    let mut kind = [9];
    output.read_exact(&mut kind).unwrap();
    assert_eq!(kind, [6]);
    // The worker may have ended, but the system knows the state until a process waits for the
    // worker.
    check_is_confined(&worker);
    output.read_to_end(&mut Vec::new()).unwrap();
    assert!(worker.wait().unwrap().success());
}

/// A system without support for filters, like some containers and old kernels.
#[cfg(feature = "office")]
#[test]
fn where_the_system_takes_no_filter_documents_are_named_and_others_read() {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};
    let dir = Dir::new();
    dir.write("in/a.docx", super::documents::docx("some words of a document"));
    dir.write("in/b.txt", "some words of a text");
    let mut command = dir.command(&["add", "idx", "in", "--format", "json"]);
    // A thread forbidden to set filters starts programs with the same restriction.
    let run = std::thread::spawn(move || {
        let rules = [(libc::SYS_seccomp, Vec::new())].into();
        let forbidden = SeccompAction::Errno(libc::EPERM.unsigned_abs());
        let arch = TargetArch::try_from(std::env::consts::ARCH).unwrap();
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, forbidden, arch).unwrap();
        seccompiler::apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
        command.stdin(Stdio::null()).output().unwrap()
    });
    let run = crate::common::run::Run::from(run.join().unwrap());
    let report = run.json();
    assert_eq!((run.status, &report["added"]), (3, &1.into()), "{}", run.err);
    assert_eq!(report["unread_files"][0]["path"], "in/a.docx");
    let reason = report["unread_files"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("cannot be confined") && reason.contains("seccomp"), "{reason}");
}
