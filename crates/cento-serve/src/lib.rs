//! HTTP service over an index.
//!
//! The service has a searcher over the last commit, replaced after each new commit, and the only
//! writer of the index. Each answer comes from a single commit. Searches run on separate threads,
//! as many at a time as there are processors. Threads that sign and write documents give way to
//! searches. Queues and memory are bounded, and a request beyond a limit gets a status that tells
//! you the reason. You find the bodies of requests and answers in [`cento_api::http`].

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
pub use webhooks::{Poster, WebhookBackoff};

use app::{App, ServedIndex, Source, WriterChannels};
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
use published::{PublishedCommit, unlocked};
use schedule::Daily;
use shards::Shards;
use webhooks::Webhooks;
use writer::{Status, WriterSenders, WriterSettings, WriterThread};

/// The maximum steps of a measure, which take about ten seconds. A busy machine could not finish
/// more within the default time limit.
const STEPS_MAX: u64 = 1_000_000_000;

/// Returns the document of the API (OpenAPI 3.1). All services of a version have the same document.
pub fn openapi() -> &'static str {
    known_fields::OPENAPI
}

/// The settings of a service.
#[derive(Clone)]
pub struct Settings {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// The tokens of clients with their roles. Without tokens every client may do everything.
    pub tokens: Tokens,
    /// The maximum size of a request body, in bytes.
    pub body_bytes_max: usize,
    /// The maximum number of searches in a batch, and of files in a request.
    pub batch_max: usize,
    /// The maximum number of requests in progress.
    pub requests_max: usize,
    /// The maximum number of open connections.
    pub connections_max: usize,
    /// The time limit of a request.
    pub timeout: Duration,
    /// How long a connection may be idle between two requests.
    pub idle_timeout: Duration,
    /// The origins of other sites whose pages may send requests, with a token.
    pub cors_origins: Origins,
    /// The proxies whose headers are trusted for the address of the client.
    pub trusted_proxies: Vec<IpNet>,
    /// How long to answer requests after the signal to stop. Meanwhile `/readyz` answers 503, so
    /// that load balancers stop sending requests in time.
    pub drain: Duration,
    /// How long to finish requests and merges in progress when the service stops. Acknowledged
    /// documents are committed however long that takes.
    pub shutdown_timeout: Duration,
    /// The maximum number of searches at a time.
    pub threads: usize,
    /// The memory, in bytes, for bodies and for documents on their way into the index.
    pub memory_bytes: usize,
    /// The maximum time until an acknowledged document is committed.
    pub commit_interval: Duration,
    /// The time of day to compact the index.
    pub compact_at: Option<Time>,
    /// The directory of finished indexes for merges. `None` forbids merges.
    pub shard_dir: Option<PathBuf>,
    /// The frequency table for measures that weigh words by frequency.
    pub frequencies: Option<Arc<FrequencyTable>>,
    /// The key of the indexes, if their fingerprints depend on a key. Without the key the service
    /// can search only for signatures and stored documents.
    pub key: Option<Key>,
    /// Whether to log every request, instead of server errors only.
    pub log_requests: bool,
    /// The options for reading files that clients send.
    pub source: SourceOptions,
    /// Sends events to webhooks. `None` forbids webhooks.
    pub poster: Option<Arc<dyn Poster>>,
    /// The first and the longest time before a failed post is tried again.
    pub webhook_backoff: WebhookBackoff,
    /// Injected faults for tests.
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
            webhook_backoff: WebhookBackoff {
                first: Duration::from_secs(1),
                longest: Duration::from_secs(3600),
            },
            faults: Faults::default(),
        }
    }
}

/// A service that is ready to run.
pub struct Service {
    /// The directory for the file with the address, or `None` if another process owns the index.
    dir: Option<PathBuf>,
    listener: TcpListener,
    app: Arc<App>,
    changes: CommitSource,
}

