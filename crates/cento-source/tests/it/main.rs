//! Tests of reading files into documents.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod archives;
mod census;
mod common;
mod compressed;
mod lists;
mod mails;
mod markup;
mod readers;
mod walk;
