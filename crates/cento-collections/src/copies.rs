//! Exact copies of documents that share only stop-fingerprints.
//!
//! Documents with the same text have the same fingerprints, so a search for one document finds its
//! copies. That fails if every fingerprint is a stop-fingerprint, which happens when a text has
//! more copies than the limit of document frequency. Such copies are found by the digests of their
//! texts.
//!
//! n copies make n (n - 1) / 2 pairs, so 20,000 copies would make 200 million. Therefore a copy is
//! paired only with the first copy: the first one added or, among copies added at the same time,
//! the copy with the smallest id. With a scope, the partner is the first copy allowed by the scope.
//! The place of storage does not matter.

use std::collections::HashMap;

use super::numbering::Numbering;
use super::series::Series;
use cento::index::{DocAddress, MaxDf, Snapshot};
use cento::search::Searcher;
use cento_api::error::Result;
use cento_text::hash::Digest;
use cento_text::runtime::Stop;

/// Pairs of copies that share only stop-fingerprints.
#[derive(Debug, Default)]
pub struct Copies {
    /// The numbers of the document that reports the pair and of its partner, ascending.
    pairs: Vec<(u64, u64)>,
}

impl Copies {
    /// Finds the pairs of copies within `searcher`, or between `searcher` and `against`, as far as
    /// `series` keeps them.
    ///
    /// # Errors
    /// When a file is damaged; [`Error::Cancelled`](cento::Error::Cancelled) soon after `stop`.
    pub fn new(
        searcher: &Searcher,
        against: Option<&Searcher>,
        max_df: Option<MaxDf>,
        series: Option<&Series>,
        stop: &Stop,
    ) -> Result<Copies> {
        let mut pairs = Vec::new();
        for others in groups(against.unwrap_or(searcher), max_df, stop)? {
            stop.check()?;
            let Some(against) = against else {
                each_with_first(&others, series, &mut pairs);
                continue;
            };
            let own = copies_in(searcher.snapshot(), against.snapshot(), others[0])?;
            let own = in_order(searcher.snapshot(), own)?;
            across(&own, &others, series, &mut pairs);
        }
        pairs.sort_unstable();
        pairs.dedup();
        Ok(Copies { pairs })
    }

    /// Returns the partners of this document, in pairs for this document to report.
    pub fn of(&self, number: u64) -> impl Iterator<Item = u64> + '_ {
        let first = self.pairs.partition_point(|pair| pair.0 < number);
        let own = self.pairs[first..].iter().take_while(move |pair| pair.0 == number);
        own.map(|pair| pair.1)
    }
}

/// Groups the documents with only stop-fingerprints by text. Numbers in a group are in order of
/// addition.
///
/// # Errors
/// When a file is damaged; [`Error::Cancelled`](cento::Error::Cancelled) soon after `stop`.
pub fn groups(searcher: &Searcher, max_df: Option<MaxDf>, stop: &Stop) -> Result<Vec<Vec<u64>>> {
    let snapshot = searcher.snapshot();
    let numbering = Numbering::new(snapshot);
    let (_, documents) = searcher.stopped_documents(max_df, stop)?;
    let mut digests = Vec::with_capacity(documents.len());
    for (at, address) in documents.into_iter().enumerate() {
        stop.check_at(at)?;
        digests.push((digest(snapshot, address)?, numbering.number(address)));
    }
    digests.sort_unstable();
    let same = digests.chunk_by(|one, other| one.0 == other.0);
    let group = |same: &[(Digest, u64)]| {
        stop.check()?;
        in_order(snapshot, same.iter().map(|&(_, number)| number).collect())
    };
    same.map(group).collect()
}

