//! Recovery from failed writes, and from panics of the writer.
//!
//! When a write fails, tantivy loses everything since the last commit. Waiting clients receive an
//! error. Acknowledged changes are *owed*: they are kept, new changes are refused, and a retry
//! every second finds out whether the disk takes the owed changes. Only changes still owed at the
//! end of the service are lost.
//!
//! A document that triggers a defect must not affect other documents. When a thread of tantivy
//! panics, tantivy forgets everything since the last commit and does not tell which document was
//! the cause. So a new writer applies the changes again, in halves after every panic, until the
//! panicking change is alone. Only the sender of this change gets an error, and the remaining
//! changes are committed.

use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::sync::atomic::Ordering;
use std::time::Instant;

use axum::http::StatusCode;

use super::{WriterLoop, options};
use crate::command::{ERRORS_MAX, ReceivedDocument};
use crate::failure::Failure;
use crate::writer::pending::{Change, PendingChange, RefusedChange, SentResult, State};
use cento::index::{Outcome, Writer};
use cento::runtime::Point;
use cento::runtime::replace;
use cento::{Error, Reason, Result};
use cento_api::http::{AddResponse, RecordError};

/// The maximum number of attempts in a row to apply accepted changes. Finding one panicking change
/// among a million takes 41 attempts, so after 1,000 attempts nothing can be written.
const TRIES_MAX: u32 = 1000;

/// The minimum free bytes of the disk, beyond the owed changes, before writing resumes: the size of
/// the owed changes within these limits, because every file of a segment needs space. With room for
/// an empty file only, writing would fail again at once.
const PROBE_BYTES: RangeInclusive<usize> = 128 << 10..=1 << 20;

/// The size of the probe's single writes, in bytes.
const PROBE_PART_BYTES: usize = 64 << 10;

impl WriterLoop {
    /// Refuses a change and tells the sender. An acknowledged change counts as lost.
    pub(super) fn refuse(&mut self, kept: &mut PendingChange) {
        kept.state = State::Refused;
        tracing::error!(id = kept.id(), "a document triggers a defect; please report it");
        if let Change::Add(ReceivedDocument { signed, .. }) = &kept.change
            && !self.poisons.has(signed)
        {
            self.poisons.add(signed);
        }
        self.metrics.arrived("failed", 1);
        match kept.reported {
            SentResult::Nothing => {
                self.refused.entry(kept.command).or_default().push(kept.refused())
            }
            SentResult::Accepted => self.lose(1),
            SentResult::Failed => {}
        }
    }

