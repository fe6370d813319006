//! Adding whole sources to the index.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use cento::Stop;
use cento::UnseenText;
use cento::hash::Digest;
use cento::index::{Index, IsKnown, Outcome, SignOutcome, SignedDocument, Writer, WriterOptions};
use cento::text::is_white_space;
use cento::{AddReport, Error, Map, Reason, Refusal, Result};
use serde_json::Value;

use crate::SourceOptions;
use crate::filter::is_by_name;
use crate::pipeline::{Output, Outputs, PipelineOptions};

/// Options for adding documents.
#[derive(Debug, Clone)]
pub struct AddOptions {
    /// The number of threads that parse, analyze and sign, at least 1.
    pub threads: usize,
    /// The memory for everything in progress, in bytes.
    pub memory_bytes: usize,
    /// The number of documents between commits. With `None`, the only commit is at the end.
    pub commit_every: Option<usize>,
    /// Stop at the first record that is not a document, and add nothing since the last commit.
    pub strict: bool,
    /// A document with a generated id replaces any document with this id, even from a different
    /// source.
    pub replaces_any: bool,
    /// Adds a number to an id that a different document already has, because otherwise the new
    /// document would replace the first. An equal text under the same id stays a single document.
    pub numbers_ids: bool,
    /// How sources are read.
    pub source: SourceOptions,
}

/// Counts a skipped file.
pub fn count_skipped(report: &mut AddReport, why: &str) {
    report.skipped += 1;
    report.skipped_by_name += u64::from(is_by_name(why));
}

/// Counts a refused record or an unreadable file.
pub fn count_failed(report: &mut AddReport, error: &Error) {
    report.failed += 1;
    report.unread += u64::from(matches!(error, Error::Io { .. }));
}

impl Default for AddOptions {
    fn default() -> AddOptions {
        AddOptions {
            threads: cento::available_threads(),
            memory_bytes: 512 << 20,
            commit_every: None,
            strict: false,
            replaces_any: false,
            numbers_ids: false,
            source: SourceOptions::default(),
        }
    }
}

