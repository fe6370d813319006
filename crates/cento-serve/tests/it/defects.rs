//! A defect affects only the client that triggered the defect.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use crate::common::fault::{poison_at, silence, unopenable};
use crate::common::{Ask, Dir, Model, Reply, Service, body, contents, created, wait_until, words};
use cento::Error;
use cento::index::Index;
use cento::runtime::{Faults, Point};
use cento_client::api::{Commit, DocumentBody, SearchRequest};
use serde_json::json;

/// Serves the index of `dir` with these faults. Commits occur only when a client waits for a
/// commit.
fn failing(dir: &Dir, faults: Faults) -> Service {
    silence();
    Service::with(dir, |settings| {
        settings.commit_interval = Duration::from_secs(3600);
        settings.faults = faults;
    })
}

/// Stops the service, then returns the documents of its index.
fn end(service: Service, dir: &Dir) -> Model {
    service.stop();
    held(dir)
}

fn held(dir: &Dir) -> Model {
    let index = Index::open(dir.path("idx")).unwrap();
    assert_eq!(index.check().unwrap().problems, []);
    contents(&index.snapshot().unwrap())
}

/// Returns a document with the text of a seed.
fn seeded(id: &str, seed: u64) -> DocumentBody {
    body(id, &words(seed, 30))
}

/// Tells whether the client may repeat a refused request.
fn may_be_repeated(reply: &Reply) -> bool {
    reply.head.contains("retry-after")
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
        let dir = created();
        let service = failing(&dir, poison_at(point));
        let client = service.client();
        let run = client.commit().unwrap().run;
        let mut expected = Model::new();
        for round in 0..rounds {
            // These documents are acknowledged but uncommitted.
            for i in 0..2 {
                let own = seeded(&format!("a{round}-{i}"), 100 * round + i);
                client.add(&own, Commit::Auto).unwrap();
                expected.insert(own.id, own.text);
            }
            let poison = seeded("poison", 7_000_000 + round);
            let innocent = seeded(&format!("c{round}"), 1_000_000 + round);
            std::thread::scope(|scope| {
                let waiting = scope.spawn(|| client.add(&innocent, Commit::Wait));
                let (code, message) = code_of(client.add(&poison, Commit::Wait));
                assert_eq!(code, "poisonous_document", "{message}");
                assert!(message.contains("`poison`") && !message.contains("private"), "{message}");
                assert!(waiting.join().unwrap().unwrap().committed);
            });
            expected.insert(innocent.id, innocent.text);
        }
        // The service remembers that the document triggers the defect, so the refusal must not ask
        // for a repetition.
        let json = serde_json::to_string(&seeded("poison", 7_000_000)).unwrap();
        let reply = service.post("/v1/documents", &json);
        let statuses = if point == Point::Index { [500, 202] } else { [500, 500] };
        assert!(statuses.contains(&reply.status), "{point:?}: {reply:?}");
        assert!(!may_be_repeated(&reply), "{point:?}: {reply:?}");
        assert!(client.commit().unwrap().run == run, "nothing acknowledged is lost");
        let hits =
            client.search(&SearchRequest { text: Some(words(0, 30)), ..SearchRequest::default() });
        assert_eq!(hits.unwrap().hits[0].id, "a0-0");
        assert_eq!(end(service, &dir), expected, "{point:?}");
    }
}

#[test]
fn a_document_that_brought_out_a_defect_is_refused_at_once() {
    let met = Arc::new(AtomicU32::new(0));
    let count = met.clone();
    let dir = created();
    let service = failing(
        &dir,
        Faults::new(move |point, id| {
            if point == Point::Index && id == "a" && count.fetch_add(1, Ordering::Relaxed) < 100 {
                panic!("poison");
            }
            Ok(())
        }),
    );
    let client = service.client();
    assert_eq!(code_of(client.add(&seeded("a", 1), Commit::Wait)).0, "poisonous_document");
    let before = met.load(Ordering::Relaxed);
    assert!(before > 0);
    for commit in [Commit::Auto, Commit::Wait] {
        assert_eq!(code_of(client.add(&seeded("a", 1), commit)).0, "poisonous_document");
    }
    assert_eq!(met.load(Ordering::Relaxed), before, "it was tried again");
    // The same id with a different text is a different document.
    met.store(100, Ordering::Relaxed);
    assert!(client.add(&seeded("a", 2), Commit::Wait).unwrap().committed);
    assert_eq!(end(service, &dir), Model::from([("a".into(), words(2, 30))]));
}

