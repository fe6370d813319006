//! The service behind a proxy, and beside a web application.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::common::run::{Dir, indexed};
use crate::common::service::{JSON, LINES, Reply, Service};
use crate::common::words;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

const TOKEN: &str = "Authorization: Bearer writer-0123456789\r\n";

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    zstd::encode_all(text, 19).unwrap()
}

/// Posts bytes with these headers.
fn post(service: &Service, path: &str, headers: &str, body: &[u8]) -> Reply {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n",
        body.len()
    );
    service.raw(&[head.as_bytes(), body].concat())
}

#[test]
fn bodies_come_compressed() {
    let dir = indexed();
    let service = Service::start(&dir, &[]);
    let search = json!({"text": words(1, 200)}).to_string();
    let lines: String = (0..50)
        .map(|i| format!("{}\n", json!({"id": format!("n{i}"), "text": words(i, 40)})))
        .collect();
    for (name, pack) in [("gzip", gzip as fn(&[u8]) -> Vec<u8>), ("zstd", zstd)] {
        let encoding = format!("Content-Encoding: {name}\r\n");
        let headers = format!("{JSON}{encoding}");
        let reply = post(&service, "/v1/search", &headers, &pack(search.as_bytes()));
        assert_eq!(reply.status, 200, "{reply:?}");
        let answer: Value = serde_json::from_str(&reply.body).unwrap();
        assert_eq!(answer["hits"][0]["id"], "a");
        let headers = format!("{LINES}{encoding}");
        let reply = post(&service, "/v1/documents?commit=wait", &headers, &pack(lines.as_bytes()));
        assert_eq!(reply.status, 200, "{reply:?}");
        let multipart = format!("{encoding}Content-Type: multipart/form-data; boundary=xx\r\n");
        let files = "--xx\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n\
                     some words of a file\r\n--xx--\r\n";
        let reply = post(&service, "/v1/texts", &multipart, &pack(files.as_bytes()));
        assert!(reply.status == 200 && reply.body.contains("some words of a file"), "{reply:?}");
        // Neither its declared encoding nor its whole length.
        let headers = format!("{JSON}{encoding}");
        for damaged in [search.as_bytes(), &pack(search.as_bytes())[..40]] {
            let reply = post(&service, "/v1/search", &headers, damaged);
            assert_eq!((reply.status, reply.code().as_str()), (400, "bad_request"));
            assert!(reply.body.contains(&format!("no valid {name}")), "{reply:?}");
        }
    }
    assert_eq!(service.client().stats().unwrap().index.documents, 53);
    for other in ["br", "gzip, gzip", "zstd, gzip"] {
        let headers = format!("{JSON}Content-Encoding: {other}\r\n");
        let reply = post(&service, "/v1/search", &headers, search.as_bytes());
        assert_eq!((reply.status, reply.code().as_str()), (415, "unsupported_media_type"));
        assert!(reply.head.contains("accept-encoding: gzip, zstd"), "{reply:?}");
    }
}

#[test]
fn a_body_that_is_too_large_when_it_is_unpacked_is_refused() {
    let dir = indexed();
    let service = Service::start(&dir, &["--max-body", "1MiB"]);
    let fits = json!({"text": " ".repeat((1 << 20) - 11)}).to_string();
    assert_eq!(fits.len(), 1 << 20);
    // 1 GiB of spaces; only the allowed part is unpacked.
    let mut bomb = zstd::Encoder::new(Vec::new(), 1).unwrap();
    let spaces = vec![b' '; 1 << 20];
    (0..1024).for_each(|_| bomb.write_all(&spaces).unwrap());
    let bomb = bomb.finish().unwrap();
    assert!(bomb.len() < 1 << 20);
    let check = |encoding: &str, body: &[u8], status: u16, said: &str| {
        let headers = format!("{JSON}Content-Encoding: {encoding}\r\n");
        let reply = post(&service, "/v1/search", &headers, body);
        assert!(reply.status == status && reply.body.contains(said), "{encoding}: {reply:?}");
    };
    let larger = format!("{fits} ");
    for (name, pack) in [("gzip", gzip as fn(&[u8]) -> Vec<u8>), ("zstd", zstd)] {
        check(name, &pack(fits.as_bytes()), 200, "\"hits\":[]");
        check(name, &pack(larger.as_bytes()), 413, "exceeds 1048576 bytes when it is unpacked");
    }
    check("zstd", &bomb, 413, "exceeds 1048576 bytes when it is unpacked");
    // Members of nothing, without end.
    check("gzip", &gzip(b"").repeat(60_000), 413, "exceeds 1048576 bytes");
}

