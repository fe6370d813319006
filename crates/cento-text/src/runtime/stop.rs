//! Cancellation and step budgets.
//!
//! A [`Stop`] ends a computation that a request or a user has begun. The computation checks the
//! handle every few milliseconds. A computation that may take more time than its input is worth
//! also counts [`Steps`] against a bound. The bound counts steps and not time, so that the same
//! input gives the same answer on every machine.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

/// A handle that ends a computation early. Clones of the handle are set together.
///
/// A stopped computation returns [`Error::Cancelled`] within a few milliseconds, and leaves nothing
/// half done. With [`Stop::NEVER`], the default, a computation runs to its end.
///
/// ```
/// use cento_text::{Analyzer, Error, Stop, Tokens};
///
/// let stop = Stop::new();
/// let handle = stop.clone();
/// std::thread::spawn(move || handle.set()).join().unwrap();
/// let analyzed = Analyzer::default().analyze("a text", &mut Tokens::default(), &stop);
/// assert!(matches!(analyzed, Err(Error::Cancelled)));
/// ```
#[derive(Clone, Default)]
pub struct Stop(Option<Arc<Signal>>);

/// The state that the clones of a [`Stop`] share.
struct Signal {
    flag: Arc<AtomicBool>,
    condition: Option<Box<dyn Fn() -> bool + Send + Sync>>,
}

/// The number of iterations of a loop between two checks of the flag: about a millisecond.
pub const PLACES_BETWEEN_LOOKS: usize = 1 << 12;

impl Stop {
    /// The handle of a computation that always runs to its end. Cannot be set.
    pub const NEVER: &'static Stop = &Stop(None);

    /// Returns a handle that [`set`](Stop::set) sets.
    #[must_use]
    pub fn new() -> Stop {
        Stop::from(Arc::<AtomicBool>::default())
    }

    /// Returns a handle that is set while `condition` holds, and after [`set`](Stop::set).
    /// Computations evaluate the condition about every millisecond, so it must be cheap.
    ///
    /// ```
    /// use cento_text::Stop;
    ///
    /// let stop = Stop::when(|| true);
    /// assert!(stop.is_set());
    /// ```
    #[must_use]
    pub fn when(condition: impl Fn() -> bool + Send + Sync + 'static) -> Stop {
        let condition: Option<Box<dyn Fn() -> bool + Send + Sync>> = Some(Box::new(condition));
        Stop(Some(Arc::new(Signal { flag: Arc::default(), condition })))
    }

    /// Ends the computations that have a clone of this handle. Has no effect on
    /// [`NEVER`](Stop::NEVER).
    pub fn set(&self) {
        if let Some(signal) = &self.0 {
            signal.flag.store(true, Ordering::Relaxed);
        }
    }

    /// Tells whether computations should end.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.as_deref().is_some_and(Signal::is_set)
    }

    /// Checks the handle.
    ///
    /// # Errors
    /// [`Error::Cancelled`] when the handle is set.
    pub fn check(&self) -> Result<()> {
        if self.is_set() { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// Checks the handle once every `PLACES_BETWEEN_LOOKS` iterations of a loop. Call this in every
    /// iteration with its number.
    ///
    /// # Errors
    /// [`Error::Cancelled`] when the handle is set.
    #[inline(always)]
    pub fn check_at(&self, place: usize) -> Result<()> {
        if place.is_multiple_of(PLACES_BETWEEN_LOOKS) { self.check() } else { Ok(()) }
    }
}

impl Signal {
    fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
            || self.condition.as_ref().is_some_and(|condition| condition())
    }
}

/// A handle that is set with a flag, for example by the handler of a system signal.
impl From<Arc<AtomicBool>> for Stop {
    fn from(flag: Arc<AtomicBool>) -> Stop {
        Stop(Some(Arc::new(Signal { flag, condition: None })))
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str("Stop::NEVER"),
            Some(_) => f.debug_tuple("Stop").field(&self.is_set()).finish(),
        }
    }
}

/// Counts the steps of a bounded computation, and checks its [`Stop`].
///
/// A step is a comparison, a look-up or the like: some nanoseconds.
#[derive(Debug)]
pub struct Steps<'a> {
    stop: &'a Stop,
    /// The maximum number of steps of a stage.
    max: u64,
    taken: u64,
    /// The number of steps before the current stage began.
    before: u64,
    /// The number of steps that triggers the next check of the flag.
    look: u64,
    /// The number of steps of the longest stage.
    most: u64,
    is_complete: bool,
}

