//! Parallel work on a range of numbers, with the results in the order of the numbers.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread::JoinHandle;

use crossbeam::channel::{Receiver, bounded};

use super::pipeline::{FeedHandle, WAITING_PER_THREAD, ends};
use super::stop::Stop;
use crate::error::{Error, Result};

/// Calls `work` for every number of the range, on `threads` threads, and hands the results to
/// `sink` in order. Memory is bounded, because at most `WAITING_PER_THREAD` results per thread
/// wait.
///
/// ```
/// use cento_text::{Stop, runtime::ordered::in_order};
///
/// let mut squares = Vec::new();
/// in_order(2, 0..5, Stop::NEVER, &|number| Ok(number * number), &mut |_, square| {
///     squares.push(square);
///     Ok(())
/// })?;
/// assert_eq!(squares, [0, 1, 4, 9, 16]);
/// # Ok::<(), cento_text::Error>(())
/// ```
///
/// # Errors
/// The first error of `work` or `sink`, in order. [`Error::Cancelled`] after `stop`.
pub fn in_order<T: Send>(
    threads: usize,
    numbers: Range<u64>,
    stop: &Stop,
    work: &(dyn Fn(u64) -> Result<T> + Sync),
    sink: &mut dyn FnMut(u64, T) -> Result<()>,
) -> Result<()> {
    in_order_within(threads, threads.max(1) * WAITING_PER_THREAD, numbers, stop, work, sink)
}

/// Does the work of [`in_order`] with at most `waiting` results (at least 1) in progress or waiting
/// for their turn. For results that take much memory.
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
    let (feed, workers, results) = ends(threads, WAITING_PER_THREAD, waiting.max(1), stop);
    let fed = FeedHandle::new(numbers.clone(), |_| 1, feed, results);
    std::thread::scope(|scope| {
        workers.spawn(scope, work);
        let take = || numbers.zip(fed).try_for_each(|(number, result)| sink(number, result??));
        // The threads end with the iterator, which is dropped here.
        let taken = catch_unwind(AssertUnwindSafe(take));
        taken.unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// Returns the maximum number of results that exist at a time, with this many threads.
pub fn results_max(threads: usize) -> usize {
    // Besides the results in the pipeline, the consumer holds a result.
    threads.max(1) * WAITING_PER_THREAD + 1
}

/// An iterator over the results of [`in_order`], for a caller that cannot pass a sink.
///
/// A thread owns the work and the data that the work borrows. Dropping the iterator ends the
/// threads, and waits until the work has checked its [`Stop`].
pub struct OrderedResults<T> {
    /// The results, or `None` once the threads are to end.
    fed: Option<Box<FeedHandle<Range<u64>, Result<T>>>>,
    /// Receives the range of numbers as soon as the owner knows the range, or the error of the
    /// owner.
    begun: Receiver<Result<Range<u64>>>,
    has_begun: bool,
    number: u64,
    stop: Stop,
    owner: Option<JoinHandle<()>>,
}

impl<T> std::fmt::Debug for OrderedResults<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ordered").finish_non_exhaustive()
    }
}

/// The function that begins the work of [`OrderedResults`], given the range of numbers and the
/// work.
pub type Begin<'a, T> = &'a mut dyn FnMut(Range<u64>, &(dyn Fn(u64) -> Result<T> + Sync));

impl<T: Send + 'static> OrderedResults<T> {
    /// Starts `own` on a thread, with a [`Stop`] that ends the work when the iterator is dropped or
    /// `stop` is set. `own` prepares and begins the work, at most once.
    pub fn start(
        threads: usize,
        stop: &Stop,
        own: impl FnOnce(&Stop, Begin<'_, T>) -> Result<()> + Send + 'static,
    ) -> OrderedResults<T> {
        let room = threads.max(1) * WAITING_PER_THREAD;
        let (feed, workers, results) = ends(threads, WAITING_PER_THREAD, room, stop);
        let (begin_in, begun) = bounded(1);
        let (stop, own_stop) = (results.stop().clone(), results.stop().clone());
        let owner = std::thread::spawn(move || {
            let mut workers = Some(workers);
            let mut begin = |numbers: Range<u64>, work: &(dyn Fn(u64) -> Result<T> + Sync)| {
                let Some(workers) = workers.take() else { return };
                let _ = begin_in.send(Ok(numbers));
                std::thread::scope(|scope| workers.spawn(scope, work));
            };
            if let Err(error) = own(&own_stop, &mut begin) {
                let _ = begin_in.send(Err(error));
            }
        });
        let fed = Some(Box::new(FeedHandle::new(0..0, |_| 1, feed, results)));
        OrderedResults { fed, begun, has_begun: false, number: 0, stop, owner: Some(owner) }
    }

    fn result(&mut self) -> Option<Result<(u64, T)>> {
        let fed = self.fed.as_mut()?;
        if !self.has_begun {
            match self.begun.recv() {
                Ok(Ok(numbers)) => (self.number, fed.inputs) = (numbers.start, numbers),
                Ok(Err(error)) => return Some(Err(error)),
                Err(_) => match self.end() {
                    Ok(()) => return Some(Err(Error::internal("a list", "its work never began"))),
                    Err(panic) => resume_unwind(panic),
                },
            }
            self.has_begun = true;
        }
        let number = self.number;
        self.number += 1;
        let result = self.fed.as_mut()?.next()?;
        Some(result.flatten().map(|result| (number, result)))
    }
}

impl<T> OrderedResults<T> {
    /// Ends the threads, and waits for the owner. Returns its panic, if any.
    fn end(&mut self) -> std::thread::Result<()> {
        self.stop.set();
        self.fed = None;
        self.owner.take().map_or(Ok(()), JoinHandle::join)
    }
}

impl<T: Send + 'static> Iterator for OrderedResults<T> {
    type Item = Result<(u64, T)>;

    /// Returns the next result with its number, and `None` after an error.
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

impl<T> Drop for OrderedResults<T> {
    fn drop(&mut self) {
        // The consumer has seen a panic already, or does not want the result.
        let _ = self.end();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn results_come_in_order_whatever_they_take() {
        for threads in [1, 2, 5] {
            // Among as many consecutive numbers as there are threads, the last number is done
            // first.
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

    /// The iterator over `work`, which needs no preparation.
    fn ordered<T: Send + 'static>(
        threads: usize,
        numbers: Range<u64>,
        stop: &Stop,
        work: impl Fn(u64) -> Result<T> + Send + Sync + 'static,
    ) -> OrderedResults<T> {
        OrderedResults::start(threads, stop, move |_, begin| {
            begin(numbers, &work);
            Ok(())
        })
    }

    #[test]
    fn an_iterator_gives_what_a_sink_gets() {
        // Some numbers take longer, and some fail.
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
            let mut iterator = OrderedResults::start(2, Stop::NEVER, move |stop, begin| {
                let held = held;
                // Work that ends only when stopped.
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
            // The owner was dropped, and its data with it.
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
            OrderedResults::<u64>::start(1, Stop::NEVER, move |_, _| {
                assert!(!panics, "while it was prepared");
                Err(Error::arguments("unprepared"))
            })
        };
        assert_eq!(failing(false).next().unwrap().unwrap_err().to_string(), "unprepared");
        assert!(catch_unwind(|| failing(true).next()).is_err());
    }
}
