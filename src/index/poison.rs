//! Detects a writer that failed in the middle of a change.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The mark of a failed writer: set during a change, and not cleared if the change fails or panics.
#[derive(Debug, Clone, Default)]
pub(super) struct Poison(Arc<AtomicBool>);

impl Poison {
    /// Begins a change. The writer is unusable until the change is [finished](ChangeGuard::finish).
    pub fn begin(&self) -> ChangeGuard {
        self.0.store(true, Ordering::Relaxed);
        ChangeGuard(self.clone())
    }

    /// Returns whether a change was begun but not finished.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A change in progress. Dropped unfinished, by an error or a panic, it leaves the writer unusable.
#[derive(Debug)]
#[must_use = "a change that is not finished leaves the writer unusable"]
pub(super) struct ChangeGuard(Poison);

impl ChangeGuard {
    /// Gives up the change, which leaves the writer unusable.
    pub fn abandon(self) {}

    /// Ends the change successfully.
    pub fn finish(self) {
        self.0.0.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_change_that_is_finished_leaves_a_usable_writer() {
        let poison = Poison::default();
        let guard = poison.begin();
        assert!(poison.is_set());
        guard.finish();
        assert!(!poison.is_set());
        drop(poison.begin());
        assert!(poison.is_set());
    }
}
