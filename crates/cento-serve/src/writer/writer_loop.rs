//! The loop of the writer's thread.
//!
//! The loop takes commands in turn. It commits when a client waits for a commit or the commit
//! interval is over, and publishes each commit. A compaction runs in tantivy's threads while
//! documents are added.
//!
//! After a failed write or a panic no acknowledged change is lost: see [`recovery`].

mod compaction;
mod recovery;
mod removal;
mod withdrawals;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};

use axum::http::StatusCode;
use crossbeam::channel::{Sender, select_biased};

use self::compaction::Running;
use self::recovery::{take_out, take_out_refused};
use self::removal::{patched, removed};
use super::pending::{Change, Changes, PendingChange, Poisons, RefusedChange, SentResult, State};
use super::{Status, WriterInbox, WriterSettings};
use crate::command::{Command, ReceivedDocument, Reply};
use crate::failure::Failure;
use crate::metrics::Metrics;
use crate::published::PublishedCommit;
use crate::schedule::{self, Daily};
use cento::index::{Index, Outcome, Writer, WriterOptions};
use cento::runtime::Point;
use cento::{AddIndexesOptions, AddedIndexes, Error, Result};
use cento_api::AddReport;
use cento_api::http::{AddResponse, Commit, CommitResponse, CompactResponse};

/// The maximum number of commands in a commit that a client waits for.
const GROUP_MAX: usize = 64;

/// The time between two ticks, when the writer checks for finished merges and the time of day.
const TICK: Duration = Duration::from_secs(1);

/// Uncommitted changes may take one part in this many of the writer's memory, and then a commit is
/// made.
const KEPT_SHARE: usize = 4;

/// A command to answer after the next commit, or after its failure.
struct PendingReply {
    command: u64,
    tell: ReplyFn,
}

/// Reports the end of a commit, and the refused changes of the command.
type ReplyFn =
    Box<dyn FnOnce(std::result::Result<CommitResponse, Failure>, Vec<RefusedChange>) + Send>;

/// The effect of a change.
struct ChangeEffect {
    outcome: Option<Outcome>,
    is_changed: bool,
}

pub struct WriterLoop {
    index: Index,
    /// `None` after a failed write, until writing succeeds again.
    writer: Option<Writer>,
    settings: WriterSettings,
    published: Arc<PublishedCommit>,
    metrics: Arc<Metrics>,
    status: Arc<Status>,
    commands: Sender<Command>,
    /// The number of the current command.
    command: u64,
    waiting: Vec<PendingReply>,
    /// When to commit the acknowledged changes at the latest.
    commit_due: Option<Instant>,
    /// The changes since the last commit.
    kept: Changes,
    /// Acknowledged but unwritten changes. Until they are committed, new changes are refused.
    owed: Changes,
    /// The refused changes of unanswered commands, by number of the command.
    refused: HashMap<u64, Vec<RefusedChange>>,
    poisons: Poisons,
    running: Option<Running>,
    is_stopped: bool,
}

fn options(memory_bytes: usize) -> WriterOptions {
    WriterOptions::default().memory_bytes(memory_bytes)
}

impl WriterLoop {
    /// Opens the writer.
    ///
    /// # Errors
    /// When another process has the writer, or the index cannot be opened.
    pub fn begin(
        index: Index,
        settings: WriterSettings,
        published: Arc<PublishedCommit>,
        metrics: Arc<Metrics>,
        status: Arc<Status>,
        commands: Sender<Command>,
    ) -> Result<WriterLoop> {
        let writer = index.writer(options(settings.memory_bytes))?;
        Ok(WriterLoop {
            index,
            writer: Some(writer),
            settings,
            published,
            metrics,
            status,
            commands,
            command: 0,
            waiting: Vec::new(),
            commit_due: None,
            kept: Changes::default(),
            owed: Changes::default(),
            refused: HashMap::new(),
            poisons: Poisons::default(),
            running: None,
            is_stopped: false,
        })
    }

    /// Runs commands until the writer is stopped. Then sends to `committed` whether the last commit
    /// succeeded.
    pub fn run(mut self, ways: &WriterInbox, committed: &Sender<bool>) {
        let mut next_tick = Instant::now() + TICK;
        while !self.is_stopped {
            self.guard(|work| work.step(ways, &mut next_tick));
        }
        // Take the documents handed over before the request to stop.
        for command in ways.documents.try_iter() {
            self.guard(|work| work.take(command));
        }
        self.guard(WriterLoop::commit);
        let _ = committed.send(self.end());
    }

