//! Turns of clients for long work.
//!
//! A PDF takes seconds, and a request may have hundreds. Other requests compare a thousand
//! documents with each other, or read the whole index for families and lineage. Such work runs on a
//! few separate threads, and searches go first.
//!
//! Clients take turns, whatever the number of their requests: two clients alternate. After a turn,
//! the place goes to the waiting client with the fewest places, and among equals to the client that
//! has waited longest.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::Request;

use super::failure::Failure;
use cento::Stop;
use cento::{Error, Result};

/// A kind of work done in turns.
pub struct Work {
    /// The end of the sentence "too many requests ...".
    what: &'static str,
    /// The maximum number of requests in progress, including waiting requests.
    jobs_max: usize,
    /// The maximum number of requests in progress from a single client.
    jobs_of_one_max: usize,
}

/// Reading files, comparing all documents of a request, and similar work.
pub const LONG_WORK: Work = Work { what: "wait for long work", jobs_max: 64, jobs_of_one_max: 32 };

/// Requests about all documents. Only a few may wait, because a request takes minutes in a large
/// index, and the client hears nothing until its turn.
pub const COLLECTIONS: Work =
    Work { what: "about all documents are in progress", jobs_max: 16, jobs_of_one_max: 4 };

/// Reading events of watches, with at most `requests_max` requests in progress. A client has at
/// most half of the places, because each of its requests may wait for an event for hours.
pub fn event_reading(requests_max: usize) -> Work {
    let jobs_of_one_max = (requests_max / 2).max(1);
    Work { what: "wait for events", jobs_max: requests_max, jobs_of_one_max }
}

/// How often a waiting thread checks whether the client has gone.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

/// The sender of a request, as far as known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Client {
    /// The client with the token of this number.
    Token(usize),
    /// The client at this address, if there are no tokens.
    Address(IpAddr),
    /// Neither a token nor an address is known.
    #[default]
    Unknown,
}

/// Returns the sender of a request.
pub fn client_of(request: &Request) -> Client {
    request.extensions().get().copied().unwrap_or_default()
}

/// The running and the waiting requests.
pub struct Turns {
    work: Work,
    /// The maximum number of running requests.
    at_a_time: usize,
    state: Mutex<TurnState>,
    changed: Condvar,
}

#[derive(Default)]
struct TurnState {
    /// The number of running requests.
    taken: usize,
    clients: HashMap<Client, Of>,
    waiting: Vec<(u64, Client)>,
    /// The number of the next job.
    next: u64,
    /// The number of finished turns, as a clock for `Of::last`.
    clock: u64,
}

/// The requests of a client.
#[derive(Default)]
struct Of {
    /// The number of requests, running and waiting.
    jobs: usize,
    /// The number of running requests.
    running: usize,
    /// When the last turn of the client ended, by `clock`.
    last: u64,
}

impl TurnState {
    /// Returns the next job: a job of the client with the fewest running requests or, among equals,
    /// of the client whose last turn ended first.
    fn first(&self) -> Option<u64> {
        let rank = |&&(job, client): &&(u64, Client)| {
            let of = self.clients.get(&client);
            (of.map_or((0, 0), |of| (of.running, of.last)), job)
        };
        self.waiting.iter().min_by_key(rank).map(|(job, _)| *job)
    }
}

impl Turns {
    /// Returns turns for at most `at_a_time` running requests.
    pub fn new(work: Work, at_a_time: usize) -> Arc<Turns> {
        let (state, changed) = (Mutex::default(), Condvar::new());
        Arc::new(Turns { work, at_a_time: at_a_time.max(1), state, changed })
    }

    fn lock(&self) -> MutexGuard<'_, TurnState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a request of a client join the queue.
    ///
    /// # Errors
    /// When too many requests of this client, or of all clients, are in progress.
    pub fn enter(self: &Arc<Turns>, client: Client) -> std::result::Result<Job, Failure> {
        let mut state = self.lock();
        let all: usize = state.clients.values().map(|of| of.jobs).sum();
        let own = state.clients.get(&client).map_or(0, |of| of.jobs);
        let Work { what, jobs_max, jobs_of_one_max } = self.work;
        if own >= jobs_of_one_max {
            let message = format!("too many requests of this client {what}; try again later");
            return Err(Failure::busy(message));
        }
        if all >= jobs_max {
            let message = format!("too many requests {what}; try again later");
            return Err(Failure::unavailable(message));
        }
        state.clients.entry(client).or_default().jobs += 1;
        let number = state.next;
        state.next += 1;
        Ok(Job { turns: self.clone(), client, number, is_running: false })
    }
}

/// A request in the queue or running.
pub struct Job {
    turns: Arc<Turns>,
    client: Client,
    number: u64,
    is_running: bool,
}

