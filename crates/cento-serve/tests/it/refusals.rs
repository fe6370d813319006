//! Refusals of wrong requests.

use std::time::Duration;

use serde_json::{Value, json};

use crate::common::{Ask, Dir, JSON, Routes, Service, documents, indexed};

/// The routes of a service with a small limit for bodies.
fn routes(dir: &Dir) -> Routes {
    Routes::with(dir, |settings| settings.body_bytes_max = 64 << 10)
}

/// Checks answers to requests: method, path, headers and body, then expected status and code.
fn check(service: &impl Ask, requests: &[(&str, &str, &str, &str, u16, &str)]) {
    for (method, path, headers, body, status, code) in requests {
        let reply = service.ask(method, path, headers, body);
        let found = (reply.status, reply.code());
        assert_eq!(found, (*status, (*code).to_owned()), "{method} {path} {headers}{body:.80}");
        assert!(!reply.body.contains("idx") && !reply.body.contains("/tmp"), "{reply:?}");
    }
}

#[test]
fn a_wrong_search_is_refused_with_its_status() {
    let dir = indexed();
    let nested = "[".repeat(10_000);
    let long = format!("{{\"text\": \"{}\"}}", "x".repeat(70_000));
    let searches = [
        ("", 400, "invalid_argument"),
        ("{", 400, "bad_request"),
        ("[]", 400, "bad_request"),
        ("{}", 400, "invalid_argument"),
        ("{\"text\": \"\"}", 400, "invalid_argument"),
        ("{\"text\": \" \\n\"}", 400, "invalid_argument"),
        ("{\"text\": \"x\", \"id\": \"a\"}", 400, "invalid_argument"),
        ("{\"text\": \"x\", \"txt\": 1}", 400, "invalid_argument"),
        ("{\"text\": \"x\", \"text\": \"y\"}", 400, "bad_request"),
        ("{\"text\": \"x\", \"limit\": -1}", 400, "invalid_argument"),
        ("{\"text\": \"x\", \"limit\": 100000}", 400, "invalid_argument"),
        ("{\"text\": \"x\", \"limit\": 99999999999999999999}", 400, "invalid_argument"),
        ("{\"text\": \"x\", \"min_containment\": NaN}", 400, "bad_request"),
        ("{\"text\": \"x\", \"min_containment\": 2}", 400, "invalid_argument"),
        ("{\"text\": \"x\", \"filter\": \"((\"}", 400, "invalid_argument"),
        ("{\"text\": \"x\", \"filter\": \"nofield:1\"}", 400, "invalid_argument"),
        ("{\"text\": \"x\", \"verify\": \"magic\"}", 400, "invalid_spec"),
        ("{\"text\": \"x\", \"max_df\": \"many\"}", 400, "invalid_argument"),
        ("{\"id\": \"absent\"}", 404, "unknown_id"),
        (&nested, 400, "bad_request"),
        (&long, 413, "too_large"),
    ];
    let searches =
        searches.map(|(body, status, code)| ("POST", "/v1/search", JSON, body, status, code));
    check(&routes(&dir), &searches);
}

/// Returns a body with the fields that the schema of a request requires.
fn required(api: &Value, schema: &Value) -> Value {
    let named = schema["$ref"].as_str().and_then(|name| name.strip_prefix('#'));
    if let Some(name) = named {
        return required(api, api.pointer(name).unwrap());
    }
    if let Some(any) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        return required(api, any.last().unwrap());
    }
    match schema["type"].as_str() {
        Some("string") => {
            let example = schema.get("example").or(schema["examples"].get(0));
            example.cloned().unwrap_or(json!("a"))
        }
        Some("array") => json!([required(api, &schema["items"])]),
        Some("integer" | "number") => json!(1),
        _ => {
            let fields = schema["required"].as_array().cloned().unwrap_or_default();
            let fields = fields.iter().map(|field| {
                let field = field.as_str().unwrap();
                (field.to_owned(), required(api, &schema["properties"][field]))
            });
            Value::Object(fields.collect())
        }
    }
}

