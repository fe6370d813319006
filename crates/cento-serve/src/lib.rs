//! HTTP service over one index.
//!
//! It has a searcher over the last commit, replaced after each new commit, and the index's only
//! writer. Each answer comes from a single commit. Searches run on threads of their own, as many at
//! a time as there are processors; documents are signed and written by threads that give way to
//! searches. All queues and all memory are bounded; a request beyond a limit is turned away with a
//! status that names the reason. The bodies are those of [`cento_api::http`].

mod allocator;
mod answer;
mod app;
mod batch;
mod body;
mod caller;
mod command;
mod connection;
mod cors;
mod encoding;
mod exposition;
mod failure;
mod files;
mod follow;
mod guard;
mod ingest;
mod known_fields;
mod lines;
mod matching;
mod memory;
mod metrics;
mod poll;
mod priority;
mod process;
mod published;
mod query;
mod readable;
mod routes;
mod schedule;
mod service_file;
mod shards;
mod tokens;
mod turns;
mod webhooks;
mod writer;
mod wrong_field;

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use crossbeam::channel::Sender;
use jiff::civil::Time;

pub use cento_api::{DEFAULT_PORT, ServiceFile};
pub use cors::Origins;
pub use follow::{Follow, Newest, Upstream};
pub use ipnet::IpNet;
pub use tokens::{Role, Tokens};
pub use webhooks::Poster;

use app::{App, Source, WriterChannels};
use cento::Stop;
use cento::index::Index;
use cento::runtime::ByteBudget;
use cento::runtime::Faults;
use cento::scheme::frequency::FrequencyTable;
use cento::{Error, Key, Result};
use cento_source::SourceOptions;
use command::Command;
use follow::Follower;
use ingest::Signers;
use matching::Matching;
use metrics::Metrics;
use poll::CommitPoller;
use published::{Published, unlocked};
use schedule::Daily;
use shards::Shards;
use webhooks::Webhooks;
use writer::{Status, WriterSenders, WriterSettings, WriterThread};

/// A measure that would take more steps, about ten seconds, is not started: on a busy machine it
/// would not end within the default time limit.
const STEPS_MAX: u64 = 1_000_000_000;

/// Returns the document of the API (OpenAPI 3.1). Every service of this version answers with it.
pub fn openapi() -> &'static str {
    known_fields::OPENAPI
}

/// The settings of a service.
#[derive(Clone)]
pub struct Settings {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// The tokens of the clients, with their roles.
    pub tokens: Tokens,
    /// The maximum size of a request body, in bytes.
    pub body_bytes_max: usize,
    /// The maximum number of searches in a batch.
    pub batch_max: usize,
    /// The maximum number of requests in progress.
    pub requests_max: usize,
    /// The maximum number of open connections.
    pub connections_max: usize,
    /// The time limit of a request.
    pub timeout: Duration,
    /// A connection may be idle between two requests for this time.
    pub idle_timeout: Duration,
    /// The web pages of other sites that may send requests, with a token.
    pub cors_origins: Origins,
    /// The proxies whose headers are trusted for the address of the client.
    pub trusted_proxies: Vec<IpNet>,
    /// Between the request to stop and its beginning, `/readyz` answers 503 for this time, and all
    /// other requests are answered: a load balancer learns of the end before it comes.
    pub drain: Duration,
    /// When the service stops, requests and merges in progress are finished within this time;
    /// acknowledged documents are committed however long that takes.
    pub shutdown_timeout: Duration,
    /// Searches that run at a time.
    pub threads: usize,
    /// The memory for bodies and for documents on their way into the index.
    pub memory_bytes: usize,
    /// The maximum time until an acknowledged document is committed.
    pub commit_interval: Duration,
    /// The time of day to compact the index.
    pub compact_at: Option<Time>,
    /// The directory of finished indexes that clients may merge; without it clients may merge none.
    pub shard_dir: Option<PathBuf>,
    /// The frequency table for measures that weigh words by it.
    pub frequencies: Option<Arc<FrequencyTable>>,
    /// The key of the indexes, if their fingerprints depend on one. Without it the service searches
    /// for signatures and stored documents alone.
    pub key: Option<Key>,
    /// Log every request.
    pub log_requests: bool,
    /// The options for reading files that clients send.
    pub source: SourceOptions,
    /// The sender of events to webhooks; without it no watch has one.
    pub poster: Option<Arc<dyn Poster>>,
    /// The first and the longest time before a post that failed is tried again.
    pub webhook_backoff: (Duration, Duration),
    /// The faults that a test injects.
    #[doc(hidden)]
    pub faults: Faults,
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings").finish_non_exhaustive()
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            listen: SocketAddr::from(([127, 0, 0, 1], DEFAULT_PORT)),
            tokens: Tokens::default(),
            body_bytes_max: 16 << 20,
            batch_max: 1000,
            requests_max: 256,
            connections_max: 1024,
            timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(75),
            cors_origins: Origins::default(),
            trusted_proxies: Vec::new(),
            drain: Duration::ZERO,
            shutdown_timeout: Duration::from_secs(30),
            threads: cento::available_threads(),
            memory_bytes: 512 << 20,
            commit_interval: Duration::from_secs(5),
            compact_at: None,
            shard_dir: None,
            frequencies: None,
            key: None,
            log_requests: false,
            source: SourceOptions::default(),
            poster: None,
            webhook_backoff: (Duration::from_secs(1), Duration::from_secs(3600)),
            faults: Faults::default(),
        }
    }
}

