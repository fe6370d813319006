//! Points where a test can stop the process.
//!
//! With `CENTO_PAUSE=POINT:N` in the environment, a run pauses at the N-th visit of the point,
//! reports the pause on standard error, and continues when standard input ends. Tests can thus
//! interrupt a run at a known place, whatever the speed of the machine.

use std::io::{self, Read};

use super::terminal::tell;

/// A point where a run may be stopped, and the number of visits.
pub struct Failpoint {
    point: &'static str,
    /// Visits before the pause. `None` for points without a pause.
    left: Option<u64>,
}

impl Failpoint {
    /// Makes the point of this name.
    pub fn at(point: &'static str) -> Failpoint {
        let wanted = std::env::var("CENTO_PAUSE").unwrap_or_default();
        let wanted = wanted.split_once(':').filter(|(name, _)| *name == point);
        Failpoint { point, left: wanted.and_then(|(_, number)| number.parse().ok()) }
    }

    /// Counts a visit; pauses the run if this is the visit to pause at.
    pub fn reached(&mut self) {
        let Some(left) = &mut self.left else { return };
        *left = left.saturating_sub(1);
        if *left == 0 {
            self.left = None;
            tell!("cento: paused at {}", self.point);
            // The end of the input, for whatever reason, lets the run continue.
            let _ = io::stdin().read_to_end(&mut Vec::new());
        }
    }
}
