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

use std::sync::{Arc, OnceLock};

pub use cento_api::{MARGIN_DOCUMENTS_MIN, MARGIN_RANK};

use super::nearest::Nearest;
use super::numbering::Numbering;
use super::series::Series;
use cento::index::{DocAddress, MaxDf};
use cento::search::Searcher;
use cento_api::error::Result;
use cento_api::overlap::Overlap;
use cento_text::runtime::Stop;

/// How alike a document is to its neighbours, by a measure. Those of one series count once, by the
/// greatest.
#[derive(Debug, Clone, Copy)]
struct Standing {
    /// The series of the best neighbours, and their measures, best first; 0 if there are fewer.
    best: [(u64, f64); MARGIN_RANK + 1],
}

impl Standing {
    /// Returns the standing of a document whose neighbours are of these series and have these
    /// measures.
    pub fn of(mut measures: Vec<(u64, f64)>) -> Standing {
        measures.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let (mut best, mut count) = ([(0, 0.0); MARGIN_RANK + 1], 0);
        for (series, measure) in measures {
            if count < best.len() && best[..count].iter().all(|known| known.0 != series) {
                best[count] = (series, measure);
                count += 1;
            }
        }
        Standing { best }
    }

    /// Returns the measure of the neighbour of rank [`MARGIN_RANK`] when those of one series do not
    /// count; 0 if there are fewer.
    pub fn without(self, series: u64) -> f64 {
        let is_in = self.best[..MARGIN_RANK].iter().any(|known| known.0 == series);
        self.best[if is_in { MARGIN_RANK } else { MARGIN_RANK - 1 }].1
    }
}

/// The standings of the documents of one index among those of another, or of its own.
struct Standings<'a> {
    own: &'a Searcher,
    numbering: Numbering,
    among: &'a Searcher,
    is_own: bool,
    standings: Vec<OnceLock<Standing>>,
    /// Which index of the pairs this one is.
    side: usize,
    keys: Arc<SeriesKeys>,
}

/// The series of documents, each with a number.
#[derive(Debug)]
pub(super) struct SeriesKeys {
    series: Option<Arc<Series>>,
    /// The numbers of the documents, and of those of the other index.
    numberings: [Numbering; 2],
}

impl SeriesKeys {
    /// Numbers the series of the documents of `searcher`, and of those of `against`.
    pub fn new(
        searcher: &Searcher,
        against: Option<&Searcher>,
        series: Option<&Arc<Series>>,
    ) -> SeriesKeys {
        let numberings = [searcher, against.unwrap_or(searcher)];
        let numberings = numberings.map(|searcher| Numbering::new(searcher.snapshot()));
        SeriesKeys { series: series.cloned(), numberings }
    }

    /// Tells whether documents may have a series in common.
    pub fn has_series(&self) -> bool {
        self.series.as_ref().is_some_and(|series| !series.is_within())
    }

    /// Returns the number of the series of a document; without one it is alone.
    pub fn of(&self, side: usize, address: DocAddress) -> u64 {
        Series::key(self.series.as_deref(), side, self.numberings[side].number(address))
    }
}

impl<'a> Standings<'a> {
    fn new(
        (own, among): (&'a Searcher, &'a Searcher),
        is_own: bool,
        (side, keys): (usize, Arc<SeriesKeys>),
    ) -> Standings<'a> {
        let numbering = Numbering::new(own.snapshot());
        let standings = (0..numbering.end()).map(|_| OnceLock::new()).collect();
        Standings { own, numbering, among, is_own, standings, side, keys }
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
        let other = if self.is_own { self.side } else { 1 - self.side };
        let nearest = Nearest {
            among: self.among,
            max_df,
            except: self.is_own.then_some(address),
            // Without a series the keys of two indexes say nothing about each other.
            series: self.keys.of(self.side, address),
            series_of: |address| self.keys.of(other, address),
            has_series: self.keys.has_series(),
        };
        let found = nearest.find(&keys, MARGIN_RANK + 1, stop)?;
        let measures = found.iter().map(|near| (near.series, near.resemblance));
        let standing = Standing::of(measures.collect());
        // Another thread may have computed the same standing meanwhile.
        Ok(*kept.get_or_init(|| standing))
    }
}