    /// Runs `what`, and reports a defect outside of a change to waiting clients. The changes so far
    /// stay.
    fn guard(&mut self, what: impl FnOnce(&mut WriterLoop)) {
        let done = Error::catch("the writer", || {
            what(self);
            Ok(())
        });
        let Err(error) = done else { return };
        tracing::error!(%error, "the writer continues");
        for waiting in std::mem::take(&mut self.waiting) {
            self.refused.remove(&waiting.command);
            self.kept.answered(waiting.command, SentResult::Failed);
            (waiting.tell)(Err(Failure::internal()), Vec::new());
        }
        if self.writer.as_ref().is_some_and(|writer| !writer.is_usable()) {
            let _ = self.recover();
        }
    }

    fn step(&mut self, ways: &WriterInbox, next_tick: &mut Instant) {
        let until = self.commit_due.map_or(*next_tick, |due| due.min(*next_tick));
        // Documents come last, so that a client with many documents does not delay other commands.
        select_biased! {
            recv(ways.others) -> command => self.take(command.unwrap_or(Command::Stop)),
            recv(ways.documents) -> command => self.take(command.unwrap_or(Command::Stop)),
            default(until.saturating_duration_since(Instant::now())) => {}
        }
        // One commit serves several waiting clients.
        for command in ways.others.try_iter().chain(ways.documents.try_iter()).take(GROUP_MAX) {
            self.take(command);
        }
        let now = Instant::now();
        if !self.waiting.is_empty() || self.commit_due.is_some_and(|due| due <= now) {
            self.commit();
        }
        if now >= *next_tick {
            *next_tick = now + TICK;
            self.tick();
        }
    }

    fn take(&mut self, command: Command) {
        self.command += 1;
        match command {
            Command::Add { documents, mut response, commit, started, room, reply } => {
                let added = self.add(documents, &mut response);
                drop(room);
                if let Err(failure) = added {
                    self.failed();
                    return reply.send(Err(failure));
                }
                let AddReport { added, replaced, unchanged, failed, .. } = response.report;
                self.metrics.arrived("added", added);
                self.metrics.arrived("replaced", replaced);
                self.metrics.arrived("unchanged", unchanged);
                self.metrics.arrived("failed", failed);
                response.report.took_us = started.elapsed().as_micros() as u64;
                self.answer(commit, reply, move |is_committed, refused| {
                    take_out_refused(&mut response, refused)?;
                    // An unchanged document is usually committed, unless added a moment ago.
                    if is_committed {
                        response.committed = true;
                        response.report.took_us = started.elapsed().as_micros() as u64;
                    }
                    Ok(response)
                });
            }
            Command::Remove { ids, commit, room, reply } => {
                let made = self.remove(ids);
                drop(room);
                self.answer_made(made, commit, reply, removed);
            }
            Command::RemoveMatching { filter, commit, stop, reply } => {
                let made = self.remove_matching(&filter, &stop);
                self.answer_made(made, commit, reply, removed);
            }
            Command::Patch { id, patch, commit, room, reply } => {
                let made = self.patch(id, patch);
                drop(room);
                self.answer_made(made, commit, reply, patched);
            }
            Command::Commit(reply) => {
                let tell: ReplyFn = Box::new(|result, _| reply.send(result));
                self.waiting.push(PendingReply { command: self.command, tell });
            }
            Command::Compact { reply, .. } if self.is_failing() => {
                reply.send(Err(Failure::not_writing()));
            }
            Command::Compact { segments, reply, wait } => {
                if self.running.is_some() {
                    return reply.send(Err(Failure::new(
                        StatusCode::CONFLICT,
                        "compacting",
                        "a compaction is running; wait until it has finished",
                    )));
                }
                self.tell_compacting(true);
                let reply = if wait {
                    Some(reply)
                } else {
                    reply.send(Ok(CompactResponse { done: false, compaction: None }));
                    None
                };
                self.running = Some(Running { segments, tries: 0, reply });
                self.begin_compaction();
            }
            Command::Merge { shards, options, reply } => {
                // Earlier changes are committed before the merge.
                self.commit();
                reply.send(match self.is_failing() {
                    true => Err(Failure::not_writing()),
                    false => Ok(self.merge(&shards, options)),
                });
            }
            Command::LogChanges(reply) => reply.send(self.log_changes()),
            Command::Withdraw { request, stop, reply } => {
                reply.send(self.withdraw(&request, &stop));
            }
            Command::Forget { id, reply } => reply.send(self.forget(&id)),
            Command::Compacted(result) => self.end_compaction(result),
            Command::Stop => self.is_stopped = true,
        }
        // Kept changes take memory, which a commit frees.
        if self.keeps_much() {
            self.commit();
        }
        self.tell();
    }

