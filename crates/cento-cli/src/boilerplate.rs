//! Boilerplate: text that searches ignore.

use std::path::{Path, PathBuf};

use super::extract::source_options;
use super::messages::Messages;
use super::terminal::note;
use cento::Error;
use cento::Stop;
use cento::index::{Config, Index};
use cento::search::{Boilerplate, Searcher};
use cento_report::NotCompared;
use cento_source::{ReadError, SourceOptions, documents};

/// Boilerplate that was not read.
#[derive(Debug, Default)]
pub struct Unread {
    /// All parts that were not read, for a report.
    pub list: Vec<NotCompared>,
    /// Whether any part was refused, and not only left out.
    pub is_any_refused: bool,
}

impl Unread {
    /// Notes a part of it.
    fn note(&mut self, name: &str, no_document: ReadError) {
        self.is_any_refused |= matches!(no_document, ReadError::Refused(_));
        let reason =
            format!("a part of the boilerplate was not read, and counts as text: {no_document}");
        self.list.push(NotCompared::new(name, reason));
    }
}

/// Makes a searcher ignore the text at these paths.
///
/// # Errors
/// When a document of them is refused: nothing would say that its text counts.
pub fn without(searcher: Searcher, boilerplate: &[PathBuf]) -> cento::Result<Searcher> {
    let boilerplate = read(boilerplate, searcher.snapshot().config())?;
    without_read(searcher, boilerplate)
}

/// Makes a searcher ignore boilerplate, if there is any.
pub fn without_read(
    searcher: Searcher,
    boilerplate: Option<Boilerplate>,
) -> cento::Result<Searcher> {
    match boilerplate {
        Some(boilerplate) => searcher.excluding(boilerplate, Stop::NEVER),
        None => Ok(searcher),
    }
}

/// Makes a searcher ignore the text at these paths, and notes the boilerplate that was not read.
pub fn without_noting(
    searcher: Searcher,
    boilerplate: &[PathBuf],
    unread: &mut Unread,
) -> cento::Result<Searcher> {
    let boilerplate = read_noting(boilerplate, searcher.snapshot().config(), unread)?;
    without_read(searcher, boilerplate)
}

/// Reads the text at these paths; none if there are no paths.
///
/// # Errors
/// As [`without`].
pub fn read(paths: &[PathBuf], config: &Config) -> cento::Result<Option<Boilerplate>> {
    let mut refused = None;
    let read = read_telling(paths, config, &mut |name, no_document| {
        if let (ReadError::Refused(error), None) = (no_document, &refused) {
            refused = Some(Error::input(name, format!("this boilerplate cannot be read: {error}")));
        }
    })?;
    refused.map_or(Ok(read), Err)
}

/// Reads the text at these paths, and notes the parts that were not read; none if there are no
/// paths.
pub fn read_noting(
    paths: &[PathBuf],
    config: &Config,
    unread: &mut Unread,
) -> cento::Result<Option<Boilerplate>> {
    read_telling(paths, config, &mut |name, no_document| unread.note(name, no_document))
}

/// Reads the text at these paths, and reports the parts that were not read.
fn read_telling(
    paths: &[PathBuf],
    config: &Config,
    tell: &mut dyn FnMut(&str, ReadError),
) -> cento::Result<Option<Boilerplate>> {
    if paths.is_empty() {
        return Ok(None);
    }
    let mut boilerplate = Boilerplate::new(config)?;
    let messages = Messages::default();
    for path in paths {
        add(path, config, &mut boilerplate, &mut |name, no_document| {
            messages.tell_no_document(&no_document);
            tell(name, no_document);
        })?;
    }
    messages.finish();
    Ok(Some(boilerplate))
}

/// Reads the text at these paths as texts, for a service, and notes the parts that were not read.
pub fn texts_noting(
    paths: &[PathBuf],
    options: &SourceOptions,
    unread: &mut Unread,
) -> cento::Result<Vec<String>> {
    let (mut texts, messages) = (Vec::new(), Messages::default());
    for document in documents(paths, options) {
        match document {
            Ok((document, _)) => texts.push(document.text),
            Err(ReadError::Unread(error)) => return Err(error),
            Err(no_document) => {
                messages.tell_no_document(&no_document);
                unread.note("boilerplate", no_document);
            }
        }
    }
    messages.finish();
    Ok(texts)
}

/// Adds the documents at `path`, or those of the index there.
fn add(
    path: &Path,
    config: &Config,
    boilerplate: &mut Boilerplate,
    skipped: &mut dyn FnMut(&str, ReadError),
) -> cento::Result<()> {
    if Index::exists(path) {
        let snapshot = Index::open(path)?.snapshot()?;
        config.check_signs_as(snapshot.config(), path)?;
        if !snapshot.config().store_text {
            note!(
                "cento: {}: the index stores no texts: passages and reports still show its \
                 boilerplate",
                path.display()
            );
        }
        return boilerplate.add_index(&snapshot, Stop::NEVER);
    }
    cento_source::check_there([&path.to_owned()])?;
    let name = path.display().to_string();
    for document in documents(&[path.to_owned()], &source_options()) {
        match document {
            Ok((document, _)) => boilerplate.add_text(&document.text, Stop::NEVER)?,
            Err(ReadError::Unread(error)) => return Err(error),
            Err(no_document) => skipped(&name, no_document),
        }
    }
    Ok(())
}
