//! Near ties: the first hits are ordered by their texts where fingerprints leave the order open.
//!
//! Fingerprints are a sample. If several documents share nearly as few of them with a query, a
//! difference of one is chance: of passages of 100 words with every fifth word replaced, a sixth
//! shared equally many with two documents or more. So the documents with the most shared
//! fingerprints, or one less, are ordered by the runs of the query in their texts. These runs are
//! half as long as the runs behind the fingerprints, because an edit cuts fewer of them.
//!
//! A document with every fingerprint of the query keeps its place, because the order is not open.

use super::evidence::Evidence;
use super::query::Query;
use super::retrieve::Search;
use super::score::Scored;
use crate::compare::runs::RunSet;
use crate::error::Result;
use crate::index::TokenKind;

/// The maximum number of shared fingerprints of which one more or less is chance.
const SHARED_MAX: u32 = 32;

/// The maximum number of tokens of a text that is compared, some 25 kB.
const TEXT_TOKENS_MAX: u32 = 1 << 12;

/// Returns the places of the documents whose order the fingerprints leave open. Not empty even if
/// only one document is near the most, because of documents of other shards.
fn near_ties(hits: &[Scored]) -> Vec<usize> {
    let most = hits.iter().map(|hit| hit.overlap.shared).max().unwrap_or(0);
    let is_open = hits.first().is_some_and(|hit| most < hit.overlap.in_a);
    if !is_open || most > SHARED_MAX {
        return Vec::new();
    }
    let of_at_least = |least: u32| -> Vec<usize> {
        let places = hits.iter().enumerate().filter(|(_, hit)| hit.overlap.shared >= least);
        places.map(|(place, _)| place).take(Query::NEAR_TIES_MAX + 1).collect()
    };
    let mut near = of_at_least(most.saturating_sub(1));
    if near.len() > Query::NEAR_TIES_MAX {
        near = of_at_least(most);
    }
    if near.len() <= Query::NEAR_TIES_MAX { near } else { Vec::new() }
}

/// Orders near ties before all other documents, if the runs of each have been counted.
pub fn order(query: &Query, hits: &mut [Scored]) {
    let near = if query.compares_near_ties() { near_ties(hits) } else { Vec::new() };
    if near.iter().all(|&place| hits[place].runs.is_some()) {
        near.into_iter().for_each(|place| hits[place].rank_by_runs());
    }
}

