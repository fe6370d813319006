//! Stopped, killed and missing services, and their clients.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::run::{Dir, indexed};
use crate::common::service::{JSON, Service};
use crate::common::{contents, wait_until, words};
use cento::Error;
use cento::index::Index;
use cento_client::Client;
use cento_client::api::{Commit, DocumentBody};
use serde_json::{Map, json};

fn created() -> Dir {
    let dir = Dir::new();
    assert_eq!(dir.run(&["create", "idx"]).status, 0);
    dir
}

fn body(id: &str, text: &str) -> DocumentBody {
    DocumentBody { id: id.to_owned(), text: text.to_owned(), meta: Map::new(), id_place: None }
}

fn lines(documents: impl IntoIterator<Item = DocumentBody>) -> Vec<u8> {
    let line = |d: DocumentBody| serde_json::to_string(&d).unwrap() + "\n";
    documents.into_iter().map(line).collect::<String>().into_bytes()
}

#[test]
fn a_command_gets_its_token_from_a_variable() {
    let dir = indexed();
    dir.write("tokens", "read reader reader-0123456789\nwrite writer writer-0123456789\n");
    let _service = Service::start(&dir, &["--tokens", "tokens"]);
    let run = |token: Option<&str>| {
        let mut command = dir.command(&["compact", "idx"]);
        command.env_remove("CENTO_TOKEN");
        if let Some(token) = token {
            command.env("CENTO_TOKEN", token);
        }
        command.output().unwrap().status.code()
    };
    assert_eq!(run(None), Some(2));
    assert_eq!(run(Some("reader-0123456789")), Some(2));
    assert_eq!(run(Some("writer-0123456789")), Some(0));
}

#[test]
fn an_address_that_others_reach_needs_tokens() {
    let dir = indexed();
    dir.write("tokens", "write writer writer-0123456789\n");
    for (args, said) in [
        (&["--listen", "0.0.0.0:0"][..], "--tokens"),
        // Every page could do everything.
        (&["--cors-origin", "https://app.example"], "--tokens"),
        (&["--tokens", "tokens", "--cors-origin", "*"], "`*` is no origin"),
    ] {
        let run = dir.run(&[&["serve", "idx"], args].concat());
        assert!(run.status == 2 && run.err.contains(said), "{args:?}: {}", run.err);
    }
}

#[test]
fn acknowledged_documents_outlive_a_stop() {
    let dir = created();
    // However little patience there is, and however long the interval.
    let arguments = ["--commit-interval", "9223372036854775807s", "--shutdown-timeout", "1ms"];
    let service = Service::start(&dir, &arguments);
    let client = service.client();
    for i in 0..20 {
        client.add(&body(&format!("d{i}"), &words(i, 50)), Commit::Auto).unwrap();
    }
    assert!(service.stop());
    assert_eq!(dir.json(&["stats", "idx", "--quick"])["documents"], 20);
    assert!(!dir.path("idx/.service.json").exists());
}

#[test]
fn a_killed_service_has_all_acknowledged_commits_and_nothing_twice() {
    let dir = created();
    let mut next = 0u64;
    let mut expected: BTreeSet<String> = BTreeSet::new();
    for round in 0..4u64 {
        let service = Service::start(&dir, &["--commit-interval", "20ms"]);
        let client = service.client();
        let (start, acknowledged) = (next, AtomicU64::new(next));
        std::thread::scope(|scope| {
            let adding = scope.spawn(|| {
                let mut at = start;
                loop {
                    let batch = (at..at + 25).map(|i| body(&format!("d{i}"), &words(i, 40)));
                    if client.add_lines(&lines(batch), Commit::Wait).is_err() {
                        return at + 25;
                    }
                    at += 25;
                    acknowledged.store(at, Ordering::SeqCst);
                }
            });
            let enough = start + 25 * (1 + round);
            wait_until("documents", || acknowledged.load(Ordering::SeqCst) >= enough);
            service.kill();
            next = adding.join().unwrap();
        });
        expected.extend((start..acknowledged.into_inner()).map(|i| format!("d{i}")));
        let index = Index::open(dir.path("idx")).unwrap();
        // `contents` fails if an id occurs twice.
        let found: BTreeSet<String> = contents(&index.snapshot().unwrap()).into_keys().collect();
        assert!(found.is_superset(&expected), "{:?}", expected.difference(&found));
        assert_eq!(index.check().unwrap().problems, []);
        expected = found;
    }
}

