//! The READMEs of the crates are generated from manifests and from the heads of the documentation.
//!
//! `CENTO_BLESS=1 cargo test -p cento --test it readmes::` rewrites them.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;
use toml_edit::{DocumentMut, Item, Table};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn manifest(path: &Path) -> DocumentMut {
    fs::read_to_string(path).unwrap().parse().unwrap()
}

/// The directories of the published crates beside the library, in the order of their names.
fn crates() -> Vec<PathBuf> {
    let is_published = |dir: &PathBuf| {
        let package = manifest(&dir.join("Cargo.toml"));
        package["package"].get("publish").and_then(Item::as_bool) != Some(false)
    };
    let entries = fs::read_dir(root().join("crates")).unwrap();
    let mut dirs: Vec<PathBuf> =
        entries.map(|entry| entry.unwrap().path()).filter(is_published).collect();
    dirs.sort();
    dirs
}

/// Returns a field of the package, or of the workspace if the package inherits the field.
fn field(package: &Table, workspace: &Table, name: &str) -> String {
    match &package[name] {
        Item::Value(value) if value.is_str() => value.as_str().unwrap().to_owned(),
        inherited => {
            assert_eq!(inherited["workspace"].as_bool(), Some(true), "`{name}`");
            workspace[name].as_str().unwrap().to_owned()
        }
    }
}

/// A paragraph in lines of at most 100 columns.
fn wrapped(paragraph: &str) -> String {
    let mut lines = vec![String::new()];
    for word in paragraph.split_whitespace() {
        let line = lines.last_mut().unwrap();
        match line.is_empty() || line.len() + 1 + word.len() <= 100 {
            true if line.is_empty() => line.push_str(word),
            true => *line += &format!(" {word}"),
            false => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

/// Returns at most two paragraphs after the title of a crate's documentation, before any table,
/// list, heading or code. Links to items become their names.
fn introduction(dir: &Path) -> String {
    let file = ["src/lib.rs", "src/main.rs"].map(|name| dir.join(name));
    let file = file.iter().find(|file| file.exists()).unwrap();
    let text = fs::read_to_string(file).unwrap();
    let lines = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let lines = lines.collect::<Vec<_>>().join("\n");
    let is_other =
        |paragraph: &str| ["|", "-", "#", "```"].iter().any(|m| paragraph.starts_with(m));
    let links = Regex::new(r"\[(`[^`]+`)\](?:\([^)]*\))?").unwrap();
    let prose = lines.split("\n\n").skip(1).take_while(|paragraph| !is_other(paragraph)).take(2);
    let prose = prose.map(|paragraph| wrapped(&links.replace_all(paragraph, "$1")));
    prose.collect::<Vec<_>>().join("\n\n")
}

/// Returns the features: name, comment above, and whether the feature is on by default.
fn features(manifest: &DocumentMut) -> Vec<(String, String, bool)> {
    let Some(features) = manifest.get("features").and_then(Item::as_table) else {
        return Vec::new();
    };
    let defaults = |name: &str| {
        let default = features.get("default").and_then(Item::as_array);
        default.is_some_and(|default| default.iter().any(|on| on.as_str() == Some(name)))
    };
    let names = features.iter().map(|(name, _)| name).filter(|name| *name != "default");
    names
        .map(|name| {
            let decor = features.key(name).unwrap().leaf_decor();
            let above = decor.prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default();
            let lines = above.lines().filter_map(|line| line.trim().strip_prefix('#'));
            let comment = lines.map(str::trim).collect::<Vec<_>>().join(" ");
            assert!(!comment.is_empty(), "the feature `{name}` has no comment");
            (comment, name.to_owned(), defaults(name))
        })
        .collect()
}

fn readme(dir: &Path, workspace: &Table) -> String {
    let manifest = manifest(&dir.join("Cargo.toml"));
    let package = manifest["package"].as_table().unwrap();
    let field = |name: &str| field(package, workspace, name);
    let name = field("name");
    let install = match dir.join("src/main.rs").exists() {
        true => format!("cargo install --locked {name}"),
        false => format!("cargo add {name}"),
    };
    let mut text = format!(
        "<!-- Made from Cargo.toml and the documentation of the crate by tests/it/readmes.rs. -->\n\n\
         # {name}\n\n{}\n\n{}\n\n    {install}\n",
        wrapped(&format!("{}.", field("description"))),
        introduction(dir),
    );
    let features = features(&manifest);
    if !features.is_empty() {
        text += "\n| feature | default | adds |\n|---|---|---|\n";
    }
    for (comment, name, is_on) in features {
        let on = if is_on { "on" } else { "off" };
        writeln!(text, "| `{name}` | {on} | {} |", comment.trim_end_matches('.')).unwrap();
    }
    let repository = field("repository");
    let project = match repository.is_empty() {
        true => "cento".to_owned(),
        false => format!("[cento]({repository})"),
    };
    let license = field("license").replace(" OR ", " or ");
    let end = format!(
        "You need Rust {} or later. License: {license}. Part of {project}, a search engine for \
         near-duplicate and reused text. Its library is the package \
         [`cento`](https://crates.io/crates/cento).",
        field("rust-version"),
    );
    writeln!(text, "\n{}", wrapped(&end)).unwrap();
    text
}

#[test]
fn the_readmes_of_the_crates_are_those_of_their_manifests() {
    let workspace = manifest(&root().join("Cargo.toml"));
    let workspace = workspace["workspace"]["package"].as_table().unwrap();
    let mut stale = Vec::new();
    for dir in crates() {
        let (path, expected) = (dir.join("README.md"), readme(&dir, workspace));
        if fs::read_to_string(&path).unwrap_or_default() == expected {
            continue;
        }
        match std::env::var_os("CENTO_BLESS") {
            Some(_) => fs::write(&path, expected).unwrap(),
            None => stale.push(path),
        }
    }
    assert!(stale.is_empty(), "run with CENTO_BLESS=1, these are stale: {stale:?}");
}

#[test]
fn a_readme_says_of_each_feature_whether_it_is_a_default() {
    let text = "[features]\ndefault = [\"a\"]\n# One.\na = []\n# Two\n# and more.\nb = [\"a\"]\n";
    let expected = [("One.", "a", true), ("Two and more.", "b", false)];
    let expected = expected.map(|(comment, name, on)| (comment.to_owned(), name.to_owned(), on));
    assert_eq!(features(&text.parse().unwrap()), expected);
}

#[test]
fn every_published_package_has_links_and_a_license() {
    let dirs = crates().into_iter().chain([root().to_owned()]);
    for dir in dirs {
        let manifest = manifest(&dir.join("Cargo.toml"));
        let package = manifest["package"].as_table().unwrap();
        for inherited in ["version", "license", "repository", "rust-version"] {
            let is_inherited = package[inherited]["workspace"].as_bool() == Some(true);
            assert!(is_inherited, "{}: `{inherited}`", dir.display());
        }
        assert!(package["documentation"].is_str(), "{}: `documentation`", dir.display());
        let is_library = dir.join("src/lib.rs").exists();
        let docs = package.get("metadata").and_then(|metadata| metadata.get("docs"));
        let has_features = manifest.get("features").is_some();
        assert_eq!(docs.is_some(), is_library && has_features, "{}", dir.display());
    }
}
