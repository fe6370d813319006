//! Shares a list of work among idle threads.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls `work` for every number below `count`, in any order, until a call returns false. The calls
/// run on this thread and at most `others_max` further threads at a time, with a permit per thread.
///
/// A thread returns its permit after a call and requests a new permit. So waiting requests get
/// permits first, and a long list delays a request by a single call at most.
pub fn share<P: Send>(
    count: usize,
    others_max: usize,
    permit: &(dyn Fn() -> Option<P> + Sync),
    work: &(dyn Fn(usize) -> bool + Sync),
) {
    let (next, others) = (AtomicUsize::new(0), AtomicUsize::new(0));
    // Returns false when no work is left.
    let step = || {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= count {
            return false;
        }
        if !work(number) {
            next.store(count, Ordering::Relaxed);
        }
        true
    };
    let help = |first: P| {
        let mut held = Some(first);
        while held.is_some() && step() {
            drop(held.take());
            held = permit();
        }
        others.fetch_sub(1, Ordering::Relaxed);
    };
    std::thread::scope(|scope| {
        loop {
            // The last call is left for this thread.
            let is_more = next.load(Ordering::Relaxed).saturating_add(1) < count;
            if is_more
                && others.load(Ordering::Relaxed) < others_max
                && let Some(first) = permit()
            {
                others.fetch_add(1, Ordering::Relaxed);
                scope.spawn(|| help(first));
                continue;
            }
            if !step() {
                break;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::{Barrier, Mutex};

    use super::*;

    #[test]
    fn each_piece_of_work_is_done_once_with_any_number_of_threads() {
        for others in 0..4 {
            let done = Mutex::new(Vec::new());
            let work = |number| {
                done.lock().unwrap().push(number);
                true
            };
            share(100, others, &|| Some(()), &work);
            let mut done = done.into_inner().unwrap();
            done.sort_unstable();
            assert_eq!(done, (0..100).collect::<Vec<_>>(), "{others} others");
        }
    }

    #[test]
    fn pieces_are_worked_on_at_the_same_time() {
        // Every call waits for the other calls, so a single thread would never end.
        let barrier = Barrier::new(3);
        let threads = Mutex::new(BTreeSet::new());
        let work = |_| {
            barrier.wait();
            threads.lock().unwrap().insert(format!("{:?}", std::thread::current().id()));
            true
        };
        share(3, 2, &|| Some(()), &work);
        assert_eq!(threads.into_inner().unwrap().len(), 3);
    }

    #[test]
    fn without_a_permit_this_thread_does_all() {
        let this = std::thread::current().id();
        let done = AtomicUsize::new(0);
        let work = |_| {
            assert_eq!(std::thread::current().id(), this);
            done.fetch_add(1, Ordering::Relaxed);
            true
        };
        share(20, 3, &|| None::<()>, &work);
        assert_eq!(done.into_inner(), 20);
    }

    #[test]
    fn no_piece_is_begun_after_one_that_ends_it() {
        let done = Mutex::new(Vec::new());
        let work = |number| {
            done.lock().unwrap().push(number);
            number != 5
        };
        share(1000, 0, &|| Some(()), &work);
        assert_eq!(done.into_inner().unwrap(), [0, 1, 2, 3, 4, 5]);
    }
}
