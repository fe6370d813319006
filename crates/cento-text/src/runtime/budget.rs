//! Memory budgets, shared by every user of memory that grows with its input.
//!
//! A user of memory first takes a [`Permit`] from the [`ByteBudget`], and gives the bytes back by
//! dropping the permit. Waiting threads are admitted in order of arrival, so that small requests
//! cannot keep a large request out indefinitely.
//!
//! The holder of a permit must not wait for a second permit of the same budget: two holders who
//! wait for each other never end. [`ByteBudget::try_enter`], [`ByteBudget::try_take`] and
//! [`Permit::try_grow`] never wait, so holders may call these functions.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A number of bytes, and how many of the bytes are taken.
///
/// ```
/// use cento_text::ByteBudget;
///
/// let budget = ByteBudget::new(100);
/// let permit = budget.try_enter(80).unwrap();
/// assert!(budget.try_enter(80).is_none());
/// drop(permit);
/// assert!(budget.try_enter(80).is_some());
/// ```
#[derive(Debug)]
pub struct ByteBudget {
    state: Mutex<BudgetState>,
    changed: Condvar,
}

#[derive(Debug)]
struct BudgetState {
    bytes_max: usize,
    bytes: usize,
    is_closed: bool,
    /// The numbers of the waiting threads, in order of arrival.
    waiting: VecDeque<u64>,
    next: u64,
}

/// Bytes of a budget, which dropping the permit gives back.
#[derive(Debug)]
#[must_use = "a permit that is dropped gives its bytes back"]
pub struct Permit {
    budget: Arc<ByteBudget>,
    bytes: usize,
}

/// How often a waiting thread checks whether its bytes are still wanted.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

impl ByteBudget {
    /// Creates a budget of `bytes_max` bytes.
    #[must_use]
    pub fn new(bytes_max: usize) -> Arc<ByteBudget> {
        let state = BudgetState {
            bytes_max,
            bytes: 0,
            is_closed: false,
            waiting: VecDeque::new(),
            next: 0,
        };
        Arc::new(ByteBudget { state: Mutex::new(state), changed: Condvar::new() })
    }

    fn lock(&self) -> MutexGuard<'_, BudgetState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the size of the budget, taken bytes included.
    pub fn bytes_max(&self) -> usize {
        self.lock().bytes_max
    }

    /// Waits until all earlier requests have been admitted, and until `bytes` more bytes fit or no
    /// bytes are taken. A request larger than the budget is therefore admitted alone. `None` when
    /// the budget is closed.
    pub fn enter(self: &Arc<Self>, bytes: usize) -> Option<Permit> {
        self.enter_while(bytes, &|| true)
    }

