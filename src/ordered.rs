//! Parallel work on a list, with the results in its order.

use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam::channel::bounded;

use crate::error::{Error, Result};
use crate::stop::Stop;

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
    let (threads, waiting) = (threads.max(1), waiting.max(1));
    let next = AtomicU64::new(numbers.start);
    // A permit is taken before a number is, and given back when its result has been taken: so the
    // number whose turn it is is always being worked on.
    let (permit_tx, permit_rx) = bounded::<()>(waiting);
    for _ in 0..waiting {
        let _ = permit_tx.send(());
    }
    let (done_tx, done_rx) = bounded(waiting);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (permit_rx, done_tx) = (permit_rx.clone(), done_tx.clone());
            let (next, end) = (&next, numbers.end);
            scope.spawn(move || {
                while permit_rx.recv().is_ok() {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= end {
                        return;
                    }
                    // A panic must reach the caller, which would wait for this number forever.
                    let result = catch_unwind(AssertUnwindSafe(|| work(number)));
                    if done_tx.send((number, result)).is_err() {
                        return;
                    }
                }
            });
        }
        drop((done_tx, permit_rx));
        let mut waiting: BTreeMap<u64, std::thread::Result<Result<T>>> = BTreeMap::new();
        let mut turn = numbers.start;
        let take = || -> Result<()> {
            while turn < numbers.end {
                let Ok((number, result)) = done_rx.recv() else {
                    let place = format!("number {turn} of {}", numbers.end);
                    return Err(Error::internal(place, "a thread ended before its work"));
                };
                waiting.insert(number, result);
                while let Some(result) = waiting.remove(&turn) {
                    if stop.is_set() {
                        return Err(Error::Cancelled);
                    }
                    sink(turn, result.unwrap_or_else(|panic| resume_unwind(panic))?)?;
                    turn += 1;
                    let _ = permit_tx.send(());
                }
            }
            Ok(())
        };
        let taken = catch_unwind(AssertUnwindSafe(take));
        // Threads that wait for a permit, or to hand over a result, end.
        drop((permit_tx, done_rx));
        taken.unwrap_or_else(|panic| resume_unwind(panic))
    })
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
}
