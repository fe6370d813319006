//! Helpers of these tests. Other packages share the helpers in `cento_testing`.

pub mod example;

pub use cento_testing::{
    Model, add, assert_holds, config, contents, document, fault, holds, naive_withdrawals, udhr,
    without_footer, words,
};
