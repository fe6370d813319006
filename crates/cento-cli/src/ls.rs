//! `cento ls`

use std::io::{self, Write};

use clap::Args;

use super::output::{self, Format, bytes, count};
use super::stored::StoreArgs;
use super::terminal::printable;
use super::{Outcome, Result};
use cento_remote::{Content, ManifestInfo};

/// List what has been pushed to an object store.
///
/// Each manifest is a commit that can be pulled or restored. The columns are its number, the time of the
/// push, documents, segments, bytes, bytes that the one before does not have, and whether it is the current
/// one or a restored copy. A damaged manifest is listed with what is wrong with it; the others can be used.
#[derive(Debug, Args)]
pub struct Ls {
    #[command(flatten)]
    store: StoreArgs,
    /// Output format.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

impl Ls {
    pub(super) fn run(self) -> Result {
        let listed = self.store.remote()?.list()?;
        let mut out = io::stdout().lock();
        if self.format == Format::Human && !listed.is_empty() {
            let head = ["manifest", "pushed", "documents", "segments", "size", "new"];
            let [a, b, c, d, e, f] = head;
            writeln!(out, "{a:>8}  {b:<20} {c:>12} {d:>8} {e:>12} {f:>12}")?;
        }
        for manifest in &listed {
            match self.format {
                Format::Json => output::print_json_to(&mut out, manifest)?,
                Format::Human => writeln!(out, "{}", row(manifest))?,
            }
        }
        Ok(if listed.is_empty() { Outcome::Nothing } else { Outcome::Found })
    }
}

/// A manifest, as one line.
fn row(listed: &ManifestInfo) -> String {
    let current = if listed.is_current { "  current" } else { "" };
    match &listed.content {
        Content::Commit(commit) => {
            let created = commit.created.get(..19).unwrap_or(&commit.created);
            let restored = commit.restored.map(|old| format!("  restored from {old}"));
            format!(
                "{:>8}  {created}Z {:>12} {:>8} {:>12} {:>12}{}{current}",
                listed.manifest,
                count(commit.documents),
                commit.segments,
                bytes(commit.bytes),
                bytes(commit.new_bytes),
                restored.unwrap_or_default()
            )
        }
        Content::Damaged { damaged } => {
            format!("{:>8}  damaged: {}{current}", listed.manifest, printable(damaged))
        }
    }
}
