//! The state shared by all requests.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use axum::extract::Request;
use crossbeam::channel::{Sender, TrySendError, bounded};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit, oneshot};

use super::Settings;
use super::body::{self, Body, Gate, declared_length};
use super::command::{ArrivedDocuments, Command, QueueReservation, Reply};
use super::encoding::DECODER_BYTES;
use super::failure::Failure;
use super::follow::Following;
use super::matching::Matching;
use super::metrics::Metrics;
use super::priority;
use super::published::PublishedCommit;
use super::shards::Shards;
use super::turns::{COLLECTIONS, Client, Job, LONG_WORK, Turns, event_reading};
use super::writer::Status;
use cento::Stop;
use cento::runtime::ByteBudget;
use cento::search::{Cost, Searcher};
use cento::{Error, Result};
use cento_api::http::{AddResponse, Commit};

/// The maximum size of an answer in bytes, which only a batch reaches.
pub const ANSWER_BYTES_MAX: usize = 64 << 20;

/// How long to read the remaining body of a refused request.
const FORGET_TIMEOUT: Duration = Duration::from_secs(1);

/// The number of ordinary places for every separate place of a request that writes.
const WRITE_SHARE: usize = 4;

pub struct App {
    pub settings: Settings,
    pub metrics: Arc<Metrics>,
    pub status: Arc<Status>,
    published: Arc<PublishedCommit>,
    /// Where new commits come from.
    pub source: Source,
    /// The directory of indexes for merges, if the operator allows merges.
    pub shards: Option<Arc<Shards>>,
    /// Whether the service listens on a loopback address only.
    pub is_loopback: bool,
    /// Whether the service will stop soon. Requests are answered until `stopping` is set.
    pub is_draining: AtomicBool,
    /// Set when the service stops.
    pub stopping: Stop,
    /// Bounds the bytes of requests that search.
    pub reads: Gate,
    /// Bounds the bytes of requests that add documents.
    pub writes: Gate,
    /// Bounds the bytes of answers until clients have taken the answers.
    pub answers: Gate,
    /// The memory for processing the texts of requests, in addition to the texts.
    pub memory: Arc<ByteBudget>,
    /// Places of requests in progress, counted from the arrival of the whole request. Requests
    /// without a place are turned away. Quick searches need no place.
    places: Semaphore,
    /// Separate places for writes, which searches cannot crowd out.
    write_places: Semaphore,
    /// Turns for requests with files, or with documents to compare.
    long_work: Arc<Turns>,
    /// Turns for requests about all documents of the index.
    pub collections: Arc<Turns>,
    /// Permits for running searches. Searches without a permit wait.
    pub running: Arc<Semaphore>,
    unsigned: Sender<ArrivedDocuments>,
    commands: Sender<Command>,
    /// The watches, if the service writes its index.
    pub matching: Option<Arc<Matching>>,
    /// Turns for requests that read events, including the wait for events.
    pub event_reading: Arc<Turns>,
}

pub enum Source {
    /// The service writes the index itself, on request.
    Own,
    /// The index is written elsewhere, and the service fetches its commits.
    Followed(Arc<Following>),
    /// Other processes write the index.
    ReadOnly,
    /// Other processes write the indexes, and the service searches several.
    Others,
}

/// What a service answers from.
pub struct ServedIndex {
    pub published: Arc<PublishedCommit>,
    pub source: Source,
    pub shards: Option<Shards>,
}

/// The queues to the signing threads and to the writer.
pub struct WriterChannels {
    pub unsigned: Sender<ArrivedDocuments>,
    pub commands: Sender<Command>,
    pub matching: Option<Arc<Matching>>,
}

/// Stops a search when the request is dropped because the client has gone.
pub struct StopOnDrop(pub Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}

impl App {
    pub fn new(
        settings: Settings,
        metrics: Arc<Metrics>,
        status: Arc<Status>,
        served: ServedIndex,
        ways: WriterChannels,
        memory: Arc<ByteBudget>,
    ) -> App {
        let ServedIndex { published, source, shards } = served;
        // Every allowed body has room when it is the only body: with a decoder, whose window is at
        // most as large as the body, and beside a copy of the body's parts.
        let body_bytes = settings.body_bytes_max.saturating_mul(2).saturating_add(DECODER_BYTES);
        let gate_bytes = (settings.memory_bytes / 8).max(body_bytes);
        let answer_bytes = (settings.memory_bytes / 8).max(settings.body_bytes_max);
        App {
            places: Semaphore::new(settings.requests_max),
            write_places: Semaphore::new((settings.requests_max / WRITE_SHARE).max(1)),
            long_work: Turns::new(LONG_WORK, settings.threads),
            // Two requests at a time would take all memory, because a request takes half until
            // everything is found.
            collections: Turns::new(COLLECTIONS, 1),
            reads: Gate::new(gate_bytes),
            writes: Gate::new(gate_bytes),
            answers: Gate::new(answer_bytes.max(ANSWER_BYTES_MAX)),
            memory,
            event_reading: Turns::new(event_reading(settings.requests_max), 1),
            running: Arc::new(Semaphore::new(settings.threads.max(1))),
            is_loopback: settings.listen.ip().is_loopback(),
            is_draining: AtomicBool::new(false),
            stopping: Stop::new(),
            shards: shards.map(Arc::new),
            settings,
            metrics,
            status,
            published,
            source,
            unsigned: ways.unsigned,
            commands: ways.commands,
            matching: ways.matching,
        }
    }

