//! Deduplication of whole sources.

use std::path::PathBuf;

use cento::Result;
use cento::Stop;
use cento::index::Index;
use cento::join::dedup::{Dedup, DedupOptions, Event, Progress, Record};
use cento::search::Searcher;

use crate::SourceOptions;
use crate::pipeline::{self, Output, PipelineOptions};

/// Adds the kept documents of `inputs` to the index, starting at `from` ([`Dedup`]);
/// `options.threads` threads sign them.
///
/// # Errors
/// As [`Dedup::push`]; [`Cancelled`](cento::Error::Cancelled) after `stop`.
#[expect(clippy::too_many_arguments, reason = "two groups: what to do, and what to do it with")]
pub fn dedup(
    index: &Index,
    against: &[Searcher],
    inputs: &[PathBuf],
    source: &SourceOptions,
    options: &DedupOptions,
    from: Progress,
    stop: &Stop,
    sink: &mut dyn FnMut(Event<'_>) -> Result<()>,
) -> Result<()> {
    let pipeline = PipelineOptions {
        threads: options.threads,
        bytes_max: options.memory_bytes / 4,
        document_bytes_max: options.memory_bytes / 4,
        keeps_texts: true,
        source: source.clone(),
        faults: index.faults(),
    };
    let mut run = Dedup::new(index, against, options, from, sink)?;
    let is_known = |_: &_, _| false;
    pipeline::run(inputs, index.config(), &pipeline, stop, &is_known, &mut |output| {
        run.push(match output {
            // The visible text decides.
            Output::Unseen { .. } => return Ok(()),
            Output::Signed { signed, .. } => Record::Document(signed),
            Output::Skipped { place, why } => Record::Skipped { place, why },
            Output::Failed(error) => Record::Failed(error),
            Output::Known(..) => unreachable!("no document is known beforehand"),
        })
    })?;
    run.finish()
}
