//! `cento schemes`, `cento analyzers`, `cento measures`: what is there to choose from?
//!
//! All that is shown comes from the library's own lists of families.

use std::collections::BTreeMap;
use std::io::{self, Write};

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::terminal::{json, line};
use super::{Outcome, Result};
use cento::compare::measure;
use cento::scheme;
use cento::spec::{Description, Family, Parameter};
use cento::text::analyzer;

/// Output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ListFormat {
    /// Text for people.
    #[value(alias = "human")]
    Text,
    /// JSON lines for programs.
    Json,
}

#[derive(Debug, Args)]
struct ListArgs {
    /// Show only these names.
    names: Vec<String>,
    /// Output format.
    #[arg(long, value_enum, default_value = "text")]
    format: ListFormat,
}

/// List the schemes: how fingerprints are chosen.
///
/// Shows each with its parameters and its source, for --scheme. The README says which one suits
/// which purpose.
#[derive(Debug, Args)]
pub struct Schemes {
    #[command(flatten)]
    list: ListArgs,
}

/// List the analyzers: how text is split into tokens.
///
/// Shows each with its parameters and its source, for --analyzer.
#[derive(Debug, Args)]
pub struct Analyzers {
    #[command(flatten)]
    list: ListArgs,
}

/// List the measures of similarity.
///
/// Shows each with its parameters, its cost and its source, for `search --verify` and `compare
/// --measure`.
#[derive(Debug, Args)]
pub struct Measures {
    #[command(flatten)]
    list: ListArgs,
}

/// A family as JSON.
#[derive(Serialize)]
struct Entry<T> {
    name: &'static str,
    /// With all its defaults.
    spec: String,
    summary: &'static str,
    parameters: Vec<ParameterEntry>,
    example: &'static str,
    /// Paper and section.
    source: Option<&'static str>,
    /// Whether this build has it.
    available: bool,
    /// The feature of the build that it needs.
    feature: Option<&'static str>,
    #[serde(flatten)]
    more: T,
}

/// A parameter: a number with its bounds, or one of several values.
#[derive(Serialize)]
struct ParameterEntry {
    name: &'static str,
    /// None if it must be given.
    default: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<u32>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    values: &'static [&'static str],
    /// Those of the values that this build does not have, and the feature for each.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    missing: BTreeMap<&'static str, &'static str>,
    meaning: &'static str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Value {
    Number(u32),
    Name(String),
}

impl ParameterEntry {
    fn new(parameter: &'static Parameter) -> ParameterEntry {
        let Parameter { name, default, min, max, names, meaning, is_required, .. } = *parameter;
        let is_number = names.is_empty();
        ParameterEntry {
            name,
            default: match is_number {
                _ if is_required => None,
                true => Some(Value::Number(default)),
                false => Some(Value::Name(parameter.written(default))),
            },
            min: is_number.then_some(min),
            max: is_number.then_some(max),
            values: names,
            missing: missing(parameter).collect(),
            meaning,
        }
    }
}

/// The values of a parameter that this build does not have, and the feature for each.
fn missing(parameter: &'static Parameter) -> impl Iterator<Item = (&'static str, &'static str)> {
    let values = parameter.names.iter().zip(parameter.missing);
    values.filter_map(|(name, feature)| Some((*name, (*feature)?)))
}

/// What only schemes have.
#[derive(Serialize)]
struct SchemeEntry {
    kind: &'static str,
    /// What a fingerprint of the example stands for.
    span: String,
    /// What the frequency table counts that it needs.
    table: Option<String>,
    /// Fingerprints a token.
    density: &'static str,
}

/// What only measures have.
#[derive(Serialize)]
struct MeasureEntry {
    /// For texts of n and m tokens.
    costs: &'static str,
    purpose: &'static str,
    /// Whether it says how much of the first text is in the second.
    asymmetric: bool,
    /// Whether `--collection` changes it.
    collection: bool,
}

/// Analyzers have nothing more.
#[derive(Serialize)]
struct Nothing {}

