//! Shared parts of these tests: the real binary, a running service.

pub mod nginx;
pub mod run;
pub mod service;

pub use cento_testing::*;
