//! Tests of the service in this process: answers, limits, and guarantees while clients write, are
//! slow or fail.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod access;
mod answers;
mod api;
mod common;
mod concurrent;
mod connections;
mod defects;
mod documents;
mod encodings;
mod exchanged;
mod families;
mod files;
mod hardened;
mod lists;
mod merge;
mod metrics;
mod refusals;
mod reports;
mod several;
mod shards;
mod stops;
mod submissions;
mod values;
mod webhooks;
