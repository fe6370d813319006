//! Pairs and clusters, compared with brute force.

use std::collections::{BTreeMap, BTreeSet};

use cento::Stop;
use cento::hash::mix64;
use cento::index::Document;
use cento::index::{Config, Index, MaxDf, WriterOptions};
use cento::search::{Boilerplate, Searcher};
use cento::tantivy::directory::RamDirectory;
use cento_collections::cluster::{Cluster, ClusterOptions, Linkage, Prefer, clusters};
use cento_collections::dedup::DedupOptions;
use cento_collections::pairs::{Pair, PairOptions, PairRank, PairReport, Pairs, pairs};
use cento_collections::series::Scope;
use cento_collections::{Thresholds, WeightedSimilarity};
use proptest::prelude::*;
use serde_json::json;

use crate::common::stream::verdicts_with;

#[test]
fn words_in_another_order_are_not_alike_by_their_pairs() {
    let forward = "one two three four five six seven eight nine";
    let backward = forward.split(' ').rev().collect::<Vec<_>>().join(" ");
    let alike = [forward.to_owned(), format!("{forward} ten")];
    for (store_text, texts, resemblance) in [
        (true, [forward.to_owned(), backward.clone()], 0.0),
        (false, [forward.to_owned(), backward], 0.0),
        (true, alike.clone(), 8.0 / 9.0),
        (false, alike, 8.0 / 9.0),
    ] {
        let config = Config::new("pairs(n=40)", "words", store_text).unwrap();
        let index = Index::create_in(RamDirectory::create(), "ram", config).unwrap();
        let documents = texts.map(|text| Document::new(text.clone(), text));
        // The second document is compared with an uncommitted document, and the first document of
        // the second stream with a committed one.
        let near = DedupOptions::default().min_resemblance(0.05);
        let is_kept = resemblance < 0.05;
        for stream in [&documents[..1], &documents[1..]] {
            let verdicts = verdicts_with(&index, &near, (1 << 26, false), stream);
            assert_eq!(verdicts[0].1.is_kept(), is_kept || stream[0].id == documents[0].id);
        }
        let scratch = Index::in_memory(index.config().clone()).unwrap();
        let verdicts = verdicts_with(&scratch, &near, (1 << 26, false), &documents);
        assert_eq!(verdicts[1].1.is_kept(), is_kept);

        let both = Index::in_memory(index.config().clone()).unwrap();
        let mut writer = both.writer(WriterOptions::default()).unwrap();
        for document in documents {
            writer.add(document).unwrap();
        }
        writer.finish().unwrap();
        let searcher = Searcher::new(both.snapshot().unwrap());
        let thresholds = Thresholds::default().min_resemblance(0.05);
        let found = found(&searcher, None, &options(thresholds, Scope::Everywhere));
        let found: Vec<f64> = found.iter().map(|pair| pair.similarity.resemblance).collect();
        assert_eq!(found, if is_kept { vec![] } else { vec![resemblance] });
    }
}

/// The configuration makes every word a fingerprint.
fn config() -> Config {
    Config::new("kgram(k=1)", "words", false).unwrap()
}

/// Documents of few words with some frequent words, in versions with small differences.
fn text(seed: u64) -> String {
    let (family, version) = (seed / 4, seed % 4);
    let count = 4 + mix64(family) % 25;
    let word = |i: u64| {
        let own = mix64(seed ^ mix64(i)) % 8 < version;
        let drawn = mix64(if own { seed } else { family } << 20 | i);
        let range = [4, 40, 400][(drawn >> 40) as usize % 3];
        format!("w{range}x{}", drawn % range)
    };
    (0..count + version).map(word).collect::<Vec<_>>().join(" ")
}

type Keys = BTreeMap<String, (BTreeSet<u64>, u64)>;

