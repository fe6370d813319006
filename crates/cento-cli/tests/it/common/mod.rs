//! Shared helpers: the real binary, and a running service.

pub mod nginx;
pub mod run;
pub mod service;

pub use cento_testing::*;
