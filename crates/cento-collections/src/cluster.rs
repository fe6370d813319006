//! Clusters of similar documents.
//!
//! Similarity is not transitive. [`Linkage::Single`] joins everything that is linked, which makes
//! chains whose first and last document share nothing, and in large collections one cluster of
//! everything. So by default a cluster is a *star* ([`Linkage::Star`]): every member is similar to
//! the cluster's representative. Documents are taken in order of preference, for example the oldest
//! first. A document that no cluster has taken yet represents a new cluster, which gathers the
//! similar documents that are still free. The result depends on documents and thresholds only, not
//! on threads or storage.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use super::copies;
use super::defaults::EffectiveOptions;
use super::job::{Job, Judge, Resources};
use super::numbering::Numbering;
use super::pair::{Pair, is_too_short};
use super::pair_search::PairConditions;
use super::pairs::{DocumentPairs, pairs};
use super::preference::Preference;
use super::sets::Sets;
use super::thresholds::PairThresholds;
use super::verify::{ComparedDocument, OWN_WORDS_OF_DUPLICATE, Verifier, check_all_words};
use super::weights::{DocumentWeights, candidates};
pub use super::{ClusterOptions, Linkage, Prefer};
use super::{PairOptions, WeightedSimilarity};
use cento::index::{DocAddress, PresetDefaults};
use cento::search::{Neighbor, NeighborLimits, Searcher, WeightedOverlap, kept_runs};
use cento_api::error::Result;
use cento_api::similarity::Similarity;
use cento_text::compare::programs::OWN_WORDS_MIN;
use cento_text::runtime::Stop;
use cento_text::runtime::ordered::{Begin, in_order};

/// A group of similar documents.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Cluster {
    /// The number of the cluster, 1 for the largest.
    pub cluster: u64,
    /// The number of documents in the cluster, including the representative.
    pub size: u64,
    /// The id of the representative.
    pub representative: String,
    /// The documents other than the representative, the most similar first.
    pub members: Vec<Member>,
}

/// A document of a cluster other than the representative.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Member {
    /// The id of the document.
    pub id: String,
    /// Distinct fingerprints in common with the representative. May be 0 with single linkage.
    pub overlap: u32,
    /// The similarity of the representative (`a`) and this document (`b`).
    #[serde(flatten)]
    pub similarity: Similarity,
    /// The similarity of the representative (`a`) and this document (`b`) with fingerprints weighed
    /// by rarity, if a threshold is weighted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weighted: Option<WeightedSimilarity>,
}

/// Finds the clusters of documents, the largest first. Clusters of equal size are ordered by the id
/// of their representatives.
///
/// The work begins at the first call of [`next`](Iterator::next), and the threads end when the
/// iterator is dropped.
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
/// use cento_collections::{ClusterOptions, Thresholds, cluster::clusters};
///
/// let alike = Thresholds::default().min_resemblance(0.5);
/// let found = clusters(&searcher, &ClusterOptions::default().thresholds(alike));
/// let found = found.collect::<cento::Result<Vec<_>>>()?;
/// assert_eq!((found.len(), found[0].size), (1, 2));
/// assert_eq!((&*found[0].representative, &*found[0].members[0].id), ("first", "second"));
/// # Ok::<(), cento::Error>(())
/// ```
///
/// # Errors
/// The iterator gives an error, and ends, when an option is out of bounds, no document has the
/// field of the preference, or a file is damaged, and with
/// [`Error::Cancelled`](cento::Error::Cancelled) after it was stopped.
#[doc(alias = "near-duplicate")]
pub fn clusters(searcher: &Searcher, options: &ClusterOptions) -> Clusters {
    Job::new(searcher, ClusterJudge { options: options.clone() })
}

/// Iterator over the clusters of a collection, made by [`clusters`].
pub type Clusters = Job<ClusterJudge>;

/// Decides which documents form a cluster.
#[derive(Debug)]
pub struct ClusterJudge {
    options: ClusterOptions,
}

impl Clusters {
    /// Returns the defaults of the index's preset that take effect, or `None` after the first call
    /// of [`next`](Iterator::next).
    #[must_use]
    pub fn defaults(&self) -> Option<PresetDefaults> {
        let (judge, searcher) = self.judge()?;
        EffectiveOptions::of_clusters(&judge.options, searcher.snapshot().preset()).defaults
    }

