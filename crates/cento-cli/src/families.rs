//! `cento families` lists reused passages and the documents that share every passage.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;

use super::Result;
use super::collection::{InputArgs, Inputs, Kind};
use super::join::{JoinArgs, stopped};
use super::memory;
use super::network_out::NetworkOut;
use super::output::{counted, named, of_documents, percent, place};
use super::progress::{Progress, stop_flag};
use super::report_args::ReportArgs;
use super::rows_out::{CellType, RowsOut};
use super::terminal::{Id, line, note, printable, tell};
use cento::Error;
use cento_collections::families::{
    Carrier, Change, DirectionBy, Family, FamilyOptions, FamilySummary, families,
};
use cento_collections::pairs::document_count;
use cento_report::{CarrierRow, FamiliesReport, Run, Strip, shown_of};

/// Find reused passages, and the documents that carry each passage.
///
/// Such a passage with its documents is a family. The order of its carriers follows --date, the
/// earliest first, and cento compares each carrier with the nearest of the earlier ones. Carriers
/// share at least half of the passage. A passage within a longer one that other documents carry is
/// a family of its own. Without --date, carriers are in the order of addition, which says nothing
/// about who had the passage first. Your index must store texts.
#[derive(Debug, Args)]
pub struct FamilyList {
    /// Directories of indexes, which are taken as one and must have the same scheme and analyzer;
    /// or files, directories, and archives (.tar, .tar.gz, .tgz, .tar.zst, .zip), which are read
    /// for this search alone.
    #[arg(value_name = "INDEX|PATH", required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    options: FamilyOptions,
    #[command(flatten)]
    join: JoinArgs,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    output: NetworkOut,
    #[command(flatten)]
    report: ReportArgs,
}

/// Maximum number of families in a report, starting with the families of most documents.
const REPORT_FAMILIES: usize = 200;

fn cell_type(column: &str) -> CellType {
    match column {
        "order" | "id" | "index" | "date" | "part" | "relation" | "direction_by" | "changes"
        | "text" => CellType::Text,
        "first_is_certain" | "complete" => CellType::Truth,
        "similarity" | "time" => CellType::Real,
        _ => CellType::Integer,
    }
}

impl FamilyList {
    pub(super) fn run(self) -> Result {
        let stop = stop_flag();
        let graph = self.output.graph()?;
        self.output.check_outputs(&self.paths, &self.report)?;
        if self.options.since.is_some() && Kind::of(&self.paths)? == Kind::Files {
            let what = "--since is for families of indexes: files are read anew each time";
            return Err(Error::argument("since", what).into());
        }
        let inputs = self.inputs.open(&self.paths, &self.join, "families", &stop)?;
        let searcher = &inputs.searcher;
        let mut out = self.output.rows(CarrierRow::COLUMNS, cell_type)?;
        let all = if self.is_narrow() { 0 } else { document_count(searcher) };
        let progress = Progress::new(all, "documents");
        let mut found = families(searcher, &self.options)
            .threads(self.join.threads())
            .memory_bytes(memory::default_bytes() / 2)
            .stop(&stop)
            .progress(progress.setter());
        let (mut number, mut edges, mut reported) = (0, BTreeMap::new(), Vec::new());
        let result = found.by_ref().try_for_each(|family| -> Result<()> {
            let family = family?;
            number += 1;
            if graph.is_asked() {
                add_edges(&mut edges, &family);
            }
            write(&mut out, &family)?;
            if self.report.is_asked() && reported.len() < REPORT_FAMILIES {
                reported.push(family);
            }
            Ok(())
        });
        progress.finish();
        result?;
        out.finish()?;
        graph.write(edges.iter().map(|((a, b), &(weight, by))| ((&**a, &**b, weight), by)))?;
        let summary = found.summary();
        if self.report.is_asked() {
            self.write_report(&inputs, reported, &summary)?;
        }
        self.tell(&summary, number, inputs.kind, searcher.snapshot().documents());
        self.join.tell_stopped(searcher, self.options.max_df, &stop)?;
        Ok(inputs.outcome(number > 0))
    }

    fn write_report(
        &self,
        inputs: &Inputs<'_>,
        families: Vec<Family>,
        summary: &FamilySummary,
    ) -> cento::Result<()> {
        let searcher = &inputs.searcher;
        let snapshot = searcher.snapshot();
        let index = inputs.state(&self.paths);
        let run = self.report.run("families", &snapshot.config().analyzer)?;
        let run = Run { index: Some(index), ..run }.with_options(&self.options);
        let strip = match &self.options.document {
            None => None,
            Some(id) => {
                let address = snapshot.find(id)?;
                let text = address.map(|address| snapshot.document(address)).transpose()?;
                let text = text.and_then(|document| document.text).unwrap_or_default();
                Some(Strip::new(id, text.len(), &families))
            }
        };
        let max_df = searcher.stop_counts(self.options.max_df, cento::Stop::NEVER)?;
        let stopped = stopped(&max_df);
        let report = FamiliesReport {
            run,
            total: summary.families,
            pairs: summary.pairs,
            cut_pairs: summary.cut_pairs,
            undated: summary.undated,
            stopped,
            strip,
            families,
        };
        self.report.write_families(&report)
    }

    /// Tells whether only the families of some documents are wanted.
    fn is_narrow(&self) -> bool {
        self.options.document.is_some() || self.options.since.is_some()
    }

