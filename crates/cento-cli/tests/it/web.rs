//! `cento web`, against a search engine and a web of the test's own on loopback; crates/cento-web
//! has tests of the search itself.

use serde_json::{Value, json};

use crate::common::host::{Host, send};
use crate::common::run::{Dir, Run};
use crate::common::words;

fn run(dir: &Dir, engine: &str, more: &[&str]) -> Run {
    let engine = format!("searxng={engine}");
    let args = ["web", "essay.txt", "--engine", &engine, "--into", "web.idx", "--interval", "1ms"];
    dir.run(&[&args[..], more].concat())
}

#[test]
fn sources_are_found_on_the_web_and_reported() {
    let dir = Dir::new();
    let copied = words(1, 150);
    let bytes = copied.len();
    dir.write("essay.txt", format!("{} {copied}", words(9, 60)));
    let web = Host::start(move |target, here, stream| {
        let (status, body) = match target {
            "/robots.txt" => ("404 Not Found", String::new()),
            "/copied" => ("200 OK", copied.clone()),
            "/large" => ("200 OK", "word ".repeat(1 << 18)),
            _ => {
                let pages = ["/copied", "/large"];
                let urls = pages.map(|page| json!({"url": format!("{here}{page}")}));
                ("200 OK", json!({"results": urls}).to_string())
            }
        };
        send(stream, status, "", &body);
    });
    let web = &web.at;
    let limits = ["--allow-loopback", "--max-page-bytes", "1MiB", "--format", "json"];
    let ran = run(&dir, web, &limits);
    assert_eq!(ran.status, 0, "{} {}", ran.out, ran.err);
    let report = ran.json();
    let keys: Vec<&str> = report.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = ["added", "asked", "failed", "not_asked", "not_fetched", "unanswered"];
    assert_eq!(keys, expected, "{report}");
    let copied = json!([{"address": format!("{web}/copied"), "votes": 2, "bytes": bytes}]);
    assert_eq!(report["added"], copied, "{report}");
    let why = "it is larger than 1048576 bytes (--max-page-bytes)";
    assert_eq!(report["failed"], json!([{"what": format!("{web}/large"), "why": why}]));
    let found = run(&dir, web, &["--allow-loopback"]);
    assert_eq!(found.status, 0, "{}", found.err);
    assert!(found.out.contains("added     2 votes"), "{}", found.out);
    // Then an ordinary search shows the source.
    let args = ["search", "web.idx", "essay.txt", "--goal", "cover", "--report", "r.json"];
    let search = dir.run(&args);
    assert_eq!(search.status, 0, "{}", search.err);
    let json = std::fs::read_to_string(dir.path("r.json")).unwrap();
    let document = &serde_json::from_str::<Value>(&json).unwrap()["documents"][0];
    assert_eq!(document["sources"][0]["link"], format!("{web}/copied"), "{document}");
}

#[test]
fn a_web_without_sources_and_an_engine_without_answers_differ_in_status() {
    let dir = Dir::new();
    dir.write("essay.txt", words(1, 50));
    let nothing = Host::start(|_, _, stream| send(stream, "200 OK", "", r#"{"results": []}"#));
    let ran = run(&dir, &nothing.at, &[]);
    assert_eq!(ran.status, 1, "{} {}", ran.out, ran.err);
    let refusing = Host::start(|_, _, stream| send(stream, "403 Forbidden", "", ""));
    let ran = run(&dir, &refusing.at, &[]);
    assert_eq!(ran.status, 2, "{} {}", ran.out, ran.err);
    assert!(ran.out.contains("settings.yml"), "{}", ran.out);
    assert!(!dir.path("web.idx").exists());
}

#[test]
fn a_table_of_words_says_which_runs_are_rare() {
    let dir = Dir::new();
    let common = words(1, 40);
    dir.write("corpus/one.txt", &common);
    dir.write("essay.txt", format!("{common} a b c d e f g h i j k l m n o p"));
    let table =
        ["train", "corpus", "--run-length", "1", "--analyzer", "words", "--out", "words.freq"];
    assert_eq!(dir.run(&table).status, 0);
    let engine = Host::start(|_, _, stream| send(stream, "200 OK", "", r#"{"results": []}"#));
    let ran = run(&dir, &engine.at, &["--frequencies", "words.freq", "--format", "json"]);
    assert_eq!(ran.status, 1, "{}", ran.err);
    let query = ran.json()["asked"][0]["query"].as_str().unwrap().to_owned();
    assert!(query.split(' ').all(|word| word.len() == 1), "{query}");
    dir.write("text.txt", &common);
    let ran = run(&dir, &engine.at, &["--frequencies", "text.txt"]);
    assert!(ran.status == 2 && ran.err.contains("text.txt"), "{}", ran.err);
}

#[test]
fn pages_are_added_with_the_key_of_the_index() {
    // The key was ignored: a new index was without a key, and one with a key was refused after all
    // requests.
    let dir = Dir::new();
    let copied = words(1, 150);
    dir.write("essay.txt", &copied);
    dir.write("key", "3e9b0f27c46d815aa2f07c18d95be463\n");
    dir.write("other", "77c1d2a04be95f3862aa10c7e4f8d93b\n");
    #[cfg(unix)]
    for key in ["key", "other"] {
        use std::os::unix::fs::PermissionsExt;
        let private = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(dir.path(key), private).unwrap();
    }
    let web = Host::start(move |target, here, stream| match target {
        "/robots.txt" => send(stream, "404 Not Found", "", ""),
        "/copied" => send(stream, "200 OK", "", &copied),
        _ => {
            let results = json!({"results": [{"url": format!("{here}/copied")}]});
            send(stream, "200 OK", "", &results.to_string());
        }
    });
    for _ in 0..2 {
        let ran = run(&dir, &web.at, &["--allow-loopback", "--key-file", "key"]);
        assert_eq!(ran.status, 0, "{} {}", ran.out, ran.err);
    }
    assert!(dir.json(&["stats", "web.idx"])["key"].is_string());
    let search = ["search", "web.idx", "essay.txt", "--key-file", "key"];
    assert!(dir.run(&search).out.contains("/copied"));
    for (key, said) in [(&[][..], "depend on a key"), (&["--key-file", "other"], "was given has")] {
        let ran = run(&dir, &web.at, &[&["--allow-loopback"], key].concat());
        assert!(ran.status == 2 && ran.err.contains(said), "{}", ran.err);
        assert_eq!(ran.out, "", "no request was made");
    }
}
