//! How many documents meet the query, shown or not?

/// How many documents meet a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Whether there are, or may be, more than are shown.
    pub more: bool,
    /// All of them, if that is known.
    pub total: Option<usize>,
}

impl Extent {
    /// Computes the extent of a search whose hits are all documents that meet the thresholds: `met` of them
    /// were found; `is_pruned` tells that others may have been left out, because they cannot be among the best.
    pub fn of_all(shown: usize, met: usize, is_pruned: bool) -> Extent {
        Extent { more: met > shown, total: (!is_pruned).then_some(met) }
    }

    /// Computes the extent of a search for which documents must be looked at: `passed` of them may be shown;
    /// `is_cut` tells that others were not looked at.
    pub fn of_those_looked_at(shown: usize, passed: usize, is_cut: bool) -> Extent {
        Extent { more: is_cut || passed > shown, total: (!is_cut).then_some(passed) }
    }
}
