//! Generates the reference pages of the book from the help of the command and openapi.json.
//!
//! A page begins with handwritten text, and the part after [`MARKER`] is generated. A stale page
//! fails a test, and `CENTO_BLESS=1` rewrites the page.

mod help;
mod json;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::run::Dir;
use help::{Entry, Verb};

/// A page is generated from this line on.
const MARKER: &str =
    "<!-- generated; CENTO_BLESS=1 cargo test -p cento-cli --test it reference:: -->\n\n";

/// The groups of `cento --help` and their pages.
const GROUPS: [(&str, &str); 5] = [
    ("Index:", "index-verbs.md"),
    ("Search:", "search-verbs.md"),
    ("Collections:", "collection-verbs.md"),
    ("Methods:", "method-verbs.md"),
    ("Service and stores:", "service-verbs.md"),
];

/// An option is described once if at least this many verbs use the same description.
const SHARED: usize = 3;

/// The text before the table of the abilities of formats.
const ABILITIES: &str = "
## Abilities

A test reads the same text in all of these formats. *Joined words*: a word that the file \
hyphenates is one word. *Notes*: the mark of a note is no text, and the note comes after its \
sentence or at the end. *Captions* and the cells of *tables* are read, each apart. *Hidden text*, \
the *numbers* of lines and *metadata*, such as the author, are no text. *Encodings*: cento uses \
the encoding that a file declares, or detects it. A format without such a thing has `-`; `is text` \
stands where it stays in the text, such as the head of a Markdown file. A hyphen \
at the end of a line of plain text stays, because only the writer knows whether it belongs to the \
word. The [fold](schemes.md) `hyphens` joins these words, and the fold `numbers` leaves out \
numbers of lines.

";

/// Compares the generated part of a page with `made`, or rewrites the page.
fn check(page: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(page);
    let text = fs::read_to_string(&path).unwrap();
    let (head, kept) = text.split_once(MARKER).unwrap_or_else(|| panic!("{page} has no marker"));
    if std::env::var_os("CENTO_BLESS").is_some() {
        fs::write(&path, format!("{head}{MARKER}{made}")).unwrap();
    } else if kept != made {
        let differs = |(kept, made): &(&str, &str)| kept != made;
        let first = kept.lines().zip(made.lines()).find(differs);
        panic!("docs/reference/{page} is stale, run with CENTO_BLESS=1: {first:?}");
    }
}

/// The verbs of a group in the order of `cento --help`, each before the verbs below.
fn verbs(dir: &Dir, all: &[(String, String)], group: &str) -> Vec<Verb> {
    let text = dir.run(&["--help"]).out;
    let (_, rest) = text.split_once(group).unwrap_or_else(|| panic!("no group {group}"));
    let lines = rest.lines().skip(1).take_while(|line| line.starts_with("  "));
    let names: Vec<&str> = lines.filter_map(|line| line.split_whitespace().next()).collect();
    let is_in = |name: &str| name.split(' ').next().is_some_and(|verb| names.contains(&verb));
    let verbs = all.iter().filter(|(name, _)| is_in(name));
    verbs.map(|(name, help)| Verb::parse(name, help)).collect()
}

/// An option or argument with its description, as a list item.
fn item(entry: &Entry) -> String {
    let mut item = format!("- `{}`: {}\n", entry.name, help::escaped(&entry.text));
    for (value, meaning) in &entry.values {
        let _ = writeln!(item, "  - `{value}`: {}", help::escaped(meaning));
    }
    item
}

#[test]
fn options_are_described_as_in_the_help() {
    let dir = Dir::new();
    let verbs_with_help = dir.all_verbs();
    let groups = GROUPS.map(|(group, page)| (page, verbs(&dir, &verbs_with_help, group)));
    let all: Vec<&Verb> = groups.iter().flat_map(|(_, verbs)| verbs).collect();
    assert!(all.len() > 25, "{} verbs", all.len());
    let verbs_with = |entry: &Entry| -> Vec<&str> {
        let has = |verb: &&&Verb| verb.options.iter().any(|(_, other)| other == entry);
        all.iter().filter(has).map(|verb| &*verb.name).collect()
    };
    let is_shared = |entry: &Entry| verbs_with(entry).len() >= SHARED;

    for (page, verbs) in &groups {
        let mut made = String::new();
        for verb in verbs {
            let _ = write!(made, "## cento {}\n\n{}\n", verb.name, verb.about);
            let _ = write!(made, "Usage: `{}`\n\n", verb.usage);
            for (title, list) in [("Arguments", &verb.arguments), ("Commands", &verb.commands)] {
                if !list.is_empty() {
                    let _ = write!(made, "{title}:\n\n");
                    made.extend(list.iter().map(item));
                    made.push('\n');
                }
            }
            let mut heading = "";
            for (group, entry) in verb.options.iter().filter(|(_, entry)| !is_shared(entry)) {
                if group != heading {
                    let end = if heading.is_empty() { "" } else { "\n" };
                    let _ = write!(made, "{end}{group}:\n\n");
                    heading = group;
                }
                made += &item(entry);
            }
            if !heading.is_empty() {
                made.push('\n');
            }
            let shared = verb.options.iter().filter(|(_, entry)| is_shared(entry));
            let shared: Vec<String> =
                shared.map(|(_, entry)| format!("`{}`", entry.long())).collect();
            if !shared.is_empty() {
                let _ =
                    write!(made, "[Shared options](shared-options.md): {}.\n\n", shared.join(", "));
            }
            if !verb.examples.is_empty() {
                made += "<!-- not run: an example of the help -->\n\n";
                made.extend(verb.examples.iter().map(|line| format!("    {line}\n")));
                made.push('\n');
            }
        }
        check(page, &format!("{}\n", made.trim_end()));
    }

    let mut made = String::new();
    let mut seen: Vec<&Entry> = Vec::new();
    let mut headings: Vec<&str> = Vec::new();
    for (heading, _) in all.iter().flat_map(|verb| &verb.options) {
        if !headings.contains(&&**heading) {
            headings.push(heading);
        }
    }
    for heading in headings {
        let mut items = String::new();
        for (_, entry) in all.iter().flat_map(|verb| &verb.options).filter(|(of, _)| of == heading)
        {
            if is_shared(entry) && !seen.contains(&entry) {
                seen.push(entry);
                let verbs = verbs_with(entry).join("`, `");
                let _ = writeln!(items, "{}  - Of `{verbs}`", item(entry));
            }
        }
        if !items.is_empty() {
            let _ = write!(made, "## {heading}\n\n{items}\n");
        }
    }
    check("shared-options.md", &format!("{}\n", made.trim_end()));
}

