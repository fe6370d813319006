//! The command beside a service: the same answers, and clients by `--url`.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use crate::common::run::{Dir, corpus, indexed};
use crate::common::service::Service;
use crate::common::{fill, line, words};
use cento::index::{Index, WriterOptions};
use serde_json::{Value, json};

#[test]
fn an_answer_is_that_of_the_command_line() {
    let dir = indexed();
    let passage = words(1, 80);
    dir.write("q.txt", &passage);
    let signature = dir.json(&["method", "fingerprint", "q.txt", "--like", "idx"]);
    let service = Service::start(&dir, &[]);
    let check = |args: &[&str], request: Value| {
        let mut expected = dir.json(&[&["search", "idx"], args].concat());
        let reply = service.post("/v1/search", &request.to_string());
        assert_eq!(reply.status, 200, "{reply:?}");
        let mut found: Value = serde_json::from_str(&reply.body).unwrap();
        let by_url = dir.json(&[&["search", "--url", &service.url], args].concat());
        for answer in [&mut expected, &mut found] {
            answer["took_us"] = by_url["took_us"].clone();
        }
        assert_eq!(found, expected, "{request}");
        assert_eq!(by_url, expected, "{args:?}");
    };
    check(&["--text", &passage], json!({"text": passage}));
    check(&["--text", &passage, "--passages"], json!({"text": passage, "passages": true}));
    check(
        &["--text", &passage, "--min-passage", "80"],
        json!({"text": passage, "min_passage": 80}),
    );
    let long = |tokens: u32| {
        service.post("/v1/search", &json!({"text": passage, "min_passage": tokens}).to_string())
    };
    let none: Value = serde_json::from_str(&long(81).body).unwrap();
    assert_eq!(none["hits"], json!([]));
    assert_eq!(long(0).status, 400);
    check(&["--id", "b", "-n", "3"], json!({"id": "b", "limit": 3}));
    check(&["--text", &passage, "--goal", "trace"], json!({"text": passage, "goal": "trace"}));
    check(&["--text", &passage, "--goal", "passage"], json!({"text": passage, "goal": "passage"}));
    check(
        &["--text", &passage, "--filter", "lang:en", "--min-containment", "0.9"],
        json!({"text": passage, "filter": "lang:en", "min_containment": 0.9}),
    );
    check(
        &["--text", &passage, "--verify", "resemblance(k=3)", "--min-similarity", "0.1"],
        json!({"text": passage, "verify": "resemblance(k=3)", "min_similarity": 0.1}),
    );
    check(&["--text", &passage, "--max-df", "2"], json!({"text": passage, "max_df": "2"}));
    dir.write("signature.json", signature.to_string());
    check(&["--signature", "signature.json"], json!({"signature": signature}));
    dir.write("template.txt", words(1, 30));
    check(
        &["--text", &passage, "-b", "template.txt"],
        json!({"text": passage, "boilerplate": [words(1, 30)]}),
    );
    assert!(service.stop());
}

#[test]
fn the_command_line_adds_to_a_service() {
    let dir = Dir::new();
    dir.run(&["create", "idx"]);
    dir.write("corpus.jsonl", corpus() + "nonsense\n");
    dir.write("more.txt", words(9, 100));
    let service = Service::start(&dir, &["--commit-interval", "1h"]);
    let url = &service.url;
    let run = dir.run(&["add", "--url", url, "corpus.jsonl", "more.txt", "--format", "json"]);
    assert_eq!(run.status, 3);
    let report = run.json();
    assert_eq!((&report["added"], &report["failed"]), (&json!(4), &json!(1)));
    assert_eq!(dir.json(&["stats", "--url", url])["documents"], 4);
    let again = dir.run(&["add", "--url", url, "corpus.jsonl", "--format", "json"]).json();
    assert_eq!(again["unchanged"], 3);
    assert_eq!(dir.run(&["add", "--url", url]).status, 2);
    assert_eq!(dir.run(&["add", "--url", url, "--strict", "corpus.jsonl"]).status, 2);
    assert!(service.stop());
}

