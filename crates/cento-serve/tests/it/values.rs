//! Values that take much more memory than their JSON.
//!
//! An object with one member takes seven bytes of JSON, and seven hundred bytes of memory.

use crate::common::{Ask, Dir, LINES, Routes, created, fill, line, words};
use serde_json::{Value, json};

/// The number of documents. Three of their meta objects fit into the memory, but not all.
const DOCUMENTS: u64 = 12;

const MEMORY: usize = 16 << 20;

/// Returns a meta object of 28 kB that takes three megabytes.
fn meta() -> Value {
    json!({"many": vec![json!({"": 0}); 4000]})
}

fn lines() -> String {
    let text = |at| format!("{} {}", words(1, 60), words(2 + at, 20));
    (0..DOCUMENTS).map(|at| line(&format!("d{at:02}"), &text(at), meta())).collect()
}

fn indexed() -> (Dir, Routes) {
    let dir = Dir::new();
    fill(&dir.path("idx"), &lines());
    let routes = Routes::with(&dir, |settings| settings.memory_bytes = MEMORY);
    (dir, routes)
}

#[test]
fn the_meta_objects_of_hits_are_taken_of_the_memory() {
    // Four searches once took 13 GB with `--memory 64MiB`.
    let (_dir, routes) = indexed();
    for passages in [false, true] {
        let search = |limit: u64| {
            let search = json!({"text": words(1, 60), "limit": limit, "passages": passages});
            routes.post("/v1/search", &search.to_string())
        };
        let few = search(3).json();
        assert_eq!(few["hits"].as_array().unwrap().len(), 3);
        assert_eq!(few["hits"][0]["meta"], meta());
        let all = search(DOCUMENTS);
        assert_eq!((all.status, all.code()), (413, "too_large".into()), "{}", all.body);
        assert!(all.body.contains("bytes of meta objects"), "{}", all.body);
        // Nothing is reserved any more.
        assert_eq!(search(3).status, 200);
    }
    let all = json!({"search": {"text": words(1, 60), "limit": DOCUMENTS}});
    assert_eq!(routes.post("/v1/report", &all.to_string()).status, 413);
}

#[test]
fn a_page_of_documents_ends_before_its_meta_objects_take_too_much_memory() {
    let (_dir, routes) = indexed();
    let (mut path, mut seen, mut pages) = ("/v1/documents?limit=1000".to_owned(), 0, 0);
    loop {
        let page = routes.ask("GET", &path, "", "").json();
        let documents = page["documents"].as_array().unwrap();
        assert!((1..=4).contains(&documents.len()), "{}", documents.len());
        (seen, pages) = (seen + documents.len(), pages + 1);
        let Some(cursor) = page["cursor"].as_str() else { break };
        path = format!("/v1/documents?limit=1000&cursor={cursor}");
    }
    assert_eq!(seen, DOCUMENTS as usize);
    assert!(pages > 3);
}

#[test]
fn documents_whose_meta_objects_need_more_memory_than_there_is_are_refused() {
    let dir = created();
    let routes = Routes::with(&dir, |settings| settings.memory_bytes = MEMORY);
    let add = |lines: &str| routes.ask("POST", "/v1/documents?commit=wait", LINES, lines);
    let all = add(&lines());
    assert_eq!((all.status, all.code()), (413, "too_large".into()), "{}", all.body);
    let advice = "send fewer documents at a time, or smaller meta objects";
    assert!(all.body.contains(advice), "{}", all.body);
    let one = add(lines().lines().next().unwrap());
    assert_eq!((one.status, &one.json()["added"]), (200, &json!(1)));
}

#[test]
fn documents_to_compare_whose_values_find_no_room_are_refused_before_they_are_parsed() {
    let (_dir, routes) = indexed();
    let documents: Vec<Value> = lines().lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let pairs = |count: usize| json!({"documents": &documents[..count]});
    for (path, body) in [
        ("/v1/pairs", pairs(DOCUMENTS as usize)),
        ("/v1/pairs/report", json!({"pairs": pairs(DOCUMENTS as usize)})),
    ] {
        let reply = routes.post(path, &body.to_string());
        assert_eq!((reply.status, reply.code()), (413, "too_large".into()), "{}", reply.body);
        assert!(reply.body.contains("lists and objects"), "{}", reply.body);
    }
    let reply = routes.post("/v1/pairs", &pairs(2).to_string());
    assert_eq!((reply.status, &reply.json()["total"]), (200, &json!(1)));
    // Letters of a text are no values.
    let text = format!("{} {}", words(1, 60), "[{,".repeat(100_000));
    let two = json!({"documents": [{"id": "a", "text": text}, {"id": "b", "text": words(1, 60)}]});
    assert_eq!(routes.post("/v1/pairs", &two.to_string()).status, 200);
}

