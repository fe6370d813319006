//! Whether a writer may go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The mark of a writer that failed: set while a change is made, and left so by one that fails or
/// panics half way.
#[derive(Debug, Clone, Default)]
pub(super) struct Poison(Arc<AtomicBool>);

impl Poison {
    /// Begins a change. Until it is [finished](ChangeGuard::finish), the writer is unusable.
    pub fn begin(&self) -> ChangeGuard {
        self.0.store(true, Ordering::Relaxed);
        ChangeGuard(self.clone())
    }

    /// Tells whether a change was begun and not finished.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A change that has begun. Dropped unfinished, by an error or a panic, it leaves the writer
/// unusable.
#[derive(Debug)]
#[must_use = "a change that is not finished leaves the writer unusable"]
pub(super) struct ChangeGuard(Poison);

impl ChangeGuard {
    /// Gives the change up, and with it the writer.
    pub fn abandon(self) {}

    /// Ends the change, which is whole.
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
