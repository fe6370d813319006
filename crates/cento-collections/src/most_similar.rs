//! The most similar documents of a small collection.
//!
//! The pairwise test of Finkel et al. (2002), section 2.6: the symmetric similarity of all pairs,
//! the most similar pairs first.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use super::SymmetricPair;
use super::contenders::Archive;
use super::defaults::{EffectiveOptions, PairList};
use super::links::Links;
use super::numbering::Numbering;
use super::pair::Pair;
use super::pair_search::PairConditions;
use super::pairs::{JoinSummary, Pairs};
use super::ranked::{BestPairs, best_of};
use super::score::has_scores;
use super::series::{Series, pair_count};
use super::{PairOptions, PairRank, Thresholds};
use cento::index::PresetDefaults;
use cento::search::Searcher;
use cento_api::error::Result;
use cento_text::runtime::Stop;

/// The number of pairs by symmetric similarity, including pairs that are not shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    /// Pairs with a similarity from 0 to 0.1, from 0.1 to 0.2 and so on. The last bin includes 1.
    pub pairs: [u64; 10],
    /// The pairs of each bin that do not meet the thresholds.
    pub below: [u64; 10],
    /// Pairs without a common fingerprint. With a scope, only pairs that the scope allows.
    pub none: u64,
}

impl Histogram {
    fn add(&mut self, similarity: f64, is_wanted: bool) {
        let bin = ((similarity * 10.0) as usize).min(9);
        self.pairs[bin] += 1;
        self.below[bin] += u64::from(!is_wanted);
    }

    /// Counts the pairs that were never added as pairs without a common fingerprint.
    fn with_none_of(mut self, all: u64) -> Histogram {
        self.none = all.saturating_sub(self.pairs.iter().sum());
        self
    }
}

/// The most similar pairs of some documents, with counts of all pairs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MostSimilar {
    /// The pairs, best first. Equal pairs are in stored order.
    pub pairs: Vec<SymmetricPair>,
    /// The number of pairs that meet the thresholds, shown or not.
    pub total: u64,
    /// The documents that all pairs connect, shown or not, if [wanted](Pairs::connecting).
    pub links: Links,
    /// The pairs, shown or not, by similarity.
    pub histogram: Histogram,
    /// The number of documents that were compared.
    pub compared: u64,
    /// Live documents without text that counts, in stored order. They form no pairs.
    pub not_compared: Vec<NothingLeft>,
    /// Facts about the collection, such as the number of estimated pairs.
    pub summary: JoinSummary,
    /// The effective options: explicit options, completed with the defaults of the preset.
    pub options: PairOptions,
    /// The defaults of the preset that took effect, if any.
    pub defaults: Option<PresetDefaults>,
}

/// A document that has no fingerprint left to compare.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NothingLeft {
    /// The id of the document.
    pub id: String,
    /// Whether the document has tokens. If so, all its text is boilerplate.
    pub has_tokens: bool,
}

