//! You have an essay, and want to know which documents it quotes and where. A trace shows each
//! passage with its source.
//!
//! `cargo run --example sources_of_a_text`

use std::path::Path;

use cento::search::Goal;
use cento::{Config, Document, Index, Query, Result, Searcher, WriterOptions};

const SOURCES: [(&str, &str); 3] = [
    (
        "lincoln",
        "Four score and seven years ago our fathers brought forth on this continent a new nation, \
         conceived in liberty",
    ),
    (
        "jefferson",
        "We hold these truths to be self-evident, that all men are created equal, that they are \
         endowed by their Creator with certain unalienable rights",
    ),
    (
        "weather",
        "It was a bright cold day in April, and the clocks in the hall were striking while the \
         rain fell on the town",
    ),
];

const ESSAY: &str = "My essay begins: four score and seven years ago our fathers brought forth on \
                     this continent a new nation, conceived in liberty. As somebody said, we hold \
                     these truths to be self-evident, that all men are created equal, that they \
                     are endowed by their Creator with certain unalienable rights.";

/// Indexes the sources, and returns the quotations in the essay with the ids of their sources.
pub fn quotations(dir: &Path) -> Result<Vec<(String, String)>> {
    let index =
        Index::create(dir.join("sources.idx"), Config::new("winnow(k=5,w=10)", "words", true)?)?;
    let mut writer = index.writer(WriterOptions::default())?;
    for (id, text) in SOURCES {
        writer.add(Document::new(id, text))?;
    }
    writer.finish()?;
    let query = Query::text(ESSAY).goal(Goal::Trace);
    let answer = Searcher::new(index.snapshot()?).search(&query)?;
    let spans = answer.trace.into_iter().flat_map(|trace| trace.spans);
    Ok(spans.map(|span| (span.best.id, span.text)).collect())
}

/// Prints the sources of the text, best first.
pub fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    for (id, quotation) in quotations(dir.path())? {
        println!("{id}: {quotation}");
    }
    Ok(())
}
