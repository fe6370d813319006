//! How does a service follow an index that is written elsewhere?
//!
//! A thread looks for commits every few seconds, has them brought to a directory of their own, opens
//! them, and publishes the searcher. Requests that have begun keep the one that they took. What goes
//! wrong is logged and tried again; searches go on over what there is.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::metrics::Metrics;
use super::priority;
use super::published::Published;
use cento::index::Index;
use cento::{Error, Result};

/// Where commits come from.
pub trait Upstream: Send {
    /// Looks for the newest commit, and whether the `served` one belongs to it.
    ///
    /// # Errors
    /// When that cannot be found out.
    fn newest(&self, served: Option<u64>) -> Result<Newest>;

    /// The newest commit that is on this machine, and the directory of its index.
    fn present(&self) -> Option<(u64, PathBuf)>;

    /// Brings a commit to this machine, beside the one that is served; returns the directory of its index.
    /// Ends soon after `stop`.
    ///
    /// # Errors
    /// When it cannot be brought, or is damaged.
    fn fetch(&self, commit: u64, served: Option<u64>, stop: &AtomicBool) -> Result<PathBuf>;

    /// Only this commit is needed any more.
    fn keep_only(&self, commit: u64);
}

/// What an upstream says is newest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Newest {
    /// The number of the commit; 0 if there is none.
    pub commit: u64,
    /// Whether the upstream began anew: the commit that is served is none of its.
    pub is_restarted: bool,
}

/// What a service follows, and how.
pub struct Follow {
    /// Where commits come from.
    pub upstream: Box<dyn Upstream>,
    /// The directory in which the service says where it listens.
    pub dir: PathBuf,
    /// The time between two looks.
    pub interval: Duration,
    /// A service that has been behind for longer is not ready.
    pub lag_max: Option<Duration>,
}

impl std::fmt::Debug for Follow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Follow").field("dir", &self.dir).finish_non_exhaustive()
    }
}

/// How far a follower has come.
pub struct Following {
    served: AtomicU64,
    newest: AtomicU64,
    restarted: AtomicBool,
    times: Mutex<Times>,
    lag_max: Option<Duration>,
}

struct Times {
    /// Since when there has been a commit that is not served.
    behind: Option<Instant>,
    /// When the upstream last said what is newest.
    seen: Instant,
}

impl Following {
    /// The number of the commit that is served.
    pub fn served(&self) -> u64 {
        self.served.load(Ordering::Relaxed)
    }

    /// The number of the newest commit that is known.
    pub fn newest(&self) -> u64 {
        self.newest.load(Ordering::Relaxed)
    }

    /// Whether the upstream began anew, so that there is nothing to follow.
    pub fn is_restarted(&self) -> bool {
        self.restarted.load(Ordering::Relaxed)
    }

