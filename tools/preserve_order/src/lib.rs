//! Tests that hashes, comparisons and stored bytes do not depend on the order of the members of an
//! object in `serde_json`.
//!
//! The feature `preserve_order` keeps members in the order of insertion, and any crate of a build
//! can turn the feature on for the whole build. This crate turns the feature on and compiles the
//! files of cento that produce such bytes. Their own tests run too and expect the same bytes as
//! without the feature.

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
