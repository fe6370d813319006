//! Parallel work on a sequence of inputs, with the results in the order of the inputs.
//!
//! Inputs go into a [`Feed`], threads work on them, and [`Results`] returns the results in the
//! order of the inputs, whatever the number of threads. The room of the pipeline is bounded, in
//! bytes or in another measure of inputs. An input takes its share before a thread gets it, and the
//! request for the next result gives the share back. An input larger than the room is admitted
//! alone. There is no deadlock: no thread waits for room while it holds room, and room is given in
//! the order of the inputs, so some thread always works on the input whose turn it is.
//!
//! The feed and the results may be on two threads ([`pipeline`]), or on the same thread, which
//! takes the inputs from an iterator ([`FeedHandle`]).

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread::{JoinHandle, Scope};
use std::time::Duration;

use crossbeam::channel::{Receiver, RecvTimeoutError, SendTimeoutError, Sender, bounded, select};

use super::budget::{ByteBudget, Permit};
use super::stop::Stop;
use crate::error::{Error, Result};

/// The number of results per thread that may wait for their turn.
pub(super) const WAITING_PER_THREAD: usize = 16;

/// The number of inputs per thread that may wait where the feed has its own thread. Few are enough,
/// because the feed goes on while the consumer waits for a result.
const QUEUED_PER_THREAD: usize = 2;

/// How often a waiting thread checks whether to stop.
const STOP_INTERVAL: Duration = Duration::from_millis(50);

/// Starts `threads` threads within `room`, and calls `work` for the function of each thread.
/// Returns the feed and the results, which two threads must use.
///
/// A function gets a [`Stop`] that is set when the results are dropped, or when `stop` is set.
/// Dropping the results ends the threads, and waits until their functions have checked the
/// [`Stop`].
pub fn pipeline<I, T, W>(
    threads: usize,
    room: usize,
    stop: &Stop,
    work: impl FnMut(&Stop) -> W,
) -> (Feed<I>, Results<T>)
where
    I: Send + 'static,
    T: Send + 'static,
    W: FnMut(I) -> T + Send + 'static,
{
    started(threads, QUEUED_PER_THREAD, room, stop, work)
}

/// Starts the threads between a feed and its results.
fn started<I, T, W>(
    threads: usize,
    queued_per_thread: usize,
    room: usize,
    stop: &Stop,
    mut work: impl FnMut(&Stop) -> W,
) -> (Feed<I>, Results<T>)
where
    I: Send + 'static,
    T: Send + 'static,
    W: FnMut(I) -> T + Send + 'static,
{
    let (feed, workers, mut results) = ends(threads, queued_per_thread, room, stop);
    for _ in 0..workers.threads {
        let (mut work, worker) = (work(&results.stop), workers.worker.clone());
        results.threads.push(std::thread::spawn(move || worker.run(&mut work)));
    }
    (feed, results)
}

/// An input or a result, with its place in the order.
struct NumberedItem<T> {
    number: u64,
    /// The share of the room, kept until the result is consumed.
    permit: Permit,
    item: T,
}

/// A result, or the panic of the work.
type Done<T> = NumberedItem<std::thread::Result<T>>;

/// Makes the feed and the results of a pipeline, and the threads between, which are not yet
/// started.
pub(super) fn ends<I, T>(
    threads: usize,
    queued_per_thread: usize,
    room: usize,
    stop: &Stop,
) -> (Feed<I>, Workers<I, T>, Results<T>) {
    let threads = threads.max(1);
    let (jobs_in, jobs) = bounded(threads * queued_per_thread);
    let (done_in, done) = bounded(threads * WAITING_PER_THREAD);
    let (wanted, is_wanted) = bounded(0);
    let room = ByteBudget::new(room);
    let given = stop.clone();
    let feed = Feed { jobs: jobs_in, room: room.clone(), number: 0 };
    let worker = PipelineThread { jobs, is_wanted, done: done_in };
    let results = Results {
        running: Some((done, wanted)),
        room,
        early: BTreeMap::new(),
        turn: 0,
        permit: None,
        stop: Stop::when(move || given.is_set()),
        threads: Vec::new(),
    };
    (feed, Workers { threads, worker }, results)
}

/// The input side of a pipeline. Dropping the feed ends the input.
pub struct Feed<I> {
    jobs: Sender<NumberedItem<I>>,
    room: Arc<ByteBudget>,
    /// The number of the next input, counted from 0.
    number: u64,
}

