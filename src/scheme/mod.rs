//! Which few numbers stand for this document?
//!
//! A [`Scheme`] reduces the tokens of a document to its *signature*: fingerprints, each a number
//! and the place where it was taken. Documents that share text share fingerprints. A scheme is a
//! pure function: the same tokens give the same signature on every machine, for ever; an index
//! stores the scheme's specification and refuses another.
//!
//! The schemes here are the overlap methods of Seo and Croft (2008), section 4.1: every sequence
//! of `k` tokens has a hash, and a scheme is a way to select some of them.
//!
//! | specification | selects | fingerprints a token |
//! |---|---|---|
//! | `kgram(k=5)` | all | 1 |
//! | `mod(k=5,p=6)` | those divisible by `p` | 1 / p |
//! | `winnow(k=5,w=10)` | the least of every `w` in a row | 2 / (w + 1) |
//!
//! Only winnowing guarantees a find: any shared run of `w + k - 1` tokens has a shared fingerprint.
//!
//! Comparing signatures is left to those who read them.

mod kgram;
mod modulo;
mod ngram;
mod winnow;

use crate::Result;
use crate::spec::{Family, Grammar, Parameter, Spec};
use crate::text::Tokens;
use std::fmt;

/// A number that stands for a piece of a document, and where the piece begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint {
    /// The number: below `2^key_bits` of its scheme, and spread evenly.
    pub key: u64,
    /// The index of the piece's first token.
    pub position: u32,
}

/// A way to sign documents; prints as the specification that [`parse`] reads.
pub trait Scheme: fmt::Debug + fmt::Display + Send + Sync {
    /// How many bits a key has.
    fn key_bits(&self) -> u8;

    /// How many tokens a fingerprint stands for, at most.
    fn span(&self) -> usize;

    /// Replaces the contents of `signature` by the fingerprints of the document, by position.
    ///
    /// Only a document without tokens has an empty signature: a short one has one fingerprint at
    /// least, made of all its tokens if need be, so that an exact copy of it can be found.
    fn sign(&self, tokens: &Tokens, signature: &mut Vec<Fingerprint>);
}

/// The specification of the scheme used when none is named.
///
/// On 366 MB of English documentation it keeps 10.4 M fingerprints, 28 a kilobyte.
pub const DEFAULT_SPEC: &str = "winnow(k=5,w=10)";

/// The longest sequence of tokens that can be hashed.
const K_MAX: u32 = 64;

/// The widest window; more than a page of text.
const W_MAX: u32 = 512;

const K: Parameter = Parameter { name: "k", default: 5, min: 1, max: K_MAX };

static GRAMMAR: Grammar = Grammar {
    noun: "scheme",
    families: &[
        Family { name: "kgram", parameters: &[K] },
        Family {
            name: "mod",
            parameters: &[K, Parameter { name: "p", default: 6, min: 1, max: 1 << 20 }],
        },
        Family {
            name: "winnow",
            parameters: &[K, Parameter { name: "w", default: 10, min: 1, max: W_MAX }],
        },
    ],
};

/// The scheme that `spec` describes; parameters left out take their defaults.
///
/// ```
/// use cento::{scheme, text::{Tokens, analyzer::Analyzer}};
///
/// let scheme = scheme::parse("winnow(w=4)")?;
/// assert_eq!(scheme.to_string(), "winnow(k=5,w=4)");
/// let (mut tokens, mut signature) = (Tokens::default(), Vec::new());
/// Analyzer::default().analyze("one two three four five six", &mut tokens)?;
/// scheme.sign(&tokens, &mut signature);
/// assert_eq!(signature.len(), 1);
/// # Ok::<(), cento::Error>(())
/// ```
///
/// # Errors
///
/// [`crate::Error::Spec`], naming what is allowed.
pub fn parse(spec: &str) -> Result<Box<dyn Scheme>> {
    let spec = Spec::parse(spec, &GRAMMAR)?;
    let k = spec.get("k") as usize;
    Ok(match spec.name() {
        "kgram" => Box::new(kgram::Kgram::new(spec, k)),
        "mod" => {
            let p = spec.get("p");
            Box::new(modulo::Modulo::new(spec, k, p))
        }
        "winnow" => {
            let w = spec.get("w") as usize;
            Box::new(winnow::Winnow::new(spec, k, w))
        }
        name => unreachable!("`{name}` is in the grammar and has no scheme"),
    })
}

#[cfg(test)]
mod tests;
