//! `cento web`, against a search engine and a web of the test's own on loopback.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::common::run::{Dir, Run};
use crate::common::words;

/// The targets of requests.
type Log = Arc<Mutex<Vec<String>>>;

/// A host that answers each request by its target.
struct Host {
    at: String,
    log: Log,
}

impl Host {
    /// Serves until the process ends. `answer` writes the answer to a request for a target.
    fn start(answer: impl Fn(&str, &str, &mut TcpStream) + Send + Sync + 'static) -> Host {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = format!("http://{}", listener.local_addr().unwrap());
        let (log, answer): (Log, _) = (Log::default(), Arc::new(answer));
        let (own, here) = (log.clone(), at.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (log, answer, here) = (own.clone(), answer.clone(), here.clone());
                std::thread::spawn(move || serve(stream.unwrap(), &log, &here, &*answer));
            }
        });
        Host { at, log }
    }

    /// The targets of all requests so far.
    fn asked(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }
}

fn serve(
    mut stream: TcpStream,
    log: &Log,
    here: &str,
    answer: &dyn Fn(&str, &str, &mut TcpStream),
) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let Some(Ok(first)) = lines.next() else { return };
    // To the empty line.
    let _ = lines.find(|line| line.as_ref().is_ok_and(String::is_empty));
    let target = first.split(' ').nth(1).unwrap().to_owned();
    log.lock().unwrap().push(target.clone());
    answer(&target, here, &mut stream);
}

fn send(stream: &mut TcpStream, status: &str, headers: &str, body: &str) {
    let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\n{headers}");
    // The client may have gone.
    let _ = write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len());
}

fn html(stream: &mut TcpStream, text: &str) {
    let body =
        format!("<html><title>t</title><body><article><p>{text}</p></article></body></html>");
    send(stream, "200 OK", "Content-Type: text/html; charset=utf-8\r\n", &body);
}

/// The names of the pages of the web below, as the search engine gives them.
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

/// A search engine and a web in one: `copied` and `reworded` are texts of it.
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

fn run(dir: &Dir, engine: &str, more: &[&str]) -> Run {
    let engine = format!("searxng={engine}");
    let args = ["web", "essay.txt", "--engine", &engine, "--into", "web.idx", "--interval", "1ms"];
    let limits = ["--format", "json", "--timeout", "3s", "--max-page-bytes", "1MiB"];
    dir.run(&[&args[..], &limits, more].concat())
}

#[test]
fn sources_are_found_on_the_web_and_reported() {
    let dir = Dir::new();
    let (copied, original) = (words(1, 150), words(2, 150));
    let reworded: Vec<String> = original
        .split(' ')
        .enumerate()
        .map(|(at, word)| if at % 12 == 0 { format!("other{at}") } else { word.to_owned() })
        .collect();
    dir.write("essay.txt", format!("{} {copied} {original}", words(9, 60)));
    let web = web(copied, reworded.join(" "));
    let ran = run(&dir, &web.at, &["--allow-loopback"]);
    assert_eq!(ran.status, 0, "{} {}", ran.out, ran.err);
    let report = ran.json();
    let at = |page: &str| format!("{}{page}", web.at);
    // 360 words are three windows and a short rest, and each of them one query.
    let asked = report["asked"].as_array().unwrap();
    assert_eq!((asked.len(), &asked[0]["addresses"]), (4, &json!(10)), "{report}");
    assert_eq!(asked[0]["query"].as_str().unwrap().split(' ').count(), 8);
    // What redirects is named as where it leads; a page that an answer names twice has one vote of
    // it.
    let added: Vec<_> = report["added"]
        .as_array()
        .unwrap()
        .iter()
        .map(|page| (page["address"].as_str().unwrap().to_owned(), page["votes"].as_u64().unwrap()))
        .collect();
    assert_eq!(added, [(at("/copied"), 4), (at("/reworded"), 4)]);
    let why = |page: &str| {
        let failed = report["failed"].as_array().unwrap().iter();
        let found = failed.clone().find(|failed| failed["what"] == page);
        found.unwrap_or_else(|| panic!("{page}: {report}"))["why"].as_str().unwrap().to_owned()
    };
    for (page, expected) in [
        (at("/dead"), "status 404"),
        (at("/endless"), "larger than 1048576 bytes"),
        (at("/silent"), "longer than 3s"),
        (at("/secret/page"), "robots.txt"),
        (at("/to-private"), "10.1.2.3 is not public"),
        (at("/around"), "redirects more than 5 times"),
        (at("/blank"), "no text"),
        ("file:///etc/passwd".into(), "no plain address"),
    ] {
        assert!(why(&page).contains(expected), "{page}: {}", why(&page));
    }
    // The host got one request for its rules, and none for the page that they forbid.
    let log = web.asked();
    assert_eq!(log.iter().filter(|target| *target == "/robots.txt").count(), 1, "{log:?}");
    assert!(!log.contains(&"/secret/page".to_owned()), "{log:?}");
    // Then an ordinary search shows both sources.
    let search = dir.run(&[
        "search",
        "web.idx",
        "essay.txt",
        "--goal",
        "cover",
        "--report",
        "r.json",
        "--report",
        "r.html",
    ]);
    assert_eq!(search.status, 0, "{}", search.err);
    let json = std::fs::read_to_string(dir.path("r.json")).unwrap();
    let document = &serde_json::from_str::<Value>(&json).unwrap()["documents"][0];
    let sources = document["sources"].as_array().unwrap();
    let mut links: Vec<_> = sources.iter().map(|source| source["link"].as_str().unwrap()).collect();
    links.sort_unstable();
    assert_eq!(links, [at("/copied"), at("/reworded")]);
    assert!(document["reused"].as_f64().unwrap() > 0.7, "{document}");
    assert_eq!(sources[0]["meta"]["votes"], 4);
    assert!(sources[0]["meta"]["fetched"].as_str().unwrap().ends_with('Z'));
    let html = std::fs::read_to_string(dir.path("r.html")).unwrap();
    assert!(html.contains(&format!("href=\"{}\"", at("/copied"))));
}