#[test]
fn the_command_line_removes_compacts_and_compares_by_a_service() {
    let dir = indexed();
    let service = Service::start(&dir, &["--commit-interval", "1h"]);
    let url = &service.url;
    dir.write("a.txt", words(1, 100));
    dir.write("b.txt", words(1, 80));
    let compare = ["compare", "a.txt", "b.txt", "--measures", "lcs"];
    let by_url = dir.json(&[&compare[..], &["--url", url]].concat());
    assert_eq!(by_url, dir.json(&compare));
    assert_eq!(dir.json(&["remove", "--url", url, "a", "c"])["removed"], 2);
    assert_eq!(dir.json(&["compact", "--url", url])["segments_after"], 1);
    assert_eq!(dir.json(&["stats", "--url", url])["deleted"], 0);
    assert!(service.stop());
    let gone = dir.run(&["search", "--url", "http://127.0.0.1:1", "--text", "x"]);
    assert!(
        gone.status == 2 && gone.err.contains("cannot connect to http://127.0.0.1:1"),
        "{}",
        gone.err
    );
}

#[test]
fn the_writer_of_a_service_is_in_the_way_of_others_except_for_its_clients() {
    let dir = indexed();
    dir.write("more.txt", words(9, 100));
    let service = Service::start(&dir, &[]);
    let refused = dir.run(&["add", "idx", "more.txt"]);
    assert!(refused.status == 2 && refused.err.contains("--url"), "{}", refused.err);
    assert_eq!(dir.run(&["serve", "idx", "--listen", "127.0.0.1:0"]).status, 2);
    // The service holds the lock, and compacts on request.
    assert_eq!(dir.json(&["compact", "idx"])["segments_after"], 1);
    assert!(service.stop());
}

#[test]
fn a_probe_asks_once_and_says_whether_the_service_is_there() {
    let dir = indexed();
    dir.write("tokens", "read reader reader-of-this-test-0001\n");
    let service = Service::start(&dir, &["--tokens", "tokens"]);
    let url = service.url.clone();
    let alive = dir.run(&["info", "health", &url]);
    assert_eq!((alive.status, alive.out.as_str()), (0, "ok\n"), "{}", alive.err);
    assert_eq!(dir.run(&["info", "health", &url, "--ready"]).status, 0);
    assert!(service.stop());
    let gone = dir.run(&["info", "health", &url]);
    assert_eq!(gone.status, 1);
    assert!(gone.err.contains(&url), "{}", gone.err);
    assert_eq!(dir.run(&["info", "health", "nowhere"]).status, 2);
    // A host that accepts connections but never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let client = cento_client::client::Client::new(&url, None).unwrap();
    let probe = client.probe(cento_client::client::Probe::Alive, Duration::from_millis(50));
    assert!(probe.is_err());
}

#[test]
fn a_service_that_is_not_ready_is_not_asked_again() {
    let dir = Dir::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let service = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        // Closed, so that a second attempt would be refused and not wait.
        drop(listener);
        let mut head = [0; 1024];
        let read = stream.read(&mut head).unwrap();
        let body = r#"{"error":{"code":"unavailable","message":"the last write failed"}}"#;
        let length = body.len();
        let answer = format!(
            "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(answer.as_bytes()).unwrap();
        String::from_utf8_lossy(&head[..read]).into_owned()
    });
    let run = dir.run(&["info", "health", "--ready", &url]);
    assert_eq!(run.status, 1);
    assert!(run.err.contains("the last write failed"), "{}", run.err);
    assert!(service.join().unwrap().starts_with("GET /readyz "));
}

#[test]
fn excluded_documents_are_no_hits_of_the_command_and_of_a_service() {
    let dir = indexed();
    let service = Service::start(&dir, &[]);
    let passage = words(1, 80);
    let ids = |args: &[&str]| -> Vec<String> {
        let answer: Value = serde_json::from_str(&dir.run(args).out).unwrap();
        let hits = answer["hits"].as_array().unwrap();
        hits.iter().map(|hit| hit["id"].as_str().unwrap().to_owned()).collect()
    };
    for goal in ["hits", "trace", "passage"] {
        for place in [&["idx"][..], &["--url", &service.url]] {
            let search =
                [&["search"], place, &["--text", &passage, "--goal", goal, "--format", "json"]];
            let search = search.concat();
            let found = ids(&search);
            let first = &found[0];
            let excluding = ["--exclude-id", first, "--exclude-id", "nobody"];
            let left = ids(&[&search[..], &excluding].concat());
            assert!(!left.contains(first), "{goal} {place:?}: {left:?}");
            if goal == "hits" {
                assert_eq!(left, found[1..], "{place:?}");
                let first = first.as_str();
                let request = json!({"text": passage, "exclude_id": [first, "nobody"]});
                let reply = service.post("/v1/search", &request.to_string());
                let answer: Value = serde_json::from_str(&reply.body).unwrap();
                let hits = answer["hits"].as_array().unwrap();
                assert!(hits.iter().map(|hit| hit["id"].as_str().unwrap()).eq(&left), "{hits:?}");
            }
        }
    }
    let args =
        ["search", "idx", "--text", &passage, "--exclude-id", "nobody", "--report", "r.json"];
    assert_ne!(dir.run(&args).status, 2);
    let report: Value = serde_json::from_slice(&fs::read(dir.path("r.json")).unwrap()).unwrap();
    assert_eq!(report["run"]["parameters"]["exclude_id"], "[\"nobody\"]", "{report}");
    assert!(service.stop());
}

