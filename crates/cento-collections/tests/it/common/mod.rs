//! Parts shared by the tests of this package only.

pub mod stream;
pub mod withdrawals;

pub use cento_testing::{
    Model, add, assert_holds, config, contents, document, holds, naive, naive_withdrawals, sim,
    without_footer, words,
};
