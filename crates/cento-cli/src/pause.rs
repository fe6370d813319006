//! Where can a test stop the process?
//!
//! With `CENTO_PAUSE=POINT:N` in the environment a run stops when it comes to the point for the
//! N-th time, says so on standard error, and goes on when its standard input ends. So tests of
//! interrupted runs interrupt them at a place they know, whatever the speed of the machine.

use std::io::{self, Read};

use super::terminal::tell;

/// A point at which a run may be stopped, and how often it has come there.
pub struct Pause {
    point: &'static str,
    /// Visits before the stop; none if it is not to stop here.
    left: Option<u64>,
}

impl Pause {
    /// The point of this name.
    pub fn at(point: &'static str) -> Pause {
        let wanted = std::env::var("CENTO_PAUSE").unwrap_or_default();
        let wanted = wanted.split_once(':').filter(|(name, _)| *name == point);
        Pause { point, left: wanted.and_then(|(_, number)| number.parse().ok()) }
    }

    /// The run has come here.
    pub fn reached(&mut self) {
        let Some(left) = &mut self.left else { return };
        *left = left.saturating_sub(1);
        if *left == 0 {
            self.left = None;
            tell!("cento: paused at {}", self.point);
            // Whatever ends the input lets the run go on.
            let _ = io::stdin().read_to_end(&mut Vec::new());
        }
    }
}
