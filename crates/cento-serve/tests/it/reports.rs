//! Reports of a service, and their notes on texts that were not compared.

use crate::common::{Dir, Service, created, indexed, words};
use cento::index::{Config, Index};
use cento::search::{Goal, SearchOptions};
use cento_client::api::{
    FileReason, PairsReportRequest, PairsRequest, ReportRequest, SearchRequest,
};
use serde_json::{Value, json};

#[test]
fn a_service_hands_out_a_report_that_is_a_file() {
    let dir = indexed();
    let service = Service::start(&dir);
    let search = SearchRequest {
        text: Some(format!("{} <b>{}", words(9, 40), words(1, 120))),
        options: SearchOptions::default().min_passage(20),
        ..SearchRequest::default()
    };
    let request = ReportRequest { search, name: Some("<Essay>".into()) };
    let html = service.client().report(&request).unwrap();
    for expected in
        ["&lt;Essay&gt;", "&lt;b&gt;", "<dt>min_passage</dt><dd><bdi>20", "<bdi>a</bdi>"]
    {
        assert!(html.contains(expected), "{expected}");
    }
    let refused = |change: &dyn Fn(&mut ReportRequest)| {
        let mut request = request.clone();
        change(&mut request);
        service.client().report(&request).unwrap_err().to_string()
    };
    let passage = |request: &mut ReportRequest| request.search.options.goal = Goal::Passage;
    assert!(refused(&passage).contains("not with the goal `passage`"));
    assert!(refused(&|request| request.search.text = None).contains("`text`, `parts` and `id`"));
    service.stop();
}

#[test]
fn a_service_hands_out_a_report_of_pairs() {
    let dir = Dir::new();
    // The index of the service keeps no texts, unlike the documents of a request.
    let config = Config::new("winnow(k=5,w=10)", "words", false).unwrap();
    Index::create(dir.path("idx"), config).unwrap();
    let service = Service::start(&dir);
    let texts =
        [("ann", words(1, 80)), ("bob", format!("{}<b>", words(1, 80))), ("cat", words(2, 80))];
    let documents: Vec<Value> =
        texts.iter().map(|(id, text)| json!({"id": id, "text": text})).collect();
    let request = |more: Value| {
        let mut pairs = json!({"documents": documents, "limit": 5});
        pairs.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value::<PairsReportRequest>(json!({"pairs": pairs})).unwrap()
    };
    let html = service.client().pairs_report(&request(json!({}))).unwrap();
    for expected in
        ["<bdi>ann</bdi>", "&lt;b&gt;", &words(1, 80), "pairs", "<dt>limit</dt><dd><bdi>5"]
    {
        assert!(html.contains(expected), "{expected}");
    }
    assert!(!html.contains(">cat<"), "it is in no pair");
    let anonymous = PairsReportRequest { anonymous: true, ..request(json!({})) };
    let html = service.client().pairs_report(&anonymous).unwrap();
    assert!(html.contains("Document 1") && !html.contains(">ann<"));
    // A worksheet given to all authors does not count.
    let html = service.client().pairs_report(&request(json!({"boilerplate": [words(1, 80)]})));
    assert!(html.unwrap().contains("No pair is similar enough."));
    let refused = service.client().pairs_report(&request(json!({"limit": 100_000})));
    assert!(refused.unwrap_err().to_string().contains("`limit` must be at most"));
    service.stop();
}

#[test]
fn a_service_reports_uncompared_inputs_and_the_number_of_pairs() {
    let dir = created();
    let service = Service::start(&dir);
    let texts =
        [("a", words(1, 80)), ("b", words(1, 80)), ("c", words(1, 80)), ("sheet", words(2, 60))];
    let documents = texts.map(|(id, text)| json!({"id": id, "text": text}));
    let body = json!({"documents": documents, "boilerplate": [words(2, 60)], "limit": 1});
    let request: PairsRequest = serde_json::from_value(body).unwrap();
    let answer = service.client().pairs(&request).unwrap();
    assert_eq!((answer.pairs.len(), answer.total, answer.more), (1, 3, true));
    let left = &answer.not_read.left_out[0];
    assert!(left.path == "sheet" && left.reason.contains("without the boilerplate"), "{left:?}");
    let scan = FileReason { path: "scan.pdf".into(), reason: "it has no text".into() };
    let request = PairsReportRequest {
        pairs: request,
        anonymous: false,
        not_compared: vec![scan],
        warnings: vec![],
    };
    let html = service.client().pairs_report(&request).unwrap();
    for expected in [
        "1 of 3 pairs shown; `limit` 3 shows all",
        "<bdi>scan.pdf</bdi></th><td><bdi>it has no text",
        "<bdi>sheet</bdi></th><td><bdi>there is nothing to compare",
    ] {
        assert!(html.contains(expected), "{expected}: {html}");
    }
    service.stop();
}
