//! The program, as users meet it. `sources` tests the search itself.

use std::process::{Command, Stdio};

use cento::Key;
use cento::index::{Index, Training};
use cento::search::{Goal, Query, Searcher};
use cento_source::SourceOptions;
use cento_testing::host::{Host, send};
use cento_testing::{Dir, words};
use serde_json::{Value, json};

pub struct Run {
    pub status: i32,
    pub out: String,
    pub err: String,
}

impl Run {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {} {}", self.out, self.err))
    }
}

pub fn command(dir: &Dir, engine: &str, more: &[&str]) -> Command {
    let engine = format!("searxng={engine}");
    let args = ["essay.txt", "--engine", &engine, "--into", "web.idx", "--interval", "1ms"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_cento-web"));
    command.current_dir(dir.path(".")).args(args).args(more).stdin(Stdio::null());
    command
}

pub fn ran(command: &mut Command) -> Run {
    let output = command.output().unwrap();
    Run {
        status: output.status.code().expect("it ends by itself"),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn run(dir: &Dir, engine: &str, more: &[&str]) -> Run {
    ran(&mut command(dir, engine, more))
}

/// The ids of the documents in the index that share text with `text`.
fn hits(dir: &Dir, key: Option<&Key>, text: &str) -> Vec<String> {
    let index = Index::open_for_search(dir.path("web.idx")).unwrap();
    key.map_or(Ok(()), |key| index.unlock(key)).unwrap();
    let searcher = Searcher::new(index.snapshot().unwrap());
    let answer = searcher.search(&Query::text(text).goal(Goal::Trace)).unwrap();
    answer.hits.iter().map(|hit| hit.id.clone()).collect()
}

#[test]
fn sources_are_found_on_the_web_and_reported() {
    let dir = Dir::new();
    let copied = words(1, 150);
    let bytes = copied.len();
    let essay = format!("{} {copied}", words(9, 60));
    dir.write("essay.txt", &essay);
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
    // Then an ordinary search shows the source, and a report its link.
    let address = format!("{web}/copied");
    assert_eq!(hits(&dir, None, &essay), [address.as_str()]);
    assert_eq!(cento_report::link(&address), Some(&*address));
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
    let training = Training { analyzer: "words".parse().unwrap(), q: 1, spex: false };
    let (corpus, table) = ([dir.path("corpus")], dir.path("words.freq"));
    let options = SourceOptions::default();
    cento_source::train(&corpus, &options, &training, &table, &mut |_| {}).unwrap();
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
    // The key was ignored: a new index was created without a key, and an index with a key was
    // refused after all requests.
    let dir = Dir::new();
    let copied = words(1, 150);
    let essay = copied.clone();
    dir.write("essay.txt", &essay);
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
    let key = Key::read(dir.path("key")).unwrap();
    assert!(hits(&dir, Some(&key), &essay)[0].ends_with("/copied"));
    for (key, said) in [(&[][..], "depend on a key"), (&["--key-file", "other"], "was given has")] {
        let ran = run(&dir, &web.at, &[&["--allow-loopback"], key].concat());
        assert!(ran.status == 2 && ran.err.contains(said), "{}", ran.err);
        assert_eq!(ran.out, "", "no request was made");
    }
}
