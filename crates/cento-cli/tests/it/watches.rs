//! The real binary: watches of an index on disk and of a service, and their events.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cento_testing::http::LINES;
use cento_testing::wait_until;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::cli_join::jsons;
use crate::common::run::{Dir, line};
use crate::common::service::{Reply, Service};
use crate::common::words;

/// The watch and document of each event.
fn found(dir: &Dir, args: &[&str]) -> Vec<(String, String)> {
    let args = [&["watch", "events", "idx", "--format", "json"], args].concat();
    let run = dir.run(&args);
    let events = jsons(&run.out);
    assert_eq!(run.status, i32::from(events.is_empty()), "{}", run.err);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    events.iter().map(|event| (text(&event["watch"]), text(&event["hit"]["id"]))).collect()
}

#[test]
fn events_are_those_of_documents_that_were_added_after_the_watch() {
    let dir = Dir::new();
    let copy =
        |id: &str, seed| line(id, &format!("{} {}", words(seed, 20), words(1, 80)), json!({}));
    dir.write("before.jsonl", copy("before", 5));
    dir.json(&["add", "idx", "before.jsonl"]);
    assert_eq!(dir.run(&["watch", "events", "idx"]).status, 1);
    assert_eq!(dir.run(&["watch", "list", "idx"]).status, 1);
    dir.write("mine.txt", words(1, 80));
    dir.write("other.txt", words(2, 80));
    let added = dir.run(&["watch", "add", "idx", "mine.txt", "other.txt"]);
    assert_eq!(added.status, 0, "{}", added.err);
    // Adding the same watch twice changes nothing.
    assert_eq!(dir.run(&["watch", "add", "idx", "mine.txt"]).status, 0);
    assert!(found(&dir, &[]).is_empty());
    dir.write("after.jsonl", copy("after", 6) + &line("none", &words(9, 80), json!({})));
    dir.json(&["add", "idx", "after.jsonl"]);
    let expected = [("mine.txt".to_owned(), "after".to_owned())];
    assert_eq!(found(&dir, &[]), expected);
    assert_eq!(found(&dir, &[]), expected);
    let event = jsons(&dir.run(&["watch", "events", "idx", "--format", "json"]).out).remove(0);
    let cursor = event["cursor"].as_u64().unwrap();
    assert!(found(&dir, &["--after", &cursor.to_string()]).is_empty());
    assert_eq!(found(&dir, &["--after", &(cursor - 1).to_string()]), expected);
    assert!(found(&dir, &["--watch", "other.txt"]).is_empty());
    // An unchanged document is not added; a new version is an event.
    dir.json(&["add", "idx", "after.jsonl"]);
    assert_eq!(found(&dir, &[]).len(), 1);
    dir.write("after.jsonl", copy("after", 7));
    dir.json(&["add", "idx", "after.jsonl"]);
    assert_eq!(found(&dir, &[]).len(), 2);
    assert_eq!(dir.run(&["watch", "remove", "idx", "mine.txt"]).status, 0);
    let again = dir.run(&["watch", "remove", "idx", "mine.txt"]);
    assert_eq!((again.status, again.err.contains("no watch has this name")), (1, true));
    assert_eq!(found(&dir, &[]).len(), 2);
    let listed = dir.run(&["watch", "list", "idx", "--format", "csv"]);
    assert!(
        listed.out.contains("other.txt,text") && !listed.out.contains("mine"),
        "{}",
        listed.out
    );
}

#[test]
fn a_record_of_parts_is_one_watch_whose_events_name_the_part() {
    let dir = Dir::new();
    let parts = |id: &str, parts: [(&str, String); 2]| {
        let part = |(name, text)| json!({"name": name, "text": text});
        format!("{}\n", json!({"id": id, "parts": parts.map(part)}))
    };
    dir.write("mine.jsonl", parts("mine", [("one.c", words(1, 60)), ("two.c", words(2, 60))]));
    assert_eq!(dir.run(&["create", "idx"]).status, 0);
    let added = dir.run(&["watch", "add", "idx", "mine.jsonl", "--format", "json"]);
    assert_eq!(jsons(&added.out)[0]["tokens"], 120, "{}", added.err);
    dir.write("new.jsonl", parts("new", [("a.c", words(3, 60)), ("b.c", words(2, 60))]));
    dir.json(&["add", "idx", "new.jsonl"]);
    let events = jsons(&dir.run(&["watch", "events", "idx", "--format", "json"]).out);
    let passage = &events[0]["hit"]["passages"][0];
    assert_eq!((&passage["a_part"], &passage["b_part"]), (&json!("two.c"), &json!("b.c")));
}

