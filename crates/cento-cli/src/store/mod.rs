//! `cento store`: the commits of an index in an object store.

mod history;
mod pull;
mod push;
mod restore;

use std::cell::RefCell;
use std::io;

use clap::Args;
use serde::Serialize;

use super::output::{self, Format, bytes};
use super::progress::{Progress, stop_flag_and};
use super::terminal::note;
use super::{VerbOutcome, verbs};
use cento::Result;
use cento::Stop;
use cento_remote::{Remote, Watch};

/// Publish an index in an object store: push, pull, history, restore.
///
/// A push publishes the last commit of an index as a manifest with the next number, and a pull
/// copies the index into a directory. The old manifests are the history of the index. You can pull
/// each of them, and make one current again.
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub struct Store {
    #[command(subcommand)]
    verb: StoreVerb,
}

verbs!(StoreVerb {
    Push(push::Push),
    Pull(pull::Pull),
    History(history::History),
    Restore(restore::Restore),
});

impl Store {
    pub(super) fn run(self) -> crate::Result {
        self.verb.run()
    }
}

#[derive(Debug, Args)]
struct StoreArgs {
    /// s3://BUCKET/PATH, gs://BUCKET/PATH, az://CONTAINER/PATH, file:///PATH, or a directory.
    /// Credentials, region and endpoint come from the environment (AWS_ACCESS_KEY_ID and so on).
    #[arg(value_name = "URL")]
    url: String,
}

impl StoreArgs {
    fn remote(&self) -> Result<Remote> {
        open(&self.url)
    }
}

/// Connects to the store at `url`, with the settings of the environment.
pub fn open(url: &str) -> Result<Remote> {
    // Stores only read variables in Unicode, so the remaining variables are ignored.
    let settings = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Remote::open(url, settings)
}

/// How much of a store is sent or fetched at a time.
#[derive(Debug, Args)]
struct TransferArgs {
    /// Maximum number of parts of 16 MiB to send or fetch at a time.
    #[arg(
        long, value_name = "N", default_value = "8",
        value_parser = clap::value_parser!(u16).range(1..=256),
    )]
    parallel: u16,
}

fn tell(
    format: Format,
    done: &impl Serialize,
    sentence: impl FnOnce() -> String,
) -> io::Result<VerbOutcome> {
    match format {
        Format::Json => output::print_json(done)?,
        Format::Human => note!("{}", sentence()),
    }
    Ok(VerbOutcome::Found)
}

/// Runs `work` with a progress line and Ctrl-C; shows `message` at a request to stop.
fn watched<T>(message: &'static str, work: impl FnOnce(Watch<'_>) -> Result<T>) -> Result<T> {
    let stop: Stop = stop_flag_and(move || note!("cento: {message}"));
    let line: RefCell<Option<Progress>> = RefCell::new(None);
    let progress = |progress: cento_remote::Progress| {
        let mut line = line.borrow_mut();
        let kilobytes = |bytes: u64| bytes.div_ceil(1000);
        line.get_or_insert_with(|| Progress::new(kilobytes(progress.total), "kB"))
            .set(kilobytes(progress.done));
    };
    let done = work(Watch { progress: &progress, stop: &stop });
    if let Some(line) = line.take() {
        line.finish();
    }
    done
}

/// Describes how much has been transferred, and how much was there before.
fn travelled(what: &str, new: u64, found: u64) -> String {
    match found {
        0 => format!("{what} {}", bytes(new)),
        _ => format!("{what} {}, and {} was there already", bytes(new), bytes(found)),
    }
}
