//! `cento compact` merges the segments of an index.

use std::panic::resume_unwind;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::HumanDuration;

use super::output::{self, Format, counted};
use super::progress::Spinner;
use super::target::{Target, TargetArgs};
use super::terminal::note;
use super::wait::WaitArgs;
use super::{Result, VerbOutcome};
use cento::index::{Compaction, Index};
use cento::{Error, Reason};
use cento_client::api::CompactRequest;
use cento_client::{Client, ServiceFile};

/// Merge the segments of an index, and free the space of removed documents.
///
/// If a service runs on your index, the service does the work and keeps answering meanwhile.
#[derive(Debug, Args)]
pub struct Compact {
    #[command(flatten)]
    target: TargetArgs,
    /// Maximum number of segments to leave.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    segments: u32,
    /// First make a new frequency table from the stored documents, and fingerprint all of them
    /// again. This needs disk space for a second index meanwhile.
    #[arg(long)]
    retrain: bool,
    #[command(flatten)]
    wait: WaitArgs,
    /// Output format.
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
            Format::Human => note!("{}", sentence(&done)),
        }
        Ok(VerbOutcome::Found)
    }

    fn compact(&self, path: &Path) -> cento::Result<Compaction> {
        let mut index = self.wait.open(path)?;
        if self.retrain {
            let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            if std::env::current_dir().is_ok_and(|here| here.starts_with(&real)) {
                let what = "the current directory is inside the index, which will be replaced; \
                            change to another directory";
                return Err(Error::index(path, Reason::Unsuitable, what));
            }
            index = index.retrain()?;
        }
        watched(&index, || index.compact(self.segments as usize))
    }

    /// Sends the request to the service that holds the index, if a service does.
    fn ask_service_of(&self, path: &Path) -> cento::Result<Compaction> {
        let locked = || Error::Locked { path: path.to_owned() };
        let service = ServiceFile::of(path).ok_or_else(locked)?;
        // After a crash, a different service may have the address, and must not get the token.
        let health = Client::new(&service.url, None)?.health();
        if !health.is_ok_and(|health| health.started == service.started) {
            return Err(locked());
        }
        match self.ask(&self.target.client_at(&service.url)?) {
            // The service has ended, so the lock belongs to a different process.
            Err(Error::Io { .. }) => Err(locked()),
            done => done,
        }
    }

    fn ask(&self, client: &Client) -> cento::Result<Compaction> {
        if self.retrain {
            let what = "a service cannot retrain; stop it, and name the index instead of --url";
            return Err(Error::arguments(what));
        }
        let request = CompactRequest { segments: self.segments, wait: true };
        let response = client.compact(&request)?;
        response.compaction.ok_or_else(|| client.unexpected())
    }
}

/// The interval between updates of the progress line.
const INTERVAL: Duration = Duration::from_millis(200);

/// The least number of postings and fingerprints with a rate worth showing.
const POSTINGS_MEASURABLE: u64 = 100_000;

/// Merges segments of the index with a progress line, and then reports the speed if the merge took
/// long enough to measure.
fn watched(
    index: &Index,
    compact: impl FnOnce() -> cento::Result<Compaction> + Send,
) -> cento::Result<Compaction> {
    let spinner = Spinner::new();
    let started = Instant::now();
    let done = thread::scope(|scope| {
        // Closed, by being dropped, when the work has ended, in whatever way.
        let (ended, end) = mpsc::channel::<()>();
        let work = scope.spawn(move || {
            let done = compact();
            drop(ended);
            done
        });
        while end.recv_timeout(INTERVAL) == Err(mpsc::RecvTimeoutError::Timeout) {
            spinner.show(&rate(index.merge_progress(), started.elapsed()));
        }
        work.join().unwrap_or_else(|panic| resume_unwind(panic))
    });
    spinner.finish();
    let took = started.elapsed();
    // The rate of a small index would be rounded to nothing.
    let is_measurable = index.merge_progress().1 >= POSTINGS_MEASURABLE;
    if done.is_ok() && is_measurable && took >= Duration::from_secs(1) {
        note!("{}, {:.1} s", rate(index.merge_progress(), took), took.as_secs_f64());
    }
    done
}

/// Describes how far merges have come, and how fast.
fn rate((done, total): (u64, u64), took: Duration) -> String {
    if total == 0 {
        return "merging texts and ids".into();
    }
    let million = |number: f64| number / 1e6;
    let rate = format!(
        "{:.1} of {:.1} million postings and fingerprints, {:.1} million a second",
        million(done as f64),
        million(total as f64),
        million(done as f64 / took.as_secs_f64().max(1e-3)),
    );
    if done == 0 || done == total {
        return rate;
    }
    let left = HumanDuration(took.mul_f64((total - done) as f64 / done as f64));
    format!("{} %, {rate}, {left:#} left", 100 * done / total)
}

fn sentence(done: &Compaction) -> String {
    let Compaction { segments_before, segments_after, purged, .. } = *done;
    let before = counted(segments_before as u64, "segment");
    let space = format!("reclaimed {}", counted(purged, "removed document"));
    match (segments_before == segments_after, purged) {
        (true, 0) => format!("nothing to do: the index has {before}"),
        (true, _) => space,
        (false, 0) => format!("merged {before} into {segments_after}"),
        (false, _) => format!("merged {before} into {segments_after}; {space}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_written_part() {
        let check = |of, seconds, expected: &str| {
            assert_eq!(rate(of, Duration::from_secs(seconds)), expected);
        };
        check((0, 0), 3, "merging texts and ids");
        check(
            (0, 1_000_000),
            3,
            "0.0 of 1.0 million postings and fingerprints, 0.0 million a second",
        );
        let half = "50 %, 27.5 of 55.0 million postings and fingerprints, 5.5 million a second, 5s \
                    left";
        check((27_500_000, 55_000_000), 5, half);
        let all = "55.0 of 55.0 million postings and fingerprints, 5.5 million a second";
        check((55_000_000, 55_000_000), 10, all);
    }

    #[test]
    fn the_sentence_names_only_actual_changes() {
        let check = |segments_before, segments_after, purged, expected: &str| {
            let done = Compaction { segments_before, segments_after, purged };
            assert_eq!(sentence(&done), expected);
        };
        check(0, 0, 0, "nothing to do: the index has 0 segments");
        check(1, 1, 0, "nothing to do: the index has 1 segment");
        check(1, 1, 1, "reclaimed 1 removed document");
        check(3, 1, 0, "merged 3 segments into 1");
        check(3, 1, 2000, "merged 3 segments into 1; reclaimed 2,000 removed documents");
        check(1, 0, 2, "merged 1 segment into 0; reclaimed 2 removed documents");
    }
}
