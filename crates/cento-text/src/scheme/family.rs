//! The description that a family of schemes gives of itself.
//!
//! Each file of a scheme has a [`Family`] for each name that it gives to its method; the list of
//! them in `scheme` is the only other place where a scheme is named. Specifications are read,
//! `cento info schemes` is printed, and the laws of all schemes are tested, by going through that
//! list.

use super::frequency::FrequencyTable;
use super::{Fingerprint, Method};
use crate::spec::{self, Description, Parameter, Spec};
use std::fmt;
use std::sync::Arc;

/// The longest sequence of tokens that can be hashed.
pub(super) const K_MAX: u32 = 64;

/// The widest window; more than a page of text.
pub(super) const W_MAX: u32 = 512;

/// The maximum length of a stretch that keeps one k-gram, and of the mean segment.
pub(super) const L_MAX: u32 = 4096;

/// The tokens of a k-gram.
pub(super) const K: Parameter = Parameter::number("k", 5, 1, K_MAX, "the tokens of a run");

/// A family of schemes: a name, its parameters, and everything else that depends on the family.
#[derive(Debug)]
pub struct Family {
    /// The name before the parenthesis.
    pub name: &'static str,
    /// The parameters, in canonical order.
    pub parameters: &'static [Parameter],
    /// A clause about the selection that the scheme makes.
    pub summary: &'static str,
    /// The fingerprints of a token, or of a document.
    pub density: &'static str,
    /// Its source: paper and section.
    pub source: &'static str,
    /// A specification to begin with.
    pub example: &'static str,
    /// The kind of piece that a fingerprint represents.
    pub kind: Kind,
    /// The function that builds a scheme from a specification.
    pub(super) build: Build,
    /// The data about the family that the tests of all schemes need.
    #[cfg(test)]
    pub(super) laws: Laws,
}

/// The kind of piece that a fingerprint represents.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// A piece of the document that begins at its position.
    Positional {
        /// The length of the piece.
        span: fn(&Spec) -> Extent,
    },
    /// The whole document: all fingerprints have position 0.
    Sketch,
}

/// The length of the piece that a fingerprint represents.
///
/// If nothing in a document can be selected, it has one fingerprint of all its tokens, at position
/// 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// This many tokens; in a shorter document all of them.
    Exactly(usize),
    /// A segment, which ends where the next fingerprint begins, or before.
    Segment,
    /// This many tokens or more.
    AtLeast(usize),
}

impl Extent {
    /// Returns a bound for the end of the piece behind fingerprint number `at` of a signature of a
    /// document of `tokens` tokens: one past its last token. This is the end itself, or for
    /// [`Segment`](Self::Segment) an upper bound, for [`AtLeast`](Self::AtLeast) a lower bound.
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
    /// Counts of runs of as many tokens as the parameter of this name states.
    Runs(&'static str),
    /// Counts of such runs, where runs that occur once may be missing.
    Repeated(&'static str),
}

impl Table {
    /// Returns the number of tokens of the runs that are counted, for the scheme of this
    /// specification.
    #[must_use]
    pub fn run_tokens(self, spec: &Spec) -> usize {
        match self {
            Table::Tokens => 1,
            Table::Runs(parameter) | Table::Repeated(parameter) => spec.get(parameter) as usize,
        }
    }

    /// Returns whether only runs that occur at least twice are needed.
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

/// Builds a scheme from a specification.
#[derive(Debug)]
pub(super) enum Build {
    /// From the specification alone.
    Alone(fn(&Spec) -> Box<dyn Method>),
    /// From a frequency table too.
    With(Table, fn(&Spec, Arc<FrequencyTable>) -> Box<dyn Method>),
}

/// Every fingerprint represents as many tokens as the parameter `k` states.
pub(super) const K_GRAMS: Kind =
    Kind::Positional { span: |spec| Extent::Exactly(spec.get("k") as usize) };

/// Every fingerprint represents a segment.
pub(super) const SEGMENTS: Kind = Kind::Positional { span: |_| Extent::Segment };

impl Family {
    /// Returns the length of the piece that a fingerprint of the example represents; `None` if it
    /// represents the whole document.
    #[must_use]
    pub fn example_extent(&self) -> Option<Extent> {
        let Kind::Positional { span } = self.kind else { return None };
        let (spec, _) = super::GRAMMAR.parse(self.example).expect("the example is of the family");
        Some(span(&spec))
    }

    /// Returns the frequency table that it needs, if it needs one.
    #[must_use]
    pub fn table(&self) -> Option<Table> {
        match self.build {
            Build::Alone(_) => None,
            Build::With(table, _) => Some(table),
        }
    }
}

impl spec::Family for Family {
    fn describe(&self) -> Description {
        let Family { name, parameters, summary, source, example, .. } = *self;
        let (feature, is_built) = (None, true);
        Description { name, parameters, summary, source, example, feature, is_built }
    }
}

/// The data about a family that the tests of all schemes need.
#[cfg(test)]
#[derive(Debug)]
pub(super) struct Laws {
    /// Specifications that give a short document several fingerprints; the default one, and these,
    /// are tested.
    pub(super) small: &'static [&'static str],
    /// Specifications and analyzers, with the digest of the signature of a text, which never
    /// changes.
    pub(super) pins: &'static [(&'static str, &'static str, u64)],
    /// Documents without a common token may have a common key by chance: of few bits, or of few
    /// values.
    pub(super) is_coarse: bool,
    /// A document of plain words has one fingerprint, whatever the parameters.
    pub(super) has_one: bool,
}

#[cfg(test)]
impl Laws {
    pub(super) const NONE: Laws = Laws { small: &[], pins: &[], is_coarse: false, has_one: false };
}