#[test]
fn a_document_that_is_too_large_for_a_service_disturbs_no_other() {
    let dir = created();
    let line = |id: &str, count| json!({"id": id, "text": words(1, count)}).to_string() + "\n";
    dir.write("corpus.jsonl", line("a", 50) + &line("large", 200_000) + &line("b", 50));
    let service = Service::start(&dir, &["--max-body", "512KiB"]);
    let run = dir.run(&["add", "--url", &service.url, "corpus.jsonl", "--format", "json"]);
    assert_eq!(
        (run.status, &run.json()["added"], &run.json()["failed"]),
        (3, &json!(2), &json!(1))
    );
    assert!(run.err.contains("large: the body exceeds 524288 bytes"), "{}", run.err);
}

#[test]
fn a_client_gets_an_error_when_a_service_lost_accepted_changes() {
    let dir = created();
    let first = Service::start(&dir, &["--commit-interval", "1h"]);
    let run = first.client().commit().unwrap().run;
    first.client().add(&body("a", &words(1, 50)), Commit::Auto).unwrap();
    first.kill();
    let second = Service::start(&dir, &[]);
    let after = second.client().commit().unwrap();
    assert_ne!(after.run, run);
    assert_eq!(after.documents, 0);
}

#[test]
fn an_address_without_a_service_is_an_error() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let answering = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = [0; 4096];
        let _ = stream.read(&mut head).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").unwrap();
    });
    let error = Client::new(&url, None).unwrap().stats().unwrap_err();
    answering.join().unwrap();
    assert!(matches!(error, Error::Service { code, .. } if code == "unexpected"));
    for url in ["", "localhost:1", "ftp://localhost", "/v1"] {
        assert!(Client::new(url, None).is_err(), "{url}");
    }
}

#[cfg(unix)]
#[test]
fn a_service_that_drains_is_not_ready_and_answers_until_the_end() {
    let dir = indexed();
    let service = Service::start(&dir, &["--drain-time", "2s"]);
    let status = |path: &str| service.ask("GET", path, "", "").status;
    assert_eq!((status("/readyz"), status("/v1/stats")), (200, 200));
    let mut kept = std::net::TcpStream::connect(service.address()).unwrap();
    let request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    kept.write_all(request).unwrap();
    let mut begin = [0; 12];
    kept.read_exact(&mut begin).unwrap();
    assert_eq!(&begin, b"HTTP/1.1 200");
    let begun = std::time::Instant::now();
    service.signal("TERM");
    wait_until("it is not ready", || status("/readyz") == 503);
    // A client with an open connection has to open another, which may lead to another service.
    kept.write_all(request).unwrap();
    let mut answers = String::new();
    kept.read_to_string(&mut answers).unwrap();
    let (_, last) = answers.rsplit_once("HTTP/1.1 200").unwrap();
    assert_eq!(answers.matches("connection: close").count(), 1, "{answers}");
    assert!(last.contains("connection: close"), "{answers}");
    assert!(begun.elapsed() < std::time::Duration::from_secs(2), "the answer closed it");
    // New connections are accepted, changes too, and the process lives.
    while begun.elapsed() < std::time::Duration::from_secs(1) {
        assert_eq!((status("/healthz"), status("/v1/stats"), status("/readyz")), (200, 200, 503));
    }
    let added =
        service.ask("POST", "/v1/documents", JSON, r#"{"id": "late", "text": "some words"}"#);
    assert_eq!(added.status, 202, "{added:?}");
    wait_until("the end of the service", || !dir.path("idx/.service.json").exists());
    assert!(begun.elapsed() >= std::time::Duration::from_secs(2));
    wait_until("the last commit", || dir.run(&["show", "idx", "late"]).status == 0);
}