/// A progress report of [`add`], for callers that print it.
#[derive(Debug)]
pub enum Event<'a> {
    /// An input was left out, and why.
    Skipped(&'a str, &'static str),
    /// A record is not a document, or a file could not be read.
    Failed(&'a Error),
    /// The document with this id has no token.
    Empty(&'a str),
    /// The document with this id replaced an earlier version, or a document of the same run.
    Replaced(&'a str),
    /// The document with this id has text that a reader does not see. Reported only if requested.
    Unseen(&'a str, UnseenText),
    /// Documents have been added. The counts cover the run so far.
    Progress(&'a AddReport),
}

/// Adds all documents of `inputs`, and commits.
///
/// As long as no record had a field that the options name, [`AddOptions::commit_every`] makes no
/// commit: a misspelled field adds nothing, and a repetition with the right name no duplicates.
///
/// # Errors
/// When the index cannot be written, `stop` is set, no record had a field that the options name
/// ([`SourceOptions::check_fields`]), or, if `strict`, at the first record that is not a document.
/// The last commit stays valid.
pub fn add(
    index: &Index,
    inputs: &[PathBuf],
    options: &AddOptions,
    stop: &Stop,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Result<AddReport> {
    let started = Instant::now();
    let mut report = AddReport::default();
    // Half for the writer, a quarter for the pipeline, and a quarter as temporary memory for
    // sorting, compressing and merging.
    let memory_bytes = options.memory_bytes / 2;
    let mut writer = index.writer(WriterOptions::default().memory_bytes(memory_bytes))?;
    let committed = writer.committed()?.clone();
    let before = committed.clone();
    let piped = PipelineOptions {
        threads: options.threads,
        bytes_max: options.memory_bytes / 4,
        // Shares the writer's half: while so large a document is signed, no documents wait for the
        // writer.
        document_bytes_max: options.memory_bytes / 2,
        keeps_texts: index.config().store_text,
        source: options.source.clone(),
        faults: index.faults(),
    };
    let is_known: IsKnown =
        Arc::new(move |document, digest| committed.holds(document, digest).unwrap_or(false));
    let mut outputs = Outputs::new(inputs, index.config(), &piped, stop, Some(is_known));
    let mut numbered = NumberedIds::default();
    while let Some(output) = outputs.next() {
        let output = match output? {
            // The index had the document when the run began, but this run has changed it since.
            Output::Document(SignOutcome::Known(document, digest))
                if !writer.holds(&document, digest)? =>
            {
                outputs.sign_alone(document, digest)?
            }
            output => output,
        };
        let (mut signed, text_bytes) = match output {
            Output::Document(SignOutcome::Signed { signed, text_bytes }) => (signed, text_bytes),
            Output::Document(SignOutcome::Known(document, _)) => {
                report.unchanged += 1;
                report.bytes += document.text.len() as u64;
                if document.text.chars().all(is_white_space) {
                    report.empty += 1;
                    on_event(Event::Empty(&document.id));
                }
                on_event(Event::Progress(&report));
                continue;
            }
            Output::Skipped { place, why } => {
                count_skipped(&mut report, why);
                on_event(Event::Skipped(&place, why));
                continue;
            }
            Output::Patch { place, id, patch } => {
                let patched = patch_meta(&mut writer, &place, &id, &patch, stop);
                count_patched(&mut report, patched, options.strict, on_event)?;
                continue;
            }
            Output::Unseen { id, unseen } => {
                on_event(Event::Unseen(&id, unseen));
                continue;
            }
            Output::Failed(error) if options.strict => return Err(error),
            Output::Failed(error) => {
                count_failed(&mut report, &error);
                on_event(Event::Failed(&error));
                continue;
            }
        };
        if options.replaces_any {
            signed.document.id_source = signed.document.id_source.chosen();
        }
        if options.numbers_ids {
            signed.document.id = numbered.free_id(&writer, &signed)?;
        }
        let (id, is_empty) = (signed.document.id.clone(), signed.token_count == 0);
        match writer.add_signed(signed) {
            Ok(Outcome::Added) => report.added += 1,
            Ok(Outcome::Replaced) => {
                report.replaced += 1;
                on_event(Event::Replaced(&id));
            }
            Ok(Outcome::Unchanged) => report.unchanged += 1,
            // The index has a different document with this id.
            Err(error @ Error::Input { .. }) if !options.strict => {
                count_failed(&mut report, &error);
                on_event(Event::Failed(&error));
                continue;
            }
            Err(error) => return Err(error),
        }
        if is_empty {
            report.empty += 1;
            on_event(Event::Empty(&id));
        }
        report.bytes += text_bytes as u64;
        let is_due = options.commit_every.is_some_and(|every| writer.uncommitted() >= every);
        if is_due && options.source.check_fields().is_ok() {
            writer.commit()?;
        }
        on_event(Event::Progress(&report));
    }
    if options.source.check_fields().is_err() {
        // The writer commits by itself when its memory is used up.
        let is_committed = writer.committed()?.generation() != before.generation();
        let left = (report.added + report.replaced).saturating_sub(writer.uncommitted() as u64);
        options.source.check_fields_to_add(if is_committed { left } else { 0 })?;
    }
    writer.finish()?;
    report.took_us = started.elapsed().as_micros() as u64;
    Ok(report)
}

/// The numbers given so far to repeated ids.
#[derive(Default)]
struct NumberedIds {
    last: HashMap<String, u32>,
    /// By id and text, so that an exact repetition is the same document.
    of_texts: HashMap<(String, Digest), u32>,
}

impl NumberedIds {
    /// Returns the id of a document, with a number if another document has the id.
    fn free_id(&mut self, writer: &Writer, signed: &SignedDocument) -> Result<String> {
        let id = &signed.document.id;
        if !writer.has(id)? || writer.holds(&signed.document, signed.digest)? {
            return Ok(id.clone());
        }
        let of_text = (id.clone(), signed.digest);
        if let Some(number) = self.of_texts.get(&of_text) {
            return Ok(format!("{id}#{number}"));
        }
        let last = self.last.entry(id.clone()).or_insert(1);
        loop {
            *last += 1;
            let free = format!("{id}#{last}");
            if !writer.has(&free)? {
                self.of_texts.insert(of_text, *last);
                return Ok(free);
            }
        }
    }
}

/// Changes the meta object of a stored document.
fn patch_meta(
    writer: &mut Writer,
    place: &str,
    id: &str,
    patch: &Map<String, Value>,
    stop: &Stop,
) -> Result<Outcome> {
    let patched = writer.patch_meta(id, patch, stop).map_err(|error| match error {
        Error::Input { reason, what, .. } => Error::input(place, Refusal::new(reason, what)),
        error => error,
    });
    patched?.ok_or_else(|| no_stored(place, id))
}

/// Returns the refusal of a record at this place that has no text, and whose id no stored document
/// has.
#[must_use]
pub fn no_stored(place: &str, id: &str) -> Error {
    let what = format!(
        "the record has no `text`, and no stored document has its id `{id}`, so there is no meta \
         object to change"
    );
    Error::input(place, Refusal::new(Reason::MissingField { field: "text" }, what))
}

fn count_patched(
    report: &mut AddReport,
    patched: Result<Outcome>,
    is_strict: bool,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Result<()> {
    match patched {
        Ok(Outcome::Unchanged) => report.unchanged += 1,
        Ok(_) => report.replaced += 1,
        Err(error @ Error::Input { .. }) if !is_strict => {
            count_failed(report, &error);
            on_event(Event::Failed(&error));
        }
        Err(error) => return Err(error),
    }
    on_event(Event::Progress(report));
    Ok(())
}
