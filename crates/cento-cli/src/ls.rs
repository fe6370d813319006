//! `cento ls`

use std::io::{self, Write};

use clap::Args;

use super::output::{self, Format, bytes, count};
use super::stored::StoreArgs;
use super::{Outcome, Result};

/// List what has been pushed to an object store.
///
/// Each manifest is a commit that can be pulled or restored. The columns are its number, the time of the
/// push, documents, segments, bytes, bytes that the one before does not have, and whether it is the current
/// one or a restored copy.
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
                Format::Human => {
                    let created = manifest.created.get(..19).unwrap_or(&manifest.created);
                    let mut note = String::new();
                    if let Some(old) = manifest.restored {
                        note.push_str(&format!("  restored from {old}"));
                    }
                    if manifest.is_current {
                        note.push_str("  current");
                    }
                    writeln!(
                        out,
                        "{:>8}  {created}Z {:>12} {:>8} {:>12} {:>12}{note}",
                        manifest.manifest,
                        count(manifest.documents),
                        manifest.segments,
                        bytes(manifest.bytes),
                        bytes(manifest.new_bytes),
                    )?;
                }
            }
        }
        Ok(if listed.is_empty() { Outcome::Nothing } else { Outcome::Found })
    }
}
