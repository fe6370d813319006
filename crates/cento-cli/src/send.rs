//! Sending of whole sources to a service.

use std::path::PathBuf;
use std::time::Instant;

use cento::Stop;
use cento::index::Document;
use cento::{Error, Reason, Refusal, Result};
use cento_client::Client;
use cento_client::api::{AddResponse, AddedDocument, Commit, Run};
use cento_source::{
    AddReport, Event, ReadError, SourceOptions, count_failed, count_skipped, documents, no_stored,
};

/// The approximate size of a request, unless a single document is larger.
const REQUEST_BYTES: usize = 4 << 20;

/// Options for sending documents.
#[derive(Debug, Clone, Default)]
pub struct SendOptions {
    /// Options for reading sources.
    pub source: SourceOptions,
    /// Ask the service to commit after this many documents, and at the end; at the end only if
    /// `None`.
    pub commit_every: Option<u64>,
    /// Whether to stop at the first record that is not a document.
    pub strict: bool,
    /// Whether a document with a generated id replaces any document with that id.
    pub replaces_any: bool,
}

/// Sends every document of `inputs` to a service, in order, and asks the service to commit.
///
/// # Errors
/// When the service cannot be reached, `stop` is set, no record has a field that the options name,
/// or, if `strict`, at the first record that is not a document. Documents sent earlier may then be
/// in the index.
pub fn send(
    client: &Client,
    inputs: &[PathBuf],
    options: &SendOptions,
    stop: &Stop,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Result<AddReport> {
    let started = Instant::now();
    let mut sending = UploadProgress {
        client,
        options,
        on_event,
        run: client.commit()?.run,
        report: AddReport::default(),
        lines: Vec::new(),
        ids: Vec::new(),
        uncommitted: 0,
    };
    for document in documents(inputs, &options.source) {
        stop.check()?;
        match document {
            Ok((document, in_file)) if in_file.is_meta_only => sending.patch(document)?,
            Ok((document, _)) => sending.document(document)?,
            Err(ReadError::LeftOut { place, why, .. }) => {
                count_skipped(&mut sending.report, why);
                (sending.on_event)(Event::Skipped(&place, why));
            }
            Err(ReadError::Refused(error) | ReadError::Unread(error)) => sending.failed(error)?,
        }
    }
    let AddReport { added, replaced, .. } = sending.report;
    options.source.check_fields_to_add(added + replaced)?;
    sending.flush()?;
    sending.commit()?;
    let report = AddReport { took_us: started.elapsed().as_micros() as u64, ..sending.report };
    Ok(report)
}

struct UploadProgress<'a> {
    client: &'a Client,
    options: &'a SendOptions,
    on_event: &'a mut dyn FnMut(Event<'_>),
    /// The run of the service when sending began.
    run: Run,
    report: AddReport,
    /// The lines of the next request.
    lines: Vec<u8>,
    /// The document id of each line.
    ids: Vec<String>,
    /// The number of documents sent since the last request for a commit.
    uncommitted: u64,
}

impl UploadProgress<'_> {
    fn failed(&mut self, error: Error) -> Result<()> {
        if self.options.strict {
            return Err(error);
        }
        count_failed(&mut self.report, &error);
        (self.on_event)(Event::Failed(&error));
        Ok(())
    }

    fn document(&mut self, document: Document) -> Result<()> {
        let Document { id, text, parts, meta, id_source, .. } = document;
        let id_place = id_source.made_of().filter(|_| !self.options.replaces_any);
        if !self.lines.is_empty() && self.lines.len() + text.len() > REQUEST_BYTES {
            self.flush()?;
        }
        self.ids.push(id.clone());
        let body = AddedDocument::new(id, text, &parts, meta, id_place);
        let written = serde_json::to_writer(&mut self.lines, &body);
        written.expect("a document is JSON, and memory takes every byte");
        self.lines.push(b'\n');
        Ok(())
    }

    /// Has the service change the meta object of a stored document, after the documents before.
    fn patch(&mut self, Document { id, meta, record, .. }: Document) -> Result<()> {
        self.flush()?;
        let place = record.unwrap_or_default();
        match self.client.patch_meta(&id, meta, Commit::Auto) {
            Ok(patched) => {
                self.report.replaced += u64::from(patched.changed);
                self.report.unchanged += u64::from(!patched.changed);
                self.uncommitted += u64::from(patched.changed);
                Ok(())
            }
            Err(error) => match error.reason() {
                Reason::UnknownId => self.failed(no_stored(&place, &id)),
                Reason::UnusableMeta => {
                    let what = error.place_and_message().1;
                    self.failed(Error::input(place, what))
                }
                _ => Err(error),
            },
        }
    }

    /// Sends the gathered lines.
    fn flush(&mut self) -> Result<()> {
        if self.lines.is_empty() {
            return Ok(());
        }
        let (lines, ids) = (std::mem::take(&mut self.lines), std::mem::take(&mut self.ids));
        self.send(&lines, &ids)?;
        if self.options.commit_every.is_some_and(|every| self.uncommitted >= every) {
            self.commit()?;
        }
        (self.on_event)(Event::Progress(&self.report));
        Ok(())
    }

    /// Lets the service commit, and verifies that every accepted document was still there to be
    /// committed.
    fn commit(&mut self) -> Result<()> {
        let run = self.client.commit()?.run;
        if run != self.run {
            let what = "the service was restarted or could not write, and may have lost documents \
                        that it had acknowledged; add all of them again: those that are stored are \
                        left unchanged";
            return Err(Error::input(self.client.url(), what));
        }
        self.uncommitted = 0;
        Ok(())
    }

    /// Sends lines with documents of these ids. Splits the lines in half if the service refuses the
    /// size.
    fn send(&mut self, lines: &[u8], ids: &[String]) -> Result<()> {
        match self.client.add_lines(lines, Commit::Auto) {
            Ok(response) => self.answered(response, ids),
            Err(error) if error.reason() == Reason::MemoryLimit => {
                if let [id] = ids {
                    return self.failed(Error::input(id, error.place_and_message().1));
                }
                let (first, second) = ids.split_at(ids.len() / 2);
                let ends = lines.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
                let end = ends.map(|(at, _)| at + 1).nth(first.len() - 1);
                let (left, right) = lines.split_at(end.expect("every document has a line"));
                self.send(left, first)?;
                self.send(right, second)
            }
            Err(error) => Err(error),
        }
    }

    fn answered(&mut self, response: AddResponse, ids: &[String]) -> Result<()> {
        let AddReport { added, replaced, unchanged, bytes, failed, empty, .. } = response.report;
        self.report.added += added;
        self.report.replaced += replaced;
        self.report.unchanged += unchanged;
        self.report.bytes += bytes;
        self.report.empty += empty;
        self.uncommitted += added + replaced;
        let told = response.errors.len() as u64;
        for error in response.errors {
            let id = usize::try_from(error.line).ok().and_then(|line| ids.get(line - 1));
            let refusal = match Reason::of_code(&error.code, None) {
                reason @ Reason::IdTaken => Refusal::new(reason, error.message),
                // A limit of the service is not a limit of this command.
                _ => error.message.into(),
            };
            self.failed(Error::input(id.map_or("a document", String::as_str), refusal))?;
        }
        self.report.failed += failed.saturating_sub(told);
        Ok(())
    }
}
