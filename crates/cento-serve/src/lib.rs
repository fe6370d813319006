//! How do other programs ask, and add?
//!
//! HTTP over one index: a searcher over its last commit, replaced when a commit lands, and the index's
//! only writer. A request is answered from one commit, whole. Searches run on threads of their own, so
//! many at a time as there are processors; documents are signed and written by threads that give way to
//! them. Everything that waits or takes memory is bounded; what is too much is turned away with a
//! status that says so. The bodies are those of [`api`](cento_client::api).

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
mod memory;
mod metrics;
mod priority;
mod process;
mod published;
mod routes;
mod schedule;
mod service_file;
mod shards;
mod tokens;
mod turns;
mod watch;
mod writer;

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use crossbeam::channel::Sender;
use jiff::civil::Time;

pub use cento_client::{DEFAULT_PORT, ServiceFile};
pub use cors::Origins;
pub use follow::{Follow, Newest, Upstream};
pub use ipnet::IpNet;
pub use tokens::{Role, Tokens};

use app::{App, Source, WriterChannels};
use cento::budget::ByteBudget;
use cento::fault::Faults;
use cento::index::Index;
use cento::scheme::frequency::FrequencyTable;
use cento::{Error, Result};
use cento_source::SourceOptions;
use command::Command;
use follow::Follower;
use ingest::Signers;
use metrics::Metrics;
use published::Published;
use schedule::Daily;
use shards::Shards;
use watch::Watcher;
use writer::{Status, WriterSenders, WriterSettings, WriterThread};

/// A measure that would take more steps, about ten seconds, is not begun: on a busy machine it would
/// not end within the time limit that is the default.
const STEPS_MAX: u64 = 1_000_000_000;

/// Returns the document of the API (OpenAPI 3.1). Every service of this version answers with it.
pub fn openapi() -> &'static str {
    routes::OPENAPI
}

/// Derives the document of the API from the routes and their types; [`openapi()`] is what this
/// returned when `openapi.json` was last written.
#[cfg(feature = "openapi")]
pub fn derive_openapi() -> String {
    format!("{:#}\n", routes::openapi::document())
}

/// How a service works.
#[derive(Clone)]
pub struct Settings {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Who may do what.
    pub tokens: Tokens,
    /// The maximum size of a request body, in bytes.
    pub body_bytes_max: usize,
    /// The maximum number of searches in a batch.
    pub batch_max: usize,
    /// The maximum number of requests that are answered at a time.
    pub requests_max: usize,
    /// The maximum number of open connections.
    pub connections_max: usize,
    /// A request takes no longer.
    pub timeout: Duration,
    /// A connection may be idle between two requests for this time.
    pub idle_timeout: Duration,
    /// The web pages of other sites that may ask, with a token.
    pub cors_origins: Origins,
    /// The proxies that are believed whom they ask for.
    pub trusted_proxies: Vec<IpNet>,
    /// When the service stops, requests that have been begun are finished within this time, and so are
    /// merges; what has been acknowledged is committed however long that takes.
    pub shutdown_timeout: Duration,
    /// Searches that run at a time.
    pub threads: usize,
    /// The memory for bodies and for documents on their way into the index.
    pub memory_bytes: usize,
    /// An acknowledged document is committed within this time.
    pub commit_interval: Duration,
    /// The time of the day at which the index is compacted.
    pub compact_at: Option<Time>,
    /// The directory with the finished indexes that clients may have merged; none may be without.
    pub shard_dir: Option<PathBuf>,
    /// What weighs the words of measures that know a collection.
    pub frequencies: Option<Arc<FrequencyTable>>,
    /// Log every request.
    pub log_requests: bool,
    /// How files are read that are sent as they are.
    pub source: SourceOptions,
    /// What a test makes fail.
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
            shutdown_timeout: Duration::from_secs(30),
            threads: cento::available_threads(),
            memory_bytes: 512 << 20,
            commit_interval: Duration::from_secs(5),
            compact_at: None,
            shard_dir: None,
            frequencies: None,
            log_requests: false,
            source: SourceOptions::default(),
            faults: Faults::default(),
        }
    }
}

/// A service that is ready to run.
pub struct Service {
    /// Where it says where it listens; nowhere if the index is another process's.
    dir: Option<PathBuf>,
    listener: TcpListener,
    app: Arc<App>,
    changes: Changes,
}