/// The number of steps between two checks of the flag: some milliseconds.
pub const STEPS_BETWEEN_LOOKS: u64 = 1 << 18;

impl<'a> Steps<'a> {
    /// Allows at most `max` steps for each stage of a computation.
    #[must_use]
    pub fn new(max: u64, stop: &'a Stop) -> Steps<'a> {
        Steps { stop, max, taken: 0, before: 0, look: 0, most: 0, is_complete: true }
    }

    /// Allows any number of steps.
    #[must_use]
    pub fn unbounded(stop: &'a Stop) -> Steps<'a> {
        Steps::new(u64::MAX, stop)
    }

    /// Begins a stage, with its own bound of steps.
    pub fn begin_stage(&mut self) {
        self.before = self.taken;
    }

    /// Takes this many steps. If the stage has fewer steps left, takes none and returns `false`:
    /// the caller should then stop with partial results.
    ///
    /// # Errors
    /// [`Error::Cancelled`] when the flag is set.
    #[inline]
    pub fn take(&mut self, steps: u64) -> Result<bool> {
        let taken = self.taken.saturating_add(steps);
        if taken - self.before > self.max {
            self.is_complete = false;
            return Ok(false);
        }
        self.taken = taken;
        self.most = self.most.max(taken - self.before);
        if taken >= self.look {
            self.stop.check()?;
            self.look = taken.saturating_add(STEPS_BETWEEN_LOOKS);
        }
        Ok(true)
    }

    /// Takes `steps` (not 0) for each of `count` things, or for as many things as the remaining
    /// steps of the stage allow. Returns the number of things. If it is less than `count`, the
    /// caller should stop there.
    ///
    /// # Errors
    /// [`Error::Cancelled`] when the flag is set.
    pub fn take_each(&mut self, count: usize, steps: u64) -> Result<usize> {
        let left = self.max - (self.taken - self.before);
        let enough = usize::try_from(left / steps).map_or(count, |enough| enough.min(count));
        let are_taken = self.take(enough as u64 * steps)?;
        debug_assert!(are_taken);
        self.is_complete &= enough == count;
        Ok(enough)
    }

    /// Records that the stage ended early, with work left undone.
    pub fn cut(&mut self) {
        self.is_complete = false;
    }

    /// Returns the number of steps of all stages.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Returns the number of steps of the longest stage.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.most
    }

    /// Tells whether every stage ran to its end.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Returns the handle that stops the computation.
    #[must_use]
    pub fn stop(&self) -> &'a Stop {
        self.stop
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::Stop;

    /// A handle that sets itself after a number of checks, and counts the checks.
    pub struct After {
        stop: Stop,
        looks: Arc<AtomicU64>,
    }

    impl After {
        pub fn looks(looks_max: u64) -> After {
            let looks: Arc<AtomicU64> = Arc::default();
            let counted = looks.clone();
            let stop = Stop::when(move || counted.fetch_add(1, Ordering::Relaxed) >= looks_max);
            After { stop, looks }
        }

        pub fn stop(&self) -> &Stop {
            &self.stop
        }

        pub fn count(&self) -> u64 {
            self.looks.load(Ordering::Relaxed)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_bounded_by_stage_and_stopped_within_a_few() {
        let mut steps = Steps::new(10, Stop::NEVER);
        assert!(steps.take(10).unwrap() && !steps.take(1).unwrap());
        assert!(!steps.is_complete());
        steps.begin_stage();
        assert!(steps.take(10).unwrap() && !steps.is_complete());
        assert_eq!(steps.taken(), 20);
        let mut steps = Steps::new(10, Stop::NEVER);
        assert!(steps.take_each(2, 3).unwrap() == 2 && steps.is_complete());
        assert!(steps.take_each(3, 3).unwrap() == 1 && !steps.is_complete());
        assert_eq!((steps.taken(), steps.most()), (9, 9));
        steps.begin_stage();
        assert_eq!(steps.take_each(9, 3).unwrap(), 3);
        let flag = testing::After::looks(3);
        let mut steps = Steps::unbounded(flag.stop());
        let stopped = (0..).find(|_| steps.take(1000).is_err());
        assert!(stopped.is_some() && steps.taken() <= 4 * STEPS_BETWEEN_LOOKS);
        let flag = testing::After::looks(0);
        assert!(matches!(Steps::unbounded(flag.stop()).take_each(1, 1), Err(Error::Cancelled)));
        let stop = Stop::new();
        assert!(stop.check().is_ok() && Stop::NEVER.check().is_ok());
        stop.clone().set();
        assert!(matches!(stop.check(), Err(Error::Cancelled)));
    }
}
