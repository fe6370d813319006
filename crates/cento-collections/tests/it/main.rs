//! Collections as programs use them, in a single binary, because every test binary links tantivy.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod add_indexes;
mod all_words;
mod common;
mod copies;
mod crash;
mod cut_short;
mod dedup;
mod examples;
mod join;
mod keyed;
mod layout;
mod matched;
mod moved;
mod naive_reader;
mod passages;
mod presets;
mod signatures;
mod similarity;
mod union;
mod unspaced;
mod watch_requests;
mod watches;
mod withdraw;
mod withdraw_record;
