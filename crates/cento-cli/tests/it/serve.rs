//! The service: its answers, its limits, and the durability of acknowledged documents.

use crate::common::run::{Dir, corpus, indexed};
use crate::common::service::{JSON, LINES, Service};
use crate::common::words;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;

use cento::join::pairs::PairOptions;
use cento::search::SearchOptions;
use cento::{CompareOptions, Error, Reason};
use cento_client::Client;
use cento_client::api::{
    Commit, CompareRequest, DocumentBody, PairsRequest, PassagesRequest, SearchRequest, TextOrId,
};
use serde_json::{Map, Value, json};

fn text(text: &str) -> SearchRequest {
    SearchRequest { text: Some(text.to_owned()), ..SearchRequest::default() }
}

fn body(id: &str, text: &str) -> DocumentBody {
    DocumentBody { id: id.to_owned(), text: text.to_owned(), meta: Map::new(), id_place: None }
}

fn ids(client: &Client, query: &str) -> Vec<String> {
    client.search(&text(query)).unwrap().hits.into_iter().map(|hit| hit.id).collect()
}

#[test]
fn an_answer_is_that_of_the_command_line() {
    let dir = indexed();
    let passage = words(1, 80);
    dir.write("q.txt", &passage);
    let signature = dir.json(&["fingerprint", "q.txt", "--index", "idx"]);
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
    check(&["--text", &passage, "--goal", "cover"], json!({"text": passage, "goal": "cover"}));
    check(&["--text", &passage, "--goal", "passage"], json!({"text": passage, "goal": "passage"}));
    check(
        &["--text", &passage, "--filter", "lang:en", "--min-containment", "0.9"],
        json!({"text": passage, "filter": "lang:en", "min_containment": 0.9}),
    );
    check(
        &["--text", &passage, "--verify", "resemblance(k=3)", "--min-similarity", "0.1"],
        json!({"text": passage, "verify": "resemblance(k=3)", "min_similarity": 0.1}),
    );
    check(
        &["--text", &passage, "--max-df", "2", "--budget", "100"],
        json!({"text": passage, "max_df": "2", "budget": 100}),
    );
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
fn a_batch_is_answered_line_by_line() {
    let dir = indexed();
    let service = Service::start(&dir, &["--max-batch", "3"]);
    let client = service.client();
    let unknown = SearchRequest { id: Some("nobody".into()), ..SearchRequest::default() };
    let answers = client.search_all(&[text(&words(1, 80)), unknown, text("x")]).unwrap();
    assert_eq!(
        answers[0].as_ref().unwrap().hits,
        client.search(&text(&words(1, 80))).unwrap().hits
    );
    assert!(matches!(&answers[1], Err(Error::Service { code, .. }) if code == "unknown_id"));
    assert_eq!(answers[2].as_ref().unwrap().hits, []);
    let many = vec![text("x"); 4];
    let refused = client.search_all(&many).unwrap_err();
    assert!(matches!(refused, Error::Service { code, .. } if code == "too_large"));
    let reply = service.ask("POST", "/v1/search", LINES, "{\"text\":\"a\"}\n\nnonsense\n");
    let answers: Vec<Value> =
        reply.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(answers[0]["hits"].is_array());
    assert_eq!(answers[1]["error"]["code"], "bad_request");
}

#[test]
fn a_client_gets_the_reason_back() {
    let dir = indexed();
    let service = Service::start(&dir, &[]);
    let client = service.client();
    let refused = |request: SearchRequest| client.search(&request).unwrap_err();
    let unknown = refused(SearchRequest { id: Some("nobody".into()), ..SearchRequest::default() });
    assert_eq!(unknown.reason(), Reason::UnknownId);
    let options = SearchOptions::default().limit(100_000);
    let large = refused(SearchRequest { options, ..text("some words") });
    assert_eq!(large.reason(), Reason::InvalidArgument { argument: Some("limit") });
    // A measure is a specification, as a scheme is, in a body or in the part of files.
    let measure = json!({"text": "a", "verify": "jacard"}).to_string();
    let measures =
        json!({"a": {"text": "a"}, "b": {"text": "b"}, "measures": ["jacard"]}).to_string();
    for (path, body) in [("/v1/search", measure), ("/v1/compare", measures)] {
        let reply = service.post(path, &body);
        let error: Value = serde_json::from_str(&reply.body).unwrap();
        assert_eq!(
            (reply.status, &error["error"]["code"]),
            (400, &json!("invalid_spec")),
            "{error}"
        );
        assert!(reply.body.contains("jacard"), "{error}");
    }
    for (field, value) in [("limit", json!(-1)), ("max_df", json!("x"))] {
        let reply = service.post("/v1/search", &json!({"text": "a", field: value}).to_string());
        let error: Value = serde_json::from_str(&reply.body).unwrap();
        let error = &error["error"];
        assert_eq!((reply.status, &error["code"]), (400, &json!("invalid_argument")));
        assert_eq!(error["argument"], field, "{error}");
        assert!(reply.body.contains(&format!("`{field}`: ")), "{}", reply.body);
    }
    let reply = service.ask(
        "POST",
        "/v1/documents?commit=wait",
        LINES,
        "{\"id\": \"x\", \"txt\": \"y\"}\n",
    );
    let report: Value = serde_json::from_str(&reply.body).unwrap();
    assert_eq!(report["errors"][0]["code"], "missing_field", "{report}");
    let message = report["errors"][0]["message"].as_str().unwrap();
    assert!(message.contains("did you mean `txt`?"), "{message}");
}

#[test]
fn documents_come_and_go() {
    let dir = Dir::new();
    dir.run(&["create", "idx"]);
    let service = Service::start(&dir, &["--commit-interval", "1h"]);
    let client = service.client();
    let (one, two) = (words(1, 60), words(2, 60));
    let added = client.add(&body("a/1", &one), Commit::Wait).unwrap();
    assert_eq!((added.report.added, added.committed), (1, true));
    assert_eq!(ids(&client, &one), ["a/1"]);
    // Not seen before the commit.
    let added = client.add(&body("b", &one), Commit::Auto).unwrap();
    assert_eq!((added.report.added, added.committed), (1, false));
    assert_eq!(ids(&client, &one), ["a/1"]);
    assert_eq!(client.stats().unwrap().uncommitted, 1);
    assert_eq!(client.commit().unwrap().documents, 2);
    assert_eq!(ids(&client, &one), ["a/1", "b"]);
    // The same again, and another one with its id.
    assert_eq!(client.add(&body("b", &one), Commit::Wait).unwrap().report.unchanged, 1);
    assert_eq!(client.add(&body("b", &two), Commit::Wait).unwrap().report.replaced, 1);
    assert_eq!(ids(&client, &two), ["b"]);
    assert_eq!(client.document("a/1").unwrap().text, Some(one.clone()));
    let removed = client.remove(vec!["a/1".into(), "nobody".into()], Commit::Wait).unwrap();
    assert_eq!((removed.removed, removed.missing), (1, vec!["nobody".to_owned()]));
    assert_eq!(ids(&client, &one), Vec::<String>::new());
    assert_eq!(service.ask("GET", "/v1/documents/a%2F1", "", "").status, 404);
    assert_eq!(service.ask("DELETE", "/v1/documents/b?commit=wait", "", "").status, 200);
    assert_eq!(client.stats().unwrap().index.documents, 0);
    for id in [".", "..", "a b", "\u{e9}/%2F?#"] {
        client.add(&body(id, &one), Commit::Wait).unwrap();
        assert_eq!(client.document(id).unwrap().id, id);
    }
    assert!(service.stop());
    assert_eq!(dir.json(&["check", "idx"])["ok"], true);
}

#[test]
fn a_malformed_record_is_reported_with_its_line() {
    let dir = Dir::new();
    dir.run(&["create", "idx"]);
    let service = Service::start(&dir, &[]);
    let good = json!({"id": "a", "text": words(1, 50)}).to_string();
    let sent =
        format!("{good}\n\nnonsense\n{{\"text\": \"no id\"}}\n{{\"id\": \"\", \"text\": \"\"}}\n");
    let reply = service.ask("POST", "/v1/documents?commit=wait", LINES, &sent);
    let report: Value = serde_json::from_str(&reply.body).unwrap();
    assert_eq!((reply.status, &report["added"], &report["failed"]), (200, &json!(1), &json!(3)));
    let errors: Vec<u64> =
        report["errors"].as_array().unwrap().iter().map(|e| e["line"].as_u64().unwrap()).collect();
    assert_eq!(errors, [3, 4, 5]);
    let reply = service.post("/v1/documents", "{\"text\": \"no id\"}");
    assert_eq!((reply.status, reply.code().as_str()), (400, "missing_field"));
}

#[test]
fn the_command_line_adds_to_a_service() {
    let dir = Dir::new();
    dir.run(&["create", "idx"]);
    dir.write("corpus.jsonl", corpus() + "nonsense\n");
    dir.write("more.txt", words(9, 100));
    let service = Service::start(&dir, &["--commit-interval", "1h"]);
    let url = &service.url;
    let args = ["add", "--url", url, "corpus.jsonl", "more.txt", "--format", "json"];
    let run = dir.run(&args);
    assert_eq!(run.status, 2);
    let report = run.json();
    assert_eq!((&report["added"], &report["failed"]), (&json!(4), &json!(1)));
    assert_eq!(dir.json(&["stats", "--url", url])["documents"], 4);
    let again = dir.run(&["add", "--url", url, "corpus.jsonl", "--format", "json"]).json();
    assert_eq!(again["unchanged"], 3);
    assert_eq!(dir.run(&["add", "--url", url]).status, 2);
    assert_eq!(dir.run(&["add", "--url", url, "--strict", "corpus.jsonl"]).status, 2);
    dir.write("a.txt", words(1, 100));
    dir.write("b.txt", words(1, 80));
    let compared = dir.json(&["compare", "a.txt", "b.txt", "--measures", "lcs"]);
    let by_url = dir.json(&["compare", "a.txt", "b.txt", "--measures", "lcs", "--url", url]);
    assert_eq!(by_url, compared);
    assert_eq!(dir.json(&["remove", "--url", url, "a", "c"])["removed"], 2);
    // The writer of the service is in the way of others, except for clients of the service.
    let refused = dir.run(&["add", "idx", "more.txt"]);
    assert_eq!(refused.status, 2);
    assert!(refused.err.contains("--url"), "{}", refused.err);
    assert_eq!(dir.run(&["serve", "idx", "--listen", "127.0.0.1:0"]).status, 2);
    assert_eq!(dir.json(&["compact", "idx"])["segments_after"], 1);
    assert_eq!(dir.json(&["compact", "--url", url])["segments_after"], 1);
    assert_eq!(dir.json(&["stats", "--url", url])["deleted"], 0);
    assert!(service.stop());
    let gone = dir.run(&["search", "--url", "http://127.0.0.1:1", "--text", "x"]);
    assert!(gone.status == 2 && gone.err.contains("cannot ask http://127.0.0.1:1"), "{}", gone.err);
}

#[test]
fn documents_are_compared_over_http() {
    let dir = indexed();
    let service = Service::start(&dir, &[]);
    let client = service.client();
    let (a, b) = (TextOrId::Id("a".into()), TextOrId::Text(words(1, 80)));
    let options = CompareOptions::default().measures(vec!["all".to_owned()]);
    let found = client.compare(&CompareRequest { a, b, options }).unwrap();
    assert_eq!(found.a.as_deref(), Some("a"));
    assert_eq!(found.comparison.similarity.containment_of_b, 1.0);
    assert_eq!(found.comparison.measures.len(), 14);
    // An empty text would seem to have nothing in common with the other.
    client.add(&body("blank", " \u{3000}\n"), Commit::Wait).unwrap();
    for (empty, named) in [
        (TextOrId::Text("".into()), "a text is empty"),
        (TextOrId::Text(" \u{a0}".into()), "a text is empty"),
        (TextOrId::Id("blank".into()), "the text of the document `blank` is empty"),
    ] {
        let request = CompareRequest {
            a: TextOrId::Id("a".into()),
            b: empty,
            options: CompareOptions::default(),
        };
        let refused = client.compare(&request).unwrap_err().to_string();
        assert!(refused.contains(named), "{refused}");
    }
    client.remove(vec!["blank".into()], Commit::Wait).unwrap();
    let passages = SearchOptions::default().passages(true);
    let query = SearchRequest { options: passages.clone(), ..text(&words(1, 80)) };
    let answer = client.search(&query).unwrap();
    assert_eq!((answer.more, answer.total), (false, Some(2)));
    let cut = SearchRequest { options: passages.limit(1), ..query.clone() };
    let cut = client.search_all(&[cut]).unwrap().remove(0).unwrap();
    assert_eq!((cut.hits.len(), cut.more, cut.total), (1, true, None));
    let hits = answer.hits;
    assert_eq!(hits.len(), 2);
    for hit in hits {
        let request =
            PassagesRequest { text: query.text.clone(), hit: hit.id, ..PassagesRequest::default() };
        assert_eq!(client.passages(&request).unwrap().passages, hit.passages.unwrap());
    }
    let documents = vec![
        body("x", &words(1, 100)),
        body("y", &(words(1, 60) + &words(2, 40))),
        body("z", &words(3, 100)),
    ];
    let request = PairsRequest { documents, ..PairsRequest::default() };
    let with = |options: PairOptions| PairsRequest { options, ..request.clone() };
    let plain = PairOptions::default();
    let pairs = client.pairs(&request).unwrap().pairs;
    assert_eq!((pairs.len(), pairs[0].pair.a.as_str(), pairs[0].pair.b.as_str()), (1, "x", "y"));
    let endless = with(plain.clone().limit(usize::MAX));
    assert!(client.pairs(&endless).unwrap_err().to_string().contains("at most 10000"));
    assert_eq!(client.pairs(&with(plain.clone().limit(10_000usize))).unwrap().pairs, pairs);
    let long = |tokens: u32| with(plain.clone().min_passage(tokens));
    let found = client.pairs(&long(59)).unwrap().pairs;
    assert_eq!((found.len(), found[0].pair.passages.as_ref().unwrap()[0].tokens), (1, 59));
    assert_eq!(client.pairs(&long(60)).unwrap().pairs, []);
    assert!(client.pairs(&long(0)).unwrap_err().to_string().contains("at least 1"));
    let boilerplate = vec![words(1, 60)];
    let request = PairsRequest { boilerplate, ..request };
    assert_eq!(client.pairs(&request).unwrap().pairs, []);
}

#[test]
fn the_similarity_of_the_texts_decides_over_http() {
    let dir = indexed();
    let service = Service::start(&dir, &[]);
    let passage = words(1, 80);
    let close = format!("{} {}", words(1, 60), words(2, 10));
    let far = format!("{} {}", words(1, 60), words(3, 200));
    let document = |id: &str, text: &str| json!({"id": id, "text": text});
    let documents = [document("x", &passage), document("y", &close), document("z", &far)];
    for (path, found, request) in [
        ("/v1/search", "hits", json!({"text": passage})),
        ("/v1/pairs", "pairs", json!({"documents": documents})),
    ] {
        let ask = |more: Value| {
            let mut request = request.clone();
            request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            service.post(path, &request.to_string())
        };
        let of = |least: f64| -> Vec<Value> {
            let reply = ask(json!({"min_resemblance": least}));
            assert_eq!(reply.status, 200, "{reply:?}");
            let answer: Value = serde_json::from_str(&reply.body).unwrap();
            answer[found].as_array().unwrap().clone()
        };
        let all = of(0.001);
        assert!(all.len() > 1, "{path} {all:?}");
        // Every route gives the same similarity of two texts.
        let text = |id: &Value| {
            let own = documents.iter().find(|document| document["id"] == *id);
            own.map_or_else(|| json!({"id": id}), |document| json!({"text": document["text"]}))
        };
        for one in &all {
            let (a, b) = match path {
                "/v1/search" => (json!({"text": passage}), text(&one["id"])),
                _ => (text(&one["a"]), text(&one["b"])),
            };
            let compared = service.post("/v1/compare", &json!({"a": a, "b": b}).to_string());
            let compared: Value = serde_json::from_str(&compared.body).unwrap();
            assert_eq!(compared["exact"], true, "{compared}");
            let resemblance = compared["resemblance"].as_f64().unwrap();
            let has = |least: f64| {
                let names = |found: &Value| ["id", "a", "b"].map(|name| found[name].clone());
                of(least).iter().any(|found| names(found) == names(one))
            };
            assert!(
                has(resemblance - 1e-6) && !has(resemblance + 1e-6),
                "{path} {one} {resemblance}"
            );
        }
        for wrong in [json!(-0.01), json!(1.01), json!(1e300), json!("0.5")] {
            let reply = ask(json!({"min_resemblance": wrong}));
            // Of documents a body must have some: its fields do not stand alone.
            let is_named = wrong.is_f64() || path == "/v1/search";
            assert_eq!(
                (reply.status, reply.code().as_str()),
                (400, if is_named { "invalid_argument" } else { "bad_request" }),
                "{path} {wrong}"
            );
            assert!(!wrong.is_f64() || reply.body.contains("`min_resemblance` must be"));
        }
    }
    // Counts alone give the same estimates with larger errors.
    let errors = |counts_only: bool| -> Vec<f64> {
        let request = json!({"text": passage, "counts_only": counts_only});
        let reply = service.post("/v1/search", &request.to_string());
        let answer: Value = serde_json::from_str(&reply.body).unwrap();
        let hits = answer["hits"].as_array().unwrap();
        hits.iter().map(|hit| hit["standard_error"].as_f64().unwrap()).collect()
    };
    let [by_places, by_counts] = [errors(false), errors(true)];
    assert_eq!(by_places.len(), 2);
    assert!(by_places.iter().zip(&by_counts).all(|(places, counts)| places < counts));
}

#[test]
fn a_wrong_request_is_refused_with_its_status() {
    let dir = indexed();
    let service = Service::start(&dir, &["--max-body", "64KiB", "--timeout", "1s"]);
    let check = |method: &str, path: &str, headers: &str, body: &str, status: u16, code: &str| {
        let reply = service.ask(method, path, headers, body);
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (status, code),
            "{method} {path} {body:.80}"
        );
        assert!(!reply.body.contains("idx") && !reply.body.contains("/tmp"), "{reply:?}");
        if matches!(status, 429 | 503) {
            assert!(reply.head.contains("retry-after: 1"), "{reply:?}");
        }
    };
    let search = |body: &str, status, code| check("POST", "/v1/search", JSON, body, status, code);
    search("", 400, "bad_request");
    search("{", 400, "bad_request");
    search("[]", 400, "bad_request");
    search("{}", 400, "invalid_argument");
    search("{\"text\": \"x\", \"id\": \"a\"}", 400, "invalid_argument");
    search("{\"text\": \"x\", \"txt\": 1}", 400, "invalid_argument");
    search("{\"text\": \"x\", \"text\": \"y\"}", 400, "bad_request");
    search("{\"text\": \"x\", \"limit\": -1}", 400, "invalid_argument");
    search("{\"text\": \"x\", \"limit\": 100000}", 400, "invalid_argument");
    search("{\"text\": \"x\", \"limit\": 99999999999999999999}", 400, "invalid_argument");
    search("{\"text\": \"x\", \"min_containment\": NaN}", 400, "bad_request");
    search("{\"text\": \"x\", \"min_containment\": 2}", 400, "invalid_argument");
    search("{\"text\": \"x\", \"filter\": \"((\"}", 400, "invalid_argument");
    search("{\"text\": \"x\", \"verify\": \"magic\"}", 400, "invalid_spec");
    search("{\"text\": \"x\", \"max_df\": \"many\"}", 400, "invalid_argument");
    search("{\"id\": \"absent\"}", 404, "unknown_id");
    search(&"[".repeat(10_000), 400, "bad_request");
    search(&format!("{{\"text\": \"{}\"}}", "x".repeat(70_000)), 413, "too_large");
    check("POST", "/v1/search", "", "{}", 415, "unsupported_media_type");
    check(
        "POST",
        "/v1/search",
        "Content-Type: text/plain\r\n",
        "{}",
        415,
        "unsupported_media_type",
    );
    let zipped = format!("{JSON}Content-Encoding: br\r\n");
    check("POST", "/v1/search", &zipped, "{}", 415, "unsupported_media_type");
    check("GET", "/v1/search", "", "", 405, "method_not_allowed");
    check("GET", "/v1/nothing", "", "", 404, "no_such_route");
    check("GET", "/../../etc/passwd", "", "", 404, "no_such_route");
    check("GET", "/v1/documents/%00", "", "", 404, "unknown_id");
    check("GET", "/v1/documents/%FF", "", "", 400, "bad_request");
    check("POST", "/v1/documents?commit=now", JSON, "{}", 400, "bad_request");
    check("POST", "/v1/compact", JSON, "{\"segments\": 0}", 400, "invalid_argument");
    check("POST", "/v1/compact", JSON, "[]", 400, "bad_request");
    check("POST", "/v1/compare", JSON, "{\"a\": {\"id\": \"a\"}}", 400, "bad_request");
    let foreign = format!("{JSON}Sec-Fetch-Site: cross-site\r\n");
    check("POST", "/v1/search", &foreign, "{}", 403, "foreign_site");
    check("GET", "/healthz", "Host: evil.example\r\n", "", 403, "foreign_site");
    for host in ["localhost", "localhost:80", "127.0.0.1", "[::1]:7227"] {
        let reply = service.ask("GET", "/healthz", &format!("Host: {host}\r\n"), "");
        assert_eq!(reply.status, 200, "{host}");
    }
    // A length that lies, and one that is not a number.
    let lying = "POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                 Content-Length: 1000\r\n\r\n{}";
    assert_eq!(service.raw(lying.as_bytes()).status, 408);
    let none = lying.replace("1000", "none");
    assert_eq!(service.raw(none.as_bytes()).status, 400);
    let both = lying.replace("1000", "2\r\nTransfer-Encoding: chunked");
    assert!(matches!(service.raw(both.as_bytes()).status, 400 | 408));
    let endless =
        "POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                   Transfer-Encoding: chunked\r\n\r\n"
            .to_owned()
            + &format!("8000\r\n{}\r\n", "x".repeat(0x8000)).repeat(4);
    assert_eq!(service.raw(endless.as_bytes()).status, 413);
    let long = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "x".repeat(100_000));
    assert!(matches!(service.raw(long.as_bytes()).status, 414 | 431));
    // After all of this it is well.
    assert_eq!(service.ask("GET", "/readyz", "", "").status, 200);
    assert!(service.stop());
}

#[test]
fn a_probe_asks_once_and_says_whether_the_service_is_there() {
    let dir = indexed();
    dir.write("tokens", "read reader-of-this-test-0001\n");
    let service = Service::start(&dir, &["--tokens", "tokens"]);
    let url = service.url.clone();
    let alive = dir.run(&["health", &url]);
    assert_eq!((alive.status, alive.out.as_str()), (0, "ok\n"), "{}", alive.err);
    assert_eq!(dir.run(&["health", &url, "--ready"]).status, 0);
    assert!(service.stop());
    let gone = dir.run(&["health", &url]);
    assert_eq!(gone.status, 1);
    assert!(gone.err.contains(&url), "{}", gone.err);
    assert_eq!(dir.run(&["health", "nowhere"]).status, 2);
    // It takes connections and answers none.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    assert_eq!(dir.run(&["health", &url, "--timeout", "50ms"]).status, 1);
}

#[test]
fn a_service_that_is_not_ready_is_not_asked_again() {
    let dir = Dir::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let service = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        // Closed, so that a second try would be refused, and not wait.
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
    let run = dir.run(&["health", "--ready", &url]);
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
    for goal in ["hits", "cover", "passage"] {
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
