//! The real binary: keyed indexes.

use std::fs;

use crate::common::run::Dir;
use crate::common::service::Service;
use crate::common::words;
use serde_json::{Value, json};

const KEY: &str = "3e9b0f27c46d815aa2f07c18d95be463";

/// A directory with two keys and a text.
fn keyed() -> Dir {
    let dir = Dir::new();
    write_key(&dir, "key", KEY);
    write_key(&dir, "other", "77c1d2a04be95f3862aa10c7e4f8d93b");
    dir.write("text.txt", words(1, 60));
    dir
}

fn write_key(dir: &Dir, name: &str, digits: &str) {
    dir.write(name, format!("{digits}\n"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let private = fs::Permissions::from_mode(0o600);
        fs::set_permissions(dir.path(name), private).unwrap();
    }
}

/// Runs a command that must be refused with this message.
#[track_caller]
fn refused(dir: &Dir, args: &[&str], said: &str) {
    let run = dir.run(args);
    assert_eq!(run.status, 2, "{args:?}: {}", run.err);
    assert!(run.err.contains(said), "{args:?}: {}", run.err);
}

#[test]
fn a_keyed_index_has_neither_the_key_nor_the_texts() {
    let dir = keyed();
    let run = dir.run(&["add", "idx", "text.txt", "--key-file", "key"]);
    assert_eq!(run.status, 0, "{}", run.err);
    assert_eq!(dir.run(&["create", "with", "--key-file", "key", "--store-text"]).status, 0);
    let stats = dir.json(&["stats", "idx"]);
    let value = stats["key"].as_str().unwrap();
    assert_eq!(value.len(), 16);
    assert_eq!(dir.json(&["stats", "with"])["key"], *value);
    assert!(dir.run(&["stats", "idx"]).out.contains(value));
    let secret: Vec<u8> =
        (0..16).map(|at| u8::from_str_radix(&KEY[2 * at..][..2], 16).unwrap()).collect();
    let word = words(1, 60).split(' ').next().unwrap().to_owned();
    for file in fs::read_dir(dir.path("idx")).unwrap() {
        let path = file.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        let has = |part: &[u8]| bytes.windows(part.len()).any(|other| other == part);
        assert!(!has(&secret) && !has(KEY.as_bytes()) && !has(word.as_bytes()), "{path:?}");
    }
    let texts = |index: &str| {
        dir.run(&["add", index, "text.txt", "--key-file", "key"]);
        let run = dir.run(&["export", index, "--key-file", "key"]);
        run.out.contains(&words(1, 60))
    };
    assert_eq!([texts("idx"), texts("with")], [false, true]);
}

#[test]
fn verbs_that_sign_need_the_key() {
    let dir = keyed();
    dir.json(&["add", "idx", "text.txt", "--key-file", "key"]);
    dir.write("next.jsonl", json!({"id": "n", "text": words(1, 60)}).to_string());
    for args in [
        &["search", "idx", "text.txt"][..],
        &["add", "idx", "next.jsonl"],
        &["method", "fingerprint", "text.txt", "--like", "idx"],
        &["dedup", "next.jsonl", "--against", "idx"],
        &["pairs", "idx", "-b", "text.txt"],
    ] {
        refused(&dir, args, "depend on a key");
        refused(&dir, args, "--key-file names the file with the key");
        refused(&dir, &[args, &["--key-file", "other"]].concat(), "the key that was given has");
        let run = dir.run(&[args, &["--key-file", "key"]].concat());
        assert!(run.status < 2, "{args:?}: {}", run.err);
    }
    let found = dir.json(&["search", "idx", "text.txt", "--key-file", "key"]);
    let ids: Vec<&Value> = found["hits"].as_array().unwrap().iter().map(|hit| &hit["id"]).collect();
    assert_eq!(ids, ["n", "text.txt"]);
    // What compares stored signatures does not.
    for args in [&["pairs", "idx"][..], &["list", "idx"], &["stats", "idx"], &["check", "idx"]] {
        let run = dir.run(args);
        assert!(run.status < 2, "{args:?}: {}", run.err);
    }
    dir.json(&["add", "plain", "text.txt"]);
    refused(&dir, &["search", "plain", "text.txt", "--key-file", "key"], "depend on no key");
    refused(&dir, &["pairs", "idx", "--against", "plain"], "cannot be compared");
    refused(&dir, &["merge", "plain", "idx"], "cannot be compared");
}

#[test]
fn a_key_that_is_no_secret_is_refused() {
    let dir = keyed();
    write_key(&dir, "phrase", "a phrase that is not hexadecimal");
    refused(&dir, &["create", "idx", "--key-file", "phrase"], "32 hexadecimal digits");
    refused(&dir, &["create", "idx", "--key-file", "missing"], "missing");
    let table = ["create", "idx", "--key-file", "key", "--scheme", "spotsigs"];
    refused(&dir, &table, "recognizes words");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(dir.path("key"), fs::Permissions::from_mode(0o644)).unwrap();
        refused(&dir, &["create", "idx", "--key-file", "key"], "chmod 600");
    }
    assert!(!dir.path("idx").exists());
}

