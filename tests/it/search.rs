//! Searches against brute force: thresholds, limits, filters, budgets, covers, tantivy queries.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use cento::hash::mix64;
use cento::index::Document;
use cento::index::{Config, Index, WriterOptions};
use cento::search::{Answer, Hit, MaxDf, Query, Rank, Searcher, SimilarTo, Subject};
use cento::tantivy;
use cento::tantivy::directory::RamDirectory;
use proptest::prelude::*;
use serde_json::json;

const DOCUMENTS: u64 = 1600;
const WORDS: u64 = 200;

/// Returns a configuration where every word is a fingerprint, so that few words make long lists.
fn config() -> Config {
    Config::new("kgram(k=1)", "words", false).unwrap()
}

/// Returns words `w0` to `w199`. Words with small numbers are in most documents.
fn text(seed: u64, count: u64) -> String {
    let word = |i: u64| {
        let drawn = mix64(mix64(seed) ^ i);
        let (at, power) = (drawn % WORDS, drawn >> 32 & 3);
        format!("w{}", (0..power).fold(at, |at, _| at * ((drawn >> 34) % WORDS) / WORDS))
    };
    let rare = format!("rare{}", mix64(seed) % 700);
    (0..count).map(word).chain([rare]).collect::<Vec<_>>().join(" ")
}

struct Naive {
    keys: BTreeSet<u64>,
    parity: u64,
}

struct World {
    searcher: Searcher,
    /// The live documents, by id.
    documents: BTreeMap<String, Naive>,
    dfs: BTreeMap<u64, u64>,
}

fn keys(text: &str) -> BTreeSet<u64> {
    config().sign(text).unwrap().1.iter().map(|fingerprint| fingerprint.key).collect()
}

/// An index of several segments, with posting lists of every encoding, and with deleted documents.
static WORLD: LazyLock<World> = LazyLock::new(|| {
    let index = Index::create_in(RamDirectory::create(), "ram", config()).unwrap();
    let options = WriterOptions::default().merge(false);
    let mut writer = index.writer(options).unwrap();
    let mut documents = BTreeMap::new();
    for i in 0..DOCUMENTS {
        let (id, text) = (format!("doc{i}"), text(i, 5 + i % 40));
        let naive = Naive { keys: keys(&text), parity: i % 2 };
        let meta = json!({ "parity": i % 2 }).as_object().unwrap().clone();
        let document = Document::new(&id, text).with_meta(meta);
        writer.add(document).unwrap();
        documents.insert(id, naive);
        if i % 640 == 0 {
            writer.commit().unwrap();
        }
    }
    for i in (0..DOCUMENTS).step_by(7) {
        let id = format!("doc{i}");
        assert!(writer.remove(&id).unwrap());
        documents.remove(&id);
    }
    writer.finish().unwrap();
    let mut dfs = BTreeMap::new();
    for key in documents.values().flat_map(|document| &document.keys) {
        *dfs.entry(*key).or_default() += 1;
    }
    assert!(dfs.values().any(|&df| df > 600) && dfs.values().any(|&df| df < 5));
    let searcher = Searcher::new(index.snapshot().unwrap());
    assert!(searcher.snapshot().segments().len() >= 3);
    World { searcher, documents, dfs }
});

/// The expected hits of a search, best first, by definition.
fn expected(query: &Query, filter: Option<u64>) -> Vec<(String, u32)> {
    let world = &*WORLD;
    let Subject::Text(text) = &query.subject else { unreachable!() };
    let wanted = keys(text);
    let max_df = query.options.max_df.unwrap().limit(world.documents.len() as u64);
    let kept: BTreeSet<u64> = wanted
        .iter()
        .copied()
        .filter(|key| world.dfs.get(key).is_none_or(|&df| df <= max_df))
        .collect();
    let mut hits = Vec::new();
    for (id, document) in &world.documents {
        let overlap = document.keys.intersection(&wanted).count();
        let share = |of: usize| overlap as f64 / of as f64;
        let resemblance = share(document.keys.union(&wanted).count());
        if document.keys.is_disjoint(&kept)
            || overlap < query.thresholds.overlap() as usize
            || share(wanted.len()) < query.thresholds.containment()
            || resemblance < query.thresholds.resemblance()
            || filter.is_some_and(|parity| document.parity != parity)
        {
            continue;
        }
        hits.push((overlap as u32, resemblance, id.clone()));
    }
    hits.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)));
    hits.truncate(query.options.limit.unwrap_or(Query::HITS));
    hits.into_iter().map(|(overlap, _, id)| (id, overlap)).collect()
}

