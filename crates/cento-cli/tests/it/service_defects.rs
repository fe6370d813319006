//! A defect in the service disturbs no client that did not trigger it.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::common::fault::{poison_at, silence, unopenable};
use crate::common::{Model, config, contents, words};
use cento::Error;
use cento::Stop;
use cento::fault::{Faults, Point};
use cento::index::Index;
use cento_client::Client;
use cento_client::api::{Commit, DocumentBody, SearchRequest};
use cento_serve::{Service, Settings};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// A service in this process, which a test can make fail.
struct Local {
    dir: TempDir,
    url: String,
    stop: Stop,
    thread: Option<JoinHandle<cento::Result<()>>>,
}

impl Local {
    fn start(faults: Faults) -> Local {
        silence();
        let dir = tempfile::tempdir().unwrap();
        Index::create(dir.path().join("idx"), config()).unwrap();
        let settings = Settings {
            listen: ([127, 0, 0, 1], 0).into(),
            // Only a waiting client makes it commit.
            commit_interval: Duration::from_secs(3600),
            faults,
            ..Settings::default()
        };
        let service = Service::bind(&dir.path().join("idx"), settings).unwrap();
        let url = format!("http://{}", service.address());
        let stop = Stop::new();
        let flag = stop.clone();
        let thread = Some(std::thread::spawn(move || service.run(flag)));
        Local { dir, url, stop, thread }
    }

    fn client(&self) -> Client {
        Client::new(&self.url, None).unwrap()
    }

    /// Posts, and gives status, whether it may be repeated, and the body.
    fn post(&self, path: &str, body: &str) -> (u16, bool, Value) {
        use std::io::{Read, Write};
        let address = self.url.strip_prefix("http://").unwrap();
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let may_be_repeated = head.to_ascii_lowercase().contains("retry-after");
        (status, may_be_repeated, serde_json::from_str(body).unwrap())
    }