#[test]
fn an_unknown_field_of_a_long_body_is_refused_before_its_values_are_parsed() {
    let (_dir, routes) = indexed();
    let values = vec![json!({"": 0}); 50_000];
    for (path, body, place) in [
        ("/v1/search", json!({"text": "a", "limt": values}), "limt"),
        ("/v1/report", json!({"search": {"text": "a", "limt": values}}), "search.limt"),
    ] {
        let reply = routes.post(path, &body.to_string());
        assert_eq!(reply.status, 400);
        let message = format!("`{place}`: unknown field `limt` (did you mean `limit`?), expected");
        assert!(reply.body.contains(&message), "{}", reply.body);
    }
}

#[test]
fn excerpts_of_a_shard_are_taken_of_the_memory() {
    // Once a request of 3 kB had a gigabyte of excerpts.
    let dir = Dir::new();
    let text = words(1, 20_000);
    fill(&dir.path("idx"), &line("long", &text, json!({})));
    let routes = Routes::with(&dir, |settings| settings.memory_bytes = MEMORY);
    let search = json!({"text": words(1, 60), "goal": "trace"});
    let counted = routes.post("/v1/shard/frequencies", &json!({"search": search}).to_string());
    let commit = counted.json()["commits"][0].clone();
    let spans = |winners: Vec<Value>| {
        let winners = json!({
            "commit": commit, "documents": 1, "winners": winners, "sample_digest": "0",
        });
        let counted = json!({"search": search, "sample": true});
        let sample = routes.post("/v1/shard/frequencies", &counted.to_string()).json();
        let mut winners = winners;
        winners["sample_digest"] = sample["sample"]["digest"].clone();
        winners["sample"] = sample["sample"].clone();
        let request = json!({"search": search, "winners": winners});
        routes.post("/v1/shard/spans", &request.to_string())
    };
    let winner = |excerpts: usize| {
        let whole = [0, text.len()];
        json!({"id": "long", "overlap": 1, "fingerprints": 1, "excerpts": vec![whole; excerpts]})
    };
    let two = spans(vec![winner(2)]);
    assert_eq!(two.status, 200, "{}", two.body);
    assert_eq!(two.json()["hits"][0]["facts"]["excerpts"][1]["text"], json!(text));
    for many in [vec![winner(200)], vec![winner(2); 100]] {
        let reply = spans(many);
        assert_eq!((reply.status, reply.code()), (413, "too_large".into()), "{}", reply.body);
        assert!(reply.body.contains("bytes of excerpts"), "{}", reply.body);
    }
    let reply = spans(vec![json!({"id": "long", "overlap": 1, "fingerprints": 1}); 10_001]);
    assert_eq!((reply.status, reply.code()), (413, "too_large".into()), "{}", reply.body);
}

#[test]
fn a_page_of_events_ends_before_its_meta_objects_take_too_much_memory() {
    // A request once took 3 GB.
    let dir = created();
    let routes = Routes::of(&dir);
    let watch = json!({"name": "w", "text": words(1, 60)});
    assert_eq!(routes.post("/v1/watches", &watch.to_string()).status, 200);
    let added = routes.ask("POST", "/v1/documents?commit=wait", LINES, &lines());
    assert_eq!(added.status, 200, "{}", added.body);
    let (mut after, mut seen, mut pages) = (0, 0, 0);
    loop {
        let path = format!("/v1/watches/w/events?limit=1000&wait=30&after={after}");
        let page = routes.ask("GET", &path, "", "").json();
        let events = page["events"].as_array().unwrap().len();
        assert!((1..=3).contains(&events), "{events}");
        (seen, pages) = (seen + events, pages + 1);
        after = page["next"].as_u64().unwrap();
        if page["more"] == json!(false) {
            break;
        }
    }
    assert_eq!(seen, DOCUMENTS as usize);
    assert!(pages > 3);
}
