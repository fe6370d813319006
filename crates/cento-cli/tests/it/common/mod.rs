//! What several tests need: the library's helpers, the real binary, a running service.

#[path = "../../../../../tests/it/common/mod.rs"]
mod library;
pub mod run;
pub mod service;

pub use library::*;