    /// The status of a page.
    fn get(&self, path: &str) -> u16 {
        use std::io::{Read, Write};
        let address = self.url.strip_prefix("http://").unwrap();
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        let head = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// Ends the service and returns the documents of the index.
    fn end(mut self) -> Model {
        self.stop.set();
        self.thread.take().unwrap().join().unwrap().unwrap();
        let index = Index::open(self.dir.path().join("idx")).unwrap();
        assert_eq!(index.check().unwrap().problems, []);
        contents(&index.snapshot().unwrap())
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        self.stop.set();
    }
}

fn body(id: &str, seed: u64) -> DocumentBody {
    DocumentBody { id: id.to_owned(), text: words(seed, 30), meta: Map::new(), id_place: None }
}

fn code_of<T: std::fmt::Debug>(refused: cento::Result<T>) -> (String, String) {
    match refused.unwrap_err() {
        Error::Service { code, message, .. } => (code, message),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_document_that_makes_the_writer_panic_takes_no_other_with_it() {
    for (point, rounds) in [(Point::Sign, 2), (Point::Add, 2), (Point::Index, 20)] {
        let service = Local::start(poison_at(point));
        let client = service.client();
        let run = client.commit().unwrap().run;
        let mut expected = Model::new();
        for round in 0..rounds {
            // Acknowledged, and not committed.
            for i in 0..2 {
                let own = body(&format!("a{round}-{i}"), 100 * round + i);
                client.add(&own, Commit::Auto).unwrap();
                expected.insert(own.id, own.text);
            }
            let poison = body("poison", 7_000_000 + round);
            let innocent = body(&format!("c{round}"), 1_000_000 + round);
            std::thread::scope(|scope| {
                let waiting = scope.spawn(|| client.add(&innocent, Commit::Wait));
                let (code, message) = code_of(client.add(&poison, Commit::Wait));
                assert_eq!(code, "poisonous_document", "{message}");
                assert!(message.contains("`poison`") && !message.contains("private"), "{message}");
                assert!(waiting.join().unwrap().unwrap().committed);
            });
            expected.insert(innocent.id, innocent.text);
        }
        // That it would bring out a defect is known by now: nothing is to be repeated.
        let json = serde_json::to_string(&body("poison", 7_000_000)).unwrap();
        let (status, may_be_repeated, answer) = service.post("/v1/documents", &json);
        assert!(status == 500 || (status == 202 && point == Point::Index), "{answer}");
        assert!(!may_be_repeated);
        assert!(client.commit().unwrap().run == run, "nothing acknowledged is lost");
        let hits =
            client.search(&SearchRequest { text: Some(words(0, 30)), ..SearchRequest::default() });
        assert_eq!(hits.unwrap().hits[0].id, "a0-0");
        assert_eq!(service.end(), expected, "{point:?}");
    }
}

#[test]
fn a_document_that_brought_out_a_defect_is_refused_at_once() {
    let met = Arc::new(AtomicU32::new(0));
    let count = met.clone();
    let service = Local::start(Faults::new(move |point, id| {
        if point == Point::Index && id == "a" && count.fetch_add(1, Ordering::Relaxed) < 100 {
            panic!("poison");
        }
        Ok(())
    }));
    let client = service.client();
    assert_eq!(code_of(client.add(&body("a", 1), Commit::Wait)).0, "poisonous_document");
    let before = met.load(Ordering::Relaxed);
    assert!(before > 0);
    for commit in [Commit::Auto, Commit::Wait] {
        assert_eq!(code_of(client.add(&body("a", 1), commit)).0, "poisonous_document");
    }
    assert_eq!(met.load(Ordering::Relaxed), before, "it was tried again");
    // Another text under its id is another document.
    met.store(100, Ordering::Relaxed);
    assert!(client.add(&body("a", 2), Commit::Wait).unwrap().committed);
    assert_eq!(service.end(), Model::from([("a".into(), words(2, 30))]));
}

#[test]
fn a_poisonous_line_is_refused_by_its_number_and_the_others_are_committed() {
    for point in [Point::Sign, Point::Add, Point::Index] {
        let service = Local::start(poison_at(point));
        let id = |i: u64| if i % 13 == 5 { format!("poison{i}") } else { format!("d{i}") };
        let line = |i: u64| serde_json::to_string(&body(&id(i), i)).unwrap() + "\n";
        let lines: String = (1..=30).map(line).collect();
        let answer = service.client().add_lines(lines.as_bytes(), Commit::Wait).unwrap();
        assert_eq!((answer.report.added, answer.report.failed), (28, 2), "{answer:?}");
        assert!(answer.committed);
        let told: Vec<u64> = answer.errors.iter().map(|error| error.line).collect();
        assert_eq!(told, [5, 18]);
        assert!(answer.errors[1].message.contains("`poison18`"), "{answer:?}");
        let bytes =
            (1..=30).filter(|i| i % 13 != 5).map(|i| words(i, 30).len() as u64).sum::<u64>();
        assert_eq!(answer.report.bytes, bytes);
        assert_eq!(service.end().len(), 28);
    }
}

#[test]
fn versions_and_removals_are_done_again_in_their_order() {
    let service = Local::start(poison_at(Point::Index));
    let client = service.client();
    client.add(&body("kept", 1), Commit::Wait).unwrap();
    client.add(&body("gone", 2), Commit::Wait).unwrap();
    client.add(&body("kept", 3), Commit::Auto).unwrap();
    client.add(&body("brief", 4), Commit::Auto).unwrap();
    client.remove(vec!["gone".into(), "brief".into(), "none".into()], Commit::Auto).unwrap();
    client.add(&body("kept", 5), Commit::Auto).unwrap();
    assert_eq!(code_of(client.add(&body("poison", 6), Commit::Wait)).0, "poisonous_document");
    assert_eq!(service.end(), Model::from([("kept".into(), words(5, 30))]));
}

#[test]
fn a_poison_that_was_acknowledged_is_counted_as_lost_and_it_alone() {
    let service = Local::start(poison_at(Point::Index));
    let client = service.client();
    let before = client.commit().unwrap();
    for id in ["a", "poison", "b"] {
        client.add(&body(id, 1), Commit::Auto).unwrap();
    }
    let after = client.commit().unwrap();
    assert_eq!((after.run.lost, after.documents), (before.run.lost + 1, 2));
    // Sent again, as that says, it is refused by name.
    assert_eq!(code_of(client.add(&body("poison", 1), Commit::Auto)).0, "poisonous_document");
    assert_eq!(service.end().into_keys().collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn a_service_goes_on_after_a_time_of_panics() {
    let panics = Arc::new(AtomicBool::new(false));
    let flag = panics.clone();
    let service = Local::start(Faults::new(move |point, _| {
        assert!(!(point == Point::Index && flag.load(Ordering::Relaxed)), "poison");
        Ok(())
    }));
    let client = service.client();
    client.add(&body("a", 1), Commit::Wait).unwrap();
    panics.store(true, Ordering::Relaxed);
    for id in ["b", "c"] {
        assert_eq!(code_of(client.add(&body(id, 1), Commit::Wait)).0, "poisonous_document");
    }
    panics.store(false, Ordering::Relaxed);
    client.add(&body("d", 1), Commit::Wait).unwrap();
    assert_eq!(service.end().into_keys().collect::<Vec<_>>(), ["a", "d"]);
}

#[test]
fn a_commit_that_cannot_be_opened_is_reported_as_a_commit() {
    for panics in [false, true] {
        let (is_unopenable, faults) = unopenable(panics);
        let service = Local::start(faults);
        let client = service.client();
        let before = client.commit().unwrap();
        assert!(before.searchable);
        is_unopenable.store(true, Ordering::Relaxed);
        client.add(&body("a", 1), Commit::Auto).unwrap();
        assert!(client.add(&body("b", 2), Commit::Wait).unwrap().committed);
        let stale = client.commit().unwrap();
        assert_eq!((stale.searchable, stale.documents, stale.run), (false, 0, before.run));
        // Searches go on, over the earlier documents.
        let query = SearchRequest { text: Some(words(1, 30)), ..SearchRequest::default() };
        assert_eq!(client.search(&query).unwrap().hits, []);
        // The writer knows its commits.
        assert_eq!(client.add(&body("a", 1), Commit::Wait).unwrap().report.unchanged, 1);
        assert_eq!(client.add(&body("b", 3), Commit::Wait).unwrap().report.replaced, 1);
        is_unopenable.store(false, Ordering::Relaxed);
        let after = client.commit().unwrap();
        assert_eq!((after.searchable, after.documents, after.run), (true, 2, before.run));
        assert_eq!(client.search(&query).unwrap().hits[0].id, "a");
        let expected = Model::from([("a".into(), words(1, 30)), ("b".into(), words(3, 30))]);
        assert_eq!(service.end(), expected);
    }
}

#[test]
fn the_answer_to_a_removal_names_the_ids_that_stay() {
    let service = Local::start(Faults::default());
    let client = service.client();
    client.add(&body("a", 1), Commit::Wait).unwrap();
    let removed = client.remove(vec!["a".into(), "b".into()], Commit::Wait).unwrap();
    assert_eq!((removed.removed, removed.missing, removed.committed), (1, vec!["b".into()], true));
    let (status, _, answer) = service.post("/v1/remove", &json!({"ids": ["a"]}).to_string());
    assert_eq!((status, &answer["missing"]), (202, &json!(["a"])));
}

/// Whether a service is ready, within a minute.
fn is_ready_again(service: &Local) -> bool {
    let is_ready = || service.get("/readyz") == 200;
    (0..600).any(|_| {
        is_ready() || {
            std::thread::sleep(Duration::from_millis(100));
            false
        }
    })
}

/// A disk that is full as long as the flag is set.
fn full_disk() -> (Arc<AtomicBool>, Faults) {
    let flag = Arc::new(AtomicBool::new(false));
    let is_full = flag.clone();
    let faults = Faults::new(move |point, _| match point {
        Point::Commit if is_full.load(Ordering::Relaxed) => Err(ErrorKind::StorageFull.into()),
        _ => Ok(()),
    });
    (flag, faults)
}

#[test]
fn changes_accepted_before_the_disk_was_full_are_written_when_it_has_room() {
    let (is_full, faults) = full_disk();
    let service = Local::start(faults);
    let client = service.client();
    client.add(&body("old", 1), Commit::Wait).unwrap();
    let run = client.commit().unwrap().run;
    client.add(&body("a", 2), Commit::Auto).unwrap();
    client.add(&body("old", 3), Commit::Auto).unwrap();
    client.remove(vec!["a".into()], Commit::Auto).unwrap();
    client.add(&body("a", 4), Commit::Auto).unwrap();
    is_full.store(true, Ordering::Relaxed);
    // Waiting clients get the error, and none of their documents comes later.
    assert_eq!(code_of(client.add(&body("waited", 5), Commit::Wait)).0, "storage_full");
    // Nothing new is acknowledged, at whichever door.
    let document = serde_json::to_string(&body("b", 6)).unwrap();
    for (path, sent) in [
        ("/v1/documents?commit=auto", document.as_str()),
        ("/v1/documents?commit=wait", &document),
        ("/v1/remove?commit=auto", r#"{"ids": ["old"]}"#),
        ("/v1/commit", ""),
        ("/v1/compact", "{}"),
    ] {
        let (status, may_be_repeated, answer) = service.post(path, sent);
        assert_eq!((status, &answer["error"]["code"]), (503, &json!("unavailable")), "{path}");
        assert!(may_be_repeated, "{path}");
    }
    for _ in 0..20 {
        assert_eq!(service.get("/readyz"), 503);
        std::thread::sleep(Duration::from_millis(100));
    }
    let stats = client.stats().unwrap();
    assert_eq!((stats.uncommitted, stats.run), (4, run));
    is_full.store(false, Ordering::Relaxed);
    assert!(is_ready_again(&service));
    let stats = client.stats().unwrap();
    assert_eq!((stats.uncommitted, stats.run, stats.index.documents), (0, run, 2));
    client.add(&body("b", 6), Commit::Auto).unwrap();
    let expected = [("a", 4), ("b", 6), ("old", 3)].map(|(id, seed)| (id.into(), words(seed, 30)));
    assert_eq!(service.end(), Model::from(expected));
}

#[test]
fn changes_unwritten_at_the_end_are_counted_as_lost() {
    let (is_full, faults) = full_disk();
    let mut service = Local::start(faults);
    let client = service.client();
    client.add(&body("a", 1), Commit::Wait).unwrap();
    client.add(&body("b", 2), Commit::Auto).unwrap();
    is_full.store(true, Ordering::Relaxed);
    service.stop.set();
    let ended = service.thread.take().unwrap().join().unwrap();
    assert!(ended.unwrap_err().to_string().contains("could not be committed"));
    let index = Index::open(service.dir.path().join("idx")).unwrap();
    assert_eq!(contents(&index.snapshot().unwrap()).len(), 1);
}
