//! The submissions of a class on the web page, in a real browser.

use serde_json::json;

use crate::browser::Browser;
use crate::common::run::Dir;
use crate::common::service::Service;
use crate::common::{words, zip};

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_class_is_compared_with_itself_and_the_index_and_is_added_to_it() {
    let browser = Browser::start();
    let dir = Dir::new();
    // A submission of last year. cas hands in a file from it.
    dir.write("2025/dan/old.txt", words(4, 60));
    let added = dir.run(&["add", "idx", "2025", "--by", "directory"]);
    assert_eq!(added.status, 0, "{}", added.err);
    let [ann, own, old, bob] =
        [words(1, 60), words(2, 60), format!("own\n{}", words(4, 60)), words(3, 60)];
    let class = [
        ("class/ann/list.txt", ann.as_bytes()),
        ("class/ann/main.txt", own.as_bytes()),
        ("class/bob/copy.txt", ann.as_bytes()),
        ("class/bob/main.txt", bob.as_bytes()),
        ("class/cas/main.txt", old.as_bytes()),
        ("class/cas/data.json", b"[{\"text\": \"one two\"}]"),
        ("class/dan/a.png", b"\x89PNG\r\n\x1a\n"),
    ];
    dir.write("in.zip", zip(&class));
    let service = Service::start(&dir, &[]);
    browser.open(&format!("{}/#pairs", service.url));
    browser.wait_for("return document.querySelector('#panel-pairs:not([hidden])') !== null");
    browser.type_into("#pairs-files", &dir.path("in.zip").display().to_string());
    browser.click("#pairs-against");
    browser.type_into("#pairs-term", "2026");
    browser.click("#pairs-run");
    // Shares of each submission: known before, and shared in the class.
    let rows = browser.wait_for(
        "const cell = (row, title) => row.querySelector(`td[data-title=\"${title}\"]`).textContent;
         const rows = [...document.querySelectorAll('#pairs-sources tr.submission')];
         return rows.length > 0 && rows.map(row => [
             row.dataset.id, cell(row, 'Known before'), cell(row, 'Shared in this class'),
             cell(row, 'Most alike').split(',')[0]]);",
    );
    let percent = |text: &str| format!("{text}\u{a0}%");
    let expected = json!([
        ["2026/ann", percent("0.0"), percent("50.0"), "2026/bob"],
        ["2026/bob", percent("0.0"), percent("50.0"), "2026/ann"],
        ["2026/cas", percent("98.4"), percent("0.0"), "2025/dan in the index"],
    ]);
    assert_eq!(rows, expected);
    let left_out = browser.run(
        "return [...document.querySelectorAll('#pairs-left-out-list li')]
             .map(li => li.textContent).sort()",
    );
    let expected = json!([
        "in.zip/class/cas/data.json: it is a list of records, and no part of a submission",
        "in.zip/class/dan/a.png: it is an image",
    ]);
    assert_eq!(left_out, expected);
    // A submission's row shows the files, the pairs, and the part and line of a passage.
    browser.click("#pairs-sources tr[data-id='2026/cas'] button");
    browser.wait_for(
        "return document.querySelector('#pairs-side-by-side .passage-at')?.textContent
             .includes('first text, main.txt, line 2; second text, old.txt')",
    );
    let parts = browser.run(
        "return [...document.querySelectorAll('#pairs-side-by-side .part')]
             .map(part => part.dataset.name)",
    );
    assert_eq!(parts, json!(["main.txt", "old.txt"]));
    let files = browser.run("return document.getElementById('pairs-class-files').textContent");
    assert_eq!(files, json!("2026/cas: main.txt (2 lines)"));
    // With a different unit, each file is compared and listed in the table.
    browser.run("document.getElementById('pairs-by').value = 'file'");
    browser.click("#pairs-run");
    let has_row = |id: &str| {
        browser.wait_for(&format!(
            "return document.querySelector('#pairs-sources tr[data-id=\"{id}\"]') !== null"
        ));
    };
    has_row("2026/ann/list.txt");
    browser.run("document.getElementById('pairs-by').value = ''");
    browser.click("#pairs-run");
    has_row("2026/ann");
    // The submissions are added under the term, and count as earlier versions from then on.
    browser.click("#pairs-file");
    browser.wait_for(
        "return document.getElementById('pairs-file-status').textContent
             .startsWith('3 submissions added')",
    );
    let stored = service.client().document("2026/ann").unwrap();
    assert_eq!((stored.parts.len(), &stored.meta["term"]), (2, &json!("2026")));
    browser.click("#pairs-run");
    browser.wait_for(
        "return document.getElementById('pairs-status').textContent
             .includes('Of 3 submissions the index has an earlier version')",
    );
    assert_eq!(browser.run("return document.getElementById('message').textContent"), json!(""));
    browser.click("#pairs-report");
    browser.wait_for(
        "return document.getElementById('pairs-status').textContent
             .startsWith('The report has been saved')",
    );
    assert!(service.stop());
}