#[test]
fn a_poisonous_line_is_refused_by_its_number_and_the_others_are_committed() {
    for point in [Point::Sign, Point::Add, Point::Index] {
        let dir = created();
        let service = failing(&dir, poison_at(point));
        let id = |i: u64| if i % 13 == 5 { format!("poison{i}") } else { format!("d{i}") };
        let line = |i: u64| serde_json::to_string(&seeded(&id(i), i)).unwrap() + "\n";
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
        assert_eq!(end(service, &dir).len(), 28);
    }
}

#[test]
fn versions_and_removals_are_done_again_in_their_order() {
    let dir = created();
    let service = failing(&dir, poison_at(Point::Index));
    let client = service.client();
    client.add(&seeded("kept", 1), Commit::Wait).unwrap();
    client.add(&seeded("gone", 2), Commit::Wait).unwrap();
    client.add(&seeded("kept", 3), Commit::Auto).unwrap();
    client.add(&seeded("brief", 4), Commit::Auto).unwrap();
    client.remove(vec!["gone".into(), "brief".into(), "none".into()], Commit::Auto).unwrap();
    client.add(&seeded("kept", 5), Commit::Auto).unwrap();
    assert_eq!(code_of(client.add(&seeded("poison", 6), Commit::Wait)).0, "poisonous_document");
    assert_eq!(end(service, &dir), Model::from([("kept".into(), words(5, 30))]));
}

