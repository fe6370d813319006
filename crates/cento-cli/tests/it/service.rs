//! Promises of the service while others write, push, dawdle, or pull the plug.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::common::run::{Dir, indexed};
use crate::common::service::{JSON, LINES, Service};
use crate::common::{contents, wait_until, words};
use cento::Error;
use cento::index::Index;
use cento::search::SearchOptions;
use cento_client::Client;
use cento_client::api::{Commit, CompactRequest, DocumentBody, SearchRequest};
use serde_json::{Map, Value, json};

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

fn query(text: &str, limit: usize) -> SearchRequest {
    let options = SearchOptions::default().limit(limit);
    SearchRequest { text: Some(text.to_owned()), options, ..SearchRequest::default() }
}

#[test]
fn tokens_have_roles() {
    let dir = indexed();
    dir.write("tokens", "read reader-0123456789\nwrite writer-0123456789\n");
    let service = Service::start(&dir, &["--tokens", "tokens"]);
    let check = |method: &str, path: &str, body: &str, expected: [u16; 3]| {
        let tokens = ["", "reader-0123456789", "writer-0123456789"];
        let found = tokens.map(|token| {
            let headers = match token {
                "" => JSON.to_owned(),
                token => format!("{JSON}Authorization: Bearer {token}\r\n"),
            };
            let reply = service.ask(method, path, &headers, body);
            assert_eq!(reply.status == 401, reply.head.contains("www-authenticate: bearer"));
            reply.status
        });
        assert_eq!(found, expected, "{method} {path}");
    };
    for path in ["/healthz", "/readyz", "/openapi.json", "/"] {
        check("GET", path, "", [200, 200, 200]);
    }
    for path in ["/v1/stats", "/metrics", "/v1/documents/a"] {
        check("GET", path, "", [401, 200, 200]);
    }
    check("POST", "/v1/search", "{\"text\": \"x\"}", [401, 200, 200]);
    check("POST", "/v1/documents", "{\"id\": \"n\", \"text\": \"x\"}", [401, 403, 202]);
    check("POST", "/v1/remove", "{\"ids\": [\"n\"]}", [401, 403, 202]);
    check("DELETE", "/v1/documents/a", "", [401, 403, 202]);
    check("POST", "/v1/commit", "", [401, 403, 200]);
    check("POST", "/v1/compact", "{\"wait\": true}", [401, 403, 200]);
    check("POST", "/v1/merge", "{\"shards\": [\"x\"]}", [401, 403, 403]);
    let run = |token: Option<&str>| {
        let mut command = dir.command(&["compact", "idx"]);
        command.env_remove("CENTO_TOKEN");
        if let Some(token) = token {
            command.env("CENTO_TOKEN", token);
        }
        command.output().unwrap().status.code()
    };
    assert_eq!(run(None), Some(2));
    assert_eq!(run(Some("writer-0123456789")), Some(0));
    drop(service);
    let open = dir.run(&["serve", "idx", "--listen", "0.0.0.0:0"]);
    assert!(open.status == 2 && open.err.contains("--tokens"), "{}", open.err);
}

#[test]
fn every_route_is_in_the_document_of_the_api() {
    let dir = indexed();
    let open = Service::start(&dir, &[]);
    let without_tokens = open.ask("GET", "/openapi.json", "", "").body;
    drop(open);
    dir.write("tokens", "read 0123456789abcdef\n");
    let service = Service::start(&dir, &["--tokens", "tokens"]);
    let reply = service.ask("GET", "/openapi.json", "", "");
    assert_eq!(reply.body, without_tokens);
    let document: Value = serde_json::from_str(&reply.body).unwrap();
    assert_eq!(document["openapi"], "3.1.0");
    let mut routes = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            routes.insert(format!("{method} {path}"));
            let is_open = ["/healthz", "/readyz", "/openapi.json"].contains(&path.as_str());
            assert_eq!(operation["security"].is_array(), !is_open, "{path}");
            assert!(operation["responses"]["429"].is_object(), "{path}");
        }
    }
    let expected = [
        "delete /v1/documents/{id}",
        "get /healthz",
        "get /metrics",
        "get /openapi.json",
        "get /readyz",
        "get /v1/documents",
        "get /v1/documents/{id}",
        "get /v1/stats",
        "post /v1/commit",
        "post /v1/compact",
        "post /v1/compare",
        "post /v1/documents",
        "post /v1/merge",
        "post /v1/pairs",
        "post /v1/pairs/report",
        "post /v1/passages",
        "post /v1/remove",
        "post /v1/report",
        "post /v1/search",
        "post /v1/texts",
    ];
    assert_eq!(routes.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}

