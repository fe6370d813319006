//! Compares the public surface of the library, item by item, with a golden file, so that every
//! change shows in a diff.
//!
//! `CENTO_BLESS=1 cargo test -p cento --test it api` rewrites the golden file. Items with
//! `doc(hidden)` are not listed. They serve other packages of the workspace, and may change without
//! notice.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use quote::ToTokens;
use syn::{Attribute, Fields, ImplItem, Item, ItemImpl, TraitItem, Type, UseTree, Visibility};

/// A module with its items, and whether it is hidden.
struct Module {
    items: Vec<Item>,
    is_hidden: bool,
}

/// All modules by path. Modules of the library have paths such as `index::writer`, and modules of
/// [`API`] paths such as `cento_api::search`. The empty path is the root of the library. Modules of
/// [`TEXT`] count as the library's own, because the library re-exports them.
type Modules = BTreeMap<String, Module>;

/// The crate whose types the library re-exports.
const API: &str = "cento_api";

/// The crate whose modules the library re-exports.
const TEXT: &str = "cento_text";

/// The crate of joins, whose surface is listed next to the surface of the library.
const COLLECTIONS: &str = "cento_collections";

/// Returns the crate of a path. The library is the empty string.
fn crate_of(path: &str) -> &str {
    let first = path.split("::").next().unwrap_or_default();
    if [API, COLLECTIONS].contains(&first) { first } else { "" }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn has(attrs: &[Attribute], name: &str, word: &str) -> bool {
    // A documentation comment is a `doc = "..."`, and may have any word.
    let is = |attr: &&Attribute| {
        attr.path().is_ident(name) && !matches!(attr.meta, syn::Meta::NameValue(_))
    };
    attrs.iter().filter(is).any(|attr| attr.to_token_stream().to_string().contains(word))
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}::{name}") }
}

fn read(modules: &mut Modules, path: &str, file: &Path, is_hidden: bool) {
    let text = fs::read_to_string(file).unwrap();
    let parsed = syn::parse_file(&text).unwrap();
    // Modules of `a.rs` and `a/mod.rs` are in `a/`.
    let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
    let dir = file.parent().unwrap();
    let dir = if stem == "mod" || stem == "lib" { dir.to_owned() } else { dir.join(stem) };
    for item in &parsed.items {
        let Item::Mod(module) = item else { continue };
        if module.content.is_some() || has(&module.attrs, "cfg", "test") {
            continue;
        }
        let name = module.ident.to_string();
        let files = [dir.join(format!("{name}.rs")), dir.join(&name).join("mod.rs")];
        let file = files.iter().find(|file| file.exists()).expect("a module has a file");
        let is_shown = is_public(&module.vis) && !has(&module.attrs, "doc", "hidden");
        read(modules, &join(path, &name), file, is_hidden || !is_shown);
    }
    modules.insert(path.to_owned(), Module { items: parsed.items, is_hidden });
}

/// Reads the modules of [`TEXT`] that the library re-exports, and the modules used only inside.
fn read_reexported(modules: &mut Modules) {
    let mut of_text = Modules::new();
    read(&mut of_text, "", &root().join("crates/cento-text/src/lib.rs"), false);
    let mut found = Vec::new();
    for item in &modules[""].items {
        let Item::Use(import) = item else { continue };
        if is_public(&import.vis) {
            used(&import.tree, "", &mut found);
        }
    }
    let is_shown =
        |top: &str| found.iter().any(|(name, path)| *path == join(TEXT, name) && name == top);
    for (path, module) in of_text {
        let top = path.split("::").next().unwrap_or_default().to_owned();
        if !top.is_empty() {
            let is_hidden = module.is_hidden || !is_shown(&top);
            modules.insert(path, Module { is_hidden, ..module });
        }
    }
}

/// Collects the names that a `use` imports, with their paths.
fn used(tree: &UseTree, path: &str, found: &mut Vec<(String, String)>) {
    match tree {
        UseTree::Path(part) => used(&part.tree, &join(path, &part.ident.to_string()), found),
        UseTree::Name(name) => {
            found.push((name.ident.to_string(), join(path, &name.ident.to_string())));
        }
        UseTree::Rename(name) => {
            found.push((name.rename.to_string(), join(path, &name.ident.to_string())));
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| used(tree, path, found)),
        UseTree::Glob(_) => panic!("{path}: a glob hides public items"),
    }
}

