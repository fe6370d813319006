//! The HTTP API, as types, and a client for Rust programs.
//!
//! [`api`] has the bodies of the HTTP API, version 1; [`client`] a blocking client with a method
//! for each route (feature `client`).

pub mod api;
#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "client")]
mod multipart;
mod service_file;

#[cfg(feature = "client")]
pub use client::Client;
pub use service_file::ServiceFile;

/// The default port of a service.
pub const DEFAULT_PORT: u16 = 7227;
