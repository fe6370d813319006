//! Which fingerprints do not count, and how is text without them searched?

use std::path::{Path, PathBuf};

use super::extract::source_options;
use super::terminal::tell;
use cento::index::{Config, Index};
use cento::search::Searcher;

/// Makes a searcher ignore the text at these paths.
pub fn without(searcher: Searcher, boilerplate: &[PathBuf]) -> cento::Result<Searcher> {
    if boilerplate.is_empty() {
        return Ok(searcher);
    }
    let keys = keys_of(boilerplate, searcher.snapshot().config())?;
    searcher.without(keys)
}

/// Returns the fingerprints of the text at these paths.
pub fn keys_of(boilerplate: &[PathBuf], config: &Config) -> cento::Result<Vec<u64>> {
    let mut keys = Vec::new();
    for path in boilerplate {
        add_keys(path, config, &mut keys)?;
    }
    Ok(keys)
}

/// Adds the fingerprints of what is at `path`, an index or documents.
fn add_keys(path: &Path, config: &Config, keys: &mut Vec<u64>) -> cento::Result<()> {
    if Index::exists(path) {
        let snapshot = Index::open(path)?.snapshot()?;
        config.check_signs_as(snapshot.config(), path)?;
        return snapshot.for_each_term(&mut |key, _| keys.push(key));
    }
    cento_source::check_there([&path.to_owned()])?;
    let mut add = |text: &str| {
        keys.extend(config.sign(text)?.1.iter().map(|fingerprint| fingerprint.key));
        Ok(())
    };
    let mut skipped = |what: &str| tell!("cento: {what}");
    cento_source::for_each_text(&[path.to_owned()], &source_options(), &mut add, &mut skipped)
}
