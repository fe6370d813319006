//! The service behind a real nginx, under a path.

use std::fs::{self, File};
use std::io::{Read, Write};

use crate::common::nginx::Nginx;
use crate::common::run::indexed;
use crate::common::service::Service;
use crate::common::words;
use cento_client::Client;
use cento_client::api::{Commit, DocumentBody, SearchRequest};
use flate2::read::GzDecoder;
use serde_json::{Map, Value, json};

const TOKEN: &str = "writer-0123456789";

fn client(nginx: &Nginx) -> Client {
    Client::new(&nginx.url, Some(TOKEN)).unwrap()
}

#[test]
#[ignore = "needs nginx"]
fn the_api_answers_under_a_path_whatever_an_id_has_in_it() {
    let dir = indexed();
    dir.write("tokens", format!("write writer {TOKEN}\n"));
    let service = Service::start(&dir, &["--tokens", "tokens"]);
    let nginx = Nginx::start(service.address());
    let client = client(&nginx);
    for (i, id) in
        ["https://example.org//a/../b?c=d#e", "%2F", "a b+c", "\u{44f}"].iter().enumerate()
    {
        let body = DocumentBody {
            id: (*id).to_owned(),
            text: words(i as u64 + 10, 50),
            meta: Map::new(),
            id_place: None,
        };
        assert!(client.add(&body, Commit::Wait).unwrap().committed);
        let found = client.document(id).unwrap();
        assert_eq!((found.id.as_str(), found.text.as_deref()), (*id, Some(body.text.as_str())));
    }
    let request = SearchRequest { id: Some("a".into()), ..SearchRequest::default() };
    assert_eq!(client.search(&request).unwrap().hits[0].id, "b");
    let stranger = Client::new(&nginx.url, None).unwrap().search(&request).unwrap_err();
    assert!(stranger.to_string().contains("token"), "{stranger}");
    // The command takes the address, too.
    let mut stats = dir.command(&["stats", "--url", &nginx.url, "--format", "json"]);
    let stats = stats.env("CENTO_TOKEN", TOKEN).output().unwrap();
    let stats: Value = serde_json::from_slice(&stats.stdout).unwrap();
    assert_eq!(stats["documents"], 7);
    assert_eq!(nginx.log(), "");
}

#[test]
#[ignore = "needs nginx"]
fn connections_to_the_service_are_kept() {
    let dir = indexed();
    let service = Service::start(&dir, &[]);
    let nginx = Nginx::start(service.address());
    for _ in 0..5 {
        let (head, _) = nginx.ask("GET", "/cento/healthz", "", b"");
        assert!(head.starts_with("http/1.1 200"), "{head}");
    }
    // The connection kept by nginx, and the connection asking for the metric.
    assert_eq!(service.metric("cento_connections"), 2.0);
    drop(nginx);
}

#[test]
#[ignore = "needs nginx"]
fn bodies_are_compressed_both_ways() {
    let dir = indexed();
    let service = Service::start(&dir, &[]);
    let nginx = Nginx::start(service.address());
    let search = json!({"text": words(1, 200), "passages": true}).to_string();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(search.as_bytes()).unwrap();
    let headers =
        "Content-Type: application/json\r\nContent-Encoding: gzip\r\nAccept-Encoding: gzip\r\n";
    // nginx answers an old client uncompressed.
    let (head, _) = nginx.ask("POST", "/cento/v1/search", headers, &encoder.finish().unwrap());
    assert!(head.starts_with("http/1.1 200"), "{head}");
    let agent = ureq::Agent::new_with_config(ureq::Agent::config_builder().proxy(None).build());
    let mut answer = agent
        .post(format!("{}/v1/search", nginx.url))
        .header("Content-Type", "application/json")
        .header("Accept-Encoding", "gzip")
        .send(&search)
        .unwrap();
    assert_eq!(answer.headers()["content-encoding"], "gzip");
    let mut text = String::new();
    GzDecoder::new(answer.body_mut().as_reader()).read_to_string(&mut text).unwrap();
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["hits"][0]["id"], "a");
}

#[test]
#[ignore = "needs nginx"]
fn the_page_and_all_that_it_loads_is_under_the_path() {
    let dir = indexed();
    let service = Service::start(&dir, &[]);
    let nginx = Nginx::start(service.address());
    let (head, _) = nginx.ask("GET", "/cento", "", b"");
    assert!(head.lines().any(|line| line == "location: /cento/"), "{head}");
    let (head, page) = nginx.ask("GET", "/cento/", "", b"");
    assert!(head.starts_with("http/1.1 200") && head.contains("text/html"), "{head}");
    let page = String::from_utf8(page).unwrap();
    let loaded: Vec<&str> = page
        .split(['"', '\''])
        .filter(|text| text.ends_with(".js") || text.ends_with(".css"))
        .collect();
    assert!(loaded.len() >= 2, "{loaded:?}");
    for name in loaded {
        assert!(!name.starts_with('/'), "{name}");
        let (head, _) = nginx.ask("GET", &format!("/cento/{name}"), "", b"");
        assert!(head.starts_with("http/1.1 200"), "{name}: {head}");
    }
}

#[test]
#[ignore = "needs nginx"]
fn the_log_has_the_client_and_the_number_that_nginx_gives() {
    let dir = indexed();
    let log = dir.path("log");
    let arguments = ["--log", "json", "--log-requests", "--trusted-proxy", "127.0.0.1"];
    let service = Service::start_logging(&dir, &arguments, File::create(&log).unwrap());
    let nginx = Nginx::start(service.address());
    // The request comes through a second proxy, which is trusted because it has the same address.
    let (head, _) = nginx.ask("GET", "/cento/v1/stats", "X-Forwarded-For: 192.0.2.7\r\n", b"");
    let id = head.lines().find_map(|line| line.strip_prefix("x-request-id: ")).expect("a number");
    assert!(service.stop());
    let log = fs::read_to_string(log).unwrap();
    let line = log.lines().find(|line| line.contains(id)).unwrap_or_else(|| panic!("{id}: {log}"));
    let line: Value = serde_json::from_str(line).unwrap();
    assert_eq!((&line["client"], &line["status"]), (&json!("192.0.2.7"), &json!(200)));
}
