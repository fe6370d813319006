//! Compares searches with brute force, with sizes where even a small index changes its method.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::json;

use super::tuning::Tuning;
use super::weigh::Weigh;
use super::{Answer, Goal, MaxDf, Query, Rank, Searcher, Subject};
use crate::hash::mix64;
use crate::index::{Config, Document, Index, WriterOptions};
use crate::runtime::Stop;

/// Documents come in groups that share rare words.
const GROUPS: u64 = 27;
const OF_GROUP: u64 = 6;
const WORDS: u64 = 40;

struct World {
    searcher: Searcher,
    /// The fingerprints of each live document, and the parity of its group.
    documents: BTreeMap<String, (BTreeSet<u64>, u64)>,
}

fn config() -> Config {
    Config::new("kgram(k=1)", "words", true).unwrap()
}

/// Returns words that are a fingerprint each. The first are in most documents, the last in few.
fn common(seed: u64, count: u64) -> String {
    let word = |i: u64| {
        let drawn = mix64(mix64(seed) ^ i);
        let (at, power) = (drawn % WORDS, drawn >> 32 & 3);
        format!("w{} ", (0..power).fold(at, |at, _| at * ((drawn >> 34) % WORDS) / WORDS))
    };
    (0..count).map(word).collect()
}

/// Returns words of a group. The first five words are in every document of the group.
fn rare(group: u64, seed: u64) -> String {
    let is_there = |word: &u64| *word < 5 || mix64(seed) >> *word & 1 == 1;
    (0..10).filter(is_there).map(|word| format!("g{group}x{word} ")).collect()
}

fn keys(text: &str) -> BTreeSet<u64> {
    config().sign(text).unwrap().1.iter().map(|fingerprint| fingerprint.key).collect()
}

/// Returns whether the document with this number is deleted: whole groups are, and some others in
/// every segment but the last.
fn is_deleted(number: u64) -> bool {
    [1, 10, 20].contains(&(number / OF_GROUP)) || number < 108 && number.is_multiple_of(7)
}

/// Three segments with deleted documents.
static WORLD: LazyLock<World> = LazyLock::new(|| {
    let index = Index::in_memory(config()).unwrap();
    let mut writer = index.writer(WriterOptions::default().merge(false)).unwrap();
    let mut documents = BTreeMap::new();
    for i in 0..GROUPS * OF_GROUP {
        let (id, group) = (format!("doc{i}"), i / OF_GROUP);
        let text = rare(group, i) + &common(i, 2 + i % 9);
        documents.insert(id.clone(), (keys(&text), group % 2));
        let meta = json!({ "parity": group % 2 }).as_object().unwrap().clone();
        writer.add(Document::new(id, text).with_meta(meta)).unwrap();
        if i % 54 == 53 {
            writer.commit().unwrap();
        }
    }
    for i in (0..GROUPS * OF_GROUP).filter(|&i| is_deleted(i)) {
        let id = format!("doc{i}");
        assert!(writer.remove(&id).unwrap());
        documents.remove(&id);
    }
    writer.finish().unwrap();
    let searcher = Searcher::new(index.snapshot().unwrap());
    assert_eq!(searcher.snapshot().segments().len(), 3);
    World { searcher, documents }
});

fn searcher(tuning: Tuning) -> Searcher {
    Searcher { tuning, ..WORLD.searcher.clone() }
}

fn live_id() -> impl Strategy<Value = String> {
    any::<prop::sample::Index>().prop_map(|at| {
        let ids: Vec<_> = WORLD.documents.keys().collect();
        (*at.get(&ids)).clone()
    })
}

/// Returns the live documents of a group.
fn of_group(group: u64) -> Vec<String> {
    let ids = (group * OF_GROUP..(group + 1) * OF_GROUP).map(|i| format!("doc{i}"));
    ids.filter(|id| WORLD.documents.contains_key(id)).collect()
}

/// Returns a text with or without words of a group, or a stored document, and ids to exclude,
/// possibly the ids of the group.
fn subject() -> impl Strategy<Value = (Subject, Vec<String>)> {
    let text = (0..GROUPS, any::<bool>(), 1_000u64..2_000, 0u64..20, any::<bool>()).prop_map(
        |(group, has_rare, seed, count, excludes)| {
            let rare = if has_rare { rare(group, seed) } else { String::new() };
            let excluded = if excludes { of_group(group) } else { Vec::new() };
            (Subject::Text(rare + &common(seed, count + 1)), excluded)
        },
    );
    let id = (live_id(), any::<bool>()).prop_map(|(id, excludes)| {
        let group = id[3..].parse::<u64>().unwrap() / OF_GROUP;
        let excluded = if excludes { of_group(group) } else { Vec::new() };
        (Subject::Id(id), excluded)
    });
    prop_oneof![2 => text, 1 => id]
}

