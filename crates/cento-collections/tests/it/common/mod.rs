//! Shared parts of these tests, beside those that other packages share too.

pub mod stream;
pub mod withdrawals;

pub use cento_testing::{
    Model, add, assert_holds, config, contents, document, holds, naive, naive_withdrawals, sim,
    without_footer, words,
};
