//! How many documents meet the query, shown or not?

use super::{Goal, Query, Rank};

/// How many documents meet a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Whether there are more than are shown.
    pub more: bool,
    /// All of them, if that is known.
    pub total: Option<usize>,
}

impl Extent {
    /// Computes the extent of a search. `met` documents meet the thresholds of fingerprints; `is_pruned`
    /// tells that others may have been left out, because they cannot be among the best. `passed` documents
    /// were looked at and passed; `is_cut` tells that more were not looked at.
    pub fn new(
        query: &Query,
        (met, is_pruned): (usize, bool),
        (passed, is_cut): (usize, bool),
    ) -> Extent {
        let total = |is_known: bool, total| is_known.then_some(total);
        if query.goal == Goal::Cover {
            return Extent { more: is_cut, total: total(!is_cut, passed) };
        }
        if query.rank == Rank::Passages {
            // If nothing is verified, only the documents to be looked at were chosen.
            let is_cut = is_cut || query.verify.is_none() && met > query.looked_at();
            let total = match query.is_demanding() {
                true => total(!is_cut, passed),
                false => Some(met),
            };
            return Extent { more: is_cut || passed > query.limit, total };
        }
        if query.is_demanding() {
            return Extent { more: is_cut, total: total(!is_cut, passed) };
        }
        Extent { more: met > query.limit, total: total(!is_pruned, met) }
    }
}