#[test]
fn what_a_route_does_not_know_is_refused_and_not_passed_over() {
    let dir = indexed();
    let service = routes(&dir);
    let before = documents(&dir, "idx");
    let api: Value =
        serde_json::from_str(&service.ask("GET", "/openapi.json", "", "").body).unwrap();
    let (mut bodies, mut addresses) = (0, 0);
    for (path, methods) in api["paths"].as_object().unwrap() {
        let path = path.replace("{id}", "a").replace("{name}", "a");
        for (method, operation) in methods.as_object().unwrap() {
            let method = method.to_uppercase();
            if !path.starts_with("/v1/") || !["GET", "POST", "DELETE"].contains(&&*method) {
                continue;
            }
            let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
            let mut body = match schema {
                Value::Null => json!({}),
                schema => required(&api, schema),
            };
            let reply = service.ask(&method, &format!("{path}?strange=1"), JSON, &body.to_string());
            assert_eq!(reply.status, 400, "{method} {path}: {reply:?}");
            assert!(reply.body.contains("strange"), "{method} {path}: {reply:?}");
            for query in ["&strange=1", "=1&strange=1"] {
                let reply =
                    service.ask(&method, &format!("{path}?{query}"), JSON, &body.to_string());
                assert_eq!(reply.status, 400, "{method} {path}?{query}: {reply:?}");
            }
            addresses += 1;
            // Skip two routes: records may have fields that the index does not keep, and this
            // service does not merge.
            if schema.is_null() || path == "/v1/documents" || path == "/v1/merge" {
                continue;
            }
            body["strange"] = json!(1);
            let reply = service.post(&path, &body.to_string());
            assert_eq!(reply.status, 400, "{path} {body}: {reply:?}");
            let error = &reply.json()["error"];
            assert_eq!(error["code"], "invalid_argument", "{path} {body}: {reply:?}");
            assert_eq!(error["argument"], "strange", "{path} {body}: {reply:?}");
            bodies += 1;
        }
    }
    assert!(bodies >= 12 && addresses >= 25, "{bodies} {addresses}");
    assert_eq!(documents(&dir, "idx"), before);
}

