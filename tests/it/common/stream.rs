//! A stream of documents that is deduplicated.

use cento::Stop;
use cento::index::{Document, Index, SignedDocument};
use cento::join::dedup::{Dedup, DedupOptions, Event, Progress, Record, Verdict};

/// Drops documents with the same text, with room for all of a test.
pub fn exact() -> DedupOptions {
    DedupOptions {
        min_resemblance: None,
        min_containment: None,
        cut_passages: None,
        boilerplate: None,
        threads: 2,
        memory_bytes: 64 << 20,
        resumable: false,
        temporary: false,
        strict: true,
    }
}

/// The id of each document, and what becomes of it, in their order.
pub fn verdicts<'a>(
    index: &Index,
    options: &DedupOptions,
    documents: impl IntoIterator<Item = &'a Document>,
) -> Vec<(String, Verdict)> {
    let mut verdicts = Vec::new();
    let mut sink = |event: Event<'_>| {
        if let Event::Decided(decision) = event {
            verdicts.push((decision.document.id.clone(), decision.verdict.clone()));
        }
        Ok(())
    };
    let mut run = Dedup::new(index, &[], options, Progress::default(), &mut sink).unwrap();
    for document in documents {
        let signed = SignedDocument::new(document.clone(), index.config(), Stop::NEVER).unwrap();
        run.push(Record::Document(signed)).unwrap();
    }
    run.finish().unwrap();
    verdicts
}
