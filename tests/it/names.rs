//! Every concept has one name. docs/GLOSSARY.md has the names, and tests/data/retired-names.txt the
//! names that were given up.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the retired names with their replacements.
fn retired() -> Vec<(String, String)> {
    let list = fs::read_to_string(root().join("tests/data/retired-names.txt")).unwrap();
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    let pair = |line: &str| {
        let (old, new) = line.split_once('\t').expect("a name, a tab and the name to use");
        (old.to_owned(), new.to_owned())
    };
    lines.map(pair).collect()
}

/// The place of `name` in `text` as a whole word, if any.
fn find(text: &str, name: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(name).map(|(at, _)| at).find(|&at| {
        let is_begun = text[..at].chars().next_back().is_some_and(is_part);
        let goes_on = text[at + name.len()..].chars().next().is_some_and(is_part);
        !is_begun && !goes_on
    })
}

/// Texts that strangers read: documents, the HTTP API, the public API, the page, deployment files
/// and Python.
fn surface() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let places = [
        ("", &["md"][..]),
        ("docs", &["md"]),
        ("docs/concepts", &["md"]),
        ("docs/howto", &["md"]),
        ("docs/reference", &["md"]),
        ("docs/tutorials", &["md"]),
        ("deploy", &["md", "yaml", "json", "conf", "sh"]),
        ("python", &["md"]),
        ("python/docs", &["md"]),
        ("python/package/cento", &["py", "pyi"]),
        ("crates/cento-serve", &["json"]),
        ("crates/cento-serve/src/page", &["js", "html"]),
        ("examples", &["rs"]),
        ("tests/golden", &["txt"]),
        ("research", &["md"]),
        ("tools", &["md"]),
    ];
    for (dir, endings) in places {
        for entry in fs::read_dir(root().join(dir)).unwrap() {
            let path = entry.unwrap().path();
            let ending = path.extension().and_then(|ending| ending.to_str());
            if path.is_file() && ending.is_some_and(|ending| endings.contains(&ending)) {
                files.push(path);
            }
        }
    }
    assert!(files.len() > 70, "{files:?}");
    files
}

#[test]
fn no_retired_name_is_in_documents_json_or_api() {
    let retired = retired();
    let mut found = Vec::new();
    for path in surface() {
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            let names = retired.iter().filter(|(old, _)| find(line, old).is_some());
            found.extend(names.map(|(old, new)| {
                let place = path.strip_prefix(root()).unwrap().display();
                format!("{place}:{}: `{old}` is now `{new}`", number + 1)
            }));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_retired_name_is_known_as_a_whole_word() {
    assert_eq!(find("run `cento ls` again", "cento ls"), Some(5));
    assert_eq!(find("--cover", "--cover"), Some(0));
    for text in ["cento lsm", "--coverage", "x--cover", "my-analyser"] {
        assert!(retired().iter().all(|(old, _)| find(text, old).is_none()), "{text}");
    }
}

/// The names in backticks of a column of the tables of the glossary.
fn glossary(column: usize) -> Vec<String> {
    let text = fs::read_to_string(root().join("docs/GLOSSARY.md")).unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| concept"));
    let cells = rows.map(|row| row.split('|').nth(column + 1).unwrap().to_owned());
    cells
        .flat_map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

#[test]
fn the_names_of_the_glossary_are_those_of_json_and_of_the_library() {
    let openapi = fs::read_to_string(root().join("crates/cento-serve/openapi.json")).unwrap();
    for name in glossary(3) {
        assert!(openapi.contains(&format!("\"{name}\"")), "no JSON has `{name}`");
    }
    let api = fs::read_to_string(root().join("tests/golden/public-api.txt")).unwrap();
    let is_there = |name: &str| find(&api, name).is_some();
    for name in glossary(4) {
        assert!(is_there(&name), "the library has no `{name}`");
    }
    assert!(glossary(3).len() > 40 && glossary(4).len() > 25);
}