#[test]
fn metrics_count_the_requests() {
    let dir = indexed();
    let service = Service::start(&dir, &[]);
    let client = service.client();
    client.search(&query(&words(1, 80), 10)).unwrap();
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
    let searches = "cento_request_duration_seconds_count{route=\"/v1/search\",method=\"POST\",status=\"200\"} 1";
    assert!(text.contains(searches), "{text}");
    assert!(service.metric("cento_postings_total") > 0.0);
    // Merges are counted when the writer looks at them.
    wait_until("the merges to be counted", || service.metric("cento_segments_merged_total") >= 2.0);
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
fn a_request_in_flight_is_answered_before_the_service_ends() {
    let dir = created();
    let service = Service::start(&dir, &["--commit-interval", "1h"]);
    let documents: Vec<DocumentBody> =
        (0..400).map(|i| body(&format!("d{i}"), &words(i, 2000))).collect();
    let sent = lines(documents);
    let client = service.client();
    let added = std::thread::scope(|scope| {
        let adding = scope.spawn(|| client.add_lines(&sent, Commit::Wait));
        wait_until("the request", || service.metric("cento_ingest_queue_requests") > 0.0);
        assert!(service.stop());
        adding.join().unwrap()
    });
    assert_eq!(added.unwrap().report.added, 400);
    assert_eq!(dir.json(&["stats", "idx", "--quick"])["documents"], 400);
}

#[test]
fn readers_see_one_commit_whole_while_others_write_and_compact() {
    // All documents of a batch have the same number; a search must never see two numbers.
    const DOCUMENTS: usize = 12;
    let dir = created();
    let service = Service::start(&dir, &[]);
    let shared = words(7, 60);
    let batch = |number: u64| {
        lines((0..DOCUMENTS).map(|i| DocumentBody {
            id: format!("d{i}"),
            text: format!("{shared} {}", words(1000 + number, 20)),
            meta: Map::from_iter([("number".to_owned(), json!(number))]),
            id_place: None,
        }))
    };
    service.client().add_lines(&batch(0), Commit::Wait).unwrap();
    let (is_done, searches) = (AtomicBool::new(false), AtomicU64::new(0));
    let committed = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let (client, mut last) = (service.client(), 0);
                while !is_done.load(Ordering::Relaxed) {
                    let least = committed.load(Ordering::SeqCst);
                    let hits = client.search(&query(&shared, 50)).unwrap().hits;
                    let numbers: BTreeSet<u64> =
                        hits.iter().map(|hit| hit.meta["number"].as_u64().unwrap()).collect();
                    assert_eq!((hits.len(), numbers.len()), (DOCUMENTS, 1), "{numbers:?}");
                    let number = *numbers.first().unwrap();
                    assert!(number >= last && number >= least, "{number} after {last}, {least}");
                    last = number;
                    searches.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        scope.spawn(|| {
            let client = service.client();
            while !is_done.load(Ordering::Relaxed) {
                match client.compact(&CompactRequest { wait: true, segments: 1 }) {
                    Ok(_) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        });
        let client = service.client();
        for number in 1..=15 {
            client.add_lines(&batch(number), Commit::Wait).unwrap();
            committed.store(number, Ordering::SeqCst);
        }
        is_done.store(true, Ordering::Relaxed);
    });
    assert!(searches.into_inner() > 0);
    assert!(service.stop());
    assert_eq!(dir.json(&["check", "idx"])["ok"], true);
    assert_eq!(dir.json(&["stats", "idx", "--quick"])["documents"], DOCUMENTS);
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
        // An id that is there twice fails in there.
        let found: BTreeSet<String> = contents(&index.snapshot().unwrap()).into_keys().collect();
        assert!(found.is_superset(&expected), "{:?}", expected.difference(&found));
        assert_eq!(index.check().unwrap().problems, []);
        expected = found;
    }
}

#[test]
fn a_slow_client_is_cut_off_and_disturbs_no_other() {
    let dir = indexed();
    let service = Service::start(&dir, &["--timeout", "1s"]);
    let connect = || TcpStream::connect(service.address()).unwrap();
    let end_of = |mut stream: TcpStream| {
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut answer = Vec::new();
        // The end may come as a reset.
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    };
    // One that never ends its head, one that never ends its body.
    let mut head = connect();
    head.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-").unwrap();
    let mut half = connect();
    half.write_all(
        b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
          Content-Length: 100\r\n\r\n{",
    )
    .unwrap();
    assert_eq!(service.client().search(&query(&words(1, 80), 10)).unwrap().hits.len(), 2);
    assert!(end_of(half).starts_with("HTTP/1.1 408 "));
    let answer = end_of(head);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408 "), "{answer}");
    drop(service);
    // As many as there is room for, and one more.
    let service = Service::start(&dir, &["--max-connections", "8"]);
    let connect = || TcpStream::connect(service.address()).unwrap();
    let open: Vec<TcpStream> = (0..8).map(|_| connect()).collect();
    let mut turned_away = connect();
    // Connections are turned away whether or not they send a request.
    let _ = turned_away.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let answer = end_of(turned_away);
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("Retry-After: 1"), "{answer}");
    let answer: Value = serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    assert_eq!(answer["error"]["code"], "unavailable");
    drop(open);
    wait_until("room for connections", || service.ask("GET", "/healthz", "", "").status == 200);
}

/// A request that was admitted, and of whose body only the first bytes come.
fn hold(service: &Service, path: &str, bytes: usize, come: usize) -> TcpStream {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {bytes}\r\nExpect: 100-continue\r\n\r\n"
    );
    let mut stream = TcpStream::connect(service.address()).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    // That comes when the body is wanted.
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 100");
    stream.write_all(&vec![b' '; come]).unwrap();
    stream
}