/// Returns the module and name that define `path`, as seen from module `from`. `None` for foreign
/// crates.
fn resolve(modules: &Modules, from: &str, path: &str) -> Option<(String, String)> {
    let own = path.strip_prefix("crate::").map(|path| join(crate_of(from), path));
    let of_text = || Some(path.strip_prefix(TEXT)?.strip_prefix("::")?.to_owned());
    let path = match own.or_else(of_text) {
        Some(path) => path,
        None if !crate_of(path).is_empty() => path.to_owned(),
        None if path.starts_with("cento::") => path["cento::".len()..].to_owned(),
        None => match path.strip_prefix("super::") {
            Some(path) => join(from.rsplit_once("::").map_or("", |(parent, _)| parent), path),
            None => join(from, path.strip_prefix("self::").unwrap_or(path)),
        },
    };
    let (module, name) = path.rsplit_once("::").unwrap_or(("", &path));
    for item in &modules.get(module)?.items {
        let Item::Use(import) = item else { continue };
        let mut found = Vec::new();
        used(&import.tree, "", &mut found);
        if let Some((_, target)) = found.into_iter().find(|(as_name, _)| as_name == name) {
            // An import such as `use tantivy;` names a foreign crate.
            return (target != name).then(|| resolve(modules, module, &target))?;
        }
    }
    Some((module.to_owned(), name.to_owned()))
}

/// Returns a line of code without the additional spaces of `quote`.
fn tidy(tokens: impl ToTokens) -> String {
    let mut line = tokens.to_token_stream().to_string();
    for (spaced, plain) in [
        (" :: ", "::"),
        (" < ", "<"),
        ("< ", "<"),
        (" <", "<"),
        (" >", ">"),
        (" ,", ","),
        ("& ", "&"),
        (" :", ":"),
        (" ;", ";"),
        ("( ", "("),
        (" )", ")"),
        (" (", "("),
        ("[ ", "["),
        (" ]", "]"),
        ("'_ ", "'_ "),
        ("->", "-> "),
        (":: ", "::"),
        (" ::", "::"),
        ("fn(", "fn ("),
        ("->  ", "-> "),
    ] {
        line = line.replace(spaced, plain);
    }
    line.replace("-> ", " -> ").replace("  ", " ")
}

fn derives(attrs: &[Attribute]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("derive")) {
        let _ = attr.parse_nested_meta(|meta| {
            names.insert(meta.path.segments.last().unwrap().ident.to_string());
            Ok(())
        });
    }
    names
}

/// Adds the public parts of an item of module `module`.
fn describe(
    modules: &Modules,
    module: &str,
    name: &str,
    shown: &str,
    lines: &mut BTreeSet<String>,
) {
    let is_named = |item: &&Item| match item {
        Item::Struct(item) => item.ident == name,
        Item::Enum(item) => item.ident == name,
        Item::Trait(item) => item.ident == name,
        Item::Fn(item) => item.sig.ident == name,
        Item::Const(item) => item.ident == name,
        Item::Type(item) => item.ident == name,
        _ => false,
    };
    let found = modules[module].items.iter().find(is_named);
    let item = found.unwrap_or_else(|| panic!("{module}::{name} is not there"));
    let exhaustive = |attrs: &[Attribute]| {
        if has(attrs, "non_exhaustive", "") { "#[non_exhaustive] " } else { "" }
    };
    let fields = |fields: &Fields, prefix: &str, all: bool, lines: &mut BTreeSet<String>| {
        for (at, field) in fields.iter().enumerate() {
            if (all || is_public(&field.vis)) && !has(&field.attrs, "doc", "hidden") {
                let name = field.ident.as_ref().map_or(at.to_string(), ToString::to_string);
                lines.insert(format!("{prefix}.{name}: {}", tidy(&field.ty)));
            }
        }
    };
    match item {
        Item::Struct(item) => {
            lines.insert(format!(
                "{}struct {shown}{}",
                exhaustive(&item.attrs),
                tidy(&item.generics)
            ));
            fields(&item.fields, shown, false, lines);
            traits(shown, &derives(&item.attrs), lines);
        }
        Item::Enum(item) => {
            lines.insert(format!(
                "{}enum {shown}{}",
                exhaustive(&item.attrs),
                tidy(&item.generics)
            ));
            for variant in &item.variants {
                let variant_name = format!("{shown}::{}", variant.ident);
                lines.insert(variant_name.clone());
                fields(&variant.fields, &variant_name, true, lines);
            }
            traits(shown, &derives(&item.attrs), lines);
        }
        Item::Trait(item) => {
            lines.insert(format!("trait {shown}: {}", tidy(&item.supertraits)));
            for method in &item.items {
                if let TraitItem::Fn(method) = method {
                    lines.insert(format!("{shown}::{}", tidy(&method.sig)));
                }
            }
        }
        Item::Fn(item) => {
            lines.insert(format!("{shown}: {}", tidy(&item.sig)));
        }
        Item::Const(item) => {
            lines.insert(format!("const {shown}: {}", tidy(&item.ty)));
        }
        Item::Type(item) => {
            lines.insert(format!("type {shown}{} = {}", tidy(&item.generics), tidy(&item.ty)));
        }
        _ => unreachable!("only these are looked for"),
    }
    // Implementations stand anywhere in the same top-level module.
    let top = module.split("::").next().unwrap_or_default();
    let of_type = |item: &ItemImpl| match &*item.self_ty {
        Type::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == name),
        _ => false,
    };
    for (_, other) in modules.iter().filter(|(path, _)| path.split("::").next() == Some(top)) {
        for item in &other.items {
            let Item::Impl(item) = item else { continue };
            if !of_type(item) || has(&item.attrs, "cfg", "test") {
                continue;
            }
            if let Some((path, _)) = &item.trait_ {
                let last = path.segments.last().unwrap();
                lines.insert(format!("impl {} for {shown}", tidy(last)));
                continue;
            }
            for method in &item.items {
                if let ImplItem::Fn(method) = method
                    && is_public(&method.vis)
                    && !has(&method.attrs, "doc", "hidden")
                {
                    let must_use = has(&method.attrs, "must_use", "");
                    let must_use = if must_use { " #[must_use]" } else { "" };
                    lines.insert(format!("{shown}::{}{must_use}", tidy(&method.sig)));
                }
            }
        }
    }
}

