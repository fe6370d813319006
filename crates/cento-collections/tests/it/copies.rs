//! Exact copies that share only stop-fingerprints, compared with brute force.

use std::collections::{BTreeMap, BTreeSet};

use cento::Stop;
use cento::index::{Config, Document, Index, MaxDf, WriterOptions};
use cento::search::Searcher;
use cento::tantivy::directory::RamDirectory;
use cento_collections::cluster::{self, ClusterOptions, Linkage};
use cento_collections::pairs::{PairOptions, Pairs, pairs};
use cento_collections::reuse::{ReuseOptions, reuse_statistics};
use cento_collections::series::Scope;
use cento_collections::{StopCounts, Thresholds};
use proptest::prelude::*;
use serde_json::json;

/// A document: the words, which are its fingerprints, and the series, 0 without a series.
type Doc = (BTreeSet<u8>, u8);

fn text(words: &BTreeSet<u8>) -> String {
    words.iter().map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ")
}

/// Indexes the documents in several segments, and deletes the documents in `removed`.
fn searcher(docs: &[Doc], removed: &BTreeSet<usize>) -> Searcher {
    let config = Config::new("kgram(k=1)", "words", false).unwrap();
    let index = Index::create_in(RamDirectory::create(), "ram", config).unwrap();
    let mut writer = index.writer(WriterOptions::default().merge(false)).unwrap();
    for (number, (words, series)) in docs.iter().enumerate() {
        let meta = match series {
            0 => json!({}),
            series => json!({ "series": series }),
        };
        let document = Document::new(format!("{number:03}"), text(words));
        writer.add(document.with_meta(meta.as_object().unwrap().clone())).unwrap();
        if number % 7 == 6 {
            writer.commit().unwrap();
        }
    }
    for number in removed {
        writer.remove(&format!("{number:03}")).unwrap();
    }
    writer.finish().unwrap();
    Searcher::new(index.snapshot().unwrap())
}

/// The live documents by number.
fn live(docs: &[Doc], removed: &BTreeSet<usize>) -> BTreeMap<usize, Doc> {
    let all = docs.iter().cloned().enumerate();
    all.filter(|(number, _)| !removed.contains(number)).collect()
}

/// The words in more than `max_df` live documents.
fn stopped(live: &BTreeMap<usize, Doc>, max_df: u64) -> BTreeSet<u8> {
    let df = |word: &u8| live.values().filter(|doc| doc.0.contains(word)).count() as u64;
    (0..8).filter(|word| df(word) > max_df).collect()
}

/// Whether a search for `one` finds `other`.
fn brings_up(one: &Doc, other: &Doc, stopped: &BTreeSet<u8>) -> bool {
    one.0.intersection(&other.0).any(|word| !stopped.contains(word))
}

fn are_hidden_copies(one: &Doc, other: &Doc, stopped: &BTreeSet<u8>) -> bool {
    one.0 == other.0 && !one.0.is_empty() && one.0.is_subset(stopped)
}

/// Whether any document is in a series. A field that no document has is an error.
fn has_series<'a>(mut live: impl Iterator<Item = &'a Doc>) -> bool {
    live.any(|doc| doc.1 != 0)
}

fn keeps(scope: &Scope, one: &Doc, other: &Doc) -> bool {
    let is_same = one.1 != 0 && one.1 == other.1;
    match scope {
        Scope::Everywhere => true,
        Scope::Within(_) => is_same,
        Scope::Across(_) => !is_same,
    }
}

fn resemblance(one: &Doc, other: &Doc) -> f64 {
    one.0.intersection(&other.0).count() as f64 / one.0.union(&other.0).count().max(1) as f64
}

/// The expected pairs of `own` and `others`, which are equal unless `is_against`.
fn expected(
    [own, others]: [&BTreeMap<usize, Doc>; 2],
    is_against: bool,
    scope: &Scope,
    max_df: u64,
) -> BTreeSet<(usize, usize)> {
    let stopped = stopped(others, max_df);
    let pair = |a: usize, b: usize| match is_against {
        true => (a, b),
        false => (a.min(b), a.max(b)),
    };
    let mut pairs = BTreeSet::new();
    for (&a, one) in own {
        let kept = |b: usize, other: &Doc| (is_against || a != b) && keeps(scope, one, other);
        let found = others.iter().filter(|(b, other)| kept(**b, other));
        let copies = found.clone().find(|(_, other)| are_hidden_copies(one, other, &stopped));
        let found = found.filter(|(_, other)| brings_up(one, other, &stopped));
        pairs.extend(found.chain(copies).map(|(&b, _)| pair(a, b)));
    }
    for (&b, other) in others {
        let first = own.iter().find(|(a, one)| {
            (is_against || **a != b)
                && keeps(scope, one, other)
                && are_hidden_copies(one, other, &stopped)
        });
        pairs.extend(first.map(|(&a, _)| pair(a, b)));
    }
    pairs
}

