//! Layers, doors, and other rules for the code.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

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

/// Returns the code of a file without comments.
fn code(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// All crates of the command, in the order of their dependencies.
const CRATES: [&str; 11] = [
    "crates/cento-api/src",
    "crates/cento-text/src",
    "src",
    "crates/cento-collections/src",
    "crates/cento-source/src",
    "crates/cento-report/src",
    "crates/cento-client/src",
    "crates/cento-remote/src",
    "crates/cento-serve/src",
    "crates/cento-web/src",
    "crates/cento-cli/src",
];

fn all_sources() -> Vec<(String, String)> {
    CRATES.iter().flat_map(|dir| sources(dir)).collect()
}

#[test]
fn arrows_within_the_library_point_down_only() {
    // Modules, and the higher modules that each must not use. Cargo checks the order of crates.
    let of_texts = [
        ("runtime", &["text", "scheme", "compare"][..]),
        ("text", &["scheme", "compare"]),
        ("scheme", &["compare"]),
    ];
    let of_indexes = [
        ("segment", &["compare", "index", "search"][..]),
        ("index", &["compare", "search"]),
        ("index/storage", &["index::operations", "scheme", "text"]),
    ];
    let of_collections = [("watch", &["tune"][..])];
    let of_texts =
        of_texts.map(|(module, above)| (format!("crates/cento-text/src/{module}"), above));
    let of_indexes = of_indexes.map(|(module, above)| (format!("src/{module}"), above));
    let of_collections = of_collections
        .map(|(module, above)| (format!("crates/cento-collections/src/{module}"), above));
    for (module, forbidden) in of_texts.into_iter().chain(of_indexes).chain(of_collections) {
        for (name, text) in sources(&module) {
            for other in forbidden {
                assert!(!code(&text).contains(&format!("crate::{other}")), "{name} names {other}");
            }
        }
    }
    // The index itself does not depend on operations. Only `mod.rs` re-exports them.
    for (name, text) in sources("src/index") {
        let is_of_operations = name.starts_with("src/index/operations/");
        let is_above = is_of_operations || name == "src/index/mod.rs";
        assert!(is_above || !code(&text).contains("operations::"), "{name} names an operation");
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
                "src/search/filter/condition.rs",
                "src/search/filter/dates.rs",
                "src/search/filter/fields.rs",
                "src/search/filter/ranges.rs",
                "src/search/similar_to.rs",
            ][..],
        ),
        (
            "fst",
            &[
                "crates/cento-text/src/automaton.rs",
                "src/segment/terms.rs",
                "src/segment/term_index.rs",
                "crates/cento-text/src/scheme/frequency.rs",
            ],
        ),
        ("roaring", &["src/segment/postings.rs"]),
        (
            "tree_sitter",
            &[
                "crates/cento-text/src/text/code/kinds.rs",
                "crates/cento-text/src/text/code/meter.rs",
                "crates/cento-text/src/text/code/parse.rs",
                "crates/cento-text/src/text/code/reading.rs",
                "crates/cento-text/src/text/code/tree.rs",
            ],
        ),
        (
            "unicode_normalization",
            &[
                "crates/cento-text/src/text/unicode/normal.rs",
                "crates/cento-text/src/text/tokenize/tests.rs",
                "crates/cento-text/src/text/fold.rs",
            ],
        ),
        ("tar", &["crates/cento-source/src/archive.rs"]),
        // Documents of office programs are zip files of their own kind.
        (
            "zip",
            &[
                "crates/cento-source/src/archive",
                "crates/cento-source/src/grouping/tests.rs",
                "crates/cento-source/src/xml/",
            ],
        ),
        ("quick_xml", &["crates/cento-source/src/xml/", "crates/cento-report/src/network.rs"]),
        ("office_oxide", &["crates/cento-source/src/extract/old.rs"]),
        ("hyper", &["crates/cento-serve/src/connection", "crates/cento-serve/src/answer.rs"]),
        (
            "prometheus_client",
            &["crates/cento-serve/src/metrics.rs", "crates/cento-serve/src/process.rs"],
        ),
        ("ureq", &["crates/cento-client/src/", "crates/cento-web/src/fetch.rs"]),
        ("object_store", &["crates/cento-remote/src/"]),
        ("tokio", &["crates/cento-remote/src/store.rs", "crates/cento-serve/src/"]),
        ("maud", &["crates/cento-report/src/html/"]),
        (
            "parquet",
            &["crates/cento-source/src/columnar/", "crates/cento-report/src/parquet_rows.rs"],
        ),
        ("seccompiler", &["crates/cento-source/src/worker/confined.rs"]),
    ];
    for (name, text) in all_sources() {
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
fn the_library_knows_no_programs() {
    // These crates serve programs that talk to people or to a network.
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"));
    let manifest = manifest.unwrap();
    let (_, rest) = manifest.split_once("\n[dependencies]\n").unwrap();
    let (dependencies, _) = rest.split_once("\n[dev-dependencies]\n").unwrap();
    for krate in [
        "axum",
        "clap",
        "tokio",
        "hyper",
        "ureq",
        "object_store",
        "tar",
        "zip",
        "ignore",
        "indicatif",
        "utoipa",
    ] {
        let is_named = dependencies.lines().any(|line| line.starts_with(&format!("{krate} ")));
        assert!(!is_named && !dependencies.contains(&format!("\n{krate}.")), "{krate}");
    }
}

#[test]
fn a_client_of_the_service_has_no_engine() {
    let dependencies = |name: &str| {
        let path = format!("{}/crates/{name}/Cargo.toml", env!("CARGO_MANIFEST_DIR"));
        let manifest = fs::read_to_string(path).unwrap();
        let (_, rest) = manifest.split_once("\n[dependencies]\n").unwrap();
        let lines = rest.lines().take_while(|line| !line.starts_with('['));
        let names = lines.filter_map(|line| line.split([' ', '.']).next());
        names.filter(|name| !name.is_empty() && *name != "#").map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        dependencies("cento-api"),
        [
            "clap",
            "derive_setters",
            "serde",
            "serde_json",
            "serde_path_to_error",
            "strsim",
            "utoipa"
        ]
    );
    assert_eq!(
        dependencies("cento-client"),
        ["cento-api", "serde", "serde_json", "rustls", "ureq"]
    );
    // The schemas of the API are derived in tests: no dependency turns them on but theirs.
    for dir in ["cento-cli", "cento-client", "cento-serve", "cento-source"] {
        let path = format!("{}/crates/{dir}/Cargo.toml", env!("CARGO_MANIFEST_DIR"));
        let manifest = fs::read_to_string(path).unwrap();
        let (shipped, _) = manifest.split_once("\n[dev-dependencies]\n").unwrap_or((&manifest, ""));
        assert!(!shipped.contains("openapi"), "{dir}");
    }
}

#[test]
fn the_libraries_neither_print_nor_exit_nor_read_the_environment() {
    for (name, text) in all_sources() {
        if name.starts_with("crates/cento-cli/") || name == "crates/cento-web/src/main.rs" {
            continue;
        }
        for forbidden in ["println!", "eprintln!", "process::exit", "std::env::", "env::var"] {
            assert!(!code(&text).contains(forbidden), "{name} has {forbidden}");
        }
    }
}

#[test]
fn output_of_the_verbs_goes_through_the_terminal() {
    for (name, text) in sources("crates/cento-cli/src") {
        let is_terminal = name == "crates/cento-cli/src/terminal.rs";
        for forbidden in ["println!", "print!("] {
            assert!(is_terminal || !code(&text).contains(forbidden), "{name} has {forbidden}");
        }
    }
}

/// Returns the lines where tests of this text end early, as if they had passed.
fn early_ends(text: &str) -> Vec<usize> {
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let (mut found, mut test, mut is_next) = (Vec::new(), None, false);
    for (number, line) in text.lines().enumerate() {
        let trimmed = line.trim_start();
        is_next |= trimmed == "#[test]";
        if is_next && trimmed.starts_with("fn ") {
            (test, is_next) = (Some(indentation(line)), false);
        } else if let Some(start) = test {
            // An early end counts only in a block of the test itself. Deeper blocks may belong to
            // closures.
            let ends = trimmed.ends_with("{ return };") || trimmed.ends_with("{ return; }");
            let is_guard = indentation(line) == start + 4 && ends;
            let is_return = indentation(line) == start + 8 && trimmed == "return;";
            if is_guard || is_return {
                found.push(number + 1);
            }
            if trimmed == "}" && indentation(line) == start {
                test = None;
            }
        }
    }
    found
}

#[test]
fn a_test_that_cannot_run_is_ignored_and_does_not_pass() {
    let old = "#[test]\nfn pages() {\n    let Some(b) = start() else { return };\n    if b {\n        return;\n    }\n}\n";
    assert_eq!(early_ends(old), [3, 5]);
    assert!(early_ends(&old.replace("#[test]\n", "")).is_empty());
    for dir in ["src", "crates", "tests", "tools/src", "research/src", "fuzz/src"] {
        for (name, text) in sources(dir) {
            let lines = early_ends(&text);
            assert!(lines.is_empty(), "{name}, lines {lines:?}: write `#[ignore = \"needs ...\"]`");
        }
    }
}

/// A generated file, which may be long.
const GENERATED: &str = "crates/cento-text/src/text/unicode/tables.rs";

/// The directories with the Rust of the repository.
const DIRECTORIES: [&str; 10] = [
    "src",
    "crates",
    "tests",
    "benches",
    "tools/src",
    "research/src",
    "examples",
    "fuzz/src",
    "fuzz/targets",
    "python/src",
];

#[test]
fn files_are_short_ascii_and_finished() {
    for dir in DIRECTORIES {
        for (name, text) in sources(dir) {
            let is_short = text.lines().count() <= 600 || name == GENERATED;
            assert!(is_short, "{name} is longer than 600 lines");
            assert!(text.is_ascii(), "{name} is not ASCII");
            for unfinished in [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")] {
                assert!(!text.contains(unfinished), "{name} has {unfinished}");
            }
        }
    }
}

/// The list of files with lines over 100 columns, such as tables and markup. A row has the number
/// of such lines and the file.
const LONG_LINES: &str = "tests/data/long-lines.txt";

#[test]
fn lines_are_at_most_100_columns_long() {
    // rustfmt wraps neither comments nor literals, whatever its max_width.
    let mut found = BTreeMap::new();
    for (name, text) in DIRECTORIES.iter().flat_map(|dir| sources(dir)) {
        let count = text.lines().filter(|line| line.chars().count() > 100).count();
        found.extend((count > 0).then_some((name, count)));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(LONG_LINES);
    let list = fs::read_to_string(&path).unwrap();
    let rows = list.lines().map(|line| line.split_once('\t').unwrap());
    let allowed: BTreeMap<String, usize> =
        rows.map(|(count, name)| (name.to_owned(), count.parse().unwrap())).collect();
    let is_more = |(name, count): &(&String, &usize)| allowed.get(*name).is_none_or(|n| n < count);
    let more: Vec<_> = found.iter().filter(is_more).collect();
    assert!(more.is_empty(), "wrap the long lines of {more:?}");
    if found != allowed && std::env::var_os("CENTO_BLESS").is_some() {
        let rows = found.iter().map(|(name, count)| format!("{count}\t{name}\n"));
        fs::write(path, rows.collect::<String>()).unwrap();
    } else {
        assert_eq!(found, allowed, "{LONG_LINES} allows too many: run with CENTO_BLESS=1");
    }
}

/// The code of a file that is no test: tests are the last module of a file, or files of their own.
fn code_without_tests(text: &str) -> String {
    let code = before_tests(text);
    if code.contains("#[test]") { String::new() } else { code }
}

/// Returns the code of a file before its test module.
fn before_tests(text: &str) -> String {
    let code = code(text);
    let tests =
        Regex::new(r"#\[cfg\([^\]]*\btest\b[^\]]*\)\]\s*(?:#\[[^\]]*\]\s*)*mod \w+ \{").unwrap();
    tests.find(&code).map_or(code.clone(), |found| code[..found.start()].to_owned())
}

/// Where code tells errors apart by words of their messages.
fn reads_of_messages(code: &str) -> Vec<String> {
    // A chain of calls may be spread over lines.
    let joined = Regex::new(r"\s*\n\s*\.").unwrap().replace_all(code, ".").into_owned();
    let message = r"\b(?:what|why|message|reason|failure|error|err|e|said|refusal|problem|cause)";
    let call = r"\.(?:contains|starts_with|ends_with|find)\(";
    let read =
        format!(r"(?:{message}(?:\.\w+(?:\(\))?)*|\.to_string\(\)(?:\.\w+\(\))*){call}[^\n]*");
    let reads = Regex::new(&read).unwrap();
    reads.find_iter(&joined).map(|found| found.as_str().to_owned()).collect()
}

#[test]
fn errors_are_distinguished_by_reasons_and_not_by_words() {
    let files = all_sources().into_iter().chain(sources("python/src"));
    for (name, text) in files {
        let reads = reads_of_messages(&code_without_tests(&text));
        assert!(reads.is_empty(), "{name} reads a message; match `Error::reason()`: {reads:?}");
    }
}

#[test]
fn a_message_that_is_read_is_noticed() {
    for line in [
        "Error::Index { what, .. } if what.contains(\"let the later one win\") => {",
        "Error::Io { source, .. } if source.to_string().contains(RECORD_LIMIT) => {",
        "failure\n        .contains(\"only single values can be ids\")",
        "Some(match failure.starts_with(\"the xz\") {",
        "Ok(ZipForm::Unread(why)) if why.contains(\"Java\") => {",
        "by_beginning(start).is_some_and(|what| what.contains(\"convert it\"))",
        "let is_one = error.to_string().to_lowercase().ends_with(\"full\");",
        "if refusal.what.starts_with(\"longer than\") {",
        "TantivyError::ErrorInThread(what) if what.starts_with(\"Any\") => panicked(),",
    ] {
        assert_eq!(reads_of_messages(line).len(), 1, "{line}");
    }
    for line in [
        "if self.paths.contains(&path) {",
        "names.filter(|name| name.starts_with(start)).map(|name| name.to_string()).collect()",
        "let what = names.find(|name| *name == wanted);",
        "error.reason() == Reason::NotFound && path.ends_with(\"idx\")",
    ] {
        assert_eq!(reads_of_messages(line), [""; 0], "{line}");
    }
    let tested = "fn a() {}\n#[cfg(all(test, feature = \"x\"))]\nmod tests {\n what.contains(1)";
    assert_eq!(code_without_tests(tested).trim(), "fn a() {}");
    assert_eq!(code_without_tests("#[test]\nfn a() { what.contains(1) }"), "");
}

#[test]
fn the_architecture_names_modules_that_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    // The list of places for changes grows with the parts, and is not counted.
    let (before, rest) = text.split_once("\n## Where does a change go?\n").unwrap();
    let after = rest.find("\n## ").map_or("", |at| &rest[at..]);
    assert!(before.lines().count() + after.lines().count() <= 282);
    for word in text.split(|c: char| c.is_whitespace() || "`,;:()".contains(c)) {
        if ["src/", "tests/", "crates/"].iter().any(|dir| word.starts_with(dir)) {
            assert!(root.join(word.trim_end_matches('.')).exists(), "{word} is not there");
        }
    }
}
