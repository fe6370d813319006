//! Generates the pages about JSON from the schemas of openapi.json and from what the verbs write.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use super::{check, text};
use crate::common::run::Dir;

/// The schemas of the HTTP API, whose types the command writes too.
struct Schemas(Map<String, Value>);

impl Schemas {
    fn read() -> Schemas {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cento-serve/openapi.json");
        let document: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        Schemas(document["components"]["schemas"].as_object().unwrap().clone())
    }

    fn get(&self, name: &str) -> &Value {
        self.0.get(name).unwrap_or_else(|| panic!("there is no schema {name}"))
    }

    /// Returns the fields of an object, including fields of flattened objects.
    fn fields<'a>(&'a self, schema: &'a Value) -> Vec<(&'a str, &'a Value)> {
        if let Some(name) = referred(schema) {
            return self.fields(self.get(name));
        }
        let parts = schema["allOf"].as_array().into_iter().flatten();
        let mut fields: Vec<_> = parts.flat_map(|part| self.fields(part)).collect();
        let own = schema["properties"].as_object().into_iter().flatten();
        fields.extend(own.map(|(name, field)| (name.as_str(), field)));
        fields
    }

    /// Returns the objects with these names, and the objects in their fields.
    fn reachable<'a>(&'a self, names: &[&'a str]) -> Vec<&'a str> {
        let mut all: Vec<&str> = Vec::new();
        let mut waiting: Vec<&str> = names.iter().rev().copied().collect();
        while let Some(name) = waiting.pop() {
            if all.contains(&name) || self.fields(self.get(name)).is_empty() {
                continue;
            }
            all.push(name);
            for (_, field) in self.fields(self.get(name)).into_iter().rev() {
                referred_in(field, &mut waiting);
            }
        }
        all
    }

    /// Describes the type of a field, with the object's place in the pages.
    fn kind(&self, field: &Value, place: &dyn Fn(&str) -> String) -> String {
        if let Some(name) = referred(field) {
            let named = self.get(name);
            let values = named["enum"].as_array();
            let value = |value: &Value| format!("`{}`", value.as_str().unwrap());
            return match values {
                Some(values) => values.iter().map(value).collect::<Vec<_>>().join(", "),
                None if self.fields(named).is_empty() => {
                    named["type"].as_str().unwrap_or("see the meaning").into()
                }
                None => format!("[{name}]({})", place(name)),
            };
        }
        if let Some(alternatives) = field["oneOf"].as_array() {
            let kinds = alternatives.iter().filter(|one| one["type"] != "null");
            return kinds.map(|one| self.kind(one, place)).collect::<Vec<_>>().join(" or ");
        }
        if field["items"].is_object() {
            return format!("list of {}", self.kind(&field["items"], place));
        }
        match &field["type"] {
            Value::Array(kinds) => kinds.iter().find(|kind| *kind != "null").unwrap(),
            kind => kind,
        }
        .as_str()
        .unwrap_or("any")
        .to_owned()
    }
}

/// Returns the name of the schema that a schema refers to.
fn referred(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

fn referred_in<'a>(field: &'a Value, names: &mut Vec<&'a str>) {
    match field {
        Value::Object(fields) => {
            names.extend(referred(field));
            fields.values().for_each(|value| referred_in(value, names));
        }
        Value::Array(values) => values.iter().for_each(|value| referred_in(value, names)),
        _ => {}
    }
}

