//! Parallel work on a list, with the results in its order.

use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{JoinHandle, Scope};

use crossbeam::channel::{Receiver, Sender, bounded};

use crate::error::{Error, Result};
use crate::runtime::Stop;

/// The number of results of each thread that may wait for the one whose turn it is.
const WAITING_PER_THREAD: usize = 16;

/// Does `work` for every number of the range, on `threads` threads, and hands the results to `sink`
/// in order. Bounded memory: a thread goes no further ahead than [`WAITING_PER_THREAD`] allows.
///
/// # Errors
/// The first error of `work` or `sink`, in order; [`Error::Cancelled`] after `stop`.
pub fn in_order<T: Send>(
    threads: usize,
    numbers: Range<u64>,
    stop: &Stop,
    work: &(dyn Fn(u64) -> Result<T> + Sync),
    sink: &mut dyn FnMut(u64, T) -> Result<()>,
) -> Result<()> {
    in_order_within(threads, threads.max(1) * WAITING_PER_THREAD, numbers, stop, work, sink)
}

/// Does the work of [`in_order`] where at most `waiting` results, at least one, are worked on or
/// wait for their turn: for results that take much memory.
///
/// # Errors
/// As [`in_order`].
pub fn in_order_within<T: Send>(
    threads: usize,
    waiting: usize,
    numbers: Range<u64>,
    stop: &Stop,
    work: &(dyn Fn(u64) -> Result<T> + Sync),
    sink: &mut dyn FnMut(u64, T) -> Result<()>,
) -> Result<()> {
    let (mut turns, workers) = channels(threads, waiting);
    turns.begin(&numbers);
    std::thread::scope(|scope| {
        workers.spawn(scope, numbers, work);
        let mut take = || -> Result<()> {
            while let Some(result) = turns.next(stop) {
                let (number, result) = result?;
                sink(number, result)?;
            }
            Ok(())
        };
        let taken = catch_unwind(AssertUnwindSafe(&mut take));
        // Threads that wait for a permit, or to hand over a result, end.
        drop(turns);
        taken.unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// A result, or the panic of the work, with its number.
type Done<T> = (u64, std::thread::Result<Result<T>>);

/// Makes both ends of the work of `threads` threads on a list.
fn channels<T: Send>(threads: usize, waiting: usize) -> (Turns<T>, Workers<T>) {
    let (threads, waiting) = (threads.max(1), waiting.max(1));
    // A permit is taken before a number is, and given back with the request for the next result: so
    // the number whose turn it is is always being worked on.
    let (permit_tx, permit_rx) = bounded::<()>(waiting);
    for _ in 0..waiting {
        let _ = permit_tx.send(());
    }
    let (done_tx, done_rx) = bounded(waiting);
    let turns =
        Turns { permit_tx, done_rx, waiting: BTreeMap::new(), turn: 0, end: 0, owes_permit: false };
    (turns, Workers { threads, permit_rx, done_tx })
}

/// The end of a list whose results come out in order.
struct Turns<T> {
    permit_tx: Sender<()>,
    done_rx: Receiver<Done<T>>,
    /// Results that came before their turn.
    waiting: BTreeMap<u64, std::thread::Result<Result<T>>>,
    turn: u64,
    end: u64,
    /// Whether the last result still has its permit.
    owes_permit: bool,
}

impl<T> Turns<T> {
    fn begin(&mut self, numbers: &Range<u64>) {
        (self.turn, self.end) = (numbers.start, numbers.end);
    }

    /// Returns the next result with its number; `None` after the last. Resumes a panic of the work.
    fn next(&mut self, stop: &Stop) -> Option<Result<(u64, T)>> {
        if std::mem::take(&mut self.owes_permit) {
            let _ = self.permit_tx.send(());
        }
        if self.turn >= self.end {
            return None;
        }
        loop {
            if let Some(result) = self.waiting.remove(&self.turn) {
                if stop.is_set() {
                    return Some(Err(Error::Cancelled));
                }
                let number = self.turn;
                (self.turn, self.owes_permit) = (number + 1, true);
                let result = result.unwrap_or_else(|panic| resume_unwind(panic));
                return Some(result.map(|result| (number, result)));
            }
            let Ok((number, result)) = self.done_rx.recv() else {
                let place = format!("number {} of {}", self.turn, self.end);
                return Some(Err(Error::internal(place, "a thread ended before its work")));
            };
            self.waiting.insert(number, result);
        }
    }
}

/// The end of a list that is worked through.
pub struct Workers<T> {
    threads: usize,
    permit_rx: Receiver<()>,
    done_tx: Sender<Done<T>>,
}

impl<T: Send> Workers<T> {
    /// Starts the threads, which end with the list, or when the results have no taker any more.
    fn spawn<'scope, 'env>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        numbers: Range<u64>,
        work: &'env (dyn Fn(u64) -> Result<T> + Sync),
    ) where
        T: 'env,
    {
        let next = Arc::new(AtomicU64::new(numbers.start));
        for _ in 0..self.threads {
            let (permit_rx, done_tx) = (self.permit_rx.clone(), self.done_tx.clone());
            let (next, end) = (next.clone(), numbers.end);
            scope.spawn(move || {
                while permit_rx.recv().is_ok() {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= end {
                        return;
                    }
                    // A panic must reach the taker, which would wait for this number forever.
                    let result = catch_unwind(AssertUnwindSafe(|| work(number)));
                    if done_tx.send((number, result)).is_err() {
                        return;
                    }
                }
            });
        }
    }
}

/// An iterator over the results of work on a list, in its order: [`in_order`] without a sink.
///
/// A thread owns the work and the data that it borrows. Dropping the iterator ends the threads, and
/// waits for them: that takes as long as the work takes to check its [`Stop`].
pub struct Ordered<T> {
    turns: Option<Turns<T>>,
    /// The numbers, once the owner knows them, or its error.
    begun: Receiver<Result<Range<u64>>>,
    has_begun: bool,
    stop: Stop,
    owner: Option<JoinHandle<()>>,
}

/// Begins the work of [`Ordered`] with these numbers.
pub type Begin<'a, T> = &'a mut dyn FnMut(Range<u64>, &(dyn Fn(u64) -> Result<T> + Sync));

impl<T: Send + 'static> Ordered<T> {
    /// Starts `own` on a thread, with the handle that ends its work: when the iterator is dropped,
    /// or `stop` is set. It prepares the work and begins it, once.
    pub fn start(
        threads: usize,
        stop: &Stop,
        own: impl FnOnce(&Stop, Begin<'_, T>) -> Result<()> + Send + 'static,
    ) -> Ordered<T> {
        let (turns, workers) = channels(threads, threads.max(1) * WAITING_PER_THREAD);
        let (begin_tx, begun) = bounded(1);
        let given = stop.clone();
        let stop = Stop::when(move || given.is_set());
        let own_stop = stop.clone();
        let owner = std::thread::spawn(move || {
            let mut workers = Some(workers);
            let mut begin = |numbers: Range<u64>, work: &(dyn Fn(u64) -> Result<T> + Sync)| {
                let Some(workers) = workers.take() else { return };
                let _ = begin_tx.send(Ok(numbers.clone()));
                std::thread::scope(|scope| workers.spawn(scope, numbers, work));
            };
            if let Err(error) = own(&own_stop, &mut begin) {
                let _ = begin_tx.send(Err(error));
            }
        });
        Ordered { turns: Some(turns), begun, has_begun: false, stop, owner: Some(owner) }
    }

    /// Ends the threads, and waits for them.
    fn end(&mut self) -> std::thread::Result<()> {
        self.stop.set();
        self.turns = None;
        self.owner.take().map_or(Ok(()), JoinHandle::join)
    }

    fn result(&mut self) -> Option<Result<(u64, T)>> {
        let turns = self.turns.as_mut()?;
        if !self.has_begun {
            match self.begun.recv() {
                Ok(Ok(numbers)) => turns.begin(&numbers),
                Ok(Err(error)) => return Some(Err(error)),
                Err(_) => match self.end() {
                    Ok(()) => return Some(Err(Error::internal("a list", "its work never began"))),
                    Err(panic) => resume_unwind(panic),
                },
            }
            self.has_begun = true;
        }
        turns.next(&self.stop)
    }
}

impl<T: Send + 'static> Iterator for Ordered<T> {
    type Item = Result<(u64, T)>;

    /// Returns the next result with its number; `None` after an error.
    fn next(&mut self) -> Option<Result<(u64, T)>> {
        let result = self.result();
        if !matches!(result, Some(Ok(_)))
            && let Err(panic) = self.end()
        {
            resume_unwind(panic);
        }
        result
    }
}

impl<T> Drop for Ordered<T> {
    fn drop(&mut self) {
        self.stop.set();
        self.turns = None;
        if let Some(owner) = self.owner.take() {
            // A panic has reached the taker, or the result has no taker.
            let _ = owner.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn results_come_in_order_whatever_they_take() {
        for threads in [1, 2, 5] {
            // Among as many consecutive numbers as there are threads, the last is done first.
            let done: Vec<AtomicBool> = (0..=300).map(|number| (number == 300).into()).collect();
            let work = |number: u64| {
                let is_last = (number - 2).is_multiple_of(threads as u64);
                while !is_last && !done[number as usize + 1].load(Ordering::Acquire) {
                    std::thread::yield_now();
                }
                done[number as usize].store(true, Ordering::Release);
                Ok(number * 2)
            };
            let mut taken = Vec::new();
            let stop = Stop::new();
            in_order(threads, 3..300, &stop, &work, &mut |number, result| {
                taken.push((number, result));
                Ok(())
            })
            .unwrap();
            assert_eq!(taken, (3..300).map(|number| (number, number * 2)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        for threads in [1, 2, 4] {
            let work = |number: u64| {
                assert_ne!(number, 7, "seven");
                Ok(number)
            };
            let run = || in_order(threads, 0..1000, Stop::NEVER, &work, &mut |_, _| Ok(()));
            assert!(catch_unwind(run).is_err());
        }
    }

    #[test]
    fn it_ends_at_the_first_error_and_on_request() {
        let failure = || Error::arguments("seven");
        let work = |number: u64| if number == 7 { Err(failure()) } else { Ok(number) };
        let mut last = 0;
        let stop = Stop::new();
        let run = in_order(3, 0..1000, &stop, &work, &mut |number, _| {
            last = number;
            Ok(())
        });
        assert_eq!((run.unwrap_err().to_string(), last), (failure().to_string(), 6));
        let sink = &mut |number, _| {
            if number == 5 {
                stop.set();
            }
            Ok(())
        };
        let stopped = in_order(2, 0..1000, &stop, &|_| Ok(()), sink);
        assert!(matches!(stopped, Err(Error::Cancelled)));
        let refused = in_order(2, 0..1000, Stop::NEVER, &|_| Ok(()), &mut |_, ()| Err(failure()));
        assert!(refused.is_err());
    }

    /// The iterator over this work, which needs nothing that must be prepared.
    fn ordered<T: Send + 'static>(
        threads: usize,
        numbers: Range<u64>,
        stop: &Stop,
        work: impl Fn(u64) -> Result<T> + Send + Sync + 'static,
    ) -> Ordered<T> {
        Ordered::start(threads, stop, move |_, begin| {
            begin(numbers, &work);
            Ok(())
        })
    }

    #[test]
    fn an_iterator_gives_what_a_sink_gets() {
        // Some take longer than others, and one fails.
        let work = |number: u64| match number % 97 {
            96 => Err(Error::arguments(format!("{number}"))),
            rest => Ok((0..rest * 1000).fold(number, |sum, i| sum ^ crate::hash::mix64(i))),
        };
        for (threads, numbers) in [(1, 0..90), (3, 5..90), (2, 0..300), (4, 7..7), (2, 95..1000)] {
            let mut expected = Vec::new();
            let ended = in_order(threads, numbers.clone(), Stop::NEVER, &work, &mut |n, result| {
                expected.push((n, result));
                Ok(())
            });
            let (mut found, mut error) = (Vec::new(), None);
            let mut iterator = ordered(threads, numbers, Stop::NEVER, work);
            for result in iterator.by_ref() {
                match result {
                    Ok(result) => found.push(result),
                    Err(failure) => error = Some(failure.to_string()),
                }
            }
            assert_eq!((found, error), (expected, ended.err().map(|error| error.to_string())));
            assert!(iterator.next().is_none());
        }
    }

    #[test]
    fn dropping_an_iterator_ends_its_work_and_waits_for_it() {
        for taken in [0, 1, 7] {
            let alive = Arc::new(());
            let held = alive.clone();
            let mut iterator = Ordered::start(2, Stop::NEVER, move |stop, begin| {
                let held = held;
                // Work on a number that never ends by itself.
                begin(0..u64::MAX, &|number| {
                    if number >= 7 {
                        loop {
                            stop.check()?;
                            std::thread::yield_now();
                        }
                    }
                    Ok(Arc::strong_count(&held))
                });
                Ok(())
            });
            assert_eq!(iterator.by_ref().take(taken).filter(Result::is_ok).count(), taken);
            drop(iterator);
            // The owner is gone, with all that it held.
            assert_eq!(Arc::strong_count(&alive), 1);
        }
    }

    #[test]
    fn an_iterator_ends_when_it_is_told_to_and_a_panic_reaches_the_taker() {
        let stop = Stop::new();
        let mut iterator = ordered(2, 0..u64::MAX, &stop, Ok);
        assert!(matches!(iterator.next(), Some(Ok((0, 0)))));
        stop.set();
        assert!(matches!(iterator.next(), Some(Err(Error::Cancelled))));
        assert!(iterator.next().is_none());
        let mut iterator = ordered(3, 0..100, Stop::NEVER, |number| {
            assert_ne!(number, 7, "seven");
            Ok(number)
        });
        assert_eq!(iterator.by_ref().take(7).count(), 7);
        assert!(catch_unwind(AssertUnwindSafe(|| iterator.next())).is_err());
        let failing = |panics: bool| {
            Ordered::<u64>::start(1, Stop::NEVER, move |_, _| {
                assert!(!panics, "while it was prepared");
                Err(Error::arguments("unprepared"))
            })
        };
        assert_eq!(failing(false).next().unwrap().unwrap_err().to_string(), "unprepared");
        assert!(catch_unwind(|| failing(true).next()).is_err());
    }
}
