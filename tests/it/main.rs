//! Tests of the library as programs use it. A single binary, because each binary links all of
//! tantivy.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod api;
mod boilerplate;
mod book;
mod circles;
mod common;
mod conformance;
mod damage;
mod deep;
mod examples;
mod exchanged;
mod excluded;
mod extent;
mod format;
mod index;
mod interrupted;
mod misplaced;
mod names;
mod openings;
mod parts;
mod readmes;
mod replaced;
mod scripts;
mod search;
mod segment;
mod shards;
mod shards_trace;
mod tidy;
mod writer_defects;
