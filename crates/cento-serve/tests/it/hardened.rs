//! Past defects of the service.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::common::{Ask, JSON, LINES, Routes, Service, body, created, documents, indexed, words};
use cento_client::api::{Commit, CompactRequest};
use cento_serve::Tokens;
use serde_json::{Value, json};

#[test]
fn an_index_is_compacted_while_one_document_is_replaced_again_and_again() {
    // A version makes a segment that disappears with the next version. Once a compaction with such
    // a segment began again and again.
    let dir = indexed();
    let service = Service::start(&dir);
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let client = service.client();
            for version in 0.. {
                if is_done.load(Ordering::Relaxed) {
                    return;
                }
                client.add(&body("again", &words(version, 30)), Commit::Wait).unwrap();
            }
        });
        let client = service.client();
        for _ in 0..5 {
            let compacted = client.compact(&CompactRequest { wait: true, segments: 1 });
            is_done.store(compacted.is_err(), Ordering::Relaxed);
            compacted.unwrap();
        }
        is_done.store(true, Ordering::Relaxed);
    });
    service.stop();
    assert_eq!(documents(&dir, "idx"), 4);
}

#[test]
fn a_compaction_that_was_begun_is_seen_to_go_on() {
    // Once the answer came before the flag was set, so the compaction seemed to be over.
    let dir = indexed();
    let service = Service::start(&dir);
    let client = service.client();
    let before = service.metric("cento_compactions_total");
    client.compact(&CompactRequest::default()).unwrap();
    while client.stats().unwrap().compacting {}
    assert_eq!(service.metric("cento_compactions_total"), before + 1.0);
}

#[test]
fn a_body_may_come_in_many_small_parts() {
    // Once every part reserved separate room.
    let dir = created();
    let service = Service::start(&dir);
    let document = json!({"id": "a", "text": words(1, 60_000)}).to_string();
    let parts: String = document
        .as_bytes()
        .chunks(7)
        .map(|part| format!("{:x}\r\n{}\r\n", part.len(), String::from_utf8_lossy(part)))
        .collect();
    let request = format!(
        "POST /v1/documents?commit=wait HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{JSON}\
         Transfer-Encoding: chunked\r\n\r\n{parts}0\r\n\r\n"
    );
    let reply = service.raw(request.as_bytes());
    assert_eq!(reply.status, 200, "{reply:?}");
}

#[test]
fn made_up_methods_are_not_counted_by_themselves() {
    // Once every invented method took memory forever, even without a token.
    let dir = created();
    let service = Routes::of(&dir);
    for method in ["FROB", "NICATE", "PATCH"] {
        assert_eq!(service.ask(method, "/v1/search", "", "").status, 405);
    }
    let text = service.ask("GET", "/metrics", "", "").body;
    assert!(text.contains("method=\"other\"") && !text.contains("FROB"), "{text}");
}

#[test]
fn a_client_that_adds_much_blocks_no_commit_or_removal() {
    // Once commits and removals shared a queue with additions, which filled it again at once.
    let dir = created();
    let service = Service::start(&dir);
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for number in 0..40 {
            let (service, is_done) = (&service, &is_done);
            scope.spawn(move || {
                let client = service.client();
                for i in 0.. {
                    if is_done.load(Ordering::Relaxed) {
                        return;
                    }
                    let _ =
                        client.add(&body(&format!("{number}-{i}"), "a b c d e f"), Commit::Wait);
                }
            });
        }
        let refused = (0..20).filter(|_| service.ask("POST", "/v1/commit", "", "").status != 200);
        let refused = refused.count();
        is_done.store(true, Ordering::Relaxed);
        assert_eq!(refused, 0);
    });
}

#[test]
fn a_measure_that_would_outlast_the_time_limit_is_not_begun() {
    // Once two of these requests took all searching threads, without a time limit.
    let dir = created();
    let service = Routes::of(&dir);
    let long = words(1, 200_000);
    let document = json!({"id": "long", "text": long}).to_string();
    assert_eq!(service.post("/v1/documents?commit=wait", &document).status, 200);
    let compare = json!({"a": {"text": long}, "b": {"id": "long"}, "measures": ["lcs"]});
    let reply = service.post("/v1/compare", &compare.to_string());
    assert_eq!((reply.status, reply.code().as_str()), (400, "invalid_argument"));
    assert!(reply.body.contains("too long for lcs"), "{reply:?}");
    let search = json!({"text": long, "verify": "damerau"});
    assert_eq!(service.post("/v1/search", &search.to_string()).status, 400);
    let search = json!({"text": long, "verify": "resemblance"});
    assert_eq!(service.post("/v1/search", &search.to_string()).status, 200);
}