#[test]
fn a_request_has_a_number_that_the_answer_and_the_log_know() {
    let dir = indexed();
    let log = dir.path("log");
    let arguments = ["--log", "json", "--log-requests", "--trusted-proxy", "127.0.0.0/8"];
    let service = Service::start_logging(&dir, &arguments, File::create(&log).unwrap());
    let forwarded = "X-Forwarded-For: 192.0.2.66, 192.0.2.7, 127.0.0.9\r\n";
    let given =
        service.ask("GET", "/healthz", &format!("X-Request-Id: from-a-proxy/1\r\n{forwarded}"), "");
    assert!(given.head.contains("x-request-id: from-a-proxy/1"), "{given:?}");
    let made_up = service.ask("GET", "/v1/nothing", "X-Request-Id: not fit for a log\r\n", "");
    let error: Value = serde_json::from_str(&made_up.body).unwrap();
    let id = error["error"]["request_id"].as_str().unwrap();
    assert!(id.len() == 16 && made_up.head.contains(&format!("x-request-id: {id}")), "{made_up:?}");
    assert!(service.stop());
    let lines = fs::read_to_string(log).unwrap();
    let line = |id: &str| -> Value {
        let line =
            lines.lines().find(|line| line.contains(id)).unwrap_or_else(|| panic!("{lines}"));
        serde_json::from_str(line).unwrap()
    };
    let proxied = line("from-a-proxy/1");
    assert_eq!((&proxied["route"], &proxied["client"]), (&json!("/healthz"), &json!("192.0.2.7")));
    assert_eq!(line(id)["client"], "127.0.0.1");
}

#[test]
fn pages_of_listed_origins_may_ask_and_others_may_not() {
    let dir = indexed();
    dir.write("tokens", "write writer-0123456789\n");
    let origins = ["--cors-origin", "https://app.example,http://localhost:5173"];
    let service = Service::start(&dir, &[&["--tokens", "tokens"], &origins[..]].concat());
    let from = |origin: &str, more: &str| {
        format!("Origin: {origin}\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: cors\r\n{more}")
    };
    let asks =
        "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization\r\n";
    for origin in ["https://app.example", "http://localhost:5173"] {
        let allowed = format!("access-control-allow-origin: {origin}\r\n");
        let reply = service.ask("OPTIONS", "/v1/search", &from(origin, asks), "");
        assert!(reply.status == 204 && reply.head.contains(&allowed), "{reply:?}");
        for part in [
            "access-control-allow-methods: get, post, delete\r\n",
            "access-control-allow-headers: authorization, content-type, content-encoding, x-request-id\r\n",
            "vary: origin\r\n",
        ] {
            assert!(reply.head.contains(part), "{part} {reply:?}");
        }
        assert!(!reply.head.contains("allow-credentials"), "{reply:?}");
        // The page sees the answer, also one that refuses.
        let search = "{\"text\": \"some words\"}";
        for (token, status) in [(TOKEN, 200), ("", 401)] {
            let headers = from(origin, &format!("{JSON}{token}"));
            let reply = service.ask("POST", "/v1/search", &headers, search);
            assert!(reply.status == status && reply.head.contains(&allowed), "{reply:?}");
            assert!(
                reply.head.contains("access-control-expose-headers: retry-after, x-request-id")
            );
        }
    }
    for origin in
        ["https://app.example.evil", "http://app.example", "https://app.example:8443", "null"]
    {
        for (method, headers) in
            [("OPTIONS", from(origin, asks)), ("POST", from(origin, &format!("{JSON}{TOKEN}")))]
        {
            let reply = service.ask(method, "/v1/search", &headers, "{\"text\": \"x\"}");
            assert_eq!((reply.status, reply.code().as_str()), (403, "foreign_site"), "{origin}");
            assert!(!reply.head.contains("access-control-allow-origin"), "{reply:?}");
            assert!(reply.head.contains("vary: origin"), "{reply:?}");
        }
    }
    // Without tokens every page could do everything.
    let open = dir.run(&["serve", "idx", "--cors-origin", "https://app.example"]);
    assert!(open.status == 2 && open.err.contains("--tokens"), "{}", open.err);
    let any = dir.run(&["serve", "idx", "--tokens", "tokens", "--cors-origin", "*"]);
    assert!(any.status == 2 && any.err.contains("`*` is no origin"), "{}", any.err);
}