#[test]
fn an_unknown_field_is_refused_with_those_that_are_known() {
    let dir = indexed();
    let routes = routes(&dir);
    let check = |path: &str, body: &str, said: &str| {
        let reply = routes.post(path, body);
        assert_eq!((reply.status, reply.code()), (400, "invalid_argument".to_owned()), "{reply:?}");
        assert!(reply.body.contains(said), "{path} {body}: {}", reply.body);
    };
    let said = "`txt`: unknown field `txt` (did you mean `text`?), expected one of `boilerplate`, ";
    check("/v1/search", r#"{"txt": "x"}"#, said);
    let body = r#"{"a": {"id": "a"}, "b": {"id": "b"}, "mesures": 1}"#;
    check("/v1/compare", body, "(did you mean `measures`?)");
    let body = r#"{"a": {"idd": "a"}, "b": {"id": "b"}}"#;
    check("/v1/compare", body, "`a.idd`: unknown field `idd` (did you mean `id`?)");
    let said = "`search.limits`: unknown field `limits` (did you mean `limit`?)";
    check("/v1/report", r#"{"search": {"text": "x", "limits": 1}}"#, said);
    check("/v1/remove", r#"{"id": ["a"]}"#, "`id`: unknown field `id` (did you mean `ids`?)");
    check("/v1/families", r#"{"foo": 1}"#, "unknown field `foo`, expected one of `");
    let reply = routes.ask("GET", "/v1/documents?limt=3", "", "");
    assert!(reply.body.contains("unknown field `limt` (did you mean `limit`?)"), "{reply:?}");
}

#[test]
fn what_needs_stored_texts_is_refused_by_an_index_without_them() {
    let dir = Dir::new();
    let config = cento::Config::new("winnow(k=5,w=10)", "words", false).unwrap();
    cento::Index::create(dir.path("idx"), config).unwrap();
    let routes = Routes::of(&dir);
    let added = routes.post("/v1/documents?commit=wait", r#"{"id": "a", "text": "one two three"}"#);
    assert_eq!(added.status, 200, "{added:?}");
    let named = "the index of the service: it stores no texts";
    for body in [r#"{"id": "a"}"#, r#"{"id": "a", "dry_run": true}"#, r#"{"id": "absent"}"#] {
        let reply = routes.post("/v1/withdrawals", body);
        assert_eq!((reply.status, reply.code()), (409, "no_texts".to_owned()), "{body}");
        assert!(reply.body.contains(named) && reply.body.contains("remove the document"));
    }
    // The remaining routes must not answer with an internal error.
    let other = r#""id": "a""#;
    for (path, body) in [
        ("/v1/search", format!("{{{other}, \"passages\": true}}")),
        ("/v1/passages", format!("{{{other}, \"hit\": \"a\"}}")),
        ("/v1/report", format!("{{\"search\": {{{other}}}}}")),
        ("/v1/compare", r#"{"a": {"id": "a"}, "b": {"text": "one"}}"#.to_owned()),
        ("/v1/families", "{}".to_owned()),
        ("/v1/lineage", "{}".to_owned()),
        ("/v1/watches", format!("{{{other}, \"name\": \"w\"}}")),
    ] {
        let reply = routes.post(path, &body);
        assert!(reply.status < 500, "{path}: {reply:?}");
    }
}

#[test]
fn a_body_of_an_unknown_kind_is_refused() {
    let dir = indexed();
    let zipped = format!("{JSON}Content-Encoding: br\r\n");
    let kinds = ["", "Content-Type: text/plain\r\n", &zipped];
    let kinds = kinds.map(|kind| ("POST", "/v1/search", kind, "{}", 415, "unsupported_media_type"));
    check(&routes(&dir), &kinds);
}

#[test]
fn a_wrong_path_or_method_is_refused_with_its_status() {
    let dir = indexed();
    check(
        &routes(&dir),
        &[
            ("GET", "/v1/search", "", "", 405, "method_not_allowed"),
            ("GET", "/v1/nothing", "", "", 404, "no_such_route"),
            ("GET", "/../../etc/passwd", "", "", 404, "no_such_route"),
            ("GET", "/v1/documents/%00", "", "", 404, "unknown_id"),
            ("GET", "/v1/documents/%FF", "", "", 400, "bad_request"),
            ("POST", "/v1/documents?commit=now", JSON, "{}", 400, "invalid_argument"),
            ("POST", "/v1/compact", JSON, "{\"segments\": 0}", 400, "invalid_argument"),
            ("POST", "/v1/compact", JSON, "[]", 400, "bad_request"),
            ("POST", "/v1/compare", JSON, "{\"a\": {\"id\": \"a\"}}", 400, "bad_request"),
        ],
    );
}

#[test]
fn a_request_of_another_site_or_to_another_host_is_refused() {
    let dir = indexed();
    let service = routes(&dir);
    let foreign = format!("{JSON}Sec-Fetch-Site: cross-site\r\n");
    check(
        &service,
        &[
            ("POST", "/v1/search", &foreign, "{}", 403, "foreign_site"),
            ("GET", "/healthz", "Host: evil.example\r\n", "", 403, "foreign_site"),
        ],
    );
    for host in ["localhost", "localhost:80", "127.0.0.1", "[::1]:7227"] {
        let reply = service.ask("GET", "/healthz", &format!("Host: {host}\r\n"), "");
        assert_eq!(reply.status, 200, "{host}");
    }
}

#[test]
fn a_request_that_is_not_http_is_refused_and_the_service_lives() {
    let dir = indexed();
    let service = Service::with(&dir, |settings| {
        settings.body_bytes_max = 64 << 10;
        settings.timeout = Duration::from_secs(1);
    });
    let lying = "POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                 Content-Length: 1000\r\n\r\n{}";
    let chunked = lying.replace("Content-Length: 1000", "Transfer-Encoding: chunked");
    let chunked = chunked.strip_suffix("{}").unwrap().to_owned();
    let chunk = format!("8000\r\n{}\r\n", "x".repeat(0x8000));
    let long = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "x".repeat(100_000));
    for (what, request, status) in [
        ("a length that lies", lying.to_owned(), 408),
        ("a length that is no number", lying.replace("1000", "none"), 400),
        ("an endless body", chunked + &chunk.repeat(4), 413),
        ("a long address", long, 414),
    ] {
        let reply = service.raw(request.as_bytes());
        assert_eq!(reply.status, status, "{what}: {reply:?}");
    }
    let both = lying.replace("1000", "2\r\nTransfer-Encoding: chunked");
    assert!(matches!(service.raw(both.as_bytes()).status, 400 | 408));
    assert_eq!(service.ask("GET", "/readyz", "", "").status, 200);
    service.stop();
}

#[test]
fn no_body_is_an_empty_request() {
    let dir = indexed();
    let service = Service::start(&dir);
    for headers in ["Content-Type: application/json\r\n", ""] {
        let compacted = service.ask("POST", "/v1/compact", headers, "");
        // The compaction of the previous request may still be running, which gives 409.
        assert!([200, 202, 409].contains(&compacted.status), "{headers} {}", compacted.body);
        // The message must report the missing field instead of the end of a file.
        let search = service.ask("POST", "/v1/search", headers, "");
        assert_eq!(search.status, 400, "{}", search.body);
        assert!(!search.body.contains("EOF"), "{}", search.body);
        let removed = service.ask("POST", "/v1/remove", headers, "");
        assert!(removed.body.contains("either `ids` or `filter`"), "{}", removed.body);
    }
}
