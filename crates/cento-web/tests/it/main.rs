//! Sources on the web, with the tests' own search engines and hosts on loopback.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod command;
#[cfg(feature = "tls")]
mod https;
mod sources;