/// The margins of pairs of one index, or of two.
pub(super) struct Margins<'a> {
    a: Standings<'a>,
    /// The documents of the other index; `None` if there is only one index.
    b: Option<Standings<'a>>,
    keys: Arc<SeriesKeys>,
    max_df: Option<MaxDf>,
}

impl<'a> Margins<'a> {
    /// Returns the number of documents among which a pair has its margin: of two indexes, those of
    /// the smaller one. A series counts once.
    pub(super) fn documents(
        searcher: &Searcher,
        against: Option<&Searcher>,
        series: Option<&Arc<Series>>,
    ) -> u64 {
        let count = |searcher: &Searcher| searcher.snapshot().documents();
        match (against, series) {
            (None, Some(series)) if !series.is_within() => series.count(),
            (None, _) => count(searcher),
            (Some(against), _) => count(searcher).min(count(against)),
        }
    }

    /// Says why pairs have no margins.
    pub(super) fn too_few(
        searcher: &Searcher,
        against: Option<&Searcher>,
        series: Option<&Arc<Series>>,
    ) -> String {
        let least = MARGIN_DOCUMENTS_MIN - u64::from(against.is_some());
        let of = if against.is_some() { " of each side" } else { "" };
        format!(
            "the margin of a pair is that over the neighbour of rank {MARGIN_RANK}: it needs at \
             least {least} documents{of}, and there are {}",
            Margins::documents(searcher, against, series)
        )
    }

    /// Creates the margins for pairs of `searcher`, or of one document of it and one of `against`;
    /// `None` if there are too few documents for the rank.
    pub(super) fn new(
        searcher: &'a Searcher,
        against: Option<&'a Searcher>,
        max_df: Option<MaxDf>,
        series: Option<&Arc<Series>>,
    ) -> Option<Margins<'a>> {
        let count = Margins::documents(searcher, against, series);
        // One document of a pair is of the other index.
        let is_enough = count + u64::from(against.is_some()) >= MARGIN_DOCUMENTS_MIN;
        let keys = Arc::new(SeriesKeys::new(searcher, against, series));
        is_enough.then(|| {
            let (is_own, other) = (against.is_none(), against.unwrap_or(searcher));
            Margins {
                a: Standings::new((searcher, other), is_own, (0, keys.clone())),
                b: against.map(|other| Standings::new((other, searcher), false, (1, keys.clone()))),
                keys,
                max_df,
            }
        })
    }

    /// Returns the margin of a pair with this overlap, -1 to 1.
    ///
    /// # Errors
    /// When a file is damaged; [`cento::Error::Cancelled`] soon after `stop`.
    pub(super) fn of(
        &self,
        (a, b): (DocAddress, DocAddress),
        overlap: Overlap,
        stop: &Stop,
    ) -> Result<f64> {
        let resemblance = overlap.resemblance();
        let keys = [self.keys.of(0, a), self.keys.of(usize::from(self.b.is_some()), b)];
        let a = self.a.standing(a, self.max_df, stop)?;
        let b = self.b.as_ref().unwrap_or(&self.a).standing(b, self.max_df, stop)?;
        Ok(resemblance - a.without(keys[1]).max(b.without(keys[0])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_standing_without_a_series_is_that_of_the_others(
            tenths in prop::collection::vec((0u64..9, 0u32..11), 1..20), one in 0u64..9,
        ) {
            let all: Vec<(u64, f64)> =
                tenths.iter().map(|&(series, tenth)| (series, f64::from(tenth) / 10.0)).collect();
            // Of each other series the best.
            let of = |series| {
                all.iter().filter(move |known| known.0 == series).map(|known| known.1)
            };
            let mut others: Vec<f64> = (0..9)
                .filter(|&series| series != one)
                .filter_map(|series| of(series).max_by(f64::total_cmp))
                .collect();
            others.sort_by(|a, b| b.total_cmp(a));
            let expected = others.get(MARGIN_RANK - 1).copied().unwrap_or(0.0);
            prop_assert_eq!(Standing::of(all.clone()).without(one), expected);
        }
    }
}