impl Schemes {
    pub(super) fn run(self) -> Result {
        let more = |family: &'static scheme::Family| {
            let (kind, span) = match family.example_extent() {
                Some(extent) => ("positional", extent.to_string()),
                None => ("sketch", "the whole document".to_owned()),
            };
            let table = family.table().map(|table| table.to_string());
            let entry = SchemeEntry { kind, span, table, density: family.density };
            let needed = match &entry.table {
                Some(table) => format!("; needs counts of {table}, by `cento train`"),
                None => String::new(),
            };
            let shown = vec![
                format!("{kind}: a fingerprint stands for {}{needed}", entry.span),
                format!("fingerprints a token: {}", entry.density),
            ];
            (entry, shown)
        };
        self.list.run("scheme", scheme::families(), &more)
    }
}

impl Analyzers {
    pub(super) fn run(self) -> Result {
        let more = |_: &'static _| (Nothing {}, Vec::new());
        self.list.run("analyzer", analyzer::families(), &more)
    }
}

impl Measures {
    pub(super) fn run(self) -> Result {
        let more = |family: &'static measure::Family| {
            let measure::Family { costs, purpose, is_asymmetric, knows_collections, .. } = *family;
            let entry = MeasureEntry {
                costs,
                purpose,
                asymmetric: is_asymmetric,
                collection: knows_collections,
            };
            (entry, vec![format!("costs {costs}; for {purpose}")])
        };
        self.list.run("measure", measure::families(), &more)
    }
}

/// What an entry has beside what all have, as JSON and as lines.
type More<'a, F, T> = dyn Fn(&'static F) -> (T, Vec<String>) + 'a;

impl ListArgs {
    fn run<F: Family, T: Serialize>(
        self,
        noun: &str,
        families: &'static [&'static F],
        more: &More<'_, F, T>,
    ) -> Result {
        let names = || families.iter().map(|family| family.describe().name);
        if let Some(unknown) = self.names.iter().find(|name| !names().any(|known| known == *name)) {
            let all = names().collect::<Vec<_>>().join(", ");
            let what = format!("no such {noun}; there are {all}");
            return Err(cento::Error::spec(unknown, what).into());
        }
        let mut out = io::BufWriter::new(io::stdout().lock());
        for &family in families {
            let described = family.describe();
            if !self.names.is_empty() && !self.names.iter().any(|name| name == described.name) {
                continue;
            }
            let (more, shown) = more(family);
            match self.format {
                ListFormat::Json => writeln!(out, "{}", json(&Entry::new(&described, more))?)?,
                ListFormat::Text => print(&mut out, &described, &shown)?,
            }
        }
        out.flush()?;
        Ok(Outcome::Found)
    }
}

impl<T> Entry<T> {
    fn new(described: &Description, more: T) -> Entry<T> {
        let Description { name, parameters, summary, source, example, feature, is_built } =
            *described;
        Entry {
            name,
            spec: described.to_string(),
            summary,
            parameters: parameters.iter().map(ParameterEntry::new).collect(),
            example,
            source: Some(source).filter(|source| !source.is_empty()),
            available: is_built,
            feature,
            more,
        }
    }
}

/// Prints an entry as a paragraph.
fn print(out: &mut impl Write, described: &Description, more: &[String]) -> io::Result<()> {
    line!(out, "{described}")?;
    line!(out, "    {}", described.summary)?;
    for parameter in described.parameters {
        let Parameter { name, default, min, max, names, meaning, is_required, .. } = parameter;
        let allowed = match names.is_empty() {
            true => format!("{min} to {max}"),
            false => names.join(", "),
        };
        let without = match is_required {
            true => "must be given".to_owned(),
            false => format!("{} if not given", parameter.written(*default)),
        };
        line!(out, "    {name}: {meaning}; {allowed}, {without}")?;
        for (value, feature) in missing(parameter) {
            line!(out, "        this build does not have {value}: its feature `{feature}` is off")?;
        }
    }
    for shown in more {
        line!(out, "    {shown}")?;
    }
    if let (false, Some(feature)) = (described.is_built, described.feature) {
        line!(out, "    this build does not have it: its feature `{feature}` is off")?;
    }
    if described.example != described.to_string() && described.example != described.name {
        line!(out, "    for example: {}", described.example)?;
    }
    if !described.source.is_empty() {
        line!(out, "    {}", described.source)?;
    }
    line!(out)
}
