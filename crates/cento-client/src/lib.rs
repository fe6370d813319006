//! A blocking client of the HTTP service, for Rust programs.
//!
//! [`Client`] has a method for each route; [`api`] has the bodies that they send and return.

pub mod client;
mod files;
mod multipart;
mod watches;

/// The bodies of the HTTP API, of the package `cento-api`.
pub use cento_api::http as api;
pub use cento_api::{DEFAULT_PORT, ServiceFile};
pub use client::Client;
