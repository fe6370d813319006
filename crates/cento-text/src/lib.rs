//! Texts, and what two of them have in common, without an index.
//!
//! A text becomes tokens ([`text`]), fingerprints and a signature ([`scheme`]). Two texts have a
//! similarity and passages ([`mod@compare`]). The crate consists of pure functions, which depend
//! neither on files nor on the machine. The package `cento` stores and searches signatures, and
//! re-exports every public name of this crate. Use this crate alone where you need no index.
//!
//! ```
//! use cento_text::{Analyzer, compare};
//!
//! let scheme = cento_text::scheme::parse("winnow(k=5,w=10)")?;
//! let text = "a text of a few words that two documents have";
//! let found = compare(&scheme, &Analyzer::default(), text, text)?;
//! assert_eq!(found.similarity.resemblance, 1.0);
//! # Ok::<(), cento_text::Error>(())
//! ```
//!
//! [`runtime`] has the tools of every layer above: threads, memory, cancellation.

// Signatures must depend neither on the compiler's Unicode version nor on the logarithms of the
// platform (clippy.toml). Tests may compare with both.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod automaton;
pub mod compare;
pub mod field_date;
pub mod hash;
pub mod key;
pub mod number;
pub mod period;
pub mod runtime;
pub mod sampling;
pub mod scheme;
pub mod spec;
pub mod text;

use cento_api::{overlap, reason, similarity};

/// Errors and results, as the crate `cento-api` defines them.
pub mod error {
    pub use cento_api::error::*;
}

pub use cento_api::{Error, Reason, Refusal, Result, UnseenText};
pub use compare::measure::Measure;
pub use compare::{Comparison, compare, compare_by};
pub use key::{CheckValue, Key};
pub use runtime::{ByteBudget, Stop, available_threads};
pub use scheme::estimate::Estimator;
pub use text::{Analyzer, Span, Tokens};
