//! `cento compact`

use std::path::Path;

use clap::Args;

use super::output::{self, Format, counted};
use super::target::{Target, TargetArgs};
use super::terminal::tell;
use super::{Outcome, Result};
use cento::Error;
use cento::index::{Compaction, Index};
use cento_client::Client;
use cento_client::api::CompactRequest;
use cento_serve::Whereabouts;

/// Merge segments and give back the space of removed documents.
///
/// If a service has the index, it is asked to do that, and goes on answering meanwhile.
#[derive(Debug, Args)]
pub struct Compact {
    #[command(flatten)]
    target: TargetArgs,
    /// Leave at most so many segments.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    segments: u32,
    /// Make a new frequency table of the stored documents and sign them all again with it, before
    /// segments are merged. Takes the space of a second index meanwhile.
    #[arg(long)]
    retrain: bool,
    /// The form of the report.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

impl Compact {
    pub(super) fn run(mut self) -> Result {
        let done = match self.target.only_target()? {
            Target::Service(client) => self.ask(&client)?,
            Target::Index(path) => match self.compact(&path) {
                Err(Error::Locked { .. }) if !self.retrain => self.ask_service_of(&path)?,
                done => done?,
            },
        };
        match self.format {
            Format::Json => output::print_json(&done)?,
            Format::Human => tell!("{}", sentence(&done)),
        }
        Ok(Outcome::Found)
    }

    fn compact(&self, path: &Path) -> cento::Result<Compaction> {
        let mut index = Index::open(path)?;
        if self.retrain {
            let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            if std::env::current_dir().is_ok_and(|here| here.starts_with(&real)) {
                let what =
                    "it is replaced by a new directory, and this is a place in it; go elsewhere";
                return Err(Error::index(path, what));
            }
            index = index.retrain()?;
        }
        index.compact(self.segments as usize)
    }

    /// Asks the service that has the index, if it is one that has it.
    fn ask_service_of(&self, path: &Path) -> cento::Result<Compaction> {
        let locked = || Error::Locked { path: path.to_owned() };
        let service = Whereabouts::of(path).ok_or_else(locked)?;
        // Another service may have the address by now: no token for whom it is not meant.
        let health = Client::new(&service.url, None)?.health();
        if !health.is_ok_and(|health| health.started == service.started) {
            return Err(locked());
        }
        match self.ask(&self.target.client_at(&service.url)?) {
            // It is gone, and something else writes.
            Err(Error::Io { .. }) => Err(locked()),
            done => done,
        }
    }

    fn ask(&self, client: &Client) -> cento::Result<Compaction> {
        if self.retrain {
            let what = "a service does not make a new index; stop it, and give the index";
            return Err(Error::Query { what: what.into() });
        }
        let request = CompactRequest { segments: self.segments, wait: true };
        let response = client.compact(&request)?;
        response.compaction.ok_or_else(|| client.unexpected())
    }
}

/// What was done, as a sentence.
fn sentence(done: &Compaction) -> String {
    let Compaction { segments_before, segments_after, purged, .. } = *done;
    let before = counted(segments_before as u64, "segment");
    let space = format!("the space of {} came back", counted(purged, "removed document"));
    match (segments_before == segments_after, purged) {
        (true, 0) => format!("nothing was to be done: the index has {before}"),
        (true, _) => space,
        (false, 0) => format!("{before} became {segments_after}"),
        (false, _) => format!("{before} became {segments_after}; {space}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_is_said_as_it_is() {
        let check = |segments_before, segments_after, purged, expected: &str| {
            let done = Compaction { segments_before, segments_after, purged };
            assert_eq!(sentence(&done), expected);
        };
        check(0, 0, 0, "nothing was to be done: the index has 0 segments");
        check(1, 1, 0, "nothing was to be done: the index has 1 segment");
        check(1, 1, 1, "the space of 1 removed document came back");
        check(3, 1, 0, "3 segments became 1");
        check(3, 1, 2000, "3 segments became 1; the space of 2,000 removed documents came back");
        check(1, 0, 2, "1 segment became 0; the space of 2 removed documents came back");
    }
}