/// The weight of fingerprints, by definition.
fn weight<'a>(keys: impl IntoIterator<Item = &'a u64>) -> u64 {
    let world = &*WORLD;
    let weight = |key| {
        let df = world.dfs.get(key).copied().unwrap_or(0);
        let idf = ((world.documents.len() + 1) as f64 / (df as f64 + 0.5)).ln().max(0.0);
        ((idf * idf * f64::from(1 << 20)).round() as u64).max(1)
    };
    keys.into_iter().map(weight).sum()
}

/// The expected hits of a weighted search, best first, by definition: ids and weighted containments
/// and resemblances.
fn expected_weighted(query: &Query) -> Vec<(String, f64, f64)> {
    let Subject::Text(text) = &query.subject else { unreachable!() };
    let wanted = keys(text);
    let unranked = query.clone().limit(usize::MAX);
    let hits = expected(&unranked, None).into_iter().filter_map(|(id, _)| {
        let keys = &WORLD.documents[&id].keys;
        let shared = weight(keys.intersection(&wanted));
        let containment = shared as f64 / weight(&wanted) as f64;
        let resemblance = shared as f64 / weight(keys.union(&wanted)) as f64;
        let score = match query.options.rank.unwrap_or_default() {
            Rank::Overlap => 0.0,
            _ => shared as f64 / (keys.len() as f64).sqrt(),
        };
        let meets = containment >= query.thresholds.weighted_containment()
            && resemblance >= query.thresholds.weighted_resemblance();
        meets.then_some((score, id, containment, resemblance))
    });
    let mut hits: Vec<_> = hits.collect();
    // The sort is stable, so equal hits stay in the order by overlap.
    hits.sort_by(|a, b| b.0.total_cmp(&a.0));
    hits.truncate(query.options.limit.unwrap_or(Query::HITS));
    hits.into_iter()
        .map(|(_, id, containment, resemblance)| (id, containment, resemblance))
        .collect()
}

fn found(hits: &[Hit]) -> Vec<(String, u32)> {
    hits.iter().map(|hit| (hit.id.clone(), hit.overlap)).collect()
}

/// Checks the statement about hits that are not shown, if `all` documents meet the query.
fn check_extent(answer: &Answer, all: usize) -> Result<(), TestCaseError> {
    prop_assert_eq!(answer.more, all > answer.hits.len());
    prop_assert!(answer.total.is_none_or(|total| total == all as u64));
    prop_assert!(answer.more || answer.total == Some(all as u64));
    Ok(())
}

