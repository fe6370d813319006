//! `cento remove`

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::output::{self, Format};
use super::{Outcome, Result};
use crate::error::Error;
use crate::index::{Index, WriterOptions};

/// Remove documents.
///
/// Their space comes back when their segments are merged, at the latest by `cento compact`.
#[derive(Debug, Args)]
pub struct Remove {
    /// The directory of the index.
    index: PathBuf,
    /// The ids of the documents.
    #[arg(value_name = "ID", required_unless_present = "from_file")]
    ids: Vec<String>,
    /// Read ids from this file, one a line; - for standard input.
    #[arg(long, value_name = "FILE")]
    from_file: Option<PathBuf>,
    /// The form of the report.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

#[derive(Debug, Serialize)]
struct Report {
    removed: u64,
    missing: Vec<String>,
}

impl Remove {
    pub(super) fn run(mut self) -> Result {
        if let Some(path) = &self.from_file {
            let text = match path.to_str() {
                Some("-") => std::io::read_to_string(std::io::stdin()),
                _ => std::fs::read_to_string(path),
            };
            let text = text.map_err(|e| Error::io("read", path, e))?;
            self.ids.extend(text.lines().filter(|line| !line.is_empty()).map(str::to_owned));
        }
        let index = Index::open(&self.index)?;
        let mut writer = index.writer(WriterOptions::default())?;
        let mut report = Report { removed: 0, missing: Vec::new() };
        for id in self.ids {
            match writer.remove(&id)? {
                true => report.removed += 1,
                false => report.missing.push(id),
            }
        }
        writer.finish()?;
        match self.format {
            Format::Json => output::print_json(&report)?,
            Format::Human => {
                for id in &report.missing {
                    eprintln!("cento: no document has the id `{id}`");
                }
                eprintln!("{} removed", output::count(report.removed));
            }
        }
        Ok(if report.removed > 0 { Outcome::Found } else { Outcome::Nothing })
    }
}
