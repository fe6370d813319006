//! The description of a family of schemes.
//!
//! The file of a scheme has a [`Family`] per name of the method. The list of families in `scheme`
//! is the only other place that names a scheme. Reading a specification, `cento info schemes`, and
//! the tests of the laws of schemes go through the list.

use super::frequency::FrequencyTable;
use super::{Fingerprint, SchemeMethod};
use crate::spec::{self, Description, Parameter, Spec};
use std::fmt;
use std::sync::Arc;

/// The maximum number of tokens that can be hashed as a run.
pub(super) const K_MAX: u32 = 64;

/// The maximum window, more than a page of text.
pub(super) const W_MAX: u32 = 512;

/// The maximum length of a stretch that keeps one k-gram, and of the mean segment.
pub(super) const L_MAX: u32 = 4096;

pub(super) const K: Parameter = Parameter::number("k", 5, 1, K_MAX, "the tokens of a run");

/// A family of schemes: a name, its parameters, and everything else that depends on the family.
#[derive(Debug)]
pub struct Family {
    /// The name before the parenthesis.
    pub name: &'static str,
    /// The parameters, in canonical order.
    pub parameters: &'static [Parameter],
    /// The selection that the scheme makes, as a clause.
    pub summary: &'static str,
    /// The number of fingerprints per token, or per document.
    pub density: &'static str,
    /// The source of the method: paper and section.
    pub source: &'static str,
    /// A specification to begin with.
    pub example: &'static str,
    /// The kind of piece that a fingerprint represents.
    pub kind: Kind,
    /// The function that builds a scheme from a specification.
    pub(super) build: SchemeBuilder,
    /// The data about the family that the tests of all schemes need.
    #[cfg(test)]
    pub(super) laws: Laws,
}

/// The kind of piece that a fingerprint represents.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// A piece of the document that begins at the fingerprint's position.
    Positional {
        /// The length of the piece, which depends on the parameters.
        span: fn(&Spec) -> Extent,
    },
    /// The whole document: all fingerprints have position 0.
    Sketch,
}

/// The length of the piece that a fingerprint represents.
///
/// If a scheme can select nothing in a document, the document has one fingerprint of the whole, at
/// position 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// This many tokens, or all tokens of a shorter document.
    Exactly(usize),
    /// A segment, which ends where the next fingerprint begins, or earlier.
    Segment,
    /// This many tokens or more.
    AtLeast(usize),
}

impl Extent {
    /// Returns the end of the piece behind fingerprint number `at`, one past its last token, in a
    /// document of `tokens` tokens. For [`Segment`](Self::Segment) the result is an upper bound of
    /// the end, for [`AtLeast`](Self::AtLeast) a lower bound.
    #[must_use]
    pub fn end(self, signature: &[Fingerprint], at: usize, tokens: u32) -> u32 {
        let start = signature[at].position;
        let end = match self {
            Extent::Exactly(len) | Extent::AtLeast(len) => start.saturating_add(len as u32),
            Extent::Segment => signature.get(at + 1).map_or(tokens, |next| next.position),
        };
        end.min(tokens)
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Extent::Exactly(1) => f.write_str("1 token"),
            Extent::Exactly(len) => write!(f, "{len} tokens"),
            Extent::Segment => f.write_str("a segment of any length"),
            Extent::AtLeast(1) => f.write_str("1 token or more"),
            Extent::AtLeast(len) => write!(f, "{len} tokens or more"),
        }
    }
}

/// The frequency table that a scheme reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// Counts of single tokens.
    Tokens,
    /// Counts of runs. The parameter of this name states the number of tokens of a run.
    Runs(&'static str),
    /// Counts of runs as in `Runs`, where runs that occur once may be missing.
    Repeated(&'static str),
}

impl Table {
    /// Returns the number of tokens of the counted runs, for the scheme of this specification.
    #[must_use]
    pub fn run_tokens(self, spec: &Spec) -> usize {
        match self {
            Table::Tokens => 1,
            Table::Runs(parameter) | Table::Repeated(parameter) => spec.get(parameter) as usize,
        }
    }

    /// Returns whether the scheme needs only runs that occur at least twice.
    #[must_use]
    pub fn is_of_repeated(self) -> bool {
        matches!(self, Table::Repeated(_))
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Table::Tokens => f.write_str("single tokens"),
            Table::Runs(parameter) => write!(f, "runs of {parameter} tokens"),
            Table::Repeated(parameter) => {
                write!(f, "runs of {parameter} tokens that occur twice or more")
            }
        }
    }
}

/// The function that builds a scheme from a specification.
#[derive(Debug)]
pub(super) enum SchemeBuilder {
    /// From the specification alone.
    Alone(fn(&Spec) -> Box<dyn SchemeMethod>),
    /// From the specification and a frequency table.
    With(Table, fn(&Spec, Arc<FrequencyTable>) -> Box<dyn SchemeMethod>),
}

/// Every fingerprint represents as many tokens as the parameter `k` states.
pub(super) const K_GRAMS: Kind =
    Kind::Positional { span: |spec| Extent::Exactly(spec.get("k") as usize) };

/// Every fingerprint represents a segment.
pub(super) const SEGMENTS: Kind = Kind::Positional { span: |_| Extent::Segment };

impl Family {
    /// Returns the length of the piece that a fingerprint of the example represents, or `None` if a
    /// fingerprint represents the whole document.
    #[must_use]
    pub fn example_extent(&self) -> Option<Extent> {
        let Kind::Positional { span } = self.kind else { return None };
        let (spec, _) = super::GRAMMAR.parse(self.example).expect("the example is of the family");
        Some(span(&spec))
    }

    /// Returns the frequency table that the schemes of the family need, if any.
    #[must_use]
    pub fn table(&self) -> Option<Table> {
        match self.build {
            SchemeBuilder::Alone(_) => None,
            SchemeBuilder::With(table, _) => Some(table),
        }
    }
}

impl spec::Family for Family {
    fn describe(&self) -> Description {
        let Family { name, parameters, summary, source, example, .. } = *self;
        Description { name, parameters, summary, source, example }
    }
}

/// The data about a family that the tests of all schemes need.
#[cfg(test)]
#[derive(Debug)]
pub(super) struct Laws {
    /// Specifications that give a short document several fingerprints. The tests use these and the
    /// default specification.
    pub(super) small: &'static [&'static str],
    /// Specifications and analyzers, with the digest of a text's signature, which must never
    /// change.
    pub(super) pins: &'static [(&'static str, &'static str, u64)],
    /// Documents without a common token may have a common key by chance, because keys have few bits
    /// or few values.
    pub(super) is_coarse: bool,
    /// A document of plain words has one fingerprint, whatever the parameters.
    pub(super) has_one: bool,
}

#[cfg(test)]
impl Laws {
    pub(super) const NONE: Laws = Laws { small: &[], pins: &[], is_coarse: false, has_one: false };
}
