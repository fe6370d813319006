//! Lists of documents, page by page.

use crate::common::{Ask, Dir, Routes, Service, fill, indexed, line, words};
use cento_client::api::{Commit, CompactRequest, ListRequest};
use serde_json::json;

#[test]
fn pages_of_a_list_have_every_document_that_stays_once() {
    let dir = Dir::new();
    let lang = |i: u64| if i.is_multiple_of(3) { "de" } else { "en" };
    let line_of = |i: u64| line(&format!("d{i:03}"), &words(i, 30), json!({"lang": lang(i)}));
    // Every part becomes a segment.
    for part in 0..9 {
        let lines = (7 * part..60.min(7 * part + 7)).map(line_of);
        fill(&dir.path("idx"), &lines.collect::<String>());
    }
    let service = Service::start(&dir);
    let client = service.client();
    let mut request = ListRequest { limit: Some(7), ..ListRequest::default() };
    let mut seen: Vec<String> = Vec::new();
    for page in 0.. {
        let listed = client.list(&request).unwrap();
        assert!(listed.documents.len() <= 7);
        for document in listed.documents {
            assert!(document.added.is_some() && document.bytes.is_some() && document.tokens > 0);
            seen.push(document.id);
        }
        // Changes between two pages must not move the remaining documents.
        match page {
            1 => drop(client.remove(vec!["d002".into(), "d050".into()], Commit::Wait).unwrap()),
            2 => drop(client.compact(&CompactRequest::default()).unwrap()),
            3 => drop(
                client
                    .add_lines((line_of(5) + "\n" + &line_of(77)).as_bytes(), Commit::Wait)
                    .unwrap(),
            ),
            _ => {}
        }
        let Some(cursor) = listed.cursor else { break };
        request.cursor = Some(cursor);
    }
    let expected: Vec<String> =
        (0..60).chain([77]).filter(|i| *i != 50).map(|i| format!("d{i:03}")).collect();
    assert_eq!(seen, expected);
}

#[test]
fn a_filtered_list_comes_page_by_page() {
    let dir = Dir::new();
    let lang = |i: u64| if i.is_multiple_of(3) { "de" } else { "en" };
    let line_of = |i: u64| line(&format!("d{i:03}"), &words(i, 30), json!({"lang": lang(i)}));
    fill(&dir.path("idx"), &(0..60).map(line_of).collect::<String>());
    let service = Service::start(&dir);
    let client = service.client();
    let mut request =
        ListRequest { limit: Some(6), filter: Some("meta.lang:de".into()), cursor: None };
    let mut german = Vec::new();
    loop {
        let listed = client.list(&request).unwrap();
        german.extend(listed.documents.into_iter().map(|document| document.id));
        let Some(cursor) = listed.cursor else { break };
        request.cursor = Some(cursor);
    }
    let expected: Vec<String> =
        (0..60).filter(|i: &u64| i.is_multiple_of(3)).map(|i| format!("d{i:03}")).collect();
    assert_eq!(german, expected);
}

#[test]
fn a_list_has_a_limit_and_a_filter_that_can_be_read() {
    let dir = indexed();
    let service = Routes::of(&dir);
    let refused =
        |query: &str| service.ask("GET", &format!("/v1/documents?{query}"), "", "").status;
    assert_eq!([refused("limit=0"), refused("limit=1001"), refused("limits=1")], [400, 400, 400]);
    assert_eq!((refused("filter=%28"), refused("cursor=zzz")), (400, 200));
    assert_eq!((refused("filter=nofield:1"), refused("filter=lang:none")), (400, 200));
}

#[test]
fn words_in_a_row_select_documents_over_http() {
    let dir = Dir::new();
    let lines =
        [("a", "Half of the light went\nup."), ("b", "The light went up."), ("c", "Up went it.")]
            .map(|(id, text)| line(id, text, json!({})));
    fill(&dir.path("idx"), &lines.concat());
    let service = Service::start(&dir);
    let client = service.client();
    let listed = |filter: &str| {
        let request = ListRequest { filter: Some(filter.into()), ..ListRequest::default() };
        let listed = client.list(&request).unwrap().documents;
        listed.into_iter().map(|document| document.id).collect::<Vec<_>>()
    };
    assert_eq!(listed("text:\"went up\""), ["a", "b"]);
    assert_eq!(listed("text:\"went up\" AND NOT text:half"), ["b"]);
    let body = json!({"text": "light went up", "goal": "trace"}).to_string();
    let answer = service.post("/v1/search", &body);
    let containing = json!({"documents": 2, "ids": ["a", "b"]});
    assert_eq!((answer.status, answer.json()["trace"]["containing"].clone()), (200, containing));
}