/// An index of documents with these seeds in several segments, some removed again, and the
/// contents: fingerprints and series by id.
fn world(seeds: std::ops::Range<u64>) -> (Searcher, Keys) {
    let index = Index::create_in(RamDirectory::create(), "ram", config()).unwrap();
    let options = WriterOptions::default().merge(false);
    let mut writer = index.writer(options).unwrap();
    let mut held = Keys::new();
    for seed in seeds {
        let (id, text, series) = (format!("doc{seed}"), text(seed), mix64(seed) % 3);
        // Series 0 means no series.
        let meta = if series == 0 { json!({}) } else { json!({ "of": { "series": series } }) };
        let document = Document::new(&id, &text).with_meta(meta.as_object().unwrap().clone());
        writer.add(document).unwrap();
        let keys = config().sign(&text).unwrap().1.iter().map(|f| f.key).collect();
        held.insert(id.clone(), (keys, series));
        if seed % 50 == 49 {
            writer.commit().unwrap();
        }
        if seed % 9 == 0 {
            writer.remove(&id).unwrap();
            held.remove(&id);
        }
    }
    writer.finish().unwrap();
    (Searcher::new(index.snapshot().unwrap()), held)
}

/// The overlap of each pair, by ids.
type Found = BTreeMap<(String, String), u32>;

fn found(a: &Searcher, b: Option<&Searcher>, options: &PairOptions) -> Vec<PairReport> {
    found_with(2, a, b, options)
}

/// Like [`found`], with this number of threads.
fn found_with(
    threads: usize,
    a: &Searcher,
    b: Option<&Searcher>,
    options: &PairOptions,
) -> Vec<PairReport> {
    let other = b.unwrap_or(a);
    let found = b.into_iter().fold(pairs(a, options).threads(threads), Pairs::against);
    found.map(|pair| pair.unwrap().report(a.snapshot(), other.snapshot()).unwrap()).collect()
}

/// Options with these thresholds and this scope.
fn options(thresholds: Thresholds, scope: Scope) -> PairOptions {
    let options = PairOptions::default().thresholds(thresholds);
    match scope {
        Scope::Everywhere => options,
        Scope::Within(field) => options.within(field),
        Scope::Across(field) => options.group_by(field),
    }
}

/// The pairs by brute force. `is_stopped` marks stop-fingerprints.
fn naive(
    a: &Keys,
    b: Option<&Keys>,
    options: &PairOptions,
    is_stopped: impl Fn(&u64) -> bool,
) -> Found {
    let weights = Weights::of(b.unwrap_or(a));
    let mut found = Found::new();
    for (a_id, (a_keys, a_series)) in a {
        for (b_id, (b_keys, b_series)) in b.unwrap_or(a) {
            let shared: Vec<&u64> = a_keys.intersection(b_keys).collect();
            let (overlap, both) = (shared.len() as f64, a_keys.union(b_keys).count() as f64);
            let least = a_keys.len().min(b_keys.len()) as f64;
            let thresholds = options.thresholds;
            let is_same = *a_series != 0 && a_series == b_series;
            let is_kept = match options.scope().unwrap() {
                Scope::Everywhere => true,
                Scope::Within(_) => is_same,
                Scope::Across(_) => !is_same,
            };
            // A document in both indexes is a copy, which is found whatever is stopped.
            let is_copy = a_id == b_id;
            if (b.is_some() || a_id < b_id)
                && (is_copy || shared.iter().any(|key| !is_stopped(key)))
                && shared.len() >= thresholds.overlap() as usize
                && overlap / least >= thresholds.containment()
                && overlap / both >= thresholds.resemblance()
                && (!thresholds.is_weighed() || {
                    let weighted = weights.measures(a_keys, b_keys);
                    weighted[0].max(weighted[1]) >= thresholds.weighted_containment()
                        && weighted[2] >= thresholds.weighted_resemblance()
                })
                && is_kept
            {
                found.insert((a_id.clone(), b_id.clone()), shared.len() as u32);
            }
        }
    }
    found
}

/// The weights of fingerprints in a collection, by definition.
struct Weights {
    documents: f64,
    dfs: BTreeMap<u64, u64>,
}

impl Weights {
    fn of(side: &Keys) -> Weights {
        Weights { documents: side.len() as f64, dfs: dfs(side) }
    }