    /// Returns the state of a service without a writer.
    pub fn read_only(
        settings: Settings,
        metrics: Arc<Metrics>,
        status: Arc<Status>,
        published: Arc<PublishedCommit>,
        source: Source,
    ) -> App {
        // Writes are refused before any use of these channels.
        let ways =
            WriterChannels { unsigned: bounded(0).0, commands: bounded(0).0, matching: None };
        let memory = ByteBudget::new(settings.memory_bytes);
        let served = ServedIndex { published, source, shards: None };
        App::new(settings, metrics, status, served, ways, memory)
    }

    /// Returns the progress of following, if the service follows an index.
    pub fn following(&self) -> Option<&Following> {
        match &self.source {
            Source::Followed(following) => Some(following),
            Source::Own | Source::ReadOnly | Source::Others => None,
        }
    }

    /// Returns the searcher over the last commit.
    pub fn searcher(&self) -> Arc<Searcher> {
        self.published.current()
    }

    /// Takes a place among the requests in progress. Call this after the whole request has arrived,
    /// so that slow clients take no places.
    pub fn place(&self) -> std::result::Result<SemaphorePermit<'_>, Failure> {
        self.places.try_acquire().map_err(|_| crowded())
    }

    /// Takes a place among the requests that write.
    pub fn write_place(&self) -> std::result::Result<SemaphorePermit<'_>, Failure> {
        self.write_places.try_acquire().map_err(|_| crowded())
    }

    /// Reads the body of a request that needs a place. If no place is free, turns the request away
    /// without keeping the body.
    pub async fn read_body(&self, request: Request) -> std::result::Result<Body, Failure> {
        self.body_for(&self.places, &self.reads, request).await
    }

    /// Reads the body of a request that writes.
    pub async fn write_body(&self, request: Request) -> std::result::Result<Body, Failure> {
        self.body_for(&self.write_places, &self.writes, request).await
    }

    /// Reads the body of a request. Only a body longer than `bytes_max` needs a place.
    pub async fn quick_body(
        &self,
        request: Request,
        bytes_max: usize,
    ) -> std::result::Result<Body, Failure> {
        match declared_length(request.headers())? {
            Some(length) if length <= bytes_max as u64 => {
                Body::read(request, &self.reads, self.settings.body_bytes_max).await
            }
            _ => self.read_body(request).await,
        }
    }

    async fn body_for(
        &self,
        places: &Semaphore,
        gate: &Gate,
        request: Request,
    ) -> std::result::Result<Body, Failure> {
        if places.available_permits() > 0 {
            return Body::read(request, gate, self.settings.body_bytes_max).await;
        }
        // A client would not read the reason if it was cut off while sending.
        let forgotten = body::forget(request.into_body(), self.settings.body_bytes_max);
        let _ = tokio::time::timeout(FORGET_TIMEOUT, forgotten).await;
        Err(crowded())
    }

    /// Does long work on a separate thread, in turn with other clients. Searches go first. `job`
    /// waits for a turn before every part of the work, such as a file.
    pub async fn in_turn<T: Send + 'static>(
        &self,
        client: Client,
        job: impl FnOnce(Stop, &mut Job) -> Result<T> + Send + 'static,
    ) -> std::result::Result<T, Failure> {
        let turn = self.long_work.enter(client)?;
        self.with_turn(turn, |stop, mut turn| job(stop, &mut turn)).await
    }

    /// Does work on a separate thread with a low priority, for a request that has joined a queue.
    pub async fn with_turn<T: Send + 'static>(
        &self,
        turn: Job,
        job: impl FnOnce(Stop, Job) -> Result<T> + Send + 'static,
    ) -> std::result::Result<T, Failure> {
        let stop = StopOnDrop(Stop::new());
        let is_unwanted = stop.0.clone();
        let (metrics, computing) = (self.metrics.clone(), self.metrics.computing());
        let (tell, done) = oneshot::channel();
        let work = move || {
            // Texts are extracted by a child process, which inherits the priority of this thread.
            priority::give_way();
            let result = Error::catch("long work", || job(is_unwanted, turn));
            if matches!(result, Err(Error::Cancelled)) {
                metrics.stopped_computations.inc();
            }
            drop(computing);
            let _ = tell.send(result);
        };
        let started = std::thread::Builder::new().name("cento-long-work".into()).spawn(work);
        started.map_err(|e| Failure::from(&Error::io("start", "a thread", e)))?;
        match done.await {
            Ok(result) => result.map_err(Failure::from),
            Err(_) => Err(Failure::internal()),
        }
    }

    /// Runs slow work on a separate thread, with as many threads as searches may run at a time.
    /// `job` must check its argument every few milliseconds, unless it ends sooner. The argument is
    /// set when the client has gone.
    pub async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(Stop) -> Result<T> + Send + 'static,
    ) -> std::result::Result<T, Failure> {
        let _place = self.place()?;
        let permit = self.turn().await?;
        let stop = StopOnDrop(Stop::new());
        let is_unwanted = stop.0.clone();
        let (metrics, computing) = (self.metrics.clone(), self.metrics.computing());
        let done = tokio::task::spawn_blocking(move || {
            priority::let_quick_ones_go_first();
            let (_permit, _computing) = (permit, computing);
            let result = job(is_unwanted);
            if matches!(result, Err(Error::Cancelled)) {
                metrics.stopped_computations.inc();
            }
            result
        });
        match done.await {
            Ok(result) => result.map_err(Failure::from),
            // The panic has been logged already.
            Err(_) => Err(Failure::internal()),
        }
    }

    /// Runs a search on a separate thread: in turn with other clients, if the search may read every
    /// text of the index, and otherwise like [`App::run`].
    pub async fn run_search<T: Send + 'static>(
        &self,
        client: Client,
        cost: Cost,
        job: impl FnOnce(Stop) -> Result<T> + Send + 'static,
    ) -> std::result::Result<T, Failure> {
        if cost < Cost::EveryText {
            return self.run(job).await;
        }
        let in_turn = self.in_turn(client, move |stop, turn| {
            turn.wait(&stop)?;
            job(stop)
        });
        in_turn.await
    }

    /// Waits for a permit to search.
    pub async fn turn(&self) -> std::result::Result<OwnedSemaphorePermit, Failure> {
        self.running.clone().acquire_owned().await.map_err(|_| Failure::internal())
    }

    /// Returns a permit for a further searching thread, and counts the thread, if there is a
    /// processor that no request uses or waits for.
    pub fn one_more(&self) -> Option<impl Send + use<>> {
        let permit = self.running.clone().try_acquire_owned().ok()?;
        Some((permit, self.metrics.computing()))
    }

    pub async fn add(
        &self,
        body: Body,
        commit: Commit,
    ) -> std::result::Result<AddResponse, Failure> {
        let _place = self.write_place()?;
        let (reply, answer) = Reply::new();
        let is_lines = body.is_lines();
        let (body, permit) = body.into_parts();
        let room = QueueReservation::new(permit, body.len(), self.metrics.clone());
        let sent = self.unsigned.try_send(ArrivedDocuments { body, is_lines, commit, room, reply });
        sent.map_err(turned_away)?;
        answer.await.map_err(|_| self.unanswered())?
    }

    /// Returns the failure of a request without an answer. Unless the service stops, the cause is a
    /// defect that a second attempt would trigger again.
    fn unanswered(&self) -> Failure {
        if self.stopping.is_set() { Failure::stopping() } else { Failure::internal() }
    }

    /// Returns the room of a body, which is occupied until the writer has the documents.
    pub fn room(&self, body: Body) -> QueueReservation {
        let (bytes, permit) = body.into_parts();
        QueueReservation::new(permit, bytes.len(), self.metrics.clone())
    }

    /// Returns the room of a request without a body.
    pub fn no_room(&self) -> std::result::Result<QueueReservation, Failure> {
        Ok(QueueReservation::new(self.writes.enter(0)?, 0, self.metrics.clone()))
    }

    /// Sends a command to the writer and waits for the answer.
    pub async fn command<T>(
        &self,
        command: impl FnOnce(Reply<T>) -> Command,
    ) -> std::result::Result<T, Failure> {
        let _place = self.write_place()?;
        let (reply, answer) = Reply::new();
        self.commands.try_send(command(reply)).map_err(turned_away)?;
        answer.await.map_err(|_| self.unanswered())?
    }
}

fn crowded() -> Failure {
    Failure::busy("too many requests are in progress; try again later")
}

fn turned_away<T>(error: TrySendError<T>) -> Failure {
    match error {
        TrySendError::Full(_) => {
            Failure::busy("too many changes are waiting to be written; try again later")
        }
        TrySendError::Disconnected(_) => Failure::stopping(),
    }
}