/// Where new commits come from.
enum CommitSource {
    /// From requests, through signing threads, the writer, and threads that follow up commits.
    Written {
        index: Index,
        commands: Sender<Command>,
        signers: Signers,
        writer: WriterThread,
        matching: (Arc<Matching>, JoinHandle<()>),
        webhooks: Option<Webhooks>,
    },
    /// From an index with a writer elsewhere.
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
    /// Opens the index at `path` and its writer, and begins to listen.
    ///
    /// # Errors
    /// When there is no index, another process writes to it, or the address is in use.
    pub fn bind(path: &Path, mut settings: Settings) -> Result<Service> {
        let shards = settings.shard_dir.as_deref().map(Shards::below).transpose()?;
        let listener = listen(&mut settings)?;
        let metrics = Arc::new(Metrics::new());
        let published = Arc::new(PublishedCommit::open(path, settings.key.as_ref(), &metrics)?);
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
        // The writer uses the second half.
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
        let served = ServedIndex { published, source: Source::Own, shards };
        let app = App::new(settings, metrics, status, served, ways, memory);
        let dir = Some(index.path().to_owned());
        let changes =
            CommitSource::Written { index, commands, signers, writer, matching, webhooks };
        Ok(Service { dir, listener, app: Arc::new(app), changes })
    }

    /// Serves the newest commit of an index that is written elsewhere, and later commits as they
    /// arrive. This service accepts no writes.
    ///
    /// # Errors
    /// When no commit can be fetched, or the address is in use.
    pub fn follow(follow: Follow, mut settings: Settings) -> Result<Service> {
        let listener = listen(&mut settings)?;
        let metrics = Arc::new(Metrics::of_follower());
        let dir = Some(follow.dir.clone());
        let (follower, published, following) =
            Follower::start(follow, settings.key.clone(), &metrics)?;
        let (status, source) = (Arc::new(Status::new()), Source::Followed(following));
        let app = App::read_only(settings, metrics, status, published, source);
        Ok(Service { dir, listener, app: Arc::new(app), changes: CommitSource::Followed(follower) })
    }

    /// Serves several indexes like a single index. An answer equals the answer of an index with all
    /// documents and, if there are several indexes, adds the index of each document. The service
    /// sees commits of other processes within about a second. It accepts no writes, and writes
    /// nothing to the directories.
    ///
    /// # Errors
    /// When an index cannot be opened, the indexes do not fit together ([`Snapshot::union`]), or
    /// the address is in use.
    ///
    /// [`Snapshot::union`]: cento::index::Snapshot::union
    pub fn over(paths: &[PathBuf], mut settings: Settings) -> Result<Service> {
        let listener = listen(&mut settings)?;
        let metrics = Arc::new(Metrics::new());
        let published =
            Arc::new(PublishedCommit::open_all(paths, settings.key.as_ref(), &metrics)?);
        let status = Arc::new(Status::new());
        let poller = CommitPoller::start(published.clone(), metrics.clone(), status.clone())?;
        let source = if paths.len() == 1 { Source::ReadOnly } else { Source::Others };
        let app = App::read_only(settings, metrics, status, published, source);
        let changes = CommitSource::Polled(poller);
        Ok(Service { dir: None, listener, app: Arc::new(app), changes })
    }

    /// Returns the address that the service listens on.
    pub fn address(&self) -> SocketAddr {
        self.app.settings.listen
    }

    /// Returns the routes, for tests without a socket.
    #[doc(hidden)]
    pub fn router(&self) -> axum::Router {
        routes::router(self.app.clone())
    }

    /// Answers requests until `stop`, and for [`Settings::drain`] afterwards. Then finishes
    /// requests in progress, commits acknowledged documents, and returns. Limits the freed memory
    /// that the allocator of the process keeps.
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
        // Dropping the last sender ends the signing threads. Then the writer commits.
        drop(app);
        match changes {
            CommitSource::Written { index, commands, signers, writer, matching, webhooks } => {
                signers.join();
                // Remove the file before releasing the lock, because another process may own the
                // file afterwards.
                drop(here);
                let _ = commands.send(Command::Stop);
                let committed = writer.join(&index, shutdown_timeout);
                matching.0.end();
                // The thread has reported a panic already.
                let _ = matching.1.join();
                if let Some(webhooks) = webhooks {
                    webhooks.join();
                }
                committed
            }
            CommitSource::Followed(follower) => {
                drop(here);
                follower.join();
                Ok(())
            }
            CommitSource::Polled(poller) => {
                poller.join();
                Ok(())
            }
        }
    }
}

/// Starts to listen, and puts the actual port into the settings.
fn listen(settings: &mut Settings) -> Result<TcpListener> {
    let wanted = settings.listen;
    let failed = |e| Error::io("listen on", wanted.to_string(), e);
    let listener = TcpListener::bind(wanted).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    settings.listen = listener.local_addr().map_err(failed)?;
    Ok(listener)
}
