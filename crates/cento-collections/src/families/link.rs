//! Finds the places of the passages that two documents share.

use std::collections::HashSet;

use super::request::Request;
use crate::chronology::Chronology;
use cento_api::error::{Error, Result};
use cento_text::compare::passages::tokens_in;
use cento_text::compare::{Passage, Passages, Unit};
use cento_text::runtime::ordered::in_order;
use cento_text::text::Tokens;

/// A half-open range of bytes.
pub type Place = (u32, u32);

/// A place in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentPlace {
    /// The rank of the document in time.
    pub document: u32,
    pub place: Place,
}

/// A passage that two documents share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PassageLink {
    /// The ranks of the documents, ascending.
    pub documents: [u32; 2],
    pub places: [Place; 2],
    /// The share of words common to the two places, in per cent, at least [`MATCHED_MIN`]. Smaller
    /// in a rewritten passage, where the places are whole sentences. See [`Matched`].
    pub matched: u8,
}

impl PassageLink {
    /// Returns the share of common words, 0 to 1.
    pub fn matched_share(&self) -> f64 {
        f64::from(self.matched) / 100.0
    }
}

/// The links of a collection.
#[derive(Debug, Default)]
pub struct PassageLinks {
    pub links: Vec<PassageLink>,
    /// The number of compared pairs of documents.
    pub pairs: u64,
    /// The number of pairs whose search for passages was cut short.
    pub cut_pairs: u64,
    /// The documents of pairs, and of further searches, that were cut short.
    pub cut: HashSet<u32>,
}

/// The memory of a link while families grow: the link, and an entry with a place for each document.
const LINK_BYTES: usize = size_of::<PassageLink>() + 2 * size_of::<(Place, u32, u32)>();

/// The minimum matched part of a passage, in per cent. With a smaller part neither document carries
/// the passage, because less than half of the words are common. Unrelated rewritten text can be as
/// alike.
const MATCHED_MIN: u32 = 50;

/// The minimum number of distinct matched words, as a share of the minimum number of words. A
/// passage with fewer distinct words is a row of numbers or a line of a table, as any text may
/// have.
const DIFFERENT_MIN: f64 = 0.6;

/// Counts of matched words in a passage.
///
/// Distinct words are counted as well as all words, because any two tables share most of their
/// zeros and ones, which means nothing.
#[derive(Debug, Clone, Copy)]
pub struct Matched {
    /// The number of distinct matched words.
    pub different: usize,
    /// The matched share of all words or of distinct words in the place, whichever is smaller.
    pub share: f64,
}

impl Matched {
    /// Counts the matched words of a passage. `of` is a place of the query around the passage.
    pub fn new(passage: &Passage, of: Place, query: &Tokens) -> Matched {
        let different = |places: &mut dyn Iterator<Item = Place>| {
            let places = places.map(|place| tokens_in(query, place));
            let mut words: Vec<u64> = places
                .flat_map(|place| &query.hashes[place.start as usize..place.end as usize])
                .copied()
                .collect();
            let count = words.len();
            words.sort_unstable();
            words.dedup();
            (count, words.len())
        };
        let (all, all_different) = different(&mut std::iter::once(of));
        let (_, different) = different(&mut passage.matched_in_a().iter().copied());
        let share = |matched: usize, all: usize| (matched as f64 / all.max(1) as f64).min(1.0);
        let share = share(passage.matched as usize, all).min(share(different, all_different));
        Matched { different, share }
    }

    /// Returns the matched share of the longer of the two places. Where other text interrupts the
    /// passage, only a part of the place is matched, and a family of the other text is no family of
    /// the passage.
    fn in_both(self, [a, b]: [Place; 2]) -> Matched {
        let length = |(start, end): Place| f64::from(end - start);
        let longer = length(a).max(length(b)).max(1.0);
        Matched { share: self.share * length(a) / longer, ..self }
    }

    /// Tells whether the words make a passage of at least this many words.
    pub fn is_passage(&self, min_passage: u32) -> bool {
        self.share * 100.0 >= f64::from(MATCHED_MIN)
            && self.different as f64 >= DIFFERENT_MIN * f64::from(min_passage)
    }
}

