//! `cento cluster` groups documents that pairs connect.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::Result;
use super::collection::InputArgs;
use super::join::JoinArgs;
use super::list_format::{ListFormat, ListOut};
use super::output::{self, count, counted, share};
use super::progress::{Progress, stop_flag};
use super::terminal::{Id, line, note};
use cento_collections::cluster::{self, ClusterOptions, Member, Prefer};

/// Find groups of documents that are versions of the same text.
///
/// Every member of a cluster resembles its representative, not only some other member, so a cluster
/// does not become a chain of ever less similar documents. Exact copies are in one cluster, even if
/// --max-df ignores their fingerprints. You do not see documents outside clusters. Without a
/// threshold, your index's preset sets the minimum resemblance to the representative, or else it is
/// 0.5.
#[derive(Debug, Args)]
pub struct Cluster {
    /// Directory of an index; or files, directories, and archives (.tar, .tar.gz, .tgz, .tar.zst,
    /// .zip), which are read for this search alone.
    #[arg(value_name = "INDEX|PATH", required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    options: ClusterOptions,
    #[command(flatten)]
    join: JoinArgs,
    #[command(flatten)]
    inputs: InputArgs,
    /// Output format. Rows of csv and tsv are documents with the numbers of their clusters. A row
    /// without a similarity is the representative.
    #[arg(long, value_enum, default_value = "human")]
    format: ListFormat,
}

impl Cluster {
    pub(super) fn run(self) -> Result {
        let stop = stop_flag();
        let inputs = self.inputs.open_one(&self.paths, &self.join, "clusters", &stop)?;
        let searcher = &inputs.searcher;
        let progress = Progress::new(searcher.snapshot().documents(), "documents");
        let found = cluster::clusters(searcher, &self.options).threads(self.join.threads());
        let defaults = found.defaults();
        let mut found = found.stop(&stop).progress(progress.setter());
        let clusters = found.by_ref().collect::<cento::Result<Vec<_>>>();
        progress.finish();
        let clusters = clusters?;
        if let (Prefer::Least(field) | Prefer::Greatest(field), without @ 1..) =
            (&self.options.prefer, found.documents_without_field())
        {
            let without = counted(without, "document");
            note!("cento: {without} without the field `{field}`: preferred last");
        }
        let mut out = ListOut::new(io::BufWriter::new(io::stdout().lock()), self.format, COLUMNS)?;
        for cluster in &clusters {
            write_cluster(&mut out, cluster)?;
        }
        out.flush()?;
        output::tell_defaults(defaults);
        self.join.tell_stopped(searcher, self.options.max_df, &stop)?;
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
        Ok(inputs.outcome(!clusters.is_empty()))
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
struct ClusterRow<'a> {
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
        rows.write(&ClusterRow {
            cluster,
            size,
            representative,
            id: representative,
            member: None,
        })?;
        for member in members {
            let id = &member.id;
            rows.write(&ClusterRow { cluster, size, representative, id, member: Some(member) })?;
        }
        return Ok(());
    }
    out.write(found, |out| {
        line!(out, "{cluster}: {} documents like {}", count(size), Id(representative))?;
        for member in members {
            let similarity = &member.similarity;
            line!(
                out,
                "  {:>8}  {}",
                share(similarity.resemblance, similarity.exact),
                Id(&member.id)
            )?;
        }
        Ok(())
    })
}
