//! The library as programs use it: one binary, because each links all of tantivy.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod add_indexes;
mod api;
mod boilerplate;
mod book;
mod circles;
mod common;
mod conformance;
mod copies;
mod crash;
mod cut_short;
mod damage;
mod dedup;
mod deep;
mod examples;
mod exchanged;
mod excluded;
mod extent;
mod format;
mod index;
mod interrupted;
mod join;
mod keyed;
mod layout;
mod matched;
mod misplaced;
mod moved;
mod naive_reader;
mod names;
mod openings;
mod parts;
mod passages;
mod presets;
mod readmes;
mod replaced;
mod scripts;
mod search;
mod segment;
mod signatures;
mod similarity;
mod tidy;
mod union;
mod watches;
mod withdraw;
mod writer_defects;