    fn sum<'a>(&self, keys: impl IntoIterator<Item = &'a u64>) -> u64 {
        let weight = |key| {
            let df = self.dfs.get(key).copied().unwrap_or(0) as f64;
            let idf = ((self.documents + 1.0) / (df + 0.5)).ln().max(0.0);
            ((idf * idf * f64::from(1 << 20)).round() as u64).max(1)
        };
        keys.into_iter().map(weight).sum()
    }

    /// The weighted containments of `a` and `b`, and the weighted resemblance.
    fn measures(&self, a: &BTreeSet<u64>, b: &BTreeSet<u64>) -> [f64; 3] {
        let shared = self.sum(a.intersection(b)) as f64;
        [self.sum(a), self.sum(b), self.sum(a.union(b))].map(|of| shared / of as f64)
    }
}

fn measures(weighted: WeightedSimilarity) -> [f64; 3] {
    [weighted.containment_of_a, weighted.containment_of_b, weighted.resemblance]
}

/// Reports in the form of [`naive`]. Asserts that no pair comes twice.
fn as_found(reports: &[PairReport], is_one_index: bool) -> Found {
    let mut found = Found::new();
    for PairReport { a, b, overlap, .. } in reports {
        let (a, b) = if is_one_index && a > b { (b, a) } else { (a, b) };
        assert!(found.insert((a.clone(), b.clone()), *overlap).is_none(), "{a} and {b} twice");
    }
    found
}

fn dfs(keys: &Keys) -> BTreeMap<u64, u64> {
    let mut dfs = BTreeMap::new();
    keys.values().flat_map(|(keys, _)| keys).for_each(|key| *dfs.entry(*key).or_default() += 1);
    dfs
}

fn thresholds() -> impl Strategy<Value = Thresholds> {
    let share = || prop_oneof![Just(0.0), (1u32..11).prop_map(|tenths| f64::from(tenths) / 10.0)];
    let overlap = prop_oneof![Just(0u32), 1u32..8];
    (overlap, share(), share()).prop_map(|(overlap, containment, resemblance)| {
        Thresholds::default()
            .min_overlap(overlap)
            .min_containment(containment)
            .min_resemblance(resemblance)
    })
}

/// Shares of fingerprints, with at least one weighted threshold.
fn weighted_thresholds() -> impl Strategy<Value = Thresholds> {
    let share =
        || prop_oneof![2 => Just(0.0), 3 => (1u32..10).prop_map(|tenths| f64::from(tenths) / 10.0)];
    let both = (share(), share()).prop_filter("a weight", |both| both.0 > 0.0 || both.1 > 0.0);
    (thresholds(), 0u32..3, both).prop_map(|(thresholds, of_fingerprints, both)| {
        thresholds
            .min_containment(if of_fingerprints == 0 { thresholds.containment() } else { 0.0 })
            .min_resemblance(if of_fingerprints == 1 { thresholds.resemblance() } else { 0.0 })
            .min_weighted_containment(both.0)
            .min_weighted_resemblance(both.1)
    })
}