impl Pairs {
    /// Finds the most similar pairs of a small collection, and counts all pairs.
    ///
    /// Without a rank, the preset decides the rank, or else pairs are ranked by similarity. Without
    /// a limit there are at most [`PairOptions::MOST_SIMILAR`]. Without a threshold, the threshold
    /// of the preset applies, if any. Pairs of programs have a score.
    ///
    /// A range of [`documents`](Self::documents) from 0 on means new documents, which a
    /// [union](cento::Snapshot::union) puts first. Then every pair has a new document, and the
    /// documents after the range are an archive. Only archived documents that resemble a new
    /// document most by fingerprints are compared by text: as many as the limit, at least 256. The
    /// remaining pairs are counted by their fingerprints ([`JoinSummary::estimated_pairs`]).
    ///
    /// ```
    /// # use cento::{Config, Document, Index, Searcher, WriterOptions};
    /// # let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true)?)?;
    /// # let mut writer = index.writer(WriterOptions::default())?;
    /// # let poem = "A lighthouse was a fire behind a window and half of the light went up";
    /// # let meta = |date: &str| [("date".to_owned(), date.into())].into_iter().collect();
    /// # writer.add(Document::new("first", poem).with_meta(meta("1900")))?;
    /// # let copy = format!("{poem} the chimney");
    /// # writer.add(Document::new("second", copy).with_meta(meta("1901")))?;
    /// # writer.add(Document::new("other", "a text about clocks that has no copy in the index"))?;
    /// # writer.finish()?;
    /// # let searcher = Searcher::new(index.snapshot()?);
    /// use cento_collections::{PairOptions, pairs::pairs};
    ///
    /// let found = pairs(&searcher, &PairOptions::default()).most_similar()?;
    /// assert_eq!((&*found.pairs[0].pair.a, &*found.pairs[0].pair.b), ("first", "second"));
    /// // The other two of the three pairs have no fingerprint in common.
    /// assert_eq!(found.histogram.none, 2);
    /// # Ok::<(), cento::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`pairs`](super::pairs::pairs).
    pub fn most_similar(self) -> Result<MostSimilar> {
        let (mut join, mut progress) = self.into_parts()?;
        let EffectiveOptions { options, defaults } = EffectiveOptions::of_pairs(
            &join.options,
            PairList::MostSimilar,
            &join.searcher,
            join.other(),
        );
        join.options = options.clone();
        let rank = options.rank.unwrap_or(PairRank::Similarity);
        join.options.limit = Some(options.limit.unwrap_or(PairOptions::MOST_SIMILAR));
        let snapshot = join.searcher.snapshot();
        let documents = snapshot.documents();
        let (numbers, mut not_compared) = compared(&join.searcher, &join.stop)?;
        // Pairs of two archived documents are not part of the result.
        let is_searched = |number: &u64| join.documents.contains(number);
        let others: Vec<u64> = numbers.iter().copied().filter(|n| !is_searched(n)).collect();
        not_compared.retain(|(number, _)| is_searched(number));
        let not_compared = not_compared.into_iter().map(|(_, left)| left).collect();
        // Pairs below the thresholds are counted too, so the search gets no thresholds.
        let mut wanted = PairConditions {
            thresholds: Thresholds::default(),
            min_similarity: 0.0,
            scores: has_scores(&join.searcher) && has_scores(join.other()),
            min_passage: None,
            weighted: options.weighted || options.thresholds.is_weighed(),
            ..PairConditions::of(&options)?
        };
        // Pairs outside the series may have much in common, but are not compared.
        wanted.series = Series::read(&wanted.scope, &[snapshot])?.map(Arc::new);
        if let Some(series) = &wanted.series {
            series.check_has_pairs(documents)?;
        }
        let is_archived = join.documents.start == 0 && !others.is_empty();
        wanted.archive = is_archived.then(|| {
            let limit = options.limit.unwrap_or(PairOptions::MOST_SIMILAR);
            Archive::new(join.documents.end, options.clone(), rank, limit)
        });
        wanted.met = Some(options.clone());
        let compared = numbers.len() as u64;
        let count = |numbers: &[u64]| match &wanted.series {
            Some(series) => series.pair_count(numbers),
            None => pair_count(numbers.len() as u64),
        };
        let all = count(&numbers) - count(&others);
        let mut histogram = Histogram::default();
        let BestPairs { pairs, total, summary, links } =
            best_of(&join, rank, wanted, &mut progress, &mut |seen| {
                histogram.add(seen.similarity, seen.is_met);
            })?;
        let report = |pair: Pair| {
            let symmetric = pair.similarity.symmetric();
            Ok(SymmetricPair { pair: pair.report(snapshot, join.other().snapshot())?, symmetric })
        };
        let pairs = pairs.into_iter().map(report).collect::<Result<_>>()?;
        let histogram = histogram.with_none_of(all);
        Ok(MostSimilar {
            pairs,
            total,
            links,
            histogram,
            compared,
            not_compared,
            summary,
            options,
            defaults,
        })
    }
}

/// Finds the live documents without a fingerprint that counts, in stored order. They are in no
/// pair.
///
/// # Errors
/// When a file is damaged; [`Error::Cancelled`](cento::Error::Cancelled) after `stop`.
pub fn nothing_left(searcher: &Searcher, stop: &Stop) -> Result<Vec<NothingLeft>> {
    Ok(compared(searcher, stop)?.1.into_iter().map(|(_, left)| left).collect())
}

/// The numbers of the documents to compare, and the documents without a fingerprint that counts.
type Compared = (Vec<u64>, Vec<(u64, NothingLeft)>);