/// A text field of a JSON object.
fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or("")
}

/// The parameters of a scheme, an analyzer or a measure, as the items of a list.
fn parameters(entry: &Value) -> String {
    let parameters = entry["parameters"].as_array().unwrap().iter();
    let item = |parameter: &Value| {
        let range = match (parameter["min"].as_u64(), parameter["max"].as_u64()) {
            (Some(min), Some(max)) => format!(", {min} to {max}"),
            _ => String::new(),
        };
        format!("  - `{}`{range}: {}\n", text(parameter, "name"), text(parameter, "meaning"))
    };
    parameters.map(item).collect()
}

#[test]
fn presets_schemes_analyzers_and_measures_are_those_of_info() {
    let dir = Dir::new();
    let mut made = "## Presets\n\n".to_owned();
    for line in dir.run(&["info", "presets", "--format", "json"]).out.lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        let (name, purpose) = (text(&entry, "name"), text(&entry, "purpose"));
        let (scheme, analyzer) = (text(&entry, "scheme"), text(&entry, "analyzer"));
        let _ =
            write!(made, "- `--for {name}`: {purpose}. Scheme `{scheme}`, analyzer `{analyzer}`.");
        if let Some(rank) = entry["rank"].as_str() {
            let _ = write!(made, " Ranking `{rank}`.");
        }
        if let Some(least) = entry["min_resemblance"].as_f64() {
            let _ = write!(made, " Least resemblance of near-duplicates {least}");
            match entry["dedup_min_resemblance"].as_f64().filter(|of_dedup| *of_dedup != least) {
                Some(of_dedup) => _ = write!(made, ", in dedup {of_dedup}."),
                None => made.push('.'),
            }
        }
        made.push('\n');
    }
    made.push('\n');
    for (list, title) in
        [("schemes", "Schemes"), ("analyzers", "Analyzers"), ("measures", "Measures")]
    {
        let _ = write!(made, "## {title}\n\n");
        for line in dir.run(&["info", list, "--format", "json"]).out.lines() {
            let entry: Value = serde_json::from_str(line).unwrap();
            let _ = write!(made, "- `{}`: {}.", text(&entry, "spec"), text(&entry, "summary"));
            let facts = [
                ("purpose", "For"),
                ("span", "A fingerprint spans"),
                ("density", "Share of the runs that is kept:"),
                ("table", "Needs a table of"),
                ("costs", "Time:"),
                ("source", "Source:"),
            ];
            for (field, words) in facts {
                if let Some(value) = entry[field].as_str() {
                    let _ = write!(made, " {words} {value}.");
                }
            }
            let _ = write!(made, "\n{}", parameters(&entry));
        }
        made.push('\n');
    }
    check("schemes.md", &format!("{}\n", made.trim_end()));
}

#[test]
fn formats_are_those_of_the_list() {
    let mut made = "| format | endings | a document is | lines | feature |\n".to_owned();
    made.push_str("|---|---|---|---|---|\n");
    for format in cento_source::formats() {
        let endings: Vec<String> = format.endings.iter().map(|end| format!("`{end}`")).collect();
        let feature = format.feature.map_or(String::new(), |name| format!("`{name}`"));
        let lines = if format.keeps_lines { "those of the file" } else { "" };
        let (name, documents, endings) = (format.name, format.documents, endings.join(" "));
        let _ = writeln!(made, "| {name} | {endings} | {documents} | {lines} | {feature} |");
    }
    made.push_str(ABILITIES);
    made.push_str(&crate::abilities::table());
    check("formats.md", &made);
}

#[test]
fn the_guide_names_an_ending_of_every_format() {
    let chapter = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/howto/read-files.md");
    let chapter = fs::read_to_string(chapter).unwrap();
    let words: Vec<&str> = chapter.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    for format in cento_source::formats() {
        let is_there = format.endings.iter().any(|end| words.contains(&&end[1..]));
        assert!(is_there, "docs/howto/read-files.md does not describe {}", format.name);
    }
}

#[test]
fn routes_are_those_of_the_document_of_the_api() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cento-serve/openapi.json");
    let document: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let mut made = "| route | purpose | parameters |\n|---|---|---|\n".to_owned();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, route) in methods.as_object().unwrap() {
            let names = route["parameters"].as_array().into_iter().flatten();
            let names: Vec<String> =
                names.map(|parameter| format!("`{}`", text(parameter, "name"))).collect();
            let method = method.to_uppercase();
            let (summary, names) = (text(route, "summary"), names.join(", "));
            let _ = writeln!(made, "| `{method} {path}` | {summary} | {names} |");
        }
    }
    check("http.md", &made);
}
