//! The real binary: `cento list`, `show` and `export`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::common::run::{Dir, Run, line};
use crate::common::words;

/// The lines of an output, as JSON.
fn lines(run: &Run) -> Vec<Value> {
    run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Documents in several segments; one is removed and one replaced.
fn index() -> Dir {
    let dir = Dir::new();
    for (id, seed) in [("a", 1), ("b", 2), ("c", 3), ("b", 4)] {
        let lang = if seed % 2 == 0 { "de" } else { "en" };
        dir.write("one.jsonl", line(id, &words(seed, 60), json!({"lang": lang})));
        dir.json(&["add", "idx", "one.jsonl"]);
    }
    dir.json(&["remove", "idx", "c"]);
    dir.write("in/d.txt", words(5, 60));
    dir.json(&["add", "idx", "in"]);
    dir
}

/// The documents of an index by their ids, without the time when they were added.
fn exported(dir: &Dir, index: &str) -> BTreeMap<String, Value> {
    let documents = lines(&dir.run(&["export", index])).into_iter().map(|mut document| {
        assert!(document["added"].as_str().unwrap().ends_with('Z'), "{document}");
        document.as_object_mut().unwrap().remove("added");
        (document["id"].as_str().unwrap().to_owned(), document)
    });
    documents.collect()
}

#[test]
fn an_export_is_added_to_an_equal_index() {
    let dir = index();
    let before = exported(&dir, "idx");
    assert_eq!(before.keys().collect::<Vec<_>>(), ["a", "b", "in/d.txt"]);
    assert_eq!(before["b"]["text"], words(4, 60));
    assert!(before["in/d.txt"]["id_place"].is_u64());
    dir.write("all.jsonl", dir.run(&["export", "idx"]).out);
    assert_eq!(dir.json(&["add", "new", "all.jsonl"])["added"], 3);
    assert_eq!(exported(&dir, "new"), before);
    // The file that it was made of is known again.
    assert_eq!(dir.json(&["add", "new", "in"])["unchanged"], 1);
    let some = lines(&dir.run(&["export", "idx", "--filter", "meta.lang:de"]));
    assert_eq!((some.len(), &some[0]["id"]), (1, &json!("b")));
    let run = dir.run(&["export", "idx", "--filter", "meta.lang:fr"]);
    assert_eq!((run.status, run.out.as_str()), (1, ""));
    dir.json(&["add", "--no-text", "bare", "all.jsonl"]);
    let run = dir.run(&["export", "bare"]);
    assert!(run.status == 2 && run.err.contains("stores no texts"), "{}", run.err);
}

#[test]
fn documents_are_listed_and_shown() {
    let dir = index();
    let listed = lines(&dir.run(&["list", "idx", "--format", "json"]));
    assert_eq!(listed.len(), 3);
    let a = listed.iter().find(|listed| listed["id"] == "a").unwrap();
    assert_eq!((&a["tokens"], &a["meta"]), (&json!(60), &json!({"lang": "en"})));
    assert_eq!(a["bytes"], words(1, 60).len());
    let run = dir.run(&["list", "idx"]);
    assert_eq!((run.status, run.out.lines().count()), (0, 3), "{}", run.err);
    assert!(run.out.lines().any(|line| line.ends_with("Z  a")), "{}", run.out);
    assert_eq!(dir.run(&["list", "idx", "--filter", "id:a OR id:b"]).out.lines().count(), 2);
    let run = dir.run(&["list", "idx", "--filter", "(("]);
    assert!(run.status == 2 && run.err.contains("(("), "{}", run.err);

    let shown = dir.json(&["show", "idx", "b"]);
    assert_eq!(shown["text"], words(4, 60));
    dir.write("b.txt", words(4, 60));
    let made = dir.json(&["fingerprint", "b.txt"]);
    let keys = |list: &Value, key: &str| -> Vec<u64> {
        list.as_array().unwrap().iter().map(|found| found[key].as_u64().unwrap()).collect()
    };
    let shown = keys(&shown["fingerprints"], "fingerprint");
    assert!(!shown.is_empty() && made.to_string().contains(&shown[0].to_string()), "{made}");
    let run = dir.run(&["show", "idx", "b"]);
    assert!(run.out.contains(&words(4, 60)), "{}", run.out);
    let run = dir.run(&["show", "idx", "c"]);
    assert!(run.status == 2 && run.err.contains("`c`"), "{}", run.err);
}

#[cfg(feature = "serve")]
#[test]
fn pages_of_a_list_have_every_document_that_stays_once() {
    use crate::common::service::Service;
    use cento_client::api::{Commit, CompactRequest, ListRequest};
    let dir = Dir::new();
    let lang = |i: u64| if i.is_multiple_of(3) { "de" } else { "en" };
    let line_of = |i: u64| line(&format!("d{i:03}"), &words(i, 30), json!({"lang": lang(i)}));
    let lines: Vec<String> = (0..60).map(line_of).collect();
    dir.write("a.jsonl", lines.join("\n"));
    assert_eq!(dir.run(&["add", "idx", "a.jsonl", "--commit-every", "7"]).status, 0);
    let service = Service::start(&dir, &[]);
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
        // What changes meanwhile moves nothing that stays.
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
    // With a filter, page by page.
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
    let refused =
        |query: &str| service.ask("GET", &format!("/v1/documents?{query}"), "", "").status;
    assert_eq!([refused("limit=0"), refused("limit=1001"), refused("limits=1")], [400, 400, 400]);
    assert_eq!((refused("filter=%28"), refused("cursor=zzz")), (400, 200));
}