fn threshold() -> impl Strategy<Value = f64> {
    prop_oneof![3 => Just(0.0), 1 => Just(0.1), 1 => Just(0.3), 1 => Just(0.5), 1 => 0.0f64..1.0]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_search_is_brute_force(
        seed in 5000u64..6000,
        count in 1u64..60,
        min_containment in threshold(),
        min_resemblance in threshold(),
        min_overlap in 1u32..6,
        limit in prop_oneof![Just(1), Just(3), Just(10), Just(100), Just(usize::MAX)],
        max_df in prop_oneof![Just(3u64), Just(20), Just(300), Just(u64::MAX)],
        filter in prop_oneof![2 => Just(None), 1 => Just(Some(0)), 1 => Just(Some(1))],
    ) {
        let mut query = Query::text(text(seed, count))
            .min_containment(min_containment)
            .min_resemblance(min_resemblance)
            .min_overlap(min_overlap)
            .limit(limit)
            .max_df(MaxDf::Documents(max_df));
        query.options.filter = filter.map(|parity: u64| format!("parity:{parity}"));
        let answer = WORLD.searcher.search(&query).unwrap();
        prop_assert!(answer.complete);
        let Subject::Text(words) = &query.subject else { unreachable!() };
        let wanted = keys(words);
        let known = wanted.iter().filter(|key| WORLD.dfs.contains_key(key)).count();
        prop_assert_eq!(answer.query.global, known as f64 / wanted.len() as f64);
        prop_assert_eq!(found(&answer.hits), expected(&query, filter));
        let all = expected(&query.clone().limit(usize::MAX), filter).len();
        check_extent(&answer, all)?;
        prop_assert!(min_resemblance == 0.0 || answer.total.is_some());
        let stopped = answer.query.stopped_fingerprints;
        prop_assert_eq!(stopped.len(), answer.query.stopped as usize);
        for stopped in stopped {
            let df = WORLD.dfs[&stopped.key.parse::<u64>().unwrap()];
            // Document frequencies may include deleted documents, but only if that does not change
            // the decision.
            prop_assert!(df > max_df && stopped.df >= df);
        }
    }

    #[test]
    fn a_weighted_search_is_brute_force(
        seed in 5000u64..6000,
        count in 1u64..60,
        min_containment in threshold(),
        min_weighted_containment in threshold(),
        min_weighted_resemblance in threshold(),
        rank in prop_oneof![1 => Just(Rank::Overlap), 3 => Just(Rank::Weight)],
        limit in prop_oneof![Just(1), Just(10), Just(usize::MAX)],
        max_df in prop_oneof![Just(20), Just(300), Just(u64::MAX)],
        budget in prop_oneof![3 => Just(None), 1 => (0u64..4000).prop_map(Some)],
    ) {
        let query = Query::text(text(seed, count))
            .min_containment(min_containment)
            .min_weighted_containment(min_weighted_containment)
            .min_weighted_resemblance(min_weighted_resemblance)
            .rank(rank)
            .limit(limit)
            .max_df(MaxDf::Documents(max_df))
            .budget(budget);
        let answer = WORLD.searcher.search(&query).unwrap();
        let is_weighed = rank != Rank::Overlap
            || min_weighted_containment > 0.0
            || min_weighted_resemblance > 0.0;
        let measures = |hit: &Hit| match hit.weighted {
            Some(weighted) => (hit.id.clone(), weighted.containment_of_a, weighted.resemblance),
            None => (hit.id.clone(), 0.0, 0.0),
        };
        let found: Vec<_> = answer.hits.iter().map(measures).collect();
        prop_assert!(answer.hits.iter().all(|hit| hit.weighted.is_some() == is_weighed));
        let all = query.clone().limit(usize::MAX);
        if !is_weighed {
            prop_assert!(budget.is_some() || found.len() == expected(&query, None).len());
        } else if answer.complete {
            prop_assert_eq!(found, expected_weighted(&query));
            let all = expected_weighted(&all).len();
            check_extent(&answer, all)?;
        } else {
            let exact = expected_weighted(&all);
            prop_assert!(answer.total.is_none());
            prop_assert!(found.iter().all(|hit| exact.contains(hit)));
        }
    }

    #[test]
    fn within_a_budget_every_number_is_still_exact(
        seed in 5000u64..6000, count in 1u64..60,
        budget in prop_oneof![4 => 0u64..4000, 1 => Just(1 << 40)],
    ) {
        let all = Query::text(text(seed, count))
            .limit(usize::MAX)
            .max_df(MaxDf::Documents(u64::MAX));
        let exact: BTreeMap<String, u32> = expected(&all, None).into_iter().collect();
        let query = all.budget(budget).limit(10);
        let answer = WORLD.searcher.search(&query).unwrap();
        prop_assert!(answer.query.postings <= budget);
        for hit in &answer.hits {
            prop_assert_eq!(exact[&hit.id], hit.overlap);
        }
        prop_assert!(answer.complete || budget < 1 << 40);
        if answer.complete {
            prop_assert_eq!(found(&answer.hits), expected(&query, None));
        }
    }

    #[test]
    fn a_cover_is_the_greedy_one(
        seed in 5000u64..6000,
        count in 1u64..60,
        limit in 1usize..8,
        // With few hits the long lists are not read as a whole.
        min_containment in prop_oneof![2 => Just(0.0), 1 => Just(0.2), 1 => Just(0.4)],
        max_df in prop_oneof![1 => Just(20), 3 => Just(u64::MAX)],
        filter in prop_oneof![2 => Just(None), 1 => Just(Some(0))],
    ) {
        let mut query = Query::text(text(seed, count))
            .limit(usize::MAX)
            .min_containment(min_containment)
            .max_df(MaxDf::Documents(max_df));
        query.options.filter = filter.map(|parity: u64| format!("parity:{parity}"));
        let snapshot = WORLD.searcher.snapshot();
        let found = WORLD.searcher.covering(&query, Vec::new(), limit).unwrap();
        let candidates = expected(&query, filter);
        let Subject::Text(text) = &query.subject else { unreachable!() };
        let mut open = keys(text);
        let mut chosen: Vec<&String> = Vec::new();
        while chosen.len() < limit {
            let adds = |id: &String| WORLD.documents[id].keys.intersection(&open).count();
            let most = candidates.iter().map(|(id, _)| adds(id)).max().unwrap_or(0);
            if most == 0 {
                break;
            }
            // Among documents that add equally much, the better hit wins, then the document stored
            // first.
            let overlap = |id: &String| {
                let of = &WORLD.documents[id].keys;
                let shared = of.intersection(&keys(text)).count();
                let both = of.union(&keys(text)).count() as f64;
                (shared, shared as f64 / both)
            };
            let equals = candidates.iter().map(|(id, _)| id).filter(|id| adds(id) == most);
            let best = equals.min_by(|a, b| {
                let by_hit = overlap(b).partial_cmp(&overlap(a)).unwrap();
                let place = |id: &String| snapshot.find(id).unwrap();
                by_hit.then_with(|| place(a).cmp(&place(b)))
            });
            let id = best.unwrap();
            open.retain(|key| !WORLD.documents[id].keys.contains(key));
            chosen.push(id);
        }
        let found: Vec<String> =
            found.into_iter().map(|address| snapshot.id(address).unwrap()).collect();
        prop_assert_eq!(found.iter().collect::<Vec<_>>(), chosen);
    }
}

