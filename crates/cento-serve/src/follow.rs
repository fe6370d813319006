//! Follows an index that is written elsewhere.
//!
//! A thread looks for commits every few seconds, fetches a commit into a separate directory, opens
//! it, and publishes the searcher. Requests in progress keep their searcher. Failures are logged
//! and tried again, while searches continue on the last commit.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::metrics::Metrics;
use super::priority;
use super::published::{PublishedCommit, unlocked};
use cento::Stop;
use cento::index::Index;
use cento::{Error, Key, Result};

/// A source of commits.
pub trait Upstream: Send {
    /// Looks for the newest commit, and whether the `served` commit belongs to its history.
    ///
    /// # Errors
    /// When the source does not answer.
    fn newest(&self, served: Option<u64>) -> Result<Newest>;

    /// Returns the newest commit on this machine and the directory of its index.
    fn present(&self) -> Option<(u64, PathBuf)>;

    /// Fetches a commit to this machine, next to the served commit, and returns the directory of
    /// its index. Ends soon after `stop`.
    ///
    /// # Errors
    /// When the commit cannot be fetched, or is damaged.
    fn fetch(&self, commit: u64, served: Option<u64>, stop: &Stop) -> Result<PathBuf>;

    /// Removes the fetched commits except `commit`.
    fn keep_only(&self, commit: u64);
}

/// The newest commit of an upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Newest {
    /// The number of the commit, 0 for an empty upstream.
    pub commit: u64,
    /// Whether the upstream began anew without the served commit in its history.
    pub is_restarted: bool,
}

/// The upstream of a service, and the options of following.
pub struct Follow {
    /// The source of commits.
    pub upstream: Box<dyn Upstream>,
    /// The directory for the file with the address of the service.
    pub dir: PathBuf,
    /// The time between two checks.
    pub interval: Duration,
    /// How long the service may be behind the upstream and still be ready.
    pub lag_max: Option<Duration>,
}

impl std::fmt::Debug for Follow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Follow").field("dir", &self.dir).finish_non_exhaustive()
    }
}

/// The progress of a follower, shared with requests.
pub struct Following {
    served: AtomicU64,
    newest: AtomicU64,
    restarted: AtomicBool,
    times: Mutex<Times>,
    lag_max: Option<Duration>,
}

struct Times {
    /// Since when the served commit has not been the newest.
    behind: Option<Instant>,
    /// When the upstream last answered.
    seen: Instant,
}

impl Following {
    /// Returns the number of the served commit.
    pub fn served(&self) -> u64 {
        self.served.load(Ordering::Relaxed)
    }

    /// Returns the number of the newest known commit.
    pub fn newest(&self) -> u64 {
        self.newest.load(Ordering::Relaxed)
    }

    /// Tells whether the upstream began anew, so that there is nothing to follow.
    pub fn is_restarted(&self) -> bool {
        self.restarted.load(Ordering::Relaxed)
    }

    /// Returns how long a newer commit, or another history, has been known.
    pub fn lag(&self) -> Duration {
        self.times().behind.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Returns the time since the last answer of the upstream.
    pub fn unseen(&self) -> Duration {
        self.times().seen.elapsed()
    }

    /// Tells whether the follower has been behind, or without an answer, for longer than allowed.
    pub fn is_late(&self) -> bool {
        self.lag_max.is_some_and(|max| self.lag() > max || self.unseen() > max)
    }

    /// Writes the progress to the metrics.
    pub fn measure(&self, metrics: &Metrics) {
        let (served, newest) = (self.served(), self.newest());
        metrics.follows(served, newest, self.lag(), self.unseen(), self.is_restarted());
    }

    fn times(&self) -> std::sync::MutexGuard<'_, Times> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the newest commit. Returns true if the upstream began anew since the last check.
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

/// The thread of a follower.
pub struct Follower {
    thread: JoinHandle<()>,
    stop: Stop,
}

impl Follower {
    /// Opens the newest commit on this machine. Without such a commit, fetches the newest commit of
    /// the upstream first. Then starts the thread.
    ///
    /// # Errors
    /// When this machine has no commit and no commit can be fetched.
    pub fn start(
        follow: Follow,
        key: Option<Key>,
        metrics: &Arc<Metrics>,
    ) -> Result<(Follower, Arc<PublishedCommit>, Arc<Following>)> {
        let Follow { upstream, interval, lag_max, .. } = follow;
        let (commit, published) = open_present(upstream.as_ref(), key.as_ref(), metrics)
            .map_or_else(
                || -> Result<(u64, PublishedCommit)> {
                    let newest = upstream.newest(None)?.commit;
                    let dir = upstream.fetch(newest, None, Stop::NEVER)?;
                    Ok((newest, PublishedCommit::open(&dir, key.as_ref(), metrics)?))
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
        let stop = Stop::new();
        let follows = Follows {
            upstream,
            published: published.clone(),
            key,
            following: following.clone(),
            metrics: metrics.clone(),
            stop: stop.clone(),
        };
        let thread = std::thread::Builder::new().name("follow".into()).spawn(move || {
            // Comparing fetched files with their digests takes processor time from searches.
            priority::give_way();
            follows.run(interval);
        });
        let thread = thread.map_err(|e| Error::io("start", "the thread that follows", e))?;
        Ok((Follower { thread, stop }, published, following))
    }

    /// Stops the thread and waits for its end.
    pub fn join(self) {
        self.stop.set();
        self.thread.thread().unpark();
        // The thread has reported a panic already.
        let _ = self.thread.join();
    }
}

/// Opens the newest commit on this machine. Removes a damaged commit, so that the follower fetches
/// the commit again.
fn open_present(
    upstream: &dyn Upstream,
    key: Option<&Key>,
    metrics: &Metrics,
) -> Option<(u64, PublishedCommit)> {
    let (commit, dir) = upstream.present()?;
    match PublishedCommit::open(&dir, key, metrics) {
        Ok(published) => Some((commit, published)),
        Err(error) => {
            tracing::warn!(%error, "the copy on this machine cannot be used; it is fetched again");
            upstream.keep_only(0);
            None
        }
    }
}

/// The state of the thread.
struct Follows {
    upstream: Box<dyn Upstream>,
    published: Arc<PublishedCommit>,
    following: Arc<Following>,
    key: Option<Key>,
    metrics: Arc<Metrics>,
    stop: Stop,
}

impl Follows {
    fn run(&self, interval: Duration) {
        while !self.stop.is_set() {
            match Error::catch("following", || self.step()) {
                Ok(()) => {}
                Err(Error::Cancelled) => return,
                Err(error) => {
                    self.metrics.follow_failures.inc();
                    tracing::warn!(%error, "cannot follow; searches continue, and it is tried \
                                            again");
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
                "the served commit is not in the store any more, which was emptied or started \
                 again; it is served until the service is stopped and the directory of its copy \
                 removed"
            );
        }
        let newest = newest.commit;
        if newest <= served || self.following.is_restarted() {
            return Ok(());
        }
        let dir = self.upstream.fetch(newest, Some(served), &self.stop)?;
        let index = unlocked(Index::open_for_search(dir)?, self.key.as_ref())?;
        self.published.replace(index, &self.metrics)?;
        let lag_ms = self.following.lag().as_millis() as u64;
        self.following.serves(newest);
        self.upstream.keep_only(newest);
        tracing::info!(manifest = newest, lag_ms, "serving a newer commit");
        Ok(())
    }
}
