//! `cento store restore` pushes an old manifest again, as the newest.

use clap::Args;
use serde::Serialize;

use super::{StoreArgs, tell};
use crate::Result;
use crate::output::{Format, count};

/// Make an old commit in an object store the current one again.
///
/// cento pushes a copy of the old manifest and sends no file. Followers and pulls take it like any
/// other push. If an index was made from a later manifest, pull it again before you push it.
#[derive(Debug, Args)]
pub struct Restore {
    #[command(flatten)]
    store: StoreArgs,
    /// Number of the manifest, as `cento store history` shows it.
    manifest: u64,
    /// Restore the commit although it brings back documents that were withdrawn since.
    #[arg(long)]
    force: bool,
    /// Output format.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

#[derive(Debug, Serialize)]
struct RestoreResult {
    restored: u64,
    manifest: u64,
}

impl Restore {
    pub(super) fn run(self) -> Result {
        let manifest = self.store.remote()?.restore(self.manifest, self.force)?;
        let done = RestoreResult { restored: self.manifest, manifest };
        let sentence = || {
            let [old, new] = [self.manifest, manifest].map(count);
            format!("manifest {old} is current again, as manifest {new}")
        };
        Ok(tell(self.format, &done, sentence)?)
    }
}