fn scope() -> impl Strategy<Value = Scope> {
    let field = || "of.series".to_owned();
    prop_oneof![Just(Scope::Everywhere), Just(Scope::Within(field())), Just(Scope::Across(field()))]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn pairs_are_those_of_brute_force(
        thresholds in thresholds(), scope in scope(), first in 0u64..1000, threads in 1usize..4,
        max_df in prop_oneof![Just(u64::MAX), 3u64..40],
    ) {
        let (searcher, held) = world(first..first + 230);
        let options = options(thresholds, scope).max_df(MaxDf::Documents(max_df));
        let reports = found_with(threads, &searcher, None, &options);
        let dfs = dfs(&held);
        let expected = naive(&held, None, &options, |key| dfs[key] > max_df);
        prop_assert_eq!(as_found(&reports, true), expected);
        for report in &reports {
            let (a, b) = (&held[&report.a].0, &held[&report.b].0);
            let overlap = f64::from(report.overlap);
            prop_assert_eq!(report.similarity.containment_of_a, overlap / a.len() as f64);
            prop_assert_eq!(report.similarity.containment_of_b, overlap / b.len() as f64);
            prop_assert_eq!(report.similarity.resemblance, overlap / a.union(b).count() as f64);
        }
        // A different number of threads gives the same pairs in the same order.
        prop_assert_eq!(found_with(threads + 1, &searcher, None, &options), reports);
    }

    #[test]
    fn pairs_of_two_indexes_are_those_of_brute_force(
        thresholds in thresholds(), scope in scope(), first in 0u64..1000,
        max_df in prop_oneof![Just(u64::MAX), 3u64..40],
    ) {
        let (a, in_a) = world(first..first + 110);
        let (b, in_b) = world(first + 70..first + 230);
        let options = options(thresholds, scope).max_df(MaxDf::Documents(max_df));
        let dfs = dfs(&in_b);
        let is_stopped = |key: &u64| dfs.get(key).is_some_and(|&df| df > max_df);
        let expected = naive(&in_a, Some(&in_b), &options, is_stopped);
        prop_assert_eq!(as_found(&found(&a, Some(&b), &options), false), expected);
    }

    #[test]
    fn weighed_pairs_are_those_of_brute_force(
        thresholds in weighted_thresholds(), scope in scope(), first in 0u64..1000,
        threads in 1usize..4, max_df in prop_oneof![Just(u64::MAX), 3u64..40],
    ) {
        let (searcher, held) = world(first..first + 90);
        let options = options(thresholds, scope).max_df(MaxDf::Documents(max_df));
        let (counts, weights) = (dfs(&held), Weights::of(&held));
        let reports = found_with(threads, &searcher, None, &options);
        let expected = naive(&held, None, &options, |key| counts[key] > max_df);
        prop_assert_eq!(as_found(&reports, true), expected);
        for PairReport { a, b, weighted, .. } in reports {
            let expected = weights.measures(&held[&a].0, &held[&b].0);
            prop_assert_eq!(weighted.map(measures), Some(expected), "{} {}", a, b);
        }
        // In a join of two indexes, the second index weighs fingerprints.
        let (other, in_other) = world(first + 60..first + 130);
        let (counts, weights) = (dfs(&in_other), Weights::of(&in_other));
        let is_stopped = |key: &u64| counts.get(key).is_some_and(|&df| df > max_df);
        let reports = found(&searcher, Some(&other), &options);
        let expected = naive(&held, Some(&in_other), &options, is_stopped);
        prop_assert_eq!(as_found(&reports, false), expected);
        for PairReport { a, b, weighted, .. } in reports {
            let expected = weights.measures(&held[&a].0, &in_other[&b].0);
            prop_assert_eq!(weighted.map(measures), Some(expected), "{} {}", a, b);
        }
    }

    #[test]
    fn ranked_pairs_are_the_best_ones(
        thresholds in prop_oneof![thresholds(), weighted_thresholds()], first in 0u64..1000,
        threads in 1usize..4, limit in prop_oneof![Just(usize::MAX), 0usize..40],
    ) {
        let (searcher, held) = world(first..first + 120);
        let options = PairOptions::default().thresholds(thresholds);
        let snapshot = searcher.snapshot();
        let weights = Weights::of(&held);
        for (rank, is_weighed) in
            [(PairRank::Overlap, thresholds.is_weighed()), (PairRank::Weight, true)]
        {
            let mut all: Vec<_> =
                pairs(&searcher, &options).threads(threads).map(Result::unwrap).collect();
            all.sort_by_key(|pair| (pair.a, pair.b));
            let total = all.len() as u64;
            let report = |pair: Pair| pair.report(snapshot, snapshot).unwrap();
            let mut expected: Vec<_> = all.into_iter().map(report).collect();
            let score = |pair: &PairReport| match rank {
                PairRank::Weight => weights.measures(&held[&pair.a].0, &held[&pair.b].0)[2],
                _ => 0.0,
            };
            // The sort is stable, so equal pairs stay in stored order.
            expected.sort_by(|one, other| {
                score(other).total_cmp(&score(one))
                    .then(other.overlap.cmp(&one.overlap))
                    .then(other.similarity.resemblance.total_cmp(&one.similarity.resemblance))
            });
            expected.truncate(limit);
            let mut ranked = pairs(&searcher, &options.clone().rank(rank).limit(limit)).threads(threads);
            let best: Vec<_> = ranked.by_ref().map(Result::unwrap).collect();
            prop_assert_eq!(ranked.total(), total);
            prop_assert!(best.iter().all(|pair| pair.weighted.is_some() == is_weighed));
            let ids = |pair: &PairReport| (pair.a.clone(), pair.b.clone());
            let best: Vec<_> = best.into_iter().map(|pair| ids(&report(pair))).collect();
            let expected: Vec<_> = expected.iter().map(ids).collect();
            prop_assert_eq!(best, expected);
        }
    }

    #[test]
    fn boilerplate_does_not_count(thresholds in thresholds(), first in 0u64..1000) {
        let (searcher, mut held) = world(first..first + 120);
        let boilerplate: BTreeSet<u64> = dfs(&held).into_iter().filter(|(_, df)| *df > 8).map(|(key, _)| key).collect();
        held.values_mut().for_each(|(keys, _)| keys.retain(|key| !boilerplate.contains(key)));
        held.retain(|_, (keys, _)| !keys.is_empty());
        let mut ignored = Boilerplate::new(searcher.snapshot().config()).unwrap();
        ignored.add_keys(boilerplate);
        let searcher = searcher.excluding(ignored, Stop::NEVER).unwrap();
        let options = PairOptions::default().thresholds(thresholds);
        let reports = found(&searcher, None, &options);
        prop_assert_eq!(as_found(&reports, true), naive(&held, None, &options, |_| false));
        prop_assert!(reports.iter().all(|pair| pair.similarity.resemblance <= 1.0));
    }

    #[test]
    fn clusters_are_stars_in_the_order_of_preference(
        thresholds in prop_oneof![thresholds(), weighted_thresholds()], first in 0u64..1000,
        threads in 1usize..4,
    ) {
        let (searcher, held) = world(first..first + 150);
        let options = ClusterOptions::default().thresholds(thresholds).prefer(Prefer::Longest);
        let all = |options: &ClusterOptions| -> Vec<Cluster> {
            clusters(&searcher, options).threads(threads).map(Result::unwrap).collect()
        };
        let clusters = all(&options);
        let pair_options = PairOptions::default().thresholds(thresholds);
        let edges = naive(&held, None, &pair_options, |_| false);
        let is_edge = |a: &String, b: &String| {
            edges.contains_key(&(a.min(b).clone(), a.max(b).clone()))
        };
        // By definition the longest document comes first, and takes the free documents similar to
        // it.
        let length = |id: &String| text(id[3..].parse().unwrap()).split(' ').count();
        let mut ids: Vec<&String> = held.keys().collect();
        ids.sort_by_key(|id| (std::cmp::Reverse(length(id)), (*id).clone()));
        let mut taken: BTreeSet<&String> = BTreeSet::new();
        let mut expected: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for &id in &ids {
            if !taken.insert(id) {
                continue;
            }
            let members: Vec<&String> =
                ids.iter().copied().filter(|other| !taken.contains(other) && is_edge(id, other)).collect();
            taken.extend(&members);
            if !members.is_empty() {
                expected.insert(id.clone(), members.into_iter().cloned().collect());
            }
        }
        let weights = Weights::of(&held);
        for cluster in &clusters {
            for member in &cluster.members {
                let (a, b) = (&held[&cluster.representative].0, &held[&member.id].0);
                let expected = thresholds.is_weighed().then(|| weights.measures(a, b));
                prop_assert_eq!(member.weighted.map(measures), expected);
            }
        }
        let as_map = clusters.iter().map(|cluster| {
            let members = cluster.members.iter().map(|member| member.id.clone()).collect();
            (cluster.representative.clone(), members)
        });
        prop_assert_eq!(as_map.collect::<BTreeMap<_, BTreeSet<_>>>(), expected);
        prop_assert!(clusters.is_sorted_by(|a, b| a.size >= b.size && a.cluster < b.cluster));
        // With single linkage the clusters are the components of the graph.
        let clusters = all(&options.linkage(Linkage::Single));
        let together: BTreeMap<&str, u64> = clusters
            .iter()
            .flat_map(|cluster| {
                let others = cluster.members.iter().map(|member| member.id.as_str());
                others.chain([cluster.representative.as_str()]).map(|id| (id, cluster.cluster))
            })
            .collect();
        for (a, b) in edges.keys() {
            prop_assert_eq!(together[a.as_str()], together[b.as_str()]);
        }
        prop_assert_eq!(together.len(), edges.keys().flat_map(|(a, b)| [a, b]).collect::<BTreeSet<_>>().len());
    }
}
