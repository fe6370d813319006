//! `--wait`: how long a verb waits for an index while a different process is writing.

use std::time::Duration;

use clap::Args;

use crate::key;
use crate::parse::parse_duration;
use cento::index::Index;
use cento::{LockWait, Result, Stop};

const HELP: &str = "Wait up to this time, such as 30s or 5m, while another process writes to the \
                    index. Default: fail at once";

/// The option of verbs that a service can do.
#[derive(Debug, Args)]
pub struct WaitArgs {
    #[arg(
        long, value_name = "TIME", value_parser = parse_duration, conflicts_with = "url",
        help = HELP,
    )]
    wait: Option<Duration>,
}

/// The option of verbs that no service does.
#[derive(Debug, Args)]
pub struct LocalWaitArgs {
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help = HELP)]
    wait: Option<Duration>,
}

impl LocalWaitArgs {
    /// Returns the time; `stop` ends the waiting.
    pub fn lock_wait(&self, stop: Stop) -> LockWait {
        lock_wait(self.wait, stop)
    }
}

fn lock_wait(time: Option<Duration>, stop: Stop) -> LockWait {
    time.map_or_else(LockWait::default, |time| LockWait::new(time, stop))
}

impl WaitArgs {
    /// Returns the time; `stop` ends the waiting.
    pub fn lock_wait(&self, stop: Stop) -> LockWait {
        lock_wait(self.wait, stop)
    }

    /// Opens an index whose writers wait for the lock until the process is stopped.
    ///
    /// # Errors
    /// Like [`key::open`].
    pub fn open(&self, path: impl AsRef<std::path::Path>) -> Result<Index> {
        self.open_until(path, Stop::new())
    }

    /// Opens an index whose writers wait for the lock until `stop` is set.
    ///
    /// # Errors
    /// Like [`key::open`].
    pub fn open_until(&self, path: impl AsRef<std::path::Path>, stop: Stop) -> Result<Index> {
        Ok(key::open(path)?.with_lock_wait(self.lock_wait(stop)))
    }
}