#[test]
fn too_many_requests_at_once_are_turned_away() {
    let dir = created();
    let service = Service::start(&dir, &["--max-requests", "1"]);
    // Those whose bodies do not come take no place.
    let _slow: Vec<TcpStream> = (0..5).map(|_| hold(&service, "/v1/search", 100, 1)).collect();
    assert_eq!(service.post("/v1/search", "{\"text\": \"x\"}").status, 200);
    let large = json!({"text": words(1, 50_000)}).to_string();
    let is_turned_away = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !is_turned_away.load(Ordering::Relaxed) {
                    let reply = service.post("/v1/search", &large);
                    if reply.status == 429 {
                        assert_eq!(reply.code(), "busy");
                        assert!(reply.head.contains("retry-after: 1"));
                        is_turned_away.store(true, Ordering::Relaxed);
                    } else {
                        assert_eq!(reply.status, 200);
                    }
                }
            });
        }
        // A client waits, and comes back.
        assert_eq!(service.client().search(&query("x", 1)).unwrap().hits, []);
    });
    assert_eq!(service.ask("GET", "/healthz", "", "").status, 200);
}

#[test]
fn the_room_for_bodies_is_bounded() {
    let dir = created();
    let arguments = ["--memory", "8MiB", "--max-body", "1MiB", "--timeout", "20s"];
    let service = Service::start(&dir, &arguments);
    let large = json!({"id": "a", "text": "x ".repeat(200_000)}).to_string();
    // Announcing a long body reserves no room.
    let _saying: Vec<TcpStream> =
        (0..5).map(|_| hold(&service, "/v1/documents", 1_000_000, 1)).collect();
    assert_eq!(service.post("/v1/documents", &large).status, 202);
    // Sending it does; if the other one was faster this one is turned away, and tries again.
    let mut sending = None;
    wait_until("a refusal", || {
        drop(sending.take());
        sending = Some(hold(&service, "/v1/documents", 1_000_000, 900_000));
        service.post("/v1/documents", &large).status == 429
    });
    // Searches have a room of their own.
    let large = json!({"text": "x ".repeat(200_000)}).to_string();
    assert_eq!(service.post("/v1/search", &large).status, 200);
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
        (2, &json!(2), &json!(1))
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

#[test]
fn documents_come_in_lines_of_any_end() {
    let dir = created();
    let service = Service::start(&dir, &[]);
    let line = |id: &str| json!({"id": id, "text": words(1, 40)}).to_string();
    let sent = format!("\u{feff}{}\r\n\r\n{}\n{}", line("a"), line("b"), line("c"));
    let reply = service.ask("POST", "/v1/documents?commit=wait", LINES, &sent);
    assert_eq!(reply.status, 200, "{reply:?}");
    assert_eq!(service.client().stats().unwrap().index.documents, 3);
}
