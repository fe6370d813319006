//! Fuzzes requests: the service answers any request without a fault of its own, and goes on
//! answering.

use std::cell::RefCell;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, StatusCode, Uri};
use cento::index::{Config, Index};
use cento_serve::{Service, Settings};
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::choice;

/// The number of requests to one service, whose index grows with them.
const REQUESTS_MAX: u32 = 500;

const ROUTES: [(&str, &str); 14] = [
    ("POST", "/v1/search"),
    ("POST", "/v1/compare"),
    ("POST", "/v1/passages"),
    ("POST", "/v1/pairs"),
    ("POST", "/v1/documents"),
    ("POST", "/v1/documents?commit=wait"),
    ("POST", "/v1/remove"),
    ("POST", "/v1/remove?commit=wait"),
    ("POST", "/v1/commit"),
    ("POST", "/v1/compact"),
    ("GET", "/v1/stats"),
    ("GET", "/metrics"),
    ("GET", "/openapi.json"),
    ("POST", "/v1/search?x=1"),
];

const KINDS: [&str; 4] =
    ["application/json", "application/x-ndjson", "application/json; charset=utf-8", "text/plain"];

const DOCUMENTS: &str = "{\"id\":\"a\",\"text\":\"one two three four five six seven eight nine ten\",\"meta\":{\"lang\":\"en\",\"year\":2020}}\n\
    {\"id\":\"b\",\"text\":\"zero two three four five six seven eight nine ten eleven\",\"meta\":{\"tags\":[\"x\",1]}}\n\
    {\"id\":\"c\",\"text\":\"<p>Stra\u{df}e</p> \u{6771}\u{4eac}\u{90fd} one two three four five six\"}\n";

/// A service that gets its requests from this module.
struct Asked {
    service: TowerToHyperService<Router>,
    runtime: Runtime,
    requests: u32,
    // What follows goes last.
    _service: Service,
    _dir: TempDir,
}

impl Asked {
    fn new() -> Asked {
        let dir = tempfile::tempdir().expect("the temporary directory takes another");
        let path = dir.path().join("index");
        let config =
            Config::new("winnow(k=2,w=2)", "words", true).expect("they are specifications");
        Index::create(&path, config).expect("it is a new directory");
        let settings = Settings {
            listen: ([127, 0, 0, 1], 0).into(),
            threads: 1,
            body_bytes_max: 64 << 10,
            batch_max: 100,
            ..Settings::default()
        };
        let service = Service::bind(&path, settings).expect("a loopback port is free");
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let asked = Asked {
            service: TowerToHyperService::new(service.router()),
            runtime: runtime.enable_time().build().expect("there is room for a runtime"),
            requests: 0,
            _service: service,
            _dir: dir,
        };
        let added =
            asked.ask("POST", "/v1/documents?commit=wait", Some(KINDS[1]), DOCUMENTS.as_bytes());
        assert_eq!(added.map(|(status, _)| status), Some(StatusCode::OK));
        asked
    }

    /// Returns the answer, or nothing if the values make no request.
    fn ask(
        &self,
        method: &str,
        uri: &str,
        kind: Option<&str>,
        body: &[u8],
    ) -> Option<(StatusCode, Vec<u8>)> {
        let mut request = Request::builder()
            .method(Method::from_bytes(method.as_bytes()).ok()?)
            .uri(uri.parse::<Uri>().ok()?)
            .header("host", "localhost");
        if let Some(kind) = kind {
            request = request.header("content-type", kind);
        }
        let request = request.body(Body::from(body.to_vec())).ok()?;
        Some(self.runtime.block_on(async {
            let response = self.service.call(request).await.expect("a router answers everything");
            let status = response.status();
            let body = to_bytes(response.into_body(), usize::MAX).await.expect("it is in memory");
            (status, body.to_vec())
        }))
    }
}

/// A body for a route; the first byte chooses the route, the second the kind of body. Beyond the
/// routes the first line of the body says method and path.
pub fn http(data: &[u8]) {
    thread_local! {
        static ASKED: RefCell<Option<Asked>> = const { RefCell::new(None) };
    }
    let (route, rest) = choice(data);
    let (kind, body) = choice(rest);
    let kind = KINDS.get(kind % (KINDS.len() + 1)).copied();
    ASKED.with_borrow_mut(|place| {
        let asked = place.get_or_insert_with(Asked::new);
        let mut is_head = false;
        let answer = match ROUTES.get(route % 16) {
            Some((method, uri)) => asked.ask(method, uri, kind, body),
            None => {
                let mut parts = body.splitn(2, |&byte| byte == b'\n');
                let line = String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
                let body = parts.next().unwrap_or_default();
                let (method, uri) = line.split_once(' ').unwrap_or(("GET", &line));
                is_head = method == "HEAD";
                asked.ask(method, uri, kind, body)
            }
        };
        if let Some((status, body)) = answer {
            let said = String::from_utf8_lossy(&body);
            assert!(status.as_u16() < 500, "{status}: {said}");
            // The answer to HEAD has no body.
            if status.is_client_error() && !is_head {
                let error: cento_api::http::ErrorBody =
                    serde_json::from_slice(&body).expect("it is JSON");
                assert!(!error.error.code.is_empty() && !error.error.message.is_empty(), "{said}");
            }
        }
        let next =
            asked.ask("POST", "/v1/search", Some(KINDS[0]), b"{\"text\":\"two three four five\"}");
        assert_eq!(next.map(|(status, _)| status), Some(StatusCode::OK), "the next request");
        let ready = asked.ask("GET", "/readyz", None, b"");
        assert_eq!(ready.map(|(status, _)| status), Some(StatusCode::OK), "the writer");
        asked.requests += 1;
        if asked.requests == REQUESTS_MAX {
            *place = None;
        }
    });
}
