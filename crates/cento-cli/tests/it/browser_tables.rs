//! The tables of the web page and of reports, in a real browser: their order, sorting and
//! filtering.

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::common::run::Dir;
use crate::common::service::Service;
use crate::common::words;

/// An index of nine documents with long paths, which share less and less with the words from 1 on.
fn library() -> Dir {
    let dir = Dir::new();
    dir.run(&["create", "idx"]);
    for part in 1..=9 {
        let text = format!("{} {}", words(1, 300 - 30 * part), words(50 + part as u64, 40));
        dir.write(&format!("library/of/long/names/{part}/text.txt"), text);
    }
    let added = dir.run(&["add", "idx", "library"]);
    assert_eq!(added.status, 0, "{}", added.err);
    dir
}

fn open(browser: &Browser, service: &Service) {
    browser.open(&service.url);
    browser
        .wait_for("return document.getElementById('stats').textContent.startsWith('9 documents')");
}

/// Asks for the list of documents, without a trace of the text.
fn list_documents(browser: &Browser) {
    browser.run("document.getElementById('search-show').value = 'overlap'");
}

/// Returns the value of `what` for each visible row of the hits.
fn of_hits(browser: &Browser, what: &str) -> Value {
    let script = format!(
        "return [...document.querySelectorAll('#search-hits tr.hit')]
             .filter(row => row.offsetParent !== null || row.getClientRects().length > 0)
             .map(row => {what});"
    );
    browser.run(&script)
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn files_and_documents_with_most_in_common_come_first() {
    let browser = Browser::start();
    let dir = library();
    let service = Service::start(&dir, &[]);
    open(&browser, &service);
    // By name the file with nothing in common would come first.
    dir.write("a.txt", words(90, 200));
    dir.write("b.txt", format!("{} {}", words(1, 40), words(91, 200)));
    dir.write("c.txt", words(1, 260));
    let paths = ["a.txt", "b.txt", "c.txt"].map(|name| dir.path(name).display().to_string());
    list_documents(&browser);
    browser.type_into("#search-files", &paths.join("\n"));
    let files = browser.wait_for(
        "const rows = [...document.querySelectorAll('#search-queries tr.query')];
         return rows.length === 3 && rows.map(row => row.dataset.id);",
    );
    assert_eq!(files, json!(["c.txt", "b.txt", "a.txt"]));
    browser.wait_for("return document.querySelectorAll('#side-by-side .side.hit').length === 1");
    // Shows the documents, and the passages of the first document.
    let ids = of_hits(&browser, "row.dataset.id");
    assert_eq!(ids[0], "library/of/long/names/1/text.txt");
    assert_eq!(ids[8], "library/of/long/names/9/text.txt");
    let title = browser.run("return document.querySelector('.side.hit h3').textContent");
    assert_eq!(title, ids[0]);
    // The page and the report give the same share of the text.
    let ran = dir.run(&["search", "idx", "b.txt", "--report", "r.json"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let report = std::fs::read_to_string(dir.path("r.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    let reused = report["documents"][0]["reused"].as_f64().unwrap();
    let cell = "return document.querySelector('tr[data-id=\"b.txt\"] td.number').textContent";
    assert_eq!(browser.run(cell), json!(format!("{:.1}\u{a0}%", 100.0 * reused)));
    assert!(service.stop());
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn tables_are_sorted_and_filtered_and_have_short_names() {
    let browser = Browser::start();
    let dir = library();
    let service = Service::start(&dir, &[]);
    open(&browser, &service);
    list_documents(&browser);
    browser.type_into("#search-text", &words(1, 260));
    browser.click("#search-run");
    browser.wait_for("return document.querySelectorAll('#search-hits tr.hit').length === 9");
    // The name omits the common directory, and the title has the path.
    assert_eq!(of_hits(&browser, "row.querySelector('button').textContent")[0], "1/text.txt");
    let title = of_hits(&browser, "row.querySelector('button').title");
    assert_eq!(title[0], "library/of/long/names/1/text.txt");
    // Clicking a heading sorts, and a second click reverses the order.
    let sorted = "return document.querySelector('#search-hits th[aria-sort]').textContent
                      + document.querySelector('#search-hits th[aria-sort]').getAttribute('aria-sort')";
    assert_eq!(browser.run(sorted), json!("Of your textdescending"));
    browser.click("#search-hits th[aria-sort] button");
    assert_eq!(browser.run(sorted), json!("Of your textascending"));
    assert_eq!(of_hits(&browser, "row.dataset.id")[0], "library/of/long/names/9/text.txt");
    browser.click("#search-hits th button");
    assert_eq!(browser.run(sorted), json!("Documentascending"));
    assert_eq!(of_hits(&browser, "row.dataset.id")[0], "library/of/long/names/1/text.txt");
    // A filter matches words in any case and order, even in the hidden part of a path.
    browser.type_into("#search-hits-view .filter input", "4/TEXT library");
    assert_eq!(of_hits(&browser, "row.dataset.id"), json!(["library/of/long/names/4/text.txt"]));
    let told = browser.run("return document.querySelector('#search-hits-view .shown').textContent");
    assert_eq!(told, "1 of 9 rows");
    assert_eq!(browser.run("return document.getElementById('message').textContent"), json!(""));
    assert!(service.stop());
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn results_are_on_the_first_screen_of_a_telephone() {
    let browser = Browser::start();
    let dir = library();
    let service = Service::start(&dir, &[]);
    let size = json!({"cmd": "Emulation.setDeviceMetricsOverride", "params":
        {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": true}});
    browser.post("goog/cdp/execute", &size);
    open(&browser, &service);
    list_documents(&browser);
    browser.type_into("#search-text", &words(1, 260));
    browser.click("#search-run");
    browser.wait_for("return document.querySelectorAll('#side-by-side .side.hit').length === 1");
    // Nothing is wider than the screen, and the first document is visible.
    let measured = browser.run(
        "scrollTo(0, 0);
         const first = document.querySelector('#search-hits tr.hit').getBoundingClientRect();
         return [document.documentElement.scrollWidth, first.bottom < innerHeight];",
    );
    assert_eq!(measured, json!([390, true]));
    // A row is a card without headings: a list sorts.
    browser.run(
        "const select = document.querySelector('#search-hits-view .sort-by select');
         select.value = '0';
         select.dispatchEvent(new Event('change'));",
    );
    assert_eq!(of_hits(&browser, "row.dataset.id")[0], "library/of/long/names/1/text.txt");
    assert!(service.stop());
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn lists_of_a_report_are_sorted_and_filtered() {
    let browser = Browser::start();
    let dir = library();
    let names: Vec<String> = (1..=8).map(|part| format!("in/{part}.txt")).collect();
    for (part, name) in (1..).zip(&names) {
        dir.write(name, format!("{} {}", words(1, 30 * part), words(91, 200)));
    }
    let search = ["search", "idx", "--report", "r.html"].into_iter();
    let ran = dir.run(&search.chain(names.iter().map(String::as_str)).collect::<Vec<_>>());
    assert_eq!(ran.status, 0, "{}", ran.err);
    browser.open(&format!("file://{}", dir.path("r.html").display()));
    let shown = |selector: &str| {
        browser.run(&format!(
            "return [...document.querySelectorAll('{selector}')]
                 .filter(element => element.getClientRects().length > 0)
                 .map(element => element.textContent);"
        ))
    };
    // The list and the texts below begin with most reused text.
    let list = "table.list tbody th a[href^=\"#d\"]";
    let most_first: Vec<String> = (1..=8).rev().map(|part| format!("{part}.txt")).collect();
    assert_eq!(shown(list), json!(most_first));
    assert_eq!(shown(".reuse > h2")[0], "in/8.txt");
    browser.click("th[aria-sort=descending] button");
    assert_eq!(shown(list)[0], "1.txt");
    assert_eq!(shown("[aria-sort=ascending]"), json!(["Reused"]));
    browser.click("table.list th button");
    assert_eq!(shown("[aria-sort=ascending]")[0], "Document");
    browser.type_into(".tools input", "IN/3.txt");
    assert_eq!(shown(list), json!(["3.txt"]));
    assert_eq!(shown(".tools [role=status]")[0], "1 of 8 rows");
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn boilerplate_in_a_report_is_hidden_while_its_box_is_not_ticked() {
    let browser = Browser::start();
    let dir = Dir::new();
    let (sheet, one, two) = (words(91, 40), words(1, 60), words(2, 60));
    dir.write("sheet.txt", &sheet);
    for (number, name) in (10..).zip(["in/a.txt", "in/b.txt"]) {
        dir.write(name, format!("{} {one} {sheet} {two}", words(number, 30)));
    }
    let ran = dir.run(&["pairs", "in", "-b", "sheet.txt", "--report", "r.html"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    browser.open(&format!("file://{}", dir.path("r.html").display()));
    // The texts side by side, as visible to a reader.
    let shown = || {
        let script = "return [...document.querySelectorAll('.side')]
            .map(side => side.innerText.replace(/\\s+/g, ' ')).join(' ');";
        browser.run(script).as_str().unwrap().to_owned()
    };
    let begins = |text: &str| text.split(' ').take(6).collect::<Vec<_>>().join(" ");
    let is_ticked = || browser.run("return document.querySelector('#boilerplate').checked;");
    for is_shown in [true, false, true] {
        assert_eq!((is_ticked(), shown().contains(&begins(&sheet))), (json!(is_shown), is_shown));
        assert!([&one, &two].iter().all(|text| shown().contains(&begins(text))), "{}", shown());
        browser.click("#boilerplate");
    }
}
