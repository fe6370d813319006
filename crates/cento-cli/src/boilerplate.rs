//! Boilerplate: text that searches and comparisons ignore.

use std::path::{Path, PathBuf};

use super::extract::source_options;
use super::key;
use super::messages::Messages;
use super::output::counted;
use super::terminal::note;
use cento::Error;
use cento::Stop;
use cento::index::{Config, Index, Snapshot};
use cento::search::{Boilerplate, BoilerplateShare, RepeatedPassages, Searcher};
use cento_collections::Scope;
use cento_collections::series::repeated_passages;
use cento_collections::submissions::Submissions;
use cento_report::NotCompared;
use cento_source::{ReadError, SourceOptions, documents};

/// Boilerplate that could not be read.
#[derive(Debug, Default)]
pub struct UnreadBoilerplate {
    /// Every unread part, for a report.
    pub list: Vec<NotCompared>,
    /// Whether any part was refused, and not only left out.
    pub is_any_refused: bool,
}

impl UnreadBoilerplate {
    /// Notes an unread part of the boilerplate.
    fn note(&mut self, name: &str, no_document: ReadError) {
        self.is_any_refused |= matches!(no_document, ReadError::Refused(_));
        let reason =
            format!("a part of the boilerplate was not read, and counts as text: {no_document}");
        self.list.push(NotCompared::new(name, reason));
    }
}

/// The name of no boilerplate: all text counts.
const NONE: &str = "none";

/// Returns whether a name of boilerplate is `auto` or `none`, and not a path.
pub fn is_keyword(name: &Path) -> bool {
    let auto = name.to_str().map(BoilerplateShare::of_auto);
    name.as_os_str() == NONE || matches!(auto, Some(Ok(Some(_))))
}

/// The boilerplate that the user chose: `auto`, `none`, and paths.
#[derive(Debug, Default)]
pub struct NamedBoilerplate {
    /// Whether the user chose nothing, not even `none`.
    is_open: bool,
    /// With `auto`: the minimum share of documents that have a passage of boilerplate.
    pub auto: Option<BoilerplateShare>,
    /// Files, directories and indexes.
    pub paths: Vec<PathBuf>,
}

impl NamedBoilerplate {
    /// Tells `auto` and `none` from paths; the last `auto` counts.
    ///
    /// # Errors
    /// When the share of `auto` cannot be used.
    pub fn of(names: &[PathBuf]) -> cento::Result<NamedBoilerplate> {
        let mut named = NamedBoilerplate { is_open: names.is_empty(), ..Default::default() };
        for name in names.iter().filter(|name| name.as_os_str() != NONE) {
            match name.to_str().map_or(Ok(None), BoilerplateShare::of_auto)? {
                Some(share) => named.auto = Some(share),
                None => named.paths.push(name.clone()),
            }
        }
        Ok(named)
    }

    /// Refuses `auto` where not every document is known in advance.
    ///
    /// # Errors
    /// When the names include `auto`.
    pub fn paths_alone(names: &[PathBuf], why: &str) -> cento::Result<Vec<PathBuf>> {
        let named = NamedBoilerplate::of(names)?;
        match named.auto {
            None => Ok(named.paths),
            Some(_) => {
                let what = format!(
                    "--boilerplate auto {why}; write a file with `cento method boilerplate PATH \
                     --out FILE`, and name that"
                );
                Err(Error::argument("boilerplate", what))
            }
        }
    }

    /// With `auto`, adds the passages that the documents of a snapshot repeat, and reports the
    /// passages. Where pairs across groups are kept, the documents of a group count once.
    ///
    /// # Errors
    /// When the index stores no texts; [`Error::Cancelled`] after `stop`.
    pub fn add_auto(
        &self,
        boilerplate: Option<Boilerplate>,
        snapshot: &Snapshot,
        scope: &Scope,
        threads: usize,
        stop: &Stop,
    ) -> cento::Result<Option<Boilerplate>> {
        let Some(share) = self.auto else { return Ok(boilerplate) };
        let found = repeated_passages(snapshot, scope, share, threads, stop)?;
        note!("cento: boilerplate: {}", proposed(&found));
        found.added_to(boilerplate, snapshot, stop)
    }

    /// Lets submissions ignore the passages that most submissions have: with `auto` all of them,
    /// and handouts if the user chose nothing.
    ///
    /// # Errors
    /// Like [`add_auto`](Self::add_auto).
    pub fn add_auto_of(&self, submissions: Submissions) -> cento::Result<Submissions> {
        if let Some(share) = self.auto {
            let found = submissions.repeated_passages(share)?;
            note!("cento: boilerplate: {}", proposed(&found));
            return submissions.without_repeated(&found);
        }
        if !self.is_open || !submissions.stores_texts() {
            return Ok(submissions);
        }
        let found = submissions.handouts()?;
        if !found.passages.is_empty() {
            note!("cento: handed out, so not compared: {}; -b none counts it", proposed(&found));
        } else if found.is_by_group
            && found.of_documents < found.documents_min
            && submissions.documents() >= found.documents_min
        {
            // There are enough documents, but too few groups.
            note!("cento: handed-out text counts: {}; -b FILE leaves it out", proposed(&found));
        }
        submissions.without_repeated(&found)
    }
}

fn proposed(found: &RepeatedPassages) -> String {
    nothing_proposed(found).unwrap_or_else(|| {
        let tokens = found.passages.iter().map(|passage| u64::from(passage.tokens)).sum();
        let least = found.passages.iter().map(|passage| passage.documents).min();
        format!(
            "{} of {} in all, each in at least {} of {}; `cento method boilerplate` shows them",
            counted(found.passages.len() as u64, "passage"),
            counted(tokens, "token"),
            least.unwrap_or_default(),
            counted(found.of_documents, unit(found)),
        )
    })
}

