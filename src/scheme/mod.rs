//! Which numbers stand for this document?
//!
//! Tokens in, signature out: pure functions behind one small trait, one file a family. A scheme
//! is named by a specification such as `winnow(k=5,w=10)`.

mod kgram;
mod modulo;
mod ngram;
mod winnow;

use std::fmt;

use crate::error::Result;
use crate::spec::Spec;
use crate::text::Tokens;

/// One number that stands for a part of a document, and where that part begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint {
    /// The number; less than 2^key_bits of its scheme.
    pub key: u64,
    /// The first token of the part.
    pub position: u32,
}

/// A way to choose the fingerprints of a document.
pub trait Scheme: fmt::Debug + fmt::Display + Send + Sync {
    /// Keys are smaller than 2^`key_bits`.
    fn key_bits(&self) -> u8;

    /// Clears and fills `signature` with the fingerprints of a document, ordered by position.
    ///
    /// A document with a token has a fingerprint, however short it is, and equal documents have
    /// equal signatures.
    fn sign(&self, tokens: &Tokens, signature: &mut Vec<Fingerprint>);
}

/// The scheme of an index that names none.
pub const DEFAULT_SPEC: &str = "winnow(k=5,w=10)";

/// The scheme that a specification names.
///
/// # Errors
/// When there is no such scheme, or it has no such parameters.
pub fn parse(text: &str) -> Result<Box<dyn Scheme>> {
    let spec = Spec::parse(text)?;
    match spec.name {
        kgram::NAME => Ok(Box::new(kgram::KGram::from_spec(&spec)?)),
        modulo::NAME => Ok(Box::new(modulo::Modulo::from_spec(&spec)?)),
        winnow::NAME => Ok(Box::new(winnow::Winnow::from_spec(&spec)?)),
        _ => Err(spec.unknown("scheme", &[kgram::NAME, modulo::NAME, winnow::NAME])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_specification_prints_what_it_was_parsed_from() {
        for text in ["kgram(k=3)", "mod(k=5,p=7)", DEFAULT_SPEC] {
            assert_eq!(parse(text).unwrap().to_string(), text);
        }
        assert_eq!(parse("winnow").unwrap().to_string(), DEFAULT_SPEC);
        for wrong in ["minnow", "winnow(k=0)", "winnow(p=3)", "mod(p=0)", "kgram(k=1000)"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
