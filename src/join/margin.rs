//! Margins: how much more alike two documents are than the others of their collection are to
//! either.
//!
//! Programs that solve one task are alike without being copies, the more so the more of them there
//! are, so no threshold of resemblance suits collections of different sizes. The margin of a pair
//! is its resemblance less that of the [`MARGIN_RANK`]-th best other neighbour of either document,
//! whichever is greater: a copy stands out from its neighbours, and an ordinary solution does not.
//!
//! A document's neighbours are searched for once, when it is first in a pair, and two numbers are
//! kept of them.

use std::sync::OnceLock;

pub use cento_api::{MARGIN_DOCUMENTS_MIN, MARGIN_RANK};

use super::numbering::Numbering;
use crate::error::Result;
use crate::index::{DocAddress, MaxDf};
use crate::overlap::Overlap;
use crate::runtime::Stop;
use crate::search::{Neighbour, Searcher};

/// How alike a document is to its neighbours, by a measure.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing {
    /// The measure of the neighbour of rank [`MARGIN_RANK`]; 0 if there are fewer neighbours.
    pub ranked: f64,
    /// That of the next one.
    next: f64,
}

impl Standing {
    /// Returns the standing of a document whose neighbours have these measures.
    pub fn of(mut measures: Vec<f64>) -> Standing {
        measures.resize(measures.len().max(MARGIN_RANK + 1), 0.0);
        let (better, next, _) = measures.select_nth_unstable_by(MARGIN_RANK, |a, b| b.total_cmp(a));
        let ranked = better.iter().copied().fold(1.0, f64::min);
        Standing { ranked, next: *next }
    }

    /// Returns the measure of the neighbour of rank [`MARGIN_RANK`] when one with this measure does
    /// not count.
    pub fn without(self, resemblance: f64) -> f64 {
        if resemblance >= self.ranked { self.next } else { self.ranked }
    }
}

/// The standings of the documents of one index among those of another, or of its own.
struct Standings<'a> {
    own: &'a Searcher,
    numbering: Numbering,
    among: &'a Searcher,
    is_own: bool,
    standings: Vec<OnceLock<Standing>>,
}

impl<'a> Standings<'a> {
    fn new(own: &'a Searcher, among: &'a Searcher, is_own: bool) -> Standings<'a> {
        let numbering = Numbering::new(own.snapshot());
        let standings = (0..numbering.end()).map(|_| OnceLock::new()).collect();
        Standings { own, numbering, among, is_own, standings }
    }

    fn standing(
        &self,
        address: DocAddress,
        max_df: Option<MaxDf>,
        stop: &Stop,
    ) -> Result<Standing> {
        let kept = &self.standings[self.numbering.number(address) as usize];
        if let Some(standing) = kept.get() {
            return Ok(*standing);
        }
        let keys = self.own.keys_of(address, stop)?;
        let size = keys.len() as u32;
        let except = self.is_own.then_some(address);
        let found = self.among.neighbours(&keys, 1, max_df, except, stop)?;
        let resemblance = |found: &Neighbour| found.with(size).resemblance();
        let standing = Standing::of(found.iter().map(resemblance).collect());
        // Another thread may have computed the same standing meanwhile.
        Ok(*kept.get_or_init(|| standing))
    }
}

/// The margins of pairs of one index, or of two.
pub(super) struct Margins<'a> {
    a: Standings<'a>,
    /// The documents of the other index; `None` if there is only one index.
    b: Option<Standings<'a>>,
    max_df: Option<MaxDf>,
}

impl<'a> Margins<'a> {
    /// Creates the margins for pairs of `searcher`, or of one document of it and one of `against`;
    /// `None` if there are too few documents for the rank.
    pub(super) fn new(
        searcher: &'a Searcher,
        against: Option<&'a Searcher>,
        max_df: Option<MaxDf>,
    ) -> Option<Margins<'a>> {
        let count = |searcher: &Searcher| searcher.snapshot().documents();
        let is_enough = match against {
            None => count(searcher) >= MARGIN_DOCUMENTS_MIN,
            // One document of a pair is of the other index.
            Some(against) => count(searcher).min(count(against)) + 1 >= MARGIN_DOCUMENTS_MIN,
        };
        is_enough.then(|| Margins {
            a: Standings::new(searcher, against.unwrap_or(searcher), against.is_none()),
            b: against.map(|against| Standings::new(against, searcher, false)),
            max_df,
        })
    }

    /// Returns the margin of a pair with this overlap, -1 to 1.
    ///
    /// # Errors
    /// When a file is damaged; [`crate::Error::Cancelled`] soon after `stop`.
    pub(super) fn of(
        &self,
        a: DocAddress,
        b: DocAddress,
        overlap: Overlap,
        stop: &Stop,
    ) -> Result<f64> {
        let resemblance = overlap.resemblance();
        let a = self.a.standing(a, self.max_df, stop)?;
        let b = self.b.as_ref().unwrap_or(&self.a).standing(b, self.max_df, stop)?;
        Ok(resemblance - a.without(resemblance).max(b.without(resemblance)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_standing_without_a_neighbour_is_that_of_the_others(
            tenths in prop::collection::vec(0u32..11, 1..20), one in 0usize..20,
        ) {
            let all: Vec<f64> = tenths.iter().map(|&tenth| f64::from(tenth) / 10.0).collect();
            let one = one % all.len();
            let mut others = all.clone();
            others.remove(one);
            others.sort_by(|a, b| b.total_cmp(a));
            let expected = others.get(MARGIN_RANK - 1).copied().unwrap_or(0.0);
            prop_assert_eq!(Standing::of(all.clone()).without(all[one]), expected);
        }
    }
}