impl<I> fmt::Debug for Feed<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed").field("number", &self.number).finish_non_exhaustive()
    }
}

impl<I> Feed<I> {
    /// Passes an input on as soon as there is room for its `share`. Returns `false` if the results
    /// have been dropped.
    pub fn send(&mut self, input: I, share: usize) -> bool {
        self.send_while(input, share, &|| true).is_ok()
    }

    /// Passes an input on as [`send`](Self::send) does. Waits only while `is_wanted` returns
    /// `true`, which is called many times a second.
    ///
    /// # Errors
    /// The input itself, if it is not wanted any more, or if the results have been dropped.
    pub fn send_while(
        &mut self,
        input: I,
        share: usize,
        is_wanted: &dyn Fn() -> bool,
    ) -> std::result::Result<(), I> {
        let Some(permit) = self.room.enter_while(share, is_wanted) else { return Err(input) };
        let mut job = NumberedItem { number: self.number, permit, item: input };
        loop {
            job = match self.jobs.send_timeout(job, STOP_INTERVAL) {
                Ok(()) => break,
                Err(SendTimeoutError::Timeout(job)) if is_wanted() => job,
                Err(refused) => return Err(refused.into_inner().item),
            };
        }
        self.number += 1;
        Ok(())
    }

    /// Returns whether the results have been dropped.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.room.is_closed()
    }

    /// Passes an input on if there is room now. Waits for room if no earlier input `is_ahead`,
    /// because only the consumer could make room then.
    fn try_send(&mut self, input: I, share: usize, is_ahead: bool) -> std::result::Result<(), I> {
        let permit = match is_ahead {
            true => self.room.try_enter(share),
            false => self.room.enter(share),
        };
        let Some(permit) = permit else { return Err(input) };
        match self.jobs.try_send(NumberedItem { number: self.number, permit, item: input }) {
            Ok(()) => {
                self.number += 1;
                Ok(())
            }
            Err(refused) => Err(refused.into_inner().item),
        }
    }
}

/// The threads of a pipeline before their start.
pub(super) struct Workers<I, T> {
    threads: usize,
    worker: PipelineThread<I, T>,
}

impl<I: Send, T: Send> Workers<I, T> {
    /// Starts the threads, which end with the input, or when the results are dropped.
    pub(super) fn spawn<'scope, 'env>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        work: &'env (dyn Fn(I) -> T + Sync),
    ) where
        I: 'env,
        T: 'env,
    {
        for _ in 0..self.threads {
            let worker = self.worker.clone();
            scope.spawn(move || worker.run(&mut |input| work(input)));
        }
    }
}

/// The channels of a thread in a pipeline.
struct PipelineThread<I, T> {
    jobs: Receiver<NumberedItem<I>>,
    /// Nothing is ever sent. Closing this channel ends the threads, even while the feed waits for
    /// input.
    is_wanted: Receiver<()>,
    done: Sender<Done<T>>,
}

impl<I, T> Clone for PipelineThread<I, T> {
    fn clone(&self) -> PipelineThread<I, T> {
        let PipelineThread { jobs, is_wanted, done } = self;
        PipelineThread { jobs: jobs.clone(), is_wanted: is_wanted.clone(), done: done.clone() }
    }
}

impl<I, T> PipelineThread<I, T> {
    fn run(self, work: &mut dyn FnMut(I) -> T) {
        loop {
            let received = select! {
                recv(self.jobs) -> received => received,
                recv(self.is_wanted) -> _ => return,
            };
            let Ok(NumberedItem { number, permit, item }) = received else { return };
            // The consumer must get the panic of an input, or it would wait for the result forever.
            let item = catch_unwind(AssertUnwindSafe(|| work(item)));
            if self.done.send(NumberedItem { number, permit, item }).is_err() {
                return;
            }
        }
    }
}

/// The results of a pipeline, in the order of its inputs. The iterator resumes a panic of the work.
///
/// # Errors
/// [`Error::Cancelled`] after the pipeline was stopped. The iterator ends after an error.
pub struct Results<T> {
    /// The channels to the threads, or `None` once the threads are to end.
    running: Option<(Receiver<Done<T>>, Sender<()>)>,
    room: Arc<ByteBudget>,
    /// Results that arrived before their turn, by number.
    early: BTreeMap<u64, Done<T>>,
    turn: u64,
    /// The share of the last result, kept until the next result is requested.
    permit: Option<Permit>,
    stop: Stop,
    threads: Vec<JoinHandle<()>>,
}