#[test]
fn a_watch_that_cannot_be_is_refused_with_the_reason() {
    let dir = Dir::new();
    dir.write("a.txt", words(1, 80));
    dir.write("b.txt", words(2, 80));
    dir.json(&["add", "idx", "a.txt"]);
    let check = |args: &[&str], expected: &str| {
        let run = dir.run(&[&["watch", "add", "idx"], args].concat());
        assert_eq!(run.status, 2, "{args:?}");
        assert!(run.err.contains(expected), "{args:?}: {}", run.err);
    };
    check(&[], "nothing to watch for");
    check(&["--text", "a few words"], "give a threshold");
    check(&["--id", "none"], "no document has the id `none`");
    check(&["a.txt", "b.txt", "--name", "one"], "--name is for one watch");
    check(&["a.txt", "--webhook", "http://a.example/"], "--secret-file");
    dir.write("secret", "short");
    check(&["a.txt", "--webhook", "http://a.example/", "--secret-file", "secret"], "16 bytes");
    let unknown = dir.run(&["watch", "events", "idx", "--watch", "unknown"]);
    assert_eq!(unknown.status, 2, "{}", unknown.err);
}

#[test]
fn of_several_texts_those_that_can_be_are_watched_and_each_other_is_named() {
    let dir = Dir::new();
    assert_eq!(dir.run(&["create", "idx"]).status, 0);
    dir.write("n.txt", words(1, 80));
    dir.write("s.txt", "two words");
    dir.write("t.txt", words(2, 80));
    let names = |out: &str| -> Vec<String> {
        jsons(out).iter().map(|watch| watch["name"].as_str().unwrap().into()).collect()
    };
    let check = |to: &[&str], from: &[&str]| {
        let run = dir.run(&[&["watch", "add"], to, &["n.txt", "s.txt", "t.txt"]].concat());
        assert_eq!(run.status, 3, "{}", run.err);
        assert!(run.err.contains("`s.txt` has fewer than 12 tokens"), "{}", run.err);
        assert!(run.out.contains("n.txt") && !run.out.contains("s.txt"), "{}", run.out);
        let listed = dir.run(&[&["watch", "list", "--format", "json"], from].concat());
        assert_eq!(names(&listed.out), ["n.txt", "t.txt"]);
        // Watches cannot be replaced, so the message does not suggest an option for replacing.
        dir.write("n.txt", words(3, 80));
        let other = dir.run(&[&["watch", "add"], to, &["n.txt", "t.txt"]].concat());
        assert_eq!(other.status, 3, "{}", other.err);
        assert!(other.err.contains("remove it first"), "{}", other.err);
        assert!(!other.err.contains("--replace"), "{}", other.err);
        assert!(other.out.contains("t.txt") && !other.out.contains("n.txt"), "{}", other.out);
        dir.write("n.txt", words(1, 80));
    };
    check(&["idx"], &["idx"]);
    assert_eq!(dir.run(&["watch", "remove", "idx", "n.txt", "t.txt"]).status, 0);
    let service = Service::start(&dir, &[]);
    let url = service.url.as_str();
    check(&["--url", url], &["--url", url]);
}

/// A cursor larger than any event has.
const LATER: &str = "9000000000000000";

