//! The places of the passages that two documents have in common.

use std::collections::HashSet;

use crate::compare::Unit;
use crate::error::{Error, Result};
use crate::index::{DocAddress, SegmentView};
use crate::join::chronology::Chronology;
use crate::join::pair::Pair;
use crate::join::pair_search::{PairSearch, PairTexts, Wanted};
use crate::join::{FamilyOptions, PairOptions};
use crate::runtime::Stop;
use crate::runtime::ordered::in_order;
use crate::search::Searcher;

/// A half-open range of bytes.
pub type Place = (u32, u32);

/// A passage that two documents have in common: their ranks, and its place in each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// The ranks of the documents, ascending.
    pub documents: [u32; 2],
    pub places: [Place; 2],
    /// The words of the passage that both places have, in per cent: few of a rewritten passage,
    /// whose places are whole sentences.
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

/// The memory that grouping takes for a link: itself, and its entries of both documents.
const LINK_BYTES: usize = size_of::<Link>() + 2 * size_of::<u32>();

/// How links are searched for.
pub struct Request<'a> {
    pub searcher: &'a Searcher,
    pub options: &'a FamilyOptions,
    pub threads: usize,
    pub memory_bytes: usize,
    pub stop: &'a Stop,
}

impl Request<'_> {
    /// Returns the documents that are searched for, by rank; `None` for all.
    ///
    /// # Errors
    /// When the document is not there, or a file is damaged.
    pub fn searched_for(&self, documents: &Chronology) -> Result<Option<Vec<u32>>> {
        let snapshot = self.searcher.snapshot();
        if let Some(id) = &self.options.document {
            let address = snapshot.find(id)?.ok_or_else(|| Error::UnknownId { id: id.clone() })?;
            return Ok(Some(vec![documents.rank(address)]));
        }
        let Some(since) = self.options.since else { return Ok(None) };
        let mut found = Vec::new();
        for rank in 0..documents.len() as u32 {
            self.stop.check_at(rank as usize)?;
            let address = documents.address(rank);
            let segment: &SegmentView = snapshot.segment(address);
            let added = segment.added_micros(address.doc)?;
            if u64::try_from(added).is_ok_and(|added| added >= since) {
                found.push(rank);
            }
        }
        Ok(Some(found))
    }

    /// Finds the links of all documents, or those that have one of these; calls `progress` with the
    /// number of documents searched for so far.
    ///
    /// # Errors
    /// When the index stores no texts, the links take too much memory, or a file is damaged;
    /// [`Error::Cancelled`] soon after `stop`.
    pub fn find(
        &self,
        documents: &Chronology,
        searched_for: Option<&[u32]>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Links> {
        let Request { searcher, options, threads, stop, .. } = *self;
        let pairs = PairOptions::default().max_df(options.max_df);
        let pairs = pairs.passages(true).min_passage(options.min_passage);
        let mut wanted = Wanted::of(&pairs)?;
        wanted.all_of_document = searched_for.is_some();
        let texts = PairTexts::new(searcher, None);
        let search = PairSearch::new(searcher, &texts, &wanted, threads, stop)?;
        let (mut found, mut failed) = (Links::default(), None);
        let end = searched_for.map_or_else(|| search.end(), |ranks| ranks.len() as u64);
        let work = |at: u64| match searched_for {
            None => search.pairs_of(at),
            Some(ranks) => search.pairs_of(documents.number(ranks[at as usize])),
        };
        in_order(threads, 0..end, stop, &work, &mut |at, pairs: Vec<Pair>| {
            for pair in pairs {
                // A pair of two of these documents comes from both.
                let rank_of = |address: DocAddress| documents.rank(address);
                let is_again = searched_for.is_some_and(|ranks| {
                    let own = ranks[at as usize];
                    let [a, b] = [rank_of(pair.a), rank_of(pair.b)];
                    let other = if own == a { b } else { a };
                    other < own && ranks.binary_search(&other).is_ok()
                });
                if !is_again {
                    found.add(&pair, rank_of(pair.a), rank_of(pair.b));
                }
            }
            // A list that grows takes the old memory and the new.
            let bytes = 2 * found.links.len() * LINK_BYTES;
            if bytes > self.memory_bytes || found.links.len() > u32::MAX as usize / 2 {
                failed = Some(Error::memory("finding families", bytes, self.memory_bytes));
                return Err(Error::Cancelled);
            }
            progress(at + 1);
            Ok(())
        })
        .map_err(|error| failed.take().unwrap_or(error))?;
        found.links.sort_unstable();
        found.links.dedup();
        Ok(found)
    }
}

impl Links {
    fn add(&mut self, pair: &Pair, a: u32, b: u32) {
        self.pairs += 1;
        let Some(passages) = &pair.passages else { return };
        if !passages.complete {
            self.cut_pairs += 1;
            self.cut.extend([a, b]);
        }
        for passage in passages.found.iter().filter(|found| found.unit == Unit::Bytes) {
            let (documents, places) = match a < b {
                true => ([a, b], [passage.query, passage.hit]),
                false => ([b, a], [passage.hit, passage.query]),
            };
            if places.iter().all(|place| place.0 < place.1) {
                let matched = passage.matched.min(passage.tokens) * 100 / passage.tokens.max(1);
                self.links.push(Link { documents, places, matched: matched as u8 });
            }
        }
    }
}
