//! The functions of the web page, run by node.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::run::Dir;
use crate::common::service::Service;
use serde_json::{Value, json};

/// Prints the shares that a module of the page computes for texts and hits.
const SCRIPT: &str = "
import { readFileSync } from 'node:fs';
import { shareInPassages } from './text.js';
import { percent } from './dom.js';
const shown = JSON.parse(readFileSync(0, 'utf8')).map(({ text, answer: { hits, query } }) => {
  const share = (of) => {
    const passages = of.flatMap((hit) => hit.passages ?? []);
    return percent(shareInPassages(text, passages, query.tokens));
  };
  const ofEach = Object.fromEntries(hits.map((hit) => [hit.id, share([hit])]));
  return { reused: share(hits), hits: ofEach };
});
console.log(JSON.stringify(shown));
";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs the script beside the modules of the page.
fn shown(searched: &Value) -> Value {
    let dir = Dir::new();
    for name in ["dom.js", "text.js"] {
        let page = root().join("crates/cento-serve/src/page");
        std::fs::copy(page.join(name), dir.path(name)).unwrap();
    }
    dir.write("package.json", r#"{"type": "module"}"#);
    dir.write("script.js", SCRIPT);
    dir.write("searched.json", searched.to_string());
    let input = std::fs::File::open(dir.path("searched.json")).unwrap();
    let mut node = Command::new("node");
    let ran = node.arg("script.js").current_dir(dir.path(".")).stdin(input).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    serde_json::from_slice(&ran.stdout).unwrap()
}

/// Rounds a share as reports do.
fn percent(share: &Value) -> String {
    format!("{:.1}\u{a0}%", 100.0 * share.as_f64().unwrap())
}

#[test]
#[ignore = "needs node"]
fn the_page_shows_the_shares_of_the_report() {
    let (dir, samples) = (Dir::new(), root().join("docs/samples"));
    let articles = samples.join("articles.jsonl");
    let added = dir.run(&["add", "idx", articles.to_str().unwrap()]);
    assert_eq!(added.status, 0, "{}", added.err);
    // Punctuation, spaces and line breaks between words, and a different script, are counted alike.
    let signs = "-- \u{2014} Augustin Fresnel cut a lens into rings and kept only their curved \
                 faces, so that ... (!) \u{4e16}\u{754c}, \u{e9}t\u{e9} \u{0301} \
                 \u{2167} \u{b2} \u{feff}\u{85}";
    dir.write("signs.txt", signs);
    let files = ["essay.txt", "quote.txt"].map(|name| samples.join(name));
    let files = [&files[..], &[dir.path("signs.txt")]].concat();
    let service = Service::start(&dir, &[]);
    let mut searched = Vec::new();
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        let asked = json!({"text": text, "passages": true, "min_containment": 0.0});
        let answer = service.post("/v1/search", &asked.to_string()).json();
        searched.push(json!({"text": text, "answer": answer}));
    }
    assert!(service.stop());
    let mut arguments = vec!["search", "idx"];
    arguments.extend(files.iter().map(|file| file.to_str().unwrap()));
    let report = dir.run(&[&arguments[..], &["--report", "r.json"]].concat());
    assert_eq!(report.status, 0, "{}", report.err);
    let report: Value =
        serde_json::from_str(&std::fs::read_to_string(dir.path("r.json")).unwrap()).unwrap();
    let shown = shown(&json!(searched));
    for (at, file) in files.iter().enumerate() {
        // Documents of a report with most reused text come first.
        let documents = report["documents"].as_array().unwrap();
        let is_it = |document: &&Value| document["name"] == file.to_str().unwrap();
        let document = documents.iter().find(is_it).unwrap();
        let (reused, sources) = (percent(&document["reused"]), &document["sources"]);
        assert_eq!(shown[at]["reused"], reused, "{}", file.display());
        for found in sources.as_array().unwrap() {
            let id = found["id"].as_str().unwrap();
            assert_eq!(shown[at]["hits"][id], percent(&found["share_in_text"]), "{id}");
        }
        assert!(!sources.as_array().unwrap().is_empty(), "{}", file.display());
    }
}
