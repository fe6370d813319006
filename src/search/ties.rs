//! Ties: the first hits are ordered by their texts if fingerprints tie.
//!
//! Fingerprints are a sample, and edits leave few of them to a short query: a sixth of passages of
//! 100 words with every fifth word replaced share equally many with two documents or more. The
//! documents that share the most are then ordered by the runs of the query in their texts. These
//! runs are half as long as the runs behind the fingerprints, because an edit cuts fewer of them.
//!
//! Reading a text takes as long as a search, so only a few texts are read. If the documents with
//! one fingerprint less were read too, the right document would be first a little more often
//! (0.929 instead of 0.916), but such searches would take more than twice as long. No order by
//! texts would be much better: by the longest common subsequence with the texts of the first 40
//! documents it would be 0.941, because for one query in fifteen another document has the whole
//! passage. The rarity of the shared fingerprints, or how close they lie together, decides no tie.
//!
//! A document with every fingerprint of the query keeps its place, because nothing is lost there.

use cento_api::{Goal, Rank};

use super::memory;
use super::query::{Query, Subject};
use super::retrieve::Search;
use super::score::Scored;
use crate::compare::runs::{RunSet, hashes_of};
use crate::error::Result;
use crate::index::Config;

/// The maximum number of documents whose texts are compared.
pub const TIES_MAX: usize = 4;

/// The maximum number of tokens of a text that is compared, some 25 kB.
const TEXT_TOKENS_MAX: u32 = 1 << 12;

/// Returns whether texts order the ties of a query, if the index has texts.
pub fn are_ordered(query: &Query) -> bool {
    query.options.goal == Goal::Hits
        && query.ranked_by() == Rank::Overlap
        && matches!(query.subject, Subject::Text(_))
        && !query.options.counts_only
        && query.options.budget.is_none()
}

/// Returns the places of the documents that share the most fingerprints, at least one document.
/// Empty if there are too many, or if the maximum is every fingerprint of the query.
fn ties(hits: &[Scored]) -> Vec<usize> {
    let most = hits.iter().map(|hit| hit.overlap.shared).max().unwrap_or(0);
    if hits.first().is_none_or(|hit| most == hit.overlap.in_a) {
        return Vec::new();
    }
    let tied = hits.iter().enumerate().filter(|(_, hit)| hit.overlap.shared == most);
    let tied: Vec<usize> = tied.map(|(place, _)| place).take(TIES_MAX + 1).collect();
    if tied.len() <= TIES_MAX { tied } else { Vec::new() }
}

/// Orders the ties before every other document, if the runs of every tie have been counted.
pub fn order(query: &Query, hits: &mut [Scored]) {
    let tied = if are_ordered(query) { ties(hits) } else { Vec::new() };
    if tied.iter().all(|&place| hits[place].runs.is_some()) {
        tied.into_iter().for_each(|place| hits[place].rank_by_runs());
    }
}

impl Search<'_> {
    /// Orders the ties that meet the query before the remaining documents.
    ///
    /// # Errors
    /// When a document cannot be read, or memory is lacking. [`Error::Cancelled`] soon after the
    /// query is stopped.
    ///
    /// [`Error::Cancelled`]: crate::Error::Cancelled
    pub fn order_ties(&self, meeting: &mut [Scored]) -> Result<()> {
        let tied = self.ties(meeting);
        if tied.len() > 1 && self.readable(meeting, &tied)?.len() == tied.len() {
            self.count_runs(meeting, &tied)?;
            order(self.query, meeting);
        }
        Ok(())
    }

    /// Counts the runs of the query in the texts of the ties of a shard. Which ties hold over all
    /// shards depends on documents of other shards.
    ///
    /// # Errors
    /// As [`order_ties`](Self::order_ties).
    pub fn count_ties(&self, meeting: &mut [Scored]) -> Result<()> {
        let tied = self.readable(meeting, &self.ties(meeting))?;
        self.count_runs(meeting, &tied)
    }

    /// Returns the places of the ties, if texts can order them.
    fn ties(&self, meeting: &[Scored]) -> Vec<usize> {
        let Search { searcher, query, subject, found } = self;
        let config = searcher.snapshot.config();
        // With boilerplate, some runs would not count.
        let is_known = searcher.ignored.is_none() && found.unread == 0;
        let has_runs = config.store_text && config.scheme.run_tokens().is_some();
        let is_short = subject.tokens <= TEXT_TOKENS_MAX;
        match is_known && has_runs && is_short && are_ordered(query) {
            true => ties(meeting),
            false => Vec::new(),
        }
    }

    /// Returns the documents at these places whose texts are short enough to be compared.
    fn readable(&self, meeting: &[Scored], tied: &[usize]) -> Result<Vec<usize>> {
        let mut readable = Vec::with_capacity(tied.len());
        for &place in tied {
            let address = meeting[place].address;
            let segment = self.searcher.snapshot.segment(address);
            if segment.signatures.document(address.doc)?.tokens <= TEXT_TOKENS_MAX {
                readable.push(place);
            }
        }
        Ok(readable)
    }

    /// Counts the runs of the query in the texts of the documents at these places.
    fn count_runs(&self, meeting: &mut [Scored], tied: &[usize]) -> Result<()> {
        let Search { searcher, query, .. } = self;
        let (snapshot, stop) = (&searcher.snapshot, query.stop());
        let Config { analyzer, scheme, .. } = snapshot.config();
        let (Subject::Text(text), Some(k)) = (&query.subject, scheme.run_tokens()) else {
            return Ok(());
        };
        let k = k.div_ceil(2);
        let own = RunSet::of_text(text, analyzer, k, |_| false, stop)?;
        for &place in tied {
            let address = meeting[place].address;
            let signed = snapshot.segment(address).signatures.document(address.doc)?;
            let bytes = memory::of_tokens(signed.tokens);
            let _room = memory::reserve(query.memory.as_ref(), 0, bytes, signed.tokens)?;
            let text = snapshot.text(address)?.unwrap_or_default();
            meeting[place].runs = Some(own.shared_with(&hashes_of(&text, analyzer, stop)?, k));
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

    /// Returns a text. Three texts in a row have parts of the same passage. One text is long.
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
        let is_long = found.iter().any(|stored| stored.is_long && shared(stored) == most);
        let is_open = most < own.len() && (2..=4).contains(&count(most)) && !is_long;
        let runs = |stored: &Stored| match is_open && shared(stored) == most {
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
        fn ties_are_in_the_order_of_their_texts(
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
