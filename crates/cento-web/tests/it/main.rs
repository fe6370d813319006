//! Sources on the web, with search engines and hosts of the tests' own on loopback.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod command;
#[cfg(feature = "tls")]
mod https;
mod sources;
