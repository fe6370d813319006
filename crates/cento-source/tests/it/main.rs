//! Tests of reading files into documents.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[cfg(feature = "archives")]
mod archives;
mod census;
mod common;
mod compressed;
mod lists;
#[cfg(feature = "mail")]
mod mails;
#[cfg(feature = "markdown")]
mod markup;
#[cfg(feature = "archives")]
mod readers;
mod walk;
