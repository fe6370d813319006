//! Options and helpers of the verbs that work with an object store.

use std::cell::RefCell;

use clap::Args;

use super::output::bytes;
use super::progress::{Progress, stop_flag_and};
use super::terminal::note;
use cento::Result;
use cento::Stop;
use cento_remote::{Remote, Watch};

/// An object store.
#[derive(Debug, Args)]
pub struct StoreArgs {
    /// s3://BUCKET/PATH, gs://BUCKET/PATH, az://CONTAINER/PATH, file:///PATH, or a directory.
    /// Credentials, region and endpoint come from the environment (AWS_ACCESS_KEY_ID and so on).
    #[arg(value_name = "URL")]
    url: String,
}

impl StoreArgs {
    /// Connects to the store.
    pub fn remote(&self) -> Result<Remote> {
        open(&self.url)
    }
}

/// Connects to the store at `url`, with the settings of the environment.
pub fn open(url: &str) -> Result<Remote> {
    // No store knows a variable that is not Unicode.
    let settings = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Remote::open(url, settings)
}

/// Runs `work` with a progress line and Ctrl-C; shows `message` at a request to stop.
pub fn watched<T>(message: &'static str, work: impl FnOnce(Watch<'_>) -> Result<T>) -> Result<T> {
    let stop: Stop = stop_flag_and(move || note!("cento: {message}"));
    let line: RefCell<Option<Progress>> = RefCell::new(None);
    let progress = |progress: cento_remote::Progress| {
        let mut line = line.borrow_mut();
        let kib = |bytes: u64| bytes.div_ceil(1024);
        line.get_or_insert_with(|| Progress::new(kib(progress.total), "KiB"))
            .set(kib(progress.done));
    };
    let done = work(Watch { progress: &progress, stop: &stop });
    if let Some(line) = line.take() {
        line.finish();
    }
    done
}

/// Describes how much has been transferred, and how much was there before.
pub fn travelled(what: &str, new: u64, found: u64) -> String {
    match found {
        0 => format!("{what} {}", bytes(new)),
        _ => format!("{what} {}, and {} was there already", bytes(new), bytes(found)),
    }
}