#[test]
fn a_service_without_the_key_searches_for_signatures() {
    let dir = keyed();
    dir.json(&["add", "idx", "text.txt", "--key-file", "key"]);
    let signature = |key: &str| {
        let run =
            dir.run(&["method", "fingerprint", "text.txt", "--key-file", key, "--format", "json"]);
        serde_json::from_str::<Value>(&run.out).unwrap()
    };
    let search = |service: &Service, body: Value| {
        let reply = service.post("/v1/search", &body.to_string());
        let (status, body) = (reply.status, serde_json::from_str::<Value>(&reply.body).unwrap());
        let code = body["error"]["code"].as_str().map(str::to_owned);
        (status, code, body["hits"][0]["id"].clone())
    };
    let own = || json!({"signature": signature("key")});
    let service = Service::start(&dir, &[]);
    assert_eq!(search(&service, own()), (200, None, json!("text.txt")));
    let (status, code, _) = search(&service, json!({"text": words(1, 60)}));
    assert_eq!((status, code.as_deref()), (400, Some("needs_key")));
    assert_eq!(search(&service, json!({"signature": signature("other")})).0, 400);
    assert!(service.stop());
    let service = Service::start(&dir, &["--key-file", "key"]);
    assert_eq!(search(&service, own()).2, "text.txt");
    assert_eq!(search(&service, json!({"text": words(1, 60)})).2, "text.txt");
    dir.write("next.jsonl", json!({"id": "n", "text": words(1, 60)}).to_string());
    for count in ["added", "unchanged"] {
        let args = ["add", "--url", &service.url, "next.jsonl", "--format", "json"];
        assert_eq!(dir.run(&args).json()[count], 1);
    }
    assert!(service.stop());
    refused(&dir, &["serve", "idx", "--key-file", "other"], "the key that was given has");
}

