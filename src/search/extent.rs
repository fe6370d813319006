//! The number of documents that meet a query, shown or not.

/// The number of documents that meet a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Whether there are, or may be, more than are shown.
    pub more: bool,
    /// Their total number, if it is known.
    pub total: Option<usize>,
}

impl Extent {
    /// Computes the extent of a search whose hits are all documents that meet the thresholds: `met`
    /// of them were found. If `is_pruned`, others may have been left out because they cannot be
    /// among the best.
    pub fn of_all(shown: usize, met: usize, is_pruned: bool) -> Extent {
        Extent { more: met > shown, total: (!is_pruned).then_some(met) }
    }

    /// Computes the extent of a search whose documents must be examined: `passed` of them may be
    /// shown. If `is_cut`, others were not examined.
    pub fn of_those_looked_at(shown: usize, passed: usize, is_cut: bool) -> Extent {
        Extent { more: is_cut || passed > shown, total: (!is_cut).then_some(passed) }
    }
}
