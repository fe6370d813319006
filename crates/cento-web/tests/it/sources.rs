//! Sources of a text, with the test's own search engine and web on loopback.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use cento::index::{Config, Document, Index, WriterOptions};
use cento::search::{Goal, Query, Searcher};
use cento_source::SourceOptions;
use cento_testing::host::{Host, send};
use cento_testing::words;
use cento_web::{Collection, WebOptions, WebReport, add_sources, queries};
use serde_json::{Value, json};
use tempfile::TempDir;

fn html(stream: &mut TcpStream, text: &str) {
    let body =
        format!("<html><title>t</title><body><article><p>{text}</p></article></body></html>");
    send(stream, "200 OK", "Content-Type: text/html; charset=utf-8\r\n", &body);
}

/// The names of the pages of the web below, in the order of the search engine.
const PAGES: [&str; 9] = [
    "/copied",
    "/reworded-once",
    "/dead",
    "/endless",
    "/silent",
    "/secret/page",
    "/to-private",
    "/around",
    "/blank",
];

/// A search engine and a web in one, which contains the texts `copied` and `reworded`.
fn web(copied: String, reworded: String) -> Host {
    Host::start(move |target, here, stream| match target {
        "/robots.txt" => send(stream, "200 OK", "", "User-agent: *\nDisallow: /secret\n"),
        "/copied" => html(stream, &copied),
        "/reworded-once" => send(stream, "302 Found", "Location: found/../reworded\r\n", ""),
        "/reworded" => html(stream, &reworded),
        "/dead" => send(stream, "404 Not Found", "", "no"),
        "/around" => send(stream, "302 Found", "Location: /around\r\n", ""),
        "/to-private" => send(stream, "302 Found", "Location: http://10.1.2.3/\r\n", ""),
        "/blank" => {
            send(stream, "200 OK", "Content-Type: text/html\r\n", "<html><body> </body></html>")
        }
        "/endless" => {
            let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n");
            while stream.write_all(&[b'a'; 4096]).is_ok() {}
        }
        "/silent" => {
            let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n");
            // Until the client has gone.
            let _ = stream.read(&mut [0]);
        }
        _ if target.starts_with("/search?") => {
            let pages = PAGES.map(|page| json!({"url": format!("{here}{page}")}));
            let others =
                [json!({"url": "file:///etc/passwd"}), json!({"url": format!("{here}/copied")})];
            let results: Vec<Value> = pages.into_iter().chain(others).collect();
            send(stream, "200 OK", "", &json!({"query": "", "results": results}).to_string());
        }
        _ => send(stream, "404 Not Found", "", ""),
    })
}

fn options(engine: &Host) -> WebOptions {
    WebOptions {
        engine: format!("searxng={}", engine.at).parse().unwrap(),
        queries: 50,
        pages: 20,
        max_page_bytes: 1 << 20,
        timeout: Duration::from_secs(3),
        interval: Duration::from_millis(1),
        allow_loopback: false,
        source: SourceOptions::default(),
        key: None,
    }
}

/// Adds sources of a text to an index in this directory.
fn run(dir: &TempDir, text: &str, options: &WebOptions) -> WebReport {
    let queries = queries(text, 100, 8, None).unwrap();
    add_sources(queries, &dir.path().join("web.idx"), options).unwrap()
}