    /// Returns the number of documents without the field of the preference, which are preferred
    /// last. It is 0 before the first call of [`next`](Iterator::next).
    #[must_use]
    pub fn documents_without_field(&self) -> u64 {
        self.facts().copied().unwrap_or(0)
    }
}

impl Judge for ClusterJudge {
    type Item = Cluster;
    type Facts = u64;

    fn run(
        self,
        Resources { searcher, threads, stop, progress }: Resources<'_>,
        without_field: &OnceLock<u64>,
        begin: Begin<'_, Cluster>,
    ) -> Result<()> {
        self.options.check()?;
        let preset = searcher.snapshot().preset();
        let EffectiveOptions { options, .. } = EffectiveOptions::of_clusters(&self.options, preset);
        let documents = PreferredDocuments::new(searcher, &options, stop)?;
        let _ = without_field.set(documents.without_field);
        let groups = match options.linkage {
            Linkage::Star => stars(&documents, &options, threads, progress)?,
            Linkage::Single => components(&documents, &options, threads, progress)?,
        };
        let mut named = Vec::new();
        for (representative, others) in groups {
            let size = others.len() as u64 + 1;
            if size >= options.min_size.max(CLUSTER_MIN) {
                named.push((Reverse(size), documents.id(representative)?, representative, others));
            }
        }
        named.sort_unstable();
        begin(0..named.len() as u64, &|number| {
            let (_, _, representative, others) = &named[number as usize];
            let cluster = documents.cluster(*representative, others)?;
            Ok(Cluster { cluster: number + 1, ..cluster })
        });
        Ok(())
    }
}

/// A document without a similar one is no cluster.
const CLUSTER_MIN: u64 = 2;

/// For each cluster the representative and the members, by place in the order of preference.
type Groups = Vec<(usize, Vec<usize>)>;

/// The live documents of a snapshot in order of preference.
struct PreferredDocuments<'a> {
    searcher: &'a Searcher,
    numbering: Numbering,
    /// Document numbers, the most preferred first.
    order: Vec<u64>,
    /// The number of documents that lack the field of the preference.
    without_field: u64,
    /// Places in `order` by document number.
    places: Vec<u32>,
    /// The weights of fingerprints, if a threshold is weighted.
    weights: Option<DocumentWeights<'a>>,
    verifier: Verifier<'a>,
    /// The minimum share of common words in programs of one cluster.
    own_words_min: f64,
    /// Exact copies that share only stop-fingerprints: the place of the most preferred copy leads
    /// to the places of the rest.
    copies: HashMap<usize, Vec<usize>>,
    stop: &'a Stop,
}

