//! `cento train`

use std::path::PathBuf;

use clap::Args;

use super::add::SourceArgs;
use super::output::count;
use super::terminal::tell;
use super::{Outcome, Result};
use cento::index::Training;

/// Count how often each run of tokens occurs in a collection.
///
/// Schemes such as fbw(q,w) keep what is rare in a collection, and read that from the table that
/// this writes: `cento create INDEX --scheme 'fbw(q=4)' --analyzer chars --frequencies FILE`. An
/// index keeps its own copy; `cento compact --retrain` makes a new one.
#[derive(Debug, Args)]
pub struct Train {
    /// Files and directories as for `cento add`, or one index that keeps texts.
    #[arg(required = true, value_name = "PATH")]
    inputs: Vec<PathBuf>,
    /// The table to be written.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The tokens of a run.
    #[arg(short, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u32).range(1..=64))]
    q: u32,
    /// How text is cut into tokens.
    #[arg(long, value_name = "SPEC", default_value = "chars")]
    analyzer: String,
    /// Count only runs that occur twice or more, for `--scheme spex`: a much smaller table. They are
    /// found by the passes of SPEX, which read the documents `-q` times and take 256 MiB for
    /// counters; counting all takes up to 512 MiB.
    #[arg(long)]
    spex: bool,
    #[command(flatten)]
    source: SourceArgs,
}

impl Train {
    pub(super) fn run(self) -> Result {
        let training =
            Training { analyzer: self.analyzer.parse()?, q: self.q as usize, spex: self.spex };
        let mut skipped = |what: &str| tell!("cento: {what}");
        let table = cento_source::train(
            &self.inputs,
            &self.source.options(),
            &training,
            &self.out,
            &mut skipped,
        )?;
        let header = table.header();
        tell!(
            "{} documents, {} runs of {} tokens; {}",
            count(header.documents),
            count(header.grams),
            header.q,
            self.out.display()
        );
        Ok(if header.documents > 0 { Outcome::Found } else { Outcome::Nothing })
    }
}
