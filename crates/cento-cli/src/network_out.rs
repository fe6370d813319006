//! Output of verbs that find a network of documents: a list, and a graph.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};

use super::Result;
use super::list_format::ListFormat;
use super::parse::in_directory;
use super::report_args::ReportArgs;
use super::rows_out::{CellType, RowsOut};
use cento::Error;
use cento::runtime::replace;
use cento_collections::lineage::DirectionBy;
use cento_report::{Edge, Network};

/// Options for the output of a network of documents.
#[derive(Debug, Clone, Args)]
pub struct NetworkOut {
    /// Output format. The columns of csv and tsv are the JSON fields.
    #[arg(long, value_enum, default_value = "human")]
    pub format: ListFormat,
    /// Write to this file, which must not exist. A name that ends in .parquet makes a Parquet file
    /// with these rows. Any other file has the format of --format, and is compressed if its name
    /// ends in .gz or .zst.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Also write the network of documents to this file: .graphml or .dot. It replaces an earlier
    /// network, but no other file. An edge leads from a document to the later document that is
    /// nearest to it. The attribute `direction_by` of an edge is `date` if dates say which document
    /// is later.
    #[arg(
        long,
        value_name = "FILE",
        value_parser = PathBufValueParser::new().try_map(in_directory)
    )]
    graph: Option<PathBuf>,
}

/// The graph file to write, if requested.
pub struct Graph<'a>(Option<(&'a PathBuf, Network)>);

impl NetworkOut {
    /// Returns the graph to write.
    ///
    /// # Errors
    /// When the file name does not imply a graph format.
    pub fn graph(&self) -> Result<Graph<'_>> {
        let format = self.graph.as_deref().map(Network::of_file).transpose()?;
        Ok(Graph(self.graph.as_ref().zip(format)))
    }

    /// Refuses outputs that would replace an input, or a file that cento did not write.
    ///
    /// # Errors
    /// As [`ReportArgs::check_outputs`].
    pub fn check_outputs(&self, read: &[PathBuf], report: &ReportArgs) -> Result<()> {
        Ok(report.check_outputs(read, self.graph.as_deref(), self.out.as_deref())?)
    }

    /// Begins the list.
    ///
    /// # Errors
    /// As [`RowsOut::open`].
    pub fn rows(
        &self,
        columns: &'static [&'static str],
        cell_type: fn(&str) -> CellType,
    ) -> Result<RowsOut> {
        RowsOut::open(self.out.as_deref(), self.format, columns, cell_type)
    }
}

impl Graph<'_> {
    /// Returns whether a graph was requested.
    pub fn is_asked(&self) -> bool {
        self.0.is_some()
    }

    /// Writes edges with weights. Each edge starts at the earlier document, and has the reason for
    /// considering that document earlier.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write<'a>(self, edges: impl Iterator<Item = (Edge<'a>, DirectionBy)>) -> Result<()> {
        if let Some((path, network)) = self.0 {
            let text = network.write_directed(&edges.collect::<Vec<_>>());
            replace::file(path, text.as_bytes()).map_err(|e| Error::io("write", path, e))?;
        }
        Ok(())
    }
}
