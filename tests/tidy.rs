//! The layers, the doors, and other rules of the house.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

/// Rust files below `dir`, with their paths below the root.
fn sources(dir: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = vec![root.join(dir)];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name =
                    path.strip_prefix(root).unwrap().display().to_string().replace('\\', "/");
                found.push((name, fs::read_to_string(path).unwrap()));
            }
        }
    }
    assert!(!found.is_empty());
    found
}

/// The code of a file, without its comments.
fn code(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

#[test]
fn arrows_point_down_only() {
    // A module and those above it, which it must not name.
    let above = [
        ("measure", &["segment", "source", "index", "search", "join"][..]),
        ("text", &["measure", "scheme", "segment", "source", "index", "search", "join"][..]),
        ("scheme", &["segment", "source", "index", "search", "join"]),
        ("source", &["scheme", "segment", "index", "search", "join"]),
        ("segment", &["source", "index", "search", "join"]),
        ("index", &["search", "join"]),
        ("search", &["join"]),
        ("join", &[]),
        ("api", &[]),
        ("serve", &["client", "cli"]),
    ];
    let outer = ["api", "serve", "client", "cli"];
    for (module, forbidden) in above {
        let is_outer = outer.contains(&module);
        let outer = outer.iter().filter(|_| !is_outer || module == "api");
        for (name, text) in sources(&format!("src/{module}")) {
            for other in forbidden.iter().chain(outer.clone()).filter(|other| **other != module) {
                assert!(!code(&text).contains(&format!("crate::{other}")), "{name} names {other}");
            }
        }
    }
}

#[test]
fn each_outside_format_has_one_door() {
    let doors = [
        (
            "tantivy",
            &[
                "src/index/",
                "src/segment/plugin.rs",
                "src/search/filter.rs",
                "src/search/filter/ranges.rs",
                "src/search/similar_to.rs",
            ][..],
        ),
        (
            "fst",
            &[
                "src/automaton.rs",
                "src/segment/terms.rs",
                "src/segment/term_index.rs",
                "src/scheme/frequency.rs",
            ],
        ),
        ("roaring", &["src/segment/postings.rs"]),
        ("tar", &["src/source/archive.rs"]),
        ("zip", &["src/source/archive.rs"]),
        ("tree_sitter", &["src/text/code.rs"]),
        ("clap", &["src/cli/"]),
        ("axum", &["src/serve/"]),
        ("hyper", &["src/serve/connection.rs", "src/serve/answer.rs"]),
        ("tokio", &["src/serve/"]),
        ("prometheus_client", &["src/serve/metrics.rs"]),
        ("ureq", &["src/client/"]),
        ("tracing_subscriber", &["src/cli/"]),
        ("indicatif", &["src/cli/"]),
    ];
    for (name, text) in sources("src") {
        for (krate, allowed) in doors {
            let is_door = allowed.iter().any(|door| name.starts_with(door));
            let uses = code(&text).lines().any(|line| {
                let line = line.trim_start();
                line.starts_with(&format!("use {krate}::")) || line.contains(&format!(" {krate}::"))
            });
            assert!(is_door || !uses, "{name} uses {krate}");
        }
    }
}

#[test]
fn the_library_neither_prints_nor_exits_nor_reads_the_environment() {
    for (name, text) in sources("src").into_iter().filter(|(name, _)| !name.starts_with("src/cli/"))
    {
        for forbidden in ["println!", "eprintln!", "process::exit", "std::env::", "env::var"] {
            assert!(!code(&text).contains(forbidden), "{name} has {forbidden}");
        }
    }
}

#[test]
fn what_the_verbs_say_goes_through_the_terminal() {
    for (name, text) in sources("src/cli") {
        let is_terminal = name == "src/cli/terminal.rs";
        for forbidden in ["println!", "print!("] {
            assert!(is_terminal || !code(&text).contains(forbidden), "{name} has {forbidden}");
        }
    }
}

#[test]
fn files_are_short_ascii_and_finished() {
    for dir in ["src", "tests", "benches", "tools/src", "examples", "fuzz/src", "fuzz/targets"] {
        for (name, text) in sources(dir) {
            assert!(text.lines().count() <= 600, "{name} is longer than 600 lines");
            assert!(text.is_ascii(), "{name} is not ASCII");
            for unfinished in [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")] {
                assert!(!text.contains(unfinished), "{name} has {unfinished}");
            }
        }
    }
}

#[test]
fn the_architecture_names_modules_that_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    assert!(text.lines().count() <= 250);
    for word in text.split(|c: char| c.is_whitespace() || "`,;:()".contains(c)) {
        if word.starts_with("src/") || word.starts_with("tests/") {
            assert!(root.join(word.trim_end_matches('.')).exists(), "{word} is not there");
        }
    }
}