/// Where new commits come from.
enum Changes {
    /// From requests: threads that sign, and the writer.
    Written { index: Index, commands: Sender<Command>, signers: Signers, writer: WriterThread },
    /// From elsewhere.
    Followed(Follower),
    /// From other processes on this machine.
    Watched(Watcher),
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
    /// When there is no index, another process writes to it, or the address is taken.
    pub fn bind(path: &Path, mut settings: Settings) -> Result<Service> {
        let shards = settings.shard_dir.as_deref().map(Shards::below).transpose()?;
        let listener = listen(&mut settings)?;
        let metrics = Arc::new(Metrics::new());
        let published = Arc::new(Published::open(path, &metrics)?);
        let status = Arc::new(Status::new());
        let writer_settings = WriterSettings {
            memory_bytes: settings.memory_bytes / 2,
            commit_interval: settings.commit_interval,
            compact_at: settings
                .compact_at
                .map(|time| Daily::new(time, schedule::now(SystemTime::now()).as_ref())),
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
        // A half is the writer's.
        let memory = ByteBudget::new(settings.memory_bytes / 2);
        let (signers, unsigned) = Signers::start(settings.threads, &index, &documents, &memory);
        let ways = WriterChannels { unsigned, commands: commands.clone() };
        let source = Source::Own;
        let app = App::new(settings, metrics, status, (published, source), ways, (shards, memory));
        let dir = Some(index.path().to_owned());
        let changes = Changes::Written { index, commands, signers, writer };
        Ok(Service { dir, listener, app: Arc::new(app), changes })
    }

    /// Serves the newest commit of an index that is written elsewhere, and every later one as it comes.
    /// Nobody can write through this service.
    ///
    /// # Errors
    /// When no commit can be had at all, or the address is taken.
    pub fn follow(follow: Follow, mut settings: Settings) -> Result<Service> {
        let listener = listen(&mut settings)?;
        let metrics = Arc::new(Metrics::of_follower());
        let dir = Some(follow.dir.clone());
        let (follower, published, following) = Follower::start(follow, &metrics)?;
        let current = (published, Source::Followed(following));
        let app = App::read_only(settings, metrics, Arc::new(Status::new()), current);
        Ok(Service { dir, listener, app: Arc::new(app), changes: Changes::Followed(follower) })
    }

    /// Serves the indexes at `paths` as if they were one: each answer is that of an index with all their
    /// documents, and names the index of each, if there are several. What other processes commit is seen within
    /// about a second. Nobody can write through this service, and nothing is written to the directories.
    ///
    /// # Errors
    /// When an index cannot be opened, they do not fit each other ([`Snapshot::union`]), or the address is
    /// taken.
    ///
    /// [`Snapshot::union`]: cento::index::Snapshot::union
    pub fn over(paths: &[PathBuf], mut settings: Settings) -> Result<Service> {
        let listener = listen(&mut settings)?;
        let metrics = Arc::new(Metrics::new());
        let published = Arc::new(Published::open_all(paths, &metrics)?);
        let status = Arc::new(Status::new());
        let watcher = Watcher::start(published.clone(), metrics.clone(), status.clone())?;
        let source = if paths.len() == 1 { Source::ReadOnly } else { Source::Others };
        let app = App::read_only(settings, metrics, status, (published, source));
        let changes = Changes::Watched(watcher);
        Ok(Service { dir: None, listener, app: Arc::new(app), changes })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.app.settings.listen
    }

    /// Its routes, to be asked without a socket: for tests.
    #[doc(hidden)]
    pub fn router(&self) -> axum::Router {
        routes::router(self.app.clone())
    }

    /// Answers until `stop`; then finishes what has been begun, commits what has been acknowledged,
    /// and returns. Limits what the allocator of the process keeps of freed memory.
    ///
    /// # Errors
    /// When the threads that answer cannot be started, or the last commit fails.
    pub fn run(self, stop: Arc<AtomicBool>) -> Result<()> {
        let Service { dir, listener, app, changes } = self;
        allocator::give_back();
        let shutdown_timeout = app.settings.shutdown_timeout;
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
            let serve =
                connection::serve(listener, router, app.clone(), stop.clone(), shutdown_timeout);
            let mark = async {
                while !stop.load(Ordering::Relaxed) {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                app.is_stopping.store(true, Ordering::Relaxed);
            };
            tokio::join!(serve, mark);
            Ok::<(), Error>(())
        })?;
        runtime.shutdown_timeout(Duration::ZERO);
        // With the last of these the signers have nothing to wait for; then the writer commits.
        drop(app);
        match changes {
            Changes::Written { index, commands, signers, writer } => {
                signers.join();
                // Before the lock is given up: it may be another's by then.
                drop(here);
                let _ = commands.send(Command::Stop);
                writer.join(&index, shutdown_timeout)
            }
            Changes::Followed(follower) => {
                drop(here);
                follower.join();
                Ok(())
            }
            Changes::Watched(watcher) => {
                watcher.join();
                Ok(())
            }
        }
    }
}

/// Begins to listen; the settings then have the port.
fn listen(settings: &mut Settings) -> Result<TcpListener> {
    let wanted = settings.listen;
    let failed = |e| Error::io("listen on", wanted.to_string(), e);
    let listener = TcpListener::bind(wanted).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    settings.listen = listener.local_addr().map_err(failed)?;
    Ok(listener)
}