/// Returns the noun for the counted items.
pub fn unit(found: &RepeatedPassages) -> &'static str {
    if found.is_by_group { "group" } else { "different document" }
}

/// Says why no passage is proposed; nothing if any is.
pub fn nothing_proposed(found: &RepeatedPassages) -> Option<String> {
    let of = counted(found.of_documents, unit(found));
    match found.passages.is_empty() {
        false => None,
        true if found.of_documents < found.documents_min => Some(format!(
            "no passage is proposed, because there {} only {of}: a passage must be in at least {}",
            if found.of_documents == 1 { "is" } else { "are" },
            found.documents_min
        )),
        true => Some(format!("no passage is in {} of {of}", found.documents_min)),
    }
}

/// Makes a searcher ignore the boilerplate with these names.
///
/// # Errors
/// When any document of the boilerplate is refused, because its text would silently count.
pub fn without(
    searcher: Searcher,
    boilerplate: &[PathBuf],
    threads: usize,
) -> cento::Result<Searcher> {
    without_of_pairs(searcher, boilerplate, &Scope::Everywhere, threads)
}

/// Makes a searcher ignore the boilerplate with these names, for pairs of this scope.
///
/// # Errors
/// Like [`without`].
pub fn without_of_pairs(
    searcher: Searcher,
    boilerplate: &[PathBuf],
    scope: &Scope,
    threads: usize,
) -> cento::Result<Searcher> {
    let named = NamedBoilerplate::of(boilerplate)?;
    let boilerplate = read(&named.paths, searcher.snapshot().config())?;
    let snapshot = searcher.snapshot();
    let boilerplate = named.add_auto(boilerplate, snapshot, scope, threads, Stop::NEVER)?;
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

/// Like [`without`], but notes unread boilerplate in place of failing.
pub fn without_noting(
    searcher: Searcher,
    boilerplate: &[PathBuf],
    unread: &mut UnreadBoilerplate,
) -> cento::Result<Searcher> {
    let named = NamedBoilerplate::of(boilerplate)?;
    let boilerplate = read_noting(&named.paths, searcher.snapshot().config(), unread)?;
    let (snapshot, threads) = (searcher.snapshot(), cento::available_threads());
    let all = &Scope::Everywhere;
    let boilerplate = named.add_auto(boilerplate, snapshot, all, threads, Stop::NEVER)?;
    without_read(searcher, boilerplate)
}

/// Reads the boilerplate at these paths. `None` without paths.
///
/// # Errors
/// Like [`without`].
pub fn read(paths: &[PathBuf], config: &Config) -> cento::Result<Option<Boilerplate>> {
    let mut refused = None;
    let read = read_telling(paths, config, &mut |name, no_document| {
        if let (ReadError::Refused(error), None) = (no_document, &refused) {
            refused = Some(Error::input(name, format!("this boilerplate cannot be read: {error}")));
        }
    })?;
    refused.map_or(Ok(read), Err)
}

/// Reads the boilerplate at these paths, and notes unreadable parts. `None` without paths.
pub fn read_noting(
    paths: &[PathBuf],
    config: &Config,
    unread: &mut UnreadBoilerplate,
) -> cento::Result<Option<Boilerplate>> {
    read_telling(paths, config, &mut |name, no_document| unread.note(name, no_document))
}

/// Reads the boilerplate at these paths, and reports the unread parts.
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

/// Reads the boilerplate as plain texts, to be sent to a service, and notes the unread parts.
pub fn texts_noting(
    paths: &[PathBuf],
    options: &SourceOptions,
    unread: &mut UnreadBoilerplate,
) -> cento::Result<Vec<String>> {
    let (mut texts, messages) = (Vec::new(), Messages::default());
    for path in paths {
        let mut is_empty = true;
        for document in documents(std::slice::from_ref(path), options) {
            match document {
                Ok((document, _)) => {
                    is_empty = false;
                    texts.push(document.text);
                }
                Err(ReadError::Unread(error)) => return Err(error),
                Err(no_document) => {
                    messages.tell_no_document(&no_document);
                    unread.note("boilerplate", no_document);
                }
            }
        }
        check_any(path, is_empty)?;
    }
    messages.finish();
    Ok(texts)
}

/// Refuses a path without any text: the user meant to ignore something, and every text would count.
fn check_any(path: &Path, is_empty: bool) -> cento::Result<()> {
    match is_empty {
        true => Err(Error::input(path.display().to_string(), "there is no text in it to ignore")),
        false => Ok(()),
    }
}

/// Adds the documents at `path`, or the documents of the index at `path`.
fn add(
    path: &Path,
    config: &Config,
    boilerplate: &mut Boilerplate,
    skipped: &mut dyn FnMut(&str, ReadError),
) -> cento::Result<()> {
    if Index::exists(path) {
        let snapshot = key::open(path)?.snapshot()?;
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
    let mut is_empty = true;
    for document in documents(&[path.to_owned()], &source_options()) {
        match document {
            Ok((document, _)) => {
                is_empty = false;
                boilerplate.add_text(&document.text, Stop::NEVER)?;
            }
            Err(ReadError::Unread(error)) => return Err(error),
            Err(no_document) => skipped(&name, no_document),
        }
    }
    check_any(path, is_empty)
}
