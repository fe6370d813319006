//! Threads, memory and files: the tools of every layer of the engine.
//!
//! Nothing here depends on text, fingerprints or indexes.

pub mod budget;
pub mod fault;
pub mod ordered;
pub mod pipeline;
pub mod replace;
pub mod stop;

pub use budget::{ByteBudget, Permit};
pub use fault::{Faults, Point};
pub use stop::{Steps, Stop};

/// Returns the number of processors available to this process, at least 1.
#[must_use]
pub fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
