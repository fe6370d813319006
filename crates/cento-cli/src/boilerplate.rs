//! Which text does not count, and how is text without it searched?

use std::path::{Path, PathBuf};

use super::extract::source_options;
use super::terminal::tell;
use cento::index::{Config, Index};
use cento::search::{Boilerplate, Searcher};
use cento::stop::Stop;

/// Makes a searcher ignore the text at these paths.
pub fn without(searcher: Searcher, boilerplate: &[PathBuf]) -> cento::Result<Searcher> {
    match read(boilerplate, searcher.snapshot().config())? {
        Some(boilerplate) => searcher.without(boilerplate),
        None => Ok(searcher),
    }
}

/// Reads the text at these paths; none if there are no paths.
pub fn read(paths: &[PathBuf], config: &Config) -> cento::Result<Option<Boilerplate>> {
    if paths.is_empty() {
        return Ok(None);
    }
    let mut boilerplate = Boilerplate::new(config)?;
    for path in paths {
        add(path, config, &mut boilerplate)?;
    }
    Ok(Some(boilerplate))
}

/// Adds the documents at `path`, or those of the index there.
fn add(path: &Path, config: &Config, boilerplate: &mut Boilerplate) -> cento::Result<()> {
    if Index::exists(path) {
        let snapshot = Index::open(path)?.snapshot()?;
        config.check_signs_as(snapshot.config(), path)?;
        if !snapshot.config().store_text {
            tell!(
                "cento: {}: the index stores no texts: passages and reports still show its boilerplate",
                path.display()
            );
        }
        return boilerplate.add_index(&snapshot, Stop::NEVER);
    }
    cento_source::check_there([&path.to_owned()])?;
    let mut add = |text: &str| boilerplate.add_text(text, Stop::NEVER);
    let mut skipped = |what: &str| tell!("cento: {what}");
    cento_source::for_each_text(&[path.to_owned()], &source_options(), &mut add, &mut skipped)
}