/// Sorts document numbers by time of addition, then by id.
fn in_order(snapshot: &Snapshot, numbers: Vec<u64>) -> Result<Vec<u64>> {
    if numbers.len() < 2 {
        return Ok(numbers);
    }
    let numbering = Numbering::new(snapshot);
    let mut ordered = Vec::with_capacity(numbers.len());
    for number in numbers {
        let address = numbering.address(number);
        let added = snapshot.segment(address).added_micros(address.doc)?;
        ordered.push((added, snapshot.id(address)?, number));
    }
    ordered.sort_unstable();
    Ok(ordered.into_iter().map(|(_, _, number)| number).collect())
}

fn digest(snapshot: &Snapshot, address: DocAddress) -> Result<Digest> {
    Ok(snapshot.segment(address).signatures.digest(address.doc)?)
}

/// Returns the numbers of live documents of `snapshot` whose text equals document `number` of
/// `other`.
fn copies_in(snapshot: &Snapshot, other: &Snapshot, number: u64) -> Result<Vec<u64>> {
    let digest = digest(other, Numbering::new(other).address(number))?;
    let numbering = Numbering::new(snapshot);
    let mut numbers = Vec::new();
    for (segment, view) in (0u32..).zip(snapshot.segments()) {
        let docs = view.signatures.documents_with(digest, |doc| view.is_alive(doc))?;
        numbers.extend(docs.into_iter().map(|doc| numbering.number(DocAddress { segment, doc })));
    }
    Ok(numbers)
}

/// Pairs each document of a group with the first document that its series allows.
fn each_with_first(group: &[u64], series: Option<&Series>, pairs: &mut Vec<(u64, u64)>) {
    let Some(firsts) = Firsts::new(group, series, 0) else { return };
    // The later copies report the pairs, so that threads share the work of a large group.
    for &number in &group[1..] {
        let first = firsts.of(number, 0).filter(|&first| first != number);
        pairs.extend(first.map(|first| (number, first)));
    }
}

/// Pairs every document of either group with the first allowed document of the opposite group.
fn across(own: &[u64], others: &[u64], series: Option<&Series>, pairs: &mut Vec<(u64, u64)>) {
    let (Some(first_own), Some(first_other)) =
        (Firsts::new(own, series, 0), Firsts::new(others, series, 1))
    else {
        return;
    };
    pairs.extend(own.iter().filter_map(|&number| Some((number, first_other.of(number, 0)?))));
    pairs.extend(others.iter().filter_map(|&number| Some((first_own.of(number, 1)?, number))));
}

/// The possible partners in a group of copies.
struct Firsts<'a> {
    series: Option<&'a Series>,
    /// The first document and its series.
    first: (u64, u32),
    /// The first document outside the series of `first`.
    other: Option<u64>,
    /// The first document of each series, if pairs are kept within a series.
    of_series: HashMap<u32, u64>,
}

impl<'a> Firsts<'a> {
    /// Reads the partners from a group in the first (0) or second (1) index, in order of addition.
    /// Returns `None` for an empty group.
    fn new(group: &[u64], series: Option<&'a Series>, side: usize) -> Option<Firsts<'a>> {
        let code = |number| series.map_or(0, |series| series.code(side, number));
        let first = *group.first()?;
        let first = (first, code(first));
        let other = group.iter().copied().find(|&number| code(number) != first.1);
        let mut of_series = HashMap::new();
        if series.is_some_and(Series::is_within) {
            for &number in group {
                of_series.entry(code(number)).or_insert(number);
            }
        }
        Some(Firsts { series, first, other, of_series })
    }

    /// Returns the first document that may be paired with document `number` of the first (0) or
    /// second (1) index.
    fn of(&self, number: u64, side: usize) -> Option<u64> {
        let Some(series) = self.series else { return Some(self.first.0) };
        // 0 means that the document has no series.
        let code = series.code(side, number);
        match (series.is_within(), code) {
            (true, 0) => None,
            (true, code) => self.of_series.get(&code).copied(),
            (false, code) if code != 0 && code == self.first.1 => self.other,
            (false, _) => Some(self.first.0),
        }
    }
}
