//! The log and the metrics of a service.

use std::fs::{self, File};

use cento_client::api::{Commit, DocumentBody};
use serde_json::Value;

use super::common::run::Dir;
use super::common::service::Service;
use super::common::words;

fn body(id: &str, text: &str) -> DocumentBody {
    DocumentBody { id: id.into(), text: text.into(), meta: serde_json::Map::new(), id_place: None }
}

/// Each line of a log for programs.
#[track_caller]
fn lines(log: &str) -> Vec<Value> {
    let parse = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        for field in ["timestamp", "level", "target", "message"] {
            assert!(line[field].is_string(), "{field} is missing in {line}");
        }
        line
    };
    log.lines().map(parse).collect()
}

#[test]
fn every_line_of_a_log_for_programs_is_json() {
    let dir = Dir::new();
    dir.run(&["create", "idx"]);
    let log = dir.path("log");
    let arguments = ["--log", "json", "--log-requests"];
    let service = Service::start_logging(&dir, &arguments, File::create(&log).unwrap());
    let client = service.client();
    client.add(&body("a", &words(1, 50)), Commit::Wait).unwrap();
    client.remove(vec!["a".into()], Commit::Wait).unwrap();
    assert_eq!(service.ask("GET", "/v1/nothing", "", "").status, 404);
    assert!(service.stop());
    let lines = lines(&fs::read_to_string(log).unwrap());
    let has = |field: &str, start: &str| {
        let is = |line: &Value| line[field].as_str().is_some_and(|text| text.starts_with(start));
        assert!(lines.iter().any(is), "no {field} {start} in {lines:#?}");
    };
    has("message", "serving");
    has("message", "request");
    has("message", "stopping");
    has("message", "stopped");
    // What libraries say through `log`.
    has("target", "tantivy::");
}

#[test]
fn a_service_that_cannot_begin_says_so_in_json() {
    let dir = Dir::new();
    dir.run(&["create", "idx"]);
    let check = |arguments: &[&str], what: &str| {
        let run = dir.run(&[arguments, &["--log", "json"]].concat());
        assert_eq!(run.status, 2);
        let lines = lines(&run.err);
        let said = lines.iter().find(|line| line["level"] == "ERROR").expect("an error is logged");
        assert!(said["error"].as_str().unwrap().contains(what), "{said}");
        let human = dir.run(arguments);
        assert!(human.status == 2 && human.err.starts_with("cento: "), "{}", human.err);
    };
    check(&["serve", "nowhere", "--listen", "127.0.0.1:0"], "nowhere");
    check(&["serve", "idx", "--listen", "0.0.0.0:0"], "--tokens");
    check(&["serve", "idx", "--listen", "127.0.0.1:0", "--tokens", "none"], "none");
}

#[test]
fn metrics_come_in_the_format_that_is_accepted() {
    let dir = Dir::new();
    dir.run(&["create", "idx"]);
    let service = Service::start(&dir, &[]);
    service.client().add(&body("a", &words(1, 50)), Commit::Wait).unwrap();
    let ask = |accept: &str| service.ask("GET", "/metrics", accept, "");
    for accept in ["", "Accept: */*\r\n", "Accept: application/openmetrics-text\r\n"] {
        let open = ask(accept);
        assert!(open.head.contains("content-type: application/openmetrics-text"), "{}", open.head);
        assert!(open.body.contains("# TYPE cento_documents_lost counter"), "{}", open.body);
        assert!(open.body.ends_with("# EOF\n"), "{}", open.body);
    }
    let classic = ask("Accept: text/plain\r\n");
    assert!(classic.head.contains("content-type: text/plain; version=0.0.4"), "{}", classic.head);
    assert!(!classic.body.contains("# EOF") && !classic.body.contains("# UNIT"));
    // Every sample is of a metric with help and a type, by whose name it begins.
    let mut known = Vec::new();
    for line in classic.body.lines() {
        if let Some(name) = line.strip_prefix("# TYPE ").and_then(|rest| rest.split(' ').next()) {
            assert!(classic.body.contains(&format!("# HELP {name} ")), "{name}");
            known.push(name);
        } else if !line.starts_with('#') {
            let name = line.split(['{', ' ']).next().unwrap();
            let ends = ["", "_sum", "_count", "_bucket"];
            let is_known = |of: &&str| ends.iter().any(|end| name == format!("{of}{end}"));
            assert!(known.last().is_some_and(is_known), "{line}");
        }
    }
    assert!(known.contains(&"cento_documents_lost_total"), "{known:?}");
    assert!(known.contains(&"cento_request_duration_seconds"), "{known:?}");
}

#[test]
fn the_process_and_the_index_are_measured() {
    let dir = Dir::new();
    dir.run(&["create", "idx"]);
    let service = Service::start(&dir, &[]);
    let before = service.metric("cento_last_commit_timestamp_seconds");
    service.client().add(&body("a", &words(1, 5000)), Commit::Wait).unwrap();
    let after = service.metric("cento_last_commit_timestamp_seconds");
    let started = service.metric("process_start_time_seconds");
    assert!(before > 0.0 && after >= started && after >= before, "{before}, {started}, {after}");
    let text = service.ask("GET", "/metrics", "", "").body;
    let build =
        concat!("cento_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\",format=\"1\"} 1");
    assert!(text.lines().any(|line| line == build), "{text}");
    let stats = service.client().stats().unwrap().index.bytes;
    for (of, bytes) in [("signatures", stats.signatures), ("text", stats.text)] {
        let line = format!("cento_index_bytes{{of=\"{of}\"}} {bytes}");
        assert!(
            bytes > 0 && text.lines().any(|other| other == line),
            "{line} is not among\n{text}"
        );
    }
    if cfg!(target_os = "linux") {
        let resident = service.metric("process_resident_memory_bytes");
        let anonymous = service.metric("process_resident_anonymous_memory_bytes");
        // The program itself is a mapped file.
        assert!(0.0 < anonymous && anonymous < resident, "{anonymous}, {resident}");
        assert!(service.metric("process_cpu_seconds_total") > 0.0);
        // Standard streams, the listener, this connection.
        assert!(service.metric("process_open_fds") >= 5.0);
        assert!(service.metric("process_max_fds") >= service.metric("process_open_fds"));
    }
}
