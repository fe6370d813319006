//! You build an index in parts, perhaps because several machines share the work, and merge the
//! parts into one index.
//!
//! `cargo run --example merge_shards`

use std::path::Path;

use cento::{AddIndexesOptions, Config, Document, Index, Result, WriterOptions};

fn shard(path: &Path, documents: &[(&str, &str)]) -> Result<Index> {
    // All parts need the same scheme and analyzer.
    let index = Index::create(path, Config::new("winnow(k=5,w=10)", "words", true)?)?;
    let mut writer = index.writer(WriterOptions::default())?;
    for (id, text) in documents {
        writer.add(Document::new(*id, *text))?;
    }
    writer.finish()?;
    Ok(index)
}

/// Builds two parts and merges the second into the first; returns the ids of the whole.
pub fn merged(dir: &Path) -> Result<Vec<String>> {
    let first = shard(
        &dir.join("first.idx"),
        &[("a", "the first text of the first part"), ("b", "its second text")],
    )?;
    let second = shard(&dir.join("second.idx"), &[("c", "the only text of the second part")])?;
    let mut writer = first.writer(WriterOptions::default())?;
    writer.add_indexes(&[second], AddIndexesOptions::default())?;
    writer.finish()?;
    let snapshot = first.snapshot()?;
    let mut ids = Vec::new();
    for id in ["a", "b", "c", "d"] {
        ids.extend(snapshot.find(id)?.map(|address| snapshot.id(address)).transpose()?);
    }
    Ok(ids)
}

/// Prints the report of the merge.
pub fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    println!("{}", merged(dir.path())?.join(", "));
    Ok(())
}
