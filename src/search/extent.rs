//! The number of documents that meet a query, shown or not.

/// The number of documents that meet a query, shown or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Whether there are, or may be, more documents than shown.
    pub more: bool,
    /// The total number, if known.
    pub total: Option<usize>,
}

impl Extent {
    /// Computes the extent of a search where every document that meets the thresholds is a hit:
    /// `met` documents were found. With `is_pruned`, documents that cannot be among the best may be
    /// missing.
    pub fn of_all(shown: usize, met: usize, is_pruned: bool) -> Extent {
        Extent { more: met > shown, total: (!is_pruned).then_some(met) }
    }

    /// Computes the extent of a search that examines documents: `passed` documents may be shown.
    /// With `is_cut`, some documents were not examined.
    pub fn of_those_looked_at(shown: usize, passed: usize, is_cut: bool) -> Extent {
        Extent { more: is_cut || passed > shown, total: (!is_cut).then_some(passed) }
    }
}
