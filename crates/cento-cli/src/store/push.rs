//! `cento store push` copies a commit to an object store.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;

use super::{StoreArgs, TransferArgs, travelled, watched};
use crate::hints::ErrorWithHint;
use crate::key;
use crate::output::{Format, bytes, count, counted};
use crate::parse::{parse_age, parse_duration};
use crate::terminal::tell;
use crate::watch::tell_left_behind;
use crate::{Result, VerbOutcome};
use cento::Error;
use cento_api::whole::is_zero;
use cento_collections::watch::count_watches;
use cento_remote::{PushOptions, PushResult, Remote, Retention, RetentionResult, Watch};

/// Publish the last commit of an index in an object store.
///
/// cento sends the files that the store does not have. Then, if no other push came first, it sends
/// a manifest with the next number, all or nothing. You can repeat an interrupted push, which sends
/// nothing twice. A service or another process can use the index meanwhile. The old manifests are
/// the history: `cento store history` lists them, and `cento store pull --manifest` and `cento
/// store restore` bring them back.
///
/// The store must have conditional writes, as S3, Google Cloud Storage, Azure and file systems do.
/// The first push needs an empty URL. A later push needs an index that was made from the current
/// manifest.
#[derive(Debug, Args)]
pub struct Push {
    /// Directory of your index.
    index: PathBuf,
    #[command(flatten)]
    store: StoreArgs,
    /// Push repeatedly, with this interval, until you stop the command. If a push fails because of
    /// the store, cento tries again.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    every: Option<Duration>,
    /// Then keep only this number of manifests, and remove the files that none of them needs.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    keep: Option<u32>,
    /// Also keep manifests that are younger than this, such as 12h or 30d. Without --keep, cento
    /// removes all older ones except the newest.
    #[arg(long, value_name = "TIME", value_parser = parse_age)]
    keep_for: Option<Duration>,
    /// Remove nothing that was current within this time. No pull may take longer.
    #[arg(long, value_name = "TIME", default_value = "1d", value_parser = parse_age)]
    keep_min_age: Duration,
    #[command(flatten)]
    transfer: TransferArgs,
    /// Output format.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

#[derive(Debug, Serialize)]
struct PushSummary {
    #[serde(flatten)]
    pushed: PushResult,
    #[serde(skip_serializing_if = "Option::is_none")]
    retained: Option<RetentionResult>,
    /// Numbers of the manifests that may have texts withdrawn since the push.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    before_withdrawals: Vec<u64>,
    /// The number of unreferenced parts of files, which may have withdrawn texts as well.
    #[serde(skip_serializing_if = "is_zero")]
    unnamed_parts: u64,
}

impl Push {
    pub(super) fn run(self) -> Result {
        let remote = self.store.remote()?;
        let stopping = "stopping; the next push does not send again what this one has sent";
        let done = watched(stopping, |watch| match self.every {
            None => self.once(&remote, true, watch).map(|done| self.tell(&done)),
            Some(every) => self.repeat(&remote, every, watch),
        });
        done?
    }

    /// Pushes the last commit, and removes expired history if the commit is new or `is_due`.
    fn once(&self, remote: &Remote, is_due: bool, watch: Watch<'_>) -> cento::Result<PushSummary> {
        let index = key::open(&self.index)?;
        let options = PushOptions {
            parallel: self.transfer.parallel.into(),
            watches: count_watches(&self.index)?,
            ..PushOptions::default()
        };
        let pushed = remote.push(&index, &options, watch)?;
        let is_due = is_due || pushed.is_new;
        let retention = self.retention().filter(|_| is_due);
        let retained = retention.map(|retention| remote.retain(&retention)).transpose()?;
        let (before_withdrawals, unnamed_parts) = match is_due && !index.withdrawals()?.is_empty() {
            true => (remote.before_withdrawals()?, remote.unnamed_parts()?),
            false => (Vec::new(), 0),
        };
        Ok(PushSummary { pushed, retained, before_withdrawals, unnamed_parts })
    }

