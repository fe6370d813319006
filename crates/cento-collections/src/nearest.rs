//! Which documents resemble one most?
//!
//! A document with a resemblance of r to another shares at least the part r of its fingerprints.
//! So a search for those that share a part of them is complete if it finds enough documents with
//! as great a resemblance. A search for a quarter of them takes hardly more than one for a half,
//! and finds enough in a large collection. The part is halved until there are enough documents, and
//! the last of these tells the part that suffices.

use cento::index::{DocAddress, MaxDf};
use cento::search::Searcher;
use cento_api::error::Result;
use cento_text::runtime::Stop;

/// Documents share one in this many of the fingerprints in the first search. For 91 programs among
/// 100,000, searches for a half took nine tenths of the time of those for a quarter, and all but
/// one found too few.
const FIRST_PART: u32 = 4;

/// A document that resembles another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Near {
    pub resemblance: f64,
    pub series: u64,
    pub address: DocAddress,
}

/// A search for the documents of an index that resemble one most.
pub(super) struct Nearest<'a, F> {
    pub among: &'a Searcher,
    pub max_df: Option<MaxDf>,
    /// The document itself, if it is in the index.
    pub except: Option<DocAddress>,
    /// The series of the document, whose others do not count.
    pub series: u64,
    /// Returns the series of a document of the index.
    pub series_of: F,
    /// Whether documents may have a series in common.
    pub has_series: bool,
}

impl<F: Fn(DocAddress) -> u64> Nearest<'_, F> {
    /// Finds the `count` documents of different series that resemble the one with these ascending
    /// keys most, and all with as great a resemblance as the last of them, in no order; fewer if
    /// fewer share a fingerprint. Of each series there is the one that resembles it most; of
    /// equals, the first.
    ///
    /// # Errors
    /// When a file is damaged; [`Error::Cancelled`](cento::Error::Cancelled) soon after `stop`.
    pub fn find(&self, keys: &[u64], count: usize, stop: &Stop) -> Result<Vec<Near>> {
        let size = keys.len() as u32;
        let mut overlap_min = size.div_ceil(FIRST_PART).max(1);
        loop {
            let found = self.sharing(keys, overlap_min, stop)?;
            let found = best(found, count, self.has_series);
            let last = found.iter().map(|near| near.resemblance).fold(1.0, f64::min);
            let is_enough = found.len() >= count;
            let suffices = last * f64::from(size);
            if overlap_min == 1 || is_enough && suffices >= overlap_min.into() {
                return Ok(found);
            }
            // All that are as near as the last share this part.
            let next = if is_enough { suffices as u32 } else { overlap_min.div_ceil(2) };
            overlap_min = next.max(1);
        }
    }

    fn sharing(&self, keys: &[u64], overlap_min: u32, stop: &Stop) -> Result<Vec<Near>> {
        let size = keys.len() as u32;
        let found = self.among.neighbours(keys, overlap_min, self.max_df, self.except, stop)?;
        let near = found.iter().map(|found| Near {
            resemblance: found.with(size).resemblance(),
            series: (self.series_of)(found.address),
            address: found.address,
        });
        Ok(near.filter(|near| near.series != self.series).collect())
    }
}

/// Chooses the best, one of each series.
fn best(mut found: Vec<Near>, count: usize, has_series: bool) -> Vec<Near> {
    if has_series {
        found.sort_unstable_by(|one, other| {
            let by_resemblance = other.resemblance.total_cmp(&one.resemblance);
            let by_address = one.address.cmp(&other.address);
            one.series.cmp(&other.series).then(by_resemblance).then(by_address)
        });
        found.dedup_by_key(|near| near.series);
    }
    if found.len() > count {
        let by = |one: &Near, other: &Near| other.resemblance.total_cmp(&one.resemblance);
        let (_, last, _) = found.select_nth_unstable_by(count - 1, by);
        let resemblance_min = last.resemblance;
        found.retain(|near| near.resemblance >= resemblance_min);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use cento::index::{Config, Document, Index, WriterOptions};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_nearest_are_those_of_a_search_for_all(
            documents in prop::collection::vec(
                (prop::collection::btree_set(0u32..30, 1..16), 0u64..5), 1..30,
            ),
            count in 1usize..9, has_series: bool, max_df in prop::option::of(1u64..20),
        ) {
            let index =
                Index::in_memory(Config::new("kgram(k=1)", "words", true).unwrap()).unwrap();
            let mut writer = index.writer(WriterOptions::default()).unwrap();
            for (number, (words, _)) in documents.iter().enumerate() {
                let text: String = words.iter().map(|word| format!("w{word} ")).collect();
                writer.add(Document::new(format!("{number:02}"), text)).unwrap();
            }
            writer.finish().unwrap();
            let searcher = Searcher::new(index.snapshot().unwrap());
            let number =
                |address| searcher.snapshot().id(address).unwrap().parse::<usize>().unwrap();
            let series_of = |address| {
                let number = number(address);
                if has_series { documents[number].1 } else { number as u64 }
            };
            let address = searcher.snapshot().find("00").unwrap().unwrap();
            let keys = searcher.keys_of(address, Stop::NEVER).unwrap();
            let search = Nearest {
                among: &searcher,
                max_df: max_df.map(MaxDf::Documents),
                except: Some(address),
                series: series_of(address),
                series_of,
                has_series,
            };
            let mut found = search.find(&keys, count, Stop::NEVER).unwrap();
            let all = search.sharing(&keys, 1, Stop::NEVER).unwrap();
            let mut expected = best(all, count, has_series);
            for nearest in [&mut found, &mut expected] {
                nearest.sort_by_key(|near| near.address);
            }
            prop_assert_eq!(found, expected);
        }
    }
}