/// Returns a query with conditions that exclude documents.
fn query() -> impl Strategy<Value = Query> {
    let parity = prop_oneof![2 => Just(None), 1 => (0u64..2).prop_map(Some)];
    let max_df = prop_oneof![Just(5u64), Just(40), Just(u64::MAX)];
    (subject(), parity, 1u32..4, 1usize..8, max_df).prop_map(
        |((subject, excluded), parity, min_overlap, limit, max_df)| {
            let mut query = Query::new(subject)
                .exclude_id(excluded)
                .min_overlap(min_overlap)
                .limit(limit)
                .max_df(MaxDf::Documents(max_df));
            query.options.filter = parity.map(|parity| format!("parity:{parity}"));
            query
        },
    )
}

fn tuning() -> impl Strategy<Value = Tuning> {
    (0usize..50, 0usize..4, 1usize..50, 0usize..50).prop_map(
        |(reached_after, postings_a_look, batch_documents, candidates_kept)| Tuning {
            reached_after,
            postings_a_look,
            batch_documents,
            candidates_kept,
        },
    )
}

/// Returns the fingerprints of the query, and its id if it is a stored document.
fn wanted(query: &Query) -> (BTreeSet<u64>, Option<&String>) {
    match &query.subject {
        Subject::Text(text) => (keys(text), None),
        Subject::Id(id) => (WORLD.documents[id].0.clone(), Some(id)),
        Subject::Signature { .. } => unreachable!("the queries here are texts and ids"),
    }
}

/// Returns the expected hits by definition, best first.
fn expected(query: &Query) -> Vec<(String, u32)> {
    expected_by(query, |_, _| 0.0)
}

/// Returns the expected hits, ordered by a score of the fingerprints of a document and the shared
/// fingerprints, then by overlap, resemblance and id.
fn expected_by(
    query: &Query,
    score: impl Fn(&BTreeSet<u64>, &BTreeSet<u64>) -> f64,
) -> Vec<(String, u32)> {
    let documents = &WORLD.documents;
    let (wanted, own) = wanted(query);
    let max_df = query.options.max_df.unwrap().limit(documents.len() as u64);
    let df = |key: &u64| documents.values().filter(|(keys, _)| keys.contains(key)).count() as u64;
    let kept: BTreeSet<u64> = wanted.iter().copied().filter(|key| df(key) <= max_df).collect();
    let mut hits = Vec::new();
    for (id, (keys, parity)) in documents {
        let both: BTreeSet<u64> = keys.intersection(&wanted).copied().collect();
        let shared = both.len();
        let resemblance = shared as f64 / keys.union(&wanted).count() as f64;
        let passes = query
            .options
            .filter
            .as_ref()
            .is_none_or(|filter| *filter == format!("parity:{parity}"));
        if passes
            && own != Some(id)
            && !query.options.exclude_id.contains(id)
            && !keys.is_disjoint(&kept)
            && shared >= query.thresholds.overlap() as usize
        {
            hits.push((score(keys, &both), shared as u32, resemblance, id.clone()));
        }
    }
    hits.sort_by(|a, b| {
        let by_overlap = b.0.total_cmp(&a.0).then(b.1.cmp(&a.1));
        by_overlap.then(b.2.total_cmp(&a.2)).then(a.3.cmp(&b.3))
    });
    hits.truncate(query.options.limit.unwrap());
    hits.into_iter().map(|(_, shared, _, id)| (id, shared)).collect()
}

/// Returns the expected hits by weight.
fn expected_by_weight(query: &Query) -> Vec<(String, u32)> {
    let weigh = Weigh::new(WORLD.searcher.snapshot());
    let mut dfs: BTreeMap<u64, u64> = BTreeMap::new();
    for key in WORLD.documents.values().flat_map(|(keys, _)| keys) {
        *dfs.entry(*key).or_default() += 1;
    }
    expected_by(query, |keys, both| {
        let shared: u64 = both.iter().map(|key| weigh.weight(dfs[key])).sum();
        shared as f64 / (keys.len() as f64).sqrt()
    })
}

/// Returns the share of the query's fingerprints that occur in documents that may be hits.
fn global(query: &Query) -> f64 {
    let (wanted, own) = wanted(query);
    let is_there = |id: &String| own != Some(id) && !query.options.exclude_id.contains(id);
    let documents = || WORLD.documents.iter().filter(|(id, _)| is_there(id));
    let is_known = |key: &&u64| documents().any(|(_, (keys, _))| keys.contains(key));
    wanted.iter().filter(is_known).count() as f64 / wanted.len() as f64
}

