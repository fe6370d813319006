//! You have an index of news, and want the pairs of documents that are nearly the same.
//!
//! `cargo run --example near_duplicates`

use std::path::Path;

use cento::{Config, Document, Index, Result, Searcher, WriterOptions};
use cento_collections::Thresholds;
use cento_collections::pairs::{PairOptions, pairs};

const REVISIONS: [(&str, &str); 3] = [
    (
        "v1",
        "The council met on Monday evening to discuss the new bridge over the river, and after \
         three hours of debate the members voted to postpone the decision until spring, when the \
         costs will be known.",
    ),
    (
        "v2",
        "The council met on Monday evening to discuss the new bridge over the river, and after \
         three hours of debate the members voted to postpone the decision until autumn, when the \
         costs will be known.",
    ),
    (
        "other",
        "Farmers in the valley expect a good harvest this year because the rain came early and the \
         summer has been warm without being dry.",
    ),
];

/// Indexes the texts, and returns the pairs with a resemblance of at least one half.
pub fn near_duplicates(dir: &Path) -> Result<Vec<(String, String, f64)>> {
    let index =
        Index::create(dir.join("news.idx"), Config::new("winnow(k=5,w=10)", "words", true)?)?;
    let mut writer = index.writer(WriterOptions::default())?;
    for (id, text) in REVISIONS {
        writer.add(Document::new(id, text))?;
    }
    writer.finish()?;
    let searcher = Searcher::new(index.snapshot()?);
    let options = PairOptions::default().thresholds(Thresholds::default().min_resemblance(0.5));
    let snapshot = searcher.snapshot();
    let mut found = Vec::new();
    for pair in pairs(&searcher, &options) {
        let pair = pair?.report(snapshot, snapshot)?;
        found.push((pair.a, pair.b, pair.similarity.resemblance));
    }
    Ok(found)
}

/// Prints each near-duplicate with its original and their resemblance.
pub fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    for (a, b, resemblance) in near_duplicates(dir.path())? {
        println!("{a} and {b}: {resemblance:.2}");
    }
    Ok(())
}