    /// For how long there has been a newer commit than the one that is served, or another history, as far
    /// as is known.
    pub fn lag(&self) -> Duration {
        self.times().behind.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// How long ago the upstream last answered.
    pub fn unseen(&self) -> Duration {
        self.times().seen.elapsed()
    }

    /// Whether it has been behind, or without an answer, for longer than is allowed.
    pub fn is_late(&self) -> bool {
        self.lag_max.is_some_and(|max| self.lag() > max || self.unseen() > max)
    }

    fn times(&self) -> std::sync::MutexGuard<'_, Times> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of what is newest; returns whether the upstream has begun anew since the last look.
    fn saw(&self, newest: Newest) -> bool {
        let mut times = self.times();
        times.seen = Instant::now();
        self.newest.store(newest.commit, Ordering::Relaxed);
        let was_restarted = self.restarted.swap(newest.is_restarted, Ordering::Relaxed);
        if newest.commit <= self.served() && !newest.is_restarted {
            times.behind = None;
        } else if times.behind.is_none() {
            times.behind = Some(Instant::now());
        }
        newest.is_restarted && !was_restarted
    }

    fn serves(&self, commit: u64) {
        let mut times = self.times();
        self.served.store(commit, Ordering::Relaxed);
        if self.newest() <= commit {
            times.behind = None;
        }
    }
}

/// The thread that follows.
pub struct Follower {
    thread: JoinHandle<()>,
    stop: Arc<AtomicBool>,
}

impl Follower {
    /// Opens what is on this machine or, if there is nothing, waits for the newest commit to come; then
    /// starts the thread.
    ///
    /// # Errors
    /// When there is nothing and nothing can be brought.
    pub fn start(
        follow: Follow,
        metrics: &Arc<Metrics>,
    ) -> Result<(Follower, Arc<Published>, Arc<Following>)> {
        let Follow { upstream, interval, lag_max, .. } = follow;
        let (commit, published) = open_present(upstream.as_ref(), metrics).map_or_else(
            || -> Result<(u64, Published)> {
                let newest = upstream.newest(None)?.commit;
                let dir = upstream.fetch(newest, None, &AtomicBool::new(false))?;
                Ok((newest, Published::open(&dir, metrics)?))
            },
            Ok,
        )?;
        let published = Arc::new(published);
        upstream.keep_only(commit);
        let times = Times { behind: None, seen: Instant::now() };
        let following = Arc::new(Following {
            served: AtomicU64::new(commit),
            newest: AtomicU64::new(commit),
            restarted: AtomicBool::new(false),
            times: Mutex::new(times),
            lag_max,
        });
        let stop: Arc<AtomicBool> = Arc::default();
        let follows = Follows {
            upstream,
            published: published.clone(),
            following: following.clone(),
            metrics: metrics.clone(),
            stop: stop.clone(),
        };
        let thread = std::thread::Builder::new().name("follow".into()).spawn(move || {
            // What is fetched is compared with digests, which takes a processor from searches.
            priority::give_way();
            follows.run(interval);
        });
        let thread = thread.map_err(|e| Error::io("start", "the thread that follows", e))?;
        Ok((Follower { thread, stop }, published, following))
    }

    /// Ends the thread.
    pub fn join(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.thread().unpark();
        // A panic has been reported where it happened.
        let _ = self.thread.join();
    }
}

/// Opens what is on this machine. What is damaged there is removed, to be fetched again.
fn open_present(upstream: &dyn Upstream, metrics: &Metrics) -> Option<(u64, Published)> {
    let (commit, dir) = upstream.present()?;
    match Published::open(&dir, metrics) {
        Ok(published) => Some((commit, published)),
        Err(error) => {
            tracing::warn!(%error, "the copy on this machine cannot be used; it is fetched again");
            upstream.keep_only(0);
            None
        }
    }
}

/// What the thread has.
struct Follows {
    upstream: Box<dyn Upstream>,
    published: Arc<Published>,
    following: Arc<Following>,
    metrics: Arc<Metrics>,
    stop: Arc<AtomicBool>,
}

impl Follows {
    fn run(&self, interval: Duration) {
        while !self.stop.load(Ordering::Relaxed) {
            match Error::catch("following", || self.step()) {
                Ok(()) => {}
                Err(Error::Cancelled) => return,
                Err(error) => {
                    self.metrics.follow_failures.inc();
                    tracing::warn!(%error, "cannot follow; searches continue, and it is tried again");
                }
            }
            std::thread::park_timeout(interval);
        }
    }

    fn step(&self) -> Result<()> {
        let served = self.following.served();
        let newest = self.upstream.newest(Some(served))?;
        if self.following.saw(newest) {
            tracing::error!(
                served,
                newest = newest.commit,
                "what is served is not in the store any more, which was emptied or started again; it is \
                 served until the service is stopped and the directory of its copy removed"
            );
        }
        let newest = newest.commit;
        if newest <= served || self.following.is_restarted() {
            return Ok(());
        }
        let dir = self.upstream.fetch(newest, Some(served), &self.stop)?;
        self.published.replace(Index::open_for_search(dir)?, &self.metrics)?;
        let lag_ms = self.following.lag().as_millis() as u64;
        self.following.serves(newest);
        self.upstream.keep_only(newest);
        tracing::info!(manifest = newest, lag_ms, "serving a newer commit");
        Ok(())
    }
}
