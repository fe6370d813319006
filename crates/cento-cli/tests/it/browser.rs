//! The web page, in a real browser: chromium, driven through chromedriver.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::run::{Dir, indexed};
use crate::common::service::Service;
use crate::common::{words, zip};
use serde_json::{Value, json};

/// The key of an element's id in WebDriver.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// What to do where the programs are missing.
const INSTALL: &str = "install chromium and chromedriver (on Debian: apt-get install chromium \
                       chromium-driver); CHROMEDRIVER names a chromedriver that is not in PATH";

/// Returns the path of chromium, if `PATH` has it.
fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
    let names = names.map(|name| format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let directories: Vec<_> = std::env::split_paths(&path).collect();
    let programs =
        names.iter().flat_map(|name| directories.iter().map(move |directory| directory.join(name)));
    programs.into_iter().find(|program| program.is_file())
}

/// A browser with a single window.
pub struct Browser {
    driver: Child,
    session: String,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts a browser.
    ///
    /// # Panics
    /// Where chromedriver or chromium is missing. Tests with a browser are therefore ignored by
    /// default.
    pub fn start() -> Browser {
        let program = std::env::var_os("CHROMEDRIVER").unwrap_or_else(|| "chromedriver".into());
        let mut driver = Command::new(&program);
        driver.arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped());
        let mut driver = driver.stderr(Stdio::null()).spawn().unwrap_or_else(|error| {
            panic!("{} does not start: {error}; {INSTALL}", program.display());
        });
        let mut told = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = told
            .find_map(|line| {
                let line = line.unwrap();
                let port = line.strip_suffix('.').and_then(|line| line.rsplit(' ').next());
                line.contains("started successfully on port").then(|| port.unwrap().to_owned())
            })
            .expect("chromedriver says where it listens");
        // Drains the unused output, because chromedriver would block on a full pipe.
        std::thread::spawn(move || told.for_each(drop));
        let profile = tempfile::tempdir().unwrap();
        let arguments = [
            "--headless".to_owned(),
            "--no-sandbox".into(),
            "--disable-gpu".into(),
            "--disable-quic".into(),
            "--disable-dev-shm-usage".into(),
            "--no-first-run".into(),
            "--disable-background-networking".into(),
            "--disable-component-update".into(),
            "--disable-sync".into(),
            "--window-size=1280,900".into(),
            format!("--user-data-dir={}", profile.path().display()),
        ];
        let mut options = json!({ "args": arguments });
        // Without this, chromedriver only looks where Chrome's installers put the browser.
        if let Some(chromium) = chromium() {
            options["binary"] = json!(chromium);
        }
        let asked = json!({"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}});
        let session = format!("http://127.0.0.1:{port}/session");
        let answer = answer(&session, &asked);
        let Some(id) = answer["sessionId"].as_str() else {
            panic!("chromedriver starts no browser: {answer}; {INSTALL}");
        };
        Browser { driver, session: format!("{session}/{id}"), _profile: profile }
    }

    pub fn post(&self, path: &str, body: &Value) -> Value {
        post(&format!("{}/{path}", self.session), body)
    }

    pub fn open(&self, url: &str) {
        self.post("url", &json!({ "url": url }));
    }

    /// What a script returns.
    pub fn run(&self, script: &str) -> Value {
        self.post("execute/sync", &json!({"script": script, "args": []}))
    }

    /// Waits until a script returns a value other than null and false, and returns the value.
    pub fn wait_for(&self, script: &str) -> Value {
        let until = Instant::now() + Duration::from_secs(30);
        loop {
            match self.run(script) {
                Value::Null | Value::Bool(false) if Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                found => {
                    assert!(!matches!(found, Value::Null | Value::Bool(false)), "{script}");
                    return found;
                }
            }
        }
    }

    fn element(&self, selector: &str) -> String {
        let found = self.post("element", &json!({"using": "css selector", "value": selector}));
        found[ELEMENT].as_str().unwrap().to_owned()
    }

    /// Types, as a person does; `\u{e009}` and `\u{e007}` are Ctrl and Enter.
    pub fn type_into(&self, selector: &str, keys: &str) {
        let element = self.element(selector);
        self.post(&format!("element/{element}/value"), &json!({ "text": keys }));
    }

    pub fn click(&self, selector: &str) {
        let element = self.element(selector);
        self.post(&format!("element/{element}/click"), &json!({}));
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = ureq::delete(&self.session).call();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Posts JSON, and returns WebDriver's value.
fn post(url: &str, body: &Value) -> Value {
    let value = answer(url, body);
    assert!(value.get("error").is_none(), "{value}");
    value
}

/// Posts JSON, and returns WebDriver's value, which may describe an error.
fn answer(url: &str, body: &Value) -> Value {
    let agent = ureq::Agent::new_with_config(
        ureq::Agent::config_builder().http_status_as_error(false).proxy(None).build(),
    );
    let sent = agent.post(url).content_type("application/json").send(body.to_string());
    let text = sent.unwrap().body_mut().read_to_string().unwrap();
    let answer: Value = serde_json::from_str(&text).unwrap();
    answer["value"].clone()
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_pasted_text_is_searched_for_and_its_passages_are_shown() {
    let browser = Browser::start();
    let dir = indexed();
    let service = Service::start(&dir, &[]);
    browser.open(&service.url);
    browser
        .wait_for("return document.getElementById('stats').textContent.startsWith('3 documents')");
    // With characters of several bytes before the passage.
    let passage = words(1, 80);
    let text = format!("\u{fc}ber \u{4e16}\u{754c} {passage} \u{e9}t\u{e9}");
    browser.type_into("#search-text", &text);
    // With the keyboard alone: Ctrl and Enter.
    browser.type_into("#search-text", "\u{e009}\u{e007}");
    let ids = browser.wait_for(
        "const ids = [...document.querySelectorAll('#search-hits tr.hit')].map(row => row.dataset.id);
         return ids.length > 0 && ids;",
    );
    assert_eq!(ids, json!(["a"]));
    // The page shows the text divided into parts, and the documents that share the first part.
    let marked = "const marks = [...document.querySelectorAll('PLACE mark')];
                  return marks.length > 0 && marks.map(mark => mark.textContent).join('');";
    assert_eq!(browser.wait_for(&marked.replace("PLACE", "#search-traced")), json!(passage));
    let all = "return document.querySelector('PLACE .text').textContent";
    assert_eq!(browser.run(&all.replace("PLACE", "#search-traced")), json!(text));
    let carriers = browser.run(
        "return [...document.querySelectorAll('.span-panel .choose')].map(b => b.textContent)",
    );
    assert_eq!(carriers, json!(["a", "b"]));
    // Choosing a carrier shows both texts.
    browser.click("#search-traced .carriers .choose");
    for side in ["query", "hit"] {
        let place = format!("#side-by-side .side.{side}");
        assert_eq!(browser.wait_for(&marked.replace("PLACE", &place)), json!(passage));
    }
    assert_eq!(browser.run(&all.replace("PLACE", ".side.query")), json!(text));
    // The report of the shown text is saved.
    browser.click("#search-report");
    browser.wait_for(
        "return document.getElementById('search-status').textContent.startsWith('The report has been saved')",
    );
    // With a list of documents, the page shows the first hit, and then the chosen hit.
    browser.click("#search-options summary");
    browser.run("document.getElementById('search-show').value = 'overlap'");
    browser.click("#search-run");
    browser.wait_for("return document.querySelector('#search-traced').hidden");
    browser.wait_for("return document.querySelector('#side-by-side .side.hit') !== null");
    browser.click("#search-hits tr.hit[data-id=a] button");
    let a = words(1, 200);
    browser.wait_for(&format!(
        "return document.querySelector('.side.hit .text')?.textContent === {}",
        json!(a)
    ));
    assert_eq!(browser.run("return document.getElementById('message').textContent"), json!(""));
    // Ranking by passages without short passages adds the number of words to each hit.
    let titles = "const titles = [...document.querySelectorAll('#search-hits th')].map(th => th.textContent);
                  return WANTED && titles;";
    let resemblance = titles.replace("WANTED", "titles.includes('Shared by both')");
    assert!(
        browser
            .wait_for(&resemblance)
            .as_array()
            .unwrap()
            .iter()
            .all(|title| title != "Words in passages")
    );
    browser.run("document.getElementById('search-show').value = 'passages'");
    browser.type_into("#search-min-passage", "60");
    browser.click("#search-run");
    browser.wait_for(&titles.replace("WANTED", "titles.includes('Words in passages')"));
    let long = browser.run(
        "return [...document.querySelectorAll('#search-hits td[data-title=\"Words in passages\"]')]
             .every(cell => Number(cell.textContent) >= 60);",
    );
    assert_eq!(long, json!(true));
    assert_eq!(browser.run("return document.getElementById('message').textContent"), json!(""));
    assert!(service.stop());
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn files_in_an_archive_are_searched_for() {
    let browser = Browser::start();
    let dir = indexed();
    let service = Service::start(&dir, &[]);
    let page = format!("<!doctype html><p>{}</p>", words(1, 80));
    let files = [("a.html", page.as_bytes()), ("b.png", b"\x89PNG\r\n\x1a\n")];
    dir.write("in.zip", zip(&files));
    dir.write("c.md", format!("*{}*", words(3, 60)));
    browser.open(&service.url);
    browser
        .wait_for("return document.getElementById('stats').textContent.startsWith('3 documents')");
    let paths = ["in.zip", "c.md"].map(|name| dir.path(name).display().to_string());
    browser.type_into("#search-files", &paths.join("\n"));
    let names = browser.wait_for(
        "const rows = [...document.querySelectorAll('#search-queries tbody tr')];
         return rows.length > 0 && rows.map(row => row.dataset.id).sort();",
    );
    assert_eq!(names, json!(["c.md", "in.zip/a.html"]));
    let told = browser.run("return document.getElementById('search-status').textContent");
    let told = told.as_str().unwrap();
    assert!(told.contains("1 file was left out: in.zip/b.png: it is an image"), "{told}");
    assert!(service.stop());
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn files_are_compared_and_registered_and_verified() {
    let browser = Browser::start();
    let dir = Dir::new();
    dir.run(&["create", "idx", "--no-text"]);
    let service = Service::start(&dir, &[]);
    let changed =
        format!("{} changed {}", words(1, 60), words(1, 150).split_off(words(1, 61).len() + 1));
    for (name, text) in [("one", changed), ("two", words(1, 120)), ("three", words(2, 90))] {
        dir.write(name, text);
    }
    let paths = ["one", "two", "three"].map(|name| dir.path(name).display().to_string());
    browser.open(&format!("{}/#pairs", service.url));
    browser.wait_for("return document.querySelector('#panel-pairs:not([hidden])') !== null");
    browser.type_into("#pairs-files", &paths.join("\n"));
    browser.click("#pairs-run");
    let pairs = browser.wait_for(
        "const rows = [...document.querySelectorAll('#pairs-pairs tr.pair')];
         return rows.length > 0 && rows.map(row => [row.dataset.a, row.dataset.b]);",
    );
    assert_eq!(pairs, json!([["one", "two"]]));
    browser.wait_for("return document.querySelectorAll('#pairs-graph g.edge').length === 1");
    // Chooses an edge with the keyboard only. Words that differ are underlined.
    let enter = "const edge = document.querySelector('#pairs-graph g.edge');
                 edge.focus();
                 edge.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
                 return document.activeElement === edge;";
    assert_eq!(browser.run(enter), json!(true));
    let underlined = "const side = document.querySelector('#pairs-side-by-side .side.query');
                      return side && [...side.querySelectorAll('mark u')].map(u => u.textContent);";
    assert_eq!(browser.wait_for(underlined), json!(["changed"]));
    // Saves the report of these pairs.
    browser.click("#pairs-anonymous");
    browser.click("#pairs-report");
    browser.wait_for(
        "return document.getElementById('pairs-status').textContent.startsWith('The report has been saved')",
    );
    assert_eq!(browser.run("return document.getElementById('message').textContent"), json!(""));
    // Registers documents with the personal identification string as part of their names.
    browser.click("#tab-registry");
    browser.type_into("#register-person", "an-unguessable-secret");
    browser.type_into("#register-name", "essays");
    browser.type_into("#register-files", &paths[0]);
    browser.click("#register-run");
    browser.wait_for("return document.querySelectorAll('#register-ids li').length === 1");
    let id = "one | essays | an-unguessable-secret";
    assert_eq!(service.client().document(id).unwrap().text, None);
    browser.type_into("#verify-choose", &paths[1]);
    browser.click("#verify-run");
    browser.wait_for(
        "return document.querySelector('#verify-files tr.file[data-id=\"two\"]') !== null",
    );
    let found = browser.wait_for(
        "const row = document.querySelector('#verify-pairs tr.pair');
         return row && [row.dataset.a, row.dataset.b];",
    );
    assert_eq!(found, json!(["two", id]));
    assert!(service.stop());
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_source_that_is_unticked_does_not_count_in_a_report() {
    let browser = Browser::start();
    let dir = indexed();
    let essay = format!("{} {} {}", words(9, 40), words(1, 120), words(3, 50));
    dir.write("essay.txt", &essay);
    let ran = dir.run(&["search", "idx", "essay.txt", "--report", "r.html", "--report", "r.json"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let json = std::fs::read_to_string(dir.path("r.json")).unwrap();
    let report: Value = serde_json::from_str(&json).unwrap();
    let document = &report["documents"][0];
    let share = |number: usize, of: &str| document["sources"][number][of].as_f64().unwrap();
    // Without scripts, the report is complete except for the ticks.
    browser.open(&format!("file://{}", dir.path("r.html").display()));
    let texts = |selector: &str| {
        let all = format!("[...document.querySelectorAll('{selector}')].map(e => e.textContent)");
        browser.run(&format!("return {all}"))
    };
    let per_cent = |share: f64| format!("{:.1}\u{a0}%", 100.0 * share);
    assert_eq!(texts(".reused"), json!([per_cent(document["reused"].as_f64().unwrap())]));
    let owners =
        "return [...new Set([...document.querySelectorAll('mark')].map(mark => mark.className))]";
    assert_eq!(browser.run(owners), json!(["c1", "c2"]));
    // `a` contains all text of `b`. Excluding `a` attributes the text to `b`.
    assert_eq!(
        ["a", "c", "b"].map(|id| json!(id)),
        [0, 1, 2].map(|n| document["sources"][n]["id"].clone())
    );
    assert_eq!(share(2, "share_in_report"), 0.0);
    browser.click("tr.source[data-n='1'] input");
    let expected = [share(1, "share_in_text"), share(2, "share_in_text")];
    assert_eq!(
        texts(".in-report"),
        json!(["\u{2013}", per_cent(expected[0]), per_cent(expected[1])])
    );
    assert_eq!(texts(".reused"), json!([per_cent(expected[0] + expected[1])]));
    assert_eq!(texts(".original"), json!([per_cent(1.0 - expected[0] - expected[1])]));
    assert_eq!(browser.run(owners), json!(["c3 other", "off other", "c2"]));
    assert_eq!(texts("mark.c3 a.n"), json!(["3"]));
    browser.click("tr.source[data-n='1'] input");
    assert_eq!(browser.run(owners), json!(["c1", "c2"]));
    assert_eq!(texts(".reused"), json!([per_cent(document["reused"].as_f64().unwrap())]));
}
