//! No two files of a crate depend on each other.
//!
//! An import leads from the importing file to the file with the definition, even through the `pub
//! use` of a module between them. A module and the files below count as a unit: `mod.rs` may use
//! its files, and the files may use definitions of `mod.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use regex::Regex;

/// A file, as the module path below the root of its crate.
type Module = Vec<String>;

/// The files of a crate: their code without comments and tests.
struct Crate {
    code: BTreeMap<Module, String>,
    /// The imports of each file, with the local name and the path.
    names: BTreeMap<Module, BTreeMap<String, Vec<String>>>,
}

/// Returns the code of a file without comments and without code for tests only.
fn without_tests(text: &str) -> String {
    let mut lines = text.lines().peekable();
    let mut kept = String::new();
    while let Some(line) = lines.next() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        if line.trim() != "#[cfg(test)]" {
            kept.push_str(line);
            kept.push('\n');
            continue;
        }
        while lines.next_if(|next| next.trim_start().starts_with("#[")).is_some() {}
        let Some(item) = lines.next() else { break };
        if item.ends_with('{') {
            let end = format!("{}}}", &item[..item.len() - item.trim_start().len()]);
            lines.by_ref().find(|line| line.starts_with(&end));
        }
    }
    kept
}

/// Splits a list at the commas outside of braces.
fn items(list: &str) -> Vec<&str> {
    let (mut found, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, character) in list.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&list[start..]);
    found
}

/// Collects the paths in the tree of a `use`, with the local names.
fn flatten(prefix: &[String], tree: &str, found: &mut Vec<(Vec<String>, String)>) {
    let tree = tree.trim();
    if let Some((path, list)) = tree.strip_suffix('}').and_then(|tree| tree.split_once('{')) {
        let path = path.split("::").map(str::trim).filter(|part| !part.is_empty());
        let prefix: Vec<String> = prefix.iter().cloned().chain(path.map(str::to_owned)).collect();
        items(list).into_iter().for_each(|item| flatten(&prefix, item, found));
        return;
    }
    let (path, alias) = match tree.split_once(" as ") {
        Some((path, alias)) => (path, Some(alias.trim().to_owned())),
        None => (tree, None),
    };
    let own = path.split("::").map(str::trim).filter(|part| !part.is_empty() && *part != "self");
    let path: Vec<String> = prefix.iter().cloned().chain(own.map(str::to_owned)).collect();
    if let Some(last) = path.last().cloned() {
        found.push((path, alias.unwrap_or(last)));
    }
}

impl Crate {
    /// Builds a crate from files, given as paths below `src` with their texts.
    fn of(files: impl IntoIterator<Item = (String, String)>) -> Crate {
        let uses = Regex::new(r"(?m)^\s*(?:pub(?:\([^)]*\))?\s+)?use\s+([^;]+);").unwrap();
        let mut of = Crate { code: BTreeMap::new(), names: BTreeMap::new() };
        for (path, text) in files {
            let mut module: Module =
                path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
            if module.iter().any(|part| part == "tests") {
                continue;
            }
            if module.last().is_some_and(|last| last == "mod")
                || ["lib", "main"].contains(&module.join("/").as_str())
            {
                module.pop();
            }
            let text = without_tests(&text);
            let mut paths = Vec::new();
            for found in uses.captures_iter(&text) {
                flatten(&[], &found[1], &mut paths);
            }
            let names = paths.into_iter().map(|(path, name)| (name, path)).collect();
            of.names.insert(module.clone(), names);
            of.code.insert(module, uses.replace_all(&text, "").into_owned());
        }
        of
    }

    /// Returns the file that defines `path` as seen from `from`, or `None` for foreign crates.
    fn file_of(&self, from: &Module, path: &[String], depth: usize) -> Option<Module> {
        let (mut at, mut rest) = match path.first()?.as_str() {
            "crate" => (Module::new(), &path[1..]),
            "self" => (from.clone(), &path[1..]),
            "super" => {
                let ups = path.iter().take_while(|part| *part == "super").count();
                (from[..from.len().checked_sub(ups)?].to_vec(), &path[ups..])
            }
            first => {
                let child = [&from[..], &[first.to_owned()]].concat();
                self.code.get(&child)?;
                (child, &path[1..])
            }
        };
        while let Some((name, behind)) = rest.split_first() {
            let child = [&at[..], std::slice::from_ref(name)].concat();
            if self.code.contains_key(&child) {
                (at, rest) = (child, behind);
                continue;
            }
            let imported = self.names.get(&at).and_then(|names| names.get(name));
            let of = |path: &Vec<String>| self.file_of(&at, path, depth + 1);
            return imported.filter(|_| depth < 8).and_then(of).or(Some(at));
        }
        Some(at)
    }