/// A service that is ready to run.
pub struct Service {
    /// The directory for the file with its address; `None` if the index belongs to another process.
    dir: Option<PathBuf>,
    listener: TcpListener,
    app: Arc<App>,
    changes: Changes,
}

/// The source of new commits.
enum Changes {
    /// From requests: threads that sign, the writer, and what follows each commit.
    Written {
        index: Index,
        commands: Sender<Command>,
        signers: Signers,
        writer: WriterThread,
        matching: (Arc<Matching>, JoinHandle<()>),
        webhooks: Option<Webhooks>,
    },
    /// From an index that is written elsewhere.
    Followed(Follower),
    /// From other processes on this machine.
    Polled(CommitPoller),
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service").finish_non_exhaustive()
    }
}

impl Service {
    /// Opens the index at `path`, with its writer, and begins to listen.
    ///
    /// # Errors
    /// When there is no index, another process writes to it, or the address is in use.
    pub fn bind(path: &Path, mut settings: Settings) -> Result<Service> {
        let shards = settings.shard_dir.as_deref().map(Shards::below).transpose()?;
        let listener = listen(&mut settings)?;
        let metrics = Arc::new(Metrics::new());
        let published = Arc::new(Published::open(path, settings.key.as_ref(), &metrics)?);
        let status = Arc::new(Status::new());
        let matching = Matching::start(unlocked(Index::open(path)?, settings.key.as_ref())?)?;
        let writer_settings = WriterSettings {
            matching: matching.0.clone(),
            memory_bytes: settings.memory_bytes / 2,
            commit_interval: settings.commit_interval,
            compact_at: settings
                .compact_at
                .map(|time| Daily::new(time, schedule::now(SystemTime::now()).as_ref())),
            key: settings.key.clone(),
            faults: settings.faults.clone(),
        };
        let (writer, index, outgoing) = WriterThread::start(
            path,
            writer_settings,
            published.clone(),
            metrics.clone(),
            status.clone(),
        )?;
        let WriterSenders { documents, others: commands } = outgoing;
        // The writer has the other half.
        let memory = ByteBudget::new(settings.memory_bytes / 2);
        let (signers, unsigned) = Signers::start(settings.threads, &index, &documents, &memory)?;
        let backoff = settings.webhook_backoff;
        let webhooks = settings
            .poster
            .clone()
            .map(|poster| Webhooks::start(index.path(), matching.0.clone(), poster, backoff));
        let webhooks = webhooks.transpose()?;
        let own = Some(matching.0.clone());
        let ways = WriterChannels { unsigned, commands: commands.clone(), matching: own };
        let source = Source::Own;
        let app = App::new(settings, metrics, status, (published, source), ways, (shards, memory));
        let dir = Some(index.path().to_owned());
        let changes = Changes::Written { index, commands, signers, writer, matching, webhooks };
        Ok(Service { dir, listener, app: Arc::new(app), changes })
    }

