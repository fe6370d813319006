//! The dashboard and the alerts in `deploy/` only query metrics that a service exports.

use std::collections::BTreeSet;
use std::fs;

use crate::common::run::{Dir, indexed};
use crate::common::service::Service;
use crate::common::words;
use cento_client::api::{Commit, DocumentBody, SearchRequest};
use serde_json::{Map, Value};

/// The names in a text that begin like the metrics of a service.
fn names(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let is_metric = |word: &&str| word.starts_with("cento_") || word.starts_with("process_");
    words.filter(is_metric).map(str::to_owned).collect()
}

/// The names of the samples that a service exports.
fn samples(service: &Service, found: &mut BTreeSet<String>) {
    let text = service.ask("GET", "/metrics", "", "").body;
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    found.extend(lines.map(|line| line.split(['{', ' ']).next().unwrap().to_owned()));
}

fn deployed(name: &str) -> String {
    let path = format!("{}/../../deploy/{name}", env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

#[test]
fn the_board_and_the_alerts_name_metrics_that_a_service_has() {
    let dir = indexed();
    let service = Service::start(&dir, &[]);
    let client = service.client();
    let search = SearchRequest { text: Some(words(1, 60)), ..SearchRequest::default() };
    client.search(&search).unwrap();
    let document =
        DocumentBody { id: "d".into(), text: words(9, 60), meta: Map::new(), id_place: None };
    client.add(&document, Commit::Wait).unwrap();
    let mut served = BTreeSet::new();
    samples(&service, &mut served);
    assert!(service.stop());
    let copy = Dir::new();
    let store = copy.path("store").display().to_string();
    dir.json(&["store", "push", "idx", &store]);
    samples(&Service::start(&copy, &["--follow", &store]), &mut served);
    let board = deployed("grafana.json");
    let json: Value = serde_json::from_str(&board).unwrap();
    assert!(json["panels"].as_array().unwrap().len() > 15);
    for text in [board, deployed("alerts.yaml"), deployed("alerts_test.yaml")] {
        let named = names(&text);
        assert!(named.len() > 5, "{named:?}");
        let missing: Vec<_> = named.difference(&served).collect();
        assert!(missing.is_empty(), "{missing:?} are not among {served:#?}");
    }
}
