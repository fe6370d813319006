//! The description and implementation of a family of measures.
//!
//! The file of a measure has a [`Family`] for each name of the measure. The list of families in
//! `measure` is the only other place that names a measure.

use crate::Result;
use crate::runtime::Stop;
use crate::scheme::frequency::FrequencyTable;
use crate::spec::{self, Description, Parameter, Spec};
use crate::text::Side;

/// A family of measures: a name, its parameters, and how similarity is measured.
#[derive(Debug)]
pub struct Family {
    /// The name before the parenthesis.
    pub name: &'static str,
    /// The parameters, in canonical order.
    pub parameters: &'static [Parameter],
    /// The measured quantity, as a clause.
    pub summary: &'static str,
    /// The source: paper and section. Empty if the measure is common knowledge.
    pub source: &'static str,
    /// A specification that parses, as an example for users.
    pub example: &'static str,
    /// The cost, for texts of n and m tokens.
    pub costs: &'static str,
    /// The purpose of the measure, for help.
    pub purpose: &'static str,
    /// Whether the measure is how much of the first text is in the second, so that the order of the
    /// texts matters.
    pub is_asymmetric: bool,
    /// Whether a frequency table of a collection can weight words.
    pub knows_collections: bool,
    /// The function that measures two texts.
    pub(super) similarity: Similarity,
    /// The number of steps of a measurement if the cost is more than linear, or 0.
    pub(super) steps: fn(Side<'_>, Side<'_>) -> u64,
}

/// Measures two texts. Cancellation is the only error.
pub(super) type Similarity = fn(&MeasuredTexts<'_>) -> Result<f64>;

pub(super) struct MeasuredTexts<'a> {
    pub(super) a: Side<'a>,
    pub(super) b: Side<'a>,
    pub(super) spec: &'a Spec,
    pub(super) collection: Option<&'a FrequencyTable>,
    pub(super) stop: &'a Stop,
}

impl MeasuredTexts<'_> {
    /// Returns the token hashes of both texts.
    pub(super) fn tokens(&self) -> [&[u64]; 2] {
        [self.a, self.b].map(|side| &side.tokens.hashes[..])
    }

    pub(super) fn get(&self, name: &str) -> usize {
        self.spec.get(name) as usize
    }
}

impl Family {
    /// The defaults of most measures, to be completed.
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
        similarity: |_| Ok(0.0),
        steps: |_, _| 0,
    };
}

/// Returns the number of cells of the table that a measure of edits visits.
pub(super) fn cells(a: Side<'_>, b: Side<'_>) -> u64 {
    (a.tokens.hashes.len() as u64).saturating_mul(b.tokens.hashes.len() as u64)
}

impl spec::Family for Family {
    fn describe(&self) -> Description {
        let Family { name, parameters, summary, source, example, .. } = *self;
        Description { name, parameters, summary, source, example }
    }
}
