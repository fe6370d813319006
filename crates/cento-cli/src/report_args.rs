//! Reports of answers, as files to hand on.

use std::path::{Path, PathBuf};

use clap::Args;
use jiff::Timestamp;

use super::boilerplate::is_keyword;
use super::outfile::{check_apart, check_replaced};
use super::parse::in_directory;
use cento::runtime::replace;
use cento::{Analyzer, Error, Result};
use cento_report::{
    DecontaminationReport, FamiliesReport, LineageReport, PairsReport, ReuseReport, Run,
    TuningReport, counted,
};

/// The destination of a report.
#[derive(Debug, Clone, Args)]
pub struct ReportArgs {
    /// Also write a report to this file: .html to read and print, .json or .csv for its numbers.
    /// The report shows the passages. It replaces an earlier report, but no other file. Can be
    /// repeated.
    #[arg(long = "report", value_name = "FILE", value_parser = parse_report_file)]
    reports: Vec<ReportFile>,
    /// Title of the report.
    #[arg(long, value_name = "TEXT", requires = "reports")]
    title: Option<String>,
}

/// A report file, and the format to write.
#[derive(Debug, Clone)]
struct ReportFile {
    path: PathBuf,
    form: ReportForm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReportForm {
    Html,
    Json,
    Csv,
}

fn parse_report_file(name: &str) -> std::result::Result<ReportFile, String> {
    let path = PathBuf::from(name);
    let extension = path.extension().map(|extension| extension.to_ascii_lowercase());
    let form = match extension.as_ref().and_then(|extension| extension.to_str()) {
        Some("html" | "htm") => ReportForm::Html,
        Some("json") => ReportForm::Json,
        Some("csv") => ReportForm::Csv,
        _ => return Err("the name of a report ends in .html, .json or .csv".into()),
    };
    Ok(ReportFile { path: in_directory(path)?, form })
}

impl ReportArgs {
    /// Returns whether a report is requested.
    pub fn is_asked(&self) -> bool {
        !self.reports.is_empty()
    }

    /// Refuses outputs that would replace an input, and a report or `network` that would replace a
    /// file that cento did not write. `written` are the other outputs of the verb.
    ///
    /// # Errors
    /// As [`check_apart`] and [`check_replaced`].
    pub fn check_outputs<'a>(
        &'a self,
        read: &[PathBuf],
        network: Option<&'a Path>,
        written: impl IntoIterator<Item = &'a Path>,
    ) -> Result<()> {
        let views = || self.reports.iter().map(|report| &*report.path).chain(network);
        check_apart(read, views().chain(written))?;
        views().try_for_each(check_replaced)
    }

    /// Begins the foot of a report of documents that were analyzed with `analyzer`.
    ///
    /// # Errors
    /// When the environment names an invalid time.
    pub fn run(&self, action: &str, analyzer: &Analyzer) -> Result<Run> {
        let run = Run { title: self.title.clone(), date: Some(now()?), ..Run::new(action) };
        Ok(run.analyzed_by(analyzer))
    }

    /// Writes a report on documents.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write_reuse(&self, report: &ReuseReport) -> Result<()> {
        self.write(|form| match form {
            ReportForm::Html => Ok(report.html()),
            ReportForm::Json => json(report),
            ReportForm::Csv => report.csv(),
        })
    }

    /// Writes a report on pairs.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write_pairs(&self, report: &PairsReport) -> Result<()> {
        self.write(|form| match form {
            ReportForm::Html => Ok(report.html()),
            ReportForm::Json => json(report),
            ReportForm::Csv => report.csv(),
        })
    }

    /// Writes a report on settings.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write_tuning(&self, report: &TuningReport) -> Result<()> {
        self.write(|form| match form {
            ReportForm::Html => Ok(report.html()),
            ReportForm::Json => json(report),
            ReportForm::Csv => report.csv(),
        })
    }

    /// Writes a report on families of passages.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write_families(&self, report: &FamiliesReport) -> Result<()> {
        self.write(|form| match form {
            ReportForm::Html => Ok(report.html()),
            ReportForm::Json => json(report),
            ReportForm::Csv => report.csv(),
        })
    }

    /// Writes a report on the lineage of documents.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write_lineage(&self, report: &LineageReport) -> Result<()> {
        self.write(|form| match form {
            ReportForm::Html => Ok(report.html()),
            ReportForm::Json => json(report),
            ReportForm::Csv => report.csv(),
        })
    }

    /// Writes a report on questions of benchmarks.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write_decontamination(&self, report: &DecontaminationReport) -> Result<()> {
        self.write(|form| match form {
            ReportForm::Html => Ok(report.html()),
            ReportForm::Json => json(report),
            ReportForm::Csv => report.csv(),
        })
    }

    fn write(&self, report: impl Fn(ReportForm) -> Result<String>) -> Result<()> {
        self.reports.iter().try_for_each(|ReportFile { path, form }| {
            let text = report(*form)?;
            replace::file(path, text.as_bytes()).map_err(|e| Error::io("write", path, e))
        })
    }
}

fn json(report: &impl serde::Serialize) -> Result<String> {
    let json = serde_json::to_string_pretty(report);
    let json = json.map_err(|error| Error::io("write", "the report", error.into()))?;
    Ok(json + "\n")
}

/// Returns the time of the report. `SOURCE_DATE_EPOCH`, in seconds since 1970, replaces it where
/// runs are to be repeated byte by byte (reproducible-builds.org).
fn now() -> Result<String> {
    let time = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(seconds) => {
            let seconds = seconds.parse().ok();
            seconds.and_then(|seconds| Timestamp::from_second(seconds).ok()).ok_or_else(|| {
                Error::input("SOURCE_DATE_EPOCH", "it must be a number of seconds since 1970")
            })?
        }
        Err(_) => Timestamp::now(),
    };
    Ok(time.strftime("%Y-%m-%d %H:%M UTC").to_string())
}

/// Returns the boilerplate twice: with names, and for an anonymous report with the number of paths.
/// `None` without boilerplate.
pub fn listed_and_counted(boilerplate: &[PathBuf]) -> Option<(String, String)> {
    let (keywords, paths): (Vec<&PathBuf>, Vec<&PathBuf>) =
        boilerplate.iter().partition(|name| is_keyword(name));
    let keywords = keywords.into_iter().map(|name| name.display().to_string());
    let paths = (!paths.is_empty()).then(|| counted(paths.len() as u64, "path"));
    let counted: Vec<String> = keywords.chain(paths).collect();
    (!boilerplate.is_empty()).then(|| (listed(boilerplate), counted.join(", ")))
}

/// Formats paths for the foot of a report.
pub fn listed(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}
