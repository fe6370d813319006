//! Access by tokens with roles, and by pages of other sites.

use crate::common::{Ask, Dir, JSON, Routes, indexed};
use cento_serve::{Origins, Tokens};

fn tokens() -> Tokens {
    let tokens = "metrics monitor monitor-0123456789\nread reader reader-0123456789 # until May\n\
                  write writer writer-0123456789\n";
    Tokens::parse(tokens, "tokens").unwrap()
}

const TOKEN: &str = "Authorization: Bearer writer-0123456789\r\n";

/// The routes of a service for pages of two listed origins.
fn for_pages(dir: &Dir) -> Routes {
    Routes::with(dir, |settings| {
        settings.tokens = tokens();
        let origins = ["https://app.example", "http://localhost:5173"];
        settings.cors_origins = Origins::new(origins).unwrap();
    })
}

/// The headers of a request from a page of `origin`.
fn from(origin: &str, more: &str) -> String {
    format!("Origin: {origin}\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: cors\r\n{more}")
}

/// The headers of a browser's preflight request.
const ASKS: &str =
    "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization\r\n";

#[test]
fn tokens_have_roles() {
    let dir = indexed();
    let service = Routes::with(&dir, |settings| settings.tokens = tokens());
    let check = |method: &str, path: &str, body: &str, expected: [u16; 4]| {
        let tokens = ["", "monitor-0123456789", "reader-0123456789", "writer-0123456789"];
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
        check("GET", path, "", [200; 4]);
    }
    check("GET", "/metrics", "", [401, 200, 200, 200]);
    for path in ["/v1/stats", "/v1/documents/a", "/v1/documents", "/v1/watches"] {
        check("GET", path, "", [401, 403, 200, 200]);
    }
    check("POST", "/v1/search", "{\"text\": \"x\"}", [401, 403, 200, 200]);
    check("POST", "/v1/documents", "{\"id\": \"n\", \"text\": \"x\"}", [401, 403, 403, 202]);
    check("PATCH", "/v1/documents/a", "{\"meta\": {\"x\": 1}}", [401, 403, 403, 202]);
    check("POST", "/v1/remove", "{\"ids\": [\"n\"]}", [401, 403, 403, 202]);
    check("DELETE", "/v1/documents/a", "", [401, 403, 403, 202]);
    check("POST", "/v1/commit", "", [401, 403, 403, 200]);
    check("POST", "/v1/compact", "{\"wait\": true}", [401, 403, 403, 200]);
    check("POST", "/v1/merge", "{\"shards\": [\"x\"]}", [401, 403, 403, 403]);
    let monitor = "Authorization: Bearer monitor-0123456789\r\n";
    let metrics = service.ask("GET", "/metrics", monitor, "").body;
    assert!(metrics.contains("cento_token_requests_total{token=\"reader\"} 17"), "{metrics}");
    let refused = service.ask("GET", "/v1/stats", monitor, "").body;
    assert!(refused.contains("`/metrics` only"), "{refused}");
}

#[test]
fn pages_of_listed_origins_may_ask_and_others_may_not() {
    let dir = indexed();
    let service = for_pages(&dir);
    for origin in ["https://app.example", "http://localhost:5173"] {
        let allowed = format!("access-control-allow-origin: {origin}\r\n");
        let reply = service.ask("OPTIONS", "/v1/search", &from(origin, ASKS), "");
        assert!(reply.status == 204 && reply.head.contains(&allowed), "{reply:?}");
        for part in [
            "access-control-allow-methods: get, post, patch, delete\r\n",
            "access-control-allow-headers: authorization, content-type, content-encoding, \
             x-request-id\r\n",
            "vary: origin\r\n",
        ] {
            assert!(reply.head.contains(part), "{part} {reply:?}");
        }
        assert!(!reply.head.contains("allow-credentials"), "{reply:?}");
        // The page can read any answer, even a refusal.
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
}

#[test]
fn pages_of_other_origins_may_not_ask() {
    let dir = indexed();
    let service = for_pages(&dir);
    for origin in
        ["https://app.example.evil", "http://app.example", "https://app.example:8443", "null"]
    {
        for (method, headers) in
            [("OPTIONS", from(origin, ASKS)), ("POST", from(origin, &format!("{JSON}{TOKEN}")))]
        {
            let reply = service.ask(method, "/v1/search", &headers, "{\"text\": \"x\"}");
            assert_eq!((reply.status, reply.code().as_str()), (403, "foreign_site"), "{origin}");
            assert!(!reply.head.contains("access-control-allow-origin"), "{reply:?}");
            assert!(reply.head.contains("vary: origin"), "{reply:?}");
        }
    }
}

#[test]
fn a_page_behind_a_proxy_that_asks_for_another_host_is_known_by_its_browser() {
    let dir = indexed();
    let service = Routes::of(&dir);
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
