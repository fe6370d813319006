//! Drops every document of a group with a duplicate before or after it.
//!
//! Whether a document has a duplicate is known after the last record only. So the documents, which
//! wait in a temporary file, go through two runs: in order and in reverse. In both runs, later
//! documents are compared with dropped documents too. A verdict names the duplicate before the
//! document, if any, as a run does that keeps the first document.

use std::vec;

use super::preferred::PreferredFirst;
use super::run::DedupRun;
use super::verdict::{Decision, Verdict};
use super::{DedupSettings, Event, Progress, Record};
use cento::index::{Config, Index};
use cento::search::Searcher;
use cento_api::error::{Error, Result};
use cento_text::runtime::Stop;

/// The verdicts on all documents of a stream.
pub(super) struct NoneKept {
    /// In the order of the documents.
    verdicts: vec::IntoIter<Verdict>,
    /// The verdict on a document without a token, which has been announced.
    announced: Option<Decision>,
    is_strict: bool,
    is_over: bool,
}

impl NoneKept {
    /// Compares every two documents in both directions.
    ///
    /// # Errors
    /// When the run adds to an index, because the index would contain documents that are dropped
    /// later. When the run resumes an earlier run, an index cannot be read, or a temporary index
    /// cannot be written.
    pub fn new<R: Iterator<Item = Result<Record>>>(
        records: &PreferredFirst<R>,
        config: &Config,
        against: &[Searcher],
        settings: &DedupSettings,
        stop: &Stop,
    ) -> Result<NoneKept> {
        if !settings.temporary {
            let what = "`none` reads all documents before it keeps the first one, and adds to no \
                        index; give it without one, and add what it writes";
            return Err(Error::argument("prefer", what));
        }
        let pass =
            |in_reverse| verdicts(records.waiting(in_reverse), config, against, settings, stop);
        let before = pass(false)?;
        let after = pass(true)?.into_iter().rev();
        let either =
            |(before, after): (Verdict, Verdict)| if before.is_kept() { after } else { before };
        let verdicts: Vec<Verdict> = before.into_iter().zip(after).map(either).collect();
        let (verdicts, is_strict) = (verdicts.into_iter(), settings.strict);
        Ok(NoneKept { verdicts, announced: None, is_strict, is_over: false })
    }

    /// Returns the event before all others.
    pub fn first_event(&self) -> Event {
        Event::Committing
    }

    /// Returns the event of the next record; `None` after the last.
    ///
    /// # Errors
    /// When the temporary file cannot be read; at the first record that is no document, if the run
    /// is strict.
    pub fn next_event<R: Iterator<Item = Result<Record>>>(
        &mut self,
        records: &mut PreferredFirst<R>,
    ) -> Result<Option<Event>> {
        if let Some(decision) = self.announced.take() {
            return Ok(Some(Event::Decided(decision)));
        }
        Ok(match records.next().transpose()? {
            Some(Record::Skipped { place, why }) => Some(Event::Skipped { place, why }),
            Some(Record::Failed(error)) if self.is_strict => return Err(error),
            Some(Record::Failed(error)) => Some(Event::Failed(error)),
            Some(Record::Document(signed)) => {
                let verdict = self.verdicts.next().expect("there is one for each document");
                let is_empty = signed.token_count == 0;
                let decision = Decision { document: signed.document, verdict };
                match is_empty {
                    true => {
                        let id = decision.document.id.clone();
                        self.announced = Some(decision);
                        Some(Event::Empty(id))
                    }
                    false => Some(Event::Decided(decision)),
                }
            }
            None if self.is_over => None,
            None => {
                self.is_over = true;
                Some(Event::Committing)
            }
        })
    }
}

/// Returns the verdicts of a run over these documents.
fn verdicts(
    documents: impl Iterator<Item = Result<Record>>,
    config: &Config,
    against: &[Searcher],
    settings: &DedupSettings,
    stop: &Stop,
) -> Result<Vec<Verdict>> {
    let dir = tempfile::tempdir().map_err(|e| Error::io("create", "a temporary directory", e))?;
    let index = Index::create(dir.path().join("index"), config.clone())?;
    let mut run =
        DedupRun::new(&index, against.to_vec(), settings.clone(), Progress::default(), stop)?;
    let (mut documents, mut verdicts) = (documents.fuse(), Vec::new());
    loop {
        stop.check()?;
        while let Some(event) = run.next_event()? {
            if let Event::Decided(decision) = event {
                verdicts.push(decision.verdict);
            }
        }
        if run.is_over() {
            return Ok(verdicts);
        }
        match documents.next() {
            Some(record) => run.push(record?)?,
            None => run.end()?,
        }
    }
}