impl<T> fmt::Debug for Results<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Results").field("turn", &self.turn).finish_non_exhaustive()
    }
}

impl<T> Results<T> {
    /// Returns the handle that stops the work when the results are dropped.
    pub(super) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Waits for the next result. `None` after the last result.
    fn result(&mut self) -> Option<Result<T>> {
        self.permit = None;
        let (done, _) = self.running.as_ref()?;
        loop {
            if let Some(NumberedItem { permit, item, .. }) = self.early.remove(&self.turn) {
                if self.stop.is_set() {
                    return Some(Err(Error::Cancelled));
                }
                (self.turn, self.permit) = (self.turn + 1, Some(permit));
                return Some(Ok(item.unwrap_or_else(|panic| resume_unwind(panic))));
            }
            match done.recv_timeout(STOP_INTERVAL) {
                Ok(result) => {
                    self.early.insert(result.number, result);
                }
                Err(RecvTimeoutError::Timeout) if self.stop.is_set() => {
                    return Some(Err(Error::Cancelled));
                }
                Err(RecvTimeoutError::Timeout) => {}
                // Cancelled work may look like the end of the input.
                Err(RecvTimeoutError::Disconnected) if self.early.is_empty() => {
                    return self.stop.is_set().then_some(Err(Error::Cancelled));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let place = format!("input {}", self.turn);
                    return Some(Err(Error::internal(place, "a thread ended before its work")));
                }
            }
        }
    }

    /// Ends the threads, and waits for the threads in `threads`. A scope waits for its own threads.
    fn close(&mut self) {
        self.room.close();
        (self.running, self.permit) = (None, None);
        self.early.clear();
        self.stop.set();
        for thread in self.threads.drain(..) {
            // A panic of the work has been caught, so a thread cannot panic.
            let _ = thread.join();
        }
    }
}

impl<T> Iterator for Results<T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        let result = self.result();
        if !matches!(result, Some(Ok(_))) {
            self.close();
        }
        result
    }
}

impl<T> Drop for Results<T> {
    fn drop(&mut self) {
        self.close();
    }
}

/// The results of a pipeline whose consumer is also the feeder, from an iterator that need not be
/// [`Send`]. Before the consumer waits for a result, the consumer passes on as many inputs as there
/// is room for.
pub struct FeedHandle<J: Iterator, T> {
    pub(super) inputs: J,
    share: fn(&J::Item) -> usize,
    /// `None` after the last input, which ends the threads.
    feed: Option<Feed<J::Item>>,
    /// An input that waits for room.
    waiting: Option<J::Item>,
    results: Results<T>,
}

impl<J: Iterator, T> fmt::Debug for FeedHandle<J, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fed").field("results", &self.results).finish_non_exhaustive()
    }
}

impl<J: Iterator, T> FeedHandle<J, T> {
    /// Starts threads as [`pipeline`] does, and feeds them from `inputs`. `share` returns the room
    /// that an input takes.
    pub fn start<W>(
        inputs: J,
        share: fn(&J::Item) -> usize,
        threads: usize,
        room: usize,
        stop: &Stop,
        work: impl FnMut(&Stop) -> W,
    ) -> FeedHandle<J, T>
    where
        J::Item: Send + 'static,
        T: Send + 'static,
        W: FnMut(J::Item) -> T + Send + 'static,
    {
        let (feed, results) = started(threads, WAITING_PER_THREAD, room, stop, work);
        FeedHandle::new(inputs, share, feed, results)
    }

    pub(super) fn new(
        inputs: J,
        share: fn(&J::Item) -> usize,
        feed: Feed<J::Item>,
        results: Results<T>,
    ) -> FeedHandle<J, T> {
        FeedHandle { inputs, share, feed: Some(feed), waiting: None, results }
    }

    fn fill(&mut self) {
        self.results.permit = None;
        while let Some(feed) = &mut self.feed {
            let Some(input) = self.waiting.take().or_else(|| self.inputs.next()) else {
                self.feed = None;
                return;
            };
            let is_ahead = feed.number > self.results.turn;
            let share = (self.share)(&input);
            self.waiting = feed.try_send(input, share, is_ahead).err();
            if self.waiting.is_some() {
                return;
            }
        }
    }
}

