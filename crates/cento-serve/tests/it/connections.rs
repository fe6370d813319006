//! Slow clients, idle connections, and connections beyond the limits.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::common::{Ask, Service, created, indexed, wait_until, words};
use cento_client::api::SearchRequest;
use serde_json::{Value, json};

/// Reads from a connection until the service closes it.
#[track_caller]
fn end_of(mut stream: TcpStream) -> String {
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut answer = Vec::new();
    // A reset is an end, too.
    let end = stream.read_to_end(&mut answer).map_err(|error| error.kind());
    let is_open = matches!(end, Err(ErrorKind::WouldBlock | ErrorKind::TimedOut));
    assert!(!is_open, "the connection is still open");
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn a_slow_client_is_cut_off_and_disturbs_no_other() {
    let dir = indexed();
    let service = Service::with(&dir, |settings| settings.timeout = Duration::from_secs(1));
    let mut head = service.connect();
    head.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-").unwrap();
    let mut half = service.connect();
    half.write_all(
        b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
          Content-Length: 100\r\n\r\n{",
    )
    .unwrap();
    let search = SearchRequest { text: Some(words(1, 80)), ..SearchRequest::default() };
    assert_eq!(service.client().search(&search).unwrap().hits.len(), 2);
    assert!(end_of(half).starts_with("HTTP/1.1 408 "), "a body that does not end");
    assert_eq!(end_of(head), "", "a head that does not end gets no answer");
}

#[test]
fn a_connection_beyond_the_maximum_is_turned_away() {
    let dir = indexed();
    let service = Service::with(&dir, |settings| settings.connections_max = 8);
    let open: Vec<TcpStream> = (0..8).map(|_| service.connect()).collect();
    let mut turned_away = service.connect();
    // The service turns a connection away even before a request.
    let _ = turned_away.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let answer = end_of(turned_away);
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("Retry-After: 1"), "{answer}");
    let answer: Value = serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    assert_eq!(answer["error"]["code"], "unavailable");
    drop(open);
    wait_until("room for connections", || service.ask("GET", "/healthz", "", "").status == 200);
}

/// Sends the head of a request and the first `come` bytes of its body.
fn hold(service: &Service, path: &str, bytes: usize, come: usize) -> TcpStream {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {bytes}\r\nExpect: 100-continue\r\n\r\n"
    );
    let mut stream = service.connect();
    stream.write_all(head.as_bytes()).unwrap();
    // The service sends status 100 when it wants the body.
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 100");
    stream.write_all(&vec![b' '; come]).unwrap();
    stream
}

#[test]
fn too_many_requests_at_once_are_turned_away() {
    let dir = created();
    let service = Service::with(&dir, |settings| settings.requests_max = 1);
    // Requests without their bodies take no place.
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
        // The client waits and tries again after a refusal.
        let search = SearchRequest { text: Some("x".into()), ..SearchRequest::default() };
        assert_eq!(service.client().search(&search).unwrap().hits, []);
    });
    assert_eq!(service.ask("GET", "/healthz", "", "").status, 200);
}

#[test]
fn the_room_for_bodies_is_bounded() {
    let dir = created();
    let service = Service::with(&dir, |settings| {
        settings.memory_bytes = 8 << 20;
        settings.body_bytes_max = 1 << 20;
        settings.timeout = Duration::from_secs(20);
    });
    let large = json!({"id": "a", "text": "x ".repeat(200_000)}).to_string();
    let large = large + &" ".repeat(500_000);
    // Announcing a long body must not reserve room.
    let _saying: Vec<TcpStream> =
        (0..5).map(|_| hold(&service, "/v1/documents", 1_000_000, 1)).collect();
    assert_eq!(service.post("/v1/documents", &large).status, 202);
    // Sending long bodies takes room. If the request below is faster, the service refuses a long
    // body, so try again.
    let mut sending = Vec::new();
    wait_until("a refusal", || {
        sending.clear();
        sending.extend((0..2).map(|_| hold(&service, "/v1/documents", 1_000_000, 900_000)));
        service.post("/v1/documents", &large).status == 429
    });
    // Bodies of searches have a separate limit.
    let large = json!({"text": "x ".repeat(200_000)}).to_string();
    assert_eq!(service.post("/v1/search", &large).status, 200);
}

#[test]
fn a_connection_is_used_again_after_having_been_idle_for_longer_than_a_head_may_take() {
    // Load balancers keep connections. A request on a connection just closed would fail.
    let dir = indexed();
    // Connections may be idle for longer than the head of a request may take.
    let service = Service::with(&dir, |settings| {
        settings.timeout = Duration::from_millis(200);
        settings.idle_timeout = Duration::from_secs(3600);
    });
    let mut kept = service.connect();
    let mut silent = service.connect();
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
    // A connection without any byte is closed after the limit for the head of a request.
    assert_eq!(silent.read(&mut [0]).unwrap_or(0), 0);
    ask();
}
