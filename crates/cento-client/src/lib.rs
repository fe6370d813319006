//! A blocking client of the HTTP service, for Rust programs.
//!
//! You call a method of [`Client`] for each route. [`api`] has the bodies of requests and answers.

#[doc(hidden)]
pub mod address;
pub mod client;
mod files;
mod multipart;
#[doc(hidden)]
pub mod public_hosts;
mod shards;
mod watches;
mod webhook;

/// The bodies of the HTTP API, from the package `cento-api`.
pub use cento_api::http as api;
pub use cento_api::{DEFAULT_PORT, ServiceFile};
pub use client::Client;
pub use webhook::WebhookClient;