    /// Applies all changes since the last commit again with a new writer, and commits. Returns the
    /// changes with their states.
    pub(super) fn recover(&mut self) -> std::result::Result<Vec<PendingChange>, Failure> {
        let started = Instant::now();
        let mut kept = self.kept.take();
        tracing::error!(
            changes = kept.len(),
            "the writer met a defect; the changes that it had accepted are applied again"
        );
        let broken = self.writer.take();
        let _ = Error::catch("the end of the writer", || {
            drop(broken);
            Ok(())
        });
        let mut tries = TRIES_MAX;
        // Applying the whole list has just panicked, so begin with halves.
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

    /// Applies and commits changes, without the changes that trigger a defect.
    fn make_again(&mut self, kept: &mut [PendingChange], tries: &mut u32) -> Result<()> {
        if kept.is_empty() {
            return Ok(());
        }
        if *tries == 0 {
            return Err(Error::internal("the writer", "it panicked at one change after the other"));
        }
        *tries -= 1;
        // A failure to open the writer is not the fault of a change, so it is caught separately.
        let opened = self.writer.take();
        let opened = opened.map_or_else(|| Error::catch("a new writer", || self.open()), Ok)?;
        let done = Error::catch("the writer", || {
            let mut writer = opened;
            for kept in &mut *kept {
                kept.state = State::Pending;
                match kept.make(&mut writer) {
                    // Another process has changed the index since the change was accepted.
                    Err(error @ Error::Input { .. }) if writer.is_usable() => {
                        tracing::error!(id = kept.id(), %error, "an accepted change is refused");
                        kept.state = State::Refused;
                    }
                    made => drop(made?),
                }
            }
            writer.commit()?;
            Ok(writer)
        });
        match done {
            Ok(writer) => {
                self.writer = Some(writer);
                for kept in kept {
                    match kept.state {
                        State::Refused if kept.reported == SentResult::Accepted => self.lose(1),
                        State::Refused => {}
                        _ => kept.state = State::Committed,
                    }
                }
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

    /// Returns the writer.
    ///
    /// # Errors
    /// After a failed write, until writing succeeds again.
    pub(super) fn writer(&mut self) -> Result<&mut Writer> {
        let what = "the last write failed, and has not succeeded since";
        self.writer
            .as_mut()
            .ok_or_else(|| Error::index(self.index.path(), Reason::WriteFailed, what))
    }

    /// Tells whether the last write failed.
    pub(super) fn is_failing(&self) -> bool {
        self.status.failed.load(Ordering::Relaxed)
    }

    /// Refuses new changes while writing fails, because keeping them would need unbounded memory.
    pub(super) fn check_writing(&self) -> std::result::Result<(), Failure> {
        if self.is_failing() { Err(Failure::not_writing()) } else { Ok(()) }
    }

    /// Ends the writer after a failed write. Acknowledged changes become owed, and the clients of
    /// other changes receive the failure.
    pub(super) fn give_up(&mut self, error: &Error) -> Failure {
        let mut failure = Failure::from(error);
        // The failure may be temporary, unless there is a defect.
        let is_defect = matches!(error, Error::Internal { .. });
        if failure.status == StatusCode::INTERNAL_SERVER_ERROR && !is_defect {
            failure = Failure::unavailable(
                "the change could not be written; the log of the service says why",
            );
        }
        self.writer = None;
        for kept in self.kept.take() {
            if kept.reported == SentResult::Accepted {
                self.owed.push(kept);
            }
        }
        self.status.failed.store(true, Ordering::Relaxed);
        let owed = self.owed.len();
        tracing::error!(
            %error, owed,
            "writing failed; the index is in the state of its last commit, and what was accepted \
             since is kept until it can be written"
        );
        self.commit_due = None;
        self.refused.clear();
        self.tell();
        self.tell_waiting(&failure);
        failure
    }

    /// Reports the missing commit to waiting clients.
    pub(super) fn tell_waiting(&mut self, failure: &Failure) {
        for waiting in std::mem::take(&mut self.waiting) {
            self.refused.remove(&waiting.command);
            (waiting.tell)(Err(failure.clone()), Vec::new());
        }
    }

    /// Opens the writer again and commits the owed changes, if the disk has room.
    pub(super) fn settle(&mut self) {
        let started = Instant::now();
        let mut owed = self.owed.take();
        let count = owed.len();
        let settled = self.reopen(&owed).and_then(|()| {
            let mut tries = TRIES_MAX;
            self.make_again(&mut owed, &mut tries)
        });
        for kept in owed {
            if kept.state == State::Pending {
                self.owed.push(kept);
            }
        }
        if let Err(error) = settled {
            self.writer = None;
            tracing::debug!(%error, "writing still fails");
            return self.tell();
        }
        tracing::info!(
            changes = count,
            "writing succeeds again; the changes accepted before are committed"
        );
        self.committed(started, count > 0);
        // Clear the flag last. A client that sees working writes then also sees the accepted
        // changes committed.
        self.status.failed.store(false, Ordering::Release);
    }

    /// Opens the writer, if the index is still the same and the disk takes as much as `owed`. At
    /// the end of the service there is no probe, because changes that are not written then are lost
    /// anyway.
    fn reopen(&mut self, owed: &[PendingChange]) -> Result<()> {
        let writer = Error::catch("a new writer", || self.open())?;
        if !self.is_stopped {
            let owed = owed.iter().map(PendingChange::bytes).sum::<usize>();
            let bytes = owed + owed.clamp(*PROBE_BYTES.start(), *PROBE_BYTES.end());
            self.probe(bytes).map_err(|e| Error::io("write to", self.index.path(), e))?;
        }
        self.writer = Some(writer);
        Ok(())
    }

    /// Writes a file of `bytes` bytes, rounded up, beside the files of the index, and removes it.
    fn probe(&self, bytes: usize) -> io::Result<()> {
        self.index.faults().at(Point::Commit, "probe")?;
        let mut file = replace::beside(&self.index.path().join("probe"))?;
        let part = vec![0x5a; PROBE_PART_BYTES];
        for _ in 0..bytes.div_ceil(PROBE_PART_BYTES) {
            file.write_all(&part)?;
        }
        file.as_file().sync_all()
    }

    /// Counts the changes owed at the end as lost. Returns true if there are no owed changes.
    pub(super) fn end(&mut self) -> bool {
        let owed = self.owed.take().len();
        if owed > 0 {
            self.lose(owed as u64);
            tracing::error!(
                changes = owed,
                "the service ends, and changes that it had accepted could not be written"
            );
        }
        owed == 0
    }

    /// Counts acknowledged changes that could not be made.
    fn lose(&self, changes: u64) {
        self.metrics.lost.inc_by(changes);
        self.status.lost.fetch_add(changes, Ordering::Relaxed);
    }
}

/// Subtracts refused documents from the counts. A single document fails the request, and a document
/// of several is reported with its line.
pub(super) fn take_out_refused(
    response: &mut AddResponse,
    refused: Vec<RefusedChange>,
) -> std::result::Result<(), Failure> {
    for refused in refused {
        let report = &mut response.report;
        match refused.counted {
            Some(Outcome::Added) => report.added -= 1,
            Some(Outcome::Replaced) => report.replaced -= 1,
            Some(Outcome::Unchanged) => report.unchanged -= 1,
            None => {}
        }
        let (line, failure) = (refused.line, Failure::poisonous(&refused.id));
        take_out(response, line, refused.bytes, refused.is_empty, failure)?;
    }
    response.errors.sort_by_key(|error| error.line);
    Ok(())
}

/// Subtracts a document from the counts. `bytes` is the size of its text, and `is_empty` tells
/// whether it has no token. The failure concerns the line of the document, or the whole request if
/// the request has a single document.
pub(super) fn take_out(
    response: &mut AddResponse,
    line: Option<u64>,
    bytes: u64,
    is_empty: bool,
    failure: Failure,
) -> std::result::Result<(), Failure> {
    let report = &mut response.report;
    report.bytes = report.bytes.saturating_sub(bytes);
    report.empty -= u64::from(is_empty);
    report.failed += 1;
    let Some(line) = line else { return Err(failure) };
    if response.errors.len() < ERRORS_MAX {
        response.errors.push(RecordError {
            line,
            code: failure.code.to_owned(),
            message: failure.message,
        });
    }
    Ok(())
}