#[test]
fn similarity_composes_with_tantivy_queries() {
    use tantivy::collector::{Count, TopDocs};
    use tantivy::query::{BooleanQuery, Occur, Query as _, QueryClone as _, QueryParser};

    let searcher = &WORLD.searcher;
    let query = Query::text(text(5001, 20)).min_containment(0.2).max_df(MaxDf::Documents(u64::MAX));
    let similar = SimilarTo::new(searcher, &query).unwrap();
    let tantivy = searcher.snapshot().tantivy();
    let even = QueryParser::for_index(tantivy.index(), vec![]).parse_query("meta.parity:0");
    let even = even.unwrap();
    let both = BooleanQuery::from(vec![
        (Occur::Must, Box::new(similar.clone()) as Box<dyn tantivy::query::Query>),
        (Occur::Must, even.box_clone()),
    ]);
    let all = query.clone().limit(usize::MAX);
    assert_eq!(tantivy.search(&similar, &Count).unwrap(), expected(&all, None).len());
    assert_eq!(tantivy.search(&both, &Count).unwrap(), expected(&all, Some(0)).len());
    let best = tantivy.search(&similar, &TopDocs::with_limit(1).order_by_score()).unwrap();
    let first = &searcher.search(&query).unwrap().hits[0];
    assert!((f64::from(best[0].0) - first.similarity.containment_of_a).abs() < 1e-6);
    let explained = similar.explain(tantivy, best[0].1).unwrap();
    assert!(f64::from(explained.value()) > 0.2);
    // A query that was made for a snapshot refuses a different snapshot.
    let index = Index::create_in(RamDirectory::create(), "ram", config()).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    let document = Document::new("a", "w1");
    writer.add(document).unwrap();
    writer.finish().unwrap();
    let other = index.snapshot().unwrap();
    assert!(other.tantivy().search(&similar, &Count).is_err());
}