fn compared(searcher: &Searcher, stop: &Stop) -> Result<Compared> {
    let snapshot = searcher.snapshot();
    let (mut numbers, mut without) = (Vec::new(), Vec::new());
    let numbering = Numbering::new(snapshot);
    for number in 0..numbering.end() {
        stop.check_at(number as usize)?;
        let address = numbering.address(number);
        let segment = snapshot.segment(address);
        if !segment.is_alive(address.doc) {
            continue;
        }
        if searcher.size_of(address)? > 0 {
            numbers.push(number);
        } else {
            let has_tokens = segment.signatures.document(address.doc)?.tokens > 0;
            without.push((number, NothingLeft { id: snapshot.id(address)?, has_tokens }));
        }
    }
    Ok((numbers, without))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::pairs;
    use cento::index::{Config, Document, Index, SignedDocument, WriterOptions};
    use cento::search::Boilerplate;
    use proptest::prelude::*;

    fn searcher(texts: &[(&str, String)]) -> Searcher {
        let index = Index::in_memory(Config::new("kgram(k=1)", "words", true).unwrap()).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        for (id, text) in texts {
            let document = Document::new(*id, text.clone());
            writer
                .add_signed(SignedDocument::new(document, index.config(), Stop::NEVER).unwrap())
                .unwrap();
        }
        writer.finish().unwrap();
        Searcher::new(index.snapshot().unwrap())
    }

    /// Returns a text of `own` words unique to the seed, after `common` words shared by all texts.
    fn text(seed: u32, own: u32, common: u32) -> String {
        let common = (0..common).map(|n| format!("all{n} "));
        common.chain((0..own).map(|n| format!("w{seed}x{n} "))).collect()
    }

    #[test]
    fn pairs_below_a_threshold_are_counted_by_their_kind() {
        // Two copies, two texts that share half of their words with the copies, and an unrelated
        // text.
        let [copy, half] = [text(1, 10, 10), text(2, 10, 10)];
        let texts = [
            ("a", copy.clone()),
            ("b", copy),
            ("c", half),
            ("d", text(3, 20, 0)),
            ("e", " ".into()),
        ];
        let searcher = searcher(&texts);
        let check = |options: &PairOptions, shown: &[&str], total, below: [u64; 2]| {
            let found = pairs(&searcher, options).most_similar().unwrap();
            let ids: Vec<_> =
                found.pairs.iter().map(|p| format!("{}{}", p.pair.a, p.pair.b)).collect();
            assert_eq!((ids, found.total), (shown.iter().map(|s| s.to_string()).collect(), total));
            let Histogram { pairs, below: not_met, none } = found.histogram;
            assert_eq!((pairs[5], pairs[9], none), (2, 1, 3), "{pairs:?}");
            assert_eq!([not_met[5], not_met[9]], below);
            // The empty document is in no pair, so it is not counted among pairs without a common
            // fingerprint.
            assert_eq!((found.compared, found.not_compared.len()), (4, 1));
            assert_eq!(
                (&*found.not_compared[0].id, found.not_compared[0].has_tokens),
                ("e", false)
            );
        };
        let options = PairOptions::default();
        check(&options, &["ab", "ac", "bc"], 3, [0, 0]);
        check(&options.clone().min_similarity(0.6), &["ab"], 1, [2, 0]);
        check(&options.clone().limit(1usize), &["ab"], 3, [0, 0]);
        check(&options.clone().min_passage(15u32), &["ab"], 1, [2, 0]);
        check(&options.clone().min_passage(50u32), &[], 0, [2, 1]);
        let contained = options.thresholds(Thresholds::default().min_containment(0.6));
        check(&contained, &["ab"], 1, [2, 0]);
    }

    #[test]
    fn pairs_outside_of_the_series_are_not_counted_as_pairs_without_common_text() {
        // A copy in another series was once counted as a pair without a common fingerprint.
        let index = Index::in_memory(Config::new("kgram(k=1)", "words", true).unwrap()).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        for (id, seed, series) in [("a", 1, "x"), ("b", 1, "y"), ("c", 2, "x"), ("d", 1, "")] {
            let mut meta = serde_json::Map::new();
            if !series.is_empty() {
                meta.insert("series".into(), series.into());
            }
            writer.add(Document::new(id, text(seed, 20, 0)).with_meta(meta)).unwrap();
        }
        writer.finish().unwrap();
        let searcher = Searcher::new(index.snapshot().unwrap());
        let counts = |options: PairOptions| {
            let found = pairs(&searcher, &options).most_similar().unwrap();
            (found.total, found.histogram.pairs.iter().sum::<u64>(), found.histogram.none)
        };
        assert_eq!(counts(PairOptions::default()), (3, 3, 3));
        // Within a series, only `a` and `c` pair. Across series all other pairs count, as `d` is in
        // no series.
        assert_eq!(counts(PairOptions::default().within("series".to_owned())), (0, 0, 1));
        assert_eq!(counts(PairOptions::default().group_by("series".to_owned())), (3, 3, 2));
        for (options, without) in [
            (PairOptions::default(), 0),
            (PairOptions::default().within("series".to_owned()), 1),
            (PairOptions::default().group_by("series".to_owned()), 1),
        ] {
            let mut found = pairs(&searcher, &options);
            assert!(found.by_ref().all(|pair| pair.is_ok()));
            assert_eq!(found.summary().documents_without_field, without);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn new_documents_are_in_pairs_with_all_others_but_those_of_their_group(
            documents in prop::collection::vec((0u32..4, 0u32..4), 2..12), new in 0usize..12,
        ) {
            let index =
                Index::in_memory(Config::new("kgram(k=1)", "words", true).unwrap()).unwrap();
            let mut writer = index.writer(WriterOptions::default()).unwrap();
            for (number, (seed, group)) in documents.iter().enumerate() {
                let meta = serde_json::json!({"group": group});
                // Documents of group 0 lack the field.
                let meta = meta.as_object().filter(|_| *group > 0).cloned().unwrap_or_default();
                let id = format!("{number:02}");
                writer.add(Document::new(id, text(*seed, 9, 9)).with_meta(meta)).unwrap();
            }
            writer.finish().unwrap();
            let searcher = Searcher::new(index.snapshot().unwrap());
            // Every pair has something in common.
            let mut expected = Vec::new();
            for (a, (_, group_a)) in documents.iter().enumerate() {
                for (b, (_, group_b)) in documents.iter().enumerate().skip(a + 1) {
                    let is_one_group = *group_a > 0 && group_a == group_b;
                    if a < new && !is_one_group {
                        expected.push(format!("{a:02} {b:02}"));
                    }
                }
            }
            let has_groups = documents.iter().any(|(_, group)| *group > 0);
            prop_assume!(has_groups);
            let options = PairOptions::default().group_by("group".to_owned()).limit(1000usize);
            let found = pairs(&searcher, &options).documents(0..new as u64).most_similar();
            let first = documents[0].1;
            if documents.iter().all(|(_, group)| *group == first) {
                let said = found.unwrap_err().to_string();
                prop_assert!(said.contains("are of one group"), "{said}");
                return Ok(());
            }
            let found = found.unwrap();
            let ids = found.pairs.iter().map(|pair| format!("{} {}", pair.pair.a, pair.pair.b));
            let mut ids: Vec<String> = ids.collect();
            ids.sort_unstable();
            prop_assert_eq!(&ids, &expected);
            prop_assert_eq!((found.total, found.histogram.none), (expected.len() as u64, 0));
        }
    }

    #[test]
    fn of_an_archive_the_best_are_compared_and_all_are_counted() {
        // Three new texts, and 400 archived texts that share more and more words with the new
        // texts.
        let common = |count: u32| {
            text(0, 0, 100)[..].split_inclusive(' ').take(count as usize).collect::<String>()
        };
        let mut texts: Vec<(String, String)> =
            (0..3).map(|n| (format!("new{n}"), common(100) + &text(n + 1, 9, 0))).collect();
        texts.extend(
            (0..400).map(|n| (format!("old{n:03}"), common(n % 100 + 1) + &text(n + 9, 9, 0))),
        );
        let texts: Vec<(&str, String)> =
            texts.iter().map(|(id, text)| (&**id, text.clone())).collect();
        let searcher = searcher(&texts);
        let found = |options: PairOptions| {
            pairs(&searcher, &options).documents(0..3).most_similar().unwrap()
        };
        for rank in [PairRank::Similarity, PairRank::Overlap] {
            let options = PairOptions::default().rank(rank).min_similarity(0.1);
            // With a limit of 10,000, all pairs are compared by text.
            let all = found(options.clone().limit(10_000usize));
            let best = found(options.limit(20usize));
            assert_eq!((all.summary.estimated_pairs, best.summary.estimated_pairs), (0, 3 * 144));
            assert_eq!(best.pairs, all.pairs[..20]);
            assert_eq!((best.total, best.histogram), (all.total, all.histogram));
            assert_eq!((best.histogram.none, best.total > 1000), (0, true));
        }
    }

    #[test]
    fn a_document_of_boilerplate_alone_is_not_compared() {
        let texts = [("a", text(1, 9, 9)), ("b", text(2, 9, 9)), ("sheet", text(3, 0, 9))];
        let searcher = searcher(&texts);
        let mut sheet = Boilerplate::new(searcher.snapshot().config()).unwrap();
        sheet.add_text(&texts[2].1, Stop::NEVER).unwrap();
        let searcher = searcher.excluding(sheet, Stop::NEVER).unwrap();
        let found = pairs(&searcher, &PairOptions::default()).most_similar().unwrap();
        assert_eq!((found.compared, found.histogram.none), (2, 1));
        assert_eq!(found.not_compared, [NothingLeft { id: "sheet".into(), has_tokens: true }]);
    }
}
