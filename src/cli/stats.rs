//! `cento stats`

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;

use super::output::{self, Format, bytes, count};
use super::{Outcome, Result};
use crate::index::Index;

/// Show how large an index is and what is in it.
#[derive(Debug, Args)]
pub struct Stats {
    /// The directory of the index.
    index: PathBuf,
    /// The form of the report.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

impl Stats {
    pub(super) fn run(self) -> Result {
        let stats = Index::open(&self.index)?.snapshot()?.stats()?;
        if self.format == Format::Json {
            output::print_json(&stats)?;
            return Ok(Outcome::Found);
        }
        let mut out = io::stdout().lock();
        let rows = [
            ("documents", count(stats.documents)),
            ("deleted", count(stats.deleted)),
            ("segments", count(stats.segments as u64)),
            ("tokens", count(stats.tokens)),
            ("fingerprints", count(stats.fingerprints)),
            ("postings", count(stats.postings)),
            ("terms", count(stats.terms)),
            ("scheme", stats.scheme),
            ("analyzer", stats.analyzer),
            ("signatures", bytes(stats.bytes.signatures)),
            ("text", bytes(stats.bytes.text)),
            ("other", bytes(stats.bytes.other)),
        ];
        for (name, value) in rows {
            writeln!(out, "{name:<13} {value}")?;
        }
        Ok(Outcome::Found)
    }
}