/// Whether no pair is possible, because documents are in one series and pairs are across, or series
/// have one document and pairs are within.
fn are_unpaired<'a>(scope: &Scope, docs: impl Iterator<Item = &'a Doc>) -> bool {
    let series: Vec<u8> = docs.map(|doc| doc.1).collect();
    let different: BTreeSet<u8> = series.iter().copied().filter(|&one| one > 0).collect();
    let without = series.iter().filter(|&&one| one == 0).count();
    series.len() > 1
        && match scope {
            Scope::Everywhere => false,
            Scope::Within(_) => different.len() + without == series.len(),
            Scope::Across(_) => different.len() + without == 1,
        }
}

/// The pairs found. Asserts that no pair comes twice, and that a search without possible pairs is
/// refused.
fn found(
    searcher: &Searcher,
    against: Option<&Searcher>,
    options: &PairOptions,
    are_unpaired: bool,
) -> BTreeSet<(usize, usize)> {
    let mut found = BTreeSet::new();
    let other = against.unwrap_or(searcher).snapshot();
    let mut given = against.into_iter().fold(pairs(searcher, options), Pairs::against);
    if are_unpaired {
        let said = given.next().expect("an error").unwrap_err().to_string();
        assert!(said.contains("are of one group"), "{said}");
        return found;
    }
    for pair in given {
        let pair = pair.unwrap();
        let number = |id: String| id.parse::<usize>().unwrap();
        let (a, b) = (searcher.snapshot().id(pair.a).unwrap(), other.id(pair.b).unwrap());
        assert!(against.is_some() || pair.a < pair.b, "the one that is stored first is first");
        let (a, b) = (number(a), number(b));
        // Segments are stored in any order.
        let both = if against.is_some() { (a, b) } else { (a.min(b), a.max(b)) };
        assert!(found.insert(both), "a pair is given once");
    }
    found
}

/// Pairs that share anything, within or across series.
fn any_pair(scope: &Scope) -> PairOptions {
    let options = PairOptions::default().thresholds(Thresholds::default().min_overlap(1));
    match scope {
        Scope::Everywhere => options,
        Scope::Within(field) => options.within(field),
        Scope::Across(field) => options.group_by(field),
    }
}

/// Documents of few distinct texts, so that most documents have copies.
fn docs() -> impl Strategy<Value = Vec<Doc>> {
    let text = prop::collection::btree_set(0u8..8, 0..4);
    prop::collection::vec(text, 1..5)
        .prop_flat_map(|texts| prop::collection::vec((prop::sample::select(texts), 0u8..4), 1..40))
}

fn removed() -> impl Strategy<Value = BTreeSet<usize>> {
    prop::collection::btree_set(0usize..40, 0..6)
}

