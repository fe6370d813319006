//! `cento cluster`

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::join::JoinArgs;
use super::list_format::{ListFormat, ListOut};
use super::output::{count, counted, share};
use super::progress::{Progress, stop_flag};
use super::terminal::{Id, line, note};
use super::{Outcome, Result};
use cento::join::Thresholds;
use cento::join::cluster::{self, ClusterOptions, Linkage, Member, Prefer, cluster};

/// Find the clusters of documents that are versions of one another.
///
/// Every member of a cluster resembles its representative, not just some other member, so clusters
/// do not grow into chains. Exact copies are in one cluster, whatever --max-df ignores. Documents
/// outside clusters are not shown. Without thresholds, the minimum resemblance to the
/// representative is 0.5.
#[derive(Debug, Args)]
pub struct Cluster {
    /// Directory of the index.
    index: PathBuf,
    #[command(flatten)]
    thresholds: Thresholds,
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
    /// Output format. Rows of csv and tsv are documents with the numbers of their clusters; a row
    /// without similarity is that of the representative.
    #[arg(long, value_enum, default_value = "human")]
    format: ListFormat,
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
            thresholds: self.thresholds.or(Thresholds::of_clusters()),
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
        let mut out = ListOut::new(io::BufWriter::new(io::stdout().lock()), self.format, COLUMNS)?;
        for cluster in &clusters {
            write_cluster(&mut out, cluster)?;
        }
        out.flush()?;
        self.join.tell_stopped(&searcher, &stop)?;
        if self.format.is_human() {
            let documents: u64 = clusters.iter().map(|cluster| cluster.size).sum();
            let all = searcher.snapshot().documents();
            note!(
                "{} of {} of {}",
                counted(clusters.len() as u64, "cluster"),
                count(documents),
                counted(all, "document")
            );
        }
        Ok(if clusters.is_empty() { Outcome::Nothing } else { Outcome::Found })
    }
}

/// The columns of a table of clusters.
const COLUMNS: &[&str] = &[
    "cluster",
    "size",
    "representative",
    "id",
    "overlap",
    "containment_of_a",
    "containment_of_b",
    "resemblance",
    "standard_error",
    "exact",
];

/// A document of a cluster, as a row of a table.
#[derive(Serialize)]
struct Row<'a> {
    cluster: u64,
    size: u64,
    representative: &'a str,
    id: &'a str,
    #[serde(flatten)]
    member: Option<&'a Member>,
}

fn write_cluster<W: Write>(out: &mut ListOut<W>, found: &cluster::Cluster) -> io::Result<()> {
    let cluster::Cluster { cluster, size, representative, members, .. } = found;
    let (cluster, size) = (*cluster, *size);
    if let ListOut::Rows(rows) = out {
        rows.write(&Row { cluster, size, representative, id: representative, member: None })?;
        for member in members {
            let id = &member.id;
            rows.write(&Row { cluster, size, representative, id, member: Some(member) })?;
        }
        return Ok(());
    }
    out.write(found, |out| {
        line!(out, "{cluster}: {} documents like {}", count(size), Id(representative))?;
        for member in members {
            let similarity = &member.similarity;
            line!(
                out,
                "    {} {}",
                share(similarity.resemblance, similarity.exact),
                Id(&member.id)
            )?;
        }
        Ok(())
    })
}