/// Returns the answer without its duration.
fn timeless(answer: Answer) -> Answer {
    Answer { took_us: 0, ..answer }
}

#[test]
fn deleted_documents_do_not_hide_others() {
    // If the overlap of deleted documents of a group counted, other documents could not reach it.
    for (group, seed) in [1, 10, 20].into_iter().flat_map(|group| (0..12).map(move |s| (group, s)))
    {
        for limit in 1..4 {
            let text = rare(group, u64::MAX) + &common(seed, 3 + seed % 4);
            let query = Query::text(text).limit(limit).max_df(MaxDf::Documents(u64::MAX));
            let expected = expected(&query);
            for reached_after in [0, 1, 3, 6, 7, 8, 10, 12, 16, 20] {
                let tuning = Tuning { reached_after, ..Tuning::DEFAULT };
                let found = searcher(tuning).search(&query).unwrap().hits;
                let found: Vec<_> = found.into_iter().map(|hit| (hit.id, hit.overlap)).collect();
                assert_eq!(found, expected, "group {group}, seed {seed}, {tuning:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_search_of_any_tuning_is_brute_force(query in query(), tuning in tuning()) {
        let answer = searcher(tuning).search(&query).unwrap();
        let found: Vec<_> = answer.hits.iter().map(|hit| (hit.id.clone(), hit.overlap)).collect();
        prop_assert_eq!(found, expected(&query));
        prop_assert_eq!(answer.query.global, global(&query));
        let all = expected(&query.limit(usize::MAX)).len();
        prop_assert_eq!(answer.more, all > answer.hits.len());
        prop_assert!(answer.total.is_none_or(|total| total == all as u64));
    }

    #[test]
    fn a_search_by_weight_of_any_tuning_is_brute_force(query in query(), tuning in tuning()) {
        let query = query.rank(Rank::Weight);
        let answer = searcher(tuning).search(&query).unwrap();
        let found: Vec<_> = answer.hits.iter().map(|hit| (hit.id.clone(), hit.overlap)).collect();
        prop_assert_eq!(found, expected_by_weight(&query));
        // The total is known exactly if there are no more hits.
        let all = expected_by_weight(&query.limit(usize::MAX)).len();
        prop_assert_eq!(answer.more, all > answer.hits.len());
        prop_assert_eq!(answer.total, (!answer.more).then_some(all as u64));
    }

    #[test]
    fn no_answer_depends_on_the_tuning(
        query in query(),
        tuning in tuning(),
        goal in prop_oneof![3 => Just(Goal::Hits), 1 => Just(Goal::Trace)],
        rank in prop_oneof![Just(Rank::Overlap), Just(Rank::Weight)],
        budget in prop_oneof![1 => Just(None), 2 => (0u64..400).prop_map(Some)],
        min_containment in prop_oneof![2 => Just(0.0), 1 => 0.0f64..1.0],
    ) {
        let mut query = query.goal(goal).budget(budget).min_containment(min_containment);
        if goal == Goal::Hits {
            query = query.rank(rank);
        }
        let [found, expected] = [tuning, Tuning::DEFAULT].map(|tuning| {
            timeless(searcher(tuning).search(&query).unwrap())
        });
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn no_listing_depends_on_the_tuning(
        tuning in tuning(),
        parity in prop_oneof![Just(None), (0u64..2).prop_map(Some)],
        after in prop_oneof![Just(None), live_id().prop_map(Some)],
        count in 1usize..60,
    ) {
        let filter = parity.map(|parity| format!("parity:{parity}"));
        let filter = filter.as_deref();
        let passing =
            |id: &&String| parity.is_none_or(|parity| WORLD.documents[*id].1 == parity);
        let searcher = searcher(tuning);
        let id_of = |address| searcher.snapshot().id(address).unwrap();
        let mut all = Vec::new();
        searcher
            .for_each_document(filter, Stop::NEVER, &mut |address| {
                all.push(id_of(address));
                Ok(())
            })
            .unwrap();
        all.sort_unstable();
        let expected: Vec<String> =
            WORLD.documents.keys().filter(passing).cloned().collect();
        prop_assert_eq!(all, expected);
        let page = searcher.documents_after(after.as_deref(), count, filter, Stop::NEVER).unwrap();
        let page: Vec<String> = page.into_iter().map(id_of).collect();
        let is_after = |id: &&String| after.as_ref().is_none_or(|after| *id > after);
        let expected = WORLD.documents.keys().filter(is_after).filter(passing).take(count);
        prop_assert_eq!(page, expected.cloned().collect::<Vec<_>>());
    }
}
