//! What does the thread of the writer do?
//!
//! It takes commands in turn, commits when somebody waits for it or the commit interval is over, and
//! publishes what it committed. A compaction goes on in threads of tantivy's while documents are added.
//!
//! After a failed write everything since the last commit is gone. Whoever waits is told; what had
//! been acknowledged before is counted as lost, and a new writer is opened.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use crossbeam::channel::{Sender, select_biased};
use jiff::Zoned;

use super::{Command, Incoming, Reply, Status, WriterSettings};
use crate::api::{AddResponse, Commit, CommitResponse, CompactResponse, RemoveResponse};
use crate::error::{Error, Result};
use crate::index::pipeline::Signed;
use crate::index::{AddReport, Compaction, Index, Outcome, Writer, WriterOptions};
use crate::serve::failure::Failure;
use crate::serve::metrics::Metrics;
use crate::serve::published::Published;
use crate::serve::schedule::Daily;

/// At most so many commands go into one commit that somebody waits for.
const GROUP_MAX: usize = 64;

/// So often the writer looks whether merges have ended and what time it is.
const TICK: Duration = Duration::from_secs(1);

/// A compaction that another merge has outrun is begun again at most so many times.
const COMPACTION_TRIES: u32 = 10;
/// Who is answered when a commit has been made, or has failed.
type Waiting = Box<dyn FnOnce(std::result::Result<CommitResponse, Failure>) + Send>;

/// A compaction that goes on.
struct Running {
    segments: usize,
    tries: u32,
    reply: Option<Reply<CompactResponse>>,
}

pub struct Work {
    index: Index,
    /// Without one after a failed write.
    writer: Option<Writer>,
    settings: WriterSettings,
    published: Arc<Published>,
    metrics: Arc<Metrics>,
    status: Arc<Status>,
    commands: Sender<Command>,
    waiting: Vec<Waiting>,
    /// When what has been acknowledged is to be committed.
    commit_due: Option<Instant>,
    /// Documents acknowledged since the last commit.
    acknowledged: u64,
    running: Option<Running>,
    is_stopped: bool,
}
fn options(memory_bytes: usize) -> WriterOptions {
    WriterOptions { memory_bytes, ..WriterOptions::default() }
}

impl Work {
    /// Opens the writer.
    ///
    /// # Errors
    /// When another process has it, or the index cannot be opened.
    pub fn begin(
        index: Index,
        settings: WriterSettings,
        (published, metrics, status): (Arc<Published>, Arc<Metrics>, Arc<Status>),
        commands: Sender<Command>,
    ) -> Result<Work> {
        let writer = index.writer(options(settings.memory_bytes))?;
        Ok(Work {
            index,
            writer: Some(writer),
            settings,
            published,
            metrics,
            status,
            commands,
            waiting: Vec::new(),
            commit_due: None,
            acknowledged: 0,
            running: None,
            is_stopped: false,
        })
    }

    /// Does what it is asked to, until the end; whether the last commit succeeded goes to `committed`.
    pub fn run(mut self, ways: &Incoming, committed: &Sender<bool>) {
        let mut next_tick = Instant::now() + TICK;
        while !self.is_stopped {
            let step = catch_unwind(AssertUnwindSafe(|| self.step(ways, &mut next_tick)));
            if step.is_err() {
                tracing::error!("the writer met a defect; please report it");
                self.give_up(&Error::internal("the writer", "it panicked"));
            }
        }
        // What was handed over before the end was asked for.
        for command in ways.documents.try_iter() {
            self.take(command);
        }
        self.commit();
        let is_committed = !self.status.failed.load(Ordering::Relaxed);
        let _ = committed.send(is_committed);
    }

    fn step(&mut self, ways: &Incoming, next_tick: &mut Instant) {
        let until = self.commit_due.map_or(*next_tick, |due| due.min(*next_tick));
        // Whoever adds much must not keep others from being heard.
        select_biased! {
            recv(ways.others) -> command => self.take(command.unwrap_or(Command::Stop)),
            recv(ways.documents) -> command => self.take(command.unwrap_or(Command::Stop)),
            default(until.saturating_duration_since(Instant::now())) => {}
        }
        // Others who wait are served by the same commit.
        for command in ways.others.try_iter().chain(ways.documents.try_iter()).take(GROUP_MAX) {
            self.take(command);
        }
        let now = Instant::now();
        if !self.waiting.is_empty() || self.commit_due.is_some_and(|due| due <= now) {
            self.commit();
        }
        if now >= *next_tick {
            self.tick();
            *next_tick = now + TICK;
        }
    }

