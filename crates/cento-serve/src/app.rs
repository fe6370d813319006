//! State that all requests share.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use axum::extract::Request;
use crossbeam::channel::{Sender, TrySendError, bounded};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit, oneshot};

use super::Settings;
use super::body::{self, Body, Gate, declared_length};
use super::command::{Command, QueueReservation, Reply, Unsigned};
use super::failure::Failure;
use super::follow::Following;
use super::matching::Matching;
use super::metrics::Metrics;
use super::priority;
use super::published::Published;
use super::shards::Shards;
use super::turns::{COLLECTIONS, Client, Job, LONG_WORK, Turns};
use super::writer::Status;
use cento::Stop;
use cento::runtime::ByteBudget;
use cento::search::Searcher;
use cento::{Error, Result};
use cento_api::http::{AddResponse, Commit};

/// The largest answer, that to a batch.
pub const ANSWER_BYTES_MAX: usize = 64 << 20;

/// The maximum time to read the rest of a request that is turned away.
const FORGET_TIMEOUT: Duration = Duration::from_secs(1);

/// The maximum number of requests in progress, divided by this, may write in addition to them.
const WRITE_SHARE: usize = 4;

/// The state of a running service.
pub struct App {
    pub settings: Settings,
    pub metrics: Arc<Metrics>,
    pub status: Arc<Status>,
    published: Arc<Published>,
    /// The source of its commits.
    pub source: Source,
    /// The directory of indexes that clients may merge, if they may.
    pub shards: Option<Arc<Shards>>,
    /// Whether the service listens on a loopback address only.
    pub is_loopback: bool,
    /// Whether the service is to stop soon; it answers until `stopping` is set.
    pub is_draining: AtomicBool,
    /// Set when the service stops.
    pub stopping: Stop,
    /// Bytes of requests that search.
    pub reads: Gate,
    /// Bytes of requests that add documents.
    pub writes: Gate,
    /// Bytes of answers that have not been taken yet.
    pub answers: Gate,
    /// The memory for processing the texts of requests, besides the texts themselves.
    pub memory: Arc<ByteBudget>,
    /// Requests in progress, after their arrival; others are turned away. Quick searches need no
    /// place.
    places: Semaphore,
    /// Places of requests that write, so that searches, however many, turn none away.
    write_places: Semaphore,
    /// Requests whose files are read, or whose documents are compared with each other.
    long_work: Arc<Turns>,
    /// Requests about all documents.
    pub collections: Arc<Turns>,
    /// Searches that run; others wait.
    pub running: Arc<Semaphore>,
    unsigned: Sender<Unsigned>,
    commands: Sender<Command>,
    /// The watches, if the service writes its index.
    pub matching: Option<Arc<Matching>>,
    /// Places of requests that wait for events.
    pub waiting: Arc<Semaphore>,
}

/// The source of the commits of a service.
pub enum Source {
    /// From requests.
    Own,
    /// From an index that is written elsewhere.
    Followed(Arc<Following>),
    /// From other processes that write to the index.
    ReadOnly,
    /// From other processes that write to one of several indexes.
    Others,
}

/// The queues of the threads that write.
pub struct WriterChannels {
    pub unsigned: Sender<Unsigned>,
    pub commands: Sender<Command>,
    pub matching: Option<Arc<Matching>>,
}

/// Stops a search when its request is dropped.
pub struct StopOnDrop(pub Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}

impl App {
    /// Returns the state of a service that starts.
    pub fn new(
        settings: Settings,
        metrics: Arc<Metrics>,
        status: Arc<Status>,
        (published, source): (Arc<Published>, Source),
        ways: WriterChannels,
        (shards, memory): (Option<Shards>, Arc<ByteBudget>),
    ) -> App {
        let shards = shards.map(Arc::new);
        // A body needs room for the texts made from it as well.
        let gate_bytes = (settings.memory_bytes / 8).max(settings.body_bytes_max);
        App {
            places: Semaphore::new(settings.requests_max),
            write_places: Semaphore::new((settings.requests_max / WRITE_SHARE).max(1)),
            long_work: Turns::new(LONG_WORK, settings.threads),
            // Each takes half of the memory until it has found everything: two would have all.
            collections: Turns::new(COLLECTIONS, 1),
            reads: Gate::new(gate_bytes),
            writes: Gate::new(gate_bytes),
            answers: Gate::new(gate_bytes.max(ANSWER_BYTES_MAX)),
            memory,
            waiting: Arc::new(Semaphore::new(settings.requests_max)),
            running: Arc::new(Semaphore::new(settings.threads.max(1))),
            is_loopback: settings.listen.ip().is_loopback(),
            is_draining: AtomicBool::new(false),
            stopping: Stop::new(),
            shards,
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

    /// Returns the state of a service that accepts no writes.
    pub fn read_only(
        settings: Settings,
        metrics: Arc<Metrics>,
        status: Arc<Status>,
        current: (Arc<Published>, Source),
    ) -> App {
        // Requests that write are refused before they could use these.
        let ways =
            WriterChannels { unsigned: bounded(0).0, commands: bounded(0).0, matching: None };
        let memory = ByteBudget::new(settings.memory_bytes);
        App::new(settings, metrics, status, current, ways, (None, memory))
    }

    /// Returns the state of the followed index, if the service follows one.
    pub fn following(&self) -> Option<&Following> {
        match &self.source {
            Source::Followed(following) => Some(following),
            Source::Own | Source::ReadOnly | Source::Others => None,
        }
    }

    /// The searcher over the last commit.
    pub fn searcher(&self) -> Arc<Searcher> {
        self.published.current()
    }

    /// Takes a place among the requests in progress. A request that is still arriving needs no
    /// place: slow clients take none from others.
    pub fn place(&self) -> std::result::Result<SemaphorePermit<'_>, Failure> {
        self.places.try_acquire().map_err(|_| crowded())
    }

    /// Takes a place among the requests that write.
    fn write_place(&self) -> std::result::Result<SemaphorePermit<'_>, Failure> {
        self.write_places.try_acquire().map_err(|_| crowded())
    }

