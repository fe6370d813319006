//! `--wait`: how long a verb waits for an index that is being written.

use std::time::Duration;

use clap::Args;

use crate::key;
use crate::parse::parse_duration;
use cento::index::Index;
use cento::{LockWait, Result, Stop};

/// The option.
#[derive(Debug, Args)]
pub struct WaitArgs {
    /// Wait up to this time, such as 30s or 5m, while another process writes to the index. Default:
    /// fail at once.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, conflicts_with = "url")]
    wait: Option<Duration>,
}

impl WaitArgs {
    /// Returns the time; `stop` ends the waiting.
    pub fn lock_wait(&self, stop: Stop) -> LockWait {
        self.wait.map_or_else(LockWait::default, |time| LockWait::new(time, stop))
    }

    /// Opens an index whose writers wait, until the process is stopped.
    ///
    /// # Errors
    /// Those of [`key::open`].
    pub fn open(&self, path: impl AsRef<std::path::Path>) -> Result<Index> {
        self.open_until(path, Stop::new())
    }

    /// Opens an index whose writers wait until `stop` is set.
    ///
    /// # Errors
    /// Those of [`key::open`].
    pub fn open_until(&self, path: impl AsRef<std::path::Path>, stop: Stop) -> Result<Index> {
        Ok(key::open(path)?.with_lock_wait(self.lock_wait(stop)))
    }
}
