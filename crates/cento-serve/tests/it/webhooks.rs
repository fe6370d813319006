//! Posts of events to receivers that fail, hang or lie.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use cento::Refusal;
use cento_api::PartText;
use cento_client::api::{Commit, DocumentOfParts, EventsRequest, WatchRequest};
use cento_serve::{Poster, WebhookBackoff};
use serde_json::{Map, Value, json};

use crate::common::{Ask, Dir, Service, created, wait_until, words};

/// Simulated receivers. The address begins with the receiver's behavior.
#[derive(Default)]
struct Receivers {
    /// The cursors of the events in every post, by address.
    posts: Mutex<BTreeMap<String, Vec<Vec<u64>>>>,
    /// Whether hanging receivers may answer.
    is_over: Mutex<bool>,
    over: Condvar,
}

impl Receivers {
    /// Returns the posts to an address.
    fn posts(&self, url: &str) -> Vec<Vec<u64>> {
        self.posts.lock().unwrap().get(url).cloned().unwrap_or_default()
    }

    /// Returns the cursors that this receiver had, in order and without repetitions. A repeated
    /// post must begin after the last accepted event. `expected` are the cursors of the receiver's
    /// watch.
    fn cursors_of(&self, kind: &str, expected: &[u64]) -> Vec<u64> {
        let mut cursors: Vec<u64> = Vec::new();
        for post in self.posts(&format!("http://{kind}/")) {
            let at = expected.iter().position(|cursor| *cursor == post[0]).unwrap();
            assert!(at <= cursors.len(), "{kind}: {post:?} after {cursors:?}");
            assert_eq!(post, expected[at..at + post.len()], "{kind}");
            cursors.truncate(at);
            cursors.extend(post);
        }
        cursors
    }

    fn end(&self) {
        *self.is_over.lock().unwrap() = true;
        self.over.notify_all();
    }
}

impl Poster for Receivers {
    fn check(&self, _: &str) -> Result<(), Refusal> {
        Ok(())
    }

    fn post(&self, url: &str, _: &str, _: &str, body: &[u8]) -> Result<u16, String> {
        let post: Value = serde_json::from_slice(body).unwrap();
        let events = post["events"].as_array().unwrap();
        let cursors = events.iter().map(|event| event["cursor"].as_u64().unwrap()).collect();
        let attempt = {
            let mut posts = self.posts.lock().unwrap();
            let posts = posts.entry(url.to_owned()).or_default();
            posts.push(cursors);
            posts.len()
        };
        let kind = url.strip_prefix("http://").unwrap().split(['.', '/']).next().unwrap();
        match kind {
            "fails" => Ok(500),
            "redirects" => Ok(302),
            "closes" => Err("the connection was closed".into()),
            "hangs" => {
                let over = self.over.wait_while(self.is_over.lock().unwrap(), |over| !*over);
                drop(over.unwrap());
                Err("it took longer than 10s".into())
            }
            // The receiver has the events, but reports a failure.
            "lies" if attempt % 2 == 1 => Ok(503),
            _ => Ok(204),
        }
    }
}

/// Returns a service with these receivers, and short times before further attempts.
fn serve(dir: &Dir, receivers: &Arc<Receivers>) -> Service {
    let receivers = receivers.clone();
    Service::with(dir, |settings| {
        settings.poster = Some(receivers);
        settings.webhook_backoff =
            WebhookBackoff { first: Duration::from_millis(1), longest: Duration::from_millis(20) };
    })
}

fn watch(service: &Service, name: &str, url: &str) {
    let webhook = json!({"url": url, "secret": "a secret of many bytes"});
    let watch = json!({"name": name, "text": words(1, 80), "webhook": webhook});
    let reply = service.post("/v1/watches", &watch.to_string());
    assert_eq!(reply.status, 200, "{reply:?}");
}

/// Adds a document that matches every watch.
fn add(service: &Service, number: u64) {
    let text = format!("{} {}", words(100 + number, 20), words(1, 80));
    let document = json!({"id": format!("d{number}"), "text": text}).to_string();
    let reply = service.post("/v1/documents?commit=wait", &document);
    assert_eq!(reply.status, 200, "{reply:?}");
}

/// Returns the cursors of a watch's events.
fn events(service: &Service, name: &str) -> Vec<u64> {
    let reply = service.ask("GET", &format!("/v1/watches/{name}/events"), "", "");
    let events = reply.json()["events"].as_array().unwrap().clone();
    events.iter().map(|event| event["cursor"].as_u64().unwrap()).collect()
}

