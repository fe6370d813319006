//! `cento remove`

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::output::{self, Format};
use super::target::{Target, TargetArgs};
use super::terminal::tell;
use super::{Outcome, Result};
use cento::Error;
use cento::index::{Index, WriterOptions};
use cento_client::api::{Commit, RemoveResponse};

/// Remove documents.
///
/// Their space is reclaimed when their segments are merged, at the latest by `cento compact`.
#[derive(Debug, Args)]
pub struct Remove {
    #[command(flatten)]
    target: TargetArgs,
    /// Ids of the documents.
    #[arg(value_name = "ID", required_unless_present_any = ["from_file", "url"])]
    ids: Vec<Id>,
    /// Read ids from this file, one per line; - for standard input.
    #[arg(long, value_name = "FILE")]
    from_file: Option<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// An id from the command line.
#[derive(Debug, Clone)]
struct Id(String);

impl From<&str> for Id {
    fn from(id: &str) -> Id {
        Id(id.to_owned())
    }
}

impl From<PathBuf> for Id {
    /// Converts an argument that was parsed as the directory of an index.
    fn from(id: PathBuf) -> Id {
        Id(id.to_string_lossy().into_owned())
    }
}

fn remove(path: &Path, ids: Vec<String>) -> cento::Result<Report> {
    let mut writer = Index::open(path)?.writer(WriterOptions::default())?;
    let mut report = Report { removed: 0, missing: Vec::new() };
    for id in ids {
        match writer.remove(&id)? {
            true => report.removed += 1,
            false => report.missing.push(id),
        }
    }
    writer.finish()?;
    Ok(report)
}

#[derive(Debug, Serialize)]
struct Report {
    removed: u64,
    missing: Vec<String>,
}

impl Remove {
    pub(super) fn run(mut self) -> Result {
        let target = self.target.target(&mut self.ids)?;
        if let Some(path) = &self.from_file {
            let text = match path.to_str() {
                Some("-") => std::io::read_to_string(std::io::stdin()),
                _ => std::fs::read_to_string(path),
            };
            let text = text.map_err(|e| Error::io("read", path, e))?;
            self.ids.extend(text.lines().filter(|line| !line.is_empty()).map(Id::from));
        }
        let ids: Vec<String> = self.ids.into_iter().map(|id| id.0).collect();
        let report = match target {
            Target::Index(path) => remove(&path, ids)?,
            Target::Service(_) if ids.is_empty() => {
                return Err(
                    Error::Query { what: "no ids; name the documents to remove".into() }.into()
                );
            }
            Target::Service(client) => {
                let RemoveResponse { removed, missing, .. } = client.remove(ids, Commit::Wait)?;
                Report { removed, missing }
            }
        };
        match self.format {
            Format::Json => output::print_json(&report)?,
            Format::Human => {
                for id in &report.missing {
                    tell!("cento: no document has the id `{id}`");
                }
                tell!("{} removed", output::count(report.removed));
            }
        }
        Ok(if report.removed > 0 { Outcome::Found } else { Outcome::Nothing })
    }
}
