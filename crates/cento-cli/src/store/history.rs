//! `cento store history` lists the manifests in an object store.

use std::io::{self, Write};

use clap::Args;

use super::StoreArgs;
use crate::list_format::{ListFormat, ListOut};
use crate::output::{bytes, count};
use crate::terminal::printable;
use crate::{Result, VerbOutcome};
use cento_remote::{Content, HistoryEntry};

/// List the commits that were pushed to an object store.
///
/// Each manifest is a commit that you can pull or restore. The columns are the number, the time of
/// the push, documents, segments, bytes, the bytes that the manifest before does not have, and
/// whether the manifest is the current one or a restored copy. A damaged manifest is listed with
/// its damage. You can use all other manifests.
#[derive(Debug, Args)]
pub struct History {
    #[command(flatten)]
    store: StoreArgs,
    /// Output format. The columns of csv and tsv are the JSON fields.
    #[arg(long, value_enum, default_value = "human")]
    format: ListFormat,
}

/// The columns of a table of manifests.
const COLUMNS: &[&str] = &[
    "manifest",
    "is_current",
    "restored",
    "created",
    "documents",
    "segments",
    "bytes",
    "new_bytes",
    "damaged",
];

impl History {
    pub(super) fn run(self) -> Result {
        let listed = self.store.remote()?.history()?;
        let mut out = ListOut::new(io::stdout().lock(), self.format, COLUMNS)?;
        if let ListOut::Human(out) = &mut out
            && !listed.is_empty()
        {
            let head = ["manifest", "pushed", "documents", "segments", "size", "new"];
            let [a, b, c, d, e, f] = head;
            writeln!(out, "{a:>8}  {b:<20} {c:>12} {d:>8} {e:>12} {f:>12}")?;
        }
        for manifest in &listed {
            out.write(manifest, |out| writeln!(out, "{}", row(manifest)))?;
        }
        out.flush()?;
        Ok(if listed.is_empty() { VerbOutcome::Nothing } else { VerbOutcome::Found })
    }
}

fn row(entry: &HistoryEntry) -> String {
    let current = if entry.is_current { "  current" } else { "" };
    match &entry.content {
        Content::Commit(commit) => {
            let created = commit.created.get(..19).unwrap_or(&commit.created);
            let restored = commit.restored.map(|old| format!("  restored from {old}"));
            format!(
                "{:>8}  {created}Z {:>12} {:>8} {:>12} {:>12}{}{current}",
                entry.manifest,
                count(commit.documents),
                commit.segments,
                bytes(commit.bytes),
                bytes(commit.new_bytes),
                restored.unwrap_or_default()
            )
        }
        Content::Damaged { damaged } => {
            format!("{:>8}  damaged: {}{current}", entry.manifest, printable(damaged))
        }
    }
}
