//! The document of the API, and the web page.

use std::collections::BTreeSet;

use crate::common::{Ask, Routes, created, indexed};
use cento_serve::Tokens;

#[test]
fn every_route_is_in_the_document_of_the_api() {
    let (open, dir) = (created(), indexed());
    let without_tokens = Routes::of(&open).ask("GET", "/openapi.json", "", "").body;
    let tokens = Tokens::parse("read reader 0123456789abcdef", "tokens").unwrap();
    let service = Routes::with(&dir, |settings| settings.tokens = tokens);
    let reply = service.ask("GET", "/openapi.json", "", "");
    assert_eq!(reply.body, without_tokens);
    let document = reply.json();
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
        "delete /v1/watches/{name}",
        "get /healthz",
        "get /metrics",
        "get /openapi.json",
        "get /readyz",
        "get /v1/documents",
        "get /v1/documents/{id}",
        "get /v1/events",
        "get /v1/stats",
        "get /v1/watches",
        "get /v1/watches/{name}",
        "get /v1/watches/{name}/events",
        "get /v1/withdrawals",
        "patch /v1/documents/{id}",
        "post /v1/commit",
        "post /v1/compact",
        "post /v1/compare",
        "post /v1/documents",
        "post /v1/families",
        "post /v1/grouping",
        "post /v1/lineage",
        "post /v1/merge",
        "post /v1/pairs",
        "post /v1/pairs/report",
        "post /v1/passages",
        "post /v1/remove",
        "post /v1/report",
        "post /v1/search",
        "post /v1/shard/candidates",
        "post /v1/shard/frequencies",
        "post /v1/shard/spans",
        "post /v1/texts",
        "post /v1/watches",
        "post /v1/withdrawals",
        "post /v1/withdrawals/forget",
    ];
    assert_eq!(routes.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}

#[test]
fn nothing_in_the_page_is_at_an_absolute_path() {
    // Behind a proxy, the service may be at any path of a host.
    let dir = created();
    let service = Routes::of(&dir);
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
    // The page imports all scripts, so the walk finds every file.
    assert!(seen.len() >= 18, "{seen:?}");
}

#[test]
fn a_request_has_a_number_that_the_answer_knows() {
    let dir = created();
    let service = Routes::of(&dir);
    let given = service.ask("GET", "/healthz", "X-Request-Id: from-a-proxy/1\r\n", "");
    assert!(given.head.contains("x-request-id: from-a-proxy/1\r\n"), "{given:?}");
    let made_up = service.ask("GET", "/v1/nothing", "X-Request-Id: not fit for a log\r\n", "");
    let error = made_up.json();
    let id = error["error"]["request_id"].as_str().unwrap();
    assert_eq!(id.len(), 16, "{id}");
    assert!(made_up.head.contains(&format!("x-request-id: {id}\r\n")), "{made_up:?}");
}