#[test]
fn a_page_behind_a_proxy_that_asks_for_another_host_is_known_by_its_browser() {
    let dir = indexed();
    let service = Service::start(&dir, &[]);
    let page = format!("{JSON}Origin: https://search.example\r\nHost: localhost\r\n");
    let check = |site: &str, expected: u16| {
        let reply =
            service.ask("POST", "/v1/search", &format!("{page}{site}"), "{\"text\": \"x\"}");
        assert_eq!(reply.status, expected, "{site}: {reply:?}");
    };
    check("Sec-Fetch-Site: same-origin\r\n", 200);
    check("Sec-Fetch-Site: same-site\r\n", 403);
    check("Sec-Fetch-Site: cross-site\r\n", 403);
    check("", 403);
}

#[test]
fn a_connection_is_used_again_after_having_been_idle_for_longer_than_a_head_may_take() {
    // A balancer keeps connections, and a request on one that has just been closed fails.
    let dir = indexed();
    // A head may take no longer than a request, and here an idle connection lives longer.
    let service = Service::start(&dir, &["--timeout", "200ms", "--idle-timeout", "1h"]);
    let mut kept = TcpStream::connect(service.address()).unwrap();
    let mut silent = TcpStream::connect(service.address()).unwrap();
    kept.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    silent.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut ask = || {
        kept.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut head = [0; 15];
        kept.read_exact(&mut head).unwrap();
        assert_eq!(&head, b"HTTP/1.1 200 OK");
        let mut rest = Vec::new();
        while !rest.ends_with(b"}") {
            let mut byte = [0];
            kept.read_exact(&mut byte).unwrap();
            rest.extend(byte);
        }
    };
    ask();
    // One that says nothing is closed when the head of its request would have had to be there.
    assert_eq!(silent.read(&mut [0]).unwrap_or(0), 0);
    ask();
}

#[test]
fn nothing_in_the_page_is_at_an_absolute_path() {
    // Behind a proxy the service may be at any path of a host.
    let dir = Dir::new();
    dir.run(&["create", "idx"]);
    let service = Service::start(&dir, &[]);
    let mut seen = vec!["/".to_owned()];
    let mut next = 0;
    while let Some(path) = seen.get(next).cloned() {
        next += 1;
        let reply = service.ask("GET", &path, "", "");
        assert_eq!(reply.status, 200, "{path}");
        for quote in ['"', '\'', '`'] {
            for (at, _) in reply.body.match_indices(quote) {
                let text = reply.body[at + 1..].split(quote).next().unwrap();
                let is_address = ["/v1", "/page", "/healthz", "/readyz", "/openapi", "/metrics"]
                    .iter()
                    .any(|start| text.starts_with(start));
                assert!(!is_address, "{path}: {text}");
                let name = text.strip_prefix("page/").or_else(|| text.strip_prefix("./"));
                if let Some(name) =
                    name.filter(|name| name.ends_with(".js") || name.ends_with(".css"))
                {
                    let found = format!("/page/{name}");
                    if !seen.contains(&found) {
                        seen.push(found);
                    }
                }
            }
        }
    }
    // All scripts import each other.
    assert!(seen.len() >= 18, "{seen:?}");
}
