//! `cento push`

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde::Serialize;

use super::output::{self, Format, bytes, count, counted};
use super::stored::{StoreArgs, travelled, watched};
use super::terminal::tell;
use super::values::parse_age;
use super::{Outcome, Result};
use cento::Index;
use cento_remote::{PushOptions, Pushed, Retained, Retention};

/// Publish the last commit of an index in an object store.
///
/// Sends what the store does not have and then, if nobody else has pushed meanwhile, a manifest with the
/// next number, all or nothing. An interrupted push can be repeated and sends nothing twice. Old
/// manifests are the history: `cento ls` lists them, `cento pull --manifest` and `cento restore` bring
/// them back. A service or other processes may use the index meanwhile.
///
/// The store must have conditional writes, as S3, Google Cloud Storage, Azure and file systems do. The
/// first push needs an empty URL; later ones an index that was made from the current manifest.
#[derive(Debug, Args)]
pub struct Push {
    /// Directory of the index.
    index: PathBuf,
    #[command(flatten)]
    store: StoreArgs,
    /// Afterwards keep only this number of manifests, and remove the files that none of them needs.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    keep: Option<u32>,
    /// Keep manifests that are younger than this too, such as 12h or 30d. Alone it removes all older
    /// ones but the newest.
    #[arg(long, value_name = "TIME", value_parser = parse_age)]
    keep_for: Option<Duration>,
    /// Remove nothing that was current within this time: no pull may take longer.
    #[arg(long, value_name = "TIME", default_value = "1d", value_parser = parse_age)]
    grace: Duration,
    /// Maximum number of parts of 16 MiB that are sent at a time.
    #[arg(long, value_name = "N", default_value = "8", value_parser = clap::value_parser!(u16).range(1..=256))]
    parallel: u16,
    /// Output format.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// What was done.
#[derive(Debug, Serialize)]
struct Done {
    #[serde(flatten)]
    pushed: Pushed,
    #[serde(skip_serializing_if = "Option::is_none")]
    retained: Option<Retained>,
}

impl Push {
    pub(super) fn run(self) -> Result {
        let index = Index::open(&self.index)?;
        let remote = self.store.remote()?;
        let options = PushOptions { parallel: self.parallel.into(), ..PushOptions::default() };
        let stopping = "stopping; what was sent is not sent again";
        let pushed = watched(stopping, |watch| remote.push(&index, &options, watch))?;
        let retained = self.retention().map(|retention| remote.retain(&retention)).transpose()?;
        let done = Done { pushed, retained };
        match self.format {
            Format::Json => output::print_json(&done)?,
            Format::Human => tell!("{}", sentence(&done)),
        }
        Ok(Outcome::Found)
    }

    fn retention(&self) -> Option<Retention> {
        if self.keep.is_none() && self.keep_for.is_none() {
            return None;
        }
        Some(Retention {
            keep: self.keep.map_or(1, |keep| keep as usize),
            keep_for: self.keep_for.unwrap_or_default(),
            grace: self.grace,
        })
    }
}

/// Describes what was done.
fn sentence(done: &Done) -> String {
    let Pushed { manifest, is_new, documents, files, bytes: sent, found, .. } = done.pushed;
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
    if let Some(retained) = &done.retained
        && retained.removed_manifests + retained.removed_parts > 0
    {
        let removed = counted(retained.removed_manifests as u64, "old manifest");
        said.push_str(&format!("; removed {removed}, {}", bytes(retained.removed_bytes)));
    }
    said
}