#[test]
fn watches_of_a_keyed_index_need_the_key_and_match_with_it() {
    // The index of the watches was not unlocked: `--key-file` was ignored.
    for texts in [None, Some("--store-text")] {
        let dir = keyed();
        let create = ["create", "idx", "--key-file", "key"];
        let run = dir.run(&[&create[..], texts.as_slice()].concat());
        assert_eq!(run.status, 0, "{}", run.err);
        let add = ["watch", "add", "idx", "text.txt"];
        refused(&dir, &add, "--key-file names the file with the key");
        refused(&dir, &[&add[..], &["--key-file", "other"]].concat(), "the key that was given has");
        let keyed = |args: &[&str]| {
            let run = dir.run(&[args, &["--key-file", "key"]].concat());
            assert_eq!(run.status, 0, "{args:?}: {}", run.err);
            run.out
        };
        keyed(&add);
        // Repeated and further watches open the store of watches again.
        keyed(&add);
        keyed(&["watch", "add", "idx", "--text", &words(2, 40), "--name", "second"]);
        assert_eq!(dir.run(&["watch", "list", "idx"]).status, 0);
        let listed = dir.run(&["watch", "list", "idx", "--format", "json"]);
        assert_eq!((listed.status, listed.out.contains("\"text\":")), (0, false));
        let copy = format!("{} {}", words(1, 60), words(3, 40));
        dir.write("next.jsonl", json!({"id": "n", "text": copy}).to_string());
        keyed(&["add", "idx", "next.jsonl"]);
        let events = keyed(&["watch", "events", "idx", "--format", "json"]);
        let event: Value = serde_json::from_str(&events).unwrap();
        assert_eq!((&event["watch"], &event["hit"]["id"]), (&json!("text.txt"), &json!("n")));
        assert_eq!(event["hit"]["containment_of_a"], 1.0, "{event}");
        // A service has the key too.
        let service = Service::start(&dir, &["--key-file", "key"]);
        let watch = json!({"name": "third", "text": words(5, 40)}).to_string();
        assert_eq!(service.post("/v1/watches", &watch).status, 200);
        let text = format!("{} {}", words(6, 20), words(5, 40));
        let third = json!({"id": "third", "text": text}).to_string();
        assert_eq!(service.post("/v1/documents?commit=wait", &third).status, 200);
        // Matching follows the answer to a commit, so the request waits for the event.
        let events = service.ask("GET", "/v1/watches/third/events?wait=20", "", "").json();
        assert_eq!(events["events"][0]["hit"]["id"], "third", "{events}");
        assert!(service.stop());
    }
}

#[test]
fn a_verb_takes_the_key_if_it_opens_an_index() {
    let verbs = Dir::new().all_verbs();
    let has = |name: &str| {
        let (_, help) = verbs.iter().find(|(verb, _)| verb == name).unwrap();
        help.contains("--key-file <FILE>")
    };
    for verb in ["add", "search", "pairs", "dedup", "stats", "watch add", "method fingerprint"] {
        assert!(has(verb), "{verb}");
    }
    for verb in ["compare", "decontaminate", "demo", "merge", "info man", "method train"] {
        assert!(!has(verb), "{verb}");
    }
}

#[test]
fn pairs_against_a_keyed_index_and_withdrawals_from_it_take_the_key() {
    // Regression: both verbs opened the index without the given key.
    let dir = keyed();
    let create = ["create", "idx", "--key-file", "key", "--store-text"];
    assert_eq!(dir.run(&create).status, 0);
    dir.json(&["add", "idx", "text.txt", "--key-file", "key"]);
    dir.write("new/copy.txt", words(1, 60));
    dir.write("new/quoting.txt", format!("{} {}", words(1, 30), words(2, 90)));
    let pairs = ["pairs", "new", "--against", "idx", "--add"];
    refused(&dir, &pairs, "depend on a key");
    let key = ["--key-file", "key"];
    let run = dir.run(&[&pairs[..], &key].concat());
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(run.out.contains("text.txt") && run.out.contains("quoting.txt"), "{}", run.out);
    let withdraw = ["withdraw", "idx", "text.txt", "--record", "record.json"];
    refused(&dir, &withdraw, "depend on a key");
    let run = dir.run(&[&withdraw[..], &key].concat());
    assert_eq!(run.status, 3, "{}", run.err);
    assert!(run.out.contains("quotes   new/quoting.txt"), "{}", run.out);
    let listed = dir.run(&["list", "idx", "--key-file", "key"]).out;
    assert!(listed.contains("quoting.txt") && !listed.contains("copy.txt"), "{listed}");
    let check = ["withdraw", "idx", "--check", "record.json", "--key-file", "key"];
    let run = dir.run(&check);
    assert_eq!(run.status, 3, "{}", run.err);
    let again = dir.run(&["add", "idx", "text.txt", "--key-file", "key"]);
    assert!(again.status == 2 && again.err.contains("which was withdrawn"), "{}", again.err);
    assert_eq!(dir.run(&["withdraw", "idx", "--list"]).status, 0);
}