#[test]
fn a_cursor_of_another_log_is_told_at_once_to_a_reader_that_waits() {
    let dir = Dir::new();
    assert_eq!(dir.run(&["create", "idx"]).status, 0);
    dir.write("mine.txt", words(1, 80));
    assert_eq!(dir.run(&["watch", "add", "idx", "mine.txt"]).status, 0);
    let told = dir.run(&["watch", "events", "idx", "--after", LATER]);
    assert!(told.err.contains("the last event has the cursor 0"), "{}", told.err);
    let service = Service::start(&dir, &[]);
    add(&service, "one", 3);
    let begun = Instant::now();
    for path in ["/v1/events", "/v1/watches/mine.txt/events"] {
        let found = get(&service, &format!("{path}?after={LATER}&wait=20")).json();
        assert_eq!(found["missed"], true, "{found}");
    }
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    for (path, said) in [
        ("/v1/events?after=x", "`after`: expected a whole number"),
        ("/v1/watches?limit=x", "`limit`: expected a whole number"),
        ("/v1/documents?limit=x", "`limit`: expected a whole number"),
    ] {
        let refused = get(&service, path);
        assert_eq!((refused.status, refused.code().as_str()), (400, "invalid_argument"), "{path}");
        assert!(refused.body.contains(said), "{path}: {}", refused.body);
    }
}

/// A receiver of posts, which misbehaves at first.
struct Receiver {
    url: String,
    /// Signature and body of each accepted post.
    accepted: Arc<Mutex<Vec<(String, String)>>>,
    attempts: Arc<AtomicUsize>,
}

impl Receiver {
    fn start() -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let (accepted, attempts) = (Arc::default(), Arc::new(AtomicUsize::new(0)));
        let receiver = Receiver { url, accepted, attempts };
        let (accepted, attempts) = (receiver.accepted.clone(), receiver.attempts.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let attempt = attempts.fetch_add(1, Ordering::SeqCst);
                let accepted = accepted.clone();
                // Uses a thread per connection, so that a hanging connection does not block the
                // next connection.
                std::thread::spawn(move || answer(&mut stream.unwrap(), attempt, &accepted));
            }
        });
        receiver
    }
}

/// Answers a post. The first attempts get every kind of error.
fn answer(stream: &mut TcpStream, attempt: usize, accepted: &Mutex<Vec<(String, String)>>) {
    let (head, body) = read_post(stream);
    let line = match attempt {
        // Closes without an answer.
        0 => return,
        1 => "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n",
        2 => "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
        3 => {
            // Lies about the length, and sends endless bytes, until the connection is closed.
            let _ = stream.write_all(b"HTTP/1.1 503 No\r\nContent-Length: 99999999999\r\n\r\n");
            while stream.write_all(&[b'x'; 65536]).is_ok() {}
            return;
        }
        _ => {
            let signature = head.lines().find_map(|line| {
                let (name, value) = line.split_once(": ")?;
                name.eq_ignore_ascii_case("cento-signature").then(|| value.to_owned())
            });
            let post = (signature.unwrap(), String::from_utf8(body).unwrap());
            accepted.lock().unwrap().push(post);
            "HTTP/1.1 204 Done\r\n\r\n"
        }
    };
    let _ = stream.write_all(line.as_bytes());
}

fn read_post(stream: &mut TcpStream) -> (String, Vec<u8>) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0);
    }
    let length = head.to_ascii_lowercase();
    let length = length.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.unwrap().parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    (head, body)
}

const SECRET: &str = "a secret of many bytes";