#[test]
fn receivers_that_fail_hang_and_lie_delay_no_other() {
    const DOCUMENTS: u64 = 5;

    let (dir, receivers) = (created(), Arc::new(Receivers::default()));
    let service = serve(&dir, &receivers);
    let kinds = ["closes", "fails", "hangs", "lies", "redirects", "works"];
    for kind in kinds {
        watch(&service, kind, &format!("http://{kind}/"));
    }
    (0..DOCUMENTS).for_each(|number| add(&service, number));
    let has_all = |kind: &str| {
        let expected = events(&service, kind);
        expected.len() as u64 == DOCUMENTS && receivers.cursors_of(kind, &expected) == expected
    };
    wait_until("the others have all events", || has_all("works") && has_all("lies"));
    for kind in ["closes", "fails", "redirects"] {
        wait_until("it is tried again", || receivers.posts(&format!("http://{kind}/")).len() > 3);
        // The service posts the first events repeatedly, because the receiver never accepts.
        let first = events(&service, kind)[0];
        let posts = receivers.posts(&format!("http://{kind}/"));
        assert!(posts.iter().all(|post| post[0] == first), "{kind}: {posts:?}");
    }
    assert_eq!(receivers.posts("http://hangs/").len(), 1);
    assert_eq!(service.ask("GET", "/readyz", "", "").status, 200);
    receivers.end();
    wait_until("it is tried again", || receivers.posts("http://hangs/").len() > 2);
    service.stop();
}

#[test]
fn many_receivers_that_fail_leave_places_for_others() {
    let (dir, receivers) = (created(), Arc::new(Receivers::default()));
    let service = serve(&dir, &receivers);
    for number in 0..40 {
        watch(&service, &format!("bad-{number:02}"), &format!("http://fails.{number}/"));
    }
    watch(&service, "good", "http://works/");
    for number in 0..3 {
        add(&service, number);
        wait_until("it has its events", || {
            let expected = events(&service, "good");
            expected.len() as u64 > number && receivers.cursors_of("works", &expected) == expected
        });
    }
    service.stop();
}

