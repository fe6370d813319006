//! Threads, memory and files: what every layer of the engine works with.
//!
//! Nothing here depends on text, fingerprints or indexes.

pub(crate) mod budget;
pub(crate) mod fault;
pub(crate) mod ordered;
pub mod pipeline;
pub mod replace;
pub(crate) mod stop;

pub use budget::{ByteBudget, Permit};
pub use fault::{Faults, Point};
pub use stop::{Steps, Stop};