#[test]
fn a_poison_that_was_acknowledged_is_counted_as_lost_and_it_alone() {
    let dir = created();
    let service = failing(&dir, poison_at(Point::Index));
    let client = service.client();
    let before = client.commit().unwrap();
    for id in ["a", "poison", "b"] {
        client.add(&seeded(id, 1), Commit::Auto).unwrap();
    }
    let after = client.commit().unwrap();
    assert_eq!((after.run.lost, after.documents), (before.run.lost + 1, 2));
    // After a loss a client sends the documents again, and learns which document was the cause.
    assert_eq!(code_of(client.add(&seeded("poison", 1), Commit::Auto)).0, "poisonous_document");
    assert_eq!(end(service, &dir).into_keys().collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn a_service_goes_on_after_a_time_of_panics() {
    let panics = Arc::new(AtomicBool::new(false));
    let flag = panics.clone();
    let dir = created();
    let service = failing(
        &dir,
        Faults::new(move |point, _| {
            assert!(!(point == Point::Index && flag.load(Ordering::Relaxed)), "poison");
            Ok(())
        }),
    );
    let client = service.client();
    client.add(&seeded("a", 1), Commit::Wait).unwrap();
    panics.store(true, Ordering::Relaxed);
    for id in ["b", "c"] {
        assert_eq!(code_of(client.add(&seeded(id, 1), Commit::Wait)).0, "poisonous_document");
    }
    panics.store(false, Ordering::Relaxed);
    client.add(&seeded("d", 1), Commit::Wait).unwrap();
    assert_eq!(end(service, &dir).into_keys().collect::<Vec<_>>(), ["a", "d"]);
}

#[test]
fn a_commit_that_cannot_be_opened_is_reported_as_a_commit() {
    for panics in [false, true] {
        let (is_unopenable, faults) = unopenable(panics);
        let dir = created();
        let service = failing(&dir, faults);
        let client = service.client();
        let before = client.commit().unwrap();
        assert!(before.searchable);
        is_unopenable.store(true, Ordering::Relaxed);
        client.add(&seeded("a", 1), Commit::Auto).unwrap();
        assert!(client.add(&seeded("b", 2), Commit::Wait).unwrap().committed);
        let stale = client.commit().unwrap();
        assert_eq!((stale.searchable, stale.documents, stale.run), (false, 0, before.run));
        // Searches still see the earlier documents.
        let query = SearchRequest { text: Some(words(1, 30)), ..SearchRequest::default() };
        assert_eq!(client.search(&query).unwrap().hits, []);
        // The writer still knows the documents of its commits.
        assert_eq!(client.add(&seeded("a", 1), Commit::Wait).unwrap().report.unchanged, 1);
        assert_eq!(client.add(&seeded("b", 3), Commit::Wait).unwrap().report.replaced, 1);
        is_unopenable.store(false, Ordering::Relaxed);
        let after = client.commit().unwrap();
        assert_eq!((after.searchable, after.documents, after.run), (true, 2, before.run));
        assert_eq!(client.search(&query).unwrap().hits[0].id, "a");
        let expected = Model::from([("a".into(), words(1, 30)), ("b".into(), words(3, 30))]);
        assert_eq!(end(service, &dir), expected);
    }
}

#[test]
fn the_answer_to_a_removal_names_the_ids_that_stay() {
    let dir = created();
    let service = failing(&dir, Faults::default());
    let client = service.client();
    client.add(&seeded("a", 1), Commit::Wait).unwrap();
    let removed = client.remove(vec!["a".into(), "b".into()], Commit::Wait).unwrap();
    assert_eq!((removed.removed, removed.missing, removed.committed), (1, vec!["b".into()], true));
    let reply = service.post("/v1/remove", &json!({"ids": ["a"]}).to_string());
    assert_eq!((reply.status, &reply.json()["missing"]), (202, &json!(["a"])));
}

/// Returns faults of a disk that is full while the flag is set.
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
    let dir = created();
    let service = failing(&dir, faults);
    let client = service.client();
    client.add(&seeded("old", 1), Commit::Wait).unwrap();
    let run = client.commit().unwrap().run;
    client.add(&seeded("a", 2), Commit::Auto).unwrap();
    client.add(&seeded("old", 3), Commit::Auto).unwrap();
    client.remove(vec!["a".into()], Commit::Auto).unwrap();
    client.add(&seeded("a", 4), Commit::Auto).unwrap();
    is_full.store(true, Ordering::Relaxed);
    // A waiting client receives the error, and its documents are not added later.
    assert_eq!(code_of(client.add(&seeded("waited", 5), Commit::Wait)).0, "storage_full");
    // No route acknowledges further changes.
    let document = serde_json::to_string(&seeded("b", 6)).unwrap();
    for (path, sent) in [
        ("/v1/documents?commit=auto", document.as_str()),
        ("/v1/documents?commit=wait", &document),
        ("/v1/remove?commit=auto", r#"{"ids": ["old"]}"#),
        ("/v1/commit", ""),
        ("/v1/compact", "{}"),
    ] {
        let reply = service.post(path, sent);
        assert_eq!((reply.status, reply.code().as_str()), (503, "unavailable"), "{path}");
        assert!(may_be_repeated(&reply), "{path}: {reply:?}");
    }
    for _ in 0..20 {
        assert_eq!(service.ask("GET", "/readyz", "", "").status, 503);
        std::thread::sleep(Duration::from_millis(100));
    }
    let stats = client.stats().unwrap();
    assert_eq!((stats.uncommitted, stats.run), (4, run));
    is_full.store(false, Ordering::Relaxed);
    wait_until("the service to be ready", || service.ask("GET", "/readyz", "", "").status == 200);
    let stats = client.stats().unwrap();
    assert_eq!((stats.uncommitted, stats.run, stats.index.documents), (0, run, 2));
    client.add(&seeded("b", 6), Commit::Auto).unwrap();
    let expected = [("a", 4), ("b", 6), ("old", 3)].map(|(id, seed)| (id.into(), words(seed, 30)));
    assert_eq!(end(service, &dir), Model::from(expected));
}

#[test]
fn changes_are_written_at_the_end_though_the_disk_has_less_room_than_is_asked_for() {
    // Once, with 360 kB free, all eight accepted documents were lost.
    let is_full = Arc::new(AtomicBool::new(false));
    let flag = is_full.clone();
    let faults = Faults::new(move |point, what| match (point, what) {
        (Point::Commit, "probe") => Err(ErrorKind::StorageFull.into()),
        (Point::Commit, _) if flag.load(Ordering::Relaxed) => Err(ErrorKind::StorageFull.into()),
        _ => Ok(()),
    });
    let dir = created();
    let service = failing(&dir, faults);
    let client = service.client();
    client.add(&seeded("a", 1), Commit::Auto).unwrap();
    client.add(&seeded("b", 2), Commit::Auto).unwrap();
    is_full.store(true, Ordering::Relaxed);
    assert_eq!(code_of(client.commit()).0, "storage_full");
    is_full.store(false, Ordering::Relaxed);
    assert_eq!(service.ask("GET", "/readyz", "", "").status, 503);
    let expected = [("a", 1), ("b", 2)].map(|(id, seed)| (id.into(), words(seed, 30)));
    assert_eq!(end(service, &dir), Model::from(expected));
}

#[test]
fn changes_unwritten_at_the_end_are_counted_as_lost() {
    let (is_full, faults) = full_disk();
    let dir = created();
    let service = failing(&dir, faults);
    let client = service.client();
    client.add(&seeded("a", 1), Commit::Wait).unwrap();
    client.add(&seeded("b", 2), Commit::Auto).unwrap();
    is_full.store(true, Ordering::Relaxed);
    assert!(service.end().unwrap_err().to_string().contains("could not be committed"));
    assert_eq!(held(&dir).len(), 1);
}
