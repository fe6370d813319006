//! The fingerprints of documents that count, where only their texts tell which.
//!
//! A quotation is boilerplate only where it is cited, and a line of a program only where it is
//! written like the template, so the posting lists have the fingerprints of both. They bring up
//! candidates, and the texts decide. The overlap of a pair is therefore counted anew from the
//! texts, or a pair would name fingerprints of text that does not count.

use std::sync::Arc;

use super::pair::Pair;
use cento::index::{ByteLru, DocAddress, InMemory, LruShare};
use cento::search::{Searcher, StoredMemory};
use cento_api::error::Result;
use cento_api::overlap::Overlap;
use cento_text::runtime::Stop;

/// The bytes of cached fingerprints.
const KEPT_BYTES: usize = 64 << 20;

/// The distinct fingerprints of a document that count, ascending.
struct KeySet(Vec<u64>);

impl InMemory for KeySet {
    fn memory_bytes(&self) -> usize {
        self.0.len() * size_of::<u64>()
    }
}

/// The documents of one index.
struct CountedSide<'a> {
    searcher: &'a Searcher,
    /// A cache of fingerprints for each segment. All caches share their memory.
    kept: Vec<LruShare<KeySet>>,
}

/// Counts the common fingerprints of pairs from their texts.
pub(super) struct CountedKeys<'a> {
    own: CountedSide<'a>,
    /// The second index of a join of two indexes.
    against: Option<CountedSide<'a>>,
    /// The source of memory for the texts of an archive. `None` means unbounded.
    memory: Option<StoredMemory>,
}

impl<'a> CountedKeys<'a> {
    /// Prepares to count from the texts. Returns `None` if every stored fingerprint counts.
    pub fn new(
        searcher: &'a Searcher,
        against: Option<&'a Searcher>,
        memory: Option<StoredMemory>,
    ) -> Option<CountedKeys<'a>> {
        let is_by_texts =
            searcher.counts_by_texts() || against.is_some_and(Searcher::counts_by_texts);
        let kept = Arc::new(ByteLru::new(KEPT_BYTES));
        let side = |searcher: &'a Searcher| {
            let kept = searcher.snapshot().segments().iter().map(|_| kept.share()).collect();
            CountedSide { searcher, kept }
        };
        is_by_texts.then(|| CountedKeys { own: side(searcher), against: against.map(side), memory })
    }

    /// Counts the overlaps of pairs anew, and drops pairs with fewer than `least` fingerprints in
    /// common.
    ///
    /// # Errors
    /// When a text cannot be read or signed; [`Error::Cancelled`](cento::Error::Cancelled) soon
    /// after `stop`.
    pub fn count(&self, pairs: &mut Vec<Pair>, least: u32, stop: &Stop) -> Result<()> {
        let mut counted = Vec::with_capacity(pairs.len());
        for pair in pairs.drain(..) {
            let a = self.keys(&self.own, pair.a, stop)?;
            let b = self.keys(self.against.as_ref().unwrap_or(&self.own), pair.b, stop)?;
            let overlap = Overlap::of(&a.0, &b.0);
            if overlap.shared >= least {
                counted.push(Pair { overlap, ..pair });
            }
        }
        *pairs = counted;
        Ok(())
    }

    fn keys(
        &self,
        CountedSide { searcher, kept }: &CountedSide<'_>,
        address: DocAddress,
        stop: &Stop,
    ) -> Result<Arc<KeySet>> {
        kept[address.segment as usize].get(address.doc, || {
            let boilerplate = searcher.boilerplate().filter(|_| searcher.counts_by_texts());
            let Some(boilerplate) = boilerplate else {
                return searcher.keys_of(address, stop).map(KeySet);
            };
            let (text, _rooms) = searcher.text_within(address, self.memory.as_ref())?;
            boilerplate.keys_left_in(&text, stop).map(KeySet)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::{PairOptions, pairs};
    use cento::CitedPart;
    use cento::index::{Config, Document, Index, WriterOptions};

    fn words(name: &str, count: u32) -> String {
        (0..count).map(|n| format!("{name}{n} ")).collect()
    }

    fn searcher(scheme: &str, texts: &[(&str, String)]) -> Searcher {
        let index = Index::in_memory(Config::new(scheme, "words", true).unwrap()).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        for (id, text) in texts {
            writer.add(Document::new(*id, text.clone())).unwrap();
        }
        writer.finish().unwrap();
        Searcher::new(index.snapshot().unwrap())
    }

    #[test]
    fn documents_that_share_only_a_quotation_are_no_pair_without_quotations() {
        // The pair of `a` and `b` was listed with a similarity of 0 and the fingerprints of the
        // quotation, and `b` and `c` counted these fingerprints too.
        let quotation = format!("\u{201c}{}\u{201d} ", words("quoted", 60).trim_end());
        let texts = [
            ("a", words("ann", 80) + &quotation + &words("anna", 80)),
            ("b", words("bob", 80) + &quotation + &words("robert", 80)),
            ("c", words("bob", 80) + &quotation + &words("cas", 80)),
        ];
        for scheme in ["winnow(k=5,w=10)", "kgram(k=5)"] {
            let searcher = searcher(scheme, &texts);
            let mut options = PairOptions::default().min_similarity(0.0);
            let ids = |options: &PairOptions| -> Vec<(String, u32, u32)> {
                let found = pairs(&searcher, options).most_similar().unwrap();
                let named = found.pairs.into_iter().map(|found| found.pair);
                named.map(|pair| (pair.a + &pair.b, pair.overlap, pair.fingerprints_a)).collect()
            };
            let with = ids(&options);
            assert_eq!(with.len(), 3, "{scheme}: {with:?}");
            options.without = vec![CitedPart::Quotations];
            let without = ids(&options);
            assert_eq!(without.len(), 1, "{scheme}: {without:?}");
            assert_eq!((&*without[0].0, &*with[0].0), ("bc", "bc"), "{scheme}");
            assert!(without[0].1 < with[0].1 && without[0].2 < with[0].2, "{without:?} {with:?}");
            let found = pairs(&searcher, &options).most_similar().unwrap();
            assert_eq!((found.total, found.histogram.none), (1, 2), "{scheme}");
            // In the order of their documents, too.
            let found: Vec<_> = pairs(&searcher, &options).map(Result::unwrap).collect();
            assert_eq!(found.len(), 1, "{scheme}: {found:?}");
            assert_eq!(found[0].overlap.shared, without[0].1, "{scheme}");
        }
    }
}