/// The number of pairs that a thread compares at a time.
const PAIRS_AT_ONCE: usize = 16;

/// Finds the links of these pairs of documents. Calls `progress` with the number of documents
/// compared so far.
///
/// # Errors
/// When the links take too much memory, or a file is damaged. [`Error::Cancelled`] soon after
/// `stop`.
pub fn links(
    request: &Request<'_>,
    documents: &Chronology,
    pairs: &[(u32, u32)],
    progress: &mut dyn FnMut(u64),
) -> Result<PassageLinks> {
    let Request { options, threads, stop, .. } = *request;
    let (mut found, mut failed) = (PassageLinks::default(), None);
    let work = |at: u64| {
        let first = at as usize * PAIRS_AT_ONCE;
        let some = &pairs[first..pairs.len().min(first + PAIRS_AT_ONCE)];
        let mut texts = request.texts()?;
        let passages = |&(a, b): &(u32, u32)| {
            let [one, other] = [a, b].map(|rank| documents.address(rank));
            let passages = texts.passages(one, other, stop)?.of_at_least(options.min_passage);
            let query = texts.query();
            let links = query.map(|query| of_pair(a, b, &passages, query, options.min_passage));
            Ok(((a, b), passages.complete, links.unwrap_or_default()))
        };
        some.iter().map(passages).collect::<Result<Vec<_>>>()
    };
    let parts = pairs.len().div_ceil(PAIRS_AT_ONCE) as u64;
    in_order(threads, 0..parts, stop, &work, &mut |_, some| {
        for (pair, is_complete, links) in some {
            found.pairs += 1;
            if !is_complete {
                found.cut_pairs += 1;
                found.cut.extend([pair.0, pair.1]);
            }
            found.links.extend(links);
            progress(pair.0.into());
        }
        found.check(request.memory_bytes).map_err(|error| {
            failed = Some(error);
            Error::Cancelled
        })
    })
    .map_err(|error| failed.take().unwrap_or(error))?;
    progress(documents.len() as u64);
    found.links.sort_unstable();
    found.links.dedup();
    Ok(found)
}

/// Returns the links of a pair of ranks by its passages, whose query is document `a`.
pub fn of_pair(
    a: u32,
    b: u32,
    passages: &Passages,
    query: &Tokens,
    min_passage: u32,
) -> Vec<PassageLink> {
    let link = |passage: &Passage| {
        let (places, matched) = ([passage.a, passage.b], Matched::new(passage, passage.a, query));
        let matched = matched.in_both(places);
        let is_link =
            places.iter().all(|place| place.0 < place.1) && matched.is_passage(min_passage);
        let matched = (matched.share * 100.0) as u8;
        is_link.then_some(PassageLink { documents: [a, b], places, matched })
    };
    passages.found.iter().filter(|found| found.unit == Unit::Bytes).filter_map(link).collect()
}

impl PassageLinks {
    /// Refuses more links than there is memory for.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn check(&self, memory_bytes: usize) -> Result<()> {
        // A growing list takes its old and its new memory.
        let bytes = 2 * self.links.len() * LINK_BYTES;
        match bytes > memory_bytes || self.links.len() > u32::MAX as usize / 2 {
            true => Err(Error::memory("finding families", bytes, memory_bytes)),
            false => Ok(()),
        }
    }

    /// Records documents whose search for passages was cut short.
    pub fn cut(&mut self, documents: impl IntoIterator<Item = u32>) {
        self.cut.extend(documents);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_is_mostly_other_text_is_no_place_of_a_passage() {
        // A page with another article in the middle of the passage once joined the families of
        // both.
        let matched = Matched { different: 60, share: 0.9 };
        assert!(matched.in_both([(0, 100), (50, 160)]).is_passage(12));
        assert!(!matched.in_both([(0, 100), (50, 260)]).is_passage(12));
        assert!(matched.in_both([(0, 210), (50, 150)]).is_passage(12));
    }
}
