//! What do a service and its clients say to each other, and how does a Rust program ask?
//!
//! [`api`] has the bodies of the HTTP API, version 1; [`client`] a blocking client with a method for
//! each route (feature `client`).

pub mod api;
#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "client")]
mod multipart;
mod service_file;

#[cfg(feature = "client")]
pub use client::Client;
pub use service_file::ServiceFile;

/// The port at which a service listens unless it is given another.
pub const DEFAULT_PORT: u16 = 7227;
