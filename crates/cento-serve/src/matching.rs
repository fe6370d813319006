//! Matches commits against the watches of the index.
//!
//! A thread matches each commit of the writer. The writer makes its next commit only after that, so
//! commits are matched separately, while documents for the next commit are signed and added. If
//! events cannot be written, commits go on and are matched together later. A commit that was not
//! matched before the end of the service is matched at the next start.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::watch;

use super::priority;
use cento::index::Index;
use cento::{Error, Result, Stop};
use cento_api::Watch;
use cento_api::http::WatchRequest;
use cento_collections::watch::{WatchReader, Watches};

/// How long to wait before matching is tried again after a failure.
const RETRY: Duration = Duration::from_secs(10);

/// The watches of a service, and the state of the thread that matches.
pub struct Matching {
    index: Index,
    /// `None` until the first watch is added.
    watches: Mutex<Option<Watches>>,
    reader: RwLock<Option<WatchReader>>,
    /// The cursor of the next event.
    next: watch::Sender<u64>,
    turn: Mutex<MatchingTurn>,
    changed: Condvar,
    stop: Stop,
    /// Called when there are new events.
    listener: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

/// The progress of the thread.
#[derive(Default)]
struct MatchingTurn {
    /// The number of commits handed over.
    requested: u64,
    /// The number of these commits whose match has ended, even with an error.
    done: u64,
    /// Whether the latest commits could not be matched.
    is_failing: bool,
    is_over: bool,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Matching {
    /// Opens the watches of the index, if it has any, and starts the thread, which first matches
    /// earlier commits.
    ///
    /// # Errors
    /// When the watches cannot be opened, or the thread cannot be started.
    pub fn start(index: Index) -> Result<(Arc<Matching>, JoinHandle<()>)> {
        let matching = Arc::new(Matching {
            watches: Mutex::new(None),
            reader: RwLock::new(None),
            next: watch::Sender::new(0),
            turn: Mutex::default(),
            changed: Condvar::new(),
            stop: Stop::new(),
            listener: OnceLock::new(),
            index,
        });
        if Watches::exist(&matching.index) {
            matching.open()?;
            matching.begin();
        }
        let own = matching.clone();
        let thread = std::thread::Builder::new().name("matching".into()).spawn(move || {
            priority::give_way();
            own.run();
        });
        let thread = thread.map_err(|e| Error::io("start", "the thread that matches", e))?;
        Ok((matching, thread))
    }

    /// Opens the watches, unless they are open. The index must log its changes.
    ///
    /// # Errors
    /// When the watches cannot be opened.
    pub fn open(&self) -> Result<()> {
        let mut watches = locked(&self.watches);
        if watches.is_none() {
            let opened = watches.insert(Watches::open(&self.index)?);
            let reader = opened.reader();
            self.next.send_replace(reader.log().next());
            *self.reader.write().unwrap_or_else(PoisonError::into_inner) = Some(reader);
        }
        Ok(())
    }

    /// Returns a reader of watches and events, if the index has had a watch.
    pub fn reader(&self) -> Option<WatchReader> {
        self.reader.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds a watch.
    ///
    /// # Errors
    /// When the watch cannot be added.
    pub fn add(&self, request: WatchRequest) -> Result<Watch> {
        match locked(&self.watches).as_mut() {
            Some(watches) => watches.add(request),
            None => Err(Error::internal("the watches", "they are not open")),
        }
    }

    /// Removes a watch after earlier commits have been matched. Returns whether the watch existed.
    ///
    /// # Errors
    /// When these commits cannot be matched, or the store cannot be written.
    pub fn remove(&self, name: &str) -> Result<bool> {
        let removed = match locked(&self.watches).as_mut() {
            Some(watches) => watches.remove(name, &self.stop)?,
            None => return Ok(false),
        };
        self.tell_of(removed.1);
        Ok(removed.0)
    }

    /// Announces this number of new events to waiting requests and to the listener.
    fn tell_of(&self, events: u64) {
        if events > 0 {
            self.next.send_replace(self.reader().map_or(0, |reader| reader.log().next()));
            if let Some(listener) = self.listener.get() {
                listener();
            }
        }
    }

    /// Returns a receiver of the cursor of the next event.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.next.subscribe()
    }

    /// Registers a function to call when there are new events.
    pub fn tell(&self, listener: impl Fn() + Send + Sync + 'static) {
        let _ = self.listener.set(Box::new(listener));
    }

    /// Hands over a commit, which must be durable.
    pub fn begin(&self) {
        if self.reader().is_some() {
            locked(&self.turn).requested += 1;
            self.changed.notify_all();
        }
    }

    /// Waits until the commits handed over are matched, or cannot be matched.
    pub fn settle(&self) {
        if self.reader().is_none() {
            return;
        }
        let waits = |turn: &mut MatchingTurn| turn.done < turn.requested && !turn.is_over;
        drop(self.changed.wait_while(locked(&self.turn), waits));
    }

    /// Stops the thread. An unfinished commit is matched when the service starts again.
    pub fn end(&self) {
        locked(&self.turn).is_over = true;
        self.stop.set();
        self.changed.notify_all();
    }

    fn run(&self) {
        loop {
            let is_idle = |turn: &mut MatchingTurn| turn.done >= turn.requested && !turn.is_over;
            let turn = self.changed.wait_timeout_while(locked(&self.turn), RETRY, is_idle);
            let (turn, _) = turn.unwrap_or_else(PoisonError::into_inner);
            if turn.is_over {
                return;
            }
            let (requested, was_failing) = (turn.requested, turn.is_failing);
            if turn.done >= requested && !was_failing {
                continue;
            }
            drop(turn);
            let matched = Error::catch("matching", || {
                let mut watches = locked(&self.watches);
                watches.as_mut().map_or(Ok(0), |watches| watches.match_commits(&self.stop))
            });
            match &matched {
                Ok(_) if was_failing => tracing::info!("commits are matched again"),
                Ok(_) | Err(Error::Cancelled) => {}
                Err(error) if !was_failing => {
                    tracing::error!(%error, "a commit could not be matched against the watches; \
                                             it is tried again");
                }
                Err(_) => {}
            }
            self.tell_of(*matched.as_ref().unwrap_or(&0));
            let mut turn = locked(&self.turn);
            turn.done = requested;
            turn.is_failing = matched.is_err();
            drop(turn);
            self.changed.notify_all();
        }
    }
}
