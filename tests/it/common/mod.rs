//! Shared parts of these tests, beside those that other packages share too.

pub mod example;
pub mod sim;
pub mod stream;
pub mod withdrawals;

pub use cento_testing::{
    Model, add, assert_holds, config, contents, document, fault, holds, naive, naive_withdrawals,
    udhr, without_footer, words,
};