#[test]
fn sources_are_found_on_the_web() {
    let dir = TempDir::new().unwrap();
    let (copied, original) = (words(1, 150), words(2, 150));
    let reworded: Vec<String> = original
        .split(' ')
        .enumerate()
        .map(|(at, word)| if at % 12 == 0 { format!("other{at}") } else { word.to_owned() })
        .collect();
    let essay = format!("{} {copied} {original}", words(9, 60));
    let web = web(copied, reworded.join(" "));
    let report = run(&dir, &essay, &WebOptions { allow_loopback: true, ..options(&web) });
    let at = |page: &str| format!("{}{page}", web.at);
    // 360 words are three windows and a short remainder, with a query each.
    assert_eq!(report.asked.len(), 4, "{report:?}");
    assert_eq!(report.asked[0].addresses, 10);
    assert_eq!(report.asked[0].query.split(' ').count(), 8);
    // A redirect counts as its target. A page that occurs twice in an answer gets a single vote.
    let added: Vec<_> =
        report.added.iter().map(|page| (page.address.clone(), page.votes)).collect();
    assert_eq!(added, [(at("/copied"), 4), (at("/reworded"), 4)]);
    for (page, expected) in [
        (at("/dead"), "status 404"),
        (at("/endless"), "larger than 1048576 bytes (--max-page-bytes)"),
        (at("/silent"), "longer than 3s (--timeout)"),
        (at("/secret/page"), "robots.txt"),
        (at("/to-private"), "10.1.2.3 is not public"),
        (at("/around"), "redirects more than 5 times"),
        (at("/blank"), "no text"),
        ("file:///etc/passwd".into(), "no plain address"),
    ] {
        let failed = report.failed.iter().find(|failed| failed.what == page);
        let failed = failed.unwrap_or_else(|| panic!("{page}: {report:?}"));
        assert!(failed.why.contains(expected), "{page}: {}", failed.why);
    }
    // The host got a single request for its rules, and no request for the forbidden page.
    let log = web.asked();
    assert_eq!(log.iter().filter(|target| *target == "/robots.txt").count(), 1, "{log:?}");
    assert!(!log.contains(&"/secret/page".to_owned()), "{log:?}");
    // Then an ordinary search shows both sources.
    let index = Index::open_for_search(dir.path().join("web.idx")).unwrap();
    let searcher = Searcher::new(index.snapshot().unwrap());
    let answer = searcher.search(&Query::text(&essay).goal(Goal::Trace)).unwrap();
    let mut ids: Vec<&str> = answer.hits.iter().map(|hit| hit.id.as_str()).collect();
    ids.sort_unstable();
    assert_eq!(ids, [at("/copied"), at("/reworded")]);
    let meta = &answer.hits[0].meta;
    assert_eq!(meta["votes"], 4);
    assert!(meta["fetched"].as_str().unwrap().ends_with('Z'));
}

#[test]
fn no_page_is_fetched_from_this_machine_under_any_name() {
    let dir = TempDir::new().unwrap();
    let inside = Host::start(|_, _, stream| html(stream, "inside"));
    let port = inside.at.rsplit(':').next().unwrap().to_owned();
    let names = ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "127.1"];
    let urls = names.map(|name| json!({"url": format!("http://{name}:{port}/")}));
    let answer = json!({"results": urls}).to_string();
    let engine = Host::start(move |_, _, stream| send(stream, "200 OK", "", &answer));
    let report = run(&dir, &words(1, 50), &options(&engine));
    assert_eq!(report.failed.len(), names.len(), "{report:?}");
    assert_eq!(inside.asked(), [""; 0], "{report:?}");
    assert!(report.failed[0].why.contains("127.0.0.1 is not public"), "{report:?}");
    assert!(report.added.is_empty() && !dir.path().join("web.idx").exists());
}

#[test]
fn an_engine_that_fails_three_times_in_a_row_is_left_alone() {
    let dir = TempDir::new().unwrap();
    let engine = Host::start(|_, _, stream| send(stream, "403 Forbidden", "", ""));
    let report = run(&dir, &words(1, 600), &options(&engine));
    assert!(report.unanswered[0].why.contains("settings.yml"), "{report:?}");
    assert_eq!((report.unanswered.len(), report.not_asked), (3, 3));
    assert_eq!(engine.asked().len(), 3);
    assert!(!dir.path().join("web.idx").exists());
}

#[test]
fn an_index_that_cannot_be_opened_is_refused_before_any_request() {
    let dir = TempDir::new().unwrap();
    let into = dir.path().join("web.idx");
    Index::create(&into, Config::new("kgram(k=3)", "words", true).unwrap()).unwrap();
    std::fs::write(into.join("meta.json"), "{}").unwrap();
    let engine = Host::start(|_, _, _| panic!("no request is expected"));
    let queries = queries(&words(1, 50), 100, 8, None).unwrap();
    assert!(add_sources(queries, &into, &options(&engine)).is_err());
    assert_eq!(engine.asked(), [""; 0]);
}

#[test]
fn runs_of_words_that_an_index_does_not_have_are_asked() {
    let dir = TempDir::new().unwrap();
    let (common, own) = (words(1, 40), "a b c d e f g h i j k l m n o p");
    let path = dir.path().join("own.idx");
    let index = Index::create(&path, Config::new("kgram(k=3)", "words", true).unwrap()).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    writer.add(Document::new("one", &common)).unwrap();
    writer.finish().unwrap();
    let essay = format!("{common} {own}");
    let query = |frequencies: Option<&Path>| {
        let frequencies = frequencies.map(|path| Collection::open(path, None).unwrap());
        queries(&essay, 100, 8, frequencies.as_ref()).unwrap().remove(0)
    };
    assert!(common.contains(&query(None)), "long words");
    let rare = query(Some(&path));
    assert!(!common.contains(&rare) && rare.ends_with('f'), "{rare}");
}