    fn take(&mut self, command: Command) {
        match command {
            Command::Add { documents, mut response, commit, started, room, reply } => {
                let added = self.change(|writer| add(writer, documents, &mut response));
                drop(room);
                if let Err(failure) = added {
                    return reply.send(Err(failure));
                }
                let AddReport { added, replaced, unchanged, failed, .. } = response.report;
                self.metrics.arrived("added", added);
                self.metrics.arrived("replaced", replaced);
                self.metrics.arrived("unchanged", unchanged);
                self.metrics.arrived("failed", failed);
                response.report.seconds = started.elapsed().as_secs_f64();
                // What was there already is committed already, unless it came a moment ago.
                self.answer(commit, added + replaced, reply, response, move |response| {
                    response.committed = true;
                    response.report.seconds = started.elapsed().as_secs_f64();
                });
            }
            Command::Remove { ids, commit, room, reply } => {
                let mut response =
                    RemoveResponse { removed: 0, missing: Vec::new(), committed: false };
                let removed = self.change(|writer| {
                    for id in ids {
                        match writer.remove(&id)? {
                            true => response.removed += 1,
                            false => response.missing.push(id),
                        }
                    }
                    Ok(())
                });
                drop(room);
                if let Err(failure) = removed {
                    return reply.send(Err(failure));
                }
                self.metrics.arrived("removed", response.removed);
                let removed = response.removed;
                self.answer(commit, removed, reply, response, |response| response.committed = true);
            }
            Command::Commit(reply) => self.waiting.push(Box::new(|result| reply.send(result))),
            Command::Compact { segments, reply, wait } => {
                if self.running.is_some() {
                    return reply.send(Err(Failure::new(
                        StatusCode::CONFLICT,
                        "compacting",
                        "a compaction is going on; wait for its end",
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
            Command::Compacted(result) => self.end_compaction(result),
            Command::Stop => self.is_stopped = true,
        }
    }

    /// Answers now, or when what was changed has been committed.
    fn answer<T: Send + 'static>(
        &mut self,
        commit: Commit,
        changes: u64,
        reply: Reply<T>,
        mut response: T,
        committed: impl FnOnce(&mut T) + Send + 'static,
    ) {
        match commit {
            Commit::Wait => self.waiting.push(Box::new(|result| {
                reply.send(result.map(|_| {
                    committed(&mut response);
                    response
                }));
            })),
            Commit::Auto => {
                self.acknowledged += changes;
                self.commit_due =
                    self.commit_due.or(Instant::now().checked_add(self.settings.commit_interval));
                reply.send(Ok(response));
            }
        }
    }

    /// Lets `change` use the writer; a failure ends the writer.
    fn change(
        &mut self,
        change: impl FnOnce(&mut Writer) -> Result<()>,
    ) -> std::result::Result<(), Failure> {
        let before = self.uncommitted();
        let changed = self.writer().and_then(change);
        // The writer commits by itself when very much has changed.
        if self.uncommitted() < before {
            self.acknowledged = 0;
        }
        self.tell();
        changed.map_err(|error| self.give_up(&error))
    }

    /// The writer, opened again if a write had failed.
    fn writer(&mut self) -> Result<&mut Writer> {
        if self.writer.is_none() {
            self.writer = Some(self.index.writer(options(self.settings.memory_bytes))?);
            self.status.failed.store(false, Ordering::Relaxed);
            tracing::info!("writing again");
        }
        Ok(self.writer.as_mut().expect("it was just opened"))
    }

    /// Ends the writer after a failed write: what was not committed is gone.
    fn give_up(&mut self, error: &Error) -> Failure {
        let mut failure = Failure::from(error);
        if failure.status == StatusCode::INTERNAL_SERVER_ERROR {
            failure =
                Failure::unavailable("this could not be written; the log of the service says why");
        }
        let lost = std::mem::take(&mut self.acknowledged);
        self.metrics.lost.inc_by(lost);
        self.status.lost.fetch_add(lost, Ordering::Relaxed);
        self.status.failed.store(true, Ordering::Relaxed);
        tracing::error!(%error, lost, "writing failed; the index is as the last commit left it");
        self.writer = None;
        self.commit_due = None;
        for waiting in std::mem::take(&mut self.waiting) {
            waiting(Err(failure.clone()));
        }
        self.tell();
        failure
    }

    fn commit(&mut self) {
        let started = Instant::now();
        let has_changes = self.writer.as_ref().is_some_and(|writer| writer.uncommitted() > 0);
        let committed = self.writer().and_then(Writer::commit);
        if let Err(error) = committed {
            self.give_up(&error);
            return;
        }
        (self.acknowledged, self.commit_due) = (0, None);
        // What is committed has to be seen before anybody is told.
        let published = self.published.refresh(&self.metrics);
        let result = match published {
            Ok(()) => {
                let current = self.published.current();
                let snapshot = current.snapshot();
                let segments = snapshot.segments().len();
                let run = self.status.run();
                Ok(CommitResponse { documents: snapshot.documents(), segments, run })
            }
            Err(error) => {
                tracing::error!(%error, "what was committed cannot be searched");
                Err(Failure::from(&error))
            }
        };
        if has_changes {
            self.metrics.committed(started.elapsed());
            let took_ms = started.elapsed().as_millis() as u64;
            tracing::debug!(took_ms, "committed");
        }
        for waiting in std::mem::take(&mut self.waiting) {
            waiting(result.clone());
        }
        self.tell();
    }

    fn begin_compaction(&mut self) {
        // What is deleted by now is to go.
        self.commit();
        let Some(running) = &mut self.running else { return };
        running.tries += 1;
        let segments = running.segments;
        let documents = self.published.current().snapshot().documents();
        let documents_min = documents_min(running.tries, documents);
        self.tell_compacting(true);
        let begin = |writer: &mut Writer| writer.begin_compaction(segments, documents_min);
        let begun = self.writer().and_then(begin);
        let commands = self.commands.clone();
        std::thread::spawn(move || {
            let _ = commands.send(Command::Compacted(begun.and_then(|running| running.wait())));
        });
    }

    fn end_compaction(&mut self, result: Result<Compaction>) {
        let Some(running) = &mut self.running else { return };
        if matches!(result, Err(Error::Conflict { .. })) && running.tries < COMPACTION_TRIES {
            return self.begin_compaction();
        }
        let reply = running.reply.take();
        self.running = None;
        let refreshed = result.and_then(|done| {
            self.published.refresh(&self.metrics)?;
            Ok(done)
        });
        match &refreshed {
            Ok(done) => {
                self.metrics.compactions.inc();
                let Compaction { segments_before, segments_after, purged } = *done;
                tracing::info!(segments_before, segments_after, purged, "compacted");
            }
            Err(error) => tracing::error!(%error, "the index could not be compacted"),
        }
        self.tell_compacting(false);
        if let Some(reply) = reply {
            let response = |done| CompactResponse { done: true, compaction: Some(done) };
            reply.send(refreshed.map(response).map_err(|error| match error {
                Error::Conflict { .. } => Failure::new(
                    StatusCode::CONFLICT,
                    "conflict",
                    "documents were replaced faster than segments could be merged; ask again",
                ),
                error => Failure::from(error),
            }));
        }
    }

    /// Merges that have ended are made use of, and it may be time to compact.
    fn tick(&mut self) {
        self.metrics.merged(self.index.merges());
        // Who asks whether the service can write need not write to find out.
        if self.status.failed.load(Ordering::Relaxed) {
            let _ = self.writer();
        }
        if let Err(error) = self.published.refresh(&self.metrics) {
            tracing::error!(%error, "the index cannot be read again");
        }
        let is_due = |daily: &mut Daily| daily.is_due(&Zoned::now());
        if self.settings.compact_at.as_mut().is_some_and(is_due) && self.running.is_none() {
            tracing::info!("it is time to compact");
            self.running = Some(Running { segments: 1, tries: 0, reply: None });
            self.begin_compaction();
        }
    }

    fn uncommitted(&self) -> u64 {
        self.writer.as_ref().map_or(0, |writer| writer.uncommitted() as u64)
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

/// Segments of fewer documents are left out of a compaction that is begun for so many times. Small ones
/// are those that go away meanwhile; in a small index it costs little to try again with all.
fn documents_min(tries: u32, documents: u64) -> u32 {
    let share = match tries {
        1 => 0,
        tries => (documents / 10_000).saturating_mul(8u64.saturating_pow(tries - 2)),
    };
    let least = 8u64.saturating_pow(tries.saturating_sub(5)) - 1;
    u32::try_from(share.max(least)).unwrap_or(u32::MAX)
}

fn add(writer: &mut Writer, documents: Vec<Signed>, response: &mut AddResponse) -> Result<()> {
    for signed in documents {
        match writer.add(signed)? {
            Outcome::Added => response.report.added += 1,
            Outcome::Replaced => response.report.replaced += 1,
            Outcome::Unchanged => response.report.unchanged += 1,
        }
    }
    Ok(())
}