fn scopes() -> impl Strategy<Value = Scope> {
    prop_oneof![
        Just(Scope::Everywhere),
        Just(Scope::Within("series".into())),
        Just(Scope::Across("series".into())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn pairs_are_brute_force_with_each_hidden_copy_beside_the_first(
        docs in docs(), removed in removed(), scope in scopes(), max_df in 1u64..12,
        weighted in any::<bool>(),
    ) {
        let removed = removed.into_iter().filter(|&number| number < docs.len()).collect();
        let (searcher, live) = (searcher(&docs, &removed), live(&docs, &removed));
        prop_assume!(scope == Scope::Everywhere || has_series(live.values()));
        let options = any_pair(&scope).max_df(MaxDf::Documents(max_df)).weighted(weighted);
        let expected = expected([&live, &live], false, &scope, max_df);
        let are_unpaired = are_unpaired(&scope, live.values());
        prop_assert_eq!(found(&searcher, None, &options, are_unpaired), expected);
        let stopped = stopped(&live, max_df);
        let hidden = |doc: &&Doc| !doc.0.is_empty() && doc.0.is_subset(&stopped);
        let counts = searcher.stop_counts(options.max_df, Stop::NEVER).unwrap();
        let StopCounts { max_df: limit, fingerprints, documents, .. } = counts;
        prop_assert_eq!((limit, fingerprints), (max_df, stopped.len() as u64));
        prop_assert_eq!(documents, live.values().filter(hidden).count() as u64);
    }

    #[test]
    fn pairs_of_two_indexes_are_brute_force_with_each_hidden_copy_beside_the_first_of_the_other(
        all in docs(), split in 0usize..40, removed in removed(), scope in scopes(),
        max_df in 1u64..8,
    ) {
        let (own, others) = all.split_at(split.min(all.len()));
        let none = BTreeSet::new();
        let removed = removed.into_iter().filter(|&number| number < others.len()).collect();
        let searchers = [searcher(own, &none), searcher(others, &removed)];
        let both = [&live(own, &none), &live(others, &removed)];
        let all = || both[0].values().chain(both[1].values());
        prop_assume!(scope == Scope::Everywhere || has_series(all()));
        let options = any_pair(&scope).max_df(MaxDf::Documents(max_df));
        let are_unpaired = are_unpaired(&scope, all());
        let found = found(&searchers[0], Some(&searchers[1]), &options, are_unpaired);
        prop_assert_eq!(found, expected(both, true, &scope, max_df));
    }

    #[test]
    fn clusters_are_stars_of_candidates_and_of_hidden_copies(
        docs in docs(), removed in removed(), max_df in 1u64..12, threads in 1usize..4,
    ) {
        let removed = removed.into_iter().filter(|&number| number < docs.len()).collect();
        let (searcher, live) = (searcher(&docs, &removed), live(&docs, &removed));
        let stopped = stopped(&live, max_df);
        let are_similar = |one: &Doc, other: &Doc| {
            (brings_up(one, other, &stopped) || are_hidden_copies(one, other, &stopped))
                && resemblance(one, other) >= 0.5
        };
        let (mut free, mut expected) = (live.clone(), BTreeSet::new());
        while let Some((number, doc)) = free.pop_first() {
            let members: Vec<usize> = free
                .iter()
                .filter(|(_, other)| are_similar(&doc, other))
                .map(|(&number, _)| number)
                .collect();
            free.retain(|number, _| !members.contains(number));
            if !members.is_empty() {
                expected.insert((number, members.into_iter().collect::<BTreeSet<_>>()));
            }
        }
        let options = |linkage| {
            let thresholds = Thresholds::default().min_resemblance(0.5);
            let options = ClusterOptions::default().thresholds(thresholds).linkage(linkage);
            options.max_df(MaxDf::Documents(max_df))
        };
        let clusters =
            |linkage| cluster::clusters(&searcher, &options(linkage)).threads(threads).map(Result::unwrap);
        let number = |id: &String| id.parse::<usize>().unwrap();
        let found: BTreeSet<_> = clusters(Linkage::Star)
            .map(|found| {
                let members = found.members.iter().map(|member| number(&member.id)).collect();
                (number(&found.representative), members)
            })
            .collect();
        prop_assert_eq!(found, expected);
        // With single linkage copies are in one cluster too.
        for found in clusters(Linkage::Single) {
            let all: BTreeSet<usize> = found
                .members
                .iter()
                .map(|member| number(&member.id))
                .chain([number(&found.representative)])
                .collect();
            let has_all = live.iter().all(|(other, doc)| {
                let is_copy = |own: &usize| {
                    let doc = (live[own].0 == doc.0).then_some(doc);
                    doc.is_some_and(|doc| !doc.0.is_empty())
                };
                all.contains(other) || !all.iter().any(is_copy)
            });
            prop_assert!(has_all, "{all:?}");
        }
    }
}

#[test]
fn twenty_copies_of_a_text_whose_every_word_is_stopped_are_pairs_and_a_cluster() {
    // A text with more copies than the limit once was in no pair and in no cluster.
    let words: BTreeSet<u8> = [1, 2, 3].into();
    let mut docs: Vec<Doc> = vec![(words, 0); 20];
    docs.push(([4, 5].into(), 0));
    docs.push(([4, 5, 6].into(), 0));
    let searcher = searcher(&docs, &BTreeSet::new());
    let max_df = Some(MaxDf::Documents(5));
    let options = any_pair(&Scope::Everywhere).max_df(max_df);
    let expected: BTreeSet<(usize, usize)> =
        (1..20).map(|copy| (0, copy)).chain([(20, 21)]).collect();
    assert_eq!(found(&searcher, None, &options, false), expected);
    let too_much = Thresholds::default().min_overlap(4);
    let too_much = options.thresholds(too_much);
    assert!(found(&searcher, None, &too_much, false).is_empty(), "a copy has three fingerprints");
    let never = Stop::new();
    let made = ReuseOptions::default().limit(5usize).max_df(max_df);
    let made = reuse_statistics(&searcher, made, 2, &never, &mut |_, _| ()).unwrap();
    assert_eq!((made.total.pairs, made.total.documents), (20, 22));
    assert_eq!((made.stopped.fingerprints, made.stopped.documents), (3, 20));
    let made = ReuseOptions::default().limit(5usize);
    let made = reuse_statistics(&searcher, made, 2, &never, &mut |_, _| ()).unwrap();
    assert_eq!((made.total.pairs, made.stopped.fingerprints), (191, 0));
}
