//! `cento restore`

use clap::Args;
use serde::Serialize;

use super::output::{self, Format, count};
use super::store_args::StoreArgs;
use super::terminal::note;
use super::{Outcome, Result};

/// Make an old commit in an object store the current one again.
///
/// Pushes a copy of an old manifest; no file is sent. Followers and pulls take it like any other
/// push. An index that was made from a later manifest cannot be pushed any more until it is pulled
/// again.
#[derive(Debug, Args)]
pub struct Restore {
    #[command(flatten)]
    store: StoreArgs,
    /// Number of the manifest, as `cento history` shows it.
    manifest: u64,
    /// Restore it although documents come back that were withdrawn since.
    #[arg(long)]
    force: bool,
    /// Output format.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// The result of a restore.
#[derive(Debug, Serialize)]
struct Restored {
    restored: u64,
    manifest: u64,
}

impl Restore {
    pub(super) fn run(self) -> Result {
        let manifest = self.store.remote()?.restore(self.manifest, self.force)?;
        let done = Restored { restored: self.manifest, manifest };
        match self.format {
            Format::Json => output::print_json(&done)?,
            Format::Human => note!(
                "manifest {} is current again, as manifest {}",
                count(done.restored),
                count(manifest)
            ),
        }
        Ok(Outcome::Found)
    }
}