    /// Serves the newest commit of an index that is written elsewhere, and every later one when it
    /// arrives. This service accepts no writes.
    ///
    /// # Errors
    /// When no commit can be fetched, or the address is in use.
    pub fn follow(follow: Follow, mut settings: Settings) -> Result<Service> {
        let listener = listen(&mut settings)?;
        let metrics = Arc::new(Metrics::of_follower());
        let dir = Some(follow.dir.clone());
        let (follower, published, following) =
            Follower::start(follow, settings.key.clone(), &metrics)?;
        let current = (published, Source::Followed(following));
        let app = App::read_only(settings, metrics, Arc::new(Status::new()), current);
        Ok(Service { dir, listener, app: Arc::new(app), changes: Changes::Followed(follower) })
    }

    /// Serves the indexes at `paths` as if they were one: each answer is that of an index with all
    /// their documents, and names the index of each, if there are several. Commits of other
    /// processes are seen within about a second. This service accepts no writes, and writes nothing
    /// to the directories.
    ///
    /// # Errors
    /// When an index cannot be opened, they do not fit each other ([`Snapshot::union`]), or the
    /// address is in use.
    ///
    /// [`Snapshot::union`]: cento::index::Snapshot::union
    pub fn over(paths: &[PathBuf], mut settings: Settings) -> Result<Service> {
        let listener = listen(&mut settings)?;
        let metrics = Arc::new(Metrics::new());
        let published = Arc::new(Published::open_all(paths, settings.key.as_ref(), &metrics)?);
        let status = Arc::new(Status::new());
        let poller = CommitPoller::start(published.clone(), metrics.clone(), status.clone())?;
        let source = if paths.len() == 1 { Source::ReadOnly } else { Source::Others };
        let app = App::read_only(settings, metrics, status, (published, source));
        let changes = Changes::Polled(poller);
        Ok(Service { dir: None, listener, app: Arc::new(app), changes })
    }

    /// Returns its address.
    pub fn address(&self) -> SocketAddr {
        self.app.settings.listen
    }

    /// Returns its routes, for tests without a socket.
    #[doc(hidden)]
    pub fn router(&self) -> axum::Router {
        routes::router(self.app.clone())
    }

    /// Answers requests until `stop`, and for [`Settings::drain`] after it; then finishes those in
    /// progress, commits all acknowledged documents, and returns. Limits the freed memory that the
    /// allocator of the process keeps.
    ///
    /// # Errors
    /// When the threads that answer cannot be started, or the last commit fails.
    pub fn run(self, stop: Stop) -> Result<()> {
        let Service { dir, listener, app, changes } = self;
        allocator::give_back();
        let (drain, shutdown_timeout) = (app.settings.drain, app.settings.shutdown_timeout);
        let failed = |e| Error::io("start", "the threads of the service", e);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(app.settings.threads.max(1))
            .thread_name("cento-serve")
            .enable_all()
            .build()
            .map_err(failed)?;
        let here =
            dir.map(|dir| service_file::announce(&dir, app.settings.listen, app.status.started));
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).map_err(failed)?;
            let router = routes::router(app.clone());
            let serve = connection::serve(listener, router, app.clone(), shutdown_timeout);
            let mark = async {
                while !stop.is_set() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                app.is_draining.store(true, Ordering::Relaxed);
                tokio::time::sleep(drain).await;
                app.stopping.set();
            };
            tokio::join!(serve, mark);
            Ok::<(), Error>(())
        })?;
        runtime.shutdown_timeout(Duration::ZERO);
        // This drops the last sender of the signers, which then end; then the writer commits.
        drop(app);
        match changes {
            Changes::Written { index, commands, signers, writer, matching, webhooks } => {
                signers.join();
                // Before the lock is released: from then on another process may own the file.
                drop(here);
                let _ = commands.send(Command::Stop);
                let committed = writer.join(&index, shutdown_timeout);
                matching.0.end();
                // A panic has been reported by the thread.
                let _ = matching.1.join();
                if let Some(webhooks) = webhooks {
                    webhooks.join();
                }
                committed
            }
            Changes::Followed(follower) => {
                drop(here);
                follower.join();
                Ok(())
            }
            Changes::Polled(poller) => {
                poller.join();
                Ok(())
            }
        }
    }
}

/// Starts to listen; the settings then have the port.
fn listen(settings: &mut Settings) -> Result<TcpListener> {
    let wanted = settings.listen;
    let failed = |e| Error::io("listen on", wanted.to_string(), e);
    let listener = TcpListener::bind(wanted).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    settings.listen = listener.local_addr().map_err(failed)?;
    Ok(listener)
}
