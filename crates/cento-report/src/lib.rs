//! Reports of search results, for people to read.
//!
//! A search of [`cento`] gives you numbers and places. A report tells you how much of a document is
//! reused ([`ReuseReport`]), which documents of a collection resemble each other ([`PairsReport`]),
//! which documents carry a passage ([`FamiliesReport`]), which documents are versions of others
//! ([`LineageReport`]), which questions of benchmarks a corpus contains
//! ([`DecontaminationReport`]), or which setting finds copies best ([`TuningReport`]). A report is
//! first a model, which this crate computes and serde turns into JSON, then a self-contained HTML
//! file, and csv. This crate knows neither files nor the time: you supply the date of a report.

mod answer;
mod connected;
mod decontamination;
mod difference;
mod document_name;
mod families;
mod graph;
mod group;
mod html;
mod lineage;
mod link;
mod network;
mod number;
mod omission;
mod own_file;
mod pairs;
#[cfg(feature = "parquet")]
mod parquet_rows;
mod parted_text;
mod reuse;
mod rows;
mod run;
mod table;
#[doc(hidden)]
pub mod terminal;
mod tuning;

pub use answer::{ReportMemory, shares_in_text};
pub use cento::compare::shares::{Ranges, Share};
pub use connected::{DescribedLink, DescribedLinks, LinkEnd, needs_threshold};
pub use decontamination::{DecontaminationReport, QuestionEntry};
pub use difference::is_of_a_script_without_spaces;
pub use document_name::named;
pub use families::{CarrierRow, FamiliesReport, Strip, StripPart, StripSource};
pub use graph::{Cluster, Edge, clusters};
pub use group::{Group, Members};
pub use lineage::LineageReport;
pub use link::link;
pub use network::Network;
#[doc(hidden)]
pub use number::{count, counted, decimals, percent, shown_of, similarity};
pub use omission::{NotCompared, warnings};
#[doc(hidden)]
pub use own_file::{OWN_FILE_BYTES, is_own_file};
pub use pairs::{
    DescribedPairs, Member, PairEntry, PairsReport, compared_units, symmetric_measure,
};
#[cfg(feature = "parquet")]
pub use parquet_rows::ParquetRows;
pub use parted_text::PartedText;
pub use reuse::{
    CountUnit, Counting, DocumentReport, ExcludedUnits, MeasuredDocument, Place, ReuseReport,
    ReuseSource, Source,
};
pub use rows::{CellType, Delimiter, Rows};
pub use run::{IndexState, Run};
pub use tuning::TuningReport;

/// The note on a search for passages that was cut short.
#[doc(hidden)]
pub const MORE_PASSAGES: &str = "the search for passages reached a limit: there may be more";