/// Returns the description of a field on one line.
fn meaning(field: &Value) -> String {
    let alternatives = field["oneOf"].as_array().into_iter().flatten();
    let mut all = std::iter::once(field).chain(alternatives).map(|one| text(one, "description"));
    let said = all.find(|said| !said.is_empty()).unwrap_or("");
    said.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// What a verb writes with `--format json`: a command line for the samples, and the objects of its
/// lines. Without objects, the page lists the fields.
type VerbLines = (&'static str, &'static [&'static str]);

/// The pages, with the verbs of each.
const PAGES: [(&str, &[VerbLines]); 3] = [
    (
        "json.md",
        &[
            ("search articles.idx essay.txt --passages", &["Answer"]),
            ("trace articles.idx essay.txt", &["Answer"]),
            ("list articles.idx", &["ListedDocument"]),
            ("show articles.idx tides", &["ListedDocument"]),
        ],
    ),
    (
        "json-collections.md",
        &[
            ("compare class/anna.txt class/ben.txt", &["Comparison"]),
            ("pairs class --against course", &["SymmetricPair", "Sources"]),
            ("pairs articles.idx", &["PairReport"]),
            ("families press.jsonl --date date", &["Family"]),
            ("lineage press.jsonl --date date", &["Descent"]),
            ("cluster articles.jsonl", &[]),
            ("dedup articles.jsonl --out kept.jsonl", &[]),
            ("decontaminate pages.jsonl --against quiz.jsonl", &[]),
            ("method fingerprint essay.txt", &[]),
            ("method boilerplate class", &[]),
        ],
    ),
    (
        "json-index.md",
        &[
            ("stats articles.idx", &["Stats"]),
            ("check articles.idx", &[]),
            ("recover articles.idx", &[]),
            ("add articles.idx next.jsonl", &["AddReport"]),
            ("compact articles.idx", &["Compaction"]),
            ("merge all.idx articles.idx", &["AddedIndexes"]),
            ("remove articles.idx bees", &["RemoveResponse"]),
            ("withdraw articles.idx tides", &["WithdrawResponse"]),
            ("watch list articles.idx", &["Watch"]),
            ("store push articles.idx store", &[]),
            ("store history store", &[]),
        ],
    ),
];

/// Returns the rows of the table of verbs. Runs every verb, and compares the fields with the
/// objects.
fn verbs(dir: &Dir, schemas: &Schemas, verbs: &[VerbLines]) -> String {
    let mut rows = "| command | each line | further fields |\n|---|---|---|\n".to_owned();
    for (line, objects) in verbs {
        let arguments: Vec<&str> = line.split(' ').chain(["--format", "json"]).collect();
        let run = dir.run(&arguments);
        assert!(!run.out.is_empty(), "cento {line} writes nothing: {}", run.err);
        let known = objects.iter().flat_map(|name| schemas.fields(schemas.get(name)));
        let known: Vec<&str> = known.map(|(name, _)| name).collect();
        let mut further: Vec<String> = Vec::new();
        for written in run.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
            for name in written.as_object().unwrap().keys() {
                let shown = format!("`{name}`");
                if !known.contains(&name.as_str()) && !further.contains(&shown) {
                    further.push(shown);
                }
            }
        }
        let words = line.split(' ').take_while(|word| !word.contains('.'));
        let is_group = |word: &&str| ["watch", "store", "method"].contains(word);
        let count = if words.clone().next().is_some_and(|word| is_group(&word)) { 2 } else { 1 };
        let verb: Vec<&str> = words.take(count).collect();
        let objects: Vec<String> =
            objects.iter().map(|name| format!("[{name}](#{})", name.to_lowercase())).collect();
        let of = if *line == "pairs articles.idx" { " of indexes" } else { "" };
        let (verb, objects, further) = (verb.join(" "), objects.join(", "), further.join(", "));
        let _ = writeln!(rows, "| `cento {verb}`{of} | {objects} | {further} |");
    }
    rows
}

/// Returns a table of fields for every object. `pages` has the pages of objects that an earlier
/// page shows.
fn tables(schemas: &Schemas, names: &[&str], pages: &BTreeMap<&str, &str>) -> String {
    let place = |name: &str| {
        let page = pages.get(name).copied().unwrap_or_default();
        format!("{page}#{}", name.to_lowercase())
    };
    let mut made = String::new();
    for name in names {
        let schema = schemas.get(name);
        let _ = write!(made, "\n## {name}\n\n{}\n\n", meaning(schema));
        made.push_str("| field | type | meaning |\n|---|---|---|\n");
        for (field, described) in schemas.fields(schema) {
            let kind = schemas.kind(described, &place);
            let _ = writeln!(made, "| `{field}` | {kind} | {} |", meaning(described));
        }
    }
    made
}

#[test]
fn the_fields_of_json_are_those_of_the_types() {
    let (dir, schemas) = (Dir::new(), Schemas::read());
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/samples");
    copy(&samples, &dir.path("."));
    dir.json(&["add", "articles.idx", "articles.jsonl"]);
    dir.json(&["watch", "add", "articles.idx", "essay.txt"]);
    let mut pages = BTreeMap::new();
    for (page, lines) in PAGES {
        let objects: Vec<&str> = lines.iter().flat_map(|(_, objects)| *objects).copied().collect();
        let mut objects = schemas.reachable(&objects);
        objects.retain(|name| !pages.contains_key(name));
        let made = verbs(&dir, &schemas, lines) + &tables(&schemas, &objects, &pages);
        check(page, &made);
        pages.extend(objects.into_iter().map(|name| (name, page)));
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            fs::create_dir(&to).unwrap();
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).unwrap();
        }
    }
}