#[test]
fn a_stale_note_of_where_a_service_is_leads_to_no_other_index() {
    // Regression: after a crash, a different service may have the address, and was told to compact
    // its own index.
    let [one, other] = [(); 2].map(|()| {
        let dir = Dir::new();
        assert_eq!(dir.run(&["create", "idx"]).status, 0);
        dir
    });
    let service = Service::start(&other, &[]);
    let own = fs::read_to_string(other.path("idx/.service.json")).unwrap();
    let mut note: Value = serde_json::from_str(&own).unwrap();
    note["started"] = json!(1);
    one.write("idx/.service.json", note.to_string());
    let index = Index::open(one.path("idx")).unwrap();
    let _writer = index.writer(WriterOptions::default()).unwrap();
    let run = one.run(&["compact", "idx"]);
    assert!(run.status == 2 && run.err.contains("another process is writing"), "{}", run.err);
    assert_eq!(service.metric("cento_compactions_total"), 0.0);
}

#[test]
fn options_that_say_nothing_to_a_service_are_refused() {
    let dir = indexed();
    let service = Service::start(&dir, &[]);
    let refused = |arguments: &[&str]| {
        let run = dir.run(&[arguments, &["--url", &service.url]].concat());
        assert_eq!(run.status, 2, "{arguments:?}: {}", run.out);
    };
    refused(&["search", "idx", "--text", "x"]);
    refused(&["search", "--text", "x", "-b", "idx"]);
    refused(&["add", "--no-text", "corpus.jsonl"]);
    refused(&["add", "--scheme", "kgram(k=5)", "corpus.jsonl"]);
    refused(&["compact", "idx"]);
}

#[test]
fn a_deep_filter_is_refused_with_its_beginning() {
    // Regression: a filter of 2 KiB crashed the process.
    let dir = indexed();
    for filter in ["NOT ".repeat(486) + "lang:de", "(".repeat(2187), "a.".repeat(10_000) + "a:1"] {
        let run = dir.run(&["search", "idx", "--text", &words(1, 60), "--filter", &filter]);
        assert_eq!(run.status, 2, "{}", run.err);
        let is_short = run.err.len() < 700;
        assert!(run.err.starts_with("cento: invalid filter `") && is_short, "{}", run.err);
    }
}

#[test]
fn the_command_line_merges_through_a_service() {
    let dir = indexed();
    fill(&dir.path("shards/one"), &line("d", &words(4, 60), json!({})));
    fill(&dir.path("shards/clash"), &line("a", &words(5, 60), json!({})));
    let service = Service::start(&dir, &["--shard-dir", "shards"]);
    let merge = |args: &[&str]| dir.run(&[&["merge", "--url", &service.url], args].concat());
    let refused = |args: &[&str], said: &str| {
        let run = merge(args);
        assert!(run.status == 2 && run.err.contains(said), "{args:?}: {}", run.err);
    };
    refused(&["clash"], "`a`");
    refused(&["one", "--move"], "--move");
    refused(&[], "");
    assert_eq!(merge(&["one"]).status, 0);
    let run = merge(&["clash", "--on-conflict", "later", "--format", "json"]);
    assert_eq!(run.json()["replaced"], 1, "{}", run.err);
    assert!(service.stop());
    assert_eq!(dir.json(&["stats", "idx", "--quick"])["documents"], 4);
    let run = dir.run(&["serve", "idx", "--listen", "127.0.0.1:0", "--shard-dir", "missing"]);
    assert!(run.status == 2 && run.err.contains("missing"), "{}", run.err);
}