#[test]
fn a_request_that_names_two_hosts_is_refused() {
    // Once the service looked at the first host. A proxy may have looked at the last.
    let dir = indexed();
    let service = Service::start(&dir);
    let own = service.address().to_owned();
    let check = |target: &str, headers: &str, expected: u16| {
        let request = format!("GET {target} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n");
        let reply = service.raw(request.as_bytes());
        assert_eq!(reply.status, expected, "{request} {reply:?}");
        if expected == 400 {
            assert_eq!(reply.code(), "bad_request");
        }
    };
    check("/healthz", &format!("Host: {own}\r\n"), 200);
    check("/healthz", &format!("Host: {own}\r\nHost: evil.example\r\n"), 400);
    check("/healthz", &format!("Host: evil.example\r\nHost: {own}\r\n"), 400);
    check("/healthz", &format!("Host: {own}\r\nHost: {own}\r\n"), 400);
    check("/healthz", "", 400);
    check("/healthz", "Host: a\u{fc}\r\n", 400);
    check(&format!("http://{own}/healthz"), &format!("Host: {own}\r\n"), 200);
    check("http://LOCALHOST:80/healthz", "Host: localhost\r\n", 200);
    check("http://evil.example/healthz", &format!("Host: {own}\r\n"), 400);
    check(&format!("http://{own}/healthz"), "Host: evil.example\r\n", 400);
    check(&format!("http://user@{own}/healthz"), &format!("Host: {own}\r\n"), 400);
    let own = format!("Host: {own}\r\n");
    for twice in ["Authorization: Bearer a", "Origin: null", "Sec-Fetch-Site: none"] {
        check("/healthz", &format!("{own}{twice}\r\n{twice}\r\n"), 400);
    }
    let old = service.raw(b"GET /healthz HTTP/1.0\r\n\r\n");
    assert_eq!(old.status, 200, "{old:?}");
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_a_temporary_file_is_not_written_through() {
    // Once the service followed a link `.service.tmp` and wrote to its target.
    let dir = indexed();
    dir.write("precious", "of another program");
    for name in [".service.tmp", ".service.json"] {
        std::os::unix::fs::symlink(dir.path("precious"), dir.path("idx").join(name)).unwrap();
    }
    let service = Service::start(&dir);
    // The service writes the file before the first answer.
    assert_eq!(service.ask("GET", "/readyz", "", "").status, 200);
    assert!(dir.path("idx/.service.json").symlink_metadata().unwrap().is_file());
    service.stop();
    assert_eq!(std::fs::read_to_string(dir.path("precious")).unwrap(), "of another program");
    let left: Vec<_> = std::fs::read_dir(dir.path("idx")).unwrap().flatten().collect();
    let left = left.iter().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let left: Vec<String> = left.filter(|name| name.starts_with(".service")).collect();
    assert_eq!(left, [".service.tmp"], "the link belongs to no service");
}

#[test]
fn pages_of_other_sites_may_link_here_and_ask_nothing() {
    let dir = indexed();
    let service = Service::start(&dir);
    let link = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n";
    let own = format!("Origin: {}\r\n", service.url);
    for (what, method, path, headers, status) in [
        ("a link", "GET", "/", link, 200),
        ("a request", "POST", "/v1/commit", link, 403),
        // Older browsers send these headers.
        ("another site", "POST", "/v1/commit", "Origin: http://evil.example\r\n", 403),
        ("a local file", "POST", "/v1/commit", "Origin: null\r\n", 403),
        ("its own page", "POST", "/v1/commit", &own, 200),
    ] {
        assert_eq!(service.ask(method, path, headers, "").status, status, "{what}");
    }
}

#[test]
fn behind_a_proxy_of_another_name_tokens_decide_on_access() {
    let dir = indexed();
    let tokens = Tokens::parse("read reader 0123456789abcdef", "tokens").unwrap();
    let service = Routes::with(&dir, |settings| settings.tokens = tokens);
    let proxied = "Host: cento.example.org\r\nAuthorization: Bearer 0123456789abcdef\r\n";
    assert_eq!(service.ask("GET", "/v1/stats", proxied, "").status, 200);
}

#[test]
fn documents_that_are_compared_have_different_ids() {
    let dir = created();
    let service = Routes::of(&dir);
    let twice = json!({"documents": [{"id": "a", "text": "x"}, {"id": "a", "text": "y"}]});
    assert_eq!(service.post("/v1/pairs", &twice.to_string()).status, 400);
}

#[test]
fn a_deep_filter_is_refused_and_the_service_lives() {
    // Once a filter of 2 KiB ended the process, and acknowledged documents were lost.
    let dir = indexed();
    let service =
        Service::with(&dir, |settings| settings.commit_interval = Duration::from_secs(3600));
    let taken =
        service.post("/v1/documents", &json!({"id": "new", "text": words(7, 60)}).to_string());
    assert_eq!(taken.status, 202);
    for (what, filter) in [
        ("negations", "NOT ".repeat(486) + "lang:de"),
        ("brackets", "(".repeat(2187)),
        ("a path", "a.".repeat(10_000) + "a:1"),
        ("space", "\t".repeat(100_000)),
        ("fields", "lang:(".repeat(1000)),
        ("quotation marks", "\"".repeat(3000)),
    ] {
        let body = json!({"text": words(1, 60), "filter": filter}).to_string();
        let reply = service.post("/v1/search", &body);
        assert_eq!((reply.status, reply.code().as_str()), (400, "invalid_argument"), "{what}");
    }
    service.stop();
    assert_eq!(documents(&dir, "idx"), 4);
}

#[test]
fn the_service_refuses_files_that_are_no_text() {
    let dir = indexed();
    let service = Routes::of(&dir);
    let docx = "PK\u{3}\u{4}\u{14}\0\u{6}\0word/document.xml";
    for (path, body) in [
        ("/v1/search", json!({"text": docx})),
        ("/v1/compare", json!({"a": {"text": docx}, "b": {"id": "a"}})),
        ("/v1/passages", json!({"text": docx, "hit": "a"})),
        ("/v1/documents", json!({"id": "x", "text": docx})),
        ("/v1/pairs", json!({"documents": [{"id": "x", "text": docx}, {"id": "y", "text": "z"}]})),
        ("/v1/search", json!({"text": "a\0b"})),
    ] {
        let reply = service.post(path, &body.to_string());
        assert_eq!(reply.status, 400, "{path}: {reply:?}");
        assert!(reply.body.contains("Word document") || reply.body.contains("NUL"), "{reply:?}");
    }
}

#[test]
fn a_line_that_is_no_text_is_counted_and_so_is_an_empty_one() {
    let dir = indexed();
    let service = Routes::of(&dir);
    let docx = "PK\u{3}\u{4}\u{14}\0\u{6}\0word/document.xml";
    let lines =
        format!("{}\n{}\n", json!({"id": "x", "text": docx}), json!({"id": "y", "text": " "}));
    let reply = service.ask("POST", "/v1/documents?commit=wait", LINES, &lines);
    let report: Value = serde_json::from_str(&reply.body).unwrap();
    assert_eq!((&report["added"], &report["failed"]), (&json!(1), &json!(1)), "{report}");
    assert_eq!(
        (&report["empty"], &report["errors"][0]["line"]),
        (&json!(1), &json!(1)),
        "{report}"
    );
}

#[test]
fn a_regular_expression_in_a_filter_is_refused_and_the_service_goes_on() {
    // Once compiling the first filter overflowed the stack. The second took 22 seconds, the last
    // 17, and nothing stopped the compilation.
    let dir = indexed();
    let service = Routes::of(&dir);
    let many = (900..932).map(|count| format!("id:/(a?){{0,{count}}}/")).collect::<Vec<_>>();
    for filter in ["id:/(a?){0,100000}/", "id:/(a?){0,20000}/", &many.join(" OR ")] {
        let body = json!({"text": "some words", "filter": filter}).to_string();
        let reply = service.post("/v1/search", &body);
        assert_eq!(reply.status, 400, "{reply:?}");
        assert!(reply.body.contains("use a prefix of an id"), "{reply:?}");
    }
    assert_eq!(service.metric("cento_computations"), 0.0);
}

#[test]
fn a_search_ranked_by_passages_looks_at_no_more_than_a_thousand_documents() {
    // Once the search looked at ten thousand documents, as many as the requested hits.
    let dir = indexed();
    let service = Routes::of(&dir);
    for (rank, limit, candidates, status) in [
        ("passages", 1000, 50, 200),
        ("passages", 1001, 50, 400),
        ("passages", 10, 1001, 400),
        ("overlap", 10_000, 50, 200),
    ] {
        let text = words(1, 60);
        let body = json!({"text": text, "rank": rank, "limit": limit, "candidates": candidates});
        let reply = service.post("/v1/search", &body.to_string());
        assert_eq!(reply.status, status, "{rank}, {limit}, {candidates}: {reply:?}");
        let says = reply.body.contains("must be at most 1000");
        assert_eq!(says, status == 400, "{rank}, {limit}, {candidates}: {reply:?}");
    }
}

#[test]
fn no_more_pairs_are_held_than_a_request_may_have() {
    // Once half a million pairs of a thousand documents were put into an answer.
    let dir = created();
    let service = Routes::of(&dir);
    let documents = [json!({"id": "a", "text": "x"}), json!({"id": "b", "text": "x"})];
    for (limit, status) in [(10_000, 200), (10_001, 400)] {
        let body = json!({"documents": documents, "limit": limit}).to_string();
        let reply = service.post("/v1/pairs", &body);
        assert_eq!(reply.status, status, "{reply:?}");
        let says = reply.body.contains("`limit` must be at most 10000");
        assert_eq!(says, status == 400, "{reply:?}");
    }
}

#[test]
fn passages_of_pairs_take_no_more_memory_than_there_is() {
    // Once every thread took the memory of two texts without reserving it.
    let dir = created();
    let service = Routes::with(&dir, |settings| settings.memory_bytes = 64 << 20);
    let texts = [words(1, 200_000), words(2, 200_000)];
    let documents = |texts: &[String; 2]| {
        let [a, b] = texts;
        json!([{"id": "a", "text": a}, {"id": "b", "text": b}])
    };
    let long = json!({"documents": documents(&texts)});
    assert_eq!(service.post("/v1/pairs", &long.to_string()).status, 200);
    let compare = json!({"a": {"text": texts[0]}, "b": {"text": texts[1]}});
    let long = json!({"documents": documents(&texts), "min_passage": 5});
    for (path, body) in [("/v1/compare", compare), ("/v1/pairs", long)] {
        let reply = service.post(path, &body.to_string());
        assert_eq!(reply.status, 413, "{path}: {reply:?}");
    }
    let short = documents(&texts.map(|text| text[..20_000].to_owned() + &words(3, 50)));
    let short = json!({"documents": short, "min_passage": 40});
    let reply = service.post("/v1/pairs", &short.to_string());
    let found: Value = serde_json::from_str(&reply.body).unwrap();
    assert_eq!(found["pairs"][0]["passages"].as_array().unwrap().len(), 1, "{reply:?}");
}

#[test]
fn quick_searches_and_writes_need_no_place_of_other_searches() {
    // Once searches for passages took all places. Then an addition in five was refused, and a quick
    // search had to wait.
    let dir = created();
    let service = Routes::with(&dir, |settings| settings.requests_max = 0);
    let reply = service.post("/v1/search", "{\"text\": \"x\", \"passages\": true}");
    assert_eq!((reply.status, reply.code()), (429, "busy".into()));
    // The refusal comes before the body is parsed.
    let reply = service.post("/v1/search", &"x".repeat(1 << 20));
    assert_eq!((reply.status, reply.code()), (429, "busy".into()));
    assert_eq!(service.post("/v1/search", "{\"text\": \"x\"}").status, 200);
    assert_eq!(service.post("/v1/documents", "{\"id\": \"a\", \"text\": \"x\"}").status, 202);
    assert_eq!(service.post("/v1/commit", "{}").status, 200);
}