impl<J: Iterator, T> Iterator for FeedHandle<J, T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        self.fill();
        self.results.next()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn results_come_in_order_within_the_room(
            shares in prop::collection::vec(0usize..30, 0..300),
            threads in 1usize..5,
            room in 1usize..40,
            is_fed_apart in any::<bool>(),
        ) {
            // A share is inside from before the work on its input until the next result is
            // requested.
            let inside = Arc::new(AtomicUsize::new(0));
            let work = |_: &Stop| {
                let inside = inside.clone();
                move |share: usize| {
                    let with_others = inside.fetch_add(share, Ordering::SeqCst) + share;
                    std::thread::yield_now();
                    (share, share == 0 || with_others <= room.max(share))
                }
            };
            let take = |result: Result<(usize, bool)>| {
                let (share, is_within) = result.unwrap();
                inside.fetch_sub(share, Ordering::SeqCst);
                (share, is_within)
            };
            let taken: Vec<(usize, bool)> = match is_fed_apart {
                false => {
                    let inputs = shares.clone().into_iter();
                    FeedHandle::start(inputs, |&share| share, threads, room, Stop::NEVER, work)
                        .map(take)
                        .collect()
                }
                true => std::thread::scope(|scope| {
                    let (mut feed, results) = pipeline(threads, room, Stop::NEVER, work);
                    let shares = shares.clone();
                    scope.spawn(move || shares.into_iter().all(|share| feed.send(share, share)));
                    results.map(take).collect()
                }),
            };
            prop_assert!(taken.iter().all(|(_, is_within)| *is_within));
            prop_assert_eq!(taken.into_iter().map(|(share, _)| share).collect::<Vec<_>>(), shares);
        }
    }

    #[test]
    fn dropping_the_results_ends_the_threads_and_the_feed() {
        let alive = Arc::new(());
        let (mut feed, mut results) = pipeline(3, 10, Stop::NEVER, |stop| {
            let (held, stop) = (alive.clone(), stop.clone());
            move |number: usize| {
                // Work that ends only when stopped.
                while number >= 7 && !stop.is_set() {
                    std::thread::yield_now();
                }
                Arc::strong_count(&held)
            }
        });
        std::thread::scope(|scope| {
            let fed = scope.spawn(move || {
                let refused = (0..).find(|&number| !feed.send(number, 1));
                (refused, feed.is_closed())
            });
            assert_eq!(results.by_ref().take(7).filter(Result::is_ok).count(), 7);
            drop(results);
            let (refused, is_closed) = fed.join().unwrap();
            assert!(is_closed && refused.is_some_and(|number| number >= 7), "{refused:?}");
        });
        assert_eq!(Arc::strong_count(&alive), 1);
    }

    #[test]
    fn the_results_end_when_they_are_told_to_while_the_feed_waits_for_input() {
        let stop = Stop::new();
        let (mut feed, mut results) = pipeline(2, 10, &stop, |_| |number: usize| number);
        assert!(feed.send(0, 1));
        assert!(matches!(results.next(), Some(Ok(0))));
        stop.set();
        // The feed still exists, so only `stop` can have ended the results.
        assert!(matches!(results.next(), Some(Err(Error::Cancelled))));
        assert!(results.next().is_none());
        assert!(!feed.send(1, 1));
        // After `stop`, dropping the feed does not look like the end of the input.
        let (feed, mut results) = pipeline(2, 10, &stop, |_| |number: usize| number);
        drop(feed);
        assert!(matches!(results.next(), Some(Err(Error::Cancelled))));
    }

    #[test]
    fn a_panic_reaches_the_taker_in_its_turn() {
        let (mut feed, mut results) = pipeline(3, 100, Stop::NEVER, |_| {
            |number: usize| {
                assert_ne!(number, 7, "seven");
                number
            }
        });
        assert!((0..20).all(|number| feed.send(number, 1)));
        drop(feed);
        assert_eq!(results.by_ref().take(7).filter(Result::is_ok).count(), 7);
        assert!(catch_unwind(AssertUnwindSafe(|| results.next())).is_err());
        assert_eq!(results.filter(Result::is_ok).count(), 12);
    }

    #[test]
    fn an_input_that_waits_for_room_comes_back_when_it_is_not_wanted_any_more() {
        let (mut feed, results) = pipeline(1, 10, Stop::NEVER, |_| |number: usize| number);
        assert_eq!(feed.send_while(1, 8, &|| true), Ok(()));
        assert_eq!(feed.send_while(2, 8, &|| false), Err(2));
        assert_eq!(feed.send_while(3, 2, &|| true), Ok(()));
        drop(feed);
        assert_eq!(results.map(Result::unwrap).collect::<Vec<_>>(), [1, 3]);
    }
}
