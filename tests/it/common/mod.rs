//! Shared parts of these tests, beside those that other packages share too.

pub mod example;

pub use cento_testing::{
    Model, add, assert_holds, config, contents, document, fault, holds, naive_withdrawals, udhr,
    without_footer, words,
};
