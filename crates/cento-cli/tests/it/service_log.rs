//! The log of a service.

use std::fs::{self, File};

use cento_client::api::{Commit, DocumentBody};
use serde_json::{Value, json};

use super::common::run::{Dir, indexed};
use super::common::service::Service;
use super::common::words;

fn body(id: &str, text: &str) -> DocumentBody {
    DocumentBody { id: id.into(), text: text.into(), meta: serde_json::Map::new(), id_place: None }
}

/// Each line of a log in JSON.
#[track_caller]
fn lines(log: &str) -> Vec<Value> {
    let parse = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        for field in ["timestamp", "level", "target", "message"] {
            assert!(line[field].is_string(), "{field} is missing in {line}");
        }
        line
    };
    log.lines().map(parse).collect()
}

#[test]
fn every_line_of_a_log_for_programs_is_json() {
    let dir = Dir::new();
    dir.run(&["create", "idx"]);
    let log = dir.path("log");
    let arguments = ["--log", "json", "--log-requests"];
    let service = Service::start_logging(&dir, &arguments, File::create(&log).unwrap());
    let client = service.client();
    client.add(&body("a", &words(1, 50)), Commit::Wait).unwrap();
    client.remove(vec!["a".into()], Commit::Wait).unwrap();
    assert_eq!(service.ask("GET", "/v1/nothing", "", "").status, 404);
    assert!(service.stop());
    let lines = lines(&fs::read_to_string(log).unwrap());
    let has = |field: &str, start: &str| {
        let is = |line: &Value| line[field].as_str().is_some_and(|text| text.starts_with(start));
        assert!(lines.iter().any(is), "no {field} {start} in {lines:#?}");
    };
    has("message", "serving");
    has("message", "request");
    has("message", "stopping");
    has("message", "stopped");
    // What libraries say through `log`.
    has("target", "tantivy::");
}

#[test]
fn a_service_that_cannot_begin_says_so_in_json() {
    let dir = Dir::new();
    dir.run(&["create", "idx"]);
    let check = |arguments: &[&str], what: &str| {
        let run = dir.run(&[arguments, &["--log", "json"]].concat());
        assert_eq!(run.status, 2);
        let lines = lines(&run.err);
        let said = lines.iter().find(|line| line["level"] == "ERROR").expect("an error is logged");
        assert!(said["error"].as_str().unwrap().contains(what), "{said}");
        let human = dir.run(arguments);
        assert!(human.status == 2 && human.err.starts_with("cento: "), "{}", human.err);
    };
    check(&["serve", "nowhere", "--listen", "127.0.0.1:0"], "nowhere");
    check(&["serve", "idx", "--listen", "0.0.0.0:0"], "--tokens");
    check(&["serve", "idx", "--listen", "127.0.0.1:0", "--tokens", "none"], "none");
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
fn the_name_of_a_token_is_in_the_log_and_the_token_is_not() {
    let dir = Dir::new();
    dir.run(&["create", "idx"]);
    dir.write("tokens", "read alice reader-0123456789 # until Friday\n");
    let log = dir.path("log");
    let arguments = ["--log", "json", "--log-requests", "--tokens", "tokens"];
    let service = Service::start_logging(&dir, &arguments, File::create(&log).unwrap());
    let header = "Authorization: Bearer reader-0123456789\r\n";
    assert_eq!(service.ask("GET", "/v1/stats", header, "").status, 200);
    assert_eq!(service.ask("GET", "/v1/stats", "", "").status, 401);
    assert!(service.stop());
    let log = fs::read_to_string(log).unwrap();
    assert!(!log.contains("0123456789"), "{log}");
    let requests = lines(&log).into_iter().filter(|line| line["route"] == "/v1/stats");
    let tokens: Vec<Value> = requests.map(|line| line["token"].clone()).collect();
    assert_eq!(tokens, [json!("alice"), Value::Null]);
}
