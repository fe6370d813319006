//! What the tests of several packages share.
//!
//! Texts, indexes and their expected contents, directories, waiting, exchanges over HTTP, faults,
//! and a second reader of the format. What the tests of one package need is in that package.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

pub mod archive;
pub mod cargo_sources;
mod dir;
#[cfg(unix)]
pub mod exchanged;
pub mod fault;
pub mod host;
pub mod http;
mod index;
pub mod markup;
pub mod naive;
pub mod naive_withdrawals;
pub mod raw;
pub mod several;
pub mod sim;
mod text;
pub mod udhr;
mod wait;

pub use dir::{Dir, zip};
pub use index::{
    Model, add, assert_holds, config, contents, document, fill, holds, without_footer,
};
pub use text::{corpus, line, words};
pub use wait::wait_until;
