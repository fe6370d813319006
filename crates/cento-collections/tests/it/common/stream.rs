//! A stream of documents that is deduplicated.

use cento::Stop;
use cento::index::{Document, Index, SignedDocument};
use cento_collections::dedup::{Dedup, DedupOptions, Event, Record, Verdict};

/// The id of each document, and what becomes of it, in their order.
pub fn verdicts<'a>(
    index: &Index,
    options: &DedupOptions,
    documents: impl IntoIterator<Item = &'a Document>,
) -> Vec<(String, Verdict)> {
    verdicts_with(index, options, (64 << 20, false), documents)
}

/// [`verdicts`] with this memory, and perhaps with an index that is removed afterwards.
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

/// The error of a run that compares with these, which is refused.
pub fn refusal(
    index: &Index,
    options: &DedupOptions,
    against: &[cento::search::Searcher],
) -> cento::Error {
    Dedup::new(index, options, []).against(against).next().unwrap().unwrap_err()
}
