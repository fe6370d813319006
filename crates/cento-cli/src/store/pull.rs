//! `cento store pull` copies an index from an object store.

use std::path::PathBuf;

use clap::Args;

use super::{StoreArgs, TransferArgs, travelled, watched};
use crate::Result;
use crate::output::{Format, count, counted};
use crate::terminal::tell;
use crate::wait::LocalWaitArgs;
use crate::watch::{counted_watches, how_to_copy};
use cento_collections::watch::count_watches;
use cento_remote::{PullOptions, PullResult};

/// Copy an index from an object store into a directory.
///
/// cento fetches the files that the directory does not have, compares all files with their digests,
/// and writes the list of segments last, so that readers see either the commit before or this
/// commit. You can repeat an interrupted pull, which fetches nothing twice.
#[derive(Debug, Args)]
pub struct Pull {
    #[command(flatten)]
    store: StoreArgs,
    /// Directory of your index. If it is missing, cento creates it.
    index: PathBuf,
    /// Number of the manifest to fetch, as `cento store history` shows it. Default: the current
    /// one.
    #[arg(long, value_name = "N")]
    manifest: Option<u64>,
    /// Overwrite changes of the index in the directory that were not pushed, and take a commit with
    /// documents that were withdrawn since.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    wait: LocalWaitArgs,
    #[command(flatten)]
    transfer: TransferArgs,
    /// Output format.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

impl Pull {
    pub(super) fn run(self) -> Result {
        let remote = self.store.remote()?;
        let stopping = "stopping; files that have arrived are not fetched again";
        let pulled = watched(stopping, |watch| {
            let options = PullOptions {
                manifest: self.manifest,
                force: self.force,
                parallel: self.transfer.parallel.into(),
                lock_wait: self.wait.lock_wait(watch.stop.clone()),
                reuse: None,
            };
            remote.pull(&self.index, &options, watch)
        })?;
        let told = super::tell(self.format, &pulled, || sentence(&pulled))?;
        if pulled.watches > 0 && count_watches(&self.index)? == 0 {
            let index = self.index.display();
            let watches = counted_watches(pulled.watches);
            tell!(
                "cento: {index}: the index that was pushed had {watches}, which no store has; {}",
                how_to_copy("INDEX")
            );
        }
        Ok(told)
    }
}

fn sentence(pulled: &PullResult) -> String {
    let PullResult { manifest, is_new, documents, files, bytes, found, .. } = *pulled;
    if !is_new && files == 0 {
        return format!("nothing to do: the index is manifest {} already", count(manifest));
    }
    let (manifest, documents) = (count(manifest), counted(documents, "document"));
    let what = match files {
        // An earlier commit, or a commit with different withdrawals only.
        0 => "all of its files were there".to_owned(),
        files => {
            let bytes = travelled("received", bytes, found);
            format!("{bytes} in {}", counted(files as u64, "new file"))
        }
    };
    format!("pulled manifest {manifest}, {documents}; {what}")
}
