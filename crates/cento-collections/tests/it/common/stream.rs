//! Deduplicates a stream of documents.

use cento::Stop;
use cento::index::{Document, Index, SignedDocument};
use cento_collections::dedup::{Dedup, DedupOptions, Event, Record, Verdict};

/// The ids and verdicts of documents, in order.
pub fn verdicts<'a>(
    index: &Index,
    options: &DedupOptions,
    documents: impl IntoIterator<Item = &'a Document>,
) -> Vec<(String, Verdict)> {
    verdicts_with(index, options, (64 << 20, false), documents)
}

/// Like [`verdicts`], with this memory, and with a temporary index if requested.
pub fn verdicts_with<'a>(
    index: &Index,
    options: &DedupOptions,
    (memory_bytes, is_temporary): (usize, bool),
    documents: impl IntoIterator<Item = &'a Document>,
) -> Vec<(String, Verdict)> {
    let records = documents.into_iter().map(|document| {
        let signed = SignedDocument::new(document.clone(), index.config(), Stop::NEVER)?;
        Ok(Record::Document(signed))
    });
    let run = Dedup::new(index, options, records).threads(2).strict(true);
    let run = run.memory_bytes(memory_bytes).temporary(is_temporary);
    let decided = run.filter_map(|event| match event.unwrap() {
        Event::Decided(decision) => Some((decision.document.id, decision.verdict)),
        _ => None,
    });
    decided.collect()
}

/// The error of a run that is refused because of the indexes in `against`.
pub fn refusal(
    index: &Index,
    options: &DedupOptions,
    against: &[cento::search::Searcher],
) -> cento::Error {
    Dedup::new(index, options, []).against(against).next().unwrap().unwrap_err()
}
