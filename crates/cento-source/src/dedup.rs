//! The records of sources, for deduplication.

use std::path::PathBuf;

use cento::index::{Index, SignOutcome};
use cento::{Result, Stop};
use cento_collections::dedup::Record;

use crate::SourceOptions;
use crate::pipeline::{Output, Outputs, PipelineOptions};

/// Returns the records of `inputs` for [`Dedup`](cento_collections::dedup::Dedup), signed with the
/// scheme of `index`, by `threads` threads in `memory_bytes` bytes.
///
/// # Errors
/// The iterator gives an error and ends, with [`Cancelled`](cento::Error::Cancelled) after `stop`.
pub fn records(
    index: &Index,
    inputs: &[PathBuf],
    source: &SourceOptions,
    threads: usize,
    memory_bytes: usize,
    stop: &Stop,
) -> impl Iterator<Item = Result<Record>> + use<> {
    let pipeline = PipelineOptions {
        threads,
        bytes_max: memory_bytes / 4,
        document_bytes_max: memory_bytes / 4,
        keeps_texts: true,
        source: source.clone(),
        faults: index.faults(),
    };
    let outputs = Outputs::new(inputs, index.config(), &pipeline, stop, None);
    outputs.filter_map(|output| {
        Some(output.map(|output| match output {
            Output::Document(SignOutcome::Signed { signed, .. }) => Some(Record::Document(signed)),
            Output::Skipped { place, why } => Some(Record::Skipped { place, why }),
            Output::Failed(error) => Some(Record::Failed(error)),
            // The visible text decides, and no document is known beforehand.
            Output::Unseen { .. }
            | Output::Patch { .. }
            | Output::Document(SignOutcome::Known(..)) => None,
        }))
        .and_then(Result::transpose)
    })
}