#[test]
fn many_threads_get_the_same_answers() {
    let queries: Vec<Query> = (0..40).map(|i| Query::text(text(7000 + i, 30)).limit(20)).collect();
    let answers = || -> Vec<Vec<(String, u32)>> {
        queries.iter().map(|query| found(&WORLD.searcher.search(query).unwrap().hits)).collect()
    };
    let alone = answers();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(answers)).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), alone);
        }
    });
}

#[test]
fn the_distribution_of_frequencies_counts_every_posting_once() {
    const MAX_DF: u64 = 60;
    let config = config().with_max_df(MaxDf::Documents(MAX_DF));
    let index = Index::create_in(RamDirectory::create(), "ram", config).unwrap();
    let mut writer = index.writer(WriterOptions::default().merge(false)).unwrap();
    let mut dfs: BTreeMap<u64, u64> = BTreeMap::new();
    let mut texts = Vec::new();
    for i in 0..300 {
        // One document in ten has only frequent words.
        let text = text(i, 5 + i % 40);
        let text = if i % 10 == 0 { "w0 w1 w2 ".repeat(1 + i as usize % 3) } else { text };
        keys(&text).into_iter().for_each(|key| *dfs.entry(key).or_default() += 1);
        texts.push(text.clone());
        let document = Document::new(i.to_string(), text);
        writer.add(document).unwrap();
        if i % 100 == 0 {
            writer.commit().unwrap();
        }
    }
    writer.finish().unwrap();
    let snapshot = index.snapshot().unwrap();
    assert!(snapshot.segments().len() > 1);
    let frequencies = snapshot.df_distribution().unwrap();
    let mut least = 0;
    for bucket in &frequencies.distribution {
        let within = || dfs.values().filter(|&&df| df > least && df <= bucket.df_max);
        assert_eq!(bucket.terms, within().count() as u64);
        assert_eq!(bucket.postings, within().sum::<u64>());
        least = bucket.df_max;
    }
    assert!(dfs.values().all(|&df| df <= least));
    let stopped = || dfs.values().filter(|&&df| df > MAX_DF);
    assert_eq!(frequencies.stopped.terms, stopped().count() as u64);
    assert_eq!(frequencies.stopped.postings, stopped().sum::<u64>());
    assert_eq!(frequencies.sampled_documents, 300);
    // No text is longer than a passage.
    let is_lost = |text: &&String| keys(text).iter().all(|key| dfs[key] > MAX_DF);
    let lost = texts.iter().filter(is_lost).count();
    assert!((30..300).contains(&lost), "{lost}");
    assert_eq!(frequencies.documents_lost, lost as f64 / 300.0);
    assert_eq!(frequencies.passages_lost, lost as f64 / 300.0);
}

#[test]
fn ids_and_metas_are_the_same_at_every_read() {
    // After several reads, the columns are loaded into memory.
    let snapshot = WORLD.searcher.snapshot();
    for _ in 0..3 {
        for (id, document) in &WORLD.documents {
            let address = snapshot.find(id).unwrap().unwrap();
            assert_eq!(&snapshot.id(address).unwrap(), id);
            assert_eq!(snapshot.meta(address).unwrap()["parity"], document.parity);
        }
    }
}
