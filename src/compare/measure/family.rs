//! What does a family of measures say of itself, and do?
//!
//! Each file of a measure has a [`Family`] for each name that it gives; the list of them in
//! `measure` is the only other place where a measure is named.

use crate::Result;
use crate::scheme::frequency::FrequencyTable;
use crate::spec::{self, Description, Parameter, Spec};
use crate::stop::Stop;
use crate::text::Side;

/// A family of measures: a name, its parameters, and how similarity is measured.
#[derive(Debug)]
pub struct Family {
    /// The name before the parenthesis.
    pub name: &'static str,
    /// The parameters, in canonical order.
    pub parameters: &'static [Parameter],
    /// What is measured, as a clause.
    pub summary: &'static str,
    /// Where it comes from: paper and section; empty if it is common knowledge.
    pub source: &'static str,
    /// A specification to begin with.
    pub example: &'static str,
    /// What it costs, for texts of n and m tokens.
    pub costs: &'static str,
    /// What it is for.
    pub purpose: &'static str,
    /// Whether it says how much of the first text is in the second, which is another question the
    /// other way round.
    pub is_asymmetric: bool,
    /// Whether words can be weighed by a frequency table of a collection.
    pub knows_collections: bool,
    /// The feature of the crate that has it; none if every build has it.
    pub feature: Option<&'static str>,
    /// Measures; none if this build leaves it out.
    pub(super) similarity: Option<Similarity>,
    /// The steps that measuring takes, if they are more than linear, or many.
    pub(super) steps: fn(Side<'_>, Side<'_>) -> u64,
}

/// Measures two texts; fails only when it is stopped.
pub(super) type Similarity = fn(&Texts<'_>) -> Result<f64>;

/// What is measured.
pub(super) struct Texts<'a> {
    pub(super) a: Side<'a>,
    pub(super) b: Side<'a>,
    pub(super) spec: &'a Spec,
    pub(super) collection: Option<&'a FrequencyTable>,
    pub(super) stop: Stop<'a>,
}

impl Texts<'_> {
    /// The tokens of both.
    pub(super) fn tokens(&self) -> [&[u64]; 2] {
        [self.a, self.b].map(|side| &side.tokens.hashes[..])
    }

    /// The value of a parameter.
    pub(super) fn get(&self, name: &str) -> usize {
        self.spec.get(name) as usize
    }
}

impl Family {
    /// What most measures are, to be completed.
    pub(super) const PLAIN: Family = Family {
        name: "",
        parameters: &[],
        summary: "",
        source: "",
        example: "",
        costs: "n + m",
        purpose: "",
        is_asymmetric: false,
        knows_collections: false,
        feature: None,
        similarity: None,
        steps: |_, _| 0,
    };
}

/// The cells of the table that a measure of edits goes through.
pub(super) fn cells(a: Side<'_>, b: Side<'_>) -> u64 {
    (a.tokens.hashes.len() as u64).saturating_mul(b.tokens.hashes.len() as u64)
}

impl spec::Family for Family {
    fn describe(&self) -> Description {
        let Family { name, parameters, summary, source, example, feature, similarity, .. } = *self;
        let is_built = similarity.is_some();
        Description { name, parameters, summary, source, example, feature, is_built }
    }
}
