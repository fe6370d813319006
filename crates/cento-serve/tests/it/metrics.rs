//! The metrics of requests, the index and the process.

use crate::common::{Ask, Routes, Service, body, created, indexed, wait_until, words};
use cento_client::api::{Commit, CompactRequest, SearchRequest};

#[test]
fn metrics_count_the_requests() {
    let dir = indexed();
    let service = Service::start(&dir);
    let client = service.client();
    let search = SearchRequest { text: Some(words(1, 80)), ..SearchRequest::default() };
    client.search(&search).unwrap();
    client.add(&body("d", &words(4, 50)), Commit::Wait).unwrap();
    client.remove(vec!["a".into()], Commit::Wait).unwrap();
    client.compact(&CompactRequest { wait: true, segments: 1 }).unwrap();
    let text = service.ask("GET", "/metrics", "", "").body;
    for line in [
        "cento_documents 3",
        "cento_documents_deleted 0",
        "cento_segments 1",
        "cento_compactions_total 1",
        "cento_documents_received_total{outcome=\"added\"} 1",
        "cento_documents_received_total{outcome=\"removed\"} 1",
        "cento_commit_duration_seconds_count 2",
        "cento_ingest_queue_requests 0",
        "cento_ingest_queue_bytes 0",
        "cento_documents_lost_total 0",
        "cento_requests_in_flight 1",
    ] {
        assert!(text.lines().any(|other| other == line), "{line} is not among\n{text}");
    }
    let searches = "cento_request_duration_seconds_count{route=\"/v1/search\",method=\"POST\",\
                    status=\"200\"} 1";
    assert!(text.contains(searches), "{text}");
    assert!(service.metric("cento_postings_total") > 0.0);
    // The writer counts merges at intervals.
    wait_until("the merges to be counted", || service.metric("cento_segments_merged_total") >= 2.0);
}

#[test]
fn metrics_come_in_the_format_that_is_accepted() {
    let dir = created();
    let service = Routes::of(&dir);
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
    // A sample's name begins with the name of a metric that has help and a type.
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
fn the_time_and_the_index_are_measured() {
    let dir = created();
    let service = Service::start(&dir);
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
}

#[cfg(target_os = "linux")]
#[test]
fn the_process_is_measured() {
    let dir = created();
    let service = Service::start(&dir);
    let resident = service.metric("process_resident_memory_bytes");
    let anonymous = service.metric("process_resident_anonymous_memory_bytes");
    // The program is a mapped file, so resident memory is larger.
    assert!(0.0 < anonymous && anonymous < resident, "{anonymous}, {resident}");
    assert!(service.metric("process_cpu_seconds_total") > 0.0);
    // There are at least three standard streams, the listener and a connection.
    assert!(service.metric("process_open_fds") >= 5.0);
    assert!(service.metric("process_max_fds") >= service.metric("process_open_fds"));
}