impl Search<'_> {
    /// Orders the near ties among the documents that meet the query before all others. `evidence`
    /// is the evidence of the query, if it needs one.
    ///
    /// # Errors
    /// When a document cannot be read, or memory is lacking. [`Error::Cancelled`] soon after the
    /// query is stopped.
    ///
    /// [`Error::Cancelled`]: crate::Error::Cancelled
    pub fn order_near_ties<'a>(
        &'a self,
        meeting: &mut [Scored],
        evidence: Option<&mut Evidence<'a>>,
    ) -> Result<()> {
        let near = self.near_ties(meeting);
        if near.len() > 1 && self.readable(meeting, &near)?.len() == near.len() {
            self.count_runs(meeting, &near, evidence)?;
            order(self.query, meeting);
        }
        Ok(())
    }

    /// Counts the runs of the query in the texts of the near ties of a shard. Documents of other
    /// shards decide which of them are near ties of all shards.
    ///
    /// # Errors
    /// As [`order_near_ties`](Self::order_near_ties).
    pub fn count_near_ties(&self, meeting: &mut [Scored]) -> Result<()> {
        let near = self.readable(meeting, &self.near_ties(meeting))?;
        self.count_runs(meeting, &near, None)
    }

    /// Returns the places of the near ties, if texts can order them.
    fn near_ties(&self, meeting: &[Scored]) -> Vec<usize> {
        let Search { searcher, query, subject, found } = self;
        let config = searcher.snapshot.config();
        // With boilerplate, some runs would not count.
        let is_known = searcher.ignored.is_none() && found.unread == 0;
        let has_runs = config.store_text && config.scheme.run_tokens().is_some();
        let is_short = subject.tokens <= TEXT_TOKENS_MAX;
        match is_known && has_runs && is_short && query.compares_near_ties() {
            true => near_ties(meeting),
            false => Vec::new(),
        }
    }

    /// Returns the documents at these places whose texts are short enough to be compared.
    fn readable(&self, meeting: &[Scored], near: &[usize]) -> Result<Vec<usize>> {
        let mut readable = Vec::with_capacity(near.len());
        for &place in near {
            let address = meeting[place].address;
            let segment = self.searcher.snapshot.segment(address);
            if segment.signatures.document(address.doc)?.tokens <= TEXT_TOKENS_MAX {
                readable.push(place);
            }
        }
        Ok(readable)
    }

    /// Counts the runs of the query in the texts of the documents at these places.
    fn count_runs<'a>(
        &'a self,
        meeting: &mut [Scored],
        near: &[usize],
        evidence: Option<&mut Evidence<'a>>,
    ) -> Result<()> {
        let Search { searcher, query, subject, .. } = self;
        let run_tokens = searcher.snapshot.config().scheme.run_tokens();
        let Some(k) = run_tokens.filter(|_| !near.is_empty()) else { return Ok(()) };
        let k = k.div_ceil(2);
        let mut own_evidence;
        let evidence = match evidence {
            Some(evidence) => evidence,
            None => {
                let text = subject.text(&searcher.snapshot, query)?;
                own_evidence = Evidence::new(searcher, subject, query, text)?;
                &mut own_evidence
            }
        };
        let Some(query_tokens) = evidence.signed() else { return Ok(()) };
        let own = RunSet::new(&query_tokens.hashes, k);
        for &place in near {
            query.stop().check()?;
            let document = evidence.document(meeting[place].address, TokenKind::Signed)?;
            meeting[place].runs = Some(own.shared_with(&document.tokens.hashes, k));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use crate::hash::mix64;
    use crate::index::{Config, Document, Index, WriterOptions};
    use crate::search::{Query, Searcher};

    const DOCUMENTS: u64 = 60;
    /// More words than the longest text that is compared.
    const LONG: u64 = 5_000;

    fn word(seed: u64, at: u64, of: u64) -> String {
        format!("w{}", mix64(mix64(seed) ^ at) % of)
    }

    /// Returns a text with a passage that two other texts have in part. One text is long.
    fn text(number: u64) -> Vec<String> {
        let own = if number == 30 { LONG } else { 20 + number % 40 };
        let own = (0..own).map(|at| word(number, at, 3_000));
        let passage = (0..60).map(|at| {
            let edit = mix64(number << 8 | at).is_multiple_of(2 + number % 3 * 4);
            word(if edit { number } else { 900 + number / 3 }, at, 3_000)
        });
        own.chain(passage).collect()
    }

    fn config() -> Config {
        Config::new("winnow(k=5,w=10)", "words", true).unwrap()
    }

    static SEARCHER: LazyLock<Searcher> = LazyLock::new(|| {
        let index = Index::in_memory(config()).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        for number in 0..DOCUMENTS {
            writer.add(Document::new(format!("{number:02}"), text(number).join(" "))).unwrap();
        }
        writer.finish().unwrap();
        Searcher::new(index.snapshot().unwrap())
    });

    /// Returns a passage of a text with some words replaced.
    fn passage(number: u64, seed: u64, every: u64) -> String {
        let words = text(number);
        let from = words.len() - 60 + (seed % 10) as usize;
        let edited = words[from..].iter().zip(0..).map(|(own, at)| {
            let is_edited = mix64(mix64(seed) ^ at).is_multiple_of(every);
            if is_edited { word(seed, at, 3_000) } else { own.clone() }
        });
        edited.collect::<Vec<_>>().join(" ")
    }

    fn keys(text: &str) -> BTreeSet<u64> {
        config().sign(text).unwrap().1.iter().map(|fingerprint| fingerprint.key).collect()
    }

    fn short_runs(text: &[String]) -> BTreeSet<Vec<String>> {
        text.windows(3).map(<[String]>::to_vec).collect()
    }

    /// A document, as the definition of the order needs it.
    struct Stored {
        id: String,
        keys: BTreeSet<u64>,
        runs: BTreeSet<Vec<String>>,
        is_long: bool,
    }

    static STORED: LazyLock<Vec<Stored>> = LazyLock::new(|| {
        let stored = |number| Stored {
            id: format!("{number:02}"),
            keys: keys(&text(number).join(" ")),
            runs: short_runs(&text(number)),
            is_long: text(number).len() > 4_096,
        };
        (0..DOCUMENTS).map(stored).collect()
    });

    /// Returns the hits by definition, best first.
    fn expected(query: &str) -> Vec<String> {
        let own = keys(query);
        let own_runs = short_runs(&query.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let shared = |stored: &Stored| stored.keys.intersection(&own).count();
        let mut found: Vec<&Stored> = STORED.iter().filter(|stored| shared(stored) > 0).collect();
        let most = found.iter().map(|stored| shared(stored)).max().unwrap_or(0);
        let count = |least: usize| found.iter().filter(|stored| shared(stored) >= least).count();
        let is_some_near = most > 0 && count(most - 1) <= 10;
        let least = if is_some_near { most - 1 } else { most };
        let is_long = found.iter().any(|stored| stored.is_long && shared(stored) >= least);
        let is_open =
            most < own.len() && most <= 32 && (2..=10).contains(&count(least)) && !is_long;
        let runs = |stored: &Stored| match is_open && shared(stored) >= least {
            true => 1 + stored.runs.intersection(&own_runs).count(),
            false => 0,
        };
        let resemblance =
            |stored: &Stored| shared(stored) as f64 / stored.keys.union(&own).count() as f64;
        found.sort_by(|a, b| {
            let by_runs = runs(b).cmp(&runs(a)).then(shared(b).cmp(&shared(a)));
            by_runs.then(resemblance(b).total_cmp(&resemblance(a))).then(a.id.cmp(&b.id))
        });
        found.into_iter().map(|stored| stored.id.clone()).collect()
    }

    fn ids(query: Query) -> Vec<String> {
        SEARCHER.search(&query).unwrap().hits.into_iter().map(|hit| hit.id).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn near_ties_are_in_the_order_of_their_texts(
            number in 0..DOCUMENTS,
            seed in any::<u64>(),
            every in 2u64..9,
            limit in 1usize..20,
        ) {
            let text = passage(number, seed, every);
            let mut expected = expected(&text);
            expected.truncate(limit);
            prop_assert_eq!(ids(Query::text(text).limit(limit)), expected);
        }
    }

    #[test]
    fn the_source_of_an_edited_passage_is_first_more_often_than_by_fingerprints() {
        let (mut by_texts, mut by_counts, mut with_long) = (0, 0, 0);
        for seed in 0..300 {
            let number = seed % DOCUMENTS;
            let query = Query::text(passage(number, seed, 4));
            let first = |query| ids(query).first() == Some(&format!("{number:02}"));
            by_texts += u32::from(first(query.clone()));
            by_counts += u32::from(first(query.clone().counts_only(true)));
            with_long += u32::from(ids(query).iter().any(|id| id == "30"));
        }
        assert!(by_texts > by_counts, "{by_texts} {by_counts}");
        assert!(with_long > 0);
    }
}
