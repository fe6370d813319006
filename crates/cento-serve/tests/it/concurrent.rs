//! Guarantees while clients write, compact, or end the service.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::common::{Ask, Service, body, created, documents, wait_until, words};
use cento::search::SearchOptions;
use cento_client::api::{Commit, CompactRequest, DocumentBody, SearchRequest};
use serde_json::{Map, json};

fn lines(documents: impl IntoIterator<Item = DocumentBody>) -> Vec<u8> {
    let line = |d: DocumentBody| serde_json::to_string(&d).unwrap() + "\n";
    documents.into_iter().map(line).collect::<String>().into_bytes()
}

fn query(text: &str, limit: usize) -> SearchRequest {
    let options = SearchOptions::default().limit(limit);
    SearchRequest { text: Some(text.to_owned()), options, ..SearchRequest::default() }
}

#[test]
fn a_request_in_flight_is_answered_before_the_service_ends() {
    let dir = created();
    let service =
        Service::with(&dir, |settings| settings.commit_interval = Duration::from_secs(3600));
    let sent = lines((0..400).map(|i| body(&format!("d{i}"), &words(i, 2000))));
    let client = service.client();
    let added = std::thread::scope(|scope| {
        let adding = scope.spawn(|| client.add_lines(&sent, Commit::Wait));
        wait_until("the request", || service.metric("cento_ingest_queue_requests") > 0.0);
        service.stop();
        adding.join().unwrap()
    });
    assert_eq!(added.unwrap().report.added, 400);
    assert_eq!(documents(&dir, "idx"), 400);
}

#[test]
fn readers_see_one_commit_whole_while_others_write_and_compact() {
    // The documents of a batch have the same number. A search must not see two numbers.
    const DOCUMENTS: usize = 12;
    let dir = created();
    let service = Service::start(&dir);
    let shared = words(7, 60);
    let batch = |number: u64| {
        lines((0..DOCUMENTS).map(|i| DocumentBody {
            id: format!("d{i}"),
            text: format!("{shared} {}", words(1000 + number, 20)),
            meta: Map::from_iter([("number".to_owned(), json!(number))]),
            id_place: None,
        }))
    };
    service.client().add_lines(&batch(0), Commit::Wait).unwrap();
    let (is_done, searches) = (AtomicBool::new(false), AtomicU64::new(0));
    let committed = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let (client, mut last) = (service.client(), 0);
                while !is_done.load(Ordering::Relaxed) {
                    let least = committed.load(Ordering::SeqCst);
                    let hits = client.search(&query(&shared, 50)).unwrap().hits;
                    let numbers: BTreeSet<u64> =
                        hits.iter().map(|hit| hit.meta["number"].as_u64().unwrap()).collect();
                    assert_eq!((hits.len(), numbers.len()), (DOCUMENTS, 1), "{numbers:?}");
                    let number = *numbers.first().unwrap();
                    assert!(number >= last && number >= least, "{number} after {last}, {least}");
                    last = number;
                    searches.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        scope.spawn(|| {
            let client = service.client();
            while !is_done.load(Ordering::Relaxed) {
                match client.compact(&CompactRequest { wait: true, segments: 1 }) {
                    Ok(_) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        });
        let client = service.client();
        for number in 1..=15 {
            client.add_lines(&batch(number), Commit::Wait).unwrap();
            committed.store(number, Ordering::SeqCst);
        }
        is_done.store(true, Ordering::Relaxed);
    });
    assert!(searches.into_inner() > 0);
    service.stop();
    assert_eq!(documents(&dir, "idx"), DOCUMENTS as u64);
}
