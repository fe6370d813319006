//! Waiting for another thread or process.

use std::time::{Duration, Instant};

/// The longest wait of a test: enough for a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until `is_so`; `what` is the event, for the message of a test that waits in vain.
#[track_caller]
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < until, "waited {PATIENCE:?} in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
