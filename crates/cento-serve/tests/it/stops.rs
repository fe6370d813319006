//! A client that starts a long computation and goes away leaves no work behind.

use std::io::Write;
use std::time::Duration;

use crate::common::{Ask, Dir, JSON, Service, documents, fill, line};
use serde_json::{Value, json};

/// Words of one letter: the texts that take longest to align for their length.
fn letters(count: u64, seed: u64) -> String {
    let mut state = seed;
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(b'a' + ((state >> 40) % 26) as u8)
    };
    (0..count).flat_map(|_| [letter(), ' ']).collect()
}

/// A directory with an index of the document `d`.
fn holding() -> Dir {
    let dir = Dir::new();
    fill(&dir.path("idx"), &line("d", &letters(LETTERS, 1), json!({})));
    dir
}

/// Letters of a document; aligning, measuring or signing them takes seconds without optimisation.
const LETTERS: u64 = 300_000;

/// Requests that compute for long.
fn requests() -> Vec<(&'static str, Value)> {
    let (a, b) = (letters(LETTERS, 2), letters(LETTERS, 3));
    let pair = json!([{"id": "a", "text": &a}, {"id": "b", "text": &b}]);
    // As many tokens as a measure may take steps for.
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
        // It ended because the client had gone, not because it was done.
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
    // On a busy machine the second may be over before the computation has begun.
    while service.metric("cento_computations_stopped_total") == 0.0 && requests < 10 {
        assert_eq!(service.post(path, &body).status, 408);
        while computations(&service) > 0.0 {}
        requests += 1;
    }
    assert!(requests < 10, "none was stopped");
    service.stop();
}
