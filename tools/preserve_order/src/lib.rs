//! Tests that hashes, comparisons and stored bytes do not depend on the order that `serde_json`
//! keeps the members of an object in.
//!
//! `preserve_order` makes it the order of insertion; any crate of a build can turn it on for all.
//! The files of cento through which such bytes go are compiled here with the feature on, together
//! with their own tests, which expect the same bytes as without it.

#![cfg(test)]
#![allow(dead_code)]

#[path = "../../../src/index/canonical.rs"]
mod canonical;
#[path = "../../../crates/cento-text/src/hash.rs"]
mod hash;

#[test]
fn the_feature_is_on() {
    assert_eq!(serde_json::json!({"b": 1, "a": 2}).to_string(), r#"{"b":1,"a":2}"#);
}
