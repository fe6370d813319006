//! Long computations end when their client goes away.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::common::{Ask, Dir, JSON, Service, documents, fill, line};
use serde_json::{Value, json};

/// Words of one letter, which take the longest to align for the length of a text.
fn letters(count: u64, seed: u64) -> String {
    let mut state = seed;
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(b'a' + ((state >> 40) % 26) as u8)
    };
    (0..count).flat_map(|_| [letter(), ' ']).collect()
}

/// Returns a directory with an index of the document `d`.
fn holding() -> Dir {
    let dir = Dir::new();
    fill(&dir.path("idx"), &line("d", &letters(LETTERS, 1), json!({})));
    dir
}

/// The letters of a document. Aligning, measuring or signing takes seconds without optimization.
const LETTERS: u64 = 300_000;

/// Requests with long computations.
fn requests() -> Vec<(&'static str, Value)> {
    let (a, b) = (letters(LETTERS, 2), letters(LETTERS, 3));
    let pair = json!([{"id": "a", "text": &a}, {"id": "b", "text": &b}]);
    // The texts are about as long as the limit on the steps of a measure permits.
    let [short, other] = [letters(20_000, 4), letters(20_000, 5)];
    let long = format!("{a}{b}").repeat(6);
    vec![
        ("/v1/compare", json!({"a": {"text": &a}, "b": {"text": &b}})),
        (
            "/v1/compare",
            json!({"a": {"text": &short}, "b": {"text": &other}, "measures": ["damerau"]}),
        ),
        ("/v1/passages", json!({"text": &a, "hit": "d"})),
        (
            "/v1/search",
            json!({"text": &a, "passages": true, "verify": "overlap", "boilerplate": [&b]}),
        ),
        ("/v1/search", json!({"text": &a, "goal": "passage"})),
        ("/v1/pairs", json!({"documents": pair, "boilerplate": [&a, &b]})),
        ("/v1/documents", json!({"id": "x", "text": long})),
    ]
}

fn computations(service: &Service) -> f64 {
    service.metric("cento_computations")
}

#[test]
fn a_client_that_hangs_up_leaves_no_computation_behind() {
    let dir = holding();
    let service = Service::start(&dir);
    for (number, (path, body)) in requests().into_iter().enumerate() {
        let body = body.to_string();
        let mut stream = service.connect();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\n{JSON}Content-Length: {}\r\n\r\n",
            service.address(),
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        while computations(&service) == 0.0 {}
        drop(stream);
        while computations(&service) > 0.0 {}
        // The client's departure ended the computation, not the result.
        let stopped = service.metric("cento_computations_stopped_total");
        assert_eq!(stopped, (number + 1) as f64, "{path}");
    }
    service.stop();
    assert_eq!(documents(&dir, "idx"), 1);
}

#[test]
fn a_request_that_exceeds_its_limit_leaves_no_computation_behind() {
    let dir = holding();
    let service = Service::with(&dir, |settings| settings.timeout = Duration::from_secs(1));
    let (path, body) = requests().remove(0);
    let body = body.to_string();
    let mut requests = 0;
    // On a busy machine the time limit may be over before the computation begins, so try again.
    while service.metric("cento_computations_stopped_total") == 0.0 && requests < 10 {
        assert_eq!(service.post(path, &body).status, 408);
        while computations(&service) > 0.0 {}
        requests += 1;
    }
    assert!(requests < 10, "none was stopped");
    service.stop();
}

/// Returns a directory with an index whose families take many seconds without optimization.
fn with_long_families() -> Dir {
    let dir = Dir::new();
    let documents = (1..=4).map(|n| line(&format!("d{n}"), &letters(LETTERS, n), json!({})));
    fill(&dir.path("idx"), &documents.collect::<String>());
    dir
}

/// Sends a request for all families without reading the answer. Waits until `number` of these
/// requests are running or waiting.
fn begin_families(service: &Service, number: u32) -> TcpStream {
    let mut stream = service.connect();
    let head = format!(
        "POST /v1/families HTTP/1.1\r\nHost: {}\r\n{JSON}Content-Length: 2\r\n\r\n{{}}",
        service.address()
    );
    stream.write_all(head.as_bytes()).unwrap();
    while computations(service) < f64::from(number) {}
    stream
}

#[test]
fn requests_about_all_documents_take_no_place_of_searches_and_are_few() {
    // Once thirty of these requests held all places, and ten out of ten searches timed out.
    let dir = with_long_families();
    let service = Service::with(&dir, |settings| settings.threads = 1);
    let streams: Vec<_> = (1..=4).map(|number| begin_families(&service, number)).collect();
    let refused = service.post("/v1/lineage", "{}");
    assert_eq!(refused.status, 429, "{}", refused.body);
    assert!(refused.head.contains("retry-after: ") && refused.body.contains("of this client"));
    let found = service.post("/v1/search", &json!({"text": letters(1000, 1)}).to_string());
    assert_eq!(found.status, 200, "{}", found.body);
    assert_eq!(computations(&service), 4.0, "the search had to wait for none of them");
    drop(streams);
    while computations(&service) > 0.0 {}
    service.stop();
}

#[test]
fn the_time_limit_holds_for_requests_about_all_documents_too() {
    let dir = with_long_families();
    let service = Service::with(&dir, |settings| settings.timeout = Duration::from_millis(50));
    // On a busy machine, the time limit ends requests for metrics too.
    let metric = |name: &str| loop {
        let reply = service.ask("GET", "/metrics", "", "");
        if reply.status == 200 {
            return reply.metric(name);
        }
    };
    for path in ["/v1/families", "/v1/lineage"] {
        let stopped = metric("cento_computations_stopped_total");
        assert_eq!(service.post(path, "{}").status, 408, "{path}");
        while metric("cento_computations") > 0.0 {}
        assert_eq!(metric("cento_computations_stopped_total"), stopped + 1.0, "{path}");
    }
    service.stop();
}

#[test]
fn a_service_that_stops_ends_requests_about_all_documents() {
    // Once the service waited for these requests until its shutdown timeout.
    let dir = with_long_families();
    let service = Service::start(&dir);
    let mut stream = begin_families(&service, 1);
    let ended = Instant::now();
    service.stop();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("is stopping"), "{answer}");
    assert!(ended.elapsed() < Duration::from_secs(20), "the shutdown timeout is 30 s");
}