    /// Pushes repeatedly until a request to stop.
    fn repeat(&self, remote: &Remote, every: Duration, watch: Watch<'_>) -> cento::Result<Result> {
        // Manifests expire without further pushes, so this looks every `keep_min_age`.
        let mut looked: Option<Instant> = None;
        while !watch.stop.is_set() {
            let is_due = looked.is_none_or(|looked| looked.elapsed() >= self.keep_min_age);
            let done = self.once(remote, is_due, watch);
            if is_due && done.is_ok() {
                looked = Some(Instant::now());
            }
            match done {
                Ok(done) if done.pushed.is_new || done.has_removed() => {
                    if let Err(error) = self.tell(&done) {
                        return Ok(Err(error));
                    }
                }
                Ok(_) => {}
                Err(Error::Cancelled) => break,
                // The store or the network is unavailable.
                Err(error @ (Error::Store { .. } | Error::Io { .. })) => {
                    tell!("cento: {}; trying again", ErrorWithHint(&error));
                }
                Err(error) => return Err(error),
            }
            let until = Instant::now() + every;
            while Instant::now() < until && !watch.stop.is_set() {
                std::thread::sleep(every.min(Duration::from_millis(50)));
            }
        }
        Ok(Ok(VerbOutcome::Found))
    }

    fn tell(&self, done: &PushSummary) -> Result {
        let told = super::tell(self.format, done, || sentence(done))?;
        tell_left_behind(&self.index, "in the store")?;
        Ok(told)
    }

    fn retention(&self) -> Option<Retention> {
        if self.keep.is_none() && self.keep_for.is_none() {
            return None;
        }
        Some(Retention {
            keep: self.keep.map_or(1, |keep| keep as usize),
            keep_for: self.keep_for.unwrap_or_default(),
            keep_min_age: self.keep_min_age,
        })
    }
}

impl PushSummary {
    /// Tells whether anything was removed from the store.
    fn has_removed(&self) -> bool {
        self.retained
            .as_ref()
            .is_some_and(|retained| retained.removed_manifests + retained.removed_parts > 0)
    }
}

fn sentence(done: &PushSummary) -> String {
    let PushResult { manifest, is_new, documents, files, bytes: sent, found, .. } = done.pushed;
    let documents = counted(documents, "document");
    let mut said = match is_new {
        false => format!("nothing to do: this commit is manifest {} already", count(manifest)),
        true => format!(
            "pushed {documents} as manifest {}; {} in {}",
            count(manifest),
            travelled("sent", sent, found),
            counted(files as u64, "new file")
        ),
    };
    if let Some(retained) = done.retained.as_ref().filter(|_| done.has_removed()) {
        let removed = counted(retained.removed_manifests as u64, "old manifest");
        said.push_str(&format!("; removed {removed}, {}", bytes(retained.removed_bytes)));
    }
    if let Some(number) = done.retained.as_ref().and_then(|retained| retained.damaged.first()) {
        said.push_str(&format!(
            "; removed no file that is not needed, because manifest {number} is damaged: what it \
             needs is not known"
        ));
    }
    if let [first, ..] = done.before_withdrawals[..] {
        let manifests = counted(done.before_withdrawals.len() as u64, "older manifest");
        said.push_str(&format!(
            "; {manifests}, from {} on, may have texts that were withdrawn since: `--keep 1 \
             --keep-min-age 0` removes all older manifests at once, so make sure that nobody pulls \
             one of them",
            count(first)
        ));
    }
    if done.unnamed_parts > 0 {
        said.push_str(&format!(
            "; {} that no manifest names, left by pushes that were cut off, may have them too: \
             `--keep 1 --keep-min-age 0` removes them at once, so make sure that nobody pushes",
            counted(done.unnamed_parts, "object")
        ));
    }
    said
}