    /// Tells whether the changes since the last commit use up their share of the memory.
    fn keeps_much(&self) -> bool {
        self.kept.bytes() > self.settings.memory_bytes / KEPT_SHARE
    }

    /// Records the failure of the command, before the sender learns of the failure. Earlier changes
    /// of the command are still committed.
    fn failed(&mut self) {
        self.refused.remove(&self.command);
        self.kept.answered(self.command, SentResult::Failed);
        if self.uncommitted() > 0 {
            self.commit_later();
        }
        self.tell();
    }

    /// Schedules a commit of the changes so far, at the latest when the interval is over.
    fn commit_later(&mut self) {
        let interval = self.settings.commit_interval;
        self.commit_due = self.commit_due.or(Instant::now().checked_add(interval));
    }

    /// Answers at once, or after the commit that the client waits for. `answer` receives whether
    /// this commit was made, and the refused changes.
    fn answer<T: Send + 'static>(
        &mut self,
        commit: Commit,
        reply: Reply<T>,
        answer: impl FnOnce(bool, Vec<RefusedChange>) -> std::result::Result<T, Failure>
        + Send
        + 'static,
    ) {
        let command = self.command;
        match commit {
            Commit::Wait => {
                let tell: ReplyFn = Box::new(|result, refused| {
                    reply.send(result.and_then(|_| answer(true, refused)));
                });
                self.waiting.push(PendingReply { command, tell });
            }
            Commit::Auto => {
                self.commit_later();
                self.kept.answered(command, SentResult::Accepted);
                let refused = self.refused.remove(&command).unwrap_or_default();
                // The status must be right when the client has the answer.
                self.tell();
                reply.send(answer(false, refused));
            }
        }
    }

    fn add(
        &mut self,
        documents: Vec<ReceivedDocument>,
        response: &mut AddResponse,
    ) -> std::result::Result<(), Failure> {
        self.check_writing()?;
        for received in documents {
            let is_poison = self.poisons.has(&received.signed);
            let (line, signed) = (received.line, &received.signed);
            let (bytes, is_empty) = (signed.document.text.len() as u64, signed.token_count == 0);
            let mut kept = PendingChange::new(Change::Add(received), self.command);
            if is_poison {
                self.refuse(&mut kept);
                continue;
            }
            let made = match self.change(kept) {
                // A document with a taken or withdrawn id does not stop the remaining documents.
                Err(failure) if ["id_taken", "withdrawn"].contains(&failure.code) => {
                    take_out(response, line, bytes, is_empty, failure)?;
                    None
                }
                made => made?,
            };
            if let Some(made) = made {
                match made.outcome {
                    Some(Outcome::Added) => response.report.added += 1,
                    Some(Outcome::Replaced) => response.report.replaced += 1,
                    Some(Outcome::Unchanged) | None => response.report.unchanged += 1,
                }
            }
        }
        Ok(())
    }

    /// Makes and keeps a change. Returns `None` if the change is refused because of a defect.
    fn change(
        &mut self,
        mut kept: PendingChange,
    ) -> std::result::Result<Option<ChangeEffect>, Failure> {
        let before = self.uncommitted();
        let made = Error::catch("the writer", || kept.make(self.writer()?));
        // The writer commits by itself after very many changes.
        if self.uncommitted() < before {
            self.kept.take();
        }
        let is_usable = self.writer.as_ref().is_some_and(Writer::is_usable);
        match made {
            Ok(is_changed) => {
                let outcome = kept.outcome;
                kept.is_counted = true;
                if is_changed {
                    self.kept.push(kept);
                }
                Ok(Some(ChangeEffect { outcome, is_changed }))
            }
            // The change failed while reading the index, so nothing else is affected.
            Err(Error::Internal { .. }) if is_usable => {
                self.refuse(&mut kept);
                Ok(None)
            }
            Err(error) if is_usable => Err(Failure::from(&error)),
            Err(Error::Internal { .. }) => {
                self.kept.push(kept);
                let done = self.recover()?;
                let last = done.last().filter(|kept| kept.state == State::Committed);
                Ok(last.map(|kept| ChangeEffect { outcome: kept.outcome, is_changed: true }))
            }
            Err(error) => Err(self.give_up(&error)),
        }
    }

    fn commit(&mut self) {
        if self.is_failing() {
            self.settle();
            return self.tell_waiting(&Failure::not_writing());
        }
        // Wait for the previous match, so that every commit is matched separately.
        self.settings.matching.settle();
        let started = Instant::now();
        let has_changes = self.uncommitted() > 0;
        match Error::catch("a commit", || self.writer()?.commit()) {
            Ok(()) => {
                self.kept.take();
                self.committed(started, has_changes);
            }
            Err(Error::Internal { .. }) => {
                // Recovery answers the waiting clients.
                let _ = self.recover();
            }
            Err(error) => {
                self.give_up(&error);
            }
        }
    }

    /// Publishes a durable commit, and answers waiting clients.
    fn committed(&mut self, started: Instant, has_changes: bool) {
        self.commit_due = None;
        // The commit must be visible before clients are answered. A commit that cannot be opened is
        // durable nevertheless.
        let searchable = self.publish();
        let current = self.published.current();
        let snapshot = current.snapshot();
        let response = CommitResponse {
            documents: snapshot.documents(),
            segments: snapshot.segments().len(),
            searchable,
            run: self.status.run(),
        };
        if has_changes {
            self.settings.matching.begin();
            self.metrics.committed(started.elapsed());
            let took_ms = started.elapsed().as_millis() as u64;
            tracing::debug!(took_ms, "committed");
        }
        self.tell();
        for waiting in std::mem::take(&mut self.waiting) {
            let refused = self.refused.remove(&waiting.command).unwrap_or_default();
            (waiting.tell)(Ok(response), refused);
        }
    }

    /// Opens the last commit for searches. After a failure, searches continue on the previous
    /// commit, and the next tick tries again.
    fn publish(&self) -> bool {
        let published = Error::catch("opening the commit", || {
            let point = self.index.faults().at(Point::Publish, "");
            point.map_err(|e| Error::io("read", self.index.path(), e))?;
            self.published.refresh(&self.metrics)
        });
        let was_stale = self.status.stale.swap(published.is_err(), Ordering::Relaxed);
        match &published {
            Err(error) if !was_stale => {
                tracing::error!(%error, "the last commit cannot be searched yet");
            }
            Ok(()) if was_stale => tracing::info!("searches see the last commit again"),
            _ => {}
        }
        published.is_ok()
    }

    /// Merges finished indexes into this index, and opens the result for searches.
    fn merge(&mut self, shards: &[PathBuf], options: AddIndexesOptions) -> Result<AddedIndexes> {
        self.settings.matching.settle();
        let started = Instant::now();
        let merged = Error::catch("a merge", || {
            let shards = shards.iter().map(Index::open).collect::<Result<Vec<_>>>()?;
            self.writer()?.add_indexes(&shards, options)
        });
        let is_usable = self.writer.as_ref().is_some_and(Writer::is_usable);
        match &merged {
            Ok(AddedIndexes { documents, segments, .. }) => {
                let took_ms = started.elapsed().as_millis() as u64;
                tracing::info!(documents, segments, took_ms, "merged");
                self.publish();
                self.settings.matching.begin();
            }
            // The commit before the merge left no change to lose.
            Err(_) if is_usable => {}
            Err(Error::Internal { .. }) => drop(self.recover()),
            Err(error) => drop(self.give_up(error)),
        }
        merged
    }

    /// Handles finished merges, and starts a due compaction.
    fn tick(&mut self) {
        self.metrics.merged(self.index.merges());
        // Retry here, so that a client learns from the status whether writing works.
        if self.is_failing() {
            self.settle();
        }
        self.publish();
        let now = schedule::now(SystemTime::now());
        let is_due = |daily: &mut Daily| now.as_ref().is_some_and(|now| daily.is_due(now));
        if self.settings.compact_at.as_mut().is_some_and(is_due) && self.running.is_none() {
            tracing::info!("it is time to compact");
            self.running = Some(Running { segments: 1, tries: 0, reply: None });
            self.begin_compaction();
        }
    }

    /// Logs the documents of later commits.
    fn log_changes(&mut self) -> std::result::Result<(), Failure> {
        self.commit();
        self.check_writing()?;
        Ok(self.writer()?.log_changes().map(|_| ())?)
    }

    fn uncommitted(&self) -> u64 {
        let changed = self.writer.as_ref().map_or(0, Writer::uncommitted);
        (changed + self.owed.len()) as u64
    }

    fn tell_compacting(&self, is_compacting: bool) {
        self.status.compacting.store(is_compacting, Ordering::Relaxed);
        self.metrics.compacting.set(is_compacting.into());
    }

    fn tell(&self) {
        let uncommitted = self.uncommitted();
        self.status.uncommitted.store(uncommitted, Ordering::Relaxed);
        self.metrics.uncommitted.set(uncommitted);
    }
}
