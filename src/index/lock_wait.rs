//! Waiting for the lock of the writer.

use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::runtime::Stop;

/// The pause between two attempts. The lock is polled because the system does not report its
/// release. An attempt costs a few microseconds.
const INTERVAL: Duration = Duration::from_millis(20);

/// How long to wait for a lock held by another process or thread. The default is not to wait, so a
/// locked index is an error at once.
///
/// Waiters do not queue: when the lock is released, any waiter may get it.
#[derive(Debug, Clone, Default)]
pub struct LockWait {
    time: Duration,
    stop: Stop,
}

impl LockWait {
    /// Waits for at most `time`. `stop` ends the wait early.
    #[must_use]
    pub fn new(time: Duration, stop: Stop) -> LockWait {
        LockWait { time, stop }
    }

    /// Calls `attempt` until its result is not [`Error::Locked`], or the time is over.
    ///
    /// ```
    /// use std::time::Duration;
    /// use cento::{Config, Index, LockWait, Stop, WriterOptions};
    ///
    /// let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
    /// let wait = LockWait::new(Duration::from_secs(60), Stop::new());
    /// let patient = index.clone().with_lock_wait(wait);
    /// let writer = index.writer(WriterOptions::default())?;
    /// let next = std::thread::spawn(move || patient.writer(WriterOptions::default()).is_ok());
    /// drop(writer);
    /// assert!(next.join().expect("it does not panic"));
    /// # Ok::<(), cento::Error>(())
    /// ```
    ///
    /// # Errors
    /// The error of the last attempt. [`Error::Cancelled`] soon after the stop is set.
    pub fn retry<T>(&self, mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
        let started = Instant::now();
        loop {
            match attempt() {
                Err(Error::Locked { .. }) if started.elapsed() < self.time => {
                    self.stop.check()?;
                    thread::sleep(INTERVAL);
                }
                done => return done,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails as locked `locked` times, then succeeds. Returns the result and the number of
    /// attempts.
    fn attempts(wait: &LockWait, locked: u32) -> (Result<()>, u32) {
        let mut attempts = 0;
        let done = wait.retry(|| {
            attempts += 1;
            if attempts > locked { Ok(()) } else { Err(Error::Locked { path: "idx".into() }) }
        });
        (done, attempts)
    }

    #[test]
    fn a_lock_is_tried_until_it_is_free_or_the_time_is_over() {
        let hour = LockWait::new(Duration::from_secs(3600), Stop::new());
        assert!(matches!(attempts(&hour, 3), (Ok(()), 4)));
        assert!(matches!(attempts(&LockWait::default(), 3), (Err(Error::Locked { .. }), 1)));
        let other = hour.retry(|| Err::<(), _>(Error::Cancelled));
        assert!(matches!(other, Err(Error::Cancelled)));
    }

    #[test]
    fn a_stop_ends_the_waiting() {
        let stop = Stop::new();
        stop.set();
        let hour = LockWait::new(Duration::from_secs(3600), stop);
        assert!(matches!(attempts(&hour, 3), (Err(Error::Cancelled), 1)));
    }
}
