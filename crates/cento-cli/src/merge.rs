//! `cento merge` adds every document of other indexes to an index.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::output::{self, Format, bytes, count, counted};
use super::target::{Target, TargetArgs};
use super::terminal::note;
use super::wait::WaitArgs;
use super::watch::{counted_watches, how_to_copy, tell_left_behind};
use super::{Result, VerbOutcome};
use cento::index::Index;
use cento::{AddIndexesOptions, AddedIndexes, Error, OnConflict, Reason, Stop};
use cento_client::api::MergeRequest;
use cento_collections::watch::count_watches;

/// Combine finished indexes into one, without indexing the documents again.
///
/// cento takes the segments of the other indexes, the shards, as they are, all in one commit. After
/// a crash the index is as before or has all of them, and you can repeat the command. cento skips
/// shards that were merged before. You get the answers of one index built of all documents.
///
/// Shards must have the scheme, the analyzer and the frequency table of the index, and no process
/// may be writing to them. If your index does not exist, cento creates it with the settings of the
/// first shard.
///
/// With --url, your index belongs to a service, which keeps running. Shards are then paths below
/// the directory that you started the service with for them (`serve --shard-dir`).
#[derive(Debug, Args)]
pub struct Merge {
    #[command(flatten)]
    target: TargetArgs,
    /// Directories of the indexes to take, the shards.
    #[arg(required_unless_present = "url")]
    shards: Vec<PathBuf>,
    /// What to do if two indexes have a document with the same id.
    #[arg(long, value_enum, value_name = "WHAT", default_value = "error")]
    on_conflict: Conflict,
    /// Remove the shards when the commit is durable. On the same file system, cento links their
    /// files instead of copying them, which takes no space.
    #[arg(long = "move")]
    remove: bool,
    #[command(flatten)]
    wait: WaitArgs,
    /// Output format.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// What to do if two indexes have a document with the same id.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Conflict {
    /// Merge nothing, and report the id and both indexes.
    Error,
    /// Keep the document of the index that you name later, and delete the earlier document.
    Later,
}

impl Merge {
    pub(super) fn run(mut self) -> Result {
        let on_conflict = match self.on_conflict {
            Conflict::Error => OnConflict::Error,
            Conflict::Later => OnConflict::Later,
        };
        let options = AddIndexesOptions::default().on_conflict(on_conflict).remove(self.remove);
        let merged = match self.target.target(&mut self.shards)? {
            Target::Index(index) => {
                self.check_move()?;
                // Retrying is safe: a taken lock refuses a merge before any change.
                let wait = self.wait.lock_wait(Stop::new());
                let merged = wait.retry(|| Index::add_indexes(&index, &self.shards, options))?;
                let each = |shard: &PathBuf| tell_left_behind(shard, "in the merged index");
                self.shards.iter().filter(|shard| shard.is_dir()).try_for_each(each)?;
                merged
            }
            Target::Service(_) if self.remove => {
                let what = "--move cannot be used with --url: a service removes no shards";
                return Err(Error::arguments(what).into());
            }
            Target::Service(_) if self.shards.is_empty() => {
                let what = "name the shards, as they lie in the directory of the service for them";
                return Err(Error::arguments(what).into());
            }
            Target::Service(client) => {
                let shards = self.shards.iter().map(|shard| shard.display().to_string()).collect();
                client.merge(&MergeRequest { shards, on_conflict })?
            }
        };
        match self.format {
            Format::Json => output::print_json(&merged)?,
            Format::Human => note!("{}", sentence(&merged)),
        }
        if merged.removed_since > 0 {
            note!(
                "cento: {} removed or replaced in a shard after it was merged; the index still has \
                 what was taken then",
                match merged.removed_since {
                    1 => "1 document was".to_owned(),
                    more => format!("{} documents were", count(more)),
                }
            );
        }
        Ok(VerbOutcome::Found)
    }
}

impl Merge {
    /// Refuses to remove a shard with watches, because the watches would be lost.
    fn check_move(&self) -> cento::Result<()> {
        let shards = self.shards.iter().filter(|_| self.remove);
        for shard in shards {
            let watches = count_watches(shard)?;
            if watches > 0 {
                let shard = shard.display().to_string();
                let what = format!(
                    "--move would remove it with its {}; {}, then remove them here with `cento \
                     watch remove`, or merge without --move",
                    counted_watches(watches),
                    how_to_copy(&shard)
                );
                return Err(Error::index(shard, Reason::Unsuitable, what));
            }
        }
        Ok(())
    }
}

fn sentence(merged: &AddedIndexes) -> String {
    let mut done = match merged.segments {
        0 => "nothing to do: all segments had been merged before".to_owned(),
        _ => format!(
            "merged {} in {}, {}",
            counted(merged.documents, "document"),
            counted(merged.segments as u64, "segment"),
            bytes(merged.bytes)
        ),
    };
    if merged.segments > 0 && merged.known > 0 {
        let known = counted(merged.known as u64, "segment");
        done.push_str(&format!("; {known} had been merged before"));
    }
    if merged.replaced > 0 {
        let replaced = counted(merged.replaced, "older document");
        done.push_str(&format!("; deleted {replaced} with the same id"));
    }
    if merged.removed > 0 {
        done.push_str(&format!("; removed {}", counted(merged.removed as u64, "shard")));
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_names_only_actual_changes() {
        let check = |set: fn(&mut AddedIndexes), expected: &str| {
            let mut merged = AddedIndexes::default();
            set(&mut merged);
            assert_eq!(sentence(&merged), expected);
        };
        check(|j| j.known = 2, "nothing to do: all segments had been merged before");
        check(
            |j| (j.documents, j.segments, j.bytes) = (1200, 3, 2048),
            "merged 1,200 documents in 3 segments, 2.05 kB",
        );
        check(
            |j| {
                (j.documents, j.segments, j.known, j.replaced, j.removed) = (1, 1, 1, 2, 1);
            },
            "merged 1 document in 1 segment, 0 B; 1 segment had been merged before; deleted 2 \
             older documents with the same id; removed 1 shard",
        );
    }
}
