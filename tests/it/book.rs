//! Every link of the documents leads somewhere, and the book lists every chapter.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// Directories with documents. Only Markdown files are searched for links.
const PLACES: [&str; 16] = [
    "",
    "benches",
    "conformance",
    "crates",
    "deploy",
    "docs",
    "docs/concepts",
    "docs/howto",
    "docs/reference",
    "docs/tutorials",
    "fuzz",
    "packaging",
    "python",
    "python/docs",
    "research",
    "tools",
];

/// The directories of the chapters.
const CHAPTERS: [&str; 4] = ["concepts", "howto", "reference", "tutorials"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The documents in a directory, with their texts.
fn documents(dir: &str) -> Vec<(PathBuf, String)> {
    let Ok(entries) = fs::read_dir(root().join(dir)) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let documents = paths.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    documents.map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// Returns the numbered lines of a text outside of code blocks.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter(move |(_, line)| {
        is_code ^= line.trim_start().starts_with("```");
        !is_code && !line.starts_with("    ")
    })
}

/// The names of the headings of a document in links.
fn anchors(text: &str) -> HashSet<String> {
    let headings = prose(text).filter(|(_, line)| line.starts_with('#'));
    let name = |heading: &str| -> String {
        let kept = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = kept.chars().filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(|(_, line)| name(line)).collect()
}

/// The targets of the links of a document, with their lines.
fn links(text: &str) -> Vec<(usize, String)> {
    let link = Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    let found = prose(text).flat_map(|(number, line)| {
        // Code between backticks is no link.
        let line: String = line.split('`').step_by(2).collect::<Vec<_>>().join("");
        let targets = link.captures_iter(&line).map(|found| found[1].to_owned());
        targets.map(move |target| (number + 1, target)).collect::<Vec<_>>()
    });
    found.collect()
}

#[test]
fn every_link_of_a_document_leads_to_a_file_and_its_heading() {
    let mut broken = Vec::new();
    let mut known: HashMap<PathBuf, HashSet<String>> = HashMap::new();
    let mut checked = 0;
    let crates = fs::read_dir(root().join("crates")).unwrap();
    let crates = crates.map(|entry| format!("crates/{}", entry.unwrap().file_name().display()));
    let places = PLACES.iter().map(|place| (*place).to_owned()).chain(crates);
    for (path, text) in places.flat_map(|place| documents(&place)) {
        for (line, target) in links(&text) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            checked += 1;
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let to = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            let is_there = to.exists();
            let mut has_anchor = |to: &PathBuf| {
                let read = || anchors(&fs::read_to_string(to).unwrap());
                known.entry(to.clone()).or_insert_with(read).contains(anchor)
            };
            if !is_there || (!anchor.is_empty() && !has_anchor(&to)) {
                let path = path.strip_prefix(root()).unwrap().display();
                broken.push(format!("{path}:{line}: {target}"));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
    assert!(checked > 100, "{checked}");
}

#[test]
fn links_and_headings_are_found() {
    let text = "# A *title*: `x`\n\n[a](b.md#c), `[no](link)`\n\n    [no](link)\n\n\
                ```\n[no](link)\n```\n[d](e)";
    assert_eq!(links(text), [(3, "b.md#c".to_owned()), (10, "e".to_owned())]);
    assert_eq!(anchors(text), HashSet::from(["a-title-x".to_owned()]));
}

#[test]
fn the_summary_lists_every_chapter_once_and_so_does_the_first_page() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let listed: Vec<String> = links(&summary).into_iter().map(|(_, target)| target).collect();
    for dir in CHAPTERS {
        for (path, _) in documents(&format!("docs/{dir}")) {
            let name = format!("{dir}/{}", path.file_name().unwrap().to_str().unwrap());
            assert_eq!(listed.iter().filter(|listed| **listed == name).count(), 1, "{name}");
            assert_eq!(name, name.to_lowercase());
        }
    }
    let first = fs::read_to_string(docs.join("README.md")).unwrap();
    for dir in ["concepts", "howto", "tutorials"] {
        for listed in listed.iter().filter(|listed| listed.starts_with(dir)) {
            assert!(
                first.contains(&format!("({listed})")),
                "docs/README.md does not have {listed}"
            );
        }
    }
}

#[test]
fn a_chapter_is_short_and_begins_with_its_task() {
    for (path, text) in CHAPTERS.iter().flat_map(|dir| documents(&format!("docs/{dir}"))) {
        let is_generated = text.contains("<!-- generated;");
        let lines = text.lines().count();
        assert!(is_generated || lines <= 250, "{} has {lines} lines", path.display());
        let mut paragraphs = text.split("\n\n");
        assert!(paragraphs.next().unwrap().starts_with("# "), "{}", path.display());
        // A reader needs a sentence before a list, a table, a heading or a block of code.
        let first = paragraphs.next().unwrap();
        let is_sentence = first.starts_with(|c: char| c.is_alphabetic() || c == '`' || c == '[');
        assert!(is_sentence && !first.starts_with("```"), "{}: {first}", path.display());
    }
}

#[test]
fn a_block_of_code_is_not_part_of_a_list() {
    // Four spaces below an item continue the item: the block would be text.
    let item = Regex::new(r"^(?:- |\d+\. )").unwrap();
    for (path, text) in CHAPTERS.iter().flat_map(|dir| documents(&format!("docs/{dir}"))) {
        let (mut is_list, mut is_after_empty) = (false, false);
        for (number, line) in text.lines().enumerate() {
            let is_block = line.starts_with("    ") && is_after_empty;
            let place = format!("{}:{}", path.display(), number + 1);
            assert!(!is_block || !is_list, "{place}: write a paragraph between list and block");
            if !line.is_empty() && !line.starts_with(' ') {
                is_list = item.is_match(line);
            }
            is_after_empty = line.is_empty();
        }
    }
}