#[test]
fn the_event_of_a_watch_of_parts_names_the_part_of_both_texts() {
    let dir = created();
    let service = Service::start(&dir);
    let client = service.client();
    let parts = |parts: [(&str, String); 2]| -> Vec<PartText> {
        parts.map(|(name, text)| PartText { name: name.into(), text }).into()
    };
    let of_watch = parts([("one.c", words(1, 60)), ("two.c", words(2, 60))]);
    let request = WatchRequest { parts: Some(of_watch), ..WatchRequest::default() };
    let name = client.add_watch(&request).unwrap().name;
    let of_document = parts([("a.c", words(3, 60)), ("b.c", words(2, 60))]);
    let document =
        DocumentOfParts { id: "copy".into(), parts: of_document, meta: Map::new(), id_place: None };
    client.add_of_parts(&document, Commit::Wait).unwrap();
    let wanted = EventsRequest { wait: Some(10), ..EventsRequest::default() };
    let found = client.events(Some(&name), &wanted).unwrap().events;
    let passage = &found[0].hit.passages.as_ref().unwrap()[0];
    let names = (passage.a_part.as_deref(), passage.b_part.as_deref());
    assert_eq!(names, (Some("two.c"), Some("b.c")));
    // The service refuses a text beside parts, and parts that no document can have.
    let reply = service.post("/v1/watches", r#"{"text": "a", "parts": []}"#);
    assert_eq!(reply.status, 400, "{reply:?}");
    let reply = service.post("/v1/watches", r#"{"parts": [{"name": "", "text": "a"}]}"#);
    assert!(reply.status == 400 && reply.body.contains("part 1 is empty"), "{reply:?}");
}

#[test]
fn accepted_events_are_not_posted_again_by_the_next_service() {
    let (dir, receivers) = (created(), Arc::new(Receivers::default()));
    let service = serve(&dir, &receivers);
    watch(&service, "mine", "http://works/");
    add(&service, 0);
    let posts = || receivers.posts("http://works/");
    wait_until("it is posted", || posts().len() == 1);
    service.stop();
    let service = serve(&dir, &receivers);
    add(&service, 1);
    wait_until("it is posted", || posts().len() == 2);
    let [one, two] = [0, 1].map(|at| posts()[at].clone());
    assert!(one.len() == 1 && two.len() == 1 && one < two, "{one:?}, {two:?}");
    service.stop();
    // Simulate a crash before the record of the acceptance. The events are posted again, in order.
    std::fs::remove_file(dir.path("idx").join(".watches/delivered.json")).unwrap();
    let service = serve(&dir, &receivers);
    let both = [one.clone(), two.clone()].concat();
    wait_until("it is posted again", || posts() == [one.clone(), two.clone(), both.clone()]);
    service.stop();
}

#[test]
fn many_events_are_posted_one_after_the_other_without_a_pause() {
    let (dir, receivers) = (created(), Arc::new(Receivers::default()));
    let service = serve(&dir, &receivers);
    watch(&service, "mine", "http://works/");
    let lines: String = (0..250)
        .map(|number| {
            let text = format!("{} {}", words(100 + number, 20), words(1, 80));
            format!("{}\n", json!({"id": format!("d{number}"), "text": text}))
        })
        .collect();
    let headers = crate::common::LINES;
    let reply = service.ask("POST", "/v1/documents?commit=wait", headers, &lines);
    assert_eq!(reply.status, 200, "{reply:?}");
    let count = || receivers.posts("http://works/").iter().map(Vec::len).sum::<usize>();
    wait_until("all are posted", || count() == 250);
    let posts: Vec<usize> = receivers.posts("http://works/").iter().map(Vec::len).collect();
    assert!(posts.iter().all(|&count| count <= 100), "{posts:?}");
    service.stop();
}

#[test]
fn many_receivers_that_hang_leave_places_for_others() {
    let (dir, receivers) = (created(), Arc::new(Receivers::default()));
    let service = serve(&dir, &receivers);
    for number in 0..60 {
        // Half of the receivers share a host.
        let host = if number < 30 { "hangs".into() } else { format!("hangs.{number}") };
        watch(&service, &format!("bad-{number:02}"), &format!("http://{host}/{number}"));
    }
    watch(&service, "good", "http://works/");
    for number in 0..3 {
        add(&service, number);
        wait_until("it has its events", || {
            let expected = events(&service, "good");
            expected.len() as u64 > number && receivers.cursors_of("works", &expected) == expected
        });
    }
    let of_one_host = || {
        receivers.posts.lock().unwrap().keys().filter(|u| u.starts_with("http://hangs/")).count()
    };
    assert_eq!(of_one_host(), 8);
    receivers.end();
    wait_until("all of them are posted to", || of_one_host() == 30);
    service.stop();
}

#[test]
fn readers_do_not_see_the_secrets_in_addresses_of_webhooks() {
    let (dir, receivers) = (created(), Arc::new(Receivers::default()));
    let service = Service::with(&dir, |settings| {
        settings.poster = Some(receivers);
        let tokens = "read reader 0123456789abcdef\nwrite writer fedcba9876543210\n";
        settings.tokens = cento_serve::Tokens::parse(tokens, "tokens").unwrap();
    });
    let as_of = |token: &str| {
        format!("Authorization: Bearer {token}\r\nContent-Type: application/json\r\n")
    };
    let (reader, writer) = (as_of("0123456789abcdef"), as_of("fedcba9876543210"));
    let url = "https://user:pass@hooks.example:8443/services/T0/secret?token=secret#secret";
    let webhook = json!({"url": url, "secret": "a secret of many bytes"});
    let watch = json!({"name": "w", "text": words(1, 80), "webhook": webhook}).to_string();
    let added = service.ask("POST", "/v1/watches", &writer, &watch);
    assert_eq!((added.status, added.json()["webhook"].as_str()), (200, Some(url)));
    let of = |path: &str, headers: &str| {
        let reply = service.ask("GET", path, headers, "");
        assert_eq!(reply.status, 200, "{reply:?}");
        assert!(!reply.body.contains("many bytes"), "{reply:?}");
        let json = reply.json();
        let watch = if json["watches"].is_null() { &json } else { &json["watches"][0] };
        watch["webhook"].as_str().unwrap().to_owned()
    };
    for path in ["/v1/watches", "/v1/watches/w"] {
        assert_eq!(of(path, &writer), url);
        assert_eq!(of(path, &reader), "https://hooks.example:8443");
    }
    service.stop();
}
