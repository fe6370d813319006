//! `cento info`: the available choices, the readable formats, manual pages, and the health of a
//! service.
//!
//! The lists come from the libraries, manual pages and completions from the command itself.

mod generate;
mod health;
mod presets;

use std::collections::BTreeMap;
use std::io::{self, Write};

use clap::{Args, Subcommand};
use serde::Serialize;

use crate::list_format::{ListFormat, ListOut};
use crate::terminal::line;
use crate::{Result, VerbOutcome};
use cento::compare::measure;
use cento::scheme;
use cento::spec::{Description, Family, Parameter};
use cento::text::analyzer;
use cento_api::suggest::did_you_mean;
use cento_source::{FileFormat, formats};

#[derive(Debug, Args)]
struct ListArgs {
    /// Show only these names.
    names: Vec<String>,
    /// Output format. The columns of csv and tsv are the JSON fields.
    #[arg(long, value_enum, default_value = "human")]
    format: ListFormat,
}

/// List presets, schemes, analyzers, measures and formats, and print manual pages.
///
/// This verb also prints completions for shells, and checks whether a service is alive. It opens no
/// index.
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub struct Info {
    #[command(subcommand)]
    topic: Topic,
}

#[derive(Debug, Subcommand)]
enum Topic {
    Presets(presets::Presets),
    /// List the schemes: how fingerprints are chosen.
    ///
    /// You see the parameters and the source of each scheme, for --scheme. The README says which
    /// one suits which purpose.
    Schemes(ListArgs),
    /// List the analyzers: how text is split into tokens.
    ///
    /// You see the parameters and the source of each analyzer, for --analyzer.
    Analyzers(ListArgs),
    /// List the measures of similarity.
    ///
    /// You see the parameters, the cost and the source of each measure, for `search --verify` and
    /// `compare --measures`.
    Measures(ListArgs),
    /// List the formats of files that can be read.
    ///
    /// You see which parts of a file become documents, and whether your build reads the format. The
    /// first bytes of a file decide its format, then the end of its name. Archives and compressed
    /// files may hold all others.
    Formats(ListArgs),
    Health(health::Health),
    Completions(generate::Completions),
    Man(generate::Man),
}

/// The columns of a table of schemes.
const SCHEME_COLUMNS: &[&str] = &[
    "name",
    "spec",
    "summary",
    "kind",
    "span",
    "table",
    "density",
    "parameters",
    "example",
    "source",
];

/// The columns of a table of analyzers.
const ANALYZER_COLUMNS: &[&str] = &["name", "spec", "summary", "parameters", "example", "source"];

/// The columns of a table of measures.
const MEASURE_COLUMNS: &[&str] = &[
    "name",
    "spec",
    "summary",
    "costs",
    "purpose",
    "asymmetric",
    "collection",
    "parameters",
    "example",
    "source",
];

/// The columns of a table of formats.
const FORMAT_COLUMNS: &[&str] = &["name", "endings", "documents", "available", "feature"];

#[derive(Serialize)]
struct FamilyEntry<T> {
    name: &'static str,
    /// The specification with every default filled in.
    spec: String,
    summary: &'static str,
    parameters: Vec<ParameterEntry>,
    example: &'static str,
    /// The paper and section that describe the method.
    source: Option<&'static str>,
    #[serde(flatten)]
    more: T,
}

/// A parameter: a number with bounds, or a choice of values.
#[derive(Serialize)]
struct ParameterEntry {
    name: &'static str,
    /// `None` for a required parameter.
    default: Option<InfoValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<u32>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    values: &'static [&'static str],
    /// The values that this build lacks, with the Cargo feature of each value.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    missing: BTreeMap<&'static str, &'static str>,
    meaning: &'static str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum InfoValue {
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
                true => Some(InfoValue::Number(default)),
                false => Some(InfoValue::Name(parameter.written(default))),
            },
            min: is_number.then_some(min),
            max: is_number.then_some(max),
            values: names,
            missing: missing(parameter).collect(),
            meaning,
        }
    }
}

/// Returns the parameter's values that this build lacks, with the missing Cargo features.
fn missing(parameter: &'static Parameter) -> impl Iterator<Item = (&'static str, &'static str)> {
    let values = parameter.names.iter().zip(parameter.missing);
    values.filter_map(|(name, feature)| Some((*name, (*feature)?)))
}

#[derive(Serialize)]
struct SchemeEntry {
    kind: &'static str,
    /// The text span of a fingerprint of the example.
    span: String,
    /// The contents of the required frequency table, if the scheme needs a table.
    table: Option<String>,
    /// The number of fingerprints per token.
    density: &'static str,
}

#[derive(Serialize)]
struct MeasureEntry {
    /// For texts of n and m tokens.
    costs: &'static str,
    purpose: &'static str,
    /// Whether the measure is the share of the first text found in the second.
    asymmetric: bool,
    /// Whether `--frequencies` changes the result.
    collection: bool,
}

/// Analyzers have nothing more.
#[derive(Serialize)]
struct NoDetails {}

#[derive(Serialize)]
struct FormatEntry {
    name: &'static str,
    /// The usual file name endings of the format.
    endings: &'static [&'static str],
    /// Which parts of a file become documents.
    documents: &'static str,
    available: bool,
    /// The Cargo feature that the format needs.
    feature: Option<&'static str>,
}

