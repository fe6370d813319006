//! The places of the passages that two documents have in common.

use std::collections::HashSet;

use super::request::Request;
use crate::compare::{Passages, Unit};
use crate::error::{Error, Result};
use crate::join::chronology::Chronology;
use crate::runtime::ordered::in_order;
use crate::search::Texts;

/// A half-open range of bytes.
pub type Place = (u32, u32);

/// A passage that two documents have in common: their ranks, and its place in each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// The ranks of the documents, ascending.
    pub documents: [u32; 2],
    pub places: [Place; 2],
    /// The words of the passage that both places have, in per cent, at least [`MATCHED_MIN`]: fewer
    /// of a rewritten passage, whose places are whole sentences.
    pub matched: u8,
}

/// The links of a collection.
#[derive(Debug, Default)]
pub struct Links {
    pub links: Vec<Link>,
    /// The pairs of documents that were compared.
    pub pairs: u64,
    /// Those whose search for passages was cut short.
    pub cut_pairs: u64,
    /// The documents of such pairs.
    pub cut: HashSet<u32>,
}

/// The memory that grouping takes for a link: itself, and an entry for each of its documents, with
/// the place.
const LINK_BYTES: usize = size_of::<Link>() + 2 * size_of::<(Place, u32, u32)>();

/// Of a passage with a smaller matched part, in per cent, neither place carries the other: less
/// than half of its words are in both. Places of rewritten text can be as unlike.
pub const MATCHED_MIN: u32 = 50;

/// The number of pairs that are compared at a time.
const PAIRS_AT_ONCE: usize = 16;

/// Compares these pairs of documents, and finds their links; calls `progress` with the number of
/// documents compared so far.
///
/// # Errors
/// When the links take too much memory, or a file is damaged;
/// [`Error::Cancelled`] soon after `stop`.
pub fn links(
    request: &Request<'_>,
    documents: &Chronology,
    pairs: &[(u32, u32)],
    progress: &mut dyn FnMut(u64),
) -> Result<Links> {
    let Request { searcher, options, threads, stop, .. } = *request;
    let (mut found, mut failed) = (Links::default(), None);
    let work = |at: u64| {
        let first = at as usize * PAIRS_AT_ONCE;
        let some = &pairs[first..pairs.len().min(first + PAIRS_AT_ONCE)];
        let mut texts = Texts::new(searcher, searcher);
        let passages = |&(a, b): &(u32, u32)| {
            let [one, other] = [a, b].map(|rank| documents.address(rank));
            let passages = texts.passages(one, other, stop)?;
            Ok(((a, b), passages.of_at_least(options.min_passage)))
        };
        some.iter().map(passages).collect::<Result<Vec<_>>>()
    };
    let parts = pairs.len().div_ceil(PAIRS_AT_ONCE) as u64;
    in_order(threads, 0..parts, stop, &work, &mut |_, some| {
        for (pair, passages) in some {
            found.add(pair, &passages);
            progress(pair.0.into());
        }
        // A list that grows takes the old memory and the new.
        let bytes = 2 * found.links.len() * LINK_BYTES;
        if bytes > request.memory_bytes || found.links.len() > u32::MAX as usize / 2 {
            failed = Some(Error::memory("finding families", bytes, request.memory_bytes));
            return Err(Error::Cancelled);
        }
        Ok(())
    })
    .map_err(|error| failed.take().unwrap_or(error))?;
    progress(documents.len() as u64);
    found.links.sort_unstable();
    found.links.dedup();
    Ok(found)
}

impl Links {
    /// Adds the passages of a pair of ranks, the first of them as the query.
    fn add(&mut self, (a, b): (u32, u32), passages: &Passages) {
        self.pairs += 1;
        if !passages.complete {
            self.cut_pairs += 1;
            self.cut.extend([a, b]);
        }
        for passage in passages.found.iter().filter(|found| found.unit == Unit::Bytes) {
            let places = [passage.query, passage.hit];
            let matched = passage.matched.min(passage.tokens) * 100 / passage.tokens.max(1);
            if places.iter().all(|place| place.0 < place.1) && matched >= MATCHED_MIN {
                self.links.push(Link { documents: [a, b], places, matched: matched as u8 });
            }
        }
    }
}
