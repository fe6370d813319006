//! Which text does not count, and how is text without it searched?

use std::path::{Path, PathBuf};

use super::extract::source_options;
use super::messages::Messages;
use super::terminal::tell;
use cento::index::{Config, Index};
use cento::search::{Boilerplate, Searcher};
use cento::stop::Stop;
use cento_report::NotCompared;

/// Makes a searcher ignore the text at these paths.
pub fn without(searcher: Searcher, boilerplate: &[PathBuf]) -> cento::Result<Searcher> {
    without_noting(searcher, boilerplate, &mut Vec::new())
}

/// Makes a searcher ignore the text at these paths, and notes the boilerplate that was not read.
pub fn without_noting(
    searcher: Searcher,
    boilerplate: &[PathBuf],
    unread: &mut Vec<NotCompared>,
) -> cento::Result<Searcher> {
    match read_noting(boilerplate, searcher.snapshot().config(), unread)? {
        Some(boilerplate) => searcher.without(boilerplate),
        None => Ok(searcher),
    }
}

/// Reads the text at these paths; none if there are no paths.
pub fn read(paths: &[PathBuf], config: &Config) -> cento::Result<Option<Boilerplate>> {
    read_noting(paths, config, &mut Vec::new())
}

/// Reads the text at these paths, and notes the parts that were not read; none if there are no paths.
pub fn read_noting(
    paths: &[PathBuf],
    config: &Config,
    unread: &mut Vec<NotCompared>,
) -> cento::Result<Option<Boilerplate>> {
    if paths.is_empty() {
        return Ok(None);
    }
    let mut boilerplate = Boilerplate::new(config)?;
    let messages = Messages::default();
    for path in paths {
        add(path, config, &mut boilerplate, (unread, &messages))?;
    }
    messages.finish();
    Ok(Some(boilerplate))
}

/// Adds the documents at `path`, or those of the index there.
fn add(
    path: &Path,
    config: &Config,
    boilerplate: &mut Boilerplate,
    (unread, messages): (&mut Vec<NotCompared>, &Messages),
) -> cento::Result<()> {
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
    let name = path.display().to_string();
    let mut skipped = |what: &str| note_unread(&name, what, unread, messages);
    cento_source::for_each_text(&[path.to_owned()], &source_options(), &mut add, &mut skipped)
}

/// Reports a part of the boilerplate that could not be read, and notes it for the report.
pub fn note_unread(name: &str, what: &str, unread: &mut Vec<NotCompared>, messages: &Messages) {
    if messages.counts_named(what) {
        tell!("cento: {what}");
    }
    let reason = format!("a part of the boilerplate was not read, and counts as text: {what}");
    unread.push(NotCompared::new(name, reason));
}