impl<'a> PreferredDocuments<'a> {
    fn new(
        searcher: &'a Searcher,
        options: &ClusterOptions,
        stop: &'a Stop,
    ) -> Result<PreferredDocuments<'a>> {
        let snapshot = searcher.snapshot();
        let numbering = Numbering::new(snapshot);
        let Preference { order, without_field } =
            Preference::new(snapshot, &numbering, &options.prefer, stop)?;
        let mut places = vec![u32::MAX; numbering.end() as usize];
        for (place, &number) in (0u32..).zip(&order) {
            places[number as usize] = place;
        }
        let weights = options.thresholds.is_weighed().then(|| DocumentWeights::new(searcher));
        let is_of_texts = options.thresholds.is_of_texts();
        if is_of_texts {
            check_all_words(searcher, searcher.stores_texts())?;
        }
        let runs = searcher.stored_runs(searcher.verdict_maker(), &kept_runs(), None);
        let verifier = Verifier::new(searcher, runs);
        let own_words_min = if is_of_texts { OWN_WORDS_OF_DUPLICATE } else { OWN_WORDS_MIN };
        let mut copies = HashMap::new();
        for group in copies::groups(searcher, options.max_df, stop)? {
            let mut group: Vec<usize> =
                group.into_iter().map(|number| places[number as usize] as usize).collect();
            group.sort_unstable();
            let first = group.remove(0);
            copies.insert(first, group);
        }
        Ok(PreferredDocuments {
            searcher,
            numbering,
            order,
            without_field,
            places,
            weights,
            verifier,
            own_words_min,
            copies,
            stop,
        })
    }

    /// Returns the places of the documents similar to the document at `own_place`.
    fn similar(&self, own_place: usize, options: &ClusterOptions) -> Result<Vec<usize>> {
        let address = self.numbering.address(self.order[own_place]);
        if is_too_short(self.searcher, address)? {
            return Ok(Vec::new());
        }
        let keys = self.searcher.keys_of(address, self.stop)?;
        let (sampling, thresholds) = (self.verifier.sampling(), options.thresholds);
        let mut own = self.own(address, &keys)?;
        // The similar document may be the smaller one, and contained in this document.
        let alike = thresholds.min_containment(None);
        let least = alike.overlap_min(sampling, own.size);
        let limits = NeighborLimits {
            overlap_min: least,
            share_min: thresholds.weighted_resemblance(),
            max_df: options.max_df,
            except: Some(address),
        };
        let (weights, stop) = (self.weights.as_ref(), self.stop);
        let found = candidates(self.searcher, weights, &keys, limits, stop)?;
        let mut verification = self.verifier.begin();
        let mut similar = Vec::new();
        for (found, weighted) in found {
            let size = verification.size(found)?;
            let overlap = found.with(own.size.fingerprints);
            if !thresholds.may_meet(sampling, overlap, [own.size, size]) {
                continue;
            }
            if let Some((weights, weighted)) = self.weights.as_ref().zip(weighted) {
                let weighted = weights.complete(weighted, found.address, stop)?;
                if !thresholds.meets_weighted(weighted) {
                    continue;
                }
            }
            if (!thresholds.is_of_texts()
                || thresholds.meets(&verification.with(&mut own, found, size, stop)?))
                && verification.is_evident(&mut own, found.address, self.own_words_min, stop)?
            {
                similar.push(found);
            }
        }
        let place =
            |found: Neighbor| self.places[self.numbering.number(found.address) as usize] as usize;
        let mut similar: Vec<usize> = similar.into_iter().map(place).collect();
        // The first copy gathers the remaining copies, unless an earlier document has gathered all
        // copies.
        let meets = thresholds.meet_copies(own.size.fingerprints);
        let copies = self.copies.get(&own_place).filter(|_| meets);
        similar.extend(copies.into_iter().flatten());
        Ok(similar)
    }

    /// Prepares the document at this address, which has these keys, for comparison.
    fn own<'b>(&'b self, address: DocAddress, keys: &'b [u64]) -> Result<ComparedDocument<'b>> {
        let sampling = self.verifier.sampling();
        ComparedDocument::stored(self.searcher, address, keys, sampling, self.verifier.runs())
    }

    /// Tells whether two programs share enough words to be versions of each other. Always true for
    /// prose.
    fn are_evident(&self, pair: &Pair) -> Result<bool> {
        let Some(too_short) = pair.too_short else { return Ok(true) };
        let mut own = self.own(pair.a, &[])?;
        let (verification, least) = (self.verifier.begin(), self.own_words_min);
        Ok(!too_short && verification.is_evident(&mut own, pair.b, least, self.stop)?)
    }

    /// Returns the id of the document at this place in the order.
    fn id(&self, place: usize) -> Result<String> {
        self.searcher.snapshot().id(self.numbering.address(self.order[place]))
    }

    fn cluster(&self, representative: usize, others: &[usize]) -> Result<Cluster> {
        let snapshot = self.searcher.snapshot();
        let address = |place: usize| self.numbering.address(self.order[place]);
        let own = address(representative);
        let keys = self.searcher.keys_of(own, self.stop)?;
        let weights = match &self.weights {
            Some(weights) => Some((weights, weights.of_keys(&keys, self.stop)?)),
            None => None,
        };
        let mut verification = self.verifier.begin();
        let mut representative = self.own(own, &keys)?;
        let mut members = Vec::with_capacity(others.len());
        for &place in others {
            self.stop.check()?;
            let other = self.searcher.keys_of(address(place), self.stop)?;
            let shared: Vec<usize> =
                other.iter().filter_map(|key| keys.binary_search(key).ok()).collect();
            let mut weighted = None;
            if let Some((by, of_keys)) = &weights {
                let counted = WeightedOverlap {
                    shared: shared.iter().map(|&key| of_keys[key]).sum(),
                    in_query: of_keys.iter().sum(),
                    in_document: 0,
                };
                let counted = by.complete(counted, address(place), self.stop)?;
                weighted = Some(counted.measures());
            }
            let found = Neighbor {
                address: address(place),
                overlap: shared.len() as u32,
                fingerprints: other.len() as u32,
            };
            let size = verification.size(found)?;
            let similarity = verification.with(&mut representative, found, size, self.stop)?;
            let id = snapshot.id(address(place))?;
            members.push(Member { id, overlap: found.overlap, similarity, weighted });
        }
        members.sort_by(|a, b| {
            let of = |member: &Member| member.similarity.resemblance;
            of(b).total_cmp(&of(a)).then_with(|| a.id.cmp(&b.id))
        });
        let size = members.len() as u64 + 1;
        Ok(Cluster { cluster: 0, size, representative: snapshot.id(own)?, members })
    }
}