impl Job {
    /// Waits for a turn. Ends the current turn first, so that other clients may go first.
    ///
    /// # Errors
    /// [`Error::Cancelled`] soon after `stop`.
    pub fn wait(&mut self, stop: &Stop) -> Result<()> {
        let turns = self.turns.clone();
        let mut state = turns.lock();
        self.end_turn(&mut state);
        state.waiting.push((self.number, self.client));
        loop {
            let is_first = state.first() == Some(self.number);
            let is_unwanted = stop.is_set();
            if is_unwanted || (is_first && state.taken < turns.at_a_time) {
                state.waiting.retain(|(job, _)| *job != self.number);
            }
            if is_unwanted {
                turns.changed.notify_all();
                return Err(Error::Cancelled);
            }
            if is_first && state.taken < turns.at_a_time {
                break;
            }
            let waited = turns.changed.wait_timeout(state, LOOK_INTERVAL);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.taken += 1;
        state.clients.entry(self.client).or_default().running += 1;
        self.is_running = true;
        // There may be room for the next job too.
        turns.changed.notify_all();
        Ok(())
    }

    /// Ends the current turn in favor of other clients.
    pub fn give_away(&mut self) {
        let turns = self.turns.clone();
        self.end_turn(&mut turns.lock());
    }

    fn end_turn(&mut self, state: &mut TurnState) {
        if !std::mem::take(&mut self.is_running) {
            return;
        }
        state.taken -= 1;
        state.clock += 1;
        let now = state.clock;
        if let Some(of) = state.clients.get_mut(&self.client) {
            of.running -= 1;
            of.last = now;
        }
        self.turns.changed.notify_all();
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        let turns = self.turns.clone();
        let mut state = turns.lock();
        self.end_turn(&mut state);
        if let Some(of) = state.clients.get_mut(&self.client) {
            of.jobs -= 1;
            if of.jobs == 0 {
                state.clients.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::StatusCode;
    use std::sync::mpsc;

    #[test]
    fn a_client_with_one_file_waits_for_one_file_of_a_client_with_a_hundred() {
        // Once 100 documents of a single client blocked the remaining clients for 30 s, even
        // searches.
        let turns = Turns::new(LONG_WORK, 1);
        let (events, heard) = mpsc::channel();
        let never = Stop::new();
        let mut many = turns.enter(Client::Token(0)).unwrap();
        many.wait(&never).unwrap();
        let mut one = turns.enter(Client::Token(1)).unwrap();
        std::thread::scope(|scope| {
            let (heavy, light) = (events.clone(), events.clone());
            let never = &never;
            scope.spawn(move || {
                one.wait(never).unwrap();
                light.send("one").unwrap();
            });
            while turns.lock().waiting.is_empty() {
                std::thread::yield_now();
            }
            scope.spawn(move || {
                for _ in 0..3 {
                    heavy.send("many").unwrap();
                    many.wait(never).unwrap();
                }
            });
        });
        drop(events);
        assert_eq!(heard.iter().collect::<Vec<_>>(), ["many", "one", "many", "many"]);
        assert!(turns.lock().clients.is_empty(), "nothing is known of clients that have gone");
    }

    #[test]
    fn with_two_places_no_client_has_both_while_another_waits() {
        let turns = Turns::new(LONG_WORK, 2);
        let never = Stop::new();
        let mut jobs = [0, 0, 1].map(|client| turns.enter(Client::Token(client)).unwrap());
        jobs[0].wait(&never).unwrap();
        jobs[1].wait(&never).unwrap();
        let stop = Stop::new();
        std::thread::scope(|scope| {
            let [first, second, other] = &mut jobs;
            let waiting = scope.spawn(|| other.wait(&never).unwrap());
            while turns.lock().waiting.is_empty() {
                std::thread::yield_now();
            }
            let stop = &stop;
            let ended = scope.spawn(move || first.wait(stop).is_err());
            waiting.join().unwrap();
            // The second place still belongs to the second request of the same client.
            while turns.lock().waiting.is_empty() {
                std::thread::yield_now();
            }
            assert!(second.is_running && turns.lock().taken == 2);
            stop.set();
            assert!(ended.join().unwrap(), "the waiting task ends as unwanted");
        });
    }

    #[test]
    fn requests_that_wait_are_bounded_for_each_client_and_for_all() {
        let turns = Turns::new(LONG_WORK, 1);
        let enter = |client| turns.enter(Client::Token(client));
        let first: Vec<Job> = (0..LONG_WORK.jobs_of_one_max).map(|_| enter(0).unwrap()).collect();
        let refused = |client| enter(client).err().map(|failure| failure.status);
        assert_eq!(refused(0), Some(StatusCode::TOO_MANY_REQUESTS));
        let second: Vec<Job> = (0..LONG_WORK.jobs_of_one_max).map(|_| enter(1).unwrap()).collect();
        assert_eq!(refused(2), Some(StatusCode::SERVICE_UNAVAILABLE));
        drop(first);
        assert_eq!(refused(2), None);
        drop(second);
    }
}