    /// Reports what the families lack.
    fn tell(&self, summary: &FamilySummary, shown: u64, kind: Kind, documents: u64) {
        let FamilySummary { families, cut_pairs, undated, no_date, cursor, .. } = summary;
        if *cut_pairs > 0 {
            let of = counted(*cut_pairs, "pair");
            tell!(
                "cento: of {of} the search for passages was cut short: carriers may be missing \
                 (`complete` is false)"
            );
        }
        tell_undated(self.options.date.as_deref(), *undated, no_date.as_ref());
        if self.output.format.is_human() {
            let cut = shown_of(shown, *families, "families", "--limit");
            let said = cut.unwrap_or_else(|| match shown {
                0 if !self.is_narrow() => of_documents(0, "family", documents),
                shown => counted(shown, "family"),
            });
            match kind {
                Kind::Indexes => note!("{said}; later, new documents: --since {cursor}"),
                Kind::Files => note!("{said}"),
            }
        }
    }
}

/// Reports documents without a date.
pub fn tell_undated(field: Option<&str>, undated: u64, no_date: Option<&(String, String)>) {
    let Some(field) = field.filter(|_| undated > 0) else { return };
    let such = no_date.map_or(String::new(), |(id, value)| {
        format!(", such as {}: \"{}\"", printable(id), printable(value))
    });
    note!("cento: {} without a date in `{field}`{such}", counted(undated, "document"));
}

/// The edges between documents: the number of families, and the reason for the direction.
type Edges = BTreeMap<(String, String), (f64, DirectionBy)>;

/// Adds an edge from the nearest earlier carrier to each carrier, once per family.
fn add_edges(edges: &mut Edges, family: &Family) {
    let name = |carrier: &Carrier| named(&carrier.id, carrier.index.as_deref());
    let mut of_family = Vec::new();
    for carrier in &family.carriers {
        // If the nearest place is in the same document, there is no edge.
        let Some((nearest, by)) = carrier.nearest.zip(carrier.direction_by) else { continue };
        let from = &family.carriers[nearest as usize - 1];
        of_family.push(((name(from), name(carrier)), by));
    }
    of_family.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    of_family.dedup_by(|one, other| one.0 == other.0);
    for (edge, by) in of_family {
        edges.entry(edge).or_insert((0.0, by)).0 += 1.0;
    }
}

fn write(out: &mut RowsOut, family: &Family) -> Result<()> {
    if !out.is_table() {
        return out.write(family, |out| print(out, family));
    }
    for row in CarrierRow::of(family) {
        out.write(&row, |_| Ok(()))?;
    }
    Ok(())
}

/// Maximum number of characters of a passage to show on the terminal.
const TEXT_CHARACTERS: usize = 100;

/// Maximum number of a carrier's changes to show on the terminal.
const CHANGES: usize = 3;

fn print(out: &mut impl Write, family: &Family) -> io::Result<()> {
    let Family { family: number, documents, tokens, versions, .. } = *family;
    let cut = if family.complete { "" } else { ", perhaps more" };
    line!(
        out,
        "{number}: {} in {}, {}{cut}",
        counted(tokens.into(), "word"),
        counted(documents, "document"),
        counted(versions, "version")
    )?;
    line!(out, "    {}", quoted(&family.text, TEXT_CHARACTERS))?;
    let date = |carrier: &Carrier| carrier.date.clone().unwrap_or_default();
    let width = family.carriers.iter().map(|carrier| date(carrier).chars().count()).max();
    let width = width.unwrap_or(0);
    for (at, carrier) in family.carriers.iter().enumerate() {
        let own = format!("{:width$}", date(carrier));
        let gap = if width > 0 { "  " } else { "" };
        let id = named(&carrier.id, carrier.index.as_deref());
        let first = match (at, family.first_is_certain) {
            (0, true) => ", first",
            _ => "",
        };
        let its_place = place(carrier.part.as_deref(), carrier.page, carrier.line);
        let said = compared(carrier, &family.carriers);
        line!(out, "    {}{gap}{}{its_place}{first}{said}", printable(&own), Id(&id))?;
    }
    Ok(())
}

/// Formats what a carrier changed.
fn compared(carrier: &Carrier, carriers: &[Carrier]) -> String {
    let Some(nearest) = carrier.nearest else { return String::new() };
    let is_certain = carrier.direction_by.is_none_or(|by| by == DirectionBy::Date);
    let doubt = if is_certain { "" } else { "?" };
    let from = format!("{}{doubt}", printable(&carriers[nearest as usize - 1].id));
    match carrier.similarity {
        None => format!(": too long to be compared word by word with {from}"),
        Some(_) if carrier.changes.is_empty() => format!(": as {from}"),
        Some(alike) => {
            let shown = carrier.changes.iter().take(CHANGES).map(changed);
            let more = carrier.changes.len().saturating_sub(CHANGES);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let shown = shown.collect::<Vec<_>>().join(", ");
            format!(": {} like {from}, {shown}{more}", percent(alike))
        }
    }
}

/// Maximum number of characters to show of each side of a change.
const CHANGE_CHARACTERS: usize = 40;

fn changed(change: &Change) -> String {
    let [removed, added] =
        [&change.removed, &change.added].map(|text| quoted(text, CHANGE_CHARACTERS));
    match (change.removed.is_empty(), change.added.is_empty()) {
        (true, _) => format!("+ {added}"),
        (_, true) => format!("- {removed}"),
        _ => format!("{removed} -> {added}"),
    }
}

/// Returns the beginning of a text on one line, in quotation marks.
fn quoted(text: &str, characters: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = line.chars().take(characters).collect();
    let more = if cut.len() < line.len() { "..." } else { "" };
    format!("\"{}{more}\"", printable(&cut))
}
