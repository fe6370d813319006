//! What becomes of changes that make the writer panic, and of all others?
//!
//! A document that brings out a defect must take no other with it. tantivy forgets everything since the
//! last commit when one of its threads panics, and does not say at which document. So what has been
//! taken is done again by a new writer, in halves as often as it panics, until the change that does it is
//! alone. That one is refused by name, to its sender alone; all others are committed.

use std::sync::atomic::Ordering;
use std::time::Instant;

use axum::http::StatusCode;

use super::{Work, options};
use crate::command::{ERRORS_MAX, Received};
use crate::failure::Failure;
use crate::writer::kept::{Change, Kept, Refused, Reported, State};
use cento::index::{Outcome, Writer};
use cento::{Error, Result};
use cento_client::api::{AddResponse, RecordError};

/// The maximum number of times in a row that accepted changes are applied again. One change that panics among a
/// million needs 41; more than these means that nothing can be written.
const TRIES_MAX: u32 = 1000;

impl Work {
    /// Its sender learns that it is not taken; or it is lost, if the sender was answered that it was.
    pub(super) fn refuse(&mut self, kept: &mut Kept) {
        kept.state = State::Refused;
        tracing::error!(id = kept.id(), "a document triggers a defect; please report it");
        if let Change::Add(Received { signed, .. }) = &kept.change
            && !self.poisons.has(signed)
        {
            self.poisons.add(signed);
        }
        self.metrics.arrived("failed", 1);
        match kept.reported {
            Reported::Nothing => self.refused.entry(kept.command).or_default().push(kept.refused()),
            Reported::Accepted => self.lose(1),
            Reported::Failed => {}
        }
    }

    /// Does again, with a new writer, what has been taken since the last commit, and commits it; what has
    /// become of each change.
    pub(super) fn recover(&mut self) -> std::result::Result<Vec<Kept>, Failure> {
        let started = Instant::now();
        let mut kept = self.kept.take();
        tracing::error!(
            changes = kept.len(),
            "the writer met a defect; what it had accepted is applied again"
        );
        let broken = self.writer.take();
        let _ = Error::catch("the end of the writer", || {
            drop(broken);
            Ok(())
        });
        let mut tries = TRIES_MAX;
        // All of it together has just panicked.
        let half = kept.len() / 2;
        let (first, second) = kept.split_at_mut(half);
        let made = self.make_again(first, &mut tries);
        if let Err(error) = made.and_then(|()| self.make_again(second, &mut tries)) {
            kept.into_iter()
                .filter(|kept| kept.state == State::Pending)
                .for_each(|kept| self.kept.push(kept));
            return Err(self.give_up(&error));
        }
        self.committed(started, !kept.is_empty());
        Ok(kept)
    }

    /// Makes these changes and commits them, without those that bring out a defect.
    fn make_again(&mut self, kept: &mut [Kept], tries: &mut u32) -> Result<()> {
        if kept.is_empty() {
            return Ok(());
        }
        if *tries == 0 {
            return Err(Error::internal("the writer", "it panicked at one change after the other"));
        }
        *tries -= 1;
        // Apart from the changes, which are not to blame for what happens here.
        let opened = self.writer.take();
        let opened = opened.map_or_else(|| Error::catch("a new writer", || self.open()), Ok)?;
        let done = Error::catch("the writer", || {
            let mut writer = opened;
            for kept in &mut *kept {
                kept.make(&mut writer)?;
            }
            writer.commit()?;
            Ok(writer)
        });
        match done {
            Ok(writer) => {
                self.writer = Some(writer);
                kept.iter_mut().for_each(|kept| kept.state = State::Committed);
                Ok(())
            }
            Err(Error::Internal { .. }) => {
                if let [one] = kept {
                    self.refuse(one);
                    return Ok(());
                }
                let (first, second) = kept.split_at_mut(kept.len() / 2);
                self.make_again(first, tries)?;
                self.make_again(second, tries)
            }
            Err(error) => Err(error),
        }
    }

    fn open(&self) -> Result<Writer> {
        self.index.writer(options(self.settings.memory_bytes))
    }

    /// The writer, opened again if a write had failed.
    pub(super) fn writer(&mut self) -> Result<&mut Writer> {
        if self.writer.is_none() {
            self.writer = Some(self.open()?);
            if self.status.failed.swap(false, Ordering::Relaxed) {
                tracing::info!("writing again");
            }
        }
        Ok(self.writer.as_mut().expect("it was just opened"))
    }

    /// Ends the writer after a failed write: what was not committed is gone.
    pub(super) fn give_up(&mut self, error: &Error) -> Failure {
        let mut failure = Failure::from(error);
        // It may pass, except for a defect.
        let is_defect = matches!(error, Error::Internal { .. });
        if failure.status == StatusCode::INTERNAL_SERVER_ERROR && !is_defect {
            failure = Failure::unavailable(
                "the change could not be written; the log of the service says why",
            );
        }
        let lost =
            self.kept.take().into_iter().filter(|kept| kept.reported == Reported::Accepted).count();
        self.lose(lost as u64);
        self.status.failed.store(true, Ordering::Relaxed);
        tracing::error!(%error, lost, "writing failed; the index is in the state of its last commit");
        self.writer = None;
        self.commit_due = None;
        self.refused.clear();
        self.tell();
        for waiting in std::mem::take(&mut self.waiting) {
            (waiting.tell)(Err(failure.clone()), Vec::new());
        }
        failure
    }

    /// Counts acknowledged changes that are not made.
    fn lose(&self, changes: u64) {
        self.metrics.lost.inc_by(changes);
        self.status.lost.fetch_add(changes, Ordering::Relaxed);
    }
}

/// Takes what was refused out of the numbers. A document that was sent alone is refused as a whole, one of
/// several with its line.
pub(super) fn settle(
    response: &mut AddResponse,
    refused: Vec<Refused>,
) -> std::result::Result<(), Failure> {
    for refused in refused {
        let report = &mut response.report;
        match refused.counted {
            Some(Outcome::Added) => report.added -= 1,
            Some(Outcome::Replaced) => report.replaced -= 1,
            Some(Outcome::Unchanged) => report.unchanged -= 1,
            None => {}
        }
        let size = (refused.bytes, refused.is_empty);
        take_out(response, refused.line, size, Failure::poisonous(&refused.id))?;
    }
    response.errors.sort_by_key(|error| error.line);
    Ok(())
}

/// Takes a document out of the numbers: the bytes of its text, and whether it is empty. If it was sent alone,
/// the failure is that of the request; if it is one of several, that of its line.
pub(super) fn take_out(
    response: &mut AddResponse,
    line: Option<u64>,
    (bytes, is_empty): (u64, bool),
    failure: Failure,
) -> std::result::Result<(), Failure> {
    let report = &mut response.report;
    report.bytes = report.bytes.saturating_sub(bytes);
    report.empty -= u64::from(is_empty);
    report.failed += 1;
    let Some(line) = line else { return Err(failure) };
    if response.errors.len() < ERRORS_MAX {
        response.errors.push(RecordError { line, message: failure.message });
    }
    Ok(())
}
