//! `cento check`

use std::io;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::key;
use super::output::{self, Format, count};
use super::terminal::line;
use super::{Outcome, Result};
use cento::index::CheckReport;
use cento::{Corruption, Error};

/// Read a whole index and report all damage.
#[derive(Debug, Args)]
pub struct Check {
    /// Directory of the index.
    index: PathBuf,
    /// Output format.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

#[derive(Debug, Serialize)]
struct Report<'a> {
    ok: bool,
    segments: usize,
    /// Those of them with damage.
    damaged: usize,
    problems: &'a [Corruption],
}

impl Check {
    pub(super) fn run(self) -> Result {
        let checked = key::open(&self.index).and_then(|index| index.check());
        let CheckReport { segments, damaged, problems, .. } = match checked {
            Err(Error::Corrupt(problem)) => CheckReport::of(vec![problem]),
            other => other?,
        };
        let ok = problems.is_empty();
        match self.format {
            Format::Json => {
                output::print_json(&Report { ok, segments, damaged, problems: &problems })?
            }
            Format::Human => {
                let mut out = io::stdout().lock();
                for problem in &problems {
                    line!(out, "{problem}")?;
                }
                let all = output::counted(segments as u64, "segment");
                match damaged {
                    0 if ok => line!(out, "{all}: no problems")?,
                    0 if segments == 0 => line!(out, "no segment was read: damaged")?,
                    0 => line!(out, "{all}: damaged outside of them")?,
                    damaged => line!(out, "{} of {all}: damaged", count(damaged as u64))?,
                }
                if !ok {
                    let advice = "restore the index from a backup, or add the documents to a new \
                                  one; `cento recover` makes an index of the segments that are \
                                  whole";
                    line!(out, "{advice}")?;
                }
            }
        }
        Ok(if ok { Outcome::Found } else { Outcome::Bad })
    }
}
