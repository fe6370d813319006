//! The real binary: removing detected boilerplate from a corpus.

use std::fs;

use serde_json::{Value, json};

use crate::common::run::Dir;
use crate::common::words;

/// The pages of a site: a menu, a different text on each page, and a notice.
fn site(name: &str, seed: u64, pages: u64) -> Vec<(String, String)> {
    let menu = format!("Home {}\nSkip", words(seed, 6));
    let notice = format!("We use cookies {}.", words(seed + 1, 18));
    let page = |at: u64| {
        let own = words(1000 * seed + at, 40);
        // Other fields and white space of any kind are preserved.
        let record = |text: &str| {
            let text = serde_json::to_string(text).unwrap();
            format!(
                "{{\"n\":  {at}.0,\"id\":\"{name}/{at}\", \"site\":\"{name}\",\"text\":{text} }}\n"
            )
        };
        (record(&format!("{menu}\n{own}.\n{notice}")), record(&format!("{own}.")))
    };
    (0..pages).map(page).collect()
}

#[test]
fn the_passages_of_each_site_are_removed_from_all_of_its_pages() {
    let dir = Dir::new();
    let mut pages = [site("herald", 1, 12), site("bote", 2, 6)].concat();
    // A crawl has many pages of further sites.
    pages.extend((0..60).map(|at| {
        let line = format!("{{\"id\":\"o{at}\",\"text\":\"{}\"}}\n", words(9000 + at, 40));
        (line.clone(), line)
    }));
    let (with, without): (Vec<String>, Vec<String>) = pages.into_iter().unzip();
    dir.write("pages.jsonl", with.concat());
    let find = ["method", "boilerplate", "pages.jsonl"];
    // Few of all pages have the menu.
    let all = dir.run(&[&find[..], &["--out", "all.jsonl"]].concat());
    assert_eq!(all.status, 1, "{}", all.err);
    let by_site = [&find[..], &["--within", "site", "--out", "list.jsonl"]].concat();
    let found = dir.run(&by_site);
    assert_eq!(found.status, 0, "{}", found.err);
    let list = fs::read_to_string(dir.path("list.jsonl")).unwrap();
    let rows: Vec<Value> = list.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let counts: Vec<_> = rows.iter().map(|row| (&row["documents"], &row["of_documents"])).collect();
    let expected = [12, 12, 6, 6].map(|count| (json!(count), json!(count)));
    assert!(counts.into_iter().eq(expected.iter().map(|(a, b)| (a, b))), "{list}");
    // The id of a page is no id of a passage, so each passage is a document.
    let added = dir.json(&["add", "list.idx", "list.jsonl", "--scheme", "kgram(k=5)"]);
    assert_eq!((&added["added"], &added["replaced"]), (&json!(4), &json!(0)), "{added}");
    let args = ["dedup", "pages.jsonl", "--against", "list.idx", "--only-against"];
    let cut = ["--cut-passages", "5", "--out", "clean.jsonl", "--dropped", "dropped.jsonl"];
    let summary = dir.json(&[&args[..], &cut].concat());
    assert_eq!((&summary["kept"], &summary["cut"]), (&json!(78), &json!(18)), "{summary}");
    assert_eq!(fs::read_to_string(dir.path("clean.jsonl")).unwrap(), without.concat());
    let wrong = dir.run(&[&find[..], &["--within", "sit"]].concat());
    assert!(wrong.status == 2 && wrong.err.contains("no document has the field `sit`"));
}
