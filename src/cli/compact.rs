//! `cento compact`

use std::path::PathBuf;

use clap::Args;

use super::output::{self, Format};
use super::{Outcome, Result};
use crate::error::Error;
use crate::index::Index;

/// Merge segments and give back the space of removed documents.
#[derive(Debug, Args)]
pub struct Compact {
    /// The directory of the index.
    index: PathBuf,
    /// Leave at most so many segments.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    segments: u32,
    /// Make a new frequency table of the stored documents and sign them all again with it, before
    /// segments are merged. Takes the space of a second index meanwhile.
    #[arg(long)]
    retrain: bool,
    /// The form of the report.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

impl Compact {
    pub(super) fn run(self) -> Result {
        let mut index = Index::open(&self.index)?;
        if self.retrain {
            let path = self.index.canonicalize().unwrap_or_else(|_| self.index.clone());
            if std::env::current_dir().is_ok_and(|here| here.starts_with(&path)) {
                let what =
                    "it is replaced by a new directory, and this is a place in it; go elsewhere";
                return Err(Error::index(&self.index, what).into());
            }
            index = index.retrain()?;
        }
        let done = index.compact(self.segments as usize)?;
        match self.format {
            Format::Json => output::print_json(&done)?,
            Format::Human => eprintln!(
                "{} segments became {}; the space of {} removed documents came back",
                done.segments_before,
                done.segments_after,
                output::count(done.purged)
            ),
        }
        Ok(Outcome::Found)
    }
}