fn stars(
    documents: &PreferredDocuments<'_>,
    options: &ClusterOptions,
    threads: usize,
    progress: &mut dyn FnMut(u64),
) -> Result<Groups> {
    let count = documents.order.len();
    let taken: Vec<AtomicBool> = (0..count).map(|_| AtomicBool::new(false)).collect();
    let mut groups = Vec::new();
    // Searches run ahead of the decisions. A search is wasted if its document is taken in the
    // meantime.
    let work = |place: u64| {
        if taken[place as usize].load(Ordering::Relaxed) {
            return Ok(Vec::new());
        }
        documents.similar(place as usize, options)
    };
    in_order(threads, 0..count as u64, documents.stop, &work, &mut |place, similar| {
        progress(place + 1);
        if taken[place as usize].swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let is_new = |other: &usize| !taken[*other].swap(true, Ordering::Relaxed);
        groups.push((place as usize, similar.into_iter().filter(is_new).collect()));
        Ok(())
    })?;
    Ok(groups)
}

fn components(
    documents: &PreferredDocuments<'_>,
    options: &ClusterOptions,
    threads: usize,
    progress: &mut dyn FnMut(u64),
) -> Result<Groups> {
    let count = documents.order.len();
    let mut sets = Sets::new(count);
    let pair_options = PairOptions::default().thresholds(options.thresholds).max_df(options.max_df);
    let place = |address| documents.places[documents.numbering.number(address) as usize] as usize;
    let found = pairs(documents.searcher, &pair_options).threads(threads).stop(documents.stop);
    let wanted = PairConditions { by_verdicts: true, ..PairConditions::of(&pair_options)? };
    for document in found.into_parts()?.0.start(wanted) {
        let DocumentPairs { next, pairs: found } = document?;
        for pair in found {
            if !documents.are_evident(&pair)? {
                continue;
            }
            // `Sets` keeps the smallest place, so the most preferred document represents the
            // cluster.
            sets.unite(place(pair.a), place(pair.b));
        }
        progress(next);
    }
    let mut groups: HashMap<usize, Vec<usize>> = HashMap::new();
    for place in 0..count {
        let first = sets.of(place);
        let others = groups.entry(first).or_default();
        if first != place {
            others.push(place);
        }
    }
    let mut groups: Groups = groups.into_iter().collect();
    groups.sort_unstable_by_key(|group| (Reverse(group.1.len()), group.0));
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cento::Thresholds;
    use cento::index::{Config, Document, Index, MaxDf, WriterOptions};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    /// Returns a searcher over documents with these ids, texts and values of the field `of.n`.
    fn searcher(documents: &[(String, String, Option<Value>)]) -> Searcher {
        let index = Index::in_memory(Config::new("kgram(k=1)", "words", true).unwrap()).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        for (id, text, value) in documents {
            let meta = value.iter().map(|value| ("of".to_owned(), json!({ "n": value })));
            writer.add(Document::new(id, text).with_meta(meta.collect())).unwrap();
        }
        writer.finish().unwrap();
        Searcher::new(index.snapshot().unwrap())
    }

    fn options() -> ClusterOptions {
        ClusterOptions::default().max_df(MaxDf::Documents(u64::MAX))
    }

    fn found(searcher: &Searcher, options: &ClusterOptions) -> Vec<Cluster> {
        clusters(searcher, options).threads(2).map(Result::unwrap).collect()
    }

    /// Values in ascending order. Values of one line are equal, and the last line counts as no
    /// value.
    fn values() -> Vec<Vec<Option<Value>>> {
        let number = |text: &str| Some(serde_json::from_str(text).unwrap());
        vec![
            vec![number("-1e300")],
            vec![number("-9223372036854775808")],
            vec![number("-9223372036854775807")],
            vec![number("-2.5")],
            vec![number("-2"), number("-2.0")],
            vec![number("-0.0"), number("0"), number("0.0")],
            vec![number("0.5")],
            vec![number("2.0"), number("2")],
            vec![number("9007199254740992"), number("9007199254740992.0")],
            vec![number("9007199254740993")],
            vec![number("18446744073709551614")],
            vec![number("18446744073709551615")],
            vec![number("1e300")],
            vec![Some(json!(""))],
            vec![Some(json!("10"))],
            vec![Some(json!("9"))],
            vec![Some(json!("[1]")), Some(json!([1]))],
            vec![Some(json!("true")), Some(json!(true))],
            vec![None, Some(Value::Null)],
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn copies_are_represented_by_the_preferred_one(
            drawn in prop::collection::vec((0usize..19, 0usize..3), 2..7), is_greatest: bool,
        ) {
            let values = values();
            let documents: Vec<(String, String, Option<Value>)> = drawn
                .iter()
                .enumerate()
                .map(|(at, &(rank, which))| {
                    let equal = &values[rank];
                    // Ids are not in the order of addition.
                    let id = format!("{}", (at * 5 + 3) % 7);
                    (id, "a few words".into(), equal[which % equal.len()].clone())
                })
                .collect();
            // Numbers come before strings, or after strings if the greatest value is preferred.
            // Documents without a value always come last.
            let kind = |rank: usize| usize::from(rank == 18);
            let of_rank = |rank: usize| if is_greatest { 18 - rank } else { rank };
            let expected = drawn
                .iter()
                .zip(&documents)
                .min_by_key(|&(&(rank, _), (id, ..))| (kind(rank), of_rank(rank), id))
                .unwrap();
            let prefer = match is_greatest {
                true => Prefer::Greatest("of.n".into()),
                false => Prefer::Least("of.n".into()),
            };
            let searcher = searcher(&documents);
            // A field that no document has is refused as a misspelling.
            let has_field = drawn.iter().any(|&(rank, _)| rank != 18);
            for linkage in [Linkage::Star, Linkage::Single] {
                let options = options().prefer(prefer.clone()).linkage(linkage);
                if !has_field {
                    let refused = clusters(&searcher, &options).next().unwrap();
                    let is_named =
                        refused.is_err_and(|error| error.to_string().contains("field `of.n`"));
                    prop_assert!(is_named);
                    continue;
                }
                let clusters = found(&searcher, &options);
                prop_assert_eq!(clusters.len(), 1);
                prop_assert_eq!(&clusters[0].representative, &expected.1.0, "{:?}", documents);
            }
        }

        #[test]
        fn components_are_those_of_merging_as_long_as_pairs_connect_two(
            lengths in prop::collection::vec(1u32..6, 1..7), min_size in 0u64..6,
        ) {
            // Chains of texts with half of the words of the next text. The first text of a chain is
            // the longest, so it represents the chain.
            let mut documents = Vec::new();
            let mut expected = Vec::new();
            for (chain, &len) in lengths.iter().enumerate() {
                let id = |at: u32| format!("{chain}-{at}");
                for at in 0..len {
                    let more = if at == 0 { 3 } else { 2 };
                    let word = |n: u32| format!("w{chain}x{n}");
                    let text: Vec<String> = (2 * at..2 * at + 2 + more).map(word).collect();
                    documents.push((id(at), text.join(" "), None));
                }
                if u64::from(len) >= min_size.max(2) {
                    expected.push((Reverse(len), id(0), (1..len).map(id).collect::<Vec<_>>()));
                }
            }
            expected.sort();
            let options = options()
                .thresholds(Thresholds::default().min_overlap(2))
                .linkage(Linkage::Single)
                .prefer(Prefer::Longest)
                .min_size(min_size);
            let clusters = found(&searcher(&documents), &options);
            prop_assert_eq!(clusters.len(), expected.len());
            for (number, (found, expected)) in (1..).zip(clusters.iter().zip(expected)) {
                let Cluster { cluster, size, representative, members } = found;
                let (expected_size, first, others) = expected;
                prop_assert_eq!((*cluster, *size), (number, u64::from(expected_size.0)));
                prop_assert_eq!(representative, &first);
                // Similar members come first, then members without a common word, by id.
                let ids: Vec<&str> = members.iter().map(|member| &*member.id).collect();
                prop_assert_eq!(ids, others);
                let overlaps: Vec<u32> = members.iter().map(|member| member.overlap).collect();
                let linked = [3, 1].into_iter().chain(std::iter::repeat(0));
                prop_assert_eq!(overlaps, linked.take(members.len()).collect::<Vec<_>>());
            }
        }
    }
}