    /// Waits as [`enter`](Self::enter) does while `is_wanted` returns `true`, which is called many
    /// times a second. `None` as soon as it returns `false`.
    pub fn enter_while(
        self: &Arc<Self>,
        bytes: usize,
        is_wanted: &dyn Fn() -> bool,
    ) -> Option<Permit> {
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        state.waiting.push_back(number);
        loop {
            if state.is_closed || !is_wanted() {
                state.waiting.retain(|waiting| *waiting != number);
                self.changed.notify_all();
                return None;
            }
            if state.waiting.front() == Some(&number) && (state.bytes == 0 || state.fits(bytes)) {
                state.waiting.pop_front();
                state.bytes += bytes;
                // The next waiting thread may fit beside this request.
                self.notify(&state);
                return Some(Permit { budget: self.clone(), bytes });
            }
            let waited = self.changed.wait_timeout(state, LOOK_INTERVAL);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Takes `bytes` bytes if they are available now and no thread waits. Never blocks.
    pub fn try_enter(self: &Arc<Self>, bytes: usize) -> Option<Permit> {
        let mut state = self.lock();
        if state.is_closed || !state.waiting.is_empty() || !state.fits(bytes) {
            return None;
        }
        state.bytes += bytes;
        Some(Permit { budget: self.clone(), bytes })
    }

    /// Takes `bytes` bytes if available, even while threads wait. For a permit holder that must
    /// finish before the waiting threads can be admitted.
    pub fn try_take(self: &Arc<Self>, bytes: usize) -> Option<Permit> {
        let mut state = self.lock();
        if state.is_closed || !state.fits(bytes) {
            return None;
        }
        state.bytes += bytes;
        Some(Permit { budget: self.clone(), bytes })
    }

    /// Refuses further requests, and wakes every waiting thread.
    pub fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// Returns whether the budget refuses requests.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    /// Opens a closed budget again, with a new size. Permits from before still count.
    pub fn open(&self, bytes_max: usize) {
        let mut state = self.lock();
        (state.bytes_max, state.is_closed) = (bytes_max, false);
        self.changed.notify_all();
    }
}

impl BudgetState {
    fn fits(&self, bytes: usize) -> bool {
        self.bytes.checked_add(bytes).is_some_and(|bytes| bytes <= self.bytes_max)
    }
}

impl Permit {
    /// Returns the number of bytes of the permit.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes `bytes` more bytes if they are available now. Otherwise returns `false` and changes
    /// nothing.
    pub fn try_grow(&mut self, bytes: usize) -> bool {
        let more = self.budget.try_enter(bytes);
        // The bytes belong to this permit now, so dropping `more` must not give them back.
        more.is_some_and(|mut more| {
            self.bytes += std::mem::take(&mut more.bytes);
            true
        })
    }

    /// Gives back all but `bytes` bytes.
    pub fn shrink_to(&mut self, bytes: usize) {
        let rest = self.bytes.saturating_sub(bytes);
        self.bytes -= rest;
        self.budget.leave(rest);
    }
}

impl ByteBudget {
    fn leave(&self, bytes: usize) {
        if bytes > 0 {
            let mut state = self.lock();
            state.bytes -= bytes;
            self.notify(&state);
        }
    }

    /// Wakes the waiting threads, if any: a notification is a system call even if no thread waits.
    fn notify(&self, state: &BudgetState) {
        if !state.waiting.is_empty() {
            self.changed.notify_all();
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.budget.leave(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    #[test]
    fn an_item_larger_than_the_budget_passes_alone() {
        let budget = ByteBudget::new(10);
        let large = budget.enter(100).unwrap();
        std::thread::scope(|scope| {
            let second = scope.spawn(|| budget.enter(5).unwrap().bytes());
            while budget.lock().waiting.is_empty() {
                std::thread::yield_now();
            }
            assert!(budget.try_enter(0).is_none(), "a waiter is first");
            assert!(budget.try_take(1).is_none(), "nothing is left");
            drop(large);
            assert_eq!(second.join().unwrap(), 5);
        });
        assert!(
            budget.try_enter(11).is_none(),
            "a request that is larger than the budget has to wait"
        );
        assert_eq!(budget.lock().bytes, 0);
    }

    #[test]
    fn a_closed_budget_releases_its_waiters() {
        let budget = ByteBudget::new(10);
        let held = budget.enter(10).unwrap();
        std::thread::scope(|scope| {
            let second = scope.spawn(|| budget.enter(5).is_none());
            budget.close();
            assert!(second.join().unwrap());
        });
        assert!(budget.enter(1).is_none() && budget.try_enter(1).is_none());
        budget.open(10);
        assert!(budget.try_enter(1).is_none(), "the held part is still held");
        drop(held);
        assert!(budget.enter(1).is_some());
    }

    #[test]
    fn a_cancelled_waiter_makes_way() {
        let budget = ByteBudget::new(10);
        let held = budget.enter(8).unwrap();
        let is_wanted = AtomicBool::new(true);
        std::thread::scope(|scope| {
            let large =
                scope.spawn(|| budget.enter_while(9, &|| is_wanted.load(Ordering::Relaxed)));
            while budget.lock().waiting.is_empty() {
                std::thread::yield_now();
            }
            assert!(budget.try_enter(2).is_none() && budget.try_take(3).is_none());
            drop(budget.try_take(2).expect("two are left"));
            let small = scope.spawn(|| budget.enter(2).is_some());
            is_wanted.store(false, Ordering::Relaxed);
            assert!(large.join().unwrap().is_none());
            assert!(small.join().unwrap(), "it fits, now that it is first");
        });
        drop(held);
    }

    #[test]
    fn a_permit_grows_and_shrinks_within_the_budget() {
        let budget = ByteBudget::new(10);
        let mut permit = budget.enter(4).unwrap();
        assert!(permit.try_grow(6) && !permit.try_grow(1));
        permit.shrink_to(3);
        assert_eq!((permit.bytes(), budget.lock().bytes), (3, 3));
        drop(permit);
        assert_eq!(budget.lock().bytes, 0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn no_more_is_inside_than_fits_and_everybody_gets_in(
            bytes_max in 1usize..20,
            wanted in prop::collection::vec(prop::collection::vec(0usize..30, 1..30), 1..6),
        ) {
            let budget = ByteBudget::new(bytes_max);
            let (inside, entered) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let total: usize = wanted.iter().map(Vec::len).sum();
            let is_kept = std::thread::scope(|scope| {
                let threads: Vec<_> = wanted.iter().map(|sizes| scope.spawn({
                    let (budget, inside, entered) = (&budget, &inside, &entered);
                    move || {
                    let mut is_kept = true;
                    for &bytes in sizes {
                        let mut permit = budget.enter(bytes).expect("the budget is open");
                        let with_others = inside.fetch_add(bytes, Ordering::SeqCst) + bytes;
                        // Beside a request for no bytes, a large request may be admitted meanwhile.
                        is_kept &= bytes == 0 || with_others <= bytes_max.max(bytes);
                        if permit.try_grow(1) {
                            is_kept &= inside.fetch_add(1, Ordering::SeqCst) < bytes_max;
                        }
                        std::thread::yield_now();
                        inside.fetch_sub(permit.bytes(), Ordering::SeqCst);
                        entered.fetch_add(1, Ordering::SeqCst);
                    }
                    is_kept
                }})).collect();
                threads.into_iter().all(|thread| thread.join().expect("no thread panics"))
            });
            prop_assert!(is_kept);
            prop_assert_eq!(entered.into_inner(), total);
            prop_assert_eq!(budget.lock().bytes, 0);
        }
    }
}