impl Info {
    pub(super) fn run(self) -> Result {
        match self.topic {
            Topic::Presets(list) => list.run(),
            Topic::Schemes(list) => {
                list.run("scheme", SCHEME_COLUMNS, scheme::families(), &of_scheme)
            }
            Topic::Analyzers(list) => {
                let more = |_| (NoDetails {}, Vec::new());
                list.run("analyzer", ANALYZER_COLUMNS, analyzer::families(), &more)
            }
            Topic::Measures(list) => {
                list.run("measure", MEASURE_COLUMNS, measure::families(), &of_measure)
            }
            Topic::Formats(list) => list.run_formats(),
            Topic::Health(topic) => topic.run(),
            Topic::Completions(topic) => topic.run(),
            Topic::Man(topic) => topic.run(),
        }
    }
}

fn of_scheme(family: &'static scheme::Family) -> (SchemeEntry, Vec<String>) {
    let (kind, span) = match family.example_extent() {
        Some(extent) => ("positional", extent.to_string()),
        None => ("sketch", "the whole document".to_owned()),
    };
    let table = family.table().map(|table| table.to_string());
    let entry = SchemeEntry { kind, span, table, density: family.density };
    let needed = match &entry.table {
        Some(table) => format!("; needs counts of {table}, by `cento method train`"),
        None => String::new(),
    };
    let shown = vec![
        format!("{kind}: a fingerprint stands for {}{needed}", entry.span),
        format!("fingerprints a token: {}", entry.density),
    ];
    (entry, shown)
}

fn of_measure(family: &'static measure::Family) -> (MeasureEntry, Vec<String>) {
    let measure::Family { costs, purpose, is_asymmetric, knows_collections, .. } = *family;
    let entry =
        MeasureEntry { costs, purpose, asymmetric: is_asymmetric, collection: knows_collections };
    (entry, vec![format!("costs {costs}; for {purpose}")])
}

/// Fields of an entry besides the common fields, as JSON and as lines.
type More<'a, F, T> = dyn Fn(&'static F) -> (T, Vec<String>) + 'a;

impl ListArgs {
    /// Refuses a name that the list does not contain.
    fn check(
        &self,
        noun: &str,
        known: impl Iterator<Item = &'static str> + Clone,
    ) -> cento::Result<()> {
        let is_known = |name: &str| known.clone().any(|known| known == name);
        let Some(unknown) = self.names.iter().find(|name| !is_known(name)) else { return Ok(()) };
        let all = known.clone().collect::<Vec<_>>().join(", ");
        let meant = did_you_mean(unknown, known);
        Err(cento::Error::spec(unknown, format!("no such {noun}{meant}; there are {all}")))
    }

    fn is_asked(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|asked| asked == name)
    }

    fn run_formats(self) -> Result {
        self.check("format", formats().iter().map(|format| format.name))?;
        let mut out =
            ListOut::new(io::BufWriter::new(io::stdout().lock()), self.format, FORMAT_COLUMNS)?;
        for format in formats().iter().filter(|format| self.is_asked(format.name)) {
            let FileFormat { name, endings, documents, feature, is_built, .. } = **format;
            let entry = FormatEntry { name, endings, documents, available: is_built, feature };
            out.write(&entry, |out| {
                line!(out, "{name:<11} {}", endings.join(" "))?;
                line!(out, "            {documents}")?;
                if let (false, Some(feature)) = (is_built, feature) {
                    let what = "this build does not read it: its feature";
                    line!(out, "            {what} `{feature}` is off")?;
                }
                Ok(())
            })?;
        }
        out.flush()?;
        Ok(VerbOutcome::Found)
    }

    fn run<F: Family, T: Serialize>(
        self,
        noun: &str,
        columns: &'static [&'static str],
        families: &'static [&'static F],
        more: &More<'_, F, T>,
    ) -> Result {
        self.check(noun, families.iter().map(|family| family.describe().name))?;
        let mut out = ListOut::new(io::BufWriter::new(io::stdout().lock()), self.format, columns)?;
        for &family in families {
            let described = family.describe();
            if !self.is_asked(described.name) {
                continue;
            }
            let (more, shown) = more(family);
            let entry = FamilyEntry::new(&described, more);
            out.write(&entry, |out| print(out, &described, &shown))?;
        }
        out.flush()?;
        Ok(VerbOutcome::Found)
    }
}

impl<T> FamilyEntry<T> {
    fn new(described: &Description, more: T) -> FamilyEntry<T> {
        let Description { name, parameters, summary, source, example } = *described;
        FamilyEntry {
            name,
            spec: described.to_string(),
            summary,
            parameters: parameters.iter().map(ParameterEntry::new).collect(),
            example,
            source: Some(source).filter(|source| !source.is_empty()),
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
            line!(out, "        {value} needs the feature `{feature}`, which this build lacks")?;
        }
    }
    for shown in more {
        line!(out, "    {shown}")?;
    }
    if described.example != described.to_string() && described.example != described.name {
        line!(out, "    for example: {}", described.example)?;
    }
    if !described.source.is_empty() {
        line!(out, "    {}", described.source)?;
    }
    line!(out)
}