#[test]
fn no_page_is_fetched_from_this_machine_under_any_name() {
    let dir = Dir::new();
    dir.write("essay.txt", words(1, 50));
    let inside = Host::start(|_, _, stream| html(stream, "inside"));
    let port = inside.at.rsplit(':').next().unwrap().to_owned();
    let names = ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "127.1"];
    let urls = names.map(|name| json!({"url": format!("http://{name}:{port}/")}));
    let answer = json!({"results": urls}).to_string();
    let engine = Host::start(move |_, _, stream| send(stream, "200 OK", "", &answer));
    let ran = run(&dir, &engine.at, &[]);
    assert_eq!(ran.status, 1, "{} {}", ran.out, ran.err);
    assert_eq!(ran.json()["failed"].as_array().unwrap().len(), names.len(), "{}", ran.out);
    assert_eq!(inside.asked(), [""; 0], "{}", ran.out);
    assert!(ran.out.contains("127.0.0.1 is not public"), "{}", ran.out);
}

#[test]
fn an_engine_that_does_not_answer_is_reported() {
    let dir = Dir::new();
    dir.write("essay.txt", words(1, 600));
    let engine = Host::start(|_, _, stream| send(stream, "403 Forbidden", "", ""));
    let ran = run(&dir, &engine.at, &[]);
    assert_eq!(ran.status, 2, "{} {}", ran.out, ran.err);
    let report = ran.json();
    let unanswered = report["unanswered"].as_array().unwrap();
    assert!(unanswered[0]["why"].as_str().unwrap().contains("settings.yml"), "{report}");
    // After three failures in a row it is left alone.
    assert_eq!((unanswered.len(), &report["not_asked"]), (3, &json!(3)));
    assert_eq!(engine.asked().len(), 3);
    assert!(!dir.path("web.idx").exists());
}

#[test]
fn runs_of_words_that_an_index_does_not_have_are_asked() {
    let dir = Dir::new();
    let (common, own) = (words(1, 40), "a b c d e f g h i j k l m n o p");
    dir.write("corpus/one.txt", &common);
    assert_eq!(dir.run(&["add", "own.idx", "corpus", "--scheme", "kgram(k=3)"]).status, 0);
    dir.write("essay.txt", format!("{common} {own}"));
    let query = |more: &[&str]| {
        let engine = Host::start(|_, _, stream| send(stream, "200 OK", "", r#"{"results": []}"#));
        let ran = run(&dir, &engine.at, more);
        assert_eq!(ran.status, 1, "{}", ran.err);
        ran.json()["asked"][0]["query"].as_str().unwrap().to_owned()
    };
    assert!(common.contains(&query(&[])), "long words");
    let rare = query(&["--frequencies", "own.idx"]);
    assert!(!common.contains(&rare) && rare.ends_with('f'), "{rare}");
    // By a table of words.
    let table =
        ["train", "corpus", "--run-length", "1", "--analyzer", "words", "--out", "words.freq"];
    assert_eq!(dir.run(&table).status, 0);
    let rare = query(&["--frequencies", "words.freq"]);
    assert!(!common.contains(&rare) && rare.split(' ').all(|word| word.len() == 1), "{rare}");
    dir.write("text.txt", &common);
    let engine = Host::start(|_, _, _| panic!("no request is expected"));
    let ran = run(&dir, &engine.at, &["--frequencies", "text.txt"]);
    assert!(ran.status == 2 && ran.err.contains("text.txt"), "{}", ran.err);
}
