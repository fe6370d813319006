//! `cento lineage` finds the ancestor of each document.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;

use super::Result;
use super::collection::InputArgs;
use super::families::tell_undated;
use super::join::JoinArgs;
use super::network_out::NetworkOut;
use super::output::{count, counted, share};
use super::progress::{Progress, stop_flag};
use super::report_args::ReportArgs;
use super::rows_out::CellType;
use super::terminal::{Id, line, note, printable};
use cento_collections::lineage::{Descent, DirectionBy, LineageOptions, lineage};
use cento_collections::pairs::document_count;
use cento_report::{LineageReport, Run};

/// Find the versions of each document, and the ancestor of each version.
///
/// The direct ancestor of a document is the earlier document that explains most of it, because it
/// has the largest share of its text. --date says which of two documents is earlier. Without dates,
/// cento guesses the direction from length, because versions usually grow. It marks such a guess
/// with a question mark. You do not see documents without versions.
#[derive(Debug, Args)]
pub struct LineageList {
    /// Directory of an index; or files, directories, and archives (.tar, .tar.gz, .tgz, .tar.zst,
    /// .zip), which are read for this search alone.
    #[arg(value_name = "INDEX|PATH", required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    options: LineageOptions,
    #[command(flatten)]
    join: JoinArgs,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    output: NetworkOut,
    #[command(flatten)]
    report: ReportArgs,
}

/// Maximum number of documents in a report, starting with the largest trees.
const REPORT_DOCUMENTS: usize = 2_000;

fn cell_type(column: &str) -> CellType {
    match column {
        "tree" | "depth" | "tokens" => CellType::Integer,
        "id" | "date" | "ancestor" | "direction_by" => CellType::Text,
        "exact" => CellType::Truth,
        _ => CellType::Real,
    }
}

impl LineageList {
    pub(super) fn run(self) -> Result {
        let stop = stop_flag();
        let graph = self.output.graph()?;
        self.output.check_outputs(&self.paths, &self.report)?;
        let inputs = self.inputs.open_one(&self.paths, &self.join, "lineages", &stop)?;
        let searcher = &inputs.searcher;
        let mut out = self.output.rows(LineageReport::COLUMNS, cell_type)?;
        let progress = Progress::new(document_count(searcher), "documents");
        let mut found = lineage(searcher, &self.options)
            .threads(self.join.threads())
            .stop(&stop)
            .progress(progress.setter());
        let (mut edges, mut reported, mut rows) = (Vec::new(), Vec::new(), 0u64);
        let result = found.by_ref().try_for_each(|row| -> Result<()> {
            let row = row?;
            rows += 1;
            out.write(&row, |out| print(out, &row))?;
            if graph.is_asked()
                && let (Some(ancestor), Some(found)) = (&row.ancestor, &row.similarity)
                && let Some(by) = row.direction_by
            {
                edges.push(((ancestor.clone(), row.id.clone(), found.resemblance), by));
            }
            if self.report.is_asked() && reported.len() < REPORT_DOCUMENTS {
                reported.push(row);
            }
            Ok(())
        });
        progress.finish();
        result?;
        out.finish()?;
        graph.write(edges.iter().map(|((a, b, weight), by)| ((&**a, &**b, *weight), *by)))?;
        let summary = found.summary();
        if self.report.is_asked() {
            let snapshot = searcher.snapshot();
            let index = inputs.state(&self.paths);
            let run = self.report.run("lineage", &snapshot.config().analyzer)?;
            self.report.write_lineage(&LineageReport {
                run: Run { index: Some(index), ..run }.with_options(&self.options),
                trees: summary.trees,
                versions: summary.versions,
                dated: summary.dated,
                documents: reported,
            })?;
        }
        tell_undated(self.options.date.as_deref(), summary.undated, summary.no_date.as_ref());
        self.join.tell_stopped(searcher, self.options.max_df, &stop)?;
        if self.output.format.is_human() {
            let (versions, trees) =
                (counted(summary.versions, "version"), counted(summary.trees, "tree"));
            let uncertain = summary.versions - summary.dated;
            let uncertain = match uncertain {
                0 => String::new(),
                _ => format!("; {} of uncertain direction", count(uncertain)),
            };
            note!("{versions} in {trees}{uncertain}");
        }
        Ok(inputs.outcome(rows > 0))
    }
}

fn print(out: &mut impl Write, row: &Descent) -> io::Result<()> {
    let date = row.date.as_deref().map_or(String::new(), |date| format!("{}  ", printable(date)));
    let indent = "    ".repeat(row.depth.min(8) as usize);
    let Some((ancestor, found)) = row.ancestor.as_ref().zip(row.similarity.as_ref()) else {
        return line!(out, "{date}{}", Id(&row.id));
    };
    let doubt = if row.direction_by == Some(DirectionBy::Date) { "" } else { "?" };
    let shares = (
        share(1.0 - found.containment_of_b, found.exact),
        share(1.0 - found.containment_of_a, found.exact),
    );
    line!(
        out,
        "{indent}{date}{}  of {}{doubt}: {} new, {} omitted",
        Id(&row.id),
        Id(ancestor),
        shares.0,
        shares.1
    )
}