fn traits(shown: &str, derived: &BTreeSet<String>, lines: &mut BTreeSet<String>) {
    if !derived.is_empty() {
        let names: Vec<&str> = derived.iter().map(String::as_str).collect();
        lines.insert(format!("impl {} for {shown}", names.join(", ")));
    }
}

/// Returns the public items by public path, and the number of types, functions and constants, not
/// counting fields, variants, methods and implementations.
fn surface() -> (Vec<String>, usize) {
    let mut modules = Modules::new();
    read(&mut modules, "", &root().join("src/lib.rs"), false);
    read(&mut modules, API, &root().join("crates/cento-api/src/lib.rs"), false);
    read_reexported(&mut modules);
    let collections = root().join("crates/cento-collections/src/lib.rs");
    read(&mut modules, COLLECTIONS, &collections, false);
    let (mut lines, mut count) = (BTreeSet::new(), 0);
    let shown = modules.iter().filter(|(path, module)| crate_of(path) != API && !module.is_hidden);
    for (path, module) in shown {
        for item in &module.items {
            let (vis, attrs, name) = match item {
                Item::Struct(item) => (&item.vis, &item.attrs, item.ident.to_string()),
                Item::Enum(item) => (&item.vis, &item.attrs, item.ident.to_string()),
                Item::Trait(item) => (&item.vis, &item.attrs, item.ident.to_string()),
                Item::Fn(item) => (&item.vis, &item.attrs, item.sig.ident.to_string()),
                Item::Const(item) => (&item.vis, &item.attrs, item.ident.to_string()),
                Item::Type(item) => (&item.vis, &item.attrs, item.ident.to_string()),
                Item::Use(item) if is_public(&item.vis) && !has(&item.attrs, "doc", "hidden") => {
                    let mut found = Vec::new();
                    used(&item.tree, "", &mut found);
                    for (name, target) in found {
                        let shown = join(path, &name);
                        // The items of a re-exported module are listed under the module.
                        if modules.contains_key(&name) && target == join(TEXT, &name) {
                            continue;
                        }
                        match resolve(&modules, path, &target) {
                            Some((module, name)) => {
                                count += 1;
                                describe(&modules, &module, &name, &shown, &mut lines);
                            }
                            None => {
                                lines.insert(format!("use {target} as {shown}"));
                            }
                        }
                    }
                    continue;
                }
                _ => continue,
            };
            if is_public(vis) && !has(attrs, "doc", "hidden") {
                count += 1;
                describe(&modules, path, &name, &join(path, &name), &mut lines);
            }
        }
    }
    (lines.into_iter().collect(), count)
}

#[test]
fn the_public_surface_is_the_one_that_was_agreed_on() {
    let (lines, count) = surface();
    let text = format!("{} lines; {count} types, functions and constants\n\n", lines.len())
        + &lines.join("\n")
        + "\n";
    let path = root().join("tests/golden/public-api.txt");
    if std::env::var_os("CENTO_BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    let changed = |a: &str, b: &str| {
        let b: BTreeSet<&str> = b.lines().collect();
        a.lines().filter(|line| !b.contains(line)).collect::<Vec<_>>().join("\n")
    };
    assert!(
        golden == text,
        "no longer public:\n{}\n\nnew:\n{}\n\nif that is meant, run with CENTO_BLESS=1, and say it in CHANGELOG.md",
        changed(&golden, &text),
        changed(&text, &golden)
    );
}