    /// Reads the body of a request that needs a place. If all places are taken, the request is
    /// turned away before its body is held or looked at.
    pub async fn read_body(&self, request: Request) -> std::result::Result<Body, Failure> {
        self.body_for(&self.places, &self.reads, request).await
    }

    /// Reads the body of a request that writes.
    pub async fn write_body(&self, request: Request) -> std::result::Result<Body, Failure> {
        self.body_for(&self.write_places, &self.writes, request).await
    }

    /// Reads the body of a request that needs a place only if it is long.
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
        // A client that is cut off while it sends does not read the reason.
        let forgotten = body::forget(request.into_body(), self.settings.body_bytes_max);
        let _ = tokio::time::timeout(FORGET_TIMEOUT, forgotten).await;
        Err(crowded())
    }

    /// Does long work on a thread of its own, in turn with other clients; searches go first. `job`
    /// waits for its turn before each part of it, such as a file.
    pub async fn in_turn<T: Send + 'static>(
        &self,
        client: Client,
        job: impl FnOnce(Stop, &mut Job) -> Result<T> + Send + 'static,
    ) -> std::result::Result<T, Failure> {
        let mut turn = self.long_work.enter(client)?;
        let stop = StopOnDrop(Stop::new());
        let is_unwanted = stop.0.clone();
        let (metrics, computing) = (self.metrics.clone(), self.metrics.computing());
        let (tell, done) = oneshot::channel();
        let work = move || {
            // Texts are extracted by a child process of this thread, which has its priority.
            priority::give_way();
            let result = Error::catch("long work", || job(is_unwanted, &mut turn));
            if matches!(result, Err(Error::Cancelled)) {
                metrics.stopped_computations.inc();
            }
            drop((turn, computing));
            let _ = tell.send(result);
        };
        let started = std::thread::Builder::new().name("cento-long-work".into()).spawn(work);
        started.map_err(|e| Failure::from(&Error::io("start", "a thread", e)))?;
        match done.await {
            Ok(result) => result.map_err(Failure::from),
            Err(_) => Err(Failure::internal()),
        }
    }

    /// Runs slow work on a thread of its own; the number of such threads is the number of searches
    /// that run at a time. `job` checks its argument, which is set when the client has gone, every
    /// few milliseconds, unless it ends sooner anyway.
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
            // The panic has been logged where it happened.
            Err(_) => Err(Failure::internal()),
        }
    }

    /// Waits until one more search may run.
    pub async fn turn(&self) -> std::result::Result<OwnedSemaphorePermit, Failure> {
        self.running.clone().acquire_owned().await.map_err(|_| Failure::internal())
    }

    /// Returns a permit for one more thread to search, and the count of it, if there is a processor
    /// that no other request uses or waits for.
    pub fn one_more(&self) -> Option<impl Send + use<>> {
        let permit = self.running.clone().try_acquire_owned().ok()?;
        Some((permit, self.metrics.computing()))
    }

    /// Adds the documents of a request.
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
        let sent = self.unsigned.try_send(Unsigned { body, is_lines, commit, room, reply });
        sent.map_err(turned_away)?;
        answer.await.map_err(|_| self.unanswered())?
    }

    /// Returns the failure of a request without an answer: the service stops, or there is a defect,
    /// which another request would trigger again.
    fn unanswered(&self) -> Failure {
        if self.stopping.is_set() { Failure::stopping() } else { Failure::internal() }
    }

    /// Returns the room of a body, which is taken until the writer has the documents in it.
    pub fn room(&self, body: Body) -> QueueReservation {
        let (bytes, permit) = body.into_parts();
        QueueReservation::new(permit, bytes.len(), self.metrics.clone())
    }

    /// Returns the room of a request without a body.
    pub fn no_room(&self) -> std::result::Result<QueueReservation, Failure> {
        Ok(QueueReservation::new(self.writes.enter(0)?, 0, self.metrics.clone()))
    }

    /// Sends `command` to the writer, and waits for the answer.
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