fn hmac_of(time: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(format!("{time}.{body}").as_bytes());
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn get(service: &Service, path: &str) -> Reply {
    service.ask("GET", path, "", "")
}

fn add(service: &Service, id: &str, seed: u64) {
    let text = format!("{} {}", words(seed, 20), words(1, 80));
    let reply =
        service.post("/v1/documents?commit=wait", &json!({"id": id, "text": text}).to_string());
    assert_eq!(reply.status, 200, "{reply:?}");
}

#[test]
fn a_receiver_that_fails_and_lies_has_each_event_in_order_in_the_end() {
    let dir = Dir::new();
    assert_eq!(dir.run(&["create", "idx"]).status, 0);
    let receiver = Receiver::start();
    let watch = json!({"name": "mine", "text": words(1, 80),
        "webhook": {"url": receiver.url, "secret": SECRET}});
    // Private addresses are refused unless allowed.
    let service = Service::start(&dir, &[]);
    let refused = service.post("/v1/watches", &watch.to_string());
    assert_eq!((refused.status, refused.code().as_str()), (400, "invalid_argument"));
    assert!(refused.body.contains("127.0.0.1 is not public"), "{refused:?}");
    drop(service);
    let service = Service::start(&dir, &["--webhook-network", "127.0.0.0/8"]);
    let made = service.post("/v1/watches", &watch.to_string());
    assert_eq!(made.status, 200, "{made:?}");
    assert!(!made.body.contains(SECRET) && made.json()["webhook"] == json!(receiver.url));
    for number in 0..5 {
        add(&service, &format!("d{number}"), number);
    }
    let cursors = || -> Vec<u64> {
        let accepted = receiver.accepted.lock().unwrap();
        let posts = accepted.iter().map(|(_, body)| serde_json::from_str::<Value>(body).unwrap());
        let events = posts.flat_map(|post| post["events"].as_array().unwrap().clone());
        events.map(|event| event["cursor"].as_u64().unwrap()).collect()
    };
    let all = || -> Vec<u64> {
        let events = get(&service, "/v1/events").json()["events"].take();
        events.as_array().unwrap().iter().map(|event| event["cursor"].as_u64().unwrap()).collect()
    };
    wait_until("all events are posted", || all().len() == 5 && cursors().last() == all().last());
    let mut seen = cursors();
    assert!(seen.is_sorted(), "{seen:?}");
    seen.dedup();
    assert_eq!(seen, all());
    assert!(receiver.attempts.load(Ordering::SeqCst) >= 5);
    for (signature, body) in receiver.accepted.lock().unwrap().iter() {
        let (time, own) = signature.strip_prefix("t=").unwrap().split_once(",v1=").unwrap();
        assert_eq!(own, hmac_of(time, body), "{signature}");
    }
    // The service is unharmed, and answers.
    assert_eq!(get(&service, "/readyz").status, 200);
}

#[test]
fn events_of_a_service_are_read_by_cursor_by_waiting_and_as_a_stream() {
    let dir = Dir::new();
    assert_eq!(dir.run(&["create", "idx"]).status, 0);
    dir.write("mine.txt", words(1, 80));
    let service = Service::start(&dir, &[]);
    let url = service.url.as_str();
    let nothing: Value = get(&service, "/v1/events").json();
    assert_eq!(nothing["events"], json!([]));
    assert_eq!(get(&service, "/v1/watches/unknown").status, 404);
    assert_eq!(dir.run(&["watch", "add", "--url", url, "mine.txt"]).status, 0);
    let listed = dir.run(&["watch", "list", "--url", url, "--format", "json"]);
    assert_eq!(jsons(&listed.out)[0]["name"], "mine.txt");
    // The same name with different content is refused.
    let other = json!({"name": "mine.txt", "text": words(2, 80)});
    let refused = service.post("/v1/watches", &other.to_string());
    assert_eq!((refused.status, refused.code().as_str()), (409, "id_taken"));
    add(&service, "before", 3);
    let waited = get(&service, "/v1/watches/mine.txt/events?wait=20").json();
    assert_eq!(waited["events"][0]["hit"]["id"], "before");
    let next = waited["next"].as_u64().unwrap();
    let address = url.strip_prefix("http://").unwrap().to_owned();
    let mut stream = TcpStream::connect(&address).unwrap();
    let head = format!(
        "GET /v1/events HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\n\
         Last-Event-ID: {next}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    add(&service, "after", 4);
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    let id = lines.find_map(|line| line.strip_prefix("id: ").map(str::to_owned)).unwrap();
    assert!(id.parse::<u64>().unwrap() > next, "{id} after {next}");
    let data = lines.next().unwrap();
    assert!(data.contains(r#""id":"after""#), "{data}");
    // A second process reads the service's events, but does not match documents.
    assert_eq!(found(&dir, &[]).len(), 2);
    let unknown = dir.run(&["watch", "events", "idx", "--watch", "unknown"]);
    assert_eq!(unknown.status, 2, "{}", unknown.err);
    assert!(unknown.err.contains("no watch has this name"), "{}", unknown.err);
    // Watches can be listed, and so copied, while the service holds the lock.
    let listed = dir.run(&["watch", "list", "idx", "--format", "json"]);
    assert!(listed.status == 0 && listed.out.contains("\"text\":"), "{}", listed.err);
    for args in [&["add", "idx", "mine.txt"][..], &["remove", "idx", "mine.txt"]] {
        let locked = dir.run(&[&["watch"], args].concat());
        assert_eq!(locked.status, 2, "{}", locked.err);
        assert!(locked.err.contains("idx: ") && locked.err.contains("use --url"), "{}", locked.err);
    }
    let by_url = dir.run(&["watch", "events", "--url", url, "--format", "json"]);
    assert_eq!(jsons(&by_url.out).len(), 2);
    assert_eq!(dir.run(&["watch", "remove", "--url", url, "mine.txt"]).status, 0);
    assert_eq!(dir.run(&["watch", "remove", "--url", url, "mine.txt"]).status, 1);
}

#[test]
fn a_service_that_is_killed_loses_no_event_and_has_none_twice() {
    let dir = Dir::new();
    assert_eq!(dir.run(&["create", "idx"]).status, 0);
    dir.write("mine.txt", words(1, 80));
    assert_eq!(dir.run(&["watch", "add", "idx", "mine.txt"]).status, 0);
    let mut acknowledged = Vec::new();
    for round in 0..6 {
        let service = Service::start(&dir, &[]);
        for number in 0..3 {
            let id = format!("{round}-{number}");
            add(&service, &id, round * 3 + number);
            acknowledged.push(id);
        }
        // Perhaps before the last commit is matched.
        service.kill();
    }
    let mut seen: Vec<String> = found(&dir, &[]).into_iter().map(|(_, id)| id).collect();
    seen.sort();
    assert_eq!(seen, acknowledged);
}

#[test]
fn a_follower_posts_nothing() {
    let dir = Dir::new();
    assert_eq!(dir.run(&["create", "all"]).status, 0);
    let receiver = Receiver::start();
    let allowed = ["--listen", "127.0.0.1:0", "--webhook-network", "127.0.0.0/8"];
    let serve = [&["serve", "all", "--log", "json"], &allowed[..]].concat();
    let writing = Service::saying(dir.command(&serve));
    let watch = json!({"name": "mine", "text": words(1, 80),
        "webhook": {"url": receiver.url, "secret": SECRET}});
    assert_eq!(writing.post("/v1/watches", &watch.to_string()).status, 200);
    let posted = || -> Vec<u64> {
        let accepted = receiver.accepted.lock().unwrap();
        let posts = accepted.iter().map(|(_, body)| serde_json::from_str::<Value>(body).unwrap());
        let events = posts.flat_map(|post| post["events"].as_array().unwrap().clone());
        events.map(|event| event["cursor"].as_u64().unwrap()).collect()
    };
    add(&writing, "first", 3);
    dir.json(&["store", "push", "all", "store"]);
    let follow = ["--follow", "store", "--follow-interval", "10ms"];
    let following = Service::start(&dir, &[&follow, &allowed[2..]].concat());
    add(&writing, "second", 4);
    wait_until("the events are posted", || posted().len() == 2);
    let both = posted();
    dir.json(&["store", "push", "all", "store"]);
    wait_until("the second document", || {
        following.ask("GET", "/v1/documents/second", "", "").status == 200
    });
    // A read-only copy has neither watches nor events, so there is nothing to post.
    let refused = get(&following, "/v1/events");
    assert_eq!((refused.status, refused.code().as_str()), (403, "read_only"));
    let find = |name: &str| {
        let mut walk = std::process::Command::new("find");
        let walked = walk.arg(dir.path("idx")).args(["-name", name]).output().unwrap();
        String::from_utf8(walked.stdout).unwrap()
    };
    assert!(find("meta.json").contains("meta.json") && find(".watches").is_empty());
    assert_eq!(posted(), both);
    assert!(both.is_sorted_by(|one, next| one < next), "{both:?}");
}

#[test]
fn a_watch_that_is_removed_has_the_events_of_all_commits_before() {
    let dir = Dir::new();
    assert_eq!(dir.run(&["create", "idx"]).status, 0);
    dir.write("mine.txt", words(1, 80));
    dir.write("other.txt", words(2, 80));
    assert_eq!(dir.run(&["watch", "add", "idx", "mine.txt", "--name", "desk"]).status, 0);
    dir.write("new.jsonl", line("copy", &words(1, 80), json!({})));
    dir.json(&["add", "idx", "new.jsonl"]);
    // Removing a watch first matches the documents added since the last match.
    assert_eq!(dir.run(&["watch", "remove", "idx", "desk"]).status, 0);
    assert_eq!(found(&dir, &[]), [("desk".to_owned(), "copy".to_owned())]);
    // A new watch with the same name does not get the events of the old watch.
    assert_eq!(dir.run(&["watch", "add", "idx", "other.txt", "--name", "desk"]).status, 0);
    assert!(found(&dir, &["--watch", "desk"]).is_empty());
    let service = Service::start(&dir, &[]);
    let own = || get(&service, "/v1/watches/desk/events").json()["events"].clone();
    assert_eq!(own(), json!([]));
    let all = || get(&service, "/v1/events").json()["events"].as_array().unwrap().len();
    assert_eq!(all(), 1);
    // Documents acknowledged while the watch existed, followed by the removal of the watch.
    let lines: String = (0..50)
        .map(|n| {
            line(&format!("d{n}"), &format!("{} {}", words(n + 9, 9), words(2, 80)), json!({}))
        })
        .collect();
    let added = service.ask("POST", "/v1/documents?commit=wait", LINES, &lines);
    assert_eq!(added.status, 200, "{added:?}");
    assert_eq!(service.ask("DELETE", "/v1/watches/desk", "", "").status, 200);
    assert_eq!(all(), 51);
}

#[test]
fn a_watch_of_a_document_that_is_gone_says_so() {
    let dir = Dir::new();
    dir.write("in.jsonl", line("mine", &words(1, 80), json!({})));
    dir.json(&["add", "idx", "in.jsonl"]);
    let added = dir.run(&["watch", "add", "idx", "--id", "mine", "--name", "w"]);
    assert_eq!(added.status, 0, "{}", added.err);
    let listed = || jsons(&dir.run(&["watch", "list", "idx", "--format", "json"]).out).remove(0);
    assert_eq!(listed()["problem"], Value::Null);
    assert_eq!(dir.run(&["remove", "idx", "mine"]).status, 0);
    assert!(listed()["problem"].as_str().unwrap().contains("no text with this id"));
    dir.json(&["add", "idx", "in.jsonl"]);
    assert_eq!(listed()["problem"], Value::Null);
}

#[test]
fn a_service_that_only_reads_refuses_watches() {
    let dir = Dir::new();
    assert_eq!(dir.run(&["create", "idx"]).status, 0);
    assert_eq!(dir.run(&["create", "other"]).status, 0);
    let service = Service::over(&dir, &["idx", "other"]);
    let watch = json!({"text": words(1, 80)}).to_string();
    for reply in [service.post("/v1/watches", &watch), get(&service, "/v1/events")] {
        assert_eq!((reply.status, reply.code().as_str()), (403, "read_only"));
    }
}

/// Verbs that copy an index with watches.
#[test]
fn each_verb_that_leaves_watches_behind_says_so_and_a_list_brings_them_along() {
    let dir = Dir::new();
    dir.write("first.jsonl", line("a", &words(1, 80), json!({})));
    dir.json(&["add", "idx", "first.jsonl"]);
    dir.write("mine.txt", words(2, 80));
    dir.write("secret", "0123456789abcdef\n");
    let add = |index: &str, more: &[&str]| dir.run(&[&["watch", "add", index], more].concat());
    let conditions = ["--min-containment", "0.3", "--filter", "lang:de"];
    assert_eq!(add("idx", &[&["mine.txt"], &conditions[..]].concat()).status, 0);
    assert_eq!(add("idx", &["--id", "a", "--name", "like a"]).status, 0);
    let hook = ["--webhook", "https://a.example/x?key=y", "--secret-file", "secret"];
    assert_eq!(add("idx", &[&["--text", &words(3, 50)], &hook[..]].concat()).status, 0);
    let said = |args: &[&str], expected: &str| {
        let run = dir.run(args);
        assert_eq!(run.status, 0, "{}", run.err);
        let line = run.err.lines().find(|line| line.contains("watches"));
        let line = line.unwrap_or_else(|| panic!("no word of watches: {}", run.err));
        assert!(line.contains("3 watches") && line.contains(expected), "{line}");
        assert!(line.contains("watch list") && line.contains("--format json"), "{line}");
    };
    said(&["store", "push", "idx", "store", "-q"], "not in the store");
    said(&["store", "pull", "store", "copy"], "which no store has");
    said(&["export", "idx"], "not in the export");
    said(&["merge", "merged", "idx"], "not in the merged index");
    said(&["recover", "idx", "--to", "whole"], "not in the new index");
    let moved = dir.run(&["merge", "moved", "idx", "--move"]);
    assert_eq!((moved.status, moved.err.contains("3 watches")), (2, true), "{}", moved.err);
    assert_eq!(dir.json(&["stats", "idx"])["documents"], 1);

    let list = |index: &str| dir.run(&["watch", "list", index, "--format", "json"]).out;
    dir.write("watches.jsonl", list("idx"));
    assert!(!list("idx").contains("0123456789abcdef"));
    let without = add("copy", &["watches.jsonl"]);
    assert_eq!((without.status, without.err.contains("--secret-file")), (2, true));
    assert_eq!(dir.run(&["watch", "list", "copy"]).status, 1);
    let added = add("copy", &["watches.jsonl", "--secret-file", "secret"]);
    assert_eq!(added.status, 0, "{}", added.err);
    let shown = |index: &str| {
        let mut watches = jsons(&list(index));
        for watch in &mut watches {
            for own in ["commit", "created"] {
                watch.as_object_mut().unwrap().remove(own);
            }
        }
        watches
    };
    assert_eq!(shown("copy"), shown("idx"));
    // Through a pipe, and again: nothing changes.
    let piped = ["watch", "add", "copy", "-", "--secret-file", "secret"];
    let again = dir.run_with(&piped, list("idx").as_bytes());
    assert_eq!(again.status, 0, "{}", again.err);
    assert_eq!(shown("copy").len(), 3);
    // Pulling into a copy that already has the watches prints no message.
    let pulled = dir.run(&["store", "pull", "store", "copy"]);
    assert!(pulled.status == 0 && !pulled.err.contains("watches"), "{}", pulled.err);
}

#[test]
fn the_watches_of_an_index_without_texts_are_listed_by_their_signatures() {
    let dir = Dir::new();
    for index in ["idx", "other"] {
        assert_eq!(dir.run(&["create", index, "--no-text"]).status, 0);
    }
    dir.write("mine.txt", words(2, 80));
    assert_eq!(dir.run(&["watch", "add", "idx", "mine.txt", "--min-overlap", "3"]).status, 0);
    let list = dir.run(&["watch", "list", "idx", "--format", "json"]).out;
    assert!(list.contains("\"signature\":{") && !list.contains("\"text\":"), "{list}");
    let added = dir.run_with(&["watch", "add", "other", "-"], list.as_bytes());
    assert_eq!(added.status, 0, "{}", added.err);
    dir.write("copy.jsonl", line("copy", &words(2, 80), json!({})));
    for index in ["idx", "other"] {
        dir.json(&["add", index, "copy.jsonl"]);
        let events = dir.run(&["watch", "events", index]);
        assert_eq!(events.status, 0, "{}", events.err);
    }
}
