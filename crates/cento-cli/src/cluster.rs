//! `cento cluster`

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::join::{JoinArgs, ThresholdArgs};
use super::output::{Format, count, counted, share};
use super::progress::{Progress, stop_flag};
use super::terminal::{self, line, tell};
use super::{Outcome, Result};
use cento::join::cluster::{Cluster as Found, ClusterOptions, Linkage, Prefer, cluster};

/// Find the clusters of documents that are versions of one another.
///
/// Every member of a cluster resembles its representative, not just some other member, so clusters
/// do not grow into chains. Exact copies are in one cluster, whatever --max-df ignores. Documents outside clusters are not shown. Without thresholds, the
/// minimum resemblance to the representative is 0.5.
#[derive(Debug, Args)]
pub struct Cluster {
    /// Directory of the index.
    index: PathBuf,
    #[command(flatten)]
    thresholds: ThresholdArgs,
    /// Which document represents a cluster: `oldest`, the one added first; `longest`; `FIELD`, the
    /// one with the least value of this field of `meta`, such as a date; `-FIELD`, the greatest.
    #[arg(long, value_name = "WHICH", default_value = "oldest", allow_hyphen_values = true)]
    prefer: String,
    /// What a member must resemble: the representative (`star`), or any member (`single`), which
    /// makes chains.
    #[arg(long, value_enum, default_value = "star")]
    linkage: LinkageName,
    /// Minimum number of documents in a cluster.
    #[arg(long, value_name = "N", default_value = "2")]
    min_size: u64,
    #[command(flatten)]
    join: JoinArgs,
    /// Output format.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LinkageName {
    Star,
    Single,
}

impl Cluster {
    pub(super) fn run(self) -> Result {
        let stop = stop_flag();
        let searcher = self.join.searcher(&self.index)?;
        let options = ClusterOptions {
            thresholds: self.thresholds.thresholds(0.0, 0.5),
            linkage: match self.linkage {
                LinkageName::Star => Linkage::Star,
                LinkageName::Single => Linkage::Single,
            },
            prefer: match self.prefer.as_str() {
                "oldest" => Prefer::Oldest,
                "longest" => Prefer::Longest,
                field => match field.strip_prefix('-') {
                    Some(field) => Prefer::Greatest(field.into()),
                    None => Prefer::Least(field.into()),
                },
            },
            max_df: self.join.max_df,
            threads: self.join.threads(),
        };
        let progress = Progress::new(searcher.snapshot().documents(), "documents");
        let clusters = cluster(&searcher, &options, &stop, &mut |done, _| progress.set(done));
        progress.finish();
        let mut clusters = clusters?;
        clusters.retain(|cluster| cluster.size >= self.min_size);
        let mut out = io::BufWriter::new(io::stdout().lock());
        for cluster in &clusters {
            write_cluster(&mut out, cluster, self.format)?;
        }
        out.flush()?;
        self.join.tell_stopped(&searcher, &stop)?;
        if self.format == Format::Human {
            let documents: u64 = clusters.iter().map(|cluster| cluster.size).sum();
            let all = searcher.snapshot().documents();
            tell!(
                "{} of {} of {}",
                counted(clusters.len() as u64, "cluster"),
                count(documents),
                counted(all, "document")
            );
        }
        Ok(if clusters.is_empty() { Outcome::Nothing } else { Outcome::Found })
    }
}

fn write_cluster(out: &mut impl Write, cluster: &Found, format: Format) -> io::Result<()> {
    if format == Format::Json {
        return writeln!(out, "{}", terminal::json(cluster)?);
    }
    let Found { cluster: number, size, representative, members, .. } = cluster;
    line!(out, "{number}: {} documents like {representative}", count(*size))?;
    for member in members {
        let similarity = &member.similarity;
        line!(out, "    {} {}", share(similarity.resemblance, similarity.exact), member.id)?;
    }
    Ok(())
}