    /// Returns the dependencies of each file, without files above and below.
    fn needs(&self) -> BTreeMap<&Module, BTreeSet<Module>> {
        let inline = Regex::new(r"\b(?:crate|super)(?:::\w+)+").unwrap();
        let mut needs = BTreeMap::new();
        for (file, code) in &self.code {
            let written = inline.find_iter(code).map(|found| {
                found.as_str().split("::").map(str::to_owned).collect::<Vec<String>>()
            });
            let imported = self.names[file].values().cloned();
            let all = written.chain(imported).filter_map(|path| self.file_of(file, &path, 0));
            let is_other = |other: &Module| !other.starts_with(file) && !file.starts_with(other);
            needs.insert(file, all.filter(is_other).collect());
        }
        needs
    }

    /// Returns the groups of files with circular dependencies, direct or indirect.
    fn circles(&self) -> BTreeSet<Vec<String>> {
        let needs = self.needs();
        let mut reached: BTreeMap<&Module, BTreeSet<&Module>> = BTreeMap::new();
        for file in self.code.keys() {
            let (mut seen, mut open) = (BTreeSet::new(), vec![file]);
            while let Some(next) = open.pop() {
                open.extend(needs[next].iter().filter(|found| seen.insert(*found)));
            }
            reached.insert(file, seen);
        }
        let circle = |file: &&Module| {
            let meets = |other: &&&Module| reached[**other].contains(*file);
            reached[*file].iter().filter(meets).map(|other| other.join("/")).collect()
        };
        let in_circles = self.code.keys().filter(|file| reached[file].contains(file));
        in_circles.map(|file| circle(&file)).collect()
    }
}

fn sources(dir: &Path, below: &str, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(dir).unwrap() {
        let (path, name) = {
            let entry = entry.unwrap();
            (entry.path(), entry.file_name().into_string().unwrap())
        };
        if path.is_dir() {
            sources(&path, &format!("{below}{name}/"), found);
        } else if name.ends_with(".rs") {
            found.push((format!("{below}{name}"), fs::read_to_string(path).unwrap()));
        }
    }
}

#[test]
fn no_files_of_a_crate_need_each_other() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut crates = vec!["src".to_owned(), "python/src".to_owned(), "tools/src".to_owned()];
    for entry in fs::read_dir(root.join("crates")).unwrap() {
        crates.push(format!("crates/{}/src", entry.unwrap().file_name().to_str().unwrap()));
    }
    let mut circles = Vec::new();
    for name in &crates {
        let mut files = Vec::new();
        sources(&root.join(name), "", &mut files);
        assert!(!files.is_empty(), "{name}");
        let found = Crate::of(files).circles();
        circles.extend(found.into_iter().map(|files| format!("{name}: {}", files.join(", "))));
    }
    assert!(circles.is_empty(), "circles of imports:\n{}", circles.join("\n"));
}

#[test]
fn a_circle_is_found_through_what_a_module_hands_on() {
    let files = |of: &[(&str, &str)]| {
        Crate::of(of.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))).circles()
    };
    let circle = [
        ("lib.rs", "mod a;\nmod b;\npub use b::Of;"),
        ("a.rs", "use crate::{Of, other};"),
        ("b.rs", "fn f() {\n    super::a::g();\n}"),
    ];
    assert_eq!(files(&circle), BTreeSet::from([vec!["a".to_owned(), "b".to_owned()]]));
    let three = [
        ("x/mod.rs", "mod a;\nmod b;\nmod c;"),
        ("x/a.rs", "use super::b::{self, B};"),
        ("x/b.rs", "use super::{c::{C, D as E}};"),
        ("x/c.rs", "use crate::x::a;"),
    ];
    assert_eq!(files(&three).iter().map(Vec::len).collect::<Vec<_>>(), [3]);
    // A test may use a file above, and a module and its files count as a unit.
    let none = [
        ("lib.rs", "mod a;\nmod b;\npub struct Of;"),
        ("a.rs", "use crate::{Of, b};"),
        (
            "b.rs",
            "// use crate::a;\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}\nuse crate::Of;",
        ),
    ];
    assert_eq!(files(&none), BTreeSet::new());
}
